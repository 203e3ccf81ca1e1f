/* Texture and surface references: what programs of before CUDA 12 declare at file scope, and bind by name. */
#ifndef WARPWRIGHT_TEXTURE_REFERENCES_H
#define WARPWRIGHT_TEXTURE_REFERENCES_H

#include "channel_descriptor.h"

#ifdef __CUDA__
#define WARPWRIGHT_TEXTURE __attribute__((device_builtin_texture_type))
#define WARPWRIGHT_SURFACE __attribute__((device_builtin_surface_type))
#else
#define WARPWRIGHT_TEXTURE
#define WARPWRIGHT_SURFACE
#endif

template <class T, int texType = cudaTextureType1D, enum cudaTextureReadMode mode = cudaReadModeElementType>
struct WARPWRIGHT_TEXTURE texture : public textureReference {
    __host__ texture(int norm = 0, enum cudaTextureFilterMode filter = cudaFilterModePoint,
                     enum cudaTextureAddressMode address = cudaAddressModeClamp) {
        set(norm, filter, address, cudaCreateChannelDesc<T>());
    }
    __host__ texture(int norm, enum cudaTextureFilterMode filter, enum cudaTextureAddressMode address,
                     cudaChannelFormatDesc desc) {
        set(norm, filter, address, desc);
    }

  private:
    __host__ void set(int norm, enum cudaTextureFilterMode filter, enum cudaTextureAddressMode address,
                      cudaChannelFormatDesc desc) {
        memset(static_cast<textureReference *>(this), 0, sizeof(textureReference));
        normalized = norm;
        filterMode = filter;
        addressMode[0] = addressMode[1] = addressMode[2] = address;
        channelDesc = desc;
    }
};

template <class T, int surfType = cudaSurfaceType1D>
struct WARPWRIGHT_SURFACE surface : public surfaceReference {
    __host__ surface() { channelDesc = cudaCreateChannelDesc<T>(); }
};
template <int surfType> struct WARPWRIGHT_SURFACE surface<void, surfType> : public surfaceReference {
    __host__ surface() { channelDesc = cudaCreateChannelDesc<void>(); }
};

#undef WARPWRIGHT_TEXTURE
#undef WARPWRIGHT_SURFACE

template <class T, int dim, enum cudaTextureReadMode mode>
inline cudaError_t cudaBindTexture(size_t *offset, const texture<T, dim, mode> &tex, const void *devPtr,
                                   const cudaChannelFormatDesc &desc, size_t size = UINT_MAX) {
    return cudaBindTexture(offset, (const textureReference *)&tex, devPtr, &desc, size);
}

template <class T, int dim, enum cudaTextureReadMode mode>
inline cudaError_t cudaBindTexture(size_t *offset, const texture<T, dim, mode> &tex, const void *devPtr,
                                   size_t size = UINT_MAX) {
    return cudaBindTexture(offset, tex, devPtr, tex.channelDesc, size);
}

template <class T, int dim, enum cudaTextureReadMode mode>
inline cudaError_t cudaBindTexture2D(size_t *offset, const texture<T, dim, mode> &tex, const void *devPtr,
                                     const cudaChannelFormatDesc &desc, size_t width, size_t height,
                                     size_t pitch) {
    return cudaBindTexture2D(offset, (const textureReference *)&tex, devPtr, &desc, width, height, pitch);
}

template <class T, int dim, enum cudaTextureReadMode mode>
inline cudaError_t cudaBindTexture2D(size_t *offset, const texture<T, dim, mode> &tex, const void *devPtr,
                                     size_t width, size_t height, size_t pitch) {
    return cudaBindTexture2D(offset, (const textureReference *)&tex, devPtr, &tex.channelDesc, width, height,
                             pitch);
}

template <class T, int dim, enum cudaTextureReadMode mode>
inline cudaError_t cudaBindTextureToArray(const texture<T, dim, mode> &tex, cudaArray_const_t array,
                                          const cudaChannelFormatDesc &desc) {
    return cudaBindTextureToArray((const textureReference *)&tex, array, &desc);
}

template <class T, int dim, enum cudaTextureReadMode mode>
inline cudaError_t cudaBindTextureToArray(const texture<T, dim, mode> &tex, cudaArray_const_t array) {
    cudaChannelFormatDesc desc;
    cudaError_t error = cudaGetChannelDesc(&desc, array);
    return error == cudaSuccess ? cudaBindTextureToArray(tex, array, desc) : error;
}

template <class T, int dim, enum cudaTextureReadMode mode>
inline cudaError_t cudaUnbindTexture(const texture<T, dim, mode> &tex) {
    return cudaUnbindTexture((const textureReference *)&tex);
}

template <class T, int dim, enum cudaTextureReadMode mode>
inline cudaError_t cudaGetTextureAlignmentOffset(size_t *offset, const texture<T, dim, mode> &tex) {
    return cudaGetTextureAlignmentOffset(offset, (const textureReference *)&tex);
}

template <class T, int dim>
inline cudaError_t cudaBindSurfaceToArray(const surface<T, dim> &surf, cudaArray_const_t array,
                                          const cudaChannelFormatDesc &desc) {
    return cudaBindSurfaceToArray((const surfaceReference *)&surf, array, &desc);
}

template <class T, int dim>
inline cudaError_t cudaBindSurfaceToArray(const surface<T, dim> &surf, cudaArray_const_t array) {
    cudaChannelFormatDesc desc;
    cudaError_t error = cudaGetChannelDesc(&desc, array);
    return error == cudaSuccess ? cudaBindSurfaceToArray(surf, array, desc) : error;
}

#endif
