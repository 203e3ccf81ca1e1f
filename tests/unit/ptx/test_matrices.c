/* Matrix instructions: mma against sums over the matrices that their fragments stand for, and fragments that
 * are loaded, multiplied and stored again. Where the elements lie is written down here a second time, as the
 * PTX ISA states it. */
#include "tests/unit/ptx/ptx_fixture.h"
#include "tests/unit/ptx/warp_fixture.h"

#include <math.h>

enum { FORM_CASES = 100 }; /* random cases of a form; each computes 64 or 128 elements of D */

static uint64_t state = 1;

static uint32_t random_bits(void) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(state >> 32);
}

/* The fixture has ten slots: wide instructions need more. */
static Slot registers[32];
static uint32_t more_src[MAX_ALL_SRC];

static void prepare(const char *form, const char *operands, int destinations) {
    Statement statement;
    char storage[128], why[200] = "";
    describe(form, operands, &statement, storage, sizeof storage);
    warp.inst = (Inst){.pdst = NO_PREDICATE, .pdst2 = NO_PREDICATE, .guard = NO_PREDICATE};
    memset(&warp.plan, 0, sizeof warp.plan);
    ck_assert_msg(isa_select(&statement, &warp.inst, &warp.plan, why, sizeof why), "%s", why);
    for (int k = 0; k < statement.operand_count; k++) {
        uint32_t offset = (uint32_t)(k * (int)sizeof(Slot));
        if (k < destinations)
            warp.inst.dst[warp.inst.dst_count++] = offset;
        else if (warp.inst.src_count < MAX_SRC)
            warp.inst.src[warp.inst.src_count++] = offset;
        else
            more_src[warp.inst.src_count++ - MAX_SRC] = offset;
    }
    if (warp.inst.src_count > MAX_SRC) warp.inst.more_src = more_src;
    warp.context.bank[0] = (uintptr_t)registers;
}

static uint32_t reg(int slot, int lane) {
    uint32_t value;
    memcpy(&value, (uint8_t *)&registers[slot] + 4 * lane, sizeof value);
    return value;
}

static void put(int slot, int lane, uint32_t value) {
    memcpy((uint8_t *)&registers[slot] + 4 * lane, &value, sizeof value);
}

static void put_bits(int slot, int lane, int width, int place, uint32_t value) {
    uint32_t mask = width == 32 ? UINT32_MAX : (1u << width) - 1;
    uint32_t old = reg(slot, lane) & ~(mask << width * place);
    put(slot, lane, old | (value & mask) << width * place);
}

/* Integers that f16, bf16 and tf32 hold exactly, up to 2^7. */
static uint32_t half_of(int value) {
    if (value == 0) return 0;
    uint32_t magnitude = (uint32_t)abs(value), exponent = 31u - (uint32_t)__builtin_clz(magnitude);
    return (value < 0 ? 0x8000u : 0) | (exponent + 15) << 10 | (magnitude << (10 - exponent) & 0x3ff);
}

static uint32_t element_bits(const char *type, int value) {
    float number = (float)value;
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    if (!strcmp(type, "f16")) return half_of(value);
    if (!strcmp(type, "e5m2")) return half_of(value) >> 8;
    if (!strcmp(type, "e4m3")) /* its exponent is counted from 7, not 15 */
        return value ? (value < 0 ? 0x80u : 0) | ((half_of(abs(value)) - (8u << 10)) >> 7) : 0;
    return !strcmp(type, "bf16") ? bits >> 16 : bits;
}

static int value_of(const char *type) {
    uint32_t bits = random_bits();
    if (!strcmp(type, "s8")) return (int)(int8_t)bits;
    if (!strcmp(type, "u8")) return (int)(uint8_t)bits;
    if (!strcmp(type, "s4")) return (int)(bits % 16) - 8;
    if (!strcmp(type, "u4")) return (int)(bits % 16);
    if (!strcmp(type, "e4m3")) return (int)(bits % 31) - 15;
    if (!strcmp(type, "e5m2")) return (int)(bits % 15) - 7;
    return (int)(bits % 255) - 127;
}

typedef struct {
    int m, k, width; /* width: bits of an element */
    const char *type_a, *type_b, *type_c;
} MmaCase;

