#include "core/sim/base/random.h"
#include "core/sim/event.h"
#include "mem/protocol/address_map.h"
#include "mem/protocol/page_table.h"
#include "tests/unit/suites.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *name;
    double value;
} Setting;

static Sim *sim;
static char error_text[512];
static jmp_buf error_return;

static void keep_error(void *context, const char *message) {
    (void)context;
    snprintf(error_text, sizeof error_text, "%s", message);
    longjmp(error_return, 1);
}

static void set_up(void) {
    class_register(&address_map_class);
    sim = sim_new("test");
    sim_clock(sim, "clock", 1000000000);
    error_text[0] = 0;
}

static void tear_down(void) {
    user_error_handler(NULL, NULL);
    sim_free(sim);
}

static const AddressMap *map_with(const Setting *settings, uint32_t count) {
    SimObject *map = sim_add(sim, "AddressMap", "map", NULL);
    for (uint32_t i = 0; i < count; i++)
        object_set_number(map, settings[i].name, settings[i].value);
    sim_finish_object(map);
    sim_elaborate(sim);
    return address_map_find(map);
}

#define MAP_WITH(...) map_with((Setting[]){__VA_ARGS__}, sizeof((Setting[]){__VA_ARGS__}) / sizeof(Setting))

/* What building such a map complains about; empty when it does not. */
#define ERROR_OF(...)                                                                                        \
    (user_error_handler(keep_error, NULL),                                                                   \
     setjmp(error_return) ? error_text : (MAP_WITH(__VA_ARGS__), error_text))

/* 0x12345678: n = a >> 8 = 0x123456 = 1193046 = 6 * 198841 + 0, so channel 0, rest = 198841 << 8 | 0x78 =
 * 0x0308b978 = 0000 0011 0000 1000 | 101 1100 1 | 0111 1000: row 27:16 = 0x308, bits 15:13 = 5, bit 8 = 1,
 * bits 12:9 = 0xc. */
START_TEST(gtx480_takes_an_address_apart) {
    const AddressMap *map = map_with(NULL, 0);
    DramLocation at = address_map_locate(map, 0x12345678);
    ck_assert_uint_eq(at.channel, 0);
    ck_assert_uint_eq(at.slice, 0);
    ck_assert_uint_eq(at.row, 0x308);
    ck_assert_uint_eq(at.bank, 5 << 1 | 1);
    ck_assert_uint_eq(at.column, 0xc << 8 | 0x78);
    ck_assert_uint_eq(address_map_locate(map, 0x12345778).channel, 1);
    ck_assert_uint_eq(address_map_within_slice(map, 0x12345678), 0x0308b978);
    ck_assert_uint_eq(address_map_slices(map), 6);
}
END_TEST

START_TEST(channel_is_the_remainder_for_any_number_of_channels) {
    const uint32_t counts[] = {1, 2, 3, 5, 6, 7, 8, 12, 127, 1000, 1024};
    uint32_t channels = counts[_i];
    const AddressMap *map = MAP_WITH({"channels", channels});
    Random random = {channels};
    for (int i = 0; i < 20000; i++) {
        uint64_t address = random_next(&random) >> (12 + random_below(&random, 40)), n = address >> 8;
        if (i < 2000) address = (n = (uint64_t)(i / 2 + 1) * channels - (uint64_t)(i & 1)) << 8;
        if (i == 2000) address = (1ull << 52) - 1, n = address >> 8;
        ck_assert_uint_eq(address_map_locate(map, address).channel, n % channels);
        ck_assert_uint_eq(address_map_slice(map, address), n % channels);
        ck_assert_uint_eq(address_map_within_slice(map, address), (n / channels) << 8 | (address & 255));
    }
}
END_TEST

START_TEST(bit_8_chooses_between_two_slices_and_stays_a_bank_bit) {
    const AddressMap *map = MAP_WITH({"slices_per_channel", 2}, {"slice_mask", 0x100});
    ck_assert_uint_eq(address_map_slices(map), 12);
    for (uint64_t n = 0; n < 5000; n++) {
        uint64_t rest = (n / 6) << 8;
        ck_assert_uint_eq(address_map_slice(map, n << 8), 2 * (n % 6) + (rest >> 8 & 1));
        DramLocation at = address_map_locate(map, n << 8);
        ck_assert_uint_eq(at.slice, address_map_slice(map, n << 8));
        ck_assert_uint_eq(at.bank, (rest >> 13 & 7) << 1 | (rest >> 8 & 1));
    }
}
END_TEST

