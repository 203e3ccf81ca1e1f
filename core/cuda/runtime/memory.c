/* Memory and copies. A copy is done when it is asked for, unless its stream is captured. */
#include "core/cuda/runtime/capture.h"
#include "core/cuda/runtime/memory_pools.h"
#include "core/cuda/runtime/mistakes.h"
#include "core/cuda/runtime/runtime.h"

#include <stdlib.h>
#include <string.h>

enum { PITCH_UNIT = 512 };

static uint64_t pitch_of(uint64_t width) {
    return (width + PITCH_UNIT - 1) / PITCH_UNIT * PITCH_UNIT;
}

/* --- Allocations ------------------------------------------------------------------------------- */

static cudaError_t allocate(void **pointer, size_t bytes, RangeKind kind, unsigned flags) {
    uint64_t address = 0;
    int problem = warp_enter();
    if (!problem && !pointer) problem = CUDA_INVALID_VALUE;
    if (!problem && bytes) problem = warp_alloc(bytes, kind, flags, &address);
    if (!problem) *pointer = (void *)address;
    return runtime_leave(problem);
}

static cudaError_t release(void *pointer, bool is_host) {
    int problem = warp_enter();
    if (!problem && pointer) {
        const WarpRange *range = warp_range((uint64_t)pointer);
        bool is_mapped = range && range->kind == RANGE_MAPPED;
        bool is_right = range && is_mapped == is_host;
        if (!is_right) warp_tell_free((uint64_t)pointer);
        problem = is_right ? warp_release((uint64_t)pointer) : CUDA_INVALID_VALUE;
    }
    return runtime_leave(problem);
}

cudaError_t cudaMalloc(void **pointer, size_t bytes) {
    return allocate(pointer, bytes, RANGE_DEVICE, 0);
}
cudaError_t cudaMallocManaged(void **pointer, size_t bytes, unsigned int flags) {
    return allocate(pointer, bytes, RANGE_MANAGED, flags);
}
cudaError_t cudaMallocHost(void **pointer, size_t bytes) {
    return allocate(pointer, bytes, RANGE_MAPPED, 0);
}
cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned int flags) {
    return allocate(pointer, bytes, RANGE_MAPPED, flags);
}
cudaError_t cudaFree(void *pointer) {
    return release(pointer, false);
}
cudaError_t cudaFreeHost(void *pointer) {
    return release(pointer, true);
}

cudaError_t cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height) {
    if (!pitch || (height && width > SIZE_MAX / 2 / height)) return runtime_note(CUDA_INVALID_VALUE);
    *pitch = pitch_of(width);
    return allocate(pointer, *pitch * height, RANGE_DEVICE, 0);
}

cudaError_t cudaMalloc3D(struct cudaPitchedPtr *pitched, struct cudaExtent extent) {
    if (!pitched) return runtime_note(CUDA_INVALID_VALUE);
    pitched->pitch = pitch_of(extent.width);
    pitched->xsize = extent.width;
    pitched->ysize = extent.height;
    return allocate(&pitched->ptr, pitched->pitch * extent.height * extent.depth, RANGE_DEVICE, 0);
}

cudaError_t cudaHostRegister(void *pointer, size_t bytes, unsigned int flags) {
    int problem = warp_enter();
    if (!problem) problem = pointer && bytes ? warp_register(pointer, bytes, flags) : CUDA_INVALID_VALUE;
    return runtime_leave(problem);
}

cudaError_t cudaHostUnregister(void *pointer) {
    int problem = warp_enter();
    if (!problem) problem = warp_unregister(pointer);
    return runtime_leave(problem);
}

cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned int flags) {
    (void)flags;
    int problem = warp_enter();
    const WarpRange *range = problem ? NULL : warp_range((uint64_t)host);
    bool good = range && (range->kind == RANGE_MAPPED || range->kind == RANGE_REGISTERED);
    if (!problem && (!good || !device)) problem = CUDA_INVALID_VALUE;
    if (!problem) *device = (void *)(range->device + ((uint64_t)host - range->start));
    return runtime_leave(problem);
}

