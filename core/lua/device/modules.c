/* PTX modules and their kernels as host programs see them: loading, what a module has, and what its textures
 * read. */
#include "core/lua/device/modules.h"

#include "core/lua/bindings.h"
#include "core/lua/device/checkpoint.h"
#include "core/lua/device/in_flight.h"
#include "core/sass/sass_trace.h"

#include <stdlib.h>
#include <string.h>

static const char kernel_type[] = "warpwright.kernel";

static void set_integer(lua_State *L, const char *name, uint64_t value) {
    lua_pushinteger(L, (lua_Integer)value);
    lua_setfield(L, -2, name);
}

static void set_text(lua_State *L, const char *name, const char *text) {
    lua_pushstring(L, text);
    lua_setfield(L, -2, name);
}

/* --- What a module has ----------------------------------------------------------------------- */

static void push_params(lua_State *L, const Kernel *kernel) {
    static const char *const types[] = {[PARAM_BITS] = "bits",
                                        [PARAM_INTEGER] = "integer",
                                        [PARAM_FLOAT] = "float",
                                        [PARAM_HALF] = "float",
                                        [PARAM_BRAIN] = "float"};
    lua_createtable(L, (int)kernel->param_count, 0);
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        const KernelParam *param = &kernel->params[i];
        lua_newtable(L);
        set_text(L, "name", param->name);
        set_integer(L, "offset", param->offset);
        set_integer(L, "bytes", param->bytes);
        set_integer(L, "align", param->align);
        set_text(L, "type", types[param->type]);
        lua_rawseti(L, -2, i + 1);
    }
}

static uint64_t bytes_in(const Module *module, Space space) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < module->variable_count; i++)
        if (module->variables[i].space == space) bytes += module->variables[i].bytes;
    return bytes;
}

static void push_extent(lua_State *L, const char *name, const uint32_t extent[3]) {
    lua_createtable(L, 3, 0);
    for (int i = 0; i < 3; i++) {
        lua_pushinteger(L, extent[i]);
        lua_rawseti(L, -2, i + 1);
    }
    lua_setfield(L, -2, name);
}

/* Of a recorded kernel. */
static void push_recorded(lua_State *L, const SassLaunch *launch) {
    push_extent(L, "grid", launch->grid);
    push_extent(L, "block", launch->block);
    set_integer(L, "recorded", launch->instructions);
    set_integer(L, "stream", launch->stream);
    set_text(L, "unknown", launch->unknown[0] ? launch->unknown : NULL); /* or nil */
}

static void push_kernel_info(lua_State *L, const Module *module, const Kernel *kernel) {
    lua_newtable(L);
    if (sass_is(module)) push_recorded(L, sass_launch(module));
    set_text(L, "name", kernel->name);
    set_text(L, "refusal", kernel->refusal); /* or nil */
    set_integer(L, "registers", kernel->registers_per_thread);
    set_integer(L, "shared", kernel->shared_bytes);
    set_integer(L, "local", kernel->local_bytes);
    set_integer(L, "constant", bytes_in(module, SPACE_CONST));
    set_integer(L, "max_threads", kernel->max_threads);
    set_integer(L, "param_bytes", kernel->param_bytes);
    push_params(L, kernel);
    lua_setfield(L, -2, "params");
}

/* kernel:info() */
static int l_kernel_info(lua_State *L) {
    const KernelRef *ref = luaL_checkudata(L, 1, kernel_type);
    raise_user_errors_in(L);
    if (!machine_is_open(ref->machine)) user_error("info: the machine of this kernel was closed");
    push_kernel_info(L, ref->module, ref->kernel);
    return 1;
}

/* kernel:release() */
static int l_kernel_release(lua_State *L) {
    const KernelRef *ref = luaL_checkudata(L, 1, kernel_type);
    raise_user_errors_in(L);
    if (!machine_is_open(ref->machine)) user_error("release: the machine of this kernel was closed");
    if (!sass_is(ref->module))
        user_error("release: expected a recorded kernel, got %s of %s", ref->kernel->name, ref->module->path);
    if (is_in_flight(ref->machine, ref->kernel))
        user_error("release: expected a kernel that has ended, got %s, which is in flight",
                   ref->kernel->name);
    for (uint32_t i = 0; i < ref->machine->module_count; i++)
        if (ref->machine->modules[i] == ref->module) sass_release(ref->machine->modules[i]);
    return 0;
}

