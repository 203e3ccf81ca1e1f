#include "core/ptx/instructions/isa_memory.h"

#include "core/ptx/execution/exec_internal.h"

#include <stdio.h>
#include <string.h>

typedef struct {
    const char *name;
    uint8_t bytes;
    bool is_signed, is_float;
    uint8_t atomic; /* AtomicType */
} ElementType;

/* Of atomics only, with .noftz. */
static const ElementType half_types[] = {{"f16", 2, false, false, ATOMIC_F16},
                                         {"bf16", 2, false, false, ATOMIC_BF16},
                                         {"f16x2", 4, false, false, ATOMIC_F16X2},
                                         {"bf16x2", 4, false, false, ATOMIC_BF16X2}};

static const ElementType element_types[] = {{"b8", 1, false, false, 0},
                                            {"u8", 1, false, false, 0},
                                            {"s8", 1, true, false, 0},
                                            {"b16", 2, false, false, ATOMIC_U16},
                                            {"u16", 2, false, false, 0},
                                            {"s16", 2, true, false, 0},
                                            {"b32", 4, false, false, ATOMIC_U32},
                                            {"u32", 4, false, false, ATOMIC_U32},
                                            {"s32", 4, true, false, ATOMIC_S32},
                                            {"f32", 4, false, true, ATOMIC_F32},
                                            {"b64", 8, false, false, ATOMIC_U64},
                                            {"u64", 8, false, false, ATOMIC_U64},
                                            {"s64", 8, true, false, ATOMIC_S64},
                                            {"f64", 8, false, true, ATOMIC_F64}};

typedef struct {
    const char *name;
    uint8_t value;
} NamedValue;

static const NamedValue spaces[] = {{"global", SPACE_GLOBAL},      {"shared", SPACE_SHARED},
                                    {"shared::cta", SPACE_SHARED}, {"shared::cluster", SPACE_SHARED},
                                    {"local", SPACE_LOCAL},        {"const", SPACE_CONST},
                                    {"param", SPACE_PARAM},        {"param::entry", SPACE_PARAM}};

/* What is coherent at the level of the whole GPU goes to the L2 cache. */
static const NamedValue load_cache_ops[] = {{"ca", CACHE_ALL},
                                            {"cg", CACHE_GLOBAL},
                                            {"cs", CACHE_STREAMING},
                                            {"lu", CACHE_STREAMING},
                                            {"cv", CACHE_VOLATILE}};
static const NamedValue store_cache_ops[] = {
    {"wb", CACHE_ALL}, {"cg", CACHE_GLOBAL}, {"cs", CACHE_STREAMING}, {"wt", CACHE_VOLATILE}};
static const NamedValue scopes[] = {
    {"cta", CACHE_DEFAULT}, {"cluster", CACHE_GLOBAL}, {"gpu", CACHE_GLOBAL}, {"sys", CACHE_GLOBAL}};
static const NamedValue vectors[] = {{"v2", 2}, {"v4", 4}};

/* Accepted without effect on values or timing: ordering beyond program order, and hints. */
static const char *const plain_modifiers[] = {"weak",    "relaxed", "acquire", "release",
                                              "acq_rel", "mmio",    "unified"};

static const NamedValue atomic_ops[] = {{"add", ATOMIC_ADD},   {"min", ATOMIC_MIN}, {"max", ATOMIC_MAX},
                                        {"exch", ATOMIC_EXCH}, {"cas", ATOMIC_CAS}, {"inc", ATOMIC_INC},
                                        {"dec", ATOMIC_DEC},   {"and", ATOMIC_AND}, {"or", ATOMIC_OR},
                                        {"xor", ATOMIC_XOR}};

typedef enum {
    OPCODE_LOAD,
    OPCODE_STORE,
    OPCODE_ATOM,
    OPCODE_RED,
    OPCODE_PREFETCH,
    OPCODE_PREFETCH_UNIFORM,
} MemoryOpcode;
static const NamedValue opcodes[] = {{"ld", OPCODE_LOAD},
                                     {"ldu", OPCODE_LOAD},
                                     {"st", OPCODE_STORE},
                                     {"atom", OPCODE_ATOM},
                                     {"red", OPCODE_RED},
                                     {"prefetch", OPCODE_PREFETCH},
                                     {"prefetchu", OPCODE_PREFETCH_UNIFORM}};

