/* driver_textures: arrays of the driver API, and objects and references of textures and surfaces. Checks itself. */
#include "checks.h"

#include "cuda.h"

enum { WIDTH = 8, HEIGHT = 4, DEPTH = 3, TEXELS = WIDTH * HEIGHT };

/* Each thread reads the texel at (x + shift, y + shift) of a plane, by an object or by a reference; or writes one. */
#define READ(name, params, texture)                                                                          \
    ".visible .entry " name "(.param .u64 out, .param .f32 shift" params ") {\n"                             \
    ".reg .u64 %a, %t; .reg .u32 %x, %y, %w, %i; .reg .f32 %u, %v, %s, %r, %g, %b, %h;\n"                    \
    "ld.param.u64 %a, [out]; ld.param.f32 %s, [shift];\n" texture                                            \
    "mov.u32 %x, %tid.x; mov.u32 %y, %tid.y; mov.u32 %w, %ntid.x; mad.lo.u32 %i, %y, %w, %x;\n"              \
    "cvt.rn.f32.u32 %u, %x; cvt.rn.f32.u32 %v, %y; add.f32 %u, %u, %s; add.f32 %v, %v, %s;\n"                \
    "cvta.to.global.u64 %a, %a; mad.wide.u32 %a, %i, 4, %a;\n"

static const char text[] =
    ".version 6.4\n.target sm_70\n.address_size 64\n"
    ".global .texref plane;\n.global .surfref canvas;\n.global .u32 counter;\n" READ(
        "by_object", ", .param .u64 object",
        "ld.param.u64 %t, [object];\n") "tex.2d.v4.f32.f32 {%r, %g, %b, %h}, [%t, {%u, %v}]; st.global.f32 "
                                        "[%a], %r; ret; }\n" READ(
                                            "by_reference", "",
                                            "") "tex.2d.v4.f32.f32 {%r, %g, %b, "
                                                "%h}, [plane, {%u, %v}]; "
                                                "st.global.f32 [%a], %r; ret; "
                                                "}\n" READ(
                                                    "linear", "",
                                                    "") "tex.1d.v4.f32.s32 "
                                                        "{%r, %g, %b, %h}, "
                                                        "[plane, {%i}]; "
                                                        "st.global.f32 "
                                                        "[%a], %r; ret; "
                                                        "}\n" READ(
                                                            "store",
                                                            ", "
                                                            ".param "
                                                            ".u64 "
                                                            "object",
                                                            "ld."
                                                            "param."
                                                            "u64 %t, "
                                                            "[object]"
                                                            ";\n") "s"
                                                                   "h"
                                                                   "l"
                                                                   "."
                                                                   "b"
                                                                   "3"
                                                                   "2"
                                                                   " "
                                                                   "%"
                                                                   "x"
                                                                   ","
                                                                   " "
                                                                   "%"
                                                                   "x"
                                                                   ","
                                                                   " "
                                                                   "2"
                                                                   ";"
                                                                   " "
                                                                   "s"
                                                                   "u"
                                                                   "s"
                                                                   "t"
                                                                   "."
                                                                   "b"
                                                                   "."
                                                                   "2"
                                                                   "d"
                                                                   "."
                                                                   "b"
                                                                   "3"
                                                                   "2"
                                                                   "."
                                                                   "t"
                                                                   "r"
                                                                   "a"
                                                                   "p"
                                                                   " "
                                                                   "["
                                                                   "%"
                                                                   "t"
                                                                   ","
                                                                   " "
                                                                   "{"
                                                                   "%"
                                                                   "x"
                                                                   ","
                                                                   " "
                                                                   "%"
                                                                   "y"
                                                                   "}"
                                                                   "]"
                                                                   ","
                                                                   " "
                                                                   "{"
                                                                   "%"
                                                                   "i"
                                                                   "}"
                                                                   ";"
                                                                   " "
                                                                   "r"
                                                                   "e"
                                                                   "t"
                                                                   ";"
                                                                   " "
                                                                   "}"
                                                                   "\n" READ(
                                                                       "store_by_reference", "",
                                                                       "") "shl.b32 %x, %x, 2; add.u32 %i, "
                                                                           "%i, 100; sust.b.2d.b32.trap "
                                                                           "[canvas, {%x, %y}], {%i}; ret; "
                                                                           "}\n";

static CUmodule module;
static CUdeviceptr out;
static float texels[TEXELS], got[TEXELS];

