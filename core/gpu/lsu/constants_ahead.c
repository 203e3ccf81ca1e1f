/* Loads of parameters and constants ahead of time: what is rare. */
#include "core/gpu/lsu/lsu_state.h"

#include <string.h>

/* --- The cache counts them when somebody looks ------------------------------------------------ */

static void settle(SimObject *object, uint64_t now) {
    ConstantsAhead *ahead = &((Lsu *)object)->ahead;
    for (uint64_t i = ahead->head; i != ahead->tail; i++) {
        ConstantAhead *hit = constant_ahead(ahead, i);
        if (hit->at_tags < now)
            constant_count(ahead, hit, AHEAD_LOOKED_UP);
        else if (hit->sent + ahead->to_cache < now)
            constant_count(ahead, hit, AHEAD_ACCEPTED);
    }
}

/* --- They go to where they would stand ------------------------------------------------------- */

static MemMessage request_of(const Lsu *lsu, const ConstantAhead *hit) {
    const MemoryDone *done = &lsu->outstanding[hit->entry].done;
    return (MemMessage){.address = hit->address,
                        .issued = hit->sent,
                        .token = hit->entry,
                        .pc = done->inst,
                        .cta = hit->cta,
                        .bytes = CONSTANT_SEGMENT,
                        .sm = (uint16_t)sm_number(lsu->obj.parent),
                        .warp = done->warp,
                        .kind = MEM_READ,
                        .class_number = hit->class_number};
}

static void give_back_entry(Lsu *lsu, uint32_t index) {
    Outstanding *entry = &lsu->outstanding[index];
    entry->remaining = 0;
    entry->next_free = lsu->first_free;
    lsu->first_free = index;
    lsu->in_use--;
    audit_leave(&lsu->obj, QUEUE_OUTSTANDING, index);
}

/* Its access has not been sent: it is the instruction at work, which has left its place on the way from the SM. */
static void work_again(Lsu *lsu, const ConstantAhead *hit, uint64_t now) {
    const MemoryDone done = lsu->outstanding[hit->entry].done;
    const Inst *inst = sm_inst((const Sm *)lsu->obj.parent, done.warp, done.inst);
    ensure(!lsu->op_valid);
    give_back_entry(lsu, hit->entry);
    lsu->op = (MemoryOp){.lowest = hit->address,
                         .highest = hit->address,
                         .lanes = done.lanes,
                         .inst = done.inst,
                         .payload = done.payload,
                         .warp = done.warp,
                         .kind = done.kind,
                         .space = done.space,
                         .bytes = (uint8_t)(inst->element_bytes * inst->elements),
                         .cache_op = inst->cache_op};
    lsu->op_valid = 1;
    lsu->holds_place = 0;
    lsu->fixed.open_from = NEVER;
    lsu->class_number = hit->class_number;
    lsu->cta = hit->cta;
    lsu->entry = NO_ENTRY;
    lsu->segment_next = 0;
    lsu->segment_count = 1;
    segment_set(&lsu->segments[0], hit->address, CONSTANT_SEGMENT, 0);
    lsu_knobs_set(&lsu->obj);
    object_poke(&lsu->obj, now);
}

static void put_one_back(Lsu *lsu, const ConstantAhead *hit, uint64_t now) {
    ConstantsAhead *ahead = &lsu->ahead;
    MemMessage request = request_of(lsu, hit);
    if (hit->counted == AHEAD_LOOKED_UP) {
        l1_put_back_answer(ahead->cache, &request, hit->at_tags);
    } else if (hit->counted == AHEAD_ACCEPTED) {
        l1_put_back_request(ahead->cache, &request, hit->at_tags);
    } else {
        ahead->requests--;
        if (hit->sent >= now)
            work_again(lsu, hit, now);
        else
            *(MemMessage *)link_send(lsu->constant.send, hit->sent) = request;
    }
}

static void put_back(SimObject *object) {
    Lsu *lsu = (Lsu *)object;
    ConstantsAhead *ahead = &lsu->ahead;
    uint64_t now = object->sim->now;
    settle(object, now);
    for (; ahead->head != ahead->tail; ahead->head++)
        put_one_back(lsu, constant_ahead(ahead, ahead->head), now);
    ahead->next = NEVER;
}

COLD void lsu_put_back_constants(Lsu *lsu) {
    if (lsu->ahead.head != lsu->ahead.tail) put_back(&lsu->obj);
}

/* --- Which machines have them ---------------------------------------------------------------- */

/* A link that is never full, so that its sender need not ask, and of which one message comes in a cycle. */
static bool is_usual(const Lsu *lsu, const Link *link) {
    uint64_t period = lsu->obj.period;
    return !link->cut && !link->aligned && link->width == 1 && link->latency / period + 1 < link->depth;
}

void lsu_find_constant_cache(Lsu *lsu) {
    ConstantsAhead *ahead = &lsu->ahead;
    const Link *there = lsu->constant.send, *back = lsu->constant.receive;
    ahead->next = NEVER;
    if (!there || there->receiver->class != &l1_class || !is_usual(lsu, there) || !is_usual(lsu, back))
        return;
    ahead->cache = there->receiver;
    ahead->owner = (HitsAhead){&lsu->obj, settle, put_back};
    ahead->to_cache = there->latency;
    ahead->to_tags = l1_let_hits_ahead(ahead->cache, &ahead->owner);
    ahead->to_unit = back->latency;
}
