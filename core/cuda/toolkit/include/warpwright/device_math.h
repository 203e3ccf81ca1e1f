/* Functions of CUDA's mathematics that clang does not declare: minima and maxima of mixed types, float overloads,
 * dot products of packed integers, address spaces. */
#ifndef WARPWRIGHT_DEVICE_MATH_H
#define WARPWRIGHT_DEVICE_MATH_H

#define WARPWRIGHT_BOTH   static __host__ __device__ __inline__ __attribute__((always_inline, unused))
#define WARPWRIGHT_HOST   static __host__ __inline__ __attribute__((always_inline, unused))
#define WARPWRIGHT_DEVICE static __device__ __forceinline__ __attribute__((unused))

/* ---- minima and maxima. clang has those of int, for the device. */

WARPWRIGHT_HOST int min(int a, int b) {
    return a < b ? a : b;
}
WARPWRIGHT_HOST int max(int a, int b) {
    return a > b ? a : b;
}

#define WARPWRIGHT_EXTREMA(result, type_a, type_b)                                                           \
    WARPWRIGHT_BOTH result min(type_a a, type_b b) {                                                         \
        return (result)a < (result)b ? (result)a : (result)b;                                                \
    }                                                                                                        \
    WARPWRIGHT_BOTH result max(type_a a, type_b b) {                                                         \
        return (result)a > (result)b ? (result)a : (result)b;                                                \
    }
WARPWRIGHT_EXTREMA(unsigned, unsigned, unsigned)
WARPWRIGHT_EXTREMA(unsigned, int, unsigned)
WARPWRIGHT_EXTREMA(unsigned, unsigned, int)
WARPWRIGHT_EXTREMA(long, long, long)
WARPWRIGHT_EXTREMA(unsigned long, unsigned long, unsigned long)
WARPWRIGHT_EXTREMA(unsigned long, long, unsigned long)
WARPWRIGHT_EXTREMA(unsigned long, unsigned long, long)
WARPWRIGHT_EXTREMA(long long, long long, long long)
WARPWRIGHT_EXTREMA(unsigned long long, unsigned long long, unsigned long long)
WARPWRIGHT_EXTREMA(unsigned long long, long long, unsigned long long)
WARPWRIGHT_EXTREMA(unsigned long long, unsigned long long, long long)
#undef WARPWRIGHT_EXTREMA

#define WARPWRIGHT_EXTREMA(type, letter, type_a, type_b)                                                     \
    WARPWRIGHT_BOTH type min(type_a a, type_b b) {                                                           \
        return fmin##letter(a, b);                                                                           \
    }                                                                                                        \
    WARPWRIGHT_BOTH type max(type_a a, type_b b) {                                                           \
        return fmax##letter(a, b);                                                                           \
    }
WARPWRIGHT_EXTREMA(float, f, float, float)
WARPWRIGHT_EXTREMA(double, , double, double)
WARPWRIGHT_EXTREMA(double, , float, double)
WARPWRIGHT_EXTREMA(double, , double, float)
#undef WARPWRIGHT_EXTREMA

WARPWRIGHT_HOST unsigned umin(unsigned a, unsigned b) {
    return a < b ? a : b;
}
WARPWRIGHT_HOST unsigned umax(unsigned a, unsigned b) {
    return a > b ? a : b;
}
WARPWRIGHT_HOST long long llmin(long long a, long long b) {
    return a < b ? a : b;
}
WARPWRIGHT_HOST long long llmax(long long a, long long b) {
    return a > b ? a : b;
}
WARPWRIGHT_HOST unsigned long long ullmin(unsigned long long a, unsigned long long b) {
    return a < b ? a : b;
}
WARPWRIGHT_HOST unsigned long long ullmax(unsigned long long a, unsigned long long b) {
    return a > b ? a : b;
}

/* ---- the double functions' names, for floats. clang has some of them, for the host. */

#define WARPWRIGHT_FLOAT(where, name)                                                                        \
    where float name(float x) {                                                                              \
        return name##f(x);                                                                                   \
    }
