/* Messages as Lua handles them. Taken ones stay here until they are sent on, answered or dropped, each once:
 * Lua has a copy of what may be looked at, and the number under which it is held. So no answer can be made up,
 * lost without a trace or sent twice. */
#include "core/lua/component/lua_object.h"

#include "mem/protocol/class_table.h"

#include <string.h>

static const char port_type[] = "warpwright.component_port";
enum { NOBODY = 0xffff, WARPS = 64, SMS = 1024 };

static const char *const kind_names[] = {"read", "write", "atomic"};

void port_push(lua_State *L, LuaPort *port) {
    *(LuaPort **)lua_newuserdatauv(L, sizeof port, 0) = port;
    luaL_setmetatable(L, port_type);
}

/* "down", "up[3]" */
static const char *push_name(lua_State *L, const LuaPort *port) {
    const char *path = port->run->object->obj.path, *name = port->field->name;
    return port->field->kind == FIELD_PORT ? lua_pushfstring(L, "%s.%s", path, name)
                                           : lua_pushfstring(L, "%s.%s[%d]", path, name, (int)port->element);
}

static void require_tick(lua_State *L, const LuaRun *run, const char *what) {
    if (run->now == NEVER) luaL_error(L, "%s: expected a call in tick(), got one elsewhere", what);
}

static LuaPort *port_at(lua_State *L, int index, const char *what) {
    LuaPort *port = *(LuaPort **)luaL_checkudata(L, index, port_type);
    require_tick(L, port->run, what);
    return port;
}

/* The object is not stuck, and ticks in the next cycle as well. */
static void note_movement(LuaRun *run) {
    run->has_moved = true;
    object_progress(&run->object->obj);
}

static bool is_up(const LuaPort *port) {
    return port->field->role == ROLE_RESPONDER;
}

static bool is_own(const MemMessage *m) {
    return mem_route_top(m) == OWN_REQUEST;
}

/* Can a message be sent there in this cycle? If not, the object is awake when it has room. */
static bool has_room(LuaPort *port) {
    bool room = port->port->send && link_can_send(port->port->send, port->run->now);
    port->refused |= port->port->send && !room;
    return room;
}

/* --- Copies for Lua -------------------------------------------------------------------------- */

static void set_number(lua_State *L, const char *name, uint64_t value) {
    lua_pushinteger(L, (lua_Integer)value);
    lua_setfield(L, -2, name);
}

static void set_flag(lua_State *L, const char *name, bool flag) {
    lua_pushboolean(L, flag);
    lua_setfield(L, -2, name);
}

/* Who asked; nothing of a write-back, which is of no warp. */
static void set_asker(lua_State *L, const MemMessage *m) {
    if (m->sm != NOBODY) set_number(L, "sm", m->sm);
    if (m->warp != NOBODY) set_number(L, "warp", m->warp);
    set_number(L, "pc", m->pc);
    set_number(L, "class", m->class_number);
}

static void push_message(lua_State *L, const LuaPort *port, const MemMessage *m) {
    bool answer = !is_up(port);
    lua_createtable(L, 0, 14);
    lua_pushstring(L, kind_names[m->kind <= MEM_ATOMIC ? m->kind : MEM_READ]);
    lua_setfield(L, -2, "kind");
    set_flag(L, "answer", answer);
    set_number(L, "address", m->address);
    set_number(L, "bytes", m->bytes);
    set_number(L, "size", answer ? mem_response_bytes(m) : mem_request_bytes(m));
    if (answer) set_flag(L, "hit", m->flags & MEM_HIT);
    set_flag(L, "wants_answer", !answer && !(m->flags & MEM_POSTED));
    set_asker(L, m);
    lua_pushstring(L, port->field->name);
    lua_setfield(L, -2, "port");
    if (port->field->kind == FIELD_PORT_ARRAY) set_number(L, "index", port->element);
    if (answer && is_own(m)) {
        set_flag(L, "own", true);
        set_number(L, "tag", port->run->object->held[m->token].tag);
    }
}

/* --- What is held ---------------------------------------------------------------------------- */

