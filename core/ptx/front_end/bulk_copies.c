/* Bulk copies, `cp.async.bulk.global.shared::cta.bulk_group [a], [b], size`, become a loop, in which the lanes of the warp
 * that copy are served one after the other, a few pieces a turn:
 *
 *       begin: nothing is done, counted from where a line begins
 *   more:
 *       pieces 0, 1, ... of the first lane that has something left
 *       wait until the warp can keep another arrival; that of this lane, if its copy is complete: of loads
 *       count what is done, set left where a lane has something left
 *   @left bra more; */
#include "core/ptx/front_end/parser.h"
#include "core/ptx/instructions/isa_async.h"

#include <string.h>

enum { TURN_PIECES = 4, PIECE_BYTES = WARP_LANES * 16 };

typedef struct {
    /* In their order; '/' parts alternatives, '?' is in front of what may be missing. */
    const char *modifiers;
    const char *piece;
    const char *operands; /* behind the addresses and the size; for messages */
    uint32_t addresses;   /* before the size */
    uint32_t accessed;    /* of them, that which the load/store unit accesses */
    bool arrives;
} Form;

static const Form forms[] = {
    {"async bulk shared::cluster/shared global mbarrier::complete_tx::bytes ?multicast::cluster "
     "?L2::cache_hint",
     BULK_LOAD, "expected [to], [from], a size and [mbarrier]", 2, 1, true},
    {"async bulk shared::cluster shared mbarrier::complete_tx::bytes", BULK_MOVE,
     "expected [to], [from], a size and [mbarrier]", 2, 1, true},
    {"async bulk global shared bulk_group ?L2::cache_hint", BULK_STORE, "expected [to], [from] and a size", 2,
     0, false},
    {"reduce async bulk global shared bulk_group ?L2::cache_hint add/min/max/inc/dec/and/or/xor ?noftz "
     "u32/s32/u64/s64/b32/b64/f32/f64/f16/bf16",
     BULK_REDUCE, "expected [to], [from] and a size", 2, 0, false},
    {"reduce async bulk shared::cluster shared mbarrier::complete_tx::bytes add/min/max/inc/dec/and/or/xor "
     "u32/s32/u64/s64/b32/b64",
     BULK_REDUCE_SHARED, "expected [to], [from], a size and [mbarrier]", 2, 0, true},
    {"async bulk prefetch L2 global ?L2::cache_hint", BULK_PREFETCH, "expected [from] and a size", 1, 0,
     false},
};

static bool has(const Draft *draft, const char *modifier) {
    for (uint32_t i = 0; i < draft->statement.modifier_count; i++)
        if (!strcmp(draft->modifiers[i], modifier)) return true;
    return false;
}

static bool is_word_of(const char *words, size_t length, const char *modifier) {
    for (size_t at = 0; at < length;) {
        size_t word = strcspn(words + at, "/ ");
        if (strlen(modifier) == word && !memcmp(modifier, words + at, word)) return true;
        at += word + 1;
    }
    return false;
}

static bool fits(const Form *form, const Draft *draft) {
    uint32_t m = 0;
    for (const char *at = form->modifiers; *at;) {
        bool optional = *at == '?';
        at += optional;
        size_t length = strcspn(at, " ");
        bool same = m < draft->statement.modifier_count && is_word_of(at, length, draft->modifiers[m]);
        if (!same && !optional) return false;
        m += same;
        at += length + (at[length] == ' ');
    }
    return m == draft->statement.modifier_count;
}

static const Form *form_of(const Draft *draft) {
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (fits(&forms[i], draft)) return &forms[i];
    return NULL;
}

static bool is_number(const Parser *parser, const Operand *operand, uint32_t bytes) {
    if (operand->shape == OPERAND_IMMEDIATE) return operand->literal == LITERAL_INTEGER;
    return operand->shape == OPERAND_REGISTER &&
           (operand->reg == NO_REGISTER ? 4 : parser->kernel->registers[operand->reg].bytes) == bytes;
}

/* What is wrong with it, or NULL. */
static const char *problem_of(const Parser *parser, const Draft *draft, const Form *form) {
    if (!form)
        return has(draft, "tensor")    ? "bulk copies of tensors are not supported"
               : has(draft, "reduce")  ? "expected .global.shared::cta.bulk_group or "
                                         ".shared::cluster.shared::cta.mbarrier::complete_tx::bytes, an "
                                         "operation and its type"
               : has(draft, "cp_mask") ? "modifier '.cp_mask' is not supported"
                                       : "this combination of modifiers is not supported";
    const Operand *operands = draft->operands;
    uint32_t size = form->addresses, mask = size + 1 + form->arrives;
    bool is_multicast = has(draft, "multicast::cluster");
    if (draft->statement.operand_count != mask + is_multicast + has(draft, "L2::cache_hint"))
        return form->operands;
    for (uint32_t k = 0; k < mask; k++)
        if (k != size && operands[k].shape != OPERAND_ADDRESS) return form->operands;
    if (!is_number(parser, &operands[size], 4)) return "expected a size of 32 bits";
    if (is_multicast && !is_number(parser, &operands[mask], 2)) return "expected a mask of 16 bits";
    return NULL;
}

