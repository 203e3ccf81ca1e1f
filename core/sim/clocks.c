#include "core/sim/clocks.h"

#include "core/sim/clock_shares.h"
#include "core/sim/halves.h"
#include "core/sim/threads.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Clock *sim_find_clock(const Sim *sim, const char *name) {
    for (uint32_t i = 0; i < sim->clock_count; i++)
        if (strcmp(sim->clocks[i].name, name) == 0) return &sim->clocks[i];
    return NULL;
}

_Noreturn void no_such_clock(const Sim *sim, const char *where, const char *name) {
    char names[1024] = "none";
    for (uint32_t i = 0, used = 0; i < sim->clock_count && used < sizeof names; i++)
        used += (uint32_t)snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "",
                                   sim->clocks[i].name);
    user_error("%s: no clock of machine %s matches '%s'; available: %s", where, sim->name, name, names);
}

/* --- Periods ----------------------------------------------------------------------------------- */

bool clocks_may_change(const Sim *sim) {
    for (uint32_t i = 0; i < sim->clock_count; i++)
        if (sim->clocks[i].slowest != sim->clocks[i].fastest) return true;
    return false;
}

static bool may_change_beside_first(const Clock *clock, const Clock *first) {
    if (clock == first) return false;
    return clock->slowest != clock->fastest || first->slowest != first->fastest;
}

uint64_t clocks_quickest(const Sim *sim, const Clock *clock) {
    return clock == sim->clocks ? clock->slowest : clock->fastest;
}

