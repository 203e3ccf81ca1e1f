/* waits WHAT: waits for one stream or event while kernels of others are in flight, checked as a program sees it. Says what is
 * wrong, exits with how much. The test that runs it looks at when the kernels ran. */
#include "graph_checks.h"

#include "cuda.h"

#include <pthread.h>
#include <unistd.h>

/* CTAs of 32 threads, so that a kernel takes longer than another. */
static cudaError_t scale_long(cudaStream_t stream, int *a, unsigned ctas) {
    unsigned n = N;
    void *params[] = {&a, &n};
    return cudaLaunchKernel((const void *)scale, size1(ctas), size1(32), params, 0, stream);
}

/* One behind the other. */
static void scale_thrice(cudaStream_t stream, int *a) {
    for (int i = 0; i < 3; i++)
        GOOD(scale_long(stream, a, 300));
}

static int *pinned(void) {
    int *a = 0;
    GOOD(cudaMallocHost((void **)&a, N * sizeof *a));
    memset(a, 0, N * sizeof *a);
    return a;
}

/* A kernel in a stream of its own that goes on until flag[0] is not 0. */
typedef struct {
    cudaStream_t stream;
    int *flag;
} Waiter;

static Waiter launch_waiter(void) {
    Waiter waiter = {new_stream(cudaStreamNonBlocking), allocate()};
    void *params[] = {&waiter.flag};
    set_factor();
    GOOD(cudaLaunchKernel((const void *)waits, size1(1), size1(1), params, 0, waiter.stream));
    return waiter;
}

/* By a copy in another stream. */
static void release(const Waiter *waiter, cudaStream_t other) {
    const int seven = 7;
    GOOD(cudaMemcpyAsync(waiter->flag, &seven, sizeof seven, cudaMemcpyHostToDevice, other));
    GOOD(cudaStreamSynchronize(waiter->stream));
    EXPECT(first_of(waiter->flag + 1), 7);
}

/* Launch 0 ends behind launch 1, which the program waits for, and 2, which it launches then. */
static void stream(void) {
    cudaStream_t other = new_stream(cudaStreamNonBlocking);
    int *a = allocate(), *back = pinned();
    GOOD(cudaMemset(a, 0, N * 4));
    Waiter waiter = launch_waiter();
    GOOD(scale_long(other, a, 8));
    GOOD(cudaMemcpyAsync(back, a, N * 4, cudaMemcpyDeviceToHost, other));
    GOOD(cudaStreamSynchronize(other));
    EXPECT(back[N - 1], BIAS);
    GOOD(scale_long(other, a, 8));
    GOOD(cudaStreamSynchronize(other));
    EXPECT(cudaLaunchKernel((const void *)scale, size1(1), size1(2000), 0, 0, other),
           cudaErrorInvalidConfiguration);
    EXPECT(cudaGetLastError(), cudaErrorInvalidConfiguration);
    EXPECT(cudaStreamQuery(other), cudaSuccess);
    EXPECT(cudaStreamQuery(waiter.stream), cudaErrorNotReady);
    EXPECT(cudaGetLastError(), cudaErrorNotReady);
    release(&waiter, other);
    EXPECT(last_of(a), 3 * BIAS);
}

static void event(void) {
    cudaStream_t other = new_stream(cudaStreamNonBlocking);
    cudaEvent_t first = new_event(), last = new_event(), of_waiter = new_event();
    Waiter waiter = launch_waiter();
    int *a = allocate();
    GOOD(cudaEventRecord(of_waiter, waiter.stream));
    GOOD(cudaMemsetAsync(a, 0, N * 4, other));
    GOOD(scale_long(other, a, 8));
    GOOD(cudaEventRecord(first, other));
    GOOD(scale_long(other, a, 300));
    GOOD(cudaEventRecord(last, other));
    GOOD(cudaEventSynchronize(first));
    EXPECT(cudaEventQuery(first), cudaSuccess);
    EXPECT(cudaEventQuery(last), cudaErrorNotReady);
    GOOD(cudaEventSynchronize(last));
    EXPECT(cudaEventQuery(of_waiter), cudaErrorNotReady);
    release(&waiter, other);
    EXPECT(cudaEventQuery(of_waiter), cudaSuccess);
    EXPECT(last_of(a), 3 * BIAS);
}

