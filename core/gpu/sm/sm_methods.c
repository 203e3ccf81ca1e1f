/* What policies may call on an SM. */
#include "core/gpu/parts/memory_ownership/memory_ownership.h"
#include "core/gpu/sm/paths.h"
#include "core/gpu/sm/sleep.h"
#include "mem/protocol/caches.h"
#include "mem/protocol/class_table.h"

#include <string.h>

static void oldest(SimObject *object, MethodCall *call) {
    const Sm *sm = (const Sm *)object;
    int64_t n = call->argument[1].whole;
    n = n < 0 ? 0 : n > MAX_WARPS ? MAX_WARPS : n;
    call->result[0].set = oldest_warps(sm->cta_by_age, sm->resident, call->argument[0].set, (uint32_t)n);
}

/* Those of which no warp lives any more are no longer counted. */
static void oldest_ctas(SimObject *object, MethodCall *call) {
    const Sm *sm = (const Sm *)object;
    int64_t left = call->argument[0].whole;
    call->result[0].set = 0;
    for (uint32_t i = 0; i < sm->resident && left > 0; i++) {
        if (!(sm->cta_by_age[i] & sm->live)) continue;
        call->result[0].set |= sm->cta_by_age[i];
        left--;
    }
}

static void warps_of(SimObject *object, MethodCall *call) {
    call->result[0].set = ((const Sm *)object)->sched[call->argument[0].whole].warps;
}

static void last(SimObject *object, MethodCall *call) {
    call->result[0].whole = ((const Sm *)object)->sched[call->argument[0].whole].last;
}

static void cta_warps(SimObject *object, MethodCall *call) {
    const Sm *sm = (const Sm *)object;
    call->result[0].set = sm->cta[sm->warp[call->argument[0].whole].cta_slot].warps;
}

static WarpSet memory_ready_warps(const Sm *sm) {
    return sm->valid & sm->head_memory & ~sm->blocked & ~sm->waiting;
}

static void memory_ready(SimObject *object, MethodCall *call) {
    call->result[0].set = memory_ready_warps((const Sm *)object);
}

static void oldest_memory_ready(SimObject *object, MethodCall *call) {
    const Sm *sm = (const Sm *)object;
    WarpSet ready = memory_ready_warps(sm);
    call->nothing = !ready;
    if (ready) call->result[0].whole = sm_oldest(sm, ready);
}

static void first_issued(SimObject *object, MethodCall *call) {
    const Sm *sm = (const Sm *)object;
    uint32_t warp = lsu_first_issued(sm->lsu.send->receiver, sm->number);
    call->nothing = warp == NO_WARP_WAITS;
    call->result[0].whole = warp;
}

static void holds_accesses(SimObject *object, MethodCall *call) {
    call->result[0].flag = sm_holds_accesses((const Sm *)object, (uint32_t)call->argument[0].whole);
}

static void watch_taken(SimObject *object, MethodCall *call) {
    (void)call;
    sm_watch_taken((Sm *)object);
}

static void watch_caches(SimObject *object, MethodCall *call) {
    (void)call;
    sm_watch_caches((Sm *)object);
}

static void number(SimObject *object, MethodCall *call) {
    call->result[0].whole = sm_number(object);
}

static bool was_launched(const Sm *sm, MethodCall *call) {
    if (!sm->running) method_refuse(call, "no kernel has been launched");
    return sm->running != NULL;
}

/* NULL: refused. `instead`: what to ask where the SM has several. */
static const RunningKernel *only_kernel(const Sm *sm, MethodCall *call, const char *instead) {
    if (!was_launched(sm, call)) return NULL;
    if (!sm->kernels.are_several) return sm->running;
    method_refuse(call, "expected an SM with CTAs of one kernel at a time, got one with several; ask %s",
                  instead);
    return NULL;
}