cudaError_t cudaHostGetFlags(unsigned int *flags, void *host) {
    int problem = warp_enter();
    const WarpRange *range = problem ? NULL : warp_range((uint64_t)host);
    if (!problem && (!range || !flags)) problem = CUDA_INVALID_VALUE;
    if (!problem) *flags = range->flags | (range->kind == RANGE_MAPPED ? cudaHostAllocMapped : 0);
    return runtime_leave(problem);
}

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes) {
    uint64_t free_now = 0, total = 0;
    int problem = warp_enter();
    if (!problem) problem = warp_memory_info(&free_now, &total);
    if (!problem && free_bytes) *free_bytes = free_now;
    if (!problem && total_bytes) *total_bytes = total;
    return runtime_leave(problem);
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *pointer) {
    static const enum cudaMemoryType types[] = {
        [RANGE_DEVICE] = cudaMemoryTypeDevice,       [RANGE_MAPPED] = cudaMemoryTypeHost,
        [RANGE_MANAGED] = cudaMemoryTypeManaged,     [RANGE_CHUNK] = cudaMemoryTypeDevice,
        [RANGE_VARIABLE] = cudaMemoryTypeDevice,     [RANGE_REGISTERED] = cudaMemoryTypeHost,
        [RANGE_MANAGED_COPY] = cudaMemoryTypeManaged};
    int problem = warp_enter();
    if (!problem && !attributes) problem = CUDA_INVALID_VALUE;
    if (!problem) {
        const WarpRange *range = warp_range((uint64_t)pointer);
        uint64_t offset = range ? (uint64_t)pointer - range->start : 0;
        bool is_host = !range || (range->kind != RANGE_DEVICE && range->kind != RANGE_CHUNK);
        memset(attributes, 0, sizeof *attributes);
        attributes->type = range ? types[range->kind] : cudaMemoryTypeUnregistered;
        attributes->device = range ? 0 : -2;
        attributes->devicePointer = range ? (void *)(range->device + offset) : NULL;
        attributes->hostPointer = is_host ? (void *)(uintptr_t)pointer : NULL;
    }
    return runtime_leave(problem);
}

/* --- Copies ------------------------------------------------------------------------------------ */

static WarpPlace place(const void *pointer, uint64_t row, uint64_t slice) {
    return (WarpPlace){(uint64_t)pointer, row, slice};
}

static bool is_of_device(uint64_t address) {
    const WarpRange *range = warp_range(address);
    return address - warp_device()->memory_base < warp_device()->memory_bytes ||
           (range && range->kind == RANGE_MANAGED_COPY);
}

/* Where the pointers lie is plain from themselves; the kind must agree with that. */
static bool agrees(enum cudaMemcpyKind kind, uint64_t to, uint64_t from) {
    bool to_device = is_of_device(to), from_device = is_of_device(from);
    switch (kind) {
    case cudaMemcpyHostToDevice: return to_device;
    case cudaMemcpyDeviceToHost: return from_device;
    case cudaMemcpyDeviceToDevice: return to_device && from_device;
    case cudaMemcpyHostToHost:
    case cudaMemcpyDefault: return true;
    default: return false;
    }
}

int runtime_check_copy(const WorkCopy *copy) {
    const WarpPlace *to = &copy->to, *from = &copy->from;
    bool is_empty = !copy->width || !copy->rows || !copy->slices;
    bool is_direction = (unsigned)copy->direction <= cudaMemcpyDefault;
    bool is_good = is_direction &&
                   (is_empty || (to->address && from->address &&
                                 agrees((enum cudaMemcpyKind)copy->direction, to->address, from->address)));
    if (!is_good) {
        warp_tell_direction(copy->direction, to->address, from->address);
        return is_direction ? CUDA_INVALID_VALUE : (int)cudaErrorInvalidMemcpyDirection;
    }
    if (copy->rows > 1 && (copy->width > to->row || copy->width > from->row)) return CUDA_INVALID_PITCH;
    return CUDA_OK;
}

static cudaError_t submit_copy(const WorkCopy *copy, void *stream) {
    const WarpWork work = {.kind = WORK_COPY, .copy = *copy};
    int problem = warp_enter();
    if (!problem) problem = runtime_check_copy(copy);
    if (!problem) problem = warp_submit(stream, &work);
    return runtime_leave(problem);
}

static cudaError_t copy_line(void *to, const void *from, size_t count, enum cudaMemcpyKind kind,
                             void *stream) {
    const WorkCopy copy = {place(to, 0, 0), place(from, 0, 0), count, 1, 1, .direction = (int)kind};
    return submit_copy(&copy, stream);
}

