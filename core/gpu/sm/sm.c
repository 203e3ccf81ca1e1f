/* The cycle of an SM: the order of its stages, write-back, and when it has something to do next. */
#include "core/gpu/sm/sm.h"

/* Cycles slept through had the cause of the last one. */
static __attribute__((noinline)) void account_for_sleep(Sm *sm, uint64_t cycle) {
    for (uint32_t i = 0; i < sm->schedulers; i++) {
        SlotCause cause = sm->slot_cause[i] == SLOT_ISSUED ? SLOT_FETCH : sm->slot_cause[i];
        sm->slots[cause] += cycle - sm->accounted;
    }
    if (GATES_ASKED(&sm->gates, GATE_PASS)) gates_pass(&sm->gates, cycle - sm->accounted, false);
    sm->accounted = cycle;
}

static inline void account(Sm *sm, uint64_t cycle) {
    if (cycle != sm->accounted) account_for_sleep(sm, cycle);
}

static void write_back(Sm *sm, uint64_t cycle) {
    Writer writer;
    uint32_t count = write_backs_begin(&sm->write_backs, &sm->collector, cycle);
    for (uint32_t i = 0; i < count; i++) {
        writer = write_backs_take(&sm->write_backs, &sm->shape, cycle, i);
        sm_complete(sm, writer_warp(writer), sm_inst(sm, writer_warp(writer), writer_inst(writer)));
    }
    while (write_backs_take_laneless(&sm->write_backs, cycle, &writer))
        sm_complete(sm, writer_warp(writer), sm_inst(sm, writer_warp(writer), writer_inst(writer)));
}

/* At most one comes in a cycle: the load/store unit sends nothing when the fixed pipeline has something done. */
static void receive_memory(Sm *sm, uint64_t now) {
    FixedPipeline *fixed = sm->fixed;
    if (fixed->next_done <= now) {
        sm_complete_fixed(sm, &fixed->ring[fixed->head & (fixed->slots - 1)].done);
        fixed->handed_over++;
        fixed_pop(fixed);
        return;
    }
    const MemoryDone *done = link_peek(sm->lsu.receive, now);
    if (!done) return;
    sm_complete_memory(sm, done);
    link_pop(sm->lsu.receive, now);
}

/* When there is a place on the way to the LSU. NEVER: the link is full, and wakes the SM. */
static uint64_t next_place(const Sm *sm, uint64_t now) {
    const Link *link = sm->lsu.send;
    uint64_t soon = now + sm->obj.period, first_begins;
    uint32_t waiting = fixed_waiting(sm->fixed, now, &first_begins);
    if (link_occupancy(link, soon) + waiting < link->depth) return soon;
    if (!waiting) return link_space_time(link, now);
    return later_of(soon, first_begins + sm->obj.period);
}

/* A slot that was lost to the LSU may be used as soon as it takes instructions again. */
static uint64_t next_issue(const Sm *sm, uint64_t cycle, uint64_t now) {
    uint64_t accepts = collector_accepts_at(&sm->collector, 0, UNIT_MEM);
    for (uint32_t i = 1; i < sm->shape.sub_cores; i++)
        accepts = earlier_of(accepts, collector_accepts_at(&sm->collector, i, UNIT_MEM));
    if (sm->payloads_in_use == sm->atomic_payloads) return NEVER;
    uint64_t at = next_place(sm, now);
    return at != NEVER && accepts > cycle ? later_of(at, now + (accepts - cycle) * sm->obj.period) : at;
}

/* Is there something to do in the next cycle, whatever else may come? Mostly. A unit that took nothing may
 * do so then. */
static inline bool goes_on(const Sm *sm, bool fetches, uint32_t causes) {
    bool issues = causes & (1u << SLOT_ISSUED | 1u << SLOT_UNIT);
    return fetches | issues | (sm->finished_ctas != 0);
}

static uint64_t next_work(const Sm *sm, uint32_t causes, uint64_t cycle, uint64_t now) {
    uint64_t soon = now + sm->obj.period, next, at;
    next = causes & 1u << SLOT_LSU ? next_issue(sm, cycle, now) : NEVER;
    if (next == soon) return soon;
    uint64_t write_back_cycle = write_backs_next(&sm->write_backs, &sm->collector, cycle);
    if (write_back_cycle != UINT64_MAX) {
        at = now + (write_back_cycle - cycle) * sm->obj.period;
        if (at < next) next = at;
    }
    if ((at = link_next_ready(sm->lsu.receive)) < next) next = at;
    if ((at = sm->fixed->next_done) < next) next = at;
    if ((at = link_next_ready(sm->dispatch.receive)) < next) next = at;
    if (sm->fetch.receive && (at = link_next_ready(sm->fetch.receive)) < next) next = at;
    if (GATES_ASKED(&sm->gates, GATE_NEXT)) next = gates_next(&sm->gates, next);
    return next > now ? next : soon;
}

/* Returns whether something is to be fetched since. */
static inline bool end_cycle_at_gates(Sm *sm, uint32_t causes) {
    if (GATES_ASKED(&sm->gates, GATE_PASS)) gates_pass(&sm->gates, 1, causes >> SLOT_ISSUED & 1);
    if (GATES_ASKED(&sm->gates, GATE_END_CYCLE)) gates_end_cycle(&sm->gates);
    return sm_fetch_pending(sm);
}

uint64_t sm_tick(SimObject *object, uint64_t now) {
    Sm *sm = (Sm *)object;
    uint64_t cycle = object_cycle(object, now);
    account(sm, cycle);
    collector_begin(&sm->collector, &sm->shape, cycle);
    write_back(sm, cycle);
    receive_memory(sm, now);
    if (GATES_ASKED(&sm->gates, GATE_BEGIN_CYCLE)) gates_begin_cycle(&sm->gates, now);
    sm_accept_cta(sm, now);
    uint32_t causes = sm_issue(sm, cycle, now);
    bool fetches = sm_decode(sm);
    fetches |= sm_fetch(sm, now);
    sm_report_finished_cta(sm, now);
    if (GATES_AT_WORK(&sm->gates)) fetches |= end_cycle_at_gates(sm, causes);
    sm->accounted = cycle + 1;
    return goes_on(sm, fetches, causes) ? now + object->period : next_work(sm, causes, cycle, now);
}

void sm_settle(SimObject *object, uint64_t now) {
    account((Sm *)object, object_cycle(object, now));
}
