// A five-point stencil on a grid that is read through a texture, with its weights in constant memory.
#include "check.h"

#include <utility>
#include <vector>

__constant__ float weights[5]; // middle, left, right, up, down

__global__ void stencil(cudaTextureObject_t grid, float *result, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    result[y * width + x] = weights[0] * tex2D<float>(grid, x, y) +
                            weights[1] * tex2D<float>(grid, x - 1, y) +
                            weights[2] * tex2D<float>(grid, x + 1, y) +
                            weights[3] * tex2D<float>(grid, x, y - 1) +
                            weights[4] * tex2D<float>(grid, x, y + 1);
}

static void stencil_on_host(const std::vector<float> &grid, std::vector<float> &result, int width, int height,
                            const float *w) {
    auto at = [&](int x, int y) {
        x = x < 0 ? 0 : x >= width ? width - 1 : x;
        y = y < 0 ? 0 : y >= height ? height - 1 : y;
        return grid[y * width + x];
    };
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            result[y * width + x] = w[0] * at(x, y) + w[1] * at(x - 1, y) + w[2] * at(x + 1, y) +
                                    w[3] * at(x, y - 1) + w[4] * at(x, y + 1);
}

int main() {
    const int width = 200, height = 120, steps = 4;
    const float w[5] = {0.5f, 0.125f, 0.125f, 0.125f, 0.125f};
    std::vector<float> grid(width * height), want(width * height), got(width * height);
    for (int i = 0; i < width * height; i++)
        grid[i] = (float)(i * 7919 % 1000) / 1000;

    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    CHECK(cudaMallocArray(&array, &format, width, height));
    CHECK(cudaMemcpy2DToArray(array, 0, 0, grid.data(), width * sizeof(float), width * sizeof(float), height,
                              cudaMemcpyHostToDevice));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc how = {};
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    how.filterMode = cudaFilterModePoint;
    how.readMode = cudaReadModeElementType;
    cudaTextureObject_t texture;
    CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    CHECK(cudaMemcpyToSymbol(weights, w, sizeof w));
    float *result;
    CHECK(cudaMalloc(&result, width * height * sizeof(float)));

    dim3 block(32, 8), blocks((width + 31) / 32, (height + 7) / 8);
    for (int step = 0; step < steps; step++) {
        stencil<<<blocks, block>>>(texture, result, width, height);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy2DToArray(array, 0, 0, result, width * sizeof(float), width * sizeof(float), height,
                                  cudaMemcpyDeviceToDevice));
        stencil_on_host(grid, want, width, height, w);
        std::swap(grid, want);
    }
    CHECK(cudaMemcpy(got.data(), result, width * height * sizeof(float), cudaMemcpyDeviceToHost));
    int wrong = 0;
    for (int i = 0; i < width * height; i++)
        wrong += std::fabs(got[i] - grid[i]) > 1e-5f;
    CHECK(cudaDestroyTextureObject(texture));
    CHECK(cudaFreeArray(array));
    CHECK(cudaFree(result));
    return report("stencil", wrong);
}
