/* Traces: what happens in chosen objects in a window of time, as records in an order that neither the tick order
 * nor threads can change.
 *
 * Nothing of it costs anything while no trace is taken. A traced object's turn calls traced_tick() in place of
 * its class's tick(): that calls it, and then looks which messages the object has taken from its links and put
 * into them, and what Class.trace says of its state. Events (event.h) are subscribed to. Each cluster keeps its
 * records to itself; at the end of a quantum they are sorted by time and object and given to the writers. */
#ifndef WW_SIM_TRACE_TRACE_H
#define WW_SIM_TRACE_TRACE_H

#include "core/sim/event.h"

enum { TRACE_NUMBERS = 4 };

/* What a message is about. A request keeps its identity on its way: that of the warp (or cache) that sent it first,
 * the tick in which it did, and the line. */
struct TraceMessage {
    uint64_t address, issued;
    const char *what;     /* "read"; NULL: there is no message */
    int32_t sm, warp, pc; /* -1: none */
    uint32_t bytes;
    uint8_t is_request; /* it has an identity */
    uint8_t is_response, is_posted, pad;
    uint32_t reserved;
};

typedef enum {
    TRACE_RECEIVE, /* a message was taken from a link                    */
    TRACE_SEND,    /* and put into one                                   */
    TRACE_NOTE,    /* what Class.trace says                              */
    TRACE_STATE,   /* a warp's state is another from now on              */
    TRACE_COMMAND, /* of a bank: the first number                        */
    TRACE_EVENT,   /* of the class                                       */
    TRACE_KNOB,    /* a policy has set a knob                            */
    TRACE_COUNTER, /* a number has changed; not in text                  */
} TraceKind;

typedef struct {
    uint64_t time;
    const SimObject *object;
    const char *name;   /* of the event */
    const char *detail; /* a format for the numbers, the port, or the arguments of an event */
    int64_t number[EVENT_ARGUMENTS];
    TraceMessage message;
    TraceKind kind;
    uint32_t pad;
} TraceRecord;

/* Class.trace: what traces show of a class beside its messages and events. */
struct TraceClass {
    const char *const *names; /* of its notes; NULL ends them */
    uint32_t replaces;        /* bit per event of the class: notes say the same and more */
    size_t memory_bytes;      /* of what it remembers from one look to the next */
    int32_t (*sm)(
        const SimObject *object); /* its number, for what it and those below it show of warps; or NULL */
    /* The window begins, at a boundary: notes what is there. */
    void (*begin)(SimObject *object, void *memory, uint64_t now);
    /* The object has ticked. A spurious tick must show nothing. */
    void (*look)(SimObject *object, void *memory, uint64_t now);
    void (*end)(SimObject *object, void *memory); /* the window ends, at a boundary; or NULL */
};

typedef struct Tracer Tracer;

/* Takes records in their order; the last one of a run is followed by close(). */
typedef struct TraceWriter TraceWriter;
struct TraceWriter {
    void (*begin)(TraceWriter *writer, const Tracer *tracer);
    void (*record)(TraceWriter *writer, const TraceRecord *record);
    /* Returns NULL, or what went wrong since it was opened; the caller frees it. */
    char *(*close)(TraceWriter *writer);
};

typedef struct {
    const char *patterns; /* of objects, "sm[3]*,l2[*]" */
    uint64_t from, to;    /* cycles of the first clock, rounded to quanta outwards; NEVER: to the end */
} TraceOptions;

/* After sim_elaborate(). User errors name options. */
Tracer *tracer_new(Sim *sim, const TraceOptions *options);
/* The machine has got the state of a later time: what was before is in no window. */
void tracer_time_has_moved(Tracer *tracer);
void tracer_add_writer(Tracer *tracer, TraceWriter *writer);
/* Writes what is left, and says how many records there were, unless `records` is NULL. sim_free() does so, too.
 * Returns NULL, or the first problem of a writer, to be freed. */
char *tracer_close(Tracer *tracer, uint64_t *records);

/* Of all events that its objects may show, some more than once. */
void tracer_visit_events(const Tracer *tracer, void (*visit)(void *context, const char *name), void *context);

const Sim *tracer_sim(const Tracer *tracer);
bool tracer_traces(const Tracer *tracer, const SimObject *object);

/* From begin() and look(), and whatever they have asked to be called: a record to fill. NULL outside of the
 * window. */
COLD TraceRecord *trace_record(const SimObject *object, TraceKind kind, const char *name, uint64_t now);
/* From anywhere: a policy has set a knob of the object. */
COLD void trace_knob(const SimObject *object, const char *name, uint64_t value);

/* "sm[3]*,l2[*]": does one of them match the path, as a whole or as far as a "."? */
bool trace_selects(const char *patterns, const char *path);

#endif