/* Each query that finds work undone lets some cycles pass. */
static void polls(void) {
    cudaStream_t other = new_stream(cudaStreamNonBlocking);
    Waiter waiter = launch_waiter();
    cudaEvent_t end = new_event();
    int *a = allocate(), of_stream = 0, of_event = 0;
    GOOD(cudaMemsetAsync(a, 0, N * 4, other));
    for (int i = 0; i < 4; i++)
        GOOD(scale_long(other, a, 200));
    while (cudaStreamQuery(other) == cudaErrorNotReady)
        of_stream++;
    for (int i = 0; i < 4; i++)
        GOOD(scale_long(other, a, 200));
    GOOD(cudaEventRecord(end, other));
    while (cudaEventQuery(end) == cudaErrorNotReady)
        of_event++;
    printf("%d and %d queries\n", of_stream, of_event);
    EXPECT(of_stream > 0 && of_stream < 1000, 1);
    EXPECT(of_event > 0 && of_event < 1000, 1);
    release(&waiter, other);
}

/* Two buffers in turn: what one holds is taken out and filled in again while the kernel of the other runs. */
static void pipeline(void) {
    enum { ROUNDS = 8 };
    cudaStream_t of[2] = {new_stream(cudaStreamNonBlocking), new_stream(cudaStreamNonBlocking)};
    Waiter waiter = launch_waiter();
    int *in[2] = {pinned(), pinned()}, *out[2] = {pinned(), pinned()}, *a[2] = {allocate(), allocate()};
    for (int i = 0; i < ROUNDS + 2; i++) {
        int *from = in[i % 2];
        GOOD(cudaStreamSynchronize(of[i % 2]));
        if (i >= 2) EXPECT(out[i % 2][N - 1], 2 * (i - 2) + BIAS);
        if (i >= ROUNDS) continue;
        from[N - 1] = i;
        GOOD(cudaMemcpyAsync(a[i % 2], from, N * 4, cudaMemcpyHostToDevice, of[i % 2]));
        GOOD(scale_long(of[i % 2], a[i % 2], i % 2 ? 100 : 40));
        GOOD(cudaMemcpyAsync(out[i % 2], a[i % 2], N * 4, cudaMemcpyDeviceToHost, of[i % 2]));
    }
    release(&waiter, of[0]);
}

/* Events have the cycles in which their streams came to them. */
static void times(void) {
    cudaStream_t other = new_stream(cudaStreamNonBlocking);
    cudaEvent_t event[4];
    float first, second, both;
    for (int i = 0; i < 4; i++)
        GOOD(cudaEventCreate(&event[i]));
    GOOD(cudaEventRecord(event[0], other));
    Waiter waiter = launch_waiter();
    int *a = allocate();
    GOOD(cudaEventRecord(event[3], waiter.stream));
    GOOD(scale_long(other, a, 8));
    GOOD(cudaEventRecord(event[1], other));
    GOOD(cudaStreamSynchronize(other));
    GOOD(cudaEventElapsedTime(&first, event[0], event[1]));
    GOOD(scale_long(other, a, 8));
    GOOD(cudaEventRecord(event[2], other));
    GOOD(cudaEventElapsedTime(&second, event[1], event[2]));
    GOOD(cudaEventElapsedTime(&both, event[0], event[2]));
    EXPECT(first > 0 && second > 0 && (first + second - both) * (first + second - both) < 1e-10f, 1);
    release(&waiter, other);
    GOOD(cudaEventElapsedTime(&first, event[2], event[3]));
    EXPECT(first > 0, 1);
}

/* A kernel in flight waits for others, of its stream and by an event. */
static void behind(void) {
    cudaStream_t other = new_stream(cudaStreamNonBlocking), third = new_stream(cudaStreamNonBlocking);
    cudaEvent_t end = new_event();
    Waiter waiter = launch_waiter();
    int *a = allocate(), *b = allocate(), *c = allocate();
    GOOD(cudaEventRecord(end, waiter.stream));
    GOOD(scale_long(waiter.stream, c, 4));
    GOOD(scale_long(other, a, 8));
    GOOD(cudaStreamSynchronize(other));
    GOOD(cudaStreamWaitEvent(third, end, 0));
    GOOD(scale_long(third, b, 8)); /* behind the waiter, and not behind what follows there */
    GOOD(cudaEventDestroy(end));
    GOOD(scale_long(waiter.stream, c, 4));
    GOOD(scale_long(other, a, 8));
    GOOD(cudaStreamSynchronize(other));
    EXPECT(cudaStreamQuery(third), cudaErrorNotReady);
    release(&waiter, other);
    GOOD(cudaStreamSynchronize(third));
    EXPECT(last_of(a), 3 * BIAS);
    EXPECT(last_of(b), BIAS);
}

