#include "core/cuda/runtime/graph.h"

#include "core/cuda/runtime/handles.h"
#include "core/cuda/runtime/limits.h"
#include "core/cuda/runtime/memory_pools.h"
#include "core/cuda/runtime/pending.h"
#include "core/cuda/runtime/work_list.h"

#include <stdlib.h>
#include <string.h>

static uint64_t last_number;

/* --- Sets of nodes ------------------------------------------------------------------------------ */

bool warp_nodes_have(const WarpNodeSet *set, const WarpNode *node) {
    for (size_t i = set->count; i-- > 0;)
        if (set->at[i] == node) return true;
    return false;
}

static void append(WarpNodeSet *set, WarpNode *node) {
    if (set->count == set->capacity) {
        set->capacity = set->capacity ? 2 * set->capacity : 4;
        set->at = realloc(set->at, set->capacity * sizeof *set->at);
        if (!set->at) abort();
    }
    set->at[set->count++] = node;
}

void warp_nodes_add(WarpNodeSet *set, WarpNode *node) {
    if (!warp_nodes_have(set, node)) append(set, node);
}

void warp_nodes_add_all(WarpNodeSet *set, const WarpNodeSet *more) {
    for (size_t i = 0; i < more->count; i++)
        warp_nodes_add(set, more->at[i]);
}

bool warp_nodes_remove(WarpNodeSet *set, const WarpNode *node) {
    size_t i = 0;
    while (i < set->count && set->at[i] != node)
        i++;
    if (i == set->count) return false;
    memmove(set->at + i, set->at + i + 1, (--set->count - i) * sizeof *set->at);
    return true;
}

void warp_nodes_free(WarpNodeSet *set) {
    free(set->at);
    *set = (WarpNodeSet){0};
}

static bool is_memory(const WarpWork *work) {
    return work->kind == WORK_ALLOC || work->kind == WORK_FREE;
}

/* --- Graphs and nodes ---------------------------------------------------------------------------- */

WarpGraph *warp_graph_new(void) {
    WarpGraph *graph = calloc(1, sizeof *graph);
    if (graph) warp_handle_add(graph, HANDLE_GRAPH);
    return graph;
}

WarpGraph *warp_graph(void *handle) {
    return warp_handle(handle, HANDLE_GRAPH);
}

WarpNode *warp_node(void *handle) {
    return warp_handle(handle, HANDLE_NODE);
}

static void forget_order(WarpGraph *graph) {
    free(graph->order);
    graph->order = NULL;
}

static void free_node(WarpNode *node) {
    warp_work_free(&node->work);
    warp_nodes_free(&node->dependencies);
    warp_handle_remove(node);
    free(node);
}

void warp_graph_free(WarpGraph *graph) {
    if (!graph) return;
    for (size_t i = 0; i < graph->nodes.count; i++)
        free_node(graph->nodes.at[i]);
    warp_nodes_free(&graph->nodes);
    forget_order(graph);
    warp_handle_remove(graph);
    free(graph);
}

static WarpNode *append_node(WarpGraph *graph, const WarpWork *kept) {
    WarpNode *node = calloc(1, sizeof *node);
    if (!node) abort();
    *node = (WarpNode){.graph = graph, .number = ++last_number, .work = *kept};
    warp_handle_add(node, HANDLE_NODE);
    if (kept->kind == WORK_GRAPH) kept->graph->parent = node;
    append(&graph->nodes, node);
    forget_order(graph);
    return node;
}

/* Memory of graphs is freed once in each launch. */
static bool frees(const WarpGraph *graph, uint64_t address) {
    for (size_t i = 0; i < graph->nodes.count; i++) {
        const WarpWork *work = &graph->nodes.at[i]->work;
        if (work->kind == WORK_FREE && work->memory.address == address) return true;
    }
    return false;
}

