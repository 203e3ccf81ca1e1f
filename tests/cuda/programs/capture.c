/* capture WHAT: one part of the capture of streams, checked as a program sees it. Says what is wrong, exits with how
 * much. */
#include "graph_checks.h"

#include <pthread.h>
#include <stdbool.h>

static void capture(void) {
    int *a = allocate(), *b = allocate(), host[N], back[N], calls = 0;
    cudaStream_t stream = new_stream(0);
    cudaGraph_t graph, graph_now;
    const cudaGraphNode_t *tail;
    unsigned long long number = 0;
    size_t count;
    enum cudaStreamCaptureStatus status;
    set_factor();
    for (int i = 0; i < N; i++)
        host[i] = i;
    memset(back, 0, sizeof back);
    GOOD(begin(stream));
    GOOD(cudaMemcpyAsync(a, host, sizeof host, cudaMemcpyHostToDevice, stream));
    GOOD(scale_in(stream, a, N));
    GOOD(cudaMemcpy2DAsync(b, 64, a, 64, 64, N * 4 / 64, cudaMemcpyDeviceToDevice, stream));
    GOOD(cudaMemsetAsync(b, 0, 8, stream));
    GOOD(cudaMemcpyAsync(back, b, sizeof back, cudaMemcpyDeviceToHost, stream));
    GOOD(cudaLaunchHostFunc(stream, count_call, &calls));
    GOOD(cudaStreamIsCapturing(stream, &status));
    EXPECT(status, cudaStreamCaptureStatusActive);
    GOOD(cudaStreamGetCaptureInfo_v2(stream, &status, &number, &graph_now, &tail, &count));
    EXPECT(number != 0, 1);
    EXPECT(count, 1);
    GOOD(cudaStreamEndCapture(stream, &graph));
    EXPECT(graph == graph_now, 1);
    GOOD(cudaStreamIsCapturing(stream, &status));
    EXPECT(status, cudaStreamCaptureStatusNone);
    EXPECT(first_of(a + 3), 0); /* nothing has run */
    EXPECT(calls, 0);
    EXPECT(count_of(graph), 6);
    cudaGraphExec_t exec = instance_of(graph);
    GOOD(cudaGraphUpload(exec, stream));
    for (int turn = 1; turn <= 3; turn++) {
        host[N - 1] = 100 * turn; /* a node reads what is there when it runs */
        GOOD(cudaGraphLaunch(exec, stream));
        GOOD(cudaStreamSynchronize(stream));
        EXPECT(calls, turn);
        for (int i = 2; i < N - 1; i++)
            EXPECT(back[i], 2 * i + BIAS);
        EXPECT(back[0] + back[1], 0);
        EXPECT(back[N - 1], 200 * turn + BIAS);
    }
    GOOD(cudaGraphExecDestroy(exec));
    GOOD(cudaGraphDestroy(graph));
    EXPECT(cudaGraphLaunch(0, stream), cudaErrorInvalidValue);
    GOOD(cudaStreamDestroy(stream));
}

