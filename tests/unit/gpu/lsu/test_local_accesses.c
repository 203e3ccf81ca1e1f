/* Where the words of local memory lie in the machine's address space, and what accesses to them the memory sees. */
#include "tests/unit/gpu/tiny_machine.h"
#include "tests/unit/suites.h"

#include <stdlib.h>
#include <string.h>

static const LoggedMessage *arrival(const TinyMachine *machine, uint32_t index) {
    const MessageLog *log = tiny_arrivals(machine, 0);
    ck_assert_uint_lt(index, log->count);
    return &log->entries[index];
}

/* Two SMs with two CTAs of two warps each run at once. By word, the lines of a word of all eight warps lie
 * side by side, and the next word eight lines further on. */
START_TEST(local_memory_may_be_laid_out_by_word) {
    for (uint32_t by_word = 0; by_word < 2; by_word++) {
        TinySpec spec = {.sm = by_word ? "ctas=2 local_layout=word" : "ctas=2",
                         .sms = 2,
                         .ctas = 8,
                         .threads = 64,
                         .body = ".local .align 16 .b8 stack[64];\n mov.u32 %r1, %laneid;\n"
                                 "st.local.u32 [stack+4], %r1;\n st.local.v2.u32 [stack+8], {%r1, %r1};\n"};
        TinyMachine *m = tiny_run(spec);
        uint64_t base = 1ull << 40, places = 0;
        for (uint32_t sm = 0; sm < 2; sm++) {
            const MessageLog *stores = tiny_arrivals(m, sm);
            ck_assert_uint_eq(stores->count, 4 * 2 * 3); /* half of the CTAs */
            for (uint32_t i = 0; i < stores->count; i++) {
                const MemMessage *store = &stores->entries[i].message;
                uint64_t line = (store->address - base) / 128;
                uint64_t place = by_word ? line % 8 : line / 16 % 64, word = by_word ? line / 8 : line % 16;
                ck_assert_uint_eq(store->warp, by_word ? place % 4 : place);
                ck_assert_uint_eq(sm, by_word ? place / 4 : line / 16 / 64);
                ck_assert(word >= 1 && word <= 3);
                places |= 1ull << (4 * sm + store->warp) * 4 << word;
            }
        }
        ck_assert_uint_eq(places, 0xeeeeeeee);
        tiny_free(m);
    }
}
END_TEST

/* A thread's words lie a line apart, the lanes' side by side: one access, and one per word of a wide
 * element. */
START_TEST(local_memory_is_interleaved_by_lane) {
    TinyMachine *m = tiny_run((TinySpec){.body = ".local .align 16 .b8 stack[64];\n"
                                                 "mov.u32 %r1, %laneid;\n"
                                                 "st.local.u32 [stack+4], %r1;\n"
                                                 "st.local.v2.u32 [stack+8], {%r1, %r1};\n"
                                                 "ld.volatile.local.u32 %r2, [stack+12];\n"
                                                 "st.global.u32 [out], %r2;\n"});
    ck_assert_uint_eq(tiny_arrivals(m, 0)->count, 5);
    uint64_t base = arrival(m, 0)->message.address;
    for (uint32_t i = 0; i < 4; i++) {
        static const uint32_t line[] = {0, 1, 2, 2};
        ck_assert_uint_eq(arrival(m, i)->message.address, base + line[i] * 128);
        ck_assert_uint_eq(arrival(m, i)->message.bytes, 128);
        ck_assert_uint_eq(arrival(m, i)->message.flags, MEM_LOCAL);
        ck_assert_uint_eq(arrival(m, i)->message.kind, i == 3 ? MEM_READ : MEM_WRITE);
    }
    ck_assert_uint_eq(tiny_stat(m, "sm[0].lsu", "local_stores"), 2);
    ck_assert_uint_eq(tiny_stat(m, "sm[0].lsu", "local_loads"), 1);
    ck_assert_uint_eq(tiny_word(m, 0), 31);
    tiny_free(m);
}
END_TEST

/* By generic addresses, those of all lanes come along; of local ones of all lanes at the same words, where the first word
 * lies is all that does. The memory sees the same, and so do the statistics. */
START_TEST(local_accesses_are_the_same_whether_their_addresses_come_along_or_not) {
    static const char *const guards[] = {"", "@%p1 ", "@!%p1 "};
    for (size_t guard = 0; guard < sizeof guards / sizeof *guards; guard++) {
        TinyMachine *m[2];
        for (int generic = 0; generic < 2; generic++) {
            char body[600];
            const char *in = generic ? "" : ".local", *g = guards[guard];
            snprintf(body, sizeof body,
                     ".local .align 16 .b8 stack[64];\n mov.u64 %%d2, stack;\n cvta.local.u64 %%d3, %%d2;\n"
                     "add.u64 %%d1, %%d3, %lld;\n mov.u32 %%r1, %%laneid;\n setp.lt.u32 %%p1, %%r1, 7;\n"
                     "%sst%s.u32 [%%d1+4], %%r1;\n %sst%s.v2.u32 [%%d1+8], {%%r1, %%r1};\n"
                     "%sld.volatile%s.v4.u32 {%%r2, %%r3, %%r4, %%r5}, [%%d1+16];\n"
                     "%sld.volatile%s.u16 %%r6, [%%d1+6];\n %sst%s.b64 [%%d1+56], %%d1;\n",
                     generic ? 0 : -(long long)LOCAL_WINDOW, g, in, g, in, g, in, g, in, g, in);
            m[generic] = tiny_run((TinySpec){.body = body});
        }
        const MessageLog *local = tiny_arrivals(m[0], 0), *generic = tiny_arrivals(m[1], 0);
        ck_assert_uint_eq(local->count, 1 + 2 + 4 + 1 + 2);
        ck_assert_uint_eq(generic->count, local->count);
        for (uint32_t i = 0; i < local->count; i++) {
            const MemMessage *one = &local->entries[i].message, *other = &generic->entries[i].message;
            ck_assert_uint_eq(one->address, other->address);
            ck_assert_uint_eq(one->bytes, other->bytes);
            ck_assert_uint_eq(one->lanes, other->lanes);
            ck_assert_uint_eq(one->bytes, guard == 1 ? 32 : 128);
            ck_assert_mem_eq(one->byte_mask, other->byte_mask, sizeof one->byte_mask);
        }
        char *stats = stats_text(m[0]->sim), *others = stats_text(m[1]->sim);
        ck_assert_str_eq(stats, others);
        free(stats);
        free(others);
        tiny_free(m[0]);
        tiny_free(m[1]);
    }
}
END_TEST

Suite *local_accesses_suite(void);
Suite *local_accesses_suite(void) {
    Suite *suite = suite_create("local accesses");
    TCase *tests = tcase_create("local accesses");
    tcase_add_test(tests, local_memory_is_interleaved_by_lane);
    tcase_add_test(tests, local_memory_may_be_laid_out_by_word);
    tcase_add_test(tests, local_accesses_are_the_same_whether_their_addresses_come_along_or_not);
    suite_add_tcase(suite, tests);
    return suite;
}
