/* The driver API's copies and fills of rows and volumes, and between contexts. It is in libcuda alone, where structs are the
 * driver API's; so it is for tools that look at all files alike. */
#undef CUDA_MAJOR
#define CUDA_MAJOR 0
#include "core/cuda/runtime/capture.h"
#include "core/cuda/runtime/node_params.h"

/* CUDA_MEMCPY2D. */
typedef struct {
    size_t x, y;
    int type;
    void *host;
    CUdeviceptr device;
    void *array;
    size_t pitch;
} RowsEnd;
typedef struct {
    RowsEnd from, to;
    size_t width, height;
} RowsParams;

/* --- Copies ------------------------------------------------------------------------------------- */

static bool is_nowhere(const CopyEnd *end) {
    return end->type == MEMORY_HOST ? !end->host : end->type == MEMORY_ARRAY ? !end->array : !end->device;
}

static CUresult copy(const CopyParams *params, void *stream) {
    WarpWork work;
    int problem = driver_enter();
    if (!problem) problem = copy_work(&work, params);
    bool is_empty = problem || !params->width || !params->height || !params->depth;
    if (!is_empty && (is_nowhere(&params->to) || is_nowhere(&params->from))) problem = CUDA_INVALID_VALUE;
    if (!problem) problem = warp_submit(stream, &work);
    return driver_leave(problem);
}

static CopyEnd end_of_rows(const RowsEnd *end) {
    return (CopyEnd){.x = end->x,
                     .y = end->y,
                     .type = end->type,
                     .host = end->host,
                     .device = end->device,
                     .array = end->array,
                     .pitch = end->pitch};
}

static CUresult copy_rows(const RowsParams *rows, void *stream) {
    if (!rows) return copy(NULL, stream);
    const CopyParams params = {end_of_rows(&rows->from), end_of_rows(&rows->to), rows->width, rows->height,
                               1};
    return copy(&params, stream);
}

CUresult cuMemcpy2D_v2(const RowsParams *rows) {
    return copy_rows(rows, WARP_WAIT);
}
CUresult cuMemcpy2DUnaligned_v2(const RowsParams *rows) {
    return copy_rows(rows, WARP_WAIT);
}
CUresult cuMemcpy2DAsync_v2(const RowsParams *rows, CUstream stream) {
    return copy_rows(rows, stream);
}
CUresult cuMemcpy3D_v2(const CopyParams *params) {
    return copy(params, WARP_WAIT);
}
CUresult cuMemcpy3DAsync_v2(const CopyParams *params, CUstream stream) {
    return copy(params, stream);
}

/* All contexts share the memory. */
static CUresult copy_line(CUdeviceptr to, CUdeviceptr from, size_t count, void *stream) {
    const CopyParams params = {{.type = MEMORY_DEVICE, .device = from, .pitch = count},
                               {.type = MEMORY_DEVICE, .device = to, .pitch = count},
                               count,
                               1,
                               1};
    return copy(&params, stream);
}

CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
                      size_t count) {
    (void)to_context, (void)from_context;
    return copy_line(to, from, count, WARP_WAIT);
}
CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
                           size_t count, CUstream stream) {
    (void)to_context, (void)from_context;
    return copy_line(to, from, count, stream);
}

/* --- Fills -------------------------------------------------------------------------------------- */

static CUresult fill(CUdeviceptr to, size_t pitch, uint32_t value, uint32_t bytes, size_t width,
                     size_t height, void *stream) {
    const struct cudaMemsetParams params = {.dst = (void *)to,
                                            .pitch = pitch,
                                            .value = value,
                                            .elementSize = bytes,
                                            .width = width,
                                            .height = height};
    WarpWork work;
    int problem = driver_enter();
    if (!problem) problem = fill_work(&work, &params);
    if (!problem) problem = warp_submit(stream, &work);
    return driver_leave(problem);
}

#define FILLS(bits, Value)                                                                                   \
    CUresult cuMemsetD2D##bits##_v2(CUdeviceptr to, size_t pitch, Value value, size_t width,                 \
                                    size_t height) {                                                         \
        return fill(to, pitch, value, bits / 8, width, height, WARP_WAIT);                                   \
    }                                                                                                        \
    CUresult cuMemsetD2D##bits##Async(CUdeviceptr to, size_t pitch, Value value, size_t width,               \
                                      size_t height, CUstream stream) {                                      \
        return fill(to, pitch, value, bits / 8, width, height, stream);                                      \
    }

FILLS(8, uint8_t)
FILLS(16, uint16_t)
FILLS(32, uint32_t)

ALSO(cuMemcpy2D, cuMemcpy2D_v2)
ALSO(cuMemcpy2DUnaligned, cuMemcpy2DUnaligned_v2)
ALSO(cuMemcpy2DAsync, cuMemcpy2DAsync_v2)
ALSO(cuMemcpy3D, cuMemcpy3D_v2)
ALSO(cuMemcpy3DAsync, cuMemcpy3DAsync_v2)
ALSO(cuMemsetD2D8, cuMemsetD2D8_v2)
ALSO(cuMemsetD2D16, cuMemsetD2D16_v2)
ALSO(cuMemsetD2D32, cuMemsetD2D32_v2)
