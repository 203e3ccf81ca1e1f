/* thrust and CUB, of Debian. */
#include "checks.h"

#include <algorithm>
#include <cub/cub.cuh>
#include <numeric>
#include <vector>
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/reduce.h>
#include <thrust/extrema.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <thrust/unique.h>

static const int COUNT = 1000;
enum { BLOCK = 128 };

struct Squared {
    __host__ __device__ long long operator()(int x) const { return (long long)x * x; }
};
struct IsThird {
    __host__ __device__ bool operator()(int x) const { return x % 3 == 0; }
};

static void check_thrust(const std::vector<int> &values) {
    thrust::host_vector<int> input(values.begin(), values.end());
    thrust::device_vector<int> numbers = input, sorted = input, places(COUNT);
    std::vector<int> want = values, order(COUNT);
    std::sort(want.begin(), want.end());
    thrust::sort(sorted.begin(), sorted.end());
    thrust::host_vector<int> got = sorted;
    CHECK(std::equal(want.begin(), want.end(), got.begin()));

    thrust::sequence(places.begin(), places.end());
    thrust::device_vector<int> keys = input;
    thrust::stable_sort_by_key(keys.begin(), keys.end(), places.begin(), thrust::greater<int>());
    for (int i = 0; i < COUNT; i++) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return values[a] > values[b]; });
    got = places;
    CHECK(std::equal(order.begin(), order.end(), got.begin()));

    CHECK(thrust::reduce(numbers.begin(), numbers.end(), 5) == std::accumulate(values.begin(), values.end(), 5));
    CHECK(thrust::transform_reduce(numbers.begin(), numbers.end(), Squared(), 0ll, thrust::plus<long long>()) ==
          std::inner_product(values.begin(), values.end(), values.begin(), 0ll));
    CHECK(*thrust::max_element(numbers.begin(), numbers.end()) == want.back());

    thrust::device_vector<int> sums(COUNT);
    thrust::inclusive_scan(numbers.begin(), numbers.end(), sums.begin());
    got = sums;
    std::vector<int> running(COUNT);
    std::partial_sum(values.begin(), values.end(), running.begin());
    CHECK(std::equal(running.begin(), running.end(), got.begin()));

    thrust::device_vector<int> thirds(COUNT);
    size_t count = thrust::copy_if(numbers.begin(), numbers.end(), thirds.begin(), IsThird()) - thirds.begin();
    std::vector<int> some;
    std::copy_if(values.begin(), values.end(), std::back_inserter(some), IsThird());
    got = thirds;
    CHECK(count == some.size() && std::equal(some.begin(), some.end(), got.begin()));

    sorted.erase(thrust::unique(sorted.begin(), sorted.end()), sorted.end());
    want.erase(std::unique(want.begin(), want.end()), want.end());
    got = sorted;
    CHECK(got.size() == want.size() && std::equal(want.begin(), want.end(), got.begin()));
    thrust::transform(numbers.begin(), numbers.end(), thrust::counting_iterator<int>(0), sums.begin(), thrust::plus<int>());
    CHECK(sums[COUNT - 1] == values[COUNT - 1] + COUNT - 1);
}

__global__ void in_block(const int *values, int *results) {
    typedef cub::BlockReduce<int, BLOCK> Reduce;
    typedef cub::BlockScan<int, BLOCK> Scan;
    typedef cub::WarpReduce<int> Warp;
    typedef cub::BlockRadixSort<int, BLOCK, 2> Sort;
    __shared__ union {
        Reduce::TempStorage reduce;
        Scan::TempStorage scan;
        Warp::TempStorage warp[BLOCK / 32];
        Sort::TempStorage sort;
    } memory;
    int n = threadIdx.x, value = values[n], before, pair[2] = {values[2 * n], values[2 * n + 1]};
    int sum = Reduce(memory.reduce).Sum(value);
    __syncthreads();
    Scan(memory.scan).ExclusiveSum(value, before);
    __syncthreads();
    int largest = Warp(memory.warp[n / 32]).Reduce(value, cub::Max());
    __syncthreads();
    Sort(memory.sort).Sort(pair);
    results[n] = n ? before : sum;
    results[BLOCK + n] = n % 32 ? 0 : largest;
    results[2 * BLOCK + 2 * n] = pair[0];
    results[2 * BLOCK + 2 * n + 1] = pair[1];
}

static void check_cub(const std::vector<int> &values) {
    int *input, *results;
    void *memory = NULL;
    size_t bytes = 0;
    CHECK(cudaMallocManaged(&input, COUNT * sizeof(int)) == cudaSuccess && cudaMallocManaged(&results, COUNT * sizeof(int)) == cudaSuccess);
    std::copy(values.begin(), values.end(), input);
    in_block<<<1, BLOCK>>>(input, results);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    std::vector<int> pairs(values.begin(), values.begin() + 2 * BLOCK);
    std::sort(pairs.begin(), pairs.end());
    CHECK(results[0] == std::accumulate(values.begin(), values.begin() + BLOCK, 0));
    for (int n = 1; n < BLOCK; n++) CHECK(results[n] == std::accumulate(values.begin(), values.begin() + n, 0));
    for (int n = 0; n < BLOCK; n += 32) CHECK(results[BLOCK + n] == *std::max_element(values.begin() + n, values.begin() + n + 32));
    CHECK(std::equal(pairs.begin(), pairs.end(), results + 2 * BLOCK));

    CHECK(cub::DeviceRadixSort::SortKeys(memory, bytes, input, results, COUNT) == cudaSuccess && bytes > 0);
    CHECK(cudaMalloc(&memory, bytes) == cudaSuccess);
    CHECK(cub::DeviceRadixSort::SortKeys(memory, bytes, input, results, COUNT) == cudaSuccess);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    std::vector<int> want = values;
    std::sort(want.begin(), want.end());
    CHECK(std::equal(want.begin(), want.end(), results));
}

int main() {
    std::vector<int> values(COUNT);
    for (int i = 0; i < COUNT; i++) values[i] = i * 7919 % 613 - 100;
    check_thrust(values);
    check_cub(values);
    return finish("thrust");
}
