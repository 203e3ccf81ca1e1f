/* misuse WHAT: calls that a program should not make. They return an error; the program goes on. */
#include "checks.h"
#include <cuda_runtime.h>

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { INVALID_VALUE = 1, INVALID_DEVICE_FUNCTION = 98, INVALID_CONTEXT = 201, INVALID_HANDLE = 400 };

typedef int (*Call)(void *, void *, void *, void *, void *, void *);

/* Functions that write what they are asked for to where their first pointer says. */
static const char *const asking[] = {"cudaDriverGetVersion",
                                     "cudaRuntimeGetVersion",
                                     "cudaGetDeviceFlags",
                                     "cudaDeviceGetCacheConfig",
                                     "cudaDeviceGetSharedMemConfig",
                                     "cudaGetFuncBySymbol",
                                     "cudaGetKernel",
                                     "cudaGetTextureReference",
                                     "cudaGetSurfaceReference",
                                     "cudaThreadGetCacheConfig",
                                     "cuDriverGetVersion",
                                     "cuDeviceGetCount",
                                     "cuDeviceGet",
                                     "cuDeviceGetUuid",
                                     "cuDeviceGetUuid_v2",
                                     "cuDeviceTotalMem",
                                     "cuDeviceTotalMem_v2",
                                     "cuDeviceGetName",
                                     "cuDeviceGetAttribute",
                                     "cuDeviceComputeCapability",
                                     "cuCtxCreate",
                                     "cuCtxCreate_v2",
                                     "cuCtxCreate_v3",
                                     "cuCtxCreate_v4",
                                     "cuCtxGetCurrent",
                                     "cuCtxGetDevice",
                                     "cuCtxGetFlags",
                                     "cuCtxGetApiVersion",
                                     "cuDevicePrimaryCtxRetain",
                                     "cuEventCreate",
                                     "cuGetErrorName",
                                     "cuGetErrorString",
                                     "cuMemAllocPitch",
                                     "cuMemAllocPitch_v2",
                                     "cuStreamGetCtx_v2"};

/* Each of these has answered before: the library has not kept its lock. */
static void nulls(void) {
    size_t free_bytes = 0, total = 0;
    for (size_t i = 0; i < sizeof asking / sizeof *asking; i++) {
        Call call = (Call)dlsym(RTLD_DEFAULT, asking[i]);
        int got = call ? call(NULL, NULL, NULL, NULL, NULL, NULL) : -1;
        if (got != INVALID_VALUE) printf("%s returns %d\n", asking[i], got);
        CHECK(got == INVALID_VALUE);
    }
    Call info = (Call)dlsym(RTLD_DEFAULT, "cuMemGetInfo_v2");
    CHECK(info(NULL, NULL, NULL, NULL, NULL, NULL) == 0);
    CHECK(cudaMemGetInfo(&free_bytes, &total) == cudaSuccess && free_bytes <= total);
}

/* Rows and slices that lie in each other, or beyond the end of all memory. */
static void volumes(void) {
    char *a, *host = malloc(4096);
    CHECK(cudaMalloc((void **)&a, 4096) == cudaSuccess);
    struct cudaPitchedPtr flat = {a, 64, 64, 0}, wide = {a, (size_t)1 << 32, 64, 64}, narrow = {a, 0, 64, 64};
    struct cudaExtent deep = {64, 1, SIZE_MAX}, high = {64, ((size_t)1 << 32) + 1, 1},
                      many = {64, SIZE_MAX, 1};
    CHECK(cudaMemset3D(flat, 1, deep) == cudaErrorInvalidValue);
    CHECK(cudaMemset3D(wide, 1, high) == cudaErrorInvalidValue);
    CHECK(cudaMemset3D(narrow, 1, many) == cudaErrorInvalidValue);
    CHECK(cudaMemset2D(a, (size_t)1 << 32, 1, 64, ((size_t)1 << 32) + 1) == cudaErrorInvalidValue);
    CHECK(cudaMemcpy2D(a, (size_t)1 << 32, host, 64, 64, ((size_t)1 << 32) + 1, cudaMemcpyHostToDevice) ==
          cudaErrorInvalidValue);
    struct cudaMemcpy3DParms copy = {
        .srcPtr = {host, 64, 64, 0}, .dstPtr = flat, .extent = deep, .kind = cudaMemcpyHostToDevice};
    CHECK(cudaMemcpy3D(&copy) == cudaErrorInvalidValue);
    copy.extent.depth = 1; /* what is not used need not be given */
    CHECK(cudaMemcpy3D(&copy) == cudaSuccess);
    free(host);
}

