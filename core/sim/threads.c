#include "core/sim/threads.h"

#include "core/sim/event.h"

#include <stdlib.h>
#include <string.h>

enum { CACHE_LINE = 64 };

/* --- What a thread runs ---------------------------------------------------------------------------- */

static void read_mail_for(const Sim *sim, uint32_t thread) {
    uint64_t round = sim->unread_round;
    for (uint32_t i = 0; round && i < sim->threads; i++)
        mail_read(&sim->mail[round % 2][i], round, thread, sim->now);
}

static COLD void run_measured(Share *share, Cluster *cluster) {
    uint64_t begun = host_nanoseconds();
    share_run_cluster(share, cluster);
    cluster->measured += host_nanoseconds() - begun;
}

static void run_cluster(Share *share, Cluster *cluster) {
    const Sim *sim = share->sim;
    if (__builtin_expect(sim->measuring, 0))
        run_measured(share, cluster);
    else
        share_run_cluster(share, cluster);
    uint64_t ready = mail_post(&sim->mail[sim->round % 2][share->thread], sim, cluster);
    uint64_t first = earlier_of(cluster_first_due(cluster), ready);
    if (first < share->first_work) share->first_work = first;
}

/* From the end: the messages of a chain's first cluster, which gets most, are on their way meanwhile. */
static void run_clusters(Share *share) {
    const WorkSplit *split = &share->sim->split;
    while (share->position > split->begin[share->run])
        run_cluster(share, split->chain[--share->position]);
}

/* A thread that does not come is one that the system does not run just then: something else is on its core. */
static bool comes_soon(const Sim *sim, uint32_t other) {
    enum { PATIENCE = 2000, LOOKS = 32 }; /* ns */
    uint64_t begun = host_nanoseconds();
    do
        for (uint32_t i = 0; i < LOOKS; i++) {
            if (worker_pool_has_come(sim->pool, other)) return true;
            pause_briefly();
        }
    while (host_nanoseconds() - begun < PATIENCE);
    return false;
}

static void run_for(Share *share, uint32_t other) {
    const Sim *sim = share->sim;
    uint64_t begun = host_nanoseconds();
    share->run = other;
    share->position = sim->split.begin[other + 1];
    read_mail_for(sim, other);
    run_clusters(share);
    share->lost += host_nanoseconds() - begun;
}

/* A thread has the clusters of its run to itself, however long it takes: to move one from core to core and back takes longer
 * than its quantum. The caller has come in any case. */
void threads_run_clusters(Share *share) {
    const Sim *sim = share->sim;
    run_clusters(share); /* its own, or what a user error has left */
    for (uint32_t other = 1; other < sim->threads; other++) {
        if (other == share->thread || worker_pool_has_come(sim->pool, other)) continue;
        if (!comes_soon(sim, other) && worker_pool_replace(sim->pool, other)) run_for(share, other);
    }
}

/* Between the rounds, for what others have written in the last one, and for what is new in this one. */
static void ask(void *context, uint32_t thread) {
    const Sim *sim = context;
    uint64_t round = sim->shares[thread].round;
    __builtin_prefetch(&sim->now);
    for (uint32_t i = 0; i < sim->threads; i++)
        mail_fetch(&sim->mail[round % 2][i], thread);
}

static void work(void *context, uint32_t thread) {
    Sim *sim = context;
    Share *share = &sim->shares[thread];
    mail_claim(&sim->mail[sim->round % 2][thread], sim->threads);
    read_mail_for(sim, thread);
    share->round = sim->round;
    share->first_work = NEVER;
    share_run(sim, thread);
}

/* --- Between quanta -------------------------------------------------------------------------------- */

void threads_run_quantum(Sim *sim) {
    sim->round++;
    uint64_t waited = worker_pool_run(sim->pool);
    sim->unread_round = sim->round;
    thread_choice_note_loss(&sim->thread_choice, waited + sim->shares[0].lost);
    sim->shares[0].lost = 0;
}

void threads_read_mail(Sim *sim) {
    if (!sim->unread_round) return;
    for (uint32_t thread = 0; thread < sim->threads; thread++)
        read_mail_for(sim, thread);
    sim->unread_round = 0;
}

uint64_t threads_first_work(const Sim *sim) {
    uint64_t first = NEVER;
    for (uint32_t i = 0; sim->unread_round && i < sim->threads; i++)
        if (sim->shares[i].round == sim->unread_round && sim->shares[i].first_work < first)
            first = sim->shares[i].first_work;
    return first;
}

