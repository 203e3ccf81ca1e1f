#include "core/gpu/device/forward.h"

#include "core/gpu/device/dispatcher.h"
#include "core/gpu/sm/untimed.h"
#include "core/sim/event.h"

#include <stdlib.h>
#include <string.h>

/* Counting them takes as long as executing some instructions, so one CTA of so many says it for all: about every 32nd of
 * the grid, as SMs get them in turn. */
enum { CTAS_PER_COUNTED = 32 };

typedef struct {
    uint64_t cycles, instructions; /* cycles by conflicts of shared memory, of warp instructions */
} Conflicts;

typedef struct {
    Sm *sm;
    Sm *before;                /* what it was */
    uint32_t port;             /* of the dispatcher */
    uint32_t number, count;    /* of this SM, and of all */
    uint64_t start, time;      /* cycles */
    WarpSet asleep;            /* warps that wait for results, or for what they have loaded */
    uint64_t ready[MAX_WARPS]; /* when each of these goes on                */
    uint64_t wakes;            /* the first of them                         */
    uint64_t turn[MAX_WARPS];  /* when each of them had one last            */
    uint64_t looks;            /* when those that are passed over are looked at next */
    uint64_t instructions, loads;
    bool has_executed;
    /* The first CTAs */
    uint32_t started;              /* since the very first was no longer alone */
    bool is_alone;                 /* the very first still runs, and is alone  */
    bool has_been_alone;           /* it has begun                             */
    uint64_t next_start;           /* when the next one may begin */
    uint64_t interval;             /* between two of them */
    Conflicts conflicts[MAX_CTAS]; /* of the CTA in each slot, if they are counted */
} Runner;

struct Forward {
    Runner *runner;
    uint32_t count;
    SimObject *dispatcher;
    uint64_t cold; /* so many CTAs end before any leaves lines in the caches */
    bool is_warm;  /* they have */
    uint64_t end;  /* of the present round */
    UntimedTraffic before;
    PlainInst *plain, *counting; /* of untimed_find_plain(); those of CTAs whose conflicts are counted */
    ConflictCount *conflicts;    /* of these CTAs */
    Conflicts ended, lately;     /* of those that ended since forward_until(), and before that */
    uint64_t conflict_cycles, conflicts_until; /* of all instructions until this one */
    bool (*is_given_up)(void *context);
    void *context; /* of the above */
};

/* --- Execution ------------------------------------------------------------------------------- */

static void fall_asleep(Runner *r, uint32_t w, uint64_t cycles) {
    r->asleep |= warp_bit(w);
    r->ready[w] = r->time + cycles;
    if (r->ready[w] < r->wakes) r->wakes = r->ready[w];
}

static void wake(Runner *r) {
    r->wakes = UINT64_MAX;
    for (WarpSet left = r->asleep; left; left &= left - 1) {
        uint32_t w = first_warp(left);
        if (r->ready[w] <= r->time)
            r->asleep &= ~warp_bit(w);
        else if (r->ready[w] < r->wakes)
            r->wakes = r->ready[w];
    }
}

/* Until it loads, waits or exits, or the round ends. */
static void run_warp(const Forward *forward, Runner *r, uint32_t w) {
    const Warp *warp = &r->sm->warp[w];
    bool counts = ((uint64_t)warp->cta_number * r->count + r->number) % CTAS_PER_COUNTED == 0;
    uint64_t before = forward->conflicts->cycles;
    r->sm->context->conflicts = forward->conflicts;
    forward->conflicts->sm = r->sm;
    WarpTurn turn = untimed_take_turn(r->sm, w, counts ? forward->counting : forward->plain,
                                      (uint32_t)(forward->end - r->time), r->start + r->time,
                                      TURN_ENDS_AT_LOAD);
    r->conflicts[warp->cta_slot].cycles += forward->conflicts->cycles - before;
    r->conflicts[warp->cta_slot].instructions += counts ? turn.executed : 0;
    r->time += turn.executed;
    r->turn[w] = r->time;
    r->instructions += turn.executed;
    r->loads += turn.has_lanes;
    r->has_executed |= turn.executed != 0;
    uint64_t wait = turn.cycles - turn.executed;
    if (turn.has_loaded) wait += r->sm->untimed_miss ? FORWARD_MISS_CYCLES : FORWARD_HIT_CYCLES;
    if (wait && (r->sm->live & warp_bit(w))) fall_asleep(r, w, wait);
}

