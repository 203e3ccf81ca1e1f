/* Arrays; objects and references of textures and surfaces. */
#include "core/cuda/runtime/capture.h"
#include "core/cuda/runtime/runtime.h"
#include "core/cuda/runtime/texture_objects.h"
#include "core/cuda/toolkit/include/surface_types.h"

/* --- Formats ----------------------------------------------------------------------------------- */

struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, enum cudaChannelFormatKind f) {
    return (struct cudaChannelFormatDesc){x, y, z, w, f};
}

/* --- Arrays ------------------------------------------------------------------------------------ */

static cudaError_t new_array(cudaArray_t *result, const struct cudaChannelFormatDesc *format,
                             struct cudaExtent extent, unsigned flags) {
    int problem = warp_enter();
    if (!problem) problem = warp_array_new(result, format, extent, flags);
    return runtime_leave(problem);
}

cudaError_t cudaMallocArray(cudaArray_t *array, const struct cudaChannelFormatDesc *format, size_t width,
                            size_t height, unsigned int flags) {
    return new_array(array, format, (struct cudaExtent){width, height, 0}, flags);
}
cudaError_t cudaMalloc3DArray(cudaArray_t *array, const struct cudaChannelFormatDesc *format,
                              struct cudaExtent extent, unsigned int flags) {
    return new_array(array, format, extent, flags);
}

cudaError_t cudaFreeArray(cudaArray_t array) {
    int problem = warp_enter();
    if (!problem) problem = warp_array_free(array);
    return runtime_leave(problem);
}

cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc *format, struct cudaExtent *extent,
                             unsigned int *flags, cudaArray_t array) {
    if (!warp_array(array)) return runtime_note(CUDA_INVALID_HANDLE);
    if (format) *format = array->format;
    if (extent) *extent = array->extent;
    if (flags) *flags = array->flags;
    return runtime_note(CUDA_OK);
}

cudaError_t cudaGetChannelDesc(struct cudaChannelFormatDesc *format, cudaArray_const_t array) {
    return cudaArrayGetInfo(format, NULL, NULL, (cudaArray_t)(uintptr_t)array);
}

/* A place of an array; positions are bytes in x and rows in y. */
static WarpPlace inside(const struct cudaArray *array, size_t x, size_t y) {
    return (WarpPlace){array->address + y * array->pitch + x, array->pitch, 0};
}

static WarpPlace outside(const void *pointer, size_t pitch) {
    return (WarpPlace){(uint64_t)pointer, pitch, 0};
}

static cudaError_t rows_to(const struct cudaArray *to, size_t x, size_t y, WarpPlace from, size_t width,
                           size_t height, enum cudaMemcpyKind kind, void *stream) {
    if (!warp_array_has_rows(to, x, y, width, height)) return runtime_note(CUDA_INVALID_VALUE);
    return runtime_copy_rows(inside(to, x, y), from, width, height, kind, stream);
}
static cudaError_t rows_from(WarpPlace to, const struct cudaArray *from, size_t x, size_t y, size_t width,
                             size_t height, enum cudaMemcpyKind kind, void *stream) {
    if (!warp_array_has_rows(from, x, y, width, height)) return runtime_note(CUDA_INVALID_VALUE);
    return runtime_copy_rows(to, inside(from, x, y), width, height, kind, stream);
}

cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch,
                                size_t width, size_t height, enum cudaMemcpyKind kind) {
    return rows_to(to, x, y, outside(from, pitch), width, height, kind, WARP_WAIT);
}
cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch,
                                     size_t width, size_t height, enum cudaMemcpyKind kind,
                                     cudaStream_t stream) {
    return rows_to(to, x, y, outside(from, pitch), width, height, kind, stream);
}
cudaError_t cudaMemcpy2DFromArray(void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y,
                                  size_t width, size_t height, enum cudaMemcpyKind kind) {
    return rows_from(outside(to, pitch), from, x, y, width, height, kind, WARP_WAIT);
}
cudaError_t cudaMemcpy2DFromArrayAsync(void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y,
                                       size_t width, size_t height, enum cudaMemcpyKind kind,
                                       cudaStream_t stream) {
    return rows_from(outside(to, pitch), from, x, y, width, height, kind, stream);
}
cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, size_t x, size_t y, cudaArray_const_t from,
                                     size_t from_x, size_t from_y, size_t width, size_t height,
                                     enum cudaMemcpyKind kind) {
    if (!warp_array_has_rows(from, from_x, from_y, width, height)) return runtime_note(CUDA_INVALID_VALUE);
    return rows_to(to, x, y, inside(from, from_x, from_y), width, height, kind, WARP_WAIT);
}

