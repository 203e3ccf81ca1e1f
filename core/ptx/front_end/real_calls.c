/* Calls that are not inlined: of functions that call themselves, and where inlining would go on for too long.
 *
 * Such a function has one body in the kernel, behind the entry's. Who calls it moves the parameters to the
 * registers and memory of its formals, leaves the number of the call in a register of the function, and jumps;
 * the function ends with a decision between its calls by that number, as brx.idx does. So each thread returns
 * to where it came from, and threads of a warp that are at different depths of a recursion meet again where
 * the function's code does: the end of the function is the post-dominator of its branches. Each call from
 * outside of a recursion has bodies of its own, so that the post-dominator of the decision at their end is
 * the place behind this call: there all threads are together again.
 *
 * Functions that may be active several times, and those that they call, have frames on a stack in local memory:
 * their .local variables, parameters in memory, and, at a call by which they could come to run again, the
 * registers that are needed behind it (analysis/saves.c puts these stores and loads in, once it is known which
 * they are). A stack pointer per thread says where the frame is; the stack begins behind what is laid out once
 * in local memory. */
#include "core/ptx/front_end/parser.h"

#include <stdio.h>
#include <string.h>

/* Beyond these, no call of a kernel is inlined any more. */
enum { MAX_INLINE_DEPTH = 64, MAX_INLINED_CALLS = 1 << 16, MAX_INLINED_STATEMENTS = 1 << 16 };
/* With more bodies, further calls from outside of a recursion share one. */
enum { MAX_OWN_BODIES = 64 };

bool inlining_has_ended(const Parser *parser) {
    const KernelBody *kernel = parser->kernel;
    return parser->inline_depth >= MAX_INLINE_DEPTH || kernel->inlined_calls >= MAX_INLINED_CALLS ||
           kernel->statement_count >= MAX_INLINED_STATEMENTS;
}

bool call_is_real(Parser *parser, const Function *function) {
    call_graph_find(parser);
    return function->recursive || inlining_has_ended(parser);
}

static void instruction_add(Parser *parser, const BodyStatement *origin, const char *opcode, const char *type,
                            const Operand *operands, uint32_t count) {
    Draft draft;
    draft_begin(parser, &draft, opcode, origin);
    draft_modifier(&draft, type);
    for (uint32_t i = 0; i < count; i++)
        draft_operand(&draft, operands[i]);
    statement_add(parser, &draft);
}

static Operand new_register(Parser *parser, uint32_t bytes, bool is_predicate) {
    KernelBody *kernel = parser->kernel;
    return register_operand(parser, register_new(kernel, bytes, is_predicate, kernel->declared_registers++));
}

/* --- The stack ------------------------------------------------------------------------------- */

static Operand stack_pointer(Parser *parser) {
    KernelBody *kernel = parser->kernel;
    if (kernel->uses_stack) return register_operand(parser, kernel->stack_pointer);
    Instance *instance = kernel->instance;
    kernel->instance = NULL; /* it is saved by nobody */
    Operand pointer = new_register(parser, 8, false);
    kernel->instance = instance;
    kernel->uses_stack = true;
    kernel->stack_pointer = pointer.reg;
    kernel->stack_base.kind = SYMBOL_LOCAL;
    return pointer;
}

/* Where a variable of a frame lies: sp + offset, in a register as wide as addresses are. */
Operand frame_address(Parser *parser, Symbol *symbol, uint64_t offset) {
    if (symbol->kind == SYMBOL_CALL_PARAM && !symbol->defined) {
        symbol->offset = reserve_for(parser, symbol->instance, symbol->bytes, symbol->align, symbol->line);
        symbol->defined = symbol->in_memory = true;
    }
    Operand address = new_register(parser, 8, false);
    Operand sum[] = {address, stack_pointer(parser), immediate_operand(symbol->offset + offset)};
    instruction_add(parser, NULL, "add", "u64", sum, 3);
    if (parser->source->address_bytes == 8) return address;
    Operand narrow[] = {new_register(parser, 4, false), address};
    Draft convert;
    draft_begin(parser, &convert, "cvt", NULL);
    draft_modifier(&convert, "u32");
    draft_modifier(&convert, "u64");
    draft_operand(&convert, narrow[0]);
    draft_operand(&convert, narrow[1]);
    statement_add(parser, &convert);
    return narrow[0];
}

static Operand symbol_operand(Symbol *symbol) {
    Operand operand = immediate_operand(0);
    operand.shape = OPERAND_SYMBOL;
    operand.symbol = symbol;
    return operand;
}

