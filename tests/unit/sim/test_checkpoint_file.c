/* The file of a checkpoint: what was written comes back, anything else is refused with a reason. */
#include "tests/unit/sim/checkpoint_fixture.h"

#include <sys/stat.h>

enum { HEADER = 48 };

static Buffer bytes_of(const char *text) {
    Buffer buffer = {0};
    buffer_append(&buffer, text, strlen(text));
    return buffer;
}

static Buffer contents_of(const char *at) {
    Buffer buffer = {0};
    uint8_t piece[4096];
    FILE *file = fopen(at, "rb");
    ck_assert_ptr_nonnull(file);
    for (size_t count; (count = fread(piece, 1, sizeof piece, file)) > 0;)
        buffer_append(&buffer, piece, count);
    fclose(file);
    return buffer;
}

/* --- Round trips ----------------------------------------------------------------------------- */

START_TEST(sections_come_back_as_they_were) {
    CheckpointSection sections[] = {{"empty", {0}},
                                    {"a text", bytes_of("once upon a time")},
                                    {"noise", noise(1, 3 * MIB + 17)},
                                    {"", bytes_of("without a name")},
                                    {"one piece", noise(2, MIB)},
                                    {"zeros", {0}},
                                    {"byte", bytes_of("x")}};
    enum { COUNT = sizeof sections / sizeof *sections };
    uint8_t zeros[4096] = {0};
    for (int i = 0; i < 5000; i++)
        buffer_append(&sections[5].bytes, zeros, sizeof zeros);
    ck_assert_msg(checkpoint_file_write(path, sections, COUNT, why, sizeof why), "%s", why);
    ck_assert_int_eq(other_files(false), 0);
    Buffer bytes = contents_of(path);
    ck_assert_uint_lt(bytes.count, 4 * MIB + 50000);
    for (int from_memory = 0; from_memory < 2; from_memory++) {
        CheckpointFile *file = from_memory ? checkpoint_file_parse(bytes.bytes, bytes.count, why, sizeof why)
                                           : checkpoint_file_open(path, why, sizeof why);
        ck_assert_msg(file != NULL, "%s", why);
        ck_assert_uint_eq(checkpoint_file_count(file), COUNT);
        uint64_t stored = 0;
        for (uint32_t i = COUNT; i-- > 0;) {
            ck_assert_str_eq(checkpoint_file_name(file, i), sections[i].name);
            ck_assert_uint_eq(checkpoint_file_bytes(file, i), sections[i].bytes.count);
            stored += checkpoint_file_stored_bytes(file, i);
            expect_section(file, sections[i].name, &sections[i].bytes);
        }
        ck_assert_uint_eq(HEADER + COUNT * 37 + 7 + 5 + 6 + 9 + 5 + 4 - 2 + stored, bytes.count);
        ck_assert_ptr_null(checkpoint_file_section(file, "noises", why, sizeof why));
        ck_assert_str_eq(why, "it has no section noises");
        checkpoint_file_close(file);
    }
    buffer_free(&bytes);
    for (uint32_t i = 0; i < COUNT; i++)
        buffer_free(&sections[i].bytes);
}
END_TEST

START_TEST(a_file_may_have_no_sections) {
    ck_assert(checkpoint_file_write(path, NULL, 0, why, sizeof why));
    CheckpointFile *file = checkpoint_file_open(path, why, sizeof why);
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(checkpoint_file_count(file), 0);
    checkpoint_file_close(file);
}
END_TEST

START_TEST(the_same_sections_make_the_same_file) {
    CheckpointSection section = {"noise", noise(5, 100000)};
    ck_assert(checkpoint_file_write(path, &section, 1, why, sizeof why));
    Buffer first = contents_of(path);
    ck_assert(checkpoint_file_write(path, &section, 1, why, sizeof why));
    Buffer second = contents_of(path);
    ck_assert_uint_eq(first.count, second.count);
    ck_assert_mem_eq(first.bytes, second.bytes, first.count);
    buffer_free(&first);
    buffer_free(&second);
    buffer_free(&section.bytes);
}
END_TEST

/* --- Damage ---------------------------------------------------------------------------------- */

/* A small file of three sections, and where it has got what. */
typedef struct {
    CheckpointSection sections[3];
    Buffer bytes;
    size_t start[4]; /* of each section, and the end */
} Small;

