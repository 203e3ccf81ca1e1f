/* Processes side by side: a fork of this one for each run, and what becomes of them when this one is to stop. */
#include "core/lua/host/children.h"

#include "core/lua/bindings.h"
#include "core/lua/host/signals.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SUPERVISED_MAX = 1024 };

/* While children are supervised, SIGINT, SIGTERM and SIGHUP are passed on to them, as SIGTERM and once: they make
 * checkpoints and end. They are groups of their own, so that no terminal sends them a second one. */
static struct {
    bool on;
    volatile sig_atomic_t asked; /* the signal, 0: none */
    volatile uint64_t asked_at;  /* of signal_insists() */
    volatile pid_t child[SUPERVISED_MAX];
} supervision;

static void pass_on(int signal) {
    int problem = errno;
    if (signal_insists(signal, &supervision.asked_at)) return;
    supervision.asked = signal;
    for (int i = 0; i < SUPERVISED_MAX; i++)
        if (supervision.child[i]) kill(supervision.child[i], SIGTERM);
    errno = problem;
}

static const int passed_on[] = {SIGINT, SIGTERM, SIGHUP};
enum { PASSED_ON = sizeof passed_on / sizeof *passed_on };

/* As nohup has it, which stays. */
bool signal_is_ignored(int signal) {
    struct sigaction now;
    return sigaction(signal, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

/* core.supervise(): from now on; what was asked before is over. Who insists ends this process at once, and its children
 * with it. */
static int l_supervise(lua_State *L) {
    (void)L;
    supervision.on = true;
    supervision.asked = 0;
    supervision.asked_at = 0;
    for (int i = 0; i < PASSED_ON; i++)
        if (passed_on[i] != SIGHUP || !signal_is_ignored(SIGHUP))
            sigaction(passed_on[i], &(struct sigaction){.sa_handler = pass_on}, NULL);
    return 0;
}

/* core.ask_to_stop(): as if this process had got SIGTERM. */
static int l_ask_to_stop(lua_State *L) {
    (void)L;
    pass_on(SIGTERM);
    return 0;
}

/* core.stop_asked() -> "SIGINT", "SIGTERM" or "SIGHUP", or nil */
static int l_stop_asked(lua_State *L) {
    if (!supervision.asked) return 0;
    lua_pushstring(L, signal_name(supervision.asked));
    return 1;
}

static void enter(pid_t from, pid_t to) {
    for (int i = 0; i < SUPERVISED_MAX; i++)
        if (supervision.child[i] == from) {
            supervision.child[i] = to;
            return;
        }
}

static void begin_child(pid_t parent, const char *path) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(EXIT_USER_ERROR);
    if (path && !(freopen(path, "a", stdout) && freopen(path, "a", stderr))) _exit(EXIT_USER_ERROR);
    if (!supervision.on) return;
    supervision.on = false;
    setpgid(0, 0);
    for (int i = 0; i < SUPERVISED_MAX; i++)
        supervision.child[i] = 0;
    for (int i = 0; i < PASSED_ON; i++)
        if (!signal_is_ignored(passed_on[i])) signal(passed_on[i], SIG_DFL);
}

pid_t fork_child(lua_State *L, const char *path) {
    sigset_t passed, before;
    raise_user_errors_in(L);
    fflush(NULL);
    sigemptyset(&passed);
    for (int i = 0; i < PASSED_ON; i++)
        sigaddset(&passed, passed_on[i]);
    sigprocmask(SIG_BLOCK, &passed, &before); /* no signal finds a child that nobody knows of */
    pid_t parent = getpid(), child = fork();
    if (child == 0) begin_child(parent, path);
    if (child > 0 && supervision.on) enter(0, child);
    if (child > 0 && supervision.asked) kill(child, SIGTERM);
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (child < 0) user_error("fork: cannot start a process: %s", strerror(errno));
    return child;
}

/* core.fork([path]) -> process number of the child, or 0 in the child. It ends when its parent does. What the
 * child prints goes to the file, if one is named. */
static int l_fork(lua_State *L) {
    lua_pushinteger(L, fork_child(L, luaL_optstring(L, 1, NULL)));
    return 1;
}

/* core.wait_for_child([process number]) -> process number, exit status or nil, signal that killed it or nil: of that child, or
 * of the first one that ends */
static int l_wait_for_child(lua_State *L) {
    int status;
    pid_t child;
    raise_user_errors_in(L);
    pid_t which = (pid_t)luaL_optinteger(L, 1, -1);
    while ((child = waitpid(which, &status, 0)) < 0)
        if (errno != EINTR) user_error("wait: %s", strerror(errno));
    enter(child, 0);
    lua_pushinteger(L, child);
    if (WIFEXITED(status)) {
        lua_pushinteger(L, WEXITSTATUS(status));
        return 2;
    }
    lua_pushnil(L);
    lua_pushinteger(L, WTERMSIG(status));
    return 3;
}

/* core.leave(status): ends this process without freeing anything. */
static int l_leave(lua_State *L) {
    fflush(NULL);
    _exit((int)luaL_checkinteger(L, 1));
}

static double seconds_of(const struct timeval *time) {
    return (double)time->tv_sec + 1e-6 * (double)time->tv_usec;
}

double cpu_seconds(void) {
    struct rusage own, children;
    getrusage(RUSAGE_SELF, &own);
    getrusage(RUSAGE_CHILDREN, &children);
    return cpu_seconds_before() + seconds_of(&own.ru_utime) + seconds_of(&children.ru_utime);
}

void children_open(lua_State *L) {
    static const luaL_Reg functions[] = {{"supervise", l_supervise},
                                         {"stop_asked", l_stop_asked},
                                         {"ask_to_stop", l_ask_to_stop},
                                         {"fork", l_fork},
                                         {"wait_for_child", l_wait_for_child},
                                         {"leave", l_leave},
                                         {NULL, NULL}};
    luaL_setfuncs(L, functions, 0);
}
