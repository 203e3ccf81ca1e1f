/* Bodies: labels, directives, guards and instructions. */
#include "core/ptx/front_end/parser.h"

#include <string.h>

/* Far beyond any kernel; bounds the memory that nested calls, which are inlined, can ask for. */
enum { MAX_STATEMENTS = 1 << 20 };

void draft_begin(Parser *parser, Draft *draft, const char *opcode, const BodyStatement *origin) {
    memset(draft, 0, sizeof *draft);
    draft->statement = (BodyStatement){.opcode = opcode,
                                       .vector_elements = 1,
                                       .guard = NO_REGISTER,
                                       .line = origin ? origin->line : parser->token.line,
                                       .location = origin ? origin->location : parser->location,
                                       .source = origin ? origin->source : parser->source,
                                       .text = origin ? origin->text : parser->token.text,
                                       .text_length = origin ? origin->text_length : 0,
                                       .scope = parser->scope};
}

void draft_refuse(Draft *draft, const char *reason) {
    if (!draft->statement.unsupported) draft->statement.unsupported = reason;
}

void draft_modifier(Draft *draft, const char *modifier) {
    static const char *const plain[][2] = {
        {"param::entry", "param"}, {"param::func", "param"}, {"shared::cta", "shared"}};
    BodyStatement *statement = &draft->statement;
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (!strcmp(modifier, plain[i][0])) modifier = plain[i][1];
    if (statement->modifier_count < MAX_MODIFIERS)
        draft->modifiers[statement->modifier_count++] = modifier;
    else
        draft_refuse(draft, "it has too many modifiers");
}

void draft_operand(Draft *draft, Operand operand) {
    BodyStatement *statement = &draft->statement;
    if (statement->operand_count < MAX_OPERANDS)
        draft->operands[statement->operand_count++] = operand;
    else
        draft_refuse(draft, "it has too many operands");
}

void statement_add(Parser *parser, const Draft *draft) {
    KernelBody *kernel = parser->kernel;
    BodyStatement statement = draft->statement;
    if (kernel->statement_count >= MAX_STATEMENTS) {
        if (!kernel->is_too_large)
            unsupported_add(
                parser, &statement,
                "expected up to 1048576 statements in a kernel with its inlined functions, got more");
        kernel->is_too_large = true;
        return;
    }
    statement.operands = arena_alloc(kernel->arena, statement.operand_count, sizeof(Operand));
    statement.modifiers = arena_alloc(kernel->arena, statement.modifier_count, sizeof(const char *));
    memcpy(statement.operands, draft->operands, statement.operand_count * sizeof(Operand));
    memcpy(statement.modifiers, draft->modifiers, statement.modifier_count * sizeof(const char *));
    kernel->statements = arena_grow(kernel->arena, kernel->statements, sizeof statement,
                                    kernel->statement_count, &kernel->statement_capacity);
    kernel->statements[kernel->statement_count++] = statement;
}

/* Labels. */

Symbol *label_new(Parser *parser) {
    Symbol *label = arena_alloc(&parser->scratch, 1, sizeof *label);
    label->kind = SYMBOL_LABEL;
    return label;
}

void label_place(Parser *parser, Symbol *label) {
    KernelBody *kernel = parser->kernel;
    marks_end_block(parser);
    label->offset = kernel->last_label = kernel->statement_count;
    kernel->has_label = true;
}

void branch_add(Parser *parser, Symbol *label, const BodyStatement *origin) {
    Draft branch;
    Operand target = no_operand();
    draft_begin(parser, &branch, "bra", origin);
    target.shape = OPERAND_SYMBOL;
    target.symbol = label;
    draft_operand(&branch, target);
    branch.statement.guard = origin->guard;
    branch.statement.guard_negated = origin->guard_negated;
    statement_add(parser, &branch);
}

static void parse_label(Parser *parser) {
    uint32_t line = parser->token.line;
    const Name *name = expect_name(parser, "a label");
    advance(parser);
    if (at_dotted(parser, "branchtargets")) {
        parse_branch_table(parser, symbol_declare(parser, parser->scope, name, SYMBOL_BRANCH_TABLE, line));
        return;
    }
    if (at_dotted(parser, "callprototype") || at_dotted(parser, "calltargets")) {
        parse_prototype(parser, symbol_declare(parser, parser->scope, name, SYMBOL_PROTOTYPE, line));
        return;
    }
    label_place(parser, symbol_declare(parser, parser->scope, name, SYMBOL_LABEL, line));
}

/* Instructions. */

