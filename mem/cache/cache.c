#include "mem/cache/cache_access.h"

#include "core/sim/clocks.h"
#include "mem/cache/fill.h"
#include "mem/cache/line_bytes.h"
#include "mem/cache/plain_miss.h"
#include "mem/protocol/caches.h"

uint32_t ring_size(uint32_t messages) {
    uint32_t size = 1;
    while (size < messages)
        size *= 2;
    return size;
}

void delay_queue_build(DelayQueue *queue, uint32_t cycles) {
    queue->limit = cycles;
    queue->slots = ring_size(cycles);
}

void cache_build(CacheObject *object, uint32_t pipeline_cycles, uint32_t port_bytes) {
    Cache *c = &object->cache;
    const CacheParameters *p = &c->parameters;
    tag_shape_init(&c->tags.shape, object_path(&object->obj),
                   &(TagGeometry){p->size, p->ways, p->line, p->sectors, p->index, p->index_masks});
    replacement_build(&c->replacement, &object->obj, &c->tags);
    mshr_shape_init(&c->mshr.shape, p->mshrs, p->merges);
    c->mshr.shape.hints = p->allocate == ALLOCATE_ON_MISS; /* a line without reserved sectors has none */
    /* Lines taken at a fill push their victims out whether there is room or not, one per MSHR at most: a fill
     * must not wait for the memory side, which may be waiting for this cache to take fills. */
    uint32_t forced = p->allocate == ALLOCATE_ON_FILL ? p->mshrs : 0;
    c->misses.limit = p->miss_queue;
    c->misses.slots = ring_size(p->miss_queue + forced);
    delay_queue_build(&c->pipeline, pipeline_cycles);
    c->period = object->obj.period;
    c->pipeline_ticks = pipeline_cycles * c->period;
    c->port_mask = port_bytes - 1;
    c->port_shift = (uint64_t)__builtin_ctz(port_bytes);
}

/* Policies. */

static uint32_t sights_of(const CacheObserver *observer) {
    return (observer->accessed || observer->wrote ? SEEN_BY_PART(SEES_ACCESSES) : 0) |
           (observer->written_back ? SEEN_BY_PART(SEES_WRITE_BACKS) : 0) |
           (observer->missed ? SEEN_BY_PART(SEES_MISSES) : 0) |
           (observer->evicted || observer->replaced || observer->insertion_depth
                ? SEEN_BY_PART(SEES_REPLACEMENTS)
                : 0) |
           (observer->filled ? SEEN_BY_PART(SEES_FILLS) : 0) |
           (observer->answered ? SEEN_BY_PART(SEES_ANSWERS) : 0);
}

void cache_observe(Cache *c, CacheObserver *observer) {
    if (observer->insertion_depth && c->replacement.family)
        user_error(
            "%s.replacement: expected lru, since a part says where in its order lines enter, got another",
            object_path(cache_owner(c)));
    observer->next = c->observers;
    c->observers = observer;
    cache_owner(c)->subscribed |= sights_of(observer);
}

void cache_observe_no_more(Cache *c, const CacheObserver *observer) {
    CacheObserver **place = &c->observers;
    while (*place != observer)
        place = &(*place)->next;
    *place = observer->next;
    cache_owner(c)->subscribed &= ~SEEN_BY_PARTS;
    for (const CacheObserver *o = c->observers; o; o = o->next)
        cache_owner(c)->subscribed |= sights_of(o);
}

/* Of at most 2^31 lines; -1: none. */
static int64_t way_of(const Cache *c, uint32_t line) {
    return line == NO_LINE ? -1 : (int64_t)(line % c->tags.shape.ways);
}

void cache_emit(const Cache *c, const MemMessage *m, const Lookup *at, Result result) {
    static const CacheEvent events[] = {CACHE_HIT, CACHE_MISS, CACHE_MERGE};
    for (CacheObserver *o = c->observers; o; o = o->next)
        if (o->accessed) o->accessed(o, m, result);
    if (result == RESULT_BYPASS) return;
    bool writes = m->kind != MEM_READ && at->line != NO_LINE;
    for (CacheObserver *o = writes ? c->observers : NULL; o; o = o->next)
        if (o->wrote) o->wrote(o, m, at->line);
    object_emit(cache_owner(c), events[result], m->sm, m->warp, (int64_t)m->address, m->pc,
                m->kind != MEM_READ, m->class_number, at->set, way_of(c, at->line));
}

