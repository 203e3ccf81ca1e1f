/* The GPU as host programs see it: memory, kernels, launches. */
#include "core/lua/array.h"
#include "core/lua/bindings.h"
#include "core/lua/machine.h"
#include "core/lua/texture.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char gpu_type[] = "warpwright.gpu", kernel_type[] = "warpwright.kernel";

/* GPUs and kernels have their machine as user value 1; a GPU has the list of its launches as user value 2. */
typedef struct {
    Machine *machine;
} GpuRef;

typedef struct {
    Machine *machine;
    const Kernel *kernel;
    const Module *module; /* that it is of */
} KernelRef;

static Machine *gpu_at(lua_State *L, int index) {
    GpuRef *ref = luaL_checkudata(L, index, gpu_type);
    raise_user_errors_in(L);
    if (!ref->machine->gpu) user_error("the machine of this GPU was closed");
    return ref->machine;
}

static double host_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* "12.3 M" and the like, for people. */
static const char *with_prefix(double value, char *text, size_t size) {
    static const char *const prefixes[] = {"", " k", " M", " G", " T"};
    size_t i = 0;
    while (value >= 1000 && i + 1 < sizeof prefixes / sizeof *prefixes)
        value /= 1000, i++;
    snprintf(text, size, value < 100 && i > 0 ? "%.1f%s" : "%.0f%s", value, prefixes[i]);
    return text;
}

static void show_progress(void *context) {
    Machine *machine = context;
    char cycles[32], instructions[32], rate[32];
    uint64_t cycle = gpu_cycle(machine->gpu), threads = gpu_thread_instructions(machine->gpu);
    double seconds = host_seconds() - machine->kernel_started;
    GpuProgress progress = gpu_progress(machine->gpu);
    fprintf(stderr, "\r\033[K%s: %s cycles, %s instructions, IPC %.1f, %s cycles/s, %s %lu/%lu CTAs",
            machine->progress_prefix ? machine->progress_prefix : machine->sim->name,
            with_prefix((double)cycle, cycles, sizeof cycles),
            with_prefix((double)threads, instructions, sizeof instructions),
            cycle ? (double)threads / (double)cycle : 0.0,
            with_prefix(seconds > 0 ? (double)(cycle - machine->kernel_first_cycle) / seconds : 0, rate,
                        sizeof rate),
            progress.kernel ? progress.kernel : "", progress.ctas_done, progress.ctas);
    fflush(stderr);
    machine->progress_shown = true;
}

static void clear_progress(Machine *machine) {
    if (!machine->progress_shown) return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
    machine->progress_shown = false;
}

/* core.gpu(machine, bytes of memory, progress prefix or nil) -> gpu; wires are checked here. */
static int l_gpu(lua_State *L) {
    Machine *machine = machine_at(L, 1);
    lua_Integer bytes = luaL_checkinteger(L, 2);
    if (bytes < 1) user_error("memory: %lld bytes are not enough", bytes);
    if (machine->gpu) user_error("this machine has its GPU already");
    if (lua_isstring(L, 3)) machine->progress_prefix = strdup(lua_tostring(L, 3));
    machine->gpu = gpu_new(machine->sim, (uint64_t)bytes);
    gpu_elaborate(machine->gpu);
    GpuRef *ref = lua_newuserdatauv(L, sizeof *ref, 2);
    ref->machine = machine;
    lua_pushvalue(L, 1);
    lua_setiuservalue(L, -2, 1);
    lua_newtable(L);
    lua_setiuservalue(L, -2, 2);
    luaL_setmetatable(L, gpu_type);
    return 1;
}

/* gpu:set_cycle_limit(cycles): kernels stop there, with an error. */
static int l_set_cycle_limit(lua_State *L) {
    Machine *machine = gpu_at(L, 1);
    lua_Integer cycles = luaL_checkinteger(L, 2);
    if (cycles < 1) user_error("max_cycles: %lld is not a number of cycles", cycles);
    machine->cycle_limit = (uint64_t)cycles;
    return 0;
}

