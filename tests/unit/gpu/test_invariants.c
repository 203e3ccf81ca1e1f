/* Conservation laws: they hold in the midst of a run and at its end, and each finds what breaks it. A case
 * changes counters or state, by the names of their rows, in a machine that was right before. */
#include "core/gpu/device/dispatcher_state.h"
#include "tests/unit/gpu/tiny_machine.h"
#include "tests/unit/panic_text.h"
#include "tests/unit/suites.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *path, *row;
    int64_t delta;
    size_t offset; /* into the row's bytes; then a uint32_t */
} Change;

#define ROW(path, row, delta)                                                                                \
    { path, row, delta, 0 }
#define ROW_AT(path, row, delta, offset)                                                                     \
    { path, row, delta, offset }

typedef struct {
    Change changes[3];
    const char *panic;
    bool idle; /* at the end of the run, else in its midst */
} Case;

static Sim *sim;

static const Field *row_of(const SimObject *object, const char *name) {
    for (const Field *f = object->class->fields; f->kind != FIELD_END; f++)
        if ((f->kind == FIELD_STATE || f->kind == FIELD_STATE_ARRAY || f->kind == FIELD_STAT) &&
            strcmp(f->name, name) == 0)
            return f;
    ck_abort_msg("%s has no row %s", object->path, name);
}

static void apply(const Change *change) {
    SimObject *object = sim_find(sim, change->path);
    ck_assert_msg(object, "there is no %s", change->path);
    const Field *f = row_of(object, change->row);
    uint8_t *at = (uint8_t *)object + f->offset;
    if (f->kind == FIELD_STATE_ARRAY) at = *(uint8_t **)(void *)at;
    uint64_t value = 0;
    size_t bytes = f->bytes == 8 && f->kind != FIELD_STATE_ARRAY && !change->offset ? 8 : 4;
    memcpy(&value, at + change->offset, bytes);
    value += (uint64_t)change->delta;
    memcpy(at + change->offset, &value, bytes);
}

static void check(void *idle) {
    sim_settle(sim);
    sim_check(sim, *(const bool *)idle);
}

static void break_and_check(void *context) {
    const Case *c = context;
    bool idle = c->idle;
    for (int i = 0; i < 3 && c->changes[i].path; i++)
        apply(&c->changes[i]);
    check(&idle);
}

static void run_case(const Case *c) {
    bool idle = c->idle;
    while (idle && sim_run(sim, NEVER - sim->quantum) != STOP_IDLE)
        continue; /* the end of a kernel is a stop too */
    check(&idle);
    assert_panic(break_and_check, (void *)(uintptr_t)c, c->panic);
}

/* ---- Memory: two sources -> mux -> L1 -> crossbar <- a third source, and two slices with their channel. */

static SimObject *add(const char *class, const char *path, const char *parameters) {
    return tiny_add(sim, class, path, parameters);
}

static void wire(SimObject *from, const char *from_port, SimObject *to, const char *to_port) {
    sim_wire(sim, from, from_port, to, to_port, (LinkOptions){0}, (LinkOptions){0});
}