int warp_graph_add(WarpGraph *graph, const WarpNodeSet *dependencies, const WarpWork *work, WarpNode **node) {
    WarpWork kept;
    for (size_t i = 0; i < dependencies->count; i++) {
        const WarpNode *dependency = warp_node(dependencies->at[i]);
        if (!dependency || dependency->graph != graph) return CUDA_INVALID_VALUE;
        for (size_t k = 0; k < i; k++)
            if (dependencies->at[k] == dependency) return CUDA_INVALID_VALUE;
    }
    if (graph->parent && is_memory(work)) return CUDA_NOT_SUPPORTED;
    if (work->kind == WORK_FREE && frees(graph, work->memory.address)) return CUDA_INVALID_VALUE;
    int problem = warp_work_keep(&kept, work);
    if (problem) return problem;
    WarpNode *made = append_node(graph, &kept);
    warp_nodes_add_all(&made->dependencies, dependencies);
    *node = made; /* which may be where the program has its list of dependencies */
    return CUDA_OK;
}

int warp_node_change(WarpNode *node, const WarpWork *work) {
    WarpWork kept;
    if (work->kind != node->work.kind) return CUDA_INVALID_VALUE;
    if (is_memory(work)) return CUDA_NOT_SUPPORTED;
    int problem = warp_work_keep(&kept, work);
    if (problem) return problem;
    warp_work_free(&node->work);
    node->work = kept;
    if (kept.kind == WORK_GRAPH) kept.graph->parent = node;
    return CUDA_OK;
}

static bool is_child_captured(const WarpNode *node) {
    return node->work.kind == WORK_GRAPH && warp_graph_is_captured(node->work.graph);
}

bool warp_graph_is_captured(const WarpGraph *graph) {
    bool is_captured = graph->is_captured;
    for (size_t i = 0; i < graph->nodes.count && !is_captured; i++)
        is_captured = is_child_captured(graph->nodes.at[i]);
    return is_captured;
}

int warp_node_destroy(WarpNode *node) {
    WarpGraph *graph = node->graph;
    if (is_memory(&node->work)) return CUDA_NOT_SUPPORTED;
    if (graph->is_captured || is_child_captured(node)) return CUDA_INVALID_VALUE;
    for (size_t i = 0; i < graph->nodes.count; i++)
        warp_nodes_remove(&graph->nodes.at[i]->dependencies, node);
    warp_nodes_remove(&graph->nodes, node);
    forget_order(graph);
    free_node(node);
    return CUDA_OK;
}

int warp_node_connect(WarpNode *from, WarpNode *to) {
    if (!from || !to || from == to || from->graph != to->graph || warp_nodes_have(&to->dependencies, from))
        return CUDA_INVALID_VALUE;
    warp_nodes_add(&to->dependencies, from);
    forget_order(to->graph);
    return CUDA_OK;
}

int warp_node_disconnect(WarpNode *from, WarpNode *to) {
    if (!from || !to || !warp_nodes_remove(&to->dependencies, from)) return CUDA_INVALID_VALUE;
    forget_order(to->graph);
    return CUDA_OK;
}

bool warp_graph_has_memory(const WarpGraph *graph) {
    for (size_t i = 0; i < graph->nodes.count; i++)
        if (is_memory(&graph->nodes.at[i]->work)) return true;
    return false;
}

/* --- Clones ------------------------------------------------------------------------------------- */

