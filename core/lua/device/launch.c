/* Kernel launches of host programs: the run with its pauses, checkpoints and signals, and what a launch did. */
#include "core/lua/device/launch.h"

#include "core/lua/bindings.h"
#include "core/lua/component/lua_objects.h"
#include "core/lua/device/checkpoint.h"
#include "core/lua/device/faults.h"
#include "core/lua/device/in_flight.h"
#include "core/lua/device/launch_answer.h"
#include "core/lua/device/launch_arguments.h"
#include "core/lua/device/modules.h"
#include "core/lua/device/sampling.h"
#include "core/lua/host/signals.h"
#include "core/lua/policy/policy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double host_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
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

/* "scale and 3 others" */
static const char *running_kernels(const GpuProgress *progress, char *text, size_t size) {
    if (!progress->others) return progress->kernel;
    snprintf(text, size, "%.200s and %u other%s", progress->kernel, progress->others,
             progress->others == 1 ? "" : "s");
    return text;
}

static void show_progress(Machine *machine) {
    char kernels[256], cycles[32], instructions[32], rate[32];
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
            running_kernels(&progress, kernels, sizeof kernels), progress.ctas_done, progress.ctas);
    fflush(stderr);
    machine->progress_shown = true;
}

/* How long a part without timing, which no checkpoint can hold, may go on after a signal to stop. */
static const double untimed_seconds = 1;

/* Between quanta, or turns of a launch without timing, every now and then. */
static void look_around(void *context) {
    Machine *machine = context;
    bool is_untimed = !machine->launched && !machine->sampled;
    if (is_untimed && signal_seconds() >= untimed_seconds) {
        machine->stopped = signal_name(stop_signal);
        machine->untimed_was_stopped = true;
        gpu_stop_untimed(machine->gpu);
    }
    if (machine->launched && !machine->sampled && isatty(STDERR_FILENO)) show_progress(machine);
    if (machine->caller_has_gone && machine->caller_has_gone(machine->caller))
        gpu_give_up(machine->gpu, "the program that launched it has ended");
}

static void keep_looking_around(Machine *machine) {
    bool is_often = machine->caller_has_gone || !machine->launched;
    if (is_often || isatty(STDERR_FILENO))
        gpu_on_progress(machine->gpu, is_often ? 0.2 : 1.0, look_around, machine);
}

static void clear_progress(Machine *machine) {
    if (!machine->progress_shown) return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
    machine->progress_shown = false;
}

/* --- Host programs in coroutines ------------------------------------------------------------- */

/* Where a host program is to yield: NEVER without an argument. */
static uint64_t pause_at(lua_State *L, int index, const char *name, const char *what) {
    lua_Integer place = luaL_optinteger(L, index, -1);
    if (lua_isnoneornil(L, index)) return NEVER;
    if (place < 0) user_error("%s: expected a %s from 0 on, got %lld", name, what, place);
    return (uint64_t)place;
}

/* core.program_runs(gpu, its coroutine, cycle or nil, launch or nil): from here on what is asked of the GPU is
 * asked by the host program, which yields where it launches a kernel once the core clock has reached this
 * cycle, and in front of the launch of this number. SIGINT and SIGTERM stop its run at a quantum boundary,
 * after a checkpoint; SIGUSR1 makes one and goes on. For one GPU at a time. */
static int l_program_runs(lua_State *L) {
    Machine *machine = gpu_at(L, 1);
    luaL_checktype(L, 2, LUA_TTHREAD);
    machine->pause_cycle = pause_at(L, 3, "until_cycle", "cycle");
    machine->pause_launch = pause_at(L, 4, "until_launch", "launch");
    machine->coroutine = lua_tothread(L, 2);
    machine->host_program = PROGRAM_RUNS;
    signals_watch(machine, machine->coroutine);
    return 0;
}

