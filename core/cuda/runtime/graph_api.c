/* Graphs as a whole: what they consist of, instances that can be launched. */
#include "core/cuda/runtime/both_apis.h"
#include "core/cuda/runtime/graph_exec.h"
#include "core/cuda/runtime/streams.h"

#include <stdio.h>
#include <string.h>

/* --- Graphs ------------------------------------------------------------------------------------- */

static int create(cudaGraph_t *graph, unsigned flags) {
    if (!graph || flags) return CUDA_INVALID_VALUE;
    *graph = (cudaGraph_t)warp_graph_new();
    return *graph ? CUDA_OK : CUDA_MEMORY_ALLOCATION;
}

/* Graphs that a node or a capture owns end with that. */
static int destroy(cudaGraph_t handle) {
    WarpGraph *graph = warp_graph(handle);
    if (!graph || graph->parent || warp_graph_is_captured(graph)) return CUDA_INVALID_VALUE;
    warp_graph_free(graph);
    return CUDA_OK;
}

static int clone(cudaGraph_t *copy, cudaGraph_t handle) {
    const WarpGraph *graph = warp_graph(handle);
    if (!graph || !copy || graph->is_captured) return CUDA_INVALID_VALUE;
    return warp_graph_has_memory(graph) ? CUDA_NOT_SUPPORTED : warp_graph_clone(graph, (WarpGraph **)copy);
}

static int find_in_clone(cudaGraphNode_t *found, cudaGraphNode_t original, cudaGraph_t copy) {
    if (!found || !warp_node(original) || !warp_graph(copy)) return CUDA_INVALID_VALUE;
    *found = (cudaGraphNode_t)warp_graph_find_clone(warp_graph(copy), warp_node(original));
    return *found ? CUDA_OK : CUDA_INVALID_VALUE;
}

ApiResult API(GraphCreate)(cudaGraph_t *graph, unsigned flags) {
    ANSWER(create(graph, flags));
}
ApiResult API(GraphDestroy)(cudaGraph_t graph) {
    ANSWER(destroy(graph));
}
ApiResult API(GraphClone)(cudaGraph_t *copy, cudaGraph_t graph) {
    ANSWER(clone(copy, graph));
}
ApiResult API(GraphNodeFindInClone)(cudaGraphNode_t *found, cudaGraphNode_t original, cudaGraph_t copy) {
    ANSWER(find_in_clone(found, original, copy));
}

enum { DOT_VERBOSE = 1 };

ApiResult API(GraphDebugDotPrint)(cudaGraph_t graph, const char *path, unsigned flags) {
    ANSWER(warp_graph(graph) && path ? warp_graph_write_dot(warp_graph(graph), path, flags & DOT_VERBOSE)
                                     : CUDA_INVALID_VALUE);
}

/* --- Nodes and dependencies ----------------------------------------------------------------------- */

/* Without `nodes` only how many there are. Room that is left over is NULL. */
static int give(const WarpNodeSet *found, cudaGraphNode_t *nodes, size_t *count) {
    if (!count) return CUDA_INVALID_VALUE;
    size_t room = *count;
    *count = found->count;
    if (!nodes) return CUDA_OK;
    if (room < *count) *count = room;
    for (size_t i = 0; i < room; i++)
        nodes[i] = i < *count ? (cudaGraphNode_t)found->at[i] : NULL;
    return CUDA_OK;
}

static int give_nodes(cudaGraph_t handle, cudaGraphNode_t *nodes, size_t *count, bool only_roots) {
    const WarpGraph *graph = warp_graph(handle);
    WarpNodeSet roots = {0};
    if (!graph) return CUDA_INVALID_VALUE;
    for (size_t i = 0; i < graph->nodes.count && only_roots; i++)
        if (!graph->nodes.at[i]->dependencies.count) warp_nodes_add(&roots, graph->nodes.at[i]);
    int problem = give(only_roots ? &roots : &graph->nodes, nodes, count);
    warp_nodes_free(&roots);
    return problem;
}

static void clear(EdgeData *edges, const size_t *count) {
    if (edges) memset(edges, 0, *count * sizeof *edges);
}

