/* Functions without a body that the machine executes itself: the DMA engine's (workloads/dma.h). A call of
 * one is an instruction of the table, "call.NAME", whose operands are what was to be passed: the statements
 * that would store the parameters for a function are taken back.
 *
 * The marks of tiles are no instructions. They are carried out with the issue of a neighbour. */
#include "core/ptx/front_end/parser.h"

#include <string.h>

/* Is this the store of a parameter for the call that comes? */
static const Operand *stored_value(const BodyStatement *statement, const Symbol *param) {
    bool stores = !strcmp(statement->opcode, "st") && statement->modifier_count == 2 &&
                  !strcmp(statement->modifiers[0], "param") && statement->operand_count == 2;
    bool whole = stores && statement->operands[0].symbol == param && statement->operands[0].value == 0 &&
                 type_bytes(statement->modifiers[1]) == param->bytes && statement->guard == NO_REGISTER;
    return whole ? &statement->operands[1] : NULL;
}

/* What was stored for a parameter among the last statements, from `first` on; NULL when it was not. */
static const Operand *find_value(const KernelBody *kernel, uint32_t first, const Symbol *param) {
    for (uint32_t i = kernel->statement_count; i-- > first;) {
        const Operand *value = stored_value(&kernel->statements[i], param);
        if (value) return value;
    }
    return NULL;
}

static bool is_param(const Operand *operand) {
    return operand->symbol && operand->symbol->kind == SYMBOL_CALL_PARAM;
}

/* The first of the stores that end the statements so far, of which there are as many as parameters of that
 * kind. */
static uint32_t first_store(const KernelBody *kernel, const Actuals *params) {
    uint32_t stores = 0;
    for (uint32_t i = 0; i < params->count; i++)
        stores += is_param(&params->list[i]);
    return stores <= kernel->statement_count ? kernel->statement_count - stores : 0;
}

static void instruction_add(Parser *parser, const BodyStatement *call, const char *name,
                            const Actuals *params) {
    KernelBody *kernel = parser->kernel;
    uint32_t first = first_store(kernel, params);
    bool straight = !(kernel->has_label && kernel->last_label > first);
    Draft draft;
    draft_begin(parser, &draft, "call", call);
    draft_modifier(&draft, name);
    draft.statement.guard = call->guard;
    draft.statement.guard_negated = call->guard_negated;
    for (uint32_t i = 0; i < params->count; i++) {
        const Operand *operand = &params->list[i];
        if (is_param(operand)) operand = straight ? find_value(kernel, first, operand->symbol) : NULL;
        if (!operand) {
            unsupported_add(parser, call, "a parameter of an intrinsic is not stored right before the call");
            return;
        }
        draft_operand(&draft, *operand);
    }
    kernel->statement_count = first;
    statement_add(parser, &draft);
}

/* Marks. */

static bool is_mark(const char *name, uint8_t *buffer, bool *ends) {
    static const char begin[] = "dma_mark_tile_begin_", end[] = "dma_mark_tile_end_";
    *ends = !strncmp(name, end, sizeof end - 1);
    if (!*ends && strncmp(name, begin, sizeof begin - 1) != 0) return false;
    const char *number = name + (*ends ? sizeof end : sizeof begin) - 1;
    *buffer = (uint8_t)(*number - '0');
    return *number >= '0' && *number <= '3' && !number[1];
}

static void mark_add(KernelBody *kernel, uint8_t buffer, bool ends) {
    kernel->marks = arena_grow(kernel->arena, kernel->marks, sizeof *kernel->marks, kernel->mark_count,
                               &kernel->mark_capacity);
    bool behind_label = kernel->has_label && kernel->last_label == kernel->statement_count;
    kernel->marks[kernel->mark_count++] = (Mark){kernel->statement_count, buffer, ends, behind_label};
}

/* Whoever jumps to the label does not pass the marks before it, so that they go with the statement before
 * them. Is that one not on their way in all cases, they get a statement of their own. */
void marks_end_block(Parser *parser) {
    KernelBody *kernel = parser->kernel;
    uint32_t count = kernel->statement_count, first = kernel->mark_count;
    while (first > 0 && kernel->marks[first - 1].statement == count)
        first--;
    if (first == kernel->mark_count) return;
    if (count == 0 || kernel->marks[first].behind_label ||
        !strcmp(kernel->statements[count - 1].opcode, "bra")) {
        Draft nothing;
        draft_begin(parser, &nothing, "nanosleep", NULL);
        draft_modifier(&nothing, "u32");
        draft_operand(&nothing,
                      (Operand){.shape = OPERAND_IMMEDIATE, .special = NO_SPECIAL, .reg = NO_REGISTER});
        statement_add(parser, &nothing);
        return;
    }
    for (uint32_t i = first; i < kernel->mark_count; i++)
        kernel->marks[i].statement = count - 1;
}

