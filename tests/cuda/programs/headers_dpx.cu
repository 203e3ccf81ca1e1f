/* DPX on both sides against a model in wide integers: of each word, and of each half, what CUDA's documentation says. */
#include "checks.h"

#include <stdint.h>

enum { WORDS = 12, MOST = 64 };

/* Functions of three numbers, of two, and of two with predicates. */
#define OF_THREE(F, name, model)                                                                             \
    F(__vi##name, s32, int, model) F(__vi##name, u32, unsigned, model) F(__vi##name, s16x2, unsigned, model)  \
    F(__vi##name, u16x2, unsigned, model) F(__vi##name, s32_relu, int, model) F(__vi##name, s16x2_relu, unsigned, model)
#define ALL_OF_THREE(F)                                                                                      \
    OF_THREE(F, max3, MAX3) OF_THREE(F, min3, MIN3) OF_THREE(F, addmax, ADD_MAX) OF_THREE(F, addmin, ADD_MIN)
#define ALL_OF_TWO(F)                                                                                        \
    F(__vimax, s32_relu, int, MAX3) F(__vimax, s16x2_relu, unsigned, MAX3) F(__vimin, s32_relu, int, MIN3)   \
    F(__vimin, s16x2_relu, unsigned, MIN3)
#define ALL_WITH_ONE(F)                                                                                      \
    F(__vibmax, s32, int, MAX3) F(__vibmax, u32, unsigned, MAX3) F(__vibmin, s32, int, MIN3)                 \
    F(__vibmin, u32, unsigned, MIN3)
#define ALL_WITH_TWO(F)                                                                                      \
    F(__vibmax, s16x2, unsigned, MAX3) F(__vibmax, u16x2, unsigned, MAX3) F(__vibmin, s16x2, unsigned, MIN3) \
    F(__vibmin, u16x2, unsigned, MIN3)

static __host__ __device__ void compute(unsigned a, unsigned b, unsigned c, unsigned *result) {
    bool first, second;
#define F(name, kind, type, model) *result++ = (unsigned)name##_##kind((type)a, (type)b, (type)c);
    ALL_OF_THREE(F)
#undef F
#define F(name, kind, type, model) *result++ = (unsigned)name##_##kind((type)a, (type)b);
    ALL_OF_TWO(F)
#undef F
#define F(name, kind, type, model)                                                                           \
    *result++ = (unsigned)name##_##kind((type)a, (type)b, &first);                                           \
    *result++ = first;
    ALL_WITH_ONE(F)
#undef F
#define F(name, kind, type, model)                                                                           \
    *result++ = name##_##kind(a, b, &first, &second);                                                        \
    *result++ = 2 * first + second;
    ALL_WITH_TWO(F)
#undef F
}

__global__ void compute_there(const unsigned *words, unsigned *results) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    compute(words[i / WORDS / WORDS], words[i / WORDS % WORDS], words[i % WORDS], results + i * MOST);
}

enum Operation { MAX3, MIN3, ADD_MAX, ADD_MIN };

/* The number of a word of which `kind` begins with u for unsigned ones, in its bits from `shift` on. */
static int64_t number(unsigned word, int shift, int bits, const char *kind) {
    int64_t value = word >> shift & ((1ull << bits) - 1);
    return *kind == 's' && value >> (bits - 1) ? value - (1ll << bits) : value;
}

static unsigned expected(Operation operation, const char *kind, unsigned a, unsigned b, unsigned c) {
    int bits = strstr(kind, "16x2") ? 16 : 32;
    unsigned word = 0;
    for (int shift = 0; shift < 32; shift += bits) {
        int64_t x = number(a, shift, bits, kind), y = number(b, shift, bits, kind), z = number(c, shift, bits, kind);
        int64_t sum = number((unsigned)((uint64_t)(x + y) & ((1ull << bits) - 1)), 0, bits, kind);
        int64_t result = operation == MAX3      ? (x > y ? x : y) > z ? (x > y ? x : y) : z
                         : operation == MIN3    ? (x < y ? x : y) < z ? (x < y ? x : y) : z
                         : operation == ADD_MAX ? (sum > z ? sum : z)
                                                : (sum < z ? sum : z);
        if (strstr(kind, "relu") && result < 0) result = 0;
        word |= (unsigned)((uint64_t)result & ((1ull << bits) - 1)) << shift;
    }
    return word;
}

/* A bit for each number, the lowest one's the least: a is not on the wrong side of b. */
static unsigned predicates(Operation operation, const char *kind, unsigned a, unsigned b) {
    int bits = strstr(kind, "16x2") ? 16 : 32;
    unsigned holds = 0;
    for (int i = 0; i < 32 / bits; i++) {
        int64_t x = number(a, i * bits, bits, kind), y = number(b, i * bits, bits, kind);
        holds |= (unsigned)(operation == MAX3 ? x >= y : x <= y) << i;
    }
    return holds;
}

static void check(unsigned a, unsigned b, unsigned c, const unsigned *result) {
#define F(name, kind, type, model) CHECK(*result++ == expected(model, #kind, a, b, c));
    ALL_OF_THREE(F)
#undef F
#define F(name, kind, type, model) CHECK(*result++ == expected(model, #kind, a, b, b));
    ALL_OF_TWO(F)
#undef F
#define F(name, kind, type, model)                                                                           \
    CHECK(*result++ == expected(model, #kind, a, b, b));                                                     \
    CHECK(*result++ == predicates(model, #kind, a, b));
    ALL_WITH_ONE(F)
    ALL_WITH_TWO(F)
#undef F
}

int main() {
    const unsigned some[WORDS] = {0,          1,          0xffffffff, 0x80000000, 0x7fffffff, 0x80007fff,
                                  0x7fff8000, 0x00010002, 0xfffe0003, 0x12345678, 0xdeadbeef, 0xffff0000};
    unsigned *words, *results, here[MOST];
    CHECK(cudaMallocManaged(&words, sizeof some) == cudaSuccess);
    CHECK(cudaMallocManaged(&results, WORDS * WORDS * WORDS * MOST * sizeof *results) == cudaSuccess);
    memcpy(words, some, sizeof some);
    compute_there<<<WORDS, WORDS * WORDS>>>(words, results);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    for (int i = 0; i < WORDS * WORDS * WORDS; i++) {
        unsigned a = some[i / WORDS / WORDS], b = some[i / WORDS % WORDS], c = some[i % WORDS];
        check(a, b, c, results + i * MOST);
        compute(a, b, c, here);
        check(a, b, c, here);
    }
    return finish("dpx");
}
