#include "core/gpu/lsu/coalescer.h"

#include "core/sim/event.h"
#include "mem/protocol/memory_protocol.h"

#include <string.h>

#ifdef __AVX2__
#include <immintrin.h>
#endif

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

static bool is_ascending(const MemoryOp *op) {
    uint64_t differences = 0;
    for (uint32_t i = 0; i < WARP_LANES; i++)
        differences |= op->address[i] ^ (op->lowest + 4 * i);
    return differences == 0;
}

static void add_written_bytes(const MemoryOp *op, Segment *segment) {
    if (segment->lanes == ~0u && op->bytes == 4 && op->highest - op->lowest == 124 && is_ascending(op)) {
        segment->byte_mask[0] = segment->byte_mask[1] = ~0ull;
        return;
    }
    for (uint32_t lanes = segment->lanes; lanes; lanes &= lanes - 1)
        add_bytes(segment->byte_mask, (uint32_t)(op->address[__builtin_ctz(lanes)] % COALESCE_LINE),
                  op->bytes);
}

/* A number of each lane. */
typedef uint32_t LaneNumbers[WARP_LANES] __attribute__((aligned(32)));

/* The lanes whose number is the wanted one, and those whose number has a bit. */
#ifdef __AVX2__
static inline uint32_t signs_of_eight(__m256i eight) {
    return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(eight));
}

static inline uint32_t lanes_with_number(const LaneNumbers number, uint32_t wanted) {
    __m256i all = _mm256_set1_epi32((int)wanted);
    uint32_t lanes = 0;
    for (int lane = 0; lane < WARP_LANES; lane += 8) {
        __m256i eight = _mm256_load_si256((const __m256i *)(const void *)(number + lane));
        lanes |= signs_of_eight(_mm256_cmpeq_epi32(eight, all)) << lane;
    }
    return lanes;
}

static inline uint32_t lanes_with_bit(const LaneNumbers number, int bit) {
    uint32_t lanes = 0;
    for (int lane = 0; lane < WARP_LANES; lane += 8) {
        __m256i eight = _mm256_load_si256((const __m256i *)(const void *)(number + lane));
        lanes |= signs_of_eight(_mm256_slli_epi32(eight, 31 - bit)) << lane;
    }
    return lanes;
}
#else
static inline uint32_t lanes_with_number(const LaneNumbers number, uint32_t wanted) {
    uint32_t lanes = 0;
    for (int lane = 0; lane < WARP_LANES; lane++)
        lanes |= (uint32_t)(number[lane] == wanted) << lane;
    return lanes;
}

static inline uint32_t lanes_with_bit(const LaneNumbers number, int bit) {
    uint32_t lanes = 0;
    for (int lane = 0; lane < WARP_LANES; lane++)
        lanes |= (number[lane] >> bit & 1) << lane;
    return lanes;
}
#endif

/* Numbers of quarters of lines tell lanes apart that are not farther from each other than this. */
enum { QUARTER = COALESCE_LINE / 4, NEAR_BITS = 32 + 5 };
_Static_assert(1ull << NEAR_BITS == QUARTER * (1ull << 32), "a number has 32 bits");

/* Those whose address has the same bits from `bit` on. */
static COLD uint32_t lanes_near(const MemoryOp *op, uint64_t address, int bit) {
    uint32_t lanes = 0;
    for (int lane = 0; lane < WARP_LANES; lane++)
        lanes |= (uint32_t)((op->address[lane] ^ address) >> bit == 0) << lane;
    return lanes;
}

/* Makes the segment the smallest quarter, half or whole of a line that holds what these lanes access; `upper`: the lanes
 * in the upper half of their line, `odd`: those in the second or last quarter. Without branches, which the host could not
 * foresee. */
static inline void enclose_lanes(Segment *segment, uint64_t line, uint32_t lanes, uint32_t upper,
                                 uint32_t odd) {
    uint32_t has_upper = (lanes & upper) != 0, has_odd = (lanes & odd) != 0;
    uint32_t whole = has_upper & ((lanes & ~upper) != 0), half = has_odd & ((lanes & ~odd) != 0);
    uint32_t bytes = (uint32_t)QUARTER << (2 * whole | (half & ~whole));
    uint32_t first = has_upper * (COALESCE_LINE / 2) + has_odd * (COALESCE_LINE / 4);
    segment_set(segment, line + (first & -bytes), bytes, lanes);
}

