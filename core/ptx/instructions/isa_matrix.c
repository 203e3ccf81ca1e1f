#include "core/ptx/instructions/isa_matrix.h"

#include "core/ptx/execution/exec_matrix.h"
#include "core/ptx/instructions/isa_memory.h"

#include <stdio.h>
#include <string.h>

ExecFn exec_mma_float, exec_mma_double, exec_mma_integer, exec_mma_quads, exec_movmatrix;
ExecFn exec_ldmatrix, exec_stmatrix, exec_fragment_load, exec_fragment_store;

typedef const char *Select(const Statement *statement, Inst *inst, OperandPlan *plan);

static bool is(const char *text, const char *word) {
    return strcmp(text, word) == 0;
}

static bool has(const Statement *statement, const char *word) {
    for (int i = 0; i < statement->modifier_count; i++)
        if (is(statement->modifiers[i], word)) return true;
    return false;
}

/* --- mma ------------------------------------------------------------------------------------- */

typedef struct {
    const char *name;
    uint8_t type;   /* MatrixType */
    bool is_second; /* unsigned; of 8-bit floats: e5m2 */
} TypeName;

static const TypeName type_names[] = {
    {"f16", MATRIX_F16, false}, {"bf16", MATRIX_BF16, false}, {"tf32", MATRIX_TF32, false},
    {"f64", MATRIX_F64, false}, {"s8", MATRIX_INT8, false},   {"u8", MATRIX_INT8, true},
    {"s4", MATRIX_INT4, false}, {"u4", MATRIX_INT4, true},    {"b1", MATRIX_BIT, false},
    {"e4m3", MATRIX_F8, false}, {"e5m2", MATRIX_F8, true},
};

static const TypeName *find_type(const char *name) {
    for (size_t i = 0; i < sizeof type_names / sizeof *type_names; i++)
        if (is(type_names[i].name, name)) return &type_names[i];
    return NULL;
}

/* By MatrixType; m8n8k4 of f16 is a shape of its own. */
static const char *const shapes[] = {
    [MATRIX_F16] = "m8n8k4 m16n8k8 m16n8k16 ",
    [MATRIX_BF16] = "m16n8k8 m16n8k16 ",
    [MATRIX_TF32] = "m16n8k4 m16n8k8 ",
    [MATRIX_F8] = "m16n8k16 m16n8k32 ",
    [MATRIX_F64] = "m8n8k4 m16n8k4 m16n8k8 m16n8k16 ",
    [MATRIX_INT8] = "m8n8k16 m16n8k16 m16n8k32 ",
    [MATRIX_INT4] = "m8n8k32 m16n8k32 m16n8k64 ",
    [MATRIX_BIT] = "m8n8k128 m16n8k128 m16n8k256 ",
};

static bool has_shape(MatrixType type, const char *shape) {
    size_t length = strlen(shape);
    for (const char *at = shapes[type]; *at; at += strcspn(at, " ") + 1)
        if (strcspn(at, " ") == length && !memcmp(at, shape, length)) return true;
    return false;
}

/* The words of an mma, sorted. */
typedef struct {
    const char *shape, *layout[2], *type[4]; /* types of D, A, B, C */
    int layouts, types;
    bool saturates, is_and, is_xor, popc, second;
} MmaWords;

static const char *read_words(const Statement *statement, MmaWords *words) {
    *words = (MmaWords){.shape = NULL};
    for (int i = 0; i < statement->modifier_count; i++) {
        const char *word = statement->modifiers[i];
        bool layout = is(word, "row") || is(word, "col");
        if (is(word, "sync") || is(word, "aligned") || is(word, "rn"))
            continue;
        else if (word[0] == 'm' && word[1] >= '0' && word[1] <= '9')
            words->shape = word;
        else if (layout && words->layouts < 2)
            words->layout[words->layouts++] = word;
        else if ((is(word, "f32") || is(word, "s32") || find_type(word)) && words->types < 4)
            words->type[words->types++] = word;
        else if (is(word, "satfinite"))
            words->saturates = true;
        else if (is(word, "and") || is(word, "xor"))
            *(is(word, "and") ? &words->is_and : &words->is_xor) = true;
        else if (is(word, "popc"))
            words->popc = true;
        else if (is(word, "second")) /* of the front end's making */
            words->second = true;
        else
            return "sparse and scaled products, those of floats below 8 bits, and this modifier, are not "
                   "supported";
    }
    if (!words->shape || words->types != 4 || words->layouts != 2)
        return "expected a shape, two layouts and the types of D, A, B and C";
    return NULL;
}