/* Of these, the one that has waited longest for its turn, if that is too long. NO_WARP: none has. */
static uint32_t passed_over(Runner *r, WarpSet ready) {
    uint32_t longest = first_warp(ready);
    for (WarpSet left = ready; left; left &= left - 1)
        if (r->turn[first_warp(left)] < r->turn[longest]) longest = first_warp(left);
    bool is_long = r->time - r->turn[longest] >= FORWARD_MOST_PASSED;
    if (!is_long) r->looks = r->time + FORWARD_MOST_PASSED;
    return is_long ? longest : NO_WARP;
}

static uint32_t next_warp(Runner *r, WarpSet ready) {
    uint32_t passed = r->time >= r->looks ? passed_over(r, ready) : NO_WARP;
    return passed != NO_WARP ? passed : sm_oldest(r->sm, ready);
}

static void run_round(const Forward *forward, Runner *r) {
    uint64_t end = forward->end;
    r->sm->untimed_repeats = 0; /* other SMs may have used its caches since */
    while (r->time < end && !untimed_has_fault(r->sm)) {
        if (r->wakes <= r->time) wake(r);
        WarpSet ready = r->sm->live & ~r->sm->waiting & ~r->asleep;
        if (ready)
            run_warp(forward, r, next_warp(r, ready));
        else
            r->time = r->wakes < end ? r->wakes : end;
    }
}

/* --- CTAs ------------------------------------------------------------------------------------ */

/* An SM's first CTA runs alone; what it takes, divided by the CTAs that fit, is the interval at which the next ones
 * begin, so that they are of all ages. Each SM begins with them a part of the interval behind the one before: CTAs that
 * share lines are in step with each other as rarely as long into a launch with timing. One that takes long may be
 * waiting for others. */
static void end_solitude(Runner *r) {
    r->is_alone = false;
    r->started = r->sm->resident;
    r->interval = r->time / r->sm->kernels.ctas;
    r->next_start = r->time + r->interval * r->number / r->count;
}

static bool may_start(const Runner *r) {
    if (r->started >= r->sm->kernels.ctas) return true;
    return !r->is_alone && r->time >= r->next_start;
}

static void note_start(Runner *r, uint32_t slot) {
    for (WarpSet warps = r->sm->cta[slot].warps; warps; warps &= warps - 1)
        r->turn[first_warp(warps)] = r->time;
    r->is_alone = !r->has_been_alone;
    r->has_been_alone = true;
    r->started++;
    r->next_start += r->interval;
}

static void end_ctas(Forward *forward, Runner *r) {
    for (uint32_t slots = sm_resident_slots(r->sm); slots; slots &= slots - 1) {
        uint32_t slot = (uint32_t)__builtin_ctz(slots);
        if (r->sm->cta[slot].warps & r->sm->live) continue;
        sm_end_cta_untimed(r->sm, slot);
        dispatcher_forward_end(forward->dispatcher, r->port, slot);
        forward->ended.cycles += r->conflicts[slot].cycles;
        forward->ended.instructions += r->conflicts[slot].instructions;
        r->conflicts[slot] = (Conflicts){0};
        if (r->is_alone) end_solitude(r);
    }
    if (r->is_alone && r->time >= FORWARD_MOST_ALONE) end_solitude(r);
}

