/* Nodes of a graph, each once, in the order in which they came. */
#ifndef WW_CUDA_NODE_SET_H
#define WW_CUDA_NODE_SET_H

#include <stdbool.h>
#include <stddef.h>

struct WarpNode;

typedef struct {
    struct WarpNode **at;
    size_t count, capacity;
} WarpNodeSet;

bool warp_nodes_have(const WarpNodeSet *set, const struct WarpNode *node);
void warp_nodes_add(WarpNodeSet *set, struct WarpNode *node);
void warp_nodes_add_all(WarpNodeSet *set, const WarpNodeSet *more);
bool warp_nodes_remove(WarpNodeSet *set, const struct WarpNode *node);
void warp_nodes_free(WarpNodeSet *set);

#endif
