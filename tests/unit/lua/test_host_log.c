/* The log of host calls: what was answered is answered again, the first call that differs is named, a kernel
 * that was running is answered by whoever ends it, and damaged bytes are refused. */
#include "core/lua/host/host_log.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Suite *host_log_suite(void);

enum { KIB = 1024 };

static char why[256];

/* --- Logs ------------------------------------------------------------------------------------ */

static void call(HostLog *log, uint64_t digest, const char *text) {
    host_log_call(log, digest, "%s", text);
}

static void call_and_answer(HostLog *log, uint64_t digest, const char *text, const void *bytes,
                            uint64_t count) {
    call(log, digest, text);
    host_log_answer(log, bytes, count);
}

/* Saves a log, frees it, and loads it into a new one. */
static HostLog again(HostLog *log) {
    Buffer saved = {0};
    HostLog loaded = {0};
    host_log_save(log, &saved);
    host_log_free(log);
    Reader reader = {.bytes = saved.bytes, .count = saved.count};
    ck_assert_msg(host_log_load(&loaded, &reader, why, sizeof why), "%s", why);
    buffer_free(&saved);
    return loaded;
}

static void expect_answer(HostLog *log, uint64_t digest, const char *text, const void *want, uint64_t count) {
    uint8_t *bytes = malloc(count + 1);
    call(log, digest, text);
    ck_assert(host_log_take(log, bytes, count));
    if (count) ck_assert_mem_eq(bytes, want, count);
    free(bytes);
}

/* --- Replaying ------------------------------------------------------------------------------- */

START_TEST(answers_of_any_size_come_back) {
    static const uint64_t sizes[] = {0, 1, 48, 4 * KIB - 1, 4 * KIB, 4 * KIB + 1, 300 * KIB};
    enum { COUNT = sizeof sizes / sizeof *sizes };
    HostLog log = {0};
    uint8_t *noise = malloc(300 * KIB), *zeros = calloc(300, KIB);
    uint64_t state = 1;
    for (size_t i = 0; i < 300 * KIB; i++)
        noise[i] = (uint8_t)((state = state * 6364136223846793005u + 1442695040888963407u) >> 56);
    for (int i = 0; i < COUNT; i++) {
        call_and_answer(&log, 2, "noise", noise, sizes[i]);
        call_and_answer(&log, 3, "zeros", zeros, sizes[i]);
    }
    log = again(&log);
    for (int i = 0; i < COUNT; i++) {
        ck_assert(host_log_replaying(&log));
        expect_answer(&log, 2, "noise", noise, sizes[i]);
        expect_answer(&log, 3, "zeros", zeros, sizes[i]);
    }
    ck_assert(!host_log_replaying(&log));
    host_log_end_program(&log);
    host_log_free(&log);
    free(noise);
    free(zeros);
}
END_TEST

START_TEST(answers_that_compress_are_stored_small) {
    HostLog log = {0};
    uint8_t *zeros = calloc(300, KIB);
    Buffer saved = {0};
    call_and_answer(&log, 1, "zeros", zeros, 300 * KIB);
    host_log_save(&log, &saved);
    ck_assert_uint_lt(saved.count, KIB);
    host_log_free(&log);
    buffer_free(&saved);
    free(zeros);
}
END_TEST

START_TEST(a_program_ahead_of_the_log_is_not_answered_but_noted) {
    HostLog log = {0};
    uint32_t answer = 7, other = 8;
    call_and_answer(&log, 1, "first", &answer, sizeof answer);
    log = again(&log);
    expect_answer(&log, 1, "first", &answer, sizeof answer);
    call(&log, 2, "second");
    ck_assert(!host_log_take(&log, &other, sizeof other));
    ck_assert_uint_eq(other, 8);
    host_log_answer(&log, &other, sizeof other);
    log = again(&log);
    expect_answer(&log, 1, "first", &answer, sizeof answer);
    expect_answer(&log, 2, "second", &other, sizeof other);
    host_log_free(&log);
}
END_TEST