static bool start_cta(const Forward *forward, Runner *r) {
    CtaStart start;
    if (!may_start(r) || !dispatcher_forward(forward->dispatcher, r->port, &start)) return false;
    sm_start_cta(r->sm, &start);
    note_start(r, start.slot);
    return true;
}

/* One to each SM in turn, while there is room. */
static bool start_ctas(const Forward *forward) {
    bool any = false, again = true;
    while (again) {
        again = false;
        for (uint32_t i = 0; i < forward->count; i++)
            again |= start_cta(forward, &forward->runner[i]);
        any |= again;
    }
    return any;
}

/* --- The hand-over --------------------------------------------------------------------------- */

static uint32_t port_of(const SimObject *dispatcher, const Sm *sm) {
    int port = dispatcher_port_of(dispatcher, &sm->obj);
    if (port < 0)
        user_error("%s: expected a wire from %s to run without timing, got another object between them",
                   sm->obj.path, dispatcher->path);
    return (uint32_t)port;
}

static void begin(const Forward *forward, uint32_t i, Sm *sm) {
    Runner *r = &forward->runner[i];
    *r = (Runner){.sm = sm,
                  .port = port_of(forward->dispatcher, sm),
                  .number = i,
                  .count = forward->count,
                  .before = malloc(sizeof *sm),
                  .wakes = UINT64_MAX};
    ensure_memory(r->before);
    *r->before = *sm;
    r->start = object_cycle(&sm->obj, sm->obj.sim->now);
    untimed_make_deaf(sm);
    memset(sm->cta, 0, sizeof sm->cta);
}

/* As it was: statistics, gates, subscribers. What requests of the device's runtime need may have grown. */
static void restore(Runner *r) {
    SystemCalls system = r->sm->system;
    *r->sm = *r->before;
    r->sm->view->is_alone = false;
    r->sm->system = system;
}

/* Warps and CTAs are as they are; nothing of them is in flight, and their instructions are to be fetched. */
static void keep_ctas(Runner *r) {
    Sm *sm = r->sm;
    const Sm forwarded = *sm;
    restore(r);
    sm->live = sm->want_fetch = forwarded.live;
    sm->waiting = forwarded.waiting;
    sm->resident = forwarded.resident;
    memcpy(sm->cta_by_age, forwarded.cta_by_age, sizeof sm->cta_by_age);
    memcpy(sm->cta, forwarded.cta, sizeof sm->cta);
    memcpy(sm->vote, forwarded.vote, sizeof sm->vote);
    memcpy(sm->waiting_lanes, forwarded.waiting_lanes, sizeof sm->waiting_lanes);
    memcpy(sm->paths, forwarded.paths, sizeof sm->paths);
    memset(sm->turn, 0, sizeof sm->turn);
    sm_find_kernels(sm);
    for (uint32_t i = 0; i < sm->schedulers; i++)
        sm->sched[i].warps = forwarded.sched[i].warps;
    sm->ctas_started += sm->resident;
    sm->forwarded += sm->resident;
}

static void announce(Sm *sm) {
    for (WarpSet left = sm->live; left; left &= left - 1)
        sm_show_next(sm, first_warp(left));
    for (uint32_t i = 0; i < sm->resident; i++) {
        uint32_t slot = sm->warp[first_warp(sm->cta_by_age[i])].cta_slot;
        Cta *cta = &sm->cta[slot];
        cta->unfinished = (uint32_t)__builtin_popcountll(cta->warps & sm->live);
        gates_cta_starts(&sm->gates, slot);
        object_emit(&sm->obj, SM_CTA_START, slot, (int64_t)cta->warps);
    }
    sm_warps_changed(sm);
    object_emit(&sm->obj, SM_WARPS_CHANGED, 0);
    object_wake(&sm->obj);
}

static void hand_over(const Forward *forward) {
    for (uint32_t i = 0; i < forward->count; i++)
        keep_ctas(&forward->runner[i]);
    dispatcher_hand_over(forward->dispatcher);
    for (uint32_t i = 0; i < forward->count; i++)
        announce(forward->runner[i].sm);
}

