/* The driver API's arrays, and objects and references of textures and surfaces. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#include "core/cuda/runtime/capture.h"
#include "core/cuda/runtime/driver.h"
#include "core/cuda/runtime/handles.h"
#include "core/cuda/runtime/texture_objects.h"

#include <stdlib.h>
#include <string.h>

typedef struct cudaArray *CUarray;
typedef struct cudaChannelFormatDesc Channels;

/* --- Formats ----------------------------------------------------------------------------------- */

/* CUarray_format. */
enum { FORMAT_UNSIGNED = 1, FORMAT_SIGNED = 8, FORMAT_HALF = 0x10, FORMAT_FLOAT = 0x20, SIZES = 3 };

/* No channel where there is no such format. */
static Channels channels_of(int format, unsigned count) {
    Channels channels = {.f = cudaChannelFormatKindFloat};
    int bits = format == FORMAT_HALF ? 16 : format == FORMAT_FLOAT ? 32 : 0;
    if (format >= FORMAT_UNSIGNED && format < FORMAT_UNSIGNED + SIZES) {
        channels.f = cudaChannelFormatKindUnsigned;
        bits = 8 << (format - FORMAT_UNSIGNED);
    } else if (format >= FORMAT_SIGNED && format < FORMAT_SIGNED + SIZES) {
        channels.f = cudaChannelFormatKindSigned;
        bits = 8 << (format - FORMAT_SIGNED);
    }
    channels.x = count >= 1 && count <= 4 ? bits : 0;
    channels.y = count >= 2 ? bits : 0;
    channels.z = count >= 3 ? bits : 0;
    channels.w = count >= 4 ? bits : 0;
    return channels;
}

static unsigned count_of(const Channels *channels) {
    return channels->w ? 4 : channels->z ? 3 : channels->y ? 2 : 1;
}

static int format_of(const Channels *channels) {
    int size = channels->x == 8 ? 0 : channels->x == 16 ? 1 : 2;
    switch (channels->f) {
    case cudaChannelFormatKindUnsigned: return FORMAT_UNSIGNED + size;
    case cudaChannelFormatKindSigned: return FORMAT_SIGNED + size;
    default: return size == 1 ? FORMAT_HALF : FORMAT_FLOAT;
    }
}

/* --- Arrays ------------------------------------------------------------------------------------ */

/* CUDA_ARRAY_DESCRIPTOR and CUDA_ARRAY3D_DESCRIPTOR. */
typedef struct {
    size_t width, height;
    int format;
    unsigned channels;
} PlaneDescriptor;
typedef struct {
    size_t width, height, depth;
    int format;
    unsigned channels, flags;
} VolumeDescriptor;

CUresult cuArray3DCreate_v2(CUarray *array, const VolumeDescriptor *of) {
    int problem = driver_enter();
    if (!problem && !of) problem = CUDA_INVALID_VALUE;
    if (!problem) {
        const Channels channels = channels_of(of->format, of->channels);
        problem = warp_array_new(array, &channels, (struct cudaExtent){of->width, of->height, of->depth},
                                 of->flags);
    }
    return driver_leave(problem == CUDA_INVALID_CHANNEL_DESCRIPTOR ? CUDA_INVALID_VALUE : problem);
}
CUresult cuArrayCreate_v2(CUarray *array, const PlaneDescriptor *of) {
    if (!of) return CUDA_INVALID_VALUE;
    const VolumeDescriptor volume = {
        .width = of->width, .height = of->height, .format = of->format, .channels = of->channels};
    return cuArray3DCreate_v2(array, &volume);
}

CUresult cuArrayDestroy(CUarray array) {
    int problem = driver_enter();
    if (!problem) problem = warp_array(array) ? warp_array_free(array) : CUDA_INVALID_HANDLE;
    return driver_leave(problem);
}

CUresult cuArray3DGetDescriptor_v2(VolumeDescriptor *of, CUarray array) {
    int problem = driver_enter();
    if (!problem && !warp_array(array)) problem = CUDA_INVALID_HANDLE;
    if (!problem && !of) problem = CUDA_INVALID_VALUE;
    if (!problem)
        *of = (VolumeDescriptor){array->extent.width,       array->extent.height,     array->extent.depth,
                                 format_of(&array->format), count_of(&array->format), array->flags};
    return driver_leave(problem);
}
CUresult cuArrayGetDescriptor_v2(PlaneDescriptor *of, CUarray array) {
    VolumeDescriptor volume;
    CUresult problem = cuArray3DGetDescriptor_v2(&volume, array);
    if (!problem && !of) problem = CUDA_INVALID_VALUE;
    if (!problem) *of = (PlaneDescriptor){volume.width, volume.height, volume.format, volume.channels};
    return problem;
}

