/* The address map: parameters as masks, work as a few shifts. It is asked for every message, so there is no
 * division: the channel comes from a multiplication by the reciprocal, a field from one shift per run of
 * consecutive bits. */
#include "mem/protocol/address_map.h"

#include "core/sim/event.h"
#include "mem/protocol/page_table.h"
#include "mem/protocol/xor_masks.h"

#include <stdlib.h>

enum { MAX_RUNS = 32, MAX_CHANNELS = 1024, XOR_BITS = 10 };

/* A run of consecutive mask bits moves to the right as a whole. */
typedef struct {
    uint64_t mask;
    uint64_t shift;
} BitRun;

/* Packs the bits under a mask to the right. */
typedef struct {
    uint64_t count;
    BitRun runs[MAX_RUNS];
} BitPacker;

/* 0: none, the bits are what they are. */
typedef struct {
    uint64_t count;
    uint64_t masks[XOR_BITS];
} XorBits;

struct AddressMap {
    SimObject obj;
    char *channel_masks, *bank_masks, *slice_masks;
    uint32_t channels, slices_per_channel;
    uint64_t interleave, page_size;
    uint64_t row_mask, bank_mask, column_mask, slice_mask;
    uint32_t channel_hash, bank_hash; /* flags */
    uint64_t interleave_shift, offset_mask;
    uint64_t reciprocal; /* ceil(2^64 / channels); 0 for one channel */
    uint64_t is_special; /* one channel, a hash of channels, XOR masks, pages, or slices in turn */
    uint64_t page_shift;
    uint64_t hashed_row; /* the row's bits that are added to the bank; 0 without bank_hash */
    BitPacker row, bank, column, slice, within_slice;
    XorBits channel_bits, bank_bits, slice_bits;
    PageTable pages;
    const Link **watched; /* by which requests come to those who ask for their slices */
    uint64_t watched_count;
    const Link *shorter; /* than a quantum, the first by which requests come to them; or NULL */
};

const AddressMap address_itself = {
    .channels = 1, .is_special = 1, .within_slice = {.count = 1, .runs = {{.mask = UINT64_MAX}}}};

typedef enum { PLACE_PAGE } AddressMapEvent;

static BitPacker packer_for(uint64_t mask) {
    BitPacker packer = {0};
    uint64_t packed = 0;
    while (mask) {
        uint64_t start = (uint64_t)__builtin_ctzll(mask), carry = mask + (mask & -mask);
        uint64_t run = mask & ~carry; /* adding the lowest bit carries through its run */
        packer.runs[packer.count++] = (BitRun){run, start - packed};
        packed += (uint64_t)__builtin_popcountll(run);
        mask &= ~run;
    }
    return packer;
}

static __attribute__((noinline)) uint64_t pack_further_runs(const BitPacker *packer, uint64_t bits) {
    uint64_t packed = 0;
    for (uint64_t i = 2; i < packer->count; i++)
        packed |= (bits & packer->runs[i].mask) >> packer->runs[i].shift;
    return packed;
}

/* Most masks have one run or two; those behind the last are of no bits. */
static inline uint64_t pack(const BitPacker *packer, uint64_t bits) {
    const BitRun *run = packer->runs;
    uint64_t packed = (bits & run[0].mask) >> run[0].shift | (bits & run[1].mask) >> run[1].shift;
    return __builtin_expect(packer->count > 2, 0) ? packed | pack_further_runs(packer, bits) : packed;
}

typedef struct {
    uint64_t channel, rest;
} ChannelSplit;

/* n / channels as the high half of n * ceil(2^64 / channels): exact while n * channels < 2^64, which
 * MAX_CHANNELS and MAX_ADDRESS_BITS grant. */
static inline ChannelSplit split_by_reciprocal(const AddressMap *map, uint64_t address) {
    uint64_t n = address >> map->interleave_shift;
    uint64_t quotient = (uint64_t)(((__uint128_t)n * map->reciprocal) >> 64);
    return (ChannelSplit){n - quotient * map->channels,
                          quotient << map->interleave_shift | (address & map->offset_mask)};
}

static uint64_t xor_of(const XorBits *bits, uint64_t address) {
    return xor_masks_apply(bits->masks, (uint32_t)bits->count, address);
}

static const Page *page_of(const AddressMap *map, uint64_t address) {
    return page_table_find(&map->pages, address >> map->page_shift);
}

