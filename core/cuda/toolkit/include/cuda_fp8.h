/* Numbers of 8 bits of the OCP specification: E4M3, without infinities, and E5M2. */
#ifndef __CUDA_FP8_H__
#define __CUDA_FP8_H__

#include "cuda_bf16.h"
#include "cuda_fp16.h"

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;

/* What is too large: E5M2's infinity and E4M3's NaN, or the largest number. */
typedef enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE } __nv_saturation_t;
typedef enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 } __nv_fp8_interpretation_t;

#if defined(__cplusplus) && __cplusplus >= 201103L

#define WARPWRIGHT_BOTH static __host__ __device__ __forceinline__ __attribute__((unused))

/* ---- codes and float */

WARPWRIGHT_BOTH __nv_fp8_storage_t __nv_cvt_float_to_fp8(const float x, const __nv_saturation_t saturate,
                                                         const __nv_fp8_interpretation_t interpretation) {
    const bool is_e4m3 = interpretation == __NV_E4M3;
    unsigned bits, magnitude;
    memcpy(&bits, &x, sizeof bits);
    if ((bits & 0x7fffffff) > 0x7f800000) return 0x7f;
    const unsigned largest = is_e4m3 ? 0x7e : 0x7b;
    magnitude = (bits & 0x7fffffff) == 0x7f800000 ? largest + 1
                : is_e4m3                         ? __warpwright_magnitude<4, 3>(x, __warpwright_rn)
                                                  : __warpwright_magnitude<5, 2>(x, __warpwright_rn);
    if (magnitude > largest) magnitude = largest + (saturate == __NV_NOSAT);
    return (__nv_fp8_storage_t)(bits >> 31 << 7 | magnitude);
}

/* half has E5M2's exponents, and all numbers of E4M3 times 2^-8. */
WARPWRIGHT_BOTH float __warpwright_decode_fp8(const __nv_fp8_storage_t x,
                                              const __nv_fp8_interpretation_t interpretation) {
    if (interpretation == __NV_E5M2) return __warpwright_decode_half((unsigned short)(x << 8));
    unsigned short half = (unsigned short)((x & 0x80) << 8 | (x & 0x7f) << 7);
    return __warpwright_decode_half((x & 0x7f) == 0x7f ? (unsigned short)0x7fff : half) * 256.0f;
}

/* ---- conversions by name */

#define WARPWRIGHT_ARGUMENTS const __nv_saturation_t saturate, const __nv_fp8_interpretation_t interpretation

WARPWRIGHT_BOTH __nv_fp8_storage_t __nv_cvt_double_to_fp8(const double x, WARPWRIGHT_ARGUMENTS) {
    return __nv_cvt_float_to_fp8(__warpwright_odd_float(x), saturate, interpretation);
}
WARPWRIGHT_BOTH __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(const __half_raw x, WARPWRIGHT_ARGUMENTS) {
    return __nv_cvt_float_to_fp8(__half2float(__half(x)), saturate, interpretation);
}
WARPWRIGHT_BOTH __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(const __nv_bfloat16_raw x,
                                                               WARPWRIGHT_ARGUMENTS) {
    return __nv_cvt_float_to_fp8(__bfloat162float(__nv_bfloat16(x)), saturate, interpretation);
}
#define WARPWRIGHT_TWO(one)                                                                                  \
    (__nv_fp8x2_storage_t)(one(x.x, saturate, interpretation) | one(x.y, saturate, interpretation) << 8)
WARPWRIGHT_BOTH __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(const float2 x, WARPWRIGHT_ARGUMENTS) {
    return WARPWRIGHT_TWO(__nv_cvt_float_to_fp8);
}
WARPWRIGHT_BOTH __nv_fp8x2_storage_t __nv_cvt_double2_to_fp8x2(const double2 x, WARPWRIGHT_ARGUMENTS) {
    return WARPWRIGHT_TWO(__nv_cvt_double_to_fp8);
}
WARPWRIGHT_BOTH __nv_fp8x2_storage_t __nv_cvt_halfraw2_to_fp8x2(const __half2_raw x, WARPWRIGHT_ARGUMENTS) {
    return __nv_cvt_float2_to_fp8x2(__half22float2(__half2(x)), saturate, interpretation);
}
WARPWRIGHT_BOTH __nv_fp8x2_storage_t __nv_cvt_bfloat16raw2_to_fp8x2(const __nv_bfloat162_raw x,
                                                                    WARPWRIGHT_ARGUMENTS) {
    return __nv_cvt_float2_to_fp8x2(__bfloat1622float2(__nv_bfloat162(x)), saturate, interpretation);
}
#undef WARPWRIGHT_TWO
#undef WARPWRIGHT_ARGUMENTS
WARPWRIGHT_BOTH __half_raw __nv_cvt_fp8_to_halfraw(const __nv_fp8_storage_t x,
                                                   const __nv_fp8_interpretation_t interpretation) {
    return __half(__warpwright_decode_fp8(x, interpretation));
}
WARPWRIGHT_BOTH __half2_raw __nv_cvt_fp8x2_to_halfraw2(const __nv_fp8x2_storage_t x,
                                                       const __nv_fp8_interpretation_t interpretation) {
    return __half2(__half(__nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)x, interpretation)),
                   __half(__nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)(x >> 8), interpretation)));
}
#undef WARPWRIGHT_BOTH

/* ---- types */

#define WARPWRIGHT_STORAGE(count) __nv_fp8##count##_storage_t
#define WARPWRIGHT_BITS_OF_ONE    8

#define WARPWRIGHT_NAME(count)   __nv_fp8##count##_e4m3
#define WARPWRIGHT_ENCODE(value) __nv_cvt_float_to_fp8(value, __NV_SATFINITE, __NV_E4M3)
#define WARPWRIGHT_DECODE(code)  __warpwright_decode_fp8(code, __NV_E4M3)
#include "warpwright/small_number_types.h"

#define WARPWRIGHT_NAME(count)   __nv_fp8##count##_e5m2
#define WARPWRIGHT_ENCODE(value) __nv_cvt_float_to_fp8(value, __NV_SATFINITE, __NV_E5M2)
#define WARPWRIGHT_DECODE(code)  __warpwright_decode_fp8(code, __NV_E5M2)
#include "warpwright/small_number_types.h"

#undef WARPWRIGHT_STORAGE
#undef WARPWRIGHT_BITS_OF_ONE

#endif
#endif