WARPWRIGHT_FLOAT(WARPWRIGHT_DEVICE, rsqrt)
WARPWRIGHT_FLOAT(WARPWRIGHT_DEVICE, rcbrt)
WARPWRIGHT_FLOAT(WARPWRIGHT_DEVICE, sinpi)
WARPWRIGHT_FLOAT(WARPWRIGHT_DEVICE, cospi)
WARPWRIGHT_FLOAT(WARPWRIGHT_DEVICE, erfcinv)
WARPWRIGHT_FLOAT(WARPWRIGHT_DEVICE, erfcx)
WARPWRIGHT_FLOAT(WARPWRIGHT_DEVICE, normcdf)
WARPWRIGHT_FLOAT(WARPWRIGHT_DEVICE, normcdfinv)
WARPWRIGHT_FLOAT(WARPWRIGHT_BOTH, erfinv)
WARPWRIGHT_FLOAT(WARPWRIGHT_BOTH, exp10)
WARPWRIGHT_FLOAT(WARPWRIGHT_BOTH, cyl_bessel_i0)
WARPWRIGHT_FLOAT(WARPWRIGHT_BOTH, cyl_bessel_i1)
WARPWRIGHT_FLOAT(WARPWRIGHT_BOTH, j0)
WARPWRIGHT_FLOAT(WARPWRIGHT_BOTH, j1)
WARPWRIGHT_FLOAT(WARPWRIGHT_BOTH, y0)
WARPWRIGHT_FLOAT(WARPWRIGHT_BOTH, y1)
#undef WARPWRIGHT_FLOAT

WARPWRIGHT_BOTH float jn(int order, float x) {
    return jnf(order, x);
}
WARPWRIGHT_BOTH float yn(int order, float x) {
    return ynf(order, x);
}
WARPWRIGHT_BOTH float rhypot(float x, float y) {
    return rhypotf(x, y);
}
WARPWRIGHT_BOTH float norm3d(float x, float y, float z) {
    return norm3df(x, y, z);
}
WARPWRIGHT_BOTH float norm4d(float x, float y, float z, float w) {
    return norm4df(x, y, z, w);
}
WARPWRIGHT_BOTH float rnorm3d(float x, float y, float z) {
    return rnorm3df(x, y, z);
}
WARPWRIGHT_BOTH float rnorm4d(float x, float y, float z, float w) {
    return rnorm4df(x, y, z, w);
}
WARPWRIGHT_BOTH float fdivide(float x, float y) {
    return fdividef(x, y);
}
WARPWRIGHT_BOTH void sincos(float x, float *sine, float *cosine) {
    sincosf(x, sine, cosine);
}
WARPWRIGHT_DEVICE void sincospi(float x, float *sine, float *cosine) {
    sincospif(x, sine, cosine);
}

/* ---- what clang declares for floats, and leaves to the toolkit */

#define WARPWRIGHT_FLOAT(result, name)                                                                       \
    WARPWRIGHT_DEVICE result name(float x) {                                                                 \
        return name##f(x);                                                                                   \
    }
WARPWRIGHT_FLOAT(float, erf)
WARPWRIGHT_FLOAT(float, erfc)
WARPWRIGHT_FLOAT(float, cbrt)
WARPWRIGHT_FLOAT(float, exp2)
WARPWRIGHT_FLOAT(float, log2)
WARPWRIGHT_FLOAT(float, logb)
WARPWRIGHT_FLOAT(float, rint)
WARPWRIGHT_FLOAT(float, acosh)
WARPWRIGHT_FLOAT(float, asinh)
WARPWRIGHT_FLOAT(float, atanh)
WARPWRIGHT_FLOAT(float, expm1)
WARPWRIGHT_FLOAT(float, log1p)
WARPWRIGHT_FLOAT(float, round)
WARPWRIGHT_FLOAT(float, trunc)
WARPWRIGHT_FLOAT(float, lgamma)
WARPWRIGHT_FLOAT(float, tgamma)
WARPWRIGHT_FLOAT(float, nearbyint)
WARPWRIGHT_FLOAT(int, ilogb)
WARPWRIGHT_FLOAT(long, lrint)
WARPWRIGHT_FLOAT(long, lround)
WARPWRIGHT_FLOAT(long long, llrint)
WARPWRIGHT_FLOAT(long long, llround)
#undef WARPWRIGHT_FLOAT

#define WARPWRIGHT_FLOAT(name)                                                                               \
    WARPWRIGHT_DEVICE float name(float x, float y) {                                                         \
        return name##f(x, y);                                                                                \
    }