/* Eviction priorities are hints that no cache here takes. */
static const NamedValue prefetch_levels[] = {{"L1", CACHE_PREFETCH_L1},
                                             {"L2", CACHE_PREFETCH_L2},
                                             {"L2::evict_last", CACHE_PREFETCH_L2},
                                             {"L2::evict_normal", CACHE_PREFETCH_L2}};

/* The modifiers of a statement, sorted out. */
typedef struct {
    MemoryOpcode opcode;
    Space space;
    CacheOp cache_op;
    const ElementType *type;
    const NamedValue *operation; /* atomics */
    uint8_t elements;
    bool is_volatile;
    bool is_read_only; /* .nc */
    bool has_hint;     /* .L2::cache_hint: its last operand is a policy, which has no effect */
    bool keeps_subnormals;
    bool is_element; /* one of those that an atomic on a vector has become */
} Access;

/* How a kind of access depends on type and width of the registers; one handler per space. */
typedef struct {
    ExecFn *global, *shared, *local, *param, *generic;
} Handlers;

#define LOAD_KIND(kind)                                                                                      \
    ExecFn exec_load_global_##kind, exec_load_shared_##kind, exec_load_local_##kind, exec_load_param_##kind, \
        exec_load_generic_##kind;                                                                            \
    static const Handlers load_##kind = {exec_load_global_##kind, exec_load_shared_##kind,                   \
                                         exec_load_local_##kind, exec_load_param_##kind,                     \
                                         exec_load_generic_##kind};
#define STORE_KIND(kind)                                                                                     \
    ExecFn exec_store_global_##kind, exec_store_shared_##kind, exec_store_local_##kind,                      \
        exec_store_generic_##kind;                                                                           \
    static const Handlers store_##kind = {exec_store_global_##kind, exec_store_shared_##kind,                \
                                          exec_store_local_##kind, NULL, exec_store_generic_##kind};

LOAD_KIND(u8)
LOAD_KIND(s8)
LOAD_KIND(u16)
LOAD_KIND(s16)
LOAD_KIND(b32)
LOAD_KIND(b64)
LOAD_KIND(u8_wide)
LOAD_KIND(s8_wide)
LOAD_KIND(u16_wide)
LOAD_KIND(s16_wide)
LOAD_KIND(u32_wide)
LOAD_KIND(s32_wide)
STORE_KIND(b8)
STORE_KIND(b16)
STORE_KIND(b32)
STORE_KIND(b64)
STORE_KIND(b8_wide)
STORE_KIND(b16_wide)
STORE_KIND(b32_wide)
ExecFn exec_prefetch_global, exec_prefetch_local, exec_prefetch_generic, exec_prefetch_uniform;
ExecFn exec_atomic_global, exec_atomic_shared, exec_atomic_generic;
static const Handlers atomics = {exec_atomic_global, exec_atomic_shared, NULL, NULL, exec_atomic_generic};

static const Handlers *load_handlers(const ElementType *type, bool wide) {
    switch (type->bytes) {
    case 1:
        return wide              ? (type->is_signed ? &load_s8_wide : &load_u8_wide)
               : type->is_signed ? &load_s8
                                 : &load_u8;
    case 2:
        return wide              ? (type->is_signed ? &load_s16_wide : &load_u16_wide)
               : type->is_signed ? &load_s16
                                 : &load_u16;
    case 4: return wide ? (type->is_signed ? &load_s32_wide : &load_u32_wide) : &load_b32;
    default: return &load_b64;
    }
}

static const Handlers *store_handlers(const ElementType *type, bool wide) {
    switch (type->bytes) {
    case 1: return wide ? &store_b8_wide : &store_b8;
    case 2: return wide ? &store_b16_wide : &store_b16;
    case 4: return wide ? &store_b32_wide : &store_b32;
    default: return &store_b64;
    }
}

