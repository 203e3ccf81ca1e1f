/* The streaming multiprocessor: its state, shared by the files that implement its stages.
 *
 *   sm_class.c  what it has: parameters, ports, state, statistics, events; building it
 *   sm_methods.c  what policies may call
 *   sm_kernel.c  the kernels that it runs: how many CTAs fit, the memory that they take
 *   sm.c        the cycle, write-back
 *   sm_check.c  conservation laws, and what warps wait for
 *   cta.c       starts and finishes CTAs
 *   fetch.c     instruction buffers
 *   scoreboard.h  names that will be written, and what issue knows of each warp's next instruction
 *   issue.c     which warp issues, and why none does
 *   issue_gate.c  mechanisms that have a say in it, each a part with a folder of its own
 *   kernel_switch.c  whose instruction it is, in an SM that has several kernels at once
 *   execute.c   what an issued instruction does: functional execution, scoreboard, control flow, barriers
 *   memory_op.c what the load/store unit is told of it
 *   paths.c     lanes of a warp that wait for each other
 *   spinning.c  warps that go round and round in a loop that looks for what others do
 *   untimed.c   kernels without timing: no cycle passes
 *   execute_untimed.c  what an instruction does then
 *
 * A set of warps is a uint64_t, one bit per warp slot. The masks change when something happens to a warp; a
 * cycle only combines them. */
#ifndef WW_GPU_SM_H
#define WW_GPU_SM_H

#include "core/gpu/lsu/fixed_pipeline.h"
#include "core/gpu/protocol/protocols.h"
#include "core/gpu/sm/issue_gate.h"
#include "core/gpu/sm/structures/instruction_cache.h"
#include "core/gpu/sm/structures/operand_collector.h"
#include "core/gpu/sm/structures/simt_stack.h"
#include "core/gpu/sm/structures/write_backs.h"
#include "core/ptx/execution/exec.h"
#include "core/ptx/execution/system.h"
#include "core/sim/event.h"
#include "core/sim/method.h"

enum {
    MAX_SCHEDULERS = 4,
    MAX_CTAS = 32,
    NAMED_BARRIERS = 16,
    INSTRUCTION_BUFFER = 2,
    NO_WARP = 0xff,
    ATOMIC_PAYLOADS = 64,
    ASYNC_GROUPS = 8,
    ASYNC_ALL = 0xff,
    ASYNC_ROOM = 0xfe,
    ASYNC_ARRIVALS = 8,
};

/* What keeps SMs from holding more CTAs of a kernel. */
typedef enum {
    LIMIT_CTA_SLOTS,
    LIMIT_WARPS,
    LIMIT_REGISTERS,
    LIMIT_SHARED_MEMORY,
    LIMIT_GRID,
    OCCUPANCY_LIMITS
} OccupancyLimit;

enum { MAX_KERNELS_TOGETHER = 1024 }; /* of one launch */

/* A kernel while it runs; the same for all SMs, fixed from launch to end. */
typedef struct {
    const Kernel *kernel;
    uint32_t grid[3], block[3];
    uint32_t threads_per_cta, warps_per_cta;
    uint32_t registers;    /* per thread */
    uint32_t most_ctas;    /* that any SM holds at once */
    OccupancyLimit limit;  /* of that SM, or the grid */
    uint32_t local_bytes;  /* per thread, with the stack */
    uint32_t shared_bytes; /* per CTA, static and dynamic */
    uint32_t dynamic_shared_bytes;
    uint32_t launch; /* number of the launch: %gridid */
    uint32_t tenant; /* whose it is */
    uint8_t *params;
    uint8_t *constants; /* the kernel's constant bank, launch constants included */
    const TextureTable *textures;
    struct LaunchFault
        *faults;  /* the first of each SM, of a launch that returns them; NULL: they end the run */
    bool aborted; /* its warps exit: see sm_abort() */
    PrintedText *printed;
    uint64_t workspace;              /* of a cooperative launch, or 0 */
    uint64_t heap_start, heap_bytes; /* 0: no module has asked for a heap */
} RunningKernel;

