#include "core/gpu/device/dispatcher.h"

#include "core/gpu/sm/sm.h"
#include "core/sim/event.h"
#include "core/sim/method.h"
#include "mem/protocol/functional_memory.h"

#include <stdlib.h>

enum { MOST_ASKED_ABOUT = 64, MOST_CHOSEN_FROM = 1 << 30, NO_SM = -1, NO_CTA = -1, WORD_BITS = 64 };

typedef enum {
    DISPATCHER_CTA_START,
    DISPATCHER_CTA_END,
    DISPATCHER_PLACE,
    DISPATCHER_NEXT_CTA
} DispatcherEvent;

/* Of an SM, in the present cycle. */
typedef enum { MAY_GET_ONE, HAS_GOT_ONE, KEPT_WAITING } SmTurn;

typedef enum { PLACE_ROUND_ROBIN, PLACE_LEAST_LOADED, PLACE_DEPTH_FIRST, PLACE_BLOCKS } Placement;

/* In which order the CTAs of a grid are handed out. */
typedef enum { ORDER_ROWS, ORDER_COLUMNS, ORDER_TILES, ORDER_FROM_THE_END } CtaOrder;

typedef struct {
    uint32_t free_slots; /* bit per CTA slot of the SM            */
    uint32_t places;     /* slots, of CTAs of the running kernel */
} SmSlots;

typedef struct {
    SimObject obj;
    uint32_t sms;     /* parameter */
    uint32_t next_sm; /* that is looked at first */
    uint32_t goes_on; /* a flag */
    uint32_t code_align;
    uint32_t placement, order, tile_x, tile_y, block; /* parameters */
    uint32_t block_left;                              /* CTAs that next_sm gets before another one does */
    Port *sm;
    uint32_t grid[3];
    uint32_t taken_words;            /* 0: those handed out are the first ones in `order` */
    uint64_t ctas, handed_out, done; /* of the running kernel */
    uint64_t forwarded;              /* CTAs that were handed over in mid-flight, of all kernels */
    uint64_t pause_at;               /* as many are done; 0: at none */
    uint64_t position;               /* with `taken`: in `order`, of the first CTA that is left */
    uint64_t *taken;                 /* bit per CTA of the grid that an SM has got, by its number */
    SmSlots *slots;
    uint8_t limit[MAX_SMS];            /* knob: CTAs that an SM may hold; 0: as many as fit */
    uint64_t kernels, ctas_dispatched; /* statistics */
} Dispatcher;

static const Field fields[] = {
    BASE(Dispatcher),
    PARAM(Dispatcher, sms, REQUIRED, "SMs", "SMs that it serves", .min = 1, .max = MAX_SMS),
    PARAM_FLAG(Dispatcher, goes_on, "false",
               "A launch begins at the SM behind the one that got the last CTA of the launch before; else at "
               "the first one",
               .timing = true),
    PARAM(Dispatcher, code_align, "256", "bytes",
          "For instruction caches: kernels lie one behind the other and begin at multiples of this",
          .min = INST_BYTES, .max = 4096, .power_of_two = true),
    PARAM_CHOICE(
        Dispatcher, placement, "round_robin", "round_robin|least_loaded|depth_first|blocks",
        "Which SM gets the next CTA: each in turn; the one with the fewest; the first one until it is full; "
        "each in turn, `block` CTAs that follow each other",
        .timing = true),
    PARAM_CHOICE(
        Dispatcher, order, "rows", "rows|columns|tiles|from_the_end",
        "Which CTA of a grid is next: x fastest, then y; y fastest, then x; x and y in tiles of tile_x by "
        "tile_y; as rows, from the last one on"),
    PARAM(Dispatcher, tile_x, "2", "CTAs", "Width of the tiles", .min = 1, .max = 65536),
    PARAM(Dispatcher, tile_y, "2", "CTAs", "Height of the tiles", .min = 1, .max = 65536),
    PARAM(Dispatcher, block, "2", "CTAs", "CTAs that an SM gets together with placement = blocks", .min = 1,
          .max = MAX_CTAS, .timing = true),
    PORT_ARRAY(Dispatcher, sm, sms, cta_protocol, ROLE_REQUESTER, "One per SM"),
    STATE(Dispatcher, next_sm, "SM whose turn it is"),
    STATE(Dispatcher, block_left, "CTAs that it gets before another one does"),
    STATE(Dispatcher, grid, "Of the running kernel"),
    STATE(Dispatcher, ctas, "CTAs of the running kernel"),
    STATE(Dispatcher, handed_out, "Of them, handed out"),
    STATE(Dispatcher, done, "Of them, finished"),
    STATE(Dispatcher, forwarded, "CTAs that were handed over in mid-flight"),
    STATE(Dispatcher, position, "Where policies choose: place in `order` of the first CTA that is left"),
    STATE(Dispatcher, taken_words, "Length of `taken`; 0: the CTAs handed out are the first ones in `order`"),
    STATE_ARRAY(Dispatcher, taken, taken_words, "Where policies choose: bit per CTA that is handed out"),
    HOST(Dispatcher, pause_at, "Finished CTAs at which the machine stops for the host program, or 0"),
    STATE_ARRAY(Dispatcher, slots, sms, "CTA slots of each SM, and which of them are free"),
    KNOB_BY_METHOD(Dispatcher, limit, "limit", "CTAs that each SM may hold: set_limit()"),
    STAT(Dispatcher, kernels, "kernels", "Kernels started"),
    STAT(Dispatcher, ctas_dispatched, "CTAs", "CTAs handed out"),
    FIELDS_END};

