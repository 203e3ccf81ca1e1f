/* Numbers of 16 bits with the exponent of float: bfloat16. */
#ifndef __CUDA_BF16_H__
#define __CUDA_BF16_H__

#include "cuda_runtime.h"

#ifdef __cplusplus

#include "warpwright/sixteen_bits.h"

#define WARPWRIGHT_NUMBER              __nv_bfloat16
#define WARPWRIGHT_PAIR                __nv_bfloat162
#define WARPWRIGHT_RAW                 __nv_bfloat16_raw
#define WARPWRIGHT_RAW_PAIR            __nv_bfloat162_raw
#define WARPWRIGHT_NAME(before, after) before##bfloat16##after
#define WARPWRIGHT_TWICE_NAMED         __bfloat162bfloat162
#define WARPWRIGHT_ENCODE              __warpwright_encode_bfloat16
#define WARPWRIGHT_DECODE              __warpwright_decode_bfloat16

static __host__ __device__ __forceinline__ unsigned short
__warpwright_encode_bfloat16(float value, __warpwright_rounding rounding) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    if (rounding == __warpwright_rn) {
        unsigned short bits;
        asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
        return bits;
    }
#endif
    return __warpwright_narrow<8, 7>(value, rounding);
}

static __host__ __device__ __forceinline__ float __warpwright_decode_bfloat16(unsigned short bits) {
    unsigned wide = (unsigned)bits << 16;
    float result;
    memcpy(&result, &wide, sizeof result);
    return result;
}

#include "warpwright/sixteen_bit_types.h"

typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

/* Compute capability 8.0 has but the multiply-add: with 1, -1 and -0. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define WARPWRIGHT_NATIVE
#define WARPWRIGHT_WITH(pair, register, constant, operands)                                                  \
    "{\n\t.reg ." register " c;\n\tmov." register " c, " constant ";\n\tfma.rn.bf16" pair " %0, " operands   \
                                                  ";\n\t}"
#define WARPWRIGHT_ADD(pair, register, digits) WARPWRIGHT_WITH(pair, register, digits("3F80"), "%1, c, %2")
#define WARPWRIGHT_SUB(pair, register, digits) WARPWRIGHT_WITH(pair, register, digits("BF80"), "%2, c, %1")
#define WARPWRIGHT_MUL(pair, register, digits) WARPWRIGHT_WITH(pair, register, digits("8000"), "%1, %2, c")
#define WARPWRIGHT_FMA(pair)                   "fma.rn.bf16" pair " %0, %1, %2, %3;"
#endif

#include "warpwright/sixteen_bit_functions.h"

#include "warpwright/sixteen_bit_accesses.h"

#include "warpwright/sixteen_bit_end.h"

#define CUDART_INF_BF16        __ushort_as_bfloat16((unsigned short)0x7F80U)
#define CUDART_NAN_BF16        __ushort_as_bfloat16((unsigned short)0x7FFFU)
#define CUDART_MIN_DENORM_BF16 __ushort_as_bfloat16((unsigned short)0x0001U)
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16((unsigned short)0x7F7FU)
#define CUDART_NEG_ZERO_BF16   __ushort_as_bfloat16((unsigned short)0x8000U)
#define CUDART_ZERO_BF16       __ushort_as_bfloat16((unsigned short)0x0000U)
#define CUDART_ONE_BF16        __ushort_as_bfloat16((unsigned short)0x3F80U)

#endif
#endif
