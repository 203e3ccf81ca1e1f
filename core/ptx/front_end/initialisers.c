/* Initialisers of variables: numbers, and addresses that are known once all of the module is. */
#include "core/ptx/front_end/parser.h"

#include <string.h>

/* An initialised variable is held in host memory. */
#define MAX_INITIALISED_BYTES (256ull << 20)

typedef struct {
    Parser *parser;
    const VariableType *type;
    uint32_t variable;
    uint8_t *bytes; /* grows with what is written */
    uint64_t used, capacity;
} Initialiser;

_Noreturn static void initialiser_too_long(Parser *parser, uint32_t line) {
    parser_fail(parser, line, "expected up to %llu bytes in an initialised variable, got more",
                (unsigned long long)MAX_INITIALISED_BYTES);
}

static uint8_t *initialiser_room(Initialiser *init, uint64_t offset, uint64_t bytes) {
    uint64_t end = offset + bytes;
    if (end > MAX_INITIALISED_BYTES) initialiser_too_long(init->parser, init->parser->token.line);
    if (end > init->capacity) {
        uint8_t *old = init->bytes;
        init->capacity = end * 2 + 64;
        init->bytes = arena_alloc(&init->parser->scratch, init->capacity, 1);
        if (init->used) memcpy(init->bytes, old, init->used);
    }
    if (end > init->used) init->used = end;
    return init->bytes + offset;
}

/* name or generic(name), each with an optional "+ number" behind it. */
static void parse_initial_address(Initialiser *init, uint64_t offset, uint64_t mask) {
    Parser *parser = init->parser;
    uint64_t bytes = init->type->element_bytes;
    uint32_t line = parser->token.line;
    bool generic = token_is(parser->token, TOKEN_IDENTIFIER, "generic");
    if (generic) {
        advance(parser);
        expect(parser, '(', "before the name of a variable");
    }
    const Name *name = expect_name(parser, "a number or the name of a variable");
    if (generic) expect(parser, ')', "after the name of a variable");
    if (mask == UINT64_MAX && bytes < 4)
        parser_fail(parser, line, "expected 4 or 8 bytes for an address, got %u", (uint32_t)bytes);
    int64_t addend = (int64_t)parse_offset(parser);
    initialiser_room(init, offset, bytes);
    parser->pending = arena_grow(&parser->scratch, parser->pending, sizeof *parser->pending,
                                 parser->pending_count, &parser->pending_capacity);
    parser->pending[parser->pending_count++] = (PendingAddress){.name = name,
                                                                .source = parser->source,
                                                                .line = line,
                                                                .fixup = {.holder = init->variable,
                                                                          .offset = offset,
                                                                          .bytes = (uint32_t)bytes,
                                                                          .addend = addend,
                                                                          .mask = mask}};
}

static uint64_t float_bits(double value, uint64_t bytes) {
    uint64_t bits = 0;
    float narrow = (float)value;
    if (bytes == 4)
        memcpy(&bits, &narrow, sizeof narrow);
    else
        memcpy(&bits, &value, sizeof value);
    return bits;
}

const char *literal_fit(Literal literal, uint64_t bytes, bool is_float, uint64_t *bits) {
    *bits = literal.bits;
    double f64;
    float f32;
    memcpy(&f64, &literal.bits, sizeof f64);
    memcpy(&f32, &literal.bits, sizeof f32);
    switch (literal.kind) {
    case LITERAL_INTEGER:
        if (is_float) *bits = float_bits((double)(int64_t)literal.bits, bytes);
        break;
    case LITERAL_F32:
        if (is_float && bytes == 8) *bits = float_bits(f32, bytes);
        if (!is_float && bytes != 4) return "a 0f constant stands for 32 bits, not for another width";
        break;
    case LITERAL_F64:
        if (is_float && bytes == 4) *bits = float_bits(f64, bytes);
        if (!is_float && bytes != 8) return "a 64-bit float constant needs a float or 64-bit operand";
        break;
    }
    if (bytes < 8) *bits &= (1ull << bytes * 8) - 1;
    return NULL;
}

static bool at_name(const Parser *parser) {
    return parser->token.kind == TOKEN_IDENTIFIER && !token_is(parser->token, TOKEN_IDENTIFIER, "WARP_SZ");
}

/* 0xFF00(address) or 0xFF00(number), behind the mask: its bits, shifted to the right. */
static void parse_masked_value(Initialiser *init, uint64_t offset, uint64_t mask) {
    Parser *parser = init->parser;
    expect(parser, '(', "behind a mask");
    if (at_name(parser)) {
        parse_initial_address(init, offset, mask);
    } else {
        uint64_t bytes = init->type->element_bytes,
                 value = expect_integer(parser, "a value behind a mask", UINT64_MAX);
        fixup_apply(&(Fixup){.bytes = (uint32_t)bytes, .mask = mask}, value,
                    initialiser_room(init, offset, bytes));
    }
    expect(parser, ')', "after a value behind a mask");
}