static const char *accumulator_problem(const MmaWords *words, MatrixType type) {
    const char *d = words->type[0], *c = words->type[3];
    bool half = is(d, "f16") || is(c, "f16");
    const char *other = type == MATRIX_F64 ? "f64" : type >= MATRIX_INT8 ? "s32" : "f32";
    if (half && type != MATRIX_F16 && type != MATRIX_F8)
        return "accumulators of f16 are for products of f16 and of 8-bit floats";
    if (type == MATRIX_F8 && !is(d, c)) return "C and D must have one type";
    if ((!is(d, "f16") && !is(d, other)) || (!is(c, "f16") && !is(c, other)))
        return "these types of C and D do not go with those of A and B";
    bool bits = type == MATRIX_BIT && words->popc && words->is_and != words->is_xor;
    bool none = type != MATRIX_BIT && !words->popc && !words->is_and && !words->is_xor;
    if (!bits && !none) return "expected .xor.popc or .and.popc of .b1, and of no other type";
    return words->saturates && type != MATRIX_INT8 && type != MATRIX_INT4
               ? ".satfinite is for products of integers"
               : NULL;
}

static const char *mma_detail(const Statement *statement, uint32_t *detail) {
    MmaWords words;
    const char *problem = read_words(statement, &words);
    if (problem) return problem;
    const TypeName *a = find_type(words.type[1]), *b = find_type(words.type[2]);
    if (!a || !b || a->type != b->type)
        return "A and B must have one of .f16 .bf16 .tf32 .f64 .s8 .u8 .s4 .u4 .b1, or .e4m3 and .e5m2";
    MatrixType type = (MatrixType)a->type;
    if (!has_shape(type, words.shape)) return "this shape is not one of this type";
    problem = accumulator_problem(&words, type);
    if (problem) return problem;
    bool quads = type == MATRIX_F16 && is(words.shape, "m8n8k4");
    bool columns_a = is(words.layout[0], "col"), rows_b = is(words.layout[1], "row");
    if ((columns_a || rows_b) && !quads) return "expected .row.col";
    uint32_t depth = 0;
    for (const char *at = strchr(words.shape, 'k') + 1; *at; at++)
        depth = depth * 10 + (uint32_t)(*at - '0');
    *detail = (uint32_t)type | (uint32_t)__builtin_ctz(depth) << MMA_DEPTH_SHIFT |
              (words.shape[1] == '1' ? MMA_SIXTEEN_ROWS : 0) | (is(words.type[0], "f16") ? MMA_HALF_D : 0) |
              (is(words.type[3], "f16") ? MMA_HALF_C : 0) | (words.saturates ? MMA_SATURATE : 0) |
              (a->is_second ? MMA_UNSIGNED_A : 0) | (b->is_second ? MMA_UNSIGNED_B : 0) |
              (columns_a ? MMA_COLUMNS_A : 0) | (rows_b ? MMA_ROWS_B : 0) | (words.is_and ? MMA_AND : 0) |
              (words.second ? MMA_SECOND : 0);
    return NULL;
}

static bool is_register(const Statement *statement, int k, int bytes) {
    return statement->shapes[k] == OPERAND_REGISTER && statement->register_bytes[k] == bytes;
}

/* m8n8k4 of f16: four products at once. */
static bool is_quads(uint32_t detail) {
    return (detail & MMA_TYPE) == MATRIX_F16 && (detail >> MMA_DEPTH_SHIFT & 0xf) == 2;
}

