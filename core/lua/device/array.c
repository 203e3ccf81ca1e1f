#include "core/lua/device/array.h"

#include "core/lua/bindings.h"
#include "core/ptx/execution/exec.h"
#include "core/sim/base/host_memory.h"
#include "core/sim/base/random.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char array_type[] = "warpwright.array";

static const struct {
    const char *name;
    uint32_t bytes;
    int64_t min, max; /* of integer types; u64 takes any Lua integer as its 64 bits */
} element_types[ELEMENT_TYPES] = {
    [ELEMENT_I8] = {"i8", 1, INT8_MIN, INT8_MAX},
    [ELEMENT_U8] = {"u8", 1, 0, UINT8_MAX},
    [ELEMENT_I16] = {"i16", 2, INT16_MIN, INT16_MAX},
    [ELEMENT_U16] = {"u16", 2, 0, UINT16_MAX},
    [ELEMENT_I32] = {"i32", 4, INT32_MIN, INT32_MAX},
    [ELEMENT_U32] = {"u32", 4, 0, UINT32_MAX},
    [ELEMENT_I64] = {"i64", 8, INT64_MIN, INT64_MAX},
    [ELEMENT_U64] = {"u64", 8, INT64_MIN, INT64_MAX},
    [ELEMENT_F32] = {"f32", 4, 0, 0},
    [ELEMENT_F64] = {"f64", 8, 0, 0},
    [ELEMENT_F16] = {"f16", 2, 0, 0},
    [ELEMENT_BF16] = {"bf16", 2, 0, 0},
};

bool array_is_float(const Array *array) {
    return array->type >= ELEMENT_F32;
}

Array *array_test(lua_State *L, int index) {
    return type_test(L, index, array_type);
}

Array *array_at(lua_State *L, int index, const char *what) {
    Array *array = array_test(L, index);
    if (!array) user_error_got(L, index, "%s: expected an array", what);
    return array;
}

ElementType array_type_at(lua_State *L, int index) {
    const char *name = lua_type(L, index) == LUA_TSTRING ? lua_tostring(L, index) : "";
    for (int type = 0; type < ELEMENT_TYPES; type++)
        if (strcmp(element_types[type].name, name) == 0) return (ElementType)type;
    user_error_got(L, index, "type: expected i8, u8, i16, u16, i32, u32, i64, u64, f32, f64, f16 or bf16");
}

uint64_t array_count_at(lua_State *L, int index, const char *what) {
    int whole;
    lua_Integer count = lua_tointegerx(L, index, &whole);
    if (!whole || count < 0 || count > 1ll << 40)
        user_error_got(L, index, "%s: expected a whole number of elements", what);
    return (uint64_t)count;
}

Array *array_new(lua_State *L, ElementType type, uint64_t count) {
    size_t bytes = count * element_types[type].bytes;
    if (bytes > memory_of_computer())
        user_error("array: expected at most %lu bytes, this computer's memory, got %lu elements of %u bytes",
                   memory_of_computer(), count, element_types[type].bytes);
    Array *array = lua_newuserdatauv(L, sizeof *array + bytes, 0);
    array->type = type;
    array->element_bytes = element_types[type].bytes;
    array->count = count;
    memset(array->data, 0, bytes);
    luaL_setmetatable(L, array_type);
    return array;
}

/* Every element type as a C type: X(ELEMENT_I8, int8_t) ... */
#define INTEGER_TYPES(X)                                                                                     \
    X(ELEMENT_I8, int8_t)                                                                                    \
    X(ELEMENT_U8, uint8_t)                                                                                   \
    X(ELEMENT_I16, int16_t)                                                                                  \
    X(ELEMENT_U16, uint16_t)                                                                                 \
    X(ELEMENT_I32, int32_t)                                                                                  \
    X(ELEMENT_U32, uint32_t)                                                                                 \
    X(ELEMENT_I64, int64_t)                                                                                  \
    X(ELEMENT_U64, uint64_t)

