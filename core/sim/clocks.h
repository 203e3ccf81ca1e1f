/* Clocks that change during a run, for the files of this folder and for classes.
 *
 * A cycle of the first clock has the same number of ticks at any of its frequencies: what changes is how long a tick takes,
 * and the periods of the other clocks. So quanta, and all that the first clock's objects keep, are untouched. Another
 * clock goes on to count its cycles: the next edge after the change has the number that the next one would have had. */
#ifndef WW_SIM_CLOCKS_H
#define WW_SIM_CLOCKS_H

#include "core/sim/sim.h"

/* Between quanta. A user error where the clock may not have this frequency. */
void sim_set_clock(Sim *sim, Clock *clock, uint64_t hertz);
/* Simulated time at the present boundary. */
uint64_t sim_picoseconds(const Sim *sim);
/* May any clock change? */
bool clocks_may_change(const Sim *sim);
/* The highest frequency that the clock has while the first one has its lowest: what beside it is quickest. */
uint64_t clocks_quickest(const Sim *sim, const Clock *clock);

/* For clocks_changed(): an edge of the object's clock as it was, reserved or passed, is now the one of the same cycle. */
uint64_t clock_moved_edge(const SimObject *object, const Clock *was, uint64_t edge);
/* Instead of clocks_changed(), of objects that keep no times. */
void clocks_concern_not(SimObject *object, const Clock *was);

/* --- For sim_elaborate() */
void clocks_set_periods(Sim *sim);
void clocks_set_object(SimObject *object);
/* A user error where an object cannot follow its clock. */
void clocks_check_object(const SimObject *object);
/* Of the link, in ticks, at whatever frequencies. */
uint64_t clocks_least_latency(const Link *link);

/* --- For snapshots: the clocks of a machine to be loaded become what they were at that time. */
typedef struct {
    uint64_t frequency, shift, changes;
} SavedClock;
void clocks_restore(Sim *sim, const SavedClock *saved);

#endif
