/* Graphs: nodes, each with its work, and what it depends on. The APIs' handles of graphs and nodes are pointers to
 * these. All functions between warp_enter() and warp_leave(); those that return int return 0 or an error code. */
#ifndef WW_CUDA_GRAPH_H
#define WW_CUDA_GRAPH_H

#include "core/cuda/runtime/node_set.h"
#include "core/cuda/runtime/work.h"

typedef struct WarpGraph WarpGraph;
struct WorkList;

typedef struct WarpNode {
    bool is_disabled; /* in a graph that can be launched */
    WarpGraph *graph;
    uint64_t number; /* in the order in which nodes are made, of all graphs */
    uint64_t source; /* the number of the node of which it is a clone, or 0 */
    WarpWork work;
    WarpNodeSet dependencies;
} WarpNode;

struct WarpGraph {
    bool is_captured; /* a stream's capture adds to it */
    WarpNode *parent; /* the node that it is the child of, or NULL */
    WarpNodeSet nodes;
    WarpNode **order; /* in which they run; NULL: not known */
};

WarpGraph *warp_graph_new(void);
/* The graph or node of a handle; NULL for what is none. */
WarpGraph *warp_graph(void *handle);
WarpNode *warp_node(void *handle);
void warp_graph_free(WarpGraph *graph);
int warp_graph_clone(const WarpGraph *graph, WarpGraph **clone);
/* The clone of a node in a graph or its children, or NULL. */
WarpNode *warp_graph_find_clone(WarpGraph *clone, const WarpNode *original);
bool warp_graph_has_memory(const WarpGraph *graph);
/* Does a capture add to it, or to a graph that is a node in it? */
bool warp_graph_is_captured(const WarpGraph *graph);

int warp_graph_add(WarpGraph *graph, const WarpNodeSet *dependencies, const WarpWork *work, WarpNode **node);
int warp_node_change(WarpNode *node, const WarpWork *work);
/* Its place among those of its graph. */
size_t warp_node_index(const WarpNode *node);
/* Takes it out of its graph. */
int warp_node_destroy(WarpNode *node);
int warp_node_connect(WarpNode *from, WarpNode *to);
int warp_node_disconnect(WarpNode *from, WarpNode *to);
/* Is `node` one of `set`, or does one of these depend on it? */
bool warp_node_is_before(const WarpNode *node, const WarpNodeSet *set);

/* Finds graph->order: of the nodes that may run, the one that was made first. NULL, or a node of a cycle. */
WarpNode *warp_graph_sort(WarpGraph *graph);
int warp_graph_run(WarpGraph *graph);
/* Its nodes, behind those items, and last an item that is done when all of them are. */
int warp_graph_add_to(WarpGraph *graph, struct WorkList *list, const uint32_t *behind, uint32_t count);
/* A text for Graphviz. */
int warp_graph_write_dot(const WarpGraph *graph, const char *path, bool is_verbose);

#endif
