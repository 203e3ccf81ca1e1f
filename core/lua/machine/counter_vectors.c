/* All counters of a machine at once, as a string of doubles: their differences, weighted sums, and the statistics
 * that they make. For --sample, which estimates them. */
#include "core/lua/bindings.h"
#include "core/lua/machine/machine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef void CounterVisitor(void *context, uint64_t *counter);

/* In order of construction, and of rows. */
static void visit_counters(const Sim *sim, CounterVisitor *visit, void *context) {
    for (uint32_t i = 0; i < sim->object_count; i++) {
        SimObject *object = sim->objects[i];
        for (const Field *f = object->class->fields; f->kind != FIELD_END; f++)
            if (f->kind == FIELD_STAT) visit(context, (uint64_t *)(void *)((char *)object + f->offset));
    }
}

static void append_counter(void *context, uint64_t *counter) {
    double value = (double)*counter;
    buffer_append(context, &value, sizeof value);
}

static int push_vector(lua_State *L, Buffer *vector) {
    lua_pushlstring(L, (const char *)vector->bytes, vector->count);
    buffer_free(vector);
    return 1;
}

/* core.counter_vector(machine) -> the counters, brought up to date, their laws checked */
static int l_counter_vector(lua_State *L) {
    const Machine *machine = machine_at(L, 1);
    Buffer vector = {0};
    machine_settle(machine, false);
    visit_counters(machine->sim, append_counter, &vector);
    return push_vector(L, &vector);
}

static void add_weighted(double *sum, const char *vector, size_t count, double weight) {
    for (size_t i = 0; i < count; i++) {
        double value;
        memcpy(&value, vector + i * sizeof value, sizeof value);
        sum[i] += weight * value;
    }
}

/* core.weighted_sum({ vector ... }, { weight ... }) -> vector; all are of one length */
static int l_weighted_sum(lua_State *L) {
    size_t bytes = 0;
    lua_Integer vectors = luaL_len(L, 1);
    double *sum = NULL;
    raise_user_errors_in(L);
    for (lua_Integer i = 1; i <= vectors; i++) {
        size_t length;
        lua_rawgeti(L, 1, i);
        lua_rawgeti(L, 2, i);
        const char *vector = lua_tolstring(L, -2, &length);
        if (!sum) sum = calloc(length + 1, 1), bytes = length;
        ensure_memory(sum);
        if (!vector || length != bytes) {
            free(sum);
            user_error("weighted_sum: expected vectors of %zu bytes", bytes);
        }
        add_weighted(sum, vector, bytes / sizeof *sum, lua_tonumber(L, -1));
        lua_pop(L, 2);
    }
    lua_pushlstring(L, sum ? (const char *)sum : "", bytes);
    free(sum);
    return 1;
}

static void count_counter(void *context, uint64_t *counter) {
    (void)counter;
    ++*(size_t *)context;
}

typedef struct {
    const char *next;
    uint64_t *kept;
} Exchanged;

static void exchange(void *context, uint64_t *counter) {
    Exchanged *e = context;
    double value;
    memcpy(&value, e->next, sizeof value);
    e->next += sizeof value;
    *e->kept++ = *counter;
    *counter = value > 0 ? (uint64_t)llround(value) : 0;
}

static void put_back(void *context, uint64_t *counter) {
    uint64_t **kept = context;
    *counter = *(*kept)++;
}

/* core.stats_of_counters(machine, vector, cycle) -> the statistics that its objects would have with these counters,
 * at this cycle */
static int l_stats_of_counters(lua_State *L) {
    const Machine *machine = machine_at(L, 1);
    size_t length, count = 0;
    const char *vector = luaL_checklstring(L, 2, &length);
    uint64_t cycle = (uint64_t)luaL_checkinteger(L, 3), now = machine->sim->now;
    visit_counters(machine->sim, count_counter, &count);
    if (length != count * sizeof(double))
        user_error("stats_of_counters: expected %zu counters, got %zu bytes", count, length);
    uint64_t *kept = malloc(length + sizeof *kept), *back = kept;
    ensure_memory(kept);
    visit_counters(machine->sim, exchange, &(Exchanged){vector, kept});
    machine->sim->now = cycle * machine->sim->clocks[0].period;
    lua_settop(L, 1);
    stats_of_machine(L);
    machine->sim->now = now;
    visit_counters(machine->sim, put_back, &back);
    free(kept);
    return 1;
}

void counter_vectors_open(lua_State *L) {
    static const luaL_Reg functions[] = {{"counter_vector", l_counter_vector},
                                         {"weighted_sum", l_weighted_sum},
                                         {"stats_of_counters", l_stats_of_counters},
                                         {NULL, NULL}};
    luaL_setfuncs(L, functions, 0);
}
