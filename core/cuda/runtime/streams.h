/* Streams and events: all that is asked for is done at once and in order, and time is that of the machine. */
#ifndef WW_CUDA_STREAMS_H
#define WW_CUDA_STREAMS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    uint32_t magic;
    unsigned flags;
    int priority;
    uint64_t number;
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
/* 0 or an error code. */
int warp_stream_free(void *handle);
WarpEvent *warp_event_new(unsigned flags);
WarpEvent *warp_event(void *handle);
int warp_event_free(void *handle);
int warp_event_record(void *handle);
/* In simulated milliseconds. */
int warp_event_elapsed(float *milliseconds, void *start, void *end);

#endif
