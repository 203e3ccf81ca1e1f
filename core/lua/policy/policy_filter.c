#include "core/lua/policy/policy_filter.h"

#include "core/sim/sim.h"

#include <lauxlib.h>
#include <stdlib.h>

typedef struct {
    int64_t argument; /* its number */
    int64_t from, to, mask, is, every, at;
    int64_t is_last; /* of an alternative */
} Condition;

struct Filter {
    uint32_t count;
    Condition conditions[];
};

enum { NUMBERS = sizeof(Condition) / sizeof(int64_t) };

Filter *filter_new(lua_State *L, int index) {
    luaL_checktype(L, index, LUA_TTABLE);
    uint32_t count = (uint32_t)(lua_rawlen(L, index) / NUMBERS);
    Filter *filter = calloc(1, sizeof *filter + count * sizeof *filter->conditions);
    ensure_memory(filter);
    filter->count = count;
    int64_t *numbers = (int64_t *)filter->conditions;
    for (uint32_t i = 0; i < count * NUMBERS; i++) {
        lua_rawgeti(L, index, i + 1);
        numbers[i] = lua_tointeger(L, -1);
        lua_pop(L, 1);
    }
    for (uint32_t i = 0; i < count; i++)
        ensure(filter->conditions[i].argument >= 0 && filter->conditions[i].argument < EVENT_ARGUMENTS);
    return filter;
}

static bool holds(const Condition *c, int64_t value) {
    return value >= c->from && value <= c->to && (value & c->mask) == c->is &&
           (c->every == 1 || value % c->every == c->at);
}

bool filter_passes(const Filter *filter, const int64_t *arguments) {
    if (!filter) return true;
    bool all = true;
    for (uint32_t i = 0; i < filter->count; i++) {
        const Condition *condition = &filter->conditions[i];
        all = all && holds(condition, arguments[condition->argument]);
        if (!condition->is_last) continue;
        if (all) return true;
        all = true;
    }
    return false;
}

void filter_free(Filter *filter) {
    free(filter);
}
