/* The runtime API's libraries: those of the driver API, whose errors are numbered alike. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#include "core/cuda/runtime/driver.h"
#include "core/cuda/runtime/runtime.h"

CUresult cuLibraryLoadData(CUmodule *library, const void *image, int *options, void **values, unsigned count,
                           int *library_options, void **library_values, unsigned library_count);
CUresult cuLibraryLoadFromFile(CUmodule *library, const char *path, int *options, void **values,
                               unsigned count, int *library_options, void **library_values,
                               unsigned library_count);
CUresult cuLibraryUnload(CUmodule library);
CUresult cuLibraryGetKernel(CUfunction *kernel, CUmodule library, const char *name);
CUresult cuLibraryGetGlobal(CUdeviceptr *address, size_t *bytes, CUmodule library, const char *name);
CUresult cuKernelSetAttribute(int which, int value, CUfunction kernel, CUdevice device);

cudaError_t cudaLibraryLoadData(CUmodule *library, const void *image, int *options, void **values,
                                unsigned count, int *library_options, void **library_values,
                                unsigned library_count) {
    return runtime_note(cuLibraryLoadData(library, image, options, values, count, library_options,
                                          library_values, library_count));
}
cudaError_t cudaLibraryLoadFromFile(CUmodule *library, const char *path, int *options, void **values,
                                    unsigned count, int *library_options, void **library_values,
                                    unsigned library_count) {
    return runtime_note(cuLibraryLoadFromFile(library, path, options, values, count, library_options,
                                              library_values, library_count));
}
cudaError_t cudaLibraryUnload(CUmodule library) {
    return runtime_note(cuLibraryUnload(library));
}
cudaError_t cudaLibraryGetKernel(CUfunction *kernel, CUmodule library, const char *name) {
    return runtime_note(cuLibraryGetKernel(kernel, library, name));
}
cudaError_t cudaLibraryGetGlobal(void **address, size_t *bytes, CUmodule library, const char *name) {
    return runtime_note(cuLibraryGetGlobal((CUdeviceptr *)address, bytes, library, name));
}
cudaError_t cudaKernelSetAttributeForDevice(CUfunction kernel, int which, int value, int device) {
    return runtime_note(cuKernelSetAttribute(which, value, kernel, device));
}
