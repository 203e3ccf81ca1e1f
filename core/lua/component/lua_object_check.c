/* What holds of the messages of an object whose class is written in Lua, whatever its Lua does. */
#include "core/lua/component/lua_object.h"
#include "core/lua/component/lua_objects.h"

static bool wants_answer(const MemMessage *m) {
    return !(m->flags & MEM_POSTED);
}

static const char *kind_name(const MemMessage *m) {
    return m->kind == MEM_READ ? "read" : m->kind == MEM_WRITE ? "write" : "atomic";
}

/* --- Answers --------------------------------------------------------------------------------- */

void lua_object_requests_inside(const SimObject *object, RequestVisitor *visit, void *context) {
    const LuaObject *o = (const LuaObject *)object;
    for (uint32_t i = 0; i < o->holds; i++) {
        const Held *held = &o->held[i];
        const Port *port = o->run->ports[held->port].port;
        if (held->kind == HELD_REQUEST && wants_answer(&held->message))
            visit(context, port->receive, &held->message);
        else if (held->kind == HELD_ANSWER)
            visit(context, port->send, &held->message);
    }
}

const Link *lua_object_came_by(const SimObject *object, const void *message, uint32_t *depth) {
    const LuaRun *run = run_of(object);
    const MemMessage *m = message;
    if (!*depth || *depth > m->route_depth) return NULL;
    uint32_t up = mem_route_at(m, --*depth);
    for (uint32_t i = 0; i < run->port_count; i++)
        if (run->ports[i].field->role == ROLE_RESPONDER && run->ports[i].up == up)
            return run->ports[i].port->receive;
    return NULL;
}

/* A kind for each request of its own. */
uint32_t lua_object_answer_kinds(const SimObject *object) {
    return ((const LuaObject *)object)->holds;
}
uint32_t lua_object_answer_kind(const SimObject *object, const void *message) {
    const LuaObject *o = (const LuaObject *)object;
    uint32_t place = ((const MemMessage *)message)->token;
    return place < o->holds && o->held[place].kind == HELD_OWN ? place : NO_ANSWER_AWAITED;
}
void lua_object_answers_awaited(const SimObject *object, uint32_t *awaited) {
    const LuaObject *o = (const LuaObject *)object;
    for (uint32_t i = 0; i < o->holds; i++)
        awaited[i] += o->held[i].kind == HELD_OWN;
}

/* --- Laws ------------------------------------------------------------------------------------ */

static void check_ways(const LuaRun *run, const LuaPort *port) {
    const LuaObject *o = run->object;
    const Link *link = port->port->receive;
    if (port->field->role == ROLE_RESPONDER || !link) return;
    FOR_LINK_MESSAGES (link, i) {
        const MemMessage *m = link_message(link, i);
        bool is_own = mem_route_top(m) == OWN_REQUEST && m->token < o->holds &&
                      o->held[m->token].kind == HELD_OWN;
        if (mem_route_top(m) >= run->up_count && !is_own)
            panic("%s: an answer for 0x%lx that has lost its way", o->obj.path, m->address);
    }
}

void lua_object_check(const SimObject *object, bool idle) {
    const LuaObject *o = (const LuaObject *)object;
    uint64_t came = o->made, left = o->ended;
    for (uint32_t i = 0; i < o->run->port_count; i++) {
        const LuaPort *port = &o->run->ports[i];
        came += port->port->receive ? link_received(port->port->receive) : 0;
        left += port->port->send ? link_sent(port->port->send) : 0;
        check_ways(o->run, port);
    }
    for (uint32_t i = 0; i < o->holds; i++)
        left += o->held[i].kind == HELD_REQUEST || o->held[i].kind == HELD_ANSWER;
    if (came != left)
        panic("%s: %lu messages came or were made, %lu left, ended or are held", object->path, came, left);
    (void)idle;
}

