#include "core/sim/sim.h"

#include <string.h>

void link_show_pushes(Link *link, uint64_t pushed, uint64_t first_ready) {
    link->pushed_seen = pushed;
    link->next_ready = link->next_ready == NEVER ? first_ready : link->next_ready;
    object_poke(link->receiver, first_ready);
}

void link_show_pops(Link *link, uint64_t popped, uint64_t boundary) {
    bool was_full = link->pushed - link->popped_seen == link->depth;
    link->popped_seen = popped;
    if (was_full) object_poke(link->sender, object_edge(link->sender, boundary));
}

void link_exchange(Exchange *exchange, uint64_t boundary) {
    Link *link;
    FOR_LINKS_TAKEN(&exchange->pushed, link) {
        link_show_pushes(link, link->pushed, link_first_pushed_ready(link));
        link->pushed_before = link->pushed;
    }
    FOR_LINKS_TAKEN(&exchange->popped, link) {
        link_show_pops(link, link->popped, boundary);
    }
}

void link_set_taker(Link *link, LinkTaker *taker, uint32_t port) {
    uint64_t cycles = link->latency / link->sender->period;
    bool fills = (cycles + 1) * link->width >= link->depth;
    link->taker = link->cut || link->aligned || fills ? NULL : taker;
    link->taker_port = port;
}

/* The message is pushed now and popped when it is ready, at once, and nobody can look in between. */
bool link_offer(Link *link, const void *message, uint64_t now) {
    uint64_t ready = now + link->latency, number = link->pushed;
    debug_ensure(link_can_send(link, now));
    if (number != link->popped || ready >= object_unseen_until(link->receiver)) return false;
    if (!link->taker(link->receiver, link->taker_port, message, ready)) return false;
    link_audit_push(link, now);
    link->pushes_in_cycle = (uint16_t)((link->last_push == now ? link->pushes_in_cycle : 0) + 1);
    link->last_push = now;
    link->to_ready[number & link->to_slot_mask] = ready;
    link->pushed = link->pushed_seen = number + 1;
    link_audit_pop(link, ready);
    link->popped_seen = number;
    link->last_pop = ready;
    link->popped = number + 1;
    return true;
}

enum { MESSAGE_BYTES_MAX = 2048 };

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
    LinkEntry entered = link->audit.entered[slot];
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

void link_put_back(Link *link, const void *message, uint64_t now) {
    ensure(!link->cut && link->pushed - link->popped < link->depth);
    uint64_t slot = link->pushed & link->slot_mask;
    link_audit_push(link, now - link->latency);
    memcpy(link->slots + slot * link->message_bytes, message, link->message_bytes);
    link->ready[slot] = now;
    link->pushed_seen = ++link->pushed;
    link_bring_forward(link, link->pushed - link->popped - 1);
    object_poke(link->receiver, now);
}
