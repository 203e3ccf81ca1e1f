/* What random words become: uniform numbers above 0 and up to 1, normal ones in pairs (Box and Muller), Poisson's. */

/* --- Uniform ------------------------------------------------------------------------------------------------ */

WARPWRIGHT_DEVICE float __warpwright_uniform(unsigned word) {
    const float step = 1 / 4294967296.0f; /* 2^-32 */
    return word * step + step / 2;
}

WARPWRIGHT_DEVICE double __warpwright_uniform_double(unsigned low, unsigned high) {
    const double step = 1 / 9007199254740992.0; /* 2^-53 */
    return (low ^ (unsigned long long)high << 21) * step + step / 2;
}

WARPWRIGHT_DEVICE float curand_uniform(curandStateXORWOW_t *state) {
    return __warpwright_uniform(curand(state));
}

WARPWRIGHT_DEVICE float curand_uniform(curandStatePhilox4_32_10_t *state) {
    return __warpwright_uniform(curand(state));
}

WARPWRIGHT_DEVICE float curand_uniform(curandStateMRG32k3a_t *state) {
    return (float)(__warpwright_mrg(state) * (1.0 / __warpwright_m1));
}

template <class State> WARPWRIGHT_DEVICE double __warpwright_two_words(State *state) {
    unsigned low = curand(state), high = curand(state);
    return __warpwright_uniform_double(low, high);
}

WARPWRIGHT_DEVICE double curand_uniform_double(curandStateXORWOW_t *state) {
    return __warpwright_two_words(state);
}

/* Of one word, as CUDA's documentation says; curand_uniform2_double is of two for each number. */
WARPWRIGHT_DEVICE double curand_uniform_double(curandStatePhilox4_32_10_t *state) {
    const double step = 1 / 4294967296.0; /* 2^-32 */
    return curand(state) * step + step;
}

WARPWRIGHT_DEVICE double curand_uniform_double(curandStateMRG32k3a_t *state) {
    return __warpwright_mrg(state) * (1.0 / __warpwright_m1);
}

WARPWRIGHT_DEVICE float4 curand_uniform4(curandStatePhilox4_32_10_t *state) {
    uint4 w = curand4(state);
    return make_float4(__warpwright_uniform(w.x), __warpwright_uniform(w.y), __warpwright_uniform(w.z),
                       __warpwright_uniform(w.w));
}

WARPWRIGHT_DEVICE double2 curand_uniform2_double(curandStatePhilox4_32_10_t *state) {
    uint4 w = curand4(state);
    return make_double2(__warpwright_uniform_double(w.x, w.y), __warpwright_uniform_double(w.z, w.w));
}

/* --- Normal: mean 0, standard deviation 1 ------------------------------------------------------------------- */

WARPWRIGHT_DEVICE float2 __warpwright_normal_pair(float u, float v) {
    float radius = sqrtf(-2.0f * logf(u)), sine, cosine;
    __sincosf(v * 6.2831855f, &sine, &cosine);
    return make_float2(radius * sine, radius * cosine);
}

WARPWRIGHT_DEVICE double2 __warpwright_normal_pair(double u, double v) {
    double radius = sqrt(-2.0 * log(u)), sine, cosine;
    sincospi(2.0 * v, &sine, &cosine);
    return make_double2(radius * sine, radius * cosine);
}

template <class State> WARPWRIGHT_DEVICE double2 __warpwright_two_uniform(State *state) {
    double u = curand_uniform_double(state), v = curand_uniform_double(state);
    return make_double2(u, v);
}
WARPWRIGHT_DEVICE double2 __warpwright_two_uniform(curandStatePhilox4_32_10_t *state) {
    return curand_uniform2_double(state);
}

enum { __warpwright_keeps_nothing, __warpwright_keeps_normal, __warpwright_keeps_log_normal };
/* The first number of a new pair, whose second one is kept, or the one that was kept: a pair belongs to one distribution. */
#define WARPWRIGHT_ONE_OF(new_pair, kind, flag, extra)                                                       \
    bool is_kept = state->flag == __warpwright_keeps_##kind;                                                 \
    state->flag = is_kept ? __warpwright_keeps_nothing : __warpwright_keeps_##kind;                          \
    if (is_kept) return state->extra;                                                                        \
    auto pair = new_pair;                                                                                    \
    state->extra = pair.y;                                                                                   \
    return pair.x
