/* Registers that calls save on the stack: those of the caller's body that are needed behind a call by which it
 * may come to run again. */
#ifndef WW_PTX_SAVES_H
#define WW_PTX_SAVES_H

#include "core/ptx/analysis/liveness.h"
#include "core/ptx/front_end/parser.h"

/* Puts the stores and loads in place of the markers of body->saves. `target`: per statement, the one that a
 * branch jumps to; becomes that of the new statements. Statements that nobody jumps to have any. */
void saves_insert(Parser *parser, const LiveRanges *ranges, uint32_t **target);
/* Where the stack begins and how large each frame is, once all is laid out. */
void stack_lay_out(Parser *parser);

#endif
