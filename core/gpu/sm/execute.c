/* What an issued instruction does: it executes functionally at once; its timing, and what others may know of
 * it, follows. */
#include "core/gpu/sm/execute.h"
#include "core/gpu/sm/async_copies.h"
#include "core/gpu/sm/barrier.h"
#include "core/gpu/sm/fault.h"
#include "core/gpu/sm/memcheck.h"
#include "core/gpu/sm/memory_op.h"
#include "core/gpu/sm/paths.h"
#include "core/gpu/sm/scoreboard.h"
#include "core/gpu/sm/spinning.h"
#include "core/gpu/sm/structures/collector_issue.h"

#include <string.h>

/* Of a load or an atomic whose answer comes from beyond the SM. */
static void set_load_pending(Sm *sm, uint32_t w, const Inst *inst) {
    set_first_pending(sm->load_pending[w], inst);
    if (__builtin_expect(inst->flags & INST_WRITES_MORE_NAMES, 0))
        set_others_pending(sm->load_pending[w], inst);
}

static void clear_load_pending(Sm *sm, uint32_t w, const Inst *inst) {
    clear_first_pending(sm->load_pending[w], inst);
    if (__builtin_expect(inst->flags & INST_WRITES_MORE_NAMES, 0))
        clear_others_pending(sm->load_pending[w], inst);
}

/* The instruction's load is complete. */
COLD static void tell_if_answered(Sm *sm, uint32_t w, const Inst *inst) {
    uint64_t pending = 0;
    for (uint32_t i = 0; i < SCOREBOARD_NAMES / 64; i++)
        pending |= sm->load_pending[w][i];
    if (inst->out_name_count && !pending) event_emit(&sm->obj, SM_LOADS_ANSWERED, w);
}

/* --- Memory ---------------------------------------------------------------------------------- */

/* An access to shared memory, past the link, where the times of all before it are known. */
static inline __attribute__((always_inline)) bool issue_ahead(Sm *sm, uint32_t w, const Inst *inst,
                                                              uint32_t pc, uint64_t begins, uint64_t now) {
    if (!fixed_is_open(sm->fixed, now)) return false;
    uint32_t cycles = conflict_degree(sm, inst, true);
    MemoryDone *done = fixed_issue(sm->fixed, inst->kind, cycles, begins * sm->obj.period, now);
    done->inst = pc;
    done->payload = 0;
    done->lanes = sm->context->active;
    done->warp = (uint16_t)w;
    done->kind = inst->kind;
    done->space = SPACE_SHARED;
    return true;
}

static inline __attribute__((always_inline)) void send_to_lsu(Sm *sm, uint32_t w, const Inst *inst,
                                                              uint32_t pc, uint32_t space, uint64_t begins,
                                                              uint32_t payload, uint64_t now) {
    memory_op_fill(sm, w, inst, pc, space, begins, payload, link_send_checked(sm->lsu.send, now));
}

static uint32_t take_payload(Sm *sm) {
    uint32_t slot = (uint32_t)__builtin_ctzll(~sm->payload_used);
    sm->payload_used |= 1ull << slot;
    sm->payloads_in_use++;
    sm->context->atomic = &sm->payload[slot];
    return slot;
}

static void give_back_payload(Sm *sm, uint32_t slot) {
    sm->payload_used &= ~(1ull << slot);
    sm->payloads_in_use--;
}

static inline void memory_begins(Sm *sm, uint32_t w, Warp *warp, uint8_t kind, uint32_t space) {
    if (kind != INST_STORE) {
        warp->reads_in_flight++;
        sm->loading |= warp_bit(w);
        if (kind == INST_LOAD) return;
    }
    warp->writes_in_flight++;
    if (kind == INST_ATOMIC && space == SPACE_GLOBAL) warp->atomics_in_flight++;
}

static inline void memory_ends(Sm *sm, uint32_t w, Warp *warp, uint8_t kind, uint32_t space) {
    if (kind != INST_STORE) {
        sm->loading &= ~((WarpSet)(--warp->reads_in_flight == 0) << w);
        if (kind == INST_LOAD) return;
    }
    warp->writes_in_flight--;
    if (kind == INST_ATOMIC && space == SPACE_GLOBAL) warp->atomics_in_flight--;
}

static bool is_async_copy(const Inst *inst) {
    return __builtin_expect(inst->kind == INST_LOAD && inst->detail & DETAIL_ASYNC_COPY, 0);
}

