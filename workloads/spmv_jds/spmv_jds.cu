// y = A x for a sparse matrix in jagged diagonals, one row per thread. Rows are sorted by length and padded, so that
// all lanes of a warp have equally many elements: element k of sorted row r is at first[k] + r. Values and columns
// are coalesced; x is gathered. Two elements ahead of the one that is added up are on their way.
#include "../cuda.h"

#define WARPS 12288
#define LONGEST 512

__constant__ int lengths[WARPS]; // of the rows of each warp
__constant__ int first[LONGEST];

extern "C" __global__ void where_is_lengths(unsigned long *answer) {
    *answer = (unsigned long)lengths;
}
extern "C" __global__ void where_is_first(unsigned long *answer) {
    *answer = (unsigned long)first;
}

extern "C" __global__ void spmv_jds(const int *columns, const float *values, const int *perm, const float *x, float *y,
                                    int rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;

    int length = lengths[row / 32];
    float sum = 0, value = 0, element = 0, next_value = 0;
    int next_column = 0;
    if (length > 0) {
        value = values[first[0] + row];
        element = x[columns[first[0] + row]];
    }
    if (length > 1) {
        next_value = values[first[1] + row];
        next_column = columns[first[1] + row];
    }
#pragma unroll 1
    for (int k = 2; k < length; k++) {
        float after_value = values[first[k] + row];
        int after_column = columns[first[k] + row];
        float next_element = x[next_column];
        sum = fmaf(value, element, sum);
        value = next_value;
        element = next_element;
        next_value = after_value;
        next_column = after_column;
    }
    sum = fmaf(value, element, sum);
    if (length > 1) sum = fmaf(next_value, x[next_column], sum);
    y[perm[row]] = sum;
}
