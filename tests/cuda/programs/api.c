/* api WHAT: one part of the runtime API, checked as a program sees it. Says what is wrong, exits with how much. */
#include "kernels.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <unistd.h>

static const int two[4] = {0, 2, 0, 0};

static void basic(void) {
    enum { N = 1000 };
    int host[N], *a, one = 1;
    cudaStream_t stream;
    for (int i = 0; i < N; i++)
        host[i] = i;
    GOOD(cudaMalloc((void **)&a, sizeof host));
    EXPECT((uintptr_t)a % 256, 0);
    GOOD(cudaMemcpyToSymbol(factors, two, sizeof two, 0, cudaMemcpyHostToDevice));
    GOOD(cudaMemcpyToSymbol(&bias, &one, sizeof one, 0, cudaMemcpyHostToDevice));
    GOOD(cudaStreamCreate(&stream));
    GOOD(cudaMemcpyAsync(a, host, sizeof host, cudaMemcpyHostToDevice, stream));
    GOOD(run_scale(a, N - 1, 4, 256));
    GOOD(cudaStreamSynchronize(stream));
    GOOD(cudaMemcpy(host, a, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++)
        EXPECT(host[i], i < N - 1 ? 2 * i + 1 : i);
    one = 0;
    GOOD(cudaMemcpyFromSymbol(&one, &bias, sizeof one, 0, cudaMemcpyDeviceToHost));
    EXPECT(one, 1);
    EXPECT(cudaMemcpyToSymbol(factors, two, sizeof two, 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    EXPECT(cudaMemcpyToSymbol(host, two, sizeof two, 0, cudaMemcpyHostToDevice), cudaErrorInvalidSymbol);
    GOOD(cudaStreamDestroy(stream));
    GOOD(cudaFree(a));
}

static void memory(void) {
    char *a, *b, host[64], back[64];
    size_t pitch, free_before, free_after, total;
    memset(host, 7, sizeof host);
    GOOD(cudaFree(0));
    EXPECT(cudaFreeHost(host), cudaErrorInvalidValue);
    cudaGetLastError();
    GOOD(cudaMemGetInfo(&free_before, &total));
    EXPECT(total, 4ll << 30);
    GOOD(cudaMalloc((void **)&a, 4096));
    GOOD(cudaMemGetInfo(&free_after, &total));
    EXPECT(free_before - free_after, 4096);
    EXPECT(cudaMalloc((void **)&b, 5ll << 30), cudaErrorMemoryAllocation);
    EXPECT(cudaPeekAtLastError(), cudaErrorMemoryAllocation);
    EXPECT(cudaGetLastError(), cudaErrorMemoryAllocation);
    EXPECT(cudaGetLastError(), cudaSuccess);
    /* beyond its end, before its start, of nobody */
    EXPECT(cudaMemcpy(a + 4090, host, 64, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    EXPECT(cudaMemcpy(a - 1, host, 1, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    EXPECT(cudaMemcpy(host, host, 64, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    EXPECT(cudaMemcpy(a, host, 64, (enum cudaMemcpyKind)9), cudaErrorInvalidMemcpyDirection);
    EXPECT(cudaMemset(host, 0, 4), cudaErrorInvalidValue);
    GOOD(cudaMemset(a, 3, 100));
    GOOD(cudaMemcpy(back, a + 50, 64, cudaMemcpyDefault));
    EXPECT(back[49], 3);
    EXPECT(back[50], 0);
    GOOD(cudaMallocPitch((void **)&b, &pitch, 6, 4));
    GOOD(cudaMemcpy2D(b, pitch, host, 8, 6, 4, cudaMemcpyHostToDevice));
    GOOD(cudaMemset2D(b + pitch, pitch, 9, 2, 1));
    memset(back, 0, sizeof back);
    GOOD(cudaMemcpy2D(back, 10, b, pitch, 6, 4, cudaMemcpyDeviceToHost));
    EXPECT(back[5], 7);
    EXPECT(back[6], 0);
    EXPECT(back[10], 9);
    EXPECT(back[12], 7);
    EXPECT(back[35], 7);
    EXPECT(back[36], 0);
    EXPECT(cudaMemcpy2D(back, 4, b, pitch, 6, 4, cudaMemcpyDeviceToHost), cudaErrorInvalidPitchValue);
    EXPECT(cudaFree(a + 256), cudaErrorInvalidValue);
    GOOD(cudaFree(a));
    EXPECT(cudaFree(a), cudaErrorInvalidValue);
    GOOD(cudaDeviceReset());
    EXPECT(cudaFree(b), cudaErrorInvalidValue);
}

static void volumes(void) {
    enum { X = 5, Y = 3, Z = 4 };
    uint8_t host[Z][Y][X], back[Z][Y][X];
    struct cudaExtent extent = {X, Y, Z};
    struct cudaPitchedPtr volume;
    for (int i = 0; i < (int)sizeof host; i++)
        ((uint8_t *)host)[i] = (uint8_t)(i + 1);
    GOOD(cudaMalloc3D(&volume, extent));
    GOOD(cudaMemset3D(volume, 0, extent));
    struct cudaMemcpy3DParms down = {
        .srcPtr = {host, X, X, Y}, .dstPtr = volume, .extent = extent, .kind = cudaMemcpyHostToDevice};
    GOOD(cudaMemcpy3D(&down));
    struct cudaMemcpy3DParms up = {.srcPtr = volume,
                                   .srcPos = {1, 1, 1},
                                   .dstPtr = {back, X, X, Y},
                                   .extent = {2, 2, 2},
                                   .kind = cudaMemcpyDeviceToHost};
    memset(back, 0, sizeof back);
    GOOD(cudaMemcpy3D(&up));
    for (int z = 0; z < 2; z++)
        for (int y = 0; y < 2; y++)
            for (int x = 0; x < 3; x++)
                EXPECT(back[z][y][x], x < 2 ? host[z + 1][y + 1][x + 1] : 0);
}

static void mapped(void) {
    int *managed, *pinned, *device, *own = malloc(4000);
    struct cudaPointerAttributes attributes;
    GOOD(cudaMemcpyToSymbol(factors, two, sizeof two, 0, cudaMemcpyHostToDevice));
    GOOD(cudaMallocManaged((void **)&managed, 4000, cudaMemAttachGlobal));
    managed[999] = 10;
    GOOD(run_scale(managed, 1000, 4, 256));
    GOOD(cudaDeviceSynchronize());
    EXPECT(managed[999], 25);
    GOOD(cudaHostAlloc((void **)&pinned, 4000, cudaHostAllocMapped));
    GOOD(cudaHostGetDevicePointer((void **)&device, pinned, 0));
    pinned[0] = 1;
    GOOD(run_scale(device, 1000, 4, 256));
    GOOD(cudaDeviceSynchronize());
    EXPECT(pinned[0], 7);
    own[500] = 2;
    GOOD(cudaHostRegister(own, 4000, cudaHostRegisterMapped));
    EXPECT(cudaHostRegister(own, 4000, 0), cudaErrorHostMemoryAlreadyRegistered);
    GOOD(cudaHostGetDevicePointer((void **)&device, own, 0));
    GOOD(run_scale(device, 1000, 4, 256));
    GOOD(cudaDeviceSynchronize());
    EXPECT(own[500], 9);
    GOOD(cudaPointerGetAttributes(&attributes, managed + 5));
    EXPECT(attributes.type, cudaMemoryTypeManaged);
    GOOD(cudaPointerGetAttributes(&attributes, pinned));
    EXPECT(attributes.type, cudaMemoryTypeHost);
    GOOD(cudaPointerGetAttributes(&attributes, &attributes));
    EXPECT(attributes.type, cudaMemoryTypeUnregistered);
    GOOD(cudaHostUnregister(own));
    EXPECT(cudaHostUnregister(own), cudaErrorHostMemoryNotRegistered);
    GOOD(cudaFreeHost(pinned));
    GOOD(cudaFree(managed));
}

/* Each dimension has its own limit, whatever the product. */
static void expect_shapes(int *a) {
    static const struct {
        dim3 grid, block;
        cudaError_t want;
    } shapes[] = {{{1, 1, 1}, {1, 1, 64}, cudaSuccess},
                  {{1, 1, 1}, {1, 1, 65}, cudaErrorInvalidConfiguration},
                  {{1, 1, 1}, {1, 1024, 1}, cudaSuccess},
                  {{1, 1, 1}, {1, 1025, 1}, cudaErrorInvalidConfiguration},
                  {{1, 1, 1}, {1025, 1, 1}, cudaErrorInvalidConfiguration},
                  {{1, 65536, 1}, {1, 1, 1}, cudaErrorInvalidConfiguration},
                  {{1, 1, 65536}, {1, 1, 1}, cudaErrorInvalidConfiguration}};
    unsigned n = 1;
    void *params[] = {&a, &n};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        EXPECT(cudaLaunchKernel((const void *)scale, shapes[i].grid, shapes[i].block, params, 0, 0),
               shapes[i].want);
    cudaGetLastError();
}

/* As many CTAs as occupancy promises are launched at once, and no more. */
static void occupancy(void) {
    struct cudaDeviceProp properties;
    int *a, zero = 0, ctas = 0;
    void *params[] = {&a, &zero};
    GOOD(cudaMalloc((void **)&a, 400));
    GOOD(cudaGetDeviceProperties(&properties, 0));
    for (unsigned threads = 32; threads <= 1024; threads += 96) {
        GOOD(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&ctas, (const void *)scale, (int)threads, 1000));
        unsigned most = (unsigned)(ctas * properties.multiProcessorCount);
        if (most)
            GOOD(cudaLaunchCooperativeKernel((const void *)scale, size1(most), size1(threads), params, 1000,
                                             0));
        EXPECT(cudaLaunchCooperativeKernel((const void *)scale, size1(most + 1), size1(threads), params, 1000,
                                           0),
               most ? cudaErrorCooperativeLaunchTooLarge : cudaErrorLaunchOutOfResources);
    }
    cudaGetLastError();
}

static void freed(void) {
    int *a, *b, n = 1;
    void *params[] = {&b, &n};
    GOOD(cudaMalloc((void **)&a, 4000));
    GOOD(cudaMalloc((void **)&b, 4000));
    GOOD(run_scale(a, 1, 1, 32)); /* the module's variables have their places */
    GOOD(cudaFree(b));
    GOOD(cudaLaunchKernel((const void *)scale, size1(1), size1(32), params, 0, 0));
    EXPECT(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}

static void errors(void) {
    int *a, ctas;
    struct cudaFuncAttributes attributes;
    GOOD(cudaMalloc((void **)&a, 4000));
    EXPECT(run_scale(a, 10, 0, 256), cudaErrorInvalidConfiguration);
    EXPECT(run_scale(a, 10, 1, 2048), cudaErrorInvalidConfiguration);
    EXPECT(cudaGetLastError(), cudaErrorInvalidConfiguration);
    expect_shapes(a);
    void *params[] = {&a, &ctas};
    EXPECT(cudaLaunchKernel((const void *)scale, size1(1), size1(32), params, 1 << 20, 0),
           cudaErrorInvalidValue);
    EXPECT(cudaLaunchKernel((const void *)cooperative_block_of_grid, size1(1), size1(32), params, 1 << 20, 0),
           cudaErrorInvalidValue);
    EXPECT(cudaLaunchKernel((const void *)cooperative_block_of_grid, size1(1), size1(31), params, 0, 0),
           cudaErrorInvalidConfiguration);
    EXPECT(cudaLaunchKernel((const void *)basic, size1(1), size1(32), params, 0, 0),
           cudaErrorInvalidDeviceFunction);
    EXPECT(cudaSetDevice(1), cudaErrorInvalidDevice);
    EXPECT(cudaGetLastError(), cudaErrorInvalidDevice);
    EXPECT(strcmp(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue"), 0);
    EXPECT(strcmp(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory"), 0);
    GOOD(cudaFuncGetAttributes(&attributes, (const void *)scale));
    EXPECT(attributes.numRegs > 0 && attributes.numRegs < 20, 1);
    EXPECT(attributes.constSizeBytes, 16);
    EXPECT(attributes.ptxVersion, 35);
    EXPECT(attributes.binaryVersion, 70);
    GOOD(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&ctas, (const void *)scale, 256, 0));
    EXPECT(ctas, 6);
    GOOD(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&ctas, (const void *)scale, 32, 24 << 10));
    EXPECT(ctas, 2);
    cudaIpcMemHandle_t handle;
    EXPECT(cudaIpcGetMemHandle(&handle, a), cudaErrorNotSupported);
    EXPECT(cudaIpcGetMemHandle(&handle, a), cudaErrorNotSupported);
    cudaGetLastError();
    GOOD(run_scale(a, 10, 1, 32));
    GOOD(cudaDeviceSynchronize());
}

/* The error comes from the call that waits for the launch, and stays. Nobody has been told of it before. */
static void fault(const void *kernel, cudaError_t error) {
    int *a, *b;
    GOOD(cudaMalloc((void **)&a, 4000));
    void *params[] = {&a};
    GOOD(cudaLaunchKernel(kernel, size1(1), size1(32), params, 0, 0));
    GOOD(cudaPeekAtLastError());
    GOOD(cudaGetLastError());
    EXPECT(cudaDeviceSynchronize(), error);
    EXPECT(cudaPeekAtLastError(), error);
    EXPECT(cudaGetLastError(), error);
    EXPECT(cudaGetLastError(), error);
    EXPECT(cudaMalloc((void **)&b, 4), error);
    EXPECT(cudaFree(a), error);
    GOOD(cudaDeviceReset());
    GOOD(cudaGetLastError());
    GOOD(cudaMalloc((void **)&a, 4000));
    GOOD(run_scale(a, 1000, 4, 256));
    GOOD(cudaDeviceSynchronize());
}

/* What a warp waited for in the launch that failed is forgotten. */
static void votes(void) {
    int *a, fails = 1, got[96];
    GOOD(cudaMalloc((void **)&a, sizeof got));
    void *params[] = {&a, &fails};
    GOOD(cudaLaunchKernel((const void *)parted, size1(1), size1(96), params, 0, 0));
    EXPECT(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
    GOOD(cudaDeviceReset());
    cudaGetLastError();
    GOOD(cudaMalloc((void **)&a, sizeof got));
    fails = 0;
    GOOD(cudaLaunchKernel((const void *)parted, size1(1), size1(96), params, 0, 0));
    GOOD(cudaMemcpy(got, a, sizeof got, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 96; i++)
        EXPECT(got[i], i < 32 ? 7 : 64);
}

/* A little beyond an allocation of 100 elements. */
static void beyond(void) {
    int *a;
    GOOD(cudaMalloc((void **)&a, 400));
    GOOD(run_scale(a, 400, 1, 512)); /* past the variables behind it, too */
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}

/* The text comes when the launch has ended, in the program's own order. */
static void printed(void) {
    int *a;
    size_t bytes;
    printf("first\n");
    GOOD(run_prints(7, 3));
    printf("then\n");
    GOOD(run_prints(8, 1));
    GOOD(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 1 << 16));
    GOOD(cudaDeviceGetLimit(&bytes, cudaLimitPrintfFifoSize));
    EXPECT(bytes, 1 << 16);
    EXPECT(cudaDeviceSetLimit((enum cudaLimit)77, 1), cudaErrorUnsupportedLimit);
    cudaGetLastError();
    /* for --memcheck: nobody has written the last 28 elements */
    GOOD(cudaMalloc((void **)&a, 512));
    GOOD(cudaMemset(a, 0, 400));
    GOOD(run_scale(a, 128, 1, 128));
    GOOD(run_scale(a, 128, 1, 128)); /* now a kernel has */
    GOOD(cudaDeviceSynchronize());
}

static void properties(void) {
    struct cudaDeviceProp p;
    int count, value;
    GOOD(cudaGetDeviceCount(&count));
    EXPECT(count, 1);
    GOOD(cudaGetDeviceProperties(&p, 0));
    EXPECT(strcmp(p.name, "gtx480"), 0);
    EXPECT(p.multiProcessorCount, 15);
    EXPECT(p.clockRate, 700000);
    EXPECT(p.memoryClockRate, 924000);
    EXPECT(2ll * p.memoryClockRate * p.memoryBusWidth / 8,
           177408000); /* kB a second, as programs compute them */
    EXPECT(p.sharedMemPerBlock, 48 << 10);
    EXPECT(p.regsPerBlock, 32768);
    EXPECT(p.maxThreadsPerMultiProcessor, 1536);
    EXPECT(p.l2CacheSize, 768 << 10);
    EXPECT(p.totalGlobalMem, 4ll << 30);
    EXPECT(p.warpSize, 32);
    EXPECT(p.maxThreadsPerBlock, 1024);
    EXPECT(p.major * 10 + p.minor, 70);
    GOOD(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0));
    EXPECT(value, 15);
    GOOD(cudaDeviceGetAttribute(&value, cudaDevAttrComputeCapabilityMajor, 0));
    EXPECT(value, 7);
    EXPECT(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 3), cudaErrorInvalidDevice);
    EXPECT(cudaGetDeviceProperties(&p, 1), cudaErrorInvalidDevice);
}

static void callback(cudaStream_t stream, cudaError_t status, void *data) {
    (void)stream;
    GOOD(status);
    ++*(int *)data;
    GOOD(cudaStreamSynchronize(0)); /* may call */
}

static void events(void) {
    cudaEvent_t start, end, never;
    float milliseconds = -1;
    int *a, called = 0;
    GOOD(cudaMalloc((void **)&a, 4000));
    GOOD(cudaEventCreate(&start));
    GOOD(cudaEventCreate(&end));
    GOOD(cudaEventCreate(&never));
    GOOD(cudaEventRecord(start, 0));
    GOOD(run_scale(a, 1000, 4, 256));
    GOOD(cudaEventRecord(end, 0));
    GOOD(cudaEventSynchronize(end));
    GOOD(cudaEventElapsedTime(&milliseconds, start, end));
    printf("%.6f ms\n", (double)milliseconds);
    EXPECT(cudaEventElapsedTime(&milliseconds, start, never), cudaErrorInvalidResourceHandle);
    GOOD(cudaStreamAddCallback(0, callback, &called, 0));
    EXPECT(called, 1);
    GOOD(cudaEventDestroy(start));
}

static void *use_device(void *number) {
    int *a, host[100], mine = (int)(intptr_t)number;
    for (int turn = 0; turn < 30; turn++) {
        for (int i = 0; i < 100; i++)
            host[i] = mine + i;
        GOOD(cudaMalloc((void **)&a, sizeof host));
        GOOD(cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice));
        GOOD(run_scale(a, 100, 1, 128));
        GOOD(cudaMemcpy(host, a, sizeof host, cudaMemcpyDeviceToHost));
        for (int i = 0; i < 100; i++)
            EXPECT(host[i], 2 * (mine + i) + 5);
        GOOD(cudaFree(a));
    }
    return 0;
}

static void threads(void) {
    pthread_t thread[8];
    GOOD(cudaMemcpyToSymbol(factors, two, sizeof two, 0, cudaMemcpyHostToDevice));
    for (int i = 0; i < 8; i++)
        pthread_create(&thread[i], 0, use_device, (void *)(intptr_t)(i * 1000));
    for (int i = 0; i < 8; i++)
        pthread_join(thread[i], 0);
}

static void expect_picture(cudaTextureObject_t handle, const float *want) {
    float back[12], *out;
    dim3 block = {4, 3, 1};
    GOOD(cudaMalloc((void **)&out, sizeof back));
    void *params[] = {&out, &handle};
    GOOD(cudaLaunchKernel((const void *)fetch, size1(1), block, params, 0, 0));
    GOOD(cudaMemcpy(back, out, sizeof back, cudaMemcpyDeviceToHost));
    EXPECT(memcmp(back, want, sizeof back), 0);
    GOOD(cudaFree(out));
}

static cudaTextureObject_t object_of(cudaArray_t array) {
    cudaTextureObject_t object = 0;
    struct cudaResourceDesc resource = {.resType = cudaResourceTypeArray};
    struct cudaTextureDesc how = {
        .addressMode = {cudaAddressModeClamp, cudaAddressModeClamp, cudaAddressModeClamp}};
    resource.res.array.array = array;
    GOOD(cudaCreateTextureObject(&object, &resource, &how, 0));
    return object;
}

/* An array of 3 x 3 x 6 texels, i + 0.5 in the i-th, read as a volume, as layers and as a cube. */
static void voxel_arrays(void) {
    static const unsigned flags[] = {0, cudaArrayLayered, cudaArrayCubemap};
    enum { SIDE = 3, SLICES = 6, TEXELS = SIDE * SIDE * SLICES };
    struct cudaChannelFormatDesc format = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
    struct cudaExtent extent = {SIDE, SIDE, SLICES};
    dim3 block = {SIDE, SIDE, SLICES};
    float texels[TEXELS], back[TEXELS], *out;
    GOOD(cudaMalloc((void **)&out, sizeof back));
    for (int i = 0; i < TEXELS; i++)
        texels[i] = (float)i + 0.5f;
    for (uint32_t shape = 0; shape < 3; shape++) {
        cudaArray_t array;
        GOOD(cudaMalloc3DArray(&array, &format, extent, flags[shape]));
        struct cudaMemcpy3DParms copy = {.srcPtr = {texels, SIDE * 4, SIDE, SIDE},
                                         .dstArray = array,
                                         .extent = extent,
                                         .kind = cudaMemcpyHostToDevice};
        GOOD(cudaMemcpy3D(&copy));
        cudaTextureObject_t object = object_of(array);
        void *params[] = {&out, &object, &shape};
        GOOD(cudaLaunchKernel((const void *)voxels, size1(1), block, params, 0, 0));
        GOOD(cudaMemcpy(back, out, sizeof back, cudaMemcpyDeviceToHost));
        for (int i = 0; i < TEXELS; i++)
            EXPECT(back[i], shape < 2 ? texels[i] : texels[i / 9 * 9 + 4]);
        GOOD(cudaDestroyTextureObject(object));
        GOOD(cudaFreeArray(array));
    }
    GOOD(cudaFree(out));
}

/* What does not lie in an array is copied neither there nor from there. */
static void array_bounds(void) {
    enum { WIDTH = 5, ROWS = 3, SLICES = 2, ALL = WIDTH * ROWS };
    static const size_t beyond[][4] = {/* x in bytes, y, width in bytes, rows */
                                       {4, 0, WIDTH * 4, 1}, {WIDTH * 4, 0, 4, 1}, {0, 1, WIDTH * 4, ROWS},
                                       {0, ROWS, 4, 1},      {0, 0, 4, ROWS + 1},  {0, SIZE_MAX, 4, 2}};
    struct cudaChannelFormatDesc format = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
    const struct cudaExtent extent = {WIDTH, ROWS, SLICES};
    float host[ALL * 2] = {0};
    cudaArray_t plane, other, volume;
    GOOD(cudaMallocArray(&plane, &format, WIDTH, ROWS, 0));
    GOOD(cudaMallocArray(&other, &format, WIDTH, ROWS, 0));
    GOOD(cudaMalloc3DArray(&volume, &format, extent, 0));
    for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++) {
        size_t x = beyond[i][0], y = beyond[i][1], width = beyond[i][2], rows = beyond[i][3];
        EXPECT(cudaMemcpy2DToArray(plane, x, y, host, width, width, rows, cudaMemcpyHostToDevice),
               cudaErrorInvalidValue);
        EXPECT(cudaMemcpy2DFromArray(host, width, plane, x, y, width, rows, cudaMemcpyDeviceToHost),
               cudaErrorInvalidValue);
        EXPECT(cudaMemcpy2DArrayToArray(other, 0, 0, plane, x, y, width, rows, cudaMemcpyDeviceToDevice),
               cudaErrorInvalidValue);
    }
    GOOD(cudaMemcpy2DToArray(plane, 4, 1, host, 16, 16, 2, cudaMemcpyHostToDevice));
    struct cudaMemcpy3DParms copy = {.srcPtr = {host, WIDTH * 4, WIDTH, ROWS},
                                     .dstArray = volume,
                                     .extent = extent,
                                     .kind = cudaMemcpyHostToDevice};
    GOOD(cudaMemcpy3D(&copy));
    size_t *const places[] = {&copy.dstPos.x, &copy.dstPos.y, &copy.dstPos.z};
    for (int i = 0; i < 3; i++) {
        *places[i] = 1;
        EXPECT(cudaMemcpy3D(&copy), cudaErrorInvalidValue);
        *places[i] = 0;
    }
    struct cudaMemcpy3DParms out = {.srcArray = volume,
                                    .srcPos = {1, 1, 1},
                                    .dstPtr = {host, WIDTH * 4, WIDTH, ROWS},
                                    .extent = {WIDTH - 1, ROWS - 1, 1},
                                    .kind = cudaMemcpyDeviceToHost};
    GOOD(cudaMemcpy3D(&out));
    out.extent.height = ROWS;
    EXPECT(cudaMemcpy3D(&out), cudaErrorInvalidValue);
    const struct cudaExtent uneven = {2, 3, 6}, too_few = {2, 2, 5}, too_many = {2, 2, 12};
    EXPECT(cudaMalloc3DArray(&other, &format, uneven, cudaArrayCubemap), cudaErrorInvalidValue);
    EXPECT(cudaMalloc3DArray(&other, &format, too_few, cudaArrayCubemap), cudaErrorInvalidValue);
    EXPECT(cudaMalloc3DArray(&other, &format, too_many, cudaArrayCubemap), cudaErrorInvalidValue);
    GOOD(cudaMalloc3DArray(&other, &format, too_many, cudaArrayCubemap | cudaArrayLayered));
    cudaGetLastError();
}

static void expect_painted(cudaArray_t array, cudaSurfaceObject_t handle) {
    uint32_t back[12];
    dim3 block = {4, 3, 1};
    void *params[] = {&handle};
    memset(back, 0, sizeof back);
    GOOD(cudaMemcpy2DToArray(array, 0, 0, back, 16, 16, 3, cudaMemcpyHostToDevice));
    GOOD(cudaLaunchKernel((const void *)paint, size1(1), block, params, 0, 0));
    GOOD(cudaMemcpy2DFromArray(back, 16, array, 0, 0, 16, 3, cudaMemcpyDeviceToHost));
    for (uint32_t i = 0; i < 12; i++)
        EXPECT(back[i], i / 4 * 100 + i % 4);
}

static void surfaces(void) {
    struct cudaChannelFormatDesc format = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindUnsigned);
    struct cudaResourceDesc resource = {.resType = cudaResourceTypeArray}, found;
    cudaSurfaceObject_t object;
    cudaArray_t array, plain;
    GOOD(cudaMallocArray(&array, &format, 4, 3, cudaArraySurfaceLoadStore));
    GOOD(cudaMallocArray(&plain, &format, 4, 3, 0));
    resource.res.array.array = plain;
    EXPECT(cudaCreateSurfaceObject(&object, &resource), cudaErrorInvalidValue);
    EXPECT(cudaBindSurfaceToArray(&canvas, plain, &format), cudaErrorInvalidValue);
    resource.res.array.array = array;
    GOOD(cudaCreateSurfaceObject(&object, &resource));
    GOOD(cudaGetSurfaceObjectResourceDesc(&found, object));
    EXPECT(found.res.array.array == array, 1);
    expect_painted(array, object);
    GOOD(cudaDestroySurfaceObject(object));
    EXPECT(cudaGetSurfaceObjectResourceDesc(&found, object), cudaErrorInvalidValue);
    GOOD(cudaBindSurfaceToArray(&canvas, array, &format));
    expect_painted(array, 0);
    GOOD(cudaFreeArray(plain));
    GOOD(cudaFreeArray(array));
}

static void textures(void) {
    float texels[12], *linear;
    struct cudaChannelFormatDesc format = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
    cudaArray_t array;
    cudaTextureObject_t object;
    size_t pitch, offset;
    for (int i = 0; i < 12; i++)
        texels[i] = (float)i + 0.5f;
    GOOD(cudaMallocArray(&array, &format, 4, 3, 0));
    GOOD(cudaMemcpy2DToArray(array, 0, 0, texels, 16, 16, 3, cudaMemcpyHostToDevice));
    struct cudaResourceDesc resource = {.resType = cudaResourceTypeArray};
    struct cudaTextureDesc how = {.addressMode = {cudaAddressModeClamp, cudaAddressModeClamp}};
    resource.res.array.array = array;
    GOOD(cudaCreateTextureObject(&object, &resource, &how, 0));
    expect_picture(object, texels);
    GOOD(cudaDestroyTextureObject(object));
    expect_picture(object, texels);
    GOOD(cudaBindTextureToArray(&picture, array, &format));
    expect_picture(0, texels);
    GOOD(cudaMallocPitch((void **)&linear, &pitch, 16, 3));
    for (int i = 0; i < 12; i++)
        texels[i] = (float)-i;
    GOOD(cudaMemcpy2D(linear, pitch, texels, 16, 16, 3, cudaMemcpyHostToDevice));
    GOOD(cudaBindTexture2D(&offset, &picture, linear, &format, 4, 3, pitch));
    EXPECT(offset, 0);
    expect_picture(0, texels);
    GOOD(cudaUnbindTexture(&picture));
    GOOD(cudaMemcpyToArray(array, 4, 1, texels, 28, cudaMemcpyHostToDevice));
    float back[7];
    GOOD(cudaMemcpyFromArray(back, array, 4, 1, 28, cudaMemcpyDeviceToHost));
    EXPECT(memcmp(back, texels, 28), 0);
    GOOD(cudaFreeArray(array));
    format.y = 8;
    EXPECT(cudaMallocArray(&array, &format, 4, 3, 0), cudaErrorInvalidChannelDescriptor);
}

/* Colours are converted on reads of normalized floats alone. */
static void colours(void) {
    struct cudaChannelFormatDesc format = cudaCreateChannelDesc(8, 0, 0, 0, cudaChannelFormatKindUnsigned);
    struct cudaResourceDesc resource = {.resType = cudaResourceTypeArray};
    struct cudaTextureDesc how = {.addressMode = {cudaAddressModeClamp, cudaAddressModeClamp},
                                  .readMode = cudaReadModeNormalizedFloat,
                                  .sRGB = 1};
    struct cudaResourceViewDesc view = {0};
    cudaTextureObject_t object;
    cudaArray_t array;
    uint8_t texels[12];
    float linear[12], colour[12];
    for (int i = 0; i < 12; i++) {
        texels[i] = i == 0 ? 0 : i == 1 ? 10 : i == 2 ? 128 : 255;
        linear[i] = (float)texels[i] / 255.0f;
        colour[i] = i == 0 ? 0 : i == 1 ? 0x1.8dd6c2p-9f : i == 2 ? 0x1.ba1512p-3f : 1;
    }
    GOOD(cudaMallocArray(&array, &format, 4, 3, 0));
    GOOD(cudaMemcpy2DToArray(array, 0, 0, texels, 4, 4, 3, cudaMemcpyHostToDevice));
    resource.res.array.array = array;
    GOOD(cudaCreateTextureObject(&object, &resource, &how, 0));
    expect_picture(object, colour);
    how.sRGB = 0;
    GOOD(cudaCreateTextureObject(&object, &resource, &how, 0));
    expect_picture(object, linear);
    EXPECT(cudaCreateTextureObject(&object, &resource, &how, &view), cudaErrorNotSupported);
    how.borderColor[1] = 0.5f;
    GOOD(cudaCreateTextureObject(&object, &resource, &how, 0));
    how.addressMode[1] = cudaAddressModeBorder;
    EXPECT(cudaCreateTextureObject(&object, &resource, &how, 0), cudaErrorNotSupported);
    how.addressMode[1] = cudaAddressModeClamp;
    how.seamlessCubemap = 1;
    EXPECT(cudaCreateTextureObject(&object, &resource, &how, 0), cudaErrorNotSupported);
    how.seamlessCubemap = 0;
    resource.resType = cudaResourceTypeMipmappedArray;
    EXPECT(cudaCreateTextureObject(&object, &resource, &how, 0), cudaErrorNotSupported);
    GOOD(cudaFreeArray(array));
}

static void removed(void) {
    enum { N = 100 };
    int host[N], *a, n = N;
    memset(host, 0, sizeof host);
    GOOD(cudaMalloc((void **)&a, sizeof host));
    GOOD(cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice));
    GOOD(cudaConfigureCall(size1(1), size1(N), 0, 0));
    GOOD(cudaSetupArgument(&a, sizeof a, 0));
    GOOD(cudaSetupArgument(&n, sizeof n, sizeof a));
    GOOD(cudaLaunch((const void *)scale));
    EXPECT(cudaLaunch((const void *)scale), cudaErrorMissingConfiguration);
    GOOD(cudaThreadSynchronize());
    GOOD(cudaMemcpy(host, a, sizeof host, cudaMemcpyDeviceToHost));
    EXPECT(host[N - 1], 5);
    GOOD(cudaThreadExit());
}

/* Launches and copies whose results feed those that follow: what a resumed program must repeat. */
static void steps(void) {
    enum { N = 30000 };
    static int host[N];
    int *a, *managed;
    void *other;
    EXPECT(cudaMalloc(&other, 1ll << 40), cudaErrorMemoryAllocation); /* not logged: repeated all the same */
    EXPECT(cudaMalloc(&other, 3ll << 30), cudaSuccess);
    EXPECT(cudaMalloc(&other, 3ll << 30), cudaErrorMemoryAllocation);
    GOOD(cudaMemcpyToSymbol(factors, two, sizeof two, 0, cudaMemcpyHostToDevice));
    GOOD(cudaMalloc((void **)&a, sizeof host));
    GOOD(cudaMallocManaged((void **)&managed, 4000, cudaMemAttachGlobal));
    GOOD(cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice));
    for (int turn = 0; turn < 6; turn++) {
        GOOD(run_scale(a, N, (N + 255) / 256, 256));
        GOOD(cudaMemcpy(host, a, sizeof host, cudaMemcpyDeviceToHost));
        for (int i = 0; i < N; i++)
            host[i] = (host[i] + i + managed[i % 1000]) % 1000;
        managed[turn] += host[turn];
        if (turn == 1 && getenv("OTHER")) GOOD(cudaMalloc(&other, 64));
        GOOD(run_scale(managed, 1000, 4, 256));
        GOOD(cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice));
    }
    unsigned sum = 0;
    for (int i = 0; i < N; i++)
        sum = sum * 31 + (unsigned)host[i];
    printf("sum %u\n", sum);
}

/* Gives the device addresses of its own: of its code, its heap and its stack. */
static void addresses(void) {
    enum { N = 30000 };
    struct {
        void (*code)(void);
        void *heap, *stack;
    } own = {addresses, malloc(100), &own};
    int *a;
    GOOD(cudaMalloc((void **)&a, N * sizeof *a));
    GOOD(cudaMemcpy(a, &own, sizeof own, cudaMemcpyHostToDevice));
    GOOD(run_scale(a, N, (N + 255) / 256, 256));
    GOOD(cudaDeviceSynchronize());
    free(own.heap);
}

static void children(void) {
    int *a;
    GOOD(cudaMalloc((void **)&a, 4));
    if (fork() == 0) _exit(cudaMalloc((void **)&a, 4) == cudaErrorInitializationError ? 0 : 1);
    int status;
    extern int wait(int *);
    wait(&status);
    EXPECT(status, 0);
    GOOD(cudaFree(a));
}

/* --- The driver API, declared as far as it is used ------------------------------------------------ */

typedef unsigned long long CUdeviceptr;
int cuInit(unsigned), cuDeviceGet(int *, int), cuCtxCreate_v2(void **, unsigned, int), cuCtxSynchronize(void);
int cuModuleLoad(void **, const char *), cuModuleLoadData(void **, const void *), cuModuleUnload(void *);
int cuModuleGetFunction(void **, void *, const char *);
int cuModuleGetGlobal_v2(CUdeviceptr *, size_t *, void *, const char *);
int cuMemAlloc_v2(CUdeviceptr *, size_t), cuMemFree_v2(CUdeviceptr);
int cuMemcpyHtoD_v2(CUdeviceptr, const void *, size_t), cuMemcpyDtoH_v2(void *, CUdeviceptr, size_t);
int cuMemsetD32_v2(CUdeviceptr, unsigned, size_t);
int cuLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *,
                   void **, void **);
int cuPointerGetAttribute(void *, int, CUdeviceptr),
    cuPointerGetAttributes(unsigned, int *, void **, CUdeviceptr);
int cudaLibraryLoadData(void **, const void *, int *, void **, unsigned, int *, void **, unsigned);
int cudaLibraryGetKernel(void **, void *, const char *), cudaLibraryUnload(void *);
int cudaLibraryGetGlobal(void **, size_t *, void *, const char *);
int cudaKernelSetAttributeForDevice(void *, int, int, int);
int cuGetErrorName(int, const char **), cuFuncGetAttribute(int *, int, void *);
int cuFuncSetAttribute(void *, int, int);
int cuModuleLoadDataEx(void **, const void *, unsigned, int *, void **);
int cuFuncGetName(const char **, void *), cuCtxGetCurrent(void **);
int cuOccupancyMaxPotentialBlockSize(int *, int *, void *, size_t (*)(int), size_t, int);
int cuStreamCreateWithPriority(void **, unsigned, int), cuStreamGetFlags(void *, unsigned *);
int cuStreamGetPriority(void *, int *), cuStreamGetDevice(void *, int *), cuStreamGetCtx(void *, void **);
int cuStreamSetAttribute(void *, int, const void *), cuStreamGetAttribute(void *, int, void *);
int cuCtxGetStreamPriorityRange(int *, int *), cuCtxSetLimit(int, size_t), cuCtxGetLimit(size_t *, int);
int cuMemAllocAsync(CUdeviceptr *, size_t, void *), cuMemFreeAsync(CUdeviceptr, void *);
int cuDeviceCanAccessPeer(int *, int, int), cuDeviceGetPCIBusId(char *, int, int);
int cuDeviceGetByPCIBusId(int *, const char *);
int cuMemPrefetchAsync(CUdeviceptr, size_t, int, void *), cuMemAdvise(CUdeviceptr, size_t, int, int);
int cuProfilerStart(void), cuProfilerStop(void), cuGraphConditionalHandleCreate(void);
int cuMemcpyDtoH_v2_ptds(void *, CUdeviceptr, size_t);
int cuGetProcAddress(const char *, void **, int, uint64_t);
int cuGetProcAddress_v2(const char *, void **, int, uint64_t, int *);
int cuLibraryLoadData(void **, const void *, int *, void **, unsigned, int *, void **, unsigned);
int cuLibraryLoadFromFile(void **, const char *, int *, void **, unsigned, int *, void **, unsigned);
int cuLibraryGetKernel(void **, void *, const char *), cuLibraryUnload(void *),
    cuLibraryGetModule(void **, void *);
int cuLibraryGetGlobal(CUdeviceptr *, size_t *, void *, const char *), cuKernelGetFunction(void **, void *);
int cuKernelGetLibrary(void **, void *), cuKernelGetName(const char **, void *);
int cuKernelGetAttribute(int *, int, void *, int), cuKernelSetAttribute(int, int, void *, int);

/* Of the runtime, what its headers do not declare. */
int cudaGraphConditionalHandleCreate(void);
int cudaStreamGetDevice(cudaStream_t, int *);
int cudaGetDriverEntryPointByVersion(const char *, void **, unsigned, unsigned long long, int *);
__typeof__(cudaMemcpyToSymbol) cudaMemcpyToSymbol_ptds;
__typeof__(cudaMemset) cudaMemset_ptds;
__typeof__(cudaMemcpy) cudaMemcpy_ptds;
__typeof__(cudaLaunchKernel) cudaLaunchKernel_ptsz;
__typeof__(cudaStreamSynchronize) cudaStreamSynchronize_ptsz;

static void launch_by_driver(void *function, CUdeviceptr a, unsigned n) {
    int host[100], value;
    void *params[] = {&a, &n};
    struct {
        CUdeviceptr a;
        unsigned n;
    } packed = {a, n};
    size_t bytes = 12;
    void *extra[] = {(void *)1, &packed, (void *)2, &bytes, 0};
    EXPECT(cuMemsetD32_v2(a, 3, 100), 0);
    EXPECT(cuMemsetD32_v2(a, 4, SIZE_MAX / 4 + 26), 1); /* 100 bytes, modulo 2^64 */
    EXPECT(cuLaunchKernel(function, 1, 1, 1, 100, 1, 1, 0, 0, params, 0), 0);
    EXPECT(cuLaunchKernel(function, 1, 1, 1, 100, 1, 1, 0, 0, 0, extra), 0);
    EXPECT(cuCtxSynchronize(), 0);
    EXPECT(cuMemcpyDtoH_v2(host, a, sizeof host), 0);
    EXPECT(host[99], (3 * 2 + 5) * 2 + 5);
    EXPECT(cuLaunchKernel(function, 0, 1, 1, 100, 1, 1, 0, 0, params, 0), cudaErrorInvalidValue);
    EXPECT(cuFuncGetAttribute(&value, 0, function), 0);
    EXPECT(value, 1024);
}

static void driver(void) {
    void *context, *module, *function;
    const char *name;
    int device;
    size_t bytes;
    CUdeviceptr a, address;
    EXPECT(cuInit(0), 0);
    EXPECT(cuDeviceGet(&device, 0), 0);
    EXPECT(cuDeviceGet(&device, 1), cudaErrorInvalidDevice);
    EXPECT(cuCtxCreate_v2(&context, 0, 0), 0);
    EXPECT(cuModuleLoadData(&module, ptx), 0);
    EXPECT(cuModuleGetFunction(&function, module, "scale"), 0);
    EXPECT(cuModuleGetGlobal_v2(&address, &bytes, module, "factors"), 0);
    EXPECT(bytes, 16);
    EXPECT(cuMemcpyHtoD_v2(address, two, sizeof two), 0);
    EXPECT(cuMemAlloc_v2(&a, 400), 0);
    launch_by_driver(function, a, 100);
    EXPECT(cuModuleGetFunction(&function, module, "no_such"), 500);
    EXPECT(cuModuleGetGlobal_v2(&address, &bytes, module, "no_such"), 500);
    EXPECT(cuModuleLoad(&module, "/no/such/file"), 301);
    EXPECT(cuMemFree_v2(a), 0);
    EXPECT(cuMemFree_v2(a), cudaErrorInvalidValue);
    EXPECT(cuGetErrorName(1, &name), 0);
    EXPECT(strcmp(name, "CUDA_ERROR_INVALID_VALUE"), 0);
    EXPECT(cuGetErrorName(301, &name), 0);
    EXPECT(strcmp(name, "CUDA_ERROR_FILE_NOT_FOUND"), 0);
    EXPECT(cuModuleUnload(module), 0);
}

static void driver_occupancy(void *function) {
    const char *name;
    int grid, block;
    EXPECT(cuOccupancyMaxPotentialBlockSize(&grid, &block, function, 0, 0, 0), 0);
    EXPECT(block, 768);
    EXPECT(grid, 2 * 15);
    EXPECT(cuOccupancyMaxPotentialBlockSize(&grid, &block, function, 0, 0, 100), 0);
    EXPECT(block, 100);
    EXPECT(cuFuncGetName(&name, function), 0);
    EXPECT(strcmp(name, "scale"), 0);
}

static void driver_streams(void) {
    void *stream, *context, *other;
    int priority = 1, device = 1;
    unsigned flags;
    cudaStreamAttrValue set = {.priority = -3}, got;
    EXPECT(cuStreamCreateWithPriority(&stream, 1, -2), 0);
    EXPECT(cuStreamGetFlags(stream, &flags), 0);
    EXPECT(flags, 1);
    EXPECT(cuStreamGetPriority(stream, &priority), 0);
    EXPECT(priority, -2);
    EXPECT(cuStreamGetPriority(stream, NULL), 1);
    EXPECT(cuStreamGetFlags(stream, NULL), 1);
    EXPECT(cuStreamGetDevice(stream, NULL), 1);
    EXPECT(cuStreamGetCtx(stream, NULL), 1);
    EXPECT(cuStreamGetDevice(stream, &device), 0);
    EXPECT(device, 0);
    EXPECT(cuStreamGetCtx(stream, &context), 0);
    EXPECT(cuCtxGetCurrent(&other), 0);
    EXPECT((uintptr_t)context, (uintptr_t)other);
    EXPECT(cuStreamSetAttribute(stream, 8, &set), 0);
    EXPECT(cuStreamGetAttribute(stream, 8, &got), 0);
    EXPECT(got.priority, -3);
    EXPECT(cuStreamGetAttribute(stream, 77, &got), cudaErrorInvalidValue);
    EXPECT(cuCtxGetStreamPriorityRange(&priority, &device), 0);
    EXPECT(priority, 0);
}

static void driver_log(void) {
    char log[12] = "x", reason[400] = "";
    void *module, *values[] = {log, (void *)sizeof log};
    int options[] = {5, 6};
    EXPECT(cuModuleLoadDataEx(&module, ptx, 2, options, values), 0);
    EXPECT(strcmp(log, "") || values[1], 0);
    values[1] = (void *)sizeof log;
    EXPECT(cuModuleLoadDataEx(&module, "nonsense", 2, options, values), cudaErrorInvalidPtx);
    EXPECT(strlen(log), sizeof log - 1);
    EXPECT((uintptr_t)values[1], sizeof log - 1);
    EXPECT(cuModuleLoadDataEx(&module, "nonsense", 1, options, values), cudaErrorInvalidPtx);
    values[0] = reason, values[1] = (void *)sizeof reason;
    EXPECT(cuModuleLoadDataEx(&module,
                              ".version 7.0\n.target sm_70\n.address_size 64\n.entry k() { add.u32; x }", 2,
                              options, values),
           cudaErrorInvalidPtx);
    EXPECT(strstr(reason, ":4: ") != NULL, 1);
    EXPECT(strlen(reason), (uintptr_t)values[1]);
    values[1] = (void *)sizeof reason;
    EXPECT(cuModuleLoadDataEx(&module, "nonsense", 2, options, values), cudaErrorInvalidPtx);
    EXPECT(strstr(reason, "neither a fat binary nor PTX") != NULL, 1);
}

int cuCtxDestroy_v2(void *), cuCtxSetCurrent(void *), cuCtxPushCurrent_v2(void *),
    cuCtxPopCurrent_v2(void **);
int cuCtxGetDevice(int *), cuCtxGetFlags(unsigned *), cuCtxGetApiVersion(void *, unsigned *);
int cuDevicePrimaryCtxRetain(void **, int), cuDevicePrimaryCtxRelease_v2(int);
int cuMemAllocAsync(CUdeviceptr *, size_t, void *), cuMemFreeAsync(CUdeviceptr, void *),
    cuMemAllocFromPoolAsync(CUdeviceptr *, size_t, void *, void *);

static void *destroy_context(void *context) {
    CUdeviceptr a;
    EXPECT(cuMemAlloc_v2(&a, 400), 201); /* it is current in another thread alone */
    EXPECT(cuCtxDestroy_v2(context), 0);
    GOOD(cudaFree(0));
    EXPECT(cuMemAlloc_v2(&a, 400), 0);
    return 0;
}

static void contexts(void) {
    void *first, *second, *current = &current, *primary;
    unsigned value;
    int device;
    CUdeviceptr a;
    pthread_t other;
    EXPECT(cuInit(0), 0);
    EXPECT(cuCtxGetCurrent(&current), 0);
    EXPECT(current == NULL, 1);
    EXPECT(cuMemAlloc_v2(&a, 400), 201);
    EXPECT(cuMemAllocAsync(&a, 400, NULL), 201);
    EXPECT(cuMemAllocFromPoolAsync(&a, 400, NULL, NULL), 201);
    EXPECT(cuMemFreeAsync(0, NULL), 201);
    EXPECT(cuCtxGetDevice(&device), 201);
    EXPECT(cuCtxGetApiVersion(NULL, &value), 201);
    EXPECT(cuCtxPopCurrent_v2(&current), 201);
    EXPECT(cuCtxPushCurrent_v2(NULL), 201);
    EXPECT(cuCtxCreate_v2(&first, 1, 0), 0);
    EXPECT(cuCtxCreate_v2(&second, 2, 0), 0);
    EXPECT(cuCtxGetFlags(&value), 0);
    EXPECT(value, 2);
    EXPECT(cuCtxPopCurrent_v2(&current), 0);
    EXPECT(current == second, 1);
    EXPECT(cuCtxGetFlags(&value), 0);
    EXPECT(value, 1);
    EXPECT(cuMemAlloc_v2(&a, 400), 0);
    EXPECT(cuCtxDestroy_v2(second), 0);
    EXPECT(cuCtxDestroy_v2(second), 201);
    EXPECT(cuCtxSetCurrent(second), 201);
    EXPECT(cuCtxPushCurrent_v2(second), 201);
    EXPECT(pthread_create(&other, 0, destroy_context, first), 0);
    pthread_join(other, 0);
    EXPECT(cuMemFree_v2(a), 709);
    EXPECT(cuCtxSynchronize(), 709);
    EXPECT(cuCtxSetCurrent(NULL), 0);
    EXPECT(cuMemFree_v2(a), 201);
    EXPECT(cuDevicePrimaryCtxRelease_v2(0), 201);
    EXPECT(cuDevicePrimaryCtxRetain(&primary, 0), 0);
    EXPECT(cuCtxDestroy_v2(primary), 201);
    GOOD(cudaFree(0));
    EXPECT(cuCtxGetCurrent(&current), 0);
    EXPECT(current == primary, 1);
    EXPECT(cuMemFree_v2(a), 0);
    EXPECT(cuDevicePrimaryCtxRelease_v2(0), 0);
}

static void libraries(void) {
    void *context, *library, *kernel, *function, *of;
    const char *name;
    char log[100] = "old";
    void *values[] = {log, (void *)sizeof log};
    int options[] = {5, 6}, twos[] = {2, 2, 2, 2}, value;
    CUdeviceptr a;
    size_t bytes;
    EXPECT(cuLibraryLoadData(&library, "nonsense", options, values, 2, 0, 0, 0), cudaErrorInvalidPtx);
    EXPECT(strstr(log, "neither a fat binary nor PTX") != NULL, 1);
    EXPECT(cuLibraryLoadFromFile(&library, "no such file", 0, 0, 0, 0, 0, 0), 301);
    EXPECT(cuLibraryLoadData(&library, ptx, 0, 0, 0, 0, 0, 0), 0);
    EXPECT(cuLibraryGetKernel(&kernel, library, "nowhere"), 500);
    EXPECT(cuLibraryGetKernel(&kernel, library, "scale"), 0);
    EXPECT(cuKernelGetName(&name, kernel), 0);
    EXPECT(strcmp(name, "scale"), 0);
    EXPECT(cuKernelGetLibrary(&of, kernel), 0);
    EXPECT(of == library, 1);
    EXPECT(cuLibraryGetModule(&of, library), 0);
    EXPECT(cuModuleGetFunction(&function, of, "scale"), 0);
    EXPECT(cuKernelGetAttribute(&value, 0, kernel, 0), 0);
    EXPECT(value, 1024);
    EXPECT(cuKernelSetAttribute(8, 1000, kernel, 1), cudaErrorInvalidDevice);
    EXPECT(cuKernelSetAttribute(8, 1000, kernel, 0), 0);
    EXPECT(cuLibraryGetGlobal(&a, &bytes, library, "factors"), 0);
    EXPECT(cuCtxCreate_v2(&context, 0, 0), 0);
    EXPECT(bytes, sizeof twos);
    EXPECT(cuMemcpyHtoD_v2(a, twos, sizeof twos), 0);
    EXPECT(cuKernelGetFunction(&function, kernel), 0);
    EXPECT(cuMemAlloc_v2(&a, 400), 0);
    launch_by_driver(function, a, 100);
    EXPECT(cuLibraryUnload(library), 0);
}

static void driver_more(void) {
    void *context, *module, *function;
    char bus[16];
    int can = 1, device = 1;
    size_t value;
    CUdeviceptr a;
    EXPECT(cuInit(0), 0);
    EXPECT(cuCtxCreate_v2(&context, 0, 0), 0);
    EXPECT(cuModuleLoadData(&module, ptx), 0);
    EXPECT(cuModuleGetFunction(&function, module, "scale"), 0);
    driver_occupancy(function);
    driver_streams();
    driver_log();
    EXPECT(cuMemAllocAsync(&a, 400, 0), 0);
    EXPECT(cuMemFreeAsync(a, 0), 0);
    EXPECT(cuMemFreeAsync(a, 0), cudaErrorInvalidValue);
    EXPECT(cuDeviceCanAccessPeer(&can, 0, 0), 0);
    EXPECT(can, 0);
    EXPECT(cuDeviceGetPCIBusId(bus, sizeof bus, 0), 0);
    EXPECT(cuDeviceGetByPCIBusId(&device, bus), 0);
    EXPECT(device, 0);
    EXPECT(cuDeviceGetPCIBusId(bus, 12, 0), cudaErrorInvalidValue);
    EXPECT(cuCtxSetLimit(0, 4096), 0);
    EXPECT(cuCtxGetLimit(&value, 0), 0);
    EXPECT(value, 4096);
    GOOD(cudaDeviceGetLimit(&value, cudaLimitStackSize));
    EXPECT(value, 4096);
    EXPECT(cuCtxGetLimit(&value, 77), cudaErrorUnsupportedLimit);
}

/* They change nothing, and succeed. */
static void hints(void) {
    cudaStream_t one, other;
    cudaStreamAttrValue set = {.accessPolicyWindow = {.num_bytes = 4096, .hitRatio = 0.5f}}, got;
    int *a, device = 1;
    GOOD(cudaMallocManaged((void **)&a, 4000, cudaMemAttachGlobal));
    GOOD(cudaMemPrefetchAsync(a, 4000, 0, 0));
    GOOD(cudaMemAdvise(a, 4000, cudaMemAdviseSetReadMostly, 0));
    GOOD(cudaProfilerInitialize("", "", (cudaOutputMode_t)0));
    EXPECT(cuMemPrefetchAsync((CUdeviceptr)(uintptr_t)a, 4000, 0, 0), 0);
    EXPECT(cuMemAdvise((CUdeviceptr)(uintptr_t)a, 4000, 1, 0), 0);
    EXPECT(cuProfilerStart(), 0);
    EXPECT(cuProfilerStop(), 0);
    GOOD(cudaStreamCreate(&one));
    GOOD(cudaStreamCreate(&other));
    GOOD(cudaStreamSetAttribute(one, cudaStreamAttributeAccessPolicyWindow, &set));
    GOOD(cudaStreamCopyAttributes(other, one));
    GOOD(cudaStreamGetAttribute(other, cudaStreamAttributeAccessPolicyWindow, &got));
    EXPECT(got.accessPolicyWindow.num_bytes, 4096);
    EXPECT(got.accessPolicyWindow.hitRatio == 0.5f, 1);
    GOOD(cudaStreamGetDevice(one, &device));
    EXPECT(cudaStreamGetPriority(one, NULL), cudaErrorInvalidValue);
    EXPECT(cudaStreamGetFlags(one, NULL), cudaErrorInvalidValue);
    EXPECT(device, 0);
    GOOD(cudaStreamDestroy(other));
}

/* On v100: more than 48 KiB have to be asked for. What a kernel has itself counts. */
static void dynamic_shared(void) {
    enum { PLAIN = 48 << 10, MOST = 96 << 10, OWN = 1024 };
    static const char text[] = ".version 7.0\n.target sm_35\n.address_size 64\n.visible .entry own() {\n"
                               ".reg .u32 %r; .shared .align 4 .b8 own[1024]; mov.u32 %r, own; ret; }\n";
    struct cudaDeviceProp p;
    struct cudaFuncAttributes attributes;
    const void *kernel = (const void *)nothing;
    void *module, *function;
    size_t left;
    int value;
    GOOD(cudaGetDeviceProperties(&p, 0));
    EXPECT(p.sharedMemPerBlock, PLAIN);
    EXPECT(p.sharedMemPerBlockOptin, MOST);
    EXPECT(p.reservedSharedMemPerBlock, p.sharedMemPerMultiprocessor - MOST);
    GOOD(cudaDeviceGetAttribute(&value, cudaDevAttrReservedSharedMemoryPerBlock, 0));
    EXPECT((size_t)value, p.reservedSharedMemPerBlock);
    GOOD(cudaOccupancyAvailableDynamicSMemPerBlock(&left, kernel, 2, 32));
    EXPECT(left, p.sharedMemPerMultiprocessor / 2 - p.reservedSharedMemPerBlock);
    GOOD(cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlock, 0));
    EXPECT(value, PLAIN);
    GOOD(cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    EXPECT(value, MOST);
    GOOD(cudaFuncGetAttributes(&attributes, kernel));
    EXPECT(attributes.maxDynamicSharedSizeBytes, PLAIN);
    GOOD(cudaLaunchKernel(kernel, size1(1), size1(32), 0, PLAIN, 0));
    EXPECT(cudaLaunchKernel(kernel, size1(1), size1(32), 0, PLAIN + 1, 0), cudaErrorInvalidValue);
    EXPECT(cudaLaunchKernel(kernel, size1(1), size1(32), 0, (size_t)1 << 32, 0), cudaErrorInvalidValue);
    GOOD(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&value, kernel, 32, MOST));
    EXPECT(value, 0);
    EXPECT(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, MOST + 1),
           cudaErrorInvalidValue);
    EXPECT(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, -1),
           cudaErrorInvalidValue);
    GOOD(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, MOST));
    GOOD(cudaFuncGetAttributes(&attributes, kernel));
    EXPECT(attributes.maxDynamicSharedSizeBytes, MOST);
    GOOD(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&value, kernel, 32, MOST));
    EXPECT(value, 1);
    GOOD(cudaLaunchKernel(kernel, size1(1), size1(32), 0, MOST, 0));
    EXPECT(cuModuleLoadData(&module, text), 0);
    EXPECT(cuModuleGetFunction(&function, module, "own"), 0);
    EXPECT(cuFuncGetAttribute(&value, 8, function), 0);
    EXPECT(value, PLAIN - OWN);
    EXPECT(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, PLAIN - OWN, 0, 0, 0), 0);
    EXPECT(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, PLAIN, 0, 0, 0), cudaErrorInvalidValue);
    EXPECT(cuFuncSetAttribute(function, 8, MOST), cudaErrorInvalidValue);
    EXPECT(cuFuncSetAttribute(function, 8, MOST - OWN), 0);
    EXPECT(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, MOST - OWN, 0, 0, 0), 0);
    GOOD(cudaDeviceSynchronize());
    cudaGetLastError();
}

