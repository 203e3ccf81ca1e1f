/* PageWalker: answers requests for translations by walks through a page table of several levels. Of each level it reads one
 * entry through the memory system, one level after the other; several walks go on side by side. It remembers entries of the
 * levels above the last (page-walk cache), so that a walk begins below the deepest one that it knows.
 *
 * The entries of a level lie one behind the other, level by level, above all that kernels use. */
#include "core/sim/checkpoint/snapshot.h"
#include "core/sim/clocks.h"
#include "mem/protocol/port_set.h"
#include "mem/translation/translation.h"

#include <stdlib.h>
#include <string.h>

enum { WALKERS_MAX = 64, LEVELS_MAX = 5 };

#define TABLE_BASE (1ull << 42)

/* A walk that goes on: of a bit in one of the sets `to_read`, `reading` and `done`. */
typedef struct {
    MemMessage request;
    uint64_t since; /* cycle in which it began */
    uint64_t level; /* to be read next, or being read: 0 is the root */
} Walk;

typedef struct {
    SimObject obj;
    uint64_t page;
    uint32_t levels, walkers, cache_entries;
    uint32_t page_shift, depth, unused;
    uint64_t table[LEVELS_MAX]; /* of each level: its first address */
    Port up, mem;

    Walk *walk;                            /* walkers       */
    KeptEntry *known;                      /* cache_entries: entries of the page table, by their addresses */
    uint64_t to_read, reading, done;       /* sets of walks, a bit each */
    uint64_t uses;                         /* of KeptEntry.used */
    uint32_t read_pointer, answer_pointer; /* whose turn it is */

    uint64_t requests, answers, reads, levels_known, walk_cycles, wait_cycles;
} PageWalker;

_Static_assert(offsetof(PageWalker, page) == offsetof(Translator, page), "as translation.c looks at it");

/* ---- The table ---- */

static uint64_t page_number(const PageWalker *walker, const MemMessage *request) {
    return (request->address & ((1ull << VIRTUAL_ADDRESS_BITS) - 1)) >> walker->page_shift;
}

/* The number of a page's entry in a level. */
static uint64_t index_in(const PageWalker *walker, uint64_t page, uint64_t level) {
    return page >> LEVEL_BITS * (walker->depth - 1 - level);
}

static uint64_t entry_address(const PageWalker *walker, uint64_t page, uint64_t level) {
    return walker->table[level] + index_in(walker, page, level) * TABLE_ENTRY_BYTES;
}

static void lay_out_table(PageWalker *walker) {
    uint64_t address = TABLE_BASE, last_page = (1ull << (VIRTUAL_ADDRESS_BITS - walker->page_shift)) - 1;
    for (uint32_t level = 0; level < walker->depth; level++) {
        uint64_t bytes = (index_in(walker, last_page, level) + 1) * TABLE_ENTRY_BYTES;
        walker->table[level] = address;
        address += (bytes + 4095) / 4096 * 4096;
    }
}

/* ---- Entries that are remembered ---- */

static KeptEntry *find_known(const PageWalker *walker, uint64_t key) {
    for (uint32_t i = 0; i < walker->cache_entries; i++)
        if (walker->known[i].key == key) return &walker->known[i];
    return NULL;
}

static void remember(PageWalker *walker, uint64_t key) {
    KeptEntry *entry = find_known(walker, key);
    if (!walker->cache_entries) return;
    if (!entry) entry = kept_victim(walker->known, walker->cache_entries);
    *entry = (KeptEntry){key, ++walker->uses};
}

/* The level below the deepest entry that is known: where a walk begins. */
static uint64_t first_level(PageWalker *walker, uint64_t page) {
    for (uint64_t level = walker->depth - 1; level > 0; level--) {
        KeptEntry *entry = find_known(walker, entry_address(walker, page, level - 1));
        if (!entry) continue;
        if (entry->used != walker->uses) entry->used = ++walker->uses;
        return level;
    }
    return 0;
}

/* ---- Walks ---- */

static uint32_t walks(const PageWalker *walker) {
    return (uint32_t)__builtin_popcountll(walker->to_read | walker->reading | walker->done);
}

static void take_entries(PageWalker *walker, uint64_t now) {
    const MemMessage *answer;
    while ((answer = link_peek(walker->mem.receive, now))) {
        ensure(answer->token < walker->walkers && walker->reading >> answer->token & 1);
        uint64_t bit = 1ull << answer->token;
        Walk *walk = &walker->walk[answer->token];
        uint64_t address = entry_address(walker, page_number(walker, &walk->request), walk->level);
        walker->reading &= ~bit;
        if (++walk->level < walker->depth) {
            remember(walker, address);
            walker->to_read |= bit;
        } else {
            walker->done |= bit;
        }
        link_pop(walker->mem.receive, now);
    }
}

