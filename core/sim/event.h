/* Events: how policies learn what happens in objects, and how they answer questions.
 *
 * Events of a cycle are emitted when all objects of the cluster have had their turn in it, in the order of
 * the objects' construction. A subscriber therefore sees the state at the end of the cycle, what it changes
 * counts from the next cycle on, and the order of the ticks cannot matter. A question is asked in the middle
 * of a cycle: its answer may depend on nothing but its arguments, the asking object, and what subscribers
 * remembered before the cycle. */
#ifndef WW_SIM_EVENT_H
#define WW_SIM_EVENT_H

#include "core/sim/sim.h"

typedef struct Subscriber Subscriber;

struct Subscriber {
    /* Called on whatever thread runs the object's cluster. Returns the answer to a question, else NO_ANSWER
     * or WITHHELD. */
    int64_t (*handle)(Subscriber *subscriber, SimObject *object, uint32_t event, const int64_t *arguments,
                      uint64_t now);
};

#define NO_ANSWER INT64_MIN
#define WITHHELD  (INT64_MIN + 1) /* subscribers behind this one do not get it */

typedef struct SubscriberEntry {
    Subscriber *subscriber;
    uint32_t events; /* bit per event */
    const char *who; /* "ccws of sm[3]"; NULL: no policy */
} SubscriberEntry;

#define COLD __attribute__((cold, noinline))

/* The number of a class's event; -1 when it has none of this name. */
int event_number(const Class *class, const char *name);

/* From now on the subscriber handles these events of the object (bit per event). Between quanta. */
void object_subscribe(SimObject *object, Subscriber *subscriber, uint32_t events);
/* The same of an instance of a policy: reports name it. */
void object_subscribe_policy(SimObject *object, Subscriber *subscriber, uint32_t events, const char *who);
/* "cap of mc[0], b of mc[0]": the policies that handle the event. */
COLD void event_write_policies(const SimObject *object, uint32_t event, FILE *out);
/* Before all others, for one that may withhold it from them. */
void object_subscribe_first(SimObject *object, Subscriber *subscriber, uint32_t events);
/* No more, and between quanta, too. */
COLD void object_unsubscribe(SimObject *object, const Subscriber *subscriber);

/* At most EVENT_ARGUMENTS whole numbers; those left out are 0. */
#define EVENT_ARGUMENTS_OF(...)        ((const int64_t[EVENT_ARGUMENTS]){__VA_ARGS__})
#define event_emit(object, event, ...) event_emit_these(object, event, EVENT_ARGUMENTS_OF(__VA_ARGS__))
#define event_ask(object, event, ...)  event_ask_these(object, event, EVENT_ARGUMENTS_OF(__VA_ARGS__))
/* Between quanta: subscribers hear of it at once. */
#define event_tell(object, event, ...) event_tell_these(object, event, EVENT_ARGUMENTS_OF(__VA_ARGS__))
COLD void event_tell_these(SimObject *object, uint32_t event, const int64_t *arguments);
COLD void event_emit_these(SimObject *object, uint32_t event, const int64_t *arguments);
COLD int64_t event_ask_these(SimObject *object, uint32_t event, const int64_t *arguments);

/* In SimObject.subscribed, above the bits of events: what parts look on at. They are called while the object
 * works, so it takes the paths on which it emits events. */
#define SEEN_BY_PART(what) (1u << (MAX_EVENTS + (what)))
#define SEEN_BY_PARTS      (~0u << MAX_EVENTS)

/* Costs a look at a mask when nobody has subscribed. */
static inline bool object_has_subscriber(const SimObject *object, uint32_t event) {
    return __builtin_expect(object->subscribed >> event & 1, 0);
}
#define object_emit(object, event, ...)                                                                      \
    do {                                                                                                     \
        if (object_has_subscriber(object, event)) event_emit(object, event, __VA_ARGS__);                    \
    } while (0)

/* For subscribers, and between quanta: the present time of an object, and an extra tick in the next cycle, the
 * first that has not begun. */
static inline uint64_t object_now(const SimObject *object) {
    uint64_t in_cycle = object->cluster->now, boundary = object->sim->now;
    return in_cycle > boundary ? in_cycle : boundary;
}
void object_wake(SimObject *object);
/* When that cycle begins. */
uint64_t object_next_cycle(const SimObject *object);

/* For subscribers: an event that they handle is an event of another object as well, and is emitted in its place. */
void event_pass_on(SimObject *object, uint32_t event, int64_t a);

/* For subscribers: the run ends with this user error at the end of the quantum, in a consistent state. The
 * first one of a cluster counts. */
void object_fail(SimObject *object, const char *message);

/* In sim.c, at the end of a cycle of a cluster. */
COLD void cluster_emit_events(Cluster *cluster);

#endif
