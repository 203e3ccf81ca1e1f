/* What the programs about graphs share. */
#pragma once

#include "kernels.h"

enum { N = 256, BIAS = 5 };

static const int two[4] = {0, 2, 0, 0};

static inline void set_factor(void) {
    GOOD(cudaMemcpyToSymbol(factors, two, sizeof two, 0, cudaMemcpyHostToDevice));
}

static inline int *allocate(void) {
    int *a = 0;
    GOOD(cudaMalloc((void **)&a, N * sizeof *a));
    return a;
}

static inline cudaStream_t new_stream(unsigned flags) {
    cudaStream_t stream = 0;
    GOOD(cudaStreamCreateWithFlags(&stream, flags));
    return stream;
}

static inline cudaEvent_t new_event(void) {
    cudaEvent_t event = 0;
    GOOD(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    return event;
}

/* a[i] = 2 a[i] + 5 */
static inline cudaError_t scale_in(cudaStream_t stream, int *a, unsigned n) {
    void *params[] = {&a, &n};
    return cudaLaunchKernel((const void *)scale, size1(1), size1(N), params, 0, stream);
}

static inline int first_of(const int *a) {
    int value = -1;
    GOOD(cudaMemcpy(&value, a, sizeof value, cudaMemcpyDeviceToHost));
    return value;
}

static inline int last_of(const int *a) {
    return first_of(a + N - 1);
}

static inline void count_call(void *data) {
    ++*(int *)data;
}

static inline cudaGraphExec_t instance_of(cudaGraph_t graph) {
    cudaGraphExec_t exec = 0;
    cudaGraphNode_t bad;
    char log[64] = "?";
    GOOD(cudaGraphInstantiate(&exec, graph, &bad, log, sizeof log));
    EXPECT(log[0], 0);
    return exec;
}

static inline size_t count_of(cudaGraph_t graph) {
    size_t count = 99;
    GOOD(cudaGraphGetNodes(graph, 0, &count));
    return count;
}

static inline cudaError_t begin(cudaStream_t stream) {
    return cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
}

/* --- A graph made by hand: a fill, a kernel, a copy to the host, a call ------------------------------- */

typedef struct {
    cudaGraph_t graph;
    cudaGraphNode_t fill, kernel, copy, host, empty;
    int *a, back[N], calls;
    unsigned n;
} Manual;

static inline struct cudaKernelNodeParams kernel_params(void **params) {
    struct cudaKernelNodeParams kernel = {
        .func = (void *)scale, .gridDim = {1, 1, 1}, .blockDim = {N, 1, 1}, .kernelParams = params};
    return kernel;
}

static inline void make_by_hand(Manual *m) {
    struct cudaMemsetParams fill = {.value = 7, .elementSize = 4, .width = N, .height = 1};
    void *params[] = {&m->a, &m->n};
    struct cudaKernelNodeParams kernel = kernel_params(params);
    struct cudaHostNodeParams host = {count_call, &m->calls};
    memset(m, 0, sizeof *m);
    fill.dst = m->a = allocate();
    m->n = N;
    set_factor();
    GOOD(cudaGraphCreate(&m->graph, 0));
    GOOD(cudaGraphAddMemsetNode(&m->fill, m->graph, 0, 0, &fill));
    GOOD(cudaGraphAddKernelNode(&m->kernel, m->graph, &m->fill, 1, &kernel));
    m->n = 0; /* the node has its own */
    GOOD(cudaGraphAddMemcpyNode1D(&m->copy, m->graph, &m->kernel, 1, m->back, m->a, sizeof m->back,
                                  cudaMemcpyDeviceToHost));
    GOOD(cudaGraphAddEmptyNode(&m->empty, m->graph, &m->copy, 1));
    GOOD(cudaGraphAddHostNode(&m->host, m->graph, &m->empty, 1, &host));
}

/* --- Programs ----------------------------------------------------------------------------------- */

typedef struct {
    const char *name;
    void (*run)(void);
} Part;

/* Runs the part of that name. */
static inline int run_part(const Part *parts, const char *what) {
    while (parts->name && strcmp(parts->name, what) != 0)
        parts++;
    if (parts->name) parts->run();
    EXPECT(parts->name != 0, 1);
    if (!failures) printf("%s: good\n", what);
    return failures > 100 ? 100 : failures;
}
