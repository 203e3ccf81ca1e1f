/* Selection of loads, stores and atomics, whose modifiers combine too freely for rows. */
#ifndef WW_PTX_ISA_MEMORY_H
#define WW_PTX_ISA_MEMORY_H

#include "core/ptx/instructions/isa.h"

/* The modifier of what an atomic on a vector becomes in the parser; no text can have it. */
#define ATOMIC_ELEMENT "(element)"

bool isa_is_memory(const char *opcode);
/* As isa_select(), for the opcodes that isa_is_memory() knows. */
bool isa_select_memory(const Statement *statement, Inst *inst, OperandPlan *plan, char *why, size_t why_size);
void isa_print_memory(void (*print)(void *context, const char *row), void *context);

/* "ld.global.f32" into `text`, for messages. */
void isa_format_name(const Statement *statement, char *text, size_t size);

#endif
