#include "core/ptx/analysis/control_flow.h"
#include "core/ptx/analysis/liveness.h"
#include "core/ptx/analysis/registers.h"

#include <check.h>
#include <string.h>

enum { MAX_INSTS = 64, MAX_REGS = 24, NONE = NO_PREDICATE, P = 2 };

static Arena arena;
static Inst insts[MAX_INSTS];

static void setup(void) {
    arena = (Arena){0};
    memset(insts, 0, sizeof insts);
    for (int i = 0; i < MAX_INSTS; i++)
        insts[i].guard = NONE;
}

static void teardown(void) {
    arena_free(&arena);
}

static void branch(uint32_t at, uint32_t target, uint8_t guard) {
    insts[at].kind = INST_BRANCH;
    insts[at].target = target;
    insts[at].guard = guard;
}

static void leave(uint32_t at, uint8_t guard) {
    insts[at].kind = INST_EXIT;
    insts[at].guard = guard;
}

START_TEST(a_branch_around_code_reconverges_behind_it) {
    branch(1, 4, P);
    leave(5, NONE);
    control_flow_build(&arena, insts, 6);
    ck_assert_uint_eq(insts[1].reconverge, 4);
}
END_TEST

START_TEST(both_sides_of_an_if_else_reconverge_at_the_join) {
    branch(0, 3, P);    /* 0: if not, goto 3    */
    branch(2, 5, NONE); /* 1, 2: then; goto 5   */
    leave(6, NONE);     /* 3, 4: else; 5: join  */
    ControlFlow flow = control_flow_build(&arena, insts, 7);
    ck_assert_uint_eq(insts[0].reconverge, 5);
    ck_assert_uint_eq(insts[2].reconverge, 5);
    ck_assert_uint_eq(flow.count, 4);
}
END_TEST

START_TEST(a_loop_branch_reconverges_behind_the_loop) {
    branch(3, 1, P);
    leave(4, NONE);
    control_flow_build(&arena, insts, 5);
    ck_assert_uint_eq(insts[3].reconverge, 4);
}
END_TEST

START_TEST(sides_that_meet_only_at_the_exit_reconverge_at_the_end) {
    branch(0, 2, P);
    leave(1, NONE);
    leave(2, NONE);
    control_flow_build(&arena, insts, 3);
    ck_assert_uint_eq(insts[0].reconverge, 3);
}
END_TEST

START_TEST(an_unstructured_jump_into_the_other_side_reconverges_where_all_paths_meet) {
    branch(0, 3, P);    /* 0 -> 1, 3 */
    branch(1, 4, P);    /* 1 -> 2, 4 */
    branch(2, 5, NONE); /* 2 -> 5    */
    insts[3].kind = INST_ALU;
    branch(4, 5, P); /* 4 -> 5, 5 */
    leave(5, NONE);
    control_flow_build(&arena, insts, 6);
    ck_assert_uint_eq(insts[0].reconverge, 5);
    ck_assert_uint_eq(insts[1].reconverge, 5);
}
END_TEST

START_TEST(a_guarded_exit_does_not_keep_the_other_lanes_from_reconverging) {
    branch(0, 3, P);
    leave(1, P);
    leave(4, NONE);
    control_flow_build(&arena, insts, 5);
    ck_assert_uint_eq(insts[0].reconverge, 3);
}
END_TEST

START_TEST(lanes_reconverge_inside_a_loop_that_only_a_guarded_exit_leaves) {
    branch(0, 2, P);
    leave(3, P);        /* 1: then; 2: join */
    branch(4, 0, NONE); /* for ever         */
    control_flow_build(&arena, insts, 5);
    ck_assert_uint_eq(insts[0].reconverge, 2);
}
END_TEST

START_TEST(a_guarded_exit_in_an_endless_loop_does_not_spoil_the_branch_behind_it) {
    leave(0, P);
    branch(1, 3, P);
    branch(3, 0, NONE);
    control_flow_build(&arena, insts, 4);
    ck_assert_uint_eq(insts[1].reconverge, 3);
}
END_TEST

START_TEST(lanes_reconverge_inside_an_endless_loop) {
    branch(0, 2, P);
    branch(3, 0, NONE);
    control_flow_build(&arena, insts, 4);
    ck_assert_uint_eq(insts[0].reconverge, 2);
}
END_TEST

