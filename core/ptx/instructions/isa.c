#include "core/ptx/instructions/isa.h"

#include "core/ptx/execution/exec_internal.h"
#include "core/ptx/instructions/isa_async.h"
#include "core/ptx/instructions/isa_matrix.h"
#include "core/ptx/instructions/isa_mbarrier.h"
#include "core/ptx/instructions/isa_memory.h"
#include "core/ptx/instructions/isa_surface.h"
#include "core/ptx/instructions/isa_texture.h"
#include "core/ptx/instructions/isa_video.h"

#include <stdio.h>
#include <string.h>

/* Of the options of a row marked CHOICE at most one stands, of those marked NEEDED exactly one. */
typedef enum { FREE, CHOICE, NEEDED } OptionRule;

/* A modifier that may stand anywhere in the text, and the bits of Inst.detail that it sets. */
typedef struct {
    const char *modifier;
    uint32_t detail;
    OptionRule rule;
} Option;

#define ROUNDINGS(rule)                                                                                      \
    {"rn", ROUND_NEAREST, rule}, {"rz", ROUND_ZERO, rule}, {"rm", ROUND_DOWN, rule}, {                       \
        "rp", ROUND_UP, rule                                                                                 \
    }
#define INTEGRAL_ROUNDINGS                                                                                   \
    {"rni", ROUND_NEAREST | DETAIL_INTEGRAL, NEEDED}, {"rzi", ROUND_ZERO | DETAIL_INTEGRAL, NEEDED},         \
        {"rmi", ROUND_DOWN | DETAIL_INTEGRAL, NEEDED}, {                                                     \
        "rpi", ROUND_UP | DETAIL_INTEGRAL, NEEDED                                                            \
    }
#define FLUSHING                                                                                             \
    { "ftz", DETAIL_FTZ, FREE }
#define SATURATING                                                                                           \
    { "sat", DETAIL_SATURATE, FREE }
#define POSITIVE                                                                                             \
    { "relu", DETAIL_RELU, FREE }
#define FINITE                                                                                               \
    { "satfinite", DETAIL_SATFINITE, FREE }
#define END                                                                                                  \
    { NULL, 0, FREE }

static const Option no_options[] = {END};
static const Option carry_out[] = {{"cc", DETAIL_CARRY_OUT, FREE}, END};
static const Option ftz[] = {FLUSHING, END};
static const Option sat[] = {SATURATING, END};
static const Option relu[] = {POSITIVE, END};
static const Option positive[] = {{"relu", DETAIL_RELU, NEEDED}, END};
static const Option nearest[] = {{"rn", ROUND_NEAREST, FREE}, END};
/* Approximate divisions and roots are computed to full precision, the same as .rn. */
static const Option nearest_root[] = {
    {"rn", ROUND_NEAREST, CHOICE}, {"approx", 0, CHOICE}, {"full", 0, CHOICE}, END};
static const Option approximate[] = {{"approx", 0, FREE}, FLUSHING, END};
static const Option modifiers_f32[] = {ROUNDINGS(CHOICE), FLUSHING, SATURATING, END};
static const Option modifiers_root[] = {
    ROUNDINGS(CHOICE), {"approx", 0, CHOICE}, {"full", 0, CHOICE}, FLUSHING, SATURATING, END};
static const Option rounded_sum[] = {ROUNDINGS(CHOICE), SATURATING, END};
static const Option rounded_pair[] = {ROUNDINGS(CHOICE), FLUSHING, END};
static const Option modifiers_f64[] = {ROUNDINGS(CHOICE), END};
/* Conversions. */
static const Option rounded[] = {ROUNDINGS(NEEDED), END};
static const Option rounded_ftz[] = {ROUNDINGS(NEEDED), FLUSHING, END};
static const Option rounded_sat[] = {ROUNDINGS(NEEDED), SATURATING, END};
static const Option rounded_f32[] = {ROUNDINGS(NEEDED), FLUSHING, SATURATING, END};
static const Option exchanged[] = {ROUNDINGS(CHOICE), END};
static const Option rounded_relu[] = {
    {"rn", ROUND_NEAREST, NEEDED}, {"rz", ROUND_ZERO, NEEDED}, POSITIVE, FINITE, END};
static const Option rounded_power[] = {{"rz", ROUND_ZERO, NEEDED}, {"rp", ROUND_UP, NEEDED}, FINITE, END};
static const Option rounded_away[] = {{"rna", ROUND_AWAY, NEEDED}, FINITE, END};
static const Option integral[] = {INTEGRAL_ROUNDINGS, END};
static const Option integral_sat[] = {INTEGRAL_ROUNDINGS, SATURATING, END};
static const Option integral_f32[] = {INTEGRAL_ROUNDINGS, FLUSHING, SATURATING, END};
static const Option widening[] = {FLUSHING, SATURATING, END};

