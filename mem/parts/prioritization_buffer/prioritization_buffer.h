/* The memory request prioritization buffer (MRPB: Jia, Shaw, Martonosi, HPCA 2014; as dwt-pric configures it
 * in Table 4): FIFO queues in front of the tags, a warp's requests in that of its number, drained in a fixed
 * order of the queues that is begun anew for each request (non-greedy, fixed order). So requests of one warp
 * are grouped, and of those that wait the lowest warps go first. Plain data and functions, embedded in a
 * cache object; allocates nothing. All-zero state is an empty buffer. */
#ifndef WW_MEM_PRIORITIZATION_BUFFER_H
#define WW_MEM_PRIORITIZATION_BUFFER_H

#include "mem/protocol/memory_protocol.h"

enum { PRIORITIZATION_QUEUES_MAX = 64 };

typedef struct {
    uint32_t queues, places; /* places of each queue; 0: no buffer */
    uint32_t total;          /* requests that all of them can hold; 0: queues * places */
    uint32_t slots, limit;   /* queues * places; requests that all of them can hold, then */
    uint32_t count;          /* requests in it */
    uint64_t waiting;        /* bit per queue: it is not empty                              */
    uint64_t arrivals;       /* requests that came                                          */
    MemMessage *request;     /* per slot: first the places of queue 0, then those of 1, ... */
    uint64_t *arrival;       /* ... how many had come before                                */
    uint32_t first[PRIORITIZATION_QUEUES_MAX], length[PRIORITIZATION_QUEUES_MAX];
    uint64_t overtakes;
} PrioritizationBuffer;

#define PRIORITIZATION_ROWS(T, m)                                                                            \
    PARAM_NAMED(T, m.queues, "prioritization_queues", "48", "queues",                                        \
                "Prioritization buffer: FIFO queues, by the number of the warp", .min = 1,                   \
                .max = PRIORITIZATION_QUEUES_MAX, .converts = true)                                          \
    ,                                                                                                        \
        PARAM_NAMED(T, m.places, "prioritization_places", "0", "requests",                                   \
                    "Requests that each can hold; 0: no buffer", .max = 4096, .converts = true),             \
        PARAM_NAMED(T, m.total, "prioritization_total", "0", "requests",                                     \
                    "Requests that all of them can hold; 0: what their places allow", .max = 262144,         \
                    .converts = true),                                                                       \
        DERIVED(T, m.slots, "Places of all queues")                                                          \
    , DERIVED(T, m.limit, "Requests in all of them at most")                                                 \
    , STATE(T, m.count, "Requests in the prioritization buffer")                                             \
    , STATE(T, m.waiting, "Queues that are not empty")                                                       \
    , STATE(T, m.arrivals, "Requests that came to it")                                                       \
    , STATE_ARRAY(T, m.request, m.slots, "Requests by queue")                                                \
    , STATE_ARRAY(T, m.arrival, m.slots, "How many had come before each")                                    \
    , STATE(T, m.first, "Oldest request of each queue")                                                      \
    , STATE(T, m.length, "Requests in each queue")                                                           \
    , STAT_NAMED(T, m.overtakes, "prioritization_overtakes", "accesses",                                     \
                 "Requests that left the prioritization buffer before one that had come earlier")

void prioritization_build(PrioritizationBuffer *buffer);
/* Panics, naming `path`, unless it can be worked with; see Class.is_sound. */
void prioritization_is_sound(const PrioritizationBuffer *buffer, const char *path);

/* Parameters on which the sizes of these rows depend, for Class.convert(); NULL ends them. */
extern const char *const prioritization_params[];
#define PRIORITIZATION_CONVERTED_ROWS "prioritization.buffer.request", "prioritization.buffer.arrival"
/* The state of one of other sizes has been put in place, without those rows. False: it is not empty. */
bool prioritization_convert(PrioritizationBuffer *buffer);

/* Those in it that want an answer. */
void prioritization_visit(const PrioritizationBuffer *buffer, const Link *by, RequestVisitor *visit,
                          void *context);
bool prioritization_has_place(const PrioritizationBuffer *buffer, const MemMessage *m);
/* There must be a place. Returns the slot. */
uint32_t prioritization_push(PrioritizationBuffer *buffer, const MemMessage *m);
/* The oldest request of the lowest queue that is not empty; NULL: all are empty. */
const MemMessage *prioritization_next(const PrioritizationBuffer *buffer);
/* That one leaves. Returns its slot. */
uint32_t prioritization_pop(PrioritizationBuffer *buffer);

/* Is a request of the warp in it? */
bool prioritization_holds(const PrioritizationBuffer *buffer, uint32_t sm, uint32_t warp);
/* Requests in it that want an answer. */
uint32_t prioritization_answers_due(const PrioritizationBuffer *buffer);

#endif
