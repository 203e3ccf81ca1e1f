/* The locality scoring system alone, cycle by cycle; the example is that of Rogers et al., figure 8: four
 * warps with a base score of 100, so that the cut-off is 400. */
#include "core/gpu/parts/locality_scores/locality_scores.h"
#include "core/sim/base/random.h"
#include "core/sim/event.h"
#include "mem/parts/victim_tags/victim_tags.h"
#include "tests/unit/gpu/tiny_machine.h"
#include "tests/unit/mem/memory_driver.h"
#include "tests/unit/suites.h"

enum { BASE_SCORE = 100, MAX_CHANGES = 32 };

/* Ticks in every cycle, so that time goes on when the scores sleep. */
typedef struct {
    SimObject obj;
} Metronome;

static uint64_t beat(SimObject *object, uint64_t now) {
    return now + object->period;
}

static const Field metronome_fields[] = {BASE(Metronome), FIELDS_END};
static const Class metronome_class = {.name = "Metronome",
                                      .doc = "Ticks in every cycle",
                                      .bytes = sizeof(Metronome),
                                      .fields = metronome_fields,
                                      .tick = beat};

typedef struct {
    Subscriber subscriber; /* first: handle() gets a pointer to it */
    Sim *sim;
    SimObject *scores;
    uint64_t cycle[MAX_CHANGES];
    WarpSet allowed[MAX_CHANGES];
    uint32_t changes;
} Rig;

static int64_t handle_event(Subscriber *subscriber, SimObject *object, uint32_t event,
                            const int64_t *arguments, uint64_t now) {
    Rig *rig = (Rig *)subscriber;
    ck_assert_uint_eq(event, 0);
    if (rig->changes == MAX_CHANGES) return NO_ANSWER;
    rig->cycle[rig->changes] = object_cycle(object, now);
    rig->allowed[rig->changes++] = (WarpSet)arguments[0];
    return NO_ANSWER;
}

/* Quanta of one cycle. */
static void begin_rig(Rig *rig) {
    *rig = (Rig){.subscriber = {handle_event}, .sim = sim_new("test")};
    class_register_all();
    class_register(&metronome_class);
    sim_clock(rig->sim, "clock", 1000000000);
    sim_set_quantum(rig->sim, 1);
}

static void finish_rig(Rig *rig, const char *parameters) {
    tiny_add(rig->sim, "Metronome", "metronome", NULL);
    rig->scores = tiny_add(rig->sim, "LocalityScores", "scores", parameters);
    sim_elaborate(rig->sim);
    object_subscribe(rig->scores, &rig->subscriber, 1);
}

static void make_rig(Rig *rig, const char *parameters) {
    begin_rig(rig);
    finish_rig(rig, parameters);
}

/* Runs the cycles before this one. */
static void run_to(Rig *rig, uint64_t cycle) {
    sim_run(rig->sim, cycle * rig->scores->period);
    sim_settle(rig->sim);
    sim_check(rig->sim, false);
}

static WarpSet allowed_now(const Rig *rig) {
    const Field *f = object_field(rig->scores, FIELD_STATE, "allowed");
    ck_assert_ptr_nonnull(f);
    return *(const WarpSet *)(const void *)((const char *)rig->scores + f->offset);
}

/* Warps 0 to 3, of one CTA. */
static void start_four(Rig *rig) {
    static const WarpSet ages[] = {0xf};
    scores_set_active(rig->scores, 0xf, ages, 1);
}

static void assert_change(const Rig *rig, uint32_t index, uint64_t cycle, WarpSet allowed) {
    ck_assert_uint_lt(index, rig->changes);
    ck_assert_msg(rig->cycle[index] == cycle && (rig->allowed[index] & 0xf) == allowed,
                  "change %u: warps 0x%lx in cycle %lu, and not 0x%lx in cycle %lu", index,
                  rig->allowed[index] & 0xf, rig->cycle[index], allowed, cycle);
}

/* T0: all are at the base. T1: W2 rises to 260 in cycle 10; W2 W0 W1 W3 stand on 0, 260, 360 and 460, and W3
 * is above the cut-off. T2: W0 rises to 350 in cycle 50, when W2 is at 220: W0 W2 W1 W3 stand on 0, 350, 570,
 * 670. T3: their sum is 570 - 2 (c - 50), below 400 from cycle 136 on (398): W1 loads again; below 300 from
 * cycle 191 on, if W2 were not at its base since 170: with it 100 + 350 - (c - 50) < 300 from cycle 201 on:
 * W3 loads again. */
