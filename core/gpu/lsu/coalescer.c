#include "core/gpu/lsu/coalescer.h"

#include <string.h>

/* Bytes [first, first + count) of a line as a bit mask; count <= 16. */
static inline void add_bytes(uint64_t mask[2], uint32_t first, uint32_t count) {
    unsigned __int128 bits = (((unsigned __int128)1 << count) - 1) << first;
    mask[0] |= (uint64_t)bits;
    mask[1] |= (uint64_t)(bits >> 64);
}

/* The segment of `line` among those found, made if it is new. Neighbouring lanes mostly share a line or
 * follow each other, so the search goes backwards. */
static inline Segment *segment_of_line(Segment *segments, uint32_t *count, uint64_t line) {
    for (uint32_t i = *count; i-- > 0;)
        if (segments[i].address == line) return &segments[i];
    segments[*count] = (Segment){.address = line, .bytes = COALESCE_LINE};
    return &segments[(*count)++];
}

static void shrink(Segment *segment) {
    uint64_t low = segment->byte_mask[0], high = segment->byte_mask[1];
    if (low && high) return;
    uint64_t half = low ? low : high;
    segment->address += low ? 0 : 64;
    segment->bytes = 64;
    if ((half & 0xffffffffu) && (half >> 32)) return;
    segment->address += (half & 0xffffffffu) ? 0 : 32;
    segment->bytes = 32;
}

enum { LINE_PLACES = 256 };

/* The number of the line's segment, `count` if it is a new one. `places`: hash table of segments + 1, 0 is
 * none. A search would find lines of a warp that has many in as many steps; and the host cannot foresee
 * which lanes share one, so there is no branch but for two lines in one place. */
static inline uint32_t find_line(const Segment *segments, uint32_t count, uint8_t *places, uint64_t line) {
    uint8_t at = (uint8_t)(line / 32 * 0x9e3779b97f4a7c15ull >> 56);
    uint32_t taken = places[at] != 0;
    while (__builtin_expect(taken & (segments[places[at] - taken].address != line), 0))
        taken = places[++at] != 0;
    uint32_t segment = taken ? places[at] - 1u : count;
    places[at] = (uint8_t)(segment + 1);
    return segment;
}

/* Global accesses are aligned to their size, so none crosses a line or its middle. What the lanes add to a
 * segment is gathered until one has another line. */
static uint32_t coalesce_global(const MemoryOp *op, Segment *segments, uint32_t widest) {
    uint64_t accessed = (1ull << op->bytes) - 1, halves[2];
    uint8_t places[LINE_PLACES] = {0};
    uint32_t count = 0;
    for (uint32_t lanes = op->lanes; lanes;) {
        uint64_t address = op->address[__builtin_ctz(lanes)], line = address & ~(uint64_t)(widest - 1);
        uint32_t before = lanes;
        halves[0] = halves[1] = 0;
        do {
            halves[address / 64 % 2] |= accessed << address % 64;
            lanes &= lanes - 1;
            if (!lanes) break;
            address = op->address[__builtin_ctz(lanes)];
        } while ((address & ~(uint64_t)(widest - 1)) == line);
        uint32_t at = find_line(segments, count, places, line);
        uint64_t known = -(uint64_t)(at < count);
        Segment *segment = &segments[at];
        segment->address = line;
        segment->bytes = COALESCE_LINE;
        segment->lanes = (segment->lanes & (uint32_t)known) | (before ^ lanes);
        segment->byte_mask[0] = (segment->byte_mask[0] & known) | halves[0];
        segment->byte_mask[1] = (segment->byte_mask[1] & known) | halves[1];
        count += at == count;
    }
    return count;
}

static bool has_address(const MemoryOp *op, uint32_t lanes, uint64_t address) {
    for (; lanes; lanes &= lanes - 1)
        if (op->address[__builtin_ctz(lanes)] == address) return true;
    return false;
}

/* An atomic unit changes an address once per access: lanes on the same address are accesses of their own. */
static uint32_t coalesce_atomic(const MemoryOp *op, Segment *segments, uint32_t widest) {
    uint32_t count = 0;
    for (uint32_t lanes = op->lanes; lanes; lanes &= lanes - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(lanes), at = 0;
        uint64_t address = op->address[lane], line = address & ~(uint64_t)(widest - 1);
        while (at < count && (segments[at].address != line || has_address(op, segments[at].lanes, address)))
            at++;
        if (at == count) segments[count++] = (Segment){.address = line, .bytes = COALESCE_LINE};
        segments[at].lanes |= 1u << lane;
        add_bytes(segments[at].byte_mask, (uint32_t)(address % COALESCE_LINE), op->bytes);
    }
    return count;
}

/* The words of a local access wider than 4 B are lines apart, those of the lanes side by side. */
static uint32_t coalesce_local(const MemoryOp *op, Segment *segments) {
    uint32_t count = 0, words = op->bytes > 4 ? op->bytes / 4u : 1, bytes = op->bytes > 4 ? 4 : op->bytes;
    for (uint32_t lanes = op->lanes; lanes; lanes &= lanes - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(lanes);
        for (uint32_t word = 0; word < words; word++) {
            uint64_t address = op->address[lane] + word * op->word_stride, offset = address % COALESCE_LINE;
            Segment *segment = segment_of_line(segments, &count, address - offset);
            segment->lanes |= 1u << lane;
            add_bytes(segment->byte_mask, (uint32_t)offset, bytes);
        }
    }
    return count;
}