/* --- Copies of the first row of arrays ----------------------------------------------------------- */

typedef struct {
    CUarray array; /* NULL: memory at this address */
    uint64_t place;
} LineEnd;

static int line_place(WarpPlace *place, const LineEnd *end, size_t bytes) {
    uint64_t address = end->place;
    if (end->array) {
        if (!warp_array_has_rows(end->array, end->place, 0, bytes, 1)) return CUDA_INVALID_VALUE;
        address += end->array->address;
    }
    *place = (WarpPlace){address, bytes, 0};
    return address ? CUDA_OK : CUDA_INVALID_VALUE;
}

static CUresult copy_line(LineEnd to, LineEnd from, size_t bytes, int direction, void *stream) {
    WarpWork work = {.kind = WORK_COPY,
                     .copy = {.width = bytes, .rows = 1, .slices = 1, .direction = direction}};
    int problem = driver_enter();
    if (!problem) problem = line_place(&work.copy.to, &to, bytes);
    if (!problem) problem = line_place(&work.copy.from, &from, bytes);
    if (!problem) problem = warp_submit(stream, &work);
    return driver_leave(problem);
}

CUresult cuMemcpyHtoAAsync_v2(CUarray to, size_t offset, const void *from, size_t bytes, CUstream stream) {
    if (!to) return CUDA_INVALID_VALUE;
    return copy_line((LineEnd){to, offset}, (LineEnd){NULL, (uint64_t)from}, bytes, cudaMemcpyHostToDevice,
                     stream);
}
CUresult cuMemcpyHtoA_v2(CUarray to, size_t offset, const void *from, size_t bytes) {
    return cuMemcpyHtoAAsync_v2(to, offset, from, bytes, WARP_WAIT);
}
CUresult cuMemcpyAtoHAsync_v2(void *to, CUarray from, size_t offset, size_t bytes, CUstream stream) {
    if (!from) return CUDA_INVALID_VALUE;
    return copy_line((LineEnd){NULL, (uint64_t)to}, (LineEnd){from, offset}, bytes, cudaMemcpyDeviceToHost,
                     stream);
}
CUresult cuMemcpyAtoH_v2(void *to, CUarray from, size_t offset, size_t bytes) {
    return cuMemcpyAtoHAsync_v2(to, from, offset, bytes, WARP_WAIT);
}
CUresult cuMemcpyDtoA_v2(CUarray to, size_t offset, CUdeviceptr from, size_t bytes) {
    if (!to) return CUDA_INVALID_VALUE;
    return copy_line((LineEnd){to, offset}, (LineEnd){NULL, from}, bytes, cudaMemcpyDeviceToDevice,
                     WARP_WAIT);
}
CUresult cuMemcpyAtoD_v2(CUdeviceptr to, CUarray from, size_t offset, size_t bytes) {
    if (!from) return CUDA_INVALID_VALUE;
    return copy_line((LineEnd){NULL, to}, (LineEnd){from, offset}, bytes, cudaMemcpyDeviceToDevice,
                     WARP_WAIT);
}
CUresult cuMemcpyAtoA_v2(CUarray to, size_t offset, CUarray from, size_t from_offset, size_t bytes) {
    if (!to || !from) return CUDA_INVALID_VALUE;
    return copy_line((LineEnd){to, offset}, (LineEnd){from, from_offset}, bytes, cudaMemcpyDeviceToDevice,
                     WARP_WAIT);
}

/* --- Objects ----------------------------------------------------------------------------------- */

/* CUDA_RESOURCE_DESC. */
typedef struct {
    int type;
    union {
        CUarray array;
        struct {
            CUdeviceptr address;
            int format;
            unsigned channels;
            size_t bytes;
        } linear;
        struct {
            CUdeviceptr address;
            int format;
            unsigned channels;
            size_t width, height, pitch;
        } plane;
        int reserved[32];
    };
    unsigned flags;
} DriverResource;

/* CUDA_TEXTURE_DESC. */
typedef struct {
    int address_mode[3], filter_mode;
    unsigned flags, anisotropy;
    int level_filter_mode;
    float level_bias, least_level, most_level, border[4];
    int reserved[12];
} DriverTexture;