START_TEST(the_example_of_the_paper_step_by_step) {
    Rig rig;
    make_rig(&rig, NULL);
    start_four(&rig);
    run_to(&rig, 10);
    ck_assert_uint_eq(rig.changes, 0);
    scores_set(rig.scores, 2, 260);
    run_to(&rig, 50);
    assert_change(&rig, 0, 10, 0x7);
    ck_assert_uint_eq(scores_get(rig.scores, 2), 220);
    ck_assert_uint_eq(scores_get(rig.scores, 0), 100);
    ck_assert_uint_eq(scores_get(rig.scores, 4), 0);
    scores_set(rig.scores, 0, 350);
    run_to(&rig, 400);
    assert_change(&rig, 1, 50, 0x5);
    assert_change(&rig, 2, 136, 0x7);
    assert_change(&rig, 3, 201, 0xf);
    ck_assert_uint_eq(rig.changes, 4);
    ck_assert_uint_eq(stat_of(rig.scores, "raised"), 2);
    ck_assert_uint_eq(stat_of(rig.scores, "changes"), 4);
    /* One warp from 10 to 49, two to 135, one to 200. */
    ck_assert_uint_eq(stat_of(rig.scores, "blocked_cycles"), 40 + 2 * 86 + 65);
    sim_free(rig.sim);
}
END_TEST

/* The other reading of "above the cut-off": already a score whose top is above it. W3 is blocked while W2 has
 * any point more than the base. */
START_TEST(with_edge_top_a_score_must_fit_under_the_cutoff) {
    Rig rig;
    make_rig(&rig, "edge=top");
    start_four(&rig);
    run_to(&rig, 10);
    scores_set(rig.scores, 2, 110);
    run_to(&rig, 100);
    assert_change(&rig, 0, 10, 0x7);
    assert_change(&rig, 1, 20, 0xf);
    scores_set(rig.scores, 2, 210); /* W1 has its top at 410 in 100, at 400 in 110 */
    run_to(&rig, 300);
    assert_change(&rig, 2, 100, 0x5);
    assert_change(&rig, 3, 110, 0x7);
    assert_change(&rig, 4, 210, 0xf);
    ck_assert_uint_eq(rig.changes, 5);
    sim_free(rig.sim);
}
END_TEST

/* 199 more than the base leaves W3 with its bottom at 399; 200 does not, for one cycle. */
START_TEST(a_warp_whose_score_begins_below_the_cutoff_may_load) {
    Rig rig;
    make_rig(&rig, NULL);
    start_four(&rig);
    run_to(&rig, 10);
    scores_set(rig.scores, 1, 199);
    run_to(&rig, 200);
    ck_assert_uint_eq(rig.changes, 0);
    scores_set(rig.scores, 1, 200);
    run_to(&rig, 400);
    assert_change(&rig, 0, 200, 0x7);
    assert_change(&rig, 1, 201, 0xf);
    sim_free(rig.sim);
}
END_TEST

START_TEST(a_score_never_exceeds_the_cutoff_and_its_warp_is_never_blocked) {
    Rig rig;
    make_rig(&rig, NULL);
    start_four(&rig);
    run_to(&rig, 10);
    scores_set(rig.scores, 3, 1000000);
    run_to(&rig, 1000);
    assert_change(&rig, 0, 10, 0x8);  /* 400 */
    assert_change(&rig, 1, 11, 0x9);  /* 399: the oldest of the others stands on it */
    assert_change(&rig, 2, 111, 0xb); /* 299 + 100 */
    assert_change(&rig, 3, 211, 0xf);
    ck_assert_uint_eq(rig.changes, 4);
    sim_free(rig.sim);
}
END_TEST