static void set_up_memory(void) {
    static const char traffic[] = "footprint=64KiB rate=0.6 writes=0.3 limit=400";
    class_register_all();
    sim = sim_new("test");
    sim_clock(sim, "clock", 1000000000);
    add("AddressMap", "map", "channels=2");
    SimObject *source[] = {
        add("TrafficSource", "source[0]", traffic), add("TrafficSource", "source[1]", traffic),
        add("TrafficSource", "source[2]", "footprint=64KiB rate=0.6 writes=0.3 limit=400 posted=true")};
    SimObject *mux = add("Mux", "mux", "up=2");
    SimObject *l1 = add("L1", "l1", "size=4KiB ways=4 mshrs=8");
    SimObject *xbar = add("Crossbar", "xbar", "up=2 down=2");
    SimObject *l2[] = {add("L2", "l2[0]", "size=16KiB ways=4 mshrs=8 sectors=4"),
                       add("L2", "l2[1]", "size=16KiB ways=4 mshrs=8 sectors=4")};
    wire(source[0], "mem", mux, "up[0]");
    wire(source[1], "mem", mux, "up[1]");
    wire(mux, "down", l1, "cpu");
    wire(l1, "mem", xbar, "up[0]");
    wire(source[2], "mem", xbar, "up[1]");
    for (uint32_t i = 0; i < 2; i++) {
        wire(xbar, i ? "down[1]" : "down[0]", l2[i], "cpu");
        wire(l2[i], "mem", add("MemoryController", i ? "mc[1]" : "mc[0]", NULL), "cpu[0]");
    }
    sim_elaborate(sim);
    sim_run(sim, 600 * sim->clocks[0].period);
}

static void tear_down_memory(void) {
    sim_free(sim);
}

static const Case memory_cases[] = {
    /* accesses = hits + misses + merges + bypasses + those still to be looked up */
    {{ROW("l1", "hits", 1)}, "hits, misses, merges and bypasses, and", false},
    {{ROW("l1", "misses", 1)}, "hits, misses, merges and bypasses, and", false},
    {{ROW("l2[1]", "merges", -1)}, "hits, misses, merges and bypasses, and", false},
    {{ROW("l1", "bypasses", 1)}, "hits, misses, merges and bypasses, and", true},
    {{ROW("l1", "cache.pipeline.count", -1)}, "still in front of the tags", false},
    /* ... and in each stream */
    {{ROW("l2[0]", "read_hits", 1)}, "l2[0]: the streams' results of kind 0 add up to", false},
    {{ROW("l2[0]", "write_misses", 1)}, "l2[0]: the streams' results of kind 1 add up to", true},
    /* every request taken is an access */
    {{ROW("l1", "hits", 1), ROW("l1", "read_hits", 1), ROW("l1", "accesses", 1)},
     "requests were taken",
     false},
    /* what was fetched and did not come is in flight */
    {{ROW("l1", "fetches", 1)}, "sectors fetched and", false},
    {{ROW("l2[0]", "fills", -1)}, "sectors fetched and", true},
    {{ROW("l2[1]", "cache.mshr.used", 1)}, "MSHRs wait for a fill or to answer", false},
    {{ROW("l1", "cache.mshr.used", 1)}, "MSHRs wait for a fill or to answer", true},
    {{ROW("l2[0]", "fetches", -1), ROW("l2[0]", "fills", -1)}, "fills, but", true},
    {{ROW("l2[0]", "fetches", 1), ROW("l2[0]", "fills", 1)}, "messages for the memory side", true},
    {{ROW("l1", "write_backs", 1)}, "messages for the memory side", true},
    {{ROW("l2[1]", "write_backs", 1)}, "messages for the memory side", true},
    /* whoever asked is answered once */
    {{ROW("l1", "bypassed.count", 1)}, "requests to be answered after", false},
    /* networks */
    {{ROW("xbar", "request_flits_in", 1)}, "xbar: of", false},
    {{ROW("xbar", "request_flits_out", 1)}, "flits) have left and", true},
    {{ROW("xbar", "response_flits_in", -1)}, "flits) have left and", false},
    {{ROW("xbar", "response_packets_out", 1)}, "responses (", true},
    {{ROW_AT("xbar", "request.output", 1, 24)}, "xbar: output 0 holds", false},
    {{ROW("xbar", "response_packets_in", 1), ROW("xbar", "response_packets_out", 1)},
     "but its links gave it",
     true},
    {{ROW("mux", "requests", 1)}, "requests passed, but", false},
    {{ROW("mux", "responses", 1)}, "went up", true},
    /* memory controllers: every read and every write that wants an answer has one, or it is inside */
    {{ROW("mc[0]", "reads", 1)}, "reads + writes = row hits + misses + conflicts + queued", false},
    {{ROW("mc[0]", "reads", 1), ROW("mc[0]", "writes", -1)},
     "reads = answered + queued + responses held",
     true},
    {{ROW("mc[0]", "reads_answered", 1)}, "reads = answered + queued + responses held", false},
    {{ROW("mc[1]", "writes_answered", 1)}, "writes - posted = answered + queued + responses held", true},
    {{ROW("mc[1]", "posted_writes", 1)}, "writes - posted = answered + queued + responses held", false},
    {{ROW("mc[0]", "reads", 1), ROW("mc[0]", "row_hits", 1), ROW("mc[0]", "reads_answered", 1)},
     "reads + writes = requests taken from the ports",
     true},
    {{ROW("mc[0]", "waiting", 1)}, "requests waiting = requests in the queues", true},
    {{ROW("mc[0]", "activates", 1)}, "activates = precharges + open banks", true},
    {{ROW("mc[0]", "data_bus_cycles", 1)}, "data bus cycles = column commands * burst", true},
    {{ROW("mc[0]", "queue_entry_cycles", 1)}, "entries * cycles = waiting of all requests", true},
    /* sources */
    {{ROW("source[0]", "sent", 1)}, "requests sent and", false},
    {{ROW("source[1]", "answered", 1)}, "requests sent and", false},
    {{ROW("source[2]", "posted_sent", 1)}, "requests need an answer and", true},
    {{ROW("source[2]", "token_sum", 1)}, "the sum of the others' tokens is 1", true},
};

