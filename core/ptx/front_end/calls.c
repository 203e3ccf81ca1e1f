/* Calls of device functions: the body is read again at every call, in a scope of its own.
 *
 * A parameter of a call is a .param variable of the caller; inside the callee its formal name stands for the
 * same variable. Where every access takes a whole register and accesses do not overlap in part, registers
 * replace it, as the ABI does on hardware; otherwise it lives in local memory. */
#include "core/ptx/front_end/parser.h"

#include <string.h>

enum { MAX_BYTES_IN_REGISTERS = 1024 };

/* Behind the opening parenthesis. */
static void parse_actuals(Parser *parser, Draft *draft, Actuals *actuals) {
    while (!accept(parser, ')')) {
        if (actuals->count) expect(parser, ',', "between the parameters of a call");
        actuals->list = arena_grow(parser->kernel->arena, actuals->list, sizeof(Operand), actuals->count,
                                   &actuals->capacity);
        actuals->list[actuals->count++] = parse_operand(parser, draft);
    }
}

const char *width_modifier(uint64_t bytes, bool is_predicate) {
    if (is_predicate) return "pred";
    return bytes == 8 ? "b64" : bytes == 4 ? "b32" : bytes == 2 ? "b16" : "b8";
}

static void move_add(Parser *parser, const BodyStatement *origin, Operand to, Operand from,
                     const VariableType *type) {
    Draft move;
    draft_begin(parser, &move, "mov", origin);
    draft_modifier(&move, width_modifier(type->element_bytes, type->is_predicate));
    draft_operand(&move, to);
    draft_operand(&move, from);
    statement_add(parser, &move);
}

static void scalar_access_add(Parser *parser, const BodyStatement *origin, const char *opcode,
                              const char *type, Operand address, Operand value) {
    Draft access;
    bool is_load = !strcmp(opcode, "ld");
    draft_begin(parser, &access, opcode, origin);
    access.statement.guard = origin->guard;
    access.statement.guard_negated = origin->guard_negated;
    draft_modifier(&access, "param");
    draft_modifier(&access, type);
    draft_operand(&access, is_load ? value : address);
    draft_operand(&access, is_load ? address : value);
    statement_add(parser, &access);
}

void param_access_add(Parser *parser, const Draft *draft, uint32_t address_index) {
    const BodyStatement *statement = &draft->statement;
    const char *type = draft->modifiers[statement->modifier_count - 1];
    Operand address = draft->operands[address_index];
    uint64_t bytes = type_bytes(type);
    if (!bytes)
        parser_fail(parser, statement->line, "expected a type for loads and stores, got '.%.100s'", type);
    for (uint32_t i = 0; i < statement->operand_count; i++) {
        if (i == address_index) continue;
        if (address.value > address.symbol->bytes || bytes > address.symbol->bytes - address.value)
            parser_fail(parser, statement->line, "expected an access within the %llu bytes of '%.200s'",
                        (unsigned long long)address.symbol->bytes, address.symbol->name->text);
        if (draft->operands[i].shape != OPERAND_SINK)
            scalar_access_add(parser, statement, statement->opcode, type, address, draft->operands[i]);
        address.value += bytes;
    }
}

Operand typed_argument(const Formal *formal, Operand actual) {
    if (actual.shape != OPERAND_IMMEDIATE || !formal->type.is_float) return actual;
    uint64_t bits;
    literal_fit((Literal){actual.literal, actual.value}, formal->type.element_bytes, true, &bits);
    return immediate_operand(bits);
}

static bool is_in_param(const Operand *actual) {
    return actual->symbol && actual->symbol->kind == SYMBOL_CALL_PARAM;
}

/* Makes the formal name known to the callee. A register or a number may be passed without a .param
 * variable, and a .param variable to a register. */
