#include "tests/unit/gpu/tiny_machine.h"

#include "core/gpu/device/dispatcher.h"
#include "mem/protocol/address_map.h"
#include "mem/protocol/caches.h"
#include "mem/protocol/networks.h"

#include <check.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- Building -------------------------------------------------------------------------------- */

void tiny_set(SimObject *object, const char *text) {
    char name[64], value[64];
    for (int used; text && sscanf(text, " %63[^=]=%63s%n", name, value, &used) == 2; text += used)
        object_set_text(object, name, value);
}

SimObject *tiny_add(Sim *sim, const char *class, const char *path, const char *parameters) {
    SimObject *object = sim_add(sim, class, path, NULL);
    tiny_set(object, parameters);
    sim_finish_object(object);
    return object;
}

static void add_sm(TinyMachine *machine, TinySpec spec, uint32_t index) {
    char path[32];
    snprintf(path, sizeof path, "sm[%u]", index);
    SimObject *sm = tiny_add(machine->sim, "SM", path, spec.sm);
    machine->sm[index] = (Sm *)sm;
    snprintf(path, sizeof path, "sm[%u].lsu", index);
    SimObject *lsu = sim_find(machine->sim, path);
    tiny_set(lsu, spec.lsu);
    sim_finish_object(lsu);
    snprintf(path, sizeof path, "sm[%u]", index);
    sim_wire(machine->sim, machine->dispatcher, path, sm, "dispatch", (LinkOptions){0}, (LinkOptions){0});
}

static SimObject *add_responder(Sim *sim, const char *path, const char *parameters) {
    SimObject *responder = sim_add(sim, "MemoryResponder", path, NULL);
    object_set_number(responder, "latency", TINY_MEMORY_LATENCY);
    object_set_number(responder, "capacity", 1024);
    tiny_set(responder, parameters);
    sim_finish_object(responder);
    return responder;
}

static void wire_responders(TinyMachine *machine, TinySpec spec) {
    for (uint32_t i = 0; i < machine->sms; i++) {
        char path[32];
        snprintf(path, sizeof path, "memory[%u]", i);
        machine->memory[i] = add_responder(machine->sim, path, spec.memory);
        snprintf(path, sizeof path, "sm[%u].lsu", i);
        sim_wire(machine->sim, sim_find(machine->sim, path), "mem", machine->memory[i], "cpu",
                 (LinkOptions){.depth = spec.request_depth}, (LinkOptions){0});
    }
}

static void add_code_memories(TinyMachine *machine) {
    for (uint32_t i = 0; i < machine->sms; i++) {
        char path[32];
        snprintf(path, sizeof path, "code_memory[%u]", i);
        machine->code_memory[i] = add_responder(machine->sim, path, NULL);
        sim_wire(machine->sim, &machine->sm[i]->obj, "fetch", machine->code_memory[i], "cpu",
                 (LinkOptions){0}, (LinkOptions){0});
    }
}

static void add_engines(TinyMachine *machine, TinySpec spec) {
    const LinkOptions plain = {0};
    for (uint32_t i = 0; i < machine->sms; i++) {
        char path[32];
        snprintf(path, sizeof path, "sm[%u].dma", i);
        SimObject *dma = machine->dma[i] = sim_add(machine->sim, "DmaEngine", path, NULL);
        tiny_set(dma, spec.dma);
        sim_finish_object(dma);
        snprintf(path, sizeof path, "dma_memory[%u]", i);
        machine->dma_memory[i] = add_responder(machine->sim, path, spec.memory);
        sim_wire(machine->sim, &machine->sm[i]->obj, "transfers", dma, "sm", plain, plain);
        sim_wire(machine->sim, dma, "mem", machine->dma_memory[i], "cpu",
                 (LinkOptions){.depth = spec.request_depth}, plain);
    }
}

/* What an atomic wrote reaches the SMs' views at a boundary: the way back to them takes the longest quantum,
 * 4 cycles, as in every machine. */
static void wire_l2(TinyMachine *machine, TinySpec spec) {
    LinkOptions far = {.latency = 4, .depth = 16};
    char path[32], ups[16];
    snprintf(ups, sizeof ups, "up=%u", machine->sms);
    tiny_add(machine->sim, "AddressMap", "map", "channels=1");
    SimObject *mux = tiny_add(machine->sim, "Mux", "mux", ups);
    SimObject *l2 = tiny_add(machine->sim, "L2", "l2", "size=64KiB ways=8 mshrs=32 rop_delay=1");
    machine->memory[0] = add_responder(machine->sim, "memory", spec.memory);
    for (uint32_t i = 0; i < machine->sms; i++) {
        char up[16];
        snprintf(path, sizeof path, "sm[%u].lsu", i);
        snprintf(up, sizeof up, "up[%u]", i);
        sim_wire(machine->sim, sim_find(machine->sim, path), "mem", mux, up, (LinkOptions){0},
                 (LinkOptions){0});
    }
    sim_wire(machine->sim, mux, "down", l2, "cpu", far, far);
    sim_wire(machine->sim, l2, "mem", machine->memory[0], "cpu", (LinkOptions){0}, (LinkOptions){0});
}

