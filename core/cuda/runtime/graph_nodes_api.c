/* Nodes of graphs, one kind after the other. */
#include "core/cuda/runtime/graph_exec.h"
#include "core/cuda/runtime/node_params.h"

#include <string.h>

/* The parameters of functions that add a node. */
#define NEW_NODE cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies, size_t count

/* The node behind a handle, if it is of this kind. */
static const WarpNode *of_kind(cudaGraphNode_t handle, WorkKind kind) {
    const WarpNode *node = warp_node(handle);
    return node && node->work.kind == kind ? node : NULL;
}

/* Answers the parameters of a node of this kind. */
#define GET(node, kind, params, fill)                                                                        \
    int answer = warp_enter();                                                                               \
    if (!answer && (!of_kind(node, kind) || !(params))) answer = CUDA_INVALID_VALUE;                         \
    if (!answer) fill(&warp_node(node)->work, params);                                                       \
    return LEAVE(answer)

/* --- Kernels ------------------------------------------------------------------------------------ */

#if CUDA_MAJOR

ApiResult API(GraphAddKernelNode)(NEW_NODE, const struct cudaKernelNodeParams *params) {
    WarpWork work;
    ANSWER(kernel_work(&work, params) ?: add_node(node, graph, dependencies, count, &work));
}
ApiResult API(GraphKernelNodeGetParams)(cudaGraphNode_t node, struct cudaKernelNodeParams *params) {
    GET(node, WORK_KERNEL, params, kernel_params);
}
ApiResult API(GraphKernelNodeSetParams)(cudaGraphNode_t node, const struct cudaKernelNodeParams *params) {
    WarpWork work;
    ANSWER(kernel_work(&work, params) ?: change_node(node, &work));
}
ApiResult API(GraphExecKernelNodeSetParams)(cudaGraphExec_t exec, cudaGraphNode_t node,
                                            const struct cudaKernelNodeParams *params) {
    WarpWork work;
    ANSWER(kernel_work(&work, params) ?: change_launched(exec, node, &work));
}

#else

/* CUDA_KERNEL_NODE_PARAMS of version 2; those of version 1 are the runtime's. */
typedef struct {
    struct cudaKernelNodeParams first;
    void *kernel, *context;
} KernelParams2;

static int kernel_work2(WarpWork *work, const KernelParams2 *params) {
    if (!params) return CUDA_INVALID_VALUE;
    struct cudaKernelNodeParams first = params->first;
    if (!first.func) first.func = params->kernel;
    return kernel_work(work, &first);
}

static void kernel_params2(const WarpWork *work, KernelParams2 *params) {
    kernel_params(work, &params->first);
    params->kernel = params->context = NULL;
}

/* The driver names an invalid configuration otherwise. */
static int driver_code(int problem) {
    return problem == CUDA_INVALID_CONFIGURATION || problem == CUDA_INVALID_DEVICE_FUNCTION
               ? CUDA_INVALID_VALUE
               : problem;
}

CUresult cuGraphAddKernelNode(NEW_NODE, const struct cudaKernelNodeParams *params) {
    WarpWork work;
    ANSWER(kernel_work(&work, params) ?: driver_code(add_node(node, graph, dependencies, count, &work)));
}
CUresult cuGraphAddKernelNode_v2(NEW_NODE, const KernelParams2 *params) {
    WarpWork work;
    ANSWER(kernel_work2(&work, params) ?: driver_code(add_node(node, graph, dependencies, count, &work)));
}
CUresult cuGraphKernelNodeGetParams(cudaGraphNode_t node, struct cudaKernelNodeParams *params) {
    GET(node, WORK_KERNEL, params, kernel_params);
}
CUresult cuGraphKernelNodeGetParams_v2(cudaGraphNode_t node, KernelParams2 *params) {
    GET(node, WORK_KERNEL, params, kernel_params2);
}
CUresult cuGraphKernelNodeSetParams(cudaGraphNode_t node, const struct cudaKernelNodeParams *params) {
    WarpWork work;
    ANSWER(kernel_work(&work, params) ?: driver_code(change_node(node, &work)));
}
CUresult cuGraphKernelNodeSetParams_v2(cudaGraphNode_t node, const KernelParams2 *params) {
    WarpWork work;
    ANSWER(kernel_work2(&work, params) ?: driver_code(change_node(node, &work)));
}
CUresult cuGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                        const struct cudaKernelNodeParams *params) {
    WarpWork work;
    ANSWER(kernel_work(&work, params) ?: driver_code(change_launched(exec, node, &work)));
}
CUresult cuGraphExecKernelNodeSetParams_v2(cudaGraphExec_t exec, cudaGraphNode_t node,
                                           const KernelParams2 *params) {
    WarpWork work;
    ANSWER(kernel_work2(&work, params) ?: driver_code(change_launched(exec, node, &work)));
}

