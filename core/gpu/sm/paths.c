#include "core/gpu/sm/paths.h"

#include "core/gpu/sm/spinning.h"

/* Turns of a loop that waits. Another warp may hold the lock, or set the flag; lanes that have had to yield once wait for
 * each other. */
enum { TURNS_AT_FIRST = 64, TURNS_LATER = 4 };

/* Where paths take turns, each has had one after so many yields. */
static bool yield(Sm *sm, uint32_t w) {
    Paths *paths = &sm->paths[w];
    SimtStack *stack = &sm->warp[w].simt;
    SimtWaiting *waiting = &sm->waiting_lanes[w];
    bool had_turns = (paths->yielded + 1) % simt_paths_beside(stack, waiting) == 0;
    bool yields = simt_yield(stack, waiting, had_turns);
    paths->turns = 0;
    paths->yielded += yields;
    if (yields) spinning_end(sm, w);
    return yields;
}

void paths_count_turn(Sm *sm, uint32_t w, uint32_t lanes, uint32_t taken) {
    Paths *paths = &sm->paths[w];
    bool goes_on = taken == lanes && lanes == paths->lanes;
    paths->lanes = taken;
    paths->turns = goes_on ? paths->turns + 1 : 1;
    if (paths->turns >= (paths->yielded ? TURNS_LATER : TURNS_AT_FIRST)) yield(sm, w);
}

/* The PTX ISA: a sleep may be as short as nothing. */
bool paths_sleep(Sm *sm, uint32_t w) {
    Paths *paths = &sm->paths[w];
    const SimtStack *stack = &sm->warp[w].simt;
    bool waits = paths->yielded || (paths->turns && paths->lanes == stack->top.lanes);
    if (!waits || simt_lanes(stack, &sm->waiting_lanes[w]) == stack->top.lanes) return true;
    paths->lanes = stack->top.lanes;
    paths->turns = TURNS_AT_FIRST;
    return false;
}

const uint32_t *masks_of_lanes(const Sm *sm, const Inst *inst) {
    return operand_lanes(sm->context, inst->src[inst->src_count - 1]);
}

/* By those that execute it: tiles of a warp may do so together, and each names its own. */
static uint32_t lanes_named(const Sm *sm, const Inst *inst) {
    const ExecContext *context = sm->context;
    const uint32_t *masks = masks_of_lanes(sm, inst);
    uint32_t named = 0;
    for (uint32_t lane = 0; lane < WARP_LANES; lane++)
        named |= masks[lane] & -(context->active >> lane & 1);
    return named;
}

/* Who stands at such an instruction, and cannot be joined, is not waited for once all that are missing do: they never
 * come. */
bool paths_meet_in(Sm *sm, uint32_t w, const Inst *inst) {
    SimtStack *stack = &sm->warp[w].simt;
    SimtWaiting *waiting = &sm->waiting_lanes[w];
    Paths *paths = &sm->paths[w];
    if (!sm->context->active) return true;
    simt_join(stack, waiting);
    sm->context->active = sm_active_lanes(sm, w, inst);
    uint32_t together = inst->kind == INST_CONVERGENT ? lanes_named(sm, inst) : ~0u;
    uint32_t missing = together & simt_lanes(stack, waiting) & ~stack->top.lanes;
    paths->held |= stack->top.lanes;
    if (missing & ~paths->held && yield(sm, w)) return false;
    paths->held &= ~stack->top.lanes;
    return true;
}

bool paths_meet_named_in(Sm *sm, uint32_t w, const Inst *inst) {
    bool all_came = (lanes_named(sm, inst) & ~sm->warp[w].simt.top.lanes) == 0;
    return (all_came && !sm->paths[w].yielded) || paths_meet_in(sm, w, inst);
}
