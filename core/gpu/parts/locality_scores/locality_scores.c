#include "core/gpu/parts/locality_scores/locality_scores.h"

#include "mem/parts/victim_tags/victim_tags.h"

#include <string.h>

/* Scores above the base all fall at the same rate, so their order holds until one of them is at the base, and
 * between two changes from outside only two things can change who is allowed: a score comes back to the base,
 * or the sum up to the first warp that is blocked has fallen to the cut-off. The time of both is known. */
typedef struct {
    SimObject obj;
    uint32_t base, edge; /* parameters; edge: CutoffEdge */
    uint32_t count;      /* warps above the base score */
    uint32_t ctas;
    WarpSet active, allowed;
    uint64_t cutoff;
    uint64_t at_base[MAX_WARPS]; /* cycle in which its score is back at the base      */
    uint8_t stack[MAX_WARPS];    /* warps above the base score, from the bottom up    */
    WarpSet cta_by_age[MAX_CTAS];
    uint64_t accounted; /* cycles in which the blocked are counted: all below this one */
    uint64_t raised, changes, blocked_cycles;
    struct { /* host */
        Subscriber subscriber;
        const Sm *sm;
        const SimObject *victims;
        uint64_t k_throttle;
    } update;
} LocalityScores;

typedef enum { EDGE_BOTTOM, EDGE_TOP } CutoffEdge;
typedef enum { SCORES_CHANGED } ScoresEvent;

static const Event events[] = {
    [SCORES_CHANGED] =
        {"changed", "allowed", NULL,
         "Other warps are allowed to load; allowed: all but the active ones above the cut-off"},
    {0}};

static const Field fields[] = {
    BASE(LocalityScores),
    PARAM(LocalityScores, base, "100", "points", "Base score", .min = 1, .max = 1000000),
    PARAM_CHOICE(LocalityScores, edge, "bottom", "bottom|top",
                 "Edge of a warp's score in the stack that must lie above the cut-off to block it"),
    STATE(LocalityScores, count, "Warps above the base score"),
    VISIBLE(LocalityScores, active, "warps", "Warps that have a score"),
    VISIBLE(LocalityScores, allowed, "warps", "All but the active warps above the cut-off"),
    VISIBLE(LocalityScores, cutoff, "points", "Base score times active warps"),
    STATE(LocalityScores, at_base, "Cycle in which each warp's score is back at the base"),
    STATE(LocalityScores, stack, "Warps above the base score, highest first"),
    STATE(LocalityScores, cta_by_age, "Warps of the resident CTAs, the oldest first"),
    STATE(LocalityScores, ctas, "Resident CTAs"),
    STATE(LocalityScores, accounted, "Cycles in which the blocked are counted"),
    STAT(LocalityScores, raised, "scores", "Scores set above the base"),
    STAT(LocalityScores, changes, "changes", "Times that other warps became allowed"),
    STAT(LocalityScores, blocked_cycles, "warps x cycles", "Active warps that were not allowed to load"),
    HOST(LocalityScores, update, "Handles hits in victim tags"),
    FIELDS_END};

static void account(LocalityScores *s, uint64_t cycle) {
    if (cycle <= s->accounted) return;
    s->blocked_cycles += (uint64_t)__builtin_popcountll(s->active & ~s->allowed) * (cycle - s->accounted);
    s->accounted = cycle;
}

static uint64_t present_cycle(const LocalityScores *s) {
    return object_cycle(&s->obj, object_now(&s->obj));
}

/* --- The stack ------------------------------------------------------------------------------- */

static bool is_older(const LocalityScores *s, uint32_t warp, uint32_t other) {
    WarpSet both = warp_bit(warp) | warp_bit(other);
    return oldest_warps(s->cta_by_age, s->ctas, both, 1) == warp_bit(warp);
}

static bool goes_below(const LocalityScores *s, uint32_t warp, uint32_t other) {
    if (s->at_base[warp] != s->at_base[other]) return s->at_base[warp] > s->at_base[other];
    return is_older(s, warp, other);
}

