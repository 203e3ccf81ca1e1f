/* Hands out the CTAs of kernels to the SMs, at most one per SM and cycle, in turn. Of several kernels that were launched
 * together, which are numbered in the order of the launch, an SM has CTAs of one at a time, or of up to kernels_per_sm. */
#ifndef WW_GPU_DISPATCHER_H
#define WW_GPU_DISPATCHER_H

#include "core/gpu/protocol/protocols.h"

/* What the dispatcher asks and tells of the SMs at its ports. */
typedef struct {
    uint32_t (*places)(void *context, uint32_t port,
                       uint32_t kernel); /* CTAs that the SM could hold at once */
    void (*given)(void *context, uint32_t port,
                  uint32_t kernel); /* the SM, which has none, gets those of another kernel */
    CtaNeeds (*needs)(void *context, uint32_t port, uint32_t kernel); /* of a CTA */
    CtaNeeds (*room)(void *context, uint32_t port);                   /* all that the SM has */
    uint32_t (*slots)(void *context, uint32_t port);                  /* for CTAs of any kernels */
    const char *(*name)(void *context, uint32_t kernel);
    uint32_t (*tenant)(void *context, uint32_t kernel);
    /* Between quanta, where count_by_kernel is set: what the kernel had; false: there is no such count. */
    bool (*count)(void *context, uint32_t kernel, const char *name, uint64_t *value);
    void *context;
} SmsOfKernels;

/* Before the first launch; kept. */
void dispatcher_know_sms(SimObject *dispatcher, const SmsOfKernels *sms_of);
/* May SMs have CTAs of several kernels of a launch of so many at once? */
bool dispatcher_runs_several_per_sm(const SimObject *dispatcher, uint32_t kernels);
/* Is it to be known what each kernel had: see kernel_counts.h? */
bool dispatcher_counts_by_kernel(const SimObject *dispatcher);
/* Of a kernel that has ended, where SMs had CTAs of several at once. */
void dispatcher_instructions(const SimObject *dispatcher, uint32_t kernel, uint64_t *of_warps,
                             uint64_t *of_threads);

/* Between quanta, nothing running: the kernels of the next launch may become so many. Known before its state is loaded. */
void dispatcher_expect(SimObject *dispatcher, uint32_t kernels);
/* Before the kernels begin, or their state is loaded: the priorities of all kernels, a list that is to stay, of which the
 * lowest get SMs first; NULL: all have the same. */
void dispatcher_set_priorities(SimObject *dispatcher, const int32_t *priorities);
/* Between quanta, nothing running: so many kernels will begin. All SMs have the first of them, and no place yet. */
void dispatcher_start(SimObject *dispatcher, uint32_t kernels);
/* Between quanta: so many more will begin, whose numbers are behind the others'. */
void dispatcher_join(SimObject *dispatcher, uint32_t kernels);
/* Between quanta: what the kernel waited for has ended. The CTAs of a cooperative one wait for each other: once an SM has got
 * any, no other kernel keeps them from SMs for the rest. One such kernel may run at a time. */
void dispatcher_begin(SimObject *dispatcher, uint32_t kernel, const uint32_t grid[3], bool is_cooperative);
/* Have SMs been left to others in the quantum that has just ended? sim_run() ends with it. */
bool dispatcher_has_freed(const SimObject *dispatcher);
/* Between quanta, after that, or when a kernel has begun or ended, and not at other boundaries, of which a run may have
 * any: SMs without CTAs may get those of another kernel. The dispatcher is to tick at `now` or later. */
void dispatcher_share(SimObject *dispatcher, uint64_t now);
/* Where kernels may begin in the address space of their code. */
uint64_t dispatcher_code_align(const SimObject *dispatcher);
/* Between quanta: no more CTAs are handed out; the kernels end when those that were are done. */
void dispatcher_stop(SimObject *dispatcher);
/* Of all kernels of the present or last launch. */
uint64_t dispatcher_ctas_done(const SimObject *dispatcher);
/* The kernels that have begun and whose CTAs have all finished since this was asked last, in any order; behind a load or a
 * stop, all that have. They are there until the dispatcher ticks again. Returns how many. */
uint32_t dispatcher_take_ended(SimObject *dispatcher, const uint16_t **kernels);
/* sim_run() ends at the boundary behind the cycle in which so many CTAs of a launch are done; 0: it does not. */
void dispatcher_pause_at(SimObject *dispatcher, uint64_t ctas);
/* True when all kernels have ended. */
bool dispatcher_idle(const SimObject *dispatcher);
/* True while CTAs wait and SMs have room for them, where policies decide: they may let them wait for ever. */
bool dispatcher_is_kept_waiting(const SimObject *dispatcher);

/* --- For CTAs that execute without timing, of a launch of one kernel: core/gpu/device/forward.h */

/* The place of an SM among those that it serves; less than 0: none. */
int dispatcher_port_of(const SimObject *dispatcher, const SimObject *sm);
/* The next CTA of the grid, or that which policies choose for the SM, if there is one and the SM has room. */
bool dispatcher_forward(SimObject *dispatcher, uint32_t sm, CtaStart *start);
void dispatcher_forward_end(SimObject *dispatcher, uint32_t sm, uint32_t slot);
/* Those that have not ended are the SMs' from now on, who tell when they have. */
void dispatcher_hand_over(SimObject *dispatcher);
/* They are no more, and no others come. */
void dispatcher_give_up(SimObject *dispatcher);

#endif
