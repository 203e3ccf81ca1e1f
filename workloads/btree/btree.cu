// Look-ups in a B+ tree of up to 256 keys a node. A CTA of 256 threads takes a query down the tree: each thread
// compares the query's key with two neighbouring keys of the node, and the one that finds it between them tells
// the others, through global memory, where the query goes on.
#include "../cuda.h"

#define ORDER 256

// Child i is of the keys from keys[i] up to, but without, keys[i + 1]. Those of a leaf are records.
struct Node {
    int number;
    int children[ORDER + 1];
    int keys[ORDER + 1];
    int is_leaf, count;
};

extern "C" __global__ void find_records(const Node *nodes, const int *records, const int *queries,
                                        int *current, int *next, int *answers, int height) {
    int query = blockIdx.x, thread = threadIdx.x;
    int key = queries[query];
#pragma unroll 1
    for (int level = 1; level < height; level++) {
        const Node *node = &nodes[current[query]];
        if (node->keys[thread] <= key && key < node->keys[thread + 1]) next[query] = node->children[thread];
        __syncthreads();
        if (thread == 0) current[query] = next[query];
        __syncthreads();
    }
    const Node *leaf = &nodes[current[query]];
    if (leaf->keys[thread] == key) answers[query] = records[leaf->children[thread]];
}
