#include "core/cuda/runtime/shadows.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK = 4096 };

static bool is_same(const uint8_t *a, const uint8_t *b, uint64_t at, uint64_t bytes) {
    return memcmp(a + at, b + at, bytes - at < BLOCK ? bytes - at : BLOCK) == 0;
}

/* From `at` on, the next run of blocks in which they differ: where it begins, which is `bytes` without any, and ends. */
static uint64_t next_change(const uint8_t *a, const uint8_t *b, uint64_t at, uint64_t bytes, uint64_t *end) {
    while (at < bytes && is_same(a, b, at, bytes))
        at += BLOCK;
    *end = at;
    while (*end < bytes && !is_same(a, b, *end, bytes))
        *end += BLOCK;
    if (*end > bytes) *end = bytes;
    return at < bytes ? at : bytes;
}

/* `same` is what both held when they were the same. */
static void take_changes(uint8_t *to, uint8_t *same, const uint8_t *from, uint64_t count) {
    for (uint64_t i = 0; i < count; i++) {
        uint8_t now = from[i];
        if (now != same[i]) to[i] = same[i] = now;
    }
}

static int push_all(WarpRange *range) {
    range->same = malloc(range->bytes);
    if (!range->same) return CUDA_MEMORY_ALLOCATION;
    memcpy(range->same, (const uint8_t *)range->start, range->bytes);
    return warp_copy((WarpPlace){range->device, 0, 0}, (WarpPlace){(uint64_t)range->same, 0, 0}, range->bytes,
                     1, 1);
}

/* A block of the shadow that kernels may be changing is noted as read, so that a program that is started again has the same
 * beside what it changes. */
int warp_shadow_push(WarpRange *range, bool in_flight) {
    const uint8_t *own = (const uint8_t *)range->start;
    uint8_t *shadow = warp_bytes(range->device, range->bytes);
    int problem = shadow ? CUDA_OK : CUDA_INVALID_VALUE;
    uint64_t at, end = 0;
    if (!problem && !range->same) return push_all(range);
    while (!problem && (at = next_change(own, range->same, end, range->bytes, &end)) < range->bytes) {
        if (in_flight) problem = warp_reads(range->device + at, end - at);
        if (problem) break;
        take_changes(shadow + at, range->same + at, own + at, end - at);
        problem = warp_wrote(range->device + at, end - at);
    }
    return problem;
}

int warp_shadow_pull(const WarpRange *range) {
    uint8_t *own = (uint8_t *)range->start;
    const uint8_t *shadow = warp_bytes(range->device, range->bytes);
    uint64_t at, end = 0;
    if (!range->same) return CUDA_OK;
    int problem = shadow ? warp_reads(range->device, range->bytes) : CUDA_INVALID_VALUE;
    while (!problem && (at = next_change(shadow, range->same, end, range->bytes, &end)) < range->bytes)
        take_changes(own + at, range->same + at, shadow + at, end - at);
    return problem;
}
