/* The program's own Lua files, as `require "warpwright.x"` finds them: below the home folder, as text, and compiled in
 * a file that a build leaves beside the program. Who has edited one since has the text; it costs a process 8 ms to
 * compile what a run needs. */
#ifndef WW_LUA_LIBRARY_H
#define WW_LUA_LIBRARY_H

#include <lua.h>

#define LIBRARY_FOLDER "core/lua/library"

/* Pushes what a module is in the searchers of package: finds those of the library in `folder`, which ends in a slash. */
void push_library_searcher(lua_State *L, const char *folder);

#endif
