/* The heap of malloc in kernels: blocks do not overlap, whatever is allocated and freed. */
#include "core/ptx/execution/system.h"
#include "core/sim/base/random.h"
#include "tests/unit/suites.h"

enum { HEAP = 8192, BLOCKS = 64 };

typedef struct {
    uint64_t start, bytes;
} Block;

static bool overlaps(const Block *blocks, uint64_t start, uint64_t bytes) {
    for (int i = 0; i < BLOCKS; i++)
        if (blocks[i].start && start < blocks[i].start + blocks[i].bytes && blocks[i].start < start + bytes)
            return true;
    return false;
}

START_TEST(blocks_in_use_never_overlap) {
    DeviceMemory *memory = device_memory_new(1 << 20);
    uint64_t heap = device_alloc(memory, HEAP), answered = 0, refused = 0;
    MemoryView view;
    Block blocks[BLOCKS] = {0};
    Random random = {7};
    view_init(&view, memory);
    for (int step = 0; step < 20000; step++) {
        Block *block = &blocks[random_below(&random, BLOCKS)];
        if (block->start) {
            heap_free(&view, heap, HEAP, block->start);
            *block = (Block){0};
        } else {
            uint64_t bytes = random_below(&random, 8) ? 1 + random_below(&random, 300) : 8000;
            uint64_t start = heap_alloc(&view, heap, HEAP, bytes);
            answered += start != 0;
            refused += start == 0;
            if (!start) continue;
            ck_assert_uint_eq(start % 16, 0);
            ck_assert(start >= heap && start + bytes <= heap + HEAP);
            ck_assert(!overlaps(blocks, start, bytes));
            *block = (Block){start, bytes};
            for (uint64_t i = 0; i < bytes; i++) /* kernels may write anything there */
                view_store(&view, start + i, 1, 0xa5);
        }
        view_commit(&view);
    }
    ck_assert_uint_gt(answered, 5000);
    ck_assert_uint_gt(refused, 100);
    for (int i = 0; i < BLOCKS; i++)
        heap_free(&view, heap, HEAP, blocks[i].start);
    ck_assert_uint_ne(heap_alloc(&view, heap, HEAP, HEAP - 64), 0); /* all are joined again */
    view_free(&view);
    device_memory_free(memory);
}
END_TEST

START_TEST(a_damaged_heap_answers_no_address) {
    DeviceMemory *memory = device_memory_new(1 << 20);
    uint64_t heap = device_alloc(memory, HEAP);
    MemoryView view;
    view_init(&view, memory);
    uint64_t first = heap_alloc(&view, heap, HEAP, 64);
    ck_assert_uint_ne(first, 0);
    heap_free(&view, heap, HEAP, first + 16); /* malloc has not returned it */
    heap_free(&view, heap, HEAP, 5);
    for (uint64_t at = heap; at < heap + HEAP; at += 8)
        view_store(&view, at, 8, UINT64_MAX);
    ck_assert_uint_eq(heap_alloc(&view, heap, HEAP, 64), 0);
    heap_free(&view, heap, HEAP, first);
    ck_assert_uint_eq(heap_alloc(&view, heap, HEAP, 0), 0);
    ck_assert_uint_eq(heap_alloc(&view, 0, HEAP, 8), 0);
    view_commit(&view);
    view_free(&view);
    device_memory_free(memory);
}
END_TEST

START_TEST(the_smallest_block_that_is_large_enough_is_given_out) {
    static const uint64_t sizes[] = {400, 32, 100, 32, 200, 32, 100, 32};
    DeviceMemory *memory = device_memory_new(1 << 20);
    uint64_t heap = device_alloc(memory, HEAP), blocks[8];
    MemoryView view;
    view_init(&view, memory);
    for (int i = 0; i < 8; i++)
        blocks[i] = heap_alloc(&view, heap, HEAP, sizes[i]);
    for (int i = 0; i < 8; i += 2)
        heap_free(&view, heap, HEAP, blocks[i]);
    ck_assert_uint_eq(view.log_count, 0); /* the next request does not search it */
    ck_assert_uint_eq(heap_alloc(&view, heap, HEAP, 101), blocks[2]);
    ck_assert_uint_eq(heap_alloc(&view, heap, HEAP, 100), blocks[6]);
    ck_assert_uint_eq(heap_alloc(&view, heap, HEAP, 100), blocks[4]);
    ck_assert_uint_eq(heap_alloc(&view, heap, HEAP, 300), blocks[0]);
    view_free(&view);
    device_memory_free(memory);
}
END_TEST

/* Kernels write words of the heap to other places of it: headers and links that look sound. */
START_TEST(requests_of_a_damaged_heap_end) {
    DeviceMemory *memory = device_memory_new(1 << 20);
    uint64_t heap = device_alloc(memory, HEAP), blocks[BLOCKS] = {0};
    MemoryView view;
    Random random = {11};
    view_init(&view, memory);
    for (int step = 0; step < 20000; step++) {
        uint64_t *block = &blocks[random_below(&random, BLOCKS)], word;
        if (*block)
            heap_free(&view, heap, HEAP, *block);
        else
            *block = heap_alloc(&view, heap, HEAP, 1 + random_below(&random, 100));
        ck_assert(!*block || (*block > heap && *block < heap + HEAP));
        if (random_below(&random, 4) == 0) *block = 0;
        if (step % 100) continue;
        view_load(&view, heap + 8 * random_below(&random, HEAP / 8), 8, &word);
        view_store(&view, heap + 8 * random_below(&random, HEAP / 8), 8, word);
    }
    view_commit(&view);
    view_free(&view);
    device_memory_free(memory);
}
END_TEST

Suite *device_heap_suite(void) {
    Suite *suite = suite_create("device_heap");
    TCase *heap = tcase_create("heap");
    tcase_add_test(heap, blocks_in_use_never_overlap);
    tcase_add_test(heap, a_damaged_heap_answers_no_address);
    tcase_add_test(heap, the_smallest_block_that_is_large_enough_is_given_out);
    tcase_add_test(heap, requests_of_a_damaged_heap_end);
    suite_add_tcase(suite, heap);
    return suite;
}
