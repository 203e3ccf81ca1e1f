/* ww.rng(seed): a sequence of random numbers that stays the same for ever. */
#include "core/sim/base/random.h"

#include "core/lua/bindings.h"
#include "core/lua/device/array.h"
#include "core/sim/base/host_memory.h"

static const char random_type[] = "warpwright.random";

static Random *receiver(lua_State *L) {
    Random *random = type_test(L, 1, random_type);
    return random ? random : luaL_checkudata(L, 1, random_type);
}

/* rng:int(lo, hi): lo to hi, both included. */
static int l_int(lua_State *L) {
    Random *random = receiver(L);
    raise_user_errors_in(L);
    lua_Integer lo = whole_argument(L, 2, "rng:int: lo"), hi = whole_argument(L, 3, "rng:int: hi");
    uint64_t span = (uint64_t)hi - (uint64_t)lo + 1; /* 0: all 64 bits */
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

/* rng:bytes(count, lo, hi): a string of bytes, each as rng:int(lo, hi) draws it. */
static int l_bytes(lua_State *L) {
    Random *random = receiver(L);
    raise_user_errors_in(L);
    uint64_t count = array_count_at(L, 2, "rng:bytes: count");
    lua_Integer lo = whole_argument(L, 3, "rng:bytes: lo"), hi = whole_argument(L, 4, "rng:bytes: hi");
    if (lo < 0 || hi > UINT8_MAX || lo > hi)
        user_error("rng:bytes: expected 0 <= lo <= hi <= 255, got %lld and %lld", lo, hi);
    if (count > memory_of_computer())
        user_error("rng:bytes: count: expected at most %lu, this computer's memory, got %lu",
                   memory_of_computer(), count);
    luaL_Buffer buffer;
    char *text = luaL_buffinitsize(L, &buffer, count);
    for (uint64_t i = 0; i < count; i++)
        text[i] = (char)(lo + (lua_Integer)random_below(random, (uint64_t)(hi - lo) + 1));
    luaL_pushresultsize(&buffer, count);
    return 1;
}

static int l_rng(lua_State *L) {
    raise_user_errors_in(L);
    uint64_t seed = (uint64_t)whole_argument(L, 1, "ww.rng: seed");
    *(Random *)lua_newuserdatauv(L, sizeof(Random), 0) = (Random){seed};
    luaL_setmetatable(L, random_type);
    return 1;
}

/* core.fill_congruential(array of f32, seed) -> the seed of what follows: with the generator that job files are
 * defined by, uniform in [0, 1) with 24 bits. */
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
    lua_pushinteger(L, (lua_Integer)state);
    return 1;
}

void random_open(lua_State *L) {
    static const luaL_Reg metamethods[] = {{NULL, NULL}};
    static const luaL_Reg methods[] = {{"int", l_int}, {"float", l_float}, {"bytes", l_bytes}, {NULL, NULL}};
    static const luaL_Reg functions[] = {
        {"rng", l_rng}, {"fill_congruential", l_fill_congruential}, {NULL, NULL}};
    define_type(L, random_type, metamethods, methods);
    luaL_setfuncs(L, functions, 0);
}
