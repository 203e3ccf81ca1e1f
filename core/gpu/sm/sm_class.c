/* What an SM has: parameters, ports, state, statistics, events; how it is built. */
#include "core/gpu/lsu/coalescer.h"
#include "core/gpu/sm/kernel_switch.h"
#include "core/gpu/sm/memcheck.h"
#include "core/gpu/sm/sleep.h"
#include "core/gpu/sm/sm_parts.h"
#include "core/gpu/sm/sm_sound.h"

#include "mem/protocol/caches.h"
#include "mem/protocol/functional_memory.h"
#include "mem/protocol/memory_protocol.h"

#include <stdlib.h>

#define TIMING_ROWS(class, word, lat, ii, on, what)                                                          \
    PARAM_NAMED(Sm, timing[class].latency, word "_latency", lat, "cycles", "Latency of " what,               \
                .timing = true, .min = 1, .max = 1000),                                                      \
        PARAM_NAMED(Sm, timing[class].interval, word "_interval", ii, "cycles",                              \
                    "Initiation interval of " what, .timing = true, .min = 1, .max = 1000),                  \
    {                                                                                                        \
        .kind = FIELD_PARAM, .type = TYPE_U32, .name = word "_unit", .initial = on, .unit = "choice",        \
        .choices = "sp|sfu|int|dp|matrix", .doc = "Unit that executes " what,                                \
        FIELD_AT(Sm, timing[class].unit)                                                                     \
    }

#define READ_ROWS(index, word, collectors_, latches_)                                                        \
    PARAM_NAMED(Sm, shape.shape[index].collectors, word "_collectors", collectors_, "units",                 \
                "Operand collectors, of each sub-core", .min = 1, .max = MAX_COLLECTORS),                    \
        PARAM_NAMED(Sm, shape.shape[index].latches, word "_latches", latches_, "registers",                  \
                    "Registers between issue and collectors, of each sub-core", .min = 1,                    \
                    .max = MAX_ISSUE_LATCHES)

#define UNIT_ROWS(index, word, units_, collectors_, latches_)                                                \
    PARAM_NAMED(Sm, shape.shape[index].units, word "_units", units_, "units", "Pipelines, of each sub-core", \
                .min = 1, .max = MAX_UNITS),                                                                 \
        READ_ROWS(index, word, collectors_, latches_)

/* By statistics alone, which may be estimates: the cycles that passed are those whose slots have a cause. */
static Ratio ipc(const SimObject *object) {
    const Sm *sm = (const Sm *)object;
    uint64_t slots = 0;
    for (uint32_t i = 0; i < SLOT_CAUSES; i++)
        slots += sm->slots[i];
    return ratio_of(sm->thread_instructions, slots / sm->schedulers);
}

static Ratio lanes_per_instruction(const SimObject *object) {
    const Sm *sm = (const Sm *)object;
    return ratio_of(sm->thread_instructions, sm->warp_instructions);
}

static bool pick_is_legal(const int64_t *arguments, int64_t warp) {
    return warp >= 0 && warp < MAX_WARPS && (uint64_t)arguments[1] >> warp & 1;
}

static const Question pick = {"warps of `ready`", pick_is_legal};

static const Event sm_events[] = {
    [SM_WARPS_CHANGED] = {"warps_changed", "", NULL, "Warps started, ended, or came to or left a barrier"},
    [SM_ISSUE] = {"issue", "warp, pc, lanes", NULL,
                  "A warp issued the instruction at index pc; lanes: those that execute it, of a branch "
                  "those that jump"},
    [SM_LOAD_BLOCKED] = {"load_blocked", "warp", NULL,
                         "A watched warp must wait for what it loads from beyond the SM; emitted once"},
    [SM_LOADS_ANSWERED] = {"loads_answered", "warp", NULL,
                           "The last register has come that the warp was to get from beyond the SM"},
    [SM_CTA_START] = {"cta_start", "slot, warps", NULL, "A CTA started; warps: the set of its warps"},
    [SM_CTA_END] = {"cta_end", "slot, warps", NULL, "A CTA ended"},
    [SM_WARP_END] = {"warp_end", "warp", NULL, "A warp has exited, and nothing of it is in flight"},
    [SM_PICK] = {"pick", "scheduler, ready", &pick, "Which of the ready warps shall this scheduler issue?"},
    [SM_WATCHED_STOPS] = {"watched_stops", "warp", NULL,
                          "A watched warp has ended, or waits at a barrier or a fence; emitted once"},
    [SM_SATURATION] =
        {"saturation", "on", NULL,
         "After watch_caches(): the first of the L1s behind the load/store unit became nearly full "
         "of misses, or the last no longer is"},
    [SM_MEMORY_ACCESS] =
        {"memory_access", "warp", NULL,
         "The same: one of them has emitted its memory_access, while `saturated` and all may issue memory"},
    [SM_KERNEL_GIVEN] =
        {"kernel_given", "kernel", NULL,
         "Between cycles: a launch begins, or the SM, which has no CTA, gets those of another of the kernels "
         "that were "
         "launched together; its number among them, from 0. With the dispatcher's kernels_per_sm above 1 "
         "only the former, with 0"},
    [SM_SPIN] = {"spin", "warp", NULL,
                 "A warp that spins has gone round once more: all lanes that were in the loop, and what it "
                 "compares is what it was"},
    [SM_SPIN_END] = {"spin_end", "warp", NULL, "A warp spins no more"},
    [SM_BRANCH] = {"branch", "warp, pc, lanes, others", NULL,
                   "A warp issued the branch at index pc; lanes: those that jump; others: those that go on"},
    {0}};

