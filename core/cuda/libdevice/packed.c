// Two 16-bit or four 8-bit numbers in a word, each computed by itself.
#include "base.h"

INLINE int part(int word, int bits, int i, int is_signed) {
    uint shifted = (uint)word << (32 - bits * (i + 1));
    return is_signed ? (int)shifted >> (32 - bits) : (int)(shifted >> (32 - bits));
}

INLINE int clamp(int x, int lowest, int highest) {
    return x < lowest ? lowest : x > highest ? highest : x;
}

INLINE int saturate_signed(int x, int bits) {
    return clamp(x, -(1 << (bits - 1)), (1 << (bits - 1)) - 1);
}

INLINE int saturate_unsigned(int x, int bits) {
    return clamp(x, 0, (1 << bits) - 1);
}

INLINE int absolute(int x) {
    return x < 0 ? -x : x;
}

// __nv_vNAME2 and __nv_vNAME4: `result` of each part as a and b.
#define PACKED(name, bits, count, is_signed, parameters, b_word, result)                                     \
    EXPORT int __nv_v##name##count parameters {                                                              \
        uint word = 0;                                                                                       \
        for (int i = 0; i < count; i++) {                                                                    \
            int a = part(x, bits, i, is_signed);                                                             \
            int b = part(b_word, bits, i, is_signed);                                                        \
            (void)b;                                                                                         \
            word |= ((uint)(result) & ((1u << bits) - 1)) << (bits * i);                                     \
        }                                                                                                    \
        return (int)word;                                                                                    \
    }
#define UNARY(name, is_signed, result2, result4)                                                             \
    PACKED(name, 16, 2, is_signed, (int x), 0, result2)                                                      \
    PACKED(name, 8, 4, is_signed, (int x), 0, result4)
#define BINARY_BY(name, is_signed, result2, result4)                                                         \
    PACKED(name, 16, 2, is_signed, (int x, int y), y, result2)                                               \
    PACKED(name, 8, 4, is_signed, (int x, int y), y, result4)
#define BINARY(name, is_signed, result) BINARY_BY(name, is_signed, result, result)

UNARY(abs, 1, absolute(a), absolute(a))
UNARY(absss, 1, saturate_signed(absolute(a), 16), saturate_signed(absolute(a), 8))
UNARY(neg, 1, -a, -a)
UNARY(negss, 1, saturate_signed(-a, 16), saturate_signed(-a, 8))

BINARY(add, 0, a + b)
BINARY_BY(addss, 1, saturate_signed(a + b, 16), saturate_signed(a + b, 8))
BINARY_BY(addus, 0, saturate_unsigned(a + b, 16), saturate_unsigned(a + b, 8))
BINARY(sub, 0, a - b)
BINARY_BY(subss, 1, saturate_signed(a - b, 16), saturate_signed(a - b, 8))
BINARY_BY(subus, 0, saturate_unsigned(a - b, 16), saturate_unsigned(a - b, 8))
BINARY(absdiffs, 1, absolute(a - b))
BINARY(absdiffu, 0, absolute(a - b))
BINARY(avgs, 1, (a + b + (a + b >= 0)) >> 1) // halves go away from zero
BINARY(avgu, 0, (a + b + 1) >> 1)
BINARY(haddu, 0, (a + b) >> 1)
BINARY(maxs, 1, a > b ? a : b)
BINARY(maxu, 0, a > b ? a : b)
BINARY(mins, 1, a < b ? a : b)
BINARY(minu, 0, a < b ? a : b)

// cmp gives all bits, set the number 1.
#define COMPARISON(name, is_signed, condition)                                                               \
    BINARY(cmp##name, is_signed, -(a condition b))                                                           \
    BINARY(set##name, is_signed, a condition b)
COMPARISON(eq, 0, ==)
COMPARISON(ne, 0, !=)
COMPARISON(ges, 1, >=)
COMPARISON(geu, 0, >=)
COMPARISON(gts, 1, >)
COMPARISON(gtu, 0, >)
COMPARISON(les, 1, <=)
COMPARISON(leu, 0, <=)
COMPARISON(lts, 1, <)
COMPARISON(ltu, 0, <)

#define SUM_OF_DIFFERENCES(name, bits, count, is_signed)                                                     \
    EXPORT int __nv_vsad##name##count(int x, int y) {                                                        \
        int sum = 0;                                                                                         \
        for (int i = 0; i < count; i++)                                                                      \
            sum += absolute(part(x, bits, i, is_signed) - part(y, bits, i, is_signed));                      \
        return sum;                                                                                          \
    }
SUM_OF_DIFFERENCES(s, 16, 2, 1)
SUM_OF_DIFFERENCES(s, 8, 4, 1)
SUM_OF_DIFFERENCES(u, 16, 2, 0)
SUM_OF_DIFFERENCES(u, 8, 4, 0)
