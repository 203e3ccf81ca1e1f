/* Taking over the lines of a cache of another geometry, and what is in flight in one with other MSHRs and
 * queues: a warm cache on a changed machine. Tables and rings come with the size that they had; here those
 * that are too small for this machine grow. One that is larger stays as it is, and takes nothing new until it
 * holds less than it may. */
#include "mem/cache/cache_rows.h"
#include "mem/cache/cache_tick.h"

#include "core/sim/checkpoint/snapshot.h"

#include <stdlib.h>
#include <string.h>

static const char *const geometry_params[] = {"size", "ways", "index", "index_masks", NULL};
static const char *const replacement_params[] = {"replacement",  "rrip_bits", "psel_bits",
                                                 "ship_entries", "ship_bits", NULL};
static const char *const history_params[] = {"line_history", NULL};
static const char *const partition_params[] = {"partition_by", "way_masks", "ways", NULL};
static const char *const geometry_rows[] = {CACHE_CONVERTED_ROWS};

/* The lines as they were saved, copied to where they are aligned. */
typedef struct {
    uint64_t *tag, *used;
    TagLine *line;
    ByteMask *written;
    LineMark *mark;       /* NULL: the choice of replacement is another, or has none */
    LineHistory *history; /* likewise */
    uint32_t count;
    CacheIndex *index;
    const SimObject *object;
    uint32_t *now; /* of each: where it stands in this cache, or NO_LINE */
    uint32_t *order;
} SavedLines;

static bool read_lines(SavedLines *lines, const SavedObject *saved) {
    size_t tags = 0, bytes = 0, written = 0, used = 0;
    lines->tag = saved_row_copy(saved, geometry_rows[0], &tags);
    lines->line = saved_row_copy(saved, geometry_rows[1], &bytes);
    lines->written = saved_row_copy(saved, geometry_rows[2], &written);
    lines->used = saved_row_copy(saved, geometry_rows[3], &used);
    lines->count = (uint32_t)(tags / sizeof *lines->tag);
    lines->now = calloc(lines->count + 1, sizeof *lines->now);
    lines->order = calloc(lines->count + 1, sizeof *lines->order);
    ensure_memory(lines->now && lines->order);
    return lines->tag && lines->line && lines->written && lines->used &&
           bytes == lines->count * sizeof *lines->line && written == lines->count * sizeof *lines->written &&
           used == lines->count * sizeof *lines->used;
}

/* What was kept of each line beside, where this machine keeps the same. */
static void *read_marks(const SavedLines *lines, const SavedObject *saved, const char *row,
                        const char *const *params, uint32_t wanted, size_t bytes) {
    size_t count = 0;
    void *marks = wanted && saved_same(saved, params) ? saved_row_copy(saved, row, &count) : NULL;
    if (!marks || count == lines->count * bytes) return marks;
    free(marks);
    return NULL;
}

static void free_lines(SavedLines *lines) {
    free(lines->tag);
    free(lines->used);
    free(lines->line);
    free(lines->written);
    free(lines->mark);
    free(lines->history);
    free(lines->now);
    free(lines->order);
}

/* What must stay comes first, then what was used last. */
static int compare_lines(const void *a, const void *b, void *context) {
    const SavedLines *lines = context;
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    const TagLine *x = &lines->line[i], *y = &lines->line[j];
    bool x_stays = x->reserved || x->dirty, y_stays = y->reserved || y->dirty;
    if (x_stays != y_stays) return x_stays ? -1 : 1;
    return (lines->used[i] < lines->used[j]) - (lines->used[i] > lines->used[j]);
}

static uint32_t set_of(const Cache *c, const SavedLines *lines, uint64_t address) {
    return tag_set(&c->tags.shape, lines->index(lines->object, address));
}