/* Channel: bits 8 and 9, above them what is left; slice: its bits 8 and 11, which are 10 and 13 of the address, and 7. */
START_TEST(bits_that_are_a_slice_s_number_are_known_where_nothing_is_mixed) {
    const AddressMap *map = MAP_WITH({"channels", 4}, {"slices_per_channel", 8}, {"slice_mask", 0x980});
    static const uint64_t bits[] = {1 << 7, 1 << 10, 1 << 13, 1 << 8, 1 << 9};
    for (uint32_t bit = 0; bit < 5; bit++) {
        ck_assert_uint_eq(address_map_slice_bit(map, bit), bits[bit]);
        ck_assert_uint_eq(address_map_slice(map, bits[bit]), 1u << bit);
    }
}
END_TEST

START_TEST(bits_of_a_slice_s_number_are_unknown_where_a_division_or_a_hash_makes_it) {
    const AddressMap *map = _i ? MAP_WITH({"channels", 4}, {"channel_hash", 1}) : MAP_WITH({"channels", 6});
    for (uint32_t bit = 0; bit < 3; bit++)
        ck_assert_uint_eq(address_map_slice_bit(map, bit), 0);
}
END_TEST

/* The lines of a slice, in order of their addresses, are numbered 0, 1, 2, ... */
START_TEST(lines_of_a_slice_are_numbered_without_gaps) {
    const AddressMap *map = MAP_WITH({"slices_per_channel", 4}, {"slice_mask", 0x900});
    uint64_t next[24] = {0}, seen[24][512] = {{0}};
    for (uint64_t line = 0; line < 24 * 512; line++) {
        uint32_t slice = address_map_slice(map, line * 128);
        uint64_t number = address_map_within_slice(map, line * 128) / 128;
        ck_assert_uint_lt(slice, 24);
        ck_assert_uint_lt(number, 512);
        ck_assert_uint_eq(seen[slice][number]++, 0);
        ck_assert_uint_eq(number, next[slice]++);
        ck_assert_uint_eq(address_map_within_slice(map, line * 128 + 77), number * 128 + 77);
    }
}
END_TEST

/* Whatever the hash, a slice's lines are as many as without it, and no two of them have the same number. */
START_TEST(hashed_channels_leave_no_gaps) {
    const uint32_t counts[] = {1, 6, 7, 64};
    uint32_t channels = counts[_i];
    const AddressMap *map = MAP_WITH({"channels", channels}, {"channel_hash", 1});
    static uint8_t seen[64][512];
    memset(seen, 0, sizeof seen);
    for (uint64_t line = 0; line < channels * 512ull; line++) {
        uint32_t slice = address_map_slice(map, line * 128);
        uint64_t number = address_map_within_slice(map, line * 128) / 128;
        ck_assert_uint_lt(slice, channels);
        ck_assert_uint_lt(number, 512);
        ck_assert_uint_eq(seen[slice][number]++, 0);
        ck_assert_uint_eq(address_map_locate(map, line * 128).channel, slice);
    }
}
END_TEST

/* Lines as far apart as the channels reach around are all of one channel without the hash. */
START_TEST(a_stride_over_hashed_channels_reaches_all_of_them) {
    const uint32_t counts[] = {6, 64};
    uint32_t channels = counts[_i], reached[64] = {0};
    const AddressMap *map = MAP_WITH({"channels", channels}, {"channel_hash", 1});
    for (uint64_t n = 0; n < channels * 1000ull; n++)
        reached[address_map_slice(map, n * channels * 256)]++;
    for (uint32_t channel = 0; channel < channels; channel++) {
        ck_assert_uint_gt(reached[channel], 900);
        ck_assert_uint_lt(reached[channel], 1100);
    }
}
END_TEST

