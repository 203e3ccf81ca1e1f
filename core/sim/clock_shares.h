/* What the objects of a clock have counted at each of its frequencies: energies depend on them. */
#ifndef WW_SIM_CLOCK_SHARES_H
#define WW_SIM_CLOCK_SHARES_H

#include "core/sim/checkpoint/buffer.h"
#include "core/sim/sim.h"

/* Before the clock changes, at a boundary: what has been counted since it last did. `time`: simulated, in picoseconds. */
void clock_shares_take(Sim *sim, Clock *clock, uint64_t time);
void clock_shares_free(Clock *clock);
/* Visits the counters of its objects, in the order of ClockShare.counters. */
void clock_shares_visit(const Sim *sim, const Clock *clock,
                        void (*visit)(void *context, const SimObject *object, const Field *stat,
                                      uint64_t value),
                        void *context);

void clock_shares_save(const Clock *clock, Buffer *buffer);
/* False: damaged, or of other objects. */
bool clock_shares_load(const Sim *sim, Clock *clock, Reader *reader);
/* Passes over what clock_shares_save() has written. */
void clock_shares_skip(Reader *reader);

#endif
