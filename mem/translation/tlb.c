/* TLB: requests pass it from `up` to `down` once the page that they touch has an entry. For a page without one it asks for a
 * translation at `walk`; meanwhile what touches the page waits inside, and what touches other pages passes by. It answers
 * requests for translations itself, as a second level for other TLBs.
 *
 * One request a cycle: the oldest whose page has come, else the head of `up`, which is looked up. A lookup takes no time of
 * its own: that is the latency of the wires. A head that cannot go, nor wait inside, holds up what is behind it. */
#include "core/sim/checkpoint/snapshot.h"
#include "core/sim/clocks.h"
#include "core/sim/event.h"
#include "core/sim/method.h"
#include "mem/translation/translation.h"

#include <stdlib.h>
#include <string.h>

enum { NONE = UINT32_MAX, HINTS = 64 };

typedef enum { TLB_MISS, TLB_FILL } TlbEvent;

/* A page that has been asked for. */
typedef struct {
    uint64_t page;        /* its number + 1; 0: none */
    uint64_t since;       /* cycle */
    uint32_t first, last; /* of the requests that wait for it */
    uint32_t requests, unused;
} PageMiss;

/* Why the head of `up` stays there: no room in the link onward, no place inside, no miss free, no room in the link of
 * `walk`. */
typedef enum { GOES, NO_LINK, NO_PLACE, NO_MISS, NO_WALK, HINDRANCES } Hindrance;

typedef struct {
    SimObject obj;
    uint64_t page;
    uint32_t entries, ways, misses, requests;
    uint32_t page_shift, set_ways, sets, unused;
    Port up, down, walk;

    KeptEntry *entry;                        /* entries: set * ways + way; the key is the page's number + 1 */
    PageMiss *miss;                          /* misses                    */
    MemMessage *inside;                      /* requests                 */
    uint32_t *next;                          /* requests: of the same list, or NONE */
    uint32_t free_request;                   /* list of those that may be used */
    uint32_t woken_first, woken_last, woken; /* list of those whose page has come */
    uint64_t lookups;                        /* of KeptEntry.used */
    uint64_t request_free;                   /* first time at which the next request may go or be looked up */
    uint64_t hindered_since;                 /* cycle */
    uint32_t hindrance, held; /* of the head of `up`, of which it has been counted; requests inside */

    uint64_t hits, miss_count, merges, fills, refused_fills, evictions, passed, translations, responses;
    uint64_t miss_cycles;
    uint64_t stalls[HINDRANCES - 1], stall_cycles[HINDRANCES - 1]; /* of each hindrance, from NO_LINK on */

    uint16_t hint[HINTS]; /* where a page was found last */
} Tlb;

_Static_assert(offsetof(Tlb, page) == offsetof(Translator, page), "as translation.c looks at it");

/* ---- Entries ---- */

static inline uint64_t key_of(const Tlb *tlb, const MemMessage *m) {
    return (m->address >> tlb->page_shift) + 1;
}

static inline KeptEntry *set_of(const Tlb *tlb, uint64_t key) {
    return tlb->entry + (key - 1) % tlb->sets * tlb->set_ways;
}

/* The entry of a page; NULL: there is none. */
static KeptEntry *find_entry(Tlb *tlb, uint64_t key) {
    uint16_t *hint = &tlb->hint[key % HINTS];
    if (tlb->entry[*hint].key == key) return &tlb->entry[*hint];
    KeptEntry *set = set_of(tlb, key);
    for (uint32_t way = 0; way < tlb->set_ways; way++)
        if (set[way].key == key) {
            *hint = (uint16_t)(set + way - tlb->entry);
            return set + way;
        }
    return NULL;
}

/* That used last stays as it is: a repeated lookup changes nothing. */
static inline void use_entry(Tlb *tlb, KeptEntry *entry) {
    if (entry->used != tlb->lookups) entry->used = ++tlb->lookups;
}

