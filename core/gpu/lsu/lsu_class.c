/* The rows of a load/store unit, how it is built, and what its SM asks of it. */
#include "core/gpu/lsu/lsu_state.h"
#include "core/sim/event.h"
#include "mem/protocol/caches.h"
#include "mem/protocol/class_table.h"

static Ratio average_load_latency(const SimObject *object) {
    const Lsu *lsu = (const Lsu *)object;
    return ratio_of(lsu->load_latency_ticks, lsu->loads_answered * object->sim->clocks[0].period);
}

static Ratio accesses_per_load(const SimObject *object) {
    const Lsu *lsu = (const Lsu *)object;
    return ratio_of(lsu->load_accesses, lsu->global_loads + lsu->local_loads);
}

static const Field lsu_fields[] = {
    BASE(Lsu),
    PARAM_NAMED(Lsu, fixed.shared_latency, "shared_latency", "26", "cycles",
                "Shared memory: from begin to write-back without conflicts", .min = 1, .max = 500,
                .timing = true),
    PARAM_NAMED(Lsu, fixed.constant_latency, "constant_latency", "2", "cycles",
                "Parameter and constant loads when no constant cache is wired", .min = 1, .max = 500,
                .timing = true),
    PARAM(Lsu, entries, "256", "entries", "Instructions with outstanding answers", .min = 1, .max = 4096),
    PARAM_FLAG(Lsu, narrow_segments, "false",
               "Global loads and stores: segments of at most 32 B for elements of 1 B and for .cg, 64 B for "
               "elements of 2 B, also where a vector of them is accessed",
               .timing = true),
    PARAM(
        Lsu, read_only_segment, "0", "bytes",
        "ld.global.nc by the port texture, in segments of at most so many bytes: 32, 64 or 128, no more than "
        "the lines of the cache there; 0: as other loads",
        .max = COALESCE_LINE),
    DERIVED(Lsu, fixed.slots, "Size of the ring of completed instructions"),
    DERIVED(Lsu, fixed.pad, "Alignment"),
    DERIVED(Lsu, answered_slots, "Size of the ring of answered instructions"),
    PORT(Lsu, sm, memory_op_protocol, ROLE_RESPONDER, "Instructions from the SM", .optional = true),
    PORT(Lsu, mem, memory_protocol, ROLE_REQUESTER, "Global and local memory: an L1 or a network"),
    PORT(Lsu, constant, memory_protocol, ROLE_REQUESTER, "Constant cache: parameters and constants",
         .optional = true),
    PORT(Lsu, texture, memory_protocol, ROLE_REQUESTER, "Texture cache", .optional = true),
    HOST(Lsu, read_only_space, "Space whose port loads by .nc take"),
    HOST(Lsu, names_sectors, "Requests name the sectors that lanes touch"),
    HOST(Lsu, to_l1s, "The ways to L1s in its cluster"),
    HOST(Lsu, l1_spaces, "What these serve"),
    HOST(Lsu, loads, "Looks on at loads that are answered"),
    HOST(Lsu, other_answers, "When the first of constants and textures is ready"),
    HOST(Lsu, requests, "What those of the instruction being worked on have in common"),
    HOST(Lsu, rule, "What they have by where an instruction goes and what it does"),
    HOST(Lsu, uncounted, "Accesses to constants and textures"),
    STATE(Lsu, op, "Instruction being worked on"),
    STATE(Lsu, segments, "Its accesses"),
    STATE(Lsu, op_valid, "Is there one?"),
    STATE(Lsu, holds_place, "It takes a place on the way from the SM"),
    STATE(Lsu, class_number, "Class of its warp"),
    STATE(Lsu, cta, "Number of its CTA in the SM"),
    STATE(Lsu, segment_count, "Number of its accesses"),
    STATE(Lsu, segment_next, "Next access to send"),
    STATE(Lsu, entry, "Its entry among the outstanding"),
    STATE_ARRAY(Lsu, outstanding, entries, "Instructions that wait for answers"),
    STATE(Lsu, first_free, "List of free entries"),
    STATE(Lsu, in_use, "Entries in use"),
    STATE_ARRAY(Lsu, fixed.ring, fixed.slots, "Shared-memory and constant pipeline"),
    STATE(Lsu, fixed.head, "Its oldest"),
    STATE(Lsu, fixed.tail, "Its end"),
    STATE(Lsu, fixed.last_ready, "Nothing of it is ready later"),
    STATE(Lsu, fixed.next_done, "When the SM has its oldest"),
    STATE(Lsu, fixed.last_sent, "When the last one of it was written back"),
    STATE(Lsu, fixed.busy_until, "It takes no other until then"),
    STATE(Lsu, fixed.open_from, "From when on instructions may be issued ahead"),
    STATE(Lsu, fixed.issued_at, "When the last one was"),
    STATE(Lsu, fixed.ahead, "The last of them, begun or not"),
    STATE(Lsu, fixed.issued_ahead, "How many were"),
    STATE(Lsu, fixed.early, "Of these, not counted as they have not begun"),
    STATE(Lsu, fixed.past_link, "How many came past the link, less those that came through it twice"),
    STATE(Lsu, fixed.handed_over, "How many were written back past the link"),
    HOST(Lsu, fixed.closed, "None may be issued ahead"),
    HOST(Lsu, fixed.period, "Of its clock"),
    HOST(Lsu, fixed.shared_ticks, "Latency of shared memory"),
    HOST(Lsu, fixed.way_holds, "What was on the way from the SM when this asked for a place"),
    HOST(Lsu, fixed.way_back, "Latency of the wire to the SM"),
    HOST(Lsu, fixed.unit, "Whose it is"),
    CONSTANTS_AHEAD_ROWS(Lsu, ahead),
    STATE_ARRAY(Lsu, answered, answered_slots, "Instructions whose last answer has come"),
    STATE(Lsu, answered_head, "Its oldest"),
    STATE(Lsu, answered_tail, "Its end"),
    STAT(Lsu, global_loads, "instructions", "Warp loads from global memory"),
    STAT(Lsu, global_stores, "instructions", "Warp stores to global memory"),
    STAT(Lsu, local_loads, "instructions", "Warp loads from local memory"),
    STAT(Lsu, local_stores, "instructions", "Warp stores to local memory"),
    STAT_NAMED(Lsu, fixed.shared_loads, "shared_loads", "instructions",
               "Warp loads from shared memory, atomics included"),
    STAT_NAMED(Lsu, fixed.shared_stores, "shared_stores", "instructions", "Warp stores to shared memory"),
    STAT(Lsu, constant_loads, "instructions", "Warp loads of parameters and constants"),
    STAT(Lsu, texture_loads, "instructions", "Warp texture fetches, and other loads by the port texture"),
    STAT(Lsu, atomics, "instructions", "Warp atomics on global memory"),
    STAT(Lsu, prefetches, "instructions", "Warp prefetches of global and local memory"),
    STAT(Lsu, load_accesses, "accesses", "Segments requested by global and local loads"),
    STAT(Lsu, store_accesses, "accesses", "Segments written by global and local stores"),
    STAT(Lsu, atomic_accesses, "accesses", "Segments of atomics"),
    STAT(Lsu, prefetch_accesses, "accesses", "Lines asked for by prefetches"),
    STAT_NAMED(Lsu, fixed.bank_conflict_cycles, "bank_conflict_cycles", "cycles",
               "Extra cycles for shared-memory bank conflicts"),
    STAT(Lsu, stall_cycles, "cycles", "An access was ready but the memory port did not take it"),
    STATE(Lsu, stall_since, "Tick at which the present stall began; 0: none"),
    STAT(Lsu, load_latency_ticks, "ticks", "Sum over loads of first access to last answer"),
    STAT(Lsu, loads_answered, "instructions", "Loads completed, those of constants and textures included"),
    FORMULA("average_load_latency", average_load_latency, "cycles",
            "First access to last answer, in core cycles"),
    FORMULA("accesses_per_load", accesses_per_load, "accesses",
            "Coalescing: segments per global or local load"),
    FIELDS_END};

