/* Forged checkpoints: files whose digests are right and whose contents no run ever wrote, resumed by whole
 * machines with their policies and host programs (forged.lua), which then run on for some thousand cycles. An
 * input is a recipe of changes to a checkpoint: which number of which row of which object becomes what. What
 * a resume does not refuse must run on, or end in an error; a crash or a panic is a finding.
 *   fuzz_resume --hunt SECONDS SEED    makes recipes by itself, each in a process of its own; lists findings
 *   fuzz_resume --show RECIPE          what one changes, and what comes of it */
#include "core/gpu/device/gpu.h"
#include "core/lua/host/interpreter.h"
#include "core/sim/base/random.h"
#include "core/sim/checkpoint/checkpoint_file.h"
#include "core/sim/clock_shares.h"
#include "tests/fuzz/fuzz.h"

#include <lauxlib.h>
#include <lua.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    SECTIONS = 5,
    RUNS_MAX = 64,
    ROWS_MAX = 1 << 14,
    NAME_BYTES = 300,
    CHANGE_BYTES = 12,
    PATH_BYTES = 64
};

static const char *const section_names[SECTIONS] = {"run", "host", "gpu", "memory", "policy"};
enum { RUN, HOST, GPU, MEMORY, POLICY };

/* A row of an object, or the counters or the messages of a link, in the section of the machine. */
typedef struct {
    size_t at, count;
    uint32_t owner;
    char name[NAME_BYTES];
} Row;

typedef struct {
    Buffer section[SECTIONS];
    Row *rows;
    uint32_t row_count, owners;
    uint32_t *first_row; /* of each owner; one more */
    uint32_t machine;    /* stack index of a machine that is about to resume; 0: none yet */
} Run;

static lua_State *L;
static uint32_t run_count;
static Run runs[RUNS_MAX];
static char path[PATH_BYTES];
static bool shows; /* prints what is changed */

/* --- The originals --------------------------------------------------------------------------- */

static void check(int status) {
    if (status == LUA_OK) return;
    fprintf(stderr, "fuzz_resume: %s\n", lua_tostring(L, -1));
    exit(2);
}

enum { TARGET = 1 }; /* stack index */

/* Pushes a function of forged.lua. */
static void push_function(const char *name) {
    lua_settop(L, lua_gettop(L));
    lua_getfield(L, TARGET, name);
}

static void read_sections(Run *run) {
    char why[300];
    CheckpointFile *file = checkpoint_file_open(path, why, sizeof why);
    ensure(file);
    for (int i = 0; i < SECTIONS; i++) {
        const Buffer *section = checkpoint_file_section(file, section_names[i], why, sizeof why);
        ensure(section);
        buffer_append(&run->section[i], section->bytes, section->count);
    }
    checkpoint_file_close(file);
}

static Row *add_row(Run *run, uint32_t owner, const char *of, const char *name, size_t at, size_t count) {
    ensure(run->row_count < ROWS_MAX);
    Row *row = &run->rows[run->row_count++];
    *row = (Row){.at = at, .count = count, .owner = owner};
    snprintf(row->name, sizeof row->name, "%s.%s", of, name);
    return row;
}

static void next_owner(Run *run) {
    run->first_row[run->owners++] = run->row_count;
}

/* Rows and parameters of an object, as snapshot.c writes them. */
static void find_rows(Run *run, Reader *r) {
    char of[256], name[256];
    next_owner(run);
    uint32_t owner = run->owners - 1;
    reader_u32(r);
    reader_text(r, of, sizeof of);
    reader_text(r, name, sizeof name);
    reader_u64(r);
    add_row(run, owner, of, "(due)", r->position, 8);
    reader_u64(r);
    for (uint32_t params = reader_u32(r); params; params--) {
        reader_text(r, name, sizeof name);
        uint32_t length = reader_u32(r);
        if (length) add_row(run, owner, of, name, r->position, length);
        reader_bytes(r, length);
    }
    for (uint32_t rows = reader_u32(r); rows; rows--) {
        reader_text(r, name, sizeof name);
        uint64_t count = reader_u64(r);
        if (count) add_row(run, owner, of, name, r->position, count);
        ensure(reader_bytes(r, count) || !count);
    }
}

/* SavedLink of snapshot_parts.h, which begins with what was pushed and popped. */
enum { SAVED_LINK_BYTES = 64 };