static void give_up(const Forward *forward) {
    for (uint32_t i = 0; i < forward->count; i++)
        restore(&forward->runner[i]);
    dispatcher_give_up(forward->dispatcher);
}

/* --- CTAs that leave no lines in the caches ------------------------------------------------------- */

static CtaTurn take_cold_turn(const Forward *forward, Runner *r, uint32_t slot) {
    uint64_t clock = r->start + r->time, before = clock;
    CtaTurn turn = untimed_take_cta_turn(r->sm, slot, forward->plain, &clock);
    r->time += clock - before;
    r->instructions += clock - before;
    if (turn != TURN_FAULT && !(sm_resident_slots(r->sm) >> slot & 1))
        dispatcher_forward_end(forward->dispatcher, r->port, slot);
    return turn;
}

static bool is_cold(const Forward *forward) {
    return dispatcher_ctas_done(forward->dispatcher) < forward->cold;
}

/* The turns of its CTAs, and of as many new ones as it has places. */
static CtaTurn run_cold_round(const Forward *forward, Runner *r) {
    CtaStart start;
    CtaTurn result = TURN_STUCK;
    for (uint32_t slots = sm_resident_slots(r->sm); slots && result != TURN_FAULT; slots &= slots - 1) {
        CtaTurn turn = take_cold_turn(forward, r, (uint32_t)__builtin_ctz(slots));
        if (turn > result) result = turn;
    }
    for (uint32_t i = 0; i < r->sm->kernels.ctas && result != TURN_FAULT && is_cold(forward); i++) {
        if (!dispatcher_forward(forward->dispatcher, r->port, &start)) break;
        sm_start_cta(r->sm, &start);
        result = take_cold_turn(forward, r, start.slot) == TURN_FAULT ? TURN_FAULT : TURN_PROGRESS;
    }
    return result;
}

static ForwardResult run_cold_rounds(const Forward *forward) {
    while (is_cold(forward)) {
        bool goes_on = false;
        for (uint32_t i = 0; i < forward->count && is_cold(forward); i++) {
            CtaTurn result = run_cold_round(forward, &forward->runner[i]);
            if (result == TURN_FAULT || forward->is_given_up(forward->context)) return FORWARD_FAULT;
            goes_on |= result == TURN_PROGRESS;
        }
        if (!goes_on) return FORWARD_STUCK;
    }
    return FORWARD_DONE;
}

/* From here on caches see what executes. No SM's clock goes back. Who waited for CTAs that came later is resident still. */
static void warm_caches(Forward *forward) {
    uint64_t latest = 0;
    forward->is_warm = true;
    for (uint32_t i = 0; i < forward->count; i++)
        if (forward->runner[i].time > latest) latest = forward->runner[i].time;
    for (uint32_t i = 0; i < forward->count; i++) {
        Runner *r = &forward->runner[i];
        r->start += latest;
        r->time = r->looks = 0;
        memset(r->turn, 0, sizeof r->turn);
        r->started = r->sm->resident;
        r->sm->warms_caches = 1;
    }
}

/* --- All SMs --------------------------------------------------------------------------------- */

static ForwardResult run_rounds(Forward *forward, uint64_t ctas) {
    while (dispatcher_ctas_done(forward->dispatcher) < ctas) {
        bool goes_on = start_ctas(forward);
        forward->end += FORWARD_ROUND_CYCLES;
        for (uint32_t i = 0; i < forward->count; i++) {
            Runner *r = &forward->runner[i];
            r->has_executed = false;
            goes_on |= !may_start(r);
            run_round(forward, r);
            if (untimed_has_fault(r->sm)) return FORWARD_FAULT;
            /* Who waits for what it has loaded will execute, and who waits at a barrier may wait for CTAs to come. */
            goes_on |= r->has_executed || (r->sm->live & ~r->sm->waiting);
        }
        if (forward->is_given_up(forward->context)) return FORWARD_FAULT;
        uint64_t done = dispatcher_ctas_done(forward->dispatcher);
        for (uint32_t i = 0; i < forward->count; i++)
            end_ctas(forward, &forward->runner[i]);
        goes_on |= dispatcher_ctas_done(forward->dispatcher) != done;
        if (!goes_on) return FORWARD_STUCK;
    }
    return FORWARD_DONE;
}

