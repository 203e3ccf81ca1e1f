/* Selection of matrix instructions: mma, loads and stores of fragments. */
#ifndef WW_PTX_ISA_MATRIX_H
#define WW_PTX_ISA_MATRIX_H

#include "core/ptx/instructions/isa.h"

bool isa_is_matrix(const char *opcode);
/* As isa_select(), for the opcodes that isa_is_matrix() knows. */
bool isa_select_matrix(const Statement *statement, Inst *inst, OperandPlan *plan, char *why, size_t why_size);
void isa_print_matrix(void (*print)(void *context, const char *row), void *context);

#endif
