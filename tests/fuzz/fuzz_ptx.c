/* PTX from anywhere: it is parsed and decoded, or refused by an error that names file and line. Bytes alone
 * seldom make another program, so the mutator also moves whole lines and words about. */
#include "core/ptx/module.h"
#include "core/sim/base/error.h"
#include "core/sim/checkpoint/buffer.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/text_changes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_NAME "fuzz.ptx"

typedef struct {
    const char *text;
    size_t length;
    Module *module;
} Input;

static void parse(void *context) {
    Input *input = context;
    input->module = module_parse(FILE_NAME, input->text, input->length);
}

/* As if every variable were placed at an address of its own. */
static void place(Module *module) {
    for (uint32_t i = 0; i < module->variable_count; i++)
        module->variables[i].address = 0xc0000000 + 0x1000 * (uint64_t)i;
    module_place(module);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    Input input = {(const char *)bytes, count, NULL};
    const char *error = user_error_catch(parse, &input);
    ensure(!error == (input.module != NULL));
    if (error) {
        ensure(strncmp(error, FILE_NAME, strlen(FILE_NAME)) == 0);
    } else {
        place(input.module);
        module_free(input.module);
    }
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t count, size_t capacity, unsigned seed) {
    return change_text(bytes, count, capacity, seed);
}

/* --- Seeds ----------------------------------------------------------------------------------- */

static const char head[] = ".version 7.0\n.target sm_70\n.address_size 64\n";