static const Field sm_fields[] = {
    BASE(Sm),
    PARAM(Sm, warps, "48", "warps", "Warps that can be resident", .min = 1, .max = MAX_WARPS),
    PARAM(Sm, schedulers, "2", "schedulers", "Warp schedulers; warp w belongs to scheduler w mod schedulers",
          .min = 1, .max = MAX_SCHEDULERS),
    PARAM_NAMED(
        Sm, shape.sub_cores, "sub_cores", "1", "sub-cores",
        "Parts of the SM with as many schedulers each, and with collectors, units, register banks and "
        "fetch of their own; warp w belongs to sub-core w mod sub_cores",
        .min = 1, .max = MAX_SUB_CORES, .power_of_two = true),
    PARAM(Sm, registers, "32768", "registers", "32-bit registers"),
    PARAM(Sm, ctas, "8", "CTAs", "CTAs that can be resident", .min = 1, .max = MAX_CTAS),
    PARAM(Sm, shared, "48KiB", "bytes", "Shared memory; a CTA takes pieces of 128 B of it", .min = 0,
          .max = 1 << 24),
    PARAM(Sm, reserved_shared, "0", "bytes",
          "Shared memory that each CTA takes beside its own, for the system", .min = 0, .max = 1 << 16),
    {.kind = FIELD_PARAM,
     .type = TYPE_U32,
     .name = "scheduler",
     .initial = "gto",
     .unit = "choice",
     .choices = "lrr|gto|oldest|groups",
     .knob = true,
     .doc = "Order of the warp schedulers",
     FIELD_AT(Sm, scheduler)},
    ISSUE_KNOBS_FIRST_ROW(SmWithParts, knobs),
    PARAM(Sm, group_size, "8", "warps", "Order groups: warps of a scheduler in a fetch group", .min = 1,
          .max = MAX_WARPS, .knob = true),
    {.kind = FIELD_PARAM,
     .type = TYPE_U32,
     .name = "group_order",
     .initial = "gto",
     .unit = "choice",
     .choices = "lrr|gto",
     .knob = true,
     .doc = "Order groups: order within a fetch group and between them",
     FIELD_AT(Sm, group_order)},
    ISSUE_KNOBS_LIMIT_ROW(SmWithParts, knobs),
    PARAM(Sm, register_unit, "4", "registers", "Registers per thread are allocated in multiples of this",
          .min = 1, .max = 256),
    PARAM(Sm, atomic_payloads, "64", "entries", "Warp atomics on global memory in flight", .min = 1,
          .max = ATOMIC_PAYLOADS),
    PARAM_FLAG(Sm, atomics_stall, "false",
               "A warp issues nothing while an atomic of its own on global memory is in flight",
               .timing = true),
    PARAM(Sm, shared_banks, "32", "banks", "Shared-memory banks of 4 B", .min = 1, .max = 64,
          .power_of_two = true),
    PARAM(Sm, shared_atomic_cycles, "0", "cycles",
          "Atomics on shared memory: for each further lane on a word, its bank is taken this much longer; "
          "0: lanes on one word share it, as loads do",
          .timing = true, .max = MAX_SHARED_ATOMIC_CYCLES),
    UNIT_ROWS(UNIT_SP, "sp", "2", "6", "2"),
    UNIT_ROWS(UNIT_SFU, "sfu", "1", "8", "1"),
    UNIT_ROWS(UNIT_INT, "int", "2", "6", "2"),
    UNIT_ROWS(UNIT_DP, "dp", "1", "8", "1"),
    UNIT_ROWS(UNIT_MATRIX, "matrix", "1", "8", "1"),
    READ_ROWS(UNIT_MEM, "mem", "2", "1"),
    DERIVED(Sm, shape.shape[UNIT_MEM].units, "The LSU"),
    PARAM_NAMED(Sm, shape.dispatch_cycles, "dispatch_cycles", "2", "cycles",
                "From the read of an instruction's last operand to its unit", .timing = true, .min = 1,
                .max = 16),
    PARAM_NAMED(Sm, shape.result_cycles, "result_cycles", "2", "cycles",
                "From the end of a unit's latency to the result's write-back", .timing = true, .min = 0,
                .max = 16),
    DERIVED(Sm, shape.dispatch_latch, "Instructions wait between collector and unit"),
    DERIVED(Sm, shape.is_common, "One sub-core with Fermi's stages and banks, and SP and SFU alone"),
    DERIVED(Sm, shape.lacks_second, "Classes of one pipeline"),
    DERIVED(Sm, shape.behind_collector, "Which collector is next in turn"),
    DERIVED(Sm, shape.behind_latch, "Which latch is next in turn"),
    PARAM_NAMED(Sm, shape.banks, "register_banks", "16", "banks",
                "Register banks, of each sub-core: (register + warp) mod banks", .min = 1,
                .max = MAX_REGISTER_BANKS, .power_of_two = true),
    PARAM_NAMED(Sm, shape.result_bus_width, "result_bus", "2", "results",
                "Results written back per cycle; an instruction without one takes a place, too", .min = 1,
                .max = MAX_RESULT_BUS),
    {.kind = FIELD_PARAM,
     .type = TYPE_U32,
     .name = "local_layout",
     .initial = "warp",
     .unit = "choice",
     .choices = "warp|word",
     .timing = true,
     .doc =
         "Local memory: all words of a warp lie together, or a word's copies of all threads that run at once",
     FIELD_AT(Sm, local_layout)},
    TIMING_ROWS(TIMING_OTHER, "other", "1", "1", "sp",
                "moves, logic, shifts, compares, conversions, control"),
    TIMING_ROWS(TIMING_INT_ADD, "int_add", "4", "1", "sp", "integer add and subtract"),
    TIMING_ROWS(TIMING_INT_MAX, "int_max", "13", "2", "sp", "integer minimum and maximum"),
    TIMING_ROWS(TIMING_INT_MUL, "int_mul", "4", "2", "sp", "integer multiply"),
    TIMING_ROWS(TIMING_INT_MAD, "int_mad", "5", "1", "sp", "integer multiply-add"),
    TIMING_ROWS(TIMING_INT_DIV, "int_div", "145", "8", "sfu", "integer divide and remainder"),
    TIMING_ROWS(TIMING_FP_ADD, "fp_add", "4", "1", "sp", "single-precision add"),
    TIMING_ROWS(TIMING_FP_MAX, "fp_max", "13", "2", "sp", "single-precision minimum and maximum"),
    TIMING_ROWS(TIMING_FP_MUL, "fp_mul", "4", "1", "sp", "single-precision multiply"),
    TIMING_ROWS(TIMING_FP_MAD, "fp_mad", "5", "1", "sp", "single-precision fused multiply-add"),
    TIMING_ROWS(TIMING_FP_DIV, "fp_div", "39", "4", "sfu", "single-precision divide"),
    TIMING_ROWS(TIMING_DP_ADD, "dp_add", "8", "8", "sfu", "double-precision add"),
    TIMING_ROWS(TIMING_DP_MAX, "dp_max", "19", "16", "sfu", "double-precision minimum and maximum"),
    TIMING_ROWS(TIMING_DP_MUL, "dp_mul", "8", "8", "sfu", "double-precision multiply"),
    TIMING_ROWS(TIMING_DP_MAD, "dp_mad", "8", "8", "sfu", "double-precision fused multiply-add"),
    TIMING_ROWS(TIMING_DP_DIV, "dp_div", "330", "130", "sfu", "double-precision divide and square root"),
    PARAM_FLAG(
        Sm, dp_roots_on_sfu, "false",
        "Double-precision reciprocals and square roots take the SFU's latency and interval, not those of "
        "a division",
        .timing = true),
    DERIVED(Sm, timing[TIMING_DP_ROOT], "Double-precision reciprocals and square roots"),
    TIMING_ROWS(TIMING_SFU, "sfu", "8", "8", "sfu", "reciprocal, root, sine, exponential, logarithm"),
    TIMING_ROWS(TIMING_SHUFFLE, "shuffle", "32", "4", "sp", "shuffles between lanes"),
    TIMING_ROWS(TIMING_MATRIX_SHORT, "matrix_short", "18", "4", "sfu",
                "mma of m16n8k8 f16 and its like: up to 16,384 bits of products"),
    DERIVED(Sm, timing[TIMING_MATRIX_HALF], "Half of such an mma: of m8n8k4 f16 with f32 results"),
    TIMING_ROWS(TIMING_MATRIX_LONG, "matrix_long", "25", "8", "sfu", "mma of m16n8k16 f16 and its like"),
    TIMING_ROWS(TIMING_MATRIX_DP, "matrix_dp", "25", "16", "sfu", "mma of f64"),
    DERIVED(Sm, timing[TIMING_MEM], "Memory instructions: their unit is the LSU"),
    PARAM(Sm, code_bytes, "2KiB", "bytes",
          "Instruction cache, when fetch is wired: capacity; an instruction takes 8 B", .min = 128,
          .max = 1 << 24),
    PARAM(Sm, code_ways, "4", "lines", "Instruction cache: lines per set", .min = 1, .max = 64),
    PARAM(Sm, code_line, "128", "bytes", "Instruction cache: line size", .min = 32, .max = 128,
          .power_of_two = true),
    PARAM(Sm, code_misses, "2", "lines", "Instruction cache: lines in flight", .min = 1,
          .max = MAX_FETCH_MISSES),
    DERIVED(Sm, number, "Of this SM among all"),
    DERIVED(Sm, sm_count, "SMs of the machine"),
    DERIVED(Sm, most_warps, "Warp slots of the largest SM"),
    DERIVED(Sm, issue_way, "Whether schedulers and units are such that issue has a quicker way"),
    PORT(Sm, dispatch, cta_protocol, ROLE_RESPONDER, "CTAs to run"),
    PORT(Sm, lsu, memory_op_protocol, ROLE_REQUESTER,
         "Memory instructions; wired to the child lsu when left open", .optional = true),
    PORT(Sm, fetch, memory_protocol, ROLE_REQUESTER,
         "Misses of the instruction cache; left open, instructions are always there", .optional = true),
    DMA_GATE_PORT_ROWS(SmWithParts, dma),
    CHILD("lsu", "LSU", "Load/store unit"),
    VISIBLE(Sm, live, "warps", "Warps with lanes that have not exited"),
    VISIBLE(Sm, valid, "warps", "Warps with a decoded instruction"),
    VISIBLE(Sm, blocked, "warps", "Warps whose next instruction waits for operands"),
    VISIBLE(Sm, waiting, "warps", "Warps at a barrier or fence, or asleep"),
    STATE(Sm, fencing, "Warps at a fence"),
    VISIBLE(Sm, head_memory, "warps", "Warps whose next instruction goes to the LSU"),
    VISIBLE(Sm, head_sfu, "warps", "Warps whose next instruction goes to the SFU"),
    VISIBLE(Sm, head_int, "warps", "Warps whose next instruction goes to the units for integers"),
    VISIBLE(Sm, head_dp, "warps", "Warps whose next instruction goes to the units for double precision"),
    VISIBLE(Sm, head_matrix, "warps",
            "Warps whose next instruction goes to the units for matrices; those of all others, to the SP"),
    STATE(Sm, want_fetch, "Warps that want instructions"),
    STATE(Sm, refetch, "Warps that will, after a jump"),
    VISIBLE(Sm, loading, "warps", "Warps with loads or atomics in flight"),
    STATE(Sm, copying, "Warps that wait for asynchronous copies"),
    STATE(Sm, sleeping, "Warps that sleep"),
    VISIBLE(Sm, spinning, "warps",
            "Warps that go round in a loop, look again for what others do (a lock, a flag, an mbarrier), and "
            "find nothing new"),
    ISSUE_KNOBS_MAY_ISSUE_ROW(SmWithParts, knobs),
    MEMORY_OWNERSHIP_OWNERS_ROW(SmWithParts, ownership),
    LOAD_GATE_ROWS(SmWithParts, loads),
    ISSUE_KNOBS_PREFERRED_ROW(SmWithParts, knobs),
    MEMORY_OWNERSHIP_WATCH_ROWS(SmWithParts, ownership),
    ISSUE_KNOBS_STATE_ROWS(SmWithParts, knobs),
    STATE(Sm, accounted, "Cycles whose scheduler slots are accounted for"),
    STATE(Sm, fetched, "Warps to be decoded in the next cycle"),
    STATE(Sm, last_fetched, "Warp fetched last, of each sub-core"),
    STATE(Sm, payloads_in_use, "Atomic payloads in use"),
    STATE(Sm, finished_ctas, "CTA slots to be reported as finished"),
    STATE(Sm, sched, "Schedulers"),
    STATE(Sm, cta_by_age, "Warps of the resident CTAs, the oldest first"),
    STATE(Sm, resident, "Resident CTAs"),
    STATE(Sm, forwarded, "CTAs that came in mid-flight"),
    STATE_NAMED(Sm, ending, "dma_ending", "CTA slots of which only transfers are left"),
    DMA_GATE_STATE_ROWS(SmWithParts, dma, sm.ctas, sm.warps),
    STATE(Sm, collector, "Operand collectors, register banks, units, result bus"),
    TAG_ARRAY_ROWS(Sm, code.tags),
    STATE(Sm, code.miss, "Lines of code in flight and the warps that wait for them"),
    STATE(Sm, slot_cause, "What each scheduler's last slot was"),
    STATE(Sm, cta, "Resident CTAs"),
    STATE_ARRAY(Sm, warp, warps, "Warps"),
    STATE(Sm, waiting_lanes, "SIMT stacks below their tops"),
    STATE(Sm, paths, "Lanes that wait for others of their warp"),
    STATE(Sm, turn, "Last turns of warps in loops in which they may spin"),
    STATE(Sm, load_pending, "Names that loads and atomics beyond the SM will write"),
    STATE(Sm, vote, "Warps that wait for the result of a bar.red"),
    GATE_ROWS(Sm, sleepers),
    GATE_ROWS(Sm, kernel_switch.gate),
    HOST(Sm, kernel_switch.threads_before, "When the last instruction issued"),
    STATE(Sm, async, "Asynchronous copies of each warp, by group"),
    STATE(Sm, arrivals, "Arrivals at mbarriers that wait for them"),
    STATE(Sm, wakes, "Cycles in which warps that sleep may issue again"),
    KNOB_BY_METHOD(Sm, class_of, "class_of", "Class number of each warp's requests: set_class()"),
    STATE(Sm, write_backs, "Write-backs to come"),
    STATE(Sm, payload_used, "Atomic payloads: which are in use"),
    STATE_ARRAY(Sm, payload, atomic_payloads, "Operands and results of atomics in flight"),
    STATE_ARRAY(Sm, shared_memory, shared_count, "Shared memory, CTA slot by CTA slot"),
    STATE_ARRAY(Sm, register_file, register_count, "Registers, warp by warp"),
    STATE_ARRAY(Sm, local_memory, local_count, "Local memory, warp by warp"),
    STATE_ARRAY(Sm, predicates, predicate_count, "Predicates, warp by warp"),
    STATE(Sm, shared_count, "Size of shared_memory"),
    STATE(Sm, register_count, "Size of register_file"),
    STATE(Sm, local_count, "Size of local_memory"),
    STATE(Sm, predicate_count, "Size of predicates"),
    HOST(Sm, launched, "The kernels whose CTAs it may have, the device's"),
    HOST(Sm, launched_count, "How many"),
    HOST(Sm, running, "Of them, that of the instruction that executes"),
    HOST(Sm, kernels, "Of them, what every instruction needs"),
    HOST(Sm, place, "Where each warp has its instructions, registers and memory"),
    HOST(Sm, fixed, "Where instructions of fixed latency are issued"),
    HOST(Sm, context, "Of the instruction that executes"),
    HOST(Sm, windows, "What registers with addresses of shared memory hold"),
    HOST(Sm, view, "Of device memory"),
    HOST(Sm, system, "What kernels asked of the device's runtime in this quantum"),
    HOST(Sm, gates, "Of its parts"),
    HOST(Sm, memcheck, "What it has found, if it is on"),
    HOST(Sm, warms_caches, "What executes without timing leaves its lines in the caches"),
    HOST(Sm, untimed_miss, "Whether the last such access missed"),
    HOST(Sm, untimed_repeats, "Where another like it would change no cache"),
    HOST(Sm, one_pass_bytes, "Spans of shared memory that take one cycle"),
    HOST(Sm, narrow_cache_ops, "Loads of which the LSU may want narrow segments"),
    HOST(Sm, pad_narrow, "Alignment"),
    HOST(Sm, one_access_bytes, "Blocks of them in which loads need no addresses"),
    HOST(Sm, spaces_beyond, "Which spaces are beyond the SM"),
    HOST(Sm, class_setter, "The policy that set classes"),
    STAT(Sm, warp_instructions, "instructions", "Warp instructions issued"),
    STAT(Sm, thread_instructions, "instructions",
         "Instructions times lanes that execute them: not those that a predicate switches off, and of a "
         "branch those that jump"),
    STAT(Sm, ctas_started, "CTAs", "CTAs started"),
    STAT(Sm, ctas_finished, "CTAs", "CTAs finished"),
    STAT_NAMED(Sm, slots[SLOT_ISSUED], "slots_issued", "slots", "Scheduler slots in which a warp issued"),
    STAT_NAMED(Sm, slots[SLOT_IDLE], "slots_idle", "slots", "Scheduler slots without any warp"),
    STAT_NAMED(Sm, slots[SLOT_FETCH], "slots_fetch", "slots",
               "Slots in which no warp had a decoded instruction"),
    STAT_NAMED(Sm, slots[SLOT_SCOREBOARD], "slots_scoreboard", "slots",
               "Slots lost to arithmetic dependences"),
    STAT_NAMED(Sm, slots[SLOT_MEMORY], "slots_memory", "slots", "Slots lost waiting for loads and atomics"),
    STAT_NAMED(Sm, slots[SLOT_BARRIER], "slots_barrier", "slots",
               "Slots lost at barriers, fences, and to sleep"),
    STAT_NAMED(Sm, slots[SLOT_UNIT], "slots_unit", "slots",
               "Slots lost because units other than the LSU took nothing"),
    STAT_NAMED(Sm, slots[SLOT_LSU], "slots_lsu", "slots",
               "Slots lost because the memory pipeline took nothing"),
    STAT_NAMED(Sm, slots[SLOT_POLICY], "slots_policy", "slots",
               "Slots lost because the policy forbade the ready"),
    STAT_NAMED(Sm, slots[SLOT_GATE], "slots_dma", "slots",
               "Slots lost to instructions squashed for a transfer, or waiting for one"),
    STAT(Sm, barriers, "instructions", "Warp arrivals at barriers"),
    STAT(Sm, branches, "instructions", "Warp branches"),
    STAT(Sm, divergent_branches, "instructions", "Branches at which a warp's lanes parted"),
    STAT(Sm, fetch_hits, "fetches", "Fetches that found their line in the instruction cache"),
    STAT(Sm, fetch_misses, "fetches", "Fetches that asked for their line"),
    STAT(Sm, fetch_merges, "fetches", "Fetches whose line was in flight"),
    STAT(Sm, fetch_fails, "fetches", "Fetches that found no room to ask for their line, once per cycle"),
    STAT_NAMED(Sm, unit_instructions[UNIT_SP], "sp_instructions", "instructions",
               "Warp instructions of the SP units"),
    STAT_NAMED(Sm, unit_instructions[UNIT_SFU], "sfu_instructions", "instructions",
               "Warp instructions of the SFU"),
    STAT_NAMED(Sm, unit_instructions[UNIT_INT], "int_instructions", "instructions",
               "Warp instructions of the units for integers"),
    STAT_NAMED(Sm, unit_instructions[UNIT_DP], "dp_instructions", "instructions",
               "Warp instructions of the units for double precision"),
    STAT_NAMED(Sm, unit_instructions[UNIT_MATRIX], "matrix_instructions", "instructions",
               "Warp instructions of the units for matrices"),
    STAT_NAMED(Sm, unit_instructions[UNIT_MEM], "mem_instructions", "instructions",
               "Warp instructions of the LSU"),
    DMA_GATE_STAT_ROWS(SmWithParts, dma),
    FORMULA(
        "ipc", ipc, "instructions/cycle",
        "thread_instructions per core cycle, those included in which messages drain behind the last kernel"),
    FORMULA("lanes_per_instruction", lanes_per_instruction, "lanes",
            "SIMD efficiency: thread_instructions / warp_instructions"),
    FIELDS_END};

