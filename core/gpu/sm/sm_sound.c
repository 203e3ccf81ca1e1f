#include "core/gpu/sm/sm_sound.h"

#include "core/gpu/lsu/coalescer.h"
#include "core/gpu/sm/async_copies.h"
#include "mem/protocol/memory_protocol.h"

#include "mem/protocol/functional_memory.h"

enum { STAGES = 256 };

/* No launch has come yet: then there is nothing to be sound. */
uint32_t sm_ctas_in_use(const Sm *sm) {
    return sm->kernels.ctas;
}

WarpSet sm_warps_in_use(const Sm *sm) {
    uint32_t warps = sm->kernels.warps;
    return warps ? ~0ull >> (MAX_WARPS - warps) : 0;
}

static void must_be(const Sm *sm, bool condition, const char *what) {
    sound(condition, "%s.%s", sm->obj.path, what);
}

static void warp_must_be(const Sm *sm, bool condition, uint32_t w, const char *what) {
    sound(condition, "%s: warp %u: %s", sm->obj.path, w, what);
}

/* NULL: the warp's CTA is of none. */
static const Kernel *kernel_of(const Sm *sm, uint32_t w) {
    uint32_t slot = w < sm->warps ? sm->warp[w].cta_slot : MAX_CTAS;
    bool is_known = slot < MAX_CTAS && sm->cta[slot].kernel < sm->launched_count;
    return is_known ? sm_kernel_of_slot(sm, slot)->kernel : NULL;
}

/* NULL: the warp's kernel has no such instruction. */
static const Inst *inst_of(const Sm *sm, uint32_t w, uint32_t index) {
    const Kernel *kernel = kernel_of(sm, w);
    return kernel && index < kernel->inst_count ? &kernel->insts[index] : NULL;
}

/* --- Instructions in flight ------------------------------------------------------------------ */

void sm_memory_done_is_sound(const Sm *sm, const char *where, const MemoryDone *done) {
    sound(done->warp < MAX_WARPS && sm_warps_in_use(sm) >> done->warp & 1, "%s: an instruction of warp %u",
          where, done->warp);
    const Inst *inst = inst_of(sm, done->warp, done->inst);
    sound(inst != NULL, "%s: instruction %u of the kernel", where, done->inst);
    bool known = inst->space == done->space ||
                 (inst->space == SPACE_SURFACE && done->space == SPACE_GLOBAL) ||
                 (inst->space == SPACE_GENERIC &&
                  (done->space == SPACE_GLOBAL || done->space == SPACE_SHARED || done->space == SPACE_LOCAL));
    sound(inst->timing == TIMING_MEM && inst->kind == done->kind && known,
          "%s: instruction %u is said to be of kind %u, space %u", where, done->inst, done->kind,
          done->space);
    bool is_copy = done->kind == INST_LOAD && inst->detail & DETAIL_ASYNC_COPY;
    sound(!is_copy || async_is_number(done->payload), "%s: instruction %u is a copy of group slot %u", where,
          done->inst, done->payload);
    bool uses_payload = done->kind == INST_ATOMIC && done->space == SPACE_GLOBAL;
    sound(!uses_payload || (done->payload < sm->atomic_payloads && sm->payload_used >> done->payload & 1),
          "%s: instruction %u has payload %u", where, done->inst, done->payload);
}

/* Accesses to shared memory have none any more. */
static bool addresses_are_sound(const MemoryOp *op) {
    uint64_t end = (1ull << MAX_ADDRESS_BITS) - COALESCE_LINE * 4ull;
    bool good = true;
    if (op->space == SPACE_SHARED) return true;
    if (op->space == SPACE_TEXTURE) {
        for (uint32_t i = 0; i < op->segments; i++)
            good = good && op->lowest < end && op->lowest + (uint64_t)op->segment[i] * TEXTURE_SEGMENT < end;
        return good;
    }
    if (op->space == SPACE_LOCAL) {
        good = op->word_stride % COALESCE_LINE == 0 && op->word_stride < end / 4;
        end -= 4 * op->word_stride; /* more than the words behind the first */
    }
    if (!op->has_addresses) return good && op->lowest <= op->highest && op->highest < end;
    for (uint32_t lanes = op->lanes; lanes; lanes &= lanes - 1)
        good = good && op->address[__builtin_ctz(lanes)] < end;
    return good;
}

