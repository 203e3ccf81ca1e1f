/* Textures as host programs describe them. */
#ifndef WW_LUA_TEXTURE_H
#define WW_LUA_TEXTURE_H

#include "core/ptx/execution/texture.h"

#include <lua.h>

/* Checks the table at `index` that describes a texture: see take_options(). */
void take_texture_options(lua_State *L, int index);
/* The texture that the options that were taken at `index` describe; a user error when it is none that can be
 * fetched from. Whether its buffer is allocated is left to the caller. */
Texture texture_at(lua_State *L, int index);

#endif
