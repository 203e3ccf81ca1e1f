/* Sums of counters, by pattern, that are read often: resolved once, then a read costs no more than the
 * additions. */
#include "core/lua/bindings.h"
#include "core/lua/device/checkpoint.h"
#include "core/lua/machine/machine.h"

#include <stdlib.h>
#include <string.h>

static const char counters_type[] = "warpwright.counters";

/* Its machine is user value 1, its patterns as they were given are user value 2. */
enum { COUNTERS_MACHINE = 1, COUNTERS_PATTERNS, COUNTERS_USER_VALUES = COUNTERS_PATTERNS };

typedef struct {
    char *name;
    const uint64_t **counters;
    size_t count, capacity;
} Sum;

typedef struct {
    Machine *machine;
    const Sim *sim; /* whose counters these are: sim:change gives a machine another */
    Sum *sums;
    size_t count;
    size_t unmatched; /* patterns without a counter */
} Counters;

static void forget(Counters *counters) {
    for (size_t i = 0; i < counters->count; i++) {
        free(counters->sums[i].name);
        free(counters->sums[i].counters);
    }
    free(counters->sums);
    counters->sums = NULL;
    counters->count = 0;
}

static int l_counters_free(lua_State *L) {
    forget(luaL_checkudata(L, 1, counters_type));
    return 0;
}

static void add_counter(Sum *sum, const uint64_t *counter) {
    if (sum->count == sum->capacity) {
        sum->capacity = sum->capacity ? 2 * sum->capacity : 16;
        sum->counters = realloc(sum->counters, sum->capacity * sizeof *sum->counters);
        ensure_memory(sum->counters);
    }
    sum->counters[sum->count++] = counter;
}

/* A '*' stands for no '.', so the last one of the pattern is that between object and counter. False when
 * nothing matches. */
static bool add_matching(Sum *sum, const Sim *sim, const char *pattern) {
    const char *dot = strrchr(pattern, '.');
    char *objects = dot ? strndup(pattern, (size_t)(dot - pattern)) : NULL;
    size_t before = sum->count;
    for (uint32_t i = 0; dot && i < sim->object_count; i++) {
        const SimObject *object = sim->objects[i];
        if (!path_matches(objects, object->path)) continue;
        for (const Field *f = object->class->fields; f->kind != FIELD_END; f++)
            if (f->kind == FIELD_STAT && path_matches(dot + 1, f->name))
                add_counter(sum, (const uint64_t *)((const char *)object + f->offset));
    }
    free(objects);
    return sum->count > before;
}

/* Finds the counters of the list of patterns on top of the stack; appends those that match nothing to the
 * list at `unmatched`. */
static void resolve_sum(lua_State *L, Counters *counters, Sum *sum, int unmatched) {
    lua_Integer count = (lua_Integer)lua_rawlen(L, -1); /* no metamethod, which may close the machine */
    for (lua_Integer i = 1; i <= count; i++) {
        lua_rawgeti(L, -1, i);
        const char *pattern = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : NULL;
        if (!pattern) user_error_got(L, -1, "counters: %s: expected a pattern", sum->name);
        if (add_matching(sum, counters->sim, pattern)) {
            lua_pop(L, 1);
        } else {
            counters->unmatched++;
            lua_rawseti(L, unmatched, (lua_Integer)lua_rawlen(L, unmatched) + 1);
        }
    }
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const Sum *)a)->name, ((const Sum *)b)->name);
}

/* The order of Lua's tables is another in each process. Pushes the list of the patterns that match nothing. */
static void resolve(lua_State *L, int index, Counters *counters) {
    size_t sums = 0;
    forget(counters);
    counters->sim = counters->machine->sim;
    counters->unmatched = 0;
    lua_newtable(L);
    int unmatched = lua_gettop(L);
    lua_getiuservalue(L, index, COUNTERS_PATTERNS);
    for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1))
        sums++;
    counters->sums = calloc(sums + 1, sizeof(Sum));
    ensure_memory(counters->sums);
    for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
        if (counters->count == sums) user_error("counters: a finalizer added patterns while they were read");
        Sum *sum = &counters->sums[counters->count++];
        sum->name = strdup(lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "?");
        if (!lua_istable(L, -1))
            user_error_got(L, -1, "counters: %s: expected a list of patterns", sum->name);
        resolve_sum(L, counters, sum, unmatched);
    }
    lua_pop(L, 1);
    qsort(counters->sums, counters->count, sizeof *counters->sums, by_name);
}