_Noreturn static COLD void lies_nowhere(const AddressMap *map, uint64_t address) {
    char wire[200] = "without";
    if (map->shorter)
        snprintf(wire, sizeof wire, "by a shorter one, %.80s -> %.80s", map->shorter->sender->path,
                 map->shorter->receiver->path);
    user_error(
        "%s.page_size: expected a wire of a quantum's latency or more in front of the first Crossbar or "
        "Router of each request, got one for 0x%lx %s",
        object_path(&map->obj), address, wire);
}

static ChannelSplit split_page(const AddressMap *map, uint64_t address) {
    const Page *page = page_of(map, address);
    if (!page) lies_nowhere(map, address);
    return (ChannelSplit){page->channel,
                          (uint64_t)page->frame << map->page_shift | (address & (map->page_size - 1))};
}

/* What a hash adds below `channels` is as likely any of them. workloads/micro/dram_rows.lua has the same. */
static __attribute__((noinline)) ChannelSplit split_specially(const AddressMap *map, uint64_t address) {
    if (map->channels == 1) return (ChannelSplit){0, address};
    if (map->page_size) return split_page(map, address);
    ChannelSplit split = split_by_reciprocal(map, address);
    if (map->channel_bits.count) split.channel = xor_of(&map->channel_bits, address);
    if (!map->channel_hash) return split;
    uint64_t above = split.rest >> map->interleave_shift;
    split.channel += (above * 0x9e3779b97f4a7c15ull >> 32) * map->channels >> 32;
    if (split.channel >= map->channels) split.channel -= map->channels;
    return split;
}

static void check_overlap(const AddressMap *map, const char *name, uint64_t mask, const char *other,
                          uint64_t other_mask) {
    if (mask & other_mask)
        user_error("%s: expected each address bit in one of row_mask, bank_mask and column_mask, got %s = "
                   "0x%lx and %s = 0x%lx, which share 0x%lx",
                   object_path(&map->obj), name, mask, other, other_mask, mask & other_mask);
}

/* Caches, slices and the controller treat a line as one thing. */
static void check_keeps_lines_whole(const AddressMap *map, const char *name, uint64_t mask) {
    if (mask & (LINE_BYTES_MAX - 1))
        user_error("%s.%s: expected a mask whose lowest 7 bits are 0 (a line has %d bytes), got 0x%lx",
                   object_path(&map->obj), name, LINE_BYTES_MAX, mask);
}

/* Of a number that no mask chooses from. */
static bool slices_in_turn(const AddressMap *map) {
    return (map->slices_per_channel & (map->slices_per_channel - 1)) != 0;
}

static void check_masks(const AddressMap *map) {
    check_overlap(map, "row_mask", map->row_mask, "bank_mask", map->bank_mask);
    check_overlap(map, "row_mask", map->row_mask, "column_mask", map->column_mask);
    check_overlap(map, "bank_mask", map->bank_mask, "column_mask", map->column_mask);
    check_keeps_lines_whole(map, "row_mask", map->row_mask);
    check_keeps_lines_whole(map, "bank_mask", map->bank_mask);
    check_keeps_lines_whole(map, "slice_mask", map->slice_mask);
    int row_bits = __builtin_popcountll(map->row_mask), slice_bits = __builtin_popcountll(map->slice_mask);
    if (row_bits > 31)
        user_error("%s.row_mask: expected up to 31 bits, got %d (0x%lx)", object_path(&map->obj), row_bits,
                   map->row_mask);
    if (slices_in_turn(map)) {
        if (map->slice_mask || *map->slice_masks)
            user_error("%s.%s: expected none with slices_per_channel = %u, which is no power of two: the "
                       "channel's lines lie in its slices in turn",
                       object_path(&map->obj), map->slice_mask ? "slice_mask" : "slice_masks",
                       map->slices_per_channel);
        return;
    }
    if (slice_bits > 10 || 1u << slice_bits != map->slices_per_channel)
        user_error("%s.slice_mask: expected a mask that chooses among slices_per_channel = %u slices, got "
                   "0x%lx, which chooses among 2^%d",
                   object_path(&map->obj), map->slices_per_channel, map->slice_mask, slice_bits);
}

