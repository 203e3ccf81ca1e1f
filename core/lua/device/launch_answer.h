/* What launches are answered: by the machine, or by the host log, when a run is resumed. */
#ifndef WW_LUA_LAUNCH_ANSWER_H
#define WW_LUA_LAUNCH_ANSWER_H

#include "core/lua/machine/machine.h"

/* Of a kernel, as the host log keeps it. */
typedef struct {
    uint64_t start_cycle, cycles, warp_instructions, thread_instructions, ctas, threads_per_cta;
    uint64_t ctas_per_sm, limit;
} LaunchAnswer;

/* Of a launch that has ended: pushes what the call returns, and returns how many values. The GPU is at stack index 1. */
int answer_launch(lua_State *L, Machine *machine);
/* The same from the log. 0: the launch was running at the checkpoint. */
int take_launch(lua_State *L, Machine *machine);

/* --- Of a kernel of the present or last launch --- */
LaunchAnswer answer_of_kernel(const Machine *machine, uint32_t kernel);
/* The table of what it did. */
void push_result(lua_State *L, const Machine *machine, uint32_t kernel, const LaunchAnswer *answer);
/* To the GPU's list of launches: that on top of the stack, which stays. */
void append_result(lua_State *L, const Machine *machine, uint32_t kernel);
/* What it has printed, into the table on top of the stack, and the log, or from there. */
void log_printed(lua_State *L, Machine *machine, uint32_t kernel);
void repeat_printed(lua_State *L, Machine *machine, uint32_t kernel);
/* The fault of the launch, and into the log or from there. */
void push_fault_of_kernel(lua_State *L, const Machine *machine, const LaunchFault *fault);
void push_and_log_fault(lua_State *L, Machine *machine, const LaunchFault *fault);
void repeat_fault(Machine *machine, LaunchFault *fault);

#endif