/* Before the first texel and behind the last one, whatever the address mode: unlike in an array. */
static void linear_texture(void) {
    enum { TEXELS = 8, BEYOND = 3, READS = TEXELS + 2 * BEYOND };
    static const char text[] =
        ".version 7.0\n.target sm_35\n.address_size 64\n.visible .entry line(.param .u64 out, .param .u64 "
        "handle) {\n"
        "  .reg .u32 %r<5>; .reg .u64 %d<4>; ld.param.u64 %d0, [out]; ld.param.u64 %d1, [handle];\n"
        "  mov.u32 %r0, %tid.x; sub.u32 %r4, %r0, 3; tex.1d.v4.s32.s32 {%r1, %r2, %r3, %r4}, [%d1, {%r4}];\n"
        "  mul.wide.u32 %d2, %r0, 4; add.u64 %d2, %d0, %d2; st.global.u32 [%d2], %r1; ret; }\n";
    struct cudaResourceDesc resource = {.resType = cudaResourceTypeLinear};
    struct cudaTextureDesc how = {.addressMode = {cudaAddressModeClamp}};
    int texels[2 * TEXELS], got[READS], *a, *out;
    cudaTextureObject_t object;
    void *module, *function, *params[] = {&out, &object};
    for (int i = 0; i < 2 * TEXELS; i++)
        texels[i] = 100 + i;
    GOOD(cudaMalloc((void **)&a, sizeof texels));
    GOOD(cudaMalloc((void **)&out, sizeof got));
    GOOD(cudaMemcpy(a, texels, sizeof texels, cudaMemcpyHostToDevice));
    resource.res.linear.devPtr = a;
    resource.res.linear.desc = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindSigned);
    resource.res.linear.sizeInBytes = TEXELS * sizeof *a;
    EXPECT(cuModuleLoadData(&module, text), 0);
    EXPECT(cuModuleGetFunction(&function, module, "line"), 0);
    for (int mode = cudaAddressModeWrap; mode <= cudaAddressModeMirror; mode++) {
        how.addressMode[0] = (enum cudaTextureAddressMode)mode;
        GOOD(cudaCreateTextureObject(&object, &resource, &how, 0));
        EXPECT(cuLaunchKernel(function, 1, 1, 1, READS, 1, 1, 0, 0, params, 0), 0);
        GOOD(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
        for (int i = 0; i < READS; i++)
            EXPECT(got[i], i < BEYOND || i >= BEYOND + TEXELS ? 0 : texels[i - BEYOND]);
        GOOD(cudaDestroyTextureObject(object));
    }
}

