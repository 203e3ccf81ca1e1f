/* A driver of requests, a TLB, what its requests go to, a PageWalker, and what holds its table. All wires take a cycle. */
#ifndef WW_TESTS_TRANSLATION_RIG_H
#define WW_TESTS_TRANSLATION_RIG_H

#include "mem/translation/translation.h"
#include "tests/unit/mem/memory_driver.h"

#include <check.h>

enum { RIG_PAGE = 4096 };

typedef struct {
    Sim *sim;
    SimObject *driver, *tlb, *memory, *walker, *table;
} TranslationRig;

/* NULL: no parameters. `walk_depth`: of the wires between TLB and walker. Elaborated. */
typedef struct {
    const char *tlb, *walker, *memory, *table;
    uint32_t walk_depth;
    TickOrder order;
    uint64_t order_seed;
} RigBench;
/* `rig` has the machine as soon as there is one, also when an error ends the building. */
void translation_rig(TranslationRig *rig, RigBench bench);
void rig_end(TranslationRig *rig); /* runs until nothing is left to do, and checks the books */

static inline MemMessage read_page(uint64_t page, uint32_t line) {
    return read_request(page * RIG_PAGE + line * (uint64_t)LINE_BYTES_MAX, 128);
}
/* Of the requests that came to the memory. */
static inline const LoggedMessage *arrival(const TranslationRig *rig, uint32_t i) {
    const MessageLog *log = memory_responder_arrivals(rig->memory);
    ck_assert_uint_lt(i, log->count);
    return &log->entries[i];
}
static inline const LoggedMessage *table_read(const TranslationRig *rig, uint32_t i) {
    const MessageLog *log = memory_responder_arrivals(rig->table);
    ck_assert_uint_lt(i, log->count);
    return &log->entries[i];
}

#endif
