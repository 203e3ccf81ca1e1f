// Shortest paths from one node, driven by topology: in each launch every thread relaxes all edges of the nodes that it
// owns, whether their distances have changed or not. The edges of a node are destinations[first] ... and stand in
// neighbouring lines, to which the thread comes back; the distances of the destinations are anywhere.
#include "../cuda.h"

template <bool weighted>
static inline __device__ void relax(const int *first, const int *degree, const int *destinations,
                                    const int *weights, int *distance, int *changed, int nodes, int run) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int node = thread * run, end = node + run < nodes ? node + run : nodes;
#pragma unroll 1
    for (; node < end; node++) {
        int from = distance[node], edge = first[node], edges_end = edge + degree[node];
#pragma unroll 1
        for (; edge < edges_end; edge++) {
            int to = destinations[edge];
            int alternative = from + (weighted ? weights[edge] : 1);
            // The cache may hold an older and larger distance. What counts is what memory had.
            if (alternative < distance[to] && alternative < atomicMin(&distance[to], alternative))
                *changed = 1;
        }
    }
}

extern "C" __global__ void sssp_relax(const int *first, const int *degree, const int *destinations,
                                      const int *weights, int *distance, int *changed, int nodes, int run) {
    relax<true>(first, degree, destinations, weights, distance, changed, nodes, run);
}

// All weights are 1: breadth-first search.
extern "C" __global__ void sssp_relax_hops(const int *first, const int *degree, const int *destinations,
                                           int *distance, int *changed, int nodes, int run) {
    relax<false>(first, degree, destinations, nullptr, distance, changed, nodes, run);
}