/* The smallest quarter, half or whole of a line that holds [lowest, end): for accesses within one line. */
static Segment enclosing_segment(const MemoryOp *op) {
    uint64_t last = op->highest + op->bytes - 1;
    uint32_t bytes = 32;
    while (op->lowest / bytes != last / bytes)
        bytes *= 2;
    return (Segment){.address = op->lowest / bytes * bytes, .bytes = bytes, .lanes = op->lanes};
}

static bool is_ascending(const MemoryOp *op) {
    uint64_t differences = 0;
    for (uint32_t i = 0; i < WARP_LANES; i++)
        differences |= op->address[i] ^ (op->lowest + 4 * i);
    return differences == 0;
}

static void add_written_bytes(const MemoryOp *op, Segment *segment) {
    if (op->lanes == ~0u && op->bytes == 4 && op->highest - op->lowest == 124 && is_ascending(op)) {
        segment->byte_mask[0] = segment->byte_mask[1] = ~0ull;
        return;
    }
    for (uint32_t lanes = op->lanes; lanes; lanes &= lanes - 1)
        add_bytes(segment->byte_mask, (uint32_t)(op->address[__builtin_ctz(lanes)] % COALESCE_LINE),
                  op->bytes);
}

/* The common case, all in one line, does not look at each lane unless bytes are written. */
static bool coalesce_within_line(const MemoryOp *op, Segment *segments, uint32_t widest) {
    if (!within_line(op->lowest, op->highest, op->bytes)) return false;
    segments[0] = enclosing_segment(op);
    if (segments[0].bytes > widest) return false;
    if (op->kind != INST_LOAD) add_written_bytes(op, &segments[0]);
    return true;
}

uint32_t coalesce(const MemoryOp *op, Segment *segments, uint32_t widest) {
    bool local = op->space == SPACE_LOCAL, atomic = op->kind == INST_ATOMIC;
    if (!local && !atomic && coalesce_within_line(op, segments, widest)) return 1;
    uint32_t count = local    ? coalesce_local(op, segments)
                     : atomic ? coalesce_atomic(op, segments, widest)
                              : coalesce_global(op, segments, widest);
    for (uint32_t i = 0; i < count; i++) {
        segments[i].address &= ~(uint64_t)(COALESCE_LINE - 1);
        shrink(&segments[i]);
    }
    return count;
}

/* Words wider than a bank are served as so many passes over halves or quarters of the warp; here each 4-byte
 * word counts in its bank, which comes to the same. */
uint32_t shared_conflict_degree(const uint64_t address[WARP_LANES], uint32_t active, uint32_t bytes,
                                uint32_t banks) {
    uint32_t words_seen[WARP_LANES * 4], first_in_bank[64], next[WARP_LANES * 4], in_bank[64];
    uint32_t count = 0, worst = 1, words_per_lane = bytes > 4 ? bytes / 4u : 1;
    uint64_t banks_used = 0;
    for (uint32_t lanes = active; lanes; lanes &= lanes - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(lanes), word = (uint32_t)(address[lane] / 4);
        for (uint32_t k = 0; k < words_per_lane; k++, word++) {
            uint32_t bank = word % banks, seen;
            if (!(banks_used >> bank & 1)) {
                banks_used |= 1ull << bank;
                first_in_bank[bank] = UINT32_MAX;
                in_bank[bank] = 0;
            }
            for (seen = first_in_bank[bank]; seen != UINT32_MAX && words_seen[seen] != word;)
                seen = next[seen];
            if (seen != UINT32_MAX) continue;
            words_seen[count] = word;
            next[count] = first_in_bank[bank];
            first_in_bank[bank] = count++;
            if (++in_bank[bank] > worst) worst = in_bank[bank];
        }
    }
    return worst;
}

void coalesce_texels(const uint64_t *texel, uint32_t count, MemoryOp *op) {
    uint64_t found[WARP_LANES * LANE_TEXELS], lowest = UINT64_MAX;
    uint32_t segments = 0;
    for (uint32_t t = 0; t < count; t++) {
        uint64_t address = texel[t] / TEXTURE_SEGMENT * TEXTURE_SEGMENT;
        uint32_t i = segments;
        while (i > 0 && found[i - 1] != address)
            i--;
        if (i == 0) found[segments++] = address;
        if (address < lowest) lowest = address;
    }
    op->lowest = lowest;
    op->segments = segments;
    for (uint32_t i = 0; i < segments; i++)
        op->segment[i] = (uint32_t)((found[i] - lowest) / TEXTURE_SEGMENT);
}

uint32_t distinct_addresses(const MemoryOp *op, uint64_t distinct[WARP_LANES]) {
    uint32_t count = 0;
    for (uint32_t lanes = op->lanes; lanes; lanes &= lanes - 1) {
        uint64_t address = op->address[__builtin_ctz(lanes)];
        uint32_t i = count;
        while (i > 0 && distinct[i - 1] != address)
            i--;
        if (i == 0) distinct[count++] = address;
    }
    return count;
}
