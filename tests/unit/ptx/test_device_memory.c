#include "tests/unit/ptx/warp_fixture.h"

#include <sys/resource.h>

/* Allocation. */

START_TEST(allocations_are_first_fit_in_address_order) {
    DeviceMemory *memory = device_memory_new(4096);
    uint64_t a = device_alloc(memory, 1), b = device_alloc(memory, 257), c = device_alloc(memory, 256);
    ck_assert_uint_eq(a, DEVICE_MEMORY_BASE);
    ck_assert_uint_eq(b, DEVICE_MEMORY_BASE + 256);
    ck_assert_uint_eq(c, DEVICE_MEMORY_BASE + 768);
    ck_assert_uint_eq(device_bytes_live(memory), 1024);
    ck_assert(device_release(memory, b));
    ck_assert(!device_release(memory, b));
    ck_assert(!device_release(memory, c + 1));
    ck_assert_uint_eq(device_alloc(memory, 513), c + 256);
    ck_assert_uint_eq(device_alloc(memory, 512), b);
    ck_assert_uint_eq(device_bytes_live(memory), 256 * (1 + 2 + 1 + 3));
    ck_assert_uint_eq(device_alloc(memory, 4096 - 7 * 256 + 1), 0);
    ck_assert_uint_eq(device_alloc(memory, UINT64_MAX), 0);
    ck_assert_uint_ne(device_alloc(memory, 4096 - 7 * 256), 0);
    ck_assert_uint_eq(device_alloc(memory, 1), 0);
    ck_assert(device_release(memory, c));
    ck_assert_uint_eq(device_bytes_live(memory), 4096 - 256);
    ck_assert_uint_eq(device_bytes_peak(memory), 4096);
    device_memory_free(memory);
}
END_TEST

enum { MODEL_BLOCKS = 64 };

/* Where first fit in address order puts granules, of those in use: by looking at each. */
static size_t first_fit(const bool *used, size_t granules, size_t size, size_t align) {
    for (size_t at = 0; at + size <= granules; at += align) {
        size_t clear = 0;
        while (clear < size && !used[at + clear])
            clear++;
        if (clear == size) return at;
    }
    return granules;
}

START_TEST(many_allocations_and_releases_are_first_fit) {
    enum { GRANULES = 512, STEPS = 4000 };
    DeviceMemory *memory = device_memory_new(GRANULES * 256ull);
    bool used[GRANULES] = {false};
    size_t starts[MODEL_BLOCKS], sizes[MODEL_BLOCKS] = {0};
    uint32_t random = 1;
    for (int step = 0; step < STEPS; step++) {
        random = random * 1664525 + 1013904223;
        size_t block = random >> 26, size = 1 + (random >> 20 & 15), align = 1u << (random >> 16 & 3);
        if (sizes[block]) {
            ck_assert(device_release(memory, DEVICE_MEMORY_BASE + starts[block] * 256));
            memset(used + starts[block], false, sizes[block]);
            sizes[block] = 0;
            continue;
        }
        size_t expected = first_fit(used, GRANULES, size, align);
        uint64_t got = device_alloc_aligned(memory, size * 256 - 5, align * 256, NULL);
        ck_assert_uint_eq(got, expected < GRANULES ? DEVICE_MEMORY_BASE + expected * 256 : 0);
        if (!got) continue;
        memset(used + expected, true, size);
        starts[block] = expected, sizes[block] = size;
    }
    device_memory_free(memory);
}
END_TEST

START_TEST(aligned_allocations_leave_room_before_them_for_others) {
    DeviceMemory *memory = device_memory_new(16384);
    ck_assert_uint_eq(device_alloc(memory, 256), DEVICE_MEMORY_BASE);
    ck_assert_uint_eq(device_alloc_aligned(memory, 256, 4096, NULL), DEVICE_MEMORY_BASE + 4096);
    ck_assert_uint_eq(device_alloc_aligned(memory, 0, 512, NULL), DEVICE_MEMORY_BASE + 512);
    ck_assert_uint_eq(device_alloc_aligned(memory, 1, 1, NULL), DEVICE_MEMORY_BASE + 256);
    ck_assert_uint_eq(device_alloc_aligned(memory, 8192, 4096, NULL), DEVICE_MEMORY_BASE + 8192);
    ck_assert_uint_eq(device_alloc_aligned(memory, 256, 8192, NULL), 0);
    ck_assert_uint_eq(device_alloc(memory, 4096 - 768), DEVICE_MEMORY_BASE + 768);
    device_memory_free(memory);
}
END_TEST

