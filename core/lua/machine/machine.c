/* Machines under construction: clocks, objects, wires; and the counters of finished ones. */
#include "core/gpu/device/wiring.h"
#include "core/lua/bindings.h"
#include "core/lua/component/lua_objects.h"
#include "core/lua/device/checkpoint.h"
#include "core/lua/device/in_flight.h"
#include "core/lua/host/signals.h"
#include "core/lua/machine/objects.h"
#include "core/lua/policy/policy.h"
#include "core/sim/alias.h"
#include "core/sim/base/units.h"
#include "core/sim/clock_shares.h"
#include "core/sim/clocks.h"

#include <ctype.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

static const char machine_type[] = "warpwright.machine";

Machine *machine_at(lua_State *L, int index) {
    Machine *machine = luaL_checkudata(L, index, machine_type);
    raise_user_errors_in(L);
    if (!machine_is_open(machine)) user_error("machine: it was closed");
    return machine;
}

/* core.machine(name) */
static int l_machine(lua_State *L) {
    const char *name = luaL_checkstring(L, 1);
    raise_user_errors_in(L);
    Machine *machine = lua_newuserdatauv(L, sizeof *machine, MACHINE_USER_VALUES);
    *machine = (Machine){.cycle_limit = NEVER,
                         .checkpoint_cycle = NEVER,
                         .pause_cycle = NEVER,
                         .pause_launch = NEVER,
                         .wait_cycle = NEVER};
    luaL_setmetatable(L, machine_type);
    machine->sim = sim_new(name);
    return 1;
}

static void free_before(Machine *machine) {
    for (Machine *before; (before = machine->before) != NULL; free(before)) {
        machine->before = before->before;
        policies_free(before);
        sim_free(before->sim);
    }
}

/* When the machine is garbage: nobody works with it. */
static int l_free(lua_State *L) {
    Machine *machine = luaL_checkudata(L, 1, machine_type);
    signals_unwatch(machine);
    free_before(machine);
    policies_free(machine);
    sim_free(machine->sim);
    if (machine->gpu) gpu_free(machine->gpu); /* the device's memory outlives the objects that look into it */
    for (uint32_t i = 0; i < machine->module_count; i++)
        module_free(machine->modules[i]);
    free(machine->modules);
    free(machine->progress_prefix);
    checkpoint_free(machine);
    in_flight_free(machine);
    *machine = (Machine){0};
    return 0;
}

/* machine:close(): gives everything back now and not when the garbage collector comes. When a finalizer asks
 * for it, whatever function of a binding made something and so set the collector to work may be in the middle
 * of the machine: then the machine is only out of use. */
static int l_close(lua_State *L) {
    Machine *machine = luaL_checkudata(L, 1, machine_type);
    bool in_finalizer = lua_gc(L, LUA_GCCOUNT) < 0;
    machine->closed = true;
    return in_finalizer ? 0 : l_free(L);
}

static uint64_t hertz_of(const char *clock, const char *text) {
    double hertz;
    if (!parse_quantity(text, "Hz", &hertz) || hertz < 1 || hertz > 1e15)
        user_error("clock.%s: expected %s, got '%s'", clock, quantity_examples("Hz"), text);
    if (hertz != floor(hertz)) user_error("clock.%s: expected a whole number of Hz, got '%s'", clock, text);
    return (uint64_t)hertz;
}

static bool ends_in_digit(const char *text) {
    return isdigit((unsigned char)text[strlen(text) - 1]) != 0;
}

/* A frequency as text; other values than numbers are an error. */
static const char *frequency_at(lua_State *L, int index, const char *clock) {
    if (!lua_isstring(L, index))
        user_error_got(L, index, "clock.%s: expected %s", clock, quantity_examples("Hz"));
    return luaL_tolstring(L, index, NULL);
}

