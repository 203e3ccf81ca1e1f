/* Texture fetches, as the appendix on texture fetching of the CUDA programming guide defines them: float
 * coordinates name texel i from i to i + 1, so that its centre is at i + 0.5; integer coordinates name the
 * texel itself, without filter and normalisation. Results depend on the texture alone, not on the type in the
 * instruction. */
#include "core/ptx/execution/exec_address.h"

#include <math.h>

/* Weights are in units of 1/256: 9 bits, of which 8 are fractional, so that 1.0 is among them. */
enum { OUTSIDE = -1, WHOLE = 256 };

/* The texels along one axis that a coordinate stands for: one, or the two that it lies between. */
typedef struct {
    int64_t index[2]; /* OUTSIDE: beyond the border */
    uint32_t weight[2];
    int count;
} Samples;

static int64_t place_index(int64_t index, uint32_t size, TextureAddress address) {
    int64_t n = size;
    if (index >= 0 && index < n) return index;
    switch (address) {
    case TEXTURE_BORDER: return OUTSIDE;
    case TEXTURE_WRAP: return (index % n + n) % n;
    case TEXTURE_MIRROR:
        index = (index % (2 * n) + 2 * n) % (2 * n);
        return index < n ? index : 2 * n - 1 - index;
    default: return index < 0 ? 0 : n - 1;
    }
}

/* From the edge of texel 0, in texels. Two lengths of the texture are a period of wrap and mirror, and
 * whatever lies farther out than that is as good as just beyond the edge. NaN counts as 0. */
static double position_of(const Texture *texture, float coordinate, uint32_t size) {
    double position = coordinate, limit = 2.0 * size + 2.0;
    if (texture->normalized) {
        if (texture->address >= TEXTURE_WRAP) position -= 2.0 * floor(position / 2.0);
        position *= size;
    }
    if (position != position) return 0.0;
    return position < -limit ? -limit : position > limit ? limit : position;
}

static Samples sample(const Texture *texture, float coordinate, uint32_t size) {
    TextureAddress address = (TextureAddress)texture->address;
    double position = position_of(texture, coordinate, size);
    if (texture->filter == FILTER_POINT)
        return (Samples){{place_index((int64_t)floor(position), size, address)}, {WHOLE}, 1};
    double below = floor(position - 0.5);
    uint32_t weight = (uint32_t)((position - 0.5 - below) * WHOLE + 0.5);
    int64_t index = (int64_t)below;
    return (Samples){{place_index(index, size, address), place_index(index + 1, size, address)},
                     {WHOLE - weight, weight},
                     2};
}

/* Wrap and mirror are of normalised coordinates: these are none, and clamp. */
static Samples sample_integer(const Texture *texture, int32_t coordinate, uint32_t size) {
    bool border = texture->address == TEXTURE_BORDER;
    return (Samples){{place_index(coordinate, size, border ? TEXTURE_BORDER : TEXTURE_CLAMP)}, {WHOLE}, 1};
}

static Samples sample_operand(const Inst *inst, const ExecContext *context, int operand, int lane,
                              const Texture *texture, uint32_t size) {
    uint32_t bits = ((const LaneU32 *)source(inst, context, operand))[lane];
    return inst->detail & DETAIL_TEXTURE_FLOAT ? sample(texture, f32_of_bits(bits), size)
                                               : sample_integer(texture, (int32_t)bits, size);
}

static uint32_t normalized_float(int32_t value, int32_t largest) {
    float ratio = (float)value / (float)largest;
    return bits_of_f32(ratio < -1.0f ? -1.0f : ratio);
}

static uint32_t channel_value(const Texture *texture, uint32_t bits) {
    bool normalized = texture->read == READ_NORMALIZED_FLOAT;
    switch ((TexelFormat)texture->format) {
    case TEXEL_U8: return normalized ? normalized_float((int32_t)bits, 0xff) : bits;
    case TEXEL_S8: return normalized ? normalized_float((int8_t)bits, 0x7f) : (uint32_t)(int8_t)bits;
    case TEXEL_U16: return normalized ? normalized_float((int32_t)bits, 0xffff) : bits;
    case TEXEL_S16: return normalized ? normalized_float((int16_t)bits, 0x7fff) : (uint32_t)(int16_t)bits;
    case TEXEL_F16: return bits_of_f32(canonical_f32((float)f64_of_f16(bits)));
    default: return bits;
    }
}

