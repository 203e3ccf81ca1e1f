/* Which CTA of a grid is handed out next. */
#include "core/gpu/device/dispatcher_state.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_CHOSEN_FROM = 1 << 30, WORD_BITS = 64 };

/* Within x and y: the tiles in rows, the CTAs of each tile in rows; the last tiles may be smaller. */
static void place_in_tiles(const Dispatcher *d, const Grid *grid, uint64_t n, uint32_t cta[3]) {
    uint64_t row = n / ((uint64_t)grid->size[0] * d->tile_y); /* of tiles: all but the last are full */
    uint32_t first_y = (uint32_t)row * d->tile_y, left_y = grid->size[1] - first_y;
    uint32_t height = left_y < d->tile_y ? left_y : d->tile_y;
    n -= row * grid->size[0] * d->tile_y;
    uint64_t column = n / ((uint64_t)d->tile_x * height);
    uint32_t first_x = (uint32_t)column * d->tile_x, left_x = grid->size[0] - first_x;
    uint32_t width = left_x < d->tile_x ? left_x : d->tile_x;
    n -= column * d->tile_x * height;
    cta[0] = first_x + (uint32_t)(n % width);
    cta[1] = first_y + (uint32_t)(n / width);
}

static void cta_at(const Dispatcher *d, const Grid *grid, uint64_t position, uint32_t cta[3]) {
    uint64_t n = d->order == ORDER_FROM_THE_END ? grid->ctas - 1 - position : position;
    uint64_t plane = (uint64_t)grid->size[0] * grid->size[1], in_plane = n % plane;
    cta[2] = (uint32_t)(n / plane);
    if (d->order == ORDER_TILES) {
        place_in_tiles(d, grid, in_plane, cta);
    } else if (d->order == ORDER_COLUMNS) {
        cta[0] = (uint32_t)(in_plane / grid->size[1]);
        cta[1] = (uint32_t)(in_plane % grid->size[1]);
    } else {
        cta[0] = (uint32_t)(in_plane % grid->size[0]);
        cta[1] = (uint32_t)(in_plane / grid->size[0]);
    }
}

void next_cta(const Dispatcher *d, uint32_t cta[3]) {
    const Grid *grid = &d->grids[d->present];
    cta_at(d, grid, grid->taken_words ? grid->position : grid->handed_out, cta);
}

/* --- Where policies choose it ------------------------------------------------------------------ */

/* x fastest, then y, whatever `order` is. */
static uint64_t number_of(const Grid *grid, const uint32_t cta[3]) {
    return cta[0] + grid->size[0] * (cta[1] + (uint64_t)grid->size[1] * cta[2]);
}

static void cta_of_number(const Grid *grid, uint64_t number, uint32_t cta[3]) {
    cta[0] = (uint32_t)(number % grid->size[0]);
    cta[1] = (uint32_t)(number / grid->size[0] % grid->size[1]);
    cta[2] = (uint32_t)(number / grid->size[0] / grid->size[1]);
}

static uint64_t *taken_word(const Dispatcher *d, const Grid *grid, uint64_t number) {
    return &d->taken[grid->first_taken + number / WORD_BITS];
}

static bool is_taken(const Dispatcher *d, const Grid *grid, uint64_t number) {
    return *taken_word(d, grid, number) >> number % WORD_BITS & 1;
}

static void mark_taken(Dispatcher *d, const Grid *grid, const uint32_t cta[3]) {
    uint64_t number = number_of(grid, cta);
    *taken_word(d, grid, number) |= 1ull << number % WORD_BITS;
}

/* It comes around, so that no checkpoint leads off the grid. */
void pass_taken(Dispatcher *d) {
    Grid *grid = &d->grids[d->present];
    while (grid->taken_words && grid->handed_out < grid->ctas) {
        uint32_t cta[3];
        cta_at(d, grid, grid->position, cta);
        if (!is_taken(d, grid, number_of(grid, cta))) return;
        grid->position = (grid->position + 1) % grid->ctas;
    }
}

/* Words for the CTAs of the grid behind those of others, none of them taken. */
static void add_words(Dispatcher *d, Grid *grid) {
    grid->first_taken = d->taken_words;
    grid->taken_words = (uint32_t)((grid->ctas + WORD_BITS - 1) / WORD_BITS);
    d->taken_words += grid->taken_words;
    d->taken = realloc(d->taken, (d->taken_words + 1) * sizeof *d->taken);
    ensure_memory(d->taken);
    memset(d->taken + grid->first_taken, 0, (grid->taken_words + 1) * sizeof *d->taken);
}