START_TEST(unreachable_code_is_part_of_the_graph) {
    branch(0, 3, NONE);
    branch(1, 3, P);
    leave(3, NONE);
    ControlFlow flow = control_flow_build(&arena, insts, 4);
    ck_assert_uint_eq(flow.count, 4);
    ck_assert_uint_eq(insts[1].reconverge, 3);
}
END_TEST

/* Liveness. */

static LiveRanges live(uint32_t inst_count, const Access *accesses, uint32_t count, uint32_t registers) {
    ControlFlow flow = control_flow_build(&arena, insts, inst_count);
    return liveness_find(&arena, &flow, accesses, count, registers);
}

static void assert_segment(const LiveRanges *ranges, uint32_t reg, uint32_t index, uint32_t start,
                           uint32_t end) {
    ck_assert_uint_lt(ranges->first[reg] + index, ranges->first[reg + 1]);
    ck_assert_uint_eq(ranges->segments[ranges->first[reg] + index].start, start);
    ck_assert_uint_eq(ranges->segments[ranges->first[reg] + index].end, end);
}

START_TEST(a_life_runs_from_the_write_to_the_last_read) {
    leave(4, NONE);
    const Access accesses[] = {{0, 0, ACCESS_WRITE}, {1, 0, ACCESS_READ}, {3, 0, ACCESS_READ}};
    LiveRanges ranges = live(5, accesses, 3, 1);
    ck_assert_uint_eq(ranges.segment_count, 1);
    assert_segment(&ranges, 0, 0, 1, 7);
}
END_TEST

START_TEST(a_write_between_two_lives_leaves_a_hole) {
    leave(5, NONE);
    const Access accesses[] = {
        {0, 0, ACCESS_WRITE}, {1, 0, ACCESS_READ}, {3, 0, ACCESS_WRITE}, {4, 0, ACCESS_READ}};
    LiveRanges ranges = live(6, accesses, 4, 1);
    ck_assert_uint_eq(ranges.segment_count, 2);
    assert_segment(&ranges, 0, 0, 1, 3);
    assert_segment(&ranges, 0, 1, 7, 9);
}
END_TEST

START_TEST(a_guarded_write_keeps_the_old_value_alive) {
    leave(5, NONE);
    const Access accesses[] = {
        {0, 0, ACCESS_WRITE}, {1, 0, ACCESS_READ}, {3, 0, ACCESS_GUARDED_WRITE}, {4, 0, ACCESS_READ}};
    LiveRanges ranges = live(6, accesses, 4, 1);
    ck_assert_uint_eq(ranges.segment_count, 1);
    assert_segment(&ranges, 0, 0, 1, 9);
}
END_TEST

START_TEST(a_value_carried_around_a_loop_lives_through_all_of_it) {
    branch(4, 1, P);
    leave(5, NONE);
    const Access accesses[] = {{0, 0, ACCESS_WRITE}, {2, 0, ACCESS_READ}};
    LiveRanges ranges = live(6, accesses, 2, 1);
    ck_assert_uint_eq(ranges.segment_count, 1);
    assert_segment(&ranges, 0, 0, 1, 9);
}
END_TEST

START_TEST(the_peak_counts_what_is_live_before_an_instruction) {
    leave(3, NONE);
    const Access accesses[] = {{0, 0, ACCESS_WRITE}, {1, 1, ACCESS_WRITE}, {2, 0, ACCESS_READ},
                               {2, 1, ACCESS_READ},  {2, 2, ACCESS_WRITE}, {3, 2, ACCESS_READ}};
    LiveRanges ranges = live(4, accesses, 6, 3);
    const uint8_t weight[] = {1, 2, 2};
    ck_assert_uint_eq(liveness_peak(&arena, &ranges, weight, 4), 3);
}
END_TEST

/* Allocation. */

START_TEST(a_destination_does_not_overlay_a_source_of_the_same_instruction) {
    leave(2, NONE);
    const Access accesses[] = {
        {0, 0, ACCESS_WRITE}, {1, 0, ACCESS_READ}, {1, 1, ACCESS_WRITE}, {2, 1, ACCESS_READ}};
    LiveRanges ranges = live(3, accesses, 4, 2);
    const uint8_t width[] = {1, 2};
    uint32_t place[2];
    ck_assert_uint_eq(assign_places(&arena, &ranges, width, NULL, place), 4);
    ck_assert_uint_eq(place[0], 0);
    ck_assert_uint_eq(place[1], 2);
}
END_TEST