/* `placed`: lines that have one. */
static uint32_t free_way(const TagArray *tags, uint32_t set, uint32_t placed) {
    if (tag_is_hashed(tags)) return placed < tags->shape.lines ? placed : NO_LINE;
    for (uint32_t i = set * tags->shape.ways; i < (set + 1) * tags->shape.ways; i++)
        if (!tags->tag[i]) return i;
    return NO_LINE;
}

static bool must_stay(const SavedLines *lines, uint32_t line) {
    return lines->tag[line] && (lines->line[line].reserved || lines->line[line].dirty);
}

/* Returns how many clean lines found no way in their sets; UINT32_MAX when one that must stay, which `full`
 * is, found none. */
static uint32_t place_lines(Cache *c, SavedLines *lines, uint32_t *full) {
    uint32_t dropped = 0, placed = 0;
    memset(c->tags.tag, 0, c->tags.shape.lines * sizeof *c->tags.tag);
    memset(c->tags.used, 0, c->tags.shape.lines * sizeof *c->tags.used);
    memset(c->tags.line, 0, c->tags.shape.lines * sizeof *c->tags.line);
    memset(c->written, 0, c->tags.shape.lines * sizeof *c->written);
    for (uint32_t i = 0; i < lines->count; i++) {
        uint32_t old = lines->order[i];
        if (!lines->tag[old]) continue;
        uint32_t at = free_way(&c->tags, set_of(c, lines, lines->tag[old] & ~1ull), placed);
        if (at == NO_LINE && must_stay(lines, old)) {
            *full = old;
            return UINT32_MAX;
        }
        if (at == NO_LINE) {
            dropped++;
            continue;
        }
        lines->now[old] = at;
        c->tags.tag[at] = lines->tag[old];
        c->tags.used[at] = lines->used[old];
        c->tags.line[at] = lines->line[old];
        c->written[at] = lines->written[old];
        if (lines->mark) c->replacement.line[at] = lines->mark[old];
        if (lines->history) c->replacement.history[at] = lines->history[old];
        placed++;
    }
    tag_rebuild(&c->tags);
    return dropped;
}

/* Fills in flight go to the places that their lines have now. */
static bool move_fills(Cache *c, const SavedLines *lines) {
    for (uint32_t i = 0; i < c->mshr.fresh; i++) {
        MshrEntry *e = &c->mshr.entry[i];
        if (mshr_is_free(&c->mshr, i)) continue;
        e->set = set_of(c, lines, e->address);
        if (e->line == NO_LINE) continue;
        if (e->line >= lines->count) return false;
        e->line = lines->now[e->line];
    }
    return true;
}

static bool refuse(const CacheObject *object, const SavedLines *lines, uint32_t line, char *why,
                   size_t why_size) {
    const Cache *c = &object->cache;
    uint32_t set = set_of(c, lines, lines->tag[line] & ~1ull), staying = 0;
    for (uint32_t i = 0; i < lines->count; i++)
        staying += must_stay(lines, i) && set_of(c, lines, lines->tag[i] & ~1ull) == set;
    snprintf(why, why_size,
             "%s.ways: expected room for the %u lines of set %u that are dirty or in flight, got %u ways; "
             "larger sets or a checkpoint of another cycle help",
             object_path(&object->obj), staying, set, c->tags.shape.ways);
    return false;
}

static bool move_lines(CacheObject *object, SavedLines *lines, const SnapshotChanges *changes, char *why,
                       size_t why_size) {
    const char *path = object_path(&object->obj);
    char line[256];
    for (uint32_t i = 0; i < lines->count; i++) {
        lines->order[i] = i;
        lines->now[i] = NO_LINE;
    }
    qsort_r(lines->order, lines->count, sizeof *lines->order, compare_lines, lines);
    uint32_t full = 0, dropped = place_lines(&object->cache, lines, &full);
    if (dropped == UINT32_MAX) return refuse(object, lines, full, why, why_size);
    if (!move_fills(&object->cache, lines)) {
        snprintf(why, why_size, "%s: its MSHRs are damaged", path);
        return false;
    }
    snprintf(line, sizeof line, "%s: lines were moved to their new sets%s", path,
             dropped ? "; clean ones that found no way there were dropped" : "");
    if (changes->note) changes->note(changes->context, line);
    return true;
}

