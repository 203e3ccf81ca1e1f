#include "mem/parts/access_trace/replay.h"

#include "mem/cache/cache.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool takes_line(const TraceRecord *r) {
    return r->kind == TRACE_READ || r->kind == TRACE_LOCAL_WRITE;
}

/* --- When each line is used next --------------------------------------------------------------- */

/* Line -> number of the record that uses it, as seen so far from the end. Open addressing, at most half full.
 */
typedef struct {
    uint64_t *line; /* address | 1; 0: free */
    uint64_t *use;
    uint32_t shift, count;
} Uses;

static uint64_t slots(const Uses *uses) {
    return 1ull << (64 - uses->shift);
}

static void uses_make(Uses *uses, uint32_t shift) {
    *uses = (Uses){.shift = shift};
    uses->line = calloc(slots(uses), sizeof *uses->line);
    uses->use = calloc(slots(uses), sizeof *uses->use);
    ensure_memory(uses->line && uses->use);
}

static void uses_free(Uses *uses) {
    free(uses->line);
    free(uses->use);
}

static uint64_t slot_of(const Uses *uses, uint64_t line) {
    uint64_t at = (line >> 5) * 0x9e3779b97f4a7c15ull >> uses->shift;
    while (uses->line[at] && uses->line[at] != (line | 1))
        at = (at + 1) & (slots(uses) - 1);
    return at;
}

static void uses_grow(Uses *uses) {
    Uses old = *uses;
    uses_make(uses, old.shift - 1);
    for (uint64_t i = 0; i < slots(&old); i++) {
        if (!old.line[i]) continue;
        uint64_t at = slot_of(uses, old.line[i] & ~1ull);
        uses->line[at] = old.line[i];
        uses->use[at] = old.use[i];
        uses->count++;
    }
    uses_free(&old);
}

/* Sets the next use of a line, and returns what it was: NEVER for a line not seen. */
static uint64_t uses_set(Uses *uses, uint64_t line, uint64_t use) {
    if (2ull * (uses->count + 1) > slots(uses)) uses_grow(uses);
    uint64_t at = slot_of(uses, line);
    uint64_t before = uses->line[at] ? uses->use[at] : NEVER;
    uses->count += !uses->line[at];
    uses->line[at] = line | 1;
    uses->use[at] = use;
    return before;
}

static void uses_clear(Uses *uses) {
    memset(uses->line, 0, slots(uses) * sizeof *uses->line);
    uses->count = 0;
}

typedef struct {
    TraceReader *trace;
    TraceRecord record[TRACE_BLOCK];
    uint64_t next[TRACE_BLOCK]; /* use of the record's line; NEVER: it is evicted before, or not used */
    uint32_t count;
    FILE *spill;
    Uses uses;
} Pass;

static void find_next_uses(Pass *pass, uint64_t first) {
    for (uint32_t i = pass->count; i-- > 0;) {
        const TraceRecord *r = &pass->record[i];
        pass->next[i] = NEVER;
        if (takes_line(r))
            pass->next[i] = uses_set(&pass->uses, r->address, first + i);
        else if (r->kind == TRACE_DROP)
            uses_set(&pass->uses, r->address, NEVER);
        else if (r->kind == TRACE_CLEAR)
            uses_clear(&pass->uses);
    }
}

/* Does what `move` does to the bytes of next uses of a block in the temporary file. */
static bool spill(Pass *pass, uint64_t first, bool write, char *why) {
    uint8_t *at = (uint8_t *)pass->next;
    size_t count = pass->count * sizeof *pass->next;
    off_t offset = (off_t)(first * sizeof *pass->next);
    while (count) {
        ssize_t moved = write ? pwrite(fileno(pass->spill), at, count, offset)
                              : pread(fileno(pass->spill), at, count, offset);
        if (moved < 0 && errno == EINTR) continue;
        if (moved <= 0) {
            snprintf(why, TRACE_WHY, "a temporary file for it: %s", strerror(errno));
            return false;
        }
        at += moved;
        offset += moved;
        count -= (size_t)moved;
    }
    return true;
}

static bool backwards(Pass *pass, char *why) {
    for (uint32_t block = trace_blocks(pass->trace); block-- > 0;) {
        uint64_t first = trace_first(pass->trace, block);
        pass->count = trace_read(pass->trace, block, pass->record, why);
        if (!pass->count) return false;
        find_next_uses(pass, first);
        if (!spill(pass, first, true, why)) return false;
    }
    return true;
}

/* --- Caches ------------------------------------------------------------------------------------ */

typedef enum { LRU_TIMED, LRU_AT_ONCE, OPTIMAL } Kind;

typedef struct {
    uint64_t line;           /* address | 1; 0: free                                      */
    uint64_t key;            /* the line with the highest is replaced: of LRU, ~stamp      */
    uint8_t valid, reserved; /* sectors                                                   */
} Entry;

