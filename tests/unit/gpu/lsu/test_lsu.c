/* The load/store unit of an SM, and what the SM makes of its answers. What the comments count with, for a
 * memory instruction issued in cycle t:
 *
 *   The LSU begins with it in B = t + 4, or t + 3 when it reads no register (address and value are
 * constants). Shared memory: its dependents issue in B + 28: latency 26, and 2 to write back, as for every
 * unit. Global memory: accesses leave in B + 1, B + 2, ..., reach the memory one cycle later, are answered
 * LATENCY cycles after that, and the answer to the last is back at the LSU one, at the SM two cycles later.
 * So n accesses let the dependents issue in B + n + LATENCY + 3. */
#include "core/gpu/lsu/lsu_state.h"
#include "tests/unit/gpu/tiny_machine.h"
#include "tests/unit/suites.h"

enum { LATENCY = TINY_MEMORY_LATENCY, GLOBAL = 4 + LATENCY + 3 };

static const LoggedMessage *arrival(const TinyMachine *machine, uint32_t index) {
    const MessageLog *log = tiny_arrivals(machine, 0);
    ck_assert_uint_lt(index, log->count);
    return &log->entries[index];
}

/* --- Shared memory and parameters ------------------------------------------------------------ */

START_TEST(a_shared_load_takes_its_latency_and_six_cycles) {
    TinyMachine *m = tiny_run((TinySpec){.body = ".shared .align 4 .b8 buffer[128];\n"
                                                 "ld.shared.u32 %r1, [%r2];\n mov.u32 %r3, %r1;\n"});
    ck_assert_uint_eq(tiny_issued(m, 0, 1), 3 + 6 + 26);
    tiny_free(m);
    m = tiny_run((TinySpec){.body = ".shared .align 4 .b8 buffer[128];\n"
                                    "ld.shared.u32 %r1, [buffer];\n mov.u32 %r3, %r1;\n"});
    ck_assert_uint_eq(tiny_issued(m, 0, 1), 3 + 5 + 26);
    ck_assert_uint_eq(tiny_stat(m, "sm[0].lsu", "shared_loads"), 1);
    tiny_free(m);
    m = tiny_run((TinySpec){.lsu = "shared_latency=3",
                            .body = ".shared .align 4 .b8 buffer[128];\n"
                                    "ld.shared.u32 %r1, [buffer];\n mov.u32 %r3, %r1;\n"});
    ck_assert_uint_eq(tiny_issued(m, 0, 1), 3 + 5 + 3);
    tiny_free(m);
}
END_TEST

/* Lanes `words` words apart: degree d, d - 1 cycles more. 33 words: every lane in a bank of its own. 0: all
 * lanes read one word, which is handed to all at once. */
START_TEST(a_shared_load_takes_a_cycle_more_for_each_further_word_of_a_bank) {
    static const uint32_t words[] = {1, 2, 4, 8, 16, 32, 33, 0}, degree[] = {1, 2, 4, 8, 16, 32, 1, 1};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        char body[256];
        sprintf(body,
                ".shared .align 4 .b8 buffer[4224];\n mov.u32 %%r1, %%laneid;\n mul.lo.u32 %%r2, %%r1, %u;\n"
                "ld.shared.u32 %%r3, [%%r2];\n mov.u32 %%r4, %%r3;\n",
                4 * words[i]);
        TinyMachine *m = tiny_run((TinySpec){.body = body});
        ck_assert_uint_eq(tiny_issued(m, 0, 3) - tiny_issued(m, 0, 2), 32 + degree[i] - 1);
        ck_assert_uint_eq(tiny_stat(m, "sm[0].lsu", "bank_conflict_cycles"), degree[i] - 1);
        tiny_free(m);
    }
}
END_TEST

/* The conflicting load holds the unit for 32 cycles: begun in t + 4, it lets the next, issued in t + 1, begin
 * in t + 36. */
START_TEST(a_bank_conflict_holds_up_the_next_instruction) {
    TinyMachine *m = tiny_run((TinySpec){.body = ".shared .align 4 .b8 buffer[4096];\n"
                                                 "mov.u32 %r1, %laneid;\n mul.lo.u32 %r2, %r1, 128;\n"
                                                 "ld.shared.u32 %r3, [%r2];\n ld.shared.u32 %r4, [buffer];\n"
                                                 "mov.u32 %r5, %r4;\n"});
    uint64_t t = tiny_issued(m, 0, 2);
    ck_assert_uint_eq(tiny_issued(m, 0, 3), t + 1);
    ck_assert_uint_eq(tiny_issued(m, 0, 4), t + 36 + 28);
    tiny_free(m);
}
END_TEST

