#include "core/gpu/sm/structures/write_backs.h"

#include "core/sim/base/times.h"

#include <string.h>

/* The first cycle after `cycle` in which the bus has a result, if it has any: eight cycles at a time. */
static uint64_t next_result(const OperandCollector *collector, uint64_t cycle) {
    uint64_t at = cycle + 1, eight;
    for (uint32_t i = 0; i <= RESULT_BUS_RING / 8; i++, at = (at / 8 + 1) * 8) {
        memcpy(&eight, collector->result_bus + at / 8 * 8 % RESULT_BUS_RING, sizeof eight);
        eight >>= at % 8 * 8;
        if (eight) return at + (uint64_t)__builtin_ctzll(eight) / 8;
    }
    panic("results are to come, and the result bus has none");
}

uint64_t write_backs_next(const WriteBacks *write_backs, const OperandCollector *collector, uint64_t cycle) {
    uint64_t next = write_backs->laneless ? write_backs->ends[write_backs->first] : UINT64_MAX;
    return write_backs->results ? earlier_of(next, next_result(collector, cycle)) : next;
}
