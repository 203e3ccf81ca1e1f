/* Division of integers of 128 bits, and conversions between them and floating point, for which clang 14 calls functions that
 * the device has not. Where device code needs such, the driver includes this file and calls these. */
#ifdef __CUDA_ARCH__

#define WARPWRIGHT_DEVICE static inline __attribute__((device, always_inline))
#define WARPWRIGHT_CALLED extern "C" __attribute__((device, weak, noinline))

/* The quotient of 128 bits by 64, where `high` is less than the divisor: digits of 32 bits, each estimated and corrected
 * twice at most. */
WARPWRIGHT_DEVICE unsigned long long __warpwright_divide_by_word(unsigned long long high,
                                                                 unsigned long long low,
                                                                 unsigned long long divisor,
                                                                 unsigned long long *rest) {
    int shift = __builtin_clzll(divisor);
    divisor <<= shift;
    if (shift) high = high << shift | low >> (64 - shift);
    low <<= shift;
    unsigned long long top = divisor >> 32, bottom = divisor & 0xffffffff, quotient = 0;
    for (int i = 0; i < 2; i++) {
        unsigned long long next = low >> 32, digit = high / top, left = high % top;
        low <<= 32;
        while (digit >> 32 || digit * bottom > (left << 32 | next)) {
            digit--;
            left += top;
            if (left >> 32) break;
        }
        high = (high << 32 | next) - digit * divisor;
        quotient = quotient << 32 | digit;
    }
    *rest = high >> shift;
    return quotient;
}

WARPWRIGHT_CALLED unsigned __int128 __warpwright_divide_wide(unsigned __int128 a, unsigned __int128 b,
                                                             int wants_rest) {
    unsigned long long high = (unsigned long long)(a >> 64), rest;
    unsigned __int128 quotient;
    if (!(b >> 64)) {
        unsigned long long divisor = (unsigned long long)b;
        unsigned long long first = high / divisor, second = __warpwright_divide_by_word(
                                                       high % divisor, (unsigned long long)a, divisor, &rest);
        return wants_rest ? rest : (unsigned __int128)first << 64 | second;
    }
    /* The highest 64 bits of the divisor give a quotient that is at most one too large, before it is made one less. */
    int shift = __builtin_clzll((unsigned long long)(b >> 64));
    unsigned __int128 half = a >> 1;
    unsigned long long estimate = __warpwright_divide_by_word((unsigned long long)(half >> 64),
                                                              (unsigned long long)half,
                                                              (unsigned long long)(b << shift >> 64), &rest);
    quotient = (unsigned __int128)estimate << shift >> 63;
    if (quotient) quotient--;
    unsigned __int128 left = a - quotient * b;
    if (left >= b) {
        quotient++;
        left -= b;
    }
    return wants_rest ? left : quotient;
}

WARPWRIGHT_CALLED unsigned __int128 __warpwright_udiv_i128(unsigned __int128 a, unsigned __int128 b) {
    return __warpwright_divide_wide(a, b, 0);
}
WARPWRIGHT_CALLED unsigned __int128 __warpwright_urem_i128(unsigned __int128 a, unsigned __int128 b) {
    return __warpwright_divide_wide(a, b, 1);
}

WARPWRIGHT_DEVICE unsigned __int128 __warpwright_absolute(__int128 x) {
    return x < 0 ? -(unsigned __int128)x : (unsigned __int128)x;
}
WARPWRIGHT_CALLED __int128 __warpwright_sdiv_i128(__int128 a, __int128 b) {
    unsigned __int128 quotient = __warpwright_divide_wide(__warpwright_absolute(a), __warpwright_absolute(b),
                                                          0);
    return (__int128)((a < 0) != (b < 0) ? -quotient : quotient);
}
WARPWRIGHT_CALLED __int128 __warpwright_srem_i128(__int128 a, __int128 b) {
    unsigned __int128 rest = __warpwright_divide_wide(__warpwright_absolute(a), __warpwright_absolute(b), 1);
    return (__int128)(a < 0 ? -rest : rest);
}

/* ---- conversions, named as LLVM's instructions */

/* The 64 bits from the highest one on, the last of them set when one behind them is: these round as all do. */
#define WARPWRIGHT_FROM_WIDE(type)                                                                           \
    WARPWRIGHT_CALLED type __warpwright_uitofp_##type(unsigned __int128 a) {                                 \
        unsigned long long high = (unsigned long long)(a >> 64);                                             \
        if (!high) return (type)(unsigned long long)a;                                                       \
        int shift = __builtin_clzll(high);                                                                   \
        a <<= shift;                                                                                         \
        high = (unsigned long long)(a >> 64) | ((unsigned long long)a != 0);                                 \
        return (type)high * (type)(1ull << (63 - shift)) * 2;                                                \
    }                                                                                                        \
    WARPWRIGHT_CALLED type __warpwright_sitofp_##type(__int128 a) {                                          \
        type size = __warpwright_uitofp_##type(__warpwright_absolute(a));                                    \
        return a < 0 ? -size : size;                                                                         \
    }
WARPWRIGHT_FROM_WIDE(double)
WARPWRIGHT_FROM_WIDE(float)
#undef WARPWRIGHT_FROM_WIDE

/* As the GPU's own conversions: to the nearest integer that there is, and not a number to 0. */
WARPWRIGHT_CALLED unsigned __int128 __warpwright_fptoui_double(double x) {
    if (!(x >= 1)) return 0;
    if (x >= 0x1p128) return ~(unsigned __int128)0;
    unsigned long long bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    int shift = (int)(bits >> 52) - 1075;
    unsigned __int128 whole = (bits & 0xfffffffffffff) | 1ull << 52;
    return shift < 0 ? whole >> -shift : whole << shift;
}
WARPWRIGHT_CALLED __int128 __warpwright_fptosi_double(double x) {
    unsigned __int128 smallest = (unsigned __int128)1 << 127;
    if (x >= 0x1p127) return (__int128)(smallest - 1);
    if (x <= -0x1p127) return (__int128)smallest;
    unsigned __int128 size = __warpwright_fptoui_double(x < 0 ? -x : x);
    return (__int128)(x < 0 ? -size : size);
}
WARPWRIGHT_CALLED unsigned __int128 __warpwright_fptoui_float(float x) {
    return __warpwright_fptoui_double(x);
}
WARPWRIGHT_CALLED __int128 __warpwright_fptosi_float(float x) {
    return __warpwright_fptosi_double(x);
}

#undef WARPWRIGHT_DEVICE
#undef WARPWRIGHT_CALLED

#endif
