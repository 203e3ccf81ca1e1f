#include "core/cuda/runtime/graph_exec.h"

#include "core/cuda/runtime/capture.h"
#include "core/cuda/runtime/handles.h"
#include "core/cuda/runtime/memory_pools.h"

#include <stdlib.h>

/* Flags of instantiation. */
enum { AUTO_FREE_ON_LAUNCH = 1, DEVICE_LAUNCH = 4, ALL_FLAGS = 15 };

/* Results of updates. */
enum { TOPOLOGY_CHANGED = 2, TYPE_CHANGED = 3, PARAMETERS_CHANGED = 5, NOT_SUPPORTED = 6 };

int warp_exec_new(WarpGraph *graph, uint64_t flags, WarpExec **exec, WarpNode **stuck) {
    if ((flags & ~(uint64_t)ALL_FLAGS) || graph->is_captured) return CUDA_INVALID_VALUE;
    if (flags & DEVICE_LAUNCH) return CUDA_NOT_SUPPORTED;
    *stuck = warp_graph_sort(graph);
    if (*stuck) return CUDA_INVALID_VALUE;
    WarpExec *made = calloc(1, sizeof *made);
    if (!made) return CUDA_MEMORY_ALLOCATION;
    *made = (WarpExec){.flags = flags};
    int problem = warp_graph_clone(graph, &made->graph);
    if (problem) {
        free(made);
        return problem;
    }
    warp_handle_add(made, HANDLE_EXEC);
    *exec = made;
    return CUDA_OK;
}

WarpExec *warp_exec(void *handle) {
    return warp_handle(handle, HANDLE_EXEC);
}

static void free_if_done(WarpExec *exec) {
    if (!exec->is_destroyed || exec->launches) return;
    warp_graph_free(exec->graph);
    free(exec);
}

int warp_exec_free(WarpExec *exec) {
    warp_handle_remove(exec);
    exec->is_destroyed = true;
    free_if_done(exec);
    return CUDA_OK;
}

WarpNode *warp_exec_node(WarpExec *exec, const WarpNode *node) {
    return warp_graph_find_clone(exec->graph, node);
}

/* --- Updates ------------------------------------------------------------------------------------ */

/* Nodes are compared in the order in which they were made. */
static bool same_dependencies(const WarpNode *a, const WarpNode *b) {
    if (a->dependencies.count != b->dependencies.count) return false;
    for (size_t i = 0; i < a->dependencies.count; i++) {
        size_t place = warp_node_index(a->dependencies.at[i]);
        if (place >= b->graph->nodes.count || !warp_nodes_have(&b->dependencies, b->graph->nodes.at[place]))
            return false;
    }
    return true;
}

static int difference_of(const WarpNode *old, const WarpNode *new);

static bool find_difference(const WarpGraph *old, const WarpGraph *new, ExecDifference *difference) {
    size_t count = old->nodes.count;
    *difference = (ExecDifference){0};
    if (count != new->nodes.count)
        *difference = (ExecDifference){
            .result = TOPOLOGY_CHANGED,
            .node = new->nodes.count > count ? new->nodes.at[count] : NULL,
        };
    for (size_t i = 0; i < count && !difference->result; i++)
        *difference = (ExecDifference){difference_of(old->nodes.at[i], new->nodes.at[i]), new->nodes.at[i],
                                       old->nodes.at[i]};
    return difference->result != 0;
}

static int difference_of(const WarpNode *old, const WarpNode *new) {
    ExecDifference inner;
    const WarpWork *before = &old->work, *after = &new->work;
    if (before->kind != after->kind) return TYPE_CHANGED;
    if (!same_dependencies(old, new)) return TOPOLOGY_CHANGED;
    if (before->kind == WORK_GRAPH && find_difference(before->graph, after->graph, &inner))
        return inner.result;
    if (before->kind == WORK_ALLOC || before->kind == WORK_FREE)
        return before->memory.memory == after->memory.memory ? 0 : NOT_SUPPORTED;
    if (before->kind == WORK_COPY && before->copy.direction != after->copy.direction)
        return PARAMETERS_CHANGED;
    return 0;
}

/* Only the work is new: nodes are still found by those of the graph that was instantiated. */
static int take_work(WarpGraph *old, const WarpGraph *new) {
    int problem = CUDA_OK;
    for (size_t i = 0; i < old->nodes.count && !problem; i++) {
        WarpNode *node = old->nodes.at[i];
        const WarpWork *work = &new->nodes.at[i]->work;
        if (work->kind == WORK_GRAPH)
            problem = take_work(node->work.graph, work->graph);
        else if (work->kind != WORK_ALLOC && work->kind != WORK_FREE)
            problem = warp_node_change(node, work);
    }
    return problem;
}

int warp_exec_update(WarpGraph *graph, const WarpGraph *as, ExecDifference *difference) {
    if (find_difference(graph, as, difference)) return CUDA_GRAPH_UPDATE_FAILURE;
    *difference = (ExecDifference){0};
    return take_work(graph, as);
}

/* --- Launches ----------------------------------------------------------------------------------- */

/* What the last launch has allocated and nobody has freed. */
static int free_left_over(const WarpExec *exec) {
    for (size_t i = 0; i < exec->graph->nodes.count; i++) {
        const WarpWork *work = &exec->graph->nodes.at[i]->work;
        if (work->kind != WORK_ALLOC || !warp_graph_memory_is_used(work->memory.memory)) continue;
        if (!(exec->flags & AUTO_FREE_ON_LAUNCH)) return CUDA_INVALID_VALUE;
        warp_graph_memory_unuse(work->memory.memory);
    }
    return CUDA_OK;
}

int warp_exec_launch(WarpExec *exec, void *stream) {
    const WarpWork work = {.kind = WORK_GRAPH, .graph = exec->graph};
    int problem = free_left_over(exec);
    exec->launches++;
    if (!problem) problem = warp_submit(stream, &work);
    exec->launches--;
    free_if_done(exec);
    return problem;
}