/* machine:clock(name, "700MHz" or "700MHz, 595MHz to 805MHz": at first, and what it may become) */
static int l_clock(lua_State *L) {
    const char *name = luaL_checkstring(L, 2), *text = frequency_at(L, 3, name);
    Machine *machine = machine_at(L, 1);
    char first[32], slowest[32], fastest[32], rest;
    bool changes = strchr(text, ',') != NULL;
    if (changes && sscanf(text, "%31[^,], %31[^ ] to %31[^ ]%c", first, slowest, fastest, &rest) != 3)
        user_error("clock.%s: expected \"700MHz, 600MHz to 800MHz\" or one frequency, got '%s'", name, text);
    sim_clock(machine->sim, name, hertz_of(name, changes ? first : text));
    if (changes && ends_in_digit(slowest) && !ends_in_digit(fastest))
        user_error("clock.%s: expected a range with a unit at both ends ('600MHz to 1GHz'), got '%s to %s'",
                   name, slowest, fastest);
    if (changes) sim_clock_may_change(machine->sim, name, hertz_of(name, slowest), hertz_of(name, fastest));
    return 0;
}

/* machine:set_clock(name, frequency): from now, a boundary of a quantum, on */
static int l_set_clock(lua_State *L) {
    const char *name = luaL_checkstring(L, 2), *text = frequency_at(L, 3, name);
    const Machine *machine = machine_at(L, 1);
    if (machine->gpu) require_caught_up(machine, "set_clock");
    machine_set_clock(machine->sim, name, text);
    return 0;
}

void machine_set_clock(Sim *sim, const char *name, const char *text) {
    Clock *clock = sim_find_clock(sim, name);
    uint64_t hertz = hertz_of(name, text);
    if (!clock) no_such_clock(sim, "set_clock", name);
    if (!sim->elaborated)
        user_error("set_clock: expected a machine after sim:gpu() or sim:start(), got %s before", sim->name);
    sim_set_clock(sim, clock, hertz);
}

/* A whole number from 1 to `max`, given as number or text. */
static uint32_t count_up_to(lua_State *L, int index, const char *what, uint32_t max) {
    int whole;
    lua_Integer value = lua_tointegerx(L, index, &whole);
    if (lua_tonumber(L, index) > max)
        user_error_got(L, index, "%s: expected a whole number up to %u", what, max);
    if (!whole || value < 1) user_error_got(L, index, "%s: expected a whole number from 1 on", what);
    return (uint32_t)value;
}

static uint32_t count_at(lua_State *L, int index, const char *what) {
    return count_up_to(L, index, what, UINT32_MAX);
}

/* machine:quantum(cycles of the first clock) */
static int l_quantum(lua_State *L) {
    Machine *machine = machine_at(L, 1);
    sim_set_quantum(machine->sim, count_at(L, 2, "quantum"));
    return 0;
}

/* machine:quantum_by_wires(): the default, or less where the wires are quicker */
static int l_quantum_by_wires(lua_State *L) {
    Sim *sim = machine_at(L, 1)->sim;
    uint32_t longest = sim->clock_count ? wiring_longest_quantum(sim) : UINT32_MAX;
    if (longest < sim->quantum_cycles) sim_set_quantum(sim, longest ? longest : 1);
    return 0;
}

/* machine:order(text): the tick order, for tests of the law that it does not matter. */
static int l_order(lua_State *L) {
    static const char shuffled[] = "shuffled:";
    Sim *sim = machine_at(L, 1)->sim;
    const char *text = luaL_checkstring(L, 2);
    char *end;
    if (strcmp(text, "path") == 0)
        sim->order = ORDER_PATH;
    else if (strcmp(text, "reversed") == 0)
        sim->order = ORDER_REVERSED;
    else if (strcmp(text, "restless") == 0)
        sim->order = ORDER_RESTLESS;
    else if (strncmp(text, shuffled, strlen(shuffled)) == 0 && text[strlen(shuffled)]) {
        sim->order = ORDER_SHUFFLED;
        sim->order_seed = strtoull(text + strlen(shuffled), &end, 10);
        if (*end)
            user_error("order: expected a whole number as SEED of shuffled:SEED, got '%s'",
                       text + strlen(shuffled));
    } else
        user_error("order: expected one of path, reversed, restless, shuffled:SEED, got '%s'", text);
    return 0;
}

