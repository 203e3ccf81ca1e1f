#include "core/ptx/analysis/liveness.h"

#include "core/ptx/analysis/steps.h"
#include "core/sim/base/error.h"

#include <string.h>

/* Registers are looked at a group at a time, a bit for each: from every block that reads before it writes,
 * liveness is carried backwards until a write. The work is proportional to the blocks in which any of a group
 * is live, and registers that come one after the other in the text mostly are so in the same ones. */
enum { GROUP = 64 };

/* Of a block, the registers of the group that ... */
typedef struct {
    uint64_t in, out;  /* are live at its start, at its end                            */
    uint64_t accessed; /* it reads or writes                                           */
    uint64_t written;  /* it writes without a guard                                    */
    uint64_t pending;  /* are live at its start, which its predecessors are yet to see */
} BlockLives;

/* A segment of a register of the group, and the number of its next one; 0 is none. */
typedef struct {
    LiveSegment segment;
    uint32_t next;
} Found;

typedef struct {
    Arena *arena;
    const ControlFlow *flow;
    const uint32_t *block_of; /* instruction -> block */
    const Access
        *accesses; /* register r: [first_access[r], first_access[r + 1]), by instruction, reads first */
    const uint32_t *first_access;
    uint32_t group; /* its first register */
    BlockLives *blocks;
    uint64_t *touched;                 /* blocks with anything of this group, a bit each */
    uint32_t lowest, highest;          /* of them                                       */
    uint64_t *waiting;                 /* blocks with something pending, likewise     */
    uint32_t last_waiting;             /* the last word of it that is not 0, or one behind that */
    uint64_t open;                     /* registers whose last segment reaches the end of the last block */
    uint32_t start[GROUP];             /* of these segments                                              */
    uint32_t cursor[GROUP];            /* access that is next                                            */
    uint32_t head[GROUP], last[GROUP]; /* segments of a register, in `found`                    */
    Found *found;
    uint32_t found_count, found_capacity;
    LiveSegment *in_block; /* of one register in one block, last first */
    uint32_t in_block_count, in_block_capacity;
    LiveRanges *ranges;
    uint32_t segment_capacity;
} Search;

/* --- Where registers are live ---------------------------------------------------------------- */

static BlockLives *touch(Search *search, uint32_t block) {
    search->touched[block / 64] |= 1ull << block % 64;
    if (block < search->lowest) search->lowest = block;
    if (block > search->highest) search->highest = block;
    return &search->blocks[block];
}

static void need_at_start(Search *search, uint32_t block, uint64_t registers) {
    BlockLives *lives = &search->blocks[block];
    registers &= ~lives->in;
    if (!registers) return;
    lives->in |= registers;
    lives->pending |= registers;
    search->waiting[block / 64] |= 1ull << block % 64;
    if (block / 64 > search->last_waiting) search->last_waiting = block / 64;
}

static void show_predecessors(Search *search, uint32_t b) {
    const BasicBlock *block = &search->flow->blocks[b];
    uint64_t registers = search->blocks[b].pending;
    search->blocks[b].pending = 0;
    for (uint32_t i = 0; i < block->predecessor_count; i++, ptx_steps++) {
        uint32_t predecessor = search->flow->predecessors[block->predecessors + i];
        BlockLives *lives = touch(search, predecessor);
        lives->out |= registers;
        need_at_start(search, predecessor, registers & ~lives->written);
    }
}

/* Whoever stands last in the text comes first: predecessors mostly stand before it, and then all that lives
 * in them comes to them at once. */
static void carry_back(Search *search) {
    for (uint32_t word = search->last_waiting;; word = search->last_waiting) {
        uint64_t waiting = search->waiting[word];
        if (waiting) {
            uint32_t last = 63 - (uint32_t)__builtin_clzll(waiting);
            search->waiting[word] &= ~(1ull << last);
            show_predecessors(search, word * 64 + last);
        } else if (word <= search->lowest / 64) {
            return;
        } else {
            search->last_waiting--;
        }
    }
}

/* A block needs what it reads before any other instruction of it writes it. */
static void note_accesses(Search *search, uint32_t reg, uint64_t bit) {
    uint32_t end = search->first_access[reg + 1];
    for (uint32_t i = search->first_access[reg]; i < end;) {
        uint32_t b = search->block_of[search->accesses[i].inst], written = UINT32_MAX;
        BlockLives *lives = touch(search, b);
        lives->accessed |= bit;
        for (; i < end && search->block_of[search->accesses[i].inst] == b; i++, ptx_steps++) {
            const Access *access = &search->accesses[i];
            if (access->kind == ACCESS_READ && written >= access->inst) need_at_start(search, b, bit);
            if (access->kind == ACCESS_WRITE && written == UINT32_MAX) written = access->inst;
        }
        if (written != UINT32_MAX) lives->written |= bit;
    }
}

/* --- Segments -------------------------------------------------------------------------------- */

static void add_segment(Search *search, LiveSegment segment) {
    LiveRanges *ranges = search->ranges;
    ranges->segments = arena_grow(search->arena, ranges->segments, sizeof *ranges->segments,
                                  ranges->segment_count, &search->segment_capacity);
    ranges->segments[ranges->segment_count++] = segment;
}

