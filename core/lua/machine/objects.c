/* Objects and ports as Lua holds them: parameters, ports, parts. */
#include "core/lua/machine/objects.h"

#include "core/lua/bindings.h"
#include "core/sim/halves.h"
#include "core/sim/ways.h"
#include "mem/network/router.h"

#include <stdlib.h>
#include <string.h>

static const char object_type[] = "warpwright.object", port_type[] = "warpwright.port",
                  ports_type[] = "warpwright.ports";

/* Objects and ports have their machine as user value 1, so that it outlives them. */
typedef struct {
    Machine *machine;
    SimObject *object;
} ObjectRef;

typedef struct {
    Machine *machine;
    SimObject *object;
    const Field *field;
    uint32_t index; /* in an array of ports */
} PortRef;

static void require_open(const Machine *machine) {
    if (!machine_is_open(machine)) user_error("object: its machine was closed");
}

SimObject *object_at(lua_State *L, int index) {
    ObjectRef *ref = luaL_checkudata(L, index, object_type);
    raise_user_errors_in(L);
    require_open(ref->machine);
    return ref->object;
}

void object_push(lua_State *L, int holder, Machine *machine, SimObject *object) {
    holder = lua_absindex(L, holder);
    ObjectRef *ref = lua_newuserdatauv(L, sizeof *ref, 1);
    *ref = (ObjectRef){machine, object};
    if (luaL_testudata(L, holder, object_type))
        lua_getiuservalue(L, holder, 1);
    else
        lua_pushvalue(L, holder);
    lua_setiuservalue(L, -2, 1);
    luaL_setmetatable(L, object_type);
}

static void push_port(lua_State *L, int holder, PortRef port, const char *type) {
    holder = lua_absindex(L, holder);
    *(PortRef *)lua_newuserdatauv(L, sizeof port, 1) = port;
    lua_getiuservalue(L, holder, 1);
    lua_setiuservalue(L, -2, 1);
    luaL_setmetatable(L, type);
}

/* What is allocated for an array of ports is so large as the parameter was. */
static void require_unfinished(const SimObject *object, const char *name) {
    const Field *f = object_field(object, FIELD_PARAM, name), *ports = object->class->fields;
    while (ports->kind != FIELD_END &&
           (ports->kind != FIELD_PORT_ARRAY || !f || ports->count_offset != f->offset))
        ports++;
    bool counts = ports->kind != FIELD_END && *(Port *const *)((const char *)object + ports->offset);
    if (object->sim->elaborated || counts)
        user_error("%s.%s: expected parameters where the object is made, got one later", object_path(object),
                   name);
}

static void set_parameter(lua_State *L, SimObject *object, const char *name, int index) {
    require_unfinished(object, name);
    switch (lua_type(L, index)) {
    case LUA_TNUMBER: object_set_number(object, name, lua_tonumber(L, index)); break;
    case LUA_TSTRING: object_set_text(object, name, lua_tostring(L, index)); break;
    case LUA_TBOOLEAN: object_set_text(object, name, lua_toboolean(L, index) ? "true" : "false"); break;
    default:
        user_error_got(L, index, "%s.%s: expected a number, a text, true or false", object_path(object),
                       name);
    }
}

/* core.set(object, name, value) */
static int l_set(lua_State *L) {
    SimObject *object = object_at(L, 1);
    set_parameter(L, object, luaL_checkstring(L, 2), 3);
    return 0;
}

/* core.override(object, pattern, value) -> how many parameters "path.name" matched and were set */
static int l_override(lua_State *L) {
    SimObject *object = object_at(L, 1);
    const char *pattern = luaL_checkstring(L, 2);
    char name[PORT_NAME_BYTES];
    lua_Integer matched = 0;
    for (const Field *f = object->class->fields; f->kind != FIELD_END; f++) {
        if (f->kind != FIELD_PARAM) continue;
        snprintf(name, sizeof name, "%s.%s", object_path(object), f->name);
        if (!path_matches(pattern, name)) continue;
        set_parameter(L, object, f->name, 3);
        matched++;
    }
    lua_pushinteger(L, matched);
    return 1;
}

/* core.finish(object): its parameters are set; from now on it has ports. */
static int l_finish(lua_State *L) {
    sim_finish_object(object_at(L, 1));
    return 0;
}

