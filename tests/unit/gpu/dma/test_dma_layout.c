/* Where the D2MA engine puts which element, against loops that copy one element after the other. */
#include "core/gpu/dma/dma_layout.h"
#include "core/sim/base/random.h"
#include "tests/unit/suites.h"

#include <string.h>

enum { SHARED_BYTES = 1 << 19, GLOBAL_BASE = 0x10000, GLOBAL_BYTES = 1 << 18, CASES = 150 };

/* The byte of global memory at this offset, and what shared memory held before. */
static uint8_t data(uint64_t offset) {
    return (uint8_t)(offset * 31 + (offset >> 8) * 17 + 1);
}
static const uint8_t untouched = 0xee;

static uint64_t constant_byte(const DmaLayout *layout, uint32_t i) {
    return layout->constant >> (8 * i) & 0xff;
}

/* As a programmer would write it. */
static void copy_plainly(const DmaLayout *layout, uint8_t *shared) {
    uint32_t bytes = 1u << layout->element_shift, done = 0, to = layout->shared;
    int rows = (int)layout->rows, columns = (int)layout->columns;
    int halo_rows = (int)layout->halo_rows, halo_columns = (int)layout->halo_columns;
    for (int row = -halo_rows; row < rows + halo_rows; row++)
        for (int column = -halo_columns; column < columns + halo_columns; column++) {
            bool beyond = (row < 0 && layout->borders & DMA_TOP) ||
                          (row >= rows && layout->borders & DMA_BOTTOM) ||
                          (column < 0 && layout->borders & DMA_LEFT) ||
                          (column >= columns && layout->borders & DMA_RIGHT);
            int64_t element = (int64_t)row * layout->pitch + (int64_t)column * layout->stride;
            uint64_t from = (uint64_t)((int64_t)layout->global + element * bytes);
            for (uint32_t i = 0; i < bytes; i++)
                shared[to + i] = (uint8_t)(beyond ? constant_byte(layout, i) : data(from + i));
            to += bytes;
            if (layout->padded && ++done % layout->padded == 0) to += layout->blank;
        }
}

/* What the engine does: run after run. Every byte of a run must lie in its segment. */
static void copy_by_runs(const DmaLayout *layout, uint8_t *shared) {
    uint32_t bytes = 1u << layout->element_shift, elements = dma_elements(layout);
    for (uint32_t e = dma_next_fetched(layout, 0); e < elements;) {
        DmaRun run = dma_fetched_run(layout, e);
        ck_assert_uint_gt(run.count, 0);
        ck_assert(run.bytes == 32 || run.bytes == 64 || run.bytes == 128);
        ck_assert_uint_eq(run.segment % run.bytes, 0);
        for (uint32_t i = e; i < e + run.count; i++) {
            uint64_t from = dma_global_address(layout, i);
            ck_assert(!dma_is_constant(layout, i));
            ck_assert(from >= run.segment && from + bytes <= run.segment + run.bytes);
            for (uint32_t b = 0; b < bytes; b++)
                shared[dma_shared_address(layout, i) + b] = data(from + b);
        }
        e = dma_next_fetched(layout, e + run.count);
    }
    for (uint32_t e = dma_next_constant(layout, 0); e < elements;) {
        DmaRun run = dma_constant_run(layout, e);
        ck_assert(run.count > 0 && run.count * bytes <= DMA_SEGMENT);
        for (uint32_t i = e; i < e + run.count; i++) {
            ck_assert(dma_is_constant(layout, i));
            for (uint32_t b = 0; b < bytes; b++)
                shared[dma_shared_address(layout, i) + b] = (uint8_t)constant_byte(layout, b);
        }
        e = dma_next_constant(layout, e + run.count);
    }
}

static uint32_t between(Random *random, uint32_t least, uint32_t most) {
    return least + (uint32_t)random_below(random, most - least + 1);
}

typedef enum { FLAT, STRIDED, TILE, PADDED_FLAT, PADDED_TILE, HALO, MODES } Mode;

static DmaLayout any_layout(Random *random, Mode mode) {
    DmaLayout layout = {.rows = 1, .stride = 1, .element_shift = (uint8_t)random_below(random, 4)};
    uint32_t bytes = 1u << layout.element_shift;
    layout.columns = between(random, 1, mode == FLAT || mode == PADDED_FLAT ? 1500 : 70);
    layout.shared = between(random, 0, 40) * bytes;
    layout.global = GLOBAL_BASE + between(random, 0, 300) * bytes;
    layout.constant = (uint64_t)random_below(random, UINT32_MAX) << 32 | random_below(random, UINT32_MAX);
    if (mode == STRIDED) layout.stride = between(random, 0, 60);
    if (mode == TILE || mode == PADDED_TILE || mode == HALO) {
        layout.rows = between(random, 1, 20);
        layout.pitch = between(random, 0, 3) ? layout.columns + between(random, 0, 90) : layout.columns;
    }
    if (mode == PADDED_FLAT || mode == PADDED_TILE) {
        layout.padded = between(random, 1, 40);
        layout.blank = between(random, 0, 5) * bytes;
    }
    if (mode == HALO) {
        layout.halo_rows = between(random, 0, 4);
        layout.halo_columns = between(random, 0, 4);
        layout.borders = (uint8_t)random_below(random, 16);
        layout.pitch += 8;
    }
    return layout;
}

