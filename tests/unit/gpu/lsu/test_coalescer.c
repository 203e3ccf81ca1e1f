/* Which segments the accesses of a warp touch, and how banks conflict. */
#include "core/gpu/lsu/coalescer.h"
#include "core/sim/base/random.h"

#include <check.h>
#include <string.h>

Suite *coalescer_suite(void);

static MemoryOp strided(uint64_t base, uint64_t stride, uint8_t bytes) {
    MemoryOp op = {.lanes = ~0u, .bytes = bytes, .space = SPACE_GLOBAL};
    for (uint32_t i = 0; i < WARP_LANES; i++)
        op.address[i] = base + i * stride;
    op.lowest = base;
    op.highest = op.address[WARP_LANES - 1];
    op.kind = INST_STORE;
    return op;
}

START_TEST(a_warp_side_by_side_is_one_line) {
    Segment segment[MAX_SEGMENTS];
    MemoryOp op = strided(0xc0000080, 4, 4);
    ck_assert_uint_eq(coalesce(&op, segment, COALESCE_LINE), 1);
    ck_assert_uint_eq(segment[0].address, 0xc0000080);
    ck_assert_uint_eq(segment[0].bytes, 128);
    ck_assert_uint_eq(segment[0].byte_mask[0] & segment[0].byte_mask[1], ~0ull);
}
END_TEST

START_TEST(segments_shrink_to_the_half_or_quarter_that_is_touched) {
    Segment segment[MAX_SEGMENTS];
    MemoryOp op = strided(0xc0000040, 2, 2); /* 64 bytes in the upper half */
    ck_assert_uint_eq(coalesce(&op, segment, COALESCE_LINE), 1);
    ck_assert_uint_eq(segment[0].address, 0xc0000040);
    ck_assert_uint_eq(segment[0].bytes, 64);
    op = strided(0xc0000060, 1, 1); /* 32 bytes in the last quarter */
    ck_assert_uint_eq(coalesce(&op, segment, COALESCE_LINE), 1);
    ck_assert_uint_eq(segment[0].address, 0xc0000060);
    ck_assert_uint_eq(segment[0].bytes, 32);
    op = strided(0xc0000020, 2, 2); /* the two quarters in the middle: the whole line */
    ck_assert_uint_eq(coalesce(&op, segment, COALESCE_LINE), 1);
    ck_assert_uint_eq(segment[0].bytes, 128);
    op = strided(0xc0000000, 0, 4); /* broadcast */
    ck_assert_uint_eq(coalesce(&op, segment, COALESCE_LINE), 1);
    ck_assert_uint_eq(segment[0].bytes, 32);
    ck_assert_uint_eq(segment[0].byte_mask[0], 0xf);
}
END_TEST

START_TEST(narrow_segments_are_halves_or_quarters_of_their_own) {
    Segment segment[MAX_SEGMENTS];
    MemoryOp op = strided(0xc0000050, 1, 1); /* 16 bytes of the third quarter and 16 of the last */
    op.kind = INST_LOAD;
    ck_assert_uint_eq(coalesce(&op, segment, 32), 2);
    ck_assert_uint_eq(segment[0].address, 0xc0000040);
    ck_assert_uint_eq(segment[1].address, 0xc0000060);
    for (int i = 0; i < 2; i++) {
        ck_assert_uint_eq(segment[i].bytes, 32);
        ck_assert_uint_eq(segment[i].lanes, i ? 0xffff0000 : 0x0000ffff);
    }
    ck_assert_uint_eq(coalesce(&op, segment, 64), 1);
    ck_assert_uint_eq(segment[0].address, 0xc0000040);
    ck_assert_uint_eq(segment[0].bytes, 64);
    op = strided(0xc0000020, 2, 2); /* half a half, and half of the next */
    ck_assert_uint_eq(coalesce(&op, segment, 64), 2);
    ck_assert_uint_eq(segment[0].address, 0xc0000020);
    ck_assert_uint_eq(segment[1].address, 0xc0000040);
    ck_assert_uint_eq(segment[0].bytes, 32);
    ck_assert_uint_eq(segment[1].bytes, 32);
    ck_assert_uint_eq(segment[0].byte_mask[0], 0xffffffff00000000);
}
END_TEST

