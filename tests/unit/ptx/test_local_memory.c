/* Loads and stores of local memory. Those of all lanes at the same address have a way of their own: it must do what a
 * look at each lane does. */
#include "core/sim/base/random.h"
#include "tests/unit/ptx/warp_fixture.h"

static const struct {
    const char *type, *value; /* value: the register */
    uint64_t bytes, register_bytes;
    bool is_signed;
} types[] = {{"u8", "r4", 1, 4, false},  {"s8", "r4", 1, 4, true},   {"u16", "r4", 2, 4, false},
             {"s16", "r4", 2, 4, true},  {"b16", "r2", 2, 4, false}, {"u32", "r4", 4, 4, false},
             {"f32", "r4", 4, 4, false}, {"s32", "r8", 4, 8, true},  {"u16", "r8", 2, 8, false},
             {"s8", "r8", 1, 8, true},   {"b64", "r8", 8, 8, false}, {"f64", "r8", 8, 8, false}};
enum { TYPES = sizeof types / sizeof *types };

/* Of a lane's own memory, in that of the warp: words of all lanes side by side. */
static void get_bytes(const uint8_t *memory, int lane, uint64_t address, void *bytes, uint64_t count) {
    for (uint64_t i = address; i < address + count; i++)
        ((uint8_t *)bytes)[i - address] = memory[(i / 4 * WARP_LANES + (uint64_t)lane) * 4 + i % 4];
}
static void set_bytes(uint8_t *memory, int lane, uint64_t address, const void *bytes, uint64_t count) {
    for (uint64_t i = address; i < address + count; i++)
        memory[(i / 4 * WARP_LANES + (uint64_t)lane) * 4 + i % 4] = ((const uint8_t *)bytes)[i - address];
}

static void fill_randomly(Random *random, void *bytes, size_t count) {
    for (size_t i = 0; i < count; i++)
        ((uint8_t *)bytes)[i] = (uint8_t)random_below(random, 256);
}

/* Of an operand that is an address: one of these in turn. */
static const char *const address_words[] = {"a4", "a8", "ai"};
enum { ADDRESS_WORDS = sizeof address_words / sizeof *address_words };

/* Addresses in slot `k` of registers, or, for an immediate, of constants, less what the instruction adds. */
static void set_addresses(int k, const char *word, const uint64_t address[WARP_LANES], int64_t displacement) {
    int bytes = operand_bytes(word, 0);
    set_constant(k, 8, address[0] - (uint64_t)displacement);
    for (int lane = 0; lane < WARP_LANES; lane++) {
        if (bytes == 8)
            set_u64(k, lane, address[lane] - (uint64_t)displacement);
        else
            set_u32(k, lane, (uint32_t)(address[lane] - (uint64_t)displacement));
    }
}

/* The same in all lanes, or one lane, which may be inactive, elsewhere. */
static void choose_addresses(Random *random, const char *word, uint64_t bytes, uint64_t address[WARP_LANES]) {
    uint64_t places = FIXTURE_LOCAL / bytes, place = random_below(random, places);
    bool alike = word[1] == 'i' || random_below(random, 2);
    for (int lane = 0; lane < WARP_LANES; lane++)
        address[lane] = place * bytes;
    if (!alike) address[random_below(random, WARP_LANES)] = (place + 1) % places * bytes;
}

static uint64_t value_at(int lane, uint64_t address, int type) {
    uint64_t value = 0;
    get_bytes(warp.local, lane, address, &value, types[type].bytes);
    uint64_t unused = 64 - 8 * types[type].bytes;
    if (types[type].is_signed) value = (uint64_t)((int64_t)(value << unused) >> unused);
    return types[type].register_bytes == 8 ? value : (uint32_t)value;
}

static uint64_t get_value(int slot, int lane, int type) {
    return types[type].register_bytes == 8 ? get_u64(slot, lane) : get_u32(slot, lane);
}

static void assert_addresses(const uint64_t address[WARP_LANES], uint32_t active) {
    uint64_t lowest = UINT64_MAX, highest = 0;
    for (int lane = 0; lane < WARP_LANES; lane++) {
        if (!(active >> lane & 1)) continue;
        ck_assert_uint_eq(warp.context.address[lane], address[lane]);
        lowest = address[lane] < lowest ? address[lane] : lowest;
        highest = address[lane] > highest ? address[lane] : highest;
    }
    ck_assert_uint_eq(warp.context.lowest, lowest);
    ck_assert_uint_eq(warp.context.highest, highest);
    ck_assert_uint_eq(warp.context.space, SPACE_LOCAL);
    ck_assert_uint_eq(warp.context.fault, FAULT_NONE);
}

static uint32_t choose_lanes(Random *random) {
    return random_below(random, 2) ? ~0u : 1u << 7 | (uint32_t)random_below(random, 1ull << 32);
}

