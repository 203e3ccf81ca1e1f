/* When instructions in flight write back: a timing wheel over core cycles, first in first out within a
 * cycle. */
#ifndef WW_GPU_WRITE_BACK_WHEEL_H
#define WW_GPU_WRITE_BACK_WHEEL_H

#include "core/sim/base/error.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    WHEEL_SLOTS = 2048, /* more than from any issue to its write-back, so that a slot holds one cycle only */
    WHEEL_ENTRIES = 4096,
};

typedef struct {
    uint32_t inst; /* index in the kernel */
    uint16_t warp;
    uint16_t next; /* 1 + index; 0 ends a list */
} WheelEntry;

/* All zero is an empty wheel. Plain data. */
typedef struct {
    uint64_t occupied[WHEEL_SLOTS / 64];
    uint16_t first[WHEEL_SLOTS], last[WHEEL_SLOTS]; /* 1 + index of an entry; 0: none */
    WheelEntry entry[WHEEL_ENTRIES];
    uint32_t used; /* entries ever used */
    uint16_t free; /* list of freed entries */
    uint16_t count;
} WriteBackWheel;

static inline void wheel_add(WriteBackWheel *wheel, uint64_t cycle, uint32_t warp, uint32_t inst) {
    uint16_t index;
    if (wheel->free) {
        index = (uint16_t)(wheel->free - 1);
        wheel->free = wheel->entry[index].next;
    } else {
        ensure(wheel->used < WHEEL_ENTRIES);
        index = (uint16_t)wheel->used++;
    }
    uint64_t slot = cycle % WHEEL_SLOTS;
    wheel->entry[index] = (WheelEntry){.inst = inst, .warp = (uint16_t)warp, .next = 0};
    if (wheel->first[slot])
        wheel->entry[wheel->last[slot] - 1].next = (uint16_t)(index + 1);
    else
        wheel->first[slot] = (uint16_t)(index + 1);
    wheel->last[slot] = (uint16_t)(index + 1);
    wheel->occupied[slot / 64] |= 1ull << (slot % 64);
    wheel->count++;
}

/* Takes the next entry of this cycle; false after the last. */
static inline bool wheel_take(WriteBackWheel *wheel, uint64_t cycle, WheelEntry *entry) {
    uint64_t slot = cycle % WHEEL_SLOTS;
    uint16_t index = wheel->first[slot];
    if (!index) return false;
    *entry = wheel->entry[index - 1];
    wheel->first[slot] = entry->next;
    if (!entry->next) wheel->occupied[slot / 64] &= ~(1ull << (slot % 64));
    wheel->entry[index - 1].next = wheel->free;
    wheel->free = index;
    wheel->count--;
    return true;
}

/* The first cycle after `cycle` that has an entry; UINT64_MAX when the wheel is empty. */
static inline uint64_t wheel_next(const WriteBackWheel *wheel, uint64_t cycle) {
    if (wheel->count == 0) return UINT64_MAX;
    uint64_t start = (cycle + 1) % WHEEL_SLOTS, word = start / 64;
    uint64_t bits = wheel->occupied[word] & (~0ull << (start % 64));
    for (uint32_t i = 0; i <= WHEEL_SLOTS / 64; i++) {
        if (bits) {
            uint64_t slot = word * 64 + (uint64_t)__builtin_ctzll(bits);
            return cycle + 1 + (slot - start) % WHEEL_SLOTS;
        }
        word = (word + 1) % (WHEEL_SLOTS / 64);
        bits = wheel->occupied[word];
    }
    panic("a write-back wheel with %u entries and no occupied slot", wheel->count);
}

#endif