/* Launch 1 goes before launch 0, which is in flight, where SMs hold CTAs of both. */
static void priorities(void) {
    cudaStream_t low = new_stream(0), high = 0;
    int *a = allocate(), *b = allocate();
    set_factor();
    GOOD(cudaStreamCreateWithPriority(&high, 0, -1));
    GOOD(scale_long(low, a, 30000));
    EXPECT(cudaStreamQuery(low), cudaErrorNotReady);
    GOOD(scale_long(high, b, 500));
    GOOD(cudaDeviceSynchronize());
    EXPECT(last_of(a), BIAS);
    EXPECT(last_of(b), BIAS);
}

/* What a kernel prints is there when the program has waited for it. */
static void prints_early(void) {
    cudaStream_t other = new_stream(cudaStreamNonBlocking);
    Waiter waiter = launch_waiter();
    unsigned nine = 9;
    void *params[] = {&nine};
    GOOD(cudaLaunchKernel((const void *)prints, size1(1), size1(2), params, 0, other));
    GOOD(cudaStreamSynchronize(other));
    printf("behind the wait\n");
    release(&waiter, other);
}

/* The failure of one is that of the device. */
static void fault(void) {
    cudaStream_t other = new_stream(cudaStreamNonBlocking);
    int *a = allocate();
    void *params[] = {&a};
    launch_waiter();
    GOOD(scale_long(other, a, 8));
    GOOD(cudaStreamSynchronize(other));
    GOOD(cudaLaunchKernel((const void *)stray, size1(1), size1(32), params, 0, other));
    EXPECT(cudaStreamSynchronize(other), cudaErrorIllegalAddress);
    EXPECT(cudaStreamQuery(other), cudaErrorIllegalAddress);
    GOOD(cudaDeviceReset());
    a = allocate();
    set_factor();
    GOOD(scale_long(0, a, 8));
    EXPECT(last_of(a), BIAS);
}

/* The program ends, and nobody waits. */
static void leaves(void) {
    cudaStream_t other = new_stream(cudaStreamNonBlocking);
    int *a = allocate();
    launch_waiter();
    GOOD(scale_long(other, a, 8));
    GOOD(cudaStreamSynchronize(other));
    printf("leaves: good\n");
    fflush(stdout);
    _exit(failures);
}

/* Of two streams, the one that is waited for. */
static void pair(void) {
    cudaStream_t one = new_stream(0), other = new_stream(0);
    int *a = allocate(), *b = allocate(), *back = pinned();
    set_factor();
    for (int i = 0; i < 3; i++) {
        GOOD(scale_long(one, a, 300));
        GOOD(scale_long(other, b, 8));
        GOOD(cudaMemcpyAsync(back, b, N * 4, cudaMemcpyDeviceToHost, other));
        GOOD(cudaStreamSynchronize(other));
        EXPECT(back[N - 1], ((2 << i) - 1) * BIAS);
    }
    while (cudaStreamQuery(one) == cudaErrorNotReady)
        ;
    EXPECT(last_of(a), 7 * BIAS);
}

/* Registered memory: a kernel in flight waits for what the program writes there, while others read and write other parts. */
static void registered(void) {
    cudaStream_t one = new_stream(cudaStreamNonBlocking), other = new_stream(cudaStreamNonBlocking);
    static int own[3 * 2048];
    int *flag = own, *a = own + 2048;
    void *params[] = {&flag};
    set_factor();
    GOOD(cudaHostRegister(own, sizeof own, 0));
    GOOD(cudaLaunchKernel((const void *)waits, size1(1), size1(1), params, 0, one));
    a[N - 1] = 1;
    GOOD(scale_long(other, a, 8));
    a[N] = 9;
    GOOD(cudaStreamSynchronize(other));
    EXPECT(a[N - 1], 2 + BIAS);
    EXPECT(a[N], 9);
    a[N - 1] = 0x0807;
    own[2] = 3;
    GOOD(scale_long(other, a, 8));
    GOOD(cudaStreamSynchronize(other));
    EXPECT(a[N - 1], 2 * 0x0807 + BIAS);
    EXPECT(cudaStreamQuery(one), cudaErrorNotReady);
    EXPECT(own[1], 0);
    flag[0] = 7;
    GOOD(cudaStreamSynchronize(one));
    EXPECT(own[1], 7);
    EXPECT(own[2], 3);
    GOOD(cudaHostUnregister(own));
}

