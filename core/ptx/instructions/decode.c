#include "core/ptx/instructions/decode.h"

#include "core/ptx/analysis/constants.h"
#include "core/ptx/analysis/control_flow.h"
#include "core/ptx/analysis/launch_constants.h"
#include "core/ptx/analysis/liveness.h"
#include "core/ptx/analysis/named_lanes.h"
#include "core/ptx/analysis/param_reads.h"
#include "core/ptx/analysis/registers.h"
#include "core/ptx/analysis/saves.h"
#include "core/ptx/analysis/waiting_loops.h"
#include "core/ptx/analysis/windows.h"

#include <stdio.h>
#include <string.h>

typedef struct {
    Parser *parser;
    KernelBody *body;
    Kernel *kernel;
    uint32_t index; /* of the kernel in its module */
    Arena *arena;
    OperandPlan *plans;
    uint32_t carry; /* the register that stands for the carry flag, NO_REGISTER if unused */
    Access *accesses;
    uint32_t access_count, access_capacity;
    uint32_t *place; /* slot of a register, index of a predicate */
    uint8_t *name;
    LaunchConstants launch;
    ConstantBank constants;
} Decoder;

/* Selection. */

static void describe(const KernelBody *body, const BodyStatement *from, Statement *to) {
    *to = (Statement){.opcode = from->opcode,
                      .modifier_count = (int)from->modifier_count,
                      .operand_count = (int)from->operand_count,
                      .vector_elements = (int)from->vector_elements,
                      .trailing = (int)(from->bracket_end ? from->operand_count - from->bracket_end : 0)};
    for (uint32_t m = 0; m < from->modifier_count; m++)
        to->modifiers[m] = from->modifiers[m];
    for (uint32_t k = 0; k < from->operand_count; k++) {
        const Operand *operand = &from->operands[k];
        to->shapes[k] = operand->shape;
        to->value[k] = operand->value;
        if (operand->reg != NO_REGISTER)
            to->register_bytes[k] = body->registers[operand->reg].bytes;
        else if (operand->shape == OPERAND_REGISTER)
            to->register_bytes[k] = 4; /* %tid.x and the like */
        else if (operand->shape == OPERAND_SPECIAL)
            to->special = operand->special;
    }
}

static const char *role_defect(OperandRole role, const Operand *operand) {
    bool is_register = operand->shape == OPERAND_REGISTER, sink = operand->shape == OPERAND_SINK;
    switch (role) {
    case ROLE_DST:
        return (is_register && operand->special == NO_SPECIAL) || sink ? NULL
                                                                       : "the destination must be a register";
    case ROLE_PDST:
        return operand->shape == OPERAND_PREDICATE || sink ? NULL : "the destination must be a predicate";
    case ROLE_PSRC:
        return operand->shape == OPERAND_PREDICATE || operand->shape == OPERAND_IMMEDIATE
                   ? NULL
                   : "a source must be a predicate";
    case ROLE_HANDLE:
        if (operand->shape == OPERAND_ADDRESS && operand->value) return "expected a handle without an offset";
        return operand->shape == OPERAND_ADDRESS ? NULL : "a handle in brackets is missing";
    case ROLE_ADDRESS:
    case ROLE_SHARED_ADDRESS:
        return operand->shape == OPERAND_ADDRESS ? NULL : "an address in brackets is missing";
    case ROLE_TARGET: return NULL;
    case ROLE_IGNORE: return NULL;
    case ROLE_SRC: break;
    }
    return is_register || operand->shape == OPERAND_IMMEDIATE || operand->shape == OPERAND_SYMBOL ||
                   operand->shape == OPERAND_SPECIAL
               ? NULL
               : "a source must be a register, a number or a variable";
}

