/* What Lua may call on an object. A class has a row for each method, as it has one for each field. The
 * function is plain C: whoever calls it has checked the arguments against the row, and passes the results
 * on. From the rows come the checks, --describe, the reference of policies and what editors know. */
#ifndef WW_SIM_METHOD_H
#define WW_SIM_METHOD_H

#include "core/sim/object.h"

enum { METHOD_ARGUMENTS = 3, METHOD_RESULTS = 8, METHOD_REFUSAL_BYTES = 240 };

typedef enum {
    VALUE_NONE,
    VALUE_WHOLE,  /* MethodValue.whole  */
    VALUE_SET,    /* MethodValue.set    */
    VALUE_FLAG,   /* MethodValue.flag   */
    VALUE_OBJECT, /* MethodValue.object */
    VALUE_TEXT, /* MethodValue.text; of a result, NULL: nil in Lua. That of an argument lasts as long as the call */
} ValueKind;

/* An argument or a result. A whole number with min and max 0 and without `below` may be any. */
typedef struct {
    ValueKind kind;
    const char *name;
    const char *unit; /* of a set: "warps", a bit each */
    int64_t min, max;
    const char *below; /* the parameter that a whole number from 0 on stays below ... */
    size_t below_at;   /* ... and where the struct has it: a uint32_t */
    const Class *class;
} MethodParameter;

#define WHOLE_NUMBER(n, ...)                                                                                 \
    { .kind = VALUE_WHOLE, .name = n, __VA_ARGS__ }
/* WHOLE_NUMBER_BELOW("warp", Sm, warps): 0 to the object's number of warps - 1 */
#define WHOLE_NUMBER_BELOW(n, T, m)                                                                          \
    { .kind = VALUE_WHOLE, .name = n, .below = #m, .below_at = offsetof(T, m) }
#define SET_OF(u, n)                                                                                         \
    { .kind = VALUE_SET, .name = n, .unit = u }
#define FLAG_VALUE(n)                                                                                        \
    { .kind = VALUE_FLAG, .name = n }
#define TEXT_VALUE(n)                                                                                        \
    { .kind = VALUE_TEXT, .name = n }
#define OBJECT_OF(c, n)                                                                                      \
    { .kind = VALUE_OBJECT, .name = n, .class = &(c) }

typedef union {
    int64_t whole;
    uint64_t set;
    bool flag;
    SimObject *object;
    const char *text;
} MethodValue;

typedef struct {
    MethodValue argument[METHOD_ARGUMENTS], result[METHOD_RESULTS];
    const char *caller; /* the instance of a policy, "ccws of sm[3]"; outlives the machine's run */
    bool asked;         /* from the answer to a question, in the midst of a cycle */
    bool elsewhere;     /* of another object, before this one's turn in it or after */
    bool nothing;       /* set by a method that may have no result: Lua gets nil */
    char refusal[METHOD_REFUSAL_BYTES]; /* "", or the reason of method_refuse() */
} MethodCall;

struct Method {
    const char *name; /* NULL ends the table */
    const char *doc;
    void (*call)(SimObject *object, MethodCall *call);
    MethodParameter arguments[METHOD_ARGUMENTS + 1]; /* VALUE_NONE ends them */
    MethodParameter results[METHOD_RESULTS + 1];
    bool may_be_nil; /* it may set MethodCall.nothing: Lua gets nil */
    bool fixed; /* it has no effect, and its results change between quanta alone: any question may call it */
};

/* METHOD("last", call_last, doc, TAKES(an argument, ...), RETURNS(a result, ...)); MAY_BE_NIL and FIXED too */
#define METHOD(n, f, d, ...)                                                                                 \
    { .name = n, .call = f, .doc = d, __VA_ARGS__ }
#define TAKES(...)   .arguments = {__VA_ARGS__}
#define RETURNS(...) .results = {__VA_ARGS__}
#define MAY_BE_NIL   .may_be_nil = true
#define FIXED        .fixed = true
#define METHODS_END                                                                                          \
    { .name = NULL }

/* The caller gets an error that names the object, the method and this reason. The method returns then. */
void method_refuse(MethodCall *call, const char *format, ...) PRINTF_LIKE(2, 3);

/* The smallest and the largest whole number that an argument of the object may be. */
typedef struct {
    int64_t min, max;
} MethodBounds;
static inline MethodBounds method_bounds(const MethodParameter *parameter, const SimObject *object) {
    bool any = parameter->min == 0 && parameter->max == 0;
    if (parameter->below) {
        const uint32_t *end = (const uint32_t *)((const char *)object + parameter->below_at);
        return (MethodBounds){0, (int64_t)*end - 1};
    }
    return any ? (MethodBounds){INT64_MIN, INT64_MAX} : (MethodBounds){parameter->min, parameter->max};
}

/* The method of this name; NULL when the class has none. */
const Method *class_method(const Class *class, const char *name);

#endif