void statement_end(Parser *parser, Draft *draft) {
    draft->statement.text_length = (size_t)(parser->token.text - draft->statement.text);
    expect(parser, ';', "after a statement");
}

static void parse_guard(Parser *parser, BodyStatement *statement) {
    statement->guard_negated = accept(parser, '!');
    Token token = parser->token;
    const Symbol *symbol = token.kind == TOKEN_IDENTIFIER
                               ? symbol_lookup(parser, parser->scope, token.text, token.length)
                               : NULL;
    if (!symbol || symbol->kind != SYMBOL_REGISTER || !symbol->is_predicate)
        parser_fail(parser, token.line, "expected a declared predicate after '@', got %s",
                    token_words(token));
    statement->guard = symbol->index;
    advance(parser);
}

static void parse_branch(Parser *parser, Draft *draft) {
    Operand target = no_operand();
    target.shape = OPERAND_SYMBOL;
    draft->statement.label = expect_name(parser, "a label");
    draft_operand(draft, target);
    statement_end(parser, draft);
    statement_add(parser, draft);
}

/* Inside an inlined function a register that holds the address of a parameter points to local memory, where
 * such parameters are kept. */
static void add_param_access(Parser *parser, Draft *draft) {
    BodyStatement *statement = &draft->statement;
    for (uint32_t i = 0; i < statement->operand_count; i++) {
        const Operand *operand = &draft->operands[i];
        if (operand->shape != OPERAND_ADDRESS) continue;
        if (operand->symbol && operand->symbol->kind == SYMBOL_CALL_PARAM) {
            param_access_add(parser, draft, i);
            return;
        }
        for (uint32_t m = 0; parser->function && operand->reg != NO_REGISTER && m < statement->modifier_count;
             m++)
            if (!strcmp(draft->modifiers[m], "param")) draft->modifiers[m] = "local";
    }
    statement_add(parser, draft);
}

static bool accesses_param(const Draft *draft) {
    const char *opcode = draft->statement.opcode;
    if (strcmp(opcode, "ld") != 0 && strcmp(opcode, "st") != 0) return false;
    for (uint32_t i = 0; i < draft->statement.modifier_count; i++)
        if (!strcmp(draft->modifiers[i], "param")) return true;
    return false;
}

/* Loads and stores of 128 bits are those of two elements of 64, as their registers are. */
static void lower_128_bits(Draft *draft) {
    const char *opcode = draft->statement.opcode;
    if (strcmp(opcode, "ld") != 0 && strcmp(opcode, "ldu") != 0 && strcmp(opcode, "st") != 0) return;
    for (uint32_t m = 0; m < draft->statement.modifier_count; m++) {
        if (strcmp(draft->modifiers[m], "b128") != 0) continue;
        if (draft->statement.vector_elements != 2) draft_refuse(draft, "expected one register of 128 bits");
        draft->modifiers[m] = "v2";
        draft_modifier(draft, "b64");
        return;
    }
}

/* [t, ...], where t is a .texref or .surfref among the parameters of the kernel: its value is the handle. */
static void load_handle_param(Parser *parser, Draft *draft) {
    KernelBody *kernel = parser->kernel;
    for (uint32_t i = 0; i < draft->statement.operand_count; i++) {
        Operand *operand = &draft->operands[i];
        if (operand->shape != OPERAND_ADDRESS || !operand->symbol || !operand->symbol->is_texture) continue;
        Draft load;
        draft_begin(parser, &load, "ld", &draft->statement);
        draft_modifier(&load, "param");
        draft_modifier(&load, "u64");
        uint32_t handle = register_new(kernel, 8, false, kernel->declared_registers++);
        draft_operand(&load, register_operand(parser, handle));
        draft_operand(&load, address_operand(operand->symbol, 0));
        statement_add(parser, &load);
        operand->reg = handle;
        operand->symbol = NULL;
    }
}

/* All texels are resident: there are no sparse textures. */
static void resident_add(Parser *parser, const Draft *fetch) {
    Draft move;
    if (fetch->resident.shape != OPERAND_PREDICATE) return;
    draft_begin(parser, &move, "mov", &fetch->statement);
    draft_modifier(&move, "pred");
    draft_operand(&move, fetch->resident);
    draft_operand(&move, immediate_operand(1));
    move.statement.guard = fetch->statement.guard;
    move.statement.guard_negated = fetch->statement.guard_negated;
    statement_add(parser, &move);
}

