/* The device: what it says of itself, errors, limits. */
#include "core/cuda/runtime/capture.h"
#include "core/cuda/runtime/limits.h"
#include "core/cuda/runtime/runtime.h"

#include <stdio.h>
#include <string.h>

static _Thread_local int last_error;

cudaError_t runtime_note(int problem) {
    if (problem) last_error = problem;
    warp_use_primary_context();
    return (cudaError_t)problem;
}

cudaError_t runtime_leave(int problem) {
    warp_leave();
    return runtime_note(problem);
}

/* --- Errors ------------------------------------------------------------------------------------ */

/* That a kernel has failed is not known before a call waits for it: a launch without an error is one of a good
 * configuration. Once a call has told the error, it stays. */
cudaError_t cudaPeekAtLastError(void) {
    return (cudaError_t)last_error;
}

cudaError_t cudaGetLastError(void) {
    cudaError_t problem = cudaPeekAtLastError();
    if ((int)problem != warp_dead()) last_error = 0;
    return problem;
}

const char *cudaGetErrorName(cudaError_t error) {
    const char *name = warp_error_name((int)error);
    return name ? name : "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error) {
    const char *text = warp_error_text((int)error);
    return text ? text : "unrecognized error code";
}

/* --- Properties -------------------------------------------------------------------------------- */

static int number(DeviceNumber which) {
    return (int)warp_device()->number[which];
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr which, int device) {
    int problem = warp_enter();
    if (!problem && device != 0) problem = CUDA_INVALID_DEVICE;
    if (!problem) problem = value ? warp_attribute((int)which, value) : CUDA_INVALID_VALUE;
    return runtime_leave(problem);
}

/* What the layouts of all versions have. */
#define FILL_COMMON(p)                                                                                       \
    do {                                                                                                     \
        snprintf((p)->name, sizeof(p)->name, "%s", warp_device()->name);                                     \
        memcpy((p)->uuid.bytes, "warpwright", 10);                                                           \
        (p)->totalGlobalMem = warp_device()->memory_bytes;                                                   \
        (p)->sharedMemPerBlock = warp_shared_bytes();                                                        \
        (p)->sharedMemPerBlockOptin = warp_most_shared_bytes();                                              \
        (p)->sharedMemPerMultiprocessor = (size_t)number(DEVICE_SHARED_PER_SM);                              \
        (p)->reservedSharedMemPerBlock = (size_t)number(DEVICE_RESERVED_SHARED);                             \
        (p)->regsPerBlock = (p)->regsPerMultiprocessor = number(DEVICE_REGISTERS_PER_SM);                    \
        (p)->warpSize = 32;                                                                                  \
        (p)->memPitch = 0x7fffffff;                                                                          \
        (p)->maxThreadsPerBlock = (p)->maxThreadsDim[0] = (p)->maxThreadsDim[1] = MOST_THREADS;              \
        (p)->maxThreadsDim[2] = MOST_THREADS_Z;                                                              \
        (p)->maxGridSize[0] = 0x7fffffff;                                                                    \
        (p)->maxGridSize[1] = (p)->maxGridSize[2] = MOST_GRID_YZ;                                            \
        (p)->totalConstMem = CONSTANT_BYTES;                                                                 \
        (p)->major = number(DEVICE_MAJOR);                                                                   \
        (p)->minor = number(DEVICE_MINOR);                                                                   \
        (p)->textureAlignment = (p)->surfaceAlignment = TEXTURE_ALIGN;                                       \
        (p)->texturePitchAlignment = TEXTURE_PITCH;                                                          \
        (p)->multiProcessorCount = number(DEVICE_SMS);                                                       \
        (p)->canMapHostMemory = (p)->unifiedAddressing = (p)->managedMemory = 1;                             \
        (p)->asyncEngineCount = (p)->pciBusID = (p)->cooperativeLaunch = (p)->concurrentKernels = 1;         \
        (p)->globalL1CacheSupported = (p)->localL1CacheSupported = 1;                                        \
        (p)->maxTexture1D = MOST_TEXELS_1D;                                                                  \
        (p)->maxTexture2D[0] = (p)->maxTexture2D[1] = MOST_TEXELS_2D;                                        \
        (p)->maxTexture3D[0] = (p)->maxTexture3D[1] = (p)->maxTexture3D[2] = MOST_TEXELS_3D;                 \
        (p)->maxTexture1DLayered[0] = (p)->maxTexture2DLayered[0] = (p)->maxTexture2DLayered[1] =            \
            MOST_TEXELS_3D;                                                                                  \
        (p)->maxTexture1DLayered[1] = (p)->maxTexture2DLayered[2] = MOST_LAYERS;                             \
        (p)->memoryBusWidth = number(DEVICE_MEMORY_BITS);                                                    \
        (p)->l2CacheSize = number(DEVICE_L2_BYTES);                                                          \
        (p)->maxThreadsPerMultiProcessor = number(DEVICE_THREADS_PER_SM);                                    \
        (p)->maxBlocksPerMultiProcessor = number(DEVICE_CTAS_PER_SM);                                        \
    } while (0)