static const char *plan_defect(const BodyStatement *statement, const OperandPlan *plan) {
    int destinations = 0, sources = 0, predicates = 0, addresses = 0;
    for (uint32_t k = 0; k < statement->operand_count; k++) {
        OperandRole role = plan->roles[k];
        const char *defect = role_defect(role, &statement->operands[k]);
        if (defect) return defect;
        destinations += role == ROLE_DST;
        predicates += role == ROLE_PDST;
        sources += role == ROLE_SRC || role == ROLE_PSRC || role == ROLE_ADDRESS || role == ROLE_HANDLE;
        sources += 2 * (role == ROLE_SHARED_ADDRESS);
        addresses += role == ROLE_ADDRESS;
    }
    bool fits = destinations <= MAX_DST && predicates <= 2 && addresses <= 1 &&
                sources <= (addresses ? MAX_SRC : MAX_ALL_SRC);
    return fits ? NULL : "more operands than an instruction can have";
}

static bool has_modifier(const BodyStatement *statement, const char *modifier) {
    for (uint32_t m = 0; m < statement->modifier_count; m++)
        if (!strcmp(statement->modifiers[m], modifier)) return true;
    return false;
}

static void select_instruction(Decoder *decoder, uint32_t i) {
    const BodyStatement *from = &decoder->body->statements[i];
    Inst *inst = &decoder->kernel->insts[i];
    decoder->parser->source = from->source; /* where errors are */
    char why[480] = "";
    Statement statement;
    describe(decoder->body, from, &statement);
    const char *defect = from->unsupported;
    if (from->is_marker) {
        inst->kind = INST_NOP;
        inst->guard = NO_PREDICATE;
        return;
    }
    if (!defect && !isa_select(&statement, inst, &decoder->plans[i], why, sizeof why)) defect = why;
    if (!defect) defect = plan_defect(from, &decoder->plans[i]);
    if (defect) unsupported_add(decoder->parser, from, defect);
    inst->pdst = inst->pdst2 = NO_PREDICATE;
    inst->guard = from->guard == NO_REGISTER ? NO_PREDICATE : TRUE_PREDICATE; /* its index is not known yet */
    inst->flags = from->guard_negated ? INST_GUARD_NEGATED : 0;
}

static uint32_t find_label(Parser *parser, const BodyStatement *statement) {
    const Symbol *symbol = statement->operands[0].symbol;
    parser->source = statement->source;
    for (const Scope *scope = statement->scope; scope && !symbol; scope = scope->parent)
        symbol = symbol_in_scope(&parser->symbols, scope, statement->label);
    if (!symbol || symbol->kind != SYMBOL_LABEL)
        parser_fail(parser, statement->line, "the label '%.200s' is not declared in this scope",
                    statement->label->text);
    return (uint32_t)symbol->offset;
}

static void resolve_targets(Decoder *decoder) {
    for (uint32_t i = 0; i < decoder->body->statement_count; i++)
        if (!strcmp(decoder->body->statements[i].opcode, "bra"))
            decoder->kernel->insts[i].target = find_label(decoder->parser, &decoder->body->statements[i]);
}

/* Which registers each instruction reads and writes. */

static void note(Decoder *decoder, uint32_t inst, uint32_t reg, AccessKind kind) {
    decoder->accesses = arena_grow(decoder->arena, decoder->accesses, sizeof *decoder->accesses,
                                   decoder->access_count, &decoder->access_capacity);
    decoder->accesses[decoder->access_count++] = (Access){inst, reg, kind};
}

/* The carry flag of add.cc, addc, madc ... is no operand; a predicate of its own stands for it. */
static void note_carry(Decoder *decoder, uint32_t i, AccessKind write) {
    const BodyStatement *statement = &decoder->body->statements[i];
    bool reads = !strcmp(statement->opcode, "addc") || !strcmp(statement->opcode, "subc") ||
                 !strcmp(statement->opcode, "madc");
    bool writes = has_modifier(statement, "cc");
    if (!reads && !writes) return;
    if (decoder->carry == NO_REGISTER) decoder->carry = register_new(decoder->body, 0, true, 0);
    if (reads) note(decoder, i, decoder->carry, ACCESS_READ);
    if (writes) note(decoder, i, decoder->carry, write);
}

