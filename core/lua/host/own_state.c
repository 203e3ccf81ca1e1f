#include "core/lua/host/own_state.h"

#include "core/lua/host/signals.h"

#include <string.h>

Caller present_caller(void) {
    return (Caller){user_error_receiver(), entered_state};
}

void return_to(Caller caller) {
    user_error_restore(caller.errors);
    entered_state = caller.entered;
}

size_t location_length(const char *text) {
    size_t colon = strcspn(text, ":\n"),
           digits = text[colon] == ':' ? strspn(text + colon + 1, "0123456789") : 0;
    return digits && strncmp(text + colon + 1 + digits, ": ", 2) == 0 ? colon + digits + 3 : 0;
}

bool push_maker(lua_State *L, const char *module) {
    lua_getglobal(L, "require");
    lua_pushstring(L, module);
    return lua_pcall(L, 1, 1, 0) == LUA_OK;
}
