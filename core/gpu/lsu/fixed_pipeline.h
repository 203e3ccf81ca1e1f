/* Instructions of fixed latency, from issue to write-back: accesses to shared memory; to parameters and constants where
 * no cache serves them. When they begin and end follows from those before them. So an SM need not send one to its
 * load/store unit where all before it have such times: it issues the instruction ahead, here, and takes it back when
 * it is done. What follows one that has accesses goes through the link. */
#ifndef WW_GPU_FIXED_PIPELINE_H
#define WW_GPU_FIXED_PIPELINE_H

#include "core/gpu/protocol/protocols.h"
#include "core/sim/base/times.h"
#include "core/sim/sim.h"

enum { AHEAD_PLACES = 8 }; /* a power of two */

/* A completed instruction on its way to write-back, ready at a known time. */
typedef struct {
    uint64_t ready; /* tick */
    MemoryDone done;
    uint64_t pad;
} Completed;

/* One that was issued ahead: until it begins it takes a place on the way to the unit. */
typedef struct {
    uint64_t begins; /* tick */
    uint32_t cycles; /* that the banks need; 0: there was none */
    uint32_t kind;   /* InstKind */
} Ahead;

/* What the statistics count of some accesses to shared memory. */
typedef struct {
    uint64_t loads, stores, conflict_cycles;
} SharedCounts;

typedef struct {
    uint64_t next_done;    /* tick in which the SM has the first of the ring; NEVER: it is empty         */
    uint64_t busy_until;   /* tick until which the instructions that have come take the unit            */
    uint64_t open_from;    /* tick from which instructions may be issued ahead; NEVER: one has accesses */
    uint64_t issued_at;    /* tick in which the last one was issued ahead                                */
    uint64_t closed;       /* host: NEVER where none may be, else 0                                      */
    uint64_t issued_ahead; /* ever; the next one's place in `ahead`        */
    uint64_t head, tail;   /* of the ring                                  */
    uint64_t last_ready;   /* nothing in the ring is ready later           */
    Completed *ring;       /* in order of readiness; begun or not          */
    uint32_t slots;        /* a power of two                               */
    uint32_t shared_latency, constant_latency, pad;
    uint64_t shared_ticks;     /* host: shared_latency                                                */
    uint64_t last_sent;        /* tick in which the last one was written back                         */
    uint64_t period, way_back; /* host: ticks of a cycle, and of the wire to the SM                     */
    uint64_t way_holds;   /* host: instructions on the way to the unit, when fixed_leaves_place() was asked */
    SimObject *unit;      /* host: the load/store unit                                           */
    uint64_t past_link;   /* came past the link from the SM, less those that came through it twice */
    uint64_t handed_over; /* written back past the link to the SM                                  */
    Ahead ahead[AHEAD_PLACES]; /* the last ones, by issued_ahead */
    SharedCounts early;        /* of those that fixed_settle() has found not to have begun, and not counted */
    uint64_t shared_loads, shared_stores, bank_conflict_cycles;
} FixedPipeline;

/* In a load/store unit, for the audit of its queues. */
typedef enum { QUEUE_OUTSTANDING, QUEUE_COMPLETED, QUEUE_ANSWERED } LsuQueue;

/* One result a cycle; the first one's turn. */
static inline uint64_t fixed_first_sent(const FixedPipeline *fixed) {
    return later_of(fixed->ring[fixed->head & (fixed->slots - 1)].ready, fixed->last_sent + fixed->period);
}

static inline void fixed_update_next(FixedPipeline *fixed) {
    bool empty = fixed->head == fixed->tail;
    fixed->next_done = empty ? NEVER : fixed_first_sent(fixed) + fixed->way_back;
}

/* Makes room for what is ready before others that were begun before it. Returns its place, of that behind all. */
uint64_t fixed_overtake(FixedPipeline *fixed, uint64_t behind, uint64_t ready);

/* A slot of the ring for an instruction that is ready then; the caller fills in what is done. What has a short latency
 * overtakes what was begun before it. */
static inline MemoryDone *fixed_push(FixedPipeline *fixed, uint64_t ready) {
    Completed *ring = fixed->ring;
    uint64_t at = fixed->tail++, mask = fixed->slots - 1, head = fixed->head;
    ensure(at - head < fixed->slots);
    if (__builtin_expect(ready < fixed->last_ready, 0))
        at = fixed_overtake(fixed, at, ready);
    else
        fixed->last_ready = ready;
    ring[at & mask].ready = ready;
    audit_enter(fixed->unit, QUEUE_COMPLETED, (uint32_t)(at & mask));
    if (at == head) fixed_update_next(fixed);
    return &ring[at & mask].done;
}

