/* What host programs say of a launch. */
#ifndef WW_LUA_LAUNCH_ARGUMENTS_H
#define WW_LUA_LAUNCH_ARGUMENTS_H

#include "core/lua/machine/machine.h"

/* Checks the table { grid =, block =, shared =, registers =, args = } at stack index 3: see take_options().
 */
void take_launch_options(lua_State *L, const char *kernel);
/* The launch that the table there describes, which was taken; its arguments stay on the stack. */
Launch launch_at(lua_State *L, const Kernel *kernel, bool returns_faults);

typedef struct {
    KernelLaunch of[MAX_KERNELS_TOGETHER];
    Launch launch[MAX_KERNELS_TOGETHER];
} LaunchList;

/* Checks the list { { kernel =, grid =, block =, args =, after = }, ... } at stack index 2: see take_options().
 * `is_async`: they join others, and may have `behind`. */
void take_launches(lua_State *L, const Machine *machine, const char *what, bool is_async);
/* Where kernels that join others stand: number of the first among the launches of the run, and place in the present one. */
typedef struct {
    uint32_t number, place;
} LaunchPlace;

/* The list there, which was taken, of so many launches. It and what it refers to stay on the stack. */
LaunchList *launches_at(lua_State *L, const Machine *machine, uint32_t count, bool returns_faults);
/* The same of kernels that join others and return faults. */
LaunchList *async_launches_at(lua_State *L, const Machine *machine, uint32_t count, LaunchPlace at);

#endif
