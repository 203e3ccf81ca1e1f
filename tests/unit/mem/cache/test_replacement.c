/* Which line goes, by each choice of replacement: random streams of requests against plain models that are
 * written from the papers' descriptions; ways that a class may take; what is refused; hostile state. */
#include "core/sim/base/random.h"
#include "core/sim/checkpoint/snapshot_parts.h"
#include "mem/cache/replacement/replacement.h"
#include "tests/unit/suites.h"

#include <stdlib.h>
#include <string.h>

enum { LINE = 128, SETS = 64, WAYS = 8, CLASSES_USED = 3, PCS = 24 };

typedef struct {
    SimObject object;
    TagArray tags;
    Replacement r;
    char masks[64];
} Rig;

static const ReplacementParameters defaults = {.rrip_bits = 2,
                                               .brrip_throttle = 32,
                                               .leader_sets = 4,
                                               .psel_bits = 6,
                                               .ship_entries = 16384,
                                               .ship_bits = 3,
                                               .seed = 1,
                                               .way_masks = (char *)""};

static void build(void *context) {
    Rig *rig = context;
    replacement_build(&rig->r, &rig->object, &rig->tags);
}

static void read_masks(void *context) {
    Rig *rig = context;
    replacement_read_masks(&rig->r, &rig->object, &rig->tags);
}

static void shape_rig(Rig *rig, uint32_t sets, uint32_t ways, ReplacementParameters p) {
    *rig = (Rig){.object = {.path = (char *)"x"}, .r = {.parameters = p}};
    tag_shape_init(&rig->tags.shape, "x",
                   &(TagGeometry){.size = sets * ways * LINE, .ways = ways, .line = LINE, .sectors = 1});
}

static void make_rig(Rig *rig, uint32_t sets, uint32_t ways, ReplacementParameters p) {
    shape_rig(rig, sets, ways, p);
    build(rig);
    uint32_t lines = rig->tags.shape.lines;
    rig->tags.tag = calloc(lines, sizeof *rig->tags.tag);
    rig->tags.used = calloc(lines, sizeof *rig->tags.used);
    rig->tags.line = calloc(lines, sizeof *rig->tags.line);
    rig->tags.print = calloc(lines, sizeof *rig->tags.print);
    rig->r.line = calloc(rig->r.lines + 1, sizeof *rig->r.line);
    rig->r.set = calloc(rig->r.sets + 1, sizeof *rig->r.set);
    rig->r.outcomes = calloc(rig->r.outcomes_count + 1, 1);
    rig->r.ways_of = calloc(rig->r.partitions + 1, sizeof *rig->r.ways_of);
    rig->r.history = calloc(rig->r.histories + 1, sizeof *rig->r.history);
    replacement_init(&rig->r, &rig->object, &rig->tags);
}

static void free_rig(Rig *rig) {
    free(rig->tags.tag);
    free(rig->tags.used);
    free(rig->tags.line);
    free(rig->tags.print);
    free(rig->r.line);
    free(rig->r.set);
    free(rig->r.outcomes);
    free(rig->r.ways_of);
    free(rig->r.history);
}

static uint32_t set_of(const Rig *rig, const MemMessage *m) {
    return tag_set(&rig->tags.shape, m->address);
}

/* Takes a line for `m`, `line` of its set. */
static void install(Rig *rig, uint32_t line, const MemMessage *m) {
    replacement_entered(&rig->r, &rig->tags, line, m);
    tag_install(&rig->tags, line, m->address, m->sm, m->warp, m->class_number);
    rig->tags.line[line].valid = 1;
}

static void use(Rig *rig, uint32_t line) {
    tag_touch(&rig->tags, line);
    replacement_used(&rig->r, &rig->tags, line, true);
}

/* Models. */

typedef struct {
    uint64_t address; /* 0: free */
    uint64_t last, first;
    int value; /* RRPV */
    uint32_t pc;
    bool again, busy;
} Way;

