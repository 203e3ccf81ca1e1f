/* Load/store unit of an SM: takes one warp memory instruction at a time from the operand collector, coalesces
 * it or resolves its bank conflicts, sends one access per cycle to the cache that serves its space, collects
 * the answers, and tells the SM when an instruction is complete. */
#include "core/gpu/lsu/lsu_state.h"
#include "core/sim/event.h"

#include <string.h>

/* --- The fixed pipeline, what is rare ---------------------------------------------------------- */

uint64_t fixed_overtake(FixedPipeline *fixed, uint64_t behind, uint64_t ready) {
    Completed *ring = fixed->ring;
    uint64_t at = behind, mask = fixed->slots - 1;
    for (; at > fixed->head && ring[(at - 1) & mask].ready > ready; at--) {
        ring[at & mask] = ring[(at - 1) & mask];
        audit_move(fixed->unit, QUEUE_COMPLETED, (uint32_t)((at - 1) & mask), (uint32_t)(at & mask));
    }
    if (at == behind) fixed->last_ready = ready;
    return at;
}

static bool waits(const Ahead *ahead, uint64_t now) {
    return ahead->cycles && ahead->begins >= now;
}

/* They begin in their order. */
uint32_t fixed_waiting(FixedPipeline *fixed, uint64_t now, uint64_t *first_begins) {
    uint32_t count = 0;
    *first_begins = NEVER;
    for (; count < AHEAD_PLACES && waits(fixed_ahead(fixed, count), now); count++)
        *first_begins = fixed_ahead(fixed, count)->begins;
    return count;
}

void fixed_settle(FixedPipeline *fixed, uint64_t now) {
    SharedCounts early = {0};
    for (uint32_t i = 0; i < AHEAD_PLACES && waits(fixed_ahead(fixed, i), now); i++) {
        const Ahead *ahead = fixed_ahead(fixed, i);
        early.stores += ahead->kind == INST_STORE;
        early.loads += ahead->kind != INST_STORE;
        early.conflict_cycles += ahead->cycles - 1;
    }
    fixed->shared_loads += fixed->early.loads - early.loads;
    fixed->shared_stores += fixed->early.stores - early.stores;
    fixed->bank_conflict_cycles += fixed->early.conflict_cycles - early.conflict_cycles;
    fixed->early = early;
}

/* A slot of the ring of answered instructions; the caller fills in what is done. */
static inline MemoryDone *push_answered(Lsu *lsu, uint64_t now) {
    uint64_t at = lsu->answered_tail++;
    Completed *slot = &lsu->answered[at & (lsu->answered_slots - 1)];
    ensure(at - lsu->answered_head < lsu->answered_slots);
    slot->ready = now;
    audit_enter(&lsu->obj, QUEUE_ANSWERED, (uint32_t)(at & (lsu->answered_slots - 1)));
    return &slot->done;
}

/* --- Answers --------------------------------------------------------------------------------- */

static void complete(Lsu *lsu, uint32_t index, uint64_t now) {
    Outstanding *entry = &lsu->outstanding[index];
    if (entry->done.kind == INST_LOAD && !entry->is_prefetch) {
        lsu->load_latency_ticks += now - entry->begun;
        lsu->loads_answered++;
        if (__builtin_expect(lsu->loads != NULL, 0))
            lsu->loads->answered(lsu->loads, entry->done.warp, now - entry->begun);
    }
    *push_answered(lsu, now) = entry->done;
    entry->next_free = lsu->first_free;
    lsu->first_free = index;
    lsu->in_use--;
    audit_leave(&lsu->obj, QUEUE_OUTSTANDING, index);
}

static inline __attribute__((always_inline)) void take_answer(Lsu *lsu, Link *link, uint64_t now) {
    const MemMessage *answer = link_peek(link, now);
    uint32_t index = (uint32_t)answer->token;
    Outstanding *entry = &lsu->outstanding[index];
    ensure(entry->remaining > 0);
    if (--entry->remaining == 0 && entry->unsent == 0) complete(lsu, index, now);
    link_pop(link, now);
    object_progress(&lsu->obj);
}

/* When the first answer of constants or textures is ready. */
static inline uint64_t next_other_answer(const Lsu *lsu) {
    return earlier_of(*lsu->other_answers[0], *lsu->other_answers[1]);
}

