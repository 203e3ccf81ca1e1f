/* The shapes and types of nvcuda::wmma. */
#include "wmma_macros.h"

namespace nvcuda {
namespace wmma {

/* ---- half, from 7.0 */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
#define WARPWRIGHT_HALF(m, n, k)                                                                             \
    WARPWRIGHT_OPERANDS(m, n, k, __half, __half, __half, "f16", 8, 8, r)                                     \
    WARPWRIGHT_ACCUMULATOR(m, n, k, __half, "f16", 4, r)                                                     \
    WARPWRIGHT_ACCUMULATOR(m, n, k, float, "f32", 8, f)                                                      \
    WARPWRIGHT_PRODUCT(m, n, k, __half, 8, 8, r, "f16.f16", __half, 4, r, __half, 4, r)                      \
    WARPWRIGHT_PRODUCT(m, n, k, __half, 8, 8, r, "f32.f16", float, 8, f, __half, 4, r)                       \
    WARPWRIGHT_PRODUCT(m, n, k, __half, 8, 8, r, "f16.f32", __half, 4, r, float, 8, f)                       \
    WARPWRIGHT_PRODUCT(m, n, k, __half, 8, 8, r, "f32.f32", float, 8, f, float, 8, f)
WARPWRIGHT_HALF(16, 16, 16)
WARPWRIGHT_HALF(32, 8, 16)
WARPWRIGHT_HALF(8, 32, 16)
#undef WARPWRIGHT_HALF
#endif

/* ---- bytes, from 7.2; bfloat16, of the same accumulators as half, from 8.0 */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 720
#define WARPWRIGHT_BYTES(m, n, k, count_a, count_b)                                                          \
    WARPWRIGHT_ACCUMULATOR(m, n, k, int, "s32", 8, r)                                                        \
    WARPWRIGHT_OPERANDS(m, n, k, signed char, signed char, signed char, "s8", count_a, count_b, r)           \
    WARPWRIGHT_PRODUCT(m, n, k, signed char, count_a, count_b, r, "s32.s8.s8.s32", int, 8, r, int, 8, r)     \
    WARPWRIGHT_SATURATED(m, n, k, signed char, count_a, count_b, r, "s32.s8.s8.s32.satfinite", int, 8, r,    \
                         int, 8, r)                                                                          \
    WARPWRIGHT_OPERANDS(m, n, k, unsigned char, unsigned char, unsigned char, "u8", count_a, count_b, r)     \
    WARPWRIGHT_PRODUCT(m, n, k, unsigned char, count_a, count_b, r, "s32.u8.u8.s32", int, 8, r, int, 8, r)   \
    WARPWRIGHT_SATURATED(m, n, k, unsigned char, count_a, count_b, r, "s32.u8.u8.s32.satfinite", int, 8, r,  \
                         int, 8, r)
WARPWRIGHT_BYTES(16, 16, 16, 2, 2)
WARPWRIGHT_BYTES(32, 8, 16, 4, 1)
WARPWRIGHT_BYTES(8, 32, 16, 1, 4)
#undef WARPWRIGHT_BYTES
#endif

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
#define WARPWRIGHT_BFLOAT16(m, n, k, count_a, count_b)                                                       \
    WARPWRIGHT_OPERANDS(m, n, k, __nv_bfloat16, __nv_bfloat16, __nv_bfloat16, "bf16", count_a, count_b, r)   \
    WARPWRIGHT_PRODUCT(m, n, k, __nv_bfloat16, count_a, count_b, r, "f32.bf16.bf16.f32", float, 8, f, float, \
                       8, f)
WARPWRIGHT_BFLOAT16(16, 16, 16, 4, 4)
WARPWRIGHT_BFLOAT16(32, 8, 16, 8, 2)
WARPWRIGHT_BFLOAT16(8, 32, 16, 2, 8)
#undef WARPWRIGHT_BFLOAT16

WARPWRIGHT_OPERANDS(16, 16, 8, precision::tf32, float, float, "tf32", 4, 4, r)
WARPWRIGHT_ACCUMULATOR(16, 16, 8, float, "f32", 8, f)
WARPWRIGHT_PRODUCT(16, 16, 8, precision::tf32, 4, 4, r, "f32.tf32.tf32.f32", float, 8, f, float, 8, f)

WARPWRIGHT_OPERANDS(8, 8, 4, double, double, double, "f64", 1, 1, d)
WARPWRIGHT_ACCUMULATOR(8, 8, 4, double, "f64", 2, d)
WARPWRIGHT_PRODUCT(8, 8, 4, double, 1, 1, d, "f64.f64.f64.f64", double, 2, d, double, 2, d)
#endif

/* ---- nibbles and bits, from 7.5. A has its rows in memory, B its columns. */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 750
#define WARPWRIGHT_SMALL(m, n, k, type, element, suffix)                                                     \
    WARPWRIGHT_FRAGMENT(matrix_a, m, n, k, type, element, 1, r)                                              \
    WARPWRIGHT_FRAGMENT(matrix_b, m, n, k, type, element, 1, r)                                              \
    WARPWRIGHT_LOAD(matrix_a, "a", row_major, "row", m, n, k, type, void, suffix, 1, r)                      \
    WARPWRIGHT_LOAD(matrix_b, "b", col_major, "col", m, n, k, type, void, suffix, 1, r)
#define WARPWRIGHT_SMALL_PRODUCT(function, operation, m, n, k, type, types)                                  \
    WARPWRIGHT_PRODUCT_AS(function, operation, row_major, col_major, "row.col", m, n, k, type, 1, 1, r,      \
                          types, int, 2, r, int, 2, r)
WARPWRIGHT_ACCUMULATOR(8, 8, 32, int, "s32", 2, r)
WARPWRIGHT_SMALL(8, 8, 32, experimental::precision::s4, int, "s4")
WARPWRIGHT_SMALL(8, 8, 32, experimental::precision::u4, unsigned, "u4")
WARPWRIGHT_SMALL_PRODUCT(mma_sync, "", 8, 8, 32, experimental::precision::s4, "s32.s4.s4.s32")
WARPWRIGHT_SMALL_PRODUCT(mma_sync, "", 8, 8, 32, experimental::precision::u4, "s32.u4.u4.s32")
WARPWRIGHT_SMALL_PRODUCT(__warpwright_mma_saturated, "", 8, 8, 32, experimental::precision::s4,
                         "s32.s4.s4.s32.satfinite")
WARPWRIGHT_SMALL_PRODUCT(__warpwright_mma_saturated, "", 8, 8, 32, experimental::precision::u4,
                         "s32.u4.u4.s32.satfinite")
WARPWRIGHT_ACCUMULATOR(8, 8, 128, int, "s32", 2, r)
WARPWRIGHT_SMALL(8, 8, 128, experimental::precision::b1, unsigned, "b1")
WARPWRIGHT_SMALL_PRODUCT(__warpwright_bmma_xor, ".xor.popc", 8, 8, 128, experimental::precision::b1,
                         "s32.b1.b1.s32")
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
WARPWRIGHT_SMALL_PRODUCT(__warpwright_bmma_and, ".and.popc", 8, 8, 128, experimental::precision::b1,
                         "s32.b1.b1.s32")
#endif
#undef WARPWRIGHT_SMALL_PRODUCT
#undef WARPWRIGHT_SMALL

WARPWRIGHT_DEVICE void
bmma_sync(fragment<accumulator, 8, 8, 128, int> &to,
          const fragment<matrix_a, 8, 8, 128, experimental::precision::b1, row_major> &left,
          const fragment<matrix_b, 8, 8, 128, experimental::precision::b1, col_major> &right,
          const fragment<accumulator, 8, 8, 128, int> &added,
          experimental::bmmaBitOp operation = experimental::bmmaBitOpXOR,
          experimental::bmmaAccumulateOp = experimental::bmmaAccumulateOpPOPC) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    if (operation == experimental::bmmaBitOpAND) return __warpwright_bmma_and(to, left, right, added);
#endif
    __warpwright_bmma_xor(to, left, right, added);
}
#endif

/* ---- d, which `saturates`: integers as above; of others infinities become the largest numbers, and what is none 0 */

WARPWRIGHT_DEVICE float __warpwright_finite(float value) {
    return value != value ? 0.0f : fmaxf(fminf(value, 3.402823466e38f), -3.402823466e38f);
}
WARPWRIGHT_DEVICE __half __warpwright_finite(__half value) {
    float wide = __half2float(value);
    return __float2half(wide != wide ? 0.0f : fmaxf(fminf(wide, 65504.0f), -65504.0f));
}

template <int m, int n, int k, class D, class A, class B, class C>
WARPWRIGHT_DEVICE void __warpwright_mma_saturated(fragment<accumulator, m, n, k, D> &to, const A &left,
                                                  const B &right, const C &added) {
    mma_sync(to, left, right, added);
    for (int i = 0; i < to.num_elements; i++)
        to.x[i] = __warpwright_finite(to.x[i]);
}
template <int m, int n, int k, class D, class A, class B, class C>
WARPWRIGHT_DEVICE void mma_sync(fragment<accumulator, m, n, k, D> &to, const A &left, const B &right,
                                const C &added, bool saturates) {
    if (saturates)
        __warpwright_mma_saturated(to, left, right, added);
    else
        mma_sync(to, left, right, added);
}
template <class A, class B, class C>
WARPWRIGHT_DEVICE void mma_sync(fragment<accumulator, 8, 8, 4, double> &to, const A &left, const B &right,
                                const C &added, bool) {
    mma_sync(to, left, right, added);
}

} // namespace wmma
} // namespace nvcuda
