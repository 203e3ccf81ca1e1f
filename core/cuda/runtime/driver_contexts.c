/* The driver API: contexts. All share what the device has: they differ in whether there is one, and in their flags. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#include "core/cuda/runtime/capture.h"
#include "core/cuda/runtime/driver.h"
#include "core/cuda/runtime/handles.h"
#include "core/cuda/runtime/limits.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { MOST_PUSHED = 64 };

struct DriverContext {
    unsigned flags;
};
static struct DriverContext primary;
static atomic_uint retained;

/* Of each thread; the last one is current. It may have been destroyed since by another thread. */
static _Thread_local struct {
    CUcontext at[MOST_PUSHED];
    int count;
} pushed;

static bool is_context(CUcontext context) {
    return context == &primary || warp_handle(context, HANDLE_CONTEXT);
}

CUcontext driver_context(void) {
    return pushed.count ? pushed.at[pushed.count - 1] : NULL;
}

static int current_problem(void) {
    if (!pushed.count) return CUDA_INVALID_CONTEXT;
    return is_context(driver_context()) ? CUDA_OK : CUDA_CONTEXT_IS_DESTROYED;
}

/* NULL stands for the current one. */
static int context_problem(CUcontext context) {
    if (!context) return current_problem();
    return is_context(context) ? CUDA_OK : CUDA_INVALID_CONTEXT;
}

int driver_enter(void) {
    int problem = warp_enter();
    return problem ? problem : current_problem();
}

static CUresult push(CUcontext context) {
    if (pushed.count == MOST_PUSHED) return CUDA_MEMORY_ALLOCATION;
    pushed.at[pushed.count++] = context;
    return CUDA_OK;
}

void warp_use_primary_context(void) {
    if (!pushed.count) push(&primary);
}

CUresult cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice device) {
    int problem = warp_enter();
    if (!problem && device) problem = CUDA_INVALID_DEVICE;
    if (!problem && !context) problem = CUDA_INVALID_VALUE;
    CUcontext made = problem ? NULL : malloc(sizeof *made);
    if (!problem) problem = made ? push(made) : CUDA_MEMORY_ALLOCATION;
    if (problem) {
        free(made);
        return driver_leave(problem);
    }
    made->flags = flags;
    warp_handle_add(made, HANDLE_CONTEXT);
    *context = made;
    return driver_leave(CUDA_OK);
}
CUresult cuCtxCreate_v4(CUcontext *context, void *params, unsigned flags, CUdevice device) {
    (void)params;
    return cuCtxCreate_v2(context, flags, device);
}
CUresult cuCtxCreate_v3(CUcontext *context, void *params, int count, unsigned flags, CUdevice device) {
    (void)count;
    return cuCtxCreate_v4(context, params, flags, device);
}
CUresult cuCtxDestroy_v2(CUcontext context) {
    if (!warp_handle(context, HANDLE_CONTEXT)) return CUDA_INVALID_CONTEXT;
    if (driver_context() == context) pushed.count--;
    warp_handle_remove(context);
    free(context);
    return CUDA_OK;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
    if (device) return CUDA_INVALID_DEVICE;
    if (!context) return CUDA_INVALID_VALUE;
    retained++;
    *context = &primary;
    return CUDA_OK;
}
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
    if (device) return CUDA_INVALID_DEVICE;
    for (unsigned now = retained; now;)
        if (atomic_compare_exchange_weak(&retained, &now, now - 1)) return CUDA_OK;
    return CUDA_INVALID_CONTEXT;
}
CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
    int problem = warp_enter_to_reset();
    if (!problem) problem = warp_capture_forbids();
    if (!problem) problem = device ? CUDA_INVALID_DEVICE : warp_reset();
    return driver_leave(problem);
}
CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned flags) {
    if (device) return CUDA_INVALID_DEVICE;
    primary.flags = flags;
    return CUDA_OK;
}
CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *is_active) {
    if (device) return CUDA_INVALID_DEVICE;
    if (flags) *flags = primary.flags;
    if (is_active) *is_active = 1;
    return CUDA_OK;
}

/* In the place of the current one; NULL: without it. */
CUresult cuCtxSetCurrent(CUcontext context) {
    if (context && !is_context(context)) return CUDA_INVALID_CONTEXT;
    if (pushed.count) pushed.count--;
    return context ? push(context) : CUDA_OK;
}
CUresult cuCtxGetCurrent(CUcontext *context) {
    if (!context) return CUDA_INVALID_VALUE;
    *context = driver_context();
    return CUDA_OK;
}
CUresult cuCtxPushCurrent_v2(CUcontext context) {
    return is_context(context) ? push(context) : CUDA_INVALID_CONTEXT;
}
CUresult cuCtxPopCurrent_v2(CUcontext *context) {
    if (!pushed.count) return CUDA_INVALID_CONTEXT;
    if (context) *context = driver_context();
    pushed.count--;
    return CUDA_OK;
}
CUresult cuCtxGetDevice_v2(CUdevice *device, CUcontext context) {
    if (!device) return CUDA_INVALID_VALUE;
    *device = 0;
    return context_problem(context);
}
CUresult cuCtxGetDevice(CUdevice *device) {
    return cuCtxGetDevice_v2(device, NULL);
}
CUresult cuCtxGetFlags(unsigned *flags) {
    if (!flags) return CUDA_INVALID_VALUE;
    int problem = current_problem();
    if (!problem) *flags = driver_context()->flags;
    return problem;
}
CUresult cuCtxGetApiVersion(CUcontext context, unsigned *version) {
    if (!version) return CUDA_INVALID_VALUE;
    *version = DRIVER_VERSION;
    return context_problem(context);
}
CUresult cuCtxSynchronize_v2(CUcontext context) {
    int problem = warp_enter();
    if (!problem) problem = context_problem(context);
    if (!problem) problem = warp_wait_for_device();
    return driver_leave(problem);
}
CUresult cuCtxSynchronize(void) {
    return cuCtxSynchronize_v2(NULL);
}
CUresult cuCtxSetCacheConfig(int config) {
    (void)config;
    return current_problem();
}
/* The machine has one arrangement of memory: none is preferred. */
CUresult cuCtxGetCacheConfig(int *config) {
    if (!config) return CUDA_INVALID_VALUE;
    *config = 0;
    return current_problem();
}
CUresult cuCtxSetLimit(int limit, size_t value) {
    int problem = driver_enter();
    if (!problem) problem = warp_set_limit((unsigned)limit, value);
    return driver_leave(problem);
}
CUresult cuCtxGetLimit(size_t *value, int limit) {
    int problem = current_problem();
    return problem ? problem : warp_get_limit((unsigned)limit, value);
}
CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest) {
    if (least) *least = LEAST_PRIORITY;
    if (greatest) *greatest = GREATEST_PRIORITY;
    return current_problem();
}

ALSO(cuCtxCreate, cuCtxCreate_v2)
ALSO(cuCtxDestroy, cuCtxDestroy_v2)
ALSO(cuCtxPushCurrent, cuCtxPushCurrent_v2)
ALSO(cuCtxPopCurrent, cuCtxPopCurrent_v2)
ALSO(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2)
ALSO(cuDevicePrimaryCtxReset, cuDevicePrimaryCtxReset_v2)
ALSO(cuDevicePrimaryCtxSetFlags, cuDevicePrimaryCtxSetFlags_v2)
