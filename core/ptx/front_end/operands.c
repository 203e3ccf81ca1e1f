/* Operands: registers, special registers, immediates, vectors and addresses. */
#include "core/ptx/front_end/parser.h"

#include <string.h>

static const struct {
    const char *name;
    uint8_t special; /* of component .x when `components` is 3 */
    uint8_t components;
} special_registers[] = {
    {"%tid", SPECIAL_TID_X, 3},
    {"%ntid", SPECIAL_NTID_X, 3},
    {"%ctaid", SPECIAL_CTAID_X, 3},
    {"%nctaid", SPECIAL_NCTAID_X, 3},
    {"%laneid", SPECIAL_LANEID, 1},
    {"%warpid", SPECIAL_WARPID, 1},
    {"%nwarpid", SPECIAL_NWARPID, 1},
    {"%smid", SPECIAL_SMID, 1},
    {"%nsmid", SPECIAL_NSMID, 1},
    {"%gridid", SPECIAL_GRIDID, 1},
    {"%lanemask_eq", SPECIAL_LANEMASK_EQ, 1},
    {"%lanemask_lt", SPECIAL_LANEMASK_LT, 1},
    {"%lanemask_le", SPECIAL_LANEMASK_LE, 1},
    {"%lanemask_gt", SPECIAL_LANEMASK_GT, 1},
    {"%lanemask_ge", SPECIAL_LANEMASK_GE, 1},
    {"%dynamic_smem_size", SPECIAL_DYNAMIC_SMEM_SIZE, 1},
    {"%total_smem_size", SPECIAL_TOTAL_SMEM_SIZE, 1},
    {"%clock", SPECIAL_CLOCK, 1},
    {"%clock64", SPECIAL_CLOCK64, 1},
    {"%clock_hi", SPECIAL_CLOCK_HI, 1},
    {"%globaltimer", SPECIAL_GLOBALTIMER, 1},
    {"%globaltimer_lo", SPECIAL_GLOBALTIMER, 1},
    {"%globaltimer_hi", SPECIAL_GLOBALTIMER_HI, 1},
    {"%aggr_smem_size", SPECIAL_TOTAL_SMEM_SIZE, 1},
    {"%envreg1", SPECIAL_ENVREG_1, 1},
    {"%clusterid", SPECIAL_CTAID_X, 3}, /* a cluster has one CTA */
    {"%nclusterid", SPECIAL_NCTAID_X, 3},
    {"%envreg2", SPECIAL_ENVREG_2, 1},
};

/* What else the driver may tell launches, performance counters, which nobody has set up, shared memory that the system
 * keeps for itself, and the graph of which the launch is a part; and a cluster has one CTA. */
typedef struct {
    const char *begin;
    uint64_t value;
} FixedSpecial;

static const FixedSpecial fixed_specials[] = {{"%envreg", 0},
                                              {"%pm", 0},
                                              {"%reserved_smem_offset_", 0},
                                              {"%current_graph_exec", 0},
                                              {"%cluster_ctaid", 0},
                                              {"%cluster_ctarank", 0},
                                              {"%cluster_nctaid", 1},
                                              {"%cluster_nctarank", 1}};
/* Those of them that have components. */
static const FixedSpecial cluster_vectors[] = {{"%cluster_ctaid", 0}, {"%cluster_nctaid", 1}};

/* Special registers of PTX that have no row above: a statement that reads one is unsupported, not
 * malformed. */
static const char *const unsupported_specials[] = {
    "%is_explicit_",
};

Operand register_operand(const Parser *parser, uint32_t reg) {
    Operand operand = no_operand();
    operand.shape = parser->kernel->registers[reg].is_predicate ? OPERAND_PREDICATE : OPERAND_REGISTER;
    operand.reg = reg;
    return operand;
}

Operand immediate_operand(uint64_t value) {
    Operand operand = no_operand();
    operand.shape = OPERAND_IMMEDIATE;
    operand.literal = LITERAL_INTEGER;
    operand.value = value;
    return operand;
}

Operand address_operand(Symbol *symbol, uint64_t offset) {
    Operand operand = no_operand();
    operand.shape = OPERAND_ADDRESS;
    operand.symbol = symbol;
    operand.value = offset;
    return operand;
}

