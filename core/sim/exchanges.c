/* Which cut links stand in which sets of those used in a quantum: with one thread in those of the first exchange, else in
 * those of their ends' clusters. */
#include "core/sim/base/host_memory.h"
#include "core/sim/halves.h"

/* Halves of a link that are on two threads have rings of their own. */
static void choose_rings(Link *link, bool one_thread) {
    link->to_own = !one_thread && link->sender_slots && link->sender_thread != link->receiver_thread;
    link->to_slots = link->to_own ? link->sender_slots : link->slots;
    link->to_ready = link->to_own ? link->sender_ready : link->ready;
}

/* One more link that may stand in the set. Returns the word of its bit. */
static uint64_t *add_to_set(LinkSet *set, Link *link, uint8_t *bit) {
    uint32_t number = set->count++;
    set->link[number] = link;
    set->words = number / LINKS_IN_WORD + 1;
    *bit = number % LINKS_IN_WORD;
    return &set->members[number / LINKS_IN_WORD];
}

void sim_share_exchanges(Sim *sim) {
    bool one = sim->active == 1;
    sim->exchange_count = one ? 1 : sim->cluster_count;
    for (uint32_t i = 0; i < sim->cluster_count; i++) {
        LinkSet *pushed = &sim->exchanges[i].pushed, *popped = &sim->exchanges[i].popped;
        pushed->count = pushed->words = popped->count = popped->words = 0;
    }
    for (uint32_t i = 0; i < sim->link_count; i++) {
        Link *link = sim->links[i];
        choose_rings(link, one);
        if (!link->cut) continue;
        Exchange *of_sender = &sim->exchanges[one ? 0 : link->sender->cluster - sim->clusters];
        Exchange *of_receiver = &sim->exchanges[one ? 0 : link->receiver->cluster - sim->clusters];
        link->pushed_word = add_to_set(&of_sender->pushed, link, &link->push_bit);
        link->popped_word = add_to_set(&of_receiver->popped, link, &link->pop_bit);
    }
}

/* What a cluster's thread marks is on lines of its own. */
static void make_set(LinkSet *set) {
    set->link = zeroed(set->count + 1, sizeof *set->link);
    set->members = zeroed((set->count + LINKS_IN_WORD) / LINKS_IN_WORD, sizeof *set->members);
}

/* One more link that may stand in a set of the cluster of this end; and, once it is joined, in that of the whole object. */
static void count_link(const SimObject *end, size_t set) {
    const SimObject *ends[] = {end, object_whole(end)};
    for (int i = 0; i < 1 + (ends[0] != ends[1]); i++) {
        Exchange *exchange = &end->sim->exchanges[ends[i]->cluster - end->sim->clusters];
        ((LinkSet *)(void *)((char *)exchange + set))->count++;
    }
}

/* Their counts are first those of all cut links that may stand in them. */
void sim_make_exchanges(Sim *sim) {
    sim->exchanges = zeroed(sim->cluster_count, sizeof(Exchange));
    for (uint32_t i = 0; i < sim->link_count; i++) {
        const Link *link = sim->links[i];
        if (!link->cut) continue;
        count_link(link->sender, offsetof(Exchange, pushed));
        count_link(link->receiver, offsetof(Exchange, popped));
    }
    sim->exchanges[0].pushed.count = sim->exchanges[0].popped.count = sim->link_count;
    for (uint32_t i = 0; i < sim->cluster_count; i++) {
        make_set(&sim->exchanges[i].pushed);
        make_set(&sim->exchanges[i].popped);
    }
    sim_share_exchanges(sim);
}
