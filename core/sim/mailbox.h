/* What the threads of a machine tell each other of its cut links. The thread that has run a cluster through a quantum leaves a
 * notice of each cut link that the cluster has pushed to or popped from. The thread whose clusters are at the other end reads
 * it before it runs them again. So each half of a link is touched on one core alone, and what moves from core to core is a
 * notice and the messages. */
#ifndef WW_SIM_MAILBOX_H
#define WW_SIM_MAILBOX_H

#include <stdint.h>

struct Cluster;
struct Link;
struct Sim;

typedef struct {
    struct Link *link;
    uint64_t count;       /* messages ever pushed, or ever popped */
    uint64_t first_ready; /* when the first is ready that was pushed since the last boundary; NEVER: popped */
    const void *message;  /* that one */
} Notice;

/* What one thread has to tell another of a round. It begins a cache line, so that one that crosses over tells how much there
 * is. */
typedef struct {
    uint64_t round;
    uint32_t count, room;
    Notice notices[];
} Mailbox;

/* What a thread has to tell each of the others: written in one round, read in the next. */
typedef struct {
    Mailbox **to; /* NULL: there has never been anything */
} Mail;

void mail_new(Mail *mail, uint32_t threads);
void mail_free(Mail *mail, uint32_t threads);
/* Of a cluster that has been run in this round. Returns when the first message of its notices is ready; NEVER: there is none. */
uint64_t mail_post(const Mail *mail, const struct Sim *sim, const struct Cluster *cluster);
/* At a boundary, what was posted in the round for this thread. First, of all threads, it is asked for, and then what it
 * touches, the messages among it: one after the other, these lines would take as long to come from another core as the
 * clusters' work takes. */
void mail_fetch(const Mail *mail, uint32_t thread);
void mail_fetch_messages(const Mail *mail, uint64_t round, uint32_t thread);
void mail_read(const Mail *mail, uint64_t round, uint32_t thread, uint64_t boundary);

#endif
