// Three kernels that find white blood cells in a video and follow them. Images are stored column by column.
#include "../cuda.h"

#define POINTS  150 // of a circle
#define CIRCLES 7

// Where the points of the circles are, from their middle, and the cosines and sines of the angles to them.
__constant__ int point_column[CIRCLES * POINTS], point_row[CIRCLES * POINTS];
__constant__ float point_cosine[POINTS], point_sine[POINTS];

extern "C" __global__ void where_is_point_column(unsigned long *answer) {
    *answer = (unsigned long)point_column;
}
extern "C" __global__ void where_is_point_row(unsigned long *answer) {
    *answer = (unsigned long)point_row;
}
extern "C" __global__ void where_is_point_cosine(unsigned long *answer) {
    *answer = (unsigned long)point_cosine;
}
extern "C" __global__ void where_is_point_sine(unsigned long *answer) {
    *answer = (unsigned long)point_sine;
}

// How much the gradient points outwards on a circle around a pixel: the square of its mean over its variance, the
// largest of all circles. A CTA is a column, a thread a pixel; pixels nearer than `margin` to the edge have none.
static inline __device__ float score_of(float sum, float squares) {
    float mean = sum / POINTS;
    float variance = fmaf(-sum, mean, squares) / (POINTS - 1);
    return mean * mean / variance;
}

extern "C" __global__ void score_circles(cudaTextureObject_t gradient_x, cudaTextureObject_t gradient_y,
                                         float *score, int rows, int margin, int circles) {
    int column = blockIdx.x + margin, row = threadIdx.x + margin;
    float best = 0;
#pragma unroll 1
    for (int k = 0; k < circles; k++) {
        float sum = 0, squares = 0;
#pragma unroll 1
        for (int n = 0; n < POINTS; n++) {
            int at = (column + point_column[k * POINTS + n]) * rows + row + point_row[k * POINTS + n];
            float outwards = fmaf(tex1Dfetch<float>(gradient_x, at), point_cosine[n],
                                  tex1Dfetch<float>(gradient_y, at) * point_sine[n]);
            sum += outwards;
            squares = fmaf(outwards, outwards, squares);
        }
        float own = score_of(sum, squares);
        if (own > best) best = own;
    }
    score[column * rows + row] = best;
}

// The same with one gradient only, and cosines fetched from a texture: a fetch that all threads have in common.
extern "C" __global__ void score_circles_uniform(cudaTextureObject_t cosines, cudaTextureObject_t gradient_x,
                                                 float *score, int rows, int margin, int circles) {
    int column = blockIdx.x + margin, row = threadIdx.x + margin;
    float best = 0;
#pragma unroll 1
    for (int k = 0; k < circles; k++) {
        float sum = 0, squares = 0;
#pragma unroll 1
        for (int n = 0; n < POINTS; n++) {
            int at = (column + point_column[k * POINTS + n]) * rows + row + point_row[k * POINTS + n];
            float outwards = tex1Dfetch<float>(cosines, n) * tex1Dfetch<float>(gradient_x, at);
            sum += outwards;
            squares = fmaf(outwards, outwards, squares);
        }
        float own = score_of(sum, squares);
        if (own > best) best = own;
    }
    score[column * rows + row] = best;
}

#define ELEMENT 25 // pixels along each side

__constant__ int element[ELEMENT * ELEMENT];

extern "C" __global__ void where_is_element(unsigned long *answer) {
    *answer = (unsigned long)element;
}

// The largest value under the element around each pixel. A thread is a pixel.
extern "C" __global__ void dilate(cudaTextureObject_t image, float *dilated, int columns, int rows) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= columns * rows) return;
    int column = at / rows, row = at % rows;
    float largest = 0;
