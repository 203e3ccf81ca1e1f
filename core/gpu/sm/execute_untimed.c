/* What an instruction does without timing. */
#include "core/gpu/sm/execute.h"
#include "core/gpu/sm/memcheck.h"
#include "core/gpu/sm/memory_op.h"

/* Of an access of all lanes to one address of the parameters or constants: its number, from 1. Else 0. In
 * Sm.untimed_repeats it is that of the last access, if another one there would change no cache. */
static inline uint64_t segment_of_constant(const Inst *inst, const ExecContext *context) {
    bool is_one = space_is_constant(inst->space) && context->lowest == context->highest;
    return is_one ? context->lowest / CONSTANT_SEGMENT + 1 : 0;
}

/* The caches see the access. */
static inline void warm_caches(Sm *sm, uint32_t w, const Inst *inst) {
    MemoryOp op;
    sm->untimed_miss = 0;
    if (!sm->context->active || sm->context->space == SPACE_SHARED) return;
    memory_op_fill(sm, w, inst, sm_inst_index(sm, w, inst), sm->context->space, 0, 0, &op);
    UntimedAnswer answer = link_send_untimed(sm->lsu.send, &op);
    sm->untimed_miss = answer == UNTIMED_MISSES;
    sm->untimed_repeats = answer == UNTIMED_REPEATS ? segment_of_constant(inst, sm->context) : 0;
}

void sm_prepare_turn(Sm *sm, uint32_t w) {
    prepare_registers(sm, &sm->place[w], 0);
    prepare_memory(sm, &sm->place[w]);
}

/* Apart from what only timing looks at: its line in the host's cache is the handler's business. */
static inline void execute_plain(const PlainInst *plain, const Inst *inst, ExecContext *context,
                                 uint32_t lanes) {
    uint32_t active = lanes & (context->predicates[plain->guard] ^ plain->guard_flips);
    *context->known_windows &= plain->keeps_windows;
    context->active = active;
    if (active || __builtin_expect(inst->flags & INST_RECORDED, 0)) plain->exec(inst, context);
}

/* Who executes it next, the next warp mostly, accesses what is as far from here as this is from the access before. The
 * host's memory has the time of the instructions between to bring it. */
static inline void ask_for_next_access(PlainInst *plain, const ExecContext *context) {
    uintptr_t ahead = (uintptr_t)context->view->base + (context->lowest - plain->lowest);
    if (context->space != SPACE_GLOBAL) return;
    __builtin_prefetch((const void *)(ahead + context->lowest));
    __builtin_prefetch((const void *)(ahead + context->highest));
    plain->lowest = context->lowest;
}

/* All see at once what it writes, and so do the caches. A function of its own: beside it the host has too few registers for
 * what the other steps need. */
static __attribute__((noinline)) void execute_access(Sm *sm, uint32_t w, PlainInst *plain, const Inst *inst,
                                                     uint32_t lanes) {
    ExecContext *context = sm->context;
    context->space = inst->space;
    execute_plain(plain, inst, context, lanes);
    ask_for_next_access(plain, context);
    if (sm->view->log_count) view_commit(sm->view);
    if (sm->warms_caches && !context->fault) warm_caches(sm, w, inst);
}

/* Kernels begin with one parameter after the other, and most lie in the same segment. */
static inline bool repeats(const Sm *sm, const Inst *inst) {
    return segment_of_constant(inst, sm->context) == sm->untimed_repeats && sm->untimed_repeats;
}

static __attribute__((noinline)) void execute_constant(Sm *sm, uint32_t w, const PlainInst *plain,
                                                       const Inst *inst, uint32_t lanes) {
    ExecContext *context = sm->context;
    context->space = inst->space;
    execute_plain(plain, inst, context, lanes);
    if (sm->warms_caches && !repeats(sm, inst) && !context->fault) warm_caches(sm, w, inst);
}