/* `own`: the bits in whose place the masks' number stands. */
static void read_xor_bits(const AddressMap *map, XorBits *bits, const char *text, const char *parameter,
                          const char *what, uint64_t own) {
    const char *path = object_path(&map->obj);
    bits->count = xor_masks_read(bits->masks, XOR_BITS, text, path, parameter, what);
    if (!bits->count) return;
    for (uint64_t i = 0; i < bits->count; i++)
        check_keeps_lines_whole(map, parameter, bits->masks[i]);
    if (bits->count != (uint64_t)__builtin_popcountll(own))
        user_error("%s.%s: expected a mask for each of %d %s bits (0x%lx), got %lu", path, parameter,
                   __builtin_popcountll(own), what, own, bits->count);
    if (!xor_masks_tell_apart(bits->masks, (uint32_t)bits->count, own))
        user_error(
            "%s.%s: expected masks that tell apart all values of the %s bits 0x%lx, got '%s', with which "
            "different addresses have one place",
            path, parameter, what, own, text);
}

static void check_xor_alone(const AddressMap *map, bool masks, bool other, const char *name,
                            const char *parameter) {
    if (masks && other)
        user_error("%s.%s: expected one of %s and %s, got both", object_path(&map->obj), name, name,
                   parameter);
}

static void read_all_xor_bits(AddressMap *map) {
    uint64_t channel_bits = (uint64_t)(map->channels - 1) << __builtin_ctzll(map->interleave);
    bool of_channel = *map->channel_masks;
    if (of_channel && (map->channels & (map->channels - 1)))
        user_error("%s.channels: expected a power of two with channel_masks, got %u", object_path(&map->obj),
                   map->channels);
    read_xor_bits(map, &map->channel_bits, map->channel_masks, "channel_masks", "channel", channel_bits);
    read_xor_bits(map, &map->bank_bits, map->bank_masks, "bank_masks", "bank", map->bank_mask);
    read_xor_bits(map, &map->slice_bits, map->slice_masks, "slice_masks", "slice", map->slice_mask);
    check_xor_alone(map, of_channel, map->channel_hash, "channel_hash", "channel_masks");
    check_xor_alone(map, of_channel, map->page_size != 0, "page_size", "channel_masks");
    check_xor_alone(map, *map->bank_masks, map->bank_hash, "bank_hash", "bank_masks");
}

static void check_pages(const AddressMap *map) {
    const char *path = object_path(&map->obj);
    if (map->page_size & (map->page_size - 1) || map->page_size & (LINE_BYTES_MAX - 1))
        user_error("%s.page_size: expected 0, or a power of two from %d on, got %lu", path, LINE_BYTES_MAX,
                   map->page_size);
    if (map->page_size && map->channels == 1)
        user_error("%s.page_size: expected 0 with one channel, got %lu", path, map->page_size);
}

static void build_pages(AddressMap *map) {
    check_pages(map);
    if (!map->page_size) return;
    map->page_shift = (uint64_t)__builtin_ctzll(map->page_size);
    map->pages.slots = PAGE_SLOTS_AT_FIRST;
    map->pages.channels = map->channels;
}

static void address_map_build(SimObject *object) {
    AddressMap *map = (AddressMap *)object;
    check_masks(map);
    build_pages(map);
    map->interleave_shift = (uint64_t)__builtin_ctzll(map->interleave);
    map->offset_mask = map->interleave - 1;
    map->reciprocal = map->channels == 1 ? 0 : UINT64_MAX / map->channels + 1;
    read_all_xor_bits(map);
    map->is_special = map->channels == 1 || map->channel_hash || map->page_size || map->channel_bits.count ||
                      map->bank_bits.count || map->slice_bits.count || slices_in_turn(map);
    map->row = packer_for(map->row_mask);
    map->bank = packer_for(map->bank_mask);
    map->column = packer_for(map->column_mask);
    map->slice = packer_for(map->slice_mask);
    map->within_slice = packer_for(~map->slice_mask);
    map->hashed_row = map->bank_hash ? address_map_banks(map) - 1 : 0;
}

/* ---- Pages ---- */

/* A request for a page that lies nowhere yet. */
typedef struct {
    uint64_t ready;
    uint64_t link, place; /* which of the watched, and where in it */
    const MemMessage *message;
} Touch;

typedef struct {
    Touch *touch;
    size_t count, room;
} Touches;

/* Channels get pages in turn, but for what policies say. */
static void place_page(AddressMap *map, const MemMessage *m) {
    uint64_t page = m->address >> map->page_shift, channel = map->pages.used % map->channels;
    int64_t answer = NO_ANSWER;
    if (object_has_subscriber(&map->obj, PLACE_PAGE))
        answer = event_ask(&map->obj, PLACE_PAGE, (int64_t)page, m->sm, m->warp, m->kind != MEM_READ,
                           (int64_t)channel, map->channels);
    page_table_add(&map->pages, page, answer == NO_ANSWER ? (uint32_t)channel : (uint32_t)answer);
}

