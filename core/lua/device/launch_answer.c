#include "core/lua/device/launch_answer.h"

#include "core/lua/bindings.h"
#include "core/lua/device/checkpoint.h"
#include "core/lua/device/faults.h"
#include "core/lua/device/sampling.h"

#include <string.h>

/* --- What a launch did ----------------------------------------------------------------------- */

static void set_counter(lua_State *L, const char *name, uint64_t value) {
    lua_pushinteger(L, (lua_Integer)value);
    lua_setfield(L, -2, name);
}

static const char *limit_name(uint64_t limit) {
    static const char *const names[OCCUPANCY_LIMITS] = {[LIMIT_CTA_SLOTS] = "CTA slots",
                                                        [LIMIT_WARPS] = "warps",
                                                        [LIMIT_REGISTERS] = "registers",
                                                        [LIMIT_SHARED_MEMORY] = "shared memory",
                                                        [LIMIT_GRID] = "grid"};
    return limit < OCCUPANCY_LIMITS ? names[limit] : "unknown"; /* a checkpoint may come from anybody */
}

/* What a kernel has printed is a call of its own in the log, behind its launch: messages that were dropped as 64 bits,
 * then the text. */
typedef struct {
    char text[40];
} PrintCall;

static PrintCall print_call(uint32_t kernel) {
    PrintCall call = {"printed by the kernel"};
    if (kernel) snprintf(call.text, sizeof call.text, "printed by kernel %u", kernel);
    return call;
}

/* Sets the fields `printed` and `printed_dropped` of the result on top of the stack, where there is anything. */
static void set_printed(lua_State *L, const void *text, uint64_t bytes, uint64_t dropped) {
    if (bytes) {
        lua_pushlstring(L, text, bytes);
        lua_setfield(L, -2, "printed");
    }
    if (dropped) set_counter(L, "printed_dropped", dropped);
}

void log_printed(lua_State *L, Machine *machine, uint32_t kernel) {
    const PrintedText *printed = gpu_launch_result(machine->gpu, kernel).printed;
    if (!printed->text.count && !printed->dropped) return;
    Buffer answer = {0};
    buffer_u64(&answer, printed->dropped);
    buffer_append(&answer, printed->text.bytes, printed->text.count);
    host_log_call(&machine->log, 0, "%s", print_call(kernel).text);
    host_log_answer(&machine->log, answer.bytes, answer.count);
    buffer_free(&answer);
    set_printed(L, printed->text.bytes, printed->text.count, printed->dropped);
}

void repeat_printed(lua_State *L, Machine *machine, uint32_t kernel) {
    const HostCall *next = host_log_coming(&machine->log);
    const PrintCall call = print_call(kernel);
    uint64_t dropped;
    if (!next || strcmp(next->text, call.text) != 0) return;
    uint64_t bytes = next->answer_bytes;
    uint8_t *answer = lua_newuserdatauv(L, bytes + sizeof dropped, 0);
    host_log_call(&machine->log, 0, "%s", call.text);
    if (host_log_take(&machine->log, answer, bytes) && bytes >= sizeof dropped) {
        memcpy(&dropped, answer, sizeof dropped);
        lua_insert(L, -2);
        set_printed(L, answer + sizeof dropped, bytes - sizeof dropped, dropped);
        lua_insert(L, -2);
    }
    lua_pop(L, 1);
}

void push_result(lua_State *L, const Machine *machine, uint32_t kernel, const LaunchAnswer *answer) {
    LaunchResult result = gpu_launch_result(machine->gpu, kernel);
    lua_newtable(L);
    lua_pushstring(L, result.kernel);
    lua_setfield(L, -2, "kernel");
    if (result.module > 1) set_counter(L, "module", result.module);
    if (result.tenant) set_counter(L, "tenant", result.tenant);
    set_counter(L, "start_cycle", answer->start_cycle);
    set_counter(L, "cycles", answer->cycles);
    set_counter(L, "warp_instructions", answer->warp_instructions);
    set_counter(L, "thread_instructions", answer->thread_instructions);
    set_counter(L, "ctas", answer->ctas);
    set_counter(L, "threads_per_cta", answer->threads_per_cta);
    set_counter(L, "ctas_per_sm", answer->ctas_per_sm);
    lua_pushstring(L, limit_name(answer->limit));
    lua_setfield(L, -2, "limited_by");
}

void append_result(lua_State *L, const Machine *machine, uint32_t kernel) {
    lua_getiuservalue(L, 1, GPU_LAUNCHES);
    lua_Unsigned number = lua_rawlen(L, -1);
    lua_pushvalue(L, -2);
    lua_rawseti(L, -2, (lua_Integer)number + 1);
    lua_pop(L, 1);
    if (gpu_kernel_count(machine->gpu) > 1) set_counter(L, "together", number - kernel);
}

