/* Of which events a function or a setting of a policy hears: conditions on their arguments. */
#ifndef WW_LUA_POLICY_FILTER_H
#define WW_LUA_POLICY_FILTER_H

#include <lua.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct Filter Filter;

/* From the list at the index, as warpwright.event_filter has made it. */
Filter *filter_new(lua_State *L, int index);
/* Do all conditions of one of its alternatives hold? Without a filter it passes. */
bool filter_passes(const Filter *filter, const int64_t *arguments);
void filter_free(Filter *filter);

#endif