START_TEST(fewer_banks_conflict_more) {
    TinyMachine *m = tiny_run((TinySpec){.sm = "shared_banks=16",
                                         .body = ".shared .align 4 .b8 buffer[128];\n"
                                                 "mov.u32 %r1, %laneid;\n shl.b32 %r2, %r1, 2;\n"
                                                 "ld.shared.u32 %r3, [%r2];\n mov.u32 %r4, %r3;\n"});
    ck_assert_uint_eq(tiny_issued(m, 0, 3) - tiny_issued(m, 0, 2), 32 + 1);
    tiny_free(m);
}
END_TEST

/* Shared atomics act at once; lanes at one address follow each other. Not the latency of a global one. */
START_TEST(an_atomic_on_shared_memory_is_as_quick_as_a_load) {
    TinyMachine *m = tiny_run_strided((TinySpec){0}, 4,
                                      ".shared .align 4 .b8 buffer[4];\n"
                                      "atom.shared.add.u32 %r2, [buffer], 1;\n"
                                      "st.global.u32 [%d1], %r2;\n"
                                      "ld.shared.u32 %r3, [buffer];\n"
                                      "st.global.u32 [out+128], %r3;\n");
    ck_assert_uint_eq(tiny_issued(m, 0, TINY_STRIDED + 1) - tiny_issued(m, 0, TINY_STRIDED), 5 + 26);
    for (uint32_t lane = 0; lane < 32; lane++)
        ck_assert_uint_eq(tiny_word(m, lane), lane);
    ck_assert_uint_eq(tiny_word(m, 32), 32);
    tiny_free(m);
}
END_TEST

/* All lanes on one word, then each on its own. */
START_TEST(lanes_of_a_shared_atomic_on_one_word_take_the_bank_as_long_as_the_parameter_says) {
    static const char *sm[] = {"", "shared_atomic_cycles=2", "shared_atomic_cycles=4"};
    static const uint32_t again[] = {0, 2, 4};
    for (size_t i = 0; i < sizeof again / sizeof *again; i++)
        for (uint32_t bytes = 0; bytes <= 4; bytes += 4) {
            char body[320];
            uint32_t longer = bytes ? 0 : 31 * again[i];
            sprintf(body,
                    ".shared .align 4 .b8 buffer[128];\n mov.u32 %%r1, %%laneid;\n"
                    "mul.lo.u32 %%r2, %%r1, %u;\n atom.shared.add.u32 %%r3, [%%r2], 1;\n"
                    "mov.u32 %%r4, %%r3;\n ld.shared.u32 %%r5, [%%r2];\n mov.u32 %%r6, %%r5;\n",
                    bytes);
            TinyMachine *m = tiny_run((TinySpec){.sm = sm[i], .body = body});
            ck_assert_uint_eq(tiny_issued(m, 0, 3) - tiny_issued(m, 0, 2), 32 + longer);
            ck_assert_uint_eq(tiny_issued(m, 0, 5) - tiny_issued(m, 0, 4), 32); /* loads share the word */
            ck_assert_uint_eq(tiny_stat(m, "sm[0].lsu", "bank_conflict_cycles"), longer);
            tiny_free(m);
        }
}
END_TEST

START_TEST(without_a_constant_cache_parameters_come_from_a_short_pipeline) {
    TinyMachine *m = tiny_run((TinySpec){.body = "ld.param.u32 %r1, [word];\n st.global.u32 [out], %r1;\n"});
    ck_assert_uint_eq(tiny_issued(m, 0, 1), 3 + 5 + 2);
    ck_assert_uint_eq(tiny_word(m, 0), TINY_WORD);
    ck_assert_uint_eq(tiny_stat(m, "sm[0].lsu", "constant_loads"), 1);
    tiny_free(m);
}
END_TEST

/* Begun in 6 and 7: ready after 26 and after 2 cycles. */
START_TEST(a_parameter_does_not_wait_for_shared_memory) {
    TinyMachine *m = tiny_run((TinySpec){.body = ".shared .align 4 .b8 buffer[128];\n"
                                                 "ld.shared.u32 %r1, [buffer];\n ld.param.u32 %r2, [word];\n"
                                                 "mov.u32 %r3, %r2;\n mov.u32 %r4, %r1;\n"});
    ck_assert_uint_eq(tiny_issued(m, 0, 2), 4 + 5 + 2);
    ck_assert_uint_eq(tiny_issued(m, 0, 3), 3 + 5 + 26);
    tiny_free(m);
}
END_TEST

/* --- Global memory: loads -------------------------------------------------------------------- */

