#include "core/ptx/analysis/saves.h"

#include <string.h>

enum { FRAME_ALIGN = 16 };

typedef struct {
    Parser *parser;
    KernelBody *body;
    BodyStatement *from; /* the statements before, by number */
    uint32_t from_count;
    uint64_t *slot;   /* per register: 1 + offset in the frame, 0: none yet */
    uint32_t *moved;  /* per statement before: where it, or what comes in its place, is now */
    uint32_t *origin; /* per statement now: which one it was, NO_ORIGIN */
    uint32_t origin_capacity;
} Insertion;

#define NO_ORIGIN UINT32_MAX

static bool live_into(const LiveRanges *ranges, uint32_t reg, uint32_t inst) {
    for (uint32_t s = ranges->first[reg]; s < ranges->first[reg + 1]; s++)
        if (ranges->segments[s].start <= 2 * inst && ranges->segments[s].end >= 2 * inst) return true;
    return false;
}

/* Registers by their owner, so that each call looks at its caller's alone. */
typedef struct {
    uint32_t *first, *list; /* of owner o: list[first[o]] to below list[first[o + 1]] */
} Owned;

static Owned registers_by_owner(const KernelBody *body) {
    uint32_t owners = body->instance_count + 2;
    Owned owned = {arena_alloc(body->arena, owners, sizeof(uint32_t)),
                   arena_alloc(body->arena, body->register_count, sizeof(uint32_t))};
    uint32_t *next = arena_alloc(body->arena, owners, sizeof *next);
    for (uint32_t r = 0; r < body->register_count; r++)
        if (body->registers[r].owner != NOBODY) owned.first[body->registers[r].owner + 1]++;
    for (uint32_t o = 0; o + 1 < owners; o++)
        next[o + 1] = owned.first[o + 1] += owned.first[o];
    next[0] = 0;
    for (uint32_t r = 0; r < body->register_count; r++)
        if (body->registers[r].owner != NOBODY) owned.list[next[body->registers[r].owner]++] = r;
    return owned;
}

/* A place in the frame, the same at all calls. */
static uint64_t slot_of(Insertion *insertion, Instance *caller, uint32_t reg) {
    const VirtualRegister *saved = &insertion->body->registers[reg];
    uint64_t bytes = saved->is_predicate ? 4 : saved->bytes;
    if (!insertion->slot[reg])
        insertion->slot[reg] = 1 + reserve_for(insertion->parser, caller, bytes, bytes, 0);
    return insertion->slot[reg] - 1;
}

static void note_origin(Insertion *insertion, uint32_t origin) {
    uint32_t count = insertion->body->statement_count;
    insertion->origin = arena_grow(insertion->body->arena, insertion->origin, sizeof *insertion->origin,
                                   count, &insertion->origin_capacity);
    insertion->origin[count] = origin;
}

static void add(Insertion *insertion, const BodyStatement *origin, const char *opcode,
                const char *const *modifiers, const Operand *operands, uint32_t operand_count) {
    Draft draft;
    note_origin(insertion, NO_ORIGIN);
    draft_begin(insertion->parser, &draft, opcode, origin);
    for (; *modifiers; modifiers++)
        draft_modifier(&draft, *modifiers);
    for (uint32_t i = 0; i < operand_count; i++)
        draft_operand(&draft, operands[i]);
    statement_add(insertion->parser, &draft);
}

static Operand number(uint64_t value) {
    return (Operand){.shape = OPERAND_IMMEDIATE, .special = NO_SPECIAL, .reg = NO_REGISTER, .value = value};
}

/* Between a register and its place. Predicates go by a register of 32 bits. */
static void move_register(Insertion *insertion, const BodyStatement *origin, Instance *caller, uint32_t reg,
                          bool save) {
    Parser *parser = insertion->parser;
    KernelBody *body = insertion->body;
    bool predicate = body->registers[reg].is_predicate;
    uint64_t slot = slot_of(insertion, caller, reg);
    Operand place = address_operand(NULL, slot), value = register_operand(parser, reg);
    place.reg = body->stack_pointer;
    if (predicate) value = register_operand(parser, register_new(body, 4, false, body->declared_registers++));
    const char *const access[] = {
        "local", predicate ? "b32" : width_modifier(body->registers[reg].bytes, false), NULL};
    if (predicate && save) {
        Operand operands[] = {value, number(1), number(0), register_operand(parser, reg)};
        add(insertion, origin, "selp", (const char *const[]){"b32", NULL}, operands, 4);
    }
    add(insertion, origin, save ? "st" : "ld", access,
        save ? (const Operand[]){place, value} : (const Operand[]){value, place}, 2);
    if (predicate && !save) {
        Operand operands[] = {register_operand(parser, reg), value, number(0)};
        add(insertion, origin, "setp", (const char *const[]){"ne", "s32", NULL}, operands, 3);
    }
}

