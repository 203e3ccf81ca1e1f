#include "core/sim/base/random.h"
#include "mem/cache/structures/tag_array.h"
#include "tests/unit/suites.h"

#include <stdlib.h>

enum { LINE = 128 };

static TagArray make_tags(TagGeometry geometry) {
    TagArray tags = {0};
    tag_shape_init(&tags.shape, "test", &geometry);
    tags.tag = calloc(tags.shape.lines, sizeof *tags.tag);
    tags.used = calloc(tags.shape.lines, sizeof *tags.used);
    tags.line = calloc(tags.shape.lines, sizeof *tags.line);
    tags.print = calloc(tags.shape.printed + 1, sizeof *tags.print);
    return tags;
}

static TagArray make_hashed(uint32_t lines) {
    TagArray tags = make_tags((TagGeometry){.size = lines * LINE, .ways = lines, .line = LINE, .sectors = 1});
    ck_assert_uint_eq(tags.shape.hashed, lines);
    tags.hash.bucket = calloc(tags.shape.buckets, sizeof *tags.hash.bucket);
    tags.hash.links = calloc(tags.shape.hashed, sizeof *tags.hash.links);
    return tags;
}

static void free_tags(TagArray *tags) {
    free(tags->tag);
    free(tags->used);
    free(tags->line);
    free(tags->print);
    free(tags->hash.bucket);
    free(tags->hash.links);
}

static TagShape shape_of(TagGeometry geometry) {
    TagShape shape;
    tag_shape_init(&shape, "test", &geometry);
    return shape;
}

static void install(TagArray *tags, uint32_t line, uint64_t address) {
    tag_install(tags, line, address, 0, 0, 0);
    tags->line[line].valid = (uint8_t)tags->shape.all_sectors;
}

START_TEST(linear_index_counts_lines_modulo_sets) {
    TagShape shape = shape_of((TagGeometry){.size = 16384, .ways = 4, .line = LINE, .sectors = 1});
    ck_assert_uint_eq(shape.sets, 32);
    ck_assert_uint_eq(tag_set(&shape, 0), 0);
    ck_assert_uint_eq(tag_set(&shape, 127), 0);
    ck_assert_uint_eq(tag_set(&shape, 128), 1);
    ck_assert_uint_eq(tag_set(&shape, 31 * LINE), 31);
    ck_assert_uint_eq(tag_set(&shape, 32 * LINE), 0);
}
END_TEST

START_TEST(linear_index_takes_any_number_of_sets) {
    TagShape shape = shape_of((TagGeometry){.size = 48 * 1024, .ways = 4, .line = LINE, .sectors = 1});
    ck_assert_uint_eq(shape.sets, 96);
    ck_assert_uint_eq(tag_set(&shape, 95 * LINE), 95);
    ck_assert_uint_eq(tag_set(&shape, 96 * LINE), 0);
    ck_assert_uint_eq(tag_set(&shape, 200 * LINE), 8);
}
END_TEST

/* Eight sets by bits 7 to 9; without bit 8, which is the same in all lines, by bits 7, 9 and 10. */
START_TEST(linear_index_leaves_out_bits_that_say_nothing) {
    TagShape shape = shape_of((TagGeometry){.size = 4096, .ways = 4, .line = LINE, .sectors = 1});
    tag_shape_leave_out(&shape, 1 << 10 | 1 << 20); /* above the index */
    ck_assert_uint_eq(shape.set_mask, 7);
    tag_shape_leave_out(&shape, 1 << 8);
    static const uint32_t sets[] = {1, 0, 2, 4, 0}; /* of bits 7, 8, ... */
    for (uint32_t i = 0; i < 5; i++)
        ck_assert_uint_eq(tag_set(&shape, 1ull << (7 + i)), sets[i]);
    ck_assert_uint_eq(tag_set(&shape, 0x780), 7);
}
END_TEST

/* set = addr[11:7] XOR {a19, a17, a15, a14, a13} */
START_TEST(xor_index_of_the_gtx480_l1) {
    TagShape shape = shape_of((TagGeometry){.size = 16384,
                                            .ways = 4,
                                            .line = LINE,
                                            .sectors = 1,
                                            .index = INDEX_XOR,
                                            .index_masks = "0x2080, 0x4100, 0x8200, 0x20400, 0x80800"});
    for (uint64_t i = 0; i < 20000; i++) {
        uint64_t a = 0xc0000000 + i * 0x9e40;
        uint64_t upper = (a >> 19 & 1) << 4 | (a >> 17 & 1) << 3 | (a >> 15 & 1) << 2 | (a >> 14 & 1) << 1 |
                         (a >> 13 & 1);
        ck_assert_uint_eq(tag_set(&shape, a), (a >> 7 & 31) ^ upper);
    }
}
END_TEST

