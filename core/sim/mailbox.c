#include "core/sim/mailbox.h"

#include "core/sim/event.h"

#include <stdlib.h>
#include <string.h>

enum { CACHE_LINE = 64, ROOM_AT_FIRST = 30 };

static Mailbox *box_with_room(uint32_t room) {
    size_t bytes = sizeof(Mailbox) + room * sizeof(Notice);
    Mailbox *box = aligned_alloc(CACHE_LINE, (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE);
    ensure(box);
    *box = (Mailbox){.room = room};
    return box;
}

void mail_new(Mail *mail, uint32_t threads) {
    mail->to = calloc(threads, sizeof *mail->to);
    ensure(mail->to);
}

void mail_free(Mail *mail, uint32_t threads) {
    for (uint32_t i = 0; i < threads; i++)
        free(mail->to[i]);
    free(mail->to);
}

/* Instead of `box`, which is full; NULL: there is none yet. */
static COLD Mailbox *larger(Mailbox *box) {
    Mailbox *other = box_with_room(box ? 2 * box->room : ROOM_AT_FIRST);
    if (!box) return other;
    other->round = box->round;
    other->count = box->count;
    memcpy(other->notices, box->notices, box->count * sizeof(Notice));
    free(box);
    return other;
}

static void put(const Mail *mail, uint32_t thread, uint64_t round, Notice notice) {
    Mailbox *box = mail->to[thread];
    if (!box) box = mail->to[thread] = larger(NULL);
    if (box->round != round) {
        box->round = round;
        box->count = 0;
    }
    if (box->count == box->room) box = mail->to[thread] = larger(box);
    box->notices[box->count++] = notice;
}

static uint64_t post_pushes(const Mail *mail, uint64_t round, LinkList *pushed) {
    uint64_t first = NEVER;
    for (uint32_t i = 0; i < pushed->count; i++) {
        Link *link = pushed->link[i];
        uint64_t ready = link_first_pushed_ready(link);
        put(mail, link->receiver_thread, round, (Notice){link, link->pushed, ready, link_first_pushed(link)});
        first = ready < first ? ready : first;
        link->push_listed = 0;
        link->pushed_before = link->pushed;
    }
    pushed->count = 0;
    return first;
}

static void post_pops(const Mail *mail, uint64_t round, LinkList *popped) {
    for (uint32_t i = 0; i < popped->count; i++) {
        Link *link = popped->link[i];
        put(mail, link->sender_thread, round, (Notice){link, link->popped, NEVER, NULL});
        link->pop_listed = 0;
    }
    popped->count = 0;
}

uint64_t mail_post(const Mail *mail, const Sim *sim, const Cluster *cluster) {
    Exchange *exchange = &sim->exchanges[cluster - sim->clusters];
    post_pops(mail, sim->round, &exchange->popped);
    return post_pushes(mail, sim->round, &exchange->pushed);
}

void mail_fetch(const Mail *mail, uint32_t thread) {
    enum { LINES = 6 }; /* as many notices as there often are */
    const char *box = (const char *)mail->to[thread];
    for (uint32_t i = 0; i < LINES; i++)
        __builtin_prefetch(box + i * CACHE_LINE);
}

void mail_fetch_messages(const Mail *mail, uint64_t round, uint32_t thread) {
    const Mailbox *box = mail->to[thread];
    if (!box || box->round != round) return;
    for (const Notice *n = box->notices; n < box->notices + box->count; n++) {
        __builtin_prefetch(n->message);
        __builtin_prefetch(n->message ? &n->link->next_ready : &n->link->pushed, 1);
    }
}

/* Those behind the first. */
static void fetch_messages(const Link *link, uint64_t first, uint64_t end) {
    for (uint64_t number = first + 1; number < end; number++)
        __builtin_prefetch(link_message(link, number));
    __builtin_prefetch(&link->ready[first & link->slot_mask]);
}

void mail_read(const Mail *mail, uint64_t round, uint32_t thread, uint64_t boundary) {
    const Mailbox *box = mail->to[thread];
    if (!box || box->round != round) return; /* the thread has not come to work, or has nothing to tell */
    for (const Notice *n = box->notices; n < box->notices + box->count; n++) {
        if (!n->message) {
            link_show_pops(n->link, n->count, boundary);
            continue;
        }
        fetch_messages(n->link, n->link->pushed_seen, n->count);
        link_show_pushes(n->link, n->count, n->first_ready);
    }
}