/* main -> (left, right) -> main: the branches work on halves, which the end puts together. */
static void fork_join(void) {
    int *a = allocate(), *b = allocate(), host[2 * N];
    cudaStream_t origin = new_stream(cudaStreamNonBlocking), side = new_stream(cudaStreamNonBlocking);
    cudaEvent_t forked = new_event(), joined = new_event();
    cudaGraph_t graph;
    cudaGraphNode_t nodes[8], from[8], to[8];
    size_t count = 8, edges = 8;
    set_factor();
    GOOD(begin(origin));
    GOOD(cudaMemsetAsync(a, 0, N * 4, origin));
    GOOD(cudaEventRecord(forked, origin));
    GOOD(cudaStreamWaitEvent(side, forked, 0));
    GOOD(cudaMemsetAsync(b, 0, N * 4, side));
    GOOD(scale_in(side, b, N));
    GOOD(scale_in(origin, a, N));
    GOOD(cudaEventRecord(joined, side));
    GOOD(cudaStreamWaitEvent(origin, joined, 0));
    GOOD(cudaMemcpyAsync(host, a, N * 4, cudaMemcpyDeviceToHost, origin));
    GOOD(cudaMemcpyAsync(host + N, b, N * 4, cudaMemcpyDeviceToHost, origin));
    GOOD(cudaStreamEndCapture(origin, &graph));
    GOOD(cudaGraphGetNodes(graph, nodes, &count));
    EXPECT(count, 6);
    EXPECT(nodes[6] == 0, 1);
    GOOD(cudaGraphGetEdges(graph, from, to, &edges));
    EXPECT(edges, 6);
    count = 8;
    GOOD(cudaGraphGetRootNodes(graph, nodes, &count));
    EXPECT(count, 1);
    GOOD(cudaGraphNodeGetDependentNodes(nodes[0], 0, &count));
    EXPECT(count, 2);
    GOOD(cudaGraphGetNodes(graph, nodes, (count = 8, &count)));
    GOOD(cudaGraphNodeGetDependencies(nodes[4], to, (count = 8, &count)));
    EXPECT(count, 2); /* both branches */
    cudaGraphExec_t exec = instance_of(graph);
    GOOD(cudaGraphLaunch(exec, side));
    GOOD(cudaStreamSynchronize(side));
    for (int i = 0; i < 2 * N; i++)
        EXPECT(host[i], BIAS);
    /* a stream that has joined is as it was before */
    GOOD(scale_in(side, b, N));
    GOOD(cudaStreamSynchronize(side));
    EXPECT(last_of(b), 2 * BIAS + BIAS);
    GOOD(cudaStreamQuery(side));
    GOOD(cudaGraphExecDestroy(exec));
    GOOD(cudaGraphDestroy(graph));
}

static cudaGraph_t abandoned;

/* The capture is invalid, and ends without a graph. */
static void ends_with(cudaStream_t stream, cudaError_t error) {
    abandoned = (cudaGraph_t)1;
    EXPECT(cudaStreamEndCapture(stream, &abandoned), error);
    EXPECT(abandoned == 0, 1);
    cudaGetLastError();
}

static void errors_of_use(void) {
    int *a = allocate(), *b = 0, host = 0;
    cudaStream_t stream = new_stream(0), hidden = new_stream(cudaStreamNonBlocking);
    cudaEvent_t event = new_event();
    enum cudaStreamCaptureStatus status;
    GOOD(begin(stream));
    EXPECT(begin(stream), cudaErrorIllegalState);
    EXPECT(cudaStreamSynchronize(stream), cudaErrorStreamCaptureUnsupported);
    GOOD(cudaStreamIsCapturing(stream, &status));
    EXPECT(status, cudaStreamCaptureStatusInvalidated);
    EXPECT(scale_in(stream, a, N), cudaErrorStreamCaptureInvalidated);
    ends_with(stream, cudaErrorStreamCaptureInvalidated);
    GOOD(begin(stream));
    EXPECT(cudaStreamQuery(stream), cudaErrorStreamCaptureUnsupported);
    ends_with(stream, cudaErrorStreamCaptureInvalidated);
    GOOD(begin(stream));
    EXPECT(cudaDeviceSynchronize(), cudaErrorStreamCaptureUnsupported);
    ends_with(stream, cudaErrorStreamCaptureInvalidated);
    GOOD(begin(stream));
    EXPECT(cudaMalloc((void **)&b, 64), cudaErrorStreamCaptureUnsupported);
    ends_with(stream, cudaErrorStreamCaptureInvalidated);
    GOOD(begin(stream));
    EXPECT(cudaFree(a), cudaErrorStreamCaptureUnsupported);
    ends_with(stream, cudaErrorStreamCaptureInvalidated);
    GOOD(cudaHostRegister(&host, sizeof host, 0));
    GOOD(begin(stream));
    EXPECT(cudaHostUnregister(&host), cudaErrorStreamCaptureUnsupported);
    ends_with(stream, cudaErrorStreamCaptureInvalidated);
    GOOD(cudaHostUnregister(&host)); /* it still was */
    GOOD(cudaMemset(a, 1, 4));
    GOOD(begin(stream)); /* the legacy stream waits for blocking ones */
    EXPECT(cudaStreamIsCapturing(0, &status), cudaErrorStreamCaptureImplicit);
    GOOD(cudaStreamIsCapturing(stream, &status));
    EXPECT(status, cudaStreamCaptureStatusActive);
    EXPECT(scale_in(0, a, N), cudaErrorStreamCaptureImplicit);
    ends_with(stream, cudaErrorStreamCaptureInvalidated);
    GOOD(begin(stream));
    EXPECT(cudaMemcpy(&host, a, 4, cudaMemcpyDeviceToHost), cudaErrorStreamCaptureImplicit);
    ends_with(stream, cudaErrorStreamCaptureInvalidated);
    GOOD(begin(hidden)); /* and not for others */
    GOOD(scale_in(0, a, N));
    EXPECT(cudaStreamEndCapture(stream, &abandoned), cudaErrorIllegalState);
    GOOD(cudaStreamEndCapture(hidden, &abandoned));
    GOOD(cudaGraphDestroy(abandoned));
    GOOD(begin(hidden));
    EXPECT(cudaMemset(a, 0, 4), cudaErrorStreamCaptureUnsupported);
    ends_with(hidden, cudaErrorStreamCaptureInvalidated);
    EXPECT(begin(0), cudaErrorStreamCaptureUnsupported);
    EXPECT(begin(cudaStreamLegacy), cudaErrorStreamCaptureUnsupported);
    GOOD(begin(stream));
    GOOD(cudaEventRecord(event, stream));
    EXPECT(cudaEventSynchronize(event), cudaErrorCapturedEvent);
    ends_with(stream, cudaErrorStreamCaptureInvalidated);
    EXPECT(cudaEventQuery(event), cudaErrorCapturedEvent);
    GOOD(cudaEventRecord(event, stream));
    GOOD(cudaEventQuery(event));
    cudaGetLastError();
}