START_TEST(a_coalesced_load_is_one_access) {
    TinyMachine *m = tiny_run_strided((TinySpec){0}, 4, "ld.global.u32 %r2, [%d1];\n mov.u32 %r3, %r2;\n");
    uint64_t t = tiny_issued(m, 0, TINY_STRIDED);
    ck_assert_uint_eq(tiny_arrivals(m, 0)->count, 1);
    ck_assert_uint_eq(arrival(m, 0)->cycle, t + 4 + 1 + 1);
    ck_assert_uint_eq(arrival(m, 0)->message.address, m->out);
    ck_assert_uint_eq(arrival(m, 0)->message.bytes, 128);
    ck_assert_uint_eq(arrival(m, 0)->message.kind, MEM_READ);
    ck_assert_uint_eq(tiny_issued(m, 0, TINY_STRIDED + 1), t + GLOBAL + 1);
    ck_assert_uint_eq(tiny_stat(m, "sm[0].lsu", "global_loads"), 1);
    ck_assert_uint_eq(tiny_stat(m, "sm[0].lsu", "load_accesses"), 1);
    /* From the first access to the last answer, in ticks of half a cycle. */
    ck_assert_uint_eq(tiny_stat(m, "sm[0].lsu", "load_latency_ticks"),
                      (LATENCY + 2) * m->sim->clocks[0].period);
    tiny_free(m);
}
END_TEST

START_TEST(a_load_without_registers_is_a_cycle_earlier) {
    TinyMachine *m = tiny_run((TinySpec){.body = "ld.global.u32 %r1, [out];\n mov.u32 %r2, %r1;\n"});
    ck_assert_uint_eq(arrival(m, 0)->cycle, 3 + 3 + 2);
    ck_assert_uint_eq(tiny_issued(m, 0, 1), 3 + 3 + 1 + LATENCY + 3);
    /* The move waits from 4 on: memory is the cause. */
    ck_assert_uint_eq(tiny_stat(m, "sm[0]", "slots_memory"), 3 + LATENCY + 3);
    tiny_free(m);
}
END_TEST

/* 2 to 32 lines: one access per cycle, in the order of the lanes. */
START_TEST(an_uncoalesced_load_is_an_access_per_line_and_cycle) {
    for (uint32_t stride = 8; stride <= 256; stride *= 2) {
        uint32_t lines = stride >= 128 ? 32 : 32 * stride / 128;
        TinyMachine *m = tiny_run_strided((TinySpec){0}, stride,
                                          "ld.global.u32 %r2, [%d1];\n mov.u32 %r3, %r2;\n");
        uint64_t t = tiny_issued(m, 0, TINY_STRIDED);
        ck_assert_uint_eq(tiny_arrivals(m, 0)->count, lines);
        for (uint32_t i = 0; i < lines; i++) {
            ck_assert_uint_eq(arrival(m, i)->cycle, t + 6 + i);
            ck_assert_uint_eq(arrival(m, i)->message.address, m->out + i * (stride >= 128 ? stride : 128));
        }
        ck_assert_uint_eq(tiny_issued(m, 0, TINY_STRIDED + 1), t + GLOBAL + lines);
        ck_assert_uint_eq(tiny_stat(m, "sm[0].lsu", "load_accesses"), lines);
        ck_assert_uint_eq(tiny_stat(m, "sm[0].lsu", "stall_cycles"), 0);
        tiny_free(m);
    }
}
END_TEST

/* Launched, the requests of its first instruction half sent if `restores`: then the unit knows of them what a snapshot
 * brings, and no more, and is told so. */
static TinyMachine *run_with_32_accesses(bool restores) {
    static const char body[] = "mov.u32 %r1, %laneid;\n mul.wide.u32 %d3, %r1, 128;\n mov.u64 %d2, out;\n"
                               "add.u64 %d1, %d2, %d3;\n st.global.cg.u32 [%d1], %r1;\n";
    TinySpec spec = {.body = body};
    TinyMachine *m = tiny_new(spec);
    tiny_launch(m, spec);
    while (tiny_arrivals(m, 0)->count < 16)
        ck_assert(tiny_step(m));
    Lsu *lsu = (Lsu *)m->sm[0]->lsu.send->receiver;
    ck_assert(lsu->op_valid && lsu->segment_next < lsu->segment_count);
    if (restores) {
        lsu->requests = (Requests){.link = NULL};
        ck_assert(lsu->obj.class->knobs_set(&lsu->obj));
    }
    tiny_finish(m);
    return m;
}

START_TEST(an_instruction_that_a_snapshot_brings_goes_on_with_the_same_requests) {
    TinyMachine *straight = run_with_32_accesses(false), *restored = run_with_32_accesses(true);
    const MessageLog *wanted = tiny_arrivals(straight, 0), *got = tiny_arrivals(restored, 0);
    ck_assert_uint_eq(wanted->count, 32);
    ck_assert_uint_eq(got->count, 32);
    for (uint32_t i = 0; i < 32; i++) {
        ck_assert_uint_eq(got->entries[i].cycle, wanted->entries[i].cycle);
        ck_assert_mem_eq(&got->entries[i].message, &wanted->entries[i].message, sizeof(MemMessage));
    }
    ck_assert_uint_eq(tiny_stat(restored, "sm[0].lsu", "store_accesses"), 32);
    tiny_free(straight);
    tiny_free(restored);
}
END_TEST

