/* The program with one module more, "conformance": what instructions should compute. See tests/README.md. */
#include "core/gpu/device/gpu.h"
#include "core/lua/bindings.h"
#include "core/lua/host/interpreter.h"
#include "core/ptx/instructions/isa.h"
#include "tests/conformance/cases.h"
#include "tests/conformance/nvidia_gpu.h"
#include "tests/conformance/reference.h"

#include <stdlib.h>
#include <string.h>

static void add_row(void *context, const char *row) {
    lua_State *L = context;
    lua_pushstring(L, row);
    lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
}

/* rows(): the decoder's table of instructions, as it prints it. */
static int list_rows(lua_State *L) {
    lua_newtable(L);
    isa_print_rows(add_row, L);
    return 1;
}

/* find(form): how it stands, group or reason, and the list of its signatures. */
static int find(lua_State *L) {
    static const char *const standings[] = {"compared", "not in the ISA", "elsewhere", "unknown"};
    Job job;
    reference_find(luaL_checkstring(L, 1), &job);
    lua_pushstring(L, standings[job.standing]);
    lua_pushstring(L, job.standing == HAS_REFERENCE ? job.group : job.why);
    lua_newtable(L);
    for (int i = 0; i < job.signature_count; i++)
        add_row(L, job.signatures[i]);
    return 3;
}

static Job *job_of(lua_State *L, const char *signature_text, Signature *signature) {
    static Job job;
    static char kept[SIGNATURE_SIZE], form[96];
    snprintf(kept, sizeof kept, "%s", signature_text);
    signature_read(kept, signature);
    if (strcmp(form, luaL_checkstring(L, 1)) != 0) {
        snprintf(form, sizeof form, "%s", luaL_checkstring(L, 1));
        reference_find(form, &job);
    }
    job.result_bits = signature->results[0].bits;
    job.source_count = signature->source_count;
    job.template = signature->template;
    return &job;
}

static void push_kinds(lua_State *L, const Kind *kinds, int count) {
    lua_newtable(L);
    for (int i = 0; i < count; i++) {
        lua_newtable(L);
        lua_pushstring(L, kinds[i].name);
        lua_setfield(L, -2, "name");
        lua_pushinteger(L, kinds[i].bits);
        lua_setfield(L, -2, "bits");
        lua_rawseti(L, -2, i + 1);
    }
}

/* signature(text): results, sources, template or nil. */
static int read_signature(lua_State *L) {
    Signature signature;
    signature_read(luaL_checkstring(L, 1), &signature);
    push_kinds(L, signature.results, signature.result_count);
    push_kinds(L, signature.sources, signature.source_count);
    lua_pushstring(L, signature.template);
    return 3;
}

/* cases(signature, operand, count, seed): 8 bytes for each case; count 0 or less: all edges and -count random ones. */
static int cases(lua_State *L) {
    Signature signature;
    signature_read(luaL_checkstring(L, 1), &signature);
    lua_Integer wanted = luaL_checkinteger(L, 3);
    size_t count = wanted > 0 ? (size_t)wanted : case_count(&signature, (size_t)-wanted);
    luaL_Buffer buffer;
    luaL_buffinit(L, &buffer);
    for (size_t index = 0; index < count; index++) {
        uint64_t value = case_value(&signature, (int)luaL_checkinteger(L, 2), index, count,
                                    (uint64_t)luaL_checkinteger(L, 4));
        luaL_addlstring(&buffer, (const char *)&value, sizeof value);
    }
    luaL_pushresult(&buffer);
    lua_pushinteger(L, (lua_Integer)count);
    return 2;
}

static uint64_t value_at(const char *bytes, size_t index) {
    uint64_t value;
    memcpy(&value, bytes + index * sizeof value, sizeof value);
    return value;
}

