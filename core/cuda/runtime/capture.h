/* Capture: work of a stream that is captured becomes nodes of a graph, all other is done, or issued: see pending.h.
 * Between warp_enter() and warp_leave(); these return 0 or an error code. What CUDA does not permit while a stream is
 * captured is an error, and makes the capture invalid. */
#ifndef WW_CUDA_CAPTURE_H
#define WW_CUDA_CAPTURE_H

#include "core/cuda/runtime/graph.h"

/* In place of a stream, for calls that return when their work is done. */
extern char warp_wait_handle;
#define WARP_WAIT ((void *)&warp_wait_handle)

int warp_submit(void *stream, const WarpWork *work);
/* Of calls that are not in the order of a stream, such as cudaMalloc(): may this thread call them? */
int warp_capture_forbids(void);

int warp_wait_for_stream(void *stream);
int warp_wait_for_device(void);
int warp_wait_for_event(void *event);
/* The same, of which is asked whether it is done: CUDA_NOT_READY, some cycles later. */
int warp_ask_stream(void *stream);
int warp_ask_event(void *event);
/* Flag 1 makes a node of either. */
int warp_stream_record(void *stream, void *event, unsigned flags);
int warp_stream_wait_event(void *stream, void *event, unsigned flags);

/* By number in both APIs. */
typedef enum { CAPTURE_GLOBAL, CAPTURE_THREAD_LOCAL, CAPTURE_RELAXED } CaptureMode;
typedef enum { CAPTURE_NONE, CAPTURE_ACTIVE, CAPTURE_INVALID } CaptureStatus;

/* Into `graph`, behind these nodes of it; NULL: into a new one. */
int warp_capture_begin(void *stream, WarpGraph *graph, const WarpNodeSet *behind, CaptureMode mode);
int warp_capture_end(void *stream, WarpGraph **graph);

typedef struct {
    CaptureStatus status;
    uint64_t number;
    WarpGraph *graph;
    const WarpNodeSet *tail; /* what the next node depends on */
} CaptureInfo;

int warp_capture_info(void *stream, CaptureInfo *info);
int warp_capture_add_dependencies(void *stream, const WarpNodeSet *nodes, bool replaces);
/* Of this thread: what captures of others forbid it. The mode before comes back. */
int warp_capture_exchange_mode(CaptureMode *mode);

/* Of all streams, as if they had never begun. */
void warp_captures_end(void);
/* A stream ends. */
void warp_capture_lose(void *stream);

#endif