/* dwt-pric Figure 5(b): 64 one-byte lines over 8 sets; row r lists the lines of sets 0 to 7. */
START_TEST(xor_index_of_pric_figure_5) {
    static const uint8_t rows[8][8] = {{0, 4, 2, 6, 1, 5, 3, 7},         {13, 9, 15, 11, 12, 8, 14, 10},
                                       {23, 19, 21, 17, 22, 18, 20, 16}, {26, 30, 24, 28, 27, 31, 25, 29},
                                       {35, 39, 33, 37, 34, 38, 32, 36}, {46, 42, 44, 40, 47, 43, 45, 41},
                                       {52, 48, 54, 50, 53, 49, 55, 51}, {57, 61, 59, 63, 56, 60, 58, 62}};
    /* The set number is printed with its bits reversed: line 1 is in set 4. Lines here are 32 B. */
    TagShape shape = shape_of((TagGeometry){.size = 8 * 32,
                                            .ways = 1,
                                            .line = 32,
                                            .sectors = 1,
                                            .index = INDEX_XOR,
                                            .index_masks = "0x380,0x640,0x720"});
    for (uint32_t row = 0; row < 8; row++)
        for (uint32_t set = 0; set < 8; set++)
            ck_assert_uint_eq(tag_set(&shape, rows[row][set] * 32ull), set);
}
END_TEST

static uint32_t modulo_polynomial_37(uint64_t number) {
    for (int bit = 63; bit >= 5; bit--)
        if (number >> bit & 1) number ^= 37ull << (bit - 5);
    return (uint32_t)number;
}

/* dwt-pric Figure 7: the equations of Poly(37), bits A7 to A26. */
START_TEST(xor_index_of_pric_figure_7_is_the_remainder_modulo_polynomial_37) {
    TagShape shape = shape_of(
        (TagGeometry){.size = 16384,
                      .ways = 4,
                      .line = LINE,
                      .sectors = 1,
                      .index = INDEX_XOR,
                      .index_masks = "0x3e69080,0x7cd2100,0x47cd200,0xf9a400,0x1f34800"});
    for (uint64_t number = 0; number < 1 << 20; number += 3)
        ck_assert_uint_eq(tag_set(&shape, number * LINE), modulo_polynomial_37(number));
}
END_TEST

START_TEST(sectors_of_a_segment) {
    TagShape four = shape_of((TagGeometry){.size = 1024, .ways = 1, .line = LINE, .sectors = 4});
    TagShape one = shape_of((TagGeometry){.size = 1024, .ways = 1, .line = LINE, .sectors = 1});
    ck_assert_uint_eq(four.all_sectors, 0xf);
    ck_assert_uint_eq(tag_sectors(&four, 0x1000, 128), 0xf);
    ck_assert_uint_eq(tag_sectors(&four, 0x1040, 64), 0xc);
    ck_assert_uint_eq(tag_sectors(&four, 0x1020, 32), 0x2);
    ck_assert_uint_eq(tag_sectors(&four, 0x103f, 2), 0x6);
    ck_assert_uint_eq(tag_sectors(&one, 0x1060, 32), 0x1);
}
END_TEST

START_TEST(found_only_in_its_set_and_after_install) {
    TagArray tags = make_tags((TagGeometry){.size = 1024, .ways = 4, .line = LINE, .sectors = 1});
    ck_assert_uint_eq(tag_find(&tags, 0, 0), NO_LINE);
    tag_install(&tags, 5, 0x1080, 3, 17, 2);
    ck_assert_uint_eq(tag_find(&tags, 1, 0x1080), 5);
    ck_assert_uint_eq(tag_find(&tags, 0, 0x1080), NO_LINE);
    ck_assert_uint_eq(tag_find(&tags, 1, 0x1180), NO_LINE);
    ck_assert_uint_eq(tag_address(&tags, 5), 0x1080);
    ck_assert_uint_eq(tags.line[5].sm, 3);
    ck_assert_uint_eq(tags.line[5].warp, 17);
    ck_assert_uint_eq(tags.line[5].class_number, 2);
    ck_assert_uint_eq(tags.line[5].valid | tags.line[5].dirty | tags.line[5].reserved, 0);
    free_tags(&tags);
}
END_TEST