#endif

/* --- Copies and fills --------------------------------------------------------------------------- */

/* The driver's functions have a context behind the parameters. */
#if CUDA_MAJOR
#define CONTEXT
#else
#define CONTEXT , __attribute__((unused)) CUcontext context
#endif

ApiResult API(GraphAddMemcpyNode)(NEW_NODE, const CopyParams *params CONTEXT) {
    WarpWork work;
    ANSWER(copy_work(&work, params) ?: add_node(node, graph, dependencies, count, &work));
}
ApiResult API(GraphMemcpyNodeGetParams)(cudaGraphNode_t node, CopyParams *params) {
    GET(node, WORK_COPY, params, copy_params);
}
ApiResult API(GraphMemcpyNodeSetParams)(cudaGraphNode_t node, const CopyParams *params) {
    WarpWork work;
    ANSWER(copy_work(&work, params) ?: change_node(node, &work));
}
ApiResult API(GraphExecMemcpyNodeSetParams)(cudaGraphExec_t exec, cudaGraphNode_t node,
                                            const CopyParams *params CONTEXT) {
    WarpWork work;
    ANSWER(copy_work(&work, params) ?: change_launched(exec, node, &work));
}

ApiResult API(GraphAddMemsetNode)(NEW_NODE, const struct cudaMemsetParams *params CONTEXT) {
    WarpWork work;
    ANSWER(fill_work(&work, params) ?: add_node(node, graph, dependencies, count, &work));
}
ApiResult API(GraphMemsetNodeGetParams)(cudaGraphNode_t node, struct cudaMemsetParams *params) {
    GET(node, WORK_FILL, params, fill_params);
}
ApiResult API(GraphMemsetNodeSetParams)(cudaGraphNode_t node, const struct cudaMemsetParams *params) {
    WarpWork work;
    ANSWER(fill_work(&work, params) ?: change_node(node, &work));
}
ApiResult API(GraphExecMemsetNodeSetParams)(cudaGraphExec_t exec, cudaGraphNode_t node,
                                            const struct cudaMemsetParams *params CONTEXT) {
    WarpWork work;
    ANSWER(fill_work(&work, params) ?: change_launched(exec, node, &work));
}

/* --- The runtime's copies of one line -------------------------------------------------------------- */

#if CUDA_MAJOR

#define LINE        void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind
#define TO_SYMBOL   const void *symbol, const void *from, size_t bytes, size_t offset, enum cudaMemcpyKind kind
#define FROM_SYMBOL void *to, const void *symbol, size_t bytes, size_t offset, enum cudaMemcpyKind kind

static int line_work(WarpWork *work, LINE) {
    *work = (WarpWork){
        .kind = WORK_COPY,
        .copy = {{(uint64_t)to, 0, 0}, {(uint64_t)from, 0, 0}, bytes, 1, 1, .direction = (int)kind}};
    return runtime_check_copy(&work->copy);
}

static int symbol_work(WarpWork *work, const void *symbol, const void *other, size_t bytes, size_t offset,
                       enum cudaMemcpyKind kind, bool to_symbol) {
    *work = (WarpWork){.kind = WORK_COPY};
    return runtime_symbol_copy(&work->copy, symbol, other, bytes, offset, kind, to_symbol);
}

cudaError_t cudaGraphAddMemcpyNode1D(NEW_NODE, LINE) {
    WarpWork work;
    ANSWER(line_work(&work, to, from, bytes, kind) ?: add_node(node, graph, dependencies, count, &work));
}
cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, LINE) {
    WarpWork work;
    ANSWER(line_work(&work, to, from, bytes, kind) ?: change_node(node, &work));
}
cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node, LINE) {
    WarpWork work;
    ANSWER(line_work(&work, to, from, bytes, kind) ?: change_launched(exec, node, &work));
}