static Held *free_place(lua_State *L, LuaRun *run) {
    LuaObject *o = run->object;
    for (uint32_t i = 0; i < o->holds; i++)
        if (o->held[i].kind == HELD_FREE) return &o->held[i];
    luaL_error(L,
               "expected room for another message, got %d that are held; each is to be sent on, answered or "
               "dropped; the parameter holds says how many there may be, room() how many more",
               (int)o->holds);
    return NULL;
}

/* self:room() -> how many more messages may be held */
static int l_room(lua_State *L) {
    const LuaObject *o = ((LuaRun *)lua_touserdata(L, lua_upvalueindex(1)))->object;
    lua_Integer room = 0;
    for (uint32_t i = 0; i < o->holds; i++)
        room += o->held[i].kind == HELD_FREE;
    lua_pushinteger(L, room);
    return 1;
}

static Held *hold(LuaRun *run, Held *held, const MemMessage *m, HeldKind kind, uint32_t port) {
    uint64_t place = (uint64_t)(held - run->object->held);
    *held = (Held){
        .id = run->object->next_id++ * HOLDS_MAX + place, .since = run->now, .kind = kind, .port = port};
    memcpy(&held->message, m, sizeof *m);
    return held;
}

static void let_go(Held *held) {
    *held = (Held){0};
}

static void require_unchanged(lua_State *L, int index, const char *name, uint64_t value) {
    if (lua_getfield(L, index, name) != LUA_TNUMBER || (uint64_t)lua_tointeger(L, -1) != value)
        luaL_error(L, "%s: expected that of the message as it came, %I, got %s", name, (LUAI_UACINT)value,
                   push_given(L, -1));
    lua_pop(L, 1);
}

/* Of the message in the table at `index`. What may be changed is its class. */
static Held *held_at(lua_State *L, int index, LuaRun *run, const char *what) {
    LuaObject *o = run->object;
    luaL_checktype(L, index, LUA_TTABLE);
    uint64_t id = lua_getfield(L, index, "id") == LUA_TNUMBER ? (uint64_t)lua_tointeger(L, -1) : UINT64_MAX;
    Held *held = &o->held[id % HOLDS_MAX < o->holds ? id % HOLDS_MAX : 0];
    if (id == UINT64_MAX)
        luaL_error(L, "%s: expected a message that pop() returned, got %s", what,
                   lua_getfield(L, index, "own") == LUA_TNIL
                       ? "another table"
                       : "the answer to a request of its own, which pop() ends");
    if (held->kind == HELD_FREE || held->kind == HELD_OWN || held->id != id)
        luaL_error(L, "%s: expected a message that is still held, got one that was sent, answered or dropped",
                   what);
    lua_pop(L, 1);
    require_unchanged(L, index, "address", held->message.address);
    require_unchanged(L, index, "bytes", held->message.bytes);
    lua_Integer class = lua_getfield(L, index, "class") == LUA_TNUMBER ? lua_tointeger(L, -1) : -1;
    if (class < 0 || class >= CLASSES)
        luaL_error(L, "class: expected 0 to %d, got %s", CLASSES - 1, push_given(L, -1));
    held->message.class_number = (uint8_t) class;
    lua_pop(L, 1);
    return held;
}

/* --- Sending --------------------------------------------------------------------------------- */

static LuaPort *port_up(const LuaRun *run, const MemMessage *answer) {
    uint32_t up = mem_route_top(answer);
    for (uint32_t i = 0; i < run->port_count; i++)
        if (is_up(&run->ports[i]) && run->ports[i].up == up) return &run->ports[i];
    return NULL;
}

/* The caller fills it. */
static MemMessage *send_through(LuaPort *port) {
    note_movement(port->run);
    return link_send(port->port->send, port->run->now);
}

static void require_room(lua_State *L, LuaPort *port, const char *what) {
    if (!has_room(port))
        luaL_error(L, "%s: expected room behind %s, got none in this cycle; can_send() says so", what,
                   push_name(L, port));
}

/* Where a message that came by a port may go. */
static void require_way(lua_State *L, const LuaPort *to, const LuaPort *came, const MemMessage *m,
                        const char *what) {
    if (is_up(came) && is_up(to))
        luaL_error(L, "%s: expected a port towards memory for a request, got %s", what, push_name(L, to));
    if (!is_up(came) && to != port_up(came->run, m))
        luaL_error(L, "%s: expected the port by which the request came for its answer, got %s", what,
                   push_name(L, to));
}

