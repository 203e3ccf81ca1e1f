/* Selection of texture fetches, and what of PTX's texture and surface instructions is not supported. */
#ifndef WW_PTX_ISA_TEXTURE_H
#define WW_PTX_ISA_TEXTURE_H

#include "core/ptx/instructions/isa.h"

bool isa_is_texture(const char *opcode);
/* As isa_select(), for the opcodes that isa_is_texture() knows. */
bool isa_select_texture(const Statement *statement, Inst *inst, OperandPlan *plan, char *why,
                        size_t why_size);
void isa_print_texture(void (*print)(void *context, const char *row), void *context);

#endif
