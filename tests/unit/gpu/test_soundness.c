/* State that a snapshot brings and no machine ever had is refused by object and field, before anything works
 * with it. A case changes one number in a machine at work, as a forged checkpoint would. */
#include "core/gpu/device/dispatcher_state.h"
#include "core/gpu/device/gpu.h"
#include "core/gpu/sm/sm.h"
#include "mem/dram/memory_controller_state.h"
#include "tests/unit/gpu/tiny_machine.h"
#include "tests/unit/suites.h"

#include <stdlib.h>
#include <string.h>

Suite *soundness_suite(void);

/* --- A machine at work ----------------------------------------------------------------------- */

enum { MEMORY_BYTES = 1 << 20, THREADS = 64, CTAS = 12, CYCLES = 400, OUT_BYTES = 1 << 16 };

/* Divergence, barriers, shared memory, loads far from each other, stores and atomics. */
static const char kernel_text[] = ".version 6.0\n.target sm_20\n.address_size 64\n"
                                  ".visible .global .align 256 .b8 out[65536];\n"
                                  ".visible .entry busy()\n{\n"
                                  ".reg .b32 %r<10>;\n.reg .b64 %d<8>;\n.reg .pred %p<4>;\n"
                                  ".shared .align 4 .b8 tile[256];\n"
                                  "mov.u64 %d1, out;\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\n"
                                  "mad.lo.u32 %r3, %r2, 64, %r1;\nand.b32 %r3, %r3, 511;\n"
                                  "mul.wide.u32 %d2, %r3, 128;\nadd.u64 %d3, %d1, %d2;\n"
                                  "mov.u64 %d4, tile;\nmul.wide.u32 %d5, %r1, 4;\nadd.u64 %d6, %d4, %d5;\n"
                                  "and.b32 %r4, %r1, 7;\nmov.u32 %r5, 0;\n"
                                  "again:\n"
                                  "ld.global.u32 %r6, [%d3];\nadd.u32 %r6, %r6, 1;\n"
                                  "st.shared.u32 [%d6], %r6;\nbar.sync 0;\nld.shared.u32 %r7, [%d6];\n"
                                  "setp.lt.u32 %p1, %r4, %r5;\n@%p1 bra skip;\n"
                                  "st.global.u32 [%d3], %r7;\natom.global.add.u32 %r8, [%d1], 1;\n"
                                  "skip:\n"
                                  "add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p2, %r5, 8;\n@%p2 bra again;\n"
                                  "ret;\n}\n";

typedef struct {
    Sim *sim;
    Gpu *gpu;
    Module *module;
} Machine;

static const Launch launch = {.grid = {CTAS, 1, 1}, .block = {THREADS, 1, 1}};
static Machine machine;
static char why[600];

static void wire(Sim *sim, SimObject *a, const char *port_a, SimObject *b, const char *port_b,
                 uint64_t latency) {
    LinkOptions options = {.latency = latency, .depth = 8};
    sim_wire(sim, a, port_a, b, port_b, options, options);
}

static void add_objects(Sim *sim) {
    SimObject *dispatcher = tiny_add(sim, "Dispatcher", "dispatcher", "sms=1");
    tiny_add(sim, "AddressMap", "map", "channels=1");
    SimObject *sm = tiny_add(sim, "SM", "sm[0]", "warps=8 ctas=4 registers=8192 shared=4KiB");
    SimObject *lsu = sim_find(sim, "sm[0].lsu");
    sim_finish_object(lsu);
    SimObject *l1 = tiny_add(sim, "L1", "sm[0].l1d", "size=2KiB ways=2 mshrs=8");
    SimObject *crossbar = tiny_add(sim, "Crossbar", "xbar", "up=1 down=1");
    SimObject *l2 = tiny_add(sim, "L2", "l2[0]", "size=8KiB ways=4 mshrs=8 rop_delay=4");
    SimObject *controller = tiny_add(sim, "MemoryController", "mc[0]", "queues=2");
    wire(sim, dispatcher, "sm[0]", sm, "dispatch", 1);
    wire(sim, lsu, "mem", l1, "cpu", 1);
    wire(sim, l1, "mem", crossbar, "up[0]", 4);
    wire(sim, crossbar, "down[0]", l2, "cpu", 4);
    wire(sim, l2, "mem", controller, "cpu[0]", 4);
}

