/* The GPU as host programs see it: its memory; launch.c runs the kernels that modules.c loads. What a host program asks goes
 * through the host log, so that a resumed one is answered as before. */
#include "core/lua/bindings.h"
#include "core/lua/device/array.h"
#include "core/lua/device/checkpoint.h"
#include "core/lua/device/in_flight.h"
#include "core/lua/device/launch.h"
#include "core/lua/device/launch_arguments.h"
#include "core/lua/device/modules.h"
#include "core/lua/device/texture.h"
#include "core/sass/sass_trace.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_ALIGN = 1 << 20 };

static const char gpu_type[] = "warpwright.gpu";

/* User values of a GPU: GPU_MACHINE and the like. */
typedef struct {
    Machine *machine;
} GpuRef;

Machine *gpu_at(lua_State *L, int index) {
    GpuRef *ref = luaL_checkudata(L, index, gpu_type);
    raise_user_errors_in(L);
    if (!machine_is_open(ref->machine)) user_error("gpu: its machine was closed");
    return ref->machine;
}

/* core.gpu(machine, bytes of memory, progress prefix or nil) -> gpu; wires are checked here. */
static int l_gpu(lua_State *L) {
    Machine *machine = machine_at(L, 1);
    lua_Integer bytes = luaL_checkinteger(L, 2);
    if (machine->gpu) user_error("gpu: expected a machine without a GPU, got one that has it");
    if (lua_isstring(L, 3)) machine->progress_prefix = strdup(lua_tostring(L, 3));
    machine->gpu = gpu_new(machine->sim, (uint64_t)bytes);
    gpu_elaborate(machine->gpu);
    GpuRef *ref = lua_newuserdatauv(L, sizeof *ref, GPU_USER_VALUES);
    ref->machine = machine;
    lua_pushvalue(L, 1);
    lua_setiuservalue(L, -2, GPU_MACHINE);
    lua_newtable(L);
    lua_setiuservalue(L, -2, GPU_LAUNCHES);
    luaL_setmetatable(L, gpu_type);
    lua_pushvalue(L, -1);
    lua_setiuservalue(L, 1, MACHINE_GPU);
    return 1;
}

/* gpu:set_cycle_limit(cycle): kernels stop there, with an error. */
static int l_set_cycle_limit(lua_State *L) {
    Machine *machine = gpu_at(L, 1);
    int is_whole;
    lua_Integer cycle = lua_tointegerx(L, 2, &is_whole);
    if (!is_whole || cycle < 1) user_error_got(L, 2, "gpu:set_cycle_limit: expected a core cycle from 1 on");
    machine->cycle_limit = (uint64_t)cycle;
    return 0;
}

/* gpu:set_bounds("strict" or "hardware"): before the first allocation */
static int l_set_bounds(lua_State *L) {
    Machine *machine = gpu_at(L, 1);
    const char *bounds = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "";
    bool strict = strcmp(bounds, "strict") == 0;
    if (!strict && strcmp(bounds, "hardware") != 0)
        user_error_got(L, 2, "bounds: expected \"strict\" or \"hardware\"");
    if (device_bytes_live(gpu_memory(machine->gpu)))
        user_error("bounds: expected a GPU on which nothing is allocated, got one with %lu bytes",
                   device_bytes_live(gpu_memory(machine->gpu)));
    device_set_bounds(gpu_memory(machine->gpu), strict ? BOUNDS_STRICT : BOUNDS_HARDWARE);
    return 0;
}

/* gpu:set_fast_forward(launch, share, warm): launches before this one, and then this share of its CTAs, have no timing.
 * `warm`: in launches, how much of it at the end leaves its lines in the caches. */
static int l_set_fast_forward(lua_State *L) {
    Machine *machine = gpu_at(L, 1);
    lua_Integer launch = luaL_checkinteger(L, 2);
    double share = luaL_checknumber(L, 3), warm = luaL_checknumber(L, 4);
    if (launch < 0 || launch > UINT32_MAX || !(share >= 0 && share <= 1) || !(warm >= 0))
        user_error(
            "fast_forward: expected a launch from 0 on, a share of 0 to 1 and a number of launches that "
            "warm caches, got %lld, %g and %g",
            launch, share, warm);
    machine->forward_launch = (uint32_t)launch;
    machine->forward_share = share;
    machine->forward_warm = warm;
    machine->forwards = true;
    return 0;
}

