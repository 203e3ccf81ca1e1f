/* The hang report: what every object holds and waits for. */
#include "core/sim/sim.h"

#include <stdlib.h>
#include <string.h>

void sim_report(const Sim *sim, FILE *out) {
    const Clock *core = &sim->clocks[0];
    for (uint32_t i = 0; i < sim->object_count; i++)
        if (sim->objects[i]->class->report) sim->objects[i]->class->report(sim->objects[i], out);
    for (uint32_t i = 0; i < sim->link_count; i++) {
        const Link *link = sim->links[i];
        if (link->pushed != link->popped)
            fprintf(out, "link %s holds %lu of %u messages, the oldest ready at core cycle %lu (now %lu)\n",
                    link->name, link->pushed - link->popped, link->depth,
                    clock_cycle(core, link->ready[link->popped & link->slot_mask]),
                    clock_cycle(core, sim->now));
    }
}

/* Lines that differ in numbers alone. */
typedef struct {
    const char *first, *last;
    uint32_t lines;
} Group;

typedef struct {
    Group *group;
    size_t count, capacity;
} Groups;

/* Up to so many lines are no more to read than what stands for them. */
enum { SHORT_GROUP = 2 };

/* Up to so many groups, those who wait at different lines of a program are told apart. */
enum { MOST_PLACES = 12 };

static size_t number_length(const char *at) {
    bool hexadecimal = at[0] == '0' && at[1] == 'x';
    const char *digits = hexadecimal ? "0123456789abcdef" : "0123456789";
    size_t prefix = hexadecimal ? 2 : 0;
    return prefix + strspn(at + prefix, digits);
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_place(const char *line, const char *number) {
    static const char before[] = "line ";
    size_t length = sizeof before - 1;
    return (size_t)(number - line) >= length && memcmp(number - length, before, length) == 0;
}

/* Both end with a line feed. With `by_place`, numbers behind "line " count as text. */
static bool differ_in_numbers_alone(const char *a, const char *b, bool by_place) {
    const char *line = a;
    for (;;) {
        if (is_digit(*a) && is_digit(*b)) {
            size_t length = number_length(a), other = number_length(b);
            if (by_place && is_place(line, a) && (length != other || memcmp(a, b, length) != 0)) return false;
            a += length;
            b += other;
        }
        if (*a != *b) return false;
        if (*a == '\n') return true;
        if (!is_digit(*a)) a++, b++;
    }
}

/* A line begins with whom it is about, "sm[0]: " or "link a -> b holds ". */
static int about_length(const char *line) {
    static const char *const ends[] = {": ", " holds "};
    size_t length = strcspn(line, "\n");
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const char *end = strstr(line, ends[i]);
        if (end && (size_t)(end - line) < length) length = (size_t)(end - line);
    }
    return (int)length;
}

static void write_group(const Group *group, FILE *out) {
    fprintf(out, "%.*s\n", (int)strcspn(group->first, "\n"), group->first);
    if (group->lines < 2) return;
    if (group->lines <= SHORT_GROUP)
        fprintf(out, "%.*s\n", (int)strcspn(group->last, "\n"), group->last);
    else
        fprintf(out, "  and %u more lines like this, up to %.*s\n", group->lines - 1,
                about_length(group->last), group->last);
}

static void add_line(Groups *groups, const char *line, bool by_place) {
    size_t g = 0;
    while (g < groups->count && !differ_in_numbers_alone(groups->group[g].first, line, by_place))
        g++;
    if (g == groups->capacity) {
        groups->capacity = groups->capacity ? 2 * groups->capacity : 16;
        groups->group = realloc(groups->group, groups->capacity * sizeof *groups->group);
        ensure_memory(groups->group);
    }
    if (g == groups->count) groups->group[groups->count++] = (Group){.first = line};
    groups->group[g].last = line;
    groups->group[g].lines++;
}

static void write_in_groups(const char *report, FILE *out) {
    Groups groups = {0};
    for (int by_place = 1; by_place >= 0; by_place--) {
        groups.count = 0;
        for (const char *line = report; *line; line += strcspn(line, "\n") + 1)
            if (groups.count <= MOST_PLACES || !by_place) add_line(&groups, line, by_place);
        if (groups.count <= MOST_PLACES) break;
    }
    for (size_t g = 0; g < groups.count; g++)
        write_group(&groups.group[g], out);
    free(groups.group);
}

void sim_report_in_groups(const Sim *sim, FILE *out) {
    char *report = NULL;
    size_t bytes = 0;
    FILE *memory = open_memstream(&report, &bytes);
    ensure_memory(memory);
    sim_report(sim, memory);
    ensure(fclose(memory) == 0);
    write_in_groups(report, out);
    free(report);
}
