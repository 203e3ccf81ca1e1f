/* Checkpoint files from anywhere: the container, and what its sections hold as far as that can be read
 * without a machine. Nearly every change to a file breaks a digest, and reading ends there. So each input is
 * read as it is, and once more with its digests made right; and the mutator also changes the contents of
 * sections. */
#include "core/gpu/device/gpu.h"
#include "core/lua/host/host_log.h"
#include "core/ptx/execution/memory.h"
#include "core/sim/base/random.h"
#include "core/sim/checkpoint/checkpoint_file.h"
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

/* The layout, as checkpoint_file.h describes it. */
enum {
    SECTIONS_AT = 12,
    TABLE_BYTES_AT = 16,
    FILE_BYTES_AT = 24,
    TABLE_DIGEST_AT = 32,
    HEADER_DIGEST_AT = 40,
    FILE_HEADER_BYTES = 48,
    NUMBERS_BYTES = 4 * 8, /* of a row: raw bytes, stored bytes, raw digest, stored digest */
    MOST_REPAIRED = 1 << 20,
    MOST_SECTIONS = 8,
};

static void put_u64(Buffer *file, size_t at, uint64_t value) {
    memcpy(file->bytes + at, &value, sizeof value);
}

/* --- Reading --------------------------------------------------------------------------------- */

enum { MEMORY_BYTES = 1 << 16 };

/* What is free must be zero: nothing may be written beside the allocations. */
static void read_memory(Reader reader) {
    static const uint8_t zeros[MEMORY_BYTES];
    static uint8_t all[MEMORY_BYTES];
    char why[300];
    DeviceMemory *memory = device_memory_new(MEMORY_BYTES);
    uint64_t first = device_alloc(memory, 5000), second = device_alloc(memory, 256);
    Buffer again = {0};
    if (device_memory_load(memory, &reader, why, sizeof why)) device_memory_save(memory, &again);
    buffer_free(&again);
    ensure(device_release(memory, first) && device_release(memory, second));
    device_read(memory, device_alloc(memory, MEMORY_BYTES), all, MEMORY_BYTES);
    ensure(memcmp(all, zeros, MEMORY_BYTES) == 0);
    device_memory_free(memory);
}

static void read_host_log(Reader reader) {
    char why[300];
    HostLog log = {0};
    host_log_load(&log, &reader, why, sizeof why);
    host_log_free(&log);
}

static void count_bytes(void *context, const char *path, const char *class, uint64_t bytes) {
    *(uint64_t *)context += bytes + strlen(path) + strlen(class);
}

static void read_machine(Reader reader) {
    uint64_t now, sum = 0;
    char why[300] = "";
    ensure(gpu_list(&reader, &now, count_bytes, &sum, why, sizeof why) || why[0]);
}

static void read_sections(CheckpointFile *file) {
    static const struct {
        const char *name;
        void (*read)(Reader reader);
    } readers[] = {{"memory", read_memory}, {"host", read_host_log}, {"gpu", read_machine}};
    char why[300];
    uint64_t stored = 0;
    for (uint32_t i = 0; i < checkpoint_file_count(file); i++) {
        stored += checkpoint_file_stored_bytes(file, i);
        if (checkpoint_file_bytes(file, i) > 64 * MOST_REPAIRED) continue; /* legal, but slow */
        const Buffer *section = checkpoint_file_section(file, checkpoint_file_name(file, i), why, sizeof why);
        uint8_t last = section && section->count ? section->bytes[section->count - 1] : 0;
        (void)*(volatile uint8_t *)&last;
        for (size_t k = 0; section && k < sizeof readers / sizeof *readers; k++) {
            if (strcmp(checkpoint_file_name(file, i), readers[k].name) == 0)
                readers[k].read((Reader){.bytes = section->bytes, .count = section->count});
        }
    }
    ensure(stored < UINT32_MAX);
}

static void read_file(const uint8_t *bytes, size_t count) {
    char why[300] = "";
    CheckpointFile *file = checkpoint_file_parse(bytes, count, why, sizeof why);
    ensure(file || why[0]);
    if (!file) return;
    read_sections(file);
    checkpoint_file_close(file);
}

/* --- Right digests --------------------------------------------------------------------------- */

