/* cuda::barrier and cuda::pipeline, in shared memory and elsewhere. */
#include "checks.h"

#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/std/barrier>

#include <new>
#include <utility>

namespace groups = cooperative_groups;

enum { THREADS = 64, PHASES = 3, BATCHES = 7 };

using Barrier = cuda::barrier<cuda::thread_scope_block>;

__device__ int phases_of_completion;

struct Count {
    __device__ void operator()() const { atomicAdd(&phases_of_completion, 1); }
};

__global__ void meet(int *results, cuda::barrier<cuda::thread_scope_device> *everywhere, int *written) {
    __shared__ Barrier one;
    __shared__ cuda::barrier<cuda::thread_scope_block, Count> counted;
    __shared__ int values[THREADS];
    int i = threadIdx.x, sum = 0;
    if (i == 0) {
        init(&one, THREADS);
        init(&counted, THREADS);
    }
    __syncthreads();
    for (int phase = 0; phase < PHASES; phase++) {
        values[i] = i + phase;
        Barrier::arrival_token token = one.arrive();
        one.wait(std::move(token));
        sum += values[THREADS - 1 - i];
        one.arrive_and_wait();
        counted.arrive_and_wait();
    }
    written[blockIdx.x * THREADS + i] = i;
    everywhere->arrive_and_wait();
    sum += written[(1 - blockIdx.x) * THREADS + (i + 1) % THREADS];
    /* Of the second phase on, half of them are awaited. */
    if (i >= THREADS / 2) {
        one.arrive_and_drop();
    } else {
        one.arrive_and_wait();
        values[i] = i;
        one.arrive_and_wait();
        sum += values[THREADS / 2 - 1 - i];
    }
    results[blockIdx.x * THREADS + i] = sum;
}

static void check_barriers() {
    int *results, *written;
    cuda::barrier<cuda::thread_scope_device> *everywhere;
    CHECK(cudaMallocManaged(&results, 2 * THREADS * sizeof *results) == cudaSuccess);
    CHECK(cudaMallocManaged(&written, 2 * THREADS * sizeof *written) == cudaSuccess);
    CHECK(cudaMallocManaged(&everywhere, sizeof *everywhere) == cudaSuccess);
    new (everywhere) cuda::barrier<cuda::thread_scope_device>(2 * THREADS);
    meet<<<2, THREADS>>>(results, everywhere, written);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    for (int block = 0; block < 2; block++)
        for (int i = 0; i < THREADS; i++) {
            int expected = PHASES * (THREADS - 1 - i) + PHASES * (PHASES - 1) / 2 + (i + 1) % THREADS;
            if (i < THREADS / 2) expected += THREADS / 2 - 1 - i;
            CHECK(results[block * THREADS + i] == expected);
        }
    int phases;
    CHECK(cudaMemcpyFromSymbol(&phases, phases_of_completion, sizeof phases) == cudaSuccess);
    CHECK(phases == 2 * PHASES);
    cuda::std::barrier<> of_host(1);
    of_host.arrive_and_wait();
    CHECK(of_host.arrive() == 1);
}

/* Each copies what another reads: all of it by a group, a piece by each thread, bytes that are not aligned. */
__global__ void copy(int *results, const int *in) {
    __shared__ Barrier one;
    __shared__ __align__(16) int values[THREADS];
    __shared__ char bytes[THREADS + 1];
    auto block = groups::this_thread_block();
    int i = threadIdx.x, sum = 0;
    if (i == 0) init(&one, THREADS);
    __syncthreads();
    cuda::memcpy_async(block, values, in, cuda::aligned_size_t<16>(sizeof values), one);
    one.arrive_and_wait();
    sum += values[THREADS - 1 - i];
    one.arrive_and_wait();
    cuda::memcpy_async(&values[i], &in[2 * i], sizeof(int), one);
    one.arrive_and_wait();
    sum += values[THREADS - 1 - i];
    cuda::memcpy_async(block, bytes + 1, (const char *)in + 3, THREADS, one);
    one.arrive_and_wait();
    sum += bytes[1 + (THREADS - 1 - i)];
    results[i] = sum;
    cuda::memcpy_async(block, results + THREADS, values, sizeof values, one); /* from shared memory */
}