/* core.program_rests(gpu, has it ended?): before its first run, and after each one. */
static int l_program_rests(lua_State *L) {
    Machine *machine = gpu_at(L, 1);
    machine->coroutine = NULL;
    machine->pause_cycle = machine->pause_launch = NEVER;
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

bool pauses_before_launch(lua_State *L, const Machine *machine, uint64_t kernels) {
    if (host_log_replaying(&machine->log)) return false;
    bool can_pause = machine->coroutine == L && lua_isyieldable(L);
    bool is_launch = gpu_launch_count(machine->gpu) + kernels > machine->pause_launch;
    if (is_launch && !can_pause)
        user_error("until_launch: expected launch %lu where the host program can pause, got one in a "
                   "coroutine of its own",
                   machine->pause_launch);
    return can_pause && (is_launch || gpu_cycle(machine->gpu) >= machine->pause_cycle);
}

/* core.pause: what a pause yields, by which it differs from a yield of the host program's own. */
static const char pause_key[] = "warpwright.pause";

int pause_host_program(lua_State *L, lua_KContext context, lua_KFunction go_on) {
    lua_pushlightuserdata(L, (void *)pause_key);
    return lua_yieldk(L, 1, context, go_on);
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
    char kernels[256], spinning[640];
    machine->stopped = why;
    gpu_describe_spinning(machine->gpu, spinning, sizeof spinning);
    user_error("kernel%s %s ha%s not ended by cycle %lu: %s; %lu of %lu CTAs are done%s",
               progress.others ? "s" : "", running_kernels(&progress, kernels, sizeof kernels),
               progress.others ? "ve" : "s", gpu_cycle(machine->gpu), why, progress.ctas_done, progress.ctas,
               spinning);
}

/* Some of the launch has no timing, and has not come to its end. */
_Noreturn static void stop_untimed_run(Machine *machine, const char *kernel) {
    signals_take();
    machine->untimed_was_stopped = false;
    user_error("kernel %s has not ended without timing: %s", kernel, machine->stopped);
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
        until = earlier_of(until, earlier_of(machine->pause_cycle, machine->wait_cycle));
        RunStatus status = run_part(L, machine, until);
        if (status == RUN_DONE || status == RUN_KERNEL_ENDED) return finish_launch(L, machine);
        if (status == RUN_INTERRUPTED) handle_signal(L, machine);
        if (status == RUN_CTAS_DONE) call_checkpoint_function(L, machine, "ctas");
        uint64_t cycle = gpu_cycle(machine->gpu);
        if (cycle >= machine->wait_cycle)
            return finish_launch(L, machine); /* before a checkpoint that would have it again */
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
        return pause_host_program(L, 0, run_kernel);
    }
}

int run_until_ended(lua_State *L) {
    return run_kernel(L, LUA_OK, 0);
}

static int finish_launch(lua_State *L, Machine *machine) {
    if (machine->waits) return finish_wait(L, machine);
    machine->launched = false;
    if (machine->tells_launch_ends) call_checkpoint_function(L, machine, "launch");
    return answer_launch(L, machine);
}

/* --- Beginning a launch ------------------------------------------------------------------------ */

/* Of the parameters, what the kernel can read: the rest is whatever the host's memory held, which is other addresses each
 * time. */
static uint64_t digest_of_params(const Kernel *kernel, const uint8_t *params) {
    uint8_t *read = malloc(kernel->param_bytes + 1ull);
    ensure_memory(read);
    for (uint32_t i = 0; i < kernel->param_bytes; i++)
        read[i] = params[i] & (kernel->param_reads ? kernel->param_reads[i] : 0xff); /* NULL: it is refused */
    uint64_t digest = hash_bytes(0, read, kernel->param_bytes);
    free(read);
    return digest;
}

