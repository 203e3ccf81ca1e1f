/* The class of slices of L2: their rows, and what is no access and no tick. */
#include "mem/l2/l2_state.h"

#include "core/sim/checkpoint/snapshot.h"
#include "core/sim/clocks.h"
#include "mem/cache/cache_answers.h"
#include "mem/cache/cache_methods.h"
#include "mem/cache/cache_rows.h"
#include "mem/cache/cache_sound.h"
#include "mem/cache/cache_tick.h"
#include "mem/protocol/caches.h"
#include "mem/protocol/networks.h"

#include <stdlib.h>

/* As many as in front of the tags, so that a short way does not make them wait for one another. */
static uint32_t places_to_bypass(const L2Slice *l2) {
    uint32_t places = l2->queue_entries ? l2->queue_entries : l2->rop_delay;
    return places > l2->bypass_delay ? places : l2->bypass_delay;
}

static void find_times(L2Slice *l2) {
    l2->bypass_ticks = l2->bypass_delay * l2->cache.period;
    l2->bank_ticks = l2->bank_busy * l2->cache.period;
}

static void l2_build(SimObject *object) {
    L2Slice *l2 = (L2Slice *)object;
    cache_build((CacheObject *)object, l2->rop_delay, l2->data_port);
    if (l2->queue_entries) delay_queue_build(&l2->cache.pipeline, l2->queue_entries);
    delay_queue_build(&l2->bypassing, places_to_bypass(l2));
    find_times(l2);
    bypassed_build(&l2->bypassed);
    prefetch_build(&l2->prefetches, &l2->cache);
    l2->number = 0;
    for (uint32_t i = 0; object->sim->objects[i] != object; i++)
        l2->number += object->sim->objects[i]->class == &l2_class;
}

static uint64_t queue_length(const SimObject *object, uint32_t queue) {
    const L2Slice *l2 = (const L2Slice *)object;
    if (queue == QUEUE_PREFETCHES) return l2->prefetches.queue.count;
    return queue == QUEUE_BYPASSED ? l2->bypassed.count : l2->bypassing.count;
}

static uint64_t index_address(const SimObject *object, uint64_t address) {
    return address_map_within_slice(((const L2Slice *)object)->set_map, address);
}

const AddressMap *l2_set_map(const SimObject *object) {
    const AddressMap *map = address_map_find(object);
    return address_map_has_pages(map) && gets_every_slice(object) ? &address_itself : map;
}

/* Does the object below meet nobody within its cluster but this slice? Then nothing but its own time and this slice make
 * it do something in the middle of a quantum. Ticked without need, it would see room that this slice makes later. */
static bool below_meets_nobody_else(const L2Slice *l2) {
    const Sim *sim = l2->obj.sim;
    if (sim->order == ORDER_RESTLESS) return false;
    const SimObject *below = l2->mem.receive->sender;
    for (uint32_t i = 0; i < sim->link_count; i++) {
        const Link *link = sim->links[i];
        bool of_it = link->sender == below || link->receiver == below;
        if (of_it && !link_is_cut(link) && link != l2->mem.send && link != l2->mem.receive) return false;
    }
    return l2->mem.send->receiver == below;
}

/* See foresees(). Parts that count cycle by cycle are to see each in its turn. */
static void find_foresight(L2Slice *l2) {
    static const uint64_t at_once = 0, never = NEVER;
    bool cut = link_is_cut(l2->mem.receive) && link_is_cut(l2->mem.send);
    bool alone = !link_is_cut(l2->mem.receive) && !link_is_cut(l2->mem.send) && below_meets_nobody_else(l2);
    bool unseen = link_is_cut(l2->cpu.receive) && link_is_cut(l2->cpu.send) && !l2->delays && !l2->pc_table;
    l2->answers_later = unseen;
    l2->below_due = !unseen ? &at_once : cut ? &never : alone ? l2->mem.receive->sender->due : &at_once;
}

/* A machine without functional memory can be driven as long as no atomic arrives. */
static void l2_init(SimObject *object) {
    L2Slice *l2 = (L2Slice *)object;
    cache_init(object);
    audit_queue(object, QUEUE_BYPASSED, "requests that passed through", QUEUE_TABLE, l2->bypassed.limit,
                queue_length);
    audit_queue(object, QUEUE_BYPASSING, "requests that bypass the tags", QUEUE_FIFO, l2->bypassing.slots,
                queue_length);
    audit_queue(object, QUEUE_PREFETCHES, "prefetches", QUEUE_FIFO, l2->prefetches.queue.slots, queue_length);
    prefetch_init(&l2->prefetches, (CacheObject *)l2, index_address);
    l2->map = address_map_find(object);
    l2->set_map = l2_set_map(object);
    l2->pc_table = pc_table_of(object);
    l2->delays = queue_delays_of(object);
    l2->shadow = shadow_tags_of(object);
    find_foresight(l2);
    if (functional_memory(object)) view_init(&l2->view, functional_memory(object)->memory);
}