/* Before and behind a jump into a function that has frames: the pointer goes to the callee's, and back. */
static void move_stack(Parser *parser, const BodyStatement *origin, bool forward) {
    Instance *caller = parser->kernel->instance;
    Operand pointer = stack_pointer(parser);
    if (caller && caller->function->framed) {
        Operand sum[] = {pointer, pointer, symbol_operand(&caller->frame)};
        instruction_add(parser, origin, forward ? "add" : "sub", "u64", sum, 3);
    } else if (forward) {
        Operand base = parser->has_allocations ? stack_top(parser)
                                               : symbol_operand(&parser->kernel->stack_base);
        Operand move[] = {pointer, base};
        instruction_add(parser, origin, "mov", "u64", move, 2);
    }
}

/* --- Parameters ------------------------------------------------------------------------------ */

/* A parameter or result on its way, in pieces of `bytes` each. */
typedef struct {
    Operand *pieces;
    uint64_t count, bytes;
    bool is_predicate;
} Transit;

static Transit transit_new(Parser *parser, const VariableType *type, bool survives) {
    KernelBody *kernel = parser->kernel;
    uint64_t bytes = type->dimension_count ? type->align : type->element_bytes;
    if (bytes > 8) bytes = 8;
    while (bytes > 1 && type->bytes % bytes)
        bytes /= 2;
    Transit transit = {
        .count = bytes ? type->bytes / bytes : 1, .bytes = bytes, .is_predicate = type->is_predicate};
    transit.pieces = arena_alloc(kernel->arena, transit.count, sizeof *transit.pieces);
    for (uint64_t i = 0; i < transit.count; i++) {
        transit.pieces[i] = new_register(parser, (uint32_t)bytes, type->is_predicate);
        if (survives) kernel->registers[transit.pieces[i].reg].owner = NOBODY;
    }
    return transit;
}

/* Between the pieces and a register, number or .param variable. */
static void transit_move(Parser *parser, const BodyStatement *origin, const Transit *transit, Operand place,
                         bool store) {
    bool memory = place.symbol && place.symbol->kind == SYMBOL_CALL_PARAM;
    const char *type = width_modifier(transit->bytes, transit->is_predicate);
    if (place.shape == OPERAND_SINK) return;
    for (uint64_t i = 0; i < transit->count; i++) {
        Operand address = memory ? address_operand(place.symbol, i * transit->bytes) : place;
        Operand pair[] = {store ? address : transit->pieces[i], store ? transit->pieces[i] : address};
        Draft move;
        draft_begin(parser, &move, !memory ? "mov" : store ? "st" : "ld", origin);
        if (memory) draft_modifier(&move, "param");
        draft_modifier(&move, type);
        draft_operand(&move, pair[0]);
        draft_operand(&move, pair[1]);
        statement_add(parser, &move);
    }
}

enum { DEFECT_BYTES = 96, SIZE_WORDS_BYTES = 32 };

static void size_words(char *text, bool is_predicate, uint64_t bytes) {
    if (is_predicate)
        snprintf(text, SIZE_WORDS_BYTES, "a predicate");
    else
        snprintf(text, SIZE_WORDS_BYTES, "%llu bytes", (unsigned long long)bytes);
}

static bool actual_fits(const Parser *parser, const Formal *formal, const Operand *actual, char *why) {
    const VariableType *type = &formal->type;
    bool in_param = actual->symbol && actual->symbol->kind == SYMBOL_CALL_PARAM;
    const VirtualRegister *reg = actual->reg == NO_REGISTER ? NULL : &parser->kernel->registers[actual->reg];
    if (!in_param && type->dimension_count) {
        snprintf(why, DEFECT_BYTES, "expected a .param variable, got none");
        return false;
    }
    if ((!in_param && !reg) || type->unsized) return true;
    uint64_t bytes = in_param ? actual->symbol->bytes : reg->bytes;
    bool is_predicate = !in_param && reg->is_predicate;
    if (is_predicate == type->is_predicate && bytes == type->bytes) return true;
    char declared[SIZE_WORDS_BYTES], passed[SIZE_WORDS_BYTES];
    size_words(declared, type->is_predicate, type->bytes);
    size_words(passed, is_predicate, bytes);
    snprintf(why, DEFECT_BYTES, "expected %s, got %s", declared, passed);
    return false;
}

static const char *list_defect(const Parser *parser, const char *what, const FormalList *formals,
                               const Actuals *actuals) {
    static _Thread_local char defect[2 * DEFECT_BYTES];
    char why[DEFECT_BYTES];
    if (formals->count != actuals->count) {
        snprintf(defect, sizeof defect, "expected %u %ss, got %u", formals->count, what, actuals->count);
        return defect;
    }
    for (uint32_t i = 0; i < actuals->count; i++) {
        if (actual_fits(parser, &formals->list[i], &actuals->list[i], why)) continue;
        snprintf(defect, sizeof defect, "%s %u: %s", what, i + 1, why);
        return defect;
    }
    return NULL;
}