static void describe(char *text, size_t size, const uint64_t *in, int sources, const Result *want,
                     uint64_t got) {
    size_t length = 0;
    for (int k = 0; k < sources && length < size; k++)
        length += (size_t)snprintf(text + length, size - length, "%s0x%llx", k ? ", " : "",
                                   (unsigned long long)in[k]);
    if (length >= size) return;
    if (want->kind == RESULT_WITHIN) {
        snprintf(text + length, size - length, ": expected from %La to %La, got 0x%llx", want->least,
                 want->most, (unsigned long long)got);
    } else {
        snprintf(text + length, size - length, ": expected 0x%llx, got 0x%llx",
                 (unsigned long long)want->value, (unsigned long long)got);
    }
}

enum { FIRST_SOURCE = 3 };

/* compare(form, signature, {sources}, {results}): how many cases differ, and the first that does. */
static int compare(lua_State *L) {
    Signature signature;
    Job *job = job_of(L, luaL_checkstring(L, 2), &signature);
    const char *sources[MAX_KINDS], *results[MAX_KINDS];
    size_t bytes = 0;
    for (int k = 0; k < signature.source_count; k++) {
        lua_rawgeti(L, 3, k + 1);
        sources[k] = luaL_checklstring(L, -1, &bytes);
    }
    for (int k = 0; k < signature.result_count; k++) {
        lua_rawgeti(L, 4, k + 1);
        results[k] = luaL_checklstring(L, -1, &bytes);
    }
    lua_Integer differ = 0;
    char text[256] = "";
    for (size_t index = 0; index < bytes / 8; index++) {
        uint64_t in[MAX_KINDS] = {0};
        Result want[MAX_KINDS];
        for (int k = 0; k < signature.source_count; k++)
            in[k] = value_at(sources[k], index);
        job->apply(job, in, want);
        bool fits = true;
        for (int k = 0; k < signature.result_count; k++) {
            uint64_t got = value_at(results[k], index);
            if (result_fits(&want[k], got)) continue;
            if (!*text) describe(text, sizeof text, in, signature.source_count, &want[k], got);
            fits = false;
        }
        differ += !fits;
    }
    lua_pushinteger(L, differ);
    lua_pushstring(L, text);
    return 2;
}

/* apart({results}, {others}): in how many cases they have other bits, and the first, from 0 on. */
static int apart(lua_State *L) {
    size_t count = 0, first = 0, cells = 0;
    lua_Integer results = luaL_len(L, 1);
    const char *mine[MAX_KINDS] = {NULL}, *others[MAX_KINDS] = {NULL};
    luaL_argcheck(L, results <= MAX_KINDS, 1, "too many");
    for (int k = 0; k < results; k++) {
        lua_rawgeti(L, 1, k + 1);
        mine[k] = luaL_checklstring(L, -1, &cells);
        lua_rawgeti(L, 2, k + 1);
        others[k] = luaL_checkstring(L, -1);
    }
    for (size_t index = 0; index < cells / 8; index++) {
        bool is_apart = false;
        for (int k = 0; k < results; k++)
            is_apart |= value_at(mine[k], index) != value_at(others[k], index);
        if (is_apart && count++ == 0) first = index;
    }
    lua_pushinteger(L, (lua_Integer)count);
    lua_pushinteger(L, (lua_Integer)first);
    return 2;
}

static int open_module(lua_State *L) {
    static const luaL_Reg functions[] = {
        {"rows", list_rows}, {"find", find},       {"signature", read_signature},
        {"cases", cases},    {"compare", compare}, {"apart", apart},
        {NULL, NULL}};
    luaL_newlib(L, functions);
    return 1;
}

int main(int argc, char **argv) {
    class_register_all();
    char *home = interpreter_find_home();
    lua_State *L = interpreter_new(home);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
    lua_pushcfunction(L, open_module);
    lua_setfield(L, -2, "conformance");
    lua_pushcfunction(L, nvidia_gpu_open_module);
    lua_setfield(L, -2, "conformance.nvidia_gpu");
    lua_pop(L, 1);
    int status = interpreter_run(L, argc, argv);
    lua_close(L);
    free(home);
    return status;
}