static void run(const char *name, float shift, unsigned long long object) {
    CUfunction function;
    void *params[] = {&out, &shift, &object};
    CHECK(cuModuleGetFunction(&function, module, name) == CUDA_SUCCESS);
    CHECK(cuLaunchKernel(function, 1, 1, 1, WIDTH, HEIGHT, 1, 0, NULL, params, NULL) == CUDA_SUCCESS);
    CHECK(cuMemcpyDtoH(got, out, sizeof got) == CUDA_SUCCESS);
}

static int at(int x, int y) {
    x = x < 0 ? 0 : x >= WIDTH ? WIDTH - 1 : x;
    y = y < 0 ? 0 : y >= HEIGHT ? HEIGHT - 1 : y;
    return y * WIDTH + x;
}

/* The texels that stand `shift` to the right and below, times `factor`. */
static void check_shifted(int shift, float factor) {
    int wrong = 0;
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            wrong += got[y * WIDTH + x] != factor * texels[at(x + shift, y + shift)];
    CHECK(wrong == 0);
}

static CUDA_MEMCPY2D to_array(CUarray array) {
    CUDA_MEMCPY2D copy = {0};
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = texels;
    copy.srcPitch = WIDTH * 4;
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.dstArray = array;
    copy.WidthInBytes = WIDTH * 4;
    copy.Height = HEIGHT;
    return copy;
}

static CUDA_MEMCPY2D from_array(CUarray array) {
    CUDA_MEMCPY2D copy = {0};
    copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.srcArray = array;
    copy.dstMemoryType = CU_MEMORYTYPE_HOST;
    copy.dstHost = got;
    copy.dstPitch = WIDTH * 4;
    copy.WidthInBytes = WIDTH * 4;
    copy.Height = HEIGHT;
    return copy;
}

static CUarray plane_of_texels(void) {
    const CUDA_ARRAY_DESCRIPTOR of = {WIDTH, HEIGHT, CU_AD_FORMAT_FLOAT, 1};
    CUDA_ARRAY_DESCRIPTOR answered;
    CUarray array;
    CHECK(cuArrayCreate(&array, &of) == CUDA_SUCCESS);
    CHECK(cuArrayGetDescriptor(&answered, array) == CUDA_SUCCESS && answered.Width == WIDTH &&
          answered.Height == HEIGHT && answered.Format == CU_AD_FORMAT_FLOAT && answered.NumChannels == 1);
    CUDA_MEMCPY2D copy = to_array(array);
    CHECK(cuMemcpy2D(&copy) == CUDA_SUCCESS);
    return array;
}

static void check_copies(CUarray array) {
    CUDA_MEMCPY2D copy = from_array(array);
    memset(got, 0, sizeof got);
    CHECK(cuMemcpy2D(&copy) == CUDA_SUCCESS && memcmp(got, texels, sizeof got) == 0);
    copy.srcY = 1;
    CHECK(cuMemcpy2D(&copy) == CUDA_ERROR_INVALID_VALUE);
    copy.Height--;
    CHECK(cuMemcpy2DAsync(&copy, NULL) == CUDA_SUCCESS && cuCtxSynchronize() == CUDA_SUCCESS);
    CHECK(memcmp(got, texels + WIDTH, sizeof got - WIDTH * 4) == 0);
    copy.srcArray = NULL;
    CHECK(cuMemcpy2D(&copy) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuMemcpyAtoH(got, array, 8, 8) == CUDA_SUCCESS && got[0] == texels[2] && got[1] == texels[3]);
    CHECK(cuMemcpyHtoA(array, 4, got, 8) == CUDA_SUCCESS && cuMemcpyAtoD(out, array, 0, 16) == CUDA_SUCCESS);
    CHECK(cuMemcpyDtoH(got, out, 16) == CUDA_SUCCESS && got[1] == texels[2] && got[2] == texels[3]);
    CHECK(cuMemcpyHtoA(array, 0, texels, WIDTH * 4) == CUDA_SUCCESS);
    CHECK(cuMemcpyHtoA(array, 4, texels, WIDTH * 4) == CUDA_ERROR_INVALID_VALUE);
}