/* In place of the page of its set that was not used for the longest time, if all ways are taken: then true. */
static bool make_entry(Tlb *tlb, uint64_t key) {
    KeptEntry *victim = kept_victim(set_of(tlb, key), tlb->set_ways);
    bool evicts = victim->key != 0;
    *victim = (KeptEntry){key, ++tlb->lookups};
    return evicts;
}

/* ---- Requests inside ---- */

static PageMiss *find_miss(const Tlb *tlb, uint64_t key) {
    for (uint32_t i = 0; i < tlb->misses; i++)
        if (tlb->miss[i].page == key) return &tlb->miss[i];
    return NULL;
}

static void wait_for(Tlb *tlb, PageMiss *miss, const MemMessage *request) {
    uint32_t place = tlb->free_request;
    tlb->free_request = tlb->next[place];
    tlb->inside[place] = *request;
    tlb->next[place] = NONE;
    if (miss->requests++)
        tlb->next[miss->last] = place;
    else
        miss->first = place;
    miss->last = place;
    tlb->held++;
}

/* All that waits for the page may go, in the order in which it came. */
static void wake(Tlb *tlb, const PageMiss *miss) {
    if (tlb->woken)
        tlb->next[tlb->woken_last] = miss->first;
    else
        tlb->woken_first = miss->first;
    tlb->woken_last = miss->last;
    tlb->woken += miss->requests;
}

static void forget_woken(Tlb *tlb) {
    uint32_t place = tlb->woken_first;
    tlb->woken_first = tlb->next[place];
    tlb->next[place] = tlb->free_request;
    tlb->free_request = place;
    tlb->woken--;
    tlb->held--;
}

/* ---- Onward ---- */

static _Noreturn void has_no_way_down(const Tlb *tlb, const MemMessage *m) {
    user_error(
        "%s.down: expected a wire, for a request that is none for a translation (for 0x%lx, of sm %u), "
        "got none",
        object_path(&tlb->obj), m->address, m->sm);
}

/* Where a request goes whose page has an entry: an answer up, anything else down. */
static inline Link *way_of(const Tlb *tlb, const MemMessage *m) {
    if (mem_is_translation(m)) return tlb->up.send;
    if (!tlb->down.send) has_no_way_down(tlb, m);
    return tlb->down.send;
}

static void send_on(Tlb *tlb, Link *way, const MemMessage *m, uint64_t now) {
    *(MemMessage *)link_send(way, now) = *m;
    if (way == tlb->up.send)
        tlb->translations++;
    else
        tlb->passed++;
    tlb->request_free = now + tlb->obj.period;
}

static void ask_for_page(Tlb *tlb, uint64_t key, const MemMessage *request, uint64_t now) {
    PageMiss *miss = find_miss(tlb, 0);
    *miss = (PageMiss){.page = key, .since = object_cycle(&tlb->obj, now), .first = NONE, .last = NONE};
    *(MemMessage *)link_send(tlb->walk.send, now) = translation_request(request, tlb->page,
                                                                        (uint32_t)(miss - tlb->miss), now);
    tlb->miss_count++;
    wait_for(tlb, miss, request);
    if (object_has_subscriber(&tlb->obj, TLB_MISS))
        event_emit(&tlb->obj, TLB_MISS, request->sm, request->warp, (int64_t)key - 1, request->pc,
                   request->kind == MEM_WRITE);
}

/* ---- Translations ---- */

/* Policies may want the page to take no entry; what waits for it goes on all the same. */
static bool takes_entry(Tlb *tlb, const PageMiss *miss) {
    const MemMessage *first = &tlb->inside[miss->first];
    if (!object_has_subscriber(&tlb->obj, TLB_FILL)) return true;
    return event_ask(&tlb->obj, TLB_FILL, first->sm, first->warp, (int64_t)miss->page - 1, first->pc) != 0;
}

static void take_translation(Tlb *tlb, PageMiss *miss, uint64_t cycle) {
    tlb->fills++;
    tlb->miss_cycles += cycle - miss->since;
    if (takes_entry(tlb, miss))
        tlb->evictions += make_entry(tlb, miss->page);
    else
        tlb->refused_fills++;
    wake(tlb, miss);
    *miss = (PageMiss){0};
}