static int give_edges(cudaGraph_t handle, cudaGraphNode_t *from, cudaGraphNode_t *to, EdgeData *edges,
                      size_t *count) {
    const WarpGraph *graph = warp_graph(handle);
    size_t found = 0;
    if (!graph || !count || !from != !to) return CUDA_INVALID_VALUE;
    for (size_t i = 0; i < graph->nodes.count; i++) {
        const WarpNodeSet *dependencies = &graph->nodes.at[i]->dependencies;
        for (size_t k = 0; k < dependencies->count && (!from || found < *count); k++, found++) {
            if (!from) continue;
            from[found] = (cudaGraphNode_t)dependencies->at[k];
            to[found] = (cudaGraphNode_t)graph->nodes.at[i];
        }
    }
    for (size_t i = found; from && i < *count; i++)
        from[i] = to[i] = NULL;
    *count = found;
    if (from) clear(edges, count);
    return CUDA_OK;
}

static int give_dependencies(cudaGraphNode_t handle, cudaGraphNode_t *nodes, EdgeData *edges, size_t *count) {
    const WarpNode *node = warp_node(handle);
    int problem = node ? give(&node->dependencies, nodes, count) : CUDA_INVALID_VALUE;
    if (!problem && nodes) clear(edges, count);
    return problem;
}

static int give_dependents(cudaGraphNode_t handle, cudaGraphNode_t *nodes, EdgeData *edges, size_t *count) {
    const WarpNode *node = warp_node(handle);
    WarpNodeSet dependents = {0};
    if (!node) return CUDA_INVALID_VALUE;
    for (size_t i = 0; i < node->graph->nodes.count; i++)
        if (warp_nodes_have(&node->graph->nodes.at[i]->dependencies, node))
            warp_nodes_add(&dependents, node->graph->nodes.at[i]);
    int problem = give(&dependents, nodes, count);
    if (!problem && nodes) clear(edges, count);
    warp_nodes_free(&dependents);
    return problem;
}

static int change_dependencies(cudaGraph_t handle, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                               const EdgeData *edges, size_t count, int (*change)(WarpNode *, WarpNode *)) {
    int problem = warp_graph(handle) && (!count || (from && to)) ? check_edges(edges, count)
                                                                 : CUDA_INVALID_VALUE;
    for (size_t i = 0; i < count && !problem; i++) {
        WarpNode *first = warp_node(from[i]), *second = warp_node(to[i]);
        bool is_in_graph = first && (void *)first->graph == (void *)handle;
        problem = is_in_graph ? change(first, second) : CUDA_INVALID_VALUE;
    }
    return problem;
}

ApiResult API(GraphGetNodes)(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count) {
    ANSWER(give_nodes(graph, nodes, count, false));
}
ApiResult API(GraphGetRootNodes)(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count) {
    ANSWER(give_nodes(graph, nodes, count, true));
}

/* Without and with data of edges: CUDA 13's runtime has only the latter, under the plain names. */
#if CUDA_MAJOR < 13
ApiResult get_edges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, size_t *count)
    NAMED("GraphGetEdges");
ApiResult get_edges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, size_t *count) {
    ANSWER(give_edges(graph, from, to, NULL, count));
}
ApiResult get_dependencies(cudaGraphNode_t node, cudaGraphNode_t *nodes, size_t *count)
    NAMED("GraphNodeGetDependencies");
ApiResult get_dependencies(cudaGraphNode_t node, cudaGraphNode_t *nodes, size_t *count) {
    ANSWER(give_dependencies(node, nodes, NULL, count));
}
ApiResult get_dependents(cudaGraphNode_t node, cudaGraphNode_t *nodes, size_t *count)
    NAMED("GraphNodeGetDependentNodes");
ApiResult get_dependents(cudaGraphNode_t node, cudaGraphNode_t *nodes, size_t *count) {
    ANSWER(give_dependents(node, nodes, NULL, count));
}
ApiResult add_dependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                           size_t count) NAMED("GraphAddDependencies");
ApiResult add_dependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                           size_t count) {
    ANSWER(change_dependencies(graph, from, to, NULL, count, warp_node_connect));
}
ApiResult remove_dependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                              size_t count) NAMED("GraphRemoveDependencies");
ApiResult remove_dependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                              size_t count) {
    ANSWER(change_dependencies(graph, from, to, NULL, count, warp_node_disconnect));
}
#endif

