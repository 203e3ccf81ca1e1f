/* SIGINT, SIGTERM, SIGUSR1 and SIGALRM while a machine runs: the run looks at them at the next boundary. Lua that
 * does not come there after one of the first two is ended. */
#ifndef WW_LUA_SIGNALS_H
#define WW_LUA_SIGNALS_H

#include "core/lua/machine/machine.h"

#include <signal.h>
#include <stdbool.h>

/* SIGINT or SIGTERM when one has come and is not taken yet, else 0. Handlers write it. */
extern volatile sig_atomic_t stop_signal;

/* Seconds since the first of them, 0 when none has come. */
double signal_seconds(void);

/* From here on signals of the process are for this machine. `host`: the coroutine of its host program, or
 * NULL. False, and nothing done, when there is a machine already that they are for. */
bool signals_watch(Machine *machine, lua_State *host);
/* SIGALRM every so many seconds while signals are watched; 0: never. */
void signals_every(uint64_t seconds);
/* The signals do again what they did before. Returns the one that was not taken, or 0. */
int signals_unwatch(const Machine *machine);
/* The signal to look at, which is then forgotten; or 0. */
int signals_take(void);
const char *signal_name(int signal);
/* In a handler, of a signal to stop: who sends another one half a second or more after the first, `*first` ns, insists, and
 * the process ends by it. `timeout` sends two at once, to the process and to its group. *first: 0 at the beginning. */
bool signal_insists(int signal, volatile uint64_t *first);

/* Around a call into another Lua state than the host program's: the one that this thread is in; or NULL. A
 * state belongs to the thread that is in it: no other may touch it, not even in a handler. */
extern _Thread_local lua_State *volatile entered_state;

void limit_lua(lua_State *L);

/* What is called in `L` until signals_leave() is ended if it goes on for too long after a signal to stop. */
static inline void signals_enter(lua_State *L) {
    entered_state = L; /* first: a signal that comes from here on finds it */
    if (__builtin_expect(stop_signal != 0, 0)) limit_lua(L);
}

static inline void signals_leave(void) {
    entered_state = NULL;
}

#endif
