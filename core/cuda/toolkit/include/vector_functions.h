/* make_int4 and the like. */
#ifndef __VECTOR_FUNCTIONS_H__
#define __VECTOR_FUNCTIONS_H__

#include "vector_types.h"

#define WARPWRIGHT_MAKERS(type, prefix)                                                                      \
    static __inline__ __host__ __device__ prefix##1 make_##prefix##1(type x) {                               \
        prefix##1 made = {x};                                                                                \
        return made;                                                                                         \
    }                                                                                                        \
    static __inline__ __host__ __device__ prefix##2 make_##prefix##2(type x, type y) {                       \
        prefix##2 made = {x, y};                                                                             \
        return made;                                                                                         \
    }                                                                                                        \
    static __inline__ __host__ __device__ prefix##3 make_##prefix##3(type x, type y, type z) {               \
        prefix##3 made = {x, y, z};                                                                          \
        return made;                                                                                         \
    }                                                                                                        \
    static __inline__ __host__ __device__ prefix##4 make_##prefix##4(type x, type y, type z, type w) {       \
        prefix##4 made = {x, y, z, w};                                                                       \
        return made;                                                                                         \
    }

WARPWRIGHT_MAKERS(signed char, char)
WARPWRIGHT_MAKERS(unsigned char, uchar)
WARPWRIGHT_MAKERS(short, short)
WARPWRIGHT_MAKERS(unsigned short, ushort)
WARPWRIGHT_MAKERS(int, int)
WARPWRIGHT_MAKERS(unsigned int, uint)
WARPWRIGHT_MAKERS(long int, long)
WARPWRIGHT_MAKERS(unsigned long int, ulong)
WARPWRIGHT_MAKERS(long long int, longlong)
WARPWRIGHT_MAKERS(unsigned long long int, ulonglong)
WARPWRIGHT_MAKERS(float, float)
WARPWRIGHT_MAKERS(double, double)

#undef WARPWRIGHT_MAKERS

#endif
