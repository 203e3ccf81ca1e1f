/* Loads and stores of a warp in every space. The buffer holds bytes (37 * offset + 11). */
#include "core/sim/base/random.h"
#include "tests/unit/ptx/warp_fixture.h"

static uint8_t pattern(uint64_t offset) {
    return (uint8_t)(37 * offset + 11);
}

static uint64_t pattern_value(uint64_t offset, uint32_t bytes) {
    uint64_t value = 0;
    for (uint32_t byte = 0; byte < bytes; byte++)
        value |= (uint64_t)pattern(offset + byte) << 8 * byte;
    return value;
}

static void fill_pattern(void) {
    uint8_t bytes[4096];
    for (uint64_t offset = 0; offset < sizeof bytes; offset++)
        bytes[offset] = pattern(offset);
    device_write(warp.memory, warp.buffer, bytes, sizeof bytes);
    memcpy(warp.shared, bytes, sizeof warp.shared);
    memcpy(warp.local, bytes, sizeof warp.local);
    memcpy(warp.params, bytes, sizeof warp.params);
}

typedef uint64_t Layout(int lane);
static uint64_t unit_4(int lane) {
    return 128 + 4 * (uint64_t)lane;
}
static uint64_t unit_8(int lane) {
    return 128 + 8 * (uint64_t)lane;
}
static uint64_t unit_1(int lane) {
    return 128 + (uint64_t)lane;
}
static uint64_t uniform(int lane) {
    return (void)lane, 64;
}
static uint64_t scattered(int lane) {
    return 16 * ((uint64_t)lane * 7 % 32);
}
static uint64_t collide(int lane) {
    return 256 + 8 * (uint64_t)(lane % 5);
}
/* Runs of eight lanes: rows of a tile, from the last row to the first, and rows of which each begins in the one before. */
static uint64_t rows_4(int lane) {
    return 64 + 96 * (uint64_t)(lane / 8) + 4 * (uint64_t)(lane % 8);
}
static uint64_t rows_8(int lane) {
    return 64 + 136 * (uint64_t)(lane / 8) + 8 * (uint64_t)(lane % 8);
}
static uint64_t rows_1(int lane) {
    return 64 + 33 * (uint64_t)(lane / 8) + (uint64_t)(lane % 8);
}
static uint64_t rows_up(int lane) {
    return 512 - 96 * (uint64_t)(lane / 8) + 4 * (uint64_t)(lane % 8);
}
static uint64_t rows_overlap(int lane) {
    return 64 + 12 * (uint64_t)(lane / 8) + 4 * (uint64_t)(lane % 8);
}
static uint64_t one_line(int lane) {
    return 384 + 4 * (uint64_t)(lane * 11 % 32);
}
static Layout *const layouts[] = {unit_4,   unit_8, unit_1, uniform, scattered, collide,
                                  one_line, rows_4, rows_8, rows_1,  rows_up,   rows_overlap};

static void set_addresses(int slot, Layout *layout, uint64_t base, int bytes) {
    for (int lane = 0; lane < WARP_LANES; lane++) {
        if (bytes == 8) {
            set_u64(slot, lane, base + layout(lane));
        } else {
            set_u32(slot, lane, (uint32_t)(base + layout(lane)));
        }
    }
}

static const struct {
    const char *type, *register_word;
    uint32_t bytes;
    bool is_signed;
} load_types[] = {{"u8", "r2", 1, 0},  {"s8", "r4", 1, 1},  {"b8", "r8", 1, 0},  {"s8", "r8", 1, 1},
                  {"u16", "r2", 2, 0}, {"s16", "r4", 2, 1}, {"u16", "r8", 2, 0}, {"s16", "r8", 2, 1},
                  {"f32", "r4", 4, 0}, {"u32", "r8", 4, 0}, {"s32", "r8", 4, 1}, {"u64", "r8", 8, 0},
                  {"f64", "r8", 8, 0}};
enum { LOAD_TYPES = sizeof load_types / sizeof *load_types };

static uint64_t extended(uint64_t value, uint32_t bytes, bool is_signed, bool wide) {
    if (is_signed) value = (uint64_t)((int64_t)(value << (64 - 8 * bytes)) >> (64 - 8 * bytes));
    return wide ? value : (uint32_t)value;
}

