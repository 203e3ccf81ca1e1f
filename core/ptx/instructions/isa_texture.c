#include "core/ptx/instructions/isa_texture.h"

#include "core/ptx/execution/exec_internal.h"
#include "core/ptx/instructions/isa_memory.h"

#include <stdio.h>
#include <string.h>

ExecFn exec_texture;

typedef struct {
    const char *word, *reason;
} Refusal;

static const Refusal opcodes[] = {
    {"tex", NULL}, /* supported */
    {"tld4", "gathers of one channel are not supported"},
    {"txq", "queries of textures are not supported"},
    {"suld", "surfaces are not supported"},
    {"sust", "surfaces are not supported"},
    {"sured", "surfaces are not supported"},
    {"suq", "surfaces are not supported"},
};

static const Refusal modifiers[] = {
    {"3d", "3D textures are not supported"},          {"a1d", "layered textures are not supported"},
    {"a2d", "layered textures are not supported"},    {"cube", "cubemaps are not supported"},
    {"acube", "cubemaps are not supported"},          {"2dms", "multi-sample textures are not supported"},
    {"a2dms", "layered textures are not supported"},  {"base", "mipmaps are not supported"},
    {"level", "mipmaps are not supported"},           {"grad", "mipmaps are not supported"},
    {"f16x2", "results of .f16x2 are not supported"},
};

static const Refusal *find(const Refusal *list, size_t count, const char *word) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i].word, word) == 0) return &list[i];
    return NULL;
}
#define FIND(list, word) find(list, sizeof list / sizeof *list, word)

bool isa_is_texture(const char *opcode) {
    return FIND(opcodes, opcode) != NULL;
}

/* Takes the next modifier if it is `word`. */
static bool take(const Statement *statement, int *next, const char *word) {
    bool taken = *next < statement->modifier_count && strcmp(statement->modifiers[*next], word) == 0;
    *next += taken;
    return taken;
}

static const char *modifier_problem(const Statement *statement, uint32_t *detail) {
    int next = 0;
    for (int i = 0; i < statement->modifier_count; i++) {
        const Refusal *refusal = FIND(modifiers, statement->modifiers[i]);
        if (refusal) return refusal->reason;
    }
    bool is_2d = take(statement, &next, "2d");
    bool fits = is_2d || take(statement, &next, "1d");
    take(statement, &next, "v4");
    /* The type of the result says nothing that the texture does not know better. */
    fits = fits &&
           (take(statement, &next, "f32") || take(statement, &next, "s32") || take(statement, &next, "u32"));
    bool is_float = take(statement, &next, "f32");
    fits = fits && (is_float || take(statement, &next, "s32")) && next == statement->modifier_count;
    *detail = (is_2d ? DETAIL_TEXTURE_2D : 0) | (is_float ? DETAIL_TEXTURE_FLOAT : 0);
    return fits ? NULL : "expected .1d or .2d, .v4, .f32, .s32 or .u32, and .f32 or .s32";
}

enum { ELEMENTS = 4, HANDLE = ELEMENTS, COORDINATES = HANDLE + 1 };

static bool is_coordinate(const Statement *statement, int k) {
    OperandShape shape = (OperandShape)statement->shapes[k];
    return (shape == OPERAND_REGISTER && statement->register_bytes[k] == 4) || shape == OPERAND_IMMEDIATE;
}

/* Old compilers fill the coordinates up to four. */
static const char *operand_problem(const Statement *statement, int dimensions) {
    int coordinates = statement->operand_count - COORDINATES - statement->trailing;
    if (coordinates < dimensions) return "expected {a, b, c, d}, [texture, {coordinates}]";
    for (int k = 0; k < ELEMENTS; k++) {
        bool fits = statement->shapes[k] == OPERAND_SINK ||
                    (statement->shapes[k] == OPERAND_REGISTER && statement->register_bytes[k] == 4);
        if (!fits) return "expected 32-bit registers for its four results";
    }
    if (statement->shapes[HANDLE] != OPERAND_ADDRESS)
        return "expected {a, b, c, d}, [texture, {coordinates}]";
    uint8_t handle_bytes = statement->register_bytes[HANDLE];
    if (handle_bytes != 0 && handle_bytes != 8) return "expected a handle of 64 bits";
    if (statement->shapes[COORDINATES] == OPERAND_SYMBOL) return "separate samplers are not supported";
    for (int k = COORDINATES; k < COORDINATES + coordinates; k++)
        if (!is_coordinate(statement, k)) return "expected 32-bit registers or numbers as coordinates";
    if (coordinates != dimensions && coordinates != ELEMENTS)
        return "expected a coordinate for each dimension, got more";
    if (statement->trailing) return "offsets and depth comparisons are not supported";
    return NULL;
}

static void plan_operands(const Statement *statement, int dimensions, Inst *inst, OperandPlan *plan) {
    for (int k = 0; k < ELEMENTS; k++) {
        plan->roles[k] = ROLE_DST;
        if (statement->shapes[k] != OPERAND_SINK) inst->dst_mask |= (uint8_t)(1u << k);
    }
    plan->roles[HANDLE] = ROLE_ADDRESS;
    plan->src_bytes[HANDLE] = 8;
    for (int k = COORDINATES; k < statement->operand_count; k++) {
        plan->roles[k] = k < COORDINATES + dimensions ? ROLE_SRC : ROLE_IGNORE;
        plan->src_bytes[k] = 4;
        plan->src_is_float[k] = inst->detail & DETAIL_TEXTURE_FLOAT;
    }
}

bool isa_select_texture(const Statement *statement, Inst *inst, OperandPlan *plan, char *why,
                        size_t why_size) {
    uint32_t detail = 0;
    const char *problem = FIND(opcodes, statement->opcode)->reason;
    if (!problem) problem = modifier_problem(statement, &detail);
    int dimensions = detail & DETAIL_TEXTURE_2D ? 2 : 1;
    if (!problem) problem = operand_problem(statement, dimensions);
    if (problem) {
        char name[128];
        isa_format_name(statement, name, sizeof name);
        snprintf(why, why_size, "'%s': %s", name, problem);
        return false;
    }
    inst->exec = exec_texture;
    inst->kind = INST_LOAD;
    inst->timing = TIMING_MEM;
    inst->space = SPACE_TEXTURE;
    inst->cache_op = CACHE_DEFAULT;
    inst->element_bytes = 4;
    inst->elements = ELEMENTS;
    inst->detail = detail;
    inst->dst_mask = 0;
    plan_operands(statement, dimensions, inst, plan);
    return true;
}

void isa_print_texture(void (*print)(void *context, const char *row), void *context) {
    print(context, "tex .1d/.2d [.v4] .f32/.s32/.u32 .f32/.s32");
}
