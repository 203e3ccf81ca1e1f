/* Selection of video instructions: vadd, vadd2, vadd4 and their kin. */
#ifndef WW_PTX_ISA_VIDEO_H
#define WW_PTX_ISA_VIDEO_H

#include "core/ptx/instructions/isa.h"

bool isa_is_video(const char *opcode);
/* As isa_select(), for the opcodes that isa_is_video() knows. */
bool isa_select_video(const Statement *statement, Inst *inst, OperandPlan *plan, char *why, size_t why_size);
void isa_print_video(void (*print)(void *context, const char *row), void *context);

#endif
