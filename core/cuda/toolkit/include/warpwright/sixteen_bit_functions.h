/* Arithmetic, comparisons and functions of numbers of 16 bits and of pairs. cuda_fp16.h and cuda_bf16.h include this
 * after sixteen_bit_types.h, with
 *   WARPWRIGHT_NATIVE        defined where the device has instructions for them, then
 *   WARPWRIGHT_ADD(pair, register, digits), _SUB, _MUL, _FMA(pair)
 *                            these instructions; `pair` is "x2" or "", digits("3F80") a constant of the register
 *   WARPWRIGHT_TANH(pair)    defined where the device has this instruction for them
 */
#define WARPWRIGHT_BOTH static __host__ __device__ __forceinline__ __attribute__((unused))

WARPWRIGHT_BOTH float __warpwright_float(WARPWRIGHT_NUMBER a) {
    return WARPWRIGHT_DECODE(a.__x);
}
WARPWRIGHT_BOTH WARPWRIGHT_NUMBER __warpwright_one(bool is_one, WARPWRIGHT_NUMBER) {
    return WARPWRIGHT_NUMBER(is_one ? 1.0f : 0.0f);
}
#define WARPWRIGHT_ONE(condition) __warpwright_one(condition, WARPWRIGHT_NUMBER())

/* ---- arithmetic. Without instructions, float's result rounds to that of 16 bits: it has more than twice the digits. */

#ifdef WARPWRIGHT_NATIVE
#define WARPWRIGHT_ONCE(digits)  "0x" digits
#define WARPWRIGHT_TWICE(digits) "0x" digits digits
#define WARPWRIGHT_BINARY(name, instruction, expression)                                                     \
    WARPWRIGHT_BOTH WARPWRIGHT_NUMBER name(WARPWRIGHT_NUMBER a, WARPWRIGHT_NUMBER b) {                       \
        WARPWRIGHT_NUMBER result;                                                                            \
        asm(instruction("", "b16", WARPWRIGHT_ONCE) : "=h"(result.__x) : "h"(a.__x), "h"(b.__x));            \
        return result;                                                                                       \
    }                                                                                                        \
    WARPWRIGHT_BOTH WARPWRIGHT_PAIR name##2(WARPWRIGHT_PAIR a, WARPWRIGHT_PAIR b) {                          \
        unsigned words[3];                                                                                   \
        memcpy(&words[0], &a, sizeof a);                                                                     \
        memcpy(&words[1], &b, sizeof b);                                                                     \
        asm(instruction("x2", "b32", WARPWRIGHT_TWICE) : "=r"(words[2]) : "r"(words[0]), "r"(words[1]));     \
        WARPWRIGHT_PAIR result;                                                                              \
        memcpy(&result, &words[2], sizeof result);                                                           \
        return result;                                                                                       \
    }
#else
#define WARPWRIGHT_BINARY(name, instruction, expression)                                                     \
    WARPWRIGHT_BOTH WARPWRIGHT_NUMBER name(WARPWRIGHT_NUMBER first, WARPWRIGHT_NUMBER second) {              \
        float a = __warpwright_float(first), b = __warpwright_float(second);                                 \
        return WARPWRIGHT_NUMBER((float)(expression));                                                       \
    }                                                                                                        \
    WARPWRIGHT_BOTH WARPWRIGHT_PAIR name##2(WARPWRIGHT_PAIR a, WARPWRIGHT_PAIR b) {                          \
        return WARPWRIGHT_PAIR(name(a.x, b.x), name(a.y, b.y));                                              \
    }
#endif
WARPWRIGHT_BINARY(__hadd, WARPWRIGHT_ADD, a + b)
WARPWRIGHT_BINARY(__hsub, WARPWRIGHT_SUB, a - b)
WARPWRIGHT_BINARY(__hmul, WARPWRIGHT_MUL, a *b)
#undef WARPWRIGHT_BINARY
#undef WARPWRIGHT_ONCE
#undef WARPWRIGHT_TWICE

