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

/* Nothing is printed; what would have been is evaluated, and the result says that no argument was. */
static void printf_call_add(Parser *parser, const BodyStatement *call, const Actuals *results) {
    Draft store;
    if (!results->count || !is_param(&results->list[0])) return;
    draft_begin(parser, &store, "st", call);
    store.statement.guard = call->guard;
    store.statement.guard_negated = call->guard_negated;
    draft_modifier(&store, "param");
    draft_modifier(&store, "b32");
    draft_operand(&store, address_operand(results->list[0].symbol, 0));
    draft_operand(&store, (Operand){.shape = OPERAND_IMMEDIATE, .special = NO_SPECIAL, .reg = NO_REGISTER});
    statement_add(parser, &store);
}

const char *missing_body_reason(const Function *function) {
    const char *name = function->name->text;
    if (!strcmp(name, "malloc") || !strcmp(name, "free")) return "the device has no heap";
    if (strstr(name, "LaunchDevice") || strstr(name, "GetParameterBuffer"))
        return "kernels cannot launch kernels";
    return "the function has no body in this module";
}

bool intrinsic_call_add(Parser *parser, const BodyStatement *call, const Function *function,
                        const Actuals *results, const Actuals *params) {
    uint8_t buffer;
    bool ends;
    if (!strcmp(function->name->text, "vprintf")) {
        printf_call_add(parser, call, results);
        return true;
    }
    if (is_mark(function->name->text, &buffer, &ends) && call->guard == NO_REGISTER) {
        mark_add(parser->kernel, buffer, ends);
        return true;
    }
    if (!isa_has_intrinsic(function->name->text)) return false;
    instruction_add(parser, call, function->name->text, params);
    return true;
}
