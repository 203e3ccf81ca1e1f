/* The conservation laws of an SM, and what its warps wait for when the machine hangs. */
#include "core/gpu/sm/async_copies.h"
#include "core/gpu/sm/fault.h"
#include "core/gpu/sm/spinning.h"

#include "mem/protocol/memory_protocol.h"

/* Instructions in flight, by the warp whose they are. */
typedef struct {
    uint32_t in_lsu[MAX_WARPS], reads[MAX_WARPS], writes[MAX_WARPS], atomics[MAX_WARPS], to_write[MAX_WARPS];
    uint64_t payloads;
    uint32_t doubled; /* payloads that two atomics have */
} InFlight;

static void count_in_lsu(void *context, const MemoryDone *done) {
    InFlight *in_flight = context;
    uint32_t w = done->warp % MAX_WARPS;
    bool atomic = done->kind == INST_ATOMIC && done->space == SPACE_GLOBAL;
    uint64_t payload = (uint64_t)atomic << done->payload % ATOMIC_PAYLOADS;
    in_flight->in_lsu[w]++;
    in_flight->reads[w] += done->kind != INST_STORE;
    in_flight->writes[w] += done->kind != INST_LOAD;
    in_flight->atomics[w] += atomic;
    in_flight->doubled += (in_flight->payloads & payload) != 0;
    in_flight->payloads |= payload;
}

static void count_to_write(const Sm *sm, InFlight *in_flight) {
    const WriteBacks *write_backs = &sm->write_backs;
    uint32_t results = 0, width = sm->shape.result_bus_width;
    for (uint32_t slot = 0; slot < RESULT_BUS_RING; slot++) {
        results += sm->collector.result_bus[slot];
        for (uint32_t i = 0; i < sm->collector.result_bus[slot]; i++)
            in_flight->to_write[writer_warp(write_backs->result[slot * width + i])]++;
    }
    for (uint32_t i = 0; i < write_backs->laneless; i++)
        in_flight->to_write[writer_warp(write_backs->without_lane[(write_backs->first + i) % LANELESS])]++;
    if (results != write_backs->results)
        panic("%s: the result bus has %u results, the SM counts %u", sm->obj.path, results,
              write_backs->results);
}

/* Every instruction that issued writes back once: by itself, or when the LSU has done it. */
static void check_instructions(const Sm *sm) {
    InFlight in_flight = {.doubled = 0};
    uint64_t by_unit = 0;
    lsu_visit_instructions(sm->lsu.send->receiver, count_in_lsu, &in_flight);
    count_to_write(sm, &in_flight);
    for (uint32_t w = 0; w < sm->warps; w++) {
        const Warp *warp = &sm->warp[w];
        if (warp->reads_in_flight != in_flight.reads[w] || warp->writes_in_flight != in_flight.writes[w] ||
            warp->atomics_in_flight != in_flight.atomics[w] ||
            warp->in_flight != in_flight.in_lsu[w] + in_flight.to_write[w])
            panic("%s: warp %u has %u instructions in flight, of which %u read and %u write memory, some "
                  "both; %u "
                  "write back by themselves, of %u in the load/store unit %u read and %u write",
                  sm->obj.path, w, warp->in_flight, warp->reads_in_flight, warp->writes_in_flight,
                  in_flight.to_write[w], in_flight.in_lsu[w], in_flight.reads[w], in_flight.writes[w]);
    }
    for (uint32_t i = 0; i < UNIT_CLASSES; i++)
        by_unit += sm->unit_instructions[i];
    if (by_unit != sm->warp_instructions)
        panic("%s: the units had %lu of %lu instructions", sm->obj.path, by_unit, sm->warp_instructions);
    if (!async_adds_up(sm))
        panic("%s: the load/store unit has other asynchronous copies than are counted", sm->obj.path);
    if (sm->payloads_in_use != (uint32_t)__builtin_popcountll(sm->payload_used) || in_flight.doubled ||
        sm->payload_used != in_flight.payloads)
        panic("%s: %u atomic payloads in use, but 0x%lx are taken, and atomics in flight have 0x%lx",
              sm->obj.path, sm->payloads_in_use, sm->payload_used, in_flight.payloads);
}

static void check_ctas(const Sm *sm) {
    uint64_t came = link_received(sm->dispatch.receive), reported = link_sent(sm->dispatch.send);
    uint32_t to_report = (uint32_t)__builtin_popcount(sm->finished_ctas);
    if (sm->ctas_started != came + sm->forwarded || sm->ctas_started != sm->ctas_finished + sm->resident ||
        sm->ctas_finished != reported + to_report)
        panic("%s: %lu CTAs came, and %lu in mid-flight, %lu started, %lu finished; %u are resident, %lu "
              "were reported, %u are to be",
              sm->obj.path, came, sm->forwarded, sm->ctas_started, sm->ctas_finished, sm->resident, reported,
              to_report);
}

static void check_fetches(const Sm *sm) {
    uint64_t lines = instruction_cache_under_way(&sm->code);
    if (!sm->fetch.send) return;
    if (sm->fetch_misses != link_sent(sm->fetch.send) ||
        sm->fetch_misses != link_received(sm->fetch.receive) + lines)
        panic("%s: %lu misses of the instruction cache, %lu lines asked for, %lu came, %lu in flight",
              sm->obj.path, sm->fetch_misses, link_sent(sm->fetch.send), link_received(sm->fetch.receive),
              lines);
}