/* Images that say that they go on where the program has no memory. */
static void images(void) {
    Call load = (Call)dlsym(RTLD_DEFAULT, "cuModuleLoadData"), init = (Call)dlsym(RTLD_DEFAULT, "cuInit");
    size_t page = 65536;
    uint8_t *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void *module;
    CHECK(mprotect(pages + page, page, PROT_NONE) == 0);
    CHECK(init(NULL, NULL, NULL, NULL, NULL, NULL) == 0);
    static const uint64_t bodies[] = {4096, (uint64_t)1 << 48, UINT64_MAX, UINT64_MAX - 15};
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        const uint32_t fat[4] = {0xba55ed50u, 1 | 16 << 16, (uint32_t)bodies[i], (uint32_t)(bodies[i] >> 32)};
        memcpy(pages + page - sizeof fat, fat, sizeof fat);
        CHECK(load(&module, pages + page - sizeof fat, NULL, NULL, NULL, NULL) != 0);
        uint8_t elf[64] = "\177ELF";
        memcpy(elf + 40, &bodies[i], 8);
        memcpy(pages + page - sizeof elf, elf, sizeof elf);
        CHECK(load(&module, pages + page - sizeof elf, NULL, NULL, NULL, NULL) != 0);
    }
    memset(pages + page - 8, 'x', 8); /* text without an end */
    CHECK(load(&module, pages + page - 8, NULL, NULL, NULL, NULL) != 0);
    CHECK(load(&module, pages + page - 2, NULL, NULL, NULL, NULL) != 0);
    CHECK(load(&module, pages + page, NULL, NULL, NULL, NULL) != 0);
}

/* --- Handles ------------------------------------------------------------------------------------ */

/* In place of an argument: the handle, room for an answer, an address of the device. */
#define HANDLE    ((void *)0x1001)
#define ROOM      ((void *)0x1002)
#define MEMORY    ((void *)0x1003)
#define NUMBER(n) ((void *)(n))
#define NAME      ((void *)"name")

typedef enum {
    STREAM,
    EVENT,
    GRAPH,
    NODE,
    EXEC,
    POOL,
    ARRAY,
    TEXTURE,
    SURFACE,
    MODULE,
    FUNCTION,
    LINK,
    CONTEXT,
    KINDS
} Kind;

static void ignore(void *data) {
    (void)data;
}