enum { READ_AS_INTEGER = 1, NORMALIZED_COORDINATES = 2, SRGB = 0x10, SEAMLESS_CUBEMAP = 0x40 };

static struct cudaResourceDesc resource_of(const DriverResource *of) {
    struct cudaResourceDesc resource = {.resType = (enum cudaResourceType)of->type};
    if (resource.resType == cudaResourceTypeArray) {
        resource.res.array.array = of->array;
    } else if (resource.resType == cudaResourceTypeLinear) {
        resource.res.linear.devPtr = (void *)of->linear.address;
        resource.res.linear.desc = channels_of(of->linear.format, of->linear.channels);
        resource.res.linear.sizeInBytes = of->linear.bytes;
    } else if (resource.resType == cudaResourceTypePitch2D) {
        resource.res.pitch2D.devPtr = (void *)of->plane.address;
        resource.res.pitch2D.desc = channels_of(of->plane.format, of->plane.channels);
        resource.res.pitch2D.width = of->plane.width;
        resource.res.pitch2D.height = of->plane.height;
        resource.res.pitch2D.pitchInBytes = of->plane.pitch;
    }
    return resource;
}

static DriverResource driver_resource(const struct cudaResourceDesc *of) {
    DriverResource resource = {.type = (int)of->resType};
    if (of->resType == cudaResourceTypeArray) {
        resource.array = of->res.array.array;
    } else if (of->resType == cudaResourceTypeLinear) {
        resource.linear.address = (CUdeviceptr)of->res.linear.devPtr;
        resource.linear.format = format_of(&of->res.linear.desc);
        resource.linear.channels = count_of(&of->res.linear.desc);
        resource.linear.bytes = of->res.linear.sizeInBytes;
    } else {
        resource.plane.address = (CUdeviceptr)of->res.pitch2D.devPtr;
        resource.plane.format = format_of(&of->res.pitch2D.desc);
        resource.plane.channels = count_of(&of->res.pitch2D.desc);
        resource.plane.width = of->res.pitch2D.width;
        resource.plane.height = of->res.pitch2D.height;
        resource.plane.pitch = of->res.pitch2D.pitchInBytes;
    }
    return resource;
}

static const Channels *channels_of_resource(const struct cudaResourceDesc *resource) {
    switch (resource->resType) {
    case cudaResourceTypeArray: {
        const struct cudaArray *array = warp_array(resource->res.array.array);
        return array ? &array->format : NULL;
    }
    case cudaResourceTypeLinear: return &resource->res.linear.desc;
    case cudaResourceTypePitch2D: return &resource->res.pitch2D.desc;
    default: return NULL;
    }
}

/* Integers of 32 bits are read as they are, whatever the flags say. */
static enum cudaTextureReadMode read_mode(unsigned flags, const Channels *channels) {
    return flags & READ_AS_INTEGER || !channels || channels->x == 32 ? cudaReadModeElementType
                                                                     : cudaReadModeNormalizedFloat;
}

static struct cudaTextureDesc texture_of(const DriverTexture *of, const Channels *channels) {
    struct cudaTextureDesc how = {.filterMode = (enum cudaTextureFilterMode)of->filter_mode,
                                  .readMode = read_mode(of->flags, channels),
                                  .sRGB = (of->flags & SRGB) != 0,
                                  .normalizedCoords = (of->flags & NORMALIZED_COORDINATES) != 0,
                                  .maxAnisotropy = of->anisotropy,
                                  .seamlessCubemap = (of->flags & SEAMLESS_CUBEMAP) != 0};
    for (int i = 0; i < 3; i++)
        how.addressMode[i] = (enum cudaTextureAddressMode)of->address_mode[i];
    memcpy(how.borderColor, of->border, sizeof how.borderColor);
    return how;
}

static DriverTexture driver_texture(const struct cudaTextureDesc *of) {
    DriverTexture how = {.filter_mode = (int)of->filterMode,
                         .flags = (of->readMode == cudaReadModeElementType ? READ_AS_INTEGER : 0) |
                                  (of->normalizedCoords ? NORMALIZED_COORDINATES : 0) | (of->sRGB ? SRGB : 0),
                         .anisotropy = of->maxAnisotropy};
    for (int i = 0; i < 3; i++)
        how.address_mode[i] = (int)of->addressMode[i];
    return how;
}

