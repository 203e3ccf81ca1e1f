/* What texture fetches return, fault at and read, on a single warp: element for element against plain C. */
#include "tests/unit/ptx/warp_fixture.h"
#include "tests/unit/suites.h"

enum { ROWS = 7, COLUMNS = 13, PITCH = 256, CASES = 40 };

static TextureTable table;
static uint8_t bytes[ROWS * PITCH]; /* what the buffer holds */

static void texture_setup(void) {
    warp_setup();
    table = (TextureTable){0};
    warp.context.textures = &table;
}

static void texture_teardown(void) {
    texture_table_free(&table);
    warp_teardown();
}

static uint32_t random_bits(void) {
    static uint64_t state = 1;
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(state >> 33);
}

static void fill_buffer(void) {
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)random_bits();
    device_write(warp.memory, warp.buffer, bytes, sizeof bytes);
}

static Texture plain(TexelFormat format, uint8_t channels) {
    return (Texture){.base = warp.buffer,
                     .pitch = PITCH,
                     .width = COLUMNS,
                     .height = ROWS,
                     .slices = 1,
                     .format = (uint8_t)format,
                     .channels = channels};
}

static void set_address(Texture *texture, uint8_t address) {
    memset(texture->address, address, sizeof texture->address);
}

static uint64_t make(Texture texture) {
    texture_check(&texture);
    uint64_t handle = texture_reserve(&table);
    texture_bind(&table, handle, &texture);
    return handle;
}

static void set_handles(uint64_t handle) {
    for (int lane = 0; lane < WARP_LANES; lane++)
        set_u64(4, lane, handle);
}

/* One axis, by reflection and repetition rather than by modulo. -1: beyond the border. */
static int fold(int index, int size, TextureAddress address) {
    for (; index < 0 || index >= size;) {
        if (address == TEXTURE_BORDER) return -1;
        if (address == TEXTURE_CLAMP) index = index < 0 ? 0 : size - 1;
        if (address == TEXTURE_WRAP) index += index < 0 ? size : -size;
        if (address == TEXTURE_MIRROR) index = index < 0 ? -1 - index : 2 * size - 1 - index;
    }
    return index;
}

static double half_value(uint32_t bits) {
    int exponent = (int)(bits >> 10 & 31);
    double fraction = (double)(bits & 1023) / 1024.0, sign = bits >> 15 ? -1.0 : 1.0;
    for (int i = 15; i < exponent; i++)
        sign *= 2.0;
    for (int i = exponent ? exponent : 1; i < 15; i++)
        sign /= 2.0;
    return sign * (exponent ? 1.0 + fraction : fraction);
}

/* What channel c of texel (x, y) comes to. */
static uint32_t channel(const Texture *t, int x, int y, int c) {
    static const uint8_t sizes[] = {1, 1, 2, 2, 4, 4, 2, 4};
    static const double largest[] = {255, 127, 65535, 32767};
    bool is_float = t->format >= TEXEL_F16 || t->read == READ_NORMALIZED_FLOAT;
    if (c >= t->channels) return c < 3 ? 0 : is_float ? F(1.0f) : 1;
    if (x < 0 || y < 0) return 0;
    const uint8_t *at = bytes + (size_t)y * PITCH + (size_t)(x * t->channels + c) * sizes[t->format];
    uint32_t raw = 0;
    for (int i = sizes[t->format]; i-- > 0;)
        raw = raw << 8 | at[i];
    if (t->format == TEXEL_F16) return F((float)half_value(raw));
    int64_t value = raw;
    if (t->format == TEXEL_S8) value = (int8_t)raw;
    if (t->format == TEXEL_S16) value = (int16_t)raw;
    if (t->read == READ_ELEMENT) return (uint32_t)value;
    double ratio = (double)value / largest[t->format];
    return F((float)(ratio < -1 ? -1 : ratio));
}

static void expect_lane(int lane, const uint32_t want[4], const char *what) {
    for (int c = 0; c < 4; c++)
        ck_assert_msg(get_u32(c, lane) == want[c], "%s, lane %d, channel %d: 0x%x, expected 0x%x", what, lane,
                      c, get_u32(c, lane), want[c]);
}

