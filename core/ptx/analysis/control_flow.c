#include "core/ptx/analysis/control_flow.h"

#include "core/sim/base/error.h"

static bool is_guarded(const Inst *inst) {
    return inst->guard != NO_PREDICATE;
}

static bool ends_block(const Inst *inst) {
    return inst->kind == INST_BRANCH || (inst->kind == INST_EXIT && !is_guarded(inst));
}

/* block_of[i] for every instruction. */
static uint32_t *number_blocks(Arena *arena, const Inst *insts, uint32_t count, uint32_t *blocks) {
    uint32_t *block_of = arena_alloc(arena, count, sizeof *block_of);
    block_of[0] = 1;
    for (uint32_t i = 0; i < count; i++) {
        if (insts[i].kind == INST_BRANCH) block_of[insts[i].target] = 1;
        if (ends_block(&insts[i]) && i + 1 < count) block_of[i + 1] = 1;
    }
    *blocks = 0;
    for (uint32_t i = 0; i < count; i++) {
        *blocks += block_of[i];
        block_of[i] = *blocks - 1;
    }
    return block_of;
}

static void find_blocks(Arena *arena, ControlFlow *flow, const Inst *insts, uint32_t count) {
    const uint32_t *block_of = number_blocks(arena, insts, count, &flow->count);
    flow->blocks = arena_alloc(arena, flow->count, sizeof *flow->blocks);
    for (uint32_t i = 0; i < count; i++) {
        BasicBlock *block = &flow->blocks[block_of[i]];
        if (!i || block_of[i - 1] != block_of[i]) block->first = i;
        block->end = i + 1;
    }
    for (uint32_t b = 0; b < flow->count; b++) {
        BasicBlock *block = &flow->blocks[b];
        const Inst *last = &insts[block->end - 1];
        bool jumps = last->kind == INST_BRANCH;
        bool falls = jumps || last->kind == INST_EXIT ? is_guarded(last) : true;
        ensure(!falls || b + 1 < flow->count);
        block->successors[0] = falls ? b + 1 : NO_BLOCK;
        block->successors[1] = jumps ? block_of[last->target] : NO_BLOCK;
        block->post_dominator = NO_BLOCK;
    }
}

static void link_predecessors(Arena *arena, ControlFlow *flow) {
    uint32_t total = 0;
    for (uint32_t b = 0; b < flow->count; b++)
        for (int s = 0; s < 2; s++)
            if (flow->blocks[b].successors[s] != NO_BLOCK)
                flow->blocks[flow->blocks[b].successors[s]].predecessor_count++;
    for (uint32_t b = 0; b < flow->count; b++) {
        flow->blocks[b].predecessors = total;
        total += flow->blocks[b].predecessor_count;
        flow->blocks[b].predecessor_count = 0;
    }
    flow->predecessors = arena_alloc(arena, total, sizeof *flow->predecessors);
    for (uint32_t b = 0; b < flow->count; b++)
        for (int s = 0; s < 2; s++) {
            if (flow->blocks[b].successors[s] == NO_BLOCK) continue;
            BasicBlock *successor = &flow->blocks[flow->blocks[b].successors[s]];
            flow->predecessors[successor->predecessors + successor->predecessor_count++] = b;
        }
}

/* Depth-first walk of the reversed graph from the exit. Blocks get numbers in post-order; the exit has the
 * largest, flow->count. */
typedef struct {
    const ControlFlow *flow;
    uint32_t *number; /* post-order number of a block, NO_BLOCK: not visited yet */
    uint32_t *order;  /* block of a number                                       */
    bool *reaches;    /* blocks with an edge to the exit                         */
    bool *visited;
    uint32_t *stack, *next; /* block, and its next predecessor to visit */
    uint32_t numbered;
} Walk;