CUresult cuTexObjectCreate(uint64_t *object, const DriverResource *of, const DriverTexture *how,
                           const void *view) {
    int problem = driver_enter();
    if (!problem && view) {
        warp_name_missing_inside("a resource view of a texture");
        problem = CUDA_NOT_SUPPORTED;
    }
    if (!problem && (!object || !of || !how)) problem = CUDA_INVALID_VALUE;
    if (!problem) {
        const struct cudaResourceDesc resource = resource_of(of);
        const struct cudaTextureDesc texture = texture_of(how, channels_of_resource(&resource));
        problem = warp_object_new(&resource, &texture, object);
    }
    return driver_leave(problem == CUDA_INVALID_CHANNEL_DESCRIPTOR ? CUDA_INVALID_VALUE : problem);
}

CUresult cuSurfObjectCreate(uint64_t *object, const DriverResource *of) {
    int problem = driver_enter();
    if (!problem && (!object || !of)) problem = CUDA_INVALID_VALUE;
    if (!problem) {
        const struct cudaResourceDesc resource = resource_of(of);
        problem = warp_object_new(&resource, NULL, object);
    }
    return driver_leave(problem);
}

static CUresult destroy(uint64_t handle, bool is_surface) {
    int problem = driver_enter();
    if (!problem) problem = warp_object_free(handle, is_surface);
    return driver_leave(problem);
}
CUresult cuTexObjectDestroy(uint64_t handle) {
    return destroy(handle, false);
}
CUresult cuSurfObjectDestroy(uint64_t handle) {
    return destroy(handle, true);
}

static CUresult get_resource(DriverResource *resource, uint64_t handle, bool is_surface) {
    int problem = driver_enter();
    const WarpObject *object = warp_object(handle, is_surface);
    if (!problem && (!object || !resource)) problem = CUDA_INVALID_VALUE;
    if (!problem) *resource = driver_resource(&object->resource);
    return driver_leave(problem);
}
CUresult cuTexObjectGetResourceDesc(DriverResource *resource, uint64_t handle) {
    return get_resource(resource, handle, false);
}
CUresult cuSurfObjectGetResourceDesc(DriverResource *resource, uint64_t handle) {
    return get_resource(resource, handle, true);
}

CUresult cuTexObjectGetTextureDesc(DriverTexture *how, uint64_t handle) {
    int problem = driver_enter();
    const WarpObject *object = warp_object(handle, false);
    if (!problem && (!object || !how)) problem = CUDA_INVALID_VALUE;
    if (!problem) *how = driver_texture(&object->texture);
    return driver_leave(problem);
}

/* --- References -------------------------------------------------------------------------------- */

/* Of a module's texture or surface: what it reads, once the program has said so. */
typedef struct Reference {
    WarpModule *module;
    char *name;
    bool is_surface, is_set;
    struct cudaResourceDesc resource;
    Channels channels; /* of linear memory */
    DriverTexture how;
} Reference;

static Reference *reference_of(const void *handle, bool is_surface) {
    Reference *reference = warp_handle(handle, HANDLE_REFERENCE);
    return reference && reference->is_surface == is_surface ? reference : NULL;
}

static CUresult get_reference(void **handle, CUmodule module, const char *name, bool is_surface) {
    int problem = driver_enter();
    if (!problem && (!handle || !warp_module(module) || !name)) problem = CUDA_INVALID_VALUE;
    if (!problem) problem = warp_module_load(module);
    if (!problem && !warp_has_texture(module, name)) problem = CUDA_NOT_FOUND;
    Reference *reference = problem ? NULL : calloc(1, sizeof *reference);
    if (!problem && !reference) problem = CUDA_MEMORY_ALLOCATION;
    if (!problem) {
        *reference = (Reference){
            .module = module,
            .name = strdup(name),
            .is_surface = is_surface,
            .channels = channels_of(FORMAT_FLOAT, 1),
            .how.address_mode = {cudaAddressModeClamp, cudaAddressModeClamp, cudaAddressModeClamp}};
        warp_handle_add(reference, HANDLE_REFERENCE);
        *handle = reference;
    }
    return driver_leave(problem);
}
CUresult cuModuleGetTexRef(void **handle, CUmodule module, const char *name) {
    return get_reference(handle, module, name, false);
}
CUresult cuModuleGetSurfRef(void **handle, CUmodule module, const char *name) {
    return get_reference(handle, module, name, true);
}

