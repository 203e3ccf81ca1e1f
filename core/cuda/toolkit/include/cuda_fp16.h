/* Numbers of 16 bits: IEEE's binary16. */
#ifndef __CUDA_FP16_H__
#define __CUDA_FP16_H__

#include "cuda_runtime.h"

#ifdef __cplusplus

#include "warpwright/sixteen_bits.h"

#define WARPWRIGHT_NUMBER              __half
#define WARPWRIGHT_PAIR                __half2
#define WARPWRIGHT_RAW                 __half_raw
#define WARPWRIGHT_RAW_PAIR            __half2_raw
#define WARPWRIGHT_NAME(before, after) before##half##after
#define WARPWRIGHT_TWICE_NAMED         __half2half2
#define WARPWRIGHT_ENCODE              __warpwright_encode_half
#define WARPWRIGHT_DECODE              __warpwright_decode_half

static __host__ __device__ __forceinline__ unsigned short
__warpwright_encode_half(float value, __warpwright_rounding rounding) {
#ifdef __CUDA_ARCH__
    if (rounding == __warpwright_rn) {
        unsigned short bits;
        asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
        return bits;
    }
#endif
    return __warpwright_narrow<5, 10>(value, rounding);
}

static __host__ __device__ __forceinline__ float __warpwright_decode_half(unsigned short bits) {
    float result;
#ifdef __CUDA_ARCH__
    asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(bits));
#else
    unsigned exponent = bits >> 10 & 31, fraction = bits & 1023;
    if (exponent == 31) {
        unsigned wide = (bits & 0x8000u) << 16 | 0x7f800000 | fraction << 13;
        memcpy(&result, &wide, sizeof result);
        return result;
    }
    result = exponent ? ldexpf((float)(fraction + 1024), (int)exponent - 25) : ldexpf((float)fraction, -24);
    if (bits >> 15) result = -result;
#endif
    return result;
}

#include "warpwright/sixteen_bit_types.h"

typedef __half half;
typedef __half2 half2;
typedef __half __nv_half;
typedef __half2 __nv_half2;
typedef __half nv_half;
typedef __half2 nv_half2;

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 530
#define WARPWRIGHT_NATIVE
#define WARPWRIGHT_ADD(pair, register, digits) "add.f16" pair " %0, %1, %2;"
#define WARPWRIGHT_SUB(pair, register, digits) "sub.f16" pair " %0, %1, %2;"
#define WARPWRIGHT_MUL(pair, register, digits) "mul.f16" pair " %0, %1, %2;"
#define WARPWRIGHT_FMA(pair)                   "fma.rn.f16" pair " %0, %1, %2, %3;"
#endif

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 600
#define WARPWRIGHT_ATOMIC_ADD_PAIR "atom.add.noftz.f16x2 %0, [%1], %2;"
#endif
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
#define WARPWRIGHT_ATOMIC_ADD "atom.add.noftz.f16 %0, [%1], %2;"
#endif

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 750
#define WARPWRIGHT_TANH(pair) "tanh.approx.f16" pair " %0, %1;"
#endif

#include "warpwright/sixteen_bit_functions.h"

#include "warpwright/sixteen_bit_accesses.h"

#include "warpwright/sixteen_bit_end.h"

#define CUDART_INF_FP16        __ushort_as_half((unsigned short)0x7C00U)
#define CUDART_NAN_FP16        __ushort_as_half((unsigned short)0x7FFFU)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half((unsigned short)0x0001U)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half((unsigned short)0x7BFFU)
#define CUDART_NEG_ZERO_FP16   __ushort_as_half((unsigned short)0x8000U)
#define CUDART_ZERO_FP16       __ushort_as_half((unsigned short)0x0000U)
#define CUDART_ONE_FP16        __ushort_as_half((unsigned short)0x3C00U)

#endif
#endif
