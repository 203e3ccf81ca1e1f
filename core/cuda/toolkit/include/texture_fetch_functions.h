/* Reading textures, by objects and by references: tex1Dfetch to texCubemapLayeredGrad. clang's
 * __nv_tex_surf_handler has the instructions. */
#ifndef WARPWRIGHT_TEXTURE_FETCH_FUNCTIONS_H
#define WARPWRIGHT_TEXTURE_FETCH_FUNCTIONS_H

#if defined(__CUDA__) && __cplusplus >= 201103L

#include "warpwright/texture_references.h"

/* What a normalized read of texels of T yields: as many floats as T has channels. */
template <int channels> struct __warpwright_floats;
template <> struct __warpwright_floats<1> { typedef float type; };
template <> struct __warpwright_floats<2> { typedef float2 type; };
template <> struct __warpwright_floats<4> { typedef float4 type; };
template <class T, class = void> struct __warpwright_normalized { typedef float type; };
template <class T> struct __warpwright_normalized<T, decltype((void)T::x)> {
    typedef typename __warpwright_floats<sizeof(T) / sizeof(T::x)>::type type;
};

#define WARPWRIGHT_PARENTHESES(...) __VA_ARGS__

#define WARPWRIGHT_FETCH_OBJECT(name, operation, parameters, arguments)                                      \
    template <class T>                                                                                       \
    static __device__ __forceinline__ T name(cudaTextureObject_t object,                                     \
                                             WARPWRIGHT_PARENTHESES parameters) {                            \
        T texel;                                                                                             \
        __nv_tex_surf_handler(operation, &texel, object, WARPWRIGHT_PARENTHESES arguments);                  \
        return texel;                                                                                        \
    }                                                                                                        \
    template <class T>                                                                                       \
    static __device__ __forceinline__ void name(T *texel, cudaTextureObject_t object,                        \
                                                WARPWRIGHT_PARENTHESES parameters) {                         \
        __nv_tex_surf_handler(operation, texel, object, WARPWRIGHT_PARENTHESES arguments);                   \
    }

#define WARPWRIGHT_FETCH(name, operation, shape, parameters, arguments)                                      \
    WARPWRIGHT_FETCH_OBJECT(name, operation, parameters, arguments)                                          \
    template <class T>                                                                                       \
    static __device__ __forceinline__ T name(texture<T, shape, cudaReadModeElementType> reference,           \
                                             WARPWRIGHT_PARENTHESES parameters) {                            \
        T texel;                                                                                             \
        __nv_tex_surf_handler(operation, &texel, reference, WARPWRIGHT_PARENTHESES arguments);               \
        return texel;                                                                                        \
    }                                                                                                        \
    template <class T>                                                                                       \
    static __device__ __forceinline__ typename __warpwright_normalized<T>::type name(                        \
        texture<T, shape, cudaReadModeNormalizedFloat> reference, WARPWRIGHT_PARENTHESES parameters) {       \
        typename __warpwright_normalized<T>::type texel;                                                     \
        __nv_tex_surf_handler(operation, &texel, reference, WARPWRIGHT_PARENTHESES arguments);               \
        return texel;                                                                                        \
    }

WARPWRIGHT_FETCH(tex1Dfetch, "__tex1Dfetch_v2", cudaTextureType1D, (int x), (x))
WARPWRIGHT_FETCH(tex1D, "__tex1D_v2", cudaTextureType1D, (float x), (x))
WARPWRIGHT_FETCH(tex2D, "__tex2D_v2", cudaTextureType2D, (float x, float y), (x, y))
WARPWRIGHT_FETCH(tex3D, "__tex3D_v2", cudaTextureType3D, (float x, float y, float z), (x, y, z))
WARPWRIGHT_FETCH(tex1DLayered, "__tex1DLayered_v2", cudaTextureType1DLayered, (float x, int layer),
                 (x, layer))
