/* Runs of other processes: whether one is at work in a folder, and how it is asked to show how far it is. */
#include "core/lua/bindings.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

/* core.folder_is_locked(path): whether some process holds what core.lock_folder() gave it. */
static int l_folder_is_locked(lua_State *L) {
    int folder = open(luaL_checkstring(L, 1), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool locked = folder >= 0 && flock(folder, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (folder >= 0) close(folder);
    lua_pushboolean(L, locked);
    return 1;
}

/* core.ask_to_show(process) -> true, or false and why not. Every process of this program takes SIGUSR2, or
 * ignores it. */
static int l_ask_to_show(lua_State *L) {
    lua_Integer process = luaL_checkinteger(L, 1);
    luaL_argcheck(L, process > 0 && process <= INT32_MAX, 1, "expected the number of a process");
    bool asked = kill((pid_t)process, SIGUSR2) == 0;
    lua_pushboolean(L, asked);
    if (asked) return 1;
    lua_pushstring(L, strerror(errno));
    return 2;
}

/* core.process() -> the number of this one */
static int l_process(lua_State *L) {
    lua_pushinteger(L, getpid());
    return 1;
}

/* core.sleep(seconds) */
static int l_sleep(lua_State *L) {
    double seconds = luaL_checknumber(L, 1), whole;
    luaL_argcheck(L, seconds >= 0 && seconds < 1e9, 1, "expected seconds");
    double rest = modf(seconds, &whole);
    struct timespec left = {(time_t)whole, (long)(rest * 1e9)};
    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        ;
    return 0;
}

/* core.prints_to_terminal(): whether standard output is one. */
static int l_prints_to_terminal(lua_State *L) {
    lua_pushboolean(L, isatty(STDOUT_FILENO));
    return 1;
}

void live_open(lua_State *L) {
    static const luaL_Reg functions[] = {
        {"folder_is_locked", l_folder_is_locked},
        {"ask_to_show", l_ask_to_show},
        {"process", l_process},
        {"sleep", l_sleep},
        {"prints_to_terminal", l_prints_to_terminal},
        {NULL, NULL},
    };
    luaL_setfuncs(L, functions, 0);
}
