#include "core/sass/trace_reader.h"

#include "core/ptx/execution/exec.h"
#include "core/sim/base/error.h"

#include <stdlib.h>
#include <string.h>

/* --- The head ---------------------------------------------------------------------------------- */

static void read_extent(TraceText *text, uint32_t extent[3], const char *what) {
    const char *from = text->at;
    bool is_good = text_takes(text, "(");
    for (uint32_t i = 0; i < 3; i++) {
        uint64_t value = 0;
        is_good = is_good && text_digits(text, &value) && value >= 1 && value <= INT32_MAX &&
                  text_takes(text, i < 2 ? "," : ")");
        extent[i] = (uint32_t)value;
    }
    if (!is_good) text_expected(text, what, from, (size_t)(text->line_end - from));
}

/* "#traces format = PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [adrrescompress?] [mem_addresses]" */
static void read_format(TraceReader *reader) {
    TraceText *text = &reader->text;
    size_t length;
    const char *word = text_word(text, &length);
    if (length >= 11 && !memcmp(word, "threadblock", 11))
        text_expected(
            text, "a trace whose warps have been sorted (kernel-N.traceg, made by post-traces-processing)",
            word, length);
    for (; length; word = text_word(text, &length))
        reader->has_rest |= length >= 9 && !memcmp(word, "immediate", 9);
}

static void read_name(TraceReader *reader) {
    size_t length = (size_t)(reader->text.line_end - reader->text.at);
    while (length && (unsigned char)reader->text.at[length - 1] <= ' ')
        length--;
    if (!length) text_expected(&reader->text, "the name of a kernel", "", 0);
    reader->name = arena_text(reader->arena, reader->text.at, length);
}

/* A line that begins with a dash; those that do not matter here are passed over. */
static void read_head_line(TraceReader *reader) {
    enum { MOST_SHARED = 1 << 24, MOST_THREAD_REGISTERS = 256 };
    TraceText *text = &reader->text;
    SassLaunch *launch = &reader->trace->launch;
    if (text_takes(text, "-kernel name ="))
        read_name(reader);
    else if (text_takes(text, "-grid dim ="))
        read_extent(text, launch->grid, "a grid, as (2,1,1)");
    else if (text_takes(text, "-block dim ="))
        read_extent(text, launch->block, "a block, as (256,1,1)");
    else if (text_takes(text, "-shmem ="))
        launch->shared_bytes = text_count(text, MOST_SHARED, "bytes of shared memory");
    else if (text_takes(text, "-nregs ="))
        launch->registers = text_count(text, MOST_THREAD_REGISTERS, "registers per thread");
    else if (text_takes(text, "-cuda stream id ="))
        launch->stream = (uint64_t)text_decimal(text, "the number of a stream");
    else if (text_takes(text, "-enable lineinfo ="))
        reader->has_line_numbers = text_count(text, 1, "0 or 1"); /* the format names them also without */
    else if (text_takes(text, "-shmem base_addr ="))
        reader->trace->shared_base = text_hex(text, "an address");
    else if (text_takes(text, "-local mem base_addr ="))
        reader->trace->local_base = text_hex(text, "an address");
}

/* --- Code -------------------------------------------------------------------------------------- */

/* A pc counts from the begin of a function: of two functions, several lines have the same one. */
static bool is_same_line(const CodeLine *a, const CodeLine *b, size_t text_length) {
    return a->bytes == b->bytes && a->groups == b->groups && a->destination_count == b->destination_count &&
           a->source_count == b->source_count &&
           !memcmp(a->destinations, b->destinations, sizeof a->destinations) &&
           !memcmp(a->sources, b->sources, sizeof a->sources) && !strncmp(a->text, b->text, text_length) &&
           !a->text[text_length];
}

static uint64_t hash_of(uint64_t pc) {
    return pc * 0x9e3779b97f4a7c15ull >> 40;
}

