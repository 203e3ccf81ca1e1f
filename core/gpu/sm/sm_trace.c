/* What traces show of an SM: the state of each warp, and why schedulers issue nothing. */
#include "core/gpu/sm/sm.h"
#include "core/sim/trace/trace.h"

#include <string.h>

typedef enum {
    WARP_NONE,
    WARP_FETCH,
    WARP_BARRIER,
    WARP_FENCE,
    WARP_MEMORY,
    WARP_OPERANDS,
    WARP_READY,
} WarpState;

static const char *const state_names[] = {"ended",  "fetch",    "barrier", "fence",
                                          "memory", "operands", "ready"};

typedef struct {
    uint32_t cause[MAX_SCHEDULERS];
    uint8_t state[MAX_WARPS];
    WarpSet seen[6]; /* of which the states follow */
    uint32_t resident, pad;
} Memory;

static WarpState state_of(const Sm *sm, uint32_t w) {
    WarpSet bit = warp_bit(w);
    if (!(sm->live & bit)) return WARP_NONE;
    if (sm->fencing & bit) return WARP_FENCE;
    if (sm->waiting & bit) return WARP_BARRIER;
    if (!(sm->valid & bit)) return WARP_FETCH;
    if (sm->blocked & bit) return sm->loading & bit ? WARP_MEMORY : WARP_OPERANDS;
    return WARP_READY;
}

static TraceRecord *record(Sm *sm, TraceKind kind, const char *name, uint32_t w, uint64_t now) {
    TraceRecord *made = trace_record(&sm->obj, kind, name, now);
    made->message.sm = (int32_t)sm->number;
    made->message.warp = (int32_t)w;
    return made;
}

static void show_state(Sm *sm, Memory *memory, uint32_t w, const char *name, uint64_t now) {
    TraceRecord *made = record(sm, TRACE_STATE, name, w, now);
    made->detail = state_names[memory->state[w]];
    if (sm->live & sm->valid & warp_bit(w)) made->message.pc = (int32_t)sm->warp[w].simt.top.pc;
}

static void look_at_warps(Sm *sm, Memory *memory, uint64_t now) {
    const WarpSet seen[] = {sm->live, sm->fencing, sm->waiting, sm->valid, sm->blocked, sm->loading};
    WarpSet changed = 0;
    for (uint32_t i = 0; i < sizeof seen / sizeof *seen; i++)
        changed |= seen[i] ^ memory->seen[i];
    memcpy(memory->seen, seen, sizeof seen);
    for (; changed; changed &= changed - 1) {
        uint32_t w = first_warp(changed);
        WarpState state = state_of(sm, w);
        if (state == memory->state[w]) continue;
        memory->state[w] = (uint8_t)state;
        show_state(sm, memory, w, "state", now);
    }
}

static void look_at_schedulers(Sm *sm, Memory *memory, uint64_t now) {
    static const char *const format[] = {"scheduler %d issues",
                                         "scheduler %d has no warp",
                                         "scheduler %d: the next instructions are fetched",
                                         "scheduler %d: all wait for operands",
                                         "scheduler %d: a warp waits for a load or an atomic",
                                         "scheduler %d: all wait at barriers or fences",
                                         "scheduler %d: SP or SFU takes nothing",
                                         "scheduler %d: the LSU takes nothing",
                                         "scheduler %d: the policy allows no warp",
                                         "scheduler %d: a gate holds all warps"};
    _Static_assert(sizeof format / sizeof *format == SLOT_CAUSES, "a text for each cause");
    for (uint32_t i = 0; i < sm->schedulers; i++) {
        uint32_t cause = sm->slot_cause[i];
        if (cause == memory->cause[i]) continue;
        memory->cause[i] = cause;
        TraceRecord *made = trace_record(&sm->obj, TRACE_NOTE, "stall", now);
        made->detail = format[cause];
        made->number[0] = i;
    }
}

static void count_warps(Sm *sm, Memory *memory, uint64_t now) {
    uint32_t resident = (uint32_t)__builtin_popcountll(sm->live);
    if (resident == memory->resident) return;
    memory->resident = resident;
    TraceRecord *made = trace_record(&sm->obj, TRACE_COUNTER, "warps", now);
    made->number[0] = resident;
}

static void look(SimObject *object, void *memory, uint64_t now) {
    Sm *sm = (Sm *)object;
    look_at_warps(sm, memory, now);
    look_at_schedulers(sm, memory, now);
    count_warps(sm, memory, now);
}

static void begin(SimObject *object, void *remembered, uint64_t now) {
    Sm *sm = (Sm *)object;
    Memory *memory = remembered;
    const WarpSet seen[] = {sm->live, sm->fencing, sm->waiting, sm->valid, sm->blocked, sm->loading};
    memcpy(memory->seen, seen, sizeof seen);
    for (uint32_t i = 0; i < sm->schedulers; i++)
        memory->cause[i] = sm->slot_cause[i];
    for (uint32_t w = 0; w < MAX_WARPS; w++) {
        memory->state[w] = (uint8_t)state_of(sm, w);
        if (memory->state[w] != WARP_NONE) show_state(sm, memory, w, "begin", now);
    }
    count_warps(sm, memory, now);
}

static const char *const names[] = {"begin", "state", "stall", NULL};

static int32_t number(const SimObject *sm) {
    return (int32_t)sm_number(sm);
}

const TraceClass sm_trace = {
    .names = names, .memory_bytes = sizeof(Memory), .sm = number, .begin = begin, .look = look};
