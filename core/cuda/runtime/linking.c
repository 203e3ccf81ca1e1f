/* The driver API: images that are linked to each other, and libraries. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#include "core/cuda/runtime/driver.h"
#include "core/cuda/runtime/handles.h"

#include <stdlib.h>
#include <string.h>

/* --- Linking ------------------------------------------------------------------------------------- */

enum { INPUT_PTX = 1, INPUT_FAT_BINARY = 2 };

struct Link {
    uint8_t *images;
    size_t bytes;
    bool is_complete;
};

/* What is wrong with an input shows when the result is loaded. */
CUresult cuLinkCreate_v2(unsigned count, int *options, void **values, struct Link **state) {
    if (!state) return CUDA_INVALID_VALUE;
    *state = calloc(1, sizeof **state);
    if (!*state) return CUDA_MEMORY_ALLOCATION;
    warp_handle_add(*state, HANDLE_LINK);
    driver_write_logs("", count, options, values);
    return CUDA_OK;
}
ALSO(cuLinkCreate, cuLinkCreate_v2)

CUresult cuLinkAddData_v2(struct Link *state, int type, void *data, size_t bytes, const char *name,
                          unsigned count, int *options, void **values) {
    (void)name, (void)count, (void)options, (void)values;
    if (!warp_handle(state, HANDLE_LINK)) return CUDA_INVALID_HANDLE;
    if (state->is_complete || !data || !bytes) return CUDA_INVALID_VALUE;
    if (type != INPUT_PTX && type != INPUT_FAT_BINARY) {
        warp_name_missing("cuLinkAddData of inputs other than PTX and fat binaries");
        return CUDA_NOT_SUPPORTED;
    }
    warp_append_image(&state->images, &state->bytes, data, bytes);
    return CUDA_OK;
}
ALSO(cuLinkAddData, cuLinkAddData_v2)

CUresult cuLinkAddFile_v2(struct Link *state, int type, const char *path, unsigned count, int *options,
                          void **values) {
    size_t bytes;
    void *data = driver_read_file(path, &bytes);
    if (!data) return CUDA_FILE_NOT_FOUND;
    CUresult result = cuLinkAddData_v2(state, type, data, bytes, path, count, options, values);
    free(data);
    return result;
}
ALSO(cuLinkAddFile, cuLinkAddFile_v2)

CUresult cuLinkComplete(struct Link *state, void **image, size_t *bytes) {
    if (!warp_handle(state, HANDLE_LINK)) return CUDA_INVALID_HANDLE;
    if (!image || !state->bytes) return CUDA_INVALID_VALUE;
    if (!state->is_complete) warp_append_image(&state->images, &state->bytes, NULL, 0);
    state->is_complete = true;
    *image = state->images;
    if (bytes) *bytes = state->bytes;
    return CUDA_OK;
}

CUresult cuLinkDestroy(struct Link *state) {
    if (!warp_handle(state, HANDLE_LINK)) return CUDA_INVALID_HANDLE;
    warp_handle_remove(state);
    free(state->images);
    free(state);
    return CUDA_OK;
}

/* --- Libraries of CUDA 12: modules, whose kernels are functions ---------------------------------- */

CUresult cuModuleLoad(CUmodule *module, const char *path);
CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count, int *options, void **values);
CUresult cuModuleUnload(CUmodule module);
CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name);
CUresult cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *bytes, CUmodule module, const char *name);
CUresult cuFuncGetAttribute(int *value, int which, CUfunction function);
CUresult cuFuncSetAttribute(CUfunction function, int which, int value);
CUresult cuFuncGetName(const char **name, CUfunction function);
CUresult cuFuncGetParamInfo(CUfunction function, size_t which, size_t *offset, size_t *bytes);
CUresult cuFuncGetModule(CUmodule *module, CUfunction function);

CUresult cuLibraryLoadData(CUmodule *library, const void *image, int *options, void **values, unsigned count,
                           int *library_options, void **library_values, unsigned library_count) {
    (void)library_options, (void)library_values, (void)library_count;
    return cuModuleLoadDataEx(library, image, count, options, values);
}

CUresult cuLibraryLoadFromFile(CUmodule *library, const char *path, int *options, void **values,
                               unsigned count, int *library_options, void **library_values,
                               unsigned library_count) {
    (void)library_options, (void)library_values, (void)library_count;
    CUresult result = cuModuleLoad(library, path);
    driver_write_logs(result ? warp_error_text(result) : "", count, options, values);
    return result;
}

CUresult cuLibraryUnload(CUmodule library) {
    return cuModuleUnload(library);
}
CUresult cuLibraryGetKernel(CUfunction *kernel, CUmodule library, const char *name) {
    return cuModuleGetFunction(kernel, library, name);
}
CUresult cuLibraryGetGlobal(CUdeviceptr *address, size_t *bytes, CUmodule library, const char *name) {
    return cuModuleGetGlobal_v2(address, bytes, library, name);
}
CUresult cuLibraryGetModule(CUmodule *module, CUmodule library) {
    if (!module) return CUDA_INVALID_VALUE;
    *module = library;
    return warp_module(library) ? CUDA_OK : CUDA_INVALID_HANDLE;
}
CUresult cuKernelGetFunction(CUfunction *function, CUfunction kernel) {
    if (!function) return CUDA_INVALID_VALUE;
    *function = kernel;
    return warp_known_function(kernel) ? CUDA_OK : CUDA_INVALID_HANDLE;
}
CUresult cuKernelGetLibrary(CUmodule *library, CUfunction kernel) {
    return cuFuncGetModule(library, kernel);
}
CUresult cuKernelGetName(const char **name, CUfunction kernel) {
    return cuFuncGetName(name, kernel);
}
CUresult cuKernelGetParamInfo(CUfunction kernel, size_t which, size_t *offset, size_t *bytes) {
    return cuFuncGetParamInfo(kernel, which, offset, bytes);
}
CUresult cuKernelGetAttribute(int *value, int which, CUfunction kernel, CUdevice device) {
    return device ? CUDA_INVALID_DEVICE : cuFuncGetAttribute(value, which, kernel);
}
CUresult cuKernelSetAttribute(int which, int value, CUfunction kernel, CUdevice device) {
    return device ? CUDA_INVALID_DEVICE : cuFuncSetAttribute(kernel, which, value);
}
CUresult cuKernelSetCacheConfig(CUfunction kernel, int config, CUdevice device) {
    return cuKernelSetAttribute(0, config, kernel, device);
}