static void fill_twelve(struct cudaDeviceProp *p, size_t bytes) {
    struct cudaDeviceProp whole = {0};
    FILL_COMMON(&whole);
    whole.clockRate = number(DEVICE_CORE_KHZ);
    whole.memoryClockRate = number(DEVICE_MEMORY_KHZ);
    whole.maxTexture1DLinear = 1 << 27;
    whole.deviceOverlap = whole.hostRegisterSupported = whole.memoryPoolsSupported = 1;
    whole.singleToDoublePrecisionPerfRatio = 2;
    memcpy(p, &whole, bytes);
}

static cudaError_t properties(struct cudaDeviceProp *p, int device, size_t bytes) {
    int problem = warp_enter();
    if (!problem && device != 0) problem = CUDA_INVALID_DEVICE;
    if (!problem && !p) problem = CUDA_INVALID_VALUE;
    if (!problem) fill_twelve(p, bytes);
    return runtime_leave(problem);
}

cudaError_t cudaGetDeviceProperties_v2(struct cudaDeviceProp *p, int device) {
    return properties(p, device, sizeof *p);
}

#if CUDA_MAJOR < 13
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int device);
/* CUDA 11's layout ends where that of 12 goes on. */
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int device) {
    return properties(p, device, offsetof(struct cudaDeviceProp, hostRegisterSupported));
}
#else
#include "core/cuda/runtime/properties13.h"

cudaError_t cudaGetDeviceProperties(struct DeviceProperties13 *p, int device);
cudaError_t cudaGetDeviceProperties(struct DeviceProperties13 *p, int device) {
    int problem = warp_enter();
    if (!problem && device != 0) problem = CUDA_INVALID_DEVICE;
    if (!problem && !p) problem = CUDA_INVALID_VALUE;
    if (!problem) {
        memset(p, 0, sizeof *p);
        FILL_COMMON(p);
        p->hostRegisterSupported = p->memoryPoolsSupported = 1;
    }
    return runtime_leave(problem);
}
#endif

/* --- Devices: there is one ---------------------------------------------------------------------- */

cudaError_t cudaGetDeviceCount(int *count) {
    int problem = warp_enter();
    if (count) *count = problem == CUDA_NO_DEVICE ? 0 : 1;
    return runtime_leave(problem);
}

cudaError_t cudaSetDevice(int device) {
    int problem = warp_enter();
    if (!problem && device != 0) problem = CUDA_INVALID_DEVICE;
    return runtime_leave(problem);
}

cudaError_t cudaGetDevice(int *device) {
    if (device) *device = 0;
    return runtime_note(device ? CUDA_OK : CUDA_INVALID_VALUE);
}

cudaError_t cudaInitDevice(int device, unsigned int device_flags, unsigned int flags) {
    (void)device_flags, (void)flags;
    return cudaSetDevice(device);
}

cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *wanted) {
    (void)wanted;
    return cudaGetDevice(device);
}

cudaError_t cudaSetValidDevices(int *devices, int count) {
    return runtime_note(count < 0 || (count && !devices) ? CUDA_INVALID_VALUE : CUDA_OK);
}

static unsigned device_flags;

cudaError_t cudaSetDeviceFlags(unsigned int flags) {
    device_flags = flags;
    return runtime_note(CUDA_OK);
}

cudaError_t cudaGetDeviceFlags(unsigned int *flags) {
    if (!flags) return runtime_note(CUDA_INVALID_VALUE);
    *flags = device_flags | cudaDeviceMapHost;
    return runtime_note(CUDA_OK);
}

cudaError_t cudaDeviceSynchronize(void) {
    int problem = warp_enter();
    if (!problem) problem = warp_wait_for_device();
    return runtime_leave(problem);
}

cudaError_t cudaDeviceReset(void) {
    int failed = warp_dead(), problem = warp_enter_to_reset();
    if (!problem) problem = warp_capture_forbids();
    if (!problem) problem = warp_reset();
    if (!problem && last_error == failed) last_error = 0; /* the error that stayed ends with what failed */
    if (!problem) problem = runtime_place_managed(NULL);
    return runtime_leave(problem);
}