static void walk_back_from(Walk *walk, uint32_t root) {
    if (walk->visited[root]) return;
    uint32_t depth = 0;
    walk->visited[root] = true;
    walk->stack[depth++] = root;
    walk->next[root] = 0;
    while (depth) {
        uint32_t b = walk->stack[depth - 1];
        const BasicBlock *block = &walk->flow->blocks[b];
        if (walk->next[b] < block->predecessor_count) {
            uint32_t predecessor = walk->flow->predecessors[block->predecessors + walk->next[b]++];
            if (walk->visited[predecessor]) continue;
            walk->visited[predecessor] = true;
            walk->next[predecessor] = 0;
            walk->stack[depth++] = predecessor;
        } else {
            walk->number[b] = walk->numbered;
            walk->order[walk->numbered++] = b;
            depth--;
        }
    }
}

static void walk_back_from_exit(Walk *walk) {
    const ControlFlow *flow = walk->flow;
    for (uint32_t b = 0; b < flow->count; b++) {
        const BasicBlock *block = &flow->blocks[b];
        walk->reaches[b] = block->successors[0] == NO_BLOCK && block->successors[1] == NO_BLOCK;
        if (walk->reaches[b]) walk_back_from(walk, b);
    }
    /* Endless loops, from their last block on. */
    for (uint32_t b = flow->count; b-- > 0;) {
        if (walk->visited[b]) continue;
        walk->reaches[b] = true;
        walk_back_from(walk, b);
    }
}

/* The nearest common ancestor of two nodes of the tree found so far, all by post-order number. */
static uint32_t common_ancestor(const uint32_t *parent, uint32_t a, uint32_t b) {
    while (a != b) {
        while (a < b)
            a = parent[a];
        while (b < a)
            b = parent[b];
    }
    return a;
}

/* Cooper, Harvey, Kennedy, "A Simple, Fast Dominance Algorithm", on the reversed graph. */
static void find_post_dominators(Arena *arena, ControlFlow *flow) {
    uint32_t count = flow->count;
    Walk walk = {.flow = flow};
    walk.number = arena_alloc(arena, count, sizeof *walk.number);
    walk.order = arena_alloc(arena, count, sizeof *walk.order);
    walk.stack = arena_alloc(arena, count, sizeof *walk.stack);
    walk.next = arena_alloc(arena, count, sizeof *walk.next);
    walk.reaches = arena_alloc(arena, count, sizeof *walk.reaches);
    walk.visited = arena_alloc(arena, count, sizeof *walk.visited);
    walk_back_from_exit(&walk);
    uint32_t *parent = arena_alloc(arena, count + 1, sizeof *parent);
    for (uint32_t n = 0; n < count; n++)
        parent[n] = NO_BLOCK;
    parent[count] = count;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t n = count; n-- > 0;) {
            uint32_t b = walk.order[n], found = walk.reaches[b] ? count : NO_BLOCK;
            for (int s = 0; s < 2; s++) {
                uint32_t successor = flow->blocks[b].successors[s];
                if (successor == NO_BLOCK || parent[walk.number[successor]] == NO_BLOCK) continue;
                uint32_t other = walk.number[successor];
                found = found == NO_BLOCK ? other : common_ancestor(parent, found, other);
            }
            changed |= parent[n] != found;
            parent[n] = found;
        }
    }
    for (uint32_t n = 0; n < count; n++)
        flow->blocks[walk.order[n]].post_dominator = parent[n] == count ? NO_BLOCK : walk.order[parent[n]];
}

ControlFlow control_flow_build(Arena *arena, Inst *insts, uint32_t count) {
    ControlFlow flow = {0};
    find_blocks(arena, &flow, insts, count);
    link_predecessors(arena, &flow);
    find_post_dominators(arena, &flow);
    for (uint32_t b = 0; b < flow.count; b++) {
        Inst *last = &insts[flow.blocks[b].end - 1];
        uint32_t post_dominator = flow.blocks[b].post_dominator;
        if (last->kind == INST_BRANCH)
            last->reconverge = post_dominator == NO_BLOCK ? count : flow.blocks[post_dominator].first;
    }
    return flow;
}
