#include "core/lua/host/interpreter.h"

#include "core/lua/bindings.h"
#include "core/lua/host/library.h"
#include "core/lua/host/own_state.h"

#include <limits.h>
#include <lualib.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Keys of the registry. */
static const char home_key[] = "warpwright.home";
static const char library_key[] = "warpwright library";
static const char traceback_key[] = "warpwright.traceback";
static const char thrown_key[] = "warpwright.thrown", thrown_place_key[] = "warpwright.thrown at";

static bool holds_configs(const char *folder) {
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/configs", folder);
    return access(path, R_OK | X_OK) == 0;
}

/* Paths in messages are easier to read relative to where the user stands. */
static char *relative_to_current_folder(const char *path) {
    char current[PATH_MAX];
    size_t length;
    if (!getcwd(current, sizeof current)) return strdup(path);
    length = strlen(current);
    if (strcmp(path, current) == 0) return strdup(".");
    return strdup(strncmp(path, current, length) == 0 && path[length] == '/' ? path + length + 1 : path);
}

bool program_folder(char folder[PATH_MAX]) {
    ssize_t length = readlink("/proc/self/exe", folder, PATH_MAX - 1);
    if (length <= 0) return false;
    folder[length] = 0;
    *strrchr(folder, '/') = 0;
    return true;
}

char *interpreter_find_home(void) {
    static const char *const beside_program[] = {"../..", "../share/warpwright"};
    char program[PATH_MAX], candidate[PATH_MAX + 32], home[PATH_MAX];
    const char *given = getenv("WARPWRIGHT_HOME");
    if (given && *given) {
        if (!realpath(given, home) || !holds_configs(home))
            user_error("WARPWRIGHT_HOME: expected a folder with a folder 'configs', got '%s'", given);
        return relative_to_current_folder(home);
    }
    bool is_known = program_folder(program);
    ensure(is_known);
    for (size_t i = 0; i < sizeof beside_program / sizeof *beside_program; i++) {
        snprintf(candidate, sizeof candidate, "%s/%s", program, beside_program[i]);
        if (realpath(candidate, home) && holds_configs(home)) return relative_to_current_folder(home);
    }
    user_error("home: expected a folder 'configs' in %s/../.. or %s/../share/warpwright, got none; "
               "WARPWRIGHT_HOME can name the folder that holds it",
               program, program);
}

static bool is_library(lua_State *L, const char *source) {
    size_t length;
    lua_getfield(L, LUA_REGISTRYINDEX, library_key);
    const char *library = lua_tolstring(L, -1, &length);
    bool is = strncmp(source + 1, library, length) == 0;
    lua_pop(L, 1);
    return is;
}

static bool is_users(lua_State *L, const lua_Debug *frame, int line) {
    return line > 0 && *frame->source == '@' && !is_library(L, frame->source);
}

void push_user_location(lua_State *L) {
    lua_Debug frame;
    for (int level = 0; lua_getstack(L, level, &frame); level++) {
        lua_getinfo(L, "Sl", &frame);
        if (!is_users(L, &frame, frame.currentline)) continue;
        lua_pushfstring(L, "%s:%d: ", frame.source + 1, frame.currentline);
        return;
    }
    lua_pushliteral(L, "");
}

void push_definition_location(lua_State *L, int index) {
    lua_Debug function;
    lua_pushvalue(L, index);
    lua_getinfo(L, ">S", &function);
    if (is_users(L, &function, function.linedefined))
        lua_pushfstring(L, "%s:%d: ", function.source + 1, function.linedefined);
    else
        lua_pushliteral(L, "");
}

void raise_from_place(lua_State *L, const char *message, const char *words) {
    size_t length;
    luaL_checkstack(L, 8, NULL);
    push_user_location(L);
    const char *place = lua_tolstring(L, -1, &length);
    lua_pushstring(L, message);
    if (length) {
        lua_pushfstring(L, "; %s ", words);
        lua_pushlstring(L, place, length - strlen(": "));
        lua_concat(L, 3);
    }
    lua_error(L);
    abort();
}