START_TEST(victim_is_an_invalid_line_then_the_least_recently_used) {
    TagArray tags = make_tags((TagGeometry){.size = 512, .ways = 4, .line = LINE, .sectors = 1});
    for (uint32_t way = 0; way < 4; way++) {
        ck_assert_uint_eq(tag_victim(&tags, 0), way);
        install(&tags, way, way * 512ull);
    }
    ck_assert_uint_eq(tag_victim(&tags, 0), 0);
    tag_touch(&tags, 0);
    ck_assert_uint_eq(tag_victim(&tags, 0), 1);
    tag_touch(&tags, 2);
    tag_touch(&tags, 1);
    ck_assert_uint_eq(tag_victim(&tags, 0), 3);
    tag_invalidate(&tags, 1);
    ck_assert_uint_eq(tag_victim(&tags, 0), 1);
    free_tags(&tags);
}
END_TEST

/* Ways are compared in blocks: any number of them, in the second of two sets, with a reserved sector of any
 * number, against a plain search. */
START_TEST(victim_is_the_same_as_that_of_a_plain_search) {
    const uint32_t number_of_ways[] = {1, 2, 3, 4, 5, 6, 8, 15, 16, 64, 65, 184, 256, 257};
    uint32_t ways = number_of_ways[_i];
    TagArray tags = make_tags(
        (TagGeometry){.size = 2ull * ways * LINE, .ways = ways, .line = LINE, .sectors = 4});
    Random random = {ways};
    for (int step = 0; step < 2000; step++) {
        uint32_t line = ways + (uint32_t)random_below(&random, ways), best = NO_LINE;
        if (random_below(&random, 8))
            install(&tags, line, (uint64_t)step * LINE);
        else
            tag_invalidate(&tags, line);
        if (tags.tag[line] && random_below(&random, 2)) tags.line[line].reserved = (uint8_t)(1 << step % 4);
        tags.line[line].valid = tags.line[line].dirty = UINT8_MAX; /* nor does anything else of it matter */
        for (uint32_t i = 2 * ways; i-- > ways;)
            if (!tags.line[i].reserved && (best == NO_LINE || tags.used[i] <= tags.used[best])) best = i;
        ck_assert_uint_eq(tag_victim(&tags, 1), best);
        if (best == NO_LINE) tags.line[line].reserved = 0;
    }
    free_tags(&tags);
}
END_TEST

START_TEST(reserved_lines_are_no_victims_and_survive_invalidation) {
    TagArray tags = make_tags((TagGeometry){.size = 256, .ways = 2, .line = LINE, .sectors = 4});
    install(&tags, 0, 0);
    install(&tags, 1, 256);
    tags.line[0].reserved = 2;
    ck_assert_uint_eq(tag_victim(&tags, 0), 1);
    tags.line[1].reserved = 1;
    ck_assert_uint_eq(tag_victim(&tags, 0), NO_LINE);
    tags.line[1].reserved = 0;
    tag_invalidate_all(&tags);
    ck_assert_uint_eq(tag_find(&tags, 0, 0), 0);
    ck_assert_uint_eq(tags.line[0].valid, 0);
    ck_assert_uint_eq(tags.line[0].reserved, 2);
    ck_assert_uint_eq(tag_find(&tags, 0, 256), NO_LINE);
    free_tags(&tags);
}
END_TEST

START_TEST(more_ways_than_can_be_searched_are_hashed) {
    TagGeometry geometry = {.size = 64 * LINE, .ways = 64, .line = LINE, .sectors = 1};
    ck_assert_uint_eq(shape_of(geometry).hashed, 0);
    geometry = (TagGeometry){.size = 130 * LINE, .ways = 65, .line = LINE, .sectors = 1};
    ck_assert_uint_eq(shape_of(geometry).hashed, 0);
    geometry.size = 65 * LINE;
    ck_assert_uint_eq(shape_of(geometry).hashed, 65);
}
END_TEST

/* Of the first set. */
static uint32_t searched(const TagArray *tags, uint64_t address) {
    for (uint32_t i = 0; i < tags->shape.ways; i++)
        if (tags->tag[i] == (address | 1)) return i;
    return NO_LINE;
}

