#include "core/gpu/sm/structures/simt_stack.h"

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
    if (pc == reconverge) return; /* these lanes are there already: they wait in the entry below */
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
        stack->top = waiting->entry[--stack->depth - 1]; /* it waits at this very point for all these lanes */
    else
        stack->top.pc = reconverge;
    /* The side without the highest lane runs first. */
    bool taken_waits = taken > others;
    push(stack, waiting, taken_waits ? target : fall_through, reconverge, taken_waits ? taken : others);
    push(stack, waiting, taken_waits ? fall_through : target, reconverge, taken_waits ? others : taken);
    simt_pop_reconverged(stack, waiting);
}

void simt_exit(SimtStack *stack, SimtWaiting *waiting, uint32_t lanes, uint32_t next_pc) {
    stack->top.pc = next_pc;
    stack->top.lanes &= ~lanes;
    for (uint32_t i = 0; i + 1 < stack->depth; i++)
        waiting->entry[i].lanes &= ~lanes;
    simt_pop_reconverged(stack, waiting);
}
