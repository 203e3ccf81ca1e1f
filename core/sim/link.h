/* Links are the only way for objects to meet: bounded FIFOs of fixed-size messages passed by value, with a
 * latency of at least one cycle, a depth and a width (messages per sender cycle). A pop frees its slot for
 * the sender one cycle later. So what happens in a cycle does not depend on the order in which objects are
 * ticked.
 *
 * A link between two clusters (a "cut" link) has a latency of at least one quantum; the two ends then see
 * each other's progress only at quantum boundaries (link_exchange()), so that clusters may run in any order,
 * or on several threads. */
#ifndef WW_SIM_LINK_H
#define WW_SIM_LINK_H

#include "core/sim/queue_audit.h"

/* A set of some of so many links, a bit for each. */
typedef struct {
    uint64_t *members;
    Link **link; /* by the number of its bit */
    uint32_t count, words;
} LinkSet;

/* Cut links that clusters have pushed to, or popped from, since the last boundary. */
typedef struct {
    LinkSet pushed, popped;
} __attribute__((aligned(64))) Exchange;

enum { LINKS_IN_WORD = 64 };

static inline uint64_t link_set_take_word(LinkSet *set, uint32_t word) {
    uint64_t members = set->members[word];
    set->members[word] = 0;
    return members;
}
/* Takes all out of the set: `taken` is each of them. */
#define FOR_LINKS_TAKEN(set, taken)                                                                          \
    for (uint32_t word = 0; word < (set)->words; word++)                                                     \
        for (uint64_t rest = link_set_take_word(set, word);                                                  \
             rest && (taken = ((set)->link + word * LINKS_IN_WORD)[__builtin_ctzll(rest)], true);            \
             rest &= rest - 1)

/* A receiver may have a taker: what it would do with a message in the cycle in which it becomes ready, if that can be
 * known when it is sent and the link is empty. The taker is asked then, and either does it or returns false: the message
 * goes through the link as ever. `port`: what the receiver calls the link. */
typedef bool LinkTaker(SimObject *receiver, uint32_t port, const void *message, uint64_t ready);

/* What a push or a pop within a cluster touches of the link is one line of each half. So the receiver has
 * its own copy of where the messages are: it must not read a line that the sender writes, perhaps on another
 * thread. */
struct Link {
    /* The sender's half. */
    uint64_t pushed;      /* messages ever sent                                                      */
    uint64_t popped_seen; /* pops that the sender knows of; not cut: pops before the last pop's cycle */
    uint64_t last_push;   /* time of the last push                                                   */
    uint64_t latency;     /* ticks                                                                   */
    uint8_t *to_slots;    /* the receiver's, or (to_own) the sender's own                            */
    uint64_t *to_ready;
    uint32_t to_slot_mask, depth;
    uint16_t to_message_bytes, width, pushes_in_cycle;
    uint8_t to_cut : 1, aligned : 1, to_own : 1; /* aligned: the clocks differ    */
    uint8_t push_bit;                            /* cut: its bit of pushed_word                     */

    uint64_t align_to, align_inverse; /* the receiver's clock: its period, and as in Clock */
    SimObject *sender;
    uint64_t *pushed_word;    /* cut: of a set of the exchange of the sender's cluster */
    LinkTaker *taker;         /* or NULL */
    const Link *requests;     /* what its messages answer came on this one; NULL: they are requests */
    uint64_t pushed_before;   /* cut: the boundary */
    uint32_t receiver_thread; /* whose run of clusters the receiver's is in (work_split.h) */
    uint32_t taker_port;

    /* The receiver's half. */
    uint64_t next_ready
        __attribute__((aligned(64))); /* of the first message the receiver may know of; NEVER: none */
    uint64_t popped;                  /* messages ever received                                     */
    uint64_t pushed_seen;             /* pushes that the receiver may know of                       */
    union {
        uint64_t last_pop;     /* not cut: time of the last pop                           */
        uint64_t *popped_word; /* cut: of a set of the exchange of the receiver's cluster */
    };
    SimObject *receiver;
    uint8_t *slots;  /* ring of slot_mask + 1 messages                                 */
    uint64_t *ready; /* ring: first time at which the receiver may see the message     */
    uint32_t slot_mask;
    uint16_t message_bytes;
    uint8_t cut;     /* crosses clusters            */
    uint8_t pop_bit; /* cut: its bit of popped_word */

    uint32_t sender_thread, unused;
    char *name;            /* "sm[0].lsu.mem -> sm[0].l1d.cpu" */
    uint8_t *sender_slots; /* cut, several threads: rings of the sender's own (mailbox.h) */
    uint64_t *sender_ready;
    const Protocol *protocol;
    TakeUntimed *take_untimed; /* of the receiver's class */
#ifdef WW_DEBUG
    LinkAudit audit;
#endif
};