static void bind_formal(Parser *parser, const BodyStatement *origin, Scope *scope, const Formal *formal,
                        Operand actual, bool is_result) {
    if (is_in_param(&actual) && actual.symbol->bytes != formal->type.bytes && !formal->type.unsized)
        parser_fail(parser, origin->line, "'%.200s': expected %llu bytes as the function declares, got %llu",
                    actual.symbol->name->text, (unsigned long long)formal->type.bytes,
                    (unsigned long long)actual.symbol->bytes);
    if (formal->is_register) {
        declare_register(parser, scope, formal->name, &formal->type, formal->line);
        Operand reg = register_operand(parser, symbol_in_scope(&parser->symbols, scope, formal->name)->index);
        if (!is_result && is_in_param(&actual))
            scalar_access_add(parser, origin, "ld", width_modifier(formal->type.bytes, false),
                              address_operand(actual.symbol, 0), reg);
        else if (!is_result)
            move_add(parser, origin, reg, actual, &formal->type);
        return;
    }
    if (is_in_param(&actual)) {
        const Symbol *other = symbol_in_scope(&parser->symbols, scope, formal->name);
        if (other) parser_fail(parser, formal->line, "'%.200s' is declared twice", formal->name->text);
        symbol_bind(&parser->symbols, scope, formal->name, actual.symbol);
        return;
    }
    Symbol *variable = symbol_declare(parser, scope, formal->name, SYMBOL_CALL_PARAM, formal->line);
    variable->bytes = formal->type.bytes;
    variable->align = formal->type.align;
    variable->instance = parser->kernel->instance;
    if (formal->type.dimension_count)
        parser_fail(parser, origin->line, "'%.200s' needs a .param variable", formal->name->text);
    if (!is_result)
        scalar_access_add(parser, origin, "st", width_modifier(variable->bytes, false),
                          address_operand(variable, 0), actual);
}

/* Results that are not yet in the caller's registers or .param variables are moved there. */
static void fetch_result(Parser *parser, const BodyStatement *origin, Scope *scope, const Formal *formal,
                         Operand actual) {
    Symbol *symbol = symbol_in_scope(&parser->symbols, scope, formal->name);
    if (actual.shape == OPERAND_SINK || (is_in_param(&actual) && !formal->is_register)) return;
    if (is_in_param(&actual))
        scalar_access_add(parser, origin, "st", width_modifier(formal->type.bytes, false),
                          address_operand(actual.symbol, 0), register_operand(parser, symbol->index));
    else if (formal->is_register)
        move_add(parser, origin, actual, register_operand(parser, symbol->index), &formal->type);
    else
        scalar_access_add(parser, origin, "ld", width_modifier(symbol->bytes, false),
                          address_operand(symbol, 0), actual);
}

static void inline_body(Parser *parser, Function *function, Scope *scope) {
    Parser outer = *parser;
    Symbol *end = label_new(parser);
    parser->function = function;
    parser->return_label = end;
    parser->inline_depth++;
    parser->lexer = function->body;
    parser->source = function->source;
    advance(parser);
    parse_body(parser, scope, function->name->text);
    parser->function = outer.function;
    parser->return_label = outer.return_label;
    parser->inline_depth--;
    parser->location = outer.location;
    parser->lexer = outer.lexer;
    parser->source = outer.source;
    parser->token = outer.token;
    /* A return at the end would be a branch to the next instruction. */
    KernelBody *kernel = parser->kernel;
    uint32_t count = kernel->statement_count;
    const BodyStatement *last = count ? &kernel->statements[count - 1] : NULL;
    bool labelled = kernel->has_label && kernel->last_label == count;
    if (last && last->operand_count && last->operands[0].symbol == end && last->guard == NO_REGISTER &&
        !labelled)
        kernel->statement_count--;
    label_place(parser, end);
}

