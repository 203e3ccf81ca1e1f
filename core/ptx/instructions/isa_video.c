#include "core/ptx/instructions/isa_video.h"

#include "core/ptx/execution/exec_internal.h"
#include "core/ptx/instructions/isa_memory.h"
#include "core/ptx/instructions/video.h"

#include <stdio.h>
#include <string.h>

ExecFn exec_video_scalar, exec_video_product, exec_video_elements;

typedef struct {
    const char *opcode;
    VideoOperation operation;
    int elements;
} VideoOpcode;

#define SCALAR_AND_DIVIDED(name, operation)                                                                  \
    {name, operation, 1}, {name "2", operation, 2}, {                                                        \
        name "4", operation, 4                                                                               \
    }
static const VideoOpcode opcodes[] = {SCALAR_AND_DIVIDED("vadd", VIDEO_ADD),
                                      SCALAR_AND_DIVIDED("vsub", VIDEO_SUB),
                                      SCALAR_AND_DIVIDED("vabsdiff", VIDEO_DIFFERENCE),
                                      SCALAR_AND_DIVIDED("vmin", VIDEO_MIN),
                                      SCALAR_AND_DIVIDED("vmax", VIDEO_MAX),
                                      SCALAR_AND_DIVIDED("vset", VIDEO_COMPARE),
                                      {"vavrg2", VIDEO_AVERAGE, 2},
                                      {"vavrg4", VIDEO_AVERAGE, 4},
                                      {"vshl", VIDEO_SHIFT_LEFT, 1},
                                      {"vshr", VIDEO_SHIFT_RIGHT, 1},
                                      {"vmad", VIDEO_PRODUCT, 1}};

/* A modifier behind the types; of a group one at most may stand. */
typedef struct {
    const char *name;
    uint32_t group, detail;
} VideoModifier;

static const VideoModifier modifiers[] = {
    {"sat", VIDEO_SATURATE, VIDEO_SATURATE},
    {"add", VIDEO_SECOND, VIDEO_SECOND_ADD},
    {"min", VIDEO_SECOND, VIDEO_SECOND_MIN},
    {"max", VIDEO_SECOND, VIDEO_SECOND_MAX},
    {"clamp", VIDEO_MODE, VIDEO_CLAMP},
    {"wrap", VIDEO_MODE, VIDEO_WRAP},
    {"po", VIDEO_PLUS_ONE, VIDEO_PLUS_ONE},
    {"shr7", VIDEO_SCALE, 7 << VIDEO_SCALE_SHIFT},
    {"shr15", VIDEO_SCALE, 15 << VIDEO_SCALE_SHIFT},
    {"eq", VIDEO_RELATION, VIDEO_EQ},
    {"ne", VIDEO_RELATION, VIDEO_NE},
    {"lt", VIDEO_RELATION, VIDEO_LT},
    {"le", VIDEO_RELATION, VIDEO_LE},
    {"gt", VIDEO_RELATION, VIDEO_GT},
    {"ge", VIDEO_RELATION, VIDEO_GE},
};

static const VideoOpcode *find_opcode(const char *name) {
    for (size_t i = 0; i < sizeof opcodes / sizeof *opcodes; i++)
        if (strcmp(opcodes[i].opcode, name) == 0) return &opcodes[i];
    return NULL;
}

static bool is_type(const char *modifier) {
    return strcmp(modifier, "u32") == 0 || strcmp(modifier, "s32") == 0;
}

/* What may stand behind the types: groups that may, and those that must. */
static void groups_of(const VideoOpcode *opcode, uint32_t *allowed, uint32_t *needed) {
    *needed = 0;
    *allowed = VIDEO_SATURATE | VIDEO_SECOND;
    switch (opcode->operation) {
    case VIDEO_COMPARE:
        *needed = VIDEO_RELATION;
        *allowed = VIDEO_SECOND;
        break;
    case VIDEO_PRODUCT: *allowed = VIDEO_SATURATE | VIDEO_PLUS_ONE | VIDEO_SCALE; break;
    case VIDEO_SHIFT_LEFT:
    case VIDEO_SHIFT_RIGHT: *needed = VIDEO_MODE; break;
    default: break;
    }
    *allowed |= *needed;
}

/* NULL, or what is expected. */
static const char *read_modifiers(const Statement *statement, const VideoOpcode *opcode, uint32_t *detail) {
    static const uint32_t signs[] = {VIDEO_SIGNED_D, VIDEO_SIGNED_A, VIDEO_SIGNED_B};
    bool compares = opcode->operation == VIDEO_COMPARE,
         shifts = opcode->operation == VIDEO_SHIFT_LEFT || opcode->operation == VIDEO_SHIFT_RIGHT;
    int types = compares ? 2 : 3, index = 0;
    uint32_t allowed, needed, seen = 0;
    *detail = (uint32_t)opcode->operation;
    groups_of(opcode, &allowed, &needed);
    for (; index < types && index < statement->modifier_count && is_type(statement->modifiers[index]);
         index++)
        if (*statement->modifiers[index] == 's') *detail |= signs[index + compares];
    if (index < types)
        return compares ? "expected two types, .u32 or .s32" : "expected three types, .u32 or .s32";
    if (shifts && *detail & VIDEO_SIGNED_B) return "expected .u32 as the type of the amount";
    for (; index < statement->modifier_count; index++) {
        const VideoModifier *found = NULL;
        for (size_t i = 0; i < sizeof modifiers / sizeof *modifiers && !found; i++)
            if (strcmp(modifiers[i].name, statement->modifiers[index]) == 0) found = &modifiers[i];
        if (!found || !(allowed & found->group) || seen & found->group) return "unexpected modifier";
        seen |= found->group;
        *detail |= found->detail;
    }
    if (needed & ~seen)
        return compares ? "expected .eq, .ne, .lt, .le, .gt or .ge" : "expected .clamp or .wrap";
    bool second = *detail & VIDEO_SECOND;
    if (opcode->elements > 1 && second && (*detail & VIDEO_SECOND) != VIDEO_SECOND_ADD)
        return "expected .add as the second operation";
    if (opcode->elements > 1 && second && *detail & VIDEO_SATURATE) return ".sat excludes .add";
    return NULL;
}