/* What an instruction touches of its warp: one cache line. */
typedef struct {
    uint64_t pending[SCOREBOARD_NAMES / 64]; /* scoreboard: names with a write outstanding              */
    SimtStack simt;
    uint16_t in_flight;         /* issued instructions not yet complete                        */
    uint16_t reads_in_flight;   /* loads and atomics of them                                   */
    uint16_t writes_in_flight;  /* stores and atomics of them: what a fence waits for          */
    uint16_t atomics_in_flight; /* on global memory: later accesses of the warp wait for them  */
    uint8_t buffered;           /* decoded instructions in the instruction buffer              */
    uint8_t cta_slot, warp_in_cta, pad;
    uint32_t cta_number; /* among those that the SM has started */
} Warp;

_Static_assert(sizeof(Warp) == 64, "Warp is one cache line");

/* Where the host has what instructions of a warp look at: found when the warp starts. One cache line. */
typedef struct {
    const Inst *insts;    /* of its kernel                                  */
    uint32_t *predicates; /* as the members of ExecContext with these names */
    uint8_t *registers;
    uint8_t *shared;
    AddressWindow *windows;
    uint8_t *local;
    uint32_t inst_count;
    uint8_t known_windows;
    uint8_t pad[11];
} WarpPlace;

_Static_assert(sizeof(WarpPlace) == 64, "a place is found as its Warp is");

typedef struct {
    WarpSet waiting;  /* warps that go on when it is complete              */
    uint32_t threads; /* that must arrive; 0: all of the CTA               */
    uint32_t present; /* threads that have arrived                         */
    uint32_t voters;  /* of them, with a predicate to reduce (bar.red)     */
    uint32_t votes;   /* of these, true                                    */
} Barrier;

/* Where a warp that waits at a bar.red wants the result. */
typedef struct {
    uint32_t inst, lanes; /* lanes: 0 at other barriers */
} BarrierVote;

/* Asynchronous copies of a warp: see async_copies.c. */
typedef struct {
    uint16_t in_flight[ASYNC_GROUPS]; /* copies that are not complete, by group                      */
    uint32_t committed;               /* groups, so far                                              */
    uint8_t shared;                   /* bit per slot: two groups have it                            */
    uint8_t spared; /* of a warp that waits: groups that need not be complete, ASYNC_ALL or ASYNC_ROOM */
    uint16_t pad;
} AsyncCopies;

/* Arrivals at mbarriers that wait for asynchronous copies of a warp, in a ring: see async_copies.c. */
typedef struct {
    uint16_t in_flight[ASYNC_ARRIVALS]; /* copies between the arrival before and this one; of the place behind
                                         * the last: those since                                           */
    uint32_t lanes[ASYNC_ARRIVALS];     /* that arrive                                                     */
    uint32_t bytes[ASYNC_ARRIVALS];     /* that have come, in place of a thread that arrives; 0: it is one */
    uint16_t object[ASYNC_ARRIVALS][WARP_LANES]; /* where, in 8 bytes of the CTA's shared memory           */
    uint32_t first, count;
} AsyncArrivals;

/* Of a warp whose lanes may wait for each other: see paths.h. */
typedef struct {
    uint32_t lanes;   /* that took a turn last in a loop that waits        */
    uint32_t turns;   /* of theirs, one after the other                    */
    uint32_t held;    /* lanes that wait for others at an instruction      */
    uint32_t yielded; /* how often a path has                              */
} Paths;

/* The last turn of a warp in a loop that looks again and again at what others may change: see spinning.h. */
typedef struct {
    uint64_t compared; /* a hash of what the loop compared            */
    uint32_t lanes;    /* that went round; 0: the warp is in no such loop */
    uint32_t branch;   /* index of the instruction by which they did  */
} SpinTurn;

