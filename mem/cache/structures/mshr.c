#include "mem/cache/structures/mshr.h"

#include "core/sim/base/host_memory.h"
#include "core/sim/checkpoint/snapshot.h"

#include <stdlib.h>
#include <string.h>

void mshr_shape_init(MshrShape *shape, uint32_t entries, uint32_t merges) {
    *shape = (MshrShape){
        .entries = entries, .merges = merges, .places = entries, .buckets = 2, .bucket_shift = 63};
    while (1u << shape->entry_shift < entries)
        shape->entry_shift++;
    shape->slots = (merges < MSHR_REQUESTS_AT_FIRST ? merges : MSHR_REQUESTS_AT_FIRST) << shape->entry_shift;
    /* At most an eighth full: a search ends at the first bucket nearly always, as the host foresees. */
    while (shape->buckets < 8 * entries) {
        shape->buckets *= 2;
        shape->bucket_shift--;
    }
}

static bool is_in_flight(const Mshr *mshr, uint32_t entry, uint64_t line_address) {
    return mshr->entry[entry].address == line_address && mshr->entry[entry].pending;
}

static uint32_t find_by_hint(const Mshr *mshr, uint64_t line_address) {
    uint32_t hint = mshr->bucket[mshr_home_bucket(mshr, line_address)];
    if (hint && is_in_flight(mshr, hint - 1, line_address)) return hint - 1;
    for (uint32_t e = 0; e < mshr->fresh; e++)
        if (is_in_flight(mshr, e, line_address)) return e;
    return NO_MSHR;
}

uint32_t mshr_find(const Mshr *mshr, uint64_t line_address) {
    if (mshr->shape.hints) return find_by_hint(mshr, line_address);
    for (uint32_t b = mshr_home_bucket(mshr, line_address); mshr->bucket[b]; b = mshr_next_bucket(mshr, b))
        if (mshr->entry[mshr->bucket[b] - 1].address == line_address) return mshr->bucket[b] - 1;
    return NO_MSHR;
}

static void remember(Mshr *mshr, uint32_t entry, uint64_t line_address) {
    uint32_t b = mshr_home_bucket(mshr, line_address);
    while (!mshr->shape.hints && mshr->bucket[b])
        b = mshr_next_bucket(mshr, b);
    mshr->bucket[b] = entry + 1;
}

uint32_t mshr_open(Mshr *mshr, uint64_t line_address, uint32_t set, uint32_t line) {
    ensure(!mshr_full(mshr));
    uint32_t e = mshr_take_entry(mshr);
    mshr->entry[e] = (MshrEntry){.address = line_address, .set = set, .line = line};
    remember(mshr, e, line_address);
    return e;
}

static uint32_t moved_slot(const MshrShape *from, const MshrShape *to, uint32_t slot) {
    return mshr_slot(to, mshr_entry_of(from, slot), slot >> from->entry_shift);
}

/* Every request goes on waiting in its entry, whose number the fills in flight know; the ring of woken ones begins anew.
 * Slots of entries that were never used stay memory that the host has yet to hand out: of 10240 entries that is nearly all. */
static void move_requests(Mshr *mshr, const MshrShape *to) {
    const MshrShape *from = &mshr->shape;
    MemMessage *request = zeroed(to->slots, sizeof *request);
    uint32_t *missing = zeroed(to->slots, sizeof *missing), *woken = zeroed(to->slots, sizeof *woken);
    for (uint32_t i = 0; i < mshr_slots_per_entry(from); i++) {
        uint32_t before = mshr_slot(from, 0, i), now = mshr_slot(to, 0, i);
        memcpy(&request[now], &mshr->request[before], mshr->fresh * sizeof *request);
        memcpy(&missing[now], &mshr->missing[before], mshr->fresh * sizeof *missing);
    }
    for (uint32_t i = 0; i < mshr->woken_count; i++)
        woken[i] = moved_slot(from, to, mshr->woken[(mshr->woken_first + i) % from->slots]);
    mshr->woken_first = 0;
    free(mshr->request);
    free(mshr->missing);
    free(mshr->woken);
    mshr->request = request;
    mshr->missing = missing;
    mshr->woken = woken;
}

/* Room for twice as many requests of each entry. */
static __attribute__((cold, noinline)) void add_slots(Mshr *mshr) {
    MshrShape shape = mshr->shape;
    uint32_t most = mshr_most_slots(&shape);
    shape.slots = shape.slots < most / 2 ? 2 * shape.slots : most;
    move_requests(mshr, &shape);
    mshr->shape = shape;
}

void mshr_wait(Mshr *mshr, uint32_t entry, const MemMessage *request, uint32_t missing) {
    MshrEntry *e = &mshr->entry[entry];
    ensure(e->merged < mshr->shape.merges);
    if (mshr_slot(&mshr->shape, entry, e->merged) >= mshr->shape.slots) add_slots(mshr);
    uint32_t slot = mshr_slot(&mshr->shape, entry, e->merged++);
    e->waiting++;
    mshr->request[slot] = *request;
    mshr->missing[slot] = missing;
}

