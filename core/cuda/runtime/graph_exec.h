/* Graphs that can be launched: a clone of the graph that was instantiated, whose nodes are found by those of that
 * graph. Between warp_enter() and warp_leave(); those that return int return 0 or an error code. */
#ifndef WW_CUDA_GRAPH_EXEC_H
#define WW_CUDA_GRAPH_EXEC_H

#include "core/cuda/runtime/graph.h"

typedef struct {
    unsigned launches; /* that run now: host functions give the turn away */
    bool is_destroyed; /* it ends with the last of them */
    uint64_t flags;
    WarpGraph *graph;
} WarpExec;

/* Of an update that was refused: why, by number in both APIs, and the nodes that differ. */
typedef struct {
    int result;
    WarpNode *node, *launched;
} ExecDifference;

/* `stuck`: a node of a cycle, or NULL. */
int warp_exec_new(WarpGraph *graph, uint64_t flags, WarpExec **exec, WarpNode **stuck);
WarpExec *warp_exec(void *handle);
int warp_exec_free(WarpExec *exec);
/* The node that `node` of the instantiated graph has become, or NULL. */
WarpNode *warp_exec_node(WarpExec *exec, const WarpNode *node);
/* Gives the nodes of `graph`, which is to be launched, the work of those of a graph of the same structure. */
int warp_exec_update(WarpGraph *graph, const WarpGraph *as, ExecDifference *difference);
int warp_exec_launch(WarpExec *exec, void *stream);

#endif