/* From the first choice of a policy on: until then those handed out are the first ones in `order`. */
static void note_taken(Dispatcher *d) {
    Grid *grid = &d->grids[d->present];
    if (grid->taken_words) return;
    if (grid->ctas > MOST_CHOSEN_FROM || d->taken_words > MOST_CHOSEN_FROM / WORD_BITS)
        user_error("%s: expected a grid of up to %d CTAs where policies choose the next one, got %lu",
                   d->obj.path, MOST_CHOSEN_FROM, grid->ctas);
    add_words(d, grid);
    for (uint64_t position = 0; position < grid->handed_out; position++) {
        uint32_t cta[3];
        cta_at(d, grid, position, cta);
        mark_taken(d, grid, cta);
    }
    pass_taken(d);
}

void forget_taken(Dispatcher *d) {
    for (uint32_t g = 0; g < d->grid_count; g++)
        d->grids[g].position = d->grids[g].first_taken = d->grids[g].taken_words = 0;
    d->taken_words = 0;
}

bool may_be_next(const int64_t *arguments, int64_t cta) {
    const Dispatcher *d = (const Dispatcher *)(intptr_t)arguments[2];
    const Grid *grid = &d->grids[d->present];
    return cta == NO_CTA || (cta >= 0 && (uint64_t)cta < grid->ctas && !is_taken(d, grid, (uint64_t)cta));
}

bool first_left(Dispatcher *d, int64_t first, int64_t last, int64_t *cta) {
    const Grid *grid = &d->grids[d->present];
    int64_t end = (int64_t)grid->ctas;
    note_taken(d);
    for (int64_t at = first < 0 ? 0 : first; at < end && at <= last;) {
        uint64_t left = ~*taken_word(d, grid, (uint64_t)at) >> at % WORD_BITS;
        int64_t found = left ? at + __builtin_ctzll(left) : (at / WORD_BITS + 1) * WORD_BITS;
        *cta = found;
        if (left) return found < end && found <= last;
        at = found;
    }
    return false;
}

/* False: the SM gets none in this cycle. */
COLD static bool ask_for_cta(Dispatcher *d, uint32_t sm, uint32_t cta[3]) {
    const Grid *grid = &d->grids[d->present];
    note_taken(d);
    next_cta(d, cta);
    /* Policies see the first two arguments; may_be_next() looks at the third. */
    int64_t answer = event_ask(&d->obj, DISPATCHER_NEXT_CTA, sm, (int64_t)number_of(grid, cta),
                               (int64_t)(intptr_t)d);
    if (answer == NO_CTA) return false;
    if (answer != NO_ANSWER) cta_of_number(grid, (uint64_t)answer, cta);
    return true;
}

bool take_cta(Dispatcher *d, uint32_t sm, uint32_t cta[3]) {
    Grid *grid = &d->grids[d->present];
    if (!object_has_subscriber(&d->obj, DISPATCHER_NEXT_CTA))
        next_cta(d, cta);
    else if (!ask_for_cta(d, sm, cta))
        return false;
    grid->handed_out++;
    if (grid->taken_words) {
        mark_taken(d, grid, cta);
        pass_taken(d);
    }
    return true;
}

/* --- Checks ------------------------------------------------------------------------------------ */

uint64_t count_taken(const Dispatcher *d, const Grid *grid) {
    uint64_t count = 0;
    for (uint32_t i = 0; i < grid->taken_words; i++)
        count += (uint64_t)__builtin_popcountll(d->taken[grid->first_taken + i]);
    return count;
}

static void words_of_grid_are_sound(const Dispatcher *d, const Grid *grid) {
    const char *path = d->obj.path;
    uint64_t in_last = grid->ctas % WORD_BITS, end = (uint64_t)grid->first_taken + grid->taken_words;
    sound(grid->taken_words == (grid->ctas + WORD_BITS - 1) / WORD_BITS && end <= d->taken_words &&
              grid->position < grid->ctas,
          "%s.taken: %u words, position %lu, for %lu CTAs", path, grid->taken_words, grid->position,
          grid->ctas);
    sound(!in_last || d->taken[end - 1] >> in_last == 0, "%s.taken: CTAs beyond the grid", path);
    sound(count_taken(d, grid) == grid->handed_out, "%s.taken: %lu CTAs, of %lu handed out", path,
          count_taken(d, grid), grid->handed_out);
}

void taken_are_sound(const Dispatcher *d) {
    uint64_t words = 0;
    for (uint32_t g = 0; g < d->grid_count; g++) {
        const Grid *grid = &d->grids[g];
        words += grid->taken_words;
        if (grid->taken_words)
            words_of_grid_are_sound(d, grid);
        else
            sound(grid->position == 0, "%s.position: %lu", d->obj.path, grid->position);
    }
    sound(words == d->taken_words, "%s.taken: %u words, %lu of grids", d->obj.path, d->taken_words, words);
}