static bool is_beyond_sm(const Sm *sm, uint32_t space) {
    return sm->spaces_beyond >> space & 1;
}

/* `shared`: it is an access to shared memory, of which much need not be asked. */
static inline __attribute__((always_inline)) void access_memory(Sm *sm, uint32_t w, Warp *warp,
                                                                WarpPlace *place, const Inst *inst,
                                                                uint32_t pc, bool shared, uint64_t begins,
                                                                uint64_t now) {
    ExecContext *context = sm->context;
    bool global_atomic = !shared && inst->kind == INST_ATOMIC;
    uint32_t payload = global_atomic ? take_payload(sm) : 0;
    context->space = inst->space;
    if (shared) {
        prepare_shared(sm, place);
    } else {
        prepare_memory(sm, place);
        place->known_windows &= (uint8_t)~inst->windows;
    }
    if (__builtin_expect(sm->memcheck != NULL, 0)) memcheck_access(sm, w, inst);
    if (context->active) inst->exec(inst, context);
    if (context->fault) sm_meet_fault(sm, w, inst);
    if (global_atomic && context->active && context->space == SPACE_GLOBAL)
        context->active = sm->payload[payload].mask; /* lanes on shared memory are done already */
    else if (global_atomic)
        give_back_payload(sm, payload);
    if (!context->active) { /* nothing to access: it only passes through */
        if (inst->flags & INST_RECORDED) inst->exec(inst, context);
        write_backs_add_laneless(&sm->write_backs, begins + 2, writer_of(pc, w));
        return;
    }
    uint32_t space = shared ? SPACE_SHARED : context->space;
    memory_begins(sm, w, warp, inst->kind, space);
    if (!shared) {
        if (sm->view->log_count) object_request_commit(&sm->obj);
        if (is_beyond_sm(sm, space)) set_load_pending(sm, w, inst); /* stores write no name */
        if (is_async_copy(inst)) payload = async_begin(sm, w);
    }
    if (shared && issue_ahead(sm, w, inst, pc, begins, now)) return;
    send_to_lsu(sm, w, inst, pc, space, begins, payload, now);
}

static inline void execute_memory(Sm *sm, uint32_t w, Warp *warp, WarpPlace *place, const Inst *inst,
                                  uint32_t pc, uint64_t cycle, uint64_t now) {
    uint64_t begins = collector_issue_memory(&sm->collector, &sm->shape, inst, w, cycle);
    if (inst->space == SPACE_SHARED)
        access_memory(sm, w, warp, place, inst, pc, true, begins, now);
    else
        access_memory(sm, w, warp, place, inst, pc, false, begins, now);
}

static inline void end_fence(Sm *sm, uint32_t w, const Warp *warp) {
    if (sm->fencing >> w & 1 && !warp->writes_in_flight) {
        sm->fencing &= ~warp_bit(w);
        sm->waiting &= ~warp_bit(w);
    }
}

void sm_complete_fixed(Sm *sm, const MemoryDone *done) {
    uint32_t w = done->warp;
    Warp *warp = &sm->warp[w];
    memory_ends(sm, w, warp, done->kind, done->space);
    if (done->kind != INST_LOAD) end_fence(sm, w, warp);
    sm_complete(sm, w, sm_inst(sm, w, done->inst));
}

void sm_complete_memory(Sm *sm, const MemoryDone *done) {
    uint32_t w = done->warp;
    const Inst *inst = sm_inst(sm, w, done->inst);
    if (done->kind == INST_ATOMIC && done->space == SPACE_GLOBAL) {
        atomic_write_back(inst, &sm->payload[done->payload], done->lanes, sm_registers(sm, w));
        give_back_payload(sm, done->payload);
    }
    memory_ends(sm, w, &sm->warp[w], done->kind, done->space);
    if (is_beyond_sm(sm, done->space)) clear_load_pending(sm, w, inst);
    if (__builtin_expect(object_has_subscriber(&sm->obj, SM_LOADS_ANSWERED), 0))
        tell_if_answered(sm, w, inst);
    if (is_async_copy(inst)) async_end(sm, w, done->payload);
    end_fence(sm, w, &sm->warp[w]);
    sm_complete(sm, w, inst);
}

/* --- Control flow ---------------------------------------------------------------------------- */

static void execute_branch(Sm *sm, uint32_t w, const Inst *inst, uint32_t taken, uint32_t pc) {
    uint32_t lanes = sm->warp[w].simt.top.lanes;
    sm->branches++;
    if (taken && taken != lanes) sm->divergent_branches++;
    simt_branch(&sm->warp[w].simt, &sm->waiting_lanes[w], taken, inst->target, pc + 1, inst->reconverge);
}

