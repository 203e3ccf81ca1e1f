#include "core/ptx/instructions/isa_texture.h"

#include "core/ptx/execution/exec_internal.h"
#include "core/ptx/instructions/isa_memory.h"

#include <stdio.h>
#include <string.h>

ExecFn exec_texture, exec_texture_query;

typedef struct {
    const char *word, *reason;
} Refusal;

static const Refusal refused_modifiers[] = {
    {"2dms", "multi-sample textures are not supported"},
    {"a2dms", "multi-sample textures are not supported"},
    {"f16x2", "results of .f16x2 are not supported"},
};

typedef struct {
    const char *word;
    uint8_t axes;
    bool layered, cube;
} Geometry;

static const Geometry geometries[] = {
    {"1d", 1, false, false}, {"2d", 2, false, false},  {"3d", 3, false, false},  {"a1d", 1, true, false},
    {"a2d", 2, true, false}, {"cube", 3, false, true}, {"acube", 3, true, true},
};

typedef struct {
    const char *word;
    TextureQuery query;
} Query;

static const Query queries[] = {
    {"width", QUERY_WIDTH},
    {"height", QUERY_HEIGHT},
    {"depth", QUERY_DEPTH},
    {"array_size", QUERY_ARRAY_SIZE},
    {"channel_data_type", QUERY_CHANNEL_TYPE},
    {"channel_order", QUERY_CHANNEL_ORDER},
    {"memory_layout", QUERY_LAYOUT},
    {"num_mipmap_levels", QUERY_LEVELS},
    {"num_samples", QUERY_SAMPLES},
    {"normalized_coords", QUERY_NORMALIZED},
    {"force_unnormalized_coords", QUERY_UNNORMALIZED},
    {"filter_mode", QUERY_FILTER},
    {"addr_mode_0", QUERY_ADDRESS_0},
    {"addr_mode_1", QUERY_ADDRESS_1},
    {"addr_mode_2", QUERY_ADDRESS_2},
};
#define COUNT(list) (sizeof list / sizeof *list)

bool isa_is_texture(const char *opcode) {
    return !strcmp(opcode, "tex") || !strcmp(opcode, "tld4") || !strcmp(opcode, "txq") ||
           !strcmp(opcode, "suq");
}

/* What lies behind the brackets: none of it matters, since a texture has one level. */
typedef enum { LEVEL_NONE, LEVEL_GIVEN, LEVEL_OF_GRADIENTS } Level;

typedef struct {
    const Geometry *geometry;
    Level level;
    bool is_gather;
    uint32_t component;
    bool is_float; /* coordinates */
} Fetch;

/* Takes the next modifier if it is `word`. */
static bool take(const Statement *statement, int *next, const char *word) {
    bool taken = *next < statement->modifier_count && strcmp(statement->modifiers[*next], word) == 0;
    *next += taken;
    return taken;
}

static void take_component(const Statement *statement, int *next, Fetch *fetch) {
    static const char *const components[] = {"r", "g", "b", "a"};
    for (uint32_t i = 0; i < COUNT(components); i++)
        if (take(statement, next, components[i])) fetch->component = i;
}

static void take_level(const Statement *statement, int *next, Fetch *fetch) {
    if (take(statement, next, "level"))
        fetch->level = LEVEL_GIVEN;
    else if (take(statement, next, "grad"))
        fetch->level = LEVEL_OF_GRADIENTS;
    else
        take(statement, next, "base");
}

/* The type of the result says nothing that the texture does not know better. */
static bool take_types(const Statement *statement, int *next, Fetch *fetch) {
    bool fits = take(statement, next, "f32") || take(statement, next, "s32") || take(statement, next, "u32");
    fetch->is_float = take(statement, next, "f32");
    return fits && (fetch->is_float || take(statement, next, "s32")) && *next == statement->modifier_count;
}

