#include "core/gpu/device/kernel_counts.h"

#include "core/gpu/lsu/lsu_state.h"
#include "core/gpu/sm/lost_slot.h"
#include "mem/cache/cache.h"
#include "mem/dram/memory_controller_state.h"
#include "mem/protocol/caches.h"
#include "mem/protocol/networks.h"

#include <stdlib.h>
#include <string.h>

/* --- Columns ------------------------------------------------------------------------------------ */

/* Of a class; each is a statistic of its objects, unless it has a text of its own. */
typedef struct {
    const char *name, *unit, *doc;
} ColumnOfClass;

enum { SM_WARP_INSTRUCTIONS, SM_THREAD_INSTRUCTIONS, SM_CTAS, SM_ACTIVE_CYCLES, SM_SLOTS };

static const ColumnOfClass sm_columns[] = {
    {.name = "warp_instructions"},
    {.name = "thread_instructions"},
    {.name = "ctas_started"},
    {"active_cycles", "cycles", "Cycles in which an SM had a CTA of the kernel, over all SMs"},
    {.name = "slots_issued"},
    {.name = "slots_idle"},
    {.name = "slots_fetch"},
    {.name = "slots_scoreboard"},
    {.name = "slots_memory"},
    {.name = "slots_barrier"},
    {.name = "slots_unit"},
    {.name = "slots_lsu"},
    {.name = "slots_policy"},
    {.name = "slots_dma"},
    {0}};

_Static_assert(sizeof sm_columns / sizeof *sm_columns == SM_SLOTS + SLOT_CAUSES + 1,
               "a column for each cause");

enum { LSU_LOADS, LSU_LATENCY };

static const ColumnOfClass lsu_columns[] = {{.name = "loads_answered"}, {.name = "load_latency_ticks"}, {0}};

enum {
    CACHE_RESULTS,
    CACHE_READ_RESULTS = CACHE_RESULTS + RESULTS,
    CACHE_WRITE_BACKS = CACHE_READ_RESULTS + RESULTS
};

/* In the order of Result. */
static const ColumnOfClass cache_columns[] = {{.name = "hits"},        {.name = "misses"},
                                              {.name = "merges"},      {.name = "bypasses"},
                                              {.name = "read_hits"},   {.name = "read_misses"},
                                              {.name = "read_merges"}, {.name = "read_bypasses"},
                                              {.name = "write_backs"}, {0}};

_Static_assert(sizeof cache_columns / sizeof *cache_columns == CACHE_WRITE_BACKS + 2,
               "a column for each result");

enum { CONTROLLER_READS, CONTROLLER_WRITES, CONTROLLER_READ_BYTES, CONTROLLER_WRITE_BYTES };

static const ColumnOfClass controller_columns[] = {
    {.name = "reads"}, {.name = "writes"}, {.name = "read_bytes"}, {.name = "write_bytes"}, {0}};

/* --- Those who look on -------------------------------------------------------------------------- */

typedef struct {
    uint32_t launch;
    uint64_t *values; /* by column of the class */
} LaunchRow;

/* What one of them has counted since its rows were last collected. */
typedef struct {
    uint32_t first, columns; /* of all columns, those that are its own */
    uint32_t count, present; /* rows; the one that was asked for last */
    LaunchRow *rows;
} Counter;

enum { CTA_NUMBERS = 1 << 16 }; /* of MemMessage.cta */

typedef struct {
    IssueGate gate;
    Counter counter;
    uint64_t threads_before; /* thread_instructions of the SM before the instruction that issues */
    uint32_t launch_of[CTA_NUMBERS];
} SmCounter;

typedef struct {
    LoadObserver observer;
    Counter counter;
    const Sm *sm;
} LsuCounter;

typedef struct {
    CacheObserver observer;
    Counter counter;
    const KernelCounts *all;
    const TagShape *shape;
    uint32_t *writer; /* of each line: the launch that wrote it last */
} CacheCounter;

typedef struct {
    ArrivalObserver observer;
    Counter counter;
    const KernelCounts *all;
} ControllerCounter;

struct KernelCounts {
    Sim *sim;
    KernelColumn *columns;
    uint32_t column_count, launches;
    SmCounter **sms; /* by number */
    LsuCounter *lsus;
    CacheCounter *caches;
    ControllerCounter *controllers;
    uint32_t sm_count, lsu_count, cache_count, controller_count;
    uint64_t **sums; /* by launch; NULL: none */
    uint32_t sum_count;
    uint64_t *sum_of_none;
};