WARPWRIGHT_FETCH(tex2DLayered, "__tex2DLayered_v2", cudaTextureType2DLayered, (float x, float y, int layer),
                 (x, y, layer))
WARPWRIGHT_FETCH(texCubemap, "__texCubemap_v2", cudaTextureTypeCubemap, (float x, float y, float z),
                 (x, y, z))
WARPWRIGHT_FETCH(texCubemapLayered, "__texCubemapLayered_v2", cudaTextureTypeCubemapLayered,
                 (float x, float y, float z, int layer), (x, y, z, layer))
WARPWRIGHT_FETCH(tex2Dgather, "__tex2Dgather_v2", cudaTextureType2D, (float x, float y, int comp = 0),
                 (x, y, comp))

/* ---- a level of mipmaps */

WARPWRIGHT_FETCH(tex1DLod, "__tex1DLod_v2", cudaTextureType1D, (float x, float level), (x, level))
WARPWRIGHT_FETCH(tex2DLod, "__tex2DLod_v2", cudaTextureType2D, (float x, float y, float level), (x, y, level))
WARPWRIGHT_FETCH(tex3DLod, "__tex3DLod_v2", cudaTextureType3D, (float x, float y, float z, float level),
                 (x, y, z, level))
WARPWRIGHT_FETCH(tex1DLayeredLod, "__tex1DLayeredLod_v2", cudaTextureType1DLayered,
                 (float x, int layer, float level), (x, layer, level))
WARPWRIGHT_FETCH(tex2DLayeredLod, "__tex2DLayeredLod_v2", cudaTextureType2DLayered,
                 (float x, float y, int layer, float level), (x, y, layer, level))
WARPWRIGHT_FETCH(texCubemapLod, "__texCubemapLod_v2", cudaTextureTypeCubemap,
                 (float x, float y, float z, float level), (x, y, z, level))
WARPWRIGHT_FETCH(texCubemapLayeredLod, "__texCubemapLayeredLod_v2", cudaTextureTypeCubemapLayered,
                 (float x, float y, float z, int layer, float level), (x, y, z, layer, level))

/* ---- a level of mipmaps by the gradient of the coordinates */

WARPWRIGHT_FETCH(tex1DGrad, "__tex1DGrad_v2", cudaTextureType1D, (float x, float dx, float dy), (x, dx, dy))
WARPWRIGHT_FETCH(tex2DGrad, "__tex2DGrad_v2", cudaTextureType2D, (float x, float y, float2 dx, float2 dy),
                 (x, y, &dx, &dy))
WARPWRIGHT_FETCH(tex3DGrad, "__tex3DGrad_v2", cudaTextureType3D,
                 (float x, float y, float z, float4 dx, float4 dy), (x, y, z, &dx, &dy))
WARPWRIGHT_FETCH(tex1DLayeredGrad, "__tex1DLayeredGrad_v2", cudaTextureType1DLayered,
                 (float x, int layer, float dx, float dy), (x, layer, dx, dy))
WARPWRIGHT_FETCH(tex2DLayeredGrad, "__tex2DLayeredGrad_v2", cudaTextureType2DLayered,
                 (float x, float y, int layer, float2 dx, float2 dy), (x, y, layer, &dx, &dy))
WARPWRIGHT_FETCH(texCubemapGrad, "__texCubemapGrad_v2", cudaTextureTypeCubemap,
                 (float x, float y, float z, float4 dx, float4 dy), (x, y, z, &dx, &dy))
WARPWRIGHT_FETCH(texCubemapLayeredGrad, "__texCubemapLayeredGrad_v2", cudaTextureTypeCubemapLayered,
                 (float x, float y, float z, int layer, float4 dx, float4 dy), (x, y, z, layer, &dx, &dy))

#undef WARPWRIGHT_FETCH
#undef WARPWRIGHT_FETCH_OBJECT
#undef WARPWRIGHT_PARENTHESES

#endif
#endif