/* Registers of D, A, B and C. */
static void count_registers(uint32_t detail, int counts[4]) {
    MatrixType type = (MatrixType)(detail & MMA_TYPE);
    int rows = detail & MMA_SIXTEEN_ROWS ? 2 : 1, depth = 1 << (detail >> MMA_DEPTH_SHIFT & 0xf);
    bool quads = is_quads(detail);
    counts[0] = quads ? 4 : detail & MMA_HALF_D ? rows : 2 * rows;
    counts[2] = quads ? 2 : depth * matrix_type_bits(type) / (type == MATRIX_F64 ? 256 : 128);
    counts[1] = quads ? 2 : counts[2] * rows;
    counts[3] = quads ? (detail & MMA_HALF_C ? 4 : 8) : detail & MMA_HALF_C ? rows : 2 * rows;
}

static TimingClass mma_timing(uint32_t detail) {
    MatrixType type = (MatrixType)(detail & MMA_TYPE);
    int rows = detail & MMA_SIXTEEN_ROWS ? 16 : 8, depth = 1 << (detail >> MMA_DEPTH_SHIFT & 0xf);
    if (type == MATRIX_F64) return TIMING_MATRIX_DP;
    if (is_quads(detail) && !(detail & MMA_HALF_D)) return TIMING_MATRIX_HALF;
    return rows * 8 * depth * matrix_type_bits(type) > 16 * 8 * 8 * 16 ? TIMING_MATRIX_LONG
                                                                       : TIMING_MATRIX_SHORT;
}

static const char *select_mma(const Statement *statement, Inst *inst, OperandPlan *plan) {
    uint32_t detail = 0;
    const char *problem = mma_detail(statement, &detail);
    int counts[4], all = 0, k = 0;
    if (problem) return problem;
    count_registers(detail, counts);
    MatrixType type = (MatrixType)(detail & MMA_TYPE);
    int bytes = type == MATRIX_F64 ? 8 : 4;
    for (int i = 0; i < 4; i++)
        all += counts[i];
    if (statement->operand_count != all) return "the vectors of registers have not the size of the shape";
    for (; k < all; k++) {
        bool is_source = k >= counts[0], number = statement->shapes[k] == OPERAND_IMMEDIATE;
        if (!is_register(statement, k, bytes) && !(is_source && number))
            return bytes == 8 ? "expected registers of 64 bits" : "expected registers of 32 bits";
        plan->roles[k] = is_source ? ROLE_SRC : ROLE_DST;
        plan->src_bytes[k] = (uint8_t)bytes;
        plan->src_is_float[k] = type <= MATRIX_F64 && k >= all - counts[3] && !(detail & MMA_HALF_C);
    }
    inst->exec = is_quads(detail)      ? exec_mma_quads
                 : type == MATRIX_F64  ? exec_mma_double
                 : type >= MATRIX_INT8 ? exec_mma_integer
                                       : exec_mma_float;
    inst->kind = INST_ALU;
    inst->timing = (uint8_t)mma_timing(detail);
    inst->detail = detail;
    return NULL;
}

static const char *select_movmatrix(const Statement *statement, Inst *inst, OperandPlan *plan) {
    if (!has(statement, "m8n8") || !has(statement, "trans") || !has(statement, "b16"))
        return "expected .sync.aligned.m8n8.trans.b16";
    if (statement->operand_count != 2 || !is_register(statement, 0, 4) || !is_register(statement, 1, 4))
        return "expected two registers of 32 bits";
    inst->exec = exec_movmatrix;
    inst->kind = INST_ALU;
    inst->timing = TIMING_SHUFFLE;
    plan->roles[0] = ROLE_DST;
    plan->roles[1] = ROLE_SRC;
    plan->src_bytes[1] = 4;
    return NULL;
}

/* --- Fragments in memory --------------------------------------------------------------------- */

