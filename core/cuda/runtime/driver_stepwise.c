/* The driver API: launches as they were before CUDA 4. The block, the shared memory and the arguments are set step by step,
 * and stay for the function's next launches. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#include "core/cuda/runtime/driver.h"

#include <stdlib.h>
#include <string.h>

enum { ARGUMENT_BYTES = 4096 };

struct WarpStepwise {
    uint32_t block[3], shared_bytes, argument_bytes;
    uint8_t arguments[ARGUMENT_BYTES];
};

/* Enters. driver_leave() must follow. */
static int find(CUfunction function, struct WarpStepwise **steps) {
    int problem = driver_enter();
    if (!problem && !warp_known_function(function)) problem = CUDA_INVALID_HANDLE;
    if (problem) return problem;
    if (!function->stepwise) function->stepwise = calloc(1, sizeof *function->stepwise);
    if (!function->stepwise) abort();
    *steps = function->stepwise;
    return CUDA_OK;
}

CUresult cuFuncSetBlockShape(CUfunction function, int x, int y, int z) {
    struct WarpStepwise *steps;
    int problem = find(function, &steps);
    if (!problem && (x <= 0 || y <= 0 || z <= 0)) problem = CUDA_INVALID_VALUE;
    if (!problem) {
        const uint32_t block[] = {(uint32_t)x, (uint32_t)y, (uint32_t)z};
        memcpy(steps->block, block, sizeof block);
    }
    return driver_leave(problem);
}

CUresult cuFuncSetSharedSize(CUfunction function, unsigned bytes) {
    struct WarpStepwise *steps;
    int problem = find(function, &steps);
    if (!problem) steps->shared_bytes = bytes;
    return driver_leave(problem);
}

CUresult cuParamSetSize(CUfunction function, unsigned bytes) {
    struct WarpStepwise *steps;
    int problem = find(function, &steps);
    if (!problem && bytes > ARGUMENT_BYTES) problem = CUDA_INVALID_VALUE;
    if (!problem) steps->argument_bytes = bytes;
    return driver_leave(problem);
}

CUresult cuParamSetv(CUfunction function, int offset, void *value, unsigned bytes) {
    struct WarpStepwise *steps;
    int problem = find(function, &steps);
    bool fits = offset >= 0 && offset <= ARGUMENT_BYTES && bytes <= ARGUMENT_BYTES - (unsigned)offset;
    if (!problem && (!value || !fits)) problem = CUDA_INVALID_VALUE;
    if (!problem) memcpy(steps->arguments + offset, value, bytes);
    return driver_leave(problem);
}
CUresult cuParamSeti(CUfunction function, int offset, unsigned value) {
    return cuParamSetv(function, offset, &value, sizeof value);
}
CUresult cuParamSetf(CUfunction function, int offset, float value) {
    return cuParamSetv(function, offset, &value, sizeof value);
}

/* A kernel finds its textures without being told. */
CUresult cuParamSetTexRef(CUfunction function, int unit, const void *reference) {
    (void)unit, (void)reference;
    struct WarpStepwise *steps;
    return driver_leave(find(function, &steps));
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                        CUstream stream, void **params, void **extra);

CUresult cuLaunchGridAsync(CUfunction function, int width, int height, CUstream stream) {
    struct WarpStepwise *steps;
    int problem = driver_leave(find(function, &steps));
    if (problem) return problem;
    if (width <= 0 || height <= 0 || !steps->block[0]) return CUDA_INVALID_VALUE;
    size_t bytes = steps->argument_bytes;
    void *extra[] = {(void *)1, steps->arguments, (void *)2, &bytes, NULL};
    return cuLaunchKernel(function, (unsigned)width, (unsigned)height, 1, steps->block[0], steps->block[1],
                          steps->block[2], steps->shared_bytes, stream, NULL, extra);
}
CUresult cuLaunchGrid(CUfunction function, int width, int height) {
    return cuLaunchGridAsync(function, width, height, NULL);
}
CUresult cuLaunch(CUfunction function) {
    return cuLaunchGridAsync(function, 1, 1, NULL);
}
