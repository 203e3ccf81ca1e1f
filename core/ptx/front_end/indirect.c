/* Branches and calls whose target a register names: decisions between the targets that are possible.
 *
 * brx.idx becomes a binary tree of compares. An indirect call is compared with the address of each function
 * of the module whose address is taken and whose parameters fit, and the one that it is, is inlined; an
 * address of none of them is a fault of the kernel. The address of a function is a number, no place in
 * memory. Where no more is inlined, the decision is a function of its own, one for all calls between the same
 * candidates. */
#include "core/ptx/front_end/parser.h"

#include <string.h>

void branch_if(Parser *parser, const BodyStatement *origin, const char *compare, const char *type,
               Operand left, uint64_t right, Symbol *label) {
    KernelBody *kernel = parser->kernel;
    BodyStatement branch = *origin;
    Draft setp;
    branch.guard = register_new(kernel, 0, true, kernel->declared_registers++);
    branch.guard_negated = false;
    draft_begin(parser, &setp, "setp", origin);
    draft_modifier(&setp, compare);
    draft_modifier(&setp, type);
    draft_operand(&setp, register_operand(parser, branch.guard));
    draft_operand(&setp, left);
    draft_operand(&setp, immediate_operand(right));
    statement_add(parser, &setp);
    branch_add(parser, label, &branch);
}

Symbol *skip_unless_guarded(Parser *parser, BodyStatement *origin) {
    Symbol *behind = label_new(parser);
    BodyStatement skip = *origin;
    skip.guard_negated = !skip.guard_negated;
    if (origin->guard != NO_REGISTER) branch_add(parser, behind, &skip);
    origin->guard = NO_REGISTER;
    return behind;
}

/* Branch tables. */

void parse_branch_table(Parser *parser, Symbol *table) {
    advance(parser);
    do {
        table->targets = arena_grow(&parser->scratch, table->targets, sizeof *table->targets,
                                    table->target_count, &table->target_capacity);
        table->targets[table->target_count++] = expect_name(parser, "a label");
    } while (accept(parser, ','));
    expect(parser, ';', "after a list of labels");
}

/* What the directive behind the label is, which may stand behind the statement that names it. Without one it has
 * neither targets nor the kind of a prototype. */
static const Symbol *find_labelled(Parser *parser, const Name *name) {
    const Symbol *known = symbol_lookup(parser, parser->scope, name->text, name->length);
    if (known) return known;
    Parser outer = *parser;
    Symbol *labelled = arena_alloc(&parser->scratch, 1, sizeof *labelled);
    bool found = false;
    while (!found && parser->token.kind != TOKEN_END && !at_dotted(parser, "func") &&
           !at_dotted(parser, "entry")) {
        bool named = token_is(parser->token, TOKEN_IDENTIFIER, name->text);
        advance(parser);
        if (!named || !accept(parser, ':')) continue;
        found = true;
        if (at_dotted(parser, "branchtargets")) parse_branch_table(parser, labelled);
        if (at_dotted(parser, "callprototype") || at_dotted(parser, "calltargets"))
            parse_prototype(parser, labelled);
    }
    parser->lexer = outer.lexer;
    parser->token = outer.token;
    return labelled;
}

static void jump_to(Parser *parser, const BodyStatement *origin, const Name *label) {
    Draft branch;
    Operand target = immediate_operand(0);
    target.shape = OPERAND_SYMBOL;
    draft_begin(parser, &branch, "bra", origin);
    branch.statement.label = label;
    draft_operand(&branch, target);
    statement_add(parser, &branch);
}

static void choose_target(Parser *parser, const BodyStatement *origin, Operand index, const Symbol *table,
                          uint32_t first, uint32_t end) {
    if (end - first == 1) {
        jump_to(parser, origin, table->targets[first]);
        return;
    }
    uint32_t middle = first + (end - first) / 2;
    Symbol *upper = label_new(parser);
    branch_if(parser, origin, "ge", "u32", index, middle, upper);
    choose_target(parser, origin, index, table, first, middle);
    label_place(parser, upper);
    choose_target(parser, origin, index, table, middle, end);
}

/* brx.idx index, table; */
void parse_indirect_branch(Parser *parser, Draft *draft) {
    Operand index = parse_operand(parser, draft);
    expect(parser, ',', "after the index of a branch");
    uint32_t line = parser->token.line;
    const Name *name = expect_name(parser, "the name of a list of labels");
    statement_end(parser, draft);
    const Symbol *table = find_labelled(parser, name);
    if (!table->target_count)
        parser_fail(parser, line, "expected a list of labels (.branchtargets), got '%.200s'", name->text);
    BodyStatement origin = draft->statement;
    Symbol *behind = skip_unless_guarded(parser, &origin);
    choose_target(parser, &origin, index, table, 0, table->target_count);
    label_place(parser, behind);
}

