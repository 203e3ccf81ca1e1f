/* The port of a DMA engine at an L1, cycle by cycle. A request that a driver sends in cycle c is at the tags
 * in c + 2, at the DMA port in c + 1; what takes a place in the miss queue in cycle t is below in t + 2. */
#include "mem/protocol/caches.h"
#include "tests/unit/gpu/tiny_machine.h"
#include "tests/unit/mem/cache_rig.h"
#include "tests/unit/suites.h"

#include <stdio.h>

enum { LATENCY = 50 };

typedef struct {
    Sim *sim;
    SimObject *cpu, *dma, *l1, *below;
} PortRig;

/* `below`: of the memory. */
static PortRig port_rig_above(const char *below, const char *l1) {
    const LinkOptions deep = {.depth = 64};
    char parameters[128];
    PortRig rig = {.sim = sim_new("test")};
    class_register_all();
    memory_test_classes();
    sim_clock(rig.sim, "clock", 1000000000);
    sim_set_quantum(rig.sim, 1);
    snprintf(parameters, sizeof parameters, "size=16KiB ways=4 latency=1 %s", l1);
    rig.cpu = tiny_add(rig.sim, "MemoryDriver", "cpu", NULL);
    rig.dma = tiny_add(rig.sim, "MemoryDriver", "dma", NULL);
    rig.l1 = tiny_add(rig.sim, "L1", "l1", parameters);
    snprintf(parameters, sizeof parameters, "latency=%d %s", LATENCY, below);
    rig.below = tiny_add(rig.sim, "MemoryResponder", "below", parameters);
    sim_wire(rig.sim, rig.cpu, "mem", rig.l1, "cpu", deep, deep);
    sim_wire(rig.sim, rig.dma, "mem", rig.l1, "dma", deep, deep);
    sim_wire(rig.sim, rig.l1, "mem", rig.below, "cpu", deep, deep);
    sim_elaborate(rig.sim);
    return rig;
}

static PortRig port_rig(const char *l1) {
    return port_rig_above("", l1);
}

static void run(PortRig *rig) {
    ck_assert_int_eq(sim_run(rig->sim, UINT64_MAX), STOP_IDLE);
    sim_settle(rig->sim);
    sim_check(rig->sim, true);
}

static void read_at(SimObject *driver, uint64_t cycle, uint64_t line) {
    memory_driver_send(driver, cycle, read_request(0x10000 + 128 * line, 128));
}

/* When the i-th of all requests reached the memory. */
static uint64_t arrival(const PortRig *rig, uint32_t i) {
    const MessageLog *log = memory_responder_arrivals(rig->below);
    ck_assert_uint_lt(i, log->count);
    return log->entries[i].cycle;
}

static uint64_t answered(const SimObject *driver, uint32_t i) {
    ck_assert_uint_lt(i, memory_driver_responses(driver)->count);
    return memory_driver_responses(driver)->entries[i].cycle;
}

START_TEST(a_request_of_the_engine_neither_hits_nor_leaves_a_line) {
    PortRig rig = port_rig("mshrs=8");
    read_at(rig.cpu, 10, 1);
    read_at(rig.dma, 200, 1); /* L1 has it */
    read_at(rig.dma, 300, 2);
    read_at(rig.cpu, 400, 2);
    read_at(rig.cpu, 500, 1);
    run(&rig);
    ck_assert_uint_eq(memory_responder_arrivals(rig.below)->count, 4);
    ck_assert_uint_eq(arrival(&rig, 1), 200 + 3);
    ck_assert_uint_eq(answered(rig.dma, 0), 200 + 3 + LATENCY + 2);
    ck_assert_uint_eq(stat_of(rig.l1, "accesses"), 3);
    ck_assert_uint_eq(stat_of(rig.l1, "misses"), 2);
    ck_assert_uint_eq(stat_of(rig.l1, "hits"), 1);
    ck_assert_uint_eq(stat_of(rig.l1, "fills"), 2);
    ck_assert_uint_eq(stat_of(rig.l1, "dma_requests"), 2);
    /* From the cycle in which each is taken to the one in which its answer passes. */
    ck_assert_uint_eq(stat_of(rig.l1, "dma_mshr_cycles"), 2 * (LATENCY + 3));
    sim_free(rig.sim);
}
END_TEST

START_TEST(an_answer_comes_back_with_its_token) {
    PortRig rig = port_rig("mshrs=8");
    for (uint32_t i = 0; i < 4; i++) {
        MemMessage m = read_request(0x10000 + 32 * i, 32);
        m.token = 12345 + i;
        memory_driver_send(rig.dma, 10, m);
    }
    run(&rig);
    for (uint32_t i = 0; i < 4; i++)
        ck_assert_uint_eq(memory_driver_responses(rig.dma)->entries[i].message.token, 12345 + i);
    sim_free(rig.sim);
}
END_TEST

/* Four MSHRs, five requests and more: a miss of the processor gets the first that is free, then the engine.
 */
