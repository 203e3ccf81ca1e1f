/* misuse WHAT: calls that a program should not make. They return an error; the program goes on. */
#include "checks.h"
#include <cuda_runtime.h>

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { INVALID_VALUE = 1, INVALID_PITCH = 12 };

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

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "nulls") == 0) nulls();
    if (argc == 2 && strcmp(argv[1], "volumes") == 0) volumes();
    if (argc == 2 && strcmp(argv[1], "images") == 0) images();
    return finish("misuse");
}