static const char *modifier_problem(const Statement *statement, Fetch *fetch) {
    int next = 0;
    for (int i = 0; i < statement->modifier_count; i++)
        for (size_t r = 0; r < COUNT(refused_modifiers); r++)
            if (!strcmp(statement->modifiers[i], refused_modifiers[r].word))
                return refused_modifiers[r].reason;
    fetch->is_gather = !strcmp(statement->opcode, "tld4");
    if (fetch->is_gather)
        take_component(statement, &next, fetch);
    else
        take_level(statement, &next, fetch);
    for (size_t g = 0; g < COUNT(geometries) && !fetch->geometry; g++)
        if (take(statement, &next, geometries[g].word)) fetch->geometry = &geometries[g];
    take(statement, &next, "v4");
    if (!fetch->geometry || !take_types(statement, &next, fetch))
        return "expected .1d, .2d, .3d, .a1d, .a2d, .cube or .acube, .v4, .f32, .s32 or .u32, and .f32 or "
               ".s32";
    if ((fetch->geometry->cube || fetch->is_gather) && !fetch->is_float)
        return "expected coordinates of type .f32";
    if (fetch->is_gather && (fetch->geometry->axes == 1 || !strcmp(fetch->geometry->word, "3d")))
        return "expected .2d, .a2d, .cube or .acube";
    return NULL;
}

enum { ELEMENTS = 4, HANDLE = ELEMENTS, COORDINATES = HANDLE + 1 };

static bool is_coordinate(const Statement *statement, int k) {
    OperandShape shape = (OperandShape)statement->shapes[k];
    return (shape == OPERAND_REGISTER && statement->register_bytes[k] == 4) || shape == OPERAND_IMMEDIATE;
}

static int coordinates_of(const Fetch *fetch) {
    return fetch->geometry->axes + fetch->geometry->layered;
}

static bool trailing_fits(const Statement *statement, const Fetch *fetch) {
    switch (fetch->level) {
    case LEVEL_GIVEN: return statement->trailing == 1;
    case LEVEL_OF_GRADIENTS:
        return statement->trailing == 2 * fetch->geometry->axes ||
               (fetch->geometry->axes == 3 && statement->trailing == 8);
    case LEVEL_NONE: break;
    }
    return statement->trailing == 0;
}

static bool is_handle(const Statement *statement, int k) {
    uint8_t bytes = statement->register_bytes[k];
    return statement->shapes[k] == OPERAND_ADDRESS && (bytes == 0 || bytes == 8);
}

/* [texture, sampler, {coordinates}]; a sampler in a register is wider than a coordinate. */
static bool has_sampler(const Statement *statement, int coordinates, int needed) {
    return statement->shapes[COORDINATES] == OPERAND_SYMBOL ||
           (coordinates > needed && statement->shapes[COORDINATES] == OPERAND_REGISTER &&
            statement->register_bytes[COORDINATES] == 8);
}

/* Old compilers fill the coordinates up to four. */
static const char *operand_problem(const Statement *statement, const Fetch *fetch) {
    int needed = coordinates_of(fetch),
        coordinates = statement->operand_count - COORDINATES - statement->trailing;
    if (coordinates < 1 || statement->shapes[HANDLE] != OPERAND_ADDRESS)
        return "expected {a, b, c, d}, [texture, {coordinates}]";
    for (int k = 0; k < ELEMENTS; k++) {
        bool fits = statement->shapes[k] == OPERAND_SINK ||
                    (statement->shapes[k] == OPERAND_REGISTER && statement->register_bytes[k] == 4);
        if (!fits) return "expected 32-bit registers for its four results";
    }
    if (!is_handle(statement, HANDLE)) return "expected a handle of 64 bits";
    if (has_sampler(statement, coordinates, needed)) return "separate samplers are not supported";
    if (coordinates < needed) return "expected {a, b, c, d}, [texture, {coordinates}]";
    for (int k = COORDINATES; k < COORDINATES + coordinates; k++)
        if (!is_coordinate(statement, k)) return "expected 32-bit registers or numbers as coordinates";
    if (coordinates != needed && coordinates != ELEMENTS)
        return "expected a coordinate for each dimension, got more";
    if (!trailing_fits(statement, fetch))
        return fetch->level == LEVEL_NONE
                   ? "offsets and depth comparisons are not supported"
                   : "expected a level or two gradients behind the brackets and nothing else";
    return NULL;
}

