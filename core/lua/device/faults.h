/* Faults of kernels as host programs see them. */
#ifndef WW_LUA_FAULTS_H
#define WW_LUA_FAULTS_H

#include "core/gpu/device/gpu.h"

#include <lua.h>

/* Pushes { kind =, message =, kernel =, ... }. */
void push_fault(lua_State *L, const char *kernel, const LaunchFault *fault);
/* The same of a launch that never began. */
void push_refused_launch(lua_State *L, const Kernel *kernel, const char *why, LaunchMistake mistake);

#endif