/* One a cycle. Returns when there may be another to send. */
static uint64_t read_entries(PageWalker *walker, uint64_t now) {
    if (!walker->to_read) return NEVER;
    if (!link_can_send(walker->mem.send, now)) return link_space_time(walker->mem.send, now);
    uint32_t i = first_at_or_after(walker->to_read, walker->read_pointer);
    const Walk *walk = &walker->walk[i];
    MemMessage *read = link_send(walker->mem.send, now);
    *read = translation_request(&walk->request, 1, i, now);
    read->address = entry_address(walker, page_number(walker, &walk->request), walk->level) &
                    ~(uint64_t)(TRANSLATION_BYTES - 1);
    read->payload = 0;
    walker->reads++;
    walker->to_read ^= 1ull << i;
    walker->reading |= 1ull << i;
    walker->read_pointer = (i + 1) & (WALKERS_MAX - 1);
    return walker->to_read ? now + walker->obj.period : NEVER;
}

/* One a cycle. Returns when there may be another to send. */
static uint64_t send_answers(PageWalker *walker, uint64_t now, uint64_t cycle) {
    if (!walker->done) return NEVER;
    if (!link_can_send(walker->up.send, now)) return link_space_time(walker->up.send, now);
    uint32_t i = first_at_or_after(walker->done, walker->answer_pointer);
    const Walk *walk = &walker->walk[i];
    *(MemMessage *)link_send(walker->up.send, now) = walk->request;
    walker->answers++;
    walker->walk_cycles += cycle - walk->since;
    walker->done ^= 1ull << i;
    walker->answer_pointer = (i + 1) & (WALKERS_MAX - 1);
    return walker->done ? now + walker->obj.period : NEVER;
}

static void require_translation(const PageWalker *walker, const MemMessage *m) {
    if (__builtin_expect(mem_is_translation(m), 1)) return;
    user_error("%s.up: expected requests for translations, as a TLB's walk sends them, got another for 0x%lx",
               object_path(&walker->obj), m->address);
}

/* One a cycle; the first entry is read in a later one. Returns when to look again: a walk that ends makes room. */
static uint64_t begin_walk(PageWalker *walker, uint64_t now, uint64_t cycle) {
    Link *from = walker->up.receive;
    const MemMessage *request = link_peek(from, now);
    if (!request) return link_next_ready(from);
    if (walks(walker) == walker->walkers) return NEVER;
    require_translation(walker, request);
    uint32_t i = (uint32_t)__builtin_ctzll(~(walker->to_read | walker->reading | walker->done));
    uint64_t level = first_level(walker, page_number(walker, request));
    walker->walk[i] = (Walk){*request, cycle, level};
    walker->levels_known += level;
    walker->to_read |= 1ull << i;
    walker->requests++;
    walker->wait_cycles += object_cycles_in(&walker->obj, now - link_next_ready(from));
    link_pop(from, now);
    return later_of(link_next_ready(from), now + walker->obj.period);
}

static uint64_t tick(SimObject *object, uint64_t now) {
    PageWalker *walker = (PageWalker *)object;
    uint64_t cycle = object_cycle(object, now);
    take_entries(walker, now);
    uint64_t next = read_entries(walker, now);
    next = earlier_of(next, send_answers(walker, now, cycle));
    next = earlier_of(next, begin_walk(walker, now, cycle));
    if (walker->to_read) next = earlier_of(next, link_send_time(walker->mem.send, now + object->period));
    return earlier_of(next, link_next_ready(walker->mem.receive));
}

/* Reads all at once, through the same caches. */
static UntimedAnswer take_untimed(SimObject *object, const void *message) {
    PageWalker *walker = (PageWalker *)object;
    const MemMessage *request = message;
    uint64_t page = page_number(walker, request);
    for (uint64_t level = first_level(walker, page); level < walker->depth; level++) {
        uint64_t address = entry_address(walker, page, level);
        MemMessage read = translation_request(request, 1, 0, 0);
        read.address = address & ~(uint64_t)(TRANSLATION_BYTES - 1);
        read.payload = 0;
        link_send_untimed(walker->mem.send, &read);
        if (level + 1 < walker->depth) remember(walker, address);
    }
    return UNTIMED_MISSES;
}

