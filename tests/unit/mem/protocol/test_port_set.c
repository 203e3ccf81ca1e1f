/* Sets of up to 1,024 ports, and who of them wins an arbitration. */
#include "mem/network/arbitration.h"
#include "tests/unit/suites.h"

#include <check.h>

static uint64_t word[PORT_WORDS];
static PortSet set;

static void with_ports(uint32_t ports) {
    for (uint32_t i = 0; i < PORT_WORDS; i++)
        word[i] = 0;
    set = (PortSet){word, words_for_ports(ports)};
}

START_TEST(a_set_has_a_word_for_each_64_ports) {
    static const uint32_t ports[] = {1, 64, 65, 128, 129, 1024}, words[] = {1, 1, 2, 2, 3, 16};
    for (size_t i = 0; i < sizeof ports / sizeof *ports; i++)
        ck_assert_uint_eq(words_for_ports(ports[i]), words[i]);
}
END_TEST

START_TEST(ports_come_and_go_in_any_word) {
    static const uint32_t members[] = {0, 63, 64, 127, 1023};
    with_ports(1024);
    ck_assert(!ports_any(set));
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        ck_assert(!port_in(set, members[i]));
        port_add(word, members[i]);
        ck_assert(port_in(set, members[i]));
        ck_assert_uint_eq(ports_count(set), i + 1);
    }
    port_remove(word, 64);
    ck_assert(!port_in(set, 64) && port_in(set, 63) && port_in(set, 127));
    ck_assert_uint_eq(ports_count(set), 4);
}
END_TEST

/* From any pointer: the next member, over the border of a word, and round the end. */
START_TEST(the_first_member_from_a_pointer_on_wraps) {
    with_ports(1024);
    port_add(word, 5);
    port_add(word, 64);
    port_add(word, 700);
    for (uint32_t pointer = 0; pointer < 1024; pointer++) {
        uint32_t want = pointer <= 5 || pointer > 700 ? 5 : pointer <= 64 ? 64 : 700;
        ck_assert_uint_eq(ports_first_from(set, pointer), want);
    }
}
END_TEST

static MemMessage head[1024];

static Candidate candidate(const void *context, uint32_t input) {
    (void)context;
    return (Candidate){&head[input], head[input].issued};
}

/* The oldest wins wherever it is; of equals the first from the pointer on, and the lowest port where that counts. */
START_TEST(rules_reach_all_words) {
    ClassTable priority = {0};
    with_ports(1024);
    for (uint32_t i = 3; i < 1024; i += 100) {
        port_add(word, i);
        head[i] = (MemMessage){.issued = 1000};
    }
    ck_assert_uint_eq(arbitration_winner(OLDEST, &priority, set, 504, candidate, NULL), 603);
    ck_assert_uint_eq(arbitration_winner(OLDEST, &priority, set, 1004, candidate, NULL), 3);
    ck_assert_uint_eq(arbitration_winner(OLDEST, &priority, set, 1023, candidate, NULL), 3);
    head[903].issued = 999;
    ck_assert_uint_eq(arbitration_winner(OLDEST, &priority, set, 504, candidate, NULL), 903);
    ck_assert_uint_eq(arbitration_winner(AGE, &priority, set, 0, candidate, NULL), 903);
    ck_assert_uint_eq(arbitration_winner(LOWEST_PORT, &priority, set, 504, candidate, NULL), 3);
    ck_assert_uint_eq(arbitration_winner(ROUND_ROBIN, &priority, set, 504, candidate, NULL), 603);
}
END_TEST

Suite *port_set_suite(void) {
    Suite *suite = suite_create("port_set");
    TCase *cases = tcase_create("port_set");
    tcase_add_test(cases, a_set_has_a_word_for_each_64_ports);
    tcase_add_test(cases, ports_come_and_go_in_any_word);
    tcase_add_test(cases, the_first_member_from_a_pointer_on_wraps);
    tcase_add_test(cases, rules_reach_all_words);
    suite_add_tcase(suite, cases);
    return suite;
}