static __attribute__((noinline)) void take_answer_ahead(Lsu *lsu, uint64_t now) {
    uint32_t index = constants_pop(&lsu->ahead);
    lsu->outstanding[index].remaining = 0;
    complete(lsu, index, now);
    object_progress(&lsu->obj);
}

/* Rare, compared with those of global and local memory. Returns when the next of them is ready. */
__attribute__((noinline)) static uint64_t take_other_answers(Lsu *lsu, uint64_t now) {
    if (*lsu->other_answers[0] <= now) take_answer(lsu, lsu->constant.receive, now);
    if (*lsu->other_answers[1] <= now) take_answer(lsu, lsu->texture.receive, now);
    return next_other_answer(lsu);
}

static inline uint64_t take_answers(Lsu *lsu, uint64_t now) {
    uint64_t others = next_other_answer(lsu);
    if (link_next_ready(lsu->mem.receive) <= now) take_answer(lsu, lsu->mem.receive, now);
    if (lsu->ahead.next <= now) take_answer_ahead(lsu, now);
    return others <= now ? take_other_answers(lsu, now) : others;
}

/* While somebody looks on, cycle by cycle, what the fixed pipeline has done goes to the SM by the link. */
static COLD bool send_completed(Lsu *lsu, uint64_t now) {
    FixedPipeline *fixed = &lsu->fixed;
    if (fixed->head == fixed->tail || fixed_first_sent(fixed) != now || !link_can_send(lsu->sm.send, now))
        return false;
    *(MemoryDone *)link_send_checked(lsu->sm.send, now) = fixed->ring[fixed->head & (fixed->slots - 1)].done;
    fixed_pop(fixed);
    return true;
}

static inline bool is_watched(const Lsu *lsu) {
    return __builtin_expect(!object_unseen_until(&lsu->obj), 0);
}

/* One write-back per cycle. The pipeline of fixed latency comes first: it cannot wait. */
static inline void write_back(Lsu *lsu, uint64_t now) {
    if (is_watched(lsu) && send_completed(lsu, now)) return;
    if (lsu->answered_head == lsu->answered_tail || fixed_sends_at(&lsu->fixed, now)) return;
    Link *link = lsu->sm.send;
    if (!link_can_send(link, now)) return;
    uint64_t slot = lsu->answered_head++ & (lsu->answered_slots - 1);
    *(MemoryDone *)link_send_checked(link, now) = lsu->answered[slot].done;
    audit_leave(&lsu->obj, QUEUE_ANSWERED, (uint32_t)slot);
}

/* --- The instruction at work ----------------------------------------------------------------- */

static bool goes_to_memory(const MemoryOp *op) {
    return op->space == SPACE_GLOBAL || op->space == SPACE_LOCAL;
}

static uint32_t is_prefetch(const MemoryOp *op) {
    return op->cache_op & (CACHE_PREFETCH_L1 | CACHE_PREFETCH_L2);
}

static void count_instruction(Lsu *lsu, const MemoryOp *op) {
    if (is_prefetch(op)) {
        lsu->prefetches++;
        return;
    }
    switch (op->space) {
    case SPACE_SHARED: fixed_count_shared(&lsu->fixed, op->kind, op->conflict_degree); break;
    case SPACE_GLOBAL:
        if (op->kind == INST_ATOMIC)
            lsu->atomics++;
        else if (op->kind == INST_STORE)
            lsu->global_stores++;
        else if (space_of(lsu, op) == SPACE_TEXTURE)
            lsu->texture_loads++;
        else
            lsu->global_loads++;
        break;
    case SPACE_LOCAL:
        if (op->kind == INST_STORE)
            lsu->local_stores++;
        else
            lsu->local_loads++;
        break;
    case SPACE_TEXTURE: lsu->texture_loads++; break;
    default: lsu->constant_loads++; break;
    }
}

/* Field by field into its place: a copy of what has just been built from small parts would wait for them. */
static void set_done(MemoryDone *done, const MemoryOp *op) {
    done->inst = op->inst;
    done->payload = op->payload;
    done->lanes = op->lanes;
    done->warp = op->warp;
    done->kind = op->kind;
    done->space = op->space;
}

/* Shared memory, and parameters without a constant cache: a pipeline of fixed latency whose start is held up
 * for `cycles` by conflicts. */
