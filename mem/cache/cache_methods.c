#include "mem/cache/cache_methods.h"

#include "mem/cache/cache_access.h"
#include "mem/protocol/caches.h"

static Cache *cache_of(SimObject *object) {
    return &((CacheObject *)object)->cache;
}

/* Of a choice that does not go by the order of use. */
static bool order_is_lru(SimObject *object, MethodCall *call) {
    bool lru = !cache_of(object)->replacement.family;
    if (!lru) method_refuse(call, "expected replacement = lru, whose order it bends, got another");
    return lru;
}

void cache_call_set_depth(SimObject *object, MethodCall *call) {
    if (!order_is_lru(object, call)) return;
    cache_set_depth(object, (uint32_t)call->argument[0].whole, (uint32_t)call->argument[1].whole);
}

void cache_call_set_keep(SimObject *object, MethodCall *call) {
    if (!order_is_lru(object, call)) return;
    cache_set_keep(object, (uint32_t)call->argument[0].whole, (uint32_t)call->argument[1].whole);
}

/* A request that waits for a line may get one now. */
void cache_call_set_ways(SimObject *object, MethodCall *call) {
    Cache *c = cache_of(object);
    uint64_t number = (uint64_t)call->argument[0].whole, ways = call->argument[1].set;
    if (!c->replacement.partitions)
        method_refuse(call, "expected partition_by to be class or sm, got none");
    else if (!replacement_set_ways(&c->replacement, &c->tags, number, ways))
        method_refuse(call, "expected a number from 0 to %u and some of %u ways, got %lu and 0x%lx",
                      c->replacement.partitions - 1, c->tags.shape.ways, number, ways);
    else if (object->class->knobs_set(object))
        object_wake(object);
}

/* The view of a line. */

void cache_call_sets(SimObject *object, MethodCall *call) {
    const TagShape *shape = &cache_of(object)->tags.shape;
    call->result[0].whole = shape->sets;
    call->result[1].whole = shape->ways;
}

void cache_call_set_of(SimObject *object, MethodCall *call, CacheIndex *index) {
    uint64_t address = (uint64_t)call->argument[0].whole;
    call->result[0].whole = tag_set(&cache_of(object)->tags.shape, index(object, address));
}

void cache_call_find(SimObject *object, MethodCall *call, CacheIndex *index) {
    const TagArray *tags = &cache_of(object)->tags;
    uint64_t address = (uint64_t)call->argument[0].whole;
    uint32_t set = tag_set(&tags->shape, index(object, address));
    uint32_t line = tag_find(tags, set, tag_line_address(&tags->shape, address));
    call->nothing = line == NO_LINE;
    call->result[0].whole = set;
    call->result[1].whole = line - set * tags->shape.ways;
}

/* The first line of the set that the first argument names; NO_LINE, and it is refused, when the cache has no such set. */
static uint32_t first_line(SimObject *object, MethodCall *call) {
    const TagShape *shape = &cache_of(object)->tags.shape;
    uint32_t set = (uint32_t)call->argument[0].whole;
    if (set < shape->sets) return set * shape->ways;
    method_refuse(call, "expected a set from 0 to %u, got %u", shape->sets - 1, set);
    return NO_LINE;
}

/* The number of the line that set and way name, or NO_LINE. */
static uint32_t line_at(SimObject *object, MethodCall *call) {
    uint32_t first = first_line(object, call);
    return first == NO_LINE ? NO_LINE : first + (uint32_t)call->argument[1].whole;
}

/* Its line; none, and there is no result: NULL. */
static const TagLine *line_taken(SimObject *object, MethodCall *call) {
    const TagArray *tags = &cache_of(object)->tags;
    uint32_t line = line_at(object, call);
    call->nothing = line == NO_LINE || !tags->tag[line];
    return call->nothing ? NULL : &tags->line[line];
}

void cache_call_line_valid(SimObject *object, MethodCall *call) {
    const TagLine *line = line_taken(object, call);
    call->nothing = false;
    call->result[0].flag = line && line->valid;
}

void cache_call_line_dirty(SimObject *object, MethodCall *call) {
    const TagLine *line = line_taken(object, call);
    call->nothing = false;
    call->result[0].flag = line && line->dirty;
}