/* Three times 32 accesses follow each other without a gap, loads and stores in program order. */
START_TEST(instructions_are_served_in_order_and_without_gaps) {
    TinyMachine *m = tiny_run_strided((TinySpec){0}, 128,
                                      "ld.global.u32 %r2, [%d1];\n st.global.u32 [%d1+64], %r1;\n"
                                      "ld.global.u32 %r3, [%d1+32];\n");
    uint64_t t = tiny_issued(m, 0, TINY_STRIDED);
    ck_assert_uint_eq(tiny_arrivals(m, 0)->count, 96);
    for (uint32_t i = 0; i < 96; i++) {
        const LoggedMessage *logged = arrival(m, i);
        ck_assert_uint_eq(logged->cycle, t + 6 + i);
        ck_assert_uint_eq(logged->message.kind, i / 32 == 1 ? MEM_WRITE : MEM_READ);
        ck_assert_uint_eq(logged->message.bytes, 32);
        ck_assert_uint_eq(logged->message.address, m->out + i % 32 * 128 + (i / 32 == 1 ? 64 : i / 32 * 16));
    }
    tiny_free(m);
}
END_TEST

START_TEST(lanes_switched_off_access_nothing) {
    TinyMachine *m = tiny_run_strided((TinySpec){0}, 256,
                                      "setp.lt.u32 %p1, %r1, 5;\n @%p1 ld.global.u32 %r2, [%d1];\n");
    ck_assert_uint_eq(tiny_arrivals(m, 0)->count, 5);
    tiny_free(m);
}
END_TEST

/* It passes through: begun in t + 3, written back 2 later. */
START_TEST(a_load_of_no_lane_at_all_does_not_reach_the_lsu) {
    TinyMachine *m = tiny_run((TinySpec){.body = "@%p1 ld.global.u32 %r1, [out];\n mov.u32 %r2, %r1;\n"});
    ck_assert_uint_eq(tiny_issued(m, 0, 1), 3 + 3 + 2);
    ck_assert_uint_eq(tiny_arrivals(m, 0)->count, 0);
    ck_assert_uint_eq(tiny_stat(m, "sm[0].lsu", "global_loads"), 0);
    tiny_free(m);
}
END_TEST

START_TEST(cache_operators_are_passed_on) {
    TinyMachine *m = tiny_run(
        (TinySpec){.body = "ld.global.u32 %r1, [out];\n ld.global.cg.u32 %r2, [out];\n"
                           "ld.volatile.global.u32 %r3, [out];\n ld.global.ca.u32 %r4, [out];\n"});
    ck_assert_uint_eq(tiny_arrivals(m, 0)->count, 4);
    for (uint32_t i = 0; i < 4; i++)
        ck_assert_uint_eq(arrival(m, i)->message.flags, i == 1 || i == 2 ? MEM_BYPASS_L1 : 0);
    tiny_free(m);
}
END_TEST

/* Lanes 16 bytes apart: four lines, whole ones wherever in them the addresses are, asked for without data.
 * Nobody waits: the move issues in the next cycle. */
START_TEST(a_prefetch_asks_for_whole_lines_and_nobody_waits) {
    static const struct {
        const char *prefetch;
        uint8_t flags;
    } levels[] = {{"prefetch.global.L1 [%d1+100];", 0},
                  {"prefetch.global.L2 [%d1+100];", MEM_BYPASS_L1},
                  {"prefetch.global.L2::evict_last [%d1+100];", MEM_BYPASS_L1},
                  {"prefetch.L1 [%d1+100];", 0},
                  {"prefetchu.L1 [%d1+100];", 0}};
    for (uint32_t level = 0; level < sizeof levels / sizeof *levels; level++) {
        char rest[128];
        snprintf(rest, sizeof rest, "%s\n mov.u32 %%r2, %%r1;\n", levels[level].prefetch);
        TinyMachine *m = tiny_run_strided((TinySpec){.lsu = "narrow_segments=true"}, 16, rest);
        uint64_t t = tiny_issued(m, 0, TINY_STRIDED);
        ck_assert_uint_eq(tiny_issued(m, 0, TINY_STRIDED + 1), t + 1);
        ck_assert_uint_eq(tiny_arrivals(m, 0)->count, 5);
        for (uint32_t i = 0; i < 5; i++) {
            const MemMessage *access = &arrival(m, i)->message;
            ck_assert_uint_eq(arrival(m, i)->cycle, t + 6 + i);
            ck_assert_uint_eq(access->address, m->out + i * 128);
            ck_assert_uint_eq(access->bytes, 128);
            ck_assert_uint_eq(access->kind, MEM_READ);
            ck_assert_uint_eq(access->payload, MEM_LINE_ONLY);
            ck_assert_uint_eq(access->flags, levels[level].flags);
        }
        ck_assert_uint_eq(tiny_stat(m, "sm[0].lsu", "prefetches"), 1);
        ck_assert_uint_eq(tiny_stat(m, "sm[0].lsu", "prefetch_accesses"), 5);
        ck_assert_uint_eq(tiny_stat(m, "sm[0].lsu", "global_loads"), 0);
        ck_assert_uint_eq(tiny_stat(m, "sm[0].lsu", "load_accesses"), 0);
        ck_assert_uint_eq(tiny_stat(m, "sm[0].lsu", "loads_answered"), 0);
        tiny_free(m);
    }
}
END_TEST

