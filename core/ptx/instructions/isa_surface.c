#include "core/ptx/instructions/isa_surface.h"

#include "core/ptx/execution/exec_internal.h"
#include "core/ptx/instructions/isa_memory.h"

#include <stdio.h>
#include <string.h>

ExecFn exec_surface_load, exec_surface_store, exec_surface_reduce;

typedef struct {
    const char *word;
    uint32_t value;
} Word;

static const Word geometries[] = {
    {"1d", 1}, {"2d", 2}, {"3d", 3}, {"a1d", 1 | DETAIL_TEXTURE_LAYERED}, {"a2d", 2 | DETAIL_TEXTURE_LAYERED},
    {NULL, 0}};
static const Word cache_ops[] = {{"ca", CACHE_ALL},
                                 {"wb", CACHE_ALL},
                                 {"cg", CACHE_GLOBAL},
                                 {"cs", CACHE_STREAMING},
                                 {"cv", CACHE_VOLATILE},
                                 {"wt", CACHE_VOLATILE},
                                 {NULL, 0}};
static const Word vectors[] = {{"v2", 2}, {"v4", 4}, {NULL, 0}};
static const Word widths[] = {{"b8", 1}, {"b16", 2}, {"b32", 4}, {"b64", 8}, {NULL, 0}};
static const Word clamps[] = {
    {"trap", SURFACE_TRAP}, {"clamp", SURFACE_CLAMP}, {"zero", SURFACE_ZERO}, {NULL, 0}};
static const Word operations[] = {{"add", ATOMIC_ADD}, {"min", ATOMIC_MIN}, {"max", ATOMIC_MAX},
                                  {"and", ATOMIC_AND}, {"or", ATOMIC_OR},   {NULL, 0}};
static const Word types[] = {{"u32", ATOMIC_U32}, {"s32", ATOMIC_S32}, {"b32", ATOMIC_U32},
                             {"u64", ATOMIC_U64}, {"s64", ATOMIC_S64}, {NULL, 0}};

typedef enum { SURFACE_LOAD, SURFACE_STORE, SURFACE_REDUCE } SurfaceOpcode;

typedef struct {
    SurfaceOpcode opcode;
    uint32_t geometry, clamp, operation, type, cache_op;
    uint8_t elements, bytes;
} Access;

static SurfaceOpcode opcode_of(const char *opcode) {
    return !strcmp(opcode, "suld") ? SURFACE_LOAD : !strcmp(opcode, "sust") ? SURFACE_STORE : SURFACE_REDUCE;
}

bool isa_is_surface(const char *opcode) {
    return !strcmp(opcode, "suld") || !strcmp(opcode, "sust") || !strcmp(opcode, "sured");
}

/* Takes the next modifier if it is one of the list. */
static bool take(const Statement *statement, int *next, const Word *list, uint32_t *value) {
    for (; list->word; list++) {
        if (*next >= statement->modifier_count || strcmp(statement->modifiers[*next], list->word) != 0)
            continue;
        *value = list->value;
        ++*next;
        return true;
    }
    return false;
}

static bool take_reduction(const Statement *statement, int *next, Access *access) {
    bool is_bits = false;
    if (!take(statement, next, operations, &access->operation) ||
        !take(statement, next, geometries, &access->geometry))
        return false;
    if (*next < statement->modifier_count) is_bits = statement->modifiers[*next][0] == 'b';
    if (!take(statement, next, types, &access->type)) return false;
    access->bytes = access->type == ATOMIC_U64 || access->type == ATOMIC_S64 ? 8 : 4;
    bool is_logic = access->operation == ATOMIC_AND || access->operation == ATOMIC_OR;
    return is_logic == is_bits && !(access->operation == ATOMIC_ADD && access->type == ATOMIC_S64);
}

static bool take_access(const Statement *statement, int *next, Access *access) {
    uint32_t elements = 1, bytes;
    if (!take(statement, next, geometries, &access->geometry)) return false;
    take(statement, next, cache_ops, &access->cache_op);
    take(statement, next, vectors, &elements);
    if (!take(statement, next, widths, &bytes)) return false;
    access->elements = (uint8_t)elements;
    access->bytes = (uint8_t)bytes;
    return bytes * elements <= 16;
}

static const char *modifier_problem(const Statement *statement, Access *access) {
    int next = 1;
    if (statement->modifier_count < 1) return "expected .b";
    if (!strcmp(statement->modifiers[0], "p")) return "formatted accesses are not supported";
    if (strcmp(statement->modifiers[0], "b") != 0) return "expected .b";
    if (access->opcode == SURFACE_REDUCE) {
        if (!take_reduction(statement, &next, access))
            return "expected .add, .min or .max of .u32, .s32, .u64 or .s64, or .and, .or of .b32, and a "
                   "shape";
    } else if (!take_access(statement, &next, access)) {
        return "expected .1d, .2d, .3d, .a1d or .a2d, .v2 or .v4, and .b8 to .b64, of 16 bytes at most";
    }
    if (!take(statement, &next, clamps, &access->clamp) || next != statement->modifier_count)
        return "expected .trap, .clamp or .zero behind the type and nothing else";
    return NULL;
}