static inline void begin_fixed(Lsu *lsu, const MemoryOp *op, uint32_t cycles, uint64_t now) {
    FixedPipeline *fixed = &lsu->fixed;
    fixed->busy_until = now + cycles * fixed->period;
    /* The SM sees it one link cycle after it is sent: a shared load that enters at F is written back at
     * F + latency + 2, as every unit's result is. */
    uint64_t ready = now + fixed_latency(fixed, op->space, cycles);
    set_done(fixed_push(fixed, ready), op);
    object_poke(lsu->obj.parent, ready + fixed->way_back);
}

static uint32_t texture_segments(const MemoryOp *op, Segment *segments) {
    for (uint32_t i = 0; i < op->segments; i++)
        segment_set(&segments[i], op->lowest + (uint64_t)op->segment[i] * TEXTURE_SEGMENT, TEXTURE_SEGMENT,
                    0);
    return op->segments;
}

static inline void set_constant_segment(Segment *segment, uint64_t address) {
    segment_set(segment, address / CONSTANT_SEGMENT * CONSTANT_SEGMENT, CONSTANT_SEGMENT, 0);
}

static __attribute__((noinline)) uint32_t distinct_segments(const MemoryOp *op, Segment *segments) {
    uint64_t distinct[WARP_LANES];
    uint32_t count = distinct_addresses(op, distinct);
    for (uint32_t i = 0; i < count; i++)
        set_constant_segment(&segments[i], distinct[i]);
    return count;
}

/* Mostly of one address. */
static inline uint32_t constant_segments(const MemoryOp *op, Segment *segments) {
    if (op->has_addresses) return distinct_segments(op, segments);
    set_constant_segment(&segments[0], op->lowest);
    return 1;
}

static uint32_t widest_segment(const Lsu *lsu, const MemoryOp *op) {
    bool read_only = lsu->read_only_segment != 0;
    if (!(lsu->narrow_segments | read_only)) return COALESCE_LINE;
    if (read_only && op->cache_op == CACHE_READ_ONLY) return lsu->read_only_segment;
    if (!lsu->narrow_segments || op->space == SPACE_LOCAL || op->kind == INST_ATOMIC || is_prefetch(op))
        return COALESCE_LINE;
    uint32_t element = sm_inst((const Sm *)lsu->obj.parent, op->warp, op->inst)->element_bytes;
    if (element == 1 || op->cache_op == CACHE_GLOBAL) return 32;
    return element == 2 ? 64 : COALESCE_LINE;
}

/* Once answered an instruction waits for its write-back in the ring, for as long as the fixed pipeline comes first: its slot
 * there must be sure. */
static inline bool has_entry(const Lsu *lsu) {
    return lsu->in_use != lsu->entries && lsu_slots_needed(lsu) != lsu->answered_slots;
}

/* For one that sends its first access at `begun`. Returns the entry's number. */
static inline uint32_t open_entry(Lsu *lsu, const MemoryOp *op, uint32_t sent, uint32_t unsent,
                                  uint64_t begun) {
    uint32_t index = lsu->first_free;
    Outstanding *entry = &lsu->outstanding[index];
    lsu->first_free = entry->next_free;
    lsu->in_use++;
    audit_enter(&lsu->obj, QUEUE_OUTSTANDING, index);
    set_done(&entry->done, op);
    entry->remaining = sent;
    entry->unsent = unsent;
    entry->begun = begun;
    entry->is_prefetch = is_prefetch(op);
    return index;
}

static bool take_entry(Lsu *lsu, uint64_t now) {
    if (lsu->entry != NO_ENTRY) return true;
    if (!has_entry(lsu)) return false;
    lsu->entry = open_entry(lsu, &lsu->op, 0, lsu->segment_count, now);
    return true;
}

/* A prefetch wants no data, and policies may say of which class a request is. */
COLD static void fill_special_request(const Lsu *lsu, const Segment *segment, MemMessage *request) {
    const MemoryOp *op = &lsu->op;
    if (is_prefetch(op)) {
        request->payload = MEM_LINE_ONLY;
        if (op->cache_op == CACHE_PREFETCH_L2) request->flags |= MEM_BYPASS_L1;
    }
    if (!object_has_subscriber(&lsu->obj, LSU_ASK_CLASS)) return;
    int64_t answer = event_ask((SimObject *)(uintptr_t)&lsu->obj, LSU_ASK_CLASS, op->warp,
                               (int64_t)segment->address, op->inst, op->kind != INST_LOAD, lsu->class_number);
    if (answer != NO_ANSWER) request->class_number = (uint8_t)answer;
}