static void check_objects(CUarray array) {
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = array}, asked;
    CUDA_TEXTURE_DESC how = {.addressMode = {CU_TR_ADDRESS_MODE_CLAMP, CU_TR_ADDRESS_MODE_CLAMP}}, answered;
    CUtexObject object;
    CHECK(cuTexObjectCreate(&object, &resource, &how, NULL) == CUDA_SUCCESS);
    run("by_object", 0.5f, object), check_shifted(0, 1);
    run("by_object", 2.5f, object), check_shifted(2, 1);
    CHECK(cuTexObjectGetResourceDesc(&asked, object) == CUDA_SUCCESS && asked.res.array.hArray == array);
    CHECK(cuTexObjectGetTextureDesc(&answered, object) == CUDA_SUCCESS &&
          answered.addressMode[1] == CU_TR_ADDRESS_MODE_CLAMP);
    CHECK(cuTexObjectDestroy(object) == CUDA_SUCCESS &&
          cuTexObjectDestroy(object) == CUDA_ERROR_INVALID_VALUE);
    resource = (CUDA_RESOURCE_DESC){.resType = CU_RESOURCE_TYPE_PITCH2D};
    resource.res.pitch2D.devPtr = out;
    resource.res.pitch2D.format = CU_AD_FORMAT_UNSIGNED_INT8;
    resource.res.pitch2D.numChannels = 1;
    resource.res.pitch2D.width = WIDTH, resource.res.pitch2D.height = HEIGHT;
    resource.res.pitch2D.pitchInBytes = 64;
    CUdeviceptr bytes;
    CHECK(cuMemAlloc(&bytes, 64 * HEIGHT) == CUDA_SUCCESS &&
          cuMemsetD8(bytes, 51, 64 * HEIGHT) == CUDA_SUCCESS);
    resource.res.pitch2D.devPtr = bytes;
    CHECK(cuTexObjectCreate(&object, &resource, &how, NULL) == CUDA_SUCCESS);
    run("by_object", 0.5f, object); /* a byte is a share of 255 */
    CHECK(got[5] > 0.19999f && got[5] < 0.20001f);
    resource.res.pitch2D.numChannels = 3;
    CHECK(cuTexObjectCreate(&object, &resource, &how, NULL) == CUDA_ERROR_INVALID_VALUE);
}

static void check_references(CUarray array) {
    CUtexref reference;
    CUarray answered;
    CUaddress_mode mode;
    CUdeviceptr memory;
    CHECK(cuModuleGetTexRef(&reference, module, "nothing") == CUDA_ERROR_NOT_FOUND);
    CHECK(cuModuleGetTexRef(&reference, module, "counter") == CUDA_ERROR_NOT_FOUND);
    CHECK(cuModuleGetTexRef(&reference, module, "plane") == CUDA_SUCCESS);
    CHECK(cuTexRefGetArray(&answered, reference) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuTexRefSetAddressMode(reference, 0, CU_TR_ADDRESS_MODE_CLAMP) == CUDA_SUCCESS);
    CHECK(cuTexRefSetArray(reference, array, CU_TRSA_OVERRIDE_FORMAT) == CUDA_SUCCESS);
    CHECK(cuTexRefSetAddressMode(reference, 1, CU_TR_ADDRESS_MODE_CLAMP) == CUDA_SUCCESS);
    run("by_reference", 1.5f, 0), check_shifted(1, 1);
    CHECK(cuTexRefSetFilterMode(reference, CU_TR_FILTER_MODE_LINEAR) == CUDA_SUCCESS);
    run("by_reference", 1, 0); /* between four texels */
    CHECK(got[0] == (texels[0] + texels[1] + texels[WIDTH] + texels[WIDTH + 1]) / 4);
    CHECK(cuTexRefGetArray(&answered, reference) == CUDA_SUCCESS && answered == array);
    CHECK(cuTexRefGetAddressMode(&mode, reference, 1) == CUDA_SUCCESS && mode == CU_TR_ADDRESS_MODE_CLAMP);
    CHECK(cuTexRefSetFilterMode(reference, CU_TR_FILTER_MODE_POINT) == CUDA_SUCCESS);
    CHECK(cuMemAlloc(&memory, sizeof texels) == CUDA_SUCCESS);
    CHECK(cuMemcpyHtoD(memory, texels, sizeof texels) == CUDA_SUCCESS);
    CHECK(cuTexRefSetFormat(reference, CU_AD_FORMAT_FLOAT, 1) == CUDA_SUCCESS);
    CHECK(cuTexRefSetAddress(NULL, reference, memory, sizeof texels) == CUDA_SUCCESS);
    run("linear", 0, 0), check_shifted(0, 1);
}