/* Puts the warp at `from` where it belongs among those below it. */
static void sink(LocalityScores *s, uint32_t from) {
    uint8_t warp = s->stack[from];
    uint32_t at = from;
    for (; at > 0 && goes_below(s, warp, s->stack[at - 1]); at--)
        s->stack[at] = s->stack[at - 1];
    s->stack[at] = warp;
}

static void take_out(LocalityScores *s, uint32_t warp) {
    uint32_t at = 0;
    while (at < s->count && s->stack[at] != warp)
        at++;
    if (at == s->count) return;
    s->count--;
    memmove(s->stack + at, s->stack + at + 1, s->count - at);
}

void scores_set(SimObject *object, uint32_t warp, uint64_t score) {
    LocalityScores *s = (LocalityScores *)object;
    if (warp >= MAX_WARPS || !(s->active >> warp & 1)) return;
    if (score > s->cutoff) score = s->cutoff;
    take_out(s, warp);
    if (score > s->base) {
        s->at_base[warp] = present_cycle(s) + score - s->base;
        s->stack[s->count] = (uint8_t)warp;
        sink(s, s->count++);
        s->raised++;
    }
    object_wake(object);
}

uint64_t scores_get(const SimObject *object, uint32_t warp) {
    const LocalityScores *s = (const LocalityScores *)object;
    uint64_t cycle = present_cycle(s);
    if (warp >= MAX_WARPS || !(s->active >> warp & 1)) return 0;
    for (uint32_t i = 0; i < s->count; i++)
        if (s->stack[i] == warp && s->at_base[warp] > cycle) return s->base + s->at_base[warp] - cycle;
    return s->base;
}

void scores_raise(SimObject *object, uint32_t warp, uint64_t score) {
    if (score > scores_get(object, warp)) scores_set(object, warp, score);
}

/* With fewer active warps the cut-off is lower: no score is above it. */
static void lower_to_cutoff(LocalityScores *s, uint64_t cycle) {
    for (uint32_t i = 0; i < s->count; i++) {
        uint64_t *at_base = &s->at_base[s->stack[i]];
        if (*at_base > cycle + s->cutoff - s->base) *at_base = cycle + s->cutoff - s->base;
        sink(s, i);
    }
}

void scores_set_active(SimObject *object, WarpSet active, const WarpSet *cta_by_age, uint32_t ctas) {
    LocalityScores *s = (LocalityScores *)object;
    uint64_t cycle = present_cycle(s);
    ensure(ctas <= MAX_CTAS);
    account(s, cycle);
    for (WarpSet gone = s->active & ~active; gone; gone &= gone - 1)
        take_out(s, first_warp(gone));
    s->active = active;
    s->cutoff = (uint64_t)__builtin_popcountll(active) * s->base;
    memcpy(s->cta_by_age, cta_by_age, ctas * sizeof *cta_by_age);
    s->ctas = ctas;
    lower_to_cutoff(s, cycle);
    object_wake(object);
}

/* --- The score update logic ------------------------------------------------------------------ */

/* No active warps: the run was resumed, and began under another policy. */
static int64_t on_hit(Subscriber *subscriber, SimObject *object, uint32_t event, const int64_t *arguments,
                      uint64_t now) {
    LocalityScores *s = (LocalityScores *)((char *)subscriber - offsetof(LocalityScores, update.subscriber));
    const Sm *sm = s->update.sm;
    (void)object, (void)event, (void)now;
    if (!s->active) scores_set_active(&s->obj, sm->live, sm->cta_by_age, sm->resident);
    uint64_t lost = victim_tags_hits(s->update.victims) * s->update.k_throttle,
             issued = sm->warp_instructions;
    scores_raise(&s->obj, (uint32_t)arguments[0], lost < issued ? lost * s->cutoff / issued : s->cutoff);
    return NO_ANSWER;
}

void scores_update_on_hits(SimObject *object, SimObject *victim_tags, const Sm *sm, uint32_t k_throttle) {
    LocalityScores *s = (LocalityScores *)object;
    s->update.subscriber = (Subscriber){on_hit};
    s->update.sm = sm;
    s->update.victims = victim_tags;
    s->update.k_throttle = k_throttle;
    object_subscribe(victim_tags, &s->update.subscriber, 1u << VICTIM_TAGS_HIT);
}