static uint32_t slots_of(uint32_t places) {
    return places ? ~0u >> (MAX_CTAS - places) : 0;
}

/* For a grid of so many CTAs, none of them taken. */
static void resize_taken(Dispatcher *d, uint64_t ctas) {
    free(d->taken);
    d->position = 0;
    d->taken_words = (uint32_t)((ctas + WORD_BITS - 1) / WORD_BITS);
    d->taken = calloc(d->taken_words + 1, sizeof *d->taken);
    ensure(d->taken);
}

void dispatcher_start(SimObject *object, const uint32_t grid[3], const uint32_t *places, uint64_t now) {
    Dispatcher *d = (Dispatcher *)object;
    memcpy(d->grid, grid, sizeof d->grid);
    d->ctas = (uint64_t)grid[0] * grid[1] * grid[2];
    d->handed_out = d->done = 0;
    d->block_left = 0;
    if (d->taken_words) resize_taken(d, 0);
    if (!d->goes_on) d->next_sm = 0;
    d->kernels++;
    for (uint32_t i = 0; i < d->sms; i++)
        d->slots[i] = (SmSlots){slots_of(places[i]), places[i]};
    object_poke(object, now);
}

void dispatcher_stop(SimObject *object) {
    Dispatcher *d = (Dispatcher *)object;
    d->ctas = d->grid[0] = (uint32_t)d->handed_out; /* no simulation gets as far as 2^32 */
    d->grid[1] = d->grid[2] = 1;
    d->block_left = 0;
    if (d->taken_words) resize_taken(d, 0);
}

uint64_t dispatcher_code_align(const SimObject *object) {
    return ((const Dispatcher *)object)->code_align;
}

uint64_t dispatcher_ctas_done(const SimObject *object) {
    return ((const Dispatcher *)object)->done;
}

void dispatcher_pause_at(SimObject *object, uint64_t ctas) {
    ((Dispatcher *)object)->pause_at = ctas;
}

bool dispatcher_idle(const SimObject *object) {
    const Dispatcher *d = (const Dispatcher *)object;
    return d->done == d->ctas;
}

static void take_finished(Dispatcher *d, uint64_t now) {
    for (uint32_t i = 0; i < d->sms; i++) {
        const CtaDone *done = link_peek(d->sm[i].receive, now);
        if (!done) continue;
        d->slots[i].free_slots |= 1u << done->slot;
        object_emit(&d->obj, DISPATCHER_CTA_END, i, done->slot);
        if (++d->done == d->ctas || d->done == d->pause_at) sim_request_stop(d->obj.sim);
        link_pop(d->sm[i].receive, now);
        object_progress(&d->obj);
    }
}

/* --- Which CTA is next ------------------------------------------------------------------------- */

