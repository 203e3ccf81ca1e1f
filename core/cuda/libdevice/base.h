// What all files of the device library share: attributes, bits of numbers, and what the compiler may not combine.
//
// The library is compiled for no architecture in particular. A caller's compiler decides whether float arithmetic
// flushes subnormals to zero; where an instruction has a name of its own for that, FLUSHES asks __nvvm_reflect(), which
// the compiler answers before it makes code. As it also turns `a * b + c` into one fused operation wherever it likes,
// products that must be rounded are written mul_rn(a, b), and fused ones FMA(a, b, c).
#pragma once

#define INLINE static inline __attribute__((always_inline, unused))
#define EXPORT __attribute__((always_inline)) // inlined even by -O0, as programs' fast paths rely on it
#define LARGE  __attribute__((noinline))      // called rarely, or too long to be copied to each place of use
#define TABLE  static const __attribute__((address_space(4)))

typedef unsigned int uint;
typedef unsigned long long u64;
typedef long long i64;
typedef unsigned short u16;

// Its name becomes __nvvm_reflect when this library is optimised: under that name it would be answered before.
int reflect_later(const char *question) __attribute__((const));
#define FLUSHES reflect_later("__CUDA_FTZ")

INLINE uint bits_of_float(float x) {
    return __builtin_bit_cast(uint, x);
}

INLINE float float_of_bits(uint bits) {
    return __builtin_bit_cast(float, bits);
}

INLINE u64 bits_of_double(double x) {
    return __builtin_bit_cast(u64, x);
}

INLINE double double_of_bits(u64 bits) {
    return __builtin_bit_cast(double, bits);
}
