/* The caches as the rest of the machine knows them. */
#ifndef WW_MEM_CACHES_H
#define WW_MEM_CACHES_H

#include "mem/protocol/address_map.h"
#include "mem/protocol/memory_protocol.h"

/* A part that serves every SM that uses a cache, not one of them. */
#define ANY_SM 65535

extern const Class l1_class, l2_class;

/* Forgets everything in an L1, between quanta. Dirty lines are dropped, not written back: they are local
 * memory, which dies with its threads, so call it when no thread of the SM is alive. Lines in flight still
 * come. */
void l1_invalidate(SimObject *l1);
/* Whether its lines stay valid when a kernel begins: its parameter keeps_lines. */
bool l1_keeps_lines(const SimObject *l1);
/* Reads that hit, ahead of time. Who alone sends requests to an L1, by a link within their cluster, may keep a read itself
 * from the cycle before it would be sent until it would be answered, if l1_hit_ahead() says that it will hit. What the
 * cache counts of it is then the owner's to say. */
typedef struct {
    SimObject *object;
    void (*settle)(SimObject *object, uint64_t now); /* says what has been so before `now` */
    void (*put_back)(SimObject *object); /* at a boundary: all it keeps goes to where it would stand */
} HitsAhead;
/* From init() of the owner. Returns the ticks from accepting a request to the tags. */
uint64_t l1_let_hits_ahead(SimObject *l1, const HitsAhead *owner);
/* Nothing is in the cache or on its way to it, and it holds the bytes: they are used by a read now. */
bool l1_hit_ahead(SimObject *l1, uint64_t address, uint32_t bytes);
/* So many have been accepted, so many looked up. */
void l1_count_ahead(SimObject *l1, uint32_t accepted, uint32_t hits);
/* One that was accepted goes into the pipeline; the answer of one that has hit into the link. */
void l1_put_back_request(SimObject *l1, const MemMessage *m, uint64_t at_tags);
void l1_put_back_answer(SimObject *l1, const MemMessage *m, uint64_t sent);

/* Does any of them fetch parts of its lines alone? Then requests name what they are about. */
bool l1s_have_sectors(const Sim *sim);

/* For address_map_within_slice(): which set of the slice an address has. From init() on. */
const AddressMap *l2_set_map(const SimObject *l2);
/* Whether copies from the host leave their lines in this slice: its parameter host_copies. */
bool l2_keeps_host_copies(const SimObject *l2);

/* Requests for this slice of the address map come to it; until the first call those for all do. */
void l2_gets_slice(SimObject *l2, uint32_t slice);
/* The same of an L1, which may be a bank behind a network. */
void l1_gets_slice(SimObject *l1, const AddressMap *map, uint32_t slice);
/* Once it is known which do: bits of an address that are the same in all of them choose no set. */
void l1_slices_known(SimObject *l1);
/* Do requests for the address come to it? Behind a network none do for one whose page lies nowhere yet. */
bool l2_gets(const SimObject *l2, uint64_t address);
/* From now on this slice passes atomics on towards memory, and forgets their lines: others get requests for its
 * addresses, too. */
void l2_pass_atomics_on(SimObject *l2);

/* Requests without timing that have come to it since the last l2_forget_untimed(). */
uint64_t l2_untimed_requests(const SimObject *l2);
void l2_forget_untimed(SimObject *l2);

/* Puts the line of `address`, which must belong to this slice, into L2 as a clean one, between quanta: the
 * effect of a copy from the host. What it replaces is dropped. Nothing happens when every way of the set is
 * reserved. */
void l2_warm(SimObject *l2, uint64_t address);
/* l2_warm() of all lines of a range, line by line, each in those of the slices that get it. */
void l2_warm_range(SimObject *const *l2s, uint32_t count, uint64_t address, uint64_t bytes);

/* From init() of a part, whose parameter `cache` the name is: the L1 that the part belongs to; else the L1 of
 * this name that belongs to the same object as the part; else that of this path. It is of the part's cluster. A
 * user error without one. */
SimObject *l1_of_part(const SimObject *part, const char *name);

/* The warp of the access at the head of an L1's re-execution queue at the end of this cycle, or
 * NO_WARP_WAITS. */
#define NO_WARP_WAITS UINT32_MAX
uint32_t l1_reexecution_head(const SimObject *l1);
/* The link by which an L1 passes on what comes by `requests`, with the route that it has: a DMA engine's. NULL: it
 * answers that itself. */
const Link *l1_onward(const SimObject *l1, const Link *requests);
/* Is it nearly full of misses? See saturation.h. */
bool l1_is_saturated(const SimObject *l1);
/* A request that it has passed on, as it came: by the token, with BYPASSED_TOKEN, of the answer to it. */
const MemMessage *l1_bypassed(const SimObject *l1, uint32_t token);
/* Has it accesses of the warp that it has not taken, in front of the tags or in the re-execution queue? */
bool l1_holds(SimObject *l1, uint32_t sm, uint32_t warp);
/* The requests between its link and its tags, in their order; what has been put aside is not among them. */
void l1_visit_arriving(const SimObject *l1, RequestVisitor *visit, void *context);

/* For policies, of both classes: how many places below the most recently used the lines of a class enter, and
 * which classes are kept when a line of a class with less can be replaced. Both 0 for all classes at first.
 */
void cache_set_depth(SimObject *cache, uint32_t class_number, uint32_t depth);
void cache_set_keep(SimObject *cache, uint32_t class_number, uint32_t keep);

#endif