/* Of loops that look again and again at what others may change. */
static void execute_branch_of_loop(Sm *sm, uint32_t w, const Inst *inst, uint32_t taken, uint32_t pc) {
    uint32_t lanes = sm->warp[w].simt.top.lanes;
    execute_branch(sm, w, inst, taken, pc);
    if (inst->kind == INST_LEAVING_BRANCH) {
        if (taken) spinning_end(sm, w);
        return;
    }
    spinning_count_turn(sm, w, inst, pc, lanes, taken);
    bool counts = taken ? inst->kind != INST_LOOKING_BRANCH : inst->kind == INST_WAITING_BRANCH;
    if (counts) paths_count_turn(sm, w, lanes, taken);
}

void sm_leave_if_done(Sm *sm, uint32_t w) {
    if (sm->warp[w].simt.depth) return;
    sm->live &= ~warp_bit(w);
    sm->sched[w % sm->schedulers].warps &= ~warp_bit(w);
    spinning_end(sm, w);
    sm_check_barriers(sm, &sm->cta[sm->warp[w].cta_slot]);
    sm_warps_changed(sm);
}

void sm_exit_warp(Sm *sm, uint32_t w) {
    simt_exit(&sm->warp[w].simt, &sm->waiting_lanes[w], ~0u, sm->warp[w].simt.top.pc);
    sm_leave_if_done(sm, w);
}

static void execute_fence(Sm *sm, uint32_t w) {
    if (sm->memcheck) memcheck_fence(sm, w);
    if (!sm->warp[w].writes_in_flight) return;
    sm->fencing |= warp_bit(w);
    sm->waiting |= warp_bit(w);
}

/* --- Calls of the device's runtime ----------------------------------------------------------- */

static COLD void execute_system(Sm *sm, uint32_t w, const Inst *inst) {
    ExecContext *context = sm->context;
    uint32_t requests = sm->system.request_count;
    prepare_memory(sm, &sm->place[w]);
    sm->place[w].known_windows &= (uint8_t)~inst->windows;
    if (context->active) inst->exec(inst, context);
    if (context->fault) sm_meet_fault(sm, w, inst);
    if (sm->system.request_count > requests) {
        sm->system.requests[requests].warp = w;
        sm->system.requests[requests].inst = sm_inst_index(sm, w, inst);
    }
    if (system_calls_wait(&sm->system)) object_request_commit(&sm->obj);
}

/* The warp's registers get what malloc answers: until then the instruction has not written back. */
static void perform_heap_request(Sm *sm, const HeapRequest *request) {
    const RunningKernel *running = sm->running;
    for (uint32_t lanes = request->mask; lanes; lanes &= lanes - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(lanes);
        if (request->frees) {
            heap_free(sm->view, running->heap_start, running->heap_bytes, request->value[lane]);
            if (sm->memcheck) memcheck_free_block(sm, request, lane);
            continue;
        }
        uint64_t address = heap_alloc(sm->view, running->heap_start, running->heap_bytes,
                                      request->value[lane]);
        if (sm->memcheck && address) memcheck_malloc(sm, address, request->value[lane]);
        memcpy(sm_registers(sm, request->warp) + request->dst + lane * sizeof address, &address,
               sizeof address);
    }
}

static PrintedText *printed_of(const void *context, uint32_t kernel) {
    return ((const Sm *)context)->launched[kernel]->printed;
}

void sm_perform_system_calls(Sm *sm) {
    SystemCalls *calls = &sm->system;
    system_print(calls, printed_of, sm);
    for (uint32_t i = 0; i < calls->request_count; i++)
        perform_heap_request(sm, &calls->requests[i]);
    calls->request_count = 0;
    view_commit(sm->view);
}

/* Answers of the device's runtime come at the next boundary. */
static COLD uint32_t system_latency(const Sm *sm, uint32_t latency) {
    uint64_t boundary = sm->obj.sim->quantum / sm->obj.period + 1;
    return latency < boundary ? (uint32_t)boundary : latency;
}

/* What an INST_ASYNC_WAIT waits for, see async_wait(). */
static uint32_t awaited(const ExecContext *context, const Inst *inst) {
    if (inst->detail & DETAIL_BULK) return ASYNC_ROOM;
    if (!inst->src_count) return ASYNC_ALL;
    uint32_t groups = *(const uint32_t *)operand_lanes(context, inst->src[0]);
    return groups < ASYNC_GROUPS ? groups : ASYNC_GROUPS;
}