typedef struct {
    uint32_t choice, ways, sets, max;
    Way way[SETS][WAYS];
    bool upper[SETS][WAYS + 1][WAYS]; /* tree: [first way][ways of the half]; the upper half was used last */
    int counter[PCS];
    long selector;
    uint64_t now;
} Model;

static void model_tree_used(Model *model, uint32_t set, uint32_t way) {
    uint32_t low = 0, high = model->ways;
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        model->upper[set][low][high - low - 1] = way >= middle;
        *(way >= middle ? &low : &high) = middle;
    }
}

static bool any_in(uint64_t eligible, uint32_t low, uint32_t high) {
    for (uint32_t i = low; i < high; i++)
        if (eligible >> i & 1) return true;
    return false;
}

static uint32_t model_tree_victim(const Model *model, uint32_t set, uint64_t eligible) {
    uint32_t low = 0, high = model->ways;
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        bool take_upper = !model->upper[set][low][high - low - 1];
        if (take_upper && !any_in(eligible, middle, high)) take_upper = false;
        if (!take_upper && !any_in(eligible, low, middle)) take_upper = true;
        *(take_upper ? &low : &high) = middle;
    }
    return low;
}

/* As in the papers: look for a line with the largest value from the left, else count all up and look again. */
static uint32_t model_rrip_victim(Way *way, uint32_t ways, int max, uint64_t eligible) {
    for (;;) {
        for (uint32_t i = 0; i < ways; i++)
            if ((eligible >> i & 1) && way[i].value == max) return i;
        for (uint32_t i = 0; i < ways; i++)
            if (eligible >> i & 1) way[i].value++;
    }
}

static uint32_t model_oldest(const Way *way, uint32_t ways, bool first_in, uint64_t eligible) {
    uint32_t best = ways;
    for (uint32_t i = 0; i < ways; i++) {
        if (!(eligible >> i & 1)) continue;
        if (best == ways) best = i;
        if (first_in ? way[i].first < way[best].first : way[i].last < way[best].last) best = i;
    }
    return best;
}

/* Changes values: a line is going to be replaced. */
static uint32_t model_victim(Model *model, uint32_t set, uint64_t eligible) {
    Way *way = model->way[set];
    for (uint32_t i = 0; i < model->ways; i++)
        if ((eligible >> i & 1) && !way[i].address) return i;
    switch (model->choice) {
    case REPLACE_LRU: return model_oldest(way, model->ways, false, eligible);
    case REPLACE_FIFO: return model_oldest(way, model->ways, true, eligible);
    case REPLACE_TREE_PLRU: return model_tree_victim(model, set, eligible);
    default: return model_rrip_victim(way, model->ways, (int)model->max, eligible);
    }
}

static void model_used(Model *model, uint32_t set, uint32_t i) {
    Way *way = &model->way[set][i];
    way->last = ++model->now;
    way->value = 0;
    way->again = true;
    if (model->counter[way->pc] < 7) model->counter[way->pc]++;
    model_tree_used(model, set, i);
}

/* Sets 0, 16, 32, 48 lead for srrip, those 8 above for brrip. */
static bool model_bimodal(Model *model, uint32_t set) {
    bool srrip_leads = set % 16 == 0, brrip_leads = set % 16 == 8;
    if (model->choice != REPLACE_DRRIP) return model->choice == REPLACE_BRRIP;
    if (srrip_leads && model->selector < 63) model->selector++;
    if (brrip_leads && model->selector > 0) model->selector--;
    return brrip_leads || (!srrip_leads && model->selector >= 32);
}

/* `seen`: the prediction that the line got, of two that brrip may draw. */
static void model_entered(Model *model, uint32_t set, uint32_t i, const MemMessage *m, int seen) {
    Way *way = &model->way[set][i];
    if (way->address && !way->again && model->counter[way->pc] > 0) model->counter[way->pc]--;
    int max = (int)model->max, value = max - 1;
    if (model->choice == REPLACE_SHIP_PC) value = model->counter[m->pc] ? max - 1 : max;
    if (model_bimodal(model, set)) value = seen == max - 1 ? seen : max;
    *way = (Way){.address = m->address | 1, .value = value, .pc = m->pc};
    way->last = way->first = ++model->now;
    model_tree_used(model, set, i);
}