static void take_translations(Tlb *tlb, uint64_t now) {
    const MemMessage *answer;
    while ((answer = link_peek(tlb->walk.receive, now))) {
        ensure(answer->token < tlb->misses && tlb->miss[answer->token].page);
        take_translation(tlb, &tlb->miss[answer->token], object_cycle(&tlb->obj, now));
        link_pop(tlb->walk.receive, now);
    }
}

/* ---- Requests ---- */

/* Looks the head of `up` up, and does with it what it can. */
static Hindrance look_up(Tlb *tlb, const MemMessage *head, uint64_t now) {
    uint64_t key = key_of(tlb, head);
    KeptEntry *entry = find_entry(tlb, key);
    if (entry) {
        Link *way = way_of(tlb, head);
        if (!link_can_send(way, now)) return NO_LINK;
        use_entry(tlb, entry);
        tlb->hits++;
        send_on(tlb, way, head, now);
        return GOES;
    }
    PageMiss *miss = find_miss(tlb, key);
    if (tlb->free_request == NONE) return NO_PLACE;
    if (miss) {
        wait_for(tlb, miss, head);
        tlb->merges++;
        return GOES;
    }
    if (!find_miss(tlb, 0)) return NO_MISS;
    if (!link_can_send(tlb->walk.send, now)) return NO_WALK;
    ask_for_page(tlb, key, head, now);
    return GOES;
}

static void note_hindrance(Tlb *tlb, Hindrance hindrance, uint64_t now) {
    if (tlb->hindrance) return;
    tlb->hindrance = hindrance;
    tlb->hindered_since = object_cycle(&tlb->obj, now);
    tlb->stalls[hindrance - 1]++;
}

static void end_stall(Tlb *tlb, uint64_t now) {
    if (!tlb->hindrance) return;
    tlb->stall_cycles[tlb->hindrance - 1] += object_cycle(&tlb->obj, now) - tlb->hindered_since;
    tlb->hindrance = GOES;
}

/* When to look at a head again that cannot go; what frees places and misses is a translation, which wakes the TLB. */
static uint64_t time_to_retry(const Tlb *tlb, Hindrance hindrance, const MemMessage *head, uint64_t now) {
    if (hindrance == NO_LINK) return link_space_time(way_of(tlb, head), now);
    return hindrance == NO_WALK ? link_space_time(tlb->walk.send, now) : NEVER;
}

static uint64_t look_up_head(Tlb *tlb, uint64_t now) {
    Link *from = tlb->up.receive;
    const MemMessage *head = link_peek(from, now);
    if (!head) return link_next_ready(from);
    Hindrance hindrance = look_up(tlb, head, now);
    if (hindrance) {
        note_hindrance(tlb, hindrance, now);
        return time_to_retry(tlb, hindrance, head, now);
    }
    end_stall(tlb, now);
    tlb->request_free = now + tlb->obj.period;
    link_pop(from, now);
    return later_of(link_next_ready(from), tlb->request_free);
}

/* Returns when there may be another to move. */
static uint64_t move_requests(Tlb *tlb, uint64_t now) {
    if (now < tlb->request_free) return tlb->request_free;
    if (!tlb->woken) return look_up_head(tlb, now);
    const MemMessage *oldest = &tlb->inside[tlb->woken_first];
    Link *way = way_of(tlb, oldest);
    if (!link_can_send(way, now)) return link_space_time(way, now);
    send_on(tlb, way, oldest, now);
    forget_woken(tlb);
    return tlb->request_free;
}

/* ---- Responses ---- */

/* They pass as they come. Returns when the next one may. */
static uint64_t move_responses(Tlb *tlb, uint64_t now) {
    Link *from = tlb->down.receive, *to = tlb->up.send;
    const MemMessage *response;
    if (!from) return NEVER;
    while ((response = link_peek(from, now))) {
        if (!link_can_send(to, now)) return link_space_time(to, now);
        *(MemMessage *)link_send(to, now) = *response;
        tlb->responses++;
        link_pop(from, now);
    }
    return link_next_ready(from);
}

