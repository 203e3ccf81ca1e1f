// What it would gain to make point x a centre of a clustering: one point per thread. Coordinates are stored dimension by
// dimension, so that those of a point are as far apart as there are points, and with a power of two of points all of them
// fall into the same set of a cache.
#include "../cuda.h"

struct Point {
    float weight;
    int assignment; // the point that is its centre
    float cost;     // weight times the squared distance to that
    int padding[5];
};

// work: K + 1 sums for each point: of its present centre what that would lose, and the last one what x would win.
extern "C" __global__ void streamcluster_gain(const float *coordinates, const Point *points, const int *center_table,
                                              int *switches, float *work, int count, int dimensions, int centers, int x) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= count) return;

    float distance = 0;
#pragma unroll 1
    for (int d = 0; d < dimensions; d++) {
        float difference = coordinates[d * count + p] - coordinates[d * count + x];
        distance = fmaf(difference, difference, distance);
    }
    float cost_at_x = distance * points[p].weight;
    float cost = points[p].cost;
    float *own = &work[p * (centers + 1)];
    if (cost_at_x < cost) {
        switches[p] = 1;
        own[centers] += cost_at_x - cost;
    } else {
        own[center_table[points[p].assignment]] += cost - cost_at_x;
    }
}