static void pass(LuaPort *to, const LuaPort *came, const MemMessage *m) {
    MemMessage *sent = send_through(to);
    if (is_up(came))
        mem_enter_network(sent, m, came->up);
    else
        mem_leave_network(sent, m);
}

/* port:send(message) */
static int l_send(lua_State *L) {
    LuaPort *to = port_at(L, 1, "send");
    Held *held = held_at(L, 2, to->run, "send");
    const LuaPort *came = &to->run->ports[held->port];
    require_way(L, to, came, &held->message, "send");
    require_room(L, to, "send");
    pass(to, came, &held->message);
    let_go(held);
    return 0;
}

/* port:forward(to) -> whether the first message went on: a request to that port, an answer to where its request
 * came from */
static int l_forward(lua_State *L) {
    LuaPort *from = port_at(L, 1, "forward");
    const MemMessage *m = from->port->receive ? link_peek(from->port->receive, from->run->now) : NULL;
    lua_pushboolean(L, false);
    if (!m) return 1;
    if (!is_up(from) && is_own(m))
        luaL_error(L,
                   "forward: expected an answer to a request that came from elsewhere, got one to its own");
    LuaPort *to = lua_isnoneornil(L, 2) || lua_isboolean(L, 2) ? NULL : port_at(L, 2, "forward");
    if (!to && is_up(from)) luaL_error(L, "forward: expected a port towards memory for a request, got none");
    if (!to) to = port_up(from->run, m);
    require_way(L, to, from, m, "forward");
    if (!has_room(to)) return 1;
    pass(to, from, m);
    link_pop(from->port->receive, from->run->now);
    lua_pushboolean(L, true);
    return 1;
}

/* port:is_wired(), from start() on */
static int l_is_wired(lua_State *L) {
    const LuaPort *port = *(LuaPort **)luaL_checkudata(L, 1, port_type);
    lua_pushboolean(L, port->port->send != NULL);
    return 1;
}

/* port:can_send() */
static int l_can_send(lua_State *L) {
    lua_pushboolean(L, has_room(port_at(L, 1, "can_send")));
    return 1;
}

/* --- Taking ---------------------------------------------------------------------------------- */

static const MemMessage *first_message(const LuaPort *port) {
    return port->port->receive ? link_peek(port->port->receive, port->run->now) : NULL;
}

/* port:peek() -> the first message, or nil */
static int l_peek(lua_State *L) {
    const LuaPort *port = port_at(L, 1, "peek");
    const MemMessage *m = first_message(port);
    if (!m) return 0;
    push_message(L, port, m);
    return 1;
}

/* port:pop() -> the first message, which is taken, or nil */
static int l_pop(lua_State *L) {
    LuaPort *port = port_at(L, 1, "pop");
    LuaRun *run = port->run;
    const MemMessage *m = first_message(port);
    if (!m) return 0;
    push_message(L, port, m);
    if (!is_up(port) && is_own(m)) {
        let_go(&run->object->held[m->token]);
        run->object->ended++;
    } else {
        Held *held = hold(run, free_place(L, run), m, is_up(port) ? HELD_REQUEST : HELD_ANSWER, port->number);
        set_number(L, "id", held->id);
    }
    link_pop(port->port->receive, run->now);
    note_movement(run);
    return 1;
}

/* Of the table at index 3, which may be missing: that the request found here what it wants. */
static bool answer_hits(lua_State *L) {
    bool hit = false;
    if (lua_isnoneornil(L, 3)) return false;
    luaL_checktype(L, 3, LUA_TTABLE);
    for (lua_pushnil(L); lua_next(L, 3); lua_pop(L, 1)) {
        bool known = lua_type(L, -2) == LUA_TSTRING && strcmp(lua_tostring(L, -2), "hit") == 0;
        if (!known) luaL_error(L, "answer: no field matches %s; available: hit", push_given(L, -2));
        if (!lua_isboolean(L, -1))
            luaL_error(L, "answer: hit: expected true or false, got %s", push_given(L, -1));
        hit = lua_toboolean(L, -1);
    }
    return hit;
}