cudaError_t cudaGraphAddMemcpyNodeToSymbol(NEW_NODE, TO_SYMBOL) {
    WarpWork work;
    ANSWER(symbol_work(&work, symbol, from, bytes, offset, kind, true)
               ?: add_node(node, graph, dependencies, count, &work));
}
cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, TO_SYMBOL) {
    WarpWork work;
    ANSWER(symbol_work(&work, symbol, from, bytes, offset, kind, true) ?: change_node(node, &work));
}
cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t exec, cudaGraphNode_t node, TO_SYMBOL) {
    WarpWork work;
    ANSWER(symbol_work(&work, symbol, from, bytes, offset, kind, true) ?: change_launched(exec, node, &work));
}

cudaError_t cudaGraphAddMemcpyNodeFromSymbol(NEW_NODE, FROM_SYMBOL) {
    WarpWork work;
    ANSWER(symbol_work(&work, symbol, to, bytes, offset, kind, false)
               ?: add_node(node, graph, dependencies, count, &work));
}
cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, FROM_SYMBOL) {
    WarpWork work;
    ANSWER(symbol_work(&work, symbol, to, bytes, offset, kind, false) ?: change_node(node, &work));
}
cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                       FROM_SYMBOL) {
    WarpWork work;
    ANSWER(symbol_work(&work, symbol, to, bytes, offset, kind, false) ?: change_launched(exec, node, &work));
}

#endif

/* --- Host functions, empty nodes, events ----------------------------------------------------------- */

ApiResult API(GraphAddHostNode)(NEW_NODE, const struct cudaHostNodeParams *params) {
    WarpWork work;
    ANSWER(host_work(&work, params) ?: add_node(node, graph, dependencies, count, &work));
}
ApiResult API(GraphHostNodeGetParams)(cudaGraphNode_t node, struct cudaHostNodeParams *params) {
    GET(node, WORK_HOST, params, host_params);
}
ApiResult API(GraphHostNodeSetParams)(cudaGraphNode_t node, const struct cudaHostNodeParams *params) {
    WarpWork work;
    ANSWER(host_work(&work, params) ?: change_node(node, &work));
}
ApiResult API(GraphExecHostNodeSetParams)(cudaGraphExec_t exec, cudaGraphNode_t node,
                                          const struct cudaHostNodeParams *params) {
    WarpWork work;
    ANSWER(host_work(&work, params) ?: change_launched(exec, node, &work));
}

ApiResult API(GraphAddEmptyNode)(NEW_NODE) {
    const WarpWork work = {.kind = WORK_EMPTY};
    ANSWER(add_node(node, graph, dependencies, count, &work));
}

static void event_of(const WarpWork *work, cudaEvent_t *event) {
    *event = work->event;
}

ApiResult API(GraphAddEventRecordNode)(NEW_NODE, cudaEvent_t event) {
    const WarpWork work = {.kind = WORK_RECORD, .event = event};
    ANSWER(add_node(node, graph, dependencies, count, &work));
}
ApiResult API(GraphEventRecordNodeGetEvent)(cudaGraphNode_t node, cudaEvent_t *event) {
    GET(node, WORK_RECORD, event, event_of);
}
ApiResult API(GraphEventRecordNodeSetEvent)(cudaGraphNode_t node, cudaEvent_t event) {
    const WarpWork work = {.kind = WORK_RECORD, .event = event};
    ANSWER(change_node(node, &work));
}
ApiResult API(GraphExecEventRecordNodeSetEvent)(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                cudaEvent_t event) {
    const WarpWork work = {.kind = WORK_RECORD, .event = event};
    ANSWER(change_launched(exec, node, &work));
}

ApiResult API(GraphAddEventWaitNode)(NEW_NODE, cudaEvent_t event) {
    const WarpWork work = {.kind = WORK_WAIT, .event = event};
    ANSWER(add_node(node, graph, dependencies, count, &work));
}
ApiResult API(GraphEventWaitNodeGetEvent)(cudaGraphNode_t node, cudaEvent_t *event) {
    GET(node, WORK_WAIT, event, event_of);
}
ApiResult API(GraphEventWaitNodeSetEvent)(cudaGraphNode_t node, cudaEvent_t event) {
    const WarpWork work = {.kind = WORK_WAIT, .event = event};
    ANSWER(change_node(node, &work));
}
ApiResult API(GraphExecEventWaitNodeSetEvent)(cudaGraphExec_t exec, cudaGraphNode_t node, cudaEvent_t event) {
    const WarpWork work = {.kind = WORK_WAIT, .event = event};
    ANSWER(change_launched(exec, node, &work));
}