START_TEST(broken_book_of_the_memory_side_is_found) {
    run_case(&memory_cases[_i]);
}
END_TEST

/* In the midst of the run every part has something in it: a check of empty parts would say little. */
START_TEST(laws_are_checked_on_a_machine_full_of_requests) {
    uint64_t used = 0, packets = 0;
    for (uint32_t i = 0; i < sim->link_count; i++)
        used += sim->links[i]->pushed != sim->links[i]->popped;
    ck_assert_uint_ge(used, 4);
    for (uint32_t i = 0; i < sim->object_count; i++) {
        const SimObject *object = sim->objects[i];
        if (strcmp(object->class->name, "L1") && strcmp(object->class->name, "L2")) continue;
        ck_assert_uint_gt(
            *(const uint64_t *)((const char *)object + row_of(object, "cache.mshr.used")->offset), 0);
    }
    const SimObject *xbar = sim_find(sim, "xbar");
    packets = *(const uint64_t *)((const char *)xbar + row_of(xbar, "response.sending")->offset);
    ck_assert_uint_ne(packets, 0);
}
END_TEST

static void leave_a_message_behind(void *context) {
    bool idle = true;
    (void)context;
    sim->links[0]->popped--;
    check(&idle);
}

static void overfill(void *context) {
    bool idle = false;
    (void)context;
    sim->links[0]->pushed += sim->links[0]->depth + 1;
    check(&idle);
}

START_TEST(links_hold_no_more_than_their_depth_and_nothing_when_idle) {
    bool idle = true;
    assert_panic(overfill, NULL, "link source[0].mem -> mux.up[0] holds");
    ck_assert_int_eq(sim_run(sim, NEVER - sim->quantum), STOP_IDLE);
    check(&idle);
    assert_panic(leave_a_message_behind, NULL, "holds 1 of at most 8 messages although the machine is idle");
}
END_TEST

#ifdef WW_DEBUG

static void want_one_answer_more(void *context) {
    bool idle = true;
    audit_promise(sim_find(sim, context), true);
    check(&idle);
}

/* How many writes want an answer is counted in these builds alone. */
START_TEST(request_that_a_cache_never_answers_is_found) {
    ck_assert_int_eq(sim_run(sim, NEVER - sim->quantum), STOP_IDLE);
    assert_panic(want_one_answer_more, "l1", "requests need an answer;");
    assert_panic(want_one_answer_more, "l2[0]", "requests need an answer;");
}
END_TEST