static uint64_t digest_of(const Gpu *gpu, const KernelLaunch *of) {
    const Launch *launch = of->launch;
    uint32_t module = gpu_module_of(gpu, of->kernel);
    uint64_t digest = digest_of_params(of->kernel, launch->params);
    digest = hash_bytes(digest, launch->grid, sizeof launch->grid);
    digest = hash_bytes(digest, launch->block, sizeof launch->block) ^ (uint64_t)launch->stack_bytes << 32;
    if (launch->forward_ctas) digest = hash_bytes(digest, &launch->forward_ctas, sizeof launch->forward_ctas);
    if (launch->forward_ctas && launch->cold_ctas)
        digest = hash_bytes(digest, &launch->cold_ctas, sizeof launch->cold_ctas);
    if (launch->tenant) digest = hash_bytes(digest, &launch->tenant, sizeof launch->tenant);
    if (of->after_count) digest = hash_bytes(digest, of->after, of->after_count * sizeof *of->after);
    if (of->priority) digest = hash_bytes(digest, &of->priority, sizeof of->priority);
    if (module > 1) digest = hash_bytes(digest, &module, sizeof module);
    return hash_bytes(digest, &launch->shared_bytes, sizeof launch->shared_bytes) ^ launch->registers ^
           (uint64_t)launch->is_untimed << 63 ^ (uint64_t)launch->is_cooperative << 62;
}

/* A long list of names ends before its end in the text; the digest has all of them. */
static void log_launch(Machine *machine, const KernelLaunch *launches, uint32_t count, const char *how) {
    const Launch *launch = launches->launch;
    uint64_t digest = digest_of(machine->gpu, launches);
    char together[64] = "", others[256] = "";
    size_t used = 0;
    for (uint32_t k = 1; k < count; k++) {
        const char *name = launches[k].kernel->name;
        uint64_t next = hash_bytes(digest_of(machine->gpu, &launches[k]), name, strlen(name));
        digest = hash_bytes(digest, &next, sizeof next);
        if (used < sizeof others) used += (size_t)snprintf(others + used, sizeof others - used, ", %s", name);
    }
    if (*how) snprintf(together, sizeof together, "%s %u kernels from ", how, count);
    host_log_call(&machine->log, digest, "launch %s%s, grid %u %u %u, block %u %u %u%s", together,
                  launches->kernel->name, launch->grid[0], launch->grid[1], launch->grid[2], launch->block[0],
                  launch->block[1], launch->block[2], others);
}

typedef struct {
    Machine *machine;
    const KernelLaunch *launches;
    uint32_t count;
} LaunchCall;

static void start_or_repeat(void *context) {
    const LaunchCall *call = context;
    Gpu *gpu = call->machine->gpu;
    const KernelLaunch *first = call->launches;
    if (host_log_replaying(&call->machine->log))
        gpu_prepare(gpu, first, call->count);
    else if (call->count > 1)
        gpu_launch_together(gpu, first, call->count);
    else if (first->launch->is_untimed)
        gpu_launch_untimed(gpu, first->kernel, first->launch);
    else
        gpu_launch(gpu, first->kernel, first->launch);
}

/* Returns whether the launch is one; of one that returns faults and is none, why, at `why`. */
static bool is_started(LaunchCall *call, const char **why) {
    if (call->launches->launch->returns_faults) {
        *why = user_error_catch(start_or_repeat, call);
        return *why == NULL;
    }
    start_or_repeat(call);
    return true;
}

/* A kernel of the launch begins, or has ended. */
static void tell_policies(void *context, const char *kernel, bool begins) {
    Machine *machine = context;
    if (begins) {
        lua_objects_kernel_start(machine->sim, kernel);
        policies_kernel_start(machine, kernel);
    } else {
        policies_kernel_end(machine, kernel);
    }
    if (sim_failure(machine->sim)) user_error("%s", sim_failure(machine->sim));
}

static void tell_that_kernels_begin(Machine *machine) {
    for (uint32_t k = 0; k < gpu_kernel_count(machine->gpu) && !sim_failure(machine->sim); k++) {
        if (!gpu_kernel_has_begun(machine->gpu, k)) continue;
        lua_objects_kernel_start(machine->sim, gpu_launch_result(machine->gpu, k).kernel);
        policies_kernel_start(machine, gpu_launch_result(machine->gpu, k).kernel);
    }
    if (!sim_failure(machine->sim)) gpu_tell_kernels_of_sms(machine->gpu);
}

