#include "core/gpu/sm/memcheck.h"

#include "core/gpu/sm/paths.h"
#include "core/ptx/execution/mbarrier.h"
#include "core/sim/sim.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_SITES = 256 }; /* that an SM keeps; more are found after these are mended */

/* How an instruction accesses memory. Strong accesses, as the PTX ISA calls them, do not race with each other: atomics,
 * .volatile, .relaxed, .acquire, .release. */
enum { STRONG = 1, ACQUIRES = 2, RELEASES = 4 };

/* What is known of a byte of shared memory. Epochs are counted by the barriers of the whole CTA: accesses in different
 * ones are in order. Clocks are of the warp that accesses, see CtaOrder. */
typedef struct {
    uint32_t write_epoch, read_epoch; /* 0: never in this CTA                    */
    uint32_t readers, weak_readers;   /* warps of the CTA that read it in read_epoch */
    uint32_t write_inst, read_inst;   /* read_inst: of the last reader, a weak one where there is one */
    uint32_t write_clock, read_clock; /* a strong write releases what its warp did at lower clocks */
    uint16_t write_thread, read_thread;
    bool is_strong, is_atomic; /* the write */
} SharedByte;

/* Within an epoch warps are ordered by what one releases and another acquires: a fence and then a strong write by one, a
 * strong read of what it wrote and then a fence by the other. A warp's clock counts its releases. */
typedef struct {
    uint32_t epoch;
    uint32_t in_order[WARP_LANES]; /* by warp: those whose accesses so far a barrier of some has ordered */
    uint32_t clock[WARP_LANES];
    /* [w][v]: what v did at clocks below it comes before what w does; and before what w does behind its next fence. */
    uint32_t known[WARP_LANES][WARP_LANES], observed[WARP_LANES][WARP_LANES];
} CtaOrder;

/* The last barrier of a warp at which lanes were missing, which then had not exited. */
typedef struct {
    uint32_t missing;
    uint32_t inst, thread; /* who came to it */
} PartialArrival;

typedef struct {
    uint64_t address;
    uint32_t bytes;
} Written;

struct Memcheck {
    MemcheckSite *sites;
    uint32_t site_count;
    SharedByte *shared; /* of all CTA slots */
    CtaOrder cta[MAX_CTAS];
    PartialArrival partial[MAX_CTAS][WARP_LANES]; /* by warp of the CTA */
    Written *written;                             /* in this quantum */
    uint32_t written_count, written_capacity;
};

Memcheck *memcheck_new(void) {
    Memcheck *check = calloc(1, sizeof *check);
    ensure_memory(check);
    check->sites = calloc(MAX_SITES, sizeof *check->sites);
    ensure_memory(check->sites);
    return check;
}

void memcheck_free(Memcheck *check) {
    if (!check) return;
    free(check->sites);
    free(check->shared);
    free(check->written);
    free(check);
}

/* --- What is found ---------------------------------------------------------------------------- */

typedef struct {
    const Sm *sm;
    const Inst *inst;
    InstKind kind; /* the instruction's; INST_STORE of the writes of a copy */
    uint32_t strength;
    uint32_t warp, lane;
    uint64_t cycle, address;
} Access;

/* Of what a lane executes now and has no address. */
static Access access_of(const Sm *sm, uint32_t w, const Inst *inst, uint32_t lane) {
    return (Access){.sm = sm,
                    .inst = inst,
                    .warp = w,
                    .lane = lane,
                    .cycle = object_cycle(&sm->obj, sm->obj.cluster->now)};
}

static uint32_t thread_of(const Access *access) {
    return access->sm->warp[access->warp].warp_in_cta * WARP_LANES + access->lane;
}

static bool is_same_place(const MemcheckSite *a, const MemcheckSite *b) {
    return a->kind == b->kind && a->kernel == b->kernel && a->inst == b->inst &&
           a->other_inst == b->other_inst;
}

static void place_in_block(const Sm *sm, uint32_t thread, uint32_t place[3]) {
    const uint32_t *block = sm->running->block;
    place[0] = thread % block[0];
    place[1] = thread / block[0] % block[1];
    place[2] = thread / block[0] / block[1];
}

