/* What the threads of a machine tell each other of its cut links. The thread that has run a cluster through a quantum leaves a
 * notice of each cut link that the cluster has pushed to or popped from, and in it the messages. The thread whose clusters are
 * at the other end reads it before it runs them again. So each half of a link is touched on one core alone, and what moves from
 * core to core are mailboxes, whole and one line after the other: a line that both cores use between quanta would move at each
 * message, and what is stored behind such a move has to wait for it. */
#ifndef WW_SIM_MAILBOX_H
#define WW_SIM_MAILBOX_H

#include <stdint.h>

struct Cluster;
struct Link;
struct Sim;

typedef struct {
    struct Link *link;
    uint32_t pushes; /* messages pushed since the last boundary; 0: it is a notice of pops */
    uint32_t words;  /* of all of it */
    /* The halves have rings of their own: when each of these messages is ready, and the messages. They have not: when the
     * first of them is ready. Pops: the messages ever popped. */
    uint64_t values[];
} Notice;

/* What one thread has to tell another of a round. It begins a cache line, so that one that crosses over tells how much there
 * is. */
typedef struct {
    uint64_t round;
    uint32_t count, room; /* words; count: those of notices */
    uint64_t words[];     /* notices, one behind the other  */
} Mailbox;

/* What a thread has to tell each of the others: written in one round, read in the next. */
typedef struct {
    Mailbox **to; /* NULL: there has never been anything */
} Mail;

void mail_new(Mail *mail, uint32_t threads);
void mail_free(Mail *mail, uint32_t threads);
/* Before the clusters of a round: takes what mail_post() will write from those who have read it. */
void mail_claim(const Mail *mail, uint32_t threads);
/* Of a cluster that has been run in this round. Returns when the first message of its notices is ready; NEVER: there is none. */
uint64_t mail_post(const Mail *mail, const struct Sim *sim, const struct Cluster *cluster);
/* At a boundary, what was posted in the round for this thread; of all threads it is asked for first. */
void mail_fetch(const Mail *mail, uint32_t thread);
void mail_read(const Mail *mail, uint64_t round, uint32_t thread, uint64_t boundary);

#endif
