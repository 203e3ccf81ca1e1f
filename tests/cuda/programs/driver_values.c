/* driver_values: words that streams of the driver API write and wait for, parameters of functions, attributes of ranges of
 * memory, launches step by step. Checks itself. */
#include "checks.h"

#include "cuda.h"
#include "cuda_runtime_api.h"

static const char text[] =
    ".version 6.4\n.target sm_70\n.address_size 64\n"
    ".visible .entry count(.param .u64 word, .param .u8 small, .param .align 8 .b8 pair[16]) {\n"
    ".reg .u64 %a; .reg .u32 %r; ld.param.u64 %a, [word]; cvta.to.global.u64 %a, %a;\n"
    "atom.global.add.u32 %r, [%a], 1; ret; }\n";

static CUfunction count;
static CUdeviceptr words;

static unsigned word(int i) {
    unsigned value;
    CHECK(cuMemcpyDtoH(&value, words + 4 * (unsigned)i, 4) == CUDA_SUCCESS);
    return value;
}

static void run(CUstream stream) {
    unsigned char small = 0;
    double pair[2] = {0, 0};
    void *params[] = {&words, &small, pair};
    CHECK(cuLaunchKernel(count, 1, 1, 1, 32, 1, 1, 0, stream, params, NULL) == CUDA_SUCCESS);
}

static void check_writes(CUstream stream) {
    run(stream);
    CHECK(cuStreamWriteValue32(stream, words, 100, CU_STREAM_WRITE_VALUE_DEFAULT) == CUDA_SUCCESS);
    run(stream);
    CHECK(cuStreamWriteValue64(stream, words + 8, 0x123456789abcull, 0) == CUDA_SUCCESS);
    CHECK(cuStreamSynchronize(stream) == CUDA_SUCCESS);
    CHECK(word(0) == 132 && word(2) == 0x56789abc && word(3) == 0x1234);
    CHECK(cuStreamWriteValue32(stream, words + 2, 1, 0) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuStreamWriteValue64(stream, words + 4, 1, 0) == CUDA_ERROR_INVALID_VALUE);
}

static void check_waits(CUstream writer, CUstream stream) {
    CHECK(cuStreamWriteValue32(writer, words, 0, 0) == CUDA_SUCCESS);
    run(writer);
    CHECK(cuStreamWaitValue32(stream, words, 32, CU_STREAM_WAIT_VALUE_GEQ) == CUDA_SUCCESS);
    run(stream);
    CHECK(cuStreamSynchronize(stream) == CUDA_SUCCESS && word(0) == 64);
    CHECK(cuStreamWaitValue32(stream, words, 64, CU_STREAM_WAIT_VALUE_EQ) == CUDA_SUCCESS);
    CHECK(cuStreamWaitValue32(stream, words, 192, CU_STREAM_WAIT_VALUE_AND) == CUDA_SUCCESS);
    CHECK(cuStreamWaitValue32(stream, words, ~1u, CU_STREAM_WAIT_VALUE_NOR) == CUDA_SUCCESS);
    CHECK(cuStreamWaitValue64(stream, words + 8, 0x123456789abbull, CU_STREAM_WAIT_VALUE_GEQ) ==
          CUDA_SUCCESS);
    CHECK(cuStreamWaitValue32(stream, words, 4, 4) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuStreamWaitValue32(stream, words, 65, CU_STREAM_WAIT_VALUE_GEQ) == CUDA_SUCCESS);
    CHECK(cuStreamQuery(stream) == CUDA_ERROR_NOT_READY);
    CHECK(cuStreamWriteValue32(writer, words, 64 + 128, 0) == CUDA_SUCCESS);
    CHECK(cuStreamSynchronize(stream) == CUDA_SUCCESS && word(0) == 192);
    CUstreamBatchMemOpParams list[2] = {{CU_STREAM_MEM_OP_WRITE_VALUE_32}, {CU_STREAM_MEM_OP_WAIT_VALUE_32}};
    list[0].writeValue.address = list[1].waitValue.address = words + 4;
    list[0].writeValue.value = 7, list[1].waitValue.value = 6;
    CHECK(cuStreamBatchMemOp(stream, 2, list, 0) == CUDA_SUCCESS && word(1) == 7);
}

static void check_parameters(void) {
    static const size_t offsets[] = {0, 8, 16}, sizes[] = {8, 1, 16};
    size_t offset, bytes;
    for (size_t i = 0; i < 3; i++)
        CHECK(cuFuncGetParamInfo(count, i, &offset, &bytes) == CUDA_SUCCESS && offset == offsets[i] &&
              bytes == sizes[i]);
    CHECK(cuFuncGetParamInfo(count, 1, &offset, NULL) == CUDA_SUCCESS);
    CHECK(cuFuncGetParamInfo(count, 3, &offset, &bytes) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuKernelGetParamInfo((CUkernel)count, 2, &offset, &bytes) == CUDA_SUCCESS && offset == 16);
}

