/* Queries of textures and surfaces: numbers out of the table, which access no memory. */
#include "core/ptx/execution/exec_address.h"

/* As OpenCL numbers channel orders and types: the PTX ISA leaves the numbers to the source language, and CUDA
 * has none. */
static uint32_t channel_order(const Texture *texture) {
    return texture->channels == 1 ? 0x10b0 : texture->channels == 2 ? 0x10b2 : 0x10b5;
}

static uint32_t channel_type(const Texture *texture) {
    static const uint16_t types[TEXEL_FORMATS] = {
        [TEXEL_U8] = 0x10da,  [TEXEL_S8] = 0x10d7,  [TEXEL_U16] = 0x10db, [TEXEL_S16] = 0x10d8,
        [TEXEL_U32] = 0x10dc, [TEXEL_S32] = 0x10d9, [TEXEL_F16] = 0x10dd, [TEXEL_F32] = 0x10de};
    static const uint16_t normalized[] = {
        [TEXEL_U8] = 0x10d2, [TEXEL_S8] = 0x10d0, [TEXEL_U16] = 0x10d3, [TEXEL_S16] = 0x10d1};
    return texture->read != READ_ELEMENT ? normalized[texture->format] : types[texture->format];
}

/* wrap, mirror, clamp_ogl, clamp_to_edge, clamp_to_border count from 0 in PTX. */
static uint32_t address_mode(const Texture *texture, int axis) {
    static const uint8_t modes[] = {
        [TEXTURE_WRAP] = 0, [TEXTURE_MIRROR] = 1, [TEXTURE_CLAMP] = 3, [TEXTURE_BORDER] = 4};
    return modes[texture->address[axis]];
}

/* What has no such attribute answers with 0. */
static uint32_t answer(const Texture *texture, TextureQuery query) {
    uint32_t layers = texture->is_cube ? texture->slices / CUBE_FACES : texture->slices;
    bool is_3d = !texture->is_layered && !texture->is_cube;
    switch (query) {
    case QUERY_WIDTH: return texture->width;
    case QUERY_HEIGHT: return texture->height;
    case QUERY_DEPTH: return is_3d ? texture->slices : 0;
    case QUERY_ARRAY_SIZE: return texture->is_layered ? layers : 0;
    case QUERY_LEVELS: return 1;
    case QUERY_SAMPLES: return 1;
    case QUERY_CHANNEL_TYPE: return channel_type(texture);
    case QUERY_CHANNEL_ORDER: return channel_order(texture);
    case QUERY_NORMALIZED: return texture->normalized;
    case QUERY_UNNORMALIZED: return !texture->normalized;
    case QUERY_FILTER: return texture->filter == FILTER_LINEAR;
    case QUERY_ADDRESS_0:
    case QUERY_ADDRESS_1:
    case QUERY_ADDRESS_2: return address_mode(texture, (int)(query - QUERY_ADDRESS_0));
    case QUERY_LAYOUT: return 0;
    }
    return 0;
}

void exec_texture_query(const Inst *inst, ExecContext *context) {
    LaneU32 *to = destination(inst, context, 0);
    uint32_t found[WARP_LANES] = {0};
    context->space = SPACE_TEXTURE;
    form_addresses(inst, context);
    for (uint32_t lanes = context->active; lanes; lanes &= lanes - 1) {
        int lane = __builtin_ctz(lanes);
        const Texture *texture = texture_find(context->textures, context->address[lane]);
        if (!texture) {
            fault_at(context, FAULT_NO_TEXTURE, lane, context->address[lane]);
            return;
        }
        found[lane] = answer(texture, (TextureQuery)(inst->detail & DETAIL_QUERY));
    }
    write_lanes_32(to, found, context->active);
}