static void find_link(Run *run, Reader *r) {
    char of[256];
    uint64_t pushed, popped;
    next_owner(run);
    uint32_t owner = run->owners - 1;
    reader_u32(r);
    reader_text(r, of, sizeof of);
    uint32_t bytes = reader_u32(r);
    add_row(run, owner, of, "(counters)", r->position, SAVED_LINK_BYTES);
    pushed = reader_u64(r);
    popped = reader_u64(r);
    reader_bytes(r, SAVED_LINK_BYTES - 16);
    uint64_t count = (pushed - popped) * (bytes + 8);
    if (count) add_row(run, owner, of, "(messages)", r->position, count);
    ensure(reader_bytes(r, count) || !count);
}

static void find_all_rows(Run *run) {
    enum { GPU_HEAD = 4 + 5 * 8, CLOCK_BYTES = 6 * 8, TIME_BYTES = 2 * 8 };
    Reader r = {.bytes = run->section[GPU].bytes, .count = run->section[GPU].count};
    run->rows = calloc(ROWS_MAX, sizeof *run->rows);
    run->first_row = calloc(ROWS_MAX, sizeof *run->first_row);
    ensure(run->rows && run->first_row);
    reader_bytes(&r, GPU_HEAD + 12);
    for (uint32_t clocks = reader_u32(&r); clocks; clocks--) {
        reader_bytes(&r, reader_u32(&r));
        reader_bytes(&r, CLOCK_BYTES);
        clock_shares_skip(&r);
    }
    reader_bytes(&r, TIME_BYTES);
    reader_u32(&r);
    uint32_t objects = reader_u32(&r), links = reader_u32(&r);
    next_owner(run);
    add_row(run, 0, "machine", "(head)", 0, r.position);
    for (; objects; objects--)
        find_rows(run, &r);
    for (; links; links--)
        find_link(run, &r);
    ensure(reader_at_end(&r));
    run->first_row[run->owners] = run->row_count;
}

static Run *original(uint32_t index) {
    Run *run = &runs[index];
    if (run->rows) return run;
    push_function("save");
    lua_pushinteger(L, index + 1);
    lua_pushstring(L, path);
    check(lua_pcall(L, 2, 0, 0));
    read_sections(run);
    find_all_rows(run);
    return run;
}

/* --- Changes --------------------------------------------------------------------------------- */

/* Bytes of an input, zeros behind its end. */
typedef struct {
    const uint8_t *bytes;
    size_t count, at;
} Recipe;

static uint64_t take(Recipe *recipe, uint32_t bytes) {
    uint64_t value = 0;
    for (uint32_t i = 0; i < bytes; i++)
        value = value << 8 | (recipe->at < recipe->count ? recipe->bytes[recipe->at++] : 0);
    return value;
}

/* An aligned number of the row; of those that are 0, which most are, rather the next one that is not. */
static size_t place_in(const uint8_t *bytes, size_t count, uint64_t choice, uint32_t width, bool seek) {
    size_t words = count / width, at = words ? choice % words : 0;
    static const uint8_t zeros[8];
    for (size_t i = 0; seek && i < 4096 && at + 1 < words && memcmp(bytes + at * width, zeros, width) == 0;
         i++)
        at++;
    return at * width;
}

static uint64_t changed(uint64_t value, uint32_t how, uint64_t operand, uint64_t other) {
    switch (how % 12) {
    case 0: return value ^ 1ull << operand % 64;
    case 1: return value + 1;
    case 2: return value - 1;
    case 3: return 0;
    case 4: return ~0ull;
    case 5: return operand % 64;
    case 6: return operand % 4096;
    case 7: return operand << 16 ^ operand;
    case 8: return other;
    case 9: return value + operand % 32;
    case 10: return value << 32 | value >> 32;
    default: return value ^ operand;
    }
}

/* A link may also lose its first message, or get it twice. */
static void change_messages(Run *run, const Row *row, uint32_t how) {
    Buffer *section = &run->section[GPU];
    uint8_t *counters = section->bytes + row->at;
    uint64_t pushed, popped;
    memcpy(&pushed, counters, 8);
    memcpy(&popped, counters + 8, 8);
    uint32_t index = (uint32_t)(row - run->rows);
    const Row *messages = &run->rows[index + 1];
    if (pushed == popped) return;
    size_t size = messages->count / (pushed - popped), end = messages->at + size;
    if (how & 1) { /* as if it had been popped */
        popped++;
        memcpy(counters + 8, &popped, 8);
        memmove(section->bytes + messages->at, section->bytes + end, section->count - end);
        section->count -= size;
    } else {
        uint8_t *copy = malloc(size);
        ensure(copy);
        memcpy(copy, section->bytes + messages->at, size);
        buffer_append(section, copy, size); /* room */
        memmove(section->bytes + end, section->bytes + messages->at, section->count - size - messages->at);
        memcpy(section->bytes + messages->at, copy, size);
        free(copy);
        pushed++;
        memcpy(section->bytes + row->at, &pushed, 8);
    }
}

