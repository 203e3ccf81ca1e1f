#include "tests/unit/panic_text.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char *text_of(FILE *file) {
    char *text = NULL;
    size_t size = 0;
    rewind(file);
    ck_assert(getdelim(&text, &size, 0, file) >= 0 || feof(file));
    return text;
}

char *panic_text(void (*action)(void *context), void *context) {
    FILE *printed = tmpfile();
    int status;
    ck_assert_ptr_nonnull(printed);
    fflush(NULL);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        dup2(fileno(printed), STDERR_FILENO);
        action(context);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    char *text = text_of(printed);
    fclose(printed);
    ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "there was no panic: %s", text);
    return text;
}

void assert_panic(void (*action)(void *context), void *context, const char *wanted) {
    char *text = panic_text(action, context);
    ck_assert_msg(strstr(text, "panic at ") && strstr(text, wanted), "'%s' is not in: %s", wanted, text);
    free(text);
}