void cache_call_line_sectors(SimObject *object, MethodCall *call) {
    const TagLine *line = line_taken(object, call);
    if (!line) return;
    call->result[0].set = line->valid;
    call->result[1].set = line->reserved;
    call->result[2].set = line->dirty;
}

void cache_call_line_address(SimObject *object, MethodCall *call) {
    const Cache *c = cache_of(object);
    if (line_taken(object, call))
        call->result[0].whole = (int64_t)tag_address(&c->tags, line_at(object, call));
}

void cache_call_line_owner(SimObject *object, MethodCall *call) {
    const TagLine *line = line_taken(object, call);
    if (!line) return;
    call->nothing = line->warp == NOBODY;
    call->result[0].whole = line->sm;
    call->result[1].whole = line->warp;
}

void cache_call_line_class(SimObject *object, MethodCall *call) {
    const TagLine *line = line_taken(object, call);
    if (line) call->result[0].whole = line->class_number;
}

/* NULL: refused, or no line. */
static const LineHistory *history_of(SimObject *object, MethodCall *call) {
    const Replacement *r = &cache_of(object)->replacement;
    if (!r->histories) {
        method_refuse(call, "expected line_history = true, which configure() can set, got false");
        return NULL;
    }
    return line_taken(object, call) ? &r->history[line_at(object, call)] : NULL;
}

void cache_call_line_pc(SimObject *object, MethodCall *call) {
    const LineHistory *history = history_of(object, call);
    if (history) call->result[0].whole = history->pc;
}

void cache_call_line_uses(SimObject *object, MethodCall *call) {
    const LineHistory *history = history_of(object, call);
    if (history) call->result[0].whole = history->uses;
}

/* Cleaning: dirty lines go down before they are replaced. */

/* Of a set of ways that Lua can name; NO_LINE, and it is refused, when there is none. */
static uint32_t first_of_few(SimObject *object, MethodCall *call) {
    uint32_t ways = cache_of(object)->tags.shape.ways;
    if (ways <= 64) return first_line(object, call);
    method_refuse(call, "expected a cache of up to 64 ways, got %u", ways);
    return NO_LINE;
}

static bool can_be_cleaned(const TagLine *line) {
    return line->dirty && !line->reserved;
}

void cache_call_dirty_ways(SimObject *object, MethodCall *call) {
    const TagArray *tags = &cache_of(object)->tags;
    uint32_t first = first_of_few(object, call);
    call->result[0].set = 0;
    for (uint32_t way = 0; first != NO_LINE && way < tags->shape.ways; way++)
        call->result[0].set |= (uint64_t)can_be_cleaned(&tags->line[first + way]) << way;
}

void cache_call_first_to_go(SimObject *object, MethodCall *call) {
    const Cache *c = cache_of(object);
    uint32_t first = first_of_few(object, call);
    uint64_t ways = 0;
    for (uint32_t way = 0; first != NO_LINE && way < c->tags.shape.ways; way++)
        ways |= (uint64_t)(c->tags.tag[first + way] && !c->tags.line[first + way].reserved) << way;
    ways &= call->argument[1].set;
    call->nothing = !ways;
    if (call->nothing) return;
    uint32_t set = (uint32_t)call->argument[0].whole;
    call->result[0].whole = replacement_first(&c->replacement, &c->tags, set, ways) - first;
}

/* As if the access of the cycle that has just ended had replaced the line: this cycle sends the write-back, and
 * may find the data port taken by it. */
void cache_call_clean(SimObject *object, MethodCall *call) {
    Cache *c = cache_of(object);
    uint32_t line = line_at(object, call);
    if (line == NO_LINE) return;
    if (call->asked) {
        method_refuse(call, "expected a call from a hook, got one from a question, in the midst of a cycle");
        return;
    }
    bool cleans = can_be_cleaned(&c->tags.line[line]) && cache_miss_queue_room(c);
    call->result[0].flag = cleans;
    if (!cleans) return;
    cache_write_back_dirty(c, line, object_next_cycle(object) - object->period);
    object_wake(object);
}