START_TEST(reused_memory_is_zero_again) {
    DeviceMemory *memory = device_memory_new(1 << 20);
    uint64_t sizes[] = {256, 3000, 4096, 20000};
    for (size_t index = 0; index < 4; index++) {
        uint64_t before = device_alloc(memory, 512), block = device_alloc(memory, sizes[index]),
                 after = device_alloc(memory, 512);
        device_fill(memory, before, 0x11, 512);
        device_fill(memory, block, 0xee, sizes[index]);
        device_fill(memory, after, 0x22, 512);
        ck_assert(device_release(memory, block));
        ck_assert_uint_eq(device_alloc(memory, sizes[index]), block);
        for (uint64_t offset = 0; offset < sizes[index]; offset++) {
            uint8_t byte;
            device_read(memory, block + offset, &byte, 1);
            ck_assert_uint_eq(byte, 0);
        }
        uint8_t guard;
        device_read(memory, before + 511, &guard, 1);
        ck_assert_uint_eq(guard, 0x11);
        device_read(memory, after, &guard, 1);
        ck_assert_uint_eq(guard, 0x22);
    }
    device_memory_free(memory);
}
END_TEST

START_TEST(coverage_ends_with_the_allocation) {
    DeviceMemory *memory = device_memory_new(1 << 16);
    DeviceBlock block;
    ck_assert(!device_nearest(memory, DEVICE_MEMORY_BASE, &block));
    uint64_t a = device_alloc(memory, 256), b = device_alloc(memory, 256), c = device_alloc(memory, 200);
    ck_assert(device_release(memory, b));
    ck_assert(device_covers(memory, a, 256));
    ck_assert(device_covers(memory, a + 255, 1));
    ck_assert(!device_covers(memory, a + 255, 2));
    ck_assert(!device_covers(memory, a + 256, 1));
    ck_assert(!device_covers(memory, a - 1, 1));
    ck_assert(!device_covers(memory, a, UINT64_MAX));
    ck_assert(device_nearest(memory, a + 260, &block));
    ck_assert_uint_eq(block.start, a);
    ck_assert(device_nearest(memory, c - 4, &block));
    ck_assert_uint_eq(block.start, c);
    ck_assert_uint_eq(block.bytes, 200); /* as asked for */
    ck_assert(device_nearest(memory, 0, &block));
    ck_assert_uint_eq(block.start, a);
    ck_assert(device_nearest(memory, UINT64_MAX, &block));
    ck_assert_uint_eq(block.start, c);
    device_memory_free(memory);
}
END_TEST

START_TEST(released_allocations_are_remembered) {
    DeviceMemory *memory = device_memory_new(1 << 16);
    DeviceBlock block;
    device_note_call(memory, 3);
    uint64_t a = device_alloc(memory, 100), b = device_alloc_aligned(memory, 1000, 256, "table");
    device_note_call(memory, 5);
    ck_assert(!device_released(memory, a, &block));
    ck_assert(device_release(memory, a));
    ck_assert(device_release(memory, b));
    ck_assert(device_released(memory, a + 99, &block));
    ck_assert_uint_eq(block.start, a);
    ck_assert_uint_eq(block.bytes, 100);
    ck_assert_uint_eq(block.made_by, 3);
    ck_assert_uint_eq(block.freed_by, 5);
    ck_assert_ptr_null(block.name);
    ck_assert(!device_released(memory, a + 100, &block));
    ck_assert(device_released(memory, b, &block));
    ck_assert_str_eq(block.name, "table");
    ck_assert_uint_eq(device_alloc(memory, 100), a); /* used again: it is no released one */
    ck_assert(!device_released(memory, a, &block));
    for (int i = 0; i < 300; i++) /* more than are remembered */
        ck_assert(device_release(memory, device_alloc(memory, 8)));
    ck_assert(device_released(memory, b, &block));
    ck_assert_uint_eq(block.bytes, 8);
    device_memory_free(memory);
}
END_TEST

