#include "core/sim/event.h"

#include "core/sim/halves.h"

#include <stdlib.h>
#include <string.h>

const Question yes_or_no = {0};

int event_number(const Class *class, const char *name) {
    for (int i = 0; class->events && class->events[i].name; i++)
        if (strcmp(class->events[i].name, name) == 0) return i;
    return -1;
}

static void note_subscribers(SimObject *object) {
    if (object->class->subscribers_changed) object->class->subscribers_changed(object);
    cluster_note_observers(object->cluster);
}

void object_subscribe(SimObject *object, Subscriber *subscriber, uint32_t events) {
    object_join_halves(object);
    object->subscribers = realloc(object->subscribers,
                                  (object->subscriber_count + 1) * sizeof(SubscriberEntry));
    ensure_memory(object->subscribers);
    object->subscribers[object->subscriber_count++] = (SubscriberEntry){.subscriber = subscriber,
                                                                        .events = events};
    object->subscribed |= events;
    note_subscribers(object);
}

void object_subscribe_policy(SimObject *object, Subscriber *subscriber, uint32_t events, const char *who) {
    object_subscribe(object, subscriber, events);
    object->subscribers[object->subscriber_count - 1].who = who;
}

void event_write_policies(const SimObject *object, uint32_t event, FILE *out) {
    const char *before = "";
    for (uint32_t i = 0; i < object->subscriber_count; i++) {
        const SubscriberEntry *entry = &object->subscribers[i];
        if (!(entry->events >> event & 1) || !entry->who) continue;
        fprintf(out, "%s%s", before, entry->who);
        before = ", ";
    }
}

void object_subscribe_first(SimObject *object, Subscriber *subscriber, uint32_t events) {
    object_subscribe(object, subscriber, events);
    SubscriberEntry *first = object->subscribers, entry = first[object->subscriber_count - 1];
    memmove(first + 1, first, (object->subscriber_count - 1) * sizeof *first);
    *first = entry;
}

void object_unsubscribe(SimObject *object, const Subscriber *subscriber) {
    uint32_t kept = 0, events = object->subscribed & SEEN_BY_PARTS;
    for (uint32_t i = 0; i < object->subscriber_count; i++) {
        if (object->subscribers[i].subscriber == subscriber) continue;
        object->subscribers[kept++] = object->subscribers[i];
        events |= object->subscribers[i].events;
    }
    object->subscriber_count = kept;
    object->subscribed = events;
    note_subscribers(object);
}

/* What is emitted in the turns of the first step is looked at with the later ones; in these, or between quanta, it is in
 * any case. Without sleep in each cycle. */
static void note_emitted(Cluster *cluster) {
    bool in_first_step = cluster->current && cluster->current->cluster_due == &cluster->next;
    if (in_first_step && cluster->current->sim->order != ORDER_RESTLESS)
        cluster_lower_later(cluster, cluster->now);
}

void event_emit_these(SimObject *object, uint32_t event, const int64_t *arguments) {
    Cluster *cluster = object->cluster;
    note_emitted(cluster);
    if (cluster->emitted_count == cluster->emitted_capacity) {
        cluster->emitted_capacity = cluster->emitted_capacity ? 2 * cluster->emitted_capacity : 32;
        cluster->emitted = realloc(cluster->emitted, cluster->emitted_capacity * sizeof(EmittedEvent));
        ensure_memory(cluster->emitted);
    }
    EmittedEvent *emitted = &cluster->emitted[cluster->emitted_count++];
    *emitted = (EmittedEvent){.object = object, .event = event};
    memcpy(emitted->arguments, arguments, sizeof emitted->arguments);
}

static int64_t call_subscribers(SimObject *object, uint32_t event, const int64_t *arguments, uint64_t now) {
    int64_t answer = NO_ANSWER;
    for (uint32_t i = 0; i < object->subscriber_count; i++) {
        const SubscriberEntry *entry = &object->subscribers[i];
        if (!(entry->events >> event & 1)) continue;
        int64_t given = entry->subscriber->handle(entry->subscriber, object, event, arguments, now);
        if (given == WITHHELD) break;
        if (given != NO_ANSWER) answer = given;
    }
    return answer;
}

int64_t event_ask_these(SimObject *object, uint32_t event, const int64_t *arguments) {
    return call_subscribers(object, event, arguments, object->cluster->now);
}

void event_tell_these(SimObject *object, uint32_t event, const int64_t *arguments) {
    if (!object_has_subscriber(object, event)) return;
    object->sim->tells_at_rest = true;
    call_subscribers(object, event, arguments, object_now(object));
    object->sim->tells_at_rest = false;
}

void event_pass_on(SimObject *object, uint32_t event, int64_t a) {
    const int64_t arguments[EVENT_ARGUMENTS] = {a};
    if (object_has_subscriber(object, event))
        call_subscribers(object, event, arguments, object->cluster->now);
}

/* By the order of construction; what one object emitted stays in its order. */
static void sort_emitted(EmittedEvent *emitted, uint32_t count) {
    for (uint32_t i = 1; i < count; i++) {
        EmittedEvent event = emitted[i];
        uint32_t at = i;
        for (; at > 0 && emitted[at - 1].object->id > event.object->id; at--)
            emitted[at] = emitted[at - 1];
        emitted[at] = event;
    }
}

void cluster_emit_events(Cluster *cluster) {
    sort_emitted(cluster->emitted, cluster->emitted_count);
    for (uint32_t i = 0; i < cluster->emitted_count; i++) {
        EmittedEvent event =
            cluster->emitted[i]; /* a subscriber may cause none, but be safe against growth */
        call_subscribers(event.object, event.event, event.arguments, cluster->now);
    }
    cluster->emitted_count = 0;
}

uint64_t object_next_cycle(const SimObject *object) {
    uint64_t now = object_now(object), cycle = object_cycle(object, now), edge = object_time(object, cycle);
    bool has_begun = now == object->cluster->now || edge != now;
    return has_begun ? edge + object->period : edge;
}

void object_wake(SimObject *object) {
    object_poke_whole(object, object_next_cycle(object));
}

void object_fail(SimObject *object, const char *message) {
    Cluster *cluster = object->cluster;
    if (!cluster->fault) cluster->fault = strdup(message);
    __atomic_store_n(&object->sim->failed, 1, __ATOMIC_RELAXED);
}
