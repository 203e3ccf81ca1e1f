/* Where lines enter the order of use of their set, and which leave first, by class. */
#include "mem/cache/structures/tag_array.h"
#include "tests/unit/suites.h"

#include <stdlib.h>
#include <string.h>

enum { LINE = 128 };

/* One set of so many ways. */
static TagArray one_set(uint32_t ways) {
    TagArray tags = {0};
    tag_shape_init(&tags.shape, "test",
                   &(TagGeometry){.size = (uint64_t)ways * LINE, .ways = ways, .line = LINE, .sectors = 1});
    tags.tag = calloc(tags.shape.lines, sizeof *tags.tag);
    tags.used = calloc(tags.shape.lines, sizeof *tags.used);
    tags.line = calloc(tags.shape.lines, sizeof *tags.line);
    tags.print = calloc(tags.shape.lines, sizeof *tags.print);
    return tags;
}

static void free_tags(TagArray *tags) {
    free(tags->tag);
    free(tags->used);
    free(tags->line);
    free(tags->print);
}

/* Line number `name` replaces the victim. */
static void bring(TagArray *tags, uint64_t name, uint32_t class_number) {
    uint32_t victim = tag_victim(tags, 0);
    ck_assert_uint_ne(victim, NO_LINE);
    tag_install(tags, victim, name * LINE, 0, 0, (uint8_t)class_number);
    tags->line[victim].valid = 1;
}

static void bring_all(TagArray *tags, uint64_t first, uint64_t last, uint32_t class_number) {
    for (uint64_t name = first; name <= last; name++)
        bring(tags, name, class_number);
}

/* The names of the lines in the order in which LRU replaces them. */
static void expect_order(const TagArray *tags, const char *want) {
    char got[64] = "";
    uint64_t above = 0;
    size_t length = 0;
    for (;;) {
        uint32_t next = NO_LINE;
        for (uint32_t i = 0; i < tags->shape.ways; i++)
            if (tags->used[i] > above && (next == NO_LINE || tags->used[i] < tags->used[next])) next = i;
        if (next == NO_LINE) break;
        got[length++] = (char)('a' + tag_address(tags, next) / LINE);
        above = tags->used[next];
    }
    ck_assert_str_eq(got, want);
}

enum { A, B, C, D, E, F, G };

START_TEST(lines_enter_as_the_most_recently_used_unless_a_class_says_otherwise) {
    TagArray tags = one_set(4);
    for (uint32_t name = A; name <= D; name++)
        bring(&tags, name, name);
    expect_order(&tags, "abcd");
    tag_set_depth(&tags, 1, 0);
    bring(&tags, E, 1);
    expect_order(&tags, "bcde");
    free_tags(&tags);
}
END_TEST

START_TEST(line_enters_as_many_places_below_the_most_recently_used_as_its_class_says) {
    static const char *const orders[] = {"bcde", "bced", "becd", "ebcd", "ebcd"};
    TagArray tags = one_set(4);
    tag_set_depth(&tags, 1, (uint32_t)_i);
    bring_all(&tags, A, D, 0);
    bring(&tags, E, 1);
    expect_order(&tags, orders[_i]);
    bring(&tags, F, 0); /* the order is that of later replacements, too */
    ck_assert_uint_eq(tag_find(&tags, 0, (uint64_t)(orders[_i][0] - 'a') * LINE), NO_LINE);
    free_tags(&tags);
}
END_TEST

/* The set's stamps of use begin at 1: there is no room below them. */
START_TEST(first_lines_of_all_can_enter_as_the_least_recently_used) {
    TagArray tags = one_set(4);
    tag_set_depth(&tags, 1, LEAST_RECENT);
    bring_all(&tags, A, D, 1);
    expect_order(&tags, "dcba");
    bring(&tags, E, 1); /* instead of d */
    expect_order(&tags, "ecba");
    free_tags(&tags);
}
END_TEST

START_TEST(sets_that_are_not_full_are_filled_before_anything_is_replaced) {
    TagArray tags = one_set(4);
    tag_set_depth(&tags, 1, 2);
    tag_set_keep(&tags, 2, 1);
    bring(&tags, A, 2);
    bring(&tags, B, 1); /* one place below is all there is */
    expect_order(&tags, "ba");
    bring(&tags, C, 0);
    bring(&tags, D, 1);
    expect_order(&tags, "bdac");
    free_tags(&tags);
}
END_TEST

START_TEST(hit_makes_a_line_the_most_recently_used_wherever_it_entered) {
    TagArray tags = one_set(4);
    tag_set_depth(&tags, 1, LEAST_RECENT);
    bring_all(&tags, A, C, 0);
    bring(&tags, D, 1);
    expect_order(&tags, "dabc");
    tag_touch(&tags, tag_find(&tags, 0, D * LINE));
    expect_order(&tags, "abcd");
    free_tags(&tags);
}
END_TEST

