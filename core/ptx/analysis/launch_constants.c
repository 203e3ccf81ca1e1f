#include "core/ptx/analysis/launch_constants.h"

#include <string.h>

bool launch_constants_has_special(uint32_t special) {
    switch (special) {
    case SPECIAL_NTID_X:
    case SPECIAL_NTID_Y:
    case SPECIAL_NTID_Z:
    case SPECIAL_NCTAID_X:
    case SPECIAL_NCTAID_Y:
    case SPECIAL_NCTAID_Z:
    case SPECIAL_NSMID:
    case SPECIAL_GRIDID:
    case SPECIAL_DYNAMIC_SMEM_SIZE:
    case SPECIAL_TOTAL_SMEM_SIZE:
    case SPECIAL_ENVREG_1:
    case SPECIAL_ENVREG_2: return true;
    default: return false;
    }
}

/* Is each lane's result a function of its sources? Not so for shuffles, votes, clocks and carries. */
static bool is_function_of_sources(const BodyStatement *statement, const Inst *inst) {
    static const char *const opcodes[] = {"abs",   "add", "and", "bfe", "bfi",   "clz", "cnot", "cvt", "cvta",
                                          "div",   "fma", "mad", "max", "min",   "mov", "mul",  "neg", "not",
                                          "mul24", "or",  "rem", "shl", "mad24", "shr", "sub",  "xor"};
    if (inst->kind != INST_ALU) return false;
    for (uint32_t m = 0; m < statement->modifier_count; m++)
        if (!strcmp(statement->modifiers[m], "cc")) return false;
    for (size_t i = 0; i < sizeof opcodes / sizeof *opcodes; i++)
        if (!strcmp(statement->opcode, opcodes[i])) return true;
    return false;
}

/* Of an address that the instruction itself names, and that the load may read. */
static bool is_param_load(const BodyStatement *statement, const Kernel *kernel, const Inst *inst,
                          const OperandPlan *plan) {
    if (inst->kind != INST_LOAD || inst->space != SPACE_PARAM) return false;
    uint64_t bytes = (uint64_t)inst->element_bytes * inst->elements;
    for (uint32_t k = 0; k < statement->operand_count; k++) {
        const Operand *operand = &statement->operands[k];
        if (plan->roles[k] != ROLE_ADDRESS) continue;
        if (operand->reg != NO_REGISTER || !operand->symbol || operand->symbol->kind != SYMBOL_PARAM)
            return false;
        uint64_t address = operand->symbol->offset + operand->value;
        return address % bytes == 0 && address < kernel->param_bytes &&
               bytes <= kernel->param_bytes - address;
    }
    return false;
}

static bool is_constant_source(const LaunchConstants *found, const Operand *operand) {
    if (operand->reg != NO_REGISTER) return found->of_register[operand->reg];
    return operand->special == NO_SPECIAL || launch_constants_has_special(operand->special);
}

static bool has_constant_result(const LaunchConstants *found, const BodyStatement *statement,
                                const Kernel *kernel, const Inst *inst, const OperandPlan *plan) {
    bool loads = is_param_load(statement, kernel, inst, plan);
    if (!loads && !is_function_of_sources(statement, inst)) return false;
    for (uint32_t k = 0; k < statement->operand_count; k++) {
        OperandRole role = plan->roles[k];
        if (statement->operands[k].shape == OPERAND_SPECIAL) return false; /* a clock */
        bool fits = role == ROLE_DST || role == ROLE_IGNORE || (loads && role == ROLE_ADDRESS) ||
                    (role == ROLE_SRC && is_constant_source(found, &statement->operands[k]));
        if (!fits) return false;
    }
    return true;
}

/* Per register: the number of instructions that write it. One that writes under a guard counts twice, and so
 * does the start of the warp, which clears all registers, where that can be seen. */
static uint32_t *count_writes(const KernelBody *body, const LiveRanges *ranges, const Access *accesses,
                              uint32_t access_count) {
    uint32_t *writes = arena_alloc(body->arena, body->register_count, sizeof *writes);
    for (uint32_t r = 0; r < body->register_count; r++)
        if (ranges->first[r] < ranges->first[r + 1] && ranges->segments[ranges->first[r]].start == 0)
            writes[r] = 2;
    for (uint32_t a = 0; a < access_count; a++)
        if (accesses[a].kind != ACCESS_READ)
            writes[accesses[a].reg] += accesses[a].kind == ACCESS_GUARDED_WRITE ? 2 : 1;
    return writes;
}

static bool writes_each_alone(const BodyStatement *statement, const OperandPlan *plan,
                              const uint32_t *writes) {
    bool alone = true, any = false;
    for (uint32_t k = 0; k < statement->operand_count; k++) {
        uint32_t reg = statement->operands[k].reg;
        if (plan->roles[k] != ROLE_DST || reg == NO_REGISTER) continue;
        alone &= writes[reg] == 1;
        any = true;
    }
    return any && alone;
}

LaunchConstants launch_constants_find(const KernelBody *body, const Kernel *kernel, const OperandPlan *plans,
                                      const LiveRanges *ranges, const Access *accesses,
                                      uint32_t access_count) {
    LaunchConstants found = {arena_alloc(body->arena, body->register_count, sizeof(bool)),
                             arena_alloc(body->arena, kernel->inst_count, sizeof(bool))};
    const uint32_t *writes = count_writes(body, ranges, accesses, access_count);
    for (uint32_t i = 0; i < kernel->inst_count; i++) {
        const BodyStatement *statement = &body->statements[i];
        if (!writes_each_alone(statement, &plans[i], writes) ||
            !has_constant_result(&found, statement, kernel, &kernel->insts[i], &plans[i]))
            continue;
        found.of_inst[i] = true;
        for (uint32_t k = 0; k < statement->operand_count; k++)
            if (plans[i].roles[k] == ROLE_DST && statement->operands[k].reg != NO_REGISTER)
                found.of_register[statement->operands[k].reg] = true;
    }
    return found;
}
