/* One link in a snapshot: the options of its wire, the counters of both halves, and the messages in it. */
#include "core/sim/checkpoint/snapshot_parts.h"

#include "core/sim/halves.h"

#include <string.h>

static uint64_t latency_cycles(const Link *link) {
    return link->latency / link->sender->period;
}

void save_link(const Link *link, Buffer *buffer) {
    SavedLink saved = {.pushed = link->pushed,
                       .popped = link->popped,
                       .last_push = link->last_push,
                       .pushes_in_cycle = link->pushes_in_cycle,
                       .last_pop = link->cut ? NEVER : link->last_pop,
                       .popped_before = link->cut ? link->popped : link->popped_seen,
                       .latency = latency_cycles(link),
                       .depth = link->depth,
                       .width = link->width};
    buffer_u32(buffer, LINK_MARK);
    snapshot_text(link->name, LINK_BYTES, buffer);
    buffer_u32(buffer, link->message_bytes);
    buffer_append(buffer, &saved, sizeof saved);
    for (uint64_t i = link->popped; i != link->pushed; i++) {
        buffer_u64(buffer, link->ready[i & link->slot_mask]);
        buffer_append(buffer, link->slots + (i & link->slot_mask) * link->message_bytes, link->message_bytes);
    }
}

bool read_link(Reader *reader, char *name, uint32_t *message_bytes, SavedLink *saved) {
    if (reader_u32(reader) != LINK_MARK || !reader_name(reader, name, LINK_BYTES)) return false;
    *message_bytes = reader_u32(reader);
    const uint8_t *raw = reader_bytes(reader, sizeof *saved);
    if (!raw) return false;
    memcpy(saved, raw, sizeof *saved);
    return true;
}

/* True when an option of the wire is the one of the snapshot, or may be another. */
static bool compare_option(const Link *link, const char *option, uint64_t before, uint64_t now,
                           const SnapshotChanges *changes, char *why, size_t why_size) {
    if (before == now) return true;
    if (changes && changes->allowed) {
        snapshot_note(changes, "wire %s: %s: %lu became %lu", link->name, option, before, now);
        return true;
    }
    snprintf(why, why_size,
             "wire %s: %s: expected %lu as in the checkpoint, got %lu; allow_changes goes on as another "
             "machine",
             link->name, option, before, now);
    return false;
}

static bool compare_wire(const Link *link, const SavedLink *saved, const SnapshotChanges *changes, char *why,
                         size_t why_size) {
    return compare_option(link, "latency", saved->latency, latency_cycles(link), changes, why, why_size) &&
           compare_option(link, "depth", saved->depth, link->depth, changes, why, why_size) &&
           compare_option(link, "width", saved->width, link->width, changes, why, why_size);
}

typedef struct {
    const Link *link;
    const SavedLink *saved;
} LoadedLink;

/* Room and times as they are at a boundary: both ends know of all pushes and pops. What is on its way comes in its time
 * when the wire has another latency. */
static void link_is_sound(void *context) {
    const LoadedLink *loaded = context;
    const Link *link = loaded->link;
    const SavedLink *saved = loaded->saved;
    uint64_t now = link->sender->sim->now, period = link->sender->period;
    uint64_t latest = now + later_of(link->latency, saved->latency * period) + link->align_to;
    const Protocol *protocol = link->protocol;
    void (*is_sound)(const char *, const SimObject *, const void *) = link->requests
                                                                          ? protocol->response_is_sound
                                                                          : protocol->request_is_sound;
    sound(saved->latency && saved->latency < (1ull << LATEST_SHIFT) / period, "%s: a latency of %lu cycles",
          link->name, saved->latency);
    sound(link->last_push == NEVER || link->last_push <= now, "%s: the last push was at tick %lu", link->name,
          link->last_push);
    sound(link->cut || link->last_pop == NEVER || link->last_pop <= now, "%s: the last pop was at tick %lu",
          link->name, link->last_pop);
    sound(saved->pushes_in_cycle <= saved->width, "%s: %lu messages in a cycle", link->name,
          saved->pushes_in_cycle);
    sound(link->popped_seen <= link->popped && link->popped <= link->pushed,
          "%s: %lu messages sent, %lu received, %lu before", link->name, link->pushed, link->popped,
          link->popped_seen);
    for (uint64_t i = link->popped; i != link->pushed; i++) {
        uint64_t ready = link->ready[i & link->slot_mask];
        sound(ready <= latest && ready % link->receiver->period == 0, "%s: message %lu is ready at tick %lu",
              link->name, i, ready);
        if (is_sound) is_sound(link->name, object_whole(link->receiver), link_message(link, i));
    }
}

static bool load_messages(Link *link, Reader *reader) {
    for (uint64_t i = link->popped; i != link->pushed; i++) {
        link->ready[i & link->slot_mask] = reader_u64(reader);
        const uint8_t *message = reader_bytes(reader, link->message_bytes);
        if (!message) return false;
        memcpy(link->slots + (i & link->slot_mask) * link->message_bytes, message, link->message_bytes);
    }
    return true;
}

bool load_link(Link *link, Reader *reader, const SnapshotChanges *changes, char *why, size_t why_size) {
    char name[LINK_BYTES];
    uint32_t message_bytes;
    SavedLink saved;
    if (!read_link(reader, name, &message_bytes, &saved))
        return snapshot_fail(why, why_size, link->name, "damaged");
    if (strcmp(name, link->name) != 0) {
        snprintf(why, why_size, "expected the wire %s of the checkpoint, got %s", name, link->name);
        return false;
    }
    if (!compare_wire(link, &saved, changes, why, why_size)) return false;
    if (message_bytes != link->message_bytes || saved.pushed - saved.popped > link->depth) {
        snprintf(why, why_size,
                 "%s: depth: expected room for the %lu messages of %u bytes of the checkpoint, got %u of %u; "
                 "a larger depth or a checkpoint of another cycle helps",
                 name, saved.pushed - saved.popped, message_bytes, link->depth, link->message_bytes);
        return false;
    }
    link->pushed = link->pushed_seen = link->pushed_before = saved.pushed;
    link->popped = saved.popped;
    link->popped_seen = link->cut ? saved.popped : saved.popped_before;
    link->last_push = saved.last_push;
    if (!link->cut) link->last_pop = saved.last_pop;
    link->pushes_in_cycle = (uint16_t)saved.pushes_in_cycle;
    if (!load_messages(link, reader)) return snapshot_fail(why, why_size, name, "damaged");
    link_update_next_ready(link);
    return snapshot_passes(link_is_sound, &(LoadedLink){link, &saved}, why, why_size);
}