/* The same libraries by the runtime API; their kernels are launched as those of the program. */
static void runtime_libraries(void) {
    void *library, *kernel, *address;
    int twos[] = {2, 2, 2, 2}, n = 100, *a, got = 0;
    void *params[] = {&a, &n};
    size_t bytes;
    EXPECT(cudaLibraryLoadData(&library, ptx, 0, 0, 0, 0, 0, 0), 0);
    EXPECT(cudaLibraryGetKernel(&kernel, library, "nowhere"), 500);
    EXPECT(cudaGetLastError(), 500);
    EXPECT(cudaLibraryGetKernel(&kernel, library, "scale"), 0);
    EXPECT(cudaKernelSetAttributeForDevice(kernel, 8, 1000, 0), 0);
    EXPECT(cudaLibraryGetGlobal(&address, &bytes, library, "factors"), 0);
    EXPECT(bytes, sizeof twos);
    GOOD(cudaMemcpy(address, twos, sizeof twos, cudaMemcpyHostToDevice));
    GOOD(cudaMalloc((void **)&a, 400));
    GOOD(cudaMemset(a, 1, 400));
    GOOD(cudaLaunchKernel(kernel, size1(1), size1(128), params, 0, 0));
    GOOD(cudaMemcpy(&got, a + 99, sizeof got, cudaMemcpyDeviceToHost));
    EXPECT(got, 2 * 0x01010101 + 5); /* `bias` */
    EXPECT(cudaLibraryUnload(library), 0);
    EXPECT(cudaLibraryUnload(library), cudaErrorInvalidResourceHandle);
    EXPECT(cudaLaunchKernel(kernel, size1(1), size1(128), params, 0, 0), cudaErrorInvalidDeviceFunction);
    cudaGetLastError();
}