/* self:answer(request [, { hit = true or false }]): it is served here */
static int l_answer(lua_State *L) {
    LuaRun *run = lua_touserdata(L, lua_upvalueindex(1));
    require_tick(L, run, "answer");
    Held *held = held_at(L, 2, run, "answer");
    const MemMessage *m = &held->message;
    LuaPort *port = &run->ports[held->port];
    if (held->kind != HELD_REQUEST)
        luaL_error(L, "answer: expected a request, got an answer; send() passes it on");
    if (m->flags & MEM_POSTED)
        luaL_error(L, "answer: expected a request that wants an answer; drop() ends it");
    if (m->kind == MEM_ATOMIC)
        luaL_error(L, "answer: expected a read or a write, got an atomic, which is performed at an L2");
    require_room(L, port, "answer");
    uint8_t flags = answer_hits(L) ? MEM_HIT | MEM_FOUND : 0;
    MemMessage *answer = send_through(port);
    *answer = *m;
    answer->flags |= flags;
    let_go(held);
    return 0;
}

/* self:can_answer(request) */
static int l_can_answer(lua_State *L) {
    LuaRun *run = lua_touserdata(L, lua_upvalueindex(1));
    require_tick(L, run, "can_answer");
    lua_pushboolean(L, has_room(&run->ports[held_at(L, 2, run, "can_answer")->port]));
    return 1;
}

/* self:drop(request): one that wants no answer */
static int l_drop(lua_State *L) {
    LuaRun *run = lua_touserdata(L, lua_upvalueindex(1));
    require_tick(L, run, "drop");
    Held *held = held_at(L, 2, run, "drop");
    if (held->kind != HELD_REQUEST || !(held->message.flags & MEM_POSTED))
        luaL_error(L, "drop: expected a request that wants no answer, got one that somebody waits for");
    let_go(held);
    run->object->ended++;
    return 0;
}

/* --- Requests of its own --------------------------------------------------------------------- */

/* Fields of the table at index 2. Each function counts in `known` whether its field is there. */
static uint64_t number_of(lua_State *L, const char *name, lua_Integer initial, lua_Integer max, int *known) {
    lua_Integer value = initial;
    int whole = 1;
    if (lua_getfield(L, 2, name) != LUA_TNIL) {
        value = lua_tointegerx(L, -1, &whole);
        ++*known;
    }
    if (!whole || value < 0 || value > max)
        luaL_error(L, "request: %s: expected a whole number from 0 to %I, got %s", name, (LUAI_UACINT)max,
                   push_given(L, -1));
    lua_pop(L, 1);
    return (uint64_t)value;
}

static uint8_t kind_of(lua_State *L, int *known) {
    int type = lua_getfield(L, 2, "kind");
    const char *kind = type == LUA_TSTRING ? lua_tostring(L, -1) : "";
    bool reads = type == LUA_TNIL || strcmp(kind, "read") == 0;
    if (!reads && strcmp(kind, "write") != 0)
        luaL_error(L, "request: kind: expected 'read' or 'write', got %s", push_given(L, -1));
    *known += type != LUA_TNIL;
    lua_pop(L, 1);
    return reads ? MEM_READ : MEM_WRITE;
}

static void refuse_unknown_fields(lua_State *L) {
    static const char *const legal[] = {"address", "bytes", "kind", "tag", "sm", "warp", "class", NULL};
    for (lua_pushnil(L); lua_next(L, 2); lua_pop(L, 1)) {
        const char *key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : NULL;
        const char *const *name = legal;
        while (key && *name && strcmp(*name, key) != 0)
            name++;
        if (!key || !*name)
            luaL_error(L,
                       "request: no field matches %s; available: address, bytes, kind, tag, sm, warp, class",
                       push_given(L, -2));
    }
}

/* What is misspelt would be left out. Requests come in each cycle, so names are compared only where the table has not what was
 * found: it has more, or some of what it has is its metatable's. */
static void require_no_others(lua_State *L, int known) {
    int fields = 0;
    for (lua_pushnil(L); lua_next(L, 2); lua_pop(L, 1))
        fields++;
    if (fields != known) refuse_unknown_fields(L);
}