#define INTRINSIC(name, parameters) ".extern .func " #name " (" parameters "); "
#define CONFIGURED                  ".param .b64 s, .param .b64 g, "

/* Their own line is the one of .visible .global. */
static const char intrinsics[] = INTRINSIC(dma_set_datatype, ".param .b32 a")
    INTRINSIC(dma_set_padding, ".param .b32 a, .param .b32 b")
        INTRINSIC(dma_set_halo, ".param .b32 a, .param .b32 b, .param .b32 c, .param .b64 d")
            INTRINSIC(dma_configure_flat_unit_stride, CONFIGURED ".param .b32 a, .param .b32 b") INTRINSIC(
                dma_configure_flat_strided, CONFIGURED ".param .b32 a, .param .b32 b, .param .b32 c")
                INTRINSIC(dma_configure_2d,
                          CONFIGURED ".param .b32 a, .param .b32 b, .param .b32 c, .param .b32 d")
                    INTRINSIC(dma_execute, CONFIGURED ".param .b32 a") INTRINSIC(dma_mark_tile_begin_1, "")
                        INTRINSIC(dma_mark_tile_end_1, "");

static Module *parse(TinySpec spec) {
    static const char head[] = ".visible .global .align 256 .b8 out[65536];\n"
                               ".visible .entry tiny(.param .u32 word) ",
                      registers[] = "\n{\n"
                                    ".reg .b32 %r<64>;\n.reg .f32 %f<64>;\n.reg .b64 %d<64>;\n"
                                    ".reg .f64 %e<64>;\n.reg .pred %p<8>;\n";
    char *text = NULL;
    ensure(asprintf(&text, ".version 6.0\n.target sm_%u\n.address_size 64\n%s%s%s%s%s\n}\n",
                    spec.target ? spec.target : 20, strstr(spec.body, "dma_") ? intrinsics : "", head,
                    spec.directives ? spec.directives : "", registers, spec.body) >= 0);
    Module *module = module_parse("tiny.ptx", text, strlen(text));
    free(text);
    return module;
}

TinyMachine *tiny_new(TinySpec spec) {
    TinyMachine *machine = calloc(1, sizeof *machine);
    char parameter[80];
    ensure(machine);
    class_register_all();
    memory_test_classes();
    machine->module = parse(spec);
    machine->sms = spec.sms ? spec.sms : 1;
    ck_assert_uint_le(machine->sms, TINY_MAX_SMS);
    machine->sim = sim_new("tiny");
    sim_clock(machine->sim, "core", 1000000000);
    sim_set_quantum(machine->sim, spec.quantum ? spec.quantum : 1);
    machine->sim->order = spec.order;
    machine->sim->order_seed = spec.order_seed;
    machine->gpu = gpu_new(machine->sim, 1 << 20);
    snprintf(parameter, sizeof parameter, "sms=%u %s", machine->sms, spec.dispatcher ? spec.dispatcher : "");
    machine->dispatcher = tiny_add(machine->sim, "Dispatcher", "dispatcher", parameter);
    for (uint32_t i = 0; i < machine->sms; i++)
        add_sm(machine, spec, i);
    if (spec.part) tiny_add(machine->sim, spec.part, "sm[0].part", NULL);
    if (spec.dma) add_engines(machine, spec);
    if (spec.code) add_code_memories(machine);
    if (spec.l2)
        wire_l2(machine, spec);
    else
        wire_responders(machine, spec);
    gpu_elaborate(machine->gpu);
    gpu_place_module(machine->gpu, machine->module);
    machine->out = machine->module->variables[0].address;
    return machine;
}

void tiny_free(TinyMachine *machine) {
    sim_free(machine->sim);
    gpu_free(machine->gpu);
    module_free(machine->module);
    free(machine->issues);
    free(machine);
}

/* --- Running --------------------------------------------------------------------------------- */