START_TEST(lines_of_the_class_that_is_kept_least_leave_first_and_among_them_the_oldest) {
    TagArray tags = one_set(4);
    tag_set_keep(&tags, 1, 1);
    tag_set_keep(&tags, 2, 2);
    bring(&tags, A, 2);
    bring(&tags, B, 1);
    bring(&tags, C, 0);
    bring(&tags, D, 0);
    static const uint32_t leave[] = {C, D, E, F}; /* e and f are of class 0 */
    for (uint32_t i = 0; i < 4; i++) {
        ck_assert_uint_ne(tag_find(&tags, 0, leave[i] * LINE), NO_LINE);
        bring(&tags, E + i, i < 2 ? 0 : 2);
        ck_assert_uint_eq(tag_find(&tags, 0, leave[i] * LINE), NO_LINE);
    }
    expect_order(&tags, "abgh");
    bring(&tags, 8, 2); /* b is of class 1, a is older */
    expect_order(&tags, "aghi");
    bring(&tags, 9, 2); /* all of class 2 */
    expect_order(&tags, "ghij");
    free_tags(&tags);
}
END_TEST

/* A line of class 1, used once, is worth 10 uses more than it has: it goes when others have had 10 later uses, and not
 * before. Way 0 has a, way 1 b; b is touched until it is replaced after a. */
START_TEST(line_that_is_kept_ages_and_leaves_after_as_many_uses_of_others) {
    static const struct {
        uint32_t keep, uses; /* of the array, after which line a is older than b */
    } steps[] = {{1, 10}, {2, 20}, {3, 30}};
    TagArray tags = one_set(2);
    tags.order.keep_uses = 10;
    tag_set_keep(&tags, 1, steps[_i].keep);
    bring(&tags, A, 1); /* stamp 1 */
    bring(&tags, B, 0);
    uint32_t a = tag_find(&tags, 0, A * LINE), b = tag_find(&tags, 0, B * LINE);
    while (tags.used[b] < steps[_i].uses) {
        tag_touch(&tags, b);
        ck_assert_uint_eq(tag_victim(&tags, 0), b);
    }
    tag_touch(&tags, b); /* 1 + uses: as old as a is worth */
    tag_touch(&tags, b);
    ck_assert_uint_eq(tags.used[b], steps[_i].uses + 2);
    ck_assert_uint_eq(tag_victim(&tags, 0), a);
    free_tags(&tags);
}
END_TEST

START_TEST(line_that_is_kept_for_ever_stays_however_often_others_are_used) {
    TagArray tags = one_set(2);
    tag_set_keep(&tags, 1, 1);
    bring(&tags, A, 1);
    bring(&tags, B, 0);
    uint32_t b = tag_find(&tags, 0, B * LINE);
    for (uint32_t i = 0; i < 100000; i++)
        tag_touch(&tags, b);
    ck_assert_uint_eq(tag_victim(&tags, 0), b);
    free_tags(&tags);
}
END_TEST

/* Of a hashed array, with a line more than is searched way by way. */
START_TEST(line_of_a_large_set_that_is_kept_ages) {
    TagArray tags = {0};
    tag_shape_init(&tags.shape, "test",
                   &(TagGeometry){.size = 128 * LINE, .ways = 128, .line = LINE, .sectors = 1});
    tags.tag = calloc(128, sizeof *tags.tag);
    tags.used = calloc(128, sizeof *tags.used);
    tags.line = calloc(128, sizeof *tags.line);
    tags.hash.bucket = calloc(tags.shape.buckets, sizeof *tags.hash.bucket);
    tags.hash.links = calloc(128, sizeof *tags.hash.links);
    tags.order.keep_uses = 1000;
    tag_set_keep(&tags, 1, 1);
    bring(&tags, A, 1);
    bring_all(&tags, B, 127, 0);
    uint32_t a = tag_find(&tags, 0, A * LINE);
    for (uint32_t round = 0; tags.used[a] + 1000 > tags.used[tag_find(&tags, 0, B * LINE)]; round++) {
        ck_assert_uint_ne(tag_victim(&tags, 0), a);
        for (uint64_t name = B; name <= 127; name++)
            tag_touch(&tags, tag_find(&tags, 0, name * LINE));
    }
    ck_assert_uint_eq(tag_victim(&tags, 0), a);
    free(tags.hash.bucket);
    free(tags.hash.links);
    free_tags(&tags);
}
END_TEST