/* From issue to write-back an instruction waits for all that are before it in latches and collectors: this time must
 * fit the ring of the result bus. */
static void check_timing(const Sm *sm) {
    enum { STAGES = 128 }; /* generously: from issue to unit with bank conflicts, the way of the result */
    static const char *const words[] = {"sp", "sfu", "int", "dp", "matrix"};
    for (uint32_t unit = UNIT_SP; unit <= UNIT_MATRIX; unit++) {
        const UnitShape *shape = &sm->shape.shape[unit];
        uint32_t latency = 0, interval = 0, before = shape->collectors + shape->latches;
        for (uint32_t i = 0; i < TIMING_CLASSES; i++) {
            const Timing *timing = &sm->timing[i];
            if (timing->unit != unit) continue;
            if (timing->latency > latency) latency = timing->latency;
            if (timing->interval > interval) interval = timing->interval;
        }
        uint32_t longest = before * interval + latency + STAGES + sm->shape.dispatch_cycles +
                           sm->shape.result_cycles;
        if (longest > RESULT_BUS_RING)
            user_error("%s: expected up to %d cycles from issue to write-back, got %u (%u collectors and "
                       "latches of %s with intervals up to %u and latencies up to %u)",
                       sm->obj.path, RESULT_BUS_RING, longest, before, words[unit], interval, latency);
    }
}

