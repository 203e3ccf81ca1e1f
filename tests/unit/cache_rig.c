#include "tests/unit/cache_rig.h"

#include "mem/address_map.h"
#include "mem/caches.h"
#include "mem/evicted_address_filter.h"
#include "mem/line_reuse.h"
#include "mem/pc_bypass_table.h"
#include "mem/queue_delays.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static void set_parameters(SimObject *object, const char *text) {
    char name[64], value[64];
    for (int used; text && sscanf(text, " %63[^=]=%63s%n", name, value, &used) == 2; text += used)
        object_set_text(object, name, value);
}

static SimObject *add(Sim *sim, const char *class, const char *path, const char *defaults,
                      const char *parameters) {
    SimObject *object = sim_add(sim, class, path, NULL);
    set_parameters(object, defaults);
    set_parameters(object, parameters);
    sim_finish_object(object);
    return object;
}

static void register_classes(void) {
    memory_test_classes();
    class_register(&l1_class);
    class_register(&l2_class);
    class_register(&address_map_class);
    class_register(&evicted_address_filter_class);
    class_register(&line_reuse_class);
    class_register(&pc_bypass_table_class);
    class_register(&queue_delays_class);
}

CacheRig cache_rig(CacheBench bench) {
    CacheRig rig = {.sim = sim_new("test")};
    bool l1 = strcmp(bench.class, "L1") == 0;
    register_classes();
    sim_clock(rig.sim, "clock", 1000000000);
    add(rig.sim, "AddressMap", "map", "channels=1", NULL);
    rig.driver = add(rig.sim, "MemoryDriver", "driver", NULL, bench.driver);
    rig.cache = add(rig.sim, bench.class, "cache",
                    l1 ? "size=64KiB ways=8 mshrs=32 latency=6"
                       : "size=64KiB ways=8 mshrs=32 rop_delay=6 bypass_delay=6",
                    bench.cache);
    if (bench.part) rig.part = add(rig.sim, bench.part, "cache.part", NULL, bench.part_parameters);
    rig.below = add(rig.sim, "MemoryResponder", "below", "latency=20", bench.below);
    sim_wire(rig.sim, rig.driver, "mem", rig.cache, "cpu", bench.request, (LinkOptions){0});
    sim_wire(rig.sim, rig.cache, "mem", rig.below, "cpu", (LinkOptions){0}, bench.answer);
    if (bench.quantum) sim_set_quantum(rig.sim, bench.quantum);
    rig.sim->order = bench.order;
    rig.sim->order_seed = bench.order_seed;
    sim_elaborate(rig.sim);
    return rig;
}

void rig_free(CacheRig *rig) {
    sim_free(rig->sim);
    free(rig->ear);
}

static int64_t hear(Listener *listener, SimObject *object, uint32_t event, const int64_t *arguments,
                    uint64_t now) {
    Ear *ear = (Ear *)listener;
    ck_assert_uint_lt(ear->count, HEARD_MAX);
    Heard *heard = &ear->heard[ear->count++];
    *heard = (Heard){.event = event, .cycle = object_cycle(object, now)};
    memcpy(heard->arguments, arguments, sizeof heard->arguments);
    return ear->answer;
}

void rig_listen(CacheRig *rig, uint32_t events, int64_t answer) {
    rig->ear = calloc(1, sizeof *rig->ear);
    ck_assert_ptr_nonnull(rig->ear);
    rig->ear->listener.hear = hear;
    rig->ear->answer = answer;
    object_listen(rig->cache, &rig->ear->listener, events);
}

void rig_run(CacheRig *rig) {
    ck_assert_int_eq(sim_run(rig->sim, UINT64_MAX), STOP_IDLE);
    sim_settle(rig->sim);
    sim_check(rig->sim, true);
}

uint64_t rig_now(const CacheRig *rig) {
    return object_cycle(rig->cache, rig->sim->now);
}

void rig_set(CacheRig *rig, const char *knob, const char *text) {
    const Field *f = object_field(rig->cache, FIELD_PARAM, knob);
    ck_assert(f && f->knob);
    object_set_text(rig->cache, knob, text);
    object_wake(rig->cache);
}

uint64_t stat_of(const SimObject *object, const char *name) {
    const Field *f = object_field(object, FIELD_STAT, name);
    ck_assert_ptr_nonnull(f);
    return *(const uint64_t *)(const void *)((const char *)object + f->offset);
}

uint64_t rig_stat(const CacheRig *rig, const char *name) {
    return stat_of(rig->cache, name);
}

uint32_t rig_arrivals(const CacheRig *rig) {
    return memory_responder_arrivals(rig->below)->count;
}

const LoggedMessage *rig_arrival(const CacheRig *rig, uint32_t i) {
    ck_assert_uint_lt(i, rig_arrivals(rig));
    return &memory_responder_arrivals(rig->below)->entries[i];
}

int64_t rig_time(CacheRig *rig, MemMessage m) {
    const MessageLog *responses = memory_driver_responses(rig->driver);
    uint32_t before = responses->count;
    uint64_t start = rig_now(rig) + 1;
    memory_driver_send(rig->driver, start, m);
    rig_run(rig);
    return responses->count == before ? -1 : (int64_t)(responses->entries[before].cycle - start);
}

MemMessage of_class(MemMessage m, uint32_t class_number) {
    m.class_number = (uint8_t)class_number;
    return m;
}

MemMessage of_warp(MemMessage m, uint32_t sm, uint32_t warp, uint32_t pc) {
    m.sm = (uint16_t)sm;
    m.warp = (uint16_t)warp;
    m.pc = pc;
    return m;
}
