/* From records and code lines to a kernel. */
#include "core/sass/sass_trace.h"

#include "core/sass/trace_reader.h"
#include "core/sim/base/error.h"
#include "core/sim/checkpoint/buffer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- Where code lines stand in the kernel ------------------------------------------------------ */

/* By line, the index of its Inst; of an exit, that of an Inst for all lanes of a warp that has no more to do. */
typedef struct {
    const TraceReader *reader;
    uint32_t *order; /* of the lines */
    uint32_t *index; /* by line      */
    uint32_t *exit;  /* by line: of an exit at which some warps end */
    bool *has_jump;  /* by line: a jump stands behind it */
    uint64_t entry;  /* pc */
    bool has_start;  /* an Inst that goes to each warp's first record */
    uint32_t inst_count;
} Layout;

/* As they follow each other from the entry on, those of a function that is called behind them. */
static int compare_lines(const void *a, const void *b, void *context) {
    const Layout *layout = context;
    const CodeLine *one = &layout->reader->code[*(const uint32_t *)a],
                   *two = &layout->reader->code[*(const uint32_t *)b];
    uint64_t pc = one->pc - layout->entry, other = two->pc - layout->entry;
    if (one->layer != two->layer) return one->layer < two->layer ? -1 : 1;
    if (pc != other) return pc < other ? -1 : 1;
    return one < two ? -1 : one > two;
}

static bool is_access(const CodeLine *line) {
    return line->opcode->timing == TIMING_MEM;
}

/* The record is the last one of its warp, at an exit that others go on from: the warp ends at an Inst of its own. */
static bool ends_apart(const TraceReader *reader, const SassRecord *record) {
    return record->inst & LAST_OF_WARP && reader->code[record->inst & ~LAST_OF_WARP].goes_on;
}

/* Behind an access a warp goes to the next instruction. Where one of them does not, in any turn, a jump follows. */
static void find_jumps(Layout *layout) {
    const TraceReader *reader = layout->reader;
    const SassTrace *trace = reader->trace;
    uint32_t *behind = malloc(reader->code_count * sizeof *behind);
    ensure_memory(behind);
    behind[layout->order[reader->code_count - 1]] = UINT32_MAX;
    for (uint32_t i = 0; i + 1 < reader->code_count; i++)
        behind[layout->order[i]] = layout->order[i + 1];
    for (uint64_t i = 0; i + 1 < trace->record_count; i++) {
        uint32_t line = trace->records[i].inst;
        const SassRecord *next = &trace->records[i + 1];
        if (line & LAST_OF_WARP || !is_access(&reader->code[line])) continue;
        layout->has_jump[line] |= behind[line] != (next->inst & ~LAST_OF_WARP) || ends_apart(reader, next);
    }
    free(behind);
}

/* All warps begin with the first Inst, in all of their lanes, and some at least do not end there. */
static bool begins_there(const Layout *layout, uint64_t w) {
    const SassTrace *trace = layout->reader->trace;
    const SassRecord *record = &trace->records[trace->first[w]];
    uint32_t line = record->inst & ~LAST_OF_WARP;
    return line == layout->order[0] && !ends_apart(layout->reader, record) &&
           record->lanes == sass_warp_lanes(trace, (uint32_t)(w % trace->warps_per_cta));
}

static bool has_start(const Layout *layout) {
    const SassTrace *trace = layout->reader->trace;
    const uint32_t *grid = trace->launch.grid;
    uint64_t warps = (uint64_t)grid[0] * grid[1] * grid[2] * trace->warps_per_cta;
    for (uint64_t w = 0; w < warps; w++)
        if (!begins_there(layout, w)) return true;
    return false;
}

static void lay_out(Layout *layout) {
    const TraceReader *reader = layout->reader;
    uint32_t count = reader->code_count;
    layout->entry = reader->code[reader->trace->records[0].inst & ~LAST_OF_WARP].pc;
    for (uint32_t i = 0; i < count; i++)
        layout->order[i] = i;
    qsort_r(layout->order, count, sizeof *layout->order, compare_lines, layout);
    find_jumps(layout);
    layout->has_start = has_start(layout);
    layout->inst_count = layout->has_start;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t line = layout->order[i];
        layout->index[line] = layout->exit[line] = layout->inst_count++;
        layout->inst_count += layout->has_jump[line];
    }
    for (uint32_t i = 0; i < count; i++)
        if (reader->code[i].ends && reader->code[i].goes_on) layout->exit[i] = layout->inst_count++;
}

