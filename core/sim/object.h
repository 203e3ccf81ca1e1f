/* A SimObject is declared once: one plain struct that begins with `SimObject obj`, and one table of rows.
 * From the table come the constructor's parameters, the ports, the stats dump, save, load and hash,
 * --describe and the resolved-config dump. class_register() proves that the rows cover every byte of the
 * struct. */
#ifndef WW_SIM_OBJECT_H
#define WW_SIM_OBJECT_H

#include "core/sim/base/error.h"
#include "core/sim/base/times.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct SimObject SimObject;
typedef struct Class Class;
typedef struct Method Method;
typedef struct Sim Sim;
typedef struct Cluster Cluster;
typedef struct Clock Clock;
typedef struct Link Link;
typedef struct ObjectAudit ObjectAudit;
typedef struct SavedObject SavedObject;
typedef struct TraceMessage TraceMessage;
typedef struct TraceClass TraceClass;
struct SnapshotChanges;

#define NEVER             UINT64_MAX
#define NO_ANSWER_AWAITED UINT32_MAX

/* What two ports must agree on: the fixed-size messages that cross the wire, by value. A response_bytes of 0
 * is a one-way protocol. */
typedef struct {
    const char *name;
    uint32_t request_bytes, response_bytes;
    /* For the conservation of answers (answers.h), or NULL. */
    bool (*wants_answer)(const void *request);
    uint32_t (*route_depth)(const void *message); /* networks that it has crossed */
    /* Panics unless a message that a snapshot brought could have been sent. The link's name is `link`. */
    void (*request_is_sound)(const char *link, const SimObject *receiver, const void *message);
    void (*response_is_sound)(const char *link, const SimObject *receiver, const void *message);
    /* What traces show of a message (trace.h), or NULL: that there is one. */
    void (*trace_request)(const void *message, TraceMessage *shown);
    void (*trace_response)(const void *message, TraceMessage *shown);
} Protocol;

typedef enum { ROLE_REQUESTER, ROLE_RESPONDER } PortRole;

/* A requester sends requests and receives responses; a responder the other way round. */
typedef struct {
    Link *send;
    Link *receive;
} Port;

typedef enum {
    FIELD_END,
    FIELD_BASE,        /* the SimObject itself                                              */
    FIELD_PARAM,       /* fixed after build, set by name from Lua                           */
    FIELD_DERIVED,     /* computed from parameters by build(), again on every load          */
    FIELD_PORT,        /* one Port                                                          */
    FIELD_PORT_ARRAY,  /* Port *, as many as a parameter says                               */
    FIELD_STATE,       /* plain data without pointers: saved, loaded, hashed                */
    FIELD_STATE_ARRAY, /* pointer to plain data, as many elements as a uint32_t member says */
    FIELD_STAT,        /* uint64_t counter                                                  */
    FIELD_FORMULA,     /* computed at the dump, no bytes                                    */
    FIELD_CHILD,       /* an object built with this one, no bytes                           */
    FIELD_HOST,        /* pointers and caches of this process, rebuilt by init()            */
} FieldKind;

typedef enum { TYPE_NONE, TYPE_U32, TYPE_U64, TYPE_DOUBLE, TYPE_STRING } FieldType;

/* What is computed at the dump: a part of a whole, a sum over a number. Of several objects the parts add up,
 * and the wholes. */
typedef struct {
    double part, whole;
} Ratio;

typedef Ratio Formula(const SimObject *object);

static inline Ratio ratio_of(uint64_t part, uint64_t whole) {
    return (Ratio){(double)part, (double)whole};
}

typedef struct {
    FieldKind kind;
    FieldType type;
    const char *name, *doc;
    const char *unit;    /* "bytes" and "Hz" are parsed with their prefixes; else a word for the reader  */
    const char *initial; /* parameter's default as text; NULL when it must be given                      */
    const char *choices; /* "a|b|c": a uint32_t that holds the index of the word                         */
    double min, max;     /* of a numeric parameter; both 0: any                                          */
    bool power_of_two;
    bool timing;   /* a parameter on which no saved state depends: it may differ on resume, if asked for */
    bool converts; /* so may this one: Class.convert() sees to the state that depends on it          */
    bool flag;     /* a uint32_t parameter that is true or false                                   */
    bool knob;     /* policies may set it at run time: a parameter is then its first value, and saved  */
    size_t offset, bytes; /* in the struct; bytes 0 for rows without bytes                                */
    size_t element_bytes; /* arrays                                                                       */
    size_t count_offset;  /* arrays: the uint32_t member that holds the number of elements                */
    const Protocol *protocol; /* ports */
    PortRole role;
    bool optional; /* a port that may be left unwired                                              */
    const char *child_class;
    Formula *formula;
} Field;

