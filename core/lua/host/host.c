/* What the library needs of the operating system and Lua does not have. */
#include "core/lua/bindings.h"
#include "core/lua/host/children.h"
#include "core/sim/base/thread_choice.h"
#include "core/sim/checkpoint/buffer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* core.make_folder(path) -> true, or false when it exists. Its parent must exist. */
static int l_make_folder(lua_State *L) {
    const char *path = luaL_checkstring(L, 1);
    raise_user_errors_in(L);
    int result = mkdir(path, 0777);
    if (result != 0 && errno != EEXIST) user_error("cannot make the folder %s: %s", path, strerror(errno));
    lua_pushboolean(L, result == 0);
    return 1;
}

static const char lock_type[] = "warpwright.lock";

/* Its number, or -1: closed. */
static int l_close_lock(lua_State *L) {
    int *folder = luaL_checkudata(L, 1, lock_type);
    if (*folder >= 0) close(*folder);
    *folder = -1;
    return 0;
}

/* Who looks whether a folder is locked has the lock for a moment: this outlasts it. */
static bool lock(int folder) {
    enum { TRIALS = 5, PAUSE_NS = 4000000 };
    for (int i = 0; i < TRIALS; i++) {
        if (flock(folder, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return true;
        nanosleep(&(struct timespec){0, PAUSE_NS}, NULL);
    }
    return false;
}

/* core.lock_folder(path) -> a lock that its to-be-closed variable, lock:close() or the end of this process
 * gives back. A user error when the folder does not exist, nothing can be written to it, or another holds its
 * lock. Some file systems of networks have no locks: there nobody is kept out. */
static int l_lock_folder(lua_State *L) {
    const char *path = luaL_checkstring(L, 1);
    raise_user_errors_in(L);
    int *folder = lua_newuserdatauv(L, sizeof *folder, 0);
    *folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    luaL_setmetatable(L, lock_type);
    if (*folder < 0) user_error("out: expected a folder, got '%s': %s", path, strerror(errno));
    if (access(path, W_OK | X_OK) != 0)
        user_error("out: expected a folder that can be written to, got '%s': %s", path, strerror(errno));
    if (!lock(*folder))
        user_error("out: expected a folder that no other run writes to, got '%s', to which one does", path);
    return 1;
}

static int not_hidden(const struct dirent *entry) {
    return entry->d_name[0] != '.';
}

static int by_bytes(const struct dirent **a, const struct dirent **b) {
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* core.list_folder(path) -> names in it, sorted; an empty list when the folder does not exist. */
static int l_list_folder(lua_State *L) {
    struct dirent **entries;
    int count = scandir(luaL_checkstring(L, 1), &entries, not_hidden, by_bytes);
    lua_newtable(L);
    for (int i = 0; i < count; i++) {
        lua_pushstring(L, entries[i]->d_name);
        lua_rawseti(L, -2, i + 1);
        free(entries[i]);
    }
    if (count >= 0) free(entries);
    return 1;
}

/* core.is_file(path) */
static int l_is_file(lua_State *L) {
    struct stat status;
    lua_pushboolean(L, stat(luaL_checkstring(L, 1), &status) == 0 && S_ISREG(status.st_mode));
    return 1;
}

/* core.digest(text) -> 16 hexadecimal digits (FNV-1a, 64 bits): says which input a result was made from. */
static int l_digest(lua_State *L) {
    size_t length;
    const char *text = luaL_checklstring(L, 1, &length);
    push_file_digest(L, file_digest(text, length));
    return 1;
}

/* core.is_ascii(text): no byte of it is 0x80 or more. */
static int l_is_ascii(lua_State *L) {
    size_t length;
    const char *text = luaL_checklstring(L, 1, &length);
    unsigned bits = 0;
    for (size_t i = 0; i < length; i++)
        bits |= (unsigned char)text[i];
    lua_pushboolean(L, bits < 0x80);
    return 1;
}

/* core.host() -> { name =, cores =, peak_bytes =, cpu_seconds = } of this computer and this process */
static int l_host(lua_State *L) {
    char name[256] = "";
    struct rusage usage;
    cpu_set_t cores;
    CPU_ZERO(&cores);
    sched_getaffinity(0, sizeof cores, &cores);
    gethostname(name, sizeof name - 1);
    getrusage(RUSAGE_SELF, &usage);
    lua_newtable(L);
    lua_pushstring(L, name);
    lua_setfield(L, -2, "name");
    lua_pushinteger(L, CPU_COUNT(&cores));
    lua_setfield(L, -2, "cores");
    lua_pushinteger(L, usage.ru_maxrss * 1024);
    lua_setfield(L, -2, "peak_bytes");
    lua_pushnumber(L, cpu_seconds());
    lua_setfield(L, -2, "cpu_seconds");
    return 1;
}

/* core.monotonic_seconds() -> seconds of a clock that nobody sets */
static int l_monotonic_seconds(lua_State *L) {
    lua_pushnumber(L, 1e-9 * (double)host_nanoseconds());
    return 1;
}

/* core.bits_count(n) -> how many bits are set */
static int l_bits_count(lua_State *L) {
    lua_pushinteger(L, __builtin_popcountll((unsigned long long)luaL_checkinteger(L, 1)));
    return 1;
}

/* core.bits_lowest(n) -> number of the lowest bit that is set, or nil */
static int l_bits_lowest(lua_State *L) {
    unsigned long long set = (unsigned long long)luaL_checkinteger(L, 1);
    if (!set) return 0;
    lua_pushinteger(L, __builtin_ctzll(set));
    return 1;
}

/* The build defines these: the version from the file core/VERSION, the revision from git, a digest of all C code. */
#ifndef WW_VERSION
#define WW_VERSION "unknown"
#endif
#ifndef WW_REVISION
#define WW_REVISION "unknown"
#endif
#ifndef WW_BUILD_FLAGS
#define WW_BUILD_FLAGS "not recorded"
#endif
#ifndef WW_SOURCES
#define WW_SOURCES "unknown"
#endif
#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

void host_open(lua_State *L) {
    static const luaL_Reg lock_metamethods[] = {
        {"__gc", l_close_lock}, {"__close", l_close_lock}, {NULL, NULL}};
    static const luaL_Reg lock_methods[] = {{"close", l_close_lock}, {NULL, NULL}};
    static const luaL_Reg functions[] = {
        {"make_folder", l_make_folder},
        {"lock_folder", l_lock_folder},
        {"list_folder", l_list_folder},
        {"is_file", l_is_file},
        {"digest", l_digest},
        {"is_ascii", l_is_ascii},
        {"host", l_host},
        {"bits_count", l_bits_count},
        {"bits_lowest", l_bits_lowest},
        {"monotonic_seconds", l_monotonic_seconds},
        {NULL, NULL},
    };
    define_type(L, lock_type, lock_metamethods, lock_methods);
    luaL_setfuncs(L, functions, 0);
    lua_pushliteral(L, WW_VERSION);
    lua_setfield(L, -2, "version");
    lua_pushliteral(L, WW_REVISION);
    lua_setfield(L, -2, "revision");
    lua_pushliteral(L, COMPILER);
    lua_setfield(L, -2, "compiler");
    lua_pushliteral(L, WW_BUILD_FLAGS);
    lua_setfield(L, -2, "build_flags");
    lua_pushliteral(L, WW_SOURCES);
    lua_setfield(L, -2, "sources");
}
