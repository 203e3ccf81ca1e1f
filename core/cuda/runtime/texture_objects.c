#include "core/cuda/runtime/texture_objects.h"

#include <stdlib.h>

/* As TextureQuestion has it; false where it has no such. */
static bool ask_for_format(const struct cudaChannelFormatDesc *format, TextureQuestion *how) {
    uint32_t bytes = warp_element_bytes(format), size = (uint32_t)format->x / 8;
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

/* --- What a texture reads ------------------------------------------------------------------------ */

WarpSource warp_source_of_array(const struct cudaArray *array) {
    bool is_cube = (array->flags & cudaArrayCubemap) != 0,
         is_layered = (array->flags & cudaArrayLayered) != 0;
    uint32_t depth = (uint32_t)array->extent.depth, layers = is_cube ? depth / CUBE_FACES : depth;
    return (WarpSource){.place = {.address = array->address,
                                  .pitch = array->pitch,
                                  .slice = array->slice,
                                  .extent = {(uint32_t)array->extent.width, (uint32_t)array->extent.height,
                                             is_layered || is_cube ? 0 : depth, is_layered ? layers : 0}},
                        .format = array->format,
                        .is_cube = is_cube};
}

WarpSource warp_source_of_pitched(const void *pointer, uint64_t pitch, size_t width, size_t height,
                                  const struct cudaChannelFormatDesc *format) {
    return (WarpSource){.place = {.address = (uint64_t)pointer,
                                  .pitch = pitch,
                                  .slice = pitch * height,
                                  .extent = {(uint32_t)width, (uint32_t)height, 0, 0}},
                        .format = *format};
}

WarpSource warp_source_of_linear(const void *pointer, size_t bytes,
                                 const struct cudaChannelFormatDesc *format) {
    uint32_t element = warp_element_bytes(format);
    const WarpRange *range = warp_range((uint64_t)pointer);
    if (range && bytes > range->start + range->bytes - (uint64_t)pointer) /* whoever gave no size means all */
        bytes = range->start + range->bytes - (uint64_t)pointer;
    uint64_t width = element ? bytes / element : 0;
    WarpSource source = warp_source_of_pitched(pointer, width * element, width, 1, format);
    source.is_linear = true;
    return source;
}

static int make(const WarpSource *source, const struct cudaTextureDesc *how, uint64_t *handle) {
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

static WarpObject *objects;

static int source_of_resource(const struct cudaResourceDesc *resource, WarpSource *source) {
    switch (resource->resType) {
    case cudaResourceTypeArray:
        if (!warp_array(resource->res.array.array)) return CUDA_INVALID_VALUE;
        *source = warp_source_of_array(resource->res.array.array);
        return CUDA_OK;
    case cudaResourceTypeLinear:
        *source = warp_source_of_linear(resource->res.linear.devPtr, resource->res.linear.sizeInBytes,
                                        &resource->res.linear.desc);
        return CUDA_OK;
    case cudaResourceTypePitch2D:
        *source = warp_source_of_pitched(resource->res.pitch2D.devPtr, resource->res.pitch2D.pitchInBytes,
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

/* A surface reads no filter or address mode. */
static const struct cudaTextureDesc as_bytes = {
    .addressMode = {cudaAddressModeClamp, cudaAddressModeClamp, cudaAddressModeClamp}};

int warp_bind_source(WarpModule *module, const char *name, const WarpSource *source,
                     const struct cudaTextureDesc *how) {
    uint64_t handle;
    int problem = make(source, how ? how : &as_bytes, &handle);
    return problem ? problem : warp_bind_texture(module, name, handle);
}

int warp_object_new(const struct cudaResourceDesc *resource, const struct cudaTextureDesc *how,
                    uint64_t *result) {
    WarpSource source;
    uint64_t handle;
    bool is_surface = how == NULL;
    const struct cudaTextureDesc *reads = how ? how : &as_bytes;
    const char *missing = missing_of(reads);
    if (missing) {
        warp_name_missing_inside(missing);
        return CUDA_NOT_SUPPORTED;
    }
    if (is_surface &&
        (resource->resType != cudaResourceTypeArray || !warp_array_takes_stores(resource->res.array.array)))
        return CUDA_INVALID_VALUE;
    int problem = source_of_resource(resource, &source);
    if (!problem) problem = make(&source, reads, &handle);
    if (problem) return problem;
    WarpObject *object = malloc(sizeof *object);
    if (!object) return CUDA_MEMORY_ALLOCATION;
    *object = (WarpObject){objects, handle, is_surface, *resource, *reads};
    objects = object;
    *result = handle;
    return CUDA_OK;
}

static WarpObject **find(uint64_t handle, bool is_surface) {
    WarpObject **at = &objects;
    while (*at && ((*at)->handle != handle || (*at)->is_surface != is_surface))
        at = &(*at)->next;
    return at;
}

const WarpObject *warp_object(uint64_t handle, bool is_surface) {
    return *find(handle, is_surface);
}

int warp_object_free(uint64_t handle, bool is_surface) {
    WarpObject **at = find(handle, is_surface), *object = *at;
    if (!object) return handle ? CUDA_INVALID_VALUE : CUDA_OK;
    *at = object->next;
    free(object);
    return CUDA_OK;
}