WARPWRIGHT_BOTH WARPWRIGHT_NUMBER __hfma(WARPWRIGHT_NUMBER a, WARPWRIGHT_NUMBER b, WARPWRIGHT_NUMBER c) {
#ifdef WARPWRIGHT_NATIVE
    WARPWRIGHT_NUMBER result;
    asm(WARPWRIGHT_FMA("") : "=h"(result.__x) : "h"(a.__x), "h"(b.__x), "h"(c.__x));
    return result;
#else
    return WARPWRIGHT_NUMBER(
        __warpwright_odd_fma(__warpwright_float(a), __warpwright_float(b), __warpwright_float(c)));
#endif
}
WARPWRIGHT_BOTH WARPWRIGHT_PAIR __hfma2(WARPWRIGHT_PAIR a, WARPWRIGHT_PAIR b, WARPWRIGHT_PAIR c) {
#ifdef WARPWRIGHT_NATIVE
    unsigned words[4];
    memcpy(&words[0], &a, sizeof a);
    memcpy(&words[1], &b, sizeof b);
    memcpy(&words[2], &c, sizeof c);
    asm(WARPWRIGHT_FMA("x2") : "=r"(words[3]) : "r"(words[0]), "r"(words[1]), "r"(words[2]));
    WARPWRIGHT_PAIR result;
    memcpy(&result, &words[3], sizeof result);
    return result;
#else
    return WARPWRIGHT_PAIR(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y));
#endif
}

WARPWRIGHT_BOTH WARPWRIGHT_NUMBER __hdiv(WARPWRIGHT_NUMBER a, WARPWRIGHT_NUMBER b) {
    return WARPWRIGHT_NUMBER(__warpwright_float(a) / __warpwright_float(b));
}
WARPWRIGHT_BOTH WARPWRIGHT_PAIR __h2div(WARPWRIGHT_PAIR a, WARPWRIGHT_PAIR b) {
    return WARPWRIGHT_PAIR(__hdiv(a.x, b.x), __hdiv(a.y, b.y));
}
WARPWRIGHT_BOTH WARPWRIGHT_NUMBER __hneg(WARPWRIGHT_NUMBER a) {
    return WARPWRIGHT_BITS(a.__x ^ 0x8000);
}
WARPWRIGHT_BOTH WARPWRIGHT_NUMBER __habs(WARPWRIGHT_NUMBER a) {
    return WARPWRIGHT_BITS(a.__x & 0x7fff);
}

/* Between 0 and 1; NaN becomes 0. */
WARPWRIGHT_BOTH WARPWRIGHT_NUMBER __warpwright_saturate(WARPWRIGHT_NUMBER a) {
    float value = __warpwright_float(a);
    return value > 0 ? value < 1 ? a : WARPWRIGHT_NUMBER(1.0f) : WARPWRIGHT_NUMBER(0.0f);
}
/* 0 or more; NaN stays. */
WARPWRIGHT_BOTH WARPWRIGHT_NUMBER __warpwright_relu(WARPWRIGHT_NUMBER a) {
    return __warpwright_float(a) < 0 ? WARPWRIGHT_NUMBER(0.0f) : a;
}

#define WARPWRIGHT_PAIRED_1(name, single)                                                                    \
    WARPWRIGHT_BOTH WARPWRIGHT_PAIR name(WARPWRIGHT_PAIR a) {                                                \
        return WARPWRIGHT_PAIR(single(a.x), single(a.y));                                                    \
    }
#define WARPWRIGHT_PAIRED_2(name, single)                                                                    \
    WARPWRIGHT_BOTH WARPWRIGHT_PAIR name(WARPWRIGHT_PAIR a, WARPWRIGHT_PAIR b) {                             \
        return WARPWRIGHT_PAIR(single(a.x, b.x), single(a.y, b.y));                                          \
    }