/* Joins it to the register's last one when they touch. */
static void found_segment(Search *search, uint32_t r, LiveSegment segment) {
    Found *last = &search->found[search->last[r]];
    if (search->last[r] && segment.start <= last->segment.end + 1) {
        last->segment.end = segment.end;
        return;
    }
    if (search->last[r])
        last->next = search->found_count;
    else
        search->head[r] = search->found_count;
    search->last[r] = search->found_count;
    search->found = arena_grow(search->arena, search->found, sizeof *search->found, search->found_count,
                               &search->found_capacity);
    search->found[search->found_count++] = (Found){segment, 0};
}

static void end_segments(Search *search, uint64_t registers, uint32_t end) {
    search->open &= ~registers;
    for (; registers; registers &= registers - 1) {
        uint32_t r = (uint32_t)__builtin_ctzll(registers);
        found_segment(search, r, (LiveSegment){search->start[r], end});
    }
}

static void found_in_block(Search *search, uint32_t start, uint32_t end) {
    search->in_block = arena_grow(search->arena, search->in_block, sizeof *search->in_block,
                                  search->in_block_count, &search->in_block_capacity);
    search->in_block[search->in_block_count++] = (LiveSegment){start, end};
}

/* Backwards over the accesses of a register in a block. */
static void find_in_block(Search *search, const BasicBlock *block, uint32_t first, uint32_t end, bool live) {
    uint32_t last = block->end * 2 - 1;
    search->in_block_count = 0;
    while (end-- > first) {
        const Access *access = &search->accesses[end];
        uint32_t written = access->inst * 2 + 1;
        if (access->kind == ACCESS_READ) {
            if (!live) last = written;
            live = true;
        } else {
            if (!live || access->kind == ACCESS_WRITE) found_in_block(search, written, live ? last : written);
            if (access->kind == ACCESS_WRITE) live = false;
        }
    }
    if (live) found_in_block(search, block->first * 2, last);
}

/* The first of its segments goes on from the block before where that is open, and the last one stays open
 * where the register is live at the end. */
static void go_through_accesses(Search *search, const BasicBlock *block, uint32_t r, bool live_out) {
    uint32_t first = search->cursor[r], end = first;
    while (end < search->first_access[search->group + r + 1] && search->accesses[end].inst < block->end)
        end++;
    search->cursor[r] = end;
    find_in_block(search, block, first, end, live_out);
    bool open = search->open >> r & 1;
    for (uint32_t i = search->in_block_count; i-- > 0; open = false) {
        LiveSegment segment = search->in_block[i];
        if (!open) search->start[r] = segment.start;
        if (i > 0 || !live_out) found_segment(search, r, (LiveSegment){search->start[r], segment.end});
    }
    search->open = (search->open & ~(1ull << r)) | (uint64_t)live_out << r;
}

static void go_through_block(Search *search, uint32_t b) {
    const BasicBlock *block = &search->flow->blocks[b];
    BlockLives lives = search->blocks[b];
    search->blocks[b] = (BlockLives){0};
    for (uint64_t begun = lives.in & ~search->open; begun; begun &= begun - 1)
        search->start[__builtin_ctzll(begun)] = block->first * 2;
    search->open |= lives.in;
    for (uint64_t accessed = lives.accessed; accessed; accessed &= accessed - 1) {
        uint32_t r = (uint32_t)__builtin_ctzll(accessed);
        go_through_accesses(search, block, r, lives.out >> r & 1);
    }
}

/* In the order of the text. */
static void go_through_blocks(Search *search) {
    uint32_t before = NO_BLOCK;
    for (uint32_t word = search->lowest / 64; word <= search->highest / 64; word++, ptx_steps++) {
        for (uint64_t touched = search->touched[word]; touched; touched &= touched - 1, ptx_steps++) {
            uint32_t b = word * 64 + (uint32_t)__builtin_ctzll(touched);
            uint64_t going_on = before + 1 == b ? search->blocks[b].in : 0;
            if (search->open & ~going_on)
                end_segments(search, search->open & ~going_on, search->flow->blocks[before].end * 2 - 1);
            go_through_block(search, b);
            before = b;
        }
        search->touched[word] = 0;
    }
    if (search->open) end_segments(search, search->open, search->flow->blocks[before].end * 2 - 1);
}

static void find_group(Search *search, uint32_t first, uint32_t count) {
    search->group = first;
    search->lowest = UINT32_MAX;
    search->highest = search->last_waiting = 0;
    search->found_count = 1;
    for (uint32_t r = 0; r < count; r++) {
        search->head[r] = search->last[r] = 0;
        search->cursor[r] = search->first_access[first + r];
        note_accesses(search, first + r, 1ull << r);
    }
    if (search->lowest != UINT32_MAX) {
        carry_back(search);
        go_through_blocks(search);
    }
    for (uint32_t r = 0; r < count; r++) {
        search->ranges->first[first + r] = search->ranges->segment_count;
        for (uint32_t i = search->head[r]; i; i = search->found[i].next)
            add_segment(search, search->found[i].segment);
    }
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
                     .accesses = sorted,
                     .first_access = first_access,
                     .blocks = arena_alloc(arena, blocks, sizeof(BlockLives)),
                     .touched = arena_alloc(arena, blocks / 64 + 1, sizeof(uint64_t)),
                     .waiting = arena_alloc(arena, blocks / 64 + 1, sizeof(uint64_t)),
                     .found_capacity = GROUP,
                     .found = arena_alloc(arena, GROUP, sizeof(Found)),
                     .ranges = &ranges};
    ranges.first = arena_alloc(arena, register_count + 1u, sizeof *ranges.first);
    for (uint32_t r = 0; r < register_count; r += GROUP)
        find_group(&search, r, register_count - r < GROUP ? register_count - r : GROUP);
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
