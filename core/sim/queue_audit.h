/* Little's law for every queue, in debug and sanitizer builds: the occupancy summed over time equals the time
 * inside summed over messages, tick by tick. The two sums come from different sources. The occupancy is what
 * the queue itself says that it holds; the time of a message is counted from the entry time that is kept
 * beside its slot. So a message that is lost, duplicated, overwritten or taken out of turn shows, and so does
 * a wrong count. Other builds compile none of it. */
#ifndef WW_SIM_QUEUE_AUDIT_H
#define WW_SIM_QUEUE_AUDIT_H

#include "core/sim/object.h"

/* A table's entries leave in any order. */
typedef enum { QUEUE_FIFO, QUEUE_TABLE } QueueOrder;

/* How many messages the object says its queue `queue` holds. */
typedef uint64_t QueueLength(const SimObject *object, uint32_t queue);

#ifdef WW_DEBUG

/* A message on a link. */
typedef struct {
    uint64_t time; /* of its push */
    /* False: it came with a snapshot, and `time` is that of the load, or its latency has changed. */
    bool seen;
} LinkEntry;

/* Of a link. Each end writes its own half only, as the ends may be at work on two threads: what has passed an
 * end, summed over time, less the same for the other end is the occupancy. */
typedef struct {
    LinkEntry
        *entered; /* per slot; written by the sender, as the slot is, and moved along with its message */
    uint64_t pushes, pushed_area, pushed_until;
    uint64_t pops __attribute__((aligned(64)));
    uint64_t popped_area, popped_until, waited;
} LinkAudit;

/* In link_send() and link_pop(), before the counts change. */
void link_audit_push(Link *link, uint64_t now);
void link_audit_pop(Link *link, uint64_t now);
/* At a boundary the times of what is inside have changed. */
void link_audit_retime(Link *link);

/* In init(): the object's queue number `queue`, whose messages stand in slots below `slots`. */
void audit_queue(SimObject *object, uint32_t queue, const char *name, QueueOrder order, uint32_t slots,
                 QueueLength *length);
/* At each push and each pop, when the queue's count has changed. The time is that of the object's tick. */
void audit_enter(const SimObject *object, uint32_t queue, uint32_t slot);
void audit_leave(const SimObject *object, uint32_t queue, uint32_t slot);
/* A message that stays has another slot now. */
void audit_move(const SimObject *object, uint32_t queue, uint32_t from, uint32_t to);
/* How many answers an object owes: its promises so far. False when a snapshot was loaded in between. */
void audit_promise(SimObject *object, bool promised);
bool audit_promises(const SimObject *object, uint64_t *promises);

/* Every queue of every object, every link. */
void sim_audit(const Sim *sim);
/* What is inside after a snapshot was loaded counts from now on. */
void sim_audit_restart(Sim *sim);
void link_audit_new(Link *link);
void link_audit_free(Link *link);
void object_audit_free(SimObject *object);

#else

static inline void link_audit_push(Link *link, uint64_t now) {
    (void)link, (void)now;
}
static inline void link_audit_pop(Link *link, uint64_t now) {
    (void)link, (void)now;
}
static inline void link_audit_retime(Link *link) {
    (void)link;
}
static inline void audit_queue(SimObject *object, uint32_t queue, const char *name, QueueOrder order,
                               uint32_t slots, QueueLength *length) {
    (void)object, (void)queue, (void)name, (void)order, (void)slots, (void)length;
}
static inline void audit_enter(const SimObject *object, uint32_t queue, uint32_t slot) {
    (void)object, (void)queue, (void)slot;
}
static inline void audit_leave(const SimObject *object, uint32_t queue, uint32_t slot) {
    (void)object, (void)queue, (void)slot;
}
static inline void audit_move(const SimObject *object, uint32_t queue, uint32_t from, uint32_t to) {
    (void)object, (void)queue, (void)from, (void)to;
}
static inline void audit_promise(SimObject *object, bool promised) {
    (void)object, (void)promised;
}
static inline bool audit_promises(const SimObject *object, uint64_t *promises) {
    (void)object, (void)promises;
    return false;
}
static inline void sim_audit(const Sim *sim) {
    (void)sim;
}
static inline void sim_audit_restart(Sim *sim) {
    (void)sim;
}
static inline void link_audit_new(Link *link) {
    (void)link;
}
static inline void link_audit_free(Link *link) {
    (void)link;
}
static inline void object_audit_free(SimObject *object) {
    (void)object;
}

#endif

#endif
