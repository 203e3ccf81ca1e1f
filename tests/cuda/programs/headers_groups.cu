/* Cooperative groups, asynchronous copies and wmma. */
#include "checks.h"

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda_awbarrier.h>
#include <cuda_pipeline.h>
#include <mma.h>
#include <nvtx3/nvtx3.hpp>

namespace cg = cooperative_groups;
using namespace nvcuda;

/* Written for any group, as the first example of every introduction. */
__device__ int sum_of(cg::thread_group group, int *scratch, int value) {
    int rank = (int)group.thread_rank();
    for (int i = (int)group.size() / 2; i > 0; i /= 2) {
        scratch[rank] = value;
        group.sync();
        if (rank < i) value += scratch[rank + i];
        group.sync();
    }
    return value;
}

enum { THREADS = 128, RESULTS = 24 };

struct Pair {
    double value;
    int lane;
};

__global__ void groups(int *results, const int *input) {
    __shared__ int scratch[THREADS];
    cg::thread_block block = cg::this_thread_block();
    int n = (int)block.thread_rank(), *result = results + n;
#define RESULT(value) (*result = (value), result += THREADS)
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    auto eight = cg::tiled_partition<8>(warp);
    RESULT(cg::reduce(eight, n, cg::plus<>()));
    RESULT(cg::reduce(warp, n * 5 % 37, cg::less<int>()));
    RESULT(cg::inclusive_scan(warp, n));
    RESULT(cg::exclusive_scan(eight, n, cg::bit_xor<int>()));
    RESULT(eight.meta_group_rank() * 100 + eight.meta_group_size());
    RESULT(eight.shfl_down(n, 3) * 1000 + eight.shfl_up(n, 2));
    RESULT(eight.shfl_xor(n, 5) * 1000 + eight.shfl(n, 6));
    Pair pair = {n * 0.5, n};
    pair = warp.shfl(pair, 9);
    RESULT((int)(pair.value * 2) * 1000 + pair.lane);
    RESULT((int)(eight.ballot(n % 2) * 10 + eight.any(n % 8 == 7) * 2 + eight.all(n % 8 < 7)));
    RESULT((int)eight.match_any(n % 3));
    if (n % 3 == 0) {
        cg::coalesced_group some = cg::coalesced_threads();
        *result = cg::reduce(some, n, cg::greater<int>()) * 1000 + (int)some.thread_rank() * 20 + (int)some.size();
        result[THREADS] = some.shfl_down(n, 2) * 1000 + some.shfl(n, 1);
        result[2 * THREADS] = (int)some.ballot(n % 2) + cg::inclusive_scan(some, 1) * 4096;
    } else {
        *result = result[THREADS] = result[2 * THREADS] = -1;
    }
    result += 3 * THREADS;
    warp.sync();
    cg::coalesced_group fifths = cg::binary_partition(warp, n % 5 == 0);
    RESULT((int)fifths.size() * 100 + (int)fifths.thread_rank());
    RESULT((int)cg::labeled_partition(warp, n % 4).size());
    int total = sum_of(block, scratch, n);
    RESULT(n ? 0 : total);
    cg::thread_group quarter = cg::tiled_partition(block, 4);
    total = sum_of(quarter, scratch + n / 4 * 4, n);
    RESULT(n % 4 ? 0 : total);
    block.sync();
    cg::memcpy_async(block, scratch, input, sizeof scratch);
    cg::wait(block);
    RESULT(scratch[THREADS - 1 - n]);
    block.sync();
    __pipeline_memcpy_async(scratch + n, input + THREADS - 1 - n, sizeof(int));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    block.sync();
    RESULT(scratch[n ^ 1]);
    RESULT((int)(block.group_index().x * 1000 + block.thread_index().y * 100 + block.group_dim().x));
}

/* Arrivals that are awaited later, barriers that are objects, and what one thread does for all. */
__global__ void arrivals(int *results) {
    __shared__ int values[THREADS];
    __shared__ nvcuda::experimental::awbarrier barrier;
    cg::thread_block block = cg::this_thread_block();
    int n = (int)block.thread_rank(), sum = 0;
    cg::invoke_one(block, [&] { init(&barrier, THREADS); });
    values[n] = n;
    auto token = block.barrier_arrive();
    block.barrier_wait(std::move(token));
    sum += values[THREADS - 1 - n];
    barrier.arrive_and_wait();
    values[n] = n * n;
    nvcuda::experimental::awbarrier::arrival_token arrived = barrier.arrive();
    barrier.wait(arrived);
    sum += values[THREADS - 1 - n];
    auto eight = cg::tiled_partition<8>(block);
    sum += cg::invoke_one_broadcast(eight, [](int of_first) { return of_first * 100000; }, n);
    cg::this_thread().sync();
    results[n] = sum + (int)cg::this_thread().size();
}