/* Within x and y: the tiles in rows, the CTAs of each tile in rows; the last tiles may be smaller. */
static void place_in_tiles(const Dispatcher *d, uint64_t n, uint32_t cta[3]) {
    uint64_t row = n / ((uint64_t)d->grid[0] * d->tile_y); /* of tiles: all but the last are full */
    uint32_t first_y = (uint32_t)row * d->tile_y, left_y = d->grid[1] - first_y;
    uint32_t height = left_y < d->tile_y ? left_y : d->tile_y;
    n -= row * d->grid[0] * d->tile_y;
    uint64_t column = n / ((uint64_t)d->tile_x * height);
    uint32_t first_x = (uint32_t)column * d->tile_x, left_x = d->grid[0] - first_x;
    uint32_t width = left_x < d->tile_x ? left_x : d->tile_x;
    n -= column * d->tile_x * height;
    cta[0] = first_x + (uint32_t)(n % width);
    cta[1] = first_y + (uint32_t)(n / width);
}

static void cta_at(const Dispatcher *d, uint64_t position, uint32_t cta[3]) {
    uint64_t n = d->order == ORDER_FROM_THE_END ? d->ctas - 1 - position : position;
    uint64_t plane = (uint64_t)d->grid[0] * d->grid[1], in_plane = n % plane;
    cta[2] = (uint32_t)(n / plane);
    if (d->order == ORDER_TILES) {
        place_in_tiles(d, in_plane, cta);
    } else if (d->order == ORDER_COLUMNS) {
        cta[0] = (uint32_t)(in_plane / d->grid[1]);
        cta[1] = (uint32_t)(in_plane % d->grid[1]);
    } else {
        cta[0] = (uint32_t)(in_plane % d->grid[0]);
        cta[1] = (uint32_t)(in_plane / d->grid[0]);
    }
}

static void next_cta(const Dispatcher *d, uint32_t cta[3]) {
    cta_at(d, d->taken_words ? d->position : d->handed_out, cta);
}

/* --- Where policies choose it ------------------------------------------------------------------ */

/* x fastest, then y, whatever `order` is. */
static uint64_t number_of(const Dispatcher *d, const uint32_t cta[3]) {
    return cta[0] + d->grid[0] * (cta[1] + (uint64_t)d->grid[1] * cta[2]);
}

static void cta_of_number(const Dispatcher *d, uint64_t number, uint32_t cta[3]) {
    cta[0] = (uint32_t)(number % d->grid[0]);
    cta[1] = (uint32_t)(number / d->grid[0] % d->grid[1]);
    cta[2] = (uint32_t)(number / d->grid[0] / d->grid[1]);
}

static bool is_taken(const Dispatcher *d, uint64_t number) {
    return d->taken[number / WORD_BITS] >> number % WORD_BITS & 1;
}

static void mark_taken(Dispatcher *d, const uint32_t cta[3]) {
    uint64_t number = number_of(d, cta);
    d->taken[number / WORD_BITS] |= 1ull << number % WORD_BITS;
}

/* The position is that of one that is left. It comes around, so that no checkpoint leads off the grid. */
static void pass_taken(Dispatcher *d) {
    while (d->handed_out < d->ctas) {
        uint32_t cta[3];
        cta_at(d, d->position, cta);
        if (!is_taken(d, number_of(d, cta))) return;
        d->position = (d->position + 1) % d->ctas;
    }
}

/* From the first choice in a kernel on; until then those handed out are the first ones in `order`. */
static void note_taken(Dispatcher *d) {
    if (d->taken_words) return;
    if (d->ctas > MOST_CHOSEN_FROM)
        user_error("%s: expected a grid of up to %d CTAs where policies choose the next one, got %lu",
                   d->obj.path, MOST_CHOSEN_FROM, d->ctas);
    resize_taken(d, d->ctas);
    for (uint64_t position = 0; position < d->handed_out; position++) {
        uint32_t cta[3];
        cta_at(d, position, cta);
        mark_taken(d, cta);
    }
    pass_taken(d);
}

