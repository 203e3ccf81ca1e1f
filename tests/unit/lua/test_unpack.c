/* LZ4 blocks and zstd frames of fat binaries: what was packed comes back, and no bytes do harm. */
#include "core/lua/cuda/unpack.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

Suite *unpack_suite(void);

START_TEST(matches_repeat_what_was_made) {
    const uint8_t block[] = {0x35, 'a', 'b', 'c', 3, 0, 0x50, 'X', 'Y', 'Z', '1', '2'};
    char text[17];
    ck_assert(unpack_lz4(block, sizeof block, (uint8_t *)text, sizeof text));
    ck_assert_mem_eq(text, "abcabcabcabcXYZ12", sizeof text);
}
END_TEST

/* 1 literal, a match of 15 + 255 + 10 + 4 bytes one back; then 15 + 3 literals. */
START_TEST(lengths_go_on_in_further_bytes) {
    uint8_t block[] = {0x1f, 'a', 1,   0,   255, 10,  0xf0, 3,   '1', '2', '3', '4', '5',
                       '6',  '7', '8', '9', 'a', 'b', 'c',  'd', 'e', 'f', 'g', 'h', 'i'};
    uint8_t text[1 + 284 + 18];
    ck_assert(unpack_lz4(block, sizeof block, text, sizeof text));
    ck_assert_int_eq(text[0], 'a');
    ck_assert_int_eq(text[284], 'a');
    ck_assert_int_eq(text[285], '1');
    ck_assert_int_eq(text[302], 'i');
    ck_assert(!unpack_lz4(block, sizeof block, text, sizeof text - 1));
    ck_assert(!unpack_lz4(block, sizeof block - 1, text, sizeof text));
}
END_TEST

START_TEST(a_match_reaches_back_into_what_is_there) {
    const uint8_t before_the_start[] = {0x15, 'a', 2, 0, 0x10, 'b'},
                  no_distance[] = {0x15, 'a', 0, 0, 0x10, 'b'}, cut_off[] = {0x15, 'a', 1};
    uint8_t text[11];
    ck_assert(!unpack_lz4(before_the_start, sizeof before_the_start, text, sizeof text));
    ck_assert(!unpack_lz4(no_distance, sizeof no_distance, text, sizeof text));
    ck_assert(!unpack_lz4(cut_off, sizeof cut_off, text, sizeof text));
}
END_TEST

START_TEST(zstd_frames_have_their_size) {
    char text[] = "the same the same the same the same", back[sizeof text];
    uint8_t frame[200];
    size_t count = ZSTD_compress(frame, sizeof frame, text, sizeof text, 1);
    ck_assert(unpack_zstd(frame, count, (uint8_t *)back, sizeof back));
    ck_assert_str_eq(back, text);
    ck_assert(!unpack_zstd(frame, count, (uint8_t *)back, sizeof back - 1));
    ck_assert(!unpack_zstd(frame, count - 1, (uint8_t *)back, sizeof back));
}
END_TEST

/* The sanitizers look at it. */
START_TEST(random_bytes_stay_within_bounds) {
    uint64_t state = 88172645463325252ull;
    for (size_t turn = 0; turn < 20000; turn++) {
        size_t count = 1 + turn % 64, size = 1 + turn % 97;
        uint8_t *block = malloc(count), *text = malloc(size);
        for (size_t i = 0; i < count; i++) {
            state ^= state << 13, state ^= state >> 7, state ^= state << 17;
            block[i] = (uint8_t)(state >> 32) & (turn % 2 ? 0x1f : 0xff);
        }
        unpack_lz4(block, count, text, size);
        unpack_zstd(block, count, text, size);
        free(block);
        free(text);
    }
}
END_TEST

Suite *unpack_suite(void) {
    Suite *suite = suite_create("unpack");
    TCase *cases = tcase_create("unpack");
    tcase_add_test(cases, matches_repeat_what_was_made);
    tcase_add_test(cases, lengths_go_on_in_further_bytes);
    tcase_add_test(cases, a_match_reaches_back_into_what_is_there);
    tcase_add_test(cases, zstd_frames_have_their_size);
    tcase_add_test(cases, random_bytes_stay_within_bounds);
    suite_add_tcase(suite, cases);
    return suite;
}