static Machine new_machine(void) {
    Machine new = {.sim = sim_new("small"),
                   .module = module_parse("busy.ptx", kernel_text, strlen(kernel_text))};
    sim_clock(new.sim, "core", 1000000000);
    sim_set_quantum(new.sim, 4);
    new.gpu = gpu_new(new.sim, MEMORY_BYTES);
    add_objects(new.sim);
    gpu_elaborate(new.gpu);
    gpu_place_module(new.gpu, new.module);
    return new;
}

static void free_machine(Machine *old) {
    sim_free(old->sim);
    gpu_free(old->gpu);
    module_free(old->module);
}

static void set_up(void) {
    class_register_all();
    machine = new_machine();
    gpu_launch(machine.gpu, module_kernel(machine.module, "busy"), &launch);
    ck_assert_int_eq(gpu_run(machine.gpu, CYCLES), RUN_CYCLE_LIMIT);
}

static void tear_down(void) {
    free_machine(&machine);
}

/* Can what this one saves be transferred to another machine? */
static bool is_transferred(void) {
    Buffer saved = {0};
    Machine other = new_machine();
    gpu_save(machine.gpu, &saved);
    gpu_prepare(other.gpu, &(KernelLaunch){.kernel = module_kernel(other.module, "busy"), .launch = &launch},
                1);
    Reader reader = {.bytes = saved.bytes, .count = saved.count};
    SnapshotChanges none = {0};
    bool good = gpu_load(other.gpu, &reader, &none, why, sizeof why);
    buffer_free(&saved);
    free_machine(&other);
    return good;
}

/* --- Numbers in rows ------------------------------------------------------------------------- */

typedef struct {
    const char *path, *row;
    size_t offset, bytes;
    uint64_t value;
    const char *why;
} Case;

static uint8_t *bytes_of(const Case *c) {
    SimObject *object = sim_find(machine.sim, c->path);
    ck_assert_msg(object, "there is no %s", c->path);
    for (const Field *f = object->class->fields; f->kind != FIELD_END; f++) {
        if (strcmp(f->name, c->row) != 0) continue;
        uint8_t *at = (uint8_t *)object + f->offset;
        return f->kind == FIELD_STATE_ARRAY ? *(uint8_t **)(void *)at + c->offset : at + c->offset;
    }
    ck_abort_msg("%s has no row %s", c->path, c->row);
}

#define ENTRY(type, member) offsetof(type, member), sizeof(((type *)0)->member)