/* Calls that get a handle of this kind, and what they return for what is none. */
static const struct {
    Kind kind;
    const char *name;
    int error;
    void *arguments[6];
} taking[] = {
    {STREAM, "cudaStreamSynchronize", INVALID_HANDLE, {HANDLE}},
    {STREAM, "cudaStreamQuery", INVALID_HANDLE, {HANDLE}},
    {STREAM, "cudaStreamDestroy", INVALID_HANDLE, {HANDLE}},
    {STREAM, "cudaStreamGetPriority", INVALID_HANDLE, {HANDLE, ROOM}},
    {STREAM, "cudaStreamIsCapturing", INVALID_HANDLE, {HANDLE, ROOM}},
    {STREAM, "cudaStreamBeginCapture", INVALID_HANDLE, {HANDLE}},
    {STREAM, "cudaStreamEndCapture", INVALID_HANDLE, {HANDLE, ROOM}},
    {STREAM, "cudaLaunchHostFunc", INVALID_HANDLE, {HANDLE, (void *)ignore}},
    {STREAM, "cudaMemsetAsync", INVALID_HANDLE, {MEMORY, 0, NUMBER(4), HANDLE}},
    {STREAM, "cudaMemcpyAsync", INVALID_HANDLE, {MEMORY, MEMORY, NUMBER(4), NUMBER(3), HANDLE}},
    {STREAM, "cudaMallocAsync", INVALID_HANDLE, {ROOM, NUMBER(4), HANDLE}},
    {STREAM, "cuStreamSynchronize", INVALID_HANDLE, {HANDLE}},
    {STREAM, "cuStreamDestroy_v2", INVALID_HANDLE, {HANDLE}},
    {EVENT, "cudaEventRecord", INVALID_HANDLE, {HANDLE}},
    {EVENT, "cudaEventSynchronize", INVALID_HANDLE, {HANDLE}},
    {EVENT, "cudaEventQuery", INVALID_HANDLE, {HANDLE}},
    {EVENT, "cudaEventElapsedTime", INVALID_HANDLE, {ROOM, HANDLE, HANDLE}},
    {EVENT, "cudaStreamWaitEvent", INVALID_HANDLE, {0, HANDLE}},
    {EVENT, "cudaEventDestroy", INVALID_HANDLE, {HANDLE}},
    {EVENT, "cuEventDestroy_v2", INVALID_HANDLE, {HANDLE}},
    {GRAPH, "cudaGraphDestroy", INVALID_VALUE, {HANDLE}},
    {GRAPH, "cudaGraphClone", INVALID_VALUE, {ROOM, HANDLE}},
    {GRAPH, "cudaGraphGetNodes", INVALID_VALUE, {HANDLE, 0, ROOM}},
    {GRAPH, "cudaGraphInstantiateWithFlags", INVALID_VALUE, {ROOM, HANDLE}},
    {GRAPH, "cudaGraphAddEmptyNode", INVALID_VALUE, {ROOM, HANDLE}},
    {NODE, "cudaGraphNodeGetType", INVALID_VALUE, {HANDLE, ROOM}},
    {NODE, "cudaGraphHostNodeGetParams", INVALID_VALUE, {HANDLE, ROOM}},
    {NODE, "cudaGraphDestroyNode", INVALID_VALUE, {HANDLE}},
    {EXEC, "cudaGraphLaunch", INVALID_VALUE, {HANDLE}},
    {EXEC, "cudaGraphUpload", INVALID_VALUE, {HANDLE}},
    {EXEC, "cudaGraphExecDestroy", INVALID_VALUE, {HANDLE}},
    {POOL, "cudaMallocFromPoolAsync", INVALID_VALUE, {ROOM, NUMBER(4), HANDLE}},
    {POOL, "cudaMemPoolTrimTo", INVALID_VALUE, {HANDLE}},
    {POOL, "cudaDeviceSetMemPool", INVALID_VALUE, {0, HANDLE}},
    {POOL, "cudaMemPoolDestroy", INVALID_VALUE, {HANDLE}},
    {ARRAY, "cudaArrayGetInfo", INVALID_HANDLE, {ROOM, ROOM, ROOM, HANDLE}},
    {ARRAY, "cudaGetChannelDesc", INVALID_HANDLE, {ROOM, HANDLE}},
    {ARRAY, "cudaMemcpyToArray", INVALID_VALUE, {HANDLE, 0, 0, MEMORY, NUMBER(4), NUMBER(3)}},
    {ARRAY, "cudaMemcpyFromArray", INVALID_VALUE, {MEMORY, HANDLE, 0, 0, NUMBER(4), NUMBER(3)}},
    {ARRAY, "cudaFreeArray", INVALID_VALUE, {HANDLE}},
    {TEXTURE, "cudaGetTextureObjectResourceDesc", INVALID_VALUE, {ROOM, HANDLE}},
    {TEXTURE, "cudaDestroyTextureObject", INVALID_VALUE, {HANDLE}},
    {SURFACE, "cudaGetSurfaceObjectResourceDesc", INVALID_VALUE, {ROOM, HANDLE}},
    {SURFACE, "cudaDestroySurfaceObject", INVALID_VALUE, {HANDLE}},
    {MODULE, "cuModuleGetFunction", INVALID_VALUE, {ROOM, HANDLE, NAME}},
    {MODULE, "cuModuleGetGlobal_v2", INVALID_VALUE, {ROOM, ROOM, HANDLE, NAME}},
    {MODULE, "cuLibraryGetKernel", INVALID_VALUE, {ROOM, HANDLE, NAME}},
    {MODULE, "cuLibraryGetModule", INVALID_HANDLE, {ROOM, HANDLE}},
    {MODULE, "cuLibraryUnload", INVALID_HANDLE, {HANDLE}},
    {MODULE, "cuModuleUnload", INVALID_HANDLE, {HANDLE}},
    {FUNCTION, "cuFuncGetAttribute", INVALID_VALUE, {ROOM, 0, HANDLE}},
    {FUNCTION, "cuFuncSetCacheConfig", INVALID_HANDLE, {HANDLE}},
    {FUNCTION, "cuFuncGetName", INVALID_VALUE, {ROOM, HANDLE}},
    {FUNCTION, "cuFuncGetModule", INVALID_VALUE, {ROOM, HANDLE}},
    {FUNCTION, "cuKernelGetFunction", INVALID_HANDLE, {ROOM, HANDLE}},
    {FUNCTION, "cuOccupancyMaxActiveBlocksPerMultiprocessor", INVALID_VALUE, {ROOM, HANDLE, NUMBER(32)}},
    {FUNCTION, "cuLaunchKernelEx", INVALID_HANDLE, {ROOM, HANDLE}},
    {FUNCTION, "cudaFuncGetAttributes", INVALID_DEVICE_FUNCTION, {ROOM, HANDLE}},
    {LINK, "cuLinkComplete", INVALID_HANDLE, {HANDLE, ROOM, ROOM}},
    {LINK, "cuLinkDestroy", INVALID_HANDLE, {HANDLE}},
    {CONTEXT, "cuCtxSetCurrent", INVALID_CONTEXT, {HANDLE}},
    {CONTEXT, "cuCtxPushCurrent_v2", INVALID_CONTEXT, {HANDLE}},
    {CONTEXT, "cuCtxSynchronize_v2", INVALID_CONTEXT, {HANDLE}},
    {CONTEXT, "cuCtxDestroy_v2", INVALID_CONTEXT, {HANDLE}},
};