#define TEX_1D "r4 r4 r4 r4 a8 r4"
#define TEX_2D "r4 r4 r4 r4 a8 r4 r4"

START_TEST(integer_coordinates_name_texels_in_every_format) {
    fill_buffer();
    for (int format = 0; format < TEXEL_FORMATS; format++)
        for (uint8_t channels = 1; channels <= 4; channels *= 2)
            for (int read = 0; read < (format <= TEXEL_S16 ? 2 : 1); read++) {
                Texture texture = plain((TexelFormat)format, channels);
                texture.read = (uint8_t)read;
                if (format == TEXEL_F16) /* exponent 31 is for infinities and NaN */
                    for (size_t i = 1; i < sizeof bytes; i += 2)
                        bytes[i] &= 0xbf;
                device_write(warp.memory, warp.buffer, bytes, sizeof bytes);
                set_handles(make(texture));
                for (int lane = 0; lane < WARP_LANES; lane++) {
                    set_u32(5, lane, random_bits() % COLUMNS);
                    set_u32(6, lane, random_bits() % ROWS);
                }
                execute(read ? "tex.2d.v4.f32.s32" : "tex.2d.v4.u32.s32", TEX_2D);
                for (int lane = 0; lane < WARP_LANES; lane++) {
                    uint32_t want[4];
                    for (int c = 0; c < 4; c++)
                        want[c] = channel(&texture, (int)get_u32(5, lane), (int)get_u32(6, lane), c);
                    expect_lane(lane, want, texel_format_names[format]);
                }
            }
}
END_TEST

START_TEST(the_ends_of_normalized_formats) {
    static const struct {
        TexelFormat format;
        uint32_t bits;
        float value;
    } cases[] = {{TEXEL_U8, 0xff, 1.0f},      {TEXEL_U8, 0, 0.0f},        {TEXEL_S8, 0x7f, 1.0f},
                 {TEXEL_S8, 0x81, -1.0f},     {TEXEL_S8, 0x80, -1.0f},    {TEXEL_U16, 0xffff, 1.0f},
                 {TEXEL_S16, 0x7fff, 1.0f},   {TEXEL_S16, 0x8001, -1.0f}, {TEXEL_S16, 0x8000, -1.0f},
                 {TEXEL_U8, 51, 51.0f / 255}, {TEXEL_S8, 0, 0.0f}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Texture texture = plain(cases[i].format, 1);
        texture.read = READ_NORMALIZED_FLOAT;
        device_write(warp.memory, warp.buffer, &cases[i].bits, 2);
        set_handles(make(texture));
        set_all(TEX_1D, 5, 0);
        execute("tex.1d.v4.f32.s32", TEX_1D);
        ck_assert_uint_eq(get_u32(0, 0), F(cases[i].value));
    }
}
END_TEST

START_TEST(srgb_is_read_as_linear_but_for_the_fourth_channel) {
    static const struct {
        uint8_t value;
        float linear;
    } cases[] = {
        {0, 0.0f},  {1, 0x1.3e4568p-12f}, {10, 0x1.8dd6c2p-9f}, {11, 0x1.b6a31cp-9f}, {128, 0x1.ba1512p-3f},
        {255, 1.0f}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Texture texture = plain(TEXEL_U8, 4);
        uint8_t texel[] = {cases[i].value, 0, cases[i].value, cases[i].value};
        texture.read = READ_SRGB;
        device_write(warp.memory, warp.buffer, texel, sizeof texel);
        set_handles(make(texture));
        set_all(TEX_1D, 5, 0);
        execute("tex.1d.v4.f32.s32", TEX_1D);
        uint32_t want[] = {F(cases[i].linear), 0, F(cases[i].linear), F((float)cases[i].value / 255.0f)};
        for (int c = 0; c < 4; c++)
            ck_assert_msg(get_u32(c, 0) == want[c], "%u, channel %d: 0x%x, expected 0x%x", cases[i].value, c,
                          get_u32(c, 0), want[c]);
    }
}
END_TEST

/* Coordinates are multiples of 1/4096, up to three lengths of the texture beyond its edges. */
static int random_position(int size) {
    return (int)(random_bits() % (uint32_t)(7 * size * 4096)) - 3 * size * 4096;
}

