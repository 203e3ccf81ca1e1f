/* Which Lua and PTX files were loaded in this process, with a digest of each and the file that asked for it. All Lua
 * states note theirs here: those of policies run on several threads. */
#include "core/lua/bindings.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct {
    char *path, *digest, *by;
} Noted;

static struct {
    pthread_mutex_t lock;
    Noted *files;
    uint32_t count, capacity;
} noted = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* In place of a path: a host program loads it. The Lua files that a resume compares are not of these: it compares the
 * host program's calls, which have digests of their PTX. */
static const char by_host_program[] = "host program";

typedef struct {
    char text[17];
} Digits;

static Digits digits_of(uint64_t digest) {
    Digits digits;
    snprintf(digits.text, sizeof digits.text, "%016lx", digest);
    return digits;
}

static bool is_noted(const char *path, const char *digest, const char *by) {
    for (uint32_t i = 0; i < noted.count; i++)
        if (strcmp(noted.files[i].path, path) == 0 && strcmp(noted.files[i].digest, digest) == 0 &&
            strcmp(noted.files[i].by, by) == 0)
            return true;
    return false;
}

static void note(const char *path, const char *digest, const char *by) {
    if (is_noted(path, digest, by)) return;
    if (noted.count == noted.capacity) {
        noted.capacity = noted.capacity ? 2 * noted.capacity : 32;
        noted.files = realloc(noted.files, noted.capacity * sizeof *noted.files);
        ensure_memory(noted.files);
    }
    noted.files[noted.count++] = (Noted){strdup(path), strdup(digest), strdup(by)};
}

/* core.note_file(path, digest, path of the file that loads it, or "" when that is unknown) */
static int l_note_file(lua_State *L) {
    const char *path = luaL_checkstring(L, 1), *digest = luaL_checkstring(L, 2), *by = luaL_checkstring(L, 3);
    pthread_mutex_lock(&noted.lock);
    note(path, digest, by);
    pthread_mutex_unlock(&noted.lock);
    return 0;
}

void push_file_digest(lua_State *L, uint64_t digest) {
    lua_pushstring(L, digits_of(digest).text);
}

void note_ptx_file(const char *path, uint64_t digest) {
    char real[PATH_MAX];
    if (!realpath(path, real)) return;
    pthread_mutex_lock(&noted.lock);
    note(real, digits_of(digest).text, by_host_program);
    pthread_mutex_unlock(&noted.lock);
}

/* core.noted_files() -> { { path =, digest =, by = } ... } in the order in which they were noted. Between
 * runs: no other thread notes any. */
static int l_noted_files(lua_State *L) {
    lua_newtable(L);
    for (uint32_t i = 0; i < noted.count; i++) {
        const Noted *file = &noted.files[i];
        lua_newtable(L);
        lua_pushstring(L, file->path);
        lua_setfield(L, -2, "path");
        lua_pushstring(L, file->digest);
        lua_setfield(L, -2, "digest");
        lua_pushstring(L, file->by);
        lua_setfield(L, -2, "by");
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

/* core.real_path(path) -> absolute and without links; nil when the file does not exist */
static int l_real_path(lua_State *L) {
    char path[PATH_MAX];
    if (!realpath(luaL_checkstring(L, 1), path)) return 0;
    lua_pushstring(L, path);
    return 1;
}

/* core.exists(path): whatever it is, a link that leads nowhere too. */
static int l_exists(lua_State *L) {
    struct stat status;
    lua_pushboolean(L, lstat(luaL_checkstring(L, 1), &status) == 0);
    return 1;
}

void files_open(lua_State *L) {
    static const luaL_Reg functions[] = {{"note_file", l_note_file},
                                         {"noted_files", l_noted_files},
                                         {"real_path", l_real_path},
                                         {"exists", l_exists},
                                         {NULL, NULL}};
    luaL_setfuncs(L, functions, 0);
}