/* The stream: hits, misses, lines that are lost, lines in flight, of some classes and PCs. */

typedef struct {
    Rig rig;
    Model model;
    Random random;
    uint64_t replaced, seen_srrip, seen_distant;
} Trial;

static const uint64_t class_ways[CLASSES_USED] = {0x0f, 0xfc, 0xff};

static uint64_t eligible_for(const Trial *t, uint32_t set, const MemMessage *m, bool partitioned) {
    uint64_t ways = partitioned ? class_ways[m->class_number] & ((1u << t->model.ways) - 1)
                                : (1u << t->model.ways) - 1;
    for (uint32_t i = 0; i < t->model.ways; i++)
        if (t->model.way[set][i].busy) ways &= ~(1ull << i);
    return ways;
}

static void miss(Trial *t, uint32_t set, const MemMessage *m, bool partitioned) {
    uint64_t eligible = eligible_for(t, set, m, partitioned);
    uint32_t got = replacement_victim(&t->rig.r, &t->rig.tags, m, set);
    if (!eligible) {
        ck_assert_uint_eq(got, NO_LINE);
        return;
    }
    ck_assert_uint_eq(replacement_victim(&t->rig.r, &t->rig.tags, m, set), got); /* tried again */
    uint32_t want = model_victim(&t->model, set, eligible);
    ck_assert_uint_eq(got, set * t->model.ways + want);
    t->replaced += t->rig.tags.tag[got] != 0;
    install(&t->rig, got, m);
    int seen = t->rig.r.lines ? t->rig.r.line[got].prediction : 0;
    model_entered(&t->model, set, want, m, seen);
    t->seen_distant += seen == (int)t->model.max;
    t->seen_srrip += seen == (int)t->model.max - 1;
}

static void step(Trial *t, bool partitioned) {
    Random *random = &t->random;
    MemMessage m = {.address = random_below(random, 3 * WAYS * SETS / 2) * LINE,
                    .pc = (uint32_t)random_below(random, PCS),
                    .class_number = (uint8_t)random_below(random, CLASSES_USED)};
    if (m.pc < 6)
        m.address = (1ull << 30) + (random_next(random) >> 40) * LINE; /* a stream: never used again */
    uint32_t set = set_of(&t->rig, &m), line = tag_find(&t->rig.tags, set, m.address);
    uint64_t what = random_below(random, 32);
    if (line == NO_LINE) {
        miss(t, set, &m, partitioned);
        return;
    }
    uint32_t i = line % t->model.ways;
    Way *way = &t->model.way[set][i];
    ck_assert_uint_eq(way->address, m.address | 1);
    if (what < 2) {
        way->busy = !way->busy;
        t->rig.tags.line[line].reserved = way->busy;
    } else if (what == 2 && !way->busy) {
        way->address = 0;
        tag_invalidate(&t->rig.tags, line);
    } else {
        use(&t->rig, line);
        model_used(&t->model, set, i);
    }
}

static Trial *begin(uint32_t choice, bool partitioned, uint32_t bits, uint32_t ways) {
    Trial *t = calloc(1, sizeof *t);
    ReplacementParameters p = defaults;
    p.choice = choice;
    p.rrip_bits = bits;
    p.partition_by = partitioned ? PARTITION_BY_CLASS : PARTITION_NONE;
    p.way_masks = (char *)(partitioned ? ways == WAYS ? "0x0f,0xfc,255" : "15,0x3c" : "");
    make_rig(&t->rig, SETS, ways, p);
    t->model = (Model){.choice = choice, .ways = ways, .sets = SETS, .selector = 31};
    t->model.max = choice == REPLACE_NRU ? 1 : (1u << bits) - 1;
    for (int i = 0; i < PCS; i++)
        t->model.counter[i] = 1;
    t->random.state = choice + 100 * partitioned;
    return t;
}

