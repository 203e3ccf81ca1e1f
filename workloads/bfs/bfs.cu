// One level of a breadth-first search, one node per thread. The graph is in compressed rows: the out-edges of
// node v lead to neighbors[e] for edge_offsets[v] <= e < edge_offsets[v + 1]. cost is a node's distance from
// the source, -1 where unknown. Threads that reach a node in the same level race to write the same value, so
// the result does not depend on who wins.
#include "../cuda.h"

extern "C" __global__ void bfs_level(const int *edge_offsets, const int *neighbors, int *cost, int *again,
                                     int level, int nodes) {
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= nodes || cost[node] != level) return;

    int end = edge_offsets[node + 1];
#pragma unroll 1
    for (int e = edge_offsets[node]; e < end; e++) {
        int neighbor = neighbors[e];
        if (cost[neighbor] < 0) {
            cost[neighbor] = level + 1;
            *again = 1;
        }
    }
}