static inline uint32_t lesser(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

/* The bare instructions that stand here, at most `most`. Returns how many have executed: the last one may have a fault. */
static inline uint32_t execute_bare(const PlainInst *at, uint32_t most, const Inst *inst,
                                    ExecContext *context, uint32_t lanes) {
    const PlainInst *const first = at;
    context->space = SPACE_SHARED;
    context->active = lanes;
    context->unwatched_end = (uintptr_t)(at + lesser(at->bare, most));
    do {
        at->exec(inst++, context);
        debug_ensure(context->active == lanes || context->fault);
    } while ((uintptr_t)++at < context->unwatched_end);
    return (uint32_t)(at - first);
}

static inline void branch_untimed(SimtStack *simt, SimtWaiting *waiting, const PlainInst *at,
                                  const Inst *inst, const ExecContext *context) {
    uint32_t next = simt->top.pc + 1, lanes = simt->top.lanes;
    uint32_t taken = lanes & (context->predicates[at->guard] ^ at->guard_flips);
    if (taken == 0 || taken == lanes)
        simt_advance(simt, waiting, taken ? inst->target : next);
    else
        simt_branch(simt, waiting, taken, inst->target, next, inst->reconverge);
}

uint32_t sm_execute_plain(Sm *sm, uint32_t w, PlainInst *plain, uint32_t most, uint64_t clock, TurnEnd end) {
    SimtStack *const simt = &sm->warp[w].simt;
    SimtWaiting *const waiting = &sm->waiting_lanes[w];
    ExecContext *const context = sm->context;
    const Inst *const insts = sm_inst(sm, w, 0);
    const bool ends_not = end == TURN_ENDS_NOT;
    uint32_t done = 0;
    for (bool goes_on = true; goes_on && done < most;) {
        uint32_t pc = simt->top.pc, executed = 1;
        PlainInst *at = &plain[pc];
        const Inst *inst = &insts[pc];
        goes_on = ends_not;
        if (at->step == STEP_BARE) {
            uint32_t together = lesser(simt->top.reconverge - pc, most - done);
            executed = execute_bare(at, together, inst, context, simt->top.lanes);
        } else if (at->step == STEP_BRANCH) {
            branch_untimed(simt, waiting, at, inst, context);
            done++;
            continue;
        } else if (at->step == STEP_GUARDED || (at->step == STEP_TOGETHER && simt->depth == 1)) {
            context->space = SPACE_SHARED;
            context->clock = clock + done;
            execute_plain(at, inst, context, simt->top.lanes);
        } else if (at->step == STEP_ACCESS) {
            execute_access(sm, w, at, inst, simt->top.lanes);
        } else if (at->step == STEP_CONSTANT) {
            execute_constant(sm, w, at, inst, simt->top.lanes);
        } else {
            break;
        }
        done += executed;
        if (__builtin_expect(context->fault != FAULT_NONE, 0)) {
            sm_meet_fault(sm, w, &insts[pc + executed - 1]);
            most = done;
        }
        goes_on |= simt_advance(simt, waiting, pc + executed) & !at->loads_from_memory;
    }
    return done;
}

/* An atomic on global memory is performed here, where its L2 slice would. */
static void execute_memory_untimed(Sm *sm, uint32_t w, const Inst *inst) {
    ExecContext *context = sm->context;
    context->space = inst->space;
    context->atomic = &sm->payload[0];
    sm->place[w].known_windows &= (uint8_t) ~(inst->windows & -(inst->space != SPACE_SHARED));
    if (sm->memcheck) memcheck_access(sm, w, inst);
    if (context->active || inst->flags & INST_RECORDED) inst->exec(inst, context);
    if (context->fault) sm_meet_fault(sm, w, inst);
    bool is_global = (inst->kind == INST_ATOMIC) & (inst->space != SPACE_SHARED) && context->active &&
                     context->space == SPACE_GLOBAL;
    if (is_global) context->active = context->atomic->mask;
    if (sm->warms_caches) warm_caches(sm, w, inst);
    if (!is_global) return;
    ensure(atomic_perform(context->atomic, context->atomic->mask, sm->view));
    atomic_write_back(inst, context->atomic, context->atomic->mask, sm_registers(sm, w));
}

void sm_execute_untimed(Sm *sm, uint32_t w) {
    uint32_t pc = sm->warp[w].simt.top.pc;
    const Inst *inst = sm_inst(sm, w, pc);
    sm->context->active = sm_active_lanes(sm, w, inst);
    if (sm->timing[inst->timing].unit == UNIT_MEM) {
        execute_memory_untimed(sm, w, inst);
        simt_advance(&sm->warp[w].simt, &sm->waiting_lanes[w], pc + 1);
    } else if (inst->kind == INST_ALU) {
        execute_arithmetic(sm, w, &sm->warp[w], &sm->place[w], inst, pc);
    } else {
        sm_execute_control(sm, w, inst, pc);
        if (system_calls_wait(&sm->system)) sm_perform_system_calls(sm);
        if (inst->kind == INST_EXIT) sm_leave_if_done(sm, w);
    }
}