static void push_variable(lua_State *L, const ModuleVariable *variable) {
    const char *space = variable->space == SPACE_TEXTURE ? "texture"
                        : variable->space == SPACE_CONST ? "const"
                                                         : "global";
    lua_newtable(L);
    set_text(L, "name", variable->name);
    set_text(L, "space", space);
    set_integer(L, "address", variable->address);
    set_integer(L, "bytes", variable->bytes);
    set_integer(L, "align", variable->align);
    set_integer(L, "text", variable->text + 1);
}

/* A list in the order of the module, whose elements are also there by name. */
static void push_variables(lua_State *L, const Module *module) {
    lua_createtable(L, (int)module->variable_count, (int)module->variable_count);
    for (uint32_t i = 0; i < module->variable_count; i++) {
        push_variable(L, &module->variables[i]);
        lua_pushvalue(L, -1);
        lua_rawseti(L, -3, i + 1);
        lua_setfield(L, -2, module->variables[i].name);
    }
}

/* --- Loading --------------------------------------------------------------------------------- */

/* { name = why it cannot be launched } */
static void push_refusals(lua_State *L, const Module *module) {
    lua_newtable(L);
    for (uint32_t i = 0; i < module->kernel_count; i++) {
        lua_pushstring(L, module->kernels[i].refusal); /* or nil */
        lua_setfield(L, -2, module->kernels[i].name);
    }
}

/* { name = kernel }, { names in the order of the file } */
static void push_kernels(lua_State *L, Machine *machine, const Module *module) {
    lua_newtable(L);
    lua_newtable(L);
    for (uint32_t i = 0; i < module->kernel_count; i++) {
        KernelRef *ref = lua_newuserdatauv(L, sizeof *ref, 1);
        *ref = (KernelRef){machine, &module->kernels[i], module};
        lua_getiuservalue(L, 1, GPU_MACHINE);
        lua_setiuservalue(L, -2, 1);
        luaL_setmetatable(L, kernel_type);
        lua_setfield(L, -3, module->kernels[i].name);
        lua_pushstring(L, module->kernels[i].name);
        lua_rawseti(L, -2, i + 1);
    }
}

/* { text =, name = } at `index`, whose strings stay on the stack. */
static ModuleText text_at(lua_State *L, int index, const char *what) {
    static const char *const legal[] = {"text", "name", NULL};
    if (!lua_istable(L, index)) user_error_got(L, index, "%s: expected { text =, name = }", what);
    take_options(L, index, what, legal);
    ModuleText text = {.path = "PTX text"};
    if (lua_getfield(L, index, "text") != LUA_TSTRING)
        user_error_got(L, -1, "%s: text: expected PTX text", what);
    text.text = lua_tolstring(L, -1, &text.length);
    int type = lua_getfield(L, index, "name");
    if (type != LUA_TNIL && type != LUA_TSTRING) user_error_got(L, -1, "%s: name: expected a text", what);
    if (type == LUA_TSTRING) text.path = lua_tostring(L, -1);
    return text;
}

/* Links the texts { { text =, name = }, ... } at `index`. */
static Module *link_texts(lua_State *L, int index, const char *what, bool keeps_refused) {
    enum { MAX_TEXTS = 4096 };
    size_t count = lua_rawlen(L, index);
    if (!count || count > MAX_TEXTS)
        user_error("%s: expected 1 to %d texts, got %zu", what, MAX_TEXTS, count);
    ModuleText *texts = lua_newuserdatauv(L, count * sizeof *texts, 0);
    luaL_checkstack(L, (int)(3 * count), "texts of PTX");
    for (size_t i = 0; i < count; i++) {
        lua_rawgeti(L, index, (lua_Integer)i + 1);
        texts[i] = text_at(L, lua_gettop(L), what);
    }
    return module_link(texts, (uint32_t)count, keeps_refused);
}

static bool ends_with(const char *path, const char *ending) {
    size_t length = strlen(path), tail = strlen(ending);
    return length > tail && !strcmp(path + length - tail, ending);
}