/* NULL: there is none, or another pc stands in front of it. */
static const CodeLine *first_of_pc(const TraceReader *reader, uint64_t pc) {
    if (!reader->code_count) return NULL;
    uint32_t number = reader->index[hash_of(pc) & (reader->index_capacity - 1)];
    return number && reader->code[number - 1].pc == pc ? &reader->code[number - 1] : NULL;
}

/* Where the line stands, or is to stand; its layer, then, is known. */
static uint32_t *place_in_index(const TraceReader *reader, CodeLine *line, size_t text_length) {
    uint64_t mask = reader->index_capacity - 1;
    uint64_t at = hash_of(line->pc) & mask;
    line->layer = 0;
    for (;; at = (at + 1) & mask) {
        uint32_t number = reader->index[at];
        if (!number) return &reader->index[at];
        const CodeLine *other = &reader->code[number - 1];
        if (other->pc != line->pc) continue;
        if (is_same_line(other, line, text_length)) return &reader->index[at];
        line->layer++;
    }
}

static void enlarge_index(TraceReader *reader) {
    free(reader->index);
    reader->index_capacity = reader->index_capacity ? 2 * reader->index_capacity : 1024;
    reader->index = calloc(reader->index_capacity, sizeof *reader->index);
    ensure_memory(reader->index);
    for (uint32_t i = 0; i < reader->code_count; i++)
        *place_in_index(reader, &reader->code[i], strlen(reader->code[i].text)) = i + 1;
}

/* The number of the line of code, which is added if it is new. */
static uint32_t code_number(TraceReader *reader, CodeLine *line, size_t text_length) {
    enum { MOST_CODE = 1 << 22 };
    if (2 * (reader->code_count + 1) > reader->index_capacity) enlarge_index(reader);
    uint32_t *number = place_in_index(reader, line, text_length);
    if (*number) return *number - 1;
    if (reader->code_count == MOST_CODE)
        user_error("%s:%u: expected a kernel of up to %d instructions, got more", reader->text.path,
                   reader->text.line, MOST_CODE);
    reader->code = arena_grow(reader->arena, reader->code, sizeof *reader->code, reader->code_count,
                              &reader->code_capacity);
    CodeLine *added = &reader->code[reader->code_count];
    *added = *line;
    added->text = arena_text(reader->arena, line->text, text_length);
    *number = ++reader->code_count;
    return *number - 1;
}

/* Once for each opcode, as long as there is room. */
static void note_unknown(TraceReader *reader, const char *text, size_t length) {
    char *unknown = reader->trace->launch.unknown;
    size_t used = strlen(unknown), room = sizeof reader->trace->launch.unknown;
    const char *dot = memchr(text, '.', length);
    if (dot) length = (size_t)(dot - text);
    for (const char *at = unknown; *at; at += strcspn(at, " "), at += *at == ' ')
        if (!strncmp(at, text, length) && (at[length] == ' ' || !at[length])) return;
    if (used + length + 2 > room) return;
    if (used) unknown[used++] = ' ';
    memcpy(unknown + used, text, length);
    unknown[used + length] = 0;
}

/* A search among all opcodes only where the first line of this pc has another one. */
static const SassOpcode *opcode_of(TraceReader *reader, const CodeLine *line, size_t length) {
    const CodeLine *known = first_of_pc(reader, line->pc);
    if (known && !strncmp(known->text, line->text, length) && !known->text[length]) return known->opcode;
    const SassOpcode *opcode = sass_opcode(line->text, length);
    if (!opcode) note_unknown(reader, line->text, length);
    return opcode ? opcode : sass_other();
}

/* --- Addresses --------------------------------------------------------------------------------- */

static void add_word(SassTrace *trace, uint32_t word) {
    if (trace->address_count == trace->address_capacity) {
        trace->address_capacity = trace->address_capacity ? trace->address_capacity * 2 : 1 << 16;
        trace->addresses = realloc(trace->addresses, trace->address_capacity * sizeof *trace->addresses);
        ensure_memory(trace->addresses);
    }
    trace->addresses[trace->address_count++] = word;
}

