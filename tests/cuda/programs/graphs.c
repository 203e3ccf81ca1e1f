/* graphs WHAT: one part of graphs made by hand and of their instances, checked as a program sees it. Says what is
 * wrong, exits with how much. */
#include "graph_checks.h"

/* Host functions may call CUDA. */
static void read_back(void *data) {
    Manual *m = data;
    m->calls = 1000 + first_of(m->a);
}

static void by_hand(void) {
    Manual m;
    enum cudaGraphNodeType type;
    struct cudaKernelNodeParams kernel;
    struct cudaMemsetParams fill;
    struct cudaMemcpy3DParms copy;
    struct cudaHostNodeParams host;
    make_by_hand(&m);
    GOOD(cudaGraphNodeGetType(m.kernel, &type));
    EXPECT(type, cudaGraphNodeTypeKernel);
    GOOD(cudaGraphNodeGetType(m.empty, &type));
    EXPECT(type, cudaGraphNodeTypeEmpty);
    GOOD(cudaGraphKernelNodeGetParams(m.kernel, &kernel));
    EXPECT(kernel.func == (void *)scale, 1);
    EXPECT(kernel.blockDim.x, N);
    EXPECT(*(unsigned *)kernel.kernelParams[1], N);
    GOOD(cudaGraphMemsetNodeGetParams(m.fill, &fill));
    EXPECT(fill.dst == m.a && fill.width == N && fill.elementSize == 4 && fill.value == 7, 1);
    GOOD(cudaGraphMemcpyNodeGetParams(m.copy, &copy));
    EXPECT(copy.dstPtr.ptr == m.back && copy.srcPtr.ptr == m.a && copy.extent.width == sizeof m.back, 1);
    EXPECT(copy.kind, cudaMemcpyDeviceToHost);
    GOOD(cudaGraphHostNodeGetParams(m.host, &host));
    EXPECT(host.userData == &m.calls, 1);
    EXPECT(cudaGraphMemsetNodeGetParams(m.kernel, &fill), cudaErrorInvalidValue);
    cudaGraphExec_t exec = instance_of(m.graph);
    GOOD(cudaGraphLaunch(exec, 0));
    EXPECT(m.back[0] + m.back[N - 1], 2 * (2 * 7 + BIAS));
    EXPECT(m.calls, 1);
    GOOD(cudaGraphMemsetNodeSetParams(m.fill,
                                      (fill.value = 9, &fill))); /* of the graph, not of the instance */
    GOOD(cudaGraphLaunch(exec, 0));
    EXPECT(m.back[3], 2 * 7 + BIAS);
    GOOD(cudaGraphExecDestroy(exec));
    exec = instance_of(m.graph);
    GOOD(cudaGraphLaunch(exec, 0));
    EXPECT(m.back[3], 2 * 9 + BIAS);
    GOOD(cudaGraphExecDestroy(exec));
    host.fn = read_back;
    host.userData = &m;
    GOOD(cudaGraphHostNodeSetParams(m.host, &host));
    GOOD(cudaGraphLaunch(instance_of(m.graph), 0));
    EXPECT(m.calls, 1000 + 2 * 9 + BIAS);
    GOOD(cudaGraphDestroy(m.graph));
    EXPECT(cudaGetLastError(), cudaErrorInvalidValue);
}

static cudaGraphExec_t running;

static void destroy_running(void *data) {
    count_call(data);
    GOOD(cudaGraphExecDestroy(running));
    EXPECT(cudaGraphLaunch(running, 0), cudaErrorInvalidValue);
}

/* An instance that is destroyed while it runs ends with its last node. */
static void destroyed(void) {
    int calls = 0;
    cudaGraph_t graph;
    cudaGraphNode_t first, second;
    struct cudaHostNodeParams host = {destroy_running, &calls}, behind = {count_call, &calls};
    GOOD(cudaGraphCreate(&graph, 0));
    GOOD(cudaGraphAddHostNode(&first, graph, 0, 0, &host));
    GOOD(cudaGraphAddHostNode(&second, graph, &first, 1, &behind));
    running = instance_of(graph);
    GOOD(cudaGraphLaunch(running, 0));
    EXPECT(calls, 2);
    EXPECT(cudaGraphLaunch(running, 0), cudaErrorInvalidValue);
    cudaGetLastError();
}

