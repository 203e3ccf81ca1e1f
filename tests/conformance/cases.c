#include "tests/conformance/cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t integers[] = {0,
                                    1,
                                    2,
                                    3,
                                    7,
                                    0x1f,
                                    0x20,
                                    0x3f,
                                    0x40,
                                    0x7f,
                                    0x80,
                                    0xff,
                                    0x7fff,
                                    0x8000,
                                    0xffff,
                                    0x10000,
                                    0x7fffff,
                                    0x800000,
                                    0xffffff,
                                    0x7fffffff,
                                    0x80000000,
                                    0xfffffffe,
                                    0xffffffff,
                                    0x100000000,
                                    0x7fffffffffffffff,
                                    0x8000000000000000,
                                    0xfffffffffffffffe,
                                    0xffffffffffffffff};
static const uint64_t amounts[] = {0,  1,  2,  7,   8,   15,  16,  17,         31,         32,        33,
                                   63, 64, 65, 127, 128, 255, 256, 0x7fffffff, 0x80000000, 0xffffffff};
static const uint64_t smalls[] = {0,          1,          2,          31,         32,         33,
                                  0xffffffff, 0xfffffffe, 0xffffffe0, 0xffffffdf, 0x7fffffff, 0x80000000};
static const uint64_t bits[] = {0, 1};
static const uint64_t lanes[] = {0, 1, 15, 30, 31};
/* Zeros, subnormals, the least normals, around one, large ones, infinities, NaNs; and around the limits of integers. */
static const uint64_t singles[] = {
    0,          0x80000000, 1,          0x80000001, 0x007fffff, 0x807fffff, 0x00800000, 0x80800000,
    0x00800001, 0x7e800001, 0x33000000, 0x33800000, 0x3f000000, 0xbf000000, 0x3effffff, 0x3f7ffffe,
    0x3f7fffff, 0x3f800000, 0xbf800000, 0x3f800001, 0x3fc00000, 0x40200000, 0xc0200000, 0x437f0000,
    0x43800000, 0xc3000000, 0x477fff00, 0x47800000, 0x4b000001, 0x4b7fffff, 0x4effffff, 0x4f000000,
    0xcf000000, 0x4f800000, 0x5effffff, 0x5f000000, 0xdf000000, 0x5f800000, 0x7e800000, 0x7effffff,
    0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00000, 0x7f800001, 0x7fffffff,
    0x387fe000, 0x38800000, 0x477fefff, 0x477ff000};
static const uint64_t doubles[] = {0,
                                   0x8000000000000000,
                                   1,
                                   0x8000000000000001,
                                   0x000fffffffffffff,
                                   0x800fffffffffffff,
                                   0x0010000000000000,
                                   0x8010000000000000,
                                   0x3fe0000000000000,
                                   0xbfe0000000000000,
                                   0x3fefffffffffffff,
                                   0x3ff0000000000000,
                                   0xbff0000000000000,
                                   0x3ff0000000000001,
                                   0x3ff8000000000000,
                                   0x4004000000000000,
                                   0x406fe00000000000,
                                   0x4070000000000000,
                                   0x40dfffc000000000,
                                   0x40e0000000000000,
                                   0x40efffe000000000,
                                   0x41dfffffffc00000,
                                   0x41dfffffffffffff,
                                   0xc1e0000000000000,
                                   0xc1e0000000200000,
                                   0x41efffffffe00000,
                                   0x41f0000000000000,
                                   0x4330000000000001,
                                   0x433fffffffffffff,
                                   0x43dfffffffffffff,
                                   0x43e0000000000000,
                                   0xc3e0000000000000,
                                   0x43efffffffffffff,
                                   0x43f0000000000000,
                                   0x47efffffe0000000,
                                   0x47efffffefffffff,
                                   0x47effffff0000000,
                                   0x47f0000000000000,
                                   0x3810000000000000,
                                   0x380fffffe0000000,
                                   0x380fffffefffffff,
                                   0x380fffffffffffff,
                                   0x36a0000000000000,
                                   0x3690000000000000,
                                   0x3690000000000001,
                                   0x7fefffffffffffff,
                                   0xffefffffffffffff,
                                   0x7ff0000000000000,
                                   0xfff0000000000000,
                                   0x7ff8000000000000,
                                   0xfff8000000000000,
                                   0x7ff0000000000001,
                                   0x3f0ffffffffffffe,
                                   0x3e70000000000000};
