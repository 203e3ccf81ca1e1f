/* Matrix instructions that an instruction of the machine is too small for become several, as on hardware: a wmma
 * becomes loads, stores and mma of parts of its fragments, each of up to four registers; the mma of m8n8k4 with
 * a D of f32 becomes two. */
#include "core/ptx/front_end/parser.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PART = MAX_DST };

typedef struct {
    uint32_t m, n, k;
    const char *shape;
    const char *types[4]; /* in their order */
    uint32_t type_count;
    const char *operation; /* of bits */
    bool saturates;
} Wmma;

static uint32_t bits_of(const char *type) {
    return !strcmp(type, "bf16") ? 16 : !strcmp(type, "tf32") ? 32 : (uint32_t)strtoul(type + 1, NULL, 10);
}

static bool is_type(const char *word) {
    static const char *const types[] = {"f16", "bf16", "tf32", "f32", "f64", "s8",
                                        "u8",  "s4",   "u4",   "b1",  "s32"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (!strcmp(word, types[i])) return true;
    return false;
}

static bool has(const Draft *draft, const char *word) {
    for (uint32_t i = 0; i < draft->statement.modifier_count; i++)
        if (!strcmp(draft->modifiers[i], word)) return true;
    return false;
}

static void refuse(Parser *parser, Draft *draft, const char *reason) {
    if (!draft->statement.unsupported) draft->statement.unsupported = reason;
    statement_add(parser, draft);
}

/* False: none of the shapes of this type. */
static bool read_words(const Draft *draft, Wmma *wmma) {
    static const char *const shapes[] = {"m16n16k16 f16 bf16 s8 u8 ",
                                         "m32n8k16 f16 bf16 s8 u8 ",
                                         "m8n32k16 f16 bf16 s8 u8 ",
                                         "m16n16k8 tf32 ",
                                         "m8n8k4 f64 ",
                                         "m8n8k32 s4 u4 ",
                                         "m8n8k128 b1 "};
    *wmma = (Wmma){.m = 0};
    for (uint32_t i = 0; i < draft->statement.modifier_count; i++) {
        const char *word = draft->modifiers[i];
        if (is_type(word) && wmma->type_count < 4) wmma->types[wmma->type_count++] = word;
        if (!strcmp(word, "satfinite")) wmma->saturates = true;
        if (!strcmp(word, "xor") || !strcmp(word, "and")) wmma->operation = word;
        if (*word == 'm' && word[1] >= '0' && word[1] <= '9') wmma->shape = word;
    }
    if (!wmma->shape || !wmma->type_count) return false;
    const char *type = wmma->type_count == 4   ? wmma->types[1]
                       : wmma->type_count == 2 ? "f16"
                                               : wmma->types[0];
    bool accumulator = has(draft, "c") || has(draft, "d");
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        size_t length = strcspn(shapes[i], " ");
        char key[16];
        snprintf(key, sizeof key, " %s ", type);
        if (strlen(wmma->shape) != length || memcmp(wmma->shape, shapes[i], length) != 0) continue;
        if (!accumulator && !strstr(shapes[i], key)) continue;
        return sscanf(wmma->shape, "m%un%uk%u", &wmma->m, &wmma->n, &wmma->k) == 3;
    }
    return false;
}

/* Registers that a fragment needs; of A and B of f16, wmma gives eight, whatever the shape. */
static uint32_t needed(const Wmma *wmma, char fragment, const char *type) {
    uint32_t elements = fragment == 'a'   ? wmma->m * wmma->k
                        : fragment == 'b' ? wmma->k * wmma->n
                                          : wmma->m * wmma->n;
    uint32_t bits = bits_of(type);
    return elements / 32 * bits / (bits == 64 ? 64 : 32);
}

static uint32_t given(const Wmma *wmma, char fragment, const char *type) {
    bool half = !strcmp(type, "f16") && fragment < 'c';
    return half ? 8 : needed(wmma, fragment, type);
}

/* A copy without operands. */
static void begin(const Draft *from, Draft *part) {
    *part = *from;
    part->statement.operand_count = 0;
    part->statement.vector_elements = 1;
    part->statement.bracket_end = 0;
}

static bool names(const Draft *draft, uint32_t first, uint32_t count, uint32_t reg) {
    for (uint32_t i = first; i < first + count; i++)
        if (reg != NO_REGISTER && draft->operands[i].reg == reg) return true;
    return false;
}