static const MmaCase cases[] = {
    {16, 8, 16, "f16", "f16", "f32"},   {16, 16, 16, "f16", "f16", "f32"},
    {16, 8, 16, "bf16", "bf16", "f32"}, {16, 16, 16, "bf16", "bf16", "f32"},
    {16, 4, 32, "tf32", "tf32", "f32"}, {16, 8, 32, "tf32", "tf32", "f32"},
    {8, 16, 8, "s8", "s8", "s32"},      {16, 16, 8, "u8", "s8", "s32"},
    {16, 32, 8, "s8", "u8", "s32"},     {16, 32, 8, "u8", "u8", "s32"},
    {8, 32, 4, "s4", "u4", "s32"},      {16, 32, 4, "u4", "s4", "s32"},
    {16, 64, 4, "s4", "s4", "s32"},     {16, 16, 8, "e4m3", "e4m3", "f32"},
    {16, 32, 8, "e5m2", "e4m3", "f32"}, {16, 32, 8, "e4m3", "e5m2", "f32"},
};

static void check_mma(const MmaCase *c) {
    static int a[16][64], b[64][8];
    static int64_t sum[16][8];
    int e = 32 / c->width, b_registers = c->k / (4 * e), a_registers = b_registers * c->m / 8;
    int d_registers = c->m / 4, first_b = d_registers + a_registers, first_c = first_b + b_registers;
    char form[100], operands[100] = "";
    snprintf(form, sizeof form, "mma.sync.aligned.m%dn8k%d.row.col.%s.%s.%s.%s", c->m, c->k, c->type_c,
             c->type_a, c->type_b, c->type_c);
    for (int i = 0; i < first_c + d_registers; i++)
        strcat(operands, i ? " r4" : "r4");
    prepare(form, operands, d_registers);
    bool integer = !strcmp(c->type_c, "s32");
    for (int row = 0; row < c->m; row++)
        for (int k = 0; k < c->k; k++) {
            int lane = row % 8 * 4 + k / e % 4, r = k / (4 * e) * (c->m / 8) + row / 8;
            a[row][k] = value_of(c->type_a);
            put_bits(d_registers + r, lane, c->width, k % e,
                     integer ? (uint32_t)a[row][k] : element_bits(c->type_a, a[row][k]));
        }
    for (int column = 0; column < 8; column++)
        for (int k = 0; k < c->k; k++) {
            b[k][column] = value_of(c->type_b);
            put_bits(first_b + k / (4 * e), column * 4 + k / e % 4, c->width, k % e,
                     integer ? (uint32_t)b[k][column] : element_bits(c->type_b, b[k][column]));
        }
    for (int row = 0; row < c->m; row++)
        for (int column = 0; column < 8; column++) {
            int lane = row % 8 * 4 + column / 2, r = row / 8 * 2 + column % 2;
            int start = integer ? (int)random_bits() / 4 : (int)(random_bits() % 2001) - 1000;
            put(first_c + r, lane, integer ? (uint32_t)start : F((float)start));
            sum[row][column] = start;
            for (int k = 0; k < c->k; k++)
                sum[row][column] += a[row][k] * b[k][column];
        }
    warp.inst.exec(&warp.inst, &warp.context);
    for (int row = 0; row < c->m; row++)
        for (int column = 0; column < 8; column++) {
            uint32_t result = reg(row / 8 * 2 + column % 2, row % 8 * 4 + column / 2);
            uint32_t wanted = integer ? (uint32_t)sum[row][column] : F((float)sum[row][column]);
            ck_assert_msg(result == wanted, "%s (%d, %d): %x, expected %x", form, row, column, result,
                          wanted);
        }
}

START_TEST(mma_adds_the_products_of_the_matrices_that_its_fragments_hold) {
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int n = 0; n < FORM_CASES; n++)
            check_mma(&cases[i]);
}
END_TEST