/* The message first: it is gone once a finalizer has had a user error of its own. */
static void raise_in_lua(void *context, const char *message) {
    lua_State *L = context;
    luaL_checkstack(L, 8, NULL);
    lua_pushstring(L, message);
    push_user_location(L);
    lua_insert(L, -2);
    lua_concat(L, 2);
    lua_error(L);
}

void raise_user_errors_in(lua_State *L) {
    user_error_handler(raise_in_lua, L);
}

const char *push_given(lua_State *L, int index) {
    switch (lua_type(L, index)) {
    case LUA_TSTRING: return lua_pushfstring(L, "'%s'", lua_tostring(L, index));
    case LUA_TNIL: return lua_pushliteral(L, "nil");
    case LUA_TNONE: return lua_pushliteral(L, "nothing");
    case LUA_TBOOLEAN: return lua_pushstring(L, lua_toboolean(L, index) ? "true" : "false");
    case LUA_TNUMBER: return luaL_tolstring(L, index, NULL);
    default: return lua_pushfstring(L, "a %s", luaL_typename(L, index));
    }
}

void user_error_got(lua_State *L, int index, const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    user_error("%s, got %s", text, push_given(L, index));
}

lua_Integer whole_argument(lua_State *L, int index, const char *what) {
    int whole;
    lua_Integer value = lua_tointegerx(L, index, &whole);
    if (!whole) user_error_got(L, index, "%s: expected a whole number", what);
    return value;
}

bool flag_argument(lua_State *L, int index, const char *what) {
    if (!lua_isnoneornil(L, index) && !lua_isboolean(L, index))
        user_error_got(L, index, "%s: expected true or false", what);
    return lua_toboolean(L, index);
}

/* Of a table and the like Lua has an address alone, which differs from run to run. */
static bool has_text(lua_State *L, int index) {
    int type = lua_type(L, index);
    if (type == LUA_TNIL) return false;
    if (type != LUA_TLIGHTUSERDATA && type < LUA_TTABLE) return true;
    if (luaL_getmetafield(L, index, "__tostring") == LUA_TNIL) return false;
    lua_pop(L, 1);
    return true;
}

/* The place where the value on top of the stack was thrown, as far as message handlers have noted it. */
static const char *push_thrown_place(lua_State *L) {
    lua_getfield(L, LUA_REGISTRYINDEX, thrown_key);
    bool is_noted = !lua_isnil(L, -1) && lua_rawequal(L, -1, -2);
    lua_pop(L, 1);
    if (is_noted)
        lua_getfield(L, LUA_REGISTRYINDEX, thrown_place_key);
    else
        lua_pushliteral(L, "");
    return lua_tostring(L, -1);
}

/* A value that is thrown again keeps its place. */
static void note_thrown_place(lua_State *L, int index) {
    lua_getfield(L, LUA_REGISTRYINDEX, thrown_key);
    bool is_noted = lua_rawequal(L, -1, index);
    lua_pop(L, 1);
    if (is_noted) return;
    lua_pushvalue(L, index);
    lua_setfield(L, LUA_REGISTRYINDEX, thrown_key);
    push_user_location(L);
    lua_setfield(L, LUA_REGISTRYINDEX, thrown_place_key);
}

static int l_text(lua_State *L) {
    luaL_tolstring(L, 1, NULL);
    return 1;
}

/* Of the text on top of the stack: who takes it for one of C sees no more than what is in front of a NUL. */
static void write_out_nuls(lua_State *L) {
    size_t length;
    luaL_Buffer written;
    const char *text = lua_tolstring(L, -1, &length);
    if (strlen(text) == length) return;
    luaL_buffinit(L, &written);
    for (size_t i = 0; i < length; i++) {
        if (text[i])
            luaL_addchar(&written, text[i]);
        else
            luaL_addstring(&written, "\\0");
    }
    luaL_pushresult(&written);
    lua_replace(L, -2);
}