void l2_gets_slice(SimObject *object, uint32_t slice) {
    ensure(object->class == &l2_class);
    L2Slice *l2 = (L2Slice *)object;
    if (!l2->gets) l2->gets = calloc(address_map_slices(l2->map), 1);
    ensure_memory(l2->gets);
    l2->gets[slice] = 1;
}

/* What slices that share a map would each work out again. */
typedef struct {
    const AddressMap *map;
    bool is_placed;
    uint32_t slice;
} PlaceOfLine;

static bool gets_line(const L2Slice *l2, uint64_t line, PlaceOfLine *place) {
    if (l2->set_map == &address_itself) return true;
    if (place->map != l2->map) {
        bool is_placed = address_map_is_placed(l2->map, line);
        *place = (PlaceOfLine){l2->map, is_placed, is_placed ? address_map_slice(l2->map, line) : 0};
    }
    return place->is_placed && (!l2->gets || l2->gets[place->slice]);
}

bool l2_gets(const SimObject *object, uint64_t address) {
    ensure(object->class == &l2_class);
    PlaceOfLine place = {0};
    return gets_line((const L2Slice *)object, address, &place);
}

void l2_warm_range(SimObject *const *slices, uint32_t count, uint64_t address, uint64_t bytes) {
    uint64_t first = address / LINE_BYTES_MAX * LINE_BYTES_MAX;
    if (!count || !bytes) return;
    for (uint64_t line = first; line < address + bytes; line += LINE_BYTES_MAX) {
        PlaceOfLine place = {0};
        for (uint32_t i = 0; i < count; i++)
            if (gets_line((const L2Slice *)slices[i], line, &place)) l2_warm(slices[i], line);
    }
}

void l2_pass_atomics_on(SimObject *object) {
    ensure(object->class == &l2_class);
    ((L2Slice *)object)->passes_atomics = 1;
}

static void l2_destroy(SimObject *object) {
    L2Slice *l2 = (L2Slice *)object;
    if (l2->view.memory) view_free(&l2->view);
    free(l2->gets);
}

static void l2_clocks_changed(SimObject *object, const Clock *was) {
    L2Slice *l2 = (L2Slice *)object;
    cache_clocks_changed((CacheObject *)object, was);
    find_times(l2);
    delay_queue_clocks_changed(object, &l2->bypassing, was);
    l2->fill_busy_until = clock_moved_edge(object, was, l2->fill_busy_until);
    l2->done_before = clock_moved_edge(object, was, l2->done_before);
    for (uint32_t i = 0; i < PORTS_MAX; i++)
        l2->port_busy_until[i] = clock_moved_edge(object, was, l2->port_busy_until[i]);
}

static void l2_commit(SimObject *object) {
    view_commit(&((L2Slice *)object)->view);
}

static bool l2_convert(SimObject *object, const SavedObject *saved, const struct SnapshotChanges *changes,
                       char *why, size_t why_size) {
    static const char *const rows[] = {CACHE_CONVERTED_ROWS, PREFETCH_CONVERTED_ROWS, NULL};
    L2Slice *l2 = (L2Slice *)object;
    if (!saved_rows_but(saved, rows, why, why_size)) return false;
    bypassed_convert((CacheObject *)l2, &l2->bypassed);
    delay_queue_make_room(&l2->bypassing);
    prefetch_convert(&l2->prefetches, saved);
    return cache_convert(object, index_address, saved, changes, why, why_size);
}

static void l2_requests(const SimObject *object, RequestVisitor *visit, void *context) {
    const L2Slice *l2 = (const L2Slice *)object;
    visit_cache((const CacheObject *)object, &l2->bypassed, visit, context);
    visit_delay_queue((const CacheObject *)object, &l2->bypassing, visit, context);
}

static uint32_t l2_answer_kinds(const SimObject *object) {
    const L2Slice *l2 = (const L2Slice *)object;
    return cache_answer_kinds(&l2->cache, &l2->bypassed);
}

static uint32_t l2_answer_kind(const SimObject *object, const void *message) {
    const L2Slice *l2 = (const L2Slice *)object;
    return cache_answer_kind(&l2->cache, &l2->bypassed, message);
}

static void l2_answers_awaited(const SimObject *object, uint32_t *awaited) {
    const L2Slice *l2 = (const L2Slice *)object;
    cache_answers_awaited(&l2->cache, &l2->bypassed, awaited);
}