/* False: the SM gets none in this cycle. */
COLD static bool ask_for_cta(Dispatcher *d, uint32_t sm, uint32_t cta[3]) {
    note_taken(d);
    next_cta(d, cta);
    /* Policies see the first two arguments; may_be_next() looks at the third. */
    int64_t answer = event_ask(&d->obj, DISPATCHER_NEXT_CTA, sm, (int64_t)number_of(d, cta),
                               (int64_t)(intptr_t)d);
    if (answer == NO_CTA) return false;
    if (answer != NO_ANSWER) cta_of_number(d, (uint64_t)answer, cta);
    return true;
}

/* The one that the SM gets, which is handed out by this. False: it gets none in this cycle. */
static bool take_cta(Dispatcher *d, uint32_t sm, uint32_t cta[3]) {
    if (!object_has_subscriber(&d->obj, DISPATCHER_NEXT_CTA))
        next_cta(d, cta);
    else if (!ask_for_cta(d, sm, cta))
        return false;
    d->handed_out++;
    if (d->taken_words) {
        mark_taken(d, cta);
        pass_taken(d);
    }
    return true;
}

static bool policies_decide(const Dispatcher *d) {
    return (d->obj.subscribed & (1u << DISPATCHER_PLACE | 1u << DISPATCHER_NEXT_CTA)) != 0;
}

/* --- Which SM gets it -------------------------------------------------------------------------- */

static uint32_t resident(const Dispatcher *d, uint32_t sm) {
    return d->slots[sm].places - (uint32_t)__builtin_popcount(d->slots[sm].free_slots);
}

/* CTAs that the SM may hold. */
static uint32_t most_resident(const Dispatcher *d, uint32_t sm) {
    uint32_t places = d->slots[sm].places, limit = d->limit[sm];
    return limit && limit < places ? limit : places;
}

/* CTAs that it may still get. */
static uint32_t room(const Dispatcher *d, uint32_t sm) {
    uint32_t most = most_resident(d, sm), there = resident(d, sm);
    return there < most ? most - there : 0;
}

/* In this cycle, in which SMs have had these turns. */
static bool can_take(const Dispatcher *d, const uint8_t *turns, uint32_t sm, uint64_t now) {
    return turns[sm] == MAY_GET_ONE && room(d, sm) && link_can_send(d->sm[sm].send, now);
}

/* The first SM from `next_sm` on that can take one. */
static int first_in_turn(const Dispatcher *d, const uint8_t *turns, uint64_t now) {
    for (uint32_t i = 0; i < d->sms; i++) {
        uint32_t sm = (d->next_sm + i) % d->sms;
        if (can_take(d, turns, sm, now)) return (int)sm;
    }
    return NO_SM;
}

static int least_loaded(const Dispatcher *d, const uint8_t *turns, uint64_t now) {
    int least = NO_SM;
    for (uint32_t i = 0; i < d->sms; i++) {
        uint32_t sm = (d->next_sm + i) % d->sms;
        if (!can_take(d, turns, sm, now)) continue;
        if (least == NO_SM || resident(d, sm) < resident(d, (uint32_t)least)) least = (int)sm;
    }
    return least;
}

/* The first SM with room that no policy keeps waiting, and no other while it cannot take one in this cycle. */
static int depth_first(const Dispatcher *d, const uint8_t *turns, uint64_t now) {
    for (uint32_t sm = 0; sm < d->sms; sm++)
        if (room(d, sm) && turns[sm] != KEPT_WAITING) return can_take(d, turns, sm, now) ? (int)sm : NO_SM;
    return NO_SM;
}

/* The SM whose block is not complete; else the next one in turn with room for a block, or for as many as it may
 * hold. */
static int of_block(const Dispatcher *d, const uint8_t *turns, uint64_t now) {
    uint64_t left = d->ctas - d->handed_out, size = left < d->block ? left : d->block;
    if (d->block_left) return can_take(d, turns, d->next_sm, now) ? (int)d->next_sm : NO_SM;
    for (uint32_t i = 0; i < d->sms; i++) {
        uint32_t sm = (d->next_sm + i) % d->sms, most = most_resident(d, sm);
        if (room(d, sm) >= (size < most ? size : most) && can_take(d, turns, sm, now)) return (int)sm;
    }
    return NO_SM;
}

