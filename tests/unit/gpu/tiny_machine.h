/* A machine small enough to count its cycles by hand: a Dispatcher, one or more SMs with their LSU, and
 * behind each LSU a memory that answers after a known time. Clusters exchange in every cycle unless `quantum`
 * says otherwise, so that the end of a run is known to the cycle.
 *
 * Kernel bodies may use the registers %r0..63 (32 bits), %f0..63, %d0..63 (64 bits), %e0..63 (f64), %p0..7
 * the global variable out (TINY_OUT_BYTES), and calls of the DMA engine's intrinsics: "call dma_execute,
 * (%d1, %d2, 0);". Register N of each kind lies in bank N mod 16 for warp 0.
 *
 *   cycle 0   the dispatcher hands out the first CTAs, one per SM and cycle
 *   cycle 1   the SM starts the CTA's warps and fetches one of them: warp 1 first, then 2, 3 ..., at last 0
 *   cycle 2   the first warp fetched is decoded
 *   cycle 3   ... and issues: TINY_FIRST_ISSUE
 *   A warp whose last exit issues in cycle e is complete in e + 6 (one cycle of latency, no operands), its
 * CTA's end reaches the dispatcher in e + 7, and the run ends with that cycle: after e + TINY_AFTER_EXIT
 * cycles.
 */
#ifndef WW_TESTS_TINY_MACHINE_H
#define WW_TESTS_TINY_MACHINE_H

#include "core/gpu/device/gpu.h"
#include "core/gpu/sm/sm.h"
#include "tests/unit/mem/memory_driver.h"

enum {
    TINY_MAX_SMS = 4,
    TINY_OUT_BYTES = 1 << 16,
    TINY_FIRST_ISSUE = 3,
    TINY_AFTER_EXIT = 8,
    TINY_BODY_LINE = 12, /* PTX line of the first line of the body */
    TINY_MEMORY_LATENCY = 100,
    TINY_WORD = 7,
    TINY_STRIDED = 4,
};

typedef struct {
    const char *body;       /* of kernel `tiny` */
    const char *directives; /* of it, such as ".maxntid 64, 1, 1"; NULL: none */
    uint32_t target;        /* of the PTX; 0: sm_20 */
    uint32_t ctas, threads; /* 0: one; 32 */
    uint32_t forward_ctas;  /* so many end before there is timing */
    uint32_t cold_ctas;     /* of these, so many at first leave no lines in the caches */
    bool untimed;           /* the launch is one without timing   */
    uint32_t shared_bytes;  /* dynamic, per CTA */
    uint32_t registers;     /* per thread; 0: as many as the kernel needs */
    uint32_t sms;           /* 0: one */
    const char *sm, *lsu;   /* parameters "name=value name=value" */
    const char *dma; /* the same of a DmaEngine in each SM, with a MemoryResponder of its own; NULL: none */
    const char *memory; /* parameters of the MemoryResponder behind each SM, or behind the L2 */
    bool l2;   /* SMs -> Mux -> L2 -> MemoryResponder, instead of one for each SM: what atomics need */
    bool code; /* SMs have their instruction cache, and a MemoryResponder behind it */
    const char *dispatcher; /* parameters */
    const char *part;       /* class of an object sm[0].part; NULL: none */
    uint32_t request_depth; /* of the link from LSU to memory; 0: as usual */
    bool races;             /* what it does depends on when stores become visible, that is, on the quantum */
    uint32_t quantum;       /* cycles; 0: 1 */
    TickOrder order;
    uint64_t order_seed;
} TinySpec;

/* An instruction issued. `lanes`: of the SIMT stack's top, guard not applied. */
typedef struct {
    uint64_t cycle;
    uint32_t sm, warp, pc, lanes;
} Issue;

typedef struct {
    Sim *sim;
    Gpu *gpu;
    Module *module;
    uint32_t sms;
    SimObject *dispatcher, *memory[TINY_MAX_SMS];
    SimObject *dma[TINY_MAX_SMS], *dma_memory[TINY_MAX_SMS];
    SimObject *code_memory[TINY_MAX_SMS];
    Sm *sm[TINY_MAX_SMS];
    uint64_t out; /* address */
    Issue *issues;
    uint32_t issue_count, issue_capacity;
} TinyMachine;

/* Sets parameters "name=value name=value" (NULL: none). */
void tiny_set(SimObject *object, const char *text);
/* An object of the first clock with parameters "name=value name=value" (NULL: none), finished. */
SimObject *tiny_add(Sim *sim, const char *class, const char *path, const char *parameters);

/* --- Step by step */

/* Elaborated, nothing launched. */
TinyMachine *tiny_new(TinySpec spec);
void tiny_free(TinyMachine *machine);
void tiny_launch(TinyMachine *machine, TinySpec spec);
/* Runs one cycle of a machine whose quantum is 1 and notes what issued. False when the kernel is done. */
bool tiny_step(TinyMachine *machine);
/* Runs the cycles before `cycle`. */
void tiny_step_to(TinyMachine *machine, uint64_t cycle);
/* Runs to the end of the kernel, at most a million cycles, and checks the machine's invariants. */
void tiny_finish(TinyMachine *machine);

/* --- At one go */

/* Runs the kernel in all tick orders with quanta of 1 and of 4 cycles. Stats, memory and issued
 * instructions must be the same in all orders, and the length of the run in both quanta. Returns the finished
 * machine in path order and single cycles. */
TinyMachine *tiny_run(TinySpec spec);

/* The same with the addresses out + stride * lane in %d1, for which the body begins with TINY_STRIDED
 * instructions and goes on with `rest`. */
TinyMachine *tiny_run_strided(TinySpec spec, uint32_t stride, const char *rest);

/* --- Results */

/* The cycle in which a warp of sm[0] issued its n-th instruction, from 0. */
uint64_t tiny_issued(const TinyMachine *machine, uint32_t warp, uint32_t n);
/* The same for an instruction's index in the kernel: the n-th time it issued, from 0. */
uint64_t tiny_issued_at(const TinyMachine *machine, uint32_t warp, uint32_t pc, uint32_t n);
uint64_t tiny_cycles(const TinyMachine *machine); /* of the last launch */
uint64_t tiny_stat(const TinyMachine *machine, const char *path, const char *name);
uint32_t tiny_word(const TinyMachine *machine, uint32_t index); /* of out, after the run */
/* Requests as they reached the memory of an SM (behind an L2: memory 0). */
const MessageLog *tiny_arrivals(const TinyMachine *machine, uint32_t sm);

/* Calls `action`, which must end in a user error, and returns its message; what it printed on stderr is
 * appended to *report when that is given (the caller frees it). The message is valid until the next error. */
const char *tiny_error(void (*action)(void *), void *context, char **report);

/* In which cycles the warp issued its first instructions. */
void tiny_assert_issues(const TinyMachine *machine, uint32_t warp, const uint64_t *cycles, uint32_t count);
#define ASSERT_ISSUES(machine, warp, ...)                                                                    \
    tiny_assert_issues(machine, warp, (const uint64_t[]){__VA_ARGS__},                                       \
                       sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

/* `line` `count` times; the caller frees it. */
char *tiny_repeated(const char *line, uint32_t count);

#endif
