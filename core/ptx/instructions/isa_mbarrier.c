#include "core/ptx/instructions/isa_mbarrier.h"

#include "core/ptx/execution/exec_internal.h"
#include "core/ptx/execution/mbarrier.h"
#include "core/ptx/instructions/isa_memory.h"

#include <stdio.h>
#include <string.h>

ExecFn exec_mbarrier, exec_mbarrier_wait, exec_mbarrier_pending;

/* Operands before and behind the address: a state or sink, a predicate; a count, a state, a parity, a hint. */
typedef struct {
    const char *name, *modifier; /* modifier: one of those below that the form has, or NULL */
    uint8_t operation;           /* MbarrierOp */
    bool has_state, has_predicate;
    uint8_t least, most; /* operands behind the address */
    uint8_t first_bytes; /* width of the first of them */
} Form;

static const Form forms[] = {
    {"init", NULL, MBARRIER_INIT, false, false, 1, 1, 4},
    {"inval", NULL, MBARRIER_INVAL, false, false, 0, 0, 0},
    {"expect_tx", NULL, MBARRIER_EXPECT_TX, false, false, 1, 1, 4},
    {"complete_tx", NULL, MBARRIER_COMPLETE_TX, false, false, 1, 1, 4},
    {"arrive", NULL, MBARRIER_ARRIVE, true, false, 0, 1, 4},
    {"arrive", "noComplete", MBARRIER_ARRIVE, true, false, 1, 1, 4},
    {"arrive", "expect_tx", MBARRIER_ARRIVE_EXPECT_TX, true, false, 1, 1, 4},
    {"arrive_drop", NULL, MBARRIER_DROP, true, false, 0, 1, 4},
    {"arrive_drop", "noComplete", MBARRIER_DROP, true, false, 1, 1, 4},
    {"arrive_drop", "expect_tx", MBARRIER_DROP_EXPECT_TX, true, false, 1, 1, 4},
    {"test_wait", NULL, MBARRIER_WAIT, false, true, 1, 1, 8},
    {"test_wait", "parity", MBARRIER_WAIT_PARITY, false, true, 1, 1, 4},
    {"try_wait", NULL, MBARRIER_WAIT, false, true, 1, 2, 8},
    {"try_wait", "parity", MBARRIER_WAIT_PARITY, false, true, 1, 2, 4},
};

static bool is_one_of(const char *word, const char *const *words) {
    while (*words && strcmp(word, *words) != 0)
        words++;
    return *words != NULL;
}

/* The form, or NULL; *modifier: one that no form has. */
static const Form *find_form(const Statement *statement, const char **unknown) {
    static const char *const free[] = {"relaxed", "acquire",     "release",         "cta", "cluster",
                                       "shared",  "shared::cta", "shared::cluster", "b64", NULL};
    static const char *const telling[] = {"noComplete", "expect_tx", "parity", NULL};
    const char *modifier = NULL;
    *unknown = NULL;
    for (int i = 1; i < statement->modifier_count; i++) {
        const char *word = statement->modifiers[i];
        if (is_one_of(word, telling) && !modifier)
            modifier = word;
        else if (!is_one_of(word, free))
            *unknown = word;
    }
    if (*unknown || !statement->modifier_count) return NULL;
    for (const Form *form = forms; form < forms + sizeof forms / sizeof *forms; form++) {
        bool same = form->modifier && modifier ? strcmp(form->modifier, modifier) == 0
                                               : form->modifier == modifier;
        if (same && strcmp(form->name, statement->modifiers[0]) == 0) return form;
    }
    return NULL;
}

void isa_plan_mbarrier(const Statement *statement, int k, Inst *inst, OperandPlan *plan) {
    uint8_t bytes = statement->register_bytes[k];
    bool narrow = bytes != 0 && bytes != 8, shared = false;
    for (int i = 0; i < statement->modifier_count; i++)
        shared |= strncmp(statement->modifiers[i], "shared", strlen("shared")) == 0;
    inst->space = shared ? SPACE_SHARED : SPACE_GENERIC;
    inst->detail |= narrow ? DETAIL_ADDRESS_32 : 0;
    plan->roles[k] = ROLE_ADDRESS;
    plan->src_bytes[k] = narrow ? 4 : 8;
}

