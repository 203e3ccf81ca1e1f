/* The hang report: what every object holds and waits for. */
#include "core/sim/sim.h"

#include <stdlib.h>
#include <string.h>

void sim_report(const Sim *sim, FILE *out) {
    for (uint32_t i = 0; i < sim->object_count; i++)
        if (sim->objects[i]->class->report) sim->objects[i]->class->report(sim->objects[i], out);
    for (uint32_t i = 0; i < sim->link_count; i++) {
        const Link *link = sim->links[i];
        if (link->pushed != link->popped)
            fprintf(out, "link %s holds %lu of %u messages, the oldest ready at tick %lu (now %lu)\n",
                    link->name, link->pushed - link->popped, link->depth,
                    link->ready[link->popped & link->slot_mask], sim->now);
    }
}

/* Lines that differ in numbers alone. */
typedef struct {
    const char *first, *last;
    uint32_t lines;
} Group;

/* Up to so many lines are no more to read than what stands for them. */
enum { SHORT_GROUP = 2 };

static const char *skip_number(const char *at) {
    bool hexadecimal = at[0] == '0' && at[1] == 'x';
    const char *digits = hexadecimal ? "0123456789abcdef" : "0123456789";
    at += hexadecimal ? 2 : 0;
    return at + strspn(at, digits);
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* Both end with a line feed. */
static bool differ_in_numbers_alone(const char *a, const char *b) {
    for (;;) {
        if (is_digit(*a) && is_digit(*b)) {
            a = skip_number(a);
            b = skip_number(b);
        }
        if (*a != *b) return false;
        if (*a == '\n') return true;
        if (!is_digit(*a)) a++, b++;
    }
}

/* A line begins with whom it is about. */
static int about_length(const char *line) {
    const char *end = strstr(line, ": ");
    size_t whole = strcspn(line, "\n"), length = end ? (size_t)(end - line) : whole;
    return (int)(length < whole ? length : whole);
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

static void write_in_groups(const char *report, FILE *out) {
    Group *groups = NULL;
    size_t count = 0, capacity = 0;
    for (const char *line = report; *line; line += strcspn(line, "\n") + 1) {
        size_t g = 0;
        while (g < count && !differ_in_numbers_alone(groups[g].first, line))
            g++;
        if (g == capacity) {
            capacity = capacity ? 2 * capacity : 16;
            groups = realloc(groups, capacity * sizeof *groups);
            ensure_memory(groups);
        }
        if (g == count) groups[count++] = (Group){.first = line};
        groups[g].last = line;
        groups[g].lines++;
    }
    for (size_t g = 0; g < count; g++)
        write_group(&groups[g], out);
    free(groups);
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
