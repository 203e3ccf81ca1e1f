#include "core/cuda/runtime/capture.h"

#include "core/cuda/runtime/pending.h"

#include <pthread.h>
#include <stdlib.h>

enum { EXTERNAL = 1 };

typedef struct WarpCapture {
    struct WarpCapture *next;
    uint64_t number;
    WarpGraph *graph;
    bool is_owner; /* of the graph: it was not the program's before */
    bool is_invalid;
    CaptureMode mode;
    pthread_t thread;
    WarpStream *origin;  /* where it was begun                    */
    WarpStream *streams; /* that one, and those that have joined  */
} WarpCapture;

char warp_wait_handle;
static WarpCapture *captures;
static uint64_t last_number;
static _Thread_local CaptureMode thread_mode;

/* --- What is permitted -------------------------------------------------------------------------- */

static int invalidate(WarpCapture *capture, int problem) {
    capture->is_invalid = true;
    return problem;
}

static bool is_own(const WarpCapture *capture) {
    return pthread_equal(capture->thread, pthread_self());
}

static bool forbids(const WarpCapture *capture) {
    if (thread_mode == CAPTURE_RELAXED) return false;
    if (is_own(capture)) return capture->mode != CAPTURE_RELAXED;
    return thread_mode == CAPTURE_GLOBAL && capture->mode == CAPTURE_GLOBAL;
}

int warp_capture_forbids(void) {
    int problem = CUDA_OK;
    for (WarpCapture *capture = captures; capture; capture = capture->next)
        if (forbids(capture)) problem = invalidate(capture, CUDA_CAPTURE_UNSUPPORTED);
    return problem;
}

static bool is_blocking(const WarpCapture *capture) {
    for (const WarpStream *stream = capture->streams; stream; stream = stream->next_captured)
        if (!(stream->flags & STREAM_NON_BLOCKING)) return true;
    return false;
}

/* The legacy stream waits for all blocking streams, which a captured one cannot be waited for. */
static int check_legacy(const WarpStream *stream) {
    int problem = CUDA_OK;
    for (WarpCapture *capture = captures; warp_stream_is_legacy(stream) && capture; capture = capture->next)
        if (is_blocking(capture)) problem = invalidate(capture, CUDA_CAPTURE_IMPLICIT);
    return problem;
}

/* --- To record or to do ------------------------------------------------------------------------- */

static void set_tail(WarpStream *stream, WarpNode *node) {
    stream->tail.count = 0;
    warp_nodes_add(&stream->tail, node);
}

static int record(WarpStream *stream, const WarpWork *work) {
    WarpNode *node;
    if (stream->capture->is_invalid) return CUDA_CAPTURE_INVALIDATED;
    int problem = warp_graph_add(stream->capture->graph, &stream->tail, work, &node);
    if (!problem) set_tail(stream, node);
    return problem;
}

int warp_submit(void *handle, const WarpWork *work) {
    WarpStream *stream = warp_stream(handle == WARP_WAIT ? NULL : handle);
    if (!stream) return CUDA_INVALID_HANDLE;
    if (stream->capture && handle != WARP_WAIT) return record(stream, work);
    int problem = handle == WARP_WAIT ? warp_wait_for_stream(NULL) : check_legacy(stream);
    if (!problem && handle == WARP_WAIT) problem = warp_capture_forbids();
    if (problem) return problem;
    return warp_issue(stream, work);
}

static int stream_is_done(void *handle, bool asks) {
    WarpStream *stream = warp_stream(handle);
    if (!stream) return CUDA_INVALID_HANDLE;
    int problem = stream->capture ? CUDA_OK : check_legacy(stream);
    if (problem) return problem;
    if (!stream->capture) return warp_do_pending_of(stream, asks);
    if (stream->capture->is_invalid) return CUDA_CAPTURE_INVALIDATED;
    return invalidate(stream->capture, CUDA_CAPTURE_UNSUPPORTED);
}

int warp_wait_for_stream(void *handle) {
    return stream_is_done(handle, false);
}

int warp_ask_stream(void *handle) {
    return stream_is_done(handle, true);
}

int warp_wait_for_device(void) {
    int problem = CUDA_OK;
    for (WarpCapture *capture = captures; capture; capture = capture->next)
        problem = invalidate(capture, CUDA_CAPTURE_UNSUPPORTED);
    return problem ? problem : warp_do_pending();
}

/* --- Events ------------------------------------------------------------------------------------- */

static WarpCapture *capture_of(const WarpEvent *event) {
    WarpCapture *capture = captures;
    while (capture && capture->number != event->capture)
        capture = capture->next;
    return capture;
}