/* machine:policies(names): of those that are at work on it, for messages */
static int l_policies(lua_State *L) {
    Sim *sim = machine_at(L, 1)->sim;
    const char *names = luaL_checkstring(L, 2);
    free(sim->policies);
    sim->policies = strdup(names);
    return 0;
}

/* As many as this process may use; more than eight have little to do. */
static uint32_t threads_for_cores(void) {
    enum { MOST = 8 };
    cpu_set_t cores;
    uint32_t count = sched_getaffinity(0, sizeof cores, &cores) == 0 ? (uint32_t)CPU_COUNT(&cores) : 1;
    return count < MOST ? count : MOST;
}

/* machine:threads(n or "auto"): how many host threads run it */
static int l_threads(lua_State *L) {
    Machine *machine = machine_at(L, 1);
    bool is_auto = lua_type(L, 2) == LUA_TSTRING && strcmp(lua_tostring(L, 2), "auto") == 0;
    sim_set_threads(machine->sim, is_auto ? threads_for_cores() : count_at(L, 2, "threads"));
    return 0;
}

/* machine:pin_threads(): each of them stays on a core of its own */
static int l_pin_threads(lua_State *L) {
    sim_pin_threads(machine_at(L, 1)->sim);
    return 0;
}

/* machine:stop_threads(): until it runs again; a forked process has no other threads. */
static int l_stop_threads(lua_State *L) {
    sim_stop_threads(machine_at(L, 1)->sim);
    return 0;
}

/* machine:add(class, path, clock or nil) -> object, with its children, waiting for parameters */
static int l_add(lua_State *L) {
    Machine *machine = machine_at(L, 1);
    const char *clock = luaL_optstring(L, 4, NULL);
    object_push(L, 1, machine, sim_add(machine->sim, luaL_checkstring(L, 2), luaL_checkstring(L, 3), clock));
    return 1;
}

/* machine:find(path) -> object or nil */
static int l_find(lua_State *L) {
    Machine *machine = machine_at(L, 1);
    SimObject *object = sim_find(machine->sim, luaL_checkstring(L, 2));
    if (object)
        object_push(L, 1, machine, object);
    else
        lua_pushnil(L);
    return 1;
}

/* The ports of a wire, at 2 and 3 of the stack, may be texts and objects that have one. */
static const char *option_name(lua_State *L, const char *way, const char *name) {
    return lua_pushfstring(L, "wire %s -> %s: %s%s", luaL_tolstring(L, 2, NULL), luaL_tolstring(L, 3, NULL),
                           way, name);
}

/* The field `name` of the table at `index`, or 0: the kernel's default. `way` is "", or "back: " of responses. */
static uint32_t link_option(lua_State *L, int index, const char *way, const char *name, uint32_t max) {
    int whole, top = lua_gettop(L);
    uint32_t value = 0;
    if (lua_getfield(L, index, name) != LUA_TNIL) {
        lua_Integer given = lua_tointegerx(L, -1, &whole);
        bool good = whole && given >= 1 && given <= max;
        value = good ? (uint32_t)given : count_up_to(L, top + 1, option_name(L, way, name), max);
    }
    lua_settop(L, top);
    return value;
}

static LinkOptions link_options(lua_State *L, int index, const char *way) {
    return (LinkOptions){.latency = link_option(L, index, way, "latency", UINT32_MAX),
                         .depth = link_option(L, index, way, "depth", UINT32_MAX),
                         .width = link_option(L, index, way, "width", UINT16_MAX)};
}

