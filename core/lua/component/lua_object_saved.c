/* What objects remember: self.state as bytes in their rows, and back. */
#include "core/lua/component/lua_object.h"
#include "core/lua/component/lua_objects.h"
#include "core/lua/host/own_state.h"
#include "core/lua/host/plain_data.h"
#include "core/sim/checkpoint/snapshot.h"

#include <stdio.h>
#include <string.h>

/* NULL, or what is wrong, on top of the stack. */
static const char *save_state(LuaRun *run, Buffer *buffer) {
    lua_pushliteral(run->L, "state");
    lua_rawget(run->L, SELF);
    return plain_save_table(run->L, -1, "self.state", buffer);
}

/* A resumed run calls start() anew: what was remembered elsewhere would be lost. */
static const char *find_change(LuaRun *run) {
    lua_pushvalue(run->L, CHANGED);
    lua_pcall(run->L, 0, 1, 0);
    return lua_isnil(run->L, -1) ? NULL : thrown_text(run->L);
}

/* NULL, or what of self.state is not plain: a text on top of the stack of the object's Lua state. */
static const char *state_problem(LuaRun *run) {
    Buffer buffer = {0};
    const char *problem = save_state(run, &buffer);
    buffer_free(&buffer);
    return problem ? problem : find_change(run);
}

bool lua_objects_can_be_saved(const Sim *sim, char *why, size_t why_size) {
    bool good = true;
    for (uint32_t i = 0; i < sim->object_count && good; i++) {
        SimObject *object = sim->objects[i];
        LuaRun *run = lua_class_of(object) ? run_of(object) : NULL;
        if (!run || run->failed) continue;
        Caller caller = present_caller();
        const char *problem = state_problem(run);
        good = !problem;
        if (problem)
            snprintf(why, why_size, "%s (%s, %s): %s", object->path, object->class->name, run->class->source,
                     problem);
        lua_settop(run->L, run->at_rest);
        return_to(caller);
    }
    return good;
}

void lua_object_fill_rows(SimObject *object) {
    LuaObject *o = (LuaObject *)object;
    LuaRun *run = o->run;
    char message[LUA_MESSAGE_BYTES];
    Buffer buffer = {0};
    if (run->failed) return;
    Caller caller = present_caller();
    const char *problem = save_state(run, &buffer);
    if (problem) snprintf(message, sizeof message, "%s", problem);
    lua_settop(run->L, run->at_rest);
    return_to(caller);
    if (!problem) {
        o->state = array_grown(o->state, 0, buffer.count, 1);
        memcpy(o->state, buffer.bytes, buffer.count);
        o->state_bytes = (uint32_t)buffer.count;
    }
    buffer_free(&buffer);
    if (problem)
        user_error("%s (%s, %s): %s", object->path, object->class->name, run->class->source, message);
}

void lua_object_take_state(const SimObject *object) {
    const LuaObject *o = (const LuaObject *)object;
    lua_State *L = o->run->L;
    Reader reader = {.bytes = o->state, .count = o->state_bytes};
    lua_pushliteral(L, "state");
    bool good = plain_load(L, &reader) && lua_istable(L, -1) && reader_at_end(&reader);
    if (good) lua_rawset(L, SELF);
    lua_settop(L, o->run->at_rest);
    sound(good, "%s: its self.state", object->path);
}
