/* Driver -> one cache -> responder, all links of one cycle, and a subscriber that records the cache's events and answers
 * it. A request sent in cycle s is accepted in s + 1 and looked up in s + 1 + RIG_DELAY; a hit is answered in
 * that cycle and arrives at s + RIG_HIT. A miss leaves one cycle after the lookup, arrives below one later,
 * is answered RIG_RESPONDER cycles later, arrives one later and is answered at once: it comes back at s +
 * RIG_MISS. */
#ifndef WW_TESTS_CACHE_RIG_H
#define WW_TESTS_CACHE_RIG_H

#include "core/sim/event.h"
#include "mem/protocol/functional_memory.h"
#include "tests/unit/mem/memory_driver.h"

#include <check.h>

enum { RIG_DELAY = 6, RIG_RESPONDER = 20, RIG_HIT = RIG_DELAY + 2, RIG_MISS = RIG_DELAY + RIG_RESPONDER + 5 };

typedef struct {
    const char *class;          /* "L1" or "L2"; latency or rop_delay is RIG_DELAY                 */
    const char *cache;          /* parameters "name=value name=value", over 64 KiB, 8 ways, 32 MSHRs */
    const char *driver, *below; /* likewise; the responder takes RIG_RESPONDER cycles               */
    const char *map;            /* likewise; one channel                                    */
    const char *part, *part_parameters; /* class of a part below the cache; NULL: none                */
    const char *beside;                 /* class of an object that is wired to nothing; NULL: none    */
    bool device_memory;                 /* with device memory, of which RIG_MEMORY bytes are allocated */
    LinkOptions request, response;      /* driver to cache and back */
    LinkOptions fetch, answer;          /* cache to responder and back                        */
    uint64_t below_hertz;               /* clock of the responder; 0: the same as the others' */
    uint32_t quantum;                   /* cycles; 0: the default */
    TickOrder order;
    uint64_t order_seed;
} CacheBench;

typedef struct {
    uint32_t event;
    int64_t arguments[EVENT_ARGUMENTS];
    uint64_t cycle;
} Record;

enum { RECORDS_MAX = 256 };

typedef struct {
    Subscriber subscriber;
    int64_t answer;
    uint32_t count;
    Record record[RECORDS_MAX];
} Recorder;

enum { RIG_PAYLOADS = 4096, RIG_MEMORY = 4096 };

typedef struct {
    Sim *sim;
    SimObject *driver, *cache, *below, *part, *beside;
    Recorder *recorder;
    FunctionalMemory *functional; /* of one SM, with RIG_PAYLOADS; NULL: none */
    uint64_t base;                /* of the allocation */
} CacheRig;

CacheRig cache_rig(CacheBench bench);
void rig_free(CacheRig *rig);
/* The recorder gets these events of the cache, bit per event, and answers questions with `answer`. */
void rig_subscribe(CacheRig *rig, uint32_t events, int64_t answer);
/* Runs until nothing moves, and checks the conservation laws. */
void rig_run(CacheRig *rig);
uint64_t rig_now(const CacheRig *rig);
/* Sets a knob as a policy does, between quanta. */
void rig_set(CacheRig *rig, const char *knob, const char *text);
/* The same for a knob that is a set of warps. */
void rig_set_warps(CacheRig *rig, const char *knob, uint64_t warps);
/* Asks for a prefetch as a policy does between two cycles; returns the next one, in which it may be looked up. */
uint64_t rig_prefetch(CacheRig *rig, uint64_t address);
uint64_t rig_stat(const CacheRig *rig, const char *name);
/* One request stopped at the tags for the cause that this counter counts, in the cycles from `stopped` to
 * before `released`. */
void expect_one_stall(const CacheRig *rig, const char *counter, uint64_t stopped, uint64_t released);
const LoggedMessage *rig_arrival(const CacheRig *rig, uint32_t i);
uint32_t rig_arrivals(const CacheRig *rig);
const LoggedMessage *rig_response(const CacheRig *rig, uint32_t i);
/* The cycle in which the first answer with this token came; 0: none has. */
uint64_t rig_answered(const CacheRig *rig, uint32_t token);
/* Sends a request when all is quiet; returns the cycles until its answer, -1 without one. */
int64_t rig_time(CacheRig *rig, MemMessage m);
/* The same; returns whether the answer says that it hit. */
bool rig_hits(CacheRig *rig, MemMessage m);

/* Requests of all kinds against a cache that is tight: makes a rig of that order, and of a quantum of one
 * cycle when `awake_until` is not 0; sends them; and runs to the end as rig_run_awake() does. */
typedef CacheRig Mixture(int variant, TickOrder order, uint64_t order_seed, uint64_t awake_until);
/* Ticks the cache in every cycle up to this time, in each of which the request at the tags is tried whatever
 * it lacked before, and then runs until nothing moves. */
void rig_run_awake(CacheRig *rig, uint64_t awake_until);
/* The same messages in the same cycles, the same stats, and the same memory. */
void expect_same_runs(const CacheRig *a, const CacheRig *b);
/* That in every order. */
void expect_order_of_ticks_not_to_matter(Mixture *mixture, int variant);
/* Ticked in every cycle the cache does what it does when it sleeps as long as it says, and tries a request
 * again only when that may help: it neither oversleeps nor changes anything in a tick without reason. */
void expect_needless_ticks_to_change_nothing(Mixture *mixture, int variant);
/* Both as tests, once per variant. */
#define MIXTURE_TESTS(mixture)                                                                               \
    START_TEST(order_of_ticks_does_not_matter) {                                                             \
        expect_order_of_ticks_not_to_matter(mixture, _i);                                                    \
    }                                                                                                        \
    END_TEST                                                                                                 \
    START_TEST(needless_ticks_change_nothing) {                                                              \
        expect_needless_ticks_to_change_nothing(mixture, _i);                                                \
    }                                                                                                        \
    END_TEST
#define ADD_MIXTURE_TESTS(tests, variants)                                                                   \
    do {                                                                                                     \
        tcase_add_loop_test(tests, order_of_ticks_does_not_matter, 0, variants);                             \
        tcase_add_loop_test(tests, needless_ticks_change_nothing, 0, variants);                              \
    } while (0)
/* Every request that wants an answer has got one, as it came but for the hit flag; each has its number as its
 * token. */
void expect_every_request_answered_once(const CacheRig *rig);

MemMessage of_local_memory(MemMessage m);
MemMessage of_token(MemMessage m, uint32_t token);
MemMessage of_class(MemMessage m, uint32_t class_number);
MemMessage of_warp(MemMessage m, uint32_t sm, uint32_t warp, uint32_t pc);

#endif
