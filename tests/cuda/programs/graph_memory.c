/* graph_memory WHAT: one part of pools of memory and of the memory of graphs, checked as a program sees it. Says what is
 * wrong, exits with how much. */
#include "graph_checks.h"

static uint64_t pool_value(cudaMemPool_t pool, enum cudaMemPoolAttr which) {
    uint64_t value = 99;
    GOOD(cudaMemPoolGetAttribute(pool, which, &value));
    return value;
}

static uint64_t free_bytes(void) {
    size_t free_now = 0, total;
    GOOD(cudaMemGetInfo(&free_now, &total));
    return free_now;
}

static void pools(void) {
    cudaMemPool_t first, pool, now;
    cudaStream_t stream = new_stream(0);
    struct cudaMemPoolProps props = {.allocType = cudaMemAllocationTypePinned,
                                     .location = {cudaMemLocationTypeDevice, 0}};
    struct cudaMemAccessDesc access = {{cudaMemLocationTypeDevice, 0}, cudaMemAccessFlagsProtReadWrite};
    enum cudaMemAccessFlags flags;
    int *a, *b, is_supported = 0;
    uint64_t threshold = 1 << 20, zero = 0;
    GOOD(cudaDeviceGetAttribute(&is_supported, cudaDevAttrMemoryPoolsSupported, 0));
    EXPECT(is_supported, 1);
    GOOD(cudaDeviceGetDefaultMemPool(&first, 0));
    GOOD(cudaDeviceGetMemPool(&now, 0));
    EXPECT(now == first, 1);
    uint64_t before = free_bytes();
    GOOD(cudaMallocAsync((void **)&a, 4096, stream));
    EXPECT(pool_value(first, cudaMemPoolAttrUsedMemCurrent), 4096);
    EXPECT(pool_value(first, cudaMemPoolAttrReservedMemCurrent), before - free_bytes());
    GOOD(cudaMemPoolCreate(&pool, &props));
    GOOD(cudaMallocFromPoolAsync((void **)&b, 1024, pool, stream));
    EXPECT(pool_value(pool, cudaMemPoolAttrUsedMemCurrent), 1024);
    GOOD(cudaMemsetAsync(b, 3, 1024, stream));
    GOOD(cudaFreeAsync(b, stream));
    EXPECT(pool_value(pool, cudaMemPoolAttrUsedMemCurrent), 0);
    EXPECT(pool_value(pool, cudaMemPoolAttrUsedMemHigh), 1024);
    EXPECT(pool_value(pool, cudaMemPoolAttrReservedMemHigh), 1024);
    GOOD(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &zero));
    EXPECT(pool_value(pool, cudaMemPoolAttrUsedMemHigh), 0);
    EXPECT(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &threshold), cudaErrorInvalidValue);
    GOOD(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
    EXPECT(pool_value(pool, cudaMemPoolAttrReleaseThreshold), threshold);
    EXPECT(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &zero), cudaErrorInvalidValue);
    GOOD(cudaDeviceSetMemPool(0, pool));
    GOOD(cudaMallocAsync((void **)&b, 100, stream));
    EXPECT(pool_value(pool, cudaMemPoolAttrUsedMemCurrent), 100);
    GOOD(cudaMemPoolTrimTo(pool, 0));
    GOOD(cudaMemPoolSetAccess(pool, &access, 1));
    GOOD(cudaMemPoolGetAccess(&flags, pool, &access.location));
    EXPECT(flags, cudaMemAccessFlagsProtReadWrite);
    access.location.id = 1;
    EXPECT(cudaMemPoolSetAccess(pool, &access, 1), cudaErrorInvalidDevice);
    GOOD(cudaMemPoolDestroy(pool)); /* it ends with its last allocation, and is no pool from now on */
    EXPECT(cudaMallocFromPoolAsync((void **)&a, 64, pool, stream), cudaErrorInvalidValue);
    GOOD(cudaDeviceGetMemPool(&now, 0));
    EXPECT(now == first, 1);
    GOOD(cudaMemset(b, 0, 100));
    GOOD(cudaFree(b));
    GOOD(cudaFree(a));
    EXPECT(pool_value(first, cudaMemPoolAttrUsedMemCurrent), 0);
    EXPECT(free_bytes(), before);
    EXPECT(cudaMemPoolDestroy(first), cudaErrorInvalidValue);
    EXPECT(cudaDeviceGetMemPool(&now, 1), cudaErrorInvalidDevice);
    size_t most = 1000;
    memcpy(props.reserved, &most, sizeof most); /* maxSize, which is 0 before CUDA 12.2 */
    GOOD(cudaMemPoolCreate(&pool, &props));
    GOOD(cudaMallocFromPoolAsync((void **)&a, 600, pool, stream));
    EXPECT(cudaMallocFromPoolAsync((void **)&b, 401, pool, stream), cudaErrorMemoryAllocation);
    GOOD(cudaMallocFromPoolAsync((void **)&b, 400, pool, stream));
    GOOD(cudaFreeAsync(a, stream));
    GOOD(cudaFreeAsync(b, stream));
    GOOD(cudaMemPoolDestroy(pool));
    props.handleTypes = cudaMemHandleTypePosixFileDescriptor;
    EXPECT(cudaMemPoolCreate(&pool, &props), cudaErrorNotSupported);
    GOOD(cudaMallocAsync((void **)&a, 64, stream));
    GOOD(cudaDeviceReset());
    EXPECT(pool_value(first, cudaMemPoolAttrUsedMemCurrent), 0);
    cudaGetLastError();
}

