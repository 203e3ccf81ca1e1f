/* libcu++, of Debian: types, and what threads share. */
#include "checks.h"

#include <cooperative_groups/scan.h>
#include <cuda/atomic>
#include <cuda/latch>
#include <cuda/semaphore>
#include <cuda/std/array>
#include <cuda/std/chrono>
#include <cuda/std/complex>
#include <cuda/std/functional>
#include <cuda/std/limits>
#include <cuda/std/tuple>
#include <cuda/std/type_traits>
#include <cuda/std/utility>

#include <new>

namespace cg = cooperative_groups;

template <class T> __device__ cuda::std::enable_if_t<cuda::std::is_floating_point<T>::value, int> kind(T) { return 1; }
template <class T> __device__ cuda::std::enable_if_t<cuda::std::is_integral<T>::value, int> kind(T) { return 2; }

__global__ void types(int *results) {
    cuda::std::tuple<int, float> both(3, 4.5f);
    cuda::std::pair<int, int> pair = cuda::std::make_pair(5, 6);
    cuda::std::get<0>(both) += pair.second;
    results[0] = cuda::std::get<0>(both) + (int)cuda::std::get<1>(both);
    results[1] = kind(1.0) * 10 + kind(1u);
    results[2] = cuda::std::numeric_limits<int>::max();
    results[3] = cuda::std::plus<int>()(pair.first, 2);
    cuda::std::array<int, 3> three{1, 2, 3};
    for (int each : three)
        results[4] += each * (int)three.size();
    cuda::std::complex<float> z(1, 2), quotient = z * z / z;
    results[5] = (int)(quotient.imag() * 10 + quotient.real());
}

/* From 0 down to -31, and from -40 up to 0. */
template <class T, cuda::thread_scope Scope> __device__ void extremes(T *least_and_greatest) {
    T value = -(T)threadIdx.x;
    cuda::atomic_ref<T, Scope> least(least_and_greatest[0]), greatest(least_and_greatest[1]);
    least.fetch_min(value, cuda::std::memory_order_relaxed);
    greatest.fetch_max(value);
}
template <class T> __global__ void all_extremes(T *found) {
    extremes<T, cuda::thread_scope_block>(found);
    extremes<T, cuda::thread_scope_device>(found + 2);
    extremes<T, cuda::thread_scope_system>(found + 4);
}
template <class T> static void check_extremes() {
    T *found;
    CHECK(cudaMallocManaged(&found, 6 * sizeof *found) == cudaSuccess);
    for (int i = 0; i < 6; i++)
        found[i] = i % 2 ? -40 : 0;
    all_extremes<<<1, 32>>>(found);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    for (int i = 0; i < 6; i++)
        CHECK(found[i] == (i % 2 ? 0 : -31));
    CHECK(cudaFree(found) == cudaSuccess);
}

/* Of each tile of eight its sum, and prefixes of numbers from 1 on that go on from tile to tile in the order of their updates. */
struct Updates {
    cuda::atomic<int, cuda::thread_scope_device> sum, most, last, inclusive, exclusive;
};
__global__ void update(Updates *updates, int *prefixes) {
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    int n = threadIdx.x;
    cg::reduce_update_async(tile, updates->sum, n, cg::plus<int>());
    cg::reduce_update_async(tile, updates->most, n, cg::greater<int>());
    cg::reduce_store_async(tile, updates->last, 5, cg::plus<int>());
    prefixes[n] = cg::inclusive_scan_update(tile, updates->inclusive, 1);
    prefixes[64 + n] = cg::exclusive_scan_update(tile, updates->exclusive, 1, cg::plus<int>());
}
static void check_updates() {
    Updates *updates;
    int *prefixes, places[2][65] = {};
    CHECK(cudaMallocManaged(&updates, sizeof *updates) == cudaSuccess);
    CHECK(cudaMallocManaged(&prefixes, 128 * sizeof *prefixes) == cudaSuccess);
    new (updates) Updates();
    update<<<1, 64>>>(updates, prefixes);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(updates->sum.load() == 2016 && updates->most.load() == 63 && updates->last.load() == 40);
    CHECK(updates->inclusive.load() == 64 && updates->exclusive.load() == 64);
    for (int i = 0; i < 128; i++) {
        CHECK(prefixes[i] % 8 == (i + (i < 64)) % 8);
        places[i / 64][prefixes[i]]++;
    }
    for (int i = 0; i < 64; i++)
        CHECK(places[0][i + 1] == 1 && places[1][i] == 1);
}

