-- Libraries that take long to compile: thrust and CUB, whose algorithms are in a program that checks itself; cuda::std by standards.
local cuda_programs = require "tests.lib.cuda_programs"
local harness = require "tests.lib.harness"
local nvcc = require "tests.lib.nvcc"

harness.test("thrust and CUB", function()
  if not os.execute "test -e /usr/include/thrust/version.h" then harness.skip "no thrust: scripts/setup cuda" end
  cuda_programs.checks("thrust", cuda_programs.compile("headers_thrust", "sm_70"), 140)
end)

nvcc.test("types of cuda::std in C++11 and C++14", function()
  harness.write("types14.cu", [[
#include <cstdio>
#include <cuda/functional>
#include <cuda/std/array>
#include <cuda/std/complex>
#include <cuda/std/tuple>
#include <cuda/atomic>
__device__ cuda::atomic<float, cuda::thread_scope_device> sum{0.0f};
__global__ void kernel(float *out) {
    cuda::std::array<int, 3> three{{1, 2, 3}};
    three.at(1) += (int)threadIdx.x;
    cuda::std::tuple<int, cuda::std::complex<float>> both(three[1], {1.0f, 2.0f});
    sum.fetch_add(cuda::std::get<0>(both) + cuda::std::get<1>(both).imag());
    __syncthreads();
    if (threadIdx.x == 0) *out = cuda::maximum<float>()(sum.load(), 3.0f);
}
int main() {
    float *d, h;
    cudaMalloc(&d, 4);
    kernel<<<1, 4>>>(d);
    cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost);
    cuda::std::array<float, 2> two{{h, 1}};
    std::printf("%g\n", two.at(0));
}
]])
  for _, standard in ipairs { "c++11", "c++14", "gnu++17", "c++20" } do
    harness.contains(nvcc.passes(("nvcc -arch=sm_70 -std=%s types14.cu -o types14 && cuda types14"):format(standard)), "22\n")
  end
end)

harness.finish()
