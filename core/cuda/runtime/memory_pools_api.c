/* Memory in the order of streams, and its pools. */
#include "core/cuda/runtime/both_apis.h"
#include "core/cuda/runtime/capture.h"
#include "core/cuda/runtime/memory_pools.h"

#if CUDA_MAJOR
typedef void *Address;
#else
typedef CUdeviceptr Address;
#endif

/* --- Allocations -------------------------------------------------------------------------------- */

/* In a captured stream it is memory of the graph, whatever the pool. */
static int allocate(Address *result, size_t bytes, WarpPool *pool, cudaStream_t stream) {
    uint64_t address = 0;
    const WarpWork work = {.kind = WORK_ALLOC, .memory = {.pool = pool, .bytes = bytes, .result = &address}};
    int problem = pool && result ? CUDA_OK : CUDA_INVALID_VALUE;
    if (!problem && bytes) problem = warp_submit(stream, &work);
    if (!problem) *result = (Address)address;
    return problem;
}

static int release(Address address, cudaStream_t stream) {
    const WarpWork work = {.kind = WORK_FREE, .memory = {.address = (uint64_t)address}};
    if (!address) return CUDA_OK;
    const WarpRange *range = warp_range((uint64_t)address);
    return range && range->kind != RANGE_MAPPED ? warp_submit(stream, &work) : CUDA_INVALID_VALUE;
}

#if CUDA_MAJOR
#define ALLOC         cudaMallocAsync
#define FREE          cudaFreeAsync
#define FROM_POOL     cudaMallocFromPoolAsync
#define ENTER(stream) warp_enter()
#else
#define ALLOC         cuMemAllocAsync
#define FREE          cuMemFreeAsync
#define FROM_POOL     cuMemAllocFromPoolAsync
#define ENTER(stream) ((stream) ? warp_enter() : driver_enter()) /* the default stream is one of a context */
#endif
#define ANSWER_IN(stream, call)                                                                              \
    int answer = ENTER(stream);                                                                              \
    if (!answer) answer = (call);                                                                            \
    return LEAVE(answer)

ApiResult ALLOC(Address *address, size_t bytes, cudaStream_t stream) {
    ANSWER_IN(stream, allocate(address, bytes, warp_pool_current(), stream));
}
ApiResult FROM_POOL(Address *address, size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
    ANSWER_IN(stream, allocate(address, bytes, warp_pool(pool), stream));
}
ApiResult FREE(Address address, cudaStream_t stream) {
    ANSWER_IN(stream, release(address, stream));
}

/* --- Pools -------------------------------------------------------------------------------------- */

/* As programs lay it out; since CUDA 12.2 a size stands in what was reserved and 0 before. */
typedef struct {
    int allocation, handles;
    struct cudaMemLocation location;
    void *security;
    size_t most_bytes;
    unsigned short usage;
    unsigned char reserved[54];
} PoolProperties;

static bool is_here(const struct cudaMemLocation *location) {
    return location && location->type == cudaMemLocationTypeDevice && location->id == 0;
}

static int create(cudaMemPool_t *pool, const PoolProperties *properties) {
    if (!pool || !properties || properties->allocation != cudaMemAllocationTypePinned)
        return CUDA_INVALID_VALUE;
    if (!is_here(&properties->location)) return CUDA_INVALID_VALUE;
    if (properties->handles) return CUDA_NOT_SUPPORTED;
    *pool = (cudaMemPool_t)warp_pool_new(properties->most_bytes);
    return *pool ? CUDA_OK : CUDA_MEMORY_ALLOCATION;
}

static int give(cudaMemPool_t *result, WarpPool *pool, bool is_known) {
    if (!result || !is_known) return result ? CUDA_INVALID_DEVICE : CUDA_INVALID_VALUE;
    *result = (cudaMemPool_t)pool;
    return CUDA_OK;
}

static int set_current(cudaMemPool_t pool, bool is_known) {
    if (!is_known || !warp_pool(pool)) return is_known ? CUDA_INVALID_VALUE : CUDA_INVALID_DEVICE;
    warp_pool_set_current(warp_pool(pool));
    return CUDA_OK;
}