static uint64_t graph_value(enum cudaGraphMemAttributeType which) {
    uint64_t value = 99;
    GOOD(cudaDeviceGetGraphMemAttribute(0, which, &value));
    return value;
}

/* What a graph allocates has its address from the start, and is used from launch to launch. */
static void graph_memory(void) {
    cudaStream_t stream = new_stream(0);
    cudaGraph_t graph, copy;
    cudaGraphExec_t exec;
    int *a, *kept, back[N];
    set_factor();
    uint64_t before = free_bytes(), zero = 0;
    GOOD(begin(stream));
    GOOD(cudaMallocAsync((void **)&a, N * 4, stream));
    EXPECT(a != 0, 1);
    GOOD(cudaMemsetAsync(a, 0, N * 4, stream));
    GOOD(scale_in(stream, a, N));
    GOOD(cudaMemcpyAsync(back, a, sizeof back, cudaMemcpyDeviceToHost, stream));
    GOOD(cudaFreeAsync(a, stream));
    GOOD(cudaStreamEndCapture(stream, &graph));
    EXPECT(graph_value(cudaGraphMemAttrUsedMemCurrent), 0);
    EXPECT(graph_value(cudaGraphMemAttrReservedMemCurrent), N * 4);
    EXPECT(cudaGraphClone(&copy, graph), cudaErrorNotSupported);
    cudaGraphNode_t node;
    GOOD(cudaGraphCreate(&copy, 0));
    EXPECT(cudaGraphAddChildGraphNode(&node, copy, 0, 0, graph), cudaErrorNotSupported);
    EXPECT(count_of(copy), 0);
    exec = instance_of(graph);
    for (int i = 0; i < 3; i++) {
        memset(back, 0, sizeof back);
        GOOD(cudaGraphLaunch(exec, stream));
        EXPECT(back[N - 1], BIAS);
    }
    EXPECT(graph_value(cudaGraphMemAttrUsedMemHigh), N * 4);
    GOOD(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &zero));
    EXPECT(graph_value(cudaGraphMemAttrUsedMemHigh), 0);
    GOOD(cudaGraphDestroy(graph));
    GOOD(cudaGraphExecDestroy(exec));
    EXPECT(free_bytes(), before);
    GOOD(begin(stream)); /* freed by the program */
    GOOD(cudaMallocAsync((void **)&kept, N * 4, stream));
    GOOD(cudaMemsetAsync(kept, 1, N * 4, stream));
    EXPECT(cudaFreeAsync(stream, stream), cudaErrorInvalidValue);
    GOOD(cudaStreamEndCapture(stream, &graph));
    exec = instance_of(graph);
    EXPECT(cudaFree(kept), cudaErrorInvalidValue); /* not before it is allocated */
    GOOD(cudaGraphLaunch(exec, stream));
    EXPECT(first_of(kept), 0x01010101);
    EXPECT(cudaGraphLaunch(exec, stream), cudaErrorInvalidValue); /* it is still there */
    GOOD(cudaFreeAsync(kept, stream));
    GOOD(cudaGraphLaunch(exec, stream));
    GOOD(cudaGraphExecDestroy(exec));
    GOOD(cudaGraphInstantiateWithFlags(&exec, graph, cudaGraphInstantiateFlagAutoFreeOnLaunch));
    GOOD(cudaGraphLaunch(exec, stream));
    GOOD(cudaGraphLaunch(exec, stream));
    GOOD(cudaGraphExecDestroy(exec));
    GOOD(cudaGraphDestroy(graph));
    EXPECT(first_of(kept), 0x01010101); /* it outlives the graph */
    GOOD(cudaFree(kept));
    EXPECT(free_bytes(), before);
    cudaGetLastError();
}

