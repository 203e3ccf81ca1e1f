/* The driver API: modules, functions and launches. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#include "core/cuda/runtime/capture.h"
#include "core/cuda/runtime/driver.h"
#include "core/cuda/runtime/limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- Modules ----------------------------------------------------------------------------------- */

static CUresult load(CUmodule *module, const void *image, size_t bytes) {
    int problem = warp_enter();
    if (!problem && (!module || !image)) problem = CUDA_INVALID_VALUE;
    if (!problem) {
        *module = warp_module_new(image, bytes);
        problem = warp_module_load(*module);
    }
    return driver_leave(problem);
}

CUresult cuModuleLoadData(CUmodule *module, const void *image) {
    return image ? load(module, image, warp_image_bytes(image)) : CUDA_INVALID_VALUE;
}

enum { INFO_LOG_BUFFER = 3, INFO_LOG_BYTES = 4, ERROR_LOG_BUFFER = 5, ERROR_LOG_BYTES = 6 };

/* The log's size becomes what was written. */
static void write_log(int buffer_option, int bytes_option, const char *text, unsigned count,
                      const int *options, void **values) {
    char *log = NULL;
    void **bytes = NULL;
    for (unsigned i = 0; i < count; i++) {
        if (options[i] == buffer_option) log = values[i];
        if (options[i] == bytes_option) bytes = &values[i];
    }
    size_t room = bytes ? (uint32_t)(uintptr_t)*bytes : 0;
    if (!log || !room) return;
    int length = snprintf(log, room, "%s", text);
    *bytes = (void *)(uintptr_t)(length < (int)room ? length : (int)room - 1);
}

void driver_write_logs(const char *text, unsigned count, const int *options, void **values) {
    if (!options || !values) return;
    write_log(INFO_LOG_BUFFER, INFO_LOG_BYTES, "", count, options, values);
    write_log(ERROR_LOG_BUFFER, ERROR_LOG_BYTES, text, count, options, values);
}

/* The other options are those of a compiler that is not there. */
CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count, int *options,
                            void **values) {
    CUmodule loaded = NULL;
    CUresult result = cuModuleLoadData(module ? &loaded : NULL, image);
    const char *refusal = loaded ? warp_module_refusal(loaded) : NULL;
    driver_write_logs(!result ? "" : refusal ? refusal : warp_error_text(result), count, options, values);
    if (loaded) *module = loaded;
    return result;
}
CUresult cuModuleLoadFatBinary(CUmodule *module, const void *image) {
    return cuModuleLoadData(module, image);
}

void *driver_read_file(const char *path, size_t *bytes) {
    FILE *file = path ? fopen(path, "rb") : NULL;
    char *text = NULL;
    size_t got;
    *bytes = 0;
    if (!file) return NULL;
    do {
        text = realloc(text, *bytes + (1 << 16));
        if (!text) abort();
        got = fread(text + *bytes, 1, 1 << 16, file);
        *bytes += got;
    } while (got);
    fclose(file);
    return text;
}

CUresult cuModuleLoad(CUmodule *module, const char *path) {
    size_t bytes;
    void *text = driver_read_file(path, &bytes);
    if (!text) return CUDA_FILE_NOT_FOUND;
    CUresult result = load(module, text, bytes);
    free(text);
    return result;
}

/* What kernels and variables it has stays in the simulator. */
CUresult cuModuleUnload(CUmodule module) {
    int problem = warp_enter();
    if (!problem && !warp_module(module)) problem = CUDA_INVALID_HANDLE;
    if (!problem) warp_module_unload(module);
    return driver_leave(problem);
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
    int problem = warp_enter();
    if (!problem && (!function || !warp_module(module) || !name)) problem = CUDA_INVALID_VALUE;
    if (!problem) {
        *function = warp_function(module, name);
        problem = warp_function_load(*function);
    }
    return driver_leave(problem == CUDA_INVALID_DEVICE_FUNCTION ? CUDA_NOT_FOUND : problem);
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *bytes, CUmodule module, const char *name) {
    uint64_t start = 0, size = 0;
    int problem = warp_enter();
    if (!problem && (!warp_module(module) || !name)) problem = CUDA_INVALID_VALUE;
    if (!problem) problem = warp_variable(module, 0, name, &start, &size);
    if (!problem && address) *address = start;
    if (!problem && bytes) *bytes = size;
    return driver_leave(problem == CUDA_INVALID_SYMBOL ? CUDA_NOT_FOUND : problem);
}
ALSO(cuModuleGetGlobal, cuModuleGetGlobal_v2)

/* --- Functions --------------------------------------------------------------------------------- */

enum { LANES = 32 };