static int built_in_choice(const Dispatcher *d, const uint8_t *turns, uint64_t now) {
    switch ((Placement)d->placement) {
    case PLACE_ROUND_ROBIN: return first_in_turn(d, turns, now); /* where policies are asked */
    case PLACE_LEAST_LOADED: return least_loaded(d, turns, now);
    case PLACE_DEPTH_FIRST: return depth_first(d, turns, now);
    case PLACE_BLOCKS: return of_block(d, turns, now);
    }
    panic("%s: placement %u", d->obj.path, d->placement);
}

/* Policies choose among those that can take one in this cycle, or let the CTA wait. */
COLD static int ask_policies(const Dispatcher *d, const uint8_t *turns, int choice, uint64_t now) {
    uint64_t sms = 0;
    uint32_t cta[3];
    if (d->sms > MOST_ASKED_ABOUT)
        user_error("%s: expected up to %d SMs where policies place CTAs, got %u", d->obj.path,
                   MOST_ASKED_ABOUT, d->sms);
    for (uint32_t sm = 0; sm < d->sms; sm++)
        sms |= (uint64_t)can_take(d, turns, sm, now) << sm;
    if (!sms) return NO_SM;
    next_cta(d, cta);
    int64_t answer = event_ask((SimObject *)(uintptr_t)&d->obj, DISPATCHER_PLACE, (int64_t)sms, choice,
                               cta[0], cta[1], cta[2]);
    return answer == NO_ANSWER ? choice : (int)answer;
}

static int choose_sm(const Dispatcher *d, const uint8_t *turns, uint64_t now) {
    if (d->handed_out == d->ctas) return NO_SM;
    int choice = built_in_choice(d, turns, now);
    return object_has_subscriber(&d->obj, DISPATCHER_PLACE) ? ask_policies(d, turns, choice, now) : choice;
}

/* With placement = blocks, the SM keeps its turn until its block is complete. */
static void end_turn(Dispatcher *d, uint32_t sm) {
    bool begins = d->placement == PLACE_BLOCKS && !(d->block_left && sm == d->next_sm);
    if (begins) d->block_left = d->block;
    if (d->block_left) d->block_left--;
    if (!room(d, sm)) d->block_left = 0;
    d->next_sm = d->block_left ? sm : (sm + 1) % d->sms;
}

/* False: policies keep the SM waiting, which ends its block. */
static bool hand_out(Dispatcher *d, uint32_t sm, uint64_t now) {
    uint32_t cta[3];
    if (!take_cta(d, sm, cta)) {
        if (sm == d->next_sm) d->block_left = 0;
        return false;
    }
    SmSlots *slots = &d->slots[sm];
    CtaStart *start = link_send(d->sm[sm].send, now);
    memcpy(start->ctaid, cta, sizeof start->ctaid);
    start->slot = (uint32_t)__builtin_ctz(slots->free_slots);
    slots->free_slots &= slots->free_slots - 1;
    d->ctas_dispatched++;
    object_emit(&d->obj, DISPATCHER_CTA_START, sm, start->slot, start->ctaid[0], start->ctaid[1],
                start->ctaid[2]);
    end_turn(d, sm);
    return true;
}

/* The built-in placement in one round, which is all that it needs. True when an SM got a CTA. */
static bool hand_out_in_turn(Dispatcher *d, uint64_t now) {
    static const uint8_t nobody[MAX_SMS] = {0};
    bool busy = false;
    for (uint32_t i = 0, first = d->next_sm; i < d->sms && d->handed_out < d->ctas; i++) {
        uint32_t sm = first + i < d->sms ? first + i : first + i - d->sms;
        if (can_take(d, nobody, sm, now)) busy |= hand_out(d, sm, now);
    }
    return busy;
}

static bool hand_out_as_chosen(Dispatcher *d, uint64_t now) {
    uint8_t turns[MAX_SMS] = {MAY_GET_ONE};
    bool busy = false;
    for (int sm; (sm = choose_sm(d, turns, now)) != NO_SM;) {
        bool given = hand_out(d, (uint32_t)sm, now);
        turns[sm] = given ? HAS_GOT_ONE : KEPT_WAITING;
        busy |= given;
    }
    return busy;
}

/* --- Without timing: forward.h ----------------------------------------------------------------- */

int dispatcher_port_of(const SimObject *object, const SimObject *sm) {
    const Dispatcher *d = (const Dispatcher *)object;
    for (uint32_t i = 0; i < d->sms; i++)
        if (d->sm[i].send->receiver == sm) return (int)i;
    return NO_SM;
}