static void end(Trial *t) {
    replacement_is_sound(&t->rig.r, &t->rig.tags, "x");
    free_rig(&t->rig);
    free(t);
}

/* Loop: choices, each without and with partitions, then with three bits. LRU is in it for its partitions. */
START_TEST(victims_are_those_of_the_plain_model) {
    static const uint32_t choices[] = {REPLACE_LRU,   REPLACE_TREE_PLRU, REPLACE_NRU,   REPLACE_FIFO,
                                       REPLACE_SRRIP, REPLACE_BRRIP,     REPLACE_DRRIP, REPLACE_SHIP_PC};
    uint32_t choice = choices[_i % 8];
    bool partitioned = _i / 8 == 1;
    if (choice == REPLACE_LRU && !partitioned) return;
    Trial *t = begin(choice, partitioned, _i / 8 == 2 ? 3 : 2, WAYS);
    for (int i = 0; i < 100000; i++)
        step(t, partitioned);
    ck_assert_uint_gt(t->replaced, 20000);
    if (choice == REPLACE_BRRIP) {
        double rate = (double)t->seen_srrip / (double)(t->seen_srrip + t->seen_distant);
        ck_assert_double_gt(rate, 0.9 / 32);
        ck_assert_double_lt(rate, 1.1 / 32);
    }
    if (choice == REPLACE_SHIP_PC) ck_assert_uint_gt(t->seen_distant, 1000);
    if (choice == REPLACE_DRRIP) ck_assert_uint_eq(t->rig.r.psel, (uint64_t)t->model.selector);
    end(t);
}
END_TEST

/* The tree of eight leaves has six ways: the two others are never chosen. */
START_TEST(tree_of_ways_that_are_no_power_of_two_chooses_among_those_it_has) {
    Trial *t = begin(REPLACE_TREE_PLRU, false, 2, 6);
    MemMessage m = {0};
    uint64_t chosen = 0;
    for (uint64_t i = 0; i < 60; i++) {
        m.address = i * SETS * LINE;
        uint32_t line = replacement_victim(&t->rig.r, &t->rig.tags, &m, 0);
        ck_assert_uint_lt(line, 6);
        if (i >= 6) chosen |= 1ull << line;
        install(&t->rig, line, &m);
        ck_assert_uint_ne(replacement_victim(&t->rig.r, &t->rig.tags, &m, 0), line);
    }
    ck_assert_uint_eq(chosen, 0x3f);
    end(t);
}
END_TEST

static void ways_drawn(uint64_t seed, uint8_t *ways, uint32_t count) {
    ReplacementParameters p = defaults;
    p.choice = REPLACE_RANDOM;
    p.seed = seed;
    Rig rig;
    make_rig(&rig, SETS, WAYS, p);
    for (uint32_t i = 0; i < count + WAYS; i++) {
        MemMessage m = {.address = (uint64_t)i * SETS * LINE};
        uint32_t line = replacement_victim(&rig.r, &rig.tags, &m, 0);
        ck_assert_uint_eq(replacement_victim(&rig.r, &rig.tags, &m, 0), line);
        if (i >= WAYS) ways[i - WAYS] = (uint8_t)line;
        install(&rig, line, &m);
    }
    free_rig(&rig);
}

START_TEST(random_draws_each_way_as_often_and_the_same_ones_for_a_seed) {
    enum { DRAWS = 8000 };
    static uint8_t one[DRAWS], again[DRAWS], other[DRAWS];
    ways_drawn(1, one, DRAWS);
    ways_drawn(1, again, DRAWS);
    ways_drawn(2, other, DRAWS);
    ck_assert_mem_eq(one, again, DRAWS);
    ck_assert_mem_ne(one, other, DRAWS);
    for (uint32_t way = 0; way < WAYS; way++) {
        uint32_t count = 0;
        for (uint32_t i = 0; i < DRAWS; i++)
            count += one[i] == way;
        ck_assert_uint_gt(count, DRAWS / WAYS * 9 / 10);
        ck_assert_uint_lt(count, DRAWS / WAYS * 11 / 10);
    }
}
END_TEST