void sm_memory_op_is_sound(const Sm *sm, const char *where, const MemoryOp *op, bool begun) {
    MemoryDone done = {op->inst, op->payload, op->lanes, op->warp, op->kind, op->space};
    sm_memory_done_is_sound(sm, where, &done);
    const Inst *inst = inst_of(sm, op->warp, op->inst);
    uint64_t latest = object_cycle(&sm->obj, sm->obj.sim->now) + RESULT_BUS_RING;
    sound(op->lanes && op->bytes == (uint8_t)(inst->element_bytes * inst->elements) &&
              op->cache_op == inst->cache_op && op->begins <= latest,
          "%s: instruction %u: %u bytes for lanes 0x%x", where, op->inst, op->bytes, op->lanes);
    sound(op->space != SPACE_SHARED || (op->conflict_degree && op->conflict_degree <= CONFLICTS_MAX),
          "%s: instruction %u: %u cycles for the banks", where, op->inst, op->conflict_degree);
    sound(op->space != SPACE_TEXTURE || (op->segments && op->segments <= WARP_LANES * LANE_TEXELS),
          "%s: instruction %u: %u segments", where, op->inst, op->segments);
    sound(begun || addresses_are_sound(op), "%s: instruction %u: its addresses", where, op->inst);
}

static bool writes(const Sm *sm, Writer writer, bool to_memory) {
    const Inst *inst = inst_of(sm, writer_warp(writer), writer_inst(writer));
    return inst && sm_warps_in_use(sm) >> writer_warp(writer) & 1 &&
           (inst->timing == TIMING_MEM) == to_memory;
}

static void write_backs_are_sound(const Sm *sm) {
    const WriteBacks *write_backs = &sm->write_backs;
    uint64_t latest = object_cycle(&sm->obj, sm->obj.sim->now) + RESULT_BUS_RING, before = 0;
    uint32_t results = 0, width = sm->shape.result_bus_width;
    for (uint32_t slot = 0; slot < RESULT_BUS_RING; slot++) {
        must_be(sm, sm->collector.result_bus[slot] <= width, "collector: result bus");
        for (uint32_t i = 0; i < sm->collector.result_bus[slot]; i++, results++)
            must_be(sm, writes(sm, write_backs->result[slot * width + i], false), "write_backs: a result");
    }
    must_be(sm, results == write_backs->results, "write_backs: results");
    must_be(sm, write_backs->first < LANELESS && write_backs->laneless <= LANELESS, "write_backs: laneless");
    for (uint32_t i = 0; i < write_backs->laneless; i++) {
        uint32_t at = (write_backs->first + i) % LANELESS;
        must_be(sm, writes(sm, write_backs->without_lane[at], true), "write_backs: without a lane");
        must_be(sm, write_backs->ends[at] > before && write_backs->ends[at] <= latest, "write_backs: ends");
        before = write_backs->ends[at];
    }
}

/* How far ahead what is in front of a unit may reserve it. */
static uint64_t ahead(const Sm *sm, UnitClass unit) {
    const UnitShape *shape = &sm->shape.shape[unit];
    uint32_t interval = 1;
    for (uint32_t i = 0; i < TIMING_CLASSES; i++)
        if (sm->timing[i].unit == unit && sm->timing[i].interval > interval)
            interval = sm->timing[i].interval;
    return (uint64_t)(shape->collectors + shape->latches + 1) * interval + STAGES;
}

static void sub_core_is_sound(const Sm *sm, const SubCore *sub_core, uint64_t cycle) {
    for (UnitClass unit = UNIT_SP; unit < UNIT_CLASSES; unit++) {
        const UnitState *state = &sub_core->unit[unit];
        const UnitShape *shape = &sm->shape.shape[unit];
        uint64_t latest = cycle + ahead(sm, unit);
        must_be(sm, state->next_collector < shape->collectors && state->next_latch < shape->latches,
                "collector: whose turn it is");
        for (uint32_t i = 0; i < MAX_UNITS; i++)
            must_be(sm, state->unit_free[i] <= latest, "collector: when a unit is free");
        for (uint32_t i = 0; i < MAX_COLLECTORS; i++)
            must_be(sm, state->collector_free[i] <= latest, "collector: when a collector is free");
        for (uint32_t i = 0; i < MAX_ISSUE_LATCHES; i++)
            must_be(sm, state->latch_free[i] <= latest, "collector: when a latch is free");
    }
}