#pragma unroll 1
    for (int i = 0; i < ELEMENT; i++) {
        int x = column - ELEMENT / 2 + i;
        if (x < 0 || x >= columns) continue;
#pragma unroll 1
        for (int j = 0; j < ELEMENT; j++) {
            int y = row - ELEMENT / 2 + j;
            if (!element[i * ELEMENT + j] || y < 0 || y >= rows) continue;
            float value = tex1Dfetch<float>(image, x * rows + y);
            if (value > largest) largest = value;
        }
    }
    dilated[at] = largest;
}

#define HEIGHT  41 // of a cell's picture
#define WIDTH   81
#define PIXELS  (HEIGHT * WIDTH)
#define THREADS 320

static inline __device__ float arctangent(float x) {
    float size = x < 0 ? -x : x;
    float t = size > 1 ? 1 / size : size;
    float square = t * t;
    float sum = -0.01172120f;
    sum = fmaf(sum, square, 0.05265332f);
    sum = fmaf(sum, square, -0.11643287f);
    sum = fmaf(sum, square, 0.19354346f);
    sum = fmaf(sum, square, -0.33262347f);
    sum = fmaf(sum, square, 0.99997726f) * t;
    if (size > 1) sum = 1.5707963f - sum;
    return x < 0 ? -sum : sum;
}

// A difference to a neighbour, times a smooth step from 0 to 1: upwards counts, downwards hardly.
static inline __device__ float upwards(float difference, float sharpness) {
    return difference * fmaf(arctangent(difference * sharpness), 0.31830989f, 0.5f);
}

// Spreads the large values of a cell's picture, over and over until they change by less than `enough` in the mean.
// A CTA is a cell, all of it in shared memory.
extern "C" __global__ void spread_field(const float *pictures, float *fields, int *sweeps, int most_sweeps,
                                        float sharpness, float enough) {
    __shared__ float field[PIXELS], next[PIXELS], changes[THREADS];
    __shared__ int settled;
    const float *picture = &pictures[blockIdx.x * PIXELS];
    int thread = threadIdx.x;
#pragma unroll 1
    for (int i = thread; i < PIXELS; i += THREADS)
        field[i] = picture[i];
    if (thread == 0) settled = 0;
    __syncthreads();

    int sweep = 0;
#pragma unroll 1
    while (!settled && sweep < most_sweeps) {
#pragma unroll 1
        for (int i = thread; i < PIXELS; i += THREADS) {
            int row = i / WIDTH, column = i % WIDTH;
            int up = row == 0 ? 0 : -WIDTH, down = row == HEIGHT - 1 ? 0 : WIDTH;
            int left = column == 0 ? 0 : -1, right = column == WIDTH - 1 ? 0 : 1;
            float own = field[i];
            float sum = upwards(field[i + up + left] - own, sharpness) +
                        upwards(field[i + up] - own, sharpness);
            sum += upwards(field[i + up + right] - own, sharpness) +
                   upwards(field[i + left] - own, sharpness);
            sum += upwards(field[i + right] - own, sharpness) +
                   upwards(field[i + down + left] - own, sharpness);
            sum += upwards(field[i + down] - own, sharpness) +
                   upwards(field[i + down + right] - own, sharpness);
            float spread = fmaf(0.1f, sum, own), given = picture[i];
            next[i] = fmaf(-0.2f * given, spread - given, spread);
        }
        __syncthreads();

        float change = 0;
#pragma unroll 1
        for (int i = thread; i < PIXELS; i += THREADS) {
            change += __builtin_fabsf(next[i] - field[i]);
            field[i] = next[i];
        }
        changes[thread] = change;
#pragma unroll 1
        for (int half = 256; half > 0; half /= 2) {
            __syncthreads();
            if (thread < half && thread + half < THREADS) changes[thread] += changes[thread + half];
        }
        if (thread == 0) settled = changes[0] < enough * PIXELS;
        sweep++;
        __syncthreads();
    }

#pragma unroll 1
    for (int i = thread; i < PIXELS; i += THREADS)
        fields[blockIdx.x * PIXELS + i] = field[i];
    if (thread == 0) sweeps[blockIdx.x] = sweep;
}