START_TEST(loads_extend_to_the_register_in_every_space_and_layout) {
    static const struct {
        const char *space;
        uint64_t base;
        int address_bytes;
    } spaces[] = {{"global.", 0, 8}, {"global.nc.", 0, 8},  {"volatile.global.", 0, 8},
                  {"const.", 0, 8},  {"shared.", 0, 4},     {"shared.", 0, 8},
                  {"", 0, 8},        {"", SHARED_WINDOW, 8}};
    static const uint32_t masks[] = {UINT32_MAX, 0xfffbfffeu, 0x0ff0f00fu, 0x80000000u, 0};
    bool wide = load_types[_i].register_word[1] == '8';
    uint32_t bytes = load_types[_i].bytes;
    fill_pattern();
    for (size_t s = 0; s < sizeof spaces / sizeof *spaces; s++) {
        for (size_t l = 0; l < sizeof layouts / sizeof *layouts; l++) {
            if (layouts[l](1) % bytes) continue;
            for (size_t m = 0; m < sizeof masks / sizeof *masks; m++) {
                char form[64], operands[16];
                bool is_shared = strstr(spaces[s].space, "shared") || spaces[s].base;
                snprintf(form, sizeof form, "ld.%s%s", spaces[s].space, load_types[_i].type);
                snprintf(operands, sizeof operands, "%s a%d", load_types[_i].register_word,
                         spaces[s].address_bytes);
                set_addresses(1, layouts[l], is_shared ? spaces[s].base + 8 : warp.buffer + 8,
                              spaces[s].address_bytes);
                for (int lane = 0; lane < WARP_LANES; lane++)
                    set_u64(0, lane, 0x5555555555555555ull);
                warp.context.active = masks[m];
                execute_displaced(form, operands, -8);
                ck_assert_uint_eq(warp.context.fault, FAULT_NONE);
                if (masks[m])
                    ck_assert_uint_eq(warp.context.space, is_shared                 ? SPACE_SHARED
                                                          : *spaces[s].space == 'c' ? SPACE_CONST
                                                                                    : SPACE_GLOBAL);
                for (int lane = 0; lane < WARP_LANES; lane++) {
                    uint64_t result = wide ? get_u64(0, lane) : get_u32(0, lane);
                    uint64_t kept = wide ? 0x5555555555555555ull : 0x55555555u;
                    uint64_t loaded = extended(pattern_value(layouts[l](lane), bytes), bytes,
                                               load_types[_i].is_signed, wide);
                    ck_assert_msg(result == (masks[m] >> lane & 1 ? loaded : kept),
                                  "%s layout %zu mask 0x%x lane %d", form, l, masks[m], lane);
                    if (masks[m] >> lane & 1)
                        ck_assert_uint_eq(warp.context.address[lane],
                                          layouts[l](lane) + (is_shared ? 0 : warp.buffer));
                }
            }
        }
    }
}
END_TEST

START_TEST(parameters_are_read_at_constant_and_at_register_addresses) {
    fill_pattern();
    set_constant(1, 8, 16);
    execute_displaced("ld.param.u64", "r8 ai", 8);
    for (int lane = 0; lane < WARP_LANES; lane++)
        ck_assert_uint_eq(get_u64(0, lane), pattern_value(24, 8));
    ck_assert_uint_eq(warp.context.space, SPACE_PARAM);
    for (int lane = 0; lane < WARP_LANES; lane++)
        set_u64(1, lane, (uint64_t)lane % 16 * 4);
    execute("ld.param.f32", "r4 a8");
    for (int lane = 0; lane < WARP_LANES; lane++)
        ck_assert_uint_eq(get_u32(0, lane), pattern_value((uint64_t)lane % 16 * 4, 4));
    set_constant(2, 8, 8);
    execute("ld.param.v2.u32", "r4 r4 ai");
    ck_assert_uint_eq(get_u32(1, 31), pattern_value(12, 4));
    set_constant(1, 8, FIXTURE_PARAMS);
    execute("ld.param.u8", "r2 ai");
    ck_assert_uint_eq(warp.context.fault, FAULT_OUT_OF_BOUNDS);
}
END_TEST

/* Offsets of the words that lanes read, from some word on; with the last, their extent. */
static uint32_t rows_for_halves(int lane) {
    return 4 * (uint32_t)(lane / 16 * 16 + lane % 16 / 8);
}
static uint32_t both_halves_alike(int lane) {
    return 4 * (uint32_t)(lane % 16);
}
static uint32_t backwards(int lane) {
    return 4 * (uint32_t)(31 - lane);
}
static uint32_t mixed(int lane) {
    return 4 * (uint32_t)(lane * 13 % 32);
}
static uint32_t a_word_beyond_the_window(int lane) {
    return lane == 20 ? 128 : 4 * (uint32_t)(lane * 11 % 32);
}
static uint32_t far_apart(int lane) {
    return 132 * (uint32_t)(lane % 3);
}
static const struct {
    uint32_t (*offset)(int lane);
    uint32_t bytes;
} word_layouts[] = {{rows_for_halves, 72}, {both_halves_alike, 64},         {backwards, 128},
                    {mixed, 128},          {a_word_beyond_the_window, 132}, {far_apart, 268}};