/* Its blocks of 2 MiB begin at multiples of 2 MiB. */
START_TEST(bounds_of_hardware_are_those_of_what_is_mapped) {
    const uint64_t mapped = MAPPED_BLOCK_BYTES;
    DeviceMemory *memory = device_memory_new(16 * mapped);
    MemoryView view;
    uint64_t value = 0;
    device_set_bounds(memory, BOUNDS_HARDWARE);
    view_init(&view, memory);
    ck_assert(!view_covers(&view, DEVICE_MEMORY_BASE, 1));
    uint64_t a = device_alloc(memory, 256);
    ck_assert(view_covers(&view, a + 256, 4));
    ck_assert(view_covers(&view, a, mapped));
    ck_assert(!view_covers(&view, a, mapped + 1));
    ck_assert(!view_covers(&view, a - 1, 1));
    ck_assert(!view_covers(&view, a + mapped, 1));
    ck_assert(!device_covers(memory, a + 256, 1)); /* the host's copies stay within allocations */
    ck_assert(view_store(&view, a + 512, 4, 77));
    view_commit(&view);
    ck_assert(view_load(&view, a + 512, 4, &value));
    ck_assert_uint_eq(value, 77);
    uint64_t b = device_alloc(memory, 2 * mapped); /* from a + 256 on, into the third block */
    ck_assert_uint_eq(b, a + 256);
    ck_assert(view_load(&view, a + 512, 4, &value));
    ck_assert_uint_eq(value, 0); /* an allocation begins with zeros */
    ck_assert(view_covers(&view, a, 3 * mapped));
    ck_assert(view_store(&view, a + 3 * mapped - 8, 8, 99));
    view_commit(&view);
    ck_assert(device_release(memory, b));
    ck_assert(!view_covers(&view, a + 3 * mapped - 8, 8));
    ck_assert(view_covers(&view, a + mapped - 8, 8));
    uint64_t c = device_alloc(memory, 3 * mapped - 512);
    ck_assert(view_load(&view, a + 3 * mapped - 8, 8, &value)); /* behind c, in its last block */
    ck_assert_uint_eq(value, 0);
    ck_assert(device_release(memory, c));
    view_free(&view);
    device_memory_free(memory);
}
END_TEST

START_TEST(bytes_of_no_block_stay_so_when_they_are_written) {
    DeviceMemory *memory = device_memory_new(1 << 16);
    device_track_initialised(memory);
    uint64_t a = device_alloc(memory, 256);
    device_set_bytes(memory, a, 256, BYTE_OF_NO_BLOCK);
    device_set_bytes(memory, a + 16, 12, BYTE_UNWRITTEN);
    ck_assert_uint_eq(device_block_bytes(memory, a + 16, a + 256), 12);
    ck_assert_int_eq(device_block_state(memory, a + 16, 12), BYTE_WRITTEN);
    ck_assert_int_eq(device_block_state(memory, a + 16, 13), BYTE_OF_NO_BLOCK);
    device_initialise(memory, a + 16, 4);
    ck_assert(device_is_initialised(memory, a + 16, 4) && !device_is_initialised(memory, a + 20, 1));
    device_set_bytes(memory, a + 16, 12, BYTE_FREED);
    device_initialise(memory, a + 16, 4);
    ck_assert_int_eq(device_block_state(memory, a + 16, 4), BYTE_FREED);
    device_memory_free(memory);
}
END_TEST

START_TEST(bytes_are_initialised_when_they_are_written) {
    DeviceMemory *memory = device_memory_new(1 << 16);
    device_track_initialised(memory);
    uint64_t a = device_alloc(memory, 256);
    ck_assert(!device_is_initialised(memory, a, 1));
    device_write(memory, a + 3, "abc", 3);
    ck_assert(device_is_initialised(memory, a + 3, 3));
    ck_assert(!device_is_initialised(memory, a + 2, 2));
    ck_assert(!device_is_initialised(memory, a + 3, 4));
    device_fill(memory, a + 6, 0, 2);
    ck_assert(device_is_initialised(memory, a + 3, 5));
    device_initialise(memory, a, 3);
    ck_assert(device_is_initialised(memory, a, 8));
    ck_assert(device_release(memory, a));
    ck_assert_uint_eq(device_alloc(memory, 256), a);
    ck_assert(!device_is_initialised(memory, a, 1));
    device_memory_free(memory);
    memory = device_memory_new(1 << 16); /* not tracked: everything is */
    ck_assert(device_is_initialised(memory, device_alloc(memory, 8), 8));
    device_memory_free(memory);
}
END_TEST

static uint64_t most_resident_bytes(void) {
    struct rusage usage;
    ck_assert_int_eq(getrusage(RUSAGE_SELF, &usage), 0);
    return (uint64_t)usage.ru_maxrss * 1024;
}

START_TEST(what_is_known_of_bytes_takes_memory_only_where_something_is_known) {
    const uint64_t bytes = 256 << 20;
    DeviceMemory *memory = device_memory_new(bytes);
    device_track_initialised(memory);
    uint64_t before = most_resident_bytes();
    for (int turn = 0; turn < 2; turn++) {
        uint64_t a = device_alloc(memory, bytes - 256);
        device_write(memory, a + 5000, "abc", 3);
        ck_assert(device_is_initialised(memory, a + 5000, 3) && !device_is_initialised(memory, a + 5003, 1));
        ck_assert(device_release(memory, a));
    }
    ck_assert_uint_eq(device_alloc(memory, 10000), DEVICE_MEMORY_BASE);
    ck_assert(!device_is_initialised(memory, DEVICE_MEMORY_BASE + 5000, 1));
    ck_assert_uint_lt(most_resident_bytes() - before, bytes / 2);
    device_memory_free(memory);
}
END_TEST