static int begin_launch(lua_State *L, Machine *machine, const KernelLaunch *launches, uint32_t count) {
    const Launch *launch = launches->launch;
    LaunchCall call = {machine, launches, count};
    const char *why;
    log_launch(machine, launches, count, machine->returns_list ? "together" : "");
    bool replaying = host_log_replaying(&machine->log);
    keep_looking_around(machine);
    gpu_on_kernel(machine->gpu, tell_policies, machine);
    if (count == 1 && !launch->is_untimed && !launch->forward_ctas && !replaying &&
        sampling_takes(L, machine, launches->kernel, launch))
        return answer_launch(L, machine);
    if (!is_started(&call, &why)) {
        lua_pushnil(L);
        uint32_t refused = gpu_refused_kernel(machine->gpu);
        push_refused_launch(L, launches[refused < count ? refused : 0].kernel, why,
                            gpu_launch_mistake(machine->gpu));
        repeated_call(L, machine);
        return 2;
    }
    if (machine->untimed_was_stopped)
        stop_untimed_run(machine, launches[gpu_fault(machine->gpu)->kernel].kernel->name);
    if (launch->is_untimed && !replaying) return answer_launch(L, machine);
    if (replaying) {
        int values = take_launch(L, machine);
        if (values) return values;
        restore_checkpoint(L, machine); /* it was running */
        machine->launched = true;
    } else {
        machine->launched = true;
        tell_that_kernels_begin(machine);
        raise_policy_failure(L, machine);
    }
    return run_kernel(L, LUA_OK, 0);
}

/* Where timing begins, less what of it warms the caches, is a place in this launch, or before, or behind. */
static uint64_t ctas_without_trace(const Machine *machine, uint32_t number, uint64_t ctas) {
    if (!machine->forwards || number > machine->forward_launch) return ctas;
    double place = machine->forward_launch + machine->forward_share - machine->forward_warm - number;
    return place >= 1 ? ctas : place > 0 ? (uint64_t)llround(place * (double)ctas) : 0;
}

/* What goes before the place from which on there is timing. */
static void choose_forward(const Machine *machine, uint32_t number, Launch *launch) {
    uint64_t ctas = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    bool goes_by_option = machine->forwards && number == machine->forward_launch && !launch->forward_ctas;
    if (machine->forwards && number < machine->forward_launch) launch->is_untimed = true;
    if (goes_by_option) launch->forward_ctas = (uint64_t)(machine->forward_share * (double)ctas);
    if (launch->forward_ctas && launch->forward_ctas >= ctas) launch->is_untimed = true;
    if (goes_by_option || launch->is_untimed) launch->cold_ctas = ctas_without_trace(machine, number, ctas);
    if (goes_by_option && launch->cold_ctas > launch->forward_ctas) launch->cold_ctas = launch->forward_ctas;
}

int launch_kernel(lua_State *L, Machine *machine, const Kernel *kernel, bool returns_faults) {
    require_none_in_flight(machine, "launch");
    Launch launch = launch_at(L, kernel, returns_faults);
    choose_forward(machine, gpu_launch_count(machine->gpu), &launch);
    machine->returns_faults = returns_faults;
    machine->returns_list = false;
    return begin_launch(L, machine, &(KernelLaunch){.kernel = kernel, .launch = &launch}, 1);
}

/* --- Kernels that are launched together -------------------------------------------------------- */

/* Fast-forward ends before them, or with the first of them that has no CTA without timing. */
static void refuse_parts(lua_State *L, const Machine *machine, uint32_t count) {
    uint32_t first = gpu_launch_count(machine->gpu);
    bool is_sampled = lua_getiuservalue(L, 1, GPU_SAMPLER) == LUA_TFUNCTION;
    lua_pop(L, 1);
    if (is_sampled)
        user_error(
            "launch_together: expected a run that is not sampled: intervals are known of one kernel at a "
            "time");
    bool is_before = machine->forward_launch >= first + count;
    bool is_behind = machine->forward_launch < first ||
                     (machine->forward_launch == first && machine->forward_share <= 0);
    if (!machine->forwards || is_before || is_behind) return;
    char place[80];
    int length = snprintf(place, sizeof place, "launch=%u", machine->forward_launch);
    if (machine->forward_share > 0)
        snprintf(place + length, sizeof place - (size_t)length, ",cta=%g", machine->forward_share);
    user_error("launch_together: expected fast_forward to end before launch %u, the first of %u that are "
               "launched together, or behind the last, got %s",
               first, count, place);
}

