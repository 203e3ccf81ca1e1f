/* Where an address lives: memory channel, L2 slice, DRAM bank, row and column. One AddressMap object per
 * machine (path "map"); it has no ports and never ticks.
 *
 *   channel = (address / interleave) % channels        rest = the address with the channel taken out
 *   bank, row, column, slice in channel = the bits of `rest` under a mask each, packed to the
 * right
 *
 * With page_size, what is asked for a page first says where all of it lies: in a channel, and in the channel's next frame,
 * which is then `rest`. Requests come by cut links into Crossbars and Routers, which need the channel; so all that a quantum
 * can bring is in these links at the boundary before, and pages are placed there, in an order that is that of no thread: of
 * the times at which the first request for each becomes ready, then of the links.
 *
 * channel_hash adds a hash of `rest` to the channel, modulo channels; bank_hash the lowest row bits to the bank, by
 * exclusive or (Zhang, Zhu, Zhang, MICRO 2000). Both leave `rest` alone, so that different addresses stay different.
 * channel_masks, bank_masks and slice_masks make each bit of these the parity of any address bits, as measurements of GPUs
 * find them; the bits that would stand there without are still taken out, and must follow from what replaces them. */
#ifndef WW_MEM_ADDRESS_MAP_H
#define WW_MEM_ADDRESS_MAP_H

#include "core/sim/sim.h"
#include "mem/protocol/memory_protocol.h"

typedef struct AddressMap AddressMap;

typedef struct {
    uint32_t channel, slice; /* slice: global index, channel * slices_per_channel + slice in channel */
    uint32_t bank, row, column;
} DramLocation;

/* Of a channel. */
typedef struct {
    uint32_t bank, row;
} DramRow;

extern const Class address_map_class;

/* The machine's map; a user error at `user`'s path when the machine has none. */
const AddressMap *address_map_find(const SimObject *user);
uint32_t address_map_slice(const AddressMap *map, uint64_t address);
uint32_t address_map_slices(const AddressMap *map); /* channels * slices_per_channel */
uint32_t address_map_channels(const AddressMap *map);
/* The bit of an address that is bit `bit` of its slice's number, where one bit is and nothing is mixed into it; else 0. */
uint64_t address_map_slice_bit(const AddressMap *map, uint32_t bit);
uint64_t address_map_banks(const AddressMap *map); /* that bank_mask tells apart */
const SimObject *address_map_object(const AddressMap *map);
DramLocation address_map_locate(const AddressMap *map, uint64_t address);
/* Of the same, what a memory controller asks for every request. */
DramRow address_map_row(const AddressMap *map, uint64_t address);
/* The address as its slice sees it: channel and slice bits taken out, so that consecutive lines of a slice
 * have consecutive numbers. For set indexes. */
uint64_t address_map_within_slice(const AddressMap *map, uint64_t address);

/* For address_map_within_slice() alone, of those who get requests before their pages are placed: it is the address. */
extern const AddressMap address_itself;

/* Pages. What is above must not be asked about an address whose page lies nowhere yet: a user error. */
bool address_map_is_placed(const AddressMap *map, uint64_t address); /* true without pages */
bool address_map_has_pages(const AddressMap *map);
/* From init() of a receiver of requests that asks for their slices. */
void address_map_watch(const AddressMap *map, const Link *requests);
/* The same receiver gets a request without timing. */
void address_map_take_untimed(const AddressMap *map, const MemMessage *request);

#endif