static uint8_t kind_of(const MemoryOp *op) {
    return op->kind == INST_LOAD ? MEM_READ : op->kind == INST_STORE ? MEM_WRITE : MEM_ATOMIC;
}

static uint8_t flags_of(const MemoryOp *op) {
    if (op->space == SPACE_LOCAL)
        return MEM_LOCAL; /* nobody else writes it: volatile is for the compiler alone */
    bool bypasses = op->cache_op == CACHE_GLOBAL || op->cache_op == CACHE_VOLATILE;
    return bypasses ? MEM_BYPASS_L1 : 0;
}

static uint64_t *counter_of(Lsu *lsu, const MemoryOp *op) {
    if (!goes_to_memory(op)) return &lsu->uncounted;
    if (is_prefetch(op)) return &lsu->prefetch_accesses;
    return op->kind == INST_LOAD    ? &lsu->load_accesses
           : op->kind == INST_STORE ? &lsu->store_accesses
                                    : &lsu->atomic_accesses;
}

void lsu_find_rules(Lsu *lsu) {
    for (uint32_t space = 0; space <= SPACE_SURFACE; space++)
        for (uint32_t kind = 0; kind <= INST_ATOMIC; kind++) {
            MemoryOp op = {.kind = (uint8_t)kind, .space = (uint8_t)space};
            lsu->rule[space][kind] = (RequestRule){.link = port_of(lsu, space),
                                                   .accesses = counter_of(lsu, &op),
                                                   .payload = kind == INST_ATOMIC ? UINT32_MAX : 0,
                                                   .kind = kind_of(&op),
                                                   .flags = flags_of(&op)};
        }
}

/* Each is stored here by itself, and read as a part of a word when a request is made, in the next cycle at the earliest. */
static void find_common(Lsu *lsu) {
    const MemoryOp *op = &lsu->op;
    const RequestRule *rule = &lsu->rule[op->space][op->kind];
    MemMessage *request = &lsu->requests.request;
    request->pc = op->inst;
    request->payload = (uint16_t)(op->payload & rule->payload);
    request->cta = lsu->cta;
    request->sm = (uint16_t)sm_number(lsu->obj.parent);
    request->warp = op->warp;
    request->class_number = (uint8_t)lsu->class_number;
    request->kind = rule->kind;
    request->flags = rule->flags;
    lsu->requests.link = rule->link;
    lsu->requests.accesses = rule->accesses;
    if (__builtin_expect(op->cache_op == CACHE_DEFAULT, 1)) return;
    request->flags = flags_of(op);
    lsu->requests.accesses = counter_of(lsu, op);
    if (space_of(lsu, op) != SPACE_TEXTURE) return;
    lsu->requests.link = lsu->texture.send;
    lsu->requests.accesses = &lsu->uncounted;
}

bool lsu_knobs_set(SimObject *object) {
    Lsu *lsu = (Lsu *)object;
    if (lsu->op_valid) find_common(lsu);
    return true;
}

static inline void fill_request(const Lsu *lsu, const Segment *segment, MemMessage *request, uint64_t now) {
    enum { COMMON = offsetof(MemMessage, pc) };
    request->address = segment->address;
    request->byte_mask[0] = segment->byte_mask[0];
    request->byte_mask[1] = segment->byte_mask[1];
    request->issued = now;
    request->token = lsu->entry;
    request->lanes = segment->lanes;
    memcpy((char *)request + COMMON, (const char *)&lsu->requests.request + COMMON, sizeof *request - COMMON);
    request->bytes = (uint8_t)segment->bytes;
    request->sectors = (uint8_t)segment->sectors;
    if (__builtin_expect((lsu->obj.subscribed | is_prefetch(&lsu->op)) != 0, 0))
        fill_special_request(lsu, segment, request);
}

static void note_stall(Lsu *lsu, bool stalled, uint64_t now) {
    if (lsu->stall_since) lsu->stall_cycles += object_cycles_in(&lsu->obj, now - lsu->stall_since);
    lsu->stall_since = stalled ? now : 0;
}

/* Between issue and the end of its accesses an instruction stands in one of five places: latch, two
 * collectors, dispatch register, unit. The link from the SM is these five, so it is popped when the last
 * access is about to leave: in the cycle in which it does, the next instruction can issue. */
