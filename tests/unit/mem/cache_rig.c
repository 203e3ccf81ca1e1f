#include "tests/unit/mem/cache_rig.h"

#include "core/sim/method.h"
#include "mem/cache/cache_tick.h"
#include "mem/parts/evicted_address_filter/evicted_address_filter.h"
#include "mem/parts/line_reuse/line_reuse.h"
#include "mem/parts/pc_bypass_table/pc_bypass_table.h"
#include "mem/parts/queue_delays/queue_delays.h"
#include "mem/parts/shadow_tags/shadow_tags.h"
#include "mem/parts/utility_monitor/utility_monitor.h"
#include "mem/parts/victim_cache/victim_cache.h"
#include "mem/protocol/address_map.h"
#include "mem/protocol/caches.h"
#include "tests/unit/gpu/tiny_machine.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static SimObject *add_with_clock(Sim *sim, const char *clock, const char *class, const char *path,
                                 const char *defaults, const char *parameters) {
    SimObject *object = sim_add(sim, class, path, clock);
    tiny_set(object, defaults);
    tiny_set(object, parameters);
    sim_finish_object(object);
    return object;
}

static SimObject *add(Sim *sim, const char *class, const char *path, const char *defaults,
                      const char *parameters) {
    return add_with_clock(sim, NULL, class, path, defaults, parameters);
}

static void add_device_memory(CacheRig *rig) {
    rig->functional = calloc(1, sizeof *rig->functional);
    ck_assert_ptr_nonnull(rig->functional);
    rig->functional->memory = device_memory_new(1 << 20);
    rig->functional->payloads[0] = calloc(RIG_PAYLOADS, sizeof(AtomicPayload));
    rig->base = device_alloc(rig->functional->memory, RIG_MEMORY);
    rig->sim->user = rig->functional;
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
    class_register(&shadow_tags_class);
    class_register(&utility_monitor_class);
    class_register(&victim_cache_class);
}

CacheRig cache_rig(CacheBench bench) {
    CacheRig rig = {.sim = sim_new("test")};
    bool l1 = strcmp(bench.class, "L1") == 0;
    register_classes();
    sim_clock(rig.sim, "clock", 1000000000);
    if (bench.below_hertz) sim_clock(rig.sim, "below", bench.below_hertz);
    add(rig.sim, "AddressMap", "map", "channels=1", bench.map);
    rig.driver = add(rig.sim, "MemoryDriver", "driver", NULL, bench.driver);
    rig.cache = add(rig.sim, bench.class, "cache",
                    l1 ? "size=64KiB ways=8 mshrs=32 latency=6"
                       : "size=64KiB ways=8 mshrs=32 rop_delay=6 bypass_delay=6",
                    bench.cache);
    if (bench.part) rig.part = add(rig.sim, bench.part, "cache.part", NULL, bench.part_parameters);
    rig.below = add_with_clock(rig.sim, bench.below_hertz ? "below" : NULL, "MemoryResponder", "below",
                               "latency=20", bench.below);
    if (bench.beside) rig.beside = add(rig.sim, bench.beside, "beside", NULL, NULL);
    sim_wire(rig.sim, rig.driver, "mem", rig.cache, "cpu", bench.request, bench.response);
    sim_wire(rig.sim, rig.cache, "mem", rig.below, "cpu", bench.fetch, bench.answer);
    if (bench.quantum) sim_set_quantum(rig.sim, bench.quantum);
    rig.sim->order = bench.order;
    rig.sim->order_seed = bench.order_seed;
    if (bench.device_memory) add_device_memory(&rig);
    sim_elaborate(rig.sim);
    return rig;
}

void rig_free(CacheRig *rig) {
    sim_free(rig->sim);
    free(rig->recorder);
    if (!rig->functional) return;
    free(rig->functional->payloads[0]);
    device_memory_free(rig->functional->memory);
    free(rig->functional);
}

static int64_t handle_event(Subscriber *subscriber, SimObject *object, uint32_t event,
                            const int64_t *arguments, uint64_t now) {
    Recorder *recorder = (Recorder *)subscriber;
    ck_assert_uint_lt(recorder->count, RECORDS_MAX);
    Record *record = &recorder->record[recorder->count++];
    *record = (Record){.event = event, .cycle = object_cycle(object, now)};
    memcpy(record->arguments, arguments, sizeof record->arguments);
    return recorder->answer;
}