void threads_choose(Sim *sim) {
    bool measured = sim->measuring;
    uint32_t active = thread_choice_is_one(&sim->thread_choice) ? 1 : sim->threads;
    bool measures = thread_choice_is_measuring(&sim->thread_choice);
    bool adjusts = measured && !measures;
    if (measures != measured) sim->measuring = measures; /* else all would lose its line */
    if (!adjusts && active == sim->active) return;
    threads_read_mail(sim);
    if (adjusts) work_split_adjust(sim);
    sim->active = active;
    sim_share_exchanges(sim);
}

/* --- Starting and stopping ------------------------------------------------------------------------- */

void sim_set_threads(Sim *sim, uint32_t threads) {
    if (threads < 1 || threads > MAX_THREADS)
        user_error("threads: expected 1 to %d, got %u", MAX_THREADS, threads);
    sim_stop_threads(sim);
    sim->threads = sim->active = threads;
}

void sim_pin_threads(Sim *sim) {
    worker_pool_require_cores(sim->threads);
    sim_stop_threads(sim);
    sim->pins_threads = true;
}

static void free_sender_rings(const Sim *sim) {
    for (uint32_t i = 0; i < sim->link_count; i++) {
        Link *link = sim->links[i];
        link->to_slots = link->slots;
        link->to_ready = link->ready;
        link->to_own = 0;
        free(link->sender_slots);
        free(link->sender_ready);
        link->sender_slots = NULL;
        link->sender_ready = NULL;
    }
}

static void *new_lines(size_t bytes) {
    size_t whole = (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
    void *lines = aligned_alloc(CACHE_LINE, whole);
    ensure_memory(lines);
    return memset(lines, 0, whole); /* what senders leave of a message is in checkpoints */
}

static void new_sender_rings(const Sim *sim) {
    for (uint32_t i = 0; i < sim->link_count; i++) {
        Link *link = sim->links[i];
        size_t slots = link->to_slot_mask + (size_t)1;
        if (!link_is_cut(link)) continue;
        link->sender_slots = new_lines(slots * link->to_message_bytes);
        link->sender_ready = new_lines(slots * sizeof *link->sender_ready);
    }
}

static void free_mail(Sim *sim) {
    for (uint32_t parity = 0; parity < 2; parity++) {
        for (uint32_t i = 0; sim->mail[parity] && i < sim->threads; i++)
            mail_free(&sim->mail[parity][i], sim->threads);
        free(sim->mail[parity]);
        sim->mail[parity] = NULL;
    }
}

static void new_mail(Sim *sim) {
    for (uint32_t parity = 0; parity < 2; parity++) {
        sim->mail[parity] = calloc(sim->threads, sizeof(Mail));
        ensure_memory(sim->mail[parity]);
        for (uint32_t i = 0; i < sim->threads; i++)
            mail_new(&sim->mail[parity][i], sim->threads);
    }
}

void sim_stop_threads(Sim *sim) {
    WorkerPool *pool = sim->pool;
    __atomic_store_n(&sim->pool, NULL, __ATOMIC_SEQ_CST); /* first: sim_signal_threads() may interrupt this */
    worker_pool_free(pool);
    for (uint32_t i = 0; sim->shares && i < sim->threads; i++)
        free(sim->shares[i].fault);
    free(sim->shares);
    sim->shares = NULL;
    free_mail(sim);
    free_sender_rings(sim);
    work_split_free(sim);
}

void sim_signal_threads(Sim *sim, int signal) {
    if (sim->pool) worker_pool_signal(sim->pool, signal);
}

static void new_shares(Sim *sim) {
    sim->shares = aligned_alloc(_Alignof(Share), sim->threads * sizeof(Share));
    ensure_memory(sim->shares);
    for (uint32_t i = 0; i < sim->threads; i++) {
        Share *share = &sim->shares[i];
        memset(share, 0, sizeof *share);
        share->sim = sim;
        share->thread = i;
    }
}

/* The pool comes first: after a user error of its, nothing has begun. */
void threads_start(Sim *sim) {
    if (sim->shares) return;
    if (sim->threads > 1) {
        sim->pool = worker_pool_new(sim->threads, sim->pins_threads, work, sim);
        worker_pool_ask_first(sim->pool, ask);
        new_mail(sim);
        new_sender_rings(sim);
    }
    work_split_new(sim);
    sim_share_exchanges(sim);
    new_shares(sim);
}