static float coordinate(const Texture *texture, int position, uint32_t size) {
    return texture->normalized ? (float)position / 4096.0f / (float)size : (float)position / 4096.0f;
}

static int floor_of(int position) {
    return position >= 0 ? position / 4096 : -((-position + 4095) / 4096);
}

static int nearest(const Texture *texture, int position, int size) {
    return fold(floor_of(position), size, (TextureAddress)texture->address[0]);
}

/* The sizes must be powers of two where coordinates are normalised: else the division would round. */
static void for_address_modes(uint8_t filter, void (*check)(Texture texture)) {
    for (uint8_t normalized = 0; normalized < 2; normalized++)
        for (uint8_t address = 0; address < (normalized ? TEXTURE_ADDRESSES : TEXTURE_WRAP); address++) {
            Texture texture = plain(TEXEL_F32, 2);
            texture.filter = filter;
            set_address(&texture, address);
            texture.normalized = normalized;
            texture.width = normalized ? 16 : COLUMNS;
            texture.height = normalized ? 4 : ROWS;
            for (int i = 0; i < CASES; i++)
                check(texture);
        }
}

static void check_point(Texture texture) {
    int x[WARP_LANES], y[WARP_LANES];
    set_handles(make(texture));
    for (int lane = 0; lane < WARP_LANES; lane++) {
        x[lane] = random_position((int)texture.width);
        y[lane] = random_position((int)texture.height);
        set_u32(5, lane, F(coordinate(&texture, x[lane], texture.width)));
        set_u32(6, lane, F(coordinate(&texture, y[lane], texture.height)));
    }
    warp.context.active = UINT32_MAX;
    execute("tex.2d.v4.f32.f32", TEX_2D);
    uint32_t reading = 0;
    for (int lane = 0; lane < WARP_LANES; lane++) {
        int i = nearest(&texture, x[lane], (int)texture.width),
            j = nearest(&texture, y[lane], (int)texture.height);
        uint32_t want[4];
        for (int c = 0; c < 4; c++)
            want[c] = channel(&texture, i, j, c);
        expect_lane(lane, want, texture_address_names[texture.address[0]]);
        reading |= (uint32_t)(i >= 0 && j >= 0) << lane;
    }
    ck_assert_uint_eq(warp.context.active, reading);
    ck_assert_uint_eq(warp.context.texel_count, (uint32_t)__builtin_popcount(reading));
}

START_TEST(point_sampling_takes_the_texel_that_the_coordinate_lies_in) {
    fill_buffer();
    for_address_modes(FILTER_POINT, check_point);
}
END_TEST

/* Small whole numbers, so that the filter's sum of products with weights in 1/65536 is exact in integers. */
static void fill_with_whole_floats(void) {
    for (size_t i = 0; i < sizeof bytes; i += 4) {
        float value = (float)(int)(random_bits() % 2001) - 1000.0f;
        memcpy(bytes + i, &value, 4);
    }
    device_write(warp.memory, warp.buffer, bytes, sizeof bytes);
}

/* The two texels and the second's weight, in integers: position - 1/2, whole part, fraction rounded to 1/256.
 */
static int between(const Texture *texture, int position, int size, int index[2]) {
    int below = floor_of(position - 2048);
    index[0] = fold(below, size, (TextureAddress)texture->address[0]);
    index[1] = fold(below + 1, size, (TextureAddress)texture->address[0]);
    return (position - 2048 - below * 4096 + 8) / 16;
}

static void check_linear(Texture texture) {
    int x[WARP_LANES], y[WARP_LANES];
    uint32_t texels = 0;
    set_handles(make(texture));
    for (int lane = 0; lane < WARP_LANES; lane++) {
        x[lane] = random_position((int)texture.width);
        y[lane] = random_position((int)texture.height);
        set_u32(5, lane, F(coordinate(&texture, x[lane], texture.width)));
        set_u32(6, lane, F(coordinate(&texture, y[lane], texture.height)));
    }
    warp.context.active = UINT32_MAX;
    execute("tex.2d.v4.f32.f32", TEX_2D);
    for (int lane = 0; lane < WARP_LANES; lane++) {
        int i[2], j[2];
        int a = between(&texture, x[lane], (int)texture.width, i);
        int b = between(&texture, y[lane], (int)texture.height, j);
        uint32_t want[4] = {0, 0, 0, F(1.0f)};
        for (int c = 0; c < texture.channels; c++) {
            int64_t sum = 0;
            for (int corner = 0; corner < 4; corner++) {
                float value;
                uint32_t value_bits = channel(&texture, i[corner & 1], j[corner >> 1], c);
                memcpy(&value, &value_bits, 4);
                sum += (int64_t)(corner & 1 ? a : 256 - a) * (corner >> 1 ? b : 256 - b) * (int64_t)value;
            }
            want[c] = F((float)sum / 65536.0f);
        }
        for (int corner = 0; corner < 4; corner++)
            texels += i[corner & 1] >= 0 && j[corner >> 1] >= 0;
        expect_lane(lane, want, texture_address_names[texture.address[0]]);
    }
    ck_assert_uint_eq(warp.context.texel_count, texels);
}