START_TEST(mma_of_f16_rounds_once_to_an_accumulator_of_f16) {
    prepare("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16", "r4 r4 r4 r4 r4 r4 r4", 2);
    memset(registers, 0, sizeof registers);
    /* Row 0: 2048 + 1 * 1 + 1 * 1, which in steps of f16 would stay at 2048. */
    put(5, 0, 0x6800);                        /* C (0, 0) = 2048 */
    put(2, 0, half_of(1) | half_of(1) << 16); /* A (0, 0), (0, 1) */
    put(4, 0, half_of(1) | half_of(1) << 16); /* B (0, 0), (1, 0) */
    warp.inst.exec(&warp.inst, &warp.context);
    ck_assert_uint_eq(reg(0, 0) & 0xffff, 0x6801);
}
END_TEST

/* The smallest of 8 bits and the largest, which are no integers, and what is no number. */
START_TEST(mma_of_8_bit_floats_takes_all_that_they_hold) {
    static const struct {
        uint32_t a, b;
        float product;
    } values[] = {{0x01, 0x3c, 0x1p-9f},  {0x7e, 0x3c, 448.0f},    {0x38, 0x01, 0x1p-16f},
                  {0x38, 0x7b, 57344.0f}, {0x38, 0xfc, -INFINITY}, {0x7f, 0x3c, NAN}};
    prepare("mma.sync.aligned.m16n8k16.row.col.f32.e4m3.e5m2.f32", "r4 r4 r4 r4 r4 r4 r4 r4 r4 r4 r4", 4);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        memset(registers, 0, sizeof registers);
        put(4, 0, values[i].a);
        put(6, 0, values[i].b);
        warp.inst.exec(&warp.inst, &warp.context);
        uint32_t wanted = isnan(values[i].product) ? 0x7fffffff : F(values[i].product);
        ck_assert_uint_eq(reg(0, 0), wanted);
    }
    prepare("mma.sync.aligned.m16n8k16.row.col.f16.e5m2.e5m2.f16", "r4 r4 r4 r4 r4 r4 r4", 2);
    memset(registers, 0, sizeof registers);
    put(2, 0, 0x3c);         /* A (0, 0) = 1 */
    put(4, 4, 0x40);         /* B (0, 1) = 2 */
    put(5, 0, 0x3c00 << 16); /* C (0, 1) = 1 */
    warp.inst.exec(&warp.inst, &warp.context);
    ck_assert_uint_eq(reg(0, 0), 0x4200u << 16);
}
END_TEST

START_TEST(satfinite_clamps_and_sums_wrap_without_it) {
    const char *const forms[] = {"mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32",
                                 "mma.sync.aligned.m8n8k16.row.col.satfinite.s32.s8.s8.s32"};
    for (int i = 0; i < 2; i++) {
        prepare(forms[i], "r4 r4 r4 r4 r4 r4", 2);
        memset(registers, 0, sizeof registers);
        put(2, 0, 0x7f);
        put(3, 0, 0x7f);
        put(4, 0, INT32_MAX);
        warp.inst.exec(&warp.inst, &warp.context);
        ck_assert_uint_eq(reg(0, 0), i ? INT32_MAX : 0x80000000u + 127 * 127 - 1);
    }
}
END_TEST

START_TEST(mma_of_bits_counts) {
    for (int i = 0; i < 2; i++) {
        prepare(i ? "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.and.popc"
                  : "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc",
                "r4 r4 r4 r4 r4 r4", 2);
        uint32_t a[8][4], b[8][4];
        for (int lane = 0; lane < WARP_LANES; lane++) {
            put(2, lane, a[lane / 4][lane % 4] = random_bits());
            put(3, lane, b[lane / 4][lane % 4] = random_bits());
            put(4, lane, 5);
            put(5, lane, 5);
        }
        warp.inst.exec(&warp.inst, &warp.context);
        for (int row = 0; row < 8; row++)
            for (int column = 0; column < 8; column++) {
                int count = 5;
                for (int w = 0; w < 4; w++)
                    count += __builtin_popcount(i ? a[row][w] & b[column][w] : a[row][w] ^ b[column][w]);
                ck_assert_int_eq((int)reg(column % 2, row * 4 + column / 2), count);
            }
    }
}
END_TEST

