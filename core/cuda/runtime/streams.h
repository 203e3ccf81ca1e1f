/* Streams and events: all that is asked for is done at once and in order, and time is that of the machine. */
#ifndef WW_CUDA_STREAMS_H
#define WW_CUDA_STREAMS_H

#include <stdbool.h>
#include <stdint.h>

enum { STREAM_ATTRIBUTES = 16, STREAM_ATTRIBUTE_WORDS = 4, STREAM_PRIORITY = 8 };

typedef struct {
    uint32_t magic;
    unsigned flags;
    int priority;
    uint64_t number;
    uint64_t attributes[STREAM_ATTRIBUTES][STREAM_ATTRIBUTE_WORDS]; /* kept, and answered */
} WarpStream;

typedef struct {
    uint32_t magic;
    unsigned flags;
    bool is_recorded;
    uint64_t cycle;
} WarpEvent;

WarpStream *warp_stream_new(unsigned flags, int priority);
/* The stream of a handle, which may be one of those that are always there; NULL for what is none. */
WarpStream *warp_stream(void *handle);
/* These return 0 or an error code. */
int warp_stream_get_attribute(void *handle, unsigned which, void *value);
int warp_stream_set_attribute(void *handle, unsigned which, const void *value);
int warp_stream_copy_attributes(void *to, void *from);
int warp_stream_free(void *handle);
WarpEvent *warp_event_new(unsigned flags);
WarpEvent *warp_event(void *handle);
int warp_event_free(void *handle);
int warp_event_record(void *handle);
/* In simulated milliseconds. */
int warp_event_elapsed(float *milliseconds, void *start, void *end);

#endif
