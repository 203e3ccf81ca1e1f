/* Kernel launches of host programs: arguments, the run with its pauses, checkpoints and signals, and what a
 * launch did. */
#include "core/lua/device/launch.h"

#include "core/lua/bindings.h"
#include "core/lua/component/lua_objects.h"
#include "core/lua/device/array.h"
#include "core/lua/device/checkpoint.h"
#include "core/lua/device/faults.h"
#include "core/lua/device/modules.h"
#include "core/lua/device/sampling.h"
#include "core/lua/host/signals.h"
#include "core/lua/policy/policy.h"
#include "core/ptx/execution/exec.h"

#include <math.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double host_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

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
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        lua_rawgeti(L, -1, i + 1);
        pack_argument(L, kernel, &kernel->params[i], params);
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

/* --- Progress -------------------------------------------------------------------------------- */

/* "12.3 M" and the like, for people. */
static const char *with_prefix(double value, char *text, size_t size) {
    static const char *const prefixes[] = {"", " k", " M", " G", " T"};
    size_t i = 0;
    while (value >= 1000 && i + 1 < sizeof prefixes / sizeof *prefixes)
        value /= 1000, i++;
    snprintf(text, size, value < 100 && i > 0 ? "%.1f%s" : "%.0f%s", value, prefixes[i]);
    return text;
}

static void show_progress(Machine *machine) {
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

/* Between quanta, or turns of a launch without timing, every now and then. */
static void look_around(void *context) {
    Machine *machine = context;
    if (machine->launched && !machine->sampled && isatty(STDERR_FILENO)) show_progress(machine);
    if (machine->caller_has_gone && machine->caller_has_gone(machine->caller))
        gpu_give_up(machine->gpu, "the program that launched it has ended");
}

static void keep_looking_around(Machine *machine) {
    if (machine->caller_has_gone || isatty(STDERR_FILENO))
        gpu_on_progress(machine->gpu, machine->caller_has_gone ? 0.2 : 1.0, look_around, machine);
}

static void clear_progress(Machine *machine) {
    if (!machine->progress_shown) return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
    machine->progress_shown = false;
}

/* --- Host programs in coroutines ------------------------------------------------------------- */

/* core.program_runs(gpu, its coroutine, cycle or nil): from here on what is asked of the GPU is asked by the
 * host program, which yields where it launches a kernel once the core clock has reached this cycle. SIGINT
 * and SIGTERM stop its run at a quantum boundary, after a checkpoint; SIGUSR1 makes one and goes on. For one
 * GPU at a time. */
static int l_program_runs(lua_State *L) {
    Machine *machine = gpu_at(L, 1);
    lua_Integer cycle = luaL_optinteger(L, 3, -1);
    luaL_checktype(L, 2, LUA_TTHREAD);
    if (!lua_isnoneornil(L, 3) && cycle < 0)
        user_error("until_cycle: expected a cycle from 0 on, got %lld", cycle);
    machine->pause_cycle = cycle < 0 ? NEVER : (uint64_t)cycle;
    machine->coroutine = lua_tothread(L, 2);
    machine->host_program = PROGRAM_RUNS;
    signals_watch(machine, machine->coroutine);
    return 0;
}

/* core.program_rests(gpu, has it ended?): before its first run, and after each one. */
static int l_program_rests(lua_State *L) {
    Machine *machine = gpu_at(L, 1);
    machine->coroutine = NULL;
    machine->pause_cycle = NEVER;
    machine->host_program = lua_toboolean(L, 2) ? PROGRAM_HAS_ENDED : PROGRAM_WAITS;
    signals_unwatch(machine);
    return 0;
}

/* core.take_stop() -> "SIGINT" or "SIGTERM" when one has come to stop the run, which is for the caller then; or nil */
static int l_take_stop(lua_State *L) {
    if (!stop_signal) return 0;
    lua_pushstring(L, signal_name(signals_take()));
    return 1;
}

bool pauses_before_launch(lua_State *L, const Machine *machine) {
    return machine->coroutine == L && lua_isyieldable(L) && gpu_cycle(machine->gpu) >= machine->pause_cycle &&
           !host_log_replaying(&machine->log);
}

/* --- Running --------------------------------------------------------------------------------- */

/* Faults and hangs leave gpu_run() as Lua errors; run_part() catches them. */
static int l_gpu_run(lua_State *L) {
    Machine *machine = lua_touserdata(L, 1);
    raise_user_errors_in(L);
    lua_pushinteger(L, gpu_run(machine->gpu, (uint64_t)lua_tointeger(L, 2)));
    return 1;
}

/* What a policy said that failed: its own place first, the launch's last. */
static void raise_policy_failure(lua_State *L, Machine *machine) {
    const char *failure = sim_failure(machine->sim);
    if (!failure || machine->sim->faulted) return;
    machine->stopped = "error"; /* its counters can be looked at */
    raise_from_place(L, failure, "launched at");
}

/* Runs until the kernel is done, the machine reaches `cycle`, or a signal comes. */
static RunStatus run_part(lua_State *L, Machine *machine, uint64_t cycle) {
    machine->kernel_started = host_seconds();
    machine->kernel_first_cycle = gpu_cycle(machine->gpu);
    keep_looking_around(machine);
    lua_pushcfunction(L, l_gpu_run);
    lua_pushlightuserdata(L, machine);
    lua_pushinteger(L, (lua_Integer)(cycle == NEVER ? NEVER >> 1 : cycle));
    int failed = lua_pcall(L, 2, 1, 0);
    clear_progress(machine);
    machine->seconds += host_seconds() - machine->kernel_started;
    raise_user_errors_in(L);
    raise_policy_failure(L, machine);
    if (failed) {
        /* After a fault the machine stands in the middle of a cycle; else its counters can be looked at. */
        if (!machine->sim->faulted) machine->stopped = "error";
        lua_error(L);
    }
    RunStatus status = (RunStatus)lua_tointeger(L, -1);
    lua_pop(L, 1);
    return status;
}

#define MAX_CYCLES_REACHED "max_cycles was reached"

_Noreturn static void stop_run(Machine *machine, const char *why) {
    GpuProgress progress = gpu_progress(machine->gpu);
    machine->stopped = why;
    user_error("kernel %s has not ended by cycle %lu: %s; %lu of %lu CTAs are done", progress.kernel,
               gpu_cycle(machine->gpu), why, progress.ctas_done, progress.ctas);
}

static void handle_signal(lua_State *L, Machine *machine) {
    int signal = signals_take();
    call_checkpoint_function(L, machine, signal_name(signal));
    if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP) stop_run(machine, signal_name(signal));
}

