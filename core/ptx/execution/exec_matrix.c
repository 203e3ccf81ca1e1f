/* Products of matrices: mma. Products are exact. A sum begins with C and takes the products in ascending order
 * of k, in double precision; it is rounded once, to nearest, when it is complete. Of f64, each step is a fused
 * multiply-add. Sums of integers are exact. */
#include "core/ptx/execution/exec_matrix.h"

#include <math.h>

enum { MAX_ROWS = 16, COLUMNS = 8, MAX_DEPTH = 64 };

static double float_element(uint32_t bits, MatrixType type, bool is_e5m2) {
    if (type == MATRIX_F16) return f64_of_f16(bits & 0xffff);
    if (type == MATRIX_BF16) return (double)f32_of_bits(bits << 16);
    if (type == MATRIX_F8) return narrow_float_value(bits, is_e5m2 ? NARROW_E5M2 : NARROW_E4M3);
    return (double)f32_of_bits(bits & 0xffffe000u); /* tf32: the mantissa's upper 10 bits */
}

static int64_t integer_element(uint32_t bits, int width, bool is_unsigned) {
    uint32_t low = bits & ((1u << width) - 1);
    bool negative = !is_unsigned && low >> (width - 1);
    return (int64_t)low - ((int64_t)negative << width);
}

/* What the fragments of A and B have in common: register and place within it of element k of a row. */
typedef struct {
    int lane_part, reg, place;
} Place;

static Place place_of(int k, int per_register) {
    return (Place){k / per_register % 4, k / (4 * per_register), k % per_register};
}

static uint32_t word_of(const Inst *inst, const ExecContext *context, int reg, int lane) {
    return ((const LaneU32 *)any_source(inst, context, (uint32_t)reg))[lane];
}

/* The registers that hold the fragments, and their sizes. */
typedef struct {
    MatrixType type;
    int rows, depth, per_register, a_registers, b_registers;
} Shape;

static Shape shape_of(uint32_t detail) {
    Shape shape = {.type = (MatrixType)(detail & MMA_TYPE),
                   .rows = detail & MMA_SIXTEEN_ROWS ? 16 : 8,
                   .depth = 1 << (detail >> MMA_DEPTH_SHIFT & 0xf)};
    int bits = matrix_type_bits(shape.type);
    shape.per_register = bits == 64 ? 1 : 32 / bits;
    shape.b_registers = shape.depth / (4 * shape.per_register);
    shape.a_registers = shape.b_registers * shape.rows / 8;
    return shape;
}

/* Register and lane of element k of row or column `line`; B has no second row. */
static int a_register(const Shape *shape, int row, Place place) {
    return shape->rows == 16 ? 2 * place.reg + row / 8 : place.reg;
}

static int c_register(int row, int column) {
    return row / 8 * 2 + column % 2;
}

static int c_lane(int row, int column) {
    return row % 8 * 4 + column / 2;
}

static double read_c(const Inst *inst, const ExecContext *context, int first, int row, int column) {
    int lane = c_lane(row, column);
    if (!(inst->detail & MMA_HALF_C))
        return (double)f32_of_bits(word_of(inst, context, first + c_register(row, column), lane));
    return f64_of_f16(word_of(inst, context, first + row / 8, lane) >> 16 * (column % 2) & 0xffff);
}

static void write_word(const Inst *inst, ExecContext *context, int reg, int lane, uint32_t value) {
    if (context->active >> lane & 1) ((LaneU32 *)destination(inst, context, reg))[lane] = value;
}

/* All of D is known: none of the sources is read any more. */
static void write_floats(const Inst *inst, ExecContext *context, int rows, double d[MAX_ROWS][COLUMNS]) {
    for (int row = 0; row < rows; row++)
        for (int column = 0; column < COLUMNS; column += 2) {
            int lane = c_lane(row, column);
            if (inst->detail & MMA_HALF_D) {
                uint32_t low = double_to_f16(d[row][column], ROUND_NEAREST),
                         high = double_to_f16(d[row][column + 1], ROUND_NEAREST);
                write_word(inst, context, row / 8, lane, low | high << 16);
                continue;
            }
            for (int i = 0; i < 2; i++)
                write_word(inst, context, c_register(row, i), lane,
                           bits_of_f32(canonical_f32((float)d[row][column + i])));
        }
}

