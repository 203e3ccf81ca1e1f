// The Walsh-Hadamard transform, in natural order and not scaled, of one long vector. While blocks are longer than
// 2048 elements, a launch makes two of the stages in global memory, in place: a thread has four elements, a quarter
// of a block apart. The last launch takes blocks of 2048 or 1024 into shared memory and makes the other stages.
#include "../cuda.h"

#define LONGEST 2048

// Two stages on four elements that lie `stride` apart
static inline __device__ void butterfly(float *at, int stride) {
    float a = at[0], b = at[stride], c = at[2 * stride], d = at[3 * stride];
    float ac = a + c, bd = b + d, a_c = a - c, b_d = b - d;
    at[0] = ac + bd;
    at[stride] = ac - bd;
    at[2 * stride] = a_c + b_d;
    at[3 * stride] = a_c - b_d;
}

// Thread t has element t % stride of a quarter of a block; a block has four times `stride` elements.
extern "C" __global__ void walsh_stages(float *vector, int stride) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int within = t & (stride - 1);
    butterfly(&vector[4 * (t - within) + within], stride);
}

// All stages of blocks of 2048 or 1024 elements, with one CTA each of a quarter as many threads: two at a time,
// and the last one of 2048 by itself.
extern "C" __global__ void walsh_blocks(float *vector, int elements) {
    __shared__ float block[LONGEST];
    int thread = threadIdx.x, threads = elements / 4;
    float *own = &vector[blockIdx.x * elements];
#pragma unroll
    for (int i = 0; i < 4; i++)
        block[thread + i * threads] = own[thread + i * threads];

#pragma unroll 1
    for (int stride = threads; stride > 0; stride >>= 2) {
        __syncthreads();
        butterfly(block + 4 * thread - 3 * (thread & (stride - 1)), stride);
    }
    __syncthreads();
    if (elements == LONGEST) {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            float *pair = &block[2 * (thread + i * threads)];
            float a = pair[0], b = pair[1];
            pair[0] = a + b;
            pair[1] = a - b;
        }
        __syncthreads();
    }

#pragma unroll
    for (int i = 0; i < 4; i++)
        own[thread + i * threads] = block[thread + i * threads];
}