/* --- Graphs as nodes ---------------------------------------------------------------------------- */

static void child_of(const WarpWork *work, cudaGraph_t *graph) {
    *graph = (cudaGraph_t)work->graph;
}

static int update_child(cudaGraphExec_t handle, cudaGraphNode_t node, cudaGraph_t child) {
    WarpExec *exec = warp_exec(handle);
    WarpNode *launched = exec && of_kind(node, WORK_GRAPH) ? warp_exec_node(exec, warp_node(node)) : NULL;
    ExecDifference difference;
    if (!launched || !warp_graph(child)) return CUDA_INVALID_VALUE;
    return warp_exec_update(launched->work.graph, warp_graph(child), &difference);
}

ApiResult API(GraphAddChildGraphNode)(NEW_NODE, cudaGraph_t child) {
    WarpWork work;
    ANSWER(graph_work(&work, child) ?: add_node(node, graph, dependencies, count, &work));
}
ApiResult API(GraphChildGraphNodeGetGraph)(cudaGraphNode_t node, cudaGraph_t *graph) {
    GET(node, WORK_GRAPH, graph, child_of);
}
ApiResult API(GraphExecChildGraphNodeSetParams)(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                cudaGraph_t child) {
    ANSWER(update_child(exec, node, child));
}

/* --- Memory ------------------------------------------------------------------------------------- */

static void address_of(const WarpWork *work, void *address) {
    memcpy(address, &work->memory.address, sizeof work->memory.address);
}

ApiResult API(GraphAddMemAllocNode)(NEW_NODE, struct cudaMemAllocNodeParams *params) {
    WarpWork work;
    ANSWER(alloc_work(&work, params, (uint64_t *)(params ? &params->dptr : NULL))
               ?: add_node(node, graph, dependencies, count, &work));
}
ApiResult API(GraphMemAllocNodeGetParams)(cudaGraphNode_t node, struct cudaMemAllocNodeParams *params) {
    GET(node, WORK_ALLOC, params, alloc_params);
}
ApiResult API(GraphAddMemFreeNode)(NEW_NODE, void *address) {
    const WarpWork work = {.kind = WORK_FREE, .memory = {.address = (uint64_t)address}};
    ANSWER(add_node(node, graph, dependencies, count, &work));
}
ApiResult API(GraphMemFreeNodeGetParams)(cudaGraphNode_t node, void *address) {
    GET(node, WORK_FREE, address, address_of);
}

/* --- All kinds ---------------------------------------------------------------------------------- */

static int get_type(cudaGraphNode_t node, enum cudaGraphNodeType *type) {
    if (!warp_node(node) || !type) return CUDA_INVALID_VALUE;
    *type = (enum cudaGraphNodeType)warp_node(node)->work.kind;
    return CUDA_OK;
}

/* The node in an instance, if it is of a kind that can be left out. */
static int find_optional(cudaGraphExec_t handle, cudaGraphNode_t node, WarpNode **found) {
    WarpExec *exec = warp_exec(handle);
    *found = exec && warp_node(node) ? warp_exec_node(exec, warp_node(node)) : NULL;
    return *found && (*found)->work.kind <= WORK_FILL ? CUDA_OK : CUDA_INVALID_VALUE;
}

static int set_enabled(cudaGraphExec_t exec, cudaGraphNode_t node, bool is_enabled) {
    WarpNode *found;
    int problem = find_optional(exec, node, &found);
    if (!problem) found->is_disabled = !is_enabled;
    return problem;
}

static int get_enabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned *is_enabled) {
    WarpNode *found;
    int problem = is_enabled ? find_optional(exec, node, &found) : CUDA_INVALID_VALUE;
    if (!problem) *is_enabled = !found->is_disabled;
    return problem;
}

ApiResult API(GraphNodeGetType)(cudaGraphNode_t node, enum cudaGraphNodeType *type) {
    ANSWER(get_type(node, type));
}
ApiResult API(GraphNodeSetEnabled)(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned is_enabled) {
    ANSWER(set_enabled(exec, node, is_enabled != 0));
}
ApiResult API(GraphNodeGetEnabled)(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned *is_enabled) {
    ANSWER(get_enabled(exec, node, is_enabled));
}
