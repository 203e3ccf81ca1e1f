/* A number of 16 bits, a pair of them, and their conversions. cuda_fp16.h and cuda_bf16.h include this with
 *   WARPWRIGHT_NUMBER, _PAIR          the types: __half, __half2
 *   WARPWRIGHT_RAW, _RAW_PAIR         the same without constructors
 *   WARPWRIGHT_NAME(before, after)    `half` in the name of a conversion
 *   WARPWRIGHT_TWICE_NAMED            __half2half2
 *   WARPWRIGHT_ENCODE(float, rounding), WARPWRIGHT_DECODE(bits)
 */
#define WARPWRIGHT_BOTH static __host__ __device__ __forceinline__ __attribute__((unused))

typedef struct __attribute__((aligned(2))) WARPWRIGHT_RAW {
    unsigned short x;
} WARPWRIGHT_RAW;

typedef struct __attribute__((aligned(4))) WARPWRIGHT_RAW_PAIR {
    unsigned short x, y;
} WARPWRIGHT_RAW_PAIR;

struct __attribute__((aligned(2))) WARPWRIGHT_NUMBER {
    unsigned short __x;

#if __cplusplus >= 201103L
    WARPWRIGHT_NUMBER() = default;
#else
    __host__ __device__ WARPWRIGHT_NUMBER() {}
#endif
    __host__ __device__ WARPWRIGHT_NUMBER(const WARPWRIGHT_RAW &raw) : __x(raw.x) {}
    __host__ __device__ operator WARPWRIGHT_RAW() const {
        WARPWRIGHT_RAW raw = {__x};
        return raw;
    }
    __host__ __device__ WARPWRIGHT_NUMBER &operator=(const WARPWRIGHT_RAW &raw) {
        __x = raw.x;
        return *this;
    }

#define WARPWRIGHT_CONVERT(type, floating)                                                                   \
    __host__ __device__ WARPWRIGHT_NUMBER(type value) : __x(WARPWRIGHT_ENCODE(floating, __warpwright_rn)) {} \
    __host__ __device__ WARPWRIGHT_NUMBER &operator=(type value) {                                           \
        __x = WARPWRIGHT_ENCODE(floating, __warpwright_rn);                                                  \
        return *this;                                                                                        \
    }
    WARPWRIGHT_CONVERT(float, value)
    WARPWRIGHT_CONVERT(double, __warpwright_odd_float(value))
    WARPWRIGHT_CONVERT(short, (float)value)
    WARPWRIGHT_CONVERT(unsigned short, (float)value)
    WARPWRIGHT_CONVERT(int, __warpwright_odd_float((double)value))
    WARPWRIGHT_CONVERT(unsigned int, __warpwright_odd_float((double)value))
    WARPWRIGHT_CONVERT(long, __warpwright_odd_float((long long)value))
    WARPWRIGHT_CONVERT(unsigned long, __warpwright_odd_float((unsigned long long)value))
    WARPWRIGHT_CONVERT(long long, __warpwright_odd_float(value))
    WARPWRIGHT_CONVERT(unsigned long long, __warpwright_odd_float(value))
#undef WARPWRIGHT_CONVERT

    __host__ __device__ operator float() const {
        return WARPWRIGHT_DECODE(__x);
    }
    __host__ __device__ operator bool() const {
        return (__x & 0x7fff) != 0;
    }
#define WARPWRIGHT_CONVERT(type)                                                                             \
    __host__ __device__ operator type() const {                                                              \
        return __warpwright_integer<type>(WARPWRIGHT_DECODE(__x), __warpwright_rz);                          \
    }
    WARPWRIGHT_CONVERT(signed char)
    WARPWRIGHT_CONVERT(unsigned char)
    WARPWRIGHT_CONVERT(char)
    WARPWRIGHT_CONVERT(short)
    WARPWRIGHT_CONVERT(unsigned short)
    WARPWRIGHT_CONVERT(int)
    WARPWRIGHT_CONVERT(unsigned int)
    WARPWRIGHT_CONVERT(long)
    WARPWRIGHT_CONVERT(unsigned long)
    WARPWRIGHT_CONVERT(long long)
    WARPWRIGHT_CONVERT(unsigned long long)
#undef WARPWRIGHT_CONVERT
};

