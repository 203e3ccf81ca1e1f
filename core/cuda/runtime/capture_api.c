/* Capture of streams. */
#include "core/cuda/runtime/both_apis.h"
#include "core/cuda/runtime/capture.h"
#include "core/cuda/runtime/streams.h"

static int begin(cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t *behind, const EdgeData *edges,
                 size_t count, int mode) {
    WarpNodeSet set;
    int problem = node_list(&set, behind, count);
    if (!problem) problem = check_edges(edges, count);
    if (!problem && !warp_graph(graph)) problem = CUDA_INVALID_VALUE;
    return problem ? problem : warp_capture_begin(stream, warp_graph(graph), &set, (CaptureMode)mode);
}

static int end(cudaStream_t stream, cudaGraph_t *graph) {
    return graph ? warp_capture_end(stream, (WarpGraph **)graph) : CUDA_INVALID_VALUE;
}

#if CUDA_MAJOR
#define BEGIN     "StreamBeginCapture"
#define BEGIN_OWN "StreamBeginCapture_ptsz"
#else
#define BEGIN     "StreamBeginCapture_v2"
#define BEGIN_OWN "StreamBeginCapture_v2_ptsz"

CUresult cuStreamBeginCapture(cudaStream_t stream) {
    ANSWER(warp_capture_begin(stream, NULL, NULL, CAPTURE_GLOBAL));
}
CUresult cuStreamBeginCapture_ptsz(cudaStream_t stream) {
    warp_streams_are_per_thread();
    return cuStreamBeginCapture(stream);
}
#endif

ApiResult begin_capture(cudaStream_t stream, enum cudaStreamCaptureMode mode) NAMED(BEGIN);
ApiResult begin_capture(cudaStream_t stream, enum cudaStreamCaptureMode mode) {
    ANSWER(warp_capture_begin(stream, NULL, NULL, (CaptureMode)mode));
}
ApiResult begin_capture_own(cudaStream_t stream, enum cudaStreamCaptureMode mode) NAMED(BEGIN_OWN);
ApiResult begin_capture_own(cudaStream_t stream, enum cudaStreamCaptureMode mode) {
    warp_streams_are_per_thread();
    return begin_capture(stream, mode);
}

ApiResult API(StreamBeginCaptureToGraph)(cudaStream_t stream, cudaGraph_t graph,
                                         const cudaGraphNode_t *behind, const EdgeData *edges, size_t count,
                                         enum cudaStreamCaptureMode mode) {
    ANSWER(begin(stream, graph, behind, edges, count, (int)mode));
}
ApiResult API(StreamBeginCaptureToGraph_ptsz)(cudaStream_t stream, cudaGraph_t graph,
                                              const cudaGraphNode_t *behind, const EdgeData *edges,
                                              size_t count, enum cudaStreamCaptureMode mode) {
    warp_streams_are_per_thread();
    return API(StreamBeginCaptureToGraph)(stream, graph, behind, edges, count, mode);
}
ApiResult API(StreamEndCapture)(cudaStream_t stream, cudaGraph_t *graph) {
    ANSWER(end(stream, graph));
}

/* --- Questions ---------------------------------------------------------------------------------- */

static int is_capturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status) {
    CaptureInfo info;
    int problem = status ? warp_capture_info(stream, &info) : CUDA_INVALID_VALUE;
    if (!problem) *status = (enum cudaStreamCaptureStatus)info.status;
    return problem;
}

/* All but the status may be left out. */
static int get_info(cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *number,
                    cudaGraph_t *graph, const cudaGraphNode_t **nodes, const EdgeData **edges,
                    size_t *count) {
    CaptureInfo info;
    int problem = status ? warp_capture_info(stream, &info) : CUDA_INVALID_VALUE;
    if (problem) return problem;
    *status = (enum cudaStreamCaptureStatus)info.status;
    if (edges) *edges = NULL;
    if (info.status != CAPTURE_ACTIVE) return CUDA_OK;
    if (number) *number = info.number;
    if (graph) *graph = (cudaGraph_t)info.graph;
    if (nodes) *nodes = (const cudaGraphNode_t *)info.tail->at;
    if (count) *count = info.tail->count;
    return CUDA_OK;
}

static int update(cudaStream_t stream, cudaGraphNode_t *nodes, const EdgeData *edges, size_t count,
                  unsigned flags) {
    WarpNodeSet set;
    int problem = node_list(&set, nodes, count);
    if (!problem && flags > 1) problem = CUDA_INVALID_VALUE;
    if (!problem) problem = check_edges(edges, count);
    return problem ? problem : warp_capture_add_dependencies(stream, &set, flags == 1);
}

ApiResult API(StreamIsCapturing)(cudaStream_t stream, enum cudaStreamCaptureStatus *status) {
    ANSWER(is_capturing(stream, status));
}

/* The first two have no edges; the plain name is that of another in each version. */
#if CUDA_MAJOR < 13
ApiResult get_info_first(cudaStream_t stream, enum cudaStreamCaptureStatus *status,
                         unsigned long long *number) NAMED("StreamGetCaptureInfo");
ApiResult get_info_first(cudaStream_t stream, enum cudaStreamCaptureStatus *status,
                         unsigned long long *number) {
    ANSWER(get_info(stream, status, number, NULL, NULL, NULL, NULL));
}
ApiResult update_plain(cudaStream_t stream, cudaGraphNode_t *nodes, size_t count, unsigned flags)
    NAMED("StreamUpdateCaptureDependencies");
ApiResult update_plain(cudaStream_t stream, cudaGraphNode_t *nodes, size_t count, unsigned flags) {
    ANSWER(update(stream, nodes, NULL, count, flags));
}
#endif
ApiResult API(StreamGetCaptureInfo_v2)(cudaStream_t stream, enum cudaStreamCaptureStatus *status,
                                       unsigned long long *number, cudaGraph_t *graph,
                                       const cudaGraphNode_t **nodes, size_t *count) {
    ANSWER(get_info(stream, status, number, graph, nodes, NULL, count));
}
ApiResult API(StreamGetCaptureInfo_v3)(cudaStream_t stream, enum cudaStreamCaptureStatus *status,
                                       unsigned long long *number, cudaGraph_t *graph,
                                       const cudaGraphNode_t **nodes, const EdgeData **edges, size_t *count) {
    ANSWER(get_info(stream, status, number, graph, nodes, edges, count));
}
ApiResult API(StreamUpdateCaptureDependencies_v2)(cudaStream_t stream, cudaGraphNode_t *nodes,
                                                  const EdgeData *edges, size_t count, unsigned flags) {
    ANSWER(update(stream, nodes, edges, count, flags));
}
#if CUDA_MAJOR >= 13
ALSO_NAMED(StreamGetCaptureInfo, cudaStreamGetCaptureInfo_v3, "StreamGetCaptureInfo_v3")
ALSO_NAMED(StreamUpdateCaptureDependencies, cudaStreamUpdateCaptureDependencies_v2,
           "StreamUpdateCaptureDependencies_v2")
#endif

ApiResult API(ThreadExchangeStreamCaptureMode)(enum cudaStreamCaptureMode *mode) {
    ANSWER(mode ? warp_capture_exchange_mode((CaptureMode *)mode) : CUDA_INVALID_VALUE);
}
