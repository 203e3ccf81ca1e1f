/* Snapshots that another machine takes over: wires with other options, and what policies had set. */
#include "core/sim/checkpoint/snapshot.h"

#include <check.h>
#include <string.h>

Suite *changed_machines_suite(void);

/* Takes what comes, and remembers when. */
typedef struct {
    SimObject obj;
    Port out, in;
    uint32_t small_knob, pad;
    uint64_t large_knob;
    uint64_t last_arrival, arrivals; /* tick, messages */
} Post;

static const Protocol letter_protocol = {.name = "letter", .request_bytes = sizeof(uint64_t)};

static const Field post_fields[] = {
    BASE(Post),
    PORT(Post, out, letter_protocol, ROLE_REQUESTER, "Letters out", .optional = true),
    PORT(Post, in, letter_protocol, ROLE_RESPONDER, "Letters in", .optional = true),
    KNOB(Post, small_knob, "units", "A knob of 32 bits"),
    DERIVED(Post, pad, "Alignment"),
    KNOB(Post, large_knob, "units", "A knob of 64 bits"),
    STATE(Post, last_arrival, "When the last letter came"),
    STATE(Post, arrivals, "How many came"),
    FIELDS_END};

static void post_init(SimObject *object) {
    ((Post *)object)->small_knob = 1;
    ((Post *)object)->large_knob = 1;
}

static uint64_t post_tick(SimObject *object, uint64_t now) {
    Post *post = (Post *)object;
    if (!post->in.receive) return NEVER;
    for (; link_peek(post->in.receive, now); link_pop(post->in.receive, now)) {
        post->last_arrival = now;
        post->arrivals++;
    }
    return link_next_ready(post->in.receive);
}

static const Class post_class = {.name = "Post",
                                 .doc = "For tests",
                                 .bytes = sizeof(Post),
                                 .fields = post_fields,
                                 .init = post_init,
                                 .tick = post_tick};

static char why[400], notes[1000];

static Post *sender(const Sim *sim) {
    return (Post *)sim->objects[0];
}

static Post *receiver(const Sim *sim) {
    return (Post *)sim->objects[1];
}

static Sim *machine(LinkOptions wire) {
    class_register(&post_class);
    Sim *sim = sim_new("test");
    sim_clock(sim, "core", 1000000000);
    sim_finish_object(sim_add(sim, "Post", "a", NULL));
    sim_finish_object(sim_add(sim, "Post", "b", NULL));
    sim_wire(sim, sim->objects[0], "out", sim->objects[1], "in", wire, (LinkOptions){0});
    sim_elaborate(sim);
    return sim;
}

static const LinkOptions long_wire = {.latency = 100, .depth = 8, .width = 3};

/* With three letters on their way, sent in cycle 0. */
static Buffer saved_machine(void) {
    Buffer buffer = {0};
    Sim *sim = machine(long_wire);
    for (uint64_t i = 0; i < 3; i++)
        *(uint64_t *)link_send(sender(sim)->out.send, 0) = i;
    sender(sim)->small_knob = 7;
    sender(sim)->large_knob = 7;
    sim_run(sim, sim->quantum);
    sim_save(sim, &buffer);
    sim_free(sim);
    return buffer;
}

static void add_note(void *context, const char *line) {
    (void)context;
    strncat(notes, line, sizeof notes - strlen(notes) - 2);
    strcat(notes, "\n");
}

/* Does a machine with this wire take it over? */
static bool takes_over(Sim *sim, SnapshotChanges changes) {
    Buffer buffer = saved_machine();
    notes[0] = why[0] = 0;
    changes.note = add_note;
    bool good = sim_load(sim, &(Reader){.bytes = buffer.bytes, .count = buffer.count}, &changes, why,
                         sizeof why);
    buffer_free(&buffer);
    return good;
}

static const struct {
    LinkOptions wire;
    const char *refusal, *note;
} others[] = {
    {{.latency = 7, .depth = 8, .width = 3},
     "latency: expected 100 as in the checkpoint, got 7",
     "latency: 100 became 7"},
    {{.latency = 300, .depth = 8, .width = 3},
     "latency: expected 100 as in the checkpoint, got 300",
     "latency: 100 became 300"},
    {{.latency = 100, .depth = 9, .width = 3},
     "depth: expected 8 as in the checkpoint, got 9",
     "depth: 8 became 9"},
    {{.latency = 100, .depth = 8, .width = 1},
     "width: expected 3 as in the checkpoint, got 1",
     "width: 3 became 1"},
};

START_TEST(another_wire_is_refused_by_name) {
    Sim *sim = machine(others[_i].wire);
    ck_assert(!takes_over(sim, (SnapshotChanges){0}));
    ck_assert_msg(strstr(why, others[_i].refusal) && strstr(why, "wire a.out -> b.in: "), "%s", why);
    sim_free(sim);
}
END_TEST

START_TEST(where_changes_are_allowed_what_is_on_its_way_comes_in_its_time) {
    Sim *sim = machine(others[_i].wire);
    ck_assert_msg(takes_over(sim, (SnapshotChanges){.allowed = true}), "%s", why);
    ck_assert_msg(strstr(notes, others[_i].note), "%s", notes);
    sim_run(sim, 200 * sim->clocks[0].period);
    ck_assert_uint_eq(receiver(sim)->arrivals, 3);
    ck_assert_uint_eq(receiver(sim)->last_arrival, 100 * sim->clocks[0].period);
    sim_check(sim, true);
    sim_free(sim);
}
END_TEST

START_TEST(the_same_wire_is_no_change) {
    Sim *sim = machine(long_wire);
    ck_assert_msg(takes_over(sim, (SnapshotChanges){0}), "%s", why);
    ck_assert_str_eq(notes, "");
    sim_free(sim);
}
END_TEST

/* Of all sizes. */
START_TEST(another_policy_finds_knobs_as_they_begin) {
    Sim *same = machine(long_wire), *other = machine(long_wire);
    ck_assert_msg(takes_over(same, (SnapshotChanges){.allowed = true}), "%s", why);
    ck_assert_msg(takes_over(other, (SnapshotChanges){.allowed = true, .reset_knobs = true}), "%s", why);
    ck_assert_uint_eq(sender(same)->small_knob, 7);
    ck_assert_uint_eq(sender(same)->large_knob, 7);
    ck_assert_uint_eq(sender(other)->small_knob, 1);
    ck_assert_uint_eq(sender(other)->large_knob, 1);
    sim_free(same);
    sim_free(other);
}
END_TEST

Suite *changed_machines_suite(void) {
    enum { OTHERS = sizeof others / sizeof *others };
    Suite *suite = suite_create("changed machines");
    TCase *cases = tcase_create("cases");
    tcase_add_loop_test(cases, another_wire_is_refused_by_name, 0, OTHERS);
    tcase_add_loop_test(cases, where_changes_are_allowed_what_is_on_its_way_comes_in_its_time, 0, OTHERS);
    tcase_add_test(cases, the_same_wire_is_no_change);
    tcase_add_test(cases, another_policy_finds_knobs_as_they_begin);
    suite_add_tcase(suite, cases);
    return suite;
}