static void check_arrivals() {
    NVTX3_FUNC_RANGE();
    nvtx3::scoped_range range("check_arrivals", nvtx3::rgb(1, 2, 3), nvtx3::payload(1));
    int *results;
    CHECK(cudaMallocManaged(&results, THREADS * sizeof(int)) == cudaSuccess);
    arrivals<<<1, THREADS>>>(results);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    for (int n = 0; n < THREADS; n++) {
        int other = THREADS - 1 - n;
        CHECK(results[n] == other + other * other + n / 8 * 8 * 100000 + 1);
    }
}

/* ---- tiles of several warps, in blocks of 512 threads */

enum { LARGE = 512, LARGE_RESULTS = 9 };

struct Triple {
    int values[3];
};

template <unsigned Size> __device__ int *tile_results(const cg::thread_block &block, int *result, int *scratch) {
    auto tile = cg::tiled_partition<Size>(block);
    int n = (int)block.thread_rank();
    auto store = [&](int value) { *result = value, result += LARGE; };
    store(cg::reduce(tile, n, cg::plus<int>()));
    store(cg::inclusive_scan(tile, n));
    store(cg::exclusive_scan(tile, n, cg::plus<int>()));
    store((int)(tile.meta_group_rank() * 1000 + tile.meta_group_size() * 10) + (tile.any(n == 100) ? 1 : 0) + (tile.all(n < 400) ? 2 : 0));
    Triple triple = tile.shfl(Triple{{n, 2 * n, 3 * n}}, Size - 5);
    store(triple.values[0] + triple.values[1] + triple.values[2]);
    scratch[n] = n;
    tile.sync();
    store(scratch[n / Size * Size + (n + 40) % Size]);
    tile.sync();
    int total = sum_of(tile, scratch + n / (int)Size * (int)Size, n);
    store(tile.thread_rank() ? 0 : total);
    auto half = cg::tiled_partition<Size / 2>(tile);
    store(cg::reduce(half, n, cg::greater<int>()));
    store((int)(half.meta_group_rank() * 100 + half.meta_group_size()));
    return result;
}

__global__ void large_tiles(int *results) {
    __shared__ int scratch[LARGE];
    __shared__ cg::block_tile_memory<LARGE> memory;
    __shared__ cg::experimental::block_tile_memory<4, LARGE> old_memory;
    int *result = results + threadIdx.x;
    cg::thread_block block = cg::this_thread_block(memory);
    result = tile_results<64>(block, result, scratch);
    result = tile_results<128>(cg::experimental::this_thread_block(old_memory), result, scratch);
    result = tile_results<256>(cg::this_thread_block(), result, scratch);
    result = tile_results<512>(block, result, scratch);
}

static void check_large_tiles() {
    int *results;
    CHECK(cudaMallocManaged(&results, 4 * LARGE_RESULTS * LARGE * sizeof(int)) == cudaSuccess);
    large_tiles<<<1, LARGE>>>(results);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    for (int n = 0; n < LARGE; n++) {
        const int *result = results + n;
        for (int size = 64; size <= LARGE; size *= 2) {
            int first = n / size * size, last = first + size - 1, sum = size * (first + last) / 2, below = (n - first) * (first + n - 1) / 2;
            auto check = [&](int expected) { CHECK(*result == expected); result += LARGE; };
            check(sum);
            check(below + n);
            check(below);
            check(n / size * 1000 + LARGE / size * 10 + (first <= 100 && last >= 100) + (last < 400 ? 2 : 0));
            check(6 * (last - 4));
            check(first + (n + 40) % size);
            check(n == first ? sum : 0);
            check(n / (size / 2) * (size / 2) + size / 2 - 1);
            check((n - first) / (size / 2) * 100 + 2);
        }
    }
}

static int sum_from(int first, int count) { return count * first + count * (count - 1) / 2; }