static void expect_words(size_t layout, uint32_t first, uint32_t active) {
    for (int lane = 0; lane < WARP_LANES; lane++) {
        set_u32(0, lane, 0x55555555u);
        set_u32(1, lane, active >> lane & 1 ? first + word_layouts[layout].offset(lane) : 0xdeadbeefu);
    }
    warp.context.active = active;
    execute("ld.shared.u32", "r4 a4");
    ck_assert_uint_eq(warp.context.fault, FAULT_NONE);
    for (int lane = 0; lane < WARP_LANES; lane++) {
        uint64_t loaded = pattern_value(first + word_layouts[layout].offset(lane), 4);
        ck_assert_msg(get_u32(0, lane) == (active >> lane & 1 ? loaded : 0x55555555u),
                      "layout %zu from %u on, mask 0x%x, lane %d", layout, first, active, lane);
    }
}

START_TEST(words_of_shared_memory_reach_their_lanes_wherever_they_lie) {
    static const uint32_t masks[] = {UINT32_MAX, 0xfffbfffeu, 0x0ff0f00fu, 1u << 20, 0};
    fill_pattern();
    for (size_t m = 0; m < sizeof masks / sizeof *masks; m++) {
        for (size_t layout = 0; layout < sizeof word_layouts / sizeof *word_layouts; layout++) {
            uint32_t bytes = word_layouts[layout].bytes;
            for (uint32_t first = 0; first < 12; first += 4) {
                /* At the start, at the end, at the end of a memory that is no whole number of words, and in
                 * one that holds just these words. */
                warp.context.shared_bytes = FIXTURE_SHARED;
                expect_words(layout, first, masks[m]);
                expect_words(layout, FIXTURE_SHARED - bytes - first, masks[m]);
                warp.context.shared_bytes = FIXTURE_SHARED - 1;
                expect_words(layout, FIXTURE_SHARED - 4 - bytes - first, masks[m]);
                warp.context.shared_bytes = bytes + first + 3;
                expect_words(layout, first, masks[m]);
            }
        }
    }
}
END_TEST

START_TEST(vector_loads_fill_registers_and_skip_the_sink) {
    fill_pattern();
    for (int lane = 0; lane < WARP_LANES; lane++)
        set_u64(4, lane, warp.buffer + 16 * (uint64_t)lane);
    execute("ld.global.v4.f32", "r4 r4 r4 r4 a8");
    for (int lane = 0; lane < WARP_LANES; lane++) {
        for (int element = 0; element < 4; element++)
            ck_assert_uint_eq(get_u32(element, lane),
                              pattern_value(16 * (uint64_t)lane + 4 * (uint64_t)element, 4));
    }
    for (int lane = 0; lane < WARP_LANES; lane++)
        set_u32(2, lane, 0x77);
    execute("ld.global.v4.u32", "r4 _ _ r4 a8");
    ck_assert_uint_eq(warp.inst.dst_mask, 9);
    ck_assert_uint_eq(warp.inst.dst_count, 2);
    ck_assert_uint_eq(get_u32(2, 3), 0x77);
    ck_assert_uint_eq(get_u32(3, 3), pattern_value(60, 4));
    for (int lane = 0; lane < WARP_LANES; lane++)
        set_u32(4, lane, 4 * (uint32_t)lane);
    execute("ld.shared.v4.u8", "r2 r2 r2 r2 a4");
    ck_assert_uint_eq(get_u32(3, 31), pattern(127));
    for (int lane = 0; lane < WARP_LANES; lane++)
        set_u64(2, lane, warp.buffer + 16 * (uint64_t)lane);
    execute("ld.global.v2.u64", "r8 r8 a8");
    ck_assert_uint_eq(get_u64(1, 2), pattern_value(40, 8));
}
END_TEST

START_TEST(a_load_may_overwrite_its_address) {
    uint64_t chain[WARP_LANES];
    for (int lane = 0; lane < WARP_LANES; lane++)
        chain[lane] = warp.buffer + 8 * ((uint64_t)lane * 5 % 32);
    device_write(warp.memory, warp.buffer, chain, sizeof chain);
    for (int lane = 0; lane < WARP_LANES; lane++)
        set_u64(0, lane, warp.buffer + 8 * (uint64_t)lane);
    char why[100];
    ck_assert(choose("ld.global.u64", "r8 a8", why, sizeof why));
    warp.inst.src[0] = warp.inst.dst[0];
    for (int step = 0; step < 3; step++)
        warp.inst.exec(&warp.inst, &warp.context);
    for (int lane = 0; lane < WARP_LANES; lane++)
        ck_assert_uint_eq(get_u64(0, lane), warp.buffer + 8 * ((uint64_t)lane * 125 % 32));
}
END_TEST