static int finish_launch(lua_State *L, Machine *machine);

/* The host program yields where a pause is asked for, and goes on here: the machine may be closed by then. Where
 * its coroutine cannot yield, whoever made the one in which it launches would take a pause for the end of the
 * launch. */
static int run_kernel(lua_State *L, int resumed, lua_KContext context) {
    Machine *machine = gpu_at(L, 1);
    (void)resumed, (void)context;
    for (;;) {
        uint64_t until = earlier_of(machine->cycle_limit, machine->checkpoint_cycle);
        until = earlier_of(until, machine->pause_cycle);
        RunStatus status = run_part(L, machine, until);
        if (status == RUN_DONE) return finish_launch(L, machine);
        if (status == RUN_INTERRUPTED) handle_signal(L, machine);
        if (status == RUN_CTAS_DONE) call_checkpoint_function(L, machine, "ctas");
        uint64_t cycle = gpu_cycle(machine->gpu);
        if (cycle >= machine->checkpoint_cycle) call_checkpoint_function(L, machine, "cycle");
        if (cycle >= machine->cycle_limit) {
            call_checkpoint_function(L, machine, "max_cycles");
            stop_run(machine, MAX_CYCLES_REACHED);
        }
        if (cycle < machine->pause_cycle) continue;
        if (machine->coroutine != L || !lua_isyieldable(L))
            stop_run(machine,
                     "until_cycle was reached, and a host program cannot pause where it launches in a "
                     "coroutine of its own");
        return lua_yieldk(L, 0, 0, run_kernel);
    }
}

/* --- What a launch did ----------------------------------------------------------------------- */

static void set_counter(lua_State *L, const char *name, uint64_t value) {
    lua_pushinteger(L, (lua_Integer)value);
    lua_setfield(L, -2, name);
}

/* As the host log keeps it. */
typedef struct {
    uint64_t start_cycle, cycles, warp_instructions, thread_instructions, ctas, threads_per_cta;
    uint64_t ctas_per_sm, limit;
} LaunchAnswer;

static const char *limit_name(uint64_t limit) {
    static const char *const names[OCCUPANCY_LIMITS] = {[LIMIT_CTA_SLOTS] = "CTA slots",
                                                        [LIMIT_WARPS] = "warps",
                                                        [LIMIT_REGISTERS] = "registers",
                                                        [LIMIT_SHARED_MEMORY] = "shared memory",
                                                        [LIMIT_GRID] = "grid"};
    return limit < OCCUPANCY_LIMITS ? names[limit] : "unknown"; /* a checkpoint may come from anybody */
}