static const uint64_t halves[] = {0,      0x8000, 1,      0x8001, 0x03ff, 0x83ff, 0x0400,
                                  0x0401, 0x8400, 0x3800, 0x3bfe, 0x3bff, 0x3c00, 0xbc00,
                                  0x3c01, 0x3e00, 0x4100, 0x5bf8, 0x5c00, 0x7800, 0x7bff,
                                  0xfbff, 0x7c00, 0xfc00, 0x7e00, 0xfe00, 0x7c01, 0x7fff};
static const uint64_t brains[] = {0,      0x8000, 1,      0x8001, 0x007f, 0x807f, 0x0080, 0x8080, 0x3f00,
                                  0x3f7f, 0x3f80, 0xbf80, 0x3f81, 0x3fc0, 0x4020, 0x437f, 0x4380, 0x7e80,
                                  0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7fc0, 0xffc0, 0x7f81, 0x7fff};

typedef struct {
    const char *prefix;
    const uint64_t *values;
    size_t count;
    int fraction; /* of a float */
} Edges;

#define EDGES(name, table, fraction_bits)                                                                    \
    { name, table, sizeof(table) / sizeof *(table), fraction_bits }
/* The first prefix that fits. */
static const Edges kinds[] = {
    EDGES("f16", halves, 10),      EDGES("bf16", brains, 7),       EDGES("f32", singles, 23),
    EDGES("narrow16", halves, 10), EDGES("narrow32", singles, 23), EDGES("f64", doubles, 52),
    EDGES("amount", amounts, 0),   EDGES("small", smalls, 0),      EDGES("lane", lanes, 0),
    EDGES("p", bits, 0),           EDGES("", integers, 0)};

static const Edges *edges_of(const Kind *kind) {
    const Edges *edges = kinds;
    while (strncmp(kind->name, edges->prefix, strlen(edges->prefix)) != 0)
        edges++;
    return edges;
}

static int kind_bits(const char *name) {
    if (strcmp(name, "p") == 0) return 1;
    if (strcmp(name, "f32x2") == 0) return 64;
    if (strstr(name, "x2")) return 32;
    size_t letters = strcspn(name, "0123456789");
    return name[letters] && *name != '#' ? atoi(name + letters) : 32;
}

static int read_kinds(const char *text, size_t length, Kind *list) {
    int count = 0;
    for (const char *end = text + length; text < end && count < MAX_KINDS;) {
        size_t word = strcspn(text, ",: ");
        if (text + word > end) word = (size_t)(end - text);
        snprintf(list[count].name, sizeof list[count].name, "%.*s", (int)word, text);
        list[count].bits = kind_bits(list[count].name);
        count++;
        text += word + 1;
    }
    return count;
}

void signature_read(const char *text, Signature *signature) {
    const char *sources = strchr(text, ':') + 1, *space = strchr(sources, ' ');
    signature->result_count = read_kinds(text, (size_t)(sources - 1 - text), signature->results);
    signature->source_count = read_kinds(sources, strcspn(sources, " "), signature->sources);
    signature->template = space ? space + 1 : NULL;
}

static bool is_exhaustive(const Signature *signature) {
    return signature->source_count == 1 && signature->sources[0].bits == 16;
}

size_t case_count(const Signature *signature, size_t random_cases) {
    size_t first = edges_of(&signature->sources[0])->count;
    if (is_exhaustive(signature)) return 1 << 16;
    return random_cases +
           (signature->source_count > 1 ? first * edges_of(&signature->sources[1])->count : first);
}

