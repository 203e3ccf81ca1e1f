// The longest matches of many short reads in a reference, from every base of a read on, through the reference's suffix
// tree. One thread per read. Near the root all lanes fetch the same nodes, below each fetches its own.
#include "../cuda.h"

#define WIDTH 1024 // of the textures of nodes

struct Match {
    int node, length; // the first node at or below the end of the match
};

static inline __device__ int4 fetch_record(cudaTextureObject_t texture, int node) {
    return tex2D<int4>(texture, node % WIDTH, node / WIDTH);
}

// A node's record is where the label of the edge to it starts and stops in the reference, and its suffix link. The
// records of children are in a texture of their own. A match has at least `shortest` bases left to go.
extern "C" __global__ void mummer(cudaTextureObject_t nodes, cudaTextureObject_t children,
                                  cudaTextureObject_t reference, const unsigned char *reads, Match *matches,
                                  int count, int read_length, int shortest) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    if (thread >= count) return;
    const unsigned char *read = &reads[thread * read_length];
    int starts = read_length - shortest + 1;
    Match *match = &matches[thread * starts];

    int node = 0, link = 0, depth = 0; // of the last node on the way
    int known = 0;                     // bases below it that are known to match
#pragma unroll 1
    for (int start = 0; start < starts; start++) {
        int end = node, beyond = 0; // of the match: a node, and bases below the last one
#pragma unroll 1
        while (start + depth < read_length) {
            const unsigned char *rest = &read[start + depth];
            int4 below = fetch_record(children, node);
            int base = rest[0];
            int child = base < 2 ? (base == 0 ? below.x : below.y) : (base == 2 ? below.z : below.w);
            if (child == 0) break;
            int4 edge = fetch_record(nodes, child);
            int label = edge.y - edge.x, left = read_length - start - depth;
            int most = label < left ? label : left, same = known < label ? known : label;
            known -= same;
            if (same == 0) same = 1; // the edge was chosen by its first base
#pragma unroll 1
            while (same < most && tex1Dfetch<unsigned char>(reference, edge.x + same) == rest[same])
                same++;
            end = child;
            if (same < label) {
                beyond = same;
                break;
            }
            node = child;
            link = edge.z;
            depth += label;
        }
        match[start].node = end;
        match[start].length = depth + beyond;

        // On to the same path without its first base.
        if (node == 0) {
            known = beyond > 0 ? beyond - 1 : 0;
        } else {
            known = beyond;
            depth--;
            node = link;
            link = node == 0 ? 0 : fetch_record(nodes, node).z;
        }
    }
}