START_TEST(registers_that_are_never_live_together_share_a_place) {
    leave(4, NONE);
    const Access accesses[] = {
        {0, 0, ACCESS_WRITE}, {1, 0, ACCESS_READ}, {2, 1, ACCESS_WRITE}, {3, 1, ACCESS_READ}};
    LiveRanges ranges = live(5, accesses, 4, 2);
    const uint8_t width[] = {1, 1};
    uint32_t place[2];
    uint8_t name[2];
    ck_assert_uint_eq(assign_places(&arena, &ranges, width, NULL, place), 1);
    assign_names(&arena, &ranges, name);
    ck_assert_uint_ne(name[0], name[1]); /* but the scoreboard tells them apart */
}
END_TEST

START_TEST(the_two_sides_of_a_branch_share_places) {
    branch(0, 4, P);
    branch(3, 6, NONE);
    leave(6, NONE);
    const Access accesses[] = {
        {1, 0, ACCESS_WRITE}, {2, 0, ACCESS_READ}, {4, 1, ACCESS_WRITE}, {5, 1, ACCESS_READ}};
    LiveRanges ranges = live(7, accesses, 4, 2);
    const uint8_t width[] = {1, 1};
    uint32_t place[2];
    ck_assert_uint_eq(assign_places(&arena, &ranges, width, NULL, place), 1);
}
END_TEST

/* Lanes that wait on the other side keep a 64-bit value in slots that a 32-bit one would overlay. */
START_TEST(registers_of_different_width_share_no_place) {
    branch(0, 4, P);
    branch(3, 6, NONE);
    leave(6, NONE);
    const Access accesses[] = {
        {1, 0, ACCESS_WRITE}, {2, 0, ACCESS_READ}, {4, 1, ACCESS_WRITE}, {5, 1, ACCESS_READ}};
    LiveRanges ranges = live(7, accesses, 4, 2);
    uint32_t place[2];
    ck_assert_uint_eq(assign_places(&arena, &ranges, (const uint8_t[]){2, 1}, NULL, place), 3);
    ck_assert_uint_eq(place[1], 2);
    ck_assert_uint_eq(assign_places(&arena, &ranges, (const uint8_t[]){1, 2}, NULL, place), 4);
    ck_assert_uint_eq(place[1], 2);
    ck_assert_uint_eq(assign_places(&arena, &ranges, (const uint8_t[]){2, 2}, NULL, place), 2);
}
END_TEST

START_TEST(registers_that_stay_alone_share_no_place) {
    leave(6, NONE);
    const Access accesses[] = {{0, 0, ACCESS_WRITE}, {1, 0, ACCESS_READ},  {2, 1, ACCESS_WRITE},
                               {3, 1, ACCESS_READ},  {4, 2, ACCESS_WRITE}, {5, 2, ACCESS_READ}};
    LiveRanges ranges = live(7, accesses, 6, 3);
    const uint8_t width[] = {1, 1, 1};
    const bool alone[] = {false, true, false};
    uint32_t place[3];
    ck_assert_uint_eq(assign_places(&arena, &ranges, width, alone, place), 2);
    ck_assert_uint_eq(place[1], 1);
    ck_assert_uint_eq(place[2], place[0]);
}
END_TEST

START_TEST(the_name_that_has_been_free_for_longest_is_taken_when_all_were_used) {
    enum { REGISTERS = SCOREBOARD_NAMES + 2 };
    static Inst many[2 * REGISTERS + 1];
    static Access accesses[2 * REGISTERS];
    uint8_t name[REGISTERS];
    for (uint32_t r = 0; r < REGISTERS; r++) {
        accesses[2 * r] = (Access){2 * r, r, ACCESS_WRITE};
        accesses[2 * r + 1] = (Access){2 * r + 1, r, ACCESS_READ};
    }
    for (uint32_t i = 0; i <= 2 * REGISTERS; i++)
        many[i] = (Inst){.guard = NONE};
    many[2 * REGISTERS].kind = INST_EXIT;
    ControlFlow flow = control_flow_build(&arena, many, 2 * REGISTERS + 1);
    LiveRanges ranges = liveness_find(&arena, &flow, accesses, 2 * REGISTERS, REGISTERS);
    assign_names(&arena, &ranges, name);
    for (uint32_t r = 0; r < REGISTERS; r++)
        ck_assert_uint_eq(name[r], r % SCOREBOARD_NAMES);
}
END_TEST