struct __attribute__((aligned(4))) WARPWRIGHT_PAIR {
    WARPWRIGHT_NUMBER x, y;

#if __cplusplus >= 201103L
    WARPWRIGHT_PAIR() = default;
#else
    __host__ __device__ WARPWRIGHT_PAIR() {}
#endif
    __host__ __device__ WARPWRIGHT_PAIR(const WARPWRIGHT_NUMBER &low, const WARPWRIGHT_NUMBER &high)
        : x(low), y(high) {}
    __host__ __device__ WARPWRIGHT_PAIR(const WARPWRIGHT_RAW_PAIR &raw) {
        x.__x = raw.x;
        y.__x = raw.y;
    }
    __host__ __device__ operator WARPWRIGHT_RAW_PAIR() const {
        WARPWRIGHT_RAW_PAIR raw = {x.__x, y.__x};
        return raw;
    }
};

WARPWRIGHT_BOTH WARPWRIGHT_NUMBER __warpwright_number(unsigned short bits, WARPWRIGHT_NUMBER) {
    WARPWRIGHT_NUMBER number;
    number.__x = bits;
    return number;
}
#define WARPWRIGHT_BITS(bits) __warpwright_number((unsigned short)(bits), WARPWRIGHT_NUMBER())

/* ---- float and double */