START_TEST(mma_of_f64_fuses_each_step) {
    prepare("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", "r8 r8 r8 r8 r8 r8", 2);
    for (int n = 0; n < FORM_CASES; n++) {
        double a[8][4], b[4][8], c[8][8];
        for (int lane = 0; lane < WARP_LANES; lane++)
            for (int slot = 2; slot < 6; slot++) {
                double value = (double)(int32_t)random_bits() / 65537.0;
                registers[slot].lanes[lane] = D(value);
                if (slot == 2) a[lane / 4][lane % 4] = value;
                if (slot == 3) b[lane % 4][lane / 4] = value;
                if (slot >= 4) c[lane / 4][lane % 4 * 2 + slot - 4] = value;
            }
        warp.inst.exec(&warp.inst, &warp.context);
        for (int row = 0; row < 8; row++)
            for (int column = 0; column < 8; column++) {
                double sum = c[row][column];
                for (int k = 0; k < 4; k++)
                    sum = __builtin_fma(a[row][k], b[k][column], sum);
                ck_assert_uint_eq(registers[column % 2].lanes[row * 4 + column / 2], D(sum));
            }
    }
}
END_TEST

/* Four products, each of the lanes whose numbers / 4 % 4 are the same. */
START_TEST(m8n8k4_of_f16_is_four_products) {
    for (int layouts = 0; layouts < 4; layouts++) {
        char form[80];
        bool a_columns = layouts & 1, b_rows = layouts & 2;
        snprintf(form, sizeof form, "mma.sync.aligned.m8n8k4.%s.%s.f16.f16.f16.f16",
                 a_columns ? "col" : "row", b_rows ? "row" : "col");
        prepare(form, "r4 r4 r4 r4 r4 r4 r4 r4 r4 r4 r4 r4", 4);
        int a[4][8][4], b[4][4][8];
        memset(registers, 0, sizeof registers);
        for (int lane = 0; lane < WARP_LANES; lane++)
            for (int i = 0; i < 4; i++) {
                int q = lane / 4 % 4, high = lane < 16 ? 0 : 4, av = (int)(random_bits() % 9),
                    bv = (int)(random_bits() % 9);
                put_bits(4 + i / 2, lane, 16, i % 2, half_of(av));
                put_bits(6 + i / 2, lane, 16, i % 2, half_of(bv));
                if (a_columns)
                    a[q][i + high][lane % 4] = av;
                else
                    a[q][lane % 4 + high][i] = av;
                if (b_rows)
                    b[q][lane % 4][i + high] = bv;
                else
                    b[q][i][lane % 4 + high] = bv;
            }
        warp.inst.exec(&warp.inst, &warp.context);
        for (int lane = 0; lane < WARP_LANES; lane++)
            for (int i = 0; i < 8; i++) {
                int q = lane / 4 % 4, row = lane % 4 + (lane < 16 ? 0 : 4), sum = 0;
                for (int k = 0; k < 4; k++)
                    sum += a[q][row][k] * b[q][k][i];
                ck_assert_uint_eq(reg(i / 2, lane) >> 16 * (i % 2) & 0xffff, half_of(sum));
            }
    }
}
END_TEST

START_TEST(ldmatrix_brings_rows_to_lanes_and_stmatrix_takes_them_back) {
    for (int transposed = 0; transposed < 2; transposed++) {
        for (int i = 0; i < 32 * 8; i++) {
            uint16_t value = (uint16_t)random_bits();
            memcpy(warp.shared + 2 * i, &value, 2);
        }
        prepare(transposed ? "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16"
                           : "ldmatrix.sync.aligned.m8n8.x4.shared.b16",
                "r4 r4 r4 r4 a4", 4);
        for (int lane = 0; lane < WARP_LANES; lane++)
            put(4, lane, 16 * (31 - (uint32_t)lane)); /* rows from the last to the first */
        warp.inst.exec(&warp.inst, &warp.context);
        ck_assert_uint_eq(warp.context.fault, FAULT_NONE);
        for (int m = 0; m < 4; m++)
            for (int lane = 0; lane < WARP_LANES; lane++)
                for (int i = 0; i < 2; i++) {
                    int row = transposed ? lane % 4 * 2 + i : lane / 4,
                        column = transposed ? lane / 4 : lane % 4 * 2 + i;
                    uint16_t value;
                    memcpy(&value, warp.shared + 16 * (31 - 8 * m - row) + 2 * column, 2);
                    ck_assert_uint_eq(reg(m, lane) >> 16 * i & 0xffff, value);
                }
        uint8_t before[512];
        memcpy(before, warp.shared, sizeof before);
        memset(warp.shared, 0, sizeof before);
        Slot held[5];
        memcpy(held, registers, sizeof held);
        prepare(transposed ? "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16"
                           : "stmatrix.sync.aligned.m8n8.x4.shared.b16",
                "a4 r4 r4 r4 r4", 0);
        registers[0] = held[4];
        memcpy(registers + 1, held, 4 * sizeof *held);
        warp.context.active = UINT32_MAX;
        warp.inst.exec(&warp.inst, &warp.context);
        ck_assert_mem_eq(before, warp.shared, sizeof before);
    }
}
END_TEST