const char *thrown_text(lua_State *L) {
    if (!has_text(L, -1)) {
        const char *place = push_thrown_place(L);
        lua_pushfstring(L, "%serror: expected a text, got %s", place, push_given(L, -2));
        lua_replace(L, -4);
        lua_pop(L, 2);
    }
    if (lua_type(L, -1) != LUA_TSTRING) {
        lua_pushcfunction(L, l_text);
        lua_insert(L, -2);
        lua_pcall(L, 1, 1, 0);
    }
    if (lua_type(L, -1) != LUA_TSTRING) return "it threw a value without text";
    write_out_nuls(L);
    return lua_tostring(L, -1);
}

void define_type(lua_State *L, const char *type, const luaL_Reg *metamethods, const luaL_Reg *methods) {
    luaL_newmetatable(L, type);
    luaL_setfuncs(L, metamethods, 0);
    if (methods) {
        lua_newtable(L);
        lua_pushvalue(L, -2);
        luaL_setfuncs(L, methods, 1);
        lua_setfield(L, -2, "__index");
    }
    lua_pushboolean(L, false);
    lua_setfield(L, -2, "__metatable");
    lua_pop(L, 1);
}

void *type_test(lua_State *L, int index, const char *type) {
    void *data = lua_touserdata(L, index);
    if (!data || !lua_getmetatable(L, index)) return NULL;
    bool is_own = lua_rawequal(L, -1, lua_upvalueindex(1));
    lua_pop(L, 1);
    return is_own ? data : luaL_testudata(L, index, type);
}

static void list_legal(const char *const *legal, char *text, size_t size) {
    size_t used = 0;
    for (; *legal && used < size; legal++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", *legal);
}

/* A user error unless every key of the table at `index` is one of `legal` (ends with NULL). */
static void check_keys(lua_State *L, int index, const char *where, const char *const *legal) {
    char names[256];
    index = lua_absindex(L, index);
    for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
        const char *const *name = legal;
        const char *key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : NULL;
        while (key && *name && strcmp(*name, key) != 0)
            name++;
        if (key && *name) continue;
        list_legal(legal, names, sizeof names);
        lua_pushvalue(L, -2);
        user_error("%s: no field matches '%s'; available: %s", where, lua_tostring(L, -1), names);
    }
}

void take_options(lua_State *L, int index, const char *where, const char *const *legal) {
    luaL_checktype(L, index, LUA_TTABLE);
    check_keys(L, index, where, legal);
    lua_newtable(L);
    for (; *legal; legal++) {
        lua_getfield(L, index, *legal);
        lua_setfield(L, -2, *legal);
    }
    lua_replace(L, index);
}

/* core.user_error(message): for errors that the library finds. */
static int l_user_error(lua_State *L) {
    raise_user_errors_in(L);
    user_error("%s", luaL_checkstring(L, 1));
}

/* core.location(coroutine or nil) -> "FILE:LINE: " of the user's Lua code at work, or "" */
static int l_location(lua_State *L) {
    lua_State *of = lua_isthread(L, 1) ? lua_tothread(L, 1) : L;
    luaL_checkstack(of, 4, NULL);
    push_user_location(of);
    lua_xmove(of, L, 1);
    return 1;
}

/* core.home_path("configs/gtx480.lua") */
static int l_home_path(lua_State *L) {
    const char *below = luaL_checkstring(L, 1);
    lua_getfield(L, LUA_REGISTRYINDEX, home_key);
    const char *home = lua_tostring(L, -1);
    if (strcmp(home, ".") == 0)
        lua_pushstring(L, below);
    else
        lua_pushfstring(L, "%s/%s", home, below);
    return 1;
}

const char *interpreter_home(lua_State *L) {
    lua_getfield(L, LUA_REGISTRYINDEX, home_key);
    const char *home = lua_tostring(L, -1);
    lua_pop(L, 1);
    return home; /* the registry keeps it */
}