/* An instance, launched with other parameters each time. */
static void changed(void) {
    Manual m;
    make_by_hand(&m);
    int *b = allocate(), calls = 0;
    unsigned n = N, enabled;
    void *params[] = {&b, &n};
    struct cudaKernelNodeParams kernel = kernel_params(params);
    struct cudaMemsetParams fill = {.dst = b, .value = 11, .elementSize = 4, .width = N, .height = 1};
    struct cudaHostNodeParams host = {count_call, &calls};
    cudaGraphExec_t exec = instance_of(m.graph);
    GOOD(cudaGraphLaunch(exec, 0));
    EXPECT(m.back[9], 2 * 7 + BIAS);
    GOOD(cudaGraphExecMemsetNodeSetParams(exec, m.fill, &fill));
    GOOD(cudaGraphExecKernelNodeSetParams(exec, m.kernel, &kernel));
    GOOD(cudaGraphExecMemcpyNodeSetParams1D(exec, m.copy, m.back, b, sizeof m.back, cudaMemcpyDeviceToHost));
    GOOD(cudaGraphExecHostNodeSetParams(exec, m.host, &host));
    GOOD(cudaGraphLaunch(exec, 0));
    EXPECT(m.back[9], 2 * 11 + BIAS);
    EXPECT(last_of(m.a), 2 * 7 + BIAS);
    EXPECT(calls, 1);
    n = 10;
    fill.value = 12;
    GOOD(cudaGraphExecMemsetNodeSetParams(exec, m.fill, &fill));
    GOOD(cudaGraphExecKernelNodeSetParams(exec, m.kernel, &kernel));
    GOOD(cudaGraphLaunch(exec, 0));
    EXPECT(m.back[9], 2 * 12 + BIAS);
    EXPECT(m.back[10], 12);
    GOOD(cudaGraphNodeGetEnabled(exec, m.kernel, &enabled));
    EXPECT(enabled, 1);
    GOOD(cudaGraphNodeSetEnabled(exec, m.kernel, 0));
    GOOD(cudaGraphNodeGetEnabled(exec, m.kernel, &enabled));
    EXPECT(enabled, 0);
    GOOD(cudaGraphLaunch(exec, 0));
    EXPECT(m.back[9], 12);
    GOOD(cudaGraphNodeSetEnabled(exec, m.kernel, 1));
    GOOD(cudaGraphLaunch(exec, 0));
    EXPECT(m.back[9], 2 * 12 + BIAS);
    EXPECT(cudaGraphNodeSetEnabled(exec, m.host, 0), cudaErrorInvalidValue);
    EXPECT(cudaGraphExecKernelNodeSetParams(exec, m.fill, &kernel), cudaErrorInvalidValue);
    kernel.blockDim.x = 5000;
    EXPECT(cudaGraphExecKernelNodeSetParams(exec, m.kernel, &kernel), cudaErrorInvalidConfiguration);
    EXPECT(m.calls, 1);
    EXPECT(calls, 4);
    cudaGetLastError();
}