/* A hit makes it a line of the class of who hits, for better or worse; without classes it stays who brought it. */
START_TEST(line_is_of_the_class_of_its_last_user) {
    TagArray tags = one_set(2);
    bring(&tags, A, 1);
    uint32_t a = tag_find(&tags, 0, A * LINE);
    tag_use(&tags, a, 2);
    ck_assert_uint_eq(tags.line[a].class_number, 1);
    tag_set_keep(&tags, 2, 1);
    tag_use(&tags, a, 2);
    ck_assert_uint_eq(tags.line[a].class_number, 2);
    bring(&tags, B, 0);
    ck_assert_uint_ne(tag_victim(&tags, 0), a);
    tag_use(&tags, a, 0);
    ck_assert_uint_eq(tags.line[a].class_number, 0);
    tag_use(&tags, tag_find(&tags, 0, B * LINE), 0);
    ck_assert_uint_eq(tag_victim(&tags, 0), a);
    free_tags(&tags);
}
END_TEST

START_TEST(lines_under_way_stay_whatever_their_class) {
    TagArray tags = one_set(2);
    tag_set_keep(&tags, 1, 1);
    bring(&tags, A, 0);
    bring(&tags, B, 1);
    tags.line[0].reserved = 1;
    ck_assert_uint_eq(tag_victim(&tags, 0), 1);
    tags.line[1].reserved = 1;
    ck_assert_uint_eq(tag_victim(&tags, 0), NO_LINE);
    free_tags(&tags);
}
END_TEST

/* ---- Tables by class ---- */

static SimObject object_called_x = {.path = (char *)"x"};

typedef struct {
    ClassTable table;
    const char *text;
} Reading;

static void read_table(void *context) {
    Reading *reading = context;
    class_table_read(&reading->table, &object_called_x, "queues", reading->text, 7);
}

START_TEST(table_takes_the_values_that_are_named_and_keeps_the_others) {
    Reading reading = {.table = {{9, 9, 9, 9}}, .text = "7,0,3"};
    ck_assert_ptr_null(user_error_catch(read_table, &reading));
    static const uint8_t want[] = {7, 0, 3, 9, 0};
    ck_assert_mem_eq(reading.table.of, want, sizeof want);
    reading.text = "";
    ck_assert_ptr_null(user_error_catch(read_table, &reading));
    ck_assert_mem_eq(reading.table.of, want, sizeof want);
}
END_TEST

START_TEST(text_that_is_no_table_is_a_user_error) {
    static const char *const texts[] = {"8",
                                        "-1",
                                        "1,",
                                        ",1",
                                        "1,,2",
                                        "1;2",
                                        "a",
                                        " 1",
                                        "1, 2",
                                        ("0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,"
                                         "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0")};
    Reading reading = {.text = texts[_i]};
    const char *message = user_error_catch(read_table, &reading);
    ck_assert_ptr_nonnull(message);
    ck_assert_ptr_nonnull(strstr(message, "x.queues: expected up to 32"));
    ck_assert_ptr_nonnull(strstr(message, "32 whole numbers from 0 to 7"));
}
END_TEST

START_TEST(sets_of_classes_have_a_bit_for_each) {
    ck_assert(class_in(1, 0) && !class_in(1, 1) && class_in(1u << 31, 31) && !class_in(0, 3));
}
END_TEST

Suite *insertion_suite(void) {
    Suite *suite = suite_create("insertion");
    TCase *tests = tcase_create("insertion");
    tcase_add_test(tests, lines_enter_as_the_most_recently_used_unless_a_class_says_otherwise);
    tcase_add_loop_test(tests, line_enters_as_many_places_below_the_most_recently_used_as_its_class_says, 0,
                        5);
    tcase_add_test(tests, first_lines_of_all_can_enter_as_the_least_recently_used);
    tcase_add_test(tests, sets_that_are_not_full_are_filled_before_anything_is_replaced);
    tcase_add_test(tests, hit_makes_a_line_the_most_recently_used_wherever_it_entered);
    tcase_add_test(tests, lines_of_the_class_that_is_kept_least_leave_first_and_among_them_the_oldest);
    tcase_add_loop_test(tests, line_that_is_kept_ages_and_leaves_after_as_many_uses_of_others, 0, 3);
    tcase_add_test(tests, line_that_is_kept_for_ever_stays_however_often_others_are_used);
    tcase_add_test(tests, line_of_a_large_set_that_is_kept_ages);
    tcase_add_test(tests, line_is_of_the_class_of_its_last_user);
    tcase_add_test(tests, lines_under_way_stay_whatever_their_class);
    tcase_add_test(tests, table_takes_the_values_that_are_named_and_keeps_the_others);
    tcase_add_loop_test(tests, text_that_is_no_table_is_a_user_error, 0, 10);
    tcase_add_test(tests, sets_of_classes_have_a_bit_for_each);
    suite_add_tcase(suite, tests);
    return suite;
}
