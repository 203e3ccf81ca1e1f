/* Kernels as PTX text, in the fat binary that a compiler would have made, registered by hand: the tests of the CUDA
 * library need no compiler for GPUs. */
#include "cuda_runtime_api.h"

#include "surface_types.h"
#include "texture_types.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char ptx[] =
    ".version 6.0\n.target sm_35\n.address_size 64\n"
    ".visible .global .align 4 .u32 bias = 5;\n"
    ".visible .const .align 4 .b8 factors[16];\n"
    ".visible .global .texref picture;\n"
    ".visible .global .surfref canvas;\n"
    /* a[i] = a[i] * factors[1] + bias for i below n */
    ".visible .entry scale(.param .u64 a, .param .u32 n) {\n"
    "  .reg .pred %p; .reg .u32 %r<8>; .reg .u64 %d<4>;\n"
    "  ld.param.u64 %d0, [a]; ld.param.u32 %r0, [n];\n"
    "  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r1, %r1, %r2, %r3;\n"
    "  setp.ge.u32 %p, %r1, %r0; @%p ret;\n"
    "  mul.wide.u32 %d1, %r1, 4; add.u64 %d1, %d0, %d1; ld.global.u32 %r4, [%d1];\n"
    "  ld.const.u32 %r5, [factors+4]; ld.global.u32 %r6, [bias]; mad.lo.u32 %r4, %r4, %r5, %r6;\n"
    "  st.global.u32 [%d1], %r4; ret; }\n"
    ".visible .entry nothing() { ret; }\n"
    ".visible .entry stray(.param .u64 a) {\n"
    "  .reg .u64 %d<2>; ld.param.u64 %d0, [a]; add.u64 %d0, %d0, 0x40000000; st.global.u32 [%d0], 1; ret; }\n"
    ".visible .entry fails() { trap; ret; }\n"
    /* says so in a[0], and goes on for ever */
    ".visible .entry spins(.param .u64 a) {\n"
    "  .reg .u64 %d; ld.param.u64 %d, [a]; st.global.u32 [%d], 1;\n"
    "AGAIN: bra AGAIN; }\n"
    /* goes on until a[0] is not 0, and leaves it in a[1] */
    ".visible .entry waits(.param .u64 a) {\n"
    "  .reg .u64 %d; .reg .u32 %r; .reg .pred %p; ld.param.u64 %d, [a];\n"
    "AGAIN: ld.volatile.global.u32 %r, [%d]; setp.eq.u32 %p, %r, 0; @%p bra AGAIN;\n"
    "  st.global.u32 [%d+4], %r; ret; }\n"
    ".visible .entry cooperative_block_of_grid() .reqntid 32 { ret; }\n"
    ".visible .entry uneven(.param .u64 a) {\n"
    "  .reg .u64 %d<2>; ld.param.u64 %d0, [a]; st.global.u32 [%d0+2], 1; ret; }\n"
    /* f: warp 0 waits for votes, and warp 1 fails before warp 2 comes; else warp 0 comes without a vote, and keeps its 7s */
    ".visible .entry parted(.param .u64 a, .param .u32 f) {\n"
    "  .reg .pred %p<3>; .reg .u32 %r<3>; .reg .u64 %d<2>;\n"
    "  ld.param.u64 %d0, [a]; ld.param.u32 %r0, [f]; mov.u32 %r1, %tid.x; mov.u32 %r2, 7;\n"
    "  setp.ne.u32 %p0, %r0, 0; setp.ge.u32 %p1, %r1, 32; and.pred %p2, %p0, %p1; @%p2 trap;\n"
    "  xor.pred %p2, %p0, %p1; @%p2 bra VOTE; bar.sync 0; bra.uni SHOW;\n"
    "VOTE: bar.red.popc.u32 %r2, 0, %p1;\n"
    "SHOW: mul.wide.u32 %d1, %r1, 4; add.u64 %d0, %d0, %d1; st.global.u32 [%d0], %r2; ret; }\n"
    /* prints its thread and n */
    ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 v);\n"
    ".global .align 1 .b8 form[14] = {116, 104, 114, 101, 97, 100, 32, 37, 117, 32, 37, 117, 10, 0};\n"
    ".visible .entry prints(.param .u32 n) {\n"
    "  .local .align 8 .b8 room[8]; .reg .u32 %r<4>; .reg .u64 %d<4>;\n"
    "  ld.param.u32 %r0, [n]; mov.u32 %r1, %tid.x; st.local.u32 [room], %r1; st.local.u32 [room+4], %r0;\n"
    "  mov.u64 %d0, form; cvta.global.u64 %d0, %d0; mov.u64 %d1, room; cvta.local.u64 %d1, %d1;\n"
    "  { .param .b64 f; .param .b64 v; .param .b32 r; st.param.b64 [f], %d0; st.param.b64 [v], %d1;\n"
    "    call.uni (r), vprintf, (f, v); ld.param.b32 %r2, [r]; }\n"
    "  ret; }\n"
    /* out[i] = texel i of the texture; a handle of 0: of `picture` */
    ".visible .entry fetch(.param .u64 out, .param .u64 handle) {\n"
    "  .reg .u32 %r<4>; .reg .f32 %f<4>; .reg .u64 %d<4>; .reg .pred %p;\n"
    "  ld.param.u64 %d0, [out]; ld.param.u64 %d1, [handle]; mov.u32 %r0, %tid.x; mov.u32 %r1, %tid.y;\n"
    "  setp.eq.u64 %p, %d1, 0; @%p bra reference;\n"
    "  tex.2d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [%d1, {%r0, %r1}]; bra store;\n"
    "reference: tex.2d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [picture, {%r0, %r1}];\n"
    "store: mov.u32 %r2, %ntid.x; mad.lo.u32 %r2, %r1, %r2, %r0; mul.wide.u32 %d2, %r2, 4; add.u64 %d2, %d0, "
    "%d2;\n"
    "  st.global.f32 [%d2], %f0; ret; }\n"
    /* word x of row y becomes 100 y + x; a handle of 0: of `canvas` */
    ".visible .entry paint(.param .u64 handle) {\n"
    "  .reg .u32 %r<4>; .reg .u64 %d<2>; .reg .pred %p;\n"
    "  ld.param.u64 %d0, [handle]; mov.u32 %r0, %tid.x; mov.u32 %r1, %tid.y; mad.lo.u32 %r2, %r1, 100, %r0;\n"
    "  shl.b32 %r0, %r0, 2; setp.eq.u64 %p, %d0, 0; @%p bra reference;\n"
    "  sust.b.2d.b32.trap [%d0, {%r0, %r1}], {%r2}; ret;\n"
    "reference: sust.b.2d.b32.trap [canvas, {%r0, %r1}], {%r2}; ret; }\n"
    /* out[i] = texel i of a volume (shape 0), of layers (1) or of a cube's face z, at its middle (2) */
    ".visible .entry voxels(.param .u64 out, .param .u64 handle, .param .u32 shape) {\n"
    "  .reg .u32 %r<9>; .reg .f32 %f<9>; .reg .u64 %d<4>; .reg .pred %p<3>;\n"
    "  ld.param.u64 %d0, [out]; ld.param.u64 %d1, [handle]; ld.param.u32 %r3, [shape];\n"
    "  mov.u32 %r0, %tid.x; mov.u32 %r1, %tid.y; mov.u32 %r2, %tid.z;\n"
    "  setp.eq.u32 %p0, %r3, 1; setp.eq.u32 %p1, %r3, 2; @%p0 bra layered; @%p1 bra cube;\n"
    "  tex.3d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [%d1, {%r0, %r1, %r2, %r2}]; bra store;\n"
    "layered: tex.a2d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [%d1, {%r2, %r0, %r1, %r1}]; bra store;\n"
    "cube: mov.f32 %f4, 0f3F800000; neg.f32 %f6, %f4; and.b32 %r4, %r2, 1; setp.eq.u32 %p0, %r4, 0;\n"
    "  selp.f32 %f4, %f4, %f6, %p0; mov.f32 %f7, 0f00000000; shr.u32 %r4, %r2, 1;\n"
    "  setp.eq.u32 %p0, %r4, 0; selp.f32 %f5, %f4, %f7, %p0; setp.eq.u32 %p0, %r4, 1; selp.f32 %f6, %f4, "
    "%f7, %p0;\n"
    "  setp.eq.u32 %p0, %r4, 2; selp.f32 %f8, %f4, %f7, %p0;\n"
    "  tex.cube.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%d1, {%f5, %f6, %f8, %f8}];\n"
    "store: mov.u32 %r5, %ntid.x; mov.u32 %r6, %ntid.y; mad.lo.u32 %r7, %r2, %r6, %r1; mad.lo.u32 %r7, %r7, "
    "%r5, "
    "%r0;\n"
    "  mul.wide.u32 %d2, %r7, 4; add.u64 %d2, %d0, %d2; st.global.f32 [%d2], %f0; ret; }\n";