static ExecFn *handler_for_space(const Handlers *handlers, MemoryOpcode opcode, Space space) {
    switch (space) {
    case SPACE_GLOBAL: return handlers->global;
    case SPACE_CONST: return opcode == OPCODE_LOAD ? handlers->global : NULL;
    case SPACE_SHARED: return handlers->shared;
    case SPACE_LOCAL: return handlers->local;
    case SPACE_PARAM: return handlers->param;
    case SPACE_GENERIC: return handlers->generic;
    default: return NULL;
    }
}

#define FIND(table, name) find_value(table, sizeof table / sizeof *table, name)
static const NamedValue *find_value(const NamedValue *table, size_t count, const char *name) {
    for (size_t index = 0; index < count; index++) {
        if (strcmp(table[index].name, name) == 0) return &table[index];
    }
    return NULL;
}

static const ElementType *find_type(const char *name, bool is_atomic) {
    for (size_t index = 0; index < sizeof element_types / sizeof *element_types; index++) {
        if (strcmp(element_types[index].name, name) == 0) return &element_types[index];
    }
    for (size_t index = 0; is_atomic && index < sizeof half_types / sizeof *half_types; index++) {
        if (strcmp(half_types[index].name, name) == 0) return &half_types[index];
    }
    return NULL;
}

static bool is_plain(const char *name) {
    for (size_t index = 0; index < sizeof plain_modifiers / sizeof *plain_modifiers; index++) {
        if (strcmp(plain_modifiers[index], name) == 0) return true;
    }
    return false;
}

/* Hints without effect. */
static bool is_cache_hint(const char *name) {
    static const char *const hints[] = {
        "L1::evict_normal", "L1::evict_unchanged", "L1::evict_first", "L1::evict_last",
        "L1::no_allocate",  "L2::evict_normal",    "L2::evict_first", "L2::evict_last",
        "L2::cache_hint",   "L2::evict_unchanged", "L2::64B",         "L2::128B",
        "L2::256B"};
    for (size_t index = 0; index < sizeof hints / sizeof *hints; index++)
        if (strcmp(hints[index], name) == 0) return true;
    return false;
}

/* False when the modifier means nothing to this opcode. */
static bool take_modifier(Access *access, const char *name) {
    bool is_atomic = access->opcode >= OPCODE_ATOM;
    const NamedValue *found;
    const ElementType *type;
    if ((found = FIND(spaces, name))) {
        access->space = (Space)found->value;
    } else if ((type = find_type(name, is_atomic))) {
        access->type = type;
    } else if ((found = FIND(scopes, name))) {
        access->cache_op = (CacheOp)found->value;
    } else if (is_plain(name)) {
        return true;
    } else if (access->opcode == OPCODE_LOAD && strcmp(name, "nc") == 0) {
        access->is_read_only = true;
    } else if (access->opcode <= OPCODE_RED && is_cache_hint(name)) {
        access->has_hint |= strcmp(name, "L2::cache_hint") == 0;
    } else if (is_atomic && (found = FIND(atomic_ops, name))) {
        access->operation = found;
    } else if (is_atomic && strcmp(name, "noftz") == 0) {
        access->keeps_subnormals = true;
    } else if (is_atomic && strcmp(name, ATOMIC_ELEMENT) == 0) {
        access->is_element = true;
    } else if (!is_atomic && strcmp(name, "volatile") == 0) {
        access->is_volatile = true;
        access->cache_op = CACHE_VOLATILE;
    } else if (!is_atomic && (found = FIND(vectors, name))) {
        access->elements = found->value;
    } else if (access->opcode == OPCODE_LOAD && (found = FIND(load_cache_ops, name))) {
        access->cache_op = (CacheOp)found->value;
    } else if (access->opcode == OPCODE_STORE && (found = FIND(store_cache_ops, name))) {
        access->cache_op = (CacheOp)found->value;
    } else {
        return false;
    }
    return true;
}