static void move_registers(Insertion *insertion, const LiveRanges *ranges, const Owned *owned,
                           const SavePoint *point, bool save) {
    const BodyStatement *origin = &insertion->from[point->save];
    uint32_t owner = point->caller->number;
    insertion->parser->source = origin->source;
    for (uint32_t i = owned->first[owner]; i < owned->first[owner + 1]; i++)
        if (owned->list[i] < ranges->register_count && live_into(ranges, owned->list[i], point->restore))
            move_register(insertion, origin, point->caller, owned->list[i], save);
}

/* Per statement: 1 + 2 * number of the point that it saves for, 2 + 2 * number of the one it restores for. */
static uint32_t *markers_of(const KernelBody *body) {
    uint32_t *marker = arena_alloc(body->arena, body->statement_count, sizeof *marker);
    for (uint32_t i = 0; i < body->save_count; i++) {
        marker[body->saves[i].save] = 1 + 2 * i;
        marker[body->saves[i].restore] = 2 + 2 * i;
    }
    return marker;
}

static void copy_statements(Insertion *insertion, const LiveRanges *ranges, const uint32_t *marker) {
    KernelBody *body = insertion->body;
    Owned owned = registers_by_owner(body);
    for (uint32_t i = 0; i < insertion->from_count; i++) {
        insertion->moved[i] = body->statement_count;
        if (marker[i]) {
            uint32_t point = (marker[i] - 1) / 2;
            move_registers(insertion, ranges, &owned, &body->saves[point], marker[i] % 2);
            continue;
        }
        note_origin(insertion, i);
        body->statements = arena_grow(body->arena, body->statements, sizeof *body->statements,
                                      body->statement_count, &body->statement_capacity);
        body->statements[body->statement_count++] = insertion->from[i];
    }
}

static uint32_t *moved_targets(const Insertion *insertion, const uint32_t *target) {
    const KernelBody *body = insertion->body;
    uint32_t *moved = arena_alloc(body->arena, body->statement_count, sizeof *moved);
    for (uint32_t i = 0; i < body->statement_count; i++)
        if (insertion->origin[i] != NO_ORIGIN) moved[i] = insertion->moved[target[insertion->origin[i]]];
    return moved;
}

void saves_insert(Parser *parser, const LiveRanges *ranges, uint32_t **target) {
    KernelBody *body = parser->kernel;
    Insertion insertion = {.parser = parser,
                           .body = body,
                           .from = body->statements,
                           .from_count = body->statement_count,
                           .slot = arena_alloc(body->arena, body->register_count, sizeof(uint64_t)),
                           .moved = arena_alloc(body->arena, body->statement_count, sizeof(uint32_t))};
    const uint32_t *marker = markers_of(body);
    body->statements = NULL;
    body->statement_count = body->statement_capacity = 0;
    copy_statements(&insertion, ranges, marker);
    *target = moved_targets(&insertion, *target);
    for (uint32_t i = 0; i < body->mark_count; i++)
        body->marks[i].statement = insertion.moved[body->marks[i].statement];
}

static uint64_t rounded(uint64_t bytes) {
    return (bytes + FRAME_ALIGN - 1) / FRAME_ALIGN * FRAME_ALIGN;
}

void stack_lay_out(Parser *parser) {
    KernelBody *body = parser->kernel;
    for (Instance *instance = body->instances; instance; instance = instance->next)
        instance->frame.offset = rounded(instance->frame_bytes);
    if (body->uses_stack || body->allocates)
        body->stack_base.offset = body->local_bytes = rounded(body->local_bytes);
}