COLD static void show_miss(const Cache *c, const MemMessage *m, uint64_t line_address) {
    for (CacheObserver *o = c->observers; o; o = o->next)
        if (o->missed) o->missed(o, m, line_address);
}

void cache_show_answer(const Cache *c, const MemMessage *m, uint64_t now) {
    for (CacheObserver *o = c->observers; o; o = o->next)
        if (o->answered) o->answered(o, m, now);
}

void cache_emit_fill(const Cache *c, const MemMessage *m, uint32_t set, uint32_t line) {
    for (CacheObserver *o = c->observers; o; o = o->next)
        if (o->filled) o->filled(o, m, line);
    object_emit(cache_owner(c), CACHE_FILL, m->sm, m->warp, (int64_t)m->address, (m->flags & MEM_HIT) != 0,
                set, way_of(c, line), m->pc, m->class_number);
}

static bool victim_is_legal(const int64_t *arguments, int64_t way) {
    return way == -1 || (way >= 0 && way < 64 && (uint64_t)arguments[1] >> way & 1);
}

const Question cache_victim_question = {"-1, those of `ways`", victim_is_legal};

/* Of more than 64 ways, which do not fit into a set, policies choose none. An atomic is performed in its line, which it
 * takes in any case. */
uint32_t cache_ask_victim(const Cache *c, const MemMessage *m, uint32_t set, uint32_t candidate) {
    uint32_t ways = c->tags.shape.ways, first = set * ways;
    if (ways > 64) return candidate;
    uint64_t replaceable = replacement_eligible(&c->replacement, &c->tags, m, set);
    int64_t way = event_ask(cache_owner(c), CACHE_ASK_VICTIM, set, (int64_t)replaceable, candidate - first,
                            m->sm, m->warp, (int64_t)m->address, m->pc, m->class_number);
    if (way == -1 && m->kind != MEM_ATOMIC) return NO_LINE;
    return way >= 0 && way < ways && replaceable >> way & 1 ? first + (uint32_t)way : candidate;
}

/* The same for the request at the tags. That it passes the cache by is kept: there may be no room for that yet. */
static COLD uint32_t ask_victim_once(const Cache *c, const MemMessage *m, uint32_t set, uint32_t candidate) {
    MemMessage *request = (MemMessage *)(uintptr_t)m; /* as in cache_ask_bypass() */
    if (request->flags & MEM_BYPASSED) return NO_LINE;
    uint32_t line = cache_ask_victim(c, m, set, candidate);
    if (line == NO_LINE) request->flags |= MEM_BYPASSED;
    return line;
}

static bool position_is_legal(const int64_t *arguments, int64_t position) {
    return position >= 0 && position <= arguments[1];
}

const Question cache_insertion_question = {"whole numbers from 0 to `last`", position_is_legal};

/* A line that has been replaced. */
typedef struct {
    int64_t address; /* -1: there was none */
    bool dirty;
    uint32_t uses;
} GoneLine;

/* The line of `m` has just entered, where the cache would have it. */
static COLD void ask_for_insertion(Cache *c, const MemMessage *m, uint32_t set, uint32_t line,
                                   const GoneLine *gone) {
    uint32_t last = replacement_last_position(&c->replacement, &c->tags);
    int64_t position = event_ask(cache_owner(c), CACHE_ASK_INSERTION, set, last, m->sm, m->warp,
                                 (int64_t)m->address, m->pc, m->kind != MEM_READ, m->class_number,
                                 mem_is_prefetch(m), gone->address, gone->dirty, gone->uses);
    if (position >= 0 && position <= last)
        replacement_place(&c->replacement, &c->tags, line, (uint32_t)position);
}

bool cache_any_is_dirty(const Cache *c, uint32_t set) {
    uint32_t ways = c->tags.shape.ways;
    for (uint32_t line = set * ways; line < (set + 1) * ways; line++)
        if (!c->tags.line[line].reserved && cache_is_dirty(c, line)) return true;
    return false;
}

