/* Load/store unit of an SM: takes one warp memory instruction at a time from the operand collector, coalesces
 * it or resolves its bank conflicts, sends one access per cycle to the cache that serves its space, collects
 * the answers, and tells the SM when an instruction is complete. */
#include "core/gpu/coalescer.h"
#include "core/gpu/sm.h"
#include "mem/caches.h"
#include "mem/memory_protocol.h"

#include <string.h>

enum { NO_ENTRY = 0xffff };

/* Where instructions wait, for the audit of its queues. */
typedef enum { QUEUE_OUTSTANDING, QUEUE_COMPLETED, QUEUE_ANSWERED } LsuQueue;

/* An instruction of which answers are outstanding. */
typedef struct {
    MemoryDone done;
    uint32_t remaining; /* answers still to come        */
    uint32_t unsent;    /* segments still to be sent    */
    uint64_t begun;     /* tick of the first access, for the latency sum */
    uint32_t next_free;
    uint32_t pad;
} Outstanding;

/* A completed instruction on its way to write-back, ready at a known time: the shared-memory pipeline. */
typedef struct {
    uint64_t ready; /* tick */
    MemoryDone done;
    uint32_t pad;
} Completed;

typedef struct {
    SimObject obj;
    /* parameters */
    uint32_t shared_latency, constant_latency, entries;
    /* derived */
    uint32_t completed_slots, answered_slots;
    uint32_t narrow_segments; /* a parameter */
    /* ports */
    Port sm, mem, constant, texture;
    const Link *to_l1[LSU_CACHES]; /* host: those of them that lead to L1s in its cluster */
    uint64_t l1_count, l1_spaces;  /* their number; bit per space that these serve */
    /* state */
    MemoryOp op;
    Segment segments[MAX_SEGMENTS];
    uint32_t op_valid;
    uint32_t holds_place; /* op is still in the link from the SM, where it takes a place */
    uint32_t segment_count, segment_next;
    uint16_t class_number, cta; /* of op's warp when it began */
    uint32_t entry;             /* of op, NO_ENTRY before its first access */
    uint64_t busy_until;        /* tick until which shared memory is taken by bank conflicts */
    Outstanding *outstanding;
    uint32_t first_free, in_use;
    Completed *completed; /* ring, in order of readiness */
    uint64_t completed_head, completed_tail;
    Completed *answered; /* ring: instructions whose last answer has come */
    uint64_t answered_head, answered_tail;
    /* statistics */
    uint64_t global_loads, global_stores, local_loads, local_stores, shared_loads, shared_stores,
        constant_loads, texture_loads, atomics;
    uint64_t load_accesses, store_accesses, atomic_accesses;
    uint64_t bank_conflict_cycles, stall_cycles, stall_since;
    uint64_t load_latency_ticks, loads_answered;
} Lsu;

static double average_load_latency(const SimObject *object) {
    const Lsu *lsu = (const Lsu *)object;
    if (!lsu->loads_answered) return 0;
    return (double)lsu->load_latency_ticks / (double)lsu->loads_answered / (double)object->period;
}

static double accesses_per_load(const SimObject *object) {
    const Lsu *lsu = (const Lsu *)object;
    uint64_t loads = lsu->global_loads + lsu->local_loads;
    return loads ? (double)lsu->load_accesses / (double)loads : 0;
}

