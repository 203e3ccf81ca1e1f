/* Nodes of any kind by one struct, which has them all. Programs of CUDA 12.2 and later call these. */
#include "core/cuda/runtime/node_params.h"

/* What stands behind the parameters that both versions of a kind share is left aside. */
typedef struct {
    int type, reserved0[3];
    union {
        long long words[29];
        struct cudaKernelNodeParams kernel;
        struct {
            int flags, reserved;
            void *reserved_or_context;
            CopyParams params;
        } copy;
        struct cudaMemsetParams fill;
        struct cudaHostNodeParams host;
        cudaGraph_t graph;
        cudaEvent_t event;
        struct cudaMemAllocNodeParams alloc;
        void *address;
    };
    long long reserved2;
} AnyNodeParams;

_Static_assert(sizeof(AnyNodeParams) == 256, "as programs allocate it");

static int any_work(WarpWork *work, AnyNodeParams *params) {
    if (!params) return CUDA_INVALID_VALUE;
    *work = (WarpWork){.kind = (WorkKind)params->type};
    switch (params->type) {
    case WORK_KERNEL: return kernel_work(work, &params->kernel);
    case WORK_COPY: return copy_work(work, &params->copy.params);
    case WORK_FILL: return fill_work(work, &params->fill);
    case WORK_HOST: return host_work(work, &params->host);
    case WORK_GRAPH: return graph_work(work, params->graph);
    case WORK_EMPTY: return CUDA_OK;
    case WORK_WAIT:
    case WORK_RECORD: work->event = params->event; return CUDA_OK;
    case WORK_ALLOC: return alloc_work(work, &params->alloc, (uint64_t *)&params->alloc.dptr);
    case WORK_FREE: work->memory.address = (uint64_t)params->address; return CUDA_OK;
    default: return CUDA_NOT_SUPPORTED;
    }
}

static int add_any(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                   const EdgeData *edges, size_t count, AnyNodeParams *params) {
    WarpWork work;
    int problem = check_edges(edges, count);
    if (!problem) problem = any_work(&work, params);
    return problem ? problem : add_node(node, graph, dependencies, count, &work);
}

#if CUDA_MAJOR < 13
ApiResult add_any_plain(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                        size_t count, AnyNodeParams *params) NAMED("GraphAddNode");
ApiResult add_any_plain(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                        size_t count, AnyNodeParams *params) {
    ANSWER(add_any(node, graph, dependencies, NULL, count, params));
}
#endif
ApiResult API(GraphAddNode_v2)(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                               const EdgeData *edges, size_t count, AnyNodeParams *params) {
    ANSWER(add_any(node, graph, dependencies, edges, count, params));
}
#if CUDA_MAJOR >= 13
ALSO_NAMED(GraphAddNode, cudaGraphAddNode_v2, "GraphAddNode_v2")
#endif

ApiResult API(GraphNodeSetParams)(cudaGraphNode_t node, AnyNodeParams *params) {
    WarpWork work;
    ANSWER(any_work(&work, params) ?: change_node(node, &work));
}
ApiResult API(GraphExecNodeSetParams)(cudaGraphExec_t exec, cudaGraphNode_t node, AnyNodeParams *params) {
    WarpWork work;
    ANSWER(any_work(&work, params) ?: change_launched(exec, node, &work));
}
