#include "core/gpu/sm/untimed.h"

#include "core/gpu/sm/memcheck.h"
#include "core/gpu/sm/memory_op.h"

#include <stdlib.h>
#include <string.h>

/* Instructions. While a CTA has its turn, its registers and its shared memory stay in the host's nearest caches. */
enum {
    WARP_TURN = 512,     /* before the CTA's next warp */
    CTA_TURN = 16 * 512, /* before the SM's next CTA   */
};

/* The grid, x fastest. */
typedef struct {
    const RunningKernel *running;
    uint64_t next, count;
    uint64_t cold;    /* the first so many leave no lines in the caches */
    PlainInst *plain; /* of untimed_find_plain() */
    uint64_t clock;   /* instructions so far */
} Grid;

static bool next_cta(Grid *grid, uint32_t ctaid[3]) {
    const uint32_t *size = grid->running->grid;
    if (grid->next == grid->count) return false;
    ctaid[0] = (uint32_t)(grid->next % size[0]);
    ctaid[1] = (uint32_t)(grid->next / size[0] % size[1]);
    ctaid[2] = (uint32_t)(grid->next / size[0] / size[1]);
    grid->next++;
    return true;
}

void untimed_make_deaf(Sm *sm) {
    sm->obj.subscribed = 0;
    memset(&sm->gates, 0, sizeof sm->gates);
    sm->view->is_alone = !sm->memcheck;
}

/* --- A warp ---------------------------------------------------------------------------------- */

static bool loads_from_memory(const Inst *inst) {
    return (inst->kind == INST_LOAD || inst->kind == INST_ATOMIC) && inst->space != SPACE_SHARED &&
           !space_is_constant(inst->space);
}

static bool is_plain(const Inst *inst) {
    if (inst->kind == INST_ALU) return inst->timing != TIMING_MEM;
    if (inst->kind == INST_LOAD) return !(inst->detail & (DETAIL_ASYNC_COPY | DETAIL_BULK));
    bool writes = inst->kind == INST_STORE || (inst->kind == INST_ATOMIC && inst->space == SPACE_SHARED);
    return writes && !(inst->detail & (DETAIL_MBARRIER | DETAIL_BULK));
}

static PlainStep find_step(const PlainInst *plain, const Inst *inst) {
    if (inst->kind == INST_BRANCH || inst->kind == INST_LOOKING_BRANCH || inst->kind == INST_LEAVING_BRANCH)
        return STEP_BRANCH;
    if (inst->kind == INST_CONVERGENT) return STEP_TOGETHER;
    if (!is_plain(inst)) return STEP_OTHER;
    if (inst->kind == INST_LOAD && space_is_constant(inst->space) && !inst->cache_op) return STEP_CONSTANT;
    if (inst->kind != INST_ALU && inst->space != SPACE_SHARED) return STEP_ACCESS;
    bool is_bare = plain->guard == TRUE_PREDICATE && plain->keeps_windows == UINT8_MAX &&
                   !exec_reads_clock(inst) && !exec_narrows_lanes(inst);
    return is_bare ? STEP_BARE : STEP_GUARDED;
}

PlainInst *untimed_find_plain(const Kernel *kernel) {
    PlainInst *plain = calloc(kernel->inst_count + 1, sizeof *plain);
    ensure_memory(plain);
    for (uint32_t i = kernel->inst_count; i-- > 0;) {
        const Inst *inst = &kernel->insts[i];
        bool computes = inst->kind == INST_ALU || inst->kind == INST_CONVERGENT;
        bool changes_registers = computes || inst->space != SPACE_SHARED;
        plain[i] = (PlainInst){
            .exec = inst->exec,
            .guard = inst->guard == NO_PREDICATE ? TRUE_PREDICATE : inst->guard,
            .guard_flips = inst->flags & INST_GUARD_NEGATED && inst->guard != NO_PREDICATE ? ~0u : 0,
            .keeps_windows = changes_registers ? (uint8_t)~inst->windows : UINT8_MAX,
            .loads_from_memory = loads_from_memory(inst),
        };
        plain[i].step = (uint8_t)find_step(&plain[i], inst);
        uint8_t behind = plain[i + 1].bare;
        if (plain[i].step == STEP_BARE) plain[i].bare = behind == UINT8_MAX ? behind : (uint8_t)(behind + 1);
    }
    return plain;
}