ApiResult API(GraphGetEdges_v2)(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
                                EdgeData *edges, size_t *count) {
    ANSWER(give_edges(graph, from, to, edges, count));
}
ApiResult API(GraphNodeGetDependencies_v2)(cudaGraphNode_t node, cudaGraphNode_t *nodes, EdgeData *edges,
                                           size_t *count) {
    ANSWER(give_dependencies(node, nodes, edges, count));
}
ApiResult API(GraphNodeGetDependentNodes_v2)(cudaGraphNode_t node, cudaGraphNode_t *nodes, EdgeData *edges,
                                             size_t *count) {
    ANSWER(give_dependents(node, nodes, edges, count));
}
ApiResult API(GraphAddDependencies_v2)(cudaGraph_t graph, const cudaGraphNode_t *from,
                                       const cudaGraphNode_t *to, const EdgeData *edges, size_t count) {
    ANSWER(change_dependencies(graph, from, to, edges, count, warp_node_connect));
}
ApiResult API(GraphRemoveDependencies_v2)(cudaGraph_t graph, const cudaGraphNode_t *from,
                                          const cudaGraphNode_t *to, const EdgeData *edges, size_t count) {
    ANSWER(change_dependencies(graph, from, to, edges, count, warp_node_disconnect));
}

#if CUDA_MAJOR >= 13
ALSO_NAMED(GraphGetEdges, cudaGraphGetEdges_v2, "GraphGetEdges_v2")
ALSO_NAMED(GraphNodeGetDependencies, cudaGraphNodeGetDependencies_v2, "GraphNodeGetDependencies_v2")
ALSO_NAMED(GraphNodeGetDependentNodes, cudaGraphNodeGetDependentNodes_v2, "GraphNodeGetDependentNodes_v2")
ALSO_NAMED(GraphAddDependencies, cudaGraphAddDependencies_v2, "GraphAddDependencies_v2")
ALSO_NAMED(GraphRemoveDependencies, cudaGraphRemoveDependencies_v2, "GraphRemoveDependencies_v2")
#endif

ApiResult API(GraphDestroyNode)(cudaGraphNode_t node) {
    ANSWER(warp_node(node) ? warp_node_destroy(warp_node(node)) : CUDA_INVALID_VALUE);
}

/* --- Instances ---------------------------------------------------------------------------------- */

static int instantiate(cudaGraphExec_t *exec, cudaGraph_t handle, uint64_t flags, WarpNode **stuck) {
    *stuck = NULL;
    if (!exec || !warp_graph(handle)) return CUDA_INVALID_VALUE;
    return warp_exec_new(warp_graph(handle), flags, (WarpExec **)exec, stuck);
}

static int instantiate_plain(cudaGraphExec_t *exec, cudaGraph_t graph, uint64_t flags) {
    WarpNode *stuck;
    return instantiate(exec, graph, flags, &stuck);
}

#if CUDA_MAJOR < 12
static int instantiate_with_log(cudaGraphExec_t *exec, cudaGraph_t graph, cudaGraphNode_t *error_node,
                                char *log, size_t log_bytes) {
    WarpNode *stuck;
    int problem = instantiate(exec, graph, 0, &stuck);
    if (error_node) *error_node = (cudaGraphNode_t)stuck;
    if (log && log_bytes)
        snprintf(log, log_bytes, "%s", stuck ? "expected a graph without cycles, got one with a cycle" : "");
    return problem;
}

ApiResult instantiate_eleven(cudaGraphExec_t *exec, cudaGraph_t graph, cudaGraphNode_t *error_node, char *log,
                             size_t log_bytes) NAMED("GraphInstantiate");
ApiResult instantiate_eleven(cudaGraphExec_t *exec, cudaGraph_t graph, cudaGraphNode_t *error_node, char *log,
                             size_t log_bytes) {
    ANSWER(instantiate_with_log(exec, graph, error_node, log, log_bytes));
}
#endif

ApiResult API(GraphInstantiateWithFlags)(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags) {
    ANSWER(instantiate_plain(exec, graph, flags));
}

