/* Random numbers in kernels: the generators by published numbers and by themselves, the distributions by their moments. */
#include "checks.h"

#include <curand_kernel.h>
#include <math.h>
#include <stdlib.h>

enum { DRAWS = 64, THREADS = 256, SAMPLES = 64 };

template <class State> __global__ void draw(unsigned long long seed, unsigned *words) {
    State state;
    curand_init(seed, 0, 0, &state);
    for (int i = 0; i < DRAWS; i++)
        words[i] = curand(&state);
}

/* A thread has its own subsequence. */
template <class State> __global__ void first_uniform(unsigned long long seed, float *first) {
    State state;
    curand_init(seed, threadIdx.x, 0, &state);
    first[threadIdx.x] = curand_uniform(&state);
}

__device__ bool same(const curandStateXORWOW_t &a, const curandStateXORWOW_t &b) {
    bool result = a.d == b.d;
    for (int i = 0; i < 5; i++)
        result = result && a.v[i] == b.v[i];
    return result;
}

__device__ bool same(const curandStateMRG32k3a_t &a, const curandStateMRG32k3a_t &b) {
    bool result = true;
    for (int i = 0; i < 3; i++)
        result = result && a.s1[i] == b.s1[i] && a.s2[i] == b.s2[i];
    return result;
}

__device__ bool same(const curandStatePhilox4_32_10_t &a, const curandStatePhilox4_32_10_t &b) {
    return a.STATE
    == b.STATE
    &&a.ctr.x == b.ctr.x &&a.ctr.y == b.ctr.y &&a.ctr.z == b.ctr.z &&a.ctr.w == b.ctr.w &&a.output.x ==
        b.output.x &&a.output.w == b.output.w;
}

/* A thread skips as many numbers as its place in the list says, and draws them. */
template <class State> __global__ void skip_or_draw(const unsigned *counts, bool *agree) {
    State skipped, drawn, begun;
    unsigned n = counts[threadIdx.x];
    curand_init(77, 5, 3, &skipped);
    curand_init(77, 5, 3, &drawn);
    curand_init(77, 5, 3 + n, &begun);
    skipahead(n, &skipped);
    for (unsigned i = 0; i < n; i++)
        curand(&drawn);
    agree[threadIdx.x] = same(skipped, drawn) && same(skipped, begun);
}

/* A sequence is 2^67 numbers long, of Philox 2^66. */
template <class State> __global__ void long_skips(int times, bool *agree) {
    State a, b;
    curand_init(1, 0, 0, &a);
    curand_init(1, 0, 0, &b);
    for (int i = 0; i < times; i++)
        skipahead(1ull << 63, &a);
    skipahead_sequence(1, &b);
    agree[0] = same(a, b);
    skipahead_sequence(40, &a);
    skipahead_sequence(18, &b);
    skipahead_sequence(22, &b);
    agree[1] = same(a, b);
}

__global__ void subsequence(unsigned *words) {
    curandStateMRG32k3a_t state;
    curand_init(0, 1, 0, &state);
    for (int i = 0; i < 3; i++)
        words[i] = state.s1[i];
}

__global__ void blocks(const uint4 *counter, const uint2 *key, uint4 *block) {
    block[threadIdx.x] = curand_Philox4x32_10(counter[threadIdx.x], key[threadIdx.x]);
}

__global__ void four_at_once(bool *agree) {
    curandStatePhilox4_32_10_t a, b;
    curand_init(9, 0, threadIdx.x, &a);
    curand_init(9, 0, threadIdx.x, &b);
    uint4 four = curand4(&a);
    unsigned one[4];
    for (int i = 0; i < 4; i++)
        one[i] = curand(&b);
    agree[threadIdx.x] = four.x == one[0] && four.y == one[1] && four.z == one[2] && four.w == one[3] &&
                         same(a, b);
}

/* Numbers of one distribution after another, and from which word of the sequence the next one is. */
struct Drawn {
    double uniform, first_normal, second_normal, first_log, second_log, third_log, normal_between;
    unsigned position;
};

__global__ void draw_of_words(unsigned *words, Drawn *drawn) {
    curandStatePhilox4_32_10_t plain, state;
    curand_init(4, 2, 0, &plain);
    curand_init(4, 2, 0, &state);
    for (int i = 0; i < DRAWS; i++)
        words[i] = curand(&plain);
    drawn->uniform = curand_uniform_double(&state);
    drawn->first_normal = curand_normal_double(&state);
    drawn->second_normal = curand_normal_double(&state);
    drawn->first_log = curand_log_normal_double(&state, 1.0, 0.5);
    drawn->second_log = curand_log_normal_double(&state, 7.0, 0.25);
    drawn->third_log = curand_log_normal_double(&state, 3.0, 2.0);
    drawn->normal_between = curand_normal_double(&state);
    unsigned next = curand(&state);
    for (drawn->position = 0; words[drawn->position] != next;)
        drawn->position++;
}