WARPWRIGHT_FLOAT(fdim)
WARPWRIGHT_FLOAT(fmax)
WARPWRIGHT_FLOAT(fmin)
WARPWRIGHT_FLOAT(hypot)
WARPWRIGHT_FLOAT(copysign)
WARPWRIGHT_FLOAT(nextafter)
WARPWRIGHT_FLOAT(remainder)
#undef WARPWRIGHT_FLOAT
WARPWRIGHT_DEVICE float fma(float x, float y, float z) {
    return fmaf(x, y, z);
}
WARPWRIGHT_DEVICE float remquo(float x, float y, int *quotient) {
    return remquof(x, y, quotient);
}
WARPWRIGHT_DEVICE float scalbn(float x, int exponent) {
    return scalbnf(x, exponent);
}
WARPWRIGHT_DEVICE float scalbln(float x, long exponent) {
    return scalblnf(x, exponent);
}
WARPWRIGHT_DEVICE double nan(const char *tag) {
    return __nv_nan((const signed char *)tag);
}
WARPWRIGHT_DEVICE float nanf(const char *tag) {
    return __nv_nanf((const signed char *)tag);
}

/* ---- dot products of packed integers */

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 610
#define WARPWRIGHT_DOT(name, type, packed_a, packed_b, instruction)                                          \
    WARPWRIGHT_DEVICE type name(packed_a a, packed_b b, type c) {                                            \
        type result;                                                                                         \
        unsigned words[2];                                                                                   \
        __builtin_memcpy(&words[0], &a, sizeof a);                                                           \
        __builtin_memcpy(&words[1], &b, sizeof b);                                                           \
        asm(instruction " %0, %1, %2, %3;" : "=r"(result) : "r"(words[0]), "r"(words[1]), "r"(c));           \
        return result;                                                                                       \
    }
WARPWRIGHT_DOT(__dp4a, int, int, int, "dp4a.s32.s32")
WARPWRIGHT_DOT(__dp4a, int, char4, char4, "dp4a.s32.s32")
WARPWRIGHT_DOT(__dp4a, unsigned, unsigned, unsigned, "dp4a.u32.u32")
WARPWRIGHT_DOT(__dp4a, unsigned, uchar4, uchar4, "dp4a.u32.u32")
WARPWRIGHT_DOT(__dp2a_lo, int, int, int, "dp2a.lo.s32.s32")
WARPWRIGHT_DOT(__dp2a_hi, int, int, int, "dp2a.hi.s32.s32")
WARPWRIGHT_DOT(__dp2a_lo, unsigned, unsigned, unsigned, "dp2a.lo.u32.u32")
WARPWRIGHT_DOT(__dp2a_hi, unsigned, unsigned, unsigned, "dp2a.hi.u32.u32")
WARPWRIGHT_DOT(__dp2a_lo, int, short2, char4, "dp2a.lo.s32.s32")
WARPWRIGHT_DOT(__dp2a_hi, int, short2, char4, "dp2a.hi.s32.s32")
WARPWRIGHT_DOT(__dp2a_lo, unsigned, ushort2, uchar4, "dp2a.lo.u32.u32")
WARPWRIGHT_DOT(__dp2a_hi, unsigned, ushort2, uchar4, "dp2a.hi.u32.u32")
#undef WARPWRIGHT_DOT
#endif

/* ---- address spaces */

WARPWRIGHT_DEVICE size_t __cvta_generic_to_global(const void *p) {
    return __nv_cvta_generic_to_global_impl(p);
}
WARPWRIGHT_DEVICE size_t __cvta_generic_to_shared(const void *p) {
    return __nv_cvta_generic_to_shared_impl(p);
}
WARPWRIGHT_DEVICE size_t __cvta_generic_to_constant(const void *p) {
    return __nv_cvta_generic_to_constant_impl(p);
}
WARPWRIGHT_DEVICE size_t __cvta_generic_to_local(const void *p) {
    return __nv_cvta_generic_to_local_impl(p);
}
WARPWRIGHT_DEVICE void *__cvta_global_to_generic(size_t p) {
    return __nv_cvta_global_to_generic_impl(p);
}
WARPWRIGHT_DEVICE void *__cvta_shared_to_generic(size_t p) {
    return __nv_cvta_shared_to_generic_impl(p);
}
WARPWRIGHT_DEVICE void *__cvta_constant_to_generic(size_t p) {
    return __nv_cvta_constant_to_generic_impl(p);
}
WARPWRIGHT_DEVICE void *__cvta_local_to_generic(size_t p) {
    return __nv_cvta_local_to_generic_impl(p);
}

#undef WARPWRIGHT_DEVICE
#undef WARPWRIGHT_HOST
#undef WARPWRIGHT_BOTH

#endif