cudaError_t runtime_copy_rows(WarpPlace to, WarpPlace from, size_t width, size_t height,
                              enum cudaMemcpyKind kind, void *stream) {
    const WorkCopy copy = {to, from, width, height, 1, .direction = (int)kind};
    if (width > to.row || width > from.row) return runtime_note(CUDA_INVALID_PITCH);
    return submit_copy(&copy, stream);
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t count, enum cudaMemcpyKind kind) {
    return copy_line(to, from, count, kind, WARP_WAIT);
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t count, enum cudaMemcpyKind kind,
                            cudaStream_t stream) {
    return copy_line(to, from, count, kind, stream);
}
cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t count) {
    if (to_device || from_device) return runtime_note(CUDA_INVALID_DEVICE);
    return cudaMemcpy(to, from, count, cudaMemcpyDeviceToDevice);
}
cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t count,
                                cudaStream_t stream) {
    if (to_device || from_device) return runtime_note(CUDA_INVALID_DEVICE);
    return cudaMemcpyAsync(to, from, count, cudaMemcpyDeviceToDevice, stream);
}
cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                         size_t height, enum cudaMemcpyKind kind) {
    return runtime_copy_rows(place(to, to_pitch, 0), place(from, from_pitch, 0), width, height, kind,
                             WARP_WAIT);
}
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                              size_t height, enum cudaMemcpyKind kind, cudaStream_t stream) {
    return runtime_copy_rows(place(to, to_pitch, 0), place(from, from_pitch, 0), width, height, kind, stream);
}

/* One end of a 3D copy: an array, whose positions and extents are in elements, or memory, where they are bytes. */
static WarpPlace end_of_copy(const struct cudaArray *array, struct cudaPitchedPtr pointer,
                             struct cudaPos at) {
    if (array)
        return place((void *)(array->address + at.z * array->slice + at.y * array->pitch +
                              at.x * array->element_bytes),
                     array->pitch, array->slice);
    uint64_t slice = pointer.pitch * pointer.ysize;
    return place((uint8_t *)pointer.ptr + at.z * slice + at.y * pointer.pitch + at.x, pointer.pitch, slice);
}

static bool is_good_end(const struct cudaArray *array, struct cudaPos at, struct cudaExtent extent) {
    return !array || (warp_array(array) && warp_array_has(array, at, extent));
}

int runtime_copy_of(WorkCopy *copy, const struct cudaMemcpy3DParms *p) {
    if (!is_good_end(p->srcArray, p->srcPos, p->extent) || !is_good_end(p->dstArray, p->dstPos, p->extent))
        return CUDA_INVALID_VALUE;
    const struct cudaArray *array = p->srcArray ? p->srcArray : p->dstArray;
    *copy = (WorkCopy){.to = end_of_copy(p->dstArray, p->dstPtr, p->dstPos),
                       .from = end_of_copy(p->srcArray, p->srcPtr, p->srcPos),
                       .width = p->extent.width * (array ? array->element_bytes : 1),
                       .rows = p->extent.height,
                       .slices = p->extent.depth,
                       .direction = (int)p->kind,
                       .is_asked = true,
                       .asked = *p};
    return CUDA_OK;
}

static cudaError_t copy_volume(const struct cudaMemcpy3DParms *p, void *stream) {
    WorkCopy copy;
    if (!p) return runtime_note(CUDA_INVALID_VALUE);
    int problem = runtime_copy_of(&copy, p);
    if (problem) return runtime_note(problem);
    return submit_copy(&copy, stream);
}

static cudaError_t copy_of_peers(const struct cudaMemcpy3DPeerParms *p, void *stream) {
    if (!p) return runtime_note(CUDA_INVALID_VALUE);
    if (p->srcDevice || p->dstDevice) return runtime_note(CUDA_INVALID_DEVICE);
    const struct cudaMemcpy3DParms of_one = {.srcArray = p->srcArray,
                                             .srcPos = p->srcPos,
                                             .srcPtr = p->srcPtr,
                                             .dstArray = p->dstArray,
                                             .dstPos = p->dstPos,
                                             .dstPtr = p->dstPtr,
                                             .extent = p->extent,
                                             .kind = cudaMemcpyDeviceToDevice};
    return copy_volume(&of_one, stream);
}

cudaError_t cudaMemcpy3DPeer(const struct cudaMemcpy3DPeerParms *p) {
    return copy_of_peers(p, WARP_WAIT);
}
cudaError_t cudaMemcpy3DPeerAsync(const struct cudaMemcpy3DPeerParms *p, cudaStream_t stream) {
    return copy_of_peers(p, stream);
}

cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *p) {
    return copy_volume(p, WARP_WAIT);
}
cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p, cudaStream_t stream) {
    return copy_volume(p, stream);
}

/* --- Fills ------------------------------------------------------------------------------------- */