/* barrier.cluster, of clusters of one CTA: arrival and wait are apart. */
typedef struct {
    WarpSet arrived; /* in this phase, which ends when all have that live */
    WarpSet passed;  /* that need not wait: they had arrived in the phase before */
    WarpSet waiting;
} SplitBarrier;

typedef struct {
    Barrier barrier[NAMED_BARRIERS];
    SplitBarrier cluster;
    WarpSet warps;       /* all its warps, finished ones too */
    uint32_t unfinished; /* warps                             */
    uint32_t ctaid[3];
    uint32_t kernel; /* of the SM's kernels */
    uint32_t pad;
    uint64_t warp_instructions, thread_instructions; /* counted where the SM has several kernels */
} Cta;

typedef struct {
    WarpSet warps; /* that belong to this scheduler */
    uint32_t last; /* warp that issued last          */
    uint32_t pad;
} Scheduler;

/* Which of its ready warps a scheduler issues. */
typedef enum { ORDER_LRR, ORDER_GTO, ORDER_OLDEST, ORDER_GROUPS } SchedulerOrder;

/* Ways of its own: two schedulers that share SPs and SFUs, where there are no other units; four, each of which has a sub-core. */
typedef enum { ISSUES_ANYHOW, ISSUES_IN_PAIR, ISSUES_APART } IssueWay;

/* Events that policies can subscribe to; the table is in sm_class.c. */
typedef enum {
    SM_WARPS_CHANGED,
    SM_ISSUE,
    SM_LOAD_BLOCKED,
    SM_LOADS_ANSWERED,
    SM_CTA_START,
    SM_CTA_END,
    SM_WARP_END,
    SM_PICK,
    SM_WATCHED_STOPS,
    SM_SATURATION,
    SM_MEMORY_ACCESS,
    SM_KERNEL_GIVEN,
    SM_SPIN,
    SM_SPIN_END,
    SM_BRANCH,
} SmEvent;

/* Each scheduler slot of each cycle has exactly one of these. */
typedef enum {
    SLOT_ISSUED,
    SLOT_IDLE,       /* no warp                                                    */
    SLOT_FETCH,      /* no warp has a decoded instruction                          */
    SLOT_SCOREBOARD, /* those that have one wait for operands, none of them memory */
    SLOT_MEMORY,     /* ... at least one waits for a load or an atomic             */
    SLOT_BARRIER,    /* all others wait at barriers or fences, or sleep            */
    SLOT_UNIT,       /* ready, but units other than the LSU take nothing            */
    SLOT_LSU,        /* ready, but the memory pipeline takes nothing: LSU stall    */
    SLOT_POLICY,     /* ready, but the policy does not allow it                    */
    SLOT_GATE,       /* a gate has squashed or parked it, or all others            */
    SLOT_CAUSES,
} SlotCause;

typedef struct {
    uint32_t latency, interval, unit; /* unit: UnitClass */
} Timing;

/* Units that a kernel's instructions go to beside SP and LSU. */
typedef enum { NO_OTHER_UNIT, SFU_ALONE, SEVERAL_UNITS } OtherUnits;

/* What lies side by side in local memory. */
typedef enum { LOCAL_BY_WARP, LOCAL_BY_WORD } LocalLayout;

/* Of the kernels whose CTAs the SM may have, what every instruction needs: beside the SM's state, not behind two
 * pointers. Of several, sizes are those of the one with the largest. */
