/* The driver API's arrays, and objects and references of textures and surfaces; cuda.h includes it. */
#ifndef WARPWRIGHT_DRIVER_TEXTURES_H
#define WARPWRIGHT_DRIVER_TEXTURES_H

typedef enum CUarray_format_enum {
    CU_AD_FORMAT_UNSIGNED_INT8 = 0x01,
    CU_AD_FORMAT_UNSIGNED_INT16 = 0x02,
    CU_AD_FORMAT_UNSIGNED_INT32 = 0x03,
    CU_AD_FORMAT_SIGNED_INT8 = 0x08,
    CU_AD_FORMAT_SIGNED_INT16 = 0x09,
    CU_AD_FORMAT_SIGNED_INT32 = 0x0a,
    CU_AD_FORMAT_HALF = 0x10,
    CU_AD_FORMAT_FLOAT = 0x20
} CUarray_format;

typedef enum CUaddress_mode_enum {
    CU_TR_ADDRESS_MODE_WRAP = 0,
    CU_TR_ADDRESS_MODE_CLAMP = 1,
    CU_TR_ADDRESS_MODE_MIRROR = 2,
    CU_TR_ADDRESS_MODE_BORDER = 3
} CUaddress_mode;

typedef enum CUfilter_mode_enum { CU_TR_FILTER_MODE_POINT = 0, CU_TR_FILTER_MODE_LINEAR = 1 } CUfilter_mode;

typedef enum CUresourcetype_enum {
    CU_RESOURCE_TYPE_ARRAY = 0,
    CU_RESOURCE_TYPE_MIPMAPPED_ARRAY = 1,
    CU_RESOURCE_TYPE_LINEAR = 2,
    CU_RESOURCE_TYPE_PITCH2D = 3
} CUresourcetype;

#define CUDA_ARRAY3D_LAYERED           0x01
#define CUDA_ARRAY3D_2DARRAY           0x01
#define CUDA_ARRAY3D_SURFACE_LDST      0x02
#define CUDA_ARRAY3D_CUBEMAP           0x04
#define CUDA_ARRAY3D_TEXTURE_GATHER    0x08
#define CU_TRSA_OVERRIDE_FORMAT        0x01
#define CU_TRSF_READ_AS_INTEGER        0x01
#define CU_TRSF_NORMALIZED_COORDINATES 0x02
#define CU_TRSF_SRGB                   0x10
#define CU_TRSF_SEAMLESS_CUBEMAP       0x40
#define CU_PARAM_TR_DEFAULT            -1

typedef struct CUmipmappedArray_st *CUmipmappedArray;

typedef struct CUDA_ARRAY_DESCRIPTOR_st {
    size_t Width, Height;
    CUarray_format Format;
    unsigned int NumChannels;
} CUDA_ARRAY_DESCRIPTOR;
typedef struct CUDA_ARRAY3D_DESCRIPTOR_st {
    size_t Width, Height, Depth;
    CUarray_format Format;
    unsigned int NumChannels, Flags;
} CUDA_ARRAY3D_DESCRIPTOR;

typedef struct CUDA_RESOURCE_DESC_st {
    CUresourcetype resType;
    union {
        struct {
            CUarray hArray;
        } array;
        struct {
            CUmipmappedArray hMipmappedArray;
        } mipmap;
        struct {
            CUdeviceptr devPtr;
            CUarray_format format;
            unsigned int numChannels;
            size_t sizeInBytes;
        } linear;
        struct {
            CUdeviceptr devPtr;
            CUarray_format format;
            unsigned int numChannels;
            size_t width, height, pitchInBytes;
        } pitch2D;
        struct {
            int reserved[32];
        } reserved;
    } res;
    unsigned int flags;
} CUDA_RESOURCE_DESC;
typedef struct CUDA_TEXTURE_DESC_st {
    CUaddress_mode addressMode[3];
    CUfilter_mode filterMode;
    unsigned int flags, maxAnisotropy;
    CUfilter_mode mipmapFilterMode;
    float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp, borderColor[4];
    int reserved[12];
} CUDA_TEXTURE_DESC;
typedef struct CUDA_RESOURCE_VIEW_DESC_st CUDA_RESOURCE_VIEW_DESC; /* NULL alone is taken */

