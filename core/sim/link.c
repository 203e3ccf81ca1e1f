#include "core/sim/sim.h"

#include <stdlib.h>

void link_list_for_exchange(Link *link, Cluster *cluster, uint32_t *listed) {
    if (cluster->exchange_count == cluster->exchange_capacity) {
        cluster->exchange_capacity = cluster->exchange_capacity ? 2 * cluster->exchange_capacity : 16;
        cluster->exchange = realloc(cluster->exchange, cluster->exchange_capacity * sizeof(Link *));
        ensure(cluster->exchange);
    }
    cluster->exchange[cluster->exchange_count++] = link;
    *listed = 1;
}
