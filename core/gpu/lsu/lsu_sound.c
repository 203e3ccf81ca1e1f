/* Can the state of a load/store unit be worked with? It was brought by a snapshot. */
#include "core/gpu/lsu/lsu_state.h"
#include "core/gpu/sm/sm_sound.h"

/* Cycles from the issue of an instruction of fixed latency to its end: the operand collector and bank conflicts
 * included, and with what another machine may have had. */
enum { AHEAD_MAX = 1024 + RESULT_BUS_RING };

static void must_be(const Lsu *lsu, bool condition, const char *what) {
    sound(condition, "%s.%s", lsu->obj.path, what);
}

static const Sm *sm_of(const Lsu *lsu) {
    return (const Sm *)lsu->obj.parent;
}

static bool is_soon(const Lsu *lsu, uint64_t tick) {
    return tick % lsu->obj.period == 0 && tick <= lsu->obj.sim->now + AHEAD_MAX * lsu->obj.period;
}

static void op_is_sound(const Lsu *lsu) {
    if (!lsu->op_valid) {
        must_be(lsu, !lsu->holds_place, "holds_place");
        return;
    }
    must_be(lsu, lsu->op_valid == 1 && lsu->holds_place <= 1, "op_valid, holds_place");
    sm_memory_op_is_sound(sm_of(lsu), lsu->obj.path, &lsu->op, true);
    must_be(lsu, lsu->op.space != SPACE_SHARED && has_accesses(lsu, lsu->op.space), "op: its space");
    must_be(lsu, lsu->segment_count <= MAX_SEGMENTS && lsu->segment_next < lsu->segment_count,
            "segment_count, segment_next");
    must_be(lsu, (lsu->entry == NO_ENTRY) == (lsu->segment_next == 0), "entry: before the first access");
    for (uint32_t i = lsu->segment_next; i < lsu->segment_count; i++) {
        const Segment *segment = &lsu->segments[i];
        bool size = segment->bytes == 32 || segment->bytes == 64 || segment->bytes == COALESCE_LINE;
        must_be(lsu,
                size && segment->address % segment->bytes == 0 && segment->address >> MAX_ADDRESS_BITS == 0 &&
                    (segment->sectors & ~mem_sectors_between(segment->address, segment->bytes)) == 0,
                "segments");
    }
}

/* The list of free entries holds those that wait for nothing, each once. */
static void outstanding_is_sound(const Lsu *lsu) {
    uint32_t released = 0, at = lsu->first_free;
    must_be(lsu, lsu->in_use <= lsu->entries, "in_use");
    for (; released < lsu->entries - lsu->in_use; released++, at = lsu->outstanding[at].next_free)
        must_be(lsu, at < lsu->entries && !lsu->outstanding[at].remaining && !lsu->outstanding[at].unsent,
                "first_free");
    uint32_t waiting = 0;
    for (uint32_t i = 0; i < lsu->entries; i++) {
        const Outstanding *entry = &lsu->outstanding[i];
        bool sends = lsu->op_valid && i == lsu->entry;
        if (!entry->remaining && !entry->unsent) continue;
        sm_memory_done_is_sound(sm_of(lsu), lsu->obj.path, &entry->done);
        must_be(lsu,
                entry->unsent == (sends ? lsu->segment_count - lsu->segment_next : 0) &&
                    entry->remaining <= MAX_SEGMENTS && entry->begun <= lsu->obj.sim->now + lsu->obj.period,
                "outstanding");
        waiting++;
    }
    must_be(lsu, waiting == lsu->in_use, "in_use");
    must_be(lsu,
            !lsu->op_valid || lsu->entry == NO_ENTRY ||
                (lsu->entry < lsu->entries && lsu->outstanding[lsu->entry].unsent),
            "entry");
}

static void ring_is_sound(const Lsu *lsu, const Completed *ring, uint32_t slots, uint64_t head, uint64_t tail,
                          const char *what) {
    uint64_t last = 0;
    must_be(lsu, tail - head <= slots, what);
    for (uint64_t i = head; i != tail; i++) {
        const Completed *completed = &ring[i & (slots - 1)];
        sm_memory_done_is_sound(sm_of(lsu), lsu->obj.path, &completed->done);
        must_be(lsu, is_soon(lsu, completed->ready) && completed->ready >= last, what);
        last = completed->ready;
    }
}

/* They begin one after the other, and those that have not begun are in the ring. */
static void ahead_is_sound(const Lsu *lsu) {
    const FixedPipeline *fixed = &lsu->fixed;
    uint64_t before = 0, waiting = 0;
    for (uint32_t i = 0; i < AHEAD_PLACES; i++) {
        const Ahead *ahead = &fixed->ahead[(fixed->issued_ahead + i) % AHEAD_PLACES];
        if (!ahead->begins && !ahead->cycles && !ahead->kind) continue; /* there was none */
        bool kind = ahead->kind == INST_LOAD || ahead->kind == INST_STORE || ahead->kind == INST_ATOMIC;
        must_be(lsu,
                kind && ahead->cycles && ahead->cycles <= CONFLICTS_MAX && is_soon(lsu, ahead->begins) &&
                    ahead->begins > before,
                "fixed.ahead");
        waiting += ahead->begins >= lsu->obj.sim->now;
        before = ahead->begins;
    }
    must_be(lsu, waiting <= fixed->tail - fixed->head, "fixed.ahead");
    must_be(lsu,
            fixed->early.loads + fixed->early.stores <= AHEAD_PLACES &&
                fixed->early.conflict_cycles <= AHEAD_PLACES * CONFLICTS_MAX,
            "fixed.early");
}

static void fixed_is_sound(const Lsu *lsu) {
    const FixedPipeline *fixed = &lsu->fixed;
    ring_is_sound(lsu, fixed->ring, fixed->slots, fixed->head, fixed->tail, "fixed.ring");
    must_be(lsu, fixed->last_sent <= lsu->obj.sim->now && fixed->last_sent % fixed->period == 0,
            "fixed.last_sent");
    bool empty = fixed->head == fixed->tail;
    uint64_t next_done = empty ? NEVER : fixed_first_sent(fixed) + fixed->way_back;
    must_be(lsu, fixed->next_done == next_done, "fixed.next_done");
    must_be(lsu, is_soon(lsu, fixed->busy_until), "fixed.busy_until");
    must_be(lsu,
            lsu->op_valid ? fixed->open_from == NEVER
                          : fixed->open_from <= lsu->obj.sim->now + lsu->obj.period,
            "fixed.open_from");
    must_be(lsu, empty || fixed->last_ready >= fixed->ring[(fixed->tail - 1) & (fixed->slots - 1)].ready,
            "fixed.last_ready");
    must_be(lsu, is_soon(lsu, fixed->last_ready), "fixed.last_ready");
    ahead_is_sound(lsu);
}

void lsu_is_sound(const SimObject *object, bool fits) {
    const Lsu *lsu = (const Lsu *)object;
    (void)fits;
    op_is_sound(lsu);
    outstanding_is_sound(lsu);
    fixed_is_sound(lsu);
    ring_is_sound(lsu, lsu->answered, lsu->answered_slots, lsu->answered_head, lsu->answered_tail,
                  "answered");
    must_be(lsu, lsu_slots_needed(lsu) <= lsu->answered_slots, "in_use, answered");
    must_be(lsu, lsu->stall_since <= object->sim->now + object->period, "stall_since");
}