static void note_touches(const AddressMap *map, uint64_t link, Touches *touches) {
    uint64_t ready;
    for (uint64_t place = 0; (ready = link_ready_at(map->watched[link], place)) != NEVER; place++) {
        const MemMessage *m = link_message_at(map->watched[link], place);
        if (page_of(map, m->address)) continue;
        if (touches->count == touches->room) {
            touches->room = touches->room ? 2 * touches->room : 64;
            touches->touch = realloc(touches->touch, touches->room * sizeof *touches->touch);
            ensure_memory(touches->touch);
        }
        touches->touch[touches->count++] = (Touch){ready, link, place, m};
    }
}

static int by_time(const void *a, const void *b) {
    const Touch *x = a, *y = b;
    if (x->ready != y->ready) return x->ready < y->ready ? -1 : 1;
    if (x->link != y->link) return x->link < y->link ? -1 : 1;
    return x->place < y->place ? -1 : 1;
}

/* What comes to those who ask in the next quantum is in their links. */
static void place_pages(void *context, Sim *sim) {
    AddressMap *map = context;
    Touches touches = {0};
    sim_request_boundary(sim);
    for (uint64_t link = 0; link < map->watched_count; link++)
        note_touches(map, link, &touches);
    if (touches.count) qsort(touches.touch, touches.count, sizeof *touches.touch, by_time);
    for (size_t i = 0; i < touches.count; i++)
        if (!page_of(map, touches.touch[i].message->address)) place_page(map, touches.touch[i].message);
    free(touches.touch);
}

bool address_map_has_pages(const AddressMap *map) {
    return map->page_size != 0;
}

bool address_map_is_placed(const AddressMap *map, uint64_t address) {
    return !map->page_size || page_of(map, address);
}

/* For those who only ask it is constant; its pages are its own matter. */
static AddressMap *own(const AddressMap *map) {
    return (AddressMap *)(uintptr_t)map;
}

void address_map_watch(const AddressMap *map, const Link *requests) {
    AddressMap *self = own(map);
    if (!map->page_size) return;
    if (!link_is_cut(requests)) {
        if (!self->shorter) self->shorter = requests;
        return;
    }
    self->watched = realloc(self->watched, (self->watched_count + 1) * sizeof *self->watched);
    ensure_memory(self->watched);
    self->watched[self->watched_count++] = requests;
}

void address_map_take_untimed(const AddressMap *map, const MemMessage *request) {
    if (!address_map_is_placed(map, request->address)) place_page(own(map), request);
}

static void address_map_is_sound(const SimObject *object, bool fits) {
    const AddressMap *map = (const AddressMap *)object;
    sound(!fits || !map->page_size || page_table_is_sound(&map->pages), "%s.pages: %lu pages",
          object_path(object), map->pages.used);
}

static void address_map_destroy(SimObject *object) {
    free(((AddressMap *)object)->watched);
}

static bool channel_is_legal(const int64_t *arguments, int64_t channel) {
    return channel >= 0 && channel < arguments[5];
}

static const Question place_page_question = {"a channel below `channels`", channel_is_legal};

static const Event address_map_events[] = {
    [PLACE_PAGE] =
        {"place_page", "page, sm, warp, write, choice, channels", &place_page_question,
         "Which channel shall this page lie in, for which an SM asks first? page: address divided by "
         "page_size; choice: one channel after the other. Asked between quanta, and where a request has "
         "no timing"},
    {0}};

/* address_map_find() finds one for all. */
static void address_map_init(SimObject *object) {
    AddressMap *map = (AddressMap *)object;
    for (uint32_t i = 0; i < object->id; i++)
        if (object->sim->objects[i]->class == &address_map_class)
            user_error("%s: expected one AddressMap in machine %s, got a second beside %s", object->path,
                       object->sim->name, object->sim->objects[i]->path);
    if (!map->page_size) return;
    sim_at_boundary(object->sim, place_pages, map);
    sim_request_boundary(object->sim);
}

static uint64_t address_map_tick(SimObject *object, uint64_t now) {
    (void)object, (void)now;
    return NEVER;
}

const AddressMap *address_map_find(const SimObject *user) {
    const Sim *sim = user->sim;
    for (uint32_t i = 0; i < sim->object_count; i++)
        if (sim->objects[i]->class == &address_map_class) return (const AddressMap *)sim->objects[i];
    user_error("%s: expected an AddressMap in machine %s, got none", object_path(user), sim->name);
}