static void note_accesses(Decoder *decoder, uint32_t i) {
    const BodyStatement *statement = &decoder->body->statements[i];
    AccessKind write = statement->guard == NO_REGISTER ? ACCESS_WRITE : ACCESS_GUARDED_WRITE;
    if (statement->guard != NO_REGISTER) note(decoder, i, statement->guard, ACCESS_READ);
    for (uint32_t k = 0; k < statement->operand_count; k++) {
        OperandRole role = decoder->plans[i].roles[k];
        uint32_t reg = statement->operands[k].reg;
        if (reg == NO_REGISTER || role == ROLE_IGNORE) continue;
        note(decoder, i, reg, role == ROLE_DST || role == ROLE_PDST ? write : ACCESS_READ);
    }
    note_carry(decoder, i, write);
}

/* Atomics on global memory write when the answer comes back, long after those that follow them have executed.
 * Who reads the result, or writes the register again, waits for its scoreboard name; another register in the
 * same slot would not. */

static bool writes_late(const Inst *inst) {
    return inst->kind == INST_ATOMIC && inst->space != SPACE_SHARED;
}

static bool ends_with(const LiveRanges *ranges, uint32_t reg, uint32_t inst) {
    for (uint32_t s = ranges->first[reg]; s < ranges->first[reg + 1]; s++)
        if (ranges->segments[s].end == 2 * inst + 1) return true;
    return false;
}

/* An atom whose result nobody reads is a red, as it is on hardware. */
static void drop_dead_results(Decoder *decoder, const LiveRanges *ranges) {
    uint32_t kept = 0;
    for (uint32_t a = 0; a < decoder->access_count; a++) {
        Access access = decoder->accesses[a];
        if (access.kind == ACCESS_READ || !writes_late(&decoder->kernel->insts[access.inst]) ||
            !ends_with(ranges, access.reg, access.inst)) {
            decoder->accesses[kept++] = access;
            continue;
        }
        Operand *result = &decoder->body->statements[access.inst].operands[0];
        result->shape = OPERAND_SINK;
        result->reg = NO_REGISTER;
        decoder->kernel->insts[access.inst].dst_mask = 0;
    }
    decoder->access_count = kept;
}

static const bool *find_late_writes(const Decoder *decoder) {
    bool *late = arena_alloc(decoder->arena, decoder->body->register_count, sizeof *late);
    for (uint32_t a = 0; a < decoder->access_count; a++)
        if (decoder->accesses[a].kind != ACCESS_READ &&
            writes_late(&decoder->kernel->insts[decoder->accesses[a].inst]))
            late[decoder->accesses[a].reg] = true;
    return late;
}

/* Allocation. */

static void allocate_slots(Decoder *decoder, const LiveRanges *ranges) {
    Kernel *kernel = decoder->kernel;
    uint8_t *width = arena_alloc(decoder->arena, ranges->register_count, 1);
    for (uint32_t r = 0; r < ranges->register_count; r++) {
        const VirtualRegister *reg = &decoder->body->registers[r];
        width[r] = reg->is_predicate ? 0 : reg->bytes == 8 ? 2 : 1;
    }
    /* To the machine they all are registers. */
    uint64_t peak = liveness_peak(decoder->arena, ranges, width, kernel->inst_count);
    kernel->registers_per_thread = peak ? (uint32_t)peak : 1;
    for (uint32_t r = 0; r < ranges->register_count; r++)
        if (decoder->launch.of_register[r]) width[r] = 0;
    kernel->slots = assign_places(decoder->arena, ranges, width, find_late_writes(decoder), decoder->place);
}

static void allocate_predicates(Decoder *decoder, const LiveRanges *ranges, uint32_t line) {
    uint8_t *width = arena_alloc(decoder->arena, ranges->register_count, 1);
    for (uint32_t r = 0; r < ranges->register_count; r++)
        width[r] = decoder->body->registers[r].is_predicate && r != decoder->carry;
    decoder->kernel->predicates = FIRST_FREE_PREDICATE +
                                  assign_places(decoder->arena, ranges, width, NULL, decoder->place);
    if (decoder->kernel->predicates > NO_PREDICATE)
        parser_fail(decoder->parser, line, "'%.200s': expected up to %d predicates live at once, got more",
                    decoder->kernel->name, NO_PREDICATE - FIRST_FREE_PREDICATE);
    for (uint32_t r = 0; r < ranges->register_count; r++)
        if (width[r]) decoder->place[r] += FIRST_FREE_PREDICATE;
    if (decoder->carry != NO_REGISTER) decoder->place[decoder->carry] = CARRY_PREDICATE;
}