ApiResult API(MemPoolCreate)(cudaMemPool_t *pool, const struct cudaMemPoolProps *properties) {
    ANSWER(create(pool, (const PoolProperties *)properties));
}
ApiResult API(MemPoolDestroy)(cudaMemPool_t pool) {
    ANSWER(warp_pool(pool) ? warp_pool_destroy(warp_pool(pool)) : CUDA_INVALID_VALUE);
}
ApiResult API(DeviceGetDefaultMemPool)(cudaMemPool_t *pool, int device) {
    ANSWER(give(pool, warp_pool_default(), !device));
}
ApiResult API(DeviceGetMemPool)(cudaMemPool_t *pool, int device) {
    ANSWER(give(pool, warp_pool_current(), !device));
}
ApiResult API(DeviceSetMemPool)(int device, cudaMemPool_t pool) {
    ANSWER(set_current(pool, !device));
}

/* Since CUDA 13, by location. */
static bool is_pinned_here(const struct cudaMemLocation *location, int type) {
    return is_here(location) && type == cudaMemAllocationTypePinned;
}

ApiResult API(MemGetDefaultMemPool)(cudaMemPool_t *pool, struct cudaMemLocation *location, int type) {
    ANSWER(give(pool, warp_pool_default(), is_pinned_here(location, type)));
}
ApiResult API(MemGetMemPool)(cudaMemPool_t *pool, struct cudaMemLocation *location, int type) {
    ANSWER(give(pool, warp_pool_current(), is_pinned_here(location, type)));
}
ApiResult API(MemSetMemPool)(struct cudaMemLocation *location, int type, cudaMemPool_t pool) {
    ANSWER(set_current(pool, is_pinned_here(location, type)));
}

/* --- What pools are asked ------------------------------------------------------------------------- */

ApiResult API(MemPoolGetAttribute)(cudaMemPool_t pool, enum cudaMemPoolAttr which, void *value) {
    ANSWER(warp_pool(pool) ? warp_pool_get_attribute(warp_pool(pool), (unsigned)which, value)
                           : CUDA_INVALID_VALUE);
}
ApiResult API(MemPoolSetAttribute)(cudaMemPool_t pool, enum cudaMemPoolAttr which, void *value) {
    ANSWER(warp_pool(pool) ? warp_pool_set_attribute(warp_pool(pool), (unsigned)which, value)
                           : CUDA_INVALID_VALUE);
}

/* A pool holds no more than what is used. */
ApiResult API(MemPoolTrimTo)(cudaMemPool_t pool, size_t keep) {
    (void)keep;
    ANSWER(warp_pool(pool) ? CUDA_OK : CUDA_INVALID_VALUE);
}

/* The device of a pool always reads and writes it, and is the only one. */
static int set_access(const WarpPool *pool, const struct cudaMemAccessDesc *list, size_t count) {
    if (!pool || (count && !list)) return CUDA_INVALID_VALUE;
    for (size_t i = 0; i < count; i++)
        if (!is_here(&list[i].location) || list[i].flags != cudaMemAccessFlagsProtReadWrite)
            return CUDA_INVALID_DEVICE;
    return CUDA_OK;
}

static int get_access(enum cudaMemAccessFlags *flags, const WarpPool *pool,
                      const struct cudaMemLocation *location) {
    if (!flags || !pool || !location) return CUDA_INVALID_VALUE;
    *flags = cudaMemAccessFlagsProtReadWrite;
    return is_here(location) ? CUDA_OK : CUDA_INVALID_DEVICE;
}

ApiResult API(MemPoolSetAccess)(cudaMemPool_t pool, const struct cudaMemAccessDesc *list, size_t count) {
    ANSWER(set_access(warp_pool(pool), list, count));
}
ApiResult API(MemPoolGetAccess)(enum cudaMemAccessFlags *flags, cudaMemPool_t pool,
                                struct cudaMemLocation *location) {
    ANSWER(get_access(flags, warp_pool(pool), location));
}

/* --- Memory of graphs --------------------------------------------------------------------------- */

ApiResult API(DeviceGetGraphMemAttribute)(int device, enum cudaGraphMemAttributeType which, void *value) {
    ANSWER(device ? CUDA_INVALID_DEVICE : warp_graph_memory_get_attribute((unsigned)which, value));
}
ApiResult API(DeviceSetGraphMemAttribute)(int device, enum cudaGraphMemAttributeType which, void *value) {
    ANSWER(device ? CUDA_INVALID_DEVICE : warp_graph_memory_set_attribute((unsigned)which, value));
}

/* Nothing is kept that no graph can use. */
ApiResult API(DeviceGraphMemTrim)(int device) {
    ANSWER(device ? CUDA_INVALID_DEVICE : CUDA_OK);
}
