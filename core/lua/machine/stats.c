/* Statistics as results hold them: rows of names and values, found by name or pattern, told apart by time,
 * and written as text. A machine has thousands of them; none is a Lua value before somebody asks for it. */
#include "core/lua/bindings.h"
#include "core/lua/machine/machine.h"
#include "core/sim/base/units.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char stats_type[] = "warpwright.stats";

/* `fixed` is of a class's table; where it is NULL, the text lies in Stats.texts. */
typedef struct {
    const char *fixed;
    size_t at;
} Text;

typedef enum { ROW_INTEGER, ROW_FLOAT, ROW_RATIO } RowKind;

typedef struct {
    Text name, unit, doc;
    RowKind kind;
    bool of_policy;
    union {
        int64_t integer; /* ROW_INTEGER */
        double number;   /* the others  */
    };
    double whole; /* of a ratio: what the value is a part of */
} Row;

typedef struct {
    Row *rows;
    uint32_t count, capacity;
    Buffer texts;
    uint32_t *place; /* hash table of rows by name, row + 1; NULL until a name is looked for */
    uint32_t places; /* a power of two */
} Stats;

static Stats *stats_at(lua_State *L, int index) {
    Stats *stats = luaL_checkudata(L, index, stats_type);
    raise_user_errors_in(L);
    return stats;
}

static Stats *stats_push(lua_State *L) {
    Stats *stats = lua_newuserdatauv(L, sizeof *stats, 0);
    *stats = (Stats){0};
    luaL_setmetatable(L, stats_type);
    return stats;
}

/* Lua sees a few bytes of what it holds alive, and would collect too late what is no longer held. */
static void tell_collector(lua_State *L, const Stats *stats) {
    lua_gc(L, LUA_GCSTEP, (int)((stats->capacity * sizeof(Row) + stats->texts.capacity) >> 10));
}

static int l_free(lua_State *L) {
    Stats *stats = luaL_checkudata(L, 1, stats_type);
    free(stats->rows);
    free(stats->place);
    buffer_free(&stats->texts);
    *stats = (Stats){0};
    return 0;
}

/* --- Rows ------------------------------------------------------------------------------------ */

static const char *text_of(const Stats *stats, Text text) {
    return text.fixed ? text.fixed : (const char *)stats->texts.bytes + text.at;
}

static Text keep_text(Stats *stats, const char *text) {
    Text kept = {NULL, stats->texts.count};
    buffer_append(&stats->texts, text, strlen(text) + 1);
    return kept;
}

/* The row's texts are set by the caller. */
static Row *append_row(Stats *stats) {
    if (stats->count == stats->capacity) {
        stats->capacity = stats->capacity ? 2 * stats->capacity : 64;
        stats->rows = realloc(stats->rows, stats->capacity * sizeof(Row));
        ensure_memory(stats->rows);
    }
    free(stats->place);
    stats->place = NULL;
    stats->rows[stats->count] = (Row){0};
    return &stats->rows[stats->count++];
}

/* A row of another table, with its texts. */
static Row *append_copy(Stats *stats, const Stats *from, const Row *row) {
    Row *copy = append_row(stats);
    *copy = *row;
    Text *texts[] = {&copy->name, &copy->unit, &copy->doc};
    for (int i = 0; i < 3; i++)
        if (!texts[i]->fixed) *texts[i] = keep_text(stats, text_of(from, *texts[i]));
    return copy;
}

static void append_visited(void *context, const VisitedStat *stat) {
    Stats *stats = context;
    Row *row = append_row(stats);
    row->name = keep_text(stats, stat->name);
    row->unit.fixed = stat->unit ? stat->unit : "";
    row->doc.fixed = stat->doc ? stat->doc : "";
    row->kind = stat->integral ? ROW_INTEGER : ROW_RATIO;
    row->whole = stat->whole;
    if (stat->integral)
        row->integer = (int64_t)stat->value;
    else
        row->number = stat->value;
}

/* machine:stats() -> the statistics of its objects, in order of construction */
int stats_of_machine(lua_State *L) {
    const Machine *machine = machine_at(L, 1);
    Stats *stats = stats_push(L);
    sim_visit_stats(machine->sim, append_visited, stats);
    tell_collector(L, stats);
    return 1;
}

