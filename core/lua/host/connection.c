/* Forks of this process that it talks with. */
#include "core/lua/bindings.h"
#include "core/lua/host/children.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const char connection_type[] = "warpwright.connection";

static int *receiver(lua_State *L) {
    return luaL_checkudata(L, 1, connection_type);
}

static int *push_connection(lua_State *L) {
    int *end = lua_newuserdatauv(L, sizeof *end, 0);
    *end = -1;
    luaL_setmetatable(L, connection_type);
    return end;
}

static int l_close(lua_State *L) {
    int *end = receiver(L);
    if (*end >= 0) close(*end);
    *end = -1;
    return 0;
}

static bool send_bytes(int end, const void *bytes, size_t count) {
    for (const char *at = bytes; count > 0;) {
        ssize_t sent = send(end, at, count, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return false;
        at += sent, count -= (size_t)sent;
    }
    return true;
}

/* connection:send(text) -> whether there is somebody who can receive it */
static int l_send(lua_State *L) {
    size_t count;
    int end = *receiver(L);
    const char *text = luaL_checklstring(L, 2, &count);
    lua_pushboolean(L, send_bytes(end, &count, sizeof count) && send_bytes(end, text, count));
    return 1;
}

static bool receive_bytes(int end, void *bytes, size_t count) {
    for (char *at = bytes; count > 0;) {
        ssize_t received = read(end, at, count);
        if (received < 0 && errno == EINTR) continue;
        if (received <= 0) return false;
        at += received, count -= (size_t)received;
    }
    return true;
}

/* connection:receive() -> the next text; nil when the other process has ended */
static int l_receive(lua_State *L) {
    size_t count;
    int end = *receiver(L);
    if (!receive_bytes(end, &count, sizeof count)) return 0;
    luaL_Buffer buffer;
    char *text = luaL_buffinitsize(L, &buffer, count);
    if (!receive_bytes(end, text, count)) return 0;
    luaL_pushresultsize(&buffer, count);
    return 1;
}

enum { MOST_CONNECTIONS = 1024 };

static nfds_t connections_at(lua_State *L, int index, struct pollfd ends[MOST_CONNECTIONS]) {
    luaL_checktype(L, index, LUA_TTABLE);
    lua_Unsigned count = lua_rawlen(L, index);
    luaL_argcheck(L, count <= MOST_CONNECTIONS, index, "too many connections");
    for (lua_Unsigned i = 0; i < count; i++) {
        lua_rawgeti(L, index, (lua_Integer)i + 1);
        ends[i] = (struct pollfd){.fd = *(int *)luaL_checkudata(L, -1, connection_type), .events = POLLIN};
        lua_pop(L, 1);
    }
    return (nfds_t)count;
}

/* core.ready_connection(connections, waits) -> the place in the list of the first from which something can be received,
 * if only that the other process has ended; nil when there is none yet, and it was not to wait for one */
static int l_ready_connection(lua_State *L) {
    struct pollfd ends[MOST_CONNECTIONS];
    nfds_t count = connections_at(L, 1, ends);
    while (poll(ends, count, lua_toboolean(L, 2) ? -1 : 0) < 0 && errno == EINTR) {
    }
    for (nfds_t i = 0; i < count; i++) {
        if (!ends[i].revents) continue;
        lua_pushinteger(L, (lua_Integer)i + 1);
        return 1;
    }
    return 0;
}

/* core.fork_connected() -> as core.fork(); and a connection with the other process */
static int l_fork_connected(lua_State *L) {
    int ends[2];
    int *mine = push_connection(L);
    raise_user_errors_in(L);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        user_error("fork: cannot connect a process: %s", strerror(errno));
    *mine = ends[0];
    pid_t child = fork_child(L, NULL);
    close(ends[child == 0 ? 0 : 1]);
    if (child == 0) *mine = ends[1];
    lua_pushinteger(L, child);
    lua_insert(L, -2);
    return 2;
}

void connection_open(lua_State *L) {
    static const luaL_Reg metamethods[] = {{"__gc", l_close}, {"__close", l_close}, {NULL, NULL}};
    static const luaL_Reg methods[] = {
        {"send", l_send}, {"receive", l_receive}, {"close", l_close}, {NULL, NULL}};
    static const luaL_Reg functions[] = {
        {"fork_connected", l_fork_connected}, {"ready_connection", l_ready_connection}, {NULL, NULL}};
    define_type(L, connection_type, metamethods, methods);
    luaL_setfuncs(L, functions, 0);
}