static COLD void execute_async_arrive(Sm *sm, uint32_t w, const Inst *inst) {
    ExecContext *context = sm->context;
    prepare_memory(sm, &sm->place[w]);
    if (context->active) inst->exec(inst, context);
    if (context->fault) sm_meet_fault(sm, w, inst);
    if (!context->active) return;
    async_arrive(sm, w, inst->detail & DETAIL_BULK ? exec_bulk_bytes(inst, context) : 0);
}

/* --- Recorded kernels ------------------------------------------------------------------------ */

/* Also where no lane executes it. All lanes of the warp go on together: which of them do something, its guard says. */
static void follow_trace(Sm *sm, uint32_t w, const Inst *inst) {
    inst->exec(inst, sm->context);
    simt_advance(&sm->warp[w].simt, &sm->waiting_lanes[w], sm->context->next);
}

static void execute_traced(Sm *sm, uint32_t w, const Inst *inst) {
    if (inst->kind == INST_TRACED_BARRIER) barrier_arrive(sm, w, inst);
    if (inst->kind == INST_TRACED_FENCE) execute_fence(sm, w);
    if (inst->kind == INST_TRACED_COMMIT) async_commit(sm, w);
    if (inst->kind != INST_TRACED_WAIT) return;
    bool all = inst->detail == ALL_COPIES;
    async_wait(sm, w, all ? ASYNC_ALL : inst->detail < ASYNC_GROUPS ? inst->detail : ASYNC_GROUPS);
}

/* --- The step -------------------------------------------------------------------------------- */

void sm_execute_control(Sm *sm, uint32_t w, const Inst *inst, uint32_t pc) {
    const ExecContext *context = sm->context;
    switch ((InstKind)inst->kind) {
    case INST_BRANCH: execute_branch(sm, w, inst, context->active, pc); return;
    case INST_LOOKING_BRANCH:
    case INST_LEAVING_BRANCH:
    case INST_WAITING_BRANCH:
    case INST_INNER_WAITING_BRANCH: execute_branch_of_loop(sm, w, inst, context->active, pc); return;
    case INST_EXIT: simt_exit(&sm->warp[w].simt, &sm->waiting_lanes[w], context->active, pc + 1); return;
    case INST_CONVERGENT:
        if (!paths_meet_named(sm, w, inst)) return;
        if (sm->memcheck) memcheck_together(sm, w, inst);
        execute_arithmetic(sm, w, &sm->warp[w], &sm->place[w], inst, pc);
        return;
    case INST_BARRIER:
        if (!paths_meet(sm, w, inst)) return;
        if (context->active) {
            if (sm->memcheck) memcheck_arrive(sm, w, inst);
            barrier_arrive(sm, w, inst);
        }
        break;
    case INST_FENCE:
        if (context->active) execute_fence(sm, w);
        break;
    case INST_ASYNC_ARRIVE: execute_async_arrive(sm, w, inst); break;
    case INST_ASYNC_COMMIT:
        if (context->active) async_commit(sm, w);
        break;
    case INST_ASYNC_WAIT:
        if (context->active) async_wait(sm, w, awaited(context, inst));
        break;
    case INST_DMA:
    case INST_SLEEP:
        if (context->active) gates_execute(&sm->gates, w, inst);
        break;
    case INST_SYSTEM: execute_system(sm, w, inst); break;
    case INST_TRACED_BARRIER:
    case INST_TRACED_FENCE:
    case INST_TRACED_COMMIT:
    case INST_TRACED_WAIT:
        if (context->active) execute_traced(sm, w, inst);
        follow_trace(sm, w, inst);
        return;
    case INST_TRACED: follow_trace(sm, w, inst); return;
    default: break; /* INST_NOP */
    }
    simt_advance(&sm->warp[w].simt, &sm->waiting_lanes[w], pc + 1);
}

COLD void sm_prepare(Sm *sm, uint32_t w, const Inst *inst) {
    prepare_registers(sm, &sm->place[w], sm_active_lanes(sm, w, inst));
    prepare_memory(sm, &sm->place[w]);
}

/* The first instruction in the buffer has issued, and the next one is that behind it. No branch on what is left in the
 * buffer: the host could not predict it. */
