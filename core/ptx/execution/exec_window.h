/* Reads of shared memory in which each lane takes one 32-bit word. Kernels nearly always read a few
 * neighbouring words, broadcast or in some order: a row for each half of the warp, say. A window of 32 words
 * holds them then, and the host's permutations bring them to their lanes without a look at each lane. */
#ifndef WW_PTX_EXEC_WINDOW_H
#define WW_PTX_EXEC_WINDOW_H

#include "core/ptx/execution/exec_address.h"
#include "core/sim/base/error.h"

#ifdef __AVX2__
#include <immintrin.h>
#endif

/* From `lane` on, those that are active. */
static inline void write_eight(EightLanes *to, const EightLanes *from, uint32_t active, int lane) {
    EightLanes bits = {1, 2, 4, 8, 16, 32, 64, 128}, chosen = (EightLanes)((bits & active >> lane) != 0);
    if (active == ALL_LANES)
        *to = *from;
    else
        *to = (*from & chosen) | (*to & ~chosen);
}
static inline void write_four(FourLanes *to, const FourLanes *from, uint32_t active, int lane) {
    FourLanes bits = {1, 2, 4, 8}, chosen = (FourLanes)((bits & (uint64_t)(active >> lane)) != 0);
    if (active == ALL_LANES)
        *to = *from;
    else
        *to = (*from & chosen) | (*to & ~chosen);
}

/* Of fewer it is quicker to look at each. */
enum { MANY_LANES = 16 };

/* What `load` finds at the places of these lanes; place(i): of the i-th. */
#define EIGHT_LANES(load, place)                                                                             \
    {                                                                                                        \
        (uint32_t) load(place(0)), (uint32_t)load(place(1)), (uint32_t)load(place(2)),                       \
            (uint32_t)load(place(3)), (uint32_t)load(place(4)), (uint32_t)load(place(5)),                    \
            (uint32_t)load(place(6)), (uint32_t)load(place(7))                                               \
    }
#define FOUR_LANES(load, place)                                                                              \
    {                                                                                                        \
        (uint64_t) load(place(0)), (uint64_t)load(place(1)), (uint64_t)load(place(2)),                       \
            (uint64_t)load(place(3))                                                                         \
    }

enum { WINDOW_WORDS = WARP_LANES, WINDOW_SPAN = WINDOW_WORDS * 4 };

/* Addresses that fit 32 bits. */
typedef uint32_t Offsets[WARP_LANES] __attribute__((aligned(64)));

/* Narrows the addresses of all lanes and finds their extent. False when one is not aligned to words, or a
 * word does not lie below `limit`. */
static inline bool narrow_word_addresses(ExecContext *context, Offsets offsets, uint64_t limit) {
    uint64_t bits = 0;
    uint32_t lowest = UINT32_MAX, highest = 0;
    FOR_LANES bits |= context->address[lane];
    if (bits & (~(uint64_t)UINT32_MAX | 3)) return false;
    FOR_LANES offsets[lane] = (uint32_t)context->address[lane];
    FOR_LANES {
        lowest = offsets[lane] < lowest ? offsets[lane] : lowest;
        highest = offsets[lane] > highest ? offsets[lane] : highest;
    }
    context->lowest = lowest;
    context->highest = highest;
    return is_inside(lowest, highest, 4, 0, limit);
}

/* permute_window(): the words at `offsets`, of which `start` is that of the window, to the active lanes.
 * permute_places(): to each lane the word at its place in the window that is known, counted from the `first`.
 * permute_known(): the same from the lowest word on, quicker, where as many bytes as reach_of() says lie behind it. */

#if defined __AVX512F__

