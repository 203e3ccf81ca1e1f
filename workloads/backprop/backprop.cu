// Back propagation in a network with many inputs and 16 hidden units. Weights are (inputs + 1) rows of 17 floats: row 0
// and column 0 belong to the bias. One CTA of 16 x 16 threads for every 16 inputs, one weight per thread; a warp has
// two pieces of 64 B, 68 B apart.
#include "../cuda.h"

#define HIDDEN 16
#define ROW (HIDDEN + 1)

// Forward: the products of 16 inputs with their weights, and their sum for each hidden unit. The products, partly
// added up, replace the weights.
extern "C" __global__ void backprop_forward(const float *input, float *weights, float *partial) {
    __shared__ float inputs[HIDDEN];
    __shared__ float products[HIDDEN][HIDDEN];
    int x = threadIdx.x, y = threadIdx.y, block = blockIdx.y;
    int first = block * HIDDEN + 1;
    int at = (first + y) * ROW + 1 + x;

    if (x == 0) inputs[y] = input[first + y];
    __syncthreads();
    products[y][x] = weights[at];
    __syncthreads();
    products[y][x] = products[y][x] * inputs[y];
    __syncthreads();

    // The bounds and powers of two are computed in floating point, as the program does whose load this is.
#pragma unroll 1
    for (int i = 1; i <= __log2f((float)HIDDEN); i++) {
        int power = (int)exp2f((float)i * __log2f(2.0f));
        if (y % power == 0) products[y][x] += products[y + power / 2][x];
        __syncthreads();
    }

    weights[at] = products[y][x];
    __syncthreads();
    if (x == 0) partial[block * HIDDEN + y] = products[x][y];
}

// Backward: every weight moves by its delta and input, and by a part of its last change.
extern "C" __global__ void backprop_adjust(const float *delta, const float *input, float *weights, float *change) {
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * HIDDEN + 1 + y, column = x + 1;
    int at = row * ROW + column;

    weights[at] += fmaf(0.3f * delta[column], input[row], 0.3f * change[at]);
    change[at] = fmaf(0.3f * delta[column], input[row], 0.3f * change[at]);
    __syncthreads();
    if (y == 0 && blockIdx.y == 0) {
        weights[column] += fmaf(0.3f, delta[column], 0.3f * change[column]);
        change[column] = fmaf(0.3f, delta[column], 0.3f * change[column]);
    }
}