static void check_groups() {
    int *results, *input;
    CHECK(cudaMallocManaged(&results, RESULTS * THREADS * sizeof(int)) == cudaSuccess);
    CHECK(cudaMallocManaged(&input, THREADS * sizeof(int)) == cudaSuccess);
    for (int i = 0; i < THREADS; i++) input[i] = i * i;
    groups<<<1, dim3(32, 4)>>>(results, input);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    for (int n = 0; n < THREADS; n++) {
        const int *result = results + n;
        int eight = n / 8 * 8, warp = n / 32 * 32, least = 99, others = 0, mask = 0, third = warp + (3 - warp % 3) % 3;
        for (int i = warp; i < warp + 32; i++) least = i * 5 % 37 < least ? i * 5 % 37 : least;
        for (int i = eight; i < n; i++) others ^= i;
        for (int i = eight; i < eight + 8; i++) mask |= (i % 3 == n % 3) << (i - eight);
        int last = warp + 31 - (warp + 31) % 3, count = (last - third) / 3 + 1, rank = (n - third) / 3, odd = 0, fifths = 0, before = 0;
        for (int i = 0; i < count; i++) odd |= (third + 3 * i) % 2 << i;
        for (int i = warp; i < warp + 32; i++) fifths += (i % 5 == 0) == (n % 5 == 0), before += i < n && (i % 5 == 0) == (n % 5 == 0);
#define WANT(value) CHECK(*result == (value)); result += THREADS
        WANT(sum_from(eight, 8));
        WANT(least);
        WANT(sum_from(warp, n - warp + 1));
        WANT(others);
        WANT((n - warp) / 8 * 100 + 4);
        WANT((n % 8 > 4 ? n : n + 3) * 1000 + (n % 8 < 2 ? n : n - 2));
        WANT((eight + (n % 8 ^ 5)) * 1000 + eight + 6);
        WANT((warp + 9) * 1000 + warp + 9);
        WANT(0xaa * 10 + 2);
        WANT(mask);
        WANT(n % 3 ? -1 : last * 1000 + rank * 20 + count);
        WANT(n % 3 ? -1 : (rank + 2 < count ? n + 6 : n) * 1000 + third + 3);
        WANT(n % 3 ? -1 : odd + (rank + 1) * 4096);
        WANT(fifths * 100 + before);
        WANT(8);
        WANT(n ? 0 : sum_from(0, THREADS));
        WANT(n % 4 ? 0 : sum_from(n, 4));
        WANT(input[THREADS - 1 - n]);
        WANT(input[THREADS - 1 - (n ^ 1)]);
        WANT(n / 32 * 100 + 32);
    }
}

/* ---- a grid whose blocks go in step: in each round another one writes what all have read */

__global__ void relay(int *value, int *wrong, int rounds) {
    cg::grid_group grid = cg::this_grid();
    for (int i = 0; i < rounds; i++) {
        if (*(volatile int *)value != i) atomicAdd(wrong, 1);
        grid.sync();
        if (grid.thread_rank() == (unsigned)i * 37 % grid.size()) *value = i + 1;
        if (i % 2) {
            auto token = grid.barrier_arrive();
            grid.barrier_wait(std::move(token));
        } else {
            cg::sync(grid);
        }
    }
}

__global__ void is_cooperative(int *answer) { *answer = cg::this_grid().is_valid(); }

static void check_grid() {
    int *values, *wrong, rounds = 50, largest;
    CHECK(cudaMallocManaged(&values, 8) == cudaSuccess);
    wrong = values + 1;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&largest, relay, 64, 0) == cudaSuccess && largest > 0);
    for (int blocks = 1; blocks <= 15; blocks += 7) {
        values[0] = values[1] = 0;
        void *arguments[] = {&values, &wrong, &rounds};
        CHECK(cudaLaunchCooperativeKernel(relay, dim3(blocks), dim3(64), arguments) == cudaSuccess);
        CHECK(cudaDeviceSynchronize() == cudaSuccess);
        CHECK(values[0] == rounds && values[1] == 0);
    }
    void *arguments[] = {&values, &wrong, &rounds};
    CHECK(cudaLaunchCooperativeKernel(relay, dim3(100000), dim3(64), arguments) == cudaErrorCooperativeLaunchTooLarge);
    cudaLaunchAttribute attribute = {cudaLaunchAttributeCooperative};
    attribute.val.cooperative = 1;
    cudaLaunchConfig_t config = {dim3(3), dim3(64), 0, 0, &attribute, 1};
    values[0] = 0;
    CHECK(cudaLaunchKernelExC(&config, (const void *)relay, arguments) == cudaSuccess);
    CHECK(cudaDeviceSynchronize() == cudaSuccess && values[0] == rounds && values[1] == 0);
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {2, 1, 1};
    CHECK(cudaLaunchKernelExC(&config, (const void *)relay, arguments) == cudaErrorInvalidClusterSize);
    is_cooperative<<<1, 1>>>(values);
    CHECK(cudaDeviceSynchronize() == cudaSuccess && values[0] == 0);
    void *validity[] = {&values};
    CHECK(cudaLaunchCooperativeKernel(is_cooperative, dim3(1), dim3(1), validity) == cudaSuccess);
    CHECK(cudaDeviceSynchronize() == cudaSuccess && values[0] == 1);
}