static void errors_of_forks(void) {
    int *a = allocate();
    cudaStream_t one = new_stream(0), two_ = new_stream(0);
    cudaEvent_t event = new_event(), other = new_event();
    GOOD(begin(one)); /* a branch that does not come back */
    GOOD(cudaEventRecord(event, one));
    GOOD(cudaStreamWaitEvent(two_, event, 0));
    GOOD(scale_in(two_, a, N));
    ends_with(one, cudaErrorStreamCaptureUnjoined);
    GOOD(cudaStreamSynchronize(two_));
    GOOD(begin(one)); /* the end is where the begin was */
    GOOD(cudaEventRecord(event, one));
    GOOD(cudaStreamWaitEvent(two_, event, 0));
    EXPECT(cudaStreamEndCapture(two_, &abandoned), cudaErrorStreamCaptureUnmatched);
    ends_with(one, cudaErrorStreamCaptureInvalidated);
    GOOD(begin(one)); /* two captures */
    GOOD(begin(two_));
    GOOD(cudaEventRecord(event, one));
    EXPECT(cudaStreamWaitEvent(two_, event, 0), cudaErrorStreamCaptureMerge);
    ends_with(one, cudaErrorStreamCaptureInvalidated);
    ends_with(two_, cudaErrorStreamCaptureInvalidated);
    GOOD(cudaEventRecord(other, two_)); /* an event from outside */
    GOOD(begin(one));
    EXPECT(cudaStreamWaitEvent(one, other, 0), cudaErrorStreamCaptureIsolation);
    ends_with(one, cudaErrorStreamCaptureInvalidated);
    GOOD(begin(one));
    GOOD(cudaEventRecord(event, one));
    EXPECT(cudaStreamWaitEvent(0, event, 0), cudaErrorStreamCaptureImplicit);
    ends_with(one, cudaErrorStreamCaptureInvalidated);
    GOOD(begin(one)); /* a branch that has come back ends; another stream may lie where it was */
    GOOD(cudaEventRecord(event, one));
    GOOD(cudaStreamWaitEvent(two_, event, 0));
    GOOD(cudaStreamDestroy(two_));
    two_ = new_stream(0);
    GOOD(begin(two_));
    GOOD(cudaStreamEndCapture(one, &abandoned));
    GOOD(cudaStreamEndCapture(two_, &abandoned));
    GOOD(begin(one)); /* a stream that ends with its capture */
    GOOD(cudaStreamDestroy(one));
    GOOD(cudaDeviceSynchronize());
    cudaGetLastError();
}

static cudaStream_t captured;

static void *allocate_elsewhere(void *mode) {
    enum cudaStreamCaptureMode own = (enum cudaStreamCaptureMode)(intptr_t)mode;
    void *memory = 0;
    GOOD(cudaThreadExchangeStreamCaptureMode(&own));
    EXPECT(own, cudaStreamCaptureModeGlobal);
    return (void *)(intptr_t)cudaMalloc(&memory, 64);
}

