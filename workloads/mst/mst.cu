// The minimum spanning forest of a graph by Boruvka's algorithm. Each component is a tree of nodes that point
// towards its root. In a round each component finds its lightest edge to another one, and the components at its
// ends are merged. In the end few components are left: all look at the same few roots, and each at edges of its
// own.
#include "../cuda.h"

// All weights differ, and are less than this.
#define NO_EDGE 0x7f7f7f7f

// The root of a node's component. Each second node on the way gets to point to the one after the next. A cache may have
// an older pointer; it too leads towards the root, but may end at a node that is none any more.
static inline __device__ int find_root(int *parent, int node) {
    int above = parent[node];
#pragma unroll 1
    while (above != node) {
        int next = parent[above];
        if (next == above) return above;
        parent[node] = next;
        node = next;
        above = parent[node];
    }
    return node;
}

// Each node's lightest edge to another component, and the weight of each component's.
extern "C" __global__ void mst_find(const int *row, const int *col, const int *weights, int *parent,
                                    int *node_edge, int *component_weight, int nodes) {
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= nodes) return;
    int root = find_root(parent, node), lightest = NO_EDGE, lightest_edge = -1;
    int end = row[node + 1];
#pragma unroll 1
    for (int edge = row[node]; edge < end; edge++) {
        int weight = weights[edge];
        if (weight < lightest && find_root(parent, col[edge]) != root) {
            lightest = weight;
            lightest_edge = edge;
        }
    }
    node_edge[node] = lightest_edge;
    if (lightest_edge >= 0) atomicMin(&component_weight[root], lightest);
}

// The node that has its component's lightest edge claims the component for it.
extern "C" __global__ void mst_claim(const int *weights, int *parent, const int *node_edge,
                                     const int *component_weight, int *claim, int nodes) {
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= nodes) return;
    int edge = node_edge[node];
    if (edge < 0) return;
    int root = find_root(parent, node);
    if (weights[edge] == component_weight[root]) atomicCAS(&claim[root], -1, edge);
}

// Where two components have claimed the same edge, the claim of the one with the greater root falls.
extern "C" __global__ void mst_check(const int *col, int *parent, const int *component_weight, int *claim,
                                     int nodes) {
    int root = blockIdx.x * blockDim.x + threadIdx.x;
    if (root >= nodes || claim[root] < 0) return;
    int other = find_root(parent, col[claim[root]]);
    if (root > other && component_weight[root] == component_weight[other]) claim[root] = -1;
}

// Merges along the claimed edges, and lists these. The smaller root gets to point to the greater one, so that
// pointers never lead in a circle. Who finds that the smaller one is a root no more tries again in the next launch.
extern "C" __global__ void mst_merge(const int *col, int *parent, int *claim, const int *number, int *tree,
                                     int *tree_edges, int *again, int nodes) {
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= nodes) return;
    int edge = claim[node];
    if (edge < 0) return;
    int a = find_root(parent, node), b = find_root(parent, col[edge]);
    int smaller = a < b ? a : b, greater = a < b ? b : a;
    if (atomicCAS(&parent[smaller], smaller, greater) == smaller) {
        tree[atomicAdd(tree_edges, 1)] = number[edge];
        claim[node] = -1;
    } else {
        *again = 1;
    }
}