static inline int64_t integer_element(const Array *array, uint64_t i) {
#define LOAD(element, type)                                                                                  \
    case element: return (int64_t)((const type *)array->data)[i];
    switch ((ElementType)array->type) {
        INTEGER_TYPES(LOAD)
    default: panic("array of type %u read as integers", array->type);
    }
#undef LOAD
}

static inline void set_integer_element(Array *array, uint64_t i, int64_t value) {
#define STORE(element, type)                                                                                 \
    case element: ((type *)array->data)[i] = (type)value; break;
    switch ((ElementType)array->type) {
        INTEGER_TYPES(STORE)
    default: panic("array of type %u written as integers", array->type);
    }
#undef STORE
}

static inline double float_element(const Array *array, uint64_t i) {
    switch ((ElementType)array->type) {
    case ELEMENT_F32: return (double)((const float *)array->data)[i];
    case ELEMENT_F64: return ((const double *)array->data)[i];
    case ELEMENT_F16: return double_of_f16(((const uint16_t *)array->data)[i]);
    case ELEMENT_BF16: return double_of_bf16(((const uint16_t *)array->data)[i]);
    default: panic("array of type %u read as floats", array->type);
    }
}

static inline void set_float_element(Array *array, uint64_t i, double value) {
    switch ((ElementType)array->type) {
    case ELEMENT_F32: ((float *)array->data)[i] = (float)value; break;
    case ELEMENT_F64: ((double *)array->data)[i] = value; break;
    case ELEMENT_F16: ((uint16_t *)array->data)[i] = f16_of_double(value); break;
    case ELEMENT_BF16: ((uint16_t *)array->data)[i] = bf16_of_double(value); break;
    default: panic("array of type %u written as floats", array->type);
    }
}

double array_number(const Array *array, uint64_t i) {
    if (array_is_float(array)) return float_element(array, i);
    return array->type == ELEMENT_U64 ? (double)((const uint64_t *)array->data)[i]
                                      : (double)integer_element(array, i);
}

int64_t array_integer(const Array *array, uint64_t index) {
    return integer_element(array, index);
}

void array_push_element(lua_State *L, const Array *array, uint64_t index) {
    if (array_is_float(array))
        lua_pushnumber(L, float_element(array, index));
    else
        lua_pushinteger(L, integer_element(array, index));
}

/* The number at `index` of the Lua stack as an element of `array`. */
static int64_t integer_at(lua_State *L, int index, const Array *array) {
    int whole;
    lua_Integer value = lua_tointegerx(L, index, &whole);
    if (__builtin_expect(!whole, 0)) {
        raise_user_errors_in(L);
        user_error_got(L, index, "array: expected a whole number for an element of type %s",
                       element_types[array->type].name);
    }
    if (__builtin_expect(value < element_types[array->type].min || value > element_types[array->type].max,
                         0)) {
        raise_user_errors_in(L);
        user_error("array: expected %lld to %lld for an element of type %s, got %lld",
                   (long long)element_types[array->type].min, (long long)element_types[array->type].max,
                   element_types[array->type].name, value);
    }
    return value;
}

static double float_at(lua_State *L, int index) {
    int is_number;
    double value = lua_tonumberx(L, index, &is_number);
    if (__builtin_expect(!is_number, 0)) {
        raise_user_errors_in(L);
        user_error_got(L, index, "array: expected a number");
    }
    return value;
}

static uint64_t element_index_at(lua_State *L, int index, const Array *array) {
    int whole;
    lua_Integer i = lua_tointegerx(L, index, &whole);
    if (__builtin_expect(!whole || (uint64_t)i >= array->count, 0)) {
        raise_user_errors_in(L);
        if (array->count == 0) user_error_got(L, index, "array: expected no index (it has no elements)");
        user_error_got(L, index, "array: expected an index from 0 to %lu", array->count - 1);
    }
    return (uint64_t)i;
}

