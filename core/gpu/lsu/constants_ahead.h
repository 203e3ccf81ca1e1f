/* Loads of parameters and constants that hit in the constant cache, ahead of time: nearly all of them do. Where all lanes
 * read one address, and nothing else is in that cache, the load/store unit knows when the answer will come as soon as it
 * begins with the instruction. It keeps the access here, in place of the link there, the cache's pipeline and the link
 * back, and the cache is not ticked for it. */
#ifndef WW_GPU_CONSTANTS_AHEAD_H
#define WW_GPU_CONSTANTS_AHEAD_H

#include "mem/protocol/caches.h"

enum { CONSTANTS_AHEAD = 16 }; /* a power of two */

typedef enum { AHEAD_BEGUN, AHEAD_ACCEPTED, AHEAD_LOOKED_UP } AheadCount;

typedef struct {
    uint64_t address;
    uint64_t sent, at_tags, answered; /* ticks                       */
    uint32_t entry;                   /* among the outstanding ones  */
    uint16_t cta;
    uint8_t class_number;
    uint8_t counted; /* AheadCount: what the cache has counted of it */
} ConstantAhead;

typedef struct {
    SimObject *cache;                    /* host: NULL: none may be                                  */
    HitsAhead owner;                     /* host                                                     */
    uint64_t to_cache, to_tags, to_unit; /* host: ticks                                              */
    uint64_t next;                       /* host: tick of the first answer; NEVER: there is none     */
    uint64_t head, tail;                 /* host: of the ring                                        */
    uint64_t requests, answers;          /* that have not gone and will not go by the links          */
    ConstantAhead ring[CONSTANTS_AHEAD]; /* host: in order of their answers; none in a checkpoint    */
} ConstantsAhead;

#define CONSTANTS_AHEAD_ROWS(T, m)                                                                           \
    HOST(T, m.cache, "The constant cache, where accesses may be kept back from it")                          \
    , HOST(T, m.owner, "Whom it asks about them")                                                            \
    , HOST(T, m.to_cache, "Latency of the wire to it")                                                       \
    , HOST(T, m.to_tags, "Of its pipeline")                                                                  \
    , HOST(T, m.to_unit, "Of the wire back")                                                                 \
    , HOST(T, m.next, "When the first of these accesses is answered")                                        \
    , HOST(T, m.head, "The first one")                                                                       \
    , HOST(T, m.tail, "Behind the last one")                                                                 \
    , STATE(T, m.requests, "How many did not go by the link")                                                \
    , STATE(T, m.answers, "How many answers did not come by the link")                                       \
    , HOST(T, m.ring, "Accesses to the constant cache that will hit")

static inline ConstantAhead *constant_ahead(ConstantsAhead *ahead, uint64_t number) {
    return &ahead->ring[number % CONSTANTS_AHEAD];
}

static inline bool constants_have_place(const ConstantsAhead *ahead) {
    return ahead->tail - ahead->head != CONSTANTS_AHEAD;
}

/* Of an access that is sent then. */
static inline void constants_push(ConstantsAhead *ahead, uint64_t address, uint64_t sent, uint32_t entry,
                                  uint16_t cta, uint8_t class_number) {
    ConstantAhead *hit = constant_ahead(ahead, ahead->tail++);
    hit->address = address;
    hit->sent = sent;
    hit->at_tags = sent + ahead->to_cache + ahead->to_tags;
    hit->answered = hit->at_tags + ahead->to_unit;
    hit->entry = entry;
    hit->cta = cta;
    hit->class_number = class_number;
    hit->counted = AHEAD_BEGUN;
    ahead->requests++;
    ahead->next = earlier_of(ahead->next, hit->answered);
}

/* What the cache has not counted of it yet, up to here. */
static inline void constant_count(const ConstantsAhead *ahead, ConstantAhead *hit, AheadCount to) {
    if (hit->counted >= to) return;
    l1_count_ahead(ahead->cache, hit->counted < AHEAD_ACCEPTED, to == AHEAD_LOOKED_UP);
    hit->counted = (uint8_t)to;
}

/* The first one is answered. Returns its entry. */
static inline uint32_t constants_pop(ConstantsAhead *ahead) {
    ConstantAhead *hit = constant_ahead(ahead, ahead->head++);
    constant_count(ahead, hit, AHEAD_LOOKED_UP);
    ahead->answers++;
    ahead->next = ahead->head == ahead->tail ? NEVER : constant_ahead(ahead, ahead->head)->answered;
    return hit->entry;
}

#endif