typedef struct {
    uint32_t register_bytes; /* of a warp */
    uint32_t predicates;     /* of a warp */
    uint32_t windows;        /* of a warp */
    uint32_t shared_bytes;   /* of a CTA  */
    uint32_t local_bytes;    /* of a thread */
    uint32_t local_warps;    /* whose local memory lies side by side: those of any SM at once */
    uint32_t is_fresh;       /* what follows from a snapshot is to be found out            */
    uint32_t name_words;     /* of scoreboard names: all behind them are free              */
    uint32_t other_units;    /* OtherUnits: else head_sfu and those behind it stay empty   */
    uint32_t ctas;           /* that the SM holds at once, in slots 0, 1, ...              */
    uint32_t warps;          /* in slots 0, 1, ...                                         */
    uint32_t are_several;    /* a flag: they run side by side in the SM                    */
    uint32_t shows_more;     /* a flag: other_units, or more than two name_words           */
    uint32_t pad;
} SmKernels;

/* Of an SM that has CTAs of several kernels at once: see kernel_switch.h. */
typedef struct {
    IssueGate gate;
    uint64_t threads_before; /* thread_instructions before the instruction that issues */
} KernelSwitch;

typedef enum {
    STEP_OTHER, /* not plain                                                        */
    STEP_BRANCH,
    STEP_BARE,     /* takes a call of exec alone                                     */
    STEP_GUARDED,  /* some lanes execute it, or it voids windows, or reads the clock */
    STEP_TOGETHER, /* the same, as long as no lanes of the warp are elsewhere        */
    STEP_CONSTANT, /* loads parameters or constants                                 */
    STEP_ACCESS,   /* caches may see what else it loads or stores                    */
} PlainStep;

/* Of an instruction, what executing it without timing looks at: see untimed.h. */
typedef struct {
    ExecFn *exec;
    uint32_t guard_flips;   /* all ones: lanes execute where the guard is false */
    uint8_t guard;          /* a predicate, TRUE_PREDICATE if there is none      */
    uint8_t step;           /* PlainStep                                         */
    uint8_t bare;           /* how many from here on are                         */
    uint8_t keeps_windows;  /* of Inst.windows, those that hold afterwards       */
    bool loads_from_memory; /* no shared memory, parameters or constants         */
    uint8_t pad[3];
    uint32_t issues; /* the cycle in which it would issue: see untimed_find_times()               */
    uint64_t lowest; /* of an access: the lowest address when it executed last, in whatever warp */
} PlainInst;

/* What ends a turn without timing beside the number of its instructions, and a warp that waits, exits or has a fault. */
typedef enum { TURN_ENDS_NOT, TURN_ENDS_AT_LOAD } TurnEnd;