static bool is_recorded(const char *path) {
    return ends_with(path, ".traceg") || ends_with(path, ".traceg.xz");
}

/* What `gpu:load` was given at index 2: a path, { text =, name = } in its place, or a list of these that are
 * linked. */
static Module *load_module(lua_State *L) {
    const char *path = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : NULL;
    if (path) return is_recorded(path) ? sass_load(path) : module_load(path);
    if (!lua_istable(L, 2))
        user_error_got(L, 2,
                       "load: expected the path of a PTX file, { text =, name = }, or a list of such texts");
    bool is_list = lua_rawlen(L, 2) > 0;
    if (is_list) return link_texts(L, 2, "load", false);
    ModuleText text = text_at(L, 2, "load");
    machine_to_change(L, "load"); /* which Lua of the user's may have closed */
    return module_link(&text, 1, false);
}

int l_gpu_load(lua_State *L) {
    machine_to_change(L, "load");
    lua_settop(L, 2);
    Module *module = load_module(L);
    Machine *machine = gpu_at(L, 1);
    if (sass_is(module) && gpu_has_memcheck(machine->gpu)) {
        module_free(module);
        user_error("load: expected a run without memcheck: no values of recorded kernels are known");
    }
    lua_settop(L, 2);
    machine->modules = realloc(machine->modules, (machine->module_count + 1) * sizeof(Module *));
    ensure_memory(machine->modules);
    machine->modules[machine->module_count++] = module; /* with which it is released, whatever follows */
    host_log_call(&machine->log, module->digest, "load a PTX file with %u kernel%s%s%s", module->kernel_count,
                  module->kernel_count == 1 ? "" : "s", module->kernel_count ? ", the first " : "",
                  module->kernel_count ? module->kernels[0].name : "");
    if (module->is_of_file) note_ptx_file(module->path, module->file_digest);
    gpu_place_module(machine->gpu, module);
    repeated_call(L, machine);
    push_kernels(L, machine, module);
    push_refusals(L, module);
    push_variables(L, module);
    return 4;
}

/* core.loaded_ptx(gpu) -> list of { path =, digest = } of the PTX files that host programs have loaded on it */
static int l_loaded_ptx(lua_State *L) {
    const Machine *machine = gpu_at(L, 1);
    lua_newtable(L);
    for (uint32_t i = 0, count = 0; i < machine->module_count; i++) {
        const Module *module = machine->modules[i];
        if (!module->is_of_file) continue;
        lua_newtable(L);
        set_text(L, "path", module->path);
        push_file_digest(L, module->file_digest);
        lua_setfield(L, -2, "digest");
        lua_rawseti(L, -2, ++count);
    }
    return 1;
}

/* --- Reports --------------------------------------------------------------------------------- */

/* { opcode = how many instructions have it }, the first part of "ld.global.u32" */
static void push_opcodes(lua_State *L, const Kernel *kernel) {
    lua_newtable(L);
    for (uint32_t i = 0; i < kernel->inst_count; i++) {
        const char *opcode = kernel->sources[i].opcode;
        lua_pushlstring(L, opcode, strcspn(opcode, "."));
        lua_pushvalue(L, -1);
        lua_Integer before = lua_rawget(L, -3) == LUA_TNIL ? 0 : lua_tointeger(L, -1);
        lua_pop(L, 1);
        lua_pushinteger(L, before + 1);
        lua_rawset(L, -3);
    }
}

/* core.ptx_report({ { text =, name = }, ... }) -> what the kernels of the texts, linked, take and need */
static int l_ptx_report(lua_State *L) {
    raise_user_errors_in(L);
    lua_settop(L, 1);
    if (!lua_istable(L, 1)) user_error_got(L, 1, "ptx_report: expected a list of texts");
    Module *module = link_texts(L, 1, "ptx_report", true);
    lua_createtable(L, (int)module->kernel_count, 0);
    for (uint32_t i = 0; i < module->kernel_count; i++) {
        const Kernel *kernel = &module->kernels[i];
        push_kernel_info(L, module, kernel);
        set_integer(L, "instructions", kernel->inst_count);
        push_opcodes(L, kernel);
        lua_setfield(L, -2, "opcodes");
        lua_rawseti(L, -2, i + 1);
    }
    module_free(module);
    return 1;
}