static void *zeroed(size_t count, size_t size) {
    void *memory = calloc(count ? count : 1, size);
    ensure_memory(memory);
    return memory;
}

static __attribute__((noinline)) uint64_t *another_row(Counter *counter, uint32_t launch) {
    for (uint32_t i = 0; i < counter->count; i++)
        if (counter->rows[i].launch == launch) return counter->rows[counter->present = i].values;
    counter->rows = realloc(counter->rows, (counter->count + 1) * sizeof *counter->rows);
    ensure_memory(counter->rows);
    counter->present = counter->count++;
    counter->rows[counter->present] = (LaunchRow){launch, zeroed(counter->columns, sizeof(uint64_t))};
    return counter->rows[counter->present].values;
}

static inline uint64_t *row_of(Counter *counter, uint32_t launch) {
    const LaunchRow *row = counter->count ? &counter->rows[counter->present] : NULL;
    return row && row->launch == launch ? row->values : another_row(counter, launch);
}

static uint32_t launch_of_slot(const Sm *sm, uint32_t slot) {
    return sm_kernel_of_slot(sm, slot)->launch;
}

static bool is_write_back(const MemMessage *m) {
    return (m->flags & MEM_POSTED) != 0;
}

/* Write-backs have it, plus 1, as their token. */
static uint32_t launch_of(const KernelCounts *all, const MemMessage *m) {
    uint32_t launch = NO_LAUNCH;
    if (is_write_back(m))
        launch = m->token - 1;
    else if (!mem_is_prefetch(m) && m->sm < all->sm_count)
        launch = all->sms[m->sm]->launch_of[m->cta];
    return launch < all->launches ? launch : NO_LAUNCH;
}

/* --- SMs ---------------------------------------------------------------------------------------- */

static bool lets_issue(IssueGate *gate, uint32_t warp, uint64_t cycle, uint64_t now) {
    (void)warp, (void)cycle, (void)now;
    ((SmCounter *)gate)->threads_before = gate->sm->thread_instructions;
    return true;
}

static void issued(IssueGate *gate, uint32_t warp) {
    SmCounter *of = (SmCounter *)gate;
    uint64_t *row = row_of(&of->counter, sm_kernel_of(gate->sm, warp)->launch);
    row[SM_WARP_INSTRUCTIONS]++;
    row[SM_THREAD_INSTRUCTIONS] += gate->sm->thread_instructions - of->threads_before;
    row[SM_SLOTS + SLOT_ISSUED]++;
}

static void add_lost_slots(SmCounter *of, uint64_t cycles, bool issued) {
    const Sm *sm = of->gate.sm;
    for (uint32_t i = 0; i < sm->schedulers; i++) {
        SlotCause cause = sm->slot_cause[i];
        if (cause == SLOT_ISSUED && issued) continue;
        if (cause == SLOT_ISSUED) cause = SLOT_FETCH;
        uint32_t warp = sm_slot_lost_to(sm, &sm->sched[i], cause);
        uint32_t launch = warp == NO_WARP ? NO_LAUNCH : sm_kernel_of(sm, warp)->launch;
        row_of(&of->counter, launch)[SM_SLOTS + cause] += cycles;
    }
}

/* Cycles in which the SM ticked, one by one, or those that it slept through. */
static void pass(IssueGate *gate, uint64_t cycles, bool issued) {
    SmCounter *of = (SmCounter *)gate;
    const Sm *sm = gate->sm;
    add_lost_slots(of, cycles, issued);
    uint32_t left = sm_resident_slots(sm);
    while (left) { /* once for each launch */
        uint32_t launch = launch_of_slot(sm, (uint32_t)__builtin_ctz(left));
        row_of(&of->counter, launch)[SM_ACTIVE_CYCLES] += cycles;
        for (uint32_t others = left; others; others &= others - 1)
            if (launch_of_slot(sm, (uint32_t)__builtin_ctz(others)) == launch) left &= ~(others & -others);
    }
}