/* ---- Building, checks ---- */

static void build(SimObject *object) {
    PageWalker *walker = (PageWalker *)object;
    walker->page_shift = (uint32_t)__builtin_ctzll(walker->page);
    uint32_t most = (VIRTUAL_ADDRESS_BITS - walker->page_shift + LEVEL_BITS - 1) / LEVEL_BITS;
    walker->depth = walker->levels ? walker->levels : most;
    if (walker->depth > most)
        user_error(
            "%s.levels: expected up to %u of %d bits, which translate addresses of %d bits with pages of "
            "%lu bytes, or 0 for so many, got %u",
            object->path, most, LEVEL_BITS, VIRTUAL_ADDRESS_BITS, walker->page, walker->depth);
    lay_out_table(walker);
}

static void clocks_changed(SimObject *object, const Clock *was) {
    (void)object, (void)was; /* all its times are cycles */
}

static void check(const SimObject *object, bool idle) {
    const PageWalker *walker = (const PageWalker *)object;
    uint32_t reading = (uint32_t)__builtin_popcountll(walker->reading);
    if (walker->requests != link_received(walker->up.receive) ||
        walker->answers != link_sent(walker->up.send) || walker->requests != walker->answers + walks(walker))
        panic("%s: %lu requests, %lu answered, %u walks go on", object->path, walker->requests,
              walker->answers, walks(walker));
    if (walker->reads != link_sent(walker->mem.send) ||
        walker->reads != link_received(walker->mem.receive) + reading)
        panic("%s: %lu entries read, %lu came, %u are read", object->path, walker->reads,
              link_received(walker->mem.receive), reading);
    if (idle && walks(walker)) panic("%s: %u walks go on", object->path, walks(walker));
}

/* Another number of entries that are remembered. */
static bool convert(SimObject *object, const SavedObject *saved, const SnapshotChanges *changes, char *why,
                    size_t why_size) {
    static const char *const rows[] = {"known", NULL};
    PageWalker *walker = (PageWalker *)object;
    size_t bytes = 0;
    (void)changes;
    if (!saved_rows_but(saved, rows, why, why_size)) return false;
    KeptEntry *before = saved_row_copy(saved, "known", &bytes);
    if (walker->cache_entries) memset(walker->known, 0, walker->cache_entries * sizeof *walker->known);
    for (size_t i = 0; walker->cache_entries && i < bytes / sizeof *before; i++)
        kept_take_over(walker->known, walker->cache_entries, &before[i]);
    free(before);
    return true;
}

static void requests_inside(const SimObject *object, RequestVisitor *visit, void *context) {
    const PageWalker *walker = (const PageWalker *)object;
    for (uint64_t rest = walker->to_read | walker->reading | walker->done; rest; rest &= rest - 1)
        visit(context, walker->up.receive, &walker->walk[__builtin_ctzll(rest)].request);
}

static uint32_t answer_kinds(const SimObject *object) {
    return ((const PageWalker *)object)->walkers;
}

static uint32_t answer_kind(const SimObject *object, const void *message) {
    const PageWalker *walker = (const PageWalker *)object;
    const MemMessage *m = message;
    bool reads = m->token < walker->walkers && walker->reading >> m->token & 1;
    return reads && m->kind == MEM_READ ? m->token : NO_ANSWER_AWAITED;
}

static void answers_awaited(const SimObject *object, uint32_t *awaited) {
    for (uint64_t rest = ((const PageWalker *)object)->reading; rest; rest &= rest - 1)
        awaited[__builtin_ctzll(rest)]++;
}

static void is_sound(const SimObject *object, bool fits) {
    const PageWalker *walker = (const PageWalker *)object;
    uint64_t all = walker->to_read | walker->reading | walker->done,
             cycle = object_cycle(object, object->sim->now);
    if (!fits) return;
    sound(!(walker->to_read & walker->reading) && !((walker->to_read | walker->reading) & walker->done) &&
              (walker->walkers == WALKERS_MAX || all >> walker->walkers == 0),
          "%s: walks 0x%lx to read, 0x%lx reading, 0x%lx done", object->path, walker->to_read,
          walker->reading, walker->done);
    sound(walker->read_pointer < WALKERS_MAX && walker->answer_pointer < WALKERS_MAX,
          "%s: turns of walks %u, %u", object->path, walker->read_pointer, walker->answer_pointer);
    for (uint64_t rest = all; rest; rest &= rest - 1) {
        const Walk *walk = &walker->walk[__builtin_ctzll(rest)];
        bool ended = walker->done & rest & -rest;
        mem_message_is_sound(object->path, &walk->request);
        sound(walk->level <= walker->depth - !ended && walk->since <= cycle,
              "%s: a walk in level %lu since cycle %lu", object->path, walk->level, walk->since);
    }
    for (uint32_t i = 0; i < walker->cache_entries; i++)
        sound(walker->known[i].used <= walker->uses, "%s: an entry used %lu of %lu", object->path,
              walker->known[i].used, walker->uses);
}