START_TEST(linear_filtering_mixes_four_texels) {
    fill_with_whole_floats();
    for_address_modes(FILTER_LINEAR, check_linear);
}
END_TEST

/* Texels 10, 20, 30. Weights are rounded to 1/256: a 1/1024 is none, 1/512 is rounded up to 1/256. */
START_TEST(linear_filtering_by_hand) {
    static const float texels[] = {10, 20, 30};
    static const struct {
        float x, value;
    } cases[] = {{0.5f, 10},
                 {1.0f, 15},
                 {1.5f, 20},
                 {0.0f, 10},
                 {-7.0f, 10},
                 {2.5f, 30},
                 {3.0f, 30},
                 {1e30f, 30},
                 {-1e30f, 10},
                 {1.0f + 1 / 1024.0f, 15},
                 {1.0f + 1 / 512.0f, 10 + 10 * 129 / 256.0f},
                 {1.5f - 1 / 1024.0f, 20},
                 {1.5f + 1 / 256.0f, 20 + 10 / 256.0f}};
    device_write(warp.memory, warp.buffer, texels, sizeof texels);
    Texture texture = plain(TEXEL_F32, 1);
    texture.width = 3;
    texture.height = 1;
    texture.filter = FILTER_LINEAR;
    set_handles(make(texture));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        set_all(TEX_1D, 5, F(cases[i].x));
        execute("tex.1d.v4.f32.f32", TEX_1D);
        ck_assert_msg(get_u32(0, 31) == F(cases[i].value), "at %g: 0x%x, expected %g", (double)cases[i].x,
                      get_u32(0, 31), (double)cases[i].value);
    }
    set_all(TEX_1D, 5, NAN_F32);
    execute("tex.1d.v4.f32.f32", TEX_1D);
    ck_assert_uint_eq(get_u32(0, 0), F(10));
}
END_TEST

START_TEST(a_texel_of_no_weight_does_not_count) {
    static const float texels[] = {10, INFINITY};
    device_write(warp.memory, warp.buffer, texels, sizeof texels);
    Texture texture = plain(TEXEL_F32, 1);
    texture.width = 2;
    texture.filter = FILTER_LINEAR;
    set_handles(make(texture));
    set_all(TEX_1D, 5, F(0.5f));
    execute("tex.1d.v4.f32.f32", TEX_1D);
    ck_assert_uint_eq(get_u32(0, 0), F(10));
    set_all(TEX_1D, 5, F(1.0f));
    execute("tex.1d.v4.f32.f32", TEX_1D);
    ck_assert_uint_eq(get_u32(0, 0), INF_F32);
}
END_TEST

/* Filter and normalisation are for float coordinates; wrap is then clamp. */
START_TEST(integer_coordinates_are_neither_filtered_nor_normalized) {
    fill_with_whole_floats();
    Texture texture = plain(TEXEL_F32, 1);
    texture.filter = FILTER_LINEAR;
    texture.normalized = 1;
    set_address(&texture, TEXTURE_WRAP);
    set_handles(make(texture));
    for (int lane = 0; lane < WARP_LANES; lane++)
        set_u32(5, lane, (uint32_t)(lane - 8));
    execute("tex.1d.v4.f32.s32", TEX_1D);
    for (int lane = 0; lane < WARP_LANES; lane++) {
        int x = lane < 8 ? 0 : lane - 8 < COLUMNS ? lane - 8 : COLUMNS - 1;
        ck_assert_uint_eq(get_u32(0, lane), channel(&texture, x, 0, 0));
    }
}
END_TEST