/* ---- a ring of buffers: one warp brings blocks of the input by asynchronous copies, the others add them up; barriers in
 * shared memory say which buffers are full and which are free */

enum { BUFFERS = 3, BLOCKS = 10, WARP = 32, CONSUMERS = 3 * WARP };

__device__ void wait_for(__mbarrier_t *barrier, bool parity) {
    while (!__mbarrier_test_wait_parity(barrier, parity)) __nanosleep(20);
}

__global__ void ring(const int *input, int *sums, unsigned *counts) {
    __shared__ int buffer[BUFFERS][CONSUMERS];
    __shared__ __mbarrier_t full[BUFFERS], freed[BUFFERS];
    if (threadIdx.x < BUFFERS) {
        __mbarrier_init(&full[threadIdx.x], WARP);
        __mbarrier_init(&freed[threadIdx.x], CONSUMERS);
    }
    __syncthreads();
    int lane = threadIdx.x % WARP, consumer = (int)threadIdx.x - WARP, sum = 0;
    for (int block = 0; block < BLOCKS; block++) {
        int slot = block % BUFFERS, turn = block / BUFFERS;
        if (consumer < 0) {
            if (turn) wait_for(&freed[slot], (turn - 1) & 1);
            for (int i = lane; i < CONSUMERS; i += WARP)
                __pipeline_memcpy_async(&buffer[slot][i], input + block * CONSUMERS + i, sizeof(int));
            __pipeline_arrive_on(&full[slot]);
            __mbarrier_arrive(&full[slot]);
        } else {
            wait_for(&full[slot], turn & 1);
            sum += (block + 1) * buffer[slot][consumer];
            __mbarrier_arrive(&freed[slot]);
        }
    }
    if (consumer >= 0) sums[consumer] = sum;
    if (consumer == 0) counts[0] = __mbarrier_token_pending_count(__mbarrier_arrive_and_drop(&full[0])), counts[1] = __mbarrier_maximum_count();
}

static void check_ring() {
    int *input, *sums;
    unsigned *counts;
    CHECK(cudaMallocManaged(&input, BLOCKS * CONSUMERS * 4) == cudaSuccess && cudaMallocManaged(&sums, CONSUMERS * 4) == cudaSuccess);
    CHECK(cudaMallocManaged(&counts, 8) == cudaSuccess);
    for (int i = 0; i < BLOCKS * CONSUMERS; i++) input[i] = i * i % 101;
    ring<<<1, WARP + CONSUMERS>>>(input, sums, counts);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    for (int i = 0; i < CONSUMERS; i++) {
        int sum = 0;
        for (int block = 0; block < BLOCKS; block++) sum += (block + 1) * input[block * CONSUMERS + i];
        CHECK(sums[i] == sum);
    }
    CHECK(counts[0] == WARP && counts[1] == (1u << 20) - 1);
}

/* ---- products of small integers, which are exact in all types */

template <int M, int N, int K, class In, class Memory, class Out, class LayoutA, class LayoutB>
__global__ void product(const Memory *a, const Memory *b, const Out *c, Out *d, bool by_rows) {
    wmma::fragment<wmma::matrix_a, M, N, K, In, LayoutA> left;
    wmma::fragment<wmma::matrix_b, M, N, K, In, LayoutB> right;
    wmma::fragment<wmma::accumulator, M, N, K, Out> sum, twice;
    wmma::layout_t layout = by_rows ? wmma::mem_row_major : wmma::mem_col_major;
    wmma::load_matrix_sync(left, a, __is_same(LayoutA, wmma::row_major) ? K : M);
    wmma::load_matrix_sync(right, b, __is_same(LayoutB, wmma::row_major) ? N : K);
    wmma::load_matrix_sync(sum, c, by_rows ? N : M, layout);
    wmma::fill_fragment(twice, (Out)(1.0f));
    wmma::mma_sync(sum, left, right, sum);
    for (int i = 0; i < sum.num_elements; i++) sum.x[i] = sum.x[i] + sum.x[i] + twice.x[i];
    wmma::store_matrix_sync(d, sum, by_rows ? N : M, layout);
}