static void check_surfaces(void) {
    const CUDA_ARRAY3D_DESCRIPTOR of = {
        WIDTH, HEIGHT, 0, CU_AD_FORMAT_SIGNED_INT32, 1, CUDA_ARRAY3D_SURFACE_LDST};
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY};
    CUsurfObject object;
    CUsurfref reference;
    CUarray array;
    int wrong = 0;
    CHECK(cuArray3DCreate(&array, &of) == CUDA_SUCCESS);
    resource.res.array.hArray = array;
    CHECK(cuSurfObjectCreate(&object, &resource) == CUDA_SUCCESS);
    for (int k = 0; k < 2; k++) {
        CUDA_MEMCPY2D copy = from_array(array);
        if (k) CHECK(cuModuleGetSurfRef(&reference, module, "canvas") == CUDA_SUCCESS);
        if (k) CHECK(cuSurfRefSetArray(reference, array, 0) == CUDA_SUCCESS);
        run(k ? "store_by_reference" : "store", 0, object);
        CHECK(cuMemcpy2D(&copy) == CUDA_SUCCESS);
        for (int i = 0; i < TEXELS; i++) {
            int word;
            memcpy(&word, &got[i], 4);
            wrong += word != i + 100 * k;
        }
    }
    CHECK(wrong == 0);
    CHECK(cuSurfObjectDestroy(object) == CUDA_SUCCESS && cuArrayDestroy(array) == CUDA_SUCCESS);
    CHECK(cuSurfObjectCreate(&object, &resource) == CUDA_ERROR_INVALID_VALUE);
}

static void check_volumes(void) {
    const CUDA_ARRAY3D_DESCRIPTOR of = {WIDTH, HEIGHT, DEPTH, CU_AD_FORMAT_FLOAT, 1, 0};
    CUDA_ARRAY3D_DESCRIPTOR answered;
    CUDA_MEMCPY3D copy = {0};
    CUarray array;
    CHECK(cuArray3DCreate(&array, &of) == CUDA_SUCCESS);
    CHECK(cuArray3DGetDescriptor(&answered, array) == CUDA_SUCCESS && answered.Depth == DEPTH);
    copy.srcMemoryType = CU_MEMORYTYPE_HOST, copy.srcHost = texels;
    copy.srcPitch = WIDTH * 4, copy.srcHeight = HEIGHT;
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY, copy.dstArray = array, copy.dstZ = 2;
    copy.WidthInBytes = WIDTH * 4, copy.Height = HEIGHT, copy.Depth = 1;
    CHECK(cuMemcpy3D(&copy) == CUDA_SUCCESS);
    copy.dstZ = 3;
    CHECK(cuMemcpy3D(&copy) == CUDA_ERROR_INVALID_VALUE);
    copy.dstMemoryType = CU_MEMORYTYPE_HOST, copy.dstHost = got, copy.dstZ = 0;
    copy.dstPitch = WIDTH * 4, copy.dstHeight = HEIGHT;
    copy.srcMemoryType = CU_MEMORYTYPE_ARRAY, copy.srcArray = array, copy.srcZ = 2;
    memset(got, 0, sizeof got);
    CHECK(cuMemcpy3D(&copy) == CUDA_SUCCESS && memcmp(got, texels, sizeof got) == 0);
    CHECK(cuArrayDestroy(array) == CUDA_SUCCESS && cuArrayDestroy(array) == CUDA_ERROR_INVALID_HANDLE);
    CHECK(cuMemcpy3D(&copy) == CUDA_ERROR_INVALID_VALUE);
}

int main(void) {
    CUdevice device;
    CUcontext context;
    for (int i = 0; i < TEXELS; i++)
        texels[i] = (float)(i * i);
    CHECK(cuInit(0) == CUDA_SUCCESS && cuDeviceGet(&device, 0) == CUDA_SUCCESS);
    CHECK(cuCtxCreate(&context, 0, device) == CUDA_SUCCESS);
    CHECK(cuModuleLoadData(&module, text) == CUDA_SUCCESS && cuMemAlloc(&out, sizeof got) == CUDA_SUCCESS);
    CUarray array = plane_of_texels();
    check_copies(array);
    check_objects(array);
    check_references(array);
    check_surfaces();
    check_volumes();
    return finish("driver_textures");
}
