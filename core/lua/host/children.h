/* Processes that are forks of this one. */
#ifndef WW_LUA_CHILDREN_H
#define WW_LUA_CHILDREN_H

#include <lua.h>
#include <stdbool.h>
#include <sys/types.h>

/* As fork(); the child ends when its parent does, and what it prints goes to the file, unless `path` is NULL. A user
 * error when there can be no more processes. */
pid_t fork_child(lua_State *L, const char *path);

bool signal_is_ignored(int signal);

/* Of a child of this process, or of the first one in whose place it goes on: has it ended, and how? */
bool child_has_ended(pid_t pid, int *status);

/* Processor seconds of this process, of its children that have ended, and of those in whose place it goes on. */
double cpu_seconds(void);
/* Of the processes in whose place this one goes on. */
double cpu_seconds_before(void);

#endif
