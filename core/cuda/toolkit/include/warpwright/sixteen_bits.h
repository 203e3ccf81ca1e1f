/* Rounding to floating-point numbers of 16 bits, for host and device. */
#ifndef WARPWRIGHT_SIXTEEN_BITS_H
#define WARPWRIGHT_SIXTEEN_BITS_H

#include <math.h>
#include <string.h>

#define WARPWRIGHT_BOTH static __host__ __device__ __inline__ __attribute__((unused))

enum __warpwright_rounding { __warpwright_rn, __warpwright_rz, __warpwright_rd, __warpwright_ru };

/* The code of the rounded magnitude of a finite number, where no exponent is too large: fewer bits than float has. */
template <int exponent_bits, int fraction_bits>
WARPWRIGHT_BOTH unsigned __warpwright_magnitude(float value, __warpwright_rounding rounding) {
    unsigned bits;
    memcpy(&bits, &value, sizeof bits);
    unsigned sign = bits >> 31, size = bits & 0x7fffffff;
    unsigned significand = size >> 23 ? (size & 0x7fffff) | 0x800000 : size;
    int exponent = (int)(size >> 23 ? size >> 23 : 1) - 127 + (1 << (exponent_bits - 1)) - 1;
    int dropped = 23 - fraction_bits;
    if (exponent <= 0) {
        dropped = dropped + 1 - exponent < 31 ? dropped + 1 - exponent : 31;
        exponent = 1;
    }
    unsigned rest = significand & ((1u << dropped) - 1), half = 1u << (dropped - 1);
    unsigned result = significand >> dropped;
    bool up = rounding == __warpwright_rn   ? rest > half || (rest == half && (result & 1))
              : rounding == __warpwright_rd ? sign && rest
              : rounding == __warpwright_ru ? !sign && rest
                                            : false;
    return result + up + ((unsigned)(exponent - 1) << fraction_bits);
}

/* Every NaN becomes 0x7fff. */
template <int exponent_bits, int fraction_bits>
WARPWRIGHT_BOTH unsigned short __warpwright_narrow(float value, __warpwright_rounding rounding) {
    const unsigned infinity = ((1u << exponent_bits) - 1) << fraction_bits;
    unsigned bits;
    memcpy(&bits, &value, sizeof bits);
    unsigned sign = bits >> 31, size = bits & 0x7fffffff;
    if (size > 0x7f800000) return 0x7fff;
    if (size == 0x7f800000) return (unsigned short)(sign << 15 | infinity);
    unsigned result = __warpwright_magnitude<exponent_bits, fraction_bits>(value, rounding);
    if (result >= infinity) {
        bool inwards = rounding == __warpwright_rz || (rounding == __warpwright_rd && !sign) ||
                       (rounding == __warpwright_ru && sign);
        result = inwards ? infinity - 1 : infinity;
    }
    return (unsigned short)(sign << 15 | result);
}

/* A float that rounds to 16 bits as `value` does: what it loses is in its last bit. */
WARPWRIGHT_BOTH float __warpwright_odd_float(double value) {
    float result = (float)value;
    if ((double)result == value || value != value || result - result != 0) {
        if (value == value && value - value == 0 && result - result != 0)
            return value < 0 ? -3.4e38f : 3.4e38f;
        return result;
    }
    unsigned bits;
    memcpy(&bits, &result, sizeof bits);
    if (__builtin_fabs((double)result) > __builtin_fabs(value)) bits--;
    bits |= 1;
    memcpy(&result, &bits, sizeof bits);
    return result;
}

/* a * b + c of numbers of 16 bits, as a double with what it loses in its last bit. */
WARPWRIGHT_BOTH double __warpwright_odd_fma(float a, float b, float c) {
    double product = (double)a * (double)b, sum = product + (double)c;
    double back = sum - product, lost = (product - (sum - back)) + ((double)c - back);
    if (!(lost != 0) || sum - sum != 0) return sum;
    unsigned long long bits;
    memcpy(&bits, &sum, sizeof bits);
    if ((lost < 0) != (sum < 0)) bits--;
    bits |= 1;
    memcpy(&sum, &bits, sizeof bits);
    return sum;
}

/* The same for integers, of which float and double cannot hold all. */
WARPWRIGHT_BOTH float __warpwright_odd_float(unsigned long long value) {
    unsigned lost = 0;
    int scale = 0;
    for (; value >> 24; scale++) {
        lost |= value & 1;
        value >>= 1;
    }
    float result = (float)(value | lost);
    for (; scale > 0; scale--)
        result *= 2;
    return result;
}
WARPWRIGHT_BOTH float __warpwright_odd_float(long long value) {
    return value < 0 ? -__warpwright_odd_float(0ull - (unsigned long long)value)
                     : __warpwright_odd_float((unsigned long long)value);
}

/* As cvt does: what is out of range becomes the nearest integer, NaN 0, or for 64 bits the highest bit alone. */
template <class Integer>
WARPWRIGHT_BOTH Integer __warpwright_integer(float value, __warpwright_rounding rounding) {
    const bool is_signed = (Integer)-1 < (Integer)0;
    const int bits = (int)sizeof(Integer) * 8;
    const Integer lowest = is_signed ? (Integer)(1ull << (bits - 1)) : 0, highest = (Integer)~lowest;
    if (value != value) return bits == 64 ? (Integer)(1ull << 63) : 0;
    value = rounding == __warpwright_rn   ? __builtin_rintf(value)
            : rounding == __warpwright_rd ? __builtin_floorf(value)
            : rounding == __warpwright_ru ? __builtin_ceilf(value)
                                          : __builtin_truncf(value);
    if (value >= (float)highest) return highest;
    if (value <= (float)lowest) return lowest;
    return (Integer)value;
}

/* By the instruction, where the device has it. */
WARPWRIGHT_BOTH float __warpwright_tanh(float value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 750
    float result;
    asm("tanh.approx.f32 %0, %1;" : "=f"(result) : "f"(value));
    return result;
#else
    return tanhf(value);
#endif
}

#undef WARPWRIGHT_BOTH

#endif