/* A statement in the place of the copy, with no operand yet. */
static Draft step_of(const Draft *copy, const char *step) {
    Draft part = *copy;
    part.statement.guard = NO_REGISTER;
    part.statement.guard_negated = false;
    part.statement.operand_count = part.statement.bracket_end = 0;
    part.statement.vector_elements = 1;
    draft_modifier(&part, step);
    return part;
}

static Operand new_register(Parser *parser, uint32_t bytes) {
    KernelBody *kernel = parser->kernel;
    return register_operand(parser, register_new(kernel, bytes, !bytes, kernel->declared_registers++));
}

static Operand compute_add(Parser *parser, const BodyStatement *origin, const char *opcode,
                           const char *modifiers[2], Operand left, Operand right) {
    Operand result = new_register(parser, 4);
    Draft draft;
    draft_begin(parser, &draft, opcode, origin);
    for (int i = 0; i < 2 && modifiers[i]; i++)
        draft_modifier(&draft, modifiers[i]);
    draft_operand(&draft, result);
    draft_operand(&draft, left);
    draft_operand(&draft, right);
    statement_add(parser, &draft);
    return result;
}

/* A cluster has one CTA: its bit in the mask says whether there is anything to copy. */
static Operand size_by_mask(Parser *parser, const BodyStatement *origin, Operand size, Operand mask) {
    const Operand one = immediate_operand(1);
    if (mask.shape == OPERAND_IMMEDIATE) return mask.value & 1 ? size : immediate_operand(0);
    Operand wide = compute_add(parser, origin, "mul", (const char *[]){"wide", "u16"}, mask, one);
    Operand bit = compute_add(parser, origin, "and", (const char *[]){"b32", NULL}, wide, one);
    return compute_add(parser, origin, "mul", (const char *[]){"lo", "u32"}, bit, size);
}

/* Of a turn; where the size is known, as many as there is use for. */
static uint32_t pieces_for(Operand size) {
    uint64_t most = (uint64_t)TURN_PIECES * PIECE_BYTES;
    if (size.shape != OPERAND_IMMEDIATE || size.value >= most) return TURN_PIECES;
    return (uint32_t)((size.value + PIECE_BYTES - 1) / PIECE_BYTES);
}

static void pieces_add(Parser *parser, const Draft *copy, const Form *form, Operand size, Operand done,
                       uint32_t pieces) {
    for (uint32_t i = 0; i < pieces; i++) {
        Draft piece = step_of(copy, form->piece);
        for (uint32_t k = 0; k < form->addresses; k++)
            draft_operand(&piece, copy->operands[k]);
        draft_operand(&piece, size);
        draft_operand(&piece, done);
        draft_operand(&piece, immediate_operand(i));
        statement_add(parser, &piece);
    }
}

static void arrival_add(Parser *parser, const Draft *copy, Operand object, Operand size, Operand done,
                        uint32_t pieces) {
    Draft room = step_of(copy, BULK_ROOM), arrival = step_of(copy, BULK_ARRIVE);
    statement_add(parser, &room);
    draft_operand(&arrival, object);
    draft_operand(&arrival, size);
    draft_operand(&arrival, done);
    draft_operand(&arrival, immediate_operand(pieces));
    statement_add(parser, &arrival);
}

static void loop_add(Parser *parser, const Draft *copy, const Form *form) {
    BodyStatement origin = copy->statement;
    Symbol *behind = skip_unless_guarded(parser, &origin), *more = label_new(parser);
    Operand size = copy->operands[form->addresses], done = new_register(parser, 8),
            left = new_register(parser, 0);
    if (has(copy, "multicast::cluster"))
        size = size_by_mask(parser, &origin, size, copy->operands[form->addresses + 2]);
    uint32_t pieces = pieces_for(size);
    Draft begin = step_of(copy, BULK_BEGIN);
    draft_operand(&begin, done);
    draft_operand(&begin, copy->operands[form->accessed]);
    statement_add(parser, &begin);
    label_place(parser, more);
    pieces_add(parser, copy, form, size, done, pieces);
    if (form->arrives) arrival_add(parser, copy, copy->operands[form->addresses + 1], size, done, pieces);
    Draft next = step_of(copy, BULK_NEXT);
    draft_operand(&next, done);
    draft_operand(&next, left);
    draft_operand(&next, size);
    draft_operand(&next, done);
    draft_operand(&next, immediate_operand(pieces));
    statement_add(parser, &next);
    origin.guard = left.reg;
    origin.guard_negated = false;
    branch_add(parser, more, &origin);
    label_place(parser, behind);
}

bool bulk_copy_add(Parser *parser, Draft *draft) {
    bool is_control = has(draft, "commit_group") || has(draft, "wait_group");
    if (strcmp(draft->statement.opcode, "cp") != 0 || !has(draft, "bulk") || is_control) return false;
    const Form *form = form_of(draft);
    const char *problem = problem_of(parser, draft, form);
    if (problem && !draft->statement.unsupported) draft->statement.unsupported = problem;
    if (draft->statement.unsupported)
        statement_add(parser, draft);
    else
        loop_add(parser, draft, form);
    return true;
}
