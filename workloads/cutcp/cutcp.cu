// The electric potential at the points of a lattice, of charged atoms nearer than a cutoff. Atoms are sorted into bins,
// cubes as wide as eight points. A CTA of 8 x 2 x 8 threads computes 8 x 8 x 8 points, four per thread, from the bins
// near its own; their list, as distances in memory, is in constant memory. 32 bins at a time go to shared memory.
#include "../cuda.h"

#define SIDE       8 // points of a CTA along each axis
#define BIN        8 // places for atoms in a bin; those without a charge are empty and come last
#define BIN_WORDS  (4 * BIN)
#define AT_A_TIME  32 // bins in shared memory
#define POINTS     4  // of a thread
#define NEIGHBOURS 1024

__constant__ int neighbours[NEIGHBOURS];

extern "C" __global__ void where_is_neighbours(unsigned long *answer) {
    *answer = (unsigned long)neighbours;
}

// `bins` begins `margin` bins before the first point along each axis.
extern "C" __global__ void cutcp(const float *bins, float *potential, int slab, int neighbour_count,
                                 int bins_x, int bins_y, int margin, float spacing, float square_of_cutoff) {
    __shared__ float4 atoms[AT_A_TIME * BIN];
    int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
    int thread = (z * 2 + y) * SIDE + x, warp = thread / 32, lane = thread % 32;
    int home = ((slab + margin) * bins_y + blockIdx.y + margin) * bins_x + blockIdx.x + margin;

    float at_x = (blockIdx.x * SIDE + x) * spacing, at_y = (blockIdx.y * SIDE + y) * spacing;
    float at_z = (slab * SIDE + z) * spacing, step = 2 * spacing;
    float inverse = 1 / square_of_cutoff;
    float sums[POINTS] = {};
#pragma unroll 1
    for (int first = 0; first < neighbour_count; first += AT_A_TIME) {
        int now = neighbour_count - first < AT_A_TIME ? neighbour_count - first : AT_A_TIME;
        __syncthreads();
#pragma unroll 1
        for (int i = warp; i < now; i += 4)
            ((float *)atoms)[i * BIN_WORDS + lane] = bins[(home + neighbours[first + i]) * BIN_WORDS + lane];
        __syncthreads();
#pragma unroll 1
        for (int i = 0; i < now; i++) {
#pragma unroll 1
            for (int j = 0; j < BIN; j++) {
                float4 atom = atoms[i * BIN + j];
                if (atom.w == 0) break;
                float dx = at_x - atom.x, dy = at_y - atom.y, dz = at_z - atom.z;
                float square_xz = fmaf(dx, dx, dz * dz);
#pragma unroll
                for (int p = 0; p < POINTS; p++) {
                    float square = fmaf(dy, dy, square_xz);
                    if (square < square_of_cutoff) {
                        float fade = fmaf(-square, inverse, 1.0f);
                        sums[p] = fmaf(atom.w * rsqrtf(square), fade * fade, sums[p]);
                    }
                    dy += step;
                }
            }
        }
    }
    int columns = gridDim.x * SIDE, rows = gridDim.y * SIDE;
    float *own =
        &potential[((slab * SIDE + z) * rows + blockIdx.y * SIDE + y) * columns + blockIdx.x * SIDE + x];
#pragma unroll
    for (int p = 0; p < POINTS; p++)
        own[2 * p * columns] = sums[p];
}