/* A lane per 32, 64, 96 and 128 B: each touches a sector of its own. */
START_TEST(sectors_are_named_where_lanes_leave_some_of_a_segment_out) {
    static const uint32_t stride[] = {32, 64, 96, 128}, segments[] = {8, 16, 24, 32};
    for (size_t i = 0; i < sizeof stride / sizeof *stride; i++)
        for (InstKind kind = INST_LOAD; kind <= INST_STORE; kind++) {
            Segment segment[MAX_SEGMENTS];
            MemoryOp op = strided(0xc0000000, stride[i], 4);
            uint32_t touched = 0, count;
            op.kind = (uint8_t)kind;
            op.has_addresses = 1;
            ck_assert_uint_eq(count = coalesce(&op, segment, COALESCE_LINE), segments[i]);
            name_sectors(&op, segment, count);
            for (uint32_t s = 0; s < count; s++)
                touched += segment[s].sectors ? (uint32_t)__builtin_popcount(segment[s].sectors)
                                              : segment[s].bytes / 32u;
            ck_assert_uint_eq(touched, 32);
            ck_assert_uint_eq(segment[0].sectors, stride[i] == 64 ? 5 : stride[i] == 96 ? 9 : 0);
        }
}
END_TEST

START_TEST(a_shifted_warp_is_two_lines_in_lane_order) {
    Segment segment[MAX_SEGMENTS];
    MemoryOp op = strided(0xc0000080 + 64, 4, 4);
    ck_assert_uint_eq(coalesce(&op, segment, COALESCE_LINE), 2);
    ck_assert_uint_eq(segment[0].address, 0xc00000c0);
    ck_assert_uint_eq(segment[0].bytes, 64);
    ck_assert_uint_eq(segment[0].lanes, 0x0000ffff);
    ck_assert_uint_eq(segment[1].address, 0xc0000100);
    ck_assert_uint_eq(segment[1].lanes, 0xffff0000);
}
END_TEST

START_TEST(lines_apart_are_one_segment_per_lane_and_inactive_lanes_none) {
    Segment segment[MAX_SEGMENTS];
    MemoryOp op = strided(0xc0000000, 4096, 4);
    ck_assert_uint_eq(coalesce(&op, segment, COALESCE_LINE), 32);
    op.lanes = 0x80000001; /* the outermost, so that the extent stays */
    ck_assert_uint_eq(coalesce(&op, segment, COALESCE_LINE), 2);
    ck_assert_uint_eq(segment[1].address, 0xc0000000 + 31 * 4096);
}
END_TEST

/* Lane by lane, each line searched for. */
static uint32_t coalesce_slowly(const MemoryOp *op, Segment *segments, uint32_t widest) {
    uint32_t count = 0;
    for (uint32_t lane = 0; lane < WARP_LANES; lane++) {
        if (!(op->lanes >> lane & 1)) continue;
        uint64_t part = op->address[lane] / widest * widest, offset = op->address[lane] % COALESCE_LINE;
        uint32_t at = 0;
        while (at < count && segments[at].address != part)
            at++;
        if (at == count) segments[count++] = (Segment){.address = part};
        segments[at].lanes |= 1u << lane;
        for (uint32_t byte = 0; byte < op->bytes; byte++)
            segments[at].byte_mask[(offset + byte) / 64] |= 1ull << (offset + byte) % 64;
    }
    for (uint32_t i = 0; i < count; i++) { /* the smallest aligned piece of the line with all of its bytes */
        const uint64_t *mask = segments[i].byte_mask;
        uint32_t first = mask[0] ? (uint32_t)__builtin_ctzll(mask[0])
                                 : 64 + (uint32_t)__builtin_ctzll(mask[1]);
        uint32_t last = mask[1] ? 127 - (uint32_t)__builtin_clzll(mask[1])
                                : 63 - (uint32_t)__builtin_clzll(mask[0]);
        segments[i].bytes = first / 32 == last / 32 ? 32 : first / 64 == last / 64 ? 64 : 128;
        segments[i].address = segments[i].address / COALESCE_LINE * COALESCE_LINE +
                              first / segments[i].bytes * segments[i].bytes;
    }
    return count;
}