/* Of 32 lanes 4 KiB apart from the last byte of `out` on, the first lies in it, and the others in nothing. */
START_TEST(a_prefetch_of_no_memory_is_no_fault) {
    TinyMachine *m = tiny_run_strided((TinySpec){0}, 4096, "prefetch.global.L1 [%d1+65535];\n");
    ck_assert_uint_eq(tiny_arrivals(m, 0)->count, 1);
    ck_assert_uint_eq(arrival(m, 0)->message.address, m->out + TINY_OUT_BYTES - 128);
    ck_assert_uint_eq(arrival(m, 0)->message.lanes, 1);
    tiny_free(m);
    m = tiny_run((TinySpec){.body = "mov.u64 %d1, 0;\n prefetch.global.L2 [%d1];\n"});
    ck_assert_uint_eq(tiny_arrivals(m, 0)->count, 0);
    ck_assert_uint_eq(tiny_stat(m, "sm[0].lsu", "prefetches"), 0);
    tiny_free(m);
}
END_TEST

START_TEST(a_generic_prefetch_of_shared_memory_does_nothing) {
    TinyMachine *m = tiny_run((TinySpec){.body = ".shared .align 4 .b8 buffer[128];\n"
                                                 "mov.u64 %d1, buffer;\n cvta.shared.u64 %d2, %d1;\n"
                                                 "prefetch.L1 [%d2];\n prefetchu.L1 [%d2];\n"});
    ck_assert_uint_eq(tiny_arrivals(m, 0)->count, 0);
    tiny_free(m);
}
END_TEST

/* The second word of all lanes is the second line of local memory; beyond the end there is none. */
START_TEST(a_prefetch_of_local_memory_asks_for_the_line_of_the_word) {
    for (uint32_t generic = 0; generic < 2; generic++) {
        TinyMachine *m = tiny_run(
            (TinySpec){.body = generic ? ".local .align 4 .b8 stack[16];\n mov.u64 %d1, stack;\n"
                                         "st.local.u32 [stack+4], %r1;\n cvta.local.u64 %d2, %d1;\n"
                                         "prefetch.L1 [%d2+4];\n prefetch.L1 [%d2+16];\n"
                                       : ".local .align 4 .b8 stack[16];\n st.local.u32 [stack+4], %r1;\n"
                                         "prefetch.local.L1 [stack+4];\n prefetch.local.L1 [stack+16];\n"});
        ck_assert_uint_eq(tiny_arrivals(m, 0)->count, 2);
        const MemMessage *store = &arrival(m, 0)->message, *prefetch = &arrival(m, 1)->message;
        ck_assert_uint_eq(prefetch->address, store->address);
        ck_assert_uint_eq(prefetch->bytes, 128);
        ck_assert_uint_eq(prefetch->flags, MEM_LOCAL);
        ck_assert_uint_eq(prefetch->payload, MEM_LINE_ONLY);
        tiny_free(m);
    }
}
END_TEST

/* Accesses of a store of 2 B, a load of 1 B, one of 4 B and one by .cg, all 64 B wide. */
START_TEST(narrow_segments_depend_on_the_element_and_on_the_operator) {
    for (uint32_t narrow = 0; narrow < 2; narrow++) {
        TinyMachine *m = tiny_run((TinySpec){.lsu = narrow ? "narrow_segments=true" : "narrow_segments=false",
                                             .threads = 16,
                                             .body = "mov.u32 %r1, %tid.x;\n mul.wide.u32 %d1, %r1, 4;\n"
                                                     "mov.u64 %d2, out;\n add.u64 %d1, %d1, %d2;\n"
                                                     "st.global.u16 [%d1], %r1;\n"
                                                     "ld.global.u8 %r2, [%d1];\n"
                                                     "ld.global.u32 %r3, [%d1];\n"
                                                     "ld.global.cg.u32 %r4, [%d1];\n"});
        ck_assert_uint_eq(tiny_arrivals(m, 0)->count, narrow ? 6 : 4);
        ck_assert_uint_eq(tiny_stat(m, "sm[0].lsu", "load_accesses"), narrow ? 5 : 3);
        tiny_free(m);
    }
}
END_TEST

/* 32 lanes with vectors of four bytes side by side, a line: in quarters as single bytes are; vectors of two
 * halves in halves, and whole words in one piece. A vector of which all lanes lie in one quarter is one. */