static void note_cta(SmCounter *of, uint32_t slot) {
    const Sm *sm = of->gate.sm;
    uint32_t number = sm->warp[first_warp(sm->cta[slot].warps)].cta_number;
    of->launch_of[number % CTA_NUMBERS] = launch_of_slot(sm, slot);
}

static void cta_starts(IssueGate *gate, uint32_t slot) {
    SmCounter *of = (SmCounter *)gate;
    row_of(&of->counter, launch_of_slot(gate->sm, slot))[SM_CTAS]++;
    note_cta(of, slot);
}

static const GateClass counting_gate = {.name = "kernel counts",
                                        .lets_issue = lets_issue,
                                        .issued = issued,
                                        .pass = pass,
                                        .cta_starts = cta_starts};

/* --- Other objects ------------------------------------------------------------------------------ */

/* It is in flight, so the CTA of its warp has not ended. */
static void load_answered(LoadObserver *observer, uint32_t warp, uint64_t ticks) {
    LsuCounter *of = (LsuCounter *)observer;
    uint64_t *row = row_of(&of->counter, sm_kernel_of(of->sm, warp)->launch);
    row[LSU_LOADS]++;
    row[LSU_LATENCY] += ticks;
}

static void accessed(CacheObserver *observer, const MemMessage *m, uint32_t result) {
    CacheCounter *of = (CacheCounter *)observer;
    uint64_t *row = row_of(&of->counter, launch_of(of->all, m));
    row[CACHE_RESULTS + result]++;
    if (m->kind == MEM_READ && !(m->flags & MEM_LOCAL)) row[CACHE_READ_RESULTS + result]++;
}

static void wrote(CacheObserver *observer, const MemMessage *m, uint32_t line) {
    CacheCounter *of = (CacheCounter *)observer;
    of->writer[line] = launch_of(of->all, m);
}

static void written_back(CacheObserver *observer, MemMessage *m, uint32_t line) {
    CacheCounter *of = (CacheCounter *)observer;
    row_of(&of->counter, of->writer[line])[CACHE_WRITE_BACKS]++;
    m->token = of->writer[line] + 1; /* of NO_LAUNCH 0 */
    of->writer[line] = NO_LAUNCH;
}

static void arrived(ArrivalObserver *observer, const MemMessage *m) {
    ControllerCounter *of = (ControllerCounter *)observer;
    uint64_t *row = row_of(&of->counter, launch_of(of->all, m));
    bool write = m->kind == MEM_WRITE;
    row[write ? CONTROLLER_WRITES : CONTROLLER_READS]++;
    row[write ? CONTROLLER_WRITE_BYTES : CONTROLLER_READ_BYTES] += mem_data_bytes(m);
}

/* --- The whole ---------------------------------------------------------------------------------- */

/* "sm_l1d_hits" of an object sm[3].l1d. */
static char *name_of_column(const char *path, const char *column) {
    char *name = zeroed(strlen(path) + strlen(column) + 2, 1), *to = name;
    for (; *path; path++)
        if (*path == '[')
            path = strchr(path, ']');
        else
            *to++ = *path == '.' ? '_' : *path;
    sprintf(to, "_%s", column);
    return name;
}

static KernelColumn column_of(const SimObject *object, const ColumnOfClass *column) {
    const Field *f = object->class->fields;
    while (!column->doc && (f->kind != FIELD_STAT || strcmp(f->name, column->name) != 0)) {
        ensure(f->kind != FIELD_END);
        f++;
    }
    return (KernelColumn){.name = name_of_column(object->path, column->name),
                          .unit = column->doc ? column->unit : f->unit,
                          .doc = column->doc ? column->doc : f->doc};
}

/* The place of a column of this name; they are there, or behind all. */
static uint32_t find_column(const KernelCounts *all, const char *name) {
    uint32_t i = 0;
    while (i < all->column_count && strcmp(all->columns[i].name, name) != 0)
        i++;
    return i;
}

static Counter counter_of(KernelCounts *all, const SimObject *object, const ColumnOfClass *columns) {
    Counter counter = {0};
    while (columns[counter.columns].name)
        counter.columns++;
    KernelColumn first = column_of(object, columns);
    counter.first = find_column(all, first.name);
    free(first.name);
    if (counter.first < all->column_count) return counter;
    all->columns = realloc(all->columns, (all->column_count + counter.columns) * sizeof *all->columns);
    ensure_memory(all->columns);
    for (uint32_t i = 0; i < counter.columns; i++)
        all->columns[all->column_count++] = column_of(object, &columns[i]);
    return counter;
}

