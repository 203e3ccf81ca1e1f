#include "core/ptx/execution/memory_state.h"

#include "core/sim/base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define GRANULE 256ull

static void *grow(void *array, size_t *capacity, size_t element_bytes) {
    *capacity = *capacity ? *capacity * 2 : 64;
    array = realloc(array, *capacity * element_bytes);
    ensure_memory(array);
    return array;
}

static uint64_t page_count(const DeviceMemory *memory) {
    return (memory->capacity + PAGE - 1) / PAGE;
}

uint8_t *memory_reserve(uint64_t bytes) {
    uint8_t *start = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                          -1, 0);
    if (start == MAP_FAILED) {
        user_error("memory: expected a device memory for which this process gets the addresses, got %llu B; "
                   "--memory 64MiB asks for fewer",
                   (unsigned long long)bytes);
    }
    (void)madvise(start, bytes, MADV_HUGEPAGE); /* a host without them has others */
    return start;
}

DeviceMemory *device_memory_new(uint64_t capacity) {
    if (capacity < GRANULE)
        user_error("memory: expected a device memory of %llu B or more, got %lu B", GRANULE, capacity);
    DeviceMemory *memory = calloc(1, sizeof *memory);
    ensure_memory(memory);
    memory->capacity = capacity / GRANULE * GRANULE;
    memory->shared = -1;
    memory->host = memory_reserve(memory->capacity);
    memory->marked = memory_reserve(page_count(memory));
    return memory;
}

void device_memory_free(DeviceMemory *memory) {
    ensure(memory->view_count == 0);
    if (memory->parted) munmap(memory->parted, memory->capacity);
    if (memory->shared >= 0) close(memory->shared);
    munmap(memory->host, memory->capacity);
    munmap(memory->marked, page_count(memory));
    if (memory->initialised) munmap(memory->initialised, memory->capacity);
    free(memory->live);
    free(memory->blocks);
    free(memory->views);
    free(memory);
}

void device_memory_abandon(DeviceMemory *memory) {
    munmap(memory->host, memory->capacity);
}

static uint8_t *host_bytes(const DeviceMemory *memory, uint64_t address) {
    return memory->host + (address - DEVICE_MEMORY_BASE);
}

static uint64_t page_of(uint64_t address) {
    return (address - DEVICE_MEMORY_BASE) / PAGE;
}