uint32_t address_map_slices(const AddressMap *map) {
    return map->channels * map->slices_per_channel;
}

uint32_t address_map_channels(const AddressMap *map) {
    return map->channels;
}

uint64_t address_map_banks(const AddressMap *map) {
    return 1ull << __builtin_popcountll(map->bank_mask);
}

const SimObject *address_map_object(const AddressMap *map) {
    return &map->obj;
}

static inline uint32_t slice_of(const AddressMap *map, ChannelSplit split) {
    if (map->slices_per_channel == 1) return (uint32_t)split.channel;
    return (uint32_t)(split.channel * map->slices_per_channel + pack(&map->slice, split.rest));
}

/* The special cases by calls of their own: the others need not save the host's registers. */
static __attribute__((noinline)) uint32_t special_slice(const AddressMap *map, uint64_t address) {
    ChannelSplit split = split_specially(map, address);
    if (slices_in_turn(map))
        return (uint32_t)(split.channel * map->slices_per_channel +
                          split.rest / LINE_BYTES_MAX % map->slices_per_channel);
    if (!map->slice_bits.count) return slice_of(map, split);
    return (uint32_t)(split.channel * map->slices_per_channel + xor_of(&map->slice_bits, split.rest));
}

uint32_t address_map_slice(const AddressMap *map, uint64_t address) {
    if (__builtin_expect(map->is_special != 0, 0)) return special_slice(map, address);
    return slice_of(map, split_by_reciprocal(map, address));
}

static inline DramRow row_of(const AddressMap *map, ChannelSplit split) {
    uint64_t row = pack(&map->row, split.rest), bank = pack(&map->bank, split.rest);
    return (DramRow){.bank = (uint32_t)(bank ^ (row & map->hashed_row)), .row = (uint32_t)row};
}

static __attribute__((noinline)) DramRow special_row(const AddressMap *map, uint64_t address) {
    ChannelSplit split = split_specially(map, address);
    DramRow row = row_of(map, split);
    if (map->bank_bits.count) row.bank = (uint32_t)xor_of(&map->bank_bits, split.rest);
    return row;
}

DramRow address_map_row(const AddressMap *map, uint64_t address) {
    debug_ensure(address >> MAX_ADDRESS_BITS == 0);
    if (__builtin_expect(map->is_special != 0, 0)) return special_row(map, address);
    return row_of(map, split_by_reciprocal(map, address));
}

DramLocation address_map_locate(const AddressMap *map, uint64_t address) {
    debug_ensure(address >> MAX_ADDRESS_BITS == 0);
    ChannelSplit split = map->is_special ? split_specially(map, address) : split_by_reciprocal(map, address);
    DramRow row = address_map_row(map, address);
    return (DramLocation){
        .channel = (uint32_t)split.channel,
        .slice = address_map_slice(map, address),
        .bank = row.bank,
        .row = row.row,
        .column = (uint32_t)pack(&map->column, split.rest),
    };
}

uint64_t address_map_slice_bit(const AddressMap *map, uint32_t bit) {
    uint32_t in_channel = (uint32_t)__builtin_ctz(map->slices_per_channel);
    bool mixed = map->channel_hash || map->channel_bits.count || map->slice_bits.count || map->page_size ||
                 slices_in_turn(map);
    if (mixed || (map->channels & (map->channels - 1)) != 0) return 0;
    if (bit >= in_channel) return 1ull << (bit - in_channel) << map->interleave_shift;
    uint64_t slices = map->slice_mask;
    for (; bit; bit--)
        slices &= slices - 1;
    uint64_t of_rest = slices & -slices;
    return of_rest > map->offset_mask ? of_rest * map->channels : of_rest;
}

static __attribute__((noinline)) uint64_t special_within_slice(const AddressMap *map, uint64_t address) {
    uint64_t rest = split_specially(map, address).rest;
    if (!slices_in_turn(map)) return pack(&map->within_slice, rest);
    return rest / LINE_BYTES_MAX / map->slices_per_channel * LINE_BYTES_MAX + rest % LINE_BYTES_MAX;
}

uint64_t address_map_within_slice(const AddressMap *map, uint64_t address) {
    if (__builtin_expect(map->is_special != 0, 0)) return special_within_slice(map, address);
    uint64_t rest = split_by_reciprocal(map, address).rest;
    return map->slices_per_channel == 1 ? rest : pack(&map->within_slice, rest);
}

