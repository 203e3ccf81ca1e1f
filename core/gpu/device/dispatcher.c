#include "core/gpu/device/dispatcher_state.h"
#include "core/gpu/device/gpu.h"

#include "core/sim/checkpoint/snapshot.h"

#include <stdlib.h>
#include <string.h>

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
    PARAM_CHOICE(
        Dispatcher, sharing, "in_order", "in_order|evenly|one_at_a_time",
        "Which of the kernels that were launched together an SM without CTAs gets: the first one that "
        "has CTAs for it; the one with the fewest SMs, and SMs of a kernel that has more than its share "
        "get no more CTAs until they are empty; the first one, until it has ended. With kernels_per_sm "
        "above 1, of which an SM gets a CTA next: the first one whose CTA fits; one that has less than "
        "its share of the SM; the first one, until it has ended",
        .timing = true),
    PARAM(Dispatcher, kernels_per_sm, "1", "kernels",
          "Kernels, of those that were launched together, of which an SM may hold CTAs at once", .min = 1,
          .max = MAX_CTAS, .converts = true),
    PARAM_FLAG(Dispatcher, count_by_kernel, "false",
               "Results say of each launch what it had of SMs, caches and memory controllers",
               .timing = true),
    PORT_ARRAY(Dispatcher, sm, sms, cta_protocol, ROLE_REQUESTER, "One per SM"),
    STATE(Dispatcher, next_sm, "SM behind the one that got the last CTA"),
    STATE(Dispatcher, grid_count, "Kernels of the launch"),
    STATE(Dispatcher, present, "Kernel whose CTAs are handed out, or were last"),
    STATE(Dispatcher, has_freed, "Whether an SM has been left to other kernels in this quantum"),
    STATE_ARRAY(Dispatcher, grids, grid_count,
                "Of each kernel: grid, CTAs handed out and finished, whose turn it is"),
    STATE(Dispatcher, done, "CTAs that have finished, of all of them"),
    STATE(Dispatcher, forwarded, "CTAs that were handed over in mid-flight"),
    STATE(Dispatcher, taken_words, "Length of `taken`"),
    STATE_ARRAY(Dispatcher, taken, taken_words,
                "Of kernels whose CTAs policies choose: bit per CTA that is handed out"),
    HOST(Dispatcher, sms_of, "What it asks and tells of the SMs"),
    HOST(Dispatcher, priorities, "Of each kernel, or NULL"),
    HOST(Dispatcher, running,
         "Kernels that have begun and have not ended, in the order in which they get SMs"),
    HOST(Dispatcher, ended, "Kernels whose ends the GPU has not asked for"),
    HOST(Dispatcher, running_count, "Length of `running`"),
    HOST(Dispatcher, ended_count, "Length of `ended`"),
    HOST(Dispatcher, begun, "Kernels that have begun"),
    HOST(Dispatcher, fits_none,
         "Of each SM with several kernels: whether no kernel that runs has a CTA for it"),
    HOST(Dispatcher, expected, "Kernels that the launch has, or may have when others have joined it"),
    HOST(Dispatcher, pause_at, "Finished CTAs at which the machine stops for the host program, or 0"),
    STATE_ARRAY(Dispatcher, slots, sms, "Of each SM: its kernel, CTA slots, and which of them are free"),
    KNOB_BY_METHOD(Dispatcher, limit, "limit", "CTAs that each SM may hold: set_limit()"),
    STAT(Dispatcher, kernels, "kernels", "Kernels started"),
    STAT(Dispatcher, ctas_dispatched, "CTAs", "CTAs handed out"),
    FIELDS_END};

void dispatcher_expect(SimObject *object, uint32_t kernels) {
    ((Dispatcher *)object)->expected = kernels;
}

void dispatcher_set_priorities(SimObject *object, const int32_t *priorities) {
    ((Dispatcher *)object)->priorities = priorities;
}

