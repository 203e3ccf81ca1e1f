/* Numbers of 4 bits of the OCP specification: E2M1, without infinities and NaN. */
#ifndef __CUDA_FP4_H__
#define __CUDA_FP4_H__

#include "cuda_fp8.h"

typedef unsigned char __nv_fp4_storage_t;
typedef unsigned char __nv_fp4x2_storage_t;
typedef unsigned short __nv_fp4x4_storage_t;

typedef enum __nv_fp4_interpretation_t { __NV_E2M1 } __nv_fp4_interpretation_t;

#if defined(__cplusplus) && __cplusplus >= 201103L

#define WARPWRIGHT_BOTH static __host__ __device__ __forceinline__ __attribute__((unused))

/* What is too large, and NaN, becomes the largest number. */
WARPWRIGHT_BOTH __nv_fp4_storage_t __nv_cvt_float_to_fp4(const float x, const __nv_fp4_interpretation_t,
                                                         const enum cudaRoundMode mode) {
    const __warpwright_rounding rounding = mode == cudaRoundNearest  ? __warpwright_rn
                                           : mode == cudaRoundZero   ? __warpwright_rz
                                           : mode == cudaRoundPosInf ? __warpwright_ru
                                                                     : __warpwright_rd;
    unsigned bits;
    memcpy(&bits, &x, sizeof bits);
    if ((bits & 0x7fffffff) > 0x7f800000) return 7;
    unsigned magnitude = (bits & 0x7fffffff) == 0x7f800000 ? 7 : __warpwright_magnitude<2, 1>(x, rounding);
    return (__nv_fp4_storage_t)(bits >> 31 << 3 | (magnitude < 7 ? magnitude : 7));
}

/* half has all its numbers times 2^-14. */
WARPWRIGHT_BOTH float __warpwright_decode_fp4(const __nv_fp4_storage_t x) {
    return __warpwright_decode_half((unsigned short)((x & 8) << 12 | (x & 7) << 9)) * 16384.0f;
}

#define WARPWRIGHT_ARGUMENTS const __nv_fp4_interpretation_t interpretation, const enum cudaRoundMode rounding

WARPWRIGHT_BOTH __nv_fp4_storage_t __nv_cvt_double_to_fp4(const double x, WARPWRIGHT_ARGUMENTS) {
    return __nv_cvt_float_to_fp4(__warpwright_odd_float(x), interpretation, rounding);
}
WARPWRIGHT_BOTH __nv_fp4_storage_t __nv_cvt_halfraw_to_fp4(const __half_raw x, WARPWRIGHT_ARGUMENTS) {
    return __nv_cvt_float_to_fp4(__half2float(__half(x)), interpretation, rounding);
}
WARPWRIGHT_BOTH __nv_fp4_storage_t __nv_cvt_bfloat16raw_to_fp4(const __nv_bfloat16_raw x,
                                                               WARPWRIGHT_ARGUMENTS) {
    return __nv_cvt_float_to_fp4(__bfloat162float(__nv_bfloat16(x)), interpretation, rounding);
}
#define WARPWRIGHT_TWO(one)                                                                                  \
    (__nv_fp4x2_storage_t)(one(x.x, interpretation, rounding) | one(x.y, interpretation, rounding) << 4)
WARPWRIGHT_BOTH __nv_fp4x2_storage_t __nv_cvt_float2_to_fp4x2(const float2 x, WARPWRIGHT_ARGUMENTS) {
    return WARPWRIGHT_TWO(__nv_cvt_float_to_fp4);
}
WARPWRIGHT_BOTH __nv_fp4x2_storage_t __nv_cvt_double2_to_fp4x2(const double2 x, WARPWRIGHT_ARGUMENTS) {
    return WARPWRIGHT_TWO(__nv_cvt_double_to_fp4);
}
WARPWRIGHT_BOTH __nv_fp4x2_storage_t __nv_cvt_halfraw2_to_fp4x2(const __half2_raw x, WARPWRIGHT_ARGUMENTS) {
    return __nv_cvt_float2_to_fp4x2(__half22float2(__half2(x)), interpretation, rounding);
}
WARPWRIGHT_BOTH __nv_fp4x2_storage_t __nv_cvt_bfloat16raw2_to_fp4x2(const __nv_bfloat162_raw x,
                                                                    WARPWRIGHT_ARGUMENTS) {
    return __nv_cvt_float2_to_fp4x2(__bfloat1622float2(__nv_bfloat162(x)), interpretation, rounding);
}
#undef WARPWRIGHT_TWO
#undef WARPWRIGHT_ARGUMENTS
WARPWRIGHT_BOTH __half_raw __nv_cvt_fp4_to_halfraw(const __nv_fp4_storage_t x,
                                                   const __nv_fp4_interpretation_t) {
    return __half(__warpwright_decode_fp4(x));
}
WARPWRIGHT_BOTH __half2_raw __nv_cvt_fp4x2_to_halfraw2(const __nv_fp4x2_storage_t x,
                                                       const __nv_fp4_interpretation_t) {
    return __half2(__half(__warpwright_decode_fp4(x)),
                   __half(__warpwright_decode_fp4((__nv_fp4_storage_t)(x >> 4))));
}
#undef WARPWRIGHT_BOTH

#define WARPWRIGHT_STORAGE(count) __nv_fp4##count##_storage_t
#define WARPWRIGHT_BITS_OF_ONE    4
#define WARPWRIGHT_NAME(count)    __nv_fp4##count##_e2m1
#define WARPWRIGHT_ENCODE(value)  __nv_cvt_float_to_fp4(value, __NV_E2M1, cudaRoundNearest)
#define WARPWRIGHT_DECODE(code)   __warpwright_decode_fp4(code)
#include "warpwright/small_number_types.h"
#undef WARPWRIGHT_STORAGE
#undef WARPWRIGHT_BITS_OF_ONE

#endif
#endif