START_TEST(ldmatrix_asks_for_the_rows_alone_and_faults_beyond_the_end) {
    prepare("ldmatrix.sync.aligned.m8n8.x1.shared.b16", "r4 a4", 1);
    for (int lane = 0; lane < WARP_LANES; lane++)
        put(1, lane, lane < 8 ? 16 * (uint32_t)lane : 1); /* of the others nothing is asked */
    warp.inst.exec(&warp.inst, &warp.context);
    ck_assert_uint_eq(warp.context.fault, FAULT_NONE);
    ck_assert_uint_eq(warp.context.active, 0xff);
    ck_assert_uint_eq(warp.context.space, SPACE_SHARED);
    put(1, 3, FIXTURE_SHARED - 8);
    warp.context.active = UINT32_MAX;
    warp.inst.exec(&warp.inst, &warp.context);
    ck_assert_uint_eq(warp.context.fault, FAULT_OUT_OF_BOUNDS);
    ck_assert_uint_eq(warp.context.fault_lane, 3);
}
END_TEST

START_TEST(rows_of_a_matrix_lie_in_shared_memory) {
    prepare("ldmatrix.sync.aligned.m8n8.x1.b16", "r4 a8", 1);
    for (int lane = 0; lane < WARP_LANES; lane++)
        registers[1].lanes[lane] = SHARED_WINDOW + 16 * (uint64_t)lane;
    warp.inst.exec(&warp.inst, &warp.context);
    ck_assert_uint_eq(warp.context.fault, FAULT_NONE);
    ck_assert_uint_eq(warp.context.space, SPACE_SHARED);
    for (int lane = 0; lane < WARP_LANES; lane++)
        registers[1].lanes[lane] = warp.buffer + 16 * (uint64_t)lane;
    warp.context.active = UINT32_MAX;
    warp.inst.exec(&warp.inst, &warp.context);
    ck_assert_uint_eq(warp.context.fault, FAULT_OUT_OF_BOUNDS);
    ck_assert_uint_eq(warp.context.fault_address, warp.buffer);
}
END_TEST

START_TEST(movmatrix_transposes) {
    prepare("movmatrix.sync.aligned.m8n8.trans.b16", "r4 r4", 1);
    for (int lane = 0; lane < WARP_LANES; lane++)
        for (int i = 0; i < 2; i++)
            put_bits(1, lane, 16, i, (uint32_t)(lane / 4 * 8 + lane % 4 * 2 + i));
    warp.inst.exec(&warp.inst, &warp.context);
    for (int lane = 0; lane < WARP_LANES; lane++)
        for (int i = 0; i < 2; i++)
            ck_assert_uint_eq(reg(0, lane) >> 16 * i & 0xffff, (uint32_t)((lane % 4 * 2 + i) * 8 + lane / 4));
}
END_TEST

#define EXPECT_REFUSAL(statement, reason) assert_refused(KERNEL(statement " exit;"), reason)

START_TEST(elect_names_the_lowest_lane_of_the_mask_that_executes) {
    set_all("r4 p r4", 2, 0xfff0);
    warp.context.active = 0xffffff00;
    execute("elect.sync", "r4 p r4");
    for (int lane = 8; lane < WARP_LANES; lane++)
        ck_assert_uint_eq(get_u32(0, lane), 8);
    ck_assert_uint_eq(get_u32(0, 0), 0);
    ck_assert_uint_eq(warp.predicates[FIRST_FREE_PREDICATE + 1], 1u << 8);
}
END_TEST

