/* What a fuzz target exports, as libFuzzer wants it: tests/fuzz/fuzz_NAME.c makes the program fuzz_NAME.
 * Built with libFuzzer it searches for inputs; otherwise corpus.c's main() runs those that it is given. */
#ifndef WW_TESTS_FUZZ_FUZZ_H
#define WW_TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Handles `--seeds FOLDER`: writes files to begin with, and exits. */
int LLVMFuzzerInitialize(int *argc, char ***argv);
/* One input. A finding is a crash. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);
/* Changes an input in place, up to `capacity` bytes; returns how many there are now. */
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t count, size_t capacity, unsigned seed);
/* The library's own way to change bytes; missing where the target is not built with libFuzzer. */
__attribute__((weak)) size_t LLVMFuzzerMutate(uint8_t *bytes, size_t count, size_t capacity);

#endif