static void collector_is_sound(const Sm *sm) {
    uint64_t cycle = object_cycle(&sm->obj, sm->obj.sim->now);
    must_be(sm, sm->collector.window <= cycle / BANK_WINDOW, "collector: window");
    for (uint32_t i = 0; i < sm->shape.sub_cores; i++)
        sub_core_is_sound(sm, &sm->collector.sub_core[i], cycle);
    for (UnitClass unit = UNIT_SP; unit < UNIT_CLASSES && !sm->shape.is_common; unit++)
        for (uint32_t i = 0; i < sm->shape.sub_cores; i++)
            must_be(sm, sm->collector.accepts_at[unit][i] == collector_accepts_at(&sm->collector, i, unit),
                    "collector: when a sub-core accepts");
}

/* --- Warps ----------------------------------------------------------------------------------- */

static const SimtEntry *entry_of(const Sm *sm, uint32_t w, uint32_t place) {
    const SimtStack *stack = &sm->warp[w].simt;
    return place + 1 == stack->depth ? &stack->top : &sm->waiting_lanes[w].entry[place];
}

/* Lanes that wait behind the kernel's last instruction never go on there: they are all above, and exit. */
static bool exits_above(const Sm *sm, uint32_t w, uint32_t place) {
    uint32_t lanes = entry_of(sm, w, place)->lanes, end = kernel_of(sm, w)->inst_count;
    for (uint32_t i = place + 1; i < sm->warp[w].simt.depth; i++)
        if (entry_of(sm, w, i)->reconverge == end) lanes &= ~entry_of(sm, w, i)->lanes;
    return !lanes && place + 1 < sm->warp[w].simt.depth && entry_of(sm, w, place + 1)->reconverge == end;
}

/* Each entry reconverges where the one below waits, or where that one reconverges, too; and there is room for
 * all divergence that its lanes may come to. */
static void stack_is_sound(const Sm *sm, uint32_t w) {
    const SimtStack *stack = &sm->warp[w].simt;
    uint32_t end = kernel_of(sm, w)->inst_count;
    warp_must_be(sm, stack->depth <= SIMT_DEPTH && (stack->depth != 0) == (sm->live >> w & 1), w,
                 "depth of its SIMT stack");
    for (uint32_t i = 0; i < stack->depth; i++) {
        const SimtEntry *entry = entry_of(sm, w, i);
        uint32_t lanes = (uint32_t)__builtin_popcount(entry->lanes);
        bool first = i == 0, good = entry->pc <= end && entry->reconverge <= end;
        const SimtEntry *below = first ? NULL : entry_of(sm, w, i - 1);
        good = good && (first ? entry->reconverge == end
                              : entry->reconverge == below->pc || entry->reconverge == below->reconverge);
        good = good && i + 1 + 2 * (lanes ? lanes - 1 : 0) <= SIMT_DEPTH;
        good = good && (entry->pc < end || exits_above(sm, w, i));
        warp_must_be(sm, good, w, "an entry of its SIMT stack");
    }
    warp_must_be(sm, !stack->depth || stack->top.lanes, w, "lanes");
}

/* Those of the CTAs that the SM holds. Others still have what a CTA of an earlier launch left. */
static WarpSet resident_warps(const Sm *sm) {
    WarpSet warps = 0;
    for (uint32_t i = 0; i < sm->resident && i < MAX_CTAS; i++)
        warps |= sm->cta_by_age[i];
    return warps & sm_warps_in_use(sm);
}