static LiveRanges find_lives(Decoder *decoder, const ControlFlow *flow) {
    decoder->access_count = 0;
    for (uint32_t i = 0; i < decoder->kernel->inst_count; i++)
        note_accesses(decoder, i);
    return liveness_find(decoder->arena, flow, decoder->accesses, decoder->access_count,
                         decoder->body->register_count);
}

static void allocate_registers(Decoder *decoder, const ControlFlow *flow, uint32_t line) {
    enum { MAX_SLOTS = 1 << 20 };
    LiveRanges ranges = find_lives(decoder, flow);
    uint32_t count = decoder->body->register_count;
    drop_dead_results(decoder, &ranges);
    decoder->launch = launch_constants_find(decoder->body, decoder->kernel, decoder->plans, &ranges,
                                            decoder->accesses, decoder->access_count);
    decoder->kernel->param_reads = param_reads_find(decoder->body, decoder->kernel, decoder->plans,
                                                    &decoder->parser->module->fixups->storage);
    decoder->place = arena_alloc(decoder->arena, count, sizeof *decoder->place);
    decoder->name = arena_alloc(decoder->arena, count, sizeof *decoder->name);
    allocate_slots(decoder, &ranges);
    allocate_predicates(decoder, &ranges, line);
    assign_names(decoder->arena, &ranges, decoder->name);
    if (decoder->kernel->slots > MAX_SLOTS)
        parser_fail(decoder->parser, line, "'%.200s': expected up to %d registers live at once, got more",
                    decoder->kernel->name, MAX_SLOTS);
}

/* Launch constants have places in the constant bank. */
static void begin_constants(Decoder *decoder) {
    constants_init(&decoder->constants);
    for (uint32_t r = 0; r < decoder->body->register_count; r++)
        if (decoder->launch.of_register[r])
            decoder->place[r] = OPERAND_CONST / SLOT_BYTES +
                                constants_reserve(&decoder->constants,
                                                  decoder->body->registers[r].bytes == 8 ? 8 : 4);
}

/* Operands. */

static uint32_t find_special(const SpecialSlot *specials, uint32_t count, uint32_t special) {
    uint32_t i = 0;
    while (i < count && specials[i].special != special)
        i++;
    return i;
}

static uint32_t special_offset(Decoder *decoder, uint32_t special) {
    Kernel *kernel = decoder->kernel;
    bool launch = launch_constants_has_special(special);
    SpecialSlot *specials = launch ? kernel->launch_specials : kernel->specials;
    uint32_t *count = launch ? &kernel->launch_special_count : &kernel->special_count,
             i = find_special(specials, *count, special);
    if (i == *count) {
        uint32_t slot = launch ? constants_reserve(&decoder->constants, 4) : kernel->slots++;
        specials[(*count)++] = (SpecialSlot){special, slot * SLOT_BYTES};
    }
    return specials[i].offset | (launch ? OPERAND_CONST : 0);
}

static uint32_t constant_operand(Decoder *decoder, uint64_t value, uint32_t bytes, uint32_t variable) {
    return OPERAND_CONST |
           constants_slot(&decoder->constants, decoder->arena, value, bytes, variable) * SLOT_BYTES;
}

/* The address in the symbol's own space; of module variables it is known only when they are placed. */
static uint64_t symbol_value(const Decoder *decoder, const Operand *operand) {
    switch (operand->symbol->kind) {
    case SYMBOL_VARIABLE: return operand->value;
    case SYMBOL_DYNAMIC_SHARED: return decoder->kernel->shared_bytes + operand->value;
    default: return operand->symbol->offset + operand->value;
    }
}

static uint32_t symbol_variable(const Operand *operand) {
    return operand->symbol->kind == SYMBOL_VARIABLE ? operand->symbol->index : NO_VARIABLE;
}