static void push_parameter(lua_State *L, const SimObject *object, const Field *f) {
    const void *at = (const char *)object + f->offset;
    const uint64_t *whole = at;
    if (f->flag) {
        lua_pushboolean(L, *(const uint32_t *)at != 0);
    } else if (f->choices || f->type == TYPE_STRING) {
        char *text = object_get_text(object, f);
        lua_pushstring(L, text);
        free(text);
    } else if (f->type == TYPE_DOUBLE) {
        lua_pushnumber(L, *(const double *)at);
    } else {
        lua_pushinteger(L, f->type == TYPE_U32 ? *(const uint32_t *)at : (lua_Integer)*whole);
    }
}

/* By name, or by the path from there on ("tags.victims"). */
static SimObject *find_below(const SimObject *parent, const char *name) {
    char path[OBJECT_PATH_MAX + 1];
    size_t above = strlen(object_path(parent)), length = strlen(name);
    if (above + 1 + length > OBJECT_PATH_MAX) return NULL;
    memcpy(path, object_path(parent), above);
    path[above] = '.';
    memcpy(path + above + 1, name, length + 1);
    return sim_find(parent->sim, path);
}

static void list_members(const SimObject *object, bool ports_alone, char *text, size_t size) {
    size_t used = 0;
    text[0] = 0;
    for (const Field *f = object->class->fields; f->kind != FIELD_END && used < size; f++) {
        bool is_port = f->kind == FIELD_PORT || f->kind == FIELD_PORT_ARRAY;
        if (!is_port && (ports_alone || (f->kind != FIELD_CHILD && f->kind != FIELD_PARAM))) continue;
        used += (size_t)snprintf(text + used, size - used, "%s%s%s", used ? ", " : "", f->name,
                                 f->kind == FIELD_PORT_ARRAY ? "[]" : "");
    }
}

static void push_member(lua_State *L, Machine *machine, SimObject *object, const Field *f) {
    if (f->kind == FIELD_PARAM)
        push_parameter(L, object, f);
    else
        push_port(L, 1, (PortRef){machine, object, f, 0}, f->kind == FIELD_PORT ? port_type : ports_type);
}

static bool push_path_or_class(lua_State *L, const SimObject *object, const char *name) {
    if (strcmp(name, "path") == 0)
        lua_pushstring(L, object_path(object));
    else if (strcmp(name, "class") == 0)
        lua_pushstring(L, object->class->name);
    else
        return false;
    return true;
}

/* object.name: its "path" or "class", an object below it, a port, an array of ports or a parameter. */
static int l_object_index(lua_State *L) {
    ObjectRef *ref = luaL_checkudata(L, 1, object_type);
    const char *name = luaL_checkstring(L, 2);
    SimObject *object = object_at(L, 1), *child;
    const Field *f;
    char members[2048];
    if (push_path_or_class(L, object, name)) return 1;
    if ((child = find_below(object, name))) {
        object_push(L, 1, ref->machine, child);
    } else if ((f = object_member(object, name))) {
        push_member(L, ref->machine, object, f);
    } else {
        list_members(object, false, members, sizeof members);
        user_error("%s: no member of %s matches '%s'; available: %s", object_path(object),
                   object->class->name, name, members);
    }
    return 1;
}

static int l_object_newindex(lua_State *L) {
    SimObject *object = object_at(L, 1);
    user_error("%s.%s: expected parameters where the object is made, got one later", object_path(object),
               luaL_checkstring(L, 2));
}

static int l_object_tostring(lua_State *L) {
    lua_pushstring(L, object_path(object_at(L, 1)));
    return 1;
}

static PortRef *port_ref(lua_State *L, int index, const char *type) {
    PortRef *ref = luaL_checkudata(L, index, type);
    raise_user_errors_in(L);
    require_open(ref->machine);
    return ref;
}

/* object.up[3] */
static int l_ports_index(lua_State *L) {
    PortRef ref = *port_ref(L, 1, ports_type);
    uint32_t count = object_count(ref.object, ref.field);
    int whole;
    lua_Integer index = lua_tointegerx(L, 2, &whole);
    if (!whole || index < 0 || index >= count)
        user_error_got(L, 2, "%s.%s: expected a port from 0 to %u", object_path(ref.object), ref.field->name,
                       count - 1);
    ref.index = (uint32_t)index;
    push_port(L, 1, ref, port_type);
    return 1;
}

