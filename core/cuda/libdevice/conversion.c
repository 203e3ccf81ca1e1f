// Conversions between types, and numbers as their bits.
#include "base.h"

#define ROUNDED(suffix, mode)                                                                                \
    EXPORT float __nv_double2float_##suffix(double x) {                                                      \
        return CHOOSE_CONVERSION(__nvvm_d2f_##mode, x);                                                      \
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
        return CHOOSE_CONVERSION(__nvvm_f2i_##mode, x);                                                      \
    }                                                                                                        \
    EXPORT uint __nv_float2uint_##suffix(float x) {                                                          \
        return (uint)CHOOSE_CONVERSION(__nvvm_f2ui_##mode, x);                                               \
    }                                                                                                        \
    EXPORT i64 __nv_float2ll_##suffix(float x) {                                                             \
        return CHOOSE_CONVERSION(__nvvm_f2ll_##mode, x);                                                     \
    }                                                                                                        \
    EXPORT u64 __nv_float2ull_##suffix(float x) {                                                            \
        return (u64)CHOOSE_CONVERSION(__nvvm_f2ull_##mode, x);                                               \
    }                                                                                                        \
    EXPORT float __nv_int2float_##suffix(int x) {                                                            \
        return convert_i2f_##mode(x);                                                                        \
    }                                                                                                        \
    EXPORT float __nv_uint2float_##suffix(uint x) {                                                          \
        return convert_ui2f_##mode(x);                                                                       \
    }                                                                                                        \
    EXPORT float __nv_ll2float_##suffix(i64 x) {                                                             \
        return convert_ll2f_##mode(x);                                                                       \
    }                                                                                                        \
    EXPORT float __nv_ull2float_##suffix(u64 x) {                                                            \
        return convert_ull2f_##mode(x);                                                                      \
    }                                                                                                        \
    EXPORT double __nv_ll2double_##suffix(i64 x) {                                                           \
        return convert_ll2d_##mode(x);                                                                       \
    }                                                                                                        \
    EXPORT double __nv_ull2double_##suffix(u64 x) {                                                          \
        return convert_ull2d_##mode(x);                                                                      \
    }
ROUNDED(rn, rn)
ROUNDED(rz, rz)
ROUNDED(ru, rp)
ROUNDED(rd, rm)

EXPORT double __nv_int2double_rn(int x) {
    return (double)x;
}

EXPORT double __nv_uint2double_rn(uint x) {
    return (double)x;
}

EXPORT u16 __nv_float2half_rn(float x) {
    return half_of_float(x);
}

EXPORT float __nv_half2float(u16 x) {
    return float_of_half(x);
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