START_TEST(narrow_segments_depend_on_the_element_of_a_vector) {
    static const struct {
        const char *load;
        uint32_t accesses, bytes;
    } vectors[] = {{"ld.global.v4.u8 {%r2, %r3, %r4, %r5}, [%d1];", 4, 32},
                   {"ld.global.v2.u16 {%r2, %r3}, [%d1];", 2, 64},
                   {"ld.global.v2.u8 {%r2, %r3}, [%d1];", 4, 32},
                   {"ld.global.u32 %r2, [%d1];", 1, 128},
                   {"st.global.v4.u8 [%d1], {%r2, %r3, %r4, %r5};", 4, 32},
                   {"ld.global.v4.u8 {%r2, %r3, %r4, %r5}, [out];", 1, 32}};
    for (uint32_t narrow = 0; narrow < 2; narrow++)
        for (uint32_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
            TinyMachine *m = tiny_run_strided(
                (TinySpec){.lsu = narrow ? "narrow_segments=true" : "narrow_segments=false"}, 4,
                vectors[i].load);
            const MessageLog *accesses = tiny_arrivals(m, 0);
            uint32_t count = narrow ? vectors[i].accesses : 1,
                     bytes = narrow || i == 5 ? vectors[i].bytes : 128;
            ck_assert_uint_eq(accesses->count, count);
            for (uint32_t k = 0; k < count; k++) {
                ck_assert_uint_eq(accesses->entries[k].message.address, m->out + k * bytes);
                ck_assert_uint_eq(accesses->entries[k].message.bytes, bytes);
            }
            tiny_free(m);
        }
}
END_TEST

/* --- Back-pressure --------------------------------------------------------------------------- */

/* Loads of one access each, issued in 3, 4, 6, 7, begun in 6, 7, 9, 10; the first two leave in 7 and 8. The
 * third would in 10, but both entries are taken until the first answer is back, in 7 + 1 + LATENCY + 1, and
 * leaves in that very cycle; the fourth a cycle later, with the second answer. */
START_TEST(outstanding_instructions_are_limited_by_the_entries) {
    TinyMachine *m = tiny_run(
        (TinySpec){.lsu = "entries=2",
                   .body = "ld.global.u32 %r1, [out];\n ld.global.u32 %r2, [out+128];\n"
                           "ld.global.u32 %r3, [out+256];\n ld.global.u32 %r4, [out+384];\n"});
    ck_assert_uint_eq(arrival(m, 0)->cycle, 8);
    ck_assert_uint_eq(arrival(m, 1)->cycle, 9);
    ck_assert_uint_eq(arrival(m, 2)->cycle, 7 + LATENCY + 2 + 1);
    ck_assert_uint_eq(arrival(m, 3)->cycle, 7 + LATENCY + 2 + 2);
    ck_assert_uint_eq(tiny_stat(m, "sm[0].lsu", "stall_cycles"), 7 + LATENCY + 2 - 10);
    tiny_free(m);
}
END_TEST

/* 600 stores to shared memory, begun one per cycle, take every write-back from cycle 500 on. Of the stores to global
 * memory meanwhile, 16 have room in the ring of the answered, the 17th only when they are written back. */
START_TEST(answered_instructions_that_wait_for_write_back_hold_up_those_that_would_find_no_room) {
    enum { SHARED = 300, GLOBAL_STORES = 20 };
    char body[(SHARED + GLOBAL_STORES) * 40] = ".shared .align 4 .b8 buffer[128];\n";
    for (int i = 0; i < SHARED; i++)
        strcat(body, "st.shared.u32 [buffer], %r1;\n");
    for (int i = 0; i < GLOBAL_STORES; i++)
        strcat(body, "st.global.u32 [out], %r1;\n");
    TinyMachine *m = tiny_run((TinySpec){.lsu = "entries=8 shared_latency=500", .threads = 64, .body = body});
    ck_assert_uint_lt(arrival(m, 15)->cycle, 800);
    ck_assert_uint_gt(arrival(m, 16)->cycle, 1100);
    ck_assert_uint_eq(tiny_stat(m, "sm[0].lsu", "global_stores"), 2 * GLOBAL_STORES);
    tiny_free(m);
}
END_TEST

/* The memory takes nothing before cycle 200, and the link to it holds two. The third access, ready to leave
 * in 10, fails until 200 and leaves in 201, when the places are free again. */
START_TEST(an_access_waits_while_the_memory_takes_none_and_the_cycles_are_counted) {
    TinyMachine *m = tiny_run((TinySpec){.memory = "refuse_from=0 refuse_until=200",
                                         .request_depth = 2,
                                         .body = "ld.global.u32 %r1, [out];\n ld.global.u32 %r2, [out+128];\n"
                                                 "ld.global.u32 %r3, [out+256];\n"});
    ck_assert_uint_eq(arrival(m, 0)->cycle, 200);
    ck_assert_uint_eq(arrival(m, 1)->cycle, 200);
    ck_assert_uint_eq(arrival(m, 2)->cycle, 202);
    ck_assert_uint_eq(tiny_stat(m, "sm[0].lsu", "stall_cycles"), 201 - 10);
    tiny_free(m);
}
END_TEST