static uint64_t address_at(lua_State *L, int index, const char *what) {
    int whole;
    lua_Integer address = lua_tointegerx(L, index, &whole);
    if (!whole) user_error("%s: an address is wanted, this is %s", what, luaL_tolstring(L, index, NULL));
    return (uint64_t)address;
}

static void require_covered(const Machine *machine, const char *what, uint64_t address, uint64_t bytes) {
    DeviceMemory *memory = gpu_memory(machine->gpu);
    uint64_t start, end;
    if (bytes == 0 || device_covers(memory, address, bytes)) return;
    if (device_nearest(memory, address, &start, &end))
        user_error(
            "%s: %lu bytes at 0x%lx are not inside an allocation; the nearest is 0x%lx to 0x%lx (%lu bytes)",
            what, bytes, address, start, end - 1, end - start);
    user_error("%s: %lu bytes at 0x%lx, but nothing is allocated", what, bytes, address);
}

static uint64_t allocate(const Machine *machine, uint64_t bytes) {
    DeviceMemory *memory = gpu_memory(machine->gpu);
    uint64_t address = device_alloc(memory, bytes ? bytes : 1);
    if (!address)
        user_error("%lu bytes do not fit the device memory, in which %lu are allocated; `memory` of the run "
                   "sets its "
                   "size",
                   bytes, device_bytes_live(memory));
    return address;
}

/* gpu:alloc(bytes) -> address */
static int l_alloc(lua_State *L) {
    const Machine *machine = gpu_at(L, 1);
    int whole;
    lua_Integer bytes = lua_tointegerx(L, 2, &whole);
    if (!whole || bytes < 0)
        user_error("alloc: a number of bytes is wanted, this is %s", luaL_tolstring(L, 2, NULL));
    lua_pushinteger(L, (lua_Integer)allocate(machine, (uint64_t)bytes));
    return 1;
}

/* gpu:free(address) */
static int l_free(lua_State *L) {
    const Machine *machine = gpu_at(L, 1);
    uint64_t address = address_at(L, 2, "free");
    if (!device_release(gpu_memory(machine->gpu), address))
        user_error("free: 0x%lx is not the start of an allocation", address);
    return 0;
}

/* gpu:upload(array) -> address of a new allocation that holds it */
static int l_upload(lua_State *L) {
    const Machine *machine = gpu_at(L, 1);
    const Array *array = array_at(L, 2, "upload");
    uint64_t address = allocate(machine, array_bytes(array));
    if (array->count) gpu_write(machine->gpu, address, array->data, array_bytes(array));
    lua_pushinteger(L, (lua_Integer)address);
    return 1;
}

/* gpu:write(address, array) */
static int l_write(lua_State *L) {
    const Machine *machine = gpu_at(L, 1);
    uint64_t address = address_at(L, 2, "write");
    const Array *array = array_at(L, 3, "write");
    require_covered(machine, "write", address, array_bytes(array));
    if (array->count) gpu_write(machine->gpu, address, array->data, array_bytes(array));
    return 0;
}

/* gpu:fill(address, byte, count) */
static int l_fill(lua_State *L) {
    const Machine *machine = gpu_at(L, 1);
    uint64_t address = address_at(L, 2, "fill"), count = array_count_at(L, 4, "fill: count");
    lua_Integer byte = luaL_checkinteger(L, 3);
    if (byte < -128 || byte > 255) user_error("fill: %lld is not a byte", byte);
    require_covered(machine, "fill", address, count);
    if (count) gpu_fill(machine->gpu, address, (uint8_t)byte, count);
    return 0;
}

static Array *download(lua_State *L, const char *what, uint64_t count) {
    const Machine *machine = gpu_at(L, 1);
    ElementType type = array_type_at(L, 2);
    uint64_t address = address_at(L, 3, what);
    Array *array = array_new(L, type, count);
    require_covered(machine, what, address, array_bytes(array));
    if (count) device_read(gpu_memory(machine->gpu), address, array->data, array_bytes(array));
    return array;
}

/* gpu:download(type, address, count) -> array */
static int l_download(lua_State *L) {
    gpu_at(L, 1);
    download(L, "download", array_count_at(L, 4, "download: count"));
    return 1;
}

