/* Writing a checkpoint: whatever happens meanwhile, the old file or the new one is there. */
#include "tests/unit/sim/checkpoint_fixture.h"

#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

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
    if (geteuid() == 0 && seteuid(65534) != 0) {
        skip_test("a_folder_without_the_right_to_write_is_a_reason", "root may not become another user");
        return;
    }
    if (getuid() == 0) ck_assert_int_eq(seteuid(0), 0);
    ck_assert(write_generation(1, 100));
    ck_assert_int_eq(chmod(folder, 0555), 0);
    if (getuid() == 0) ck_assert_int_eq(seteuid(65534), 0);
    expect_failed_write(2, 100, "cannot make a file in its folder: Permission denied");
    if (getuid() == 0) ck_assert_int_eq(seteuid(0), 0);
    ck_assert_int_eq(chmod(folder, 0755), 0);
    ck_assert_uint_eq(expect_some_generation(100), 1);
}
END_TEST

START_TEST(what_is_no_file_is_not_replaced) {
    struct stat status;
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    expect_failed_write(1, 100, "expected a file, got a folder, device or the like");
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

enum { MAY_NOT_MOUNT = 77 };

/* In a process of its own, whose name space is another. Its status says which check failed. */
static int fill_small_disk(void) {
    if (!mount_small(folder, "size=3m")) return MAY_NOT_MOUNT;
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
    if (WEXITSTATUS(status) == MAY_NOT_MOUNT)
        skip_test("a_full_disk_leaves_the_old_file", "this user may not mount a file system");
    else
        ck_assert_int_eq(WEXITSTATUS(status), 0);
}
END_TEST

/* --- Writers that die ------------------------------------------------------------------------ */

/* A path in the folder: this name with the number of a process behind it. */
static const char *beside(const char *name, pid_t process) {
    static char other[160];
    snprintf(other, sizeof other, "%s/%s%ld", folder, name, (long)process);
    return other;
}

/* Stops the writer while its temporary is there, however long that takes. */
static void stop_in_the_midst(pid_t writer) {
    const char *temporary = beside("a.ckpt.tmp-", writer);
    for (;; kill(writer, SIGCONT)) {
        while (access(temporary, F_OK) != 0) {
            ck_assert_int_eq(waitpid(writer, NULL, WNOHANG), 0); /* it goes on */
            usleep(100);
        }
        kill(writer, SIGSTOP);
        ck_assert_int_eq(waitpid(writer, NULL, WUNTRACED), writer);
        if (access(temporary, F_OK) == 0) return;
    }
}

/* Every other one at any moment, the others while they write. */
START_TEST(a_killed_writer_leaves_the_old_file_or_the_new_one) {
    enum { KILLS = 50, BYTES = MIB };
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
        if (i % 2)
            usleep((useconds_t)(1000 + i * 7919 % 40000));
        else
            stop_in_the_midst(child);
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
    ck_assert_int_ge(left_behind, KILLS / 2);
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

Suite *checkpoint_writing_suite(void) {
    Suite *suite = suite_create("checkpoint_writing");
    TCase *cases = tcase_create("checkpoint_writing");
    tcase_add_checked_fixture(cases, make_folder, remove_folder);
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
