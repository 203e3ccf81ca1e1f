/* One link in a snapshot: the counters of both halves, and the messages in it. */
#include "core/sim/checkpoint/snapshot_parts.h"

#include "core/sim/halves.h"

#include <string.h>

void save_link(const Link *link, Buffer *buffer) {
    LinkCounters counters = {link->pushed,
                             link->popped,
                             link->last_push,
                             link->pushes_in_cycle,
                             link->cut ? NEVER : link->last_pop,
                             link->cut ? link->popped : link->popped_seen,
                             0};
    buffer_u32(buffer, LINK_MARK);
    snapshot_text(link->name, LINK_BYTES, buffer);
    buffer_u32(buffer, link->message_bytes);
    buffer_append(buffer, &counters, sizeof counters);
    for (uint64_t i = link->popped; i != link->pushed; i++) {
        buffer_u64(buffer, link->ready[i & link->slot_mask]);
        buffer_append(buffer, link->slots + (i & link->slot_mask) * link->message_bytes, link->message_bytes);
    }
}

bool read_link(Reader *reader, char *name, uint32_t *message_bytes, LinkCounters *counters) {
    if (reader_u32(reader) != LINK_MARK || !reader_name(reader, name, LINK_BYTES)) return false;
    *message_bytes = reader_u32(reader);
    const uint8_t *raw = reader_bytes(reader, sizeof *counters);
    if (!raw) return false;
    memcpy(counters, raw, sizeof *counters);
    return true;
}

/* Room and times as they are at a boundary: both ends know of all pushes and pops. */
static void link_is_sound(void *context) {
    const Link *link = context;
    uint64_t now = link->sender->sim->now, latest = now + link->latency + link->align_to;
    const Protocol *protocol = link->protocol;
    void (*is_sound)(const char *, const SimObject *, const void *) = link->requests
                                                                          ? protocol->response_is_sound
                                                                          : protocol->request_is_sound;
    sound(link->last_push == NEVER || link->last_push <= now, "%s: the last push was at tick %lu", link->name,
          link->last_push);
    sound(link->cut || link->last_pop == NEVER || link->last_pop <= now, "%s: the last pop was at tick %lu",
          link->name, link->last_pop);
    sound(link->pushes_in_cycle <= link->width, "%s: %u messages in a cycle", link->name,
          link->pushes_in_cycle);
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

bool load_link(Link *link, Reader *reader, char *why, size_t why_size) {
    char name[LINK_BYTES];
    uint32_t message_bytes;
    LinkCounters c;
    if (!read_link(reader, name, &message_bytes, &c))
        return snapshot_fail(why, why_size, link->name, "damaged");
    if (strcmp(name, link->name) != 0) {
        snprintf(why, why_size, "expected the wire %s of the checkpoint, got %s", name, link->name);
        return false;
    }
    if (message_bytes != link->message_bytes || c.pushed - c.popped > link->depth) {
        snprintf(why, why_size,
                 "%s: depth: expected room for the %lu messages of %u bytes of the checkpoint, got %u of %u; "
                 "a larger depth or a checkpoint of another cycle helps",
                 name, c.pushed - c.popped, message_bytes, link->depth, link->message_bytes);
        return false;
    }
    link->pushed = link->pushed_seen = link->pushed_before = c.pushed;
    link->popped = c.popped;
    link->popped_seen = link->cut ? c.popped : c.popped_before;
    link->last_push = c.last_push;
    if (!link->cut) link->last_pop = c.last_pop;
    link->pushes_in_cycle = (uint16_t)c.pushes_in_cycle;
    if (!load_messages(link, reader)) return snapshot_fail(why, why_size, name, "damaged");
    link_update_next_ready(link);
    return snapshot_passes(link_is_sound, link, why, why_size);
}