bool cache_ask_bypass(const Cache *c, const MemMessage *m) {
    MemMessage *request = (MemMessage *)(uintptr_t)m; /* which only its queue may change, and this answer */
    if (request->flags & MEM_ASKED) return request->flags & MEM_BYPASSED;
    bool bypass = event_ask(cache_owner(c), CACHE_ASK_BYPASS, m->sm, m->warp, (int64_t)m->address, m->pc,
                            m->class_number) > 0;
    request->flags |= (uint8_t)(MEM_ASKED | (bypass ? MEM_BYPASSED : 0));
    return bypass;
}

/* Lines. */

/* Those of a line that are dirty, as a message names them; 0: all of its segment. */
static uint8_t sectors_to_name(const TagShape *shape, uint64_t address, uint32_t dirty,
                               uint32_t segment_bytes) {
    uint32_t sectors = 0, sector_bytes = 1u << shape->sector_shift;
    if ((uint32_t)__builtin_popcount(dirty) * sector_bytes == segment_bytes) return 0;
    for (; dirty; dirty &= dirty - 1)
        sectors |= mem_sectors_between(address + (uint64_t)__builtin_ctz(dirty) * sector_bytes, sector_bytes);
    return (uint8_t)sectors;
}

MemMessage cache_write_back_message(const Cache *c, uint32_t line, uint64_t now) {
    const TagShape *shape = &c->tags.shape;
    const TagLine *l = &c->tags.line[line];
    uint64_t address = tag_address(&c->tags, line);
    uint32_t first = (uint32_t)__builtin_ctz(l->dirty) << shape->sector_shift;
    uint32_t last = (31u - (uint32_t)__builtin_clz(l->dirty)) << shape->sector_shift;
    uint32_t bytes = 1u << shape->sector_shift;
    while ((first ^ last) & -bytes)
        bytes *= 2;
    ByteMask mask = c->written[line] & bytes_of_sectors(shape, address, l->dirty);
    return (MemMessage){.address = address + (first & -bytes),
                        .byte_mask = {(uint64_t)mask, (uint64_t)(mask >> 64)},
                        .issued = now,
                        .bytes = (uint8_t)bytes,
                        .sectors = sectors_to_name(shape, address, l->dirty, bytes),
                        .sm = l->sm,
                        .warp = l->warp,
                        .kind = MEM_WRITE,
                        .flags = MEM_POSTED,
                        .class_number = l->class_number};
}

COLD static void show_write_back(const Cache *c, MemMessage *m, uint32_t line) {
    for (CacheObserver *o = c->observers; o; o = o->next)
        if (o->written_back) o->written_back(o, m, line);
}

void cache_write_back_dirty(Cache *c, uint32_t line, uint64_t now) {
    cache_forget_failed_try(c);
    MemMessage *message = cache_send_down(c, 0);
    *message = cache_write_back_message(c, line, now);
    if (__builtin_expect(cache_owner(c)->subscribed & WRITE_BACKS_SUBSCRIBED, 0))
        show_write_back(c, message, line);
    cache_use_data_port(c, mem_data_bytes(message), now);
    c->stats.write_backs++;
    c->tags.line[line].dirty = 0;
    c->written[line] = 0;
}

void cache_drop(Cache *c, uint32_t line, uint64_t now) {
    cache_forget_failed_try(c);
    cache_write_back(c, line, now);
    tag_invalidate(&c->tags, line);
}

static inline __attribute__((always_inline)) void replace(Cache *c, uint32_t line, const Lookup *at,
                                                          const MemMessage *m, uint64_t now) {
    if (c->tags.tag[line]) c->stats.evictions++;
    cache_write_back(c, line, now);
    debug_ensure(c->written[line] == 0); /* that of a dirty line went with the write-back */
    cache_install(c, line, at->line_address, m);
}

static uint32_t insertion_depth(const Cache *c, uint64_t line_address) {
    uint32_t depth = 0;
    for (CacheObserver *o = c->observers; o; o = o->next)
        if (o->insertion_depth) depth = o->insertion_depth(o, line_address);
    return depth;
}

