#include "core/sim/base/random.h"
#include "mem/parts/reexecution_queue/reexecution_queue.h"
#include "tests/unit/suites.h"

enum { SETS = 8, LINE = 128, NOBODYS_LINE = 1 << 20 };

static ReexecutionQueue make_queue(uint32_t entries) {
    return (ReexecutionQueue){.entries = entries, .may_miss = ~0ull};
}

static uint32_t push(ReexecutionQueue *queue, uint32_t token, uint32_t warp, uint32_t set,
                     BlockReason reason) {
    MemMessage m = {.token = token, .warp = (uint16_t)warp, .address = token * LINE};
    return reexecution_push(queue, &m, set, reason);
}

static uint64_t eligible(ReexecutionQueue *queue, uint64_t may_miss, bool mshr_free, bool room) {
    reexecution_permit(queue, may_miss);
    return reexecution_eligible(queue, mshr_free, room);
}

static void set_changed(ReexecutionQueue *queue, uint32_t set) {
    reexecution_set_changed(queue, set, NOBODYS_LINE, LINE);
}

/* Tokens 1, 2, 3 of warps 11, 12, 13 in sets 1, 2, 3. */
static ReexecutionQueue make_three(BlockReason reason) {
    ReexecutionQueue queue = make_queue(3);
    for (uint32_t token = 1; token <= 3; token++)
        push(&queue, token, 10 + token, token, reason);
    return queue;
}

static void assert_order(const ReexecutionQueue *queue, uint32_t first, uint32_t second, uint32_t third) {
    const uint32_t want[] = {first, second, third};
    for (uint32_t i = 0; i < 3 && want[i]; i++)
        ck_assert_uint_eq(reexecution_after(queue, i)->token, want[i]);
}

START_TEST(all_zero_state_is_empty_and_it_is_full_at_its_entries) {
    ReexecutionQueue queue = make_queue(2);
    ck_assert_uint_eq(queue.count, 0);
    ck_assert(!reexecution_full(&queue));
    push(&queue, 1, 0, 0, BLOCKED_ON_MSHR);
    ck_assert(!reexecution_full(&queue));
    push(&queue, 2, 1, 0, BLOCKED_ON_MSHR);
    ck_assert(reexecution_full(&queue));
    reexecution_pop(&queue);
    ck_assert(!reexecution_full(&queue));
}
END_TEST

START_TEST(access_whose_retry_fails_goes_from_the_head_to_the_tail) {
    ReexecutionQueue queue = make_three(BLOCKED_ON_MSHR);
    assert_order(&queue, 1, 2, 3);
    reexecution_fail(&queue, BLOCKED_ON_MSHR);
    assert_order(&queue, 2, 3, 1);
    reexecution_fail(&queue, BLOCKED_ON_MSHR);
    assert_order(&queue, 3, 1, 2);
    reexecution_turn(&queue, 7); /* once round is as it was */
    assert_order(&queue, 1, 2, 3);
}
END_TEST

START_TEST(new_access_goes_behind_all_others_wherever_the_head_is) {
    ReexecutionQueue queue = make_queue(4);
    push(&queue, 1, 0, 0, BLOCKED_ON_MSHR);
    push(&queue, 2, 1, 0, BLOCKED_ON_MSHR);
    reexecution_turn(&queue, 1);
    push(&queue, 3, 2, 0, BLOCKED_ON_MSHR);
    assert_order(&queue, 2, 1, 3);
    reexecution_turn(&queue, 2);
    assert_order(&queue, 3, 2, 1);
    ck_assert_uint_eq(reexecution_after(&queue, 4)->token, 2);
}
END_TEST

START_TEST(head_that_is_taken_leaves_its_place_to_the_next_push) {
    ReexecutionQueue queue = make_three(BLOCKED_ON_MSHR);
    reexecution_turn(&queue, 1);
    uint32_t place = reexecution_pop(&queue);
    assert_order(&queue, 3, 1, 0);
    ck_assert_uint_eq(push(&queue, 4, 14, 4, BLOCKED_ON_MSHR), place);
    assert_order(&queue, 3, 1, 4);
}
END_TEST

