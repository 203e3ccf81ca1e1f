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

// The same with masks, a byte for each node, and two launches a level. bfs_visit: the nodes of the frontier give
// their unvisited neighbours a cost and mark them. bfs_advance: those that are marked are the next frontier.
struct Node {
    int first, degree; // of its edges
};

extern "C" __global__ void bfs_visit(const Node *nodes, const int *neighbors, unsigned char *frontier,
                                     unsigned char *marked, const unsigned char *visited, int *cost, int count) {
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= count || !frontier[node]) return;

    frontier[node] = 0;
#pragma unroll 1
    for (int e = nodes[node].first; e < nodes[node].first + nodes[node].degree; e++) {
        int neighbor = neighbors[e];
        if (!visited[neighbor]) {
            cost[neighbor] = cost[node] + 1;
            marked[neighbor] = 1;
        }
    }
}

extern "C" __global__ void bfs_advance(unsigned char *frontier, unsigned char *marked, unsigned char *visited,
                                       int *again, int count) {
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= count || !marked[node]) return;

    frontier[node] = 1;
    visited[node] = 1;
    marked[node] = 0;
    *again = 1;
}