static const Field lsu_fields[] = {
    BASE(Lsu),
    PARAM(Lsu, shared_latency, "26", "cycles", "Shared memory: from begin to write-back without conflicts",
          .min = 1, .max = 500, .timing = true),
    PARAM(Lsu, constant_latency, "2", "cycles",
          "Parameter and constant loads when no constant cache is wired", .min = 1, .max = 500,
          .timing = true),
    PARAM(Lsu, entries, "256", "entries", "Instructions with outstanding answers", .min = 1, .max = 4096),
    PARAM_FLAG(Lsu, narrow_segments, "false",
               "Global loads and stores: segments of at most 32 B for elements of 1 B and for .cg, 64 B for "
               "elements of 2 B",
               .timing = true),
    DERIVED(Lsu, completed_slots, "Size of the ring of completed instructions"),
    DERIVED(Lsu, answered_slots, "Size of the ring of answered instructions"),
    PORT(Lsu, sm, memory_op_protocol, ROLE_RESPONDER, "Instructions from the SM", .optional = true),
    PORT(Lsu, mem, memory_protocol, ROLE_REQUESTER, "Global and local memory: an L1 or a network"),
    PORT(Lsu, constant, memory_protocol, ROLE_REQUESTER, "Constant cache: parameters and constants",
         .optional = true),
    PORT(Lsu, texture, memory_protocol, ROLE_REQUESTER, "Texture cache", .optional = true),
    HOST(Lsu, to_l1, "Those that lead to L1s in its cluster"),
    HOST(Lsu, l1_count, "Their number"),
    HOST(Lsu, l1_spaces, "What these serve"),
    STATE(Lsu, op, "Instruction being worked on"),
    STATE(Lsu, segments, "Its accesses"),
    STATE(Lsu, op_valid, "Is there one?"),
    STATE(Lsu, holds_place, "It takes a place on the way from the SM"),
    STATE(Lsu, class_number, "Class of its warp"),
    STATE(Lsu, cta, "Number of its CTA in the SM"),
    STATE(Lsu, segment_count, "Number of its accesses"),
    STATE(Lsu, segment_next, "Next access to send"),
    STATE(Lsu, entry, "Its entry among the outstanding"),
    STATE(Lsu, busy_until, "Shared memory is serving conflicts until then"),
    STATE_ARRAY(Lsu, outstanding, entries, "Instructions that wait for answers"),
    STATE(Lsu, first_free, "List of free entries"),
    STATE(Lsu, in_use, "Entries in use"),
    STATE_ARRAY(Lsu, completed, completed_slots, "Shared-memory and constant pipeline"),
    STATE(Lsu, completed_head, "Its oldest"),
    STATE(Lsu, completed_tail, "Its end"),
    STATE_ARRAY(Lsu, answered, answered_slots, "Instructions whose last answer has come"),
    STATE(Lsu, answered_head, "Its oldest"),
    STATE(Lsu, answered_tail, "Its end"),
    STAT(Lsu, global_loads, "instructions", "Warp loads from global memory"),
    STAT(Lsu, global_stores, "instructions", "Warp stores to global memory"),
    STAT(Lsu, local_loads, "instructions", "Warp loads from local memory"),
    STAT(Lsu, local_stores, "instructions", "Warp stores to local memory"),
    STAT(Lsu, shared_loads, "instructions", "Warp loads from shared memory, atomics included"),
    STAT(Lsu, shared_stores, "instructions", "Warp stores to shared memory"),
    STAT(Lsu, constant_loads, "instructions", "Warp loads of parameters and constants"),
    STAT(Lsu, texture_loads, "instructions", "Warp texture fetches"),
    STAT(Lsu, atomics, "instructions", "Warp atomics on global memory"),
    STAT(Lsu, load_accesses, "accesses", "Segments requested by global and local loads"),
    STAT(Lsu, store_accesses, "accesses", "Segments written by global and local stores"),
    STAT(Lsu, atomic_accesses, "accesses", "Segments of atomics"),
    STAT(Lsu, bank_conflict_cycles, "cycles", "Extra cycles for shared-memory bank conflicts"),
    STAT(Lsu, stall_cycles, "cycles", "An access was ready but the memory port did not take it"),
    STATE(Lsu, stall_since, "Tick at which the present stall began; 0: none"),
    STAT(Lsu, load_latency_ticks, "ticks", "Sum over loads of first access to last answer"),
    STAT(Lsu, loads_answered, "instructions", "Global and local loads completed"),
    FORMULA("average_load_latency", average_load_latency, "cycles", "First access to last answer"),
    FORMULA("accesses_per_load", accesses_per_load, "accesses",
            "Coalescing: segments per global or local load"),
    FIELDS_END};

static uint32_t power_of_two_from(uint32_t n) {
    uint32_t power = 1;
    while (power < n)
        power *= 2;
    return power;
}

/* The pipeline of fixed latency takes and hands on one instruction per cycle; what of it is due may have to
 * wait for as many with the shorter latency as are begun meanwhile. Its ring is no larger than that: the
 * slots are used in turn, and all take a place in the host's cache. */