enum {
    ATTRIBUTE_MAX_THREADS,
    ATTRIBUTE_SHARED,
    ATTRIBUTE_CONST,
    ATTRIBUTE_LOCAL,
    ATTRIBUTE_REGISTERS,
    ATTRIBUTE_PTX_VERSION,
    ATTRIBUTE_BINARY_VERSION,
    ATTRIBUTE_MAX_DYNAMIC_SHARED = 8,
};

CUresult cuFuncGetAttribute(int *value, int which, CUfunction function) {
    int problem = warp_enter();
    if (!problem && (!value || !warp_known_function(function))) problem = CUDA_INVALID_VALUE;
    if (!problem) problem = warp_function_load(function);
    if (problem) return driver_leave(problem);
    const int64_t *number = warp_device()->number;
    switch (which) {
    case ATTRIBUTE_MAX_THREADS: *value = function->max_threads ? (int)function->max_threads : 1024; break;
    case ATTRIBUTE_SHARED: *value = (int)function->shared; break;
    case ATTRIBUTE_CONST: *value = (int)function->constant; break;
    case ATTRIBUTE_LOCAL: *value = (int)function->local; break;
    case ATTRIBUTE_REGISTERS: *value = (int)function->registers; break;
    case ATTRIBUTE_PTX_VERSION: *value = (int)function->architecture; break;
    case ATTRIBUTE_BINARY_VERSION: *value = (int)(number[DEVICE_MAJOR] * 10 + number[DEVICE_MINOR]); break;
    case ATTRIBUTE_MAX_DYNAMIC_SHARED: *value = (int)warp_dynamic_limit(function); break;
    default: *value = 0;
    }
    return driver_leave(CUDA_OK);
}
/* The others choose how memory is arranged, of which the machine has one way. */
CUresult cuFuncSetAttribute(CUfunction function, int which, int value) {
    int problem = warp_enter();
    if (!problem && !warp_known_function(function)) problem = CUDA_INVALID_HANDLE;
    if (!problem) problem = warp_function_load(function);
    if (!problem && which == ATTRIBUTE_MAX_DYNAMIC_SHARED) problem = warp_set_dynamic_limit(function, value);
    return driver_leave(problem);
}
CUresult cuFuncSetCacheConfig(CUfunction function, int config) {
    return cuFuncSetAttribute(function, 0, config);
}
CUresult cuFuncSetSharedMemConfig(CUfunction function, int config) {
    return cuFuncSetAttribute(function, 0, config);
}

enum { FUNCTION_UNLOADED, FUNCTION_LOADED, MODULES_LOADED_EAGERLY = 1 };

CUresult cuFuncLoad(CUfunction function) {
    int problem = warp_enter();
    if (!problem)
        problem = warp_known_function(function) ? warp_function_load(function) : CUDA_INVALID_HANDLE;
    return driver_leave(problem);
}
CUresult cuFuncIsLoaded(int *state, CUfunction function) {
    if (!state) return CUDA_INVALID_VALUE;
    if (!warp_known_function(function)) return CUDA_INVALID_HANDLE;
    *state = function->is_loaded ? FUNCTION_LOADED : FUNCTION_UNLOADED;
    return CUDA_OK;
}
CUresult cuModuleGetLoadingMode(int *mode) {
    if (!mode) return CUDA_INVALID_VALUE;
    *mode = MODULES_LOADED_EAGERLY;
    return CUDA_OK;
}

CUresult cuFuncGetName(const char **name, CUfunction function) {
    if (!name || !warp_known_function(function)) return CUDA_INVALID_VALUE;
    *name = function->name;
    return CUDA_OK;
}
CUresult cuFuncGetParamInfo(CUfunction function, size_t which, size_t *offset, size_t *bytes) {
    int problem = warp_enter();
    if (!problem && (!offset || !warp_known_function(function))) problem = CUDA_INVALID_VALUE;
    if (!problem) problem = warp_function_load(function);
    if (!problem && which >= function->param_count) problem = CUDA_INVALID_VALUE;
    if (!problem) *offset = function->params[which].offset;
    if (!problem && bytes) *bytes = function->params[which].bytes;
    return driver_leave(problem);
}
CUresult cuFuncGetModule(CUmodule *module, CUfunction function) {
    if (!module || !warp_known_function(function)) return CUDA_INVALID_VALUE;
    *module = function->module;
    return CUDA_OK;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *ctas, CUfunction function, int threads,
                                                              size_t shared_bytes, unsigned flags) {
    (void)flags;
    int problem = warp_enter();
    if (!problem && (!ctas || !warp_known_function(function) || threads <= 0)) problem = CUDA_INVALID_VALUE;
    if (!problem) problem = warp_function_load(function);
    if (!problem) *ctas = (int)warp_occupancy(function, (uint32_t)threads, shared_bytes);
    return driver_leave(problem);
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *ctas, CUfunction function, int threads,
                                                     size_t shared_bytes) {
    return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(ctas, function, threads, shared_bytes, 0);
}

CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, CUfunction function, int ctas, int threads) {
    int problem = warp_enter();
    if (!problem && (!bytes || !warp_known_function(function) || ctas <= 0 || threads <= 0))
        problem = CUDA_INVALID_VALUE;
    if (!problem) problem = warp_function_load(function);
    if (!problem) *bytes = warp_available_dynamic(function, (uint64_t)ctas);
    return driver_leave(problem);
}

typedef size_t (*SharedOfThreads)(int threads);

/* The largest CTAs of those with which an SM has most threads, and how many of them fill the device. */
static void find_block(int *grid, int *block, const WarpFunction *function, SharedOfThreads shared_of,
                       size_t shared_bytes, uint32_t limit) {
    uint32_t most = function->max_threads ? function->max_threads : MOST_THREADS, best = 0;
    *grid = *block = 0;
    if (limit && limit < most) most = limit;
    for (uint32_t threads = most; threads; threads = (threads - 1) / LANES * LANES) {
        uint32_t ctas = warp_occupancy(function, threads, shared_of ? shared_of((int)threads) : shared_bytes);
        if (ctas * threads <= best) continue;
        best = ctas * threads;
        *block = (int)threads;
        *grid = (int)(ctas * warp_device()->number[DEVICE_SMS]);
    }
}

CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, CUfunction function,
                                                   SharedOfThreads shared_of, size_t shared_bytes, int limit,
                                                   unsigned flags) {
    (void)flags;
    int problem = warp_enter();
    if (!problem && (!grid || !block || !warp_known_function(function) || limit < 0))
        problem = CUDA_INVALID_VALUE;
    if (!problem) problem = warp_function_load(function);
    if (!problem) find_block(grid, block, function, shared_of, shared_bytes, (uint32_t)limit);
    return driver_leave(problem);
}
CUresult cuOccupancyMaxPotentialBlockSize(int *grid, int *block, CUfunction function,
                                          SharedOfThreads shared_of, size_t shared_bytes, int limit) {
    return cuOccupancyMaxPotentialBlockSizeWithFlags(grid, block, function, shared_of, shared_bytes, limit,
                                                     0);
}

static CUresult launch(CUfunction function, const WarpLaunch *shape, CUstream stream, void **params,
                       void **extra) {
    WarpWork work = {.kind = WORK_KERNEL, .kernel = {function, *shape, params, NULL, 0}};
    work.kernel.packed = warp_packed_arguments(extra, &work.kernel.packed_bytes);
    int problem = driver_enter();
    if (!problem && !warp_known_function(function)) problem = CUDA_INVALID_HANDLE;
    if (!problem) problem = warp_submit(stream, &work);
    return driver_leave(problem == CUDA_INVALID_CONFIGURATION ? CUDA_INVALID_VALUE : problem);
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                        CUstream stream, void **params, void **extra) {
    const WarpLaunch shape = {
        {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes, .is_cooperative = false};
    return launch(function, &shape, stream, params, extra);
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                   unsigned block_x, unsigned block_y, unsigned block_z,
                                   unsigned shared_bytes, CUstream stream, void **params) {
    const WarpLaunch shape = {
        {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes, .is_cooperative = true};
    return launch(function, &shape, stream, params, NULL);
}

/* --- By a structure with attributes -------------------------------------------------------------- */

enum { LAUNCH_COOPERATIVE = 2, LAUNCH_CLUSTER = 4 };

typedef struct {
    int id;
    char pad[4];
    union {
        char pad[64];
        int cooperative;
        unsigned cluster[3];
    } value;
} LaunchAttribute;

typedef struct {
    unsigned grid[3], block[3], shared_bytes;
    CUstream stream;
    const LaunchAttribute *attributes;
    unsigned count;
} LaunchConfig;

/* A cluster has one CTA; hints are left aside. */
CUresult cuLaunchKernelEx(const LaunchConfig *config, CUfunction function, void **params, void **extra) {
    if (!config || (config->count && !config->attributes)) return CUDA_INVALID_VALUE;
    WarpLaunch shape = {.shared_bytes = config->shared_bytes};
    memcpy(shape.grid, config->grid, sizeof shape.grid);
    memcpy(shape.block, config->block, sizeof shape.block);
    for (unsigned i = 0; i < config->count; i++) {
        const LaunchAttribute *attribute = &config->attributes[i];
        const unsigned *cluster = attribute->value.cluster;
        if (attribute->id == LAUNCH_COOPERATIVE) shape.is_cooperative = attribute->value.cooperative != 0;
        if (attribute->id == LAUNCH_CLUSTER && (cluster[0] != 1 || cluster[1] != 1 || cluster[2] != 1)) {
            warp_name_missing("a cluster of more than one CTA");
            return CUDA_INVALID_CLUSTER_SIZE;
        }
    }
    return launch(function, &shape, config->stream, params, extra);
}