static void check_space(Decoder *decoder, const BodyStatement *statement, const Symbol *symbol, Space space) {
    static const char *const names[] = {
        [SPACE_GLOBAL] = ".global",  [SPACE_SHARED] = ".shared", [SPACE_LOCAL] = ".local",
        [SPACE_CONST] = ".const",    [SPACE_PARAM] = ".param",   [SPACE_GENERIC] = ".global",
        [SPACE_TEXTURE] = "texture",
    };
    Space own;
    switch (symbol->kind) {
    case SYMBOL_VARIABLE: own = decoder->parser->module->variables[symbol->index].space; break;
    case SYMBOL_SHARED:
    case SYMBOL_DYNAMIC_SHARED: own = SPACE_SHARED; break;
    case SYMBOL_LOCAL:
    case SYMBOL_CALL_PARAM: own = SPACE_LOCAL; break;
    case SYMBOL_PARAM: own = SPACE_PARAM; break;
    default: own = SPACE_NONE; break;
    }
    bool generic = space == SPACE_GENERIC && symbol->kind == SYMBOL_VARIABLE && own != SPACE_TEXTURE;
    if (space == SPACE_NONE || own == space || generic) return;
    parser_fail(decoder->parser, statement->line, "expected a variable in %s memory, got '%.200s'",
                names[space], symbol->name->text);
}

/* Variables of known address go into the displacement, so that they share one zero as their base. */
static void set_address(Decoder *decoder, const BodyStatement *statement, Inst *inst,
                        const Operand *operand) {
    uint32_t variable = NO_VARIABLE;
    inst->displacement = (int64_t)operand->value;
    if (operand->reg != NO_REGISTER) {
        inst->src[0] = decoder->place[operand->reg] * SLOT_BYTES;
        return;
    }
    if (operand->symbol) {
        check_space(decoder, statement, operand->symbol, inst->space);
        inst->displacement = (int64_t)symbol_value(decoder, operand);
        variable = symbol_variable(operand);
    }
    inst->src[0] = constant_operand(decoder, 0, 8, variable);
}

/* "'text'" of the statement, shortened; valid until the next call. */
static const char *statement_words(const BodyStatement *statement) {
    return token_words(
        (Token){.kind = TOKEN_IDENTIFIER, .text = statement->text, .length = statement->text_length});
}

_Noreturn static void constant_fail(Decoder *decoder, const BodyStatement *statement, Literal literal,
                                    const char *defect) {
    double value;
    memcpy(&value, &literal.bits, sizeof value);
    if (literal.kind == LITERAL_F64)
        parser_fail(decoder->parser, statement->line, "%s: constant %g: %s", statement_words(statement),
                    value, defect);
    parser_fail(decoder->parser, statement->line, "%s: constant 0f%08lX: %s", statement_words(statement),
                literal.bits, defect);
}

static uint32_t source_operand(Decoder *decoder, const BodyStatement *statement, const Operand *operand,
                               uint32_t bytes, bool is_float) {
    if (operand->reg != NO_REGISTER) return decoder->place[operand->reg] * SLOT_BYTES;
    if (operand->special != NO_SPECIAL) return special_offset(decoder, operand->special);
    if (operand->symbol)
        return constant_operand(decoder, symbol_value(decoder, operand), bytes, symbol_variable(operand));
    uint64_t bits;
    Literal literal = {operand->literal, operand->value};
    const char *defect = literal_fit(literal, bytes, is_float, &bits);
    if (defect) constant_fail(decoder, statement, literal, defect);
    return constant_operand(decoder, bits, bytes, NO_VARIABLE);
}

static uint32_t predicate_constant(Decoder *decoder, const BodyStatement *statement, const Operand *operand) {
    if (operand->literal != LITERAL_INTEGER)
        constant_fail(decoder, statement, (Literal){operand->literal, operand->value},
                      "expected a predicate or an integer constant, got a float");
    return TRUE_PREDICATE | (operand->value ? 0 : OPERAND_NEGATED);
}

/* Sources behind the first MAX_SRC have a list of their own; it lies where instructions that access memory have
 * their displacement. */
static void add_source(Decoder *decoder, Inst *inst, uint32_t source) {
    uint32_t i = inst->src_count++;
    if (i < MAX_SRC) {
        inst->src[i] = source;
        return;
    }
    uint32_t *more = (uint32_t *)(uintptr_t)inst->more_src;
    if (i == MAX_SRC)
        more = arena_alloc(&decoder->parser->module->fixups->storage, MAX_ALL_SRC - MAX_SRC, sizeof *more);
    more[i - MAX_SRC] = source;
    inst->more_src = more;
}