/* Whatever is invalid; else the least recently used of the lowest class. */
static void check_victim(const TagArray *tags) {
    uint32_t victim = tag_victim(tags, 0), best = NO_LINE;
    for (uint32_t i = 0; i < tags->shape.ways; i++) {
        const TagLine *line = &tags->line[i], *other = &tags->line[best];
        if (!tags->tag[i]) {
            ck_assert_uint_ne(victim, NO_LINE);
            ck_assert_uint_eq(tags->tag[victim], 0);
            return;
        }
        if (line->reserved) continue;
        uint32_t keep = tags->order.keep.of[line->class_number];
        uint32_t other_keep = best == NO_LINE ? 256 : tags->order.keep.of[other->class_number];
        if (keep < other_keep || (keep == other_keep && tags->used[i] < tags->used[best])) best = i;
    }
    ck_assert_uint_eq(victim, best);
}

static void use_at_random(TagArray *tags, Random *random) {
    uint64_t address = random_below(random, 2 * tags->shape.ways) * tags->shape.sets * LINE;
    uint32_t line = tag_find(tags, 0, address), what = (uint32_t)random_below(random, 16);
    ck_assert_uint_eq(line, searched(tags, address));
    check_victim(tags);
    if (line == NO_LINE) {
        line = tag_victim(tags, 0);
        if (line == NO_LINE) return;
        tag_install(tags, line, address, 0, 0, (uint8_t)random_below(random, 4));
    } else if (what == 0) {
        tag_invalidate(tags, line);
    } else if (what < 4) {
        tags->line[line].reserved ^= 1;
    } else {
        tag_touch(tags, line);
    }
}

/* Loop: LRU; classes with depths and ranks. */
START_TEST(hashed_array_does_what_a_search_of_all_ways_would) {
    TagArray tags = make_hashed(100);
    Random random = {(uint64_t)_i + 1};
    tags.uses = 1ull << 40; /* so that no stamp below all others is the first one */
    for (uint32_t class_number = 1; _i && class_number < 4; class_number++) {
        tag_set_depth(&tags, class_number, class_number == 3 ? LEAST_RECENT : 5 * class_number);
        tag_set_keep(&tags, class_number, class_number & 1);
    }
    for (int i = 0; i < 20000; i++) {
        use_at_random(&tags, &random);
        if (i % 5000 == 4999) tag_invalidate_all(&tags);
    }
    free_tags(&tags);
}
END_TEST

/* From 32 ways on, fingerprints are compared, the last 32 ways in one step. */
START_TEST(of_many_ways_those_are_found_that_a_search_of_all_would_find) {
    static const uint32_t number_of_ways[] = {31, 32, 33, 40, 56, 63, 64, 65, 128, 184, 256, 257};
    uint32_t ways = number_of_ways[_i];
    TagArray tags = make_tags(
        (TagGeometry){.size = 2ull * ways * LINE, .ways = ways, .line = LINE, .sectors = 1});
    Random random = {ways};
    for (int i = 0; i < 20000; i++) {
        use_at_random(&tags, &random);
        if (i % 5000 == 4999) tag_invalidate_all(&tags);
    }
    memset(tags.print, 0, tags.shape.printed);
    tag_rebuild(&tags);
    tag_array_is_sound(&tags, "tags");
    for (uint32_t i = 0; i < 2 * ways; i++)
        ck_assert_uint_eq(tag_find(&tags, 0, 2ull * i * LINE), searched(&tags, 2ull * i * LINE));
    free_tags(&tags);
}
END_TEST

START_TEST(lines_of_many_ways_are_found_in_their_own_set) {
    TagArray tags = make_tags((TagGeometry){.size = 80 * LINE, .ways = 40, .line = LINE, .sectors = 1});
    install(&tags, 39, 0);
    install(&tags, 40, LINE);
    ck_assert_uint_eq(tag_find(&tags, 0, 0), 39);
    ck_assert_uint_eq(tag_find(&tags, 1, LINE), 40);
    ck_assert_uint_eq(tag_find(&tags, 1, 0), NO_LINE);
    ck_assert_uint_eq(tag_find(&tags, 0, LINE), NO_LINE);
    free_tags(&tags);
}
END_TEST