static struct {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t body_bytes;
    uint16_t kind, entry_version;
    uint32_t entry_bytes;
    uint64_t payload_bytes;
    uint32_t compressed, options, minor_major, architecture, name[2];
    uint64_t flags, zero, raw_bytes;
    char payload[8192];
} binary = {.magic = 0xba55ed50,
            .version = 1,
            .header_bytes = 16,
            .kind = 1,
            .entry_version = 0x101,
            .entry_bytes = 64,
            .architecture = 35};

static struct {
    uint32_t magic, version;
    const void *image, *more;
} wrapper = {0x466243b1, 1, &binary, 0};

void __cudaRegisterFunction(void **, const char *, char *, const char *, int, void *, void *, void *, void *,
                            int *);
void __cudaRegisterVar(void **, char *, char *, const char *, int, size_t, int, int);
void __cudaRegisterSurface(void **, const void *, const void **, const char *, int, int);
void __cudaRegisterTexture(void **, const void *, const void **, const char *, int, int, int);

static void scale(void) {}
static void nothing(void) {}
static void stray(void) {}
static void fails(void) {}
static void spins(void) {}
static void waits(void) {}
static void cooperative_block_of_grid(void) {}
static void uneven(void) {}
static void parted(void) {}
static void fetch(void) {}
static void voxels(void) {}
static void paint(void) {}
static void prints(void) {}
static int bias;
static int factors[4];
static struct textureReference picture;
static struct surfaceReference canvas;