/* An address beside the one that the instruction accesses by. */
static void add_shared_address(Decoder *decoder, const BodyStatement *statement, Inst *inst,
                               const Operand *operand, uint32_t bytes) {
    uint64_t displacement = operand->value;
    if (operand->reg != NO_REGISTER) {
        add_source(decoder, inst, decoder->place[operand->reg] * SLOT_BYTES);
    } else {
        if (operand->symbol) {
            check_space(decoder, statement, operand->symbol, SPACE_SHARED);
            displacement = symbol_value(decoder, operand);
        }
        add_source(decoder, inst, constant_operand(decoder, 0, bytes, NO_VARIABLE));
    }
    add_source(decoder, inst, constant_operand(decoder, displacement, bytes, NO_VARIABLE));
}

static void set_operands(Decoder *decoder, uint32_t i) {
    const BodyStatement *statement = &decoder->body->statements[i];
    const OperandPlan *plan = &decoder->plans[i];
    Inst *inst = &decoder->kernel->insts[i];
    uint32_t element = 0, predicate = 0;
    decoder->parser->source = statement->source;
    for (uint32_t k = 0; k < statement->operand_count; k++)
        inst->src_count |= plan->roles[k] == ROLE_ADDRESS;
    for (uint32_t k = 0; k < statement->operand_count; k++) {
        const Operand *operand = &statement->operands[k];
        bool sink = operand->shape == OPERAND_SINK;
        uint32_t place = operand->reg == NO_REGISTER ? 0 : decoder->place[operand->reg];
        switch ((OperandRole)plan->roles[k]) {
        case ROLE_DST:
            if (!sink) {
                inst->dst[inst->dst_count++] = place * SLOT_BYTES;
                inst->dst_mask |= (uint8_t)(1u << element);
            }
            element++;
            break;
        case ROLE_PDST:
            *(predicate++ ? &inst->pdst2 : &inst->pdst) = sink ? NO_PREDICATE : (uint8_t)place;
            break;
        case ROLE_PSRC:
            if (operand->shape == OPERAND_IMMEDIATE)
                add_source(decoder, inst, predicate_constant(decoder, statement, operand));
            else
                add_source(decoder, inst, place | (operand->negated ? OPERAND_NEGATED : 0));
            break;
        case ROLE_HANDLE:
            if (operand->symbol) check_space(decoder, statement, operand->symbol, SPACE_TEXTURE);
            add_source(decoder, inst, source_operand(decoder, statement, operand, 8, false));
            break;
        case ROLE_ADDRESS: set_address(decoder, statement, inst, operand); break;
        case ROLE_SHARED_ADDRESS:
            add_shared_address(decoder, statement, inst, operand, plan->src_bytes[k] == 8 ? 8 : 4);
            break;
        case ROLE_SRC:
            /* The clocks have no slot: the handler reads them itself. */
            if (operand->shape != OPERAND_SPECIAL)
                add_source(decoder, inst,
                           source_operand(decoder, statement, operand, plan->src_bytes[k] == 8 ? 8 : 4,
                                          plan->src_is_float[k]));
            break;
        case ROLE_TARGET:
        case ROLE_IGNORE: break;
        }
    }
    if (statement->guard != NO_REGISTER) {
        inst->flags |= INST_GUARDED;
        inst->guard = (uint8_t)decoder->place[statement->guard];
    }
    inst->lane_bytes = (uint8_t)(inst->element_bytes * inst->elements);
}

/* Warps have nothing left to do but to name the address of a load. */
static void set_launch_steps(Decoder *decoder) {
    Kernel *kernel = decoder->kernel;
    kernel->launch_steps = arena_alloc(&decoder->parser->module->fixups->storage, kernel->inst_count,
                                       sizeof *kernel->launch_steps);
    for (uint32_t i = 0; i < kernel->inst_count; i++) {
        Inst *inst = &kernel->insts[i];
        if (!decoder->launch.of_inst[i]) continue;
        kernel->launch_steps[kernel->launch_step_count++] = (LaunchStep){i, inst->exec};
        inst->exec = inst->kind == INST_LOAD ? exec_param_address : exec_nothing;
    }
}