static void l2_is_sound(const SimObject *object, bool fits) {
    const L2Slice *l2 = (const L2Slice *)object;
    const char *path = object_path(object);
    cache_is_sound((const CacheObject *)object, fits);
    bypassed_is_sound(object, &l2->bypassed, fits);
    prefetch_is_sound(&l2->prefetches, fits);
    delay_queue_is_sound((const CacheObject *)object, &l2->bypassing, "bypassing");
    sound(!fits || l2->bypassing.limit <= l2->bypassing.slots, "%s.bypassing: %u slots", path,
          l2->bypassing.slots);
    sound(tick_is_sound(object, l2->fill_busy_until), "%s.fill_busy_until: tick %lu", path,
          l2->fill_busy_until);
    for (uint32_t i = 0; i < PORTS_MAX; i++)
        sound(tick_is_sound(object, l2->port_busy_until[i]), "%s.port_busy_until: tick %lu", path,
              l2->port_busy_until[i]);
}

static void l2_check(const SimObject *object, bool idle) {
    cache_check_sets((const CacheObject *)object, index_address);
    const L2Slice *l2 = (const L2Slice *)object;
    const CacheStats *stats = &l2->cache.stats;
    cache_check((const CacheObject *)object, l2->bypassed.count, delay_queue_answers_due(&l2->bypassing),
                idle);
    prefetch_check(&l2->prefetches, idle);
    if (stats->fills + l2->bypassed.answered != link_received(l2->mem.receive))
        panic("%s: %lu fills, but %lu messages came from the memory side and %lu of them were passed on",
              object_path(object), stats->fills, link_received(l2->mem.receive), l2->bypassed.answered);
    if (idle && (l2->bypassed.count || l2->bypassing.count))
        panic("%s is idle but %u requests bypass and %u that passed through are not answered",
              object_path(object), l2->bypassing.count, l2->bypassed.count);
}

static void l2_report(const SimObject *object, FILE *out) {
    const L2Slice *l2 = (const L2Slice *)object;
    cache_report(object, out);
    if (l2->bypassing.count)
        fprintf(out, "%s: %u requests bypass the tags\n", object_path(object), l2->bypassing.count);
    bypassed_report(object, &l2->bypassed, out);
    prefetch_report(&l2->prefetches, out);
}

static const Event l2_events[] = {
    CACHE_EVENT_ROWS("Shall this read pass the cache by? A policy with this question sets the knob bypass, "
                     "unless --set gives it a value"),
    {0}};