cudaError_t cudaDeviceGetPCIBusId(char *text, int length, int device) {
    if (device || !text || length < (int)sizeof PCI_BUS_ID)
        return runtime_note(device ? CUDA_INVALID_DEVICE : CUDA_INVALID_VALUE);
    strcpy(text, PCI_BUS_ID);
    return runtime_note(CUDA_OK);
}

cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *text) {
    if (!device || !text || !strstr(text, PCI_SLOT)) return runtime_note(CUDA_INVALID_DEVICE);
    return cudaGetDevice(device);
}

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer) {
    if (can) *can = 0;
    return runtime_note(device || peer ? CUDA_INVALID_DEVICE : CUDA_OK);
}

/* Of two devices; there is one. */
cudaError_t cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr which, int device, int peer) {
    (void)which, (void)device, (void)peer;
    return runtime_note(value ? CUDA_INVALID_DEVICE : CUDA_INVALID_VALUE);
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags) {
    (void)peer, (void)flags;
    return runtime_note(CUDA_INVALID_DEVICE);
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
    (void)peer;
    return runtime_note(CUDA_INVALID_DEVICE);
}

int runtime_version(void) {
    static const int versions[] = {11080, 12040, 13000};
    return versions[CUDA_MAJOR - 11];
}

cudaError_t cudaDriverGetVersion(int *value) {
    if (!value) return runtime_note(CUDA_INVALID_VALUE);
    *value = runtime_version();
    return runtime_note(CUDA_OK);
}

cudaError_t cudaRuntimeGetVersion(int *value) {
    if (!value) return runtime_note(CUDA_INVALID_VALUE);
    *value = runtime_version();
    return runtime_note(CUDA_OK);
}

/* --- Functions of the driver ---------------------------------------------------------------------- */

/* `status` may be NULL; 1: there is no such function. */
cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned wanted,
                                             unsigned long long flags, int *status);
cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned wanted,
                                             unsigned long long flags, int *status) {
    if (!name || !function) return runtime_note(CUDA_INVALID_VALUE);
    *function = warp_entry_point(name, (int)wanted, flags);
    if (status) *status = !*function;
    return runtime_note(CUDA_OK);
}

#if CUDA_MAJOR < 12
cudaError_t cudaGetDriverEntryPoint(const char *name, void **function, unsigned long long flags);
cudaError_t cudaGetDriverEntryPoint(const char *name, void **function, unsigned long long flags) {
    int unknown = 0;
    cudaError_t problem = cudaGetDriverEntryPointByVersion(name, function, (unsigned)runtime_version(), flags,
                                                           &unknown);
    return unknown ? runtime_note(CUDA_NOT_FOUND) : problem;
}
#else
cudaError_t cudaGetDriverEntryPoint(const char *name, void **function, unsigned long long flags, int *status);
cudaError_t cudaGetDriverEntryPoint(const char *name, void **function, unsigned long long flags,
                                    int *status) {
    return cudaGetDriverEntryPointByVersion(name, function, (unsigned)runtime_version(), flags, status);
}
#endif

/* --- Limits and arrangements: kept, and answered --------------------------------------------------- */

cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value) {
    int problem = warp_enter();
    if (!problem) problem = warp_set_limit((unsigned)limit, value);
    return runtime_leave(problem);
}

cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit) {
    return runtime_note(warp_get_limit((unsigned)limit, value));
}

static enum cudaFuncCache cache_config;
static enum cudaSharedMemConfig shared_config = cudaSharedMemBankSizeFourByte;

cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config) {
    cache_config = config;
    return runtime_note(CUDA_OK);
}
cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *config) {
    if (!config) return runtime_note(CUDA_INVALID_VALUE);
    *config = cache_config;
    return runtime_note(CUDA_OK);
}
cudaError_t cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config) {
    shared_config = config;
    return runtime_note(CUDA_OK);
}
cudaError_t cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *config) {
    if (!config) return runtime_note(CUDA_INVALID_VALUE);
    *config = shared_config;
    return runtime_note(CUDA_OK);
}

/* --- Removed names ------------------------------------------------------------------------------- */

cudaError_t cudaThreadExit(void) {
    return cudaDeviceReset();
}
cudaError_t cudaThreadSynchronize(void) {
    return cudaDeviceSynchronize();
}
cudaError_t cudaThreadSetLimit(enum cudaLimit limit, size_t value) {
    return cudaDeviceSetLimit(limit, value);
}
cudaError_t cudaThreadGetLimit(size_t *value, enum cudaLimit limit) {
    return cudaDeviceGetLimit(value, limit);
}
cudaError_t cudaThreadGetCacheConfig(enum cudaFuncCache *config) {
    return cudaDeviceGetCacheConfig(config);
}
cudaError_t cudaThreadSetCacheConfig(enum cudaFuncCache config) {
    return cudaDeviceSetCacheConfig(config);
}
