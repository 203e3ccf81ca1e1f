#include "core/gpu/simt_stack.h"

void simt_start(SimtStack *stack, uint32_t lanes, uint32_t inst_count) {
    stack->depth = 1;
    stack->entry[0] = (SimtEntry){.pc = 0, .reconverge = inst_count, .lanes = lanes};
}

static void pop_reconverged(SimtStack *stack) {
    while (stack->depth > 1 &&
           (simt_top(stack)->pc == simt_top(stack)->reconverge || simt_top(stack)->lanes == 0))
        stack->depth--;
    if (stack->depth == 1 && stack->entry[0].lanes == 0) stack->depth = 0;
}

void simt_advance(SimtStack *stack, uint32_t pc) {
    SimtEntry *top = simt_top(stack);
    top->pc = pc;
    if (__builtin_expect(pc == top->reconverge, 0)) pop_reconverged(stack);
}

static void push(SimtStack *stack, uint32_t pc, uint32_t reconverge, uint32_t lanes) {
    if (pc == reconverge) return; /* these lanes are there already: they wait in the entry below */
    ensure(stack->depth < SIMT_DEPTH);
    stack->entry[stack->depth++] = (SimtEntry){pc, reconverge, lanes};
}

void simt_branch(SimtStack *stack, uint32_t taken, uint32_t target, uint32_t fall_through,
                 uint32_t reconverge) {
    SimtEntry *top = simt_top(stack);
    uint32_t others = top->lanes & ~taken;
    if (taken == 0 || others == 0) {
        simt_advance(stack, taken ? target : fall_through);
        return;
    }
    if (reconverge == top->reconverge && stack->depth > 1)
        stack->depth--; /* the entry below waits at this very point for all these lanes */
    else
        top->pc = reconverge;
    /* The side without the highest lane runs first. */
    bool taken_waits = taken > others;
    push(stack, taken_waits ? target : fall_through, reconverge, taken_waits ? taken : others);
    push(stack, taken_waits ? fall_through : target, reconverge, taken_waits ? others : taken);
    pop_reconverged(stack);
}

void simt_exit(SimtStack *stack, uint32_t lanes, uint32_t next_pc) {
    simt_top(stack)->pc = next_pc;
    for (uint32_t i = 0; i < stack->depth; i++)
        stack->entry[i].lanes &= ~lanes;
    pop_reconverged(stack);
}