/* `error` and `assert` throw what they are given; every other C function throws what it has to say itself. */
static bool is_thrown_by_function_in_c(lua_State *L) {
    lua_Debug frame;
    if (!lua_getstack(L, 1, &frame) || !lua_getinfo(L, "Sf", &frame)) return false;
    bool passes_on = lua_rawget(L, LUA_REGISTRYINDEX) != LUA_TNIL;
    lua_pop(L, 1);
    return *frame.what == 'C' && !passes_on;
}

static bool is_text_of_library(lua_State *L, const char *message) {
    size_t length;
    lua_getfield(L, LUA_REGISTRYINDEX, library_key);
    const char *library = lua_tolstring(L, -1, &length);
    lua_pop(L, 1);
    return strncmp(message, library, length) == 0; /* the registry keeps it */
}

/* The library's own place tells a user nothing: an error that Lua finds there, over a value that a user gave, has the
 * user's place in front of it. So has one that Lua finds within a C function, such as the iterator of ipairs(nil), to
 * which it gives no place, and one of nil, which cannot be noted. */
static void add_user_place(lua_State *L) {
    bool is_nil = lua_isnil(L, 1), is_text = lua_type(L, 1) == LUA_TSTRING;
    const char *message = is_text ? lua_tostring(L, 1) : "";
    bool lacks_place = is_text && location_length(message) == 0 && is_thrown_by_function_in_c(L);
    if (!is_nil && !lacks_place && !is_text_of_library(L, message)) return;
    push_user_location(L);
    size_t length;
    const char *place = lua_tolstring(L, -1, &length);
    const char *words = lua_pushlstring(L, place, length ? length - strlen(": ") : 0);
    bool is_told = lacks_place && strstr(message, words);
    lua_pop(L, is_told ? 2 : 1);
    if (is_told) return;
    if (is_nil)
        lua_pushliteral(L, "error: expected a text, got nil");
    else
        lua_pushvalue(L, 1);
    lua_concat(L, 2);
    lua_replace(L, 1);
}

/* The message handler of protected calls: adds a stack traceback where one is asked for. */
static int l_message_handler(lua_State *L) {
    lua_settop(L, 1);
    luaL_checkstack(L, 8, NULL);
    add_user_place(L);
    bool wanted = lua_getfield(L, LUA_REGISTRYINDEX, traceback_key) != LUA_TNIL;
    lua_pop(L, 1);
    const char *message = lua_type(L, 1) == LUA_TSTRING ? lua_tostring(L, 1) : NULL;
    if (!has_text(L, 1)) note_thrown_place(L, 1);
    if (wanted && message && !strstr(message, "\nstack traceback:")) luaL_traceback(L, L, message, 1);
    return 1;
}

void push_message_handler(lua_State *L) {
    lua_pushcfunction(L, l_message_handler);
}

/* core.thrown_text(value): what pcall or xpcall caught, in words. */
static int l_thrown_text(lua_State *L) {
    lua_settop(L, 1);
    thrown_text(L);
    return 1;
}

/* core.want_traceback(): errors show the stack from here on. */
static int l_want_traceback(lua_State *L) {
    lua_pushboolean(L, true);
    lua_setfield(L, LUA_REGISTRYINDEX, traceback_key);
    return 0;
}

static int open_core(lua_State *L) {
    static const luaL_Reg functions[] = {
        {"user_error", l_user_error},
        {"location", l_location},
        {"home_path", l_home_path},
        {"message_handler", l_message_handler},
        {"want_traceback", l_want_traceback},
        {"thrown_text", l_thrown_text},
        {NULL, NULL},
    };
    luaL_newlib(L, functions);
    array_open(L);
    array_data_open(L);
    modules_open(L);
    memcheck_open(L);
    profile_open(L);
    histograms_open(L);
    kernel_counts_open(L);
    random_open(L);
    float32_open(L);
    machine_open(L);
    class_rows_open(L);
    counters_open(L);
    stats_open(L);
    sampler_open(L);
    gpu_open(L);
    launch_open(L);
    sampling_open(L);
    counter_vectors_open(L);
    checkpoint_open(L);
    files_open(L);
    library_open(L);
    policy_open(L);
    lua_class_open(L);
    lua_port_open(L);
    replay_open(L);
    cuda_open(L);
    tracing_open(L);
    host_open(L);
    children_open(L);
    connection_open(L);
    stand_by_open(L);
    live_open(L);
    lua_share_open(L);
    packing_open(L);
    database_open(L);
    return 1;
}