_Static_assert(offsetof(Link, align_to) == 64 && offsetof(Link, sender_thread) == 192,
               "what pushes and pops touch is one line of each half");

/* At a boundary: lets the receivers see what has been pushed, the senders what has been popped. */
void link_exchange(Exchange *exchange, uint64_t boundary);
/* The same of one link, in its two steps: until now so many have been pushed, of which the first that the receiver does not
 * know of is ready then; so many have been popped. */
void link_show_pushes(Link *link, uint64_t pushed, uint64_t first_ready);
void link_show_pops(Link *link, uint64_t popped, uint64_t boundary);

/* Of a cut link, when the first message is ready that has been pushed since the last boundary. */
static inline uint64_t link_first_pushed_ready(const Link *link) {
    return link->to_ready[link->pushed_before & link->to_slot_mask];
}

/* See Class.take_untimed. The link may be NULL. */
static inline bool link_takes_untimed(const Link *link) {
    return link && link->take_untimed;
}
static inline UntimedAnswer link_send_untimed(const Link *link, const void *request) {
    if (!link_takes_untimed(link)) return UNTIMED_MISSES;
    return link->take_untimed(link->receiver, request);
}

/* Is there room for another message, as far as the sender may know at `now`? */
static inline bool link_has_room(const Link *link, uint64_t now) {
    if (link->pushed - link->popped_seen < link->depth) return true;
    return !link->to_cut && link->last_pop != now && link->pushed - link->popped < link->depth;
}

static inline bool link_can_send(const Link *link, uint64_t now) {
    if (link->last_push == now && link->pushes_in_cycle == link->width) return false;
    return link_has_room(link, now);
}

/* How many messages are in it, as far as the sender may know at `now`. */
static inline uint64_t link_occupancy(const Link *link, uint64_t now) {
    uint64_t popped = link->popped_seen;
    if (!link->to_cut) popped = link->last_pop == now ? popped : link->popped;
    return link->pushed - popped;
}

/* link_can_send() without a branch, for links that are mostly full: the host cannot foresee when they have room. */
static inline bool link_can_send_straight(const Link *link, uint64_t now) {
    bool spent = (link->last_push == now) & (link->pushes_in_cycle == link->width);
    return !spent & (link_occupancy(link, now) < link->depth);
}

/* For a sender that found the link full: when to look again. */
static inline uint64_t link_space_time(const Link *link, uint64_t now) {
    if (link->last_push == now && link->pushes_in_cycle == link->width) return now + link->sender->period;
    if (!link->to_cut && link->last_pop == now) return now + link->sender->period;
    return NEVER;
}

/* For a sender that has a message: `soon`, or NEVER while the link is full as far as the sender knows. It is
 * poked then when there is room. Without a branch, which the host could not foresee. */
static inline uint64_t link_send_time(const Link *link, uint64_t soon) {
    uint64_t popped = link->to_cut ? link->popped_seen : link->popped;
    return soon | -(uint64_t)(link->pushed - popped >= link->depth); /* NEVER is all ones */
}

/* The receiver's first edge at `time` or later. */
static inline uint64_t link_edge(const Link *link, uint64_t time) {
    return multiply_high(time + link->align_to - 1, link->align_inverse) * link->align_to;
}

/* The `pushes`-th message of the sender's cycle. */
static inline __attribute__((always_inline)) void *link_push(Link *link, uint64_t now, uint32_t pushes,
                                                             bool known_as_cut) {
    debug_ensure(link_can_send(link, now) && (pushes > 1) == (link->last_push == now));
    debug_ensure(link->to_cut >= known_as_cut);
    link_audit_push(link, now);
    link->pushes_in_cycle = (uint16_t)pushes;
    link->last_push = now;
    uint64_t slot = link->pushed++ & link->to_slot_mask, ready = now + link->latency;
    if (link->aligned) ready = link_edge(link, ready);
    link->to_ready[slot] = ready;
    if (known_as_cut || link->to_cut) {
        *link->pushed_word |= 1ull << link->push_bit;
    } else {
        link->pushed_seen = link->pushed;
        link->next_ready = link->next_ready == NEVER ? ready : link->next_ready;
        object_poke(link->receiver, ready);
    }
    return link->to_slots + slot * link->to_message_bytes;
}

/* For a sender that has just seen that the link can take the message; as link_send(). */
static inline void *link_send_checked(Link *link, uint64_t now) {
    return link_push(link, now, (link->last_push == now ? link->pushes_in_cycle : 0u) + 1, false);
}
/* The same for one that sends once in a cycle at most; and where the link is known to be cut. */
static inline void *link_send_first(Link *link, uint64_t now) {
    return link_push(link, now, 1, false);
}
static inline void *link_send_first_cut(Link *link, uint64_t now) {
    return link_push(link, now, 1, true);
}