uint32_t sm_answer_kinds(const SimObject *object) {
    (void)object;
    return MAX_FETCH_MISSES;
}

uint32_t sm_answer_kind(const SimObject *object, const void *message) {
    const MemMessage *m = message;
    bool is_line = m->token < MAX_FETCH_MISSES &&
                   ((const Sm *)object)->code.miss[m->token].line == m->address;
    return is_line ? m->token : NO_ANSWER_AWAITED;
}

void sm_answers_awaited(const SimObject *object, uint32_t *awaited) {
    for (uint32_t i = 0; i < MAX_FETCH_MISSES; i++)
        awaited[i] += ((const Sm *)object)->code.miss[i].waiting != 0;
}

void sm_check(const SimObject *object, bool idle) {
    const Sm *sm = (const Sm *)object;
    uint64_t slots = 0;
    check_instructions(sm);
    check_ctas(sm);
    check_fetches(sm);
    gates_check(&sm->gates, idle);
    for (uint32_t i = 0; i < SLOT_CAUSES; i++)
        slots += sm->slots[i];
    if (slots != sm->accounted * sm->schedulers)
        panic("%s: %lu scheduler slots have a cause, %lu cycles of %u schedulers passed", object->path, slots,
              sm->accounted, sm->schedulers);
    if (sm->slots[SLOT_ISSUED] != sm->warp_instructions)
        panic("%s: %lu slots issued %lu warp instructions", object->path, sm->slots[SLOT_ISSUED],
              sm->warp_instructions);
    if (idle && sm->ending)
        panic("%s: CTA slots 0x%x wait for a gate although the machine is idle", object->path, sm->ending);
    if (idle && (sm->live || sm->write_backs.results || sm->write_backs.laneless ||
                 sm->ctas_started != sm->ctas_finished))
        panic("%s: warps 0x%lx live and %u write-backs outstanding although the machine is idle",
              object->path, sm->live, sm->write_backs.results + sm->write_backs.laneless);
}

/* Which barrier, and who has come to it: of all warps of the CTA that live, or of the threads that it is for. */
static const char *barrier_reason(const Sm *sm, uint32_t w, char text[REASON_BYTES]) {
    const Cta *cta = &sm->cta[sm->warp[w].cta_slot];
    uint32_t b = 0;
    while (b < NAMED_BARRIERS && !(cta->barrier[b].waiting & warp_bit(w)))
        b++;
    if (b == NAMED_BARRIERS) return "waits at a barrier";
    const Barrier *barrier = &cta->barrier[b];
    bool counts = barrier->threads > 0;
    snprintf(text, REASON_BYTES, "waits at barrier %u, to which %u of %u %s have come", b,
             counts ? barrier->present : (uint32_t)__builtin_popcountll(barrier->waiting),
             counts ? barrier->threads : (uint32_t)__builtin_popcountll(cta->warps & sm->live),
             counts ? "threads" : "warps");
    return text;
}

static const char *reason(const Sm *sm, uint32_t w, char text[REASON_BYTES]) {
    WarpSet bit = warp_bit(w);
    bool at_gate = (sm->gates.parked | ~sm->waiting) & bit;
    const char *of_gate = at_gate ? gates_reason(&sm->gates, w, text) : NULL;
    if (of_gate) return of_gate;
    if (sm->fencing & bit) return "waits at a fence for its writes";
    if (sm->sleeping & bit) return "sleeps";
    if (sm->copying & bit) return "waits for its asynchronous copies";
    if (sm->waiting & bit) return barrier_reason(sm, w, text);
    if (sm->blocked & sm->valid & sm->loading & bit) return "waits for a load or an atomic";
    if (sm->blocked & sm->valid & bit) return "waits for its operands";
    if (!(sm->valid & bit)) return "waits for its instructions";
    if (sm->head_memory & bit) return "waits for the memory pipeline";
    return "is ready";
}

void sm_report(const SimObject *object, FILE *out) {
    const Sm *sm = (const Sm *)object;
    char text[REASON_BYTES], place[FAULT_PLACE_BYTES], loop[2 * FAULT_PLACE_BYTES];
    for (WarpSet live = sm->live; live; live &= live - 1) {
        uint32_t w = first_warp(live), pc = sm->warp[w].simt.top.pc;
        const Cta *cta = &sm->cta[sm->warp[w].cta_slot];
        snprintf(place, sizeof place, "the end of the kernel");
        if (pc < sm->place[w].inst_count)
            fault_place(sm_kernel_of(sm, w)->kernel, sm_inst(sm, w, pc), place, sizeof place);
        spinning_describe(sm, w, loop, sizeof loop);
        fprintf(out,
                "%s: warp %u of CTA (%u, %u, %u), lanes 0x%08x at %s, %s%s%s; %u instructions in flight\n",
                object->path, w, cta->ctaid[0], cta->ctaid[1], cta->ctaid[2], sm->warp[w].simt.top.lanes,
                place, reason(sm, w, text), loop[0] ? ", " : "", loop, sm->warp[w].in_flight);
    }
}
