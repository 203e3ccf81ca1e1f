#include "core/ptx/instructions/isa.h"

#include "core/ptx/execution/exec_internal.h"
#include "core/ptx/instructions/isa_async.h"
#include "core/ptx/instructions/isa_matrix.h"
#include "core/ptx/instructions/isa_memory.h"
#include "core/ptx/instructions/isa_surface.h"
#include "core/ptx/instructions/isa_texture.h"

#include <stdio.h>
#include <string.h>

/* A modifier that may stand anywhere in the text, and the bits of Inst.detail that it sets. */
typedef struct {
    const char *modifier;
    uint32_t detail;
} Option;

static const Option no_options[] = {{NULL, 0}};
static const Option carry_out[] = {{"cc", DETAIL_CARRY_OUT}, {NULL, 0}};
static const Option ftz[] = {{"ftz", DETAIL_FTZ}, {NULL, 0}};
/* Approximate divisions and roots are computed to full precision, the same as .rn. */
static const Option nearest[] = {{"rn", ROUND_NEAREST}, {"approx", 0}, {"full", 0}, {NULL, 0}};
static const Option approximate[] = {{"approx", 0}, {"ftz", DETAIL_FTZ}, {NULL, 0}};
static const Option modifiers_f32[] = {
    {"rn", ROUND_NEAREST}, {"rz", ROUND_ZERO},  {"rm", ROUND_DOWN},       {"rp", ROUND_UP}, {"approx", 0},
    {"full", 0},           {"ftz", DETAIL_FTZ}, {"sat", DETAIL_SATURATE}, {NULL, 0}};
static const Option modifiers_f64[] = {
    {"rn", ROUND_NEAREST}, {"rz", ROUND_ZERO}, {"rm", ROUND_DOWN}, {"rp", ROUND_UP}, {NULL, 0}};
static const Option to_float[] = {
    {"rn", ROUND_NEAREST}, {"rz", ROUND_ZERO},       {"rm", ROUND_DOWN}, {"rp", ROUND_UP},
    {"ftz", DETAIL_FTZ},   {"sat", DETAIL_SATURATE}, {NULL, 0}};
static const Option to_integer[] = {{"rni", ROUND_NEAREST},
                                    {"rzi", ROUND_ZERO},
                                    {"rmi", ROUND_DOWN},
                                    {"rpi", ROUND_UP},
                                    {"ftz", DETAIL_FTZ},
                                    {"sat", DETAIL_SATURATE},
                                    {NULL, 0}};
static const Option widening[] = {{"ftz", DETAIL_FTZ}, {"sat", DETAIL_SATURATE}, {NULL, 0}};
static const Option shift_amount[] = {{"shiftamt", DETAIL_SHIFT_AMOUNT}, {NULL, 0}};
static const Option half_arithmetic[] = {
    {"rn", 0}, {"ftz", DETAIL_FTZ}, {"sat", DETAIL_SATURATE}, {"relu", DETAIL_RELU}, {NULL, 0}};
static const Option half_min_max[] = {{"ftz", DETAIL_FTZ}, {"NaN", DETAIL_NAN}, {NULL, 0}};
static const Option compare_integer[] = {{"and", BOOLEAN_AND << DETAIL_BOOLEAN_SHIFT},
                                         {"or", BOOLEAN_OR << DETAIL_BOOLEAN_SHIFT},
                                         {"xor", BOOLEAN_XOR << DETAIL_BOOLEAN_SHIFT},
                                         {NULL, 0}};
static const Option compare_float[] = {{"and", BOOLEAN_AND << DETAIL_BOOLEAN_SHIFT},
                                       {"or", BOOLEAN_OR << DETAIL_BOOLEAN_SHIFT},
                                       {"xor", BOOLEAN_XOR << DETAIL_BOOLEAN_SHIFT},
                                       {"ftz", DETAIL_FTZ},
                                       {NULL, 0}};
static const Option sync[] = {{"sync", 0}, {NULL, 0}};
static const Option uniform_branch[] = {{"uni", 0}, {NULL, 0}};
static const Option barrier_options[] = {{"cta", 0}, {"aligned", 0}, {NULL, 0}};
static const Option fence_options[] = {{"sc", 0}, {"acq_rel", 0}, {"acquire", 0}, {"release", 0}, {NULL, 0}};