/* One access in the link, and five instructions from issue to the LSU: six loads issue. The seventh could in
 * 12 and issues a cycle after the LSU got rid of the second access, in 201. */
START_TEST(issue_stalls_when_the_way_to_the_lsu_is_full) {
    TinyMachine *m = tiny_run((TinySpec){
        .memory = "refuse_from=0 refuse_until=200",
        .request_depth = 1,
        .body = "ld.global.u32 %r1, [out];\n ld.global.u32 %r2, [out];\n ld.global.u32 %r3, [out];\n"
                "ld.global.u32 %r4, [out];\n ld.global.u32 %r5, [out];\n ld.global.u32 %r6, [out];\n"
                "ld.global.u32 %r7, [out];\n"});
    ck_assert_uint_eq(tiny_issued(m, 0, 5), 10);
    ck_assert_uint_eq(tiny_issued(m, 0, 6), 202);
    ck_assert_uint_eq(tiny_stat(m, "sm[0]", "slots_lsu"), 202 - 12);
    tiny_free(m);
}
END_TEST

/* The first of six loads begins in B = t + 4 and holds its place until its last access leaves, in B + 32: the
 * sixth issues in that cycle. */
START_TEST(an_instruction_holds_its_place_until_its_last_access) {
    TinyMachine *m = tiny_run_strided((TinySpec){0}, 128,
                                      "ld.global.u32 %r2, [%d1];\n ld.global.u32 %r3, [%d1];\n"
                                      "ld.global.u32 %r4, [%d1];\n ld.global.u32 %r5, [%d1];\n"
                                      "ld.global.u32 %r6, [%d1];\n ld.global.u32 %r7, [%d1];\n");
    uint64_t t = tiny_issued(m, 0, TINY_STRIDED);
    ck_assert_uint_lt(tiny_issued(m, 0, TINY_STRIDED + 4), t + 10);
    ck_assert_uint_eq(tiny_issued(m, 0, TINY_STRIDED + 5), t + 4 + 32);
    tiny_free(m);
}
END_TEST

/* Two warps of eight loads, each of one access, that nothing stops: sixteen in sixteen cycles. */
START_TEST(loads_of_one_access_issue_in_every_cycle) {
    TinyMachine *m = tiny_run((TinySpec){.threads = 64,
                                         .body = "ld.global.u32 %r1, [out];\n ld.global.u32 %r2, [out];\n"
                                                 "ld.global.u32 %r3, [out];\n ld.global.u32 %r4, [out];\n"
                                                 "ld.global.u32 %r5, [out];\n ld.global.u32 %r6, [out];\n"
                                                 "ld.global.u32 %r7, [out];\n ld.global.u32 %r8, [out];\n"});
    uint64_t last0 = tiny_issued(m, 0, 7), last1 = tiny_issued(m, 1, 7);
    ck_assert_uint_eq(last0 > last1 ? last0 : last1, TINY_FIRST_ISSUE + 15);
    tiny_free(m);
}
END_TEST

/* Both schedulers have a load in cycle 4; scheduler 0, whose turn is first in even cycles, issues, the other
 * is a cycle late: there is one latch. */
START_TEST(the_memory_pipeline_takes_one_instruction_per_cycle) {
    TinyMachine *m = tiny_run((TinySpec){
        .threads = 64, .body = "ld.global.u32 %r1, [out];\n ld.global.u32 %r2, [out];\n mov.u32 %r3, 1;\n"});
    ck_assert_uint_eq(tiny_issued(m, 1, 0), 3);
    ck_assert_uint_eq(tiny_issued(m, 0, 0), 4);
    ck_assert_uint_eq(tiny_issued(m, 1, 1), 5);
    ck_assert_uint_eq(tiny_issued(m, 0, 1), 6);
    ck_assert_uint_eq(tiny_stat(m, "sm[0]", "slots_lsu"), 2);
    tiny_free(m);
}
END_TEST

/* --- Stores ---------------------------------------------------------------------------------- */

/* Issued in 3, begun in 7; its acknowledgement ends the warp in 3 + GLOBAL + 1 and the run two cycles later.
 * What is behind it does not wait. */
START_TEST(a_warp_ends_with_the_acknowledgement_of_its_stores) {
    TinyMachine *m = tiny_run((TinySpec){.body = "st.global.u32 [out+64], %r1;\n mov.u32 %r2, 1;\n"});
    ck_assert_uint_eq(tiny_issued(m, 0, 1), 4);
    ck_assert_uint_eq(tiny_cycles(m), 3 + GLOBAL + 1 + 2);
    const MemMessage *message = &arrival(m, 0)->message;
    ck_assert_uint_eq(message->kind, MEM_WRITE);
    ck_assert_uint_eq(message->address, m->out + 64);
    ck_assert_uint_eq(message->bytes, 32);
    ck_assert_uint_eq(message->byte_mask[0], 0);
    ck_assert_uint_eq(message->byte_mask[1], 0xf);
    tiny_free(m);
}
END_TEST

