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

/* How the coordinates along one axis are taken. */
typedef struct {
    uint32_t size;
    TextureAddress address;
    bool normalized;
} Axis;

/* From the edge of texel 0, in texels. Two lengths of the texture are a period of wrap and mirror, and
 * whatever lies farther out than that is as good as just beyond the edge. NaN counts as 0. */
static double position_of(Axis axis, float coordinate) {
    double position = coordinate, limit = 2.0 * axis.size + 2.0;
    if (axis.normalized) {
        if (axis.address >= TEXTURE_WRAP) position -= 2.0 * floor(position / 2.0);
        position *= axis.size;
    }
    if (position != position) return 0.0;
    return position < -limit ? -limit : position > limit ? limit : position;
}

static int64_t nearest_index(Axis axis, float coordinate) {
    int64_t index = (int64_t)floor(position_of(axis, coordinate));
    return place_index(index, axis.size, axis.address);
}

static Samples neighbours(Axis axis, float coordinate) {
    double position = position_of(axis, coordinate);
    double below = floor(position - 0.5);
    uint32_t weight = (uint32_t)((position - 0.5 - below) * WHOLE + 0.5);
    int64_t index = (int64_t)below;
    return (Samples){
        {place_index(index, axis.size, axis.address), place_index(index + 1, axis.size, axis.address)},
        {WHOLE - weight, weight},
        2};
}

/* Wrap and mirror are of normalised coordinates: these are none, and clamp. */
static int64_t integer_index(Axis axis, int32_t coordinate) {
    bool border = axis.address == TEXTURE_BORDER;
    return place_index(coordinate, axis.size, border ? TEXTURE_BORDER : TEXTURE_CLAMP);
}

static uint32_t coordinate_bits(const Inst *inst, const ExecContext *context, int axis, int lane) {
    int operand = 1 + (inst->detail & DETAIL_TEXTURE_LAYERED ? 1 : 0) + axis;
    return ((const LaneU32 *)source(inst, context, operand))[lane];
}

static bool reads_neighbours(const Inst *inst, const Texture *texture) {
    bool both = texture->filter == FILTER_LINEAR || inst->detail & DETAIL_TEXTURE_GATHER;
    return both && inst->detail & DETAIL_TEXTURE_FLOAT;
}

static int64_t texel_index(const Inst *inst, Axis axis, uint32_t bits) {
    return inst->detail & DETAIL_TEXTURE_FLOAT ? nearest_index(axis, f32_of_bits(bits))
                                               : integer_index(axis, (int32_t)bits);
}

static Samples one_sample(int64_t index) {
    return (Samples){{index}, {WHOLE}, 1};
}

static Samples sample(const Inst *inst, const Texture *texture, Axis axis, uint32_t bits) {
    return reads_neighbours(inst, texture) ? neighbours(axis, f32_of_bits(bits))
                                           : one_sample(texel_index(inst, axis, bits));
}

/* The texels that a fetch reads: along x, along y, and along z or in one slice. */
typedef struct {
    Samples axis[TEXTURE_AXES];
} Footprint;

static int64_t slice_index(const Texture *texture, uint64_t slice) {
    uint64_t last = texture->slices - 1;
    return (int64_t)(slice < last ? slice : last);
}

static uint32_t layer_of(const Inst *inst, const ExecContext *context, int lane) {
    return inst->detail & DETAIL_TEXTURE_LAYERED ? ((const LaneU32 *)source(inst, context, 1))[lane] : 0;
}

static Axis axis_of(const Texture *texture, int i) {
    const uint32_t sizes[TEXTURE_AXES] = {texture->width, texture->height, texture->slices};
    return (Axis){sizes[i], (TextureAddress)texture->address[i], texture->normalized};
}

static void sample_axes(const Inst *inst, const ExecContext *context, const Texture *texture, int lane,
                        Footprint *footprint) {
    int axes = inst->detail & DETAIL_TEXTURE_AXES;
    for (int i = 0; i < TEXTURE_AXES; i++)
        footprint->axis[i] = i < axes ? sample(inst, texture, axis_of(texture, i),
                                               coordinate_bits(inst, context, i, lane))
                                      : one_sample(0);
    if (axes < TEXTURE_AXES)
        footprint->axis[2] = one_sample(slice_index(texture, layer_of(inst, context, lane)));
}

/* The face that a direction points at, by its largest component (of equal ones z before y before x), and where
 * on it, from 0 to 1. A direction that is none, since all components are 0 or one is no number, points at the
 * middle of a face. */
static uint32_t cube_face(const float direction[3], float at[2]) {
    float x = direction[0], y = direction[1], z = direction[2], s, t, m;
    float size[3] = {fabsf(x), fabsf(y), fabsf(z)};
    uint32_t face;
    if (size[2] >= size[0] && size[2] >= size[1]) {
        face = z < 0 ? 5 : 4, m = size[2], s = z < 0 ? -x : x, t = -y;
    } else if (size[1] >= size[0]) {
        face = y < 0 ? 3 : 2, m = size[1], s = x, t = y < 0 ? -z : z;
    } else {
        face = x < 0 ? 1 : 0, m = size[0], s = x < 0 ? z : -z, t = -y;
    }
    s = s / m, t = t / m;
    at[0] = s == s ? (s + 1.0f) / 2.0f : 0.5f;
    at[1] = t == t ? (t + 1.0f) / 2.0f : 0.5f;
    return face;
}

