/* Complex numbers for C and C++. */
#ifndef CU_COMPLEX_H_
#define CU_COMPLEX_H_

#include "vector_functions.h"

#include <math.h>

#define WARPWRIGHT_BOTH static __inline__ __host__ __device__ __attribute__((unused))

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

/* The functions of both: of numbers `type` in pairs `complex`, with names that end in `f` and f_f. */
#define WARPWRIGHT_COMPLEX(complex, type, f, make, root)                                                     \
    WARPWRIGHT_BOTH type cuCreal##f(complex a) {                                                             \
        return a.x;                                                                                          \
    }                                                                                                        \
    WARPWRIGHT_BOTH type cuCimag##f(complex a) {                                                             \
        return a.y;                                                                                          \
    }                                                                                                        \
    WARPWRIGHT_BOTH complex cuConj##f(complex a) {                                                           \
        return make(a.x, -a.y);                                                                              \
    }                                                                                                        \
    WARPWRIGHT_BOTH complex cuCadd##f(complex a, complex b) {                                                \
        return make(a.x + b.x, a.y + b.y);                                                                   \
    }                                                                                                        \
    WARPWRIGHT_BOTH complex cuCsub##f(complex a, complex b) {                                                \
        return make(a.x - b.x, a.y - b.y);                                                                   \
    }                                                                                                        \
    WARPWRIGHT_BOTH complex cuCmul##f(complex a, complex b) {                                                \
        return make(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);                                           \
    }                                                                                                        \
    /* Scaled, so that no square over- or underflows. */                                                     \
    WARPWRIGHT_BOTH complex cuCdiv##f(complex a, complex b) {                                                \
        type scale = (type)1 / ((b.x < 0 ? -b.x : b.x) + (b.y < 0 ? -b.y : b.y));                            \
        type ax = a.x * scale, ay = a.y * scale, bx = b.x * scale, by = b.y * scale;                         \
        type over = (type)1 / (bx * bx + by * by);                                                           \
        return make((ax * bx + ay * by) * over, (ay * bx - ax * by) * over);                                 \
    }                                                                                                        \
    WARPWRIGHT_BOTH type cuCabs##f(complex a) {                                                              \
        type x = a.x < 0 ? -a.x : a.x, y = a.y < 0 ? -a.y : a.y, large = x < y ? y : x,                      \
             small = x < y ? x : y;                                                                          \
        if (large == 0 || large - large != 0) return x + y;                                                  \
        small /= large;                                                                                      \
        return large * root(1 + small * small);                                                              \
    }                                                                                                        \
    WARPWRIGHT_BOTH complex cuCfma##f(complex a, complex b, complex c) {                                     \
        return make(a.x * b.x - a.y * b.y + c.x, a.x * b.y + a.y * b.x + c.y);                               \
    }

WARPWRIGHT_BOTH cuFloatComplex make_cuFloatComplex(float real, float imaginary) {
    return make_float2(real, imaginary);
}
WARPWRIGHT_BOTH cuDoubleComplex make_cuDoubleComplex(double real, double imaginary) {
    return make_double2(real, imaginary);
}
WARPWRIGHT_BOTH cuComplex make_cuComplex(float real, float imaginary) {
    return make_float2(real, imaginary);
}

WARPWRIGHT_COMPLEX(cuFloatComplex, float, f, make_cuFloatComplex, sqrtf)
WARPWRIGHT_COMPLEX(cuDoubleComplex, double, , make_cuDoubleComplex, sqrt)
#undef WARPWRIGHT_COMPLEX

WARPWRIGHT_BOTH cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex a) {
    return make_double2(a.x, a.y);
}
WARPWRIGHT_BOTH cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex a) {
    return make_float2((float)a.x, (float)a.y);
}

#undef WARPWRIGHT_BOTH

#endif