/* Without its parts: see sm_parts.h. */
struct Sm {
    SimObject obj;
    /* parameters */
    uint32_t warps, schedulers, registers, ctas;
    uint64_t shared, reserved_shared;
    uint32_t scheduler;               /* SchedulerOrder; a knob */
    uint32_t group_size, group_order; /* of ORDER_GROUPS; group_order: ORDER_LRR or ORDER_GTO */
    uint32_t register_unit, atomic_payloads, shared_banks;
    uint64_t shared_atomic_cycles;
    uint64_t code_bytes; /* of the instruction cache */
    uint32_t code_ways, code_line, code_misses;
    uint32_t atomics_stall;   /* a flag */
    uint32_t dp_roots_on_sfu; /* a flag */
    uint32_t local_layout;    /* LocalLayout */
    CollectorShape shape;
    Timing timing[TIMING_CLASSES];
    /* derived */
    uint32_t number; /* of this SM among all */
    uint32_t sm_count;
    uint32_t issue_way;  /* IssueWay */
    uint64_t most_warps; /* of any SM */
    /* ports */
    Port dispatch, lsu, fetch;
    /* state: warp sets */
    WarpSet live;        /* started, with lanes that have not exited            */
    WarpSet valid;       /* with a decoded instruction                          */
    WarpSet blocked;     /* the operands of the next instruction are not ready  */
    WarpSet waiting;     /* at a barrier or a fence                             */
    WarpSet fencing;     /* at a fence                                          */
    WarpSet head_memory; /* the next instruction goes to the LSU                */
    WarpSet head_sfu;    /* ... to the SFU                                      */
    WarpSet head_int;    /* ... to the units for integers                       */
    WarpSet head_dp;     /* ... for double precision                            */
    WarpSet head_matrix; /* ... for matrices; of all others, to the SP          */
    WarpSet want_fetch;  /* buffer empty, instruction needed                    */
    WarpSet refetch[2];  /* needed in one, in two cycles: after a jump          */
    WarpSet loading;     /* a load is in flight                                 */
    WarpSet copying;     /* they wait for asynchronous copies                   */
    WarpSet sleeping;    /* until the cycle in `wakes`                          */
    WarpSet spinning;    /* see spinning.h                                      */
    /* state: stages */
    uint64_t accounted; /* cycles whose slots have a cause: all below this one */
    WarpSet fetched;    /* decoded in the next cycle                           */
    uint32_t last_fetched[MAX_SUB_CORES];
    uint32_t payloads_in_use;
    uint32_t finished_ctas; /* bit per CTA slot: to be reported to the dispatcher */
    Scheduler sched[MAX_SCHEDULERS];
    WarpSet cta_by_age[MAX_CTAS]; /* warps of the resident CTAs, the oldest first; in a CTA, a lower warp is
                                     older */
    uint64_t forwarded;           /* CTAs that came in mid-flight, without the dispatcher */
    uint32_t resident;
    uint32_t ending; /* CTA slots whose warps have left, and that a gate keeps */
    OperandCollector collector;
    InstructionCache code;               /* used when `fetch` is wired */
    uint32_t slot_cause[MAX_SCHEDULERS]; /* of the last cycle, for those asleep */
    Cta cta[MAX_CTAS];
    Warp *warp;
    /* From here to payload_used, what lies idle between launches, or what no untimed launch touches: see untimed.c. */
    SimtWaiting waiting_lanes[MAX_WARPS]; /* of the SIMT stacks                    */
    Paths paths[MAX_WARPS];
    SpinTurn turn[MAX_WARPS]; /* in loops in which warps may spin */
    /* The scoreboard's bit for long latencies: pending names that a load or an atomic beyond the SM writes.
     * Apart from Warp, as only watched warps are asked for it. */
    uint64_t load_pending[MAX_WARPS][SCOREBOARD_NAMES / 64];
    BarrierVote vote[MAX_WARPS];
    AsyncCopies async[MAX_WARPS];
    AsyncArrivals arrivals[MAX_WARPS];
    uint64_t wakes[MAX_WARPS]; /* of those that sleep: the cycle in which they may issue again */
    IssueGate sleepers;
    KernelSwitch kernel_switch;
    WriteBacks write_backs;
    uint64_t payload_used;       /* bit per entry of payload */
    uint8_t class_of[MAX_WARPS]; /* what policies call each warp; on all its requests */
    AtomicPayload *payload;
    uint8_t *shared_memory;
    uint8_t *register_file; /* per warp: kernels.register_bytes       */
    uint8_t *local_memory;  /* per warp: local_memory_bytes()          */
    uint32_t *predicates;   /* per warp: kernels.predicates masks     */
    uint32_t shared_count, register_count, local_count, predicate_count; /* of those arrays */
    /* host */
    const RunningKernel *const *launched; /* whose CTAs it may have: one, or several side by side */
    uint64_t launched_count;
    const RunningKernel *running; /* of them, that of the warp whose instruction executes */
    SmKernels kernels;
    WarpPlace place[MAX_WARPS];
    ExecContext *context;
    AddressWindow *windows; /* per warp: kernels.windows of them */
    MemoryView *view;
    SystemCalls system;
    GateList gates;
    struct Memcheck *memcheck; /* NULL: off */
    uint32_t warms_caches;     /* a flag: what executes without timing leaves its lines in them */
    uint32_t untimed_miss;     /* a flag: the last access of it found less than it asked for */
    uint64_t untimed_repeats;  /* a segment_of_constant() whose next access changes no cache, or 0 */
    /* Per kind: words whose least and greatest address differ by less need one cycle of shared memory. */
    uint64_t one_pass_bytes[INST_ATOMIC + 1];
    uint32_t narrow_cache_ops; /* bit per CacheOp: the LSU may want narrow segments of their loads */
    uint32_t pad_narrow;
    uint64_t one_access_bytes; /* a load from one aligned block of them need not bring its addresses */
    uint64_t spaces_beyond;    /* bit per space: loads from it come from beyond the SM */
    FixedPipeline *fixed;      /* of its load/store unit */
    const char *class_setter;  /* the instance of a policy that set class_of, or NULL */
    /* statistics */
    uint64_t warp_instructions, thread_instructions, ctas_started, ctas_finished;
    uint64_t slots[SLOT_CAUSES];
    uint64_t barriers, branches, divergent_branches;
    uint64_t fetch_hits, fetch_misses, fetch_merges, fetch_fails;
    uint64_t unit_instructions[UNIT_CLASSES];
};