static void add_address(SassTrace *trace, uint64_t address) {
    add_word(trace, (uint32_t)address);
    add_word(trace, (uint32_t)(address >> 32));
}

static bool is_in_window(uint64_t address, uint64_t base) {
    return base && address - base < WINDOW_BYTES;
}

/* What the instruction accesses there, and by which address in that space. */
static uint32_t resolve(const SassTrace *trace, uint32_t space, uint64_t address, uint64_t *resolved) {
    bool is_generic = space == SPACE_GENERIC;
    bool in_shared = is_in_window(address, trace->shared_base),
         in_local = is_in_window(address, trace->local_base);
    if (space == SPACE_SHARED || (is_generic && in_shared)) {
        *resolved = (in_shared ? address - trace->shared_base : address) % WINDOW_BYTES;
        return SPACE_SHARED;
    }
    if (space == SPACE_LOCAL || (is_generic && in_local)) {
        *resolved = (in_local ? address - trace->local_base : address) % WINDOW_BYTES;
        return SPACE_LOCAL;
    }
    *resolved = address & SASS_GLOBAL_MASK;
    return SPACE_GLOBAL;
}

static void widen_local(SassTrace *trace, uint64_t from, uint64_t behind) {
    if (from < trace->local_lowest) trace->local_lowest = from;
    if (behind > trace->local_highest) trace->local_highest = behind;
}

static bool are_neighbours(uint32_t lanes) {
    uint32_t from_first = lanes >> __builtin_ctz(lanes);
    return (from_first & (from_first + 1)) == 0;
}

static AddressForm form_of(const uint64_t *address, uint32_t lanes, uint32_t count) {
    uint64_t stride = count > 1 ? address[1] - address[0] : 0;
    bool is_strided = stride == 0 || are_neighbours(lanes), is_near = true;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t off = address[i] - address[0];
        is_strided = is_strided && off == stride * i;
        is_near = is_near && (int64_t)off == (int32_t)off;
    }
    return !is_near ? ADDRESSES_FAR : is_strided ? ADDRESSES_STRIDED : ADDRESSES_NEAR;
}

/* In the form that takes the least room. */
static uint64_t store_addresses(SassTrace *trace, uint32_t space, const uint64_t *address, uint32_t lanes,
                                uint32_t count) {
    uint64_t place = trace->address_count;
    AddressForm form = form_of(address, lanes, count);
    add_address(trace, address[0]);
    if (form == ADDRESSES_STRIDED) add_word(trace, count > 1 ? (uint32_t)(address[1] - address[0]) : 0);
    for (uint32_t i = 0; i < count; i++) {
        if (form == ADDRESSES_NEAR) add_word(trace, (uint32_t)(address[i] - address[0]));
        if (form == ADDRESSES_FAR) add_address(trace, address[i]);
    }
    return access_of(place, space, form);
}

/* The addresses as they were recorded, of the lanes in ascending order. */
static void read_recorded(TraceText *text, uint32_t count, uint64_t *address) {
    enum { LISTED, WITH_STRIDE, WITH_STEPS };
    uint32_t how = text_count(text, WITH_STEPS, "how addresses are compressed (0, 1 or 2)");
    if (how != LISTED || count) address[0] = text_hex(text, "an address");
    int64_t stride = how == WITH_STRIDE ? text_decimal(text, "a stride") : 0;
    for (uint32_t i = 1; i < count; i++) {
        if (how == LISTED)
            address[i] = text_hex(text, "an address for each active lane");
        else
            address[i] = address[i - 1] + (uint64_t)(how == WITH_STRIDE
                                                         ? stride
                                                         : text_decimal(text, "a step for each active lane"));
    }
}