/* An offset and count that lie in the array, from two places of the Lua stack. */
static uint64_t range_at(lua_State *L, int first_index, int count_index, const Array *array,
                         uint64_t *count) {
    uint64_t first = array_count_at(L, first_index, "first element");
    *count = array_count_at(L, count_index, "count");
    if (first > array->count || *count > array->count - first)
        user_error("array: expected a range within its %lu elements, got %lu elements from %lu on",
                   array->count, *count, first);
    return first;
}

uint32_t array_element_bytes(ElementType type) {
    return element_types[type].bytes;
}

const char *array_type_name(const Array *array) {
    return element_types[array->type].name;
}

/* Scripts cannot take the metamethods of a type off (see define_type()), so the receiver is always an
 * array. */
static int l_index(lua_State *L) {
    const Array *array = lua_touserdata(L, 1);
    if (lua_type(L, 2) == LUA_TSTRING) {
        lua_pushvalue(L, 2);
        if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL) return 1;
        raise_user_errors_in(L);
        user_error(
            "array: no method matches '%s'; available: fill, set, random, scale, slice, copy, put, gather, "
            "sum, dot, "
            "fma_dot, type, bytes, string, table, write",
            lua_tostring(L, 2));
    }
    array_push_element(L, array, element_index_at(L, 2, array));
    return 1;
}

void array_set_element(lua_State *L, Array *array, uint64_t i, int value_index) {
    if (array_is_float(array))
        set_float_element(array, i, float_at(L, value_index));
    else
        set_integer_element(array, i, integer_at(L, value_index, array));
}

static int l_newindex(lua_State *L) {
    Array *array = lua_touserdata(L, 1);
    array_set_element(L, array, element_index_at(L, 2, array), 3);
    return 0;
}

static int l_length(lua_State *L) {
    lua_pushinteger(L, (lua_Integer)((Array *)lua_touserdata(L, 1))->count);
    return 1;
}

static int l_tostring(lua_State *L) {
    const Array *array = lua_touserdata(L, 1);
    lua_pushfstring(L, "array of %I %s", (LUAI_UACINT)array->count, element_types[array->type].name);
    return 1;
}

static Array *receiver(lua_State *L) {
    raise_user_errors_in(L);
    return array_at(L, 1, "method of an array, called as a:method()");
}

/* ww.array(type, count) */
static int l_array(lua_State *L) {
    raise_user_errors_in(L);
    ElementType type = array_type_at(L, 1);
    array_new(L, type, array_count_at(L, 2, "ww.array"));
    return 1;
}

/* a:set(index, value) -> a */
static int l_set(lua_State *L) {
    Array *array = receiver(L);
    array_set_element(L, array, element_index_at(L, 2, array), 3);
    lua_settop(L, 1);
    return 1;
}

/* a:fill(value) -> a */
static int l_fill(lua_State *L) {
    Array *array = receiver(L);
    if (array->count == 0) {
        lua_settop(L, 1);
        return 1;
    }
    array_set_element(L, array, 0, 2);
    for (uint64_t i = 1; i < array->count; i++)
        memcpy(array->data + i * array->element_bytes, array->data, array->element_bytes);
    lua_settop(L, 1);
    return 1;
}

/* The largest f16 or bf16 below `limit`, which one of them holds after rounding. */
static uint16_t half_below(double limit, bool brain) {
    uint16_t bits = brain ? bf16_of_double(limit) : f16_of_double(limit);
    while ((brain ? double_of_bf16(bits) : double_of_f16(bits)) >= limit)
        bits = (uint16_t)(bits == 0 ? 0x8001 : bits & 0x8000 ? bits + 1 : bits - 1);
    return bits;
}

