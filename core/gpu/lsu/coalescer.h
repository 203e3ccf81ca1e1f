/* Which memory segments a warp instruction touches, and how shared-memory banks conflict. Pure functions. */
#ifndef WW_GPU_COALESCER_H
#define WW_GPU_COALESCER_H

#include "core/gpu/protocol/protocols.h"

enum {
    COALESCE_LINE = 128,
    MAX_SEGMENTS = WARP_LANES *
                   LANE_TEXELS, /* every texel in one of its own; other accesses take four a lane */
};

typedef struct {
    uint64_t address;      /* of the segment                                 */
    uint64_t byte_mask[2]; /* bytes of its 128 B line that the warp writes; loads may leave it empty */
    uint16_t bytes;        /* 32, 64 or 128                                  */
    uint16_t sectors;      /* as of a MemMessage                             */
    uint32_t lanes;        /* that touch it                                  */
} Segment;

/* Member by member: made as a whole it would be put together elsewhere, and its copy have to wait for that. */
static inline void segment_set(Segment *segment, uint64_t address, uint32_t bytes, uint32_t lanes) {
    segment->address = address;
    segment->byte_mask[0] = segment->byte_mask[1] = 0;
    segment->bytes = (uint16_t)bytes;
    segment->sectors = 0;
    segment->lanes = lanes;
}

/* Coalesces per warp into 128 B lines in the order in which the lanes first touch them, each shrunk to the 64
 * B half or 32 B quarter that holds all touched bytes. With `widest` 64 or 32 the halves or quarters of a
 * line are segments of their own; loads must then bring their addresses. Returns the number of segments. */
uint32_t coalesce(const MemoryOp *op, Segment *segments, uint32_t widest);

/* Of segments that coalesce() has made of the access: names the sectors that the lanes touch where these are not all. */
void name_sectors(const MemoryOp *op, Segment *segments, uint32_t count);

/* Do all accessed bytes lie in one line? Then loads need not look at each lane. */
static inline bool within_line(uint64_t lowest, uint64_t highest, uint32_t bytes) {
    return highest - lowest < COALESCE_LINE &&
           lowest / COALESCE_LINE == (highest + bytes - 1) / COALESCE_LINE;
}

/* Cycles that the banks need for accesses of `bytes` per lane at these addresses: the largest number of
 * different words in one bank. A further lane on the same word keeps its bank for `again` more cycles: 0 where
 * they share it (broadcast). At least 1, at most 128 as long as `again` is at most MAX_SHARED_ATOMIC_CYCLES. */
uint32_t shared_conflict_degree(const uint64_t address[WARP_LANES], uint32_t active, uint32_t bytes,
                                uint32_t banks, uint32_t again) __attribute__((noinline));

enum { MAX_SHARED_ATOMIC_CYCLES = 4 };

enum { TEXTURE_SEGMENT = 32, CONSTANT_SEGMENT = 32 };

/* The different segments that hold these texels, which are aligned to their size, in the order in which they
 * are first read: fills op->lowest, segments and segment. */
void coalesce_texels(const uint64_t *texel, uint32_t count, MemoryOp *op) __attribute__((noinline));

/* Number of different addresses, for the constant cache, which serves one per cycle; they are stored
 * ascending in the order of lanes into `distinct`. */
uint32_t distinct_addresses(const MemoryOp *op, uint64_t distinct[WARP_LANES]);

#endif
