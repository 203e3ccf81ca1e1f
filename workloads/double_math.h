// Functions of double precision that have no instruction: e to the power of x, and x to the power of y.
#pragma once

static inline __device__ long double_bits(double x) {
    return __builtin_bit_cast(long, x);
}
static inline __device__ double from_double_bits(long bits) {
    return __builtin_bit_cast(double, bits);
}

// 2 to the power of x. The whole part of x is a shift; for the rest, of at most a half, there is a polynomial.
static inline __device__ double exponential_of_2(double x) {
    const double to_whole =
        6755399441055744.0; // added to a number, it leaves the nearest whole one in the low bits
    if (x > 1023.9) return __builtin_huge_val();
    if (x < -1021.9) return 0;
    double shifted = x + to_whole;
    int exponent = (int)double_bits(shifted);
    double rest = (x - (shifted - to_whole)) * 0.6931471805599453;
    double sum = 1.0 / 39916800;
    sum = __builtin_fma(sum, rest, 1.0 / 3628800);
    sum = __builtin_fma(sum, rest, 1.0 / 362880);
    sum = __builtin_fma(sum, rest, 1.0 / 40320);
    sum = __builtin_fma(sum, rest, 1.0 / 5040);
    sum = __builtin_fma(sum, rest, 1.0 / 720);
    sum = __builtin_fma(sum, rest, 1.0 / 120);
    sum = __builtin_fma(sum, rest, 1.0 / 24);
    sum = __builtin_fma(sum, rest, 1.0 / 6);
    sum = __builtin_fma(sum, rest, 0.5);
    sum = __builtin_fma(sum, rest, 1.0);
    sum = __builtin_fma(sum, rest, 1.0);
    return sum * from_double_bits((long)(exponent + 1023) << 52);
}

static inline __device__ double exponential(double x) {
    return exponential_of_2(x * 1.4426950408889634);
}

// A number of some 48 bits as the sum of two singles: the logarithm takes a hundred instructions, and a GPU with slow
// double-precision units is quicker with these. The compiler must not fuse a product with a sum: it stands in assembly.
struct Pair {
    float high, low;
};

static inline __device__ float product_of(float a, float b) {
    float product;
    asm("mul.rn.f32 %0, %1, %2;" : "=f"(product) : "f"(a), "f"(b));
    return product;
}

// a + b and a * b with what rounding drops
static inline __device__ Pair exact_sum(float a, float b) {
    float sum = a + b, part = sum - a;
    return {sum, (a - (sum - part)) + (b - part)};
}
static inline __device__ Pair exact_product(float a, float b) {
    float product = product_of(a, b);
    return {product, fmaf(a, b, -product)};
}

static inline __device__ Pair tidy(float high, float low) {
    float sum = high + low;
    return {sum, (high - sum) + low};
}
static inline __device__ Pair add(Pair a, Pair b) {
    Pair sum = exact_sum(a.high, b.high);
    return tidy(sum.high, sum.low + (a.low + b.low));
}
static inline __device__ Pair multiply(Pair a, Pair b) {
    Pair product = exact_product(a.high, b.high);
    return tidy(product.high, fmaf(a.high, b.low, fmaf(a.low, b.high, product.low)));
}
static inline __device__ Pair divide(Pair a, Pair b) {
    float quotient = a.high / b.high;
    Pair product = exact_product(quotient, b.high);
    float rest = ((a.high - product.high) - product.low) + fmaf(-quotient, b.low, a.low);
    return tidy(quotient, rest / b.high);
}

// The logarithm to base 2 of a number above 0 that is within the range of singles, to some 44 bits. x = m 2^e with m near 1;
// log m = 2 (s + s^3 / 3 + s^5 / 5 ...) where s = (m - 1) / (m + 1).
static inline __device__ double logarithm_to_2(double x) {
    float high = (float)x, low = (float)(x - high);
    int bits = __builtin_bit_cast(int, high);
    int e = (bits >> 23) - 127;
    float scale = __builtin_bit_cast(float, (127 - e) << 23);
    if ((bits & 0x7fffff) > 0x3504f3) {
        e++;
        scale *= 0.5f;
    }
    Pair m = {product_of(high, scale), product_of(low, scale)};
    Pair s = divide(add(m, {-1.0f, 0}), add(m, {1.0f, 0}));
    Pair square = multiply(s, s);
    float q = square.high;
    float tail = 0.2219530791f; // 2 / (13 ln 2), 2 / (11 ln 2) ...
    tail = fmaf(tail, q, 0.2623081803f);
    tail = fmaf(tail, q, 0.3205989003f);
    tail = fmaf(tail, q, 0.4121985734f);
    tail = fmaf(tail, q, 0.5770780444f);
    // 2 / (3 ln 2) and 2 / ln 2 as pairs
    Pair series = add({0.961796701f, -7.0284616e-09f}, exact_product(q, tail));
    series = add({2.885390043f, 3.851926e-08f}, multiply(square, series));
    Pair logarithm = multiply(s, series);
    return (double)e + ((double)logarithm.high + (double)logarithm.low);
}

// x to the power of y, in general
static inline __device__ double power(double x, double y) {
    if (y == 0) return 1;
    if (x == 0) return y > 0 ? 0 : __builtin_huge_val();
    double result = exponential_of_2(y * logarithm_to_2(x < 0 ? -x : x));
    if (x < 0) {
        long whole = (long)y;
        if ((double)whole != y) return __builtin_nan("");
        if (whole & 1) result = -result;
    }
    return result;
}
