#include "core/sim/sim.h"

#include <stdlib.h>
#include <string.h>

void link_list_for_exchange(Link *link, Cluster *cluster, uint32_t *listed) {
    if (cluster->exchange_count == cluster->exchange_capacity) {
        cluster->exchange_capacity = cluster->exchange_capacity ? 2 * cluster->exchange_capacity : 16;
        cluster->exchange = realloc(cluster->exchange, cluster->exchange_capacity * sizeof(Link *));
        ensure(cluster->exchange);
    }
    cluster->exchange[cluster->exchange_count++] = link;
    *listed = 1;
}

enum { MESSAGE_BYTES_MAX = 256 };

static void move_message(Link *link, uint64_t from, uint64_t to) {
    memcpy(link->slots + to * link->message_bytes, link->slots + from * link->message_bytes,
           link->message_bytes);
    link->ready[to] = link->ready[from];
#ifdef WW_DEBUG
    link->audit.entered[to] = link->audit.entered[from];
#endif
}

void link_bring_forward(Link *link, uint64_t place) {
    uint8_t message[MESSAGE_BYTES_MAX];
    uint64_t first = link->popped & link->slot_mask, slot = (link->popped + place) & link->slot_mask;
    uint64_t ready = link->ready[slot];
    ensure(place < link->pushed_seen - link->popped && link->message_bytes <= sizeof message);
#ifdef WW_DEBUG
    uint64_t entered = link->audit.entered[slot];
#endif
    memcpy(message, link->slots + slot * link->message_bytes, link->message_bytes);
    for (uint64_t i = place; i; i--)
        move_message(link, (link->popped + i - 1) & link->slot_mask, (link->popped + i) & link->slot_mask);
    memcpy(link->slots + first * link->message_bytes, message, link->message_bytes);
    link->ready[first] = ready;
#ifdef WW_DEBUG
    link->audit.entered[first] = entered;
#endif
    link_update_next_ready(link);
}