/* Two lines that are used in turn, and a stream: SRRIP keeps them, LRU of two ways would not. */
START_TEST(srrip_keeps_lines_that_were_used_again_from_a_scan) {
    Trial *t = begin(REPLACE_SRRIP, false, 2, 4);
    for (uint64_t i = 0; i < 2; i++) {
        install(&t->rig, (uint32_t)i, &(MemMessage){.address = i * SETS * LINE});
        use(&t->rig, (uint32_t)i);
    }
    for (uint64_t i = 2; i < 6; i++) {
        MemMessage m = {.address = i * SETS * LINE};
        install(&t->rig, replacement_victim(&t->rig.r, &t->rig.tags, &m, 0), &m);
    }
    ck_assert_uint_ne(tag_find(&t->rig.tags, 0, 0), NO_LINE);
    ck_assert_uint_ne(tag_find(&t->rig.tags, 0, SETS * LINE), NO_LINE);
    end(t);
}
END_TEST

START_TEST(history_is_of_the_request_that_took_the_line) {
    ReplacementParameters p = defaults;
    p.line_history = 1;
    Rig rig;
    make_rig(&rig, 4, 2, p);
    ck_assert_uint_eq(rig.tags.order.bent, ORDER_WATCHED);
    install(&rig, 3, &(MemMessage){.address = LINE, .pc = 17});
    use(&rig, 3);
    use(&rig, 3);
    ck_assert_uint_eq(rig.r.history[3].pc, 17);
    ck_assert_uint_eq(rig.r.history[3].uses, 2);
    install(&rig, 3, &(MemMessage){.address = LINE + 4 * LINE, .pc = 18});
    ck_assert_uint_eq(rig.r.history[3].pc, 18);
    ck_assert_uint_eq(rig.r.history[3].uses, 0);
    free_rig(&rig);
}
END_TEST

START_TEST(lru_without_partitions_keeps_nothing_and_is_not_watched) {
    Rig rig;
    make_rig(&rig, 4, 2, defaults);
    ck_assert_uint_eq(rig.tags.order.bent, 0);
    ck_assert_uint_eq(rig.r.lines + rig.r.sets + rig.r.outcomes_count + rig.r.histories + rig.r.partitions,
                      0);
    free_rig(&rig);
}
END_TEST

START_TEST(choices_that_contradict_each_other_are_user_errors) {
    static const struct {
        uint32_t choice, by, sets, ways;
        const char *masks, *want;
    } cases[] = {
        {REPLACE_SRRIP, PARTITION_NONE, 1, 65, "",
         "x.replacement: expected lru for a cache of more than 64 ways"},
        {REPLACE_LRU, PARTITION_BY_SM, 1, 65, "",
         "x.partition_by: expected none for a cache of more than 64 ways"},
        {REPLACE_DRRIP, PARTITION_NONE, 3, 4, "", "x.replacement: expected 4 or more sets"},
        {REPLACE_LRU, PARTITION_NONE, 4, 4, "1", "x.way_masks: expected partition_by to be class or sm"},
    };
    ReplacementParameters p = defaults;
    p.choice = cases[_i].choice;
    p.partition_by = cases[_i].by;
    p.way_masks = (char *)(uintptr_t)cases[_i].masks;
    Rig rig;
    shape_rig(&rig, cases[_i].sets, cases[_i].ways, p);
    const char *message = user_error_catch(build, &rig);
    ck_assert_ptr_nonnull(message);
    ck_assert_ptr_nonnull(strstr(message, cases[_i].want));
}
END_TEST