START_TEST(writes_between_allocations_are_in_checkpoints) {
    DeviceMemory *memories[2];
    MemoryView view;
    Buffer buffer = {0};
    char why[200] = "";
    uint64_t value = 0, last = DEVICE_MEMORY_BASE + MAPPED_BLOCK_BYTES - 8;
    for (int i = 0; i < 2; i++) {
        memories[i] = device_memory_new(4 * MAPPED_BLOCK_BYTES);
        device_set_bounds(memories[i], BOUNDS_HARDWARE);
        device_alloc(memories[i], 256);
    }
    view_init(&view, memories[0]);
    ck_assert(view_store(&view, last, 8, 0x1122334455667788));
    view_commit(&view);
    view_free(&view);
    device_memory_save(memories[0], &buffer);
    Reader reader = {.bytes = buffer.bytes, .count = buffer.count};
    ck_assert_msg(device_memory_load(memories[1], &reader, why, sizeof why), "%s", why);
    view_init(&view, memories[1]);
    ck_assert(view_load(&view, last, 8, &value));
    ck_assert_uint_eq(value, 0x1122334455667788);
    view_free(&view);
    buffer_free(&buffer);
    device_memory_free(memories[0]);
    device_memory_free(memories[1]);
}
END_TEST

START_TEST(digest_sees_contents_and_places) {
    uint64_t before = device_digest(warp.memory);
    uint8_t one = 1, zero = 0;
    device_write(warp.memory, warp.buffer + 12345, &one, 1);
    uint64_t changed = device_digest(warp.memory);
    ck_assert_uint_ne(changed, before);
    device_write(warp.memory, warp.buffer + 12345, &zero, 1);
    ck_assert_uint_eq(device_digest(warp.memory), before);
    uint64_t more = device_alloc(warp.memory, 256);
    ck_assert_uint_ne(device_digest(warp.memory), before);
    ck_assert(device_release(warp.memory, more));
    ck_assert_uint_eq(device_digest(warp.memory), before);
}
END_TEST

/* The law of memory values. */

START_TEST(a_write_is_seen_by_its_writer_at_once_and_by_others_after_commit) {
    MemoryView other;
    view_init(&other, warp.memory);
    ck_assert(view_store(&warp.view, warp.buffer + 8, 4, 0xdeadbeef));
    ck_assert_uint_eq(load(&warp.view, warp.buffer + 8, 4), 0xdeadbeef);
    ck_assert_uint_eq(load(&other, warp.buffer + 8, 4), 0);
    uint32_t host;
    device_read(warp.memory, warp.buffer + 8, &host, 4);
    ck_assert_uint_eq(host, 0);
    view_commit(&warp.view);
    ck_assert_uint_eq(warp.view.log_count, 0);
    ck_assert_uint_eq(load(&other, warp.buffer + 8, 4), 0xdeadbeef);
    ck_assert_uint_eq(load(&warp.view, warp.buffer + 8, 4), 0xdeadbeef);
    view_free(&other);
}
END_TEST

START_TEST(overlapping_writes_are_seen_byte_by_byte_newest_first) {
    uint64_t at = warp.buffer + 64;
    uint64_t initial = 0x8877665544332211ull;
    device_write(warp.memory, at, &initial, 8);
    view_store(&warp.view, at + 4, 4, 0xddccbbaa);
    ck_assert_uint_eq(load(&warp.view, at, 8), 0xddccbbaa44332211ull);
    view_store(&warp.view, at + 6, 1, 0x01);
    view_store(&warp.view, at + 1, 1, 0x02);
    ck_assert_uint_eq(load(&warp.view, at, 8), 0xdd01bbaa44330211ull);
    view_store(&warp.view, at + 4, 2, 0x0403);
    ck_assert_uint_eq(load(&warp.view, at, 8), 0xdd01040344330211ull);
    ck_assert_uint_eq(load(&warp.view, at + 6, 2), 0xdd01);
    ck_assert_uint_eq(load(&warp.view, at + 2, 1), 0x33);
    ck_assert_uint_eq(load(&warp.view, at + 8, 8), 0);
    view_commit(&warp.view);
    ck_assert_uint_eq(load(&warp.view, at, 8), 0xdd01040344330211ull);
}
END_TEST