/* The masks' defaults are the GTX 480's, with one L2 slice per channel. */
static const Field address_map_fields[] = {
    BASE(AddressMap),
    PARAM(AddressMap, channels, "6", "channels", "Memory channels", .min = 1, .max = MAX_CHANNELS),
    PARAM(AddressMap, slices_per_channel, "1", "slices",
          "L2 slices of a channel: a power of two, chosen by slice_mask; or any number, which take lines of "
          "128 B "
          "in turn",
          .min = 1, .max = 1024),
    PARAM(AddressMap, interleave, "256", "bytes", "Consecutive bytes of one channel", .min = LINE_BYTES_MAX,
          .max = 1 << 30, .power_of_two = true),
    PARAM(AddressMap, page_size, "0", "bytes",
          "Pages, each of one channel, with place_page() or one after the other, when it is asked for first; "
          "0: "
          "addresses alone say which channel",
          .max = 1 << 30),
    PARAM(AddressMap, row_mask, "0x0fff0000", "mask", "Row bits of the address with the channel taken out"),
    PARAM(AddressMap, bank_mask, "0xe100", "mask", "Bank bits of the same"),
    PARAM(AddressMap, column_mask, "0x1eff", "mask", "Column bits of the same"),
    PARAM(AddressMap, slice_mask, "0", "mask",
          "Bits of the same that choose the slice in the channel; may be bank bits"),
    PARAM_FLAG(
        AddressMap, channel_hash, "false",
        "Channels are turned by a hash of the address above them, so that no stride stays in one; not with "
        "page_size"),
    PARAM_FLAG(
        AddressMap, bank_hash, "false",
        "Lowest bits of the row are added to the bank, bit by bit: rows of a stride lie in different banks"),
    PARAM(
        AddressMap, channel_masks, "", "masks",
        "Address bits of which each channel bit is the parity, bit 0 first (\"0x2300,0x4600\"), for a power "
        "of two of channels; empty: the bits above interleave"),
    PARAM(AddressMap, bank_masks, "", "masks",
          "The same of each bank bit, of the address with the channel taken out; empty: those of bank_mask"),
    PARAM(AddressMap, slice_masks, "", "masks",
          "The same of each bit of the slice in the channel; empty: those of slice_mask"),
    DERIVED(AddressMap, interleave_shift, "log2(interleave)"),
    DERIVED(AddressMap, offset_mask, "interleave - 1"),
    DERIVED(AddressMap, reciprocal, "For dividing by the number of channels"),
    DERIVED(AddressMap, is_special, "One channel, a hash of channels, XOR masks, pages, or slices in turn"),
    DERIVED(AddressMap, page_shift, "log2(page_size)"),
    DERIVED(AddressMap, hashed_row, "Bits of the row that are added to the bank"),
    DERIVED(AddressMap, row, "Packs the bits under row_mask"),
    DERIVED(AddressMap, bank, "Packs the bits under bank_mask"),
    DERIVED(AddressMap, column, "Packs the bits under column_mask"),
    DERIVED(AddressMap, slice, "Packs the bits under slice_mask"),
    DERIVED(AddressMap, within_slice, "Packs all bits but those under slice_mask"),
    DERIVED(AddressMap, channel_bits, "channel_masks"),
    DERIVED(AddressMap, bank_bits, "bank_masks"),
    DERIVED(AddressMap, slice_bits, "slice_masks"),
    STATE_ARRAY(AddressMap, pages.slot, pages.slots, "Where pages lie"),
    STATE_ARRAY(AddressMap, pages.frames, pages.channels, "Pages of each channel"),
    STATE(AddressMap, pages.slots, "Size of that table"),
    DERIVED(AddressMap, pages.channels, "Channels that have pages"),
    STATE(AddressMap, pages.used, "Pages in it"),
    HOST(AddressMap, watched, "Links by which requests come to those who ask for their slices"),
    HOST(AddressMap, watched_count, "How many there are"),
    HOST(AddressMap, shorter, "The first such link within a cluster"),
    FIELDS_END};

const Class address_map_class = {
    .name = "AddressMap",
    .doc = "Where an address lives: channel, L2 slice, DRAM bank, row and column",
    .bytes = sizeof(AddressMap),
    .fields = address_map_fields,
    .events = address_map_events,
    .build = address_map_build,
    .init = address_map_init,
    .tick = address_map_tick,
    .is_sound = address_map_is_sound,
    .destroy = address_map_destroy,
};
REGISTER_CLASS(address_map_class);
