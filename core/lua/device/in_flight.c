#include "core/lua/device/in_flight.h"

#include "core/lua/bindings.h"
#include "core/lua/device/checkpoint.h"
#include "core/lua/device/launch.h"
#include "core/lua/device/launch_answer.h"

#include <stdlib.h>
#include <string.h>

/* From the launch of the first kernel until the host program has heard of the ends of all. */
struct InFlight {
    uint32_t first, count; /* number of the first one among the launches of the run */
    uint32_t told;         /* of how many the host program has heard                */
    uint32_t looked_at;    /* of gpu_ended_kernels(): whether the program has heard of them */
    bool is_told[MAX_KERNELS_IN_FLIGHT];
    const Kernel *kernel[MAX_KERNELS_IN_FLIGHT];
};

uint32_t in_flight_next(const Machine *machine, uint32_t *place) {
    const struct InFlight *in_flight = machine->in_flight;
    *place = in_flight ? in_flight->count : 0;
    return in_flight ? in_flight->first + in_flight->count : gpu_launch_count(machine->gpu);
}

void in_flight_add(Machine *machine, const KernelLaunch *launches, uint32_t count) {
    if (!machine->in_flight) {
        machine->in_flight = calloc(1, sizeof *machine->in_flight);
        ensure_memory(machine->in_flight);
        machine->in_flight->first = gpu_launch_count(machine->gpu) - count;
    }
    struct InFlight *in_flight = machine->in_flight;
    for (uint32_t i = 0; i < count; i++)
        in_flight->kernel[in_flight->count++] = launches[i].kernel;
    machine->launched = true;
}

bool is_in_flight(const Machine *machine, const Kernel *kernel) {
    const struct InFlight *in_flight = machine->in_flight;
    for (uint32_t k = 0; in_flight && k < in_flight->count; k++)
        if (in_flight->kernel[k] == kernel && !in_flight->is_told[k]) return true;
    return false;
}

void in_flight_free(Machine *machine) {
    free(machine->in_flight);
    machine->in_flight = NULL;
}

void require_none_in_flight(const Machine *machine, const char *what) {
    if (machine->in_flight)
        user_error("%s: expected no kernel in flight, got %s; gpu:wait() waits for all", what,
                   gpu_progress(machine->gpu).kernel);
}

/* --- Answers ------------------------------------------------------------------------------------ */

/* As the host log keeps them: an EndsHead, then a KernelEnd of each kernel that the program hears of. */
typedef struct {
    uint64_t has_fault, count, cycle;
} EndsHead;

typedef struct {
    uint64_t place;
    LaunchAnswer answer;
} KernelEnd;

/* In the list of results of those in flight, which is on top of the stack. */
static void keep_result(lua_State *L, Machine *machine, const KernelEnd *end, bool is_repeated) {
    uint32_t place = (uint32_t)end->place;
    push_result(L, machine, place, &end->answer);
    if (is_repeated)
        repeat_printed(L, machine, place);
    else
        log_printed(L, machine, place);
    lua_rawseti(L, -2, (lua_Integer)place + 1);
    machine->in_flight->is_told[place] = true;
    machine->in_flight->told++;
}

/* The list of those results: a new one at first. */
static void push_results(lua_State *L) {
    if (lua_getiuservalue(L, 1, GPU_IN_FLIGHT) == LUA_TTABLE) return;
    lua_pop(L, 1);
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_setiuservalue(L, 1, GPU_IN_FLIGHT);
}

