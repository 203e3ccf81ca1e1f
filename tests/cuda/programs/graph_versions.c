/* graph_versions WHAT: graphs by the driver API or by other versions of the runtime, checked as a program sees it. Says
 * what is wrong, exits with how much. */
#include "graph_checks.h"

#include <dlfcn.h>
#include <stdbool.h>

typedef struct {
    struct cudaKernelNodeParams first;
    void *kernel, *context;
} DriverKernel;
typedef struct {
    size_t x, y, z, level;
    int type;
    void *host;
    uint64_t device;
    void *array, *reserved;
    size_t pitch, height;
} DriverEnd;
typedef struct {
    DriverEnd from, to;
    size_t width, height, depth;
} DriverCopy;

int cuModuleLoadData(void **, const void *), cuModuleGetFunction(void **, void *, const char *);
int cuModuleGetGlobal_v2(uint64_t *, size_t *, void *, const char *),
    cuMemcpyHtoD_v2(uint64_t, const void *, size_t);
int cuInit(unsigned), cuCtxCreate_v2(void **, unsigned, int);
int cuStreamCreate(void **, unsigned), cuMemAllocAsync(uint64_t *, size_t, void *);
int cuLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *,
                   void **, void **);
int cuStreamBeginCapture_v2(void *, int), cuStreamEndCapture(void *, void **), cuGraphLaunch(void *, void *);
int cuMemsetD32Async(uint64_t, unsigned, size_t, void *), cuMemFreeAsync(uint64_t, void *);
int cuMemcpyDtoHAsync_v2(void *, uint64_t, size_t, void *), cuStreamSynchronize(void *);
int cuGraphInstantiateWithFlags(void **, void *, unsigned long long), cuGraphCreate(void **, unsigned);
int cuGraphAddKernelNode_v2(void **, void *, const void *, size_t, const DriverKernel *);
int cuGraphKernelNodeGetParams_v2(void *, DriverKernel *);
int cuGraphExecKernelNodeSetParams_v2(void *, void *, const DriverKernel *);
int cuGraphAddMemcpyNode(void **, void *, const void *, size_t, const DriverCopy *, void *);
int cuGraphMemcpyNodeGetParams(void *, DriverCopy *), cuGraphExecDestroy(void *), cuGraphDestroy(void *);
int cuDeviceGetDefaultMemPool(void **, int), cuMemPoolGetAttribute(void *, int, void *);
int cuGetProcAddress(const char *, void **, int, uint64_t), cuGetErrorName(int, const char **);