/* --- The cut-off ----------------------------------------------------------------------------- */

/* Points that are missing under the cut-off for a warp of this score that stands on `sum`; 0: it is
 * allowed. */
static uint64_t points_missing(const LocalityScores *s, uint64_t sum, uint64_t score) {
    uint64_t wanted = s->edge == EDGE_TOP ? sum + score : sum + 1;
    return wanted > s->cutoff ? wanted - s->cutoff : 0;
}

/* How many warps with the base score have room on `sum`. */
static uint32_t room_on(const LocalityScores *s, uint64_t sum) {
    uint64_t free_points = s->cutoff > sum ? s->cutoff - sum : 0;
    return (uint32_t)((s->edge == EDGE_TOP ? free_points : free_points + s->base - 1) / s->base);
}

static uint64_t score_in(const LocalityScores *s, uint32_t place, uint64_t cycle) {
    return s->base + s->at_base[s->stack[place]] - cycle;
}

/* Who is allowed in this cycle; *next: the first cycle in which it may be others. */
static WarpSet find_allowed(const LocalityScores *s, uint64_t cycle, uint64_t *next) {
    WarpSet high = 0, low = s->active;
    uint64_t sum = 0, missing = 0;
    uint32_t place = 0;
    for (; place < s->count; place++) {
        uint64_t score = score_in(s, place, cycle);
        missing = place > 0 ? points_missing(s, sum, score) : 0; /* the warp at the bottom always may */
        if (missing) break;
        sum += score;
        high |= warp_bit(s->stack[place]);
    }
    for (uint32_t i = 0; i < s->count; i++)
        low &= ~warp_bit(s->stack[i]);
    uint32_t room = missing ? 0 : room_on(s, sum);
    *next = NEVER;
    if (!missing && room >= (uint32_t)__builtin_popcountll(low)) return high | low;
    /* What the first warp that is blocked stands on falls, and with its top its own score if that is above
     * the base. */
    uint32_t last = missing ? place : place - 1, falling = place + (missing && s->edge == EDGE_TOP);
    if (!missing) missing = points_missing(s, sum + (uint64_t)room * s->base, s->base);
    uint64_t fits = cycle + (missing + falling - 1) / falling, reordered = s->at_base[s->stack[last]];
    *next = fits < reordered ? fits : reordered;
    return high | oldest_warps(s->cta_by_age, s->ctas, low, room);
}

static uint64_t tick(SimObject *object, uint64_t now) {
    LocalityScores *s = (LocalityScores *)object;
    uint64_t cycle = object_cycle(object, now), next;
    while (s->count && s->at_base[s->stack[s->count - 1]] <= cycle)
        s->count--;
    WarpSet allowed = find_allowed(s, cycle, &next) | ~s->active;
    if (allowed != s->allowed) {
        account(s, cycle);
        s->changes += (allowed & s->active) != (s->allowed & s->active);
        s->allowed = allowed;
        object_emit(object, SCORES_CHANGED, (int64_t)allowed);
    }
    return next == NEVER ? NEVER : now + (next - cycle) * object->period;
}

static void init(SimObject *object) {
    ((LocalityScores *)object)->allowed = ~0ull;
}

static void settle(SimObject *object, uint64_t now) {
    account((LocalityScores *)object, object_cycle(object, now));
}

static void is_sound(const SimObject *object, bool fits) {
    const LocalityScores *s = (const LocalityScores *)object;
    uint64_t cycle = object_cycle(object, object->sim->now);
    (void)fits;
    sound(s->count <= MAX_WARPS && s->ctas <= MAX_CTAS, "%s: %u scores, %u CTAs", object->path, s->count,
          s->ctas);
    sound(s->cutoff == (uint64_t)__builtin_popcountll(s->active) * s->base && s->accounted <= cycle + 1,
          "%s: a cut-off of %lu", object->path, s->cutoff);
    WarpSet seen = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        uint32_t warp = s->stack[i];
        sound(warp < MAX_WARPS && !(seen >> warp & 1) && s->at_base[warp] <= cycle + s->cutoff,
              "%s.stack: warp %u at place %u", object->path, warp, i);
        seen |= warp_bit(warp);
    }
}

