#include "core/lua/component/lua_object.h"

#include "core/gpu/device/wiring.h"
#include "core/lua/component/lua_objects.h"
#include "core/lua/host/interpreter.h"
#include "core/lua/host/own_state.h"
#include "core/lua/host/signals.h"
#include "core/sim/clocks.h"
#include "core/sim/halves.h"

#include <stdlib.h>
#include <string.h>

/* An event of a neighbour. */
struct Hearing {
    Subscriber subscriber; /* first */
    LuaRun *run;
    lua_Integer function; /* in the list HEARD */
    const char *event;
    int arguments;
    const LuaPort *port;
    Hearing *next;
};

/* --- Calls ----------------------------------------------------------------------------------- */

/* The place in the file of the class comes first. What went wrong is on top of the stack. */
static void note_failure(LuaRun *run, const char *function, uint64_t now) {
    char message[LUA_MESSAGE_BYTES];
    SimObject *object = &run->object->obj;
    const char *text = thrown_text(run->L), *place = text;
    size_t length = location_length(text);
    if (length)
        text += length;
    else
        place = run->class->source, length = strlen(place);
    snprintf(message, sizeof message, "%.*s%s%s (%s), in %s at cycle %lu: %s", (int)length, place,
             place == run->class->source ? ": " : "", object->path, object->class->name, function,
             object_cycle(object, now), text);
    run->failed = true;
    object_fail(object, message);
}

/* The function and its arguments, `self` first, are on top of the stack. True with one result. */
static bool call(LuaRun *run, int count, const char *function, uint64_t now) {
    signals_enter(run->L);
    bool good = lua_pcall(run->L, count, 1, MESSAGE_HANDLER) == LUA_OK;
    signals_leave();
    if (!good) note_failure(run, function, now);
    return good;
}

/* --- Time ------------------------------------------------------------------------------------ */

/* What the links bring, and room in those that had none; *left: a message that could have been taken was not. */
static uint64_t links_time(const LuaRun *run, uint64_t now, bool *left, bool *refused) {
    uint64_t next = NEVER;
    for (uint32_t i = 0; i < run->port_count; i++) {
        const LuaPort *port = &run->ports[i];
        uint64_t ready = port->port->receive ? link_next_ready(port->port->receive) : NEVER;
        *left |= ready <= now;
        *refused |= port->refused;
        if (ready > now) next = earlier_of(next, ready);
        if (port->refused)
            next = earlier_of(next, link_can_send(port->port->send, now)
                                        ? now + run->object->obj.period
                                        : link_space_time(port->port->send, now));
    }
    return next;
}

/* Of what tick() returned, on top of the stack: a cycle, true for the next one, nil for when something comes or
 * what was full has room. After a cycle in which something moved, there may be more to do, whatever it says; and
 * whoever leaves a message and waits for nothing is asked again. */
static uint64_t next_time(LuaRun *run, uint64_t now) {
    const SimObject *object = &run->object->obj;
    lua_State *L = run->L;
    bool left = false, refused = false;
    uint64_t next = links_time(run, now, &left, &refused), soon = now + object->period;
    int type = lua_type(L, -1), whole = 0;
    lua_Integer cycle = lua_tointegerx(L, -1, &whole);
    if (type == LUA_TNIL) return run->has_moved || (left && !refused) ? soon : next;
    if (type == LUA_TBOOLEAN && lua_toboolean(L, -1)) return soon;
    if (type == LUA_TNUMBER && whole && cycle >= 0 && cycle < (lua_Integer)(NEVER / 16 / object->period))
        return run->has_moved ? soon : earlier_of(next, later_of(object_time(object, (uint64_t)cycle), soon));
    lua_pushfstring(L, "expected the number of a cycle, true or nil as the result, got %s",
                    push_given(L, -1));
    note_failure(run, "tick", now);
    return NEVER;
}

static uint64_t tick(SimObject *object, uint64_t now) {
    LuaRun *run = run_of(object);
    if (run->failed) return NEVER;
    Caller caller = present_caller();
    run->now = now;
    run->has_moved = false;
    for (uint32_t i = 0; i < run->port_count; i++)
        run->ports[i].refused = false;
    lua_pushvalue(run->L, TICK);
    lua_pushvalue(run->L, SELF);
    lua_pushinteger(run->L, (lua_Integer)object_cycle(object, now));
    uint64_t next = call(run, 2, "tick", now) ? next_time(run, now) : NEVER;
    run->now = NEVER;
    lua_settop(run->L, run->at_rest);
    return_to(caller);
    return next;
}

/* --- Events of neighbours -------------------------------------------------------------------- */

