#include "core/sim/work_split.h"

#include "core/sim/base/partition.h"
#include "core/sim/sim.h"

#include <stdlib.h>
#include <string.h>

static uint32_t *count_cut_links(const Sim *sim) {
    uint32_t *count = calloc(sim->cluster_count, sizeof *count);
    ensure_memory(count);
    for (uint32_t i = 0; i < sim->link_count; i++) {
        const Link *link = sim->links[i];
        if (!link_is_cut(link)) continue;
        count[link->sender->cluster - sim->clusters]++;
        count[link->receiver->cluster - sim->clusters]++;
    }
    return count;
}

static int smaller_first(const void *a, const void *b) {
    const Cluster *one = *(Cluster *const *)a, *other = *(Cluster *const *)b;
    if (one->count != other->count) return one->count < other->count ? -1 : 1;
    return one < other ? -1 : one > other;
}

static void swap(Cluster **a, Cluster **b) {
    Cluster *kept = *a;
    *a = *b;
    *b = kept;
}

static void make_chain(const Sim *sim, Cluster **chain) {
    uint32_t count = sim->cluster_count, most = 0, *links = count_cut_links(sim);
    for (uint32_t i = 0; i < count; i++) {
        chain[i] = &sim->clusters[i];
        most = links[i] > links[most] ? i : most;
    }
    free(links);
    swap(&chain[0], &chain[most]);
    qsort(chain + 1, count - 1, sizeof *chain, smaller_first);
    bool forward = sim->order == ORDER_PATH || sim->order == ORDER_RESTLESS;
    for (uint32_t i = 0; !forward && i < count / 2; i++)
        swap(&chain[i], &chain[count - 1 - i]);
}

void work_split_note_threads(const Sim *sim) {
    const WorkSplit *split = &sim->split;
    uint32_t *thread_of = calloc(sim->cluster_count, sizeof *thread_of);
    ensure_memory(thread_of);
    for (uint32_t thread = 0; thread < sim->threads; thread++)
        for (uint32_t i = split->begin[thread]; i < split->begin[thread + 1]; i++)
            thread_of[split->chain[i] - sim->clusters] = thread;
    for (uint32_t i = 0; i < sim->link_count; i++) {
        Link *link = sim->links[i];
        link->sender_thread = thread_of[link->sender->cluster - sim->clusters];
        link->receiver_thread = thread_of[link->receiver->cluster - sim->clusters];
    }
    free(thread_of);
}

void work_split_new(Sim *sim) {
    WorkSplit *split = &sim->split;
    uint32_t count = sim->cluster_count;
    *split = (WorkSplit){.chain = calloc(count, sizeof *split->chain),
                         .cost = calloc(count, sizeof *split->cost),
                         .begin = calloc(sim->threads + 1, sizeof *split->begin)};
    ensure_memory(split->chain && split->cost && split->begin);
    make_chain(sim, split->chain);
    for (uint32_t i = 0; i < count; i++)
        split->cost[i] = split->chain[i]->count; /* until something has been measured */
    partition(split->cost, count, sim->threads, split->begin);
    work_split_note_threads(sim);
}

void work_split_free(Sim *sim) {
    free(sim->split.chain);
    free(sim->split.cost);
    free(sim->split.begin);
    sim->split = (WorkSplit){0};
}

void work_split_adjust(Sim *sim) {
    WorkSplit *split = &sim->split;
    uint32_t better[MAX_THREADS + 1];
    for (uint32_t i = 0; i < sim->cluster_count; i++) {
        split->cost[i] = split->chain[i]->measured;
        split->chain[i]->measured = 0;
    }
    partition(split->cost, sim->cluster_count, sim->threads, better);
    uint64_t now = partition_cost(split->cost, sim->threads, split->begin);
    if (partition_cost(split->cost, sim->threads, better) >= now - now / 20) return;
    memcpy(split->begin, better, (sim->threads + 1) * sizeof *better);
    work_split_note_threads(sim);
}