static uint64_t read_addresses(TraceReader *reader, const CodeLine *line, uint32_t lanes) {
    SassTrace *trace = reader->trace;
    uint64_t recorded[WARP_LANES] = {0}, address[WARP_LANES];
    uint32_t count = (uint32_t)__builtin_popcount(lanes), space = SPACE_GLOBAL;
    read_recorded(&reader->text, count, recorded);
    if (!count || line->opcode->timing != TIMING_MEM) return 0;
    reader->to_shared = is_in_window(recorded[0], trace->shared_base) || recorded[0] < WINDOW_BYTES;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t of_lane = resolve(trace, line->opcode->space, recorded[i], &address[i]);
        if (i == 0) space = of_lane;
        /* Of several spaces, that of the first lane: the others access what it does. */
        address[i] = of_lane == space ? address[i] & -(uint64_t)line->bytes : address[0];
        if (space == SPACE_LOCAL) widen_local(trace, address[i], address[i] + line->bytes);
    }
    return store_addresses(trace, space, address, lanes, count);
}

/* --- Instructions ------------------------------------------------------------------------------ */

static uint32_t read_registers(TraceText *text, uint8_t *registers, const char *what) {
    uint32_t named = text_count(text, MAX_REGISTERS_NAMED, what), count = 0;
    for (uint32_t i = 0; i < named; i++) {
        size_t length;
        const char *word = text_word(text, &length);
        TraceText digits = {.at = word + 1, .line_end = word + length};
        uint64_t number;
        if (!length) text_expected(text, "a register for each that is announced", word, length);
        if (word[0] != 'R') continue; /* of the uniform registers nothing is known but their names */
        if (!text_digits(&digits, &number) || digits.at != digits.line_end || number > NO_REGISTER)
            text_expected(text, "a register, R0 to R255", word, length);
        if (number != NO_REGISTER) registers[count++] = (uint8_t)number;
    }
    return count;
}

static void add_record(SassTrace *trace, SassRecord record) {
    if (trace->record_count == trace->record_capacity) {
        trace->record_capacity = trace->record_capacity ? trace->record_capacity * 2 : 1 << 14;
        trace->records = realloc(trace->records, trace->record_capacity * sizeof *trace->records);
        ensure_memory(trace->records);
    }
    trace->records[trace->record_count++] = record;
}

static uint32_t read_lanes(TraceReader *reader) {
    TraceText *text = &reader->text;
    uint64_t lanes = text_hex(text, "the lanes of an instruction");
    if (lanes & ~(uint64_t)reader->warp_lanes)
        user_error("%s:%u: expected lanes of the warp's threads (%08x), got %08lx", text->path, text->line,
                   reader->warp_lanes, lanes);
    return (uint32_t)lanes;
}

/* The bytes of an access. Rows of matrices are recorded by the size of an element, as .16 says. */
static uint8_t read_bytes(TraceReader *reader, const CodeLine *line) {
    enum { ROW_BYTES = 16 };
    TraceText *text = &reader->text;
    uint32_t bytes = text_count(text, 16, "the bytes of an access, 0 to 16");
    bool accesses = line->opcode->timing == TIMING_MEM;
    if (accesses && (!bytes || bytes & (bytes - 1)))
        user_error("%s:%u: expected an access of 1, 2, 4, 8 or 16 bytes, got one of %u", text->path,
                   text->line, bytes);
    return sass_moves_rows(line->opcode) ? ROW_BYTES : (uint8_t)bytes;
}

/* What stands behind the addresses. Of a wait it is how many groups it spares; all are waited for where it is not recorded. */
static void read_rest(TraceReader *reader, CodeLine *line) {
    TraceText *text = &reader->text;
    size_t length;
    const char *rest = text_word(text, &length);
    if (length && !reader->has_rest) text_expected(text, "the end of the line", rest, length);
    if (line->opcode->action != SASS_WAIT) return;
    TraceText digits = {.at = rest, .line_end = rest + length};
    uint64_t groups;
    line->groups = length && text_digits(&digits, &groups) && groups < ALL_COPIES ? (uint8_t)groups
                                                                                  : ALL_COPIES;
}