/* Of equal scores the older warp is lower in the stack, and older is who is of the older CTA. */
START_TEST(of_equal_scores_the_older_warp_goes_first) {
    static const WarpSet ages[] = {0xc, 0x3};
    Rig rig;
    make_rig(&rig, NULL);
    scores_set_active(rig.scores, 0xf, ages, 2);
    run_to(&rig, 10);
    scores_set(rig.scores, 3, 300);
    scores_set(rig.scores, 1, 300);
    run_to(&rig, 12); /* W3 stands on 0, W1 on 300, the others on 600 */
    assert_change(&rig, 0, 10, 0xa);
    scores_set(rig.scores, 3, 400);
    scores_set(rig.scores, 1, 400);
    run_to(&rig, 13);
    assert_change(&rig, 1, 12, 0x8);
    sim_free(rig.sim);
}
END_TEST

START_TEST(a_score_that_is_set_may_be_lower) {
    Rig rig;
    make_rig(&rig, NULL);
    start_four(&rig);
    run_to(&rig, 10);
    scores_set(rig.scores, 2, 350);
    run_to(&rig, 20);
    scores_set(rig.scores, 2, 50);
    run_to(&rig, 21);
    assert_change(&rig, 0, 10, 0x5);
    assert_change(&rig, 1, 20, 0xf);
    sim_free(rig.sim);
}
END_TEST

/* 300 are at 290 when 291 comes, one more; 290 then is what the warp has, and changes nothing. */
START_TEST(a_score_is_raised_and_never_lowered) {
    Rig rig;
    make_rig(&rig, NULL);
    start_four(&rig);
    run_to(&rig, 10);
    scores_raise(rig.scores, 2, 300);
    ck_assert_uint_eq(scores_get(rig.scores, 2), 300);
    run_to(&rig, 20);
    scores_raise(rig.scores, 2, 50);
    ck_assert_uint_eq(scores_get(rig.scores, 2), 290);
    scores_raise(rig.scores, 2, 290);
    ck_assert_uint_eq(stat_of(rig.scores, "raised"), 1);
    scores_raise(rig.scores, 2, 291);
    ck_assert_uint_eq(scores_get(rig.scores, 2), 291);
    ck_assert_uint_eq(stat_of(rig.scores, "raised"), 2);
    sim_free(rig.sim);
}
END_TEST

/* The victim tags of an L1 that nobody uses, whose hits are made by hand. */
static SimObject *add_victim_tags(Sim *sim) {
    memory_test_classes();
    SimObject *driver = tiny_add(sim, "MemoryDriver", "driver", "outstanding=1");
    SimObject *l1 = tiny_add(sim, "L1", "driver.l1", "size=512 ways=4 mshrs=32");
    SimObject *below = tiny_add(sim, "MemoryResponder", "below", "latency=20");
    sim_wire(sim, driver, "mem", l1, "cpu", (LinkOptions){0}, (LinkOptions){0});
    sim_wire(sim, l1, "mem", below, "cpu", (LinkOptions){0}, (LinkOptions){0});
    return tiny_add(sim, "VictimTags", "driver.victims", "cache=l1");
}

static void hit_victim_tags(SimObject *victims, uint32_t warp) {
    victim_tags_insert((VictimTags *)victims, warp, 0x10000);
    victim_tags_probe((VictimTags *)victims, warp, 0x10000, 0);
    object_wake(victims); /* events are emitted in a cycle */
}

/* Cut-off 400, K 8. The first hit: 1 * 8 * 400 / 10 instructions = 320. The second comes when 1000 are
 * issued: 2 * 8 * 400 / 1000 = 6, and leaves the score where it is; for another warp it is the base. The
 * fourth: 4 * 8 * 400 / 50 = 256, above what is left of the first. */
START_TEST(a_hit_in_the_victim_tags_never_lowers_a_score) {
    static Sm sm;
    Rig rig;
    begin_rig(&rig);
    SimObject *victims = add_victim_tags(rig.sim);
    finish_rig(&rig, NULL);
    scores_update_on_hits(rig.scores, victims, &sm, 8);
    start_four(&rig);
    run_to(&rig, 10);
    sm.warp_instructions = 10;
    hit_victim_tags(victims, 2);
    run_to(&rig, 11);
    uint64_t first = scores_get(rig.scores, 2);
    ck_assert_uint_ge(first, 319);
    ck_assert_uint_le(first, 320);
    run_to(&rig, 60);
    sm.warp_instructions = 1000;
    hit_victim_tags(victims, 2);
    hit_victim_tags(victims, 1);
    run_to(&rig, 61);
    ck_assert_uint_eq(scores_get(rig.scores, 2), first - 50);
    ck_assert_uint_eq(scores_get(rig.scores, 1), BASE_SCORE);
    run_to(&rig, 111);
    ck_assert_uint_eq(scores_get(rig.scores, 2), first - 100);
    sm.warp_instructions = 50;
    hit_victim_tags(victims, 2);
    run_to(&rig, 112);
    ck_assert_uint_eq(scores_get(rig.scores, 2), 256 - (320 - first));
    ck_assert_uint_eq(stat_of(rig.scores, "raised"), 2);
    sim_free(rig.sim);
}
END_TEST

