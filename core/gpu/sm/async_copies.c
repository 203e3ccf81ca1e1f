#include "core/gpu/sm/async_copies.h"

#include <string.h>

/* The group that is open has the slot `committed`; the one committed last has the slot before it. There are
 * slots for some groups only: one that comes to a slot where an older group is not complete yet shares it, and
 * who waits for the older one waits for both. */

static uint32_t slot_of(uint32_t group) {
    return group % ASYNC_GROUPS;
}

uint32_t async_begin(Sm *sm, uint32_t w) {
    uint32_t slot = slot_of(sm->async[w].committed);
    sm->async[w].in_flight[slot]++;
    return slot;
}

void async_commit(Sm *sm, uint32_t w) {
    AsyncCopies *copies = &sm->async[w];
    uint32_t slot = slot_of(++copies->committed);
    if (copies->in_flight[slot]) copies->shared = (uint8_t)(copies->shared | 1u << slot);
}

/* The newest groups are spared, and the open one, unless all copies are waited for. */
static bool is_done(const AsyncCopies *copies) {
    bool all = copies->spared == ASYNC_ALL;
    uint32_t spared = all ? 0 : copies->spared + 1u;
    for (uint32_t back = 0; back < ASYNC_GROUPS; back++) {
        uint32_t slot = slot_of(copies->committed - back);
        if ((back >= spared || copies->shared >> slot & 1) && copies->in_flight[slot]) return false;
    }
    return true;
}

void async_wait(Sm *sm, uint32_t w, uint32_t groups) {
    AsyncCopies *copies = &sm->async[w];
    copies->spared = (uint8_t)(groups < ASYNC_GROUPS ? groups
                               : groups == ASYNC_ALL ? ASYNC_ALL
                                                     : ASYNC_GROUPS);
    if (is_done(copies)) return;
    sm->copying |= warp_bit(w);
    sm->waiting |= warp_bit(w);
}

void async_end(Sm *sm, uint32_t w, uint32_t slot) {
    AsyncCopies *copies = &sm->async[w];
    if (--copies->in_flight[slot] == 0) copies->shared = (uint8_t)(copies->shared & ~(1u << slot));
    if (!(sm->copying >> w & 1) || !is_done(copies)) return;
    sm->copying &= ~warp_bit(w);
    sm->waiting &= ~warp_bit(w);
}

/* Copies in the load/store unit, warp by warp and slot by slot. */
typedef struct {
    const Sm *sm;
    uint16_t count[MAX_WARPS][ASYNC_GROUPS];
} Copies;

static void count_copy(void *context, const MemoryDone *done) {
    Copies *copies = context;
    if (done->kind != INST_LOAD || !(sm_inst(copies->sm, done->inst)->detail & DETAIL_ASYNC_COPY)) return;
    copies->count[done->warp % MAX_WARPS][done->payload % ASYNC_GROUPS]++;
}

bool async_adds_up(const Sm *sm) {
    Copies copies = {.sm = sm};
    lsu_visit_instructions(sm->lsu.send->receiver, count_copy, &copies);
    for (uint32_t w = 0; w < sm->warps; w++)
        if (memcmp(copies.count[w], sm->async[w].in_flight, sizeof copies.count[w]) != 0) return false;
    return true;
}
