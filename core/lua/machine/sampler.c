/* What statistics have grown by since they were looked at last: sums of counters and ratios of sums, each over all
 * that matches a pattern. They are found once; a look costs no more than the additions. */
#include "core/lua/bindings.h"
#include "core/lua/machine/machine.h"

#include <stdlib.h>
#include <string.h>

static const char sampler_type[] = "warpwright.sampler";

/* Its machine is user value 1. */
enum { SAMPLER_MACHINE = 1, SAMPLER_USER_VALUES = SAMPLER_MACHINE };

typedef struct {
    const SimObject *object;
    const Field *field; /* a counter, or a formula */
} Term;

typedef struct {
    Term *terms;
    size_t count, capacity;
    bool is_ratio, is_longest;
    /* As of the last look: of a counter in `counted`; of a ratio all its parts and all its wholes, which are whole
     * numbers below 2^53. */
    uint64_t counted;
    double part, whole;
} Column;

typedef struct {
    const Sim *sim;
    Column *columns;
    size_t count;
} Sampler;

static void add_term(Column *column, const SimObject *object, const Field *field) {
    if (column->count == column->capacity) {
        column->capacity = column->capacity ? 2 * column->capacity : 16;
        column->terms = realloc(column->terms, column->capacity * sizeof(Term));
        ensure_memory(column->terms);
    }
    column->terms[column->count++] = (Term){object, field};
}

static void resolve(Column *column, const Sim *sim, const char *pattern) {
    const char *dot = strrchr(pattern, '.');
    char *objects = strndup(pattern, dot ? (size_t)(dot - pattern) : 0);
    ensure_memory(objects);
    column->is_longest = dot && strstr(dot, "longest_");
    for (uint32_t i = 0; dot && i < sim->object_count; i++) {
        const SimObject *object = sim->objects[i];
        if (!path_matches(objects, object->path)) continue;
        for (const Field *f = object->class->fields; f->kind != FIELD_END; f++) {
            if ((f->kind != FIELD_STAT && f->kind != FIELD_FORMULA) || !path_matches(dot + 1, f->name))
                continue;
            bool is_ratio = f->kind == FIELD_FORMULA;
            if (column->count && is_ratio != column->is_ratio) {
                free(objects);
                user_error("stats_of: %s: expected counters or ratios, got both", pattern);
            }
            column->is_ratio = is_ratio;
            add_term(column, object, f);
        }
    }
    free(objects);
}

static int l_free(lua_State *L) {
    Sampler *sampler = luaL_checkudata(L, 1, sampler_type);
    for (size_t i = 0; i < sampler->count; i++)
        free(sampler->columns[i].terms);
    free(sampler->columns);
    *sampler = (Sampler){0};
    return 0;
}

/* core.sampler(machine, { pattern ... }) -> a sampler, and the first pattern that matches nothing or nil. What has been
 * counted before is the first look's. */
static int l_sampler(lua_State *L) {
    Machine *machine = machine_at(L, 1);
    luaL_checktype(L, 2, LUA_TTABLE);
    lua_settop(L, 2);
    size_t count = lua_rawlen(L, 2);
    Sampler *sampler = lua_newuserdatauv(L, sizeof *sampler, SAMPLER_USER_VALUES);
    *sampler = (Sampler){.sim = machine->sim};
    luaL_setmetatable(L, sampler_type);
    lua_pushvalue(L, 1);
    lua_setiuservalue(L, 3, SAMPLER_MACHINE);
    sampler->columns = calloc(count + 1, sizeof(Column));
    ensure_memory(sampler->columns);
    raise_user_errors_in(L);
    for (; sampler->count < count; sampler->count++) {
        lua_rawgeti(L, 2, (lua_Integer)sampler->count + 1);
        const char *pattern = luaL_checkstring(L, -1);
        resolve(&sampler->columns[sampler->count], machine->sim, pattern);
        if (!sampler->columns[sampler->count].count) return 2;
        lua_pop(L, 1);
    }
    return 1;
}