static void change_number(Buffer *section, size_t at, size_t count, const char *name, Recipe *recipe) {
    static const uint32_t widths[] = {8, 4, 4, 2, 1, 8, 4, 1};
    uint32_t shape = (uint32_t)take(recipe, 1), how = (uint32_t)take(recipe, 1), width = widths[shape % 8];
    uint64_t choice = take(recipe, 2), operand = take(recipe, 3), value = 0, other = 0;
    if (count < width) width = 1;
    if (!count) return;
    uint8_t *bytes = section->bytes + at;
    size_t place = place_in(bytes, count, choice, width, shape & 64);
    memcpy(&value, bytes + place, width);
    memcpy(&other, bytes + place_in(bytes, count, operand, width, shape & 128), width);
    uint64_t becomes = changed(value, how, operand, other);
    memcpy(bytes + place, &becomes, width);
    if (shows)
        printf("  %s: %u bytes at %zu of %zu: 0x%lx becomes 0x%lx\n", name, width, place, count, value,
               becomes);
}

static void change_machine(Run *run, Recipe *recipe) {
    uint32_t owner = (uint32_t)take(recipe, 2) % run->owners, first = run->first_row[owner];
    const Row *row = &run->rows[first + take(recipe, 1) % (run->first_row[owner + 1] - first)];
    uint32_t special = (uint32_t)take(recipe, 1);
    if (strstr(row->name, ".(counters)") && special % 4 == 0) {
        if (shows) printf("  %s: %s\n", row->name, special / 4 & 1 ? "loses a message" : "doubles a message");
        change_messages(run, row, special / 4);
        return;
    }
    change_number(&run->section[GPU], row->at, row->count, row->name, recipe);
}

/* Mostly the machine. Lengths of rows change at the end only, so that places stay what they are. */
static void change(Run *run, Recipe *recipe) {
    uint32_t where = (uint32_t)take(recipe, 1) % 16;
    if (where >= 4)
        change_machine(run, recipe);
    else
        change_number(&run->section[(GPU + 1 + where) % SECTIONS], 0,
                      run->section[(GPU + 1 + where) % SECTIONS].count,
                      section_names[(GPU + 1 + where) % SECTIONS], recipe);
}

/* --- Resuming -------------------------------------------------------------------------------- */

static void write_file(const Run *run) {
    CheckpointSection sections[SECTIONS];
    char why[300] = "";
    for (int i = 0; i < SECTIONS; i++)
        sections[i] = (CheckpointSection){section_names[i], run->section[i]};
    if (checkpoint_file_write(path, sections, SECTIONS, why, sizeof why)) return;
    fprintf(stderr, "fuzz_resume: %s: %s\n", path, why);
    exit(2);
}

static Run copy_of(const Run *from) {
    Run run = *from;
    for (int i = 0; i < SECTIONS; i++) {
        run.section[i] = (Buffer){0};
        buffer_append(&run.section[i], from->section[i].bytes, from->section[i].count);
    }
    return run;
}

/* What a call of forged.lua returned: NULL, or an error. */
static const char *call(int arguments) {
    check(lua_pcall(L, arguments, 1, 0));
    return lua_tostring(L, -1);
}

static void prepare(uint32_t index) {
    push_function("prepare");
    lua_pushinteger(L, index + 1);
    check(lua_pcall(L, 1, 1, 0));
}

/* The machine is on top of the stack. */
static const char *resume(bool allow_changes) {
    push_function("resume");
    lua_insert(L, -2);
    lua_pushstring(L, path);
    lua_pushboolean(L, allow_changes);
    return call(3);
}

static const char *inspect(void) {
    push_function("inspect");
    lua_pushstring(L, path);
    return call(1);
}

/* Returns what the resume came to: NULL, or an error. */
static const char *forge(Recipe *recipe, uint32_t index, bool allow_changes) {
    Run run = copy_of(original(index));
    do
        change(&run, recipe);
    while (recipe->at < recipe->count);
    write_file(&run);
    for (int i = 0; i < SECTIONS; i++)
        buffer_free(&run.section[i]);
    const char *seen = inspect();
    if (runs[index].machine)
        lua_pushvalue(L, (int)runs[index].machine);
    else
        prepare(index);
    const char *error = resume(allow_changes);
    if (shows) printf("  inspect: %s\n  resume: %s\n", seen ? seen : "good", error ? error : "goes on");
    unlink(path);
    return error;
}

