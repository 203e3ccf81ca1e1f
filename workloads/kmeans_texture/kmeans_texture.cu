// The assignment step of k-means, one point per thread: the index of the nearest centroid. Features are stored feature
// by feature, so that the lanes of a warp read a line at a time, and read through a texture; centroids are in constant
// memory, where all lanes read the same one.
#include "../cuda.h"

#define CENTROIDS 4096 // clusters times features

__constant__ float centroids[CENTROIDS];

extern "C" __global__ void where_is_centroids(unsigned long *answer) {
    *answer = (unsigned long)centroids;
}

extern "C" __global__ void kmeans_texture(cudaTextureObject_t features, int *membership, int points,
                                          int clusters, int feature_count) {
    int point = (blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x;
    if (point >= points) return;

    float nearest_distance = 3.4e38f;
    int nearest = 0;
#pragma unroll 1
    for (int c = 0; c < clusters; c++) {
        float distance = 0;
#pragma unroll 1
        for (int f = 0; f < feature_count; f++) {
            float difference = tex1Dfetch<float>(features, f * points + point) -
                               centroids[c * feature_count + f];
            distance = fmaf(difference, difference, distance);
        }
        if (distance < nearest_distance) {
            nearest_distance = distance;
            nearest = c;
        }
    }
    membership[point] = nearest;
}