/* --- Loads and stores ------------------------------------------------------------------------ */

static void add_copy(Parser *parser, const Draft *origin, Operand to, Operand from) {
    Draft copy;
    begin(origin, &copy);
    copy.statement.opcode = "mov";
    copy.statement.modifier_count = 0;
    draft_modifier(&copy, "b32");
    draft_operand(&copy, to);
    draft_operand(&copy, from);
    statement_add(parser, &copy);
}

static Operand stride_of(const Draft *draft, const Wmma *wmma, char fragment, uint32_t at) {
    Operand stride = {.shape = OPERAND_IMMEDIATE, .special = NO_SPECIAL, .reg = NO_REGISTER};
    if (at < draft->statement.operand_count) return draft->operands[at];
    bool rows = has(draft, "row");
    stride.value = fragment == 'a'   ? (rows ? wmma->k : wmma->m)
                   : fragment == 'b' ? (rows ? wmma->n : wmma->k)
                                     : (rows ? wmma->n : wmma->m);
    return stride;
}

static void add_accesses(Parser *parser, Draft *draft, const Wmma *wmma, bool load) {
    char fragment = has(draft, "a") ? 'a' : has(draft, "b") ? 'b' : 'c';
    uint32_t count = given(wmma, fragment, wmma->types[0]), need = needed(wmma, fragment, wmma->types[0]);
    uint32_t address = load ? count : 0, first = load ? 0 : 1, operands = draft->statement.operand_count;
    if (operands != count + 1 && operands != count + 2) {
        refuse(parser, draft, "the vector of registers has not the size of the fragment");
        return;
    }
    Operand stride = stride_of(draft, wmma, fragment, count + 1);
    if (load &&
        (names(draft, 0, count, draft->operands[address].reg) || names(draft, 0, count, stride.reg))) {
        refuse(parser, draft, "it loads into the register of its address or stride");
        return;
    }
    for (uint32_t at = 0; at < need; at += PART) {
        Draft part;
        begin(draft, &part);
        if (at) draft_modifier(&part, "second");
        if (!load) draft_operand(&part, draft->operands[address]);
        for (uint32_t i = at; i < need && i < at + PART; i++)
            draft_operand(&part, draft->operands[first + i]);
        if (load) draft_operand(&part, draft->operands[address]);
        draft_operand(&part, stride);
        statement_add(parser, &part);
    }
    for (uint32_t i = need; load && i < count; i++)
        add_copy(parser, draft, draft->operands[i], draft->operands[i % need]);
}

/* --- Products -------------------------------------------------------------------------------- */

/* Where the registers of D, A, B and C begin, and how many each part has of them. */
typedef struct {
    uint32_t first[4], part[4];
    uint32_t parts, split; /* split: which of A and B is in parts, too */
    bool exchanged;
} Products;

static const char *product_type(const Wmma *wmma, int of) {
    if (wmma->type_count == 4) return wmma->types[of];
    return of == 0 ? wmma->types[0] : of == 3 ? wmma->types[1] : "f16";
}

static uint32_t find_products(const Wmma *wmma, Products *products) {
    static const char fragments[] = "dabc";
    uint32_t at = 0;
    *products = (Products){.exchanged = wmma->m == 8 && wmma->n == 32,
                           .split = wmma->m == 32 || wmma->n == 32 ? 1 : 2,
                           .parts = wmma->m * wmma->n / 128 ? wmma->m * wmma->n / 128 : 1};
    for (int of = 0; of < 4; of++) {
        char fragment = fragments[of] == 'd' ? 'c' : fragments[of];
        products->first[of] = at;
        products->part[of] = needed(wmma, fragment, product_type(wmma, of));
        at += given(wmma, fragment, product_type(wmma, of));
    }
    if (products->exchanged) {
        uint32_t a = products->first[1], size = products->part[1];
        products->first[1] = products->first[2];
        products->part[1] = products->part[2];
        products->first[2] = a;
        products->part[2] = size;
    }
    products->part[products->split] /= products->parts;
    products->part[0] /= products->parts;
    products->part[3] /= products->parts;
    return at;
}