/* The lanes of a global access, by quarters of lines and by what its segments lie in. */
typedef struct {
    LaneNumbers quarter, line;
    uint32_t upper, odd;
    bool is_far; /* the numbers do not tell all lanes apart */
} LaneLines;

static inline void find_lines(const MemoryOp *op, uint32_t widest, LaneLines *of) {
    uint32_t above = ~(widest / QUARTER - 1);
    uint64_t first = op->address[0], differences = 0;
    for (int lane = 0; lane < WARP_LANES; lane++) {
        of->quarter[lane] = (uint32_t)(op->address[lane] / QUARTER);
        of->line[lane] = of->quarter[lane] & above;
        differences |= op->address[lane] ^ first;
    }
    of->upper = lanes_with_bit(of->quarter, 1);
    of->odd = lanes_with_bit(of->quarter, 0);
    of->is_far = differences >> NEAR_BITS != 0;
}

/* The segment of `lane`, with those of `left` that share it; returns these. */
static inline uint32_t make_segment(const MemoryOp *op, const LaneLines *of, int lane, uint32_t left,
                                    Segment *segment) {
    uint64_t address = op->address[lane];
    uint32_t lanes = lanes_with_number(of->line, of->line[lane]) & left;
    if (__builtin_expect(of->is_far, 0)) lanes &= lanes_near(op, address, NEAR_BITS);
    enclose_lanes(segment, address & ~(uint64_t)(COALESCE_LINE - 1), lanes, of->upper, of->odd);
    return lanes;
}

/* Global accesses are aligned to their size, so none crosses a line or a quarter of it. All lanes on a line are found at
 * once: the host cannot foresee which lanes share one. Nor need it wait to learn which are left before it looks for those
 * of the second one of them, where that is on another line. */