void tiny_launch(TinyMachine *machine, TinySpec spec) {
    uint32_t word = TINY_WORD;
    Launch launch = {.params = (uint8_t *)&word,
                     .grid = {spec.ctas ? spec.ctas : 1, 1, 1},
                     .block = {spec.threads ? spec.threads : 32, 1, 1},
                     .shared_bytes = spec.shared_bytes,
                     .registers = spec.registers,
                     .forward_ctas = spec.forward_ctas,
                     .cold_ctas = spec.untimed ? UINT64_MAX : spec.cold_ctas};
    (spec.untimed ? gpu_launch_untimed : gpu_launch)(machine->gpu, module_kernel(machine->module, "tiny"),
                                                     &launch);
}

typedef struct {
    uint64_t warp_instructions;
    uint32_t pc[MAX_WARPS], lanes[MAX_WARPS];
} SmBefore;

static SmBefore look_at(const Sm *sm) {
    SmBefore before = {.warp_instructions = sm->warp_instructions};
    for (uint32_t w = 0; w < sm->warps; w++) {
        if (!sm->warp[w].simt.depth) continue;
        before.pc[w] = sm->warp[w].simt.top.pc;
        before.lanes[w] = sm->warp[w].simt.top.lanes;
    }
    return before;
}

static void note_issue(TinyMachine *machine, Issue issue) {
    if (machine->issue_count == machine->issue_capacity) {
        machine->issue_capacity = machine->issue_capacity ? 2 * machine->issue_capacity : 256;
        machine->issues = realloc(machine->issues, machine->issue_capacity * sizeof *machine->issues);
        ensure(machine->issues);
    }
    machine->issues[machine->issue_count++] = issue;
}

static void note_issues(TinyMachine *machine, uint32_t index, const SmBefore *before, uint64_t cycle) {
    const Sm *sm = machine->sm[index];
    if (sm->warp_instructions == before->warp_instructions) return;
    for (uint32_t i = 0; i < sm->schedulers; i++) {
        uint32_t s = (uint32_t)((cycle + i) % sm->schedulers), w = sm->sched[s].last;
        if (sm->slot_cause[s] == SLOT_ISSUED)
            note_issue(machine, (Issue){cycle, index, w, before->pc[w], before->lanes[w]});
    }
}

bool tiny_step(TinyMachine *machine) {
    SmBefore before[TINY_MAX_SMS];
    uint64_t cycle = gpu_cycle(machine->gpu);
    ck_assert_uint_eq(machine->sim->quantum_cycles, 1);
    for (uint32_t i = 0; i < machine->sms; i++)
        before[i] = look_at(machine->sm[i]);
    RunStatus status = gpu_run(machine->gpu, cycle + 1);
    for (uint32_t i = 0; i < machine->sms; i++)
        note_issues(machine, i, &before[i], cycle);
    return status != RUN_DONE && !dispatcher_idle(machine->dispatcher);
}

void tiny_step_to(TinyMachine *machine, uint64_t cycle) {
    while (gpu_cycle(machine->gpu) < cycle)
        ck_assert(tiny_step(machine));
}

static void check_books(TinyMachine *machine) {
    gpu_drain(machine->gpu);
    sim_settle(machine->sim);
    sim_check(machine->sim, true);
}

void tiny_finish(TinyMachine *machine) {
    uint64_t limit = gpu_cycle(machine->gpu) + 1000000;
    while (machine->sim->quantum_cycles == 1 && tiny_step(machine))
        ck_assert_uint_lt(gpu_cycle(machine->gpu), limit);
    ck_assert_int_eq(gpu_run(machine->gpu, limit), RUN_DONE);
    check_books(machine);
}

static TinyMachine *run_once(TinySpec spec) {
    TinyMachine *machine = tiny_new(spec);
    tiny_launch(machine, spec);
    tiny_finish(machine);
    return machine;
}

static void assert_same(TinyMachine *one, TinyMachine *other) {
    char *stats_one = stats_text(one->sim), *stats_other = stats_text(other->sim);
    ck_assert_str_eq(stats_one, stats_other);
    ck_assert_uint_eq(device_digest(gpu_memory(one->gpu)), device_digest(gpu_memory(other->gpu)));
    ck_assert_uint_eq(one->issue_count, other->issue_count);
    if (one->issue_count)
        ck_assert_mem_eq(one->issues, other->issues, one->issue_count * sizeof *one->issues);
    free(stats_one);
    free(stats_other);
}

static TinyMachine *run_in_all_orders(TinySpec spec) {
    spec.order = ORDER_PATH;
    TinyMachine *machine = run_once(spec);
    for (uint64_t other_order = 0; other_order < 4; other_order++) {
        spec.order = other_order == 0 ? ORDER_REVERSED : other_order == 1 ? ORDER_RESTLESS : ORDER_SHUFFLED;
        spec.order_seed = other_order;
        TinyMachine *other = run_once(spec);
        assert_same(machine, other);
        tiny_free(other);
    }
    return machine;
}