/* Uniform in [lo, hi); rounding to single precision must not reach hi. */
static void random_floats(Array *array, uint64_t seed, double lo, double hi) {
    if (array->type == ELEMENT_F32) {
        float *element = (float *)array->data, highest = nextafterf((float)hi, -INFINITY);
        for (uint64_t i = 0; i < array->count; i++) {
            float value = (float)(lo + unit_of(random_at(seed, i)) * (hi - lo));
            element[i] = (double)value >= hi ? highest : value;
        }
    } else if (array->type != ELEMENT_F64) {
        bool brain = array->type == ELEMENT_BF16;
        uint16_t *element = (uint16_t *)array->data, highest = half_below(hi, brain);
        for (uint64_t i = 0; i < array->count; i++) {
            set_float_element(array, i, lo + unit_of(random_at(seed, i)) * (hi - lo));
            if (float_element(array, i) >= hi) element[i] = highest;
        }
    } else {
        double *element = (double *)array->data, highest = nextafter(hi, -INFINITY);
        for (uint64_t i = 0; i < array->count; i++) {
            double value = lo + unit_of(random_at(seed, i)) * (hi - lo);
            element[i] = value < hi ? value : highest;
        }
    }
}

static bool is_finite_in(const Array *array, double value) {
    switch ((ElementType)array->type) {
    case ELEMENT_F32: return isfinite((float)value);
    case ELEMENT_F16: return isfinite(double_of_f16(f16_of_double(value)));
    case ELEMENT_BF16: return isfinite(double_of_bf16(bf16_of_double(value)));
    default: return isfinite(value);
    }
}

/* a:random(seed, lo, hi) -> a; integers from lo to hi, both included, floats in [lo, hi). */
static int l_random(lua_State *L) {
    Array *array = receiver(L);
    Random random = {(uint64_t)whole_argument(L, 2, "random: seed")};
    if (array_is_float(array)) {
        double lo = float_at(L, 3), hi = float_at(L, 4);
        if (!(lo < hi)) user_error("random: expected lo < hi, got %g and %g", lo, hi);
        if (!isfinite(hi - lo) || !is_finite_in(array, lo) || !is_finite_in(array, hi))
            user_error("random: expected lo, hi and their difference finite in %s, got %g and %g",
                       array_type_name(array), lo, hi);
        random_floats(array, random.state, lo, hi);
    } else {
        int64_t lo = integer_at(L, 3, array), hi = integer_at(L, 4, array);
        uint64_t span = (uint64_t)hi - (uint64_t)lo + 1; /* 0: all 64 bits */
        if (array->type == ELEMENT_U64 ? (uint64_t)lo > (uint64_t)hi : lo > hi)
            user_error("random: expected lo <= hi, got %" PRId64 " and %" PRId64, lo, hi);
        for (uint64_t i = 0; i < array->count; i++) {
            uint64_t offset = span ? random_below(&random, span) : random_next(&random);
            set_integer_element(array, i, (int64_t)((uint64_t)lo + offset));
        }
    }
    lua_settop(L, 1);
    return 1;
}

static int push_part(lua_State *L, const Array *array, uint64_t first, uint64_t count) {
    Array *part = array_new(L, array->type, count);
    memcpy(part->data, array->data + first * array->element_bytes, array_bytes(part));
    return 1;
}

/* a:scale(factor), a:scale(factor, first, count) -> a */
static int l_scale(lua_State *L) {
    Array *array = receiver(L);
    uint64_t first = 0, count = array->count;
    double factor = float_at(L, 2);
    if (!array_is_float(array))
        user_error("scale: expected an array of f32, f64, f16 or bf16, got %s", array_type_name(array));
    if (!lua_isnoneornil(L, 3)) first = range_at(L, 3, 4, array, &count);
    for (uint64_t i = first; i < first + count; i++)
        set_float_element(array, i, factor * float_element(array, i));
    lua_settop(L, 1);
    return 1;
}

/* a:slice(first, count) -> a new array */
static int l_slice(lua_State *L) {
    const Array *array = receiver(L);
    uint64_t count, first = range_at(L, 2, 3, array, &count);
    return push_part(L, array, first, count);
}

