#include "core/ptx/analysis/param_reads.h"

#include <string.h>

typedef struct {
    const KernelBody *body;
    const Kernel *kernel;
    const OperandPlan *plans;
    /* Per register: 1 + the address among the parameters that it holds all its life, or 0. */
    uint64_t *address;
    uint8_t *writes; /* per register: 0, 1, or 2 for more, or for one under a guard */
    uint8_t *reads;
} Finder;

static void mark(const Finder *finder, uint64_t from, uint64_t bytes) {
    uint64_t all = finder->kernel->param_bytes;
    if (from >= all) return;
    memset(finder->reads + from, 0xff, bytes > all - from ? all - from : bytes);
}

/* The parameter in which the address lies, or all. */
static void mark_whole(const Finder *finder, uint64_t address) {
    const Kernel *kernel = finder->kernel;
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        uint64_t from = kernel->params[i].offset, bytes = kernel->params[i].bytes;
        if (address >= from && address - from < bytes) {
            mark(finder, from, bytes);
            return;
        }
    }
    mark(finder, 0, kernel->param_bytes);
}

/* --- Addresses in registers ---------------------------------------------------------------------- */

static void count_writes(const Finder *finder, uint32_t i) {
    const BodyStatement *statement = &finder->body->statements[i];
    for (uint32_t k = 0; k < statement->operand_count; k++) {
        uint32_t reg = statement->operands[k].reg;
        OperandRole role = finder->plans[i].roles[k];
        if (reg == NO_REGISTER || (role != ROLE_DST && role != ROLE_PDST)) continue;
        bool is_only = !finder->writes[reg] && statement->guard == NO_REGISTER;
        finder->writes[reg] = is_only ? 1 : 2;
    }
}

/* Of a parameter named by itself, or a register that holds one: 1 + the address, or 0. */
static uint64_t address_of(const Finder *finder, const Operand *operand) {
    if (operand->reg != NO_REGISTER) return finder->address[operand->reg];
    bool is_param = operand->symbol && operand->symbol->kind == SYMBOL_PARAM;
    return is_param ? 1 + operand->symbol->offset : 0;
}

/* A move of an address, or a sum of one and a number: 1 + what the register then holds, or 0. */
static uint64_t moved_address(const Finder *finder, uint32_t i) {
    const BodyStatement *statement = &finder->body->statements[i];
    const Operand *operands = statement->operands;
    bool is_move = !strcmp(statement->opcode, "mov") && statement->operand_count == 2;
    bool is_sum = !strcmp(statement->opcode, "add") && statement->operand_count == 3 &&
                  operands[2].shape == OPERAND_IMMEDIATE;
    if (!is_move && !is_sum) return 0;
    if (finder->plans[i].roles[0] != ROLE_DST || operands[0].reg == NO_REGISTER ||
        finder->writes[operands[0].reg] != 1)
        return 0;
    uint64_t address = address_of(finder, &operands[1]);
    if (!address) return 0;
    uint64_t moved = address + operands[1].value + (is_sum ? operands[2].value : 0);
    return moved && moved <= finder->kernel->param_bytes ? moved : 0;
}

/* Where one address depends on another that comes later in the text, it takes more than one round. */
static void follow_addresses(const Finder *finder) {
    bool found = true;
    while (found) {
        found = false;
        for (uint32_t i = 0; i < finder->kernel->inst_count; i++) {
            uint64_t address = moved_address(finder, i);
            if (!address || finder->address[finder->body->statements[i].operands[0].reg]) continue;
            finder->address[finder->body->statements[i].operands[0].reg] = address;
            found = true;
        }
    }
}

/* --- Reads ---------------------------------------------------------------------------------------- */

static void mark_reads(const Finder *finder, uint32_t i) {
    const BodyStatement *statement = &finder->body->statements[i];
    const Inst *inst = &finder->kernel->insts[i];
    if (moved_address(finder, i)) return;
    for (uint32_t k = 0; k < statement->operand_count; k++) {
        const Operand *operand = &statement->operands[k];
        OperandRole role = finder->plans[i].roles[k];
        uint64_t address = role == ROLE_DST ? 0 : address_of(finder, operand);
        if (!address) continue;
        if (inst->kind == INST_LOAD && inst->space == SPACE_PARAM && role == ROLE_ADDRESS)
            mark(finder, address - 1 + operand->value, (uint64_t)inst->element_bytes * inst->elements);
        else
            mark_whole(finder, address - 1);
    }
}

uint8_t *param_reads_find(const KernelBody *body, const Kernel *kernel, const OperandPlan *plans,
                          Arena *storage) {
    const Finder finder = {
        .body = body,
        .kernel = kernel,
        .plans = plans,
        .address = arena_alloc(body->arena, body->register_count, sizeof *finder.address),
        .writes = arena_alloc(body->arena, body->register_count, 1),
        .reads = arena_alloc(storage, kernel->param_bytes + 1ull, 1),
    };
    for (uint32_t i = 0; i < kernel->inst_count; i++)
        count_writes(&finder, i);
    follow_addresses(&finder);
    for (uint32_t i = 0; i < kernel->inst_count; i++)
        mark_reads(&finder, i);
    return finder.reads;
}
