#include "core/gpu/sm/memory_op.h"

#include <string.h>

/* Local memory in the machine's address space, words of the 32 lanes side by side, beyond any device
 * memory. */
#define LOCAL_MEMORY_BASE (1ull << 40)

/* The words of a warp's lanes lie side by side in a line. Warps that follow each other in a place of an SM
 * have the same lines. Returns where the first one begins. */
static inline uint64_t place_local(const Sm *sm, uint32_t w, MemoryOp *op) {
    uint64_t words = (sm->kernels.local_bytes + 3) / 4, warps = sm->kernels.local_warps;
    bool by_word = sm->local_layout == LOCAL_BY_WORD;
    uint64_t line = by_word ? sm->number * warps + w : (sm->number * MAX_WARPS + w) * words;
    op->word_stride = by_word ? sm->sm_count * warps * COALESCE_LINE : COALESCE_LINE;
    return LOCAL_MEMORY_BASE + line * COALESCE_LINE;
}

static void lay_out_local(const Sm *sm, uint32_t w, MemoryOp *op) {
    uint64_t base = place_local(sm, w, op);
    for (uint32_t i = 0; i < WARP_LANES; i++)
        op->address[i] = base + op->address[i] / 4 * op->word_stride + i * 4 + op->address[i] % 4;
}

/* All lanes access the same words of their local memory, as they mostly do: where the first word lies says all. */
static inline bool add_local_alike(const Sm *sm, uint32_t w, const Inst *inst, MemoryOp *op) {
    uint64_t offset = sm->context->lowest;
    if (inst->space != SPACE_LOCAL || op->bytes < 4 || offset != sm->context->highest) return false;
    op->lowest = op->highest = place_local(sm, w, op) + offset / 4 * op->word_stride;
    return true;
}

void memory_op_add_addresses(const Sm *sm, uint32_t w, const Inst *inst, MemoryOp *op) {
    const ExecContext *context = sm->context;
    if (add_local_alike(sm, w, inst, op)) return;
    bool known = inst->space != SPACE_GENERIC && op->space != SPACE_LOCAL;
    op->lowest = known ? context->lowest : 0;
    op->highest = known ? context->highest : UINT64_MAX;
    bool whole_lines = inst->element_bytes > 2 && !(sm->narrow_cache_ops >> op->cache_op & 1);
    bool one_access = op->space == SPACE_GLOBAL
                          ? op->kind == INST_LOAD && whole_lines &&
                                (op->lowest ^ (op->highest + op->bytes - 1)) < sm->one_access_bytes
                          : op->lowest == op->highest;
    op->has_addresses = !(known && one_access);
    if (!op->has_addresses) return;
    for (uint32_t i = 0; i < WARP_LANES; i += 8) /* a copy of all at once would be a string instruction */
        memcpy(op->address + i, context->address + i, 8 * sizeof *op->address);
    if (op->space == SPACE_LOCAL) lay_out_local(sm, w, op);
}
