// y = alpha A x for a matrix A of m rows and n columns, stored column by column. A thread makes one element
// of y and so reads along a row of A, coalesced with its neighbours; PART elements of x at a time lie in
// shared memory, in one buffer in all versions. m and n are multiples of THREADS and PART.
//
// sgemv_plain: all warps bring a part of x together. sgemv_d2ma: the engine does. sgemv_cudadma: a fifth warp
// brings it and does nothing else; it and the four that compute hand the buffer to and fro by two named
// barriers.
#include "../cuda.h"
#include "../dma.h"

#define THREADS     128
#define PART        128
#define ALL_THREADS (THREADS + 32)

// Goes on along the row by a part.
static inline __device__ float dot(const float **A, const float *part, int m, float sum) {
#pragma unroll 8
    for (int j = 0; j < PART; j++) {
        sum = fmaf(**A, part[j], sum);
        *A += m;
    }
    return sum;
}

extern "C" __global__ void sgemv_plain(const float *A, const float *x, float *y, int m, int n, float alpha) {
    __shared__ float part[PART];
    int row = blockIdx.x * THREADS + threadIdx.x;
    A += row;
    float sum = 0;
    for (int j = 0; j < n; j += PART) {
        dma_mark_tile_begin(0);
        part[threadIdx.x] = x[j + threadIdx.x];
        dma_mark_tile_end(0);
        __syncthreads();
        sum = dot(&A, part, m, sum);
        __syncthreads();
    }
    y[row] = alpha * sum;
}

extern "C" __global__ void sgemv_d2ma(const float *A, const float *x, float *y, int m, int n, float alpha) {
    __shared__ float part[PART];
    dma_set_datatype_float();
    dma_configure_flat_unit_stride(part, x, PART, 0);
    int row = blockIdx.x * THREADS + threadIdx.x;
    A += row;
    float sum = dot(&A, part, m, 0);
    for (int j = PART; j < n; j += PART) {
        __syncthreads();
        dma_execute(part, x + j, 0);
        sum = dot(&A, part, m, sum);
    }
    y[row] = alpha * sum;
}

// Barriers 1 and 2: 0 is that of __syncthreads().
static inline __device__ void say_empty() {
    asm volatile("bar.arrive 1, %0;" ::"n"(ALL_THREADS) : "memory");
}
static inline __device__ void await_empty() {
    asm volatile("bar.sync 1, %0;" ::"n"(ALL_THREADS) : "memory");
}
static inline __device__ void say_full() {
    asm volatile("bar.arrive 2, %0;" ::"n"(ALL_THREADS) : "memory");
}
static inline __device__ void await_full() {
    asm volatile("bar.sync 2, %0;" ::"n"(ALL_THREADS) : "memory");
}

extern "C" __global__ void sgemv_cudadma(const float *A, const float *x, float *y, int m, int n,
                                         float alpha) {
    __shared__ float part[PART];
    int thread = threadIdx.x;
    if (thread >= THREADS) {
        x += thread - THREADS;
        for (int j = 0; j < n; j += PART) {
            float values[PART / 32];
#pragma unroll
            for (int i = 0; i < PART / 32; i++)
                values[i] = x[j + 32 * i];
            await_empty();
#pragma unroll
            for (int i = 0; i < PART / 32; i++)
                part[thread - THREADS + 32 * i] = values[i];
            say_full();
        }
        return;
    }
    int row = blockIdx.x * THREADS + thread;
    A += row;
    float sum = 0;
    for (int j = 0; j < n; j += PART) {
        say_empty();
        await_full();
        sum = dot(&A, part, m, sum);
    }
    y[row] = alpha * sum;
}