/* What the scoreboard and the operand collector see. */
static void set_names(Decoder *decoder) {
    for (uint32_t a = 0; a < decoder->access_count; a++) {
        const Access *access = &decoder->accesses[a];
        const VirtualRegister *reg = &decoder->body->registers[access->reg];
        Inst *inst = &decoder->kernel->insts[access->inst];
        uint8_t name = decoder->name[access->reg];
        inst->names[name / 64] |= 1ull << name % 64;
        if (decoder->kernel->name_words <= name / 64) decoder->kernel->name_words = name / 64 + 1u;
        if (access->kind != ACCESS_READ) {
            if (inst->out_name_count == 0) inst_writes_register(inst, reg->ordinal);
            inst_writes_name(inst, name);
        } else if (!reg->is_predicate && inst->bank_count < MAX_BANK_READS) {
            inst_reads_register(inst, reg->ordinal);
        }
    }
}

static ParamType param_type(const VariableType *type) {
    if (type->dimension_count) return PARAM_BITS;
    return type->is_float     ? PARAM_FLOAT
           : type->is_half    ? PARAM_HALF
           : type->is_brain   ? PARAM_BRAIN
           : type->is_integer ? PARAM_INTEGER
                              : PARAM_BITS;
}

static void set_layout(Decoder *decoder, const Entry *entry) {
    Kernel *kernel = decoder->kernel;
    KernelBody *body = decoder->body;
    Arena *storage = &decoder->parser->module->fixups->storage;
    uint64_t align = body->dynamic_shared_align ? body->dynamic_shared_align : 1;
    kernel->shared_bytes = (uint32_t)((body->shared_bytes + align - 1) / align * align);
    kernel->local_bytes = (uint32_t)body->local_bytes;
    kernel->uses_stack = body->uses_stack || body->allocates;
    kernel->max_threads = entry->max_threads;
    memcpy(kernel->required, entry->required, sizeof kernel->required);
    kernel->param_count = entry->params.count;
    kernel->params = arena_alloc(storage, kernel->param_count, sizeof *kernel->params);
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        const Name *name = entry->params.list[i].name;
        const Symbol *symbol = symbol_in_scope(&decoder->parser->symbols, entry->scope, name);
        kernel->params[i] = (KernelParam){arena_text(storage, name->text, name->length),
                                          (uint32_t)symbol->offset, (uint32_t)symbol->bytes,
                                          (uint32_t)symbol->align, param_type(&entry->params.list[i].type)};
        kernel->param_bytes = (uint32_t)(symbol->offset + symbol->bytes);
    }
}

static void set_marks(Decoder *decoder) {
    Kernel *kernel = decoder->kernel;
    const KernelBody *body = decoder->body;
    kernel->mark_count = body->mark_count;
    kernel->marks = arena_alloc(&decoder->parser->module->fixups->storage, body->mark_count,
                                sizeof *kernel->marks);
    for (uint32_t i = 0; i < body->mark_count; i++)
        kernel->marks[i] = (TileMark){body->marks[i].statement, body->marks[i].buffer, body->marks[i].ends};
    for (uint32_t i = kernel->inst_count; i-- > 0;)
        if (kernel->insts[i].kind == INST_DMA) kernel->dma_line = kernel->sources[i].ptx_line;
}

/* "ld.global.f32"; that of the statement before when it is the same. */
static const char *opcode_text(Arena *storage, const BodyStatement *from, const char *before) {
    char text[128];
    size_t length = (size_t)snprintf(text, sizeof text, "%s", from->opcode);
    for (uint32_t m = 0; m < from->modifier_count && length < sizeof text; m++)
        length += (size_t)snprintf(text + length, sizeof text - length, ".%s", from->modifiers[m]);
    return before && !strcmp(before, text) ? before : arena_text(storage, text, strlen(text));
}