START_TEST(each_lane_loads_its_own_element) {
    Random random = {21};
    char form[32], operands[16];
    snprintf(form, sizeof form, "ld.local.%s", types[_i].type);
    for (int turn = 0; turn < 600; turn++) {
        uint64_t address[WARP_LANES], before[WARP_LANES];
        const char *word = address_words[turn % ADDRESS_WORDS];
        int64_t displacement = (int64_t)random_below(&random, 64) - 32;
        snprintf(operands, sizeof operands, "%s %s", types[_i].value, word);
        fill_randomly(&random, warp.local, sizeof warp.local);
        fill_randomly(&random, &warp.registers[0], sizeof warp.registers[0]);
        choose_addresses(&random, word, types[_i].bytes, address);
        set_addresses(1, word, address, displacement);
        warp.context.active = choose_lanes(&random);
        for (int lane = 0; lane < WARP_LANES; lane++)
            before[lane] = get_value(0, lane, _i);
        execute_displaced(form, operands, displacement);
        assert_addresses(address, warp.context.active);
        for (int lane = 0; lane < WARP_LANES; lane++)
            ck_assert_uint_eq(get_value(0, lane, _i), warp.context.active >> lane & 1
                                                          ? value_at(lane, address[lane], _i)
                                                          : before[lane]);
    }
}
END_TEST

START_TEST(each_lane_stores_its_own_element) {
    Random random = {22};
    char form[32], operands[16];
    snprintf(form, sizeof form, "st.local.%s", types[_i].type);
    for (int turn = 0; turn < 600; turn++) {
        uint64_t address[WARP_LANES];
        uint8_t expected[sizeof warp.local];
        const char *word = address_words[turn % ADDRESS_WORDS];
        int64_t displacement = (int64_t)random_below(&random, 64) - 32;
        snprintf(operands, sizeof operands, "%s %s", word, types[_i].value);
        fill_randomly(&random, warp.local, sizeof warp.local);
        fill_randomly(&random, &warp.registers[1], sizeof warp.registers[1]);
        memcpy(expected, warp.local, sizeof expected);
        choose_addresses(&random, word, types[_i].bytes, address);
        set_addresses(0, word, address, displacement);
        warp.context.active = choose_lanes(&random);
        execute_displaced(form, operands, displacement);
        assert_addresses(address, warp.context.active);
        for (int lane = 0; lane < WARP_LANES; lane++) {
            uint64_t value = get_value(1, lane, _i);
            if (warp.context.active >> lane & 1)
                set_bytes(expected, lane, address[lane], &value, types[_i].bytes);
        }
        ck_assert_mem_eq(warp.local, expected, sizeof expected);
    }
}
END_TEST

/* "r4 r4 a8" for two elements, or "a8 r4 r4"; returns the slot of the address. */
static int vector_operands(char *operands, size_t size, bool stores, const char *value, int elements) {
    int used = snprintf(operands, size, "%s", stores ? "a8" : "");
    for (int i = 0; i < elements; i++)
        used += snprintf(operands + used, size - (size_t)used, "%s%s", used ? " " : "", value);
    if (!stores) snprintf(operands + used, size - (size_t)used, " a8");
    return stores ? 0 : elements;
}

START_TEST(elements_of_a_vector_lie_one_behind_the_other) {
    Random random = {23};
    for (int turn = 0; turn < 400; turn++) {
        char form[32], operands[32];
        int elements = types[_i].bytes == 8 || turn & 1 ? 2 : 4;
        bool stores = turn & 2;
        uint64_t address[WARP_LANES], bytes = types[_i].bytes;
        uint8_t expected[sizeof warp.local];
        snprintf(form, sizeof form, "%s.local.v%d.%s", stores ? "st" : "ld", elements, types[_i].type);
        int place = vector_operands(operands, sizeof operands, stores, types[_i].value, elements),
            first = stores ? 1 : 0;
        fill_randomly(&random, warp.local, sizeof warp.local);
        fill_randomly(&random, &warp.registers[first], (size_t)elements * sizeof warp.registers[first]);
        memcpy(expected, warp.local, sizeof expected);
        choose_addresses(&random, "a8", bytes * (uint64_t)elements, address);
        set_addresses(place, "a8", address, 0);
        warp.context.active = choose_lanes(&random);
        uint64_t before[4][WARP_LANES];
        for (int element = 0; element < elements; element++)
            for (int lane = 0; lane < WARP_LANES; lane++)
                before[element][lane] = get_value(first + element, lane, _i);
        execute(form, operands);
        assert_addresses(address, warp.context.active);
        for (int element = 0; element < elements; element++)
            for (int lane = 0; lane < WARP_LANES; lane++) {
                uint64_t at = address[lane] + (uint64_t)element * bytes, value = before[element][lane];
                bool is_active = warp.context.active >> lane & 1;
                if (stores && is_active) set_bytes(expected, lane, at, &value, bytes);
                if (!stores)
                    ck_assert_uint_eq(get_value(element, lane, _i),
                                      is_active ? value_at(lane, at, _i) : value);
            }
        ck_assert_mem_eq(warp.local, expected, sizeof expected);
    }
}
END_TEST

