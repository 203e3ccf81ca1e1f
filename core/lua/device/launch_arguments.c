/* What host programs say of a launch: grid, block, arguments; and lists of launches. */
#include "core/lua/device/launch_arguments.h"

#include "core/lua/bindings.h"
#include "core/lua/device/array.h"
#include "core/lua/device/modules.h"
#include "core/ptx/execution/exec.h"

#include <string.h>

enum { MOST_TENANTS = 31 }; /* so that each can have a class of requests */

/* --- Arguments ------------------------------------------------------------------------------- */

/* n, or { x, y, z }, of which y and z may be left out */
static void read_dimensions(lua_State *L, const char *kernel, const char *name, lua_Integer least,
                            uint32_t size[3]) {
    bool is_table = lua_getfield(L, 3, name) == LUA_TTABLE;
    if (is_table && lua_rawlen(L, -1) > 3)
        user_error("kernel %s: %s: expected up to 3 dimensions, got %zu", kernel, name,
                   (size_t)lua_rawlen(L, -1));
    for (int i = 0; i < 3; i++) {
        int whole = true;
        if (is_table)
            lua_rawgeti(L, -1, i + 1);
        else if (i == 0)
            lua_pushvalue(L, -1);
        else
            lua_pushnil(L);
        lua_Integer value = i > 0 && lua_isnil(L, -1) ? 1 : lua_tointegerx(L, -1, &whole);
        if (!whole || value < least || value > UINT32_MAX)
            user_error_got(L, -1, "kernel %s: %s.%c: expected a whole number from %d on", kernel, name,
                           "xyz"[i], (int)least);
        size[i] = (uint32_t)value;
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

static uint32_t read_optional_count(lua_State *L, const char *kernel, const char *name) {
    int whole = true;
    lua_Integer value = lua_getfield(L, 3, name) == LUA_TNIL ? 0 : lua_tointegerx(L, -1, &whole);
    if (!whole || value < 0 || value > UINT32_MAX)
        user_error_got(L, -1, "kernel %s: %s: expected a whole number", kernel, name);
    lua_pop(L, 1);
    return (uint32_t)value;
}

static bool read_flag(lua_State *L, const char *kernel, const char *name, bool unless_given) {
    char what[256];
    snprintf(what, sizeof what, "kernel %s: %s", kernel, name);
    bool is_given = lua_getfield(L, 3, name) != LUA_TNIL, value = flag_argument(L, -1, what);
    lua_pop(L, 1);
    return is_given ? value : unless_given;
}

/* As a signed or as an unsigned number. */
static bool integer_fits(lua_Integer value, uint32_t bytes) {
    if (bytes == 0 || bytes > 8) return false;
    return bytes == 8 || (value >= -(1ll << (8 * bytes - 1)) && value < 1ll << 8 * bytes);
}

static void pack_integer(const Kernel *kernel, const KernelParam *param, lua_Integer value, uint8_t *at) {
    if (!integer_fits(value, param->bytes))
        user_error("kernel %s, argument %s: expected an integer of %u bytes, got %lld", kernel->name,
                   param->name, param->bytes, value);
    memcpy(at, &value, param->bytes);
}

static void pack_float(const Kernel *kernel, const KernelParam *param, double value, uint8_t *at) {
    float single = (float)value;
    uint16_t half = param->type == PARAM_BRAIN ? bf16_of_double(value) : f16_of_double(value);
    if (param->type == PARAM_HALF || param->type == PARAM_BRAIN)
        memcpy(at, &half, 2);
    else if (param->bytes == 4)
        memcpy(at, &single, 4);
    else if (param->bytes == 8)
        memcpy(at, &value, 8);
    else
        user_error("kernel %s, argument %s: expected a value of %u bytes, got the float %g", kernel->name,
                   param->name, param->bytes, value);
}

/* A number as the parameter's type wants it; a parameter that does not say takes integers and floats as they
 * are. */
static void pack_number(lua_State *L, const Kernel *kernel, const KernelParam *param, uint8_t *at) {
    int is_whole;
    lua_Integer whole = lua_tointegerx(L, -1, &is_whole);
    bool wants_float = param->type >= PARAM_FLOAT || (param->type == PARAM_BITS && !lua_isinteger(L, -1));
    if (wants_float)
        pack_float(kernel, param, lua_tonumber(L, -1), at);
    else if (is_whole)
        pack_integer(kernel, param, whole, at);
    else
        user_error_got(L, -1, "kernel %s, argument %s: expected an integer", kernel->name, param->name);
}

/* The Lua value on top of the stack as the kernel's parameter: a number, or an array as the bytes that it
 * is. */
static void pack_argument(lua_State *L, const Kernel *kernel, const KernelParam *param, uint8_t *params) {
    uint8_t *at = params + param->offset;
    const Array *array = array_test(L, -1);
    if (array) {
        if (array_bytes(array) != param->bytes)
            user_error("kernel %s, argument %s: expected %u bytes, got %lu", kernel->name, param->name,
                       param->bytes, array_bytes(array));
        memcpy(at, array->data, param->bytes);
    } else if (lua_type(L, -1) == LUA_TNUMBER) {
        pack_number(L, kernel, param, at);
    } else {
        user_error_got(L, -1,
                       "kernel %s, argument %s: expected an address, a number, or an array for its bytes",
                       kernel->name, param->name);
    }
}

static void list_params(const Kernel *kernel, char *text, size_t size) {
    size_t used = 0;
    text[0] = 0;
    for (uint32_t i = 0; i < kernel->param_count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", kernel->params[i].name);
}

/* A string: the bytes of all parameters as the kernel lays them out. */
static void take_packed(lua_State *L, const Kernel *kernel, uint8_t *params) {
    size_t length;
    const char *bytes = lua_tolstring(L, -1, &length);
    if (length != kernel->param_bytes)
        user_error("kernel %s: args: expected %u bytes, got %zu", kernel->name, kernel->param_bytes, length);
    memcpy(params, bytes, length);
    lua_pop(L, 1);
}

/* Is the key beside the value on top one of a list of `given` elements, or the `n` of table.pack()? */
static bool is_key_of_list(lua_State *L, lua_Integer given) {
    if (lua_isinteger(L, -2)) return lua_tointeger(L, -2) >= 1 && lua_tointeger(L, -2) <= given;
    bool is_n = lua_type(L, -2) == LUA_TSTRING && strcmp(lua_tostring(L, -2), "n") == 0;
    return is_n && lua_isinteger(L, -1) && lua_tointeger(L, -1) == given;
}

/* The list on top of the stack has nothing beside its elements; of several such keys the first by name is told, since
 * the order of a table is never the same. */
static void check_list_keys(lua_State *L, const Kernel *kernel, size_t given) {
    char first[64] = "";
    for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
        if (is_key_of_list(L, (lua_Integer)given)) continue;
        const char *key = luaL_tolstring(L, -2, NULL);
        if (!first[0] || strncmp(key, first, sizeof first - 1) < 0) snprintf(first, sizeof first, "%s", key);
        lua_pop(L, 1);
    }
    if (first[0])
        user_error("kernel %s: args: expected a list of %u, got the key '%s' beside it", kernel->name,
                   kernel->param_count, first);
}

static void pack_arguments(lua_State *L, const Kernel *kernel, uint8_t *params) {
    char names[1024];
    int type = lua_getfield(L, 3, "args");
    if (type == LUA_TSTRING) {
        take_packed(L, kernel, params);
        return;
    }
    size_t given = type == LUA_TNIL ? 0 : lua_rawlen(L, -1);
    if (type != LUA_TNIL && type != LUA_TTABLE)
        user_error_got(L, -1, "kernel %s: args: expected a list, or the bytes of all as a string",
                       kernel->name);
    if (given != kernel->param_count) {
        list_params(kernel, names, sizeof names);
        user_error("kernel %s: args: expected %u (%s), got %zu", kernel->name, kernel->param_count, names,
                   given);
    }
    if (type == LUA_TTABLE) check_list_keys(L, kernel, given);
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        lua_rawgeti(L, -1, i + 1);
        pack_argument(L, kernel, &kernel->params[i], params);
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

/* --- A launch ---------------------------------------------------------------------------------- */

void take_launch_options(lua_State *L, const char *kernel) {
    static const char *const legal[] = {"grid",  "block",       "shared",  "registers", "stack", "args",
                                        "timed", "cooperative", "forward", "tenant",    NULL};
    char where[256];
    if (!lua_istable(L, 3)) user_error_got(L, 3, "launch: expected { grid =, block =, args = }");
    snprintf(where, sizeof where, "launch of kernel %s", kernel);
    take_options(L, 3, where, legal);
}

static uint32_t read_tenant(lua_State *L, const Kernel *kernel) {
    bool is_named = lua_getfield(L, 3, "tenant") != LUA_TNIL;
    int whole;
    lua_Integer tenant = lua_tointegerx(L, -1, &whole);
    if (is_named && (!whole || tenant < 1 || tenant > MOST_TENANTS))
        user_error_got(L, -1, "kernel %s: tenant: expected a whole number from 1 to %d, or none",
                       kernel->name, MOST_TENANTS);
    lua_pop(L, 1);
    return (uint32_t)tenant;
}

Launch launch_at(lua_State *L, const Kernel *kernel, bool returns_faults) {
    Launch launch = {.returns_faults = returns_faults};
    read_dimensions(L, kernel->name, "grid", !returns_faults, launch.grid);
    read_dimensions(L, kernel->name, "block", !returns_faults, launch.block);
    launch.is_untimed = !read_flag(L, kernel->name, "timed", true);
    launch.is_cooperative = read_flag(L, kernel->name, "cooperative", false);
    launch.shared_bytes = read_optional_count(L, kernel->name, "shared");
    launch.registers = read_optional_count(L, kernel->name, "registers");
    launch.stack_bytes = read_optional_count(L, kernel->name, "stack");
    launch.forward_ctas = read_optional_count(L, kernel->name, "forward");
    launch.tenant = read_tenant(L, kernel);
    launch.params = memset(lua_newuserdatauv(L, kernel->param_bytes + 1, 0), 0, kernel->param_bytes + 1);
    pack_arguments(L, kernel, launch.params);
    return launch;
}

/* --- Several ----------------------------------------------------------------------------------- */

/* Of the list at stack index 2. */
static void refuse_keys_beside(lua_State *L, lua_Unsigned count, const char *what) {
    for (lua_pushnil(L); lua_next(L, 2); lua_pop(L, 1)) {
        bool is_place = lua_isinteger(L, -2) && lua_tointeger(L, -2) >= 1 &&
                        (lua_Unsigned)lua_tointeger(L, -2) <= count;
        if (!is_place) user_error_got(L, -2, "%s: expected a list of kernels and nothing beside them", what);
    }
}

/* `behind` and `priority` are of kernels that join others. */
void take_launches(lua_State *L, const Machine *machine, const char *what, bool is_async) {
    static const char *const all[] = {"behind", "priority",    "kernel", "grid", "block",
                                      "shared", "registers",   "stack",  "args", "after",
                                      "tenant", "cooperative", NULL};
    const char *const *legal = is_async ? all : all + 2;
    lua_Unsigned count = lua_istable(L, 2) ? lua_rawlen(L, 2) : 0;
    if (count > MAX_KERNELS_TOGETHER)
        user_error("%s: expected a list of 1 to %d kernels, got %llu", what, MAX_KERNELS_TOGETHER, count);
    if (count < 1)
        user_error_got(L, 2, "%s: expected a list of 1 to %d { kernel =, grid =, block =, args =, after = }",
                       what, MAX_KERNELS_TOGETHER);
    refuse_keys_beside(L, count, what);
    lua_createtable(L, (int)count, 0);
    for (lua_Integer k = 1; k <= (lua_Integer)count; k++) {
        char where[64];
        snprintf(where, sizeof where, "%s: kernel %lld", what, k);
        if (lua_rawgeti(L, 2, k) != LUA_TTABLE)
            user_error_got(L, -1, "%s: expected { kernel =, grid =, block =, args =, after = }", where);
        take_options(L, lua_gettop(L), where, legal);
        lua_getfield(L, -1, "kernel");
        kernel_at(L, -1, machine, where);
        lua_pop(L, 1);
        lua_rawseti(L, -2, k);
    }
    lua_replace(L, 2);
}

/* A field of the table at stack index 3: a number, or a list of them. Pushes it. */
static lua_Unsigned push_numbers(lua_State *L, const KernelLaunch *launch, const char *field) {
    int type = lua_getfield(L, 3, field);
    lua_Unsigned count = type == LUA_TTABLE ? lua_rawlen(L, -1) : type != LUA_TNIL;
    if (count > MAX_KERNELS_IN_FLIGHT)
        user_error("kernel %s: %s: expected up to %d numbers, got %llu", launch->kernel->name, field,
                   MAX_KERNELS_IN_FLIGHT, count);
    return count;
}

/* Pushes the i-th of those on top of the stack. */
static void push_number(lua_State *L, lua_Unsigned i) {
    if (lua_istable(L, -1))
        lua_rawgeti(L, -1, (lua_Integer)i + 1);
    else
        lua_pushvalue(L, -1);
}

/* The field `after`: a place in the list or several, from 1 on. What it pushes stays on the stack: `room` is for more. */
static void read_after(lua_State *L, KernelLaunch *launch, lua_Integer number, uint32_t place,
                       uint32_t room) {
    lua_Unsigned count = push_numbers(L, launch, "after");
    uint32_t *after = lua_newuserdatauv(L, (count + room + 1) * sizeof *after, 0);
    lua_insert(L, -2);
    for (lua_Unsigned i = 0; i < count; i++) {
        int whole;
        push_number(L, i);
        lua_Integer before = lua_tointegerx(L, -1, &whole);
        if (!whole || before < 1 || before >= number)
            user_error_got(L, -1,
                           "kernel %s, number %d: after: expected a place before it in the list, or several, "
                           "from 1 on",
                           launch->kernel->name, (int)number);
        after[i] = place + (uint32_t)before - 1;
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    launch->after = after;
    launch->after_count = (uint32_t)count;
}

/* The same, and the field `behind`: numbers of kernels that were launched before. Those of earlier launches have ended. */
static void read_behind(lua_State *L, KernelLaunch *launch, lua_Integer number, LaunchPlace at) {
    lua_Unsigned count = push_numbers(L, launch, "behind");
    uint32_t first = at.number - at.place;
    read_after(L, launch, number, at.place, (uint32_t)count);
    uint32_t *after = lua_touserdata(L, -1);
    lua_insert(L, -2);
    for (lua_Unsigned i = 0; i < count; i++) {
        int whole;
        push_number(L, i);
        lua_Integer before = lua_tointegerx(L, -1, &whole);
        if (!whole || before < 0 || before >= at.number)
            user_error_got(L, -1, "kernel %s: behind: expected the number of a launch before it, or several",
                           launch->kernel->name);
        if (before >= first) after[launch->after_count++] = (uint32_t)before - first;
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

static int32_t read_priority(lua_State *L, const KernelLaunch *launch) {
    int whole = true;
    lua_Integer priority = lua_getfield(L, 3, "priority") == LUA_TNIL ? 0 : lua_tointegerx(L, -1, &whole);
    if (!whole || priority < INT16_MIN || priority > INT16_MAX)
        user_error_got(L, -1, "kernel %s: priority: expected a whole number, lower ones first",
                       launch->kernel->name);
    lua_pop(L, 1);
    return (int32_t)priority;
}

/* `at`: NULL where nothing is joined. */
static LaunchList *read_launches(lua_State *L, const Machine *machine, uint32_t count, bool returns_faults,
                                 const LaunchPlace *at) {
    LaunchList *list = lua_newuserdatauv(L, sizeof *list, 0);
    lua_newtable(L);
    int kept = lua_gettop(L);
    for (uint32_t k = 0; k < count; k++) {
        lua_rawgeti(L, 2, k + 1);
        lua_replace(L, 3);
        lua_getfield(L, 3, "kernel");
        list->of[k] = (KernelLaunch){.kernel = kernel_at(L, -1, machine, "launch_together")->kernel,
                                     .launch = &list->launch[k]};
        list->launch[k] = launch_at(L, list->of[k].kernel, returns_faults);
        lua_rawseti(L, kept, 2 * k + 1);
        if (at) list->of[k].priority = read_priority(L, &list->of[k]);
        if (at)
            read_behind(L, &list->of[k], k + 1, *at);
        else
            read_after(L, &list->of[k], k + 1, 0, 0);
        lua_rawseti(L, kept, 2 * k + 2);
        lua_settop(L, kept);
    }
    return list;
}

LaunchList *launches_at(lua_State *L, const Machine *machine, uint32_t count, bool returns_faults) {
    return read_launches(L, machine, count, returns_faults, NULL);
}

LaunchList *async_launches_at(lua_State *L, const Machine *machine, uint32_t count, LaunchPlace at) {
    return read_launches(L, machine, count, true, &at);
}