START_TEST(access_has_hope_when_what_it_lacked_is_there) {
    ReexecutionQueue queue = make_queue(3);
    uint64_t change = 1ull << push(&queue, 1, 11, 1, BLOCKED_ON_CHANGE);
    uint64_t mshr = 1ull << push(&queue, 2, 12, 2, BLOCKED_ON_MSHR);
    uint64_t room = 1ull << push(&queue, 3, 13, 3, BLOCKED_ON_ROOM);
    ck_assert_uint_eq(eligible(&queue, ~0ull, false, false), 0);
    ck_assert_uint_eq(eligible(&queue, ~0ull, true, false), mshr);
    ck_assert_uint_eq(eligible(&queue, ~0ull, false, true), room);
    set_changed(&queue, 1);
    ck_assert_uint_eq(eligible(&queue, ~0ull, false, false), change);
    set_changed(&queue, 3);
    ck_assert_uint_eq(eligible(&queue, ~0ull, false, false), change | room);
    reexecution_forget_reasons(&queue);
    ck_assert_uint_eq(eligible(&queue, ~0ull, false, false), change | mshr | room);
    reexecution_fail(&queue, BLOCKED_ON_ROOM); /* the first is blocked on something else now */
    ck_assert_uint_eq(eligible(&queue, ~0ull, true, false), mshr | room);
}
END_TEST

/* Of warps that may not miss, only those are eligible that are blocked on room, which also what is no miss
 * may be, and those to whose line something has happened: what else changes in their set can give them no
 * hit. */
START_TEST(access_that_was_refused_has_hope_when_its_warp_may_miss) {
    ReexecutionQueue queue = make_queue(4);
    uint64_t refused = 1ull << push(&queue, 1, 11, 1, BLOCKED_ON_PERMISSION);
    uint64_t mshr = 1ull << push(&queue, 2, 12, 2, BLOCKED_ON_MSHR);
    uint64_t room = 1ull << push(&queue, 3, 13, 3, BLOCKED_ON_ROOM);
    uint64_t distant = 1ull << push(&queue, 4, 64 + 11, 4, BLOCKED_ON_PERMISSION);
    ck_assert_uint_eq(eligible(&queue, 0, true, true), room);
    ck_assert_uint_eq(eligible(&queue, 1ull << 12, true, false), mshr);
    ck_assert_uint_eq(eligible(&queue, 1ull << 12, false, false), 0);
    ck_assert_uint_eq(eligible(&queue, 1ull << 11, true, false), refused | distant);
    ck_assert_uint_eq(eligible(&queue, 1ull << 10, true, false), 0);
    ck_assert_uint_eq(eligible(&queue, 1ull << 11 | 1ull << 12, true, true), queue.taken);
    ck_assert_uint_eq(eligible(&queue, ~0ull, true, true), queue.taken);
    set_changed(&queue, 1);
    reexecution_set_changed(&queue, 1, 2 * LINE, LINE);
    reexecution_set_changed(&queue, 5, LINE, LINE);
    ck_assert_uint_eq(eligible(&queue, 0, true, false), 0);
    reexecution_set_changed(&queue, 1, LINE + 64, LINE);
    ck_assert_uint_eq(eligible(&queue, 0, true, false), refused);
    reexecution_fail(&queue, BLOCKED_ON_PERMISSION);
    ck_assert_uint_eq(eligible(&queue, 0, true, false), 0);
}
END_TEST

/* What must have an MSHR does not get by with a way that becomes free in its set. */
START_TEST(access_blocked_on_mshr_and_permission_is_eligible_when_both_or_its_line_are_there) {
    ReexecutionQueue queue = make_queue(2);
    uint64_t both = 1ull << push(&queue, 1, 11, 1, BLOCKED_ON_MSHR_AND_PERMISSION);
    ck_assert_uint_eq(eligible(&queue, ~0ull, false, true), 0);
    ck_assert_uint_eq(eligible(&queue, 1ull << 12, true, true), 0);
    ck_assert_uint_eq(eligible(&queue, 1ull << 11, true, true), both);
    set_changed(&queue, 1);
    ck_assert_uint_eq(eligible(&queue, ~0ull, false, true), 0);
    reexecution_set_changed(&queue, 1, LINE, LINE);
    ck_assert_uint_eq(eligible(&queue, 0, false, false), both);
    reexecution_fail(&queue, BLOCKED_ON_ROOM);
    ck_assert_uint_eq(eligible(&queue, 0, false, true), both);
}
END_TEST

/* A way in set 1 has become free, and another access has taken it: those of the set that want a way are not
 * eligible then, but for the one whose line was brought. */