/* a:copy() -> a new array */
static int l_copy(lua_State *L) {
    const Array *array = receiver(L);
    return push_part(L, array, 0, array->count);
}

/* a:sum(): integers modulo 2^64, floats in double precision in ascending order. */
static int l_sum(lua_State *L) {
    const Array *array = receiver(L);
    if (array_is_float(array)) {
        double sum = 0;
        for (uint64_t i = 0; i < array->count; i++)
            sum += float_element(array, i);
        lua_pushnumber(L, sum);
    } else {
        uint64_t sum = 0;
        for (uint64_t i = 0; i < array->count; i++)
            sum += (uint64_t)integer_element(array, i);
        lua_pushinteger(L, (lua_Integer)sum);
    }
    return 1;
}

/* Elements offset, offset + stride, ... of an array. */
typedef struct {
    const Array *array;
    uint64_t offset, stride;
} Strided;

static void check_strided(const Strided *s, uint64_t count, const char *method) {
    uint64_t last = 0;
    if (count == 0) return;
    if (__builtin_mul_overflow(count - 1, s->stride, &last) || __builtin_add_overflow(last, s->offset, &last))
        last = UINT64_MAX;
    if (last >= s->array->count)
        user_error("%s: expected elements 0 to %lu, got %lu", method, s->array->count - 1, last);
}

/* In double precision, in ascending order. */
static double dot(const Strided *a, const Strided *b, uint64_t count) {
    double sum = 0;
    if (a->array->type == ELEMENT_F32 && b->array->type == ELEMENT_F32) {
        const float *x = (const float *)a->array->data + a->offset,
                    *y = (const float *)b->array->data + b->offset;
        for (uint64_t i = 0; i < count; i++)
            sum += (double)x[i * a->stride] * (double)y[i * b->stride];
        return sum;
    }
    for (uint64_t i = 0; i < count; i++)
        sum += array_number(a->array, a->offset + i * a->stride) *
               array_number(b->array, b->offset + i * b->stride);
    return sum;
}

/* The elements that the arguments of `method` name: (a, b), or (a, b, offset_a, offset_b, count, stride_a, stride_b). */
static uint64_t strided_pair(lua_State *L, const char *method, Strided *a, Strided *b) {
    *a = (Strided){receiver(L), 0, 1};
    *b = (Strided){array_at(L, 2, method), 0, 1};
    uint64_t count = a->array->count;
    if (lua_isnoneornil(L, 3)) {
        if (b->array->count != count)
            user_error("%s: expected an array of %lu elements, got %lu", method, count, b->array->count);
    } else {
        a->offset = array_count_at(L, 3, "offset of the first array");
        b->offset = array_count_at(L, 4, "offset of the second array");
        count = array_count_at(L, 5, "count");
        if (!lua_isnoneornil(L, 6)) a->stride = array_count_at(L, 6, "stride of the first array");
        if (!lua_isnoneornil(L, 7)) b->stride = array_count_at(L, 7, "stride of the second array");
    }
    check_strided(a, count, method);
    check_strided(b, count, method);
    return count;
}

/* a:dot(b), a:dot(b, offset_a, offset_b, count, stride_a, stride_b) */
static int l_dot(lua_State *L) {
    Strided a, b;
    uint64_t count = strided_pair(L, "dot", &a, &b);
    lua_pushnumber(L, dot(&a, &b, count));
    return 1;
}

/* The same of arrays of f32, by fused multiply-adds in single precision, in ascending order from 0. */
static int l_fma_dot(lua_State *L) {
    Strided a, b;
    uint64_t count = strided_pair(L, "fma_dot", &a, &b);
    if (a.array->type != ELEMENT_F32 || b.array->type != ELEMENT_F32)
        user_error("fma_dot: expected two arrays of f32, got %s and %s", array_type_name(a.array),
                   array_type_name(b.array));
    const float *x = (const float *)a.array->data + a.offset, *y = (const float *)b.array->data + b.offset;
    float sum = 0;
    for (uint64_t i = 0; i < count; i++)
        sum = fmaf(x[i * a.stride], y[i * b.stride], sum);
    lua_pushnumber(L, (double)sum);
    return 1;
}

