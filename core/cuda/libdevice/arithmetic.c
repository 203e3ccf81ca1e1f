// Arithmetic with a rounding mode, and the fast functions that are one or two instructions.
#include "base.h"

#define OTHER_ROUNDING(suffix, mode)                                                                         \
    EXPORT double __nv_dadd_##suffix(double a, double b) {                                                   \
        return __nvvm_add_##mode##_d(a, b);                                                                  \
    }                                                                                                        \
    EXPORT double __nv_dsub_##suffix(double a, double b) {                                                   \
        return __nvvm_add_##mode##_d(a, -b);                                                                 \
    }                                                                                                        \
    EXPORT double __nv_dmul_##suffix(double a, double b) {                                                   \
        return __nvvm_mul_##mode##_d(a, b);                                                                  \
    }                                                                                                        \
    EXPORT double __nv_ddiv_##suffix(double a, double b) {                                                   \
        return __nvvm_div_##mode##_d(a, b);                                                                  \
    }                                                                                                        \
    EXPORT double __nv_drcp_##suffix(double a) {                                                             \
        return __nvvm_rcp_##mode##_d(a);                                                                     \
    }                                                                                                        \
    EXPORT double __nv_dsqrt_##suffix(double a) {                                                            \
        return __nvvm_sqrt_##mode##_d(a);                                                                    \
    }                                                                                                        \
    EXPORT float __nv_fadd_##suffix(float a, float b) {                                                      \
        return CHOOSE(__nvvm_add_##mode, a, b);                                                              \
    }                                                                                                        \
    EXPORT float __nv_fsub_##suffix(float a, float b) {                                                      \
        return CHOOSE(__nvvm_add_##mode, a, -b);                                                             \
    }                                                                                                        \
    EXPORT float __nv_fmul_##suffix(float a, float b) {                                                      \
        return CHOOSE(__nvvm_mul_##mode, a, b);                                                              \
    }                                                                                                        \
    EXPORT float __nv_fdiv_##suffix(float a, float b) {                                                      \
        return CHOOSE(__nvvm_div_##mode, a, b);                                                              \
    }                                                                                                        \
    EXPORT float __nv_frcp_##suffix(float a) {                                                               \
        return CHOOSE(__nvvm_rcp_##mode, a);                                                                 \
    }                                                                                                        \
    EXPORT float __nv_fsqrt_##suffix(float a) {                                                              \
        return CHOOSE(__nvvm_sqrt_##mode, a);                                                                \
    }
// clang-format off
OTHER_ROUNDING(rz, rz)
OTHER_ROUNDING(ru, rp)
OTHER_ROUNDING(rd, rm)

EXPORT double __nv_dadd_rn(double a, double b) { return add_rn_d(a, b); }
EXPORT double __nv_dsub_rn(double a, double b) { return add_rn_d(a, -b); }
EXPORT double __nv_dmul_rn(double a, double b) { return mul_rn_d(a, b); }
EXPORT double __nv_ddiv_rn(double a, double b) { return div_rn_d(a, b); }
EXPORT double __nv_drcp_rn(double a) { return rcp_rn_d(a); }
EXPORT double __nv_dsqrt_rn(double a) { return sqrt_rn_d(a); }
EXPORT float __nv_fadd_rn(float a, float b) { return add_rn_f(a, b); }
EXPORT float __nv_fsub_rn(float a, float b) { return add_rn_f(a, -b); }
EXPORT float __nv_fmul_rn(float a, float b) { return mul_rn_f(a, b); }
EXPORT float __nv_fdiv_rn(float a, float b) { return div_rn_f(a, b); }
EXPORT float __nv_frcp_rn(float a) { return rcp_rn_f(a); }
EXPORT float __nv_fsqrt_rn(float a) { return sqrt_rn_f(a); }
// clang-format on

#define FUSED(suffix, mode)                                                                                  \
    EXPORT double __nv_fma_##suffix(double a, double b, double c) {                                          \
        return __nvvm_fma_##mode##_d(a, b, c);                                                               \
    }                                                                                                        \
    EXPORT float __nv_fmaf_##suffix(float a, float b, float c) {                                             \
        return CHOOSE(__nvvm_fma_##mode, a, b, c);                                                           \
    }                                                                                                        \
    EXPORT float __nv_fmaf_ieee_##suffix(float a, float b, float c) {                                        \
        return __nvvm_fma_##mode##_f(a, b, c);                                                               \
    }
FUSED(rn, rn)
FUSED(rz, rz)
FUSED(ru, rp)
FUSED(rd, rm)

EXPORT float __nv_saturatef(float x) {
    return CHOOSE(__nvvm_saturate, x);
}

EXPORT float __nv_frsqrt_rn(float x) {
    // 1 / sqrt(x) rounded once: double has bits enough, but for halves between two floats, which no x has
    return (float)div_rn_d(1, sqrt_rn_d((double)x));
}

EXPORT double __nv_rcp64h(double x) {
    return __nvvm_rcp_approx_ftz_d(x);
}

#define LOG2_OF_10 0x1.a934f0p+1f
#define LOG2_OF_E  0x1.715476p+0f
#define LN_2       0x1.62e430p-1f
#define LOG10_OF_2 0x1.344136p-2f

EXPORT float __nv_fast_sinf(float x) {
    return CHOOSE(__nvvm_sin_approx, x);
}

EXPORT float __nv_fast_cosf(float x) {
    return CHOOSE(__nvvm_cos_approx, x);
}

EXPORT void __nv_fast_sincosf(float x, float *sine, float *cosine) {
    *sine = __nv_fast_sinf(x);
    *cosine = __nv_fast_cosf(x);
}

EXPORT float __nv_fast_fdividef(float a, float b) {
    return CHOOSE(__nvvm_div_approx, a, b);
}

EXPORT float __nv_fast_tanf(float x) {
    return __nv_fast_fdividef(__nv_fast_sinf(x), __nv_fast_cosf(x));
}

EXPORT float __nv_fast_log2f(float x) {
    return CHOOSE(__nvvm_lg2_approx, x);
}

EXPORT float __nv_fast_logf(float x) {
    return __nv_fast_log2f(x) * LN_2;
}

EXPORT float __nv_fast_log10f(float x) {
    return __nv_fast_log2f(x) * LOG10_OF_2;
}

EXPORT float __nv_fast_expf(float x) {
    return CHOOSE(__nvvm_ex2_approx, x * LOG2_OF_E);
}

EXPORT float __nv_fast_exp10f(float x) {
    return CHOOSE(__nvvm_ex2_approx, x * LOG2_OF_10);
}

EXPORT float __nv_fast_powf(float x, float y) {
    return CHOOSE(__nvvm_ex2_approx, y * __nv_fast_log2f(x));
}