static inline void show_instruction_behind(Sm *sm, uint32_t w, Warp *warp, const Inst *inst) {
    WarpSet emptied = (WarpSet)(--warp->buffered == 0) << w;
    sm->valid &= ~emptied;
    sm->want_fetch |= emptied;
    show_instruction(sm, w, warp, inst + 1);
}

/* The same behind a control instruction, or where lanes reconverge. */
static __attribute__((noinline)) void leave_instruction(Sm *sm, uint32_t w, Warp *warp, const Inst *inst,
                                                        uint32_t pc) {
    if (warp->simt.top.pc == pc + 1 && warp->simt.depth) {
        show_instruction_behind(sm, w, warp, inst);
    } else {
        sm_leave_buffer(sm, w);
        if (inst->kind == INST_EXIT) sm_leave_if_done(sm, w);
    }
}

/* Of an instruction with a guard, or with several names. Returns the lanes that execute it. */
static __attribute__((noinline)) uint32_t begin_special(const Sm *sm, uint32_t w, Warp *warp,
                                                        const Inst *inst) {
    set_others_pending(warp->pending, inst);
    return sm_active_lanes(sm, w, inst);
}

/* A function of its own: within the SM's cycle the host has too few registers for both. */
__attribute__((noinline)) UnitClass sm_execute(Sm *sm, uint32_t w, uint64_t cycle, uint64_t now) {
    Warp *warp = &sm->warp[w];
    WarpPlace *place = &sm->place[w];
    __asm__("" : "+r"(place)); /* else its address is computed anew for each member */
    uint32_t pc = warp->simt.top.pc;
    const Inst *inst = &place->insts[pc];
    const Timing *timing = &sm->timing[inst->timing];
    UnitClass unit = (UnitClass)timing->unit;
    uint32_t active = warp->simt.top.lanes;
    if (__builtin_expect(inst->flags & (INST_GUARDED | INST_WRITES_MORE_NAMES), 0))
        active = begin_special(sm, w, warp, inst);
    uint64_t threads = sm->thread_instructions + (uint64_t)__builtin_popcount(active);
    bool goes_straight = false;

    __asm__("" : "+r"(threads)); /* no vector operation of two counters: it would take longer */
    prepare_registers(sm, place, active);
    sm->warp_instructions++;
    sm->thread_instructions = threads;
    sm->unit_instructions[unit]++;
    warp->in_flight++;
    set_first_pending(warp->pending, inst);
    if (unit == UNIT_MEM) {
        execute_memory(sm, w, warp, place, inst, pc, cycle, now);
        goes_straight = simt_advance(&warp->simt, &sm->waiting_lanes[w], pc + 1);
    } else {
        uint32_t latency = timing->latency;
        sm->context->clock = cycle;
        if (inst->kind == INST_ALU) {
            goes_straight = execute_arithmetic(sm, w, warp, place, inst, pc);
        } else {
            sm_execute_control(sm, w, inst, pc);
            if (inst->kind == INST_SYSTEM) latency = system_latency(sm, latency);
        }
        uint64_t writes = collector_issue(&sm->collector, &sm->shape, unit, inst, w, latency,
                                          timing->interval, cycle);
        write_backs_add(&sm->write_backs, &sm->collector, &sm->shape, writes, writer_of(pc, w));
    }
    if (__builtin_expect(goes_straight, 1))
        show_instruction_behind(sm, w, warp, inst);
    else
        leave_instruction(sm, w, warp, inst, pc);
    return unit;
}

static inline __attribute__((always_inline)) void complete(Sm *sm, uint32_t w, const Inst *inst) {
    Warp *warp = &sm->warp[w];
    clear_first_pending(warp->pending, inst);
    warp->in_flight--;
    if (sm->blocked >> w & 1) update_blocked(sm, w, warp, sm_inst(sm, w, warp->simt.top.pc));
    if ((warp->in_flight | warp->simt.depth) == 0) sm_retire_warp(sm, w);
}

static __attribute__((noinline)) void complete_with_names(Sm *sm, uint32_t w, const Inst *inst) {
    clear_others_pending(sm->warp[w].pending, inst);
    complete(sm, w, inst);
}

/* Of the common case nothing is called: it need not save the host's registers. */
void sm_complete(Sm *sm, uint32_t w, const Inst *inst) {
    if (__builtin_expect(inst->flags & INST_WRITES_MORE_NAMES, 0))
        complete_with_names(sm, w, inst);
    else
        complete(sm, w, inst);
}