static void report(const SimObject *object, FILE *out) {
    const PageWalker *walker = (const PageWalker *)object;
    for (uint64_t rest = walker->to_read | walker->reading | walker->done; rest; rest &= rest - 1) {
        const Walk *walk = &walker->walk[__builtin_ctzll(rest)];
        fprintf(out, "%s: walks for 0x%lx since cycle %lu, level %lu\n", object->path, walk->request.address,
                walk->since, walk->level);
    }
}

static Ratio mean_latency(const SimObject *object) {
    const PageWalker *walker = (const PageWalker *)object;
    return ratio_of(walker->walk_cycles, walker->answers);
}

static Ratio mean_reads(const SimObject *object) {
    const PageWalker *walker = (const PageWalker *)object;
    return ratio_of(walker->reads, walker->requests);
}

static const Field page_walker_fields[] = {
    BASE(PageWalker),
    PAGE_BYTES_PARAM(PageWalker),
    PARAM(PageWalker, levels, "0", "levels",
          "Of the page table, of 9 address bits each; 0: what addresses of 48 bits need", .max = LEVELS_MAX),
    PARAM(PageWalker, walkers, "8", "walks", "Most at a time", .min = 1, .max = WALKERS_MAX),
    PARAM(PageWalker, cache_entries, "64", "entries",
          "Of the levels above the last that it remembers, those used last", .max = 4096, .converts = true),
    DERIVED(PageWalker, page_shift, "Bits of an address within a page"),
    DERIVED(PageWalker, depth, "Levels of the page table"),
    DERIVED(PageWalker, unused, "Padding"),
    DERIVED(PageWalker, table, "First address of each level"),
    PORT(PageWalker, up, memory_protocol, ROLE_RESPONDER, "Requests for translations"),
    PORT(PageWalker, mem, memory_protocol, ROLE_REQUESTER, "Where it reads the page table"),
    STATE_ARRAY(PageWalker, walk, walkers, "Walks that go on"),
    STATE_ARRAY(PageWalker, known, cache_entries, "Entries that are remembered"),
    STATE(PageWalker, to_read, "Walks that are to read an entry"),
    STATE(PageWalker, reading, "Walks that wait for one"),
    STATE(PageWalker, done, "Walks that are to be answered"),
    STATE(PageWalker, uses, "Number of the last use of an entry that is remembered"),
    STATE(PageWalker, read_pointer, "The walk whose turn to read it is"),
    STATE(PageWalker, answer_pointer, "The walk whose turn to be answered it is"),
    STAT(PageWalker, requests, "requests", "Walks begun"),
    STAT(PageWalker, answers, "requests", "Answered"),
    STAT(PageWalker, reads, "entries", "Entries of the page table read from memory"),
    STAT(PageWalker, levels_known, "entries", "Entries that walks did not read, since they were remembered"),
    STAT(PageWalker, walk_cycles, "cycles", "From the beginning of a walk to its answer, over all answers"),
    STAT(PageWalker, wait_cycles, "cycles",
         "From when requests were ready until their walks began, over all requests"),
    FORMULA("latency", mean_latency, "cycles", "Mean time from the beginning of a walk to its answer"),
    FORMULA("reads_per_walk", mean_reads, "entries", "Entries read for a walk"),
    FIELDS_END};

const Class page_walker_class = {
    .name = "PageWalker",
    .doc = "Answers requests for translations by walks through a page table",
    .bytes = sizeof(PageWalker),
    .fields = page_walker_fields,
    .build = build,
    .is_sound = is_sound,
    .requests_inside = requests_inside,
    .answer_kinds = answer_kinds,
    .answer_kind = answer_kind,
    .answers_awaited = answers_awaited,
    .tick = tick,
    .take_untimed = take_untimed,
    .clocks_changed = clocks_changed,
    .convert = convert,
    .check = check,
    .report = report,
};
REGISTER_CLASS(page_walker_class);