static void check(const SimObject *object, bool idle) {
    const LocalityScores *s = (const LocalityScores *)object;
    (void)idle;
    for (uint32_t i = 0; i < s->count; i++)
        if (!(s->active >> s->stack[i] & 1) || (i > 0 && goes_below(s, s->stack[i], s->stack[i - 1])))
            panic("%s: warp %u at place %u of %u is not active or above a lower score", object->path,
                  s->stack[i], i, s->count);
}

static void report(const SimObject *object, FILE *out) {
    const LocalityScores *s = (const LocalityScores *)object;
    if (s->active & ~s->allowed)
        fprintf(out, "%s: warps 0x%lx of 0x%lx may not load\n", object->path, s->active & ~s->allowed,
                s->active);
}

/* --- What policies may call ------------------------------------------------------------------ */

enum { MAX_K_THROTTLE = 1000000 };

static const Sm *sm_around(const SimObject *object, MethodCall *call) {
    const Sm *sm = (const Sm *)object->parent;
    if (sm && sm->obj.class == &sm_class) return sm;
    method_refuse(call, "expected scores that belong to an SM, got %s of %s", object->path,
                  sm ? sm->obj.path : "the machine");
    return NULL;
}

static void call_set(SimObject *object, MethodCall *call) {
    int64_t score = call->argument[1].whole;
    scores_set(object, (uint32_t)call->argument[0].whole, score < 0 ? 0 : (uint64_t)score);
}

static void call_raise(SimObject *object, MethodCall *call) {
    int64_t score = call->argument[1].whole;
    scores_raise(object, (uint32_t)call->argument[0].whole, score < 0 ? 0 : (uint64_t)score);
}

static void call_get(SimObject *object, MethodCall *call) {
    call->result[0].whole = (int64_t)scores_get(object, (uint32_t)call->argument[0].whole);
}

static void call_set_active(SimObject *object, MethodCall *call) {
    const Sm *sm = sm_around(object, call);
    if (sm) scores_set_active(object, call->argument[0].set, sm->cta_by_age, sm->resident);
}

static void call_update_on_hits(SimObject *object, MethodCall *call) {
    SimObject *victims = call->argument[0].object;
    const Sm *sm = sm_around(object, call);
    if (!sm) return;
    if (victims->parent != object->parent)
        method_refuse(call, "vta: expected VictimTags of %s, got %s", sm->obj.path, victims->path);
    else
        scores_update_on_hits(object, victims, sm, (uint32_t)call->argument[1].whole);
}

#define WARP WHOLE_NUMBER("warp", .max = MAX_WARPS - 1)

static const Method methods[] = {
    METHOD("set", call_set,
           "The warp's score from the next cycle on; below the base it is the base, above the cut-off the "
           "cut-off",
           TAKES(WARP, WHOLE_NUMBER("score"))),
    METHOD("raise", call_raise, "The same as set() where the warp's present score is lower; else nothing",
           TAKES(WARP, WHOLE_NUMBER("score"))),
    METHOD("get", call_get, "Its present score; 0 when it does not take part", TAKES(WARP),
           RETURNS(WHOLE_NUMBER("score"))),
    METHOD("set_active", call_set_active,
           "The warps that have a score, with the ages that they have in the SM",
           TAKES(SET_OF("warps", "warps"))),
    METHOD("update_on_hits", call_update_on_hits,
           "From now on a hit in these victim tags raises the warp's score to hits * k_throttle * cutoff // "
           "sm.warp_instructions, as raise() in on_vta_hit could",
           TAKES(OBJECT_OF(victim_tags_class, "vta"), WHOLE_NUMBER("k_throttle", .max = MAX_K_THROTTLE))),
    METHODS_END};

const Class locality_scores_class = {
    .name = "LocalityScores",
    .doc = "Scores of the locality that warps have lost, and who may load under the cut-off",
    .part = true,
    .bytes = sizeof(LocalityScores),
    .fields = fields,
    .events = events,
    .methods = methods,
    .init = init,
    .tick = tick,
    .settle = settle,
    .is_sound = is_sound,
    .check = check,
    .report = report,
};
REGISTER_CLASS(locality_scores_class);
