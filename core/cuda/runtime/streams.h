/* Streams and events: what a stream is asked for is done in order, and time is that of the machine. */
#ifndef WW_CUDA_STREAMS_H
#define WW_CUDA_STREAMS_H

#include "core/cuda/runtime/node_set.h"

#include <stdint.h>

enum { STREAM_ATTRIBUTES = 16, STREAM_ATTRIBUTE_WORDS = 4, STREAM_PRIORITY = 8, STREAM_NON_BLOCKING = 1 };

/* Places in the list of what is pending. */
typedef struct {
    uint32_t *at, count, capacity;
} WarpPlaces;

typedef struct WarpStream {
    unsigned flags;
    int priority;
    uint64_t number;
    uint64_t attributes[STREAM_ATTRIBUTES][STREAM_ATTRIBUTE_WORDS]; /* kept, and answered */
    struct WarpCapture *capture;                                    /* NULL: none */
    struct WarpStream *next_captured;                               /* by the same capture */
    WarpNodeSet tail; /* on which the next node of the capture depends */
    /* Of the round of pending.c in which it last issued something: */
    uint64_t round;
    WarpPlaces waits; /* for which its next work waits, beside the last one of its own */
    uint32_t last;
    bool has_last;
    /* Items before this one that the legacy stream and blocking ones wait for are in `waits`, or done. */
    uint32_t heeded;
} WarpStream;

typedef struct {
    unsigned flags;
    bool is_recorded;
    uint64_t cycle;
    uint64_t capture; /* the number of the capture in which it was last recorded, or 0 */
    WarpNodeSet tail; /* what had been captured by then */
    uint64_t round;   /* of pending.c in which it is recorded, and its place; of another one: it has been */
    uint32_t item;
} WarpEvent;

/* The stream of a handle, which may be one of those that are always there; NULL for what is none. */
WarpStream *warp_stream(void *handle);
/* The default stream that waits for all blocking streams, and they for it. */
bool warp_stream_is_legacy(const WarpStream *stream);
WarpStream *warp_legacy_stream(void);
/* The program is compiled so that handle 0 is the stream of the calling thread. */
void warp_streams_are_per_thread(void);
/* How many streams of its own the program has. */
uint32_t warp_stream_count(void);
/* These return 0 or an error code. */
int warp_stream_get_attribute(void *handle, unsigned which, void *value);
int warp_stream_set_attribute(void *handle, unsigned which, const void *value);
int warp_stream_copy_attributes(void *to, void *from);
int warp_stream_create(void **handle, unsigned flags, int priority);
int warp_stream_free(void *handle);
WarpEvent *warp_event_new(unsigned flags);
WarpEvent *warp_event(void *handle);
int warp_event_free(void *handle);
/* It is recorded in this core cycle. */
int warp_event_record(void *handle, uint64_t cycle);
/* All streams, events and captures of the program end. */
void warp_streams_reset(void);
/* In simulated milliseconds. */
int warp_event_elapsed(float *milliseconds, void *start, void *end);

#endif