/* core.stats() -> statistics without rows */
static int l_stats(lua_State *L) {
    stats_push(L);
    return 1;
}

/* stats:add(name, value, unit, doc, whole of a ratio or nil, is it of a policy) */
static int l_add(lua_State *L) {
    Stats *stats = stats_at(L, 1);
    const char *name = luaL_checkstring(L, 2), *unit = luaL_checkstring(L, 4), *doc = luaL_checkstring(L, 5);
    Row row = {.kind = lua_isinteger(L, 3) ? ROW_INTEGER : ROW_FLOAT, .of_policy = lua_toboolean(L, 7)};
    if (!lua_isnoneornil(L, 6)) {
        row.kind = ROW_RATIO;
        row.whole = luaL_checknumber(L, 6);
    }
    if (row.kind == ROW_INTEGER)
        row.integer = lua_tointeger(L, 3);
    else
        row.number = luaL_checknumber(L, 3);
    row.name = keep_text(stats, name);
    row.unit = keep_text(stats, unit);
    row.doc = keep_text(stats, doc);
    *append_row(stats) = row;
    return 0;
}

/* stats:append(other): its rows */
static int l_append(lua_State *L) {
    Stats *stats = stats_at(L, 1);
    const Stats *other = stats_at(L, 2);
    if (other == stats) user_error("append: expected other statistics, got the same");
    for (uint32_t i = 0; i < other->count; i++)
        append_copy(stats, other, &other->rows[i]);
    tell_collector(L, stats);
    return 0;
}

static int l_length(lua_State *L) {
    lua_pushinteger(L, stats_at(L, 1)->count);
    return 1;
}

static double value_of(const Row *row) {
    return row->kind == ROW_INTEGER ? (double)row->integer : row->number;
}

static void push_value(lua_State *L, const Row *row) {
    if (row->kind == ROW_INTEGER)
        lua_pushinteger(L, row->integer);
    else
        lua_pushnumber(L, row->number);
}

/* stats:row(i), from 1 on -> name, value, unit, doc, whole of a ratio or nil, is it of a policy */
static int l_row(lua_State *L) {
    const Stats *stats = stats_at(L, 1);
    lua_Integer i = luaL_checkinteger(L, 2);
    if (i < 1 || i > stats->count) return 0;
    const Row *row = &stats->rows[i - 1];
    lua_pushstring(L, text_of(stats, row->name));
    push_value(L, row);
    lua_pushstring(L, text_of(stats, row->unit));
    lua_pushstring(L, text_of(stats, row->doc));
    if (row->kind == ROW_RATIO)
        lua_pushnumber(L, row->whole);
    else
        lua_pushnil(L);
    lua_pushboolean(L, row->of_policy);
    return 6;
}

/* --- By name, by pattern --------------------------------------------------------------------- */

/* The place at which the name stands, or would. */
static uint32_t *place_of(const Stats *stats, const char *name) {
    uint32_t at = (uint32_t)hash_bytes(0, name, strlen(name)) & (stats->places - 1);
    while (stats->place[at] && strcmp(text_of(stats, stats->rows[stats->place[at] - 1].name), name) != 0)
        at = (at + 1) & (stats->places - 1);
    return &stats->place[at];
}

/* Of several rows of a name, the last one counts. */
static void make_places(Stats *stats) {
    stats->places = 64;
    while (stats->places < 2 * stats->count)
        stats->places *= 2;
    stats->place = calloc(stats->places, sizeof *stats->place);
    ensure_memory(stats->place);
    for (uint32_t i = 0; i < stats->count; i++)
        *place_of(stats, text_of(stats, stats->rows[i].name)) = i + 1;
}

/* Or NULL. */
static const Row *find_row(Stats *stats, const char *name) {
    if (!stats->place) make_places(stats);
    uint32_t row = *place_of(stats, name);
    return row ? &stats->rows[row - 1] : NULL;
}