START_TEST(a_bank_hash_adds_the_lowest_bits_of_the_row) {
    const AddressMap *map = MAP_WITH({"bank_hash", 1});
    DramLocation at = address_map_locate(map, 0x12345678); /* row 0x308, bank 11 without the hash */
    ck_assert_uint_eq(at.row, 0x308);
    ck_assert_uint_eq(at.bank, 11 ^ 8);
    ck_assert_uint_eq(at.column, 0xc << 8 | 0x78);
}
END_TEST

/* ---- Masks of parities ---- */

typedef struct {
    uint32_t channels, slices;
    const char *channel_masks, *bank_masks, *slice_masks;
} Hashes;

/* Two row bits, 17:16; bank {15:13, 8}; column {12:9, 7:0}: the least of address bits that such maps take. */
static SimObject *small_map(const Hashes *hashes) {
    SimObject *map = sim_add(sim, "AddressMap", "map", NULL);
    object_set_number(map, "channels", hashes->channels);
    object_set_number(map, "slices_per_channel", hashes->slices);
    object_set_number(map, "slice_mask", hashes->slices == 2 ? 0x400 : 0);
    object_set_number(map, "row_mask", 0x30000);
    object_set_text(map, "channel_masks", hashes->channel_masks);
    object_set_text(map, "bank_masks", hashes->bank_masks);
    object_set_text(map, "slice_masks", hashes->slice_masks);
    return map;
}

static const AddressMap *build_small_map(const Hashes *hashes) {
    SimObject *map = small_map(hashes);
    sim_finish_object(map);
    sim_elaborate(sim);
    return address_map_find(map);
}

START_TEST(each_channel_bank_and_slice_bit_is_the_parity_of_the_bits_under_its_mask) {
    const AddressMap *map = build_small_map(
        &(Hashes){4, 2, "0x900, 0x12200", "0x10100,0x22000,0x4000,0x18000", "0x1480"});
    /* Bits 16, 13, 12, 11, 8 and 7. Channel bit 0: bits 11 and 8, even; bit 1: 16, 13 and not 9, even. Without
     * bits 9:8, rest is the same from bit 10 on moved down by two: bits 14, 11, 10, 9 and 7. Bank bit 0: 16, 8:
     * none; 1: 17, 13: none; 2: 14; 3: none. Slice: 12, 10 and 7: bits 10 and 7, even. */
    DramLocation at = address_map_locate(map, 0x13980);
    ck_assert_uint_eq(at.channel, 0);
    ck_assert_uint_eq(at.bank, 4);
    ck_assert_uint_eq(at.slice, 0);
    at = address_map_locate(map, 0x13900); /* without bit 7: the slice alone is another */
    ck_assert_uint_eq(at.channel, 0);
    ck_assert_uint_eq(at.bank, 4);
    ck_assert_uint_eq(at.slice, 1);
    at = address_map_locate(map, 0x03880); /* without bits 16 and 8: both bits of the channel change */
    ck_assert_uint_eq(at.channel, 3);
    ck_assert_uint_eq(address_map_slice(map, 0x03880), 2 * 3 + 0);
}
END_TEST

START_TEST(bank_masks_can_be_a_bank_hash) {
    SimObject *object = sim_add(sim, "AddressMap", "map", NULL);
    object_set_text(object, "bank_masks", "0x10100,0x22000,0x44000,0x88000");
    sim_finish_object(object);
    sim_elaborate(sim);
    const AddressMap *map = address_map_find(object);
    for (uint64_t n = 0; n < 50000; n++) {
        uint64_t rest = n * 37 / 6 << 8;
        DramRow row = address_map_row(map, n * 37 << 8);
        ck_assert_uint_eq(row.row, rest >> 16 & 0xfff);
        ck_assert_uint_eq(row.bank, ((rest >> 13 & 7) << 1 | (rest >> 8 & 1)) ^ (row.row & 15));
    }
}
END_TEST

static const Hashes bijective[] = {
    {8, 1, "0x2100,0x5200,0x18c00", "", ""},
    {8, 1, "0x700,0x5200,0x8400", "0x10100,0x22000,0x14000,0x8100", ""},
    {8, 2, "", "0x30100,0x2500,0x14000,0x8100", "0x15c80"},
    {1, 2, "", "0x10100,0x22000,0x6000,0xe000", "0x1400"},
    {6, 2, "", "0x10100,0x22000,0x6000,0xe000", "0x20400"},
};

