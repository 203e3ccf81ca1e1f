#include "core/ptx/liveness.h"

#include "core/sim/error.h"

#include <stdlib.h>
#include <string.h>

/* One register after the other: from every block that reads before it writes, liveness is carried backwards
 * until a write. The work is proportional to the lengths of the live ranges, not to blocks * registers. */
typedef struct {
    Arena *arena;
    const ControlFlow *flow;
    const uint32_t *block_of; /* instruction -> block */
    const Access *accesses;   /* of one register, by instruction, reads first */
    uint32_t access_count;
    uint32_t *live_in, *live_out, *writes, *touched; /* stamped with register + 1 */
    uint32_t *list;                                  /* blocks touched by this register */
    uint32_t list_count;
    uint32_t *stack;
    LiveRanges *ranges;
    uint32_t segment_capacity;
} Search;

static void touch(Search *search, uint32_t block, uint32_t stamp) {
    if (search->touched[block] == stamp) return;
    search->touched[block] = stamp;
    search->list[search->list_count++] = block;
}

static void carry_back(Search *search, uint32_t from, uint32_t stamp) {
    uint32_t depth = 0;
    if (search->live_in[from] == stamp) return;
    search->live_in[from] = stamp;
    search->stack[depth++] = from;
    while (depth) {
        const BasicBlock *block = &search->flow->blocks[search->stack[--depth]];
        for (uint32_t i = 0; i < block->predecessor_count; i++) {
            uint32_t b = search->flow->predecessors[block->predecessors + i];
            touch(search, b, stamp);
            search->live_out[b] = stamp;
            if (search->writes[b] == stamp || search->live_in[b] == stamp) continue;
            search->live_in[b] = stamp;
            search->stack[depth++] = b;
        }
    }
}

static void mark_blocks(Search *search, uint32_t stamp) {
    for (uint32_t i = 0; i < search->access_count; i++) {
        uint32_t b = search->block_of[search->accesses[i].inst];
        touch(search, b, stamp);
        if (search->accesses[i].kind == ACCESS_WRITE) search->writes[b] = stamp;
    }
    for (uint32_t i = 0; i < search->access_count; i++) {
        const Access *access = &search->accesses[i];
        uint32_t b = search->block_of[access->inst];
        if (access->kind != ACCESS_READ) continue;
        bool written_before = false;
        for (uint32_t k = i; k-- > 0 && search->block_of[search->accesses[k].inst] == b && !written_before;)
            written_before = search->accesses[k].kind == ACCESS_WRITE &&
                             search->accesses[k].inst < access->inst;
        if (!written_before) carry_back(search, b, stamp);
        while (i + 1 < search->access_count && search->block_of[search->accesses[i + 1].inst] == b)
            i++;
    }
}

static void add_segment(Search *search, uint32_t start, uint32_t end) {
    LiveRanges *ranges = search->ranges;
    ranges->segments = arena_grow(search->arena, ranges->segments, sizeof *ranges->segments,
                                  ranges->segment_count, &search->segment_capacity);
    ranges->segments[ranges->segment_count++] = (LiveSegment){start, end};
}

/* Backwards over the accesses [first, end) of one block; segments come out last first. */
static void add_block_segments(Search *search, uint32_t b, uint32_t first, uint32_t end, uint32_t stamp) {
    const BasicBlock *block = &search->flow->blocks[b];
    bool live = search->live_out[b] == stamp;
    uint32_t last = block->end * 2 - 1;
    while (end-- > first) {
        const Access *access = &search->accesses[end];
        uint32_t written = access->inst * 2 + 1;
        if (access->kind == ACCESS_READ) {
            if (!live) last = written;
            live = true;
        } else {
            if (!live || access->kind == ACCESS_WRITE) add_segment(search, written, live ? last : written);
            if (access->kind == ACCESS_WRITE) live = false;
        }
    }
    if (live) add_segment(search, block->first * 2, last);
}