#define WARPWRIGHT_DERIVED(operation)                                                                        \
    WARPWRIGHT_BOTH WARPWRIGHT_NUMBER operation##_rn(WARPWRIGHT_NUMBER a, WARPWRIGHT_NUMBER b) {             \
        return operation(a, b);                                                                              \
    }                                                                                                        \
    WARPWRIGHT_BOTH WARPWRIGHT_PAIR operation##2_rn(WARPWRIGHT_PAIR a, WARPWRIGHT_PAIR b) {                  \
        return operation##2(a, b);                                                                           \
    }                                                                                                        \
    WARPWRIGHT_BOTH WARPWRIGHT_NUMBER operation##_sat(WARPWRIGHT_NUMBER a, WARPWRIGHT_NUMBER b) {            \
        return __warpwright_saturate(operation(a, b));                                                       \
    }                                                                                                        \
    WARPWRIGHT_PAIRED_2(operation##2_sat, operation##_sat)
WARPWRIGHT_DERIVED(__hadd)
WARPWRIGHT_DERIVED(__hsub)
WARPWRIGHT_DERIVED(__hmul)
#undef WARPWRIGHT_DERIVED
WARPWRIGHT_PAIRED_1(__hneg2, __hneg)
WARPWRIGHT_PAIRED_1(__habs2, __habs)
WARPWRIGHT_BOTH WARPWRIGHT_NUMBER __hfma_sat(WARPWRIGHT_NUMBER a, WARPWRIGHT_NUMBER b, WARPWRIGHT_NUMBER c) {
    return __warpwright_saturate(__hfma(a, b, c));
}
WARPWRIGHT_BOTH WARPWRIGHT_NUMBER __hfma_relu(WARPWRIGHT_NUMBER a, WARPWRIGHT_NUMBER b, WARPWRIGHT_NUMBER c) {
    return __warpwright_relu(__hfma(a, b, c));
}
WARPWRIGHT_BOTH WARPWRIGHT_PAIR __hfma2_sat(WARPWRIGHT_PAIR a, WARPWRIGHT_PAIR b, WARPWRIGHT_PAIR c) {
    return WARPWRIGHT_PAIR(__hfma_sat(a.x, b.x, c.x), __hfma_sat(a.y, b.y, c.y));
}
WARPWRIGHT_BOTH WARPWRIGHT_PAIR __hfma2_relu(WARPWRIGHT_PAIR a, WARPWRIGHT_PAIR b, WARPWRIGHT_PAIR c) {
    return WARPWRIGHT_PAIR(__hfma_relu(a.x, b.x, c.x), __hfma_relu(a.y, b.y, c.y));
}
/* Complex multiply-add: a, b and c are real and imaginary part. */
WARPWRIGHT_BOTH WARPWRIGHT_PAIR __hcmadd(WARPWRIGHT_PAIR a, WARPWRIGHT_PAIR b, WARPWRIGHT_PAIR c) {
    WARPWRIGHT_NUMBER real = __hfma(__hneg(a.y), b.y, __hfma(a.x, b.x, c.x));
    return WARPWRIGHT_PAIR(real, __hfma(a.y, b.x, __hfma(a.x, b.y, c.y)));
}

/* ---- comparisons. Those whose name ends in u are true of NaN. */

#define WARPWRIGHT_COMPARE_AS(name, condition)                                                               \
    WARPWRIGHT_BOTH bool __h##name(WARPWRIGHT_NUMBER first, WARPWRIGHT_NUMBER second) {                      \
        float a = __warpwright_float(first), b = __warpwright_float(second);                                 \
        return condition;                                                                                    \
    }                                                                                                        \
    WARPWRIGHT_BOTH WARPWRIGHT_PAIR __h##name##2(WARPWRIGHT_PAIR a, WARPWRIGHT_PAIR b) {                     \
        return WARPWRIGHT_PAIR(WARPWRIGHT_ONE(__h##name(a.x, b.x)), WARPWRIGHT_ONE(__h##name(a.y, b.y)));    \
    }                                                                                                        \
    WARPWRIGHT_BOTH unsigned __h##name##2_mask(WARPWRIGHT_PAIR a, WARPWRIGHT_PAIR b) {                       \
        return (__h##name(a.x, b.x) ? 0xffffu : 0) | (__h##name(a.y, b.y) ? 0xffff0000u : 0);                \
    }                                                                                                        \
    WARPWRIGHT_BOTH bool __hb##name##2(WARPWRIGHT_PAIR a, WARPWRIGHT_PAIR b) {                               \
        return __h##name(a.x, b.x) && __h##name(a.y, b.y);                                                   \
    }
