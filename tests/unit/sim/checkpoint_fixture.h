/* A folder for a checkpoint's file, and what is in both. */
#ifndef WW_TESTS_CHECKPOINT_FIXTURE_H
#define WW_TESTS_CHECKPOINT_FIXTURE_H

#include "core/sim/checkpoint/checkpoint_file.h"
#include "tests/unit/suites.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MIB = 1 << 20 };

static char folder[64], path[128], why[300];

static inline void make_folder(void) {
    snprintf(folder, sizeof folder, "/tmp/warpwright-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a.ckpt", folder);
    why[0] = 0;
}

/* Files of the folder but `path`; removes them all when asked to. */
static inline int other_files(bool remove_all) {
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

static inline void remove_folder(void) {
    other_files(true);
    rmdir(folder);
}

static inline void put(const char *at, const void *bytes, size_t count) {
    FILE *file = fopen(at, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes, 1, count, file), count);
    ck_assert_int_eq(fclose(file), 0);
}

/* Bytes that do not compress. */
static inline Buffer noise(uint64_t seed, size_t count) {
    Buffer buffer = {0};
    for (uint64_t state = seed * 2 + 1; buffer.count < count;) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        buffer_u64(&buffer, state);
    }
    buffer.count = count;
    return buffer;
}

static inline void expect_section(CheckpointFile *file, const char *name, const Buffer *want) {
    const Buffer *got = checkpoint_file_section(file, name, why, sizeof why);
    ck_assert_msg(got != NULL, "%s: %s", name, why);
    ck_assert_uint_eq(got->count, want->count);
    if (want->count) ck_assert_mem_eq(got->bytes, want->bytes, want->count);
    ck_assert_ptr_eq(checkpoint_file_section(file, name, why, sizeof why), got);
}

#endif
