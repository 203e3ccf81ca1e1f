/* The driver API: the device, memory, streams and events. Each function has the prototype of its
 * documentation; programs bring the declarations. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#include "core/cuda/runtime/driver.h"
#include "core/cuda/runtime/capture.h"
#include "core/cuda/runtime/limits.h"

#include <stdio.h>
#include <string.h>

/* --- The device ------------------------------------------------------------------------------------- */

CUresult cuInit(unsigned flags) {
    return flags ? CUDA_INVALID_VALUE : driver_leave(warp_enter());
}
CUresult cuDriverGetVersion(int *version) {
    if (!version) return CUDA_INVALID_VALUE;
    *version = DRIVER_VERSION;
    return CUDA_OK;
}
CUresult cuDeviceGetCount(int *count) {
    if (!count) return CUDA_INVALID_VALUE;
    int problem = warp_enter();
    *count = problem == CUDA_NO_DEVICE ? 0 : 1;
    return driver_leave(problem);
}
CUresult cuDeviceGet(CUdevice *device, int ordinal) {
    if (!device) return CUDA_INVALID_VALUE;
    *device = 0;
    return ordinal ? CUDA_INVALID_DEVICE : CUDA_OK;
}
CUresult cuDeviceGetName(char *name, int length, CUdevice device) {
    int problem = warp_enter();
    if (!problem && device) problem = CUDA_INVALID_DEVICE;
    if (!problem && !name) problem = CUDA_INVALID_VALUE;
    if (!problem && length > 0) snprintf(name, (size_t)length, "%s", warp_device()->name);
    return driver_leave(problem);
}
CUresult cuDeviceGetUuid(char uuid[16], CUdevice device) {
    if (device) return CUDA_INVALID_DEVICE;
    if (!uuid) return CUDA_INVALID_VALUE;
    memset(uuid, 0, 16);
    snprintf(uuid, 16, "warpwright");
    return CUDA_OK;
}
CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device) {
    int problem = warp_enter();
    if (!problem && device) problem = CUDA_INVALID_DEVICE;
    if (!problem && !bytes) problem = CUDA_INVALID_VALUE;
    if (!problem) *bytes = warp_device()->memory_bytes;
    return driver_leave(problem);
}
CUresult cuDeviceGetAttribute(int *value, int which, CUdevice device) {
    int problem = warp_enter();
    if (!problem && device) problem = CUDA_INVALID_DEVICE;
    if (!problem) problem = value ? warp_attribute(which, value) : CUDA_INVALID_VALUE;
    return driver_leave(problem);
}
CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice device) {
    int problem = cuDeviceGetAttribute(major, 75, device);
    return problem ? problem : cuDeviceGetAttribute(minor, 76, device);
}

CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer) {
    if (can) *can = 0;
    return device || peer ? CUDA_INVALID_DEVICE : CUDA_OK;
}
/* Of two devices; there is one. */
CUresult cuDeviceGetP2PAttribute(int *value, int which, CUdevice device, CUdevice peer) {
    (void)which, (void)device, (void)peer;
    return value ? CUDA_INVALID_DEVICE : CUDA_INVALID_VALUE;
}
CUresult cuDeviceGetPCIBusId(char *text, int length, CUdevice device) {
    if (device) return CUDA_INVALID_DEVICE;
    if (!text || length < (int)sizeof PCI_BUS_ID) return CUDA_INVALID_VALUE;
    strcpy(text, PCI_BUS_ID);
    return CUDA_OK;
}
CUresult cuDeviceGetByPCIBusId(CUdevice *device, const char *text) {
    if (!device || !text || !strstr(text, PCI_SLOT)) return CUDA_INVALID_DEVICE;
    return cuDeviceGet(device, 0);
}

CUresult cuGetErrorName(CUresult code, const char **text) {
    if (!text) return CUDA_INVALID_VALUE;
    *text = warp_driver_error_name(code);
    return *text ? CUDA_OK : CUDA_INVALID_VALUE;
}
CUresult cuGetErrorString(CUresult code, const char **text) {
    if (!text) return CUDA_INVALID_VALUE;
    *text = warp_error_text(code);
    return *text ? CUDA_OK : CUDA_INVALID_VALUE;
}

/* --- Memory ------------------------------------------------------------------------------------ */

