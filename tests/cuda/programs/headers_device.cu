/* What device code has without an #include, against plain C++ on the host. */
#include "checks.h"

#include <stdint.h>
#include <stdlib.h>
#include <vector>

static uint32_t random_word() {
    static uint64_t state = 88172645463325252ull;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 16);
}

template <class T> static T *managed(size_t count) {
    T *memory = NULL;
    CHECK(cudaMallocManaged(&memory, count * sizeof(T)) == cudaSuccess);
    return memory;
}
static void settle() {
    CHECK(cudaGetLastError() == cudaSuccess);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
}

/* ---- functions of two words: the kernel's and the reference's */

#define WORD_FUNCTIONS(F)                                                                                    \
    F(__brev(a), reverse(a))                                                                                 \
    F(__clz(a), a ? __builtin_clz(a) : 32)                                                                   \
    F(__popc(a), __builtin_popcount(a))                                                                      \
    F(__ffs(a), __builtin_ffs(a))                                                                            \
    F(__byte_perm(a, b, 0x3715), permuted(a, b, 0x3715))                                                     \
    F(__funnelshift_l(a, b, b & 63), (uint32_t)((((uint64_t)b << 32 | a) << (b & 31)) >> 32))                \
    F(__funnelshift_r(a, b, b & 63), (uint32_t)(((uint64_t)b << 32 | a) >> (b & 31)))                        \
    F(__mulhi((int)a, (int)b), (uint32_t)((int64_t)(int)a * (int)b >> 32))                                   \
    F(__umulhi(a, b), (uint32_t)((uint64_t)a * b >> 32))                                                     \
    F(__mul24(a, b), (uint32_t)((int64_t)((int)(a << 8) >> 8) * ((int)(b << 8) >> 8)))                       \
    F(__umul24(a, b), (uint32_t)((uint64_t)(a & 0xffffff) * (b & 0xffffff)))                                 \
    F(__sad((int)a, (int)b, 7u), (uint32_t)llabs((long long)(int)a - (int)b) + 7)                            \
    F(__usad(a, b, 7u), (a > b ? a - b : b - a) + 7)                                                         \
    F(__hadd((int)a, (int)b), (uint32_t)(((int64_t)(int)a + (int)b) >> 1))                                   \
    F(__rhadd((int)a, (int)b), (uint32_t)(((int64_t)(int)a + (int)b + 1) >> 1))                              \
    F(__uhadd(a, b), (uint32_t)(((uint64_t)a + b) >> 1))                                                     \
    F(__urhadd(a, b), (uint32_t)(((uint64_t)a + b + 1) >> 1))                                                \
    F(__dp4a((int)a, (int)b, 5), dot<int8_t>(a, b, 5))                                                       \
    F(__dp4a(a, b, 5u), dot<uint8_t>(a, b, 5))                                                               \
    F(__float_as_uint(__uint_as_float(a)), a)                                                                \
    F(min((int)a, (int)b), (int)a < (int)b ? a : b)                                                          \
    F(max(a, (int)b), a > b ? a : b)                                                                         \
    F((uint32_t)min((long long)(int)a, (long long)(int)b), (int)a < (int)b ? a : b)                          \
    F((uint32_t)max((unsigned long)a, (unsigned long)b), a > b ? a : b)                                      \
    F(__vadd2(a, b), (lanes<2, uint16_t>(a, b, add)))                                                        \
    F(__vadd4(a, b), (lanes<4, uint8_t>(a, b, add)))                                                         \
    F(__vsub2(a, b), (lanes<2, uint16_t>(a, b, subtract)))                                                   \
    F(__vsub4(a, b), (lanes<4, uint8_t>(a, b, subtract)))                                                    \
    F(__vaddus4(a, b), (lanes<4, uint8_t>(a, b, add_saturated<uint8_t>)))                                    \
    F(__vaddss4(a, b), (lanes<4, int8_t>(a, b, add_saturated<int8_t>)))                                      \
    F(__vaddss2(a, b), (lanes<2, int16_t>(a, b, add_saturated<int16_t>)))                                    \
    F(__vsubus4(a, b), (lanes<4, uint8_t>(a, b, subtract_saturated<uint8_t>)))                               \
    F(__vsubss2(a, b), (lanes<2, int16_t>(a, b, subtract_saturated<int16_t>)))                               \
    F(__vmaxs4(a, b), (lanes<4, int8_t>(a, b, larger)))                                                      \
    F(__vmaxs2(a, b), (lanes<2, int16_t>(a, b, larger)))                                                     \
    F(__vmaxu2(a, b), (lanes<2, uint16_t>(a, b, larger)))                                                    \
    F(__vminu4(a, b), (lanes<4, uint8_t>(a, b, smaller)))                                                    \
    F(__vmins2(a, b), (lanes<2, int16_t>(a, b, smaller)))                                                    \
    F(__vabsdiffu4(a, b), (lanes<4, uint8_t>(a, b, distance)))                                               \
    F(__vabsdiffs2(a, b), (lanes<2, int16_t>(a, b, distance)))                                               \
    F(__vavgu4(a, b), (lanes<4, uint8_t>(a, b, average_up)))                                                 \
    F(__vhaddu4(a, b), (lanes<4, uint8_t>(a, b, average)))                                                   \
    F(__vcmpeq4(a, b & 0xffff00ff), (lanes<4, uint8_t>(a, b & 0xffff00ff, mask_equal)))                      \
    F(__vcmpgtu4(a, b), (lanes<4, uint8_t>(a, b, mask_greater)))                                             \
    F(__vcmpgts2(a, b), (lanes<2, int16_t>(a, b, mask_greater)))                                             \
    F(__vsetgeu2(a, b), (lanes<2, uint16_t>(a, b, is_greater_or_equal)))                                     \
    F(__vsadu4(a, b), sum_of_distances(a, b))                                                                \
    F(__vneg4(a), (lanes<4, uint8_t>(0, a, subtract)))                                                       \
    F(__vabs4(a), (lanes<4, int8_t>(a, 0, magnitude)))