static const Option proxy_options[] = {{"global", 0}, {"shared", 0}, {"shared::cluster", 0}, {NULL, 0}};
static const Option hint_options[] = {{"global", 0}, {NULL, 0}};

typedef struct {
    const char *opcode, *modifiers;
    const Option *options;
    ExecFn *exec;
    InstKind kind;
    TimingClass timing;
    const char *plan;
    uint32_t detail;
} IsaRow;

ExecFn exec_nothing;
#define ROW(opcode, modifiers, options, handler, timing, plan, detail) ExecFn handler;
#define CONTROL(opcode, modifiers, options, kind, plan, detail)
#define SYSTEM_CALL(name, handler, plan) ExecFn handler;
#include "core/ptx/instructions/isa_rows.def"
#undef ROW
#undef CONTROL
#undef SYSTEM_CALL

static const IsaRow rows[] = {
#define ROW(opcode, modifiers, options, handler, timing, plan, detail)                                       \
    {opcode, modifiers, options, handler, INST_ALU, timing, plan, detail},
#define CONTROL(opcode, modifiers, options, kind, plan, detail)                                              \
    {opcode, modifiers, options, exec_nothing, kind, TIMING_OTHER, plan, detail},
#define SYSTEM_CALL(name, handler, plan)                                                                     \
    {"call", name, no_options, handler, INST_SYSTEM, TIMING_OTHER, plan, 0},
#include "core/ptx/instructions/isa_rows.def"
#undef ROW
#undef CONTROL
#undef SYSTEM_CALL
};

enum { ROW_COUNT = sizeof rows / sizeof *rows };

void isa_format_name(const Statement *statement, char *text, size_t size) {
    size_t length = (size_t)snprintf(text, size, "%s", statement->opcode);
    for (int index = 0; index < statement->modifier_count && length < size; index++) {
        length += (size_t)snprintf(text + length, size - length, ".%s", statement->modifiers[index]);
    }
}

/* Whether `modifier` is one of the words of `pattern` (up to its first blank), which are separated by
 * slashes. */
static bool is_alternative(const char *pattern, const char *modifier) {
    size_t length = strlen(modifier);
    for (const char *word = pattern;;) {
        size_t word_length = strcspn(word, "/ ");
        if (word_length == length && memcmp(word, modifier, length) == 0) return true;
        if (word[word_length] != '/') return false;
        word += word_length + 1;
    }
}

static const char *next_pattern(const char *pattern) {
    pattern += strcspn(pattern, " ");
    return *pattern ? pattern + 1 : pattern;
}

static const Option *find_option(const Option *options, const char *modifier) {
    for (; options->modifier; options++) {
        if (strcmp(options->modifier, modifier) == 0) return options;
    }
    return NULL;
}

static bool modifiers_fit(const IsaRow *row, const Statement *statement, uint32_t *detail) {
    const char *pattern = row->modifiers;
    *detail = row->detail;
    for (int index = 0; index < statement->modifier_count; index++) {
        const char *modifier = statement->modifiers[index];
        if (*pattern && is_alternative(pattern, modifier)) {
            pattern = next_pattern(pattern);
            continue;
        }
        const Option *option = find_option(row->options, modifier);
        if (!option) return false;
        *detail |= option->detail;
    }
    return *pattern == '\0';
}

static bool is_volatile_special(const Statement *statement, int operand) {
    return statement->shapes[operand] == OPERAND_SPECIAL && statement->special >= SPECIAL_CLOCK;
}

/* Whether operand k can be a source of `bytes` (4 or 8) per lane. */
static bool is_source(const Statement *statement, int k, int bytes) {
    switch ((OperandShape)statement->shapes[k]) {
    case OPERAND_REGISTER: return (statement->register_bytes[k] == 8) == (bytes == 8);
    case OPERAND_SPECIAL: return bytes == 4 && !is_volatile_special(statement, k);
    case OPERAND_IMMEDIATE:
    case OPERAND_SYMBOL: return true;
    default: return false;
    }
}

static bool is_half(const Statement *statement, int k) {
    return statement->shapes[k] == OPERAND_IMMEDIATE ||
           (statement->shapes[k] == OPERAND_REGISTER && statement->register_bytes[k] == 2);
}