/* While somebody has subscribed, or a part looks on. */
static __attribute__((noinline)) void replace_and_emit(Cache *c, uint32_t line, const Lookup *at,
                                                       const MemMessage *m, uint64_t now) {
    const TagLine *l = &c->tags.line[line];
    uint64_t address = tag_address(&c->tags, line);
    bool evicts = c->tags.tag[line] != 0;
    uint32_t depth = insertion_depth(c, at->line_address);
    LineHistory history = replacement_history(&c->replacement, line);
    GoneLine gone = evicts ? (GoneLine){(int64_t)address, l->dirty != 0, history.uses}
                           : (GoneLine){.address = -1};
    if (evicts)
        object_emit(cache_owner(c), CACHE_EVICT, l->sm, l->warp, (int64_t)address, l->class_number, at->set,
                    way_of(c, line), gone.dirty, history.pc, history.uses);
    for (CacheObserver *o = c->observers; o; o = o->next) {
        if (o->evicted && evicts) o->evicted(o, line);
        if (o->replaced) o->replaced(o, line);
    }
    replace(c, line, at, m, now);
    if (depth) tag_lower(&c->tags, line, depth);
    if (object_has_subscriber(cache_owner(c), CACHE_ASK_INSERTION))
        ask_for_insertion(c, m, at->set, line, &gone);
}

static inline __attribute__((always_inline)) void replace_line(Cache *c, uint32_t line, const Lookup *at,
                                                               const MemMessage *m, uint64_t now) {
    if (__builtin_expect(cache_owner(c)->subscribed & REPLACEMENTS_SUBSCRIBED, 0))
        replace_and_emit(c, line, at, m, now);
    else
        replace(c, line, at, m, now);
}

void cache_replace(Cache *c, uint32_t line, const Lookup *at, const MemMessage *m, uint64_t now) {
    replace_line(c, line, at, m, now);
}

void cache_reach_line_untold(Cache *c, const MemMessage *m, uint32_t line, bool found) {
    tag_use(&c->tags, line, m->class_number);
    if (c->tags.order.bent & ORDER_WATCHED) replacement_used(&c->replacement, &c->tags, line, found);
}

const Question cache_promotion_question = {"whole numbers from 0 to `last`", position_is_legal};

/* A use moves the line as it would, and then to where policies want it. */
static COLD void use_and_ask(Cache *c, const MemMessage *m, uint32_t line) {
    uint32_t last = replacement_last_position(&c->replacement, &c->tags);
    uint32_t at = replacement_position(&c->replacement, &c->tags, line);
    cache_reach_line_untold(c, m, line, true);
    int64_t position = event_ask(cache_owner(c), CACHE_ASK_PROMOTION, line / c->tags.shape.ways, last, at,
                                 way_of(c, line), m->sm, m->warp, (int64_t)m->address, m->pc,
                                 m->kind != MEM_READ, m->class_number);
    if (position >= 0 && position <= last)
        replacement_place(&c->replacement, &c->tags, line, (uint32_t)position);
}

void cache_use_watched_line(Cache *c, const MemMessage *m, uint32_t line, bool found) {
    if (found && c->tags.order.bent & ORDER_ASKED)
        use_and_ask(c, m, line);
    else
        cache_reach_line_untold(c, m, line, found);
}

/* Misses. */

/* What an access that finds sectors absent is going to do, and what that takes. */
typedef struct {
    uint32_t absent;  /* sectors of the request that are not there    */
    uint32_t missing; /* of those: needed from below                  */
    uint32_t fetched; /* of those: not yet in flight                  */
    uint32_t entry;   /* the line's MSHR, or NO_MSHR                  */
    uint32_t victim;  /* the line to take, or NO_LINE for none        */
    bool waits;       /* the request is answered when `missing` come  */
} MissPlan;

static Stall what_is_short(const Cache *c, const MissPlan *plan, uint32_t messages) {
    if (plan->missing && plan->entry == NO_MSHR && mshr_full(&c->mshr)) return STALL_MSHR_ENTRY;
    if (plan->waits && plan->entry != NO_MSHR && !mshr_can_merge(&c->mshr, plan->entry))
        return STALL_MSHR_MERGE;
    if (messages > cache_miss_queue_room(c)) return STALL_MISS_QUEUE;
    return STALL_NONE;
}

