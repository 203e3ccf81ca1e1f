/* The CUDA library's table from pointers to pointers. The library is a program of its own: the table comes along as text. */
#include "core/cuda/runtime/pointer_table.c"

#include "core/sim/base/random.h"
#include "tests/unit/suites.h"

enum { KEYS = 3000 };

static char objects[KEYS][64]; /* keys lie as handles do, apart by some bytes */

static void assert_holds(const PointerTable *table, char *const *expected) {
    size_t count = 0;
    for (size_t i = 0; i < KEYS; i++) {
        ck_assert_ptr_eq(pointer_table_get(table, objects[i]), expected[i]);
        count += expected[i] != NULL;
    }
    ck_assert_uint_eq(table->count, count);
}

START_TEST(an_empty_table_has_nothing) {
    PointerTable table = {0};
    ck_assert_ptr_null(pointer_table_get(&table, objects[0]));
    pointer_table_remove(&table, objects[0]);
    ck_assert_uint_eq(table.count, 0);
}
END_TEST

START_TEST(what_is_put_again_is_replaced) {
    PointerTable table = {0};
    pointer_table_put(&table, objects[0], objects[1]);
    pointer_table_put(&table, objects[0], objects[2]);
    ck_assert_ptr_eq(pointer_table_get(&table, objects[0]), objects[2]);
    ck_assert_uint_eq(table.count, 1);
    free(table.slots);
}
END_TEST

START_TEST(after_any_puts_and_removals_each_key_has_its_value) {
    static char *expected[KEYS];
    PointerTable table = {0};
    Random random = {1};
    for (uint32_t round = 0; round < 20000; round++) {
        size_t key = random_below(&random, KEYS), value = random_below(&random, KEYS);
        if (random_below(&random, 3) == 0) {
            pointer_table_remove(&table, objects[key]);
            expected[key] = NULL;
        } else {
            pointer_table_put(&table, objects[key], objects[value]);
            expected[key] = objects[value];
        }
        if (round % 1000 == 0) assert_holds(&table, expected);
    }
    assert_holds(&table, expected);
    ck_assert_uint_le(2 * table.count, table.capacity);
    free(table.slots);
}
END_TEST

/* As who empties it does, from the last slot on: a hole may be filled by one that stood behind it. */
START_TEST(cleared_slot_by_slot_it_is_empty) {
    PointerTable table = {0};
    for (size_t i = 0; i < KEYS; i++)
        pointer_table_put(&table, objects[i], objects[i]);
    for (size_t at = table.capacity; at-- > 0;)
        while (table.slots[at].key)
            pointer_table_clear(&table, at);
    ck_assert_uint_eq(table.count, 0);
    for (size_t i = 0; i < KEYS; i++)
        ck_assert_ptr_null(pointer_table_get(&table, objects[i]));
    free(table.slots);
}
END_TEST

Suite *pointer_table_suite(void) {
    Suite *suite = suite_create("pointer_table");
    TCase *tcase = tcase_create("pointer_table");
    tcase_add_test(tcase, an_empty_table_has_nothing);
    tcase_add_test(tcase, what_is_put_again_is_replaced);
    tcase_add_test(tcase, after_any_puts_and_removals_each_key_has_its_value);
    tcase_add_test(tcase, cleared_slot_by_slot_it_is_empty);
    suite_add_tcase(suite, tcase);
    return suite;
}