/* Channels that the texture does not have are 0, the fourth 1; beyond the border those that it has are 0. */
static bool read_texel(ExecContext *context, const Texture *texture, int lane, int64_t x, int64_t y,
                       uint32_t value[4]) {
    uint32_t bytes = texel_format_bytes((TexelFormat)texture->format), channels = texture->channels;
    value[0] = value[1] = value[2] = value[3] = 0;
    if (channels < 4) value[3] = texture_returns_float(texture) ? bits_of_f32(1.0f) : 1;
    if (x == OUTSIDE || y == OUTSIDE) return true;
    uint64_t address = texture->base + (uint64_t)y * texture->pitch + (uint64_t)x * bytes * channels;
    /* From the buffer's first texel to this one in one allocation: what lies behind the buffer is another's.
     */
    if (!view_covers(context->view, texture->base, address - texture->base + bytes * channels)) {
        fault_at(context, FAULT_OUT_OF_BOUNDS, lane, address);
        return false;
    }
    context->texel[context->texel_count++] = address;
    for (uint32_t c = 0; c < channels; c++) {
        uint64_t bits;
        view_load(context->view, address + c * bytes, bytes, &bits);
        value[c] = channel_value(texture, (uint32_t)bits);
    }
    return true;
}

/* The sum is exact in double but for the last rounding, unless the texels differ by more than 2^11. A texel
 * of weight 0 is read, but what it holds does not count: it may be infinite. */
static bool filter_texels(ExecContext *context, const Texture *texture, int lane, const Samples *x,
                          const Samples *y, uint32_t value[4]) {
    double sum[4] = {0};
    for (int j = 0; j < y->count; j++)
        for (int i = 0; i < x->count; i++) {
            uint32_t weight = x->weight[i] * y->weight[j];
            if (!read_texel(context, texture, lane, x->index[i], y->index[j], value)) return false;
            for (int c = 0; c < 4 && weight; c++)
                sum[c] += (double)weight * (double)f32_of_bits(value[c]);
        }
    for (int c = 0; c < 4; c++)
        value[c] = bits_of_f32(canonical_f32((float)(sum[c] / (WHOLE * WHOLE))));
    return true;
}

static bool fetch(const Inst *inst, ExecContext *context, int lane, uint32_t value[4]) {
    uint64_t handle = context->address[lane];
    const Texture *texture = texture_find(context->textures, handle);
    if (!texture) {
        fault_at(context, FAULT_NO_TEXTURE, lane, handle);
        return false;
    }
    Samples x = sample_operand(inst, context, 1, lane, texture, texture->width), y = {{0}, {WHOLE}, 1};
    if (inst->detail & DETAIL_TEXTURE_2D)
        y = sample_operand(inst, context, 2, lane, texture, texture->height);
    if (x.count == 1 && y.count == 1)
        return read_texel(context, texture, lane, x.index[0], y.index[0], value);
    return filter_texels(context, texture, lane, &x, &y, value);
}

void exec_texture(const Inst *inst, ExecContext *context) {
    uint32_t reading = 0;
    form_addresses(inst, context);
    context->texel_count = 0;
    for (uint32_t lanes = context->active; lanes; lanes &= lanes - 1) {
        int lane = __builtin_ctz(lanes), next = 0;
        uint32_t before = context->texel_count, value[4];
        if (!fetch(inst, context, lane, value)) return;
        if (context->texel_count != before) reading |= 1u << lane;
        for (int element = 0; element < 4; element++)
            if (inst->dst_mask >> element & 1)
                ((LaneU32 *)destination(inst, context, next++))[lane] = value[element];
    }
    context->active = reading;
}