static inline uint32_t candidate_for(const Cache *c, const MemMessage *m, const Lookup *at) {
    debug_ensure(!at->victim || at->victim == cache_candidate(c, m, at->set) + 1);
    return at->victim ? at->victim - 1 : cache_candidate(c, m, at->set);
}

static inline __attribute__((always_inline)) void take_line(Cache *c, const MemMessage *m, Lookup *at,
                                                            uint32_t victim, bool found, uint64_t now) {
    if (victim != NO_LINE) {
        replace_line(c, victim, at, m, now);
        at->line = victim;
    } else if (at->line != NO_LINE) {
        cache_reach_line(c, m, at->line, found);
    }
}

static inline __attribute__((always_inline)) void register_miss(Cache *c, const MemMessage *m,
                                                                const Lookup *at, const MissPlan *plan) {
    uint32_t entry = plan->entry;
    if (entry == NO_MSHR) {
        if (!plan->missing) return;
        entry = mshr_open(&c->mshr, at->line_address, at->set, at->line);
        audit_enter(cache_owner(c), QUEUE_MSHRS, entry);
    }
    MshrEntry *e = &c->mshr.entry[entry];
    e->line = at->line;
    e->pending |= plan->fetched;
    if (at->line != NO_LINE) c->tags.line[at->line].reserved = (uint8_t)e->pending;
    if (plan->fetched) cache_queue_fetch(c, m, at, entry, plan->fetched);
    if (!plan->waits) return;
    mshr_wait(&c->mshr, entry, m, plan->missing);
    if (!plan->fetched) c->mshr.request[mshr_last_slot(&c->mshr, entry)].flags |= MEM_FOUND;
    audit_enter(cache_owner(c), QUEUE_WAITING, mshr_last_slot(&c->mshr, entry));
}

/* `covered`: absent sectors that need not be fetched. `result`: NULL for a fetch that nobody asked for, which is
 * neither counted nor shown, and does not block what stands at the tags. */
static inline __attribute__((always_inline)) Stall miss(Cache *c, const MemMessage *m, Lookup *at,
                                                        uint32_t covered, bool allocate, bool waits,
                                                        uint64_t now, Result *result) {
    uint32_t valid = at->line == NO_LINE ? 0 : c->tags.line[at->line].valid;
    uint32_t absent = at->sectors & ~valid, entry = cache_mshr_of(c, at);
    uint32_t pending = entry == NO_MSHR ? 0 : c->mshr.entry[entry].pending;
    MissPlan plan = {.absent = absent,
                     .missing = absent & ~covered,
                     .fetched = absent & ~covered & ~pending,
                     .entry = entry,
                     .victim = NO_LINE,
                     .waits = waits};
    if (allocate && at->line == NO_LINE) {
        plan.victim = candidate_for(c, m, at);
        if (plan.victim == NO_LINE) return result ? cache_fail(c, at, STALL_LINE, 0) : STALL_LINE;
    }
    uint32_t messages = (plan.fetched ? 1u : 0u) + cache_victim_is_dirty(c, at->set, plan.victim);
    Stall stall = what_is_short(c, &plan, messages);
    if (stall) return result ? cache_fail_and_remember(c, m, at, plan.victim, stall, messages) : stall;
    if (cache_policy_replaces(c, plan.victim)) {
        plan.victim = ask_victim_once(c, m, at->set, plan.victim);
        if (plan.victim == NO_LINE) return PASSES_BY;
    }
    Result became = absent & ~pending ? RESULT_MISS : RESULT_MERGE;
    bool shown = __builtin_expect(cache_owner(c)->subscribed & MISSES_SUBSCRIBED, 0);
    if (shown && result && became == RESULT_MISS) show_miss(c, m, at->line_address);
    take_line(c, m, at, plan.victim, result && became == RESULT_MERGE, now);
    register_miss(c, m, at, &plan);
    if (!result) return STALL_NONE;
    *result = became;
    cache_count(c, m, at, became);
    return STALL_NONE;
}

Stall cache_miss(Cache *c, const MemMessage *m, Lookup *at, bool allocate, uint64_t now) {
    Result result;
    return miss(c, m, at, 0, allocate, true, now, &result);
}