const char *call_defect(const Parser *parser, const Function *function, const Actuals *results,
                        const Actuals *params) {
    const char *defect = list_defect(parser, "result", &function->results, results);
    return defect ? defect : list_defect(parser, "parameter", &function->params, params);
}

/* --- Functions ------------------------------------------------------------------------------- */

/* Its formals are variables of its own. */
static void declare_formals(Parser *parser, Instance *instance, const FormalList *formals, Operand *places) {
    for (uint32_t i = 0; i < formals->count; i++) {
        const Formal *formal = &formals->list[i];
        if (formal->is_register) {
            declare_register(parser, instance->scope, formal->name, &formal->type, formal->line);
            const Symbol *symbol = symbol_in_scope(&parser->symbols, instance->scope, formal->name);
            places[i] = register_operand(parser, symbol->index);
            continue;
        }
        Symbol *symbol = symbol_declare(parser, instance->scope, formal->name, SYMBOL_CALL_PARAM,
                                        formal->line);
        symbol->bytes = formal->type.bytes;
        symbol->align = formal->type.align;
        symbol->instance = instance;
        places[i] = symbol_operand(symbol);
    }
}

static Instance *instance_new(Parser *parser, Function *function) {
    KernelBody *kernel = parser->kernel;
    Instance *instance = arena_alloc(kernel->arena, 1, sizeof *instance), *outer = kernel->instance;
    Source *source = parser->source;
    *instance = (Instance){.function = function,
                           .number = ++kernel->instance_count,
                           .scope = scope_open(&parser->symbols, function->source->scope),
                           .entry = label_new(parser),
                           .exit = label_new(parser),
                           .frame = {.kind = SYMBOL_LOCAL}};
    kernel->instance = instance;
    parser->source = function->source;
    instance->results = arena_alloc(kernel->arena, function->results.count, sizeof(Operand));
    instance->params = arena_alloc(kernel->arena, function->params.count, sizeof(Operand));
    declare_formals(parser, instance, &function->results, instance->results);
    declare_formals(parser, instance, &function->params, instance->params);
    instance->outermost = instance;
    instance->call_number = new_register(parser, 4, false).reg;
    parser->source = source;
    kernel->instance = outer;
    function->instance = instance;
    function->instance_kernel = kernel->number;
    if (kernel->last_instance)
        kernel->last_instance->next = instance;
    else
        kernel->instances = instance;
    kernel->last_instance = instance;
    return instance;
}

static bool is_inside(const Instance *caller, const Function *function) {
    return caller && caller->function->recursive && caller->function->component == function->component;
}

static Instance *instance_inside(Parser *parser, Function *function, const Instance *caller) {
    for (Instance *instance = parser->kernel->instances; instance; instance = instance->next)
        if (instance->function == function && instance->outermost == caller->outermost) return instance;
    Instance *instance = instance_new(parser, function);
    instance->outermost = caller->outermost;
    return instance;
}

static Instance *instance_of(Parser *parser, Function *function) {
    const KernelBody *kernel = parser->kernel;
    if (is_inside(kernel->instance, function)) return instance_inside(parser, function, kernel->instance);
    bool known = function->instance && function->instance_kernel == kernel->number;
    bool own = function->recursive && kernel->instance_count < MAX_OWN_BODIES &&
               kernel->statement_count < MAX_INLINED_STATEMENTS;
    return known && !own ? function->instance : instance_new(parser, function);
}

/* Where the registers of the caller are to be saved, or come back. */
static uint32_t save_marker(Parser *parser, const BodyStatement *origin) {
    Draft nothing;
    draft_begin(parser, &nothing, "frame", origin);
    nothing.statement.is_marker = true;
    statement_add(parser, &nothing);
    return parser->kernel->statement_count - 1;
}

static void jump_into(Parser *parser, const BodyStatement *origin, Instance *callee) {
    Operand number[] = {register_operand(parser, callee->call_number),
                        immediate_operand(callee->return_count)};
    Symbol *back = label_new(parser);
    instruction_add(parser, origin, "mov", "u32", number, 2);
    branch_add(parser, callee->entry, origin);
    callee->returns = arena_grow(parser->kernel->arena, callee->returns, sizeof *callee->returns,
                                 callee->return_count, &callee->return_capacity);
    callee->returns[callee->return_count++] = back;
    label_place(parser, back);
}