static inline __attribute__((always_inline)) void free_place(Lsu *lsu, uint64_t now) {
    uint32_t left = lsu->segment_count - lsu->segment_next;
    if (left > 1 || !lsu->holds_place) return;
    if (left == 1 && !link_has_room(lsu->requests.link, now)) return; /* in the next cycle */
    lsu->holds_place = 0;
    link_pop(lsu->sm.receive, now);
}

/* The next access will not get into the link in the next cycle, unless a place becomes free in this one; then the link
 * wakes the unit, and a stall that ends where it begins counts nothing. */
static inline void foresee_stall(Lsu *lsu, const Link *link, uint64_t now) {
    uint64_t soon = now + lsu->obj.period;
    lsu->stall_since = link_send_time(link, soon) == NEVER ? soon : 0;
}

/* One access per cycle; the instruction leaves the unit with its last one. */
static void send_access(Lsu *lsu, uint64_t now) {
    Link *link = lsu->requests.link;
    bool can = link_can_send(link, now) && take_entry(lsu, now);
    note_stall(lsu, !can, now);
    if (!can) return;
    fill_request(lsu, &lsu->segments[lsu->segment_next++], link_send_checked(link, now), now);
    ++*lsu->requests.accesses;
    lsu->outstanding[lsu->entry].remaining++;
    lsu->outstanding[lsu->entry].unsent--;
    free_place(lsu, now);
    if (lsu->segment_next < lsu->segment_count) {
        foresee_stall(lsu, link, now);
    } else {
        lsu->op_valid = 0;
        lsu->fixed.open_from = now + lsu->obj.period;
    }
    object_progress(&lsu->obj);
}

/* Whole lines, wherever in them the addresses are. */
static void widen_to_lines(Segment *segments, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        segments[i].address &= -(uint64_t)COALESCE_LINE;
        segments[i].bytes = COALESCE_LINE;
        segments[i].sectors = 0;
    }
}

static inline uint32_t make_segments(const Lsu *lsu, const MemoryOp *op, Segment *segments) {
    uint32_t count;
    if (goes_to_memory(op)) {
        count = coalesce(op, segments, widest_segment(lsu, op));
        if (lsu->names_sectors) name_sectors(op, segments, count);
    } else if (op->space == SPACE_TEXTURE) {
        count = texture_segments(op, segments);
    } else {
        count = constant_segments(op, segments);
    }
    if (__builtin_expect(is_prefetch(op), 0)) widen_to_lines(segments, count);
    return count;
}

COLD static void emit_coalesced(Lsu *lsu) {
    const MemoryOp *op = &lsu->op;
    if (!goes_to_memory(op) || is_prefetch(op)) return;
    object_emit(&lsu->obj, LSU_COALESCED, op->warp, op->inst, op->kind != INST_LOAD, lsu->segment_count,
                (int64_t)lsu->segments[0].address);
}

/* From now on its accesses are sent, one in each cycle. All is kept but the addresses, which become
 * segments. */
__attribute__((noinline)) static void begin_accesses(Lsu *lsu, const MemoryOp *op, uint64_t now) {
    memcpy(&lsu->op, op, offsetof(MemoryOp, address));
    lsu->op_valid = 1;
    lsu->fixed.open_from = NEVER;
    const Sm *sm = (const Sm *)lsu->obj.parent;
    lsu->class_number = sm->class_of[op->warp];
    lsu->cta = (uint16_t)sm->warp[op->warp].cta_number;
    lsu->segment_next = 0;
    lsu->entry = NO_ENTRY;
    lsu->segment_count = make_segments(lsu, op, lsu->segments);
    lsu->holds_place = 1;
    find_common(lsu);
    free_place(lsu, now);
    if (__builtin_expect(object_has_subscriber(&lsu->obj, LSU_COALESCED), 0)) emit_coalesced(lsu);
}