/* What the second part reads, the first must not have written. */
static bool overlaps(const Draft *draft, const Products *products) {
    if (products->parts == 1) return false;
    for (uint32_t i = 0; i < products->part[0]; i++) {
        uint32_t reg = draft->operands[products->first[0] + i].reg;
        for (uint32_t of = 1; of < 3; of++) {
            uint32_t count = products->part[of] * (of == products->split ? products->parts : 1);
            if (names(draft, products->first[of], count, reg)) return true;
        }
        if (names(draft, products->first[3] + products->part[3], products->part[3], reg)) return true;
    }
    return false;
}

static void add_product(Parser *parser, const Draft *draft, const Wmma *wmma, const Products *products,
                        uint32_t number, const char *shape) {
    Draft part;
    begin(draft, &part);
    part.statement.opcode = "mma";
    part.statement.modifier_count = 0;
    const char *words[] = {shape,
                           "row",
                           "col",
                           product_type(wmma, 0),
                           product_type(wmma, products->exchanged ? 2 : 1),
                           product_type(wmma, products->exchanged ? 1 : 2),
                           product_type(wmma, 3)};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        draft_modifier(&part, words[i]);
    if (wmma->saturates) draft_modifier(&part, "satfinite");
    if (wmma->operation) {
        draft_modifier(&part, wmma->operation);
        draft_modifier(&part, "popc");
    }
    for (uint32_t of = 0; of < 4; of++) {
        bool moves = of == 0 || of == 3 || of == products->split;
        uint32_t from = products->first[of] + (moves ? number * products->part[of] : 0);
        for (uint32_t i = 0; i < products->part[of]; i++)
            draft_operand(&part, draft->operands[from + i]);
    }
    statement_add(parser, &part);
}

static void add_products(Parser *parser, Draft *draft, const Wmma *wmma) {
    Products products;
    if (find_products(wmma, &products) != draft->statement.operand_count) {
        refuse(parser, draft, "the vectors of registers have not the sizes of the fragments");
        return;
    }
    if (overlaps(draft, &products)) {
        refuse(parser, draft, "a register of D is one of A, of B, or of another element of C");
        return;
    }
    char text[16];
    bool small = wmma->m == 8 && wmma->n == 8;
    int length = snprintf(text, sizeof text, "m%dn8k%u", small ? 8 : 16, wmma->k);
    const char *shape = name_intern(&parser->symbols, text, (size_t)length)->text;
    for (uint32_t i = 0; i < products.parts; i++)
        add_product(parser, draft, wmma, &products, i, shape);
}

/* mma.m8n8k4 of f16 with D of f32: eight registers. */
static void add_quads(Parser *parser, Draft *draft) {
    enum { D = 8, A = D + 4 }; /* A and B have two each */
    for (uint32_t i = 0; i < PART; i++)
        if (names(draft, D, A - D, draft->operands[i].reg)) {
            refuse(parser, draft, "a register of D is one of A or of B");
            return;
        }
    for (uint32_t at = 0; at < D; at += PART) {
        Draft part;
        begin(draft, &part);
        if (at) draft_modifier(&part, "second");
        for (uint32_t i = 0; i < draft->statement.operand_count; i++)
            if (i >= D || (i >= at && i < at + PART)) draft_operand(&part, draft->operands[i]);
        statement_add(parser, &part);
    }
}

bool matrix_add(Parser *parser, Draft *draft) {
    const char *opcode = draft->statement.opcode;
    if (!strcmp(opcode, "mma")) {
        bool quads = has(draft, "m8n8k4") && has(draft, "f16") && has(draft, "f32");
        if (!quads || draft->statement.operand_count < 8 + 4 + 4 || draft->statement.unsupported)
            return false;
        add_quads(parser, draft);
        return true;
    }
    if (strcmp(opcode, "wmma") != 0) return false;
    Wmma wmma;
    bool load = has(draft, "load"), store = has(draft, "store"), mma = has(draft, "mma");
    if (!read_words(draft, &wmma) || load + store + mma != 1)
        refuse(parser, draft, "expected .load, .store or .mma, and a shape that this type has");
    else if (!mma)
        add_accesses(parser, draft, &wmma, load);
    else if (wmma.type_count == 4 || wmma.type_count == 2)
        add_products(parser, draft, &wmma);
    else
        refuse(parser, draft, "expected the types of D and C, or of D, A, B and C");
    return true;
}