static CUresult allocate(void *address, size_t bytes, RangeKind kind, unsigned flags) {
    int problem = driver_enter();
    if (!problem && (!address || !bytes)) problem = CUDA_INVALID_VALUE;
    if (!problem) problem = warp_alloc(bytes, kind, flags, address);
    return driver_leave(problem);
}
static CUresult release(uint64_t address) {
    int problem = driver_enter();
    if (!problem && address) problem = warp_release(address);
    return driver_leave(problem);
}

CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes) {
    return allocate(address, bytes, RANGE_DEVICE, 0);
}
CUresult cuMemAllocManaged(CUdeviceptr *address, size_t bytes, unsigned flags) {
    return allocate(address, bytes, RANGE_MANAGED, flags);
}
CUresult cuMemAllocHost_v2(void **pointer, size_t bytes) {
    return allocate(pointer, bytes, RANGE_MAPPED, 0);
}
CUresult cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags) {
    return allocate(pointer, bytes, RANGE_MAPPED, flags);
}
CUresult cuMemAllocPitch_v2(CUdeviceptr *address, size_t *pitch, size_t width, size_t height,
                            unsigned element) {
    (void)element;
    if (!pitch || !height || width > SIZE_MAX / 2 / height) return CUDA_INVALID_VALUE;
    *pitch = (width + 511) / 512 * 512;
    return allocate(address, *pitch * height, RANGE_DEVICE, 0);
}
CUresult cuMemFree_v2(CUdeviceptr address) {
    return release(address);
}
CUresult cuMemFreeHost(void *pointer) {
    return release((uint64_t)pointer);
}
CUresult cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes) {
    uint64_t free_now, total;
    int problem = driver_enter();
    if (!problem) problem = warp_memory_info(&free_now, &total);
    if (!problem && free_bytes) *free_bytes = free_now;
    if (!problem && total_bytes) *total_bytes = total;
    return driver_leave(problem);
}
CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *bytes, CUdeviceptr address) {
    int problem = driver_enter();
    const WarpRange *range = problem ? NULL : warp_range(address);
    if (!problem && !range) problem = CUDA_NOT_FOUND;
    if (range && base) *base = range->start;
    if (range && bytes) *bytes = range->bytes;
    return driver_leave(problem);
}
CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *address, void *pointer, unsigned flags) {
    (void)flags;
    int problem = driver_enter();
    const WarpRange *range = problem ? NULL : warp_range((uint64_t)pointer);
    if (!problem && !range) problem = CUDA_INVALID_VALUE;
    if (!problem) *address = range->device + ((uint64_t)pointer - range->start);
    return driver_leave(problem);
}
CUresult cuMemHostGetFlags(unsigned *flags, void *pointer) {
    enum { DEVICE_MAPPED = 2 };
    int problem = driver_enter();
    const WarpRange *range = problem ? NULL : warp_range((uint64_t)pointer);
    if (!problem && (!range || !flags)) problem = CUDA_INVALID_VALUE;
    if (!problem) *flags = range->flags | (range->kind == RANGE_MAPPED ? DEVICE_MAPPED : 0);
    return driver_leave(problem);
}
CUresult cuMemHostRegister_v2(void *pointer, size_t bytes, unsigned flags) {
    int problem = driver_enter();
    if (!problem) problem = warp_register(pointer, bytes, flags);
    return driver_leave(problem);
}
CUresult cuMemHostUnregister(void *pointer) {
    int problem = driver_enter();
    if (!problem) problem = warp_unregister(pointer);
    return driver_leave(problem);
}

