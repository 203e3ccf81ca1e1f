/* Drivers on the ports of one memory controller, which checks its commands. All share one clock unless a test
 * says otherwise. */
#ifndef WW_TESTS_MEMORY_CONTROLLER_FIXTURE_H
#define WW_TESTS_MEMORY_CONTROLLER_FIXTURE_H

#include "mem/dram/memory_controller.h"
#include "mem/protocol/address_map.h"
#include "tests/unit/mem/memory_driver.h"
#include "tests/unit/suites.h"

#include <string.h>

enum { MAX_DRIVERS = 4 };

static Sim *sim;
static SimObject *mc, *drivers[MAX_DRIVERS];
static uint32_t link_latency; /* core cycles to the controller and DRAM cycles back */

static inline void start_with_clocks(uint64_t driver_hertz, uint64_t dram_hertz) {
    sim_free(sim);
    sim = sim_new("test");
    sim_clock(sim, "core", driver_hertz);
    sim_clock(sim, "dram", dram_hertz);
    SimObject *map = sim_add(sim, "AddressMap", "map", NULL);
    object_set_number(map, "channels", 1);
    sim_finish_object(map);
    mc = sim_add(sim, "MemoryController", "mc", "dram");
    object_set_text(mc, "check_commands", "true");
    memset(drivers, 0, sizeof drivers);
}

static inline void set_up(void) {
    memory_test_classes();
    class_register(&address_map_class);
    class_register(&memory_controller_class);
    link_latency = 1;
    start_with_clocks(924000000, 924000000);
}

static inline void tear_down(void) {
    sim_free(sim);
    sim = NULL;
}

static inline SimObject *add_driver(uint32_t port) {
    char name[16];
    snprintf(name, sizeof name, "driver[%u]", port);
    drivers[port] = sim_add(sim, "MemoryDriver", name, "core");
    return drivers[port];
}

/* Links of a depth of 64 each way. */
static inline void elaborate(uint32_t ports) {
    object_set_number(mc, "ports", ports);
    sim_finish_object(mc);
    for (uint32_t port = 0; port < ports; port++) {
        char name[16];
        snprintf(name, sizeof name, "cpu[%u]", port);
        if (!drivers[port]) add_driver(port);
        sim_finish_object(drivers[port]);
        LinkOptions options = {.latency = link_latency, .depth = 64};
        sim_wire(sim, drivers[port], "mem", mc, name, options, options);
    }
    sim_elaborate(sim);
}

static inline void run(void) {
    ck_assert_int_eq(sim_run(sim, NEVER), STOP_IDLE);
    sim_settle(sim);
    sim_check(sim, true);
}

static inline const LoggedMessage *response(uint32_t index) {
    ck_assert_uint_lt(index, memory_driver_responses(drivers[0])->count);
    return &memory_driver_responses(drivers[0])->entries[index];
}

/* The one channel of this map: row 27:16, bank {15:13, 8}, column {12:9, 7:0}. */
static inline uint64_t location(uint32_t row, uint32_t bank, uint32_t line) {
    uint64_t column = line * 128;
    return (uint64_t)row << 16 | (uint64_t)(bank >> 1) << 13 | (uint64_t)(bank & 1) << 8 | (column & 0xff) |
           (column >> 8) << 9;
}

typedef struct {
    const char *name;
    double value;
} Stat;

static inline void find_stat(void *context, const VisitedStat *visited) {
    Stat *stat = context;
    if (strncmp(visited->name, "mc.", 3) == 0 && strcmp(visited->name + 3, stat->name) == 0)
        stat->value = visited->value;
}

static inline double stat(const char *name) {
    Stat found = {name, -1};
    sim_visit_stats(sim, find_stat, &found);
    ck_assert_msg(found.value >= 0, "no stat %s", name);
    return found.value;
}

#define ck_assert_stat_eq(name, expected) ck_assert_double_eq(stat(name), expected)

static inline void send_read(uint32_t port, uint64_t cycle, uint64_t address, uint32_t token,
                             uint32_t class_number) {
    MemMessage message = read_request(address, 128);
    message.token = token;
    message.class_number = (uint8_t)class_number;
    memory_driver_send(drivers[port], cycle, message);
}

static inline TCase *test_case(const char *name) {
    TCase *tests = tcase_create(name);
    tcase_add_checked_fixture(tests, set_up, tear_down);
    return tests;
}

#endif