bool dispatcher_forward(SimObject *object, uint32_t sm, uint32_t ctaid[3], uint32_t *slot) {
    Dispatcher *d = (Dispatcher *)object;
    if (d->handed_out == d->ctas || !room(d, sm) || !take_cta(d, sm, ctaid)) return false;
    *slot = (uint32_t)__builtin_ctz(d->slots[sm].free_slots);
    d->slots[sm].free_slots &= d->slots[sm].free_slots - 1;
    return true;
}

void dispatcher_forward_end(SimObject *object, uint32_t sm, uint32_t slot) {
    Dispatcher *d = (Dispatcher *)object;
    d->slots[sm].free_slots |= 1u << slot;
    d->done++;
}

void dispatcher_hand_over(SimObject *object) {
    Dispatcher *d = (Dispatcher *)object;
    d->forwarded += d->handed_out - d->done;
}

void dispatcher_give_up(SimObject *object) {
    Dispatcher *d = (Dispatcher *)object;
    for (uint32_t i = 0; i < d->sms; i++)
        d->slots[i].free_slots = slots_of(d->slots[i].places);
    d->handed_out = d->done;
    dispatcher_stop(object);
}

bool dispatcher_is_kept_waiting(const SimObject *object) {
    const Dispatcher *d = (const Dispatcher *)object;
    bool any_has_room = false;
    for (uint32_t sm = 0; sm < d->sms; sm++)
        any_has_room |= room(d, sm) != 0;
    return policies_decide(d) && d->handed_out < d->ctas && any_has_room;
}

/* --- Its cycle --------------------------------------------------------------------------------- */

static uint64_t tick(SimObject *object, uint64_t now) {
    Dispatcher *d = (Dispatcher *)object;
    uint64_t next = NEVER;
    take_finished(d, now);
    if (d->taken_words) pass_taken(d);
    bool in_turn = d->placement == PLACE_ROUND_ROBIN && !policies_decide(d);
    bool busy = in_turn ? hand_out_in_turn(d, now) : hand_out_as_chosen(d, now);
    for (uint32_t i = 0; i < d->sms; i++) {
        uint64_t ready = link_next_ready(d->sm[i].receive);
        if (ready < next) next = ready;
    }
    /* Policies are asked in each cycle, so that it does not matter when else it ticks. */
    busy |= policies_decide(d) && d->handed_out < d->ctas;
    if (busy || next <= now) next = now + object->period;
    return next;
}

static uint64_t count_taken(const Dispatcher *d) {
    uint64_t count = 0;
    for (uint32_t i = 0; i < d->taken_words; i++)
        count += (uint64_t)__builtin_popcountll(d->taken[i]);
    return count;
}

static void taken_are_sound(const Dispatcher *d) {
    const char *path = d->obj.path;
    uint64_t words = (d->ctas + WORD_BITS - 1) / WORD_BITS, in_last = d->ctas % WORD_BITS;
    sound(d->taken_words == words && d->position < d->ctas, "%s.taken: %u words, position %lu, for %lu CTAs",
          path, d->taken_words, d->position, d->ctas);
    sound(!in_last || d->taken[words - 1] >> in_last == 0, "%s.taken: CTAs beyond the grid", path);
    sound(count_taken(d) == d->handed_out, "%s.taken: %lu CTAs, of %lu handed out", path, count_taken(d),
          d->handed_out);
}

static void is_sound(const SimObject *object, bool fits) {
    const Dispatcher *d = (const Dispatcher *)object;
    uint32_t places = 0;
    (void)fits;
    sound(d->taken_words || d->position == 0, "%s.position: %lu", object->path, d->position);
    sound(d->ctas == (uint64_t)d->grid[0] * d->grid[1] * d->grid[2] && d->handed_out <= d->ctas,
          "%s: %lu of %lu CTAs handed out", object->path, d->handed_out, d->ctas);
    sound(d->done <= d->handed_out && d->next_sm < d->sms && d->block_left < MAX_CTAS,
          "%s: %lu CTAs done, SM %u is next, for %u more", object->path, d->done, d->next_sm, d->block_left);
    if (d->taken_words) taken_are_sound(d);
    for (uint32_t i = 0; i < d->sms && d->ctas; i++) {
        const SmSlots *slots = &d->slots[i];
        sound(slots->places <= MAX_CTAS && (slots->free_slots & ~slots_of(slots->places)) == 0,
              "%s.slots: 0x%x of %u of SM %u are free", object->path, slots->free_slots, slots->places, i);
        places += slots->places;
    }
    sound(places || d->handed_out == d->ctas, "%s.slots: none", object->path);
}

