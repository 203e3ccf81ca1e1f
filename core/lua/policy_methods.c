/* What policies can ask of objects, beside values by name. */
#include "core/gpu/sm.h"
#include "core/lua/policy_object.h"

#include <lauxlib.h>

/* sm:oldest(set, n) -> the n oldest warps of the set */
static int sm_oldest_warps(lua_State *L, SimObject *object) {
    const Sm *sm = (const Sm *)object;
    WarpSet set = (WarpSet)luaL_checkinteger(L, 2), oldest = 0;
    lua_Integer n = luaL_checkinteger(L, 3);
    WarpSet known = 0;
    for (uint32_t i = 0; i < sm->resident; i++)
        known |= sm->cta_by_age[i];
    for (set &= known; set && n > 0; n--) {
        WarpSet bit = warp_bit(sm_oldest(sm, set));
        oldest |= bit;
        set &= ~bit;
    }
    lua_pushinteger(L, (lua_Integer)oldest);
    return 1;
}

/* sm:warps_of(scheduler) -> the set of its warps */
static int sm_warps_of(lua_State *L, SimObject *object) {
    const Sm *sm = (const Sm *)object;
    lua_Integer scheduler = luaL_checkinteger(L, 2);
    luaL_argcheck(L, scheduler >= 0 && scheduler < sm->schedulers, 2, "no such scheduler");
    lua_pushinteger(L, (lua_Integer)sm->sched[scheduler].warps);
    return 1;
}

/* sm:last(scheduler) -> the warp that it issued last */
static int sm_last(lua_State *L, SimObject *object) {
    const Sm *sm = (const Sm *)object;
    lua_Integer scheduler = luaL_checkinteger(L, 2);
    luaL_argcheck(L, scheduler >= 0 && scheduler < sm->schedulers, 2, "no such scheduler");
    lua_pushinteger(L, sm->sched[scheduler].last);
    return 1;
}

/* sm:cta_warps(warp) -> the set of the warps of its CTA */
static int sm_cta_warps(lua_State *L, SimObject *object) {
    const Sm *sm = (const Sm *)object;
    lua_Integer warp = luaL_checkinteger(L, 2);
    luaL_argcheck(L, warp >= 0 && warp < sm->warps, 2, "no such warp");
    lua_pushinteger(L, (lua_Integer)sm->cta[sm->warp[warp].cta_slot].warps);
    return 1;
}

const PolicyMethod policy_methods[] = {
    {"SM", "oldest", sm_oldest_warps},
    {"SM", "warps_of", sm_warps_of},
    {"SM", "last", sm_last},
    {"SM", "cta_warps", sm_cta_warps},
    {NULL, NULL, NULL},
};
