/* streams WHAT: what streams issue, checked as a program sees it. Says what is wrong, exits with how much. The test that
 * runs it looks at when the kernels ran. */
#include "graph_checks.h"

#include <pthread.h>

/* CTAs of 32 threads, so that a kernel takes longer than another. */
static cudaError_t scale_long(cudaStream_t stream, int *a, unsigned ctas) {
    unsigned n = N;
    void *params[] = {&a, &n};
    return cudaLaunchKernel((const void *)scale, size1(ctas), size1(32), params, 0, stream);
}

static int *pinned(void) {
    int *a = 0;
    GOOD(cudaMallocHost((void **)&a, N * sizeof *a));
    return a;
}

static cudaEvent_t timed_event(void) {
    cudaEvent_t event = 0;
    GOOD(cudaEventCreate(&event));
    return event;
}

/* Two kernels each of 8 CTAs: launches 0 and 1 begin together, 2 and 3 behind them. */
static void side_by_side(void) {
    cudaStream_t first = new_stream(0), second = new_stream(cudaStreamNonBlocking);
    int *a = allocate(), *b = allocate(), is_concurrent = 0;
    struct cudaDeviceProp device;
    GOOD(cudaGetDeviceProperties(&device, 0));
    GOOD(cudaDeviceGetAttribute(&is_concurrent, cudaDevAttrConcurrentKernels, 0));
    EXPECT(device.concurrentKernels, 1);
    EXPECT(is_concurrent, 1);
    set_factor();
    GOOD(cudaMemset(a, 0, N * 4));
    GOOD(cudaMemset(b, 0, N * 4));
    GOOD(scale_long(first, a, 8));
    GOOD(scale_long(second, b, 8));
    GOOD(scale_long(first, a, 8));
    GOOD(scale_long(second, b, 8));
    GOOD(cudaDeviceSynchronize());
    EXPECT(last_of(a), 3 * BIAS);
    EXPECT(last_of(b), 3 * BIAS);
}