/* What is never sent on makes somebody wait for good. */
static void require_nothing_held(const LuaObject *o) {
    const LuaRun *run = o->run;
    for (uint32_t i = 0; i < o->holds; i++) {
        const Held *held = &o->held[i];
        bool waits = held->kind == HELD_ANSWER ||
                     (held->kind == HELD_REQUEST && wants_answer(&held->message));
        if (waits && !run->failed)
            user_error(
                "%s (%s, %s): expected every message to be sent on, answered or dropped in the end, got the "
                "%s of 0x%lx, taken from port %s in cycle %lu, which is still held",
                o->obj.path, o->obj.class->name, run->class->source, kind_name(&held->message),
                held->message.address, run->ports[held->port].field->name,
                object_cycle(&o->obj, held->since));
    }
}

void lua_objects_require_nothing_held(const Sim *sim) {
    for (uint32_t i = 0; i < sim->object_count; i++)
        if (lua_class_of(sim->objects[i]))
            require_nothing_held((const LuaObject *)(const void *)sim->objects[i]);
}

static void held_is_sound(const LuaObject *o, uint32_t place) {
    const Held *held = &o->held[place];
    const MemMessage *m = &held->message;
    const LuaRun *run = o->run;
    if (held->kind == HELD_FREE) return;
    sound(held->kind <= HELD_OWN && held->port < run->port_count, "%s.held[%u]: of kind %u, of port %u",
          o->obj.path, place, held->kind, held->port);
    mem_message_is_sound(o->obj.path, m);
    bool from_below = run->ports[held->port].field->role == ROLE_REQUESTER;
    sound(from_below == (held->kind != HELD_REQUEST) && run->ports[held->port].port->send,
          "%s.held[%u]: of kind %u, of port %u", o->obj.path, place, held->kind, held->port);
    sound(held->since <= o->obj.sim->now && held->id % HOLDS_MAX == place &&
              held->id / HOLDS_MAX < o->next_id,
          "%s.held[%u]: number %lu, since tick %lu", o->obj.path, place, held->id, held->since);
    sound(held->kind != HELD_ANSWER || mem_route_top(m) < run->up_count,
          "%s.held[%u]: an answer without a way", o->obj.path, place);
    sound(held->kind != HELD_REQUEST || m->route_depth < ROUTE_DEPTH, "%s.held[%u]: crossed %u networks",
          o->obj.path, place, m->route_depth);
}

void lua_object_is_sound(const SimObject *object, bool fits) {
    const LuaObject *o = (const LuaObject *)object;
    (void)fits;
    for (uint32_t i = 0; i < o->holds; i++)
        held_is_sound(o, i);
    lua_object_take_state(object);
}

/* --- The hang report ------------------------------------------------------------------------- */

static void report_waiting(const LuaPort *port, FILE *out) {
    const SimObject *object = &port->run->object->obj;
    const Link *link = port->port->receive;
    const MemMessage *m = link ? link_peek(link, object->sim->now) : NULL;
    if (m)
        fprintf(out, "%s.%s: the %s of 0x%lx waits to be taken by tick (%s)\n", object->path,
                port->field->name, kind_name(m), m->address, port->run->class->source);
}

void lua_object_report(const SimObject *object, FILE *out) {
    const LuaObject *o = (const LuaObject *)object;
    static const char *const what[] = {[HELD_REQUEST] = "is held, and is to be sent on or answered",
                                       [HELD_ANSWER] = "is answered, held, and is to be sent on",
                                       [HELD_OWN] = "is its own request and has no answer yet"};
    for (uint32_t i = 0; i < o->run->port_count; i++)
        report_waiting(&o->run->ports[i], out);
    for (uint32_t i = 0; i < o->holds; i++)
        if (o->held[i].kind != HELD_FREE)
            fprintf(out, "%s: since cycle %lu the %s of 0x%lx %s (%s)\n", object->path,
                    object_cycle(object, o->held[i].since), kind_name(&o->held[i].message),
                    o->held[i].message.address, what[o->held[i].kind], o->run->class->source);
}