static void *end_elsewhere(void *nothing_) {
    (void)nothing_;
    return (void *)(intptr_t)cudaStreamEndCapture(captured, &abandoned);
}

static intptr_t elsewhere(void *(*function)(void *), intptr_t argument) {
    pthread_t thread;
    void *result = 0;
    pthread_create(&thread, 0, function, (void *)argument);
    pthread_join(thread, &result);
    return (intptr_t)result;
}

static void modes(void) {
    static const int allowed[3][3] = {
        {0, 1, 1}, {1, 1, 1}, {1, 1, 1}}; /* by mode of the capture, of the thread */
    int *a;
    cudaEvent_t event = new_event();
    captured = new_stream(cudaStreamNonBlocking);
    for (int mode = 0; mode < 3; mode++)
        for (int own = 0; own < 3; own++) {
            GOOD(cudaStreamBeginCapture(captured, (enum cudaStreamCaptureMode)mode));
            EXPECT(elsewhere(allocate_elsewhere, own),
                   allowed[mode][own] ? cudaSuccess : cudaErrorStreamCaptureUnsupported);
            EXPECT(cudaStreamEndCapture(captured, &abandoned),
                   allowed[mode][own] ? cudaSuccess : cudaErrorStreamCaptureInvalidated);
        }
    for (int mode = 0; mode < 3; mode++) { /* the thread's own calls; where it may end */
        bool relaxed = mode == cudaStreamCaptureModeRelaxed;
        GOOD(cudaStreamBeginCapture(captured, (enum cudaStreamCaptureMode)mode));
        EXPECT(elsewhere(end_elsewhere, 0), relaxed ? cudaSuccess : cudaErrorStreamCaptureWrongThread);
        if (relaxed) GOOD(cudaStreamBeginCapture(captured, cudaStreamCaptureModeRelaxed));
        EXPECT(cudaMalloc((void **)&a, 64), relaxed ? cudaSuccess : cudaErrorStreamCaptureUnsupported);
        EXPECT(cudaStreamEndCapture(captured, &abandoned),
               relaxed ? cudaSuccess : cudaErrorStreamCaptureInvalidated);
        for (int waits = 0; waits < 2; waits++) { /* the event has nothing to do with the capture */
            GOOD(cudaStreamBeginCapture(captured, (enum cudaStreamCaptureMode)mode));
            EXPECT(waits ? cudaEventSynchronize(event) : cudaEventQuery(event),
                   relaxed ? cudaSuccess : cudaErrorStreamCaptureUnsupported);
            EXPECT(cudaStreamEndCapture(captured, &abandoned),
                   relaxed ? cudaSuccess : cudaErrorStreamCaptureInvalidated);
        }
    }
    enum cudaStreamCaptureMode own = cudaStreamCaptureModeRelaxed; /* the thread's, for its own captures */
    GOOD(cudaThreadExchangeStreamCaptureMode(&own));
    GOOD(cudaStreamBeginCapture(captured, cudaStreamCaptureModeGlobal));
    GOOD(cudaMalloc((void **)&a, 64));
    GOOD(cudaThreadExchangeStreamCaptureMode(&own));
    EXPECT(own, cudaStreamCaptureModeRelaxed);
    GOOD(cudaStreamEndCapture(captured, &abandoned));
    EXPECT(cudaStreamBeginCapture(captured, (enum cudaStreamCaptureMode)7), cudaErrorInvalidValue);
    cudaGetLastError();
}

/* --- Nodes of events, of graphs; dependencies -------------------------------------------------------- */