/* The last one goes first: launch 0 has the grid of its kernel. */
static void priorities(void) {
    int least = 9, greatest = 9, priority = 9;
    int *a = allocate();
    cudaStream_t low = 0, high = 0, beyond = 0;
    GOOD(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    EXPECT(least, 0);
    EXPECT(greatest < 0, 1);
    GOOD(cudaStreamCreateWithPriority(&low, cudaStreamNonBlocking, least));
    GOOD(cudaStreamCreateWithPriority(&high, cudaStreamNonBlocking, greatest));
    GOOD(cudaStreamCreateWithPriority(&beyond, cudaStreamNonBlocking, greatest - 7));
    GOOD(cudaStreamGetPriority(beyond, &priority));
    EXPECT(priority, greatest);
    GOOD(scale_long(low, a, 200));
    GOOD(scale_long(low, a, 300));
    GOOD(scale_long(high, a, 100));
    GOOD(scale_long(high, a, 150));
    GOOD(cudaDeviceSynchronize());
}

/* Copies between pinned memory and the device keep their place in the stream, and do not part the kernels. */
static void copies(void) {
    cudaStream_t stream[2] = {new_stream(0), new_stream(0)};
    int *in[2] = {pinned(), pinned()}, *out[2] = {pinned(), pinned()}, *a[2] = {allocate(), allocate()};
    set_factor();
    for (int i = 0; i < 2; i++) {
        in[i][N - 1] = 10 + i;
        GOOD(cudaMemcpyAsync(a[i], in[i], N * 4, cudaMemcpyHostToDevice, stream[i]));
        GOOD(scale_long(stream[i], a[i], 8));
        GOOD(cudaMemcpyAsync(out[i], a[i], N * 4, cudaMemcpyDeviceToHost, stream[i]));
        GOOD(cudaMemsetAsync(a[i], 0, N * 4, stream[i]));
    }
    GOOD(cudaDeviceSynchronize());
    for (int i = 0; i < 2; i++) {
        EXPECT(out[i][N - 1], 2 * (10 + i) + BIAS);
        EXPECT(last_of(a[i]), 0);
    }
}

/* What may be changed behind the call is read in it. */
static void pageable(void) {
    cudaStream_t stream = new_stream(0);
    int *a = allocate(), host[N], back[N];
    set_factor();
    host[N - 1] = 1;
    GOOD(cudaMemset(a, 0, N * 4));
    GOOD(scale_long(stream, a, 8));
    GOOD(cudaMemcpyAsync(a, host, sizeof host, cudaMemcpyHostToDevice, stream));
    host[N - 1] = 2;
    GOOD(scale_long(stream, a, 8));
    GOOD(cudaMemcpyAsync(back, a, sizeof back, cudaMemcpyDeviceToHost, stream));
    EXPECT(back[N - 1], 2 * 1 + BIAS);
}

/* a -> (b, c) -> d: b and c run side by side. */
static void diamond(void) {
    cudaStream_t one = new_stream(0), other = new_stream(0);
    cudaEvent_t fork = new_event(), join = new_event();
    int *a = allocate(), *b = allocate();
    set_factor();
    GOOD(cudaMemset(a, 0, N * 4));
    GOOD(cudaMemset(b, 0, N * 4));
    GOOD(scale_long(one, a, 8));
    GOOD(cudaEventRecord(fork, one));
    GOOD(cudaStreamWaitEvent(other, fork, 0));
    GOOD(scale_long(one, a, 8));
    GOOD(scale_long(other, b, 8));
    GOOD(cudaEventRecord(join, other));
    GOOD(cudaStreamWaitEvent(one, join, 0));
    GOOD(cudaMemcpyAsync(a, b, 4, cudaMemcpyDeviceToDevice, one));
    GOOD(scale_long(one, a, 8));
    GOOD(cudaEventDestroy(join));
    GOOD(cudaStreamDestroy(other));
    GOOD(cudaStreamSynchronize(one));
    EXPECT(first_of(a), 2 * BIAS + BIAS);
    EXPECT(last_of(a), 2 * 3 * BIAS + BIAS);
}

/* An event has the time at which its stream came to it, not when all had ended. */
static void events(void) {
    cudaStream_t quick = new_stream(0), slow = new_stream(0);
    cudaEvent_t begin_event = timed_event(), quick_event = timed_event(), slow_event = timed_event();
    int *a = allocate();
    float of_quick = 0, of_slow = 0;
    GOOD(cudaEventRecord(begin_event, quick));
    GOOD(scale_long(quick, a, 4));
    GOOD(cudaEventRecord(quick_event, quick));
    GOOD(scale_long(slow, a, 4));
    GOOD(scale_long(slow, a, 4));
    GOOD(scale_long(slow, a, 4));
    GOOD(cudaEventRecord(slow_event, slow));
    GOOD(cudaEventElapsedTime(&of_quick, begin_event, quick_event));
    GOOD(cudaEventElapsedTime(&of_slow, begin_event, slow_event));
    EXPECT(of_quick > 0, 1);
    EXPECT(of_slow > 2.5f * of_quick, 1);
    /* Recorded again, in a stream that has come to it before. */
    GOOD(scale_long(slow, a, 4));
    GOOD(cudaEventRecord(begin_event, quick));
    GOOD(cudaEventRecord(slow_event, slow));
    GOOD(cudaEventRecord(slow_event, quick));
    GOOD(cudaEventElapsedTime(&of_slow, begin_event, slow_event));
    EXPECT(of_slow == 0, 1);
}

/* The legacy default stream waits for all others. */
static void legacy(void) {
    cudaStream_t stream = new_stream(0);
    int *a = allocate();
    set_factor();
    GOOD(cudaMemset(a, 0, N * 4));
    GOOD(scale_long(stream, a, 8));
    GOOD(scale_long(0, a, 8));
    GOOD(scale_long(stream, a, 8));
    EXPECT(last_of(a), BIAS + 2 * BIAS + 4 * BIAS);
}

static void *in_thread(void *stream) {
    int *a = allocate();
    GOOD(cudaMemset(a, 0, N * 4));
    for (int i = 0; i < 4; i++)
        GOOD(scale_long((cudaStream_t)stream, a, 8));
    GOOD(cudaStreamSynchronize((cudaStream_t)stream));
    EXPECT(last_of(a), BIAS * 15);
    return 0;
}

static void threads(void) {
    pthread_t thread[4];
    set_factor();
    for (int i = 0; i < 4; i++)
        pthread_create(&thread[i], 0, in_thread, new_stream(cudaStreamNonBlocking));
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], 0);
}