/* Indirect calls. */

static Function *function_named(const Parser *parser, const Source *source, Token token) {
    const Name *name = token.kind == TOKEN_IDENTIFIER ? name_find(&parser->symbols, token.text, token.length)
                                                      : NULL;
    const Symbol *symbol = name ? module_symbol(parser, source, name) : NULL;
    return symbol && symbol->kind == SYMBOL_FUNCTION ? symbol->function : NULL;
}

/* From behind the '{' of a body to its end. */
static void find_addresses_in(const Parser *parser, const Source *source, Lexer lexer) {
    bool in_call = false;
    for (uint32_t depth = 1; depth;) {
        Token token = lexer_next(&lexer);
        if (token.kind == TOKEN_END) return;
        if (token.punctuation == '{') depth++;
        if (token.punctuation == '}') depth--;
        if (token.punctuation == ';') in_call = false;
        if (token_is(token, TOKEN_IDENTIFIER, "call")) in_call = true;
        Function *function = in_call ? NULL : function_named(parser, source, token);
        if (function) function->address_taken = true;
    }
}

/* Which functions' addresses the code takes; initialisers have said theirs. */
void find_addresses(Parser *parser) {
    if (parser->addresses_found) return;
    parser->addresses_found = true;
    for (uint32_t i = 0; i < parser->entry_count; i++)
        find_addresses_in(parser, parser->entries[i].source, parser->entries[i].body);
    for (uint32_t i = 0; i < parser->function_count; i++) {
        const Function *function = parser->functions[i]->function;
        if (function->has_body) find_addresses_in(parser, function->source, function->body);
    }
}

/* The functions of .calltargets say themselves what their parameters are. */
void parse_prototype(Parser *parser, Symbol *prototype) {
    bool has_types = at_dotted(parser, "callprototype");
    prototype->kind = SYMBOL_PROTOTYPE;
    advance(parser);
    if (has_types) {
        prototype->function = arena_alloc(&parser->scratch, 1, sizeof *prototype->function);
        if (accept(parser, '(')) parse_formals(parser, &prototype->function->results);
        expect_name(parser, "'_' in a prototype");
        if (accept(parser, '(')) parse_formals(parser, &prototype->function->params);
    }
    skip_through(parser, ';');
}

static void check_prototype(Parser *parser, const BodyStatement *call, const Name *name,
                            const Actuals *results, const Actuals *params) {
    const Symbol *prototype = find_labelled(parser, name);
    if (prototype->kind != SYMBOL_PROTOTYPE)
        parser_fail(parser, call->line, "expected a prototype (.callprototype or .calltargets), got '%.200s'",
                    name->text);
    const char *defect = prototype->function ? call_defect(parser, prototype->function, results, params)
                                             : NULL;
    if (defect) parser_fail(parser, call->line, "call by '%.200s': %s", name->text, defect);
}

/* What is reached where the address is that of no candidate, in front of what follows the call. */
static void unknown_function_add(Parser *parser, const BodyStatement *origin, Operand address,
                                 Symbol *behind) {
    Draft fault;
    draft_begin(parser, &fault, "trap", origin);
    draft_modifier(&fault, "indirect");
    draft_operand(&fault, address);
    statement_add(parser, &fault);
    label_place(parser, behind);
}

static bool is_candidate(const Parser *parser, const Function *function, const Actuals *results,
                         const Actuals *params) {
    return function->address_taken && function->has_body && !call_defect(parser, function, results, params);
}

static void set_number(Parser *parser, const BodyStatement *origin, Operand reg, uint64_t value) {
    Draft move;
    draft_begin(parser, &move, "mov", origin);
    draft_modifier(&move, "u32");
    draft_operand(&move, reg);
    draft_operand(&move, immediate_operand(value));
    statement_add(parser, &move);
}

/* Those of a candidate, in memory, and one in a register. A name with a blank is nobody else's. */
static FormalList formals_with(Parser *parser, const FormalList *formals, const char *name, uint64_t bytes) {
    FormalList list = {.count = formals->count + 1};
    list.list = arena_alloc(&parser->scratch, list.count, sizeof *list.list);
    for (uint32_t i = 0; i < formals->count; i++) {
        list.list[i] = formals->list[i];
        list.list[i].is_register = formals->list[i].type.is_predicate;
    }
    list.list[formals->count] = (Formal){
        .name = name_intern(&parser->symbols, name, strlen(name)),
        .type = {.element_bytes = bytes, .bytes = bytes, .align = bytes, .is_integer = true},
        .is_register = true};
    return list;
}