static bool has_units_beside(const Sm *sm) {
    for (uint32_t i = 0; i < TIMING_CLASSES; i++)
        if (sm->timing[i].unit == UNIT_INT || sm->timing[i].unit == UNIT_DP ||
            sm->timing[i].unit == UNIT_MATRIX)
            return true;
    return false;
}

static void divide(Sm *sm) {
    if (sm->schedulers % sm->shape.sub_cores)
        user_error("%s.sub_cores: expected a divisor of `schedulers`, %u, got %u", sm->obj.path,
                   sm->schedulers, sm->shape.sub_cores);
    collector_shape_init(&sm->shape, has_units_beside(sm));
    if (sm->schedulers == 2 && sm->shape.sub_cores == 1 && !has_units_beside(sm))
        sm->issue_way = ISSUES_IN_PAIR;
    if (sm->schedulers == MAX_SUB_CORES && sm->shape.sub_cores == MAX_SUB_CORES) sm->issue_way = ISSUES_APART;
}

static void build(SimObject *object) {
    Sm *sm = (Sm *)object;
    SimObject *lsu = NULL;
    sm->timing[TIMING_DP_ROOT] = sm->timing[sm->dp_roots_on_sfu ? TIMING_SFU : TIMING_DP_DIV];
    sm->timing[TIMING_MATRIX_HALF] = sm->timing[TIMING_MATRIX_SHORT];
    sm->timing[TIMING_MATRIX_HALF].interval = (sm->timing[TIMING_MATRIX_SHORT].interval + 1) / 2;
    sm->timing[TIMING_MEM] = (Timing){.latency = 1, .interval = 1, .unit = UNIT_MEM};
    sm->shape.shape[UNIT_MEM].units = 1;
    divide(sm);
    tag_shape_init(
        &sm->code.tags.shape, object->path,
        &(TagGeometry){.size = sm->code_bytes, .ways = sm->code_ways, .line = sm->code_line, .sectors = 1});
    for (uint32_t i = 0; i < object->sim->object_count; i++) {
        SimObject *other = object->sim->objects[i];
        if (other->class == &sm_class && other == object) sm->number = sm->sm_count;
        if (other->class == &sm_class) {
            uint32_t warps = ((const Sm *)other)->warps;
            sm->sm_count++;
            if (warps > sm->most_warps) sm->most_warps = warps;
        }
        if (other->class == &lsu_class && other->parent == object) lsu = other;
    }
    if (sm->sm_count > MAX_SMS)
        user_error("%s: expected up to %d SMs, got %u", object->path, MAX_SMS, sm->sm_count);
    check_timing(sm);
    ensure(lsu);
}

