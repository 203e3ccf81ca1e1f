#include "core/cuda/runtime/pending.h"

#include "core/cuda/runtime/graph.h"
#include "core/cuda/runtime/work_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* A query that finds work undone lets the core clock come to the next multiple. */
enum { QUERY_CYCLES = 1000 };

static WorkList pending;
/* Of one list of work, until all of it is done: places in another one mean nothing. */
static uint64_t present_round = 1;

static WorkList take_pending(void) {
    WorkList list = pending;
    pending = (WorkList){0};
    present_round++;
    return list;
}

/* What begins beside kernels in flight does, until all have ended. */
static int end_all_in_flight(void) {
    uint32_t *all = calloc(pending.count, sizeof *all);
    if (!all) abort();
    for (uint32_t i = 0; i < pending.count; i++)
        all[i] = i;
    int problem = warp_list_do_until(&pending, all, pending.count, 0);
    free(all);
    return problem == CUDA_NOT_SUPPORTED && !warp_dead() ? warp_list_land(&pending) : problem;
}

/* Another thread of the program may write the word that a stream waits for, or issue work. */
static void let_others_in(void) {
    enum { TELLS_AFTER_MS = 1000 };
    uint64_t round = present_round;
    uint32_t count = pending.count;
    for (uint32_t ms = 0;
         !warp_dead() && round == present_round && count == pending.count && warp_list_is_stuck(&pending);
         ms++) {
        warp_leave();
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        if (ms == TELLS_AFTER_MS && !pending.running)
            fprintf(stderr, "warpwright: a stream waits for a word (cuStreamWaitValue32() or its kin) that "
                            "nobody has written yet\n");
        warp_enter();
    }
}

static void forget_pending(void) {
    WorkList list = take_pending();
    warp_list_empty(&list);
}

/* Is a host function that is to be done calling? A wait of its own would be for itself. */
static bool is_part_of_it(void) {
    return pending.running && warp_in_host_function();
}

/* `asks`: CUDA_NOT_READY where a stream waits for a word that is not there. */
static int do_all(bool asks) {
    int first = CUDA_OK;
    if (is_part_of_it()) return CUDA_NOT_PERMITTED;
    while (pending.count && !warp_dead()) {
        int problem = pending.in_flight ? end_all_in_flight() : CUDA_OK;
        if (!first && problem != CUDA_NOT_READY) first = problem;
        problem = warp_list_do(&pending);
        if (!first) first = problem;
        if (warp_dead() || warp_list_is_all(&pending, NULL, 0)) break;
        if (asks) return first ? first : CUDA_NOT_READY;
        let_others_in();
    }
    if (pending.count) forget_pending();
    return warp_dead() ? warp_dead() : first;
}

int warp_do_pending(void) {
    return pending.count ? do_all(false) : CUDA_OK;
}

int warp_end_pending(void) {
    int problem = pending.count ? do_all(true) : CUDA_OK;
    forget_pending();
    return problem;
}

int warp_land(void) {
    return pending.in_flight ? warp_do_pending() : CUDA_OK;
}

bool warp_is_in_flight(void) {
    return pending.in_flight != 0;
}

/* A program that ends has waited for nobody. Not in the midst of a call, as where a signal ends it. */
__attribute__((destructor)) static void do_at_exit(void) {
    if (!pending.count || !warp_try_to_enter()) return;
    warp_end_pending();
    warp_leave();
}

bool warp_event_waits(const WarpEvent *event) {
    return event->round == present_round;
}

/* --- What waits for what ----------------------------------------------------------------------- */

static bool has_pending(const WarpStream *stream) {
    if (stream->round != present_round) return false;
    return !warp_list_are_done(&pending, stream->waits.at, stream->waits.count) ||
           (stream->has_last && !warp_list_are_done(&pending, &stream->last, 1));
}

static void forget_earlier_round(WarpStream *stream) {
    if (stream->round == present_round) return;
    stream->round = present_round;
    stream->has_last = false;
    stream->waits.count = 0;
    stream->heeded = 0;
}

static void add_place(WarpPlaces *places, uint32_t item) {
    if (places->count == places->capacity) {
        places->capacity = 2 * places->capacity + 4;
        places->at = realloc(places->at, places->capacity * sizeof *places->at);
        if (!places->at) abort();
    }
    places->at[places->count++] = item;
}

/* The next work of the stream waits for this item, too. */
static void wait_for(WarpStream *stream, uint32_t item) {
    forget_earlier_round(stream);
    add_place(&stream->waits, item);
}

/* From this item on they are the stream's. */
static void take_items(WarpStream *stream, uint32_t first) {
    bool is_blocking = stream != warp_legacy_stream() && !(stream->flags & STREAM_NON_BLOCKING);
    for (uint32_t i = first; i < pending.count; i++)
        pending.items[i].is_blocking = is_blocking;
    stream->waits.count = 0;
    stream->has_last = true;
    stream->last = pending.count - 1;
}