/* Nobody waits for them. */
static void unfinished(void) {
    cudaStream_t one = new_stream(0), other = new_stream(0);
    int *a = allocate();
    GOOD(scale_long(one, a, 8));
    GOOD(scale_long(other, a, 8));
}

static void wrong_launches(void) {
    cudaStream_t stream = new_stream(0);
    int *a = allocate();
    unsigned n = N;
    void *params[] = {&a, &n};
    GOOD(scale_long(stream, a, 8));
    EXPECT(cudaLaunchKernel((const void *)scale, size1(0), size1(32), params, 0, stream),
           cudaErrorInvalidConfiguration);
    EXPECT(cudaLaunchKernel((const void *)scale, size1(1), size1(32), params, 1 << 20, stream),
           cudaErrorInvalidValue);
    GOOD(scale_long(stream, a, 8));
    GOOD(cudaStreamSynchronize(stream));
}

/* The error of a kernel beside others is that of the call that waits for them. */
static void fault(void) {
    cudaStream_t one = new_stream(0), other = new_stream(0);
    int *a = allocate();
    unsigned seven = 7;
    void *params[] = {&a}, *sevens[] = {&seven};
    GOOD(cudaLaunchKernel((const void *)prints, size1(1), size1(4), sevens, 0, one));
    GOOD(scale_long(other, a, 32));
    GOOD(scale_long(other, a, 32));
    GOOD(cudaLaunchKernel((const void *)stray, size1(1), size1(32), params, 0, other));
    EXPECT(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    EXPECT(scale_long(one, a, 8), cudaErrorIllegalAddress);
}

/* The one that ends prints. */
static void endless(void) {
    cudaStream_t one = new_stream(0), other = new_stream(0);
    int *a = allocate();
    unsigned seven = 7;
    void *params[] = {&a}, *sevens[] = {&seven};
    GOOD(cudaLaunchKernel((const void *)prints, size1(1), size1(4), sevens, 0, one));
    GOOD(cudaLaunchKernel((const void *)spins, size1(1), size1(32), params, 0, other));
    GOOD(cudaLaunchKernel((const void *)nothing, size1(1), size1(32), 0, 0, other));
    GOOD(cudaDeviceSynchronize());
}

/* The host and the kernel share this memory while the kernel runs. */
static void mapped(void) {
    cudaStream_t stream = new_stream(0);
    int *shared = 0;
    set_factor();
    GOOD(cudaHostAlloc((void **)&shared, N * 4, cudaHostAllocMapped));
    shared[0] = 0;
    GOOD(scale_long(stream, shared, 8));
    EXPECT(((volatile int *)shared)[0], BIAS);
}

/* a -> (b, c, d) -> e, as a graph. */
static void graph(void) {
    int *a[3] = {allocate(), allocate(), allocate()};
    unsigned n = N;
    cudaGraph_t made;
    cudaGraphNode_t node[3], last, empty;
    set_factor();
    GOOD(cudaGraphCreate(&made, 0));
    GOOD(cudaGraphAddEmptyNode(&empty, made, 0, 0));
    for (int i = 0; i < 3; i++) {
        void *params[] = {&a[i], &n};
        struct cudaKernelNodeParams kernel = kernel_params(params);
        kernel.gridDim.x = 8;
        kernel.blockDim.x = 32;
        GOOD(cudaMemset(a[i], 0, N * 4));
        GOOD(cudaGraphAddKernelNode(&node[i], made, &empty, 1, &kernel));
    }
    void *params[] = {&a[1], &n};
    struct cudaKernelNodeParams kernel = kernel_params(params);
    GOOD(cudaGraphAddKernelNode(&last, made, node, 3, &kernel));
    GOOD(cudaGraphLaunch(instance_of(made), 0));
    EXPECT(last_of(a[0]), BIAS);
    EXPECT(last_of(a[1]), 3 * BIAS);
}

int main(int argc, char **argv) {
    static const Part parts[] = {
        {"side_by_side", side_by_side},
        {"copies", copies},
        {"priorities", priorities},
        {"pageable", pageable},
        {"diamond", diamond},
        {"events", events},
        {"legacy", legacy},
        {"threads", threads},
        {"unfinished", unfinished},
        {"wrong_launches", wrong_launches},
        {"fault", fault},
        {"mapped", mapped},
        {"endless", endless},
        {"graph", graph},
        {0, 0},
    };
    return run_part(parts, argc > 1 ? argv[1] : "");
}
