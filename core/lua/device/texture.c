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

/* One word for all axes, or a list of one for each. */
static void address_modes(lua_State *L, int index, uint8_t modes[TEXTURE_AXES]) {
    if (lua_getfield(L, index, "address") != LUA_TTABLE) {
        lua_pop(L, 1);
        uint8_t mode = choice(L, index, "address", "clamp", texture_address_names);
        memset(modes, mode, TEXTURE_AXES);
        return;
    }
    int list = lua_gettop(L);
    for (int axis = 0; axis < TEXTURE_AXES; axis++) {
        char legal[128];
        const char *word = lua_rawgeti(L, list, axis + 1) == LUA_TNIL ? "clamp" : lua_tostring(L, -1);
        uint8_t i = 0;
        while (word && texture_address_names[i] && strcmp(texture_address_names[i], word) != 0)
            i++;
        list_words(texture_address_names, legal, sizeof legal);
        if (!word || !texture_address_names[i])
            user_error_got(L, -1, "texture: address[%d]: expected one of %s", axis + 1, legal);
        modes[axis] = i;
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

/* A texture has `depth` slices, or `layers`, or six for each layer of a cube. */
static uint32_t slices_of(lua_State *L, int index, const Texture *texture) {
    uint32_t depth = small_number(L, index, "depth", 1), layers = small_number(L, index, "layers", 1);
    if (depth != 1 && (texture->is_layered || texture->is_cube))
        user_error("texture: depth: expected 1 or none with layers or cube, got %u", depth);
    if (texture->is_layered && !layers) return 0;
    if (!texture->is_cube) return texture->is_layered ? layers : depth;
    return layers > UINT32_MAX / CUBE_FACES ? UINT32_MAX : layers * CUBE_FACES;
}

static void require(lua_State *L, int index, const char *key) {
    if (lua_getfield(L, index, key) == LUA_TNIL)
        user_error("texture: %s: expected a value, got nothing", key);
    lua_pop(L, 1);
}

void take_texture_options(lua_State *L, int index) {
    static const char *const legal[] = {"buffer", "format",  "channels",   "width", "height",
                                        "pitch",  "depth",   "layers",     "slice", "cube",
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
                       .normalized = flag(L, index, "normalized"),
                       .read = choice(L, index, "read", "element", texture_read_names),
                       .is_cube = flag(L, index, "cube")};
    texture.is_layered = lua_getfield(L, index, "layers") != LUA_TNIL;
    lua_pop(L, 1);
    address_modes(L, index, texture.address);
    texture.slices = slices_of(L, index, &texture);
    texture.pitch = whole_number(L, index, "pitch", (uint64_t)texture.width * texture_texel_bytes(&texture));
    texture.slice = whole_number(L, index, "slice", texture.pitch * texture.height);
    texture_check(&texture);
    return texture;
}
