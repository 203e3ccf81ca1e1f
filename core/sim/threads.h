/* A quantum on several host threads. For sim.c; the layers above call sim_set_threads() and its like. */
#ifndef WW_SIM_THREADS_H
#define WW_SIM_THREADS_H

#include "core/sim/sim.h"

/* Before the first quantum. Does nothing when they are there. */
void threads_start(Sim *sim);
/* Before each quantum: do all run it, or one? */
void threads_choose(Sim *sim);
/* Runs all clusters up to sim->end. The notices of what they have pushed and popped are not read yet. */
void threads_run_quantum(Sim *sim);
/* One thread's part in it. After a user error it is to be called again, and goes on. */
void threads_run_clusters(Share *share);
/* Reads, at a boundary, what has not been read yet: then all links are as after an exchange by one thread. For all who look
 * at the machine, or change how it is run. */
void threads_read_mail(Sim *sim);
/* While mail is unread: an upper bound of when the first object is due, and that time if it is in the next quantum; else
 * NEVER. */
uint64_t threads_first_work(const Sim *sim);

#endif