START_TEST(coordinates_of_every_size_find_a_texel) {
    static const uint32_t extremes[] = {0x7f800000, 0xff800000, 0x7fffffff, 0x7f7fffff,
                                        0xff7fffff, 0x80000000, 1};
    fill_with_whole_floats();
    for (uint8_t address = 0; address < TEXTURE_ADDRESSES; address++)
        for (uint8_t filter = 0; filter < TEXTURE_FILTERS; filter++)
            for (size_t i = 0; i < sizeof extremes / sizeof *extremes; i++) {
                Texture texture = plain(TEXEL_F32, 4);
                texture.width = texture.height = 4;
                set_address(&texture, address);
                texture.filter = filter;
                texture.normalized = 1;
                set_handles(make(texture));
                set_all(TEX_2D, 5, extremes[i]);
                set_all(TEX_2D, 6, extremes[i]);
                warp.context.active = UINT32_MAX;
                execute("tex.2d.v4.f32.f32", TEX_2D);
                ck_assert_uint_eq(warp.context.fault, FAULT_NONE);
            }
}
END_TEST

START_TEST(lanes_have_textures_of_their_own_and_inactive_ones_are_left_alone) {
    fill_buffer();
    Texture texture[2] = {plain(TEXEL_U8, 1), plain(TEXEL_S16, 2)};
    uint64_t handle[2] = {make(texture[0]), make(texture[1])};
    for (int lane = 0; lane < WARP_LANES; lane++) {
        set_u64(4, lane, lane % 3 ? handle[lane % 2] : 12345);
        set_u32(5, lane, (uint32_t)lane % COLUMNS);
        for (int c = 0; c < 4; c++)
            set_u32(c, lane, 77);
    }
    warp.context.active = 0xb6db6db6; /* not those that are multiples of 3 */
    execute("tex.1d.v4.s32.s32", TEX_1D);
    ck_assert_uint_eq(warp.context.fault, FAULT_NONE);
    for (int lane = 0; lane < WARP_LANES; lane++) {
        uint32_t want[4] = {77, 77, 77, 77};
        for (int c = 0; c < 4 && lane % 3; c++)
            want[c] = channel(&texture[lane % 2], lane % COLUMNS, 0, c);
        expect_lane(lane, want, "mixed");
    }
}
END_TEST

/* Lane i reads texel i, so that what a lane reads is known. */
START_TEST(a_fetch_sees_what_its_own_sm_has_just_written) {
    fill_buffer();
    set_handles(make(plain(TEXEL_U32, 1)));
    for (int lane = 0; lane < WARP_LANES; lane++)
        set_u32(5, lane, (uint32_t)lane % COLUMNS);
    ck_assert(view_store(&warp.view, warp.buffer + 4 * 3, 2, 0xabcd));
    execute("tex.1d.v4.u32.s32", TEX_1D);
    uint32_t before;
    device_read(warp.memory, warp.buffer + 4 * 3, &before, 4);
    ck_assert_uint_eq(get_u32(0, 3), (before & 0xffff0000) | 0xabcd);
    ck_assert_uint_ne(get_u32(0, 3), before);
}
END_TEST

START_TEST(a_fetch_reports_the_texels_it_reads_lane_by_lane) {
    fill_buffer();
    Texture texture = plain(TEXEL_F32, 1);
    texture.filter = FILTER_LINEAR;
    set_address(&texture, TEXTURE_BORDER);
    set_handles(make(texture));
    /* In the middle; over the left edge; out of sight; over the lower right corner. */
    static const float x[] = {3, 0, -5, COLUMNS}, y[] = {2, 2, 2, ROWS};
    for (int lane = 0; lane < 4; lane++) {
        set_u32(5, lane, F(x[lane]));
        set_u32(6, lane, F(y[lane]));
    }
    warp.context.active = 0xf;
    execute("tex.2d.v4.f32.f32", TEX_2D);
    const uint64_t want[] = {PITCH + 8,
                             PITCH + 12,
                             2 * PITCH + 8,
                             2 * PITCH + 12,
                             PITCH,
                             2 * PITCH,
                             (ROWS - 1) * PITCH + 4 * (COLUMNS - 1)};
    ck_assert_uint_eq(warp.context.texel_count, 7);
    for (int i = 0; i < 7; i++)
        ck_assert_uint_eq(warp.context.texel[i] - warp.buffer, want[i]);
    ck_assert_uint_eq(warp.context.active, 0xb);
    ck_assert_uint_eq(get_u32(0, 2), F(0.0f));
}
END_TEST

