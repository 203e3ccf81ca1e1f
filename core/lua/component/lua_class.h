/* Classes of objects that are written in Lua: their rows, made into those of a class in C. What a class in C has
 * from its rows (parameters, statistics, checkpoints, --describe), such a class has from the same. */
#ifndef WW_LUA_CLASS_H
#define WW_LUA_CLASS_H

#include "core/lua/bindings.h"
#include "mem/protocol/memory_protocol.h"

/* A row `hears`: an event of what is wired to a port. */
typedef struct {
    char *port, *event;
} HeardRow;

typedef struct {
    Class class; /* first */
    char *home;  /* of the interpreter that declared it */
    char *path;  /* the file that declares it */
    uint32_t line;
    char *source; /* "configs/classes/shaper.lua:7", for messages */
    Field *fields;
    char *digest; /* of the rows: the same rows are the same class */
    HeardRow *heard;
    uint32_t heard_count;
} LuaClass;

/* What becomes of a message that an object holds. */
typedef enum { HELD_FREE, HELD_REQUEST, HELD_ANSWER, HELD_OWN } HeldKind;

enum { OWN_REQUEST = 255, MAX_UP = 254, HOLDS_MAX = 4096 };

/* No padding: it is saved as raw bytes. */
typedef struct {
    MemMessage message;
    uint64_t id;    /* what Lua knows it by */
    uint64_t since; /* tick at which it came, or was sent */
    uint64_t tag;   /* of its own request: what comes back with the answer */
    uint32_t kind;  /* HeldKind */
    uint32_t port;  /* the one by which it came, in the order of all ports; of its own request, left */
} Held;

typedef struct LuaRun LuaRun;

/* Behind it lie the ports, statistics and parameters of the class. */
typedef struct {
    SimObject obj;
    LuaRun *run;
    Held *held;
    uint8_t *state; /* self.state as plain data, in a checkpoint */
    uint64_t next_id, made, ended;
    uint32_t holds, state_bytes;
} LuaObject;

/* NULL: it is of a class in C. */
const LuaClass *lua_class_of(const SimObject *object);

/* In lua_object.c: what objects of all these classes do. */
extern const Class lua_object_class;

#endif