/* Returns the slot of the new message for the caller to fill at once. Sending into a full link is a panic. */
static inline void *link_send(Link *link, uint64_t now) {
    ensure(link_can_send(link, now));
    return link_send_checked(link, now);
}

/* From init() of the receiver. Nothing happens where the sender could see that a message does not stand in the link until
 * it is ready: across clusters or clocks, or in a link so small that it may fill. */
void link_set_taker(Link *link, LinkTaker *taker, uint32_t port);
/* For a sender that has just seen that the link can take the message: is there a taker, and has it taken it? */
bool link_offer(Link *link, const void *message, uint64_t now);
static inline bool link_hand_over(Link *link, const void *message, uint64_t now) {
    return link->taker && link_offer(link, message, now);
}

/* When the first message is or becomes ready; NEVER when the link is empty. */
static inline uint64_t link_next_ready(const Link *link) {
    return link->next_ready;
}

/* To be called when the first message has changed. */
static inline void link_update_next_ready(Link *link) {
    link->next_ready = link->popped == link->pushed_seen ? NEVER
                                                         : link->ready[link->popped & link->slot_mask];
}

/* Of a link within a cluster, at the end of a cycle: its messages, from number `popped` up to `pushed`. */
static inline const void *link_message(const Link *link, uint64_t number) {
    return link->slots + (number & link->slot_mask) * link->message_bytes;
}

/* Messages ever sent, and ever received: for checks, by which a component accounts for all of them. */
static inline uint64_t link_sent(const Link *link) {
    return link->pushed;
}
static inline uint64_t link_received(const Link *link) {
    return link->popped;
}
/* The numbers of all messages in it, for link_message(). */
#define FOR_LINK_MESSAGES(link, number)                                                                      \
    for (uint64_t number = link_received(link); number != link_sent(link); number++)

/* Does it cross clusters? */
static inline bool link_is_cut(const Link *link) {
    return link->cut;
}

/* The first message if it is ready, else NULL. Stays valid until link_pop(). */
static inline const void *link_peek(const Link *link, uint64_t now) {
    if (link_next_ready(link) > now) return NULL;
    return link->slots + (link->popped & link->slot_mask) * link->message_bytes;
}

/* For receivers that need not keep the order: message `place` behind the first, and when it is or becomes
 * ready; NEVER when the receiver knows of none. */
static inline const void *link_message_at(const Link *link, uint64_t place) {
    return link->slots + ((link->popped + place) & link->slot_mask) * link->message_bytes;
}
static inline uint64_t link_ready_at(const Link *link, uint64_t place) {
    return place < link->pushed_seen - link->popped ? link->ready[(link->popped + place) & link->slot_mask]
                                                    : NEVER;
}
/* Message `place` becomes the first; those before it keep their order. It is to be popped at once. */
void link_bring_forward(Link *link, uint64_t place);

/* The sender's first edge after a pop in a link within a cluster. Where both go by the same clock, the pop is at one. */
static inline uint64_t link_sender_edge_after(const Link *link, uint64_t pop) {
    debug_ensure(link->aligned || pop % link->sender->period == 0);
    if (!link->aligned) return pop + link->align_to;
    return pop / link->sender->period * link->sender->period + link->sender->period;
}

/* The receiver's end of a link within a cluster, whose sender learns of the pop in the next cycle. Inline in
 * any case, like link_pop(): compilers leave it out of some callers as the rest of the program grows. */
static inline __attribute__((always_inline)) void link_pop_uncut(Link *link, uint64_t now) {
    link->popped_seen = link->last_pop == now ? link->popped_seen : link->popped;
    link->last_pop = now;
    if (link->pushed - link->popped_seen == link->depth) /* the sender may be waiting for space */
        object_poke_counted(link->sender, link_sender_edge_after(link, now));
    uint64_t next = link->ready[++link->popped & link->slot_mask]; /* read even if void: no branch */
    link->next_ready = link->popped == link->pushed_seen ? NEVER : next;
}

static inline void link_pop_cut(Link *link) {
    *link->popped_word |= 1ull << link->pop_bit;
    link->popped++;
    link_update_next_ready(link);
}

static inline __attribute__((always_inline)) void link_pop(Link *link, uint64_t now) {
    debug_ensure(link_next_ready(link) <= now);
    link_audit_pop(link, now);
    if (link->cut)
        link_pop_cut(link);
    else
        link_pop_uncut(link, now);
}

/* The receiver of a link within a cluster takes the first message and keeps count of its place itself: for the sender,
 * the message has left the link at once. */
static inline void link_take_over(Link *link, uint64_t now) {
    debug_ensure(!link->cut && link_next_ready(link) <= now);
    link_audit_pop(link, now);
    link->popped_seen++;
    link->popped++;
    link_update_next_ready(link);
}

/* The inverse, at a boundary: the message stands in the link, ready, before those that are in it. */
void link_put_back(Link *link, const void *message, uint64_t now);

#endif