/* cudaFree() waits for all. */
static void frees(void) {
    cudaStream_t one = new_stream(0), other = new_stream(0);
    int *a = allocate(), *b = allocate();
    set_factor();
    scale_thrice(one, a);
    GOOD(scale_long(other, b, 8));
    GOOD(cudaStreamSynchronize(other));
    EXPECT(cudaStreamQuery(one), cudaErrorNotReady);
    GOOD(cudaFree(b));
    EXPECT(cudaStreamQuery(one), cudaSuccess);
    EXPECT(last_of(a), 7 * BIAS);
}

/* The legacy stream waits for blocking streams, and they for it; those that are none go on. */
static void legacy(void) {
    cudaStream_t blocking = new_stream(0);
    cudaEvent_t end = new_event();
    Waiter waiter = launch_waiter();
    int *a = allocate();
    GOOD(scale_long(blocking, a, 8));
    GOOD(scale_long(0, a, 8));
    GOOD(cudaEventRecord(end, cudaStreamLegacy));
    GOOD(scale_long(blocking, a, 8));
    GOOD(cudaEventSynchronize(end));
    EXPECT(cudaStreamQuery(blocking), cudaErrorNotReady);
    EXPECT(last_of(a), 7 * BIAS);
    GOOD(scale_long(0, a, 8));
    GOOD(cudaStreamSynchronize(0));
    GOOD(cudaStreamQuery(cudaStreamLegacy));
    EXPECT(cudaStreamQuery(waiter.stream), cudaErrorNotReady);
    GOOD(scale_long(blocking, a, 8));
    GOOD(cudaMemcpy(waiter.flag, two + 1, sizeof *two, cudaMemcpyHostToDevice));
    GOOD(cudaStreamSynchronize(waiter.stream));
    EXPECT(first_of(waiter.flag + 1), 2);
    EXPECT(last_of(a), 31 * BIAS);
}

/* A kernel of the legacy stream that goes on until a copy in another stream. */
static void legacy_waits(void) {
    cudaStream_t other = new_stream(cudaStreamNonBlocking);
    int *flag = allocate();
    void *params[] = {&flag};
    GOOD(cudaLaunchKernel((const void *)waits, size1(1), size1(1), params, 0, 0));
    EXPECT(cudaStreamQuery(0), cudaErrorNotReady);
    GOOD(cudaMemcpyAsync(flag, two + 1, sizeof *two, cudaMemcpyHostToDevice, other));
    EXPECT(first_of(flag + 1), 2);
}

/* Two branches and a child. */
static cudaGraph_t branches(cudaStream_t stream, int *a, int *b, int *c) {
    cudaStream_t side = new_stream(cudaStreamNonBlocking);
    cudaEvent_t forked = new_event(), joined = new_event();
    cudaGraph_t graph, child;
    GOOD(begin(stream));
    GOOD(scale_long(stream, c, 8));
    GOOD(cudaStreamEndCapture(stream, &child));
    GOOD(begin(stream));
    GOOD(cudaMemsetAsync(a, 0, N * 4, stream));
    GOOD(cudaEventRecord(forked, stream));
    GOOD(cudaStreamWaitEvent(side, forked, 0));
    GOOD(scale_long(side, b, 8));
    GOOD(scale_long(stream, a, 8));
    GOOD(cudaGraphLaunch(instance_of(child), stream));
    GOOD(cudaEventRecord(joined, side));
    GOOD(cudaStreamWaitEvent(stream, joined, 0));
    GOOD(scale_long(stream, a, 8));
    GOOD(cudaStreamEndCapture(stream, &graph));
    return graph;
}