#endif

/* ---- SMs: two of them with instruction caches, and a memory that answers. */

static Gpu *gpu;
static Module *module;

static void add_sm(SimObject *dispatcher, uint32_t index) {
    char path[32], memory[32], code[32], lsu[32];
    snprintf(path, sizeof path, "sm[%u]", index);
    snprintf(lsu, sizeof lsu, "sm[%u].lsu", index);
    snprintf(memory, sizeof memory, "memory[%u]", index);
    snprintf(code, sizeof code, "code[%u]", index);
    SimObject *sm = add("SM", path, "code_bytes=128 code_ways=1 code_misses=1");
    sim_finish_object(sim_find(sim, lsu));
    wire(dispatcher, path, sm, "dispatch");
    wire(sim_find(sim, lsu), "mem", add("MemoryResponder", memory, "latency=40 capacity=1024"), "cpu");
    wire(sm, "fetch", add("MemoryResponder", code, "latency=10"), "cpu");
}

static const char kernel[] = ".version 6.0\n.target sm_20\n.address_size 64\n"
                             ".visible .global .align 256 .b8 out[65536];\n"
                             ".visible .entry work()\n{\n"
                             ".reg .b32 %r<8>;\n.reg .b64 %d<8>;\n.reg .pred %p<2>;\n"
                             "mov.u64 %d1, out;\n"
                             "mov.u32 %r1, %tid.x;\n"
                             "mul.wide.u32 %d2, %r1, 128;\n"
                             "add.u64 %d1, %d1, %d2;\n"
                             "mov.u32 %r2, 0;\n"
                             "loop:\n"
                             "ld.global.u32 %r3, [%d1];\n"
                             "add.u32 %r3, %r3, %r2;\n"
                             "st.global.u32 [%d1], %r3;\n"
                             "div.u32 %r4, %r3, 7;\n"
                             "add.u32 %r2, %r2, 1;\n"
                             "setp.lt.u32 %p1, %r2, 3;\n"
                             "@%p1 bra loop;\n"
                             "exit;\n}\n";

static void set_up_sms(void) {
    class_register_all();
    memory_test_classes();
    module = module_parse("work.ptx", kernel, strlen(kernel));
    sim = sim_new("test");
    sim_clock(sim, "clock", 1000000000);
    gpu = gpu_new(sim, 1 << 20);
    SimObject *dispatcher = add("Dispatcher", "dispatcher", "sms=2");
    add_sm(dispatcher, 0);
    add_sm(dispatcher, 1);
    gpu_elaborate(gpu);
    gpu_place_module(gpu, module);
    Launch launch = {.grid = {30, 1, 1}, .block = {64, 1, 1}};
    gpu_launch(gpu, module_kernel(module, "work"), &launch);
    ck_assert_int_eq(gpu_run(gpu, 3000), RUN_CYCLE_LIMIT);
}

static void tear_down_sms(void) {
    sim_free(sim);
    gpu_free(gpu);
    module_free(module);
}