static const struct {
    const char *type, *register_word;
    uint32_t bytes;
} store_types[] = {{"u8", "r2", 1},  {"b8", "r8", 1},  {"u16", "r2", 2}, {"s16", "r8", 2},
                   {"f32", "r4", 4}, {"u32", "r8", 4}, {"f64", "r8", 8}};
enum { STORE_TYPES = sizeof store_types / sizeof *store_types };

/* As without timing, where nobody else executes. */
static void store_alone(const char *form, const char *operands) {
    warp.view.is_alone = true;
    execute(form, operands);
    view_commit(&warp.view);
    warp.view.is_alone = false;
}

START_TEST(stores_write_low_bytes_and_the_highest_lane_wins) {
    static const struct {
        const char *space;
        bool is_shared;
        int address_bytes;
    } spaces[] = {
        {"global.", false, 8}, {"volatile.global.", false, 8}, {"shared.", true, 4}, {"", false, 8}};
    static const uint32_t masks[] = {UINT32_MAX, 0xfffbfffeu, 0x0ff0f00fu, 1, 0};
    uint32_t bytes = store_types[_i].bytes;
    for (size_t s = 0; s < sizeof spaces / sizeof *spaces; s++) {
        for (size_t l = 0; l < sizeof layouts / sizeof *layouts; l++) {
            if (layouts[l](1) % bytes) continue;
            for (size_t m = 0; m < sizeof masks / sizeof *masks; m++) {
                char form[64], operands[16];
                snprintf(form, sizeof form, "st.%s%s", spaces[s].space, store_types[_i].type);
                snprintf(operands, sizeof operands, "a%d %s", spaces[s].address_bytes,
                         store_types[_i].register_word);
                uint8_t expected[1024], before[1024], seen[1024];
                for (size_t offset = 0; offset < sizeof expected; offset++)
                    before[offset] = expected[offset] = 0xcc;
                device_write(warp.memory, warp.buffer, expected, sizeof expected);
                memcpy(warp.shared, expected, sizeof expected);
                set_addresses(0, layouts[l], spaces[s].is_shared ? 0 : warp.buffer, spaces[s].address_bytes);
                for (int lane = 0; lane < WARP_LANES; lane++) {
                    uint64_t value = UINT64_C(0x0102030405060708) * (uint64_t)(lane + 1);
                    store_types[_i].register_word[1] == '8' ? set_u64(1, lane, value)
                                                            : set_u32(1, lane, (uint32_t)value);
                    if (masks[m] >> lane & 1) memcpy(expected + layouts[l](lane), &value, bytes);
                }
                warp.context.active = masks[m];
                execute(form, operands);
                ck_assert_uint_eq(warp.context.fault, FAULT_NONE);
                if (spaces[s].is_shared) {
                    ck_assert_mem_eq(warp.shared, expected, sizeof expected);
                    continue;
                }
                device_read(warp.memory, warp.buffer, seen, sizeof seen);
                ck_assert_mem_eq(seen, before, sizeof seen);
                for (uint64_t offset = 0; offset < sizeof seen; offset++) {
                    ck_assert_uint_eq(load(&warp.view, warp.buffer + offset, 1), expected[offset]);
                }
                view_commit(&warp.view);
                device_read(warp.memory, warp.buffer, seen, sizeof seen);
                ck_assert_msg(memcmp(seen, expected, sizeof seen) == 0, "%s layout %zu mask 0x%x", form, l,
                              masks[m]);
                device_write(warp.memory, warp.buffer, before, sizeof before);
                store_alone(form, operands);
                device_read(warp.memory, warp.buffer, seen, sizeof seen);
                ck_assert_msg(memcmp(seen, expected, sizeof seen) == 0, "alone: %s layout %zu mask 0x%x",
                              form, l, masks[m]);
            }
        }
    }
}
END_TEST