static void inline_call(Parser *parser, const BodyStatement *call, Function *function, const Actuals *results,
                        const Actuals *params) {
    if (results->count != function->results.count || params->count != function->params.count)
        parser_fail(parser, call->line, "'%.200s': expected %u parameters and %u results, got %u and %u",
                    function->name->text, function->params.count, function->results.count, params->count,
                    results->count);
    parser->kernel->inlined_calls++;
    BodyStatement origin = *call, skip = *call;
    Symbol *behind = label_new(parser);
    skip.guard_negated = !skip.guard_negated;
    origin.guard = NO_REGISTER;
    if (call->guard != NO_REGISTER) branch_add(parser, behind, &skip);
    Scope *scope = scope_open(&parser->symbols, function->source->scope);
    for (uint32_t i = 0; i < results->count; i++)
        bind_formal(parser, &origin, scope, &function->results.list[i], results->list[i], true);
    for (uint32_t i = 0; i < params->count; i++)
        bind_formal(parser, &origin, scope, &function->params.list[i],
                    typed_argument(&function->params.list[i], params->list[i]), false);
    Operand kept = allocations_keep(parser, &origin);
    inline_body(parser, function, scope);
    allocations_drop(parser, &origin, kept);
    for (uint32_t i = 0; i < results->count; i++)
        fetch_result(parser, &origin, scope, &function->results.list[i], results->list[i]);
    label_place(parser, behind);
}

void function_call_add(Parser *parser, const BodyStatement *call, Function *function, const Actuals *results,
                       const Actuals *params) {
    if (call_is_real(parser, function))
        real_call_add(parser, call, function, results, params);
    else
        inline_call(parser, call, function, results, params);
}

/* call.uni (results), target, (parameters), prototype; all but the target may be missing. */
void parse_call(Parser *parser, Draft *draft) {
    Actuals results = {0}, params = {0};
    draft->in_call = true;
    if (accept(parser, '(')) {
        parse_actuals(parser, draft, &results);
        expect(parser, ',', "after the results of a call");
    }
    Token target = parser->token;
    if (target.kind != TOKEN_IDENTIFIER) parser_expected(parser, "the name of a function");
    const Symbol *symbol = symbol_lookup(parser, parser->scope, target.text, target.length);
    advance(parser);
    bool more = accept(parser, ',');
    if (more && accept(parser, '(')) {
        parse_actuals(parser, draft, &params);
        more = accept(parser, ',');
    }
    const Name *prototype = more ? expect_name(parser, "the prototype of an indirect call") : NULL;
    statement_end(parser, draft);
    BodyStatement *call = &draft->statement;
    if (!symbol || (symbol->kind != SYMBOL_FUNCTION && symbol->kind != SYMBOL_REGISTER))
        parser_fail(parser, target.line, "%s is not a declared function", token_words(target));
    Function *function = symbol->function;
    bool indirect = symbol->kind == SYMBOL_REGISTER, external = !indirect && !function->has_body;
    if (external && intrinsic_call_add(parser, call, function, &results, &params)) return;
    const char *reason = external ? missing_body_reason(function) : call->unsupported;
    if (!reason && indirect)
        reason = indirect_call_add(parser, call, register_operand(parser, symbol->index), &results, &params,
                                   prototype);
    else if (!reason)
        function_call_add(parser, call, function, &results, &params);
    if (reason) unsupported_add(parser, call, reason);
}

/* Lowering. */

static ParamPiece *find_piece(const Symbol *symbol, uint64_t offset, uint64_t bytes) {
    ParamPiece *piece = symbol->pieces;
    while (piece && (piece->offset != offset || piece->bytes != bytes))
        piece = piece->next;
    return piece;
}

static bool overlaps_piece(const Symbol *symbol, uint64_t offset, uint64_t bytes) {
    for (const ParamPiece *piece = symbol->pieces; piece; piece = piece->next)
        if (offset < piece->offset + piece->bytes && piece->offset < offset + bytes) return true;
    return false;
}