/* A copy has two addresses, in global and in shared memory. The tracer writes a record for each of them, one behind the other, and
 * not every post-traces-processing takes one away; what counts is the global one. True: the record before has it now. */
static bool joins_copy(TraceReader *reader, uint32_t number, const SassRecord *record) {
    SassTrace *trace = reader->trace;
    if (!reader->may_pair) return false;
    SassRecord *before = &trace->records[trace->record_count - 1];
    if (before->inst != number || before->lanes != record->lanes) return false;
    if (!reader->to_shared) before->access = record->access;
    return true;
}

/* "0010 ffffffff 1 R3 LDG.E.SYS 1 R2 4 1 0x7fb50a800000 4" */
static void read_instruction(TraceReader *reader, bool is_last) {
    TraceText *text = &reader->text;
    size_t length, opcode_length;
    CodeLine line = {0};
    if (reader->has_line_numbers) text_word(text, &length);
    line.pc = text_hex(text, "the address of an instruction");
    uint32_t lanes = read_lanes(reader);
    line.destination_count = (uint8_t)read_registers(text, line.destinations,
                                                     "how many registers are written");
    line.text = text_word(text, &opcode_length);
    if (!opcode_length || memchr(line.text, 0, opcode_length)) /* texts are compared as strings */
        text_expected(text, "an opcode", line.text, opcode_length);
    line.opcode = opcode_of(reader, &line, opcode_length);
    line.source_count = (uint8_t)read_registers(text, line.sources, "how many registers are read");
    line.bytes = read_bytes(reader, &line);
    uint64_t access = line.bytes ? read_addresses(reader, &line, lanes) : 0;
    read_rest(reader, &line);
    bool exits = line.opcode->action == SASS_EXIT;
    if (is_last && !exits) text_expected(text, "EXIT as a warp's last instruction", line.text, opcode_length);
    uint32_t number = code_number(reader, &line, opcode_length);
    reader->code[number].ends |= exits && is_last;
    reader->code[number].goes_on |= exits && !is_last;
    SassRecord record = {number | (is_last ? LAST_OF_WARP : 0), lanes, access};
    bool joins = joins_copy(reader, number, &record);
    reader->may_pair = !joins && line.opcode->action == SASS_COPY;
    if (!joins) add_record(reader->trace, record);
}

/* --- Thread blocks ----------------------------------------------------------------------------- */

static uint64_t read_cta(TraceReader *reader) {
    TraceText *text = &reader->text;
    const uint32_t *grid = reader->trace->launch.grid;
    const char *from = text->at;
    uint64_t id[3];
    for (uint32_t i = 0; i < 3; i++)
        if (!text_digits(text, &id[i]) || id[i] >= grid[i] || (i < 2 && !text_takes(text, ",")))
            text_expected(text, "a thread block of the grid, as 0,0,0", from,
                          (size_t)(text->line_end - from));
    return id[0] + grid[0] * (id[1] + grid[1] * id[2]);
}

static void read_warp(TraceReader *reader, uint64_t cta) {
    TraceText *text = &reader->text;
    SassTrace *trace = reader->trace;
    uint32_t warp = text_count(text, trace->warps_per_cta - 1, "a warp of the thread block");
    uint64_t *first = &trace->first[cta * trace->warps_per_cta + warp];
    if (*first != UINT64_MAX) text_expected(text, "each warp once", "it again", 8);
    if (!text_next_line(text) || !text_takes(text, "insts ="))
        text_expected_here(text, "insts = N behind a warp");
    uint32_t count = text_count(text, INT32_MAX, "the number of a warp's instructions");
    if (!count) text_expected(text, "one instruction or more", "0", 1);
    *first = trace->record_count;
    reader->warp_lanes = sass_warp_lanes(trace, warp);
    reader->may_pair = false;
    for (uint32_t i = 0; i < count; i++) {
        if (!text_next_line(text)) text_expected(text, "as many instructions as are announced", "", 0);
        read_instruction(reader, i + 1 == count);
    }
    trace->launch.instructions += trace->record_count - *first;
}