/* stats:value(name) -> value, or nil */
static int l_value(lua_State *L) {
    const Row *row = find_row(stats_at(L, 1), luaL_checkstring(L, 2));
    if (!row) return 0;
    push_value(L, row);
    return 1;
}

/* stats:over(pattern) -> how many rows match, how many of them are ratios, the sum of the others, and of the
 * ratios the sums of the parts and of what they are parts of */
static int l_over(lua_State *L) {
    const Stats *stats = stats_at(L, 1);
    const char *pattern = luaL_checkstring(L, 2);
    lua_Integer matches = 0, ratios = 0;
    uint64_t integers = 0;
    double numbers = 0, part = 0, whole = 0;
    bool whole_numbers = true;
    for (uint32_t i = 0; i < stats->count; i++) {
        const Row *row = &stats->rows[i];
        if (!path_matches(pattern, text_of(stats, row->name))) continue;
        matches++;
        if (row->kind == ROW_RATIO) {
            ratios++;
            part += row->number * row->whole;
            whole += row->whole;
        } else if (row->kind == ROW_INTEGER && whole_numbers) {
            integers += (uint64_t)row->integer;
        } else {
            numbers = (whole_numbers ? (double)(int64_t)integers : numbers) + value_of(row);
            whole_numbers = false;
        }
    }
    lua_pushinteger(L, matches);
    lua_pushinteger(L, ratios);
    if (whole_numbers)
        lua_pushinteger(L, (lua_Integer)integers);
    else
        lua_pushnumber(L, numbers);
    lua_pushnumber(L, part);
    lua_pushnumber(L, whole);
    return 5;
}

/* --- Since an earlier result ----------------------------------------------------------------- */

/* Without what `before` had counted. The part of a ratio is a whole number. */
static void subtract(Row *row, const Row *before) {
    if (row->kind == ROW_RATIO) {
        double part = floor(row->number * row->whole + 0.5) - floor(before->number * before->whole + 0.5);
        row->whole -= before->whole;
        row->number = row->whole != 0 ? part / row->whole : 0;
    } else if (row->kind == ROW_INTEGER && before->kind == ROW_INTEGER) {
        row->integer = (int64_t)((uint64_t)row->integer - (uint64_t)before->integer);
    } else {
        row->number = value_of(row) - value_of(before);
        row->kind = ROW_FLOAT;
    }
}

static bool is_of_run(const char *name) {
    return strncmp(name, "run.", 4) == 0 || strncmp(name, "launch[", 7) == 0 ||
           strncmp(name, "energy.", 7) == 0;
}

/* The longest time is no sum. */
static bool is_longest(const char *name) {
    return *name && strstr(name + 1, "longest_");
}

/* stats:since(earlier, same policy) -> what was counted in between, without the rows of the run, its
 * launches and its energy. Under another policy, its counters are as they are. */
static int l_since(lua_State *L) {
    const Stats *stats = stats_at(L, 1);
    Stats *earlier = stats_at(L, 2), *since = stats_push(L);
    bool same_policy = lua_toboolean(L, 3);
    for (uint32_t i = 0; i < stats->count; i++) {
        const Row *row = &stats->rows[i];
        const char *name = text_of(stats, row->name);
        if (is_of_run(name)) continue;
        const Row *before = same_policy || !row->of_policy ? find_row(earlier, name) : NULL;
        Row *copy = append_copy(since, stats, row);
        if (before && !is_longest(name)) subtract(copy, before);
    }
    tell_collector(L, since);
    return 1;
}

/* --- As text --------------------------------------------------------------------------------- */

/* A number without a fraction, of which nine digits are all: many are 0. */
static bool is_short_integer(double number) {
    return fabs(number) < 1e9 && number == (double)(int64_t)number && !(number == 0 && signbit(number));
}

/* Returns its length. */
static uint32_t row_number_text(const Row *row, NumberText text) {
    if (row->kind == ROW_INTEGER) return (uint32_t)integer_text(row->integer, text);
    if (is_short_integer(row->number)) return (uint32_t)integer_text((int64_t)row->number, text);
    if (isnan(row->number)) return (uint32_t)snprintf(text, sizeof(NumberText), "nan");
    return (uint32_t)snprintf(text, sizeof(NumberText), "%.9g", row->number);
}

