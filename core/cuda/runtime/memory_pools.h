/* Pools of device memory, and the memory of graphs. A pool keeps nothing that is freed: it holds what is used. Between
 * warp_enter() and warp_leave(); those that return int return 0 or an error code. */
#ifndef WW_CUDA_MEMORY_POOLS_H
#define WW_CUDA_MEMORY_POOLS_H

#include "core/cuda/runtime/client.h"

/* Bytes now, and the most since the program has reset them. */
typedef struct {
    uint64_t used, used_high, reserved_high;
} PoolUsage;

enum { POOL_SWITCHES = 3 };

typedef struct WarpPool {
    bool is_destroyed; /* it ends with its last allocation */
    PoolUsage usage;
    uint64_t most_bytes; /* 0: all there are */
    uint64_t release_threshold;
    int switches[POOL_SWITCHES]; /* what may be reused; kept, and answered */
} WarpPool;

WarpPool *warp_pool_new(uint64_t most_bytes);
/* The pool of a handle; NULL for what is none. */
WarpPool *warp_pool(void *handle);
int warp_pool_destroy(WarpPool *pool);
WarpPool *warp_pool_default(void);
/* The pool of allocations that name none. */
WarpPool *warp_pool_current(void);
void warp_pool_set_current(WarpPool *pool);
int warp_pool_alloc(WarpPool *pool, uint64_t bytes, uint64_t *address);
/* An allocation of the pool is free again. */
void warp_pool_give_back(WarpPool *pool, uint64_t bytes);
/* By number in both APIs. */
int warp_pool_get_attribute(const WarpPool *pool, unsigned which, void *value);
int warp_pool_set_attribute(WarpPool *pool, unsigned which, const void *value);

/* --- Memory of graphs --------------------------------------------------------------------------- */

/* Its address is fixed when the node is made. The nodes that allocate and free it hold it; between these, while
 * graphs run, the program uses it. */
typedef struct WarpGraphMemory WarpGraphMemory;

WarpGraphMemory *warp_graph_memory_new(uint64_t bytes);
/* What starts at an address, or NULL. */
WarpGraphMemory *warp_graph_memory(uint64_t address);
uint64_t warp_graph_memory_address(const WarpGraphMemory *memory);
void warp_graph_memory_retain(WarpGraphMemory *memory);
void warp_graph_memory_release(WarpGraphMemory *memory);
bool warp_graph_memory_is_used(const WarpGraphMemory *memory);
int warp_graph_memory_use(WarpGraphMemory *memory);
int warp_graph_memory_unuse(WarpGraphMemory *memory);
int warp_graph_memory_get_attribute(unsigned which, uint64_t *value);
int warp_graph_memory_set_attribute(unsigned which, const uint64_t *value);

/* Allocations are forgotten, and pools but the default one with them. */
void warp_pools_reset(void);

#endif
