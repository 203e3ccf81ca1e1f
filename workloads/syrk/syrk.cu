// C = alpha A A' + beta C (syrk) and C = alpha (A B' + B A') + beta C (syr2k) for row-major matrices of n rows,
// whose rows are lda elements apart; one element of C per thread, CTAs of 32 x 8. In a warp i is uniform and j
// the lane: each step reads one element of row i, for all lanes, and one of 32 other rows, a row's length apart.
// When that length is a power of two these 32 lines fall into one set of a cache. All warps of a CTA read the
// same 32 lines, and each line serves the next 31 steps, if it is kept.
// accumulate=memory: every step loads and stores the element of C. accumulate=stored: the plain loop over the
// element of C in memory; what a step has stored the compiler hands to the next one, which need not load it.
#include "../cuda.h"

static inline __device__ float term(float alpha, float a, float b, float sum) {
    return fmaf(alpha, a * b, sum);
}

static inline __device__ int element_i() {
    return blockIdx.y * blockDim.y + threadIdx.y;
}
static inline __device__ int element_j() {
    return blockIdx.x * blockDim.x + threadIdx.x;
}

extern "C" __global__ void syrk_memory(const float *A, const float *, float *C, int n, int k, int lda,
                                       float alpha, float beta) {
    int i = element_i(), j = element_j();
    if (i >= n || j >= n) return;
    C[i * lda + j] *= beta;
    forget_memory();
#pragma unroll 1
    for (int step = 0; step < k; step++) {
        C[i * lda + j] = term(alpha, A[i * lda + step], A[j * lda + step], C[i * lda + j]);
        forget_memory();
    }
}

extern "C" __global__ void syrk_stored(const float *A, const float *, float *C, int n, int k, int lda,
                                       float alpha, float beta) {
    int i = element_i(), j = element_j();
    if (i >= n || j >= n) return;
    C[i * lda + j] *= beta;
#pragma unroll 1
    for (int step = 0; step < k; step++)
        C[i * lda + j] = term(alpha, A[i * lda + step], A[j * lda + step], C[i * lda + j]);
}

extern "C" __global__ void syrk_register(const float *A, const float *, float *C, int n, int k, int lda,
                                         float alpha, float beta) {
    int i = element_i(), j = element_j();
    if (i >= n || j >= n) return;
    float sum = C[i * lda + j] * beta;
#pragma unroll 1
    for (int step = 0; step < k; step++)
        sum = term(alpha, A[i * lda + step], A[j * lda + step], sum);
    C[i * lda + j] = sum;
}

extern "C" __global__ void syr2k_memory(const float *A, const float *B, float *C, int n, int k, int lda,
                                        float alpha, float beta) {
    int i = element_i(), j = element_j();
    if (i >= n || j >= n) return;
    C[i * lda + j] *= beta;
    forget_memory();
#pragma unroll 1
    for (int step = 0; step < k; step++) {
        C[i * lda + j] = term(alpha, A[i * lda + step], B[j * lda + step], C[i * lda + j]);
        C[i * lda + j] = term(alpha, B[i * lda + step], A[j * lda + step], C[i * lda + j]);
        forget_memory();
    }
}

extern "C" __global__ void syr2k_stored(const float *A, const float *B, float *C, int n, int k, int lda,
                                        float alpha, float beta) {
    int i = element_i(), j = element_j();
    if (i >= n || j >= n) return;
    C[i * lda + j] *= beta;
#pragma unroll 1
    for (int step = 0; step < k; step++) {
        C[i * lda + j] = term(alpha, A[i * lda + step], B[j * lda + step], C[i * lda + j]);
        C[i * lda + j] = term(alpha, B[i * lda + step], A[j * lda + step], C[i * lda + j]);
    }
}

extern "C" __global__ void syr2k_register(const float *A, const float *B, float *C, int n, int k, int lda,
                                          float alpha, float beta) {
    int i = element_i(), j = element_j();
    if (i >= n || j >= n) return;
    float sum = C[i * lda + j] * beta;
#pragma unroll 1
    for (int step = 0; step < k; step++) {
        sum = term(alpha, A[i * lda + step], B[j * lda + step], sum);
        sum = term(alpha, B[i * lda + step], A[j * lda + step], sum);
    }
    C[i * lda + j] = sum;
}