START_TEST(each_request_holds_an_mshr) {
    PortRig rig = port_rig("mshrs=4");
    for (uint32_t i = 0; i < 6; i++)
        read_at(rig.dma, 10, 0); /* the same line: nothing is merged */
    read_at(rig.cpu, 20, 7);
    run(&rig);
    for (uint32_t i = 0; i < 4; i++)
        ck_assert_uint_eq(arrival(&rig, i), 13 + i);
    /* Answers are at L1 from 14 + LATENCY on. The processor's miss, at the tags since 22, goes first. */
    ck_assert_uint_eq(arrival(&rig, 4), 14 + LATENCY + 2);
    ck_assert_uint_eq(memory_responder_arrivals(rig.below)->entries[4].message.address, 0x10000 + 7 * 128);
    ck_assert_uint_eq(arrival(&rig, 5), 15 + LATENCY + 2);
    ck_assert_uint_eq(stat_of(rig.l1, "mshr_entry_fails"), 1);
    /* The fifth is first at the port from 15 on; the processor takes what the first answer frees in 14 +
     * LATENCY. */
    ck_assert_uint_eq(stat_of(rig.l1, "dma_mshr_stall_cycles"), LATENCY);
    sim_free(rig.sim);
}
END_TEST

/* Misses of the processor are at the tags in the cycles 12 to 21; the engine's request is at its port from 13
 * on. */
/* Eight MSHRs: saturated with seven in use, no longer with five. The seventh request is taken in cycle 17,
 * the answers to the first two pass in 64 and 65. */
START_TEST(its_requests_saturate_the_cache_from_the_cycle_on_in_which_they_are_taken) {
    PortRig rig = port_rig("mshrs=8 saturation_free=125 saturation_relief=125");
    for (uint64_t i = 0; i < 7; i++)
        read_at(rig.dma, 10 + i, i);
    run(&rig);
    ck_assert_uint_eq(stat_of(rig.l1, "saturations"), 1);
    ck_assert_uint_eq(stat_of(rig.l1, "saturated_cycles"), 65 - 17);
    sim_free(rig.sim);
}
END_TEST

/* The second read that passes waits for the first, which the memory takes in cycle 200 at the earliest. That
 * the engine fills the miss queue meanwhile, while the cache sleeps, is no other reason to wait. */
START_TEST(its_requests_do_not_change_what_a_request_of_the_processor_waits_for) {
    PortRig rig = port_rig_above("refuse_until=200 capacity=1", "mshrs=128 miss_queue=4 bypassed_limit=1");
    for (uint64_t i = 0; i < 2; i++) {
        MemMessage m = read_request(0x10000 + 128 * i, 128);
        m.flags |= MEM_BYPASS_L1;
        memory_driver_send(rig.cpu, 10 + i, m);
    }
    for (uint64_t i = 0; i < 100; i++)
        read_at(rig.dma, 20 + i, 100 + i);
    run(&rig);
    ck_assert_uint_eq(stat_of(rig.l1, "bypassed_stalls"), 1);
    ck_assert_uint_eq(stat_of(rig.l1, "miss_queue_fails"), 0);
    ck_assert_uint_gt(stat_of(rig.l1, "bypassed_stall_cycles"), 200);
    sim_free(rig.sim);
}
END_TEST

START_TEST(misses_of_the_processor_go_first) {
    PortRig rig = port_rig("mshrs=32");
    for (uint32_t i = 0; i < 10; i++)
        read_at(rig.cpu, 10 + i, 1 + i);
    read_at(rig.dma, 12, 40);
    run(&rig);
    ck_assert_uint_eq(stat_of(rig.l1, "dma_priority_stall_cycles"), 9);
    ck_assert_uint_eq(arrival(&rig, 10), 22 + 2);
    ck_assert_uint_eq(memory_responder_arrivals(rig.below)->entries[10].message.address, 0x10000 + 40 * 128);
    sim_free(rig.sim);
}
END_TEST

/* The same with hits, which need neither MSHR nor miss queue. */
START_TEST(hits_of_the_processor_do_not_hold_the_engine_up) {
    PortRig rig = port_rig("mshrs=32");
    read_at(rig.cpu, 10, 1);
    for (uint32_t i = 0; i < 10; i++)
        read_at(rig.cpu, 110 + i, 1);
    read_at(rig.dma, 112, 40);
    run(&rig);
    ck_assert_uint_eq(stat_of(rig.l1, "hits"), 10);
    ck_assert_uint_eq(stat_of(rig.l1, "dma_priority_stall_cycles"), 0);
    ck_assert_uint_eq(arrival(&rig, 1), 112 + 3);
    sim_free(rig.sim);
}
END_TEST

Suite *l1_dma_port_suite(void) {
    Suite *suite = suite_create("l1_dma_port");
    TCase *port = tcase_create("port");
    tcase_add_test(port, a_request_of_the_engine_neither_hits_nor_leaves_a_line);
    tcase_add_test(port, an_answer_comes_back_with_its_token);
    tcase_add_test(port, each_request_holds_an_mshr);
    tcase_add_test(port, misses_of_the_processor_go_first);
    tcase_add_test(port, its_requests_do_not_change_what_a_request_of_the_processor_waits_for);
    tcase_add_test(port, its_requests_saturate_the_cache_from_the_cycle_on_in_which_they_are_taken);
    tcase_add_test(port, hits_of_the_processor_do_not_hold_the_engine_up);
    suite_add_tcase(suite, port);
    return suite;
}
