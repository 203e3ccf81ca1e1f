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

/* What the driver says of devices, contexts and streams; a library of CUDA 12. */
static void check_driver_questions(CUdevice device) {
    CUcontext context, of_stream;
    CUstream stream, other;
    CUlibrary library, of_kernel;
    CUkernel kernel;
    CUfunction function;
    CUmodule module;
    CUdevice same = -1;
    CUdeviceptr step;
    size_t limit = 0, bytes = 0;
    unsigned flags = 0;
    unsigned long long id = 0;
    int value = -1, least = -1, greatest = 1;
    char bus[32];
    const char *name = NULL;
    void *entry = NULL;
    CHECK(cuDeviceGetPCIBusId(bus, sizeof bus, device) == CUDA_SUCCESS &&
          cuDeviceGetByPCIBusId(&same, bus) == CUDA_SUCCESS && same == device);
    CHECK(cuDeviceCanAccessPeer(&value, device, device) == CUDA_SUCCESS && value == 0);
    CHECK(cuDevicePrimaryCtxGetState(device, &flags, &value) == CUDA_SUCCESS);
    CHECK(cuCtxGetLimit(&limit, CU_LIMIT_STACK_SIZE) == CUDA_SUCCESS && limit >= 1024);
    CHECK(cuCtxGetStreamPriorityRange(&least, &greatest) == CUDA_SUCCESS && greatest <= least);
    CHECK(cuCtxGetCurrent(&context) == CUDA_SUCCESS &&
          cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, greatest) == CUDA_SUCCESS &&
          cuStreamCreate(&other, CU_STREAM_DEFAULT) == CUDA_SUCCESS);
    CHECK(cuStreamGetPriority(stream, &value) == CUDA_SUCCESS && value == greatest);
    CHECK(cuStreamGetFlags(stream, &flags) == CUDA_SUCCESS && flags == CU_STREAM_NON_BLOCKING);
    CHECK(cuStreamGetCtx(stream, &of_stream) == CUDA_SUCCESS && of_stream == context);
    CHECK(cuStreamGetId(stream, &id) == CUDA_SUCCESS &&
          cuStreamCopyAttributes(other, stream) == CUDA_SUCCESS);
    CHECK(cuLibraryLoadData(&library, module_text, NULL, NULL, 0, NULL, NULL, 0) == CUDA_SUCCESS &&
          cuLibraryGetKernel(&kernel, library, "raise") == CUDA_SUCCESS &&
          cuKernelGetFunction(&function, kernel) == CUDA_SUCCESS &&
          cuKernelGetLibrary(&of_kernel, kernel) == CUDA_SUCCESS && of_kernel == library);
    CHECK(cuKernelGetName(&name, kernel) == CUDA_SUCCESS && strcmp(name, "raise") == 0);
    CHECK(cuFuncGetName(&name, function) == CUDA_SUCCESS && strcmp(name, "raise") == 0 &&
          cuFuncGetModule(&module, function) == CUDA_SUCCESS);
    CHECK(cuLibraryGetGlobal(&step, &bytes, library, "step") == CUDA_SUCCESS && bytes == 4 &&
          cuMemsetD16Async(step, 7, 2, stream) == CUDA_SUCCESS &&
          cuStreamSynchronize(stream) == CUDA_SUCCESS);
    CHECK(cudaGetDriverEntryPoint("cuMemAlloc", &entry, cudaEnableDefault) == cudaSuccess && entry);
    CHECK(cuLibraryUnload(library) == CUDA_SUCCESS && cuStreamDestroy(stream) == CUDA_SUCCESS &&
          cuStreamDestroy(other) == CUDA_SUCCESS);
}

static void check_driver(void) {
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction function;
    CUdeviceptr memory, step;
    size_t bytes = 0;
    unsigned values[32] = {0};
    int grid = 0, block = 0;
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
    CHECK(cuOccupancyMaxPotentialBlockSize(&grid, &block, function, NULL, 0, 256) == CUDA_SUCCESS &&
          block == 256 && grid >= 15);
    CHECK(cuModuleGetGlobal(&step, &bytes, module, "step") == CUDA_SUCCESS && bytes == 4);
    CHECK(cuMemAlloc(&memory, sizeof values) == CUDA_SUCCESS && cuMemsetD32(memory, 5, 32) == CUDA_SUCCESS);
    void *parameters[] = {&memory};
    CHECK(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, NULL, parameters, NULL) == CUDA_SUCCESS);
    CHECK(cuCtxSynchronize() == CUDA_SUCCESS && cuMemcpyDtoH(values, memory, sizeof values) == CUDA_SUCCESS);
    CHECK(values[0] == 8 && values[31] == 8 && cuMemFree(memory) == CUDA_SUCCESS);
    CHECK(cuGetErrorName(CUDA_ERROR_INVALID_VALUE, &name) == CUDA_SUCCESS &&
          strcmp(name, "CUDA_ERROR_INVALID_VALUE") == 0);
    check_driver_questions(device);
    CHECK(cuCtxDestroy(context) == CUDA_SUCCESS);
}