/* Where something waits in an SM, for the audit of its queues. */
typedef enum { QUEUE_CODE_LINES } SmQueue;

extern const Class sm_class, lsu_class, dispatcher_class;

/* For policies: the L1s behind a load/store unit, in its cluster. Their number; those for data are the first. */
uint32_t lsu_caches(const SimObject *lsu, SimObject *const **caches);
/* Where the SM may issue what has a fixed latency. */
FixedPipeline *lsu_fixed_pipeline(SimObject *lsu);
/* At the end of a cycle: are accesses of the warp that one of these serves on their way to or through the
 * load/store unit, or from there to the L1? */
bool lsu_holds(const SimObject *lsu, uint32_t sm, uint32_t warp);
/* At the end of a cycle: the warp of the first of all accesses that have issued and that the L1s have neither
 * taken nor put aside, those to constants left out; or NO_WARP_WAITS. */
uint32_t lsu_first_issued(const SimObject *lsu, uint32_t sm);
/* Every instruction that is on its way from the SM through the load/store unit and back, once. */
typedef void MemoryDoneVisitor(void *context, const MemoryDone *done);
void lsu_visit_instructions(const SimObject *lsu, MemoryDoneVisitor *visit, void *context);
/* Are constants and parameters fetched from memory, and not at a fixed latency? */
bool lsu_fetches_constants(const SimObject *lsu);
/* May a load by .nc of one line have several segments? */
bool lsu_splits_read_only_lines(const SimObject *lsu);

/* Of the kernel of a warp. */
static inline const Inst *sm_inst(const Sm *sm, uint32_t warp, uint32_t index) {
    return &sm->place[warp].insts[index];
}
static inline uint32_t sm_inst_index(const Sm *sm, uint32_t warp, const Inst *inst) {
    return (uint32_t)(inst - sm->place[warp].insts);
}
static inline const RunningKernel *sm_kernel_of_slot(const Sm *sm, uint32_t slot) {
    return sm->launched[sm->cta[slot].kernel];
}
static inline const RunningKernel *sm_kernel_of(const Sm *sm, uint32_t warp) {
    return sm_kernel_of_slot(sm, sm->warp[warp].cta_slot);
}
/* All that the sub-core could have. */
static inline WarpSet sub_core_warps(const Sm *sm, uint32_t sub_core) {
    static const WarpSet of_first[MAX_SUB_CORES + 1] = {
        [1] = ALL_WARPS, [2] = 0x5555555555555555, [4] = 0x1111111111111111};
    return of_first[sm->shape.sub_cores] << sub_core;
}
static inline uint8_t *sm_registers(const Sm *sm, uint32_t warp) {
    return sm->place[warp].registers;
}
static inline uint32_t *sm_predicates(const Sm *sm, uint32_t warp) {
    return sm->place[warp].predicates;
}
/* Lanes of the warp that execute the instruction, which is its next; of a branch those that jump. */
static inline __attribute__((always_inline)) uint32_t sm_active_lanes(const Sm *sm, uint32_t warp,
                                                                      const Inst *inst) {
    uint32_t lanes = sm->warp[warp].simt.top.lanes;
    if (!(inst->flags & INST_GUARDED)) return lanes;
    uint32_t guard = sm_predicates(sm, warp)[inst->guard];
    return lanes & (inst->flags & INST_GUARD_NEGATED ? ~guard : guard);
}

