/* Surfaces: the bytes of a texture by row and slice, loaded, stored and reduced as global memory is. Of a
 * coordinate beyond the edges .trap makes a fault, .clamp takes the nearest place, .zero loads 0 and stores
 * nothing.
 *
 * Sources: the handle, the layer, a coordinate for each axis, and what is stored. */
#include "core/ptx/execution/exec_address.h"

static uint32_t first_value(const Inst *inst) {
    return 1 + (inst->detail & DETAIL_TEXTURE_AXES) + (inst->detail & DETAIL_TEXTURE_LAYERED ? 1 : 0);
}

/* False when it lies beyond the last one; moved to the nearest one then. */
static bool place_coordinate(int64_t *coordinate, int64_t last) {
    if (*coordinate >= 0 && *coordinate <= last) return true;
    *coordinate = *coordinate < 0 || last < 0 ? 0 : last;
    return false;
}

static uint32_t coordinate_lane(const Inst *inst, const ExecContext *context, uint32_t *operand, int lane) {
    return ((const LaneU32 *)source(inst, context, (int)(*operand)++))[lane];
}

/* Sets the lane's address; false when a coordinate lies beyond the edges. */
static bool place_lane(const Inst *inst, ExecContext *context, const Texture *surface, int lane) {
    uint32_t next = 1, axes = inst->detail & DETAIL_TEXTURE_AXES;
    int64_t bytes = (int64_t)inst->element_bytes * inst->elements, x, y = 0, z = 0;
    int64_t row = (int64_t)surface->width * texture_texel_bytes(surface);
    if (inst->detail & DETAIL_TEXTURE_LAYERED) z = coordinate_lane(inst, context, &next, lane);
    x = (int32_t)coordinate_lane(inst, context, &next, lane);
    if (axes > 1) y = (int32_t)coordinate_lane(inst, context, &next, lane);
    if (axes > 2) z = (int32_t)coordinate_lane(inst, context, &next, lane);
    bool inside = place_coordinate(&x, row / bytes * bytes - bytes);
    inside &= place_coordinate(&y, (int64_t)surface->height - 1);
    inside &= place_coordinate(&z, (int64_t)surface->slices - 1);
    context->address[lane] = surface->base + (uint64_t)z * surface->slice + (uint64_t)y * surface->pitch +
                             (uint64_t)x;
    return inside;
}

/* The address must be one of the access and lie in the allocation in which the surface begins. */
static bool is_accessible(const Inst *inst, ExecContext *context, const Texture *surface, int lane) {
    uint64_t address = context->address[lane], bytes = (uint64_t)inst->element_bytes * inst->elements;
    if (!view_covers(context->view, surface->base, address - surface->base + bytes))
        fault_at(context, FAULT_OUT_OF_BOUNDS, lane, address);
    else if (address % bytes)
        fault_at(context, FAULT_MISALIGNED, lane, address);
    return !context->fault;
}

/* Keeps the lanes that access memory, with their addresses. False: there is a fault. */
static bool place_lanes(const Inst *inst, ExecContext *context) {
    SurfaceClamp clamp = (SurfaceClamp)(inst->detail >> DETAIL_CLAMP_SHIFT & 3);
    const LaneU64 *handles = source(inst, context, 0);
    uint32_t inside = 0;
    context->space = SPACE_GLOBAL;
    for (uint32_t lanes = context->active; lanes; lanes &= lanes - 1) {
        int lane = __builtin_ctz(lanes);
        const Texture *surface = texture_find(context->textures, handles[lane]);
        if (!surface) return fault_at(context, FAULT_NO_TEXTURE, lane, handles[lane]), false;
        bool placed = place_lane(inst, context, surface, lane);
        if (!placed && clamp == SURFACE_TRAP)
            return fault_at(context, FAULT_BEYOND_SURFACE, lane, handles[lane]), false;
        if (!placed && clamp == SURFACE_ZERO) continue;
        if (!is_accessible(inst, context, surface, lane)) return false;
        inside |= 1u << lane;
    }
    keep_lanes(context, inside);
    return true;
}

void exec_surface_load(const Inst *inst, ExecContext *context) {
    uint32_t active = context->active;
    if (!place_lanes(inst, context)) return;
    int next = 0;
    for (uint32_t element = 0; element < inst->elements; element++) {
        if (!(inst->dst_mask >> element & 1)) continue;
        void *to = destination(inst, context, next++);
        for (uint32_t lanes = active; lanes; lanes &= lanes - 1) {
            int lane = __builtin_ctz(lanes);
            uint64_t value = 0, at = context->address[lane] + element * inst->element_bytes;
            if (context->active >> lane & 1) view_load(context->view, at, inst->element_bytes, &value);
            if (inst->element_bytes == 8)
                ((LaneU64 *)to)[lane] = value;
            else
                ((LaneU32 *)to)[lane] = (uint32_t)value;
        }
    }
}

void exec_surface_store(const Inst *inst, ExecContext *context) {
    if (!place_lanes(inst, context)) return;
    for (uint32_t lanes = context->active; lanes; lanes &= lanes - 1)
        for (uint32_t element = 0; element < inst->elements; element++) {
            int lane = __builtin_ctz(lanes);
            const void *from = any_source(inst, context, first_value(inst) + element);
            uint64_t value = inst->element_bytes == 8 ? ((const LaneU64 *)from)[lane]
                                                      : ((const LaneU32 *)from)[lane];
            view_store(context->view, context->address[lane] + element * inst->element_bytes,
                       inst->element_bytes, value);
        }
}

void exec_surface_reduce(const Inst *inst, ExecContext *context) {
    context->atomic->mask = 0;
    if (place_lanes(inst, context) && context->active)
        fill_atomic_payload(inst, context, (inst->detail >> DETAIL_REDUCTION_SHIFT) & DETAIL_ATOMIC_MASK,
                            first_value(inst));
}