START_TEST(forms_that_do_not_exist_are_refused_by_name) {
    EXPECT_REFUSAL("mma.sync.aligned.m16n8k4.row.col.f32.f16.f16.f32 "
                   "{%r1,%r2,%r3,%r4},{%r1,%r2},{%r1},{%r1,%r2,%r3,%r4};",
                   "this shape is not one of this type");
    EXPECT_REFUSAL("mma.sync.aligned.m16n8k8.row.row.f32.f16.f16.f32 "
                   "{%r1,%r2,%r3,%r4},{%r1,%r2},{%r1},{%r1,%r2,%r3,%r4};",
                   "expected .row.col");
    EXPECT_REFUSAL(
        "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%r1,%r2,%r3,%r4},{%r1,%r2},{%r1},{%r1,%r2};",
        "the vectors of registers have not the size of the shape");
    EXPECT_REFUSAL("mma.sync.aligned.m16n8k16.row.col.f32.e4m3.e5m2.f16 "
                   "{%r1,%r2,%r3,%r4},{%r1,%r2},{%r1},{%r1,%r2};",
                   "C and D must have one type");
    EXPECT_REFUSAL("ldmatrix.sync.aligned.m8n8.x3.shared.b16 {%r1,%r2,%r3}, [%r4];",
                   "expected .sync.aligned.m8n8");
    EXPECT_REFUSAL("wmma.load.a.sync.aligned.row.m16n16k8.f16 {%r1}, [%rd1];", "a shape that this type has");
}
END_TEST

/* The first part of the product writes half of D, which the second must not read. */
#define WMMA(d, a)             "wmma.mma.sync.aligned.row.col.m32n8k16.s32.s8.s8.s32 " d ", " a ", {%r9}, " SUMS ";"
#define SUMS                   "{%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8}"
#define WMMA_KERNEL(statement) HEADER ".visible .entry k() { .reg .b32 %r<20>;\n" statement " exit;\n}\n"

START_TEST(sums_of_a_product_in_parts_may_take_the_place_of_their_start_alone) {
    module_free(parse(WMMA_KERNEL(WMMA(SUMS, "{%r10,%r11,%r12,%r13}"))));
    assert_refused(WMMA_KERNEL(WMMA(SUMS, "{%r10,%r11,%r12,%r4}")), "a register of D is one of A");
    assert_refused(WMMA_KERNEL(WMMA("{%r9,%r2,%r3,%r4,%r5,%r6,%r7,%r8}", "{%r10,%r11,%r12,%r13}")),
                   "a register of D is one of A, of B");
    assert_refused(WMMA_KERNEL(WMMA("{%r5,%r6,%r7,%r8,%r1,%r2,%r3,%r4}", "{%r10,%r11,%r12,%r13}")),
                   "of another element of C");
}
END_TEST

Suite *matrices_suite(void) {
    Suite *suite = suite_create("matrices");
    TCase *values = tcase_create("values");
    tcase_add_checked_fixture(values, warp_setup, warp_teardown);
    tcase_add_test(values, mma_adds_the_products_of_the_matrices_that_its_fragments_hold);
    tcase_add_test(values, mma_of_f16_rounds_once_to_an_accumulator_of_f16);
    tcase_add_test(values, mma_of_8_bit_floats_takes_all_that_they_hold);
    tcase_add_test(values, satfinite_clamps_and_sums_wrap_without_it);
    tcase_add_test(values, mma_of_bits_counts);
    tcase_add_test(values, mma_of_f64_fuses_each_step);
    tcase_add_test(values, m8n8k4_of_f16_is_four_products);
    tcase_add_test(values, ldmatrix_brings_rows_to_lanes_and_stmatrix_takes_them_back);
    tcase_add_test(values, ldmatrix_asks_for_the_rows_alone_and_faults_beyond_the_end);
    tcase_add_test(values, rows_of_a_matrix_lie_in_shared_memory);
    tcase_add_test(values, movmatrix_transposes);
    tcase_add_test(values, elect_names_the_lowest_lane_of_the_mask_that_executes);
    tcase_add_test(values, forms_that_do_not_exist_are_refused_by_name);
    tcase_add_test(values, sums_of_a_product_in_parts_may_take_the_place_of_their_start_alone);
    suite_add_tcase(suite, values);
    return suite;
}
