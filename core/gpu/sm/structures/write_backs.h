/* Which instructions in flight write back in which cycle. Results come by the result bus: the operand collector
 * knows how many in each cycle, and here stands whose they are. A memory instruction without a lane that executes
 * has no result; it ends behind its collector, and these follow each other in the order of issue. */
#ifndef WW_GPU_WRITE_BACKS_H
#define WW_GPU_WRITE_BACKS_H

#include "core/gpu/sm/structures/operand_collector.h"
#include "core/gpu/sm/structures/warp_set.h"
#include "core/sim/base/error.h"

enum {
    LANELESS = 32,                /* more than latches and collectors hold, and stages behind them */
    WRITER_INSTS = 1 << (32 - 6), /* of a kernel at most */
};

_Static_assert(MAX_WARPS == 1 << 6, "a Writer's lower bits");
_Static_assert(LANELESS > MAX_COLLECTORS + MAX_ISSUE_LATCHES + 4, "room for all");

/* Index of an instruction in the kernel, and below it the warp whose it is. */
typedef uint32_t Writer;

static inline Writer writer_of(uint32_t inst, uint32_t warp) {
    return inst * MAX_WARPS | warp;
}
static inline uint32_t writer_warp(Writer writer) {
    return writer % MAX_WARPS;
}
static inline uint32_t writer_inst(Writer writer) {
    return writer / MAX_WARPS;
}

/* All zero is an empty one. Plain data. */
typedef struct {
    uint32_t results;         /* to come                                     */
    uint32_t first, laneless; /* of the ring below: the next one, how many   */
    Writer without_lane[LANELESS];
    uint32_t pad;
    uint64_t ends[LANELESS]; /* in which cycle */
    /* By cycle % RESULT_BUS_RING, so many for each as the bus has; in the order of issue. */
    Writer result[RESULT_BUS_RING * MAX_RESULT_BUS];
} WriteBacks;

/* Of the instruction for which collector_issue() has just returned this cycle. */
static inline void write_backs_add(WriteBacks *write_backs, const OperandCollector *collector,
                                   const CollectorShape *shape, uint64_t cycle, Writer writer) {
    uint64_t slot = cycle % RESULT_BUS_RING;
    write_backs->result[slot * shape->result_bus_width + collector->result_bus[slot] - 1] = writer;
    write_backs->results++;
}

static inline void write_backs_add_laneless(WriteBacks *write_backs, uint64_t cycle, Writer writer) {
    uint32_t at = (write_backs->first + write_backs->laneless++) % LANELESS;
    ensure(write_backs->laneless <= LANELESS);
    write_backs->without_lane[at] = writer;
    write_backs->ends[at] = cycle;
}

/* How many results there are in this cycle; gives the bus free. write_backs_take() gives all of them. */
static inline uint32_t write_backs_begin(WriteBacks *write_backs, OperandCollector *collector,
                                         uint64_t cycle) {
    uint32_t count = collector->result_bus[cycle % RESULT_BUS_RING];
    if (!count) return 0;
    collector->result_bus[cycle % RESULT_BUS_RING] = 0;
    write_backs->results -= count;
    return count;
}

/* Result `which` of this cycle. Its place becomes zero: checkpoints compress it. */
static inline Writer write_backs_take(WriteBacks *write_backs, const CollectorShape *shape, uint64_t cycle,
                                      uint32_t which) {
    Writer *at = &write_backs->result[cycle % RESULT_BUS_RING * shape->result_bus_width + which],
           writer = *at;
    *at = 0;
    return writer;
}

/* The next instruction without a lane that ends in this cycle; false after the last. */
static inline bool write_backs_take_laneless(WriteBacks *write_backs, uint64_t cycle, Writer *writer) {
    if (!write_backs->laneless || write_backs->ends[write_backs->first] > cycle) return false;
    *writer = write_backs->without_lane[write_backs->first];
    write_backs->first = (write_backs->first + 1) % LANELESS;
    write_backs->laneless--;
    return true;
}

/* The first cycle after `cycle` in which something writes back; UINT64_MAX: none. */
uint64_t write_backs_next(const WriteBacks *write_backs, const OperandCollector *collector, uint64_t cycle);

#endif
