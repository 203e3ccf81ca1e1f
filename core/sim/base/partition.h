/* A row of items cut into runs of neighbours of about the same cost. */
#ifndef WW_SIM_PARTITION_H
#define WW_SIM_PARTITION_H

#include <stdint.h>

/* What the dearest run costs; run i is from begin[i] up to begin[i + 1]. */
uint64_t partition_cost(const uint64_t *cost, uint32_t runs, const uint32_t *begin);
/* Sets begin[0] to begin[runs] such that the dearest run costs as little as it can. Runs may be empty. */
void partition(const uint64_t *cost, uint32_t count, uint32_t runs, uint32_t *begin);

#endif