static void require_segment(lua_State *L, const MemMessage *m) {
    if (m->bytes != 32 && m->bytes != 64 && m->bytes != LINE_BYTES_MAX)
        luaL_error(L, "request: bytes: expected 32, 64 or 128, got %d", (int)m->bytes);
    if (m->address % m->bytes)
        luaL_error(L, "request: address: expected a multiple of %d, got %I", (int)m->bytes,
                   (LUAI_UACINT)m->address);
}

static MemMessage message_of(lua_State *L, const LuaRun *run, int *known) {
    MemMessage m = {.kind = kind_of(L, known)};
    m.address = number_of(L, "address", -1, ((lua_Integer)1 << MAX_ADDRESS_BITS) - 1, known);
    m.bytes = (uint8_t)number_of(L, "bytes", LINE_BYTES_MAX, LINE_BYTES_MAX, known);
    require_segment(L, &m);
    m.sm = (uint16_t)number_of(L, "sm", 0, SMS - 1, known);
    m.warp = (uint16_t)number_of(L, "warp", 0, WARPS - 1, known);
    m.class_number = (uint8_t)number_of(L, "class", 0, CLASSES - 1, known);
    m.issued = run->now;
    if (m.kind == MEM_WRITE) {
        uint64_t first = m.address % LINE_BYTES_MAX;
        for (uint64_t byte = first; byte < first + m.bytes; byte++)
            m.byte_mask[byte / 64] |= 1ull << byte % 64;
        m.flags = MEM_POSTED;
    }
    return m;
}

/* port:request { address =, bytes = 128, kind = "read" or "write", tag =, sm =, warp =, class = }: the answer to
 * a read comes with own = true and the tag; a write has none. */
static int l_request(lua_State *L) {
    LuaPort *port = port_at(L, 1, "request");
    LuaRun *run = port->run;
    luaL_checktype(L, 2, LUA_TTABLE);
    if (is_up(port)) luaL_error(L, "request: expected a port towards memory, got %s", push_name(L, port));
    int known = 0;
    MemMessage m = message_of(L, run, &known);
    uint64_t tag = number_of(L, "tag", 0, LUA_MAXINTEGER, &known);
    require_no_others(L, known);
    require_room(L, port, "request");
    if (!(m.flags & MEM_POSTED)) {
        Held *held = free_place(L, run);
        m.token = (uint32_t)(held - run->object->held);
        hold(run, held, &m, HELD_OWN, port->number)->tag = tag;
    }
    mem_enter_network(send_through(port), &m, OWN_REQUEST);
    run->object->made++;
    return 0;
}

/* --- Statistics ------------------------------------------------------------------------------ */

/* native.count(number of the row, how many): nothing, or the statistic where it would fall below 0 */
static int l_count(lua_State *L) {
    LuaRun *run = lua_touserdata(L, lua_upvalueindex(1));
    const Field *f = &run->class->fields[luaL_checkinteger(L, 1)];
    uint64_t *stat = (uint64_t *)(void *)((char *)run->object + f->offset);
    lua_Integer more = luaL_optinteger(L, 2, 1);
    if (more < 0 && *stat < -(uint64_t)more) {
        lua_pushinteger(L, (lua_Integer)*stat);
        return 1;
    }
    *stat += (uint64_t)more;
    return 0;
}

static int l_tostring(lua_State *L) {
    push_name(L, *(LuaPort **)luaL_checkudata(L, 1, port_type));
    return 1;
}

void ports_push_functions(LuaRun *run) {
    static const luaL_Reg functions[] = {{"answer", l_answer}, {"can_answer", l_can_answer}, {"drop", l_drop},
                                         {"room", l_room},     {"count", l_count},           {NULL, NULL}};
    lua_newtable(run->L);
    lua_pushlightuserdata(run->L, run);
    luaL_setfuncs(run->L, functions, 1);
}

void lua_port_open(lua_State *L) {
    static const luaL_Reg metamethods[] = {{"__tostring", l_tostring}, {NULL, NULL}};
    static const luaL_Reg methods[] = {
        {"peek", l_peek},         {"pop", l_pop},         {"send", l_send},         {"forward", l_forward},
        {"can_send", l_can_send}, {"request", l_request}, {"is_wired", l_is_wired}, {NULL, NULL}};
    define_type(L, port_type, metamethods, methods);
}
