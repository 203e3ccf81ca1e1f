/* An issue gate: a mechanism that has a say in which warp of an SM issues. It stands between the SM's issue
 * stage and what a paper adds: the D2MA engine's parking, CCWS's load gating, Mascar's ownership. A gate is
 * the first member of its part's struct; the part lives in a folder of its own and brings its rows, its
 * checks and its reasons in the hang report. A part is an object of its own below the SM, whose init() adds
 * the gate (gate_add_of_part()); or, where the SM's own knobs, ports or statistics are its rows, a member of
 * SmWithParts (sm_parts.h).
 *
 * In each scheduler slot the issue stage asks the gates that are at work, in the order of registration:
 *
 *   narrow      which of the ready warps may issue? A slot all of whose ready warps are held back counts
 *               as SLOT_POLICY
 *   prefer      of those whose unit takes an instruction, which go before the others?
 *   lets_issue  the warp that the scheduler has picked, and no other: may it issue? A gate that says no has
 *               squashed or parked the warp (below); the slot counts as SLOT_GATE
 *   issued      the warp has issued and its instruction has executed
 *
 * In each cycle in which the SM ticks, a gate at work may begin it (what has come for the part, ahead of
 * CTAs that start and of issue), is told how many cycles have passed and whether a warp issued in them,
 * those that the SM slept through too, and may end it (behind fetch). An SM that sleeps wakes when the first
 * gate says so.
 *
 * A gate may change its own part's state at any of these calls. Of the SM it changes nothing but through
 * gate_squash(), gate_park(), gate_release() and sm_release_cta(), and what the SM offers to all: links of
 * its ports, shared memory, events. `narrow` and `prefer` change nothing that another scheduler sees.
 *
 * A gate is at work or not, at all of these stages or at some: gate_set_stages(). All SMs have the rows of SmWithParts;
 * one whose gates are not at work pays a test for zero where the gates would be asked. A gate that goes
 * to work in the middle of a cycle is asked from the next scheduler on. Whether it is at work follows from
 * its state, so that it can be found again when a snapshot has brought that state: in `knobs_set`. */
#ifndef WW_GPU_ISSUE_GATE_H
#define WW_GPU_ISSUE_GATE_H

#include "core/gpu/sm/structures/warp_set.h"
#include "core/ptx/instructions/inst.h"

#include <stdbool.h>
#include <stddef.h>

enum { MAX_GATES = 16, REASON_BYTES = 256 };

typedef struct SimObject SimObject;
typedef struct Sm Sm;
typedef struct IssueGate IssueGate;

/* Where a gate at work is asked; each is a function of GateClass. */
typedef enum {
    GATE_NARROW,
    GATE_PREFER,
    GATE_LETS_ISSUE,
    GATE_ISSUED,
    GATE_BEGIN_CYCLE,
    GATE_PASS,
    GATE_END_CYCLE,
    GATE_NEXT,
    GATE_WARPS_CHANGED,
    GATE_STAGES,
} GateStage;

/* Sets of stages: all that the gate has a function for, or none. */
enum { GATE_AT_WORK = (1 << GATE_STAGES) - 1, GATE_AT_REST = 0 };

/* What a gate does; NULL: nothing. */
typedef struct {
    const char *name;
    /* --- At issue, while it is at work */
    WarpSet (*narrow)(IssueGate *gate, WarpSet ready);
    WarpSet (*prefer)(IssueGate *gate, WarpSet issuable); /* some of them, at least one */
    bool (*lets_issue)(IssueGate *gate, uint32_t warp, uint64_t cycle, uint64_t now);
    void (*issued)(IssueGate *gate, uint32_t warp);
    /* --- In a cycle, while it is at work */
    void (*begin_cycle)(IssueGate *gate, uint64_t now);
    void (*pass)(IssueGate *gate, uint64_t cycles, bool issued);
    void (*end_cycle)(IssueGate *gate);
    uint64_t (*next)(const IssueGate *gate); /* tick in which it has something to do, or NEVER */
    /* --- At work or not */
    /* An instruction of this kind, the part's own, executes; the SM's context has the operands. */
    InstKind kind;
    void (*execute)(IssueGate *gate, uint32_t warp, const Inst *inst);
    void (*kernel_set)(IssueGate *gate); /* CTAs handed out from now on belong to sm->running */
    void (*cta_starts)(IssueGate *gate, uint32_t slot);
    /* Of a CTA whose warps have all left: must its slot wait? Then sm_release_cta() once it need not. */
    bool (*keeps_cta)(const IssueGate *gate, uint32_t slot);
    void (*cta_ends)(IssueGate *gate, uint32_t slot, uint64_t cycle);
    /* Warps started or exited, came to or left a barrier. Only while it is at work. */
    void (*warps_changed)(IssueGate *gate);
    void (*knobs_set)(IssueGate *gate); /* as Class.knobs_set */
    void (*is_sound)(const IssueGate *gate);
    void (*check)(const IssueGate *gate, bool idle);
    /* For the hang report, of a warp that it has parked, or that is ready: why the gate holds it back, or NULL
     * if it does not. A parked warp without a reason "is parked by gate NAME". */
    const char *(*reason)(const IssueGate *gate, uint32_t warp, char text[REASON_BYTES]);
} GateClass;