/* --- Faults ---------------------------------------------------------------------------------- */

START_TEST(a_handle_without_a_texture_is_a_fault) {
    uint64_t bound = make(plain(TEXEL_U8, 1)), unbound = texture_reserve(&table);
    const uint64_t wrong[] = {0, unbound, unbound + 1, warp.buffer, UINT64_MAX};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        set_handles(bound);
        set_u64(4, 9, wrong[i]);
        set_all(TEX_1D, 5, 0);
        warp.context.active = UINT32_MAX;
        execute("tex.1d.v4.u32.s32", TEX_1D);
        ck_assert_uint_eq(warp.context.fault, FAULT_NO_TEXTURE);
        ck_assert_uint_eq(warp.context.fault_lane, 9);
        ck_assert_uint_eq(warp.context.fault_address, wrong[i]);
    }
}
END_TEST

/* The texture's buffer is gone, and a smaller one lies there, another right behind it: the texels within the
 * smaller one can be read, those of the other one not. */
START_TEST(a_fetch_leaves_no_allocation) {
    uint64_t buffer = device_alloc(warp.memory, 1024);
    Texture texture = {.base = buffer,
                       .pitch = 1024,
                       .width = 256,
                       .height = 1,
                       .slices = 1,
                       .format = TEXEL_U32,
                       .channels = 1};
    set_handles(make(texture));
    ck_assert(device_release(warp.memory, buffer));
    for (int lane = 0; lane < WARP_LANES; lane++)
        set_u32(5, lane, 62 + (uint32_t)lane % 4);
    execute("tex.1d.v4.u32.s32", TEX_1D);
    ck_assert_uint_eq(warp.context.fault, FAULT_OUT_OF_BOUNDS);
    ck_assert_uint_eq(warp.context.fault_lane, 0);
    ck_assert_uint_eq(warp.context.fault_address, buffer + 4 * 62);
    ck_assert_uint_eq(device_alloc(warp.memory, 256), buffer);
    ck_assert_uint_eq(device_alloc(warp.memory, 1024), buffer + 256);
    execute("tex.1d.v4.u32.s32", TEX_1D);
    ck_assert_uint_eq(warp.context.fault, FAULT_OUT_OF_BOUNDS);
    ck_assert_uint_eq(warp.context.fault_lane, 2);
    ck_assert_uint_eq(warp.context.fault_address, buffer + 256);
}
END_TEST

Suite *textures_suite(void) {
    Suite *suite = suite_create("textures");
    TCase *values = tcase_create("values");
    tcase_add_checked_fixture(values, texture_setup, texture_teardown);
    tcase_add_test(values, integer_coordinates_name_texels_in_every_format);
    tcase_add_test(values, the_ends_of_normalized_formats);
    tcase_add_test(values, srgb_is_read_as_linear_but_for_the_fourth_channel);
    tcase_add_test(values, point_sampling_takes_the_texel_that_the_coordinate_lies_in);
    tcase_add_test(values, linear_filtering_mixes_four_texels);
    tcase_add_test(values, linear_filtering_by_hand);
    tcase_add_test(values, a_texel_of_no_weight_does_not_count);
    tcase_add_test(values, integer_coordinates_are_neither_filtered_nor_normalized);
    tcase_add_test(values, coordinates_of_every_size_find_a_texel);
    tcase_add_test(values, lanes_have_textures_of_their_own_and_inactive_ones_are_left_alone);
    tcase_add_test(values, a_fetch_sees_what_its_own_sm_has_just_written);
    tcase_add_test(values, a_fetch_reports_the_texels_it_reads_lane_by_lane);
    tcase_add_test(values, a_handle_without_a_texture_is_a_fault);
    tcase_add_test(values, a_fetch_leaves_no_allocation);
    suite_add_tcase(suite, values);
    return suite;
}