static int source_of_reference(const Reference *reference, WarpSource *source) {
    const struct cudaResourceDesc *resource = &reference->resource;
    if (resource->resType == cudaResourceTypeArray) {
        if (!warp_array(resource->res.array.array)) return CUDA_INVALID_VALUE;
        *source = warp_source_of_array(resource->res.array.array);
    } else if (resource->resType == cudaResourceTypeLinear) {
        *source = warp_source_of_linear(resource->res.linear.devPtr, resource->res.linear.sizeInBytes,
                                        &reference->channels);
    } else {
        *source = warp_source_of_pitched(resource->res.pitch2D.devPtr, resource->res.pitch2D.pitchInBytes,
                                         resource->res.pitch2D.width, resource->res.pitch2D.height,
                                         &reference->channels);
    }
    return CUDA_OK;
}

/* The module's reference becomes what has been said of it so far. */
static int bind(const Reference *reference) {
    WarpSource source;
    if (!reference->is_set) return CUDA_OK;
    int problem = source_of_reference(reference, &source);
    if (problem) return problem;
    const struct cudaTextureDesc how = texture_of(&reference->how, &source.format);
    return warp_bind_source(reference->module, reference->name, &source, reference->is_surface ? NULL : &how);
}

static int bind_to(Reference *reference, const struct cudaResourceDesc *resource) {
    reference->resource = *resource;
    reference->is_set = true;
    return bind(reference);
}

static CUresult set_array(void *handle, CUarray array, bool is_surface) {
    int problem = driver_enter();
    Reference *reference = reference_of(handle, is_surface);
    const struct cudaResourceDesc resource = {.resType = cudaResourceTypeArray, .res.array.array = array};
    bool fits = warp_array(array) && (!is_surface || warp_array_takes_stores(array));
    if (!problem && (!reference || !fits)) problem = CUDA_INVALID_VALUE;
    if (!problem) problem = bind_to(reference, &resource);
    return driver_leave(problem);
}
CUresult cuTexRefSetArray(void *handle, CUarray array, unsigned flags) {
    (void)flags; /* the array has the format */
    return set_array(handle, array, false);
}
CUresult cuSurfRefSetArray(void *handle, CUarray array, unsigned flags) {
    (void)flags;
    return set_array(handle, array, true);
}

CUresult cuTexRefSetAddress_v2(size_t *offset, void *handle, CUdeviceptr address, size_t bytes) {
    int problem = driver_enter();
    Reference *reference = reference_of(handle, false);
    const struct cudaResourceDesc resource = {
        .resType = cudaResourceTypeLinear, .res.linear = {.devPtr = (void *)address, .sizeInBytes = bytes}};
    if (!problem && (!reference || !warp_range(address))) problem = CUDA_INVALID_VALUE;
    if (!problem) problem = bind_to(reference, &resource);
    if (!problem && offset) *offset = 0;
    return driver_leave(problem);
}

CUresult cuTexRefSetAddress2D_v3(void *handle, const PlaneDescriptor *of, CUdeviceptr address, size_t pitch) {
    int problem = driver_enter();
    Reference *reference = reference_of(handle, false);
    if (!problem && (!reference || !of || !warp_range(address))) problem = CUDA_INVALID_VALUE;
    if (!problem) {
        const struct cudaResourceDesc resource = {
            .resType = cudaResourceTypePitch2D,
            .res.pitch2D = {
                .devPtr = (void *)address, .width = of->width, .height = of->height, .pitchInBytes = pitch}};
        reference->channels = channels_of(of->format, of->channels);
        problem = bind_to(reference, &resource);
    }
    return driver_leave(problem);
}

CUresult cuTexRefSetFormat(void *handle, int format, int channels) {
    int problem = driver_enter();
    Reference *reference = reference_of(handle, false);
    const Channels of = channels_of(format, channels > 0 ? (unsigned)channels : 0);
    if (!problem && (!reference || !warp_element_bytes(&of))) problem = CUDA_INVALID_VALUE;
    if (!problem) {
        reference->channels = of;
        problem = bind(reference);
    }
    return driver_leave(problem);
}

CUresult cuTexRefSetAddressMode(void *handle, int dimension, int mode) {
    int problem = driver_enter();
    Reference *reference = reference_of(handle, false);
    bool fits = dimension >= 0 && dimension < 3 && mode >= 0 && mode <= (int)cudaAddressModeBorder;
    if (!problem && (!reference || !fits)) problem = CUDA_INVALID_VALUE;
    if (!problem) {
        reference->how.address_mode[dimension] = mode;
        problem = bind(reference);
    }
    return driver_leave(problem);
}

