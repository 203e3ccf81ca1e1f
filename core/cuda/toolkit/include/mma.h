/* Products of matrices by a warp: nvcuda::wmma. */
#ifndef __CUDA_MMA_H__
#define __CUDA_MMA_H__

#include "cuda_bf16.h"
#include "cuda_fp16.h"

#if defined(__CUDA__) && __cplusplus >= 201103L

#define WARPWRIGHT_DEVICE static __device__ __forceinline__ __attribute__((unused))

namespace nvcuda {
namespace wmma {

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };

namespace precision {
struct tf32;
}
namespace experimental {
namespace precision {
struct u4;
struct s4;
struct b1;
} // namespace precision
enum bmmaBitOp { bmmaBitOpXOR = 1, bmmaBitOpAND = 2 };
enum bmmaAccumulateOp { bmmaAccumulateOpPOPC = 1 };
} // namespace experimental

/* What a thread holds of a matrix. Which elements these are is not documented, but same places of accumulators of one
 * shape are the same element. */
template <class Use, int m, int n, int k, class T, class Layout = void> class fragment;

WARPWRIGHT_DEVICE float __float_to_tf32(float value) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    unsigned bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(value));
    return __uint_as_float(bits);
#else
    return value;
#endif
}

template <class Use, int m, int n, int k, class T, class Layout, class Value>
WARPWRIGHT_DEVICE void fill_fragment(fragment<Use, m, n, k, T, Layout> &to, const Value &value) {
    for (int i = 0; i < to.num_elements; i++)
        to.x[i] = value;
}

} // namespace wmma
} // namespace nvcuda

#include "warpwright/wmma_shapes.h"

#undef WARPWRIGHT_DEVICE

#endif
#endif
