/* Which clusters each thread runs in a quantum: always the same, so that they stay in its core's caches, until
 * measured times say that the threads have unequal work. Only the host's time depends on it.
 *
 * The clusters stand in a chain that is cut into one run for each thread. The cluster with the most links to others,
 * a crossbar as a rule, comes first, and behind it the small ones: most messages of its run then stay on one core. */
#ifndef WW_SIM_WORK_SPLIT_H
#define WW_SIM_WORK_SPLIT_H

#include <stdint.h>

struct Sim;
struct Cluster;

typedef struct {
    struct Cluster **chain;
    uint64_t *cost;  /* of each in the chain, in the quanta that were measured, ns */
    uint32_t *begin; /* thread i runs those from begin[i] up to begin[i + 1] of the chain */
} WorkSplit;

/* For as many threads as the machine has; nothing measured yet. */
void work_split_new(struct Sim *sim);
void work_split_free(struct Sim *sim);
/* After measured quanta: cuts the chain anew where that saves a twentieth or more. No mail may be unread. */
void work_split_adjust(struct Sim *sim);
/* Tells the cut links which threads have their ends. */
void work_split_note_threads(const struct Sim *sim);

#endif