START_TEST(commits_apply_in_the_order_of_the_calls) {
    MemoryView other;
    view_init(&other, warp.memory);
    view_store(&warp.view, warp.buffer, 4, 1);
    view_store(&warp.view, warp.buffer, 4, 2);
    view_store(&other, warp.buffer, 4, 3);
    view_commit(&other);
    view_commit(&warp.view);
    ck_assert_uint_eq(load(&other, warp.buffer, 4), 2);
    view_free(&other);
}
END_TEST

START_TEST(a_view_forgets_released_allocations) {
    uint64_t block = device_alloc(warp.memory, 256), value;
    ck_assert(view_load(&warp.view, block, 4, &value));
    ck_assert(device_release(warp.memory, block));
    ck_assert(!view_load(&warp.view, block, 4, &value));
    ck_assert(!view_store(&warp.view, block, 4, 0));
    ck_assert_uint_eq(warp.view.log_count, 0);
}
END_TEST

START_TEST(many_writes_grow_the_log) {
    for (uint32_t index = 0; index < 5000; index++)
        view_store(&warp.view, warp.buffer + 4 * (index % 1000), 4, index);
    for (uint32_t index = 0; index < 1000; index += 37)
        ck_assert_uint_eq(load(&warp.view, warp.buffer + 4 * index, 4), 4000 + index);
    view_commit(&warp.view);
    for (uint32_t index = 0; index < 1000; index++)
        ck_assert_uint_eq(load(&warp.view, warp.buffer + 4 * index, 4), 4000 + index);
}
END_TEST

/* Checkpoints. */

enum { PAGE = 4096 };

/* Of a save without pages: peak, count, allocations, the empty range at the end. */
static size_t bytes_without_pages(size_t allocations) {
    return 8 + 8 + 16 * allocations + 16;
}

static void expect_saved_bytes(const DeviceMemory *memory, size_t allocations, size_t ranges, size_t bytes) {
    Buffer saved = {0};
    device_memory_save(memory, &saved);
    ck_assert_uint_eq(saved.count, bytes_without_pages(allocations) + 16 * ranges + bytes);
    buffer_free(&saved);
}

static bool load_saved(DeviceMemory *memory, const Buffer *saved, size_t count, char *why, size_t why_size) {
    Reader reader = {.bytes = saved->bytes, .count = count};
    return device_memory_load(memory, &reader, why, why_size);
}

static void store_and_commit(DeviceMemory *memory, uint64_t address, uint32_t bytes, uint64_t value) {
    MemoryView view;
    view_init(&view, memory);
    ck_assert(view_store(&view, address, bytes, value));
    view_commit(&view);
    view_free(&view);
}

/* A host program, and the kernels between its steps: a resumed run does the steps again, not the kernels. */
enum { ROUNDS = 6, BLOCKS = 4 };

static void host_round(DeviceMemory *memory, uint64_t *block, int round) {
    static const uint64_t sizes[BLOCKS] = {300, 3 * PAGE, 40000, 700};
    int which = round % BLOCKS;
    if (block[which]) ck_assert(device_release(memory, block[which]));
    block[which] = device_alloc(memory, sizes[(which + round) % BLOCKS]);
    uint32_t marks[40];
    for (uint32_t i = 0; i < 40; i++)
        marks[i] = (uint32_t)round * 1000 + i;
    device_write(memory, block[which] + 64, marks, sizeof marks);
    device_fill(memory, block[which] + 240, (uint8_t)round, 50);
}

static void kernel_round(DeviceMemory *memory, const uint64_t *block, int round) {
    for (int which = 0; which < BLOCKS; which++) {
        if (!block[which]) continue;
        store_and_commit(memory, block[which] + 8 * (uint64_t)round, 8, 0x1111 * (uint64_t)round);
        if (device_covers(memory, block[which], 2 * PAGE))
            store_and_commit(memory, block[which] + 2 * PAGE - 4 - 8 * (uint64_t)round, 8, ~0ull);
    }
}