static void plan_fetch(const Statement *statement, const Fetch *fetch, Inst *inst, OperandPlan *plan) {
    const Geometry *geometry = fetch->geometry;
    inst->detail = geometry->axes | (fetch->is_float ? DETAIL_TEXTURE_FLOAT : 0u) |
                   (geometry->layered ? DETAIL_TEXTURE_LAYERED : 0u) |
                   (geometry->cube ? DETAIL_TEXTURE_CUBE : 0u) |
                   (fetch->is_gather ? DETAIL_TEXTURE_GATHER : 0u) |
                   fetch->component << DETAIL_COMPONENT_SHIFT;
    inst->exec = exec_texture;
    inst->kind = INST_LOAD;
    inst->timing = TIMING_MEM;
    inst->element_bytes = 4;
    inst->elements = ELEMENTS;
    for (int k = 0; k < ELEMENTS; k++) {
        plan->roles[k] = ROLE_DST;
        if (statement->shapes[k] != OPERAND_SINK) inst->dst_mask |= (uint8_t)(1u << k);
    }
    plan->roles[HANDLE] = ROLE_ADDRESS;
    plan->src_bytes[HANDLE] = 8;
    for (int k = COORDINATES; k < statement->operand_count; k++) {
        bool is_layer = geometry->layered && k == COORDINATES;
        plan->roles[k] = k < COORDINATES + coordinates_of(fetch) ? ROLE_SRC : ROLE_IGNORE;
        plan->src_bytes[k] = 4;
        plan->src_is_float[k] = fetch->is_float && !is_layer;
    }
}

static const char *select_fetch(const Statement *statement, Inst *inst, OperandPlan *plan) {
    Fetch fetch = {0};
    const char *problem = modifier_problem(statement, &fetch);
    if (!problem) problem = operand_problem(statement, &fetch);
    if (!problem) plan_fetch(statement, &fetch, inst, plan);
    return problem;
}

static const char *select_query(const Statement *statement, Inst *inst, OperandPlan *plan) {
    int next = 0, operands = 2;
    const Query *query = NULL;
    if (!strcmp(statement->opcode, "txq")) operands += take(statement, &next, "level");
    for (size_t i = 0; i < COUNT(queries) && !query; i++)
        if (take(statement, &next, queries[i].word)) query = &queries[i];
    if (!query || !take(statement, &next, "b32") || next != statement->modifier_count)
        return "expected a query such as .width, and .b32";
    if (statement->operand_count != operands || statement->shapes[0] != OPERAND_REGISTER ||
        statement->register_bytes[0] != 4 || !is_handle(statement, 1))
        return "expected a 32-bit register and [texture]";
    inst->exec = exec_texture_query;
    inst->kind = INST_ALU;
    inst->timing = TIMING_OTHER;
    inst->detail = query->query;
    inst->dst_mask = 1;
    plan->roles[0] = ROLE_DST;
    plan->roles[1] = ROLE_ADDRESS;
    plan->src_bytes[1] = 8;
    if (operands == 3) plan->roles[2] = ROLE_IGNORE;
    return NULL;
}

bool isa_select_texture(const Statement *statement, Inst *inst, OperandPlan *plan, char *why,
                        size_t why_size) {
    bool is_query = statement->opcode[2] == 'q';
    inst->space = SPACE_TEXTURE;
    inst->cache_op = CACHE_DEFAULT;
    inst->dst_mask = inst->element_bytes = inst->elements = 0;
    const char *problem = is_query ? select_query(statement, inst, plan)
                                   : select_fetch(statement, inst, plan);
    if (!problem) return true;
    char name[128];
    isa_format_name(statement, name, sizeof name);
    snprintf(why, why_size, "'%s': %s", name, problem);
    return false;
}

void isa_print_texture(void (*print)(void *context, const char *row), void *context) {
    print(context,
          "tex [.base/.level/.grad] .1d/.2d/.3d/.a1d/.a2d/.cube/.acube [.v4] .f32/.s32/.u32 .f32/.s32");
    print(context, "tld4 .r/.g/.b/.a .2d/.a2d/.cube/.acube [.v4] .f32/.s32/.u32 .f32");
    print(context, "txq [.level] .width/.height/.depth/.array_size/.addr_mode_0/... .b32");
    print(context, "suq .width/.height/.depth/.array_size/... .b32");
}