static void ctas_per_sm(SimObject *object, MethodCall *call) {
    const Sm *sm = (const Sm *)object;
    if (was_launched(sm, call)) call->result[0].whole = sm->kernels.ctas;
}

static void warps_per_cta(SimObject *object, MethodCall *call) {
    const RunningKernel *running = only_kernel((const Sm *)object, call, "cta_warps(warp)");
    if (running) call->result[0].whole = running->warps_per_cta;
}

static void cta_needs(SimObject *object, MethodCall *call) {
    const Sm *sm = (const Sm *)object;
    const RunningKernel *running = only_kernel(sm, call, "ctas_per_sm() alone");
    if (!running) return;
    CtaNeeds needs = sm_needs(sm, running);
    call->result[0].whole = needs.warps;
    call->result[1].whole = needs.registers;
    call->result[2].whole = (int64_t)needs.shared;
}

/* The kernel of the warp that is the first argument; NULL: refused. A question of another object comes before or after a CTA
 * that starts in its cycle: it may ask where all CTAs are of one kernel, which changes between quanta alone. */
static const RunningKernel *kernel_of_warp(const Sm *sm, MethodCall *call) {
    if (call->elsewhere)
        return only_kernel(sm, call, "it in a hook, and remember in self.state what the answer needs");
    return was_launched(sm, call) ? sm_kernel_of(sm, (uint32_t)call->argument[0].whole) : NULL;
}

static void launch_of(SimObject *object, MethodCall *call) {
    const RunningKernel *running = kernel_of_warp((const Sm *)object, call);
    if (running) call->result[0].whole = running->launch;
}

static void tenant_of(SimObject *object, MethodCall *call) {
    const RunningKernel *running = kernel_of_warp((const Sm *)object, call);
    if (running) call->result[0].whole = running->tenant;
}

static void describe_instruction(const RunningKernel *running, uint64_t pc, MethodCall *call) {
    call->nothing = pc >= running->kernel->inst_count;
    if (call->nothing) return;
    const Inst *inst = &running->kernel->insts[pc];
    const InstSource *source = &running->kernel->sources[pc];
    call->result[0].text = source->opcode;
    call->result[1].whole = source->ptx_line;
    call->result[2].whole = source->line;
    call->result[3].text = source->line ? source->file : NULL;
    call->result[4].whole = kind_is_branch(inst->kind) ? (int64_t)inst->target : -1;
}

static void instruction(SimObject *object, MethodCall *call) {
    const RunningKernel *running = only_kernel((const Sm *)object, call, "instruction_of(warp, pc)");
    if (running) describe_instruction(running, (uint64_t)call->argument[0].whole, call);
}

static void instruction_of(SimObject *object, MethodCall *call) {
    const RunningKernel *running = kernel_of_warp((const Sm *)object, call);
    if (running) describe_instruction(running, (uint64_t)call->argument[1].whole, call);
}

static void next_pc(SimObject *object, MethodCall *call) {
    const Sm *sm = (const Sm *)object;
    uint32_t warp = (uint32_t)call->argument[0].whole;
    call->nothing = !(sm->live >> warp & 1);
    if (!call->nothing) call->result[0].whole = sm->warp[warp].simt.top.pc;
}

static void sleep_for(SimObject *object, MethodCall *call) {
    Sm *sm = (Sm *)object;
    uint32_t warp = (uint32_t)call->argument[0].whole;
    uint64_t cycles = (uint64_t)call->argument[1].whole;
    if (call->asked) {
        method_refuse(call, "expected a call from a hook, got one from a question, in the midst of a cycle");
        return;
    }
    call->result[0].flag = (sm->live & ~sm->waiting) >> warp & 1 && paths_sleep(sm, warp);
    if (!call->result[0].flag) return;
    sleep_until(sm, warp, object_cycle(object, object_now(object)) + cycles);
    object_wake(object);
}