#if CUDA_MAJOR >= 12
ALSO_NAMED(GraphInstantiate, cudaGraphInstantiateWithFlags, "GraphInstantiateWithFlags")
#elif CUDA_MAJOR == 0
ALSO_NAMED(GraphInstantiate_v2, instantiate_eleven, "GraphInstantiate")
#endif

static int instantiate_params(cudaGraphExec_t *exec, cudaGraph_t graph, cudaGraphInstantiateParams *params) {
    WarpNode *stuck;
    if (!params) return CUDA_INVALID_VALUE;
    int problem = instantiate(exec, graph, params->flags, &stuck);
    params->errNode_out = (cudaGraphNode_t)stuck;
    params->result_out = !problem ? cudaGraphInstantiateSuccess
                         : stuck  ? cudaGraphInstantiateInvalidStructure
                                  : cudaGraphInstantiateError;
    return problem;
}

ApiResult API(GraphInstantiateWithParams)(cudaGraphExec_t *exec, cudaGraph_t graph,
                                          cudaGraphInstantiateParams *params) {
    ANSWER(instantiate_params(exec, graph, params));
}

ApiResult API(GraphExecDestroy)(cudaGraphExec_t exec) {
    ANSWER(warp_exec(exec) ? warp_exec_free(warp_exec(exec)) : CUDA_INVALID_VALUE);
}

static int get_flags(cudaGraphExec_t handle, unsigned long long *flags) {
    const WarpExec *exec = warp_exec(handle);
    if (!exec || !flags) return CUDA_INVALID_VALUE;
    *flags = exec->flags;
    return CUDA_OK;
}

ApiResult API(GraphExecGetFlags)(cudaGraphExec_t exec, unsigned long long *flags) {
    ANSWER(get_flags(exec, flags));
}

ApiResult API(GraphLaunch)(cudaGraphExec_t exec, cudaStream_t stream) {
    ANSWER(warp_exec(exec) ? warp_exec_launch(warp_exec(exec), stream) : CUDA_INVALID_VALUE);
}

/* All is where launches need it. */
ApiResult API(GraphUpload)(cudaGraphExec_t exec, cudaStream_t stream) {
    ANSWER(!warp_exec(exec) ? CUDA_INVALID_VALUE : warp_stream(stream) ? CUDA_OK : CUDA_INVALID_HANDLE);
}

/* --- Updates ------------------------------------------------------------------------------------ */

static int update(cudaGraphExec_t handle, cudaGraph_t graph_handle, ExecDifference *difference) {
    WarpExec *exec = warp_exec(handle);
    const WarpGraph *graph = warp_graph(graph_handle);
    *difference = (ExecDifference){.result = cudaGraphExecUpdateError};
    return exec && graph ? warp_exec_update(exec->graph, graph, difference) : CUDA_INVALID_VALUE;
}

#if CUDA_MAJOR < 12
static int update_old(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphNode_t *error_node,
                      enum cudaGraphExecUpdateResult *result) {
    ExecDifference difference;
    int problem = update(exec, graph, &difference);
    if (error_node) *error_node = (cudaGraphNode_t)difference.node;
    if (result) *result = (enum cudaGraphExecUpdateResult)difference.result;
    return problem;
}

ApiResult API(GraphExecUpdate)(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphNode_t *error_node,
                               enum cudaGraphExecUpdateResult *result) {
    ANSWER(update_old(exec, graph, error_node, result));
}
#endif

#if CUDA_MAJOR != 11
#if CUDA_MAJOR
#define UPDATE "GraphExecUpdate"
#else
#define UPDATE "GraphExecUpdate_v2"
#endif

static int update_new(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *info) {
    ExecDifference difference;
    int problem = update(exec, graph, &difference);
    if (info)
        *info = (cudaGraphExecUpdateResultInfo){(enum cudaGraphExecUpdateResult)difference.result,
                                                (cudaGraphNode_t)difference.node,
                                                (cudaGraphNode_t)difference.launched};
    return problem;
}

ApiResult update_twelve(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *info)
    NAMED(UPDATE);
ApiResult update_twelve(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *info) {
    ANSWER(update_new(exec, graph, info));
}
#endif