static Transit *transits_new(Parser *parser, const FormalList *formals, bool survive) {
    Transit *transits = arena_alloc(parser->kernel->arena, formals->count, sizeof *transits);
    for (uint32_t i = 0; i < formals->count; i++)
        transits[i] = transit_new(parser, &formals->list[i].type, survive);
    return transits;
}

static void note_saves(Parser *parser, uint32_t save, uint32_t restore) {
    KernelBody *kernel = parser->kernel;
    kernel->saves = arena_grow(kernel->arena, kernel->saves, sizeof *kernel->saves, kernel->save_count,
                               &kernel->save_capacity);
    kernel->saves[kernel->save_count++] = (SavePoint){save, restore, kernel->instance};
}

void real_call_add(Parser *parser, const BodyStatement *call, Function *function, const Actuals *results,
                   const Actuals *params) {
    const char *defect = call_defect(parser, function, results, params);
    if (defect) parser_fail(parser, call->line, "call of '%.200s': %s", function->name->text, defect);
    for (uint32_t i = 0; i < function->params.count; i++)
        if (function->params.list[i].type.unsized)
            parser_fail(
                parser, call->line,
                "call of '%.200s': expected parameters with a size, as the call is not inlined, got '%.200s'",
                function->name->text, function->params.list[i].name->text);
    Instance *callee = instance_of(parser, function), *caller = parser->kernel->instance;
    bool saves = is_inside(caller, function);
    BodyStatement origin = *call;
    Symbol *behind = skip_unless_guarded(parser, &origin);
    Transit *in = transits_new(parser, &function->params, false),
            *out = transits_new(parser, &function->results, true);
    for (uint32_t i = 0; i < params->count; i++)
        transit_move(parser, &origin, &in[i], typed_argument(&function->params.list[i], params->list[i]),
                     false);
    uint32_t save = saves ? save_marker(parser, &origin) : 0;
    if (function->framed) move_stack(parser, &origin, true);
    for (uint32_t i = 0; i < params->count; i++)
        transit_move(parser, &origin, &in[i], callee->params[i], true);
    jump_into(parser, &origin, callee);
    for (uint32_t i = 0; i < results->count; i++)
        transit_move(parser, &origin, &out[i], callee->results[i], false);
    if (function->framed) move_stack(parser, &origin, false);
    if (saves) note_saves(parser, save, save_marker(parser, &origin));
    for (uint32_t i = 0; i < results->count; i++)
        transit_move(parser, &origin, &out[i], results->list[i], true);
    label_place(parser, behind);
}

/* The end of a function: back to the call that is in its register. */
static void add_returns(Parser *parser, const Instance *instance, uint32_t first, uint32_t end,
                        const BodyStatement *origin) {
    if (end - first == 1) {
        branch_add(parser, instance->returns[first], origin);
        return;
    }
    uint32_t middle = first + (end - first) / 2;
    Symbol *upper = label_new(parser);
    branch_if(parser, origin, "ge", "u32", register_operand(parser, instance->call_number), middle, upper);
    add_returns(parser, instance, first, middle, origin);
    label_place(parser, upper);
    add_returns(parser, instance, middle, end, origin);
}

static void add_body(Parser *parser, Instance *instance) {
    Function *function = instance->function;
    parser->kernel->instance = instance;
    parser->function = function;
    parser->return_label = instance->exit;
    parser->source = function->source;
    parser->location = (Location){0};
    parser->lexer = function->body;
    advance(parser);
    label_place(parser, instance->entry);
    if (function->candidates)
        choice_add(parser, instance);
    else
        parse_body(parser, instance->scope, function->name->text);
    Draft end;
    draft_begin(parser, &end, "ret", NULL);
    end.statement.text_length = 1;
    label_place(parser, instance->exit);
    instance->end = end.statement;
}

void real_functions_add(Parser *parser) {
    KernelBody *kernel = parser->kernel;
    for (Instance *instance = kernel->instances; instance; instance = instance->next) {
        add_body(parser, instance);
        /* Calls that are yet to be read return here, too: the decision stands behind all bodies. */
        instance->decision = label_new(parser);
        branch_add(parser, instance->decision, &instance->end);
    }
    for (Instance *instance = kernel->instances; instance; instance = instance->next) {
        kernel->instance = instance;
        parser->source = instance->function->source;
        label_place(parser, instance->decision);
        add_returns(parser, instance, 0, instance->return_count, &instance->end);
    }
    kernel->instance = NULL;
    parser->function = NULL;
    parser->return_label = NULL;
}