static bool is_value(const Statement *statement, const Access *access, int k) {
    OperandShape shape = (OperandShape)statement->shapes[k];
    bool fits = (statement->register_bytes[k] == 8) == (access->bytes == 8);
    if (shape == OPERAND_REGISTER) return fits;
    return access->opcode == SURFACE_LOAD ? shape == OPERAND_SINK : shape == OPERAND_IMMEDIATE;
}

static bool is_coordinate(const Statement *statement, int k) {
    OperandShape shape = (OperandShape)statement->shapes[k];
    return (shape == OPERAND_REGISTER && statement->register_bytes[k] == 4) || shape == OPERAND_IMMEDIATE;
}

static int coordinates_of(const Access *access) {
    return (int)(access->geometry & DETAIL_TEXTURE_AXES) +
           (access->geometry & DETAIL_TEXTURE_LAYERED ? 1 : 0);
}

/* The handle's operand; the values stand before it, or behind the brackets. */
static int handle_of(const Access *access) {
    return access->opcode == SURFACE_LOAD ? access->elements : 0;
}

static const char *operand_problem(const Statement *statement, const Access *access) {
    int handle = handle_of(access), needed = coordinates_of(access);
    int trailing = access->opcode == SURFACE_LOAD ? 0 : access->elements;
    int given = statement->operand_count - handle - 1 - statement->trailing;
    if (statement->trailing != trailing || given < 1 || statement->shapes[handle] != OPERAND_ADDRESS)
        return "expected a value for each element and [surface, {coordinates}]";
    uint8_t bytes = statement->register_bytes[handle];
    if (bytes != 0 && bytes != 8) return "expected a handle of 64 bits";
    if (given != needed && !(needed == 3 && given == 4)) return "expected a coordinate for each dimension";
    for (int k = 0; k < statement->operand_count; k++) {
        if (k > handle && k <= handle + given && !is_coordinate(statement, k))
            return "expected 32-bit registers or numbers as coordinates";
        if ((k < handle || k > handle + given) && !is_value(statement, access, k))
            return "expected registers of the width of its values";
    }
    return NULL;
}

static void plan_operands(const Statement *statement, const Access *access, Inst *inst, OperandPlan *plan) {
    int handle = handle_of(access), last = handle + coordinates_of(access),
        bracket = statement->operand_count - statement->trailing;
    for (int k = 0; k < statement->operand_count; k++) {
        plan->src_bytes[k] = k == handle || (k >= bracket && access->bytes == 8) ? 8 : 4;
        plan->roles[k] = k < handle                ? ROLE_DST
                         : k == handle             ? ROLE_HANDLE
                         : k > last && k < bracket ? ROLE_IGNORE
                                                   : ROLE_SRC;
        if (k < handle && statement->shapes[k] != OPERAND_SINK) inst->dst_mask |= (uint8_t)(1u << k);
    }
}

static void fill_in(const Access *access, Inst *inst) {
    static ExecFn *const handlers[] = {exec_surface_load, exec_surface_store, exec_surface_reduce};
    static const uint8_t kinds[] = {INST_LOAD, INST_STORE, INST_ATOMIC};
    inst->exec = handlers[access->opcode];
    inst->kind = kinds[access->opcode];
    inst->timing = TIMING_MEM;
    inst->space = SPACE_SURFACE;
    inst->cache_op = (uint8_t)access->cache_op;
    inst->element_bytes = access->bytes;
    inst->elements = access->elements;
    inst->detail = access->geometry | access->clamp << DETAIL_CLAMP_SHIFT;
    if (access->opcode == SURFACE_REDUCE)
        inst->detail |= (access->operation | access->type << 8) << DETAIL_REDUCTION_SHIFT;
    inst->dst_mask = 0;
}

bool isa_select_surface(const Statement *statement, Inst *inst, OperandPlan *plan, char *why,
                        size_t why_size) {
    Access access = {.opcode = opcode_of(statement->opcode), .elements = 1, .cache_op = CACHE_DEFAULT};
    const char *problem = modifier_problem(statement, &access);
    if (!problem) problem = operand_problem(statement, &access);
    if (!problem) {
        fill_in(&access, inst);
        plan_operands(statement, &access, inst, plan);
        return true;
    }
    char name[128];
    isa_format_name(statement, name, sizeof name);
    snprintf(why, why_size, "'%s': %s", name, problem);
    return false;
}

void isa_print_surface(void (*print)(void *context, const char *row), void *context) {
    print(context,
          "suld .b .1d/.2d/.3d/.a1d/.a2d [.ca/.cg/.cs/.cv] [.v2/.v4] .b8/.b16/.b32/.b64 .trap/.clamp/.zero");
    print(context,
          "sust .b .1d/.2d/.3d/.a1d/.a2d [.wb/.cg/.cs/.wt] [.v2/.v4] .b8/.b16/.b32/.b64 .trap/.clamp/.zero");
    print(
        context,
        "sured .b .add/.min/.max/.and/.or .1d/.2d/.3d/.a1d/.a2d .u32/.s32/.b32/.u64/.s64 .trap/.clamp/.zero");
}