typedef struct {
    Kind kind;
    const TagShape *shape;
    Entry *entry;
    uint64_t uses;
    ReplayCounts counts;
} Model;

static Entry *find(const Model *model, uint64_t line) {
    Entry *e = model->entry + (size_t)tag_set(model->shape, line) * model->shape->ways;
    for (const Entry *end = e + model->shape->ways; e != end; e++)
        if (e->line == (line | 1)) return e;
    return NULL;
}

static Entry *victim(const Model *model, uint64_t line) {
    Entry *e = model->entry + (size_t)tag_set(model->shape, line) * model->shape->ways, *found = NULL;
    for (const Entry *end = e + model->shape->ways; e != end; e++) {
        if (!e->line) return e;
        if (!e->reserved && (!found || e->key > found->key)) found = e;
    }
    return found;
}

static void access_line(Model *model, const TraceRecord *r, uint64_t key) {
    Entry *e = find(model, r->address);
    uint8_t absent = r->sectors & (uint8_t) ~(e ? e->valid : 0), pending = e ? e->reserved : 0;
    model->counts.hits += !absent;
    model->counts.misses += (absent & ~pending) != 0;
    model->counts.merges += absent && !(absent & ~pending);
    if (!e && !(e = victim(model, r->address))) return;
    if (e->line != (r->address | 1)) *e = (Entry){.line = r->address | 1};
    e->key = key;
    if (model->kind != LRU_TIMED)
        e->valid |= r->sectors;
    else if (absent) {
        e->reserved |= absent & (uint8_t)~r->completed;
        e->valid |= r->completed;
    }
}

/* Sectors in flight still come. */
static void drop(Entry *e) {
    if (e->reserved)
        e->valid = 0;
    else
        *e = (Entry){0};
}

static void step(Model *model, const TraceRecord *r, uint64_t next) {
    uint64_t key = model->kind == OPTIMAL ? next : ~++model->uses;
    if (takes_line(r)) {
        access_line(model, r, key);
        return;
    }
    if (r->kind == TRACE_CLEAR) {
        for (uint32_t i = 0; i < model->shape->lines; i++)
            drop(&model->entry[i]);
        return;
    }
    Entry *e = find(model, r->address);
    if (!e) return;
    if (r->kind == TRACE_DROP) drop(e);
    if (r->kind == TRACE_TOUCH && model->kind != OPTIMAL) e->key = key;
    if (r->kind == TRACE_FILL && model->kind == LRU_TIMED) {
        e->reserved &= (uint8_t)~r->sectors;
        e->valid |= r->sectors;
    }
}

static void count_measured(ReplayCounts *counts, const TraceRecord *r) {
    if (!takes_line(r)) return;
    counts->hits += r->result == RESULT_HIT;
    counts->misses += r->result == RESULT_MISS;
    counts->merges += r->result == RESULT_MERGE;
}

static bool forwards(Pass *pass, Model models[3], ReplayCounts *measured, char *why) {
    for (uint32_t block = 0; block < trace_blocks(pass->trace); block++) {
        pass->count = trace_read(pass->trace, block, pass->record, why);
        if (!pass->count || !spill(pass, trace_first(pass->trace, block), false, why)) return false;
        for (uint32_t i = 0; i < pass->count; i++) {
            count_measured(measured, &pass->record[i]);
            for (int kind = LRU_TIMED; kind <= OPTIMAL; kind++)
                step(&models[kind], &pass->record[i], pass->next[i]);
        }
    }
    return true;
}

bool replay_trace(TraceReader *trace, const TagShape *shape, Replay *replay, char *why) {
    Pass *pass = calloc(1, sizeof *pass);
    Model models[3];
    ensure_memory(pass);
    *replay = (Replay){0};
    pass->trace = trace;
    pass->spill = tmpfile();
    uses_make(&pass->uses, 54);
    for (int kind = LRU_TIMED; kind <= OPTIMAL; kind++) {
        models[kind] = (Model){.kind = (Kind)kind, .shape = shape};
        models[kind].entry = calloc(shape->lines, sizeof(Entry));
        ensure_memory(models[kind].entry);
    }
    if (!pass->spill) snprintf(why, TRACE_WHY, "no temporary file for it: %s", strerror(errno));
    bool good = pass->spill && backwards(pass, why) && forwards(pass, models, &replay->measured, why);
    replay->timed = models[LRU_TIMED].counts;
    replay->lru = models[LRU_AT_ONCE].counts;
    replay->optimal = models[OPTIMAL].counts;
    for (int kind = LRU_TIMED; kind <= OPTIMAL; kind++)
        free(models[kind].entry);
    if (pass->spill) fclose(pass->spill);
    uses_free(&pass->uses);
    free(pass);
    return good;
}