WARPWRIGHT_BOTH float WARPWRIGHT_NAME(__, 2float)(WARPWRIGHT_NUMBER a) {
    return WARPWRIGHT_DECODE(a.__x);
}
WARPWRIGHT_BOTH WARPWRIGHT_NUMBER WARPWRIGHT_NAME(__float2, )(float a) {
    return WARPWRIGHT_NUMBER(a);
}
WARPWRIGHT_BOTH WARPWRIGHT_NUMBER WARPWRIGHT_NAME(__double2, )(double a) {
    return WARPWRIGHT_NUMBER(a);
}
#define WARPWRIGHT_ROUND(mode)                                                                               \
    WARPWRIGHT_BOTH WARPWRIGHT_NUMBER WARPWRIGHT_NAME(__float2, _##mode)(float a) {                          \
        return WARPWRIGHT_BITS(WARPWRIGHT_ENCODE(a, __warpwright_##mode));                                   \
    }
WARPWRIGHT_ROUND(rn)
WARPWRIGHT_ROUND(rz)
WARPWRIGHT_ROUND(rd)
WARPWRIGHT_ROUND(ru)
#undef WARPWRIGHT_ROUND

/* ---- integers */

#define WARPWRIGHT_INTEGER_ROUNDED(name, type, mode)                                                         \
    WARPWRIGHT_BOTH type WARPWRIGHT_NAME(__, 2##name##_##mode)(WARPWRIGHT_NUMBER a) {                        \
        return __warpwright_integer<type>(WARPWRIGHT_DECODE(a.__x), __warpwright_##mode);                    \
    }                                                                                                        \
    WARPWRIGHT_BOTH WARPWRIGHT_NUMBER WARPWRIGHT_NAME(__##name##2, _##mode)(type a) {                        \
        return WARPWRIGHT_BITS(                                                                              \
            WARPWRIGHT_ENCODE(__warpwright_odd_float((WARPWRIGHT_WIDE)a), __warpwright_##mode));             \
    }
#define WARPWRIGHT_INTEGER(name, type)                                                                       \
    WARPWRIGHT_INTEGER_ROUNDED(name, type, rn)                                                               \
    WARPWRIGHT_INTEGER_ROUNDED(name, type, rz)                                                               \
    WARPWRIGHT_INTEGER_ROUNDED(name, type, rd)                                                               \
    WARPWRIGHT_INTEGER_ROUNDED(name, type, ru)
#define WARPWRIGHT_WIDE long long
WARPWRIGHT_INTEGER(short, short)
WARPWRIGHT_INTEGER(ushort, unsigned short)
WARPWRIGHT_INTEGER(int, int)
WARPWRIGHT_INTEGER(uint, unsigned int)
WARPWRIGHT_INTEGER(ll, long long)
#undef WARPWRIGHT_WIDE
#define WARPWRIGHT_WIDE unsigned long long
WARPWRIGHT_INTEGER(ull, unsigned long long)
#undef WARPWRIGHT_WIDE
#undef WARPWRIGHT_INTEGER
#undef WARPWRIGHT_INTEGER_ROUNDED
WARPWRIGHT_BOTH signed char WARPWRIGHT_NAME(__, 2char_rz)(WARPWRIGHT_NUMBER a) {
    return (signed char)a;
}
WARPWRIGHT_BOTH unsigned char WARPWRIGHT_NAME(__, 2uchar_rz)(WARPWRIGHT_NUMBER a) {
    return (unsigned char)a;
}

/* ---- bits */

WARPWRIGHT_BOTH short WARPWRIGHT_NAME(__, _as_short)(WARPWRIGHT_NUMBER a) {
    return (short)a.__x;
}
WARPWRIGHT_BOTH unsigned short WARPWRIGHT_NAME(__, _as_ushort)(WARPWRIGHT_NUMBER a) {
    return a.__x;
}
WARPWRIGHT_BOTH WARPWRIGHT_NUMBER WARPWRIGHT_NAME(__short_as_, )(short a) {
    return WARPWRIGHT_BITS(a);
}
WARPWRIGHT_BOTH WARPWRIGHT_NUMBER WARPWRIGHT_NAME(__ushort_as_, )(unsigned short a) {
    return WARPWRIGHT_BITS(a);
}

/* ---- pairs */

WARPWRIGHT_BOTH WARPWRIGHT_PAIR WARPWRIGHT_NAME(make_, 2)(WARPWRIGHT_NUMBER x, WARPWRIGHT_NUMBER y) {
    return WARPWRIGHT_PAIR(x, y);
}
WARPWRIGHT_BOTH WARPWRIGHT_PAIR WARPWRIGHT_NAME(__halves2, 2)(WARPWRIGHT_NUMBER x, WARPWRIGHT_NUMBER y) {
    return WARPWRIGHT_PAIR(x, y);
}
WARPWRIGHT_BOTH WARPWRIGHT_PAIR WARPWRIGHT_TWICE_NAMED(WARPWRIGHT_NUMBER a) {
    return WARPWRIGHT_PAIR(a, a);
}
WARPWRIGHT_BOTH WARPWRIGHT_PAIR WARPWRIGHT_NAME(__float2, 2_rn)(float a) {
    return WARPWRIGHT_PAIR(WARPWRIGHT_NUMBER(a), WARPWRIGHT_NUMBER(a));
}
WARPWRIGHT_BOTH WARPWRIGHT_PAIR WARPWRIGHT_NAME(__floats2, 2_rn)(float x, float y) {
    return WARPWRIGHT_PAIR(WARPWRIGHT_NUMBER(x), WARPWRIGHT_NUMBER(y));
}
WARPWRIGHT_BOTH WARPWRIGHT_PAIR WARPWRIGHT_NAME(__float22, 2_rn)(float2 a) {
    return WARPWRIGHT_PAIR(WARPWRIGHT_NUMBER(a.x), WARPWRIGHT_NUMBER(a.y));
}
WARPWRIGHT_BOTH float2 WARPWRIGHT_NAME(__, 22float2)(WARPWRIGHT_PAIR a) {
    float2 result = {WARPWRIGHT_DECODE(a.x.__x), WARPWRIGHT_DECODE(a.y.__x)};
    return result;
}
WARPWRIGHT_BOTH float __low2float(WARPWRIGHT_PAIR a) {
    return WARPWRIGHT_DECODE(a.x.__x);
}
WARPWRIGHT_BOTH float __high2float(WARPWRIGHT_PAIR a) {
    return WARPWRIGHT_DECODE(a.y.__x);
}
WARPWRIGHT_BOTH WARPWRIGHT_NUMBER WARPWRIGHT_NAME(__low2, )(WARPWRIGHT_PAIR a) {
    return a.x;
}
WARPWRIGHT_BOTH WARPWRIGHT_NUMBER WARPWRIGHT_NAME(__high2, )(WARPWRIGHT_PAIR a) {
    return a.y;
}
WARPWRIGHT_BOTH WARPWRIGHT_PAIR WARPWRIGHT_NAME(__low2, 2)(WARPWRIGHT_PAIR a) {
    return WARPWRIGHT_PAIR(a.x, a.x);
}
WARPWRIGHT_BOTH WARPWRIGHT_PAIR WARPWRIGHT_NAME(__high2, 2)(WARPWRIGHT_PAIR a) {
    return WARPWRIGHT_PAIR(a.y, a.y);
}
WARPWRIGHT_BOTH WARPWRIGHT_PAIR WARPWRIGHT_NAME(__lows2, 2)(WARPWRIGHT_PAIR a, WARPWRIGHT_PAIR b) {
    return WARPWRIGHT_PAIR(a.x, b.x);
}
WARPWRIGHT_BOTH WARPWRIGHT_PAIR WARPWRIGHT_NAME(__highs2, 2)(WARPWRIGHT_PAIR a, WARPWRIGHT_PAIR b) {
    return WARPWRIGHT_PAIR(a.y, b.y);
}
WARPWRIGHT_BOTH WARPWRIGHT_PAIR __lowhigh2highlow(WARPWRIGHT_PAIR a) {
    return WARPWRIGHT_PAIR(a.y, a.x);
}

#undef WARPWRIGHT_BOTH
