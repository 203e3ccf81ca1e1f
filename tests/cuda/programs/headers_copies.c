/* The driver API's copies and fills of rows and volumes, by gcc, without a kernel. */
#include "checks.h"

#include <cuda.h>
#include <string.h>

enum { WIDTH = 7, ROWS = 5, SLICES = 3, ALL = WIDTH * ROWS * SLICES, BYTE = 7 };

static int host[ALL], back[ALL];

static CUDA_MEMCPY2D rows_to_device(CUdeviceptr to, size_t pitch) {
    CUDA_MEMCPY2D copy = {0};
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = host;
    copy.srcPitch = WIDTH * 4;
    copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.dstDevice = to;
    copy.dstPitch = pitch;
    copy.WidthInBytes = WIDTH * 4;
    copy.Height = ROWS;
    return copy;
}

/* Columns 2 to 4 of rows 1 to 3, to the place of rows 0 to 2. */
static CUDA_MEMCPY2D part_to_host(CUdeviceptr from, size_t pitch) {
    CUDA_MEMCPY2D copy = {0};
    copy.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
    copy.srcDevice = from;
    copy.srcPitch = pitch;
    copy.srcXInBytes = 8;
    copy.srcY = 1;
    copy.dstMemoryType = CU_MEMORYTYPE_HOST;
    copy.dstHost = back;
    copy.dstPitch = WIDTH * 4;
    copy.dstXInBytes = 4;
    copy.WidthInBytes = 12;
    copy.Height = 3;
    return copy;
}

static void check_part(void) {
    int wrong = 0;
    for (int y = 0; y < ROWS; y++)
        for (int x = 0; x < WIDTH; x++) {
            int inside = y < 3 && x >= 1 && x < 4;
            wrong += back[y * WIDTH + x] != (inside ? host[(y + 1) * WIDTH + x + 1] : -1);
        }
    CHECK(wrong == 0);
    memset(back, -1, sizeof back);
}

static void check_rows(CUstream stream) {
    CUdeviceptr plane;
    size_t pitch;
    CHECK(cuMemAllocPitch(&plane, &pitch, WIDTH * 4, ROWS, 4) == CUDA_SUCCESS);
    CUDA_MEMCPY2D there = rows_to_device(plane, pitch), here = part_to_host(plane, pitch);
    CHECK(cuMemcpy2D(&there) == CUDA_SUCCESS && cuMemcpy2D(&here) == CUDA_SUCCESS);
    check_part();
    CHECK(cuMemcpy2DUnaligned(&here) == CUDA_SUCCESS);
    check_part();
    CHECK(cuMemcpy2DAsync(&here, stream) == CUDA_SUCCESS && cuStreamSynchronize(stream) == CUDA_SUCCESS);
    check_part();
    here.srcPitch = 8;
    CHECK(cuMemcpy2D(&here) == CUDA_ERROR_INVALID_VALUE && cuMemcpy2D(NULL) == CUDA_ERROR_INVALID_VALUE);
    here.srcPitch = pitch;
    here.dstHost = NULL;
    CHECK(cuMemcpy2D(&here) == CUDA_ERROR_INVALID_VALUE);
    here.Height = 0;
    CHECK(cuMemcpy2D(&here) == CUDA_SUCCESS);
    there.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    CHECK(cuMemcpy2D(&there) == CUDA_ERROR_INVALID_VALUE); /* no array is given */
    CHECK(cuMemFree(plane) == CUDA_SUCCESS);
}