/* machine:wire(port, port, { latency =, depth =, width =, back = { the same for responses } }) */
static int l_wire(lua_State *L) {
    static const char *const legal[] = {"latency", "depth", "width", "back", NULL};
    static const char *const legal_back[] = {"latency", "depth", "width", NULL};
    char name_a[PORT_NAME_BYTES], name_b[PORT_NAME_BYTES];
    LinkOptions forward = {0}, back = {0};
    machine_at(L, 1);
    if (!lua_isnoneornil(L, 4)) {
        take_options(L, 4, "wire", legal);
        forward = back = link_options(L, 4, "");
        if (lua_getfield(L, 4, "back") != LUA_TNIL) {
            take_options(L, lua_gettop(L), "wire: back", legal_back);
            back = link_options(L, lua_gettop(L), "back: ");
        }
    }
    Machine *machine = machine_at(L, 1);
    SimObject *a = port_at(L, 2, machine->sim, name_a);
    SimObject *b = port_at(L, 3, machine->sim, name_b);
    if (a->sim != machine->sim || b->sim != machine->sim)
        user_error("wire: expected ports of machine %s, got one of another machine", machine->sim->name);
    sim_wire(machine->sim, a, name_a, b, name_b, forward, back);
    return 0;
}

/* machine:objects() -> those that were not made by another, in order of construction */
static int l_objects(lua_State *L) {
    Machine *machine = machine_at(L, 1);
    lua_newtable(L);
    for (uint32_t i = 0; i < machine->sim->object_count; i++) {
        if (made_with_parent(machine->sim->objects[i])) continue;
        object_push(L, 1, machine, machine->sim->objects[i]);
        lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
    }
    return 1;
}

static void set_integer(lua_State *L, const char *name, uint64_t value) {
    lua_pushinteger(L, (lua_Integer)value);
    lua_setfield(L, -2, name);
}

/* machine:clocks() -> { { name =, hertz = at first, slowest =, fastest =, frequency = at present, cycles =, changes = } ... },
 * quantum in cycles of the first */
static int l_clocks(lua_State *L) {
    const Sim *sim = machine_at(L, 1)->sim;
    lua_newtable(L);
    for (uint32_t i = 0; i < sim->clock_count; i++) {
        lua_newtable(L);
        lua_pushstring(L, sim->clocks[i].name);
        lua_setfield(L, -2, "name");
        set_integer(L, "hertz", sim->clocks[i].hertz);
        set_integer(L, "slowest", sim->clocks[i].slowest);
        set_integer(L, "fastest", sim->clocks[i].fastest);
        set_integer(L, "frequency", sim->clocks[i].frequency);
        set_integer(L, "changes", sim->clocks[i].changes);
        if (sim->elaborated) set_integer(L, "cycles", clock_cycle(&sim->clocks[i], sim->now));
        lua_rawseti(L, -2, i + 1);
    }
    lua_pushinteger(L, sim->quantum_cycles);
    return 2;
}

typedef struct {
    lua_State *L;
    const Clock *clock;
    const ClockShare *share; /* NULL: what has been counted since the last change, if any */
    uint32_t i;
} PushedShare;

static void push_counter(void *context, const SimObject *object, const Field *stat, uint64_t value) {
    PushedShare *p = context;
    uint64_t before = p->clock->counted ? p->clock->counted[p->i] : 0;
    uint64_t counted = p->share ? p->share->counters[p->i] : value - before;
    p->i++;
    if (!counted) return;
    lua_pushfstring(p->L, "%s.%s", object->path, stat->name);
    lua_pushinteger(p->L, (lua_Integer)counted);
    lua_rawset(p->L, -3);
}

