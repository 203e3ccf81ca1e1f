/* The embedded Lua interpreter: a state with the library, where its files lie, and how errors leave it. */
#ifndef WW_LUA_INTERPRETER_H
#define WW_LUA_INTERPRETER_H

#include <limits.h>
#include <lua.h>
#include <stdbool.h>

enum { EXIT_VERIFICATION_FAILED = 1 };

/* The folder of the running program, without a slash at its end; false when the host does not tell. */
bool program_folder(char folder[PATH_MAX]);

/* The folder that holds configs/, policies/, workloads/ and core/lua/library/: $WARPWRIGHT_HOME, or the
 * repository that the program was built in, or the share/warpwright beside the program's folder. Relative to
 * the current folder where it lies below it, without a trailing slash. The caller frees it. A user error when
 * there is none. */
char *interpreter_find_home(void);

/* A state with Lua's own libraries and `require "warpwright"`. */
lua_State *interpreter_new(const char *home);

/* The home that a state was made with; valid as long as the state. */
const char *interpreter_home(lua_State *L);

/* Does what the command line says; returns the exit status. Errors are reported on stderr. */
int interpreter_run(lua_State *L, int argc, char **argv);

#endif