COLD Stall cache_fetch_ahead(Cache *c, const MemMessage *m, Lookup *at, uint64_t now) {
    return miss(c, m, at, 0, c->parameters.allocate == ALLOCATE_ON_MISS, false, now, NULL);
}

/* Writes. */

static Stall hit_or_allocate(Cache *c, const MemMessage *m, Lookup *at, uint32_t covered, bool hit,
                             uint64_t now, Result *result) {
    if (!hit) return miss(c, m, at, covered, true, false, now, result);
    *result = RESULT_HIT;
    cache_count(c, m, at, RESULT_HIT);
    cache_use_line(c, m, at->line);
    return STALL_NONE;
}

Stall cache_write(Cache *c, const MemMessage *m, Lookup *at, bool lazy, uint64_t now, Result *result) {
    const TagShape *shape = &c->tags.shape;
    TagLine none = {0}, *line = at->line == NO_LINE ? &none : &c->tags.line[at->line];
    ByteMask written = bytes_written_by(m) | (at->line == NO_LINE ? 0 : c->written[at->line]);
    /* A sector in flight is complete when it comes, not before. */
    uint32_t open = at->sectors & ~(uint32_t)(line->valid | line->reserved);
    uint32_t complete = complete_sectors(shape, at->line_address, open, written);
    uint32_t known = line->valid | (lazy ? line->dirty : 0u);
    bool hit = at->line != NO_LINE && (at->sectors & ~known) == 0;
    Stall stall = hit_or_allocate(c, m, at, lazy ? at->sectors : complete, hit, now, result);
    if (stall) return stall;
    line = &c->tags.line[at->line];
    line->valid |= (uint8_t)complete;
    line->dirty |= (uint8_t)at->sectors;
    c->written[at->line] = written;
    if (hit) cache_use_data_port(c, mem_data_bytes(m), now);
    return STALL_NONE;
}

void cache_modify(Cache *c, const MemMessage *m, const Lookup *at) {
    c->tags.line[at->line].dirty |= (uint8_t)at->sectors;
    c->written[at->line] |= bytes_meant_by(m);
}

/* Fills. */

/* A line for an MSHR that was opened without one. When all ways of the set are reserved the data is not
 * kept. */
void cache_take_line_at_fill(Cache *c, MshrEntry *e, const MemMessage *m, uint64_t now) {
    Lookup at = {.line_address = e->address, .set = e->set};
    e->line = tag_find(&c->tags, e->set, e->address);
    if (e->line == NO_LINE) {
        e->line = cache_victim(c, m, e->set, cache_candidate(c, m, e->set));
        if (e->line == NO_LINE) return;
        cache_replace(c, e->line, &at, m, now);
    }
    c->tags.line[e->line].reserved = (uint8_t)e->pending;
}

void cache_send_oldest_woken(Cache *c, Link *to_cpu, uint64_t now) {
    const MemMessage *m = mshr_woken(&c->mshr);
    if (!link_can_send(to_cpu, now)) return;
    uint32_t slot = c->mshr.woken[c->mshr.woken_first], entry = mshr_entry_of(&c->mshr.shape, slot);
    cache_respond(to_cpu, m, 0, now);
    mshr_pop_woken(&c->mshr);
    audit_leave(cache_owner(c), QUEUE_WAITING, slot);
    if (mshr_is_free(&c->mshr, entry)) audit_leave(cache_owner(c), QUEUE_MSHRS, entry);
}

void cache_send_oldest_sector(Cache *c, Link *to_mem, uint64_t now) {
    MissQueue *queue = &c->misses;
    uint32_t slot = queue->first, sectors = queue->sectors[slot];
    MemMessage sector = queue->message[slot];
    sector.address += (uint64_t)__builtin_ctz(sectors) << c->tags.shape.sector_shift;
    c->stats.fetches++;
    queue->sectors[slot] = sectors &= sectors - 1;
    if (!link_hand_over(to_mem, &sector, now)) *(MemMessage *)link_send_checked(to_mem, now) = sector;
    if (sectors) return;
    queue->count--;
    queue->first = (slot + 1) & (queue->slots - 1);
    audit_leave(cache_owner(c), QUEUE_MISSES, slot);
}

/* The pipeline in front of the tags. */

