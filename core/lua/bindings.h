/* What the bindings share. Each *_open() adds its functions to the table on top of the stack: the module
 * "warpwright.core", which the Lua library builds on and users do not see. */
#ifndef WW_LUA_BINDINGS_H
#define WW_LUA_BINDINGS_H

#include "core/sim/object.h"

#include <lauxlib.h>
#include <lua.h>

void array_open(lua_State *L);
void array_data_open(lua_State *L);
void random_open(lua_State *L);
void float32_open(lua_State *L);
void machine_open(lua_State *L);
void class_rows_open(lua_State *L);
void counters_open(lua_State *L);
void stats_open(lua_State *L);
void sampler_open(lua_State *L);
void gpu_open(lua_State *L);
void modules_open(lua_State *L);
void memcheck_open(lua_State *L);
void profile_open(lua_State *L);
void histograms_open(lua_State *L);
void kernel_counts_open(lua_State *L);
void host_open(lua_State *L);
void live_open(lua_State *L);
void lua_share_open(lua_State *L);
void children_open(lua_State *L);
void connection_open(lua_State *L);
void stand_by_open(lua_State *L);
void packing_open(lua_State *L);
void database_open(lua_State *L);
void launch_open(lua_State *L);
void sampling_open(lua_State *L);
void counter_vectors_open(lua_State *L);
void checkpoint_open(lua_State *L);
void files_open(lua_State *L);
void library_open(lua_State *L);
void policy_open(lua_State *L);
void lua_class_open(lua_State *L);
void lua_port_open(lua_State *L);
void replay_open(lua_State *L);
void cuda_open(lua_State *L);
void tracing_open(lua_State *L);

/* Notes the PTX that a host program has loaded from a file as an input of what this process runs. */
void note_ptx_file(const char *path, uint64_t digest);
void push_file_digest(lua_State *L, uint64_t digest);

/* From here on user_error() raises a Lua error in `L`, prefixed with the file and line of the user's Lua code
 * at work. Every binding that calls into the simulator begins with it. */
void raise_user_errors_in(lua_State *L);

/* Pushes "FILE:LINE: " of the innermost Lua code that is not the library's, or "". */
void push_user_location(lua_State *L);
/* The same of where the function at `index` is defined. */
void push_definition_location(lua_State *L, int index);
/* Raises the message, in which a place in the user's Lua code comes first already, as an error; after it come
 * the words and the place in the Lua code at work. */
_Noreturn void raise_from_place(lua_State *L, const char *message, const char *words);

/* Pushes what the value at `index` is, for a message: a number, 'a text', true, nil, "a table". No Lua code
 * of the user's runs, as luaL_tolstring() may make it do: it could close the machine at work. */
const char *push_given(lua_State *L, int index);

/* The user error "WHERE: expected WHAT, got VALUE": the text, ", got " and the value at `index`. */
_Noreturn void user_error_got(lua_State *L, int index, const char *format, ...) PRINTF_LIKE(3, 4);
/* Within raise_user_errors_in(); an error begins with `what`. */
lua_Integer whole_argument(lua_State *L, int index, const char *what);
/* Nothing and nil are false. */
bool flag_argument(lua_State *L, int index, const char *what);

/* What was thrown, any value, on top of the stack, which becomes its text: its __tostring may throw in turn.
 */
const char *thrown_text(lua_State *L);

/* Pushes the message handler of protected calls: what is thrown without a place of the user's gets it, as far as it can. */
void push_message_handler(lua_State *L);

/* Registers a metatable that scripts can neither see nor change, with `methods` reachable by name. It is the methods'
 * first upvalue. */
void define_type(lua_State *L, const char *type, const luaL_Reg *metamethods, const luaL_Reg *methods);
/* luaL_testudata(), which looks the type up by its name; a method of the type comes without that to most answers. */
void *type_test(lua_State *L, int index, const char *type);

/* A user error unless every key of the table at `index` is one of `legal` (ends with NULL); `where` begins
 * the message. Puts a plain table with their values in place of the table: its __index may run Lua of the
 * user's, which may close the machine at work, so look at that afterwards. */
void take_options(lua_State *L, int index, const char *where, const char *const *legal);

#endif