static bool is_access(const BodyStatement *statement, const Operand *operand) {
    return operand->shape == OPERAND_ADDRESS && statement->operand_count == 2 &&
           statement->modifier_count == 2 && !strcmp(statement->modifiers[0], "param");
}

/* The register or number that is loaded or stored. */
static Operand *accessed_value(const BodyStatement *statement) {
    return &statement->operands[!strcmp(statement->opcode, "st")];
}

static void note_use(KernelBody *kernel, const BodyStatement *statement, const Operand *operand) {
    Symbol *symbol = operand->symbol;
    if (!is_access(statement, operand) || symbol->bytes > MAX_BYTES_IN_REGISTERS) {
        symbol->in_memory = true;
        return;
    }
    const Operand *value = accessed_value(statement);
    uint32_t bytes = type_bytes(statement->modifiers[1]);
    bool whole = bytes > 1 && (value->shape != OPERAND_REGISTER || value->special != NO_SPECIAL ||
                               kernel->registers[value->reg].bytes == bytes);
    if (find_piece(symbol, operand->value, bytes)) {
        symbol->in_memory |= !whole;
        return;
    }
    symbol->in_memory |= !whole || overlaps_piece(symbol, operand->value, bytes);
    ParamPiece *piece = arena_alloc(kernel->arena, 1, sizeof *piece);
    *piece = (ParamPiece){symbol->pieces, operand->value, bytes, NO_REGISTER};
    symbol->pieces = piece;
}

static void move_to_local(Parser *parser, BodyStatement *statement, Operand *operand) {
    Symbol *symbol = operand->symbol;
    if (!symbol->defined)
        symbol->offset = reserve_for(parser, symbol->instance, symbol->bytes, symbol->align, symbol->line);
    symbol->defined = true;
    if (symbol->instance && symbol->instance->function->framed) {
        operand->reg = parser->kernel->stack_pointer;
        operand->symbol = NULL;
        operand->value += symbol->offset;
    }
    for (uint32_t m = 0; m < statement->modifier_count; m++)
        if (!strcmp(statement->modifiers[m], "param")) statement->modifiers[m] = "local";
}

static void turn_into_move(Parser *parser, BodyStatement *statement, const Operand *operand) {
    KernelBody *kernel = parser->kernel;
    ParamPiece *piece = find_piece(operand->symbol, operand->value, type_bytes(statement->modifiers[1]));
    kernel->instance = operand->symbol->instance;
    if (piece->reg == NO_REGISTER)
        piece->reg = register_new(kernel, piece->bytes, false, kernel->declared_registers++);
    kernel->instance = NULL;
    statement->operands[operand - statement->operands] = register_operand(parser, piece->reg);
    statement->modifiers[0] = piece->bytes == 2 ? "b16" : statement->modifiers[1];
    statement->modifier_count = 1;
    statement->opcode = "mov";
}

typedef void ParamUseFn(Parser *parser, BodyStatement *statement, Operand *operand);

static void note_param_use(Parser *parser, BodyStatement *statement, Operand *operand) {
    note_use(parser->kernel, statement, operand);
}

static void lower_param_use(Parser *parser, BodyStatement *statement, Operand *operand) {
    if (operand->symbol->in_memory)
        move_to_local(parser, statement, operand);
    else
        turn_into_move(parser, statement, operand);
}

static void for_param_uses(Parser *parser, ParamUseFn *visit) {
    for (uint32_t i = 0; i < parser->kernel->statement_count; i++) {
        BodyStatement *statement = &parser->kernel->statements[i];
        for (uint32_t k = 0; k < statement->operand_count; k++)
            if (statement->operands[k].symbol && statement->operands[k].symbol->kind == SYMBOL_CALL_PARAM)
                visit(parser, statement, &statement->operands[k]);
    }
}

void lower_call_params(Parser *parser) {
    for_param_uses(parser, note_param_use);
    for_param_uses(parser, lower_param_use);
}