/* All lines of what the masks cover. Whatever the hash, no two have one place, and none is left. */
START_TEST(masks_that_are_taken_give_each_address_a_place_of_its_own) {
    static uint8_t taken[1 << 18], numbered[16][1 << 14];
    const AddressMap *map = build_small_map(&bijective[_i]);
    uint32_t channels = bijective[_i].channels, slices = bijective[_i].slices;
    uint64_t lines = channels * ((1ull << 18) / 128);
    memset(taken, 0, sizeof taken);
    memset(numbered, 0, sizeof numbered);
    for (uint64_t line = 0; line < lines; line++) {
        DramLocation at = address_map_locate(map, line * 128);
        ck_assert(at.channel < channels && at.bank < 16 && at.row < 4 && at.column / 128 < 32);
        ck_assert_uint_eq(at.slice / slices, at.channel);
        ck_assert_uint_eq(at.slice, address_map_slice(map, line * 128));
        DramRow row = address_map_row(map, line * 128);
        ck_assert(row.bank == at.bank && row.row == at.row);
        uint32_t place = ((at.channel * 16 + at.bank) * 4 + at.row) * 32 + at.column / 128;
        ck_assert_uint_eq(taken[place]++, 0);
        uint64_t number = address_map_within_slice(map, line * 128) / 128;
        ck_assert_uint_lt(number, lines / channels / slices);
        ck_assert_uint_eq(numbered[at.slice][number]++, 0);
    }
}
END_TEST

START_TEST(masks_that_there_cannot_be_are_refused) {
    static const struct {
        Hashes hashes;
        const char *parameter;
        double value;
        const char *expected;
    } cases[] = {
        {{4, 1, "0x100,0x2100", "", ""},
         NULL,
         0,
         "map.channel_masks: expected masks that tell apart all values of the channel bits 0x300, got "
         "'0x100,0x2100'"},
        {{4, 1, "0x100,0x2000", "", ""}, NULL, 0, "with which different addresses have one place"},
        {{4, 1, "0x100", "", ""},
         NULL,
         0,
         "map.channel_masks: expected a mask for each of 2 channel bits (0x300), got 1"},
        {{6, 1, "0x100,0x200,0x400", "", ""},
         NULL,
         0,
         "map.channels: expected a power of two with channel_masks, got 6"},
        {{4, 1, "0x100,0x240", "", ""},
         NULL,
         0,
         "map.channel_masks: expected a mask whose lowest 7 bits are 0 (a line has 128 bytes), got 0x240"},
        {{4, 1, "0x100,0x200", "", ""},
         "channel_hash",
         1,
         "map.channel_hash: expected one of channel_hash and channel_masks, got both"},
        {{4, 1, "0x100,0x200", "", ""},
         "page_size",
         4096,
         "map.page_size: expected one of page_size and channel_masks, got both"},
        {{1, 1, "0x100", "", ""},
         NULL,
         0,
         "map.channel_masks: expected a mask for each of 0 channel bits (0x0), got 1"},
        {{4, 1, "", "0x100,0x2000,0x4000,0x6100", ""},
         NULL,
         0,
         "map.bank_masks: expected masks that tell apart"},
        {{4, 1, "", "0x100,0x2000,0x4000,0x8000", ""},
         "bank_hash",
         1,
         "map.bank_hash: expected one of bank_hash and bank_masks, got both"},
        {{4, 2, "", "", "0x800"},
         NULL,
         0,
         "map.slice_masks: expected masks that tell apart all values of the slice bits 0x400"},
        {{4, 2, "", "", "eight"},
         NULL,
         0,
         "map.slice_masks: expected a mask of address bits for each slice bit, bit 0 first (\"0x80,0x100\"), "
         "got 'eight'"},
        {{4, 1, "", "1,2,4,8,16,32,64,128,256,512,1024", ""},
         NULL,
         0,
         "map.bank_masks: expected up to 10 masks, got more"},
    };
    SimObject *map = small_map(&cases[_i].hashes);
    if (cases[_i].parameter) object_set_number(map, cases[_i].parameter, cases[_i].value);
    user_error_handler(keep_error, NULL);
    if (!setjmp(error_return)) {
        sim_finish_object(map);
        sim_elaborate(sim);
    }
    ck_assert_msg(strstr(error_text, cases[_i].expected), "%s", error_text);
}
END_TEST