static uint64_t mixed(uint64_t x) {
    x += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

static uint64_t edge(const Edges *edges, uint64_t number) {
    return edges->values[number % edges->count];
}

/* Floats of one case have exponents near each other, so that their digits meet. */
static uint64_t random_float(const Edges *edges, int width, uint64_t random, uint64_t shared) {
    int exponent_bits = width - 1 - edges->fraction;
    uint64_t all = (1ull << exponent_bits) - 1, near = shared % (all + 1) + random % 7 - 3;
    uint64_t exponent = random >> 8 & 3 ? near & all : random >> 16 & all;
    uint64_t fraction = mixed(random) & ((1ull << edges->fraction) - 1);
    if ((random >> 10 & 7) == 0) fraction &= ~((1ull << edges->fraction / 2) - 1);
    return (random >> 63) << (width - 1) | exponent << edges->fraction | fraction;
}

/* Around 1, with few digits or beside a number of few digits: what is near the numbers of small formats, and halfway. */
static uint64_t random_narrow(const Edges *edges, int width, uint64_t random) {
    int exponent_bits = width - 1 - edges->fraction, kept = (int)(random >> 8 & 7);
    uint64_t bias = (1ull << (exponent_bits - 1)) - 1, exponents = (1ull << exponent_bits) - 1;
    uint64_t exponent = (bias + random % 41 - 20) & exponents;
    uint64_t fraction = mixed(random) & ((1ull << edges->fraction) - 1);
    fraction &= ~((1ull << (edges->fraction - kept)) - 1);
    uint64_t code = exponent << edges->fraction | fraction;
    if (random >> 20 & 2) code += random >> 20 & 1 ? 1 : code ? -1ull : 0;
    return (random >> 63) << (width - 1) | (code & ((1ull << (width - 1)) - 1));
}

static bool is_pair(const Kind *kind) {
    return strstr(kind->name, "x2") != NULL;
}

static uint64_t random_value(const Kind *kind, uint64_t random, uint64_t shared) {
    const Edges *edges = edges_of(kind);
    if ((random >> 40 & 7) == 0) return edge(edges, random >> 45);
    int width = is_pair(kind) ? kind->bits / 2 : kind->bits;
    if (strncmp(kind->name, "narrow", 6) == 0) return random_narrow(edges, width, random);
    if (edges->fraction) return random_float(edges, width, random, shared);
    if (edges->values == amounts) return random % 70;
    if (edges->values == smalls) return (uint32_t)((int)(random % 67) - 33);
    if (edges->values == lanes) return random % 32;
    /* as many small numbers as large ones, of both signs */
    uint64_t value = mixed(random) >> (random % 64);
    return random >> 50 & 1 ? ~value : value;
}

static uint64_t one_value(const Kind *kind, uint64_t random, uint64_t shared) {
    uint64_t value = random_value(kind, random, shared);
    if (!is_pair(kind)) return value;
    int half = kind->bits / 2;
    uint64_t mask = (1ull << half) - 1;
    return (value & mask) | (random_value(kind, mixed(random ^ 1), mixed(shared)) & mask) << half;
}

static uint64_t in_width(const Kind *kind, uint64_t value) {
    if (kind->bits < 64) value &= (1ull << kind->bits) - 1;
    return strncmp(kind->name, "nz", 2) == 0 && value == 0 ? 1 : value;
}

static uint64_t constant(const char *text) {
    bool is_float = text[0] == '0' && (text[1] == 'f' || text[1] == 'd');
    return is_float ? strtoull(text + 2, NULL, 16) : strtoull(text, NULL, 10);
}

uint64_t case_value(const Signature *signature, int operand, size_t index, size_t count, uint64_t seed) {
    const Kind *kind = &signature->sources[operand];
    if (*kind->name == '#') return constant(kind->name + 1);
    bool all = is_exhaustive(signature), in_full = count >= case_count(signature, 0);
    if (all && in_full && index < 1 << 16) return index;
    uint64_t shared = mixed(seed ^ mixed(index)), random = mixed(shared + (uint64_t)operand * 0x10001);
    const Edges *edges = edges_of(kind), *first = edges_of(&signature->sources[0]);
    size_t pairs = case_count(signature, 0), paired = in_full ? pairs : count / 2;
    if (all) pairs = first->count, paired = count / 2;
    /* of fewer cases than pairs, some pairs */
    uint64_t pair = in_full ? index : mixed(seed + index) % pairs;
    /* Every other pair of floats comes with a zero, which leaves the product as it is. */
    bool is_product = operand == 2 && edges->fraction && (pair % first->count + pair / first->count) % 2;
    if (index < paired && is_product) return 0;
    if (index >= paired || operand > 1) return in_width(kind, one_value(kind, random, shared));
    uint64_t number = operand == 0 ? pair % first->count : pair / first->count;
    uint64_t value = edge(edges, number);
    if (is_pair(kind)) value |= edge(edges, number + 3 + pair % 5) << kind->bits / 2;
    return in_width(kind, value);
}