/* How the lanes' addresses differ is mostly as in the access before, and that and the lanes alone say what conflicts. Those
 * that differ as far are taken to differ alike. */
static void exec_counting(const Inst *inst, ExecContext *context) {
    ConflictCount *count = context->conflicts;
    LastConflict *last = &count->last[inst - count->insts];
    inst->exec(inst, context);
    if (context->space != SPACE_SHARED) return;
    uint32_t span = (uint32_t)(context->highest - context->lowest);
    if (last->lanes != context->active || last->span != span || inst->space != SPACE_SHARED)
        *last = (LastConflict){context->active, span,
                               conflict_degree(count->sm, inst, inst->space == SPACE_SHARED)};
    count->cycles += last->degree - 1;
}

ConflictCount *untimed_count_conflicts(PlainInst *plain, const Kernel *kernel) {
    ConflictCount *count = calloc(1, sizeof *count + kernel->inst_count * sizeof *count->last);
    ensure_memory(count);
    count->insts = kernel->insts;
    for (uint32_t i = 0; i < kernel->inst_count; i++) {
        const Inst *inst = &kernel->insts[i];
        bool may_conflict = inst->space == SPACE_SHARED || inst->space == SPACE_GENERIC;
        if (may_conflict && inst->kind != INST_ALU && is_plain(inst)) plain[i].exec = exec_counting;
    }
    return count;
}

/* From issue to where an instruction that needs the result can issue. */
static uint32_t cycles_to_result(const Sm *sm, const Inst *inst, uint32_t shared_cycles) {
    enum { ISSUE_TO_COLLECTOR = 2 };
    const Timing *timing = &sm->timing[inst->timing];
    bool is_shared = timing->unit == UNIT_MEM && inst->space == SPACE_SHARED;
    if (is_shared) return shared_cycles;
    return ISSUE_TO_COLLECTOR + sm->shape.dispatch_cycles + timing->latency + sm->shape.result_cycles;
}

static uint32_t operands_written(const Inst *inst, const uint32_t *written) {
    uint32_t latest = 0;
    for (uint32_t word = 0; word < SCOREBOARD_NAMES / 64; word++)
        for (uint64_t left = inst->names[word]; left; left &= left - 1) {
            uint32_t at = written[word * 64 + (uint32_t)__builtin_ctzll(left)];
            if (at > latest) latest = at;
        }
    return latest;
}

void untimed_find_times(PlainInst *plain, const Sm *sm, const Kernel *kernel, uint32_t shared_cycles) {
    uint32_t written[SCOREBOARD_NAMES] = {0}, now = 0;
    for (uint32_t i = 0; i < kernel->inst_count; i++) {
        const Inst *inst = &kernel->insts[i];
        uint32_t ready = operands_written(inst, written);
        if (ready > now) now = ready;
        plain[i].issues = now;
        uint32_t result = plain[i].loads_from_memory ? now : now + cycles_to_result(sm, inst, shared_cycles);
        for (uint32_t k = 0; k < inst->out_name_count; k++)
            written[inst->out_names[k]] = result;
        now++;
    }
    plain[kernel->inst_count].issues = now;
}

static void show_writes(Sm *sm) {
    view_commit(sm->view);
    if (sm->memcheck) memcheck_commit(sm);
}

/* As the load/store unit counts loads. */
static bool has_lanes(const Sm *sm, const Inst *inst) {
    bool is_prefetch = inst->cache_op & (CACHE_PREFETCH_L1 | CACHE_PREFETCH_L2);
    return sm->context->active && sm->context->space != SPACE_SHARED && !is_prefetch;
}