static void report(const Access *access, MemcheckKind kind, uint32_t other_inst, uint32_t other_thread) {
    const Sm *sm = access->sm;
    Memcheck *check = sm->memcheck;
    MemcheckSite found = {.kind = kind,
                          .sm = sm->number,
                          .launch = sm->running->launch,
                          .inst = sm_inst_index(sm, access->warp, access->inst),
                          .other_inst = other_inst,
                          .kernel = sm->running->kernel,
                          .cycle = access->cycle,
                          .address = access->address,
                          .count = 1};
    memcpy(found.ctaid, sm->cta[sm->warp[access->warp].cta_slot].ctaid, sizeof found.ctaid);
    place_in_block(sm, thread_of(access), found.thread);
    place_in_block(sm, other_thread, found.other_thread);
    for (uint32_t i = 0; i < check->site_count; i++) {
        if (!is_same_place(&check->sites[i], &found)) continue;
        check->sites[i].count++;
        return;
    }
    if (check->site_count < MAX_SITES) check->sites[check->site_count++] = found;
}

/* --- Global memory ---------------------------------------------------------------------------- */

/* Of another warp of this SM, before the boundary. */
static bool is_written_here(const Memcheck *check, uint64_t address) {
    for (uint32_t i = check->written_count; i-- > 0;)
        if (address - check->written[i].address < check->written[i].bytes) return true;
    return false;
}

static bool is_initialised(const Access *access, uint32_t bytes) {
    const DeviceMemory *memory = access->sm->view->memory;
    if (device_is_initialised(memory, access->address, bytes)) return true;
    for (uint32_t i = 0; i < bytes; i++)
        if (!device_is_initialised(memory, access->address + i, 1) &&
            !is_written_here(access->sm->memcheck, access->address + i))
            return false;
    return true;
}

static void note_written(Sm *sm, uint64_t address, uint32_t bytes) {
    Memcheck *check = sm->memcheck;
    if (check->written_count == check->written_capacity) {
        check->written_capacity = check->written_capacity ? 2 * check->written_capacity : 256;
        check->written = realloc(check->written, check->written_capacity * sizeof *check->written);
        ensure_memory(check->written);
    }
    check->written[check->written_count++] = (Written){address, bytes};
    object_request_commit(&sm->obj);
}

/* What is outside of every allocation is a fault of its own when the instruction executes. */
static void look_at_global(Sm *sm, const Access *access, uint32_t bytes) {
    DeviceBlock block;
    const DeviceMemory *memory = sm->view->memory;
    if (!device_covers(memory, access->address, bytes) || !device_nearest(memory, access->address, &block))
        return;
    ByteState state = device_block_state(memory, access->address, bytes);
    if (access->address + bytes > block.start + block.bytes)
        report(access, MEMCHECK_BEYOND_END, 0, 0);
    else if (state != BYTE_WRITTEN)
        report(access, state == BYTE_FREED ? MEMCHECK_FREED_BLOCK : MEMCHECK_BEYOND_BLOCK, 0, 0);
    else if (access->kind != INST_STORE && !is_initialised(access, bytes))
        report(access, MEMCHECK_UNINITIALISED_GLOBAL, 0, 0);
    if (access->kind != INST_LOAD) note_written(sm, access->address, bytes);
}

void memcheck_commit(const Sm *sm) {
    Memcheck *check = sm->memcheck;
    for (uint32_t i = 0; i < check->written_count; i++)
        device_initialise(sm->view->memory, check->written[i].address, check->written[i].bytes);
    check->written_count = 0;
}

void memcheck_malloc(const Sm *sm, uint64_t address, uint64_t bytes) {
    device_set_bytes(sm->view->memory, address, bytes, BYTE_UNWRITTEN);
}

/* Of the heap's bytes, but for the first, which is its own; BYTE_OF_NO_BLOCK elsewhere. */
static ByteState heap_state(const Sm *sm, uint64_t address) {
    const RunningKernel *running = sm->running;
    bool is_in_heap = address > running->heap_start && address - running->heap_start < running->heap_bytes;
    return is_in_heap ? device_block_state(sm->view->memory, address, 1) : BYTE_OF_NO_BLOCK;
}

/* The heap's own words around a block end it. */
static bool is_block(const Sm *sm, uint64_t address) {
    return heap_state(sm, address) == BYTE_WRITTEN && heap_state(sm, address - 1) == BYTE_OF_NO_BLOCK;
}

