#include "core/ptx/instructions/isa_async.h"

#include "core/ptx/execution/exec_internal.h"
#include "core/ptx/execution/mbarrier.h"
#include "core/ptx/instructions/isa_mbarrier.h"
#include "core/ptx/instructions/isa_memory.h"

#include <stdio.h>
#include <string.h>

ExecFn exec_cp_async, exec_mbarrier, exec_nothing;

static bool has(const Statement *statement, const char *word) {
    for (int i = 0; i < statement->modifier_count; i++)
        if (strcmp(statement->modifiers[i], word) == 0) return true;
    return false;
}

/* cp.async.commit_group; cp.async.wait_group N; cp.async.wait_all */
static const char *select_control(const Statement *statement, Inst *inst, OperandPlan *plan) {
    bool counts = has(statement, "wait_group");
    if (statement->modifier_count != 2 || statement->operand_count != counts)
        return counts ? "expected a number of groups" : "expected no operands";
    if (counts && statement->shapes[0] != OPERAND_IMMEDIATE) return "expected a number of groups";
    inst->exec = exec_nothing;
    inst->kind = has(statement, "commit_group") ? INST_ASYNC_COMMIT : INST_ASYNC_WAIT;
    inst->timing = TIMING_OTHER;
    plan->roles[0] = ROLE_SRC;
    plan->src_bytes[0] = 4;
    return NULL;
}

/* cp.async.mbarrier.arrive{.noinc} [object]: an arrival when the warp's copies so far are complete. */
static const char *select_arrive(const Statement *statement, Inst *inst, OperandPlan *plan) {
    if (!has(statement, "arrive") || !has(statement, "b64") || statement->operand_count != 1 ||
        statement->shapes[0] != OPERAND_ADDRESS)
        return "expected .arrive, .b64 and [address]";
    inst->exec = exec_mbarrier;
    inst->kind = INST_ASYNC_ARRIVE;
    inst->timing = TIMING_OTHER;
    inst->detail = has(statement, "noinc") ? MBARRIER_FIND : MBARRIER_EXPECT_ONE;
    isa_plan_mbarrier(statement, 0, inst, plan);
    return NULL;
}

static bool is_copy_size(uint64_t size, bool global_only) {
    return size == 16 || (!global_only && (size == 4 || size == 8));
}

/* [to], [from], size {, bytes read | predicate that says to read none} {, cache policy} */
static const char *select_copy(const Statement *statement, Inst *inst, OperandPlan *plan) {
    enum { TO, FROM, SIZE, OPTION };
    bool global_only = has(statement, "cg"), hint = has(statement, "L2::cache_hint");
    int operands = statement->operand_count - hint;
    if (!has(statement, "shared") || !has(statement, "global") || global_only == has(statement, "ca"))
        return "expected .ca or .cg, and .shared.global";
    if (operands < SIZE + 1 || operands > OPTION + 1 || statement->shapes[TO] != OPERAND_ADDRESS ||
        statement->shapes[FROM] != OPERAND_ADDRESS || statement->shapes[SIZE] != OPERAND_IMMEDIATE)
        return "expected [to], [from] and a size";
    if (!is_copy_size(statement->value[SIZE], global_only))
        return global_only ? "expected a size of 16" : "expected a size of 4, 8 or 16";
    uint8_t to_bytes = statement->register_bytes[TO], from_bytes = statement->register_bytes[FROM];
    bool to_narrow = to_bytes != 0 && to_bytes != 8, from_narrow = from_bytes != 0 && from_bytes != 8;
    inst->exec = exec_cp_async;
    inst->kind = INST_LOAD;
    inst->timing = TIMING_MEM;
    inst->space = SPACE_GLOBAL;
    inst->cache_op = global_only ? CACHE_GLOBAL : CACHE_ALL;
    inst->element_bytes = statement->value[SIZE] == 4 ? 4 : 8;
    inst->elements = (uint8_t)(statement->value[SIZE] / inst->element_bytes);
    inst->detail = DETAIL_ASYNC_COPY | (to_narrow ? DETAIL_ASYNC_TARGET_32 : 0) |
                   (from_narrow ? DETAIL_ADDRESS_32 : 0);
    plan->roles[TO] = ROLE_SHARED_ADDRESS;
    plan->src_bytes[TO] = to_narrow ? 4 : 8;
    plan->roles[FROM] = ROLE_ADDRESS;
    plan->src_bytes[FROM] = from_narrow ? 4 : 8;
    plan->roles[SIZE] = ROLE_IGNORE;
    if (hint) plan->roles[operands] = ROLE_IGNORE;
    if (operands == SIZE + 1) return NULL;
    bool ignore = statement->shapes[OPTION] == OPERAND_PREDICATE;
    bool size = statement->shapes[OPTION] == OPERAND_IMMEDIATE ||
                (statement->shapes[OPTION] == OPERAND_REGISTER && statement->register_bytes[OPTION] == 4);
    if (!ignore && !size) return "expected a size in a register of 32 bits, or a predicate";
    inst->detail |= ignore ? DETAIL_ASYNC_IGNORE : DETAIL_ASYNC_SIZE;
    plan->roles[OPTION] = ignore ? ROLE_PSRC : ROLE_SRC;
    plan->src_bytes[OPTION] = 4;
    return NULL;
}

bool isa_is_async(const char *opcode) {
    return strcmp(opcode, "cp") == 0;
}

bool isa_select_async(const Statement *statement, Inst *inst, OperandPlan *plan, char *why, size_t why_size) {
    bool control = has(statement, "commit_group") || has(statement, "wait_group") ||
                   has(statement, "wait_all");
    inst->space = SPACE_NONE;
    inst->cache_op = CACHE_DEFAULT;
    inst->element_bytes = inst->elements = 0;
    inst->detail = 0;
    inst->dst_mask = 0;
    const char *problem = !has(statement, "async")     ? "expected .async"
                          : has(statement, "bulk")     ? "bulk copies are not supported"
                          : has(statement, "mbarrier") ? select_arrive(statement, inst, plan)
                          : control                    ? select_control(statement, inst, plan)
                                                       : select_copy(statement, inst, plan);
    if (!problem) return true;
    char name[128];
    isa_format_name(statement, name, sizeof name);
    snprintf(why, why_size, "'%s': %s", name, problem);
    return false;
}

void isa_print_async(void (*print)(void *context, const char *row), void *context) {
    print(context, "cp.async .ca/.cg .shared.global [.L2::cache_hint] [.L2::64B/.L2::128B/.L2::256B]");
    print(context, "cp.async .mbarrier .arrive [.noinc] [.shared] .b64");
    print(context, "cp.async .commit_group/.wait_group/.wait_all");
}