#define WARPWRIGHT_COMPARE(name, comparison)                                                                 \
    WARPWRIGHT_COMPARE_AS(name, a comparison b &&a == a && b == b)                                           \
    WARPWRIGHT_COMPARE_AS(name##u, a comparison b || a != a || b != b)
WARPWRIGHT_COMPARE(eq, ==)
WARPWRIGHT_COMPARE(ne, !=)
WARPWRIGHT_COMPARE(lt, <)
WARPWRIGHT_COMPARE(le, <=)
WARPWRIGHT_COMPARE(gt, >)
WARPWRIGHT_COMPARE(ge, >=)
#undef WARPWRIGHT_COMPARE
#undef WARPWRIGHT_COMPARE_AS

WARPWRIGHT_BOTH bool __hisnan(WARPWRIGHT_NUMBER a) {
    return __warpwright_float(a) != __warpwright_float(a);
}
WARPWRIGHT_BOTH WARPWRIGHT_PAIR __hisnan2(WARPWRIGHT_PAIR a) {
    return WARPWRIGHT_PAIR(WARPWRIGHT_ONE(__hisnan(a.x)), WARPWRIGHT_ONE(__hisnan(a.y)));
}
WARPWRIGHT_BOTH int __hisinf(WARPWRIGHT_NUMBER a) {
    float value = __warpwright_float(a);
    return value == value && value - value != 0 ? value < 0 ? -1 : 1 : 0;
}
WARPWRIGHT_BOTH WARPWRIGHT_NUMBER __hmax(WARPWRIGHT_NUMBER a, WARPWRIGHT_NUMBER b) {
    return WARPWRIGHT_NUMBER(__builtin_fmaxf(__warpwright_float(a), __warpwright_float(b)));
}
WARPWRIGHT_BOTH WARPWRIGHT_NUMBER __hmin(WARPWRIGHT_NUMBER a, WARPWRIGHT_NUMBER b) {
    return WARPWRIGHT_NUMBER(__builtin_fminf(__warpwright_float(a), __warpwright_float(b)));
}
WARPWRIGHT_BOTH WARPWRIGHT_NUMBER __hmax_nan(WARPWRIGHT_NUMBER a, WARPWRIGHT_NUMBER b) {
    return __hisnan(a) || __hisnan(b) ? WARPWRIGHT_BITS(0x7fff) : __hmax(a, b);
}
WARPWRIGHT_BOTH WARPWRIGHT_NUMBER __hmin_nan(WARPWRIGHT_NUMBER a, WARPWRIGHT_NUMBER b) {
    return __hisnan(a) || __hisnan(b) ? WARPWRIGHT_BITS(0x7fff) : __hmin(a, b);
}
WARPWRIGHT_PAIRED_2(__hmax2, __hmax)
WARPWRIGHT_PAIRED_2(__hmin2, __hmin)
WARPWRIGHT_PAIRED_2(__hmax2_nan, __hmax_nan)
WARPWRIGHT_PAIRED_2(__hmin2_nan, __hmin_nan)

/* ---- functions, of the number and, with h2, of the pair */

#define WARPWRIGHT_FUNCTION(name, expression)                                                                \
    WARPWRIGHT_BOTH WARPWRIGHT_NUMBER h##name(WARPWRIGHT_NUMBER number) {                                    \
        float a = __warpwright_float(number);                                                                \
        return WARPWRIGHT_NUMBER((float)(expression));                                                       \
    }                                                                                                        \
    WARPWRIGHT_PAIRED_1(h2##name, h##name)
WARPWRIGHT_FUNCTION(sqrt, sqrtf(a))
#ifdef __CUDA__
WARPWRIGHT_FUNCTION(rsqrt, rsqrtf(a))
#else
WARPWRIGHT_FUNCTION(rsqrt, 1 / sqrtf(a))
#endif
WARPWRIGHT_FUNCTION(rcp, 1 / a)
WARPWRIGHT_FUNCTION(exp, expf(a))
WARPWRIGHT_FUNCTION(exp2, exp2f(a))
WARPWRIGHT_FUNCTION(exp10, exp10f(a))
WARPWRIGHT_FUNCTION(log, logf(a))
WARPWRIGHT_FUNCTION(log2, log2f(a))
WARPWRIGHT_FUNCTION(log10, log10f(a))
WARPWRIGHT_FUNCTION(sin, sinf(a))
WARPWRIGHT_FUNCTION(cos, cosf(a))
WARPWRIGHT_FUNCTION(tanh, tanhf(a))
WARPWRIGHT_FUNCTION(floor, __builtin_floorf(a))
WARPWRIGHT_FUNCTION(ceil, __builtin_ceilf(a))
WARPWRIGHT_FUNCTION(trunc, __builtin_truncf(a))
WARPWRIGHT_FUNCTION(rint, __builtin_rintf(a))
#ifdef WARPWRIGHT_TANH
WARPWRIGHT_BOTH WARPWRIGHT_NUMBER htanh_approx(WARPWRIGHT_NUMBER a) {
    WARPWRIGHT_NUMBER result;
    asm(WARPWRIGHT_TANH("") : "=h"(result.__x) : "h"(a.__x));
    return result;
}
WARPWRIGHT_BOTH WARPWRIGHT_PAIR h2tanh_approx(WARPWRIGHT_PAIR a) {
    unsigned words[2];
    memcpy(&words[0], &a, sizeof a);
    asm(WARPWRIGHT_TANH("x2") : "=r"(words[1]) : "r"(words[0]));
    WARPWRIGHT_PAIR result;
    memcpy(&result, &words[1], sizeof result);
    return result;
}
#else
WARPWRIGHT_FUNCTION(tanh_approx, __warpwright_tanh(a))
#endif
#undef WARPWRIGHT_FUNCTION
#undef WARPWRIGHT_PAIRED_1
#undef WARPWRIGHT_PAIRED_2

/* ---- operators */

#define WARPWRIGHT_OPERATOR(symbol, single, paired)                                                          \
    WARPWRIGHT_BOTH WARPWRIGHT_NUMBER operator symbol(const WARPWRIGHT_NUMBER &a,                            \
                                                      const WARPWRIGHT_NUMBER &b) {                          \
        return single(a, b);                                                                                 \
    }                                                                                                        \
    WARPWRIGHT_BOTH WARPWRIGHT_NUMBER &operator symbol##=(WARPWRIGHT_NUMBER &a,                              \
                                                          const WARPWRIGHT_NUMBER &b) {                      \
        return a = single(a, b);                                                                             \
    }                                                                                                        \
    WARPWRIGHT_BOTH WARPWRIGHT_PAIR operator symbol(const WARPWRIGHT_PAIR &a, const WARPWRIGHT_PAIR &b) {    \
        return paired(a, b);                                                                                 \
    }                                                                                                        \
    WARPWRIGHT_BOTH WARPWRIGHT_PAIR &operator symbol##=(WARPWRIGHT_PAIR &a, const WARPWRIGHT_PAIR &b) {      \
        return a = paired(a, b);                                                                             \
    }