static const struct {
    const char *name, *text;
} seeds[] = {
    {"loop", ".visible .entry loop(.param .u64 p, .param .u32 n)\n.maxntid 256, 1, 1\n{\n"
             ".reg .pred %p<3>;\n.reg .b32 %r<8>;\n.reg .f32 %f<4>;\n.reg .b64 %rd<4>;\n"
             ".shared .align 4 .b8 tile[1024];\n.local .align 8 .b8 depot[16];\n"
             "ld.param.u64 %rd1, [p];\nld.param.u32 %r1, [n];\nmov.u32 %r2, %tid.x;\n"
             "cvta.to.global.u64 %rd2, %rd1;\nmul.wide.u32 %rd3, %r2, 4;\nadd.s64 %rd2, %rd2, %rd3;\n"
             "mov.u32 %r3, 0;\n$L_1:\nld.global.v2.f32 {%f1, %f2}, [%rd2+8];\n"
             "fma.rn.f32 %f3, %f1, %f2, 0f3F800000;\nst.shared.f32 [tile+4], %f3;\nbar.sync 0;\n"
             "st.local.u32 [depot], %r3;\nadd.s32 %r3, %r3, 1;\nsetp.lt.s32 %p1, %r3, %r1;\n@%p1 bra $L_1;\n"
             "shfl.sync.down.b32 %r4|%p2, %r3, 16, 31, -1;\n@!%p2 bra $L_2;\n"
             "atom.global.add.u32 %r5, [%rd2], %r4;\n$L_2:\nret;\n}\n"},
    {"calls", ".func (.param .b32 r) twice(.param .b32 x)\n{\n.reg .b32 %r<3>;\nld.param.u32 %r1, [x];\n"
              "add.u32 %r2, %r1, %r1;\nst.param.b32 [r], %r2;\nret;\n}\n.global .u64 table[1] = {twice};\n"
              ".entry calls(.param .u64 p)\n{\n.reg .b32 %r<4>;\n.reg .b64 %rd<4>;\nld.param.u64 %rd1, [p];\n"
              "mov.u32 %r1, %laneid;\n{\n.param .b32 a;\n.param .b32 b;\nst.param.b32 [a], %r1;\n"
              "call.uni (b), twice, (a);\nld.param.b32 %r2, [b];\n}\nld.global.u64 %rd2, [table];\n{\n"
              ".param .b32 a;\n.param .b32 b;\nst.param.b32 [a], %r2;\n"
              "proto: .callprototype (.param .b32 _) _ (.param .b32 _);\ncall (b), %rd2, (a), proto;\n"
              "ld.param.b32 %r3, [b];\n}\nst.global.u32 [%rd1], %r3;\nret;\n}\n"},
    {"tables",
     ".const .align 4 .f32 values[4] = {0f3F800000, 2.0, 0f40400000};\n"
     ".global .align 8 .u64 pointers[2] = {values, generic(values)+4};\n.global .texref image;\n"
     ".entry tables(.param .align 8 .b8 s[16])\n{\n.reg .b16 %h<3>;\n.reg .b32 %r<8>;\n"
     ".reg .f32 %f<6>;\n.reg .b64 %rd<3>;\nld.param.v2.u64 {%rd1, %rd2}, [s];\n"
     "mov.u32 %r1, %ctaid.x;\nswitch: .branchtargets L0, L1, L2;\nbrx.idx %r1, switch;\nL0:\n"
     "ld.const.f32 %f1, [values+4];\nL1:\ntex.2d.v4.f32.s32 {%f2, %f3, %f4, %f5}, [image, {%r1, %r1}];\n"
     "L2:\nmov.b32 {%h1, %h2}, %r1;\ncvt.u32.u16 %r2, %h1;\nmad.lo.cc.u32 %r3, %r1, %r2, 7;\n"
     "madc.hi.u32 %r4, %r1, %r2, 0;\nprmt.b32 %r5, %r3, %r4, 0x5410;\nst.global.u32 [%rd1], %r5;\n"
     "exit;\n}\n"},
    {"recursion",
     ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
     ".extern .func (.param .b64 r) malloc(.param .b64 n) .noreturn;\n.extern .func free(.param .b64 p)\n"
     ".reg .b32 %m<3>;\n.local .align 4 .b8 module_local[16];\n"
     ".weak .func (.param .b32 r) fib(.param .b32 n)\n{\n.reg .b32 %r<9>;\n.reg .b64 %rd<3>;\n.reg .pred "
     "%p<2>;\n"
     ".local .align 8 .b8 depot[16];\nld.param.b32 %r1, [n];\nst.local.u32 [depot+4], %r1;\n"
     "mov.u64 %rd1, depot;\nsetp.lt.u32 %p1, %r1, 2;\nmov.u32 %r2, %r1;\n@%p1 bra DONE;\nadd.u32 %r3, %r1, "
     "-1;\n{\n"
     ".param .b32 a;\n.param .b32 b;\nst.param.b32 [a], %r3;\ncall (b), fib, (a);\nld.param.b32 %r4, "
     "[b];\n}\n"
     "add.u32 %r3, %r1, -(1+1);\n{\n.param .b32 a;\n.param .b32 b;\nst.param.b32 [a], %r3;\n"
     "@!%p1 call (b), fib, (a);\nld.param.b32 %r5, [b];\n}\nadd.u32 %r2, %r4, %r5;\nDONE:\nst.param.b32 [r], "
     "%r2;\nret;\n}\n"
     ".global .u64 functions[1] = {fib};\n.visible .func (.param .b32 r) other(.param .b32 n);\n.alias "
     "other, fib;\n"
     ".entry recursion(.param .u64 p, .hidden .param .u32 h)\n{\n.reg .v2 .b32 %v;\n.reg .b32 %r<4>;\n.reg "
     ".b64 %rd<5>;\n"
     ".global .align 8 .u32 inside[2] = {1, 2<<3|1};\nmov.b32 %v.x, 5;\nmov.u32 %m1, %tid.x;\n"
     "st.local.u32 [module_local+2*4], %m1;\nld.global.u64 %rd1, [functions];\n{\n.param .b32 a;\n.param "
     ".b32 b;\n"
     "st.param.b32 [a], %m1;\nproto: .callprototype (.param .b32 _) _ (.param .b32 _);\ncall (b), %rd1, (a), "
     "proto;\n"
     "ld.param.b32 %r2, [b];\n}\ncall (%rd2), malloc, (64);\nst.v2.u32 [%rd2], %v;\ncall free, (%rd2);\n"
     "call (%r3), vprintf, (%rd3, %rd4);\nld.param.u64 %rd1, [p];\nst.global.u32 [%rd1], %r2;\nret;\n}\n"},
    {"vectors",
     ".entry vectors(.param .u64 p)\n{\n.reg .b8 %b<3>;\n.reg .b16 %h<9>;\n.reg .b32 %r<9>;\n.reg .f32 "
     "%f<5>;\n"
     ".reg .b64 %d<5>;\n.reg .b128 %q<3>;\n.reg .pred %p<3>;\nld.param.u64 %d1, [p];\n"
     "vadd.s32.u32.s32.sat %r1.h1, %r2.b0, %r3.b3, %r4;\nvmad.s32.s32.u32.shr7 %r1, %r2.h0, -%r3, %r4;\n"
     "vset4.s32.u32.lt.add %r1.b310, %r2.b7052, %r3, %r4;\nvavrg2.u32.u32.u32 %r1.h0, %r2.h31, %r3, %r4;\n"
     "ld.global.b128 %q1, [%d1].unified;\nmov.b128 %q2, %q1;\nmov.b128 {%d2, _}, %q2;\nmov.b16 {%b1, %b2}, "
     "%h1;\n"
     "ld.global.v8.b32 {%r0, _, %r2, %r3, %r4, %r5, %r6, %r7}, [%d1+32];\n"
     "atom.global.add.noftz.v4.f16 {%h1, %h2, %h3, %h4}, [%d1], {%h5, %h6, %h7, %h8};\n"
     "red.global.add.v2.f32 [%d1+8], {%f1, %f2};\natom.cas.b16 %h1, [%d1], %h2, %h3;\n"
     "cvt.rn.satfinite.relu.e4m3x2.f32 %h1, %f1, %f2;\ncvt.rna.tf32.f32 %r1, %f1;\n"
     "stacksave.u64 %d3;\nalloca.u64 %d2, 40, 32;\nst.local.u32 [%d2], %r1;\nstackrestore.u64 %d3;\n"
     "lop3.or.b32 %r1|%p1, %r2, %r3, %r4, 0x3f, !%p2;\nmax.f32 %f1, %f2, %f3, %f4;\nst.global.b128 [%d1], "
     "%q1;\n"
     "ret;\n}\n"},
};

static void write_seed(const char *folder, const char *name, const char *text) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    if (!file || fprintf(file, "%s%s", head, text) < 0 || fclose(file) != 0) {
        perror(path);
        exit(2);
    }
}

/* A seed that is refused would teach nothing. */
static void check_seed(const char *name, const char *text) {
    Buffer whole = {0};
    buffer_append(&whole, head, strlen(head));
    buffer_append(&whole, text, strlen(text));
    Input input = {(const char *)whole.bytes, whole.count, NULL};
    const char *error = user_error_catch(parse, &input);
    if (error) {
        fprintf(stderr, "seed %s: %s\n", name, error);
        exit(2);
    }
    module_free(input.module);
    buffer_free(&whole);
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    if (*argc != 3 || strcmp((*argv)[1], "--seeds") != 0) return 0;
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++) {
        check_seed(seeds[i].name, seeds[i].text);
        write_seed((*argv)[2], seeds[i].name, seeds[i].text);
    }
    exit(0);
}