/* In front of the searchers of files, behind that of what is preloaded. */
static void add_library_searcher(lua_State *L, const char *folder) {
    enum { PLACE = 2 };
    lua_getglobal(L, "package");
    lua_getfield(L, -1, "searchers");
    for (lua_Integer i = luaL_len(L, -1); i >= PLACE; i--) {
        lua_geti(L, -1, i);
        lua_seti(L, -2, i + 1);
    }
    push_library_searcher(L, folder);
    lua_seti(L, -2, PLACE);
    lua_pop(L, 2);
}

/* `require` finds the library first, then what lies in the home folder ("workloads.lib.graph"), then Lua's
 * own. */
static void set_package_path(lua_State *L, const char *home) {
    const char *prefix = strcmp(home, ".") == 0 ? "" : lua_pushfstring(L, "%s/", home);
    const char *library = lua_pushfstring(L, "%s" LIBRARY_FOLDER "/", prefix);
    add_library_searcher(L, library);
    lua_setfield(L, LUA_REGISTRYINDEX, library_key);
    lua_getglobal(L, "package");
    lua_getfield(L, -1, "path");
    lua_pushfstring(L, "%s" LIBRARY_FOLDER "/?.lua;%s?.lua;%s", prefix, prefix, lua_tostring(L, -1));
    lua_setfield(L, -3, "path");
}

static void note_functions_that_pass_on(lua_State *L) {
    static const char *const names[] = {"error", "assert"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        lua_getglobal(L, names[i]);
        lua_pushboolean(L, true);
        lua_rawset(L, LUA_REGISTRYINDEX);
    }
}

lua_State *interpreter_new(const char *home) {
    lua_State *L = luaL_newstate();
    const char *traceback = getenv("WARPWRIGHT_TRACEBACK");
    ensure(L);
    luaL_openlibs(L);
    note_functions_that_pass_on(L);
    lua_pushstring(L, home);
    lua_setfield(L, LUA_REGISTRYINDEX, home_key);
    if (traceback && strcmp(traceback, "1") == 0) lua_pushcfunction(L, l_want_traceback), lua_call(L, 0, 0);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
    lua_pushcfunction(L, open_core);
    lua_setfield(L, -2, "warpwright.core");
    set_package_path(L, home);
    lua_settop(L, 0);
    return L;
}

/* Errors are strings; a failed verification is a table with a message and an exit status. */
static int report_error(lua_State *L) {
    int status = EXIT_USER_ERROR;
    if (lua_istable(L, -1)) {
        lua_pushliteral(L, "exit_status");
        if (lua_rawget(L, -2) == LUA_TNUMBER) status = (int)lua_tointeger(L, -1);
        lua_pop(L, 1);
    }
    fprintf(stderr, "warpwright: %s%s\n", status == EXIT_USER_ERROR ? "error: " : "", thrown_text(L));
    return status;
}

int interpreter_run(lua_State *L, int argc, char **argv) {
    lua_pushcfunction(L, l_message_handler);
    lua_getglobal(L, "require");
    lua_pushliteral(L, "warpwright.command_line");
    int status = lua_pcall(L, 1, 1, 1);
    if (status == LUA_OK) {
        lua_createtable(L, argc, 1);
        for (int i = 0; i < argc; i++) {
            lua_pushstring(L, argv[i]);
            lua_rawseti(L, -2, i);
        }
        status = lua_pcall(L, 1, 1, 1);
    }
    int exit_status = status == LUA_OK ? (int)lua_tointeger(L, -1) : report_error(L);
    user_error_handler(NULL, NULL);
    lua_settop(L, 0);
    return exit_status;
}
