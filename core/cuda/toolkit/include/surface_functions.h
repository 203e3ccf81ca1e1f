/* Reading and writing surfaces, by objects and by references: surf1Dread to surfCubemapLayeredwrite. x is in bytes. */
#ifndef WARPWRIGHT_SURFACE_FUNCTIONS_H
#define WARPWRIGHT_SURFACE_FUNCTIONS_H

#if defined(__CUDA__) && __cplusplus >= 201103L

#include "warpwright/texture_references.h"

#define WARPWRIGHT_DEVICE    static __device__ __forceinline__ __attribute__((unused))
#define WARPWRIGHT_LIST(...) __VA_ARGS__

template <int bytes> struct __warpwright_bytes {};

#define WARPWRIGHT_PLACE [object] "l"(object), [x] "r"(x), [y] "r"(y), [z] "r"(z)
#define WARPWRIGHT_READ(geometry, at, suffix, values, outputs, boundary)                                     \
    asm volatile("suld.b." geometry suffix boundary " " values ", [%[object], " at "];"                      \
                 : WARPWRIGHT_LIST outputs:WARPWRIGHT_PLACE                                                  \
                 : "memory")
#define WARPWRIGHT_WRITE(geometry, at, suffix, values, inputs, boundary)                                     \
    asm volatile("sust.b." geometry suffix boundary " [%[object], " at "], " values                          \
                 ";" ::WARPWRIGHT_LIST inputs,                                                               \
                 WARPWRIGHT_PLACE                                                                            \
                 : "memory")

/* An element of this many bytes, in `count` registers; `outputs` and `inputs` are these for the assembler. */
#define WARPWRIGHT_SIZE(shape, geometry, at, bytes, word, count, suffix, values, outputs, inputs)            \
    WARPWRIGHT_DEVICE void __warpwright_read_##shape(__warpwright_bytes<bytes>, void *element,               \
                                                     cudaSurfaceObject_t object, int x, int y, int z,        \
                                                     cudaSurfaceBoundaryMode mode) {                         \
        word v[count];                                                                                       \
        if (mode == cudaBoundaryModeZero)                                                                    \
            WARPWRIGHT_READ(geometry, at, suffix, values, outputs, ".zero");                                 \
        else if (mode == cudaBoundaryModeClamp)                                                              \
            WARPWRIGHT_READ(geometry, at, suffix, values, outputs, ".clamp");                                \
        else                                                                                                 \
            WARPWRIGHT_READ(geometry, at, suffix, values, outputs, ".trap");                                 \
        memcpy(element, v, bytes);                                                                           \
    }                                                                                                        \
    WARPWRIGHT_DEVICE void __warpwright_write_##shape(__warpwright_bytes<bytes>, const void *element,        \
                                                      cudaSurfaceObject_t object, int x, int y, int z,       \
                                                      cudaSurfaceBoundaryMode mode) {                        \
        word v[count] = {0};                                                                                 \
        memcpy(v, element, bytes);                                                                           \
        if (mode == cudaBoundaryModeZero)                                                                    \
            WARPWRIGHT_WRITE(geometry, at, suffix, values, inputs, ".zero");                                 \
        else if (mode == cudaBoundaryModeClamp)                                                              \
            WARPWRIGHT_WRITE(geometry, at, suffix, values, inputs, ".clamp");                                \
        else                                                                                                 \
            WARPWRIGHT_WRITE(geometry, at, suffix, values, inputs, ".trap");                                 \
    }