template <int M, int N, int K, class In, class Memory, class Out, class LayoutA, class LayoutB>
static void check_product(bool by_rows) {
    bool rows_a = __is_same(LayoutA, wmma::row_major), rows_b = __is_same(LayoutB, wmma::row_major);
    Memory *a, *b;
    Out *c, *d;
    CHECK(cudaMallocManaged(&a, M * K * sizeof *a) == cudaSuccess && cudaMallocManaged(&b, K * N * sizeof *b) == cudaSuccess);
    CHECK(cudaMallocManaged(&c, M * N * sizeof *c) == cudaSuccess && cudaMallocManaged(&d, M * N * sizeof *d) == cudaSuccess);
    for (int i = 0; i < M * K; i++) a[i] = (Memory)(float)(i * 7 % 5);
    for (int i = 0; i < K * N; i++) b[i] = (Memory)(float)(i * 3 % 4);
    for (int i = 0; i < M * N; i++) c[i] = (Out)(float)(i % 11);
    product<M, N, K, In, Memory, Out, LayoutA, LayoutB><<<1, 32>>>(a, b, c, d, by_rows);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    int wrong = 0;
    for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++) {
            int place = by_rows ? m * N + n : n * M + m;
            float sum = (float)c[place];
            for (int k = 0; k < K; k++) sum += (float)a[rows_a ? m * K + k : k * M + m] * (float)b[rows_b ? k * N + n : n * K + k];
            wrong += (float)d[place] != 2 * sum + 1;
        }
    CHECK(wrong == 0);
    cudaFree(a), cudaFree(b), cudaFree(c), cudaFree(d);
}

/* ---- sums that leave the range of their type */

__global__ void saturated(int *ints, float *halves) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::col_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, int> sum;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> half_left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> half_right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, __half> half_sum;
    for (int i = 0; i < 2; i++) {
        wmma::fill_fragment(left, 100), wmma::fill_fragment(right, 100), wmma::fill_fragment(sum, 0x7fffff00);
        wmma::mma_sync(sum, left, right, sum, i == 1);
        ints[2 * i + 1] = sum.x[0];
        wmma::fill_fragment(left, -100), wmma::fill_fragment(sum, -0x7fffff00);
        wmma::mma_sync(sum, left, right, sum, i == 1);
        ints[2 * i] = sum.x[0];
        wmma::fill_fragment(half_left, __half(1000)), wmma::fill_fragment(half_right, __half(-1000)), wmma::fill_fragment(half_sum, __half(0));
        wmma::mma_sync(half_sum, half_left, half_right, half_sum, i == 1);
        halves[i] = (float)half_sum.x[0];
    }
}

static void check_saturated() {
    int *ints;
    float *halves;
    CHECK(cudaMallocManaged(&ints, 4 * sizeof *ints) == cudaSuccess && cudaMallocManaged(&halves, 2 * sizeof *halves) == cudaSuccess);
    saturated<<<1, 32>>>(ints, halves);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(ints[0] == (int)(0u - 0x7fffff00u - 160000u) && ints[1] == (int)(0x7fffff00u + 160000u));
    CHECK(ints[2] == -0x7fffffff - 1 && ints[3] == 0x7fffffff);
    CHECK(halves[0] == -INFINITY && halves[1] == -65504);
}

int main() {
    check_groups();
    check_saturated();
    check_arrivals();
    check_large_tiles();
    check_grid();
    check_ring();
    check_product<16, 16, 16, __half, __half, float, wmma::row_major, wmma::col_major>(true);
    check_product<32, 8, 16, __half, __half, __half, wmma::col_major, wmma::row_major>(false);
    check_product<8, 32, 16, __half, __half, float, wmma::row_major, wmma::row_major>(false);
    check_product<16, 16, 16, __nv_bfloat16, __nv_bfloat16, float, wmma::col_major, wmma::col_major>(true);
    check_product<16, 16, 16, signed char, signed char, int, wmma::row_major, wmma::col_major>(true);
    check_product<8, 32, 16, unsigned char, unsigned char, int, wmma::row_major, wmma::row_major>(true);
    check_product<16, 16, 8, wmma::precision::tf32, float, float, wmma::row_major, wmma::col_major>(false);
    check_product<8, 8, 4, double, double, double, wmma::row_major, wmma::col_major>(true);
    return finish("groups");
}
