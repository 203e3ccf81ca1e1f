#include "core/cuda/runtime/streams.h"

#include "core/cuda/runtime/client.h"

#include <stdlib.h>
#include <string.h>

enum { STREAM_MAGIC = 0x57777374, EVENT_MAGIC = 0x57776576, EVENT_DISABLE_TIMING = 2 };

static uint64_t last_number;

/* Handles 0, 1 and 2: the default stream, and it again by its two other names. */
static WarpStream standing[] = {
    {.magic = STREAM_MAGIC}, {.magic = STREAM_MAGIC, .number = 1}, {.magic = STREAM_MAGIC, .number = 2}};
enum { STANDING = sizeof standing / sizeof *standing };

WarpStream *warp_stream_new(unsigned flags, int priority) {
    WarpStream *stream = malloc(sizeof *stream);
    if (stream) *stream = (WarpStream){STREAM_MAGIC, flags, priority, STANDING + last_number++, {{0}}};
    return stream;
}

WarpStream *warp_stream(void *handle) {
    WarpStream *stream = (uintptr_t)handle < STANDING ? &standing[(uintptr_t)handle] : handle;
    return stream->magic == STREAM_MAGIC ? stream : NULL;
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
    warp_stream(handle)->magic = 0;
    free(handle);
    return CUDA_OK;
}

WarpEvent *warp_event_new(unsigned flags) {
    WarpEvent *event = malloc(sizeof *event);
    if (event) *event = (WarpEvent){EVENT_MAGIC, flags, false, 0};
    return event;
}

WarpEvent *warp_event(void *handle) {
    WarpEvent *event = handle;
    return event && event->magic == EVENT_MAGIC ? event : NULL;
}

int warp_event_free(void *handle) {
    WarpEvent *event = warp_event(handle);
    if (!event) return CUDA_INVALID_HANDLE;
    event->magic = 0;
    free(event);
    return CUDA_OK;
}

int warp_event_record(void *handle) {
    WarpEvent *event = warp_event(handle);
    if (!event) return CUDA_INVALID_HANDLE;
    event->is_recorded = true;
    event->cycle = warp_cycle();
    return CUDA_OK;
}

int warp_event_elapsed(float *milliseconds, void *start, void *end) {
    const WarpEvent *first = warp_event(start), *last = warp_event(end);
    if (!milliseconds) return CUDA_INVALID_VALUE;
    if (!first || !last || !first->is_recorded || !last->is_recorded ||
        ((first->flags | last->flags) & EVENT_DISABLE_TIMING))
        return CUDA_INVALID_HANDLE;
    double cycles = (double)(int64_t)(last->cycle - first->cycle);
    *milliseconds = (float)(cycles / (double)warp_device()->number[DEVICE_CORE_KHZ]);
    return CUDA_OK;
}
