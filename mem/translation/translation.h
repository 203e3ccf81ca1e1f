/* Address translation: its time alone. What caches and memory see of an address is the address itself; a TLB holds up what
 * touches a page until the page's entry is there, and a PageWalker reads the page table through the memory system.
 *
 * A request for a translation is a MemMessage, so that networks carry it: a MEM_READ with payload MEM_TRANSLATION, whose
 * address is the first one of the page. */
#ifndef WW_MEM_TRANSLATION_H
#define WW_MEM_TRANSLATION_H

#include "mem/protocol/memory_protocol.h"

extern const Class tlb_class;         /* in the way of requests, or shared by others of its kind */
extern const Class page_walker_class; /* where translations come from */

enum {
    VIRTUAL_ADDRESS_BITS = 48, /* of which a page table translates those above the page */
    LEVEL_BITS = 9,            /* that a level of the page table translates: 4 KiB of 8-byte entries */
    TABLE_ENTRY_BYTES = 8,
    TRANSLATION_BYTES =
        32, /* what is read of a table, and what an answer weighs: the least of a memory message */
};

#define PAGE_BYTES_PARAM(T)                                                                                  \
    PARAM(T, page, "64KiB", "bytes",                                                                         \
          "Of a page, the same in a TLB and in all TLBs and PageWalkers behind its walk", .min = 4096,       \
          .max = 1 << 30, .power_of_two = true)

/* How a TLB and a PageWalker begin. */
typedef struct {
    SimObject obj;
    uint64_t page; /* bytes */
} Translator;

/* Something that is kept until others have been used later. */
typedef struct {
    uint64_t key;  /* 0: nothing */
    uint64_t used; /* number of its last use, from 1 on */
} KeptEntry;

/* The one that goes for another. */
static inline KeptEntry *kept_victim(KeptEntry *set, uint32_t ways) {
    KeptEntry *victim = set;
    for (uint32_t way = 1; way < ways; way++)
        if (set[way].used < victim->used) victim = set + way;
    return victim;
}
/* In another number of places, or sets: those that were used last stay. */
static inline void kept_take_over(KeptEntry *set, uint32_t ways, const KeptEntry *entry) {
    KeptEntry *victim = kept_victim(set, ways);
    if (entry->used > victim->used) *victim = *entry;
}

/* From init(): behind this port are TLBs and PageWalkers of this page size, whatever passes the requests on; else a user
 * error. */
void translation_check_behind(const SimObject *object, const Port *walk, uint64_t page_bytes);

/* `asked_for`: the request that needs it. Its way back begins here. */
static inline MemMessage translation_request(const MemMessage *asked_for, uint64_t page_bytes, uint32_t token,
                                             uint64_t now) {
    return (MemMessage){.address = asked_for->address & ~(page_bytes - 1),
                        .issued = now,
                        .token = token,
                        .pc = asked_for->pc,
                        .payload = MEM_TRANSLATION,
                        .cta = asked_for->cta,
                        .bytes = TRANSLATION_BYTES,
                        .sm = asked_for->sm,
                        .warp = asked_for->warp,
                        .kind = MEM_READ,
                        .class_number = asked_for->class_number};
}

#endif