/* In two loads, as wide as the stores before. */
static inline __m512i sixteen_lanes(const LaneU32 *from) {
    __m256i low = _mm256_load_si256((const void *)from), high = _mm256_load_si256((const void *)(from + 8));
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

static inline void permute_window(LaneU32 *to, const uint8_t *window, const Offsets offsets, uint32_t start,
                                  uint32_t active) {
    __m512i low = _mm512_loadu_si512(window), high = _mm512_loadu_si512(window + 64);
    for (int lane = 0; lane < WARP_LANES; lane += 16) {
        __m512i from = _mm512_sub_epi32(sixteen_lanes(offsets + lane), _mm512_set1_epi32((int)start));
        __m512i words = _mm512_permutex2var_epi32(low, _mm512_srli_epi32(from, 2), high);
        if (active != ALL_LANES)
            words = _mm512_mask_mov_epi32(sixteen_lanes(to + lane), (__mmask16)(active >> lane), words);
        _mm512_store_si512(to + lane, words);
    }
}

static inline void permute_places(LaneU32 *to, const uint8_t *window, const AddressWindow *known,
                                  uint32_t first) {
    __m512i low = _mm512_loadu_si512(window), high = _mm512_loadu_si512(window + 64);
    for (int lane = 0; lane < WARP_LANES; lane += 16) {
        __m128i places = _mm_loadu_si128((const __m128i *)(const void *)(known->word + lane));
        __m512i from = _mm512_add_epi32(_mm512_cvtepu8_epi32(places), _mm512_set1_epi32((int)first));
        _mm512_store_si512(to + lane, _mm512_permutex2var_epi32(low, from, high));
    }
}

static inline uint32_t reach_of(const AddressWindow *known) {
    return (void)known, WINDOW_SPAN;
}

static inline void permute_known(LaneU32 *to, const uint8_t *lowest, const AddressWindow *known) {
    permute_places(to, lowest, known, 0);
}

#elif defined __AVX2__

/* Eight lanes from 32 words: from each eighth word on those that its place names, then a choice by the bits
 * above. The choosing instructions look at the sign. */
static inline __m256i choose_words(const __m256i part[4], __m256i place) {
    __m256 odd = _mm256_castsi256_ps(_mm256_slli_epi32(place, 28)),
           upper = _mm256_castsi256_ps(_mm256_slli_epi32(place, 27));
    __m256 words[4];
    for (int i = 0; i < 4; i++)
        words[i] = _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(part[i], place));
    return _mm256_castps_si256(_mm256_blendv_ps(_mm256_blendv_ps(words[0], words[1], odd),
                                                _mm256_blendv_ps(words[2], words[3], odd), upper));
}

static inline __m256i eight_words(const uint8_t *from) {
    return _mm256_loadu_si256((const __m256i *)(const void *)from);
}

/* `active` from its lowest bit on: each lane of all ones or zeros. */
static inline __m256i mask_of_eight(uint32_t active) {
    __m256i bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32((int)active), bits), bits);
}

static inline void permute_window(LaneU32 *to, const uint8_t *window, const Offsets offsets, uint32_t start,
                                  uint32_t active) {
    /* One by one: of a loop gcc makes a copy in parts of 16 B, for which loads of 32 B from it must wait. */
    __m256i part[4] = {eight_words(window), eight_words(window + 32), eight_words(window + 64),
                       eight_words(window + 96)};
    __m256i first = _mm256_set1_epi32((int)start);
    for (int lane = 0; lane < WARP_LANES; lane += 8) {
        __m256i *target = (__m256i *)(to + lane);
        __m256i offset = _mm256_sub_epi32(_mm256_load_si256((const __m256i *)(offsets + lane)), first);
        __m256i words = choose_words(part, _mm256_srli_epi32(offset, 2));
        if (active != ALL_LANES)
            words = _mm256_blendv_epi8(_mm256_load_si256(target), words, mask_of_eight(active >> lane));
        _mm256_store_si256(target, words);
    }
}

static inline __m256i eight_places(const AddressWindow *known, int lane) {
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)(known->word + lane)));
}