/* One instruction of whatever kind. */
static void take_step(Sm *sm, uint32_t w, uint64_t clock) {
    sm->context->clock = clock;
    sm_execute_untimed(sm, w);
    if (sm->view->log_count || sm->memcheck) show_writes(sm);
}

static inline bool goes_on(const Sm *sm, uint32_t w) {
    return sm->live & ~sm->waiting & warp_bit(w) && !untimed_has_fault(sm);
}

/* Returns how many instructions of the warp executed, at most `most`: plain ones and branches, and, where the turn does not
 * end at loads, the one behind them, of whatever kind. */
static inline uint32_t take_piece(Sm *sm, uint32_t w, PlainInst *plain, uint32_t most, uint64_t clock,
                                  TurnEnd end) {
    uint32_t done = sm->memcheck ? 0 : sm_execute_plain(sm, w, plain, most, clock, end);
    bool ends = done && (end == TURN_ENDS_AT_LOAD || untimed_has_fault(sm));
    if (done == most || ends) return done;
    take_step(sm, w, clock + done);
    return done + 1;
}

WarpTurn untimed_take_turn(Sm *sm, uint32_t w, PlainInst *plain, uint32_t most, uint64_t clock, TurnEnd end) {
    const SimtEntry *top = &sm->warp[w].simt.top;
    WarpTurn turn = {0, 0, false, false};
    sm_prepare_turn(sm, w);
    while (turn.executed < most && goes_on(sm, w)) {
        uint32_t pc = top->pc;
        uint32_t done = take_piece(sm, w, plain, most - turn.executed, clock + turn.executed, end);
        turn.executed += done;
        if (end == TURN_ENDS_NOT) continue;
        uint32_t last = pc + done - 1;
        turn.cycles += plain[last + 1].issues - plain[pc].issues;
        turn.has_loaded = plain[last].loads_from_memory;
        turn.has_lanes = turn.has_loaded && has_lanes(sm, sm_inst(sm, w, last));
        if (turn.has_loaded) break;
    }
    return turn;
}

/* --- A CTA ----------------------------------------------------------------------------------- */

static bool is_live(const Sm *sm, uint32_t slot) {
    return sm->cta[slot].warps & sm->live;
}

/* A turn of each of its warps. Returns how many instructions they executed; `is_cut`: one of them would have gone on. */
static uint64_t pass_over_warps(Sm *sm, uint32_t slot, PlainInst *plain, uint64_t *clock, bool *is_cut) {
    uint64_t before = *clock;
    for (WarpSet left = sm->cta[slot].warps & sm->live; left && !untimed_has_fault(sm); left &= left - 1) {
        WarpTurn turn = untimed_take_turn(sm, first_warp(left), plain, WARP_TURN, *clock + 1, TURN_ENDS_NOT);
        *clock += turn.executed;
        *is_cut |= turn.executed == WARP_TURN;
    }
    return *clock - before;
}

CtaTurn untimed_take_cta_turn(Sm *sm, uint32_t slot, PlainInst *plain, uint64_t *clock) {
    uint64_t before = *clock, executed = 1;
    sm->untimed_repeats = 0; /* other SMs may have used its caches since */
    for (bool is_cut = false; executed && !is_cut && is_live(sm, slot) && *clock - before < CTA_TURN;) {
        executed = pass_over_warps(sm, slot, plain, clock, &is_cut);
        if (untimed_has_fault(sm)) return TURN_FAULT;
    }
    if (!is_live(sm, slot)) sm_end_cta_untimed(sm, slot);
    return *clock != before ? TURN_PROGRESS : TURN_STUCK;
}

/* --- A launch -------------------------------------------------------------------------------- */

/* The first place without a CTA; the SM's number of places if there is none. */
static uint32_t empty_slot(const Sm *sm, uint32_t places) {
    uint32_t slot = 0;
    while (slot < places && sm->cta[slot].warps)
        slot++;
    return slot;
}