static void pointers(void) {
    char *a, *pinned, *managed;
    int which[] = {2, 9, 8, 3, 12}, ordinal = 7;
    unsigned type = 7;
    bool is_managed = true;
    CUdeviceptr device = 7;
    size_t bytes = 7;
    void *results[] = {&type, &ordinal, &is_managed, &device, &bytes};
    GOOD(cudaMalloc((void **)&a, 4096));
    GOOD(cudaMallocHost((void **)&pinned, 4096));
    GOOD(cudaMallocManaged((void **)&managed, 4096, cudaMemAttachGlobal));
    EXPECT(cuPointerGetAttributes(5, which, results, (CUdeviceptr)a + 9), 0);
    EXPECT(type, 2);
    EXPECT(ordinal, 0);
    EXPECT(is_managed, 0);
    EXPECT(device, (CUdeviceptr)a + 9);
    EXPECT(bytes, 4096);
    EXPECT(cuPointerGetAttribute(&type, 2, (CUdeviceptr)pinned), 0);
    EXPECT(type, 1);
    EXPECT(cuPointerGetAttribute(&is_managed, 8, (CUdeviceptr)managed), 0);
    EXPECT(is_managed, 1);
    EXPECT(cuPointerGetAttribute(&device, 11, (CUdeviceptr)pinned + 100), 0);
    EXPECT(device, (CUdeviceptr)pinned);
    EXPECT(cuPointerGetAttribute(&device, 4, (CUdeviceptr)a), cudaErrorInvalidValue);
    EXPECT(cuPointerGetAttribute(&type, 2, (CUdeviceptr)&type), cudaErrorInvalidValue);
    EXPECT(cuPointerGetAttributes(5, which, results, (CUdeviceptr)&type), 0);
    EXPECT(type, 0);
    EXPECT(ordinal, -2);
    EXPECT(device, 0);
}

