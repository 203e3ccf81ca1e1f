/* A warp on which tests execute single instructions, chosen through isa_select() as the parser would.
 *
 * Operands are described by words: r1 r2 r4 r8 register of that many bytes, i4 i8 immediate, p predicate, !p
 * negated predicate, a4 a8 address in a register, ai address as an immediate, _ sink, label. Operand k lies
 * in slot k of the registers or constants, or in predicate FIRST_FREE_PREDICATE + k. */
#ifndef WW_TESTS_WARP_FIXTURE_H
#define WW_TESTS_WARP_FIXTURE_H

#include "core/ptx/execution/exec.h"
#include "core/ptx/instructions/isa.h"

#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIXTURE_SLOTS = 10, FIXTURE_SHARED = 4096, FIXTURE_LOCAL = 64, FIXTURE_PARAMS = 64 };

typedef struct {
    uint64_t lanes[WARP_LANES];
} __attribute__((aligned(128))) Slot;

typedef struct {
    Slot registers[FIXTURE_SLOTS], constants[FIXTURE_SLOTS];
    uint32_t predicates[FIRST_FREE_PREDICATE + FIXTURE_SLOTS];
    uint8_t shared[FIXTURE_SHARED], local[WARP_LANES * FIXTURE_LOCAL], params[FIXTURE_PARAMS];
    AtomicPayload atomic;
    DeviceMemory *memory;
    MemoryView view;
    uint64_t buffer; /* a device allocation of 64 KiB */
    ExecContext context;
    Inst inst; /* the last one executed */
    OperandPlan plan;
} Warp;

static Warp warp;

static void warp_setup(void) {
    memset(&warp, 0, sizeof warp);
    warp.memory = device_memory_new(1 << 20);
    warp.buffer = device_alloc(warp.memory, 1 << 16);
    view_init(&warp.view, warp.memory);
    warp.predicates[TRUE_PREDICATE] = UINT32_MAX;
    warp.context = (ExecContext){
        .bank = {(uintptr_t)warp.registers, constant_bank((const uint8_t *)warp.constants)},
        .predicates = warp.predicates,
        .active = UINT32_MAX,
        .view = &warp.view,
        .shared = warp.shared,
        .shared_bytes = FIXTURE_SHARED,
        .local = warp.local,
        .local_bytes = FIXTURE_LOCAL,
        .params = warp.params,
        .param_bytes = FIXTURE_PARAMS,
        .atomic = &warp.atomic};
}

static void warp_teardown(void) {
    view_free(&warp.view);
    device_memory_free(warp.memory);
}

static inline uint32_t get_u32(int slot, int lane) {
    uint32_t value;
    memcpy(&value, (uint8_t *)&warp.registers[slot] + lane * 4, sizeof value);
    return value;
}
static inline void set_u32(int slot, int lane, uint32_t value) {
    memcpy((uint8_t *)&warp.registers[slot] + lane * 4, &value, sizeof value);
}
static inline uint64_t get_u64(int slot, int lane) {
    return warp.registers[slot].lanes[lane];
}
static inline void set_u64(int slot, int lane, uint64_t value) {
    warp.registers[slot].lanes[lane] = value;
}

static inline void set_constant(int slot, int bytes, uint64_t value) {
    for (int lane = 0; lane < WARP_LANES; lane++) {
        if (bytes == 8) {
            warp.constants[slot].lanes[lane] = value;
        } else {
            uint32_t low = (uint32_t)value;
            memcpy((uint8_t *)&warp.constants[slot] + lane * 4, &low, sizeof low);
        }
    }
}

/* Splits "ld.global.f32" and "r4 a8" into a statement; the words stay in `storage`. */
static void describe(const char *form, const char *operands, Statement *statement, char *storage,
                     size_t size) {
    *statement = (Statement){.vector_elements = 1};
    snprintf(storage, size, "%s", form);
    char *save = NULL;
    statement->opcode = strtok_r(storage, ".", &save);
    for (char *word; (word = strtok_r(NULL, ".", &save));)
        statement->modifiers[statement->modifier_count++] = word;
    for (const char *word = operands; *word; word += strcspn(word, " "), word += *word == ' ') {
        int k = statement->operand_count++;
        uint8_t bytes = (uint8_t)(word[1] >= '0' && word[1] <= '9' ? word[1] - '0' : 0);
        statement->register_bytes[k] = *word == 'r' || *word == 'a' ? bytes : 0;
        statement->shapes[k] = *word == 'r'                   ? OPERAND_REGISTER
                               : *word == 'p' || *word == '!' ? OPERAND_PREDICATE
                               : *word == 'a'                 ? OPERAND_ADDRESS
                               : *word == '_'                 ? OPERAND_SINK
                               : *word == 'i'                 ? OPERAND_IMMEDIATE
                                                              : OPERAND_SYMBOL;
    }
}

/* Matrix instructions have more than MAX_SRC. */
static void add_source(Inst *inst, uint32_t source) {
    static uint32_t more[32];
    uint32_t index = inst->src_count++;
    if (index >= MAX_SRC) inst->more_src = more;
    *(index < MAX_SRC ? &inst->src[index] : &more[index - MAX_SRC]) = source;
}