static bool is_destination(const Statement *statement, int k, int bytes) {
    return statement->shapes[k] == OPERAND_REGISTER && (statement->register_bytes[k] == 8) == (bytes == 8);
}

static bool operand_fits(char letter, const Statement *statement, int k) {
    OperandShape shape = (OperandShape)statement->shapes[k];
    switch (letter) {
    case 'd': return is_destination(statement, k, 4);
    case 'D': return is_destination(statement, k, 8);
    case 'v': return shape == OPERAND_SINK || is_destination(statement, k, 4);
    case 'w': return shape == OPERAND_REGISTER;
    case 'h': return is_half(statement, k);
    case '4':
    case 'f': return is_source(statement, k, 4);
    case '8':
    case 'F': return is_source(statement, k, 8);
    case 'W': return is_source(statement, k, 4) || is_source(statement, k, 8);
    case 'P': return shape == OPERAND_PREDICATE || shape == OPERAND_SINK;
    case 'p': return shape == OPERAND_PREDICATE;
    case 'q': return shape == OPERAND_PREDICATE || shape == OPERAND_IMMEDIATE;
    case 'i': return shape == OPERAND_IMMEDIATE;
    case 'c': return is_volatile_special(statement, k);
    case 'T': return shape == OPERAND_SYMBOL || shape == OPERAND_IMMEDIATE;
    default: return true;
    }
}

/* The alternative of row->plan that fits the operands; NULL when none does. */
static const char *fitting_plan(const IsaRow *row, const Statement *statement, uint32_t detail) {
    bool is_compare = row->options == compare_integer || row->options == compare_float;
    for (const char *plan = row->plan;; plan++) {
        size_t length = strcspn(plan, "|");
        bool fits = (int)length == statement->operand_count;
        /* A compare has a third source exactly when it combines with it. */
        if (is_compare)
            fits = fits && (memchr(plan, 'p', length) != NULL) == ((detail & DETAIL_BOOLEAN) != 0);
        for (int k = 0; fits && k < (int)length; k++)
            fits = operand_fits(plan[k], statement, k);
        if (fits) return plan;
        plan += length;
        if (!*plan) return NULL;
    }
}

static void plan_source(OperandPlan *plan, int k, uint8_t bytes, bool is_float) {
    plan->roles[k] = ROLE_SRC;
    plan->src_bytes[k] = bytes;
    plan->src_is_float[k] = is_float;
}

static void plan_operand(char letter, const Statement *statement, int k, Inst *inst, OperandPlan *plan) {
    bool wide = statement->shapes[k] == OPERAND_REGISTER && statement->register_bytes[k] == 8;
    switch (letter) {
    case 'w':
        inst->detail |= wide ? DETAIL_DESTINATION_WIDE : 0;
        plan->roles[k] = ROLE_DST;
        break;
    case 'd':
    case 'D':
    case 'v': plan->roles[k] = ROLE_DST; break;
    case 'W':
        inst->detail |= wide ? DETAIL_SOURCE_WIDE : 0;
        plan_source(plan, k, wide ? 8 : 4, false);
        break;
    case 'i':
    case 'h':
    case '4': plan_source(plan, k, 4, false); break;
    case '8': plan_source(plan, k, 8, false); break;
    case 'f': plan_source(plan, k, 4, true); break;
    case 'F': plan_source(plan, k, 8, true); break;
    case 'P': plan->roles[k] = ROLE_PDST; break;
    case 'q':
    case 'p': plan->roles[k] = ROLE_PSRC; break;
    case 'T': plan->roles[k] = ROLE_TARGET; break;
    case 'c':
        inst->detail = statement->special;
        plan->roles[k] = ROLE_IGNORE;
        break;
    default: plan->roles[k] = ROLE_IGNORE; break;
    }
}

static void fill_in(const IsaRow *row, const char *letters, uint32_t detail, const Statement *statement,
                    Inst *inst, OperandPlan *plan) {
    inst->exec = row->exec;
    inst->kind = (uint8_t)row->kind;
    inst->timing = (uint8_t)row->timing;
    inst->space = SPACE_NONE;
    inst->cache_op = CACHE_DEFAULT;
    inst->element_bytes = 0;
    inst->elements = 0;
    inst->detail = detail;
    inst->dst_mask = 0;
    for (int k = 0, destination_index = 0; k < statement->operand_count; k++) {
        plan_operand(letters[k], statement, k, inst, plan);
        if (plan->roles[k] != ROLE_DST) continue;
        if (statement->shapes[k] != OPERAND_SINK) inst->dst_mask |= (uint8_t)(1u << destination_index);
        destination_index++;
    }
}