static void build(SimObject *object) {
    enum { AT_LEAST = 128 }; /* a resumed run may have another latency */
    Lsu *lsu = (Lsu *)object;
    uint32_t latency = lsu->shared_latency > lsu->constant_latency ? lsu->shared_latency
                                                                   : lsu->constant_latency;
    lsu->completed_slots = power_of_two_from(2 * latency + 8 > AT_LEAST ? 2 * latency + 8 : AT_LEAST);
    lsu->answered_slots = power_of_two_from(lsu->entries + 8);
}

static bool is_constant(uint32_t space) {
    return space == SPACE_CONST || space == SPACE_PARAM;
}

/* Else its instructions take a fixed time. */
static bool has_accesses(const Lsu *lsu, uint32_t space) {
    return space != SPACE_SHARED && (!is_constant(space) || lsu->constant.send);
}

static Link *port_of(const Lsu *lsu, uint32_t space) {
    if (space == SPACE_TEXTURE && lsu->texture.send) return lsu->texture.send;
    if (is_constant(space) && lsu->constant.send) return lsu->constant.send;
    return lsu->mem.send;
}

/* What runs in another cluster is not looked at. */
static void find_l1s(Lsu *lsu) {
    const Link *link[LSU_CACHES] = {lsu->mem.send, lsu->constant.send, lsu->texture.send};
    for (uint32_t i = 0; i < LSU_CACHES; i++) {
        if (!link[i] || link[i]->cut || link[i]->receiver->class != &l1_class) continue;
        lsu->to_l1[lsu->l1_count++] = link[i];
        for (uint32_t space = SPACE_GLOBAL; space < SPACE_GENERIC; space++)
            if (has_accesses(lsu, space) && port_of(lsu, space) == link[i]) lsu->l1_spaces |= 1ull << space;
    }
}

static uint64_t queue_length(const SimObject *object, uint32_t queue) {
    const Lsu *lsu = (const Lsu *)object;
    switch ((LsuQueue)queue) {
    case QUEUE_OUTSTANDING: return lsu->in_use;
    case QUEUE_COMPLETED: return lsu->completed_tail - lsu->completed_head;
    case QUEUE_ANSWERED: return lsu->answered_tail - lsu->answered_head;
    }
    return 0;
}

static void init(SimObject *object) {
    Lsu *lsu = (Lsu *)object;
    if (!lsu->sm.receive) user_error("%s.sm is not wired", object->path);
    audit_queue(object, QUEUE_OUTSTANDING, "instructions that wait for answers", QUEUE_TABLE, lsu->entries,
                queue_length);
    audit_queue(object, QUEUE_COMPLETED, "instructions in the fixed pipeline", QUEUE_TABLE,
                lsu->completed_slots, queue_length);
    audit_queue(object, QUEUE_ANSWERED, "answered instructions", QUEUE_FIFO, lsu->answered_slots,
                queue_length);
    for (uint32_t i = 0; i < lsu->entries; i++)
        lsu->outstanding[i].next_free = i + 1;
    lsu->entry = NO_ENTRY;
    find_l1s(lsu);
}

/* A free slot of a ring, ready at a known time; the caller fills in what is done. The ring is in order of
 * readiness: what has a short latency overtakes what was begun before it. */
static inline MemoryDone *push_completed(const Lsu *lsu, Completed *ring, uint32_t slots, uint64_t head,
                                         uint64_t *tail, uint64_t ready) {
    uint64_t at = (*tail)++, mask = slots - 1;
    LsuQueue queue = ring == lsu->completed ? QUEUE_COMPLETED : QUEUE_ANSWERED;
    ensure(at - head < slots);
    for (; at > head && ring[(at - 1) & mask].ready > ready; at--) {
        ring[at & mask] = ring[(at - 1) & mask];
        audit_move(&lsu->obj, queue, (uint32_t)((at - 1) & mask), (uint32_t)(at & mask));
    }
    ring[at & mask].ready = ready;
    audit_enter(&lsu->obj, queue, (uint32_t)(at & mask));
    return &ring[at & mask].done;
}

/* --- Answers --------------------------------------------------------------------------------- */

