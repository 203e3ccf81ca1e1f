// y = A x for a sparse matrix in compressed rows (CSR), one row per thread:
// the entries of row r are columns[p], values[p] for row_offsets[r] <= p < row_offsets[r + 1].
#include "../cuda.h"

extern "C" __global__ void spmv_csr(const int *row_offsets, const int *columns, const float *values,
                                    const float *x, float *y, int rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;

    float sum = 0;
    int end = row_offsets[row + 1];
#pragma unroll 1
    for (int p = row_offsets[row]; p < end; p++)
        sum = fmaf(values[p], x[columns[p]], sum);
    y[row] = sum;
}