static void point_records(const Layout *layout) {
    SassTrace *trace = layout->reader->trace;
    for (uint64_t i = 0; i < trace->record_count; i++) {
        uint32_t line = trace->records[i].inst & ~LAST_OF_WARP;
        bool ends = trace->records[i].inst & LAST_OF_WARP;
        trace->records[i].inst = ends ? layout->exit[line] : layout->index[line];
    }
}

/* --- Instructions ------------------------------------------------------------------------------ */

static Inst blank_inst(const SassTrace *trace) {
    return (Inst){.kind = INST_TRACED,
                  .guard = SASS_GUARD,
                  .flags = INST_GUARDED | INST_GUARD_NEGATED,
                  .pdst = NO_PREDICATE,
                  .pdst2 = NO_PREDICATE,
                  .timing = TIMING_OTHER,
                  .exec = exec_sass_step,
                  .sass = trace};
}

static void add_name(Inst *inst, uint32_t name) {
    inst->names[name / 64] |= 1ull << name % 64;
}

/* How many registers stand behind a name: of what is loaded or stored, and of pairs. */
static uint32_t written_width(const CodeLine *line) {
    uint32_t of_matrix = sass_matrix_registers(line->opcode, line->text).written;
    if (of_matrix) return of_matrix;
    if (line->opcode->is_wide || sass_has_modifier(line->text, "WIDE")) return 2;
    if (line->opcode->action == SASS_ROWS) return sass_row_matrices(line->text);
    return is_access(line) ? (line->bytes + 3u) / 4 : 1;
}

static uint32_t read_width(const CodeLine *line, uint32_t source) {
    uint8_t action = line->opcode->action;
    bool is_store = action == SASS_STORE || action == SASS_STORED_ROWS;
    bool is_data = is_store && source && source + 1 == line->source_count;
    uint32_t address = action == SASS_COPY; /* a copy names that in shared memory first */
    MatrixRegisters matrix = sass_matrix_registers(line->opcode, line->text);
    if (matrix.written) return source < MATRIX_SOURCES ? matrix.sources[source] : 1;
    if (line->opcode->is_wide) return 2;
    if (sass_has_modifier(line->text, "WIDE"))
        return source == 2 ? 2 : 1; /* factors are single, what is added is a pair */
    if (is_data) return action == SASS_STORE ? (line->bytes + 3u) / 4 : sass_row_matrices(line->text);
    return is_access(line) && source == address && sass_has_modifier(line->text, "E") ? 2 : 1; /* 64 bits */
}

static void add_registers(Inst *inst, const CodeLine *line) {
    for (uint32_t i = 0; i < line->source_count; i++) {
        uint32_t width = read_width(line, i);
        for (uint32_t r = line->sources[i]; r < line->sources[i] + width && r < NO_REGISTER; r++)
            add_name(inst, r);
        if (inst->bank_count < MAX_BANK_READS) inst_reads_register(inst, line->sources[i]);
    }
    for (uint32_t i = 0; i < line->destination_count; i++) {
        uint32_t width = written_width(line);
        for (uint32_t r = line->destinations[i]; r < line->destinations[i] + width && r < NO_REGISTER; r++) {
            add_name(inst, r);
            if (inst->out_name_count < MAX_OUT_NAMES) inst_writes_name(inst, (uint8_t)r);
        }
    }
    /* The answer of an atomic is not known: nothing is to be written. */
    if (!line->destination_count || line->opcode->action == SASS_ATOMIC) return;
    inst->dst_count = 1;
    inst_writes_register(inst, line->destinations[0]);
}

static void make_access(Inst *inst, const CodeLine *line) {
    static const uint8_t kinds[] = {
        [SASS_LOAD] = INST_LOAD,   [SASS_ROWS] = INST_LOAD,         [SASS_COPY] = INST_LOAD,
        [SASS_STORE] = INST_STORE, [SASS_STORED_ROWS] = INST_STORE, [SASS_ATOMIC] = INST_ATOMIC};
    inst->kind = kinds[line->opcode->action];
    inst->exec = line->opcode->action == SASS_ATOMIC ? exec_sass_atomic : exec_sass_access;
    if (line->opcode->action == SASS_COPY) inst->detail = DETAIL_ASYNC_COPY;
    if (sass_moves_rows(line->opcode)) {
        inst->exec = exec_sass_rows;
        inst->detail = sass_row_matrices(line->text);
    }
    inst->flags |= INST_RECORDED;
    inst->space = line->opcode->space;
    inst->cache_op = (uint8_t)sass_cache_op(line->text);
    inst->element_bytes = line->bytes < 4 ? line->bytes : 4;
    inst->elements = line->bytes / inst->element_bytes;
    inst->lane_bytes = line->bytes;
}