/* For the audit of queues. */
static uint64_t lines_under_way(const SimObject *object, uint32_t queue) {
    (void)queue;
    return instruction_cache_under_way(&((const Sm *)object)->code);
}

static void add_parts(Sm *sm) {
    SmWithParts *all = (SmWithParts *)sm;
    issue_knobs_init(&all->knobs, sm);
    memory_ownership_init(&all->ownership, sm);
    load_gate_init(&all->loads, sm);
    sleep_init(sm);
    kernel_switch_init(sm);
    dma_gate_init(&all->dma, sm);
}

static void init(SimObject *object) {
    Sm *sm = (Sm *)object;
    if (!sm->lsu.send) user_error("%s.lsu: expected a wire to its load/store unit, got none", object->path);
    audit_queue(object, QUEUE_CODE_LINES, "lines of code", QUEUE_TABLE, MAX_FETCH_MISSES, lines_under_way);
    for (uint32_t kind = 0; kind <= INST_ATOMIC; kind++)
        sm->one_pass_bytes[kind] = kind == INST_ATOMIC && sm->shared_atomic_cycles ? 0
                                                                                   : sm->shared_banks * 4 - 3;
    sm->one_access_bytes = l1s_have_sectors(object->sim) ? SECTOR_BYTES : COALESCE_LINE;
    sm->spaces_beyond = 1u << SPACE_GLOBAL | 1u << SPACE_LOCAL | 1u << SPACE_TEXTURE;
    sm->narrow_cache_ops = 1u << CACHE_GLOBAL;
    if (lsu_splits_read_only_lines(sm->lsu.send->receiver)) sm->narrow_cache_ops |= 1u << CACHE_READ_ONLY;
    sm->fixed = lsu_fixed_pipeline(sm->lsu.send->receiver);
    if (lsu_fetches_constants(sm->lsu.send->receiver))
        sm->spaces_beyond |= 1u << SPACE_CONST | 1u << SPACE_PARAM;
    for (uint32_t i = 0; i < sm->schedulers; i++)
        sm->slot_cause[i] = SLOT_IDLE;
    sm->context = aligned_alloc(_Alignof(ExecContext), sizeof *sm->context);
    sm->view = calloc(1, sizeof *sm->view);
    ensure_memory(sm->context && sm->view);
    *sm->context = (ExecContext){.view = sm->view};
    sm->context->system = &sm->system;
    view_init(sm->view, functional_memory(object)->memory);
    functional_memory(object)->payloads[sm->number] = sm->payload;
    add_parts(sm);
}

