#include "core/cuda/runtime/pending.h"

#include "core/cuda/runtime/work_list.h"

#include <stdlib.h>

static WorkList pending;
/* Of work that is done at one go: places in the list of another one mean nothing. */
static uint64_t present_round = 1;

int warp_do_pending(void) {
    WorkList list = pending;
    if (!list.count) return CUDA_OK;
    pending = (WorkList){0};
    present_round++;
    int problem = warp_list_do(&list);
    return warp_dead() ? warp_dead() : problem;
}

/* A program that ends has waited for nobody. Not in the midst of a call, as where a signal ends it. */
__attribute__((destructor)) static void do_at_exit(void) {
    if (!pending.count || !warp_try_to_enter()) return;
    warp_do_pending();
    warp_leave();
}

bool warp_event_waits(const WarpEvent *event) {
    return event->round == present_round;
}

/* --- What waits for what ----------------------------------------------------------------------- */

static bool has_pending(const WarpStream *stream) {
    return stream->round == present_round && (stream->has_last || stream->waits.count);
}

static void forget_earlier_round(WarpStream *stream) {
    if (stream->round == present_round) return;
    stream->round = present_round;
    stream->has_last = false;
    stream->waits.count = 0;
}

/* The next work of the stream waits for this item, too. */
static void wait_for(WarpStream *stream, uint32_t item) {
    WarpPlaces *waits = &stream->waits;
    forget_earlier_round(stream);
    if (waits->count == waits->capacity) {
        waits->capacity = 2 * waits->capacity + 4;
        waits->at = realloc(waits->at, waits->capacity * sizeof *waits->at);
        if (!waits->at) abort();
    }
    waits->at[waits->count++] = item;
}

static int add(WarpStream *stream, const WarpWork *work) {
    forget_earlier_round(stream);
    if (stream->has_last) wait_for(stream, stream->last);
    int problem = warp_list_add(&pending, work, true, stream->waits.at, stream->waits.count,
                                stream->priority);
    stream->waits.count = 0;
    if (problem && stream->has_last) wait_for(stream, stream->last);
    if (problem) return problem;
    stream->has_last = true;
    stream->last = pending.count - 1;
    return CUDA_OK;
}

/* --- What may wait ----------------------------------------------------------------------------- */

static bool is_pinned(uint64_t address) {
    return warp_range(address) != NULL;
}

/* Memory that the program may change behind the call must be read in it. */
static bool may_wait(const WarpWork *work) {
    switch (work->kind) {
    case WORK_KERNEL: return !work->kernel.shape.is_cooperative;
    case WORK_COPY: return is_pinned(work->copy.to.address) && is_pinned(work->copy.from.address);
    case WORK_FILL:
    case WORK_RECORD:
    case WORK_EMPTY: return true;
    default: return false;
    }
}

static bool fits(const WorkKernel *kernel) {
    const uint32_t *block = kernel->shape.block;
    return kernel->function && !warp_function_load(kernel->function) && !kernel->function->is_refused &&
           warp_occupancy(kernel->function, block[0] * block[1] * block[2], kernel->shape.shared_bytes) > 0;
}

static int wait_for_event(WarpStream *stream, const WarpEvent *event) {
    if (event && warp_event_waits(event)) wait_for(stream, event->item);
    return CUDA_OK;
}

static int do_all_and(const WarpWork *work) {
    int problem = warp_do_pending();
    return problem ? problem : warp_work_do(work);
}

/* An event has the time of its last record, whichever stream comes to its own first. Who waits for the one before still
 * does. */
static void forget_record(WarpEvent *event) {
    if (!event || !warp_event_waits(event)) return;
    pending.items[event->item].work.kind = WORK_EMPTY;
    event->round = 0;
}

static int record(WarpStream *stream, const WarpWork *work) {
    WarpEvent *event = warp_event(work->event);
    if (!event) return CUDA_INVALID_HANDLE;
    int problem = add(stream, work);
    if (problem) return problem;
    event->is_recorded = true;
    event->capture = 0;
    event->round = present_round;
    event->item = stream->last;
    return CUDA_OK;
}

int warp_issue(WarpStream *stream, const WarpWork *work) {
    bool is_kernel = work->kind == WORK_KERNEL;
    if (work->kind == WORK_WAIT) return wait_for_event(stream, warp_event(work->event));
    if (work->kind == WORK_RECORD) forget_record(warp_event(work->event));
    if (is_kernel && (warp_shares_memory() || !fits(&work->kernel))) return do_all_and(work);
    if (!is_kernel && !has_pending(stream)) return warp_work_do(work);
    if (!may_wait(work)) return do_all_and(work);
    return work->kind == WORK_RECORD ? record(stream, work) : add(stream, work);
}