static int64_t hear(Subscriber *subscriber, SimObject *speaker, uint32_t event, const int64_t *arguments,
                    uint64_t now) {
    const Hearing *hearing = (const Hearing *)subscriber;
    LuaRun *run = hearing->run;
    int count = 1;
    (void)speaker, (void)event;
    if (run->failed) return NO_ANSWER;
    Caller caller = present_caller();
    lua_rawgeti(run->L, HEARD, hearing->function);
    lua_pushvalue(run->L, SELF);
    if (hearing->port->field->kind == FIELD_PORT_ARRAY) {
        lua_pushinteger(run->L, hearing->port->element);
        count++;
    }
    for (int i = 0; i < hearing->arguments; i++, count++)
        lua_pushinteger(run->L, arguments[i]);
    call(run, count, hearing->event, now);
    lua_settop(run->L, run->at_rest);
    return_to(caller);
    object_wake(&run->object->obj);
    return NO_ANSWER;
}

static int argument_count(const Event *event) {
    int count = *event->arguments != 0;
    for (const char *at = event->arguments; *at; at++)
        count += *at == ',';
    return count;
}

static SimObject *peer_of(const LuaPort *port) {
    const SimObject *end = port->port->send      ? port->port->send->receiver
                           : port->port->receive ? port->port->receive->sender
                                                 : NULL;
    return end ? object_whole(end) : NULL;
}

_Noreturn static void refuse_cut(const SimObject *object, const LuaPort *port) {
    char why[512];
    const Sim *sim = object->sim;
    const Link *there = port->port->send, *back = port->port->receive;
    const Link *quicker = back->latency < there->latency ? back : there;
    wiring_explain_cut(quicker, why, sizeof why);
    user_error("%s: hears: expected a wire to %s of less than the quantum, %u, got one of %lu (cycles of "
               "clock %s); %s",
               object->path, peer_of(port)->path, sim->quantum_cycles,
               quicker->latency / sim->clocks[0].period, sim->clocks[0].name, why);
}

static void listen_at(LuaRun *run, const HeardRow *row, lua_Integer function, LuaPort *port) {
    SimObject *peer = peer_of(port), *object = &run->object->obj;
    int event = peer ? event_number(peer->class, row->event) : -1;
    if (!peer) return;
    if (event < 0 || peer->class->events[event].question)
        user_error(
            "%s: hears: no event of %s (%s), which is wired to port %s, matches '%s'; warpwright --describe "
            "%s lists them",
            object->path, peer->path, peer->class->name, row->port, row->event, peer->class->name);
    if (peer->cluster != object->cluster) refuse_cut(object, port);
    Hearing *hearing = calloc(1, sizeof *hearing);
    ensure_memory(hearing);
    *hearing = (Hearing){
        {hear}, run, function, row->event, argument_count(&peer->class->events[event]), port, run->hearings};
    run->hearings = hearing;
    object_subscribe(peer, &hearing->subscriber, 1u << event);
}

static void listen_to_neighbours(LuaRun *run) {
    for (uint32_t i = 0; i < run->class->heard_count; i++)
        for (uint32_t k = 0; k < run->port_count; k++)
            if (strcmp(run->ports[k].field->name, run->class->heard[i].port) == 0)
                listen_at(run, &run->class->heard[i], i + 1, &run->ports[k]);
}

/* --- Making ---------------------------------------------------------------------------------- */

static void add_ports(LuaRun *run, const Field *f) {
    char *at = (char *)run->object + f->offset;
    bool array = f->kind == FIELD_PORT_ARRAY;
    Port *ports = array ? *(Port **)(void *)at : (Port *)(void *)at;
    uint32_t count = array ? object_count(&run->object->obj, f) : 1;
    run->ports = realloc(run->ports, (run->port_count + count + 1) * sizeof *run->ports);
    ensure_memory(run->ports);
    for (uint32_t i = 0; i < count; i++) {
        run->ports[run->port_count] = (LuaPort){run, &ports[i], f, run->port_count, i, run->up_count, false};
        run->port_count++;
        run->up_count += f->role == ROLE_RESPONDER;
    }
}

static void find_ports(LuaRun *run) {
    const SimObject *object = &run->object->obj;
    for (const Field *f = object->class->fields; f->kind != FIELD_END; f++)
        if (f->kind == FIELD_PORT || f->kind == FIELD_PORT_ARRAY) add_ports(run, f);
    if (run->up_count > MAX_UP)
        user_error("%s: expected up to %d ports towards requesters, got %u", object->path, MAX_UP,
                   run->up_count);
}

/* { name = port, or a list of ports from 0 on } */
static void push_ports(LuaRun *run) {
    lua_State *L = run->L;
    lua_newtable(L);
    for (uint32_t i = 0; i < run->port_count; i++) {
        LuaPort *port = &run->ports[i];
        if (port->field->kind == FIELD_PORT) {
            port_push(L, port);
            lua_setfield(L, -2, port->field->name);
            continue;
        }
        if (port->element == 0) {
            lua_newtable(L);
            lua_setfield(L, -2, port->field->name);
        }
        lua_getfield(L, -1, port->field->name);
        port_push(L, port);
        lua_rawseti(L, -2, port->element);
        lua_pop(L, 1);
    }
}

