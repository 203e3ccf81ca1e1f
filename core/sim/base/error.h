/* Errors come in two kinds. The user's fault: a message that names the object path or the file and line,
 * the parameter and what is legal; exit status 2. Ours: a panic with the simulated time and the state of the
 * object at work; abort. */
#ifndef WW_SIM_ERROR_H
#define WW_SIM_ERROR_H

#include <stdarg.h>
#include <stdint.h>

#define PRINTF_LIKE(text, first) __attribute__((format(printf, text, first)))

enum { EXIT_USER_ERROR = 2 };

/* Receives the finished message of a user error and must not return: it raises a Lua error, say. */
typedef void UserErrorHandler(void *context, const char *message);

/* Replaces this thread's handler (NULL: print to stderr and exit with EXIT_USER_ERROR). */
void user_error_handler(UserErrorHandler *handler, void *context);
/* This thread's handler: to be put back after what may replace it. */
typedef struct {
    UserErrorHandler *handler;
    void *context;
} UserErrorReceiver;
UserErrorReceiver user_error_receiver(void);
void user_error_restore(UserErrorReceiver receiver);
/* Calls work(context). NULL when it returns; when it ends in a user error, the message, which lives until
 * this thread's next user error. */
const char *user_error_catch(void (*work)(void *context), void *context);
/* Passes on what user_error_catch() returned, as it is. */
_Noreturn void user_error_again(const char *message);
/* The same for panics: for checks of state that came from outside, whose violation is not our fault. The work
 * raises no user errors. */
const char *panic_catch(void (*work)(void *context), void *context);
_Noreturn void user_error(const char *format, ...) PRINTF_LIKE(1, 2);

/* For the whole process: registers what a panic prints beside its message: the simulated time and the object
 * at work. */
typedef void PanicReporter(void *context);
void panic_reporter(PanicReporter *reporter, void *context);
_Noreturn void panic_at(const char *file, int line, const char *format, ...) PRINTF_LIKE(3, 4);

#define panic(...) panic_at(__FILE__, __LINE__, __VA_ARGS__)

/* For state that came from outside, under panic_catch(): names what the condition is about. */
#define sound(condition, ...)                                                                                \
    do {                                                                                                     \
        if (__builtin_expect(!(condition), 0)) panic(__VA_ARGS__);                                           \
    } while (0)

/* Cheap enough for the hot path; stays on in every build. */
#define ensure(condition)                                                                                    \
    do {                                                                                                     \
        if (__builtin_expect(!(condition), 0)) panic("broken invariant: %s", #condition);                    \
    } while (0)

/* The same for what an allocation returned: where the system has no memory left, that is no fault of ours. What has
 * grown by halves cannot be cleaned up, so that the process ends there: with EXIT_USER_ERROR. */
#define ensure_memory(condition)                                                                             \
    do {                                                                                                     \
        if (__builtin_expect(!(condition), 0)) out_of_memory();                                              \
    } while (0)
_Noreturn void out_of_memory(void);

/* For checks too dear for the hot path: debug and sanitizer builds only. */
#ifdef WW_DEBUG
#define debug_ensure(condition) ensure(condition)
#else
#define debug_ensure(condition) ((void)sizeof(condition))
#endif

#endif
