/* Typed arrays: the memory of host programs, at the speed of C. Elements are numbered from 0. */
#ifndef WW_LUA_ARRAY_H
#define WW_LUA_ARRAY_H

#include <lauxlib.h>
#include <lua.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
    ELEMENT_I8,
    ELEMENT_U8,
    ELEMENT_I16,
    ELEMENT_U16,
    ELEMENT_I32,
    ELEMENT_U32,
    ELEMENT_I64,
    ELEMENT_U64,
    ELEMENT_F32,
    ELEMENT_F64,
    ELEMENT_F16,
    ELEMENT_BF16,
    ELEMENT_TYPES,
} ElementType;

typedef struct {
    uint32_t type; /* ElementType */
    uint32_t element_bytes;
    uint64_t count;
    uint8_t data[] __attribute__((aligned(16)));
} Array;

static inline size_t array_bytes(const Array *array) {
    return array->count * array->element_bytes;
}

/* Pushes a new array of zeros; a user error when this computer has not so much memory. */
Array *array_new(lua_State *L, ElementType type, uint64_t count);
/* The array at `index`; NULL when it is something else. */
Array *array_test(lua_State *L, int index);
/* The same, but a user error that says "`what`: expected an array". */
Array *array_at(lua_State *L, int index, const char *what);
/* The type named at `index`; a user error that lists the types for other names. */
ElementType array_type_at(lua_State *L, int index);
/* A count of elements at `index`: a whole number from 0 to 2^40. */
uint64_t array_count_at(lua_State *L, int index, const char *what);
/* Element `index`, which must exist, of an array of integers; u64 as the 64 bits. */
int64_t array_integer(const Array *array, uint64_t index);
/* Of any type; u64 as the number that it is. */
double array_number(const Array *array, uint64_t index);
void array_push_element(lua_State *L, const Array *array, uint64_t index);
/* Sets an element to the number at `value_index`, a user error when the type has no such element. */
void array_set_element(lua_State *L, Array *array, uint64_t index, int value_index);
uint32_t array_element_bytes(ElementType type);
bool array_is_float(const Array *array);
const char *array_type_name(const Array *array);

/* Methods that copy whole arrays, in array_data.c. */
extern const luaL_Reg array_data_methods[];

#endif