static void events(void) {
    int *a = allocate();
    cudaStream_t stream = new_stream(0);
    cudaEvent_t start, end, got;
    cudaGraph_t graph;
    cudaGraphNode_t nodes[4], wait;
    size_t count = 4;
    float milliseconds = -1;
    enum cudaGraphNodeType type;
    set_factor();
    GOOD(cudaEventCreate(&start));
    GOOD(cudaEventCreate(&end));
    GOOD(begin(stream));
    GOOD(cudaEventRecordWithFlags(start, stream, cudaEventRecordExternal));
    GOOD(scale_in(stream, a, N));
    GOOD(cudaEventRecordWithFlags(end, stream, cudaEventRecordExternal));
    GOOD(cudaStreamWaitEvent(stream, start, cudaEventWaitExternal));
    GOOD(cudaStreamEndCapture(stream, &graph));
    GOOD(cudaGraphGetNodes(graph, nodes, &count));
    EXPECT(count, 4);
    GOOD(cudaGraphNodeGetType(nodes[2], &type));
    EXPECT(type, cudaGraphNodeTypeEventRecord);
    GOOD(cudaGraphNodeGetType(nodes[3], &type));
    EXPECT(type, cudaGraphNodeTypeWaitEvent);
    GOOD(cudaGraphEventRecordNodeGetEvent(nodes[2], &got));
    EXPECT(got == end, 1);
    GOOD(cudaGraphAddEventWaitNode(&wait, graph, &nodes[3], 1, end));
    GOOD(cudaGraphEventWaitNodeSetEvent(wait, start));
    GOOD(cudaGraphEventWaitNodeGetEvent(wait, &got));
    EXPECT(got == start, 1);
    EXPECT(cudaEventElapsedTime(&milliseconds, start, end), cudaErrorInvalidResourceHandle);
    GOOD(cudaGraphLaunch(instance_of(graph), stream));
    GOOD(cudaEventElapsedTime(&milliseconds, start, end));
    EXPECT(milliseconds > 0, 1);
    cudaGetLastError();
}

/* A captured launch of a graph is a node that has a copy of it. */
static void nested(void) {
    Manual m;
    cudaStream_t stream = new_stream(0);
    cudaGraph_t graph;
    cudaGraphNode_t node;
    size_t count = 1;
    enum cudaGraphNodeType type;
    make_by_hand(&m);
    cudaGraphExec_t inner = instance_of(m.graph);
    GOOD(cudaGraphNodeSetEnabled(inner, m.kernel, 0)); /* nor does it run in the copy */
    GOOD(begin(stream));
    GOOD(cudaGraphLaunch(inner, stream));
    GOOD(cudaStreamEndCapture(stream, &graph));
    GOOD(cudaGraphExecDestroy(inner));
    GOOD(cudaGraphDestroy(m.graph));
    EXPECT(m.calls, 0);
    GOOD(cudaGraphGetNodes(graph, &node, &count));
    GOOD(cudaGraphNodeGetType(node, &type));
    EXPECT(type, cudaGraphNodeTypeGraph);
    GOOD(cudaGraphLaunch(instance_of(graph), stream));
    EXPECT(m.calls, 1);
    EXPECT(m.back[1], 7);
}

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                          const cudaGraphNode_t *behind, const void *edges, size_t count,
                                          enum cudaStreamCaptureMode mode);

/* What a stream adds to a graph that is a node lives as long as the capture. */
static void into_child(void) {
    cudaStream_t stream = new_stream(0);
    cudaGraph_t graph, child;
    cudaGraphNode_t node;
    int *a = allocate(), *b = 0;
    GOOD(cudaGraphCreate(&graph, 0));
    GOOD(cudaGraphCreate(&child, 0));
    GOOD(cudaGraphAddChildGraphNode(&node, graph, 0, 0, child));
    GOOD(cudaGraphChildGraphNodeGetGraph(node, &child));
    GOOD(cudaStreamBeginCaptureToGraph(stream, child, 0, 0, 0, cudaStreamCaptureModeGlobal));
    EXPECT(cudaGraphDestroy(graph), cudaErrorInvalidValue);
    EXPECT(cudaGraphDestroyNode(node), cudaErrorInvalidValue);
    GOOD(cudaMemsetAsync(a, 1, N * 4, stream));
    EXPECT(cudaMallocAsync((void **)&b, 64, stream), cudaErrorNotSupported);
    GOOD(cudaStreamEndCapture(stream, &child));
    GOOD(cudaGraphLaunch(instance_of(graph), stream));
    EXPECT(first_of(a), 0x01010101);
    GOOD(cudaGraphDestroyNode(node));
    GOOD(cudaGraphDestroy(graph));
    cudaGetLastError();
}