static const Case sm_cases[] = {
    /* each scheduler slot of each cycle has one cause */
    {{ROW("sm[0]", "slots_idle", 1)}, "scheduler slots have a cause", false},
    {{ROW("sm[1]", "slots_memory", -1)}, "scheduler slots have a cause", false},
    {{ROW("sm[0]", "slots_issued", 1), ROW("sm[0]", "slots_idle", -1)}, "slots issued", false},
    {{ROW("sm[0]", "warp_instructions", 1)}, "sm[0]: the units had", false},
    {{ROW("sm[0]", "sfu_instructions", 1)}, "sm[0]: the units had", false},
    /* what issued writes back */
    {{ROW_AT("sm[0]", "warp", 1, offsetof(Warp, in_flight))}, "sm[0]: warp 0 has", false},
    {{ROW_AT("sm[0]", "warp", 1, offsetof(Warp, reads_in_flight))}, "sm[0]: warp 0 has", false},
    {{ROW_AT("sm[0]", "write_backs", 1, offsetof(WriteBacks, results))}, "results, the SM counts", false},
    {{ROW("sm[0]", "payloads_in_use", 1)}, "atomic payloads in use, but 0x0 are taken", false},
    {{ROW("sm[0]", "payload_used", 1)}, "0 atomic payloads in use, but 0x1 are taken", false},
    /* CTAs */
    {{ROW("sm[1]", "ctas_started", 1)}, "CTAs came", false},
    {{ROW("sm[1]", "ctas_finished", 1)}, "were reported", true},
    {{ROW("sm[1]", "resident", 1)}, "are resident", false},
    {{ROW("dispatcher", "ctas_dispatched", 1)}, "CTAs dispatched", false},
    {{ROW("dispatcher", "done", 1)}, "CTAs dispatched", false},
    {{ROW_AT("dispatcher", "grids", -30, offsetof(Grid, handed_out))}, "CTAs handed out", true},
    /* lines of code */
    {{ROW("sm[0]", "fetch_misses", 1)}, "misses of the instruction cache", false},
    /* instructions and accesses of the LSU */
    {{ROW("sm[0].lsu", "global_loads", 1)}, "instructions came", false},
    {{ROW("sm[0].lsu", "answered_tail", 1)}, "of 2 in the load/store unit 1 read and 2 write", false},
    {{ROW_AT("sm[0].lsu", "outstanding", 1, sizeof(MemoryDone))}, "answers are awaited", false},
    {{ROW("sm[0].lsu", "load_accesses", 100000)}, "global and local accesses are counted", false},
    {{ROW("sm[0].lsu", "in_use", 1), ROW("sm[0].lsu", "answered_tail", -1)}, "entries are counted", false},
    /* nothing is left at the end */
    {{ROW("sm[0]", "live", 1)}, "live and", true},
};

START_TEST(broken_book_of_an_sm_is_found) {
    run_case(&sm_cases[_i]);
}
END_TEST

START_TEST(laws_are_checked_on_sms_at_work) {
    for (uint32_t i = 0; i < 2; i++) {
        const Sm *sm = (const Sm *)sim_find(sim, i ? "sm[1]" : "sm[0]");
        ck_assert_uint_gt(sm->resident, 0);
        ck_assert_uint_gt(sm->ctas_finished, 0);
        ck_assert_uint_gt(sm->fetch_misses, 0);
        ck_assert_uint_ne(sm->lsu.send->pushed, sm->lsu.receive->popped);
    }
}
END_TEST

Suite *invariants_suite(void);

Suite *invariants_suite(void) {
    Suite *suite = suite_create("invariants");
    TCase *memory = tcase_create("memory"), *sms = tcase_create("SMs");
    tcase_add_checked_fixture(memory, set_up_memory, tear_down_memory);
    tcase_add_checked_fixture(sms, set_up_sms, tear_down_sms);
    tcase_add_test(memory, laws_are_checked_on_a_machine_full_of_requests);
    tcase_add_loop_test(memory, broken_book_of_the_memory_side_is_found, 0,
                        sizeof memory_cases / sizeof *memory_cases);
    tcase_add_test(memory, links_hold_no_more_than_their_depth_and_nothing_when_idle);
#ifdef WW_DEBUG
    tcase_add_test(memory, request_that_a_cache_never_answers_is_found);
#endif
    tcase_add_test(sms, laws_are_checked_on_sms_at_work);
    tcase_add_loop_test(sms, broken_book_of_an_sm_is_found, 0, sizeof sm_cases / sizeof *sm_cases);
    suite_add_tcase(suite, memory);
    suite_add_tcase(suite, sms);
    return suite;
}