/* A slot is free, or its CTA is on its way to the SM, there, or on its way back. */
static void check_slots(const Dispatcher *d, uint32_t i) {
    const Sm *sm = (const Sm *)d->sm[i].send->receiver;
    const Link *to = d->sm[i].send, *from = d->sm[i].receive;
    if (sm->obj.class != &sm_class || !sm->running || !d->ctas) return;
    uint32_t all = slots_of(d->slots[i].places), there = sm->finished_ctas | sm_resident_slots(sm);
    uint32_t free_slots = d->slots[i].free_slots, taken = there | free_slots, doubled = there & free_slots;
    FOR_LINK_MESSAGES (to, k) {
        uint32_t slot = 1u << ((const CtaStart *)link_message(to, k))->slot;
        doubled |= taken & slot;
        taken |= slot;
    }
    FOR_LINK_MESSAGES (from, k) {
        uint32_t slot = 1u << ((const CtaDone *)link_message(from, k))->slot;
        doubled |= taken & slot;
        taken |= slot;
    }
    if (doubled || taken != all)
        panic(
            "%s: CTA slots 0x%x of %s are free and 0x%x taken there; of all, 0x%x are known twice, 0x%x not "
            "at all",
            d->obj.path, free_slots, sm->obj.path, there, doubled, all & ~taken);
}

static void check(const SimObject *object, bool idle) {
    const Dispatcher *d = (const Dispatcher *)object;
    if (d->done > d->handed_out || d->handed_out > d->ctas || (idle && d->done != d->ctas))
        panic("%s: %lu of %lu CTAs handed out, %lu finished", object->path, d->handed_out, d->ctas, d->done);
    if (idle && d->taken_words && count_taken(d) != d->handed_out)
        panic("%s: %lu CTAs taken, %lu handed out", object->path, count_taken(d), d->handed_out);
    uint64_t sent = 0, finished = 0;
    for (uint32_t i = 0; i < d->sms; i++) {
        sent += link_sent(d->sm[i].send);
        finished += link_received(d->sm[i].receive);
        check_slots(d, i);
    }
    if (d->ctas_dispatched != sent || sent + d->forwarded - finished != d->handed_out - d->done)
        panic("%s: %lu CTAs dispatched, %lu sent to SMs and %lu finished there; of this kernel %lu and %lu",
              object->path, d->ctas_dispatched, sent, finished, d->handed_out, d->done);
}

static void report(const SimObject *object, FILE *out) {
    const Dispatcher *d = (const Dispatcher *)object;
    if (d->done == d->ctas) return;
    fprintf(out, "%s: %lu of %lu CTAs handed out, %lu finished%s\n", object->path, d->handed_out, d->ctas,
            d->done, dispatcher_is_kept_waiting(object) ? "; policies let SMs with room wait for a CTA" : "");
}

/* --- What policies see and set ----------------------------------------------------------------- */

static bool is_place(const int64_t *arguments, int64_t sm) {
    return sm == NO_SM || (sm >= 0 && sm < MOST_ASKED_ABOUT && (uint64_t)arguments[0] >> sm & 1);
}

static const Question place = {"one of `sms`, -1 for none in this cycle,", is_place};

/* arguments[2]: the dispatcher. */
static bool may_be_next(const int64_t *arguments, int64_t cta) {
    const Dispatcher *d = (const Dispatcher *)(intptr_t)arguments[2];
    return cta == NO_CTA || (cta >= 0 && (uint64_t)cta < d->ctas && !is_taken(d, (uint64_t)cta));
}

static const Question next = {"the number of a CTA that no SM has got, -1 for none in this cycle,",
                              may_be_next};