static int l_ports_length(lua_State *L) {
    const PortRef *ref = port_ref(L, 1, ports_type);
    lua_pushinteger(L, object_count(ref->object, ref->field));
    return 1;
}

static void port_name(const PortRef *ref, char name[PORT_NAME_BYTES]) {
    if (ref->field->kind == FIELD_PORT_ARRAY)
        snprintf(name, PORT_NAME_BYTES, "%s[%u]", ref->field->name, ref->index);
    else
        snprintf(name, PORT_NAME_BYTES, "%s", ref->field->name);
}

static int l_port_tostring(lua_State *L) {
    const PortRef *ref = port_ref(L, 1, port_type);
    char name[PORT_NAME_BYTES];
    port_name(ref, name);
    lua_pushfstring(L, "%s.%s", object_path(ref->object), name);
    return 1;
}

_Noreturn static void refuse_object(const SimObject *object) {
    char ports[1024];
    list_members(object, true, ports, sizeof ports);
    user_error("wire: expected a port of %s, got the object; available: %s", object_path(object), ports);
}

/* "dispatch", "up[3]": whatever the index is. */
static bool has_port(const SimObject *object, const char *name) {
    char base[PORT_NAME_BYTES];
    snprintf(base, sizeof base, "%.*s", (int)strcspn(name, "["), name);
    return object_field(object, FIELD_PORT, base) || object_field(object, FIELD_PORT_ARRAY, base);
}

SimObject *port_at(lua_State *L, int index, Sim *sim, char name[PORT_NAME_BYTES]) {
    char path[PORT_NAME_BYTES];
    if (luaL_testudata(L, index, port_type)) {
        const PortRef *ref = port_ref(L, index, port_type);
        port_name(ref, name);
        return ref->object;
    }
    if (luaL_testudata(L, index, ports_type))
        user_error(
            "wire: expected one port, got an array of ports; available: [0] to [%u]",
            object_count(port_ref(L, index, ports_type)->object, port_ref(L, index, ports_type)->field) - 1);
    const ObjectRef *whole = luaL_testudata(L, index, object_type);
    if (whole) refuse_object(whole->object);
    if (lua_type(L, index) != LUA_TSTRING) user_error_got(L, index, "wire: expected a port");
    snprintf(path, sizeof path, "%s", lua_tostring(L, index));
    char *dot = strrchr(path, '.');
    if (dot) *dot = 0;
    SimObject *object = dot ? sim_find(sim, path) : NULL;
    if (!object || !has_port(object, dot + 1)) {
        const SimObject *named = sim_find(sim, lua_tostring(L, index));
        if (named) refuse_object(named);
    }
    if (!object) user_error("wire: no object matches '%s'", lua_tostring(L, index));
    snprintf(name, PORT_NAME_BYTES, "%s", dot + 1);
    return object;
}

bool made_with_parent(const SimObject *object) {
    if (!object->parent) return false;
    const char *name = object_path(object) + strlen(object_path(object->parent)) + 1;
    return object_field(object->parent, FIELD_CHILD, name) != NULL;
}

/* core.peer(port) -> the object that it is wired to, or nil */
static int l_peer(lua_State *L) {
    PortRef *ref = luaL_checkudata(L, 1, port_type);
    raise_user_errors_in(L);
    require_open(ref->machine);
    const Field *field;
    char name[PORT_NAME_BYTES];
    const SimObject *object = port_at(L, 1, ref->machine->sim, name);
    const Port *port = object_port((SimObject *)(uintptr_t)object, name, &field);
    SimObject *peer = port->send ? port->send->receiver : port->receive ? port->receive->sender : NULL;
    if (!peer) return 0;
    lua_getiuservalue(L, 1, 1);
    object_push(L, -1, ref->machine, object_whole(peer));
    return 1;
}

/* A list in the making, on top of the stack. */
typedef struct {
    lua_State *L;
    Machine *machine;
} ObjectList;

