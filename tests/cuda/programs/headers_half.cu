/* Numbers of 16 bits, on the device and on the host, against double. */
#include "checks.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <math.h>
#include <stdint.h>

static double ldexp_of(uint16_t bits, int exponent_bits) {
    int fraction_bits = 15 - exponent_bits, exponent = (bits & 0x7fff) >> fraction_bits, bias = (1 << (exponent_bits - 1)) - 1;
    int fraction = bits & ((1 << fraction_bits) - 1), sign = bits >> 15 ? -1 : 1;
    if (exponent == (1 << exponent_bits) - 1) return fraction ? NAN : sign * INFINITY;
    if (exponent == 0) return sign * ldexp(fraction, 1 - bias - fraction_bits);
    return sign * ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits);
}

/* The nearest number, ties to even: `value` with as many digits as fit. */
static double nearest(double value, int exponent_bits) {
    int fraction_bits = 15 - exponent_bits, bias = (1 << (exponent_bits - 1)) - 1, exponent;
    if (value == 0 || isnan(value) || isinf(value)) return value;
    frexp(value, &exponent);
    int last = (exponent - 1 < 1 - bias ? 1 - bias : exponent - 1) - fraction_bits;
    double rounded = ldexp(nearbyint(ldexp(value, -last)), last);
    return fabs(rounded) >= ldexp(1, bias + 1) ? copysign(INFINITY, value) : rounded;
}
static bool same(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

/* The product is exact. What the sum loses decides only what would be a tie. */
static double fused(double a, double b, double c) {
    double product = a * b, sum = product + c, back = sum - product, lost = (product - (sum - back)) + (c - back);
    return lost == 0 || isnan(lost) ? sum : nextafter(sum, lost > 0 ? INFINITY : -INFINITY);
}

/* ---- the same operations here and there */

enum { OPERATIONS = 14, PAIRS = 4096 };

template <class T, class T2> __host__ __device__ void operate(T a, T b, T c, T *result) {
    T2 low = T2(a, b), high = T2(b, c), sum = low + high, product = __hfma2(low, high, T2(c, a));
    result[0] = a + b;
    result[1] = a - b;
    result[2] = a * b;
    result[3] = a / b;
    result[4] = __hfma(a, b, c);
    result[5] = sum.y;
    result[6] = product.x;
    result[7] = __hmul2(low, high).y;
    result[8] = -a;
    result[9] = __habs(b);
    result[10] = __hmax(a, b);
    result[11] = T((float)a < (float)b == a < b && (a == b) == (float(a) == float(b)) ? 1.0f : 0.0f);
    result[12] = __hadd_sat(a, b);
    result[13] = hsqrt(__habs(a));
}
static void expected(double a, double b, double c, double *result) {
    result[0] = a + b;
    result[1] = a - b;
    result[2] = a * b;
    result[3] = a / b;
    result[4] = result[6] = fused(a, b, c);
    result[5] = b + c;
    result[7] = b * c;
    result[8] = -a;
    result[9] = fabs(b);
    result[10] = fmax(a, b);
    result[11] = 1;
    result[12] = isnan(a + b) ? 0 : fmin(fmax(a + b, 0), 1);
    result[13] = sqrt(fabs(a));
}

template <class T, class T2> __global__ void operate_all(const uint16_t *in, T *results) {
    int n = blockIdx.x * blockDim.x + threadIdx.x;
    T operand[3];
    memcpy(operand, in + 3 * n, sizeof operand);
    operate<T, T2>(operand[0], operand[1], operand[2], results + OPERATIONS * n);
}

template <class T, class T2> static void check_operations(const char *name, int exponent_bits) {
    uint16_t *in;
    T *results, here[OPERATIONS];
    CHECK(cudaMallocManaged(&in, 3 * PAIRS * sizeof *in) == cudaSuccess);
    CHECK(cudaMallocManaged(&results, OPERATIONS * PAIRS * sizeof *results) == cudaSuccess);
    uint32_t state = 12345;
    for (int i = 0; i < 3 * PAIRS; i++) {
        state = state * 1664525 + 1013904223;
        in[i] = (uint16_t)(state >> 16);
        /* Numbers of like size, so that sums round. */
        if (i % 6 < 3) in[i] = (uint16_t)((in[i] & 0x83ff) | (exponent_bits == 5 ? 0x3800 : 0x3f00));
    }
    operate_all<T, T2><<<PAIRS / 128, 128>>>(in, results);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    for (int i = 0; i < PAIRS; i++) {
        double a = ldexp_of(in[3 * i], exponent_bits), b = ldexp_of(in[3 * i + 1], exponent_bits),
               c = ldexp_of(in[3 * i + 2], exponent_bits), want[OPERATIONS];
        T operand[3];
        memcpy(operand, in + 3 * i, sizeof operand);
        CHECK(same((float)operand[0], a));
        operate<T, T2>(operand[0], operand[1], operand[2], here);
        expected(a, b, c, want);
        for (int j = 0; j < OPERATIONS; j++) {
            double wanted = nearest(want[j], exponent_bits), got = (float)results[OPERATIONS * i + j], host = (float)here[j];
            checked++;
            if ((same(wanted, got) && same(wanted, host)) || ++failed > 20) continue;
            printf("%s, operation %d of %g, %g, %g: expected %.9g, got %.9g on the device, %.9g on the host\n", name, j, a, b, c,
                   wanted, got, host);
        }
    }
}

/* ---- conversions */

struct Converted {
    __half half[8];
    int integer[6];
    long long wide;
    float exp, sin, tanh[3];
    __half2 sum, shuffled, loaded, old;
    unsigned mask;
    __nv_bfloat16 bfloat16[4], added;
};

__host__ __device__ static void convert(float x, int n, Converted *c) {
    c->half[0] = __float2half_rz(x);
    c->half[1] = __float2half_ru(x);
    c->half[2] = __float2half_rd(-x);
    c->half[3] = __int2half_rn(n);
    c->half[4] = __ull2half_rz(65519ull);
    c->half[5] = __half(1e9);
    c->half[6] = __float2half(1e-8f);
    c->half[7] = __double2half(1 + 0x1p-11 + 0x1p-40);
    c->integer[0] = __half2int_rn(__half(2.5f));
    c->integer[1] = __half2int_ru(__half(2.5f));
    c->integer[2] = __half2int_rd(__half(-2.5f));
    c->integer[3] = __half2ushort_rz(__half(-3.0f));
    c->integer[4] = __half2short_rn(CUDART_INF_FP16);
    c->integer[5] = (int)__half(7.75f);
    c->wide = __half2ll_rz(__ushort_as_half(0x7bff));
    c->bfloat16[0] = __float2bfloat16(1 + 0x1p-8f);
    c->bfloat16[1] = __float2bfloat16_ru(1 + 0x1p-20f);
    c->bfloat16[2] = __nv_bfloat16(1 + 0x1p-8 + 0x1p-50);
    c->bfloat16[3] = __ll2bfloat16_rn((1ll << 40) + (1ll << 32) + 1);
}
__global__ void convert_all(float x, int n, Converted *c, __half2 *words) {
    convert(x, n, c);
    int lane = threadIdx.x;
    __half2 own = __floats2half2_rn((float)lane, (float)-lane);
    __half2 other = __shfl_xor_sync(0xffffffff, own, 1);
    __half got = __shfl_sync(0xffffffff, own.x, 7);
    if (lane == 3) {
        c->sum = __hadd2(__hsub2(own, __half2half2(own.x)), __hadd2(other, __half2half2(own.x)));
        c->shuffled = __half2(got, __low2half(other));
        c->loaded = __ldg(words + 1);
        c->mask = __hgt2_mask(own, other);
        c->exp = (float)hexp(__half(1.0f));
        c->sin = __half2float(hsin(__half(0.5f)));
        c->tanh[0] = (float)htanh_approx(__half(0.5f));
        c->tanh[1] = __high2float(h2tanh_approx(__floats2half2_rn(0, -0.75f)));
        c->tanh[2] = __low2float(h2tanh_approx(__floats2bfloat162_rn(1, 0)));
    }
    atomicAdd(words, __floats2half2_rn(1, 2));
    atomicAdd(&words[2].y, __half(0.5f));
    atomicAdd(&c->added, __nv_bfloat16(0.25f));
}

static void check_conversions(const Converted *c) {
    CHECK((float)c->half[0] == 0x1.554p-2f && (float)c->half[1] == 0x1.558p-2f && (float)c->half[2] == -0x1.558p-2f);
    CHECK((float)c->half[3] == 2050 - 2 && (float)c->half[4] == 65504 && isinf((float)c->half[5]) && (float)c->half[6] == 0);
    CHECK(__half_as_ushort(c->half[7]) == 0x3c01);
    CHECK(c->integer[0] == 2 && c->integer[1] == 3 && c->integer[2] == -3 && c->integer[3] == 0 && c->integer[4] == 32767);
    CHECK(c->integer[5] == 7 && c->wide == 65504);
    CHECK((float)c->bfloat16[0] == 1 && (float)c->bfloat16[1] == 1 + 0x1p-7f && (float)c->bfloat16[2] == 1 + 0x1p-7f);
    CHECK((float)c->bfloat16[3] == 0x1.02p40f);
}

template <class Number, class Pair> static void check_steps() {
    Pair pair(Number(1.0f), Number(-1.0f));
    Pair before = pair++;
    CHECK((float)before.x == 1 && (float)pair.x == 2 && (float)pair.y == 0);
    --pair;
    bool low = pair.x, high = (++pair).y;
    CHECK(low && !high);
}

int main() {
    check_steps<__half, __half2>();
    check_steps<__nv_bfloat16, __nv_bfloat162>();
    check_operations<__half, __half2>("half", 5);
    check_operations<__nv_bfloat16, __nv_bfloat162>("bfloat16", 8);
    Converted *there, here;
    __half2 *words;
    CHECK(cudaMallocManaged(&there, sizeof *there) == cudaSuccess && cudaMallocManaged(&words, 16) == cudaSuccess);
    words[1] = __floats2half2_rn(4, 5);
    convert(1.0f / 3, 2049, &here);
    check_conversions(&here);
    convert_all<<<1, 32>>>(1.0f / 3, 2049, there, words);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    check_conversions(there);
    CHECK(__low2float(there->sum) == 5 && __high2float(there->sum) == -5);
    CHECK(__low2float(there->shuffled) == 7 && __high2float(there->shuffled) == 2);
    CHECK(__low2float(there->loaded) == 4 && there->mask == 0xffffu && fabsf(there->exp - 2.71828f) < 0.002f);
    CHECK(fabsf(there->sin - 0.479426f) < 0.0005f);
    CHECK(fabsf(there->tanh[0] - 0.462117f) < 0.001f && fabsf(there->tanh[1] + 0.635149f) < 0.001f && fabsf(there->tanh[2] - 0.761594f) < 0.004f);
    CHECK(__low2float(words[0]) == 32 && __high2float(words[0]) == 64 && __high2float(words[2]) == 16 && __low2float(words[2]) == 0);
    CHECK((float)there->added == 8);
    CHECK(sizeof(__half) == 2 && sizeof(__half2) == 4 && alignof(__half2) == 4 && sizeof(__nv_bfloat162) == 4);
    return finish("half");
}