static const Case cases[] = {
    /* warps */
    {"sm[0]", "live", 0, 8, ~0ull, "sm[0].live"},
    {"sm[0]", "valid", 0, 8, 1ull << 40, "sm[0].valid"},
    {"sm[0]", "fetched", 0, 8, 1ull << 63, "sm[0].fetched"},
    {"sm[0]", "last_fetched", 0, 4, 64, "sm[0].last_fetched"},
    {"sm[0]", "sched", ENTRY(Scheduler, last), 64, "sm[0].sched"},
    {"sm[0]", "slot_cause", 0, 4, SLOT_CAUSES, "sm[0].slot_cause"},
    {"sm[0]", "warp", ENTRY(Warp, simt.depth), SIMT_DEPTH + 1, "sm[0]: warp 0: depth of its SIMT stack"},
    {"sm[0]", "warp", ENTRY(Warp, simt.top.pc), 1000, "sm[0]: warp 0: an entry of its SIMT stack"},
    {"sm[0]", "warp", ENTRY(Warp, cta_slot), 4, "sm[0]: warp 0: its CTA slot"},
    {"sm[0]", "warp", ENTRY(Warp, in_flight), 60000, "sm[0]: warp 0 has 60000 instructions in flight"},
    {"sm[0]", "vote", ENTRY(BarrierVote, lanes), 1, "sm[0]: warp 0: vote"},
    {"sm[0]", "sleeping", 0, 8, ~0ull, "sm[0].fencing, copying, sleeping"},
    {"sm[0]", "arrivals", ENTRY(AsyncArrivals, first), ASYNC_ARRIVALS, "sm[0]: warp 0: arrivals"},
    {"sm[0]", "arrivals", ENTRY(AsyncArrivals, count), 1, "sm[0]: warp 0: arrivals"},
    {"sm[0]", "group_size", 0, 4, 0, "sm[0].group_size: expected 1 to 64, got 0"},
    /* CTAs */
    {"sm[0]", "resident", 0, 4, 33, "sm[0].resident"},
    {"sm[0]", "cta_by_age", 0, 8, 5, "sm[0].cta_by_age"},
    {"sm[0]", "finished_ctas", 0, 4, 1u << 31, "sm[0].finished_ctas"},
    {"sm[0]", "cta", ENTRY(Cta, unfinished), 9, "sm[0].cta: unfinished warps"},
    {"sm[0]", "cta", ENTRY(Cta, cluster.arrived), 1ull << 40,
     "sm[0].cta: who waits at the cluster's barrier"},
    {"dispatcher", "next_sm", 0, 4, 1, "dispatcher: "},
    {"dispatcher", "slots", 4, 4, 33, "dispatcher.slots"},
    {"dispatcher", "grids", ENTRY(Grid, block_left), 32, "dispatcher: "},
    {"dispatcher", "grids", ENTRY(Grid, ctas), 7, "dispatcher: "},
    {"dispatcher", "grids", ENTRY(Grid, has_begun), 0, "dispatcher: "},
    {"dispatcher", "grids", ENTRY(Grid, next_sm), 1, "dispatcher: "},
    {"dispatcher", "grids", ENTRY(Grid, taken_words), 1, "dispatcher.taken: "},
    {"dispatcher", "grids", ENTRY(Grid, position), 1, "dispatcher.position: "},
    {"dispatcher", "slots", ENTRY(SmSlots, grid), 1, "dispatcher.slots"},
    {"dispatcher", "present", 0, 8, 1, "dispatcher: "},
    {"dispatcher", "done", 0, 8, 99, "dispatcher: "},
    {"dispatcher", "slots", 0, 4, 15, "dispatcher.slots: 0 CTAs of kernel 0, of which SMs hold 4"},
    {"dispatcher", "slots", ENTRY(SmSlots, kernel[0]), 1, "dispatcher.slots: a CTA of kernel 1 in slot 0"},
    /* pipelines */
    {"sm[0]", "collector", ENTRY(OperandCollector, sub_core[0].unit[UNIT_SP].next_latch), 200,
     "sm[0].collector"},
    {"sm[0]", "collector", ENTRY(OperandCollector, sub_core[0].unit[UNIT_SFU].unit_free[0]), 1ull << 50,
     "sm[0].collector"},
    {"sm[0]", "collector", ENTRY(OperandCollector, result_bus[7]), 200, "sm[0].collector: result bus"},
    {"sm[0]", "write_backs", ENTRY(WriteBacks, results), 5000, "sm[0].write_backs: results"},
    {"sm[0]", "write_backs", ENTRY(WriteBacks, first), LANELESS, "sm[0].write_backs: laneless"},
    {"sm[0]", "write_backs", ENTRY(WriteBacks, laneless), LANELESS, "sm[0].write_backs: "},
    {"sm[0]", "payload_used", 0, 8, ~0ull, "sm[0]."},
    {"sm[0].lsu", "first_free", 0, 4, 70000, "sm[0].lsu.first_free"},
    {"sm[0].lsu", "fixed.tail", 0, 8, 1ull << 40, "sm[0].lsu.fixed.ring"},
    {"sm[0].lsu", "fixed.busy_until", 0, 8, 1ull << 50, "sm[0].lsu.fixed.busy_until"},
    {"sm[0].lsu", "fixed.open_from", 0, 8, 1ull << 50, "sm[0].lsu.fixed.open_from"},
    {"sm[0].lsu", "fixed.next_done", 0, 8, 1ull << 50, "sm[0].lsu.fixed.next_done"},
    {"sm[0].lsu", "fixed.last_sent", 0, 8, 1ull << 50, "sm[0].lsu.fixed.last_sent"},
    {"sm[0].lsu", "fixed.last_ready", 0, 8, 1ull << 50, "sm[0].lsu.fixed.last_ready"},
    {"sm[0].lsu", "fixed.ahead", 0, 8, 1ull << 50, "sm[0].lsu.fixed.ahead"},
    {"sm[0].lsu", "fixed.ahead", offsetof(Ahead, kind), 4, INST_EXIT, "sm[0].lsu.fixed.ahead"},
    {"sm[0].lsu", "fixed.early", 0, 8, AHEAD_PLACES + 1, "sm[0].lsu.fixed.early"},
    {"sm[0].lsu", "op_valid", 0, 4, 77, "sm[0].lsu"},
    /* caches */
    {"sm[0].l1d", "cache.mshr.fresh", 0, 4, 900, "sm[0].l1d.mshr"},
    {"sm[0].l1d", "cache.mshr.shape.entry_shift", 0, 4, 40, "sm[0].l1d"},
    {"sm[0].l1d", "cache.mshr.shape.entry_shift", 0, 4, 4, "sm[0].l1d.mshr: 8 places, 32 slots"},
    {"sm[0].l1d", "cache.pipeline.first", 0, 4, 99, "sm[0].l1d.pipeline"},
    {"sm[0].l1d", "cache.misses.count", 0, 4, 99, "sm[0].l1d.misses"},
    {"sm[0].l1d", "cache.stall", 0, 8, 99, "sm[0].l1d.stall"},
    {"sm[0].l1d", "bypassed.released_count", 0, 4, 7000, "sm[0].l1d.bypassed"},
    {"sm[0].l1d", "dma.wait", 0, 8, 9, "sm[0].l1d.dma.wait"},
    {"l2[0]", "cache.tags.tag", 0, 8, 2, "l2[0]: "},
    {"l2[0]", "cache.tags.uses", 0, 8, 0, "l2[0]: stamp of line"},
    {"l2[0]", "cache.mshr.bucket", 0, 4, 4000, "l2[0].mshr: bucket 0"},
    {"l2[0]", "fill_busy_until", 0, 8, 1, "l2[0].fill_busy_until"},
    {"l2[0]", "enabled", 0, 4, 2, "l2[0].enabled: 2, of 2 choices"},
    /* the network and the memory */
    {"xbar", "request.sending", 0, 8, 2, "xbar: "},
    {"xbar", "response.output", 0, 8, 1ull << 60, "xbar: output 0"},
    {"mc[0]", "first_port", 0, 4, 3, "mc[0].first_port"},
    {"mc[0]", "queue_of_class", 0, 1, 2, "mc[0].queue_of_class"},
    {"mc[0]", "queue", ENTRY(DramQueue, count), 65, "mc[0].queue: count"},
    {"mc[0]", "queue", ENTRY(DramQueue, used_slots), ~0ull, "mc[0].queue: sets of requests"},
    {"mc[0]", "plan", ENTRY(DramChoice, rank), 63, "mc[0].plan"},
    {"mc[0]", "returns", ENTRY(ReturnQueue, first), 9000, "mc[0].returns"},
    {"mc[0]", "dram", ENTRY(Dram, channel[DRAM_READ]), 1ull << 60, "mc[0].dram"},
};