/* --- The answer of a launch -------------------------------------------------------------------- */

/* The host log keeps a LaunchAnswer of each kernel, and of launches that return faults, whether there is one, in 64
 * bits. What kernels have printed, and the fault, are calls of their own behind it. */
static size_t bytes_of_answer(const Machine *machine, uint32_t count) {
    return count * sizeof(LaunchAnswer) + (machine->returns_faults ? sizeof(uint64_t) : 0);
}

LaunchAnswer answer_of_kernel(const Machine *machine, uint32_t kernel) {
    const LaunchResult of = gpu_launch_result(machine->gpu, kernel);
    return (LaunchAnswer){of.start_cycle + machine->estimated_cycles,
                          of.cycles,
                          of.warp_instructions,
                          of.thread_instructions,
                          of.ctas,
                          of.threads_per_cta,
                          of.ctas_per_sm,
                          of.limit};
}

static void note_fault_call(Machine *machine) {
    host_log_call(&machine->log, 0, "fault of %s", gpu_last_launch(machine->gpu).kernel);
}

void push_fault_of_kernel(lua_State *L, const Machine *machine, const LaunchFault *fault) {
    /* The number in a log may come from anybody. */
    uint32_t number = fault->kernel < gpu_kernel_count(machine->gpu) ? fault->kernel : 0;
    push_fault(L, gpu_launch_result(machine->gpu, number).kernel, fault);
}

void push_and_log_fault(lua_State *L, Machine *machine, const LaunchFault *fault) {
    note_fault_call(machine);
    host_log_answer(&machine->log, fault, sizeof *fault);
    push_fault_of_kernel(L, machine, fault);
}

void repeat_fault(Machine *machine, LaunchFault *fault) {
    note_fault_call(machine);
    if (!host_log_take(&machine->log, fault, sizeof *fault))
        user_error("resume: the checkpoint has no fault of kernel %s", gpu_last_launch(machine->gpu).kernel);
    fault_end_texts(fault); /* it may come from anybody */
}

/* Sets the result on top of the stack in the list below it, of a launch of a list. */
static void end_result(lua_State *L, const Machine *machine, uint32_t kernel) {
    if (machine->returns_list) lua_rawseti(L, -2, kernel + 1);
}

int answer_launch(lua_State *L, Machine *machine) {
    uint32_t count = gpu_kernel_count(machine->gpu);
    const LaunchFault *fault = machine->returns_faults ? gpu_fault(machine->gpu) : NULL;
    LaunchAnswer *answers = lua_newuserdatauv(L, bytes_of_answer(machine, count), 0);
    for (uint32_t k = 0; k < count; k++)
        answers[k] = answer_of_kernel(machine, k);
    if (machine->sampled)
        sampling_answer(machine, &answers->cycles, &answers->warp_instructions,
                        &answers->thread_instructions);
    if (machine->returns_faults) memcpy(answers + count, &(uint64_t){fault != NULL}, sizeof(uint64_t));
    host_log_answer(&machine->log, answers, bytes_of_answer(machine, count));
    if (machine->returns_list) lua_createtable(L, (int)count, 0);
    for (uint32_t k = 0; k < count; k++) {
        push_result(L, machine, k, &answers[k]);
        append_result(L, machine, k);
        log_printed(L, machine, k);
        end_result(L, machine, k);
    }
    if (!fault) return 1;
    push_and_log_fault(L, machine, fault);
    return 2;
}

int take_launch(lua_State *L, Machine *machine) {
    uint32_t count = gpu_kernel_count(machine->gpu);
    size_t bytes = bytes_of_answer(machine, count);
    uint64_t has_fault = 0;
    LaunchFault fault;
    LaunchAnswer *answers = lua_newuserdatauv(L, bytes, 0);
    if (!host_log_take(&machine->log, answers, bytes)) return 0;
    if (machine->returns_faults) memcpy(&has_fault, answers + count, sizeof has_fault);
    if (machine->returns_list) lua_createtable(L, (int)count, 0);
    for (uint32_t k = 0; k < count; k++) {
        push_result(L, machine, k, &answers[k]);
        append_result(L, machine, k);
        repeat_printed(L, machine, k);
        end_result(L, machine, k);
    }
    if (has_fault) repeat_fault(machine, &fault);
    after_host_call(L, machine);
    if (has_fault)
        push_fault_of_kernel(L, machine, &fault);
    else
        lua_pushnil(L);
    return machine->returns_faults ? 2 : (lua_pop(L, 1), 1);
}
