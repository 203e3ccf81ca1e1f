/* Bytes of a line that are written, and the sectors that they make complete. */
#ifndef WW_MEM_LINE_BYTES_H
#define WW_MEM_LINE_BYTES_H

#include "mem/cache/cache.h"

static inline ByteMask byte_range(uint32_t first, uint32_t count) {
    ByteMask low = count == LINE_BYTES_MAX ? ~(ByteMask)0 : ((ByteMask)1 << count) - 1;
    return low << first;
}

static inline ByteMask bytes_written_by(const MemMessage *m) {
    return (ByteMask)m->byte_mask[1] << 64 | m->byte_mask[0];
}

static inline ByteMask bytes_of_sectors(const TagShape *shape, uint64_t line_address, uint32_t sectors) {
    uint32_t line_offset = (uint32_t)line_address & (LINE_BYTES_MAX - 1);
    if (sectors == shape->all_sectors) return byte_range(line_offset, shape->line_bytes);
    ByteMask bytes = 0;
    for (; sectors; sectors &= sectors - 1)
        bytes |= byte_range(line_offset + ((uint32_t)__builtin_ctz(sectors) << shape->sector_shift),
                            1u << shape->sector_shift);
    return bytes;
}

/* Those that the request is about. */
static inline ByteMask bytes_meant_by(const MemMessage *m) {
    ByteMask bytes = 0;
    if (!m->sectors) return byte_range((uint32_t)m->address & (LINE_BYTES_MAX - 1), m->bytes);
    for (uint32_t sectors = m->sectors; sectors; sectors &= sectors - 1)
        bytes |= byte_range((uint32_t)__builtin_ctz(sectors) * SECTOR_BYTES, SECTOR_BYTES);
    return bytes;
}

/* Those of `sectors` of which all bytes are in `bytes`. */
static inline uint32_t complete_sectors(const TagShape *shape, uint64_t line_address, uint32_t sectors,
                                        ByteMask bytes) {
    uint32_t complete = 0;
    for (; sectors; sectors &= sectors - 1) {
        uint32_t sector = sectors & -sectors;
        if ((bytes_of_sectors(shape, line_address, sector) & ~bytes) == 0) complete |= sector;
    }
    return complete;
}

#endif
