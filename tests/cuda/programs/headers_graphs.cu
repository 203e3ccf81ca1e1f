// Graphs as programs in CUDA C++ use them: capture around <<<>>>, instances by the parameters of CUDA 11 and of 12,
// symbols, pools.
#include "checks.h"

#include <vector>

struct Weights {
    double factor;
    char pad[3];
    float offset;
};

__constant__ float scale;
__device__ float shift;

__global__ void axpy(const float *x, float *y, Weights w, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = (float)w.factor * x[i] + y[i] + w.offset;
}

template <class T> __global__ void apply(T *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = x[i] * scale + shift;
}

__global__ void sum(const float *x, float *out, int n) {
    extern __shared__ float parts[];
    float total = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        total += x[i];
    parts[threadIdx.x] = total;
    for (int step = blockDim.x / 2; step > 0; step /= 2) {
        __syncthreads();
        if (threadIdx.x < step) parts[threadIdx.x] += parts[threadIdx.x + step];
    }
    if (threadIdx.x == 0) *out = parts[0];
}

static const int N = 1000, THREADS = 128, CTAS = (N + THREADS - 1) / THREADS;

static float expected_sum(const std::vector<float> &x, const std::vector<float> &y, Weights w) {
    float total = 0; // of small integers: exact in any order
    for (int i = 0; i < N; i++)
        total += ((float)w.factor * x[i] + y[i] + w.offset) + 2 * x[i];
    return total;
}