static void push_share(lua_State *L, const Sim *sim, const Clock *clock, const ClockShare *share) {
    uint64_t time = share ? share->picoseconds : sim_picoseconds(sim) - clock->counted_time;
    lua_newtable(L);
    set_integer(L, "frequency", share ? share->frequency : clock->frequency);
    lua_pushnumber(L, (double)time * 1e-12);
    lua_setfield(L, -2, "seconds");
    lua_newtable(L);
    clock_shares_visit(sim, clock, push_counter, &(PushedShare){L, clock, share, 0});
    lua_setfield(L, -2, "counters");
}

void machine_push_clock_shares(lua_State *L, const Sim *sim, const Clock *clock) {
    lua_newtable(L);
    for (uint32_t i = 0; i <= clock->share_count; i++) {
        push_share(L, sim, clock, i < clock->share_count ? &clock->shares[i] : NULL);
        lua_rawseti(L, -2, i + 1);
    }
}

/* machine:clock_shares(name) */
static int l_clock_shares(lua_State *L) {
    const Sim *sim = machine_at(L, 1)->sim;
    const Clock *clock = sim_find_clock(sim, luaL_checkstring(L, 2));
    if (!clock) return 0;
    machine_push_clock_shares(L, sim, clock);
    return 1;
}

double machine_seconds(const Sim *sim) {
    double since = sim->elaborated ? (double)(sim->now - sim->rated_at) / (double)sim->ticks_per_second : 0;
    return (double)sim->rated_time * 1e-12 + since;
}

/* machine:seconds() */
static int l_seconds(lua_State *L) {
    lua_pushnumber(L, machine_seconds(machine_at(L, 1)->sim));
    return 1;
}

uint64_t link_latency_cycles(const Sim *sim, const Link *link) {
    if (sim->elaborated) return link->latency / link->sender->period;
    return link->latency ? link->latency : 1;
}

static const char arrow[] = " -> ";

size_t link_name_from(const Link *link) {
    return (size_t)(strstr(link->name, arrow) - link->name);
}

const char *link_name_to(const Link *link) {
    return link->name + link_name_from(link) + strlen(arrow);
}

/* sim_wire() makes the link of the responses right after that of the requests. */
const Link *link_back(const Sim *sim, uint32_t i) {
    const Link *link = sim->links[i], *next = i + 1 < sim->link_count ? sim->links[i + 1] : NULL;
    size_t from_length = link_name_from(link);
    if (!next || strlen(link_name_to(next)) != from_length) return NULL;
    return strncmp(link_name_to(next), link->name, from_length) == 0 ? next : NULL;
}

static void push_link(lua_State *L, const Sim *sim, const Link *link) {
    lua_newtable(L);
    lua_pushinteger(L, (lua_Integer)link_latency_cycles(sim, link));
    lua_setfield(L, -2, "latency");
    lua_pushinteger(L, link->depth);
    lua_setfield(L, -2, "depth");
    lua_pushinteger(L, link->width);
    lua_setfield(L, -2, "width");
}

/* machine:wires() -> { { from =, to =, forward = { latency =, depth =, width = }, back = the same or nil }
 * ... } */
static int l_wires(lua_State *L) {
    const Sim *sim = machine_at(L, 1)->sim;
    lua_newtable(L);
    for (uint32_t i = 0; i < sim->link_count; i++) {
        const Link *link = sim->links[i], *back = link_back(sim, i);
        lua_newtable(L);
        lua_pushlstring(L, link->name, link_name_from(link));
        lua_setfield(L, -2, "from");
        lua_pushstring(L, link_name_to(link));
        lua_setfield(L, -2, "to");
        push_link(L, sim, link);
        lua_setfield(L, -2, "forward");
        if (back) {
            push_link(L, sim, back);
            lua_setfield(L, -2, "back");
            i++;
        }
        lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
    }
    return 1;
}

/* machine:config() -> Lua text that builds it again */
static int l_config(lua_State *L) {
    const Machine *machine = machine_at(L, 1);
    Buffer text = {0};
    config_text(machine->sim, &text);
    lua_pushlstring(L, (const char *)text.bytes, text.count);
    buffer_free(&text);
    return 1;
}

