// y = alpha A x for a matrix A of m rows and n columns, stored column by column. A thread makes one element
// of y and so reads along a row of A, coalesced with its neighbours; PART elements of x at a time lie in
// shared memory, in one buffer in all versions. m and n are multiples of THREADS and PART.
//
// sgemv_plain: all warps bring a part of x together. sgemv_d2ma: the engine does. sgemv_cudadma: a fifth warp
// brings it and does nothing else; it and the four that compute hand the buffer to and fro by two named
// barriers. It loads the next part into registers while the buffer is in use; in sgemv_cudadma_single it
// waits for the buffer first.
//
// These have parts of 128, and use each element of A before they load the next. Those named sgemv_partP_...
// have parts of P and load 8 elements of A before they use them, as an assembler that orders instructions for
// an in-order machine does with an unrolled loop.
#include "../cuda.h"
#include "../dma.h"

#define THREADS     128
#define ALL_THREADS (THREADS + 32)

// Goes on along the row by a part.
template <int PART, bool AHEAD>
static inline __device__ float dot(const float **A, const float *part, int m, float sum) {
    if (AHEAD) {
#pragma unroll 1
        for (int j = 0; j < PART; j += 8) {
            float a[8];
#pragma unroll
            for (int i = 0; i < 8; i++)
                a[i] = (*A)[i * m];
#pragma unroll
            for (int i = 0; i < 8; i++)
                sum = fmaf(a[i], part[j + i], sum);
            *A += 8 * m;
        }
    } else {
#pragma unroll 8
        for (int j = 0; j < PART; j++) {
            sum = fmaf(**A, part[j], sum);
            *A += m;
        }
    }
    return sum;
}

template <int PART, bool AHEAD>
static inline __device__ void plain(const float *A, const float *x, float *y, int m, int n, float alpha) {
    __shared__ float part[PART];
    int row = blockIdx.x * THREADS + threadIdx.x;
    A += row;
    float sum = 0;
    for (int j = 0; j < n; j += PART) {
        dma_mark_tile_begin(0);
        if (PART == THREADS || threadIdx.x < PART) part[threadIdx.x] = x[j + threadIdx.x];
        dma_mark_tile_end(0);
        __syncthreads();
        sum = dot<PART, AHEAD>(&A, part, m, sum);
        __syncthreads();
    }
    y[row] = alpha * sum;
}

template <int PART, bool AHEAD>
static inline __device__ void d2ma(const float *A, const float *x, float *y, int m, int n, float alpha) {
    __shared__ float part[PART];
    dma_set_datatype_float();
    dma_configure_flat_unit_stride(part, x, PART, 0);
    int row = blockIdx.x * THREADS + threadIdx.x;
    A += row;
    float sum = dot<PART, AHEAD>(&A, part, m, 0);
    for (int j = PART; j < n; j += PART) {
        __syncthreads();
        dma_execute(part, x + j, 0);
        sum = dot<PART, AHEAD>(&A, part, m, sum);
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

template <int PART, bool SINGLE>
static inline __device__ void transfer(float *part, const float *x, int n) {
    for (int j = 0; j < n; j += PART) {
        float values[PART / 32];
        if (SINGLE) await_empty();
#pragma unroll
        for (int i = 0; i < PART / 32; i++)
            values[i] = x[j + 32 * i];
        if (!SINGLE) await_empty();
#pragma unroll
        for (int i = 0; i < PART / 32; i++)
            part[32 * i] = values[i];
        say_full();
    }
}

template <int PART, bool AHEAD, bool SINGLE>
static inline __device__ void cudadma(const float *A, const float *x, float *y, int m, int n, float alpha) {
    __shared__ float part[PART];
    int thread = threadIdx.x;
    if (thread >= THREADS) {
        transfer<PART, SINGLE>(part + thread - THREADS, x + thread - THREADS, n);
        return;
    }
    int row = blockIdx.x * THREADS + thread;
    A += row;
    float sum = 0;
    for (int j = 0; j < n; j += PART) {
        say_empty();
        await_full();
        sum = dot<PART, AHEAD>(&A, part, m, sum);
    }
    y[row] = alpha * sum;
}

#define SGEMV(NAME, ...)                                                                                     \
    extern "C" __global__ void NAME(const float *A, const float *x, float *y, int m, int n, float alpha) {   \
        __VA_ARGS__(A, x, y, m, n, alpha);                                                                   \
    }

SGEMV(sgemv_plain, plain<128, false>)
SGEMV(sgemv_d2ma, d2ma<128, false>)
SGEMV(sgemv_cudadma, cudadma<128, false, false>)
SGEMV(sgemv_cudadma_single, cudadma<128, false, true>)

#define OF_PART(PART)                                                                                        \
    SGEMV(sgemv_part##PART##_plain, plain<PART, true>)                                                       \
    SGEMV(sgemv_part##PART##_d2ma, d2ma<PART, true>)                                                         \
    SGEMV(sgemv_part##PART##_cudadma, cudadma<PART, true, false>)                                            \
    SGEMV(sgemv_part##PART##_cudadma_single, cudadma<PART, true, true>)

OF_PART(32)
OF_PART(64)
OF_PART(128)