void memcheck_free_block(const Sm *sm, const HeapRequest *request, uint32_t lane) {
    DeviceMemory *memory = sm->view->memory;
    uint64_t address = request->value[lane], end = sm->running->heap_start + sm->running->heap_bytes;
    if (!address) return;
    if (is_block(sm, address)) {
        device_set_bytes(memory, address, device_block_bytes(memory, address, end), BYTE_FREED);
        return;
    }
    Access access = access_of(sm, request->warp, sm_inst(sm, request->warp, request->inst), lane);
    access.address = address;
    bool is_freed = heap_state(sm, address) == BYTE_FREED;
    report(&access, is_freed ? MEMCHECK_FREE_TWICE : MEMCHECK_FREE_OF_NO_BLOCK, 0, 0);
}

/* --- Shared memory ---------------------------------------------------------------------------- */

static SharedByte *shared_bytes(const Sm *sm, uint32_t slot) {
    return sm->memcheck->shared + (size_t)slot * sm->kernels.shared_bytes;
}

void memcheck_set_kernel(const Sm *sm) {
    free(sm->memcheck->shared);
    size_t count = (size_t)sm->kernels.ctas * sm->kernels.shared_bytes;
    sm->memcheck->shared = calloc(count ? count : 1, sizeof *sm->memcheck->shared);
    ensure_memory(sm->memcheck->shared);
}

void memcheck_cta_starts(const Sm *sm, uint32_t slot) {
    memset(shared_bytes(sm, slot), 0, sm->kernels.shared_bytes * sizeof(SharedByte));
    sm->memcheck->cta[slot] = (CtaOrder){.epoch = 1};
    memset(sm->memcheck->partial[slot], 0, sizeof sm->memcheck->partial[slot]);
}

/* Only .aligned barriers, among them __syncthreads(), want all threads of a warp to come together. */
static bool is_aligned(const Sm *sm, uint32_t w, const Inst *inst) {
    const char *opcode = sm->running->kernel->sources[sm_inst_index(sm, w, inst)].opcode;
    return strncmp(opcode, "bar.", strlen("bar.")) == 0 || strstr(opcode, ".aligned") != NULL;
}

/* Lanes that miss a barrier may do so for good, if they exit. What is wrong shows when one comes to another. */
void memcheck_arrive(const Sm *sm, uint32_t w, const Inst *inst) {
    const ExecContext *context = sm->context;
    const Warp *warp = &sm->warp[w];
    uint32_t active = context->active, live = simt_lanes(&warp->simt, &sm->waiting_lanes[w]);
    PartialArrival *partial = &sm->memcheck->partial[warp->cta_slot][warp->warp_in_cta];
    uint32_t late = partial->missing & active;
    if (late) {
        Access access = access_of(sm, w, inst, (uint32_t)__builtin_ctz(late));
        report(&access, MEMCHECK_BARRIERS_DIFFER, partial->inst, partial->thread);
    }
    *partial = (PartialArrival){.missing = is_aligned(sm, w, inst) ? live & ~active : 0,
                                .inst = sm_inst_index(sm, w, inst),
                                .thread = warp->warp_in_cta * WARP_LANES + (uint32_t)__builtin_ctz(active)};
}

/* After a barrier of some, warps that went on are taken to be in order with all that was before: what they do after it
 * is not held against anybody until the next one of all. */
void memcheck_barrier(const Sm *sm, uint32_t slot, WarpSet warps, bool is_whole) {
    CtaOrder *order = &sm->memcheck->cta[slot];
    if (is_whole) {
        *order = (CtaOrder){.epoch = order->epoch + 1};
        return;
    }
    for (; warps; warps &= warps - 1)
        order->in_order[sm->warp[first_warp(warps)].warp_in_cta] = ~0u;
}

/* All that a lane names, and that have not exited, are to be with it; and it is to name itself. */
void memcheck_together(const Sm *sm, uint32_t w, const Inst *inst) {
    const uint32_t *masks = masks_of_lanes(sm, inst);
    uint32_t active = sm->context->active;
    uint32_t elsewhere = simt_lanes(&sm->warp[w].simt, &sm->waiting_lanes[w]) & ~active;
    for (uint32_t lanes = active; lanes; lanes &= lanes - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(lanes);
        Access access = access_of(sm, w, inst, lane);
        if (!(masks[lane] >> lane & 1)) report(&access, MEMCHECK_NOT_IN_MASK, 0, 0);
        if (masks[lane] & elsewhere) report(&access, MEMCHECK_MASK_ELSEWHERE, 0, 0);
    }
}