/* The pair of normal numbers of four words. */
static void normal_pair(const unsigned *words, double pair[2]) {
    double u[2];
    for (int i = 0; i < 2; i++)
        u[i] = ((words[2 * i] ^ (unsigned long long)words[2 * i + 1] << 21) + 0.5) * 0x1p-53;
    double radius = sqrt(-2 * log(u[0])), angle = 2 * 3.14159265358979323846 * u[1];
    pair[0] = radius * sin(angle);
    pair[1] = radius * cos(angle);
}

static bool is_near(double a, double b) { return fabs(a - b) <= 1e-12 * (1 + fabs(b)); }

/* A uniform double of Philox takes one word, a normal pair four; of a log-normal pair both numbers are of its first call's
 * parameters, and a pair of another distribution takes the place of what was kept. */
static void check_words_taken(unsigned *words, Drawn *drawn) {
    double pair[2];
    draw_of_words<<<1, 1>>>(words, drawn);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(drawn->uniform == (words[0] + 1.0) / 4294967296.0);
    normal_pair(words + 1, pair);
    CHECK(is_near(drawn->first_normal, pair[0]) && is_near(drawn->second_normal, pair[1]));
    normal_pair(words + 5, pair);
    CHECK(is_near(drawn->first_log, exp(1 + 0.5 * pair[0])) && is_near(drawn->second_log, exp(1 + 0.5 * pair[1])));
    normal_pair(words + 9, pair);
    CHECK(is_near(drawn->third_log, exp(3 + 2 * pair[0])));
    normal_pair(words + 13, pair);
    CHECK(is_near(drawn->normal_between, pair[0]));
    CHECK(drawn->position == 17);
}

enum { UNIFORM, UNIFORM_DOUBLE, NORMAL, NORMAL_DOUBLE, LOG_NORMAL, POISSON_3, POISSON_200, KINDS };

template <class State> __device__ double sample(State *state, int kind) {
    switch (kind) {
    case UNIFORM: return curand_uniform(state);
    case UNIFORM_DOUBLE: return curand_uniform_double(state);
    case NORMAL: return curand_normal(state);
    case NORMAL_DOUBLE: return curand_normal_double(state);
    case LOG_NORMAL: return log(curand_log_normal_double(state, 2.0, 0.5));
    case POISSON_3: return curand_poisson(state, 3.0);
    default: return curand_poisson(state, 200.0);
    }
}

/* Of a thread's samples the sum, the sum of squares, the least and the greatest. */
struct Sums {
    double first, second, least, greatest;
};

template <class State> __global__ void sums_of_samples(int kind, Sums *sums) {
    State state;
    curand_init(2026, threadIdx.x, 0, &state);
    Sums all = {0, 0, 1e300, -1e300};
    for (int i = 0; i < SAMPLES; i++) {
        double x = sample(&state, kind);
        all = {all.first + x, all.second + x * x, fmin(all.least, x), fmax(all.greatest, x)};
    }
    sums[threadIdx.x] = all;
}

/* Within five standard deviations of what the distribution says. */
static void check_moments(const Sums *sums, double mean, double variance, double fourth, double lowest,
                          double highest) {
    double first = 0, second = 0, n = (double)THREADS * SAMPLES;
    for (int t = 0; t < THREADS; t++) {
        first += sums[t].first;
        second += sums[t].second;
        CHECK(sums[t].least >= lowest && sums[t].greatest <= highest);
    }
    double m = first / n, v = second / n - m * m;
    CHECK(fabs(m - mean) < 5 * sqrt(variance / n));
    CHECK(fabs(v - variance) < 5 * sqrt((fourth - variance * variance) / n));
}

