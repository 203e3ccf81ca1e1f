/* The conservation laws of a load/store unit, and what its instructions wait for when the machine hangs. */
#include "core/gpu/lsu/lsu_state.h"

/* Every instruction that the SM sent is counted in one class, and is done or in one place. */
static void check_instructions(const Lsu *lsu) {
    uint64_t counted = lsu->global_loads + lsu->global_stores + lsu->local_loads + lsu->local_stores +
                       lsu->fixed.shared_loads + lsu->fixed.shared_stores + lsu->constant_loads +
                       lsu->texture_loads + lsu->atomics + lsu->prefetches;
    uint64_t taken = link_received(lsu->sm.receive) + lsu->holds_place + lsu->fixed.past_link;
    uint64_t done = link_sent(lsu->sm.send) + lsu->fixed.handed_over;
    uint64_t inside = (lsu->op_valid && lsu->entry == NO_ENTRY) + lsu->in_use + lsu->fixed.tail -
                      lsu->fixed.head + lsu->answered_tail - lsu->answered_head;
    if (counted + lsu->fixed.early.loads + lsu->fixed.early.stores != taken || taken != done + inside)
        panic("%s: %lu instructions came, %lu are counted, %lu are done and %lu inside", lsu->obj.path, taken,
              counted, done, inside);
}

static uint64_t sent_by(const Port *port) {
    return port->send ? link_sent(port->send) : 0;
}
static uint64_t answered_at(const Port *port) {
    return port->receive ? link_received(port->receive) : 0;
}

/* Every access is answered exactly once. */
static void check_accesses(const Lsu *lsu) {
    uint64_t sent = sent_by(&lsu->mem) + sent_by(&lsu->constant) + sent_by(&lsu->texture) +
                    lsu->ahead.requests;
    uint64_t answered = answered_at(&lsu->mem) + answered_at(&lsu->constant) + answered_at(&lsu->texture) +
                        lsu->ahead.answers;
    uint64_t awaited = 0, counted = lsu->load_accesses + lsu->store_accesses + lsu->atomic_accesses +
                                    lsu->prefetch_accesses;
    uint32_t waiting = 0;
    for (uint32_t i = 0; i < lsu->entries; i++) {
        awaited += lsu->outstanding[i].remaining;
        waiting += lsu->outstanding[i].remaining || lsu->outstanding[i].unsent;
    }
    if (sent != answered + awaited)
        panic("%s: %lu accesses were sent and %lu answered; %lu answers are awaited", lsu->obj.path, sent,
              answered, awaited);
    if (waiting != lsu->in_use)
        panic("%s: %u instructions have accesses in flight, %u entries are counted", lsu->obj.path, waiting,
              lsu->in_use);
    if (lsu->texture.send ? counted != sent_by(&lsu->mem) : counted > sent_by(&lsu->mem))
        panic("%s: %lu global and local accesses are counted, %lu were sent", lsu->obj.path, counted,
              sent_by(&lsu->mem));
}

static void visit_op(const MemoryOp *op, MemoryDoneVisitor *visit, void *context) {
    MemoryDone done = {op->inst, op->payload, op->lanes, op->warp, op->kind, op->space};
    visit(context, &done);
}

/* The one at work may still have its place in the link, and has an entry from its first access on. */
void lsu_visit_instructions(const SimObject *object, MemoryDoneVisitor *visit, void *context) {
    const Lsu *lsu = (const Lsu *)object;
    const Link *in = lsu->sm.receive, *out = lsu->sm.send;
    for (uint64_t i = link_received(in) + lsu->holds_place; i < link_sent(in); i++)
        visit_op(link_message(in, i), visit, context);
    if (lsu->op_valid && lsu->entry == NO_ENTRY) visit_op(&lsu->op, visit, context);
    for (uint32_t i = 0; i < lsu->entries; i++)
        if (lsu->outstanding[i].remaining || lsu->outstanding[i].unsent)
            visit(context, &lsu->outstanding[i].done);
    for (uint64_t i = lsu->fixed.head; i < lsu->fixed.tail; i++)
        visit(context, &lsu->fixed.ring[i & (lsu->fixed.slots - 1)].done);
    for (uint64_t i = lsu->answered_head; i < lsu->answered_tail; i++)
        visit(context, &lsu->answered[i & (lsu->answered_slots - 1)].done);
    for (uint64_t i = link_received(out); i < link_sent(out); i++)
        visit(context, link_message(out, i));
}

uint32_t lsu_answer_kinds(const SimObject *object) {
    return ((const Lsu *)object)->entries;
}

uint32_t lsu_answer_kind(const SimObject *object, const void *message) {
    uint32_t entry = ((const MemMessage *)message)->token;
    return entry < ((const Lsu *)object)->entries ? entry : NO_ANSWER_AWAITED;
}

void lsu_answers_awaited(const SimObject *object, uint32_t *awaited) {
    const Lsu *lsu = (const Lsu *)object;
    for (uint32_t i = 0; i < lsu->entries; i++)
        awaited[i] += lsu->outstanding[i].remaining;
    for (uint64_t i = lsu->ahead.head; i != lsu->ahead.tail; i++) /* nobody else has them */
        awaited[lsu->ahead.ring[i % CONSTANTS_AHEAD].entry]--;
}

void lsu_check(const SimObject *object, bool idle) {
    const Lsu *lsu = (const Lsu *)object;
    check_instructions(lsu);
    check_accesses(lsu);
    if (lsu->holds_place && link_sent(lsu->sm.receive) == link_received(lsu->sm.receive))
        panic("%s: the instruction at work has no place on the way from the SM", lsu->obj.path);
    if (idle && (lsu->in_use || lsu->op_valid || lsu->fixed.head != lsu->fixed.tail ||
                 lsu->answered_head != lsu->answered_tail))
        panic("%s: %u instructions wait for answers although the machine is idle", object->path, lsu->in_use);
}

void lsu_report(const SimObject *object, FILE *out) {
    const Lsu *lsu = (const Lsu *)object;
    if (lsu->op_valid)
        fprintf(out, "%s: warp %u, instruction %u: access %u of %u to 0x%lx not yet sent\n", object->path,
                lsu->op.warp, lsu->op.inst, lsu->segment_next + 1, lsu->segment_count,
                lsu->segments[lsu->segment_next].address);
    for (uint32_t i = 0; i < lsu->entries && lsu->in_use; i++)
        if (lsu->outstanding[i].remaining)
            fprintf(out, "%s: warp %u, instruction %u waits for %u answers since core cycle %lu\n",
                    object->path, lsu->outstanding[i].done.warp, lsu->outstanding[i].done.inst,
                    lsu->outstanding[i].remaining,
                    clock_cycle(&object->sim->clocks[0], lsu->outstanding[i].begun));
}
