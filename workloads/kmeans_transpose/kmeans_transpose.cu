// The first kernel of a k-means program: features from point by point to feature by feature, one point per
// thread. The lanes of a warp are a point's features apart, so each load reads as many lines as there are lanes,
// and each of these lines serves the next loads of its own lane, if the cache keeps it that long. The stores are
// coalesced.
#include "../cuda.h"

extern "C" __global__ void kmeans_transpose(const float *in, float *out, int points, int feature_count) {
    int point = blockIdx.x * blockDim.x + threadIdx.x;
    if (point >= points) return;

#pragma unroll 1
    for (int f = 0; f < feature_count; f++)
        out[f * points + point] = in[point * feature_count + f];
}
