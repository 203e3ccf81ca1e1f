/* The issue gate of the knobs that nearly every warp scheduling policy sets: which warps may issue, how many
 * of each scheduler, and which go before the others. It is at work while one of them restricts anything. */
#ifndef WW_GPU_ISSUE_KNOBS_H
#define WW_GPU_ISSUE_KNOBS_H

#include "core/gpu/sm/issue_gate.h"

/* Of which kind of instruction a scheduler prefers warps. */
typedef enum { FIRST_ANY, FIRST_MEMORY, FIRST_COMPUTE } SchedulerFirst;

typedef struct {
    IssueGate gate;
    uint32_t first; /* SchedulerFirst */
    uint32_t warp_limit;
    WarpSet may_issue, preferred;
    WarpSet allowed; /* may_issue, and within warp_limit */
} IssueKnobs;

/* The rows of IssueKnobs `m`, one by one: they stand among those of the SM. */
#define ISSUE_KNOBS_FIRST_ROW(T, m)                                                                          \
    {                                                                                                        \
        .kind = FIELD_PARAM, .type = TYPE_U32, .name = "first", .initial = "any", .unit = "choice",          \
        .choices = "any|memory|compute", .knob = true, .doc = "Kind of instruction that goes before others", \
        FIELD_AT(T, m.first)                                                                                 \
    }
#define ISSUE_KNOBS_LIMIT_ROW(T, m)                                                                          \
    PARAM_NAMED(T, m.warp_limit, "warp_limit", "64", "warps",                                                \
                "Warps of a scheduler that may issue, the oldest; others of a CTA may catch up to its "      \
                "barrier, and warps that spin, at locks, flags or mbarriers, issue and do not count",        \
                .min = 1, .max = MAX_WARPS, .knob = true)
#define ISSUE_KNOBS_MAY_ISSUE_ROW(T, m)                                                                      \
    KNOB_NAMED(T, m.may_issue, "may_issue", "warps", "Warps that may issue")
#define ISSUE_KNOBS_PREFERRED_ROW(T, m)                                                                      \
    KNOB_NAMED(T, m.preferred, "preferred", "warps", "Warps that go before the others")
#define ISSUE_KNOBS_STATE_ROWS(T, m)                                                                         \
    VISIBLE_NAMED(T, m.allowed, "allowed", "warps", "Warps that may issue and are within warp_limit"),       \
        GATE_ROWS(T, m.gate)

void issue_knobs_init(IssueKnobs *knobs, Sm *sm);

#endif
