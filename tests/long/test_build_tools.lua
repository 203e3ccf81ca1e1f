-- CMake and make with `warpwright nvcc` for nvcc.
local core = require "warpwright.core"
local harness = require "tests.lib.harness"
local nvcc = require "tests.lib.nvcc"

local function cmake_test(name, body)
  nvcc.test(name, function()
    if not nvcc.has "cmake" then harness.skip "cmake is not installed (scripts/setup test)" end
    body()
  end)
end

nvcc.write_parts()
harness.write("one.cu", [[
#include <cstdio>
__global__ void twice(int *x) { x[threadIdx.x] *= 2; }
int main() {
    int *x;
    cudaMallocManaged(&x, 32 * sizeof *x);
    for (int i = 0; i < 32; i++) x[i] = i;
    twice<<<1, 32>>>(x);
    cudaDeviceSynchronize();
    printf("%d, %s\n", x[31], cudaGetErrorString(cudaGetLastError()));
}
]])

cmake_test("CMake takes a script that calls `warpwright nvcc` for nvcc, and its libraries link by their paths", function()
  core.make_folder(harness.folder() .. "/by_script")
  harness.write("by_script/CMakeLists.txt", [[
cmake_minimum_required(VERSION 3.18)
project(by_script LANGUAGES CXX CUDA)
find_package(CUDAToolkit REQUIRED)
add_executable(host host.cpp)
target_link_libraries(host CUDA::cudart_static)
add_executable(device ../one.cu)
]])
  harness.write("by_script/host.cpp", "#include <cuda_runtime.h>\nint main() { int n = 0; cudaGetDeviceCount(&n); return n != 1; }\n")
  harness.contains(nvcc.passes [[printf '#!/bin/sh\nexec "%s" nvcc "$@"\n' "$program" >compile && chmod +x compile &&
    cmake -S by_script -B by_script -DCMAKE_CUDA_COMPILER=$PWD/compile && make -C by_script && cp by_script/host by_script/device . &&
    cuda host && cuda device]], "62, no error")
end)

cmake_test("CMake takes the toolkit's bin/nvcc for nvcc, and links relocatable device code with it", function()
  harness.write("CMakeLists.txt", [[
cmake_minimum_required(VERSION 3.18)
project(demo LANGUAGES CXX CUDA)
add_library(second STATIC second.cu)
add_executable(demo first.cu)
target_link_libraries(demo second)
set_target_properties(second demo PROPERTIES CUDA_SEPARABLE_COMPILATION ON)
target_compile_options(demo PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:--generate-line-info -Xcompiler=-Wall -pthread>)
]])
  harness.contains(nvcc.passes "cmake -S . -B made -DCMAKE_CUDA_COMPILER=$toolkit/bin/nvcc && make -C made && cp made/demo . && cuda demo",
    "CUDA compiler identification is NVIDIA 11.8", "10 310 32")
end)

cmake_test("CMake links a program that names no CUDA to a shared library with kernels", function()
  core.make_folder(harness.folder() .. "/shared")
  harness.write("shared/CMakeLists.txt", [[
cmake_minimum_required(VERSION 3.18)
project(shared LANGUAGES CXX CUDA)
add_library(kernels SHARED kernels.cu)
add_executable(plain plain.cpp)
target_link_libraries(plain kernels)
install(TARGETS kernels plain DESTINATION .)
]])
  harness.write("shared/kernels.cu", [[
__global__ void twice(int *x) { *x *= 2; }
int twice_of(int value) {
    int *x;
    cudaMallocManaged(&x, sizeof *x);
    *x = value;
    twice<<<1, 1>>>(x);
    cudaDeviceSynchronize();
    return *x;
}
]])
  harness.write("shared/plain.cpp", "#include <cstdio>\nint twice_of(int);\nint main() { std::printf(\"%d\\n\", twice_of(21)); }\n")
  harness.contains(nvcc.passes [[cmake -S shared -B shared -DCMAKE_CUDA_COMPILER=$toolkit/bin/nvcc -DCMAKE_INSTALL_RPATH=. &&
    make -C shared && cp shared/plain plain && cuda plain && cmake --install shared --prefix installed]], "42\n")
end)

nvcc.test("the programs of workloads/cuda compile by their Makefile and pass their own checks", function()
  local names <const> = { "vecadd_streams", "reduction", "stencil", "sort", "tensor_matmul" }
  nvcc.passes(([[make -s -j2 -C '%s/workloads/cuda' BUILD='%s' NVCC="$program nvcc"]]):format(core.real_path(core.home_path "."),
    core.real_path(harness.folder())))
  for _, name in ipairs(names) do
    harness.contains(nvcc.passes(('"$program" cuda gtx480 --out %s.out -- ./%s'):format(name, name)), name .. ": passed")
  end
end)

harness.finish()
