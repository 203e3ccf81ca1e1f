/* What --memcheck found, for Lua. */
#include "core/lua/bindings.h"
#include "core/lua/device/checkpoint.h"

#include <stdlib.h>

static const char *kind_name(uint32_t kind) {
    switch ((MemcheckKind)kind) {
    case MEMCHECK_BEYOND_END: return "access beyond the end of an allocation";
    case MEMCHECK_BEYOND_BLOCK: return "access beyond what malloc returned";
    case MEMCHECK_FREED_BLOCK: return "use after free of what malloc returned";
    case MEMCHECK_FREE_TWICE: return "free of what was freed before";
    case MEMCHECK_FREE_OF_NO_BLOCK: return "free of what malloc did not return";
    case MEMCHECK_BEYOND_SHARED: return "access beyond the end of the CTA's shared memory";
    case MEMCHECK_UNINITIALISED_GLOBAL: return "read of uninitialised global memory";
    case MEMCHECK_UNINITIALISED_SHARED: return "read of uninitialised shared memory";
    case MEMCHECK_NOT_IN_MASK: return "mask of threads without the thread itself";
    case MEMCHECK_MASK_ELSEWHERE: return "mask of threads that do not all come";
    case MEMCHECK_RACE_READ_WRITE: return "race in shared memory: write after read";
    case MEMCHECK_RACE_WRITE_READ: return "race in shared memory: read after write";
    case MEMCHECK_RACE_WRITE_WRITE: return "race in shared memory: write after write";
    case MEMCHECK_BARRIERS_DIFFER: return "threads of a warp at different barriers";
    }
    return "error";
}

static bool has_address(uint32_t kind) {
    return kind != MEMCHECK_BARRIERS_DIFFER && kind != MEMCHECK_NOT_IN_MASK &&
           kind != MEMCHECK_MASK_ELSEWHERE;
}

/* What `count` of a site counts. */
static const char *counted_name(uint32_t kind) {
    bool is_free = kind == MEMCHECK_FREE_TWICE || kind == MEMCHECK_FREE_OF_NO_BLOCK;
    bool is_mask = kind == MEMCHECK_NOT_IN_MASK || kind == MEMCHECK_MASK_ELSEWHERE;
    return kind == MEMCHECK_BARRIERS_DIFFER ? "warp" : is_mask ? "thread" : is_free ? "free" : "access";
}

static void set_integer(lua_State *L, const char *name, uint64_t value) {
    lua_pushinteger(L, (lua_Integer)value);
    lua_setfield(L, -2, name);
}

static void set_text(lua_State *L, const char *name, const char *text) {
    lua_pushstring(L, text);
    lua_setfield(L, -2, name);
}

static void set_place(lua_State *L, const char *name, const uint32_t place[3]) {
    lua_pushfstring(L, "(%d, %d, %d)", (int)place[0], (int)place[1], (int)place[2]);
    lua_setfield(L, -2, name);
}

static void set_instruction(lua_State *L, const MemcheckSite *site, const char *place_name,
                            const char *ptx_name, uint32_t inst) {
    const Inst *at = &site->kernel->insts[inst];
    char text[512];
    fault_place(site->kernel, at, text, sizeof text);
    set_text(L, place_name, text);
    kernel_line_text(site->kernel, kernel_ptx_line(site->kernel, at), text, sizeof text);
    set_text(L, ptx_name, text);
}

static void push_site(lua_State *L, const MemcheckSite *site) {
    lua_newtable(L);
    set_text(L, "kind", kind_name(site->kind));
    set_text(L, "kernel", site->kernel->name);
    set_integer(L, "launch", site->launch);
    set_integer(L, "cycle", site->cycle);
    set_integer(L, "count", site->count);
    set_text(L, "counted", counted_name(site->kind));
    if (has_address(site->kind)) set_integer(L, "address", site->address);
    set_integer(L, "ptx_line", site->kernel->sources[site->inst].ptx_line);
    set_place(L, "cta", site->ctaid);
    set_place(L, "thread", site->thread);
    set_instruction(L, site, "place", "ptx", site->inst);
    if (site->kind < MEMCHECK_RACE_READ_WRITE) return;
    set_place(L, "other_thread", site->other_thread);
    set_instruction(L, site, "other_place", "other_ptx", site->other_inst);
}

/* core.memcheck(gpu): on from now on, before the first allocation */
static int l_memcheck(lua_State *L) {
    const Machine *machine = gpu_at(L, 1);
    if (device_bytes_live(gpu_memory(machine->gpu)) || gpu_has_memcheck(machine->gpu))
        user_error("memcheck: expected a new GPU, got one that is in use");
    gpu_memcheck(machine->gpu);
    return 0;
}

/* core.memcheck_sites(gpu) -> a list of what was found */
static int l_memcheck_sites(lua_State *L) {
    const Machine *machine = gpu_at(L, 1);
    MemcheckSite *sites;
    uint32_t count = gpu_memcheck_sites(machine->gpu, &sites);
    lua_newtable(L);
    for (uint32_t i = 0; i < count; i++) {
        push_site(L, &sites[i]);
        lua_rawseti(L, -2, i + 1);
    }
    free(sites);
    return 1;
}

void memcheck_open(lua_State *L) {
    static const luaL_Reg functions[] = {
        {"memcheck", l_memcheck}, {"memcheck_sites", l_memcheck_sites}, {NULL, NULL}};
    luaL_setfuncs(L, functions, 0);
}