/* A graph runs beside kernels in flight, and keeps what it had when it was launched. */
static void graph(void) {
    cudaStream_t other = new_stream(cudaStreamNonBlocking);
    int *a = allocate(), *b = allocate(), *c = allocate();
    cudaGraph_t graph = branches(other, a, b, c);
    cudaGraphExec_t exec = instance_of(graph);
    Waiter waiter = launch_waiter();
    GOOD(cudaGraphLaunch(exec, other));
    GOOD(cudaStreamSynchronize(other));
    EXPECT(last_of(a), 3 * BIAS);
    EXPECT(last_of(b), BIAS);
    EXPECT(last_of(c), BIAS);
    GOOD(cudaGraphLaunch(exec, other));
    GOOD(cudaGraphExecDestroy(exec));
    GOOD(cudaGraphDestroy(graph));
    GOOD(scale_long(other, b, 8));
    GOOD(cudaStreamSynchronize(other));
    EXPECT(last_of(b), 7 * BIAS);
    EXPECT(last_of(c), 3 * BIAS);
    EXPECT(cudaStreamQuery(waiter.stream), cudaErrorNotReady);
    release(&waiter, other);
}

/* A graph whose kernel goes on until the program, behind a wait for another stream, tells it to end. */
static void graph_waits(void) {
    cudaStream_t stream = new_stream(cudaStreamNonBlocking), other = new_stream(cudaStreamNonBlocking);
    int *flag = allocate(), *a = allocate();
    void *params[] = {&flag};
    cudaGraph_t graph;
    set_factor();
    GOOD(begin(stream));
    GOOD(cudaLaunchKernel((const void *)waits, size1(1), size1(1), params, 0, stream));
    GOOD(cudaStreamEndCapture(stream, &graph));
    GOOD(cudaGraphLaunch(instance_of(graph), stream));
    GOOD(scale_long(other, a, 8));
    GOOD(cudaStreamSynchronize(other));
    GOOD(cudaMemcpyAsync(flag, two + 1, sizeof *two, cudaMemcpyHostToDevice, other));
    GOOD(cudaStreamSynchronize(stream));
    EXPECT(first_of(flag + 1), 2);
}

typedef struct {
    cudaStream_t stream;
    int *a, calls, asked;
} Called;

/* What waits for this function cannot be waited for in it. */
static void calls_cuda(void *data) {
    Called *called = data;
    called->calls++;
    called->asked = cudaStreamSynchronize(called->stream);
    GOOD(scale_long(called->stream, called->a, 8));
}

/* A graph with memory of its own, events, a host function and a copy to memory that is not pinned runs beside a kernel in
 * flight. Its launch waits for the last two of these. */
static void graph_nodes(void) {
    cudaStream_t other = new_stream(cudaStreamNonBlocking), third = new_stream(cudaStreamNonBlocking);
    cudaEvent_t begun = new_event(), end = new_event();
    int *a = allocate(), *b = allocate(), *own = 0, back = 0;
    Called called = {other, b, 0, 0};
    cudaGraph_t graph;
    Waiter waiter = launch_waiter();
    GOOD(begin(other));
    GOOD(cudaStreamWaitEvent(other, begun, cudaEventWaitExternal));
    GOOD(cudaMallocAsync((void **)&own, N * 4, other));
    GOOD(cudaMemsetAsync(own, 0, N * 4, other));
    GOOD(scale_long(other, own, 8));
    GOOD(cudaMemcpyAsync(a, own, N * 4, cudaMemcpyDeviceToDevice, other));
    GOOD(cudaFreeAsync(own, other));
    GOOD(cudaLaunchHostFunc(other, calls_cuda, &called));
    GOOD(cudaMemcpyAsync(&back, a + N - 1, sizeof back, cudaMemcpyDeviceToHost, other));
    GOOD(scale_long(other, a, 8));
    GOOD(cudaEventRecordWithFlags(end, other, cudaEventRecordExternal));
    GOOD(cudaStreamEndCapture(other, &graph));
    cudaGraphExec_t exec = instance_of(graph);
    GOOD(cudaMemsetAsync(b, 0, N * 4, third));
    GOOD(cudaEventRecord(begun, third));
    GOOD(cudaGraphLaunch(exec, other));
    EXPECT(called.calls, 1);
    EXPECT(called.asked, cudaErrorNotPermitted);
    EXPECT(back, BIAS);
    EXPECT(cudaEventQuery(end), cudaErrorNotReady);
    GOOD(cudaGraphExecDestroy(exec));
    GOOD(cudaGraphDestroy(graph));
    GOOD(cudaStreamWaitEvent(third, end, 0));
    GOOD(scale_long(third, a, 8));
    GOOD(cudaStreamSynchronize(third));
    GOOD(cudaEventQuery(end));
    GOOD(cudaStreamSynchronize(other));
    EXPECT(cudaStreamQuery(waiter.stream), cudaErrorNotReady);
    release(&waiter, other);
    EXPECT(last_of(a), 7 * BIAS);
    EXPECT(last_of(b), BIAS);
}