/* --- Names of functions --------------------------------------------------------------------------- */

static void missing(void) {
    EXPECT(cudaGraphConditionalHandleCreate(), cudaErrorNotSupported);
    EXPECT(cudaGraphConditionalHandleCreate(), cudaErrorNotSupported);
    EXPECT(cudaGetLastError(), cudaErrorNotSupported);
    EXPECT(cuGraphConditionalHandleCreate(), cudaErrorNotSupported);
}

/* Copies between arrays, and between devices, of which there is one. */
static void more_copies(void) {
    enum { WIDTH = 4, ROWS = 3 };
    struct cudaChannelFormatDesc format = {32, 0, 0, 0, cudaChannelFormatKindSigned};
    int host[WIDTH * ROWS], back[WIDTH * ROWS], value = 0;
    cudaArray_t from, to;
    for (int i = 0; i < WIDTH * ROWS; i++)
        host[i] = i;
    GOOD(cudaMallocArray(&from, &format, WIDTH, ROWS, 0));
    GOOD(cudaMallocArray(&to, &format, WIDTH, ROWS, 0));
    GOOD(cudaMemcpy2DToArray(from, 0, 0, host, 16, 16, ROWS, cudaMemcpyHostToDevice));
    GOOD(cudaMemcpyArrayToArray(to, 8, 0, from, 4, 0, 28, cudaMemcpyDeviceToDevice)); /* 1 to 7, from 2 on */
    GOOD(cudaMemcpy2DFromArray(back, 16, to, 0, 0, 16, ROWS, cudaMemcpyDeviceToHost));
    for (int i = 2; i < 9; i++)
        EXPECT(back[i], i - 1);
    EXPECT(cudaMemcpyArrayToArray(to, 8, 2, from, 0, 0, 12, cudaMemcpyDeviceToDevice), cudaErrorInvalidValue);
    struct cudaMemcpy3DPeerParms peers = {.srcArray = from, .dstArray = to, .extent = {WIDTH, ROWS, 1}};
    GOOD(cudaMemcpy3DPeer(&peers));
    GOOD(cudaMemcpy2DFromArray(back, 16, to, 0, 0, 16, ROWS, cudaMemcpyDeviceToHost));
    EXPECT(memcmp(back, host, sizeof host), 0);
    peers.dstDevice = 1;
    EXPECT(cudaMemcpy3DPeerAsync(&peers, 0), cudaErrorInvalidDevice);
    EXPECT(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 0), cudaErrorInvalidDevice);
}