/* The turns of the SM's CTAs, and of as many new ones as it has places. */
static CtaTurn run_round(Sm *sm, Grid *grid) {
    uint32_t places = sm->kernels.ctas;
    CtaStart start = {0};
    CtaTurn result = TURN_STUCK;
    for (uint32_t slot = 0; slot < places && result != TURN_FAULT; slot++) {
        if (!sm->cta[slot].warps) continue;
        CtaTurn turn = untimed_take_cta_turn(sm, slot, grid->plain, &grid->clock);
        if (turn > result) result = turn;
    }
    for (uint32_t i = 0; i < places && result != TURN_FAULT; i++) {
        start.slot = empty_slot(sm, places);
        if (start.slot == places || !next_cta(grid, start.ctaid)) break;
        sm->warms_caches = grid->next > grid->cold;
        sm_start_cta(sm, &start);
        CtaTurn turn = untimed_take_cta_turn(sm, start.slot, grid->plain, &grid->clock);
        result = turn == TURN_FAULT ? TURN_FAULT : TURN_PROGRESS;
    }
    return result;
}

/* What an SM was before the launch. The rest of it means something only while warps are live, or stays as it is. */
enum { IDLE_BEGIN = offsetof(Sm, waiting_lanes), IDLE_END = offsetof(Sm, payload_used) };
typedef struct {
    uint8_t head[IDLE_BEGIN], tail[sizeof(Sm) - IDLE_END];
} SmBefore;

/* An SM takes part from its first CTA on. */
static SmBefore *take_part(Sm *sm) {
    SmBefore *before = malloc(sizeof *before);
    ensure_memory(before);
    memcpy(before->head, sm, IDLE_BEGIN);
    memcpy(before->tail, (uint8_t *)sm + IDLE_END, sizeof before->tail);
    untimed_make_deaf(sm);
    memset(sm->cta, 0, sizeof sm->cta);
    return before;
}

static void leave(Sm *sm, SmBefore *before) {
    SystemCalls system = sm->system; /* its room may have grown */
    memcpy(sm, before->head, IDLE_BEGIN);
    memcpy((uint8_t *)sm + IDLE_END, before->tail, sizeof before->tail);
    sm->view->is_alone = false;
    sm->system = system;
    free(before);
}

typedef struct {
    Sm *const *sms;
    uint32_t count;
    bool ended;
    bool (*is_given_up)(void *context);
    void *context; /* of the above */
    Grid grid;
    SmBefore **before; /* NULL of an SM that takes no part */
} UntimedRun;

static bool run_rounds(UntimedRun *run) {
    Grid *grid = &run->grid;
    for (;;) {
        bool progress = false, live = false;
        for (uint32_t i = 0; i < run->count; i++) {
            if (!run->before[i] && grid->next == grid->count) break; /* nor does any behind it */
            if (!run->before[i]) run->before[i] = take_part(run->sms[i]);
            CtaTurn result = run_round(run->sms[i], grid);
            if (result == TURN_FAULT || run->is_given_up(run->context)) return true;
            progress |= result == TURN_PROGRESS;
            live |= run->sms[i]->live != 0;
        }
        if (!live && grid->next == grid->count) return true;
        if (!progress) return false;
    }
}

static void run_to_end(void *context) {
    UntimedRun *run = context;
    run->ended = run_rounds(run);
}

bool sms_run_untimed(Sm *const *sms, uint32_t count, const RunningKernel *running, uint64_t cold_ctas,
                     bool (*is_given_up)(void *context), void *context) {
    const uint32_t *size = running->grid;
    UntimedRun run = {.sms = sms, .count = count, .is_given_up = is_given_up, .context = context};
    run.grid = (Grid){.running = running,
                      .count = (uint64_t)size[0] * size[1] * size[2],
                      .cold = cold_ctas,
                      .plain = untimed_find_plain(running->kernel)};
    run.before = calloc(count, sizeof *run.before);
    ensure_memory(run.before);
    const char *error = user_error_catch(run_to_end, &run);
    for (uint32_t i = 0; i < count && run.before[i]; i++)
        leave(sms[i], run.before[i]);
    free(run.before);
    free(run.grid.plain);
    if (error) user_error_again(error);
    return run.ended;
}
