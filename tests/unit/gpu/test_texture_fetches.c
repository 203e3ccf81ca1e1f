/* Texture fetches from the text to the memory.
 *
 * What the comments on timing count with, for a fetch issued in cycle t: the LSU begins with it in B = t + 3
 * when it reads no register (the handle of a .texref and immediate coordinates are constants), else in t + 4.
 * Its n accesses of 32 bytes leave in B + 1, B + 2, ... and reach the texture cache, or what `mem` is wired
 * to, one cycle later. The answer to the last is at the LSU one, at the SM two cycles after it was given. */
#include "core/gpu/lsu/coalescer.h"
#include "tests/unit/gpu/tiny_machine.h"
#include "tests/unit/suites.h"

#include <stdlib.h>
#include <string.h>

/* --- The text -------------------------------------------------------------------------------- */

#define HEAD                                                                                                 \
    ".version 7.0\n.target sm_30\n.address_size 64\n"                                                        \
    ".global .texref first; .global .align 4 .u32 word;\n"                                                   \
    ".tex .u64 second, third;\n.global .surfref surface; .global .samplerref sampler;\n"
/* A kernel whose first statement stands in line 9. */
#define KERNEL(statement)                                                                                    \
    HEAD ".visible .entry k(.param .u64 .ptr .texref handle) {\n"                                            \
         ".reg .pred %p<3>; .reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b64 %d<9>; .reg .b16 %h<3>;\n" statement \
         "\nret;\n}\n"

static Module *parse(const char *text) {
    return module_parse("tex.ptx", text, strlen(text));
}

static void parse_only(void *text) {
    module_free(parse(text));
}

static void refuses(const char *text, const char *expected) {
    const char *message = tiny_error(parse_only, (void *)(uintptr_t)text, NULL);
    ck_assert_msg(strstr(message, expected) != NULL, "\"%s\" should say \"%s\"", message, expected);
}

START_TEST(texrefs_are_textures_and_take_no_memory) {
    Module *module = parse(KERNEL("tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [second, {%r1}];"));
    static const char *const names[] = {"first", "second", "third"};
    for (size_t i = 0; i < 3; i++) {
        const ModuleVariable *variable = module_texture(module, names[i]);
        ck_assert_ptr_nonnull(variable);
        ck_assert_int_eq(variable->space, SPACE_TEXTURE);
    }
    ck_assert_ptr_null(module_texture(module, "word"));
    ck_assert_ptr_null(module_texture(module, "fourth"));
    module_free(module);
}
END_TEST

START_TEST(a_texref_in_the_code_is_its_handle) {
    Module *module = parse(KERNEL("tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [second, {%r1}];\n"
                                  "mov.u64 %d1, third;"));
    for (uint32_t i = 0; i < module->variable_count; i++)
        module->variables[i].address = 100 + i;
    module_place(module);
    const Kernel *kernel = module_kernel(module, "k");
    const char *const names[] = {"second", "third"};
    for (int i = 0; i < 2; i++) {
        ck_assert(kernel->insts[i].src[0] & OPERAND_CONST);
        uint64_t handle;
        memcpy(&handle, kernel->constants + (kernel->insts[i].src[0] & OPERAND_OFFSET), sizeof handle);
        ck_assert_uint_eq(handle, module_texture(module, names[i])->address);
    }
    module_free(module);
}
END_TEST

