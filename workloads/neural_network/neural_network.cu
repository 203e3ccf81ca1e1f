// A neural network that reads digits, one launch for each of its layers and all images: two layers of convolutions
// at every second place, then two in which every neuron has all of the last layer's. A CTA is one map of features
// of one image, and in the last two layers one neuron, of a single thread. All threads of a CTA use the same
// weights. The first weight of a neuron is for the bias.
#include "../cuda.h"

#define TAPS 5 // rows and columns of a convolution

static inline __device__ float activation(float x) {
    return 1.7159f * (1.0f - 2.0f / (__expf(1.3333333f * x) + 1.0f));
}

// One value of a map of features: `depth` maps of width x width values convolved at (2 x, 2 y).
static inline __device__ float convolved(const float *maps, const float *weights, int depth, int width, int x,
                                         int y) {
    float sum = weights[0];
    int weight = 1;
#pragma unroll 1
    for (int map = 0; map < depth; map++) {
        const float *from = &maps[(map * width + 2 * y) * width + 2 * x];
#pragma unroll 1
        for (int row = 0; row < TAPS; row++)
#pragma unroll
            for (int column = 0; column < TAPS; column++)
                sum = fmaf(from[row * width + column], weights[weight++], sum);
    }
    return activation(sum);
}

// CTA (feature, image) has a thread for each value of the map it makes.
extern "C" __global__ void convolve(const float *in, const float *weights, float *out, int depth, int width) {
    int feature = blockIdx.x, features = gridDim.x, image = blockIdx.y;
    int x = threadIdx.x, y = threadIdx.y, side = blockDim.x;
    float value = convolved(&in[image * depth * width * width], &weights[feature * (depth * TAPS * TAPS + 1)],
                            depth, width, x, y);
    out[((image * features + feature) * side + y) * side + x] = value;
}

// CTA (neuron, image) is one thread.
extern "C" __global__ void connect(const float *in, const float *weights, float *out, int inputs) {
    int neuron = blockIdx.x, neurons = gridDim.x, image = blockIdx.y;
    const float *from = &in[image * inputs], *own = &weights[neuron * (inputs + 1)];
    float sum = own[0];
#pragma unroll 1
    for (int i = 0; i < inputs; i++)
        sum = fmaf(from[i], own[i + 1], sum);
    out[image * neurons + neuron] = activation(sum);
}