CUresult cuTexRefSetFilterMode(void *handle, int mode) {
    int problem = driver_enter();
    Reference *reference = reference_of(handle, false);
    if (!problem && (!reference || mode < 0 || mode > (int)cudaFilterModeLinear))
        problem = CUDA_INVALID_VALUE;
    if (!problem) {
        reference->how.filter_mode = mode;
        problem = bind(reference);
    }
    return driver_leave(problem);
}

CUresult cuTexRefSetFlags(void *handle, unsigned flags) {
    int problem = driver_enter();
    Reference *reference = reference_of(handle, false);
    if (!problem && !reference) problem = CUDA_INVALID_VALUE;
    if (!problem) {
        reference->how.flags = flags;
        problem = bind(reference);
    }
    return driver_leave(problem);
}

/* --- What has been said of references ------------------------------------------------------------ */

static CUresult get_array(CUarray *array, const void *handle, bool is_surface) {
    const Reference *reference = reference_of(handle, is_surface);
    if (!array || !reference || !reference->is_set || reference->resource.resType != cudaResourceTypeArray)
        return CUDA_INVALID_VALUE;
    *array = reference->resource.res.array.array;
    return CUDA_OK;
}
CUresult cuTexRefGetArray(CUarray *array, const void *handle) {
    return get_array(array, handle, false);
}
CUresult cuSurfRefGetArray(CUarray *array, const void *handle) {
    return get_array(array, handle, true);
}

CUresult cuTexRefGetAddress_v2(CUdeviceptr *address, const void *handle) {
    const Reference *reference = reference_of(handle, false);
    if (!address || !reference || !reference->is_set || reference->resource.resType == cudaResourceTypeArray)
        return CUDA_INVALID_VALUE;
    *address = reference->resource.resType == cudaResourceTypeLinear
                   ? (CUdeviceptr)reference->resource.res.linear.devPtr
                   : (CUdeviceptr)reference->resource.res.pitch2D.devPtr;
    return CUDA_OK;
}

CUresult cuTexRefGetFormat(int *format, int *channels, const void *handle) {
    const Reference *reference = reference_of(handle, false);
    if (!reference) return CUDA_INVALID_VALUE;
    const Channels *of = reference->is_set && reference->resource.resType == cudaResourceTypeArray
                             ? channels_of_resource(&reference->resource)
                             : &reference->channels;
    if (!of) return CUDA_INVALID_VALUE;
    if (format) *format = format_of(of);
    if (channels) *channels = (int)count_of(of);
    return CUDA_OK;
}

CUresult cuTexRefGetAddressMode(int *mode, const void *handle, int dimension) {
    const Reference *reference = reference_of(handle, false);
    if (!mode || !reference || dimension < 0 || dimension >= 3) return CUDA_INVALID_VALUE;
    *mode = reference->how.address_mode[dimension];
    return CUDA_OK;
}

CUresult cuTexRefGetFilterMode(int *mode, const void *handle) {
    const Reference *reference = reference_of(handle, false);
    if (!mode || !reference) return CUDA_INVALID_VALUE;
    *mode = reference->how.filter_mode;
    return CUDA_OK;
}

CUresult cuTexRefGetFlags(unsigned *flags, const void *handle) {
    const Reference *reference = reference_of(handle, false);
    if (!flags || !reference) return CUDA_INVALID_VALUE;
    *flags = reference->how.flags;
    return CUDA_OK;
}

ALSO(cuArrayCreate, cuArrayCreate_v2)
ALSO(cuArrayGetDescriptor, cuArrayGetDescriptor_v2)
ALSO(cuArray3DCreate, cuArray3DCreate_v2)
ALSO(cuArray3DGetDescriptor, cuArray3DGetDescriptor_v2)
ALSO(cuMemcpyHtoA, cuMemcpyHtoA_v2)
ALSO(cuMemcpyAtoH, cuMemcpyAtoH_v2)
ALSO(cuMemcpyDtoA, cuMemcpyDtoA_v2)
ALSO(cuMemcpyAtoD, cuMemcpyAtoD_v2)
ALSO(cuMemcpyAtoA, cuMemcpyAtoA_v2)
ALSO(cuMemcpyHtoAAsync, cuMemcpyHtoAAsync_v2)
ALSO(cuMemcpyAtoHAsync, cuMemcpyAtoHAsync_v2)
ALSO(cuTexRefSetAddress, cuTexRefSetAddress_v2)
ALSO(cuTexRefSetAddress2D, cuTexRefSetAddress2D_v3)
ALSO(cuTexRefSetAddress2D_v2, cuTexRefSetAddress2D_v3)
ALSO(cuTexRefGetAddress, cuTexRefGetAddress_v2)
