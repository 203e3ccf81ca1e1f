/* This computer's NVIDIA GPU as a module of Lua, through the driver's library: tests/conformance/nvidia_gpu.lua makes of
 * it what a simulated GPU offers. Neither the library nor its header is needed to build. */
#ifndef WW_TESTS_NVIDIA_GPU_H
#define WW_TESTS_NVIDIA_GPU_H

#include "core/lua/host/interpreter.h"

/* The module:
 *   open()                  its name, the number of its SMs; nil and the reason where there is none
 *   alloc(bytes)            an address           free(address)
 *   write(address, bytes)                        read(address, count): bytes
 *   fill(address, byte, count)
 *   load(text)              a module of PTX, or nil and what the driver says; unload(module)
 *   launch(module, kernel, {grid x, y, z, block x, y, z}, shared, args)
 *                           waits for its end; arguments are integers of up to 8 bytes. nil: it ended well, else the fault.
 *                           Behind a fault all memory and modules are gone.
 * Other failures are errors of Lua. */
int nvidia_gpu_open_module(lua_State *L);

#endif