static bool atomic_is_legal(const Access *access) {
    if (!access->operation) return false;
    uint8_t operation = access->operation->value, type = access->type->atomic;
    if (type >= ATOMIC_F16) {
        bool extreme = operation == ATOMIC_MIN || operation == ATOMIC_MAX;
        return access->keeps_subnormals && (operation == ATOMIC_ADD || (extreme && access->is_element));
    }
    if (access->keeps_subnormals) return false;
    if (type == ATOMIC_U16) return operation == ATOMIC_CAS && strcmp(access->type->name, "b16") == 0;
    if (access->type->bytes < 4) return false;
    if (access->type->is_float) return operation == ATOMIC_ADD || operation == ATOMIC_EXCH;
    return true;
}

/* Values in 64-bit registers, all or none of them. Immediates and sinks fit either. */
typedef enum { WIDTH_ANY, WIDTH_NARROW, WIDTH_WIDE, WIDTH_BAD } ValueWidth;

static ValueWidth value_width(const Statement *statement, int first, int count) {
    ValueWidth width = WIDTH_ANY;
    for (int k = first; k < first + count; k++) {
        OperandShape shape = (OperandShape)statement->shapes[k];
        if (shape == OPERAND_IMMEDIATE || shape == OPERAND_SYMBOL || shape == OPERAND_SINK) continue;
        bool special = shape == OPERAND_SPECIAL && statement->special < SPECIAL_CLOCK;
        if (shape != OPERAND_REGISTER && !special) return WIDTH_BAD;
        ValueWidth here = !special && statement->register_bytes[k] == 8 ? WIDTH_WIDE : WIDTH_NARROW;
        if (width != WIDTH_ANY && width != here) return WIDTH_BAD;
        width = here;
    }
    return width;
}

/* Positions of destinations, address and values among the operands. */
typedef struct {
    int destinations, address, first_value, values;
} Layout;

/* What bypasses the L1 bypasses the cache for .nc, too. */
static CacheOp cache_op_of(const Access *access) {
    if (access->is_volatile) return CACHE_VOLATILE;
    bool is_cached = access->cache_op != CACHE_GLOBAL && access->cache_op != CACHE_VOLATILE;
    return access->is_read_only && access->space == SPACE_GLOBAL && is_cached ? CACHE_READ_ONLY
                                                                              : access->cache_op;
}

static Layout layout_of(const Access *access) {
    int operands = access->operation && access->operation->value == ATOMIC_CAS ? 2 : 1;
    switch (access->opcode) {
    case OPCODE_LOAD: return (Layout){access->elements, access->elements, access->elements + 1, 0};
    case OPCODE_STORE: return (Layout){0, 0, 1, access->elements};
    case OPCODE_ATOM: return (Layout){1, 1, 2, operands};
    default: return (Layout){0, 0, 1, operands};
    }
}

static bool has_shape(const Statement *statement, int first, int count, bool destination) {
    for (int k = first; k < first + count; k++) {
        OperandShape shape = (OperandShape)statement->shapes[k];
        bool is_destination = shape == OPERAND_REGISTER || shape == OPERAND_SINK;
        if (destination ? !is_destination : shape == OPERAND_SINK) return false;
    }
    return true;
}

static const char *operand_problem(const Statement *statement, const Access *access, Layout layout) {
    if (statement->operand_count != layout.first_value + layout.values + access->has_hint)
        return "wrong number of operands";
    if (statement->shapes[layout.address] != OPERAND_ADDRESS) return "the address must stand in brackets";
    if (!has_shape(statement, 0, layout.destinations, true)) return "the destination must be a register";
    if (!has_shape(statement, layout.first_value, layout.values, false)) return "the sink '_' has no value";
    ValueWidth to = value_width(statement, 0, layout.destinations);
    ValueWidth from = value_width(statement, layout.first_value, layout.values);
    if (to == WIDTH_BAD || from == WIDTH_BAD) return "values must stand in registers of one width";
    bool is_atomic = access->opcode >= OPCODE_ATOM;
    ValueWidth needed = access->type->bytes == 8 ? WIDTH_WIDE : is_atomic ? WIDTH_NARROW : WIDTH_ANY;
    if (needed != WIDTH_ANY && ((to != WIDTH_ANY && to != needed) || (from != WIDTH_ANY && from != needed))) {
        return "the registers do not have the width of the type";
    }
    return NULL;
}