static bool is_value(const Statement *statement, int k, uint8_t bytes) {
    if (statement->shapes[k] == OPERAND_IMMEDIATE) return bytes == 4;
    return statement->shapes[k] == OPERAND_REGISTER && (statement->register_bytes[k] == 8) == (bytes == 8);
}

static const char *select_form(const Statement *statement, const Form *form, Inst *inst, OperandPlan *plan) {
    int address = form->has_state || form->has_predicate, behind = statement->operand_count - address - 1;
    if (behind < form->least || behind > form->most || statement->shapes[address] != OPERAND_ADDRESS)
        return form->has_state       ? "expected a state or '_', [address] and a count"
               : form->has_predicate ? "expected a predicate, [address] and a state or parity"
                                     : "expected [address] and a count";
    if (behind && !is_value(statement, address + 1, form->first_bytes))
        return form->first_bytes == 8 ? "expected a state in a register of 64 bits"
                                      : "expected a number of 32 bits";
    if (form->has_state) {
        bool sink = statement->shapes[0] == OPERAND_SINK;
        if (!sink && !is_value(statement, 0, 8)) return "expected a state in a register of 64 bits";
        plan->roles[0] = ROLE_DST;
        inst->dst_mask = !sink;
    }
    if (form->has_predicate) plan->roles[0] = ROLE_PDST;
    inst->exec = form->has_predicate ? exec_mbarrier_wait : exec_mbarrier;
    inst->kind = form->operation <= MBARRIER_INVAL ? INST_STORE : INST_ATOMIC;
    inst->timing = TIMING_MEM;
    inst->element_bytes = MBARRIER_BYTES;
    inst->elements = 1;
    inst->detail = form->operation | DETAIL_MBARRIER;
    isa_plan_mbarrier(statement, address, inst, plan);
    if (behind) plan->roles[address + 1] = ROLE_SRC;
    plan->src_bytes[address + 1] = form->first_bytes;
    if (behind == 2) plan->roles[address + 2] = ROLE_IGNORE; /* how long it may suspend the thread */
    return NULL;
}

/* count, state */
static const char *select_pending(const Statement *statement, Inst *inst, OperandPlan *plan) {
    if (statement->operand_count != 2 || statement->shapes[0] != OPERAND_REGISTER ||
        !is_value(statement, 0, 4) || !is_value(statement, 1, 8))
        return "expected a register of 32 bits and a state";
    inst->exec = exec_mbarrier_pending;
    inst->kind = INST_ALU;
    inst->timing = TIMING_OTHER;
    inst->space = SPACE_NONE;
    inst->dst_mask = 1;
    plan->roles[0] = ROLE_DST;
    plan->roles[1] = ROLE_SRC;
    plan->src_bytes[1] = 8;
    return NULL;
}

bool isa_is_mbarrier(const char *opcode) {
    return strcmp(opcode, "mbarrier") == 0;
}

bool isa_select_mbarrier(const Statement *statement, Inst *inst, OperandPlan *plan, char *why,
                         size_t why_size) {
    const char *unknown, *problem;
    const Form *form = find_form(statement, &unknown);
    bool pending = statement->modifier_count == 2 && strcmp(statement->modifiers[0], "pending_count") == 0;
    char name[128];
    inst->cache_op = CACHE_DEFAULT;
    inst->element_bytes = inst->elements = 0;
    inst->detail = 0;
    inst->dst_mask = 0;
    if (form || pending) {
        problem = form ? select_form(statement, form, inst, plan) : select_pending(statement, inst, plan);
        if (!problem) return true;
    } else {
        problem = "this combination of modifiers is not supported";
    }
    isa_format_name(statement, name, sizeof name);
    if (unknown)
        snprintf(why, why_size, "'%s': modifier '.%s' is not supported", name, unknown);
    else
        snprintf(why, why_size, "'%s': %s", name, problem);
    return false;
}

void isa_print_mbarrier(void (*print)(void *context, const char *row), void *context) {
    print(context, "mbarrier .init/.inval/.expect_tx/.complete_tx [.SEM] [.SCOPE] [.shared] .b64");
    print(context, "mbarrier .arrive/.arrive_drop [.expect_tx/.noComplete] [.SEM] [.SCOPE] [.shared] .b64");
    print(context, "mbarrier .test_wait/.try_wait [.parity] [.SEM] [.SCOPE] [.shared] .b64");
    print(context, "mbarrier .pending_count .b64");
}