START_TEST(a_save_and_the_replayed_host_program_make_up_the_whole_memory) {
    DeviceMemory *first = device_memory_new(1 << 20), *again = device_memory_new(1 << 20);
    uint64_t block[BLOCKS] = {0}, replayed[BLOCKS] = {0};
    for (int round = 0; round < ROUNDS; round++) {
        host_round(first, block, round);
        kernel_round(first, block, round);
    }
    host_round(first, block, ROUNDS);
    for (int round = 0; round <= ROUNDS; round++)
        host_round(again, replayed, round);
    ck_assert_uint_ne(device_digest(again), device_digest(first));

    Buffer saved = {0}, resaved = {0};
    char why[200] = "";
    device_memory_save(first, &saved);
    ck_assert_msg(load_saved(again, &saved, saved.count, why, sizeof why), "%s", why);
    ck_assert_uint_eq(device_digest(again), device_digest(first));
    device_memory_save(again, &resaved);
    ck_assert_uint_eq(resaved.count, saved.count);
    ck_assert_mem_eq(resaved.bytes, saved.bytes, saved.count);

    /* What is free must be zero here, too, or the next allocation would differ. */
    for (int round = ROUNDS + 1; round < 2 * ROUNDS; round++) {
        host_round(first, block, round);
        host_round(again, replayed, round);
        ck_assert_uint_eq(device_digest(again), device_digest(first));
    }
    buffer_free(&saved);
    buffer_free(&resaved);
    device_memory_free(first);
    device_memory_free(again);
}
END_TEST

START_TEST(only_pages_that_kernels_wrote_are_saved) {
    DeviceMemory *memory = device_memory_new(1 << 20);
    uint64_t block = device_alloc(memory, 64 * PAGE);
    device_fill(memory, block, 0x77, 64 * PAGE);
    expect_saved_bytes(memory, 1, 0, 0);
    store_and_commit(memory, block + 5 * PAGE, 4, 1);
    expect_saved_bytes(memory, 1, 1, PAGE);
    store_and_commit(memory, block + 6 * PAGE - 1, 1, 1);
    expect_saved_bytes(memory, 1, 1, PAGE);
    store_and_commit(memory, block + 6 * PAGE, 1, 1);
    expect_saved_bytes(memory, 1, 1, 2 * PAGE);
    store_and_commit(memory, block + 63 * PAGE, 8, 1);
    expect_saved_bytes(memory, 1, 2, 3 * PAGE);
    store_and_commit(memory, block, 8, 1);
    expect_saved_bytes(memory, 1, 3, 4 * PAGE);
    device_memory_free(memory);
}
END_TEST

START_TEST(a_write_across_pages_marks_both) {
    DeviceMemory *memory = device_memory_new(1 << 20);
    MemoryView view;
    view_init(&view, memory);
    uint64_t block = device_alloc(memory, 8 * PAGE);
    view_store(&view, block + PAGE, 8, 1);
    view_store(&view, block + 2 * PAGE - 8, 8, 1);
    view_commit(&view);
    expect_saved_bytes(memory, 1, 1, PAGE);
    view_store(&view, block + PAGE + 8, 8, 1);
    view_store(&view, block + 2 * PAGE - 4, 8, 1); /* behind a write to the page in which it begins */
    view_commit(&view);
    expect_saved_bytes(memory, 1, 1, 2 * PAGE);
    view_store(&view, block + 3 * PAGE - 7, 8, 1);
    view_store(&view, block + 3 * PAGE, 8, 1);
    view_store(&view, block + 5 * PAGE, 1, 1);
    view_store(&view, block + 3 * PAGE + 8, 8, 1);
    view_commit(&view);
    expect_saved_bytes(memory, 1, 2, 4 * PAGE);
    const uint64_t row[16] = {0};
    view.is_alone = true;
    view_write(&view, block + 7 * PAGE - 64, row, sizeof row);
    expect_saved_bytes(memory, 1, 2, 6 * PAGE);
    view_free(&view);
    device_memory_free(memory);
}
END_TEST

START_TEST(a_released_page_loses_its_mark_unless_a_neighbour_shares_it) {
    DeviceMemory *memory = device_memory_new(1 << 20);
    /* In pages: a 0 to 2, b 2 to 5, c 5, d 5 to 7. */
    uint64_t a = device_alloc(memory, 2 * PAGE + 256), b = device_alloc(memory, 3 * PAGE),
             c = device_alloc(memory, 256), d = device_alloc(memory, 2 * PAGE);
    ck_assert_uint_eq(d, a + 5 * PAGE + 512);
    for (uint64_t page = 0; page <= 7; page++)
        store_and_commit(memory, a + page * PAGE, 1, 1);
    expect_saved_bytes(memory, 4, 4, 7 * PAGE + 512);
    ck_assert(device_release(memory, b));
    expect_saved_bytes(memory, 3, 3, 4 * PAGE + 512);
    ck_assert_uint_eq(device_alloc(memory, 3 * PAGE), b);
    expect_saved_bytes(memory, 4, 5, 5 * PAGE + 512); /* its parts of pages 2 and 5 */
    ck_assert(device_release(memory, b));
    ck_assert(device_release(memory, a));
    expect_saved_bytes(memory, 2, 2, 2 * PAGE + 256);
    ck_assert_uint_eq(device_alloc(memory, 2 * PAGE + 256), a);
    expect_saved_bytes(memory, 3, 2, 2 * PAGE + 256);
    ck_assert(device_release(memory, c));
    expect_saved_bytes(memory, 2, 1, 2 * PAGE);
    ck_assert(device_release(memory, d));
    ck_assert(device_release(memory, a));
    ck_assert_uint_eq(device_alloc(memory, 8 * PAGE), a);
    expect_saved_bytes(memory, 1, 0, 0);
    device_memory_free(memory);
}
END_TEST