WARPWRIGHT_OPERATOR(+, __hadd, __hadd2)
WARPWRIGHT_OPERATOR(-, __hsub, __hsub2)
WARPWRIGHT_OPERATOR(*, __hmul, __hmul2)
WARPWRIGHT_OPERATOR(/, __hdiv, __h2div)
#undef WARPWRIGHT_OPERATOR

#define WARPWRIGHT_OPERATOR(symbol, single, paired)                                                          \
    WARPWRIGHT_BOTH bool operator symbol(const WARPWRIGHT_NUMBER &a, const WARPWRIGHT_NUMBER &b) {           \
        return single(a, b);                                                                                 \
    }                                                                                                        \
    WARPWRIGHT_BOTH bool operator symbol(const WARPWRIGHT_PAIR &a, const WARPWRIGHT_PAIR &b) {               \
        return paired(a, b);                                                                                 \
    }
WARPWRIGHT_OPERATOR(==, __heq, __hbeq2)
WARPWRIGHT_OPERATOR(!=, __hneu, __hbneu2)
WARPWRIGHT_OPERATOR(<, __hlt, __hblt2)
WARPWRIGHT_OPERATOR(<=, __hle, __hble2)
WARPWRIGHT_OPERATOR(>, __hgt, __hbgt2)
WARPWRIGHT_OPERATOR(>=, __hge, __hbge2)
#undef WARPWRIGHT_OPERATOR

WARPWRIGHT_BOTH WARPWRIGHT_NUMBER operator+(const WARPWRIGHT_NUMBER &a) {
    return a;
}
WARPWRIGHT_BOTH WARPWRIGHT_NUMBER operator-(const WARPWRIGHT_NUMBER &a) {
    return __hneg(a);
}
WARPWRIGHT_BOTH WARPWRIGHT_PAIR operator+(const WARPWRIGHT_PAIR &a) {
    return a;
}
WARPWRIGHT_BOTH WARPWRIGHT_PAIR operator-(const WARPWRIGHT_PAIR &a) {
    return __hneg2(a);
}

#define WARPWRIGHT_STEP(type, symbol, function, one)                                                         \
    WARPWRIGHT_BOTH type &operator symbol(type &a) {                                                         \
        return a = function(a, one);                                                                         \
    }                                                                                                        \
    WARPWRIGHT_BOTH type operator symbol(type &a, int) {                                                     \
        type before = a;                                                                                     \
        symbol a;                                                                                            \
        return before;                                                                                       \
    }
WARPWRIGHT_STEP(WARPWRIGHT_NUMBER, ++, __hadd, WARPWRIGHT_NUMBER(1.0f))
WARPWRIGHT_STEP(WARPWRIGHT_NUMBER, --, __hsub, WARPWRIGHT_NUMBER(1.0f))
WARPWRIGHT_STEP(WARPWRIGHT_PAIR, ++, __hadd2,
                WARPWRIGHT_PAIR(WARPWRIGHT_NUMBER(1.0f), WARPWRIGHT_NUMBER(1.0f)))
WARPWRIGHT_STEP(WARPWRIGHT_PAIR, --, __hsub2,
                WARPWRIGHT_PAIR(WARPWRIGHT_NUMBER(1.0f), WARPWRIGHT_NUMBER(1.0f)))
#undef WARPWRIGHT_STEP

#undef WARPWRIGHT_ONE
#undef WARPWRIGHT_BOTH
