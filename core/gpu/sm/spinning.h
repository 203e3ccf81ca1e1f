/* Warps that spin: they go round in a loop in which they look again at what others may change, and find it as it was.
 *
 * It is known by what hardware can see at the branch back: all lanes that came jump, the same as in the turn before, and
 * what the loop compares has the values that it had then. A loop that counts its turns and compares the count does not
 * spin: it ends by itself. */
#ifndef WW_GPU_SPINNING_H
#define WW_GPU_SPINNING_H

#include "core/gpu/sm/sm.h"

/* After the branch back of such a loop, at `pc`, which those of `lanes` that are in `taken` took. */
void spinning_count_turn(Sm *sm, uint32_t warp, const Inst *inst, uint32_t pc, uint32_t lanes,
                         uint32_t taken);
/* The warp goes on with something else. */
void spinning_end(Sm *sm, uint32_t warp);
/* The loop of this kind in which the warp goes round; `text` is "" where it is in none. */
void spinning_describe(const Sm *sm, uint32_t warp, char *text, size_t size);

#endif
