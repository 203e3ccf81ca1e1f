/* ww.rng(seed): a sequence of random numbers that stays the same for ever. */
#include "core/sim/base/random.h"

#include "core/lua/bindings.h"
#include "core/lua/device/array.h"

static const char random_type[] = "warpwright.random";

static Random *receiver(lua_State *L) {
    return luaL_checkudata(L, 1, random_type);
}

/* rng:int(lo, hi): lo to hi, both included. */
static int l_int(lua_State *L) {
    Random *random = receiver(L);
    lua_Integer lo = luaL_checkinteger(L, 2), hi = luaL_checkinteger(L, 3);
    uint64_t span = (uint64_t)hi - (uint64_t)lo + 1; /* 0: all 64 bits */
    raise_user_errors_in(L);
    if (lo > hi) user_error("rng:int: expected lo <= hi, got %lld and %lld", lo, hi);
    lua_pushinteger(L,
                    (lua_Integer)((uint64_t)lo + (span ? random_below(random, span) : random_next(random))));
    return 1;
}

/* rng:float(): in [0, 1). */
static int l_float(lua_State *L) {
    lua_pushnumber(L, random_unit(receiver(L)));
    return 1;
}

static int l_rng(lua_State *L) {
    uint64_t seed = (uint64_t)luaL_checkinteger(L, 1);
    *(Random *)lua_newuserdatauv(L, sizeof(Random), 0) = (Random){seed};
    luaL_setmetatable(L, random_type);
    return 1;
}

/* core.fill_congruential(array of f32, seed): with the generator that job files are defined by, uniform in
 * [0, 1) with 24 bits. */
static int l_fill_congruential(lua_State *L) {
    raise_user_errors_in(L);
    Array *array = array_at(L, 1, "fill_congruential");
    uint64_t state = (uint64_t)luaL_checkinteger(L, 2);
    luaL_argcheck(L, array->type == ELEMENT_F32, 1, "expected an array of f32");
    float *element = (float *)array->data;
    for (uint64_t i = 0; i < array->count; i++) {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        element[i] = (float)(state >> 40) * 0x1p-24f;
    }
    return 0;
}

void random_open(lua_State *L) {
    static const luaL_Reg metamethods[] = {{NULL, NULL}};
    static const luaL_Reg methods[] = {{"int", l_int}, {"float", l_float}, {NULL, NULL}};
    static const luaL_Reg functions[] = {
        {"rng", l_rng}, {"fill_congruential", l_fill_congruential}, {NULL, NULL}};
    define_type(L, random_type, metamethods, methods);
    luaL_setfuncs(L, functions, 0);
}