static void set_extent(MemoryOp *op) {
    op->lowest = UINT64_MAX;
    op->highest = 0;
    for (uint32_t lane = 0; lane < WARP_LANES; lane++) {
        op->lowest = op->address[lane] < op->lowest ? op->address[lane] : op->lowest;
        op->highest = op->address[lane] > op->highest ? op->address[lane] : op->highest;
    }
}

START_TEST(segments_are_those_that_a_look_at_each_lane_finds) {
    Random random = {11};
    for (uint32_t turn = 0; turn < 20000; turn++) {
        Segment segment[MAX_SEGMENTS], expected[MAX_SEGMENTS] = {{0}};
        uint8_t bytes = (uint8_t)(1u << random_below(&random, 5));
        MemoryOp op = {.bytes = bytes, .space = SPACE_GLOBAL, .kind = INST_STORE, .highest = UINT64_MAX};
        uint64_t lines = 1 + random_below(&random, 40);
        uint32_t together = 1 + (uint32_t)random_below(&random, 32); /* lanes that follow each other */
        uint32_t widest = 128u >> random_below(&random, 3);
        uint64_t base = 0xc0000000,
                 far = random_below(&random, 8) ? 0 : 1ull << (30 + random_below(&random, 12));
        while (!op.lanes)
            op.lanes = random_below(&random, 2) ? ~0u : (uint32_t)random_below(&random, 1ull << 32);
        for (uint32_t lane = 0; lane < WARP_LANES; lane++)
            op.address[lane] = lane % together ? op.address[lane - 1] + bytes
                                               : base + random_below(&random, lines * 128 / bytes) * bytes +
                                                     (random_below(&random, 2) ? far : 0);
        if (op.lanes == ~0u && random_below(&random, 2)) set_extent(&op);
        uint32_t count = coalesce(&op, segment, widest);
        ck_assert_uint_eq(count, coalesce_slowly(&op, expected, widest));
        for (uint32_t i = 0; i < count; i++)
            ck_assert_mem_eq(&segment[i], &expected[i], sizeof *segment);
    }
}
END_TEST

START_TEST(the_words_of_a_wide_local_access_are_in_lines_of_their_own) {
    Segment segment[MAX_SEGMENTS];
    MemoryOp op = strided(1ull << 40, 4, 16);
    op.space = SPACE_LOCAL;
    for (op.word_stride = 128; op.word_stride <= 4096; op.word_stride *= 32) {
        ck_assert_uint_eq(coalesce(&op, segment, COALESCE_LINE), 4);
        for (uint32_t i = 0; i < 4; i++) {
            ck_assert_uint_eq(segment[i].address, (1ull << 40) + i * op.word_stride);
            ck_assert_uint_eq(segment[i].bytes, 128);
            ck_assert_uint_eq(segment[i].byte_mask[0] & segment[i].byte_mask[1], ~0ull);
        }
    }
}
END_TEST

/* Where an inactive lane seems to be elsewhere, all are looked at one by one. Nor need the addresses come along. */
START_TEST(lanes_at_the_same_local_words_have_the_segments_that_a_look_at_each_lane_finds) {
    Random random = {12};
    for (uint32_t turn = 0; turn < 2000; turn++) {
        Segment segment[MAX_SEGMENTS], expected[MAX_SEGMENTS];
        uint8_t bytes = (uint8_t)(4u << random_below(&random, 3));
        MemoryOp op = strided((1ull << 40) + 128 * random_below(&random, 100), 4, bytes);
        uint32_t inactive = (uint32_t)random_below(&random, WARP_LANES);
        op.space = SPACE_LOCAL;
        op.word_stride = 128 * (1 + random_below(&random, 64));
        op.lanes = (uint32_t)random_below(&random, 1ull << 32) >> random_below(&random, 32);
        op.lanes = (op.lanes << random_below(&random, 32) | 1u << (inactive + 1) % 32) & ~(1u << inactive);
        uint32_t count = coalesce(&op, segment, COALESCE_LINE);
        op.address[inactive] += 4096;
        ck_assert_uint_eq(count, bytes / 4);
        ck_assert_uint_eq(coalesce(&op, expected, COALESCE_LINE), count);
        for (uint32_t i = 0; i < count; i++)
            ck_assert_mem_eq(&segment[i], &expected[i], sizeof *segment);
        op.highest = op.lowest = op.address[(inactive + 1) % 32] / 128 * 128; /* which says all */
        memset(op.address, 0, sizeof op.address);
        ck_assert_uint_eq(coalesce(&op, segment, COALESCE_LINE), count);
        for (uint32_t i = 0; i < count; i++)
            ck_assert_mem_eq(&segment[i], &expected[i], sizeof *segment);
    }
}
END_TEST

