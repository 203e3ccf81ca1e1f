#include "core/ptx/analysis/param_reads.h"

#include <string.h>

static void mark(uint8_t *reads, const Kernel *kernel, uint64_t from, uint64_t bytes) {
    if (from >= kernel->param_bytes) return;
    if (bytes > kernel->param_bytes - from) bytes = kernel->param_bytes - from;
    memset(reads + from, 0xff, bytes);
}

static uint64_t bytes_of_param(const Kernel *kernel, uint64_t offset) {
    for (uint32_t i = 0; i < kernel->param_count; i++)
        if (kernel->params[i].offset == offset) return kernel->params[i].bytes;
    return kernel->param_bytes;
}

uint8_t *param_reads_find(const KernelBody *body, const Kernel *kernel, const OperandPlan *plans,
                          Arena *storage) {
    uint8_t *reads = arena_alloc(storage, kernel->param_bytes + 1ull, 1);
    for (uint32_t i = 0; i < kernel->inst_count; i++) {
        const BodyStatement *statement = &body->statements[i];
        const Inst *inst = &kernel->insts[i];
        for (uint32_t k = 0; k < statement->operand_count; k++) {
            const Operand *operand = &statement->operands[k];
            if (!operand->symbol || operand->symbol->kind != SYMBOL_PARAM) continue;
            bool loads = inst->kind == INST_LOAD && inst->space == SPACE_PARAM &&
                         plans[i].roles[k] == ROLE_ADDRESS && operand->reg == NO_REGISTER;
            uint64_t offset = operand->symbol->offset;
            mark(reads, kernel, loads ? offset + operand->value : offset,
                 loads ? (uint64_t)inst->element_bytes * inst->elements : bytes_of_param(kernel, offset));
        }
    }
    return reads;
}