/* Bytes one behind the other, which fill row after row, or are filled by these. */
static cudaError_t copy_lines(const struct cudaArray *array, size_t x, size_t y, const uint8_t *other,
                              size_t count, enum cudaMemcpyKind kind, bool to_array, void *stream) {
    cudaError_t problem = cudaSuccess;
    if (!warp_array(array)) return runtime_note(CUDA_INVALID_VALUE);
    size_t row = array->extent.width * array->element_bytes;
    while (count && !problem) {
        if (x >= row || y >= at_least_one(array->extent.height)) return runtime_note(CUDA_INVALID_VALUE);
        size_t bytes = count < row - x ? count : row - x;
        WarpPlace own = inside(array, x, y), line = outside(other, bytes);
        problem = runtime_copy_rows(to_array ? own : line, to_array ? line : own, bytes, 1, kind, stream);
        other += bytes;
        count -= bytes;
        x = 0;
        y++;
    }
    return problem;
}

cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t count,
                              enum cudaMemcpyKind kind) {
    return copy_lines(to, x, y, from, count, kind, true, WARP_WAIT);
}
cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from, size_t count,
                                   enum cudaMemcpyKind kind, cudaStream_t stream) {
    return copy_lines(to, x, y, from, count, kind, true, stream);
}
cudaError_t cudaMemcpyFromArray(void *to, cudaArray_const_t from, size_t x, size_t y, size_t count,
                                enum cudaMemcpyKind kind) {
    return copy_lines(from, x, y, to, count, kind, false, WARP_WAIT);
}
cudaError_t cudaMemcpyFromArrayAsync(void *to, cudaArray_const_t from, size_t x, size_t y, size_t count,
                                     enum cudaMemcpyKind kind, cudaStream_t stream) {
    return copy_lines(from, x, y, to, count, kind, false, stream);
}

static size_t row_bytes(const struct cudaArray *array) {
    return array->extent.width * array->element_bytes;
}

/* Both go on in their next row where one ends. */
cudaError_t cudaMemcpyArrayToArray(cudaArray_t to, size_t x, size_t y, cudaArray_const_t from, size_t from_x,
                                   size_t from_y, size_t count, enum cudaMemcpyKind kind) {
    cudaError_t problem = cudaSuccess;
    if (!warp_array(to) || !warp_array(from)) return runtime_note(CUDA_INVALID_VALUE);
    const size_t row = row_bytes(to), from_row = row_bytes(from);
    while (count && !problem) {
        if (x >= row || from_x >= from_row) return runtime_note(CUDA_INVALID_VALUE);
        size_t bytes = row - x < from_row - from_x ? row - x : from_row - from_x;
        if (bytes > count) bytes = count;
        problem = cudaMemcpy2DArrayToArray(to, x, y, from, from_x, from_y, bytes, 1, kind);
        count -= bytes;
        x += bytes, from_x += bytes;
        if (x == row) x = 0, y++;
        if (from_x == from_row) from_x = 0, from_y++;
    }
    return problem;
}

/* --- Objects ----------------------------------------------------------------------------------- */

cudaError_t cudaCreateTextureObject(cudaTextureObject_t *object, const struct cudaResourceDesc *resource,
                                    const struct cudaTextureDesc *how,
                                    const struct cudaResourceViewDesc *view) {
    int problem = warp_enter();
    if (!problem && view) {
        warp_name_missing_inside("a resource view of a texture");
        problem = CUDA_NOT_SUPPORTED;
    }
    if (!problem && (!object || !resource || !how)) problem = CUDA_INVALID_VALUE;
    if (!problem) problem = warp_object_new(resource, how, (uint64_t *)object);
    return runtime_leave(problem);
}

static cudaError_t destroy(uint64_t handle, bool is_surface) {
    int problem = warp_enter();
    if (!problem) problem = warp_object_free(handle, is_surface);
    return runtime_leave(problem);
}

static cudaError_t resource_of(struct cudaResourceDesc *resource, uint64_t handle, bool is_surface) {
    int problem = warp_enter();
    const WarpObject *object = warp_object(handle, is_surface);
    if (!problem && (!object || !resource)) problem = CUDA_INVALID_VALUE;
    if (!problem) *resource = object->resource;
    return runtime_leave(problem);
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t handle) {
    return destroy(handle, false);
}

cudaError_t cudaGetTextureObjectResourceDesc(struct cudaResourceDesc *resource, cudaTextureObject_t handle) {
    return resource_of(resource, handle, false);
}