/* --- sm_methods.c --- */
extern const Method sm_methods[];
/* --- sm_trace.c --- */
extern const TraceClass sm_trace;

/* --- sm_class.c --- */
static inline uint32_t sm_number(const SimObject *sm) {
    return ((const Sm *)sm)->number;
}

/* --- sm.c --- */
uint64_t sm_tick(SimObject *sm, uint64_t now);
void sm_settle(SimObject *sm, uint64_t now);

/* --- sm_kernel.c --- */
enum { OCCUPANCY_WHY_BYTES = 160 };
/* CTAs of the kernel that fit the SM at once, and what keeps others out; 0 with the reason in `why`. */
uint32_t sm_occupancy(const Sm *sm, const RunningKernel *running, OccupancyLimit *limit, char *why,
                      size_t why_size);
/* What a CTA takes of the SM, registers as they are allocated. */
CtaNeeds sm_needs(const Sm *sm, const RunningKernel *running);
/* Between quanta, nothing running: the kernel that CTAs handed out from now on belong to, in a list that is to stay. */
void sm_set_kernel(Sm *sm, const RunningKernel *const *kernel);
/* The same of any number, of which as many CTAs of each as fit may be there at once. */
void sm_set_kernels(Sm *sm, const RunningKernel *const *kernels, uint32_t count);
/* Between quanta: so many are now in the list that was set, the last of them new. CTAs stay as they are. */
void sm_add_kernels(Sm *sm, uint32_t count);
/* The warp's CTA has the kernel that it has: its instructions are those. */
void sm_give_kernel(Sm *sm, uint32_t warp);
/* The same for all that a snapshot has brought. */
void sm_find_kernels(Sm *sm);
/* The instruction of the warp is the one that executes, in an SM with several kernels. */
void sm_take_kernel_of(Sm *sm, uint32_t warp);
/* How long its cycles take. */
void sm_set_time(Sm *sm);

/* --- sm_check.c --- */
void sm_check(const SimObject *sm, bool idle);
/* Each line of code in flight is an answer of its own kind. */
uint32_t sm_answer_kinds(const SimObject *sm);
uint32_t sm_answer_kind(const SimObject *sm, const void *message);
void sm_answers_awaited(const SimObject *sm, uint32_t *awaited);
void sm_report(const SimObject *sm, FILE *out);

/* --- cta.c --- */
/* The slots of the CTAs that are there. */
uint32_t sm_resident_slots(const Sm *sm);
void sm_accept_cta(Sm *sm, uint64_t now);
void sm_start_cta(Sm *sm, const CtaStart *start);
/* A CTA that ran without timing has ended: see untimed.h. */
void sm_end_cta_untimed(Sm *sm, uint32_t slot);
/* A warp whose lanes have all exited, and of which nothing is in flight, leaves its CTA. */
void sm_retire_warp(Sm *sm, uint32_t warp);
/* For gates: a CTA that one of them has kept ends, unless there is another reason to wait. */
void sm_release_cta(Sm *sm, uint32_t slot);
void sm_report_finished_cta(Sm *sm, uint64_t now);
/* The running kernel is given up: all warps exit where they are. What is in flight of them comes to its end as
 * ever, and then their CTAs end. The SM is to tick at `now` or later. */
void sm_abort(Sm *sm, uint64_t now);

