/* Assigns places to registers so that no two live ones share a place. */
#ifndef WW_PTX_REGISTERS_H
#define WW_PTX_REGISTERS_H

#include "core/ptx/analysis/liveness.h"

#define NO_PLACE UINT32_MAX

/* place[r] of every register with width[r] > 0 (1 or 2 adjacent places, a pair at an even one) and a life;
 * the others keep what place[] holds. First fit in the order in which lives begin, which keeps the registers
 * of a warp compact. Returns the number of places used.
 *
 * Registers share a place only with those of their own width: lane i of a 64-bit register overlays lanes 2i
 * and 2i + 1 of 32-bit ones, so that active lanes that write the one would spoil lanes of the other that wait
 * on another path. Registers with alone[r] share with none; `alone` may be NULL. */
uint32_t assign_places(Arena *arena, const LiveRanges *ranges, const uint8_t *width, const bool *alone,
                       uint32_t *place);

/* One of SCOREBOARD_NAMES names for every register with a life: the one that has been free for longest, so
 * that reuse hardly ever makes two instructions wait for each other that share no register. When all names
 * are in use, registers share, which is only slower. */
void assign_names(Arena *arena, const LiveRanges *ranges, uint8_t *name);

#endif