static void destroy(SimObject *object) {
    Sm *sm = (Sm *)object;
    if (sm->view) view_free(sm->view);
    free(sm->view);
    free(sm->context);
    system_calls_free(&sm->system);
    free(sm->windows);
    memcheck_free(sm->memcheck);
}

static void commit(SimObject *object) {
    Sm *sm = (Sm *)object;
    view_commit(sm->view);
    if (system_calls_wait(&sm->system)) sm_perform_system_calls(sm);
    if (sm->memcheck) memcheck_commit(sm);
}

static void find_what_snapshot_lacks(Sm *sm) {
    sm_find_kernels(sm);
    for (WarpSet live = sm->live; live; live &= live - 1)
        sm_show_next(sm, first_warp(live));
    sm->kernels.is_fresh = 0;
}

/* Without CTAs the snapshot may be still to come: a policy sets knobs before it, too. */
static bool knobs_set(SimObject *object) {
    Sm *sm = (Sm *)object;
    gates_knobs_set(&sm->gates);
    if (sm->kernels.is_fresh && sm->resident) find_what_snapshot_lacks(sm);
    return true;
}

static void clocks_changed(SimObject *object, const Clock *was) {
    (void)was;
    sm_set_time((Sm *)object);
}

const Class sm_class = {
    .name = "SM",
    .first_clock = true,
    .doc = "Streaming multiprocessor: warps, schedulers, scoreboard, operand collectors, pipelines",
    .bytes = sizeof(SmWithParts),
    .fields = sm_fields,
    .events = sm_events,
    .methods = sm_methods,
    .trace = &sm_trace,
    .build = build,
    .init = init,
    .tick = sm_tick,
    .commit = commit,
    .knobs_set = knobs_set,
    .clocks_changed = clocks_changed,
    .settle = sm_settle,
    .is_sound = sm_is_sound,
    .answer_kinds = sm_answer_kinds,
    .answer_kind = sm_answer_kind,
    .answers_awaited = sm_answers_awaited,
    .check = sm_check,
    .report = sm_report,
    .destroy = destroy,
};
REGISTER_CLASS(sm_class);