TinyMachine *tiny_run(TinySpec spec) {
    spec.quantum = 1;
    TinyMachine *machine = run_in_all_orders(spec);
    spec.quantum = 4;
    TinyMachine *coarse = run_in_all_orders(spec);
    if (!spec.races) {
        ck_assert_uint_eq(tiny_cycles(coarse), (tiny_cycles(machine) + 3) / 4 * 4);
        ck_assert_uint_eq(device_digest(gpu_memory(machine->gpu)), device_digest(gpu_memory(coarse->gpu)));
    }
    tiny_free(coarse);
    return machine;
}

TinyMachine *tiny_run_strided(TinySpec spec, uint32_t stride, const char *rest) {
    char *body = NULL;
    ck_assert_int_gt(asprintf(&body,
                              "mov.u32 %%r1, %%laneid;\n mul.wide.u32 %%d3, %%r1, %u;\n mov.u64 %%d2, out;\n"
                              "add.u64 %%d1, %%d2, %%d3;\n%s",
                              stride, rest),
                     0);
    spec.body = body;
    TinyMachine *machine = tiny_run(spec);
    free(body);
    return machine;
}

/* --- Results --------------------------------------------------------------------------------- */

uint64_t tiny_issued(const TinyMachine *machine, uint32_t warp, uint32_t n) {
    for (uint32_t i = 0; i < machine->issue_count; i++)
        if (machine->issues[i].sm == 0 && machine->issues[i].warp == warp && n-- == 0)
            return machine->issues[i].cycle;
    ck_abort_msg("warp %u issued fewer instructions", warp);
}

uint64_t tiny_issued_at(const TinyMachine *machine, uint32_t warp, uint32_t pc, uint32_t n) {
    for (uint32_t i = 0; i < machine->issue_count; i++) {
        const Issue *issue = &machine->issues[i];
        if (issue->sm == 0 && issue->warp == warp && issue->pc == pc && n-- == 0) return issue->cycle;
    }
    ck_abort_msg("warp %u issued instruction %u less often", warp, pc);
}

uint64_t tiny_cycles(const TinyMachine *machine) {
    return gpu_last_launch(machine->gpu).cycles;
}

uint64_t tiny_stat(const TinyMachine *machine, const char *path, const char *name) {
    const SimObject *object = sim_find(machine->sim, path);
    ck_assert_ptr_nonnull(object);
    return stat_of(object, name);
}

uint32_t tiny_word(const TinyMachine *machine, uint32_t index) {
    uint32_t word;
    device_read(gpu_memory(machine->gpu), machine->out + index * sizeof word, &word, sizeof word);
    return word;
}

const MessageLog *tiny_arrivals(const TinyMachine *machine, uint32_t sm) {
    return memory_responder_arrivals(machine->memory[sm]);
}

/* --- Errors ---------------------------------------------------------------------------------- */

typedef struct {
    jmp_buf back;
    char message[4096];
} CaughtError;

static void catch_error(void *context, const char *message) {
    CaughtError *caught = context;
    snprintf(caught->message, sizeof caught->message, "%s", message);
    longjmp(caught->back, 1);
}

static char *read_back(FILE *file) {
    long size = ftell(file);
    char *text = calloc(1, (size_t)size + 1);
    ensure(text);
    rewind(file);
    ensure(fread(text, 1, (size_t)size, file) == (size_t)size);
    return text;
}

const char *tiny_error(void (*action)(void *), void *context, char **report) {
    static CaughtError caught;
    FILE *const file = tmpfile();
    const int stderr_before = dup(STDERR_FILENO);
    ensure(file && stderr_before >= 0);
    caught.message[0] = 0;
    fflush(stderr);
    dup2(fileno(file), STDERR_FILENO);
    user_error_handler(catch_error, &caught);
    if (!setjmp(caught.back)) action(context);
    user_error_handler(NULL, NULL);
    fflush(stderr);
    dup2(stderr_before, STDERR_FILENO);
    close(stderr_before);
    fseek(file, 0, SEEK_END);
    if (report) *report = read_back(file);
    fclose(file);
    ck_assert_msg(caught.message[0], "there was no user error");
    return caught.message;
}

char *tiny_repeated(const char *line, uint32_t count) {
    char *text = calloc(count * strlen(line) + 1, 1);
    for (uint32_t i = 0; i < count; i++)
        strcat(text, line);
    return text;
}

void tiny_assert_issues(const TinyMachine *machine, uint32_t warp, const uint64_t *cycles, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        ck_assert_msg(tiny_issued(machine, warp, i) == cycles[i],
                      "warp %u issued its instruction %u in cycle %lu instead of %lu", warp, i,
                      tiny_issued(machine, warp, i), cycles[i]);
}
