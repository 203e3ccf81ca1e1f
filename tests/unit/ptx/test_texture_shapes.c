/* Fetches from textures of three axes, of layers and of cubes, gathers and queries, on a single warp. */
#include "tests/unit/ptx/warp_fixture.h"
#include "tests/unit/suites.h"

enum { WIDTH = 8, HEIGHT = 4, SLICES = 6, TEXELS = WIDTH * HEIGHT * SLICES };
enum { PITCH = WIDTH * 4 + 16, SLICE = PITCH * HEIGHT + 32 };

static TextureTable table;
static int texels[SLICES][HEIGHT][WIDTH]; /* whole numbers: sums of filters are exact */

static void shapes_setup(void) {
    warp_setup();
    table = (TextureTable){0};
    warp.context.textures = &table;
    uint32_t state = 1;
    for (int z = 0; z < SLICES; z++)
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++) {
                state = state * 1664525 + 1013904223;
                float value = (float)(texels[z][y][x] = (int)(state >> 24) - 100);
                device_write(warp.memory, warp.buffer + (uint64_t)(z * SLICE + y * PITCH + x * 4), &value, 4);
            }
}

static void shapes_teardown(void) {
    texture_table_free(&table);
    warp_teardown();
}

static Texture volume(void) {
    return (Texture){.base = warp.buffer,
                     .pitch = PITCH,
                     .slice = SLICE,
                     .width = WIDTH,
                     .height = HEIGHT,
                     .slices = SLICES,
                     .format = TEXEL_F32,
                     .channels = 1};
}

static void use(Texture texture) {
    texture_check(&texture);
    uint64_t handle = texture_reserve(&table);
    texture_bind(&table, handle, &texture);
    for (int lane = 0; lane < WARP_LANES; lane++)
        set_u64(4, lane, handle);
    warp.context.active = UINT32_MAX;
}

/* One axis, by reflection and repetition. -1: beyond the border. */
static int fold(int index, int size, uint8_t address) {
    while (index < 0 || index >= size) {
        if (address == TEXTURE_BORDER) return -1;
        if (address == TEXTURE_CLAMP) index = index < 0 ? 0 : size - 1;
        if (address == TEXTURE_WRAP) index += index < 0 ? size : -size;
        if (address == TEXTURE_MIRROR) index = index < 0 ? -1 - index : 2 * size - 1 - index;
    }
    return index;
}

static int texel(const Texture *texture, int x, int y, int z) {
    x = fold(x, WIDTH, texture->address[0]);
    y = fold(y, HEIGHT, texture->address[1]);
    z = fold(z, (int)texture->slices, texture->address[2]);
    return x < 0 || y < 0 || z < 0 ? 0 : texels[z][y][x];
}

static void expect_value(int element, int lane, float want, const char *what) {
    ck_assert_msg(get_u32(element, lane) == F(want), "%s, lane %d, element %d: 0x%x, expected %g", what, lane,
                  element, get_u32(element, lane), (double)want);
}

#define TEX_3D "r4 r4 r4 r4 a8 r4 r4 r4 r4"
#define TEX_2D "r4 r4 r4 r4 a8 r4 r4"
#define TEX_1D "r4 r4 r4 r4 a8 r4"

static int random_below(int limit) {
    static uint32_t state = 7;
    state = state * 1664525 + 1013904223;
    return (int)((state >> 8) % (uint32_t)limit);
}

/* In units of 1/256 texel, up to two lengths beyond the edges. */
static int random_position(int size) {
    return random_below(5 * size * 256) - 2 * size * 256;
}

static int below(int position) {
    return position >= 0 ? position / 256 : -((-position + 255) / 256);
}

static void set_positions(const Texture *texture, int position[WARP_LANES][3]) {
    const int size[3] = {WIDTH, HEIGHT, (int)texture->slices};
    for (int lane = 0; lane < WARP_LANES; lane++)
        for (int axis = 0; axis < 3; axis++) {
            position[lane][axis] = random_position(size[axis]);
            float whole = texture->normalized ? (float)(256 * size[axis]) : 256.0f;
            set_u32(5 + axis, lane, F((float)position[lane][axis] / whole));
        }
}

