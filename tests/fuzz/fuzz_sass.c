/* A recorded kernel from anywhere: it is read, and its code and records fit each other, or it is refused by an error that names
 * file and line. */
#include "core/ptx/execution/exec.h"
#include "core/sass/trace_state.h"
#include "core/sim/base/error.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/text_changes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_NAME "fuzz.traceg"

typedef struct {
    const char *text;
    size_t length;
    Module *module;
} Input;

static void parse(void *context) {
    Input *input = context;
    input->module = sass_parse(FILE_NAME, input->text, input->length);
}

/* Accesses have addresses, other instructions none; they lie in what is stored, in their thread's local memory. */
static void check_access(const SassTrace *trace, const Kernel *kernel, const SassRecord *record) {
    uint8_t kind = kernel->insts[record->inst].kind;
    bool is_access = kind == INST_LOAD || kind == INST_STORE || kind == INST_ATOMIC;
    ensure((is_access && record->lanes) || !record->access);
    if (!is_access || !record->lanes) return;
    static ExecContext context;
    uint32_t lanes = (uint32_t)__builtin_popcount(record->lanes);
    uint32_t words[] = {
        [ADDRESSES_STRIDED] = 3, [ADDRESSES_NEAR] = 2 + lanes, [ADDRESSES_FAR] = 2 + 2 * lanes};
    uint64_t place = access_place(record->access);
    ensure(place + words[access_form(record->access)] <= trace->address_count);
    sass_find_addresses(trace, record, &context);
    uint32_t bytes = kernel->insts[record->inst].lane_bytes;
    uint64_t most = context.space == SPACE_LOCAL    ? kernel->local_bytes
                    : context.space == SPACE_SHARED ? 1u << 24
                                                    : SASS_GLOBAL_MASK + 1;
    ensure(context.space == SPACE_LOCAL || context.space == SPACE_SHARED || context.space == SPACE_GLOBAL);
    ensure(context.lowest <= context.highest && context.highest + bytes <= most);
}

/* What execution relies on: records point into the code, a warp's last one is an exit and no other is. */
static void check(const Module *module) {
    const SassTrace *trace = module->owned;
    const Kernel *kernel = &module->kernels[0];
    const uint32_t *grid = trace->launch.grid;
    uint64_t warps = (uint64_t)grid[0] * grid[1] * grid[2] * trace->warps_per_cta;
    for (uint64_t i = 0; i < trace->record_count; i++)
        ensure(trace->records[i].inst < kernel->inst_count);
    for (uint64_t i = 0; i < trace->record_count; i++)
        check_access(trace, kernel, &trace->records[i]);
    for (uint64_t w = 0; w < warps; w++) {
        uint64_t at = trace->first[w];
        bool has_start = kernel->insts[0].exec == exec_sass_start;
        ensure(has_start ||
               (trace->records[at].inst == 0 &&
                trace->records[at].lanes == sass_warp_lanes(trace, (uint32_t)(w % trace->warps_per_cta))));
        while (kernel->insts[trace->records[at].inst].kind != INST_EXIT)
            ensure(++at < trace->record_count);
    }
    ensure(kernel->insts[kernel->inst_count - 1].exec);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    Input input = {(const char *)bytes, count, NULL};
    const char *error = user_error_catch(parse, &input);
    ensure(!error == (input.module != NULL));
    if (error) {
        ensure(strncmp(error, FILE_NAME, strlen(FILE_NAME)) == 0);
    } else {
        check(input.module);
        module_free(input.module);
    }
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t count, size_t capacity, unsigned seed) {
    return change_text(bytes, count, capacity, seed);
}

/* --- Seeds ----------------------------------------------------------------------------------- */

static const char seed[] =
    "-kernel name = seed\n-kernel id = 1\n-grid dim = (2,1,1)\n-block dim = (64,1,1)\n-shmem = 64\n-nregs = "
    "16\n"
    "-shmem base_addr = 0x00007f0000000000\n-local mem base_addr = 0x00007f0002000000\n\n"
    "#traces format = PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [adrrescompress?] "
    "[mem_addresses]\n\n#BEGIN_TB\n\nthread block = 0,0,0\n\nwarp = 0\ninsts = 7\n"
    "0000 ffffffff 1 R1 IMAD.MOV.U32 2 R255 R255 0\n0010 ffffffff 1 R2 LDG.E.SYS 1 R4 4 1 0x7fb50a800000 4\n"
    "0020 0000000f 1 R3 LD.E 1 R4 8 0 0x7f0000000010 0x7f0000000018 0x10 0x20\n0030 ffffffff 0 BAR.SYNC 0 0\n"
    "0040 00000003 0 ATOMG.E.ADD 2 R2 R3 4 2 0x7fb50a800000 128\n0050 0000ffff 0 EXIT 0 0\n0050 ffff0000 0 "
    "EXIT 0 0\n\n"
    "warp = 1\ninsts = 3\n0000 ffffffff 1 R1 IMAD.MOV.U32 2 R255 R255 0\n0030 ffffffff 0 BAR.SYNC 0 0\n"
    "0050 ffffffff 0 EXIT 0 0\n\n#END_TB\n\n#BEGIN_TB\n\nthread block = 1,0,0\n\nwarp = 0\ninsts = 2\n"
    "0030 00000000 0 STL 2 R1 R2 4 1 0x0 0\n0050 ffffffff 0 EXIT 0 0\n\nwarp = 1\ninsts = 1\n0050 ffffffff 0 "
    "EXIT 0 0\n\n"
    "#END_TB\n";

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    if (*argc != 3 || strcmp((*argv)[1], "--seeds") != 0) return 0;
    Input input = {seed, strlen(seed), NULL};
    const char *error = user_error_catch(parse, &input);
    char path[1024];
    snprintf(path, sizeof path, "%s/kernel", (*argv)[2]);
    FILE *file = error ? NULL : fopen(path, "w");
    if (!file || fputs(seed, file) < 0 || fclose(file) != 0) {
        fprintf(stderr, "seed: %s\n", error ? error : path);
        exit(2);
    }
    module_free(input.module);
    exit(0);
}
