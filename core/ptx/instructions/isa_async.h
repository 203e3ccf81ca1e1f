/* Selection of asynchronous copies: cp.async. */
#ifndef WW_PTX_ISA_ASYNC_H
#define WW_PTX_ISA_ASYNC_H

#include "core/ptx/instructions/isa.h"

/* Modifiers of what a bulk copy becomes in the parser, which no text can have. Pieces have the copy's addresses, its size and
 * how much of it is done, and a number: which piece of a turn. What stands behind them has the size, how much is done, and
 * the number of pieces. */
#define BULK_BEGIN         "(begin)" /* how much is done, [from or to]: nothing, counted from the line's begin */
#define BULK_LOAD          "(load)"             /* [to], [from]                                          */
#define BULK_STORE         "(store)"            /* [to], [from]                                          */
#define BULK_REDUCE        "(reduce)"           /* [to], [from]                                          */
#define BULK_REDUCE_SHARED "(reduce on shared)" /* [to], [from]                                          */
#define BULK_MOVE          "(move)"             /* [to], [from]                                          */
#define BULK_PREFETCH      "(prefetch)"         /* [from]                                                */
#define BULK_ROOM          "(room)"             /* nothing: the warp can keep another arrival            */
#define BULK_ARRIVE        "(arrive)"           /* [object]                                              */
#define BULK_NEXT          "(next)"             /* how much is done, predicate: whether anything is left */

bool isa_is_async(const char *opcode);
/* As isa_select(), for the opcodes that isa_is_async() knows. */
bool isa_select_async(const Statement *statement, Inst *inst, OperandPlan *plan, char *why, size_t why_size);
void isa_print_async(void (*print)(void *context, const char *row), void *context);

#endif