/* Of eight lanes each whose words lie in one block of eight, a block is all that is read. */
static inline uint32_t reach_of(const AddressWindow *known) {
    uint32_t reach = 0;
    for (int lane = 0; lane < WARP_LANES; lane++) {
        if (known->word[lane] / 8 * 32 != known->block[lane / 8]) return BEYOND_REACH;
        if (known->block[lane / 8] + 32u > reach) reach = known->block[lane / 8] + 32u;
    }
    return reach;
}

/* A permutation looks at the three lowest bits of a place: that in its block. */
static inline void permute_known(LaneU32 *to, const uint8_t *lowest, const AddressWindow *known) {
    for (int lane = 0; lane < WARP_LANES; lane += 8) {
        __m256i block = eight_words(lowest + known->block[lane / 8]);
        _mm256_store_si256((__m256i *)(to + lane),
                           _mm256_permutevar8x32_epi32(block, eight_places(known, lane)));
    }
}

static inline void permute_places(LaneU32 *to, const uint8_t *window, const AddressWindow *known,
                                  uint32_t first) {
    __m256i part[4] = {eight_words(window), eight_words(window + 32), eight_words(window + 64),
                       eight_words(window + 96)};
    for (int lane = 0; lane < WARP_LANES; lane += 8) {
        __m256i from = _mm256_add_epi32(eight_places(known, lane), _mm256_set1_epi32((int)first));
        _mm256_store_si256((__m256i *)(to + lane), choose_words(part, from));
    }
}

#else

static inline void permute_window(LaneU32 *to, const uint8_t *window, const Offsets offsets, uint32_t start,
                                  uint32_t active) {
    for (uint32_t lanes = active; lanes; lanes &= lanes - 1) {
        int lane = __builtin_ctz(lanes);
        memcpy(&to[lane], window + (offsets[lane] - start), sizeof *to);
    }
}

static inline void permute_places(LaneU32 *to, const uint8_t *window, const AddressWindow *known,
                                  uint32_t first) {
    for (int lane = 0; lane < WARP_LANES; lane++)
        memcpy(&to[lane], window + 4u * (first + known->word[lane]), sizeof *to);
}

static inline uint32_t reach_of(const AddressWindow *known) {
    return known->span + 4;
}

static inline void permute_known(LaneU32 *to, const uint8_t *lowest, const AddressWindow *known) {
    permute_places(to, lowest, known, 0);
}

#endif

/* The window must not reach beyond the end. */
static inline uint64_t window_start(const ExecContext *context, uint64_t limit) {
    uint64_t last = (limit & ~3ull) - WINDOW_SPAN;
    return context->lowest < last ? context->lowest : last;
}

static inline uint32_t word_at(const uint8_t *from) {
    uint32_t word;
    memcpy(&word, from, sizeof word);
    return word;
}

#define PLACE_BY_OFFSET(i) base + offsets[lane + (i)]

static inline void gather_words(LaneU32 *to, const uint8_t *base, const Offsets offsets, uint32_t active) {
    if (__builtin_popcount(active) < MANY_LANES) {
        for (uint32_t lanes = active; lanes; lanes &= lanes - 1) {
            int lane = __builtin_ctz(lanes);
            to[lane] = word_at(base + offsets[lane]);
        }
        return;
    }
    for (int lane = 0; lane < WARP_LANES; lane += 8) {
        EightLanes words = EIGHT_LANES(word_at, PLACE_BY_OFFSET);
        write_eight((EightLanes *)(to + lane), &words, active, lane);
    }
}

/* The lanes' words, at `offsets`, those of inactive lanes filled, from the `limit` bytes at `base`. */
static inline void read_words(LaneU32 *to, const uint8_t *base, uint64_t limit, const Offsets offsets,
                              const ExecContext *context) {
    uint64_t start = window_start(context, limit);
    if (context->highest - context->lowest < WINDOW_SPAN && limit >= WINDOW_SPAN) {
        permute_window(to, base + start, offsets, (uint32_t)start, context->active);
    } else {
        gather_words(to, base, offsets, context->active);
    }
}

/* --- Windows of registers ---------------------------------------------------------------------- */