static const Option shift_amount[] = {{"shiftamt", DETAIL_SHIFT_AMOUNT, FREE}, END};
static const Option half_rounded[] = {{"rn", 0, FREE}, FLUSHING, SATURATING, END};
static const Option number_extremes[] = {FLUSHING, {"NaN", DETAIL_NAN, FREE}, END};
static const Option magnitudes[] = {{"abs", DETAIL_MAGNITUDE, FREE}, {"NaN", DETAIL_NAN, FREE}, END};
static const Option brain_extremes[] = {{"NaN", DETAIL_NAN, FREE}, END};
#define BOOLEANS                                                                                             \
    {"and", BOOLEAN_AND << DETAIL_BOOLEAN_SHIFT, CHOICE},                                                    \
        {"or", BOOLEAN_OR << DETAIL_BOOLEAN_SHIFT, CHOICE}, {                                                \
        "xor", BOOLEAN_XOR << DETAIL_BOOLEAN_SHIFT, CHOICE                                                   \
    }
static const Option compare_integer[] = {BOOLEANS, END};
static const Option compare_float[] = {BOOLEANS, FLUSHING, END};
static const Option sync[] = {{"sync", 0, FREE}, END};
static const Option uniform_branch[] = {{"uni", 0, FREE}, END};
static const Option barrier_options[] = {{"cta", 0, FREE}, {"aligned", 0, FREE}, END};
static const Option cluster_arrival[] = {
    {"release", 0, CHOICE}, {"relaxed", 0, CHOICE}, {"aligned", 0, FREE}, END};
static const Option cluster_wait[] = {{"acquire", 0, FREE}, {"aligned", 0, FREE}, END};
static const Option cluster_space[] = {{"shared::cluster", 0, FREE}, END};
static const Option fence_options[] = {
    {"sc", 0, CHOICE}, {"acq_rel", 0, CHOICE}, {"acquire", 0, CHOICE}, {"release", 0, CHOICE}, END};

static const Option proxy_options[] = {
    {"global", 0, CHOICE}, {"shared", 0, CHOICE}, {"shared::cluster", 0, CHOICE}, END};
static const Option hint_options[] = {{"global", 0, FREE}, END};

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

enum { ROW_COUNT = sizeof rows / sizeof *rows, ROW_TEXT = 256 };

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

/* Whether a row needs one of its options. */
static bool is_choice_needed(const Option *options) {
    for (; options->modifier; options++)
        if (options->rule == NEEDED) return true;
    return false;
}