static uint64_t tlb_tick(SimObject *object, uint64_t now) {
    Tlb *tlb = (Tlb *)object;
    take_translations(tlb, now);
    uint64_t responses = move_responses(tlb, now), requests = move_requests(tlb, now);
    return earlier_of(earlier_of(requests, responses), link_next_ready(tlb->walk.receive));
}

/* The entry is there at once; the walk warms what is behind. */
static UntimedAnswer take_untimed(SimObject *object, const void *message) {
    Tlb *tlb = (Tlb *)object;
    const MemMessage *request = message;
    uint64_t key = key_of(tlb, request);
    KeptEntry *entry = find_entry(tlb, key);
    if (!entry) {
        MemMessage walk = translation_request(request, tlb->page, 0, 0);
        link_send_untimed(tlb->walk.send, &walk);
        make_entry(tlb, key);
    } else {
        use_entry(tlb, entry);
    }
    if (mem_is_translation(request)) return entry ? UNTIMED_HITS : UNTIMED_MISSES;
    return link_send_untimed(tlb->down.send, request);
}

/* ---- Building, checks ---- */

static void build(SimObject *object) {
    Tlb *tlb = (Tlb *)object;
    tlb->set_ways = tlb->ways ? tlb->ways : tlb->entries;
    if (tlb->entries % tlb->set_ways)
        user_error("%s.ways: expected a divisor of entries = %u, or 0 for all of them, got %u", object->path,
                   tlb->entries, tlb->ways);
    tlb->sets = tlb->entries / tlb->set_ways;
    tlb->page_shift = (uint32_t)__builtin_ctzll(tlb->page);
}

static void init(SimObject *object) {
    Tlb *tlb = (Tlb *)object;
    for (uint32_t i = 0; i < tlb->requests; i++)
        tlb->next[i] = i + 1 < tlb->requests ? i + 1 : NONE;
    translation_check_behind(object, &tlb->walk, tlb->page);
}

/* What was reserved for a cycle stays so. */
static void clocks_changed(SimObject *object, const Clock *was) {
    Tlb *tlb = (Tlb *)object;
    tlb->request_free = clock_moved_edge(object, was, tlb->request_free);
}

static void check(const SimObject *object, bool idle) {
    const Tlb *tlb = (const Tlb *)object;
    uint64_t looked_up = tlb->hits + tlb->miss_count + tlb->merges, went_on = tlb->passed + tlb->translations,
             asked = tlb->miss_count - tlb->fills;
    if (looked_up != link_received(tlb->up.receive) || looked_up != went_on + tlb->held)
        panic("%s: %lu requests came and %lu were looked up; %lu went on and %u wait", object->path,
              link_received(tlb->up.receive), looked_up, went_on, tlb->held);
    if (tlb->responses + tlb->translations != link_sent(tlb->up.send) ||
        (tlb->down.send &&
         (tlb->passed != link_sent(tlb->down.send) || tlb->responses != link_received(tlb->down.receive))))
        panic("%s: %lu requests, %lu responses and %lu translations have passed, not what its links say",
              object->path, tlb->passed, tlb->responses, tlb->translations);
    if (tlb->miss_count != link_sent(tlb->walk.send) || tlb->fills != link_received(tlb->walk.receive))
        panic("%s: %lu translations asked for and %lu taken, not what its links say", object->path,
              tlb->miss_count, tlb->fills);
    for (uint32_t i = 0; i < tlb->misses; i++)
        asked -= tlb->miss[i].page != 0;
    if (asked || (idle && (tlb->held || tlb->miss_count != tlb->fills)))
        panic("%s: %lu pages asked for, %lu came, %u requests wait", object->path, tlb->miss_count,
              tlb->fills, tlb->held);
}

