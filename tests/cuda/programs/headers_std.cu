/* What of libcu++, of Debian, is types alone. */
#include "checks.h"

#include <cuda/std/functional>
#include <cuda/std/limits>
#include <cuda/std/tuple>
#include <cuda/std/type_traits>
#include <cuda/std/utility>

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
}

int main() {
    int *results;
    CHECK(cudaMallocManaged(&results, 16) == cudaSuccess);
    types<<<1, 1>>>(results);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(results[0] == 13 && results[1] == 12 && results[2] == 0x7fffffff && results[3] == 7);
    return finish("std");
}