void cache_refuse_request(const CacheObject *object, const MemMessage *m) {
    user_error("%s: expected requests inside one line of %u B, got %u B at 0x%lx; a larger `line` of the "
               "cache or smaller segments of the requester help",
               object_path(&object->obj), object->cache.tags.shape.line_bytes, m->bytes, m->address);
}

void cache_accept_ahead(CacheObject *object, uint64_t now) {
    Cache *c = &object->cache;
    Link *from = object->cpu.receive;
    uint64_t until = object_unseen_until(&object->obj), time;
    while (c->pipeline.count < c->pipeline.limit &&
           (time = later_of(link_next_ready(from), later_of(now, c->accepts_from))) < until) {
        cache_accept_request(object, link_peek(from, time), time);
        c->accepts_from = time + c->period;
    }
}

static void count_stall_until(Cache *c, uint64_t cycle) {
    if (!c->stall) return;
    c->stats.stall_cycles[c->stall - 1] += cycle - c->stall_since;
    c->stall_since = cycle;
}

static void begin_stall(CacheObject *object, const MemMessage *m, Stall stall, uint64_t cycle) {
    Cache *c = &object->cache;
    c->stall = stall;
    c->stall_since = cycle;
    c->stats.stall_events[stall - 1]++;
    if (stall <= STALL_MISS_QUEUE)
        object_emit(&object->obj, CACHE_RESERVATION_FAIL, m->sm, m->warp, (int64_t)m->address, stall, m->pc,
                    m->kind != MEM_READ, m->class_number);
}

void cache_change_stall(CacheObject *object, const MemMessage *m, Stall stall, uint64_t now) {
    Cache *c = &object->cache;
    uint64_t cycle = object_cycle(&object->obj, now);
    count_stall_until(c, cycle);
    c->stall = STALL_NONE;
    if (stall) begin_stall(object, m, stall, cycle);
}

/* Class functions. */

static const CacheObject *cache_object(const SimObject *object) {
    return (const CacheObject *)object;
}

void delay_queue_clocks_changed(const SimObject *object, DelayQueue *queue, const Clock *was) {
    for (uint32_t i = 0; i < queue->count; i++) {
        uint64_t *ready = &queue->ready[(queue->first + i) & (queue->slots - 1)];
        *ready = clock_moved_edge(object, was, *ready);
    }
}

void cache_clocks_changed(CacheObject *object, const Clock *was) {
    Cache *c = &object->cache;
    c->pipeline_ticks = c->pipeline_ticks / c->period * object->obj.period;
    c->period = object->obj.period;
    c->data_busy_until = clock_moved_edge(&object->obj, was, c->data_busy_until);
    c->accepts_from = clock_moved_edge(&object->obj, was, c->accepts_from);
    delay_queue_clocks_changed(&object->obj, &c->pipeline, was);
}

void cache_settle(SimObject *object, uint64_t now) {
    Cache *c = &((CacheObject *)object)->cache;
    count_stall_until(c, later_of(object_cycle(object, now), c->stall_since));
}

/* For the audit: what each queue says that it holds. */
static uint64_t queue_length(const SimObject *object, uint32_t queue) {
    const Cache *c = &cache_object(object)->cache;
    switch ((CacheQueue)queue) {
    case QUEUE_PIPELINE: return c->pipeline.count;
    case QUEUE_MISSES: return c->misses.count;
    case QUEUE_MSHRS: return c->mshr.used - c->mshr.lent - c->mshr.held;
    case QUEUE_WAITING: return cache_requests_in_mshrs(c);
    case QUEUE_BYPASSED:
    case QUEUE_REEXECUTION:
    case QUEUE_PRIORITIZATION:
    case QUEUE_PREFETCHES:
    case QUEUE_BYPASSING: break; /* the class's own */
    }
    return 0;
}

void cache_subscribers_changed(SimObject *object) {
    Cache *c = &((CacheObject *)object)->cache;
    replacement_watch(&c->replacement, &c->tags);
    if (object_has_subscriber(object, CACHE_ASK_PROMOTION)) c->tags.order.bent |= ORDER_ASKED;
}

bool cache_knobs_set(SimObject *object) {
    Cache *c = &((CacheObject *)object)->cache;
    cache_subscribers_changed(object);
    cache_forget_failed_try(c);
    return true;
}