/* machine:run(cycles of the first clock) -> "time", or "idle" when nobody has anything to do any more; and
 * the cycle: a machine without SMs, which need a GPU to run on. */
static int l_run(lua_State *L) {
    Sim *sim = machine_at(L, 1)->sim;
    uint32_t cycles = count_at(L, 2, "advance: cycles");
    for (uint32_t i = 0; i < sim->object_count; i++)
        if (strcmp(sim->objects[i]->class->name, "SM") == 0)
            user_error("advance: expected a machine without SMs, got %s with %s; kernels run it", sim->name,
                       sim->objects[i]->path);
    if (!sim->elaborated) {
        wiring_check(sim);
        sim_elaborate(sim);
    }
    StopReason reason = sim_run(sim, sim->now + cycles * sim->clocks[0].period);
    lua_pushstring(L, reason == STOP_IDLE ? "idle" : "time");
    lua_pushinteger(L, (lua_Integer)clock_cycle(&sim->clocks[0], sim->now));
    return 2;
}

void machine_settle(const Machine *machine, bool idle) {
    if (machine->sim->faulted)
        user_error("machine %s was stopped by an error; its counters are not valid", machine->sim->name);
    if (!machine->sim->elaborated) return; /* nothing has been counted */
    if (!machine->stopped) require_caught_up(machine, "result");
    sim_settle(machine->sim);
    if (idle) lua_objects_require_nothing_held(machine->sim);
    sim_check(machine->sim, idle);
}

/* machine:settle(idle): brings the counters up to date and checks the laws between them; idle: those of a
 * machine with nothing in flight, too, unless a kernel is. */
static int l_settle(lua_State *L) {
    const Machine *machine = machine_at(L, 1);
    if (!machine->sim->elaborated) user_error("machine %s is not built yet", machine->sim->name);
    machine_settle(machine, lua_toboolean(L, 2) && !machine->launched);
    return 0;
}

/* core.is_class(name) */
static int l_is_class(lua_State *L) {
    lua_pushboolean(L, class_find(luaL_checkstring(L, 1)) != NULL);
    return 1;
}