static inline AddressWindow *window_of(const Inst *inst, const ExecContext *context) {
    return &context->windows[__builtin_ctz(inst->windows)];
}

static inline uint64_t displaced(const Inst *inst, uint64_t base) {
    uint64_t address = base + (uint64_t)inst->displacement;
    return inst->detail & DETAIL_ADDRESS_32 ? (uint32_t)address : address;
}

/* Do the addresses that the lanes would form lie where the window says? */
static inline bool window_holds(const Inst *inst, ExecContext *context) {
    uint64_t differences = 0;
    form_addresses(inst, context);
    for (int lane = 0; lane < WARP_LANES; lane++)
        differences |= context->address[lane] ^
                       (context->lowest + 4ull * window_of(inst, context)->word[lane]);
    return differences == 0;
}

/* The window by which all lanes access words of shared memory without a fault; NULL: their addresses must be
 * formed. */
static inline const AddressWindow *known_window(const Inst *inst, ExecContext *context) {
    if (!inst->windows || context->active != ALL_LANES || !(*context->known_windows & inst->windows))
        return NULL;
    const AddressWindow *window = window_of(inst, context);
    uint64_t lowest = displaced(inst, window->lowest), limit = context->shared_bytes;
    if ((lowest & 3) || lowest >= limit || limit - lowest < window->span + 4) return NULL;
    context->lowest = lowest;
    context->highest = lowest + window->span;
    context->space = SPACE_SHARED;
    debug_ensure(window_holds(inst, context));
    return window;
}

/* All lanes have accessed words at these offsets, `lowest` and `highest` of the context being the extremes.
 */
static inline void keep_window(const Inst *inst, const ExecContext *context, const Offsets offsets) {
    uint64_t span = context->highest - context->lowest;
    if (!inst->windows || !context->windows || context->active != ALL_LANES || span >= WINDOW_SPAN) return;
    AddressWindow *window = window_of(inst, context);
    uint32_t lowest = (uint32_t)context->lowest, differences = 0;
    window->lowest = context->lowest - (uint64_t)inst->displacement;
    window->span = (uint32_t)span;
    FOR_LANES window->word[lane] = (uint8_t)((offsets[lane] - lowest) / 4);
    FOR_LANES differences |= (offsets[lane] - lowest) ^ (4 * (uint32_t)lane);
    window->is_ascending = differences == 0;
    for (int lane = 0; lane < WARP_LANES; lane += 8)
        window->block[lane / 8] = (uint8_t)(window->word[lane] / 8 * 32);
    window->reach = reach_of(window);
    *context->known_windows |= inst->windows;
}

static inline bool load_known_words(const Inst *inst, ExecContext *context) {
    const AddressWindow *window = known_window(inst, context);
    if (!window) return false;
    if (!inst->dst_count) return true;
    LaneU32 *to = destination(inst, context, 0);
    const uint8_t *lowest = context->shared + context->lowest;
    if (__builtin_expect(context->shared_bytes - context->lowest >= window->reach, 1)) {
        permute_known(to, lowest, window);
    } else if (context->shared_bytes >= WINDOW_SPAN) {
        uint64_t start = window_start(context, context->shared_bytes);
        permute_places(to, context->shared + start, window, (uint32_t)(context->lowest - start) / 4);
    } else {
        for (int lane = 0; lane < WARP_LANES; lane++)
            memcpy(&to[lane], lowest + 4u * window->word[lane], sizeof *to);
    }
    return true;
}

static inline bool store_known_words(const Inst *inst, ExecContext *context) {
    const AddressWindow *window = known_window(inst, context);
    if (!window) return false;
    const LaneU32 *from = source(inst, context, 1);
    uint8_t *to = context->shared + context->lowest;
    if (window->is_ascending) {
        memcpy(to, from, WARP_LANES * sizeof *from);
    } else {
        for (int lane = 0; lane < WARP_LANES; lane++)
            memcpy(to + 4u * window->word[lane], &from[lane], sizeof *from);
    }
    return true;
}

#endif
