/* Video instructions: on bytes, halves and words of their operands, which the last source selects (video.h). */
#include "core/ptx/execution/exec_internal.h"
#include "core/ptx/instructions/video.h"

__extension__ typedef __int128 Wide; /* shifts to the left by 32, products and their sums fit */

static Wide extended(uint32_t value, int bits, bool is_signed) {
    uint32_t low = bits < 32 ? value & ((1u << bits) - 1) : value;
    return is_signed && low >> (bits - 1) & 1 ? (Wide)low - ((Wide)1 << bits) : (Wide)low;
}

static Wide clamped(Wide value, int bits, bool is_signed) {
    Wide most = ((Wide)1 << (is_signed ? bits - 1 : bits)) - 1, least = is_signed ? -most - 1 : 0;
    return value < least ? least : value > most ? most : value;
}

static int width_of(uint32_t part) {
    return part == PART_WORD ? 32 : part >= PART_H0 ? 16 : 8;
}

static int place_of(uint32_t part) {
    return part == PART_WORD ? 0 : part >= PART_H0 ? 16 * (int)(part - PART_H0) : 8 * (int)(part - PART_B0);
}

static Wide part_of(uint32_t value, uint32_t part, bool is_signed) {
    return extended(value >> place_of(part), width_of(part), is_signed);
}

static bool holds(Wide a, Wide b, uint32_t detail) {
    switch (detail & VIDEO_RELATION) {
    case VIDEO_EQ: return a == b;
    case VIDEO_NE: return a != b;
    case VIDEO_LT: return a < b;
    case VIDEO_LE: return a <= b;
    case VIDEO_GT: return a > b;
    default: return a >= b;
    }
}

static Wide amount_of(Wide b, uint32_t detail) {
    if ((detail & VIDEO_MODE) == VIDEO_WRAP) return b & 31;
    return b > 32 ? 32 : b;
}

static Wide computed(Wide a, Wide b, uint32_t detail) {
    switch ((VideoOperation)(detail & VIDEO_OPERATION)) {
    case VIDEO_ADD: return a + b;
    case VIDEO_SUB: return a - b;
    case VIDEO_DIFFERENCE: return a > b ? a - b : b - a;
    case VIDEO_MIN: return a < b ? a : b;
    case VIDEO_MAX: return a > b ? a : b;
    case VIDEO_AVERAGE: return (a + b + (a + b >= 0)) >> 1;
    case VIDEO_COMPARE: return holds(a, b, detail);
    case VIDEO_SHIFT_LEFT: return a * ((Wide)1 << amount_of(b, detail));
    case VIDEO_SHIFT_RIGHT: return a >> amount_of(b, detail);
    case VIDEO_PRODUCT: return a * b;
    }
    return 0;
}

/* The second operation is one of words of the type of d. */
static uint32_t combined(uint32_t value, uint32_t c, uint32_t detail) {
    bool is_signed = detail & VIDEO_SIGNED_D;
    Wide x = extended(value, 32, is_signed), y = extended(c, 32, is_signed);
    switch (detail & VIDEO_SECOND) {
    case VIDEO_SECOND_ADD: return value + c;
    case VIDEO_SECOND_MIN: return x < y ? value : c;
    case VIDEO_SECOND_MAX: return x > y ? value : c;
    default: return value;
    }
}

static uint32_t merged(uint32_t value, uint32_t c, uint32_t part) {
    if (part == PART_WORD) return value;
    uint32_t mask = ((1u << width_of(part)) - 1) << place_of(part);
    return (value << place_of(part) & mask) | (c & ~mask);
}

/* The selectors are the last source, c is the third, where there is one. */
#define VIDEO_SOURCES                                                                                        \
    const LaneU32 *a = source(inst, context, 0), *b = source(inst, context, 1);                              \
    const LaneU32 *c = source(inst, context, inst->src_count - 2);                                           \
    uint32_t selectors = *(const LaneU32 *)source(inst, context, inst->src_count - 1),                       \
             detail = inst->detail;                                                                          \
    uint32_t of_a = selectors >> VIDEO_A_SHIFT & VIDEO_SOURCE_MASK,                                          \
             of_b = selectors >> VIDEO_B_SHIFT & VIDEO_SOURCE_MASK;                                          \
    bool a_signed = detail & VIDEO_SIGNED_A, b_signed = detail & VIDEO_SIGNED_B;                             \
    uint32_t result[WARP_LANES];

void exec_video_scalar(const Inst *inst, ExecContext *context) {
    VIDEO_SOURCES
    uint32_t part = selectors & VIDEO_D_MASK;
    for (int lane = 0; lane < WARP_LANES; lane++) {
        Wide value = computed(part_of(a[lane], of_a, a_signed), part_of(b[lane], of_b, b_signed), detail);
        if (detail & VIDEO_SATURATE) value = clamped(value, width_of(part), detail & VIDEO_SIGNED_D);
        result[lane] = merged(combined((uint32_t)value, c[lane], detail), c[lane], part);
    }
    write_lanes_32(destination(inst, context, 0), result, context->active);
}

/* vmad */
void exec_video_product(const Inst *inst, ExecContext *context) {
    VIDEO_SOURCES
    bool negates_product = selectors & VIDEO_NEGATES_PRODUCT, negates_sum = selectors & VIDEO_NEGATES_SUM;
    bool is_signed = a_signed || b_signed || negates_product || negates_sum;
    for (int lane = 0; lane < WARP_LANES; lane++) {
        Wide value = computed(part_of(a[lane], of_a, a_signed), part_of(b[lane], of_b, b_signed), detail);
        Wide sum = extended(negates_sum ? ~c[lane] : c[lane], 32, is_signed);
        value = (negates_product ? -value : value) + sum + (detail & VIDEO_PLUS_ONE || negates_sum ? 1 : 0);
        value >>= (detail & VIDEO_SCALE) >> VIDEO_SCALE_SHIFT;
        result[lane] = (uint32_t)(detail & VIDEO_SATURATE ? clamped(value, 32, is_signed) : value);
    }
    write_lanes_32(destination(inst, context, 0), result, context->active);
}

/* Element `number` of {b, a}. */
static Wide element_of(uint32_t a, uint32_t b, uint32_t number, int elements, bool is_signed) {
    uint32_t from = number < (uint32_t)elements ? a : b;
    int width = 32 / elements;
    return extended(from >> width * (int)(number % (uint32_t)elements), width, is_signed);
}

/* vadd2, vadd4 and their kin. */
void exec_video_elements(const Inst *inst, ExecContext *context) {
    VIDEO_SOURCES
    int elements = detail & VIDEO_FOUR ? 4 : 2, width = 32 / elements;
    uint32_t mask = (1u << width) - 1;
    for (int lane = 0; lane < WARP_LANES; lane++) {
        result[lane] = c[lane];
        for (int i = 0; i < elements; i++) {
            if (!(selectors >> i & 1)) continue;
            Wide x = element_of(a[lane], b[lane], of_a >> 3 * i & 7, elements, a_signed);
            Wide y = element_of(a[lane], b[lane], of_b >> 3 * i & 7, elements, b_signed);
            Wide value = computed(x, y, detail);
            if (detail & VIDEO_SATURATE) value = clamped(value, width, detail & VIDEO_SIGNED_D);
            if (detail & VIDEO_SECOND)
                result[lane] += (uint32_t)value;
            else
                result[lane] = (result[lane] & ~(mask << width * i)) | ((uint32_t)value & mask) << width * i;
        }
    }
    write_lanes_32(destination(inst, context, 0), result, context->active);
}