static Small make_small(void) {
    Small small = {.sections = {{"run", bytes_of("gtx480 kmeans gto gto gto gto gto gto")},
                                {"empty", {0}},
                                {"memory", noise(3, 150)}}};
    ck_assert(checkpoint_file_write(path, small.sections, 3, why, sizeof why));
    small.bytes = contents_of(path);
    CheckpointFile *file = checkpoint_file_parse(small.bytes.bytes, small.bytes.count, why, sizeof why);
    ck_assert_ptr_nonnull(file);
    small.start[0] = HEADER + 3 * 37 + 3 + 5 + 6;
    for (uint32_t i = 0; i < 3; i++)
        small.start[i + 1] = small.start[i] + checkpoint_file_stored_bytes(file, i);
    ck_assert_uint_eq(small.start[3], small.bytes.count);
    checkpoint_file_close(file);
    return small;
}

static void free_small(Small *small) {
    for (int i = 0; i < 3; i++)
        buffer_free(&small->sections[i].bytes);
    buffer_free(&small->bytes);
}

/* How many of the three sections can be had, each as it was. */
static int good_sections(const Small *small, CheckpointFile *file) {
    int good = 0;
    ck_assert_uint_eq(checkpoint_file_count(file), 3);
    for (uint32_t i = 0; i < 3; i++) {
        const Buffer *got = checkpoint_file_section(file, small->sections[i].name, why, sizeof why);
        if (!got) {
            ck_assert_ptr_nonnull(strstr(why, "damaged: section "));
            ck_assert_ptr_nonnull(strstr(why, small->sections[i].name));
            continue;
        }
        ck_assert_uint_eq(got->count, small->sections[i].bytes.count);
        if (got->count) ck_assert(memcmp(got->bytes, small->sections[i].bytes.bytes, got->count) == 0);
        good++;
    }
    return good;
}

START_TEST(a_file_cut_off_anywhere_is_refused) {
    Small small = make_small();
    for (size_t count = 0; count < small.bytes.count; count++) {
        char place[64] = "the header";
        if (count >= HEADER) snprintf(place, sizeof place, "the table");
        for (int i = 0; i < 3; i++)
            if (count >= small.start[i]) snprintf(place, sizeof place, "section %s", small.sections[i].name);
        put(path, small.bytes.bytes, count);
        for (int from_memory = 0; from_memory < 2; from_memory++) {
            why[0] = 0;
            CheckpointFile *file = from_memory
                                       ? checkpoint_file_parse(small.bytes.bytes, count, why, sizeof why)
                                       : checkpoint_file_open(path, why, sizeof why);
            ck_assert_msg(file == NULL, "%zu bytes", count);
            ck_assert_msg(strstr(why, "truncated: ") == why, "%zu bytes: %s", count, why);
            ck_assert_msg(strstr(why, place) != NULL, "%zu bytes: %s, not %s", count, why, place);
        }
    }
    free_small(&small);
}
END_TEST

START_TEST(any_byte_changed_is_found) {
    Small small = make_small();
    for (size_t at = 0; at < small.bytes.count; at++) {
        for (unsigned flip = 1; flip < 256; flip++) {
            small.bytes.bytes[at] ^= (uint8_t)flip;
            CheckpointFile *file = checkpoint_file_parse(small.bytes.bytes, small.bytes.count, why,
                                                         sizeof why);
            ck_assert_msg((file != NULL) == (at >= small.start[0]), "byte %zu changed by %u: %s", at, flip,
                          why);
            if (file) {
                ck_assert_int_eq(good_sections(&small, file), 2);
                checkpoint_file_close(file);
            }
            small.bytes.bytes[at] ^= (uint8_t)flip;
        }
    }
    free_small(&small);
}
END_TEST

START_TEST(bytes_behind_the_end_are_refused) {
    Small small = make_small();
    buffer_append(&small.bytes, "\0\0", 2);
    ck_assert_ptr_null(checkpoint_file_parse(small.bytes.bytes, small.bytes.count, why, sizeof why));
    ck_assert_str_eq(why, "damaged: 2 bytes after its end");
    free_small(&small);
}
END_TEST