/* ".ARV": the warp goes on. */
static bool waits_at_barrier(const CodeLine *line) {
    return line->opcode->action == SASS_BARRIER && !strstr(line->text, ".ARV");
}

static Inst inst_of(const SassTrace *trace, const CodeLine *line) {
    Inst inst = blank_inst(trace);
    inst.timing = (uint8_t)sass_timing(line->opcode, line->text);
    if (waits_at_barrier(line)) inst.kind = INST_TRACED_BARRIER;
    if (line->opcode->action == SASS_FENCE) inst.kind = INST_TRACED_FENCE;
    if (line->opcode->action == SASS_COMMIT) inst.kind = INST_TRACED_COMMIT;
    if (line->opcode->action == SASS_WAIT) {
        inst.kind = INST_TRACED_WAIT;
        inst.detail = line->groups;
    }
    if (is_access(line)) make_access(&inst, line);
    add_registers(&inst, line);
    return inst;
}

/* All lanes leave, also those that an earlier exit has had. */
static Inst exit_inst(const SassTrace *trace) {
    Inst inst = blank_inst(trace);
    inst.kind = INST_EXIT;
    inst.guard = NO_PREDICATE;
    inst.flags = 0;
    return inst;
}

static Inst jump_inst(const SassTrace *trace, ExecFn *exec) {
    Inst inst = blank_inst(trace);
    inst.exec = exec;
    return inst;
}

static void make_insts(const Layout *layout, Kernel *kernel, Arena *storage) {
    const TraceReader *reader = layout->reader;
    const SassTrace *trace = reader->trace;
    kernel->inst_count = layout->inst_count;
    kernel->insts = arena_alloc(storage, layout->inst_count, sizeof *kernel->insts);
    kernel->sources = arena_alloc(storage, layout->inst_count, sizeof *kernel->sources);
    if (layout->has_start) {
        kernel->insts[0] = jump_inst(trace, exec_sass_start);
        kernel->sources[0] = (InstSource){.opcode = "(begin)", .ptx_line = 1};
    }
    for (uint32_t i = 0; i < reader->code_count; i++) {
        const CodeLine *line = &reader->code[i];
        uint32_t at = layout->index[i];
        InstSource source = {.opcode = line->text, .ptx_line = at + 1};
        bool only_ends = line->ends && !line->goes_on;
        kernel->insts[at] = only_ends ? exit_inst(trace) : inst_of(trace, line);
        kernel->sources[at] = source;
        if (layout->has_jump[i]) {
            kernel->insts[at + 1] = jump_inst(trace, exec_sass_jump);
            kernel->sources[at + 1] = (InstSource){.opcode = "(jump)", .ptx_line = at + 2};
        }
        if (layout->exit[i] == at) continue;
        kernel->insts[layout->exit[i]] = exit_inst(trace);
        kernel->sources[layout->exit[i]] = source;
    }
}

static uint32_t name_words(const Kernel *kernel) {
    uint32_t words = 1;
    for (uint32_t i = 0; i < kernel->inst_count; i++)
        for (uint32_t word = 1; word < SCOREBOARD_NAMES / 64; word++)
            if (kernel->insts[i].names[word] && word >= words) words = word + 1;
    return words;
}

/* A line for each Inst: reports show it where they show PTX of other kernels. */
static void list_code(Kernel *kernel, Arena *storage) {
    enum { LINE_BYTES = 64 };
    char *text = arena_alloc(storage, kernel->inst_count, LINE_BYTES);
    size_t used = 0;
    for (uint32_t i = 0; i < kernel->inst_count; i++)
        used += (size_t)sprintf(text + used, "%.*s\n", LINE_BYTES - 2, kernel->sources[i].opcode);
    kernel->ptx = text;
    kernel->ptx_length = used;
}

static SpecialSlot special_slot(SpecialRegister special, uint32_t slot) {
    return (SpecialSlot){.special = special, .offset = slot * SLOT_BYTES};
}

