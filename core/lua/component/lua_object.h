/* An object whose class is written in Lua, as the files of this folder share it. It has a Lua state of its own,
 * so that it can run on whatever thread runs its cluster. */
#ifndef WW_LUA_OBJECT_H
#define WW_LUA_OBJECT_H

#include "core/lua/component/lua_class.h"
#include "core/sim/event.h"

/* A port as Lua holds it. */
typedef struct {
    LuaRun *run;
    Port *port;
    const Field *field;
    uint32_t number;  /* among all ports of the object, in the order of the rows */
    uint32_t element; /* of its array */
    uint32_t up;      /* among those towards requesters: what is written into routes */
    bool refused;     /* in this cycle: a message had no room */
} LuaPort;

typedef struct Hearing Hearing;

struct LuaRun {
    lua_State *L;
    LuaObject *object;
    const LuaClass *class;
    LuaPort *ports;
    uint32_t port_count, up_count;
    uint64_t now; /* of the tick at work; NEVER: none, and ports may not be used */
    Hearing *hearings;
    bool has_moved; /* in this cycle: a message was taken or sent */
    int at_rest;    /* height of the stack between calls */
    bool failed;    /* or not made yet: nothing is to be called */
};

/* What calls need lies at the bottom of the stack: what warpwright.lua_object returned. */
enum { MESSAGE_HANDLER = 1, SELF, TICK, START, KERNEL_START, CHANGED, HEARD, KEPT = HEARD - MESSAGE_HANDLER };

enum { LUA_MESSAGE_BYTES = 2048 };

static inline LuaRun *run_of(const SimObject *object) {
    return ((const LuaObject *)object)->run;
}

/* In lua_port.c: pushes a table of the functions that handle messages; pushes a port. */
void ports_push_functions(LuaRun *run);
void port_push(lua_State *L, LuaPort *port);

/* In lua_object_check.c: the rows of lua_object_class that are about soundness. */
void lua_object_check(const SimObject *object, bool idle);
void lua_object_is_sound(const SimObject *object, bool fits);
void lua_object_report(const SimObject *object, FILE *out);
void lua_object_requests_inside(const SimObject *object, RequestVisitor *visit, void *context);
const Link *lua_object_came_by(const SimObject *object, const void *message, uint32_t *depth);
uint32_t lua_object_answer_kinds(const SimObject *object);
uint32_t lua_object_answer_kind(const SimObject *object, const void *message);
void lua_object_answers_awaited(const SimObject *object, uint32_t *awaited);

/* In lua_object_saved.c: self.state, to the rows and back. */
void lua_object_fill_rows(SimObject *object);
/* Panics when the bytes are damaged. */
void lua_object_take_state(const SimObject *object);

/* The name of the port by which a message came, by its number. */
static inline const LuaPort *port_numbered(const LuaRun *run, uint32_t number) {
    return &run->ports[number];
}

#endif