// Two branches, joined by a sum: y = w x + y, and x = 2 x.
static void branches() {
    std::vector<float> x(N), y(N);
    for (int i = 0; i < N; i++) {
        x[i] = (float)(i % 7);
        y[i] = (float)(i % 5);
    }
    float *dx, *dy, *dt, *result, total = 0, two = 2, zero = 0;
    CHECK(cudaMalloc(&dx, N * sizeof(float)) == cudaSuccess);
    CHECK(cudaMalloc(&dy, N * sizeof(float)) == cudaSuccess);
    CHECK(cudaMalloc(&dt, N * sizeof(float)) == cudaSuccess);
    CHECK(cudaMalloc(&result, 2 * sizeof(float)) == cudaSuccess);
    CHECK(cudaMemcpyToSymbol(scale, &two, sizeof two) == cudaSuccess);
    CHECK(cudaMemcpyToSymbol(shift, &zero, sizeof zero) == cudaSuccess);
    cudaStream_t main_stream, side;
    cudaEvent_t fork, join;
    cudaStreamCreate(&main_stream);
    cudaStreamCreate(&side);
    cudaEventCreate(&fork);
    cudaEventCreate(&join);
    Weights w = {3, {0, 0, 0}, 1};
    cudaGraph_t graph;
    CHECK(cudaStreamBeginCapture(main_stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
    cudaMemcpyAsync(dx, x.data(), N * sizeof(float), cudaMemcpyHostToDevice, main_stream);
    cudaMemcpyAsync(dy, y.data(), N * sizeof(float), cudaMemcpyHostToDevice, main_stream);
    cudaMemcpyAsync(dt, dx, N * sizeof(float), cudaMemcpyDeviceToDevice, main_stream);
    cudaEventRecord(fork, main_stream);
    cudaStreamWaitEvent(side, fork);
    axpy<<<CTAS, THREADS, 0, main_stream>>>(dx, dy, w, N);
    apply<float><<<CTAS, THREADS, 0, side>>>(dt, N);
    sum<<<1, THREADS, THREADS * sizeof(float), side>>>(dt, result + 1, N);
    sum<<<1, THREADS, THREADS * sizeof(float), main_stream>>>(dy, result, N);
    cudaEventRecord(join, side);
    cudaStreamWaitEvent(main_stream, join);
    axpy<<<1, 1, 0, main_stream>>>(result + 1, result, Weights{1, {0, 0, 0}, 0}, 1);
    cudaMemcpyAsync(&total, result, sizeof total, cudaMemcpyDeviceToHost, main_stream);
    CHECK(cudaGetLastError() == cudaSuccess);
    CHECK(cudaStreamEndCapture(main_stream, &graph) == cudaSuccess);
    CHECK(total == 0);
    size_t count = 0;
    CHECK(cudaGraphGetNodes(graph, nullptr, &count) == cudaSuccess);
    CHECK(count == 9);
    cudaGraphExec_t exec, again;
    CHECK(cudaGraphInstantiate(&exec, graph, nullptr, nullptr, 0) == cudaSuccess);
    CHECK(cudaGraphInstantiate(&again, graph, 0) == cudaSuccess);
    CHECK(cudaGraphLaunch(exec, main_stream) == cudaSuccess);
    CHECK(cudaStreamSynchronize(main_stream) == cudaSuccess);
    CHECK(total == expected_sum(x, y, w));

    // the weights are an argument of the first kernel
    std::vector<cudaGraphNode_t> nodes(count);
    CHECK(cudaGraphGetNodes(graph, nodes.data(), &count) == cudaSuccess);
    for (int turn = 0; turn < 3; turn++) {
        w.factor = turn + 5;
        w.offset = (float)-turn;
        x[turn] += 10;
        for (cudaGraphNode_t node : nodes) {
            cudaGraphNodeType type;
            cudaKernelNodeParams params;
            CHECK(cudaGraphNodeGetType(node, &type) == cudaSuccess);
            if (type != cudaGraphNodeTypeKernel) continue;
            CHECK(cudaGraphKernelNodeGetParams(node, &params) == cudaSuccess);
            if (params.func != (void *)axpy || params.gridDim.x != (unsigned)CTAS) continue;
            int n = N;
            void *args[] = {&dx, &dy, &w, &n};
            params.kernelParams = args;
            CHECK(cudaGraphExecKernelNodeSetParams(exec, node, &params) == cudaSuccess);
        }
        CHECK(cudaGraphLaunch(exec, side) == cudaSuccess);
        CHECK(cudaDeviceSynchronize() == cudaSuccess);
        CHECK(total == expected_sum(x, y, w));
    }
    CHECK(cudaGraphLaunch(again, 0) == cudaSuccess);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(total == expected_sum(x, y, Weights{3, {0, 0, 0}, 1}));
    cudaGraphExecUpdateResultInfo info;
    CHECK(cudaGraphExecUpdate(exec, graph, &info) == cudaSuccess);
    CHECK(info.result == cudaGraphExecUpdateSuccess);
    CHECK(cudaGraphLaunch(exec, 0) == cudaSuccess);
    CHECK(total == expected_sum(x, y, Weights{3, {0, 0, 0}, 1}));
    CHECK(cudaGraphExecDestroy(exec) == cudaSuccess);
    CHECK(cudaGraphExecDestroy(again) == cudaSuccess);
    CHECK(cudaGraphDestroy(graph) == cudaSuccess);
}

static void symbols_and_pools() {
    cudaGraph_t graph;
    cudaGraphNode_t up, down;
    cudaGraphExec_t exec;
    float value = 7, back = 0;
    CHECK(cudaGraphCreate(&graph, 0) == cudaSuccess);
    CHECK(cudaGraphAddMemcpyNodeToSymbol(&up, graph, nullptr, 0, shift, &value, sizeof value, 0,
                                         cudaMemcpyHostToDevice) == cudaSuccess);
    CHECK(cudaGraphAddMemcpyNodeFromSymbol(&down, graph, &up, 1, &back, shift, sizeof back, 0,
                                           cudaMemcpyDeviceToHost) == cudaSuccess);
    CHECK(cudaGraphInstantiate(&exec, graph) == cudaSuccess);
    CHECK(cudaGraphLaunch(exec, 0) == cudaSuccess);
    CHECK(back == 7);
    float other = 9;
    CHECK(cudaGraphExecMemcpyNodeSetParamsToSymbol(exec, up, shift, &other, sizeof other, 0,
                                                   cudaMemcpyHostToDevice) == cudaSuccess);
    CHECK(cudaGraphLaunch(exec, 0) == cudaSuccess);
    CHECK(back == 9);
    cudaMemPool_t pool;
    cudaMemPoolProps props = {};
    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    CHECK(cudaMemPoolCreate(&pool, &props) == cudaSuccess);
    float *a, *b;
    CHECK(cudaMallocAsync(&a, 64, pool, 0) == cudaSuccess);
    CHECK(cudaMallocFromPoolAsync(&b, 64, pool, 0) == cudaSuccess);
    unsigned long long used = 0;
    CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used) == cudaSuccess);
    CHECK(used == 128);
    CHECK(cudaFreeAsync(a, 0) == cudaSuccess && cudaFreeAsync(b, 0) == cudaSuccess);
    CHECK(cudaMemPoolDestroy(pool) == cudaSuccess);
}

int main() {
    branches();
    symbols_and_pools();
    return finish("graphs");
}
