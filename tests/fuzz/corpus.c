/* The main() of a fuzz target without libFuzzer: runs every file it is given, and every file in the folders,
 * each also with some bytes changed or cut off, always in the same ways. A crash is a failure.
 *   fuzz_NAME --seeds FOLDER
 *   fuzz_NAME [--changes N] FILE|FOLDER ... */
#include "core/sim/base/random.h"
#include "core/sim/checkpoint/buffer.h"
#include "tests/fuzz/fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned changes, files;

/* The input goes into an allocation of its very size, so that a sanitizer sees any access beyond it. */
static void run_input(const uint8_t *bytes, size_t count) {
    uint8_t *exact = malloc(count ? count : 1);
    if (!exact) abort();
    if (count) memcpy(exact, bytes, count);
    LLVMFuzzerTestOneInput(exact, count);
    free(exact);
}

static void run_changed(const Buffer *original, Random *random) {
    Buffer changed = {0};
    buffer_append(&changed, original->bytes, original->count);
    for (uint64_t flips = random_below(random, 4) + 1; flips; flips--)
        changed.bytes[random_below(random, changed.count)] ^= (uint8_t)(1 + random_below(random, 255));
    size_t count = random_below(random, 4) ? changed.count : random_below(random, changed.count);
    run_input(changed.bytes, count);
    buffer_free(&changed);
}

static void run_file(const char *path) {
    Buffer input = {0};
    uint8_t piece[4096];
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        exit(2);
    }
    for (size_t count; (count = fread(piece, 1, sizeof piece, file)) > 0;)
        buffer_append(&input, piece, count);
    fclose(file);
    run_input(input.bytes, input.count);
    Random random = {1};
    for (unsigned i = 0; i < changes && input.count; i++)
        run_changed(&input, &random);
    buffer_free(&input);
    files++;
}

static int not_hidden(const struct dirent *entry) {
    return entry->d_name[0] != '.';
}

static void run_path(const char *path) {
    struct dirent **entries;
    int count = scandir(path, &entries, not_hidden, alphasort);
    if (count < 0) {
        run_file(path);
        return;
    }
    for (int i = 0; i < count; i++) {
        char inner[4096];
        snprintf(inner, sizeof inner, "%s/%s", path, entries[i]->d_name);
        run_file(inner);
        free(entries[i]);
    }
    free(entries);
}

int main(int argc, char **argv) {
    LLVMFuzzerInitialize(&argc, &argv);
    int next = 1;
    if (argc > 2 && strcmp(argv[1], "--changes") == 0) {
        changes = (unsigned)strtoul(argv[2], NULL, 10);
        next = 3;
    }
    for (; next < argc; next++)
        run_path(argv[next]);
    printf("%u files, each with %u changes\n", files, changes);
    return files ? EXIT_SUCCESS : EXIT_FAILURE;
}