static void check_copies(const int *in) {
    int *results;
    CHECK(cudaMallocManaged(&results, 2 * THREADS * sizeof *results) == cudaSuccess);
    copy<<<1, THREADS>>>(results, in);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    for (int i = 0; i < THREADS; i++) {
        int other = THREADS - 1 - i;
        CHECK(results[i] == in[other] + in[2 * other] + ((const char *)in)[3 + other]);
        CHECK(results[THREADS + i] == in[2 * i]);
    }
}

template <int Stages> __global__ void stages(int *results, const int *in) {
    __shared__ int values[Stages][THREADS];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, Stages> state;
    auto block = groups::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    int sum = 0;
    for (int used = 0, ahead = 0; used < BATCHES; used++) {
        for (; ahead < BATCHES && ahead < used + Stages; ahead++) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, values[ahead % Stages], in + ahead * THREADS, sizeof values[0], pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        sum += (used + 1) * values[used % Stages][THREADS - 1 - threadIdx.x];
        pipe.consumer_release();
    }
    results[threadIdx.x] = sum;
}

/* One warp copies, the other one reads; whichever comes first says how many they are. */
template <class Roles> __device__ int split(const Roles &roles, const int *in) {
    __shared__ int values[2][32];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    int sum = 0, lane = threadIdx.x % 32;
    auto pipe = cuda::make_pipeline(groups::this_thread_block(), &state, roles);
    for (int i = 0; i < BATCHES; i++) {
        if (threadIdx.x < 32) {
            pipe.producer_acquire();
            cuda::memcpy_async(&values[i % 2][lane], in + i * 32 + lane, sizeof(int), pipe);
            pipe.producer_commit();
        } else {
            pipe.consumer_wait();
            sum += (i + 1) * values[i % 2][31 - lane];
            pipe.consumer_release();
        }
    }
    __syncthreads();
    return sum;
}

__global__ void roles(int *results, const int *in) {
    int by_role = split(threadIdx.x < 32 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer, in);
    results[threadIdx.x] = by_role + split((size_t)32, in);
}

__global__ void alone(int *results, const int *in) {
    __shared__ int values[2][THREADS];
    auto pipe = cuda::make_pipeline();
    int i = threadIdx.x;
    for (int batch = 0; batch < 2; batch++) {
        pipe.producer_acquire();
        cuda::memcpy_async(&values[batch][i], in + batch * THREADS + i, sizeof(int), pipe);
        pipe.producer_commit();
    }
    pipe.consumer_wait();
    int sum = values[0][i];
    pipe.consumer_release();
    cuda::pipeline_consumer_wait_prior<0>(pipe);
    pipe.consumer_release();
    results[i] = sum + 2 * values[1][i];
}

static int expected(const int *in, int width, int at, int batches) {
    int sum = 0;
    for (int batch = 0; batch < batches; batch++)
        sum += (batch + 1) * in[batch * width + at];
    return sum;
}

static void check_pipelines(const int *in) {
    int *results;
    CHECK(cudaMallocManaged(&results, THREADS * sizeof *results) == cudaSuccess);
    stages<1><<<1, THREADS>>>(results, in);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    for (int i = 0; i < THREADS; i++)
        CHECK(results[i] == expected(in, THREADS, THREADS - 1 - i, BATCHES));
    stages<3><<<1, THREADS>>>(results, in);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    for (int i = 0; i < THREADS; i++)
        CHECK(results[i] == expected(in, THREADS, THREADS - 1 - i, BATCHES));
    roles<<<1, THREADS>>>(results, in);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    for (int i = 0; i < THREADS; i++)
        CHECK(results[i] == (i < 32 ? 0 : 2 * expected(in, 32, THREADS - 1 - i, BATCHES)));
    alone<<<1, THREADS>>>(results, in);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    for (int i = 0; i < THREADS; i++)
        CHECK(results[i] == expected(in, THREADS, i, 2));
}

int main() {
    int *in;
    CHECK(cudaMallocManaged(&in, BATCHES * THREADS * sizeof *in) == cudaSuccess);
    for (int i = 0; i < BATCHES * THREADS; i++)
        in[i] = i * i + 7;
    check_barriers();
    check_copies(in);
    check_pipelines(in);
    return finish("barriers");
}