static uint32_t reverse(uint32_t a) {
    uint32_t result = 0;
    for (int i = 0; i < 32; i++) result |= (a >> i & 1) << (31 - i);
    return result;
}
static uint32_t permuted(uint32_t a, uint32_t b, uint32_t selector) {
    uint64_t both = (uint64_t)b << 32 | a;
    uint32_t result = 0;
    for (int i = 0; i < 4; i++) result |= (uint32_t)(both >> (selector >> 4 * i & 7) * 8 & 255) << 8 * i;
    return result;
}
template <class Byte> static uint32_t dot(uint32_t a, uint32_t b, uint32_t c) {
    for (int i = 0; i < 4; i++) c += (uint32_t)((int)(Byte)(a >> 8 * i) * (int)(Byte)(b >> 8 * i));
    return c;
}
template <int count, class Lane> static uint32_t lanes(uint32_t a, uint32_t b, int (*operation)(int, int)) {
    const int bits = 32 / count;
    uint32_t result = 0;
    for (int i = 0; i < count; i++)
        result |= ((uint32_t)operation((Lane)(a >> bits * i), (Lane)(b >> bits * i)) & (0xffffffffu >> (32 - bits)))
                  << bits * i;
    return result;
}
static int add(int a, int b) { return a + b; }
static int subtract(int a, int b) { return a - b; }
static int larger(int a, int b) { return a > b ? a : b; }
static int smaller(int a, int b) { return a < b ? a : b; }
static int distance(int a, int b) { return a > b ? a - b : b - a; }
static int average(int a, int b) { return (a + b) >> 1; }
static int average_up(int a, int b) { return (a + b + 1) >> 1; }
static int mask_equal(int a, int b) { return a == b ? -1 : 0; }
static int mask_greater(int a, int b) { return a > b ? -1 : 0; }
static int is_greater_or_equal(int a, int b) { return a >= b; }
static int magnitude(int a, int) { return a < 0 ? -a : a; }
template <class Lane> static int clamped(int value) {
    const int low = (Lane)-1 < 0 ? -(1 << (sizeof(Lane) * 8 - 1)) : 0;
    const int high = low + (1 << sizeof(Lane) * 8) - 1;
    return value < low ? low : value > high ? high : value;
}
template <class Lane> static int add_saturated(int a, int b) { return clamped<Lane>(a + b); }
template <class Lane> static int subtract_saturated(int a, int b) { return clamped<Lane>(a - b); }
static uint32_t sum_of_distances(uint32_t a, uint32_t b) {
    uint32_t sum = 0;
    for (int i = 0; i < 4; i++) sum += (uint32_t)distance((uint8_t)(a >> 8 * i), (uint8_t)(b >> 8 * i));
    return sum;
}