START_TEST(a_call_repeated_for_its_effect_keeps_its_answer) {
    HostLog log = {0};
    uint32_t answer = 7;
    call_and_answer(&log, 1, "alloc", &answer, sizeof answer);
    log = again(&log);
    call_and_answer(&log, 1, "alloc", NULL, 0);
    ck_assert(!host_log_replaying(&log));
    log = again(&log);
    expect_answer(&log, 1, "alloc", &answer, sizeof answer);
    host_log_free(&log);
}
END_TEST

/* Saved during a launch, whose answer the resumed program finds out, which then saves: the answer is in the
 * second save as if there had been no first one. */
START_TEST(a_kernel_that_was_running_is_answered_by_the_resumed_program) {
    HostLog log = {0};
    uint64_t answer[6] = {1, 2, 3, 4, 5, 6};
    call_and_answer(&log, 1, "alloc", NULL, 0);
    call(&log, 2, "launch");
    log = again(&log);
    call_and_answer(&log, 1, "alloc", NULL, 0);
    call(&log, 2, "launch");
    ck_assert(host_log_replaying(&log));
    ck_assert(!host_log_take(&log, answer, sizeof answer));
    host_log_answer(&log, answer, sizeof answer);
    ck_assert(!host_log_replaying(&log));
    ck_assert_uint_eq(log.count, 2);
    log = again(&log);
    call_and_answer(&log, 1, "alloc", NULL, 0);
    expect_answer(&log, 2, "launch", answer, sizeof answer);
    host_log_free(&log);
}
END_TEST

START_TEST(a_kernel_that_still_runs_may_be_saved_again) {
    HostLog log = {0};
    call(&log, 2, "launch");
    log = again(&log);
    log = again(&log);
    call(&log, 2, "launch");
    ck_assert(!host_log_take(&log, NULL, 0));
    host_log_free(&log);
}
END_TEST

START_TEST(a_call_that_failed_is_not_kept) {
    HostLog log = {0};
    call(&log, 1, "alloc too much");
    call_and_answer(&log, 2, "alloc 4 bytes", NULL, 0);
    call(&log, 3, "launch something too large");
    host_log_forget_failed_call(&log);
    host_log_forget_failed_call(&log); /* it forgets none that has an answer */
    log = again(&log);
    ck_assert_uint_eq(log.count, 1);
    call_and_answer(&log, 2, "alloc 4 bytes", NULL, 0);
    ck_assert(!host_log_replaying(&log));
    host_log_free(&log);
}
END_TEST

START_TEST(a_kernel_that_was_running_is_no_call_that_failed) {
    HostLog log = {0};
    call(&log, 1, "launch");
    log = again(&log);
    host_log_forget_failed_call(&log);
    ck_assert_uint_eq(log.count, 1);
    call(&log, 1, "launch");
    host_log_forget_failed_call(&log);
    ck_assert_uint_eq(log.count, 1);
    host_log_free(&log);
}
END_TEST

START_TEST(a_program_after_another_one_is_told_from_its_end) {
    HostLog log = {0};
    call_and_answer(&log, 1, "alloc 4 bytes", NULL, 0);
    host_log_end_program(&log);
    call_and_answer(&log, 2, "alloc 8 bytes", NULL, 0);
    log = again(&log);
    call_and_answer(&log, 1, "alloc 4 bytes", NULL, 0);
    host_log_end_program(&log);
    ck_assert(host_log_replaying(&log));
    call_and_answer(&log, 2, "alloc 8 bytes", NULL, 0);
    ck_assert(!host_log_replaying(&log));
    host_log_free(&log);
}
END_TEST

/* --- Programs that differ -------------------------------------------------------------------- */

typedef struct {
    HostLog *log;
    uint64_t digest;
    const char *text;
} Next;

static void make_call(void *context) {
    Next *next = context;
    call(next->log, next->digest, next->text);
}

static void end(void *context) {
    host_log_end_program(context);
}

