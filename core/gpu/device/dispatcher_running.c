/* The kernels that have begun and have not ended, in the order in which they get SMs: what a cycle looks at, however many
 * others wait or have ended. */
#include "core/gpu/device/dispatcher_state.h"

#include <stdlib.h>
#include <string.h>

/* Of equal priority, the first one of the launch. */
static bool has_turn_before(const Dispatcher *d, uint32_t a, uint32_t b) {
    int32_t of_a = d->priorities ? d->priorities[a] : 0, of_b = d->priorities ? d->priorities[b] : 0;
    return of_a != of_b ? of_a < of_b : a < b;
}

/* How many of them have their turn before this one. */
static uint32_t place_of(const Dispatcher *d, uint32_t grid) {
    uint32_t low = 0, high = d->running_count;
    if (high && has_turn_before(d, d->running[high - 1], grid)) return high;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (has_turn_before(d, d->running[middle], grid))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void note_begin(Dispatcher *d, uint32_t grid) {
    uint32_t place = place_of(d, grid);
    uint16_t *at = d->running + place;
    memmove(at + 1, at, (d->running_count++ - place) * sizeof *at);
    *at = (uint16_t)grid;
    d->begun++;
    memset(d->fits_none, 0, sizeof d->fits_none);
}

void note_end(Dispatcher *d, uint32_t grid) {
    uint32_t place = place_of(d, grid);
    uint16_t *at = d->running + place;
    ensure(place < d->running_count && *at == grid);
    memmove(at, at + 1, (--d->running_count - place) * sizeof *at);
    d->ended[d->ended_count++] = (uint16_t)grid;
}

void make_room_for_kernels(Dispatcher *d) {
    d->running = realloc(d->running, (d->grid_count + 1) * sizeof *d->running);
    d->ended = realloc(d->ended, (d->grid_count + 1) * sizeof *d->ended);
    ensure_memory(d->running && d->ended);
}

void list_kernels(Dispatcher *d) {
    make_room_for_kernels(d);
    d->running_count = d->ended_count = 0;
    d->begun = 0;
    for (uint32_t g = 0; g < d->grid_count; g++) {
        const Grid *grid = &d->grids[g];
        if (is_running(grid)) {
            note_begin(d, g);
        } else if (grid->has_begun) {
            d->begun++;
            d->ended[d->ended_count++] = (uint16_t)g;
        }
    }
}

uint32_t dispatcher_take_ended(SimObject *object, const uint16_t **kernels) {
    Dispatcher *d = (Dispatcher *)object;
    uint32_t count = d->ended_count;
    *kernels = d->ended;
    d->ended_count = 0;
    return count;
}

bool dispatcher_idle(const SimObject *object) {
    const Dispatcher *d = (const Dispatcher *)object;
    return d->running_count == 0 && d->begun == d->grid_count;
}

int incomplete_kernel(const Dispatcher *d) {
    for (uint32_t i = 0; i < d->running_count; i++)
        if (is_incomplete(&d->grids[d->running[i]])) return d->running[i];
    return NO_GRID;
}

int last_with_ctas_left(const Dispatcher *d) {
    for (uint32_t i = d->running_count; i-- > 0;)
        if (has_ctas_left(&d->grids[d->running[i]])) return d->running[i];
    return NO_GRID;
}

uint32_t kernels_of_sms(const Dispatcher *d, uint16_t *kernels) {
    uint32_t count = 0;
    for (uint32_t sm = 0; sm < d->sms; sm++) {
        uint32_t grid = d->slots[sm].grid, at = count;
        if (!has_ctas_left(&d->grids[grid])) continue;
        while (at && has_turn_before(d, grid, kernels[at - 1]))
            at--;
        if (at && kernels[at - 1] == grid) continue;
        memmove(kernels + at + 1, kernels + at, (count++ - at) * sizeof *kernels);
        kernels[at] = (uint16_t)grid;
    }
    return count;
}

void free_lists(SimObject *object) {
    Dispatcher *d = (Dispatcher *)object;
    free(d->running);
    free(d->ended);
}