START_TEST(access_that_needs_a_way_is_not_eligible_when_its_set_is_full_again) {
    ReexecutionQueue queue = make_queue(5);
    push(&queue, 1, 11, 1, BLOCKED_ON_WAY);
    uint64_t own_line = 1ull << push(&queue, 2, 12, 1, BLOCKED_ON_WAY);
    uint64_t other_set = 1ull << push(&queue, 3, 13, 2, BLOCKED_ON_WAY);
    uint64_t other_change = 1ull << push(&queue, 4, 14, 1, BLOCKED_ON_CHANGE);
    push(&queue, 5, 15, 1, BLOCKED_ON_MSHR);
    ck_assert_uint_eq(eligible(&queue, ~0ull, false, false), 0);
    reexecution_set_changed(&queue, 1, 2 * LINE, LINE);
    set_changed(&queue, 2);
    ck_assert_uint_eq(eligible(&queue, ~0ull, false, false), queue.taken);
    reexecution_set_is_full(&queue, 1);
    uint64_t of_fifth = queue.taken & ~(1ull | own_line | other_set | other_change);
    ck_assert_uint_eq(eligible(&queue, ~0ull, false, false), own_line | other_set | other_change | of_fifth);
    set_changed(&queue, 1);
    ck_assert_uint_eq(eligible(&queue, ~0ull, false, false), queue.taken);
    reexecution_fail(&queue, BLOCKED_ON_ROOM); /* the first is blocked on something else now */
    reexecution_set_is_full(&queue, 1);
    ck_assert_uint_eq(eligible(&queue, ~0ull, false, true), queue.taken);
}
END_TEST

/* Warps 64 apart, and sets 256 apart, are not told from each other. */
START_TEST(places_are_found_by_warp_and_set_through_any_sequence) {
    enum { ENTRIES = 6, WARPS = 130, ALL_SETS = 600 };
    uint32_t set_of[ENTRIES] = {0};
    ReexecutionQueue queue = make_queue(ENTRIES);
    Random random = {5};
    for (int step = 0; step < 20000; step++) {
        uint32_t warp = (uint32_t)random_below(&random, WARPS),
                 set = (uint32_t)random_below(&random, ALL_SETS);
        uint64_t of_warp = 0, of_set = 0;
        if (!reexecution_full(&queue) && random_below(&random, 2))
            set_of[push(&queue, (uint32_t)step, warp, set, BLOCKED_ON_CHANGE)] = set;
        else if (queue.count)
            reexecution_pop(&queue);
        if (queue.count) reexecution_turn(&queue, random_below(&random, ENTRIES));
        for (uint32_t place = 0; place < ENTRIES; place++) {
            if (!(queue.taken >> place & 1)) continue;
            queue.blocked_on[BLOCKED_ON_CHANGE] |= 1ull << place;
            if (queue.access[place].warp % 64 == warp % 64) of_warp |= 1ull << place;
            if (set_of[place] % 256 == set % 256) of_set |= 1ull << place;
        }
        ck_assert_uint_eq(queue.permitted, queue.taken & reexecution_find_any(queue.warp, queue.may_miss));
        reexecution_permit(&queue, 1ull << warp % 64);
        ck_assert_uint_eq(queue.permitted, of_warp);
        reexecution_permit(&queue, ~(1ull << warp % 64));
        ck_assert_uint_eq(queue.permitted, queue.taken & ~of_warp);
        set_changed(&queue, set);
        ck_assert_uint_eq(eligible(&queue, 0, false, false), of_set);
        reexecution_permit(&queue, 1ull << warp % 64 | 1ull << set % 64); /* until the next step */
    }
}
END_TEST

START_TEST(turns_to_the_next_with_hope_are_counted_from_the_head) {
    ReexecutionQueue queue = make_three(BLOCKED_ON_MSHR);
    uint64_t of_first = 1ull << queue.order[queue.head];
    ck_assert_uint_eq(reexecution_turns_to(&queue, of_first), 0);
    ck_assert_uint_eq(reexecution_turns_to(&queue, queue.taken & ~of_first), 1);
    reexecution_turn(&queue, 1);
    ck_assert_uint_eq(reexecution_turns_to(&queue, of_first), 2);
    ck_assert_uint_eq(reexecution_turns_to(&queue, ~0ull), 0);
}
END_TEST

