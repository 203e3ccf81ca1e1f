#include "core/lua/device/texture.h"

#include "core/lua/bindings.h"

#include <string.h>

static uint64_t whole_number(lua_State *L, int index, const char *key, uint64_t default_value) {
    int whole = true;
    lua_Integer value = (lua_Integer)default_value;
    if (lua_getfield(L, index, key) != LUA_TNIL) value = lua_tointegerx(L, -1, &whole);
    if (!whole || value < 0) user_error_got(L, -1, "texture: %s: expected a whole number", key);
    lua_pop(L, 1);
    return (uint64_t)value;
}

static uint32_t small_number(lua_State *L, int index, const char *key, uint32_t default_value) {
    uint64_t value = whole_number(L, index, key, default_value);
    return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

static void list_words(const char *const *words, char *text, size_t size) {
    for (size_t used = 0; *words && used < size; words++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", *words);
}

/* The number of the word under `key` among `words`; `default_word` without one. */
static uint8_t choice(lua_State *L, int index, const char *key, const char *default_word,
                      const char *const *words) {
    char legal[128];
    bool given = lua_getfield(L, index, key) != LUA_TNIL;
    const char *word = given ? lua_tostring(L, -1) : default_word;
    for (uint8_t i = 0; word && words[i]; i++)
        if (strcmp(words[i], word) == 0) return lua_pop(L, 1), i;
    list_words(words, legal, sizeof legal);
    if (!given) user_error("texture: %s: expected one of %s, got nothing", key, legal);
    user_error_got(L, -1, "texture: %s: expected one of %s", key, legal);
}

static uint8_t flag(lua_State *L, int index, const char *key) {
    int type = lua_getfield(L, index, key);
    if (type != LUA_TNIL && type != LUA_TBOOLEAN)
        user_error_got(L, -1, "texture: %s: expected true or false", key);
    uint8_t value = (uint8_t)lua_toboolean(L, -1);
    lua_pop(L, 1);
    return value;
}

static void require(lua_State *L, int index, const char *key) {
    if (lua_getfield(L, index, key) == LUA_TNIL)
        user_error("texture: %s: expected a value, got nothing", key);
    lua_pop(L, 1);
}

void take_texture_options(lua_State *L, int index) {
    static const char *const legal[] = {"buffer", "format",  "channels",   "width", "height", "pitch",
                                        "filter", "address", "normalized", "read",  NULL};
    if (!lua_istable(L, index)) user_error_got(L, index, "texture: expected { buffer =, format =, width = }");
    take_options(L, index, "texture", legal);
}

Texture texture_at(lua_State *L, int index) {
    require(L, index, "buffer");
    require(L, index, "width");
    uint32_t channels = small_number(L, index, "channels", 1);
    Texture texture = {.base = whole_number(L, index, "buffer", 0),
                       .width = small_number(L, index, "width", 0),
                       .height = small_number(L, index, "height", 1),
                       .format = choice(L, index, "format", NULL, texel_format_names),
                       .channels = (uint8_t)(channels < 5 ? channels : 5),
                       .filter = choice(L, index, "filter", "point", texture_filter_names),
                       .address = choice(L, index, "address", "clamp", texture_address_names),
                       .normalized = flag(L, index, "normalized"),
                       .read = choice(L, index, "read", "element", texture_read_names)};
    texture.pitch = whole_number(L, index, "pitch", (uint64_t)texture.width * texture_texel_bytes(&texture));
    texture_check(&texture);
    return texture;
}