static void plan_operands(const Statement *statement, const Access *access, Layout layout, Inst *inst,
                          OperandPlan *plan) {
    bool wide = access->type->bytes == 8 ||
                value_width(statement, layout.first_value, layout.values) == WIDTH_WIDE;
    inst->dst_mask = 0;
    for (int k = 0; k < layout.destinations; k++) {
        plan->roles[k] = ROLE_DST;
        if (statement->shapes[k] != OPERAND_SINK) inst->dst_mask |= (uint8_t)(1u << k);
    }
    plan->roles[layout.address] = ROLE_ADDRESS;
    plan->src_bytes[layout.address] = inst->detail & DETAIL_ADDRESS_32 ? 4 : 8;
    plan->src_is_float[layout.address] = false;
    if (access->has_hint) plan->roles[layout.first_value + layout.values] = ROLE_IGNORE;
    for (int k = layout.first_value; k < layout.first_value + layout.values; k++) {
        plan->roles[k] = ROLE_SRC;
        plan->src_bytes[k] = wide ? 8 : 4;
        plan->src_is_float[k] = access->type->is_float;
    }
}

static bool refuse(const Statement *statement, const char *reason, char *why, size_t why_size) {
    char name[128];
    isa_format_name(statement, name, sizeof name);
    snprintf(why, why_size, "'%s': %s", name, reason);
    return false;
}

/* prefetch{.global|.local}.level [a], prefetchu.L1 [a]: accesses of a byte, of which the line is fetched. */
static bool select_prefetch(const Statement *statement, Inst *inst, OperandPlan *plan, char *why,
                            size_t why_size) {
    bool uniform = FIND(opcodes, statement->opcode)->value == OPCODE_PREFETCH_UNIFORM;
    const NamedValue *level = NULL, *found;
    Space space = SPACE_GENERIC;
    for (int index = 0; index < statement->modifier_count; index++) {
        const char *name = statement->modifiers[index];
        bool has_space = !uniform && (!strcmp(name, "global") || !strcmp(name, "local"));
        if (has_space)
            space = *name == 'g' ? SPACE_GLOBAL : SPACE_LOCAL;
        else if ((found = FIND(prefetch_levels, name)))
            level = found;
        else
            return refuse(statement, "expected .global or .local, and .L1 or .L2", why, why_size);
    }
    if (!level || (uniform && level->value != CACHE_PREFETCH_L1))
        return refuse(statement, uniform ? "expected .L1" : "expected .L1 or .L2", why, why_size);
    if (statement->operand_count != 1 || statement->shapes[0] != OPERAND_ADDRESS)
        return refuse(statement, "expected an address in brackets", why, why_size);
    inst->exec = uniform                  ? exec_prefetch_uniform
                 : space == SPACE_GLOBAL  ? exec_prefetch_global
                 : space == SPACE_GENERIC ? exec_prefetch_generic
                                          : exec_prefetch_local;
    inst->kind = INST_LOAD;
    inst->timing = TIMING_MEM;
    inst->space = (uint8_t)space;
    inst->cache_op = level->value;
    inst->element_bytes = inst->elements = 1;
    uint8_t base_bytes = statement->register_bytes[0];
    inst->detail = base_bytes != 0 && base_bytes != 8 ? DETAIL_ADDRESS_32 : 0;
    plan->roles[0] = ROLE_ADDRESS;
    plan->src_bytes[0] = inst->detail & DETAIL_ADDRESS_32 ? 4 : 8;
    plan->src_is_float[0] = false;
    return true;
}

bool isa_is_memory(const char *opcode) {
    return FIND(opcodes, opcode) != NULL;
}