/* Warps 64 apart share their low bits, warps of other SMs a number. */
START_TEST(access_of_a_warp_is_found_while_it_is_there) {
    ReexecutionQueue queue = make_queue(4);
    push(&queue, 1, 5, 0, BLOCKED_ON_MSHR);
    push(&queue, 2, 69, 0, BLOCKED_ON_MSHR);
    push(&queue, 3, 5, 0, BLOCKED_ON_MSHR);
    ck_assert_uint_eq(reexecution_of_warp(&queue, 0, 69)->token, 2);
    ck_assert_ptr_null(reexecution_of_warp(&queue, 0, 6));
    ck_assert_ptr_null(reexecution_of_warp(&queue, 1, 5));
    reexecution_pop(&queue);
    ck_assert_uint_eq(reexecution_of_warp(&queue, 0, 5)->token, 3);
    reexecution_pop(&queue);
    ck_assert_ptr_null(reexecution_of_warp(&queue, 0, 69));
    ck_assert_uint_eq(reexecution_of_warp(&queue, 0, 5)->token, 3);
    reexecution_pop(&queue);
    ck_assert_ptr_null(reexecution_of_warp(&queue, 0, 5));
    push(&queue, 4, 5, 0, BLOCKED_ON_MSHR);
    ck_assert_uint_eq(reexecution_of_warp(&queue, 0, 5)->token, 4);
}
END_TEST

enum { STEPS = 100000 };

static void rotate(uint32_t *list, uint32_t count, uint64_t by) {
    for (by %= count; by; by--) {
        uint32_t first = list[0];
        for (uint32_t i = 1; i < count; i++)
            list[i - 1] = list[i];
        list[count - 1] = first;
    }
}

/* Against a list of tokens whose first is the head. */
START_TEST(it_is_a_list_that_turns_through_any_sequence) {
    enum { ENTRIES = 5 };
    ReexecutionQueue queue = make_queue(ENTRIES);
    Random random = {11};
    uint32_t list[ENTRIES], count = 0, next = 1;
    for (int step = 0; step < STEPS; step++) {
        uint64_t what = random_below(&random, 4), by = random_below(&random, 12);
        if (what == 0 && count < ENTRIES) {
            push(&queue, next, next % 7, next % SETS, (BlockReason)(next % BLOCK_REASONS));
            list[count++] = next++;
        } else if (what == 1 && count) {
            rotate(list, count, 1);
            count--;
            reexecution_pop(&queue);
        } else if (count) {
            rotate(list, count, what == 2 ? 1 : by);
            if (what == 2)
                reexecution_fail(&queue, BLOCKED_ON_MSHR);
            else
                reexecution_turn(&queue, by);
        }
        ck_assert_uint_eq(queue.count, count);
        ck_assert_int_eq(__builtin_popcountll(queue.taken), (int)count);
        for (uint32_t i = 0; i < count; i++)
            ck_assert_uint_eq(reexecution_after(&queue, i)->token, list[i]);
    }
}
END_TEST

Suite *reexecution_queue_suite(void) {
    Suite *suite = suite_create("reexecution_queue");
    TCase *tests = tcase_create("reexecution_queue");
    tcase_add_test(tests, all_zero_state_is_empty_and_it_is_full_at_its_entries);
    tcase_add_test(tests, access_whose_retry_fails_goes_from_the_head_to_the_tail);
    tcase_add_test(tests, new_access_goes_behind_all_others_wherever_the_head_is);
    tcase_add_test(tests, head_that_is_taken_leaves_its_place_to_the_next_push);
    tcase_add_test(tests, access_has_hope_when_what_it_lacked_is_there);
    tcase_add_test(tests, access_that_was_refused_has_hope_when_its_warp_may_miss);
    tcase_add_test(tests, access_blocked_on_mshr_and_permission_is_eligible_when_both_or_its_line_are_there);
    tcase_add_test(tests, access_that_needs_a_way_is_not_eligible_when_its_set_is_full_again);
    tcase_add_test(tests, places_are_found_by_warp_and_set_through_any_sequence);
    tcase_add_test(tests, turns_to_the_next_with_hope_are_counted_from_the_head);
    tcase_add_test(tests, access_of_a_warp_is_found_while_it_is_there);
    tcase_add_test(tests, it_is_a_list_that_turns_through_any_sequence);
    suite_add_tcase(suite, tests);
    return suite;
}