START_TEST(a_store_of_many_lines_is_acknowledged_with_the_last) {
    TinyMachine *m = tiny_run_strided((TinySpec){0}, 128, "st.global.u32 [%d1], %r1;\n");
    /* A cycle more, because %d1 and %r1 lie in one bank. */
    ck_assert_uint_eq(tiny_cycles(m), tiny_issued(m, 0, TINY_STRIDED) + 1 + GLOBAL + 32 + 2);
    ck_assert_uint_eq(tiny_stat(m, "sm[0].lsu", "store_accesses"), 32);
    for (uint32_t lane = 0; lane < 32; lane++)
        ck_assert_uint_eq(tiny_word(m, lane * 32), lane);
    tiny_free(m);
}
END_TEST

START_TEST(a_coalesced_store_writes_its_line) {
    TinyMachine *m = tiny_run_strided((TinySpec){0}, 4, "st.global.u32 [%d1], %r1;\n");
    ck_assert_uint_eq(tiny_arrivals(m, 0)->count, 1);
    ck_assert_uint_eq(arrival(m, 0)->message.bytes, 128);
    ck_assert_uint_eq(arrival(m, 0)->message.byte_mask[0] & arrival(m, 0)->message.byte_mask[1], ~0ull);
    tiny_free(m);
}
END_TEST

Suite *lsu_suite(void) {
    Suite *suite = suite_create("lsu");
    TCase *shared = tcase_create("shared");
    tcase_add_test(shared, a_shared_load_takes_its_latency_and_six_cycles);
    tcase_add_test(shared, a_shared_load_takes_a_cycle_more_for_each_further_word_of_a_bank);
    tcase_add_test(shared, a_bank_conflict_holds_up_the_next_instruction);
    tcase_add_test(shared, fewer_banks_conflict_more);
    tcase_add_test(shared, an_atomic_on_shared_memory_is_as_quick_as_a_load);
    tcase_add_test(shared, lanes_of_a_shared_atomic_on_one_word_take_the_bank_as_long_as_the_parameter_says);
    tcase_add_test(shared, without_a_constant_cache_parameters_come_from_a_short_pipeline);
    tcase_add_test(shared, a_parameter_does_not_wait_for_shared_memory);
    suite_add_tcase(suite, shared);
    TCase *loads = tcase_create("loads");
    tcase_add_test(loads, a_coalesced_load_is_one_access);
    tcase_add_test(loads, a_load_without_registers_is_a_cycle_earlier);
    tcase_add_test(loads, an_uncoalesced_load_is_an_access_per_line_and_cycle);
    tcase_add_test(loads, an_instruction_that_a_snapshot_brings_goes_on_with_the_same_requests);
    tcase_add_test(loads, instructions_are_served_in_order_and_without_gaps);
    tcase_add_test(loads, lanes_switched_off_access_nothing);
    tcase_add_test(loads, a_load_of_no_lane_at_all_does_not_reach_the_lsu);
    tcase_add_test(loads, cache_operators_are_passed_on);
    tcase_add_test(loads, a_prefetch_asks_for_whole_lines_and_nobody_waits);
    tcase_add_test(loads, a_prefetch_of_no_memory_is_no_fault);
    tcase_add_test(loads, a_generic_prefetch_of_shared_memory_does_nothing);
    tcase_add_test(loads, a_prefetch_of_local_memory_asks_for_the_line_of_the_word);
    tcase_add_test(loads, narrow_segments_depend_on_the_element_and_on_the_operator);
    tcase_add_test(loads, narrow_segments_depend_on_the_element_of_a_vector);
    suite_add_tcase(suite, loads);
    TCase *pressure = tcase_create("pressure");
    tcase_add_test(pressure, outstanding_instructions_are_limited_by_the_entries);
    tcase_add_test(pressure,
                   answered_instructions_that_wait_for_write_back_hold_up_those_that_would_find_no_room);
    tcase_add_test(pressure, an_access_waits_while_the_memory_takes_none_and_the_cycles_are_counted);
    tcase_add_test(pressure, issue_stalls_when_the_way_to_the_lsu_is_full);
    tcase_add_test(pressure, an_instruction_holds_its_place_until_its_last_access);
    tcase_add_test(pressure, loads_of_one_access_issue_in_every_cycle);
    tcase_add_test(pressure, the_memory_pipeline_takes_one_instruction_per_cycle);
    suite_add_tcase(suite, pressure);
    TCase *stores = tcase_create("stores");
    tcase_add_test(stores, a_warp_ends_with_the_acknowledgement_of_its_stores);
    tcase_add_test(stores, a_store_of_many_lines_is_acknowledged_with_the_last);
    tcase_add_test(stores, a_coalesced_store_writes_its_line);
    suite_add_tcase(suite, stores);
    return suite;
}