/* gpu:set_hang_report(path): a file for what every object waits for when a kernel hangs */
static int l_set_hang_report(lua_State *L) {
    gpu_hang_report(gpu_at(L, 1)->gpu, luaL_checkstring(L, 2));
    return 0;
}

/* The machine of the GPU at index 1, for a call that changes what is on the device. The host program's calls
 * are repeated when a run is resumed, those of a script that looks at it from outside are not; and nothing
 * may change while a kernel runs. */
Machine *machine_to_change(lua_State *L, const char *what) {
    Machine *machine = gpu_at(L, 1);
    if (machine->sim->faulted)
        user_error("%s: machine %s was stopped by an error and cannot go on; until sim:close() the device "
                   "can be read",
                   what, machine->sim->name);
    if (machine->launched && machine->stopped)
        user_error("%s: kernel %s was stopped (%s): the machine cannot go on, the device can be read", what,
                   gpu_progress(machine->gpu).kernel, machine->stopped);
    if (host_program_waits(machine))
        user_error("%s: kernel %s has not ended; until then the device is read-only", what,
                   gpu_progress(machine->gpu).kernel);
    if (machine->host_program == PROGRAM_WAITS)
        user_error("%s: the host program has not ended; until then the device is read-only for scripts",
                   what);
    device_note_call(gpu_memory(machine->gpu), host_log_next(&machine->log));
    return machine;
}

/* Is this call, which reads from the device, the host program's? Its answers are logged. While a kernel runs
 * nobody's are: the log goes on with what the kernel did. */
static bool is_logged(const Machine *machine, const char *what) {
    bool logged = asked_by_host_program(machine) && !host_program_waits(machine);
    if (!logged) require_caught_up(machine, what);
    return logged;
}

static uint64_t address_at(lua_State *L, int index, const char *what) {
    int whole;
    lua_Integer address = lua_tointegerx(L, index, &whole);
    if (!whole) user_error_got(L, index, "%s: expected an address", what);
    return (uint64_t)address;
}

static void require_covered(const Machine *machine, const char *what, uint64_t address, uint64_t bytes) {
    DeviceMemory *memory = gpu_memory(machine->gpu);
    char where[300];
    if (bytes == 0 || device_covers(memory, address, bytes)) return;
    fault_describe_miss(memory, address, bytes, where, sizeof where);
    user_error("%s: expected bytes inside an allocation, got %lu bytes at 0x%lx%s", what, bytes, address,
               where);
}

static uint64_t allocate(Machine *machine, uint64_t bytes, uint64_t align) {
    DeviceMemory *memory = gpu_memory(machine->gpu);
    uint64_t address = device_alloc_aligned(memory, bytes ? bytes : 1, align, NULL);
    if (!address)
        user_error("alloc: %lu bytes do not fit in device memory, of which %lu are allocated; `memory` of "
                   "the run sets its size",
                   bytes, device_bytes_live(memory));
    return address;
}

/* A call that a resumed program repeats for its effect: its answer follows from the calls before. */
void repeated_call(lua_State *L, Machine *machine) {
    host_log_answer(&machine->log, NULL, 0);
    after_host_call(L, machine);
}

static void log_write(Machine *machine, const char *what, uint64_t address, const Array *array) {
    if (machine->log.is_off) return; /* the digest takes time */
    uint64_t digest = hash_bytes(address, array->data, array_bytes(array));
    host_log_call(&machine->log, digest, "%s %lu bytes at 0x%lx", what, array_bytes(array), address);
}