static void expect_error(const char *message, const char *want) {
    ck_assert_ptr_nonnull(message);
    ck_assert_msg(strstr(message, want) != NULL, "'%s' is not in: %s", want, message);
}

START_TEST(the_first_call_that_differs_is_named) {
    HostLog log = {0};
    call_and_answer(&log, 1, "alloc 4 bytes", NULL, 0);
    call_and_answer(&log, 2, "alloc 8 bytes", NULL, 0);
    log = again(&log);
    call_and_answer(&log, 1, "alloc 4 bytes", NULL, 0);
    expect_error(
        user_error_catch(make_call, &(Next){&log, 2, "alloc 9 bytes"}),
        "call 2 of the host program: expected 'alloc 8 bytes' as in the checkpoint, got 'alloc 9 bytes'");
    expect_error(user_error_catch(make_call, &(Next){&log, 3, "alloc 8 bytes"}),
                 "call 2 of the host program: expected 'alloc 8 bytes' with the contents of the checkpoint, "
                 "got others");
    ck_assert_ptr_null(user_error_catch(make_call, &(Next){&log, 2, "alloc 8 bytes"}));
    host_log_free(&log);
}
END_TEST

START_TEST(a_program_that_ends_before_the_log_does_is_told_what_it_left_out) {
    HostLog log = {0};
    call_and_answer(&log, 1, "alloc 4 bytes", NULL, 0);
    call(&log, 2, "launch");
    log = again(&log);
    call_and_answer(&log, 1, "alloc 4 bytes", NULL, 0);
    expect_error(user_error_catch(end, &log),
                 "call 2 of the host program: expected 'launch' as in the checkpoint, got its end");
    host_log_free(&log);
}
END_TEST

START_TEST(calls_with_long_names_are_compared_as_far_as_they_are_kept) {
    HostLog log = {0};
    char text[2000];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = 0;
    call_and_answer(&log, 1, text, NULL, 0);
    log = again(&log);
    call_and_answer(&log, 1, text, NULL, 0);
    ck_assert(!host_log_replaying(&log));
    host_log_free(&log);
}
END_TEST

/* --- Damage ---------------------------------------------------------------------------------- */

typedef struct {
    HostLog *log;
    uint64_t bytes;
} Take;

static void take(void *context) {
    Take *t = context;
    uint8_t bytes[64];
    host_log_take(t->log, bytes, t->bytes);
}

START_TEST(an_answer_of_another_size_is_damage) {
    HostLog log = {0};
    uint64_t answer = 1;
    call_and_answer(&log, 1, "read 8 bytes", &answer, sizeof answer);
    log = again(&log);
    call(&log, 1, "read 8 bytes");
    expect_error(user_error_catch(take, &(Take){&log, 4}),
                 "call 1 of the host program: the checkpoint's answer to 'read 8 bytes' is damaged");
    host_log_free(&log);
}
END_TEST

static Buffer sample(void) {
    HostLog log = {0};
    Buffer saved = {0};
    uint8_t *zeros = calloc(8, KIB);
    call_and_answer(&log, 1, "alloc 4 bytes", NULL, 0);
    call_and_answer(&log, 2, "download", zeros, 8 * KIB);
    call(&log, 3, "launch");
    host_log_save(&log, &saved);
    host_log_free(&log);
    free(zeros);
    return saved;
}

static bool loads(const uint8_t *bytes, size_t count) {
    HostLog log = {0};
    Reader reader = {.bytes = bytes, .count = count};
    why[0] = 0;
    bool good = host_log_load(&log, &reader, why, sizeof why);
    host_log_free(&log);
    return good;
}

START_TEST(a_log_that_is_cut_off_is_refused) {
    Buffer saved = sample();
    ck_assert(loads(saved.bytes, saved.count));
    for (size_t count = 0; count < saved.count; count++) {
        uint8_t *exact = malloc(count + 1); /* so that a sanitizer sees reads behind the end */
        memcpy(exact, saved.bytes, count);
        ck_assert_msg(!loads(exact, count), "%zu bytes", count);
        ck_assert_msg(strstr(why, "damaged") != NULL, "%s", why);
        free(exact);
    }
    buffer_free(&saved);
}
END_TEST

