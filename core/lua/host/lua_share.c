/* How much of its time a thread is in the Lua states of policies and objects: a timer looks, so that a call costs no more than
 * without. */
#include "core/lua/bindings.h"
#include "core/lua/host/signals.h"

#include <time.h>

enum { LOOKS_A_SECOND = 1000 };

static volatile sig_atomic_t looks, looks_in_lua;
static struct sigaction action_before;
static timer_t timer;

static void look(int signal) {
    (void)signal;
    looks++;
    if (entered_state) looks_in_lua++;
}

/* core.begin_lua_share(): of the thread that runs the machine, until core.end_lua_share(). */
static int l_begin(lua_State *L) {
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGPROF};
    struct sigaction action = {.sa_handler = look, .sa_flags = SA_RESTART};
    long apart = 1000000000L / LOOKS_A_SECOND;
    looks = looks_in_lua = 0;
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) return luaL_error(L, "no timer could be made");
    sigaction(SIGPROF, &action, &action_before);
    timer_settime(timer, 0, &(struct itimerspec){{0, apart}, {0, apart}}, NULL);
    return 0;
}

/* core.end_lua_share() -> how often it was in such a state, of how many looks */
static int l_end(lua_State *L) {
    timer_delete(timer);
    sigaction(SIGPROF, &(struct sigaction){.sa_handler = SIG_IGN}, NULL); /* one may be on its way */
    sigaction(SIGPROF, &action_before, NULL);
    lua_pushinteger(L, looks_in_lua);
    lua_pushinteger(L, looks);
    return 2;
}

void lua_share_open(lua_State *L) {
    static const luaL_Reg functions[] = {
        {"begin_lua_share", l_begin},
        {"end_lua_share", l_end},
        {NULL, NULL},
    };
    luaL_setfuncs(L, functions, 0);
}