/* The first byte chooses the run, the second whether changes are allowed. */
static const char *run_recipe(const uint8_t *bytes, size_t count) {
    Recipe recipe = {bytes, count < 2 + 8 * CHANGE_BYTES ? count : 2 + 8 * CHANGE_BYTES, 0};
    uint32_t index = (uint32_t)take(&recipe, 1) % run_count;
    bool allow_changes = take(&recipe, 1) % 4 == 0;
    if (shows) printf("run %u%s\n", index + 1, allow_changes ? ", changes allowed" : "");
    return forge(&recipe, index, allow_changes);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    int top = lua_gettop(L);
    if (count) run_recipe(bytes, count);
    lua_settop(L, top);
    lua_gc(L, LUA_GCCOLLECT);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t count, size_t capacity, unsigned seed) {
    (void)seed;
    return LLVMFuzzerMutate(bytes, count, capacity);
}

/* --- Seeds ----------------------------------------------------------------------------------- */

/* Of one to four changes. */
static size_t make_recipe(uint8_t *recipe, Random *random) {
    size_t count = 2 + CHANGE_BYTES * (size_t)(1 + random_below(random, 4) * random_below(random, 2));
    for (size_t i = 0; i < count; i++)
        recipe[i] = (uint8_t)random_next(random);
    recipe[0] = (uint8_t)random_below(random, run_count);
    return count;
}

static void make_seeds(const char *folder) {
    Random random = {1};
    for (uint32_t i = 0; i < run_count; i++) {
        char name[1024];
        uint8_t recipe[2 + 4 * CHANGE_BYTES];
        size_t count = make_recipe(recipe, &random);
        recipe[0] = (uint8_t)i;
        snprintf(name, sizeof name, "%s/run_%u", folder, i + 1);
        FILE *file = fopen(name, "wb");
        if (file && fwrite(recipe, 1, count, file) == count && fclose(file) == 0) continue;
        perror(name);
        exit(2);
    }
}

/* --- Hunting --------------------------------------------------------------------------------- */

enum { TEXT_BYTES = 1 << 16, FINDINGS_MAX = 256, LINE_BYTES = 400, CHILD_SECONDS = 60, RECIPES_OF_RUN = 100 };

static struct {
    char line[LINE_BYTES];
    uint32_t times;
} findings[FINDINGS_MAX];
static uint32_t finding_count;

/* The line of what a process said that tells what happened. */
static void find_line(const char *text, int status, char line[LINE_BYTES]) {
    static const char *const marks[] = {"panic at ", "runtime error: ", "ERROR: AddressSanitizer: "};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        const char *at = strstr(text, marks[i]), *begin = at;
        if (!at) continue;
        while (begin > text && begin[-1] != '\n')
            begin--;
        snprintf(line, LINE_BYTES, "%.*s", (int)strcspn(begin, "\n"), begin);
        return;
    }
    snprintf(line, LINE_BYTES, "status 0x%x: %.100s", status, text);
}

/* Without the numbers, which differ from time to time; but for those in front of the text: FILE:LINE. */
static void without_numbers(const char *line, char *kind) {
    const char *text = strstr(line, ": ");
    if (text) text = strstr(text + 2, ": ");
    for (; *line; line++)
        if (!text || line < text || !strchr("0123456789", *line)) *kind++ = *line;
    *kind = 0;
}

static void note_finding(const char *text, int status, const uint8_t *recipe, size_t count) {
    char line[LINE_BYTES], kind[LINE_BYTES];
    find_line(text, status, line);
    without_numbers(line, kind);
    uint32_t i = 0;
    while (i < finding_count && strcmp(findings[i].line, kind) != 0)
        i++;
    if (i == FINDINGS_MAX) return;
    if (findings[i].times++) return;
    finding_count++;
    memcpy(findings[i].line, kind, sizeof kind);
    printf("finding %u: %s\n  recipe ", finding_count, line);
    for (size_t k = 0; k < count; k++)
        printf("%02x", recipe[k]);
    printf("\n");
    fflush(stdout);
}

static size_t read_all(int handle, char *text) {
    size_t count = 0;
    for (ssize_t got;
         count + 1 < TEXT_BYTES && (got = read(handle, text + count, TEXT_BYTES - 1 - count)) > 0;)
        count += (size_t)got;
    text[count] = 0;
    return count;
}

