/* Arrays; objects and references of textures and surfaces. */
#include "core/cuda/runtime/capture.h"
#include "core/cuda/runtime/handles.h"
#include "core/cuda/runtime/runtime.h"
#include "core/cuda/toolkit/include/surface_types.h"
#include "core/cuda/toolkit/include/texture_types.h"

#include <stdlib.h>
#include <string.h>

enum { ROW_UNIT = 256, CUBE_FACES = 6 };

/* --- Formats ----------------------------------------------------------------------------------- */

uint32_t runtime_element_bytes(const struct cudaChannelFormatDesc *format) {
    const int bits[] = {format->x, format->y, format->z, format->w};
    uint32_t channels = 0;
    while (channels < 4 && bits[channels] > 0)
        channels++;
    if (channels == 0 || channels == 3 || (bits[0] != 8 && bits[0] != 16 && bits[0] != 32)) return 0;
    for (uint32_t i = 1; i < channels; i++)
        if (bits[i] != bits[0]) return 0;
    return channels * (uint32_t)bits[0] / 8;
}

/* As TextureQuestion has it; false where it has no such. */
static bool ask_for_format(const struct cudaChannelFormatDesc *format, TextureQuestion *how) {
    uint32_t bytes = runtime_element_bytes(format), size = (uint32_t)format->x / 8;
    if (!bytes) return false;
    how->channels = bytes / size;
    uint32_t of_size = size == 4 ? 4 : size == 2 ? 2 : 0;
    if (format->f == cudaChannelFormatKindUnsigned)
        how->format = of_size;
    else if (format->f == cudaChannelFormatKindSigned)
        how->format = of_size + 1;
    else if (format->f == cudaChannelFormatKindFloat && size >= 2)
        how->format = size == 4 ? 7 : 6;
    else
        return false;
    return true;
}

struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, enum cudaChannelFormatKind f) {
    return (struct cudaChannelFormatDesc){x, y, z, w, f};
}

/* --- Arrays ------------------------------------------------------------------------------------ */

static uint64_t at_least_one(uint64_t count) {
    return count ? count : 1;
}

struct cudaArray *runtime_array(const void *handle) {
    return warp_handle(handle, HANDLE_ARRAY);
}

static bool is_within(uint64_t from, uint64_t count, uint64_t all) {
    return count <= all && from <= all - count;
}

bool runtime_array_has(const struct cudaArray *array, struct cudaPos at, struct cudaExtent extent) {
    return is_within(at.x, extent.width, array->extent.width) &&
           is_within(at.y, extent.height, at_least_one(array->extent.height)) &&
           is_within(at.z, extent.depth, at_least_one(array->extent.depth));
}

static bool is_cube_or_plain(struct cudaExtent extent, unsigned flags) {
    if (!(flags & cudaArrayCubemap)) return true;
    bool has_layers = (flags & cudaArrayLayered) != 0;
    return extent.width == extent.height &&
           (has_layers ? extent.depth && extent.depth % CUBE_FACES == 0 : extent.depth == CUBE_FACES);
}

static cudaError_t new_array(cudaArray_t *result, const struct cudaChannelFormatDesc *format,
                             struct cudaExtent extent, unsigned flags) {
    struct cudaArray *array = calloc(1, sizeof *array);
    int problem = warp_enter();
    if (!problem && (!array || !result || !format || !extent.width)) problem = CUDA_INVALID_VALUE;
    if (!problem && !runtime_element_bytes(format)) problem = CUDA_INVALID_CHANNEL_DESCRIPTOR;
    if (!problem && !is_cube_or_plain(extent, flags)) problem = CUDA_INVALID_VALUE;
    if (!problem) {
        *array = (struct cudaArray){.format = *format, .extent = extent, .flags = flags, .is_owned = true};
        array->element_bytes = runtime_element_bytes(format);
        array->pitch = (extent.width * array->element_bytes + ROW_UNIT - 1) / ROW_UNIT * ROW_UNIT;
        array->slice = array->pitch * at_least_one(extent.height);
        problem = warp_alloc(array->slice * at_least_one(extent.depth), RANGE_DEVICE, 0, &array->address);
    }
    if (problem) {
        free(array);
        return runtime_leave(problem);
    }
    warp_handle_add(array, HANDLE_ARRAY);
    *result = array;
    return runtime_leave(CUDA_OK);
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
    if (!problem && array && !runtime_array(array)) problem = CUDA_INVALID_VALUE;
    if (!problem && array) problem = warp_release(array->address);
    if (!problem && array) warp_handle_remove(array);
    if (!problem) free(array);
    return runtime_leave(problem);
}

cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc *format, struct cudaExtent *extent,
                             unsigned int *flags, cudaArray_t array) {
    if (!runtime_array(array)) return runtime_note(CUDA_INVALID_HANDLE);
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

static bool has_rows(const struct cudaArray *array, size_t x, size_t y, size_t width, size_t height) {
    return runtime_array(array) && is_within(x, width, array->extent.width * array->element_bytes) &&
           is_within(y, height, at_least_one(array->extent.height));
}

static cudaError_t rows_to(const struct cudaArray *to, size_t x, size_t y, WarpPlace from, size_t width,
                           size_t height, enum cudaMemcpyKind kind, void *stream) {
    if (!has_rows(to, x, y, width, height)) return runtime_note(CUDA_INVALID_VALUE);
    return runtime_copy_rows(inside(to, x, y), from, width, height, kind, stream);
}
static cudaError_t rows_from(WarpPlace to, const struct cudaArray *from, size_t x, size_t y, size_t width,
                             size_t height, enum cudaMemcpyKind kind, void *stream) {
    if (!has_rows(from, x, y, width, height)) return runtime_note(CUDA_INVALID_VALUE);
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
    if (!has_rows(from, from_x, from_y, width, height)) return runtime_note(CUDA_INVALID_VALUE);
    return rows_to(to, x, y, inside(from, from_x, from_y), width, height, kind, WARP_WAIT);
}

/* Bytes one behind the other, which fill row after row, or are filled by these. */
static cudaError_t copy_lines(const struct cudaArray *array, size_t x, size_t y, const uint8_t *other,
                              size_t count, enum cudaMemcpyKind kind, bool to_array, void *stream) {
    cudaError_t problem = cudaSuccess;
    if (!runtime_array(array)) return runtime_note(CUDA_INVALID_VALUE);
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

/* --- What a texture reads ------------------------------------------------------------------------ */

typedef struct {
    TextureSource place;
    struct cudaChannelFormatDesc format;
    bool is_cube, is_linear;
} Source;

static Source source_of_array(const struct cudaArray *array) {
    bool is_cube = (array->flags & cudaArrayCubemap) != 0,
         is_layered = (array->flags & cudaArrayLayered) != 0;
    uint32_t depth = (uint32_t)array->extent.depth, layers = is_cube ? depth / CUBE_FACES : depth;
    return (Source){.place = {.address = array->address,
                              .pitch = array->pitch,
                              .slice = array->slice,
                              .extent = {(uint32_t)array->extent.width, (uint32_t)array->extent.height,
                                         is_layered || is_cube ? 0 : depth, is_layered ? layers : 0}},
                    .format = array->format,
                    .is_cube = is_cube};
}

static Source source_of_pitched(const void *pointer, uint64_t pitch, size_t width, size_t height,
                                const struct cudaChannelFormatDesc *format) {
    return (Source){.place = {.address = (uint64_t)pointer,
                              .pitch = pitch,
                              .slice = pitch * height,
                              .extent = {(uint32_t)width, (uint32_t)height, 0, 0}},
                    .format = *format};
}

static Source source_of_linear(const void *pointer, size_t bytes,
                               const struct cudaChannelFormatDesc *format) {
    uint32_t element = runtime_element_bytes(format);
    const WarpRange *range = warp_range((uint64_t)pointer);
    if (range && bytes > range->start + range->bytes - (uint64_t)pointer) /* whoever gave no size means all */
        bytes = range->start + range->bytes - (uint64_t)pointer;
    uint64_t width = element ? bytes / element : 0;
    Source source = source_of_pitched(pointer, width * element, width, 1, format);
    source.is_linear = true;
    return source;
}

static int make(const Source *source, const struct cudaTextureDesc *how, uint64_t *handle) {
    bool is_normalized_float = how->readMode == cudaReadModeNormalizedFloat &&
                               source->format.f != cudaChannelFormatKindFloat;
    bool is_srgb = is_normalized_float && how->sRGB && source->format.x == 8 &&
                   source->format.f == cudaChannelFormatKindUnsigned;
    TextureQuestion question = {.linear = how->filterMode == cudaFilterModeLinear,
                                .address = {how->addressMode[0], how->addressMode[1], how->addressMode[2]},
                                .normalized = how->normalizedCoords != 0,
                                .read = is_srgb               ? READ_FROM_SRGB
                                        : is_normalized_float ? READ_NORMALIZED
                                                              : READ_ELEMENTS,
                                .cube = source->is_cube};
    /* Linear memory has no address mode: beyond its ends are zeros. */
    if (source->is_linear) question.address[0] = cudaAddressModeBorder;
    if (!ask_for_format(&source->format, &question)) return CUDA_INVALID_CHANNEL_DESCRIPTOR;
    return warp_make_texture(&source->place, &question, handle);
}

/* --- Objects ----------------------------------------------------------------------------------- */

typedef struct Object {
    struct Object *next;
    uint64_t handle;
    bool is_surface;
    struct cudaResourceDesc resource;
    struct cudaTextureDesc texture;
} Object;

static Object *objects;

static int source_of_resource(const struct cudaResourceDesc *resource, Source *source) {
    switch (resource->resType) {
    case cudaResourceTypeArray:
        if (!runtime_array(resource->res.array.array)) return CUDA_INVALID_VALUE;
        *source = source_of_array(resource->res.array.array);
        return CUDA_OK;
    case cudaResourceTypeLinear:
        *source = source_of_linear(resource->res.linear.devPtr, resource->res.linear.sizeInBytes,
                                   &resource->res.linear.desc);
        return CUDA_OK;
    case cudaResourceTypePitch2D:
        *source = source_of_pitched(resource->res.pitch2D.devPtr, resource->res.pitch2D.pitchInBytes,
                                    resource->res.pitch2D.width, resource->res.pitch2D.height,
                                    &resource->res.pitch2D.desc);
        return CUDA_OK;
    default: warp_name_missing_inside("a texture of a mipmapped array"); return CUDA_NOT_SUPPORTED;
    }
}

/* What the machine's textures cannot do, or NULL. */
static const char *missing_of(const struct cudaTextureDesc *how) {
    if (how->seamlessCubemap) return "filtering across the edges of a cubemap's faces";
    bool has_border = false;
    for (int i = 0; i < 3; i++)
        has_border |= how->addressMode[i] == cudaAddressModeBorder;
    for (int i = 0; has_border && i < 4; i++)
        if (how->borderColor[i] != 0) return "a border color other than zero";
    return NULL;
}

static int new_object(const struct cudaResourceDesc *resource, const struct cudaTextureDesc *how,
                      bool is_surface, cudaTextureObject_t *result) {
    Source source;
    uint64_t handle;
    const char *missing = missing_of(how);
    if (missing) {
        warp_name_missing_inside(missing);
        return CUDA_NOT_SUPPORTED;
    }
    int problem = source_of_resource(resource, &source);
    if (!problem) problem = make(&source, how, &handle);
    if (problem) return problem;
    Object *object = malloc(sizeof *object);
    if (!object) return CUDA_MEMORY_ALLOCATION;
    *object = (Object){objects, handle, is_surface, *resource, *how};
    objects = object;
    *result = handle;
    return CUDA_OK;
}

cudaError_t cudaCreateTextureObject(cudaTextureObject_t *object, const struct cudaResourceDesc *resource,
                                    const struct cudaTextureDesc *how,
                                    const struct cudaResourceViewDesc *view) {
    int problem = warp_enter();
    if (!problem && view) {
        warp_name_missing_inside("a resource view of a texture");
        problem = CUDA_NOT_SUPPORTED;
    }
    if (!problem && (!object || !resource || !how)) problem = CUDA_INVALID_VALUE;
    if (!problem) problem = new_object(resource, how, false, object);
    return runtime_leave(problem);
}

static Object **find(uint64_t handle, bool is_surface) {
    Object **at = &objects;
    while (*at && ((*at)->handle != handle || (*at)->is_surface != is_surface))
        at = &(*at)->next;
    return at;
}

static cudaError_t destroy(uint64_t handle, bool is_surface) {
    int problem = warp_enter();
    Object **at = find(handle, is_surface), *object = *at;
    if (!problem && handle && !object) problem = CUDA_INVALID_VALUE;
    if (object) *at = object->next;
    free(object);
    return runtime_leave(problem);
}

static cudaError_t resource_of(struct cudaResourceDesc *resource, uint64_t handle, bool is_surface) {
    int problem = warp_enter();
    const Object *object = *find(handle, is_surface);
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
    const Object *object = *find(handle, false);
    if (!problem && (!object || !how)) problem = CUDA_INVALID_VALUE;
    if (!problem) *how = object->texture;
    return runtime_leave(problem);
}

/* A surface reads no filter or address mode. */
static const struct cudaTextureDesc as_bytes = {
    .addressMode = {cudaAddressModeClamp, cudaAddressModeClamp, cudaAddressModeClamp}};

static bool takes_stores(const struct cudaArray *array) {
    return runtime_array(array) && array->flags & cudaArraySurfaceLoadStore;
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *object, const struct cudaResourceDesc *resource) {
    int problem = warp_enter();
    bool fits = object && resource && resource->resType == cudaResourceTypeArray &&
                takes_stores(resource->res.array.array);
    if (!problem && !fits) problem = CUDA_INVALID_VALUE;
    if (!problem) problem = new_object(resource, &as_bytes, true, object);
    return runtime_leave(problem);
}

cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t handle) {
    return destroy(handle, true);
}

cudaError_t cudaGetSurfaceObjectResourceDesc(struct cudaResourceDesc *resource, cudaSurfaceObject_t handle) {
    return resource_of(resource, handle, true);
}

/* --- References -------------------------------------------------------------------------------- */

static int bind(const struct textureReference *reference, const Source *source) {
    WarpModule *module;
    const char *name;
    bool normalized_float;
    uint64_t handle;
    if (!runtime_texture(reference, &module, &name, &normalized_float)) return CUDA_INVALID_TEXTURE;
    struct cudaTextureDesc how = {
        .addressMode = {reference->addressMode[0], reference->addressMode[1], reference->addressMode[2]},
        .filterMode = reference->filterMode,
        .readMode = normalized_float ? cudaReadModeNormalizedFloat : cudaReadModeElementType,
        .sRGB = reference->sRGB,
        .normalizedCoords = reference->normalized};
    int problem = make(source, &how, &handle);
    return problem ? problem : warp_bind_texture(module, name, handle);
}

cudaError_t cudaBindTexture(size_t *offset, const struct textureReference *reference, const void *pointer,
                            const struct cudaChannelFormatDesc *format, size_t bytes) {
    int problem = warp_enter();
    if (!problem && (!reference || !format)) problem = CUDA_INVALID_VALUE;
    if (!problem) {
        Source source = source_of_linear(pointer, bytes, format);
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
        Source source = source_of_pitched(pointer, pitch, width, height, format);
        if (offset) *offset = 0;
        problem = bind(reference, &source);
    }
    return runtime_leave(problem);
}

cudaError_t cudaBindTextureToArray(const struct textureReference *reference, cudaArray_const_t array,
                                   const struct cudaChannelFormatDesc *format) {
    (void)format; /* the array has it */
    int problem = warp_enter();
    if (!problem && (!reference || !runtime_array(array))) problem = CUDA_INVALID_VALUE;
    if (!problem) {
        Source source = source_of_array(array);
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
    uint64_t handle;
    (void)format; /* the array has it */
    int problem = warp_enter();
    if (!problem && (!reference || !takes_stores(array))) problem = CUDA_INVALID_VALUE;
    if (!problem && !runtime_texture(reference, &module, &name, &unused)) problem = CUDA_INVALID_SURFACE;
    if (!problem) {
        Source source = source_of_array(array);
        problem = make(&source, &as_bytes, &handle);
    }
    if (!problem) problem = warp_bind_texture(module, name, handle);
    return runtime_leave(problem);
}

cudaError_t cudaGetSurfaceReference(const struct surfaceReference **reference, const void *symbol) {
    if (!reference) return runtime_note(CUDA_INVALID_VALUE);
    *reference = symbol;
    return runtime_note(CUDA_OK);
}
