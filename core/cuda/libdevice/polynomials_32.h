// Polynomials of the device library in single precision, made by fit.py: change them there.
// The comment of each: what it approximates, where, and its relative error before rounding.
#pragma once

// (exp(t) - 1 - t) / t^2, t in [-0.350039, 0.350039]: 2^-22.8
INLINE real exp_tail(real t) {
    real p = 0x1.6d16060000000p-10f;
    p = FMA(p, t, 0x1.12106c0000000p-7f);
    p = FMA(p, t, 0x1.5555160000000p-5f);
    p = FMA(p, t, 0x1.5554d80000000p-3f);
    p = FMA(p, t, 0x1.0000000000000p-1f);
    return p;
}

// (2 atanh(s) - 2 s) / s^3 of t = s^2, t in [0.0, 0.0298]: 2^-29.1
INLINE real log_tail(real t) {
    real p = 0x1.de18fe0000000p-3f;
    p = FMA(p, t, 0x1.245ae40000000p-2f);
    p = FMA(p, t, 0x1.9999ee0000000p-2f);
    p = FMA(p, t, 0x1.5555560000000p-1f);
    return p;
}

// (2 atanh(s) - 2 s - 2/3 s^3) / s^5 of t = s^2, t in [0.0, 0.0298]: 2^-21.3
INLINE real log_tail_2(real t) {
    real p = 0x1.d83d9c0000000p-3f;
    p = FMA(p, t, 0x1.2479960000000p-2f);
    p = FMA(p, t, 0x1.9999a40000000p-2f);
    return p;
}

// (sin(x) - x) / x^3 of t = x^2, t in [0.0, 0.629187]: 2^-22.9
INLINE real sin_tail(real t) {
    real p = -0x1.9aaea80000000p-13f;
    p = FMA(p, t, 0x1.110bf60000000p-7f);
    p = FMA(p, t, -0x1.5555520000000p-3f);
    return p;
}

// (cos(x) - 1 + x^2 / 2) / x^4 of t = x^2, t in [0.0, 0.629187]: 2^-24.2
INLINE real cos_tail(real t) {
    real p = 0x1.9bc2f00000000p-16f;
    p = FMA(p, t, -0x1.6c12aa0000000p-10f);
    p = FMA(p, t, 0x1.5555540000000p-5f);
    return p;
}

// (sin(pi x) - pi x) / x^3 of t = x^2, t in [0.0, 0.0626]: 2^-22.9
INLINE real sinpi_tail(real t) {
    real p = -0x1.2ee6240000000p-1f;
    p = FMA(p, t, 0x1.4665e40000000p+1f);
    p = FMA(p, t, -0x1.4abbcc0000000p+2f);
    return p;
}

// (cos(pi x) - 1) / x^2 of t = x^2, t in [0.0, 0.0626]: 2^-30.5
INLINE real cospi_tail(real t) {
    real p = 0x1.db61e60000000p-3f;
    p = FMA(p, t, -0x1.55cb900000000p+0f);
    p = FMA(p, t, 0x1.03c1ea0000000p+2f);
    p = FMA(p, t, -0x1.3bd3cc0000000p+2f);
    return p;
}

// (asin(x) - x) / x^3 of t = x^2, t in [0.0, 0.25]: 2^-25.4
INLINE real asin_tail(real t) {
    real p = 0x1.13fed40000000p-5f;
    p = FMA(p, t, 0x1.18f91e0000000p-6f);
    p = FMA(p, t, 0x1.fd8da20000000p-6f);
    p = FMA(p, t, 0x1.6d5bba0000000p-5f);
    p = FMA(p, t, 0x1.3334300000000p-4f);
    p = FMA(p, t, 0x1.5555540000000p-3f);
    return p;
}

// (atan(x) - x) / x^3 of t = x^2, t in [0.0, 1.0]: 2^-24.3
INLINE real atan_tail(real t) {
    real p = -0x1.38de560000000p-9f;
    p = FMA(p, t, 0x1.ba9f660000000p-7f);
    p = FMA(p, t, -0x1.25dc120000000p-5f);
    p = FMA(p, t, 0x1.0001c60000000p-4f);
    p = FMA(p, t, -0x1.6295f80000000p-4f);
    p = FMA(p, t, 0x1.c3f1680000000p-4f);
    p = FMA(p, t, -0x1.246cd20000000p-3f);
    p = FMA(p, t, 0x1.99983c0000000p-3f);
    p = FMA(p, t, -0x1.5555540000000p-2f);
    return p;
}