cudaError_t cudaGetTextureObjectTextureDesc(struct cudaTextureDesc *how, cudaTextureObject_t handle) {
    int problem = warp_enter();
    const WarpObject *object = warp_object(handle, false);
    if (!problem && (!object || !how)) problem = CUDA_INVALID_VALUE;
    if (!problem) *how = object->texture;
    return runtime_leave(problem);
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *object, const struct cudaResourceDesc *resource) {
    int problem = warp_enter();
    if (!problem && (!object || !resource)) problem = CUDA_INVALID_VALUE;
    if (!problem) problem = warp_object_new(resource, NULL, (uint64_t *)object);
    return runtime_leave(problem);
}

cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t handle) {
    return destroy(handle, true);
}

cudaError_t cudaGetSurfaceObjectResourceDesc(struct cudaResourceDesc *resource, cudaSurfaceObject_t handle) {
    return resource_of(resource, handle, true);
}

/* --- References -------------------------------------------------------------------------------- */

static int bind(const struct textureReference *reference, const WarpSource *source) {
    WarpModule *module;
    const char *name;
    bool normalized_float;
    if (!runtime_texture(reference, &module, &name, &normalized_float)) return CUDA_INVALID_TEXTURE;
    struct cudaTextureDesc how = {
        .addressMode = {reference->addressMode[0], reference->addressMode[1], reference->addressMode[2]},
        .filterMode = reference->filterMode,
        .readMode = normalized_float ? cudaReadModeNormalizedFloat : cudaReadModeElementType,
        .sRGB = reference->sRGB,
        .normalizedCoords = reference->normalized};
    return warp_bind_source(module, name, source, &how);
}

cudaError_t cudaBindTexture(size_t *offset, const struct textureReference *reference, const void *pointer,
                            const struct cudaChannelFormatDesc *format, size_t bytes) {
    int problem = warp_enter();
    if (!problem && (!reference || !format)) problem = CUDA_INVALID_VALUE;
    if (!problem) {
        WarpSource source = warp_source_of_linear(pointer, bytes, format);
        if (offset) *offset = 0;
        problem = bind(reference, &source);
    }
    return runtime_leave(problem);
}

cudaError_t cudaBindTexture2D(size_t *offset, const struct textureReference *reference, const void *pointer,
                              const struct cudaChannelFormatDesc *format, size_t width, size_t height,
                              size_t pitch) {
    int problem = warp_enter();
    if (!problem && (!reference || !format)) problem = CUDA_INVALID_VALUE;
    if (!problem) {
        WarpSource source = warp_source_of_pitched(pointer, pitch, width, height, format);
        if (offset) *offset = 0;
        problem = bind(reference, &source);
    }
    return runtime_leave(problem);
}

cudaError_t cudaBindTextureToArray(const struct textureReference *reference, cudaArray_const_t array,
                                   const struct cudaChannelFormatDesc *format) {
    (void)format; /* the array has it */
    int problem = warp_enter();
    if (!problem && (!reference || !warp_array(array))) problem = CUDA_INVALID_VALUE;
    if (!problem) {
        WarpSource source = warp_source_of_array(array);
        problem = bind(reference, &source);
    }
    return runtime_leave(problem);
}

cudaError_t cudaUnbindTexture(const struct textureReference *reference) {
    return runtime_note(reference ? CUDA_OK : CUDA_INVALID_TEXTURE);
}

cudaError_t cudaGetTextureAlignmentOffset(size_t *offset, const struct textureReference *reference) {
    if (!reference || !offset) return runtime_note(CUDA_INVALID_TEXTURE);
    *offset = 0;
    return runtime_note(CUDA_OK);
}

cudaError_t cudaGetTextureReference(const struct textureReference **reference, const void *symbol) {
    if (!reference) return runtime_note(CUDA_INVALID_VALUE);
    *reference = symbol;
    return runtime_note(CUDA_OK);
}

cudaError_t cudaBindSurfaceToArray(const struct surfaceReference *reference, cudaArray_const_t array,
                                   const struct cudaChannelFormatDesc *format) {
    WarpModule *module;
    const char *name;
    bool unused;
    (void)format; /* the array has it */
    int problem = warp_enter();
    if (!problem && (!reference || !warp_array_takes_stores(array))) problem = CUDA_INVALID_VALUE;
    if (!problem && !runtime_texture(reference, &module, &name, &unused)) problem = CUDA_INVALID_SURFACE;
    if (!problem) {
        WarpSource source = warp_source_of_array(array);
        problem = warp_bind_source(module, name, &source, NULL);
    }
    return runtime_leave(problem);
}

cudaError_t cudaGetSurfaceReference(const struct surfaceReference **reference, const void *symbol) {
    if (!reference) return runtime_note(CUDA_INVALID_VALUE);
    *reference = symbol;
    return runtime_note(CUDA_OK);
}
