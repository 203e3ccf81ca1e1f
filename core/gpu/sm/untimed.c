#include "core/gpu/sm/untimed.h"

#include "core/gpu/sm/fault.h"
#include "core/gpu/sm/memcheck.h"

#include <stdlib.h>
#include <string.h>

enum { TURN = 512 }; /* instructions that a warp executes before the next one has its turn */

/* The grid, x fastest. */
typedef struct {
    const RunningKernel *running;
    uint64_t next, count;
} Grid;

static bool next_cta(Grid *grid, uint32_t ctaid[3]) {
    const uint32_t *size = grid->running->grid;
    if (grid->next == grid->count) return false;
    ctaid[0] = (uint32_t)(grid->next % size[0]);
    ctaid[1] = (uint32_t)(grid->next / size[0] % size[1]);
    ctaid[2] = (uint32_t)(grid->next / size[0] / size[1]);
    grid->next++;
    return true;
}

void untimed_make_deaf(Sm *sm) {
    sm->obj.subscribed = 0;
    memset(&sm->gates, 0, sizeof sm->gates);
}

void untimed_show_writes(Sm *sm) {
    view_commit(sm->view);
    if (sm->memcheck) memcheck_commit(sm);
}

/* A turn of a warp. Returns whether it executed anything. */
static bool take_turn(Sm *sm, uint32_t w, uint64_t *clock) {
    uint32_t executed = 0;
    while (executed < TURN && sm->live >> w & 1 && !(sm->waiting >> w & 1)) {
        sm->context->clock = ++*clock;
        sm_execute_untimed(sm, w);
        if (sm->view->log_count > UNTIMED_MOST_WRITES) untimed_show_writes(sm);
        executed++;
        if (sm->running->faults && sm->running->faults[sm->number].kind != FAULT_NONE) break;
    }
    return executed != 0;
}

/* Its finished CTAs end; others take their places. Returns whether any began. */
static bool refill(Sm *sm, Grid *grid) {
    bool began = false;
    uint32_t ctaid[3];
    for (uint32_t slot = 0; slot < grid->running->ctas_per_sm; slot++) {
        Cta *cta = &sm->cta[slot];
        if (cta->warps & sm->live) continue;
        if (cta->warps) sm_end_cta_untimed(sm, slot);
        if (!next_cta(grid, ctaid)) continue;
        sm_start_cta(sm, slot, ctaid);
        began = true;
    }
    return began;
}

typedef enum { ROUND_STUCK, ROUND_PROGRESS, ROUND_FAULT } RoundResult;

/* A turn of every warp of the SM; then others see what it wrote. */
static RoundResult run_round(Sm *sm, Grid *grid, uint64_t *clock) {
    RoundResult result = refill(sm, grid) ? ROUND_PROGRESS : ROUND_STUCK;
    for (WarpSet left = sm->live; left && result != ROUND_FAULT; left &= left - 1) {
        if (take_turn(sm, first_warp(left), clock)) result = ROUND_PROGRESS;
        if (sm->running->faults && sm->running->faults[sm->number].kind != FAULT_NONE) result = ROUND_FAULT;
    }
    untimed_show_writes(sm);
    return result;
}

/* An SM takes part from its first CTA on. `before` has what it was then, and nothing of the others. */
static void take_part(Sm *sm, Sm **before, bool warms_caches) {
    *before = malloc(sizeof **before);
    ensure(*before);
    **before = *sm;
    untimed_make_deaf(sm);
    memset(sm->cta, 0, sizeof sm->cta);
    sm->warms_caches = warms_caches;
}

static void leave(Sm *sm, Sm *before) {
    SystemCalls system = sm->system; /* its room may have grown */
    *sm = *before;
    sm->system = system;
    free(before);
}

static bool run_rounds(Sm *const *sms, uint32_t count, Grid *grid, Sm **before, bool warms_caches) {
    uint64_t clock = 0;
    for (;;) {
        bool progress = false, live = false;
        for (uint32_t i = 0; i < count; i++) {
            if (!before[i] && grid->next == grid->count) break; /* nor does any behind it */
            if (!before[i]) take_part(sms[i], &before[i], warms_caches);
            RoundResult result = run_round(sms[i], grid, &clock);
            if (result == ROUND_FAULT) return true;
            progress |= result == ROUND_PROGRESS;
            live |= sms[i]->live != 0;
        }
        if (!live && grid->next == grid->count) return true;
        if (!progress) return false;
    }
}

bool sms_run_untimed(Sm *const *sms, uint32_t count, const RunningKernel *running, bool warms_caches) {
    const uint32_t *size = running->grid;
    Grid grid = {running, 0, (uint64_t)size[0] * size[1] * size[2]};
    Sm **before = calloc(count, sizeof *before);
    ensure(before);
    bool ended = run_rounds(sms, count, &grid, before, warms_caches);
    for (uint32_t i = 0; i < count && before[i]; i++)
        leave(sms[i], before[i]);
    free(before);
    return ended;
}