// (sinh(x) - x) / x^3 of t = x^2, t in [0.0, 1.0]: 2^-29.6
INLINE real sinh_tail(real t) {
    real p = 0x1.78a70e0000000p-19f;
    p = FMA(p, t, 0x1.a009000000000p-13f);
    p = FMA(p, t, 0x1.11111e0000000p-7f);
    p = FMA(p, t, 0x1.5555560000000p-3f);
    return p;
}

// (tanh(x) - x) / x^3 of t = x^2, t in [0.0, 0.31]: 2^-29.5
INLINE real tanh_tail(real t) {
    real p = 0x1.4862c60000000p-9f;
    p = FMA(p, t, -0x1.16ea420000000p-7f);
    p = FMA(p, t, 0x1.656aa40000000p-6f);
    p = FMA(p, t, -0x1.ba137a0000000p-5f);
    p = FMA(p, t, 0x1.1111040000000p-3f);
    p = FMA(p, t, -0x1.5555560000000p-2f);
    return p;
}

// erf(x) / x - 1 of t = x^2, t in [0.0, 1.0]: 2^-27.5
INLINE real erf_tail(real t) {
    real p = -0x1.445f480000000p-17f;
    p = FMA(p, t, 0x1.d887500000000p-14f);
    p = FMA(p, t, -0x1.bccf660000000p-11f);
    p = FMA(p, t, 0x1.562a600000000p-8f);
    p = FMA(p, t, -0x1.b829c80000000p-6f);
    p = FMA(p, t, 0x1.ce2f080000000p-4f);
    p = FMA(p, t, -0x1.8127460000000p-2f);
    p = FMA(p, t, 0x1.06eba80000000p-3f);
    return p;
}

// (1 + 2 x) erfcx(x) of t = (x - 4) / (x + 4), t in [-1.0, 1.0]: 2^-24.1
INLINE real erfcx_part(real t) {
    real p = -0x1.023e640000000p-12f;
    p = FMA(p, t, -0x1.7faec40000000p-12f);
    p = FMA(p, t, 0x1.4cae060000000p-8f);
    p = FMA(p, t, -0x1.1042340000000p-6f);
    p = FMA(p, t, 0x1.304dda0000000p-5f);
    p = FMA(p, t, -0x1.0ed19a0000000p-4f);
    p = FMA(p, t, 0x1.7ff2ec0000000p-4f);
    p = FMA(p, t, -0x1.9e0eb80000000p-4f);
    p = FMA(p, t, 0x1.16ec860000000p-4f);
    p = FMA(p, t, 0x1.f819080000000p-7f);
    p = FMA(p, t, -0x1.1df1ac0000000p-3f);
    p = FMA(p, t, 0x1.3ba5900000000p+0f);
    return p;
}

// log2(erfc(x)) of t = x - 2.5, t in [-1.51, 1.6]: 2^-28.3
INLINE real erf_log(real t) {
    real p = 0x1.34a7a20000000p-19f;
    p = FMA(p, t, -0x1.4316620000000p-16f);
    p = FMA(p, t, 0x1.d4c5f20000000p-14f);
    p = FMA(p, t, -0x1.3daf100000000p-11f);
    p = FMA(p, t, 0x1.9968f80000000p-9f);
    p = FMA(p, t, -0x1.00aae20000000p-6f);
    p = FMA(p, t, -0x1.5c9bb00000000p+0f);
    p = FMA(p, t, -0x1.ee39ee0000000p+2f);
    p = FMA(p, t, -0x1.68694c0000000p+3f);
    return p;
}

