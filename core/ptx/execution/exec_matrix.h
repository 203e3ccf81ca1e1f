/* Matrix instructions: what Inst.detail says of them, and where the elements of a fragment lie.
 *
 * A warp holds a matrix as a fragment: each lane has some of its elements in its registers. With g = lane / 4
 * and t = lane % 4, and e elements in a register, register r of lane (g, t) has
 *
 *   of A (rows of products):    row g + 8 * (r % 2), elements e * t + 4 * e * (r / 2) and on; 8 rows: row g
 *   of B (columns of products): column g, elements e * t + 4 * e * r and on
 *   of C and D, 32 or 64 bits:  row g + 8 * (r / 2), column 2 * t + r % 2
 *   of C and D, f16:            row g + 8 * r, columns 2 * t and on
 *
 * as the PTX ISA has it for mma of all shapes but m8n8k4 f16. Fragments of wmma, which the ISA leaves open,
 * are those of the mma that a wmma becomes: several side by side, two with the operands exchanged for
 * m8n32k16. */
#ifndef WW_PTX_EXEC_MATRIX_H
#define WW_PTX_EXEC_MATRIX_H

#include "core/ptx/execution/exec_internal.h"

typedef enum {
    MATRIX_F16,
    MATRIX_BF16,
    MATRIX_TF32,
    MATRIX_F8, /* e4m3 or e5m2, A and B each */
    MATRIX_F64,
    MATRIX_INT8,
    MATRIX_INT4,
    MATRIX_BIT,
} MatrixType;

/* Inst.detail of mma. */
enum {
    MMA_TYPE = 0xf,
    MMA_DEPTH_SHIFT = 4, /* logarithm of k, 4 bits */
    MMA_SIXTEEN_ROWS = 0x100,
    MMA_HALF_D = 0x200,
    MMA_HALF_C = 0x400,
    MMA_SATURATE = 0x800,
    MMA_UNSIGNED_A = 0x1000,
    MMA_UNSIGNED_B = 0x2000,
    MMA_E5M2_A = MMA_UNSIGNED_A, /* of 8-bit floats; otherwise e4m3 */
    MMA_E5M2_B = MMA_UNSIGNED_B,
    MMA_COLUMNS_A = 0x4000, /* m8n8k4 f16 */
    MMA_ROWS_B = 0x8000,
    MMA_AND = 0x10000,    /* of bits; otherwise exclusive or */
    MMA_SECOND = 0x20000, /* m8n8k4 f16: registers 4 to 7 of D, not 0 to 3 */
};

/* Inst.detail of ldmatrix and stmatrix, beside DETAIL_ADDRESS_32. */
enum { DETAIL_MATRIX_TRANSPOSED = 1 };

typedef enum { FRAGMENT_A, FRAGMENT_B, FRAGMENT_C } FragmentKind;

/* Inst.detail of loads and stores of fragments, beside DETAIL_ADDRESS_32. */
enum {
    FRAGMENT_KIND = 0x3,
    FRAGMENT_EXCHANGED = 0x4,   /* m8n32k16: it is the other operand of mma, transposed */
    FRAGMENT_TALL = 0x8,        /* m32n8k16, m8n32k16: the two parts of C lie below each other */
    FRAGMENT_COLUMNS = 0x10,    /* of memory: the elements of a column lie side by side */
    FRAGMENT_SHORT = 0x20,      /* 8 rows */
    FRAGMENT_SECOND = 0x40,     /* registers from 4 on */
    FRAGMENT_SPLIT_SHIFT = 8,   /* registers of a part of the fragment, 4 bits */
    FRAGMENT_BYTES_SHIFT = 12,  /* logarithm of an element's bytes, 2 bits */
    FRAGMENT_STRIDE_SHIFT = 20, /* elements of the type in one of these bytes, its logarithm: 4 bits */
};

static inline int matrix_type_bits(MatrixType type) {
    static const int bits[] = {16, 16, 32, 8, 64, 8, 4, 1};
    return bits[type];
}

#endif