void rig_subscribe(CacheRig *rig, uint32_t events, int64_t answer) {
    rig->recorder = calloc(1, sizeof *rig->recorder);
    ck_assert_ptr_nonnull(rig->recorder);
    rig->recorder->subscriber.handle = handle_event;
    rig->recorder->answer = answer;
    object_subscribe(rig->cache, &rig->recorder->subscriber, events);
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

void rig_set_warps(CacheRig *rig, const char *knob, uint64_t warps) {
    const Field *f = object_field(rig->cache, FIELD_STATE, knob);
    ck_assert(f && f->knob);
    *(uint64_t *)(void *)((char *)rig->cache + f->offset) = warps;
    rig->cache->class->knobs_set(rig->cache);
    object_wake(rig->cache);
}

uint64_t rig_prefetch(CacheRig *rig, uint64_t address) {
    MethodCall call = {.argument = {{.whole = (int64_t)address}, {.whole = 7}, {.whole = 3}}};
    class_method(rig->cache->class, "prefetch")->call(rig->cache, &call);
    ck_assert_str_eq(call.refusal, "");
    return object_cycle(rig->cache, object_next_cycle(rig->cache));
}

uint64_t rig_stat(const CacheRig *rig, const char *name) {
    return stat_of(rig->cache, name);
}

void expect_one_stall(const CacheRig *rig, const char *counter, uint64_t stopped, uint64_t released) {
    char cycles[64];
    snprintf(cycles, sizeof cycles, "%.*s_cycles", (int)strlen(counter) - 1, counter);
    ck_assert_uint_eq(rig_stat(rig, counter), 1);
    ck_assert_uint_eq(rig_stat(rig, cycles), released - stopped);
}

uint32_t rig_arrivals(const CacheRig *rig) {
    return memory_responder_arrivals(rig->below)->count;
}

const LoggedMessage *rig_arrival(const CacheRig *rig, uint32_t i) {
    ck_assert_uint_lt(i, rig_arrivals(rig));
    return &memory_responder_arrivals(rig->below)->entries[i];
}

const LoggedMessage *rig_response(const CacheRig *rig, uint32_t i) {
    ck_assert_uint_lt(i, memory_driver_responses(rig->driver)->count);
    return &memory_driver_responses(rig->driver)->entries[i];
}

uint64_t rig_answered(const CacheRig *rig, uint32_t token) {
    const MessageLog *log = memory_driver_responses(rig->driver);
    for (uint32_t i = 0; i < log->count; i++)
        if (log->entries[i].message.token == token) return log->entries[i].cycle;
    return 0;
}

int64_t rig_time(CacheRig *rig, MemMessage m) {
    const MessageLog *responses = memory_driver_responses(rig->driver);
    uint32_t before = responses->count;
    uint64_t start = rig_now(rig) + 1;
    memory_driver_send(rig->driver, start, m);
    rig_run(rig);
    return responses->count == before ? -1 : (int64_t)(responses->entries[before].cycle - start);
}

bool rig_hits(CacheRig *rig, MemMessage m) {
    uint32_t before = memory_driver_responses(rig->driver)->count;
    rig_time(rig, m);
    return rig_response(rig, before)->message.flags & MEM_HIT;
}

/* ---- Mixtures ---- */

void rig_run_awake(CacheRig *rig, uint64_t awake_until) {
    while (rig->sim->now < awake_until) {
        object_poke(rig->cache, rig->sim->now);
        cache_forget_failed_try(&((CacheObject *)rig->cache)->cache);
        sim_run(rig->sim, rig->sim->now + rig->cache->period);
    }
    rig_run(rig);
}

static void expect_same_log(const MessageLog *a, const MessageLog *b) {
    ck_assert_uint_eq(a->count, b->count);
    ck_assert_mem_eq(a->entries, b->entries, a->count * sizeof *a->entries);
}

void expect_same_runs(const CacheRig *a, const CacheRig *b) {
    char *stats_a = stats_text(a->sim), *stats_b = stats_text(b->sim);
    ck_assert_str_eq(stats_a, stats_b);
    free(stats_a);
    free(stats_b);
    expect_same_log(memory_driver_responses(a->driver), memory_driver_responses(b->driver));
    expect_same_log(memory_responder_arrivals(a->below), memory_responder_arrivals(b->below));
    if (!a->functional) return;
    ck_assert_mem_eq(a->functional->payloads[0], b->functional->payloads[0],
                     RIG_PAYLOADS * sizeof(AtomicPayload));
    ck_assert_uint_eq(device_digest(a->functional->memory), device_digest(b->functional->memory));
}

void expect_order_of_ticks_not_to_matter(Mixture *mixture, int variant) {
    CacheRig first = mixture(variant, ORDER_PATH, 0, 0);
    for (uint64_t other = 0; other < 4; other++) {
        CacheRig rig = mixture(variant, other ? ORDER_SHUFFLED : ORDER_REVERSED, other, 0);
        expect_same_runs(&first, &rig);
        rig_free(&rig);
    }
    rig_free(&first);
}

void expect_needless_ticks_to_change_nothing(Mixture *mixture, int variant) {
    CacheRig sleeping = mixture(variant, ORDER_PATH, 0, 0);
    CacheRig awake = mixture(variant, ORDER_PATH, 0, sleeping.sim->now);
    expect_same_runs(&sleeping, &awake);
    rig_free(&sleeping);
    rig_free(&awake);
}

void expect_every_request_answered_once(const CacheRig *rig) {
    const MessageLog *sent = memory_driver_sent(rig->driver), *back = memory_driver_responses(rig->driver);
    bool *seen = calloc(sent->count, sizeof *seen);
    ck_assert_ptr_nonnull(seen);
    for (uint32_t i = 0; i < back->count; i++) {
        MemMessage m = back->entries[i].message;
        ck_assert_uint_lt(m.token, sent->count);
        ck_assert(!seen[m.token]);
        seen[m.token] = true;
        m.flags &= (uint8_t) ~(MEM_HIT | MEM_FOUND | MEM_BYPASSED);
        ck_assert_mem_eq(&m, &sent->entries[m.token].message, sizeof m);
    }
    for (uint32_t i = 0; i < sent->count; i++)
        ck_assert_int_eq(seen[i], !(sent->entries[i].message.flags & MEM_POSTED));
    free(seen);
}

/* ---- Messages ---- */

MemMessage of_local_memory(MemMessage m) {
    m.flags |= MEM_LOCAL;
    return m;
}

MemMessage of_token(MemMessage m, uint32_t token) {
    m.token = token;
    return m;
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