static bool begins_with(Token name, const char *text) {
    size_t length = strlen(text);
    return name.length >= length && memcmp(name.text, text, length) == 0;
}

static const char special_components[] = "xyzw";

/* Of a special register of three components the fourth is 0. */
static Operand special_component(uint8_t special, uint32_t component) {
    if (component == 3) return immediate_operand(0);
    Operand operand = no_operand();
    operand.special = (uint8_t)(special + component);
    operand.shape = operand.special >= SPECIAL_CLOCK ? OPERAND_SPECIAL : OPERAND_REGISTER;
    return operand;
}

static bool find_special(Parser *parser, Token name, Draft *draft, Operand *operand) {
    for (size_t i = 0; i < sizeof special_registers / sizeof *special_registers; i++) {
        if (!token_is(name, TOKEN_IDENTIFIER, special_registers[i].name)) continue;
        uint32_t component = 0;
        if (special_registers[i].components == 3) {
            const char *letter = parser->token.kind == TOKEN_DOTTED && parser->token.length == 1
                                     ? strchr(special_components, *parser->token.text)
                                     : NULL;
            if (!letter)
                parser_fail(parser, name.line, "%s: expected .x, .y, .z or .w after it", token_words(name));
            component = (uint32_t)(letter - special_components);
            advance(parser);
        }
        *operand = special_component(special_registers[i].special, component);
        return true;
    }
    for (size_t i = 0; i < sizeof fixed_specials / sizeof *fixed_specials; i++) {
        if (!begins_with(name, fixed_specials[i].begin)) continue;
        *operand = immediate_operand(fixed_specials[i].value);
        return true;
    }
    for (size_t i = 0; i < sizeof unsupported_specials / sizeof *unsupported_specials; i++) {
        if (!begins_with(name, unsupported_specials[i])) continue;
        draft_refuse(draft, "it reads a special register that is not supported");
        operand->shape = OPERAND_SPECIAL;
        return true;
    }
    return false;
}

static void use_symbol(Parser *parser, Symbol *symbol, Token token) {
    if (symbol->kind == SYMBOL_SHARED || symbol->kind == SYMBOL_DYNAMIC_SHARED ||
        symbol->kind == SYMBOL_LOCAL)
        place_in_kernel(parser, symbol);
    if (symbol->kind == SYMBOL_VARIABLE && !symbol->defined)
        parser_fail(parser, token.line,
                    "%s is declared .extern in line %u, but this module does not define it",
                    token_words(token), symbol->line);
    if (symbol->kind == SYMBOL_LABEL || symbol->kind == SYMBOL_BRANCH_TABLE ||
        symbol->kind == SYMBOL_PROTOTYPE)
        parser_fail(parser, token.line, "%s is a label", token_words(token));
}

/* .x or .r: which element of a vector register. */
static uint32_t parse_component(Parser *parser, const Symbol *symbol) {
    static const char letters[] = "xyzwrgba";
    const char *letter = parser->token.length == 1 ? strchr(letters, *parser->token.text) : NULL;
    uint32_t element = letter ? (uint32_t)(letter - letters) % 4 : 4;
    if (element >= symbol->vector)
        parser_expected(parser, "an element of a vector register (.v2: .x, .y; .v4: .x, .y, .z, .w)");
    advance(parser);
    return element;
}

static bool lies_in_frame(const Symbol *symbol, bool in_address) {
    return symbol->instance && symbol->instance->function->framed &&
           (symbol->kind == SYMBOL_LOCAL || (symbol->kind == SYMBOL_CALL_PARAM && !in_address));
}

/* [2] behind the name of a variable, and what is added to it. */
static uint64_t parse_place(Parser *parser, const Symbol *symbol) {
    uint64_t index = 0;
    if (symbol->stride && accept(parser, '[')) {
        index = expect_integer(parser, "the index of an array", UINT32_MAX);
        expect(parser, ']', "after the index of an array");
    }
    return index * symbol->stride + parse_offset(parser);
}