START_TEST(a_warp_loads_what_it_stored_in_the_same_quantum) {
    fill_pattern();
    for (int lane = 0; lane < WARP_LANES; lane++) {
        set_u64(0, lane, warp.buffer + 4 * (uint64_t)lane);
        set_u32(1, lane, 0xabc00000u + (uint32_t)lane);
    }
    execute("st.global.u32", "a8 r4");
    for (int lane = 0; lane < WARP_LANES; lane++)
        set_u64(1, lane, warp.buffer + 4 * (uint64_t)lane);
    execute("ld.global.u32", "r4 a8");
    for (int lane = 0; lane < WARP_LANES; lane++)
        ck_assert_uint_eq(get_u32(0, lane), 0xabc00000u + (uint32_t)lane);
    for (int lane = 0; lane < WARP_LANES; lane++)
        set_u64(1, lane, warp.buffer + 64 + 8 * (uint64_t)lane);
    execute("ld.global.u64", "r8 a8");
    ck_assert_uint_eq(get_u64(0, 0), 0xabc00011abc00010ull);
    ck_assert_uint_eq(get_u64(0, 8), pattern_value(128, 8));
    for (int lane = 0; lane < WARP_LANES; lane++)
        set_u64(1, lane, warp.buffer + 126 - (uint64_t)lane * 2);
    execute("ld.global.s16", "r4 a8");
    ck_assert_uint_eq(get_u32(0, 0), 0xffffabc0u);
    ck_assert_uint_eq(get_u32(0, 1), 31);
}
END_TEST

START_TEST(local_memory_is_private_to_a_lane) {
    for (int lane = 0; lane < WARP_LANES; lane++) {
        set_u32(0, lane, 8);
        set_u32(1, lane, 1000 + (uint32_t)lane);
        set_u32(2, lane, 2000 + (uint32_t)lane);
    }
    warp.context.active = 0xfffffff0u;
    execute("st.local.v2.u32", "a4 r4 r4");
    ck_assert_uint_eq(warp.context.space, SPACE_LOCAL);
    ck_assert_uint_eq(warp.context.address[31], 8);
    warp.context.active = UINT32_MAX;
    for (int lane = 0; lane < WARP_LANES; lane++)
        set_u64(1, lane, LOCAL_WINDOW + 12);
    execute("ld.u32", "r4 a8");
    ck_assert_uint_eq(warp.context.space, SPACE_LOCAL);
    for (int lane = 0; lane < WARP_LANES; lane++)
        ck_assert_uint_eq(get_u32(0, lane), lane < 4 ? 0 : 2000 + (uint32_t)lane);
    for (int lane = 0; lane < WARP_LANES; lane++)
        set_u32(1, lane, FIXTURE_LOCAL - 4);
    execute("ld.local.u32", "r4 a4");
    ck_assert_uint_eq(warp.context.fault, FAULT_NONE);
    execute("ld.local.v2.u32", "r4 r4 a4");
    ck_assert_uint_eq(warp.context.fault, FAULT_OUT_OF_BOUNDS);
}
END_TEST

START_TEST(generic_accesses_split_by_space) {
    fill_pattern();
    for (int lane = 0; lane < WARP_LANES; lane++) {
        uint64_t base = lane % 3 == 0 ? SHARED_WINDOW : lane % 3 == 1 ? warp.buffer : LOCAL_WINDOW;
        set_u64(1, lane, base + 4 * (uint64_t)(lane % 16));
    }
    execute("ld.u32", "r4 a8");
    ck_assert_uint_eq(warp.context.fault, FAULT_NONE);
    ck_assert_uint_eq(warp.context.space, SPACE_SHARED);
    ck_assert_uint_eq(warp.context.active, UINT32_MAX);
    for (int lane = 0; lane < WARP_LANES; lane++) {
        uint64_t word = (uint64_t)lane % 16,
                 offset = 4 * (lane % 3 == 2 ? word * WARP_LANES + (uint64_t)lane : word);
        ck_assert_uint_eq(get_u32(0, lane), pattern_value(offset, 4));
        ck_assert_uint_eq(warp.context.address[lane],
                          4 * (uint64_t)(lane % 16) + (lane % 3 == 1 ? warp.buffer : 0));
    }
    for (int lane = 0; lane < WARP_LANES; lane++)
        set_u64(0, lane, get_u64(1, lane));
    for (int lane = 0; lane < WARP_LANES; lane++)
        set_u32(1, lane, 500 + (uint32_t)lane);
    warp.context.active = 0xfffffffeu;
    execute("st.u32", "a8 r4");
    ck_assert_uint_eq(warp.context.space, SPACE_GLOBAL);
    uint32_t value;
    memcpy(&value, warp.shared + 4 * 14, 4);
    ck_assert_uint_eq(value, 530);
    ck_assert_uint_eq(load(&warp.view, warp.buffer + 4 * 15, 4), 531);
    memcpy(&value, warp.local + 4 * (13 * WARP_LANES + 29), 4);
    ck_assert_uint_eq(value, 529);
}
END_TEST