static void place_operand(const char *word, int k) {
    Inst *inst = &warp.inst;
    uint32_t offset = (uint32_t)(k * (int)sizeof(Slot));
    bool constant = *word == 'i' || (word[0] == 'a' && word[1] == 'i');
    uint32_t predicate = FIRST_FREE_PREDICATE + (uint32_t)k;
    switch ((OperandRole)warp.plan.roles[k]) {
    case ROLE_DST:
        if (*word != '_') inst->dst[inst->dst_count++] = offset;
        break;
    case ROLE_SRC:
    case ROLE_HANDLE:
    case ROLE_ADDRESS: add_source(inst, offset | (constant ? OPERAND_CONST : 0)); break;
    case ROLE_SHARED_ADDRESS: /* its displacement is the constant of the same number */
        add_source(inst, offset);
        add_source(inst, offset | OPERAND_CONST);
        break;
    case ROLE_PSRC: add_source(inst, predicate | (*word == '!' ? OPERAND_NEGATED : 0)); break;
    case ROLE_PDST: {
        uint8_t *place = inst->pdst == NO_PREDICATE && k == 0        ? &inst->pdst
                         : k == 1 && warp.plan.roles[0] == ROLE_PDST ? &inst->pdst2
                                                                     : &inst->pdst;
        *place = *word == '_' ? NO_PREDICATE : (uint8_t)predicate;
        break;
    }
    case ROLE_TARGET:
    case ROLE_IGNORE: break;
    }
}

/* What was chosen last: thousands of executions of one form select it once. */
static struct {
    char form[128], operands[128];
    Inst inst;
    OperandPlan plan;
} chosen;

static bool is_chosen(const char *form, const char *operands) {
    return strcmp(form, chosen.form) == 0 && strcmp(operands, chosen.operands) == 0;
}

static bool choose(const char *form, const char *operands, char *why, size_t why_size) {
    if (is_chosen(form, operands)) {
        warp.inst = chosen.inst;
        warp.plan = chosen.plan;
        return true;
    }
    chosen.form[0] = 0;
    Statement statement;
    char storage[128];
    describe(form, operands, &statement, storage, sizeof storage);
    warp.inst = (Inst){.pdst = NO_PREDICATE, .pdst2 = NO_PREDICATE, .guard = NO_PREDICATE};
    memset(&warp.plan, 0, sizeof warp.plan);
    if (!isa_select(&statement, &warp.inst, &warp.plan, why, why_size)) return false;
    const char *word = operands;
    for (int k = 0; k < statement.operand_count; k++) {
        place_operand(word, k);
        word += strcspn(word, " ");
        word += *word == ' ';
    }
    snprintf(chosen.form, sizeof chosen.form, "%s", form);
    snprintf(chosen.operands, sizeof chosen.operands, "%s", operands);
    chosen.inst = warp.inst;
    chosen.plan = warp.plan;
    return true;
}

static void execute_displaced(const char *form, const char *operands, int64_t displacement) {
    char why[200] = "";
    ck_assert_msg(choose(form, operands, why, sizeof why), "%s %s: %s", form, operands, why);
    warp.inst.displacement = displacement;
    warp.context.fault = FAULT_NONE;
    warp.inst.exec(&warp.inst, &warp.context);
}

static inline void execute(const char *form, const char *operands) {
    execute_displaced(form, operands, 0);
}

#define NAN_F32 0x7fffffffu
#define NAN_F64 0xfff8000000000000ull
#define INF_F32 0x7f800000u

static inline uint32_t F(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline uint64_t D(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline int operand_bytes(const char *operands, int k) {
    while (k-- > 0)
        operands += strcspn(operands, " ") + 1;
    return operands[1] == '8' ? 8 : operands[0] == 'p' || operands[0] == '!' ? 0 : 4;
}

static inline void set_all(const char *operands, int k, uint64_t value) {
    for (int lane = 0; lane < WARP_LANES; lane++) {
        if (operand_bytes(operands, k) == 8) {
            set_u64(k, lane, value);
        } else {
            set_u32(k, lane, (uint32_t)value);
        }
    }
    if (operand_bytes(operands, k) == 0) warp.predicates[FIRST_FREE_PREDICATE + k] = value ? UINT32_MAX : 0;
    set_constant(k, operand_bytes(operands, k), value);
}

/* Executes with the same sources, given after `expected`, in all lanes; operand 0 is the result. */
static inline void expect(const char *form, const char *operands, uint64_t expected, ...) {
    int count = 1;
    for (const char *c = operands; *c; c++)
        count += *c == ' ';
    va_list sources;
    va_start(sources, expected);
    for (int k = 1; k < count; k++)
        set_all(operands, k, va_arg(sources, uint64_t));
    va_end(sources);
    execute(form, operands);
    for (int lane = 0; lane < WARP_LANES; lane++) {
        uint64_t result = *operands == 'p' ? warp.predicates[FIRST_FREE_PREDICATE] >> lane & 1
                          : operand_bytes(operands, 0) == 8 ? get_u64(0, lane)
                                                            : get_u32(0, lane);
        ck_assert_msg(result == expected, "%s lane %d: 0x%llx, expected 0x%llx", form, lane,
                      (unsigned long long)result, (unsigned long long)expected);
    }
}

#define U(value)                                   ((uint64_t)(value))
#define EXPECT1(form, operands, expected, a)       expect(form, operands, U(expected), U(a))
#define EXPECT2(form, operands, expected, a, b)    expect(form, operands, U(expected), U(a), U(b))
#define EXPECT3(form, operands, expected, a, b, c) expect(form, operands, U(expected), U(a), U(b), U(c))
#define EXPECT4(form, operands, expected, a, b, c, d)                                                        \
    expect(form, operands, U(expected), U(a), U(b), U(c), U(d))

static inline uint64_t load(MemoryView *view, uint64_t address, uint32_t bytes) {
    uint64_t value = 0xbad;
    ck_assert(view_load(view, address, bytes, &value));
    return value;
}

#endif