static void prepare_warps(TraceReader *reader) {
    SassTrace *trace = reader->trace;
    const SassLaunch *launch = &trace->launch;
    const TraceText *text = &reader->text;
    if (!reader->name || !launch->grid[0] || !launch->block[0])
        user_error(
            "%s:%u: expected -kernel name, -grid dim and -block dim before the first thread block, got none",
            text->path, text->line);
    uint64_t threads = (uint64_t)launch->block[0] * launch->block[1];
    threads = threads <= INT32_MAX ? threads * launch->block[2] : threads;
    uint64_t ctas = (uint64_t)launch->grid[0] * launch->grid[1];
    ctas = ctas <= INT32_MAX ? ctas * launch->grid[2] : ctas;
    if (threads > 1024) user_error("%s: expected up to 1024 threads a block, got %lu", text->path, threads);
    trace->warps_per_cta = ((uint32_t)threads + WARP_LANES - 1) / WARP_LANES;
    /* Each warp has lines of its own: "warp = 0", "insts = 1" and one instruction. */
    enum { LEAST_WARP_BYTES = 32 };
    if (ctas > text_left(text) / (LEAST_WARP_BYTES * trace->warps_per_cta))
        user_error("%s: expected a trace of all %lu thread blocks of the grid, got a shorter one", text->path,
                   ctas);
    trace->first = malloc(ctas * trace->warps_per_cta * sizeof *trace->first);
    ensure_memory(trace->first);
    memset(trace->first, 0xff, ctas * trace->warps_per_cta * sizeof *trace->first);
}

static void require_all_warps(const TraceReader *reader) {
    const SassTrace *trace = reader->trace;
    const uint32_t *grid = trace->launch.grid;
    if (!trace->first) user_error("%s: expected thread blocks, got none", reader->text.path);
    uint64_t warps = (uint64_t)grid[0] * grid[1] * grid[2] * trace->warps_per_cta;
    for (uint64_t w = 0; w < warps; w++) {
        uint64_t cta = w / trace->warps_per_cta;
        if (trace->first[w] == UINT64_MAX)
            user_error(
                "%s: expected all warps of the grid, got none for warp %lu of thread block %lu,%lu,%lu",
                reader->text.path, w % trace->warps_per_cta, cta % grid[0], cta / grid[0] % grid[1],
                cta / grid[0] / grid[1]);
    }
}

void sass_read(TraceReader *reader) {
    TraceText *text = &reader->text;
    uint64_t cta = UINT64_MAX;
    reader->trace->local_lowest = UINT64_MAX;
    while (text_next_line(text)) {
        if (*text->at == '-' && !reader->trace->first) {
            read_head_line(reader);
        } else if (text_takes(text, "#traces format =")) {
            read_format(reader);
        } else if (*text->at == '#') {
            continue;
        } else if (text_takes(text, "thread block =")) {
            if (!reader->trace->first) prepare_warps(reader);
            cta = read_cta(reader);
        } else if (cta != UINT64_MAX && text_takes(text, "cluster ")) {
            continue; /* of the tracer's version 5: id, cta and rank, also where a grid has no clusters */
        } else if (cta != UINT64_MAX && text_takes(text, "warp =")) {
            read_warp(reader, cta);
        } else {
            text_expected_here(text, reader->trace->first ? "a thread block or a warp"
                                                          : "a line of the head, as -grid dim = (1,1,1)");
        }
    }
    require_all_warps(reader);
}
