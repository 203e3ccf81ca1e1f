#include "core/cuda/runtime/work.h"

#include "core/cuda/runtime/graph.h"
#include "core/cuda/runtime/memory_pools.h"
#include "core/cuda/runtime/streams.h"

#include <stdlib.h>
#include <string.h>

/* --- Arguments --------------------------------------------------------------------------------- */

const void *warp_packed_arguments(void *const *extra, size_t *bytes) {
    const uintptr_t end = 0, buffer = 1, size = 2;
    const void *found = NULL;
    for (; extra && (uintptr_t)*extra != end; extra += 2) {
        if ((uintptr_t)*extra == buffer) found = extra[1];
        if ((uintptr_t)*extra == size) *bytes = *(const size_t *)extra[1];
    }
    return found;
}

/* --- Doing ------------------------------------------------------------------------------------- */

static _Thread_local unsigned host_functions;

bool warp_in_host_function(void) {
    return host_functions != 0;
}

/* The function may call CUDA. */
static int call_host(const WorkHost *host) {
    WorkHost call = *host;
    warp_leave();
    host_functions++;
    call.function(call.data);
    host_functions--;
    return warp_enter();
}

static int allocate(const WorkMemory *memory) {
    return memory->memory ? warp_graph_memory_use(memory->memory)
                          : warp_pool_alloc(memory->pool, memory->bytes, memory->result);
}

static int release(const WorkMemory *memory) {
    return memory->memory ? warp_graph_memory_unuse(memory->memory) : warp_release_async(memory->address);
}

int warp_work_do(const WarpWork *work) {
    const WorkKernel *kernel = &work->kernel;
    const WorkCopy *copy = &work->copy;
    const WorkFill *fill = &work->fill;
    switch (work->kind) {
    case WORK_KERNEL:
        return warp_launch(kernel->function, &kernel->shape, kernel->params, kernel->packed,
                           kernel->packed_bytes);
    case WORK_COPY: return warp_copy(copy->to, copy->from, copy->width, copy->rows, copy->slices);
    case WORK_FILL:
        return warp_fill(fill->to, fill->value, fill->value_bytes, fill->width, fill->rows, fill->slices);
    case WORK_HOST: return call_host(&work->host);
    case WORK_GRAPH: return warp_graph_run(work->graph);
    case WORK_RECORD: return warp_event_record(work->event, warp_cycle());
    case WORK_ALLOC: return allocate(&work->memory);
    case WORK_FREE: return release(&work->memory);
    case WORK_EMPTY:
    case WORK_HOLD:
    case WORK_VALUE:
    case WORK_WAIT: break;
    }
    return CUDA_OK;
}

/* --- Words that are waited for -------------------------------------------------------------------- */

static bool holds_with(const WorkValue *value, uint64_t found) {
    uint64_t mask = value->bytes == 8 ? UINT64_MAX : UINT32_MAX, sign = (mask >> 1) + 1;
    switch (value->how) {
    case VALUE_GREATER: return !((found - value->value) & sign);
    case VALUE_EQUAL: return found == value->value;
    case VALUE_AND: return (found & value->value) != 0;
    default: return (~(found | value->value) & mask) != 0;
    }
}

int warp_value_holds(const WorkValue *value, bool *holds) {
    uint64_t found = 0;
    int problem = warp_copy((WarpPlace){(uint64_t)&found, value->bytes, 0},
                            (WarpPlace){value->address, value->bytes, 0}, value->bytes, 1, 1);
    *holds = !problem && holds_with(value, found);
    return problem;
}

bool warp_value_seems_to_hold(const WorkValue *value) {
    uint64_t found = 0;
    const uint8_t *bytes = warp_bytes(value->address, value->bytes);
    memcpy(&found, bytes ? bytes : (const uint8_t *)value->address, value->bytes);
    return holds_with(value, found);
}

/* --- Keeping ----------------------------------------------------------------------------------- */

/* One block: the pointers, and behind them the arguments as the kernel lays them out. */
static int keep_arguments(WorkKernel *kept, const WorkKernel *kernel) {
    const WarpFunction *function = kernel->function;
    size_t pointers = function->param_count * sizeof(void *);
    void **block = calloc(1, pointers + function->param_bytes + 1);
    if (!block) return CUDA_MEMORY_ALLOCATION;
    uint8_t *bytes = (uint8_t *)block + pointers;
    if (!kernel->params && kernel->packed)
        memcpy(bytes, kernel->packed,
               kernel->packed_bytes < function->param_bytes ? kernel->packed_bytes : function->param_bytes);
    for (uint32_t i = 0; i < function->param_count; i++) {
        block[i] = bytes + function->params[i].offset;
        if (kernel->params) memcpy(block[i], kernel->params[i], function->params[i].bytes);
    }
    kept->params = block;
    kept->packed = NULL;
    return CUDA_OK;
}

static int keep_kernel(WorkKernel *kept, const WorkKernel *kernel) {
    if (!kernel->function) return CUDA_INVALID_DEVICE_FUNCTION;
    int problem = warp_check_launch(kernel->function, &kernel->shape, kernel->params || kernel->packed);
    return problem ? problem : keep_arguments(kept, kernel);
}

static int keep_memory(WorkMemory *kept, const WarpWork *work) {
    if (work->kind == WORK_FREE)
        kept->memory = warp_graph_memory(work->memory.address);
    else
        kept->memory = warp_graph_memory_new(work->memory.bytes);
    if (!kept->memory) return work->kind == WORK_FREE ? CUDA_INVALID_VALUE : CUDA_MEMORY_ALLOCATION;
    if (work->kind == WORK_FREE) warp_graph_memory_retain(kept->memory);
    kept->address = warp_graph_memory_address(kept->memory);
    if (kept->result) *kept->result = kept->address;
    kept->result = NULL;
    return CUDA_OK;
}

int warp_work_keep(WarpWork *kept, const WarpWork *work) {
    *kept = *work;
    switch (work->kind) {
    case WORK_KERNEL: return keep_kernel(&kept->kernel, &work->kernel);
    case WORK_GRAPH:
        if (warp_graph_has_memory(work->graph)) return CUDA_NOT_SUPPORTED;
        return warp_graph_clone(work->graph, &kept->graph);
    case WORK_HOST: return work->host.function ? CUDA_OK : CUDA_INVALID_VALUE;
    case WORK_WAIT:
    case WORK_RECORD: return warp_event(work->event) ? CUDA_OK : CUDA_INVALID_HANDLE;
    case WORK_ALLOC:
    case WORK_FREE: return keep_memory(&kept->memory, work);
    case WORK_HOLD: warp_graph_memory_retain(kept->memory.memory); return CUDA_OK;
    default: return CUDA_OK;
    }
}

int warp_work_copy(WarpWork *copy, const WarpWork *kept) {
    *copy = *kept;
    if (kept->kind == WORK_KERNEL) return keep_kernel(&copy->kernel, &kept->kernel);
    if (kept->kind == WORK_GRAPH) return warp_graph_clone(kept->graph, &copy->graph);
    if (kept->kind == WORK_ALLOC || kept->kind == WORK_FREE) warp_graph_memory_retain(copy->memory.memory);
    return CUDA_OK;
}

void warp_work_free(WarpWork *kept) {
    if (kept->kind == WORK_KERNEL) free((void *)(uintptr_t)kept->kernel.params);
    if (kept->kind == WORK_GRAPH) warp_graph_free(kept->graph);
    if (kept->kind == WORK_ALLOC || kept->kind == WORK_FREE || kept->kind == WORK_HOLD)
        warp_graph_memory_release(kept->memory.memory);
}