Forward *forward_begin(Sm *const *sms, uint32_t count, SimObject *dispatcher, uint64_t cold,
                       bool (*is_given_up)(void *context), void *context) {
    const Kernel *kernel = sms[0]->running->kernel;
    Forward *forward = malloc(sizeof *forward);
    ensure_memory(forward);
    *forward = (Forward){.runner = calloc(count, sizeof(Runner)),
                         .count = count,
                         .dispatcher = dispatcher,
                         .cold = cold,
                         .before = dispatcher->sim->untimed,
                         .is_given_up = is_given_up,
                         .context = context,
                         .plain = untimed_find_plain(kernel),
                         .counting = untimed_find_plain(kernel)};
    ensure_memory(forward->runner);
    forward->conflicts = untimed_count_conflicts(forward->counting, kernel);
    untimed_find_times(forward->plain, sms[0], kernel, FORWARD_HIT_CYCLES);
    untimed_find_times(forward->counting, sms[0], kernel, FORWARD_HIT_CYCLES);
    for (uint32_t i = 0; i < count; i++)
        begin(forward, i, sms[i]);
    return forward;
}

/* All CTAs have had them as often as those that were counted and ended meanwhile, or where there are none those before. */
static void find_conflicts(Forward *forward) {
    uint64_t loads, now = forward_instructions(forward, &loads);
    if (forward->ended.instructions) forward->lately = forward->ended;
    forward->ended = (Conflicts){0};
    if (!forward->lately.instructions) return;
    uint64_t instructions = now - forward->conflicts_until;
    forward->conflict_cycles += forward->lately.cycles * instructions / forward->lately.instructions;
    forward->conflicts_until = now;
}

ForwardResult forward_until(Forward *forward, uint64_t ctas) {
    ForwardResult result = forward->is_warm ? FORWARD_DONE : run_cold_rounds(forward);
    if (result != FORWARD_DONE) return result;
    if (!forward->is_warm) warm_caches(forward);
    result = run_rounds(forward, ctas);
    find_conflicts(forward);
    return result;
}

uint64_t forward_instructions(const Forward *forward, uint64_t *loads) {
    uint64_t sum = *loads = 0;
    for (uint32_t i = 0; i < forward->count; i++) {
        sum += forward->runner[i].instructions;
        *loads += forward->runner[i].loads;
    }
    return sum;
}

uint64_t forward_cycles(const Forward *forward) {
    return forward->end;
}

uint64_t forward_conflict_cycles(const Forward *forward) {
    return forward->conflict_cycles;
}

UntimedTraffic forward_traffic(const Forward *forward) {
    const UntimedTraffic *now = &forward->dispatcher->sim->untimed, *before = &forward->before;
    return (UntimedTraffic){.accesses = now->accesses - before->accesses,
                            .constants = now->constants - before->constants,
                            .sectors = now->sectors - before->sectors};
}

void forward_free(Forward *forward) {
    if (!forward) return;
    for (uint32_t i = 0; i < forward->count; i++)
        free(forward->runner[i].before);
    free(forward->runner);
    free(forward->plain);
    free(forward->counting);
    free(forward->conflicts);
    free(forward);
}

void forward_end(Forward *forward, bool hands_over) {
    if (hands_over)
        hand_over(forward);
    else
        give_up(forward);
    forward_free(forward);
}