START_TEST(text_that_is_no_masks_is_a_user_error) {
    static const char *const texts[] = {"0", "0x10", "3,", ",3", "3,,3", "a", "-1", "3;3", " 3", "1,16"};
    ReplacementParameters p = defaults;
    p.partition_by = PARTITION_BY_CLASS;
    Rig rig;
    make_rig(&rig, 4, 4, p);
    rig.r.parameters.way_masks = (char *)(uintptr_t)texts[_i];
    const char *message = user_error_catch(read_masks, &rig);
    ck_assert_ptr_nonnull(message);
    ck_assert_ptr_nonnull(strstr(message, " sets of its 4 ways, one for each class"));
    free_rig(&rig);
}
END_TEST

static void soundness(void *context) {
    Rig *rig = context;
    replacement_is_sound(&rig->r, &rig->tags, "x");
}

/* Its prediction is that of a line in use, and its PC brings lines that nobody uses again. */
START_TEST(misses_of_other_sectors_are_no_uses_of_a_line) {
    ReplacementParameters p = defaults;
    p.choice = REPLACE_SHIP_PC;
    p.line_history = 1;
    Rig rig;
    make_rig(&rig, 4, 2, p);
    MemMessage m = {.address = LINE, .pc = 17};
    install(&rig, 3, &m);
    uint32_t signature = rig.r.line[3].signature, before = rig.r.outcomes[signature];
    replacement_used(&rig.r, &rig.tags, 3, false);
    ck_assert_uint_eq(rig.r.line[3].prediction, 0);
    ck_assert_uint_eq(rig.r.history[3].uses, 0);
    ck_assert_uint_eq(rig.r.outcomes[signature], before);
    m.address += 4 * LINE;
    install(&rig, 3, &m);
    ck_assert_uint_eq(rig.r.outcomes[signature], before - 1);
    free_rig(&rig);
}
END_TEST

START_TEST(state_that_no_run_makes_is_not_sound) {
    ReplacementParameters p = defaults;
    p.choice = REPLACE_SHIP_PC;
    p.partition_by = PARTITION_BY_CLASS;
    Rig rig;
    char why[256];
    make_rig(&rig, 4, 4, p);
    soundness(&rig);
    switch (_i) {
    case 0: rig.r.line[3].prediction = 4; break;
    case 1: rig.r.line[3].signature = 16384; break;
    case 2: rig.r.line[3].entered = 1; break;
    case 3: rig.r.outcomes[9] = 8; break;
    case 4: rig.r.psel = 64; break;
    case 5: rig.r.ways_of[2] = 0; break;
    case 6: rig.r.ways_of[2] = 0x10; break;
    default: break;
    }
    ck_assert(!snapshot_passes(soundness, &rig, why, sizeof why));
    free_rig(&rig);
}
END_TEST

Suite *replacement_suite(void) {
    Suite *suite = suite_create("replacement");
    TCase *tests = tcase_create("replacement");
    tcase_add_loop_test(tests, victims_are_those_of_the_plain_model, 0, 24);
    tcase_add_test(tests, tree_of_ways_that_are_no_power_of_two_chooses_among_those_it_has);
    tcase_add_test(tests, random_draws_each_way_as_often_and_the_same_ones_for_a_seed);
    tcase_add_test(tests, srrip_keeps_lines_that_were_used_again_from_a_scan);
    tcase_add_test(tests, history_is_of_the_request_that_took_the_line);
    tcase_add_test(tests, misses_of_other_sectors_are_no_uses_of_a_line);
    tcase_add_test(tests, lru_without_partitions_keeps_nothing_and_is_not_watched);
    tcase_add_loop_test(tests, choices_that_contradict_each_other_are_user_errors, 0, 4);
    tcase_add_loop_test(tests, text_that_is_no_masks_is_a_user_error, 0, 10);
    tcase_add_loop_test(tests, state_that_no_run_makes_is_not_sound, 0, 7);
    suite_add_tcase(suite, tests);
    return suite;
}