/* Functions of CUDA's device runtime. */

/* A register for a parameter or result, and the .param variable that it is passed in. */
static Operand passed_add(Parser *parser, const BodyStatement *call, const Formal *formal, Operand place,
                          Operand reg, bool is_result) {
    Draft move;
    if (!is_result && !is_param(&place)) return place;
    if (place.shape == OPERAND_SINK) return reg;
    draft_begin(parser, &move, !is_param(&place) ? "mov" : is_result ? "st" : "ld", call);
    move.statement.guard = call->guard;
    move.statement.guard_negated = call->guard_negated;
    if (is_param(&place)) draft_modifier(&move, "param");
    draft_modifier(&move, width_modifier(formal->type.bytes, false));
    if (is_param(&place)) place = address_operand(place.symbol, 0);
    draft_operand(&move, is_result ? place : reg);
    draft_operand(&move, is_result ? reg : place);
    statement_add(parser, &move);
    return reg;
}

static Operand register_for(Parser *parser, const Formal *formal) {
    KernelBody *kernel = parser->kernel;
    uint32_t bytes = formal->type.bytes > 4 ? 8 : 4;
    return register_operand(parser, register_new(kernel, bytes, false, kernel->declared_registers++));
}

static bool is_scalar(const Formal *formal) {
    return (formal->type.bytes == 4 || formal->type.bytes == 8) && !formal->type.is_predicate;
}

static bool are_scalars(const FormalList *formals, const Actuals *actuals) {
    bool good = formals->count == actuals->count;
    for (uint32_t i = 0; good && i < formals->count; i++)
        good = is_scalar(&formals->list[i]) &&
               (!is_param(&actuals->list[i]) ||
                actuals->list[i].symbol->bytes == formals->list[i].type.bytes);
    return good;
}

/* What is passed goes to registers, and the result to where it is expected. */
static void system_call_add(Parser *parser, const BodyStatement *call, const Function *function,
                            const Actuals *results, const Actuals *params) {
    Draft draft;
    if (!are_scalars(&function->results, results) || !are_scalars(&function->params, params)) {
        unsupported_add(parser, call, "the parameters are not those of the function of the device's runtime");
        return;
    }
    draft_begin(parser, &draft, "call", call);
    draft_modifier(&draft, function->name->text);
    draft.statement.guard = call->guard;
    draft.statement.guard_negated = call->guard_negated;
    Operand result = {0};
    if (results->count) draft_operand(&draft, result = register_for(parser, &function->results.list[0]));
    for (uint32_t i = 0; i < params->count; i++)
        draft_operand(&draft, passed_add(parser, call, &function->params.list[i], params->list[i],
                                         register_for(parser, &function->params.list[i]), false));
    statement_add(parser, &draft);
    if (results->count) passed_add(parser, call, &function->results.list[0], results->list[0], result, true);
}

static bool is_system_call(const char *name) {
    return !strcmp(name, "vprintf") || !strcmp(name, "malloc") || !strcmp(name, "free") ||
           !strcmp(name, "__assertfail") || !strcmp(name, "__assert_fail");
}

const char *missing_body_reason(const Function *function) {
    const char *name = function->name->text;
    if (strstr(name, "LaunchDevice") || strstr(name, "GetParameterBuffer"))
        return "kernels cannot launch kernels";
    if (!strncmp(name, "__nv_", 5))
        return "a function of CUDA's device library that is not linked into this module";
    return "the function has no body in this module";
}

bool intrinsic_call_add(Parser *parser, const BodyStatement *call, const Function *function,
                        const Actuals *results, const Actuals *params) {
    uint8_t buffer;
    bool ends;
    const char *name = function->name->text;
    if (is_system_call(name)) {
        parser->module->uses_heap |= !strcmp(name, "malloc");
        system_call_add(parser, call, function, results, params);
        return true;
    }
    if (is_mark(name, &buffer, &ends) && call->guard == NO_REGISTER) {
        mark_add(parser->kernel, buffer, ends);
        return true;
    }
    if (!isa_has_intrinsic(name)) return false;
    instruction_add(parser, call, name, params);
    return true;
}