START_TEST(lanes_of_an_atomic_on_the_same_address_are_accesses_of_their_own) {
    Segment segment[MAX_SEGMENTS];
    MemoryOp op = strided(0xc0000000, 0, 4); /* all on one address */
    op.kind = INST_ATOMIC;
    ck_assert_uint_eq(coalesce(&op, segment, COALESCE_LINE), 32);
    for (uint32_t i = 0; i < 32; i++) {
        ck_assert_uint_eq(segment[i].lanes, 1u << i);
        ck_assert_uint_eq(segment[i].bytes, 32);
    }
    op = strided(0xc0000000, 4, 4); /* each on its own, in one line */
    op.kind = INST_ATOMIC;
    ck_assert_uint_eq(coalesce(&op, segment, COALESCE_LINE), 1);
    ck_assert_uint_eq(segment[0].lanes, ~0u);
    for (uint32_t i = 0; i < WARP_LANES; i++) /* pairs of lanes share an address */
        op.address[i] = 0xc0000000 + i / 2 * 4;
    ck_assert_uint_eq(coalesce(&op, segment, COALESCE_LINE), 2);
    ck_assert_uint_eq(segment[0].lanes, 0x55555555);
    ck_assert_uint_eq(segment[1].lanes, 0xaaaaaaaa);
}
END_TEST

START_TEST(bank_conflicts_count_different_words_of_a_bank) {
    for (uint32_t stride = 1; stride <= 32; stride *= 2) {
        MemoryOp op = strided(0, 4 * stride, 4);
        ck_assert_uint_eq(shared_conflict_degree(op.address, op.lanes, op.bytes, 32, 0), stride);
    }
    MemoryOp odd = strided(0, 4 * 33, 4), same = strided(64, 0, 4), wide = strided(0, 8, 8);
    ck_assert_uint_eq(shared_conflict_degree(odd.address, odd.lanes, odd.bytes, 32, 0), 1);
    ck_assert_uint_eq(shared_conflict_degree(same.address, same.lanes, same.bytes, 32, 0), 1);
    ck_assert_uint_eq(shared_conflict_degree(wide.address, wide.lanes, wide.bytes, 32, 0), 2);
    MemoryOp few = strided(0, 128, 4);
    few.lanes = 0x7;
    few.highest = few.address[2];
    ck_assert_uint_eq(shared_conflict_degree(few.address, few.lanes, few.bytes, 32, 0), 3);
}
END_TEST

START_TEST(further_lanes_of_an_atomic_on_a_word_keep_its_bank) {
    MemoryOp same = strided(64, 0, 4), apart = strided(0, 4, 4), wide = strided(64, 0, 8);
    for (uint32_t again = 0; again <= MAX_SHARED_ATOMIC_CYCLES; again++) {
        ck_assert_uint_eq(shared_conflict_degree(same.address, ~0u, 4, 32, again), 1 + 31 * again);
        ck_assert_uint_eq(shared_conflict_degree(same.address, 0x7, 4, 32, again), 1 + 2 * again);
        ck_assert_uint_eq(shared_conflict_degree(apart.address, ~0u, 4, 32, again), 1);
        ck_assert_uint_eq(shared_conflict_degree(wide.address, ~0u, 8, 32, again), 1 + 31 * again);
        ck_assert_uint_eq(shared_conflict_degree(wide.address, ~0u, 8, 1, again), 2 + 31 * again);
    }
    MemoryOp mixed = strided(0, 128, 4); /* bank 0: words 0 and 32, each for two lanes, and two for one */
    mixed.address[1] = mixed.address[0];
    mixed.address[3] = mixed.address[2];
    ck_assert_uint_eq(shared_conflict_degree(mixed.address, 0x3f, 4, 32, 2), 4 + 2 * 2);
    mixed.address[2] += 4; /* bank 1 has one of them now */
    ck_assert_uint_eq(shared_conflict_degree(mixed.address, 0x3f, 4, 32, 2), 4 + 2);
}
END_TEST