static CUresult copy(uint64_t to, uint64_t from, size_t count, void *stream) {
    const WarpWork work = {.kind = WORK_COPY,
                           .copy = {{to, 0, 0}, {from, 0, 0}, count, 1, 1, .direction = cudaMemcpyDefault}};
    int problem = driver_enter();
    if (!problem && count && (!to || !from)) problem = CUDA_INVALID_VALUE;
    if (!problem) problem = warp_submit(stream, &work);
    return driver_leave(problem);
}
static CUresult fill(CUdeviceptr to, uint32_t value, uint32_t value_bytes, size_t count, void *stream) {
    const WarpWork work = {.kind = WORK_FILL,
                           .fill = {{to, 0, 0}, value, value_bytes, count * value_bytes, 1, 1}};
    int problem = driver_enter();
    if (!problem && count > SIZE_MAX / value_bytes) problem = CUDA_INVALID_VALUE;
    if (!problem) problem = warp_submit(stream, &work);
    return driver_leave(problem);
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t count) {
    return copy(to, (uint64_t)from, count, WARP_WAIT);
}
CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t count) {
    return copy((uint64_t)to, from, count, WARP_WAIT);
}
CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t count) {
    return copy(to, from, count, WARP_WAIT);
}
CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t count) {
    return copy(to, from, count, WARP_WAIT);
}
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t count, CUstream stream) {
    return copy(to, (uint64_t)from, count, stream);
}
CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t count, CUstream stream) {
    return copy((uint64_t)to, from, count, stream);
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t count, CUstream stream) {
    return copy(to, from, count, stream);
}
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t count, CUstream stream) {
    return copy(to, from, count, stream);
}
CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count) {
    return fill(to, value, 1, count, WARP_WAIT);
}
CUresult cuMemsetD16_v2(CUdeviceptr to, unsigned short value, size_t count) {
    return fill(to, value, 2, count, WARP_WAIT);
}
CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned value, size_t count) {
    return fill(to, value, 4, count, WARP_WAIT);
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream) {
    return fill(to, value, 1, count, stream);
}
CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count, CUstream stream) {
    return fill(to, value, 2, count, stream);
}
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream stream) {
    return fill(to, value, 4, count, stream);
}

/* --- Streams and events ------------------------------------------------------------------------- */

/* An error of a kernel comes back from the next call, whichever. */
static CUresult done(int problem) {
    int sticky = driver_enter();
    return driver_leave(sticky ? sticky : problem);
}

CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int priority) {
    int problem = driver_enter();
    if (!problem) problem = warp_stream_create((void **)stream, flags, priority);
    return driver_leave(problem);
}
CUresult cuStreamCreate(CUstream *stream, unsigned flags) {
    return cuStreamCreateWithPriority(stream, flags, 0);
}
CUresult cuStreamDestroy_v2(CUstream stream) {
    int problem = driver_enter();
    if (!problem) problem = warp_stream_free(stream);
    return driver_leave(problem);
}
CUresult cuStreamSynchronize(CUstream stream) {
    int problem = driver_enter();
    if (!problem) problem = warp_wait_for_stream(stream);
    return driver_leave(problem);
}
CUresult cuStreamQuery(CUstream stream) {
    int problem = driver_enter();
    if (!problem) problem = warp_ask_stream(stream);
    return driver_leave(problem);
}
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
    int problem = driver_enter();
    if (!problem) problem = warp_stream_wait_event(stream, event, flags);
    return driver_leave(problem);
}
CUresult cuStreamWaitEvent_ptsz(CUstream stream, CUevent event, unsigned flags) {
    warp_streams_are_per_thread();
    return cuStreamWaitEvent(stream, event, flags);
}
CUresult cuStreamGetPriority(CUstream stream, int *priority) {
    if (!priority) return done(CUDA_INVALID_VALUE);
    const WarpStream *known = warp_stream(stream);
    if (known) *priority = known->priority;
    return done(known ? CUDA_OK : CUDA_INVALID_HANDLE);
}
CUresult cuStreamGetFlags(CUstream stream, unsigned *flags) {
    if (!flags) return done(CUDA_INVALID_VALUE);
    const WarpStream *known = warp_stream(stream);
    if (known) *flags = known->flags;
    return done(known ? CUDA_OK : CUDA_INVALID_HANDLE);
}
CUresult cuStreamGetId(CUstream stream, unsigned long long *number) {
    if (!number) return done(CUDA_INVALID_VALUE);
    const WarpStream *known = warp_stream(stream);
    if (known) *number = known->number;
    return done(known ? CUDA_OK : CUDA_INVALID_HANDLE);
}
CUresult cuStreamGetCtx(CUstream stream, CUcontext *context) {
    if (!context) return done(CUDA_INVALID_VALUE);
    *context = driver_context();
    return done(warp_stream(stream) ? CUDA_OK : CUDA_INVALID_HANDLE);
}
CUresult cuStreamGetCtx_v2(CUstream stream, CUcontext *context, void **green) {
    if (!green) return done(CUDA_INVALID_VALUE);
    *green = NULL;
    return cuStreamGetCtx(stream, context);
}
CUresult cuStreamGetDevice(CUstream stream, CUdevice *device) {
    if (!device) return done(CUDA_INVALID_VALUE);
    *device = 0;
    return done(warp_stream(stream) ? CUDA_OK : CUDA_INVALID_HANDLE);
}
CUresult cuStreamGetAttribute(CUstream stream, int which, void *value) {
    return done(warp_stream_get_attribute(stream, (unsigned)which, value));
}
CUresult cuStreamSetAttribute(CUstream stream, int which, const void *value) {
    return done(warp_stream_set_attribute(stream, (unsigned)which, value));
}
CUresult cuStreamCopyAttributes(CUstream to, CUstream from) {
    return done(warp_stream_copy_attributes(to, from));
}
CUresult cuStreamAddCallback(CUstream stream, void (*callback)(CUstream, CUresult, void *), void *data,
                             unsigned flags) {
    (void)flags;
    if (!callback) return CUDA_INVALID_VALUE;
    CUresult status = cuStreamSynchronize(stream);
    if (status && status != warp_dead()) return status;
    callback(stream, status, data);
    return status;
}
CUresult cuLaunchHostFunc(CUstream stream, void (*function)(void *), void *data) {
    const WarpWork work = {.kind = WORK_HOST, .host = {function, data}};
    int problem = driver_enter();
    if (!problem && !function) problem = CUDA_INVALID_VALUE;
    if (!problem) problem = warp_submit(stream, &work);
    return driver_leave(problem);
}