static uint32_t later(uint32_t a, uint32_t b) {
    return a > b ? a : b;
}

static void acquire(CtaOrder *order, uint32_t warp) {
    for (uint32_t v = 0; v < WARP_LANES; v++)
        order->known[warp][v] = later(order->known[warp][v], order->observed[warp][v]);
}

/* What the warp has observed comes before all that follows, and what it did so far before what others do once they
 * observe its next strong write. */
static void fence(CtaOrder *order, uint32_t warp) {
    acquire(order, warp);
    order->clock[warp]++;
}

void memcheck_fence(const Sm *sm, uint32_t w) {
    fence(&sm->memcheck->cta[sm->warp[w].cta_slot], sm->warp[w].warp_in_cta);
}

/* A strong read of a strong write. An atomic passes on what the writes before it released. */
static void observe(const SharedByte *byte, CtaOrder *order, uint32_t warp) {
    uint32_t writer = byte->write_thread / WARP_LANES, *observed = order->observed[warp];
    if (byte->write_epoch != order->epoch || !byte->is_strong || writer == warp) return;
    for (uint32_t v = 0; v < WARP_LANES; v++) {
        observed[v] = later(observed[v], order->known[writer][v]);
        if (byte->is_atomic) observed[v] = later(observed[v], order->observed[writer][v]);
    }
    observed[writer] = later(observed[writer], byte->write_clock);
}

/* Of the warps `readers`, those whose reads are not known to come before. Of others than the last reader no clock is
 * kept: they are in order once the warp has acquired anything of them. */
static uint32_t unordered_readers(const SharedByte *byte, const CtaOrder *order, uint32_t warp,
                                  uint32_t readers) {
    uint32_t left = 0;
    for (; readers; readers &= readers - 1) {
        uint32_t reader = (uint32_t)__builtin_ctz(readers);
        uint32_t clock = reader == byte->read_thread / WARP_LANES ? byte->read_clock : 0;
        if (clock >= order->known[warp][reader]) left |= 1u << reader;
    }
    return left;
}

/* The kind of race that the access is in with what was before, in *kind; the readers that it races with, or 0. */
static bool races(const SharedByte *byte, const CtaOrder *order, uint32_t warp, const Access *access,
                  MemcheckKind *kind, uint32_t *racing_readers) {
    uint32_t unordered = ~(1u << warp | order->in_order[warp]), writer = byte->write_thread / WARP_LANES;
    bool writes = access->kind != INST_LOAD, both_strong = byte->is_strong && access->strength & STRONG;
    bool written = byte->write_epoch == order->epoch && unordered >> writer & 1 && !both_strong &&
                   byte->write_clock >= order->known[warp][writer];
    uint32_t readers = access->strength & STRONG ? byte->weak_readers : byte->readers;
    *racing_readers = !written && writes && byte->read_epoch == order->epoch
                          ? unordered_readers(byte, order, warp, readers & unordered)
                          : 0;
    *kind = !written ? MEMCHECK_RACE_READ_WRITE
            : writes ? MEMCHECK_RACE_WRITE_WRITE
                     : MEMCHECK_RACE_WRITE_READ;
    return written || *racing_readers;
}

static void note_read(SharedByte *byte, const CtaOrder *order, const Access *access) {
    uint32_t thread = thread_of(access), warp = thread / WARP_LANES;
    bool is_strong = access->strength & STRONG;
    if (byte->read_epoch != order->epoch) byte->readers = byte->weak_readers = 0;
    byte->read_epoch = order->epoch;
    byte->readers |= 1u << warp;
    if (is_strong && byte->weak_readers) return;
    byte->weak_readers |= is_strong ? 0 : 1u << warp;
    byte->read_thread = (uint16_t)thread;
    byte->read_clock = order->clock[warp];
    byte->read_inst = sm_inst_index(access->sm, access->warp, access->inst);
}

