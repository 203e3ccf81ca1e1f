#include "core/ptx/instructions/isa_async.h"

#include "core/ptx/execution/exec_internal.h"
#include "core/ptx/execution/mbarrier.h"
#include "core/ptx/instructions/isa_mbarrier.h"
#include "core/ptx/instructions/isa_memory.h"

#include <stdio.h>
#include <string.h>

ExecFn exec_cp_async, exec_mbarrier, exec_nothing;
ExecFn exec_bulk_load, exec_bulk_store, exec_bulk_reduce, exec_bulk_reduce_shared, exec_bulk_move,
    exec_bulk_prefetch;
ExecFn exec_bulk_begin, exec_bulk_arrive, exec_bulk_next;

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

/* --- Bulk copies ----------------------------------------------------------------------------- */

/* What they become; operands: addresses, destinations. */
typedef struct {
    const char *name;
    ExecFn *exec;
    uint8_t kind, space, cache_op, addresses;
    uint32_t detail;
} BulkStep;

static const BulkStep bulk_steps[] = {
    {BULK_LOAD, exec_bulk_load, INST_LOAD, SPACE_GLOBAL, CACHE_GLOBAL, 2, DETAIL_ASYNC_COPY},
    {BULK_STORE, exec_bulk_store, INST_STORE, SPACE_GLOBAL, CACHE_DEFAULT, 2, 0},
    {BULK_REDUCE, exec_bulk_reduce, INST_ATOMIC, SPACE_GLOBAL, CACHE_DEFAULT, 2, 0},
    {BULK_REDUCE_SHARED, exec_bulk_reduce_shared, INST_ATOMIC, SPACE_SHARED, CACHE_DEFAULT, 2, 0},
    {BULK_MOVE, exec_bulk_move, INST_LOAD, SPACE_SHARED, CACHE_DEFAULT, 2, 0},
    {BULK_PREFETCH, exec_bulk_prefetch, INST_LOAD, SPACE_GLOBAL, CACHE_PREFETCH_L2, 1, 0},
    {BULK_ROOM, exec_nothing, INST_ASYNC_WAIT, SPACE_NONE, CACHE_DEFAULT, 0, 0},
    {BULK_ARRIVE, exec_bulk_arrive, INST_ASYNC_ARRIVE, SPACE_SHARED, CACHE_DEFAULT, 1, MBARRIER_FIND},
    {BULK_NEXT, exec_bulk_next, INST_ALU, SPACE_NONE, CACHE_DEFAULT, 0, 0},
};

static const BulkStep *find_bulk_step(const Statement *statement) {
    for (size_t i = 0; i < sizeof bulk_steps / sizeof *bulk_steps; i++)
        if (has(statement, bulk_steps[i].name)) return &bulk_steps[i];
    return NULL;
}

/* The address that is accessed is that of global memory; within shared memory, the source. */
static void plan_bulk_addresses(const Statement *statement, const BulkStep *step, Inst *inst,
                                OperandPlan *plan) {
    int accessed = step->addresses == 2 && step->kind == INST_LOAD;
    for (int k = 0; k < step->addresses; k++) {
        uint8_t bytes = statement->register_bytes[k];
        bool narrow = bytes != 0 && bytes != 8;
        plan->roles[k] = k == accessed ? ROLE_ADDRESS : ROLE_SHARED_ADDRESS;
        plan->src_bytes[k] = narrow ? 4 : 8;
        inst->detail |= !narrow ? 0 : k == accessed ? DETAIL_ADDRESS_32 : DETAIL_ASYNC_TARGET_32;
    }
}

/* What each element of a reduction is: a red, as if on global memory. */
static const char *select_bulk_element(const Statement *copy, Inst *element) {
    Statement red = {.opcode = "red",
                     .modifiers = {"global"},
                     .modifier_count = 1,
                     .operand_count = 2,
                     .shapes = {OPERAND_ADDRESS, OPERAND_IMMEDIATE},
                     .vector_elements = 1};
    bool is_half = has(copy, "f16") || has(copy, "bf16"), is_extreme = has(copy, "min") || has(copy, "max");
    bool is_behind = false; /* how the copy is completed */
    for (int i = 0; i < copy->modifier_count; i++) {
        const char *word = copy->modifiers[i];
        if (is_behind && strcmp(word, "L2::cache_hint") != 0 && *word != '(')
            red.modifiers[red.modifier_count++] = word;
        is_behind |= !strcmp(word, "bulk_group") || !strcmp(word, "mbarrier::complete_tx::bytes");
    }
    if (is_half && is_extreme) {
        red.modifiers[red.modifier_count++] = "noftz";
        red.modifiers[red.modifier_count++] = ATOMIC_ELEMENT;
    }
    OperandPlan plan = {{0}, {0}, {0}};
    char why[200];
    return isa_select_memory(&red, element, &plan, why, sizeof why)
               ? NULL
               : "this reduction does not take this type";
}