/* gpu:read(type, address) -> number */
static int l_read(lua_State *L) {
    gpu_at(L, 1);
    array_push_element(L, download(L, "read", 1), 0);
    return 1;
}

/* gpu:load(path of a PTX file) -> { name = kernel }, { names in the order of the file } */
static int l_load(lua_State *L) {
    Machine *machine = gpu_at(L, 1);
    const char *path = luaL_checkstring(L, 2);
    Module *module = module_load(path);
    machine->modules = realloc(machine->modules, (machine->module_count + 1) * sizeof(Module *));
    ensure(machine->modules);
    machine->modules[machine->module_count++] = module;
    gpu_place_module(machine->gpu, module);
    lua_newtable(L);
    lua_newtable(L);
    for (uint32_t i = 0; i < module->kernel_count; i++) {
        KernelRef *ref = lua_newuserdatauv(L, sizeof *ref, 1);
        *ref = (KernelRef){machine, &module->kernels[i], module};
        lua_getiuservalue(L, 1, 1);
        lua_setiuservalue(L, -2, 1);
        luaL_setmetatable(L, kernel_type);
        lua_setfield(L, -3, module->kernels[i].name);
        lua_pushstring(L, module->kernels[i].name);
        lua_rawseti(L, -2, i + 1);
    }
    return 2;
}

/* gpu:texture { buffer =, format =, width =, ... } -> handle */
static int l_texture(lua_State *L) {
    const Machine *machine = gpu_at(L, 1);
    Texture texture = texture_at(L, 2);
    TextureTable *table = gpu_textures(machine->gpu);
    require_covered(machine, "texture", texture.base, texture_bytes(&texture));
    uint64_t handle = texture_reserve(table);
    texture_bind(table, handle, &texture);
    lua_pushinteger(L, (lua_Integer)handle);
    return 1;
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
        user_error(
            "bind_texture: a kernel, or all kernels of a PTX file, is wanted (self.kernels), this is a %s",
            luaL_typename(L, index));
    if (ref->machine != machine)
        user_error("bind_texture: kernel %s was loaded into another machine", ref->kernel->name);
    return ref->module;
}

_Noreturn static void no_such_texture(const Module *module, const char *name) {
    char names[1024] = "";
    size_t used = 0;
    for (uint32_t i = 0; i < module->variable_count && used < sizeof names; i++)
        if (module->variables[i].space == SPACE_TEXTURE)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "",
                                     module->variables[i].name);
    if (!used) user_error("bind_texture: %s declares no texture, so '%s' neither", module->path, name);
    user_error("bind_texture: %s declares no texture '%s'; its textures are %s", module->path, name, names);
}

/* gpu:bind_texture(kernel or kernels, "name", handle): what the .texref of that name reads from now on */
static int l_bind_texture(lua_State *L) {
    const Machine *machine = gpu_at(L, 1);
    const Module *module = module_at(L, 2, machine);
    const char *name = luaL_checkstring(L, 3);
    const ModuleVariable *variable = module_texture(module, name);
    if (!variable) no_such_texture(module, name);
    TextureTable *table = gpu_textures(machine->gpu);
    int whole;
    const Texture *texture = texture_find(table, (uint64_t)lua_tointegerx(L, 4, &whole));
    if (!whole || !texture)
        user_error("bind_texture: a handle from gpu:texture {...} is wanted for '%s', this is %s", name,
                   luaL_tolstring(L, 4, NULL));
    texture_bind(table, variable->address, texture);
    return 0;
}

