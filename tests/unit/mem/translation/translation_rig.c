#include "tests/unit/mem/translation/translation_rig.h"

#include "tests/unit/gpu/tiny_machine.h"

void translation_rig(TranslationRig *rig, RigBench bench) {
    *rig = (TranslationRig){.sim = sim_new("test")};
    LinkOptions near = {.latency = 1, .depth = 8}, walk = {.latency = 1, .depth = 8};
    class_register_all();
    memory_test_classes();
    rig->sim->order = bench.order;
    rig->sim->order_seed = bench.order_seed;
    sim_clock(rig->sim, "clock", 1000000000);
    rig->driver = tiny_add(rig->sim, "MemoryDriver", "driver", NULL);
    rig->tlb = tiny_add(rig->sim, "TLB", "tlb", bench.tlb ? bench.tlb : "page=4KiB");
    rig->memory = tiny_add(rig->sim, "MemoryResponder", "memory", bench.memory);
    rig->walker = tiny_add(rig->sim, "PageWalker", "walker",
                           bench.walker ? bench.walker : "page=4KiB levels=1");
    rig->table = tiny_add(rig->sim, "MemoryResponder", "table", bench.table);
    if (bench.walk_depth) walk.depth = bench.walk_depth;
    sim_wire(rig->sim, rig->driver, "mem", rig->tlb, "up", near, near);
    sim_wire(rig->sim, rig->tlb, "down", rig->memory, "cpu", near, near);
    sim_wire(rig->sim, rig->tlb, "walk", rig->walker, "up", walk, walk);
    sim_wire(rig->sim, rig->walker, "mem", rig->table, "cpu", near, near);
    sim_elaborate(rig->sim);
}

void rig_end(TranslationRig *rig) {
    ck_assert_int_eq(sim_run(rig->sim, UINT64_MAX), STOP_IDLE);
    sim_check(rig->sim, true);
}
