/* Histograms: which values share a bucket, and what is kept of them. */
#include "core/sim/base/histogram.h"

#include "tests/unit/suites.h"

START_TEST(small_values_have_a_bucket_each) {
    for (uint64_t value = 0; value < HISTOGRAM_EXACT; value++) {
        ck_assert_uint_eq(histogram_bucket(value), value);
        ck_assert_uint_eq(histogram_from((uint32_t)value), value);
    }
}
END_TEST

START_TEST(buckets_follow_each_other_and_hold_an_eighth_of_a_power_of_two) {
    for (uint32_t bucket = 0; bucket + 1 < HISTOGRAM_BUCKETS; bucket++) {
        uint64_t from = histogram_from(bucket), next = histogram_from(bucket + 1);
        ck_assert_uint_gt(next, from);
        ck_assert_uint_eq(histogram_bucket(from), bucket);
        ck_assert_uint_eq(histogram_bucket(next - 1), bucket);
        ck_assert_uint_eq(histogram_bucket(next), bucket + 1);
        ck_assert(bucket < HISTOGRAM_EXACT || next - from <= from / 8);
    }
    ck_assert_uint_eq(histogram_bucket(UINT64_MAX), HISTOGRAM_BUCKETS - 1);
    ck_assert_uint_eq(histogram_bucket(100), histogram_bucket(103));
    ck_assert_uint_ne(histogram_bucket(100), histogram_bucket(104));
}
END_TEST

START_TEST(count_sum_and_largest_value_are_exact) {
    static Histogram h;
    histogram_add(&h, 5, 3);
    histogram_add(&h, 101, 2);
    histogram_add(&h, 7, 0);
    ck_assert_uint_eq(h.count, 5);
    ck_assert_uint_eq(h.sum, 5 * 3 + 101 * 2);
    ck_assert_uint_eq(h.max, 101);
    ck_assert_uint_eq(h.bucket[5], 3);
    ck_assert_uint_eq(h.bucket[7], 0);
    ck_assert_uint_eq(h.bucket[histogram_bucket(101)], 2);
    ck_assert_uint_eq(histogram_last(&h, histogram_bucket(101)), 101);
    ck_assert_uint_eq(histogram_last(&h, 5), 5);
    histogram_add(&h, 200, 1);
    ck_assert_uint_eq(histogram_last(&h, histogram_bucket(101)), 103);
}
END_TEST

Suite *histogram_suite(void) {
    Suite *suite = suite_create("histogram");
    TCase *tcase = tcase_create("histogram");
    tcase_add_test(tcase, small_values_have_a_bucket_each);
    tcase_add_test(tcase, buckets_follow_each_other_and_hold_an_eighth_of_a_power_of_two);
    tcase_add_test(tcase, count_sum_and_largest_value_are_exact);
    suite_add_tcase(suite, tcase);
    return suite;
}