/* gpu:alloc(bytes[, a power of two of which the address is a multiple]) -> address */
static int l_alloc(lua_State *L) {
    Machine *machine = machine_to_change(L, "alloc");
    int whole;
    lua_Integer bytes = lua_tointegerx(L, 2, &whole);
    lua_Integer align = lua_isnoneornil(L, 3) ? 1 : whole_argument(L, 3, "alloc: align");
    if (align < 1 || align > MOST_ALIGN || (align & (align - 1)))
        user_error("alloc: align: expected a power of two up to %d, got %lld", MOST_ALIGN, align);
    if (!whole || bytes < 0) user_error_got(L, 2, "alloc: expected a number of bytes");
    lua_pushinteger(L, (lua_Integer)allocate(machine, (uint64_t)bytes, (uint64_t)align));
    host_log_call(&machine->log, (uint64_t)bytes ^ (uint64_t)(align - 1) << 40, "alloc %lld bytes", bytes);
    repeated_call(L, machine);
    return 1;
}

/* gpu:free(address) */
static int l_free(lua_State *L) {
    Machine *machine = machine_to_change(L, "free");
    uint64_t address = address_at(L, 2, "free");
    if (!device_release(gpu_memory(machine->gpu), address))
        user_error("free: expected the start of an allocation, got 0x%lx", address);
    host_log_call(&machine->log, address, "free 0x%lx", address);
    repeated_call(L, machine);
    return 0;
}

/* gpu:upload(array) -> address of a new allocation that holds it */
static int l_upload(lua_State *L) {
    Machine *machine = machine_to_change(L, "upload");
    const Array *array = array_at(L, 2, "upload");
    uint64_t address = allocate(machine, array_bytes(array), 1);
    log_write(machine, "upload", address, array);
    if (array->count) gpu_write(machine->gpu, address, array->data, array_bytes(array));
    repeated_call(L, machine);
    lua_pushinteger(L, (lua_Integer)address);
    return 1;
}

/* gpu:write(address, array) */
static int l_write(lua_State *L) {
    Machine *machine = machine_to_change(L, "write");
    uint64_t address = address_at(L, 2, "write");
    const Array *array = array_at(L, 3, "write");
    require_covered(machine, "write", address, array_bytes(array));
    log_write(machine, "write", address, array);
    if (array->count) gpu_write(machine->gpu, address, array->data, array_bytes(array));
    repeated_call(L, machine);
    return 0;
}

/* gpu:recorded_copy(address, bytes): the host of a recorded program wrote there. No values are known, but L2s may keep the
 * lines, see host_copies. */
static int l_recorded_copy(lua_State *L) {
    Machine *machine = machine_to_change(L, "recorded_copy");
    uint64_t address = address_at(L, 2, "recorded_copy") & SASS_GLOBAL_MASK;
    lua_Integer bytes = whole_argument(L, 3, "recorded_copy: bytes");
    lua_Integer most = (lua_Integer)(SASS_GLOBAL_MASK + 1 - address);
    if (bytes < 0 || bytes > most)
        user_error("recorded_copy: bytes: expected 0 to %lld behind 0x%lx, got %lld", most, address, bytes);
    host_log_call(&machine->log, (uint64_t)bytes, "recorded copy of %lld bytes to 0x%lx", bytes, address);
    gpu_keep_copy(machine->gpu, address, (uint64_t)bytes);
    repeated_call(L, machine);
    return 0;
}

/* gpu:fill(address, byte, count) */
static int l_fill(lua_State *L) {
    Machine *machine = machine_to_change(L, "fill");
    uint64_t address = address_at(L, 2, "fill"), count = array_count_at(L, 4, "fill: count");
    lua_Integer byte = whole_argument(L, 3, "fill: byte");
    if (byte < -128 || byte > 255) user_error("fill: expected a byte (-128 to 255), got %lld", byte);
    require_covered(machine, "fill", address, count);
    host_log_call(&machine->log, 0, "fill %lu bytes at 0x%lx with 0x%02x", count, address, (uint8_t)byte);
    if (count) gpu_fill(machine->gpu, address, (uint8_t)byte, count);
    repeated_call(L, machine);
    return 0;
}