/* Lines that were written by hand, as a snapshot of another geometry does. */
START_TEST(rebuilt_array_knows_its_lines_and_their_order) {
    TagArray tags = make_hashed(100);
    static const uint64_t stamps[] = {7, 3, 9, 4};
    for (uint32_t i = 0; i < 4; i++) {
        tags.tag[i] = i * LINE | 1;
        tags.used[i] = stamps[i];
    }
    tags.uses = 9;
    tag_rebuild(&tags);
    for (uint32_t i = 0; i < 4; i++)
        ck_assert_uint_eq(tag_find(&tags, 0, i * LINE), i);
    ck_assert_uint_eq(tag_victim(&tags, 0), 4);
    for (uint32_t i = 4; i < 100; i++)
        install(&tags, tag_victim(&tags, 0), i * LINE);
    static const uint32_t order[] = {1, 3, 0, 2, 4};
    for (uint32_t i = 0; i < 5; i++) {
        ck_assert_uint_eq(tag_victim(&tags, 0), order[i]);
        install(&tags, order[i], (100 + i) * LINE);
    }
    free_tags(&tags);
}
END_TEST

static const TagGeometry bad_geometries[] = {
    {.size = 16384, .ways = 4, .line = 96, .sectors = 1},
    {.size = 16384, .ways = 4, .line = 256, .sectors = 1},
    {.size = 16384, .ways = 4, .line = 128, .sectors = 8},
    {.size = 16384, .ways = 4, .line = 128, .sectors = 3},
    {.size = 16384, .ways = 4, .line = 128, .sectors = 0},
    {.size = 16000, .ways = 4, .line = 128, .sectors = 1},
    {.size = 0, .ways = 4, .line = 128, .sectors = 1},
    {.size = 1024, .ways = 4, .line = 128, .sectors = 1, .index = INDEX_XOR, .index_masks = ""},
    {.size = 1024, .ways = 4, .line = 128, .sectors = 1, .index = INDEX_XOR, .index_masks = "0x80,0x100"},
    {.size = 1024, .ways = 4, .line = 128, .sectors = 1, .index = INDEX_XOR, .index_masks = "0x80;"},
    {.size = 1024, .ways = 4, .line = 128, .sectors = 1, .index = INDEX_XOR, .index_masks = "seven"},
    {.size = 1024, .ways = 4, .line = 128, .sectors = 1, .index = INDEX_XOR, .index_masks = "0"},
    {.size = 1024, .ways = 4, .line = 128, .sectors = 1, .index = INDEX_XOR, .index_masks = "-128"},
    {.size = 1024, .ways = 4, .line = 128, .sectors = 1, .index = INDEX_XOR, .index_masks = "0x8040"},
    {.size = 4096,
     .ways = 4,
     .line = 128,
     .sectors = 1,
     .index = INDEX_XOR,
     .index_masks = "0x80,0x180,0x100"},
};

START_TEST(geometry_that_cannot_be_built_is_a_user_error) {
    shape_of(bad_geometries[_i]);
}
END_TEST

Suite *tag_array_suite(void) {
    Suite *suite = suite_create("tag_array");
    TCase *tests = tcase_create("tag_array");
    tcase_add_test(tests, linear_index_counts_lines_modulo_sets);
    tcase_add_test(tests, linear_index_takes_any_number_of_sets);
    tcase_add_test(tests, linear_index_leaves_out_bits_that_say_nothing);
    tcase_add_test(tests, xor_index_of_the_gtx480_l1);
    tcase_add_test(tests, xor_index_of_pric_figure_5);
    tcase_add_test(tests, xor_index_of_pric_figure_7_is_the_remainder_modulo_polynomial_37);
    tcase_add_test(tests, sectors_of_a_segment);
    tcase_add_test(tests, found_only_in_its_set_and_after_install);
    tcase_add_test(tests, victim_is_an_invalid_line_then_the_least_recently_used);
    tcase_add_loop_test(tests, victim_is_the_same_as_that_of_a_plain_search, 0, 14);
    tcase_add_test(tests, reserved_lines_are_no_victims_and_survive_invalidation);
    tcase_add_test(tests, more_ways_than_can_be_searched_are_hashed);
    tcase_add_loop_test(tests, hashed_array_does_what_a_search_of_all_ways_would, 0, 2);
    tcase_add_loop_test(tests, of_many_ways_those_are_found_that_a_search_of_all_would_find, 0, 12);
    tcase_add_test(tests, lines_of_many_ways_are_found_in_their_own_set);
    tcase_add_test(tests, rebuilt_array_knows_its_lines_and_their_order);
    tcase_add_loop_exit_test(tests, geometry_that_cannot_be_built_is_a_user_error, EXIT_USER_ERROR, 0,
                             (int)(sizeof bad_geometries / sizeof *bad_geometries));
    suite_add_tcase(suite, tests);
    return suite;
}