static void memory_nodes(void) {
    cudaGraph_t graph;
    cudaGraphNode_t alloc, fill, release, again;
    struct cudaMemAllocNodeParams params = {
        .poolProps = {.allocType = cudaMemAllocationTypePinned, .location = {cudaMemLocationTypeDevice, 0}},
        .bytesize = 4096};
    void *address = 0;
    GOOD(cudaGraphCreate(&graph, 0));
    GOOD(cudaGraphAddMemAllocNode(&alloc, graph, 0, 0, &params));
    struct cudaMemsetParams bytes = {
        .dst = params.dptr, .value = 1, .elementSize = 1, .width = 4096, .height = 1};
    GOOD(cudaGraphAddMemsetNode(&fill, graph, &alloc, 1, &bytes));
    GOOD(cudaGraphAddMemFreeNode(&release, graph, &fill, 1, params.dptr));
    EXPECT(cudaGraphAddMemFreeNode(&again, graph, &fill, 1, params.dptr), cudaErrorInvalidValue);
    GOOD(cudaGraphMemFreeNodeGetParams(release, &address));
    EXPECT(address == params.dptr && address != 0, 1);
    memset(&params, 0, sizeof params);
    GOOD(cudaGraphMemAllocNodeGetParams(alloc, &params));
    EXPECT(params.dptr == address && params.bytesize == 4096, 1);
    cudaGraphExec_t exec = instance_of(graph);
    GOOD(cudaGraphLaunch(exec, 0));
    GOOD(cudaGraphLaunch(exec, 0));
    EXPECT(cudaGraphDestroyNode(fill), cudaSuccess);
    EXPECT(cudaGraphDestroyNode(alloc), cudaErrorNotSupported);
    GOOD(cudaGraphExecDestroy(exec));
    exec = instance_of(graph);
    GOOD(cudaGraphLaunch(exec, 0));
    GOOD(cudaDeviceReset()); /* which takes its memory */
    EXPECT(graph_value(cudaGraphMemAttrReservedMemCurrent), 0);
    EXPECT(cudaGraphLaunch(exec, 0), cudaErrorInvalidValue);
    GOOD(cudaGraphExecDestroy(exec));
    GOOD(cudaGraphDestroy(graph));
    cudaGetLastError();
}

int main(int argc, char **argv) {
    static const Part parts[] = {
        {"pools", pools}, {"graph_memory", graph_memory}, {"memory_nodes", memory_nodes}, {0, 0}};
    return run_part(parts, argc > 1 ? argv[1] : "");
}