static void forget_ctas(SmCounter *of) {
    memset(of->launch_of, 0xff, sizeof of->launch_of);
}

static void forget_writers(CacheCounter *of) {
    memset(of->writer, 0xff, of->shape->lines * sizeof *of->writer);
}

static void look_at_sm(KernelCounts *all, Sm *sm) {
    SmCounter *of = all->sms[sm->number] = zeroed(1, sizeof *of);
    of->counter = counter_of(all, &sm->obj, sm_columns);
    forget_ctas(of);
    gate_add(sm, &of->gate, &counting_gate);
    gate_set_stages(&of->gate, GATE_AT_WORK);
}

static void look_at_lsu(KernelCounts *all, Lsu *lsu) {
    LsuCounter *of = &all->lsus[all->lsu_count++];
    *of = (LsuCounter){.observer = {load_answered},
                       .counter = counter_of(all, &lsu->obj, lsu_columns),
                       .sm = (const Sm *)lsu->obj.parent};
    lsu->loads = &of->observer;
}

static void look_at_cache(KernelCounts *all, CacheObject *cache) {
    CacheCounter *of = &all->caches[all->cache_count++];
    *of = (CacheCounter){
        .observer = {.accessed = accessed, .wrote = wrote, .written_back = written_back},
        .counter = counter_of(all, &cache->obj, cache_columns),
        .all = all,
        .shape = &cache->cache.tags.shape,
    };
    of->writer = zeroed(of->shape->lines, sizeof *of->writer);
    forget_writers(of);
    cache_observe(&cache->cache, &of->observer);
}

static void look_at_controller(KernelCounts *all, MemoryController *mc) {
    ControllerCounter *of = &all->controllers[all->controller_count++];
    *of = (ControllerCounter){
        .observer = {arrived}, .counter = counter_of(all, &mc->obj, controller_columns), .all = all};
    mc->arrivals = &of->observer;
}

static void look_at(KernelCounts *all, SimObject *object) {
    const Class *class = object->class;
    if (class == &sm_class)
        look_at_sm(all, (Sm *)object);
    else if (class == &lsu_class)
        look_at_lsu(all, (Lsu *)object);
    else if (class == &l1_class || class == &l2_class)
        look_at_cache(all, (CacheObject *)object);
    else if (class == &memory_controller_class)
        look_at_controller(all, (MemoryController *)object);
}

KernelCounts *kernel_counts_new(Sim *sim) {
    KernelCounts *all = zeroed(1, sizeof *all);
    all->sim = sim;
    all->sms = zeroed(sim->object_count, sizeof *all->sms);
    all->lsus = zeroed(sim->object_count, sizeof *all->lsus);
    all->caches = zeroed(sim->object_count, sizeof *all->caches);
    all->controllers = zeroed(sim->object_count, sizeof *all->controllers);
    for (uint32_t i = 0; i < sim->object_count; i++)
        all->sm_count += sim->objects[i]->class == &sm_class;
    for (uint32_t i = 0; i < sim->object_count; i++)
        look_at(all, sim->objects[i]);
    all->sum_of_none = zeroed(all->column_count, sizeof(uint64_t));
    return all;
}

/* The counters one after the other; NULL behind the last. */
static Counter *counter_at(const KernelCounts *all, uint32_t i) {
    if (i < all->sm_count) return &all->sms[i]->counter;
    i -= all->sm_count;
    if (i < all->lsu_count) return &all->lsus[i].counter;
    i -= all->lsu_count;
    if (i < all->cache_count) return &all->caches[i].counter;
    i -= all->cache_count;
    return i < all->controller_count ? &all->controllers[i].counter : NULL;
}

static void empty_counters(const KernelCounts *all) {
    Counter *counter;
    for (uint32_t i = 0; (counter = counter_at(all, i)) != NULL; i++) {
        for (uint32_t row = 0; row < counter->count; row++)
            free(counter->rows[row].values);
        counter->count = counter->present = 0;
    }
}

