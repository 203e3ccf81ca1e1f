/* Prefetches have no effect on values. They form the addresses that the load/store unit asks for: a lane whose
 * address lies in no memory, or in shared memory, asks for nothing and is no fault. */
#include "core/ptx/execution/exec_address.h"

static uint32_t lanes_in_local(const ExecContext *context, uint32_t lanes) {
    uint32_t inside = 0;
    for (int lane = 0; lane < WARP_LANES; lane++)
        inside |= (uint32_t)(context->address[lane] < context->local_bytes) << lane;
    return inside & lanes;
}

void exec_prefetch_global(const Inst *inst, ExecContext *context) {
    form_addresses(inst, context);
    context->space = SPACE_GLOBAL;
    keep_lanes(context, lanes_in_memory(context, context->active));
}

void exec_prefetch_local(const Inst *inst, ExecContext *context) {
    form_addresses(inst, context);
    context->space = SPACE_LOCAL;
    keep_lanes(context, lanes_in_local(context, context->active));
}

/* Of a warp whose lanes fall into global and local memory, those in global memory are served. */
void exec_prefetch_generic(const Inst *inst, ExecContext *context) {
    form_addresses(inst, context);
    SpaceLanes lanes = resolve_generic(context);
    context->space = lanes.global || !lanes.local ? SPACE_GLOBAL : SPACE_LOCAL;
    keep_lanes(context, context->space == SPACE_LOCAL ? lanes_in_local(context, lanes.local)
                                                      : lanes_in_memory(context, lanes.global));
}

/* Addresses in local memory are none of the uniform cache's. */
void exec_prefetch_uniform(const Inst *inst, ExecContext *context) {
    form_addresses(inst, context);
    SpaceLanes lanes = resolve_generic(context);
    context->space = SPACE_GLOBAL;
    keep_lanes(context, lanes_in_memory(context, lanes.global));
}