void cache_set_depth(SimObject *object, uint32_t class_number, uint32_t depth) {
    tag_set_depth(&((CacheObject *)object)->cache.tags, class_number, depth);
}

void cache_set_keep(SimObject *object, uint32_t class_number, uint32_t keep) {
    tag_set_keep(&((CacheObject *)object)->cache.tags, class_number, keep);
    cache_knobs_set(object);
}

static void read_classes(const SimObject *object, Cache *c) {
    const CacheParameters *p = &c->parameters;
    class_table_read(&c->tags.order.depth, object, "insertion_position", p->insertion_position, LEAST_RECENT);
    class_table_read(&c->tags.order.keep, object, "retention_priority", p->retention_priority, UINT8_MAX);
    c->tags.order.keep_uses = p->retention_uses;
    c->tags.order.bent = *p->insertion_position || *p->retention_priority ? ORDER_BY_CLASS : 0;
    if (c->tags.order.bent && c->replacement.family)
        user_error(
            "%s.replacement: expected lru, whose order insertion_position and retention_priority bend, "
            "got another",
            object_path(object));
}

void cache_init(SimObject *object) {
    Cache *c = &((CacheObject *)object)->cache;
    read_classes(object, c);
    replacement_init(&c->replacement, object, &c->tags);
    cache_subscribers_changed(object);
    audit_queue(object, QUEUE_PIPELINE, "requests in front of the tags", QUEUE_FIFO, c->pipeline.slots,
                queue_length);
    audit_queue(object, QUEUE_MISSES, "messages for the memory side", QUEUE_FIFO, c->misses.slots,
                queue_length);
    audit_queue(object, QUEUE_MSHRS, "MSHRs", QUEUE_TABLE, c->mshr.shape.entries, queue_length);
    audit_queue(object, QUEUE_WAITING, "requests in MSHRs", QUEUE_TABLE, mshr_most_slots(&c->mshr.shape),
                queue_length);
}

static const char *const stall_names[STALLS] = {"its time at the tags",
                                                "a line of its set (all ways are reserved)",
                                                "a free MSHR",
                                                "a place in its line's MSHR",
                                                "the miss queue",
                                                "an earlier bypassed request to return",
                                                "the response link",
                                                "the data array",
                                                "its warp's misses to be allowed",
                                                "a place in the re-execution queue",
                                                "an older instruction of its warp"};

const char *cache_stall_name(Stall stall) {
    return stall_names[stall];
}

void cache_report(const SimObject *object, FILE *out) {
    static const char *const kinds[] = {"read", "write", "atomic"};
    const Cache *c = &cache_object(object)->cache;
    if (c->mshr.used || c->misses.count)
        fprintf(out, "%s: %lu of %u MSHRs in use, %u answers waiting, %u messages for the memory side\n",
                object_path(object), c->mshr.used, c->mshr.shape.entries, c->mshr.woken_count,
                c->misses.count);
    if (!c->pipeline.count) return;
    const MemMessage *m = &c->pipeline.message[c->pipeline.first];
    fprintf(out,
            "%s: %u requests in front of the tags; the first, a %s of %u B at 0x%lx by sm %u warp %u, waits "
            "for %s\n",
            object_path(object), c->pipeline.count, kinds[m->kind], m->bytes, m->address, m->sm, m->warp,
            stall_names[c->stall]);
}

Ratio cache_miss_rate(const SimObject *object) {
    const CacheStats *stats = &cache_object(object)->cache.stats;
    return ratio_of(stats->results[RESULT_MISS], cache_looked_up(stats));
}

Ratio cache_miss_or_merge_rate(const SimObject *object) {
    const CacheStats *stats = &cache_object(object)->cache.stats;
    return ratio_of(stats->results[RESULT_MISS] + stats->results[RESULT_MERGE], cache_looked_up(stats));
}

Ratio cache_read_miss_rate(const SimObject *object) {
    const uint64_t *reads = cache_object(object)->cache.stats.stream_results[STREAM_READ];
    return ratio_of(reads[RESULT_MISS], reads[RESULT_HIT] + reads[RESULT_MISS] + reads[RESULT_MERGE]);
}
