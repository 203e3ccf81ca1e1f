/* For tests of SIMT stacks: what runs. */
#ifndef WW_TESTS_SIMT_FIXTURE_H
#define WW_TESTS_SIMT_FIXTURE_H

#include "core/gpu/sm/structures/simt_stack.h"

#include <check.h>

enum { END = 100 }; /* instructions of the kernel */

static inline void assert_top(const SimtStack *stack, uint32_t pc, uint32_t lanes) {
    ck_assert_uint_gt(stack->depth, 0);
    ck_assert_uint_eq(stack->top.pc, pc);
    ck_assert_uint_eq(stack->top.lanes, lanes);
}

#endif
