/* A process that stands by while another one tries something: when that gives way, it goes on in its place, with the
 * state from before. Whoever started the program sees one process: the first one stays, waits for the one that goes
 * on, passes signals on to it, and ends as it does. In between there are no others: who gives way and is not the first
 * ends, and the first one inherits its child. */
#include "core/lua/bindings.h"
#include "core/lua/host/children.h"
#include "core/lua/machine/machine.h"
#include "core/ptx/execution/memory.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Children of the first one that have ended since it has given way: it alone is told. */
enum { ENDED_MAX = 256 };
typedef struct {
    pid_t pid;
    int status;
} Ended;

/* What all of them see. */
typedef struct {
    volatile pid_t first, at_work;
    double cpu_seconds; /* of those that have given way */
    Ended ended[ENDED_MAX];
    uint32_t ended_count; /* of them so far; the newest are kept */
} Succession;

static Succession *succession;
static double seconds_before;

double cpu_seconds_before(void) {
    return seconds_before;
}

/* core.may_give_way(): before what can give way to it is forked. A fork of a process that could is the first of its
 * own. */
static int l_may_give_way(lua_State *L) {
    raise_user_errors_in(L);
    if (succession && succession->at_work == getpid()) return 0;
    void *shared = mmap(NULL, sizeof *succession, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) user_error("fork: no memory: %s", strerror(errno));
    succession = shared;
    succession->first = succession->at_work = getpid();
    return 0;
}

/* A terminal's signals come to all processes by themselves. */
static void pass_on(int signal, siginfo_t *info, void *context) {
    int problem = errno;
    (void)context;
    if (info->si_code <= 0) kill(succession->at_work, signal);
    errno = problem;
}

static void pass_signals_on(void) {
    static const int passed_on[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
    struct sigaction action = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART};
    for (size_t i = 0; i < sizeof passed_on / sizeof *passed_on; i++)
        if (!signal_is_ignored(passed_on[i])) sigaction(passed_on[i], &action, NULL);
    signal(SIGALRM, SIG_IGN);
}

_Noreturn static void end_as(int status) {
    if (WIFEXITED(status)) _exit(WEXITSTATUS(status));
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0}); /* whose memory it was has left one */
    signal(WTERMSIG(status), SIG_DFL);
    raise(WTERMSIG(status));
    _exit(128 + WTERMSIG(status));
}

static void note_ended(pid_t pid, int status) {
    uint32_t count = succession->ended_count;
    succession->ended[count % ENDED_MAX] = (Ended){pid, status};
    __atomic_store_n(&succession->ended_count, count + 1, __ATOMIC_RELEASE);
}

bool child_has_ended(pid_t pid, int *status) {
    if (waitpid(pid, status, WNOHANG) == pid) return true;
    uint32_t count = succession ? __atomic_load_n(&succession->ended_count, __ATOMIC_ACQUIRE) : 0;
    for (uint32_t i = 0; i < count && i < ENDED_MAX; i++)
        if (succession->ended[i].pid == pid) {
            *status = succession->ended[i].status;
            return true;
        }
    return false;
}

_Noreturn static void wait_for_the_one_at_work(void) {
    for (;;) {
        int status;
        pid_t ended = waitpid(-1, &status, 0);
        if (ended == succession->at_work) end_as(status);
        if (ended > 0) note_ended(ended, status);
        if (ended < 0 && errno != EINTR) _exit(EXIT_USER_ERROR);
    }
}

/* core.prepare_to_give_way(process that stands by): from now on it is that which is at work; it is to be told. */
static int l_prepare_to_give_way(lua_State *L) {
    succession->cpu_seconds = cpu_seconds();
    succession->at_work = (pid_t)luaL_checkinteger(L, 1);
    if (succession->first == getpid()) {
        prctl(PR_SET_CHILD_SUBREAPER, 1);
        pass_signals_on();
    }
    return 0;
}

/* core.give_way(gpu): never returns. */
static int l_give_way(lua_State *L) {
    Machine *machine = gpu_at(L, 1);
    if (succession->first != getpid()) _exit(0);
    device_memory_abandon(gpu_memory(machine->gpu)); /* the greater part of what this process keeps */
    wait_for_the_one_at_work();
}

/* core.go_on(): in the process that stood by, once told to. */
static int l_go_on(lua_State *L) {
    (void)L;
    seconds_before = succession->cpu_seconds;
    if (getppid() != succession->first) prctl(PR_SET_PDEATHSIG, 0);
    return 0;
}

/* core.await_parent(): until the one that has given way has ended, if it is to. */
static int l_await_parent(lua_State *L) {
    (void)L;
    pid_t parent = getppid();
    while (parent != succession->first && getppid() == parent)
        sched_yield();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != succession->first) _exit(EXIT_USER_ERROR);
    return 0;
}

void stand_by_open(lua_State *L) {
    static const luaL_Reg functions[] = {
        {"may_give_way", l_may_give_way}, {"prepare_to_give_way", l_prepare_to_give_way},
        {"give_way", l_give_way},         {"go_on", l_go_on},
        {"await_parent", l_await_parent}, {NULL, NULL}};
    luaL_setfuncs(L, functions, 0);
}