void exec_mma_float(const Inst *inst, ExecContext *context) {
    Shape shape = shape_of(inst->detail);
    double a[MAX_ROWS][MAX_DEPTH], b[MAX_DEPTH][COLUMNS], d[MAX_ROWS][COLUMNS];
    int bits = matrix_type_bits(shape.type) % 32, first_c = shape.a_registers + shape.b_registers;
    for (int k = 0; k < shape.depth; k++) {
        Place place = place_of(k, shape.per_register);
        for (int row = 0; row < shape.rows; row++)
            a[row][k] = float_element(
                word_of(inst, context, a_register(&shape, row, place), row % 8 * 4 + place.lane_part) >>
                    bits * place.place,
                shape.type, inst->detail & MMA_E5M2_A);
        for (int column = 0; column < COLUMNS; column++)
            b[k][column] = float_element(
                word_of(inst, context, shape.a_registers + place.reg, column * 4 + place.lane_part) >>
                    bits * place.place,
                shape.type, inst->detail & MMA_E5M2_B);
    }
    for (int row = 0; row < shape.rows; row++)
        for (int column = 0; column < COLUMNS; column++) {
            d[row][column] = read_c(inst, context, first_c, row, column);
            for (int k = 0; k < shape.depth; k++)
                d[row][column] += a[row][k] * b[k][column];
        }
    write_floats(inst, context, shape.rows, d);
}

void exec_mma_double(const Inst *inst, ExecContext *context) {
    Shape shape = shape_of(inst->detail);
    double d[MAX_ROWS][COLUMNS];
    int first_b = shape.a_registers, first_c = first_b + shape.b_registers;
    for (int row = 0; row < shape.rows; row++)
        for (int column = 0; column < COLUMNS; column++) {
            const LaneF64 *c = any_source(inst, context, (uint32_t)(first_c + c_register(row, column)));
            double sum = c[c_lane(row, column)];
            for (int k = 0; k < shape.depth; k++) {
                Place place = place_of(k, 1);
                const LaneF64 *a = any_source(inst, context, (uint32_t)a_register(&shape, row, place)),
                              *b = any_source(inst, context, (uint32_t)(first_b + place.reg));
                sum = fma(a[row % 8 * 4 + place.lane_part], b[column * 4 + place.lane_part], sum);
            }
            d[row][column] = canonical_f64(sum);
        }
    for (int row = 0; row < shape.rows; row++)
        for (int column = 0; column < COLUMNS; column++) {
            int lane = c_lane(row, column);
            if (context->active >> lane & 1)
                ((LaneF64 *)destination(inst, context, c_register(row, column)))[lane] = d[row][column];
        }
}

/* The sum of the products of the elements in two registers. */
static int64_t dot(uint32_t a, uint32_t b, const Inst *inst, MatrixType type) {
    int width = matrix_type_bits(type);
    int64_t sum = 0;
    if (type == MATRIX_BIT) return __builtin_popcount(inst->detail & MMA_AND ? a & b : a ^ b);
    for (int shift = 0; shift < 32; shift += width)
        sum += integer_element(a >> shift, width, inst->detail & MMA_UNSIGNED_A) *
               integer_element(b >> shift, width, inst->detail & MMA_UNSIGNED_B);
    return sum;
}

static uint32_t narrowed(int64_t sum, bool saturates) {
    if (saturates && sum > INT32_MAX) return INT32_MAX;
    if (saturates && sum < INT32_MIN) return (uint32_t)INT32_MIN;
    return (uint32_t)sum;
}

void exec_mma_integer(const Inst *inst, ExecContext *context) {
    Shape shape = shape_of(inst->detail);
    uint32_t d[MAX_ROWS][COLUMNS];
    int first_b = shape.a_registers, first_c = first_b + shape.b_registers;
    for (int row = 0; row < shape.rows; row++)
        for (int column = 0; column < COLUMNS; column++) {
            int64_t sum = (int32_t)word_of(inst, context, first_c + c_register(row, column),
                                           c_lane(row, column));
            for (int k = 0; k < shape.depth; k += shape.per_register) {
                Place place = place_of(k, shape.per_register);
                sum += dot(
                    word_of(inst, context, a_register(&shape, row, place), row % 8 * 4 + place.lane_part),
                    word_of(inst, context, first_b + place.reg, column * 4 + place.lane_part), inst,
                    shape.type);
            }
            d[row][column] = narrowed(sum, inst->detail & MMA_SATURATE);
        }
    for (int row = 0; row < shape.rows; row++)
        for (int column = 0; column < COLUMNS; column++)
            write_word(inst, context, c_register(row, column), c_lane(row, column), d[row][column]);
}