/* Another number of entries, or of sets. */
static bool convert(SimObject *object, const SavedObject *saved, const SnapshotChanges *changes, char *why,
                    size_t why_size) {
    static const char *const rows[] = {"entry", NULL};
    Tlb *tlb = (Tlb *)object;
    size_t bytes = 0;
    (void)changes;
    if (!saved_rows_but(saved, rows, why, why_size)) return false;
    KeptEntry *before = saved_row_copy(saved, "entry", &bytes);
    memset(tlb->entry, 0, tlb->entries * sizeof *tlb->entry);
    for (size_t i = 0; i < bytes / sizeof *before; i++)
        if (before[i].key) kept_take_over(set_of(tlb, before[i].key), tlb->set_ways, &before[i]);
    free(before);
    return true;
}

static void requests_inside(const SimObject *object, RequestVisitor *visit, void *context) {
    const Tlb *tlb = (const Tlb *)object;
    uint32_t place = tlb->woken_first;
    for (uint32_t i = 0; i < tlb->woken; i++, place = tlb->next[place])
        if (!(tlb->inside[place].flags & MEM_POSTED)) visit(context, tlb->up.receive, &tlb->inside[place]);
    for (uint32_t k = 0; k < tlb->misses; k++) {
        place = tlb->miss[k].first;
        for (uint32_t i = 0; i < tlb->miss[k].requests; i++, place = tlb->next[place])
            if (!(tlb->inside[place].flags & MEM_POSTED))
                visit(context, tlb->up.receive, &tlb->inside[place]);
    }
}

/* Requests for translations are its own. */
static const Link *came_by(const SimObject *object, const void *message, uint32_t *depth) {
    (void)depth;
    return mem_is_translation(message) ? NULL : ((const Tlb *)object)->up.receive;
}

static uint32_t answer_kinds(const SimObject *object) {
    return ((const Tlb *)object)->misses;
}

static uint32_t answer_kind(const SimObject *object, const void *message) {
    const Tlb *tlb = (const Tlb *)object;
    const MemMessage *m = message;
    bool fits = mem_is_translation(m) && m->token < tlb->misses && tlb->miss[m->token].page == key_of(tlb, m);
    return fits ? m->token : NO_ANSWER_AWAITED;
}

static void answers_awaited(const SimObject *object, uint32_t *awaited) {
    const Tlb *tlb = (const Tlb *)object;
    for (uint32_t i = 0; i < tlb->misses; i++)
        awaited[i] += tlb->miss[i].page != 0;
}

/* Marks the places of a list; a list that has another end, or a place of another, is unsound. */
static void is_list(const Tlb *tlb, uint8_t *seen, uint32_t first, uint32_t last, uint32_t count) {
    uint32_t place = first, end = first;
    for (uint32_t i = 0; i < count; i++) {
        sound(place < tlb->requests && !seen[place], "%s: a list of %u requests that leads to place %u",
              object_path(&tlb->obj), count, place);
        seen[place] = 1;
        end = place;
        place = tlb->next[place];
    }
    sound(!count || end == last, "%s: a list of %u requests whose last is place %u", object_path(&tlb->obj),
          count, last);
}

static void lists_are_sound(const Tlb *tlb) {
    uint8_t *seen = calloc(tlb->requests, 1);
    uint32_t free_places = 0, held = tlb->woken;
    ensure_memory(seen);
    is_list(tlb, seen, tlb->woken_first, tlb->woken_last, tlb->woken);
    for (uint32_t i = 0; i < tlb->misses; i++) {
        const PageMiss *miss = &tlb->miss[i];
        sound(!miss->page == !miss->requests, "%s: %u requests wait for page %lu", object_path(&tlb->obj),
              miss->requests, miss->page - 1);
        is_list(tlb, seen, miss->first, miss->last, miss->requests);
        held += miss->requests;
    }
    for (uint32_t i = 0; i < tlb->requests; i++)
        if (seen[i]) mem_message_is_sound(object_path(&tlb->obj), &tlb->inside[i]);
    for (uint32_t place = tlb->free_request; place != NONE; place = tlb->next[place], free_places++) {
        sound(place < tlb->requests && !seen[place], "%s: place %u is not free", object_path(&tlb->obj),
              place);
        seen[place] = 1;
    }
    sound(held == tlb->held && held + free_places == tlb->requests, "%s: %u requests inside, %u places free",
          object_path(&tlb->obj), tlb->held, free_places);
    free(seen);
}