static Array *download(lua_State *L, const char *what, uint64_t count) {
    Machine *machine = gpu_at(L, 1);
    ElementType type = array_type_at(L, 2);
    uint64_t address = address_at(L, 3, what);
    require_covered(machine, what, address, count * array_element_bytes(type));
    Array *array = array_new(L, type, count);
    bool logged = is_logged(machine, what);
    if (logged) host_log_call(&machine->log, 0, "%s %lu bytes at 0x%lx", what, array_bytes(array), address);
    if (logged && host_log_take(&machine->log, array->data, array_bytes(array))) {
        after_host_call(L, machine);
        return array;
    }
    if (count) device_read(gpu_memory(machine->gpu), address, array->data, array_bytes(array));
    if (logged) host_log_answer(&machine->log, array->data, array_bytes(array));
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

/* gpu:texture { buffer =, format =, width =, ... } -> handle */
static int l_texture(lua_State *L) {
    machine_to_change(L, "texture");
    take_texture_options(L, 2);
    Machine *machine = machine_to_change(L, "texture");
    Texture texture = texture_at(L, 2);
    TextureTable *table = gpu_textures(machine->gpu);
    require_covered(machine, "texture", texture.base, texture_bytes(&texture));
    host_log_call(&machine->log, hash_bytes(0, &texture, sizeof texture),
                  "texture of %u x %u texels at 0x%lx", texture.width, texture.height, texture.base);
    uint64_t handle = texture_reserve(table);
    texture_bind(table, handle, &texture);
    lua_pushinteger(L, (lua_Integer)handle);
    repeated_call(L, machine);
    return 1;
}

static int go_on_to_launch(lua_State *L, int resumed, lua_KContext returns_faults);

static int launch_or_pause(lua_State *L, bool returns_faults) {
    Machine *machine = machine_to_change(L, "launch");
    const KernelRef *ref = kernel_at(L, 2, machine, "launch");
    take_launch_options(L, ref->kernel->name);
    machine = machine_to_change(L, "launch");
    if (pauses_before_launch(L, machine, 1)) return pause_host_program(L, returns_faults, go_on_to_launch);
    return launch_kernel(L, machine, ref->kernel, returns_faults);
}

/* The machine may have another policy by then, or be closed. */
static int go_on_to_launch(lua_State *L, int resumed, lua_KContext returns_faults) {
    (void)resumed;
    lua_settop(L, 3);
    return launch_or_pause(L, returns_faults != 0);
}

/* gpu:launch(kernel, { grid =, block =, ... }) -> what it did */
static int l_launch(lua_State *L) {
    return launch_or_pause(L, false);
}

/* gpu:try_launch(kernel, { grid =, block =, ... }) -> what it did, its fault or nil */
static int l_try_launch(lua_State *L) {
    return launch_or_pause(L, true);
}

/* Of launches of several kernels, how: what a pause keeps. */
enum { RETURNS_FAULTS = 1, STAYS_OPEN = 2 };

static int go_on_to_launches(lua_State *L, int resumed, lua_KContext how);

static int launches_or_pause(lua_State *L, lua_KContext how) {
    static const char *const names[] = {[0] = "launch_together",
                                        [RETURNS_FAULTS] = "try_launch_together",
                                        [STAYS_OPEN] = "launch_async",
                                        [STAYS_OPEN | RETURNS_FAULTS] = "try_launch_async"};
    bool returns_faults = how & RETURNS_FAULTS, stays_open = how & STAYS_OPEN;
    take_launches(L, machine_to_change(L, names[how]), names[how], stays_open);
    Machine *machine = machine_to_change(L, names[how]);
    if (pauses_before_launch(L, machine, lua_rawlen(L, 2)))
        return pause_host_program(L, how, go_on_to_launches);
    return stays_open ? launch_kernels_async(L, machine, returns_faults)
                      : launch_kernels_together(L, machine, returns_faults);
}

static int go_on_to_launches(lua_State *L, int resumed, lua_KContext how) {
    (void)resumed;
    lua_settop(L, 2);
    return launches_or_pause(L, how);
}

/* gpu:launch_together { { kernel =, grid =, block =, ..., after = }, ... } -> list of what each of them did */
static int l_launch_together(lua_State *L) {
    return launches_or_pause(L, 0);
}

/* gpu:try_launch_together { ... } -> list of what each of them did, the fault that ended them or nil */
static int l_try_launch_together(lua_State *L) {
    return launches_or_pause(L, RETURNS_FAULTS);
}

/* gpu:launch_async { { kernel =, grid =, block =, ..., after =, behind = }, ... } -> number of the first of them */
static int l_launch_async(lua_State *L) {
    return launches_or_pause(L, STAYS_OPEN);
}

/* gpu:try_launch_async { ... } -> the same, or nil and why they are refused */
static int l_try_launch_async(lua_State *L) {
    return launches_or_pause(L, STAYS_OPEN | RETURNS_FAULTS);
}

/* gpu:wait(numbers, cycles) -> { [number] = what it did, ... }, the fault that ended them or nil, core cycle */
static int l_wait(lua_State *L) {
    return wait_for_kernels(L, machine_to_change(L, "wait"));
}

static uint64_t size_at(lua_State *L, int index, const char *what) {
    const lua_Integer most = 1ll << 40;
    int whole;
    lua_Integer bytes = lua_tointegerx(L, index, &whole);
    if (!whole || bytes < 0 || bytes > most)
        user_error_got(L, index, "%s: expected a number of bytes up to %lld", what, most);
    return (uint64_t)bytes;
}

/* gpu:set_heap(bytes): of the heap of malloc in kernels; before the first module that has it is loaded */
static int l_set_heap(lua_State *L) {
    Machine *machine = machine_to_change(L, "set_heap");
    require_none_in_flight(machine, "set_heap");
    uint64_t bytes = size_at(L, 2, "set_heap");
    if (!gpu_set_heap(machine->gpu, bytes))
        user_error(
            "set_heap: expected a size before the first module with malloc is loaded, got one behind it");
    host_log_call(&machine->log, bytes, "heap of %lu bytes", bytes);
    repeated_call(L, machine);
    return 0;
}

/* gpu:set_print_limit(bytes): what a launch may print at most; the rest is dropped */
static int l_set_print_limit(lua_State *L) {
    Machine *machine = machine_to_change(L, "set_print_limit");
    uint64_t bytes = size_at(L, 2, "set_print_limit");
    host_log_call(&machine->log, bytes, "up to %lu bytes printed", bytes);
    gpu_set_print_limit(machine->gpu, bytes);
    repeated_call(L, machine);
    return 0;
}

/* gpu:launches() -> the results of all launches so far */
static int l_launches(lua_State *L) {
    gpu_at(L, 1);
    lua_getiuservalue(L, 1, GPU_LAUNCHES);
    return 1;
}

/* gpu:drain() -> whether it let what is in flight finish: a resumed machine comes from behind that. */
static int l_drain(lua_State *L) {
    Machine *machine = machine_to_change(L, "drain");
    require_none_in_flight(machine, "drain");
    bool replaying = host_log_replaying(&machine->log);
    host_log_call(&machine->log, 0, "drain");
    if (!replaying) gpu_drain(machine->gpu);
    repeated_call(L, machine);
    lua_pushboolean(L, !replaying);
    return 1;
}

/* core.drain_after_program(gpu) -> the same, behind the end of a host program, which is the last call in its log. */
static int l_drain_after_program(lua_State *L) {
    Machine *machine = gpu_at(L, 1);
    bool replaying = host_log_replaying(&machine->log);
    if (!replaying) gpu_drain(machine->gpu);
    lua_pushboolean(L, !replaying);
    return 1;
}

/* gpu:digest() -> 16 hexadecimal digits over all live allocations */
static int l_digest(lua_State *L) {
    Machine *machine = gpu_at(L, 1);
    char digits[17];
    uint64_t digest;
    bool logged = is_logged(machine, "digest");
    if (logged) host_log_call(&machine->log, 0, "digest");
    if (logged && host_log_take(&machine->log, &digest, sizeof digest)) {
        after_host_call(L, machine);
    } else {
        digest = device_digest(gpu_memory(machine->gpu));
        if (logged) host_log_answer(&machine->log, &digest, sizeof digest);
    }
    snprintf(digits, sizeof digits, "%016lx", digest);
    lua_pushstring(L, digits);
    return 1;
}

static void set_counter(lua_State *L, const char *name, uint64_t value) {
    lua_pushinteger(L, (lua_Integer)value);
    lua_setfield(L, -2, name);
}

/* By the kernels of the launch that has not ended, whose results are not there yet. */
static void push_printed_so_far(lua_State *L, const Machine *machine) {
    luaL_Buffer text;
    luaL_buffinit(L, &text);
    for (uint32_t k = 0; k < gpu_kernel_count(machine->gpu); k++) {
        const PrintedText *printed = gpu_launch_result(machine->gpu, k).printed;
        luaL_addlstring(&text, (const char *)printed->text.bytes, printed->text.count);
    }
    luaL_pushresult(&text);
}

/* gpu:totals() -> counters since the machine was made, the kernel that runs, if one does, how many of its CTAs, or
 * of the last kernel's, are done, and why the last one did not end, if so */
static int l_totals(lua_State *L) {
    const Machine *machine = gpu_at(L, 1);
    lua_newtable(L);
    set_counter(L, "cycles", gpu_cycle(machine->gpu));
    set_counter(L, "warp_instructions", gpu_warp_instructions(machine->gpu));
    set_counter(L, "thread_instructions", gpu_thread_instructions(machine->gpu));
    set_counter(L, "memory_peak", device_bytes_peak(gpu_memory(machine->gpu)));
    lua_pushnumber(L, machine->seconds);
    lua_setfield(L, -2, "seconds");
    lua_pushboolean(L, machine->sim->faulted != 0);
    lua_setfield(L, -2, "faulted");
    lua_pushstring(L, machine->stopped);
    lua_setfield(L, -2, "stopped");
    GpuProgress progress = gpu_progress(machine->gpu);
    set_counter(L, "ctas_done", progress.ctas_done);
    set_counter(L, "ctas", progress.ctas);
    if (!machine->launched) return 1;
    lua_pushstring(L, progress.kernel);
    lua_setfield(L, -2, "kernel");
    push_printed_so_far(L, machine);
    lua_setfield(L, -2, "printed");
    return 1;
}

void gpu_open(lua_State *L) {
    static const luaL_Reg gpu_metamethods[] = {{NULL, NULL}};
    static const luaL_Reg gpu_methods[] = {
        {"alloc", l_alloc},
        {"free", l_free},
        {"upload", l_upload},
        {"write", l_write},
        {"fill", l_fill},
        {"recorded_copy", l_recorded_copy},
        {"download", l_download},
        {"read", l_read},
        {"load", l_gpu_load},
        {"launch", l_launch},
        {"try_launch", l_try_launch},
        {"launch_together", l_launch_together},
        {"try_launch_together", l_try_launch_together},
        {"launch_async", l_launch_async},
        {"try_launch_async", l_try_launch_async},
        {"wait", l_wait},
        {"launches", l_launches},
        {"set_heap", l_set_heap},
        {"set_print_limit", l_set_print_limit},
        {"digest", l_digest},
        {"set_cycle_limit", l_set_cycle_limit},
        {"set_bounds", l_set_bounds},
        {"set_fast_forward", l_set_fast_forward},
        {"drain", l_drain},
        {"totals", l_totals},
        {"texture", l_texture},
        {"bind_texture", l_gpu_bind_texture},
        {"set_hang_report", l_set_hang_report},
        {NULL, NULL},
    };
    static const luaL_Reg functions[] = {
        {"gpu", l_gpu}, {"drain_after_program", l_drain_after_program}, {NULL, NULL}};
    define_type(L, gpu_type, gpu_metamethods, gpu_methods);
    luaL_setfuncs(L, functions, 0);
}