/* The sampler at 1, its machine's counters up to date. */
static Sampler *settled(lua_State *L) {
    Sampler *sampler = luaL_checkudata(L, 1, sampler_type);
    raise_user_errors_in(L);
    lua_getiuservalue(L, 1, SAMPLER_MACHINE);
    const Machine *machine = machine_at(L, -1);
    if (machine->sim != sampler->sim)
        user_error("stats_of: expected machine %s as it was, got it changed", machine->sim->name);
    machine_settle(machine, false);
    return sampler;
}

static uint64_t counter_of(const Term *term) {
    return *(const uint64_t *)((const char *)term->object + term->field->offset);
}

static void take_counter(Column *column, char *text, size_t size) {
    uint64_t sum = 0;
    for (size_t i = 0; i < column->count; i++) {
        uint64_t counted = counter_of(&column->terms[i]);
        if (!column->is_longest)
            sum += counted;
        else if (counted > sum)
            sum = counted;
    }
    snprintf(text, size, "%lu", column->is_longest ? sum : sum - column->counted);
    column->counted = sum;
}

/* Nothing where its whole has not grown. */
static void take_ratio(Column *column, char *text, size_t size) {
    double part = 0, whole = 0;
    for (size_t i = 0; i < column->count; i++) {
        Ratio ratio = column->terms[i].field->formula(column->terms[i].object);
        part += ratio.part;
        whole += ratio.whole;
    }
    *text = 0;
    if (whole != column->whole) snprintf(text, size, "%.9g", (part - column->part) / (whole - column->whole));
    column->part = part;
    column->whole = whole;
}

/* sampler:take() -> what each has grown by since the last look, with commas between; of the longest time, what it is */
static int l_take(lua_State *L) {
    Sampler *sampler = settled(L);
    luaL_Buffer line;
    luaL_buffinit(L, &line);
    for (size_t i = 0; i < sampler->count; i++) {
        char text[32];
        Column *column = &sampler->columns[i];
        if (column->is_ratio)
            take_ratio(column, text, sizeof text);
        else
            take_counter(column, text, sizeof text);
        if (i) luaL_addchar(&line, ',');
        luaL_addstring(&line, text);
    }
    luaL_pushresult(&line);
    return 1;
}

/* sampler:looked() -> as of the last look, for sampler:look_from() */
static int l_looked(lua_State *L) {
    const Sampler *sampler = luaL_checkudata(L, 1, sampler_type);
    luaL_Buffer text;
    luaL_buffinit(L, &text);
    for (size_t i = 0; i < sampler->count; i++) {
        const Column *column = &sampler->columns[i];
        char numbers[80];
        snprintf(numbers, sizeof numbers, "%lu %.17g %.17g ", column->counted, column->part, column->whole);
        luaL_addstring(&text, numbers);
    }
    luaL_pushresult(&text);
    return 1;
}

/* sampler:look_from(what looked() gave) -> whether it is of such a sampler */
static int l_look_from(lua_State *L) {
    Sampler *sampler = luaL_checkudata(L, 1, sampler_type);
    const char *text = luaL_checkstring(L, 2);
    bool good = true;
    for (size_t i = 0; i < sampler->count && good; i++) {
        Column *column = &sampler->columns[i];
        int read = 0;
        good = sscanf(text, "%20lu %30lf %30lf %n", &column->counted, &column->part, &column->whole, &read) ==
                   3 &&
               read;
        text += read;
    }
    lua_pushboolean(L, good && !*text);
    return 1;
}

void sampler_open(lua_State *L) {
    static const luaL_Reg metamethods[] = {{"__gc", l_free}, {NULL, NULL}};
    static const luaL_Reg methods[] = {
        {"take", l_take}, {"looked", l_looked}, {"look_from", l_look_from}, {NULL, NULL}};
    static const luaL_Reg functions[] = {{"sampler", l_sampler}, {NULL, NULL}};
    define_type(L, sampler_type, metamethods, methods);
    luaL_setfuncs(L, functions, 0);
}