static void note_write(SharedByte *byte, const CtaOrder *order, const Access *access) {
    uint32_t thread = thread_of(access);
    byte->write_epoch = order->epoch;
    byte->write_thread = (uint16_t)thread;
    byte->write_clock = order->clock[thread / WARP_LANES];
    byte->write_inst = sm_inst_index(access->sm, access->warp, access->inst);
    byte->is_strong = access->strength & STRONG;
    byte->is_atomic = access->kind == INST_ATOMIC;
}

/* The last of the readers that a write races with; of one that is not the last, its first thread is told. */
static uint32_t thread_of_reader(const SharedByte *byte, uint32_t readers) {
    if (readers >> byte->read_thread / WARP_LANES & 1) return byte->read_thread;
    return (uint32_t)__builtin_ctz(readers) * WARP_LANES;
}

/* Whichever of two writes of the same value comes last, the byte has it: `if (found) any = true;`. */
static bool is_harmless(const Access *access, MemcheckKind race) {
    return race == MEMCHECK_RACE_WRITE_WRITE &&
           exec_stores_what_is_there(access->inst, access->sm->context, access->lane);
}

/* An access behind the rounding is a fault of its own when the instruction executes. */
static void look_at_shared(Sm *sm, const Access *access, uint32_t bytes) {
    const RunningKernel *running = sm->running;
    uint32_t slot = sm->warp[access->warp].cta_slot, warp = sm->warp[access->warp].warp_in_cta;
    CtaOrder *order = &sm->memcheck->cta[slot];
    uint64_t end = access->address + bytes;
    if (end > running->shared_bytes || end < bytes) return;
    if (end > running->kernel->shared_bytes + running->dynamic_shared_bytes) {
        report(access, MEMCHECK_BEYOND_SHARED, 0, 0);
        return;
    }
    SharedByte *byte = shared_bytes(sm, slot) + access->address;
    bool is_fresh = false, is_race = false, reads = access->kind != INST_STORE;
    if (access->strength & RELEASES) fence(order, warp);
    for (uint32_t i = 0; i < bytes; i++) {
        MemcheckKind kind;
        uint32_t readers;
        if (!is_race && races(&byte[i], order, warp, access, &kind, &readers) && !is_harmless(access, kind)) {
            is_race = true;
            report(access, kind, readers ? byte[i].read_inst : byte[i].write_inst,
                   readers ? thread_of_reader(&byte[i], readers) : byte[i].write_thread);
        }
        is_fresh |= !byte[i].write_epoch;
        if (reads && access->strength & STRONG) observe(&byte[i], order, warp);
        if (access->kind == INST_LOAD)
            note_read(&byte[i], order, access);
        else
            note_write(&byte[i], order, access);
    }
    if (access->strength & ACQUIRES) acquire(order, warp);
    if (reads && is_fresh && !running->kernel->dma_line) /* a transfer may have written it */
        report(access, MEMCHECK_UNINITIALISED_SHARED, 0, 0);
}

/* --- Instructions ----------------------------------------------------------------------------- */

/* Its writes are held against it from here on: whoever waits for it waits for a barrier, too. */
static void look_at_copy(Sm *sm, Access *access, const AsyncCopy *copy, uint32_t bytes) {
    if (copy->read) look_at_global(sm, access, copy->read);
    access->kind = INST_STORE;
    access->strength = 0;
    access->address = copy->target;
    if (copy->target % bytes == 0) look_at_shared(sm, access, bytes);
}

/* A prefetch accesses nothing. */
static void look_at_bulk(Sm *sm, const Inst *inst, Access access) {
    BulkPiece piece;
    if (inst->cache_op == CACHE_PREFETCH_L2 || !exec_find_bulk(inst, sm->context, &piece)) return;
    access.lane = piece.lane;
    access.address = piece.accessed;
    if (inst->space == SPACE_SHARED)
        look_at_shared(sm, &access, piece.bytes);
    else
        look_at_global(sm, &access, piece.bytes);
    access.kind = inst->kind == INST_LOAD ? INST_STORE : INST_LOAD;
    access.address = piece.shared;
    look_at_shared(sm, &access, piece.bytes);
}

static void look_at_elements(Sm *sm, Access *access, bool is_global) {
    LaneElements found;
    uint64_t start = access->address;
    exec_find_elements(access->inst, sm->context, access->lane, &found);
    for (uint32_t i = 0; i < found.count; i++) {
        access->address = start + found.offset[i];
        if (is_global)
            look_at_global(sm, access, found.bytes);
        else
            look_at_shared(sm, access, found.bytes);
    }
}