/* A cooperative launch beside a kernel in flight, in the order of its stream; one that is too large is an error of its call. */
static void cooperative(void) {
    cudaStream_t other = new_stream(cudaStreamNonBlocking);
    int *a = allocate();
    unsigned n = N;
    void *params[] = {&a, &n};
    EXPECT(cudaLaunchCooperativeKernel((const void *)scale, size1(100000), size1(32), params, 0, other),
           cudaErrorCooperativeLaunchTooLarge);
    EXPECT(cudaGetLastError(), cudaErrorCooperativeLaunchTooLarge);
    Waiter waiter = launch_waiter();
    GOOD(cudaMemsetAsync(a, 0, N * 4, other));
    GOOD(scale_long(other, a, 8));
    GOOD(cudaLaunchCooperativeKernel((const void *)scale, size1(8), size1(32), params, 0, other));
    GOOD(scale_long(other, a, 8));
    GOOD(cudaStreamSynchronize(other));
    EXPECT(last_of(a), 7 * BIAS);
    EXPECT(cudaStreamQuery(waiter.stream), cudaErrorNotReady);
    release(&waiter, other);
}

/* Objects of textures are made, used and destroyed beside kernels in flight. */
static void texture(void) {
    cudaStream_t other = new_stream(cudaStreamNonBlocking);
    float *a = (float *)allocate(), *out = (float *)allocate(), texels[16], back[16];
    struct cudaResourceDesc of = {.resType = cudaResourceTypePitch2D,
                                  .res.pitch2D = {.devPtr = a,
                                                  .desc = {32, 0, 0, 0, cudaChannelFormatKindFloat},
                                                  .width = 8,
                                                  .height = 2,
                                                  .pitchInBytes = 32}};
    struct cudaTextureDesc how = {.filterMode = cudaFilterModePoint};
    for (int i = 0; i < 16; i++)
        texels[i] = (float)i / 2;
    GOOD(cudaMemcpy(a, texels, sizeof texels, cudaMemcpyHostToDevice));
    Waiter waiter = launch_waiter();
    EXPECT(cudaStreamQuery(waiter.stream), cudaErrorNotReady);
    for (int i = 0; i < 2; i++) {
        cudaTextureObject_t handle;
        void *params[] = {&out, &handle};
        GOOD(cudaCreateTextureObject(&handle, &of, &how, 0));
        GOOD(cudaLaunchKernel((const void *)fetch, size1(1), ((dim3){8, 2, 1}), params, 0, other));
        GOOD(cudaMemcpyAsync(back, out, sizeof back, cudaMemcpyDeviceToHost, other));
        GOOD(cudaDestroyTextureObject(handle));
        EXPECT(memcmp(back, texels, sizeof back), 0);
    }
    EXPECT(cudaStreamQuery(waiter.stream), cudaErrorNotReady);
    release(&waiter, other);
}

static void wait_for_word(cudaStream_t stream, const int *word, unsigned value) {
    EXPECT(cuStreamWaitValue32((CUstream)stream, (CUdeviceptr)word, value, CU_STREAM_WAIT_VALUE_EQ), 0);
}

/* Streams that wait for words which a later call or a kernel in flight writes. */
static void words(void) {
    cudaStream_t one = new_stream(cudaStreamNonBlocking), other = new_stream(cudaStreamNonBlocking);
    int *a = allocate(), *b = allocate(), *word = allocate();
    Waiter waiter = launch_waiter();
    wait_for_word(one, word, 3);
    GOOD(scale_long(one, a, 8));
    wait_for_word(other, waiter.flag + 1, 7);
    GOOD(scale_long(other, b, 8));
    EXPECT(cudaStreamQuery(one), cudaErrorNotReady);
    EXPECT(first_of(a), 0);
    EXPECT(cuStreamWriteValue32((CUstream)waiter.stream, (CUdeviceptr)waiter.flag, 0, 0), 0);
    EXPECT(cuStreamWriteValue32(0, (CUdeviceptr)word, 3, 0), 0);
    GOOD(cudaStreamSynchronize(one));
    EXPECT(first_of(a), BIAS);
    EXPECT(cudaStreamQuery(other), cudaErrorNotReady);
    EXPECT(first_of(b), 0);
    release(&waiter, one);
    GOOD(cudaStreamSynchronize(other));
    EXPECT(last_of(b), BIAS);
}