static int add(WarpStream *stream, const WarpWork *work) {
    uint32_t count = stream->waits.count;
    if (stream->has_last) wait_for(stream, stream->last);
    int problem = warp_list_add(&pending, work, true, stream->waits.at, stream->waits.count,
                                stream->priority);
    if (problem)
        stream->waits.count = count;
    else
        take_items(stream, pending.count - 1);
    return problem;
}

/* The legacy stream waits for what blocking streams have issued, and what they issue then for it. */
static void heed_other_streams(WarpStream *stream) {
    WarpStream *legacy = warp_legacy_stream();
    forget_earlier_round(stream);
    forget_earlier_round(legacy);
    if (stream->flags & STREAM_NON_BLOCKING) return;
    if (stream != legacy) {
        if (legacy->has_last && stream->heeded <= legacy->last) wait_for(stream, legacy->last);
        stream->heeded = pending.count;
        return;
    }
    if (legacy->heeded < pending.first) legacy->heeded = pending.first;
    for (; legacy->heeded < pending.count; legacy->heeded++)
        if (pending.items[legacy->heeded].is_blocking) wait_for(legacy, legacy->heeded);
}

/* --- Waits for a part of it --------------------------------------------------------------------- */

/* Has anybody else kernels that could be in flight? */
static bool are_several(void) {
    return warp_stream_count() > 1 || has_pending(warp_legacy_stream());
}

/* With one stream all is done. */
static int do_until(const uint32_t *items, uint32_t count, bool asks) {
    if (is_part_of_it()) return CUDA_NOT_PERMITTED;
    bool is_all = !are_several() || (!asks && warp_list_is_all(&pending, items, count));
    if (is_all && !pending.in_flight) return do_all(asks);
    int problem = warp_list_do_until(&pending, items, count, asks ? QUERY_CYCLES : 0);
    if (problem == CUDA_NOT_SUPPORTED) return do_all(asks);
    bool is_done = warp_list_are_done(&pending, items, count);
    if (warp_dead() || warp_list_is_all(&pending, NULL, 0)) forget_pending();
    return warp_dead() ? warp_dead() : problem ? problem : is_done ? CUDA_OK : CUDA_NOT_READY;
}

int warp_do_pending_of(WarpStream *stream, bool asks) {
    if (warp_stream_is_legacy(stream)) stream = warp_legacy_stream();
    if (stream == warp_legacy_stream()) heed_other_streams(stream);
    for (;;) {
        if (!has_pending(stream)) return CUDA_OK;
        uint32_t count = stream->waits.count;
        if (stream->has_last) wait_for(stream, stream->last);
        int problem = do_until(stream->waits.at, stream->waits.count, asks);
        stream->waits.count = count;
        if (problem != CUDA_NOT_READY || asks) return problem;
        let_others_in();
    }
}

int warp_do_pending_before(const WarpEvent *event, bool asks) {
    for (;;) {
        int problem = warp_event_waits(event) ? do_until(&event->item, 1, asks) : CUDA_OK;
        if (problem != CUDA_NOT_READY || asks) return problem;
        let_others_in();
    }
}

/* --- What may wait ----------------------------------------------------------------------------- */

static bool is_pinned(uint64_t address) {
    return warp_range(address) != NULL;
}

/* Memory that the program may change behind the call must be read in it. */
static bool may_wait(const WarpWork *work) {
    switch (work->kind) {
    case WORK_COPY: return is_pinned(work->copy.to.address) && is_pinned(work->copy.from.address);
    case WORK_KERNEL:
    case WORK_FILL:
    case WORK_RECORD:
    case WORK_VALUE:
    case WORK_HOLD:
    case WORK_EMPTY: return true;
    default: return false;
    }
}

/* For a CTA; for all of them where they wait for each other. */
static bool has_places(const WorkKernel *kernel) {
    const uint32_t *block = kernel->shape.block, *grid = kernel->shape.grid;
    uint64_t each = warp_occupancy(kernel->function, block[0] * block[1] * block[2],
                                   kernel->shape.shared_bytes),
             all = each * (uint64_t)warp_device()->number[DEVICE_SMS];
    return each && (!kernel->shape.is_cooperative || (uint64_t)grid[0] * grid[1] * grid[2] <= all);
}

static bool fits(const WorkKernel *kernel) {
    return kernel->function && !warp_function_load(kernel->function) && !kernel->function->is_refused &&
           has_places(kernel);
}

static int wait_for_event(WarpStream *stream, const WarpEvent *event) {
    if (event && warp_event_waits(event)) wait_for(stream, event->item);
    return CUDA_OK;
}

/* A launch that is not legal must not wait for kernels in flight, which may wait for the program. */
static int refusal_of(const WorkKernel *kernel) {
    return warp_check_launch(kernel->function, &kernel->shape, kernel->params || kernel->packed);
}

static int do_all_and(const WarpWork *work) {
    int problem = warp_do_pending();
    return problem ? problem : warp_work_do(work);
}