START_TEST(every_mode_copies_every_element_to_its_place) {
    static uint8_t plain[SHARED_BYTES], by_runs[SHARED_BYTES];
    Random random = {77 + (uint64_t)_i};
    for (int i = 0; i < CASES; i++) {
        DmaLayout layout = any_layout(&random, (Mode)_i);
        memset(plain, untouched, sizeof plain);
        memset(by_runs, untouched, sizeof by_runs);
        copy_plainly(&layout, plain);
        copy_by_runs(&layout, by_runs);
        ck_assert(!memcmp(plain, by_runs, sizeof plain));
    }
}
END_TEST

START_TEST(ranges_hold_exactly_what_is_copied) {
    Random random = {5 + (uint64_t)_i};
    for (int i = 0; i < CASES; i++) {
        DmaLayout layout = any_layout(&random, (Mode)_i);
        uint64_t bytes = 1u << layout.element_shift, end = 0, first = UINT64_MAX, last = 0, from, to;
        for (uint32_t e = 0; e < dma_elements(&layout); e++) {
            if (dma_shared_address(&layout, e) + bytes > end) end = dma_shared_address(&layout, e) + bytes;
            if (dma_is_constant(&layout, e)) continue;
            if (dma_global_address(&layout, e) < first) first = dma_global_address(&layout, e);
            if (dma_global_address(&layout, e) + bytes > last) last = dma_global_address(&layout, e) + bytes;
        }
        dma_global_range(&layout, &from, &to);
        ck_assert_uint_eq(dma_shared_end(&layout), end);
        ck_assert_uint_eq(from, first);
        ck_assert_uint_eq(to, last);
    }
}
END_TEST

static uint32_t fetched_runs(const DmaLayout *layout, uint32_t *bytes) {
    uint32_t runs = 0;
    for (uint32_t e = dma_next_fetched(layout, 0); e < dma_elements(layout);) {
        DmaRun run = dma_fetched_run(layout, e);
        bytes[runs++] = run.bytes;
        e = dma_next_fetched(layout, e + run.count);
    }
    return runs;
}

/* 224 B from 96 B into a line on: a head of 32 B, a line, a tail of 64 B. */
START_TEST(head_and_tail_of_a_unit_stride_transfer_are_smaller_segments) {
    uint32_t bytes[8];
    DmaLayout layout = {.global = 0x1060, .rows = 1, .columns = 56, .stride = 1, .element_shift = 2};
    ck_assert_uint_eq(fetched_runs(&layout, bytes), 3);
    ck_assert_uint_eq(bytes[0], 32);
    ck_assert_uint_eq(bytes[1], 128);
    ck_assert_uint_eq(bytes[2], 64);
    /* 40 B in the middle of a line that no smaller segment holds. */
    layout.global = 0x1030;
    layout.columns = 10;
    ck_assert_uint_eq(fetched_runs(&layout, bytes), 1);
    ck_assert_uint_eq(bytes[0], 128);
}
END_TEST

/* Rows that follow each other without a gap still begin new requests. */
START_TEST(a_new_row_begins_a_new_request) {
    uint32_t bytes[8];
    DmaLayout layout = {
        .global = 0x1000, .rows = 4, .columns = 8, .pitch = 8, .stride = 1, .element_shift = 2};
    ck_assert_uint_eq(fetched_runs(&layout, bytes), 4);
    ck_assert_uint_eq(bytes[3], 32);
}
END_TEST

/* Every other float: sixteen to a segment. A stride of 40 floats: one, and whole lines all the same. */
START_TEST(a_strided_transfer_asks_once_for_each_line) {
    uint32_t bytes[64];
    DmaLayout layout = {.global = 0x1000, .rows = 1, .columns = 40, .stride = 2, .element_shift = 2};
    ck_assert_uint_eq(fetched_runs(&layout, bytes), 3);
    layout.stride = 40;
    ck_assert_uint_eq(fetched_runs(&layout, bytes), 40);
    ck_assert_uint_eq(bytes[39], 128);
}
END_TEST

Suite *dma_layout_suite(void) {
    Suite *suite = suite_create("dma_layout");
    TCase *layouts = tcase_create("layouts");
    tcase_add_loop_test(layouts, every_mode_copies_every_element_to_its_place, 0, MODES);
    tcase_add_loop_test(layouts, ranges_hold_exactly_what_is_copied, 0, MODES);
    tcase_add_test(layouts, head_and_tail_of_a_unit_stride_transfer_are_smaller_segments);
    tcase_add_test(layouts, a_new_row_begins_a_new_request);
    tcase_add_test(layouts, a_strided_transfer_asks_once_for_each_line);
    suite_add_tcase(suite, layouts);
    return suite;
}