/* What a launch has printed is a call of its own in the log, right behind the launch: messages that were
 * dropped as 64 bits, then the text. */
static const char print_call[] = "printed by the kernel";

/* Sets the fields `printed` and `printed_dropped` of the result on top of the stack, where there is anything. */
static void set_printed(lua_State *L, const void *text, uint64_t bytes, uint64_t dropped) {
    if (bytes) {
        lua_pushlstring(L, text, bytes);
        lua_setfield(L, -2, "printed");
    }
    if (dropped) set_counter(L, "printed_dropped", dropped);
}

/* Of the launch that has ended, whose result is on top of the stack. */
static void push_and_log_printed(lua_State *L, Machine *machine) {
    const PrintedText *printed = gpu_last_launch(machine->gpu).printed;
    if (!printed->text.count && !printed->dropped) return;
    Buffer answer = {0};
    buffer_u64(&answer, printed->dropped);
    buffer_append(&answer, printed->text.bytes, printed->text.count);
    host_log_call(&machine->log, 0, "%s", print_call);
    host_log_answer(&machine->log, answer.bytes, answer.count);
    buffer_free(&answer);
    set_printed(L, printed->text.bytes, printed->text.count, printed->dropped);
}

/* Of a launch that is answered from the log. */
static void repeat_printed(lua_State *L, Machine *machine) {
    const HostCall *next = host_log_coming(&machine->log);
    uint64_t dropped;
    if (!next || strcmp(next->text, print_call) != 0) return;
    uint64_t bytes = next->answer_bytes;
    uint8_t *answer = lua_newuserdatauv(L, bytes + sizeof dropped, 0);
    host_log_call(&machine->log, 0, "%s", print_call);
    if (host_log_take(&machine->log, answer, bytes) && bytes >= sizeof dropped) {
        memcpy(&dropped, answer, sizeof dropped);
        lua_insert(L, -2);
        set_printed(L, answer + sizeof dropped, bytes - sizeof dropped, dropped);
        lua_insert(L, -2);
    }
    lua_pop(L, 1);
}

/* Pushes that of the last launch, and appends it to the GPU's list. */
static int push_launch_result(lua_State *L, const Machine *machine, const LaunchAnswer *answer) {
    LaunchResult result = gpu_last_launch(machine->gpu);
    lua_newtable(L);
    lua_pushstring(L, result.kernel);
    lua_setfield(L, -2, "kernel");
    if (result.module > 1) set_counter(L, "module", result.module);
    set_counter(L, "start_cycle", answer->start_cycle);
    set_counter(L, "cycles", answer->cycles);
    set_counter(L, "warp_instructions", answer->warp_instructions);
    set_counter(L, "thread_instructions", answer->thread_instructions);
    set_counter(L, "ctas", answer->ctas);
    set_counter(L, "threads_per_cta", answer->threads_per_cta);
    set_counter(L, "ctas_per_sm", answer->ctas_per_sm);
    lua_pushstring(L, limit_name(answer->limit));
    lua_setfield(L, -2, "limited_by");
    lua_getiuservalue(L, 1, GPU_LAUNCHES);
    lua_pushvalue(L, -2);
    lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
    lua_pop(L, 1);
    return 1;
}

/* --- Faults as results ----------------------------------------------------------------------- */

/* As the host log keeps a launch that returns faults; the fault, if any, is a call of its own. */
typedef struct {
    LaunchAnswer launch;
    uint64_t has_fault;
} TriedAnswer;

static void note_fault_call(Machine *machine, const char *kernel) {
    host_log_call(&machine->log, 0, "fault of %s", kernel);
}

static int finish_tried_launch(lua_State *L, Machine *machine, const char *kernel,
                               const LaunchAnswer *launch) {
    const LaunchFault *fault = gpu_fault(machine->gpu);
    TriedAnswer answer = {*launch, fault != NULL};
    host_log_answer(&machine->log, &answer, sizeof answer);
    push_launch_result(L, machine, launch);
    push_and_log_printed(L, machine);
    if (!fault) return 1;
    note_fault_call(machine, kernel);
    host_log_answer(&machine->log, fault, sizeof *fault);
    push_fault(L, kernel, fault);
    return 2;
}

