/* Looking on at the ticks of an object: what measures a machine is called right before and behind each. An object
 * that nobody watches ticks as ever, at no cost. */
#ifndef WW_SIM_TICK_WATCH_H
#define WW_SIM_TICK_WATCH_H

#include "core/sim/sim.h"

typedef struct TickWatcher TickWatcher;

/* Called on whatever thread runs the object's cluster. They may change nothing in the machine. What an object does
 * in a tick is the same in any order of the objects; what stands in its links and is not ready yet is not. */
struct TickWatcher {
    void (*before)(TickWatcher *watcher, SimObject *object, uint64_t now);
    void (*after)(TickWatcher *watcher, SimObject *object, uint64_t now);
};

/* From now on. Between quanta, of an elaborated machine; an object has one watcher at most. */
void object_watch_ticks(SimObject *object, TickWatcher *watcher);

#endif