void dispatcher_start(SimObject *object, uint32_t kernels) {
    Dispatcher *d = (Dispatcher *)object;
    forget_taken(d);
    d->grids = realloc(d->grids, kernels * sizeof *d->grids);
    ensure_memory(d->grids);
    memset(d->grids, 0, kernels * sizeof *d->grids);
    d->grid_count = kernels;
    list_kernels(d);
    d->present = d->has_freed = 0;
    d->done = 0;
    if (!d->goes_on) d->next_sm = 0;
    memset(d->slots, 0, d->sms * sizeof *d->slots);
    for (uint32_t sm = 0; sm < d->sms && has_several_per_sm(d); sm++) {
        d->slots[sm].places = d->sms_of->slots(d->sms_of->context, sm);
        d->slots[sm].free_slots = slots_of(d->slots[sm].places);
    }
}

void dispatcher_join(SimObject *object, uint32_t kernels) {
    Dispatcher *d = (Dispatcher *)object;
    d->grids = realloc(d->grids, (d->grid_count + kernels) * sizeof *d->grids);
    ensure_memory(d->grids);
    memset(d->grids + d->grid_count, 0, kernels * sizeof *d->grids);
    d->grid_count += kernels;
    make_room_for_kernels(d);
}

void dispatcher_know_sms(SimObject *object, const SmsOfKernels *sms_of) {
    ((Dispatcher *)object)->sms_of = sms_of;
}

bool dispatcher_runs_several_per_sm(const SimObject *object, uint32_t kernels) {
    return kernels > 1 && ((const Dispatcher *)object)->kernels_per_sm > 1;
}

bool dispatcher_counts_by_kernel(const SimObject *object) {
    return ((const Dispatcher *)object)->count_by_kernel;
}

void dispatcher_instructions(const SimObject *object, uint32_t kernel, uint64_t *of_warps,
                             uint64_t *of_threads) {
    const Grid *grid = &((const Dispatcher *)object)->grids[kernel];
    *of_warps = grid->warp_instructions;
    *of_threads = grid->thread_instructions;
}

void dispatcher_begin(SimObject *object, uint32_t kernel, const uint32_t grid[3], bool is_cooperative) {
    Dispatcher *d = (Dispatcher *)object;
    d->grids[kernel] = (Grid){.size = {grid[0], grid[1], grid[2]},
                              .has_begun = 1,
                              .is_cooperative = is_cooperative,
                              .ctas = (uint64_t)grid[0] * grid[1] * grid[2],
                              .next_sm = d->goes_on ? d->next_sm : 0};
    note_begin(d, kernel);
    d->kernels++;
}

/* What has been handed out is all of the grid. */
static void end_grid(Grid *grid) {
    grid->has_begun = 1;
    grid->ctas = grid->size[0] = (uint32_t)grid->handed_out; /* no simulation gets as far as 2^32 */
    grid->size[1] = grid->size[2] = 1;
    grid->block_left = 0;
}