static cudaError_t fill(WarpPlace to, int value, uint64_t width, uint64_t rows, uint64_t slices,
                        void *stream) {
    const WarpWork work = {.kind = WORK_FILL, .fill = {to, (uint8_t)value, 1, width, rows, slices}};
    int problem = warp_enter();
    if (!problem) problem = warp_submit(stream, &work);
    return runtime_leave(problem);
}

static cudaError_t fill_rows(void *to, size_t pitch, int value, size_t width, size_t height, void *stream) {
    if (width > pitch) return runtime_note(CUDA_INVALID_PITCH);
    return fill(place(to, pitch, 0), value, width, height, 1, stream);
}

static cudaError_t fill_volume(struct cudaPitchedPtr to, int value, struct cudaExtent extent, void *stream) {
    return fill(place(to.ptr, to.pitch, to.pitch * to.ysize), value, extent.width, extent.height,
                extent.depth, stream);
}

cudaError_t cudaMemset(void *to, int value, size_t count) {
    return fill(place(to, 0, 0), value, count, 1, 1, WARP_WAIT);
}
cudaError_t cudaMemsetAsync(void *to, int value, size_t count, cudaStream_t stream) {
    return fill(place(to, 0, 0), value, count, 1, 1, stream);
}
cudaError_t cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height) {
    return fill_rows(to, pitch, value, width, height, WARP_WAIT);
}
cudaError_t cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream) {
    return fill_rows(to, pitch, value, width, height, stream);
}
cudaError_t cudaMemset3D(struct cudaPitchedPtr to, int value, struct cudaExtent extent) {
    return fill_volume(to, value, extent, WARP_WAIT);
}
cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr to, int value, struct cudaExtent extent,
                              cudaStream_t stream) {
    return fill_volume(to, value, extent, stream);
}

/* --- Symbols ----------------------------------------------------------------------------------- */

int runtime_symbol_copy(WorkCopy *copy, const void *symbol, const void *other, size_t count, size_t offset,
                        enum cudaMemcpyKind kind, bool to_symbol) {
    uint64_t address, bytes;
    int problem = runtime_symbol(symbol, &address, &bytes);
    if (problem) return problem;
    if (offset > bytes || count > bytes - offset) {
        warp_tell_bytes(to_symbol ? "copy to" : "copy from", address + offset, count);
        return CUDA_INVALID_VALUE;
    }
    WarpPlace inside = {address + offset, 0, 0}, outside = place(other, 0, 0);
    *copy = (WorkCopy){to_symbol ? inside : outside, to_symbol ? outside : inside, count, 1, 1,
                       .direction = (int)kind};
    return runtime_check_copy(copy);
}

static cudaError_t copy_symbol(const void *symbol, const void *other, size_t count, size_t offset,
                               enum cudaMemcpyKind kind, bool to_symbol, void *stream) {
    WarpWork work = {.kind = WORK_COPY};
    int problem = warp_enter();
    if (!problem) problem = runtime_symbol_copy(&work.copy, symbol, other, count, offset, kind, to_symbol);
    if (!problem) problem = warp_submit(stream, &work);
    return runtime_leave(problem);
}

cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, size_t count, size_t offset,
                               enum cudaMemcpyKind kind) {
    return copy_symbol(symbol, from, count, offset, kind, true, WARP_WAIT);
}
cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t count, size_t offset,
                                    enum cudaMemcpyKind kind, cudaStream_t stream) {
    return copy_symbol(symbol, from, count, offset, kind, true, stream);
}
cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t count, size_t offset,
                                 enum cudaMemcpyKind kind) {
    return copy_symbol(symbol, to, count, offset, kind, false, WARP_WAIT);
}
cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t count, size_t offset,
                                      enum cudaMemcpyKind kind, cudaStream_t stream) {
    return copy_symbol(symbol, to, count, offset, kind, false, stream);
}

cudaError_t cudaGetSymbolAddress(void **pointer, const void *symbol) {
    uint64_t address, bytes;
    int problem = warp_enter();
    if (!problem) problem = runtime_symbol(symbol, &address, &bytes);
    if (!problem) *pointer = (void *)address;
    return runtime_leave(problem);
}

cudaError_t cudaGetSymbolSize(size_t *size, const void *symbol) {
    uint64_t address, bytes;
    int problem = warp_enter();
    if (!problem) problem = runtime_symbol(symbol, &address, &bytes);
    if (!problem) *size = bytes;
    return runtime_leave(problem);
}