START_TEST(number_that_no_machine_has_is_refused_by_object_and_field) {
    const Case *c = &cases[_i];
    uint8_t before[8];
    ck_assert_msg(is_transferred(), "%s", why);
    memcpy(before, bytes_of(c), c->bytes);
    memcpy(bytes_of(c), &c->value, c->bytes);
    ck_assert_msg(!is_transferred(), "%s.%s is transferred", c->path, c->row);
    ck_assert_msg(strncmp(why, "damaged: ", 9) == 0 && strstr(why, c->why), "%s.%s: '%s' is not in: %s",
                  c->path, c->row, c->why, why);
    memcpy(bytes_of(c), before, c->bytes);
    ck_assert_msg(is_transferred(), "%s", why);
}
END_TEST

/* --- Messages on links ----------------------------------------------------------------------- */

/* The first message on its way to this object. */
static MemMessage *message_to(const char *path) {
    for (uint32_t i = 0; i < machine.sim->link_count; i++) {
        Link *link = machine.sim->links[i];
        if (link->protocol == &memory_protocol && link->pushed != link->popped &&
            strcmp(link->receiver->path, path) == 0)
            return (MemMessage *)(uintptr_t)link_message(link, link->popped);
    }
    return NULL;
}

/* Runs on until there is one. */
static MemMessage *next_message_to(const char *path) {
    for (uint64_t cycle = CYCLES; !message_to(path); cycle += 4)
        ck_assert_int_eq(gpu_run(machine.gpu, cycle), RUN_CYCLE_LIMIT);
    return message_to(path);
}