int launch_kernels_together(lua_State *L, Machine *machine, bool returns_faults) {
    uint32_t count = (uint32_t)lua_rawlen(L, 2);
    require_none_in_flight(machine, "launch_together");
    lua_settop(L, 3);
    LaunchList *list = launches_at(L, machine, count, returns_faults);
    if (count > 1) refuse_parts(L, machine, count);
    for (uint32_t k = 0; k < count; k++)
        choose_forward(machine, gpu_launch_count(machine->gpu) + k, &list->launch[k]);
    machine->returns_faults = returns_faults;
    machine->returns_list = true;
    return begin_launch(L, machine, list->of, count);
}

/* --- Kernels that join others -------------------------------------------------------------------- */

typedef struct {
    Machine *machine;
    const KernelLaunch *launches;
    uint32_t count;
    bool joins;
} AsyncCall;

static void prepare_async(void *context) {
    const AsyncCall *call = context;
    gpu_prepare_async(call->machine->gpu, call->launches, call->count, call->joins);
}

/* Policies hear of the kernels that begin: what they raise leaves as a Lua error. */
static int l_begin_async(lua_State *L) {
    const AsyncCall *call = lua_touserdata(L, 1);
    raise_user_errors_in(L);
    gpu_begin_async(call->machine->gpu, call->count, call->joins);
    if (!call->joins) tell_that_kernels_begin(call->machine);
    return 0;
}

static void begin_async(lua_State *L, AsyncCall *call) {
    lua_pushcfunction(L, l_begin_async);
    lua_pushlightuserdata(L, call);
    int failed = lua_pcall(L, 1, 0, 0);
    raise_user_errors_in(L);
    raise_policy_failure(L, call->machine);
    if (failed) lua_error(L);
}

int launch_kernels_async(lua_State *L, Machine *machine, bool returns_faults) {
    uint32_t count = (uint32_t)lua_rawlen(L, 2), place;
    uint32_t next = in_flight_next(machine, &place);
    lua_settop(L, 3);
    const LaunchList *list = async_launches_at(L, machine, count, (LaunchPlace){next, place});
    refuse_parts(L, machine, count);
    if (machine->forwards && machine->forward_launch >= next)
        user_error("launch_async: expected fast_forward to end before launch %u", next);
    AsyncCall call = {machine, list->of, count, machine->in_flight != NULL};
    machine->returns_faults = machine->returns_list = true;
    log_launch(machine, list->of, count, "asynchronously");
    bool replaying = host_log_replaying(&machine->log);
    gpu_on_kernel(machine->gpu, tell_policies, machine);
    const char *why = user_error_catch(prepare_async, &call);
    if (why && !returns_faults) user_error_again(why);
    if (why) {
        uint32_t refused = gpu_refused_kernel(machine->gpu);
        lua_pushnil(L);
        push_refused_launch(L, list->of[refused < count ? refused : 0].kernel, why,
                            gpu_launch_mistake(machine->gpu));
        repeated_call(L, machine);
        return 2;
    }
    in_flight_add(machine, list->of, count);
    if (!replaying) begin_async(L, &call);
    repeated_call(L, machine);
    lua_pushinteger(L, next);
    return 1;
}

void launch_open(lua_State *L) {
    static const luaL_Reg functions[] = {
        {"program_runs", l_program_runs},
        {"program_rests", l_program_rests},
        {"take_stop", l_take_stop},
        {NULL, NULL},
    };
    luaL_setfuncs(L, functions, 0);
    lua_pushlightuserdata(L, (void *)pause_key);
    lua_setfield(L, -2, "pause");
}