/* As if its handle had been loaded and fetched from. */
START_TEST(a_texture_among_the_parameters_is_named_or_loaded) {
    static const char *const statements[] = {
        "tex.1d.v4.s32.s32 {%r1, %r2, %r3, %r4}, [t, {%r5}]; txq.width.b32 %r1, [t];"
        "suld.b.1d.b32.trap %r1, [s, {%r5}];",
        "ld.param.u64 %d1, [t]; tex.1d.v4.s32.s32 {%r1, %r2, %r3, %r4}, [%d1, {%r5}];"
        "ld.param.u64 %d2, [t]; txq.width.b32 %r1, [%d2];"
        "ld.param.u64 %d3, [s]; suld.b.1d.b32.trap %r1, [%d3, {%r5}];",
    };
    Module *modules[2];
    for (int i = 0; i < 2; i++) {
        char *text = NULL;
        ck_assert_int_gt(asprintf(&text,
                                  HEAD ".entry k(.param .texref t, .param .surfref s) {\n"
                                       ".reg .u32 %%r<9>; .reg .u64 %%d<9>; %s exit;\n}\n",
                                  statements[i]),
                         0);
        modules[i] = parse(text);
        free(text);
    }
    const Kernel *named = module_kernel(modules[0], "k"), *loaded = module_kernel(modules[1], "k");
    ck_assert_uint_eq(named->inst_count, loaded->inst_count);
    for (uint32_t i = 0; i < named->inst_count; i++) {
        ck_assert(named->insts[i].exec == loaded->insts[i].exec);
        ck_assert_mem_eq(named->insts[i].src, loaded->insts[i].src, sizeof named->insts[i].src);
        ck_assert_mem_eq(named->insts[i].dst, loaded->insts[i].dst, sizeof named->insts[i].dst);
    }
    module_free(modules[0]);
    module_free(modules[1]);
}
END_TEST

START_TEST(a_sampler_may_be_a_parameter) {
    module_free(parse(HEAD ".entry k(.param .u64 .ptr .samplerref a, .param .samplerref b) { exit; }\n"));
}
END_TEST

START_TEST(fetches_are_loads_of_the_texture_space) {
    Module *module = parse(KERNEL("tex.1d.v4.s32.s32 {%r1, %r2, %r3, %r4}, [%d1, {%r5}];\n"
                                  "tex.1d.v4.u32.f32 {%r1, _, %r3, _}, [first, %f5];\n"
                                  "@%p1 tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [first, {%f5, 0.5}];\n"
                                  "tex.2d.f32.s32 {%f1, %f2, %f3, %f4}, [%d1, {%r1, %r2, %r3, %r3}];\n"
                                  "tex.1d.v4.f32.f32 {%f1, _, _, _}, [%d1, {%f1, %f2, %f3, %f4}];"));
    static const uint8_t destinations[] = {4, 2, 4, 4, 1}, masks[] = {15, 5, 15, 15, 1},
                         sources[] = {2, 2, 3, 3, 2}, banks[] = {2, 1, 1, 3, 2};
    const Kernel *kernel = module_kernel(module, "k");
    for (int i = 0; i < 5; i++) {
        const Inst *inst = &kernel->insts[i];
        ck_assert_int_eq(inst->kind, INST_LOAD);
        ck_assert_int_eq(inst->space, SPACE_TEXTURE);
        ck_assert_int_eq(inst->timing, TIMING_MEM);
        ck_assert_int_eq(inst->dst_count, destinations[i]);
        ck_assert_int_eq(inst->dst_mask, masks[i]);
        ck_assert_int_eq(inst->src_count, sources[i]);
        ck_assert_int_eq(inst->bank_count, banks[i]);
        ck_assert_int_eq(inst->out_name_count, destinations[i]);
    }
    module_free(module);
}
END_TEST

/* Levels and gradients choose among one level. */
START_TEST(every_shape_of_a_fetch_is_read) {
    static const char *const statements[] = {
        "tex.level.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [first, {%f5, %f6}], %f7;",
        "tex.base.3d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [first, {%f5, %f6, %f7, %f7}];",
        "tex.grad.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [first, {%f5}], {%f6}, {%f7};",
        "tex.grad.a2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [first, {%r1, %f5, %f6, %f6}], {%f6, %f7}, {%f6, "
        "%f7};",
        "tex.grad.3d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f5, %f6, %f7, %f7}], {%f6, %f7, %f5, %f5}, "
        "{%f6, %f7, %f5, %f5};",
        "tex.acube.v4.u32.f32 {%r1, %r2, %r3, %r4}, [first, {%r5, %f5, %f6, %f7}];",
        "tld4.g.a2d.v4.s32.f32 {%r1, %r2, %r3, %r4}, [first, {%r5, %f5, %f6, %f6}];",
        "txq.level.width.b32 %r1, [first], %r2;",
        "suq.array_size.b32 %r1, [%d1];",
    };
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
        char *text = NULL;
        static const char whole[] = KERNEL("@@");
        const char *mark = strstr(whole, "@@");
        ck_assert_int_gt(asprintf(&text, "%.*s%s%s", (int)(mark - whole), whole, statements[i], mark + 2), 0);
        module_free(parse(text));
        free(text);
    }
}
END_TEST