template <class State> static void check_distributions(Sums *sums) {
    const struct {
        double mean, variance, fourth, lowest, highest; /* moments around the mean */
    } expected[KINDS] = {
        {0.5, 1 / 12.0, 1 / 80.0, 1e-10, 1},
        {0.5, 1 / 12.0, 1 / 80.0, 1e-17, 1},
        {0, 1, 3, -7, 7},
        {0, 1, 3, -9, 9},
        {2, 0.25, 3 / 16.0, -3, 7},
        {3, 3, 3 + 27, 0, 30},
        {200, 200, 200 + 3 * 40000, 50, 350},
    };
    for (int kind = 0; kind < KINDS; kind++) {
        sums_of_samples<State><<<1, THREADS>>>(kind, sums);
        CHECK(cudaDeviceSynchronize() == cudaSuccess);
        check_moments(sums, expected[kind].mean, expected[kind].variance, expected[kind].fourth,
                      expected[kind].lowest, expected[kind].highest);
    }
}

template <class State> static void check_skips(unsigned *counts, bool *agree) {
    const unsigned few[] = {0, 1, 2, 3, 4, 5, 31, 32, 159, 160, 161, 700};
    const unsigned n = sizeof few / sizeof *few;
    memcpy(counts, few, sizeof few);
    skip_or_draw<State><<<1, n>>>(counts, agree);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    for (unsigned i = 0; i < n; i++)
        CHECK(agree[i]);
}

int main() {
    void *room;
    CHECK(cudaMallocManaged(&room, 1 << 16) == cudaSuccess);
    unsigned *words = (unsigned *)room;
    float *numbers = (float *)room;
    Sums *sums = (Sums *)room;
    bool *agree = (bool *)room + 4096;

    /* Ten first numbers of XORWOW's subsequences with the seed 1234, as the example of cuRAND's guide prints them. */
    const float printed[] = {0.1455f, 0.8202f, 0.5504f, 0.2948f, 0.9147f,
                             0.8690f, 0.3219f, 0.7829f, 0.0113f, 0.2855f};
    first_uniform<curandState><<<1, 10>>>(1234, numbers);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    for (int i = 0; i < 10; i++)
        CHECK(fabsf(numbers[i] - printed[i]) < 0.00005f);

    /* The first numbers of L'Ecuyer's package RngStreams, whose seed is six times 12345, and the first of its streams' second
     * substream. */
    const double stream[] = {0.1270111220, 0.3185275653, 0.3091860155, 0.8258468629, 0.2216299157};
    draw<curandStateMRG32k3a_t><<<1, 1>>>(0, words);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    for (int i = 0; i < 5; i++)
        CHECK(fabs(words[i] / 4294967296.0 - stream[i]) < 1e-9);
    const unsigned long long p76[3][3] = {{82758667, 1871391091, 4127413238},
                                          {3672831523, 69195019, 1871391091},
                                          {3672091415, 3528743235, 69195019}};
    subsequence<<<1, 1>>>(words);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    for (int i = 0; i < 3; i++)
        CHECK(words[i] == 12345 * ((p76[i][0] + p76[i][1] + p76[i][2]) % 4294967087) % 4294967087);

    /* The known answers that come with Random123. */
    const uint4 counters[] = {
        {0, 0, 0, 0}, {~0u, ~0u, ~0u, ~0u}, {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}};
    const uint2 keys[] = {{0, 0}, {~0u, ~0u}, {0xa4093822, 0x299f31d0}};
    const uint4 answers[] = {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
                             {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
                             {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}};
    uint4 *counter = (uint4 *)room, *answer = counter + 8;
    uint2 *key = (uint2 *)(counter + 16);
    memcpy(counter, counters, sizeof counters);
    memcpy(key, keys, sizeof keys);
    blocks<<<1, 3>>>(counter, key, answer);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(!memcmp(answer, answers, sizeof answers));
    four_at_once<<<1, 8>>>(agree);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    for (int i = 0; i < 8; i++)
        CHECK(agree[i]);

    check_words_taken(words, (Drawn *)((char *)room + 8192));
    check_skips<curandStateXORWOW_t>(words, agree);
    check_skips<curandStateMRG32k3a_t>(words, agree);
    check_skips<curandStatePhilox4_32_10_t>(words, agree);
    long_skips<curandStateXORWOW_t><<<1, 1>>>(16, agree);
    CHECK(cudaDeviceSynchronize() == cudaSuccess && agree[0] && agree[1]);
    long_skips<curandStatePhilox4_32_10_t><<<1, 1>>>(8, agree);
    CHECK(cudaDeviceSynchronize() == cudaSuccess && agree[0] && agree[1]);

    check_distributions<curandStateXORWOW_t>(sums);
    check_distributions<curandStateMRG32k3a_t>(sums);
    check_distributions<curandStatePhilox4_32_10_t>(sums);
    return finish("random");
}
