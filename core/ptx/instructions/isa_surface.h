/* Rows of surface instructions: suld, sust, sured. */
#ifndef WW_PTX_ISA_SURFACE_H
#define WW_PTX_ISA_SURFACE_H

#include "core/ptx/instructions/isa.h"

bool isa_is_surface(const char *opcode);
bool isa_select_surface(const Statement *statement, Inst *inst, OperandPlan *plan, char *why,
                        size_t why_size);
void isa_print_surface(void (*print)(void *context, const char *row), void *context);

#endif