enum { WORDS = 256 };

__global__ void word_functions(const uint32_t *words, uint32_t *results) {
    uint32_t a = words[2 * threadIdx.x], b = words[2 * threadIdx.x + 1];
#define F(device, host)                                                                                      \
    *results = (uint32_t)(device);                                                                           \
    results += WORDS;
    results += threadIdx.x;
    WORD_FUNCTIONS(F)
#undef F
}

static void check_word_functions() {
    const uint32_t edges[] = {0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 0x00ff00ff, 0x80808080};
    uint32_t *words = managed<uint32_t>(2 * WORDS), *results = managed<uint32_t>(64 * WORDS);
    for (int i = 0; i < 2 * WORDS; i++) words[i] = i < 98 ? edges[i % 2 ? i / 14 : i / 2 % 7] : random_word();
    word_functions<<<1, WORDS>>>(words, results);
    settle();
    for (int i = 0; i < WORDS; i++) {
        uint32_t a = words[2 * i], b = words[2 * i + 1];
        const uint32_t *result = results + i;
#define F(device, host)                                                                                      \
    checked++;                                                                                               \
    if (*result != (uint32_t)(host) && ++failed < 20)                                                        \
        printf("%s, a = 0x%08x, b = 0x%08x: expected 0x%08x, got 0x%08x\n", #device, a, b, (uint32_t)(host), *result); \
    result += WORDS;
        WORD_FUNCTIONS(F)
#undef F
    }
}

/* ---- shuffles of all types: each value comes from another lane, whole */

template <class T> static __device__ T of_lane(int lane) {
    T value;
    unsigned char bytes[sizeof(T)];
    for (unsigned i = 0; i < sizeof(T); i++) bytes[i] = (unsigned char)(lane * 7 + i * 3 + 1);
    memcpy(&value, bytes, sizeof value);
    return value;
}
template <class T> static __device__ bool same(T a, T b) {
    unsigned char bytes[2][sizeof(T)];
    memcpy(bytes[0], &a, sizeof a);
    memcpy(bytes[1], &b, sizeof b);
    for (unsigned i = 0; i < sizeof(T); i++)
        if (bytes[0][i] != bytes[1][i]) return false;
    return true;
}
template <class T> static __device__ unsigned shuffled() {
    int lane = threadIdx.x & 31;
    T own = of_lane<T>(lane);
    unsigned wrong = 0;
    wrong |= !same(__shfl_sync(0xffffffff, own, 5), of_lane<T>(5)) << 0;
    wrong |= !same(__shfl_sync(0xffffffff, own, lane ^ 3, 8), of_lane<T>(lane ^ 3)) << 1;
    wrong |= !same(__shfl_up_sync(0xffffffff, own, 3), of_lane<T>(lane < 3 ? lane : lane - 3)) << 2;
    wrong |= !same(__shfl_down_sync(0xffffffff, own, 2, 16), of_lane<T>((lane & 15) > 13 ? lane : lane + 2)) << 3;
    wrong |= !same(__shfl_xor_sync(0xffffffff, own, 17), of_lane<T>(lane ^ 17)) << 4;
    wrong |= !same(__shfl(own, 9), of_lane<T>(9)) << 5;
    return wrong;
}

__global__ void shuffles(unsigned *results) {
    results += threadIdx.x * 16;
    *results++ = shuffled<int>();
    *results++ = shuffled<unsigned>();
    *results++ = shuffled<float>();
    *results++ = shuffled<long>();
    *results++ = shuffled<unsigned long>();
    *results++ = shuffled<long long>();
    *results++ = shuffled<unsigned long long>();
    *results++ = shuffled<double>();
    unsigned lane = threadIdx.x & 31, third = lane % 3 == 0;
    unsigned thirds = 0x49249249;
    *results++ = (__ballot_sync(0xffffffff, third) != thirds) | !__any_sync(0xffffffff, lane == 7) << 1 |
                 __all_sync(0xffffffff, lane < 31) << 2 | (__ballot(1) != 0xffffffff) << 3;
    *results++ = __match_any_sync(0xffffffff, (unsigned long long)third << 40) != (third ? thirds : ~thirds);
    int all = 5;
    *results++ = (__match_all_sync(0xffffffff, 2.5, &all) != 0xffffffff) | (all != 1) << 1;
    *results++ = third ? __activemask() != thirds : 0;
    __syncwarp();
    *results++ = (__syncthreads_count(third) != 11 * (int)blockDim.x / 32) | !__syncthreads_or(lane == 1) << 1 |
                 __syncthreads_and(lane != 1) << 2;
#if __CUDA_ARCH__ >= 800
    *results++ = (__reduce_add_sync(0xffffffff, lane) != 496) | (__reduce_max_sync(0xffffffff, (int)lane - 40) != -9) << 1 |
                 (__reduce_xor_sync(0xffffffff, lane * 8) != 0) << 2;
#endif
}

static void check_shuffles() {
    unsigned *results = managed<unsigned>(64 * 16);
    shuffles<<<1, 64>>>(results);
    settle();
    for (int i = 0; i < 64 * 16; i++) {
        CHECK(results[i] == 0);
        if (results[i]) printf("thread %d, place %d: 0x%x\n", i / 16, i % 16, results[i]);
    }
}

/* ---- atomics: all threads on one place */

struct Sums {
    int i;
    unsigned u;
    unsigned long long ull;
    float f;
    double d;
    int low, high, minus, bits_or, swaps;
    long long low_long, high_long;
    unsigned wrapped, down, bits_and, bits_xor;
    unsigned short half_word[2];
    unsigned block, system;
    double own;
};

__device__ void atomicAddTwice(double *address, double value) {
    unsigned long long *place = (unsigned long long *)address, old = *place, seen;
    do {
        seen = old;
        old = atomicCAS(place, seen, __double_as_longlong(__longlong_as_double(seen) + 2 * value));
    } while (old != seen);
}

__global__ void atomics(Sums *s) {
    int n = threadIdx.x;
    atomicAdd(&s->i, -n);
    atomicAdd(&s->u, 3);
    atomicAdd(&s->ull, 1ull << 33);
    atomicAdd(&s->f, 0.5f);
    atomicAdd(&s->d, 0.25);
    atomicMin(&s->low, -n);
    atomicMax(&s->high, n);
    atomicMin(&s->low_long, -(1ll << 40) - n);
    atomicMax(&s->high_long, (1ll << 40) + n);
    atomicSub(&s->minus, 2);
    atomicOr(&s->bits_or, 1 << n % 32);
    atomicAnd(&s->bits_and, ~(1u << n % 16));
    atomicXor(&s->bits_xor, n);
    atomicInc(&s->wrapped, 9);
    atomicDec(&s->down, 6);
    if (atomicCAS(&s->swaps, 0, 1) == 0) atomicExch(&s->swaps, 77);
    atomicAdd_block(&s->block, 1);
    atomicAdd_system(&s->system, 2);
    atomicAddTwice(&s->own, 1.5);
    for (unsigned short old = s->half_word[1], seen = (unsigned short)(old + 1); seen != old;) {
        seen = old;
        old = atomicCAS(&s->half_word[1], seen, (unsigned short)(seen + 1));
    }
}

static void check_atomics() {
    Sums *s = managed<Sums>(1);
    memset(s, 0, sizeof *s);
    s->bits_and = 0xffffffff;
    s->low_long = 5;
    atomics<<<1, 128>>>(s);
    settle();
    CHECK(s->i == -127 * 64 && s->u == 384 && s->ull == 128ull << 33 && s->f == 64 && s->d == 32);
    CHECK(s->low == -127 && s->high == 127 && s->low_long == -(1ll << 40) - 127 && s->high_long == (1ll << 40) + 127);
    CHECK(s->minus == -256 && s->bits_or == -1 && s->bits_and == 0xffff0000 && s->bits_xor == 0);
    CHECK(s->wrapped == 128 % 10 && s->down == 6 - 127 % 7 && s->swaps == 77);
    CHECK(s->block == 128 && s->system == 256 && s->own == 384);
    CHECK(s->half_word[0] == 0 && s->half_word[1] == 128);
}

/* ---- loads and stores with cache operators */

template <class T> static __device__ void through_caches(T *to, const T *from, int n) {
    T value[6] = {__ldg(from + 6 * n), __ldca(from + 6 * n + 1), __ldcg(from + 6 * n + 2), __ldcs(from + 6 * n + 3),
                  __ldlu(from + 6 * n + 4), __ldcv(from + 6 * n + 5)};
    __stwb(to + 6 * n, value[0]);
    __stcg(to + 6 * n + 1, value[1]);
    __stcs(to + 6 * n + 2, value[2]);
    __stwt(to + 6 * n + 3, value[3]);
    to[6 * n + 4] = value[4];
    to[6 * n + 5] = value[5];
}

#define ACCESSED_TYPES(F)                                                                                    \
    F(char) F(signed char) F(unsigned char) F(short) F(unsigned short) F(int) F(unsigned) F(long)            \
    F(unsigned long) F(long long) F(unsigned long long) F(float) F(double) F(char2) F(uchar4) F(short2)      \
    F(ushort4) F(int2) F(uint4) F(longlong2) F(float2) F(float4) F(double2)

__global__ void accesses(char *to, const char *from) {
#define F(type)                                                                                              \
    through_caches((type *)to, (const type *)from, threadIdx.x);                                             \
    to += 32 * 6 * sizeof(type);                                                                             \
    from += 32 * 6 * sizeof(type);
    ACCESSED_TYPES(F)
#undef F
}

static void check_accesses() {
    size_t bytes = 0;
#define F(type) bytes += 32 * 6 * sizeof(type);
    ACCESSED_TYPES(F)
#undef F
    char *to = managed<char>(bytes), *from = managed<char>(bytes);
    for (size_t i = 0; i < bytes; i++) from[i] = (char)random_word();
    accesses<<<1, 32>>>(to, from);
    settle();
    CHECK(memcmp(to, from, bytes) == 0);
}

/* ---- rounding, conversions, mathematics that need exact results */

#define ROUNDED(F)                                                                                           \
    F(__fadd_rn(1, 0x1p-24f), 1)                                                                             \
    F(__fadd_ru(1, 0x1p-24f), 0x1.000002p0)                                                                  \
    F(__fsub_rd(1, 0x1p-26f), 0x1.fffffep-1)                                                                 \
    F(__fmul_rz(0x1.000002p0f, 0x1.000002p0f), 0x1.000004p0)                                                 \
    F(__fmul_ru(0x1.000002p0f, 0x1.000002p0f), 0x1.000006p0)                                                 \
    F(__fdiv_rd(1, 3), 0x1.555554p-2)                                                                        \
    F(__fdiv_ru(1, 3), 0x1.555556p-2)                                                                        \
    F(__fsqrt_rn(2), 0x1.6a09e6p0)                                                                           \
    F(__fsqrt_ru(2), 0x1.6a09e8p0)                                                                           \
    F(__frcp_rz(3), 0x1.555554p-2)                                                                           \
    F(__fmaf_ru(0x1.000002p0f, 0x1.000002p0f, -1), 0x1.000002p-22)                                           \
    F(__dadd_ru(1, 0x1p-60), 0x1.0000000000001p0)                                                            \
    F(__dmul_rd(0.1, 10), 1)                                                                                 \
    F(__ddiv_rn(1, 3), 1.0 / 3)                                                                              \
    F(__dsqrt_rn(2), 0x1.6a09e667f3bcdp0)                                                                    \
    F(__fma_rz(3, 4, -0x1p-60), 0x1.7ffffffffffffp3)                                                         \
    F(__float2int_rn(2.5f), 2)                                                                               \
    F(__float2int_ru(-2.5f), -2)                                                                             \
    F(__float2uint_rz(3e9f), 3e9)                                                                            \
    F(__double2ll_rd(-2.5), -3)                                                                              \
    F(__double2float_ru(1 + 0x1p-40), 0x1.000002p0)                                                          \
    F(__int2float_rz(0x7fffffff), 0x1.fffffep30)                                                             \
    F(__ull2double_rn(~0ull), 0x1p64)                                                                        \
    F(__hiloint2double(0x40090000, 0), 3.125)                                                                \
    F(__double2hiint(3.125), 0x40090000)                                                                     \
    F(__saturatef(-2), 0)                                                                                    \
    F(__saturatef(1.5f), 1)                                                                                  \
    F(sqrtf(9), 3)                                                                                           \
    F(sqrt(2.0), 0x1.6a09e667f3bcdp0)                                                                        \
    F(fmaf(2, 3, 4), 10)                                                                                     \
    F(floorf(-1.5f) + ceil(1.2) + truncf(-1.7f) + rint(2.5) + roundf(2.5f), 4)                               \
    F(fabsf(-3) + abs(-4) + fabs(-5.0) + llabs(-6ll), 18)                                                    \
    F(max(2.0f, 3.0f) + min(1.0f, 2.0) + max(1, 2) + fmaxf(4, NAN), 10)                                      \
    F(fmodf(7, 4) + remainder(7.0, 4.0), 2)                                                                  \
    F(ldexpf(3, 4) + scalbn(1.0, 3) + ilogbf(9), 59)                                                         \
    F(rsqrtf(4) + rsqrt(0.25), 2.5)                                                                          \
    F(rhypotf(3, 4) * 5 + norm3d(2.0, 3.0, 6.0), 8)                                                          \
    F(sinpif(0.5f) + cospi(1.0) + sinpi(1.5f), -1)                                                           \
    F(copysign(3.0, -1.0) + signbit(-2.0f) + isnan(NAN) + isinf(INFINITY) + isfinite(1.0f), 1)               \
    F(exp2f(5) + exp10f(2) + log2(8.0) + log10f(1000), 138)                                                  \
    F(cbrt(27.0) + erf(0.0) + erfc(0.0) + tgamma(5.0), 28)                                                   \
    F(normcdf(0.0) + normcdfinvf(0.5f) + erfinv(0.0) + erfcinvf(1), 0.5)                                     \
    F(exp2(3.0f) + log2(8.0f) + cbrt(8.0f) + erf(0.0f) + rint(2.5f) + round(2.5f) + trunc(-1.5f), 17)       \
    F(fmax(1.0f, 2.0f) + fmin(3.0f, 4.0f) + fma(2.0f, 3.0f, 4.0f) + hypot(3.0f, 4.0f) + fdim(5.0f, 3.0f), 22) \
    F(ilogb(9.0f) + lrint(2.5f) + lround(2.5f) + llrint(-2.5f) + logb(16.0f) + scalbn(1.0f, 3), 18)         \
    F(isnan(nan("")) + isnan(nanf("1")) + copysign(2.0f, -1.0f) + nextafter(0.0f, 1.0f) + remainder(5.0f, 4.0f), 1)

__global__ void rounded(double *results) {
#define F(device, host) *results++ = (double)(device);
    ROUNDED(F)
#undef F
}

static void check_rounded() {
    double *results = managed<double>(128), *result = results;
    rounded<<<1, 1>>>(results);
    settle();
#define F(device, host)                                                                                      \
    checked++;                                                                                               \
    if (*result != (double)(host) && ++failed < 20) printf("%s: expected %.17g, got %.17g\n", #device, (double)(host), *result); \
    result++;
    ROUNDED(F)
#undef F
}

/* ---- shared memory and barriers: a neighbour's value, in a static array whose address is nowhere taken */

__global__ void neighbours(int *results) {
    __shared__ int values[64];
    int n = threadIdx.x, sum = 0;
    for (int round = 0; round < 8; round++) {
        values[n] = n * round;
        __syncthreads();
        sum += values[(n + 1) % 64];
        __syncthreads();
    }
    results[n] = sum;
}

/* Who wrote first must see what another wrote after the barrier, though no address of `box` is taken. */
__global__ void overwritten(int *results) {
    __shared__ int box;
    if (threadIdx.x == 0) box = 1;
    __syncthreads();
    if (threadIdx.x == 5) box = 2;
    __syncthreads();
    results[threadIdx.x] = box;
}
__global__ void overwritten_in_a_warp(int *results) {
    __shared__ int box;
    if (threadIdx.x == 0) box = 1;
    __syncwarp();
    if (threadIdx.x == 5) box = 2;
    __threadfence_block();
    __syncwarp();
    results[threadIdx.x] = box;
}

__constant__ float factors[4] = {1, 2, 3, 4};
struct Node {
    int value;
    Node *next;
    __device__ Node(int v, Node *n) : value(v), next(n) {}
    __device__ virtual ~Node() {}
    __device__ virtual int get() const { return value; }
};

__global__ void objects(float *results) {
    Node *list = NULL;
    for (int i = 0; i < 5; i++) list = new Node(i, list);
    float sum = 0;
    while (list) {
        Node *next = list->next;
        sum += (float)list->get() * factors[list->value % 4];
        delete list;
        list = next;
    }
    char *block = (char *)malloc(100);
    memset(block, 1, 100);
    results[0] = sum + block[99];
    free(block);
    results[1] = (float)(__isGlobal(results) + 2 * __isShared(results) + 4 * (__cvta_generic_to_global(results) == (size_t)results));
    long long start = clock64();
    __nanosleep(20);
    results[2] = (float)(clock64() > start);
    printf("printed %d %s %g %lld\n", 3, "words", 2.5, 1ll << 40);
}

static void check_memory() {
    int *results = managed<int>(64);
    neighbours<<<1, 64>>>(results);
    settle();
    for (int i = 0; i < 64; i++) CHECK(results[i] == (i + 1) % 64 * 28);
    overwritten<<<1, 64>>>(results);
    settle();
    for (int i = 0; i < 64; i++) CHECK(results[i] == 2);
    overwritten_in_a_warp<<<1, 32>>>(results);
    settle();
    for (int i = 0; i < 32; i++) CHECK(results[i] == 2);
    float *floats = managed<float>(4), changed[4] = {2, 2, 2, 2};
    objects<<<1, 1>>>(floats);
    settle();
    CHECK(floats[0] == 1 * 2 + 2 * 3 + 3 * 4 + 4 + 1 && floats[1] == 5 && floats[2] == 1);
    CHECK(cudaMemcpyToSymbol(factors, changed, sizeof changed) == cudaSuccess);
    objects<<<1, 1>>>(floats);
    settle();
    CHECK(floats[0] == 21);
}

int main() {
    check_word_functions();
    check_shuffles();
    check_atomics();
    check_accesses();
    check_rounded();
    check_memory();
    return finish("device");
}