CUresult cuEventCreate(CUevent *event, unsigned flags) {
    int problem = driver_enter();
    if (!problem && !event) problem = CUDA_INVALID_VALUE;
    if (!problem && !(*event = warp_event_new(flags))) problem = CUDA_MEMORY_ALLOCATION;
    return driver_leave(problem);
}
CUresult cuEventDestroy_v2(CUevent event) {
    int problem = driver_enter();
    if (!problem) problem = warp_event_free(event);
    return driver_leave(problem);
}
CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags) {
    int problem = driver_enter();
    if (!problem) problem = warp_stream_record(stream, event, flags);
    return driver_leave(problem);
}
CUresult cuEventRecord(CUevent event, CUstream stream) {
    return cuEventRecordWithFlags(event, stream, 0);
}
CUresult cuEventSynchronize(CUevent event) {
    int problem = driver_enter();
    if (!problem) problem = warp_wait_for_event(event);
    return driver_leave(problem);
}
CUresult cuEventQuery(CUevent event) {
    int problem = driver_enter();
    if (!problem) problem = warp_ask_event(event);
    return driver_leave(problem);
}
CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end) {
    int problem = driver_enter();
    if (!problem) problem = warp_event_elapsed(milliseconds, start, end);
    return driver_leave(problem);
}

ALSO(cuDeviceTotalMem, cuDeviceTotalMem_v2)
ALSO(cuDeviceGetUuid_v2, cuDeviceGetUuid)
ALSO(cuMemAlloc, cuMemAlloc_v2)
ALSO(cuMemAllocHost, cuMemAllocHost_v2)
ALSO(cuMemAllocPitch, cuMemAllocPitch_v2)
ALSO(cuMemFree, cuMemFree_v2)
ALSO(cuMemGetInfo, cuMemGetInfo_v2)
ALSO(cuMemGetAddressRange, cuMemGetAddressRange_v2)
ALSO(cuMemHostGetDevicePointer, cuMemHostGetDevicePointer_v2)
ALSO(cuMemHostRegister, cuMemHostRegister_v2)
ALSO(cuMemcpyHtoD, cuMemcpyHtoD_v2)
ALSO(cuMemcpyDtoH, cuMemcpyDtoH_v2)
ALSO(cuMemcpyDtoD, cuMemcpyDtoD_v2)
ALSO(cuMemcpyHtoDAsync, cuMemcpyHtoDAsync_v2)
ALSO(cuMemcpyDtoHAsync, cuMemcpyDtoHAsync_v2)
ALSO(cuMemcpyDtoDAsync, cuMemcpyDtoDAsync_v2)
ALSO(cuMemsetD8, cuMemsetD8_v2)
ALSO(cuMemsetD16, cuMemsetD16_v2)
ALSO(cuMemsetD32, cuMemsetD32_v2)
ALSO(cuStreamDestroy, cuStreamDestroy_v2)
ALSO(cuEventDestroy, cuEventDestroy_v2)
ALSO(cuEventElapsedTime_v2, cuEventElapsedTime)
