#include "core/gpu/device/allocation_profile.h"

#include <stdlib.h>
#include <string.h>

static bool is_before(const AllocationAccesses *a, const AllocationAccesses *b) {
    return a->made_by != b->made_by ? a->made_by < b->made_by : a->start < b->start;
}

static bool is_same(const AllocationAccesses *a, const AllocationAccesses *b) {
    return a->made_by == b->made_by && a->start == b->start;
}

static AllocationAccesses *insert(AllocationCounts *counts, uint32_t at, AllocationAccesses one) {
    if (counts->count == counts->capacity) {
        counts->capacity = counts->capacity ? 2 * counts->capacity : 16;
        counts->of = realloc(counts->of, counts->capacity * sizeof *counts->of);
        ensure_memory(counts->of);
    }
    memmove(&counts->of[at + 1], &counts->of[at], (counts->count - at) * sizeof *counts->of);
    counts->of[at] = one;
    counts->count++;
    return &counts->of[at];
}

static bool is_at(const AllocationCounts *counts, uint32_t at, const AllocationAccesses *like) {
    return at < counts->count && is_same(&counts->of[at], like);
}

/* Where that of the same allocation is, or would be. */
static uint32_t place_of(const AllocationCounts *counts, const AllocationAccesses *like) {
    uint32_t low = 0, high = counts->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (is_before(&counts->of[middle], like))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const AllocationAccesses *allocations_find(const AllocationCounts *counts, const AllocationAccesses *like) {
    uint32_t at = place_of(counts, like);
    return is_at(counts, at, like) ? &counts->of[at] : NULL;
}

/* That of the same allocation, which is there from now on. */
static AllocationAccesses *find(AllocationCounts *counts, const AllocationAccesses *like) {
    if (!is_at(counts, counts->last, like)) counts->last = place_of(counts, like);
    if (is_at(counts, counts->last, like)) return &counts->of[counts->last];
    return insert(counts, counts->last,
                  (AllocationAccesses){.start = like->start, .bytes = like->bytes, .made_by = like->made_by});
}

void allocations_count(AllocationCounts *counts, const DeviceMemory *memory, const MemMessage *m,
                       uint32_t result) {
    DeviceBlock block = {0};
    if (device_covers(memory, m->address, 1)) device_nearest(memory, m->address, &block);
    AllocationAccesses *of = find(
        counts, &(AllocationAccesses){.start = block.start, .bytes = block.bytes, .made_by = block.made_by});
    of->kinds[m->kind]++;
    of->results[result]++;
}

void allocations_add(AllocationCounts *sums, const AllocationCounts *more) {
    for (uint32_t i = 0; i < more->count; i++) {
        AllocationAccesses *to = find(sums, &more->of[i]);
        for (uint32_t k = 0; k <= MEM_ATOMIC; k++)
            to->kinds[k] += more->of[i].kinds[k];
        for (uint32_t r = 0; r < ALLOCATION_RESULTS; r++)
            to->results[r] += more->of[i].results[r];
    }
}

void allocations_empty(AllocationCounts *counts) {
    free(counts->of);
    *counts = (AllocationCounts){0};
}

void allocations_save(const AllocationCounts *counts, Buffer *buffer) {
    buffer_u32(buffer, counts->count);
    if (counts->count) buffer_append(buffer, counts->of, counts->count * sizeof *counts->of);
}

bool allocations_load(AllocationCounts *counts, Reader *reader) {
    for (uint32_t left = reader_u32(reader); left && !reader->failed; left--) {
        const uint8_t *bytes = reader_bytes(reader, sizeof(AllocationAccesses));
        AllocationAccesses one;
        if (!bytes) return false;
        memcpy(&one, bytes, sizeof one);
        if (counts->count && !is_before(&counts->of[counts->count - 1], &one)) return false;
        insert(counts, counts->count, one);
    }
    return !reader->failed;
}