static void driver(void) {
    void *context, *module, *function, *stream, *graph, *exec, *node, *copy_node, *pool, *found, *expected;
    uint64_t a, address, used = 0;
    size_t bytes;
    unsigned n = N;
    int back[N];
    const char *name;
    EXPECT(cuInit(0), 0);
    EXPECT(cuCtxCreate_v2(&context, 0, 0), 0);
    EXPECT(cuModuleLoadData(&module, ptx), 0);
    EXPECT(cuModuleGetFunction(&function, module, "scale"), 0);
    EXPECT(cuModuleGetGlobal_v2(&address, &bytes, module, "factors"), 0);
    EXPECT(cuMemcpyHtoD_v2(address, two, sizeof two), 0);
    EXPECT(cuStreamCreate(&stream, 0), 0);
    EXPECT(cuMemAllocAsync(&a, sizeof back, stream), 0);
    EXPECT(cuDeviceGetDefaultMemPool(&pool, 0), 0);
    EXPECT(cuMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used), 0);
    EXPECT(used, sizeof back);
    void *params[] = {&a, &n};
    EXPECT(cuStreamBeginCapture_v2(stream, 0), 0);
    EXPECT(cuMemsetD32Async(a, 4, N, stream), 0);
    struct {
        uint64_t a;
        unsigned n;
    } packed = {a, N};
    size_t packed_bytes = sizeof packed;
    void *extra[] = {(void *)1, &packed, (void *)2, &packed_bytes, 0};
    EXPECT(cuLaunchKernel(function, 1, 1, 1, N, 1, 1, 0, stream, 0, extra), 0);
    packed.n = 0; /* the node has its own */
    EXPECT(cuMemcpyDtoHAsync_v2(back, a, sizeof back, stream), 0);
    EXPECT(cuStreamEndCapture(stream, &graph), 0);
    EXPECT(cuGraphInstantiateWithFlags(&exec, graph, 0), 0);
    EXPECT(cuGraphLaunch(exec, stream), 0);
    EXPECT(back[N - 1], 2 * 4 + BIAS);
    EXPECT(cuGraphExecDestroy(exec), 0);
    EXPECT(cuGraphDestroy(graph), 0);
    DriverKernel kernel = {.first = kernel_params(params)}, got;
    kernel.first.func = function;
    DriverCopy up = {.from = {.type = 2, .device = a},
                     .to = {.type = 1, .host = back},
                     .width = 12,
                     .height = 1,
                     .depth = 1},
               asked;
    EXPECT(cuGraphCreate(&graph, 0), 0);
    EXPECT(cuGraphAddKernelNode_v2(&node, graph, 0, 0, &kernel), 0);
    EXPECT(cuGraphAddMemcpyNode(&copy_node, graph, &node, 1, &up, 0), 0);
    EXPECT(cuGraphKernelNodeGetParams_v2(node, &got), 0);
    EXPECT(got.first.func == function && *(unsigned *)got.first.kernelParams[1] == N, 1);
    EXPECT(cuGraphMemcpyNodeGetParams(copy_node, &asked), 0);
    EXPECT(asked.from.type == 2 && asked.from.device == a && asked.to.host == back && asked.width == 12, 1);
    EXPECT(cuGraphInstantiateWithFlags(&exec, graph, 0), 0);
    EXPECT(cuGraphLaunch(exec, stream), 0);
    EXPECT(back[2], 2 * (2 * 4 + BIAS) + BIAS);
    n = 0;
    EXPECT(cuGraphExecKernelNodeSetParams_v2(exec, node, &kernel), 0);
    EXPECT(cuGraphLaunch(exec, stream), 0);
    EXPECT(back[2], 2 * (2 * 4 + BIAS) + BIAS);
    kernel.first.blockDim.x = 4096;
    EXPECT(cuGraphExecKernelNodeSetParams_v2(exec, node, &kernel), cudaErrorInvalidValue);
    EXPECT(cuMemFreeAsync(a, stream), 0);
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    static const struct {
        const char *name, *symbol;
        int version, flags;
    } names[] = {{"cuGraphExecUpdate", "cuGraphExecUpdate", 11080, 0},
                 {"cuGraphExecUpdate", "cuGraphExecUpdate_v2", 12000, 0},
                 {"cuGraphInstantiate", "cuGraphInstantiate_v2", 11080, 0},
                 {"cuGraphInstantiate", "cuGraphInstantiateWithFlags", 13000, 0},
                 {"cuStreamGetCaptureInfo", "cuStreamGetCaptureInfo", 11000, 0},
                 {"cuStreamGetCaptureInfo", "cuStreamGetCaptureInfo_v2", 11030, 0},
                 {"cuStreamGetCaptureInfo", "cuStreamGetCaptureInfo_v3", 13000, 0},
                 {"cuGraphGetEdges", "cuGraphGetEdges", 12000, 0},
                 {"cuGraphGetEdges", "cuGraphGetEdges_v2", 13000, 0},
                 {"cuStreamBeginCapture", "cuStreamBeginCapture_v2", 12000, 0},
                 {"cuStreamBeginCapture", "cuStreamBeginCapture_v2_ptsz", 12000, 2},
                 {"cuGraphCreate", "cuGraphCreate", 12000, 2}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        expected = dlsym(library, names[i].symbol);
        EXPECT(cuGetProcAddress(names[i].name, &found, names[i].version, (uint64_t)names[i].flags), 0);
        EXPECT(expected && found == expected, 1);
        if (found != expected) printf("%s %d\n", names[i].name, names[i].version);
    }
    EXPECT(cuGetErrorName(906, &name), 0);
    EXPECT(strcmp(name, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT"), 0);
}

/* Of CUDA 12 and later. */
typedef struct {
    unsigned char from_port, to_port, type, reserved[5];
} EdgeData;
typedef struct {
    int type, reserved0[3];
    union {
        long long words[29];
        struct cudaKernelNodeParams kernel;
        struct cudaMemsetParams fill;
        struct cudaMemAllocNodeParams alloc;
    };
    long long reserved2;
} AnyNode;

#define LOAD(name, ...)                                                                                      \
    int (*name)(__VA_ARGS__) = (int (*)(__VA_ARGS__))dlsym(library, #name);                                  \
    EXPECT(name != 0, 1)

static void version(const char *path, bool with_edges) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    LOAD(cudaGraphInstantiate, cudaGraphExec_t *, cudaGraph_t, unsigned long long);
    LOAD(cudaGraphExecUpdate, cudaGraphExec_t, cudaGraph_t, cudaGraphExecUpdateResultInfo *);
    LOAD(cudaGraphInstantiateWithParams, cudaGraphExec_t *, cudaGraph_t, cudaGraphInstantiateParams *);
    LOAD(cudaGraphAddNode_v2, cudaGraphNode_t *, cudaGraph_t, const cudaGraphNode_t *, const EdgeData *,
         size_t, AnyNode *);
    LOAD(cudaGraphExecNodeSetParams, cudaGraphExec_t, cudaGraphNode_t, AnyNode *);
    LOAD(cudaGraphGetEdges, cudaGraph_t, cudaGraphNode_t *, cudaGraphNode_t *, void *, size_t *);
    LOAD(cudaStreamBeginCaptureToGraph, cudaStream_t, cudaGraph_t, const cudaGraphNode_t *, const EdgeData *,
         size_t, int);
    LOAD(cudaGetLastError, void);
    cudaGraphInstantiateParams how = {.flags = 0};
    cudaGraphExecUpdateResultInfo info = {.result = cudaGraphExecUpdateError};
    int *a = allocate();
    AnyNode fill = {.type = cudaGraphNodeTypeMemset,
                    .fill = {.dst = a, .value = 3, .elementSize = 4, .width = N, .height = 1}};
    cudaStream_t stream = new_stream(0);
    cudaGraph_t graph, same;
    cudaGraphNode_t node, from, to;
    cudaGraphExec_t exec;
    EdgeData edge = {1, 1, 1, {1}}, other = {.type = 1};
    size_t count = 1;
    set_factor();
    GOOD(cudaGraphCreate(&graph, 0));
    EXPECT(cudaGraphAddNode_v2(&node, graph, 0, 0, 0, &fill), 0);
    EXPECT(cudaStreamBeginCaptureToGraph(stream, graph, &node, &other, 1, 0), cudaErrorNotSupported);
    EXPECT(cudaStreamBeginCaptureToGraph(stream, graph, &node, 0, 1, 0), 0);
    GOOD(scale_in(stream, a, N));
    GOOD(cudaStreamEndCapture(stream, &same));
    EXPECT(same == graph, 1);
    if (with_edges)
        EXPECT(cudaGraphGetEdges(graph, &from, &to, &edge, &count), 0);
    else
        EXPECT(cudaGraphGetEdges(graph, &from, &to, &count, 0), 0);
    EXPECT(count, 1);
    EXPECT(from == node && edge.type == !with_edges, 1);
    EXPECT(cudaGraphInstantiate(&exec, graph, 0), 0);
    EXPECT(cudaGraphExecUpdate(exec, graph, &info), 0);
    EXPECT(info.result, cudaGraphExecUpdateSuccess);
    GOOD(cudaGraphLaunch(exec, 0));
    EXPECT(last_of(a), 2 * 3 + BIAS);
    fill.fill.value = 6;
    EXPECT(cudaGraphExecNodeSetParams(exec, node, &fill), 0);
    GOOD(cudaGraphLaunch(exec, 0));
    EXPECT(last_of(a), 2 * 6 + BIAS);
    AnyNode room = {.type = cudaGraphNodeTypeMemAlloc,
                    .alloc = {.poolProps = {.allocType = cudaMemAllocationTypePinned,
                                            .location = {cudaMemLocationTypeDevice, 0}},
                              .bytesize = 64}};
    GOOD(cudaGraphCreate(&same, 0));
    EXPECT(cudaGraphAddNode_v2(&node, same, 0, 0, 0, &room), 0);
    EXPECT(cudaGraphInstantiate(&exec, same, 0), 0);
    EXPECT(cudaGraphExecNodeSetParams(exec, node, &room), cudaErrorNotSupported);
    GOOD(cudaGraphAddDependencies(graph, &to, &from, 1));
    EXPECT(cudaGraphInstantiateWithParams(&exec, graph, &how), cudaErrorInvalidValue);
    EXPECT(how.result_out, cudaGraphInstantiateInvalidStructure);
    EXPECT(how.errNode_out != 0, 1);
    EXPECT(cudaGetLastError(), cudaErrorInvalidValue);
}

static void versions(void) {
    version("libcudart.so.12", false);
    version("libcudart.so.13", true);
}

int main(int argc, char **argv) {
    static const Part parts[] = {{"driver", driver}, {"versions", versions}, {0, 0}};
    return run_part(parts, argc > 1 ? argv[1] : "");
}