START_TEST(what_is_no_supported_fetch_is_refused_with_its_line) {
    static const struct {
        const char *statement, *reason;
    } cases[] = {
        {"tex.3d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [first, {%f5, %f6}];", "[texture, {coordinates}]"},
        {"tex.cube.v4.f32.s32 {%f1, %f2, %f3, %f4}, [first, {%r1, %r2, %r3, %r3}];", "of type .f32"},
        {"tex.2dms.v4.f32.s32 {%f1, %f2, %f3, %f4}, [first, {%r1, %r2, %r3, %r3}];", "multi-sample"},
        {"tex.level.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [first, {%f5, %f6}];", "expected a level"},
        {"tex.grad.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [first, {%f5, %f6}], {%f5, %f6};", "two gradients"},
        {"tex.2d.v2.f16x2.f32 {%r1, %r2}, [first, {%f5, %f6}];", ".f16x2"},
        {"tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [first, sampler, {%f5, %f6}];", "separate samplers"},
        {"tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%d1, %d2, {%r1}];", "separate samplers"},
        {"tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [first, {%f5, %f6}], {1, 2};",
         "offsets and depth comparisons"},
        {"tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [first, {%f5}];", "[texture, {coordinates}]"},
        {"tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [first, {%r1, %r2}];",
         "expected a coordinate for each dimension, got more"},
        {"tex.1d.v4.f32.s32 %f1, [first, {%r1}];", "[texture, {coordinates}]"},
        {"tex.1d.v4.f32.s32 {%h1, %f2, %f3, %f4}, [first, {%r1}];", "32-bit registers"},
        {"tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%r2, {%r1}];", "64 bits"},
        {"tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [first, {%d1}];",
         "32-bit registers or numbers as coordinates"},
        {"tex.1d.v4.f64.s32 {%d1, %d2, %d3, %d4}, [first, {%r1}];", "expected .1d, .2d, .3d, "},
        {"tld4.r.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [first, {%f5}];", "expected .2d, .a2d, .cube"},
        {"tld4.r.2d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [first, {%r1, %r2}];", "of type .f32"},
        {"txq.size.b32 %r1, [first];", "expected a query such as .width"},
        {"txq.width.b32 %d1, [first];", "expected a 32-bit register and [texture]"},
        {"tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [word, {%r1}];",
         "expected a variable in texture memory, got 'word'"},
        {"tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [handle, {%r1}];",
         "expected a variable in texture memory, got 'handle'"},
        {"ld.global.u32 %r1, [first];", "expected a variable in .global memory, got 'first'"},
        {"ld.u32 %r1, [first];", "expected a variable in .global memory, got 'first'"},
        {"ld.global.u32 %r1, [%d1, {%r2}];", "wrong number of operands"},
        {"tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [first, [second, {%r1}]];", "an operand"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = NULL;
        static const char whole[] = KERNEL("@@");
        const char *mark = strstr(whole, "@@");
        ck_assert_int_gt(
            asprintf(&text, "%.*s%s%s", (int)(mark - whole), whole, cases[i].statement, mark + 2), 0);
        refuses(text, "tex.ptx:9: ");
        refuses(text, cases[i].reason);
        free(text);
    }
}
END_TEST

START_TEST(a_texture_has_neither_elements_nor_an_initialiser) {
    refuses(HEAD ".global .texref many[4];\n", "tex.ptx:7: 'many': arrays of textures");
    refuses(HEAD ".global .texref set = { addr_mode_0 = wrap };\n",
            "tex.ptx:7: 'set': expected a texture without initialiser");
    refuses(HEAD ".tex .u32 first;\n", "'first' is already declared in line 4");
}
END_TEST

/* --- Timing ---------------------------------------------------------------------------------- */

enum { MEMORY = 100, HIT = 20 };

START_TEST(texels_are_gathered_into_segments_of_32_bytes) {
    static const uint64_t texels[] = {4096 + 60, 4096 + 64, 4096 + 32, 0, 4096 + 95, 4096 + 96, 31};
    static const uint64_t segments[] = {4096 + 32, 4096 + 64, 0, 4096 + 96};
    MemoryOp op;
    coalesce_texels(texels, 7, &op);
    ck_assert_uint_eq(op.segments, 4);
    for (int i = 0; i < 4; i++)
        ck_assert_uint_eq(op.lowest + op.segment[i] * 32ull, segments[i]);
    uint64_t scattered[WARP_LANES * LANE_TEXELS];
    for (uint32_t i = 0; i < WARP_LANES * LANE_TEXELS; i++)
        scattered[i] = DEVICE_MEMORY_BASE + (255 - i) * (1ull << 27);
    coalesce_texels(scattered, WARP_LANES * LANE_TEXELS, &op);
    ck_assert_uint_eq(op.segments, 256);
    for (uint32_t i = 0; i < 256; i++)
        ck_assert_uint_eq(op.lowest + op.segment[i] * 32ull, scattered[i]);
}
END_TEST

typedef struct {
    TinyMachine *m;
    uint64_t buffer; /* 8 KiB: word i is i */
    uint64_t handle;
} TextureMachine;

/* One SM, whose LSU has a memory behind `mem` and, when `cached`, a texture cache with a memory of its own.
 * The memory to look at is memory[0] of the tiny machine. */
static void wire(Sim *sim, TinyMachine *m, bool cached) {
    LinkOptions near = {0};
    SimObject *lsu = sim_find(sim, "sm[0].lsu");
    SimObject *memory = tiny_add(sim, "MemoryResponder", "memory", "latency=100 capacity=1024");
    sim_wire(sim, lsu, "mem", memory, "cpu", near, near);
    m->memory[0] = memory;
    if (!cached) return;
    SimObject *cache = tiny_add(
        sim, "L1", "texture_cache",
        "size=4KiB ways=4 line=128 mshrs=64 latency=20 allocate=fill write_policy=none");
    m->memory[0] = tiny_add(sim, "MemoryResponder", "texels", "latency=100 capacity=1024");
    sim_wire(sim, lsu, "texture", cache, "cpu", near, near);
    sim_wire(sim, cache, "mem", m->memory[0], "cpu", near, near);
}

static void bind(TextureMachine *t, Texture texture) {
    Gpu *gpu = t->m->gpu;
    t->buffer = texture.base = device_alloc(gpu_memory(gpu), 8192);
    for (uint32_t i = 0; i < 2048; i++)
        device_write(gpu_memory(gpu), t->buffer + 4 * i, &i, 4);
    texture_check(&texture);
    t->handle = module_texture(t->m->module, "t")->address;
    texture_bind(gpu_textures(gpu), t->handle, &texture);
}

static TextureMachine run(const char *body, Texture texture, bool cached) {
    static const char head[] =
        ".version 7.0\n.target sm_30\n.address_size 64\n.global .texref t;\n"
        ".visible .global .align 256 .b8 out[256];\n.visible .entry tiny(.param .u32 word)\n{\n"
        ".reg .b32 %r<20>; .reg .f32 %f<20>; .reg .b64 %d<9>; .reg .pred %p<3>;\n";
    TextureMachine t = {.m = calloc(1, sizeof *t.m)};
    TinyMachine *m = t.m;
    char *text = NULL;
    ensure(m && asprintf(&text, "%s%s\n}\n", head, body) > 0);
    class_register_all();
    memory_test_classes();
    m->module = module_parse("tiny.ptx", text, strlen(text));
    free(text);
    m->sms = 1;
    m->sim = sim_new("tiny");
    sim_clock(m->sim, "core", 1000000000);
    sim_set_quantum(m->sim, 1);
    m->gpu = gpu_new(m->sim, 1 << 20);
    m->dispatcher = tiny_add(m->sim, "Dispatcher", "dispatcher", "sms=1");
    m->sm[0] = (Sm *)tiny_add(m->sim, "SM", "sm[0]", NULL);
    sim_finish_object(sim_find(m->sim, "sm[0].lsu"));
    sim_wire(m->sim, m->dispatcher, "sm[0]", &m->sm[0]->obj, "dispatch", (LinkOptions){0}, (LinkOptions){0});
    wire(m->sim, m, cached);
    gpu_elaborate(m->gpu);
    gpu_place_module(m->gpu, m->module);
    for (uint32_t i = 0; i < m->module->variable_count; i++)
        if (m->module->variables[i].space == SPACE_GLOBAL) m->out = m->module->variables[i].address;
    bind(&t, texture);
    tiny_launch(m, (TinySpec){0});
    tiny_finish(m);
    return t;
}

static const Texture words = {.pitch = 256,
                              .width = 64,
                              .height = 16,
                              .slices = 1,
                              .format = TEXEL_F32,
                              .channels = 1,
                              .address = {TEXTURE_BORDER, TEXTURE_BORDER, TEXTURE_BORDER}};

static const LoggedMessage *arrival(const TextureMachine *t, uint32_t index) {
    ck_assert_uint_lt(index, tiny_arrivals(t->m, 0)->count);
    return &tiny_arrivals(t->m, 0)->entries[index];
}

/* B = t + 3, looked up in B + 2 + HIT. A hit is answered there. A miss leaves a cycle later, reaches the
 * memory in B + 4
 * + HIT, is back in B + 5 + HIT + MEMORY and answered there. */
START_TEST(a_fetch_goes_through_the_texture_cache) {
    TextureMachine t = run("tex.1d.v4.u32.s32 {%r1, %r2, %r3, %r4}, [t, {5}];\n mov.u32 %r5, %r1;\n"
                           "tex.1d.v4.u32.s32 {%r1, %r2, %r3, %r4}, [t, {9}];\n mov.u32 %r5, %r1;\n",
                           words, true);
    uint64_t miss = tiny_issued(t.m, 0, 0), hit = tiny_issued(t.m, 0, 2);
    ck_assert_uint_eq(tiny_arrivals(t.m, 0)->count, 1);
    ck_assert_uint_eq(arrival(&t, 0)->message.address, t.buffer);
    ck_assert_uint_eq(arrival(&t, 0)->message.kind, MEM_READ);
    ck_assert_uint_eq(arrival(&t, 0)->cycle, miss + 3 + 4 + HIT);
    ck_assert_uint_eq(tiny_issued(t.m, 0, 1), miss + 3 + 5 + HIT + MEMORY + 2);
    ck_assert_uint_eq(tiny_issued(t.m, 0, 3), hit + 3 + 2 + HIT + 2);
    ck_assert_uint_eq(tiny_stat(t.m, "sm[0].lsu", "texture_loads"), 2);
    ck_assert_uint_eq(tiny_stat(t.m, "sm[0].lsu", "load_accesses"), 0);
    ck_assert_uint_eq(tiny_stat(t.m, "texture_cache", "misses"), 1);
    ck_assert_uint_eq(tiny_stat(t.m, "texture_cache", "hits"), 1);
    tiny_free(t.m);
}
END_TEST

/* Registers are read: B = t + 4. */
START_TEST(a_fetch_by_handle_is_a_cycle_later) {
    TextureMachine t = run("mov.u64 %d1, t;\n mov.u32 %r6, 5;\n"
                           "tex.1d.v4.u32.s32 {%r1, %r2, %r3, %r4}, [%d1, {%r6}];\n"
                           "st.global.v4.u32 [out], {%r1, %r2, %r3, %r4};\n",
                           words, false);
    uint64_t issued = tiny_issued(t.m, 0, 2);
    ck_assert_uint_eq(arrival(&t, 0)->cycle, issued + 4 + 2);
    ck_assert_uint_eq(tiny_issued(t.m, 0, 3), issued + 4 + 1 + 1 + MEMORY + 2);
    ck_assert_uint_eq(tiny_word(t.m, 0), 5);
    ck_assert_uint_eq(tiny_word(t.m, 1), 0);
    ck_assert_uint_eq(tiny_word(t.m, 3), 0x3f800000);
    tiny_free(t.m);
}
END_TEST

/* Lanes a row apart: 16 rows, 16 segments; the other 16 lanes read the same. */
START_TEST(a_fetch_is_an_access_per_segment_and_cycle) {
    TextureMachine t = run("mov.u32 %r5, %laneid;\n and.b32 %r6, %r5, 15;\n"
                           "tex.2d.v4.u32.s32 {%r1, %r2, %r3, %r4}, [t, {9, %r6}];\n mov.u32 %r7, %r1;\n",
                           words, false);
    uint64_t issued = tiny_issued(t.m, 0, 2);
    ck_assert_uint_eq(tiny_arrivals(t.m, 0)->count, 16);
    for (uint32_t i = 0; i < 16; i++) {
        ck_assert_uint_eq(arrival(&t, i)->cycle, issued + 4 + 2 + i);
        ck_assert_uint_eq(arrival(&t, i)->message.address, t.buffer + i * 256 + 32);
        ck_assert_uint_eq(arrival(&t, i)->message.bytes, 32);
    }
    ck_assert_uint_eq(tiny_issued(t.m, 0, 3), issued + 4 + 16 + 1 + MEMORY + 2);
    tiny_free(t.m);
}
END_TEST

/* At (8, 1) between texels 7 and 8 of rows 0 and 1: each row's two lie in two segments. */
START_TEST(linear_filtering_accesses_all_texels_that_it_mixes) {
    Texture linear = words;
    linear.filter = FILTER_LINEAR;
    TextureMachine t = run("tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [t, {0f41000000, 0f3f800000}];\n", linear,
                           false);
    static const uint32_t offsets[] = {0, 32, 256, 288};
    ck_assert_uint_eq(tiny_arrivals(t.m, 0)->count, 4);
    for (uint32_t i = 0; i < 4; i++)
        ck_assert_uint_eq(arrival(&t, i)->message.address, t.buffer + offsets[i]);
    tiny_free(t.m);
}
END_TEST

/* Every texel in a segment of its own: 32 lanes, four each. A texel of 16 bytes, lanes two texels and two
 * rows apart. */
START_TEST(a_scattered_linear_fetch_is_128_accesses) {
    Texture wide = {.pitch = 64,
                    .width = 4,
                    .height = 64,
                    .slices = 1,
                    .format = TEXEL_F32,
                    .channels = 4,
                    .filter = FILTER_LINEAR};
    TextureMachine t = run(
        "mov.u32 %r5, %laneid;\n shl.b32 %r6, %r5, 1;\n add.s32 %r6, %r6, 1;\n"
        "cvt.rn.f32.u32 %f5, %r6;\n"
        "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [t, {0f40000000, %f5}];\n mov.b32 %r7, %f1;\n",
        wide, false);
    uint64_t issued = tiny_issued(t.m, 0, 4);
    ck_assert_uint_eq(tiny_arrivals(t.m, 0)->count, 128);
    for (uint32_t i = 0; i < 128; i++)
        ck_assert_uint_eq(arrival(&t, i)->message.address, t.buffer + i * 32);
    ck_assert_uint_eq(tiny_issued(t.m, 0, 5), issued + 4 + 128 + 1 + MEMORY + 2);
    tiny_free(t.m);
}
END_TEST

/* Likewise in 3D, between two slices: eight texels each. */
START_TEST(a_scattered_linear_fetch_of_a_volume_is_256_accesses) {
    Texture wide = {.pitch = 64,
                    .slice = 4096,
                    .width = 4,
                    .height = 64,
                    .slices = 2,
                    .format = TEXEL_F32,
                    .channels = 4,
                    .filter = FILTER_LINEAR};
    TextureMachine t = run(
        "mov.u32 %r5, %laneid;\n shl.b32 %r6, %r5, 1;\n add.s32 %r6, %r6, 1;\n"
        "cvt.rn.f32.u32 %f5, %r6;\n mov.f32 %f6, 0f3f800000;\n"
        "tex.3d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [t, {0f40000000, %f5, %f6, %f6}];\n mov.b32 %r7, %f1;\n",
        wide, false);
    ck_assert_uint_eq(tiny_arrivals(t.m, 0)->count, 256);
    for (uint32_t i = 0; i < 256; i++)
        ck_assert_uint_eq(arrival(&t, i)->message.address,
                          t.buffer + i % 8 / 4 * 4096 + i / 8 * 128 + i % 4 * 32);
    tiny_free(t.m);
}
END_TEST

/* As a load of no lane: it passes through. */
START_TEST(a_fetch_beyond_the_border_accesses_nothing) {
    TextureMachine t = run("tex.1d.v4.u32.s32 {%r1, %r2, %r3, %r4}, [t, {64}];\n st.global.u32 [out], %r1;\n"
                           "tex.1d.v4.u32.s32 {%r1, %r2, %r3, %r4}, [t, {-1}];\n",
                           words, true);
    ck_assert_uint_eq(tiny_issued(t.m, 0, 1), tiny_issued(t.m, 0, 0) + 3 + 2);
    ck_assert_uint_eq(tiny_stat(t.m, "sm[0].lsu", "texture_loads"), 0);
    ck_assert_uint_eq(tiny_arrivals(t.m, 0)->count, 0);
    ck_assert_uint_eq(tiny_word(t.m, 0), 0);
    tiny_free(t.m);
}
END_TEST

Suite *texture_fetches_suite(void) {
    Suite *suite = suite_create("texture_fetches");
    TCase *text = tcase_create("text");
    tcase_add_test(text, texrefs_are_textures_and_take_no_memory);
    tcase_add_test(text, a_texref_in_the_code_is_its_handle);
    tcase_add_test(text, a_texture_among_the_parameters_is_named_or_loaded);
    tcase_add_test(text, a_sampler_may_be_a_parameter);
    tcase_add_test(text, fetches_are_loads_of_the_texture_space);
    tcase_add_test(text, every_shape_of_a_fetch_is_read);
    tcase_add_test(text, what_is_no_supported_fetch_is_refused_with_its_line);
    tcase_add_test(text, a_texture_has_neither_elements_nor_an_initialiser);
    suite_add_tcase(suite, text);
    TCase *timing = tcase_create("timing");
    tcase_add_test(timing, texels_are_gathered_into_segments_of_32_bytes);
    tcase_add_test(timing, a_fetch_goes_through_the_texture_cache);
    tcase_add_test(timing, a_fetch_by_handle_is_a_cycle_later);
    tcase_add_test(timing, a_fetch_is_an_access_per_segment_and_cycle);
    tcase_add_test(timing, linear_filtering_accesses_all_texels_that_it_mixes);
    tcase_add_test(timing, a_scattered_linear_fetch_is_128_accesses);
    tcase_add_test(timing, a_scattered_linear_fetch_of_a_volume_is_256_accesses);
    tcase_add_test(timing, a_fetch_beyond_the_border_accesses_nothing);
    suite_add_tcase(suite, timing);
    return suite;
}
