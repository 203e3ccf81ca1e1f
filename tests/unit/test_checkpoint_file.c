/* The file of a checkpoint: what was written comes back, anything else is refused with a reason, and whatever
 * happens while it is written, the old file or the new one is there. */
#include "core/sim/checkpoint_file.h"

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

Suite *checkpoint_file_suite(void);

enum { HEADER = 48, MIB = 1 << 20 };

static char folder[64], path[128], why[300];

static void make_folder(void) {
    snprintf(folder, sizeof folder, "/tmp/warpwright-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a.ckpt", folder);
    why[0] = 0;
}

/* Files of the folder but `path`; removes them all when asked to. */
static int other_files(bool remove_all) {
    int count = 0;
    DIR *list = opendir(folder);
    for (const struct dirent *entry; list && (entry = readdir(list));) {
        if (entry->d_name[0] == '.') continue;
        if (strcmp(entry->d_name, "a.ckpt") != 0) count++;
        if (remove_all) unlinkat(dirfd(list), entry->d_name, 0);
    }
    if (list) closedir(list);
    return count;
}

static void remove_folder(void) {
    other_files(true);
    rmdir(folder);
}

static void put(const char *at, const void *bytes, size_t count) {
    FILE *file = fopen(at, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes, 1, count, file), count);
    ck_assert_int_eq(fclose(file), 0);
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

/* Bytes that do not compress. */
static Buffer noise(uint64_t seed, size_t count) {
    Buffer buffer = {0};
    for (uint64_t state = seed * 2 + 1; buffer.count < count;) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        buffer_u64(&buffer, state);
    }
    buffer.count = count;
    return buffer;
}

static Buffer bytes_of(const char *text) {
    Buffer buffer = {0};
    buffer_append(&buffer, text, strlen(text));
    return buffer;
}

static void expect_section(CheckpointFile *file, const char *name, const Buffer *want) {
    const Buffer *got = checkpoint_file_section(file, name, why, sizeof why);
    ck_assert_msg(got != NULL, "%s: %s", name, why);
    ck_assert_uint_eq(got->count, want->count);
    if (want->count) ck_assert_mem_eq(got->bytes, want->bytes, want->count);
    ck_assert_ptr_eq(checkpoint_file_section(file, name, why, sizeof why), got);
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
    ck_assert_str_eq(why, "damaged: 2 bytes behind its end");
    free_small(&small);
}
END_TEST