struct Shared {
    cuda::atomic<int, cuda::thread_scope_system> most;
    cuda::latch<cuda::thread_scope_device> all;
    cuda::binary_semaphore<cuda::thread_scope_device> guard;
    float sum, largest;
    double twice;
    int guarded;
    unsigned bits;
    long long begin, end;

    Shared(int threads) : most(0), all(threads), guard(1), sum(0), largest(-1), twice(0), guarded(0), bits(0), begin(0), end(0) {}
};

__global__ void together(Shared *shared) {
    __shared__ cuda::atomic<int, cuda::thread_scope_block> count;
    if (threadIdx.x == 0) {
        count.store(0, cuda::memory_order_relaxed);
        shared->begin = cuda::std::chrono::system_clock::now().time_since_epoch().count();
    }
    __syncthreads();
    count.fetch_add(2, cuda::memory_order_relaxed);
    shared->most.fetch_max(threadIdx.x);
    cuda::atomic_ref<float, cuda::thread_scope_device> sum(shared->sum), largest(shared->largest);
    sum.fetch_add(0.5f, cuda::memory_order_relaxed);
    largest.fetch_max((float)threadIdx.x);
    cuda::atomic_ref<double, cuda::thread_scope_block> twice(shared->twice);
    twice += 2.0;
    cuda::atomic_ref<unsigned> bits(shared->bits);
    bits.fetch_or(1u << threadIdx.x % 32);
    if (threadIdx.x % 32 == 0) {
        shared->guard.acquire();
        shared->guarded++;
        shared->guard.release();
    }
    shared->all.arrive_and_wait();
    if (threadIdx.x == 0) {
        shared->most += count.load() * 1000;
        shared->end = cuda::std::chrono::system_clock::now().time_since_epoch().count();
    }
}

/* Numbers from 0 on, up and down, by the threads of a warp. */
template <class T> struct Reals {
    cuda::atomic<T, cuda::thread_scope_device> sum{T(1)}, least{T(0)};
    cuda::atomic<T, cuda::thread_scope_system> greatest{T(0)}, assigned{T(0)};
};
template <class T> __device__ Reals<T> on_device;
template <class T> __global__ void add_reals(Reals<T> *reals) {
    __shared__ cuda::atomic<T, cuda::thread_scope_block> own;
    T value = T(threadIdx.x) / 2;
    if (threadIdx.x == 0) own = 0;
    __syncthreads();
    own.fetch_add(value, cuda::memory_order_relaxed);
    on_device<T>.sum += value;
    reals->sum.fetch_add(value);
    reals->least.fetch_min(-value);
    reals->greatest.fetch_max(value, cuda::memory_order_relaxed);
    __syncthreads();
    if (threadIdx.x == 0) reals->assigned = own.load() + on_device<T>.sum.load();
}
template <class T> static void check_reals() {
    Reals<T> *reals;
    CHECK(cudaMallocManaged(&reals, sizeof *reals) == cudaSuccess);
    new (reals) Reals<T>;
    CHECK((reals->sum += 2) == 3 && reals->sum.fetch_sub(2) == 3 && reals->greatest.fetch_max(-1) == 0);
    add_reals<<<1, 32>>>(reals);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(reals->sum.load() == 249 && reals->assigned.load() == 248 + 249);
    CHECK(reals->least.load() == T(-15.5) && reals->greatest.load() == T(15.5));
    static_assert(sizeof *reals == 4 * sizeof(T), "as large as the numbers");
}

int main() {
    int *results;
    CHECK(cudaMallocManaged(&results, 24) == cudaSuccess);
    types<<<1, 1>>>(results);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(results[0] == 13 && results[1] == 12 && results[2] == 0x7fffffff && results[3] == 7);
    CHECK(results[4] == 18);
    CHECK(results[5] == 21);
    Shared *shared;
    CHECK(cudaMallocManaged(&shared, sizeof *shared) == cudaSuccess);
    new (shared) Shared(64);
    together<<<1, 64>>>(shared);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(shared->most.load() == 128063);
    CHECK(shared->sum == 32 && shared->largest == 63 && shared->twice == 128);
    CHECK(shared->bits == 0xffffffff);
    CHECK(shared->guarded == 2);
    CHECK(shared->end > shared->begin);
    check_updates();
    check_extremes<int>();
    check_extremes<long>();
    check_extremes<long long>();
    check_extremes<float>();
    check_reals<float>();
    check_reals<double>();
    return finish("std");
}