/* ---- Pages ---- */

static void touch(const AddressMap *map, uint64_t page, uint64_t page_size) {
    MemMessage m = {.address = page * page_size + page_size - 32, .bytes = 32};
    address_map_take_untimed(map, &m);
}

/* So many that the table grows; numbers far apart and near each other. */
static uint64_t some_page(uint64_t i) {
    return i % 2 ? i : i << 20;
}

START_TEST(pages_take_channels_in_turn_and_the_frames_of_each_without_gaps) {
    enum { PAGES = 4000, PAGE = 4096 };
    const AddressMap *map = MAP_WITH({"page_size", PAGE}, {"channel_hash", _i});
    for (uint64_t i = 0; i < PAGES; i++) {
        ck_assert(!address_map_is_placed(map, some_page(i) * PAGE));
        touch(map, some_page(i), PAGE);
        touch(map, some_page(i / 2), PAGE); /* which lies somewhere already */
    }
    for (uint64_t i = 0; i < PAGES; i++) {
        uint64_t address = some_page(i) * PAGE + 0x7a0;
        ck_assert(address_map_is_placed(map, address));
        ck_assert_uint_eq(address_map_slice(map, address), i % 6);
        ck_assert_uint_eq(address_map_within_slice(map, address), i / 6 * PAGE + 0x7a0);
        ck_assert_uint_eq(address_map_locate(map, address).row, i / 6 * PAGE >> 16);
    }
}
END_TEST

START_TEST(slices_of_a_channel_share_its_pages) {
    const AddressMap *map = MAP_WITH({"page_size", 1024}, {"slices_per_channel", 2}, {"slice_mask", 0x100});
    touch(map, 7, 1024);
    touch(map, 3, 1024);
    for (uint64_t line = 0; line < 8; line++) {
        ck_assert_uint_eq(address_map_slice(map, 3 * 1024 + line * 128), 2 + (line >> 1 & 1));
        ck_assert_uint_eq(address_map_slice(map, 7 * 1024 + line * 128), line >> 1 & 1);
    }
}
END_TEST

static int64_t answer_seventh(Subscriber *subscriber, SimObject *object, uint32_t event,
                              const int64_t *arguments, uint64_t now) {
    (void)subscriber, (void)object, (void)event, (void)now;
    ck_assert_int_eq(arguments[5], 6);
    return arguments[0] == 7 ? 5 : NO_ANSWER;
}

START_TEST(subscribers_say_where_a_page_lies) {
    Subscriber subscriber = {answer_seventh};
    const AddressMap *map = MAP_WITH({"page_size", 4096});
    object_subscribe((SimObject *)(uintptr_t)address_map_object(map), &subscriber, 1);
    for (uint64_t page = 5; page < 9; page++)
        touch(map, page, 4096);
    static const uint32_t channels[] = {0, 1, 5, 3};
    for (uint64_t page = 5; page < 9; page++)
        ck_assert_uint_eq(address_map_slice(map, page * 4096), channels[page - 5]);
}
END_TEST

START_TEST(a_damaged_table_of_pages_is_found_out) {
    Page slots[8] = {{0}};
    uint32_t frames[2] = {0};
    PageTable table = {.slot = slots, .frames = frames, .slots = 8, .channels = 2};
    ck_assert(page_table_is_sound(&table));
    for (uint64_t page = 0; page < 4; page++)
        page_table_add(&table, page, page % 2);
    ck_assert(page_table_is_sound(&table));
    Page *page = (Page *)(uintptr_t)page_table_find(&table, 3), before = *page;
    for (uint32_t damage = 0; damage < 4; damage++) {
        if (damage == 0) page->channel = 2;
        if (damage == 1) page->frame = 2;
        if (damage == 2) page->tag = 0;
        if (damage == 3) page->tag = 1 + 1; /* which there is already */
        ck_assert(!page_table_is_sound(&table));
        *page = before;
    }
    frames[0]++;
    ck_assert(!page_table_is_sound(&table));
    table = (PageTable){.slot = slots, .frames = frames, .slots = 0, .channels = 0};
    ck_assert(!page_table_is_sound(&table));
}
END_TEST