#define WARPWRIGHT_NORMAL(State)                                                                             \
    WARPWRIGHT_DEVICE float2 curand_normal2(State *state) {                                                  \
        float u = curand_uniform(state), v = curand_uniform(state);                                          \
        return __warpwright_normal_pair(u, v);                                                               \
    }                                                                                                        \
    WARPWRIGHT_DEVICE double2 curand_normal2_double(State *state) {                                          \
        double2 uniform = __warpwright_two_uniform(state);                                                   \
        return __warpwright_normal_pair(uniform.x, uniform.y);                                               \
    }                                                                                                        \
    WARPWRIGHT_DEVICE float2 curand_log_normal2(State *state, float mean, float stddev) {                    \
        float2 pair = curand_normal2(state);                                                                 \
        return make_float2(expf(mean + stddev * pair.x), expf(mean + stddev * pair.y));                      \
    }                                                                                                        \
    WARPWRIGHT_DEVICE double2 curand_log_normal2_double(State *state, double mean, double stddev) {          \
        double2 pair = curand_normal2_double(state);                                                         \
        return make_double2(exp(mean + stddev * pair.x), exp(mean + stddev * pair.y));                       \
    }                                                                                                        \
    WARPWRIGHT_DEVICE float curand_normal(State *state) {                                                    \
        WARPWRIGHT_ONE_OF(curand_normal2(state), normal, boxmuller_flag, boxmuller_extra);                   \
    }                                                                                                        \
    WARPWRIGHT_DEVICE double curand_normal_double(State *state) {                                            \
        WARPWRIGHT_ONE_OF(curand_normal2_double(state), normal, boxmuller_flag_double,                       \
                          boxmuller_extra_double);                                                           \
    }                                                                                                        \
    WARPWRIGHT_DEVICE float curand_log_normal(State *state, float mean, float stddev) {                      \
        WARPWRIGHT_ONE_OF(curand_log_normal2(state, mean, stddev), log_normal, boxmuller_flag,               \
                          boxmuller_extra);                                                                  \
    }                                                                                                        \
    WARPWRIGHT_DEVICE double curand_log_normal_double(State *state, double mean, double stddev) {            \
        WARPWRIGHT_ONE_OF(curand_log_normal2_double(state, mean, stddev), log_normal, boxmuller_flag_double, \
                          boxmuller_extra_double);                                                           \
    }
WARPWRIGHT_NORMAL(curandStateXORWOW_t)
WARPWRIGHT_NORMAL(curandStateMRG32k3a_t)
WARPWRIGHT_NORMAL(curandStatePhilox4_32_10_t)
#undef WARPWRIGHT_NORMAL
#undef WARPWRIGHT_ONE_OF

WARPWRIGHT_DEVICE float4 curand_normal4(curandStatePhilox4_32_10_t *state) {
    float4 u = curand_uniform4(state);
    float2 first = __warpwright_normal_pair(u.x, u.y), second = __warpwright_normal_pair(u.z, u.w);
    return make_float4(first.x, first.y, second.x, second.y);
}

WARPWRIGHT_DEVICE float4 curand_log_normal4(curandStatePhilox4_32_10_t *state, float mean, float stddev) {
    float4 n = curand_normal4(state);
    return make_float4(expf(mean + stddev * n.x), expf(mean + stddev * n.y), expf(mean + stddev * n.z),
                       expf(mean + stddev * n.w));
}

/* --- Poisson ------------------------------------------------------------------------------------------------ */

/* Below 32 the uniform numbers until their product is less than e^-mean; above, Hoermann's rejection from a transformed
 * uniform number (PTRS, The Transformed Rejection Method for Generating Poisson Random Variables, 1993). */
template <class State> WARPWRIGHT_ONCE unsigned __warpwright_poisson(State *state, double mean) {
    if (mean < 32) {
        unsigned count = 0;
        for (double product = curand_uniform_double(state), least = exp(-mean); product > least; count++)
            product *= curand_uniform_double(state);
        return count;
    }
    double b = 0.931 + 2.53 * sqrt(mean), a = -0.059 + 0.02483 * b, logarithm = log(mean);
    double alpha = 1.1239 + 1.1328 / (b - 3.4), quick = 0.9277 - 3.6224 / (b - 2);
    for (;;) {
        double u = curand_uniform_double(state) - 0.5, v = curand_uniform_double(state);
        double distance = 0.5 - fabs(u), k = floor((2 * a / distance + b) * u + mean + 0.43);
        if (distance >= 0.07 && v <= quick) return (unsigned)k;
        if (k < 0 || (distance < 0.013 && v > distance)) continue;
        if (log(v * alpha / (a / (distance * distance) + b)) <= k * logarithm - mean - lgamma(k + 1))
            return (unsigned)k;
    }
}

WARPWRIGHT_DEVICE unsigned curand_poisson(curandStateXORWOW_t *state, double lambda) {
    return __warpwright_poisson(state, lambda);
}

WARPWRIGHT_DEVICE unsigned curand_poisson(curandStateMRG32k3a_t *state, double lambda) {
    return __warpwright_poisson(state, lambda);
}

WARPWRIGHT_DEVICE unsigned curand_poisson(curandStatePhilox4_32_10_t *state, double lambda) {
    return __warpwright_poisson(state, lambda);
}

WARPWRIGHT_DEVICE uint4 curand_poisson4(curandStatePhilox4_32_10_t *state, double lambda) {
    unsigned x = __warpwright_poisson(state, lambda), y = __warpwright_poisson(state, lambda);
    unsigned z = __warpwright_poisson(state, lambda), w = __warpwright_poisson(state, lambda);
    return make_uint4(x, y, z, w);
}