// erfinv(x) / x - 1 of t = w - 3, w = -log(1 - x^2), t in [-3.0, 3.0]: 2^-16.4
INLINE real erfinv_centre(real t) {
    real p = 0x1.8531fa0000000p-31f;
    p = FMA(p, t, -0x1.759ab60000000p-28f);
    p = FMA(p, t, -0x1.5a6f0a0000000p-26f);
    p = FMA(p, t, 0x1.e0b42c0000000p-22f);
    p = FMA(p, t, -0x1.d8e4ea0000000p-20f);
    p = FMA(p, t, -0x1.aa46be0000000p-17f);
    p = FMA(p, t, 0x1.991e720000000p-13f);
    p = FMA(p, t, -0x1.b669700000000p-11f);
    p = FMA(p, t, -0x1.780e1a0000000p-8f);
    p = FMA(p, t, 0x1.eedbee0000000p-3f);
    p = FMA(p, t, 0x1.3f40e60000000p-1f);
    return p;
}

// erfinv(x) / x - 1 of t = x^2, t in [0.0, 0.7]: 2^-20.1
INLINE real erfinv_small(real t) {
    real p = 0x1.13bdb40000000p+3f;
    p = FMA(p, t, -0x1.e1d2820000000p+4f);
    p = FMA(p, t, 0x1.793f8c0000000p+5f);
    p = FMA(p, t, -0x1.5617c60000000p+5f);
    p = FMA(p, t, 0x1.8d2eaa0000000p+4f);
    p = FMA(p, t, -0x1.2f919c0000000p+3f);
    p = FMA(p, t, 0x1.3e60c80000000p+1f);
    p = FMA(p, t, -0x1.7216f40000000p-2f);
    p = FMA(p, t, 0x1.bf2b4c0000000p-4f);
    p = FMA(p, t, 0x1.571cb80000000p-4f);
    p = FMA(p, t, 0x1.056b7c0000000p-3f);
    p = FMA(p, t, 0x1.db29620000000p-3f);
    p = FMA(p, t, -0x1.d203b60000000p-4f);
    return p;
}

// erfinv(x) / x - 1 of t = sqrt(w) - 3.2, t in [-0.76, 0.81]: 2^-24.5
INLINE real erfinv_near(real t) {
    real p = -0x1.d680ee0000000p-15f;
    p = FMA(p, t, -0x1.d820160000000p-13f);
    p = FMA(p, t, 0x1.1c42540000000p-10f);
    p = FMA(p, t, -0x1.0d1b300000000p-9f);
    p = FMA(p, t, 0x1.831d7c0000000p-9f);
    p = FMA(p, t, -0x1.18c3d40000000p-8f);
    p = FMA(p, t, 0x1.876c300000000p-8f);
    p = FMA(p, t, 0x1.01337e0000000p+0f);
    p = FMA(p, t, 0x1.044e340000000p+1f);
    return p;
}

// erfinv(x) / x - 1 of t = sqrt(w) - 5, t in [-1.01, 1.2]: 2^-25.9
INLINE real erfinv_far(real t) {
    real p = 0x1.265a2e0000000p-18f;
    p = FMA(p, t, -0x1.6d47c20000000p-16f);
    p = FMA(p, t, 0x1.419b0c0000000p-14f);
    p = FMA(p, t, -0x1.c075f60000000p-13f);
    p = FMA(p, t, -0x1.2391000000000p-13f);
    p = FMA(p, t, 0x1.02a30a0000000p+0f);
    p = FMA(p, t, 0x1.ecc9bc0000000p+1f);
    return p;
}

// erfinv(x) / x - 1 of t = sqrt(w) - 9, t in [-3.0, 3.1]: 2^-25.8
INLINE real erfinv_farther(real t) {
    real p = -0x1.ceadde0000000p-28f;
    p = FMA(p, t, 0x1.a181320000000p-25f);
    p = FMA(p, t, -0x1.36e0400000000p-23f);
    p = FMA(p, t, -0x1.6548360000000p-22f);
    p = FMA(p, t, 0x1.58ce2e0000000p-16f);
    p = FMA(p, t, -0x1.ac9cf00000000p-12f);
    p = FMA(p, t, 0x1.01b8e20000000p+0f);
    p = FMA(p, t, 0x1.f897e40000000p+2f);
    return p;
}