START_TEST(more_registers_than_names_share_names) {
    enum { REGISTERS = 2 * SCOREBOARD_NAMES };
    static Inst many[2 * REGISTERS + 1];
    static Access accesses[2 * REGISTERS];
    uint8_t name[REGISTERS], width[REGISTERS];
    uint32_t place[REGISTERS];
    for (uint32_t r = 0; r < REGISTERS; r++) {
        accesses[r] = (Access){r, r, ACCESS_WRITE};
        accesses[REGISTERS + r] = (Access){REGISTERS + r, r, ACCESS_READ};
        width[r] = 1;
    }
    for (uint32_t i = 0; i <= 2 * REGISTERS; i++)
        many[i] = (Inst){.guard = NONE};
    many[2 * REGISTERS].kind = INST_EXIT;
    ControlFlow flow = control_flow_build(&arena, many, 2 * REGISTERS + 1);
    LiveRanges ranges = liveness_find(&arena, &flow, accesses, 2 * REGISTERS, REGISTERS);
    assign_names(&arena, &ranges, name);
    for (uint32_t r = 0; r < SCOREBOARD_NAMES; r++)
        ck_assert_uint_eq(name[r], r);
    ck_assert_uint_eq(assign_places(&arena, &ranges, width, NULL, place), REGISTERS);
}
END_TEST

/* Random programs, walked along random paths: whenever a register is read that the path has written, its
 * place must still hold what was written last, and so must its name. */

static uint32_t random_state;

static uint32_t random_below(uint32_t limit) {
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % limit;
}

static uint32_t random_program(Access *accesses, uint32_t registers, uint32_t count) {
    uint32_t used = 0;
    for (uint32_t i = 0; i + 1 < count; i++) {
        uint32_t draw = random_below(10);
        if (draw < 2) branch(i, random_below(count), random_below(4) ? P : NONE);
        if (draw == 2) leave(i, P);
        if (draw < 3) continue;
        uint32_t reads = random_below(3);
        for (uint32_t r = 0; r < reads; r++)
            accesses[used++] = (Access){i, random_below(registers), ACCESS_READ};
        AccessKind write = random_below(4) ? ACCESS_WRITE : ACCESS_GUARDED_WRITE;
        uint32_t writes = random_below(3), first = random_below(registers);
        for (uint32_t w = 0; w < writes && w < registers; w++)
            accesses[used++] = (Access){i, (first + w) % registers, write};
    }
    leave(count - 1, NONE);
    return used;
}

typedef struct {
    uint32_t written[MAX_REGS];       /* number of the last write to a register on this path; 0: none */
    uint32_t holds[2 * MAX_REGS + 2]; /* number of the last write to a place             */
    uint32_t name_holds[SCOREBOARD_NAMES];
    uint32_t writes;
} Walk;

static void walk_instruction(Walk *walk, uint32_t i, const Access *accesses, uint32_t count,
                             const uint8_t *width, const uint32_t *place, const uint8_t *name) {
    for (uint32_t a = 0; a < count; a++) {
        uint32_t r = accesses[a].reg;
        if (accesses[a].inst != i || accesses[a].kind != ACCESS_READ || !walk->written[r]) continue;
        for (uint32_t w = 0; w < width[r]; w++)
            ck_assert_uint_eq(walk->holds[place[r] + w], walk->written[r]);
        ck_assert_uint_eq(walk->name_holds[name[r]], walk->written[r]);
    }
    for (uint32_t a = 0; a < count; a++) {
        uint32_t r = accesses[a].reg;
        if (accesses[a].inst != i || accesses[a].kind == ACCESS_READ) continue;
        if (accesses[a].kind == ACCESS_GUARDED_WRITE && random_below(2)) continue;
        walk->written[r] = walk->name_holds[name[r]] = ++walk->writes;
        for (uint32_t w = 0; w < width[r]; w++)
            walk->holds[place[r] + w] = walk->writes;
    }
}