START_TEST(generic_loads_read_parameters_and_stores_may_not_write_them) {
    fill_pattern();
    for (int lane = 0; lane < WARP_LANES; lane++) {
        uint64_t base = lane % 3 == 0 ? PARAM_WINDOW : lane % 3 == 1 ? warp.buffer : SHARED_WINDOW;
        set_u64(1, lane, base + 4 * (uint64_t)(lane % 16));
    }
    execute("ld.u32", "r4 a8");
    ck_assert_uint_eq(warp.context.fault, FAULT_NONE);
    ck_assert_uint_eq(warp.context.space, SPACE_PARAM);
    ck_assert_uint_eq(warp.context.active, UINT32_MAX);
    for (int lane = 0; lane < WARP_LANES; lane++) {
        uint64_t offset = 4 * (uint64_t)(lane % 16);
        ck_assert_uint_eq(get_u32(0, lane), pattern_value(offset, 4));
        ck_assert_uint_eq(warp.context.address[lane], offset + (lane % 3 == 1 ? warp.buffer : 0));
    }
    warp.context.active = 1;
    set_u64(1, 0, PARAM_WINDOW + FIXTURE_PARAMS - 4);
    execute("ld.u32", "r4 a8");
    ck_assert_uint_eq(warp.context.fault, FAULT_NONE);
    execute("ld.u64", "r8 a8");
    ck_assert_uint_eq(warp.context.fault, FAULT_OUT_OF_BOUNDS);
    warp.context.fault = FAULT_NONE;
    set_u64(0, 0, PARAM_WINDOW);
    execute("st.u32", "a8 r4");
    ck_assert_uint_eq(warp.context.fault, FAULT_OUT_OF_BOUNDS);
    ck_assert_uint_eq(warp.context.fault_address, PARAM_WINDOW);
}
END_TEST

static void expect_fault(const char *form, const char *operands, FaultKind fault, uint32_t lane,
                         uint64_t address) {
    execute(form, operands);
    ck_assert_msg(warp.context.fault == fault, "%s: fault %u, expected %d", form, warp.context.fault, fault);
    ck_assert_uint_eq(warp.context.fault_lane, lane);
    ck_assert_uint_eq(warp.context.fault_address, address);
}

/* All in one line. */
START_TEST(words_of_a_small_table_reach_their_lanes) {
    enum { WORDS = 20 };
    Random random = {17};
    uint64_t table = device_alloc(warp.memory, 4 * WORDS);
    for (uint32_t i = 0; i < WORDS; i++)
        device_write(warp.memory, table + 4 * i, &(uint32_t){1000 + i}, 4);
    for (int turn = 0; turn < 300; turn++) {
        uint32_t index[WARP_LANES];
        warp.context.active = turn % 3 ? (uint32_t)random_below(&random, 1ull << 32) | 1 : UINT32_MAX;
        for (int lane = 0; lane < WARP_LANES; lane++) {
            index[lane] = (uint32_t)random_below(&random, WORDS);
            set_u64(1, lane, table + 4 * index[lane]);
            set_u32(0, lane, 7);
        }
        execute("ld.global.u32", "r4 a8");
        ck_assert_uint_eq(warp.context.fault, FAULT_NONE);
        for (int lane = 0; lane < WARP_LANES; lane++)
            ck_assert_uint_eq(get_u32(0, lane), warp.context.active >> lane & 1 ? 1000 + index[lane] : 7);
    }
    warp.context.active = UINT32_MAX;
    set_u64(1, 13, table + 2);
    expect_fault("ld.global.u32", "r4 a8", FAULT_MISALIGNED, 13, table + 2);
}
END_TEST

START_TEST(out_of_bounds_and_misaligned_lanes_are_reported) {
    uint64_t end = warp.buffer + (1 << 16);
    set_addresses(1, unit_4, warp.buffer, 8);
    set_u64(1, 9, end - 3);
    set_u32(0, 9, 0x1234);
    expect_fault("ld.global.u32", "r4 a8", FAULT_OUT_OF_BOUNDS, 9, end - 3);
    ck_assert_uint_eq(get_u32(0, 9), 0x1234);
    set_u64(1, 9, end - 4);
    execute("ld.global.u32", "r4 a8");
    ck_assert_uint_eq(warp.context.fault, FAULT_NONE);
    set_u64(1, 9, end - 6);
    expect_fault("ld.global.u32", "r4 a8", FAULT_MISALIGNED, 9, end - 6);
    warp.context.active = ~(1u << 9);
    execute("ld.global.u32", "r4 a8");
    ck_assert_uint_eq(warp.context.fault, FAULT_NONE);
    warp.context.active = UINT32_MAX;

    set_addresses(0, unit_4, end - 128, 8);
    expect_fault("st.global.u32", "a8 r4", FAULT_OUT_OF_BOUNDS, 0, end);
    ck_assert_uint_eq(warp.view.log_count, 0);
    set_addresses(0, unit_4, end - 252, 8);
    expect_fault("st.global.u32", "a8 r4", FAULT_OUT_OF_BOUNDS, 31, end);
    set_addresses(0, unit_4, 2, 4);
    expect_fault("st.shared.u32", "a4 r4", FAULT_MISALIGNED, 0, 130);
    set_addresses(0, unit_4, FIXTURE_SHARED - 128 - 64, 4);
    expect_fault("st.shared.u32", "a4 r4", FAULT_OUT_OF_BOUNDS, 16, FIXTURE_SHARED);
    set_addresses(1, unit_4, UINT64_MAX - 140, 8);
    expect_fault("ld.shared.u32", "r4 a8", FAULT_OUT_OF_BOUNDS, 0, UINT64_MAX - 12);
    set_addresses(4, unit_8, warp.buffer, 8);
    expect_fault("ld.global.v4.f32", "r4 r4 r4 r4 a8", FAULT_MISALIGNED, 1, warp.buffer + 136);
    set_addresses(1, uniform, 0, 8);
    expect_fault("ld.u32", "r4 a8", FAULT_OUT_OF_BOUNDS, 0, 64);
}
END_TEST