static void is_sound(const SimObject *object, bool fits) {
    const Tlb *tlb = (const Tlb *)object;
    if (!fits) return;
    lists_are_sound(tlb);
    sound(tlb->hindrance <= NO_WALK && tlb->hindered_since <= object_cycle(object, object->sim->now),
          "%s: hindrance %u since cycle %lu", object->path, tlb->hindrance, tlb->hindered_since);
    sound(tlb->request_free <= object->sim->now + object->period && tlb->request_free % object->period == 0,
          "%s: free at tick %lu", object->path, tlb->request_free);
    for (uint32_t i = 0; i < tlb->entries; i++)
        sound(tlb->entry[i].used <= tlb->lookups, "%s: an entry used by lookup %lu of %lu", object->path,
              tlb->entry[i].used, tlb->lookups);
    for (uint32_t i = 0; i < tlb->misses; i++)
        sound(tlb->miss[i].since <= object_cycle(object, object->sim->now), "%s: a miss of cycle %lu",
              object->path, tlb->miss[i].since);
}

static void report(const SimObject *object, FILE *out) {
    const Tlb *tlb = (const Tlb *)object;
    for (uint32_t i = 0; i < tlb->misses; i++)
        if (tlb->miss[i].page)
            fprintf(out, "%s: %u requests wait for page 0x%lx since cycle %lu\n", object->path,
                    tlb->miss[i].requests, (tlb->miss[i].page - 1) << tlb->page_shift, tlb->miss[i].since);
    if (tlb->woken)
        fprintf(out, "%s: %u requests whose page has come wait for a link\n", object->path, tlb->woken);
}

static Ratio miss_rate(const SimObject *object) {
    const Tlb *tlb = (const Tlb *)object;
    uint64_t misses = tlb->miss_count + tlb->merges;
    return ratio_of(misses, misses + tlb->hits);
}

static Ratio miss_latency(const SimObject *object) {
    const Tlb *tlb = (const Tlb *)object;
    return ratio_of(tlb->miss_cycles, tlb->fills);
}

static void call_holds(SimObject *object, MethodCall *call) {
    Tlb *tlb = (Tlb *)object;
    uint64_t key = ((uint64_t)call->argument[0].whole >> tlb->page_shift) + 1;
    call->result[0].flag = find_entry(tlb, key) != NULL;
}

static const Method tlb_methods[] = {METHOD("holds", call_holds, "Has the page of the address an entry?",
                                            TAKES(WHOLE_NUMBER("address")), RETURNS(FLAG_VALUE("holds"))),
                                     METHODS_END};

static const Event tlb_events[] = {
    [TLB_MISS] =
        {"miss", "sm, warp, page, pc, write", NULL,
         "A page without an entry has been asked for, by the first request that touches it; page: its "
         "number; write: 1 for a write, else 0"},
    [TLB_FILL] =
        {"fill", "sm, warp, page, pc", &yes_or_no,
         "Does the page that has come take an entry? Arguments of the first request that waits for it; "
         "all of them go on in any case"},
    {0}};

#define STALL(n, why, d)                                                                                     \
    STAT_NAMED(Tlb, stalls[(why)-1], n "_stalls", "requests", "Had to stay at `up`, first because " d)
#define STALL_CYCLES(n, why)                                                                                 \
    STAT_NAMED(Tlb, stall_cycles[(why)-1], n "_stall_cycles", "cycles", "From then until they went")