START_TEST(another_format_version_is_named) {
    Small small = make_small();
    uint32_t version = 7;
    memcpy(small.bytes.bytes + 8, &version, sizeof version);
    put(path, small.bytes.bytes, small.bytes.count);
    ck_assert_ptr_null(checkpoint_file_open(path, why, sizeof why));
    ck_assert_str_eq(why, "expected format version 6, got 7");
    free_small(&small);
}
END_TEST

START_TEST(a_file_that_shrinks_after_it_was_opened_is_refused) {
    Small small = make_small();
    CheckpointFile *file = checkpoint_file_open(path, why, sizeof why);
    ck_assert_ptr_nonnull(file);
    expect_section(file, "run", &small.sections[0].bytes);
    ck_assert_int_eq(truncate(path, (off_t)small.bytes.count - 1), 0);
    ck_assert_ptr_null(checkpoint_file_section(file, "memory", why, sizeof why));
    ck_assert_str_eq(why, "it became shorter while it was read");
    expect_section(file, "run", &small.sections[0].bytes);
    checkpoint_file_close(file);
    free_small(&small);
}
END_TEST

static void expect_not_a_checkpoint(const char *at) {
    ck_assert_ptr_null(checkpoint_file_open(at, why, sizeof why));
    ck_assert_msg(strstr(why, "not a checkpoint") == why, "%s: %s", at, why);
}

START_TEST(foreign_files_are_refused) {
    put(path, "-- a Lua script, longer than the header of a checkpoint is\n", 59);
    expect_not_a_checkpoint(path);
    put(path, "\n", 1);
    expect_not_a_checkpoint(path);
    expect_not_a_checkpoint("/proc/self/exe");
    expect_not_a_checkpoint(folder);
    expect_not_a_checkpoint("/dev/null");
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    expect_not_a_checkpoint(path);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_ptr_null(checkpoint_file_open(path, why, sizeof why));
    ck_assert_str_eq(why, "cannot open it: No such file or directory");
}
END_TEST

/* --- Tables that lie ------------------------------------------------------------------------- */

/* The second row of a small file's table, with right digests whatever it says. */
typedef struct {
    uint32_t count; /* of rows, in the header */
    uint64_t table_bytes, file_bytes;
    uint32_t name_bytes;
    const char *name; /* "empty" of the small file */
    uint64_t raw_bytes, stored_bytes;
    uint64_t wrong_raw_digest, wrong_stored_digest; /* 0: the right ones */
} Lie;

static Buffer file_with(const Small *small, const Lie *lie) {
    const size_t row = HEADER + 37 + 3;
    Buffer file = {0};
    buffer_append(&file, small->bytes.bytes, small->bytes.count);
    memcpy(file.bytes + row, &lie->name_bytes, 4);
    memcpy(file.bytes + row + 4, lie->name, 6);
    memcpy(file.bytes + row + 10, &lie->raw_bytes, 8);
    memcpy(file.bytes + row + 18, &lie->stored_bytes, 8);
    if (lie->wrong_raw_digest) memcpy(file.bytes + row + 26, &lie->wrong_raw_digest, 8);
    if (lie->wrong_stored_digest) memcpy(file.bytes + row + 34, &lie->wrong_stored_digest, 8);
    memcpy(file.bytes + 12, &lie->count, 4);
    memcpy(file.bytes + 16, &lie->table_bytes, 8);
    memcpy(file.bytes + 24, &lie->file_bytes, 8);
    uint64_t table = hash_bytes(0, file.bytes + HEADER, small->start[0] - HEADER);
    memcpy(file.bytes + 32, &table, 8);
    uint64_t header = hash_bytes(0, file.bytes, HEADER - 8);
    memcpy(file.bytes + 40, &header, 8);
    return file;
}

static void expect_refused(const Small *small, Lie lie, const char *reason) {
    Buffer file = file_with(small, &lie);
    CheckpointFile *opened = checkpoint_file_parse(file.bytes, file.count, why, sizeof why);
    if (opened) {
        ck_assert_msg(good_sections(small, opened) == 2, "%s", reason);
        checkpoint_file_close(opened);
    }
    ck_assert_msg(strstr(why, reason) == why, "%s, not %s", why, reason);
    buffer_free(&file);
}

