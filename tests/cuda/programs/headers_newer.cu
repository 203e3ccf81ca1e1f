// What CUDA 12 and 13 added to the runtime API: libraries, handles of kernels, nodes of any kind, the driver's functions by
// name.
#include "checks.h"

#include <cuda.h>

#define GOOD(call) CHECK((call) == cudaSuccess)

__global__ void add(int *to, int value) {
    to[threadIdx.x] += value;
}

static const char text[] = R"(
.version 6.0
.target sm_35
.address_size 64
.visible .global .align 4 .u32 step = 3;
.visible .entry advance(.param .u64 to) {
    .reg .u32 %r<3>;
    .reg .u64 %d<3>;
    ld.param.u64 %d0, [to];
    mov.u32 %r0, %tid.x;
    mul.wide.u32 %d1, %r0, 4;
    add.u64 %d0, %d0, %d1;
    ld.global.u32 %r1, [%d0];
    ld.global.u32 %r2, [step];
    add.u32 %r1, %r1, %r2;
    st.global.u32 [%d0], %r1;
    ret;
}
)";

enum { COUNT = 64 };

static int value_of(const int *array, int index) {
    int value = -1;
    GOOD(cudaMemcpy(&value, array + index, sizeof value, cudaMemcpyDeviceToHost));
    return value;
}

static void kernels(int *array) {
    cudaLibrary_t library;
    cudaKernel_t advance, own;
    unsigned *step, five = 5;
    size_t bytes;
    const char *name = "";
    int value = 7;
    GOOD(cudaMemset(array, 0, COUNT * sizeof *array));
    GOOD(cudaLibraryLoadData(&library, text, nullptr, nullptr, 0, nullptr, nullptr, 0));
    GOOD(cudaLibraryGetKernel(&advance, library, "advance"));
    void *arguments[] = {&array, &value};
    GOOD(cudaLaunchKernel(advance, dim3(1), dim3(COUNT), arguments));
    CHECK(value_of(array, COUNT - 1) == 3);
    GOOD(cudaLibraryGetGlobal(&step, &bytes, library, "step"));
    CHECK(bytes == 4);
    GOOD(cudaMemcpy(step, &five, 4, cudaMemcpyHostToDevice));
    cudaLaunchConfig_t config = {dim3(1), dim3(COUNT), 0, 0, nullptr, 0};
    GOOD(cudaLaunchKernelExC(&config, (const void *)advance, arguments));
    CHECK(value_of(array, 0) == 8);
    GOOD(cudaGetKernel(&own, add));
    GOOD(cudaLaunchKernel(own, 1, COUNT, arguments));
    CHECK(value_of(array, 1) == 15);
    GOOD(cudaFuncGetName(&name, add));
    CHECK(!strcmp(name, "_Z3addPii"));
    GOOD(cudaLibraryUnload(library));
}

static int called;
static void count_call(void *) {
    called++;
}

static void nodes(int *array) {
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t fill, kernel, copy, host;
    int value = 4, back[COUNT];
    void *arguments[] = {&array, &value};
    GOOD(cudaGraphCreate(&graph, 0));
    cudaGraphNodeParams params = {cudaGraphNodeTypeMemset};
    params.memset.dst = array;
    params.memset.elementSize = 4;
    params.memset.value = 10;
    params.memset.width = COUNT;
    params.memset.height = 1;
    GOOD(cudaGraphAddNode(&fill, graph, nullptr, 0, &params));
    params = {cudaGraphNodeTypeKernel};
    params.kernel.func = (void *)add;
    params.kernel.gridDim = dim3(1);
    params.kernel.blockDim = dim3(COUNT);
    params.kernel.kernelParams = arguments;
    GOOD(cudaGraphAddNode(&kernel, graph, &fill, 1, &params));
    params = {cudaGraphNodeTypeMemcpy};
    params.memcpy.copyParams.srcPtr = make_cudaPitchedPtr(array, sizeof back, COUNT, 1);
    params.memcpy.copyParams.dstPtr = make_cudaPitchedPtr(back, sizeof back, COUNT, 1);
    params.memcpy.copyParams.extent = make_cudaExtent(sizeof back, 1, 1);
    params.memcpy.copyParams.kind = cudaMemcpyDeviceToHost;
    GOOD(cudaGraphAddNode(&copy, graph, &kernel, nullptr, 1, &params));
    params = {cudaGraphNodeTypeHost};
    params.host.fn = count_call;
    GOOD(cudaGraphAddNode(&host, graph, &copy, 1, &params));
    GOOD(cudaGraphInstantiate(&exec, graph, 0));
    GOOD(cudaGraphLaunch(exec, 0));
    GOOD(cudaDeviceSynchronize());
    CHECK(back[0] == 14 && back[COUNT - 1] == 14 && called == 1);
    value = 5;
    params = {cudaGraphNodeTypeKernel};
    params.kernel.func = (void *)add;
    params.kernel.gridDim = dim3(1);
    params.kernel.blockDim = dim3(COUNT);
    params.kernel.kernelParams = arguments;
    GOOD(cudaGraphExecNodeSetParams(exec, kernel, &params));
    GOOD(cudaGraphLaunch(exec, 0));
    GOOD(cudaDeviceSynchronize());
    CHECK(back[0] == 15 && called == 2);
    GOOD(cudaGraphExecDestroy(exec));
    GOOD(cudaGraphDestroy(graph));
}

static void captured(int *array) {
    cudaGraph_t graph, same;
    cudaGraphExec_t exec;
    cudaStream_t stream;
    int device = 7;
    GOOD(cudaMemset(array, 0, COUNT * sizeof *array));
    GOOD(cudaGraphCreate(&graph, 0));
    GOOD(cudaStreamCreate(&stream));
    GOOD(cudaStreamGetDevice(stream, &device));
    CHECK(device == 0);
    GOOD(cudaStreamBeginCaptureToGraph(stream, graph, nullptr, nullptr, 0, cudaStreamCaptureModeRelaxed));
    add<<<1, COUNT, 0, stream>>>(array, 6);
    GOOD(cudaStreamEndCapture(stream, &same));
    CHECK(same == graph);
    GOOD(cudaGraphInstantiate(&exec, graph, cudaGraphInstantiateFlagAutoFreeOnLaunch));
    GOOD(cudaGraphLaunch(exec, stream));
    GOOD(cudaStreamSynchronize(stream));
    CHECK(value_of(array, 2) == 6);
    GOOD(cudaStreamDestroy(stream));
}

static void entry_points() {
    typedef CUresult (*DriverVersion)(int *);
    void *function = nullptr;
    cudaDriverEntryPointQueryResult status = cudaDriverEntryPointSymbolNotFound;
    int version = 0;
    GOOD(cudaGetDriverEntryPoint("cuDriverGetVersion", &function, cudaEnableDefault, &status));
    CHECK(status == cudaDriverEntryPointSuccess && function);
    CHECK(((DriverVersion)function)(&version) == CUDA_SUCCESS && version > 11000);
    GOOD(cudaGetDriverEntryPointByVersion("cuMemAlloc", &function, 12000, cudaEnableDefault, &status));
    CHECK(status == cudaDriverEntryPointSuccess);
}

int main() {
    int *array;
    GOOD(cudaMalloc(&array, COUNT * sizeof *array));
    kernels(array);
    nodes(array);
    captured(array);
    entry_points();
    return finish("newer");
}