START_TEST(the_last_page_may_be_cut_off_by_the_capacity) {
    DeviceMemory *memory = device_memory_new(PAGE + 256), *again = device_memory_new(PAGE + 256);
    uint64_t block = device_alloc(memory, PAGE + 256);
    ck_assert_uint_eq(device_alloc(again, PAGE + 256), block);
    store_and_commit(memory, block + PAGE + 248, 8, 5);
    expect_saved_bytes(memory, 1, 1, 256);
    Buffer saved = {0};
    char why[200] = "";
    device_memory_save(memory, &saved);
    ck_assert_msg(load_saved(again, &saved, saved.count, why, sizeof why), "%s", why);
    ck_assert_uint_eq(device_digest(again), device_digest(memory));
    buffer_free(&saved);
    device_memory_free(memory);
    device_memory_free(again);
}
END_TEST

START_TEST(peak_use_is_that_of_the_save) {
    DeviceMemory *memory = device_memory_new(1 << 20), *again = device_memory_new(1 << 20);
    ck_assert(device_release(memory, device_alloc(memory, 10 * PAGE)));
    Buffer saved = {0};
    char why[200] = "";
    device_memory_save(memory, &saved);
    ck_assert(load_saved(again, &saved, saved.count, why, sizeof why));
    ck_assert_uint_eq(device_bytes_peak(again), 10 * PAGE);
    uint64_t block = device_alloc(again, PAGE);
    ck_assert(!load_saved(again, &saved, saved.count, why, sizeof why));
    ck_assert_ptr_nonnull(strstr(why, "allocation 0 in the order of addresses: expected none as in the "
                                      "checkpoint, got 0xc0000000 to 0xc0001000"));
    ck_assert_uint_eq(device_alloc(memory, PAGE), block);
    for (uint64_t peak = 0; peak < 4; peak++) { /* below what is in use, then beyond the capacity */
        Buffer wrong = {0};
        device_memory_save(memory, &wrong);
        memcpy(wrong.bytes, (uint64_t[]){0, PAGE - 1, (1 << 20) + 1, UINT64_MAX} + peak, 8);
        ck_assert(!load_saved(again, &wrong, wrong.count, why, sizeof why));
        ck_assert_ptr_nonnull(strstr(why, "peak use"));
        buffer_free(&wrong);
    }
    buffer_free(&saved);
    device_memory_free(memory);
    device_memory_free(again);
}
END_TEST

/* Allocations that differ from those of the save, which has two of 512 and 256 bytes. */
static void expect_other_allocations(const Buffer *saved, const uint64_t *sizes, size_t count,
                                     const char *reason) {
    DeviceMemory *memory = device_memory_new(1 << 20);
    for (size_t i = 0; i < count; i++)
        ck_assert_uint_ne(device_alloc(memory, sizes[i]), 0);
    char why[200] = "";
    uint64_t before = device_digest(memory);
    ck_assert(!load_saved(memory, saved, saved->count, why, sizeof why));
    ck_assert_msg(strstr(why, reason) != NULL, "%s", why);
    ck_assert_uint_eq(device_digest(memory), before);
    expect_saved_bytes(memory, count, 0, 0);
    device_memory_free(memory);
}

START_TEST(the_first_allocation_that_differs_is_named) {
    DeviceMemory *memory = device_memory_new(1 << 20);
    store_and_commit(memory, device_alloc(memory, 512), 8, 1);
    device_alloc(memory, 256);
    Buffer saved = {0};
    device_memory_save(memory, &saved);
    expect_other_allocations(&saved, (uint64_t[]){256, 256}, 2,
                             "allocation 0 in the order of addresses: expected 0xc0000000 to 0xc0000200 as "
                             "in the checkpoint, got 0xc0000000 to 0xc0000100");
    expect_other_allocations(&saved, (uint64_t[]){512, 512}, 2, "allocation 1 in");
    expect_other_allocations(&saved, (uint64_t[]){512}, 1,
                             "allocation 1 in the order of addresses: expected 0xc0000200 to 0xc0000300 as "
                             "in the checkpoint, got none");
    expect_other_allocations(&saved, (uint64_t[]){512, 256, 256}, 3, "allocation 2 in");
    buffer_free(&saved);
    device_memory_free(memory);
}
END_TEST

