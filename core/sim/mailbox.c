#include "core/sim/mailbox.h"

#include "core/sim/event.h"

#include <stdlib.h>
#include <string.h>

enum {
    CACHE_LINE = 64,
    WORD = sizeof(uint64_t),
    HEADER = sizeof(Notice) / WORD,
    ROOM_AT_FIRST = 254, /* words */
    LINES_OFTEN = 24     /* that a round fills; a box has as many at least */
};

static Mailbox *box_with_room(uint32_t room) {
    size_t bytes = sizeof(Mailbox) + room * sizeof(uint64_t);
    Mailbox *box = aligned_alloc(CACHE_LINE, (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE);
    ensure_memory(box);
    *box = (Mailbox){.room = room};
    return box;
}

void mail_new(Mail *mail, uint32_t threads) {
    mail->to = calloc(threads, sizeof *mail->to);
    ensure_memory(mail->to);
}

void mail_free(Mail *mail, uint32_t threads) {
    for (uint32_t i = 0; i < threads; i++)
        free(mail->to[i]);
    free(mail->to);
}

/* --- Writing --------------------------------------------------------------------------------- */

/* Instead of `box`, where so many more words have no room; NULL: there is none yet. */
static COLD Mailbox *larger(Mailbox *box, uint32_t words) {
    uint32_t used = box ? box->count : 0, room = 2 * (used + words);
    Mailbox *other = box_with_room(room > ROOM_AT_FIRST ? room : ROOM_AT_FIRST);
    if (!box) return other;
    other->round = box->round;
    other->count = box->count;
    memcpy(other->words, box->words, box->count * sizeof *box->words);
    free(box);
    return other;
}

/* Who asks for it before a round may not have left the last one. */
static Mailbox *put_box(const Mail *mail, uint32_t thread, Mailbox *box) {
    __atomic_store_n(&mail->to[thread], box, __ATOMIC_RELAXED);
    return box;
}

/* The caller fills in its values. */
static Notice *new_notice(const Mail *mail, uint32_t thread, uint64_t round, Link *link, uint64_t pushes,
                          uint64_t values) {
    uint32_t words = (uint32_t)(HEADER + values);
    Mailbox *box = mail->to[thread];
    if (!box) box = put_box(mail, thread, larger(NULL, words));
    if (box->round != round) {
        box->round = round;
        box->count = 0;
    }
    if (box->room - box->count < words) box = put_box(mail, thread, larger(box, words));
    Notice *notice = (Notice *)(void *)(box->words + box->count);
    box->count += words;
    *notice = (Notice){.link = link, .pushes = (uint32_t)pushes, .words = words};
    return notice;
}

static uint32_t words_for(uint32_t bytes) {
    return (bytes + WORD - 1) / WORD;
}

static void put_messages(const Link *link, Notice *notice) {
    uint64_t words = words_for(link->to_message_bytes), *message = notice->values + notice->pushes;
    for (uint64_t i = 0; i < notice->pushes; i++, message += words) {
        uint64_t slot = (link->pushed_before + i) & link->to_slot_mask;
        notice->values[i] = link->to_ready[slot];
        memcpy(message, link->to_slots + slot * link->to_message_bytes, link->to_message_bytes);
    }
}

static uint64_t post_push(const Mail *mail, uint64_t round, Link *link) {
    uint64_t pushes = link->pushed - link->pushed_before;
    uint64_t values = link->to_own ? pushes * (1 + words_for(link->to_message_bytes)) : 1;
    Notice *notice = new_notice(mail, link->receiver_thread, round, link, pushes, values);
    if (link->to_own)
        put_messages(link, notice);
    else
        notice->values[0] = link_first_pushed_ready(link);
    link->pushed_before = link->pushed;
    return notice->values[0];
}

static uint64_t post_pushes(const Mail *mail, uint64_t round, LinkSet *pushed) {
    uint64_t first = NEVER;
    Link *link;
    FOR_LINKS_TAKEN(pushed, link)
    first = earlier_of(first, post_push(mail, round, link));
    return first;
}

static void post_pops(const Mail *mail, uint64_t round, LinkSet *popped) {
    Link *link;
    FOR_LINKS_TAKEN(popped, link)
    new_notice(mail, link->sender_thread, round, link, 0, 1)->values[0] = link->popped;
}

uint64_t mail_post(const Mail *mail, const Sim *sim, const Cluster *cluster) {
    Exchange *exchange = &sim->exchanges[cluster - sim->clusters];
    post_pops(mail, sim->round, &exchange->popped);
    return post_pushes(mail, sim->round, &exchange->pushed);
}

/* By a store: a prefetch does not take a line from others that have only read it. */
static inline void own_line(void *line) {
    volatile uint64_t *word = line;
    *word = *word;
}

void mail_claim(const Mail *mail, uint32_t threads) {
    for (uint32_t thread = 0; thread < threads; thread++) {
        Mailbox *box = mail->to[thread];
        if (!box) continue;
        for (char *line = (char *)box, *end = (char *)(box->words + box->count); line < end;
             line += CACHE_LINE)
            own_line(line);
    }
}

/* --- Reading --------------------------------------------------------------------------------- */

void mail_fetch(const Mail *mail, uint32_t thread) {
    const char *box = (const char *)__atomic_load_n(&mail->to[thread], __ATOMIC_RELAXED);
    for (uint32_t i = 0; box && i < LINES_OFTEN; i++)
        __builtin_prefetch(box + i * CACHE_LINE);
}

static void take_messages(Link *link, const Notice *notice) {
    uint64_t words = words_for(link->message_bytes);
    const uint64_t *message = notice->values + notice->pushes;
    for (uint64_t i = 0; i < notice->pushes; i++, message += words) {
        uint64_t slot = (link->pushed_seen + i) & link->slot_mask;
        link->ready[slot] = notice->values[i];
        memcpy(link->slots + slot * link->message_bytes, message, link->message_bytes);
    }
}

static void read_pushes(const Notice *notice) {
    Link *link = notice->link;
    if (notice->words > HEADER + 1) take_messages(link, notice);
    link_show_pushes(link, link->pushed_seen + notice->pushes, notice->values[0]);
}

void mail_read(const Mail *mail, uint64_t round, uint32_t thread, uint64_t boundary) {
    const Mailbox *box = mail->to[thread];
    if (!box || box->round != round) return; /* the thread has not come to work, or has nothing to tell */
    const uint64_t *at = box->words, *end = at + box->count;
    while (at < end) {
        const Notice *notice = (const Notice *)(const void *)at;
        if (notice->pushes)
            read_pushes(notice);
        else
            link_show_pops(notice->link, notice->values[0], boundary);
        at += notice->words;
    }
}