static int call_with(size_t row, void *handle, void *memory) {
    static long long room[64];
    void *a[6];
    memset(room, 0, sizeof room);
    for (int i = 0; i < 6; i++) {
        void *given = taking[row].arguments[i];
        a[i] = given == HANDLE ? handle : given == ROOM ? (void *)room : given == MEMORY ? memory : given;
    }
    Call call = (Call)dlsym(RTLD_DEFAULT, taking[row].name);
    return call ? call(a[0], a[1], a[2], a[3], a[4], a[5]) : -1;
}

static int by_name(const char *name, void *a, void *b, void *c) {
    return ((Call)dlsym(RTLD_DEFAULT, name))(a, b, c, NULL, NULL, NULL);
}

static const char empty_kernel[] =
    ".version 7.0\n.target sm_35\n.address_size 64\n.visible .entry name() { ret; }\n";

/* One handle of each kind. */
static void make_all(void *made[KINDS]) {
    struct cudaChannelFormatDesc format = {32, 0, 0, 0, cudaChannelFormatKindSigned};
    struct cudaMemPoolProps pool = {.allocType = cudaMemAllocationTypePinned,
                                    .location = {.type = cudaMemLocationTypeDevice}};
    CHECK(cudaStreamCreate((cudaStream_t *)&made[STREAM]) == cudaSuccess);
    CHECK(cudaEventCreate((cudaEvent_t *)&made[EVENT]) == cudaSuccess);
    CHECK(cudaGraphCreate((cudaGraph_t *)&made[GRAPH], 0) == cudaSuccess);
    CHECK(cudaGraphAddEmptyNode((cudaGraphNode_t *)&made[NODE], made[GRAPH], NULL, 0) == cudaSuccess);
    CHECK(by_name("cudaGraphInstantiateWithFlags", &made[EXEC], made[GRAPH], NULL) == cudaSuccess);
    CHECK(cudaMemPoolCreate((cudaMemPool_t *)&made[POOL], &pool) == cudaSuccess);
    CHECK(cudaMallocArray((cudaArray_t *)&made[ARRAY], &format, 8, 8, cudaArraySurfaceLoadStore) ==
          cudaSuccess);
    struct cudaResourceDesc resource = {.resType = cudaResourceTypeArray, .res.array.array = made[ARRAY]};
    struct cudaTextureDesc how = {0};
    CHECK(cudaCreateTextureObject((cudaTextureObject_t *)&made[TEXTURE], &resource, &how, NULL) ==
          cudaSuccess);
    CHECK(cudaCreateSurfaceObject((cudaSurfaceObject_t *)&made[SURFACE], &resource) == cudaSuccess);
    CHECK(by_name("cuModuleLoadData", &made[MODULE], (void *)empty_kernel, NULL) == 0);
    CHECK(by_name("cuModuleGetFunction", &made[FUNCTION], made[MODULE], NAME) == 0);
    CHECK(((Call)dlsym(RTLD_DEFAULT, "cuLinkCreate_v2"))(NULL, NULL, NULL, &made[LINK], NULL, NULL) == 0);
    CHECK(by_name("cuCtxCreate_v2", &made[CONTEXT], NULL, NULL) == 0);
}