/* No row has these modifiers: finds the one to blame, which no row of the opcode knows, if there is one. */
static const char *unknown_modifier(const Statement *statement) {
    for (int index = 0; index < statement->modifier_count; index++) {
        const char *modifier = statement->modifiers[index];
        bool known = false;
        for (const IsaRow *row = rows; row < rows + ROW_COUNT && !known; row++) {
            if (strcmp(row->opcode, statement->opcode) != 0) continue;
            known = find_option(row->options, modifier) != NULL;
            for (const char *pattern = row->modifiers; *pattern && !known; pattern = next_pattern(pattern)) {
                known = is_alternative(pattern, modifier);
            }
        }
        if (!known) return modifier;
    }
    return NULL;
}

static bool refuse(const Statement *statement, bool opcode_known, const IsaRow *misfit, char *why,
                   size_t why_size) {
    char name[128];
    isa_format_name(statement, name, sizeof name);
    const char *unknown = opcode_known ? unknown_modifier(statement) : NULL;
    if (!opcode_known) {
        snprintf(why, why_size, "opcode '%s' is not supported", statement->opcode);
    } else if (misfit) {
        snprintf(why, why_size, "'%s': operands of another number, width or kind", name);
    } else if (unknown) {
        snprintf(why, why_size, "'%s': modifier '.%s' is not supported", name, unknown);
    } else {
        snprintf(why, why_size, "'%s': this combination of modifiers is not supported", name);
    }
    return false;
}

bool isa_select(const Statement *statement, Inst *inst, OperandPlan *plan, char *why, size_t why_size) {
    if (isa_is_memory(statement->opcode)) return isa_select_memory(statement, inst, plan, why, why_size);
    if (isa_is_texture(statement->opcode)) return isa_select_texture(statement, inst, plan, why, why_size);
    if (isa_is_surface(statement->opcode)) return isa_select_surface(statement, inst, plan, why, why_size);
    if (isa_is_async(statement->opcode)) return isa_select_async(statement, inst, plan, why, why_size);
    if (isa_is_matrix(statement->opcode)) return isa_select_matrix(statement, inst, plan, why, why_size);
    bool opcode_known = false;
    const IsaRow *misfit = NULL;
    for (const IsaRow *row = rows; row < rows + ROW_COUNT; row++) {
        if (strcmp(row->opcode, statement->opcode) != 0) continue;
        opcode_known = true;
        uint32_t detail;
        if (!modifiers_fit(row, statement, &detail)) continue;
        const char *letters = fitting_plan(row, statement, detail);
        if (letters) {
            fill_in(row, letters, detail, statement, inst, plan);
            return true;
        }
        misfit = row;
    }
    return refuse(statement, opcode_known, misfit, why, why_size);
}

bool isa_has_intrinsic(const char *name) {
    for (const IsaRow *row = rows; row < rows + ROW_COUNT; row++)
        if (strcmp(row->opcode, "call") == 0 && strcmp(row->modifiers, name) == 0) return true;
    return false;
}

void isa_print_rows(void (*print)(void *context, const char *row), void *context) {
    for (const IsaRow *row = rows; row < rows + ROW_COUNT; row++) {
        char text[256];
        size_t length = (size_t)snprintf(text, sizeof text, "%s", row->opcode);
        for (const char *pattern = row->modifiers; *pattern; pattern = next_pattern(pattern)) {
            int word = (int)strcspn(pattern, " ");
            length += (size_t)snprintf(text + length, sizeof text - length, ".%.*s", word, pattern);
        }
        for (const Option *option = row->options; option->modifier; option++) {
            length += (size_t)snprintf(text + length, sizeof text - length, " [.%s]", option->modifier);
        }
        print(context, text);
    }
    isa_print_memory(print, context);
    isa_print_texture(print, context);
    isa_print_surface(print, context);
    isa_print_matrix(print, context);
    isa_print_async(print, context);
}
