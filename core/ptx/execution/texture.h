/* Textures: how the bytes of a buffer in device memory are read as texels. The table of a device is plain
 * data; a handle is what kernels get as an argument, and what a .texref variable stands for. */
#ifndef WW_PTX_TEXTURE_H
#define WW_PTX_TEXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
    TEXEL_U8,
    TEXEL_S8,
    TEXEL_U16,
    TEXEL_S16,
    TEXEL_U32,
    TEXEL_S32,
    TEXEL_F16,
    TEXEL_F32,
    TEXEL_FORMATS,
} TexelFormat;
typedef enum { FILTER_POINT, FILTER_LINEAR, TEXTURE_FILTERS } TextureFilter;
typedef enum {
    TEXTURE_CLAMP,
    TEXTURE_BORDER,
    TEXTURE_WRAP,
    TEXTURE_MIRROR,
    TEXTURE_ADDRESSES
} TextureAddress;
/* READ_SRGB: normalized, and all channels but the fourth from sRGB to linear. */
typedef enum { READ_ELEMENT, READ_NORMALIZED_FLOAT, READ_SRGB, TEXTURE_READS } TextureRead;

/* Words of these as users know them, NULL behind the last. */
extern const char *const texel_format_names[], *const texture_filter_names[], *const texture_address_names[],
                                                                                  *const texture_read_names[];

enum { TEXTURE_AXES = 3, CUBE_FACES = 6 };

/* A width of 0: no texture. Slices are those of a 3D texture or the layers of a layered one; a cube has six
 * of them, and a layered cube six for each layer. */
typedef struct {
    uint64_t base, pitch, slice;   /* address of the first texel; bytes from row to row, slice to slice */
    uint32_t width, height;        /* in texels                                                         */
    uint32_t slices;               /* 1 or more                                                         */
    uint8_t format;                /* TexelFormat of each channel                                       */
    uint8_t channels;              /* 1, 2 or 4                                                         */
    uint8_t filter;                /* TextureFilter                                                     */
    uint8_t address[TEXTURE_AXES]; /* TextureAddress: coordinates beyond the edges                      */
    uint8_t normalized;            /* float coordinates: from 0 to 1 across the texture                 */
    uint8_t read;                  /* TextureRead                                                       */
    uint8_t is_layered, is_cube;
    uint8_t pad[2];
} Texture;

/* Entry h - 1 belongs to handle h; handle 0 is never a texture. */
typedef struct {
    Texture *list;
    uint32_t count, capacity;
} TextureTable;

/* Of one channel, of a texel, and from the first to the last byte of all texels. */
uint32_t texel_format_bytes(TexelFormat format);
uint32_t texture_texel_bytes(const Texture *texture);
uint64_t texture_bytes(const Texture *texture);

static inline bool texture_returns_float(const Texture *texture) {
    return texture->format >= TEXEL_F16 || texture->read != READ_ELEMENT;
}

/* A user error "texture: ..." that names the parameter when `texture` is none that can be fetched from. */
void texture_check(const Texture *texture);

/* A new handle, of no texture yet. */
uint64_t texture_reserve(TextureTable *table);
/* Binds a texture that texture_check() accepts to a handle of the table. */
void texture_bind(TextureTable *table, uint64_t handle, const Texture *texture);
void texture_table_free(TextureTable *table);

/* NULL when the handle does not exist, or nothing is bound to it. */
static inline const Texture *texture_find(const TextureTable *table, uint64_t handle) {
    if (handle - 1 >= table->count || !table->list[handle - 1].width) return NULL;
    return &table->list[handle - 1];
}

#endif
