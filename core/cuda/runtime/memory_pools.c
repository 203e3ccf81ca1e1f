#include "core/cuda/runtime/memory_pools.h"

#include "core/cuda/runtime/client_state.h"
#include "core/cuda/runtime/handles.h"

#include <stdlib.h>

static uint64_t larger(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

static void take(PoolUsage *usage, uint64_t bytes) {
    usage->used += bytes;
    usage->used_high = larger(usage->used_high, usage->used);
    usage->reserved_high = larger(usage->reserved_high, usage->used);
}

/* --- Pools -------------------------------------------------------------------------------------- */

static WarpPool default_pool = {.switches = {1, 1, 1}};
static WarpPool *current = &default_pool;

WarpPool *warp_pool_new(uint64_t most_bytes) {
    WarpPool *pool = malloc(sizeof *pool);
    if (!pool) return NULL;
    *pool = (WarpPool){.most_bytes = most_bytes, .switches = {1, 1, 1}};
    warp_handle_add(pool, HANDLE_POOL);
    return pool;
}

WarpPool *warp_pool(void *handle) {
    return handle == &default_pool ? &default_pool : warp_handle(handle, HANDLE_POOL);
}

static void free_if_done(WarpPool *pool) {
    if (pool->is_destroyed && !pool->usage.used) free(pool);
}

int warp_pool_destroy(WarpPool *pool) {
    if (pool == &default_pool) return CUDA_INVALID_VALUE;
    if (pool == current) current = &default_pool;
    warp_handle_remove(pool);
    pool->is_destroyed = true;
    free_if_done(pool);
    return CUDA_OK;
}

WarpPool *warp_pool_default(void) {
    return &default_pool;
}

WarpPool *warp_pool_current(void) {
    return current;
}

void warp_pool_set_current(WarpPool *pool) {
    current = pool;
}

int warp_pool_alloc(WarpPool *pool, uint64_t bytes, uint64_t *address) {
    if (pool->most_bytes && bytes > pool->most_bytes - pool->usage.used) return CUDA_MEMORY_ALLOCATION;
    WarpRange range = {.bytes = bytes, .kind = RANGE_DEVICE, .pool = pool};
    int problem = warp_alloc_range(&range);
    if (problem) return problem;
    *address = range.start;
    take(&pool->usage, bytes);
    return CUDA_OK;
}

void warp_pool_give_back(WarpPool *pool, uint64_t bytes) {
    pool->usage.used -= bytes;
    free_if_done(pool);
}

/* --- Attributes of pools -------------------------------------------------------------------------- */

enum { RELEASE_THRESHOLD = 4, RESERVED_NOW, RESERVED_HIGH, USED_NOW, USED_HIGH };

int warp_pool_get_attribute(const WarpPool *pool, unsigned which, void *value) {
    uint64_t *bytes = value;
    if (!value) return CUDA_INVALID_VALUE;
    if (which >= 1 && which <= POOL_SWITCHES) {
        *(int *)value = pool->switches[which - 1];
        return CUDA_OK;
    }
    switch (which) {
    case RELEASE_THRESHOLD: *bytes = pool->release_threshold; return CUDA_OK;
    case RESERVED_NOW:
    case USED_NOW: *bytes = pool->usage.used; return CUDA_OK;
    case RESERVED_HIGH: *bytes = pool->usage.reserved_high; return CUDA_OK;
    case USED_HIGH: *bytes = pool->usage.used_high; return CUDA_OK;
    default: return CUDA_INVALID_VALUE;
    }
}

/* The program can only make the most what it is now. */
static int reset_most(uint64_t *most, uint64_t now, uint64_t value) {
    if (value) return CUDA_INVALID_VALUE;
    *most = now;
    return CUDA_OK;
}

int warp_pool_set_attribute(WarpPool *pool, unsigned which, const void *value) {
    const uint64_t *bytes = value;
    if (!value) return CUDA_INVALID_VALUE;
    if (which >= 1 && which <= POOL_SWITCHES) {
        pool->switches[which - 1] = *(const int *)value != 0;
        return CUDA_OK;
    }
    if (which == RELEASE_THRESHOLD) pool->release_threshold = *bytes;
    if (which == RELEASE_THRESHOLD) return CUDA_OK;
    if (which == RESERVED_HIGH) return reset_most(&pool->usage.reserved_high, pool->usage.used, *bytes);
    if (which == USED_HIGH) return reset_most(&pool->usage.used_high, pool->usage.used, *bytes);
    return CUDA_INVALID_VALUE;
}

/* --- Memory of graphs --------------------------------------------------------------------------- */

struct WarpGraphMemory {
    uint64_t address, bytes;
    unsigned holders;
    bool is_used, is_gone; /* with a reset of the device */
};

static PoolUsage graph_usage;    /* what is used while graphs run and behind them */
static PoolUsage graph_reserved; /* what is there                                  */

WarpGraphMemory *warp_graph_memory_new(uint64_t bytes) {
    WarpGraphMemory *memory = malloc(sizeof *memory);
    if (!memory) return NULL;
    WarpRange range = {.bytes = bytes, .kind = RANGE_DEVICE, .memory = memory};
    if (!bytes || warp_alloc_range(&range)) {
        free(memory);
        return NULL;
    }
    *memory = (WarpGraphMemory){.address = range.start, .bytes = bytes, .holders = 1};
    take(&graph_reserved, bytes);
    return memory;
}

WarpGraphMemory *warp_graph_memory(uint64_t address) {
    const WarpRange *range = warp_range(address);
    return range && range->start == address ? range->memory : NULL;
}

uint64_t warp_graph_memory_address(const WarpGraphMemory *memory) {
    return memory->address;
}

bool warp_graph_memory_is_used(const WarpGraphMemory *memory) {
    return memory->is_used;
}

static void free_if_unused(WarpGraphMemory *memory) {
    if (memory->holders || memory->is_used) return;
    if (!memory->is_gone) {
        graph_reserved.used -= memory->bytes;
        warp_release_range(memory->address);
    }
    free(memory);
}

void warp_graph_memory_retain(WarpGraphMemory *memory) {
    memory->holders++;
}

void warp_graph_memory_release(WarpGraphMemory *memory) {
    memory->holders--;
    free_if_unused(memory);
}

int warp_graph_memory_use(WarpGraphMemory *memory) {
    if (memory->is_used || memory->is_gone) return CUDA_INVALID_VALUE;
    memory->is_used = true;
    take(&graph_usage, memory->bytes);
    return CUDA_OK;
}

int warp_graph_memory_unuse(WarpGraphMemory *memory) {
    if (!memory->is_used) return CUDA_INVALID_VALUE;
    memory->is_used = false;
    graph_usage.used -= memory->bytes;
    free_if_unused(memory);
    return CUDA_OK;
}

int warp_graph_memory_get_attribute(unsigned which, uint64_t *value) {
    const uint64_t values[] = {graph_usage.used, graph_usage.used_high, graph_reserved.used,
                               graph_reserved.used_high};
    if (!value || which >= sizeof values / sizeof *values) return CUDA_INVALID_VALUE;
    *value = values[which];
    return CUDA_OK;
}

int warp_graph_memory_set_attribute(unsigned which, const uint64_t *value) {
    if (!value || (which != 1 && which != 3)) return CUDA_INVALID_VALUE;
    PoolUsage *usage = which == 1 ? &graph_usage : &graph_reserved;
    return reset_most(&usage->used_high, usage->used, *value);
}

/* --- Resets ------------------------------------------------------------------------------------- */

static void forget(const WarpRange *range) {
    if (range->pool) warp_pool_give_back(range->pool, range->bytes);
    if (!range->memory) return;
    range->memory->is_gone = true;
    range->memory->is_used = false;
    free_if_unused(range->memory);
}

void warp_pools_reset(void) {
    warp_each_range(forget);
    graph_usage.used = graph_reserved.used = 0;
    current = &default_pool;
}
