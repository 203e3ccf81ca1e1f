#include "core/gpu/sm/structures/simt_stack.h"

#include <string.h>

void simt_start(SimtStack *stack, uint32_t lanes, uint32_t inst_count) {
    stack->depth = 1;
    stack->top = (SimtEntry){.pc = 0, .reconverge = inst_count, .lanes = lanes};
}

void simt_pop_reconverged(SimtStack *stack, const SimtWaiting *waiting) {
    while (stack->depth > 1 && (stack->top.pc == stack->top.reconverge || stack->top.lanes == 0))
        stack->top = waiting->entry[--stack->depth - 1];
    if (stack->depth == 1 && stack->top.lanes == 0) stack->depth = 0;
}

/* The top waits, and another entry runs. */
static void push(SimtStack *stack, SimtWaiting *waiting, uint32_t pc, uint32_t reconverge, uint32_t lanes) {
    if (pc == reconverge) return; /* these lanes are there already: they wait in an entry below */
    ensure(stack->depth < SIMT_DEPTH);
    waiting->entry[stack->depth++ - 1] = stack->top;
    stack->top = (SimtEntry){pc, reconverge, lanes};
}

void simt_branch(SimtStack *stack, SimtWaiting *waiting, uint32_t taken, uint32_t target,
                 uint32_t fall_through, uint32_t reconverge) {
    uint32_t others = stack->top.lanes & ~taken;
    if (taken == 0 || others == 0) {
        simt_advance(stack, waiting, taken ? target : fall_through);
        return;
    }
    if (reconverge == stack->top.reconverge && stack->depth > 1)
        stack->top =
            waiting->entry[--stack->depth - 1]; /* one below waits at this very point for all these lanes */
    else
        stack->top.pc = reconverge;
    /* The side without the highest lane runs first. */
    bool taken_waits = taken > others;
    push(stack, waiting, taken_waits ? target : fall_through, reconverge, taken_waits ? taken : others);
    push(stack, waiting, taken_waits ? fall_through : target, reconverge, taken_waits ? others : taken);
    simt_pop_reconverged(stack, waiting);
}

/* --- Lanes that wait for each other ------------------------------------------------------------ */

/* The lowest of the entries beside the top. Below them all lanes may wait behind the kernel's last instruction, where they
 * would never go on. */
static uint32_t first_beside(const SimtStack *stack, const SimtWaiting *waiting) {
    uint32_t first = stack->depth - 1, reconverge = stack->top.reconverge;
    while (first > 0 && waiting->entry[first - 1].reconverge == reconverge &&
           waiting->entry[first - 1].pc != reconverge)
        first--;
    return first;
}

static uint32_t lanes_from(const SimtStack *stack, const SimtWaiting *waiting, uint32_t first) {
    uint32_t lanes = stack->top.lanes;
    for (uint32_t i = first; i + 1 < stack->depth; i++)
        lanes |= waiting->entry[i].lanes;
    return lanes;
}

uint32_t simt_lanes(const SimtStack *stack, const SimtWaiting *waiting) {
    return lanes_from(stack, waiting, 0);
}

/* The lanes that wait in the entry below `first` become the top, beside those that they waited for: all of these meet where
 * that entry would have met others. */
static void split_below(SimtStack *stack, SimtWaiting *waiting, uint32_t first, uint32_t lanes) {
    SimtEntry *entry = waiting->entry, below = entry[first - 1];
    for (uint32_t i = first; i < stack->depth; i++) {
        entry[i - 1] = i + 1 == stack->depth ? stack->top : entry[i];
        entry[i - 1].reconverge = below.reconverge;
    }
    stack->top = (SimtEntry){below.pc, below.reconverge, lanes};
}

/* The top becomes the lowest of those beside it. */
static void turn(SimtStack *stack, SimtWaiting *waiting, uint32_t first) {
    SimtEntry *entry = waiting->entry, top = stack->top;
    stack->top = entry[stack->depth - 2];
    memmove(&entry[first + 1], &entry[first], (stack->depth - 2 - first) * sizeof *entry);
    entry[first] = top;
}

/* Nobody waits where the paths beside the top would meet: they are beside those now that are where that place is. */
static void leave_level(SimtStack *stack, SimtWaiting *waiting, uint32_t first) {
    SimtEntry *entry = waiting->entry;
    uint32_t reconverge = entry[first - 1].reconverge;
    stack->top.reconverge = reconverge;
    for (uint32_t i = first; i + 1 < stack->depth; i++) {
        entry[i - 1] = entry[i];
        entry[i - 1].reconverge = reconverge;
    }
    stack->depth--;
}

uint32_t simt_paths_beside(const SimtStack *stack, const SimtWaiting *waiting) {
    return stack->depth - first_beside(stack, waiting);
}

bool simt_yield(SimtStack *stack, SimtWaiting *waiting, bool outwards) {
    for (;;) {
        uint32_t first = first_beside(stack, waiting), beside = lanes_from(stack, waiting, first);
        uint32_t below = first ? waiting->entry[first - 1].lanes & ~beside : 0;
        if (below) {
            split_below(stack, waiting, first, below);
            return true;
        }
        bool has_others = first + 1 < stack->depth, leaves = outwards && simt_lanes(stack, waiting) != beside;
        if (has_others && !leaves) {
            turn(stack, waiting, first);
            return true;
        }
        if (!first) return false;
        leave_level(stack, waiting, first);
        outwards &= !has_others; /* one level of those with several paths */
    }
}

void simt_join(SimtStack *stack, SimtWaiting *waiting) {
    uint32_t kept = first_beside(stack, waiting);
    for (uint32_t i = kept; i + 1 < stack->depth; i++) {
        if (waiting->entry[i].pc == stack->top.pc)
            stack->top.lanes |= waiting->entry[i].lanes;
        else
            waiting->entry[kept++] = waiting->entry[i];
    }
    stack->depth = kept + 1;
}

/* --- Exit -------------------------------------------------------------------------------------- */

void simt_exit(SimtStack *stack, SimtWaiting *waiting, uint32_t lanes, uint32_t next_pc) {
    stack->top.pc = next_pc;
    stack->top.lanes &= ~lanes;
    for (uint32_t i = 0; i + 1 < stack->depth; i++)
        waiting->entry[i].lanes &= ~lanes;
    simt_pop_reconverged(stack, waiting);
}
