/* core.trace(): traces of a machine, from now on to their close(). */
#include "core/lua/bindings.h"
#include "core/lua/machine/machine.h"
#include "core/sim/trace/perfetto.h"
#include "core/sim/trace/text.h"

#include <stdlib.h>
#include <string.h>

static const char trace_type[] = "warpwright.trace";

typedef struct {
    Machine *machine; /* lives as long */
    Tracer *tracer;   /* which a machine that is closed, or goes on as another, has closed */
} Trace;

static bool is_open(const Trace *trace) {
    return trace->tracer && machine_is_open(trace->machine) && trace->machine->sim->tracer == trace->tracer;
}

static Trace *trace_at(lua_State *L, int index) {
    Trace *trace = luaL_checkudata(L, index, trace_type);
    luaL_argcheck(L, is_open(trace), index, "the trace is closed");
    return trace;
}

static uint64_t cycle_field(lua_State *L, const char *name, uint64_t otherwise) {
    lua_getfield(L, 2, name);
    uint64_t cycle = lua_isnil(L, -1) ? otherwise : (uint64_t)luaL_checkinteger(L, -1);
    lua_pop(L, 1);
    return cycle;
}

/* core.trace(gpu, { objects =, from =, to = }) -> trace, to be closed */
static int l_trace(lua_State *L) {
    Machine *machine = gpu_at(L, 1);
    lua_getfield(L, 2, "objects");
    TraceOptions options = {.patterns = luaL_checkstring(L, -1),
                            .from = cycle_field(L, "from", 0),
                            .to = cycle_field(L, "to", NEVER)};
    raise_user_errors_in(L);
    if (machine->sim->tracer) user_error("trace: expected a machine that is not traced, got one that is");
    Trace *trace = lua_newuserdatauv(L, sizeof *trace, 1);
    *trace = (Trace){.machine = machine};
    luaL_setmetatable(L, trace_type);
    lua_pushvalue(L, 1);
    lua_setiuservalue(L, -2, 1);
    trace->tracer = tracer_new(machine->sim, &options);
    return 1;
}

static void add_name(void *context, const char *name) {
    lua_State *L = context;
    lua_pushboolean(L, true);
    lua_setfield(L, -2, name);
}

/* trace:events() -> { [name] = true } of all events that its objects may show */
static int l_events(lua_State *L) {
    const Trace *trace = trace_at(L, 1);
    lua_newtable(L);
    tracer_visit_events(trace->tracer, add_name, L);
    return 1;
}

static void add_writer(Trace *trace, TraceWriter *writer, char *problem) {
    if (writer) {
        tracer_add_writer(trace->tracer, writer);
        return;
    }
    char text[1024];
    snprintf(text, sizeof text, "%s", problem);
    free(problem);
    user_error("trace: %s", text);
}

/* trace:text(file, heading, names of events or nil), trace:perfetto(file): it is written there, too */
static int l_text(lua_State *L) {
    Trace *trace = trace_at(L, 1);
    const char *path = luaL_checkstring(L, 2), *heading = luaL_checkstring(L, 3),
               *events = luaL_optstring(L, 4, NULL);
    char *problem = NULL;
    raise_user_errors_in(L);
    TraceWriter *writer = trace_text_new(path, heading, events, &problem);
    add_writer(trace, writer, problem);
    return 0;
}

static int l_perfetto(lua_State *L) {
    Trace *trace = trace_at(L, 1);
    const char *path = luaL_checkstring(L, 2);
    char *problem = NULL;
    raise_user_errors_in(L);
    TraceWriter *writer = perfetto_new(path, &problem);
    add_writer(trace, writer, problem);
    return 0;
}

/* trace:close() -> how many records there were, and nil or what went wrong with its files */
static int l_close(lua_State *L) {
    Trace *trace = luaL_checkudata(L, 1, trace_type);
    if (!is_open(trace)) return 0;
    uint64_t records;
    char *problem = tracer_close(trace->tracer, &records);
    trace->tracer = NULL;
    lua_pushinteger(L, (lua_Integer)records);
    lua_pushstring(L, problem);
    free(problem);
    return 2;
}

/* core.trace_selects(patterns, path): does a trace of "sm[3]*,l2[*]" show the object? */
static int l_selects(lua_State *L) {
    lua_pushboolean(L, trace_selects(luaL_checkstring(L, 1), luaL_checkstring(L, 2)));
    return 1;
}

void tracing_open(lua_State *L) {
    static const luaL_Reg metamethods[] = {{"__close", l_close}, {"__gc", l_close}, {NULL, NULL}};
    static const luaL_Reg methods[] = {
        {"events", l_events}, {"text", l_text}, {"perfetto", l_perfetto}, {"close", l_close}, {NULL, NULL}};
    static const luaL_Reg functions[] = {{"trace", l_trace}, {"trace_selects", l_selects}, {NULL, NULL}};
    define_type(L, trace_type, metamethods, methods);
    luaL_setfuncs(L, functions, 0);
}