/* Decoded instructions do not say. */
static uint32_t strength_of(const Sm *sm, uint32_t w, const Inst *inst) {
    const char *text = sm->running->kernel->sources[sm_inst_index(sm, w, inst)].opcode;
    bool both = strstr(text, ".acq_rel") != NULL;
    uint32_t acquires = both || strstr(text, ".acquire") ? ACQUIRES : 0;
    uint32_t releases = both || strstr(text, ".release") ? RELEASES : 0;
    bool is_strong = inst->kind == INST_ATOMIC || acquires || releases || strstr(text, ".volatile") ||
                     strstr(text, ".relaxed") || strstr(text, ".mmio");
    return (is_strong ? STRONG : 0) | acquires | releases;
}

void memcheck_access(Sm *sm, uint32_t w, const Inst *inst) {
    uint64_t cycle = object_cycle(&sm->obj, sm->obj.cluster->now);
    ExecContext *context = sm->context;
    uint32_t bytes = (uint32_t)inst->element_bytes * inst->elements, global, shared;
    bool is_plain = inst->kind == INST_LOAD || inst->kind == INST_STORE || inst->kind == INST_ATOMIC;
    if (!is_plain || !context->active) return;
    if (inst->space != SPACE_GLOBAL && inst->space != SPACE_SHARED && inst->space != SPACE_GENERIC) return;
    if (inst->detail & DETAIL_BULK) {
        look_at_bulk(sm, inst, (Access){sm, inst, inst->kind, 0, w, 0, cycle, 0});
        return;
    }
    AsyncCopy copy[WARP_LANES];
    bool is_copy = inst->kind == INST_LOAD && inst->detail & DETAIL_ASYNC_COPY;
    if (is_copy) exec_find_async(inst, context, copy);
    exec_find_addresses(inst, context, &global, &shared);
    uint32_t strength = shared ? strength_of(sm, w, inst) : 0;
    for (uint32_t lanes = global | shared; lanes; lanes &= lanes - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(lanes);
        Access access = {sm, inst, inst->kind, strength, w, lane, cycle, context->address[lane]};
        if (access.address & (inst->element_bytes - 1u)) continue; /* a fault */
        if (is_copy)
            look_at_copy(sm, &access, &copy[lane], bytes);
        else
            look_at_elements(sm, &access, global >> lane & 1);
    }
    if (mbarrier_is_wait(inst)) memcheck_barrier(sm, sm->warp[w].cta_slot, warp_bit(w), false);
    context->space = inst->space;
}

/* --- All SMs ---------------------------------------------------------------------------------- */

static int compare_sites(const void *first, const void *second) {
    const MemcheckSite *a = first, *b = second;
    if (a->launch != b->launch) return a->launch < b->launch ? -1 : 1;
    if (a->cycle != b->cycle) return a->cycle < b->cycle ? -1 : 1;
    if (a->sm != b->sm) return a->sm < b->sm ? -1 : 1;
    if (a->inst != b->inst) return a->inst < b->inst ? -1 : 1;
    if (a->other_inst != b->other_inst) return a->other_inst < b->other_inst ? -1 : 1;
    return (a->kind > b->kind) - (a->kind < b->kind);
}

/* The sorted list, each place once. */
static uint32_t merge_sites(MemcheckSite *sites, uint32_t count) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = 0;
        while (at < kept && !is_same_place(&sites[at], &sites[i]))
            at++;
        if (at < kept)
            sites[at].count += sites[i].count;
        else
            sites[kept++] = sites[i];
    }
    return kept;
}

uint32_t memcheck_collect(Sm *const *sms, uint32_t sm_count, MemcheckSite **sites) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < sm_count; i++)
        count += sms[i]->memcheck ? sms[i]->memcheck->site_count : 0;
    *sites = calloc(count + 1, sizeof **sites);
    ensure_memory(*sites);
    count = 0;
    for (uint32_t i = 0; i < sm_count; i++) {
        const Memcheck *check = sms[i]->memcheck;
        if (!check) continue;
        memcpy(*sites + count, check->sites, check->site_count * sizeof **sites);
        count += check->site_count;
    }
    qsort(*sites, count, sizeof **sites, compare_sites);
    return merge_sites(*sites, count);
}