/* Parameters are not attributes: a cooperative launch stays one, whose CTAs must all run at once. */
static void cooperative(void) {
    int *a = allocate();
    unsigned n = N;
    void *params[] = {&a, &n};
    cudaStream_t stream = new_stream(0);
    cudaGraph_t graph;
    cudaGraphNode_t node;
    size_t count = 1;
    struct cudaKernelNodeParams kernel;
    GOOD(begin(stream));
    GOOD(cudaLaunchCooperativeKernel((const void *)scale, size1(1), size1(N), params, 0, stream));
    GOOD(cudaStreamEndCapture(stream, &graph));
    GOOD(cudaGraphGetNodes(graph, &node, &count));
    GOOD(cudaGraphKernelNodeGetParams(node, &kernel));
    cudaGraphExec_t exec = instance_of(graph);
    GOOD(cudaGraphLaunch(exec, stream));
    kernel.gridDim.x = 10000;
    GOOD(cudaGraphExecKernelNodeSetParams(exec, node, &kernel));
    EXPECT(cudaGraphLaunch(exec, stream), cudaErrorCooperativeLaunchTooLarge);
    GOOD(cudaGraphKernelNodeSetParams(node, &kernel));
    EXPECT(cudaGraphLaunch(instance_of(graph), stream), cudaErrorCooperativeLaunchTooLarge);
    cudaGetLastError();
}

/* Copies to and from arrays, which run when the graph is launched. */
static void arrays(void) {
    struct cudaChannelFormatDesc format = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindSigned);
    int first[8], second[8], back[16], line[8];
    cudaArray_t array;
    cudaStream_t stream = new_stream(0);
    cudaGraph_t graph;
    for (int i = 0; i < 8; i++)
        first[i] = second[i] = 0;
    memset(back, 0, sizeof back);
    memset(line, 0, sizeof line);
    GOOD(cudaMallocArray(&array, &format, 4, 4, 0));
    GOOD(begin(stream));
    GOOD(cudaMemcpyToArrayAsync(array, 0, 0, first, sizeof first, cudaMemcpyHostToDevice, stream));
    GOOD(cudaMemcpy2DToArrayAsync(array, 0, 2, second, 16, 16, 2, cudaMemcpyHostToDevice, stream));
    GOOD(cudaMemcpy2DFromArrayAsync(back, 16, array, 0, 0, 16, 4, cudaMemcpyDeviceToHost, stream));
    GOOD(cudaMemcpyFromArrayAsync(line, array, 4, 1, 12, cudaMemcpyDeviceToHost, stream));
    GOOD(cudaStreamEndCapture(stream, &graph));
    EXPECT(count_of(graph), 2 + 3); /* the first has a node for each row */
    for (int i = 0; i < 8; i++)
        first[i] = 10 + i, second[i] = 20 + i;
    GOOD(cudaGraphLaunch(instance_of(graph), stream));
    for (int i = 0; i < 8; i++) {
        EXPECT(back[i], 10 + i);
        EXPECT(back[8 + i], 20 + i);
    }
    EXPECT(line[0], 15);
    EXPECT(line[2], 17);
    EXPECT(cudaMemcpy2DToArrayAsync(array, (size_t)-8, 0, second, 16, 16, 2, cudaMemcpyHostToDevice, stream),
           cudaErrorInvalidValue);
    GOOD(begin(stream));
    EXPECT(cudaMemcpyToArray(array, 0, 0, first, 16, cudaMemcpyHostToDevice), cudaErrorStreamCaptureImplicit);
    ends_with(stream, cudaErrorStreamCaptureInvalidated);
    GOOD(cudaFreeArray(array));
}

static void dependencies(void) {
    cudaStream_t stream = new_stream(0);
    cudaGraph_t graph, now;
    cudaGraphNode_t extra;
    const cudaGraphNode_t *tail;
    enum cudaStreamCaptureStatus status;
    size_t count = 0;
    int *a = allocate();
    set_factor();
    GOOD(begin(stream));
    GOOD(scale_in(stream, a, N));
    GOOD(cudaStreamGetCaptureInfo_v2(stream, &status, 0, &now, 0, 0));
    GOOD(cudaGraphAddEmptyNode(&extra, now, 0, 0));
    GOOD(cudaStreamUpdateCaptureDependencies(stream, &extra, 1, cudaStreamAddCaptureDependencies));
    GOOD(cudaStreamGetCaptureInfo_v2(stream, &status, 0, 0, &tail, &count));
    EXPECT(count, 2);
    GOOD(cudaStreamUpdateCaptureDependencies(stream, &extra, 1, cudaStreamSetCaptureDependencies));
    GOOD(cudaStreamGetCaptureInfo_v2(stream, &status, 0, 0, &tail, &count));
    EXPECT(count, 1);
    EXPECT(tail[0] == extra, 1);
    EXPECT(cudaGraphDestroy(now), cudaErrorInvalidValue);
    EXPECT(cudaGraphDestroyNode(extra), cudaErrorInvalidValue);
    GOOD(cudaStreamEndCapture(stream, &graph));
    EXPECT(count_of(graph), 2);
    EXPECT(cudaStreamUpdateCaptureDependencies(stream, &extra, 1, 0), cudaErrorIllegalState);
    cudaGetLastError();
}