static void *write_later(void *word) {
    usleep(2500000);
    __atomic_store_n((int *)word, 2, __ATOMIC_SEQ_CST);
    return 0;
}

/* Words that the program writes into memory which it shares with the device: behind the call, or by another thread. */
static void words_of_host(void) {
    cudaStream_t stream = new_stream(cudaStreamNonBlocking);
    int *word = pinned(), *a = allocate();
    pthread_t thread;
    set_factor();
    wait_for_word(stream, word, 1);
    GOOD(scale_long(stream, a, 8));
    EXPECT(cudaStreamQuery(stream), cudaErrorNotReady);
    EXPECT(last_of(a), 0);
    *word = 1;
    wait_for_word(stream, word, 2);
    GOOD(scale_long(stream, a, 8));
    pthread_create(&thread, 0, write_later, word);
    GOOD(cudaStreamSynchronize(stream));
    EXPECT(last_of(a), 3 * BIAS);
    pthread_join(thread, 0);
    wait_for_word(0, word, 3);
    GOOD(scale_long(0, a, 8));
    *word = 3;
    EXPECT(last_of(a), 7 * BIAS);
    wait_for_word(stream, word, 4); /* which the program does not wait for */
}

/* Many short kernels beside one that goes on until they have ended. */
static void many(void) {
    enum { MANY = 3000, STEP = 100 };
    cudaStream_t other = new_stream(cudaStreamNonBlocking);
    int *a = allocate(), *back = pinned();
    Waiter waiter = launch_waiter();
    for (int i = 0; i < MANY; i++) {
        GOOD(cudaLaunchKernel((const void *)nothing, size1(1), size1(32), 0, 0, other));
        if (i % STEP == 0) GOOD(cudaStreamSynchronize(other));
    }
    GOOD(scale_long(other, a, 8));
    GOOD(cudaMemcpyAsync(back, a, N * 4, cudaMemcpyDeviceToHost, other));
    GOOD(cudaStreamSynchronize(other));
    EXPECT(back[N - 1], BIAS);
    release(&waiter, other);
}

/* More kernels than the machine holds wait for those in flight. */
static void mixes(void) {
    enum { MANY = 17000 };
    cudaStream_t one = new_stream(0), other = new_stream(0);
    int *a = allocate(), *b = allocate();
    set_factor();
    scale_thrice(one, a);
    GOOD(scale_long(other, b, 8));
    GOOD(cudaStreamSynchronize(other));
    for (int i = 0; i < MANY; i++) {
        GOOD(cudaLaunchKernel((const void *)nothing, size1(1), size1(32), 0, 0, other));
        if (i % 1000 == 0) GOOD(cudaStreamSynchronize(other));
    }
    GOOD(cudaDeviceSynchronize());
    EXPECT(last_of(a), 7 * BIAS);
}

int main(int argc, char **argv) {
    static const Part parts[] = {{"stream", stream},
                                 {"event", event},
                                 {"polls", polls},
                                 {"pipeline", pipeline},
                                 {"times", times},
                                 {"behind", behind},
                                 {"priorities", priorities},
                                 {"prints_early", prints_early},
                                 {"fault", fault},
                                 {"leaves", leaves},
                                 {"pair", pair},
                                 {"registered", registered},
                                 {"frees", frees},
                                 {"mixes", mixes},
                                 {"many", many},
                                 {"legacy", legacy},
                                 {"legacy_waits", legacy_waits},
                                 {"graph", graph},
                                 {"graph_waits", graph_waits},
                                 {"graph_nodes", graph_nodes},
                                 {"cooperative", cooperative},
                                 {"texture", texture},
                                 {"words", words},
                                 {"words_of_host", words_of_host},
                                 {0, 0}};
    return run_part(parts, argc > 1 ? argv[1] : "");
}
