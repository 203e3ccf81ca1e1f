/* The SM's instruction cache: tags that fetch looks up in the same cycle, and the lines in flight from
 * below. */
#ifndef WW_GPU_INSTRUCTION_CACHE_H
#define WW_GPU_INSTRUCTION_CACHE_H

#include "mem/cache/structures/tag_array.h"

enum { MAX_FETCH_MISSES = 8 };

/* A line in flight and the warps that wait for it. Plain data. */
typedef struct {
    uint64_t line;    /* address */
    uint64_t waiting; /* warps; 0: the entry is free */
} FetchMiss;

typedef enum {
    FETCH_HIT,    /* the instructions are there                                  */
    FETCH_MISS,   /* the line must be asked for; the warp waits in the new entry */
    FETCH_MERGED, /* the line is in flight; the warp waits for it                */
    FETCH_FAIL,   /* no entry is free: try again                                 */
} FetchResult;

typedef struct {
    TagArray tags;
    FetchMiss miss[MAX_FETCH_MISSES];
} InstructionCache;

/* `warp` wants the instructions at `address`; at most `misses` lines may be in flight. `*entry` is the entry
 * of a FETCH_MISS. */
FetchResult instruction_cache_fetch(InstructionCache *cache, uint64_t address, uint32_t warp, uint32_t misses,
                                    uint32_t *entry);
/* The line of an entry has come: it takes its place. Returns the warps that waited. */
uint64_t instruction_cache_fill(InstructionCache *cache, uint32_t entry);
uint64_t instruction_cache_under_way(const InstructionCache *cache);

#endif