#define WARPWRIGHT_SIZES(shape, geometry, at)                                                                \
    WARPWRIGHT_SIZE(shape, geometry, at, 1, unsigned short, 1, ".b8", "{%0}", ("=h"(v[0])), ("h"(v[0])))     \
    WARPWRIGHT_SIZE(shape, geometry, at, 2, unsigned short, 1, ".b16", "{%0}", ("=h"(v[0])), ("h"(v[0])))    \
    WARPWRIGHT_SIZE(shape, geometry, at, 4, unsigned, 1, ".b32", "{%0}", ("=r"(v[0])), ("r"(v[0])))          \
    WARPWRIGHT_SIZE(shape, geometry, at, 8, unsigned, 2, ".v2.b32", "{%0, %1}", ("=r"(v[0]), "=r"(v[1])),    \
                    ("r"(v[0]), "r"(v[1])))                                                                  \
    WARPWRIGHT_SIZE(shape, geometry, at, 16, unsigned, 4, ".v4.b32", "{%0, %1, %2, %3}",                     \
                    ("=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])),                                        \
                    ("r"(v[0]), "r"(v[1]), "r"(v[2]), "r"(v[3])))
WARPWRIGHT_SIZES(1d, "1d", "{%[x]}")
WARPWRIGHT_SIZES(2d, "2d", "{%[x], %[y]}")
WARPWRIGHT_SIZES(3d, "3d", "{%[x], %[y], %[z], %[z]}")
WARPWRIGHT_SIZES(a1d, "a1d", "{%[z], %[x]}")
WARPWRIGHT_SIZES(a2d, "a2d", "{%[z], %[x], %[y], %[y]}")
#undef WARPWRIGHT_SIZES
#undef WARPWRIGHT_SIZE
#undef WARPWRIGHT_WRITE
#undef WARPWRIGHT_READ
#undef WARPWRIGHT_PLACE

/* ---- the functions, for an object or a reference */

#define WARPWRIGHT_ACCESSES(name, shape, Handle, object, parameters, place)                                  \
    template <class T>                                                                                       \
    WARPWRIGHT_DEVICE void name##read(T *element, Handle surf, WARPWRIGHT_LIST parameters,                   \
                                      cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                 \
        __warpwright_read_##shape(__warpwright_bytes<sizeof(T)>(), element, object, WARPWRIGHT_LIST place,   \
                                  mode);                                                                     \
    }                                                                                                        \
    template <class T>                                                                                       \
    WARPWRIGHT_DEVICE T name##read(Handle surf, WARPWRIGHT_LIST parameters,                                  \
                                   cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                    \
        T element;                                                                                           \
        __warpwright_read_##shape(__warpwright_bytes<sizeof(T)>(), &element, object, WARPWRIGHT_LIST place,  \
                                  mode);                                                                     \
        return element;                                                                                      \
    }                                                                                                        \
    template <class T>                                                                                       \
    WARPWRIGHT_DEVICE void name##write(T element, Handle surf, WARPWRIGHT_LIST parameters,                   \
                                       cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                \
        __warpwright_write_##shape(__warpwright_bytes<sizeof(T)>(), &element, object, WARPWRIGHT_LIST place, \
                                   mode);                                                                    \
    }

template <class Surface> WARPWRIGHT_DEVICE cudaSurfaceObject_t __warpwright_surface_object(Surface surf) {
    cudaSurfaceObject_t object;
    asm("mov.b64 %0, %1;" : "=l"(object) : "l"(surf));
    return object;
}

#define WARPWRIGHT_SURFACE(name, shape, type, parameters, place)                                             \
    WARPWRIGHT_ACCESSES(name, shape, cudaSurfaceObject_t, surf, parameters, place)                           \
    typedef surface<void, type> __warpwright_##name;                                                         \
    WARPWRIGHT_ACCESSES(name, shape, __warpwright_##name, __warpwright_surface_object(surf), parameters,     \
                        place)
WARPWRIGHT_SURFACE(surf1D, 1d, cudaSurfaceType1D, (int x), (x, 0, 0))
WARPWRIGHT_SURFACE(surf2D, 2d, cudaSurfaceType2D, (int x, int y), (x, y, 0))
WARPWRIGHT_SURFACE(surf3D, 3d, cudaSurfaceType3D, (int x, int y, int z), (x, y, z))
WARPWRIGHT_SURFACE(surf1DLayered, a1d, cudaSurfaceType1DLayered, (int x, int layer), (x, 0, layer))
WARPWRIGHT_SURFACE(surf2DLayered, a2d, cudaSurfaceType2DLayered, (int x, int y, int layer), (x, y, layer))
WARPWRIGHT_SURFACE(surfCubemap, a2d, cudaSurfaceTypeCubemap, (int x, int y, int face), (x, y, face))
WARPWRIGHT_SURFACE(surfCubemapLayered, a2d, cudaSurfaceTypeCubemapLayered, (int x, int y, int layerFace),
                   (x, y, layerFace))
#undef WARPWRIGHT_SURFACE
#undef WARPWRIGHT_ACCESSES
#undef WARPWRIGHT_LIST
#undef WARPWRIGHT_DEVICE

#endif
#endif
