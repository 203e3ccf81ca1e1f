/* Kernels in flight: those that host programs have launched and do not wait for yet. */
#ifndef WW_LUA_IN_FLIGHT_H
#define WW_LUA_IN_FLIGHT_H

#include "core/lua/machine/machine.h"

/* These kernels are in flight, too: the last of the present launch, or the first ones where none was. */
void in_flight_add(Machine *machine, const KernelLaunch *launches, uint32_t count);
/* Until the host program has heard of its end. */
bool is_in_flight(const Machine *machine, const Kernel *kernel);
/* The number among the launches that the next one in flight has, and its place in the launch. */
uint32_t in_flight_next(const Machine *machine, uint32_t *place);
void in_flight_free(Machine *machine);
/* A user error where kernels are in flight. */
void require_none_in_flight(const Machine *machine, const char *what);
/* gpu:wait(): the GPU is at stack index 1, behind it numbers of kernels or nil, cycles or nil, and why all are given up or
 * nil. Returns what the call returns. */
int wait_for_kernels(lua_State *L, Machine *machine);
/* What it waited for has come. */
int finish_wait(lua_State *L, Machine *machine);

#endif
