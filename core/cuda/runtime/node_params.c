#include "core/cuda/runtime/node_params.h"

#include "core/cuda/runtime/arrays.h"
#include "core/cuda/runtime/graph_exec.h"

#include <string.h>

/* --- Kernels ------------------------------------------------------------------------------------ */

int kernel_work(WarpWork *work, const struct cudaKernelNodeParams *params) {
    if (!params) return CUDA_INVALID_VALUE;
    const dim3 *grid = &params->gridDim, *block = &params->blockDim;
    *work = (WarpWork){.kind = WORK_KERNEL};
    WorkKernel *kernel = &work->kernel;
#if CUDA_MAJOR
    kernel->function = runtime_function(params->func);
#else
    kernel->function = warp_known_function(params->func);
#endif
    kernel->shape = (WarpLaunch){
        {grid->x, grid->y, grid->z}, {block->x, block->y, block->z}, params->sharedMemBytes, false};
    kernel->params = params->kernelParams;
    kernel->packed = warp_packed_arguments(params->extra, &kernel->packed_bytes);
    return CUDA_OK;
}

void kernel_params(const WarpWork *work, struct cudaKernelNodeParams *params) {
    const WorkKernel *kernel = &work->kernel;
    const uint32_t *grid = kernel->shape.grid, *block = kernel->shape.block;
    bool is_symbol = CUDA_MAJOR && kernel->function->symbol;
    *params = (struct cudaKernelNodeParams){
        .func = is_symbol ? (void *)(uintptr_t)kernel->function->symbol : (void *)kernel->function,
        .gridDim = {grid[0], grid[1], grid[2]},
        .blockDim = {block[0], block[1], block[2]},
        .sharedMemBytes = (unsigned)kernel->shape.shared_bytes,
        .kernelParams = (void **)(uintptr_t)kernel->params,
    };
}

/* --- Copies ------------------------------------------------------------------------------------- */

static size_t rows_of(WarpPlace place, uint64_t rows) {
    return place.row ? (size_t)(place.slice / place.row) : (size_t)rows;
}

#if CUDA_MAJOR

int copy_work(WarpWork *work, const CopyParams *params) {
    if (!params) return CUDA_INVALID_VALUE;
    *work = (WarpWork){.kind = WORK_COPY};
    int problem = runtime_copy_of(&work->copy, params);
    return problem ? problem : runtime_check_copy(&work->copy);
}

static struct cudaPitchedPtr pitched(WarpPlace place, const WorkCopy *copy) {
    return (struct cudaPitchedPtr){(void *)place.address, place.row ? place.row : copy->width, copy->width,
                                   rows_of(place, copy->rows)};
}

void copy_params(const WarpWork *work, CopyParams *params) {
    const WorkCopy *copy = &work->copy;
    *params = copy->is_asked ? copy->asked
                             : (CopyParams){.srcPtr = pitched(copy->from, copy),
                                            .dstPtr = pitched(copy->to, copy),
                                            .extent = {copy->width, copy->rows, copy->slices},
                                            .kind = (enum cudaMemcpyKind)copy->direction};
}

#else

static bool has_box(const struct cudaArray *array, const CopyEnd *end, const CopyParams *params) {
    const uint64_t slices = at_least_one(array->extent.depth);
    return warp_array_has_rows(array, end->x, end->y, params->width, params->height) &&
           params->depth <= slices && end->z <= slices - params->depth;
}

static int place_of(WarpPlace *place, const CopyEnd *end, const CopyParams *params) {
    uint64_t start = end->type == MEMORY_HOST ? (uint64_t)end->host : end->device, row = end->pitch;
    uint64_t slice = row * end->height;
    if (end->type == MEMORY_ARRAY) {
        const struct cudaArray *array = warp_array(end->array);
        if (!array || !has_box(array, end, params)) return CUDA_INVALID_VALUE;
        start = array->address, row = array->pitch, slice = array->slice;
    } else if (end->type < MEMORY_HOST || end->type > MEMORY_UNIFIED) {
        return CUDA_INVALID_VALUE;
    }
    *place = (WarpPlace){start + end->z * slice + end->y * row + end->x, row, slice};
    return CUDA_OK;
}

static bool is_in_device(uint64_t address) {
    return address - warp_device()->memory_base < warp_device()->memory_bytes;
}

int copy_work(WarpWork *work, const CopyParams *params) {
    if (!params) return CUDA_INVALID_VALUE;
    *work = (WarpWork){.kind = WORK_COPY};
    WorkCopy *copy = &work->copy;
    *copy = (WorkCopy){.width = params->width, .rows = params->height, .slices = params->depth};
    int problem = place_of(&copy->to, &params->to, params);
    if (!problem) problem = place_of(&copy->from, &params->from, params);
    if (problem) return problem;
    copy->direction = (is_in_device(copy->from.address) ? cudaMemcpyDeviceToHost : 0) +
                      (is_in_device(copy->to.address) ? cudaMemcpyHostToDevice : 0);
    if (copy->rows > 1 && (copy->width > copy->to.row || copy->width > copy->from.row))
        return CUDA_INVALID_VALUE;
    return CUDA_OK;
}