static int by_number(const void *a, const void *b) {
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

static int by_start(const void *a, const void *b) {
    const LiveSegment *left = a, *right = b;
    return (left->start > right->start) - (left->start < right->start);
}

/* Sorts the segments from `first` on, and joins those that touch. */
static void tidy_segments(LiveRanges *ranges, uint32_t first) {
    LiveSegment *segments = ranges->segments;
    if (first == ranges->segment_count) return;
    qsort(segments + first, ranges->segment_count - first, sizeof *segments, by_start);
    uint32_t kept = first;
    for (uint32_t i = first + 1; i < ranges->segment_count; i++) {
        if (segments[i].start <= segments[kept].end + 1) {
            if (segments[i].end > segments[kept].end) segments[kept].end = segments[i].end;
        } else {
            segments[++kept] = segments[i];
        }
    }
    ranges->segment_count = kept + 1;
}

static void find_register(Search *search, uint32_t stamp) {
    uint32_t first_segment = search->ranges->segment_count, access = 0;
    search->list_count = 0;
    mark_blocks(search, stamp);
    qsort(search->list, search->list_count, sizeof *search->list, by_number);
    for (uint32_t i = 0; i < search->list_count; i++) {
        uint32_t b = search->list[i], first = access;
        while (access < search->access_count && search->block_of[search->accesses[access].inst] == b)
            access++;
        add_block_segments(search, b, first, access, stamp);
    }
    tidy_segments(search->ranges, first_segment);
}

/* Counting sort by register; the order of instructions is kept, reads before writes. */
static Access *sort_accesses(Arena *arena, const Access *accesses, uint32_t count, uint32_t registers,
                             uint32_t *first) {
    Access *sorted = arena_alloc(arena, count, sizeof *sorted);
    for (uint32_t i = 0; i < count; i++)
        first[accesses[i].reg + 1]++;
    for (uint32_t r = 0; r < registers; r++)
        first[r + 1] += first[r];
    uint32_t *next = arena_alloc(arena, registers, sizeof *next);
    memcpy(next, first, registers * sizeof *next);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t inst_end = i;
        while (inst_end < count && accesses[inst_end].inst == accesses[i].inst)
            inst_end++;
        for (int writes = 0; writes < 2; writes++)
            for (uint32_t k = i; k < inst_end; k++)
                if ((accesses[k].kind != ACCESS_READ) == writes)
                    sorted[next[accesses[k].reg]++] = accesses[k];
        i = inst_end - 1;
    }
    return sorted;
}

static uint32_t *blocks_of_instructions(Arena *arena, const ControlFlow *flow) {
    uint32_t *block_of = arena_alloc(arena, flow->blocks[flow->count - 1].end, sizeof *block_of);
    for (uint32_t b = 0; b < flow->count; b++)
        for (uint32_t i = flow->blocks[b].first; i < flow->blocks[b].end; i++)
            block_of[i] = b;
    return block_of;
}

LiveRanges liveness_find(Arena *arena, const ControlFlow *flow, const Access *accesses, uint32_t access_count,
                         uint32_t register_count) {
    LiveRanges ranges = {.register_count = register_count};
    uint32_t *first_access = arena_alloc(arena, register_count + 1u, sizeof *first_access),
             blocks = flow->count;
    const Access *sorted = sort_accesses(arena, accesses, access_count, register_count, first_access);
    Search search = {.arena = arena,
                     .flow = flow,
                     .block_of = blocks_of_instructions(arena, flow),
                     .live_in = arena_alloc(arena, blocks, sizeof(uint32_t)),
                     .live_out = arena_alloc(arena, blocks, sizeof(uint32_t)),
                     .writes = arena_alloc(arena, blocks, sizeof(uint32_t)),
                     .touched = arena_alloc(arena, blocks, sizeof(uint32_t)),
                     .list = arena_alloc(arena, blocks, sizeof(uint32_t)),
                     .stack = arena_alloc(arena, blocks, sizeof(uint32_t)),
                     .ranges = &ranges};
    ranges.first = arena_alloc(arena, register_count + 1u, sizeof *ranges.first);
    for (uint32_t r = 0; r < register_count; r++) {
        search.accesses = sorted + first_access[r];
        search.access_count = first_access[r + 1] - first_access[r];
        ranges.first[r] = ranges.segment_count;
        find_register(&search, r + 1);
    }
    ranges.first[register_count] = ranges.segment_count;
    return ranges;
}

uint64_t liveness_peak(Arena *arena, const LiveRanges *ranges, const uint8_t *weight, uint32_t inst_count) {
    int64_t *change = arena_alloc(arena, inst_count + 1u, sizeof *change), live = 0, peak = 0;
    for (uint32_t r = 0; r < ranges->register_count; r++)
        for (uint32_t s = ranges->first[r]; s < ranges->first[r + 1]; s++) {
            change[(ranges->segments[s].start + 1) / 2] += weight[r];
            change[ranges->segments[s].end / 2 + 1] -= weight[r];
        }
    for (uint32_t i = 0; i < inst_count; i++) {
        live += change[i];
        if (live > peak) peak = live;
    }
    return (uint64_t)peak;
}
