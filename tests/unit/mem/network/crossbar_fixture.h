/* Drivers and responders around a crossbar. */
#ifndef WW_TESTS_CROSSBAR_FIXTURE_H
#define WW_TESTS_CROSSBAR_FIXTURE_H

#include "mem/protocol/address_map.h"
#include "mem/protocol/networks.h"
#include "tests/unit/mem/memory_driver.h"
#include "tests/unit/suites.h"

#include <string.h>

enum { MAX_ENDS = 16, SLICE_BYTES = 256 };

typedef struct {
    uint32_t up, down;
    uint32_t idle; /* ports behind the `up` ones, whose drivers send nothing */
    const char *flit, *latency, *speedup, *output_buffer, *response_part, *acknowledgements, *arbitration,
        *page_size;
    uint64_t link_latency; /* cycles; from the quantum of 4 cycles on, the links are cut */
    uint64_t up_latency;   /* of those to the SMs, when it is another */
    uint32_t depth;
    uint32_t quantum; /* cycles of the slow clock, 0: 4 */
    TickOrder order;
    const char *clock; /* the crossbar's: "fast" has twice the frequency of "slow" */
} Options;

typedef struct {
    Sim *sim;
    SimObject *crossbar, *sm[MAX_ENDS], *slice[MAX_ENDS];
    Options options;
} Network;

static inline SimObject *add(Sim *sim, const char *class, const char *name, uint32_t index,
                             const char *clock) {
    char path[32];
    snprintf(path, sizeof path, "%s[%u]", name, index);
    return sim_add(sim, class, path, clock);
}

static inline void wire(Network *net, SimObject *end, const char *end_port, const char *port,
                        uint32_t index) {
    char name[24];
    LinkOptions link = {.latency = net->options.link_latency, .depth = net->options.depth};
    bool upwards = strcmp(port, "up") == 0;
    if (upwards && net->options.up_latency) link.latency = net->options.up_latency;
    LinkOptions from_fast = link; /* the same time, in cycles of a sender twice as fast */
    if (strcmp(net->options.clock, "fast") == 0) from_fast.latency *= 2;
    snprintf(name, sizeof name, "%s[%u]", port, index);
    sim_wire(net->sim, end, end_port, net->crossbar, name, upwards ? link : from_fast,
             upwards ? from_fast : link);
}

static inline void set_if_given(SimObject *object, const char *name, const char *value) {
    if (value) object_set_text(object, name, value);
}

/* Finished objects, not yet elaborated: `up` drivers and `down` responders around a crossbar. */
static inline Network make_network(Options options) {
    if (!options.clock) options.clock = "slow";
    Network net = {.sim = sim_new("test"), .options = options};
    memory_test_classes();
    class_register(&crossbar_class);
    class_register(&address_map_class);
    if (options.quantum) sim_set_quantum(net.sim, options.quantum);
    net.sim->order = options.order;
    net.sim->order_seed = 7;
    sim_clock(net.sim, "slow", 1000000000);
    sim_clock(net.sim, "fast", 2000000000);
    SimObject *map = sim_add(net.sim, "AddressMap", "map", NULL);
    object_set_number(map, "channels", options.down);
    set_if_given(map, "page_size", options.page_size);
    sim_finish_object(map);
    net.crossbar = sim_add(net.sim, "Crossbar", "xbar", options.clock);
    object_set_number(net.crossbar, "up", options.up + options.idle);
    object_set_number(net.crossbar, "down", options.down);
    set_if_given(net.crossbar, "flit", options.flit);
    set_if_given(net.crossbar, "latency", options.latency);
    set_if_given(net.crossbar, "speedup", options.speedup);
    set_if_given(net.crossbar, "output_buffer", options.output_buffer);
    set_if_given(net.crossbar, "response_part", options.response_part);
    set_if_given(net.crossbar, "acknowledgements", options.acknowledgements);
    set_if_given(net.crossbar, "arbitration", options.arbitration);
    sim_finish_object(net.crossbar);
    for (uint32_t i = 0; i < options.up + options.idle; i++) {
        SimObject *driver = add(net.sim, "MemoryDriver", "sm", i, "slow");
        sim_finish_object(driver);
        wire(&net, driver, "mem", "up", i);
        if (i < options.up) net.sm[i] = driver;
    }
    for (uint32_t j = 0; j < options.down; j++) {
        net.slice[j] = add(net.sim, "MemoryResponder", "slice", j, "slow");
        sim_finish_object(net.slice[j]);
        wire(&net, net.slice[j], "cpu", "down", j);
    }
    return net;
}

static inline Network start_network(Options options) {
    Network net = make_network(options);
    sim_elaborate(net.sim);
    return net;
}

static inline void run_until_cycle(Network *net, uint64_t cycle) {
    sim_run(net->sim, cycle * net->sim->clocks[0].period);
}

static inline void run_to_end(Network *net) {
    ck_assert_int_eq(sim_run(net->sim, UINT64_MAX), STOP_IDLE);
    sim_check(net->sim, true);
}

/* Line `line` of the lines that slice `slice` owns. */
static inline uint64_t address_of(const Network *net, uint32_t slice, uint64_t line) {
    return (line * net->options.down + slice) * SLICE_BYTES;
}

static inline void send(Network *net, uint64_t cycle, uint32_t sm, MemMessage message) {
    message.sm = (uint16_t)sm;
    memory_driver_send(net->sm[sm], cycle, message);
}

static inline void send_posted(Network *net, uint64_t cycle, uint32_t sm, uint32_t slice, uint32_t bytes) {
    send(net, cycle, sm, posted_write_request(address_of(net, slice, 0), bytes));
}

static inline const LoggedMessage *arrival(const Network *net, uint32_t slice, uint32_t index) {
    const MessageLog *log = memory_responder_arrivals(net->slice[slice]);
    ck_assert_uint_lt(index, log->count);
    return &log->entries[index];
}

static inline const LoggedMessage *response(const Network *net, uint32_t sm, uint32_t index) {
    const MessageLog *log = memory_driver_responses(net->sm[sm]);
    ck_assert_uint_lt(index, log->count);
    return &log->entries[index];
}

static inline uint64_t stat(const Network *net, const char *name) {
    return stat_of(net->crossbar, name);
}

#endif