static Texture with_addresses(int modes) {
    Texture texture = volume();
    texture.slices = 4; /* a power of two: no division rounds */
    texture.normalized = 1;
    for (int axis = 0; axis < 3; axis++, modes /= 4)
        texture.address[axis] = (uint8_t)(modes % 4);
    return texture;
}

START_TEST(each_axis_of_a_volume_has_its_own_address_mode) {
    for (int modes = 0; modes < 64; modes++) {
        Texture texture = with_addresses(modes);
        int position[WARP_LANES][3];
        use(texture);
        set_positions(&texture, position);
        execute("tex.3d.v4.f32.f32", TEX_3D);
        for (int lane = 0; lane < WARP_LANES; lane++)
            expect_value(0, lane,
                         (float)texel(&texture, below(position[lane][0]), below(position[lane][1]),
                                      below(position[lane][2])),
                         "point");
    }
}
END_TEST

static float trilinear(const Texture *texture, const int position[3]) {
    int64_t sum = 0;
    int first[3], weight[3];
    for (int axis = 0; axis < 3; axis++) {
        first[axis] = below(position[axis] - 128);
        weight[axis] = position[axis] - 128 - 256 * first[axis];
    }
    for (int corner = 0; corner < 8; corner++) {
        int64_t part = 1;
        int at[3];
        for (int axis = 0; axis < 3; axis++) {
            int second = corner >> axis & 1;
            at[axis] = first[axis] + second;
            part *= second ? weight[axis] : 256 - weight[axis];
        }
        sum += part * texel(texture, at[0], at[1], at[2]);
    }
    return (float)((double)sum / 16777216.0);
}

START_TEST(linear_filtering_of_a_volume_mixes_eight_texels) {
    for (int modes = 0; modes < 64; modes++) {
        Texture texture = with_addresses(modes);
        int position[WARP_LANES][3];
        texture.filter = FILTER_LINEAR;
        use(texture);
        set_positions(&texture, position);
        execute("tex.3d.v4.f32.f32", TEX_3D);
        for (int lane = 0; lane < WARP_LANES; lane++)
            expect_value(0, lane, trilinear(&texture, position[lane]), "linear");
        if (modes == 0) ck_assert_uint_eq(warp.context.texel_count, 8 * WARP_LANES);
    }
}
END_TEST

START_TEST(a_layer_is_named_by_an_integer_that_is_clamped_and_never_filtered) {
    static const uint32_t layers[] = {0, 3, 5, 6, 0x7fffffff, 0xffffffff};
    static const int taken[] = {0, 3, 5, 5, 5, 5};
    Texture texture = volume();
    texture.is_layered = 1;
    texture.filter = FILTER_LINEAR;
    memset(texture.address, TEXTURE_BORDER, sizeof texture.address);
    use(texture);
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
        set_all(TEX_3D, 5, layers[i]);
        set_all(TEX_3D, 6, F(2.0f));
        set_all(TEX_3D, 7, F(1.5f));
        set_all(TEX_3D, 8, F(9.0f)); /* ignored */
        execute("tex.a2d.v4.f32.f32", TEX_3D);
        expect_value(0, 31, (float)(texels[taken[i]][1][1] + texels[taken[i]][1][2]) / 2.0f, "a2d");
        execute("tex.a1d.v4.f32.f32", TEX_2D);
        expect_value(0, 31, (float)(texels[taken[i]][0][1] + texels[taken[i]][0][2]) / 2.0f, "a1d");
        set_all(TEX_3D, 6, 7);
        set_all(TEX_3D, 7, 3);
        execute("tex.a2d.v4.f32.s32", TEX_3D);
        expect_value(0, 0, (float)texels[taken[i]][3][7], "a2d of integers");
    }
}
END_TEST