static bool modifiers_fit(const IsaRow *row, const Statement *statement, uint32_t *detail) {
    const char *pattern = row->modifiers;
    uint32_t seen = 0;
    int choices = 0;
    *detail = row->detail;
    for (int index = 0; index < statement->modifier_count; index++) {
        const char *modifier = statement->modifiers[index];
        if (*pattern && is_alternative(pattern, modifier)) {
            pattern = next_pattern(pattern);
            continue;
        }
        const Option *option = find_option(row->options, modifier);
        if (!option || seen >> (option - row->options) & 1) return false;
        seen |= 1u << (option - row->options);
        choices += option->rule != FREE;
        *detail |= option->detail;
    }
    return *pattern == '\0' && choices <= 1 && (choices == 1 || !is_choice_needed(row->options));
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

static bool is_part(const Statement *statement, int k, int bytes) {
    return statement->shapes[k] == OPERAND_IMMEDIATE ||
           (statement->shapes[k] == OPERAND_REGISTER && statement->register_bytes[k] == bytes);
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
    case 'x': return shape == OPERAND_SINK || is_destination(statement, k, 8);
    case 'w': return shape == OPERAND_REGISTER;
    case 'h': return is_part(statement, k, 2);
    case 'b': return is_part(statement, k, 1);
    case '4':
    case 'f': return is_source(statement, k, 4);
    case '8':
    case 'F': return is_source(statement, k, 8);
    case 'W': return is_source(statement, k, 4) || is_source(statement, k, 8);
    case 'P': return shape == OPERAND_PREDICATE || shape == OPERAND_SINK;
    case 'p': return shape == OPERAND_PREDICATE || shape == OPERAND_IMMEDIATE;
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
    case 'x':
    case 'v': plan->roles[k] = ROLE_DST; break;
    case 'W':
        inst->detail |= wide ? DETAIL_SOURCE_WIDE : 0;
        plan_source(plan, k, wide ? 8 : 4, false);
        break;
    case 'h':
    case 'b':
    case '4': plan_source(plan, k, 4, false); break;
    case '8': plan_source(plan, k, 8, false); break;
    case 'f': plan_source(plan, k, 4, true); break;
    case 'F': plan_source(plan, k, 8, true); break;
    case 'P': plan->roles[k] = ROLE_PDST; break;
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

/* "b64", and neither "lo" nor "L2". */
static bool begins_with_type(const char *pattern) {
    return *pattern >= 'a' && strcspn(pattern, "0123456789") < strcspn(pattern, "/ ");
}

/* Whether the types of a row stand in the statement in their order. */
static bool has_types(const IsaRow *row, const Statement *statement) {
    int index = 0;
    for (const char *pattern = row->modifiers; *pattern; pattern = next_pattern(pattern)) {
        if (!begins_with_type(pattern)) continue;
        while (index < statement->modifier_count && !is_alternative(pattern, statement->modifiers[index]))
            index++;
        if (index++ == statement->modifier_count) return false;
    }
    return true;
}

/* "cvt.rn/rz.f16.f32 [.relu]": what of the options is needed stands in front. */
static void format_row(const IsaRow *row, char *text, size_t size) {
    size_t length = (size_t)snprintf(text, size, "%s", row->opcode);
    const char *between = ".";
    for (const Option *option = row->options; option->modifier && length < size; option++) {
        if (option->rule != NEEDED) continue;
        length += (size_t)snprintf(text + length, size - length, "%s%s", between, option->modifier);
        between = "/";
    }
    for (const char *pattern = row->modifiers; *pattern && length < size; pattern = next_pattern(pattern)) {
        int word = (int)strcspn(pattern, " ");
        length += (size_t)snprintf(text + length, size - length, ".%.*s", word, pattern);
    }
    for (const Option *option = row->options; option->modifier && length < size; option++) {
        if (option->rule == NEEDED) continue;
        length += (size_t)snprintf(text + length, size - length, " [.%s]", option->modifier);
    }
}

/* "; expected ROW or ROW", the rows of these types as far as there is room; nothing where there is none. */
static void format_expected(const Statement *statement, char *text, size_t size) {
    static const char others[] = " or others";
    const char *between = "; expected ";
    char last[ROW_TEXT] = "";
    size_t length = 0;
    *text = '\0';
    for (const IsaRow *row = rows; row < rows + ROW_COUNT; row++) {
        if (strcmp(row->opcode, statement->opcode) != 0 || !has_types(row, statement)) continue;
        char legal[ROW_TEXT];
        format_row(row, legal, sizeof legal);
        if (strcmp(legal, last) == 0) continue; /* of the same form with operands of another width */
        memcpy(last, legal, sizeof last);
        size_t more = strlen(between) + strlen(legal);
        if (length + more + sizeof others > size) {
            memcpy(text + length, others, sizeof others);
            return;
        }
        length += (size_t)snprintf(text + length, size - length, "%s%s", between, legal);
        between = " or ";
    }
}

static bool refuse(const Statement *statement, bool opcode_known, const IsaRow *misfit, char *why,
                   size_t why_size) {
    char name[128], expected[320];
    isa_format_name(statement, name, sizeof name);
    const char *unknown = opcode_known ? unknown_modifier(statement) : NULL;
    format_expected(statement, expected, sizeof expected);
    if (!opcode_known) {
        snprintf(why, why_size, "opcode '%s' is not supported", statement->opcode);
    } else if (misfit) {
        snprintf(why, why_size, "'%s': operands of another number, width or kind", name);
    } else if (unknown) {
        snprintf(why, why_size, "'%s': modifier '.%s' is not supported%s", name, unknown, expected);
    } else {
        snprintf(why, why_size, "'%s': this combination of modifiers is not supported%s", name, expected);
    }
    return false;
}

bool isa_select(const Statement *statement, Inst *inst, OperandPlan *plan, char *why, size_t why_size) {
    if (isa_is_memory(statement->opcode)) return isa_select_memory(statement, inst, plan, why, why_size);
    if (isa_is_texture(statement->opcode)) return isa_select_texture(statement, inst, plan, why, why_size);
    if (isa_is_surface(statement->opcode)) return isa_select_surface(statement, inst, plan, why, why_size);
    if (isa_is_async(statement->opcode)) return isa_select_async(statement, inst, plan, why, why_size);
    if (isa_is_mbarrier(statement->opcode)) return isa_select_mbarrier(statement, inst, plan, why, why_size);
    if (isa_is_matrix(statement->opcode)) return isa_select_matrix(statement, inst, plan, why, why_size);
    if (isa_is_video(statement->opcode)) return isa_select_video(statement, inst, plan, why, why_size);
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
        char text[ROW_TEXT];
        format_row(row, text, sizeof text);
        print(context, text);
    }
    isa_print_memory(print, context);
    isa_print_texture(print, context);
    isa_print_surface(print, context);
    isa_print_matrix(print, context);
    isa_print_async(print, context);
    isa_print_mbarrier(print, context);
    isa_print_video(print, context);
}