START_TEST(damaged_saves_are_refused_and_change_nothing) {
    DeviceMemory *memory = device_memory_new(1 << 20), *again = device_memory_new(1 << 20);
    uint64_t block = device_alloc(memory, 512), other = device_alloc(memory, 256);
    ck_assert_uint_eq(device_alloc(again, 512), block);
    ck_assert_uint_eq(device_alloc(again, 256), other);
    uint64_t before = device_digest(again);
    store_and_commit(memory, block, 8, 1);
    Buffer saved = {0};
    char why[200];
    device_memory_save(memory, &saved);
    for (size_t count = 0; count < saved.count; count++) {
        snprintf(why, sizeof why, "no reason");
        ck_assert_msg(!load_saved(again, &saved, count, why, sizeof why), "%zu of %zu bytes", count,
                      saved.count);
        ck_assert_msg(strstr(why, "device memory: ") == why, "%zu bytes: %s", count, why);
    }
    buffer_append(&saved, "", 1);
    ck_assert(!load_saved(again, &saved, saved.count, why, sizeof why));
    saved.count--;
    /* The first range of pages, 512 bytes, lies behind peak, count and two allocations. */
    static const struct {
        uint64_t start, end; /* offsets from the block */
    } ranges[] = {{0, 513},           {256, 769}, {512, 512}, {512, 0}, {1 << 20, (1 << 20) + 512},
                  {0, UINT64_MAX / 2}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        uint64_t range[] = {block + ranges[i].start, block + ranges[i].end};
        memcpy(saved.bytes + 48, range, sizeof range);
        ck_assert_msg(!load_saved(again, &saved, saved.count, why, sizeof why), "range %zu", i);
    }
    ck_assert_uint_eq(device_digest(again), before);
    expect_saved_bytes(again, 2, 0, 0);
    buffer_free(&saved);
    device_memory_free(memory);
    device_memory_free(again);
}
END_TEST

Suite *device_memory_suite(void);
Suite *device_memory_suite(void) {
    Suite *suite = suite_create("device memory");
    TCase *cases = tcase_create("device memory");
    tcase_add_checked_fixture(cases, warp_setup, warp_teardown);
    tcase_add_test(cases, allocations_are_first_fit_in_address_order);
    tcase_add_test(cases, many_allocations_and_releases_are_first_fit);
    tcase_add_test(cases, aligned_allocations_leave_room_before_them_for_others);
    tcase_add_test(cases, reused_memory_is_zero_again);
    tcase_add_test(cases, coverage_ends_with_the_allocation);
    tcase_add_test(cases, released_allocations_are_remembered);
    tcase_add_test(cases, bounds_of_hardware_are_those_of_what_is_mapped);
    tcase_add_test(cases, bytes_are_initialised_when_they_are_written);
    tcase_add_test(cases, what_is_known_of_bytes_takes_memory_only_where_something_is_known);
    tcase_add_test(cases, bytes_of_no_block_stay_so_when_they_are_written);
    tcase_add_test(cases, writes_between_allocations_are_in_checkpoints);
    tcase_add_test(cases, digest_sees_contents_and_places);
    tcase_add_test(cases, a_write_is_seen_by_its_writer_at_once_and_by_others_after_commit);
    tcase_add_test(cases, overlapping_writes_are_seen_byte_by_byte_newest_first);
    tcase_add_test(cases, commits_apply_in_the_order_of_the_calls);
    tcase_add_test(cases, a_view_forgets_released_allocations);
    tcase_add_test(cases, many_writes_grow_the_log);
    tcase_add_test(cases, a_save_and_the_replayed_host_program_make_up_the_whole_memory);
    tcase_add_test(cases, only_pages_that_kernels_wrote_are_saved);
    tcase_add_test(cases, a_write_across_pages_marks_both);
    tcase_add_test(cases, a_released_page_loses_its_mark_unless_a_neighbour_shares_it);
    tcase_add_test(cases, the_last_page_may_be_cut_off_by_the_capacity);
    tcase_add_test(cases, peak_use_is_that_of_the_save);
    tcase_add_test(cases, the_first_allocation_that_differs_is_named);
    tcase_add_test(cases, damaged_saves_are_refused_and_change_nothing);
    suite_add_tcase(suite, cases);
    return suite;
}