static void warps_are_sound(const Sm *sm) {
    WarpSet used = resident_warps(sm);
    for (uint32_t w = 0; w < sm->warps; w++) {
        const Warp *warp = &sm->warp[w];
        const BarrierVote *vote = &sm->vote[w];
        async_is_sound(sm, w);
        if (!(used >> w & 1)) continue;
        warp_must_be(sm,
                     warp->cta_slot < sm_ctas_in_use(sm) && kernel_of(sm, w) &&
                         warp->warp_in_cta < sm_kernel_of(sm, w)->warps_per_cta,
                     w, "its CTA slot");
        stack_is_sound(sm, w);
        const Inst *voted = inst_of(sm, w, vote->inst);
        warp_must_be(sm, !vote->lanes || (voted && voted->kind == INST_BARRIER), w, "vote");
    }
}

static void sets_are_sound(const Sm *sm) {
    const WarpSet live = sm->live, all = sm_warps_in_use(sm);
    must_be(sm, !(live & ~all), "live");
    must_be(sm, !((sm->valid | sm->waiting | sm->want_fetch | sm->refetch[0] | sm->refetch[1]) & ~live),
            "valid, waiting, want_fetch, refetch");
    must_be(sm, !((sm->fetched | sm->spinning) & ~live), "fetched, spinning");
    must_be(sm, !((sm->fencing | sm->copying | sm->sleeping) & ~sm->waiting) && !(sm->loading & ~all),
            "fencing, copying, sleeping, loading");
    for (uint32_t i = 0; i < MAX_SUB_CORES; i++)
        must_be(sm, sm->last_fetched[i] < MAX_WARPS, "last_fetched");
    for (uint32_t i = 0; i < MAX_SCHEDULERS; i++) {
        WarpSet mine = 0;
        for (uint32_t w = i; w < MAX_WARPS && i < sm->schedulers; w += sm->schedulers)
            mine |= warp_bit(w);
        must_be(sm, sm->sched[i].warps == (live & mine) && sm->sched[i].last < MAX_WARPS, "sched");
        must_be(sm, sm->slot_cause[i] < SLOT_CAUSES, "slot_cause");
    }
}

/* --- CTAs ------------------------------------------------------------------------------------ */

/* Can the slot's CTA have these? */
static bool warps_fit(const Sm *sm, uint32_t slot, WarpSet set) {
    if (slot >= sm_ctas_in_use(sm) || sm->cta[slot].kernel >= sm->launched_count) return false;
    uint32_t warps = sm_kernel_of_slot(sm, slot)->warps_per_cta;
    WarpSet first = ~0ull >> (MAX_WARPS - warps);
    return sm->kernels.are_several ? (uint32_t)__builtin_popcountll(set) == warps
                                   : set == first << slot * warps;
}

static void ages_are_sound(const Sm *sm) {
    WarpSet seen = 0;
    uint32_t slots = 0;
    must_be(sm, sm->resident <= sm_ctas_in_use(sm), "resident");
    for (uint32_t i = 0; i < sm->resident; i++) {
        WarpSet set = sm->cta_by_age[i];
        must_be(sm, set && !(set & ~sm_warps_in_use(sm)) && !(seen & set), "cta_by_age");
        uint32_t slot = sm->warp[first_warp(set)].cta_slot;
        must_be(sm, warps_fit(sm, slot, set) && !(slots >> slot & 1), "cta_by_age");
        must_be(sm, sm->cta[slot].warps == set && !(sm->finished_ctas >> slot & 1), "cta");
        seen |= set;
        slots |= 1u << slot;
    }
    must_be(sm, !(sm->live & ~seen), "cta_by_age: a warp of no CTA lives");
    for (uint32_t slot = 0; slot < MAX_CTAS; slot++) {
        const Cta *cta = &sm->cta[slot];
        bool resident = slots >> slot & 1;
        uint32_t unfinished = 0;
        for (WarpSet rest = resident ? cta->warps : 0; rest; rest &= rest - 1) {
            const Warp *warp = &sm->warp[first_warp(rest)];
            unfinished += warp->in_flight || warp->simt.depth;
            must_be(sm, warp->cta_slot == slot, "cta: warps");
        }
        must_be(sm, !resident || cta->unfinished == unfinished, "cta: unfinished warps");
        must_be(sm, !resident || unfinished || sm->ending >> slot & 1, "cta: it has ended");
        const SplitBarrier *split = &cta->cluster;
        WarpSet at_cluster = split->arrived | split->passed | split->waiting;
        must_be(sm, !resident || !(at_cluster & ~cta->warps), "cta: who waits at the cluster's barrier");
        for (uint32_t b = 0; resident && b < NAMED_BARRIERS; b++)
            must_be(sm, !(cta->barrier[b].waiting & ~cta->warps), "cta: who waits at a barrier");
    }
}