static void parse_initial_value(Initialiser *init, uint64_t offset) {
    Parser *parser = init->parser;
    if (at_name(parser)) {
        parse_initial_address(init, offset, UINT64_MAX);
        return;
    }
    uint32_t line = parser->token.line;
    Literal literal = parse_expression(parser, "an initial value");
    if (at(parser, '(')) {
        if (literal.kind != LITERAL_INTEGER || !literal.bits)
            parser_fail(parser, line, "expected an integer other than 0 as the mask of an address");
        parse_masked_value(init, offset, literal.bits);
        return;
    }
    uint64_t bits, bytes = init->type->element_bytes;
    bool is_float = init->type->is_float ||
                    (bytes == 4 && !init->type->is_integer && literal.kind == LITERAL_F64); /* .b32 x = 1.5 */
    const char *defect = literal_fit(literal, bytes, is_float, &bits);
    if (defect) parser_fail(parser, line, "%s", defect);
    memcpy(initialiser_room(init, offset, bytes), &bits, bytes);
}

/* The current token is behind the '{' of dimension `dimension`. Returns the number of elements. */
static uint64_t parse_initial_list(Initialiser *init, uint32_t dimension, uint64_t offset) {
    Parser *parser = init->parser;
    const VariableType *type = init->type;
    uint64_t stride = type_stride(type, dimension), count = 0;
    for (; !accept(parser, '}'); count++) {
        if (count) expect(parser, ',', "or '}' in an initialiser");
        if (count >= type->dimensions[dimension] && !(type->unsized && !dimension))
            parser_fail(parser, parser->token.line,
                        "expected up to %llu initial values, one for each element, got more",
                        (unsigned long long)type->dimensions[dimension]);
        uint64_t element = offset + count * stride;
        if (element > MAX_INITIALISED_BYTES) initialiser_too_long(parser, parser->token.line);
        if (dimension + 1 == type->dimension_count) {
            parse_initial_value(init, element);
        } else {
            expect(parser, '{', "before the initial values of an inner dimension");
            parse_initial_list(init, dimension + 1, element);
        }
    }
    return count;
}

void parse_initialiser(Parser *parser, VariableType *type, uint32_t index) {
    Initialiser init = {.parser = parser, .type = type, .variable = index};
    uint32_t line = parser->token.line;
    if (type->is_sampler && accept(parser, '{')) { /* of use to separate samplers alone, which are refused */
        skip_through(parser, '}');
        return;
    }
    if (!type->dimension_count) {
        parse_initial_value(&init, 0);
    } else {
        expect(parser, '{', "before the initial values of an array");
        uint64_t count = parse_initial_list(&init, 0, 0);
        if (type->unsized) type->bytes = count * type_stride(type, 0);
    }
    if (type->bytes > MAX_INITIALISED_BYTES || type->bytes < init.used) initialiser_too_long(parser, line);
    ModuleVariable *variable = &parser->module->variables[index];
    variable->init = arena_alloc(&parser->module->fixups->storage, type->bytes, 1);
    if (init.used) memcpy(variable->init, init.bytes, init.used);
}

void fixup_add(Module *module, Fixup fixup) {
    ModuleFixups *fixups = module->fixups;
    fixups->list = arena_grow(&fixups->storage, fixups->list, sizeof fixup, fixups->count, &fixups->capacity);
    fixups->list[fixups->count++] = fixup;
}

void fixup_apply(const Fixup *fixup, uint64_t address, uint8_t *init) {
    uint64_t value = (address & fixup->mask) >> __builtin_ctzll(fixup->mask);
    memcpy(init + fixup->offset, &value, fixup->bytes);
}

static void resolve_initialiser(Parser *parser, PendingAddress *pending) {
    const Symbol *symbol = module_symbol(parser, pending->source, pending->name);
    uint8_t *init = parser->module->variables[pending->fixup.holder].init;
    if (!init) return; /* another definition took its place */
    if (symbol && (symbol->kind == SYMBOL_FUNCTION || symbol->kind == SYMBOL_ENTRY)) {
        if (symbol->kind == SYMBOL_FUNCTION) symbol->function->address_taken = true;
        fixup_apply(&pending->fixup, symbol->offset, init);
        return;
    }
    parser->source = pending->source;
    if (!symbol || symbol->kind != SYMBOL_VARIABLE || !symbol->defined)
        parser_fail(parser, pending->line,
                    "expected a .global or .const variable of this module, got '%.200s'",
                    pending->name->text);
    pending->fixup.target = symbol->index;
    fixup_add(parser->module, pending->fixup);
}

void resolve_initialisers(Parser *parser) {
    for (uint32_t i = 0; i < parser->pending_count; i++)
        resolve_initialiser(parser, &parser->pending[i]);
    parser->pending_count = 0;
}
