/* alloca, stacksave and stackrestore. What a thread allocates lies in its stack, in local memory, one behind the other; a
 * register says where the next begins. It is set where a kernel begins, if alloca stands in one of its texts, and keeps its
 * value around inlined calls. Functions with frames cannot allocate; their frames lie behind what there is. */
#include "core/ptx/front_end/parser.h"

#include <string.h>

enum { STACK_ALIGN = 16, MAX_ALIGN = 1 << 23 };

static bool stands_in(const Source *source, const char *word) {
    size_t length = strlen(word);
    const char *end = source->lexer.end, *at = source->lexer.cursor;
    while ((at = memchr(at, *word, (size_t)(end - at))) && (size_t)(end - at) >= length) {
        if (!memcmp(at, word, length)) return true;
        at++;
    }
    return false;
}

bool allocations_stand_in(const Source *source) {
    return stands_in(source, "alloca") || stands_in(source, "stacksave");
}

static void instruction_add(Parser *parser, const BodyStatement *origin, const char *opcode, const char *type,
                            const char *from, const Operand *operands, uint32_t count) {
    Draft draft;
    draft_begin(parser, &draft, opcode, origin);
    if (origin) {
        draft.statement.guard = origin->guard;
        draft.statement.guard_negated = origin->guard_negated;
    }
    draft_modifier(&draft, type);
    if (from) draft_modifier(&draft, from);
    for (uint32_t i = 0; i < count; i++)
        draft_operand(&draft, operands[i]);
    statement_add(parser, &draft);
}

static Operand new_register(Parser *parser) {
    KernelBody *kernel = parser->kernel;
    return register_operand(parser, register_new(kernel, 8, false, kernel->declared_registers++));
}

/* From one register to another, or a number; 32 bits are addresses, too. */
static void move(Parser *parser, const BodyStatement *origin, Operand to, Operand from, bool narrow_to,
                 bool narrow_from) {
    Operand operands[] = {to, from};
    if (narrow_to || narrow_from)
        instruction_add(parser, origin, "cvt", narrow_to ? "u32" : "u64", narrow_from ? "u32" : "u64",
                        operands, 2);
    else
        instruction_add(parser, origin, "mov", "u64", NULL, operands, 2);
}

static void compute(Parser *parser, const BodyStatement *origin, const char *opcode, const char *type,
                    Operand to, Operand a, Operand b) {
    Operand operands[] = {to, a, b};
    instruction_add(parser, origin, opcode, type, NULL, operands, 3);
}

void allocations_begin(Parser *parser) {
    KernelBody *kernel = parser->kernel;
    if (!parser->has_allocations) return;
    Operand top = new_register(parser), base = immediate_operand(0);
    kernel->stack_top = top.reg;
    kernel->stack_base.kind = SYMBOL_LOCAL;
    base.shape = OPERAND_SYMBOL;
    base.symbol = &kernel->stack_base;
    move(parser, NULL, top, base, false, false);
}

Operand stack_top(const Parser *parser) {
    return register_operand(parser, parser->kernel->stack_top);
}

Operand allocations_keep(Parser *parser, const BodyStatement *origin) {
    Operand kept = immediate_operand(0);
    if (!parser->has_allocations) return kept;
    kept = new_register(parser);
    move(parser, origin, kept, stack_top(parser), false, false);
    return kept;
}

void allocations_drop(Parser *parser, const BodyStatement *origin, Operand kept) {
    if (parser->has_allocations) move(parser, origin, stack_top(parser), kept, false, false);
}

static void allocate(Parser *parser, const Draft *draft, bool narrow) {
    const BodyStatement *origin = &draft->statement;
    uint64_t align = origin->operand_count > 2 ? draft->operands[2].value : STACK_ALIGN;
    Operand top = stack_top(parser), begin = new_register(parser), size = draft->operands[1];
    if (align > STACK_ALIGN) {
        compute(parser, origin, "add", "u64", begin, top, immediate_operand(align - 1));
        compute(parser, origin, "and", "b64", begin, begin, immediate_operand(-align));
    } else {
        move(parser, origin, begin, top, false, false);
    }
    if (narrow && size.shape == OPERAND_REGISTER) {
        Operand wide = new_register(parser);
        move(parser, origin, wide, size, false, true);
        size = wide;
    }
    compute(parser, origin, "add", "u64", top, begin, size);
    compute(parser, origin, "add", "u64", top, top, immediate_operand(STACK_ALIGN - 1));
    compute(parser, origin, "and", "b64", top, top, immediate_operand(-(uint64_t)STACK_ALIGN));
    move(parser, origin, draft->operands[0], begin, narrow, false);
}

static bool is_register(const Parser *parser, const Operand *operand, uint32_t bytes) {
    return operand->shape == OPERAND_REGISTER && operand->reg != NO_REGISTER &&
           parser->kernel->registers[operand->reg].bytes == bytes;
}

static const char *problem_of(const Parser *parser, const Draft *draft, bool allocates) {
    const BodyStatement *statement = &draft->statement;
    const char *type = statement->modifier_count == 1 ? draft->modifiers[0] : "";
    bool narrow = !strcmp(type, "u32");
    if (!narrow && strcmp(type, "u64") != 0) return "expected .u32 or .u64";
    uint32_t bytes = narrow ? 4 : 8, count = statement->operand_count;
    if (allocates ? count < 2 || count > 3 : count != 1)
        return allocates ? "expected a register, a size, and perhaps an alignment" : "expected a register";
    if (!is_register(parser, &draft->operands[0], bytes)) return "expected a register of the type";
    if (allocates && draft->operands[1].shape != OPERAND_IMMEDIATE &&
        !is_register(parser, &draft->operands[1], bytes))
        return "expected a size of the type";
    if (count == 3) {
        uint64_t align = draft->operands[2].value;
        if (draft->operands[2].shape != OPERAND_IMMEDIATE || align == 0 || align & (align - 1) ||
            align > MAX_ALIGN)
            return "expected a power of two up to 2^23 as the alignment";
    }
    if (parser->kernel->instance) return "functions that are not inlined cannot allocate on the stack";
    return NULL;
}

bool allocation_add(Parser *parser, Draft *draft) {
    const char *opcode = draft->statement.opcode;
    bool allocates = !strcmp(opcode, "alloca"), saves = !strcmp(opcode, "stacksave");
    if (!allocates && !saves && strcmp(opcode, "stackrestore") != 0) return false;
    const char *problem = parser->has_allocations ? problem_of(parser, draft, allocates)
                                                  : "nothing is allocated";
    if (problem && !draft->statement.unsupported) draft->statement.unsupported = problem;
    if (draft->statement.unsupported) {
        statement_add(parser, draft);
        return true;
    }
    bool narrow = !strcmp(draft->modifiers[0], "u32");
    parser->kernel->allocates = true;
    if (allocates)
        allocate(parser, draft, narrow);
    else if (saves)
        move(parser, &draft->statement, draft->operands[0], stack_top(parser), narrow, false);
    else
        move(parser, &draft->statement, stack_top(parser), draft->operands[0], false, narrow);
    return true;
}