/* m8n8k4 f16: four products at once, each of lanes 4q to 4q + 3 and 16 + 4q to 16 + 4q + 3. */

enum { QUAD_DEPTH = 4, QUAD_ROWS = 8 };

/* The lane of a product's fragments: `i` from 0 to 7. */
static int quad_lane(int quad, int i) {
    return 4 * quad + i % 4 + i / 4 * 16;
}

/* A stored by rows, B by columns: a lane has a row of 4. Else it has 4 elements of each of 8 lines. */
static double quad_element(const Inst *inst, const ExecContext *context, int first, int quad, int line, int k,
                           bool across) {
    int lane = across ? quad_lane(quad, k + line / 4 * 4) : quad_lane(quad, line), i = across ? line % 4 : k;
    return f64_of_f16(word_of(inst, context, first + i / 2, lane) >> 16 * (i % 2) & 0xffff);
}

/* Of f32: register i of a lane. */
static void quad_place(int i, int lane_in_quad, int *row, int *column) {
    *row = (lane_in_quad & 1) + (i & 2) + lane_in_quad / 4 * 4;
    *column = (i & 4) + (lane_in_quad & 2) + (i & 1);
}

static double quad_sum(const Inst *inst, const ExecContext *context, int quad, int row, int column,
                       double c) {
    for (int k = 0; k < QUAD_DEPTH; k++)
        c += quad_element(inst, context, 0, quad, row, k, inst->detail & MMA_COLUMNS_A) *
             quad_element(inst, context, 2, quad, column, k, inst->detail & MMA_ROWS_B);
    return c;
}

/* C of f32 comes as the half that belongs to this half of D; C of f16 comes whole. */
static double quad_c(const Inst *inst, const ExecContext *context, int quad, int row, int column) {
    if (inst->detail & MMA_HALF_C)
        return f64_of_f16(word_of(inst, context, 4 + column / 2, quad_lane(quad, row)) >> 16 * (column % 2) &
                          0xffff);
    for (int reg = 0; reg < 8; reg++)
        for (int i = 0; i < QUAD_ROWS; i++) {
            int at_row, at_column;
            quad_place(reg, i, &at_row, &at_column);
            if (at_row == row && at_column == column)
                return (double)f32_of_bits(word_of(inst, context, 4 + reg, quad_lane(quad, i)));
        }
    return 0.0;
}

void exec_mma_quads(const Inst *inst, ExecContext *context) {
    uint32_t d[4][WARP_LANES];
    bool half = inst->detail & MMA_HALF_D;
    for (int lane = 0; lane < WARP_LANES; lane++)
        for (int reg = 0; reg < 4; reg++) {
            int quad = lane % 16 / 4, in_quad = lane % 4 + lane / 16 * 4, row = in_quad, column = 2 * reg;
            if (!half) quad_place(reg + (inst->detail & MMA_SECOND ? 4 : 0), in_quad, &row, &column);
            double first = quad_sum(inst, context, quad, row, column,
                                    quad_c(inst, context, quad, row, column));
            d[reg][lane] = bits_of_f32(canonical_f32((float)first));
            if (!half) continue;
            double second = quad_sum(inst, context, quad, row, column + 1,
                                     quad_c(inst, context, quad, row, column + 1));
            d[reg][lane] = double_to_f16(first, ROUND_NEAREST) | double_to_f16(second, ROUND_NEAREST) << 16;
        }
    for (int reg = 0; reg < 4; reg++)
        write_lanes_32(destination(inst, context, reg), d[reg], context->active);
}

/* movmatrix: element (row, column) of 8 x 8 halves comes from (column, row). */
void exec_movmatrix(const Inst *inst, ExecContext *context) {
    const LaneU32 *from = source(inst, context, 0);
    uint32_t result[WARP_LANES] = {0};
    for (int row = 0; row < 8; row++)
        for (int column = 0; column < 8; column++) {
            uint32_t value = from[column * 4 + row / 2] >> 16 * (row % 2) & 0xffff;
            result[row * 4 + column / 2] |= value << 16 * (column % 2);
        }
    write_lanes_32(destination(inst, context, 0), result, context->active);
}