/* A warp has one class: what a second policy called it would be taken for the first one's. */
static bool claim_classes(Sm *sm, MethodCall *call) {
    const char *owner = sm->class_setter ? sm->class_setter : call->caller;
    size_t length = strcspn(owner, " ");
    if (length != strcspn(call->caller, " ") || memcmp(owner, call->caller, length) != 0) {
        method_refuse(call,
                      "policy %.*s sets the classes of its warps; another policy cannot set them as well",
                      (int)length, owner);
        return false;
    }
    sm->class_setter = call->caller;
    return true;
}

static void set_class(SimObject *object, MethodCall *call) {
    Sm *sm = (Sm *)object;
    if (!claim_classes(sm, call)) return;
    for (WarpSet warps = call->argument[0].set; warps; warps &= warps - 1)
        sm->class_of[first_warp(warps)] = (uint8_t)call->argument[1].whole;
}

static void class_of(SimObject *object, MethodCall *call) {
    call->result[0].whole = ((const Sm *)object)->class_of[call->argument[0].whole];
}

static void warps_in(SimObject *object, MethodCall *call) {
    const Sm *sm = (const Sm *)object;
    WarpSet warps = 0;
    for (uint32_t warp = 0; warp < sm->warps; warp++)
        warps |= (WarpSet)(sm->class_of[warp] == call->argument[0].whole) << warp;
    call->result[0].set = warps;
}

#define WARP      WHOLE_NUMBER_BELOW("warp", Sm, warps)
#define WARPS     SET_OF("warps", "warps")
#define SCHEDULER WHOLE_NUMBER_BELOW("scheduler", Sm, schedulers)
#define CLASS     WHOLE_NUMBER("class", .max = CLASSES - 1)