static void plan_address(const Statement *statement, int k, Inst *inst, OperandPlan *plan) {
    uint8_t base_bytes = statement->register_bytes[k];
    bool narrow = base_bytes != 0 && base_bytes != 8;
    inst->detail |= narrow ? DETAIL_ADDRESS_32 : 0;
    plan->roles[k] = ROLE_ADDRESS;
    plan->src_bytes[k] = narrow ? 4 : 8;
}

static void set_access(Inst *inst, bool load, Space space, ExecFn *exec) {
    inst->exec = exec;
    inst->kind = load ? INST_LOAD : INST_STORE;
    inst->timing = TIMING_MEM;
    inst->space = (uint8_t)space;
    inst->element_bytes = inst->elements = 4; /* pieces of 16 bytes */
}

static Space space_of(const Statement *statement) {
    return has(statement, "shared") ? SPACE_SHARED : has(statement, "global") ? SPACE_GLOBAL : SPACE_GENERIC;
}

static const char *select_rows(const Statement *statement, Inst *inst, OperandPlan *plan) {
    bool load = is(statement->opcode, "ldmatrix");
    int count = has(statement, "x1") ? 1 : has(statement, "x2") ? 2 : has(statement, "x4") ? 4 : 0;
    int address = load ? count : 0, first = load ? 0 : 1;
    if (!has(statement, "m8n8") || !has(statement, "b16") || !count || has(statement, "global"))
        return "expected .sync.aligned.m8n8, .x1, .x2 or .x4, .trans if at all, and .shared.b16";
    if (statement->operand_count != count + 1 || statement->shapes[address] != OPERAND_ADDRESS)
        return "expected as many registers as matrices, and an address";
    for (int k = first; k < first + count; k++) {
        if (!is_register(statement, k, 4)) return "expected registers of 32 bits";
        plan->roles[k] = load ? ROLE_DST : ROLE_SRC;
        plan->src_bytes[k] = 4;
    }
    /* A generic address must lie in shared memory: what is not is beyond its end. */
    set_access(inst, load, space_of(statement), load ? exec_ldmatrix : exec_stmatrix);
    inst->detail = has(statement, "trans") ? DETAIL_MATRIX_TRANSPOSED : 0;
    plan_address(statement, address, inst, plan);
    return NULL;
}

/* Of a part of wmma.load or wmma.store: the front end has made it of four registers at most, with a stride. */
static const char *fragment_detail(const Statement *statement, uint32_t *detail) {
    const TypeName *type = NULL;
    const char *shape = NULL;
    for (int i = 0; i < statement->modifier_count; i++) {
        const char *word = statement->modifiers[i];
        if (find_type(word)) type = find_type(word);
        if (word[0] == 'm' && word[1] >= '0' && word[1] <= '9') shape = word;
    }
    bool accumulator = has(statement, "c") || has(statement, "d"), a = has(statement, "a");
    int bits = type ? matrix_type_bits((MatrixType)type->type) : 32;
    if (!shape || (!a && !accumulator && !has(statement, "b")) ||
        has(statement, "row") == has(statement, "col"))
        return "expected .a, .b, .c or .d, .row or .col, a shape and a type";
    bool exchanged = is(shape, "m8n32k16"),
         small = is(shape, "m8n8k4") || is(shape, "m8n8k32") || is(shape, "m8n8k128");
    FragmentKind kind = accumulator ? FRAGMENT_C : a != exchanged ? FRAGMENT_A : FRAGMENT_B;
    int depth = is(shape, "m16n16k8") ? 8 : small ? 0 : 16;
    int of_b = small ? 1 : depth * bits / 128;
    int split = accumulator                   ? (small        ? 2
                                                 : bits == 16 ? 2
                                                              : 4)
                : kind == FRAGMENT_B || small ? of_b
                                              : 2 * of_b;
    int bytes = bits < 8 ? 4 : bits / 8, elements = bits < 8 ? 32 / bits : 1;
    *detail = (uint32_t)kind | (exchanged ? FRAGMENT_EXCHANGED : 0) | (small ? FRAGMENT_SHORT : 0) |
              (exchanged || is(shape, "m32n8k16") ? FRAGMENT_TALL : 0) |
              (has(statement, "col") ? FRAGMENT_COLUMNS : 0) |
              (has(statement, "second") ? FRAGMENT_SECOND : 0) | (uint32_t)split << FRAGMENT_SPLIT_SHIFT |
              (uint32_t)__builtin_ctz((unsigned)bytes) << FRAGMENT_BYTES_SHIFT |
              (uint32_t)__builtin_ctz((unsigned)elements) << FRAGMENT_STRIDE_SHIFT;
    return NULL;
}

