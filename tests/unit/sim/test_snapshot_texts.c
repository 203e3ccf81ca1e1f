/* Texts in snapshots: what is legal comes back, what is longer is refused where it is named; and what can be
 * told of a snapshot without its machine. */
#include "core/ptx/execution/memory.h"
#include "core/sim/checkpoint/snapshot.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

Suite *snapshot_texts_suite(void);

typedef struct {
    SimObject obj;
    char *text; /* parameter */
    Port out, in;
    uint64_t number;
} Label;

static const Protocol label_protocol = {.name = "label", .request_bytes = sizeof(uint64_t)};

static const Field label_fields[] = {
    BASE(Label),
    PARAM(Label, text, "", "text", "Any text"),
    PORT(Label, out, label_protocol, ROLE_REQUESTER, "Wired to another", .optional = true),
    PORT(Label, in, label_protocol, ROLE_RESPONDER, "Wired to another", .optional = true),
    STATE(Label, number, "Any number"),
    FIELDS_END};

static uint64_t label_tick(SimObject *object, uint64_t now) {
    (void)object, (void)now;
    return NEVER;
}

static const Class label_class = {
    .name = "Label", .doc = "For tests", .bytes = sizeof(Label), .fields = label_fields, .tick = label_tick};

/* So many letters; lives until the next call but one. */
static const char *letters(size_t count) {
    static char text[2][2048];
    static int turn;
    turn = !turn;
    memset(text[turn], turn ? 'x' : 'y', count);
    text[turn][count] = 0;
    return text[turn];
}

static Sim *new_sim(const char *clock) {
    class_register(&label_class);
    Sim *sim = sim_new("test");
    sim_clock(sim, clock, 1000000000);
    return sim;
}

/* Two objects and a wire between them. */
static Sim *machine(const char *clock, const char *first, const char *second, const char *text) {
    Sim *sim = new_sim(clock);
    SimObject *a = sim_add(sim, "Label", first, NULL), *b = sim_add(sim, "Label", second, NULL);
    object_set_text(a, "text", text);
    ((Label *)a)->number = 7;
    sim_finish_object(a);
    sim_finish_object(b);
    sim_wire(sim, a, "out", b, "in", (LinkOptions){0}, (LinkOptions){0});
    sim_elaborate(sim);
    *(uint64_t *)link_send(((Label *)a)->out.send, 0) = 5;
    return sim;
}

static char why[400];

static bool loads(Sim *sim, const uint8_t *bytes, size_t count) {
    return sim_load(sim, &(Reader){.bytes = bytes, .count = count}, NULL, why, sizeof why);
}

static void add(void *context, const char *path, const char *class, uint64_t bytes) {
    *(uint64_t *)context += strlen(path) + strlen(class) + bytes;
}

static bool lists(const uint8_t *bytes, size_t count) {
    uint64_t now, sum = 0;
    char reason[400];
    return snapshot_list(&(Reader){.bytes = bytes, .count = count}, &now, add, &sum, reason, sizeof reason);
}

START_TEST(texts_as_long_as_is_legal_come_back) {
    char *clock = strdup(letters(CLOCK_NAME_MAX)), *text = strdup(letters(PARAM_TEXT_MAX));
    Sim *sim = machine(clock, letters(OBJECT_PATH_MAX), letters(OBJECT_PATH_MAX), text);
    Sim *again = machine(clock, letters(OBJECT_PATH_MAX), letters(OBJECT_PATH_MAX), text);
    Buffer saved = {0};
    sim_save(sim, &saved);
    ((Label *)again->objects[0])->number = 0;
    ck_assert(lists(saved.bytes, saved.count));
    ck_assert_msg(loads(again, saved.bytes, saved.count), "%s", why);
    ck_assert_uint_eq(((Label *)again->objects[0])->number, 7);
    buffer_free(&saved);
    sim_free(sim);
    sim_free(again);
    free(clock);
    free(text);
}
END_TEST

/* --- One character more ---------------------------------------------------------------------- */

static void name_clock(void *context) {
    sim_clock(context, letters(CLOCK_NAME_MAX + 1), 1000);
}
static void name_object(void *context) {
    sim_add(context, "Label", letters(OBJECT_PATH_MAX + 1), NULL);
}
static void name_object_with_control(void *context) {
    sim_add(context, "Label", "a\x1b[2J", NULL);
}
static void set_text(void *context) {
    object_set_text(((Sim *)context)->objects[0], "text", letters(PARAM_TEXT_MAX + 1));
}

