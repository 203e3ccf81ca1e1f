/* The driver API: words that a stream writes, and for which it waits. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#include "core/cuda/runtime/capture.h"
#include "core/cuda/runtime/driver.h"

enum { WORD = 4 };

/* --- Writes -------------------------------------------------------------------------------------- */

static int write_word(CUstream stream, CUdeviceptr address, uint32_t value) {
    const WarpWork work = {.kind = WORK_FILL, .fill = {{address, WORD, 0}, value, WORD, WORD, 1, 1}};
    return warp_submit(stream, &work);
}

static CUresult write_value(CUstream stream, CUdeviceptr address, uint64_t value, uint32_t bytes) {
    int problem = driver_enter();
    if (!problem && (!address || address % bytes)) problem = CUDA_INVALID_VALUE;
    for (uint32_t at = 0; at < bytes && !problem; at += WORD)
        problem = write_word(stream, address + at, (uint32_t)(value >> 8 * at));
    return driver_leave(problem);
}

CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr address, uint32_t value, unsigned flags) {
    (void)flags; /* fences, which the order of streams has */
    return write_value(stream, address, value, 4);
}
CUresult cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr address, uint64_t value, unsigned flags) {
    (void)flags;
    return write_value(stream, address, value, 8);
}

/* --- Waits --------------------------------------------------------------------------------------- */

enum { WAIT_FLUSH = 1 << 30 };

static CUresult wait_value(CUstream stream, CUdeviceptr address, uint64_t value, uint32_t bytes,
                           unsigned flags) {
    CaptureInfo info;
    unsigned how = flags & ~(unsigned)WAIT_FLUSH;
    int problem = driver_enter();
    if (!problem && (!address || address % bytes || how >= VALUE_KINDS)) problem = CUDA_INVALID_VALUE;
    if (!problem) problem = warp_capture_info(stream, &info);
    if (!problem && info.status != CAPTURE_NONE) problem = CUDA_CAPTURE_UNSUPPORTED;
    const WarpWork work = {.kind = WORK_VALUE, .value = {address, value, bytes, (ValueKind)how}};
    if (!problem) problem = warp_submit(stream, &work);
    return driver_leave(problem);
}

CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr address, uint32_t value, unsigned flags) {
    return wait_value(stream, address, value, 4, flags);
}
CUresult cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr address, uint64_t value, unsigned flags) {
    return wait_value(stream, address, value, 8, flags);
}

/* --- Several ------------------------------------------------------------------------------------- */

/* CUstreamBatchMemOpParams. */
typedef union {
    int operation;
    struct {
        int operation;
        CUdeviceptr address;
        uint64_t value;
        unsigned flags;
        CUdeviceptr alias;
    } value;
    uint64_t pad[6];
} BatchOperation;

enum { WAIT_32 = 1, WRITE_32, FLUSH_REMOTE_WRITES, WAIT_64, WRITE_64, BARRIER };

CUresult cuStreamBatchMemOp_v2(CUstream stream, unsigned count, const BatchOperation *list, unsigned flags) {
    CUresult problem = CUDA_OK;
    if (flags || !list || count > 256) return CUDA_INVALID_VALUE;
    for (unsigned i = 0; i < count && !problem; i++) {
        const CUdeviceptr address = list[i].value.address;
        const uint64_t value = list[i].value.value;
        switch (list[i].operation) {
        case WAIT_32: problem = wait_value(stream, address, (uint32_t)value, 4, list[i].value.flags); break;
        case WAIT_64: problem = wait_value(stream, address, value, 8, list[i].value.flags); break;
        case WRITE_32: problem = write_value(stream, address, value, 4); break;
        case WRITE_64: problem = write_value(stream, address, value, 8); break;
        case FLUSH_REMOTE_WRITES:
        case BARRIER: break;
        default: problem = CUDA_INVALID_VALUE;
        }
    }
    return problem;
}

ALSO(cuStreamWriteValue32, cuStreamWriteValue32_v2)
ALSO(cuStreamWriteValue64, cuStreamWriteValue64_v2)
ALSO(cuStreamWaitValue32, cuStreamWaitValue32_v2)
ALSO(cuStreamWaitValue64, cuStreamWaitValue64_v2)
ALSO(cuStreamBatchMemOp, cuStreamBatchMemOp_v2)
