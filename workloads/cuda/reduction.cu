// Sum and maximum of an array: within a warp by shuffles, within a block by shared memory, over blocks by atomics.
#include "check.h"

#include <climits>
#include <vector>

__device__ int warp_sum(int value) {
    for (int offset = warpSize / 2; offset > 0; offset /= 2)
        value += __shfl_down_sync(0xffffffffu, value, offset);
    return value;
}

__device__ int warp_max(int value) {
    for (int offset = warpSize / 2; offset > 0; offset /= 2)
        value = max(value, __shfl_xor_sync(0xffffffffu, value, offset));
    return value;
}

__global__ void reduce(const int *data, int n, unsigned long long *sum, int *maximum) {
    __shared__ int sums[32], maxima[32];
    int own_sum = 0, own_max = INT_MIN;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        own_sum += data[i];
        own_max = max(own_max, data[i]);
    }
    int lane = threadIdx.x % warpSize, warp = threadIdx.x / warpSize, warps = blockDim.x / warpSize;
    own_sum = warp_sum(own_sum);
    own_max = warp_max(own_max);
    if (lane == 0) {
        sums[warp] = own_sum;
        maxima[warp] = own_max;
    }
    __syncthreads();
    if (warp > 0) return;
    own_sum = warp_sum(lane < warps ? sums[lane] : 0);
    own_max = warp_max(lane < warps ? maxima[lane] : INT_MIN);
    if (lane == 0) {
        atomicAdd(sum, (unsigned long long)own_sum);
        atomicMax(maximum, own_max);
    }
}

int main(int argc, char **argv) {
    const int n = argc > 1 ? std::atoi(argv[1]) : 100000;
    std::vector<int> data(n);
    long long want_sum = 0;
    int want_max = INT_MIN;
    unsigned state = 1;
    for (int &x : data) {
        state = state * 1664525u + 1013904223u;
        x = (int)(state >> 16) % 10000;
        want_sum += x;
        want_max = x > want_max ? x : want_max;
    }

    int *device_data, *device_max, most_negative = INT_MIN;
    unsigned long long *device_sum;
    CHECK(cudaMalloc(&device_data, n * sizeof(int)));
    CHECK(cudaMalloc(&device_sum, sizeof *device_sum));
    CHECK(cudaMalloc(&device_max, sizeof *device_max));
    CHECK(cudaMemcpy(device_data, data.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(device_sum, 0, sizeof *device_sum));
    CHECK(cudaMemcpy(device_max, &most_negative, sizeof most_negative, cudaMemcpyHostToDevice));

    cudaDeviceProp device;
    CHECK(cudaGetDeviceProperties(&device, 0));
    reduce<<<2 * device.multiProcessorCount, 256>>>(device_data, n, device_sum, device_max);
    CHECK(cudaGetLastError());

    unsigned long long sum;
    int maximum;
    CHECK(cudaMemcpy(&sum, device_sum, sizeof sum, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(&maximum, device_max, sizeof maximum, cudaMemcpyDeviceToHost));
    std::printf("%s, %d multiprocessors: sum %lld, maximum %d\n", device.name, device.multiProcessorCount,
                (long long)sum, maximum);
    CHECK(cudaFree(device_data));
    CHECK(cudaFree(device_sum));
    CHECK(cudaFree(device_max));
    return report("reduction", ((long long)sum != want_sum) + (maximum != want_max));
}