/* The numbers at `row`, for `stored` bytes. The digest of raw bytes is known when they can be had. */
static void repair_row(Buffer *file, size_t row, size_t offset, uint64_t stored) {
    if (stored > MOST_REPAIRED) return; /* longer ones are digested in pieces */
    uint64_t size = ZSTD_getFrameContentSize(file->bytes + offset, stored);
    put_u64(file, row + 24, hash_bytes(0, file->bytes + offset, stored));
    if (size > MOST_REPAIRED) return;
    uint8_t *raw = malloc(size + 1);
    ensure(raw);
    if (ZSTD_decompress(raw, size, file->bytes + offset, stored) == size)
        put_u64(file, row + 16, hash_bytes(0, raw, size));
    free(raw);
}

static void repair(Buffer *file) {
    if (file->count < FILE_HEADER_BYTES) return;
    Reader header = {.bytes = file->bytes, .count = file->count, .position = SECTIONS_AT};
    uint64_t count = reader_u32(&header), table_bytes = reader_u64(&header);
    if (table_bytes > file->count - FILE_HEADER_BYTES) return;
    Reader table = {
        .bytes = file->bytes, .count = FILE_HEADER_BYTES + table_bytes, .position = FILE_HEADER_BYTES};
    Reader sections = {.bytes = file->bytes, .count = file->count, .position = table.count};
    for (; count && !table.failed && !sections.failed; count--) {
        reader_bytes(&table, (uint64_t)reader_u32(&table) + 1);
        size_t row = table.position, offset = sections.position;
        reader_u64(&table);
        uint64_t stored = reader_u64(&table);
        if (reader_bytes(&table, NUMBERS_BYTES - 16) && reader_bytes(&sections, stored))
            repair_row(file, row, offset, stored);
    }
    put_u64(file, TABLE_DIGEST_AT, hash_bytes(0, file->bytes + FILE_HEADER_BYTES, table_bytes));
    put_u64(file, HEADER_DIGEST_AT, hash_bytes(0, file->bytes, HEADER_DIGEST_AT));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    read_file(bytes, count);
    Buffer repaired = {0};
    buffer_append(&repaired, bytes, count);
    repair(&repaired);
    if (count && memcmp(repaired.bytes, bytes, count) != 0) read_file(repaired.bytes, repaired.count);
    buffer_free(&repaired);
    return 0;
}

/* --- Changing contents ----------------------------------------------------------------------- */

/* A file of these sections, with the head (magic and version) of another. */
static Buffer pack(const uint8_t *head, const CheckpointSection *sections, uint32_t count) {
    Buffer file = {0}, stored = {0};
    uint8_t zeros[FILE_HEADER_BYTES] = {0};
    buffer_append(&file, head, SECTIONS_AT);
    buffer_append(&file, zeros, FILE_HEADER_BYTES - SECTIONS_AT);
    for (uint32_t i = 0; i < count; i++) {
        const Buffer *raw = &sections[i].bytes;
        size_t bound = ZSTD_compressBound(raw->count);
        uint8_t *packed = malloc(bound);
        ensure(packed);
        size_t size = ZSTD_compress(packed, bound, raw->bytes, raw->count, 1);
        buffer_text(&file, sections[i].name);
        buffer_append(&file, zeros, 1);
        buffer_u64(&file, raw->count);
        buffer_u64(&file, size);
        buffer_append(&file, zeros, 16);
        buffer_append(&stored, packed, size);
        free(packed);
    }
    memcpy(file.bytes + SECTIONS_AT, &count, sizeof count);
    put_u64(&file, TABLE_BYTES_AT, file.count - FILE_HEADER_BYTES);
    put_u64(&file, FILE_BYTES_AT, file.count + stored.count);
    buffer_append(&file, stored.bytes, stored.count);
    buffer_free(&stored);
    repair(&file);
    return file;
}

/* Reads what can be read; 0 when there is nothing to change. */
static uint32_t unpack(CheckpointFile *file, CheckpointSection *sections) {
    char why[300];
    uint32_t count = 0;
    for (uint32_t i = 0; i < checkpoint_file_count(file) && count < MOST_SECTIONS; i++) {
        const char *name = checkpoint_file_name(file, i);
        const Buffer *raw = checkpoint_file_bytes(file, i) > MOST_REPAIRED
                                ? NULL
                                : checkpoint_file_section(file, name, why, sizeof why);
        if (!raw) continue;
        sections[count] = (CheckpointSection){.name = name};
        buffer_append(&sections[count++].bytes, raw->bytes, raw->count);
    }
    return count;
}