START_TEST(pages_that_there_cannot_be_are_refused) {
    ck_assert_ptr_nonnull(strstr(ERROR_OF({"page_size", 3000}), "page_size: expected 0, or a power of two"));
    tear_down();
    set_up();
    ck_assert_ptr_nonnull(strstr(ERROR_OF({"page_size", 64}), "from 128 on, got 64"));
    tear_down();
    set_up();
    ck_assert_ptr_nonnull(
        strstr(ERROR_OF({"page_size", 4096}, {"channels", 1}), "expected 0 with one channel"));
}
END_TEST

START_TEST(a_page_that_nobody_has_asked_for_lies_nowhere) {
    const AddressMap *map = MAP_WITH({"page_size", 4096});
    user_error_handler(keep_error, NULL);
    if (!setjmp(error_return)) address_map_slice(map, 0x5000);
    ck_assert_ptr_nonnull(
        strstr(error_text, "map.page_size: expected a wire of a quantum's latency or more in front of"));
    ck_assert_ptr_nonnull(strstr(error_text, "0x5000"));
}
END_TEST

START_TEST(scattered_masks_pack_to_the_right) {
    const AddressMap *map = MAP_WITH({"channels", 1}, {"row_mask", 0xaaaa0000}, {"bank_mask", 0x55550000},
                                     {"column_mask", 0xffff});
    DramLocation at = address_map_locate(map, 0x82410123);
    /* 0x8241: odd bits 15, 9 -> row bits 7, 4; even bits 6, 0 -> bank bits 3, 0 */
    ck_assert_uint_eq(at.row, 1 << 7 | 1 << 4);
    ck_assert_uint_eq(at.bank, 1 << 3 | 1);
    ck_assert_uint_eq(at.column, 0x123);
}
END_TEST

/* Consecutive lines of a channel, as many as stay in it, lie in one slice after the other. */
START_TEST(any_number_of_slices_takes_the_lines_of_a_channel_in_turn) {
    static const uint32_t counts[] = {3, 5, 6, 12};
    enum { CHANNELS = 5, LINES = 100 };
    uint32_t slices = counts[_i / 2], seen[CHANNELS * 12] = {0};
    const AddressMap *map = MAP_WITH({"channels", CHANNELS}, {"slices_per_channel", slices},
                                     {"channel_hash", _i % 2});
    ck_assert_uint_eq(address_map_slices(map), CHANNELS * slices);
    for (uint64_t block = 0; block < (uint64_t)CHANNELS * slices * LINES / 2; block++)
        for (uint64_t line = 2 * block; line < 2 * block + 2; line++) {
            DramLocation at = address_map_locate(map, line * 128);
            uint64_t of_channel = 2 * (block / CHANNELS) + line % 2;
            ck_assert_uint_eq(at.slice, at.channel * slices + of_channel % slices);
            ck_assert_uint_eq(at.slice, address_map_slice(map, line * 128 + 127));
            ck_assert_uint_eq(address_map_within_slice(map, line * 128 + 77), of_channel / slices * 128 + 77);
            seen[at.slice]++;
        }
    for (uint32_t slice = 0; slice < CHANNELS * slices; slice++)
        ck_assert_uint_eq(seen[slice], LINES);
}
END_TEST

START_TEST(a_mask_chooses_from_no_number_but_powers_of_two) {
    ck_assert_ptr_nonnull(strstr(ERROR_OF({"slices_per_channel", 3}, {"slice_mask", 0x180}),
                                 "slice_mask: expected none with slices_per_channel = 3, which is no power"));
}
END_TEST