/* The last access to shared memory leaves the ring. */
static inline MemoryDone fixed_take_back_shared(FixedPipeline *fixed) {
    Completed *ring = fixed->ring;
    uint64_t mask = fixed->slots - 1, at = fixed->tail - 1;
    while (ring[at & mask].done.space != SPACE_SHARED)
        at--;
    MemoryDone done = ring[at & mask].done;
    fixed->tail--;
    audit_leave(fixed->unit, QUEUE_COMPLETED, (uint32_t)(at & mask));
    for (; at < fixed->tail; at++) {
        ring[at & mask] = ring[(at + 1) & mask];
        audit_move(fixed->unit, QUEUE_COMPLETED, (uint32_t)((at + 1) & mask), (uint32_t)(at & mask));
    }
    fixed_update_next(fixed);
    return done;
}

/* The first one has been written back. */
static inline void fixed_pop(FixedPipeline *fixed) {
    uint64_t slot = fixed->head & (fixed->slots - 1);
    fixed->last_sent = fixed->next_done - fixed->way_back;
    fixed->head++;
    audit_leave(fixed->unit, QUEUE_COMPLETED, (uint32_t)slot);
    (void)slot;
    fixed_update_next(fixed);
}

/* Does it write back in this cycle? What the SM has not yet taken of earlier ones makes no difference. */
static inline bool fixed_sends_at(const FixedPipeline *fixed, uint64_t now) {
    uint64_t sent = fixed->last_sent;
    for (uint64_t i = fixed->head; i != fixed->tail; i++) {
        sent = later_of(fixed->ring[i & (fixed->slots - 1)].ready, sent + fixed->period);
        if (sent >= now) return sent == now;
    }
    return false;
}

/* From its begin until it is ready, when it takes the unit for so many cycles. */
static inline uint64_t fixed_latency(const FixedPipeline *fixed, uint32_t space, uint32_t cycles) {
    uint32_t latency = space == SPACE_SHARED ? fixed->shared_latency : fixed->constant_latency;
    return (cycles + latency) * fixed->period;
}

static inline void fixed_count_shared(FixedPipeline *fixed, uint32_t kind, uint32_t cycles) {
    fixed->shared_stores += kind == INST_STORE;
    fixed->shared_loads += kind != INST_STORE;
    fixed->bank_conflict_cycles += cycles - 1;
}

/* Of those issued ahead, the one that `back` others were issued behind; of more than AHEAD_PLACES, one of the last. */
static inline Ahead *fixed_ahead(FixedPipeline *fixed, uint64_t back) {
    return &fixed->ahead[(fixed->issued_ahead - 1 - back) % AHEAD_PLACES];
}

/* How many of them have not begun before this cycle, and when the first of these does. */
uint32_t fixed_waiting(FixedPipeline *fixed, uint64_t now, uint64_t *first_begins);

/* They are counted when they are issued. To be called before anybody looks at the statistics, which are not to have those that
 * have not begun. */
void fixed_settle(FixedPipeline *fixed, uint64_t now);

/* May the SM issue one ahead, for which fixed_leaves_place() has said yes? It looks at what was so before this cycle: whether
 * the unit had its turn in this one makes no difference. */
static inline bool fixed_is_open(const FixedPipeline *fixed, uint64_t now) {
    return (fixed->open_from | fixed->closed) <= now && !fixed->way_holds && object_unseen_until(fixed->unit);
}

/* Takes an access to shared memory ahead that may begin in the tick `begins`; the caller fills in what is done then. The
 * SM issues it so, or the unit finds it in the link. */
static inline MemoryDone *fixed_take(FixedPipeline *fixed, uint32_t kind, uint32_t cycles, uint64_t begins) {
    uint64_t at = later_of(begins, fixed->busy_until);
    Ahead *ahead = &fixed->ahead[fixed->issued_ahead++ % AHEAD_PLACES];
    *ahead = (Ahead){.begins = at, .cycles = cycles, .kind = kind};
    fixed_count_shared(fixed, kind, cycles);
    fixed->busy_until = at + cycles * fixed->period;
    return fixed_push(fixed, fixed->busy_until + fixed->shared_ticks);
}

static inline MemoryDone *fixed_issue(FixedPipeline *fixed, uint32_t kind, uint32_t cycles, uint64_t begins,
                                      uint64_t now) {
    fixed->issued_at = now;
    fixed->past_link++;
    return fixed_take(fixed, kind, cycles, begins);
}

/* For the SM: does nothing more go to the unit in this cycle? */
static inline bool fixed_is_way_spent(const FixedPipeline *fixed, const Link *way, uint64_t now) {
    return ((way->last_push == now) & (way->pushes_in_cycle == way->width)) | (fixed->issued_at == now);
}

/* For the SM, before anything has gone to the unit in this cycle: is there a place for one more on the way? Without a branch,
 * as link_can_send_straight(). Of those issued ahead as many have begun as leave a place when the last but so many has. */
static inline bool fixed_leaves_place(FixedPipeline *fixed, const Link *way, uint64_t now) {
    uint32_t holds = (uint32_t)link_occupancy(way, now), left = way->depth - holds;
    const Ahead *last = &fixed->ahead[(fixed->issued_ahead - left) % AHEAD_PLACES];
    fixed->way_holds = holds;
    return (holds < way->depth) & (last->begins < now);
}

#endif
