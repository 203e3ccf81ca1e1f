/* Instructions on vectors that become several. Atomics, `red.global.add.v4.f32 [a], {b, c, d, e}`: each element is one for
 * itself, as the PTX ISA says. Loads and stores of eight elements: two of four. Moves: one for each element. */
#include "core/ptx/front_end/parser.h"
#include "core/ptx/instructions/isa_memory.h"

#include <string.h>

typedef struct {
    const char *name;
    uint32_t bytes, most; /* elements of a vector */
    bool is_half;
} ElementType;

static const ElementType types[] = {{"f32", 4, 4, false},
                                    {"f16", 2, 8, true},
                                    {"bf16", 2, 8, true},
                                    {"f16x2", 4, 4, true},
                                    {"bf16x2", 4, 4, true}};

static bool has(const Draft *draft, const char *modifier) {
    for (uint32_t i = 0; i < draft->statement.modifier_count; i++)
        if (!strcmp(draft->modifiers[i], modifier)) return true;
    return false;
}

static uint32_t elements_of(const Draft *draft) {
    return has(draft, "v2") ? 2 : has(draft, "v4") ? 4 : has(draft, "v8") ? 8 : 0;
}

static const ElementType *type_of(const Draft *draft) {
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (has(draft, types[i].name)) return &types[i];
    return NULL;
}

/* What an element writes must not be read for a later one. */
static bool overlaps(const Draft *draft, uint32_t elements) {
    const Operand *operands = draft->operands;
    for (uint32_t i = 0; i < elements; i++) {
        if (operands[i].shape != OPERAND_REGISTER) continue;
        if (i + 1 < elements && operands[elements].reg == operands[i].reg) return true;
        for (uint32_t later = i + 1; later < elements; later++)
            if (operands[elements + 1 + later].reg == operands[i].reg) return true;
    }
    return false;
}

static const char *problem_of(const Draft *draft, uint32_t elements, const ElementType *type, bool writes) {
    uint32_t operands = (writes ? elements : 0) + 1 + elements + has(draft, "L2::cache_hint");
    bool extreme = has(draft, "min") || has(draft, "max");
    if (!type || elements > type->most)
        return "expected .v2 or .v4 of .f32, .f16x2 or .bf16x2, or .v2, .v4 or .v8 of .f16 or .bf16";
    if (type->is_half ? !has(draft, "add") && !extreme : !has(draft, "add"))
        return type->is_half ? "expected .add, .min or .max" : "expected .add";
    if (type->is_half != has(draft, "noftz")) return type->is_half ? "expected .noftz" : "expected no .noftz";
    if (has(draft, "shared")) return "expected .global, or no space";
    if (draft->statement.operand_count != operands ||
        draft->operands[writes ? elements : 0].shape != OPERAND_ADDRESS)
        return "expected vectors with as many elements, and an address";
    if (writes && overlaps(draft, elements)) return "a destination is a source of a later element";
    return NULL;
}

static void element_add(Parser *parser, const Draft *draft, uint32_t elements, uint32_t i, uint64_t bytes) {
    Draft part = *draft;
    uint32_t count = draft->statement.operand_count,
             first = !strcmp(draft->statement.opcode, "atom") ? elements : 0;
    part.statement.operand_count = part.statement.modifier_count = 0;
    part.statement.vector_elements = 1;
    part.statement.bracket_end = 0;
    for (uint32_t m = 0; m < draft->statement.modifier_count; m++)
        if (strcmp(draft->modifiers[m], "v2") != 0 && strcmp(draft->modifiers[m], "v4") != 0 &&
            strcmp(draft->modifiers[m], "v8") != 0)
            draft_modifier(&part, draft->modifiers[m]);
    draft_modifier(&part, ATOMIC_ELEMENT);
    if (first) draft_operand(&part, draft->operands[i]);
    Operand address = draft->operands[first];
    address.value += i * bytes;
    draft_operand(&part, address);
    draft_operand(&part, draft->operands[first + 1 + i]);
    for (uint32_t k = first + 1 + elements; k < count; k++)
        draft_operand(&part, draft->operands[k]);
    statement_add(parser, &part);
}