static uint32_t coalesce_global(const MemoryOp *op, Segment *segments, uint32_t widest) {
    LaneLines of;
    Segment *next = segments;
    find_lines(op, widest, &of);
    for (uint32_t left = op->lanes, lanes; left; left ^= lanes) {
        uint32_t behind = left & (left - 1);
        int lane = __builtin_ctz(left), second = __builtin_ctz(behind | 1u << 31);
        lanes = make_segment(op, &of, lane, left, next++);
        if (behind & ~lanes & 1u << second) lanes |= make_segment(op, &of, second, left, next++);
    }
    if (op->kind != INST_LOAD)
        for (Segment *s = segments; s < next; s++)
            add_written_bytes(op, s);
    return (uint32_t)(next - segments);
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

/* Four times each of the lower 16 bits. */
static inline uint64_t four_of_each(uint32_t bits) {
    uint64_t spread = bits & 0xffff;
    spread = (spread | spread << 24) & 0x000000ff000000ffull;
    spread = (spread | spread << 12) & 0x000f000f000f000full;
    spread = (spread | spread << 6) & 0x0303030303030303ull;
    spread = (spread | spread << 3) & 0x1111111111111111ull;
    return 15 * spread;
}

static bool on_one_line(const MemoryOp *op) {
    uint64_t differences = 0;
    for (int lane = 0; lane < WARP_LANES; lane++)
        differences |= op->address[lane] ^ op->address[0];
    return differences < COALESCE_LINE;
}

/* All lanes access the same words of their local memory, as they mostly do: each word is a line, in which each lane has
 * its four bytes. */
static inline uint32_t coalesce_local_alike(const MemoryOp *op, uint64_t first, Segment *segments) {
    uint64_t line = first / COALESCE_LINE * COALESCE_LINE;
    uint32_t words = op->bytes / 4u;
    bool all = op->lanes == ~0u;
    uint64_t low = all ? UINT64_MAX : four_of_each(op->lanes);
    uint64_t high = all ? UINT64_MAX : four_of_each(op->lanes >> 16);
    for (uint32_t word = 0; word < words; word++) {
        segment_set(&segments[word], line + word * op->word_stride, COALESCE_LINE, op->lanes);
        segments[word].byte_mask[0] = low;
        segments[word].byte_mask[1] = high;
        if (!all) shrink(&segments[word]);
    }
    return words;
}

/* The words of a local access wider than 4 B are lines apart, those of the lanes side by side. */
static uint32_t coalesce_local(const MemoryOp *op, Segment *segments) {
    if (op->bytes >= 4 && on_one_line(op)) return coalesce_local_alike(op, op->address[0], segments);
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

/* Bytes of the smallest quarter, half or whole of a line that holds [lowest, end): for accesses within one line. */
static inline uint32_t enclosing_bytes(const MemoryOp *op) {
    uint64_t differences = op->lowest ^ (op->highest + op->bytes - 1);
    return differences < QUARTER             ? QUARTER
           : differences < COALESCE_LINE / 2 ? COALESCE_LINE / 2
                                             : COALESCE_LINE;
}

/* The common case, all in one line, does not look at each lane unless bytes are written. */
static inline bool coalesce_within_line(const MemoryOp *op, Segment *segment, uint32_t widest) {
    if (!within_line(op->lowest, op->highest, op->bytes)) return false;
    uint32_t bytes = enclosing_bytes(op);
    if (bytes > widest) return false;
    segment_set(segment, op->lowest & -(uint64_t)bytes, bytes, op->lanes);
    if (op->kind != INST_LOAD) add_written_bytes(op, segment);
    return true;
}

/* Apart, so that the common cases need not save the host's registers. */
static __attribute__((noinline)) uint32_t coalesce_by_lane(const MemoryOp *op, Segment *segments,
                                                           uint32_t widest) {
    uint32_t count = op->space == SPACE_LOCAL ? coalesce_local(op, segments)
                                              : coalesce_atomic(op, segments, widest);
    for (uint32_t i = 0; i < count; i++) {
        segments[i].address &= ~(uint64_t)(COALESCE_LINE - 1);
        shrink(&segments[i]);
    }
    return count;
}

uint32_t coalesce(const MemoryOp *op, Segment *segments, uint32_t widest) {
    bool is_local = op->space == SPACE_LOCAL;
    if (is_local && op->lowest == op->highest) return coalesce_local_alike(op, op->lowest, segments);
    if (is_local || op->kind == INST_ATOMIC) return coalesce_by_lane(op, segments, widest);
    return coalesce_within_line(op, segments, widest) ? 1 : coalesce_global(op, segments, widest);
}

static uint32_t touched_sectors(const MemoryOp *op, const Segment *segment) {
    uint32_t sectors = mem_sectors_of_bytes(segment->byte_mask);
    if (sectors || !op->has_addresses) return sectors;
    for (uint32_t lanes = segment->lanes; lanes; lanes &= lanes - 1)
        sectors |= mem_sectors_between(op->address[__builtin_ctz(lanes)], op->bytes);
    return sectors;
}

void name_sectors(const MemoryOp *op, Segment *segments, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        uint32_t sectors = touched_sectors(op, &segments[i]);
        bool all = sectors == mem_sectors_between(segments[i].address, segments[i].bytes);
        segments[i].sectors = (uint16_t)(all ? 0 : sectors);
    }
}

/* Words wider than a bank are served as so many passes over halves or quarters of the warp; here each 4-byte
 * word counts in its bank, which comes to the same. */
uint32_t shared_conflict_degree(const uint64_t address[WARP_LANES], uint32_t active, uint32_t bytes,
                                uint32_t banks, uint32_t again) {
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
            if (seen != UINT32_MAX) {
                in_bank[bank] += k == 0 ? again : 0;
            } else {
                words_seen[count] = word;
                next[count] = first_in_bank[bank];
                first_in_bank[bank] = count++;
                in_bank[bank]++;
            }
            if (in_bank[bank] > worst) worst = in_bank[bank];
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
    LaneNumbers low;
    uint64_t first = op->address[0], differences = 0;
    uint32_t count = 0;
    for (int lane = 0; lane < WARP_LANES; lane++) {
        low[lane] = (uint32_t)op->address[lane];
        differences |= op->address[lane] ^ first;
    }
    for (uint32_t left = op->lanes, lanes; left; left ^= lanes) {
        uint64_t address = op->address[__builtin_ctz(left)];
        lanes = lanes_with_number(low, (uint32_t)address) & left;
        if (__builtin_expect(differences >> 32 != 0, 0)) lanes &= lanes_near(op, address, 32);
        distinct[count++] = address;
    }
    return count;
}