/* To the left of a column so wide, or to its right. */
static void put_left(Buffer *out, const char *text, uint32_t width) {
    uint32_t length = (uint32_t)strlen(text);
    buffer_append(out, text, length);
    buffer_put_spaces(out, width > length ? width - length : 0);
}
static void put_right(Buffer *out, const char *text, uint32_t width) {
    uint32_t length = (uint32_t)strlen(text);
    buffer_put_spaces(out, width > length ? width - length : 0);
    buffer_append(out, text, length);
}

static uint32_t longer_of(uint32_t a, size_t b) {
    return a > b ? a : (uint32_t)b;
}

static int push_buffer(lua_State *L, Buffer *out) {
    lua_pushlstring(L, (const char *)out->bytes, out->count);
    buffer_free(out);
    return 1;
}

/* stats:text() -> a line for each: name, value, unit, description */
static int l_text(lua_State *L) {
    enum { WIDEST_NAME = 60 };
    const Stats *stats = stats_at(L, 1);
    uint32_t names = 0, values = 0, units = 0;
    NumberText number;
    Buffer out = {0};
    for (uint32_t i = 0; i < stats->count; i++) {
        const Row *row = &stats->rows[i];
        names = longer_of(names, strlen(text_of(stats, row->name)));
        values = longer_of(values, row_number_text(row, number));
        units = longer_of(units, strlen(text_of(stats, row->unit)));
    }
    if (names > WIDEST_NAME) names = WIDEST_NAME;
    for (uint32_t i = 0; i < stats->count; i++) {
        const Row *row = &stats->rows[i];
        row_number_text(row, number);
        put_left(&out, text_of(stats, row->name), names);
        buffer_put(&out, "  ");
        put_right(&out, number, values);
        buffer_put(&out, "  ");
        put_left(&out, text_of(stats, row->unit), units);
        buffer_put(&out, "  ");
        buffer_put(&out, text_of(stats, row->doc));
        buffer_put(&out, "\n");
    }
    return push_buffer(L, &out);
}

static void put_json_string(Buffer *out, const char *text) {
    char escaped[8];
    const char *plain = text, *at = text; /* what needs no escape from `plain` on */
    buffer_put(out, "\"");
    for (; *at; at++) {
        if (*at != '"' && *at != '\\' && !iscntrl((unsigned char)*at)) continue;
        buffer_append(out, plain, (size_t)(at - plain));
        snprintf(escaped, sizeof escaped, "\\u%04x", (unsigned char)*at);
        buffer_put(out, escaped);
        plain = at + 1;
    }
    buffer_append(out, plain, (size_t)(at - plain));
    buffer_put(out, "\"");
}

/* stats:json(indent) -> "name": value, a line for each */
static int l_json(lua_State *L) {
    const Stats *stats = stats_at(L, 1);
    const char *indent = luaL_checkstring(L, 2);
    NumberText number;
    Buffer out = {0};
    for (uint32_t i = 0; i < stats->count; i++) {
        const Row *row = &stats->rows[i];
        row_number_text(row, number);
        buffer_put(&out, i ? ",\n" : "");
        buffer_put(&out, indent);
        put_json_string(&out, text_of(stats, row->name));
        buffer_put(&out, ": ");
        buffer_put(&out, row->kind == ROW_INTEGER || isfinite(row->number) ? number : "null");
    }
    return push_buffer(L, &out);
}

void stats_open(lua_State *L) {
    static const luaL_Reg metamethods[] = {{"__gc", l_free}, {"__len", l_length}, {NULL, NULL}};
    static const luaL_Reg methods[] = {
        {"add", l_add},     {"append", l_append}, {"row", l_row},   {"value", l_value}, {"over", l_over},
        {"since", l_since}, {"text", l_text},     {"json", l_json}, {NULL, NULL},
    };
    static const luaL_Reg functions[] = {{"stats", l_stats}, {NULL, NULL}};
    define_type(L, stats_type, metamethods, methods);
    luaL_setfuncs(L, functions, 0);
}