/* Each face is a texture of its own, whose edges are clamped. */
static void sample_face(const Inst *inst, const ExecContext *context, const Texture *texture, int lane,
                        Footprint *footprint) {
    Axis axis = {texture->width, TEXTURE_CLAMP, true};
    float direction[3], at[2];
    for (int i = 0; i < 3; i++)
        direction[i] = f32_of_bits(coordinate_bits(inst, context, i, lane));
    uint32_t face = cube_face(direction, at);
    for (int i = 0; i < 2; i++)
        footprint->axis[i] = sample(inst, texture, axis, bits_of_f32(at[i]));
    uint64_t layer = layer_of(inst, context, lane), layers = texture->slices / CUBE_FACES;
    if (layers && layer >= layers) layer = layers - 1;
    footprint->axis[2] = one_sample(slice_index(texture, layer * CUBE_FACES + face));
}

static uint32_t normalized_float(int32_t value, int32_t largest) {
    float ratio = (float)value / (float)largest;
    return bits_of_f32(ratio < -1.0f ? -1.0f : ratio);
}

static uint32_t linear_of_srgb(uint32_t value) {
    double encoded = value / 255.0;
    return bits_of_f32((float)(encoded <= 0.04045 ? encoded / 12.92 : pow((encoded + 0.055) / 1.055, 2.4)));
}

static uint32_t channel_value(const Texture *texture, uint32_t channel, uint32_t bits) {
    bool normalized = texture->read != READ_ELEMENT;
    if (texture->read == READ_SRGB && channel < 3) return linear_of_srgb(bits);
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
                       int64_t z, uint32_t value[4]) {
    uint32_t bytes = texel_format_bytes((TexelFormat)texture->format), channels = texture->channels;
    value[0] = value[1] = value[2] = value[3] = 0;
    if (channels < 4) value[3] = texture_returns_float(texture) ? bits_of_f32(1.0f) : 1;
    if (x == OUTSIDE || y == OUTSIDE || z == OUTSIDE) return true;
    uint64_t address = texture->base + (uint64_t)z * texture->slice + (uint64_t)y * texture->pitch +
                       (uint64_t)x * bytes * channels;
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
        value[c] = channel_value(texture, c, (uint32_t)bits);
    }
    return true;
}

/* The sum is exact in double but for the last rounding, unless the texels differ by more than 2^11. A texel
 * of weight 0 is read, but what it holds does not count: it may be infinite. */
static bool filter_texels(ExecContext *context, const Texture *texture, int lane, const Footprint *footprint,
                          uint32_t value[4]) {
    const Samples *x = &footprint->axis[0], *y = &footprint->axis[1], *z = &footprint->axis[2];
    double sum[4] = {0};
    for (int k = 0; k < z->count; k++)
        for (int j = 0; j < y->count; j++)
            for (int i = 0; i < x->count; i++) {
                uint32_t weight = x->weight[i] * y->weight[j] * z->weight[k];
                if (!read_texel(context, texture, lane, x->index[i], y->index[j], z->index[k], value))
                    return false;
                for (int c = 0; c < 4 && weight; c++)
                    sum[c] += (double)weight * (double)f32_of_bits(value[c]);
            }
    for (int c = 0; c < 4; c++)
        value[c] = bits_of_f32(canonical_f32((float)(sum[c] / (WHOLE * WHOLE * WHOLE))));
    return true;
}

/* One channel of four neighbours, counter-clockwise from the one with the least x and the greatest y. */
static bool gather(const Inst *inst, ExecContext *context, const Texture *texture, int lane,
                   const Footprint *footprint, uint32_t value[4]) {
    static const int column[] = {0, 1, 1, 0}, row[] = {1, 1, 0, 0};
    const Samples *x = &footprint->axis[0], *y = &footprint->axis[1];
    uint32_t component = inst->detail >> DETAIL_COMPONENT_SHIFT & 3;
    for (int i = 0; i < 4; i++) {
        uint32_t texel[4];
        if (!read_texel(context, texture, lane, x->index[column[i]], y->index[row[i]],
                        footprint->axis[2].index[0], texel))
            return false;
        value[i] = texel[component];
    }
    return true;
}

/* A fetch of one texel needs no footprint, for whose parts the host would wait. */
static bool fetch_texel(const Inst *inst, ExecContext *context, const Texture *texture, int lane,
                        uint32_t value[4]) {
    int axes = inst->detail & DETAIL_TEXTURE_AXES;
    int64_t at[TEXTURE_AXES] = {0, 0, slice_index(texture, layer_of(inst, context, lane))};
    for (int i = 0; i < axes; i++)
        at[i] = texel_index(inst, axis_of(texture, i), coordinate_bits(inst, context, i, lane));
    return read_texel(context, texture, lane, at[0], at[1], at[2], value);
}

static bool fetch(const Inst *inst, ExecContext *context, int lane, uint32_t value[4]) {
    uint64_t handle = context->address[lane];
    const Texture *texture = texture_find(context->textures, handle);
    bool cube = inst->detail & DETAIL_TEXTURE_CUBE, gathers = inst->detail & DETAIL_TEXTURE_GATHER;
    Footprint footprint;
    if (!texture) {
        fault_at(context, FAULT_NO_TEXTURE, lane, handle);
        return false;
    }
    if (!cube && !gathers && !reads_neighbours(inst, texture))
        return fetch_texel(inst, context, texture, lane, value);
    if (cube)
        sample_face(inst, context, texture, lane, &footprint);
    else
        sample_axes(inst, context, texture, lane, &footprint);
    if (gathers) return gather(inst, context, texture, lane, &footprint, value);
    const Samples *axis = footprint.axis;
    if (axis[0].count == 1 && axis[1].count == 1 && axis[2].count == 1)
        return read_texel(context, texture, lane, axis[0].index[0], axis[1].index[0], axis[2].index[0],
                          value);
    return filter_texels(context, texture, lane, &footprint, value);
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