static CopyEnd end_of(WarpPlace place, const WorkCopy *copy) {
    bool is_device = is_in_device(place.address);
    return (CopyEnd){.type = is_device ? MEMORY_DEVICE : MEMORY_HOST,
                     .host = is_device ? NULL : (void *)place.address,
                     .device = is_device ? place.address : 0,
                     .pitch = place.row ? place.row : copy->width,
                     .height = rows_of(place, copy->rows)};
}

void copy_params(const WarpWork *work, CopyParams *params) {
    const WorkCopy *copy = &work->copy;
    *params = (CopyParams){end_of(copy->from, copy), end_of(copy->to, copy), copy->width, copy->rows,
                           copy->slices};
}

#endif

/* --- The others --------------------------------------------------------------------------------- */

int fill_work(WarpWork *work, const struct cudaMemsetParams *params) {
    if (!params) return CUDA_INVALID_VALUE;
    unsigned bytes = params->elementSize;
    if ((bytes != 1 && bytes != 2 && bytes != 4) || params->width > SIZE_MAX / bytes)
        return CUDA_INVALID_VALUE;
    if (params->height > 1 && params->width * bytes > params->pitch) return CUDA_INVALID_VALUE;
    *work = (WarpWork){.kind = WORK_FILL,
                       .fill = {{(uint64_t)params->dst, params->pitch, 0},
                                params->value,
                                bytes,
                                params->width * bytes,
                                params->height,
                                1}};
    return CUDA_OK;
}

void fill_params(const WarpWork *work, struct cudaMemsetParams *params) {
    const WorkFill *fill = &work->fill;
    *params = (struct cudaMemsetParams){.dst = (void *)fill->to.address,
                                        .pitch = fill->to.row,
                                        .value = fill->value,
                                        .elementSize = fill->value_bytes,
                                        .width = fill->width / fill->value_bytes,
                                        .height = fill->rows};
}

int host_work(WarpWork *work, const struct cudaHostNodeParams *params) {
    if (!params) return CUDA_INVALID_VALUE;
    *work = (WarpWork){.kind = WORK_HOST, .host = {params->fn, params->userData}};
    return CUDA_OK;
}

void host_params(const WarpWork *work, struct cudaHostNodeParams *params) {
    *params = (struct cudaHostNodeParams){work->host.function, work->host.data};
}

int alloc_work(WarpWork *work, struct cudaMemAllocNodeParams *params, uint64_t *address) {
    if (!params || !params->bytesize) return CUDA_INVALID_VALUE;
    const struct cudaMemPoolProps *props = &params->poolProps;
    if (props->allocType != cudaMemAllocationTypePinned ||
        props->location.type != cudaMemLocationTypeDevice || props->location.id)
        return CUDA_INVALID_VALUE;
    *work = (WarpWork){.kind = WORK_ALLOC, .memory = {.bytes = params->bytesize, .result = address}};
    return CUDA_OK;
}

void alloc_params(const WarpWork *work, struct cudaMemAllocNodeParams *params) {
    *params = (struct cudaMemAllocNodeParams){.bytesize = work->memory.bytes,
                                              .dptr = (void *)work->memory.address};
    params->poolProps.allocType = cudaMemAllocationTypePinned;
    params->poolProps.location.type = cudaMemLocationTypeDevice;
}

int graph_work(WarpWork *work, cudaGraph_t graph) {
    *work = (WarpWork){.kind = WORK_GRAPH, .graph = warp_graph(graph)};
    return work->graph && !work->graph->is_captured ? CUDA_OK : CUDA_INVALID_VALUE;
}

/* --- Nodes -------------------------------------------------------------------------------------- */

int add_node(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies, size_t count,
             const WarpWork *work) {
    WarpNodeSet set;
    if (!node || !warp_graph(graph) || node_list(&set, dependencies, count)) return CUDA_INVALID_VALUE;
    return warp_graph_add(warp_graph(graph), &set, work, (WarpNode **)node);
}

/* Attributes of a kernel's launch are no parameters, and stay. */
static int change(WarpNode *node, const WarpWork *work) {
    WarpWork changed = *work;
    if (!node) return CUDA_INVALID_VALUE;
    if (work->kind == WORK_KERNEL && node->work.kind == WORK_KERNEL)
        changed.kernel.shape.is_cooperative = node->work.kernel.shape.is_cooperative;
    return warp_node_change(node, &changed);
}

int change_node(cudaGraphNode_t node, const WarpWork *work) {
    return change(warp_node(node), work);
}

int change_launched(cudaGraphExec_t handle, cudaGraphNode_t node, const WarpWork *work) {
    WarpExec *exec = warp_exec(handle);
    WarpNode *launched = exec && warp_node(node) ? warp_exec_node(exec, warp_node(node)) : NULL;
    return change(launched, work);
}