static void set_sources(Decoder *decoder) {
    Kernel *kernel = decoder->kernel;
    Arena *storage = &decoder->parser->module->fixups->storage;
    kernel->sources = arena_alloc(storage, kernel->inst_count, sizeof *kernel->sources);
    for (uint32_t i = 0; i < kernel->inst_count; i++) {
        const BodyStatement *from = &decoder->body->statements[i];
        const char *before = i ? kernel->sources[i - 1].opcode : NULL;
        kernel->sources[i] = (InstSource){.opcode = opcode_text(storage, from, before),
                                          .ptx_line = from->is_marker ? 0 : from->line,
                                          .line = from->location.line,
                                          .number = from->location.file,
                                          .own_line = from->location.own_line,
                                          .own_number = from->location.own_file};
    }
}

static void select_instructions(Decoder *decoder) {
    Kernel *kernel = decoder->kernel;
    kernel->inst_count = decoder->body->statement_count;
    kernel->insts = arena_alloc(&decoder->parser->module->fixups->storage, kernel->inst_count,
                                sizeof *kernel->insts);
    decoder->plans = arena_alloc(decoder->arena, kernel->inst_count, sizeof *decoder->plans);
    for (uint32_t i = 0; i < kernel->inst_count; i++)
        select_instruction(decoder, i);
}

/* What calls of functions that may be active several times save is known when lives are. */
static void insert_saves(Decoder *decoder) {
    Kernel *kernel = decoder->kernel;
    uint32_t count = kernel->inst_count, *target = arena_alloc(decoder->arena, count, sizeof *target);
    for (uint32_t i = 0; i < count; i++)
        target[i] = kernel->insts[i].kind == INST_BRANCH ? kernel->insts[i].target : 0;
    /* What a call saves passes it by, whatever runs in between: as if a branch led around it. */
    for (uint32_t i = 0; i < decoder->body->save_count; i++) {
        Inst *save = &kernel->insts[decoder->body->saves[i].save];
        save->kind = INST_BRANCH;
        save->guard = TRUE_PREDICATE;
        save->target = decoder->body->saves[i].restore;
    }
    ControlFlow flow = control_flow_build(decoder->arena, kernel->insts, count);
    LiveRanges ranges = find_lives(decoder, &flow);
    saves_insert(decoder->parser, &ranges, &target);
    select_instructions(decoder);
    for (uint32_t i = 0; i < kernel->inst_count; i++)
        if (kernel->insts[i].kind == INST_BRANCH) kernel->insts[i].target = target[i];
}

void decode_kernel(Parser *parser, const Entry *entry, uint32_t index) {
    Arena *storage = &parser->module->fixups->storage;
    Decoder decoder = {.parser = parser,
                       .body = parser->kernel,
                       .kernel = &parser->module->kernels[index],
                       .index = index,
                       .arena = parser->kernel->arena,
                       .carry = NO_REGISTER};
    Kernel *kernel = decoder.kernel;
    uint32_t unsupported = parser->unsupported_count;
    if (decoder.body->is_too_large) { /* it is refused: who asks for its parameters gets them */
        set_layout(&decoder, entry);
        return;
    }
    lower_call_params(parser);
    select_instructions(&decoder);
    resolve_targets(&decoder);
    if (decoder.body->save_count && parser->unsupported_count == unsupported) insert_saves(&decoder);
    stack_lay_out(parser);
    set_layout(&decoder, entry);
    set_sources(&decoder);
    set_marks(&decoder);
    if (parser->unsupported_count > unsupported) return;
    parser->source = entry->source;
    ControlFlow flow = control_flow_build(decoder.arena, kernel->insts, kernel->inst_count);
    allocate_registers(&decoder, &flow, entry->line);
    begin_constants(&decoder);
    kernel->specials = arena_alloc(storage, SPECIAL_COUNT, sizeof *kernel->specials);
    kernel->launch_specials = arena_alloc(storage, SPECIAL_COUNT, sizeof *kernel->launch_specials);
    for (uint32_t i = 0; i < kernel->inst_count; i++)
        set_operands(&decoder, i);
    set_launch_steps(&decoder);
    set_names(&decoder);
    assign_windows(decoder.arena, kernel);
    find_waiting_loops(decoder.arena, kernel, entry->source->target);
    find_named_lanes(kernel, entry->source->target);
    constants_store(&decoder.constants, parser->module, index);
}
