// The assignment step of k-means, one point per thread: the index of the nearest centroid.
// A point's features lie side by side, so the lanes of a warp, each at its own point, read many lines with
// every load; and the features are read again for every centroid. A warp therefore comes back to each of its
// lines many times, and finds it only if the other warps of the SM have left it in the cache.
#include "../cuda.h"

extern "C" __global__ void kmeans_assign(const float *features, const float *centroids, int *membership,
                                         int points, int clusters, int feature_count) {
    int point = blockIdx.x * blockDim.x + threadIdx.x;
    if (point >= points) return;

    const float *own = &features[point * feature_count];
    float nearest_distance = 3.4e38f;
    int nearest = 0;
#pragma unroll 1
    for (int c = 0; c < clusters; c++) {
        float distance = 0;
#pragma unroll 1
        for (int f = 0; f < feature_count; f++) {
            float difference = own[f] - centroids[c * feature_count + f];
            distance = fmaf(difference, difference, distance);
        }
        if (distance < nearest_distance) {
            nearest_distance = distance;
            nearest = c;
        }
    }
    membership[point] = nearest;
}