static void append_receiver(void *context, const Field *port, const Link *requests) {
    const ObjectList *list = context;
    (void)port;
    object_push(list->L, 1, list->machine, requests->receiver);
    lua_rawseti(list->L, -2, (lua_Integer)lua_rawlen(list->L, -2) + 1);
}

/* core.behind(object) -> the objects that its requests go to, in the order of its ports */
static int l_behind(lua_State *L) {
    const ObjectRef *ref = luaL_checkudata(L, 1, object_type);
    ObjectList list = {L, ref->machine};
    const SimObject *object = object_at(L, 1);
    lua_newtable(L);
    visit_request_links(object, append_receiver, &list);
    return 1;
}

/* core.passes_on(object): do requests go through it as they came? Routers lack Class.passes_on because their wires
 * have loops, and a request may stand in any of them; a search of objects may follow them all the same. */
static int l_passes_on(lua_State *L) {
    const Class *class = object_at(L, 1)->class;
    lua_pushboolean(L, class->passes_on || class == &router_class);
    return 1;
}

/* core.share_cluster(a, b): may an instance about the one see the other while the machine runs? */
static int l_share_cluster(lua_State *L) {
    lua_pushboolean(L, object_at(L, 1)->cluster == object_at(L, 2)->cluster);
    return 1;
}

/* core.children(object) -> { { name =, object = } ... }: those that were made together with it */
static int l_children(lua_State *L) {
    const ObjectRef *ref = luaL_checkudata(L, 1, object_type);
    SimObject *object = object_at(L, 1);
    lua_newtable(L);
    for (const Field *f = object->class->fields; f->kind != FIELD_END; f++) {
        if (f->kind != FIELD_CHILD) continue;
        lua_newtable(L);
        lua_pushstring(L, f->name);
        lua_setfield(L, -2, "name");
        object_push(L, 1, ref->machine, find_below(object, f->name));
        lua_setfield(L, -2, "object");
        lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
    }
    return 1;
}

/* core.parameters(object) -> { { name =, value = } ... } */
static int l_parameters(lua_State *L) {
    SimObject *object = object_at(L, 1);
    lua_newtable(L);
    for (const Field *f = object->class->fields; f->kind != FIELD_END; f++) {
        if (f->kind != FIELD_PARAM) continue;
        lua_newtable(L);
        lua_pushstring(L, f->name);
        lua_setfield(L, -2, "name");
        push_parameter(L, object, f);
        lua_setfield(L, -2, "value");
        lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
    }
    return 1;
}

/* core.state_knobs(object) -> the names of the knobs that are no parameters */
static int l_state_knobs(lua_State *L) {
    SimObject *object = object_at(L, 1);
    lua_newtable(L);
    for (const Field *f = object->class->fields; f->kind != FIELD_END; f++) {
        if (f->kind != FIELD_STATE || !f->knob || f->type == TYPE_NONE) continue;
        lua_pushstring(L, f->name);
        lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
    }
    return 1;
}

/* core.clock_of(object) -> its clock's name */
static int l_clock_of(lua_State *L) {
    lua_pushstring(L, object_at(L, 1)->clock->name);
    return 1;
}

void objects_open(lua_State *L) {
    static const luaL_Reg object_metamethods[] = {{"__index", l_object_index},
                                                  {"__newindex", l_object_newindex},
                                                  {"__tostring", l_object_tostring},
                                                  {NULL, NULL}};
    static const luaL_Reg port_metamethods[] = {{"__tostring", l_port_tostring}, {NULL, NULL}};
    static const luaL_Reg ports_metamethods[] = {
        {"__index", l_ports_index}, {"__len", l_ports_length}, {NULL, NULL}};
    static const luaL_Reg functions[] = {
        {"set", l_set},
        {"override", l_override},
        {"finish", l_finish},
        {"children", l_children},
        {"peer", l_peer},
        {"behind", l_behind},
        {"passes_on", l_passes_on},
        {"share_cluster", l_share_cluster},
        {"parameters", l_parameters},
        {"clock_of", l_clock_of},
        {"state_knobs", l_state_knobs},
        {NULL, NULL},
    };
    define_type(L, object_type, object_metamethods, NULL);
    define_type(L, port_type, port_metamethods, NULL);
    define_type(L, ports_type, ports_metamethods, NULL);
    luaL_setfuncs(L, functions, 0);
}