/* A name: register, special register or variable. */
static Operand parse_named(Parser *parser, Draft *draft, bool in_address) {
    Operand operand = no_operand();
    Token token = parser->token;
    Symbol *symbol = symbol_lookup(parser, parser->scope, token.text, token.length);
    advance(parser);
    if (!symbol && find_special(parser, token, draft, &operand)) {
        while (parser->token.kind == TOKEN_DOTTED)
            advance(parser);
        return operand;
    }
    if (!symbol) parser_fail(parser, token.line, "%s is not declared", token_words(token));
    if (symbol->kind == SYMBOL_REGISTER) {
        operand = register_operand(parser, symbol->index);
        if (parser->token.kind == TOKEN_DOTTED && !symbol->vector && video_takes(draft))
            video_select(parser, draft);
        else if (parser->token.kind == TOKEN_DOTTED)
            operand.reg += parse_component(parser, symbol);
        else if (symbol->vector)
            parser_fail(parser, token.line,
                        "%s: expected .x, .y, .z or .w after a register of several elements",
                        token_words(token));
        return operand;
    }
    use_symbol(parser, symbol, token);
    uint64_t offset = parse_place(parser, symbol);
    if (lies_in_frame(symbol, in_address)) return frame_address(parser, symbol, offset);
    operand.shape = OPERAND_SYMBOL;
    operand.symbol = symbol;
    operand.value = offset;
    return operand;
}

Operand parse_operand(Parser *parser, Draft *draft) {
    Operand operand = no_operand();
    Token token = parser->token;
    bool negated = at(parser, '!') && peek(parser).kind == TOKEN_IDENTIFIER && accept(parser, '!');
    if (at(parser, '-')) video_accept_minus(parser, draft);
    if (token_is(parser->token, TOKEN_IDENTIFIER, "_")) {
        operand.shape = OPERAND_SINK;
        advance(parser);
    } else if (parser->token.kind == TOKEN_IDENTIFIER &&
               !token_is(parser->token, TOKEN_IDENTIFIER, "WARP_SZ")) {
        operand = parse_named(parser, draft, draft->in_call);
    } else {
        Literal literal = parse_expression(parser, "an operand");
        operand.shape = OPERAND_IMMEDIATE;
        operand.literal = (uint8_t)literal.kind;
        operand.value = literal.bits;
    }
    operand.negated = negated;
    if (negated && operand.shape != OPERAND_PREDICATE)
        parser_fail(parser, token.line, "expected a predicate after '!'");
    return operand;
}

/* Behind its '{'; returns the number of elements. */
static uint32_t parse_vector(Parser *parser, Draft *draft) {
    uint32_t elements = 0;
    do {
        draft_operand(draft, parse_operand(parser, draft));
        elements++;
    } while (accept(parser, ','));
    expect(parser, '}', "after the elements of a vector");
    return elements;
}

/* A register of several elements, all of them: as if they stood in braces. */
static bool accept_vector_register(Parser *parser, Draft *draft) {
    Token token = parser->token;
    if (token.kind != TOKEN_IDENTIFIER) return false;
    const Symbol *symbol = symbol_lookup(parser, parser->scope, token.text, token.length);
    if (!symbol || symbol->kind != SYMBOL_REGISTER || !symbol->vector || peek(parser).kind == TOKEN_DOTTED)
        return false;
    advance(parser);
    for (uint32_t i = 0; i < symbol->vector; i++)
        draft_operand(draft, register_operand(parser, symbol->index + i));
    if (draft->statement.vector_elements == 1) draft->statement.vector_elements = symbol->vector;
    return true;
}

static bool moves_vector(const Draft *draft) {
    if (strcmp(draft->statement.opcode, "mov") != 0) return false;
    for (uint32_t m = 0; m < draft->statement.modifier_count; m++)
        if (!strcmp(draft->modifiers[m], "v4")) return true;
    return false;
}