/* Moves up those behind the hole that a search would no longer reach. */
static __attribute__((noinline)) uint32_t move_up(Mshr *mshr, uint32_t hole) {
    uint32_t mask = mshr->shape.buckets - 1;
    for (uint32_t b = mshr_next_bucket(mshr, hole); mshr->bucket[b]; b = mshr_next_bucket(mshr, b)) {
        uint32_t home = mshr_home_bucket(mshr, mshr->entry[mshr->bucket[b] - 1].address);
        if (((b - home) & mask) < ((b - hole) & mask)) continue;
        mshr->bucket[hole] = mshr->bucket[b];
        hole = b;
    }
    return hole;
}

/* Takes the entry out of the hash table. */
static inline void forget_address(Mshr *mshr, uint32_t entry) {
    if (mshr->shape.hints) return;
    uint32_t hole = mshr_home_bucket(mshr, mshr->entry[entry].address);
    while (mshr->bucket[hole] != entry + 1)
        hole = mshr_next_bucket(mshr, hole);
    if (mshr->bucket[mshr_next_bucket(mshr, hole)]) hole = move_up(mshr, hole);
    mshr->bucket[hole] = 0;
}

static inline void release(Mshr *mshr, uint32_t entry) {
    mshr->released[mshr->released_count++] = entry;
    mshr->used--;
}

static inline void release_when_answered(Mshr *mshr, uint32_t entry) {
    if (mshr_is_free(mshr, entry)) release(mshr, entry);
}

/* The host cannot foresee who wakes. */
static inline void wake_if(bool wakes, Mshr *mshr, uint32_t slot) {
    uint32_t at = mshr->woken_first + mshr->woken_count;
    at -= mshr->shape.slots & -(uint32_t)(at >= mshr->shape.slots);
    mshr->woken[at] = wakes ? slot : mshr->woken[at];
    mshr->woken_count += wakes;
}

void mshr_fill(Mshr *mshr, uint32_t entry, uint32_t sectors) {
    ensure(entry < mshr->fresh);
    MshrEntry *e = &mshr->entry[entry];
    ensure((e->pending & sectors) == sectors);
    e->pending &= ~sectors;
    for (uint32_t i = 0; i < e->merged; i++) {
        uint32_t slot = mshr_slot(&mshr->shape, entry, i);
        uint32_t missed = mshr->missing[slot], missing = missed & ~sectors;
        mshr->missing[slot] = missing;
        wake_if((missed != 0) & !missing, mshr, slot);
    }
    if (e->pending) return;
    forget_address(mshr, entry);
    release_when_answered(mshr, entry);
}

void mshr_pop_woken(Mshr *mshr) {
    uint32_t entry = mshr_entry_of(&mshr->shape, mshr->woken[mshr->woken_first]);
    if (++mshr->woken_first == mshr->shape.slots) mshr->woken_first = 0;
    mshr->woken_count--;
    mshr->entry[entry].waiting--;
    release_when_answered(mshr, entry);
}

void mshr_answer_one(Mshr *mshr, uint32_t entry) {
    MshrEntry *e = &mshr->entry[entry];
    e->pending = e->waiting = 0;
    mshr->missing[mshr_slot(&mshr->shape, entry, 0)] = 0;
    forget_address(mshr, entry);
    release(mshr, entry);
}

/* Taking over. */

/* At least so much room as there is, and as the limits need. */
static MshrShape roomy(const MshrShape *shape) {
    uint32_t places = shape->entries > shape->places ? shape->entries : shape->places;
    MshrShape roomy;
    mshr_shape_init(&roomy, places, mshr_slots_per_entry(shape));
    roomy.slots = mshr_slots_per_entry(shape) << roomy.entry_shift;
    roomy.entries = shape->entries;
    roomy.merges = shape->merges;
    roomy.hints = shape->hints;
    return roomy;
}

void mshr_make_room(Mshr *mshr) {
    MshrShape before = mshr->shape, shape = roomy(&before);
    if (shape.slots == before.slots && shape.places == before.places) return;
    move_requests(mshr, &shape);
    mshr->entry = array_grown(mshr->entry, before.places, shape.places, sizeof *mshr->entry);
    mshr->released = array_grown(mshr->released, before.places, shape.places, sizeof *mshr->released);
    mshr->shape = shape;
    free(mshr->bucket);
    mshr->bucket = array_grown(NULL, 0, shape.buckets, sizeof *mshr->bucket);
    for (uint32_t e = 0; e < mshr->fresh; e++)
        if (mshr->entry[e].pending) remember(mshr, e, mshr->entry[e].address);
}