static uint32_t power_of_two_from(uint32_t n) {
    uint32_t power = 1;
    while (power < n)
        power *= 2;
    return power;
}

static void check_read_only_segment(const Lsu *lsu) {
    uint32_t bytes = lsu->read_only_segment;
    if (bytes && (bytes < TEXTURE_SEGMENT || bytes & (bytes - 1)))
        user_error("%s.read_only_segment: expected 0, 32, 64 or 128, got %u", object_path(&lsu->obj), bytes);
}

/* The pipeline of fixed latency takes and hands on one instruction per cycle; what of it is due may have to
 * wait for as many with the shorter latency as are begun meanwhile. Its ring is no larger than that: the
 * slots are used in turn, and all take a place in the host's cache. */
static void build(SimObject *object) {
    enum { AT_LEAST = 128 }; /* a resumed run may have another latency */
    Lsu *lsu = (Lsu *)object;
    check_read_only_segment(lsu);
    const FixedPipeline *fixed = &lsu->fixed;
    uint32_t latency = fixed->shared_latency > fixed->constant_latency ? fixed->shared_latency
                                                                       : fixed->constant_latency;
    uint32_t slots = 2 * latency + 8 + AHEAD_PLACES;
    lsu->fixed.slots = power_of_two_from(slots > AT_LEAST ? slots : AT_LEAST);
    lsu->answered_slots = power_of_two_from(lsu->entries + 8);
}