#define FIELD_TYPE_OF(T, m)                                                                                  \
    _Generic(((T *)0)->m, uint32_t: TYPE_U32, uint64_t: TYPE_U64, double: TYPE_DOUBLE, char *: TYPE_STRING)
#define STAT_TYPE_OF(T, m) _Generic(((T *)0)->m, uint64_t : TYPE_U64)
#define COUNT_OFFSET(T, m) _Generic(((T *)0)->m, uint32_t : offsetof(T, m))
#define FIELD_AT(T, m)     .offset = offsetof(T, m), .bytes = sizeof(((T *)0)->m)
#define FIELD_ARRAY_AT(T, m, count)                                                                          \
    FIELD_AT(T, m), .element_bytes = sizeof(*((T *)0)->m), .count_offset = COUNT_OFFSET(T, count)

#define REQUIRED NULL
#define BASE(T)                                                                                              \
    { .kind = FIELD_BASE, .name = "obj", FIELD_AT(T, obj) }
/* PARAM(T, member, default text or REQUIRED, unit, doc, [.min =, .max =, .power_of_two =]) */
#define PARAM(T, m, def, u, d, ...)                                                                          \
    {                                                                                                        \
        .kind = FIELD_PARAM, .type = FIELD_TYPE_OF(T, m), .name = #m, .initial = def, .unit = u, .doc = d,   \
        FIELD_AT(T, m), __VA_ARGS__                                                                          \
    }
/* A row whose name is not the member's (an element of an array, say, or a member of a part). */
#define PARAM_NAMED(T, m, n, def, u, d, ...)                                                                 \
    {                                                                                                        \
        .kind = FIELD_PARAM, .type = FIELD_TYPE_OF(T, m), .name = n, .initial = def, .unit = u, .doc = d,    \
        FIELD_AT(T, m), __VA_ARGS__                                                                          \
    }
#define PARAM_CHOICE(T, m, def, words, d, ...)                                                               \
    {                                                                                                        \
        .kind = FIELD_PARAM, .type = FIELD_TYPE_OF(T, m), .name = #m, .initial = def, .unit = "choice",      \
        .choices = words, .doc = d, FIELD_AT(T, m), __VA_ARGS__                                              \
    }
#define PARAM_CHOICE_NAMED(T, m, n, def, words, d, ...)                                                      \
    {                                                                                                        \
        .kind = FIELD_PARAM, .type = FIELD_TYPE_OF(T, m), .name = n, .initial = def, .unit = "choice",       \
        .choices = words, .doc = d, FIELD_AT(T, m), __VA_ARGS__                                              \
    }
#define PARAM_FLAG_NAMED(T, m, n, def, d, ...)                                                               \
    {                                                                                                        \
        .kind = FIELD_PARAM, .type = FIELD_TYPE_OF(T, m), .name = n, .initial = def, .unit = "flag",         \
        .flag = true, .doc = d, FIELD_AT(T, m), __VA_ARGS__                                                  \
    }
