#include "core/gpu/sm/structures/instruction_cache.h"

FetchResult instruction_cache_fetch(InstructionCache *cache, uint64_t address, uint32_t warp, uint32_t misses,
                                    uint32_t *entry) {
    uint64_t line = tag_line_address(&cache->tags.shape, address);
    uint32_t at = tag_find(&cache->tags, tag_set(&cache->tags.shape, line), line), free = misses;
    if (at != NO_LINE) {
        tag_touch(&cache->tags, at);
        return FETCH_HIT;
    }
    for (uint32_t i = 0; i < misses; i++) {
        FetchMiss *miss = &cache->miss[i];
        if (miss->waiting && miss->line == line) {
            miss->waiting |= 1ull << warp;
            return FETCH_MERGED;
        }
        if (!miss->waiting && free == misses) free = i;
    }
    if (free == misses) return FETCH_FAIL;
    cache->miss[free] = (FetchMiss){.line = line, .waiting = 1ull << warp};
    *entry = free;
    return FETCH_MISS;
}

uint64_t instruction_cache_fill(InstructionCache *cache, uint32_t entry) {
    FetchMiss *miss = &cache->miss[entry];
    uint64_t woken = miss->waiting;
    uint32_t line = tag_victim(&cache->tags, tag_set(&cache->tags.shape, miss->line));
    ensure(woken && line != NO_LINE);
    tag_install(&cache->tags, line, miss->line, NOBODY, NOBODY, 0);
    cache->tags.line[line].valid = (uint8_t)cache->tags.shape.all_sectors;
    *miss = (FetchMiss){0};
    return woken;
}

uint64_t instruction_cache_under_way(const InstructionCache *cache) {
    uint64_t lines = 0;
    for (uint32_t i = 0; i < MAX_FETCH_MISSES; i++)
        lines += cache->miss[i].waiting != 0;
    return lines;
}