/* Numbers that stand side by side often depend on each other, as the ends of a range do. */
static void shift_numbers(Buffer *contents, Random *random) {
    static const int64_t steps[] = {1, -1, 8, -8, 256, -256, 4096, -4096};
    uint64_t words = contents->count / 8, word = random_below(random, words);
    uint64_t step = (uint64_t)steps[random_below(random, 8)] * (1 + random_below(random, 4));
    for (uint64_t left = 1 + random_below(random, 3); left && word < words; left--, word++) {
        uint64_t value;
        memcpy(&value, contents->bytes + 8 * word, sizeof value);
        put_u64(contents, 8 * word, value + step);
    }
}

static void change(Buffer *contents, Random *random) {
    if (contents->count >= 8 && random_below(random, 4) == 0) {
        shift_numbers(contents, random);
        return;
    }
    size_t room = contents->count + 1 + random_below(random, 64);
    uint8_t *bytes = calloc(1, room);
    ensure(bytes);
    if (contents->count) memcpy(bytes, contents->bytes, contents->count);
    size_t count = LLVMFuzzerMutate(bytes, contents->count, room);
    buffer_free(contents);
    buffer_append(contents, bytes, count);
    free(bytes);
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t count, size_t capacity, unsigned seed) {
    Random random = {seed};
    char why[300];
    if (random_below(&random, 2)) return LLVMFuzzerMutate(bytes, count, capacity);
    Buffer repaired = {0};
    buffer_append(&repaired, bytes, count);
    repair(&repaired);
    CheckpointFile *file = checkpoint_file_parse(repaired.bytes, repaired.count, why, sizeof why);
    size_t changed = 0;
    if (file) {
        CheckpointSection sections[MOST_SECTIONS] = {{0}};
        uint32_t found = unpack(file, sections);
        if (found) change(&sections[random_below(&random, found)].bytes, &random);
        Buffer packed = pack(repaired.bytes, sections, found);
        if (found && packed.count <= capacity) memcpy(bytes, packed.bytes, changed = packed.count);
        buffer_free(&packed);
        for (uint32_t i = 0; i < found; i++)
            buffer_free(&sections[i].bytes);
        checkpoint_file_close(file);
    }
    buffer_free(&repaired);
    return changed ? changed : LLVMFuzzerMutate(bytes, count, capacity);
}

/* --- Seeds ----------------------------------------------------------------------------------- */

static Buffer some_memory(void) {
    DeviceMemory *memory = device_memory_new(MEMORY_BYTES);
    MemoryView view;
    Buffer saved = {0};
    uint64_t block = device_alloc(memory, 5000);
    device_alloc(memory, 256);
    view_init(&view, memory);
    view_store(&view, block + 4096, 4, 0x12345678); /* the short page: seeds stay small */
    view_commit(&view);
    view_free(&view);
    device_memory_save(memory, &saved);
    device_memory_free(memory);
    return saved;
}

static Buffer some_calls(void) {
    HostLog log = {0};
    Buffer saved = {0};
    uint64_t address = DEVICE_MEMORY_BASE;
    host_log_call(&log, 1, "allocate 5000 bytes");
    host_log_answer(&log, &address, sizeof address);
    host_log_call(&log, 2, "launch");
    host_log_answer(&log, NULL, 0);
    host_log_save(&log, &saved);
    host_log_free(&log);
    return saved;
}

static void seed(const char *folder, const char *name, const CheckpointSection *sections, uint32_t count) {
    char path[1024], why[300];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (checkpoint_file_write(path, sections, count, why, sizeof why)) return;
    fprintf(stderr, "%s: %s\n", path, why);
    exit(2);
}

static void make_seeds(const char *folder) {
    CheckpointSection sections[] = {
        {"run", {0}}, {"host", some_calls()}, {"memory", some_memory()}, {"zeros", {0}}};
    enum { COUNT = sizeof sections / sizeof *sections };
    const char *text = "config gtx480, workload kmeans, policy gto, config gtx480, workload kmeans";
    uint8_t zeros[4096] = {0};
    buffer_append(&sections[0].bytes, text, strlen(text));
    for (int i = 0; i < 40; i++)
        buffer_append(&sections[3].bytes, zeros, sizeof zeros); /* more than a block of zstd's */
    seed(folder, "nothing", NULL, 0);
    seed(folder, "run", sections, 1);
    seed(folder, "host", sections + 1, 1);
    seed(folder, "memory", sections + 2, 1);
    seed(folder, "all", sections, COUNT);
    for (int i = 0; i < COUNT; i++)
        buffer_free(&sections[i].bytes);
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    if (*argc != 3 || strcmp((*argv)[1], "--seeds") != 0) return 0;
    make_seeds((*argv)[2]);
    exit(0);
}