/* The place of a node among those of its graph, which are in the order of their numbers. */
static size_t index_by(const WarpGraph *graph, uint64_t number, bool by_source) {
    size_t low = 0, high = graph->nodes.count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const WarpNode *node = graph->nodes.at[middle];
        if ((by_source ? node->source : node->number) < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t warp_node_index(const WarpNode *node) {
    return index_by(node->graph, node->number, false);
}

int warp_graph_clone(const WarpGraph *graph, WarpGraph **result) {
    WarpGraph *clone = warp_graph_new();
    int problem = clone ? CUDA_OK : CUDA_MEMORY_ALLOCATION;
    for (size_t i = 0; i < graph->nodes.count && !problem; i++) {
        WarpWork kept;
        problem = warp_work_copy(&kept, &graph->nodes.at[i]->work);
        if (problem) break;
        WarpNode *node = append_node(clone, &kept);
        node->source = graph->nodes.at[i]->number;
        node->is_disabled = graph->nodes.at[i]->is_disabled;
    }
    for (size_t i = 0; i < graph->nodes.count && !problem; i++) {
        const WarpNodeSet *dependencies = &graph->nodes.at[i]->dependencies;
        for (size_t k = 0; k < dependencies->count; k++)
            append(&clone->nodes.at[i]->dependencies, clone->nodes.at[warp_node_index(dependencies->at[k])]);
    }
    if (problem)
        warp_graph_free(clone);
    else
        *result = clone;
    return problem;
}

WarpNode *warp_graph_find_clone(WarpGraph *clone, const WarpNode *original) {
    size_t i = index_by(clone, original->number, true);
    if (i < clone->nodes.count && clone->nodes.at[i]->source == original->number) return clone->nodes.at[i];
    for (i = 0; i < clone->nodes.count; i++) {
        const WarpWork *work = &clone->nodes.at[i]->work;
        WarpNode *found = work->kind == WORK_GRAPH ? warp_graph_find_clone(work->graph, original) : NULL;
        if (found) return found;
    }
    return NULL;
}

/* --- Order -------------------------------------------------------------------------------------- */

bool warp_node_is_before(const WarpNode *node, const WarpNodeSet *set) {
    const WarpGraph *graph = node->graph;
    WarpNodeSet open = {0};
    bool *is_seen = calloc(graph->nodes.count + 1, sizeof *is_seen), is_found = false;
    if (!is_seen) abort();
    warp_nodes_add_all(&open, set);
    while (open.count && !is_found) {
        const WarpNode *last = open.at[--open.count];
        size_t i = warp_node_index(last);
        is_found = last == node;
        if (is_seen[i]) continue;
        is_seen[i] = true;
        for (size_t k = 0; k < last->dependencies.count; k++)
            append(&open, last->dependencies.at[k]);
    }
    free(is_seen);
    warp_nodes_free(&open);
    return is_found;
}

static bool may_run(const bool *is_done, const WarpNode *node) {
    for (size_t i = 0; i < node->dependencies.count; i++)
        if (!is_done[warp_node_index(node->dependencies.at[i])]) return false;
    return true;
}

/* Where no node depends on one that was made later, one pass finds the order: that in which they were made. */
static WarpNode *sort(WarpGraph *graph, WarpNode **order, bool *is_done) {
    size_t first = 0, count = graph->nodes.count;
    for (size_t filled = 0; filled < count; filled++) {
        while (is_done[first])
            first++;
        size_t i = first;
        while (i < count && (is_done[i] || !may_run(is_done, graph->nodes.at[i])))
            i++;
        if (i == count) return graph->nodes.at[first];
        is_done[i] = true;
        order[filled] = graph->nodes.at[i];
    }
    return NULL;
}

WarpNode *warp_graph_sort(WarpGraph *graph) {
    if (graph->order) return NULL;
    WarpNode **order = calloc(graph->nodes.count + 1, sizeof *order), *stuck;
    bool *is_done = calloc(graph->nodes.count + 1, sizeof *is_done);
    if (!order || !is_done) abort();
    stuck = sort(graph, order, is_done);
    for (size_t i = 0; i < graph->nodes.count && !stuck; i++)
        if (order[i]->work.kind == WORK_GRAPH) stuck = warp_graph_sort(order[i]->work.graph);
    free(is_done);
    if (stuck)
        free(order);
    else
        graph->order = order;
    return stuck;
}

/* Behind those before it in the order, of which `places` are known. `after` has room for as many as there are nodes. */
static void add_node(WorkList *list, const WarpNode *node, const uint32_t *places, uint32_t *after) {
    static const WarpWork nothing = {.kind = WORK_EMPTY};
    uint32_t count = 0;
    for (size_t i = 0; i < node->dependencies.count; i++)
        after[count++] = places[warp_node_index(node->dependencies.at[i])];
    warp_list_add(list, node->is_disabled ? &nothing : &node->work, false, after, count, LEAST_PRIORITY);
}

int warp_graph_run(WarpGraph *graph) {
    WorkList list = {0};
    if (warp_graph_sort(graph)) return CUDA_INVALID_VALUE;
    uint32_t *places = calloc(graph->nodes.count + 1, sizeof *places),
             *after = calloc(graph->nodes.count + 1, sizeof *after);
    if (!places || !after) abort();
    for (size_t i = 0; i < graph->nodes.count; i++) {
        add_node(&list, graph->order[i], places, after);
        places[warp_node_index(graph->order[i])] = (uint32_t)i;
    }
    free(places);
    free(after);
    int problem = warp_list_do(&list);
    warp_list_empty(&list);
    return problem;
}

/* --- Among other work ---------------------------------------------------------------------------- */

/* What a node waits for: the ends of those that it depends on; without any, what the graph waits for. */
static const uint32_t *before_node(const WarpNode *node, const uint32_t *ends, uint32_t *found,
                                   const uint32_t *behind, uint32_t *count) {
    if (!node->dependencies.count) return behind;
    *count = (uint32_t)node->dependencies.count;
    for (uint32_t i = 0; i < *count; i++)
        found[i] = ends[warp_node_index(node->dependencies.at[i])];
    return found;
}

/* The memory is used, or no more, from the launch on, as the next launch of the graph sees it; it is there until the work is
 * done. */
static int add_memory(WorkList *list, const WarpWork *work, const uint32_t *after, uint32_t count) {
    const WarpWork hold = {.kind = WORK_HOLD, .memory = work->memory};
    int problem = warp_list_add(list, &hold, true, after, count, LEAST_PRIORITY);
    return problem ? problem : warp_work_do(work);
}

/* What the event was recorded behind when the graph is launched, or by a node before this one. */
static int add_wait(WorkList *list, const WarpEvent *event, const uint32_t *after, uint32_t count) {
    static const WarpWork nothing = {.kind = WORK_EMPTY};
    uint32_t *all = calloc(count + 1, sizeof *all);
    if (!all) abort();
    if (count) memcpy(all, after, count * sizeof *after);
    if (event && warp_event_waits(event)) all[count++] = event->item;
    int problem = warp_list_add(list, &nothing, true, all, count, LEAST_PRIORITY);
    free(all);
    return problem;
}

static int add_record(WorkList *list, const WarpWork *work, const uint32_t *after, uint32_t count) {
    WarpEvent *event = warp_event(work->event);
    if (!event) return CUDA_INVALID_HANDLE;
    warp_event_forget_record(event);
    int problem = warp_list_add(list, work, true, after, count, LEAST_PRIORITY);
    if (!problem) warp_event_note_record(event, list->count - 1);
    return problem;
}

static int add_node_to(WorkList *list, const WarpNode *node, const uint32_t *after, uint32_t count) {
    static const WarpWork nothing = {.kind = WORK_EMPTY};
    const WarpWork *work = node->is_disabled ? &nothing : &node->work;
    switch (work->kind) {
    case WORK_GRAPH: return warp_graph_add_to(work->graph, list, after, count);
    case WORK_ALLOC:
    case WORK_FREE: return add_memory(list, work, after, count);
    case WORK_WAIT: return add_wait(list, warp_event(work->event), after, count);
    case WORK_RECORD: return add_record(list, work, after, count);
    default: return warp_list_add(list, work, true, after, count, LEAST_PRIORITY);
    }
}

int warp_graph_add_to(WarpGraph *graph, WorkList *list, const uint32_t *behind, uint32_t count) {
    static const WarpWork nothing = {.kind = WORK_EMPTY};
    size_t nodes = graph->nodes.count;
    if (warp_graph_sort(graph)) return CUDA_INVALID_VALUE;
    uint32_t *ends = calloc(2 * nodes + 1, sizeof *ends), *found = ends + nodes;
    int problem = CUDA_OK;
    if (!ends) abort();
    for (size_t i = 0; i < nodes && !problem; i++) {
        const WarpNode *node = graph->order[i];
        uint32_t before = count;
        const uint32_t *after = before_node(node, ends, found, behind, &before);
        problem = add_node_to(list, node, after, before);
        ends[warp_node_index(node)] = list->count - 1;
    }
    int last = warp_list_add(list, &nothing, true, nodes ? ends : behind, nodes ? (uint32_t)nodes : count,
                             LEAST_PRIORITY);
    free(ends);
    return problem ? problem : last;
}