/* The run that ends beyond all addresses is neither the lowest nor, by its end, the highest. */
START_TEST(a_run_of_lanes_that_wraps_around_is_out_of_bounds) {
    for (int lane = 0; lane < WARP_LANES; lane++)
        set_u64(1, lane,
                (lane / 8 == 2 ? UINT64_MAX - 15 : 64 * (uint64_t)(lane / 8)) + 4 * (uint64_t)(lane % 8));
    for (int lane = 0; lane < WARP_LANES; lane++)
        set_u64(2, lane, get_u64(1, lane));
    expect_fault("ld.shared.u32", "r4 a8", FAULT_OUT_OF_BOUNDS, 16, UINT64_MAX - 15);
    expect_fault("ld.shared.u16", "r4 a8", FAULT_OUT_OF_BOUNDS, 16, UINT64_MAX - 15);
    for (int lane = 0; lane < WARP_LANES; lane++)
        set_u64(0, lane, get_u64(2, lane));
    expect_fault("st.shared.u32", "a8 r4", FAULT_OUT_OF_BOUNDS, 16, UINT64_MAX - 15);
    for (int lane = 0; lane < WARP_LANES; lane++)
        set_u64(0, lane, (lane / 8 == 2 ? 0 : warp.buffer) + get_u64(2, lane));
    expect_fault("st.global.u32", "a8 r4", FAULT_OUT_OF_BOUNDS, 16, UINT64_MAX - 15);
}
END_TEST

/* Wherever they lie: most of these are out of bounds. */
START_TEST(lowest_and_highest_are_those_of_the_active_lanes) {
    Random random = {31};
    for (int turn = 0; turn < 500; turn++) {
        uint64_t lowest = UINT64_MAX, highest = 0;
        warp.context.active = 1u << turn % WARP_LANES | (uint32_t)random_below(&random, 1ull << 32);
        for (int lane = 0; lane < WARP_LANES; lane++) {
            uint64_t address = random_below(&random, 1ull << 32) << 32 | random_below(&random, 1ull << 32);
            set_u64(1, lane, address >> random_below(&random, 64));
            if (!(warp.context.active >> lane & 1)) continue;
            lowest = get_u64(1, lane) < lowest ? get_u64(1, lane) : lowest;
            highest = get_u64(1, lane) > highest ? get_u64(1, lane) : highest;
        }
        execute("ld.global.u8", "r4 a8");
        ck_assert_uint_eq(warp.context.lowest, lowest);
        ck_assert_uint_eq(warp.context.highest, highest);
    }
}
END_TEST

START_TEST(lanes_may_fall_into_different_allocations) {
    uint64_t second = device_alloc(warp.memory, 4096);
    uint32_t value = 0x600d;
    device_write(warp.memory, second + 4, &value, 4);
    device_write(warp.memory, warp.buffer + 4, &value, 4);
    for (int lane = 0; lane < WARP_LANES; lane++)
        set_u64(1, lane, (lane % 2 ? second : warp.buffer) + 4);
    execute("ld.global.u32", "r4 a8");
    ck_assert_uint_eq(warp.context.fault, FAULT_NONE);
    for (int lane = 0; lane < WARP_LANES; lane++)
        ck_assert_uint_eq(get_u32(0, lane), 0x600d);
    uint8_t words[64];
    memset(words, 0x5a, sizeof words);
    device_write(warp.memory, second, words, sizeof words);
    device_write(warp.memory, warp.buffer, words, sizeof words);
    for (int lane = 0; lane < WARP_LANES; lane++)
        set_u64(1, lane, (lane / 8 % 2 ? second : warp.buffer) + 4 * (uint64_t)(lane % 8));
    execute("ld.global.u32", "r4 a8");
    ck_assert_uint_eq(warp.context.fault, FAULT_NONE);
    for (int lane = 0; lane < WARP_LANES; lane++)
        ck_assert_uint_eq(get_u32(0, lane), 0x5a5a5a5a);
}
END_TEST

