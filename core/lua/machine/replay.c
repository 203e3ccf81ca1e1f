/* Recorded traces of caches, for scripts/belady. */
#include "mem/parts/access_trace/replay.h"

#include "core/lua/bindings.h"

static TraceReader *open_trace(const char *file) {
    char why[TRACE_WHY];
    TraceReader *trace = trace_open(file, why);
    if (!trace) user_error("trace %s: %s", file, why);
    return trace;
}

static void set_integer(lua_State *L, const char *name, uint64_t value) {
    lua_pushinteger(L, (lua_Integer)value);
    lua_setfield(L, -2, name);
}

/* core.trace_header(file) -> { path =, size =, ways =, line =, sectors =, index =, index_masks =, before =,
 * on_fill = } */
static int l_trace_header(lua_State *L) {
    const char *file = luaL_checkstring(L, 1);
    raise_user_errors_in(L);
    TraceReader *trace = open_trace(file);
    TraceHeader header = *trace_header(trace);
    trace_close(trace);
    lua_newtable(L);
    set_integer(L, "size", header.geometry.size);
    set_integer(L, "ways", header.geometry.ways);
    set_integer(L, "line", header.geometry.line);
    set_integer(L, "sectors", header.geometry.sectors);
    set_integer(L, "before", header.before);
    lua_pushstring(L, header.path);
    lua_setfield(L, -2, "path");
    lua_pushstring(L, header.geometry.index == INDEX_LINEAR ? "linear" : "xor");
    lua_setfield(L, -2, "index");
    lua_pushstring(L, header.masks);
    lua_setfield(L, -2, "index_masks");
    lua_pushboolean(L, header.on_fill != 0);
    lua_setfield(L, -2, "on_fill");
    return 1;
}

static void set_counts(lua_State *L, const char *name, const ReplayCounts *counts) {
    lua_newtable(L);
    set_integer(L, "hits", counts->hits);
    set_integer(L, "misses", counts->misses);
    set_integer(L, "merges", counts->merges);
    lua_setfield(L, -2, name);
}

/* The cache of the arguments size, ways, index, index_masks from `first` on; a user error if there is none such. */
static TagShape read_shape(lua_State *L, int first, uint32_t line, uint32_t sectors) {
    lua_Integer size = luaL_checkinteger(L, first), ways = luaL_checkinteger(L, first + 1);
    const char *index = luaL_optstring(L, first + 2, "linear");
    raise_user_errors_in(L);
    if (ways < 1 || ways > REPLAY_WAYS_MAX)
        user_error("replay.ways: expected 1 to %d, got %lld", REPLAY_WAYS_MAX, ways);
    TagGeometry geometry = {.size = (uint64_t)size,
                            .ways = (uint32_t)ways,
                            .line = line,
                            .sectors = sectors,
                            .index = index[0] == 'x' ? INDEX_XOR : INDEX_LINEAR,
                            .index_masks = luaL_optstring(L, first + 3, "")};
    TagShape shape;
    tag_shape_init(&shape, "replay", &geometry);
    return shape;
}

/* core.check_replay(size, ways, index, index_masks, line, sectors): a user error if there is no such cache. */
static int l_check_replay(lua_State *L) {
    uint32_t line = (uint32_t)luaL_checkinteger(L, 5), sectors = (uint32_t)luaL_checkinteger(L, 6);
    read_shape(L, 1, line, sectors);
    return 0;
}

/* core.replay(file, size, ways, index, index_masks) -> { measured =, timed =, lru =, optimal = }, each { hits
 * =, misses =, merges = } */
static int l_replay(lua_State *L) {
    const char *file = luaL_checkstring(L, 1);
    raise_user_errors_in(L);
    TraceReader *trace = open_trace(file);
    uint32_t line = trace_header(trace)->geometry.line, sectors = trace_header(trace)->geometry.sectors;
    trace_close(trace); /* what follows may be a user error */
    TagShape shape = read_shape(L, 2, line, sectors);
    Replay replay;
    char why[TRACE_WHY];
    trace = open_trace(file);
    bool good = replay_trace(trace, &shape, &replay, why);
    trace_close(trace);
    if (!good) user_error("trace %s: %s", file, why);
    lua_newtable(L);
    set_counts(L, "measured", &replay.measured);
    set_counts(L, "timed", &replay.timed);
    set_counts(L, "lru", &replay.lru);
    set_counts(L, "optimal", &replay.optimal);
    return 1;
}

void replay_open(lua_State *L) {
    static const luaL_Reg functions[] = {{"trace_header", l_trace_header},
                                         {"replay", l_replay},
                                         {"check_replay", l_check_replay},
                                         {NULL, NULL}};
    luaL_setfuncs(L, functions, 0);
}