static void walk_program(uint32_t count, const Access *accesses, uint32_t access_count, const uint8_t *width,
                         const uint32_t *place, const uint8_t *name) {
    Walk walk = {0};
    for (uint32_t i = 0, time = 1; time < 200 && i < count; time++) {
        const Inst *inst = &insts[i];
        bool taken = inst->guard == NONE || random_below(2);
        walk_instruction(&walk, i, accesses, access_count, width, place, name);
        if (inst->kind == INST_EXIT && taken) return;
        i = inst->kind == INST_BRANCH && taken ? inst->target : i + 1;
    }
}

START_TEST(no_thread_loses_a_value_on_any_path) {
    Access accesses[MAX_INSTS * 4];
    uint8_t width[MAX_REGS], name[MAX_REGS];
    for (uint32_t program = 0; program < 400; program++) {
        uint32_t place[MAX_REGS] = {0};
        teardown();
        setup();
        random_state = program;
        uint32_t count = 4 + random_below(MAX_INSTS - 4), registers = 1 + random_below(MAX_REGS);
        uint32_t access_count = random_program(accesses, registers, count);
        for (uint32_t r = 0; r < registers; r++)
            width[r] = (uint8_t)(1 + random_below(2));
        LiveRanges ranges = live(count, accesses, access_count, registers);
        ck_assert_uint_le(assign_places(&arena, &ranges, width, NULL, place), 2 * registers);
        for (uint32_t r = 0; r < registers; r++)
            if (width[r] == 2) ck_assert_uint_eq(place[r] % 2, 0);
        memset(name, 0, sizeof name);
        assign_names(&arena, &ranges, name);
        for (int path = 0; path < 20; path++)
            walk_program(count, accesses, access_count, width, place, name);
    }
}
END_TEST

Suite *control_flow_suite(void);
Suite *control_flow_suite(void) {
    Suite *suite = suite_create("control_flow");
    TCase *graph = tcase_create("graph");
    tcase_add_checked_fixture(graph, setup, teardown);
    tcase_add_test(graph, a_branch_around_code_reconverges_behind_it);
    tcase_add_test(graph, both_sides_of_an_if_else_reconverge_at_the_join);
    tcase_add_test(graph, a_loop_branch_reconverges_behind_the_loop);
    tcase_add_test(graph, sides_that_meet_only_at_the_exit_reconverge_at_the_end);
    tcase_add_test(graph, an_unstructured_jump_into_the_other_side_reconverges_where_all_paths_meet);
    tcase_add_test(graph, a_guarded_exit_does_not_keep_the_other_lanes_from_reconverging);
    tcase_add_test(graph, lanes_reconverge_inside_a_loop_that_only_a_guarded_exit_leaves);
    tcase_add_test(graph, a_guarded_exit_in_an_endless_loop_does_not_spoil_the_branch_behind_it);
    tcase_add_test(graph, lanes_reconverge_inside_an_endless_loop);
    tcase_add_test(graph, unreachable_code_is_part_of_the_graph);
    suite_add_tcase(suite, graph);
    TCase *liveness = tcase_create("liveness");
    tcase_add_checked_fixture(liveness, setup, teardown);
    tcase_add_test(liveness, a_life_runs_from_the_write_to_the_last_read);
    tcase_add_test(liveness, a_write_between_two_lives_leaves_a_hole);
    tcase_add_test(liveness, a_guarded_write_keeps_the_old_value_alive);
    tcase_add_test(liveness, a_value_carried_around_a_loop_lives_through_all_of_it);
    tcase_add_test(liveness, the_peak_counts_what_is_live_before_an_instruction);
    suite_add_tcase(suite, liveness);
    TCase *allocation = tcase_create("allocation");
    tcase_add_checked_fixture(allocation, setup, teardown);
    tcase_set_timeout(allocation, 60);
    tcase_add_test(allocation, a_destination_does_not_overlay_a_source_of_the_same_instruction);
    tcase_add_test(allocation, registers_that_are_never_live_together_share_a_place);
    tcase_add_test(allocation, the_two_sides_of_a_branch_share_places);
    tcase_add_test(allocation, registers_of_different_width_share_no_place);
    tcase_add_test(allocation, registers_that_stay_alone_share_no_place);
    tcase_add_test(allocation, the_name_that_has_been_free_for_longest_is_taken_when_all_were_used);
    tcase_add_test(allocation, more_registers_than_names_share_names);
    tcase_add_test(allocation, no_thread_loses_a_value_on_any_path);
    suite_add_tcase(suite, allocation);
    return suite;
}