/* What -default-stream per-thread makes of the plain names. */
static void per_thread(void) {
    int *a, host[100];
    unsigned n = 100;
    void *params[] = {&a, &n};
    cudaStream_t stream;
    GOOD(cudaMemcpyToSymbol_ptds(factors, two, sizeof two, 0, cudaMemcpyHostToDevice));
    GOOD(cudaMalloc((void **)&a, sizeof host));
    GOOD(cudaMemset_ptds(a, 0, sizeof host));
    GOOD(cudaLaunchKernel_ptsz((const void *)scale, size1(1), size1(100), params, 0, 0));
    GOOD(cudaMemcpy_ptds(host, a, sizeof host, cudaMemcpyDeviceToHost));
    EXPECT(host[99], 5);
    EXPECT(cuMemcpyDtoH_v2_ptds(host, (CUdeviceptr)(uintptr_t)a, 4), 0);
    GOOD(cudaStreamCreate(&stream));
    GOOD(cudaStreamSynchronize_ptsz(stream));
}

static void versions(void) {
    static const char *const libraries[] = {"libcudart.so.11.0", "libcudart.so.12", "libcudart.so.13"};
    static const char *const names[] = {"cudaMemset_ptds", "__cudaLaunchKernel_ptsz",
                                        "cudaMemPrefetchAsync_ptsz", "cudaGraphAddNode", "cudaGetKernel"};
    for (int i = 0; i < 3; i++) {
        void *library = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL);
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            EXPECT(library && dlsym(library, names[k]), 1);
    }
}