static int event_is_done(void *handle, bool asks) {
    const WarpEvent *event = warp_event(handle);
    if (!event) return CUDA_INVALID_HANDLE;
    int problem = warp_capture_forbids();
    if (!event->capture) return problem ? problem : warp_do_pending_before(event, asks);
    WarpCapture *capture = capture_of(event);
    return capture ? invalidate(capture, CUDA_CAPTURED_EVENT) : CUDA_CAPTURED_EVENT;
}

int warp_wait_for_event(void *handle) {
    return event_is_done(handle, false);
}

int warp_ask_event(void *handle) {
    return event_is_done(handle, true);
}

int warp_stream_record(void *handle, void *event_handle, unsigned flags) {
    WarpStream *stream = warp_stream(handle);
    WarpEvent *event = warp_event(event_handle);
    const WarpWork work = {.kind = WORK_RECORD, .event = event};
    if (!stream || !event) return CUDA_INVALID_HANDLE;
    if (!stream->capture || (flags & EXTERNAL)) return warp_submit(handle, &work);
    if (stream->capture->is_invalid) return CUDA_CAPTURE_INVALIDATED;
    event->capture = stream->capture->number;
    event->tail.count = 0;
    warp_nodes_add_all(&event->tail, &stream->tail);
    return CUDA_OK;
}

static void join(WarpStream *stream, WarpCapture *capture) {
    stream->capture = capture;
    stream->tail.count = 0;
    stream->next_captured = capture->streams;
    capture->streams = stream;
}

static int wait_for_captured(WarpStream *stream, const WarpEvent *event) {
    WarpCapture *capture = capture_of(event);
    if (!capture && stream->capture) return invalidate(stream->capture, CUDA_CAPTURE_ISOLATION);
    if (!capture) return CUDA_CAPTURED_EVENT;
    if (capture->is_invalid) return CUDA_CAPTURE_INVALIDATED;
    if (warp_stream_is_legacy(stream)) return invalidate(capture, CUDA_CAPTURE_IMPLICIT);
    if (stream->capture && stream->capture != capture) {
        invalidate(stream->capture, CUDA_CAPTURE_MERGE);
        return invalidate(capture, CUDA_CAPTURE_MERGE);
    }
    if (!stream->capture) join(stream, capture);
    warp_nodes_add_all(&stream->tail, &event->tail);
    return CUDA_OK;
}

int warp_stream_wait_event(void *handle, void *event_handle, unsigned flags) {
    WarpStream *stream = warp_stream(handle);
    const WarpEvent *event = warp_event(event_handle);
    const WarpWork work = {.kind = WORK_WAIT, .event = event_handle};
    if (!stream || !event) return CUDA_INVALID_HANDLE;
    if (event->capture) return wait_for_captured(stream, event);
    if (!stream->capture || (flags & EXTERNAL)) return warp_submit(handle, &work);
    return invalidate(stream->capture, CUDA_CAPTURE_ISOLATION);
}

/* --- Begin and end ------------------------------------------------------------------------------ */

int warp_capture_begin(void *handle, WarpGraph *graph, const WarpNodeSet *behind, CaptureMode mode) {
    WarpStream *stream = warp_stream(handle);
    if (!stream || mode > CAPTURE_RELAXED) return stream ? CUDA_INVALID_VALUE : CUDA_INVALID_HANDLE;
    if (warp_stream_is_legacy(stream)) return CUDA_CAPTURE_UNSUPPORTED;
    if (stream->capture) return CUDA_ILLEGAL_STATE;
    if (graph && graph->is_captured) return CUDA_INVALID_VALUE;
    for (size_t i = 0; graph && i < behind->count; i++)
        if (!warp_node(behind->at[i]) || behind->at[i]->graph != graph) return CUDA_INVALID_VALUE;
    WarpCapture *capture = calloc(1, sizeof *capture);
    WarpGraph *target = graph ? graph : warp_graph_new();
    if (!capture || !target) abort();
    *capture = (WarpCapture){.next = captures,
                             .number = ++last_number,
                             .graph = target,
                             .is_owner = !graph,
                             .mode = mode,
                             .thread = pthread_self(),
                             .origin = stream};
    captures = capture;
    target->is_captured = true;
    join(stream, capture);
    if (graph) warp_nodes_add_all(&stream->tail, behind);
    return CUDA_OK;
}

