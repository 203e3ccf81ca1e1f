/* Launches, and what kernels need. */
#include "core/cuda/runtime/capture.h"
#include "core/cuda/runtime/runtime.h"

#include <stdlib.h>
#include <string.h>

enum { NESTED_CALLS = 64, ARGUMENT_BYTES = 4096 };

/* <<<...>>> pushes it, the stub of the kernel pops it. */
typedef struct {
    dim3 grid, block;
    size_t shared_bytes;
    cudaStream_t stream;
} Configuration;

static _Thread_local Configuration configurations[NESTED_CALLS];
static _Thread_local unsigned configured;
static _Thread_local uint8_t arguments[ARGUMENT_BYTES]; /* of cudaSetupArgument() */

unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes,
                                         struct CUstream_st *stream) {
    if (configured == NESTED_CALLS) return 1;
    configurations[configured++] = (Configuration){grid, block, shared_bytes, stream};
    return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared_bytes, void *stream) {
    if (!configured) return runtime_note(CUDA_MISSING_CONFIGURATION);
    const Configuration *last = &configurations[--configured];
    *grid = last->grid;
    *block = last->block;
    *shared_bytes = last->shared_bytes;
    *(cudaStream_t *)stream = last->stream;
    return cudaSuccess;
}

static WarpLaunch plain(dim3 grid, dim3 block, size_t shared_bytes) {
    return (WarpLaunch){{grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, shared_bytes, false};
}

static cudaError_t launch(const WorkKernel *kernel, void *stream) {
    const WarpWork work = {.kind = WORK_KERNEL, .kernel = *kernel};
    int problem = warp_enter();
    if (!problem && !kernel->function) problem = CUDA_INVALID_DEVICE_FUNCTION;
    if (!problem) problem = warp_submit(stream, &work);
    return runtime_leave(problem);
}

static cudaError_t launch_symbol(const void *symbol, const WarpLaunch *shape, void *const *params,
                                 void *stream) {
    const WorkKernel kernel = {runtime_function(symbol), *shape, params, NULL, 0};
    return launch(&kernel, stream);
}

cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **params, size_t shared_bytes,
                             cudaStream_t stream) {
    const WarpLaunch shape = plain(grid, block, shared_bytes);
    return launch_symbol(function, &shape, params, stream);
}

/* All CTAs of such a kernel must be able to run at once: the simulator sees to it. */
cudaError_t cudaLaunchCooperativeKernel(const void *function, dim3 grid, dim3 block, void **params,
                                        size_t shared_bytes, cudaStream_t stream) {
    WarpLaunch shape = plain(grid, block, shared_bytes);
    shape.is_cooperative = true;
    return launch_symbol(function, &shape, params, stream);
}

/* A cluster has one CTA. */
static bool is_one_cta(const cudaLaunchAttributeValue *value) {
    return value->clusterDim.x == 1 && value->clusterDim.y == 1 && value->clusterDim.z == 1;
}

/* Hints are left aside. */
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *function, void **params) {
    if (!config || (config->numAttrs && !config->attrs)) return runtime_note(CUDA_INVALID_VALUE);
    WarpLaunch shape = plain(config->gridDim, config->blockDim, config->dynamicSmemBytes);
    for (unsigned i = 0; i < config->numAttrs; i++) {
        const cudaLaunchAttribute *attribute = &config->attrs[i];
        if (attribute->id == cudaLaunchAttributeCooperative)
            shape.is_cooperative = attribute->val.cooperative != 0;
        if (attribute->id == cudaLaunchAttributeClusterDimension && !is_one_cta(&attribute->val)) {
            warp_name_missing("a cluster of more than one CTA");
            return runtime_note(cudaErrorInvalidClusterSize);
        }
    }
    return launch_symbol(function, &shape, params, config->stream);
}

/* --- CUDA 13: by handles of kernels ------------------------------------------------------------ */

cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *function);
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *function) {
    if (!kernel) return runtime_note(CUDA_INVALID_VALUE);
    *kernel = (cudaKernel_t)runtime_function(function);
    return runtime_note(*kernel ? CUDA_OK : CUDA_INVALID_DEVICE_FUNCTION);
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **params, size_t shared_bytes,
                               cudaStream_t stream);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **params, size_t shared_bytes,
                               cudaStream_t stream) {
    const WorkKernel work = {warp_known_function(kernel), plain(grid, block, shared_bytes), params, NULL, 0};
    return launch(&work, stream);
}

cudaError_t cudaGetKernel(cudaKernel_t *kernel, const void *function);
cudaError_t cudaGetKernel(cudaKernel_t *kernel, const void *function) {
    return __cudaGetKernel(kernel, function);
}

cudaError_t cudaFuncGetName(const char **name, const void *symbol);
cudaError_t cudaFuncGetName(const char **name, const void *symbol) {
    const WarpFunction *function = runtime_function(symbol);
    if (!name) return runtime_note(CUDA_INVALID_VALUE);
    *name = function ? function->name : NULL;
    return runtime_note(function ? CUDA_OK : CUDA_INVALID_DEVICE_FUNCTION);
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t *function, const void *symbol) {
    if (!function) return runtime_note(CUDA_INVALID_VALUE);
    *function = (cudaFunction_t)runtime_function(symbol);
    return runtime_note(*function ? CUDA_OK : CUDA_INVALID_DEVICE_FUNCTION);
}

