/* For tests of panics. */
#ifndef WW_TESTS_PANIC_TEXT_H
#define WW_TESTS_PANIC_TEXT_H

/* Calls `action` in a process of its own, where it must panic; returns what that printed. The caller frees
 * it. */
char *panic_text(void (*action)(void *context), void *context);

/* Fails unless `action` panics and says `wanted`. */
void assert_panic(void (*action)(void *context), void *context, const char *wanted);

#endif