#define cuArrayCreate          cuArrayCreate_v2
#define cuArrayGetDescriptor   cuArrayGetDescriptor_v2
#define cuArray3DCreate        cuArray3DCreate_v2
#define cuArray3DGetDescriptor cuArray3DGetDescriptor_v2
#define cuMemcpyHtoA           cuMemcpyHtoA_v2
#define cuMemcpyAtoH           cuMemcpyAtoH_v2
#define cuMemcpyDtoA           cuMemcpyDtoA_v2
#define cuMemcpyAtoD           cuMemcpyAtoD_v2
#define cuMemcpyAtoA           cuMemcpyAtoA_v2
#define cuMemcpyHtoAAsync      cuMemcpyHtoAAsync_v2
#define cuMemcpyAtoHAsync      cuMemcpyAtoHAsync_v2
#define cuTexRefSetAddress     cuTexRefSetAddress_v2
#define cuTexRefSetAddress2D   cuTexRefSetAddress2D_v3
#define cuTexRefGetAddress     cuTexRefGetAddress_v2

#ifdef __cplusplus
extern "C" {
#endif

CUresult cuArrayCreate(CUarray *array, const CUDA_ARRAY_DESCRIPTOR *descriptor);
CUresult cuArrayGetDescriptor(CUDA_ARRAY_DESCRIPTOR *descriptor, CUarray array);
CUresult cuArray3DCreate(CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR *descriptor);
CUresult cuArray3DGetDescriptor(CUDA_ARRAY3D_DESCRIPTOR *descriptor, CUarray array);
CUresult cuArrayDestroy(CUarray array);
CUresult cuMemcpyHtoA(CUarray to, size_t offset, const void *from, size_t bytes);
CUresult cuMemcpyAtoH(void *to, CUarray from, size_t offset, size_t bytes);
CUresult cuMemcpyDtoA(CUarray to, size_t offset, CUdeviceptr from, size_t bytes);
CUresult cuMemcpyAtoD(CUdeviceptr to, CUarray from, size_t offset, size_t bytes);
CUresult cuMemcpyAtoA(CUarray to, size_t toOffset, CUarray from, size_t fromOffset, size_t bytes);
CUresult cuMemcpyHtoAAsync(CUarray to, size_t offset, const void *from, size_t bytes, CUstream stream);
CUresult cuMemcpyAtoHAsync(void *to, CUarray from, size_t offset, size_t bytes, CUstream stream);

CUresult cuTexObjectCreate(CUtexObject *object, const CUDA_RESOURCE_DESC *resource,
                           const CUDA_TEXTURE_DESC *how, const CUDA_RESOURCE_VIEW_DESC *view);
CUresult cuTexObjectDestroy(CUtexObject object);
CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC *resource, CUtexObject object);
CUresult cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC *how, CUtexObject object);
CUresult cuSurfObjectCreate(CUsurfObject *object, const CUDA_RESOURCE_DESC *resource);
CUresult cuSurfObjectDestroy(CUsurfObject object);
CUresult cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC *resource, CUsurfObject object);

CUresult cuModuleGetTexRef(CUtexref *reference, CUmodule module, const char *name);
CUresult cuModuleGetSurfRef(CUsurfref *reference, CUmodule module, const char *name);
CUresult cuTexRefSetArray(CUtexref reference, CUarray array, unsigned int flags);
CUresult cuTexRefSetAddress(size_t *offset, CUtexref reference, CUdeviceptr address, size_t bytes);
CUresult cuTexRefSetAddress2D(CUtexref reference, const CUDA_ARRAY_DESCRIPTOR *descriptor,
                              CUdeviceptr address, size_t pitch);
CUresult cuTexRefSetFormat(CUtexref reference, CUarray_format format, int channels);
CUresult cuTexRefSetAddressMode(CUtexref reference, int dimension, CUaddress_mode mode);
CUresult cuTexRefSetFilterMode(CUtexref reference, CUfilter_mode mode);
CUresult cuTexRefSetFlags(CUtexref reference, unsigned int flags);
CUresult cuTexRefGetArray(CUarray *array, CUtexref reference);
CUresult cuTexRefGetAddress(CUdeviceptr *address, CUtexref reference);
CUresult cuTexRefGetFormat(CUarray_format *format, int *channels, CUtexref reference);
CUresult cuTexRefGetAddressMode(CUaddress_mode *mode, CUtexref reference, int dimension);
CUresult cuTexRefGetFilterMode(CUfilter_mode *mode, CUtexref reference);
CUresult cuTexRefGetFlags(unsigned int *flags, CUtexref reference);
CUresult cuSurfRefSetArray(CUsurfref reference, CUarray array, unsigned int flags);
CUresult cuSurfRefGetArray(CUarray *array, CUsurfref reference);

#ifdef __cplusplus
}
#endif

#endif