static const char *select_fragment(const Statement *statement, Inst *inst, OperandPlan *plan) {
    bool load = has(statement, "load");
    uint32_t detail = 0;
    const char *problem = fragment_detail(statement, &detail);
    if (problem) return problem;
    int registers = statement->operand_count - 2, address = load ? registers : 0;
    int bytes = (detail >> FRAGMENT_BYTES_SHIFT & 3) == 3 ? 8 : 4, stride = statement->operand_count - 1;
    if (registers < 1 || registers > MAX_DST || statement->shapes[address] != OPERAND_ADDRESS)
        return "expected registers, an address and a stride";
    if (!is_register(statement, stride, 4) && statement->shapes[stride] != OPERAND_IMMEDIATE)
        return "expected a stride in a register of 32 bits";
    for (int k = 0; k < registers; k++) {
        int at = load ? k : k + 1;
        if (!is_register(statement, at, bytes)) return "expected registers of the fragment's width";
        plan->roles[at] = load ? ROLE_DST : ROLE_SRC;
        plan->src_bytes[at] = (uint8_t)bytes;
    }
    set_access(inst, load, space_of(statement), load ? exec_fragment_load : exec_fragment_store);
    inst->detail = detail;
    plan_address(statement, address, inst, plan);
    plan->roles[stride] = ROLE_SRC;
    plan->src_bytes[stride] = 4;
    return NULL;
}

/* --- The table ------------------------------------------------------------------------------- */

static const struct {
    const char *opcode;
    Select *select;
} opcodes[] = {{"mma", select_mma},
               {"movmatrix", select_movmatrix},
               {"ldmatrix", select_rows},
               {"stmatrix", select_rows},
               {"wmma", select_fragment}};
enum { OPCODES = sizeof opcodes / sizeof *opcodes };

static int find_opcode(const char *opcode) {
    int i = 0;
    while (i < OPCODES && !is(opcodes[i].opcode, opcode))
        i++;
    return i;
}

bool isa_is_matrix(const char *opcode) {
    return find_opcode(opcode) < OPCODES;
}

bool isa_select_matrix(const Statement *statement, Inst *inst, OperandPlan *plan, char *why,
                       size_t why_size) {
    inst->space = SPACE_NONE;
    inst->cache_op = CACHE_DEFAULT;
    inst->element_bytes = inst->elements = 0;
    inst->detail = 0;
    inst->dst_mask = 0;
    const char *problem = opcodes[find_opcode(statement->opcode)].select(statement, inst, plan);
    if (!problem) return true;
    char name[128];
    isa_format_name(statement, name, sizeof name);
    snprintf(why, why_size, "'%s': %s", name, problem);
    return false;
}

void isa_print_matrix(void (*print)(void *context, const char *row), void *context) {
    for (size_t i = 0; i < sizeof type_names / sizeof *type_names; i++) {
        char text[160];
        snprintf(text, sizeof text, "mma .sync.aligned .%s: %s", type_names[i].name,
                 shapes[type_names[i].type]);
        print(context, text);
    }
    print(context, "wmma .load/.store/.mma .sync.aligned, as many shapes as mma makes");
    print(context, "ldmatrix .sync.aligned.m8n8 .x1/.x2/.x4 [.trans] [.shared] .b16");
    print(context, "stmatrix .sync.aligned.m8n8 .x1/.x2/.x4 [.trans] [.shared] .b16");
    print(context, "movmatrix .sync.aligned.m8n8.trans.b16");
}