START_TEST(another_format_version_is_named) {
    Small small = make_small();
    uint32_t version = 7;
    memcpy(small.bytes.bytes + 8, &version, sizeof version);
    put(path, small.bytes.bytes, small.bytes.count);
    ck_assert_ptr_null(checkpoint_file_open(path, why, sizeof why));
    ck_assert_str_eq(why, "it has format version 7; this program reads version 1");
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

/* --- Files that cannot be written ------------------------------------------------------------ */

/* Writes `count` bytes of noise into `path`, with the generation that they are made from. */
static bool write_generation(uint64_t generation, size_t count) {
    CheckpointSection sections[2] = {{"generation", {0}}, {"noise", noise(generation, count)}};
    buffer_u64(&sections[0].bytes, generation);
    bool good = checkpoint_file_write(path, sections, 2, why, sizeof why);
    buffer_free(&sections[0].bytes);
    buffer_free(&sections[1].bytes);
    return good;
}

static uint64_t expect_some_generation(size_t count) {
    CheckpointFile *file = checkpoint_file_open(path, why, sizeof why);
    ck_assert_msg(file != NULL, "%s", why);
    const Buffer *section = checkpoint_file_section(file, "generation", why, sizeof why);
    ck_assert_ptr_nonnull(section);
    uint64_t generation;
    ck_assert_uint_eq(section->count, sizeof generation);
    memcpy(&generation, section->bytes, sizeof generation);
    Buffer want = noise(generation, count);
    expect_section(file, "noise", &want);
    buffer_free(&want);
    checkpoint_file_close(file);
    return generation;
}

static void expect_failed_write(uint64_t generation, size_t count, const char *reason) {
    ck_assert(!write_generation(generation, count));
    ck_assert_msg(strcmp(why, reason) == 0, "%s", why);
    ck_assert_int_eq(other_files(false), 0);
}

START_TEST(a_folder_that_is_missing_or_none_is_a_reason) {
    snprintf(path, sizeof path, "%s/none/a.ckpt", folder);
    expect_failed_write(1, 100, "cannot make a file in its folder: No such file or directory");
    snprintf(path, sizeof path, "%s/a.ckpt", folder);
    ck_assert(write_generation(1, 100));
    snprintf(path, sizeof path, "%s/a.ckpt/a.ckpt", folder);
    expect_failed_write(1, 100, "cannot make a file in its folder: Not a directory");
    path[0] = 0;
    expect_failed_write(1, 100, "cannot rename the file written: No such file or directory");
}
END_TEST

START_TEST(a_folder_without_the_right_to_write_is_a_reason) {
    ck_assert(write_generation(1, 100));
    ck_assert_int_eq(chmod(folder, 0555), 0);
    if (geteuid() == 0) ck_assert_int_eq(seteuid(65534), 0);
    expect_failed_write(2, 100, "cannot make a file in its folder: Permission denied");
    if (getuid() == 0) ck_assert_int_eq(seteuid(0), 0);
    ck_assert_int_eq(chmod(folder, 0755), 0);
    ck_assert_uint_eq(expect_some_generation(100), 1);
}
END_TEST

START_TEST(what_is_no_file_is_not_replaced) {
    struct stat status;
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    expect_failed_write(1, 100, "there is something else of this name that is no file");
    ck_assert_int_eq(stat(path, &status), 0);
    ck_assert(S_ISFIFO(status.st_mode));
    snprintf(path, sizeof path, "%s", folder);
    ck_assert(!write_generation(1, 100));
}
END_TEST

START_TEST(a_limit_on_the_size_of_files_leaves_the_old_file) {
    static const size_t limits[] = {0, 1, 100, MIB, 3 * MIB};
    ck_assert(write_generation(1, 100));
    signal(SIGXFSZ, SIG_IGN);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        struct rlimit before, limit;
        ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
        limit = before;
        limit.rlim_cur = limits[i];
        ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
        bool good = write_generation(2, 4 * MIB);
        ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
        ck_assert(!good);
        ck_assert_str_eq(why, "cannot write it: File too large");
        ck_assert_int_eq(other_files(false), 0);
        ck_assert_uint_eq(expect_some_generation(100), 1);
    }
    ck_assert(write_generation(2, 4 * MIB));
    ck_assert_uint_eq(expect_some_generation(4 * MIB), 2);
}
END_TEST

static bool put_line(const char *at, const char *text) {
    FILE *file = fopen(at, "w");
    if (!file) return false;
    fputs(text, file);
    return fclose(file) == 0;
}

/* Makes this process root of name spaces of its own; false where that is not allowed. */
static bool enter_name_space(void) {
    char user[32], group[32];
    snprintf(user, sizeof user, "0 %u 1", geteuid());
    snprintf(group, sizeof group, "0 %u 1", getegid());
    if (unshare(CLONE_NEWNS) == 0) return true;
    return unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 && put_line("/proc/self/uid_map", user) &&
           put_line("/proc/self/setgroups", "deny") && put_line("/proc/self/gid_map", group);
}

/* A small file system that ends with this process. */
static bool mount_small(const char *at, const char *options) {
    return enter_name_space() && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("tmpfs", at, "tmpfs", 0, options) == 0;
}

/* In a process of its own, whose name space is another. Its status says which check failed. */
static int fill_small_disk(void) {
    if (!mount_small(folder, "size=3m")) return 77;
    if (!write_generation(1, MIB)) return 1;
    if (write_generation(2, 4 * MIB) || strcmp(why, "cannot write it: No space left on device") != 0)
        return 2;
    if (other_files(false) != 0) return 3;
    if (expect_some_generation(MIB) != 1) return 4;
    if (!write_generation(3, MIB) || expect_some_generation(MIB) != 3) return 5;
    return 0;
}

START_TEST(a_full_disk_leaves_the_old_file) {
    int status;
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) _exit(fill_small_disk());
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    if (WEXITSTATUS(status) != 77) ck_assert_int_eq(WEXITSTATUS(status), 0);
}
END_TEST

/* --- Writers that die ------------------------------------------------------------------------ */

