#include "core/lua/host/library.h"

#include "core/lua/bindings.h"
#include "core/lua/host/interpreter.h"
#include "core/sim/checkpoint/buffer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The file of compiled modules: the magic number, and of each module its place below the library, the digest of its
 * text, that of what lua_dump() made of it, and this in two parts: between them Lua wants the name of the file, which
 * depends on where the user stands. */
#define MAGIC "WWLUA54\1"
enum { MAGIC_BYTES = 8 };

static const char *const beside_program[] = {"library.compiled", "../share/warpwright/library.compiled"};

typedef struct {
    const void *bytes;
    size_t count;
} Part;

typedef struct {
    char place[64];
    uint64_t text_digest, digest;
    Part before_name, after_name;
    atomic_bool is_of_this_text; /* as one state has seen: others of this process need not read the text */
} CompiledModule;

static struct {
    pthread_once_t once;
    CompiledModule *modules;
    size_t count;
} compiled = {.once = PTHREAD_ONCE_INIT};

/* All of a file, or false. */
static bool read_file(const char *path, Buffer *text) {
    struct stat status;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    bool is_read = fstat(file, &status) == 0 && S_ISREG(status.st_mode);
    if (is_read) {
        text->capacity = (size_t)status.st_size + 1;
        text->bytes = malloc(text->capacity);
        ensure_memory(text->bytes);
        ssize_t count = read(file, text->bytes, text->capacity);
        is_read = count == status.st_size;
        text->count = is_read ? (size_t)count : 0;
    }
    close(file);
    return is_read;
}

/* ---- what a build compiled */

static uint64_t digest_of(Part before_name, Part after_name) {
    return hash_bytes(hash_bytes(0, before_name.bytes, before_name.count), after_name.bytes,
                      after_name.count);
}

static Part read_part(Reader *reader) {
    size_t count = (size_t)reader_u64(reader);
    return (Part){reader_bytes(reader, count), count};
}

static bool read_module(Reader *reader, CompiledModule *module) {
    if (!reader_text(reader, module->place, sizeof module->place)) return false;
    module->text_digest = reader_u64(reader);
    module->digest = reader_u64(reader);
    module->before_name = read_part(reader);
    module->after_name = read_part(reader);
    return !reader->failed;
}

/* A file that is damaged, or of another time, has no modules, or fewer. */
static void read_modules(const void *bytes, size_t count) {
    Reader reader = {.bytes = bytes, .count = count};
    const void *magic = reader_bytes(&reader, MAGIC_BYTES);
    if (!magic || memcmp(magic, MAGIC, MAGIC_BYTES) != 0) return;
    while (!reader_at_end(&reader)) {
        compiled.modules = realloc(compiled.modules, (compiled.count + 1) * sizeof *compiled.modules);
        ensure_memory(compiled.modules);
        memset(&compiled.modules[compiled.count], 0, sizeof *compiled.modules);
        if (!read_module(&reader, &compiled.modules[compiled.count])) return;
        compiled.count++;
    }
}

/* It stays mapped as long as the process: a run reads a part of it. A build puts a new one in its place. */
static bool map_modules(const char *path) {
    struct stat status;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
        void *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
        if (bytes != MAP_FAILED) read_modules(bytes, (size_t)status.st_size);
    }
    close(file);
    return compiled.count > 0;
}

static void find_modules(void) {
    char folder[PATH_MAX], path[PATH_MAX + 64];
    if (!program_folder(folder)) return;
    for (size_t i = 0; i < sizeof beside_program / sizeof *beside_program; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, beside_program[i]);
        if (map_modules(path)) return;
    }
}

static CompiledModule *module_at(const char *place) {
    pthread_once(&compiled.once, find_modules);
    for (size_t i = 0; i < compiled.count; i++)
        if (strcmp(compiled.modules[i].place, place) == 0) return &compiled.modules[i];
    return NULL;
}

/* As Lua 5.4 dumps a text: the length and one, seven bits in a byte, the last byte marked; then its bytes. */
typedef struct {
    uint8_t bytes[10];
    size_t begin;
} DumpedLength;

static DumpedLength dumped_length(const char *text) {
    DumpedLength length = {.begin = sizeof length.bytes - 1};
    size_t value = strlen(text) + 1;
    length.bytes[length.begin] = (uint8_t)((value & 0x7f) | 0x80);
    while ((value >>= 7) && length.begin > 0)
        length.bytes[--length.begin] = (uint8_t)(value & 0x7f);
    return length;
}

static Part part_of(const DumpedLength *length) {
    return (Part){length->bytes + length->begin, sizeof length->bytes - length->begin};
}

typedef struct {
    Part parts[4];
    size_t next;
} Parts;

static const char *next_part(lua_State *L, void *parts_, size_t *count) {
    Parts *parts = parts_;
    (void)L;
    if (parts->next == sizeof parts->parts / sizeof *parts->parts) return NULL;
    *count = parts->parts[parts->next].count;
    return parts->parts[parts->next++].bytes;
}

/* Pushes the module as a function whose source is `name`. Another Lua than the build's refuses it. */
static bool push_compiled(lua_State *L, const CompiledModule *module, const char *name) {
    DumpedLength length = dumped_length(name);
    lua_Debug function;
    Parts parts = {
        .parts = {module->before_name, part_of(&length), {name, strlen(name)}, module->after_name}};
    if (lua_load(L, next_part, &parts, name, "b") == LUA_OK) {
        lua_pushvalue(L, -1);
        lua_getinfo(L, ">S", &function);
        if (strcmp(function.source, name) == 0) return true;
    }
    lua_pop(L, 1);
    return false;
}

