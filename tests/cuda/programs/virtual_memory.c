/* virtual_memory [PART]: an array that grows by chunks mapped behind each other, moves when it has no room, and keeps what it
 * holds; and what the driver refuses. Checks itself. */
#include "kernels.h"

#include "cuda.h"

static const size_t chunk = 2 << 20;
static const CUmemAllocationProp device_memory = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                                  .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
static const CUmemAccessDesc open = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};

static CUmemGenericAllocationHandle add_chunk(CUdeviceptr at) {
    CUmemGenericAllocationHandle handle = 0;
    EXPECT(cuMemCreate(&handle, chunk, &device_memory, 0), CUDA_SUCCESS);
    EXPECT(cuMemMap(at, chunk, 0, handle, 0), CUDA_SUCCESS);
    EXPECT(cuMemSetAccess(at, chunk, &open, 1), CUDA_SUCCESS);
    return handle;
}

/* Words that lie on both sides of where two chunks meet. */
enum { WORDS = 512 };
static CUdeviceptr middle(CUdeviceptr start) {
    return start + chunk - WORDS / 2 * sizeof(int);
}

static void check_words(CUdeviceptr start, int factor, int added) {
    int words[WORDS];
    EXPECT(cuMemcpyDtoH(words, middle(start), sizeof words), CUDA_SUCCESS);
    for (int i = 0; i < WORDS; i++)
        EXPECT(words[i], i * factor + added);
}

static void grows(void) {
    static const int twice[4] = {0, 2, 0, 0};
    CUdeviceptr first, second;
    CUmemGenericAllocationHandle handles[2];
    int words[WORDS];
    for (int i = 0; i < WORDS; i++)
        words[i] = i;
    GOOD(cudaFree(0));
    GOOD(cudaMemcpyToSymbol(factors, twice, sizeof twice, 0, cudaMemcpyHostToDevice));
    EXPECT(cuMemAddressReserve(&first, 2 * chunk, 0, 0, 0), CUDA_SUCCESS);
    EXPECT(first % chunk, 0);
    for (int i = 0; i < 2; i++)
        handles[i] = add_chunk(first + (size_t)i * chunk);
    EXPECT(cuMemcpyHtoD(middle(first), words, sizeof words), CUDA_SUCCESS);
    GOOD(run_scale((int *)middle(first), WORDS, 2, 256)); /* 2 x + 5 */
    EXPECT(cuMemUnmap(first, 2 * chunk), CUDA_SUCCESS);
    EXPECT(cuMemcpyDtoH(words, middle(first), sizeof words), CUDA_ERROR_INVALID_VALUE);

    EXPECT(cuMemAddressReserve(&second, 4 * chunk, 4 * chunk, first + 2 * chunk, 0), CUDA_SUCCESS);
    EXPECT(second % (4 * chunk), 0);
    for (int i = 0; i < 2; i++) {
        EXPECT(cuMemMap(second + (size_t)i * chunk, chunk, 0, handles[i], 0), CUDA_SUCCESS);
        EXPECT(cuMemRelease(handles[i]), CUDA_SUCCESS);
    }
    EXPECT(cuMemAddressFree(first, 2 * chunk), CUDA_SUCCESS);
    EXPECT(cuMemSetAccess(second, 2 * chunk, &open, 1), CUDA_SUCCESS);
    check_words(second, 2, 5);
    GOOD(run_scale((int *)middle(second), WORDS, 2, 256));
    check_words(second, 4, 15);
    EXPECT(cuMemUnmap(second, 2 * chunk), CUDA_SUCCESS);

    /* another chunk where the first ones lay */
    handles[0] = add_chunk(second);
    handles[1] = add_chunk(second + chunk);
    check_words(second, 0, 0);
    GOOD(run_scale((int *)middle(second), WORDS, 2, 256));
    check_words(second, 0, 5);
    GOOD(cudaDeviceSynchronize());
}

static void refused(void) {
    CUdeviceptr at, none;
    CUmemGenericAllocationHandle handle, again;
    CUmemAllocationProp properties = {0};
    struct cudaPointerAttributes attributes;
    size_t bytes, free_before, free_after, total;
    unsigned long long flags;
    int value;
    GOOD(cudaFree(0));
    EXPECT(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 0),
           CUDA_SUCCESS);
    EXPECT(value, 1);
    EXPECT(cuMemGetAllocationGranularity(&bytes, &device_memory, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
           CUDA_SUCCESS);
    EXPECT(bytes, chunk);
    EXPECT(cuMemCreate(&handle, chunk + 4096, &device_memory, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemCreate(&handle, chunk, &properties, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemAddressReserve(&none, chunk / 2, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemAddressReserve(&none, chunk << 20, 0, 0, 0), CUDA_ERROR_OUT_OF_MEMORY);
    GOOD(cudaMemGetInfo(&free_before, &total));
    EXPECT(cuMemAddressReserve(&at, 2 * chunk, 0, 0, 0), CUDA_SUCCESS);
    handle = add_chunk(at);
    EXPECT(cuMemMap(at, chunk, 0, handle, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemMap(at + chunk, chunk, 0, handle, 0), CUDA_ERROR_NOT_SUPPORTED);
    EXPECT(cuMemMap(at + 2 * chunk, chunk, 0, handle, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemMap(at + chunk, chunk, 0, handle + 1, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemSetAccess(at, 2 * chunk, &open, 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemGetAccess(&flags, &open.location, at + 1), CUDA_SUCCESS);
    EXPECT(flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    EXPECT(cudaFree((void *)at), cudaErrorInvalidValue);
    GOOD(cudaPointerGetAttributes(&attributes, (void *)at));
    EXPECT(attributes.type, cudaMemoryTypeDevice);
    EXPECT(attributes.hostPointer == NULL, 1);
    EXPECT(cuMemRetainAllocationHandle(&again, (void *)(at + 8)), CUDA_SUCCESS);
    EXPECT(again, handle);
    EXPECT(cuMemGetAllocationPropertiesFromHandle(&properties, again), CUDA_SUCCESS);
    EXPECT(properties.type, CU_MEM_ALLOCATION_TYPE_PINNED);
    EXPECT(cuMemAddressFree(at, 2 * chunk), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemUnmap(at, 2 * chunk), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemUnmap(at, chunk), CUDA_SUCCESS);
    EXPECT(cuMemUnmap(at, chunk), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemRelease(handle), CUDA_SUCCESS);
    EXPECT(cuMemRelease(again), CUDA_SUCCESS);
    EXPECT(cuMemRelease(handle), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemAddressFree(at, chunk), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemAddressFree(at, 2 * chunk), CUDA_SUCCESS);
    GOOD(cudaMemGetInfo(&free_after, &total));
    EXPECT(free_after, free_before);

    EXPECT(cuMemAddressReserve(&at, chunk, 0, 0, 0), CUDA_SUCCESS);
    handle = add_chunk(at);
    GOOD(cudaDeviceReset());
    EXPECT(cuMemRelease(handle), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemUnmap(at, chunk), CUDA_ERROR_INVALID_VALUE);
}

int main(int argc, char **argv) {
    const char *part = argc > 1 ? argv[1] : "grows";
    if (strcmp(part, "refused"))
        grows();
    else
        refused();
    if (!failures) printf("%s: good\n", part);
    return failures > 100 ? 100 : failures;
}