/* Kernels of other streams may stay in flight where the work launches none. */
static int do_stream_and(WarpStream *stream, const WarpWork *work) {
    bool is_own = work->kind == WORK_COPY || work->kind == WORK_FILL || work->kind == WORK_HOST;
    int problem = is_own ? warp_do_pending_of(stream, false) : warp_do_pending();
    return problem ? problem : warp_work_do(work);
}

/* An event has the time of its last record, whichever stream comes to its own first. Who waits for the one before still
 * does. */
void warp_event_forget_record(WarpEvent *event) {
    if (!event || !warp_event_waits(event)) return;
    pending.items[event->item].work.kind = WORK_EMPTY;
    event->round = 0;
}

void warp_event_note_record(WarpEvent *event, uint32_t item) {
    event->is_recorded = true;
    event->capture = 0;
    event->round = present_round;
    event->item = item;
}

static int record(WarpStream *stream, const WarpWork *work) {
    WarpEvent *event = warp_event(work->event);
    if (!event) return CUDA_INVALID_HANDLE;
    int problem = add(stream, work);
    if (problem) return problem;
    warp_event_note_record(event, stream->last);
    return CUDA_OK;
}

/* Are its kernels legal on this machine? */
static bool graph_may_wait(const WarpGraph *graph) {
    bool may = true;
    for (size_t i = 0; i < graph->nodes.count && may; i++) {
        const WarpWork *work = &graph->nodes.at[i]->work;
        if (work->kind == WORK_GRAPH) may = graph_may_wait(work->graph);
        if (work->kind == WORK_KERNEL) may = fits(&work->kernel);
    }
    return may;
}

/* Of what is pending: those of memory that the program may change behind the call, and host functions. That a kernel fails
 * meanwhile is the error of the next call. */
static int wait_for_those_of_host(uint32_t first) {
    WarpPlaces found = {0};
    uint64_t round = present_round;
    int problem = CUDA_NOT_READY;
    for (uint32_t i = first; i < pending.count; i++)
        if (!may_wait(&pending.items[i].work)) add_place(&found, i);
    while (found.count && problem == CUDA_NOT_READY && round == present_round) {
        problem = do_until(found.at, found.count, false);
        if (problem == CUDA_NOT_READY) let_others_in();
    }
    free(found.at);
    return warp_dead() || problem == CUDA_NOT_READY ? CUDA_OK : problem;
}

static int add_graph(WarpStream *stream, WarpGraph *graph) {
    uint32_t first = pending.count;
    if (stream->has_last) wait_for(stream, stream->last);
    int problem = warp_graph_add_to(graph, &pending, stream->waits.at, stream->waits.count);
    if (pending.count > first) take_items(stream, first);
    return problem ? problem : wait_for_those_of_host(first);
}

/* A graph that cannot be in flight runs to its end in its launch. */
static int issue_graph(WarpStream *stream, const WarpWork *work) {
    if (!warp_shares_memory() && graph_may_wait(work->graph)) return add_graph(stream, work->graph);
    return pending.in_flight || has_pending(stream) ? do_all_and(work) : warp_work_do(work);
}

/* What is written before the call is seen at once. */
static int issue_value(WarpStream *stream, const WarpWork *work) {
    bool holds = false;
    int problem = has_pending(stream) ? CUDA_OK : warp_value_holds(&work->value, &holds);
    return problem || holds ? problem : add(stream, work);
}

int warp_issue(WarpStream *stream, const WarpWork *work) {
    bool is_kernel = work->kind == WORK_KERNEL, is_legacy = warp_stream_is_legacy(stream);
    bool is_value = work->kind == WORK_VALUE;
    if (is_legacy && !warp_stream_count() && !pending.count && !is_value) return do_all_and(work);
    if (is_legacy) stream = warp_legacy_stream();
    heed_other_streams(stream);
    if (work->kind == WORK_WAIT) return wait_for_event(stream, warp_event(work->event));
    if (work->kind == WORK_RECORD) warp_event_forget_record(warp_event(work->event));
    bool is_alone = warp_shares_memory() && !pending.count;
    int problem = is_kernel && work->kernel.function ? refusal_of(&work->kernel) : CUDA_OK;
    if (problem) return problem;
    if (is_kernel && (is_alone || !fits(&work->kernel))) return do_all_and(work);
    if (work->kind == WORK_GRAPH) return issue_graph(stream, work);
    if (is_value) return issue_value(stream, work);
    if (!is_kernel && !has_pending(stream)) return warp_work_do(work);
    if (!may_wait(work)) return do_stream_and(stream, work);
    return work->kind == WORK_RECORD ? record(stream, work) : add(stream, work);
}

int warp_event_forget(WarpEvent *event) {
    if (!warp_event_waits(event)) return CUDA_OK;
    if (!are_several()) return warp_do_pending();
    warp_event_forget_record(event);
    return CUDA_OK;
}