static const Field tlb_fields[] = {
    BASE(Tlb),
    PAGE_BYTES_PARAM(Tlb),
    PARAM(Tlb, entries, "64", "pages", "Pages whose translation it holds", .min = 1, .max = 65536,
          .converts = true),
    PARAM(Tlb, ways, "0", "entries", "Of a set, of which the entry used longest ago goes; 0: all are one set",
          .max = 65536, .converts = true),
    PARAM(Tlb, misses, "32", "pages", "Most that are asked for at a time", .min = 1, .max = 1024),
    PARAM(Tlb, requests, "64", "requests", "Most that wait inside for their page", .min = 1, .max = 4096),
    DERIVED(Tlb, page_shift, "Bits of an address within a page"),
    DERIVED(Tlb, set_ways, "Entries of a set"),
    DERIVED(Tlb, sets, "Of entries"),
    DERIVED(Tlb, unused, "Padding"),
    PORT(Tlb, up, memory_protocol, ROLE_RESPONDER, "Requests to be translated, or for translations"),
    PORT(Tlb, down, memory_protocol, ROLE_REQUESTER,
         "Where they go then; open where all are for translations", .optional = true),
    PORT(Tlb, walk, memory_protocol, ROLE_REQUESTER, "Where it asks for translations: a TLB or a PageWalker"),
    STATE_ARRAY(Tlb, entry, entries, "Translations"),
    STATE_ARRAY(Tlb, miss, misses, "Pages asked for"),
    STATE_ARRAY(Tlb, inside, requests, "Requests that wait for their page, or to go on"),
    STATE_ARRAY(Tlb, next, requests, "The next of the same list"),
    STATE(Tlb, free_request, "List of free places"),
    STATE(Tlb, woken_first, "List of requests whose page has come"),
    STATE(Tlb, woken_last, "Its last"),
    STATE(Tlb, woken, "How many"),
    STATE(Tlb, lookups, "Number of the last use of an entry"),
    STATE(Tlb, request_free, "First time at which the next request may go"),
    STATE(Tlb, hindrance, "What the head of `up` was counted to lack"),
    STATE(Tlb, hindered_since, "From which cycle on"),
    STATE(Tlb, held, "Requests inside"),
    STAT(Tlb, hits, "requests", "Found their page"),
    STAT_NAMED(Tlb, miss_count, "misses", "requests", "Did not, and asked for it"),
    STAT(Tlb, merges, "requests", "Did not, but it had been asked for"),
    STAT(Tlb, fills, "pages", "Translations that came"),
    STAT(Tlb, refused_fills, "pages", "Of these: took no entry, as policies wanted"),
    STAT(Tlb, evictions, "pages", "Lost their entry to another"),
    STAT(Tlb, passed, "requests", "Passed on"),
    STAT(Tlb, translations, "requests", "Requests for translations that were answered"),
    STAT(Tlb, responses, "messages", "Responses passed up"),
    STAT(Tlb, miss_cycles, "cycles", "From asking for a page until it came, over all pages"),
    STALL("link", NO_LINK, "the link onward was full"),
    STALL_CYCLES("link", NO_LINK),
    STALL("place", NO_PLACE, "`requests` waited inside"),
    STALL_CYCLES("place", NO_PLACE),
    STALL("miss", NO_MISS, "`misses` pages were asked for"),
    STALL_CYCLES("miss", NO_MISS),
    STALL("walk", NO_WALK, "the link of `walk` was full"),
    STALL_CYCLES("walk", NO_WALK),
    FORMULA("miss_rate", miss_rate, "ratio", "Requests that did not find their page, of all"),
    FORMULA("miss_latency", miss_latency, "cycles", "Mean time from asking for a page until it came"),
    HOST(Tlb, hint, "Where a page was found last"),
    FIELDS_END};

const Class tlb_class = {
    .name = "TLB",
    .doc = "Holds requests up until their page's translation is there; answers other TLBs",
    .passes_on = true,
    .bytes = sizeof(Tlb),
    .fields = tlb_fields,
    .events = tlb_events,
    .methods = tlb_methods,
    .build = build,
    .init = init,
    .is_sound = is_sound,
    .requests_inside = requests_inside,
    .came_by = came_by,
    .answer_kinds = answer_kinds,
    .answer_kind = answer_kind,
    .answers_awaited = answers_awaited,
    .tick = tlb_tick,
    .take_untimed = take_untimed,
    .clocks_changed = clocks_changed,
    .convert = convert,
    .check = check,
    .report = report,
};
REGISTER_CLASS(tlb_class);