/* ld.v8 and st.v8 of 32 bits: elements 0 to 3, and 4 to 7. */
static void halves_add(Parser *parser, Draft *draft) {
    enum { ELEMENTS = 8, HALF = 4, HALF_BYTES = 16 };
    bool loads = !strcmp(draft->statement.opcode, "ld");
    uint32_t address = loads ? ELEMENTS : 0, first = loads ? 0 : 1, count = draft->statement.operand_count;
    uint32_t operands = ELEMENTS + 1 + has(draft, "L2::cache_hint");
    bool narrow = has(draft, "b32") || has(draft, "u32") || has(draft, "s32") || has(draft, "f32");
    const char *problem = NULL;
    if (!narrow) problem = "expected eight elements of 32 bits";
    if (count != operands || draft->operands[address].shape != OPERAND_ADDRESS)
        problem = "expected a vector of eight elements, and an address";
    for (uint32_t i = 0; !problem && loads && i < HALF; i++)
        if (draft->operands[i].shape == OPERAND_REGISTER &&
            draft->operands[i].reg == draft->operands[address].reg)
            problem = "a destination is the register of the address";
    if (problem && !draft->statement.unsupported) draft->statement.unsupported = problem;
    if (draft->statement.unsupported) {
        statement_add(parser, draft);
        return;
    }
    for (uint32_t half = 0; half < 2; half++) {
        Draft part = *draft;
        part.statement.operand_count = 0;
        part.statement.vector_elements = HALF;
        part.statement.bracket_end = 0;
        for (uint32_t m = 0; m < part.statement.modifier_count; m++)
            if (!strcmp(part.modifiers[m], "v8")) part.modifiers[m] = "v4";
        for (uint32_t k = 0; k < count; k++) {
            bool element = k >= first && k < first + ELEMENTS;
            if (element && (k - first) / HALF != half) continue;
            Operand operand = draft->operands[k];
            if (k == address) operand.value += (uint64_t)half * HALF_BYTES;
            draft_operand(&part, operand);
        }
        statement_add(parser, &part);
    }
}

/* A move of one element: `from` and `to` are all that is not the draft's. */
static void move_add(Parser *parser, const Draft *draft, Operand to, Operand from) {
    Draft move = *draft;
    move.statement.operand_count = move.statement.modifier_count = 0;
    move.statement.vector_elements = 1;
    for (uint32_t m = 0; m < draft->statement.modifier_count; m++)
        if (strcmp(draft->modifiers[m], "v2") != 0 && strcmp(draft->modifiers[m], "v4") != 0)
            draft_modifier(&move, draft->modifiers[m]);
    draft_operand(&move, to);
    draft_operand(&move, from);
    statement_add(parser, &move);
}

/* mov.v4.u32 {a, b, c, d}, {e, f, g, h}: the vectors may share registers, so that a source which an earlier element
 * overwrites is copied first. */
static void moves_add(Parser *parser, Draft *draft, uint32_t elements) {
    const Operand *to = draft->operands;
    Operand from[MAX_OPERANDS];
    if (draft->statement.operand_count != 2 * elements && !draft->statement.unsupported)
        draft->statement.unsupported = "expected two vectors with as many elements";
    if (draft->statement.unsupported) {
        statement_add(parser, draft);
        return;
    }
    memcpy(from, draft->operands + elements, elements * sizeof *from);
    for (uint32_t i = 1; i < elements; i++) {
        bool overwritten = false;
        for (uint32_t k = 0; k < i; k++)
            overwritten |= from[i].reg != NO_REGISTER && to[k].reg == from[i].reg;
        if (!overwritten) continue;
        KernelBody *kernel = parser->kernel;
        uint32_t bytes = kernel->registers[from[i].reg].bytes;
        Operand copy = register_operand(parser,
                                        register_new(kernel, bytes, false, kernel->declared_registers++));
        move_add(parser, draft, copy, from[i]);
        from[i] = copy;
    }
    for (uint32_t i = 0; i < elements; i++)
        if (to[i].shape != OPERAND_SINK) move_add(parser, draft, to[i], from[i]);
}

bool vector_add(Parser *parser, Draft *draft) {
    const char *opcode = draft->statement.opcode;
    if (!strcmp(opcode, "mov") && (has(draft, "v2") || has(draft, "v4"))) {
        moves_add(parser, draft, elements_of(draft));
        return true;
    }
    if ((!strcmp(opcode, "ld") || !strcmp(opcode, "st")) && has(draft, "v8")) {
        halves_add(parser, draft);
        return true;
    }
    bool writes = !strcmp(opcode, "atom");
    uint32_t elements = writes || !strcmp(opcode, "red") ? elements_of(draft) : 0;
    if (!elements) return false;
    const ElementType *type = type_of(draft);
    const char *problem = problem_of(draft, elements, type, writes);
    if (problem && !draft->statement.unsupported) draft->statement.unsupported = problem;
    if (draft->statement.unsupported) {
        statement_add(parser, draft);
        return true;
    }
    for (uint32_t i = 0; i < elements; i++)
        element_add(parser, draft, elements, i, type->bytes);
    return true;
}
