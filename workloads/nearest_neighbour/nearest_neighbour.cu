// How far each of many places is from one of them: a record of two coordinates and one distance per thread. Loads
// of eight bytes a lane, two lines a warp, and stores of one line; nothing is used twice.
#include "../cuda.h"

extern "C" __global__ void find_distances(const float2 *places, float *distance, int count, float latitude,
                                          float longitude) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float2 place = places[i];
    float up = place.x - latitude, right = place.y - longitude;
    distance[i] = sqrtf(fmaf(up, up, right * right));
}