#define PARAM_FLAG(T, m, def, d, ...) PARAM_FLAG_NAMED(T, m, #m, def, d, __VA_ARGS__)
#define DERIVED(T, m, d)                                                                                     \
    { .kind = FIELD_DERIVED, .name = #m, .doc = d, FIELD_AT(T, m) }
#define PORT_NAMED(T, m, n, proto, r, d, ...)                                                                \
    { .kind = FIELD_PORT, .name = n, .protocol = &(proto), .role = r, .doc = d, FIELD_AT(T, m), __VA_ARGS__ }
#define PORT(T, m, proto, r, d, ...) PORT_NAMED(T, m, #m, proto, r, d, __VA_ARGS__)
#define PORT_ARRAY(T, m, count, proto, r, d, ...)                                                            \
    {                                                                                                        \
        .kind = FIELD_PORT_ARRAY, .name = #m, .protocol = &(proto), .role = r, .doc = d,                     \
        FIELD_ARRAY_AT(T, m, count), __VA_ARGS__                                                             \
    }
#define STATE(T, m, d)                                                                                       \
    { .kind = FIELD_STATE, .name = #m, .doc = d, FIELD_AT(T, m) }
/* State that policies may set at run time; init() gives it its first value. */
#define KNOB_NAMED(T, m, n, u, d)                                                                            \
    {                                                                                                        \
        .kind = FIELD_STATE, .type = FIELD_TYPE_OF(T, m), .name = n, .unit = u, .doc = d, .knob = true,      \
        FIELD_AT(T, m)                                                                                       \
    }
#define KNOB(T, m, u, d) KNOB_NAMED(T, m, #m, u, d)
/* State of any type that policies set by methods of its handle: like a knob it belongs to the policy, and
 * starts anew under another one. */
#define KNOB_BY_METHOD(T, m, n, d)                                                                           \
    { .kind = FIELD_STATE, .name = n, .doc = d, .knob = true, FIELD_AT(T, m) }
/* State that policies may read by name. */
#define VISIBLE(T, m, u, d)                                                                                  \
    { .kind = FIELD_STATE, .type = FIELD_TYPE_OF(T, m), .name = #m, .unit = u, .doc = d, FIELD_AT(T, m) }
#define VISIBLE_NAMED(T, m, n, u, d)                                                                         \
    { .kind = FIELD_STATE, .type = FIELD_TYPE_OF(T, m), .name = n, .unit = u, .doc = d, FIELD_AT(T, m) }
#define STATE_NAMED(T, m, n, d)                                                                              \
    { .kind = FIELD_STATE, .name = n, .doc = d, FIELD_AT(T, m) }
#define STATE_ARRAY_NAMED(T, m, n, count, d)                                                                 \
    { .kind = FIELD_STATE_ARRAY, .name = n, .doc = d, FIELD_ARRAY_AT(T, m, count) }
#define STATE_ARRAY(T, m, count, d)                                                                          \
    { .kind = FIELD_STATE_ARRAY, .name = #m, .doc = d, FIELD_ARRAY_AT(T, m, count) }
#define STAT_NAMED(T, m, n, u, d)                                                                            \
    { .kind = FIELD_STAT, .type = STAT_TYPE_OF(T, m), .name = n, .unit = u, .doc = d, FIELD_AT(T, m) }
#define STAT(T, m, u, d) STAT_NAMED(T, m, #m, u, d)
#define FORMULA(n, fn, u, d)                                                                                 \
    { .kind = FIELD_FORMULA, .name = n, .formula = fn, .unit = u, .doc = d }
#define CHILD(n, cls, d)                                                                                     \
    { .kind = FIELD_CHILD, .name = n, .child_class = cls, .doc = d }
#define HOST(T, m, d)                                                                                        \
    { .kind = FIELD_HOST, .name = #m, .doc = d, FIELD_AT(T, m) }
#define FIELDS_END                                                                                           \
    { .kind = FIELD_END }

/* Of texts that checkpoints hold and messages show. */
enum { OBJECT_PATH_MAX = 240, PORT_NAME_MAX = 127, PARAM_TEXT_MAX = 511, CLOCK_NAME_MAX = 127 };

enum { MAX_EVENTS = 26, EVENT_ARGUMENTS = 12 };

/* What may be answered to a question, beside nothing at all. */
typedef struct {
    const char *legal; /* whole numbers, in words for users; NULL: true and false */
    bool (*is_legal)(const int64_t *arguments, int64_t answer); /* NULL: any whole number is */
} Question;

extern const Question yes_or_no;

/* Something that happens in an object and that subscribers may handle. A question is asked in the middle of
 * a cycle, and the answer counts at once; anything else subscribers handle at the end of the cycle. */
typedef struct {
    const char *name;      /* NULL ends the table                                     */
    const char *arguments; /* "warp, address": at most EVENT_ARGUMENTS whole numbers  */
    const Question *question;
    const char *doc;
} Event;

/* Called with a message that is to be answered, and the link by which the object got it, or gets its like. */
typedef void RequestVisitor(void *context, const Link *by, const void *message);

/* To a request without timing. */
typedef enum {
    UNTIMED_MISSES, /* the first cache on its way lacked some of what it is about, or there is none */
    UNTIMED_HITS,
    UNTIMED_REPEATS, /* hits; and the same once more, before any other, would be answered alike and leave all as it is */
} UntimedAnswer;
typedef UntimedAnswer TakeUntimed(SimObject *object, const void *request);

struct Class {
    const char *name, *doc;
    bool passes_on;        /* requests go through it as they came: policies look for caches behind it */
    bool stamps_route;     /* a network: it writes the way back into the requests that it passes on */
    bool made_at_run_time; /* a later class of its name takes its place, for objects to come */
    bool first_clock;      /* keeps times of its clock that must not change beside the first one */
    bool part; /* made by policies: a machine to which a state is transferred may lack it, or have it anew */
    bool commits_first; /* commit() comes before that of other classes: these may write over what it wrote */
    size_t bytes;
    const Field *fields;
    const Event *events;     /* numbered from 0 on; NULL: none */
    const Method *methods;   /* what Lua may call (method.h); NULL: none */
    const TraceClass *trace; /* what traces show of it beside messages and events (trace.h); NULL: nothing */
    /* Checks parameters against each other and computes DERIVED members; then the kernel allocates the
     * arrays, zeroed. User errors name object_path(). */
    void (*build)(SimObject *object);
    /* Called once all objects exist and all links are wired. */
    void (*init)(SimObject *object);
    /* One cycle at time `now` (ticks; an edge of the object's clock). Returns the next time at which there is
     * something to do, a later edge, considering everything in its links, messages not yet ready included; NEVER
     * when only a poke by a link can change that. Spurious ticks must change nothing. */
    uint64_t (*tick)(SimObject *object, uint64_t now);
    /* Responses share nothing with requests that changes within a quantum: the half of the object to which links with
     * responses belong while it is apart, and its cycle; then tick() has the requests alone, else both (halves.h). */
    SimObject *(*response_half)(const SimObject *object);
    uint64_t (*tick_responses)(SimObject *half, uint64_t now);
    /* A request comes without timing, between quanta and with nothing in flight: what the object remembers of
     * requests, tags say, becomes what it would have been, and what it sends on it sends on in the same way, with
     * link_send_untimed(). Nothing is counted, nobody is told. NULL: requests end here, but for those that the class
     * passes on through its only port. */
    TakeUntimed *take_untimed;
    /* Applies what the object did in this quantum and nobody else may have seen (memory writes). Called at a
     * boundary when object_request_commit() was called during the quantum. */
    void (*commit)(SimObject *object);
    /* Knobs have been set, by a policy or by a snapshot. Between cycles. False: there is nothing to do under
     * them, and the object may sleep on. */
    bool (*knobs_set)(SimObject *object);
    /* Who subscribes to its events is not who did. Between quanta. NULL: a look at the mask does. */
    void (*subscribers_changed)(SimObject *object);
    /* Policies are about to change it, or to look at more than its counters, or it is about to be saved. */
    void (*touched)(SimObject *object);
    /* At a boundary clocks have changed: `was` is the object's own, before. What it has reserved for a cycle of its clock
     * stays reserved for this cycle (clock_moved_edge()), and what follows from periods is found again. NULL: first_clock. */
    void (*clocks_changed)(SimObject *object, const Clock *was);
    /* Brings counters that are kept lazily while asleep up to `now`; that time may have been before, and then may be a
     * cycle earlier. */
    void (*settle)(SimObject *object, uint64_t now);
    /* Somebody looks on from `now`, a boundary: what it has begun ahead of later cycles goes back to where it would stand
     * if it had not. */
    void (*put_back)(SimObject *object, uint64_t now);
    /* Of an object whose state a snapshot has brought: panics unless others' code can work with it. Indexes
     * are within their arrays, lists end, counts fit, times are edges of its clock. Called as soon as the
     * rows are in place, when other objects and links may not be. `fits`: they are of an object with these
     * parameters; else convert() comes, and then another call. */
    void (*is_sound)(const SimObject *object, bool fits);
    /* Conservation laws over the counters; a violation is our bug and panics. `idle`: nothing is in
     * flight. */
    void (*check)(const SimObject *object, bool idle);
    /* Of state that the object keeps elsewhere: puts it into its rows, before they are saved or hashed. From
     * there is_sound() takes it back. */
    void (*fill_rows)(SimObject *object);
    /* --- For the conservation of answers (answers.h) */
    /* Requests that are inside and want an answer, as they came in. NULL: it holds none. */
    void (*requests_inside)(const SimObject *object, RequestVisitor *visit, void *context);
    /* Of a message that the object has sent on for others: the link by which it came; NULL when it is the
     * object's own. `depth`: of its route, so far; goes down by what the object had added. NULL: all are. */
    const Link *(*came_by)(const SimObject *object, const void *message, uint32_t *depth);
    /* Kinds of answers that it awaits, numbered from 0 on: how many; which one a message is or will become,
     * or NO_ANSWER_AWAITED; and how many of each kind are on their way, added to zeros. NULL: it asks for
     * nothing.
     */
    uint32_t (*answer_kinds)(const SimObject *object);
    uint32_t (*answer_kind)(const SimObject *object, const void *message);
    void (*answers_awaited)(const SimObject *object, uint32_t *awaited);
    /* For the hang report: what it holds and what it waits for; prints nothing when it is idle. */
    void (*report)(const SimObject *object, FILE *out);
    /* Takes over the state of an object of this class of which parameters that `convert` differ. The kernel
     * has copied the rows that kept their size, and the arrays whose size is state with the size they had;
     * this corrects them and supplies the others. False with the reason in `why` when it cannot be done. */
    bool (*convert)(SimObject *object, const SavedObject *saved, const struct SnapshotChanges *changes,
                    char *why, size_t why_size);
    void (*destroy)(SimObject *object);
};

/* The first member of every object; belongs to the simulation kernel. */
struct SimObject {
    const Class *class;
    char *path;
    Sim *sim;
    Cluster *cluster;
    Clock *clock;
    SimObject *parent;
    uint64_t *due;           /* next tick; an entry of the cluster's array      */
    uint64_t *cluster_due;   /* of the cluster: no later than any of its objects */
    uint64_t period;         /* of its clock, in ticks                          */
    uint64_t inverse, shift; /* of its clock, too */
    uint32_t id;             /* order of construction                      */
    uint32_t commit_requested;
    uint32_t subscribed; /* bit per event with a subscriber, and those of parts that look on */
    uint32_t subscriber_count;
    struct SubscriberEntry *subscribers;
#ifdef WW_DEBUG
    ObjectAudit *audit; /* of its queues (queue_audit.h); NULL: it has none */
#endif
};

/* Behind a class's definition: class_register_all() knows it. So a folder's classes are known as soon as the
 * folder is there. */
#define REGISTER_CLASS(c)                                                                                    \
    static const Class *const c##_entry __attribute__((section("ww_classes"), used)) = &c

/* Registers the classes of the whole program. */
void class_register_all(void);
/* One more; nothing happens when it is registered already. */
void class_register(const Class *class);
const Class *class_find(const char *name); /* or NULL */
uint32_t class_count(void);
const Class *class_at(uint32_t index); /* sorted by name */
/* Panics unless the rows cover the struct without gap or overlap. class_register() calls it. */
void class_check_coverage(const Class *class);
void class_describe(const Class *class, FILE *out);

static inline const char *object_path(const SimObject *object) {
    return object->path;
}

/* Sets a parameter from text, from a number. Unknown names, wrong units and values out of bounds are user
 * errors. */
void object_set_text(SimObject *object, const char *name, const char *text);
void object_set_number(SimObject *object, const char *name, double value);
/* Of all parameters that have one. */
void object_set_defaults(SimObject *object);
/* The value as text that object_set_text() accepts; the caller frees it. */
char *object_get_text(const SimObject *object, const Field *field);
const Field *object_field(const SimObject *object, FieldKind kind, const char *name); /* or NULL */
/* The port, array of ports or parameter of this name, or NULL. A port and a parameter may share one (`up` ports of which
 * there are `up`): then it is the port. */
const Field *object_member(const SimObject *object, const char *name);
/* A port by name, "up[3]" or "mem"; a user error without one. */
Port *object_port(SimObject *object, const char *name, const Field **field);

static inline uint32_t object_count(const SimObject *object, const Field *field) {
    return *(const uint32_t *)((const char *)object + field->count_offset);
}

/* With the inverse of a clock: how many of its periods a time is, rounded down. */
static inline uint64_t multiply_high(uint64_t a, uint64_t b) {
    return (uint64_t)(((__uint128_t)a * b) >> 64);
}

/* Makes sure that the object ticks at `time` (an edge of its clock) or earlier. Without a branch: the host
 * cannot foresee who is earlier. */
static inline void object_poke(SimObject *object, uint64_t time) {
    uint64_t due = *object->due, cluster_due = *object->cluster_due;
    *object->due = time < due ? time : due;
    *object->cluster_due = time < cluster_due ? time : cluster_due;
}

/* The same in the middle of a cycle, for objects that may be due in it themselves: whether their turn is yet to come or has
 * been, the time counts for the cluster, so that when a machine is idle does not depend on it. */
static inline void object_poke_counted(SimObject *object, uint64_t time) {
    uint64_t due = *object->due, *next = (uint64_t *)object->cluster;
    object_poke(object, time);
    if (due < time && time < *next) *next = time;
}

static inline void object_touch(SimObject *object) {
    if (object->class->touched) object->class->touched(object);
}

/* Does `path` match `pattern`, in which [*] stands for any index, [0..3] for four of them, and * for any name? */
bool path_matches(const char *pattern, const char *path);

#endif