static void empty_sums(KernelCounts *all) {
    for (uint32_t launch = 0; launch < all->sum_count; launch++)
        free(all->sums[launch]);
    free(all->sums);
    all->sums = NULL;
    all->sum_count = 0;
    memset(all->sum_of_none, 0, all->column_count * sizeof *all->sum_of_none);
}

void kernel_counts_free(KernelCounts *all) {
    if (!all) return;
    Counter *counter;
    empty_counters(all);
    empty_sums(all);
    for (uint32_t i = 0; (counter = counter_at(all, i)) != NULL; i++)
        free(counter->rows);
    for (uint32_t i = 0; i < all->sm_count; i++)
        free(all->sms[i]);
    for (uint32_t i = 0; i < all->cache_count; i++)
        free(all->caches[i].writer);
    for (uint32_t i = 0; i < all->column_count; i++)
        free(all->columns[i].name);
    free(all->columns);
    free(all->sms);
    free(all->lsus);
    free(all->caches);
    free(all->controllers);
    free(all->sum_of_none);
    free(all);
}

/* --- Sums --------------------------------------------------------------------------------------- */

static uint64_t *sum_of(KernelCounts *all, uint32_t launch) {
    if (launch == NO_LAUNCH) return all->sum_of_none;
    if (launch >= all->sum_count) {
        uint32_t count = 2 * launch + 1;
        all->sums = realloc(all->sums, count * sizeof *all->sums);
        ensure_memory(all->sums);
        memset(all->sums + all->sum_count, 0, (count - all->sum_count) * sizeof *all->sums);
        all->sum_count = count;
    }
    if (!all->sums[launch]) all->sums[launch] = zeroed(all->column_count, sizeof(uint64_t));
    return all->sums[launch];
}

/* Rows of launches that have ended would only be in the way of those to come. */
static void collect(KernelCounts *all) {
    const Counter *counter;
    for (uint32_t i = 0; (counter = counter_at(all, i)) != NULL; i++)
        for (uint32_t row = 0; row < counter->count; row++) {
            uint64_t *to = sum_of(all, counter->rows[row].launch) + counter->first;
            for (uint32_t column = 0; column < counter->columns; column++)
                to[column] += counter->rows[row].values[column];
        }
    empty_counters(all);
}

uint32_t kernel_counts_columns(const KernelCounts *all, const KernelColumn **columns) {
    *columns = all->columns;
    return all->column_count;
}

const uint64_t *kernel_counts_of(KernelCounts *all, uint32_t launch) {
    sim_settle(all->sim);
    collect(all);
    if (launch == NO_LAUNCH) return all->sum_of_none;
    return launch < all->sum_count ? all->sums[launch] : NULL;
}

bool kernel_counts_named(KernelCounts *all, uint32_t launch, const char *name, uint64_t *value) {
    uint32_t column = find_column(all, name);
    if (column == all->column_count) return false;
    const uint64_t *values = kernel_counts_of(all, launch);
    *value = values ? values[column] : 0;
    return true;
}

void kernel_counts_launches(KernelCounts *all, uint32_t launches) {
    collect(all);
    all->launches = launches;
}

/* --- Checkpoints -------------------------------------------------------------------------------- */

/* Launches that stand one behind the other are mostly the same. */
static void save_launches(const uint32_t *launches, uint32_t count, Buffer *buffer) {
    buffer_u32(buffer, count);
    for (uint32_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && launches[end] == launches[i];)
            end++;
        buffer_u32(buffer, end - i);
        buffer_u32(buffer, launches[i]);
    }
}

static bool is_known(const KernelCounts *all, uint32_t launch) {
    return launch < all->launches || launch == NO_LAUNCH;
}

static bool load_launches(const KernelCounts *all, uint32_t *launches, uint32_t count, Reader *reader) {
    if (reader_u32(reader) != count) return false;
    for (uint32_t i = 0; i < count;) {
        uint32_t length = reader_u32(reader), launch = reader_u32(reader);
        if (reader->failed || length == 0 || length > count - i || !is_known(all, launch)) return false;
        for (; length; length--)
            launches[i++] = launch;
    }
    return true;
}

static void save_sum(uint32_t launch, const uint64_t *values, uint32_t columns, Buffer *buffer) {
    if (!values) return;
    buffer_u32(buffer, launch);
    buffer_append(buffer, values, columns * sizeof *values);
}

