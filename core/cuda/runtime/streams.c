#include "core/cuda/runtime/streams.h"

#include "core/cuda/runtime/capture.h"
#include "core/cuda/runtime/handles.h"
#include "core/cuda/runtime/limits.h"
#include "core/cuda/runtime/pending.h"

#include <stdlib.h>
#include <string.h>

enum { EVENT_DISABLE_TIMING = 2 };

static uint64_t last_number;
static uint32_t alive; /* streams of the program's own */

/* Handles 0, 1 and 2: the default stream, the same by another name, and the one that each thread has of its own. */
enum { DEFAULT_STREAM, LEGACY_STREAM, PER_THREAD_STREAM, STANDING };

static WarpStream legacy[] = {{.number = DEFAULT_STREAM}, {.number = LEGACY_STREAM}};
static _Thread_local WarpStream *per_thread; /* a capture may outlive the thread */
static _Thread_local bool default_is_per_thread;

static int within_range(int priority) {
    return priority > LEAST_PRIORITY      ? LEAST_PRIORITY
           : priority < GREATEST_PRIORITY ? GREATEST_PRIORITY
                                          : priority;
}

int warp_stream_create(void **handle, unsigned flags, int priority) {
    WarpStream *stream = handle ? malloc(sizeof *stream) : NULL;
    if (!stream) return handle ? CUDA_MEMORY_ALLOCATION : CUDA_INVALID_VALUE;
    *stream = (WarpStream){
        .flags = flags, .priority = within_range(priority), .number = STANDING + last_number++};
    warp_handle_add(stream, HANDLE_STREAM);
    alive++;
    *handle = stream;
    return CUDA_OK;
}

static WarpStream *of_thread(void) {
    if (per_thread) return per_thread;
    per_thread = malloc(sizeof *per_thread);
    if (!per_thread) abort();
    *per_thread = (WarpStream){.number = PER_THREAD_STREAM};
    alive++;
    return per_thread;
}

WarpStream *warp_stream(void *handle) {
    uintptr_t number = (uintptr_t)handle;
    if (number == PER_THREAD_STREAM || (number == DEFAULT_STREAM && default_is_per_thread))
        return of_thread();
    return number < STANDING ? &legacy[number] : warp_handle(handle, HANDLE_STREAM);
}

bool warp_stream_is_legacy(const WarpStream *stream) {
    return stream == &legacy[DEFAULT_STREAM] || stream == &legacy[LEGACY_STREAM];
}

/* The same by either of its handles. */
WarpStream *warp_legacy_stream(void) {
    return &legacy[DEFAULT_STREAM];
}

void warp_streams_are_per_thread(void) {
    default_is_per_thread = true;
}

/* Where a stream has an attribute, and its size; NULL for what is none. */
static void *attribute(void *handle, unsigned which, size_t *bytes) {
    WarpStream *stream = warp_stream(handle);
    if (!stream || which >= STREAM_ATTRIBUTES) return NULL;
    bool is_priority = which == STREAM_PRIORITY;
    *bytes = is_priority ? sizeof stream->priority : sizeof stream->attributes[which];
    return is_priority ? (void *)&stream->priority : stream->attributes[which];
}

int warp_stream_get_attribute(void *handle, unsigned which, void *value) {
    size_t bytes;
    const void *kept = attribute(handle, which, &bytes);
    if (!kept || !value) return warp_stream(handle) ? CUDA_INVALID_VALUE : CUDA_INVALID_HANDLE;
    memcpy(value, kept, bytes);
    return CUDA_OK;
}

int warp_stream_set_attribute(void *handle, unsigned which, const void *value) {
    size_t bytes;
    void *kept = attribute(handle, which, &bytes);
    if (!kept || !value) return warp_stream(handle) ? CUDA_INVALID_VALUE : CUDA_INVALID_HANDLE;
    memcpy(kept, value, bytes);
    return CUDA_OK;
}

int warp_stream_copy_attributes(void *to, void *from) {
    WarpStream *target = warp_stream(to);
    const WarpStream *source = warp_stream(from);
    if (!target || !source) return CUDA_INVALID_HANDLE;
    target->priority = source->priority;
    memmove(target->attributes, source->attributes, sizeof target->attributes);
    return CUDA_OK;
}

int warp_stream_free(void *handle) {
    if ((uintptr_t)handle < STANDING || !warp_stream(handle)) return CUDA_INVALID_HANDLE;
    warp_capture_lose(handle);
    warp_nodes_free(&warp_stream(handle)->tail);
    free(warp_stream(handle)->waits.at);
    warp_handle_remove(handle);
    alive--;
    free(handle);
    return CUDA_OK;
}

uint32_t warp_stream_count(void) {
    return alive;
}

WarpEvent *warp_event_new(unsigned flags) {
    WarpEvent *event = malloc(sizeof *event);
    if (!event) return NULL;
    *event = (WarpEvent){.flags = flags};
    warp_handle_add(event, HANDLE_EVENT);
    return event;
}

WarpEvent *warp_event(void *handle) {
    return warp_handle(handle, HANDLE_EVENT);
}

int warp_event_free(void *handle) {
    WarpEvent *event = warp_event(handle);
    if (!event) return CUDA_INVALID_HANDLE;
    int problem = warp_event_forget(event);
    if (problem) return problem;
    warp_nodes_free(&event->tail);
    warp_handle_remove(event);
    free(event);
    return CUDA_OK;
}

static void free_tail(void *event) {
    warp_nodes_free(&((WarpEvent *)event)->tail);
}

static void free_waits(void *stream) {
    alive--;
    free(((WarpStream *)stream)->waits.at);
}

/* Without a capture, a stream has no tail. */
void warp_streams_reset(void) {
    warp_captures_end();
    warp_handles_free(HANDLE_STREAM, free_waits);
    warp_handles_free(HANDLE_EVENT, free_tail);
}

int warp_event_record(void *handle, uint64_t cycle) {
    WarpEvent *event = warp_event(handle);
    if (!event) return CUDA_INVALID_HANDLE;
    event->is_recorded = true;
    event->capture = event->round = 0;
    event->cycle = cycle;
    return CUDA_OK;
}

int warp_event_elapsed(float *milliseconds, void *start, void *end) {
    const WarpEvent *first = warp_event(start), *last = warp_event(end);
    int problem = first ? warp_do_pending_before(first, false) : CUDA_OK;
    if (!problem && last) problem = warp_do_pending_before(last, false);
    if (problem || !milliseconds) return problem ? problem : CUDA_INVALID_VALUE;
    if (first && last && (first->capture || last->capture)) return CUDA_CAPTURED_EVENT;
    if (!first || !last || !first->is_recorded || !last->is_recorded ||
        ((first->flags | last->flags) & EVENT_DISABLE_TIMING))
        return CUDA_INVALID_HANDLE;
    double cycles = (double)(int64_t)(last->cycle - first->cycle);
    *milliseconds = (float)(cycles / (double)warp_device()->number[DEVICE_CORE_KHZ]);
    return CUDA_OK;
}