// lgamma(1 + t) / t, t in [-0.2501, 0.5]: 2^-26.3
INLINE real lgamma_at_1(real t) {
    real p = 0x1.65fb1a0000000p-5f;
    p = FMA(p, t, -0x1.a818640000000p-4f);
    p = FMA(p, t, 0x1.0e9f460000000p-3f);
    p = FMA(p, t, -0x1.2b7dfa0000000p-3f);
    p = FMA(p, t, 0x1.5ae8f60000000p-3f);
    p = FMA(p, t, -0x1.a880380000000p-3f);
    p = FMA(p, t, 0x1.1512ec0000000p-2f);
    p = FMA(p, t, -0x1.9a4dc60000000p-2f);
    p = FMA(p, t, 0x1.a51a680000000p-1f);
    p = FMA(p, t, -0x1.2788d00000000p-1f);
    return p;
}

// lgamma(2 + t) / t, t in [-0.5, 1.0]: 2^-26.4
INLINE real lgamma_at_2(real t) {
    real p = 0x1.6d8c160000000p-15f;
    p = FMA(p, t, -0x1.b3567c0000000p-13f);
    p = FMA(p, t, 0x1.18f2560000000p-11f);
    p = FMA(p, t, -0x1.3d38280000000p-10f);
    p = FMA(p, t, 0x1.7a852c0000000p-9f);
    p = FMA(p, t, -0x1.e3caac0000000p-8f);
    p = FMA(p, t, 0x1.5131f20000000p-6f);
    p = FMA(p, t, -0x1.13e03a0000000p-4f);
    p = FMA(p, t, 0x1.4a34cc0000000p-2f);
    p = FMA(p, t, 0x1.b0ee600000000p-2f);
    return p;
}

// x (lgamma(x) - (x - 1/2) log(x) + x - log(2 pi) / 2) of t = 1 / x^2, t in [0.0, 0.015625]: 2^-30.2
INLINE real stirling(real t) {
    real p = 0x1.98f67c0000000p-11f;
    p = FMA(p, t, -0x1.6c14180000000p-9f);
    p = FMA(p, t, 0x1.5555560000000p-4f);
    return p;
}

// (1 / tgamma(1 + t) - 1) / t, t in [-0.5, 0.5]: 2^-28.1
INLINE real gamma_inverse(real t) {
    real p = -0x1.daa5000000000p-13f;
    p = FMA(p, t, -0x1.1ea1f40000000p-10f);
    p = FMA(p, t, 0x1.d93c680000000p-8f);
    p = FMA(p, t, -0x1.3bbbaa0000000p-7f);
    p = FMA(p, t, -0x1.59af5c0000000p-5f);
    p = FMA(p, t, 0x1.5512b00000000p-3f);
    p = FMA(p, t, -0x1.5815e80000000p-5f);
    p = FMA(p, t, -0x1.4fcf400000000p-1f);
    p = FMA(p, t, 0x1.2788d00000000p-1f);
    return p;
}

// j0(x) / (x^2 - z^2) of t = x^2 - 8, z its first zero, t in [-8.0, 8.0]: 2^-27.3
INLINE real j0_near(real t) {
    real p = -0x1.09263e0000000p-39f;
    p = FMA(p, t, 0x1.8892d20000000p-32f);
    p = FMA(p, t, -0x1.a4b2080000000p-25f);
    p = FMA(p, t, 0x1.33f98c0000000p-18f);
    p = FMA(p, t, -0x1.1705720000000p-12f);
    p = FMA(p, t, 0x1.08d9040000000p-7f);
    p = FMA(p, t, -0x1.6b29480000000p-4f);
    return p;
}

// j0(x) / (x - z) of t = x - 6, z its second zero, t in [-2.0, 2.0]: 2^-26.4
INLINE real j0_far(real t) {
    real p = -0x1.7cab3e0000000p-29f;
    p = FMA(p, t, -0x1.a9e9e60000000p-25f);
    p = FMA(p, t, 0x1.93ddd00000000p-22f);
    p = FMA(p, t, 0x1.518fd80000000p-18f);
    p = FMA(p, t, -0x1.10484c0000000p-15f);
    p = FMA(p, t, -0x1.3078080000000p-12f);
    p = FMA(p, t, 0x1.bb36000000000p-10f);
    p = FMA(p, t, 0x1.15615c0000000p-7f);
    p = FMA(p, t, -0x1.63c7620000000p-5f);
    p = FMA(p, t, -0x1.3d97020000000p-4f);
    p = FMA(p, t, 0x1.416dca0000000p-2f);
    return p;
}