/* a:bytes(): its size. */
static int l_bytes(lua_State *L) {
    lua_pushinteger(L, (lua_Integer)array_bytes(receiver(L)));
    return 1;
}

/* a:type(): "i32" and the like. */
static int l_type(lua_State *L) {
    lua_pushstring(L, element_types[receiver(L)->type].name);
    return 1;
}

/* Which has room for all digits of 64-bit integers. */
static long double exact_element(const Array *array, uint64_t i) {
    if (array_is_float(array)) return array_number(array, i);
    int64_t element = integer_element(array, i);
    return array->type == ELEMENT_U64 ? (long double)(uint64_t)element : (long double)element;
}

/* Integers of 64 bits are equal where Lua's are, with a sign or without. */
static bool elements_agree(const Array *got, const Array *want, uint64_t i, double abs, double rel) {
    if (!array_is_float(got) && !array_is_float(want) && integer_element(got, i) == integer_element(want, i))
        return true;
    long double g = exact_element(got, i), w = exact_element(want, i);
    if (g == w || (isnan(g) && isnan(w))) return true;
    return isfinite(g) && isfinite(w) && fabsl(g - w) <= abs + rel * fabsl(w); /* inf <= inf of any g, else */
}

/* core.compare(got, want, abs, rel) -> how many of the elements differ by more than abs + rel * |want|, and
 * the index of the first one. Arrays of the same length. */
static int l_compare(lua_State *L) {
    raise_user_errors_in(L);
    const Array *got = array_at(L, 1, "check"), *want = array_at(L, 2, "check");
    double abs = float_at(L, 3), rel = float_at(L, 4);
    uint64_t differing = 0, first = 0;
    if (got->count != want->count)
        user_error("check: expected an array of %lu elements, got %lu", want->count, got->count);
    for (uint64_t i = 0; i < got->count; i++) {
        if (elements_agree(got, want, i, abs, rel)) continue;
        if (differing++ == 0) first = i;
    }
    lua_pushinteger(L, (lua_Integer)differing);
    lua_pushinteger(L, (lua_Integer)first);
    return 2;
}

/* core.is_array(value) */
static int l_is_array(lua_State *L) {
    lua_pushboolean(L, array_test(L, 1) != NULL);
    return 1;
}

void array_open(lua_State *L) {
    static const luaL_Reg metamethods[] = {
        {"__newindex", l_newindex}, {"__len", l_length}, {"__tostring", l_tostring}, {NULL, NULL}};
    static const luaL_Reg methods[] = {{"set", l_set},     {"fill", l_fill},   {"random", l_random},
                                       {"scale", l_scale}, {"slice", l_slice}, {"copy", l_copy},
                                       {"sum", l_sum},     {"dot", l_dot},     {"fma_dot", l_fma_dot},
                                       {"bytes", l_bytes}, {"type", l_type},   {NULL, NULL}};
    static const luaL_Reg functions[] = {
        {"array", l_array}, {"compare", l_compare}, {"is_array", l_is_array}, {NULL, NULL}};
    define_type(L, array_type, metamethods, NULL);
    luaL_getmetatable(L, array_type);
    luaL_newlibtable(L, methods);
    lua_pushvalue(L, -2);
    luaL_setfuncs(L, methods, 1);
    lua_pushvalue(L, -2);
    luaL_setfuncs(L, array_data_methods, 1);
    lua_pushcclosure(L, l_index, 1);
    lua_setfield(L, -2, "__index");
    lua_pop(L, 1);
    luaL_setfuncs(L, functions, 0);
}