/* The index of the first live allocation that starts beyond `address`. */
static size_t first_beyond(const DeviceMemory *memory, uint64_t address) {
    size_t low = 0, high = memory->live_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (memory->live[middle].start > address) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

static const Allocation *allocation_of(const DeviceMemory *memory, uint64_t address, uint64_t bytes) {
    size_t beyond = first_beyond(memory, address);
    if (beyond == 0) return NULL;
    const Allocation *candidate = &memory->live[beyond - 1];
    return address < candidate->end && bytes <= candidate->end - address ? candidate : NULL;
}

static uint64_t align_up(uint64_t value, uint64_t align) {
    return (value + align - 1) & ~(align - 1);
}

/* Zeroes bytes of a reservation, `advice` whole pages of it: they go back to the host, which hands them out zeroed again. */
static void zero(uint8_t *reserved, uint64_t start, uint64_t end, int advice) {
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t first = (start + page - 1) / page * page, last = end / page * page;
    if (first >= last) {
        memset(reserved + start, 0, end - start);
        return;
    }
    memset(reserved + start, 0, first - start);
    memset(reserved + last, 0, end - last);
    if (madvise(reserved + first, last - first, advice) != 0) memset(reserved + first, 0, last - first);
}

static void clear(DeviceMemory *memory, uint64_t start, uint64_t end) {
    bool is_file = memory->shared >= 0 && !memory->parted;
    zero(memory->host, start - DEVICE_MEMORY_BASE, end - DEVICE_MEMORY_BASE,
         is_file ? MADV_REMOVE : MADV_DONTNEED);
}

/* --- What is mapped -------------------------------------------------------------------------- */

void device_set_bounds(DeviceMemory *memory, Bounds bounds) {
    ensure(memory->live_count == 0);
    memory->bounds = bounds;
}

/* Is there an allocation in a range? */
static bool is_used(const DeviceMemory *memory, Allocation range) {
    size_t beyond = first_beyond(memory, range.end - 1);
    return beyond > 0 && memory->live[beyond - 1].end > range.start;
}

static Allocation mapped_block(const DeviceMemory *memory, uint64_t address) {
    uint64_t start = address / MAPPED_BLOCK_BYTES * MAPPED_BLOCK_BYTES, end = start + MAPPED_BLOCK_BYTES;
    uint64_t memory_end = DEVICE_MEMORY_BASE + memory->capacity;
    return (Allocation){start, end < memory_end ? end : memory_end};
}

/* The whole mapped range around an address; false when it is not mapped. */
static bool mapped_range(const DeviceMemory *memory, uint64_t address, Allocation *range) {
    uint64_t memory_end = DEVICE_MEMORY_BASE + memory->capacity;
    if (address < DEVICE_MEMORY_BASE || address >= memory_end) return false;
    *range = mapped_block(memory, address);
    if (!is_used(memory, *range)) return false;
    for (Allocation next = *range; range->end < memory_end; range->end = next.end) {
        next = mapped_block(memory, range->end);
        if (!is_used(memory, next)) break;
    }
    for (Allocation next = *range; range->start > DEVICE_MEMORY_BASE; range->start = next.start) {
        next = mapped_block(memory, range->start - 1);
        if (!is_used(memory, next)) break;
    }
    return true;
}

/* What lies within bounds around an address; false when the bytes do not. */
static bool range_within_bounds(const DeviceMemory *memory, uint64_t address, uint64_t bytes,
                                Allocation *range) {
    if (memory->bounds == BOUNDS_HARDWARE)
        return mapped_range(memory, address, range) && bytes <= range->end - address;
    const Allocation *found = allocation_of(memory, address, bytes);
    if (found) *range = *found;
    return found != NULL;
}

/* Of the blocks that a released allocation reached into, those that no other does are no longer mapped. */
static void unmap(DeviceMemory *memory, Allocation released) {
    for (uint64_t at = released.start; at < released.end; at = mapped_block(memory, at).end) {
        Allocation block = mapped_block(memory, at);
        if (is_used(memory, block)) continue;
        clear(memory, block.start, block.end);
        memset(memory->marked + page_of(block.start), 0, page_of(block.end - 1) + 1 - page_of(block.start));
    }
}

/* --- Allocations ----------------------------------------------------------------------------- */

static uint64_t dense_end(const DeviceMemory *memory) {
    return memory->dense_count ? memory->live[memory->dense_count - 1].end : DEVICE_MEMORY_BASE;
}

static void insert_allocation(DeviceMemory *memory, size_t index, Allocation allocation, DeviceBlock block) {
    if (memory->live_count == memory->live_capacity)
        memory->live = grow(memory->live, &memory->live_capacity, sizeof *memory->live);
    if (memory->live_count == memory->block_capacity)
        memory->blocks = grow(memory->blocks, &memory->block_capacity, sizeof *memory->blocks);
    size_t behind = memory->live_count - index;
    memmove(&memory->live[index + 1], &memory->live[index], behind * sizeof *memory->live);
    memmove(&memory->blocks[index + 1], &memory->blocks[index], behind * sizeof *memory->blocks);
    memory->live[index] = allocation;
    memory->blocks[index] = block;
    memory->live_count++;
    while (memory->dense_count < memory->live_count &&
           memory->live[memory->dense_count].start == dense_end(memory))
        memory->dense_count++;
}

static void remove_allocation(DeviceMemory *memory, size_t index) {
    DeviceBlock *released = &memory->released[memory->released_count++ % RELEASED_BLOCKS];
    *released = memory->blocks[index];
    released->freed_by = memory->call;
    size_t behind = --memory->live_count - index;
    if (memory->dense_count > index) memory->dense_count = index;
    memmove(&memory->live[index], &memory->live[index + 1], behind * sizeof *memory->live);
    memmove(&memory->blocks[index], &memory->blocks[index + 1], behind * sizeof *memory->blocks);
}

void device_note_call(DeviceMemory *memory, uint32_t call) {
    memory->call = call;
}

uint64_t device_alloc_aligned(DeviceMemory *memory, uint64_t bytes, uint64_t align, const char *name) {
    if (bytes > memory->capacity) return 0;
    if (align < GRANULE) align = GRANULE;
    uint64_t size = bytes ? align_up(bytes, GRANULE) : GRANULE;
    uint64_t start = align_up(dense_end(memory), align);
    size_t index = memory->dense_count;
    while (index < memory->live_count && memory->live[index].start < start + size)
        start = align_up(memory->live[index++].end, align);
    if (start + size > DEVICE_MEMORY_BASE + memory->capacity) return 0;
    insert_allocation(memory, index, (Allocation){start, start + size},
                      (DeviceBlock){.start = start, .bytes = bytes, .made_by = memory->call, .name = name});
    if (memory->bounds == BOUNDS_HARDWARE)
        clear(memory, start, start + size); /* kernels may have written there */
    uint64_t offset = start - DEVICE_MEMORY_BASE;
    if (memory->initialised) zero(memory->initialised, offset, offset + size, MADV_DONTNEED);
    memory->bytes_live += size;
    if (memory->bytes_live > memory->bytes_peak) memory->bytes_peak = memory->bytes_live;
    return start;
}

uint64_t device_alloc(DeviceMemory *memory, uint64_t bytes) {
    return device_alloc_aligned(memory, bytes, GRANULE, NULL);
}

/* Of the pages of an allocation that has left the list, from whose place `index` on the list goes on, those
 * that a neighbour shares keep their marks. */
static void clear_marks(DeviceMemory *memory, Allocation released, size_t index) {
    uint64_t first = page_of(released.start), end = page_of(released.end - 1) + 1;
    if (index > 0 && page_of(memory->live[index - 1].end - 1) == first) first++;
    if (index < memory->live_count && page_of(memory->live[index].start) == end - 1) end--;
    if (first < end) memset(memory->marked + first, 0, end - first);
}

bool device_release(DeviceMemory *memory, uint64_t address) {
    size_t beyond = first_beyond(memory, address);
    if (beyond == 0 || memory->live[beyond - 1].start != address) return false;
    size_t index = beyond - 1;
    Allocation released = memory->live[index];
    clear(memory, released.start, released.end); /* free memory is zero */
    memory->bytes_live -= released.end - released.start;
    remove_allocation(memory, index);
    if (memory->bounds == BOUNDS_HARDWARE)
        unmap(memory, released);
    else
        clear_marks(memory, released, index);
    for (size_t view = 0; view < memory->view_count; view++) {
        memory->views[view]->hot_start = memory->views[view]->hot_end = 0;
    }
    return true;
}

bool device_covers(const DeviceMemory *memory, uint64_t address, uint64_t bytes) {
    return allocation_of(memory, address, bytes) != NULL;
}

bool device_nearest(const DeviceMemory *memory, uint64_t address, DeviceBlock *block) {
    if (memory->live_count == 0) return false;
    size_t index = first_beyond(memory, address);
    if (index == memory->live_count) {
        index--;
    } else if (index > 0) {
        const Allocation *below = &memory->live[index - 1];
        bool below_is_nearer = address < below->end ||
                               address - below->end < memory->live[index].start - address;
        if (below_is_nearer) index--;
    }
    *block = memory->blocks[index];
    return true;
}

uint64_t device_capacity(const DeviceMemory *memory) {
    return memory->capacity;
}
bool device_released(const DeviceMemory *memory, uint64_t address, DeviceBlock *block) {
    if (device_covers(memory, address, 1)) return false;
    size_t count = memory->released_count < RELEASED_BLOCKS ? memory->released_count : RELEASED_BLOCKS;
    for (size_t i = 1; i <= count; i++) {
        *block = memory->released[(memory->released_count - i) % RELEASED_BLOCKS];
        if (address >= block->start && address - block->start < block->bytes) return true;
    }
    return false;
}

uint64_t device_bytes_live(const DeviceMemory *memory) {
    return memory->bytes_live;
}
uint64_t device_bytes_peak(const DeviceMemory *memory) {
    return memory->bytes_peak;
}

void device_track_initialised(DeviceMemory *memory) {
    ensure(memory->live_count == 0 && !memory->initialised);
    memory->initialised = memory_reserve(memory->capacity);
}

static uint8_t *byte_states(const DeviceMemory *memory, uint64_t address) {
    return memory->initialised + (address - DEVICE_MEMORY_BASE);
}

void device_set_bytes(DeviceMemory *memory, uint64_t address, uint64_t count, ByteState state) {
    if (!memory->initialised || count == 0) return;
    ensure(device_covers(memory, address, count));
    memset(byte_states(memory, address), (int)state, count);
}

void device_initialise(DeviceMemory *memory, uint64_t address, uint64_t count) {
    if (device_block_state(memory, address, count) == BYTE_WRITTEN)
        device_set_bytes(memory, address, count, BYTE_WRITTEN);
}

bool device_is_initialised(const DeviceMemory *memory, uint64_t address, uint64_t count) {
    return !memory->initialised || !memchr(byte_states(memory, address), BYTE_UNWRITTEN, count);
}

ByteState device_block_state(const DeviceMemory *memory, uint64_t address, uint64_t count) {
    for (ByteState state = BYTE_OF_NO_BLOCK; memory->initialised && state <= BYTE_FREED; state++)
        if (memchr(byte_states(memory, address), (int)state, count)) return state;
    return BYTE_WRITTEN;
}

uint64_t device_block_bytes(const DeviceMemory *memory, uint64_t address, uint64_t end) {
    uint64_t at = address;
    while (memory->initialised && at < end && *byte_states(memory, at) < BYTE_OF_NO_BLOCK)
        at++;
    return at - address;
}

void device_write(DeviceMemory *memory, uint64_t address, const void *bytes, uint64_t count) {
    if (count == 0) return;
    ensure(device_covers(memory, address, count));
    memcpy(host_bytes(memory, address), bytes, count);
    device_initialise(memory, address, count);
}

void device_read(const DeviceMemory *memory, uint64_t address, void *bytes, uint64_t count) {
    if (count == 0) return;
    ensure(device_covers(memory, address, count));
    memcpy(bytes, host_bytes(memory, address), count);
}

void device_fill(DeviceMemory *memory, uint64_t address, uint8_t byte, uint64_t count) {
    if (count == 0) return;
    ensure(device_covers(memory, address, count));
    memset(host_bytes(memory, address), byte, count);
    device_initialise(memory, address, count);
}

uint8_t *device_bytes(DeviceMemory *memory, uint64_t address, uint64_t count) {
    ensure(device_covers(memory, address, count));
    return host_bytes(memory, address);
}

uint64_t device_digest(const DeviceMemory *memory) {
    uint64_t digest = 0xcbf29ce484222325ull;
    for (size_t index = 0; index < memory->live_count; index++) {
        Allocation block = memory->live[index];
        digest = (digest ^ block.start) * 0x9e3779b97f4a7c15ull;
        digest = (digest ^ block.end) * 0x9e3779b97f4a7c15ull;
        for (uint64_t address = block.start; address < block.end; address += sizeof(uint64_t)) {
            uint64_t word;
            memcpy(&word, host_bytes(memory, address), sizeof word);
            digest = (digest ^ word) * 0x9e3779b97f4a7c15ull;
            digest ^= digest >> 32;
        }
    }
    return digest;
}

/* Finds the next range of a block whose pages are marked: from *at on, which moves behind it. */
static bool next_marked(const DeviceMemory *memory, Allocation block, uint64_t *at, Allocation *range) {
    if (*at >= block.end) return false;
    uint64_t pages = page_of(block.end - 1) + 1, page = page_of(*at);
    const uint8_t *found = memchr(memory->marked + page, 1, pages - page);
    if (!found) return false;
    uint64_t first = (uint64_t)(found - memory->marked);
    const uint8_t *behind = memchr(found, 0, pages - first);
    uint64_t end = behind ? (uint64_t)(behind - memory->marked) : pages;
    uint64_t from = DEVICE_MEMORY_BASE + first * PAGE, to = DEVICE_MEMORY_BASE + end * PAGE;
    *range = (Allocation){from > block.start ? from : block.start, to < block.end ? to : block.end};
    *at = range->end;
    return true;
}

bool memory_next_within_bounds(const DeviceMemory *memory, size_t *index, Allocation *range) {
    while (*index < memory->live_count) {
        uint64_t at = memory->live[(*index)++].start;
        if (at < range->end) continue; /* in what is mapped around an allocation before */
        return range_within_bounds(memory, at, 1, range);
    }
    return false;
}

/* --- Snapshots -------------------------------------------------------------------------------- */

static void save_range(Buffer *buffer, Allocation range) {
    buffer_u64(buffer, range.start);
    buffer_u64(buffer, range.end);
}

/* Peak; allocations with their count in front; the marked ranges, each with its bytes; an empty range. */
void device_memory_save(const DeviceMemory *memory, Buffer *buffer) {
    for (size_t view = 0; view < memory->view_count; view++)
        ensure(memory->views[view]->log_count == 0);
    buffer_u64(buffer, memory->bytes_peak);
    buffer_u64(buffer, memory->live_count);
    for (size_t index = 0; index < memory->live_count; index++)
        save_range(buffer, memory->live[index]);
    Allocation whole = {0, 0}, range;
    for (size_t index = 0; memory_next_within_bounds(memory, &index, &whole);) {
        uint64_t at = whole.start;
        while (next_marked(memory, whole, &at, &range)) {
            save_range(buffer, range);
            buffer_append(buffer, host_bytes(memory, range.start), range.end - range.start);
        }
    }
    save_range(buffer, (Allocation){0, 0});
}

static bool fail(char *why, size_t size, const char *what) {
    snprintf(why, size, "device memory: %s", what);
    return false;
}

static Allocation load_range(Reader *reader) {
    uint64_t start = reader_u64(reader);
    return (Allocation){start, reader_u64(reader)};
}

static void describe(char *text, size_t size, bool there, Allocation block) {
    if (there) {
        snprintf(text, size, "0x%lx to 0x%lx", block.start, block.end);
    } else {
        snprintf(text, size, "none");
    }
}

static bool same_allocations(const DeviceMemory *memory, Reader *reader, char *why, size_t why_size) {
    uint64_t count = reader_u64(reader);
    for (size_t index = 0; index < count || index < memory->live_count; index++) {
        bool in_file = index < count, is_here = index < memory->live_count;
        Allocation saved = in_file ? load_range(reader) : (Allocation){0, 0},
                   here = is_here ? memory->live[index] : (Allocation){0, 0};
        if (reader->failed) return fail(why, why_size, "the list of allocations is truncated");
        if (in_file && is_here && saved.start == here.start && saved.end == here.end) continue;
        char there[64], now[64];
        describe(there, sizeof there, in_file, saved);
        describe(now, sizeof now, is_here, here);
        snprintf(why, why_size,
                 "device memory: allocation %zu in the order of addresses: expected %s as in the checkpoint, "
                 "got %s",
                 index, there, now);
        return false;
    }
    return !reader->failed || fail(why, why_size, "the list of allocations is truncated");
}

/* With `apply` unset it only checks, so that damage is found before anything changes; without a memory as far
 * as that goes. */
static bool load_pages(DeviceMemory *memory, Reader *reader, bool apply) {
    for (;;) {
        Allocation range = load_range(reader);
        if (reader->failed) return false;
        if (range.start == 0 && range.end == 0) return true;
        if (range.start >= range.end) return false;
        uint64_t count = range.end - range.start;
        const uint8_t *bytes = reader_bytes(reader, count);
        Allocation whole;
        if (!bytes || (memory && !range_within_bounds(memory, range.start, count, &whole))) return false;
        if (!apply) continue;
        memcpy(host_bytes(memory, range.start), bytes, count);
        uint64_t first = page_of(range.start), last = page_of(range.end - 1);
        memset(memory->marked + first, 1, last + 1 - first);
    }
}

bool device_memory_check(Reader *reader, char *why, size_t why_size) {
    uint64_t peak = reader_u64(reader), count = reader_u64(reader), live = 0, last = DEVICE_MEMORY_BASE;
    for (uint64_t i = 0; i < count && !reader->failed; i++) {
        Allocation block = load_range(reader);
        if (block.start < last || block.start >= block.end)
            return fail(why, why_size, "the list of allocations is damaged");
        live += block.end - block.start;
        last = block.end;
    }
    if (reader->failed) return fail(why, why_size, "the list of allocations is truncated");
    if (peak < live) return fail(why, why_size, "its peak use is below its present use");
    if (load_pages(NULL, reader, false) && reader_at_end(reader)) return true;
    return fail(why, why_size, "the pages that kernels wrote are damaged");
}

bool device_memory_load(DeviceMemory *memory, Reader *reader, char *why, size_t why_size) {
    ensure(!memchr(memory->marked, 1, page_count(memory)));
    uint64_t peak = reader_u64(reader);
    if (!same_allocations(memory, reader, why, why_size)) return false;
    if (peak < memory->bytes_live || peak > memory->capacity) {
        snprintf(why, why_size, "device memory: expected a peak use of %lu to %lu bytes, got %lu",
                 memory->bytes_live, memory->capacity, peak);
        return false;
    }
    Reader pages = *reader;
    if (!load_pages(memory, reader, false) || !reader_at_end(reader))
        return fail(why, why_size, "the pages that kernels wrote are damaged");
    load_pages(memory, &pages, true);
    memory->bytes_peak = peak;
    return true;
}

void view_init(MemoryView *view, DeviceMemory *memory) {
    *view = (MemoryView){.memory = memory};
    view->base = (uint8_t *)((uintptr_t)memory->host - DEVICE_MEMORY_BASE);
    if (memory->view_count == memory->view_capacity) {
        memory->views = grow(memory->views, &memory->view_capacity, sizeof(MemoryView *));
    }
    memory->views[memory->view_count++] = view;
}

void view_free(MemoryView *view) {
    DeviceMemory *memory = view->memory;
    size_t index = 0;
    while (index < memory->view_count && memory->views[index] != view)
        index++;
    ensure(index < memory->view_count);
    memory->views[index] = memory->views[--memory->view_count];
    free(view->log);
    *view = (MemoryView){0};
}

/* A write of up to 8 bytes may reach into the next page: merged writes are aligned to their elements only. */
static void mark_pages(const DeviceMemory *memory, uint64_t address, uint64_t bytes) {
    memory->marked[page_of(address)] = memory->marked[page_of(address + bytes - 1)] = 1;
}

void view_write(MemoryView *view, uint64_t address, const void *bytes, uint64_t count) {
    debug_ensure(view->is_alone && !view->log_count && count <= PAGE);
    mark_pages(view->memory, address, count);
    memcpy(view->base + address, bytes, count);
}

static void write_smaller(uint8_t *to, const LoggedWrite *write) {
    switch (write->bytes) { /* constant sizes: one store each */
    case 1: memcpy(to, &write->value, 1); break;
    case 2: memcpy(to, &write->value, 2); break;
    default: memcpy(to, &write->value, 4); break;
    }
}

/* What does not change is read once: to the compiler, each write might change it. */
void view_commit(MemoryView *view) {
    uint64_t page = 0; /* start of the page marked last: most writes go where the one before them went */
    uint8_t *base = view->base;
    const LoggedWrite *write = view->log, *end = write + view->log_count;
    for (; write < end; write++) {
        uint64_t address = write->address;
        if (address - page > PAGE - sizeof write->value) {
            mark_pages(view->memory, address, write->bytes);
            page = address / PAGE * PAGE;
        }
        if (write->bytes == sizeof write->value)
            memcpy(base + address, &write->value, sizeof write->value);
        else
            write_smaller(base + address, write);
    }
    view->log_count = 0;
    view->signature = 0;
}

/* Apart, so that those who ask need not save the host's registers for it. */
__attribute__((noinline)) bool view_finds(MemoryView *view, uint64_t address, uint64_t bytes) {
    Allocation found;
    if (!range_within_bounds(view->memory, address, bytes, &found)) return false;
    view->hot_start = found.start;
    view->hot_end = found.end;
    return true;
}

void view_reserve(MemoryView *view, uint32_t count) {
    size_t capacity = view->log_capacity;
    while (view->log_count + (size_t)count > capacity)
        view->log = grow(view->log, &capacity, sizeof *view->log);
    view->log_capacity = (uint32_t)capacity;
}

/* Byte by byte, the newest write that touches a byte decides it. */
uint64_t view_overlay(const MemoryView *view, uint64_t address, uint32_t bytes, uint64_t value) {
    uint32_t missing = (1u << bytes) - 1;
    for (uint32_t index = view->log_count; index-- > 0 && missing;) {
        const LoggedWrite *write = &view->log[index];
        if (write->address >= address + bytes || address >= write->address + write->bytes) continue;
        for (uint32_t byte = 0; byte < bytes; byte++) {
            uint64_t offset = address + byte - write->address;
            if (!(missing >> byte & 1) || offset >= write->bytes) continue;
            uint64_t logged = write->value >> 8 * offset & 0xff;
            value = (value & ~(0xffull << 8 * byte)) | logged << 8 * byte;
            missing &= ~(1u << byte);
        }
    }
    return value;
}

bool view_store(MemoryView *view, uint64_t address, uint32_t bytes, uint64_t value) {
    if (!view_covers(view, address, bytes)) return false;
    view_reserve(view, 1);
    view->signature |= view_line_bit(address) | view_line_bit(address + bytes - 1);
    view->log[view->log_count++] = (LoggedWrite){address, value, bytes};
    return true;
}