/* Its accesses, one after the other, and none of them is in flight. */
UntimedAnswer lsu_take_untimed(SimObject *object, const void *request) {
    const Lsu *lsu = (const Lsu *)object;
    const Sm *sm = (const Sm *)object->parent;
    const MemoryOp *op = request;
    const Link *link = port_of(lsu, space_of(lsu, op));
    Segment segments[MAX_SEGMENTS];
    UntimedAnswer least = UNTIMED_REPEATS;
    if (!has_accesses(lsu, op->space)) return least;
    uint32_t count = make_segments(lsu, op, segments);
    if (space_is_constant(op->space))
        object->sim->untimed.constants += count - 1;
    else
        object->sim->untimed.accesses += count;
    MemMessage message = {
        .issued = object->sim->now,
        .pc = op->inst,
        .payload = is_prefetch(op) ? MEM_LINE_ONLY : 0,
        .cta = (uint16_t)sm->warp[op->warp].cta_number,
        .sm = (uint16_t)sm_number(object->parent),
        .warp = op->warp,
        .class_number = sm->class_of[op->warp],
        .kind = kind_of(op),
        .flags = (uint8_t)(flags_of(op) | (op->cache_op == CACHE_PREFETCH_L2 ? MEM_BYPASS_L1 : 0)),
    };
    for (uint32_t i = 0; i < count; i++) {
        message.address = segments[i].address;
        message.byte_mask[0] = segments[i].byte_mask[0];
        message.byte_mask[1] = segments[i].byte_mask[1];
        message.lanes = segments[i].lanes;
        message.bytes = (uint8_t)segments[i].bytes;
        message.sectors = (uint8_t)segments[i].sectors;
        UntimedAnswer answer = link_send_untimed(link, &message);
        if (answer < least) least = answer;
    }
    return least;
}

/* Accesses to shared memory whose turn is next need not wait for it in the link. What comes in this cycle still goes
 * through the link, whether the SM has had its turn or not. */
static void take_shared_ahead(Lsu *lsu, const MemoryOp *op, uint64_t now) {
    FixedPipeline *fixed = &lsu->fixed;
    Link *link = lsu->sm.receive;
    uint64_t first_begins;
    bool full = link_occupancy(link, now) + fixed_waiting(fixed, now, &first_begins) >= link->depth;
    uint64_t before = fixed->tail - fixed->head;
    uint64_t begins = later_of(op->begins * fixed->period, now);
    set_done(fixed_take(fixed, op->kind, op->conflict_degree, begins), op);
    link_take_over(link, now);
    fixed->open_from = now + fixed->period;
    if (full)
        object_poke(lsu->obj.parent, earlier_of(first_begins, fixed_ahead(fixed, 0)->begins) + fixed->period);
    if (!before) object_poke(lsu->obj.parent, fixed->next_done);
}

/* Does the access to the constant cache that would leave in the next cycle hit there? Then all of it is done but its
 * answer. */
static bool begin_constant_ahead(Lsu *lsu, const MemoryOp *op, uint64_t now) {
    ConstantsAhead *ahead = &lsu->ahead;
    uint64_t sent = now + lsu->obj.period, address = op->lowest / CONSTANT_SEGMENT * CONSTANT_SEGMENT;
    bool plain = ahead->cache && !op->has_addresses && op->cache_op == CACHE_DEFAULT;
    if (!plain || is_watched(lsu) || !constants_have_place(ahead) || !has_entry(lsu)) return false;
    if (!l1_hit_ahead(ahead->cache, address, CONSTANT_SEGMENT)) return false;
    const Sm *sm = (const Sm *)lsu->obj.parent;
    constants_push(ahead, address, sent, open_entry(lsu, op, 1, 0, sent),
                   (uint16_t)sm->warp[op->warp].cta_number, sm->class_of[op->warp]);
    lsu->fixed.busy_until = sent;
    link_pop(lsu->sm.receive, now);
    object_progress(&lsu->obj);
    return true;
}

/* Returns whether the next one may be taken, too. */
static inline bool accept_next(Lsu *lsu, uint64_t now) {
    const MemoryOp *op = link_peek(lsu->sm.receive, now);
    if (!op) return false;
    if (op->space == SPACE_SHARED && !is_watched(lsu)) {
        take_shared_ahead(lsu, op, now);
        return true;
    }
    if (op->begins * lsu->obj.period > now || lsu->fixed.busy_until > now) return false;
    count_instruction(lsu, op);
    if (op->space == SPACE_SHARED) {
        begin_fixed(lsu, op, op->conflict_degree, now);
    } else if (!has_accesses(lsu, op->space)) {
        begin_fixed(lsu, op, 1, now);
    } else {
        if (!space_is_constant(op->space) || !begin_constant_ahead(lsu, op, now))
            begin_accesses(lsu, op, now);
        return false;
    }
    link_pop(lsu->sm.receive, now);
    return false;
}