/* False when the kernel was running at the checkpoint. */
static bool take_tried_launch(lua_State *L, Machine *machine, const char *kernel) {
    TriedAnswer answer;
    LaunchFault fault;
    if (!host_log_take(&machine->log, &answer, sizeof answer)) return false;
    push_launch_result(L, machine, &answer.launch);
    repeat_printed(L, machine);
    if (answer.has_fault) {
        note_fault_call(machine, kernel);
        if (!host_log_take(&machine->log, &fault, sizeof fault))
            user_error("resume: the checkpoint has no fault of kernel %s", kernel);
        fault_end_texts(&fault); /* it may come from anybody */
    }
    after_host_call(L, machine);
    if (answer.has_fault)
        push_fault(L, kernel, &fault);
    else
        lua_pushnil(L);
    return true;
}

/* Of a launch that has ended. */
static int answer_launch(lua_State *L, Machine *machine) {
    LaunchResult result = gpu_last_launch(machine->gpu);
    LaunchAnswer answer = {result.start_cycle,         result.cycles, result.warp_instructions,
                           result.thread_instructions, result.ctas,   result.threads_per_cta,
                           result.ctas_per_sm,         result.limit};
    answer.start_cycle += machine->estimated_cycles;
    if (machine->sampled)
        sampling_answer(machine, &answer.cycles, &answer.warp_instructions, &answer.thread_instructions);
    if (machine->returns_faults) return finish_tried_launch(L, machine, result.kernel, &answer);
    host_log_answer(&machine->log, &answer, sizeof answer);
    push_launch_result(L, machine, &answer);
    push_and_log_printed(L, machine);
    return 1;
}

static int finish_launch(lua_State *L, Machine *machine) {
    machine->launched = false;
    policies_kernel_end(machine, gpu_last_launch(machine->gpu).kernel);
    raise_policy_failure(L, machine);
    if (machine->tells_launch_ends) call_checkpoint_function(L, machine, "launch");
    return answer_launch(L, machine);
}

static uint64_t launch_digest(const Kernel *kernel, const Launch *launch) {
    uint64_t digest = hash_bytes(0, launch->params, kernel->param_bytes);
    digest = hash_bytes(digest, launch->grid, sizeof launch->grid);
    digest = hash_bytes(digest, launch->block, sizeof launch->block) ^ (uint64_t)launch->stack_bytes << 32;
    if (launch->forward_ctas) digest = hash_bytes(digest, &launch->forward_ctas, sizeof launch->forward_ctas);
    if (launch->forward_ctas && launch->cold_ctas)
        digest = hash_bytes(digest, &launch->cold_ctas, sizeof launch->cold_ctas);
    return hash_bytes(digest, &launch->shared_bytes, sizeof launch->shared_bytes) ^ launch->registers ^
           (uint64_t)launch->is_untimed << 63 ^ (uint64_t)launch->is_cooperative << 62;
}

typedef struct {
    Machine *machine;
    const Kernel *kernel;
    const Launch *launch;
} LaunchCall;

static void start_or_repeat(void *context) {
    const LaunchCall *call = context;
    if (host_log_replaying(&call->machine->log))
        gpu_prepare(call->machine->gpu, call->kernel, call->launch);
    else if (call->launch->is_untimed)
        gpu_launch_untimed(call->machine->gpu, call->kernel, call->launch);
    else
        gpu_launch(call->machine->gpu, call->kernel, call->launch);
}

/* Returns whether the launch is one; of one that returns faults and is none, why, at `why`. */
static bool is_started(LaunchCall *call, const char **why) {
    if (call->launch->returns_faults) {
        *why = user_error_catch(start_or_repeat, call);
        return *why == NULL;
    }
    start_or_repeat(call);
    return true;
}

/* The log answered it: returns how many values. 0: the kernel was running at the checkpoint. */
static int take_launch(lua_State *L, Machine *machine, const Kernel *kernel) {
    LaunchAnswer answer;
    if (machine->returns_faults) return take_tried_launch(L, machine, kernel->name) ? 2 : 0;
    if (!host_log_take(&machine->log, &answer, sizeof answer)) return 0;
    push_launch_result(L, machine, &answer);
    repeat_printed(L, machine);
    after_host_call(L, machine);
    return 1;
}