enum { GOES_ON = 10, REFUSED = 11 };

/* Runs a recipe in a process; returns its status, and what it said. */
static int run_apart(const uint8_t *recipe, size_t count, char *text) {
    int ends[2], status;
    ensure(pipe(ends) == 0);
    fflush(NULL);
    pid_t child = fork();
    ensure(child >= 0);
    if (child == 0) {
        alarm(CHILD_SECONDS);
        dup2(ends[1], STDERR_FILENO);
        snprintf(path, sizeof path, "/dev/shm/fuzz_resume-%d", (int)getpid());
        const char *error = run_recipe(recipe, count);
        _exit(error ? REFUSED : GOES_ON);
    }
    close(ends[1]);
    read_all(ends[0], text);
    close(ends[0]);
    ensure(waitpid(child, &status, 0) == child);
    char left[PATH_BYTES];
    snprintf(left, sizeof left, "/dev/shm/fuzz_resume-%d", (int)child);
    unlink(left);
    return status;
}

/* One machine at a time is about to resume: a process with few is forked faster. */
static uint32_t next_run(uint32_t before) {
    uint32_t next = (before + 1) % run_count;
    runs[before].machine = 0;
    lua_settop(L, TARGET);
    lua_gc(L, LUA_GCCOLLECT);
    original(next);
    prepare(next);
    runs[next].machine = (uint32_t)lua_gettop(L);
    return next;
}

static void hunt(double seconds, uint64_t seed) {
    static char text[TEXT_BYTES];
    Random random = {seed};
    uint64_t made = 0, refused = 0, goes_on = 0;
    uint32_t current = run_count - 1;
    time_t begun = time(NULL);
    while (difftime(time(NULL), begun) < seconds) {
        uint8_t recipe[2 + 4 * CHANGE_BYTES];
        if (made % RECIPES_OF_RUN == 0) current = next_run(current);
        size_t count = make_recipe(recipe, &random);
        recipe[0] = (uint8_t)current;
        int status = run_apart(recipe, count, text);
        made++;
        refused += WIFEXITED(status) && WEXITSTATUS(status) == REFUSED;
        goes_on += WIFEXITED(status) && WEXITSTATUS(status) == GOES_ON;
        if (!WIFEXITED(status) || (WEXITSTATUS(status) != REFUSED && WEXITSTATUS(status) != GOES_ON))
            note_finding(text, status, recipe, count);
    }
    printf(
        "%lu forged checkpoints: %lu refused or ended by an error, %lu went on, %lu findings of %u kinds\n",
        made, refused, goes_on, made - refused - goes_on, finding_count);
    for (uint32_t i = 0; i < finding_count; i++)
        printf("%6u  %s\n", findings[i].times, findings[i].line);
    exit(finding_count ? EXIT_FAILURE : EXIT_SUCCESS);
}

static void show(const char *hex) {
    uint8_t recipe[2 + 8 * CHANGE_BYTES];
    size_t count = 0;
    for (; hex[2 * count] && hex[2 * count + 1] && count < sizeof recipe; count++) {
        unsigned byte;
        if (sscanf(hex + 2 * count, "%2x", &byte) != 1) break;
        recipe[count] = (uint8_t)byte;
    }
    shows = true;
    setbuf(stdout, NULL);
    run_recipe(recipe, count);
    exit(0);
}

static void start_interpreter(void) {
    class_register_all();
    char *home = interpreter_find_home();
    L = interpreter_new(home);
    free(home);
    luaL_checkstack(L, RUNS_MAX + LUA_MINSTACK, NULL);
    check(luaL_dostring(L, "require 'warpwright.loading' "
                           "return dofile(require 'warpwright.core'.home_path 'tests/fuzz/forged.lua')"));
    push_function("count");
    check(lua_pcall(L, 0, 1, 0));
    run_count = (uint32_t)lua_tointeger(L, -1);
    lua_settop(L, TARGET);
    ensure(run_count <= RUNS_MAX);
    snprintf(path, sizeof path, "/dev/shm/fuzz_resume-%d", (int)getpid());
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    char **words = *argv;
    start_interpreter();
    if (*argc == 3 && strcmp(words[1], "--show") == 0) show(words[2]);
    if (*argc == 4 && strcmp(words[1], "--hunt") == 0)
        hunt(strtod(words[2], NULL), strtoull(words[3], NULL, 10));
    if (*argc != 3 || strcmp(words[1], "--seeds") != 0) return 0;
    make_seeds(words[2]);
    exit(0);
}
