/* Plain Lua values (nil, booleans, numbers, strings, tables of these) as bytes: what policies remember, in
 * checkpoints and from one Lua state to another. Reading them runs no code. */
#ifndef WW_LUA_PLAIN_DATA_H
#define WW_LUA_PLAIN_DATA_H

#include "core/sim/checkpoint/buffer.h"

#include <lua.h>

/* Appends the value at `index`; keys in the order of whole numbers, other numbers, then strings, so that
 * equal tables are equal bytes. NULL; or, when it is not plain, or a table is in it twice (two would come
 * back), what is wrong and where, beginning with `name`: a text that is pushed. */
const char *plain_save(lua_State *L, int index, const char *name, Buffer *buffer);
/* The same of a table: anything else is wrong. */
const char *plain_save_table(lua_State *L, int index, const char *name, Buffer *buffer);
/* Pushes a value; false, and nothing pushed, when the bytes are damaged. */
bool plain_load(lua_State *L, Reader *reader);

#endif
