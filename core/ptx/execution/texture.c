#include "core/ptx/execution/texture.h"

#include "core/sim/base/error.h"

#include <stdlib.h>

/* Largest extents: those of a texture bound to linear memory, so that positions in double are exact. */
enum { MAX_TEXELS = 1 << 27, MAX_SLICES = 1 << 14 };
#define MAX_PITCH (1ull << 32)
#define MAX_SLICE (1ull << 40)

const char *const texel_format_names[] = {"u8", "s8", "u16", "s16", "u32", "s32", "f16", "f32", NULL};
const char *const texture_filter_names[] = {"point", "linear", NULL};
const char *const texture_address_names[] = {"clamp", "border", "wrap", "mirror", NULL};
const char *const texture_read_names[] = {"element", "normalized_float", "srgb", NULL};

uint32_t texel_format_bytes(TexelFormat format) {
    static const uint8_t bytes[TEXEL_FORMATS] = {
        [TEXEL_U8] = 1,  [TEXEL_S8] = 1,  [TEXEL_U16] = 2, [TEXEL_S16] = 2,
        [TEXEL_U32] = 4, [TEXEL_S32] = 4, [TEXEL_F16] = 2, [TEXEL_F32] = 4};
    return bytes[format];
}

uint32_t texture_texel_bytes(const Texture *texture) {
    return texel_format_bytes((TexelFormat)texture->format) * texture->channels;
}

uint64_t texture_bytes(const Texture *texture) {
    return (texture->slices - 1) * texture->slice + (texture->height - 1) * texture->pitch +
           (uint64_t)texture->width * texture_texel_bytes(texture);
}

static void check_layout(const Texture *texture) {
    uint32_t texel = texture_texel_bytes(texture);
    uint64_t row = (uint64_t)texture->width * texel;
    if (texture->base % texel)
        user_error("texture: buffer: expected an address aligned to texels of %u bytes, got 0x%lx", texel,
                   texture->base);
    if (texture->pitch % texel)
        user_error("texture: pitch: expected a multiple of the %u bytes of a texel, got %lu", texel,
                   texture->pitch);
    if (texture->height > 1 && (texture->pitch < row || texture->pitch > MAX_PITCH))
        user_error("texture: pitch: expected %lu (the bytes of a row) to %llu, got %lu", row, MAX_PITCH,
                   texture->pitch);
    if (texture->slice % texel)
        user_error("texture: slice: expected a multiple of the %u bytes of a texel, got %lu", texel,
                   texture->slice);
    uint64_t rows = texture->height > 1 ? texture->height * texture->pitch : row;
    if (texture->slices > 1 && (texture->slice < rows || texture->slice > MAX_SLICE))
        user_error("texture: slice: expected %lu (the bytes of its rows) to %llu, got %lu", rows, MAX_SLICE,
                   texture->slice);
}

static void check_extents(const Texture *texture) {
    if (texture->width < 1 || texture->width > MAX_TEXELS || texture->height < 1 ||
        texture->height > MAX_TEXELS)
        user_error("texture: expected a width and height of 1 to %d, got %u x %u", MAX_TEXELS, texture->width,
                   texture->height);
    if (texture->slices < 1 || texture->slices > MAX_SLICES)
        user_error("texture: expected a depth or layers of 1 to %d, got %u", MAX_SLICES, texture->slices);
    if (texture->is_cube && texture->width != texture->height)
        user_error("texture: cube: expected a width equal to the height, got %u x %u", texture->width,
                   texture->height);
}

static void check_address(const Texture *texture) {
    for (int axis = 0; axis < TEXTURE_AXES; axis++)
        if (texture->address[axis] >= TEXTURE_WRAP && !texture->normalized)
            user_error("texture: address: expected clamp or border without normalized coordinates, got %s",
                       texture_address_names[texture->address[axis]]);
}

void texture_check(const Texture *texture) {
    const char *format = texel_format_names[texture->format];
    if (texture->channels != 1 && texture->channels != 2 && texture->channels != 4)
        user_error("texture: channels: expected 1, 2 or 4, got %u", texture->channels);
    check_extents(texture);
    check_layout(texture);
    if (texture->read == READ_NORMALIZED_FLOAT && texture->format > TEXEL_S16)
        user_error("texture: format: expected u8, s8, u16 or s16 with read = normalized_float, got %s",
                   format);
    if (texture->read == READ_SRGB && texture->format != TEXEL_U8)
        user_error("texture: format: expected u8 with read = srgb, got %s", format);
    if (texture->filter == FILTER_LINEAR && !texture_returns_float(texture))
        user_error("texture: filter: expected point for format %s, which is read as an integer, got linear; "
                   "linear needs f16, f32 or read = normalized_float or srgb",
                   format);
    check_address(texture);
}

uint64_t texture_reserve(TextureTable *table) {
    if (table->count == table->capacity) {
        table->capacity = table->capacity ? table->capacity * 2 : 16;
        table->list = realloc(table->list, table->capacity * sizeof *table->list);
        ensure_memory(table->list);
    }
    table->list[table->count++] = (Texture){0};
    return table->count;
}

void texture_bind(TextureTable *table, uint64_t handle, const Texture *texture) {
    ensure(handle - 1 < table->count);
    table->list[handle - 1] = *texture;
}

void texture_table_free(TextureTable *table) {
    free(table->list);
    *table = (TextureTable){0};
}
