// Conversions between types, and numbers as their bits.
#include "base.h"

#define CHOOSE(name, x) (FLUSHES ? name##_ftz(x) : name(x))

#define ROUNDED(suffix, mode)                                                                                \
    EXPORT float __nv_double2float_##suffix(double x) {                                                      \
        return CHOOSE(__nvvm_d2f_##mode, x);                                                                 \
    }                                                                                                        \
    EXPORT int __nv_double2int_##suffix(double x) {                                                          \
        return __nvvm_d2i_##mode(x);                                                                         \
    }                                                                                                        \
    EXPORT uint __nv_double2uint_##suffix(double x) {                                                        \
        return (uint)__nvvm_d2ui_##mode(x);                                                                  \
    }                                                                                                        \
    EXPORT i64 __nv_double2ll_##suffix(double x) {                                                           \
        return __nvvm_d2ll_##mode(x);                                                                        \
    }                                                                                                        \
    EXPORT u64 __nv_double2ull_##suffix(double x) {                                                          \
        return (u64)__nvvm_d2ull_##mode(x);                                                                  \
    }                                                                                                        \
    EXPORT int __nv_float2int_##suffix(float x) {                                                            \
        return CHOOSE(__nvvm_f2i_##mode, x);                                                                 \
    }                                                                                                        \
    EXPORT uint __nv_float2uint_##suffix(float x) {                                                          \
        return (uint)CHOOSE(__nvvm_f2ui_##mode, x);                                                          \
    }                                                                                                        \
    EXPORT i64 __nv_float2ll_##suffix(float x) {                                                             \
        return CHOOSE(__nvvm_f2ll_##mode, x);                                                                \
    }                                                                                                        \
    EXPORT u64 __nv_float2ull_##suffix(float x) {                                                            \
        return (u64)CHOOSE(__nvvm_f2ull_##mode, x);                                                          \
    }
ROUNDED(rn, rn)
ROUNDED(rz, rz)
ROUNDED(ru, rp)
ROUNDED(rd, rm)

/* In assembly: LLVM 14 takes the conversions towards zero for those to nearest. */
#define WIDENED(name, result, type, suffix, instruction, to, from)                                           \
    EXPORT result name##suffix(type x) {                                                                     \
        result wide;                                                                                         \
        __asm__(instruction " %0, %1;" : "=" to(wide) : from(x));                                            \
        return wide;                                                                                         \
    }
#define WIDENED_ALL(suffix, mode)                                                                            \
    WIDENED(__nv_int2float_, float, int, suffix, "cvt." mode ".f32.s32", "f", "r")                           \
    WIDENED(__nv_uint2float_, float, uint, suffix, "cvt." mode ".f32.u32", "f", "r")                         \
    WIDENED(__nv_ll2float_, float, i64, suffix, "cvt." mode ".f32.s64", "f", "l")                            \
    WIDENED(__nv_ull2float_, float, u64, suffix, "cvt." mode ".f32.u64", "f", "l")                           \
    WIDENED(__nv_ll2double_, double, i64, suffix, "cvt." mode ".f64.s64", "d", "l")                          \
    WIDENED(__nv_ull2double_, double, u64, suffix, "cvt." mode ".f64.u64", "d", "l")
WIDENED_ALL(rn, "rn")
WIDENED_ALL(rz, "rz")
WIDENED_ALL(ru, "rp")
WIDENED_ALL(rd, "rm")

EXPORT double __nv_int2double_rn(int x) {
    return (double)x;
}

EXPORT double __nv_uint2double_rn(uint x) {
    return (double)x;
}

EXPORT u16 __nv_float2half_rn(float x) {
    u16 half;
    if (FLUSHES)
        __asm__("cvt.rn.ftz.f16.f32 %0, %1;" : "=h"(half) : "f"(x));
    else
        __asm__("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(x));
    return half;
}

EXPORT float __nv_half2float(u16 x) {
    float wide;
    __asm__("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(x));
    return wide;
}

EXPORT int __nv_double2hiint(double x) {
    return (int)(bits_of_double(x) >> 32);
}

EXPORT int __nv_double2loint(double x) {
    return (int)bits_of_double(x);
}

EXPORT double __nv_hiloint2double(int high, int low) {
    return double_of_bits((u64)(uint)high << 32 | (uint)low);
}

EXPORT i64 __nv_double_as_longlong(double x) {
    return (i64)bits_of_double(x);
}

EXPORT double __nv_longlong_as_double(i64 x) {
    return double_of_bits((u64)x);
}

EXPORT int __nv_float_as_int(float x) {
    return (int)bits_of_float(x);
}

EXPORT uint __nv_float_as_uint(float x) {
    return bits_of_float(x);
}

EXPORT float __nv_int_as_float(int x) {
    return float_of_bits((uint)x);
}

EXPORT float __nv_uint_as_float(uint x) {
    return float_of_bits(x);
}

#undef CHOOSE
#undef ROUNDED
#undef WIDENED
#undef WIDENED_ALL