static void expect_refusal(const char *text) {
    ck_assert(!is_transferred());
    ck_assert_msg(strncmp(why, "damaged: ", 9) == 0 && strstr(why, text), "'%s' is not in: %s", text, why);
}

START_TEST(message_that_nobody_could_have_sent_is_refused) {
    MemMessage *m = next_message_to("l2[0]"), before = *m;
    m->bytes = 48;
    expect_refusal("a message for 48 bytes");
    *m = before;
    m->address = 1ull << 60;
    expect_refusal("a message for address 0x1000000000000000");
    *m = before;
    m->kind = 3;
    expect_refusal("a message of kind 3");
    *m = before;
    m->warp = 70;
    expect_refusal("a message of warp 70");
    *m = before;
    ck_assert_msg(is_transferred(), "%s", why);
}
END_TEST

START_TEST(answer_that_nobody_awaits_is_refused) {
    MemMessage *m = next_message_to("sm[0].lsu"), before = *m;
    m->token ^= 1;
    expect_refusal("answers to a request, and");
    m->token = 5000;
    expect_refusal("a message that nobody awaits an answer to came this way");
    *m = before;
    m = next_message_to("sm[0].l1d");
    before = *m;
    m->token ^= 3;
    expect_refusal("answer");
    *m = before;
    ck_assert_msg(is_transferred(), "%s", why);
}
END_TEST

START_TEST(answer_that_has_lost_its_way_is_refused) {
    MemMessage *m = next_message_to("xbar"), before = *m;
    while (m->route_depth == 0) {
        ck_assert_int_eq(gpu_run(machine.gpu, gpu_cycle(machine.gpu) + 4), RUN_CYCLE_LIMIT);
        m = next_message_to("xbar");
        before = *m;
    }
    m->route_depth = 0;
    expect_refusal("xbar: a message for");
    *m = before;
    m->route[0] = 1;
    expect_refusal("xbar: a message for");
    *m = before;
    ck_assert_msg(is_transferred(), "%s", why);
}
END_TEST

START_TEST(link_whose_counters_contradict_each_other_is_refused) {
    next_message_to("l2[0]");
    for (uint32_t i = 0; i < machine.sim->link_count; i++) {
        Link *link = machine.sim->links[i];
        uint64_t last_push = link->last_push;
        link->last_push = machine.sim->now + 4;
        expect_refusal("the last push was at tick");
        link->last_push = last_push;
        if (link->pushed == link->popped) continue;
        uint64_t *ready = &link->ready[link->popped & link->slot_mask], was = *ready;
        *ready = machine.sim->now + (1 << 20);
        expect_refusal("is ready at tick");
        *ready = was;
    }
    ck_assert_msg(is_transferred(), "%s", why);
}
END_TEST

Suite *soundness_suite(void) {
    Suite *suite = suite_create("soundness of snapshots");
    TCase *rows = tcase_create("rows"), *links = tcase_create("links");
    tcase_add_checked_fixture(rows, set_up, tear_down);
    tcase_add_checked_fixture(links, set_up, tear_down);
    tcase_add_loop_test(rows, number_that_no_machine_has_is_refused_by_object_and_field, 0,
                        sizeof cases / sizeof *cases);
    tcase_add_test(links, message_that_nobody_could_have_sent_is_refused);
    tcase_add_test(links, answer_that_nobody_awaits_is_refused);
    tcase_add_test(links, answer_that_has_lost_its_way_is_refused);
    tcase_add_test(links, link_whose_counters_contradict_each_other_is_refused);
    suite_add_tcase(suite, rows);
    suite_add_tcase(suite, links);
    return suite;
}