static uint64_t greatest_common_divisor(uint64_t a, uint64_t b) {
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Ticks, for a first clock of a frequency. Rounded up, so that no latency is less than its cycles. */
static uint64_t period_at(const Sim *sim, const Clock *clock, uint64_t hertz, uint64_t first_hertz) {
    uint64_t of_first = sim->clocks[0].period;
    if (clock == sim->clocks) return of_first;
    return (uint64_t)(((unsigned __int128)of_first * first_hertz + hertz - 1) / hertz);
}

static void set_period(const Sim *sim, Clock *clock) {
    clock->period = period_at(sim, clock, clock->frequency, sim->clocks[0].frequency);
    clock->inverse = UINT64_MAX / clock->period + 1;
}

/* So that the frequencies of clocks that change are met to a thousandth, even where the first clock is slow: the least
 * period is of so many ticks, before it is rounded. `common`: ticks of a second. */
static uint64_t refinement(const Sim *sim, uint64_t common) {
    enum { PERIOD_MIN = 1000 };
    const Clock *first = sim->clocks;
    unsigned __int128 finest = 1;
    for (uint32_t i = 0; i < sim->clock_count; i++) {
        const Clock *clock = &sim->clocks[i];
        if (!may_change_beside_first(clock, first)) continue;
        unsigned __int128 ticks = (unsigned __int128)first->period * first->slowest;
        unsigned __int128 wanted = ((unsigned __int128)PERIOD_MIN * clock->fastest + ticks - 1) / ticks;
        if (wanted * common > (unsigned __int128)1 << 61) /* 2^64 ticks must last */
            user_error(
                "clock.%s: expected %lu Hz or more, so that clock %s is met to a thousandth at %lu Hz, "
                "got a range from %lu Hz on",
                first->name,
                (uint64_t)((unsigned __int128)PERIOD_MIN * clock->fastest * first->hertz >> 61) + 1,
                clock->name, clock->fastest, first->slowest);
        finest = wanted > finest ? wanted : finest;
    }
    return (uint64_t)finest;
}

void clocks_set_periods(Sim *sim) {
    uint64_t common = 1;
    for (uint32_t i = 0; i < sim->clock_count; i++) {
        uint64_t hertz = sim->clocks[i].hertz;
        unsigned __int128 next = (unsigned __int128)(common / greatest_common_divisor(common, hertz)) * hertz;
        if (next > (1ull << 50)) /* 2^64 ticks must last for hours of simulated time */
            user_error(
                "clock '%s': expected a frequency with which the least common multiple of all clocks is at "
                "most %.1f THz, got %.15g MHz, with which it is %.1f THz; multiples of 5 or 10 MHz have "
                "a smaller one",
                sim->clocks[i].name, (double)(1ull << 50) / 1e12, (double)hertz / 1e6, (double)next / 1e12);
        common = (uint64_t)next;
    }
    common *= 2; /* so that no period is a single tick, for which clock_cycle() has no inverse */
    sim->clocks[0].period = common / sim->clocks[0].hertz;
    common *= refinement(sim, common);
    sim->clocks[0].period = common / sim->clocks[0].hertz;
    sim->ticks_per_second = common;
    for (uint32_t i = 0; i < sim->clock_count; i++) {
        set_period(sim, &sim->clocks[i]);
        sim->clocks[i].first_period = sim->clocks[i].period;
    }
    sim->quantum = sim->quantum_cycles * sim->clocks[0].period;
}

void clocks_set_object(SimObject *object) {
    object->period = object->clock->period;
    object->inverse = object->clock->inverse;
    object->shift = object->clock->shift;
}

void clocks_concern_not(SimObject *object, const Clock *was) {
    (void)object, (void)was;
}

void clocks_check_object(const SimObject *object) {
    const Clock *first = object->sim->clocks, *clock = object->clock;
    bool follows = object->class->clocks_changed && !object->class->first_clock;
    if (follows || !may_change_beside_first(clock, first)) return;
    const Clock *changing = clock->slowest != clock->fastest ? clock : first;
    user_error("clock.%s: expected one frequency, as %s (%s) of clock %s keeps times that a change beside "
               "clock %s would "
               "make wrong, got %lu Hz to %lu Hz",
               changing->name, object->path, object->class->name, clock->name, first->name, changing->slowest,
               changing->fastest);
}

uint64_t clocks_least_latency(const Link *link) {
    const Sim *sim = link->sender->sim;
    const Clock *clock = link->sender->clock;
    uint64_t cycles = link->latency / clock->period;
    return cycles * period_at(sim, clock, clock->fastest, sim->clocks[0].slowest);
}

/* --- A change ---------------------------------------------------------------------------------- */

uint64_t sim_picoseconds(const Sim *sim) {
    unsigned __int128 since = sim->now - sim->rated_at;
    return sim->rated_time + (uint64_t)(since * 1000000000000u / sim->ticks_per_second);
}

static void set_rate(Sim *sim) {
    const Clock *first = sim->clocks;
    sim->ticks_per_second = first->period * first->frequency;
}

/* Time passes at another rate. */
static void change_rate(Sim *sim) {
    sim->rated_time = sim_picoseconds(sim);
    sim->rated_at = sim->now;
    set_rate(sim);
}

static uint64_t edges_until(uint64_t time, uint64_t period) {
    return (time + period - 1) / period;
}

/* The next edge keeps its number. */
static void change_period(const Sim *sim, Clock *clock) {
    uint64_t next = edges_until(sim->now, clock->period) + clock->shift;
    set_period(sim, clock);
    clock->shift = next - edges_until(sim->now, clock->period);
}

/* One that lies before the first tick is the first. */
uint64_t clock_moved_edge(const SimObject *object, const Clock *was, uint64_t edge) {
    if (edge == NEVER) return NEVER;
    uint64_t since_start = edge / was->period + was->shift - object->shift;
    return (int64_t)since_start < 0 ? 0 : since_start * object->period;
}

/* A message goes on through the wire by cycles of the sender's clock; what has come stays there. */
static uint64_t moved_ready(const Link *link, const Clock *was, uint64_t ready) {
    const SimObject *sender = link->sender, *receiver = link->receiver;
    const Clock *of_sender = &was[sender->clock - sender->sim->clocks],
                *of_receiver = &was[receiver->clock - receiver->sim->clocks];
    uint64_t now = sender->sim->now;
    if (ready <= now) {
        bool same = of_receiver->period == receiver->period && of_receiver->shift == receiver->shift;
        return same ? ready : clock_moved_edge(receiver, of_receiver, ready);
    }
    unsigned __int128 left = (unsigned __int128)(ready - now) * sender->period;
    uint64_t rest = (uint64_t)((left + of_sender->period - 1) / of_sender->period);
    return object_edge(receiver, now + (rest < link->latency ? rest : link->latency));
}

static void change_link(Link *link, const Clock *was) {
    const SimObject *sender = link->sender, *receiver = link->receiver;
    link->latency = link->latency / was[sender->clock - sender->sim->clocks].period * sender->period;
    link->align_to = receiver->period;
    link->align_inverse = receiver->inverse;
    for (uint64_t i = link->popped; i != link->pushed; i++) {
        uint64_t *ready = &link->ready[i & link->slot_mask];
        *ready = moved_ready(link, was, *ready);
    }
    link_update_next_ready(link);
    link_audit_retime(link);
}

/* A tick that comes too early changes nothing. */
static void wake(SimObject *object) {
    SimObject *half = object_half_apart(object);
    *object->due = NEVER;
    if (half) *half->due = NEVER;
    object_poke_whole(object, object_edge(object, object->sim->now));
}

static void tell_objects(Sim *sim, const Clock *was) {
    for (uint32_t i = 0; i < sim->object_count; i++)
        clocks_set_object(sim->objects[i]);
    for (uint32_t i = 0; i < sim->object_count; i++)
        halves_update(sim->objects[i]);
    for (uint32_t i = 0; i < sim->link_count; i++)
        change_link(sim->links[i], was);
    for (uint32_t i = 0; i < sim->object_count; i++) {
        SimObject *object = sim->objects[i];
        if (object->class->clocks_changed)
            object->class->clocks_changed(object, &was[object->clock - sim->clocks]);
    }
}

static Clock *copy_of_clocks(const Sim *sim) {
    Clock *copy = malloc(sim->clock_count * sizeof *copy);
    ensure_memory(copy);
    memcpy(copy, sim->clocks, sim->clock_count * sizeof *copy);
    return copy;
}

_Noreturn static void refuse_frequency(const Sim *sim, const Clock *clock, uint64_t hertz) {
    if (clock->slowest == clock->fastest)
        user_error(
            "clock %s: expected one that may change, by --set \"clock.%s=%luHz, SLOWEST to FASTEST\" or "
            "the like in the machine or configure(); machine %s keeps it at %lu Hz",
            clock->name, clock->name, clock->frequency, sim->name, clock->frequency);
    user_error("clock %s: expected %lu Hz to %lu Hz, which machine %s says it may have, got %lu Hz",
               clock->name, clock->slowest, clock->fastest, sim->name, hertz);
}

void sim_set_clock(Sim *sim, Clock *clock, uint64_t hertz) {
    ensure(sim->elaborated);
    if (hertz < clock->slowest || hertz > clock->fastest) refuse_frequency(sim, clock, hertz);
    if (hertz == clock->frequency) return;
    threads_read_mail(sim);
    clock_shares_take(sim, clock, sim_picoseconds(sim));
    Clock *was = copy_of_clocks(sim);
    clock->frequency = hertz;
    clock->changes++;
    if (clock == sim->clocks) change_rate(sim);
    for (uint32_t i = 1; i < sim->clock_count; i++)
        change_period(sim, &sim->clocks[i]);
    for (uint32_t i = 0; i < sim->cluster_count; i++)
        cluster_forget_due(&sim->clusters[i]);
    tell_objects(sim, was);
    for (uint32_t i = 0; i < sim->object_count; i++)
        wake(sim->objects[i]);
    free(was);
}

void clocks_restore(Sim *sim, const SavedClock *saved) {
    Clock *was = copy_of_clocks(sim);
    for (uint32_t i = 0; i < sim->clock_count; i++) {
        sim->clocks[i].frequency = saved[i].frequency;
        sim->clocks[i].shift = saved[i].shift;
        sim->clocks[i].changes = saved[i].changes;
    }
    set_rate(sim);
    for (uint32_t i = 1; i < sim->clock_count; i++)
        set_period(sim, &sim->clocks[i]);
    tell_objects(sim, was);
    free(was);
}