/* core.classes() -> { { name =, doc = } ... }, sorted by name */
static int l_classes(lua_State *L) {
    lua_newtable(L);
    for (uint32_t i = 0; i < class_count(); i++) {
        const Class *class = class_at(i);
        lua_newtable(L);
        lua_pushstring(L, class->name);
        lua_setfield(L, -2, "name");
        lua_pushstring(L, class->doc);
        lua_setfield(L, -2, "doc");
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

static const char *parameter_kind(const Field *f) {
    if (f->flag) return "flag";
    if (f->choices) return "choice";
    return f->type == TYPE_STRING ? "text" : f->type == TYPE_DOUBLE ? "real" : "whole";
}

static void set_text(lua_State *L, const char *name, const char *text) {
    lua_pushstring(L, text);
    lua_setfield(L, -2, name);
}

static void push_parameter_row(lua_State *L, const Field *f) {
    bool bounded = f->min != 0 || f->max != 0;
    lua_newtable(L);
    set_text(L, "name", f->name);
    set_text(L, "kind", parameter_kind(f));
    set_text(L, "unit", f->unit);
    set_text(L, "doc", f->doc);
    set_text(L, "default", f->initial);
    set_text(L, "choices", f->choices);
    if (bounded || strcmp(parameter_kind(f), "whole") == 0) {
        lua_pushnumber(L, bounded ? f->min : 0);
        lua_setfield(L, -2, "min");
        lua_pushnumber(L, bounded ? f->max : f->type == TYPE_U32 ? UINT32_MAX : 9007199254740992.0);
        lua_setfield(L, -2, "max");
    }
    lua_pushboolean(L, f->power_of_two);
    lua_setfield(L, -2, "power_of_two");
    lua_pushboolean(L, f->knob);
    lua_setfield(L, -2, "knob");
}

/* core.parameter_rows(class) -> { { name =, kind = "whole", "real", "flag", "choice" or "text", unit =, doc
 * =, default = text or nil, choices = "a|b" or nil, min =, max =, power_of_two =, knob = } ... }: what
 * --describe prints of its parameters */
static int l_parameter_rows(lua_State *L) {
    const Class *class = class_find(luaL_checkstring(L, 1));
    luaL_argcheck(L, class, 1, "expected the name of a class");
    lua_newtable(L);
    for (const Field *f = class->fields; f->kind != FIELD_END; f++) {
        if (f->kind != FIELD_PARAM) continue;
        push_parameter_row(L, f);
        lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
    }
    return 1;
}

/* core.describe(class) prints its rows. */
static int l_describe(lua_State *L) {
    const Class *class = class_find(luaL_checkstring(L, 1));
    luaL_argcheck(L, class, 1, "expected the name of a class");
    class_describe(class, stdout);
    return 0;
}

/* core.quantity("4GiB", "bytes") -> whole number; core.quantity(text, unit, where): an error begins with the place */
static int l_quantity(lua_State *L) {
    lua_settop(L, 3);
    const char *unit = luaL_checkstring(L, 2), *where = luaL_optstring(L, 3, "");
    const char *text = luaL_tolstring(L, 1, NULL);
    double value;
    raise_user_errors_in(L);
    if (!parse_quantity(text, unit, &value) || value < 0 || value > 9e15)
        user_error("%s%sexpected %s, got %s", where, *where ? ": " : "", quantity_examples(unit),
                   push_given(L, 1));
    lua_pushinteger(L, (lua_Integer)value);
    return 1;
}

/* core.path_matches(pattern, path) */
static int l_path_matches(lua_State *L) {
    lua_pushboolean(L, path_matches(luaL_checkstring(L, 1), luaL_checkstring(L, 2)));
    return 1;
}

/* core.current_name("sm[*].l1d.passing_limit") -> with the name of today, or nil where it is no old one */
static int l_current_name(lua_State *L) {
    const char *path = luaL_checkstring(L, 1), *dot = strrchr(path, '.');
    const char *current = alias_current(dot ? dot + 1 : path);
    if (!current) return 0;
    lua_pushlstring(L, path, dot ? (size_t)(dot + 1 - path) : 0);
    lua_pushstring(L, current);
    lua_concat(L, 2);
    return 1;
}

void machine_open(lua_State *L) {
    static const luaL_Reg machine_metamethods[] = {{"__gc", l_free}, {NULL, NULL}};
    static const luaL_Reg machine_methods[] = {
        {"close", l_close},
        {"clock", l_clock},
        {"quantum", l_quantum},
        {"order", l_order},
        {"add", l_add},
        {"find", l_find},
        {"wire", l_wire},
        {"objects", l_objects},
        {"threads", l_threads},
        {"pin_threads", l_pin_threads},
        {"stop_threads", l_stop_threads},
        {"clocks", l_clocks},
        {"set_clock", l_set_clock},
        {"clock_shares", l_clock_shares},
        {"seconds", l_seconds},
        {"wires", l_wires},
        {"stats", stats_of_machine},
        {"settle", l_settle},
        {"run", l_run},
        {"policies", l_policies},
        {"quantum_by_wires", l_quantum_by_wires},
        {"config", l_config},
        {NULL, NULL},
    };
    static const luaL_Reg functions[] = {
        {"machine", l_machine},
        {"is_class", l_is_class},
        {"classes", l_classes},
        {"describe", l_describe},
        {"parameter_rows", l_parameter_rows},
        {"path_matches", l_path_matches},
        {"current_name", l_current_name},
        {"quantity", l_quantity},
        {NULL, NULL},
    };
    define_type(L, machine_type, machine_metamethods, machine_methods);
    luaL_setfuncs(L, functions, 0);
    objects_open(L);
}