void dispatcher_stop(SimObject *object) {
    Dispatcher *d = (Dispatcher *)object;
    for (uint32_t g = 0; g < d->grid_count; g++)
        end_grid(&d->grids[g]);
    list_kernels(d);
    forget_taken(d);
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

static bool has_ended(const Grid *grid) {
    return grid->has_begun && grid->done == grid->ctas;
}

bool dispatcher_has_freed(const SimObject *object) {
    return ((const Dispatcher *)object)->has_freed;
}

static Grid *take_done(Dispatcher *d, uint32_t sm, const CtaDone *done) {
    SmSlots *slots = &d->slots[sm];
    Grid *grid = &d->grids[slots->kernel[done->slot]];
    slots->free_slots |= 1u << done->slot;
    d->fits_none[sm] = false;
    if (has_several_per_sm(d) && has_no_cta(slots)) slots->drains = DRAINS_NOT;
    d->done++;
    grid->done++;
    grid->warp_instructions += done->warp_instructions;
    grid->thread_instructions += done->thread_instructions;
    if (grid->done == grid->ctas) note_end(d, slots->kernel[done->slot]);
    return grid;
}

static void take_finished(Dispatcher *d, uint64_t now) {
    for (uint32_t i = 0; i < d->sms; i++) {
        const CtaDone *done = link_peek(d->sm[i].receive, now);
        if (!done) continue;
        const Grid *grid = take_done(d, i, done);
        object_emit(&d->obj, DISPATCHER_CTA_END, i, done->slot, (int64_t)(grid - d->grids));
        bool frees = leaves_sm_to_others(d, i);
        d->has_freed |= frees;
        if (grid->done == grid->ctas || d->done == d->pause_at || frees) sim_request_stop(d->obj.sim);
        link_pop(d->sm[i].receive, now);
        object_progress(&d->obj);
    }
}

/* --- Without timing: forward.h ----------------------------------------------------------------- */

int dispatcher_port_of(const SimObject *object, const SimObject *sm) {
    const Dispatcher *d = (const Dispatcher *)object;
    for (uint32_t i = 0; i < d->sms; i++)
        if (d->sm[i].send->receiver == sm) return (int)i;
    return NO_SM;
}

bool dispatcher_forward(SimObject *object, uint32_t sm, CtaStart *start) {
    Dispatcher *d = (Dispatcher *)object;
    if (!has_ctas_left(d->grids) || !room_of_sm(d, sm) || !take_cta(d, sm, start->ctaid)) return false;
    take_slot(d, sm, start);
    return true;
}

void dispatcher_forward_end(SimObject *object, uint32_t sm, uint32_t slot) {
    Dispatcher *d = (Dispatcher *)object;
    d->slots[sm].free_slots |= 1u << slot;
    d->grids->done++;
    d->done++;
    if (has_ended(d->grids)) note_end(d, 0);
}

void dispatcher_hand_over(SimObject *object) {
    Dispatcher *d = (Dispatcher *)object;
    d->forwarded += d->grids->handed_out - d->done;
}

void dispatcher_give_up(SimObject *object) {
    Dispatcher *d = (Dispatcher *)object;
    for (uint32_t i = 0; i < d->sms; i++)
        d->slots[i].free_slots = slots_of(d->slots[i].places);
    d->grids->handed_out = d->done;
    dispatcher_stop(object);
}

bool dispatcher_is_kept_waiting(const SimObject *object) {
    const Dispatcher *d = (const Dispatcher *)object;
    bool share_decides = d->grid_count > 1 && object_has_subscriber(object, DISPATCHER_NEXT_KERNEL);
    bool any_left = last_with_ctas_left(d) != NO_GRID, any_has_room = false;
    if (has_several_per_sm(d)) return (share_decides || policies_decide(d)) && any_sm_could_get_one(d);
    for (uint32_t sm = 0; sm < d->sms && any_left; sm++) {
        const SmSlots *slots = &d->slots[sm];
        any_has_room |= share_decides && has_no_cta(slots);
        any_has_room |= policies_decide(d) && has_ctas_left(&d->grids[slots->grid]) && has_room(d, sm);
    }
    return any_has_room;
}

/* --- Its cycle --------------------------------------------------------------------------------- */

/* Kernel after kernel: each SM gets CTAs of one of them in this cycle. True when an SM got a CTA. */
static bool hand_out_all(Dispatcher *d, uint64_t now) {
    uint16_t kernels[MAX_SMS];
    int last = last_with_ctas_left(d);
    bool busy = false;
    if (last == NO_GRID) return false;
    uint32_t count = kernels_of_sms(d, kernels);
    for (uint32_t i = 0; i < count; i++) {
        d->present = kernels[i];
        pass_taken(d);
        busy |= hand_out_ctas(d, now);
    }
    d->present = (uint32_t)last;
    return busy;
}

static uint64_t tick(SimObject *object, uint64_t now) {
    Dispatcher *d = (Dispatcher *)object;
    uint64_t next = NEVER;
    take_finished(d, now);
    if (has_several_per_sm(d)) choose_kernels(d);
    bool busy = hand_out_all(d, now);
    for (uint32_t i = 0; i < d->sms; i++) {
        uint64_t ready = link_next_ready(d->sm[i].receive);
        if (ready < next) next = ready;
    }
    /* Policies are asked in each cycle, so that it does not matter when else it ticks. */
    bool share_decides = has_several_per_sm(d) && object_has_subscriber(object, DISPATCHER_NEXT_KERNEL);
    busy |= (policies_decide(d) || share_decides) && last_with_ctas_left(d) != NO_GRID;
    if (busy || next <= now) next = now + object->period;
    return next;
}

static void kernels_in_slots_are_sound(const Dispatcher *d, uint32_t sm) {
    const SmSlots *slots = &d->slots[sm];
    for (uint32_t taken = slots_of(slots->places) & ~slots->free_slots; taken; taken &= taken - 1) {
        uint32_t slot = (uint32_t)__builtin_ctz(taken);
        bool is_possible = has_several_per_sm(d) || slots->kernel[slot] == slots->grid;
        sound(slots->kernel[slot] < d->grid_count && is_possible,
              "%s.slots: a CTA of kernel %u in slot %u of SM %u", d->obj.path, slots->kernel[slot], slot, sm);
    }
    if (!has_several_per_sm(d)) return;
    CtaNeeds all = d->sms_of->room(d->sms_of->context, sm), left = room_left(d, sm);
    sound(left.warps <= all.warps && left.registers <= all.registers && left.shared <= all.shared,
          "%s.slots: more CTAs in SM %u than fit", d->obj.path, sm);
}

/* Those that are handed out and have not finished have slots. */
static void ctas_of_kernels_are_sound(const Dispatcher *d) {
    for (uint32_t g = 0; g < d->grid_count; g++) {
        const Grid *grid = &d->grids[g];
        uint64_t ctas = 0;
        for (uint32_t sm = 0; sm < d->sms; sm++)
            ctas += ctas_of_kernel(d, sm, g);
        sound(ctas == grid->handed_out - grid->done, "%s.slots: %lu CTAs of kernel %u, of which SMs hold %lu",
              d->obj.path, ctas, g, grid->handed_out - grid->done);
    }
}

static void slots_are_sound(const Dispatcher *d) {
    uint32_t places = 0, left = 0;
    for (uint32_t g = 0; g < d->grid_count; g++)
        left |= d->grids[g].done < d->grids[g].ctas;
    for (uint32_t i = 0; i < d->sms && d->grid_count; i++) {
        const SmSlots *slots = &d->slots[i];
        sound(slots->places <= MAX_CTAS && (slots->free_slots & ~slots_of(slots->places)) == 0 &&
                  slots->grid < d->grid_count,
              "%s.slots: 0x%x of %u of SM %u are free, kernel %u", d->obj.path, slots->free_slots,
              slots->places, i, slots->grid);
        kernels_in_slots_are_sound(d, i);
        places += slots->places;
    }
    sound(places || !left, "%s.slots: none", d->obj.path);
    ctas_of_kernels_are_sound(d);
}

static void is_sound(const SimObject *object, bool fits) {
    const Dispatcher *d = (const Dispatcher *)object;
    uint64_t done = 0;
    for (uint32_t g = 0; g < d->grid_count; g++) {
        const Grid *grid = &d->grids[g];
        sound(grid->ctas == (uint64_t)grid->size[0] * grid->size[1] * grid->size[2] &&
                  grid->handed_out <= grid->ctas && (grid->has_begun || !grid->ctas),
              "%s: %lu of %lu CTAs handed out", object->path, grid->handed_out, grid->ctas);
        sound(grid->done <= grid->handed_out && grid->next_sm < d->sms && grid->block_left < MAX_CTAS,
              "%s: %lu CTAs done, SM %u is next, for %u more", object->path, grid->done, grid->next_sm,
              grid->block_left);
        done += grid->done;
    }
    sound(d->grid_count <= MAX_KERNELS_IN_FLIGHT, "%s: %u kernels", object->path, d->grid_count);
    sound(d->next_sm < d->sms && done == d->done && (d->present < d->grid_count || !d->grid_count) &&
              !d->has_freed,
          "%s: SM %u is next, %lu CTAs done, kernel %u of %u", object->path, d->next_sm, d->done, d->present,
          d->grid_count);
    taken_are_sound(d);
    if (fits) slots_are_sound(d);
}

/* Behind a load, too. */
static bool knobs_set(SimObject *object) {
    list_kernels((Dispatcher *)object);
    return true;
}

/* Of kernels_per_sm. Places of CTAs, and what SMs know of their kernels, are others where it is 1. */
static bool convert(SimObject *object, const SavedObject *saved, const SnapshotChanges *changes, char *why,
                    size_t why_size) {
    static const char *const none[] = {NULL};
    const Dispatcher *d = (const Dispatcher *)object;
    bool were_several = saved_param(saved, "kernels_per_sm") > 1;
    (void)changes;
    if (!saved_rows_but(saved, none, why, why_size)) return false;
    if (d->expected < 2 || !d->grid_count || were_several == (d->kernels_per_sm > 1)) return true;
    snprintf(why, why_size,
             "%s.kernels_per_sm: expected %s from a launch of several kernels to the next launch, got %lu",
             object_path(object), were_several ? "2 or more" : "1", d->kernels_per_sm);
    return false;
}

/* Where an SM has several kernels, what it and the dispatcher know of a slot's CTA is of the same one. */
static void check_kernels_of_slots(const Dispatcher *d, uint32_t i, uint32_t resident) {
    const Sm *sm = (const Sm *)d->sm[i].send->receiver;
    const uint16_t *kernel = d->slots[i].kernel;
    bool agree = true;
    for (; resident; resident &= resident - 1) {
        uint32_t slot = (uint32_t)__builtin_ctz(resident);
        agree &= kernel[slot] == sm->cta[slot].kernel;
    }
    FOR_LINK_MESSAGES (d->sm[i].send, k) {
        const CtaStart *start = (const CtaStart *)link_message(d->sm[i].send, k);
        agree &= kernel[start->slot] == start->kernel;
    }
    if (!agree) panic("%s: %s has CTAs of other kernels", d->obj.path, sm->obj.path);
}

/* A slot is free, or its CTA is on its way to the SM, there, or on its way back. */
static void check_slots(const Dispatcher *d, uint32_t i) {
    const Sm *sm = (const Sm *)d->sm[i].send->receiver;
    const Link *to = d->sm[i].send, *from = d->sm[i].receive;
    if (sm->obj.class != &sm_class || !sm->running || !d->grid_count) return;
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
    if (has_several_per_sm(d)) check_kernels_of_slots(d, i, sm_resident_slots(sm));
}

static void check(const SimObject *object, bool idle) {
    const Dispatcher *d = (const Dispatcher *)object;
    uint64_t sent = 0, finished = 0, handed_out = 0;
    for (uint32_t g = 0; g < d->grid_count; g++) {
        const Grid *grid = &d->grids[g];
        if (grid->done > grid->handed_out || grid->handed_out > grid->ctas || (idle && !has_ended(grid)))
            panic("%s: kernel %u: %lu of %lu CTAs handed out, %lu finished", object->path, g,
                  grid->handed_out, grid->ctas, grid->done);
        if (idle && grid->taken_words && count_taken(d, grid) != grid->handed_out)
            panic("%s: %lu CTAs taken, %lu handed out", object->path, count_taken(d, grid), grid->handed_out);
        handed_out += grid->handed_out;
    }
    for (uint32_t i = 0; i < d->sms; i++) {
        sent += link_sent(d->sm[i].send);
        finished += link_received(d->sm[i].receive);
        check_slots(d, i);
    }
    if (d->ctas_dispatched != sent || sent + d->forwarded - finished != handed_out - d->done)
        panic("%s: %lu CTAs dispatched, %lu sent to SMs and %lu finished there; of this launch %lu and %lu",
              object->path, d->ctas_dispatched, sent, finished, handed_out, d->done);
}

static void report(const SimObject *object, FILE *out) {
    const Dispatcher *d = (const Dispatcher *)object;
    for (uint32_t g = 0; g < d->grid_count; g++) {
        const Grid *grid = &d->grids[g];
        char kernel[32] = "";
        if (has_ended(grid)) continue;
        if (d->grid_count > 1) snprintf(kernel, sizeof kernel, "kernel %u: ", g);
        if (!grid->has_begun) {
            fprintf(out, "%s: %swaits for kernels before it\n", object->path, kernel);
            continue;
        }
        fprintf(out, "%s: %s%lu of %lu CTAs handed out, %lu finished%s\n", object->path, kernel,
                grid->handed_out, grid->ctas, grid->done,
                dispatcher_is_kept_waiting(object) ? "; policies let SMs with room wait for a CTA" : "");
    }
}

/* --- What policies see ------------------------------------------------------------------------- */

static bool is_place(const int64_t *arguments, int64_t sm) {
    int64_t first = arguments[5];
    return sm == NO_SM ||
           (sm >= first && sm - first < SMS_IN_QUESTION && (uint64_t)arguments[0] >> (sm - first) & 1);
}

static const Question place = {"one of `sms`, -1 for none in this cycle,", is_place};

static const Question next = {"the number of a CTA that no SM has got, -1 for none in this cycle,",
                              may_be_next};

static const Question next_kernel = {
    "the number of a kernel with CTAs left that fit the SM, -1 for none now,", may_have_sm};

static const Event events[] = {
    [DISPATCHER_CTA_START] = {"cta_start", "sm, slot, x, y, z, kernel", NULL,
                              "A CTA was sent to an SM; kernel: whose it is, of those launched together"},
    [DISPATCHER_CTA_END] = {"cta_end", "sm, slot, kernel", NULL, "An SM has told that a CTA has finished"},
    [DISPATCHER_PLACE] =
        {"place", "sms, choice, x, y, z, first", &place,
         "Which of these SMs, a set of bits by the dispatcher's ports, shall get this CTA? choice: that of "
         "`placement`, or -1. first: the SM that bit 0 of `sms` stands for. The answer -1: none of them in "
         "this cycle. With more than 64 SMs it is asked about those around the choice first and, as long as "
         "the answer is -1, about the others, with -1 for choice. Asked again for each CTA of the cycle, "
         "before on_cta_start of any"},
    [DISPATCHER_NEXT_CTA] =
        {"next_cta", "sm, choice", &next,
         "Which CTA, by its number in the grid (x fastest, then y), shall this SM get? choice: that of "
         "`order`. The answer -1: none in this cycle"},
    [DISPATCHER_NEXT_KERNEL] =
        {"next_kernel", "sm, choice", &next_kernel,
         "Which of the kernels that were launched together, numbered from 0, shall this SM "
         "without CTAs get? choice: "
         "that of `sharing`, or -1. The answer -1: none until a kernel begins or ends, or "
         "another SM is without CTAs. With kernels_per_sm above 1: of which shall the SM get a CTA next? "
         "Asked in each cycle for each SM with room for one; the answer -1: of none in this cycle"},
    {0}};

const Class dispatcher_class = {
    .name = "Dispatcher",
    .doc = "Hands out the CTAs of kernels to the SMs as resources allow",
    .bytes = sizeof(Dispatcher),
    .fields = fields,
    .events = events,
    .methods = dispatcher_methods,
    .tick = tick,
    .knobs_set = knobs_set,
    .is_sound = is_sound,
    .convert = convert,
    .check = check,
    .report = report,
    .destroy = free_lists,
};
REGISTER_CLASS(dispatcher_class);
