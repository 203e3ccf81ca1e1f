/* What each kernel had, for Lua. */
#include "core/gpu/device/kernel_counts.h"

#include "core/lua/bindings.h"
#include "core/lua/device/launch.h"

static void push_columns(lua_State *L, const KernelCounts *counts) {
    const KernelColumn *columns;
    uint32_t count = kernel_counts_columns(counts, &columns);
    lua_createtable(L, (int)count, 0);
    for (uint32_t i = 0; i < count; i++) {
        lua_createtable(L, 0, 3);
        lua_pushstring(L, columns[i].name);
        lua_setfield(L, -2, "name");
        lua_pushstring(L, columns[i].unit);
        lua_setfield(L, -2, "unit");
        lua_pushstring(L, columns[i].doc);
        lua_setfield(L, -2, "doc");
        lua_rawseti(L, -2, i + 1);
    }
}

/* By name; zeros of a launch that has counted nothing. */
static void push_values(lua_State *L, KernelCounts *counts, uint32_t launch) {
    const KernelColumn *columns;
    uint32_t count = kernel_counts_columns(counts, &columns);
    const uint64_t *values = kernel_counts_of(counts, launch);
    lua_createtable(L, 0, (int)count);
    for (uint32_t i = 0; i < count; i++) {
        lua_pushinteger(L, values ? (lua_Integer)values[i] : 0);
        lua_setfield(L, -2, columns[i].name);
    }
}

/* core.kernel_counts(gpu) -> nil, or { columns = { { name =, unit =, doc = } ... }, launches = { { name = number ... } ... },
 * none = of no launch, ticks_per_cycle = of the core clock } */
static int l_kernel_counts(lua_State *L) {
    const Machine *machine = gpu_at(L, 1);
    KernelCounts *counts = gpu_kernel_counts(machine->gpu);
    if (!counts) return 0;
    lua_createtable(L, 0, 4);
    push_columns(L, counts);
    lua_setfield(L, -2, "columns");
    uint32_t launches = gpu_launch_count(machine->gpu);
    lua_createtable(L, (int)launches, 0);
    for (uint32_t i = 0; i < launches; i++) {
        push_values(L, counts, i);
        lua_rawseti(L, -2, i + 1);
    }
    lua_setfield(L, -2, "launches");
    push_values(L, counts, NO_LAUNCH);
    lua_setfield(L, -2, "none");
    lua_pushinteger(L, (lua_Integer)machine->sim->clocks[0].period);
    lua_setfield(L, -2, "ticks_per_cycle");
    return 1;
}

void kernel_counts_open(lua_State *L) {
    static const luaL_Reg functions[] = {{"kernel_counts", l_kernel_counts}, {NULL, NULL}};
    luaL_setfuncs(L, functions, 0);
}