/* Without W3 the cut-off is 300, and W2's score of 400 comes down to it; a new W3 begins at the base. */
START_TEST(warps_that_come_and_go_move_the_cutoff) {
    static const WarpSet ages[] = {0xf};
    Rig rig;
    make_rig(&rig, NULL);
    start_four(&rig);
    run_to(&rig, 10);
    scores_set(rig.scores, 2, 400);
    scores_set(rig.scores, 3, 390);
    run_to(&rig, 11);
    assert_change(&rig, 0, 10, 0x4);
    scores_set_active(rig.scores, 0x7, ages, 1);
    run_to(&rig, 12);
    assert_change(&rig, 1, 11, 0xc); /* W3 has no score any more: nothing forbids it */
    run_to(&rig, 13);
    assert_change(&rig, 2, 12, 0xd); /* W2 at 299: W0 stands below the cut-off */
    scores_set_active(rig.scores, 0xf, ages, 1);
    run_to(&rig, 14);
    assert_change(&rig, 3, 13, 0x7); /* cut-off 400: W2 298, W0 398, W1 498 */
    sim_free(rig.sim);
}
END_TEST

START_TEST(warps_without_a_score_are_ignored) {
    Rig rig;
    make_rig(&rig, NULL);
    start_four(&rig);
    scores_set(rig.scores, 7, 400);
    scores_set(rig.scores, 64, 400);
    run_to(&rig, 100);
    ck_assert_uint_eq(rig.changes, 0);
    ck_assert_uint_eq(stat_of(rig.scores, "raised"), 0);
    sim_free(rig.sim);
}
END_TEST

/* --- Against scores that are counted down one by one ------------------------------------------ */

typedef struct {
    uint64_t score[MAX_WARPS];
    WarpSet active, ages[MAX_CTAS];
    uint32_t ctas;
    bool top;
} Naive;

static uint64_t naive_cutoff(const Naive *n) {
    return (uint64_t)__builtin_popcountll(n->active) * BASE_SCORE;
}

/* The warp with the highest score among `left`, of equal ones the oldest. */
static uint32_t naive_next(const Naive *n, WarpSet left) {
    WarpSet best = 0;
    for (WarpSet set = left; set; set &= set - 1) {
        uint32_t warp = first_warp(set);
        uint64_t highest = best ? n->score[first_warp(best)] : 0;
        if (n->score[warp] > highest) best = 0;
        if (n->score[warp] >= highest) best |= warp_bit(warp);
    }
    return first_warp(oldest_warps(n->ages, n->ctas, best, 1));
}

static WarpSet naive_allowed(const Naive *n) {
    WarpSet allowed = ~n->active, left = n->active;
    for (uint64_t sum = 0; left;) {
        uint32_t warp = naive_next(n, left);
        bool above = n->top ? sum + n->score[warp] > naive_cutoff(n) : sum >= naive_cutoff(n);
        if (sum > 0 && above) break;
        sum += n->score[warp];
        allowed |= warp_bit(warp);
        left &= ~warp_bit(warp);
    }
    return allowed;
}

static void naive_decay(Naive *n) {
    for (uint32_t warp = 0; warp < MAX_WARPS; warp++)
        if (n->score[warp] > BASE_SCORE) n->score[warp]--;
}

static void naive_leave(Naive *n, WarpSet warps) {
    n->active &= ~warps;
    for (uint32_t warp = 0; warp < MAX_WARPS; warp++)
        if (warps >> warp & 1)
            n->score[warp] = BASE_SCORE;
        else if (n->active >> warp & 1 && n->score[warp] > naive_cutoff(n))
            n->score[warp] = naive_cutoff(n);
}

