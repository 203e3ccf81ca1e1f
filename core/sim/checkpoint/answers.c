#include "core/sim/checkpoint/answers.h"

#include "core/sim/halves.h"

#include <stdlib.h>

/* Messages that lead to an object, by their kind. */
typedef struct {
    const Sim *sim;
    uint32_t *first; /* per object: of its kinds in `found`; one more */
    uint32_t *found;
    const char *stray; /* where a message was that nobody awaits, or NULL */
    bool open;         /* an object holds requests and does not say which */
} AnswerCounts;

enum { NETWORKS_MAX = 64 }; /* that a message may have crossed; a way round would not end */

/* Who gets the answer: NULL when the way back cannot be found. */
static const SimObject *asker(const Link *by, const void *message, uint32_t depth) {
    for (uint32_t i = 0; by && i < NETWORKS_MAX; i++) {
        const SimObject *object = object_whole(by->sender);
        const Link *before = object->class->came_by ? object->class->came_by(object, message, &depth) : NULL;
        if (!before) return object;
        by = before;
    }
    return NULL;
}

static void note(void *context, const Link *by, const void *message) {
    AnswerCounts *counts = context;
    const SimObject *object = asker(by, message, by->protocol->route_depth(message));
    if (object && !object->class->answer_kinds) return; /* it does not say what it awaits */
    uint32_t kind = object ? object->class->answer_kind(object, message) : NO_ANSWER_AWAITED;
    if (kind != NO_ANSWER_AWAITED)
        counts->found[counts->first[object->id] + kind]++;
    else if (!counts->stray)
        counts->stray = by->name;
}

static void note_links(AnswerCounts *counts) {
    for (uint32_t i = 0; i < counts->sim->link_count; i++) {
        const Link *link = counts->sim->links[i];
        const Class *receiver = link->receiver->class;
        if (!link->protocol->wants_answer) continue;
        counts->open |= !link->requests && !receiver->requests_inside && !receiver->came_by;
        FOR_LINK_MESSAGES (link, k) {
            const void *message = link_message(link, k);
            if (link->requests)
                note(counts, link->requests, message);
            else if (link->protocol->wants_answer(message))
                note(counts, link, message);
        }
    }
}

static uint32_t *zeroed(uint32_t count) {
    uint32_t *numbers = calloc((size_t)count + 1, sizeof *numbers);
    ensure_memory(numbers);
    return numbers;
}

/* The first kind that is found more or less often than it is awaited, or UINT32_MAX. */
static uint32_t find_wrong(const AnswerCounts *counts, uint32_t *awaited, uint32_t kinds) {
    for (uint32_t i = 0; i < counts->sim->object_count; i++) {
        const SimObject *object = counts->sim->objects[i];
        if (object->class->answer_kinds) object->class->answers_awaited(object, awaited + counts->first[i]);
    }
    for (uint32_t kind = 0; kind < kinds; kind++)
        if (counts->found[kind] > awaited[kind] || (counts->found[kind] < awaited[kind] && !counts->open))
            return kind;
    return UINT32_MAX;
}

static const SimObject *object_of(const AnswerCounts *counts, uint32_t kind) {
    uint32_t i = 0;
    while (counts->first[i + 1] <= kind)
        i++;
    return counts->sim->objects[i];
}

static uint32_t count_kinds(const AnswerCounts *counts) {
    uint32_t kinds = 0;
    for (uint32_t i = 0; i < counts->sim->object_count; i++) {
        const SimObject *object = counts->sim->objects[i];
        counts->first[i] = kinds;
        kinds += object->class->answer_kinds ? object->class->answer_kinds(object) : 0;
    }
    return counts->first[counts->sim->object_count] = kinds;
}

void answers_check(const Sim *sim) {
    AnswerCounts counts = {.sim = sim, .first = zeroed(sim->object_count)};
    uint32_t kinds = count_kinds(&counts), *awaited = zeroed(kinds);
    counts.found = zeroed(kinds);
    note_links(&counts);
    for (uint32_t i = 0; i < sim->object_count; i++)
        if (sim->objects[i]->class->requests_inside)
            sim->objects[i]->class->requests_inside(sim->objects[i], note, &counts);
    uint32_t wrong = find_wrong(&counts, awaited, kinds);
    const SimObject *object = wrong == UINT32_MAX ? NULL : object_of(&counts, wrong);
    uint32_t wants = object ? awaited[wrong] : 0, found = object ? counts.found[wrong] : 0;
    free(counts.first);
    free(counts.found);
    free(awaited);
    if (counts.stray) panic("%s: a message that nobody awaits an answer to came this way", counts.stray);
    if (object)
        panic("%s awaits %u answers to a request, and %u are on their way", object->path, wants, found);
}