static void updates(void) {
    Manual m, other;
    cudaGraphNode_t node, extra;
    enum cudaGraphExecUpdateResult result;
    make_by_hand(&m);
    make_by_hand(&other);
    cudaGraphExec_t exec = instance_of(m.graph);
    GOOD(cudaGraphExecUpdate(exec, other.graph, &node, &result));
    EXPECT(result, cudaGraphExecUpdateSuccess);
    GOOD(cudaGraphLaunch(exec, 0));
    EXPECT(m.calls, 0);
    EXPECT(other.calls, 1);
    EXPECT(other.back[5], 2 * 7 + BIAS);
    GOOD(cudaGraphRemoveDependencies(other.graph, &other.copy, &other.empty, 1));
    EXPECT(cudaGraphExecUpdate(exec, other.graph, &node, &result), cudaErrorGraphExecUpdateFailure);
    EXPECT(result, cudaGraphExecUpdateErrorTopologyChanged);
    EXPECT(node == other.empty, 1);
    GOOD(cudaGraphAddDependencies(other.graph, &other.copy, &other.empty, 1));
    GOOD(cudaGraphAddEmptyNode(&extra, other.graph, 0, 0));
    EXPECT(cudaGraphExecUpdate(exec, other.graph, &node, &result), cudaErrorGraphExecUpdateFailure);
    EXPECT(result, cudaGraphExecUpdateErrorTopologyChanged);
    EXPECT(node == extra, 1);
    GOOD(cudaGraphDestroyNode(extra));
    GOOD(cudaGraphDestroyNode(other.host));
    GOOD(cudaGraphAddEmptyNode(&extra, other.graph, &other.empty, 1));
    EXPECT(cudaGraphExecUpdate(exec, other.graph, &node, &result), cudaErrorGraphExecUpdateFailure);
    EXPECT(result, cudaGraphExecUpdateErrorNodeTypeChanged);
    EXPECT(node == extra, 1);
    GOOD(cudaGraphDestroyNode(
        other.copy)); /* so that nodes behind it have others of another kind beside them */
    EXPECT(cudaGraphExecUpdate(exec, other.graph, &node, &result), cudaErrorGraphExecUpdateFailure);
    EXPECT(result, cudaGraphExecUpdateErrorTopologyChanged);
    EXPECT(node == 0, 1);
    GOOD(cudaGraphLaunch(exec, 0));
    EXPECT(other.calls, 2);
    cudaGetLastError();
}

static char order[16];

static void note(void *letter) {
    size_t length = strlen(order);
    if (length < sizeof order - 1) order[length] = (char)(intptr_t)letter;
}

static cudaGraphNode_t letter_node(cudaGraph_t graph, char letter) {
    struct cudaHostNodeParams host = {note, (void *)(intptr_t)letter};
    cudaGraphNode_t node = 0;
    GOOD(cudaGraphAddHostNode(&node, graph, 0, 0, &host));
    return node;
}

static void run_letters(cudaGraph_t graph, const char *expected) {
    cudaGraphExec_t exec = instance_of(graph);
    memset(order, 0, sizeof order);
    GOOD(cudaGraphLaunch(exec, 0));
    EXPECT(strcmp(order, expected), 0);
    if (strcmp(order, expected) != 0) printf("%s\n", order);
    GOOD(cudaGraphExecDestroy(exec));
}

