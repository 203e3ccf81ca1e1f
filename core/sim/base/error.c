#include "core/sim/base/error.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

static _Thread_local UserErrorReceiver user;

static _Thread_local struct Catch *panics; /* where the innermost panic_catch() is left to */

static struct {
    PanicReporter *reporter;
    void *context;
} reporter;

void user_error_handler(UserErrorHandler *handler, void *context) {
    user = (UserErrorReceiver){handler, context};
}

UserErrorReceiver user_error_receiver(void) {
    return user;
}

void user_error_restore(UserErrorReceiver receiver) {
    user = receiver;
}

typedef struct Catch {
    jmp_buf place;
    const char *message;
} Catch;

static void leave_work(void *context, const char *message) {
    Catch *catch = context;
    catch->message = message;
    longjmp(catch->place, 1);
}

const char *user_error_catch(void (*work)(void *context), void *context) {
    UserErrorReceiver before = user;
    Catch catch = {.message = NULL};
    if (_setjmp(catch.place) == 0) {
        user_error_handler(leave_work, &catch);
        work(context);
    }
    user_error_restore(before);
    return catch.message;
}

const char *panic_catch(void (*work)(void *context), void *context) {
    Catch *outer = panics, catch = {.message = NULL};
    if (_setjmp(catch.place) == 0) {
        panics = &catch;
        work(context);
    }
    panics = outer;
    return catch.message;
}

static _Noreturn void leave_panic(const char *format, va_list arguments) PRINTF_LIKE(1, 0);
static _Noreturn void leave_panic(const char *format, va_list arguments) {
    static _Thread_local char message[1024];
    vsnprintf(message, sizeof message, format, arguments);
    panics->message = message;
    longjmp(panics->place, 1);
}

void user_error_again(const char *message) {
    if (user.handler) user.handler(user.context, message);
    fprintf(stderr, "warpwright: error: %s\n", message);
    exit(EXIT_USER_ERROR);
}

/* The handler leaves by longjmp, so the text must outlive this frame without being owned by anyone. */
void user_error(const char *format, ...) {
    static _Thread_local char message[4096];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    user_error_again(message);
}

void panic_reporter(PanicReporter *report, void *context) {
    reporter.reporter = report;
    reporter.context = context;
}

void panic_at(const char *file, int line, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (panics) leave_panic(format, arguments);
    fprintf(stderr, "warpwright: panic at %s:%d: ", file, line);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    if (reporter.reporter) {
        PanicReporter *report = reporter.reporter;
        reporter.reporter = NULL; /* a panic inside the report must not report again */
        report(reporter.context);
    }
    abort();
}

void out_of_memory(void) {
    if (panics) panic("expected what fits the memory of this computer, got more");
    fputs("warpwright: error: memory: expected more of this computer, or of its limit (ulimit -v), got none; "
          "--memory BYTES and fewer runs at a time take less\n",
          stderr);
    exit(EXIT_USER_ERROR);
}