static bool transfer_lines(SimObject *object, CacheIndex *index, const SavedObject *saved,
                           const SnapshotChanges *changes, char *why, size_t why_size) {
    SavedLines lines = {.index = index, .object = object};
    Replacement *r = &((CacheObject *)object)->cache.replacement;
    bool good = read_lines(&lines, saved);
    replacement_begin_lines(r, &((CacheObject *)object)->cache.tags);
    lines.mark = read_marks(&lines, saved, "cache.replacement.line", replacement_params, r->lines,
                            sizeof *lines.mark);
    lines.history = read_marks(&lines, saved, "cache.replacement.history", history_params, r->histories,
                               sizeof *lines.history);
    if (!good)
        snprintf(why, why_size, "%s: its lines are damaged", object_path(object));
    else
        good = move_lines((CacheObject *)object, &lines, changes, why, why_size);
    free_lines(&lines);
    return good;
}

void delay_queue_make_room(DelayQueue *queue) {
    uint32_t slots = ring_size(queue->limit);
    if (slots <= queue->slots) return;
    queue->message = ring_grown(queue->message, queue->slots, slots, sizeof *queue->message);
    queue->ready = ring_grown(queue->ready, queue->slots, slots, sizeof *queue->ready);
    queue->slots = slots;
}

/* What a table of MSHRs that has not drained yet may force into it comes on top of what it may hold. */
static void make_room_for_misses(Cache *c) {
    MissQueue *queue = &c->misses;
    uint32_t mshrs = c->mshr.used > c->parameters.mshrs ? (uint32_t)c->mshr.used : c->parameters.mshrs;
    uint32_t forced = c->parameters.allocate == ALLOCATE_ON_FILL ? mshrs : 0;
    uint32_t slots = ring_size((queue->count > queue->limit ? queue->count : queue->limit) + forced);
    if (slots <= queue->slots) return;
    queue->message = ring_grown(queue->message, queue->slots, slots, sizeof *queue->message);
    queue->sectors = ring_grown(queue->sectors, queue->slots, slots, sizeof *queue->sectors);
    queue->slots = slots;
}

/* What belongs to another choice, or to other lines and sets, begins anew. */
static void begin_anew(CacheObject *object, const SavedObject *saved, const SnapshotChanges *changes) {
    Cache *c = &object->cache;
    char line[256];
    if (!saved_same(saved, replacement_params)) {
        replacement_begin(&c->replacement, &c->tags);
        snprintf(line, sizeof line, "%s: its replacement begins anew", object_path(&object->obj));
        if (changes->note) changes->note(changes->context, line);
    }
    if (!saved_same(saved, partition_params)) replacement_read_masks(&c->replacement, &object->obj, &c->tags);
}

bool cache_convert(SimObject *object, CacheIndex *index, const SavedObject *saved,
                   const SnapshotChanges *changes, char *why, size_t why_size) {
    Cache *c = &((CacheObject *)object)->cache;
    if (!saved_same(saved, geometry_params) && !transfer_lines(object, index, saved, changes, why, why_size))
        return false;
    begin_anew((CacheObject *)object, saved, changes);
    mshr_make_room(&c->mshr);
    make_room_for_misses(c);
    delay_queue_make_room(&c->pipeline);
    return true;
}

void cache_check_sets(const CacheObject *object, CacheIndex *index) {
    const TagArray *tags = &object->cache.tags;
    for (uint32_t i = 0; i < tag_lines_used(tags); i++) {
        uint64_t address = tag_address(tags, i);
        if (tags->tag[i] && tag_set(&tags->shape, index(&object->obj, address)) != i / tags->shape.ways)
            panic("%s: the line of 0x%lx stands in set %u", object_path(&object->obj), address,
                  i / tags->shape.ways);
    }
}