static void entry_points(void) {
    CUdeviceptr a = 0;
    int (*allocate)(CUdeviceptr *, size_t), (*create)(void **, void *, unsigned, int);
    void *found, *again, *context = 0;
    int status = 7;
    EXPECT(cuCtxCreate_v2(&context, 0, 0), 0);
    EXPECT(cuGetProcAddress("cuMemAlloc", (void **)&allocate, 11030, 0), 0);
    EXPECT(allocate(&a, 400), 0);
    EXPECT(a != 0, 1);
    EXPECT(cuGetProcAddress_v2("cuStreamQuery", &found, 12000, 0, &status), 0);
    EXPECT(status, 0);
    EXPECT(cuGetProcAddress_v2("cuNoSuch", &found, 12000, 0, &status), 0);
    EXPECT(status, 1);
    EXPECT(found == 0, 1);
    EXPECT(cuGetProcAddress("cuserid", &found, 12000, 0), 500); /* of the C library */
    /* the parameters are those of the version */
    EXPECT(cuGetProcAddress("cuCtxCreate", (void **)&create, 13000, 0), 0);
    EXPECT(create(&context, 0, 0, 0), 0);
    EXPECT(context != 0, 1);
    EXPECT(cuGetProcAddress("cuGetProcAddress", &found, 11030, 0), 0);
    EXPECT(found == (void *)cuGetProcAddress, 1);
    EXPECT(cuGetProcAddress("cuGetProcAddress", &found, 12000, 0), 0);
    EXPECT(found == (void *)cuGetProcAddress_v2, 1);
    GOOD(cudaGetDriverEntryPoint("cuMemAlloc", &again, 0));
    EXPECT(again == (void *)allocate, 1);
    GOOD(cudaGetDriverEntryPointByVersion("cuMemAlloc", &again, 12000, 0, &status));
    EXPECT(again == (void *)allocate && status == 0, 1);
    GOOD(cudaGetDriverEntryPointByVersion("cuNoSuch", &again, 12000, 0, &status));
    EXPECT(again == 0 && status == 1, 1);
}