static void add_specials(Kernel *kernel, Arena *storage) {
    kernel->special_count = 6;
    kernel->specials = arena_alloc(storage, kernel->special_count, sizeof *kernel->specials);
    for (uint32_t i = 0; i < 3; i++) {
        kernel->specials[i] = special_slot((SpecialRegister)(SPECIAL_CTAID_X + i), CTAID_SLOT + i);
        kernel->specials[3 + i] = special_slot((SpecialRegister)(SPECIAL_TID_X + i), TID_SLOT + i);
    }
}

static void make_kernel(const Layout *layout, Module *module) {
    Arena *storage = module_storage(module);
    SassTrace *trace = layout->reader->trace;
    Kernel *kernel = arena_alloc(storage, 1, sizeof *kernel);
    bool has_local = trace->local_highest > trace->local_lowest;
    if (has_local)
        trace->local_lowest -= trace->local_lowest % 16;
    else
        trace->local_lowest = trace->local_highest = 0;
    kernel->name = layout->reader->name;
    kernel->slots = SASS_SLOTS;
    kernel->predicates = SASS_PREDICATES;
    kernel->registers_per_thread = trace->launch.registers;
    kernel->shared_bytes = trace->launch.shared_bytes;
    kernel->local_bytes = (uint32_t)(trace->local_highest - trace->local_lowest);
    memcpy(kernel->required, trace->launch.block, sizeof kernel->required);
    memcpy(kernel->grid, trace->launch.grid, sizeof kernel->grid);
    kernel->max_threads = kernel->required[0] * kernel->required[1] * kernel->required[2];
    make_insts(layout, kernel, storage);
    list_code(kernel, storage);
    add_specials(kernel, storage);
    kernel->name_words = name_words(kernel);
    module->kernels = kernel;
    module->kernel_count = 1;
}

static void build(TraceReader *reader, Module *module) {
    Layout layout = {.reader = reader};
    uint32_t count = reader->code_count;
    layout.order = arena_alloc(module_storage(module), count, sizeof *layout.order);
    layout.index = arena_alloc(module_storage(module), count, sizeof *layout.index);
    layout.exit = arena_alloc(module_storage(module), count, sizeof *layout.exit);
    layout.has_jump = arena_alloc(module_storage(module), count, sizeof *layout.has_jump);
    lay_out(&layout);
    point_records(&layout);
    make_kernel(&layout, module);
}

/* --- Files ------------------------------------------------------------------------------------- */

static void release(SassTrace *trace) {
    free(trace->first);
    free(trace->records);
    free(trace->addresses);
    trace->first = NULL;
    trace->records = NULL;
    trace->addresses = NULL;
}

static void free_trace(void *trace) {
    release(trace);
    free(trace);
}

typedef struct {
    TraceReader reader;
    Module *module;
} Loading;

static void read_and_build(void *context) {
    Loading *loading = context;
    sass_read(&loading->reader);
    build(&loading->reader, loading->module);
}

/* The reader has its text, and a file's is closed in the end. */
static Module *load(Loading *loading) {
    TraceReader *reader = &loading->reader;
    SassTrace *trace = calloc(1, sizeof *trace);
    ensure_memory(trace);
    Module *module = loading->module = module_empty(reader->text.path);
    module->owned = trace;
    module->release_owned = free_trace;
    module->is_of_file = true;
    reader->arena = module_storage(module);
    reader->trace = trace;
    const char *wrong = user_error_catch(read_and_build, loading);
    module->digest = reader->text.digest;
    module->file_digest = reader->text.file.xz ? reader->text.file.digest : module->digest;
    free(reader->index);
    text_close(&reader->text);
    if (!wrong) return module;
    module_free(module);
    user_error_again(wrong);
}

Module *sass_parse(const char *path, const char *text, size_t length) {
    Loading loading = {
        .reader = {
            .text = {.path = path, .next = text, .end = text + length, .digest = file_digest(text, length)}}};
    return load(&loading);
}

Module *sass_load(const char *path) {
    Loading loading = {0};
    text_open(&loading.reader.text, path);
    return load(&loading);
}

bool sass_is(const Module *module) {
    return module->release_owned == free_trace;
}

const SassLaunch *sass_launch(const Module *module) {
    ensure(sass_is(module));
    return &((const SassTrace *)module->owned)->launch;
}

void sass_release(Module *module) {
    ensure(sass_is(module));
    release(module->owned);
}

bool sass_is_released(const Module *module) {
    return sass_is(module) && !((const SassTrace *)module->owned)->records;
}
