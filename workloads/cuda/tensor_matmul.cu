// Multiplies half-precision matrices on tensor cores: a warp computes a tile of 16 x 16 in single precision.
#include "check.h"

#include <vector>

#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

enum { TILE = 16 };

__global__ void multiply(const half *a, const half *b, float *c, int n) {
    int row = blockIdx.y * TILE, column = (blockIdx.x * blockDim.y + threadIdx.y) * TILE;
    wmma::fragment<wmma::matrix_a, TILE, TILE, TILE, half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, TILE, TILE, TILE, half, wmma::col_major> right;
    wmma::fragment<wmma::accumulator, TILE, TILE, TILE, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int k = 0; k < n; k += TILE) {
        wmma::load_matrix_sync(left, a + row * n + k, n);
        wmma::load_matrix_sync(right, b + column * n + k, n);
        wmma::mma_sync(sum, left, right, sum);
    }
    wmma::store_matrix_sync(c + row * n + column, sum, n, wmma::mem_row_major);
}

int main() {
    const int n = 64;
    std::vector<half> a(n * n), b(n * n); // b by columns
    std::vector<float> c(n * n);
    for (int i = 0; i < n * n; i++) { // small integers: all sums are exact
        a[i] = __float2half((float)(i * 31 % 17 - 8));
        b[i] = __float2half((float)(i * 13 % 11 - 5));
    }
    half *device_a, *device_b;
    float *device_c;
    CHECK(cudaMalloc(&device_a, n * n * sizeof(half)));
    CHECK(cudaMalloc(&device_b, n * n * sizeof(half)));
    CHECK(cudaMalloc(&device_c, n * n * sizeof(float)));
    CHECK(cudaMemcpy(device_a, a.data(), n * n * sizeof(half), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(device_b, b.data(), n * n * sizeof(half), cudaMemcpyHostToDevice));
    multiply<<<dim3(n / TILE / 2, n / TILE), dim3(32, 2)>>>(device_a, device_b, device_c, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(c.data(), device_c, n * n * sizeof(float), cudaMemcpyDeviceToHost));

    int wrong = 0;
    for (int row = 0; row < n; row++)
        for (int column = 0; column < n; column++) {
            float want = 0;
            for (int k = 0; k < n; k++)
                want += __half2float(a[row * n + k]) * __half2float(b[column * n + k]);
            wrong += c[row * n + column] != want;
        }
    CHECK(cudaFree(device_a));
    CHECK(cudaFree(device_b));
    CHECK(cudaFree(device_c));
    return report("tensor_matmul", wrong);
}