static Texture cube(uint32_t layers) {
    Texture texture = volume();
    texture.width = texture.height = HEIGHT;
    texture.slices = layers * CUBE_FACES;
    texture.is_cube = 1;
    return texture;
}

/* Texel (3, 1) of every face, as the table of faces in the CUDA programming guide has them. */
START_TEST(a_direction_finds_its_face_and_the_place_on_it) {
    static const struct {
        float x, y, z;
    } directions[CUBE_FACES] = {{2, 0.5f, -1.5f}, {-2, 0.5f, 1.5f}, {1.5f, 2, -0.5f},
                                {1.5f, -2, 0.5f}, {1.5f, 0.5f, 2},  {-1.5f, 0.5f, -2}};
    use(cube(1));
    for (int lane = 0; lane < WARP_LANES; lane++) {
        set_u32(5, lane, F(directions[lane % CUBE_FACES].x));
        set_u32(6, lane, F(directions[lane % CUBE_FACES].y));
        set_u32(7, lane, F(directions[lane % CUBE_FACES].z));
    }
    execute("tex.cube.v4.f32.f32", TEX_3D);
    for (int lane = 0; lane < WARP_LANES; lane++)
        expect_value(0, lane, (float)texels[lane % CUBE_FACES][1][3], "cube");
}
END_TEST

START_TEST(directions_that_are_none_and_ties_find_a_face) {
    static const struct {
        float x, y, z;
        int face, column, row;
    } cases[] = {{1, 1, 1, 4, 3, 0}, {1, 1, 0, 2, 3, 2}, {-1, -1, -1, 5, 3, 3}, {0, 0, 0, 4, 2, 2}};
    use(cube(1));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        set_all(TEX_3D, 5, F(cases[i].x));
        set_all(TEX_3D, 6, F(cases[i].y));
        set_all(TEX_3D, 7, F(cases[i].z));
        execute("tex.cube.v4.f32.f32", TEX_3D);
        expect_value(0, 0, (float)texels[cases[i].face][cases[i].row][cases[i].column], "tie");
    }
    for (int k = 5; k < 8; k++)
        set_all(TEX_3D, k, NAN_F32);
    execute("tex.cube.v4.f32.f32", TEX_3D);
    ck_assert_uint_eq(warp.context.fault, FAULT_NONE);
}
END_TEST

START_TEST(a_layered_cube_has_six_faces_for_each_layer) {
    static const char form[] = "r4 r4 r4 r4 a8 r4 r4 r4 r4";
    float mark = 5000.0f;
    Texture texture = cube(2);
    texture.is_layered = 1;
    device_write(warp.memory, warp.buffer + 7 * SLICE, &mark, 4); /* layer 1, face 1 */
    use(texture);
    for (uint32_t layer = 1; layer < 3; layer++) { /* clamped */
        set_all(form, 5, layer);
        set_all(form, 6, F(-1.0f));
        set_all(form, 7, F(0.9f));
        set_all(form, 8, F(-0.9f));
        execute("tex.acube.v4.f32.f32", form);
        expect_value(0, 0, mark, "acube");
    }
}
END_TEST

START_TEST(a_gather_has_four_neighbours_counter_clockwise) {
    Texture texture = volume();
    texture.slices = 1;
    memset(texture.address, TEXTURE_BORDER, sizeof texture.address);
    use(texture);
    set_all(TEX_2D, 5, F(3.25f)); /* columns 2 and 3 */
    set_all(TEX_2D, 6, F(1.75f)); /* rows 1 and 2 */
    execute("tld4.r.2d.v4.f32.f32", TEX_2D);
    expect_value(0, 0, (float)texels[0][2][2], "left, below");
    expect_value(1, 0, (float)texels[0][2][3], "right, below");
    expect_value(2, 0, (float)texels[0][1][3], "right, above");
    expect_value(3, 0, (float)texels[0][1][2], "left, above");
    ck_assert_uint_eq(warp.context.texel_count, 4 * WARP_LANES);
    execute("tld4.a.2d.v4.f32.f32", TEX_2D);
    expect_value(0, 0, 1.0f, "a channel that it does not have");
    set_all(TEX_2D, 5, F(0.0f));
    execute("tld4.r.2d.v4.f32.f32", TEX_2D);
    expect_value(0, 0, 0.0f, "beyond the border");
    expect_value(1, 0, (float)texels[0][2][0], "inside");
}
END_TEST