START_TEST(tables_that_lie_are_refused) {
    Small small = make_small();
    uint64_t stored = small.start[2] - small.start[1], table = small.start[0] - HEADER;
    const Lie truth = {3, table, small.bytes.count, 5, "empty", 0, stored, 0, 0};
    Buffer file = file_with(&small, &truth);
    ck_assert_uint_eq(file.count, small.bytes.count);
    ck_assert_mem_eq(file.bytes, small.bytes.bytes, file.count);
    buffer_free(&file);

    Lie lie = truth;
    uint64_t sizes[] = {1, 4096, stored << 15, ((stored + 1) << 15) - 1};
    for (size_t i = 0; i < 4; i++) {
        lie.raw_bytes = sizes[i];
        expect_refused(&small, lie, "damaged: section empty");
    }
    lie = truth;
    lie.wrong_raw_digest = 1;
    expect_refused(&small, lie, "damaged: section empty");
    lie = truth;
    lie.wrong_stored_digest = 1;
    expect_refused(&small, lie, "damaged: section empty");
    uint64_t huge[] = {(stored + 1) << 15, 1ull << 60, UINT64_MAX};
    for (size_t i = 0; i < 3; i++) {
        lie.raw_bytes = huge[i];
        expect_refused(&small, lie, "damaged: row 1 of its table");
    }
    lie = truth;
    uint64_t places[] = {small.bytes.count, UINT64_MAX, UINT64_MAX - small.start[1] + 1};
    for (size_t i = 0; i < 3; i++) {
        lie.stored_bytes = places[i];
        expect_refused(&small, lie, "damaged: row 1 of its table");
    }
    lie.stored_bytes = stored - 1;
    expect_refused(&small, lie, "damaged: its table and its header contradict each other");
    lie = truth;
    lie.count = 2;
    expect_refused(&small, lie, "damaged: its table and its header contradict each other");
    lie.file_bytes = small.start[2];
    expect_refused(&small, lie, "damaged: its table and its header contradict each other");
    lie.file_bytes = truth.file_bytes;
    lie.count = 4;
    expect_refused(&small, lie, "damaged: its header");
    lie.count = UINT32_MAX;
    expect_refused(&small, lie, "damaged: its header");
    lie = truth;
    uint64_t ends[] = {0, HEADER - 1, HEADER, small.start[0] - 1};
    for (size_t i = 0; i < 4; i++) {
        lie.file_bytes = ends[i];
        expect_refused(&small, lie, "damaged: its header");
    }
    lie.file_bytes = truth.file_bytes - 1;
    expect_refused(&small, lie, "damaged: row 2 of its table");
    lie.file_bytes = UINT64_MAX;
    expect_refused(&small, lie, "damaged: its table and its header contradict each other");
    lie.table_bytes = UINT64_MAX - HEADER;
    expect_refused(&small, lie, "truncated: ");
    lie = truth;
    uint32_t lengths[] = {4, 6, 1000, UINT32_MAX};
    for (size_t i = 0; i < 4; i++) {
        lie.name_bytes = lengths[i];
        expect_refused(&small, lie, "damaged: row 1 of its table");
    }
    lie = truth;
    lie.name = "em\0ty";
    expect_refused(&small, lie, "damaged: row 1 of its table");
    lie.name = "em\033ty";
    expect_refused(&small, lie, "damaged: row 1 of its table");
    free_small(&small);
}
END_TEST

Suite *checkpoint_file_suite(void) {
    Suite *suite = suite_create("checkpoint_file");
    TCase *cases = tcase_create("checkpoint_file");
    tcase_add_checked_fixture(cases, make_folder, remove_folder);
    tcase_add_test(cases, sections_come_back_as_they_were);
    tcase_add_test(cases, a_file_may_have_no_sections);
    tcase_add_test(cases, the_same_sections_make_the_same_file);
    tcase_add_test(cases, a_file_cut_off_anywhere_is_refused);
    tcase_add_test(cases, any_byte_changed_is_found);
    tcase_add_test(cases, bytes_behind_the_end_are_refused);
    tcase_add_test(cases, another_format_version_is_named);
    tcase_add_test(cases, a_file_that_shrinks_after_it_was_opened_is_refused);
    tcase_add_test(cases, foreign_files_are_refused);
    tcase_add_test(cases, tables_that_lie_are_refused);
    suite_add_tcase(suite, cases);
    return suite;
}
