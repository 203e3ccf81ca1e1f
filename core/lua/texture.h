/* Textures as host programs describe them. */
#ifndef WW_LUA_TEXTURE_H
#define WW_LUA_TEXTURE_H

#include "core/ptx/texture.h"

#include <lua.h>

/* The texture that the table at `index` describes; a user error when it is none that can be fetched from.
 * Whether its buffer is allocated is left to the caller. */
Texture texture_at(lua_State *L, int index);

#endif