static void complete(Lsu *lsu, uint32_t index, uint64_t now) {
    Outstanding *entry = &lsu->outstanding[index];
    if (entry->done.kind == INST_LOAD) {
        lsu->load_latency_ticks += now - entry->begun;
        lsu->loads_answered++;
    }
    *push_completed(lsu, lsu->answered, lsu->answered_slots, lsu->answered_head, &lsu->answered_tail,
                    now) = entry->done;
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

static inline uint64_t next_answer(const Port *port) {
    return port->receive ? link_next_ready(port->receive) : NEVER;
}

/* Seldom, beside those of global and local memory. */
__attribute__((noinline)) static void take_other_answer(Lsu *lsu, Link *link, uint64_t now) {
    take_answer(lsu, link, now);
}

static inline void take_answers(Lsu *lsu, uint64_t now) {
    if (next_answer(&lsu->mem) <= now) take_answer(lsu, lsu->mem.receive, now);
    if (next_answer(&lsu->constant) <= now) take_other_answer(lsu, lsu->constant.receive, now);
    if (next_answer(&lsu->texture) <= now) take_other_answer(lsu, lsu->texture.receive, now);
}

static bool is_due(const Lsu *lsu, uint64_t now) {
    return lsu->completed_head != lsu->completed_tail &&
           lsu->completed[lsu->completed_head & (lsu->completed_slots - 1)].ready <= now;
}

/* One write-back per cycle. The pipeline of fixed latency comes first: it cannot wait. */
static inline void write_back(Lsu *lsu, uint64_t now) {
    bool due = is_due(lsu, now);
    if (!due && lsu->answered_head == lsu->answered_tail) return;
    Link *link = lsu->sm.send;
    if (!link_can_send(link, now)) return;
    Completed *ring = due ? lsu->completed : lsu->answered;
    uint64_t *head = due ? &lsu->completed_head : &lsu->answered_head;
    uint64_t slot = (*head)++ & ((due ? lsu->completed_slots : lsu->answered_slots) - 1);
    *(MemoryDone *)link_send_checked(link, now) = ring[slot].done;
    audit_leave(&lsu->obj, due ? QUEUE_COMPLETED : QUEUE_ANSWERED, (uint32_t)slot);
}

/* --- The instruction at work ----------------------------------------------------------------- */

static bool goes_to_memory(const MemoryOp *op) {
    return op->space == SPACE_GLOBAL || op->space == SPACE_LOCAL;
}

static void count_instruction(Lsu *lsu, const MemoryOp *op) {
    switch (op->space) {
    case SPACE_SHARED: ++*(op->kind == INST_STORE ? &lsu->shared_stores : &lsu->shared_loads); break;
    case SPACE_GLOBAL:
        if (op->kind == INST_ATOMIC)
            lsu->atomics++;
        else if (op->kind == INST_STORE)
            lsu->global_stores++;
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
static inline void begin_fixed(Lsu *lsu, const MemoryOp *op, uint32_t cycles, uint32_t latency,
                               uint64_t now) {
    uint64_t period = lsu->obj.period;
    lsu->bank_conflict_cycles += cycles - 1;
    lsu->busy_until = now + cycles * period;
    /* The SM sees it one link cycle after it is sent: a shared load that enters at F is written back at
     * F + latency + 2, as every unit's result is. */
    set_done(push_completed(lsu, lsu->completed, lsu->completed_slots, lsu->completed_head,
                            &lsu->completed_tail, now + (cycles + latency) * period),
             op);
}

static void texture_segments(Lsu *lsu, const MemoryOp *op) {
    lsu->segment_count = op->segments;
    for (uint32_t i = 0; i < lsu->segment_count; i++)
        lsu->segments[i] = (Segment){.address = op->lowest + (uint64_t)op->segment[i] * TEXTURE_SEGMENT,
                                     .bytes = TEXTURE_SEGMENT};
}

static void distinct_segments(Lsu *lsu, const MemoryOp *op) {
    uint64_t distinct[WARP_LANES];
    distinct[0] = op->lowest;
    lsu->segment_count = op->has_addresses ? distinct_addresses(op, distinct) : 1;
    for (uint32_t i = 0; i < lsu->segment_count; i++)
        lsu->segments[i] = (Segment){.address = distinct[i] / 32 * 32, .bytes = 32};
}

static uint32_t widest_segment(const Lsu *lsu, const MemoryOp *op) {
    if (!lsu->narrow_segments || op->space == SPACE_LOCAL || op->kind == INST_ATOMIC) return COALESCE_LINE;
    if (op->bytes == 1 || op->cache_op == CACHE_GLOBAL) return 32;
    return op->bytes == 2 ? 64 : COALESCE_LINE;
}

static bool take_entry(Lsu *lsu, uint64_t now) {
    if (lsu->entry != NO_ENTRY) return true;
    if (lsu->in_use == lsu->entries) return false;
    lsu->entry = lsu->first_free;
    Outstanding *entry = &lsu->outstanding[lsu->entry];
    lsu->first_free = entry->next_free;
    lsu->in_use++;
    audit_enter(&lsu->obj, QUEUE_OUTSTANDING, lsu->entry);
    set_done(&entry->done, &lsu->op);
    entry->remaining = 0;
    entry->unsent = lsu->segment_count;
    entry->begun = now;
    return true;
}

static void fill_request(const Lsu *lsu, const Segment *segment, MemMessage *request, uint64_t now) {
    const MemoryOp *op = &lsu->op;
    *request = (MemMessage){
        .address = segment->address,
        .byte_mask = {segment->byte_mask[0], segment->byte_mask[1]},
        .issued = now,
        .token = lsu->entry,
        .lanes = segment->lanes,
        .pc = op->inst,
        .payload = (uint16_t)op->payload,
        .cta = lsu->cta,
        .bytes = (uint16_t)segment->bytes,
        .sm = (uint16_t)sm_number(lsu->obj.parent),
        .warp = op->warp,
        .class_number = (uint8_t)lsu->class_number,
        .kind = op->kind == INST_LOAD    ? MEM_READ
                : op->kind == INST_STORE ? MEM_WRITE
                                         : MEM_ATOMIC,
    };
    if (op->space == SPACE_LOCAL) /* nobody else writes it: volatile is for the compiler alone */
        request->flags |= MEM_LOCAL;
    else if (op->cache_op == CACHE_GLOBAL || op->cache_op == CACHE_VOLATILE)
        request->flags |= MEM_BYPASS_L1;
}

static void note_stall(Lsu *lsu, bool stalled, uint64_t now) {
    if (lsu->stall_since) lsu->stall_cycles += (now - lsu->stall_since) / lsu->obj.period;
    lsu->stall_since = stalled ? now : 0;
}

static void count_access(Lsu *lsu) {
    if (!goes_to_memory(&lsu->op)) return;
    if (lsu->op.kind == INST_LOAD)
        lsu->load_accesses++;
    else if (lsu->op.kind == INST_STORE)
        lsu->store_accesses++;
    else
        lsu->atomic_accesses++;
}

/* Between issue and the end of its accesses an instruction stands in one of five places: latch, two
 * collectors, dispatch register, unit. The link from the SM is these five, so it is popped when the last
 * access is about to leave: in the cycle in which it does, the next instruction can issue. */
static inline __attribute__((always_inline)) void free_place(Lsu *lsu, uint64_t now) {
    uint32_t left = lsu->segment_count - lsu->segment_next;
    if (left > 1 || !lsu->holds_place) return;
    if (left == 1 && !link_has_room(port_of(lsu, lsu->op.space), now)) return; /* in the next cycle */
    lsu->holds_place = 0;
    link_pop(lsu->sm.receive, now);
}

bool lsu_fetches_constants(const SimObject *object) {
    ensure(object->class == &lsu_class);
    return ((const Lsu *)object)->constant.send != NULL;
}

uint32_t lsu_caches(const SimObject *object, SimObject *cache[LSU_CACHES]) {
    ensure(object->class == &lsu_class);
    const Lsu *lsu = (const Lsu *)object;
    for (uint32_t i = 0; i < lsu->l1_count; i++)
        cache[i] = lsu->to_l1[i]->receiver;
    return (uint32_t)lsu->l1_count;
}

static bool goes_to_l1(const Lsu *lsu, const MemoryOp *op) {
    return lsu->l1_spaces >> op->space & 1;
}

bool lsu_holds(const SimObject *object, uint32_t warp) {
    ensure(object->class == &lsu_class);
    const Lsu *lsu = (const Lsu *)object;
    const Link *in = lsu->sm.receive;
    if (lsu->op_valid && lsu->op.warp == warp && goes_to_l1(lsu, &lsu->op)) return true;
    for (uint64_t i = in->popped; i != in->pushed; i++) {
        const MemoryOp *op = link_message(in, i);
        if (op->warp == warp && goes_to_l1(lsu, op)) return true;
    }
    for (uint32_t k = 0; k < lsu->l1_count; k++) {
        const Link *out = lsu->to_l1[k];
        for (uint64_t i = out->popped; i != out->pushed; i++)
            if (((const MemMessage *)link_message(out, i))->warp == warp) return true;
    }
    return false;
}

/* One access per cycle; the instruction leaves the unit with its last one. */
static void send_access(Lsu *lsu, uint64_t now) {
    Link *link = port_of(lsu, lsu->op.space);
    bool can = link_can_send(link, now) && take_entry(lsu, now);
    note_stall(lsu, !can, now);
    if (!can) return;
    fill_request(lsu, &lsu->segments[lsu->segment_next++], link_send_checked(link, now), now);
    count_access(lsu);
    lsu->outstanding[lsu->entry].remaining++;
    lsu->outstanding[lsu->entry].unsent--;
    free_place(lsu, now);
    if (lsu->segment_next == lsu->segment_count) lsu->op_valid = 0;
    object_progress(&lsu->obj);
}

/* From now on its accesses are sent, one in each cycle. All is kept but the addresses, which become
 * segments. */
__attribute__((noinline)) static void begin_accesses(Lsu *lsu, const MemoryOp *op, uint64_t now) {
    memcpy(&lsu->op, op, offsetof(MemoryOp, address));
    lsu->op_valid = 1;
    const Sm *sm = (const Sm *)lsu->obj.parent;
    lsu->class_number = sm->class_of[op->warp];
    lsu->cta = (uint16_t)sm->warp[op->warp].cta_number;
    lsu->segment_next = 0;
    lsu->entry = NO_ENTRY;
    if (goes_to_memory(op))
        lsu->segment_count = coalesce(op, lsu->segments, widest_segment(lsu, op));
    else if (op->space == SPACE_TEXTURE)
        texture_segments(lsu, op);
    else
        distinct_segments(lsu, op);
    lsu->holds_place = 1;
    free_place(lsu, now);
}

/* Shared memory is served from the link's slot. */
static inline void accept(Lsu *lsu, uint64_t now) {
    const MemoryOp *op = link_peek(lsu->sm.receive, now);
    if (!op || op->begins * lsu->obj.period > now || lsu->busy_until > now) return;
    count_instruction(lsu, op);
    if (op->space == SPACE_SHARED) {
        begin_fixed(lsu, op, op->conflict_degree, lsu->shared_latency, now);
    } else if (!has_accesses(lsu, op->space)) {
        begin_fixed(lsu, op, 1, lsu->constant_latency, now);
    } else {
        begin_accesses(lsu, op, now);
        return;
    }
    link_pop(lsu->sm.receive, now);
}

static uint64_t min_time(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* When the next instruction may begin, as far as is known. */
static inline uint64_t next_begin(const Lsu *lsu) {
    if (link_next_ready(lsu->sm.receive) == NEVER) return NEVER;
    const MemoryOp *op = link_peek(lsu->sm.receive, NEVER - 1);
    uint64_t at = op->begins * lsu->obj.period;
    return at > lsu->busy_until ? at : lsu->busy_until;
}

/* What is nearly always in the next cycle comes first. */
static inline uint64_t next_work(const Lsu *lsu, uint64_t now) {
    uint64_t soon = now + lsu->obj.period, next;
    if (!lsu->op_valid)
        next = next_begin(lsu);
    else if (lsu->stall_since)
        next = link_space_time(port_of(lsu, lsu->op.space), now);
    else /* An access that has not been tried yet: if it fails, the stall begins there. */
        next = soon;
    if (next <= soon || lsu->answered_head != lsu->answered_tail) return soon;
    if (lsu->completed_head != lsu->completed_tail)
        next = min_time(next, lsu->completed[lsu->completed_head & (lsu->completed_slots - 1)].ready);
    next = min_time(next, next_answer(&lsu->mem));
    next = min_time(next, next_answer(&lsu->constant));
    next = min_time(next, next_answer(&lsu->texture));
    return next > now ? next : soon;
}

static uint64_t tick(SimObject *object, uint64_t now) {
    Lsu *lsu = (Lsu *)object;
    take_answers(lsu, now);
    write_back(lsu, now);
    if (lsu->op_valid) send_access(lsu, now);
    if (!lsu->op_valid) accept(lsu, now);
    return next_work(lsu, now);
}

static void settle(SimObject *object, uint64_t now) {
    Lsu *lsu = (Lsu *)object;
    if (lsu->stall_since && now > lsu->stall_since) note_stall(lsu, true, now);
}

/* Every instruction that the SM sent is counted in one class, and is done or in one place. */
static void check_instructions(const Lsu *lsu) {
    uint64_t counted = lsu->global_loads + lsu->global_stores + lsu->local_loads + lsu->local_stores +
                       lsu->shared_loads + lsu->shared_stores + lsu->constant_loads + lsu->texture_loads +
                       lsu->atomics;
    uint64_t taken = lsu->sm.receive->popped + lsu->holds_place, done = lsu->sm.send->pushed;
    uint64_t inside = (lsu->op_valid && lsu->entry == NO_ENTRY) + lsu->in_use + lsu->completed_tail -
                      lsu->completed_head + lsu->answered_tail - lsu->answered_head;
    if (counted != taken || taken != done + inside)
        panic("%s: %lu instructions came, %lu are counted, %lu are done and %lu inside", lsu->obj.path, taken,
              counted, done, inside);
}

static uint64_t sent_by(const Port *port) {
    return port->send ? port->send->pushed : 0;
}
static uint64_t answered_at(const Port *port) {
    return port->receive ? port->receive->popped : 0;
}

/* Every access is answered exactly once. */
static void check_accesses(const Lsu *lsu) {
    uint64_t sent = sent_by(&lsu->mem) + sent_by(&lsu->constant) + sent_by(&lsu->texture);
    uint64_t answered = answered_at(&lsu->mem) + answered_at(&lsu->constant) + answered_at(&lsu->texture);
    uint64_t awaited = 0, counted = lsu->load_accesses + lsu->store_accesses + lsu->atomic_accesses;
    uint32_t waiting = 0;
    for (uint32_t i = 0; i < lsu->entries; i++) {
        awaited += lsu->outstanding[i].remaining;
        waiting += lsu->outstanding[i].remaining || lsu->outstanding[i].unsent;
    }
    if (sent != answered + awaited)
        panic("%s: %lu accesses were sent and %lu answered; %lu answers are awaited", lsu->obj.path, sent,
              answered, awaited);
    if (waiting != lsu->in_use)
        panic("%s: %u instructions have accesses under way, %u entries are said to be in use", lsu->obj.path,
              waiting, lsu->in_use);
    if (lsu->texture.send ? counted != sent_by(&lsu->mem) : counted > sent_by(&lsu->mem))
        panic("%s: %lu global and local accesses are counted, %lu were sent", lsu->obj.path, counted,
              sent_by(&lsu->mem));
}

static void check(const SimObject *object, bool idle) {
    const Lsu *lsu = (const Lsu *)object;
    check_instructions(lsu);
    check_accesses(lsu);
    if (idle && (lsu->in_use || lsu->op_valid || lsu->completed_head != lsu->completed_tail ||
                 lsu->answered_head != lsu->answered_tail))
        panic("%s: %u instructions wait for answers although the machine is idle", object->path, lsu->in_use);
}

static void report(const SimObject *object, FILE *out) {
    const Lsu *lsu = (const Lsu *)object;
    if (lsu->op_valid)
        fprintf(out, "%s: warp %u, instruction %u: access %u of %u to 0x%lx not yet sent\n", object->path,
                lsu->op.warp, lsu->op.inst, lsu->segment_next + 1, lsu->segment_count,
                lsu->segments[lsu->segment_next].address);
    for (uint32_t i = 0; i < lsu->entries && lsu->in_use; i++)
        if (lsu->outstanding[i].remaining)
            fprintf(out, "%s: warp %u, instruction %u waits for %u answers since tick %lu\n", object->path,
                    lsu->outstanding[i].done.warp, lsu->outstanding[i].done.inst,
                    lsu->outstanding[i].remaining, lsu->outstanding[i].begun);
}

const Class lsu_class = {
    .name = "LSU",
    .doc = "Load/store unit: coalescing, shared-memory banks, accesses to the caches",
    .bytes = sizeof(Lsu),
    .fields = lsu_fields,
    .build = build,
    .init = init,
    .tick = tick,
    .settle = settle,
    .check = check,
    .report = report,
};
