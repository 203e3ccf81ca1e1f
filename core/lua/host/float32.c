/* ww.float32: arithmetic in single precision, for results that must agree with a kernel's to the last bit. Numbers of
 * Lua are in double precision; arguments that are no singles are rounded first. */
#include "core/lua/bindings.h"

#include <math.h>

static float single_at(lua_State *L, int index) {
    int is_number;
    double value = lua_tonumberx(L, index, &is_number);
    if (__builtin_expect(!is_number, 0)) {
        raise_user_errors_in(L);
        user_error_got(L, index, "float32: expected a number");
    }
    return (float)value;
}

static int l_round(lua_State *L) {
    lua_pushnumber(L, (double)single_at(L, 1));
    return 1;
}

/* a * b + c, rounded once. */
static int l_fma(lua_State *L) {
    lua_pushnumber(L, (double)fmaf(single_at(L, 1), single_at(L, 2), single_at(L, 3)));
    return 1;
}

void float32_open(lua_State *L) {
    static const luaL_Reg functions[] = {{"round", l_round}, {"fma", l_fma}, {NULL, NULL}};
    luaL_newlib(L, functions);
    lua_setfield(L, -2, "float32");
}