static const Field l2_fields[] = {
    CACHE_ROWS(L2Slice),
    PARAM(L2Slice, rop_delay, "120", "cycles", "From accepting a request to the tags", .min = 1, .max = 4096,
          .converts = true),
    PARAM(
        L2Slice, queue_entries, "0", "requests",
        "Requests that may be inside in front of the tags, and as many that bypass them; 0: rop_delay. With "
        "fewer, not one per cycle",
        .max = 65536, .converts = true),
    PARAM(L2Slice, data_port, "128", "bytes",
          "Width per cycle of the data array's two ports, one for hits and "
          "write-backs, one for fills; 128: no limit",
          .min = 1, .max = LINE_BYTES_MAX, .power_of_two = true, .timing = true),
    PARAM(L2Slice, bank_busy, "0", "cycles",
          "How long an access, hit or miss, has a port of the bank to itself; 0: the bank is pipelined",
          .max = 4096, .timing = true),
    PARAM(L2Slice, ports, "1", "ports", "Of the bank: accesses at a time, while bank_busy is not 0", .min = 1,
          .max = PORTS_MAX, .timing = true),
    PARAM_CHOICE(L2Slice, write_miss, "fetch", "fetch|lazy",
                 "Sectors written in part are fetched at once, or when they are read"),
    PARAM(L2Slice, atomic_latency, "0", "cycles",
          "An atomic has the data array to itself for so long, and then for the cycle of its access",
          .max = 1024, .timing = true),
    PARAM_FLAG(L2Slice, host_copies, "false", "Copies from the host leave their lines here", .timing = true),
    CACHE_ENABLED_ROW(L2Slice),
    PARAM(L2Slice, bypass_delay, "1", "cycles", "From accepting a request that bypasses to sending it on",
          .min = 1, .max = 4096, .converts = true),
    {.kind = FIELD_PARAM,
     .type = TYPE_U32,
     .name = "bypass",
     .initial = "false",
     .unit = "flag",
     .flag = true,
     .knob = true,
     .doc = "Requests may go straight to memory: those of bypass_classes, bypass_rate, and what policies say",
     FIELD_AT(L2Slice, bypass)},
    PARAM(L2Slice, bypass_classes, "0", "classes", "Classes that bypass, but for atomics: bit n for class n",
          .knob = true),
    PARAM(L2Slice, allocate_classes, "0xffffffff", "classes",
          "Classes whose requests may take lines; others that find none are passed on", .knob = true),
    PARAM(L2Slice, bypass_rate, "0", "permille",
          "So many of 1000 requests, drawn at random, bypass; atomics do not", .min = 0, .max = 1000,
          .knob = true),
    PARAM(L2Slice, bypass_seed, "1", "", "Of that draw; each slice has a sequence of its own",
          .timing = true),
    DERIVED(L2Slice, number, "Of this slice among all"),
    DERIVED(L2Slice, bypass_ticks, "bypass_delay in ticks"),
    STATE(L2Slice, bypassing.slots, "Size of the ring of bypassing requests"),
    DERIVED(L2Slice, bypassing.limit, "Requests it may hold"),
    STATE_ARRAY(L2Slice, bypassing.message, bypassing.slots, "Requests that bypass the tags"),
    STATE_ARRAY(L2Slice, bypassing.ready, bypassing.slots, "When each goes on"),
    STATE(L2Slice, bypassing.first, "Oldest of them"),
    STATE(L2Slice, bypassing.count, "How many there are"),
    BYPASSED_ROWS(L2Slice, bypassed, "256"),
    DERIVED(L2Slice, bypassed.hold_mshrs, "Never"),
    STATE(L2Slice, atomic_begun, "The atomic at the tags has the data array"),
    STATE(L2Slice, fill_busy_until, "When the fill port is free"),
    DERIVED(L2Slice, bank_ticks, "bank_busy in ticks"),
    STATE(L2Slice, port_busy_until, "When each port of the bank is free"),
    HOST(L2Slice, map, "The machine's address map"),
    HOST(L2Slice, view, "What this slice's atomics wrote in this quantum"),
    HOST(L2Slice, set_map, "Says which set an address has"),
    HOST(L2Slice, gets, "For which slices of the map requests come"),
    HOST(L2Slice, untimed_requests, "Requests without timing"),
    HOST(L2Slice, passes_atomics, "Atomics are performed further down"),
    HOST(L2Slice, pc_table, "Says which loads bypass"),
    HOST(L2Slice, delays, "Counts how long requests wait"),
    HOST(L2Slice, shadow, "Says whether requests that bypass would have hit"),
    HOST(L2Slice, below_due, "When what is below does something that it may see"),
    HOST(L2Slice, answers_later, "Those above see at the end of a quantum alone what it does"),
    HOST(L2Slice, done_before, "Cycles before this one are done, some ahead of time"),
    PREFETCH_ROWS(L2Slice, prefetches),
    FIELDS_END};

static void call_prefetch(SimObject *object, MethodCall *call) {
    L2Slice *l2 = (L2Slice *)object;
    uint64_t address = (uint64_t)call->argument[0].whole;
    bool lies = !(address >> MAX_ADDRESS_BITS) && address_map_is_placed(l2->map, address);
    bool own = lies && l2_gets(object, address);
    prefetch_ask(&l2->prefetches, call, l2->enabled && class_in(l2->allocate_classes, 0), own);
}

static void call_set_of(SimObject *object, MethodCall *call) {
    call->nothing = !l2_gets(object, (uint64_t)call->argument[0].whole);
    if (!call->nothing) cache_call_set_of(object, call, index_address);
}

static void call_find(SimObject *object, MethodCall *call) {
    call->nothing = !l2_gets(object, (uint64_t)call->argument[0].whole);
    if (!call->nothing) cache_call_find(object, call, index_address);
}

static const Method l2_methods[] = {PREFETCH_METHOD(call_prefetch),
                                    METHODS_BY_ADDRESS(call_set_of, call_find), CACHE_METHODS, METHODS_END};

const Class l2_class = {
    .name = "L2",
    .doc = "Slice of the second-level cache, where atomics are performed, unless others share its addresses",
    .bytes = sizeof(L2Slice),
    .fields = l2_fields,
    .events = l2_events,
    .methods = l2_methods,
    .trace = &cache_trace,
    .build = l2_build,
    .init = l2_init,
    .tick = l2_tick,
    .take_untimed = l2_take_untimed,
    .knobs_set = cache_knobs_set,
    .subscribers_changed = cache_subscribers_changed,
    .commit = l2_commit,
    .commits_first = true,
    .clocks_changed = l2_clocks_changed,
    .settle = cache_settle,
    .is_sound = l2_is_sound,
    .requests_inside = l2_requests,
    .answer_kinds = l2_answer_kinds,
    .answer_kind = l2_answer_kind,
    .answers_awaited = l2_answers_awaited,
    .check = l2_check,
    .report = l2_report,
    .convert = l2_convert,
    .destroy = l2_destroy,
};
REGISTER_CLASS(l2_class);
