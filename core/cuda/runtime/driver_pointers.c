/* The driver API: what a pointer points to. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#include "core/cuda/runtime/driver.h"

#include <string.h>

enum { MEMORY_HOST = 1, MEMORY_DEVICE = 2 };

enum {
    POINTER_CONTEXT = 1,
    POINTER_MEMORY_TYPE,
    POINTER_DEVICE_POINTER,
    POINTER_HOST_POINTER,
    POINTER_IS_MANAGED = 8,
    POINTER_DEVICE_ORDINAL,
    POINTER_RANGE_START = 11,
    POINTER_RANGE_BYTES,
    POINTER_IS_MAPPED,
};

static bool is_of_host(const WarpRange *range) {
    return range->kind == RANGE_MAPPED || range->kind == RANGE_REGISTERED;
}

/* Of memory that kernels reach; `result` is as large as the attribute. */
static int attribute_of(void *result, int which, const WarpRange *range, uint64_t address) {
    uint64_t in_device = range->device + (address - range->start);
    bool is_managed = range->kind == RANGE_MANAGED || range->kind == RANGE_MANAGED_COPY,
         has_host = is_of_host(range) || is_managed;
    switch (which) {
    case POINTER_CONTEXT: *(CUcontext *)result = driver_context(); break;
    case POINTER_MEMORY_TYPE: *(unsigned *)result = is_of_host(range) ? MEMORY_HOST : MEMORY_DEVICE; break;
    case POINTER_DEVICE_POINTER: *(uint64_t *)result = in_device; break;
    case POINTER_HOST_POINTER:
        if (!has_host) return CUDA_INVALID_VALUE;
        *(uint64_t *)result = address;
        break;
    case POINTER_IS_MANAGED: *(bool *)result = is_managed; break;
    case POINTER_DEVICE_ORDINAL: *(int *)result = 0; break;
    case POINTER_RANGE_START: *(uint64_t *)result = range->start; break;
    case POINTER_RANGE_BYTES: *(size_t *)result = range->bytes; break;
    case POINTER_IS_MAPPED: *(bool *)result = true; break;
    default: return CUDA_NOT_SUPPORTED;
    }
    return CUDA_OK;
}

static int get(void *result, int which, CUdeviceptr address) {
    const WarpRange *range = warp_range(address);
    return result && range ? attribute_of(result, which, range, address) : CUDA_INVALID_VALUE;
}

CUresult cuPointerGetAttribute(void *result, int which, CUdeviceptr address) {
    int problem = driver_enter();
    if (!problem) problem = get(result, which, address);
    return driver_leave(problem);
}

/* What a pointer does not have is 0; the device of memory that kernels do not reach is -2. */
static void set_default(void *result, int which) {
    switch (which) {
    case POINTER_IS_MANAGED:
    case POINTER_IS_MAPPED: *(bool *)result = false; break;
    case POINTER_MEMORY_TYPE: *(unsigned *)result = 0; break;
    case POINTER_DEVICE_ORDINAL: *(int *)result = -2; break;
    default: *(uint64_t *)result = 0;
    }
}

static int get_all(unsigned count, const int *which, void **results, CUdeviceptr address) {
    if (!which || !results) return CUDA_INVALID_VALUE;
    for (unsigned i = 0; i < count; i++) {
        if (!results[i]) return CUDA_INVALID_VALUE;
        int problem = get(results[i], which[i], address);
        if (problem == CUDA_NOT_SUPPORTED) return problem;
        if (problem) set_default(results[i], which[i]);
    }
    return CUDA_OK;
}

CUresult cuPointerGetAttributes(unsigned count, const int *which, void **results, CUdeviceptr address) {
    int problem = driver_enter();
    if (!problem) problem = get_all(count, which, results, address);
    return driver_leave(problem);
}