START_TEST(a_killed_writer_leaves_the_old_file_or_the_new_one) {
    enum { KILLS = 50, BYTES = 4 * MIB };
    int left_behind = 0;
    uint64_t generation = 0;
    ck_assert(write_generation(generation, BYTES));
    for (int i = 0; i < KILLS; i++) {
        pid_t child = fork();
        ck_assert_int_ge(child, 0);
        if (child == 0) {
            while (write_generation(++generation, BYTES))
                continue;
            _exit(1);
        }
        usleep((useconds_t)(1000 + i * 7919 % 40000));
        kill(child, SIGKILL);
        int status;
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert(WIFSIGNALED(status));
        int others = other_files(false);
        ck_assert_int_le(others, 1);
        left_behind += others;
        uint64_t found = expect_some_generation(BYTES);
        ck_assert_uint_ge(found, generation);
        generation = found;
    }
    ck_assert_int_gt(left_behind, 0); /* or this test has tested nothing */
    ck_assert(write_generation(generation, BYTES));
    ck_assert_int_eq(other_files(false), 0);
}
END_TEST

static pid_t dead_process(void) {
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) _exit(0);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    return child;
}

/* A path in the folder: this name with the number of a process behind it. */
static const char *beside(const char *name, pid_t process) {
    static char other[160];
    snprintf(other, sizeof other, "%s/%s%ld", folder, name, (long)process);
    return other;
}

static bool is_there(const char *at) {
    return access(at, F_OK) == 0;
}

START_TEST(temporaries_of_dead_processes_are_removed) {
    pid_t dead = dead_process();
    put(beside("a.ckpt.tmp-", dead), "x", 1);
    put(beside("a.ckpt.tmp-", getpid()), "x", 1); /* of an earlier process with this number */
    ck_assert_int_eq(other_files(false), 2);
    ck_assert(write_generation(1, 100));
    ck_assert_int_eq(other_files(false), 0);
}
END_TEST

START_TEST(what_is_no_temporary_of_a_dead_process_stays) {
    static const char *const names[] = {"a.ckpt.tmp-x", "b.ckpt.tmp-", "a.ckpt.tmp", "a.ckpt.tmp-1234567890",
                                        "aa.ckpt.tmp-"};
    pid_t dead = dead_process();
    put(beside("a.ckpt.tmp-", getppid()), "x", 1);
    for (int i = 0; i < 5; i++)
        put(beside(names[i], dead), "x", 1);
    ck_assert(write_generation(2, 100));
    ck_assert(is_there(beside("a.ckpt.tmp-", getppid())));
    for (int i = 0; i < 5; i++)
        ck_assert_msg(is_there(beside(names[i], dead)), "%s", names[i]);
    ck_assert_uint_eq(expect_some_generation(100), 2);
}
END_TEST

START_TEST(a_path_may_be_relative) {
    char before[256];
    ck_assert_ptr_nonnull(getcwd(before, sizeof before));
    ck_assert_int_eq(chdir(folder), 0);
    snprintf(path, sizeof path, "a.ckpt");
    put(beside("a.ckpt.tmp-", dead_process()), "x", 1);
    ck_assert(write_generation(4, 100));
    ck_assert_int_eq(other_files(false), 0);
    ck_assert_uint_eq(expect_some_generation(100), 4);
    ck_assert_int_eq(chdir(before), 0);
}
END_TEST

Suite *checkpoint_file_suite(void) {
    Suite *suite = suite_create("checkpoint file");
    TCase *cases = tcase_create("checkpoint file");
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
    tcase_add_test(cases, a_folder_that_is_missing_or_none_is_a_reason);
    tcase_add_test(cases, a_folder_without_the_right_to_write_is_a_reason);
    tcase_add_test(cases, what_is_no_file_is_not_replaced);
    tcase_add_test(cases, a_limit_on_the_size_of_files_leaves_the_old_file);
    tcase_add_test(cases, a_full_disk_leaves_the_old_file);
    tcase_add_test(cases, a_killed_writer_leaves_the_old_file_or_the_new_one);
    tcase_add_test(cases, temporaries_of_dead_processes_are_removed);
    tcase_add_test(cases, what_is_no_temporary_of_a_dead_process_stays);
    tcase_add_test(cases, a_path_may_be_relative);
    suite_add_tcase(suite, cases);
    return suite;
}