static void parse_operands(Parser *parser, Draft *draft) {
    if (!at(parser, ';')) {
        do
            parse_operand_group(parser, draft);
        while (accept(parser, ','));
    }
    statement_end(parser, draft);
    lower_128_bits(draft);
    if (!accesses_param(draft)) load_handle_param(parser, draft);
    if (parser->function && !strcmp(draft->statement.opcode, "ret"))
        branch_add(parser, parser->return_label, &draft->statement);
    else if (accesses_param(draft))
        add_param_access(parser, draft);
    else if (!allocation_add(parser, draft) && !matrix_add(parser, draft) && !video_add(parser, draft) &&
             !vector_add(parser, draft) && !bulk_copy_add(parser, draft))
        statement_add(parser, draft);
    resident_add(parser, draft);
}

static void parse_instruction(Parser *parser) {
    Draft draft;
    draft_begin(parser, &draft, NULL, NULL);
    if (accept(parser, '@')) parse_guard(parser, &draft.statement);
    draft.statement.opcode = expect_name(parser, "an instruction, a label, a directive or '}'")->text;
    while (parser->token.kind == TOKEN_DOTTED) {
        bool is_const = at_dotted(parser, "const");
        draft_modifier(&draft, name_intern(&parser->symbols, parser->token.text, parser->token.length)->text);
        advance(parser);
        if (is_const) accept_constant_bank(parser);
    }
    if (!strcmp(draft.statement.opcode, "call"))
        parse_call(parser, &draft);
    else if (!strcmp(draft.statement.opcode, "bra"))
        parse_branch(parser, &draft);
    else if (!strcmp(draft.statement.opcode, "brx"))
        parse_indirect_branch(parser, &draft);
    else
        parse_operands(parser, &draft);
}

static void parse_body_directive(Parser *parser) {
    if (at_dotted(parser, "reg")) {
        parse_registers(parser);
    } else if (at_dotted(parser, "param")) {
        parse_call_param(parser);
    } else if (at_dotted(parser, "local")) {
        parse_local(parser);
    } else if (at_dotted(parser, "shared")) {
        advance(parser);
        parse_shared(parser, LINK_STATIC);
    } else if (at_dotted(parser, "extern")) {
        advance(parser);
        if (!at_dotted(parser, "shared")) parser_expected(parser, ".shared after .extern in a body");
        advance(parser);
        parse_shared(parser, LINK_EXTERN);
    } else if (at_dotted(parser, "global") || at_dotted(parser, "const")) {
        Space space = at_dotted(parser, "global") ? SPACE_GLOBAL : SPACE_CONST;
        advance(parser);
        parse_module_variables(parser, space, LINK_STATIC);
    } else if (at_dotted(parser, "hidden")) {
        advance(parser);
    } else if (at_dotted(parser, "loc")) {
        parse_location(parser);
    } else if (at_dotted(parser, "file")) {
        parse_file(parser);
    } else if (at_dotted(parser, "pragma")) {
        skip_through(parser, ';');
    } else {
        parser_expected(parser, ".reg, .param, .local, .shared, .extern, .loc, .file or .pragma in a body");
    }
}

static void parse_statement(Parser *parser) {
    if (accept(parser, ';')) return;
    if (parser->token.kind == TOKEN_DOTTED)
        parse_body_directive(parser);
    else if (parser->token.kind == TOKEN_IDENTIFIER && peek(parser).punctuation == ':')
        parse_label(parser);
    else
        parse_instruction(parser);
}

void parse_body(Parser *parser, Scope *scope, const char *name) {
    Scope *outer = parser->scope;
    parser->scope = scope;
    while (!(at(parser, '}') && parser->scope == scope)) {
        if (parser->token.kind == TOKEN_END)
            parser_fail(parser, parser->token.line,
                        "expected '}' after the body of '%.200s', got the end of the file", name);
        if (accept(parser, '{'))
            parser->scope = scope_open(&parser->symbols, parser->scope);
        else if (accept(parser, '}'))
            parser->scope = parser->scope->parent;
        else
            parse_statement(parser);
    }
    parser->scope = outer;
}

/* A body may end, or a label may stand, where no instruction follows. */
void close_body(Parser *parser) {
    KernelBody *body = parser->kernel;
    const BodyStatement *last = body->statement_count ? &body->statements[body->statement_count - 1] : NULL;
    bool leaves = last && last->guard == NO_REGISTER &&
                  (!strcmp(last->opcode, "ret") || !strcmp(last->opcode, "exit") ||
                   !strcmp(last->opcode, "bra"));
    if (leaves && !(body->has_label && body->last_label == body->statement_count)) return;
    Draft end;
    draft_begin(parser, &end, "exit", NULL);
    end.statement.text_length = 1;
    statement_add(parser, &end);
}