/* --- Before CUDA 10 ----------------------------------------------------------------------------- */

cudaError_t cudaConfigureCall(dim3 grid, dim3 block, size_t shared_bytes, cudaStream_t stream) {
    memset(arguments, 0, sizeof arguments);
    return runtime_note(__cudaPushCallConfiguration(grid, block, shared_bytes, stream)
                            ? CUDA_INVALID_CONFIGURATION
                            : CUDA_OK);
}

cudaError_t cudaSetupArgument(const void *argument, size_t bytes, size_t offset) {
    if (offset > ARGUMENT_BYTES || bytes > ARGUMENT_BYTES - offset) return runtime_note(CUDA_INVALID_VALUE);
    memcpy(arguments + offset, argument, bytes);
    return cudaSuccess;
}

cudaError_t cudaLaunch(const void *function) {
    Configuration call;
    cudaError_t problem = __cudaPopCallConfiguration(&call.grid, &call.block, &call.shared_bytes,
                                                     &call.stream);
    if (problem) return problem;
    const WorkKernel kernel = {.function = runtime_function(function),
                               .shape = plain(call.grid, call.block, call.shared_bytes),
                               .packed = arguments,
                               .packed_bytes = sizeof arguments};
    return launch(&kernel, call.stream);
}

/* --- What kernels need -------------------------------------------------------------------------- */

/* Enters, and finds the kernel. runtime_leave() must follow. */
static int enter_with(const void *symbol, WarpFunction **function) {
    int problem = warp_enter();
    *function = runtime_function(symbol);
    if (!problem) problem = *function ? warp_function_load(*function) : CUDA_INVALID_DEVICE_FUNCTION;
    return problem;
}

static void fill_attributes(struct cudaFuncAttributes *attributes, const WarpFunction *function) {
    const int64_t *number = warp_device()->number;
    int version = (int)(number[DEVICE_MAJOR] * 10 + number[DEVICE_MINOR]);
    /* The first fields are those of all versions; those behind them are as large as CUDA 11's. */
    memset(attributes, 0, offsetof(struct cudaFuncAttributes, clusterDimMustBeSet));
    attributes->sharedSizeBytes = function->shared;
    attributes->constSizeBytes = function->constant;
    attributes->localSizeBytes = function->local;
    attributes->maxThreadsPerBlock = function->max_threads ? (int)function->max_threads : 1024;
    attributes->numRegs = (int)function->registers;
    attributes->ptxVersion = (int)function->architecture;
    attributes->binaryVersion = version;
    attributes->maxDynamicSharedSizeBytes = (int)warp_dynamic_limit(function);
}

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *symbol) {
    WarpFunction *function;
    int problem = enter_with(symbol, &function);
    if (!problem) fill_attributes(attributes, function);
    return runtime_leave(problem);
}

cudaError_t cudaFuncGetParamInfo(const void *symbol, size_t which, size_t *offset, size_t *bytes);
cudaError_t cudaFuncGetParamInfo(const void *symbol, size_t which, size_t *offset, size_t *bytes) {
    WarpFunction *function;
    int problem = enter_with(symbol, &function);
    if (!problem && (!offset || which >= function->param_count)) problem = CUDA_INVALID_VALUE;
    if (!problem) *offset = function->params[which].offset;
    if (!problem && bytes) *bytes = function->params[which].bytes;
    return runtime_leave(problem);
}

/* The machine has no other arrangements of memory to choose from. */
cudaError_t cudaFuncSetAttribute(const void *symbol, enum cudaFuncAttribute attribute, int value) {
    WarpFunction *function;
    int problem = enter_with(symbol, &function);
    if (!problem && attribute == cudaFuncAttributeMaxDynamicSharedMemorySize)
        problem = warp_set_dynamic_limit(function, value);
    return runtime_leave(problem);
}

cudaError_t cudaFuncSetCacheConfig(const void *function, enum cudaFuncCache config) {
    (void)config;
    return runtime_note(runtime_function(function) ? CUDA_OK : CUDA_INVALID_DEVICE_FUNCTION);
}

cudaError_t cudaFuncSetSharedMemConfig(const void *function, enum cudaSharedMemConfig config) {
    (void)config;
    return runtime_note(runtime_function(function) ? CUDA_OK : CUDA_INVALID_DEVICE_FUNCTION);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *ctas, const void *symbol, int threads,
                                                                   size_t shared_bytes, unsigned int flags) {
    (void)flags;
    WarpFunction *function;
    int problem = enter_with(symbol, &function);
    if (!problem && (!ctas || threads <= 0)) problem = CUDA_INVALID_VALUE;
    if (!problem) *ctas = (int)warp_occupancy(function, (uint32_t)threads, shared_bytes);
    return runtime_leave(problem);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *ctas, const void *symbol, int threads,
                                                          size_t shared_bytes) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(ctas, symbol, threads, shared_bytes, 0);
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *symbol, int ctas,
                                                      int threads) {
    WarpFunction *function;
    int problem = enter_with(symbol, &function);
    if (!problem && (!bytes || ctas <= 0 || threads <= 0)) problem = CUDA_INVALID_VALUE;
    if (!problem) *bytes = warp_available_dynamic(function, (uint64_t)ctas);
    return runtime_leave(problem);
}