static void ctas_are_sound(const Sm *sm) {
    uint32_t ctas = sm_ctas_in_use(sm), slots = ctas ? ~0u >> (MAX_CTAS - ctas) : 0;
    must_be(sm, !((sm->finished_ctas | sm->ending) & ~slots), "finished_ctas, dma_ending");
    for (uint32_t rest = sm->ending; rest; rest &= rest - 1)
        must_be(sm, gates_keep_cta(&sm->gates, (uint32_t)__builtin_ctz(rest)), "dma_ending");
    ages_are_sound(sm);
}

void sm_cta_start_is_sound(const Sm *sm, const char *where, const CtaStart *start) {
    sound(start->slot < sm_ctas_in_use(sm) && start->kernel < sm->launched_count,
          "%s: a CTA of kernel %u for slot %u", where, start->kernel, start->slot);
}

/* --- Memories -------------------------------------------------------------------------------- */

static void memories_fit(const Sm *sm) {
    const SmKernels *sizes = &sm->kernels;
    must_be(sm,
            sm->shared_count == sizes->ctas * sizes->shared_bytes &&
                sm->register_count == sizes->warps * sizes->register_bytes &&
                sm->local_count == sizes->warps * (uint32_t)local_memory_bytes(sizes->local_bytes) &&
                sm->predicate_count == sizes->warps * sizes->predicates,
            "shared_count, register_count, local_count, predicate_count");
}

/* What an atomic accesses must be there. */
static void payloads_are_sound(const Sm *sm) {
    WarpSet slots = ~0ull >> (ATOMIC_PAYLOADS - sm->atomic_payloads);
    MemoryView *view = sm->view;
    must_be(sm, !(sm->payload_used & ~slots), "payload_used");
    for (uint64_t rest = sm->payload_used; rest; rest &= rest - 1) {
        const AtomicPayload *payload = &sm->payload[__builtin_ctzll(rest)];
        bool good = payload->bytes == 2 || payload->bytes == 4 || payload->bytes == 8;
        uint32_t performed = payload->operation == ATOMIC_NOTHING ? 0 : payload->mask;
        for (uint32_t lanes = performed; good && lanes; lanes &= lanes - 1)
            good = view_covers(view, payload->address[__builtin_ctz(lanes)], payload->bytes);
        must_be(sm, good, "payload");
    }
}

static void code_is_sound(const Sm *sm) {
    tag_array_is_sound(&sm->code.tags, sm->obj.path);
    for (uint32_t i = 0; i < sm->code.tags.shape.lines; i++)
        must_be(sm, !sm->code.tags.line[i].reserved, "code: a line is reserved");
    for (uint32_t i = 0; i < MAX_FETCH_MISSES; i++) {
        const FetchMiss *miss = &sm->code.miss[i];
        bool none = i >= sm->code_misses || !sm->fetch.send;
        must_be(sm, none ? !miss->waiting : !(miss->waiting & ~sm->live), "code: who waits for a line");
        must_be(sm, miss->line == tag_line_address(&sm->code.tags.shape, miss->line), "code: a line");
    }
}

void sm_is_sound(const SimObject *object, bool fits) {
    const Sm *sm = (const Sm *)object;
    (void)fits;
    memories_fit(sm);
    sets_are_sound(sm);
    warps_are_sound(sm);
    ctas_are_sound(sm);
    payloads_are_sound(sm);
    collector_is_sound(sm);
    write_backs_are_sound(sm);
    code_is_sound(sm);
    gates_are_sound(&sm->gates);
    must_be(sm, sm->accounted <= object_cycle(object, object->sim->now) + 1, "accounted");
}
