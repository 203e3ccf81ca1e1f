/* CUDA's vector types: char1 to double4, and dim3. */
#ifndef __VECTOR_TYPES_H__
#define __VECTOR_TYPES_H__

#include "host_defines.h"

#define WARPWRIGHT_VECTORS(type, prefix, align2, align4)                                                     \
    struct prefix##1 {                                                                                       \
        type x;                                                                                              \
    };                                                                                                       \
    struct __attribute__((aligned(align2))) prefix##2 {                                                      \
        type x, y;                                                                                           \
    };                                                                                                       \
    struct prefix##3 {                                                                                       \
        type x, y, z;                                                                                        \
    };                                                                                                       \
    struct __attribute__((aligned(align4))) prefix##4 {                                                      \
        type x, y, z, w;                                                                                     \
    };                                                                                                       \
    typedef struct prefix##1 prefix##1;                                                                      \
    typedef struct prefix##2 prefix##2;                                                                      \
    typedef struct prefix##3 prefix##3;                                                                      \
    typedef struct prefix##4 prefix##4;

WARPWRIGHT_VECTORS(signed char, char, 2, 4)
WARPWRIGHT_VECTORS(unsigned char, uchar, 2, 4)
WARPWRIGHT_VECTORS(short, short, 4, 8)
WARPWRIGHT_VECTORS(unsigned short, ushort, 4, 8)
WARPWRIGHT_VECTORS(int, int, 8, 16)
WARPWRIGHT_VECTORS(unsigned int, uint, 8, 16)
WARPWRIGHT_VECTORS(long int, long, 16, 16)
WARPWRIGHT_VECTORS(unsigned long int, ulong, 16, 16)
WARPWRIGHT_VECTORS(long long int, longlong, 16, 16)
WARPWRIGHT_VECTORS(unsigned long long int, ulonglong, 16, 16)
WARPWRIGHT_VECTORS(float, float, 8, 16)
WARPWRIGHT_VECTORS(double, double, 16, 16)

#undef WARPWRIGHT_VECTORS

struct dim3 {
    unsigned int x, y, z;
#ifdef __cplusplus
#if __cplusplus >= 201103L
    __host__ __device__ constexpr dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1)
        : x(vx), y(vy), z(vz) {}
    __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    __host__ __device__ constexpr operator uint3() const {
        return uint3{x, y, z};
    }
#else
    __host__ __device__ dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1)
        : x(vx), y(vy), z(vz) {}
    __host__ __device__ dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    __host__ __device__ operator uint3() const {
        uint3 v = {x, y, z};
        return v;
    }
#endif
#endif
};
typedef struct dim3 dim3;

#endif
