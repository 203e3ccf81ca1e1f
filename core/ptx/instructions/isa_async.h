/* Selection of asynchronous copies: cp.async. */
#ifndef WW_PTX_ISA_ASYNC_H
#define WW_PTX_ISA_ASYNC_H

#include "core/ptx/instructions/isa.h"

bool isa_is_async(const char *opcode);
/* As isa_select(), for the opcodes that isa_is_async() knows. */
bool isa_select_async(const Statement *statement, Inst *inst, OperandPlan *plan, char *why, size_t why_size);
void isa_print_async(void (*print)(void *context, const char *row), void *context);

#endif
