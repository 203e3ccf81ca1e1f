#include "core/sim/event.h"

#include <stdlib.h>
#include <string.h>

const Question yes_or_no = {0};

int event_number(const Class *class, const char *name) {
    for (int i = 0; class->events && class->events[i].name; i++)
        if (strcmp(class->events[i].name, name) == 0) return i;
    return -1;
}

void object_listen(SimObject *object, Listener *listener, uint32_t events) {
    object->listeners = realloc(object->listeners, (object->listener_count + 1) * sizeof(ListenerEntry));
    ensure(object->listeners);
    object->listeners[object->listener_count++] = (ListenerEntry){listener, events};
    object->heard |= events;
}

void object_listen_first(SimObject *object, Listener *listener, uint32_t events) {
    object_listen(object, listener, events);
    ListenerEntry *first = object->listeners, entry = first[object->listener_count - 1];
    memmove(first + 1, first, (object->listener_count - 1) * sizeof *first);
    *first = entry;
}

void sim_forget_listeners(Sim *sim) {
    for (uint32_t i = 0; i < sim->object_count; i++) {
        SimObject *object = sim->objects[i];
        free(object->listeners);
        object->listeners = NULL;
        object->listener_count = 0;
        object->heard &= SEEN_BY_PARTS;
    }
}

void event_tell(SimObject *object, uint32_t event, int64_t a, int64_t b, int64_t c, int64_t d) {
    Cluster *cluster = object->cluster;
    if (cluster->told_count == cluster->told_capacity) {
        cluster->told_capacity = cluster->told_capacity ? 2 * cluster->told_capacity : 32;
        cluster->told = realloc(cluster->told, cluster->told_capacity * sizeof(ToldEvent));
        ensure(cluster->told);
    }
    cluster->told[cluster->told_count++] = (ToldEvent){object, event, {a, b, c, d}};
}

static int64_t tell_listeners(SimObject *object, uint32_t event, const int64_t *arguments, uint64_t now) {
    int64_t answer = NO_ANSWER;
    for (uint32_t i = 0; i < object->listener_count; i++) {
        const ListenerEntry *entry = &object->listeners[i];
        if (!(entry->events >> event & 1)) continue;
        int64_t given = entry->listener->hear(entry->listener, object, event, arguments, now);
        if (given == WITHHELD) break;
        if (given != NO_ANSWER) answer = given;
    }
    return answer;
}

int64_t event_ask(SimObject *object, uint32_t event, int64_t a, int64_t b, int64_t c, int64_t d) {
    const int64_t arguments[EVENT_ARGUMENTS] = {a, b, c, d};
    return tell_listeners(object, event, arguments, object->cluster->now);
}

void event_pass_on(SimObject *object, uint32_t event, int64_t a) {
    const int64_t arguments[EVENT_ARGUMENTS] = {a};
    if (object_is_heard(object, event)) tell_listeners(object, event, arguments, object->cluster->now);
}

/* By the order of construction; what one object told stays in its order. */
static void sort_told(ToldEvent *told, uint32_t count) {
    for (uint32_t i = 1; i < count; i++) {
        ToldEvent event = told[i];
        uint32_t at = i;
        for (; at > 0 && told[at - 1].object->id > event.object->id; at--)
            told[at] = told[at - 1];
        told[at] = event;
    }
}

void cluster_tell_events(Cluster *cluster) {
    sort_told(cluster->told, cluster->told_count);
    for (uint32_t i = 0; i < cluster->told_count; i++) {
        ToldEvent event = cluster->told[i]; /* a listener may cause none, but be safe against growth */
        tell_listeners(event.object, event.event, event.arguments, cluster->now);
    }
    cluster->told_count = 0;
}

void object_wake(SimObject *object) {
    uint64_t now = object_now(object), cycle = object_cycle(object, now), edge = cycle * object->period;
    bool has_begun = now == object->cluster->now || edge != now;
    object_poke(object, has_begun ? edge + object->period : edge);
}

void object_fail(SimObject *object, const char *message) {
    Cluster *cluster = object->cluster;
    if (!cluster->fault) cluster->fault = strdup(message);
    __atomic_store_n(&object->sim->failed, 1, __ATOMIC_RELAXED);
}