static void end_all(void *const made[KINDS]) {
    static const char *const ends[KINDS] = {
        [STREAM] = "cudaStreamDestroy",
        [EVENT] = "cudaEventDestroy",
        [NODE] = "cudaGraphDestroyNode",
        [EXEC] = "cudaGraphExecDestroy",
        [POOL] = "cudaMemPoolDestroy",
        [ARRAY] = "cudaFreeArray",
        [TEXTURE] = "cudaDestroyTextureObject",
        [SURFACE] = "cudaDestroySurfaceObject",
        [MODULE] = "cuModuleUnload",
        [LINK] = "cuLinkDestroy",
        [CONTEXT] = "cuCtxDestroy_v2",
    };
    for (int kind = 0; kind < KINDS; kind++)
        if (ends[kind]) CHECK(by_name(ends[kind], made[kind], NULL, NULL) == 0);
    CHECK(cudaGraphDestroy(made[GRAPH]) == cudaSuccess);
}

static void refused(size_t row, void *handle, void *memory) {
    int got = call_with(row, handle, memory);
    if (got != taking[row].error) printf("%s(%p) returns %d\n", taking[row].name, handle, got);
    CHECK(got == taking[row].error);
}

/* Numbers, other memory of the program, handles of other kinds, and those of what has ended. */
static void handles(void) {
    void *made[KINDS], *memory;
    char own[4096];
    memset(own, 'w', sizeof own);
    CHECK(cudaMalloc(&memory, 4096) == cudaSuccess);
    make_all(made);
    void *const never[] = {(void *)0x10, (void *)(uintptr_t)-1, (void *)((uintptr_t)1 << 62), own, own + 1,
                           memory};
    for (size_t row = 0; row < sizeof taking / sizeof *taking; row++) {
        for (size_t i = 0; i < sizeof never / sizeof *never; i++)
            refused(row, never[i], memory);
        for (int kind = 0; kind < KINDS; kind++)
            if (kind != (int)taking[row].kind && (uintptr_t)made[kind] > 2) refused(row, made[kind], memory);
    }
    end_all(made);
    for (size_t row = 0; row < sizeof taking / sizeof *taking; row++)
        refused(row, made[taking[row].kind], memory);
    for (uintptr_t standing = 0; standing <= 2; standing++)
        CHECK(cudaStreamSynchronize((cudaStream_t)standing) == cudaSuccess);
    make_all(made);
    CHECK(cudaStreamBeginCapture(made[STREAM], cudaStreamCaptureModeRelaxed) == cudaSuccess);
    CHECK(cudaEventRecord(made[EVENT], made[STREAM]) == cudaSuccess);
    CHECK(cudaDeviceReset() == cudaSuccess);
    CHECK(cudaMalloc(&memory, 4096) == cudaSuccess);
    for (size_t row = 0; row < sizeof taking / sizeof *taking; row++)
        if (taking[row].kind == STREAM || taking[row].kind == EVENT || taking[row].kind == ARRAY)
            refused(row, made[taking[row].kind], memory);
}