START_TEST(a_sink_takes_no_register) {
    Random random = {24};
    for (int alike = 0; alike < 2; alike++) {
        fill_randomly(&random, warp.local, sizeof warp.local);
        for (int lane = 0; lane < WARP_LANES; lane++)
            set_u64(4, lane, alike ? 16 : 16 * ((uint64_t)lane % 3));
        execute("ld.local.v4.u32", "r4 _ _ r4 a8");
        ck_assert_uint_eq(warp.context.fault, FAULT_NONE);
        for (int lane = 0; lane < WARP_LANES; lane++) {
            uint32_t element[4];
            get_bytes(warp.local, lane, alike ? 16 : 16 * ((uint64_t)lane % 3), element, sizeof element);
            ck_assert_uint_eq(get_u32(0, lane), element[0]);
            ck_assert_uint_eq(get_u32(3, lane), element[3]);
        }
    }
}
END_TEST

/* All lanes at `address`, or all but the last, which is where it may be. */
static void access_at(int type, bool stores, uint64_t address, bool alike) {
    char form[32], operands[16];
    snprintf(form, sizeof form, "%s.local.%s", stores ? "st" : "ld", types[type].type);
    snprintf(operands, sizeof operands, stores ? "a8 %s" : "%s a8", types[type].value);
    for (int lane = 0; lane < WARP_LANES; lane++)
        set_u64(stores ? 0 : 1, lane, alike || lane < WARP_LANES - 1 ? address : 0);
    execute(form, operands);
}

static void assert_fault(int type, uint64_t address, uint32_t fault) {
    uint8_t before[sizeof warp.local];
    memcpy(before, warp.local, sizeof before);
    for (int way = 0; way < 4; way++) {
        for (int lane = 0; lane < WARP_LANES; lane++)
            set_u64(way & 2 ? 1 : 0, lane, 0x5555555555555555);
        access_at(type, way & 2, address, way & 1);
        ck_assert_uint_eq(warp.context.fault, fault);
        if (fault == FAULT_NONE) continue;
        ck_assert_uint_eq(warp.context.fault_address, address);
        ck_assert_uint_eq(warp.context.fault_lane, 0);
        ck_assert_mem_eq(warp.local, before, sizeof before);
        for (int lane = 0; lane < WARP_LANES && !(way & 2); lane++)
            ck_assert_uint_eq(get_value(0, lane, type),
                              types[type].register_bytes == 8 ? 0x5555555555555555 : 0x55555555);
    }
}

/* Of a memory whose last bytes are no whole element, too: then the last element ends before them. */
START_TEST(the_first_address_beyond_the_end_is_a_fault_and_so_is_one_between_elements) {
    uint64_t bytes = types[_i].bytes;
    for (uint64_t size = FIXTURE_LOCAL; size > FIXTURE_LOCAL - bytes; size -= bytes > 1 ? bytes / 2 : 1) {
        uint64_t last = (size - bytes) / bytes * bytes;
        warp.context.local_bytes = (uint32_t)size;
        assert_fault(_i, last, FAULT_NONE);
        assert_fault(_i, last + bytes, FAULT_OUT_OF_BOUNDS);
        assert_fault(_i, size, FAULT_OUT_OF_BOUNDS);
        assert_fault(_i, 0 - bytes, FAULT_OUT_OF_BOUNDS);
        assert_fault(_i, UINT64_MAX, FAULT_OUT_OF_BOUNDS);
        if (bytes > 1) assert_fault(_i, bytes / 2, FAULT_MISALIGNED);
        if (bytes > 1) assert_fault(_i, last - 1, FAULT_MISALIGNED);
    }
}
END_TEST

Suite *local_memory_suite(void);
Suite *local_memory_suite(void) {
    Suite *suite = suite_create("local memory");
    TCase *cases = tcase_create("local memory");
    tcase_add_checked_fixture(cases, warp_setup, warp_teardown);
    tcase_add_loop_test(cases, each_lane_loads_its_own_element, 0, TYPES);
    tcase_add_loop_test(cases, each_lane_stores_its_own_element, 0, TYPES);
    tcase_add_test(cases, a_sink_takes_no_register);
    tcase_add_loop_test(cases, elements_of_a_vector_lie_one_behind_the_other, 0, TYPES);
    tcase_add_loop_test(cases, the_first_address_beyond_the_end_is_a_fault_and_so_is_one_between_elements, 0,
                        TYPES);
    suite_add_tcase(suite, cases);
    return suite;
}