/* core.counters(machine, { name = { pattern ... } ... }) -> counters, { patterns that match no counter ... }
 */
static int l_counters(lua_State *L) {
    Machine *machine = machine_at(L, 1);
    luaL_checktype(L, 2, LUA_TTABLE);
    Counters *counters = lua_newuserdatauv(L, sizeof *counters, COUNTERS_USER_VALUES);
    *counters = (Counters){.machine = machine};
    luaL_setmetatable(L, counters_type);
    lua_pushvalue(L, 1);
    lua_setiuservalue(L, -2, COUNTERS_MACHINE);
    lua_pushvalue(L, 2);
    lua_setiuservalue(L, -2, COUNTERS_PATTERNS);
    resolve(L, lua_gettop(L), counters);
    return 2;
}

/* Those of the machine as it is after sim:change. */
static void resolve_again(lua_State *L, Counters *counters) {
    size_t unmatched = counters->unmatched;
    resolve(L, 1, counters);
    if (counters->unmatched > unmatched) {
        counters->sim = NULL;
        lua_rawgeti(L, -1, 1);
        user_error("counters: no counter matches '%s' on machine %s any more", lua_tostring(L, -1),
                   counters->machine->sim->name);
    }
    lua_pop(L, 1);
}

static void add_up(const Counters *counters, uint64_t *sums) {
    for (size_t i = 0; i < counters->count; i++) {
        const Sum *sum = &counters->sums[i];
        sums[i] = 0;
        for (size_t k = 0; k < sum->count; k++)
            sums[i] += *sum->counters[k];
    }
}

/* Behind a launch, what a host program reads is in its log: where it is resumed, the machine is not there yet. */
static bool is_logged(const Machine *machine) {
    return machine->gpu && gpu_launch_count(machine->gpu) && !host_program_waits(machine) &&
           asked_by_host_program(machine);
}

static uint64_t digest_of_names(const Counters *counters) {
    uint64_t digest = counters->count;
    for (size_t i = 0; i < counters->count; i++)
        digest = hash_bytes(digest, counters->sums[i].name, strlen(counters->sums[i].name) + 1);
    return digest;
}

/* Returns whether the log has the sums as the host program read them before the checkpoint. The machine is at the index. */
static bool take_from_log(lua_State *L, int index, const Counters *counters, uint64_t *sums) {
    Machine *machine = counters->machine;
    host_log_call(&machine->log, digest_of_names(counters), "read %zu sums of counters", counters->count);
    if (!host_log_take(&machine->log, sums, counters->count * sizeof *sums)) return false;
    lua_getiuservalue(L, index, MACHINE_GPU);
    lua_replace(L, 1); /* the state comes with the last call */
    after_host_call(L, machine);
    return true;
}

static int push_sums(lua_State *L, const Counters *counters, const uint64_t *sums) {
    lua_createtable(L, 0, (int)counters->count);
    for (size_t i = 0; i < counters->count; i++) {
        lua_pushinteger(L, (lua_Integer)sums[i]);
        lua_setfield(L, -2, counters->sums[i].name);
    }
    return 1;
}

/* counters:read() -> { name = sum of the counters that match } */
static int l_read(lua_State *L) {
    Counters *counters = luaL_checkudata(L, 1, counters_type);
    lua_settop(L, 1);
    lua_pushvalue(L, 1); /* it stays */
    lua_getiuservalue(L, 1, COUNTERS_MACHINE);
    Machine *machine = machine_at(L, 3);
    if (counters->sim != machine->sim) resolve_again(L, counters);
    uint64_t *sums = lua_newuserdatauv(L, counters->count * sizeof *sums + 1, 0);
    bool logged = is_logged(machine);
    if (!logged || !take_from_log(L, 3, counters, sums)) {
        bool is_new = host_log_replaying(&machine->log) && !gpu_launch_count(machine->gpu);
        if (!is_new) machine_settle(machine, false);
        add_up(counters, sums);
        if (logged) host_log_answer(&machine->log, sums, counters->count * sizeof *sums);
    }
    return push_sums(L, counters, sums);
}

void counters_open(lua_State *L) {
    static const luaL_Reg metamethods[] = {{"__gc", l_counters_free}, {NULL, NULL}};
    static const luaL_Reg methods[] = {{"read", l_read}, {NULL, NULL}};
    static const luaL_Reg functions[] = {{"counters", l_counters}, {NULL, NULL}};
    define_type(L, counters_type, metamethods, methods);
    luaL_setfuncs(L, functions, 0);
}