/* Of the nodes that may run, the one that was made first. */
static void structure(void) {
    cudaGraph_t graph, child, inner, copy;
    cudaGraphNode_t a, b, c, d, child_node, found, bad = 0;
    cudaGraphExec_t exec;
    char log[64] = "";
    GOOD(cudaGraphCreate(&graph, 0));
    a = letter_node(graph, 'a');
    b = letter_node(graph, 'b');
    c = letter_node(graph, 'c');
    d = letter_node(graph, 'd');
    run_letters(graph, "abcd");
    GOOD(cudaGraphAddDependencies(graph, &d, &a, 1));
    run_letters(graph, "bcda");
    GOOD(cudaGraphAddDependencies(graph, &a, &b, 1));
    run_letters(graph, "cdab");
    EXPECT(cudaGraphAddDependencies(graph, &a, &b, 1), cudaErrorInvalidValue);
    GOOD(cudaGraphAddDependencies(graph, &b, &d, 1)); /* a cycle */
    EXPECT(cudaGraphInstantiate(&exec, graph, &bad, log, sizeof log), cudaErrorInvalidValue);
    EXPECT(bad != 0 && bad != c, 1);
    EXPECT(strstr(log, "cycle") != 0, 1);
    GOOD(cudaGraphRemoveDependencies(graph, &b, &d, 1));
    EXPECT(cudaGraphRemoveDependencies(graph, &b, &d, 1), cudaErrorInvalidValue);
    GOOD(cudaGraphClone(&copy, graph));
    GOOD(cudaGraphNodeFindInClone(&found, d, copy));
    EXPECT(found != 0 && found != d, 1);
    EXPECT(cudaGraphNodeFindInClone(&found, d, graph), cudaErrorInvalidValue);
    GOOD(cudaGraphNodeFindInClone(&found, d, copy));
    GOOD(cudaGraphDestroyNode(found));
    run_letters(copy, "abc");
    run_letters(graph, "cdab");
    GOOD(cudaGraphCreate(&child, 0)); /* a graph as a node of a graph, copied when it is made */
    letter_node(child, 'x');
    GOOD(cudaGraphAddChildGraphNode(&child_node, graph, &c, 1, child));
    letter_node(child, 'y');
    GOOD(cudaGraphAddDependencies(graph, &child_node, &d, 1));
    run_letters(graph, "cxdab");
    GOOD(cudaGraphChildGraphNodeGetGraph(child_node, &inner));
    EXPECT(inner != child && count_of(inner) == 1, 1);
    EXPECT(cudaGraphDestroy(inner), cudaErrorInvalidValue);
    letter_node(inner, 'z');
    run_letters(graph, "cxzdab");
    GOOD(cudaGraphInstantiateWithFlags(&exec, graph, 0));
    GOOD(cudaGraphExecChildGraphNodeSetParams(exec, child_node, child));
    memset(order, 0, sizeof order);
    GOOD(cudaGraphLaunch(exec, 0));
    EXPECT(strcmp(order, "cxydab"), 0);
    GOOD(cudaGraphDestroy(child));
    GOOD(cudaGraphDestroy(copy));
    EXPECT(cudaGraphInstantiateWithFlags(&exec, graph, 64), cudaErrorInvalidValue);
    EXPECT(cudaGraphInstantiateWithFlags(&exec, graph, cudaGraphInstantiateFlagDeviceLaunch),
           cudaErrorNotSupported);
    cudaGetLastError();
}

static void dot(void) {
    const char *path = getenv("GRAPH_DOT");
    Manual m;
    char text[4096] = "";
    make_by_hand(&m);
    GOOD(cudaGraphDebugDotPrint(m.graph, path, cudaGraphDebugDotFlagsVerbose));
    EXPECT(cudaGraphDebugDotPrint(m.graph, "/no/such/folder/x", 0), cudaErrorOperatingSystem);
    FILE *file = fopen(path, "r");
    EXPECT(file != 0 && fread(text, 1, sizeof text - 1, file) > 0, 1);
    EXPECT(strstr(text, "kernel scale") != 0, 1);
    EXPECT(strstr(text, "\"0\" -> \"1\"") != 0, 1);
    fclose(file);
    cudaGetLastError();
}

/* Work for checkpoints: 12 launches, in graphs whose parameters change, with what the program reads between them. */
static void steps(void) {
    Manual m;
    cudaStream_t stream = new_stream(0);
    int sum = 0, *b;
    make_by_hand(&m);
    cudaGraphExec_t exec = instance_of(m.graph);
    for (unsigned i = 0; i < 6; i++) {
        struct cudaMemsetParams fill = {.dst = m.a, .value = i, .elementSize = 4, .width = N, .height = 1};
        GOOD(cudaGraphExecMemsetNodeSetParams(exec, m.fill, &fill));
        GOOD(cudaGraphLaunch(exec, stream));
        sum += m.back[i];
        GOOD(cudaMallocAsync((void **)&b, N * 4, stream));
        GOOD(cudaMemcpyAsync(b, m.a, N * 4, cudaMemcpyDeviceToDevice, stream));
        GOOD(scale_in(stream, b, N));
        sum += last_of(b);
        GOOD(cudaFreeAsync(b, stream));
    }
    printf("sum %d, %d calls\n", sum, m.calls);
}

int main(int argc, char **argv) {
    static const Part parts[] = {{"by_hand", by_hand},     {"destroyed", destroyed},
                                 {"changed", changed},     {"updates", updates},
                                 {"structure", structure}, {"dot", dot},
                                 {"steps", steps},         {0, 0}};
    return run_part(parts, argc > 1 ? argv[1] : "");
}