static const Event events[] = {
    [DISPATCHER_CTA_START] = {"cta_start", "sm, slot, x, y, z", NULL, "A CTA was sent to an SM"},
    [DISPATCHER_CTA_END] = {"cta_end", "sm, slot", NULL, "An SM has told that a CTA has finished"},
    [DISPATCHER_PLACE] =
        {"place", "sms, choice, x, y, z", &place,
         "Which of these SMs, a set of bits, shall get this CTA? choice: that of "
         "`placement`, or -1. The answer -1: "
         "none in this cycle. Asked again for each CTA of the cycle, before on_cta_start of any"},
    [DISPATCHER_NEXT_CTA] =
        {"next_cta", "sm, choice", &next,
         "Which CTA, by its number in the grid (x fastest, then y), shall this SM get? choice: that of "
         "`order`. The answer -1: none in this cycle"},
    {0}};

static void set_limit(SimObject *object, MethodCall *call) {
    Dispatcher *d = (Dispatcher *)object;
    d->limit[call->argument[0].whole] = (uint8_t)call->argument[1].whole;
    object_wake(object);
}

static void call_resident(SimObject *object, MethodCall *call) {
    call->result[0].whole = resident((const Dispatcher *)object, (uint32_t)call->argument[0].whole);
}

static void call_waiting(SimObject *object, MethodCall *call) {
    const Dispatcher *d = (const Dispatcher *)object;
    call->result[0].whole = (int64_t)(d->ctas - d->handed_out);
}

static void call_grid(SimObject *object, MethodCall *call) {
    const Dispatcher *d = (const Dispatcher *)object;
    for (uint32_t i = 0; i < 3; i++)
        call->result[i].whole = d->grid[i];
}

static void call_first_waiting(SimObject *object, MethodCall *call) {
    Dispatcher *d = (Dispatcher *)object;
    int64_t first = call->argument[0].whole, last = call->argument[1].whole, end = (int64_t)d->ctas;
    call->nothing = true;
    if (d->handed_out == d->ctas) return;
    note_taken(d);
    if (first < 0) first = 0;
    for (int64_t cta = first; cta < end && cta <= last;) {
        uint64_t left = ~d->taken[cta / WORD_BITS] >> cta % WORD_BITS;
        int64_t found = left ? cta + __builtin_ctzll(left) : (cta / WORD_BITS + 1) * WORD_BITS;
        if (left && found < end && found <= last) {
            call->result[0].whole = found;
            call->nothing = false;
            return;
        }
        cta = left ? end : found;
    }
}

static const Method methods[] = {
    METHOD("set_limit", set_limit,
           "The SM gets no CTA while it holds so many, in this kernel and later ones; 0: as many as fit",
           TAKES(WHOLE_NUMBER_BELOW("sm", Dispatcher, sms), WHOLE_NUMBER("ctas", .min = 0, .max = MAX_CTAS))),
    METHOD("resident", call_resident, "CTAs that the SM holds, those on their way to it and back included",
           TAKES(WHOLE_NUMBER_BELOW("sm", Dispatcher, sms)), RETURNS(WHOLE_NUMBER("ctas"))),
    METHOD("waiting", call_waiting, "CTAs of the present kernel that no SM has got yet",
           RETURNS(WHOLE_NUMBER("ctas"))),
    METHOD("grid", call_grid, "CTAs of the present kernel in x, y and z",
           RETURNS(WHOLE_NUMBER("x"), WHOLE_NUMBER("y"), WHOLE_NUMBER("z"))),
    METHOD("first_waiting", call_first_waiting,
           "The lowest number, from first to last, of a CTA that no SM has got yet; nil: all are handed out",
           TAKES(WHOLE_NUMBER("first"), WHOLE_NUMBER("last")), RETURNS(WHOLE_NUMBER("cta")), MAY_BE_NIL),
    METHODS_END};

const Class dispatcher_class = {
    .name = "Dispatcher",
    .doc = "Hands out the CTAs of a kernel to the SMs as resources allow",
    .bytes = sizeof(Dispatcher),
    .fields = fields,
    .events = events,
    .methods = methods,
    .tick = tick,
    .is_sound = is_sound,
    .check = check,
    .report = report,
};
REGISTER_CLASS(dispatcher_class);