/* --- Images --------------------------------------------------------------------------------------- */

/* One entry more: its header as that of the first, then `payload`. Returns what is behind it. */
static uint8_t *add_entry(uint8_t *at, int kind, unsigned architecture, uint64_t flags, const void *payload,
                          size_t count, uint64_t raw) {
    uint64_t padded = (count + 7) / 8 * 8;
    uint32_t compressed = flags ? (uint32_t)count : 0;
    memset(at, 0, 64 + padded);
    memcpy(at, &(uint16_t){(uint16_t)kind}, 2);
    memcpy(at + 4, &(uint32_t){64}, 4);
    memcpy(at + 8, &padded, 8);
    memcpy(at + 16, &compressed, 4);
    memcpy(at + 28, &architecture, 4);
    memcpy(at + 40, &flags, 8);
    memcpy(at + 56, &raw, 8);
    memcpy(at + 64, payload, count);
    return at + 64 + padded;
}

static uint8_t image[1 << 14];

static void close_image(const uint8_t *end) {
    memcpy(image, &(uint32_t){0xba55ed50}, 4);
    memcpy(image + 4, &(uint16_t){1}, 2);
    memcpy(image + 6, &(uint16_t){16}, 2);
    memcpy(image + 8, &(uint64_t){(uint64_t)(end - image) - 16}, 8);
}

static int has_kernel(const char *name) {
    void *module, *function;
    int problem = cuModuleLoadData(&module, image);
    return problem ? problem : cuModuleGetFunction(&function, module, name);
}

/* All of it as literals: one sequence of LZ4; one raw block of zstd. */
static size_t as_lz4(uint8_t *to, const char *text, size_t count) {
    size_t used = 0, rest = count - 15;
    to[used++] = 0xf0;
    for (; rest >= 255; rest -= 255)
        to[used++] = 255;
    to[used++] = (uint8_t)rest;
    memcpy(to + used, text, count);
    return used + count;
}

static size_t as_zstd(uint8_t *to, const char *text, size_t count) {
    uint32_t block = (uint32_t)count << 3 | 1;
    const uint8_t head[] = {0x28,
                            0xb5,
                            0x2f,
                            0xfd,
                            0x60,
                            (uint8_t)(count - 256),
                            (uint8_t)((count - 256) >> 8),
                            (uint8_t)block,
                            (uint8_t)(block >> 8),
                            (uint8_t)(block >> 16)};
    memcpy(to, head, sizeof head);
    memcpy(to + sizeof head, text, count);
    return sizeof head + count;
}

static void images(void) {
    char text[3][600];
    static const int of[] = {30, 90, 50};
    uint8_t packed[1000], *end;
    static const char *const form =
        ".version 6.0\n.target sm_%d\n.address_size 64\n.visible .entry for_%d() { ret; }\n//%300s\n";
    for (int i = 0; i < 3; i++)
        snprintf(text[i], sizeof text[i], form, of[i], of[i], "");
    size_t count = strlen(text[0]);
    /* of 30, 50 and 90 the device of 7.0 takes 50 */
    end = add_entry(image + 16, 1, 90, 0, text[1], count + 1, 0);
    end = add_entry(end, 2, 70, 0, "\177ELF", 4, 0);
    end = add_entry(end, 1, 50, 0, text[2], count + 1, 0);
    close_image(add_entry(end, 1, 30, 0, text[0], count + 1, 0));
    EXPECT(has_kernel("for_50"), 0);
    close_image(add_entry(image + 16, 1, 90, 0x2000, packed, as_lz4(packed, text[1], count), count));
    EXPECT(has_kernel("for_90"), 0);
    close_image(add_entry(image + 16, 1, 90, 0x8000, packed, as_zstd(packed, text[1], count), count));
    EXPECT(has_kernel("for_90"), 0);
    close_image(add_entry(image + 16, 1, 90, 0x8000, packed, 100, count));
    EXPECT(has_kernel("for_90"), cudaErrorInvalidPtx);
    close_image(add_entry(image + 16, 2, 70, 0, "\177ELF", 4, 0));
    EXPECT(has_kernel("for_90"), cudaErrorNoKernelImageForDevice);
    strcpy((char *)image, "hello");
    EXPECT(has_kernel("for_90"), cudaErrorInvalidPtx);
    strcpy((char *)image,
           ".version 6.0\n.target sm_30\n.address_size 64\n.visible .entry k() { nonsense; }\n");
    EXPECT(has_kernel("k"), cudaErrorInvalidPtx);
}

static void late_heap(void) {
    static const char text[] =
        ".version 6.0\n.target sm_35\n.address_size 64\n"
        ".extern .func (.param .b64 r) malloc(.param .b64 n);\n"
        ".visible .entry k() { .reg .u64 %d; .param .b64 n; .param .b64 r;\n"
        "  st.param.b64 [n], 8; call.uni (r), malloc, (n); ld.param.b64 %d, [r]; ret; }\n";
    void *module;
    EXPECT(cuModuleLoadData(&module, text), 0);
    GOOD(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 4096));
    EXPECT(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 64 << 20), cudaErrorInvalidValue);
}

/* Does the simulator run a launch in forks of itself, whose writes the program does not see? */
static bool is_sampled(void) {
    char path[64];
    int program, worker, count = 0;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)getppid(), (int)getppid());
    FILE *children = fopen(path, "r");
    if (children) count = fscanf(children, "%d %d", &program, &worker);
    if (children) fclose(children);
    return count == 2;
}

static void *kill_once_begun(void *flag) {
    while (!*(volatile int *)flag && !is_sampled())
        usleep(1000);
    kill(getpid(), SIGKILL);
    return 0;
}

static void killed(void) {
    int *flag;
    void *params[] = {&flag};
    pthread_t killer;
    GOOD(cudaMallocManaged((void **)&flag, sizeof *flag, cudaMemAttachGlobal));
    EXPECT(pthread_create(&killer, 0, kill_once_begun, flag), 0);
    GOOD(cudaLaunchKernel((const void *)spins, size1(100), size1(1), params, 0, 0));
    pthread_join(killer, 0);
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*run)(void);
    } parts[] = {{"basic", basic},
                 {"memory", memory},
                 {"volumes", volumes},
                 {"mapped", mapped},
                 {"errors", errors},
                 {"events", events},
                 {"threads", threads},
                 {"textures", textures},
                 {"colours", colours},
                 {"voxel_arrays", voxel_arrays},
                 {"array_bounds", array_bounds},
                 {"surfaces", surfaces},
                 {"removed", removed},
                 {"steps", steps},
                 {"addresses", addresses},
                 {"killed", killed},
                 {"late_heap", late_heap},
                 {"children", children},
                 {"properties", properties},
                 {"driver", driver},
                 {"images", images},
                 {"beyond", beyond},
                 {"printed", printed},
                 {"votes", votes},
                 {"driver_more", driver_more},
                 {"contexts", contexts},
                 {"libraries", libraries},
                 {"runtime_libraries", runtime_libraries},
                 {"pointers", pointers},
                 {"linear_texture", linear_texture},
                 {"dynamic_shared", dynamic_shared},
                 {"occupancy", occupancy},
                 {"freed", freed},
                 {"hints", hints},
                 {"missing", missing},
                 {"more_copies", more_copies},
                 {"per_thread", per_thread},
                 {"versions", versions},
                 {"entry_points", entry_points}};
    const char *what = argc > 1 ? argv[1] : "";
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!strcmp(parts[i].name, what)) parts[i].run();
    if (!strcmp(what, "stray")) fault((const void *)stray, cudaErrorIllegalAddress);
    if (!strcmp(what, "uneven")) fault((const void *)uneven, cudaErrorMisalignedAddress);
    if (!strcmp(what, "fails")) fault((const void *)fails, cudaErrorLaunchFailure);
    if (!failures) printf("%s: good\n", what);
    return failures > 100 ? 100 : failures;
}