static int begin_launch(lua_State *L, Machine *machine, const Kernel *kernel, const Launch *launch) {
    LaunchCall call = {machine, kernel, launch};
    const char *why;
    host_log_call(&machine->log, launch_digest(kernel, launch), "launch %s, grid %u %u %u, block %u %u %u",
                  kernel->name, launch->grid[0], launch->grid[1], launch->grid[2], launch->block[0],
                  launch->block[1], launch->block[2]);
    bool replaying = host_log_replaying(&machine->log);
    machine->returns_faults = launch->returns_faults;
    keep_looking_around(machine);
    if (!launch->is_untimed && !launch->forward_ctas && !replaying &&
        sampling_takes(L, machine, kernel, launch))
        return answer_launch(L, machine);
    if (!is_started(&call, &why)) {
        lua_pushnil(L);
        push_refused_launch(L, kernel, why);
        repeated_call(L, machine);
        return 2;
    }
    if (launch->is_untimed && !replaying) return answer_launch(L, machine);
    if (replaying) {
        int values = take_launch(L, machine, kernel);
        if (values) return values;
        restore_checkpoint(L, machine); /* it was running */
        machine->launched = true;
    } else {
        machine->launched = true;
        lua_objects_kernel_start(machine->sim, kernel->name);
        policies_kernel_start(machine, kernel->name);
        raise_policy_failure(L, machine);
    }
    return run_kernel(L, LUA_OK, 0);
}

void take_launch_options(lua_State *L, const char *kernel) {
    static const char *const legal[] = {"grid", "block", "shared",      "registers", "stack",
                                        "args", "timed", "cooperative", "forward",   NULL};
    char where[256];
    if (!lua_istable(L, 3)) user_error_got(L, 3, "launch: expected { grid =, block =, args = }");
    snprintf(where, sizeof where, "launch of kernel %s", kernel);
    take_options(L, 3, where, legal);
}

/* Where timing begins, less what of it warms the caches, is a place in this launch, or before, or behind. */
static uint64_t ctas_without_trace(const Machine *machine, uint32_t number, uint64_t ctas) {
    if (!machine->forwards || number > machine->forward_launch) return ctas;
    double place = machine->forward_launch + machine->forward_share - machine->forward_warm - number;
    return place >= 1 ? ctas : place > 0 ? (uint64_t)llround(place * (double)ctas) : 0;
}

/* What goes before the place from which on there is timing. */
static void choose_forward(const Machine *machine, Launch *launch) {
    uint32_t number = gpu_launch_count(machine->gpu);
    uint64_t ctas = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    bool goes_by_option = machine->forwards && number == machine->forward_launch && !launch->forward_ctas;
    if (machine->forwards && number < machine->forward_launch) launch->is_untimed = true;
    if (goes_by_option) launch->forward_ctas = (uint64_t)(machine->forward_share * (double)ctas);
    if (launch->forward_ctas >= ctas) launch->is_untimed = true;
    if (goes_by_option || launch->is_untimed) launch->cold_ctas = ctas_without_trace(machine, number, ctas);
    if (goes_by_option && launch->cold_ctas > launch->forward_ctas) launch->cold_ctas = launch->forward_ctas;
}

int launch_kernel(lua_State *L, Machine *machine, const Kernel *kernel, bool returns_faults) {
    Launch launch = {.returns_faults = returns_faults};
    read_dimensions(L, kernel->name, "grid", !returns_faults, launch.grid);
    read_dimensions(L, kernel->name, "block", !returns_faults, launch.block);
    launch.is_untimed = lua_getfield(L, 3, "timed") == LUA_TBOOLEAN && !lua_toboolean(L, -1);
    lua_pop(L, 1);
    launch.is_cooperative = lua_getfield(L, 3, "cooperative") != LUA_TNIL && lua_toboolean(L, -1);
    lua_pop(L, 1);
    launch.shared_bytes = read_optional_count(L, kernel->name, "shared");
    launch.registers = read_optional_count(L, kernel->name, "registers");
    launch.stack_bytes = read_optional_count(L, kernel->name, "stack");
    launch.forward_ctas = read_optional_count(L, kernel->name, "forward");
    choose_forward(machine, &launch);
    launch.params = memset(lua_newuserdatauv(L, kernel->param_bytes + 1, 0), 0, kernel->param_bytes + 1);
    pack_arguments(L, kernel, launch.params);
    return begin_launch(L, machine, kernel, &launch);
}

void launch_open(lua_State *L) {
    static const luaL_Reg functions[] = {
        {"program_runs", l_program_runs},
        {"program_rests", l_program_rests},
        {"take_stop", l_take_stop},
        {NULL, NULL},
    };
    luaL_setfuncs(L, functions, 0);
}
