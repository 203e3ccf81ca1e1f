/* Streams, events and host functions. */
#include "core/cuda/runtime/runtime.h"
#include "core/cuda/runtime/streams.h"

/* All calls, so that an error of a kernel comes back from the next one. */
static cudaError_t done(int problem) {
    int sticky = warp_enter();
    return runtime_leave(sticky ? sticky : problem);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned int flags, int priority) {
    if (!stream) return done(CUDA_INVALID_VALUE);
    *stream = (cudaStream_t)warp_stream_new(flags, priority);
    return done(*stream ? CUDA_OK : CUDA_MEMORY_ALLOCATION);
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags) {
    return cudaStreamCreateWithPriority(stream, flags, 0);
}
cudaError_t cudaStreamCreate(cudaStream_t *stream) {
    return cudaStreamCreateWithPriority(stream, 0, 0);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    return done(warp_stream_free(stream));
}

/* What was asked for has been done. */
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    return done(warp_stream(stream) ? CUDA_OK : CUDA_INVALID_HANDLE);
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
    return cudaStreamSynchronize(stream);
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags) {
    (void)flags;
    return done(warp_stream(stream) && warp_event(event) ? CUDA_OK : CUDA_INVALID_HANDLE);
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority) {
    const WarpStream *known = warp_stream(stream);
    if (known) *priority = known->priority;
    return done(known ? CUDA_OK : CUDA_INVALID_HANDLE);
}
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int *flags) {
    const WarpStream *known = warp_stream(stream);
    if (known) *flags = known->flags;
    return done(known ? CUDA_OK : CUDA_INVALID_HANDLE);
}
cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long *number) {
    const WarpStream *known = warp_stream(stream);
    if (known) *number = known->number;
    return done(known ? CUDA_OK : CUDA_INVALID_HANDLE);
}
cudaError_t cudaStreamGetDevice(cudaStream_t stream, int *device);
cudaError_t cudaStreamGetDevice(cudaStream_t stream, int *device) {
    if (!device) return done(CUDA_INVALID_VALUE);
    *device = 0;
    return done(warp_stream(stream) ? CUDA_OK : CUDA_INVALID_HANDLE);
}
/* Hints to caches and for waiting, of which the machine knows nothing. */
cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaStreamAttrID which, cudaStreamAttrValue *value) {
    return done(warp_stream_get_attribute(stream, (unsigned)which, value));
}
cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaStreamAttrID which,
                                   const cudaStreamAttrValue *value) {
    return done(warp_stream_set_attribute(stream, (unsigned)which, value));
}
cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from);
cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from) {
    return done(warp_stream_copy_attributes(to, from));
}
cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
    if (least) *least = 0;
    if (greatest) *greatest = 0;
    return done(CUDA_OK);
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status) {
    (void)stream;
    *status = cudaStreamCaptureStatusNone;
    return done(CUDA_OK);
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void *data,
                                  unsigned int flags) {
    (void)flags;
    if (!callback) return done(CUDA_INVALID_VALUE);
    cudaError_t status = done(CUDA_OK);
    callback(stream, status, data);
    return status;
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data) {
    (void)stream;
    cudaError_t status = done(function ? CUDA_OK : CUDA_INVALID_VALUE);
    if (!status) function(data);
    return status;
}

/* --- Events ------------------------------------------------------------------------------------ */

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags) {
    if (!event) return done(CUDA_INVALID_VALUE);
    *event = (cudaEvent_t)warp_event_new(flags);
    return done(*event ? CUDA_OK : CUDA_MEMORY_ALLOCATION);
}
cudaError_t cudaEventCreate(cudaEvent_t *event) {
    return cudaEventCreateWithFlags(event, 0);
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
    return done(warp_event_free(event));
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    int problem = warp_enter();
    if (!problem) problem = warp_stream(stream) ? warp_event_record(event) : CUDA_INVALID_HANDLE;
    return runtime_leave(problem);
}
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags) {
    (void)flags;
    return cudaEventRecord(event, stream);
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    return done(warp_event(event) ? CUDA_OK : CUDA_INVALID_HANDLE);
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
    return cudaEventSynchronize(event);
}
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end) {
    return done(warp_event_elapsed(milliseconds, start, end));
}
#if CUDA_MAJOR >= 12
cudaError_t cudaEventElapsedTime_v2(float *milliseconds, cudaEvent_t start, cudaEvent_t end);
cudaError_t cudaEventElapsedTime_v2(float *milliseconds, cudaEvent_t start, cudaEvent_t end) {
    return cudaEventElapsedTime(milliseconds, start, end);
}
#endif