/* Many live handles, and those that went, in any order. */
static void many_handles(void) {
    enum { MANY = 5000 };
    static cudaEvent_t events[MANY];
    for (int i = 0; i < MANY; i++)
        CHECK(cudaEventCreate(&events[i]) == cudaSuccess);
    for (int i = 0; i < MANY; i += 3)
        CHECK(cudaEventDestroy(events[i]) == cudaSuccess);
    for (int i = 0; i < MANY; i++)
        CHECK(cudaEventRecord(events[i], 0) == (i % 3 ? cudaSuccess : cudaErrorInvalidResourceHandle));
}

/* Copies whose ends are not where they should be, or too long. */
static void copies(void) {
    static char host[4096], *device;
    CHECK(cudaMalloc((void **)&device, 4096) == 0);
    CHECK(cudaMemcpy(host, device, 4096, cudaMemcpyHostToDevice) == INVALID_VALUE);
    CHECK(cudaMemcpy(device, host, 4096, cudaMemcpyDeviceToHost) == INVALID_VALUE);
    CHECK(cudaMemcpy(device, host, 4096, cudaMemcpyDeviceToDevice) == INVALID_VALUE);
    CHECK(cudaMemcpy(device, NULL, 4096, cudaMemcpyHostToDevice) == INVALID_VALUE);
    CHECK(cudaMemcpy(device, host, 4096, (enum cudaMemcpyKind)7) == cudaErrorInvalidMemcpyDirection);
    CHECK(cudaMemcpy(device + 1000, host, 4096, cudaMemcpyHostToDevice) == INVALID_VALUE);
    CHECK(cudaMemset(host, 0, 16) == INVALID_VALUE);
    CHECK(cudaMemcpy(device, host, 4096, cudaMemcpyHostToDevice) == 0);
}

/* Blocks that cannot be freed, names in the place of variables, more memory than there is; and more lines than are told. */
static void blocks(void) {
    static char host[16], *device, *pinned;
    CHECK(cudaMalloc((void **)&device, 64) == 0 && cudaMallocHost((void **)&pinned, 64) == 0);
    CHECK(cudaFree(host) == INVALID_VALUE && cudaFree(device + 4) == INVALID_VALUE);
    CHECK(cudaFree(pinned) == INVALID_VALUE && cudaFreeHost(device) == INVALID_VALUE);
    CHECK(cudaFree(device) == 0 && cudaFree(device) == INVALID_VALUE);
    CHECK(cudaMemcpyToSymbol("table", host, 4, 0, cudaMemcpyHostToDevice) == cudaErrorInvalidSymbol);
    CHECK(cudaMemcpyToSymbol(pinned, host, 4, 0, cudaMemcpyHostToDevice) == cudaErrorInvalidSymbol);
    CHECK(cudaMemcpyToSymbol((void *)8, host, 4, 0, cudaMemcpyHostToDevice) == cudaErrorInvalidSymbol);
    CHECK(cudaMalloc((void **)&device, (size_t)1 << 50) == cudaErrorMemoryAllocation);
    for (int i = 0; i < 100; i++)
        CHECK(cudaFree(host) == INVALID_VALUE);
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "nulls") == 0) nulls();
    if (argc == 2 && strcmp(argv[1], "copies") == 0) copies();
    if (argc == 2 && strcmp(argv[1], "blocks") == 0) blocks();
    if (argc == 2 && strcmp(argv[1], "volumes") == 0) volumes();
    if (argc == 2 && strcmp(argv[1], "images") == 0) images();
    if (argc == 2 && strcmp(argv[1], "handles") == 0) handles();
    if (argc == 2 && strcmp(argv[1], "many_handles") == 0) many_handles();
    return finish("misuse");
}