static void all_have_ended(lua_State *L, Machine *machine) {
    push_results(L);
    for (uint32_t k = 0; k < machine->in_flight->count; k++) {
        lua_rawgeti(L, -1, k + 1);
        append_result(L, machine, k);
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    lua_pushnil(L);
    lua_setiuservalue(L, 1, GPU_IN_FLIGHT);
    in_flight_free(machine);
}

/* Pushes { [number] = result } of what the answer has. */
static void push_ends(lua_State *L, Machine *machine, const KernelEnd *ends, uint64_t count,
                      bool is_repeated) {
    uint32_t first = machine->in_flight->first;
    lua_createtable(L, 0, (int)count);
    push_results(L);
    for (uint64_t i = 0; i < count; i++) {
        keep_result(L, machine, &ends[i], is_repeated);
        lua_rawgeti(L, -1, (lua_Integer)ends[i].place + 1);
        lua_rawseti(L, -3, first + (lua_Integer)ends[i].place);
    }
    lua_pop(L, 1);
    if (machine->in_flight->told == machine->in_flight->count) all_have_ended(L, machine);
}

/* The first kernel from there on, of those that have ended, of which the program has not heard. */
static bool next_news(const Machine *machine, uint32_t *at, uint32_t *place) {
    uint32_t count;
    const uint16_t *ended = gpu_ended_kernels(machine->gpu, &count);
    while (*at < count) {
        *place = ended[(*at)++];
        if (!machine->in_flight->is_told[*place]) return true;
    }
    return false;
}

static int compare_places(const void *a, const void *b) {
    uint64_t of_a = ((const KernelEnd *)a)->place, of_b = ((const KernelEnd *)b)->place;
    return of_a < of_b ? -1 : of_a > of_b;
}

/* As many as there are, in the order of the launches. */
static void fill_in_news(Machine *machine, KernelEnd *ends, uint64_t count) {
    uint32_t at = machine->in_flight->looked_at, place;
    for (uint64_t i = 0; next_news(machine, &at, &place); i++)
        ends[i] = (KernelEnd){.place = place};
    qsort(ends, count, sizeof *ends, compare_places);
    for (uint64_t i = 0; i < count; i++)
        ends[i].answer = answer_of_kernel(machine, (uint32_t)ends[i].place);
    machine->in_flight->looked_at = at;
}

int finish_wait(lua_State *L, Machine *machine) {
    const struct InFlight *in_flight = machine->in_flight;
    const LaunchFault *fault = gpu_fault(machine->gpu);
    EndsHead head = {.has_fault = fault != NULL, .cycle = gpu_cycle(machine->gpu)};
    machine->waits = false;
    machine->wait_cycle = NEVER;
    gpu_await_none(machine->gpu);
    for (uint32_t at = in_flight->looked_at, place; next_news(machine, &at, &place);)
        head.count++;
    machine->launched = in_flight->told + head.count < in_flight->count;
    if (!machine->launched && machine->tells_launch_ends) call_checkpoint_function(L, machine, "launch");
    size_t bytes = sizeof head + head.count * sizeof(KernelEnd);
    uint8_t *answer = lua_newuserdatauv(L, bytes, 0);
    KernelEnd *ends = (KernelEnd *)(void *)(answer + sizeof head);
    memcpy(answer, &head, sizeof head);
    fill_in_news(machine, ends, head.count);
    host_log_answer(&machine->log, answer, bytes);
    push_ends(L, machine, ends, head.count, false);
    if (fault)
        push_and_log_fault(L, machine, fault);
    else
        lua_pushnil(L);
    lua_pushinteger(L, (lua_Integer)head.cycle);
    return 3;
}

/* It may come from anybody. */
static bool is_sound(const Machine *machine, const uint8_t *answer, uint64_t bytes) {
    const struct InFlight *in_flight = machine->in_flight;
    bool is_in[MAX_KERNELS_IN_FLIGHT] = {false};
    EndsHead head;
    if (bytes < sizeof head) return false;
    memcpy(&head, answer, sizeof head);
    if (head.count > in_flight->count || bytes != sizeof head + head.count * sizeof(KernelEnd)) return false;
    for (uint64_t i = 0; i < head.count; i++) {
        KernelEnd end;
        memcpy(&end, answer + sizeof head + i * sizeof end, sizeof end);
        if (end.place >= in_flight->count || in_flight->is_told[end.place] || is_in[end.place]) return false;
        is_in[end.place] = true;
    }
    return true;
}

/* The log answered it: returns how many values. 0: it waited at the checkpoint. */
static int take_wait(lua_State *L, Machine *machine) {
    const HostCall *call = host_log_coming(&machine->log);
    uint64_t bytes = call && call->answered ? call->answer_bytes : 0;
    uint8_t *answer = lua_newuserdatauv(L, bytes + 1, 0);
    EndsHead head;
    LaunchFault fault;
    if (!host_log_take(&machine->log, answer, bytes)) return 0;
    if (!is_sound(machine, answer, bytes))
        user_error("resume: the checkpoint's answer to a wait for kernels is damaged");
    memcpy(&head, answer, sizeof head);
    push_ends(L, machine, (const KernelEnd *)(const void *)(answer + sizeof head), head.count, true);
    machine->launched = machine->in_flight != NULL;
    if (head.has_fault) repeat_fault(machine, &fault);
    after_host_call(L, machine);
    if (head.has_fault)
        push_fault_of_kernel(L, machine, &fault);
    else
        lua_pushnil(L);
    lua_pushinteger(L, (lua_Integer)head.cycle);
    return 3;
}

/* --- Waiting ------------------------------------------------------------------------------------ */

/* The kernel is awaited. False: the program has heard of its end. */
static bool await(lua_State *L, Machine *machine, int index, uint64_t *digest) {
    const struct InFlight *in_flight = machine->in_flight;
    int whole;
    uint32_t place;
    lua_Integer number = lua_tointegerx(L, index, &whole), end = in_flight_next(machine, &place);
    if (!whole || number < 0 || number >= end)
        user_error_got(L, index,
                       "wait: numbers: expected numbers of kernels, as gpu:launch_async() returned, below %d",
                       (int)end);
    if (!in_flight || number < in_flight->first || in_flight->is_told[number - in_flight->first])
        return false;
    *digest = hash_bytes(*digest, &number, sizeof number);
    gpu_await(machine->gpu, (uint32_t)(number - in_flight->first));
    return true;
}

/* Those at stack index 2: a number, a list of them, or nil, which is all. False: any of them has ended. */
static bool await_those(lua_State *L, Machine *machine, uint64_t *digest) {
    bool is_list = lua_istable(L, 2), waits = true;
    lua_Unsigned count = is_list ? lua_rawlen(L, 2) : 1;
    if (lua_isnil(L, 2)) return true;
    if (count < 1 || count > MAX_KERNELS_IN_FLIGHT)
        user_error("wait: numbers: expected a list of 1 to %d numbers of kernels, got %llu",
                   MAX_KERNELS_IN_FLIGHT, count);
    for (lua_Unsigned i = 1; i <= count && waits; i++) {
        if (is_list)
            lua_rawgeti(L, 2, (lua_Integer)i);
        else
            lua_pushvalue(L, 2);
        waits = await(L, machine, lua_gettop(L), digest);
        lua_pop(L, 1);
    }
    return waits;
}

/* The end of a wait for so many cycles follows from the present one anywhere within it. */
static void set_wait_cycle(Machine *machine, uint64_t cycles) {
    machine->wait_cycle = cycles ? (gpu_cycle(machine->gpu) / cycles + 1) * cycles : NEVER;
}

/* At stack index 3; 0: the wait is not for cycles. */
static lua_Integer cycles_to_wait(lua_State *L) {
    int whole = 0;
    lua_Integer cycles = lua_isnil(L, 3) ? 0 : lua_tointegerx(L, 3, &whole);
    if (!lua_isnil(L, 3) && (!whole || cycles < 1))
        user_error_got(L, 3, "wait: cycles: expected a number of cycles from 1 on");
    return cycles;
}

int wait_for_kernels(lua_State *L, Machine *machine) {
    lua_settop(L, 4);
    uint64_t digest = 0;
    lua_Integer cycles = cycles_to_wait(L);
    if (!lua_isnil(L, 4) && !lua_isstring(L, 4))
        user_error_got(L, 4, "wait: why: expected a text, why kernels are given up");
    const char *why = lua_tostring(L, 4);
    bool waits = await_those(L, machine, &digest);
    if (!machine->in_flight || !waits) {
        if (machine->in_flight) gpu_await_none(machine->gpu);
        lua_newtable(L);
        return 1;
    }
    bool replaying = host_log_replaying(&machine->log);
    host_log_call(&machine->log, digest ^ (uint64_t)cycles, "wait for kernels");
    if (why) gpu_give_up(machine->gpu, why);
    machine->waits = true;
    if (replaying) {
        int values = take_wait(L, machine);
        machine->waits = values == 0;
        if (values) {
            gpu_await_none(machine->gpu);
            return values;
        }
        restore_checkpoint(L, machine);
    }
    set_wait_cycle(machine, (uint64_t)cycles);
    return run_until_ended(L);
}