static const struct {
    void (*work)(void *context);
    const char *error;
} too_long[] = {
    {name_clock, "expected a name of up to 127 characters, got 128"},
    {name_object, "...: expected a path of up to 240 characters, got 241"},
    {name_object_with_control, "expected a path without control characters, got one with the byte 0x1b"},
    {set_text, "label.text: expected a text of up to 511 characters, got 512"},
};

START_TEST(what_is_longer_is_an_error_where_it_is_named) {
    Sim *sim = new_sim("core");
    if (_i) sim_add(sim, "Label", "label", NULL);
    const char *error = user_error_catch(too_long[_i].work, sim);
    ck_assert_ptr_nonnull(error);
    ck_assert_msg(strstr(error, too_long[_i].error), "'%s' is not in: %s", too_long[_i].error, error);
    sim_free(sim);
}
END_TEST

/* --- Without the machine --------------------------------------------------------------------- */

/* Whatever a machine calls damaged, and does not merely find to be another's. */
START_TEST(damage_is_seen_without_the_machine) {
    Buffer saved = {0};
    Sim *sim = machine("core", "first", "second", "some text");
    uint32_t damaged = 0;
    sim_save(sim, &saved);
    for (size_t at = 0; at < saved.count; at++)
        for (uint32_t bit = 0; bit < 8; bit++) {
            saved.bytes[at] ^= (uint8_t)(1u << bit);
            if (!loads(sim, saved.bytes, saved.count) && strstr(why, ": damaged")) {
                ck_assert_msg(!lists(saved.bytes, saved.count), "byte %zu, bit %u: %s", at, bit, why);
                damaged++;
            }
            saved.bytes[at] ^= (uint8_t)(1u << bit);
        }
    ck_assert_uint_gt(damaged, 500);
    for (size_t count = 0; count < saved.count; count++)
        ck_assert(!lists(saved.bytes, count));
    buffer_free(&saved);
    sim_free(sim);
}
END_TEST

static Buffer saved_memory(void) {
    Buffer saved = {0};
    DeviceMemory *memory = device_memory_new(1 << 16);
    MemoryView view;
    uint64_t block = device_alloc(memory, 5000);
    device_alloc(memory, 256);
    view_init(&view, memory);
    view_store(&view, block + 4096, 4, 0x12345678);
    view_commit(&view);
    view_free(&view);
    device_memory_save(memory, &saved);
    device_memory_free(memory);
    return saved;
}

static bool memory_is_good(const Buffer *saved, size_t count) {
    return device_memory_check(&(Reader){.bytes = saved->bytes, .count = count}, why, sizeof why);
}

/* Peak; two allocations, each from and to; the page. */
START_TEST(damaged_device_memory_is_seen_without_the_memory) {
    Buffer saved = saved_memory();
    ck_assert_msg(memory_is_good(&saved, saved.count), "%s", why);
    for (size_t count = 0; count < saved.count; count++)
        ck_assert(!memory_is_good(&saved, count));
    static const struct {
        size_t at;
        uint8_t bits;
        const char *why;
    } damages[] = {{1, 0x15, "its peak use is below its present use"},
                   {8, 1, "the list of allocations is damaged"},
                   {17, 0xff, "the list of allocations is damaged"},
                   {25, 0x80, "the list of allocations is damaged"},
                   {49, 0xff, "the pages that kernels wrote are damaged"}};
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        saved.bytes[damages[i].at] ^= damages[i].bits;
        ck_assert_msg(!memory_is_good(&saved, saved.count), "damage %zu", i);
        ck_assert_msg(strstr(why, damages[i].why), "damage %zu: %s", i, why);
        saved.bytes[damages[i].at] ^= damages[i].bits;
    }
    buffer_free(&saved);
}
END_TEST

Suite *snapshot_texts_suite(void) {
    Suite *suite = suite_create("texts of snapshots");
    TCase *cases = tcase_create("cases");
    tcase_add_test(cases, texts_as_long_as_is_legal_come_back);
    tcase_add_loop_test(cases, what_is_longer_is_an_error_where_it_is_named, 0, 4);
    tcase_add_test(cases, damage_is_seen_without_the_machine);
    tcase_add_test(cases, damaged_device_memory_is_seen_without_the_memory);
    suite_add_tcase(suite, cases);
    return suite;
}
