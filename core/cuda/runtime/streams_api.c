/* Streams, events and host functions. */
#include "core/cuda/runtime/capture.h"
#include "core/cuda/runtime/limits.h"
#include "core/cuda/runtime/runtime.h"
#include "core/cuda/runtime/streams.h"

/* All calls, so that an error of a kernel comes back from the next one. */
static cudaError_t done(int problem) {
    int sticky = warp_enter();
    return runtime_leave(sticky ? sticky : problem);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned int flags, int priority) {
    int problem = warp_enter();
    if (!problem) problem = warp_stream_create((void **)stream, flags, priority);
    return runtime_leave(problem);
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags) {
    return cudaStreamCreateWithPriority(stream, flags, 0);
}
cudaError_t cudaStreamCreate(cudaStream_t *stream) {
    return cudaStreamCreateWithPriority(stream, 0, 0);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    int problem = warp_enter();
    if (!problem) problem = warp_stream_free(stream);
    return runtime_leave(problem);
}

/* What was asked for has been done. */
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    int problem = warp_enter();
    if (!problem) problem = warp_wait_for_stream(stream);
    return runtime_leave(problem);
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
    int problem = warp_enter();
    if (!problem) problem = warp_ask_stream(stream);
    return runtime_leave(problem);
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags) {
    int problem = warp_enter();
    if (!problem) problem = warp_stream_wait_event(stream, event, flags);
    return runtime_leave(problem);
}
cudaError_t cudaStreamWaitEvent_ptsz(cudaStream_t stream, cudaEvent_t event, unsigned int flags);
cudaError_t cudaStreamWaitEvent_ptsz(cudaStream_t stream, cudaEvent_t event, unsigned int flags) {
    warp_streams_are_per_thread();
    return cudaStreamWaitEvent(stream, event, flags);
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority) {
    if (!priority) return done(CUDA_INVALID_VALUE);
    const WarpStream *known = warp_stream(stream);
    if (known) *priority = known->priority;
    return done(known ? CUDA_OK : CUDA_INVALID_HANDLE);
}
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int *flags) {
    if (!flags) return done(CUDA_INVALID_VALUE);
    const WarpStream *known = warp_stream(stream);
    if (known) *flags = known->flags;
    return done(known ? CUDA_OK : CUDA_INVALID_HANDLE);
}
cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long *number) {
    if (!number) return done(CUDA_INVALID_VALUE);
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
    if (least) *least = LEAST_PRIORITY;
    if (greatest) *greatest = GREATEST_PRIORITY;
    return done(CUDA_OK);
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void *data,
                                  unsigned int flags) {
    (void)flags;
    if (!callback) return done(CUDA_INVALID_VALUE);
    cudaError_t status = cudaStreamSynchronize(stream);
    if (status && (int)status != warp_dead()) return status;
    callback(stream, status, data);
    return status;
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data) {
    const WarpWork work = {.kind = WORK_HOST, .host = {function, data}};
    int problem = warp_enter();
    if (!problem && !function) problem = CUDA_INVALID_VALUE;
    if (!problem) problem = warp_submit(stream, &work);
    return runtime_leave(problem);
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
    int problem = warp_enter();
    if (!problem) problem = warp_event_free(event);
    return runtime_leave(problem);
}
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags) {
    int problem = warp_enter();
    if (!problem) problem = warp_stream_record(stream, event, flags);
    return runtime_leave(problem);
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    return cudaEventRecordWithFlags(event, stream, 0);
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    int problem = warp_enter();
    if (!problem) problem = warp_wait_for_event(event);
    return runtime_leave(problem);
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
    int problem = warp_enter();
    if (!problem) problem = warp_ask_event(event);
    return runtime_leave(problem);
}
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end) {
    int problem = warp_enter();
    if (!problem) problem = warp_event_elapsed(milliseconds, start, end);
    return runtime_leave(problem);
}
#if CUDA_MAJOR >= 12
cudaError_t cudaEventElapsedTime_v2(float *milliseconds, cudaEvent_t start, cudaEvent_t end);
cudaError_t cudaEventElapsedTime_v2(float *milliseconds, cudaEvent_t start, cudaEvent_t end) {
    return cudaEventElapsedTime(milliseconds, start, end);
}
#endif