static const char *select_bulk_step(const Statement *statement, const BulkStep *step, Inst *inst,
                                    OperandPlan *plan) {
    bool is_next = step->exec == exec_bulk_next;
    int size = is_next ? 2 : step->addresses, done = size + 1, pieces = size + 2;
    Inst element = {.element_bytes = 8, .elements = 2};
    const char *problem = has(statement, "reduce") ? select_bulk_element(statement, &element) : NULL;
    if (problem) return problem;
    inst->exec = step->exec;
    inst->kind = step->kind;
    inst->timing = step->kind == INST_LOAD || step->kind == INST_STORE || step->kind == INST_ATOMIC
                       ? TIMING_MEM
                       : TIMING_OTHER;
    inst->space = step->space;
    inst->cache_op = step->cache_op;
    inst->element_bytes = element.element_bytes;
    inst->elements = element.elements;
    inst->detail = step->detail | DETAIL_BULK;
    if (step->kind == INST_ATOMIC) inst->detail |= element.detail & DETAIL_ATOMIC_MASK;
    plan_bulk_addresses(statement, step, inst, plan);
    if (statement->operand_count == 0) return NULL;
    if (is_next) {
        plan->roles[0] = ROLE_DST;
        plan->roles[1] = ROLE_PDST;
        inst->dst_mask = 1;
    }
    plan->roles[size] = plan->roles[done] = ROLE_SRC;
    plan->src_bytes[size] = 4;
    plan->src_bytes[done] = 8;
    plan->roles[pieces] = ROLE_IGNORE;
    inst->detail |= (uint32_t)statement->value[pieces] << DETAIL_PIECE_SHIFT;
    return NULL;
}

/* Of the copy whose pieces follow: those are to begin where lines of what they access do. */
static void select_bulk_begin(const Statement *statement, Inst *inst, OperandPlan *plan) {
    uint8_t bytes = statement->register_bytes[1];
    bool narrow = bytes != 0 && bytes != 8;
    inst->exec = exec_bulk_begin;
    inst->kind = INST_ALU;
    inst->timing = TIMING_INT_ADD;
    inst->space = has(statement, "global") ? SPACE_GLOBAL : SPACE_SHARED;
    inst->detail = narrow ? DETAIL_ADDRESS_32 : 0;
    inst->dst_mask = 1;
    plan->roles[0] = ROLE_DST;
    plan->roles[1] = ROLE_ADDRESS;
    plan->src_bytes[1] = narrow ? 4 : 8;
}

/* cp.async.bulk.commit_group; cp.async.bulk.wait_group{.read} N: the sources of copies are read when they issue, and a
 * warp waits for all its stores. */
static const char *select_bulk_control(const Statement *statement, Inst *inst, OperandPlan *plan) {
    bool counts = has(statement, "wait_group"), reads = counts && has(statement, "read");
    if (statement->modifier_count != 3 + reads || statement->operand_count != counts ||
        (counts && statement->shapes[0] != OPERAND_IMMEDIATE))
        return counts ? "expected a number of groups" : "expected no operands";
    inst->exec = exec_nothing;
    inst->kind = counts && !reads ? INST_FENCE : INST_NOP;
    inst->timing = TIMING_OTHER;
    plan->roles[0] = ROLE_IGNORE;
    return NULL;
}

static const char *select_bulk(const Statement *statement, Inst *inst, OperandPlan *plan) {
    const BulkStep *step = find_bulk_step(statement);
    if (step) return select_bulk_step(statement, step, inst, plan);
    if (!has(statement, BULK_BEGIN)) return select_bulk_control(statement, inst, plan);
    select_bulk_begin(statement, inst, plan);
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
                          : has(statement, "bulk")     ? select_bulk(statement, inst, plan)
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
    print(context, "cp.async .bulk .shared::cluster/.shared .global .mbarrier::complete_tx::bytes "
                   "[.multicast::cluster] [.L2::cache_hint]");
    print(context, "cp.async .bulk .shared::cluster .shared .mbarrier::complete_tx::bytes");
    print(context, "cp.async .bulk .global .shared .bulk_group [.L2::cache_hint]");
    print(context,
          "cp.reduce .async .bulk .global .shared .bulk_group [.L2::cache_hint] .OPERATION [.noftz] .TYPE");
    print(context,
          "cp.reduce .async .bulk .shared::cluster .shared .mbarrier::complete_tx::bytes .OPERATION .TYPE");
    print(context, "cp.async .bulk .prefetch .L2 .global [.L2::cache_hint]");
    print(context, "cp.async .bulk .commit_group/.wait_group [.read]");
}
