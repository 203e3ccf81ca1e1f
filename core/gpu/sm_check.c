/* The conservation laws of an SM, and what its warps wait for when the machine hangs. */
#include "core/gpu/sm.h"

/* Every instruction that issued writes back once: through the wheel, or when the LSU has done it. */
static void check_instructions(const Sm *sm) {
    uint64_t in_flight = 0, in_lsu = 0, by_unit = 0, sent = sm->lsu.send->pushed,
             done = sm->lsu.receive->popped;
    for (uint32_t w = 0; w < sm->warps; w++) {
        in_flight += sm->warp[w].in_flight;
        in_lsu += (uint64_t)sm->warp[w].loads_in_flight + sm->warp[w].writes_in_flight;
    }
    for (uint32_t i = 0; i < UNIT_CLASSES; i++)
        by_unit += sm->unit_instructions[i];
    if (by_unit != sm->warp_instructions)
        panic("%s: the units had %lu of %lu instructions", sm->obj.path, by_unit, sm->warp_instructions);
    if (sent - done != in_lsu || in_flight != sm->wheel.count + in_lsu)
        panic("%s: %lu memory instructions were sent and %lu are done; the warps have %lu, and %lu "
              "instructions "
              "in flight, of which %u in the wheel",
              sm->obj.path, sent, done, in_lsu, in_flight, sm->wheel.count);
    if (sm->payloads_in_use != (uint32_t)__builtin_popcountll(sm->payload_used))
        panic("%s: %u atomic payloads in use, but 0x%lx are taken", sm->obj.path, sm->payloads_in_use,
              sm->payload_used);
}

static void check_ctas(const Sm *sm) {
    uint64_t came = sm->dispatch.receive->popped, reported = sm->dispatch.send->pushed;
    uint32_t to_report = (uint32_t)__builtin_popcount(sm->finished_ctas);
    if (sm->ctas_started != came || sm->ctas_started != sm->ctas_finished + sm->resident ||
        sm->ctas_finished != reported + to_report)
        panic(
            "%s: %lu CTAs came, %lu started, %lu finished; %u are resident, %lu were reported, %u are to be",
            sm->obj.path, came, sm->ctas_started, sm->ctas_finished, sm->resident, reported, to_report);
}

static void check_fetches(const Sm *sm) {
    uint64_t lines = instruction_cache_under_way(&sm->code);
    if (!sm->fetch.send) return;
    if (sm->fetch_misses != sm->fetch.send->pushed || sm->fetch_misses != sm->fetch.receive->popped + lines)
        panic("%s: %lu misses of the instruction cache, %lu lines asked for, %lu came, %lu under way",
              sm->obj.path, sm->fetch_misses, sm->fetch.send->pushed, sm->fetch.receive->popped, lines);
}

void sm_check(const SimObject *object, bool idle) {
    const Sm *sm = (const Sm *)object;
    uint64_t slots = 0;
    check_instructions(sm);
    check_ctas(sm);
    check_fetches(sm);
    sm_dma_check(sm, idle);
    for (uint32_t i = 0; i < SLOT_CAUSES; i++)
        slots += sm->slots[i];
    if (slots != sm->accounted * sm->schedulers)
        panic("%s: %lu scheduler slots have a cause, %lu cycles of %u schedulers passed", object->path, slots,
              sm->accounted, sm->schedulers);
    if (sm->slots[SLOT_ISSUED] != sm->warp_instructions)
        panic("%s: %lu slots issued %lu warp instructions", object->path, sm->slots[SLOT_ISSUED],
              sm->warp_instructions);
    if (idle && (sm->live || sm->wheel.count || sm->ctas_started != sm->ctas_finished))
        panic("%s: warps 0x%lx live and %u write-backs outstanding although the machine is idle",
              object->path, sm->live, sm->wheel.count);
}

enum { REASON_BYTES = 256 };

static const char *not_allowed(const Sm *sm, const char *knob, char text[REASON_BYTES]) {
    const char *policies = sm->obj.sim->policies;
    snprintf(text, REASON_BYTES, "is not allowed to issue by %s%s: %s", policies ? "policy " : "the config",
             policies ? policies : "", knob);
    return text;
}

static const char *reason(const Sm *sm, uint32_t w, char text[REASON_BYTES]) {
    WarpSet bit = warp_bit(w);
    static const char *const transfers[] = {"waits for DMA buffer 0", "waits for DMA buffer 1",
                                            "waits for DMA buffer 2", "waits for DMA buffer 3"};
    if (sm->dma_parked & bit) return transfers[sm->dma_warp[w].waits_for % DMA_BUFFERS];
    if (sm->fencing & bit) return "waits at a fence for its writes";
    if (sm->waiting & bit) return "waits at a barrier";
    if (!(sm->may_issue & bit)) return not_allowed(sm, "may_issue", text);
    if (!(sm->allowed & bit)) return not_allowed(sm, "warp_limit", text);
    if (sm->blocked & sm->valid & sm->loading & bit) return "waits for a load";
    if (sm->blocked & sm->valid & bit) return "waits for its operands";
    if (!(sm->valid & bit)) return "waits for its instructions";
    if (!sm_policy_allows(sm, w))
        return not_allowed(sm, sm->may_issue_memory & bit ? "may_load" : "may_issue_memory", text);
    if (sm->head_memory & bit) return "waits for the memory pipeline";
    return "is ready";
}

void sm_report(const SimObject *object, FILE *out) {
    const Sm *sm = (const Sm *)object;
    char text[REASON_BYTES];
    for (WarpSet live = sm->live; live; live &= live - 1) {
        uint32_t w = first_warp(live), pc = sm->warp[w].simt.top.pc;
        const Cta *cta = &sm->cta[sm->warp[w].cta_slot];
        fprintf(
            out,
            "%s: warp %u of CTA (%u, %u, %u), lanes 0x%08x at PTX line %u, %s; %u instructions in flight\n",
            object->path, w, cta->ctaid[0], cta->ctaid[1], cta->ctaid[2], sm->warp[w].simt.top.lanes,
            pc < sm->kernel.inst_count ? sm_inst(sm, pc)->line : 0, reason(sm, w, text),
            sm->warp[w].in_flight);
    }
}
