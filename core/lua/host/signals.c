#include "core/lua/host/signals.h"

#include "core/lua/bindings.h"
#include "core/sim/base/thread_choice.h"
#include "core/sim/sim.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

/* How long Lua may go on after a signal to stop, in seconds of its thread: a policy's function for one, after
 * which it is taken for an infinite loop. A host program may well compute for longer between two launches. */
static const double call_seconds = 1, host_program_seconds = 3;
enum { STEP = 100000 }; /* instructions of Lua between two looks at the clock */

static const int watched_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGALRM, SIGUSR2};
enum { WATCHED = sizeof watched_signals / sizeof *watched_signals };

static struct sigaction actions_before[WATCHED];
static Machine *volatile watching;
static lua_State *volatile host_program;
static volatile sig_atomic_t pending_signal, one_was_ended;
static volatile uint64_t stop_at; /* of signal_insists() */
static uint64_t timer_seconds;
volatile sig_atomic_t stop_signal;

_Thread_local lua_State *volatile entered_state;
static _Thread_local volatile double limited_since;

const char *signal_name(int signal) {
    switch (signal) {
    case SIGINT: return "SIGINT";
    case SIGTERM: return "SIGTERM";
    case SIGHUP: return "SIGHUP";
    case SIGALRM: return "time";
    case SIGUSR2: return "SIGUSR2";
    default: return "SIGUSR1";
    }
}

static bool stops_run(int signal) {
    return signal == SIGINT || signal == SIGTERM || signal == SIGHUP;
}

bool signal_insists(int signal, volatile uint64_t *first) {
    const uint64_t apart = 500000000u;
    uint64_t now = host_nanoseconds();
    if (!*first) *first = now;
    if (now - *first < apart) return false;
    sigaction(signal, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
    raise(signal); /* when its handler has returned */
    return true;
}

double signal_seconds(void) {
    return stop_signal ? 1e-9 * (double)(host_nanoseconds() - stop_at) : 0;
}

static double thread_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The place of the user's code is on top of the stack. From now on at every instruction: a pcall around the
 * loop must not save it. */
_Noreturn static void end_call(lua_State *L, const char *what, double seconds) {
    lua_sethook(L, lua_gethook(L), LUA_MASKCOUNT, 1);
    one_was_ended = 1;
    if (!entered_state) watching->stopped = "error"; /* what was counted can be looked at */
    lua_pushfstring(L, "%s: %s has not returned in %d s since, and was ended", signal_name(stop_signal), what,
                    (int)seconds);
    lua_concat(L, 2);
    lua_error(L);
    abort();
}

static void look_at_clock(lua_State *L, lua_Debug *frame) {
    (void)frame;
    bool of_host = !entered_state;
    double limit = of_host ? host_program_seconds : call_seconds;
    push_user_location(L);
    if (!stop_signal || lua_rawlen(L, -1) == 0) { /* it was taken; or only the library's own code is left */
        lua_sethook(L, NULL, 0, 0);
        return;
    }
    if ((one_was_ended && !of_host) || thread_seconds() - limited_since >= limit)
        end_call(L, of_host ? "the host program" : "it", limit);
}

/* Runs in signal handlers, too: Lua promises that lua_sethook() may be called there. */
void limit_lua(lua_State *L) {
    limited_since = thread_seconds();
    lua_sethook(L, look_at_clock, LUA_MASKCOUNT, STEP);
}

/* On a thread that helps to run the machine. */
static void limit_thread(int signal) {
    (void)signal;
    if (entered_state && stop_signal) limit_lua(entered_state);
}

/* The run stops at a quantum boundary and looks at the signal there. Who insists kills the program at once. A request
 * to stop is not forgotten for one to go on, nor one for a checkpoint for one to be shown. Runs on the thread that
 * watches: the others block these signals. */
static void note_signal(int signal) {
    int problem = errno;
    if (stops_run(signal) && signal_insists(signal, &stop_at)) return;
    if (stops_run(signal) || !pending_signal || pending_signal == SIGUSR2) pending_signal = signal;
    if (stops_run(signal)) stop_signal = signal;
    Machine *machine = watching;
    if (machine && machine->gpu) gpu_interrupt(machine->gpu);
    if (machine && stop_signal) {
        if (host_program) limit_lua(host_program);
        if (entered_state) limit_lua(entered_state);
        if (machine->sim) sim_signal_threads(machine->sim, SIGURG);
    }
    errno = problem;
}

static void set_timer(uint64_t seconds) {
    struct itimerval timer = {{(time_t)seconds, 0}, {(time_t)seconds, 0}};
    setitimer(ITIMER_REAL, &timer, NULL);
}

void signals_every(uint64_t seconds) {
    timer_seconds = seconds;
    if (watching) set_timer(seconds);
}

bool signals_watch(Machine *machine, lua_State *host) {
    if (watching) return false;
    pending_signal = stop_signal = one_was_ended = 0;
    stop_at = 0;
    host_program = host;
    watching = machine;
    /* It stays so: a thread may get to it late, and to ignore it is what the system does with SIGURG anyway. */
    sigaction(SIGURG, &(struct sigaction){.sa_handler = limit_thread, .sa_flags = SA_RESTART}, NULL);
    for (int i = 0; i < WATCHED; i++) {
        struct sigaction action = {.sa_handler = note_signal, .sa_flags = SA_RESTART};
        sigaction(watched_signals[i], NULL, &actions_before[i]);
        bool by_nohup = watched_signals[i] == SIGHUP && actions_before[i].sa_handler == SIG_IGN;
        if (!by_nohup) sigaction(watched_signals[i], &action, NULL);
    }
    if (timer_seconds) set_timer(timer_seconds);
    return true;
}

int signals_unwatch(const Machine *machine) {
    if (!watching || watching != machine) return 0;
    if (timer_seconds) set_timer(0);
    for (int i = 0; i < WATCHED; i++)
        sigaction(watched_signals[i], &actions_before[i], NULL);
    watching = NULL;
    host_program = NULL;
    return signals_take();
}

int signals_take(void) {
    int signal = pending_signal;
    pending_signal = stop_signal = 0;
    return signal;
}