/* --- fetch.c --- */
/* Returns whether a warp was decoded: it may issue in the next cycle. */
bool sm_decode(Sm *sm);
/* Returns sm_fetch_pending(). */
bool sm_fetch(Sm *sm, uint64_t now);
/* The first instruction in the buffer has issued, and the next one is not the one behind it, or the warp has
 * exited. */
void sm_leave_buffer(Sm *sm, uint32_t warp);
/* The warp has come to another instruction. */
void sm_show_next(Sm *sm, uint32_t warp);
/* Of a warp with a decoded instruction: does an operand come from beyond the SM, or must the warp's atomics
 * there be done first? */
bool sm_waits_for_load(const Sm *sm, uint32_t warp);
static inline bool sm_fetch_pending(const Sm *sm) {
    return (sm->want_fetch | sm->refetch[0] | sm->refetch[1] | sm->fetched) != 0;
}

/* --- issue.c --- */
/* The oldest of a set of warps that is not empty. */
static inline uint32_t sm_oldest(const Sm *sm, WarpSet set) {
    const WarpSet *cta = sm->cta_by_age;
    while (!(*cta & set))
        cta++;
    return first_warp(*cta & set);
}
/* The n oldest warps of a set; `cta_by_age` as in Sm. */
WarpSet oldest_warps(const WarpSet *cta_by_age, uint32_t ctas, WarpSet set, uint32_t n);
/* Warps that could issue, were it for no gate and no unit. */
static inline WarpSet sm_ready_warps(const Sm *sm) {
    return sm->valid & ~sm->blocked & ~sm->waiting;
}
/* Call when warps started or exited, came to or left a barrier. */
static inline void sm_warps_changed(Sm *sm) {
    if (GATES_ASKED(&sm->gates, GATE_WARPS_CHANGED)) gates_warps_changed(&sm->gates);
}
/* Every scheduler's turn; slot_cause says what came of it. Returns the causes, a bit each. */
uint32_t sm_issue(Sm *sm, uint64_t cycle, uint64_t now);

/* --- execute_untimed.c --- */
/* Before instructions of a warp execute without timing, and none of another warp between them: see untimed.h. */
void sm_prepare_turn(Sm *sm, uint32_t warp);
/* The next instruction of the warp, with all that it does, at once. */
void sm_execute_untimed(Sm *sm, uint32_t warp);
/* The next instructions, at most `most`, as far as they are plain or branches. `plain`: of the kernel. Returns how many
 * have executed: none where the next one is another, and the last one is the first that has a fault. Where the turn ends
 * at loads, these are a branch, or instructions that stand one behind the other, of which none but the last one ends it. */
uint32_t sm_execute_plain(Sm *sm, uint32_t warp, PlainInst *plain, uint32_t most, uint64_t clock,
                          TurnEnd end);

/* --- execute.c --- */
/* Gives the context the warp's registers, and the lanes that execute the instruction. */
void sm_prepare(Sm *sm, uint32_t warp, const Inst *inst);
/* Returns the unit that has the instruction. */
UnitClass sm_execute(Sm *sm, uint32_t warp, uint64_t cycle, uint64_t now);
/* A warp whose lanes have all exited lives no more. */
void sm_leave_if_done(Sm *sm, uint32_t warp);
/* An instruction has written back: frees its scoreboard names. */
void sm_complete(Sm *sm, uint32_t warp, const Inst *inst);
/* What kernels asked of the device's runtime in this quantum, at its end. */
void sm_perform_system_calls(Sm *sm);
/* The LSU has completed a memory instruction. */
void sm_complete_memory(Sm *sm, const MemoryDone *done);
/* The same of one of fixed latency. */
void sm_complete_fixed(Sm *sm, const MemoryDone *done);
/* All lanes of a warp exit. */
void sm_exit_warp(Sm *sm, uint32_t warp);
/* Lanes of a warp have exited: does that complete barriers of its CTA? */
void sm_check_barriers(Sm *sm, Cta *cta);

#endif
