/* Host functions of CUDA's mathematics that the C library has not, and intrinsics of the device there: against the device's, and what is known of them. */
#include "checks.h"

#include <cmath>

#define FUNCTIONS(F)                                                                                         \
    F(rsqrt(x), 1e-15) F(rcbrt(x), 1e-15) F(sinpi(x), 1e-15) F(cospi(x), 1e-15) F(erfcx(x), 1e-12)           \
    F(erfinv(x / 8), 1e-14) F(erfcinv(x / 8), 1e-13) F(normcdf(x), 1e-13) F(normcdfinv(x / 8), 1e-12)        \
    F(cyl_bessel_i0(x), 1e-14) F(cyl_bessel_i1(x), 1e-14) F(rhypot(x, 2.0), 1e-15) F(norm3d(x, 1.0, 2.0), 1e-15) \
    F(rnorm4d(x, 1.0, 2.0, 3.0), 1e-15) F(exp10(x), 1e-14) F(j0(x), 1e-13)                                    \
    F(rsqrt((float)x), 1e-6) F(sinpif((float)x), 1e-6) F(normcdf((float)x), 1e-6) F(erfinv((float)x / 8), 1e-6) \
    F(erfcx((float)x), 1e-6) F(rhypotf((float)x, 3.0f), 1e-6) F(fdividef((float)x, 3.0f), 1e-6)              \
    F(max((float)x, 2.0), 1e-6) F(min((float)x, 3.0f), 1e-6) F(max(3u, (int)x), 0) F(min(-1ll, (long long)x), 0) \
    F(__float_as_int((float)x), 0) F(__float_as_uint((float)-x), 0) F(__int_as_float((int)(x * 1e8)), 0)     \
    F(__uint_as_float((unsigned)(x * 2e8)), 0) F(__longlong_as_double(__double_as_longlong(x) + 1), 0)       \
    F(__hiloint2double(__double2hiint(x), __double2loint(-x)), 0)                                            \
    F(__popc(WORD(x)), 0) F(__popcll(LONG(x)), 0) F(__clz((int)x), 0) F(__clzll(-LONG(x)), 0)                \
    F(__ffs((int)x * 8), 0) F(__ffsll((long long)x << 40), 0) F(__brev(WORD(x)), 0) F(__brevll(LONG(x)), 0)  \
    F(__byte_perm(WORD(x), WORD(x * 3), (unsigned)x * 0x1357), 0)                                            \
    F(__funnelshift_l(WORD(x), 5, (unsigned)x * 9), 0) F(__funnelshift_r(WORD(x), 5, (unsigned)x * 9), 0)    \
    F(__mulhi((int)WORD(x), -77777), 0) F(__umulhi(WORD(x), 3000000000u), 0) F(__mul64hi(LONG(-x), LONG(x)), 0) \
    F(__umul64hi(LONG(x), ~0ull / 3), 0) F(__fadd_rn((float)x, 0.1f), 0) F(__fmul_rn((float)x, 0.1f), 0)     \
    F(__fdiv_rn((float)x, 3), 0) F(__fsqrt_rn((float)x), 0) F(__fmaf_rn((float)x, 0.1f, -0.3f), 0)           \
    F(__frcp_rn((float)x), 0) F(__dsub_rn(x, 0.1), 0) F(__ddiv_rn(x, 3), 0) F(__fma_rn(x, 0.1, -0.3), 0)     \
    F(__dsqrt_rn(x), 0) F(__saturatef((float)x - 1), 0) F(__fdividef((float)x, 3.0f), 1e-6) F(__ldg(&table[(int)x]), 0)

#define WORD(x) (unsigned)((x)*123456789)
#define LONG(x) (long long)((x)*123456789123456789)

enum { POINTS = 60, MOST = 64 };

static __host__ __device__ double point(int i) { return 0.0625 + i * 0.123; }

__global__ void compute(double *results) {
    const int table[8] = {1, 2, 4, 8, 16, 32, 64, 128};
    double x = point((int)threadIdx.x), *result = results + threadIdx.x * MOST;
#define F(expression, error) *result++ = (double)(expression);
    FUNCTIONS(F)
#undef F
}

int main() {
    double *results;
    CHECK(cudaMallocManaged(&results, POINTS * MOST * sizeof *results) == cudaSuccess);
    compute<<<1, POINTS>>>(results);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    for (int i = 0; i < POINTS; i++) {
        const int table[8] = {1, 2, 4, 8, 16, 32, 64, 128};
        double x = point(i), *result = results + i * MOST, host;
#define F(expression, error)                                                                                 \
    host = (double)(expression);                                                                             \
    checked++;                                                                                               \
    if (!(std::fabs(host - *result) <= error * (1 + std::fabs(host))) && ++failed < 20)                      \
        printf("%s at %g: %.17g on the host, %.17g on the device\n", #expression, x, host, *result);         \
    result++;
        FUNCTIONS(F)
#undef F
    }
    CHECK(sinpi(1e15) == 0 && cospi(0.5) == 0 && sinpi(-2.5) == -1 && cospi(1e300) == 1);
    CHECK(std::fabs(std::erf(erfinv(1e-9)) / 1e-9 - 1) < 1e-14 && std::isinf(erfcinv(0.0)) && normcdfinv(0.5) == 0);
    CHECK(std::fabs(std::erfc(erfcinv(1e-200)) / 1e-200 - 1) < 1e-11 && std::isnan(erfinv(1.5)));
    double sine, cosine;
    sincospi(0.25, &sine, &cosine);
    CHECK(std::fabs(sine - std::sqrt(0.5)) < 1e-15 && std::fabs(cosine - sine) < 1e-15);
    CHECK(cyl_bessel_i1(-1.0) == -cyl_bessel_i1(1.0) && std::fabs(cyl_bessel_i0(50.0) / 2.93255378384933503e20 - 1) < 1e-14);
    double lengths[4] = {1e200, 2e200, 2e200, 4e200};
    CHECK(std::fabs(norm(4, lengths) / 5e200 - 1) < 1e-15);
    return finish("math");
}