static void check_fills(CUstream stream) {
    CUdeviceptr plane;
    size_t pitch;
    CHECK(cuMemAllocPitch(&plane, &pitch, WIDTH * 4, ROWS, 4) == CUDA_SUCCESS);
    CUDA_MEMCPY2D there = rows_to_device(plane, pitch), here = there;
    CHECK(cuMemcpy2D(&there) == CUDA_SUCCESS);
    CHECK(cuMemsetD2D32(plane, pitch, 77, 2, 3) == CUDA_SUCCESS);
    CHECK(cuMemsetD2D16(plane + 8, pitch, 0x1234, 2, 3) == CUDA_SUCCESS);
    CHECK(cuMemsetD2D8Async(plane + 12, pitch, BYTE, 4, 3, stream) == CUDA_SUCCESS);
    CHECK(cuMemsetD2D32Async(plane + 16, pitch, 78, 1, 3, stream) == CUDA_SUCCESS);
    CHECK(cuMemsetD2D16Async(plane + 20, pitch, 1, 2, 3, stream) == CUDA_SUCCESS);
    CHECK(cuMemsetD2D8(plane + 24, pitch, 0, 4, 3) == CUDA_SUCCESS);
    CHECK(cuMemsetD2D32(plane, 4, 77, 2, 3) == CUDA_ERROR_INVALID_VALUE);
    here.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    here.srcDevice = plane;
    here.srcPitch = pitch;
    here.dstMemoryType = CU_MEMORYTYPE_HOST;
    here.dstHost = back;
    here.dstPitch = WIDTH * 4;
    CHECK(cuStreamSynchronize(stream) == CUDA_SUCCESS && cuMemcpy2D(&here) == CUDA_SUCCESS);
    static const int filled[WIDTH] = {77, 77, 0x12341234, 0x07070707, 78, 0x00010001, 0};
    int wrong = 0;
    for (int i = 0; i < WIDTH * ROWS; i++)
        wrong += back[i] != (i < 3 * WIDTH ? filled[i % WIDTH] : host[i]);
    CHECK(wrong == 0);
    CHECK(cuMemFree(plane) == CUDA_SUCCESS);
}

static void check_volumes(CUcontext context, CUstream stream) {
    CUdeviceptr volume, other;
    CUDA_MEMCPY3D copy = {0};
    CHECK(cuMemAlloc(&volume, sizeof host) == CUDA_SUCCESS &&
          cuMemAlloc(&other, sizeof host) == CUDA_SUCCESS);
    CHECK(cuMemcpyHtoD(other, host, sizeof host) == CUDA_SUCCESS);
    CHECK(cuMemcpyPeer(volume, context, other, context, sizeof host) == CUDA_SUCCESS);
    CHECK(cuMemcpyPeerAsync(volume, context, other, context, sizeof host, stream) == CUDA_SUCCESS);
    copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = volume;
    copy.srcPitch = WIDTH * 4;
    copy.srcHeight = ROWS;
    copy.srcXInBytes = 4, copy.srcY = 2, copy.srcZ = 1;
    copy.dstMemoryType = CU_MEMORYTYPE_HOST;
    copy.dstHost = back;
    copy.dstPitch = 8;
    copy.dstHeight = 3;
    copy.WidthInBytes = 8, copy.Height = 3, copy.Depth = 2;
    for (int turn = 0; turn < 2; turn++) {
        memset(back, -1, sizeof back);
        CHECK((turn ? cuMemcpy3DAsync(&copy, stream) : cuMemcpy3D(&copy)) == CUDA_SUCCESS);
        CHECK(cuStreamSynchronize(stream) == CUDA_SUCCESS);
        int wrong = back[12] != -1;
        for (int i = 0; i < 12; i++)
            wrong += back[i] != host[(i / 6 + 1) * WIDTH * ROWS + (i / 2 % 3 + 2) * WIDTH + i % 2 + 1];
        CHECK(wrong == 0);
    }
    CHECK(cuMemFree(volume) == CUDA_SUCCESS && cuMemFree(other) == CUDA_SUCCESS);
}

int main(void) {
    CUdevice device;
    CUcontext context;
    CUstream stream;
    for (int i = 0; i < ALL; i++)
        host[i] = 3 * i + 1;
    memset(back, -1, sizeof back);
    CHECK(cuInit(0) == CUDA_SUCCESS && cuDeviceGet(&device, 0) == CUDA_SUCCESS);
    CHECK(cuCtxCreate(&context, 0, device) == CUDA_SUCCESS);
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
    check_rows(stream);
    check_fills(stream);
    check_volumes(context, stream);
    return finish("copies");
}