/* Behind d, a and b stand c, where there is one, and the number of the selectors. */
static const char *operand_problem(const Statement *statement, const VideoOpcode *opcode, uint32_t detail) {
    int count = statement->operand_count, selectors = count - 1;
    if (count < 4 || statement->shapes[selectors] != OPERAND_IMMEDIATE)
        return "expected two or three sources";
    uint32_t packed = (uint32_t)statement->value[selectors];
    bool merges = opcode->elements == 1 && packed & VIDEO_D_MASK, second = detail & VIDEO_SECOND;
    bool has_third = merges || second || opcode->elements > 1 || opcode->operation == VIDEO_PRODUCT;
    if (opcode->operation == VIDEO_PRODUCT && merges) return "expected a destination without a selector";
    if (merges && second) return "a destination with a selector excludes a second operation";
    if (count != 4 + has_third) return has_third ? "expected three sources" : "expected two sources";
    bool negates = packed & (VIDEO_NEGATES_PRODUCT | VIDEO_NEGATES_SUM);
    if (negates && detail & VIDEO_PLUS_ONE) return ".po excludes negated sources";
    if (statement->shapes[0] != OPERAND_REGISTER || statement->register_bytes[0] != 4)
        return "expected a destination of 32 bits";
    for (int k = 1; k < selectors; k++) {
        bool fits = statement->shapes[k] == OPERAND_IMMEDIATE ||
                    (statement->shapes[k] == OPERAND_REGISTER && statement->register_bytes[k] == 4);
        if (!fits) return "expected sources of 32 bits";
    }
    return NULL;
}

bool isa_is_video(const char *opcode) {
    return find_opcode(opcode) != NULL;
}

bool isa_select_video(const Statement *statement, Inst *inst, OperandPlan *plan, char *why, size_t why_size) {
    const VideoOpcode *opcode = find_opcode(statement->opcode);
    uint32_t detail;
    const char *problem = read_modifiers(statement, opcode, &detail);
    if (!problem) problem = operand_problem(statement, opcode, detail);
    if (problem) {
        char name[128];
        isa_format_name(statement, name, sizeof name);
        snprintf(why, why_size, "'%s': %s", name, problem);
        return false;
    }
    inst->exec = opcode->elements > 1                 ? exec_video_elements
                 : opcode->operation == VIDEO_PRODUCT ? exec_video_product
                                                      : exec_video_scalar;
    inst->kind = INST_ALU;
    inst->timing = opcode->operation == VIDEO_PRODUCT ? TIMING_INT_MAD : TIMING_INT_ADD;
    inst->space = SPACE_NONE;
    inst->cache_op = CACHE_DEFAULT;
    inst->element_bytes = 0;
    inst->elements = 0;
    inst->dst_mask = 1;
    inst->detail = detail | (opcode->elements == 4 ? VIDEO_FOUR : 0);
    plan->roles[0] = ROLE_DST;
    for (int k = 1; k < statement->operand_count; k++) {
        plan->roles[k] = ROLE_SRC;
        plan->src_bytes[k] = 4;
        plan->src_is_float[k] = false;
    }
    return true;
}

void isa_print_video(void (*print)(void *context, const char *row), void *context) {
    static const char types[] = ".u32/s32.u32/s32.u32/s32";
    for (size_t i = 0; i < sizeof opcodes / sizeof *opcodes; i++) {
        const VideoOpcode *opcode = &opcodes[i];
        const char *second = opcode->elements > 1 ? "" : " [.add] [.min] [.max]";
        char text[160];
        if (opcode->operation == VIDEO_COMPARE)
            snprintf(text, sizeof text, "%s.u32/s32.u32/s32.eq/ne/lt/le/gt/ge%s", opcode->opcode,
                     opcode->elements > 1 ? " [.add]" : second);
        else if (opcode->operation == VIDEO_PRODUCT)
            snprintf(text, sizeof text, "%s%s [.po] [.sat] [.shr7] [.shr15]", opcode->opcode, types);
        else if (opcode->operation == VIDEO_SHIFT_LEFT || opcode->operation == VIDEO_SHIFT_RIGHT)
            snprintf(text, sizeof text, "%s.u32/s32.u32/s32.u32.clamp/wrap [.sat]%s", opcode->opcode, second);
        else
            snprintf(text, sizeof text, "%s%s [.sat]%s", opcode->opcode, types, second);
        print(context, text);
        if (opcode->elements == 1 || opcode->operation == VIDEO_COMPARE) continue;
        snprintf(text, sizeof text, "%s%s.add", opcode->opcode, types);
        print(context, text);
    }
}