/* Behind the sums of launches stands that of none. */
void kernel_counts_save(KernelCounts *all, Buffer *buffer) {
    collect(all);
    buffer_u32(buffer, all->column_count);
    for (uint32_t i = 0; i < all->column_count; i++)
        buffer_text(buffer, all->columns[i].name);
    for (uint32_t launch = 0; launch < all->sum_count; launch++)
        save_sum(launch, all->sums[launch], all->column_count, buffer);
    save_sum(NO_LAUNCH, all->sum_of_none, all->column_count, buffer);
    for (uint32_t i = 0; i < all->sm_count; i++)
        save_launches(all->sms[i]->launch_of, CTA_NUMBERS, buffer);
    for (uint32_t i = 0; i < all->cache_count; i++)
        save_launches(all->caches[i].writer, all->caches[i].shape->lines, buffer);
}

static bool load_names(const KernelCounts *all, Reader *reader) {
    char name[1024];
    if (reader_u32(reader) != all->column_count) return false;
    for (uint32_t i = 0; i < all->column_count; i++)
        if (!reader_text(reader, name, sizeof name) || strcmp(name, all->columns[i].name) != 0) return false;
    return true;
}

static bool load_sums(KernelCounts *all, Reader *reader) {
    uint32_t launch;
    do {
        launch = reader_u32(reader);
        const uint8_t *values = reader_bytes(reader, all->column_count * sizeof(uint64_t));
        if (!values || !is_known(all, launch)) return false;
        memcpy(sum_of(all, launch), values, all->column_count * sizeof(uint64_t));
    } while (launch != NO_LAUNCH);
    return true;
}

bool kernel_counts_load(KernelCounts *all, Reader *reader) {
    empty_counters(all);
    empty_sums(all);
    if (!load_names(all, reader) || !load_sums(all, reader)) return false;
    for (uint32_t i = 0; i < all->sm_count; i++)
        if (!load_launches(all, all->sms[i]->launch_of, CTA_NUMBERS, reader)) return false;
    for (uint32_t i = 0; i < all->cache_count; i++)
        if (!load_launches(all, all->caches[i].writer, all->caches[i].shape->lines, reader)) return false;
    return reader_at_end(reader);
}

void kernel_counts_know_residents(KernelCounts *all) {
    for (uint32_t i = 0; i < all->sm_count; i++)
        for (uint32_t slots = sm_resident_slots(all->sms[i]->gate.sm); slots; slots &= slots - 1)
            note_cta(all->sms[i], (uint32_t)__builtin_ctz(slots));
}

void kernel_counts_restart(KernelCounts *all) {
    empty_counters(all);
    empty_sums(all);
    for (uint32_t i = 0; i < all->sm_count; i++)
        forget_ctas(all->sms[i]);
    for (uint32_t i = 0; i < all->cache_count; i++)
        forget_writers(&all->caches[i]);
    kernel_counts_know_residents(all);
}

static bool have_same_columns(const KernelCounts *all, const KernelCounts *other) {
    bool same = all->column_count == other->column_count;
    for (uint32_t i = 0; same && i < all->column_count; i++)
        same = strcmp(all->columns[i].name, other->columns[i].name) == 0;
    return same;
}

/* Cycles that SMs have slept through are not counted yet: they will be by the machine that has their state. */
void kernel_counts_take_over(KernelCounts *all, KernelCounts *before) {
    size_t bytes = all->column_count * sizeof(uint64_t);
    if (!have_same_columns(all, before)) return;
    collect(before);
    for (uint32_t launch = 0; launch < before->sum_count; launch++)
        if (before->sums[launch]) memcpy(sum_of(all, launch), before->sums[launch], bytes);
    memcpy(all->sum_of_none, before->sum_of_none, bytes);
    for (uint32_t i = 0; i < all->sm_count && i < before->sm_count; i++)
        memcpy(all->sms[i]->launch_of, before->sms[i]->launch_of, sizeof before->sms[i]->launch_of);
    for (uint32_t i = 0; i < all->cache_count && i < before->cache_count; i++) {
        const TagShape *shape = all->caches[i].shape;
        if (memcmp(shape, before->caches[i].shape, sizeof *shape) == 0)
            memcpy(all->caches[i].writer, before->caches[i].writer, shape->lines * sizeof(uint32_t));
    }
}