/* CTAs of four warps in six slots: one ends, and a younger one gets its slot. */
static void replace_cta(Rig *rig, Naive *n, Random *random) {
    uint32_t which = (uint32_t)random_below(random, n->ctas);
    WarpSet warps = n->ages[which];
    for (uint32_t i = which; i + 1 < n->ctas; i++)
        n->ages[i] = n->ages[i + 1];
    n->ages[n->ctas - 1] = warps;
    naive_leave(n, warps);
    scores_set_active(rig->scores, n->active, n->ages, n->ctas - 1);
    n->active |= warps;
    scores_set_active(rig->scores, n->active, n->ages, n->ctas);
}

static void end_warp(Rig *rig, Naive *n, Random *random) {
    uint32_t warp = (uint32_t)random_below(random, 24);
    if (n->active == warp_bit(warp)) return;
    naive_leave(n, warp_bit(warp));
    scores_set_active(rig->scores, n->active, n->ages, n->ctas);
}

static void raise(Rig *rig, Naive *n, Random *random) {
    uint32_t warp = (uint32_t)random_below(random, 24);
    uint64_t score = random_below(random, 1u << random_below(random, 13));
    scores_set(rig->scores, warp, score);
    if (!(n->active >> warp & 1)) return;
    if (score > naive_cutoff(n)) score = naive_cutoff(n);
    n->score[warp] = score > BASE_SCORE ? score : BASE_SCORE;
}

START_TEST(the_allowed_are_those_of_scores_counted_down_one_by_one) {
    enum { CYCLES = 60000 };
    Random random = {(uint64_t)_i};
    Naive naive = {.active = 0xffffff, .ctas = 6, .top = _i % 2};
    uint64_t blocked = 0;
    Rig rig;
    make_rig(&rig, naive.top ? "edge=top" : "edge=bottom");
    for (uint32_t i = 0; i < 6; i++)
        naive.ages[i] = 0xfull << 4 * i;
    for (uint32_t warp = 0; warp < MAX_WARPS; warp++)
        naive.score[warp] = BASE_SCORE;
    scores_set_active(rig.scores, naive.active, naive.ages, naive.ctas);
    for (uint64_t cycle = 1; cycle < CYCLES; cycle++) {
        run_to(&rig, cycle);
        naive_decay(&naive);
        if (random_below(&random, 2000) == 0) replace_cta(&rig, &naive, &random);
        if (random_below(&random, 500) == 0) end_warp(&rig, &naive, &random);
        if (random_below(&random, 40) == 0) raise(&rig, &naive, &random);
        run_to(&rig, cycle + 1);
        WarpSet wanted = naive_allowed(&naive);
        ck_assert_msg(allowed_now(&rig) == wanted, "cycle %lu: warps 0x%lx are allowed, 0x%lx are to be",
                      cycle, allowed_now(&rig), wanted);
        blocked += (uint64_t)__builtin_popcountll(~wanted);
    }
    ck_assert_uint_gt(blocked, CYCLES / 10);
    sim_free(rig.sim);
}
END_TEST

Suite *locality_scores_suite(void) {
    Suite *suite = suite_create("locality_scores");
    TCase *scores = tcase_create("scores");
    tcase_add_test(scores, the_example_of_the_paper_step_by_step);
    tcase_add_test(scores, with_edge_top_a_score_must_fit_under_the_cutoff);
    tcase_add_test(scores, a_warp_whose_score_begins_below_the_cutoff_may_load);
    tcase_add_test(scores, a_score_never_exceeds_the_cutoff_and_its_warp_is_never_blocked);
    tcase_add_test(scores, of_equal_scores_the_older_warp_goes_first);
    tcase_add_test(scores, a_score_that_is_set_may_be_lower);
    tcase_add_test(scores, a_score_is_raised_and_never_lowered);
    tcase_add_test(scores, a_hit_in_the_victim_tags_never_lowers_a_score);
    tcase_add_test(scores, warps_that_come_and_go_move_the_cutoff);
    tcase_add_test(scores, warps_without_a_score_are_ignored);
    tcase_add_loop_test(scores, the_allowed_are_those_of_scores_counted_down_one_by_one, 0, 4);
    suite_add_tcase(suite, scores);
    return suite;
}