/* ---- compiling, at the end of a build */

static int append_dumped(lua_State *L, const void *bytes, size_t count, void *dump) {
    (void)L;
    buffer_append(dump, bytes, count);
    return 0;
}

static void append_part(Buffer *file, Part part) {
    buffer_u64(file, part.count);
    buffer_append(file, part.bytes, part.count);
}

/* Compiled under its place, which stands in the dump once. */
static void append_module(lua_State *L, Buffer *file, const char *folder, const char *place) {
    Buffer text = {0}, dump = {0};
    int top = lua_gettop(L);
    const char *path = lua_pushfstring(L, "%s%s", folder, place);
    if (!read_file(path, &text)) user_error("%s: cannot read it", path);
    if (luaL_loadbufferx(L, (char *)text.bytes, text.count, place, "t") != LUA_OK)
        user_error("%s", lua_tostring(L, -1));
    lua_dump(L, append_dumped, &dump, 0);
    DumpedLength length = dumped_length(place);
    Part length_part = part_of(&length);
    const uint8_t *name = memmem(dump.bytes, dump.count, place, strlen(place)),
                  *end = dump.bytes + dump.count;
    ensure(name && memcmp(name - length_part.count, length_part.bytes, length_part.count) == 0);
    Part before = {dump.bytes, (size_t)(name - dump.bytes) - length_part.count},
         after = {name + strlen(place), (size_t)(end - name) - strlen(place)};
    ensure(!memmem(after.bytes, after.count, place, strlen(place)));
    buffer_text(file, place);
    buffer_u64(file, hash_bytes(0, text.bytes, text.count));
    buffer_u64(file, digest_of(before, after));
    append_part(file, before);
    append_part(file, after);
    lua_settop(L, top);
    buffer_free(&text);
    buffer_free(&dump);
}

/* A process at work may have the old file mapped, so a new one takes its place. */
static bool write_file(const char *path, const Buffer *modules) {
    if (unlink(path) != 0 && errno != ENOENT) return false;
    FILE *file = fopen(path, "wb");
    if (!file) return false;
    bool is_written = fwrite(MAGIC, MAGIC_BYTES, 1, file) == 1 &&
                      fwrite(modules->bytes, modules->count, 1, file) == 1;
    return fclose(file) == 0 && is_written;
}

/* core.compile_library(path, { "warpwright/run.lua" ... }): writes the file of compiled modules. */
static int l_compile_library(lua_State *L) {
    const char *path = luaL_checkstring(L, 1);
    Buffer modules = {0};
    luaL_checktype(L, 2, LUA_TTABLE);
    raise_user_errors_in(L);
    const char *folder = lua_pushfstring(L, "%s/" LIBRARY_FOLDER "/", interpreter_home(L));
    lua_Unsigned count = lua_rawlen(L, 2);
    for (lua_Unsigned i = 1; i <= count; i++) {
        lua_rawgeti(L, 2, (lua_Integer)i);
        append_module(L, &modules, folder, lua_tostring(L, -1));
    }
    bool is_written = write_file(path, &modules);
    buffer_free(&modules);
    if (!is_written) user_error("%s: cannot write it: %s", path, strerror(errno));
    return 0;
}

/* ---- finding a module */

/* Pushes the function of the module in the file `name + 1`, and returns true; or else a message. */
static bool push_module(lua_State *L, const char *name, const char *place) {
    CompiledModule *module = module_at(place);
    if (module && atomic_load_explicit(&module->is_of_this_text, memory_order_relaxed) &&
        push_compiled(L, module, name))
        return true;
    Buffer text = {0};
    bool is_read = read_file(name + 1, &text), is_pushed = false;
    if (!is_read) {
        lua_pushfstring(L, "no file '%s'", name + 1);
    } else if (module && module->text_digest == hash_bytes(0, text.bytes, text.count) &&
               module->digest == digest_of(module->before_name, module->after_name) &&
               push_compiled(L, module, name)) {
        atomic_store_explicit(&module->is_of_this_text, true, memory_order_relaxed);
        is_pushed = true;
    } else {
        is_pushed = luaL_loadbufferx(L, (char *)text.bytes, text.count, name, "t") == LUA_OK;
    }
    buffer_free(&text);
    return is_pushed;
}

/* Of a name: "warpwright/run.lua" for warpwright.run; NULL when it is not of the library. */
static const char *push_place(lua_State *L, const char *name) {
    static const char top[] = "warpwright";
    size_t length = strlen(top);
    if (strncmp(name, top, length) != 0 || (name[length] && name[length] != '.')) return NULL;
    lua_pushfstring(L, "%s.lua", luaL_gsub(L, name, ".", "/"));
    return lua_tostring(L, -1);
}

/* searcher(name): the module's function and its path. */
static int l_search(lua_State *L) {
    const char *place = push_place(L, luaL_checkstring(L, 1));
    if (!place) return 0;
    const char *name = lua_pushfstring(L, "@%s%s", lua_tostring(L, lua_upvalueindex(1)), place);
    bool is_found = push_module(L, name, place);
    if (!is_found && access(name + 1, F_OK) == 0)
        return luaL_error(L, "error loading module '%s' from file '%s':\n\t%s", lua_tostring(L, 1), name + 1,
                          lua_tostring(L, -1));
    if (!is_found) return 1;
    lua_pushstring(L, name + 1);
    return 2;
}

void push_library_searcher(lua_State *L, const char *folder) {
    lua_pushstring(L, folder);
    lua_pushcclosure(L, l_search, 1);
}

void library_open(lua_State *L) {
    lua_pushcfunction(L, l_compile_library);
    lua_setfield(L, -2, "compile_library");
}
