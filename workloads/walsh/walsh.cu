// The Walsh-Hadamard transform, in natural order and not scaled, of rows of 1024 elements. A CTA of 256
// threads takes a row into shared memory and makes two of its ten stages at a time: every thread has four
// elements.
//
// walsh_d2ma: the row comes without the threads' help.
#include "../cuda.h"
#include "../dma.h"

#define ROW     1024
#define THREADS 256

static inline __device__ void stages(float *row, float *out) {
    int thread = threadIdx.x;
#pragma unroll 1
    for (int stride = ROW / 4; stride > 0; stride >>= 2) {
        float *at = row + 4 * thread - 3 * (thread & (stride - 1));
        float a = at[0], b = at[stride], c = at[2 * stride], d = at[3 * stride];
        float ac = a + c, bd = b + d, a_c = a - c, b_d = b - d;
        at[0] = ac + bd;
        at[stride] = ac - bd;
        at[2 * stride] = a_c + b_d;
        at[3 * stride] = a_c - b_d;
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < ROW; i += THREADS)
        out[thread + i] = row[thread + i];
}

extern "C" __global__ void walsh_plain(const float *in, float *out) {
    __shared__ float row[ROW];
    dma_mark_tile_begin(0);
    int first = blockIdx.x * ROW, thread = threadIdx.x;
    in += first;
#pragma unroll
    for (int i = 0; i < ROW; i += THREADS)
        row[thread + i] = in[thread + i];
    dma_mark_tile_end(0);
    __syncthreads();
    stages(row, out + first);
}

extern "C" __global__ void walsh_d2ma(const float *in, float *out) {
    __shared__ float row[ROW];
    int first = blockIdx.x * ROW;
    dma_set_datatype_float();
    dma_configure_flat_unit_stride(row, in + first, ROW, 0);
    stages(row, out + first);
}
