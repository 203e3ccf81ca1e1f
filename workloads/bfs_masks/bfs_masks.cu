// Breadth-first search with masks: two launches a level. The first goes along the edges of the nodes on the
// frontier, the second makes what they have found the next frontier. A thread per node, a byte per node and mask.
#include "../cuda.h"

struct Node {
    int first, degree; // of its edges
};

// Threads that reach a node in the same level race to write the same values.
extern "C" __global__ void bfs_expand(const Node *nodes, const int *edges, unsigned char *frontier, unsigned char *found,
                                      const unsigned char *visited, int *cost, int count) {
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= count || !frontier[node]) return;
    frontier[node] = 0;
    Node own = nodes[node];
#pragma unroll 1
    for (int e = own.first; e < own.first + own.degree; e++) {
        int neighbor = edges[e];
        if (!visited[neighbor]) {
            cost[neighbor] = cost[node] + 1;
            found[neighbor] = 1;
        }
    }
}

extern "C" __global__ void bfs_advance(unsigned char *frontier, unsigned char *found, unsigned char *visited, int *again,
                                       int count) {
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= count || !found[node]) return;
    found[node] = 0;
    frontier[node] = 1;
    visited[node] = 1;
    *again = 1;
}
