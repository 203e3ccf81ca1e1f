// The Black-Scholes prices of European options: what a call and a put are worth. Few threads, each of which
// takes options a whole grid apart: three coalesced loads and two stores for some sixty instructions, nothing
// used twice.
#include "../cuda.h"

// The normal distribution: how likely a value below x is. A polynomial of Abramowitz and Stegun (26.2.17),
// within 7.5e-8.
static inline __device__ float normal_distribution(float x) {
    float k = 1.0f / fmaf(0.2316419f, fabsf(x), 1.0f);
    float polynomial = 1.330274429f;
    polynomial = fmaf(polynomial, k, -1.821255978f);
    polynomial = fmaf(polynomial, k, 1.781477937f);
    polynomial = fmaf(polynomial, k, -0.356563782f);
    polynomial = fmaf(polynomial, k, 0.319381530f);
    float above = 0.3989422804f * __expf(-0.5f * x * x) * k * polynomial;
    return x > 0 ? 1.0f - above : above;
}

extern "C" __global__ void black_scholes(const float *price, const float *strike, const float *years,
                                         float *call, float *put, float rate, float volatility, int options) {
    int threads = gridDim.x * blockDim.x;
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < options; i += threads) {
        float s = price[i], x = strike[i], t = years[i];
        float inverse_root = rsqrtf(t);
        float deviation = volatility * (t * inverse_root);
        float drift = fmaf(0.5f * volatility, volatility, rate) * t;
        float d1 = (__logf(s / x) + drift) / deviation;
        float d2 = d1 - deviation;
        float n1 = normal_distribution(d1), n2 = normal_distribution(d2);
        float discounted = x * __expf(-rate * t);
        call[i] = s * n1 - discounted * n2;
        put[i] = discounted * (1.0f - n2) - s * (1.0f - n1);
    }
}
