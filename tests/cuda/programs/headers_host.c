/* A host program in C: the runtime API and the driver API by gcc, without a kernel. */
#include "checks.h"

#include <cuComplex.h>
#include <cuda.h>
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>
#include <nvToolsExt.h>
#include <stdlib.h>

static const char *const module_text =
    ".version 6.0\n.target sm_50\n.address_size 64\n"
    ".visible .global .align 4 .u32 step = 3;\n"
    ".visible .entry raise(.param .u64 to) {\n"
    ".reg .u64 %rd<4>; .reg .u32 %r<4>;\n"
    "ld.param.u64 %rd1, [to]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4;\n"
    "add.u64 %rd1, %rd1, %rd2; ld.global.u32 %r2, [%rd1];\n"
    "ld.global.u32 %r3, [step]; add.u32 %r2, %r2, %r3; st.global.u32 [%rd1], %r2; ret; }\n";

static void check_runtime(void) {
    struct cudaDeviceProp properties;
    enum cudaMemcpyKind kind = cudaMemcpyHostToDevice;
    int *device, host[4] = {1, 2, 3, 4}, back[4] = {0}, count = 0, value = 0;
    cudaStream_t stream;
    cudaEvent_t event;
    float4 four = make_float4(1, 2, 3, 4);
    dim3 size = {1, 2, 3};
    CHECK(cudaGetDeviceCount(&count) == cudaSuccess && count == 1 && four.w == 4 && size.z == 3);
    CHECK(cudaGetDeviceProperties(&properties, 0) == cudaSuccess && properties.warpSize == 32 &&
          properties.name[0]);
    CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0) == cudaSuccess &&
          value == properties.multiProcessorCount);
    CHECK(cudaMalloc((void **)&device, sizeof host) == cudaSuccess &&
          cudaStreamCreate(&stream) == cudaSuccess);
    CHECK(cudaMemcpyAsync(device, host, sizeof host, kind, stream) == cudaSuccess &&
          cudaEventCreate(&event) == cudaSuccess);
    CHECK(cudaEventRecord(event, stream) == cudaSuccess && cudaEventSynchronize(event) == cudaSuccess);
    CHECK(cudaMemcpy(back, device, sizeof back, cudaMemcpyDeviceToHost) == cudaSuccess && back[3] == 4);
    CHECK(cudaMemset(device, 0, 8) == cudaSuccess && cudaFree(device) == cudaSuccess);
    CHECK(cudaMemcpy(device, NULL, 8, cudaMemcpyHostToDevice) != cudaSuccess &&
          cudaGetLastError() != cudaSuccess);
    CHECK(strcmp(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue") == 0);
    cuDoubleComplex product = cuCmul(make_cuDoubleComplex(1, 2), make_cuDoubleComplex(3, -1));
    CHECK(cuCreal(product) == 5 && cuCimag(product) == 5 && cuCabsf(make_cuFloatComplex(3, 4)) == 5);
    CHECK(nvtxRangePushA("work") == 0 && nvtxRangePop() == 0 && cudaProfilerStart() == cudaSuccess);
}

static void check_driver(void) {
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction function;
    CUdeviceptr memory, step;
    size_t bytes = 0;
    unsigned values[32] = {0};
    const char *name = NULL;
    int major = 0;
    CHECK(cuInit(0) == CUDA_SUCCESS && cuDeviceGet(&device, 0) == CUDA_SUCCESS &&
          cuCtxCreate(&context, 0, device) == CUDA_SUCCESS);
    CHECK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device) ==
              CUDA_SUCCESS &&
          major >= 5);
    CHECK(cuModuleLoadData(&module, module_text) == CUDA_SUCCESS);
    CHECK(cuModuleGetFunction(&function, module, "raise") == CUDA_SUCCESS);
    CHECK(cuModuleGetFunction(&function, module, "fall") == CUDA_ERROR_NOT_FOUND);
    CHECK(cuModuleGetFunction(&function, module, "raise") == CUDA_SUCCESS);
    CHECK(cuModuleGetGlobal(&step, &bytes, module, "step") == CUDA_SUCCESS && bytes == 4);
    CHECK(cuMemAlloc(&memory, sizeof values) == CUDA_SUCCESS && cuMemsetD32(memory, 5, 32) == CUDA_SUCCESS);
    void *parameters[] = {&memory};
    CHECK(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, NULL, parameters, NULL) == CUDA_SUCCESS);
    CHECK(cuCtxSynchronize() == CUDA_SUCCESS && cuMemcpyDtoH(values, memory, sizeof values) == CUDA_SUCCESS);
    CHECK(values[0] == 8 && values[31] == 8 && cuMemFree(memory) == CUDA_SUCCESS);
    CHECK(cuGetErrorName(CUDA_ERROR_INVALID_VALUE, &name) == CUDA_SUCCESS &&
          strcmp(name, "CUDA_ERROR_INVALID_VALUE") == 0);
    CHECK(cuCtxDestroy(context) == CUDA_SUCCESS);
}

/* A graph by the types of the driver API; its handles are the runtime's, too. */
static void check_graphs(void) {
    CUgraph graph;
    CUgraphNode node;
    CUgraphExec exec;
    CUdeviceptr memory;
    unsigned back[4] = {0, 0, 0, 0};
    CHECK(cuMemAlloc(&memory, sizeof back) == CUDA_SUCCESS);
    CUDA_MEMSET_NODE_PARAMS fill = {memory, 0, 6, 4, 4, 1};
    CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .srcDevice = memory,
                          .dstMemoryType = CU_MEMORYTYPE_HOST,
                          .dstHost = back,
                          .WidthInBytes = sizeof back,
                          .Height = 1,
                          .Depth = 1};
    CHECK(cuGraphCreate(&graph, 0) == CUDA_SUCCESS);
    CHECK(cuGraphAddMemsetNode(&node, graph, NULL, 0, &fill, NULL) == CUDA_SUCCESS);
    CHECK(cuGraphAddMemcpyNode(&node, graph, &node, 1, &copy, NULL) == CUDA_SUCCESS);
    CHECK(cuGraphInstantiate(&exec, graph, NULL, NULL, 0) == CUDA_SUCCESS);
    CHECK(cuGraphLaunch(exec, 0) == CUDA_SUCCESS);
    CHECK(back[0] == 6 && back[3] == 6);
    CHECK(cudaGraphLaunch(exec, 0) == cudaSuccess);
}

int main(void) {
    check_runtime();
    check_driver();
    check_graphs();
    return finish("host");
}