static bool is_joined(const WarpStream *stream) {
    const WarpStream *origin = stream->capture->origin;
    for (size_t i = 0; i < stream->tail.count; i++)
        if (!warp_node_is_before(stream->tail.at[i], &origin->tail)) return false;
    return true;
}

static bool all_joined(const WarpCapture *capture) {
    for (const WarpStream *stream = capture->streams; stream; stream = stream->next_captured)
        if (!is_joined(stream)) return false;
    return true;
}

/* The streams are as they were before. Returns the graph. */
static WarpGraph *finish(WarpCapture *capture) {
    WarpCapture **link = &captures;
    WarpGraph *graph = capture->graph;
    while (*link != capture)
        link = &(*link)->next;
    *link = capture->next;
    for (WarpStream *stream = capture->streams; stream; stream = stream->next_captured) {
        stream->capture = NULL;
        warp_nodes_free(&stream->tail);
    }
    graph->is_captured = false;
    free(capture);
    return graph;
}

static void abandon(WarpCapture *capture) {
    bool is_owner = capture->is_owner;
    WarpGraph *graph = finish(capture);
    if (is_owner) warp_graph_free(graph);
}

int warp_capture_end(void *handle, WarpGraph **graph) {
    const WarpStream *stream = warp_stream(handle);
    WarpCapture *capture = stream ? stream->capture : NULL;
    if (!capture) return stream ? CUDA_ILLEGAL_STATE : CUDA_INVALID_HANDLE;
    if (capture->origin != stream) return invalidate(capture, CUDA_CAPTURE_UNMATCHED);
    if (capture->mode != CAPTURE_RELAXED && !is_own(capture)) return CUDA_CAPTURE_WRONG_THREAD;
    int problem = capture->is_invalid   ? CUDA_CAPTURE_INVALIDATED
                  : all_joined(capture) ? CUDA_OK
                                        : CUDA_CAPTURE_UNJOINED;
    *graph = NULL;
    if (problem)
        abandon(capture);
    else
        *graph = finish(capture);
    return problem;
}

void warp_captures_end(void) {
    while (captures)
        abandon(captures);
}

void warp_capture_lose(void *handle) {
    WarpStream *stream = warp_stream(handle);
    WarpCapture *capture = stream->capture;
    if (!capture) return;
    if (capture->origin == stream) {
        abandon(capture);
        return;
    }
    if (!is_joined(stream)) invalidate(capture, CUDA_CAPTURE_UNJOINED);
    WarpStream **link = &capture->streams;
    while (*link != stream)
        link = &(*link)->next_captured;
    *link = stream->next_captured;
}

/* --- Questions ---------------------------------------------------------------------------------- */

/* Asking about the legacy stream makes no capture invalid. */
int warp_capture_info(void *handle, CaptureInfo *info) {
    static const WarpNodeSet nothing = {0};
    const WarpStream *stream = warp_stream(handle);
    *info = (CaptureInfo){.status = CAPTURE_NONE, .tail = &nothing};
    if (!stream) return CUDA_INVALID_HANDLE;
    for (const WarpCapture *capture = captures; warp_stream_is_legacy(stream) && capture;
         capture = capture->next)
        if (is_blocking(capture)) return CUDA_CAPTURE_IMPLICIT;
    const WarpCapture *capture = stream->capture;
    if (!capture) return CUDA_OK;
    *info = (CaptureInfo){.status = capture->is_invalid ? CAPTURE_INVALID : CAPTURE_ACTIVE,
                          .number = capture->number,
                          .graph = capture->graph,
                          .tail = &stream->tail};
    return CUDA_OK;
}

int warp_capture_add_dependencies(void *handle, const WarpNodeSet *nodes, bool replaces) {
    WarpStream *stream = warp_stream(handle);
    if (!stream || !stream->capture) return stream ? CUDA_ILLEGAL_STATE : CUDA_INVALID_HANDLE;
    if (stream->capture->is_invalid) return CUDA_CAPTURE_INVALIDATED;
    for (size_t i = 0; i < nodes->count; i++)
        if (!warp_node(nodes->at[i]) || nodes->at[i]->graph != stream->capture->graph)
            return CUDA_INVALID_VALUE;
    if (replaces) stream->tail.count = 0;
    warp_nodes_add_all(&stream->tail, nodes);
    return CUDA_OK;
}

int warp_capture_exchange_mode(CaptureMode *mode) {
    CaptureMode before = thread_mode;
    if (!mode || *mode > CAPTURE_RELAXED) return CUDA_INVALID_VALUE;
    thread_mode = *mode;
    *mode = before;
    return CUDA_OK;
}