static void push_parameter(lua_State *L, const SimObject *object, const Field *f) {
    const char *at = (const char *)object + f->offset;
    if (f->flag) {
        lua_pushboolean(L, *(const uint32_t *)(const void *)at != 0);
    } else if (f->choices || f->type == TYPE_STRING) {
        char *text = object_get_text(object, f);
        lua_pushstring(L, text);
        free(text);
    } else if (f->type == TYPE_DOUBLE) {
        lua_pushnumber(L, *(const double *)(const void *)at);
    } else if (f->type == TYPE_U32) {
        lua_pushinteger(L, *(const uint32_t *)(const void *)at);
    } else {
        lua_pushinteger(L, *(const int64_t *)(const void *)at);
    }
}

static void push_parameters(LuaRun *run) {
    const SimObject *object = &run->object->obj;
    lua_newtable(run->L);
    for (const Field *f = object->class->fields; f->kind != FIELD_END; f++) {
        if (f->kind != FIELD_PARAM) continue;
        push_parameter(run->L, object, f);
        lua_setfield(run->L, -2, f->name);
    }
}

/* { name = number of the row } */
static void push_stats(LuaRun *run) {
    const Field *fields = run->class->fields;
    lua_newtable(run->L);
    for (lua_Integer i = 0; fields[i].kind != FIELD_END; i++) {
        if (fields[i].kind != FIELD_STAT) continue;
        lua_pushinteger(run->L, i);
        lua_setfield(run->L, -2, fields[i].name);
    }
}

/* The library's function, called with the file, the class, the object's path, its parameters, ports, statistics
 * and what handles messages. */
static bool make(LuaRun *run) {
    lua_State *L = run->L;
    push_message_handler(L);
    if (!push_maker(L, "warpwright.lua_object")) return false;
    lua_pushstring(L, run->class->path);
    lua_pushstring(L, run->class->class.name);
    lua_pushstring(L, run->object->obj.path);
    push_parameters(run);
    push_ports(run);
    push_stats(run);
    ports_push_functions(run);
    bool good = lua_pcall(L, 7, KEPT, MESSAGE_HANDLER) == LUA_OK;
    if (good) {
        lua_pushvalue(L, START);
        good = lua_pcall(L, 0, 0, MESSAGE_HANDLER) == LUA_OK;
    }
    return good && lua_checkstack(L, LUA_MINSTACK);
}

static void init(SimObject *object) {
    char message[LUA_MESSAGE_BYTES];
    LuaRun *run = calloc(1, sizeof *run);
    ensure_memory(run);
    *run = (LuaRun){
        .object = (LuaObject *)object, .class = lua_class_of(object), .now = NEVER, .failed = true};
    run->object->run = run;
    find_ports(run);
    Caller caller = present_caller();
    run->L = interpreter_new(run->class->home);
    bool good = make(run);
    if (!good) {
        const char *text = thrown_text(run->L);
        size_t length = location_length(text);
        snprintf(message, sizeof message, "%.*s%s (%s): %s", (int)length, text, object->path,
                 object->class->name, text + length);
    }
    return_to(caller);
    if (!good) user_error("%s", message);
    run->at_rest = lua_gettop(run->L);
    run->failed = false;
    listen_to_neighbours(run);
}

static void destroy(SimObject *object) {
    LuaRun *run = run_of(object);
    if (!run) return;
    Caller caller = present_caller();
    if (run->L) lua_close(run->L);
    return_to(caller);
    for (Hearing *hearing; (hearing = run->hearings) != NULL; free(hearing))
        run->hearings = hearing->next;
    free(run->ports);
    free(run);
}

void lua_objects_kernel_start(Sim *sim, const char *kernel) {
    for (uint32_t i = 0; i < sim->object_count; i++) {
        LuaRun *run = lua_class_of(sim->objects[i]) ? run_of(sim->objects[i]) : NULL;
        if (!run || run->failed || lua_isnil(run->L, KERNEL_START)) continue;
        Caller caller = present_caller();
        lua_pushvalue(run->L, KERNEL_START);
        lua_pushvalue(run->L, SELF);
        lua_pushstring(run->L, kernel);
        call(run, 2, "on_kernel_start", sim->now);
        lua_settop(run->L, run->at_rest);
        return_to(caller);
        object_wake(sim->objects[i]);
    }
}

static void clocks_changed(SimObject *object, const Clock *was) {
    LuaObject *o = (LuaObject *)object;
    for (uint32_t i = 0; i < o->holds; i++)
        o->held[i].since = clock_moved_edge(object, was, o->held[i].since);
}

const Class lua_object_class = {
    .stamps_route = true,
    .made_at_run_time = true,
    .init = init,
    .tick = tick,
    .clocks_changed = clocks_changed,
    .fill_rows = lua_object_fill_rows,
    .is_sound = lua_object_is_sound,
    .check = lua_object_check,
    .requests_inside = lua_object_requests_inside,
    .came_by = lua_object_came_by,
    .answer_kinds = lua_object_answer_kinds,
    .answer_kind = lua_object_answer_kind,
    .answers_awaited = lua_object_answers_awaited,
    .report = lua_object_report,
    .destroy = destroy,
};