struct IssueGate {
    const GateClass *class;
    Sm *sm;
    uint32_t number; /* of the gate in its SM */
    uint32_t stages; /* at which it is asked; 0: it is not at work */
    WarpSet parked;  /* of the SM's `waiting`: those that wait for this gate */
};

/* The rows of an IssueGate `m`: of one that parks no warps, and of one that does, with the row's name and its
 * text for users. */
#define GATE_ROWS(T, m)               GATE_HOST_ROWS(T, m), HOST(T, m.parked, "It parks none")
#define PARKING_GATE_ROWS(T, m, n, d) GATE_HOST_ROWS(T, m), VISIBLE_NAMED(T, m.parked, n, "warps", d)
#define GATE_HOST_ROWS(T, m)                                                                                 \
    HOST(T, m.class, "What the gate does")                                                                   \
    , HOST(T, m.sm, "Its SM")                                                                                \
    , HOST(T, m.number, "Of the gate in its SM")                                                             \
    , HOST(T, m.stages, "At which it is asked")

/* Of an SM; of this process. */
typedef struct {
    IssueGate *gate[MAX_GATES]; /* in the order in which they are asked */
    uint32_t count;
    uint32_t at_work;            /* a bit for each */
    uint16_t asked[GATE_STAGES]; /* the same, at each stage */
    WarpSet parked;              /* by any of them */
} GateList;

void gate_add(Sm *sm, IssueGate *gate, const GateClass *class);
/* From init() of an object below an SM: adds its gate, behind those that the SM has. A user error unless it
 * belongs to an SM. */
void gate_add_of_part(const SimObject *part, IssueGate *gate, const GateClass *class);
/* From that object's knobs_set(): its state is there, be it a snapshot's; calls GateClass.knobs_set. */
void gate_knobs_set(IssueGate *gate);
/* The gate of this class. */
IssueGate *gate_find(const GateList *gates, const GateClass *class);
/* From now on it is asked at these stages, as far as it has functions for them. */
void gate_set_stages(IssueGate *gate, uint32_t stages);
/* For check: panics unless it is asked at these. */
void gate_check_stages(const IssueGate *gate, uint32_t stages);

/* --- For reason: policies do not allow it to issue, by this knob. */
const char *gate_not_allowed(const IssueGate *gate, const char *knob, char text[REASON_BYTES]);

/* --- For lets_issue: the warp does not issue. */
/* It tries again: the issue slot is lost, and what was fetched behind the instruction with it. */
void gate_squash(IssueGate *gate, uint32_t warp);
/* The same, and it waits until it is released. */
void gate_park(IssueGate *gate, uint32_t warp);
/* Of these warps, those that this gate has parked may issue. */
void gate_release(IssueGate *gate, WarpSet warps);

/* --- For the stages of the SM */

#define GATES_AT_WORK(gates)      __builtin_expect((gates)->at_work != 0, 0)
#define GATES_ASKED(gates, stage) __builtin_expect((gates)->asked[stage] != 0, 0)

WarpSet gates_narrow(const GateList *gates, WarpSet ready);
WarpSet gates_prefer(const GateList *gates, WarpSet issuable);
bool gates_let_issue(const GateList *gates, uint32_t warp, uint64_t cycle, uint64_t now);
void gates_issued(const GateList *gates, uint32_t warp);
void gates_begin_cycle(const GateList *gates, uint64_t now);
void gates_pass(const GateList *gates, uint64_t cycles, bool issued);
void gates_end_cycle(const GateList *gates);
/* The first tick in which one of them has something to do, at the latest `next`. */
uint64_t gates_next(const GateList *gates, uint64_t next);
void gates_execute(const GateList *gates, uint32_t warp, const Inst *inst);
void gates_kernel_set(const GateList *gates);
void gates_cta_starts(const GateList *gates, uint32_t slot);
bool gates_keep_cta(const GateList *gates, uint32_t slot);
void gates_cta_ends(const GateList *gates, uint32_t slot, uint64_t cycle);
void gates_warps_changed(const GateList *gates);
void gates_knobs_set(GateList *gates);
void gates_are_sound(const GateList *gates);
void gates_check(const GateList *gates, bool idle);
const char *gates_reason(const GateList *gates, uint32_t warp, char text[REASON_BYTES]);

#endif