static void check_functions(void) {
    void *pinned;
    unsigned flags;
    int value;
    size_t bytes;
    CUmoduleLoadingMode mode;
    CUfunctionLoadingState state;
    CUfunc_cache config;
    CHECK(cuMemHostAlloc(&pinned, 64, CU_MEMHOSTALLOC_PORTABLE) == CUDA_SUCCESS);
    CHECK(cuMemHostGetFlags(&flags, pinned) == CUDA_SUCCESS &&
          flags == (CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP));
    CHECK(cuMemHostGetFlags(&flags, &flags) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuModuleGetLoadingMode(&mode) == CUDA_SUCCESS && cuCtxGetCacheConfig(&config) == CUDA_SUCCESS);
    CHECK(cuFuncLoad(count) == CUDA_SUCCESS && cuFuncLoad(NULL) == CUDA_ERROR_INVALID_HANDLE);
    CHECK(cuFuncIsLoaded(&state, count) == CUDA_SUCCESS && state == CU_FUNCTION_LOADING_STATE_LOADED);
    CHECK(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, count, 4, 32) == CUDA_SUCCESS && bytes == 12288);
    CHECK(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, count, 0, 32) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuDeviceGetP2PAttribute(&value, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 1) ==
          CUDA_ERROR_INVALID_DEVICE);
}

static void check_ranges(void) {
    void *managed;
    int answer = 5, list[2] = {5, 5};
    CHECK(cudaMallocManaged(&managed, 64, cudaMemAttachGlobal) == cudaSuccess);
    CHECK(cudaMemRangeGetAttribute(&answer, 4, cudaMemRangeAttributeReadMostly, managed, 64) == cudaSuccess);
    CHECK(answer == 0);
    CHECK(cudaMemRangeGetAttribute(&answer, 4, cudaMemRangeAttributePreferredLocation, managed, 16) ==
          cudaSuccess);
    CHECK(answer == cudaInvalidDeviceId);
    CHECK(cuMemRangeGetAttribute(list, 8, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, (CUdeviceptr)managed, 64) ==
          CUDA_SUCCESS);
    CHECK(list[0] == -2 && list[1] == -2);
    CHECK(cuMemRangeGetAttribute(list, 8, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, (CUdeviceptr)managed, 64) ==
          CUDA_ERROR_INVALID_VALUE);
    CHECK(cuMemRangeGetAttribute(list, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, words, 8) ==
          CUDA_ERROR_INVALID_VALUE);
    CHECK(cuMemRangeGetAttribute(list, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, (CUdeviceptr)managed, 65) ==
          CUDA_ERROR_INVALID_VALUE);
}

static void check_stepwise(void) {
    unsigned before = word(0);
    CHECK(cuLaunch(count) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuFuncSetBlockShape(count, 0, 1, 1) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuFuncSetBlockShape(count, 8, 2, 2) == CUDA_SUCCESS &&
          cuFuncSetSharedSize(count, 64) == CUDA_SUCCESS);
    CHECK(cuParamSetSize(count, 32) == CUDA_SUCCESS && cuParamSetv(count, 0, &words, 8) == CUDA_SUCCESS);
    CHECK(cuParamSeti(count, 8, 5) == CUDA_SUCCESS && cuParamSetf(count, 16, 1.5f) == CUDA_SUCCESS);
    CHECK(cuParamSetv(count, 4092, &words, 8) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuParamSetSize(count, 4097) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuLaunch(count) == CUDA_SUCCESS && word(0) == before + 32);
    CHECK(cuLaunchGrid(count, 3, 2) == CUDA_SUCCESS && word(0) == before + 7 * 32);
    CHECK(cuLaunchGrid(count, 0, 2) == CUDA_ERROR_INVALID_VALUE);
    words += 4;
    CHECK(cuParamSetv(count, 0, &words, 8) == CUDA_SUCCESS);
    words -= 4;
    before = word(1);
    CHECK(cuLaunchGridAsync(count, 1, 1, NULL) == CUDA_SUCCESS && word(1) == before + 32);
    CHECK(cuParamSeti((CUfunction)&before, 0, 1) == CUDA_ERROR_INVALID_HANDLE);
}

int main(void) {
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUstream first, second;
    CHECK(cuInit(0) == CUDA_SUCCESS && cuDeviceGet(&device, 0) == CUDA_SUCCESS);
    CHECK(cuCtxCreate(&context, 0, device) == CUDA_SUCCESS);
    CHECK(cuModuleLoadData(&module, text) == CUDA_SUCCESS);
    CHECK(cuModuleGetFunction(&count, module, "count") == CUDA_SUCCESS);
    CHECK(cuMemAlloc(&words, 64) == CUDA_SUCCESS &&
          cuStreamCreate(&first, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
    CHECK(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
    check_writes(first);
    check_waits(first, second);
    check_parameters();
    check_functions();
    check_ranges();
    check_stepwise();
    return finish("driver_values");
}