/* What runs in another cluster is not looked at. */
static void find_l1s(Lsu *lsu) {
    const Link *link[] = {lsu->mem.send, lsu->constant.send, lsu->texture.send};
    for (uint32_t i = 0; i < sizeof link / sizeof *link; i++) {
        if (!link[i] || !ways_add(&lsu->to_l1s, link[i], &l1_class)) continue;
        for (uint32_t space = SPACE_GLOBAL; space < SPACE_GENERIC; space++)
            if (has_accesses(lsu, space) && port_of(lsu, space) == link[i]) lsu->l1_spaces |= 1ull << space;
    }
}

static uint64_t queue_length(const SimObject *object, uint32_t queue) {
    const Lsu *lsu = (const Lsu *)object;
    switch ((LsuQueue)queue) {
    case QUEUE_OUTSTANDING: return lsu->in_use;
    case QUEUE_COMPLETED: return lsu->fixed.tail - lsu->fixed.head;
    case QUEUE_ANSWERED: return lsu->answered_tail - lsu->answered_head;
    }
    return 0;
}

/* The wire to the SM is as gpu_elaborate() makes it, unless somebody has wired it by hand. */
static void fixed_init(Lsu *lsu) {
    FixedPipeline *fixed = &lsu->fixed;
    const Link *in = lsu->sm.receive;
    bool usual = in->latency == lsu->obj.period && in->width == 1 && in->depth <= AHEAD_PLACES;
    fixed->closed = usual ? 0 : NEVER;
    fixed->unit = &lsu->obj;
    fixed->period = lsu->obj.period;
    fixed->shared_ticks = fixed->shared_latency * fixed->period;
    fixed->way_back = lsu->sm.send->latency;
    fixed->next_done = fixed->issued_at = NEVER;
}

static const uint64_t *when_answered(const Port *port) {
    static const uint64_t never = NEVER;
    return port->receive ? &port->receive->next_ready : &never;
}

FixedPipeline *lsu_fixed_pipeline(SimObject *object) {
    ensure(object->class == &lsu_class);
    return &((Lsu *)object)->fixed;
}

static void init(SimObject *object) {
    Lsu *lsu = (Lsu *)object;
    if (!lsu->sm.receive) user_error("%s.sm: expected a wire to an SM, got none", object->path);
    if (lsu->read_only_segment && !lsu->texture.send)
        user_error("%s.texture: expected a wire to a cache, for read_only_segment = %u, got none",
                   object->path, lsu->read_only_segment);
    audit_queue(object, QUEUE_OUTSTANDING, "instructions that wait for answers", QUEUE_TABLE, lsu->entries,
                queue_length);
    audit_queue(object, QUEUE_COMPLETED, "instructions in the fixed pipeline", QUEUE_TABLE, lsu->fixed.slots,
                queue_length);
    audit_queue(object, QUEUE_ANSWERED, "answered instructions", QUEUE_FIFO, lsu->answered_slots,
                queue_length);
    for (uint32_t i = 0; i < lsu->entries; i++)
        lsu->outstanding[i].next_free = i + 1;
    lsu->entry = NO_ENTRY;
    lsu->read_only_space = lsu->read_only_segment ? SPACE_TEXTURE : SPACE_GLOBAL;
    lsu->names_sectors = l1s_have_sectors(object->sim);
    lsu->other_answers[0] = when_answered(&lsu->constant);
    lsu->other_answers[1] = when_answered(&lsu->texture);
    fixed_init(lsu);
    lsu_find_constant_cache(lsu);
    find_l1s(lsu);
    lsu_find_rules(lsu);
}

bool lsu_fetches_constants(const SimObject *object) {
    ensure(object->class == &lsu_class);
    return ((const Lsu *)object)->constant.send != NULL;
}

bool lsu_splits_read_only_lines(const SimObject *object) {
    ensure(object->class == &lsu_class);
    uint32_t bytes = ((const Lsu *)object)->read_only_segment;
    return bytes && bytes < COALESCE_LINE;
}

uint32_t lsu_caches(const SimObject *object, SimObject *const **caches) {
    ensure(object->class == &lsu_class);
    const Ways *ways = &((const Lsu *)object)->to_l1s;
    *caches = ways->end;
    return ways->end_count;
}

static bool goes_to_l1(const Lsu *lsu, const MemoryOp *op) {
    return lsu->l1_spaces >> space_of(lsu, op) & 1;
}

/* Of which warp a request is looked for. */
typedef struct {
    uint32_t sm, warp;
    bool found;
} WantedWarp;

