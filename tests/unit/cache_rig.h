/* Driver -> one cache -> responder, all links of one cycle, and a listener that can hear the cache and answer
 * it. For tests of what policies do with caches. */
#ifndef WW_TESTS_CACHE_RIG_H
#define WW_TESTS_CACHE_RIG_H

#include "core/sim/event.h"
#include "tests/unit/memory_driver.h"

enum { RIG_DELAY = 6, RIG_RESPONDER = 20, RIG_HIT = RIG_DELAY + 2, RIG_MISS = RIG_DELAY + RIG_RESPONDER + 5 };

typedef struct {
    const char *class;          /* "L1" or "L2"; latency or rop_delay is RIG_DELAY                 */
    const char *cache;          /* parameters "name=value name=value", over 64 KiB, 8 ways, 32 MSHRs */
    const char *driver, *below; /* likewise; the responder takes RIG_RESPONDER cycles               */
    const char *part, *part_parameters; /* class of a part below the cache; NULL: none                */
    LinkOptions request;                /* driver to cache */
    LinkOptions answer;                 /* responder to cache */
    uint32_t quantum;                   /* cycles; 0: the default */
    TickOrder order;
    uint64_t order_seed;
} CacheBench;

typedef struct {
    uint32_t event;
    int64_t arguments[EVENT_ARGUMENTS];
    uint64_t cycle;
} Heard;

enum { HEARD_MAX = 256 };

typedef struct {
    Listener listener;
    int64_t answer;
    uint32_t count;
    Heard heard[HEARD_MAX];
} Ear;

typedef struct {
    Sim *sim;
    SimObject *driver, *cache, *below, *part;
    Ear *ear;
} CacheRig;

CacheRig cache_rig(CacheBench bench);
void rig_free(CacheRig *rig);
/* The listener hears these events of the cache, bit per event, and answers questions with `answer`. */
void rig_listen(CacheRig *rig, uint32_t events, int64_t answer);
/* Runs until nothing moves, and checks the conservation laws. */
void rig_run(CacheRig *rig);
uint64_t rig_now(const CacheRig *rig);
/* Sets a knob as a policy does, between quanta. */
void rig_set(CacheRig *rig, const char *knob, const char *text);
uint64_t stat_of(const SimObject *object, const char *name);
uint64_t rig_stat(const CacheRig *rig, const char *name);
const LoggedMessage *rig_arrival(const CacheRig *rig, uint32_t i);
uint32_t rig_arrivals(const CacheRig *rig);
/* Sends a request when all is quiet; returns the cycles until its answer, -1 without one. */
int64_t rig_time(CacheRig *rig, MemMessage m);
MemMessage of_class(MemMessage m, uint32_t class_number);
MemMessage of_warp(MemMessage m, uint32_t sm, uint32_t warp, uint32_t pc);

#endif