START_TEST(bytes_behind_the_end_are_refused) {
    Buffer saved = sample();
    buffer_append(&saved, "x", 1);
    ck_assert(!loads(saved.bytes, saved.count));
    ck_assert_str_eq(why, "the log of host calls is damaged");
    buffer_free(&saved);
}
END_TEST

static void take_download(void *context) {
    static uint8_t bytes[8 * KIB];
    host_log_take(context, bytes, sizeof bytes);
}

static void replay(HostLog *log) {
    while (host_log_replaying(log)) {
        HostCall *next = &log->calls[log->replayed];
        Next same = {log, next->digest, next->text};
        if (user_error_catch(make_call, &same)) return;
        if (!next->answered) return;
        if (next->answer_bytes == 8 * KIB) {
            if (user_error_catch(take_download, log)) return;
        } else {
            host_log_answer(log, NULL, 0);
        }
    }
}

/* The file's digests find such damage before this does; whoever forges them shall not crash the program. */
START_TEST(changed_bytes_are_refused_or_harmless) {
    Buffer saved = sample();
    for (size_t at = 0; at < saved.count; at++) {
        for (int bit = 0; bit < 8; bit++) {
            HostLog log = {0};
            saved.bytes[at] ^= (uint8_t)(1 << bit);
            Reader reader = {.bytes = saved.bytes, .count = saved.count};
            if (host_log_load(&log, &reader, why, sizeof why)) replay(&log);
            host_log_free(&log);
            saved.bytes[at] ^= (uint8_t)(1 << bit);
        }
    }
    buffer_free(&saved);
}
END_TEST

START_TEST(only_the_last_call_may_be_without_an_answer) {
    HostLog log = {0};
    Buffer saved = {0};
    call_and_answer(&log, 1, "launch", NULL, 0);
    call(&log, 2, "launch");
    log.calls[0].answered = false;
    host_log_save(&log, &saved);
    host_log_free(&log);
    ck_assert(!loads(saved.bytes, saved.count));
    ck_assert_str_eq(why, "call 1 of the host program is damaged");
    buffer_free(&saved);
}
END_TEST

static void add_tests(TCase *tests) {
    tcase_add_test(tests, answers_of_any_size_come_back);
    tcase_add_test(tests, answers_that_compress_are_stored_small);
    tcase_add_test(tests, a_program_ahead_of_the_log_is_not_answered_but_noted);
    tcase_add_test(tests, a_call_repeated_for_its_effect_keeps_its_answer);
    tcase_add_test(tests, a_kernel_that_was_running_is_answered_by_the_resumed_program);
    tcase_add_test(tests, a_kernel_that_still_runs_may_be_saved_again);
    tcase_add_test(tests, a_call_that_failed_is_not_kept);
    tcase_add_test(tests, a_kernel_that_was_running_is_no_call_that_failed);
    tcase_add_test(tests, a_program_after_another_one_is_told_from_its_end);
    tcase_add_test(tests, the_first_call_that_differs_is_named);
    tcase_add_test(tests, a_program_that_ends_before_the_log_does_is_told_what_it_left_out);
    tcase_add_test(tests, calls_with_long_names_are_compared_as_far_as_they_are_kept);
    tcase_add_test(tests, an_answer_of_another_size_is_damage);
    tcase_add_test(tests, a_log_that_is_cut_off_is_refused);
    tcase_add_test(tests, bytes_behind_the_end_are_refused);
    tcase_add_test(tests, changed_bytes_are_refused_or_harmless);
    tcase_add_test(tests, only_the_last_call_may_be_without_an_answer);
}

Suite *host_log_suite(void) {
    Suite *suite = suite_create("host_log");
    TCase *tests = tcase_create("host_log");
    add_tests(tests);
    suite_add_tcase(suite, tests);
    return suite;
}