START_TEST(queries_tell_what_the_table_has) {
    static const struct {
        const char *form;
        uint32_t plain, layered;
    } cases[] = {{"txq.width.b32", 8, 4},
                 {"txq.height.b32", 4, 4},
                 {"txq.depth.b32", 6, 0},
                 {"txq.array_size.b32", 0, 2},
                 {"txq.num_mipmap_levels.b32", 1, 1},
                 {"txq.num_samples.b32", 1, 1},
                 {"txq.channel_data_type.b32", 0x10de, 0x10d2},
                 {"txq.channel_order.b32", 0x10b0, 0x10b5},
                 {"txq.normalized_coords.b32", 0, 1},
                 {"txq.force_unnormalized_coords.b32", 1, 0},
                 {"txq.filter_mode.b32", 0, 1},
                 {"txq.addr_mode_0.b32", 3, 0},
                 {"txq.addr_mode_1.b32", 3, 1},
                 {"txq.addr_mode_2.b32", 3, 4},
                 {"suq.width.b32", 8, 4},
                 {"suq.memory_layout.b32", 0, 0}};
    Texture layered = cube(2);
    layered.is_layered = layered.normalized = 1;
    layered.format = TEXEL_U8;
    layered.channels = 4;
    layered.filter = FILTER_LINEAR;
    layered.read = READ_NORMALIZED_FLOAT;
    layered.address[0] = TEXTURE_WRAP;
    layered.address[1] = TEXTURE_MIRROR;
    layered.address[2] = TEXTURE_BORDER;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int lane = 0; lane < 2; lane++) { /* address in operand 1: slot 1 */
            Texture texture = lane ? layered : volume();
            uint64_t handle = texture_reserve(&table);
            texture_check(&texture);
            texture_bind(&table, handle, &texture);
            set_u64(1, lane, handle);
        }
        warp.context.active = 3;
        execute(cases[i].form, "r4 a8");
        ck_assert_msg(get_u32(0, 0) == cases[i].plain && get_u32(0, 1) == cases[i].layered, "%s: 0x%x, 0x%x",
                      cases[i].form, get_u32(0, 0), get_u32(0, 1));
    }
    set_u64(1, 1, 12345);
    execute("txq.level.width.b32", "r4 a8 r4");
    ck_assert_uint_eq(warp.context.fault, FAULT_NO_TEXTURE);
    ck_assert_uint_eq(warp.context.fault_lane, 1);
}
END_TEST

Suite *texture_shapes_suite(void) {
    Suite *suite = suite_create("texture_shapes");
    TCase *values = tcase_create("values");
    tcase_add_checked_fixture(values, shapes_setup, shapes_teardown);
    tcase_add_test(values, each_axis_of_a_volume_has_its_own_address_mode);
    tcase_add_test(values, linear_filtering_of_a_volume_mixes_eight_texels);
    tcase_add_test(values, a_layer_is_named_by_an_integer_that_is_clamped_and_never_filtered);
    tcase_add_test(values, a_direction_finds_its_face_and_the_place_on_it);
    tcase_add_test(values, directions_that_are_none_and_ties_find_a_face);
    tcase_add_test(values, a_layered_cube_has_six_faces_for_each_layer);
    tcase_add_test(values, a_gather_has_four_neighbours_counter_clockwise);
    tcase_add_test(values, queries_tell_what_the_table_has);
    suite_add_tcase(suite, values);
    return suite;
}