/* mov.v4.u32 {...}, %tid: all four components, as if they stood in braces. */
static bool accept_vector_special(Parser *parser, Draft *draft) {
    enum { ELEMENTS = 4 };
    Token token = parser->token;
    if (token.kind != TOKEN_IDENTIFIER || peek(parser).kind == TOKEN_DOTTED || !moves_vector(draft))
        return false;
    Operand elements[ELEMENTS];
    bool found = false;
    for (size_t i = 0; i < sizeof special_registers / sizeof *special_registers && !found; i++) {
        found = special_registers[i].components == 3 &&
                token_is(token, TOKEN_IDENTIFIER, special_registers[i].name);
        for (uint32_t k = 0; k < ELEMENTS && found; k++)
            elements[k] = special_component(special_registers[i].special, k);
    }
    for (size_t i = 0; i < sizeof cluster_vectors / sizeof *cluster_vectors && !found; i++) {
        found = token_is(token, TOKEN_IDENTIFIER, cluster_vectors[i].begin);
        for (uint32_t k = 0; k < ELEMENTS && found; k++)
            elements[k] = immediate_operand(k < 3 ? cluster_vectors[i].value : 0);
    }
    if (!found || symbol_lookup(parser, parser->scope, token.text, token.length)) return false;
    advance(parser);
    for (uint32_t k = 0; k < ELEMENTS; k++)
        draft_operand(draft, elements[k]);
    return true;
}

/* [base + offset], behind its '['; textures have further operands inside the brackets. */
static void parse_address(Parser *parser, Draft *draft);

static bool is_texture_fetch(const Draft *draft) {
    return !strcmp(draft->statement.opcode, "tex") || !strcmp(draft->statement.opcode, "tld4");
}

static void parse_resident(Parser *parser, Draft *draft) {
    uint32_t line = parser->token.line;
    draft->resident = parse_operand(parser, draft);
    bool takes = draft->resident.shape == OPERAND_PREDICATE || draft->resident.shape == OPERAND_SINK;
    if (!takes || draft->resident.negated) parser_fail(parser, line, "expected a predicate after '|'");
}

/* ld.global.u32 %r1, a[2]: an address without brackets of its own. */
static bool accept_element(Parser *parser, Draft *draft) {
    static const char *const accesses[] = {"ld", "ldu", "st", "atom", "red"};
    bool is_access = false;
    for (size_t i = 0; i < sizeof accesses / sizeof *accesses; i++)
        is_access |= !strcmp(draft->statement.opcode, accesses[i]);
    if (!is_access || parser->token.kind != TOKEN_IDENTIFIER || peek(parser).punctuation != '[') return false;
    Operand address = parse_named(parser, draft, true);
    address.shape = OPERAND_ADDRESS;
    draft_operand(draft, address);
    draft->statement.bracket_end = draft->statement.operand_count;
    return true;
}

void parse_operand_group(Parser *parser, Draft *draft) {
    if (accept(parser, '{')) {
        uint32_t elements = parse_vector(parser, draft);
        if (draft->statement.vector_elements == 1) draft->statement.vector_elements = elements;
        if (is_texture_fetch(draft) && accept(parser, '|')) parse_resident(parser, draft);
    } else if (accept(parser, '[')) {
        parse_address(parser, draft);
    } else if (!accept_element(parser, draft) && !accept_vector_register(parser, draft) &&
               !accept_vector_special(parser, draft)) {
        draft_operand(draft, parse_operand(parser, draft));
        if (accept(parser, '|')) draft_operand(draft, parse_operand(parser, draft));
    }
}

static void parse_address(Parser *parser, Draft *draft) {
    Operand address = no_operand();
    uint32_t line = parser->token.line;
    if (parser->token.kind == TOKEN_IDENTIFIER) {
        address = parse_named(parser, draft, true);
        if (address.shape == OPERAND_PREDICATE || address.special != NO_SPECIAL)
            parser_fail(parser, line, "expected a register, a variable or a number as address");
        if (address.reg != NO_REGISTER) address.value = parse_offset(parser);
    } else {
        Literal literal = parse_expression(parser, "an address");
        if (literal.kind != LITERAL_INTEGER)
            parser_fail(parser, line, "expected an integer as address, got a float");
        address.value = literal.bits;
    }
    address.shape = OPERAND_ADDRESS;
    draft_operand(draft, address);
    while (accept(parser, ','))
        if (accept(parser, '{'))
            parse_vector(parser, draft);
        else if (!accept_vector_register(parser, draft))
            draft_operand(draft, parse_operand(parser, draft));
    expect(parser, ']', "after an address");
    if (at_dotted(parser, "unified")) advance(parser); /* of a variable for hosts, too */
    draft->statement.bracket_end = draft->statement.operand_count;
}