// j1(x) / (x (x^2 - z^2)) of t = x^2 - 12.5, z its first zero, t in [-12.5, 12.5]: 2^-24.5
INLINE real j1_near(real t) {
    real p = -0x1.d88d2c0000000p-44f;
    p = FMA(p, t, 0x1.8aa8520000000p-36f);
    p = FMA(p, t, -0x1.e3bcbc0000000p-29f);
    p = FMA(p, t, 0x1.9f32560000000p-22f);
    p = FMA(p, t, -0x1.c74a720000000p-16f);
    p = FMA(p, t, 0x1.1288960000000p-10f);
    p = FMA(p, t, -0x1.041c940000000p-6f);
    return p;
}

// j1(x) / (x - z) of t = x - 6.5, z its second zero, t in [-1.5, 1.5]: 2^-28.1
INLINE real j1_far(real t) {
    real p = -0x1.89f1e40000000p-31f;
    p = FMA(p, t, 0x1.43f8780000000p-21f);
    p = FMA(p, t, -0x1.ecc8be0000000p-24f);
    p = FMA(p, t, -0x1.9c3ef80000000p-15f);
    p = FMA(p, t, 0x1.7a11ee0000000p-16f);
    p = FMA(p, t, 0x1.25be200000000p-9f);
    p = FMA(p, t, -0x1.73a59e0000000p-10f);
    p = FMA(p, t, -0x1.8bedb20000000p-5f);
    p = FMA(p, t, 0x1.d08a400000000p-6f);
    p = FMA(p, t, 0x1.318ace0000000p-2f);
    return p;
}

// (y0(x) - 2 / pi log(x / z) j0(x)) / (x^2 - z^2) of t = x^2, z its first zero, t in [0.0, 9.0]: 2^-26.1
INLINE real y0_near(real t) {
    real p = -0x1.7bf37e0000000p-31f;
    p = FMA(p, t, 0x1.ca67680000000p-24f);
    p = FMA(p, t, -0x1.4bd8760000000p-17f);
    p = FMA(p, t, 0x1.2689360000000p-11f);
    p = FMA(p, t, -0x1.1258360000000p-6f);
    p = FMA(p, t, 0x1.7508120000000p-3f);
    return p;
}

// y0(x) / (x - z) of t = x - 4.25, z its second zero, t in [-1.25, 1.25]: 2^-30.2
INLINE real y0_middle(real t) {
    real p = 0x1.8c3bf40000000p-27f;
    p = FMA(p, t, -0x1.08e25e0000000p-22f);
    p = FMA(p, t, -0x1.76e5060000000p-18f);
    p = FMA(p, t, 0x1.5098dc0000000p-15f);
    p = FMA(p, t, 0x1.20c0900000000p-12f);
    p = FMA(p, t, -0x1.e19eda0000000p-10f);
    p = FMA(p, t, -0x1.2df2940000000p-7f);
    p = FMA(p, t, 0x1.a578500000000p-5f);
    p = FMA(p, t, 0x1.54653c0000000p-4f);
    p = FMA(p, t, -0x1.880d000000000p-2f);
    return p;
}

// y0(x) / (x - z) of t = x - 6.75, z its third zero, t in [-1.25, 1.25]: 2^-31.0
INLINE real y0_far(real t) {
    real p = -0x1.d13f560000000p-27f;
    p = FMA(p, t, 0x1.4e654a0000000p-21f);
    p = FMA(p, t, 0x1.1a44cc0000000p-20f);
    p = FMA(p, t, -0x1.a692060000000p-15f);
    p = FMA(p, t, -0x1.671e380000000p-15f);
    p = FMA(p, t, 0x1.3192080000000p-9f);
    p = FMA(p, t, 0x1.1bae8e0000000p-12f);
    p = FMA(p, t, -0x1.9860860000000p-5f);
    p = FMA(p, t, 0x1.858bb60000000p-7f);
    p = FMA(p, t, 0x1.34eee40000000p-2f);
    return p;
}

