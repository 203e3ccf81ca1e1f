/* Selection of mbarrier instructions. */
#ifndef WW_PTX_ISA_MBARRIER_H
#define WW_PTX_ISA_MBARRIER_H

#include "core/ptx/instructions/isa.h"

bool isa_is_mbarrier(const char *opcode);
/* As isa_select(), for the opcodes that isa_is_mbarrier() knows. */
bool isa_select_mbarrier(const Statement *statement, Inst *inst, OperandPlan *plan, char *why,
                         size_t why_size);
void isa_print_mbarrier(void (*print)(void *context, const char *row), void *context);
/* The address of an mbarrier in brackets is operand k: its role, and the space that the modifiers say. */
void isa_plan_mbarrier(const Statement *statement, int k, Inst *inst, OperandPlan *plan);

#endif