/* n, or { x, y, z }, of which y and z may be left out */
static void read_dimensions(lua_State *L, const char *kernel, const char *name, uint32_t size[3]) {
    bool is_table = lua_getfield(L, 3, name) == LUA_TTABLE;
    if (is_table && lua_rawlen(L, -1) > 3)
        user_error("kernel %s: %s has more than 3 dimensions", kernel, name);
    for (int i = 0; i < 3; i++) {
        int whole = true;
        if (is_table)
            lua_rawgeti(L, -1, i + 1);
        else if (i == 0)
            lua_pushvalue(L, -1);
        else
            lua_pushnil(L);
        lua_Integer value = i > 0 && lua_isnil(L, -1) ? 1 : lua_tointegerx(L, -1, &whole);
        if (!whole || value < 1 || value > UINT32_MAX)
            user_error("kernel %s: %s.%c is %s; a whole number from 1 on is wanted", kernel, name, "xyz"[i],
                       luaL_tolstring(L, -1, NULL));
        size[i] = (uint32_t)value;
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

static uint32_t read_optional_count(lua_State *L, const char *kernel, const char *name) {
    int whole = true;
    lua_Integer value = lua_getfield(L, 3, name) == LUA_TNIL ? 0 : lua_tointegerx(L, -1, &whole);
    if (!whole || value < 0 || value > UINT32_MAX)
        user_error("kernel %s: %s is %s; a whole number is wanted", kernel, name,
                   luaL_tolstring(L, -1, NULL));
    lua_pop(L, 1);
    return (uint32_t)value;
}

static void pack_integer(const Kernel *kernel, const KernelParam *param, lua_Integer value, uint8_t *at) {
    uint32_t bits = 8 * param->bytes;
    if (param->bytes > 8 || (param->bytes < 8 && (value < -(1ll << (bits - 1)) || value >= 1ll << bits)))
        user_error("kernel %s, argument %s: %lld does not fit its %u bytes", kernel->name, param->name, value,
                   param->bytes);
    memcpy(at, &value, param->bytes);
}

static void pack_float(const Kernel *kernel, const KernelParam *param, double value, uint8_t *at) {
    float single = (float)value;
    if (param->bytes == 4)
        memcpy(at, &single, 4);
    else if (param->bytes == 8)
        memcpy(at, &value, 8);
    else
        user_error("kernel %s, argument %s: the float %g does not fit its %u bytes", kernel->name,
                   param->name, value, param->bytes);
}

/* A number as the parameter's type wants it; a parameter that does not say takes integers and floats as they
 * are. */
static void pack_number(lua_State *L, const Kernel *kernel, const KernelParam *param, uint8_t *at) {
    int is_whole;
    lua_Integer whole = lua_tointegerx(L, -1, &is_whole);
    bool wants_float = param->type == PARAM_FLOAT || (param->type == PARAM_BITS && !lua_isinteger(L, -1));
    if (wants_float)
        pack_float(kernel, param, lua_tonumber(L, -1), at);
    else if (is_whole)
        pack_integer(kernel, param, whole, at);
    else
        user_error("kernel %s, argument %s: %g where an integer is wanted", kernel->name, param->name,
                   lua_tonumber(L, -1));
}

/* The Lua value on top of the stack as the kernel's parameter: a number, or an array as the bytes that it
 * is. */
static void pack_argument(lua_State *L, const Kernel *kernel, const KernelParam *param, uint8_t *params) {
    uint8_t *at = params + param->offset;
    const Array *array = array_test(L, -1);
    if (array) {
        if (array_bytes(array) != param->bytes)
            user_error("kernel %s, argument %s: %lu bytes where %u are wanted", kernel->name, param->name,
                       array_bytes(array), param->bytes);
        memcpy(at, array->data, param->bytes);
    } else if (lua_type(L, -1) == LUA_TNUMBER) {
        pack_number(L, kernel, param, at);
    } else {
        user_error("kernel %s, argument %s: a %s; legal is an address, a number, or an array for its bytes",
                   kernel->name, param->name, luaL_typename(L, -1));
    }
}

static void list_params(const Kernel *kernel, char *text, size_t size) {
    size_t used = 0;
    text[0] = 0;
    for (uint32_t i = 0; i < kernel->param_count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", kernel->params[i].name);
}

static void pack_arguments(lua_State *L, const Kernel *kernel, uint8_t *params) {
    char names[1024];
    int type = lua_getfield(L, 3, "args");
    size_t given = type == LUA_TNIL ? 0 : lua_rawlen(L, -1);
    if (type != LUA_TNIL && type != LUA_TTABLE)
        user_error("kernel %s: args is a %s, not a list", kernel->name, luaL_typename(L, -1));
    if (given != kernel->param_count) {
        list_params(kernel, names, sizeof names);
        user_error("kernel %s takes %u arguments (%s), %zu are given", kernel->name, kernel->param_count,
                   names, given);
    }
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        lua_rawgeti(L, -1, i + 1);
        pack_argument(L, kernel, &kernel->params[i], params);
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

static Gpu *volatile interruptible;

static void interrupt(int signal) {
    (void)signal;
    gpu_interrupt(interruptible);
}

/* Faults and hangs leave gpu_run() as Lua errors; this frame catches them. */
static int l_gpu_run(lua_State *L) {
    Machine *machine = lua_touserdata(L, 1);
    lua_pushinteger(L, gpu_run(machine->gpu, machine->cycle_limit));
    return 1;
}

/* While a kernel runs, Ctrl-C stops it at a quantum boundary, so that its counters can be looked at; the
 * second one kills. */
static RunStatus run_watched(lua_State *L, Machine *machine) {
    struct sigaction action = {.sa_handler = interrupt, .sa_flags = (int)SA_RESETHAND}, before;
    machine->kernel_started = host_seconds();
    machine->kernel_first_cycle = gpu_cycle(machine->gpu);
    if (isatty(STDERR_FILENO)) gpu_on_progress(machine->gpu, 1.0, show_progress, machine);
    interruptible = machine->gpu;
    sigaction(SIGINT, &action, &before);
    lua_pushcfunction(L, l_gpu_run);
    lua_pushlightuserdata(L, machine);
    int failed = lua_pcall(L, 1, 1, 0);
    sigaction(SIGINT, &before, NULL);
    clear_progress(machine);
    machine->seconds += host_seconds() - machine->kernel_started;
    if (failed) lua_error(L);
    RunStatus status = (RunStatus)lua_tointeger(L, -1);
    lua_pop(L, 1);
    return status;
}

static void run_kernel(lua_State *L, Machine *machine, const Kernel *kernel) {
    RunStatus status = run_watched(L, machine);
    if (status == RUN_DONE) return;
    GpuProgress progress = gpu_progress(machine->gpu);
    machine->stopped = status == RUN_CYCLE_LIMIT ? "max_cycles was reached" : "interrupted";
    user_error("kernel %s has not ended by cycle %lu: %s; %lu of %lu CTAs are done", kernel->name,
               gpu_cycle(machine->gpu), machine->stopped, progress.ctas_done, progress.ctas);
}

static void set_counter(lua_State *L, const char *name, uint64_t value) {
    lua_pushinteger(L, (lua_Integer)value);
    lua_setfield(L, -2, name);
}

static void push_launch_result(lua_State *L, const LaunchResult *result, const Launch *launch) {
    lua_newtable(L);
    lua_pushstring(L, result->kernel);
    lua_setfield(L, -2, "kernel");
    set_counter(L, "start_cycle", result->start_cycle);
    set_counter(L, "cycles", result->cycles);
    set_counter(L, "warp_instructions", result->warp_instructions);
    set_counter(L, "thread_instructions", result->thread_instructions);
    set_counter(L, "ctas", result->ctas);
    set_counter(L, "threads_per_cta", (uint64_t)launch->block[0] * launch->block[1] * launch->block[2]);
}

/* gpu:launch(kernel, { grid =, block =, shared =, args = }) -> what the launch did; blocks until the kernel
 * ended. */
static int l_launch(lua_State *L) {
    static const char *const legal[] = {"grid", "block", "shared", "registers", "args", NULL};
    Machine *machine = gpu_at(L, 1);
    const KernelRef *ref = luaL_testudata(L, 2, kernel_type);
    char where[256];
    if (!ref) user_error("launch: a kernel is wanted (self.kernels.NAME), this is a %s", luaL_typename(L, 2));
    if (ref->machine != machine)
        user_error("launch: kernel %s was loaded into another machine", ref->kernel->name);
    if (!lua_istable(L, 3))
        user_error("launch: { grid =, block =, args = } is wanted, this is a %s", luaL_typename(L, 3));
    const Kernel *kernel = ref->kernel;
    snprintf(where, sizeof where, "launch of kernel %s", kernel->name);
    check_keys(L, 3, where, legal);
    Launch launch = {0};
    read_dimensions(L, kernel->name, "grid", launch.grid);
    read_dimensions(L, kernel->name, "block", launch.block);
    launch.shared_bytes = read_optional_count(L, kernel->name, "shared");
    launch.registers = read_optional_count(L, kernel->name, "registers");
    launch.params = memset(lua_newuserdatauv(L, kernel->param_bytes + 1, 0), 0, kernel->param_bytes + 1);
    pack_arguments(L, kernel, launch.params);
    gpu_launch(machine->gpu, kernel, &launch);
    run_kernel(L, machine, kernel);
    LaunchResult result = gpu_last_launch(machine->gpu);
    push_launch_result(L, &result, &launch);
    lua_getiuservalue(L, 1, 2);
    lua_pushvalue(L, -2);
    lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
    lua_pop(L, 1);
    return 1;
}

/* gpu:launches() -> the results of all launches so far */
static int l_launches(lua_State *L) {
    gpu_at(L, 1);
    lua_getiuservalue(L, 1, 2);
    return 1;
}

/* gpu:drain(): lets what is in flight finish. */
static int l_drain(lua_State *L) {
    gpu_drain(gpu_at(L, 1)->gpu);
    return 0;
}

/* gpu:digest() -> 16 hexadecimal digits over all live allocations */
static int l_digest(lua_State *L) {
    char digits[17];
    snprintf(digits, sizeof digits, "%016lx", device_digest(gpu_memory(gpu_at(L, 1)->gpu)));
    lua_pushstring(L, digits);
    return 1;
}

/* gpu:totals() -> counters since the machine was made, and why the last kernel did not end, if so */
static int l_totals(lua_State *L) {
    const Machine *machine = gpu_at(L, 1);
    lua_newtable(L);
    set_counter(L, "cycles", gpu_cycle(machine->gpu));
    set_counter(L, "warp_instructions", gpu_warp_instructions(machine->gpu));
    set_counter(L, "thread_instructions", gpu_thread_instructions(machine->gpu));
    set_counter(L, "memory_peak", device_bytes_peak(gpu_memory(machine->gpu)));
    lua_pushnumber(L, machine->seconds);
    lua_setfield(L, -2, "seconds");
    lua_pushstring(L, machine->stopped);
    lua_setfield(L, -2, "stopped");
    return 1;
}

static int l_kernel_tostring(lua_State *L) {
    const KernelRef *ref = luaL_checkudata(L, 1, kernel_type);
    raise_user_errors_in(L);
    lua_pushfstring(L, "kernel %s", ref->machine->sim ? ref->kernel->name : "of a closed machine");
    return 1;
}

void gpu_open(lua_State *L) {
    static const luaL_Reg gpu_metamethods[] = {{NULL, NULL}};
    static const luaL_Reg gpu_methods[] = {
        {"alloc", l_alloc},     {"free", l_free},
        {"upload", l_upload},   {"write", l_write},
        {"fill", l_fill},       {"download", l_download},
        {"read", l_read},       {"load", l_load},
        {"launch", l_launch},   {"launches", l_launches},
        {"digest", l_digest},   {"set_cycle_limit", l_set_cycle_limit},
        {"drain", l_drain},     {"totals", l_totals},
        {"texture", l_texture}, {"bind_texture", l_bind_texture},
        {NULL, NULL},
    };
    static const luaL_Reg kernel_metamethods[] = {{"__tostring", l_kernel_tostring}, {NULL, NULL}};
    static const luaL_Reg functions[] = {{"gpu", l_gpu}, {NULL, NULL}};
    define_type(L, gpu_type, gpu_metamethods, gpu_methods);
    define_type(L, kernel_type, kernel_metamethods, NULL);
    luaL_setfuncs(L, functions, 0);
}