static inline void accept(Lsu *lsu, uint64_t now) {
    while (accept_next(lsu, now))
        ;
}

/* When the next instruction may begin, as far as is known. */
static inline uint64_t next_begin(const Lsu *lsu) {
    if (link_next_ready(lsu->sm.receive) == NEVER) return NEVER;
    const MemoryOp *op = link_peek(lsu->sm.receive, NEVER - 1);
    uint64_t at = op->begins * lsu->obj.period;
    return at > lsu->fixed.busy_until ? at : lsu->fixed.busy_until;
}

/* What is nearly always in the next cycle comes first. `others`: when the first answer of constants or textures is ready. */
static inline uint64_t next_work(const Lsu *lsu, uint64_t others, uint64_t now) {
    uint64_t soon = now + lsu->obj.period, next;
    if (!lsu->op_valid)
        next = next_begin(lsu);
    else if (lsu->stall_since > now) /* it was foreseen */
        next = NEVER;
    else if (lsu->stall_since)
        next = link_space_time(lsu->requests.link, now);
    else /* An access that has not been tried yet: if it fails, the stall begins there. */
        next = soon;
    if (next <= soon || lsu->answered_head != lsu->answered_tail) return soon;
    if (is_watched(lsu) && lsu->fixed.head != lsu->fixed.tail)
        next = earlier_of(next, fixed_first_sent(&lsu->fixed));
    next = earlier_of(next, earlier_of(others, link_next_ready(lsu->mem.receive)));
    next = earlier_of(next, lsu->ahead.next);
    return next > now ? next : soon;
}

uint64_t lsu_tick(SimObject *object, uint64_t now) {
    Lsu *lsu = (Lsu *)object;
    uint64_t others = take_answers(lsu, now);
    write_back(lsu, now);
    if (lsu->op_valid) send_access(lsu, now);
    if (!lsu->op_valid) accept(lsu, now);
    return next_work(lsu, others, now);
}

/* An access to shared memory as it came from the SM, but that what it has to wait for is in `begins`. */
static MemoryOp shared_op(const Lsu *lsu, const MemoryDone *done, const Ahead *ahead) {
    const Inst *inst = sm_inst((const Sm *)lsu->obj.parent, done->warp, done->inst);
    return (MemoryOp){
        .begins = object_cycle(&lsu->obj, ahead->begins),
        .lanes = done->lanes,
        .inst = done->inst,
        .payload = done->payload,
        .conflict_degree = ahead->cycles,
        .warp = done->warp,
        .kind = done->kind,
        .space = done->space,
        .bytes = (uint8_t)(inst->element_bytes * inst->elements),
        .cache_op = inst->cache_op,
    };
}

COLD void lsu_put_back(SimObject *object, uint64_t now) {
    Lsu *lsu = (Lsu *)object;
    FixedPipeline *fixed = &lsu->fixed;
    lsu_put_back_constants(lsu);
    fixed_settle(fixed, now);
    fixed->early = (SharedCounts){0}; /* from now on they are none of those issued ahead */
    for (Ahead *last; waits(last = fixed_ahead(fixed, 0), now); fixed->issued_ahead--) {
        MemoryDone done = fixed_take_back_shared(fixed);
        MemoryOp op = shared_op(lsu, &done, last);
        fixed->busy_until = last->begins; /* it waits for no more than that */
        fixed->past_link--;
        *last = (Ahead){0};
        link_put_back(lsu->sm.receive, &op, now);
    }
    if (fixed->head == fixed->tail) return;
    uint64_t sent = fixed_first_sent(fixed);
    object_poke(object, later_of(sent, now));
    if (sent >= now) return;
    *(MemoryDone *)link_send(lsu->sm.send, sent) = fixed->ring[fixed->head & (fixed->slots - 1)].done;
    fixed_pop(fixed);
    if (fixed->head != fixed->tail) object_poke(object, later_of(fixed_first_sent(fixed), now));
}

void lsu_settle(SimObject *object, uint64_t now) {
    Lsu *lsu = (Lsu *)object;
    fixed_settle(&lsu->fixed, now);
    if (lsu->stall_since && now > lsu->stall_since) note_stall(lsu, true, now);
}
