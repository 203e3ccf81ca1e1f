// A histogram of many bins whose counters end at 255, in four kernels: the range of bins that matter; where each
// input counts; counting in shared memory, a part of the range for each row of CTAs; and the sum of these counters.
#include "../cuda.h"

#define PRESCAN_THREADS 512
#define ROWS            16          // of the image, for a CTA of `histo_intermediates`
#define THREADS         768         // of a CTA of `histo_main`
#define WORDS           (6 * 1024)  // of four counters each, in its shared memory
#define BINS            (4 * WORDS) // as many as that, a part of the range
#define OUTSIDE         255         // where an input has the number of its part, if it is in none

// Adds up a number of each thread of the CTA, for all of them.
static inline __device__ float sum_of(float *sums, float own) {
    int thread = threadIdx.x;
    __syncthreads();
    sums[thread] = own;
#pragma unroll 1
    for (int half = PRESCAN_THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (thread < half) sums[thread] += sums[thread + half];
    }
    __syncthreads();
    return sums[0];
}

// Every CTA has a piece of the inputs and looks at an eighth of it, twice: for the average, and for how far inputs
// are from it. The range goes four times as far on both sides.
extern "C" __global__ void histo_prescan(const unsigned *inputs, int piece, int *range) {
    __shared__ float sums[PRESCAN_THREADS];
    const unsigned *own = &inputs[blockIdx.x * piece];
    int count = piece / 8;
    float sum = 0, deviation = 0;
#pragma unroll 1
    for (int i = threadIdx.x; i < count; i += PRESCAN_THREADS)
        sum += (float)own[i];
    float average = sum_of(sums, sum) / (float)count;
#pragma unroll 1
    for (int i = threadIdx.x; i < count; i += PRESCAN_THREADS)
        deviation += fabsf((float)own[i] - average);
    deviation = sum_of(sums, deviation) / (float)count;
    if (threadIdx.x == 0) {
        atomicMin(&range[0], (int)(average - 4 * deviation));
        atomicMax(&range[1], (int)(average + 4 * deviation) + 1);
    }
}

// Where a bin's counter is, in four bytes: the part of the range, the word of that part in two bytes, and the byte
// of the word. Beyond the range: OUTSIDE and the bin's number.
static inline __device__ unsigned place_of(unsigned bin, unsigned first_bin, unsigned parts) {
    unsigned from_first = bin - first_bin;
    unsigned part = from_first / BINS, within = from_first % BINS;
    unsigned place = part << 24 | (within / 4) << 8 | within % 4;
    return part < parts ? place
                        : (unsigned)OUTSIDE << 24 | bin; // below the first bin, the part is a huge number
}

// A CTA is half a row of the image wide: every thread has two neighbouring inputs in each of 16 rows.
extern "C" __global__ void histo_intermediates(const uint2 *inputs, uint2 *places, unsigned first_bin,
                                               unsigned parts) {
    int first = blockIdx.x * ROWS * blockDim.x + threadIdx.x;
#pragma unroll
    for (int row = 0; row < ROWS; row++) {
        uint2 bins = inputs[first + row * blockDim.x], result;
        result.x = place_of(bins.x, first_bin, parts);
        result.y = place_of(bins.y, first_bin, parts);
        places[first + row * blockDim.x] = result;
    }
}

// A counter that goes beyond 255 carries into its neighbour. Its thread knows, by the word's old value, and notes that
// what has left one counter has come to the next one.
static inline __device__ void note_carries(unsigned old, int byte, int *carry) {
    for (; byte < 4 && (old >> 8 * byte & 255) == 255; byte++) {
        atomicAdd(&carry[byte], 256);
        if (byte < 3) atomicAdd(&carry[byte + 1], -1);
    }
}

// Row y of CTAs counts the inputs in part y of the range, each CTA some of them; row 0 also those outside.
extern "C" __global__ void histo_main(const unsigned *places, int count, unsigned *counters, int *carries,
                                      unsigned *outliers) {
    __shared__ unsigned words[WORDS];
    unsigned part = blockIdx.y;
#pragma unroll 1 // eight addresses would take too many registers
    for (int i = threadIdx.x; i < WORDS; i += THREADS)
        words[i] = 0;
    __syncthreads();

#pragma unroll 1
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < count; i += gridDim.x * THREADS) {
        unsigned place = places[i];
        if (place >> 24 == part) {
            int word = place >> 8 & 0xffff, byte = place & 3;
            unsigned old = atomicAdd(&words[word], 1u << 8 * byte);
            if ((old >> 8 * byte & 255) == 255) note_carries(old, byte, &carries[part * BINS + 4 * word]);
        } else if (part == 0 && place >> 24 == OUTSIDE) {
            unsigned bin = place & 0xffffff;
            atomicAdd(&outliers[bin / 2], 1u << 16 * (bin % 2)); // fewer than 65,536 in one bin
        }
    }
    __syncthreads();

    unsigned *own = &counters[(blockIdx.x * gridDim.y + part) * WORDS];
#pragma unroll 1
    for (int i = threadIdx.x; i < WORDS; i += THREADS)
        own[i] = words[i];
}

static inline __device__ unsigned saturated(int count) {
    return count < 255 ? count : 255;
}

// Four bins per thread: the sum of the CTAs' counters, or what was counted outside. The first bin is a multiple of 4.
extern "C" __global__ void histo_final(const unsigned *counters, int copies, int parts, const int4 *carries,
                                       const uint2 *outliers, unsigned *histogram, int first_bin, int words) {
    int word = blockIdx.x * blockDim.x + threadIdx.x;
    if (word >= words) return;
    int within = word - first_bin / 4;
    if (0 <= within && within < parts * WORDS) {
        int4 sum = carries[within];
#pragma unroll 1
        for (int copy = 0; copy < copies; copy++) {
            unsigned four = counters[copy * parts * WORDS + within];
            sum.x += four & 255;
            sum.y += four >> 8 & 255;
            sum.z += four >> 16 & 255;
            sum.w += four >> 24;
        }
        histogram[word] = saturated(sum.x) | saturated(sum.y) << 8 | saturated(sum.z) << 16 |
                          saturated(sum.w) << 24;
    } else {
        uint2 pairs = outliers[word];
        histogram[word] = saturated(pairs.x & 0xffff) | saturated(pairs.x >> 16) << 8 |
                          saturated(pairs.y & 0xffff) << 16 | saturated(pairs.y >> 16) << 24;
    }
}