START_TEST(loads_within_a_line_need_no_look_at_each_lane) {
    Segment quick[MAX_SEGMENTS], thorough[MAX_SEGMENTS];
    Random random = {3};
    for (int i = 0; i < 20000; i++) {
        MemoryOp op = strided(0xc0000000 + random_below(&random, 64) * 4, random_below(&random, 5), 4);
        for (uint32_t k = 0; k < WARP_LANES; k++)
            op.address[k] &= ~3ull;
        op.highest = op.address[WARP_LANES - 1];
        op.lowest = op.address[0];
        op.kind = INST_LOAD;
        uint32_t count = coalesce(&op, quick, COALESCE_LINE);
        op.lowest = 0; /* unknown: look at each lane */
        op.highest = UINT64_MAX;
        ck_assert_uint_eq(coalesce(&op, thorough, COALESCE_LINE), count);
        for (uint32_t k = 0; k < count; k++) {
            ck_assert_uint_eq(quick[k].address, thorough[k].address);
            ck_assert_uint_eq(quick[k].bytes, thorough[k].bytes);
            ck_assert_uint_eq(quick[k].lanes, thorough[k].lanes);
        }
    }
}
END_TEST

/* Of those of the active lanes, in the order of lanes. Some differ in their upper bits alone. */
START_TEST(distinct_addresses_are_those_that_a_look_at_each_lane_finds) {
    Random random = {13};
    for (uint32_t turn = 0; turn < 20000; turn++) {
        uint64_t distinct[WARP_LANES], expected[WARP_LANES];
        uint32_t count = 0, places = 1 + (uint32_t)random_below(&random, 40);
        uint64_t far = random_below(&random, 2) ? 1ull << (26 + random_below(&random, 20)) : 0;
        MemoryOp op = {.lanes = random_below(&random, 2) ? ~0u : (uint32_t)random_below(&random, 1ull << 32)};
        for (uint32_t lane = 0; lane < WARP_LANES; lane++) {
            op.address[lane] = 4 * random_below(&random, places) + (random_below(&random, 4) ? 0 : far);
            uint32_t at = 0;
            while (at < count && expected[at] != op.address[lane])
                at++;
            if (at == count && op.lanes >> lane & 1) expected[count++] = op.address[lane];
        }
        ck_assert_uint_eq(distinct_addresses(&op, distinct), count);
        ck_assert_mem_eq(distinct, expected, count * sizeof *expected);
    }
}
END_TEST

Suite *coalescer_suite(void) {
    Suite *suite = suite_create("coalescer");
    TCase *tests = tcase_create("coalescer");
    tcase_add_test(tests, a_warp_side_by_side_is_one_line);
    tcase_add_test(tests, segments_shrink_to_the_half_or_quarter_that_is_touched);
    tcase_add_test(tests, narrow_segments_are_halves_or_quarters_of_their_own);
    tcase_add_test(tests, sectors_are_named_where_lanes_leave_some_of_a_segment_out);
    tcase_add_test(tests, a_shifted_warp_is_two_lines_in_lane_order);
    tcase_add_test(tests, lines_apart_are_one_segment_per_lane_and_inactive_lanes_none);
    tcase_add_test(tests, segments_are_those_that_a_look_at_each_lane_finds);
    tcase_add_test(tests, the_words_of_a_wide_local_access_are_in_lines_of_their_own);
    tcase_add_test(tests, lanes_at_the_same_local_words_have_the_segments_that_a_look_at_each_lane_finds);
    tcase_add_test(tests, lanes_of_an_atomic_on_the_same_address_are_accesses_of_their_own);
    tcase_add_test(tests, bank_conflicts_count_different_words_of_a_bank);
    tcase_add_test(tests, further_lanes_of_an_atomic_on_a_word_keep_its_bank);
    tcase_add_test(tests, loads_within_a_line_need_no_look_at_each_lane);
    tcase_add_test(tests, distinct_addresses_are_those_that_a_look_at_each_lane_finds);
    suite_add_tcase(suite, tests);
    return suite;
}