const Method sm_methods[] = {
    METHOD("oldest", oldest, "The n oldest warps of the set",
           TAKES(SET_OF("warps", "set"), WHOLE_NUMBER("n")), RETURNS(WARPS)),
    METHOD("oldest_ctas", oldest_ctas, "The warps of the n oldest CTAs of which a warp lives",
           TAKES(WHOLE_NUMBER("n")), RETURNS(WARPS)),
    METHOD("warps_of", warps_of, "The warps of the scheduler", TAKES(SCHEDULER), RETURNS(WARPS)),
    METHOD("last", last, "The warp that the scheduler issued last", TAKES(SCHEDULER),
           RETURNS(WHOLE_NUMBER("warp"))),
    METHOD("cta_warps", cta_warps, "The warps of the warp's CTA", TAKES(WARP), RETURNS(WARPS)),
    METHOD("memory_ready", memory_ready,
           "The warps whose next instruction goes to the LSU and has its operands", RETURNS(WARPS)),
    METHOD("oldest_memory_ready", oldest_memory_ready, "The oldest of these, or nil",
           RETURNS(WHOLE_NUMBER("warp")), MAY_BE_NIL),
    METHOD("first_issued", first_issued,
           "The warp of the first of all accesses that have issued and that no L1 has taken or put into its "
           "re-execution queue, those to constants left out; or nil",
           RETURNS(WHOLE_NUMBER("warp")), MAY_BE_NIL),
    METHOD("holds_accesses", holds_accesses,
           "Whether an access of the warp has issued and is not yet taken by the L1 that serves it: it is in "
           "the load/store unit, before it, behind it, or in the L1",
           TAKES(WARP), RETURNS(FLAG_VALUE("holds"))),
    METHOD("watch_taken", watch_taken,
           "From now on no event of a watched warp is emitted while it holds_accesses(), and to set "
           "`watched` has no effect on it; instead the SM watches each warp whose access an L1 takes, unless "
           "all may issue memory instructions"),
    METHOD("watch_caches", watch_caches,
           "From now on the SM follows the L1s behind its load/store unit: `saturated` is kept, and the "
           "events saturation and memory_access are emitted"),
    METHOD("number", number, "Of this SM among all, from 0", RETURNS(WHOLE_NUMBER("number")), FIXED),
    METHOD("ctas_per_sm", ctas_per_sm,
           "CTAs of the present kernel that the SM holds at once, in its slots 0, 1, ...; of any kernels, "
           "where it may hold those of several",
           RETURNS(WHOLE_NUMBER("ctas")), FIXED),
    METHOD("warps_per_cta", warps_per_cta,
           "Warps n of a CTA of the present kernel; those of slot s are s * n to s * n + n - 1. Where the SM "
           "may hold CTAs of several kernels it is an error, and cta_warps() tells",
           RETURNS(WHOLE_NUMBER("n")), FIXED),
    METHOD(
        "cta_needs", cta_needs,
        "What a CTA of the present kernel takes of the SM: warps, of `registers` so many, bytes of `shared`. "
        "An error where the SM may hold CTAs of several kernels",
        RETURNS(WHOLE_NUMBER("warps"), WHOLE_NUMBER("registers"), WHOLE_NUMBER("shared")), FIXED),
    METHOD("launch_of", launch_of,
           "Of the kernel whose CTA the warp is or was of: its number among the run's launches, from 0. In a "
           "question of another object, of the kernel that the SM runs; an error where it may hold CTAs of "
           "several",
           TAKES(WARP), RETURNS(WHOLE_NUMBER("launch")), FIXED),
    METHOD("tenant_of", tenant_of, "The tenant of this kernel, as the launch names it: 0 unless it does",
           TAKES(WARP), RETURNS(WHOLE_NUMBER("tenant")), FIXED),
    METHOD("instruction", instruction,
           "Of the present kernel, or nil: the opcode (\"ld.global.f32\"), the line in the PTX, the line and "
           "the file that .loc names (0, nil: none), and where a branch goes (-1: no branch). An error where "
           "the SM may hold CTAs of several kernels",
           TAKES(WHOLE_NUMBER("pc", .min = 0, .max = UINT32_MAX)),
           RETURNS(TEXT_VALUE("opcode"), WHOLE_NUMBER("line"), WHOLE_NUMBER("cuda_line"),
                   TEXT_VALUE("cuda_file"), WHOLE_NUMBER("target")),
           MAY_BE_NIL, FIXED),
    METHOD("instruction_of", instruction_of, "The same of the kernel that launch_of() names",
           TAKES(WARP, WHOLE_NUMBER("pc", .min = 0, .max = UINT32_MAX)),
           RETURNS(TEXT_VALUE("opcode"), WHOLE_NUMBER("line"), WHOLE_NUMBER("cuda_line"),
                   TEXT_VALUE("cuda_file"), WHOLE_NUMBER("target")),
           MAY_BE_NIL, FIXED),
    METHOD("next_pc", next_pc,
           "Of a warp that lives, its next instruction, whether it has been fetched or not: a pc for "
           "instruction(); else nil",
           TAKES(WARP), RETURNS(WHOLE_NUMBER("pc")), MAY_BE_NIL),
    METHOD("sleep", sleep_for,
           "The warp issues nothing for so many cycles, as by nanosleep. False where it has exited, or waits "
           "at a barrier or a fence, or sleeps; and where other lanes of it go on instead, from the end of a "
           "loop in which those that spin wait for them. From hooks only",
           TAKES(WARP, WHOLE_NUMBER("cycles", .min = 1, .max = LONGEST_SLEEP)),
           RETURNS(FLAG_VALUE("sleeps"))),
    METHOD("set_class", set_class,
           "The number on all requests of these warps from now on; 0 until it is set. One policy of a run "
           "sets them",
           TAKES(WARPS, CLASS)),
    METHOD("class_of", class_of, "The number on the warp's requests",
           TAKES(WHOLE_NUMBER("warp", .max = MAX_WARPS - 1)), RETURNS(WHOLE_NUMBER("class"))),
    METHOD("warps_in", warps_in, "The warps of the class", TAKES(CLASS), RETURNS(WARPS)),
    METHODS_END};
