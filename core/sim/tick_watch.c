#include "core/sim/tick_watch.h"

#include "core/sim/halves.h"

#include <stdlib.h>

static uint64_t watched_tick(SimObject *object, uint64_t now) {
    TickWatcher *watcher = object->sim->tick_watchers[object->id];
    watcher->before(watcher, object, now);
    uint64_t next = object->class->tick(object, now);
    watcher->after(watcher, object, now);
    return next;
}

static Turn *turn_of(const SimObject *object) {
    Turn *turn = object->cluster->turns;
    while (turn->object != object)
        turn++;
    return turn;
}

void object_watch_ticks(SimObject *object, TickWatcher *watcher) {
    Sim *sim = object->sim;
    ensure(sim->elaborated);
    object_join_halves(object);
    if (!sim->tick_watchers) sim->tick_watchers = calloc(sim->object_count, sizeof *sim->tick_watchers);
    ensure_memory(sim->tick_watchers);
    ensure(!sim->tick_watchers[object->id]);
    sim->tick_watchers[object->id] = watcher;
    turn_of(object)->tick = watched_tick;
    cluster_begin_to_watch(object->cluster);
}