START_TEST(thirty_two_bit_addresses_wrap_around) {
    fill_pattern();
    for (int lane = 0; lane < WARP_LANES; lane++)
        set_u32(1, lane, (uint32_t)lane * 4 - 16);
    execute_displaced("ld.shared.u32", "r4 a4", 16);
    for (int lane = 0; lane < WARP_LANES; lane++)
        ck_assert_uint_eq(get_u32(0, lane), pattern_value(4 * (uint64_t)lane, 4));
}
END_TEST

START_TEST(cache_operators_and_volatile_are_recorded) {
    static const struct {
        const char *form, *operands;
        CacheOp cache_op;
    } cases[] = {{"ld.global.f32", "r4 a8", CACHE_DEFAULT},
                 {"ld.global.ca.f32", "r4 a8", CACHE_ALL},
                 {"ld.global.cg.u32", "r4 a8", CACHE_GLOBAL},
                 {"ld.global.cs.u32", "r4 a8", CACHE_STREAMING},
                 {"ld.global.nc.u32", "r4 a8", CACHE_READ_ONLY},
                 {"ld.global.ca.nc.u32", "r4 a8", CACHE_READ_ONLY},
                 {"ld.global.cg.nc.u32", "r4 a8", CACHE_GLOBAL},
                 {"ld.global.lu.u32", "r4 a8", CACHE_STREAMING},
                 {"ld.global.cv.u32", "r4 a8", CACHE_VOLATILE},
                 {"ld.volatile.global.u32", "r4 a8", CACHE_VOLATILE},
                 {"ld.relaxed.gpu.global.u32", "r4 a8", CACHE_GLOBAL},
                 {"ld.acquire.cta.global.u32", "r4 a8", CACHE_DEFAULT},
                 {"st.global.wt.u32", "a8 r4", CACHE_VOLATILE},
                 {"st.release.sys.global.u32", "a8 r4", CACHE_GLOBAL},
                 {"st.weak.global.wb.u32", "a8 i4", CACHE_ALL}};
    for (size_t index = 0; index < sizeof cases / sizeof *cases; index++) {
        char why[200] = "";
        ck_assert_msg(choose(cases[index].form, cases[index].operands, why, sizeof why), "%s: %s",
                      cases[index].form, why);
        ck_assert_msg(warp.inst.cache_op == cases[index].cache_op, "%s", cases[index].form);
        ck_assert_uint_eq(warp.inst.element_bytes, 4);
        ck_assert_uint_eq(warp.inst.elements, 1);
    }
}
END_TEST

Suite *loads_stores_suite(void);
Suite *loads_stores_suite(void) {
    Suite *suite = suite_create("loads and stores");
    TCase *cases = tcase_create("loads and stores");
    tcase_add_checked_fixture(cases, warp_setup, warp_teardown);
    tcase_add_loop_test(cases, loads_extend_to_the_register_in_every_space_and_layout, 0, LOAD_TYPES);
    tcase_add_test(cases, parameters_are_read_at_constant_and_at_register_addresses);
    tcase_add_test(cases, words_of_shared_memory_reach_their_lanes_wherever_they_lie);
    tcase_add_test(cases, words_of_a_small_table_reach_their_lanes);
    tcase_add_test(cases, vector_loads_fill_registers_and_skip_the_sink);
    tcase_add_test(cases, a_load_may_overwrite_its_address);
    tcase_add_loop_test(cases, stores_write_low_bytes_and_the_highest_lane_wins, 0, STORE_TYPES);
    tcase_add_test(cases, a_warp_loads_what_it_stored_in_the_same_quantum);
    tcase_add_test(cases, local_memory_is_private_to_a_lane);
    tcase_add_test(cases, generic_accesses_split_by_space);
    tcase_add_test(cases, generic_loads_read_parameters_and_stores_may_not_write_them);
    tcase_add_test(cases, out_of_bounds_and_misaligned_lanes_are_reported);
    tcase_add_test(cases, a_run_of_lanes_that_wraps_around_is_out_of_bounds);
    tcase_add_test(cases, lowest_and_highest_are_those_of_the_active_lanes);
    tcase_add_test(cases, lanes_may_fall_into_different_allocations);
    tcase_add_test(cases, thirty_two_bit_addresses_wrap_around);
    tcase_add_test(cases, cache_operators_and_volatile_are_recorded);
    suite_add_tcase(suite, cases);
    return suite;
}
