// Forces between bodies by the Barnes-Hut algorithm. Bodies and the cells of an octree are numbered together,
// bodies first and in the tree's order, so that the bodies of a warp are near each other. A warp walks through the
// tree as one: a cell that is too near to any of its bodies is opened, all others act as a body in their centre of
// mass. So the lanes load the same words, and what a warp loads depends on where its bodies are.
#include "../cuda.h"

#define THREADS 256
#define WARP    32
#define DEPTH   32

// Accelerations. children has eight nodes of each cell, the ones that are there first, then -1. Cells at a depth of
// the walk may act as bodies from the square root of opening[depth] on. The stack of a warp says how far it is in
// which cell.
extern "C" __global__ void barnes_hut_force(const int *children, const float *x, const float *y,
                                            const float *z, const float *mass, const float *opening,
                                            float *force_x, float *force_y, float *force_z, int bodies,
                                            int root, float softening) {
    __shared__ int stack_cell[THREADS / WARP][DEPTH], stack_position[THREADS / WARP][DEPTH];
    __shared__ float opening_at[DEPTH];
    if (threadIdx.x < DEPTH) opening_at[threadIdx.x] = opening[threadIdx.x];
    __syncthreads();
    int *cell = stack_cell[threadIdx.x / WARP], *position = stack_position[threadIdx.x / WARP];
    bool first_lane = threadIdx.x % WARP == 0;

#pragma unroll 1
    for (int body = blockIdx.x * blockDim.x + threadIdx.x; body < bodies; body += gridDim.x * blockDim.x) {
        float own_x = x[body], own_y = y[body], own_z = z[body], sum_x = 0, sum_y = 0, sum_z = 0;
        int depth = 0;
        if (first_lane) {
            cell[0] = root;
            position[0] = 0;
        }
        forget_memory();
#pragma unroll 1
        while (depth >= 0) {
            int at = position[depth];
            int node = at < 8 ? children[8 * (cell[depth] - bodies) + at] : -1;
            if (node < 0) {
                depth--;
                continue;
            }
            if (first_lane) position[depth] = at + 1;
            forget_memory();
            float to_x = x[node] - own_x, to_y = y[node] - own_y, to_z = z[node] - own_z;
            float square = fmaf(to_x, to_x, fmaf(to_y, to_y, fmaf(to_z, to_z, softening)));
            if (node < bodies || __all(square >= opening_at[depth])) {
                float inverse = rsqrtf(square);
                float pull = mass[node] * inverse * inverse * inverse;
                sum_x = fmaf(to_x, pull, sum_x);
                sum_y = fmaf(to_y, pull, sum_y);
                sum_z = fmaf(to_z, pull, sum_z);
            } else {
                depth++;
                if (first_lane) {
                    cell[depth] = node;
                    position[depth] = 0;
                }
                forget_memory();
            }
        }
        force_x[body] = sum_x;
        force_y[body] = sum_y;
        force_z[body] = sum_z;
    }
}
