/* What --histograms has counted, for Lua. */
#include "core/gpu/device/histograms.h"

#include "core/lua/bindings.h"
#include "core/lua/device/launch.h"

#include <stdlib.h>

/* core.start_histograms(gpu): before the first kernel */
static int l_start_histograms(lua_State *L) {
    const Machine *machine = gpu_at(L, 1);
    if (gpu_histograms(machine->gpu) || gpu_cycle(machine->gpu))
        user_error("histograms: expected a new GPU, got one that is in use");
    gpu_start_histograms(machine->gpu);
    return 0;
}

static void set_integer(lua_State *L, const char *name, uint64_t value) {
    lua_pushinteger(L, (lua_Integer)value);
    lua_setfield(L, -2, name);
}

/* { { from =, last =, count = } ... } of those that have counted anything */
static void push_buckets(lua_State *L, const Histogram *h) {
    lua_Integer n = 0;
    lua_newtable(L);
    for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        if (!h->bucket[i]) continue;
        lua_createtable(L, 0, 3);
        set_integer(L, "from", histogram_from(i));
        set_integer(L, "last", histogram_last(h, i));
        set_integer(L, "count", h->bucket[i]);
        lua_rawseti(L, -2, ++n);
    }
}

/* core.histograms(gpu) -> { { name =, unit =, sum =, buckets = { { from =, last =, count = } ... } } ... } in the order of
 * the objects */
static int l_histograms(lua_State *L) {
    Histograms *histograms = gpu_histograms(gpu_at(L, 1)->gpu);
    if (!histograms) user_error("histograms: expected a GPU with them, got none");
    uint32_t count = histograms_list(histograms, NULL, 0);
    NamedHistogram *list = lua_newuserdatauv(L, count * sizeof *list + 1, 0);
    histograms_list(histograms, list, count);
    lua_createtable(L, (int)count, 0);
    for (uint32_t i = 0; i < count; i++) {
        lua_createtable(L, 0, 4);
        lua_pushstring(L, list[i].name);
        lua_setfield(L, -2, "name");
        lua_pushstring(L, list[i].unit);
        lua_setfield(L, -2, "unit");
        set_integer(L, "sum", list[i].histogram->sum);
        push_buckets(L, list[i].histogram);
        lua_setfield(L, -2, "buckets");
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

void histograms_open(lua_State *L) {
    static const luaL_Reg functions[] = {
        {"start_histograms", l_start_histograms}, {"histograms", l_histograms}, {NULL, NULL}};
    luaL_setfuncs(L, functions, 0);
}
