/* Device memory and other memory that kernels can reach. */
#include "core/cuda/runtime/capture.h"
#include "core/cuda/runtime/client_state.h"
#include "core/cuda/runtime/handles.h"
#include "core/cuda/runtime/memory_pools.h"
#include "core/cuda/runtime/mistakes.h"
#include "core/cuda/runtime/pending.h"
#include "core/cuda/runtime/shadows.h"
#include "core/cuda/runtime/streams.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE 4096ull

static WarpRange *ranges; /* in the order of `start` */
static size_t range_count, range_capacity;

/* --- Ranges ---------------------------------------------------------------------------------- */

/* The index of the first range that starts beyond `address`. */
static size_t first_beyond(uint64_t address) {
    size_t low = 0, high = range_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (ranges[middle].start > address)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static void add_range(WarpRange range) {
    size_t index = first_beyond(range.start);
    if (range_count == range_capacity) {
        range_capacity = range_capacity ? 2 * range_capacity : 64;
        ranges = realloc(ranges, range_capacity * sizeof *ranges);
        if (!ranges) abort();
    }
    memmove(ranges + index + 1, ranges + index, (range_count - index) * sizeof *ranges);
    ranges[index] = range;
    range_count++;
}

static void remove_range(const WarpRange *range) {
    size_t index = (size_t)(range - ranges);
    memmove(ranges + index, ranges + index + 1, (--range_count - index) * sizeof *ranges);
}

const WarpRange *warp_range(uint64_t address) {
    size_t beyond = first_beyond(address);
    if (!beyond) return NULL;
    const WarpRange *range = &ranges[beyond - 1];
    return address - range->start < range->bytes ? range : NULL;
}

static bool is_device_address(uint64_t address) {
    return address - warp_device()->memory_base < warp_device()->memory_bytes;
}

/* Bytes from `address` to the end of its range, and of those of mapped chunks that follow without a gap. */
static uint64_t bytes_from(const WarpRange *range, uint64_t address) {
    uint64_t end = range->start + range->bytes;
    for (const WarpRange *next = range + 1; range->kind == RANGE_CHUNK && next < ranges + range_count &&
                                            next->kind == RANGE_CHUNK && next->start == end;
         next++)
        end += next->bytes;
    return end - address;
}

uint8_t *warp_bytes(uint64_t address, uint64_t count) {
    const WarpRange *range = warp_range(address);
    if (!range || !is_device_address(address) || count > bytes_from(range, address)) return NULL;
    return warp_client.memory + (address - warp_device()->memory_base);
}

/* --- Allocations ----------------------------------------------------------------------------- */

/* The same bytes where kernels find them: a pointer is the same on both sides. */
static bool map_at_address(uint64_t address, uint64_t bytes) {
    uint64_t first = address / PAGE * PAGE, end = (address + bytes + PAGE - 1) / PAGE * PAGE;
    void *got = mmap((void *)first, end - first, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE,
                     warp_client.memory_file, (off_t)(first - warp_device()->memory_base));
    return got != MAP_FAILED;
}

static void unmap_at_address(uint64_t address, uint64_t bytes) {
    munmap((void *)address, (bytes + PAGE - 1) / PAGE * PAGE);
}

static bool is_mapped(const WarpRange *range) {
    return range->kind == RANGE_MAPPED || range->kind == RANGE_MANAGED;
}

static int ask_to_free(uint64_t address) {
    WarpMessage *message = warp_question();
    warp_put_u64(message, address);
    return warp_ask(message, ASK_FREE);
}

static int ask_to_alloc(uint64_t bytes, AllocationKind kind, uint64_t *address) {
    WarpMessage *message = warp_question();
    warp_put_u64(message, bytes);
    warp_put_u32(message, kind);
    int problem = warp_ask(message, ASK_ALLOC);
    if (!problem) *address = warp_take_u64(message);
    return problem;
}

int warp_alloc_range(WarpRange *range) {
    int problem = ask_to_alloc(range->bytes, is_mapped(range) ? ALLOCATION_MAPPED : ALLOCATION_DEVICE,
                               &range->start);
    if (problem) return problem;
    range->device = range->start;
    if (is_mapped(range) && !map_at_address(range->start, range->bytes)) {
        ask_to_free(range->start);
        return CUDA_MEMORY_ALLOCATION;
    }
    add_range(*range);
    return CUDA_OK;
}

static bool shares_memory;

bool warp_shares_memory(void) {
    return shares_memory;
}

int warp_alloc(uint64_t bytes, RangeKind kind, uint32_t flags, uint64_t *address) {
    enum { HOST_ALLOC_MAPPED = 2 };
    WarpRange range = {.bytes = bytes, .kind = kind, .flags = flags};
    int problem = warp_capture_forbids();
    if (!problem) problem = warp_alloc_range(&range);
    if (problem == CUDA_MEMORY_ALLOCATION) warp_tell_no_memory(bytes);
    shares_memory |= !problem && kind == RANGE_MAPPED && (flags & HOST_ALLOC_MAPPED);
    if (!problem) *address = range.start;
    return problem;
}

int warp_release_range(uint64_t address) {
    const WarpRange *range = warp_range(address);
    if (is_mapped(range)) unmap_at_address(range->start, range->bytes);
    remove_range(range);
    return ask_to_free(address);
}

int warp_release_async(uint64_t address) {
    const WarpRange *range = warp_range(address);
    if (!range || range->start != address || range->kind > RANGE_MANAGED) {
        warp_tell_free(address);
        return CUDA_INVALID_VALUE;
    }
    if (range->memory) return warp_graph_memory_unuse(range->memory);
    if (range->pool) warp_pool_give_back(range->pool, range->bytes);
    return warp_release_range(address);
}

int warp_release(uint64_t address) {
    int problem = warp_capture_forbids();
    if (!problem) problem = warp_do_pending();
    return problem ? problem : warp_release_async(address);
}

/* --- Addresses, and chunks of memory that lie there for a time ----------------------------------- */

int warp_reserve(uint64_t bytes, uint64_t *address) {
    return ask_to_alloc(bytes, ALLOCATION_DEVICE, address);
}
int warp_unreserve(uint64_t address) {
    return ask_to_free(address);
}
void warp_add_chunk(uint64_t address, uint64_t bytes) {
    add_range((WarpRange){.start = address, .bytes = bytes, .device = address, .kind = RANGE_CHUNK});
}
void warp_remove_chunk(uint64_t address) {
    remove_range(warp_range(address));
}

void warp_each_range(void (*visit)(const WarpRange *range)) {
    for (size_t i = 0; i < range_count; i++)
        visit(&ranges[i]);
}

/* Variables of a module may share pages: those that are mapped already stay. */
int warp_note_variable(uint64_t address, uint64_t bytes, bool managed) {
    const WarpRange *known = warp_range(address);
    if (!known)
        add_range((WarpRange){address, bytes ? bytes : 1, address, RANGE_VARIABLE, 0, NULL, NULL, NULL});
    if (!managed) return CUDA_OK;
    for (uint64_t page = address / PAGE * PAGE; page < address + bytes; page += PAGE)
        map_at_address(page, 1);
    WarpMessage *message = warp_question();
    warp_put_u64(message, address);
    warp_put_u64(message, bytes);
    return warp_ask(message, ASK_MAP);
}

/* --- Registered memory: kernels get a shadow of it --------------------------------------------- */

int warp_register(void *start, uint64_t bytes, uint32_t flags) {
    uint64_t shadow;
    if (warp_range((uint64_t)start)) return CUDA_ALREADY_REGISTERED;
    int problem = warp_alloc(bytes, RANGE_DEVICE, 0, &shadow);
    if (!problem)
        add_range((WarpRange){(uint64_t)start, bytes, shadow, RANGE_REGISTERED, flags, NULL, NULL, NULL});
    return problem;
}

int warp_unregister(void *start) {
    const WarpRange *range = warp_range((uint64_t)start);
    if (!range || range->kind != RANGE_REGISTERED || range->start != (uint64_t)start)
        return CUDA_NOT_REGISTERED;
    uint64_t shadow = range->device;
    int problem = warp_capture_forbids();
    if (!problem) problem = warp_do_pending();
    if (problem) return problem;
    range = warp_range((uint64_t)start);
    free(range->same);
    remove_range(range);
    return warp_release_async(shadow);
}

int warp_push_shadows(void) {
    int problem = CUDA_OK;
    for (size_t i = 0; i < range_count && !problem; i++)
        if (ranges[i].kind >= RANGE_REGISTERED) problem = warp_shadow_push(&ranges[i], warp_is_in_flight());
    return problem;
}

int warp_pull_shadows(void) {
    int problem = CUDA_OK;
    for (size_t i = 0; i < range_count && !problem; i++)
        if (ranges[i].kind >= RANGE_REGISTERED) problem = warp_shadow_pull(&ranges[i]);
    return problem;
}

int warp_note_managed_copy(uint64_t own, uint64_t address, uint64_t bytes) {
    if (warp_range(own)) return CUDA_OK;
    add_range((WarpRange){own, bytes, address, RANGE_MANAGED_COPY, 0, NULL, NULL, NULL});
    return warp_copy((WarpPlace){own, 0, 0}, (WarpPlace){address, 0, 0}, bytes, 1, 1);
}

/* --- Copies ---------------------------------------------------------------------------------- */

static int ask_about(uint64_t address, uint64_t count, ChannelOperation operation) {
    if (!warp_client.tells_copies || !count) return CUDA_OK;
    WarpMessage *message = warp_question();
    warp_put_u64(message, address);
    warp_put_u64(message, count);
    return warp_ask(message, operation);
}

int warp_reads(uint64_t address, uint64_t count) {
    return ask_about(address, count, ASK_READS);
}

int warp_wrote(uint64_t address, uint64_t count) {
    return ask_about(address, count, ASK_WROTE);
}

/* From the first to the last byte of a place; 0 where nothing is copied. */
static uint64_t span(WarpPlace place, uint64_t width, uint64_t rows, uint64_t slices) {
    return place.slice * (slices - 1) + place.row * (rows - 1) + width;
}

void warp_translate(uint8_t *words, size_t count) {
    for (size_t i = 0; i + sizeof(uint64_t) <= count; i += sizeof(uint64_t)) {
        uint64_t address;
        memcpy(&address, words + i, sizeof address);
        const WarpRange *range = warp_range(address);
        if (!range || range->kind < RANGE_REGISTERED) continue;
        address += range->device - range->start;
        memcpy(words + i, &address, sizeof address);
    }
}

/* Where the program finds a place: its own memory, or device memory. NULL: neither. */
static uint8_t *bytes_of(WarpPlace place, uint64_t count, bool *is_device) {
    *is_device = is_device_address(place.address);
    return *is_device ? warp_bytes(place.address, count) : (uint8_t *)place.address;
}

/* Do rows and slices lie one behind the other, within 2^64 bytes? Those in each other take as long as there are of them, of
 * which a program may ask for any number. */
static bool has_room(WarpPlace place, uint64_t width, uint64_t rows, uint64_t slices) {
    uint64_t slice, all;
    if (rows > 1 && place.row < width) return false;
    if (__builtin_mul_overflow(place.row, rows - 1, &slice) || __builtin_add_overflow(slice, width, &slice))
        return false;
    if (slices > 1 && place.slice < slice) return false;
    return !__builtin_mul_overflow(place.slice, slices - 1, &all) &&
           !__builtin_add_overflow(all, slice, &all);
}

int warp_copy(WarpPlace to, WarpPlace from, uint64_t width, uint64_t rows, uint64_t slices) {
    bool to_device, from_device;
    if (!width || !rows || !slices) return CUDA_OK;
    if (!has_room(to, width, rows, slices) || !has_room(from, width, rows, slices)) return CUDA_INVALID_VALUE;
    uint64_t to_span = span(to, width, rows, slices), from_span = span(from, width, rows, slices);
    uint8_t *target = bytes_of(to, to_span, &to_device);
    const uint8_t *source = bytes_of(from, from_span, &from_device);
    if (!target && to_device) warp_tell_bytes("copy to", to.address, to_span);
    if (!source && from_device) warp_tell_bytes("copy from", from.address, from_span);
    if (!target || !source) return CUDA_INVALID_VALUE;
    int problem = from_device ? warp_reads(from.address, from_span) : CUDA_OK;
    if (problem) return problem;
    for (uint64_t z = 0; z < slices; z++)
        for (uint64_t y = 0; y < rows; y++)
            memmove(target + z * to.slice + y * to.row, source + z * from.slice + y * from.row, width);
    return to_device ? warp_wrote(to.address, to_span) : CUDA_OK;
}

static void fill_row(uint8_t *at, uint32_t value, uint32_t value_bytes, uint64_t width) {
    if (value_bytes == 1) {
        memset(at, (int)value, width);
        return;
    }
    for (uint64_t i = 0; i + value_bytes <= width; i += value_bytes)
        memcpy(at + i, &value, value_bytes);
}

int warp_fill(WarpPlace to, uint32_t value, uint32_t value_bytes, uint64_t width, uint64_t rows,
              uint64_t slices) {
    bool to_device;
    if (!width || !rows || !slices) return CUDA_OK;
    if (!has_room(to, width, rows, slices)) return CUDA_INVALID_VALUE;
    uint64_t count = span(to, width, rows, slices);
    uint8_t *target = bytes_of(to, count, &to_device);
    const WarpRange *range = warp_range(to.address);
    if (!target || !(to_device || (range && range->kind == RANGE_MANAGED_COPY))) {
        warp_tell_bytes("fill of", to.address, count);
        return CUDA_INVALID_VALUE;
    }
    for (uint64_t z = 0; z < slices; z++)
        for (uint64_t y = 0; y < rows; y++)
            fill_row(target + z * to.slice + y * to.row, value, value_bytes, width);
    return to_device ? warp_wrote(to.address, count) : CUDA_OK;
}

int warp_memory_info(uint64_t *free_bytes, uint64_t *total_bytes) {
    int before = warp_do_pending();
    if (before) return before;
    WarpMessage *message = warp_question();
    int problem = warp_ask(message, ASK_MEMORY);
    if (problem) return problem;
    *free_bytes = warp_take_u64(message);
    *total_bytes = warp_take_u64(message);
    return CUDA_OK;
}

int warp_reset(void) {
    warp_end_pending(); /* its failure is forgotten with all else */
    shares_memory = false;
    warp_pools_reset();
    warp_virtual_reset();
    warp_streams_reset();
    warp_handles_free(HANDLE_ARRAY, NULL); /* whose memory is forgotten */
    for (size_t i = 0; i < range_count; i++)
        if (is_mapped(&ranges[i]))
            unmap_at_address(ranges[i].start, ranges[i].bytes);
        else
            free(ranges[i].same);
    range_count = 0;
    warp_forget_modules();
    return warp_ask(warp_question(), ASK_RESET);
}