// (y1(x) - 2 / pi log(x / z) j1(x)) x / (x^2 - z^2) of t = x^2, z its first zero, t in [0.0, 16.0]: 2^-24.7
INLINE real y1_near(real t) {
    real p = -0x1.037aa80000000p-35f;
    p = FMA(p, t, 0x1.88f68e0000000p-28f);
    p = FMA(p, t, -0x1.4e0b700000000p-21f);
    p = FMA(p, t, 0x1.5b8a380000000p-15f);
    p = FMA(p, t, -0x1.7c2a940000000p-10f);
    p = FMA(p, t, 0x1.0699020000000p-6f);
    p = FMA(p, t, 0x1.0e14c00000000p-3f);
    return p;
}

// y1(x) / (x - z) of t = x - 6, z its second zero, t in [-2.0, 2.0]: 2^-26.1
INLINE real y1_far(real t) {
    real p = 0x1.a048220000000p-29f;
    p = FMA(p, t, 0x1.89029e0000000p-25f);
    p = FMA(p, t, -0x1.72c7580000000p-22f);
    p = FMA(p, t, -0x1.4ac2b60000000p-18f);
    p = FMA(p, t, 0x1.005a0a0000000p-15f);
    p = FMA(p, t, 0x1.26625a0000000p-12f);
    p = FMA(p, t, -0x1.94a78c0000000p-10f);
    p = FMA(p, t, -0x1.155cc40000000p-7f);
    p = FMA(p, t, 0x1.4739ee0000000p-5f);
    p = FMA(p, t, 0x1.5791520000000p-4f);
    p = FMA(p, t, -0x1.3a3a8c0000000p-2f);
    return p;
}

// sqrt((j0^2 + y0^2) pi x / 2) of t = 64 / x^2, t in [0.0, 1.0]: 2^-29.1
INLINE real modulus_0(real t) {
    real p = -0x1.a2c1a00000000p-20f;
    p = FMA(p, t, 0x1.a326140000000p-16f);
    p = FMA(p, t, -0x1.fff8880000000p-11f);
    p = FMA(p, t, 0x1.0000000000000p+0f);
    return p;
}

// x (the phase of j0 + i y0 - x + pi / 4) of t = 64 / x^2, t in [0.0, 1.0]: 2^-28.3
INLINE real phase_0(real t) {
    real p = -0x1.7cfef80000000p-21f;
    p = FMA(p, t, 0x1.826a0c0000000p-18f);
    p = FMA(p, t, -0x1.abdb880000000p-15f);
    p = FMA(p, t, 0x1.0aa9600000000p-10f);
    p = FMA(p, t, -0x1.0000000000000p-3f);
    return p;
}

// sqrt((j1^2 + y1^2) pi x / 2) of t = 64 / x^2, t in [0.0, 1.0]: 2^-28.7
INLINE real modulus_1(real t) {
    real p = 0x1.3ff6e20000000p-19f;
    p = FMA(p, t, -0x1.88b66c0000000p-15f);
    p = FMA(p, t, 0x1.7ffd760000000p-9f);
    p = FMA(p, t, 0x1.0000000000000p+0f);
    return p;
}

// x (the phase of j1 + i y1 - x + 3 pi / 4) of t = 64 / x^2, t in [0.0, 1.0]: 2^-29.5
INLINE real phase_1(real t) {
    real p = 0x1.01e0f80000000p-20f;
    p = FMA(p, t, -0x1.1a79d40000000p-17f);
    p = FMA(p, t, 0x1.7af2e40000000p-14f);
    p = FMA(p, t, -0x1.4fff2e0000000p-9f);
    p = FMA(p, t, 0x1.8000000000000p-2f);
    return p;
}

// (i0(x) - 1) / x^2 of t = x^2, t in [0.0, 16.0]: 2^-29.3
INLINE real i0_near(real t) {
    real p = 0x1.a472b00000000p-39f;
    p = FMA(p, t, 0x1.f731160000000p-32f);
    p = FMA(p, t, 0x1.23e77e0000000p-24f);
    p = FMA(p, t, 0x1.c70e220000000p-18f);
    p = FMA(p, t, 0x1.c71d0c0000000p-12f);
    p = FMA(p, t, 0x1.fffffc0000000p-7f);
    p = FMA(p, t, 0x1.0000000000000p-2f);
    return p;
}