static void look_for_warp(void *context, const Link *by, const void *message) {
    WantedWarp *wanted = context;
    const MemMessage *m = message;
    (void)by;
    wanted->found |= m->sm == wanted->sm && m->warp == wanted->warp;
}

bool lsu_holds(const SimObject *object, uint32_t sm, uint32_t warp) {
    ensure(object->class == &lsu_class);
    const Lsu *lsu = (const Lsu *)object;
    const Link *in = lsu->sm.receive;
    if (lsu->op_valid && lsu->op.warp == warp && goes_to_l1(lsu, &lsu->op)) return true;
    FOR_LINK_MESSAGES (in, i) {
        const MemoryOp *op = link_message(in, i);
        if (op->warp == warp && goes_to_l1(lsu, op)) return true;
    }
    const ConstantsAhead *ahead = &lsu->ahead;
    for (uint64_t i = ahead->head; i != ahead->tail; i++) {
        const ConstantAhead *hit = &ahead->ring[i % CONSTANTS_AHEAD];
        if (lsu->outstanding[hit->entry].done.warp == warp && hit->counted != AHEAD_LOOKED_UP) return true;
    }
    WantedWarp wanted = {sm, warp, false};
    ways_visit(&lsu->to_l1s, look_for_warp, &wanted);
    return wanted.found;
}

/* Of an SM: what stands nearest to the L1s. */
typedef struct {
    const Lsu *lsu;
    uint32_t sm, warp;
} FirstIssued;

/* An L1 may have code and other SMs' requests as well. */
static void look_for_first(void *context, const Link *by, const void *message) {
    FirstIssued *first = context;
    const MemMessage *m = message;
    (void)by;
    if (first->warp != NO_WARP_WAITS || m->sm != first->sm || m->flags & MEM_INSTRUCTION) return;
    if (m->token >= first->lsu->entries) return;
    if (!space_is_constant(first->lsu->outstanding[m->token].done.space)) first->warp = m->warp;
}

/* Constants nearly always hit, and those that do need not stand where they would: constants_ahead. */
static void look_for_first_op(FirstIssued *first, const MemoryOp *op) {
    bool counts = goes_to_l1(first->lsu, op) && !space_is_constant(op->space);
    if (counts && first->warp == NO_WARP_WAITS) first->warp = op->warp;
}

uint32_t lsu_first_issued(const SimObject *object, uint32_t sm) {
    ensure(object->class == &lsu_class);
    const Lsu *lsu = (const Lsu *)object;
    const Link *in = lsu->sm.receive;
    FirstIssued first = {lsu, sm, NO_WARP_WAITS};
    for (uint32_t i = 0; i < lsu->to_l1s.end_count; i++)
        l1_visit_arriving(lsu->to_l1s.end[i], look_for_first, &first);
    ways_visit(&lsu->to_l1s, look_for_first, &first);
    if (lsu->op_valid) look_for_first_op(&first, &lsu->op);
    FOR_LINK_MESSAGES (in, i)
        look_for_first_op(&first, link_message(in, i));
    return first.warp;
}

static void touched(SimObject *object) {
    lsu_put_back_constants((Lsu *)object);
}

static void destroy(SimObject *object) {
    ways_free(&((Lsu *)object)->to_l1s);
}

static bool is_class(const int64_t *arguments, int64_t answer) {
    (void)arguments;
    return answer >= 0 && answer < CLASSES;
}

static const Question which_class = {"a class, 0 to 31,", is_class};

static const Event events[] = {
    [LSU_ASK_CLASS] = {"classify", "warp, address, pc, write, class", &which_class,
                       "The class of this request, which is sent now, in place of its warp's"},
    [LSU_COALESCED] = {"coalesced", "warp, pc, write, accesses, address", NULL,
                       "A load, store or atomic of global or local memory has become so many accesses, which "
                       "leave one in a cycle; write: 0 for a load; address: of the first"},
    {0}};

const Class lsu_class = {
    .name = "LSU",
    .doc = "Load/store unit: coalescing, shared-memory banks, accesses to the caches",
    .bytes = sizeof(Lsu),
    .fields = lsu_fields,
    .events = events,
    .build = build,
    .init = init,
    .tick = lsu_tick,
    .take_untimed = lsu_take_untimed,
    .knobs_set = lsu_knobs_set,
    .touched = touched,
    .settle = lsu_settle,
    .put_back = lsu_put_back,
    .is_sound = lsu_is_sound,
    .answer_kinds = lsu_answer_kinds,
    .answer_kind = lsu_answer_kind,
    .answers_awaited = lsu_answers_awaited,
    .check = lsu_check,
    .report = lsu_report,
    .destroy = destroy,
};
REGISTER_CLASS(lsu_class);