START_TEST(overlapping_masks_are_refused) {
    ck_assert_ptr_nonnull(strstr(ERROR_OF({"bank_mask", 0x1f100}),
                                 "row_mask = 0xfff0000 and bank_mask = 0x1f100, which share"));
}
END_TEST

START_TEST(column_bits_in_the_bank_mask_are_refused) {
    ck_assert_ptr_nonnull(
        strstr(ERROR_OF({"bank_mask", 0x1e00}), "bank_mask = 0x1e00 and column_mask = 0x1eff, which share"));
}
END_TEST

START_TEST(masks_that_cut_lines_are_refused) {
    ck_assert_ptr_nonnull(strstr(ERROR_OF({"slices_per_channel", 2}, {"slice_mask", 0x40}),
                                 "(a line has 128 bytes), got 0x40"));
}
END_TEST

START_TEST(slice_mask_must_fit_the_number_of_slices) {
    ck_assert_ptr_nonnull(strstr(ERROR_OF({"slices_per_channel", 2}), "slice_mask"));
}
END_TEST

START_TEST(a_machine_without_a_map_is_refused) {
    SimObject user = {.path = (char *)(uintptr_t) "mc[0]", .sim = sim};
    user_error_handler(keep_error, NULL);
    if (!setjmp(error_return)) address_map_find(&user);
    ck_assert_str_eq(error_text, "mc[0]: expected an AddressMap in machine test, got none");
}
END_TEST

Suite *address_map_suite(void);

Suite *address_map_suite(void) {
    Suite *suite = suite_create("address_map");
    TCase *tests = tcase_create("address_map");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, gtx480_takes_an_address_apart);
    tcase_add_loop_test(tests, channel_is_the_remainder_for_any_number_of_channels, 0, 11);
    tcase_add_test(tests, bit_8_chooses_between_two_slices_and_stays_a_bank_bit);
    tcase_add_test(tests, lines_of_a_slice_are_numbered_without_gaps);
    tcase_add_loop_test(tests, any_number_of_slices_takes_the_lines_of_a_channel_in_turn, 0, 8);
    tcase_add_test(tests, a_mask_chooses_from_no_number_but_powers_of_two);
    tcase_add_test(tests, bits_that_are_a_slice_s_number_are_known_where_nothing_is_mixed);
    tcase_add_loop_test(tests, bits_of_a_slice_s_number_are_unknown_where_a_division_or_a_hash_makes_it, 0,
                        2);
    tcase_add_loop_test(tests, hashed_channels_leave_no_gaps, 0, 4);
    tcase_add_loop_test(tests, a_stride_over_hashed_channels_reaches_all_of_them, 0, 2);
    tcase_add_test(tests, a_bank_hash_adds_the_lowest_bits_of_the_row);
    tcase_add_test(tests, each_channel_bank_and_slice_bit_is_the_parity_of_the_bits_under_its_mask);
    tcase_add_test(tests, bank_masks_can_be_a_bank_hash);
    tcase_add_loop_test(tests, masks_that_are_taken_give_each_address_a_place_of_its_own, 0,
                        sizeof bijective / sizeof *bijective);
    tcase_add_loop_test(tests, masks_that_there_cannot_be_are_refused, 0, 13);
    tcase_add_loop_test(tests, pages_take_channels_in_turn_and_the_frames_of_each_without_gaps, 0, 2);
    tcase_add_test(tests, slices_of_a_channel_share_its_pages);
    tcase_add_test(tests, subscribers_say_where_a_page_lies);
    tcase_add_test(tests, a_damaged_table_of_pages_is_found_out);
    tcase_add_test(tests, pages_that_there_cannot_be_are_refused);
    tcase_add_test(tests, a_page_that_nobody_has_asked_for_lies_nowhere);
    tcase_add_test(tests, scattered_masks_pack_to_the_right);
    tcase_add_test(tests, overlapping_masks_are_refused);
    tcase_add_test(tests, column_bits_in_the_bank_mask_are_refused);
    tcase_add_test(tests, masks_that_cut_lines_are_refused);
    tcase_add_test(tests, slice_mask_must_fit_the_number_of_slices);
    tcase_add_test(tests, a_machine_without_a_map_is_refused);
    suite_add_tcase(suite, tests);
    return suite;
}