/* The function that calls the candidate with the address that is its last parameter; its last result is 0 when that
 * is none of them. */
static Function *choosing_function(Parser *parser, Symbol **candidates, uint32_t count) {
    for (Function *known = parser->choosing; known; known = known->next)
        if (known->candidate_count == count &&
            !memcmp(known->candidates, candidates, count * sizeof *candidates))
            return known;
    const Function *first = candidates[0]->function;
    Function *function = arena_alloc(&parser->scratch, 1, sizeof *function);
    call_graph_find(parser);
    *function = parser->indirect_calls; /* as recursive as all of them */
    function->name = name_intern(&parser->symbols, "indirect call", strlen("indirect call"));
    function->results = formals_with(parser, &first->results, "was found", 4);
    function->params = formals_with(parser, &first->params, "the address", 8);
    function->source = first->source;
    function->body = first->body;
    function->candidate_count = count;
    function->candidates = arena_alloc(&parser->scratch, count, sizeof *candidates);
    memcpy(function->candidates, candidates, count * sizeof *candidates);
    function->next = parser->choosing;
    return parser->choosing = function;
}

void choice_add(Parser *parser, Instance *instance) {
    const Function *function = instance->function;
    Actuals results = {.list = instance->results, .count = function->results.count - 1},
            params = {.list = instance->params, .count = function->params.count - 1};
    Operand found = results.list[results.count], address = params.list[params.count];
    Draft origin;
    draft_begin(parser, &origin, "call", NULL);
    for (uint32_t i = 0; i < function->candidate_count; i++) {
        const Symbol *candidate = function->candidates[i];
        Symbol *next = label_new(parser);
        branch_if(parser, &origin.statement, "ne", "u64", address, candidate->offset, next);
        real_call_add(parser, &origin.statement, candidate->function, &results, &params);
        set_number(parser, &origin.statement, found, 1);
        branch_add(parser, instance->exit, &origin.statement);
        label_place(parser, next);
    }
    set_number(parser, &origin.statement, found, 0);
}

static Actuals actuals_with(Parser *parser, const Actuals *actuals, Operand last) {
    Actuals list = {.count = actuals->count + 1};
    list.list = arena_alloc(parser->kernel->arena, list.count, sizeof *list.list);
    memcpy(list.list, actuals->list, actuals->count * sizeof *list.list);
    list.list[actuals->count] = last;
    return list;
}

static const char *chosen_call_add(Parser *parser, const BodyStatement *call, Operand address,
                                   const Actuals *results, const Actuals *params) {
    KernelBody *kernel = parser->kernel;
    Symbol **candidates = arena_alloc(kernel->arena, parser->function_count, sizeof *candidates);
    uint32_t count = 0;
    for (uint32_t i = 0; i < parser->function_count; i++)
        if (is_candidate(parser, parser->functions[i]->function, results, params))
            candidates[count++] = parser->functions[i];
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < candidates[i]->function->params.count; k++)
            if (candidates[i]->function->params.list[k].type.unsized)
                return "a function that it may call has a parameter without a size, and it is not inlined";
    BodyStatement origin = *call;
    Symbol *behind = skip_unless_guarded(parser, &origin);
    if (!count) return unknown_function_add(parser, &origin, address, behind), NULL;
    Operand found = register_operand(parser, register_new(kernel, 4, false, kernel->declared_registers++));
    Actuals all_results = actuals_with(parser, results, found),
            all_params = actuals_with(parser, params, address);
    real_call_add(parser, &origin, choosing_function(parser, candidates, count), &all_results, &all_params);
    branch_if(parser, &origin, "ne", "u32", found, 0, behind);
    unknown_function_add(parser, &origin, address, behind);
    return NULL;
}

const char *indirect_call_add(Parser *parser, const BodyStatement *call, Operand address,
                              const Actuals *results, const Actuals *params, const Name *prototype) {
    if (prototype) check_prototype(parser, call, prototype, results, params);
    find_addresses(parser);
    if (inlining_has_ended(parser)) return chosen_call_add(parser, call, address, results, params);
    BodyStatement origin = *call;
    Symbol *behind = skip_unless_guarded(parser, &origin);
    for (uint32_t i = 0; i < parser->function_count; i++) {
        Function *function = parser->functions[i]->function;
        if (!is_candidate(parser, function, results, params)) continue;
        Symbol *next = label_new(parser);
        branch_if(parser, &origin, "ne", "u64", address, parser->functions[i]->offset, next);
        function_call_add(parser, &origin, function, results, params);
        branch_add(parser, behind, &origin);
        label_place(parser, next);
    }
    unknown_function_add(parser, &origin, address, behind);
    return NULL;
}