static void __attribute__((constructor)) register_all(void) {
    memcpy(binary.payload, ptx, sizeof ptx);
    binary.payload_bytes = (sizeof ptx + 7) / 8 * 8;
    binary.body_bytes = 64 + binary.payload_bytes;
    void **handle = __cudaRegisterFatBinary(&wrapper);
#define KERNEL(name) __cudaRegisterFunction(handle, (const char *)name, #name, #name, -1, 0, 0, 0, 0, 0)
    KERNEL(scale);
    KERNEL(nothing);
    KERNEL(stray);
    KERNEL(fails);
    KERNEL(spins);
    KERNEL(waits);
    KERNEL(cooperative_block_of_grid);
    KERNEL(uneven);
    KERNEL(parted);
    KERNEL(fetch);
    KERNEL(voxels);
    KERNEL(paint);
    KERNEL(prints);
    __cudaRegisterVar(handle, (char *)&bias, "bias", "bias", 0, sizeof bias, 0, 0);
    __cudaRegisterVar(handle, (char *)factors, "factors", "factors", 0, sizeof factors, 1, 0);
    __cudaRegisterTexture(handle, &picture, 0, "picture", 2, 0, 0);
    __cudaRegisterSurface(handle, &canvas, 0, "canvas", 2, 0);
    __cudaRegisterFatBinaryEnd(handle);
}

static int failures;

#define EXPECT(got, want)                                                                                    \
    do {                                                                                                     \
        long long expect_got = (long long)(got), expect_want = (long long)(want);                            \
        if (expect_got != expect_want) {                                                                     \
            printf("%s:%d: %s: expected %lld, got %lld\n", __FILE__, __LINE__, #got, expect_want,            \
                   expect_got);                                                                              \
            failures++;                                                                                      \
        }                                                                                                    \
    } while (0)
#define GOOD(call) EXPECT(call, cudaSuccess)

static inline dim3 size1(unsigned x) {
    dim3 size = {x, 1, 1};
    return size;
}

static inline cudaError_t run_prints(unsigned n, unsigned block) {
    void *params[] = {&n};
    return cudaLaunchKernel((const void *)prints, size1(1), size1(block), params, 0, 0);
}

static inline cudaError_t run_scale(int *a, unsigned n, unsigned grid, unsigned block) {
    void *params[] = {&a, &n};
    return cudaLaunchKernel((const void *)scale, size1(grid), size1(block), params, 0, 0);
}