bool isa_select_memory(const Statement *statement, Inst *inst, OperandPlan *plan, char *why,
                       size_t why_size) {
    MemoryOpcode opcode = (MemoryOpcode)FIND(opcodes, statement->opcode)->value;
    if (opcode >= OPCODE_PREFETCH) return select_prefetch(statement, inst, plan, why, why_size);
    Access access = {.opcode = opcode, .space = SPACE_GENERIC, .elements = 1};
    for (int index = 0; index < statement->modifier_count; index++) {
        if (take_modifier(&access, statement->modifiers[index])) continue;
        char reason[96];
        snprintf(reason, sizeof reason, "modifier '.%s' is not supported", statement->modifiers[index]);
        return refuse(statement, reason, why, why_size);
    }
    bool is_atomic = access.opcode >= OPCODE_ATOM;
    if (!access.type) return refuse(statement, "expected a type, got none", why, why_size);
    if (is_atomic && !atomic_is_legal(&access))
        return refuse(statement, "this atomic operation does not take this type", why, why_size);

    Layout layout = layout_of(&access);
    const char *problem = operand_problem(statement, &access, layout);
    if (problem) return refuse(statement, problem, why, why_size);
    bool wide_to = value_width(statement, 0, layout.destinations) == WIDTH_WIDE;
    bool wide_from = value_width(statement, layout.first_value, layout.values) == WIDTH_WIDE;
    const Handlers *handlers = is_atomic                      ? &atomics
                               : access.opcode == OPCODE_LOAD ? load_handlers(access.type, wide_to)
                                                              : store_handlers(access.type, wide_from);
    ExecFn *exec = handler_for_space(handlers, access.opcode, access.space);
    if (!exec) return refuse(statement, "this address space is not supported", why, why_size);

    inst->exec = exec;
    inst->kind = is_atomic ? INST_ATOMIC : access.opcode == OPCODE_LOAD ? INST_LOAD : INST_STORE;
    inst->timing = TIMING_MEM;
    inst->space = (uint8_t)access.space;
    inst->cache_op = (uint8_t)cache_op_of(&access);
    inst->element_bytes = access.type->bytes;
    inst->elements = access.elements;
    uint8_t base_bytes = statement->register_bytes[layout.address];
    inst->detail = base_bytes != 0 && base_bytes != 8 ? DETAIL_ADDRESS_32 : 0;
    if (is_atomic) inst->detail |= access.operation->value | (uint32_t)access.type->atomic << 8;
    plan_operands(statement, &access, layout, inst, plan);
    return true;
}

static void print_names(const char *title, const NamedValue *table, size_t count, char *text, size_t size) {
    size_t length = (size_t)snprintf(text, size, "%s", title);
    for (size_t index = 0; index < count && length < size; index++) {
        length += (size_t)snprintf(text + length, size - length, "%s.%s", index ? "/" : "",
                                   table[index].name);
    }
}

void isa_print_memory(void (*print)(void *context, const char *row), void *context) {
    static const char *const families[] = {
        "ld [.weak/.volatile/.relaxed/.acquire] [.SCOPE] [.SPACE] [.CACHE] [.nc] [.v2/.v4] .TYPE",
        "st [.weak/.volatile/.relaxed/.release] [.SCOPE] [.SPACE] [.CACHE] [.v2/.v4] .TYPE",
        "ldu [.global] [.v2/.v4] .TYPE",
        ("atom [.relaxed/.acquire/.release/.acq_rel] [.SCOPE] [.SPACE] .OPERATION [.noftz] [.v2/.v4/.v8] "
         ".TYPE"),
        "red [.relaxed/.acquire/.release/.acq_rel] [.SCOPE] [.SPACE] .OPERATION [.noftz] [.v2/.v4/.v8] .TYPE",
        "CACHE of ld: .ca/.cg/.cs/.lu/.cv; of st: .wb/.cg/.cs/.wt",
        "prefetch [.global/.local] .L1/.L2",
        "prefetchu .L1",
    };
    for (size_t index = 0; index < sizeof families / sizeof *families; index++)
        print(context, families[index]);
    char text[256];
    print_names("SPACE of ld, st: ", spaces, sizeof spaces / sizeof *spaces, text, sizeof text);
    print(context, text);
    print_names("OPERATION: ", atomic_ops, sizeof atomic_ops / sizeof *atomic_ops, text, sizeof text);
    print(context, text);
}