static const char caller_text[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
                                  ".extern .func (.param .u32 r) raised(.param .u32 x);\n"
                                  ".visible .entry raise(.param .u64 to) {\n"
                                  ".reg .u64 %rd1; .reg .u32 %r1; ld.param.u64 %rd1, [to];\n"
                                  "ld.global.u32 %r1, [%rd1];\n"
                                  "{ .param .u32 x; .param .u32 r; st.param.u32 [x], %r1;\n"
                                  "call (r), raised, (x); ld.param.u32 %r1, [r]; }\n"
                                  "st.global.u32 [%rd1], %r1; ret; }\n";
static const char callee_text[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
                                  ".visible .func (.param .u32 r) raised(.param .u32 x) {\n"
                                  ".reg .u32 %r1; ld.param.u32 %r1, [x]; add.u32 %r1, %r1, 4;\n"
                                  "st.param.u32 [r], %r1; ret; }\n";

/* Two texts of which one calls the other, launched by a structure. */
static void check_linking(void) {
    char information[8] = "old", problems[200] = "old";
    CUjit_option options[] = {CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
                              CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {information, (void *)sizeof information, problems, (void *)sizeof problems}, *image;
    CUlinkState state;
    CUmodule module;
    CUfunction function;
    CUdeviceptr memory;
    size_t bytes;
    unsigned value = 5;
    CHECK(cuLinkCreate(4, options, values, &state) == CUDA_SUCCESS && !*information && !*problems);
    CHECK(cuLinkComplete(state, &image, &bytes) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuLinkAddFile(state, CU_JIT_INPUT_PTX, "no such file", 0, NULL, NULL) == CUDA_ERROR_FILE_NOT_FOUND);
    CHECK(cuLinkAddData(state, CU_JIT_INPUT_LIBRARY, (void *)caller_text, 4, "", 0, NULL, NULL) ==
          CUDA_ERROR_NOT_SUPPORTED);
    CHECK(cuLinkAddData(state, CU_JIT_INPUT_PTX, (void *)caller_text, sizeof caller_text, "", 0, NULL,
                        NULL) == CUDA_SUCCESS);
    CHECK(cuLinkAddData(state, CU_JIT_INPUT_PTX, (void *)callee_text, sizeof callee_text - 1, NULL, 0, NULL,
                        NULL) == CUDA_SUCCESS);
    CHECK(cuLinkComplete(state, &image, &bytes) == CUDA_SUCCESS && bytes > sizeof caller_text);
    CHECK(cuLinkAddData(state, CU_JIT_INPUT_PTX, (void *)caller_text, 4, "", 0, NULL, NULL) ==
          CUDA_ERROR_INVALID_VALUE);
    CHECK(cuModuleLoadData(&module, image) == CUDA_SUCCESS && cuLinkDestroy(state) == CUDA_SUCCESS);
    CHECK(cuModuleGetFunction(&function, module, "raise") == CUDA_SUCCESS);
    CHECK(cuMemAlloc(&memory, 4) == CUDA_SUCCESS && cuMemcpyHtoD(memory, &value, 4) == CUDA_SUCCESS);
    void *parameters[] = {&memory};
    CUlaunchAttribute attributes[] = {
        {.id = CU_LAUNCH_ATTRIBUTE_PRIORITY, .value.priority = 1},
        {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, .value.clusterDim = {1, 1, 1}},
        {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1}};
    CUlaunchConfig config = {1, 1, 1, 1, 1, 1, 0, NULL, attributes, 3};
    CHECK(cuLaunchKernelEx(&config, function, parameters, NULL) == CUDA_SUCCESS);
    CHECK(cuMemcpyDtoH(&value, memory, 4) == CUDA_SUCCESS && value == 9);
    config.gridDimX = 1 << 20;
    CHECK(cuLaunchKernelEx(&config, function, parameters, NULL) == CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
    attributes[1].value.clusterDim.y = 2;
    CHECK(cuLaunchKernelEx(&config, function, parameters, NULL) == CUDA_ERROR_INVALID_CLUSTER_SIZE);
    config.attrs = NULL;
    CHECK(cuLaunchKernelEx(&config, function, parameters, NULL) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuMemFree(memory) == CUDA_SUCCESS);
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
    check_linking();
    check_graphs();
    return finish("host");
}
