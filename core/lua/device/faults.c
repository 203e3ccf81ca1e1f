#include "core/lua/device/faults.h"

static void set_integer(lua_State *L, const char *name, uint64_t value) {
    lua_pushinteger(L, (lua_Integer)value);
    lua_setfield(L, -2, name);
}

static void set_text(lua_State *L, const char *name, const char *text) {
    lua_pushstring(L, text);
    lua_setfield(L, -2, name);
}

static void set_place(lua_State *L, const char *name, const uint32_t place[3]) {
    lua_createtable(L, 3, 0);
    for (int i = 0; i < 3; i++) {
        lua_pushinteger(L, place[i]);
        lua_rawseti(L, -2, i + 1);
    }
    lua_setfield(L, -2, name);
}

static const char *kind_name(uint32_t kind) {
    switch (kind) {
    case FAULT_OUT_OF_BOUNDS:
    case FAULT_BEYOND_SURFACE: return "out of bounds";
    case FAULT_UNEVEN_STRIDE:
    case FAULT_MISALIGNED: return "misaligned";
    case FAULT_TRAP: return "trap";
    case FAULT_NO_TEXTURE: return "no texture";
    case FAULT_NO_MBARRIER: return "illegal mbarrier";
    case FAULT_NO_BARRIER: return "illegal barrier";
    case FAULT_NO_FUNCTION: return "illegal call";
    case FAULT_ASSERTION: return "assert";
    case FAULT_TIMEOUT: return "timeout";
    case FAULT_GIVEN_UP: return "given up";
    default: return "fault";
    }
}

static const char *space_name(uint32_t space) {
    switch (space) {
    case SPACE_SHARED: return "shared";
    case SPACE_LOCAL: return "local";
    case SPACE_PARAM: return "param";
    case SPACE_CONST: return "const";
    case SPACE_TEXTURE: return "texture";
    default: return "global";
    }
}

static void set_allocation(lua_State *L, const LaunchFault *fault) {
    lua_newtable(L);
    set_integer(L, "address", fault->allocation);
    set_integer(L, "bytes", fault->allocation_bytes);
    if (fault->made_by) set_integer(L, "made_by", fault->made_by);
    if (fault->freed_by) set_integer(L, "freed_by", fault->freed_by);
    lua_setfield(L, -2, "allocation");
}

static void set_instruction(lua_State *L, const LaunchFault *fault) {
    set_integer(L, "ptx_line", fault->ptx_line);
    set_text(L, "ptx", fault->ptx);
    if (fault->source_line) {
        set_text(L, "file", fault->source_file);
        set_integer(L, "line", fault->source_line);
    }
    set_place(L, "cta", fault->ctaid);
    set_place(L, "thread", fault->thread);
    set_text(L, "sm", fault->sm);
}

void push_fault(lua_State *L, const char *kernel, const LaunchFault *fault) {
    lua_newtable(L);
    set_text(L, "kind", kind_name(fault->kind));
    set_text(L, "message", fault->message);
    set_text(L, "kernel", kernel);
    if (fault->ptx_line) set_instruction(L, fault);
    if (fault->kind == FAULT_OUT_OF_BOUNDS || fault->kind == FAULT_MISALIGNED) {
        set_integer(L, "address", fault->address);
        set_integer(L, "bytes", fault->bytes);
        set_text(L, "space", space_name(fault->space));
    }
    if (fault->has_allocation) set_allocation(L, fault);
}

static const char *mistake_name(LaunchMistake mistake) {
    switch (mistake) {
    case MISTAKE_EXTENTS: return "extents";
    case MISTAKE_RESOURCES: return "resources";
    case MISTAKE_COOPERATIVE: return "cooperative";
    case MISTAKE_OTHER: break;
    }
    return "other";
}

void push_refused_launch(lua_State *L, const Kernel *kernel, const char *why, LaunchMistake mistake) {
    lua_newtable(L);
    set_text(L, "mistake", mistake_name(mistake));
    set_text(L, "kind", kernel->refusal ? "unsupported" : "launch");
    set_text(L, "message", why);
    set_text(L, "kernel", kernel->name);
}