/* --- Default streams of threads; faults -------------------------------------------------------------- */

__typeof__(cudaStreamBeginCapture) cudaStreamBeginCapture_ptsz;
__typeof__(cudaStreamEndCapture) cudaStreamEndCapture_ptsz;
__typeof__(cudaMemsetAsync) cudaMemsetAsync_ptsz;
__typeof__(cudaGraphLaunch) cudaGraphLaunch_ptsz;
__typeof__(cudaStreamWaitEvent) cudaStreamWaitEvent_ptsz;
__typeof__(cudaEventRecord) cudaEventRecord_ptsz;

/* Stream 0 of programs that are compiled so is a stream of its own for each thread, and can be captured. */
static void per_thread(void) {
    int *a = allocate();
    cudaStream_t stream = new_stream(0);
    cudaEvent_t event = new_event();
    cudaGraph_t graph;
    GOOD(cudaStreamBeginCapture_ptsz(0, cudaStreamCaptureModeGlobal));
    GOOD(cudaMemsetAsync_ptsz(a, 1, N * 4, 0));
    GOOD(cudaStreamEndCapture_ptsz(0, &graph));
    EXPECT(first_of(a), 0);
    GOOD(cudaGraphLaunch_ptsz(instance_of(graph), 0));
    EXPECT(first_of(a), 0x01010101);
    GOOD(begin(stream));
    GOOD(cudaEventRecord_ptsz(event, stream));
    GOOD(cudaStreamWaitEvent_ptsz(0, event, 0));
    GOOD(cudaMemsetAsync_ptsz(a, 2, N * 4, 0));
    GOOD(cudaEventRecord_ptsz(event, 0));
    GOOD(cudaStreamWaitEvent_ptsz(stream, event, 0));
    GOOD(cudaStreamEndCapture_ptsz(stream, &graph));
    EXPECT(count_of(graph), 1);
    GOOD(cudaStreamBeginCapture(cudaStreamPerThread, cudaStreamCaptureModeRelaxed));
    GOOD(cudaStreamEndCapture(cudaStreamPerThread, &graph));
}

/* A kernel that fails ends the launch of its graph. */
static void fault(void) {
    int *a = allocate(), calls = 0;
    cudaStream_t stream = new_stream(0);
    void *params[] = {&a};
    cudaGraph_t graph;
    GOOD(begin(stream));
    GOOD(cudaLaunchKernel((const void *)stray, size1(1), size1(32), params, 0, stream));
    GOOD(cudaLaunchHostFunc(stream, count_call, &calls));
    GOOD(cudaStreamEndCapture(stream, &graph));
    cudaGraphExec_t exec = instance_of(graph);
    GOOD(cudaGraphLaunch(exec, stream));
    EXPECT(cudaStreamSynchronize(stream), cudaErrorIllegalAddress);
    EXPECT(calls, 0);
    EXPECT(cudaGraphLaunch(exec, stream), cudaErrorIllegalAddress);
}

int main(int argc, char **argv) {
    static const Part parts[] = {{"capture", capture},
                                 {"fork_join", fork_join},
                                 {"errors_of_use", errors_of_use},
                                 {"errors_of_forks", errors_of_forks},
                                 {"modes", modes},
                                 {"events", events},
                                 {"nested", nested},
                                 {"into_child", into_child},
                                 {"cooperative", cooperative},
                                 {"arrays", arrays},
                                 {"dependencies", dependencies},
                                 {"per_thread", per_thread},
                                 {"fault", fault},
                                 {0, 0}};
    return run_part(parts, argc > 1 ? argv[1] : "");
}
