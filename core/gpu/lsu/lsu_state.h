/* The state of a load/store unit, shared by its files: lsu.c, its cycle; lsu_class.c, its rows and building;
 * lsu_check.c, its conservation laws. */
#ifndef WW_GPU_LSU_STATE_H
#define WW_GPU_LSU_STATE_H

#include "core/gpu/lsu/coalescer.h"
#include "core/gpu/lsu/constants_ahead.h"
#include "core/gpu/sm/sm.h"
#include "core/sim/ways.h"
#include "mem/protocol/memory_protocol.h"

enum { NO_ENTRY = 0xffff };

/* Events that policies can subscribe to. */
typedef enum { LSU_ASK_CLASS, LSU_COALESCED } LsuEvent;

/* An instruction of which answers are outstanding. */
typedef struct {
    MemoryDone done;
    uint32_t remaining; /* answers still to come        */
    uint32_t unsent;    /* segments still to be sent    */
    uint64_t begun;     /* tick of the first access, for the latency sum */
    uint32_t next_free;
    uint32_t is_prefetch; /* not 0: its latency is no load's */
} Outstanding;

/* Looks on from the unit's own tick: a load of the warp, which is still there, has its last answer. */
typedef struct LoadObserver {
    void (*answered)(struct LoadObserver *observer, uint32_t warp, uint64_t ticks);
} LoadObserver;

/* What the requests of an instruction have in common. Host: found again after a resume. */
typedef struct {
    Link *link;         /* on which they are sent      */
    uint64_t *accesses; /* the counter of such as they */
    MemMessage request; /* from `pc` on, but for what a segment says */
} Requests;

/* What follows for its requests from where an instruction goes and what it does, but for its cache operator. */
typedef struct {
    Link *link;
    uint64_t *accesses;
    uint32_t payload; /* mask of MemoryOp.payload: what others than atomics have there is their own */
    uint8_t kind, flags;
    uint16_t pad;
} RequestRule;

typedef struct {
    SimObject obj;
    /* parameters */
    uint32_t entries, narrow_segments, read_only_segment;
    /* derived */
    uint32_t answered_slots;
    uint32_t read_only_space; /* host: whose port loads by .nc take */
    uint32_t names_sectors;   /* host: of what it accesses in global and local memory; a flag */
    /* ports */
    Port sm, mem, constant, texture;
    Ways to_l1s;         /* host: to the L1s in its cluster */
    uint64_t l1_spaces;  /* bit per space that these serve */
    LoadObserver *loads; /* host: or NULL */
    const uint64_t
        *other_answers[2]; /* host: when the first from the constant and the texture cache is ready */
    Requests requests;     /* host: of op */
    RequestRule rule[SPACE_SURFACE + 1][INST_ATOMIC + 1]; /* host */
    uint64_t uncounted;                                   /* host: accesses to these caches */
    /* state */
    MemoryOp op;
    Segment segments[MAX_SEGMENTS];
    uint32_t op_valid;
    uint32_t holds_place; /* op is still in the link from the SM, where it takes a place */
    uint32_t segment_count, segment_next;
    uint16_t class_number, cta; /* of op's warp when it began */
    uint32_t entry;             /* of op, NO_ENTRY before its first access */
    Outstanding *outstanding;
    uint32_t first_free, in_use;
    FixedPipeline fixed;
    ConstantsAhead ahead;
    Completed *answered; /* ring: instructions whose last answer has come */
    uint64_t answered_head, answered_tail;
    /* statistics */
    uint64_t global_loads, global_stores, local_loads, local_stores, constant_loads, texture_loads, atomics,
        prefetches;
    uint64_t load_accesses, store_accesses, atomic_accesses, prefetch_accesses;
    uint64_t stall_cycles, stall_since;
    uint64_t load_latency_ticks, loads_answered;
} Lsu;

/* Of the ring of answered instructions: by those in it, and those that will come. */
static inline uint64_t lsu_slots_needed(const Lsu *lsu) {
    return lsu->in_use + lsu->answered_tail - lsu->answered_head;
}

/* Else its instructions take a fixed time. */
static inline bool has_accesses(const Lsu *lsu, uint32_t space) {
    return space != SPACE_SHARED && (!space_is_constant(space) || lsu->constant.send);
}

static inline Link *port_of(const Lsu *lsu, uint32_t space) {
    if (space == SPACE_TEXTURE && lsu->texture.send) return lsu->texture.send;
    if (space_is_constant(space) && lsu->constant.send) return lsu->constant.send;
    return lsu->mem.send;
}

/* The space with whose accesses those of the instruction go. */
static inline uint32_t space_of(const Lsu *lsu, const MemoryOp *op) {
    return __builtin_expect(op->cache_op == CACHE_READ_ONLY, 0) ? lsu->read_only_space : op->space;
}

void lsu_find_rules(Lsu *lsu);
uint64_t lsu_tick(SimObject *object, uint64_t now);
/* A snapshot has brought the instruction at work. */
bool lsu_knobs_set(SimObject *object);
UntimedAnswer lsu_take_untimed(SimObject *object, const void *request);
/* Counts the cycles of a stall up to `now`. */
void lsu_settle(SimObject *object, uint64_t now);
/* Instructions issued ahead go through the link after all, and what is done back through the other one. */
void lsu_put_back(SimObject *object, uint64_t now);
/* From init(). */
void lsu_find_constant_cache(Lsu *lsu);
/* Accesses to constants that are kept back from their cache go there after all. */
void lsu_put_back_constants(Lsu *lsu);
void lsu_is_sound(const SimObject *object, bool fits);
/* Each instruction awaits answers of a kind of its own. */
uint32_t lsu_answer_kinds(const SimObject *object);
uint32_t lsu_answer_kind(const SimObject *object, const void *message);
void lsu_answers_awaited(const SimObject *object, uint32_t *awaited);
void lsu_check(const SimObject *object, bool idle);
void lsu_report(const SimObject *object, FILE *out);

#endif