/* --- Textures -------------------------------------------------------------------------------- */

static void require_kernel_of(const KernelRef *ref, const Machine *machine, const char *what) {
    if (!machine_is_open(ref->machine)) user_error("%s: the machine of this kernel was closed", what);
    if (ref->machine != machine)
        user_error("%s: expected a kernel of this machine, got %s of another", what, ref->kernel->name);
    if (sass_is_released(ref->module))
        user_error("%s: kernel %s was released; %s can be loaded again", what, ref->kernel->name,
                   ref->module->path);
}

const KernelRef *kernel_at(lua_State *L, int index, const Machine *machine, const char *what) {
    const KernelRef *ref = luaL_testudata(L, index, kernel_type);
    if (!ref) user_error_got(L, index, "%s: expected a kernel (self.kernels.NAME)", what);
    require_kernel_of(ref, machine, what);
    return ref;
}

/* The module of the kernel, or of the kernels of a PTX file, at `index`. */
static const Module *module_at(lua_State *L, int index, const Machine *machine) {
    lua_pushvalue(L, index);
    if (lua_istable(L, -1)) { /* all of them are of one module: any will do */
        lua_pushnil(L);
        lua_next(L, -2);
    }
    const KernelRef *ref = luaL_testudata(L, -1, kernel_type);
    if (!ref)
        user_error_got(L, index,
                       "bind_texture: expected a kernel, or all kernels of a PTX file (self.kernels)");
    require_kernel_of(ref, machine, "bind_texture");
    return ref->module;
}

_Noreturn static void no_such_texture(const Module *module, const char *name) {
    char names[1024] = "";
    size_t used = 0;
    for (uint32_t i = 0; i < module->variable_count && used < sizeof names; i++)
        if (module->variables[i].space == SPACE_TEXTURE)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "",
                                     module->variables[i].name);
    if (!used)
        user_error("bind_texture: no texture of %s matches '%s'; the file declares none", module->path, name);
    user_error("bind_texture: no texture of %s matches '%s'; available: %s", module->path, name, names);
}

int l_gpu_bind_texture(lua_State *L) {
    lua_settop(L, 4);
    Machine *machine = machine_to_change(L, "bind_texture");
    require_none_in_flight(machine, "bind_texture");
    const Module *module = module_at(L, 2, machine);
    if (lua_type(L, 3) != LUA_TSTRING)
        user_error_got(L, 3, "bind_texture: expected the name of a .texref or .surfref");
    const char *name = lua_tostring(L, 3);
    const ModuleVariable *variable = module_texture(module, name);
    if (!variable) no_such_texture(module, name);
    TextureTable *table = gpu_textures(machine->gpu);
    int whole;
    const Texture *texture = texture_find(table, (uint64_t)lua_tointegerx(L, 4, &whole));
    if (!whole || !texture)
        user_error_got(L, 4, "bind_texture: %s: expected a handle from gpu:texture {...}", name);
    host_log_call(&machine->log, hash_bytes(variable->address, texture, sizeof *texture), "bind texture %s",
                  name);
    texture_bind(table, variable->address, texture);
    repeated_call(L, machine);
    return 0;
}

static int l_kernel_tostring(lua_State *L) {
    const KernelRef *ref = luaL_checkudata(L, 1, kernel_type);
    raise_user_errors_in(L);
    lua_pushfstring(L, "kernel %s",
                    machine_is_open(ref->machine) ? ref->kernel->name : "of a closed machine");
    return 1;
}

void modules_open(lua_State *L) {
    static const luaL_Reg metamethods[] = {{"__tostring", l_kernel_tostring}, {NULL, NULL}};
    static const luaL_Reg methods[] = {{"info", l_kernel_info}, {"release", l_kernel_release}, {NULL, NULL}};
    static const luaL_Reg functions[] = {
        {"ptx_report", l_ptx_report}, {"loaded_ptx", l_loaded_ptx}, {NULL, NULL}};
    define_type(L, kernel_type, metamethods, methods);
    luaL_setfuncs(L, functions, 0);
}