// i0(x) exp(-x) of t = x - 6, t in [-2.0, 2.0]: 2^-26.0
INLINE real i0_middle(real t) {
    real p = -0x1.f98cfe0000000p-28f;
    p = FMA(p, t, 0x1.8cbd720000000p-25f);
    p = FMA(p, t, -0x1.be575e0000000p-23f);
    p = FMA(p, t, 0x1.483dee0000000p-20f);
    p = FMA(p, t, -0x1.f749000000000p-18f);
    p = FMA(p, t, 0x1.7e66700000000p-15f);
    p = FMA(p, t, -0x1.2dd4000000000p-12f);
    p = FMA(p, t, 0x1.fb3f000000000p-10f);
    p = FMA(p, t, -0x1.de9bca0000000p-7f);
    p = FMA(p, t, 0x1.55507e0000000p-3f);
    return p;
}

// i0(x) exp(-x) sqrt(x) of t = 16 / x - 1, t in [-1.0, 1.0]: 2^-32.7
INLINE real i0_far(real t) {
    real p = 0x1.b9a6ae0000000p-29f;
    p = FMA(p, t, 0x1.10994e0000000p-25f);
    p = FMA(p, t, 0x1.b7129c0000000p-24f);
    p = FMA(p, t, 0x1.49c5ee0000000p-22f);
    p = FMA(p, t, 0x1.8d544a0000000p-20f);
    p = FMA(p, t, 0x1.75cb380000000p-17f);
    p = FMA(p, t, 0x1.1daa980000000p-13f);
    p = FMA(p, t, 0x1.b8796c0000000p-9f);
    p = FMA(p, t, 0x1.9bd4280000000p-2f);
    return p;
}

// (i1(x) / x - 1/2) / x^2 of t = x^2, t in [0.0, 16.0]: 2^-31.5
INLINE real i1_near(real t) {
    real p = 0x1.9a86840000000p-43f;
    p = FMA(p, t, 0x1.217c3a0000000p-35f);
    p = FMA(p, t, 0x1.84ea660000000p-28f);
    p = FMA(p, t, 0x1.6c10800000000p-21f);
    p = FMA(p, t, 0x1.c71cb40000000p-15f);
    p = FMA(p, t, 0x1.5555540000000p-9f);
    p = FMA(p, t, 0x1.0000000000000p-4f);
    return p;
}

// i1(x) exp(-x) of t = x - 6, t in [-2.0, 2.0]: 2^-26.3
INLINE real i1_middle(real t) {
    real p = 0x1.2dfe8a0000000p-28f;
    p = FMA(p, t, -0x1.93f95c0000000p-26f);
    p = FMA(p, t, 0x1.249e0c0000000p-24f);
    p = FMA(p, t, -0x1.be20120000000p-23f);
    p = FMA(p, t, 0x1.5c3d6e0000000p-24f);
    p = FMA(p, t, 0x1.0da4540000000p-17f);
    p = FMA(p, t, -0x1.bb7a400000000p-14f);
    p = FMA(p, t, 0x1.18e2500000000p-10f);
    p = FMA(p, t, -0x1.5fcb900000000p-7f);
    p = FMA(p, t, 0x1.3766c20000000p-3f);
    return p;
}

// i1(x) exp(-x) sqrt(x) of t = 16 / x - 1, t in [-1.0, 1.0]: 2^-32.5
INLINE real i1_far(real t) {
    real p = -0x1.23284c0000000p-28f;
    p = FMA(p, t, -0x1.346b220000000p-25f);
    p = FMA(p, t, -0x1.eaa3160000000p-24f);
    p = FMA(p, t, -0x1.809bfe0000000p-22f);
    p = FMA(p, t, -0x1.eb82d20000000p-20f);
    p = FMA(p, t, -0x1.f881060000000p-17f);
    p = FMA(p, t, -0x1.cbc5760000000p-13f);
    p = FMA(p, t, -0x1.3f79620000000p-7f);
    p = FMA(p, t, 0x1.8ebe780000000p-2f);
    return p;
}
