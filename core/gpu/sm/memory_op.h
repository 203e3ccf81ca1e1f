/* What the load/store unit is told of an instruction that has executed. */
#ifndef WW_GPU_MEMORY_OP_H
#define WW_GPU_MEMORY_OP_H

#include "core/gpu/lsu/coalescer.h"
#include "core/gpu/sm/sm.h"

/* Different words within a window as wide as the banks are in different banks. `shared`: the instruction names shared memory,
 * so that the least and the greatest address are known. */
static inline uint32_t conflict_degree(const Sm *sm, const Inst *inst, bool shared) {
    const ExecContext *context = sm->context;
    uint32_t bytes = inst->lane_bytes;
    if (shared && bytes <= 4 && context->highest - context->lowest < sm->one_pass_bytes[inst->kind]) return 1;
    uint32_t again = inst->kind == INST_ATOMIC ? (uint32_t)sm->shared_atomic_cycles : 0;
    return shared_conflict_degree(context->address, context->active, bytes, sm->shared_banks, again);
}

/* Which addresses, by ExecContext: those of all lanes where less does not say it. */
void memory_op_add_addresses(const Sm *sm, uint32_t w, const Inst *inst, MemoryOp *op);

static inline __attribute__((always_inline)) void memory_op_fill(const Sm *sm, uint32_t w, const Inst *inst,
                                                                 uint32_t pc, uint32_t space, uint64_t begins,
                                                                 uint32_t payload, MemoryOp *op) {
    const ExecContext *context = sm->context;
    op->begins = begins;
    op->lanes = context->active;
    op->inst = pc;
    op->payload = payload;
    op->warp = (uint16_t)w;
    op->kind = inst->kind;
    op->space = (uint8_t)space;
    op->bytes = inst->lane_bytes;
    op->cache_op = inst->cache_op;
    op->has_addresses = 0;
    if (space == SPACE_SHARED)
        op->conflict_degree = conflict_degree(sm, inst, inst->space == SPACE_SHARED);
    else if (space_is_constant(inst->space) && context->lowest == context->highest) /* as they mostly are */
        op->lowest = op->highest = context->lowest;
    else if (space == SPACE_TEXTURE)
        coalesce_texels(context->texel, context->texel_count, op);
    else
        memory_op_add_addresses(sm, w, inst, op);
}

#endif
