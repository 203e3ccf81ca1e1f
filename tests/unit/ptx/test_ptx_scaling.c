/* What is found out about the registers of a kernel: it is what plain loops over everything find, and the
 * work for a text twice as long is about twice as much. */
#include "core/ptx/analysis/registers.h"
#include "core/ptx/analysis/steps.h"
#include "core/ptx/analysis/windows.h"
#include "core/sim/base/random.h"
#include "tests/unit/ptx/ptx_fixture.h"

enum { INSTS = 300, REGS = 150, POSITIONS = 2 * INSTS, PLACES = 2 * REGS + 4 };

static Arena arena;
static Random numbers;
static Inst insts[INSTS];
static Access accesses[INSTS * 6];
static uint32_t first_access[INSTS + 1]; /* of each instruction */
static uint32_t inst_count, access_count, register_count;
static bool lives[REGS][POSITIONS]; /* found by plain loops */

static uint32_t below(uint32_t bound) {
    return (uint32_t)random_below(&numbers, bound);
}

/* --- Random programs ------------------------------------------------------------------------- */

static void make_accesses(uint32_t inst) {
    for (uint32_t reads = below(3); reads; reads--)
        accesses[access_count++] = (Access){inst, below(register_count), ACCESS_READ};
    AccessKind write = below(4) ? ACCESS_WRITE : ACCESS_GUARDED_WRITE;
    if (below(3)) accesses[access_count++] = (Access){inst, below(register_count), write};
}

/* Few branches make long lives, many make many blocks. */
static void make_program(uint64_t seed) {
    numbers = (Random){seed};
    inst_count = 2 + below(INSTS - 2);
    register_count = 1 + below(REGS);
    access_count = 0;
    uint32_t branches = 1 + below(50);
    for (uint32_t i = 0; i < inst_count; i++) {
        insts[i] = (Inst){.guard = NO_PREDICATE};
        if (below(100) < branches) {
            insts[i].kind = INST_BRANCH;
            insts[i].target = below(inst_count);
            insts[i].guard = below(4) ? TRUE_PREDICATE : NO_PREDICATE;
        }
        first_access[i] = access_count;
        make_accesses(i);
    }
    first_access[inst_count] = access_count;
    insts[inst_count - 1] = (Inst){.kind = INST_EXIT, .guard = NO_PREDICATE};
}

static LiveRanges find_lives(void) {
    ControlFlow flow = control_flow_build(&arena, insts, inst_count);
    return liveness_find(&arena, &flow, accesses, access_count, register_count);
}

/* --- Lives ----------------------------------------------------------------------------------- */

static bool needed_at(uint32_t reg, uint32_t inst) {
    return inst < inst_count && lives[reg][2 * inst];
}

static bool needed_behind(uint32_t reg, uint32_t inst) {
    bool jumps = insts[inst].kind == INST_BRANCH, goes_on = insts[inst].guard != NO_PREDICATE;
    if (insts[inst].kind == INST_EXIT) return false;
    return (jumps && needed_at(reg, insts[inst].target)) || ((!jumps || goes_on) && needed_at(reg, inst + 1));
}

/* Position 2i: before instruction i, 2i + 1: behind it. */
static bool update_life(uint32_t reg, uint32_t inst) {
    bool read = false, written = false, replaced = false, behind = needed_behind(reg, inst);
    for (uint32_t a = first_access[inst]; a < first_access[inst + 1]; a++) {
        if (accesses[a].reg != reg) continue;
        read |= accesses[a].kind == ACCESS_READ;
        written |= accesses[a].kind != ACCESS_READ;
        replaced |= accesses[a].kind == ACCESS_WRITE;
    }
    bool at[2] = {read || (behind && !replaced), read || written || behind};
    bool changed = lives[reg][2 * inst] != at[0] || lives[reg][2 * inst + 1] != at[1];
    memcpy(&lives[reg][2 * inst], at, sizeof at);
    return changed;
}

static void find_lives_plainly(void) {
    memset(lives, 0, sizeof lives);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = inst_count; i-- > 0;)
            for (uint32_t r = 0; r < register_count; r++)
                changed |= update_life(r, i);
    }
}

static void expect_lives(const LiveRanges *ranges) {
    for (uint32_t r = 0; r < register_count; r++) {
        const LiveSegment *next = ranges->segments + ranges->first[r],
                          *end = ranges->segments + ranges->first[r + 1];
        for (uint32_t p = 0; p < 2 * inst_count; p++) {
            bool starts = lives[r][p] && (p == 0 || !lives[r][p - 1]);
            if (starts) ck_assert(next < end && next->start == p);
            if (!lives[r][p] || (p + 1 < 2 * inst_count && lives[r][p + 1])) continue;
            ck_assert_uint_eq(next++->end, p);
        }
        ck_assert_ptr_eq(next, end);
    }
}

START_TEST(lives_are_those_that_plain_loops_find) {
    for (uint64_t seed = 0; seed < 25; seed++) {
        make_program(seed);
        LiveRanges ranges = find_lives();
        find_lives_plainly();
        expect_lives(&ranges);
        arena_free(&arena);
    }
}
END_TEST

/* --- Places and names ------------------------------------------------------------------------ */

static LiveRanges random_ranges(void) {
    LiveRanges ranges = {.register_count = register_count};
    ranges.first = arena_alloc(&arena, register_count + 1, sizeof *ranges.first);
    ranges.segments = arena_alloc(&arena, register_count * 8, sizeof *ranges.segments);
    uint32_t longest = 1 + below(below(2) ? 20 : POSITIONS);
    for (uint32_t r = 0; r < register_count; r++) {
        ranges.first[r] = ranges.segment_count;
        uint32_t at = below(POSITIONS);
        for (uint32_t segments = below(3) ? 1 : below(8); segments && at < POSITIONS; segments--) {
            uint32_t end = at + below(longest);
            ranges.segments[ranges.segment_count++] = (LiveSegment){at, end};
            at = end + 2 + below(longest);
        }
    }
    ranges.first[register_count] = ranges.segment_count;
    return ranges;
}

static bool overlap(const LiveRanges *ranges, uint32_t a, uint32_t b) {
    for (uint32_t i = ranges->first[a]; i < ranges->first[a + 1]; i++)
        for (uint32_t k = ranges->first[b]; k < ranges->first[b + 1]; k++)
            if (ranges->segments[i].start <= ranges->segments[k].end &&
                ranges->segments[k].start <= ranges->segments[i].end)
                return true;
    return false;
}

/* The register with a life that begins next behind (start, reg); register_count when none does. */
static uint32_t next_to_begin(const LiveRanges *ranges, int64_t start, int64_t reg) {
    uint32_t best = register_count;
    int64_t best_start = INT64_MAX;
    for (uint32_t r = 0; r < register_count; r++) {
        if (ranges->first[r] == ranges->first[r + 1]) continue;
        int64_t at = ranges->segments[ranges->first[r]].start;
        if (at < start || (at == start && r <= reg) || at >= best_start) continue;
        best = r;
        best_start = at;
    }
    return best;
}

static uint32_t order[REGS], ordered;

static void order_lives(const LiveRanges *ranges) {
    ordered = 0;
    for (int64_t start = -1, reg = -1;;) {
        uint32_t next = next_to_begin(ranges, start, reg);
        if (next == register_count) return;
        order[ordered++] = next;
        start = ranges->segments[ranges->first[next]].start;
        reg = next;
    }
}

static uint8_t width[REGS], width_at[PLACES];
static bool alone[REGS], lonely[PLACES];
static uint32_t place[REGS], plain_place[REGS];

static bool fits_at(const LiveRanges *ranges, uint32_t reg, uint32_t at, uint32_t done) {
    for (uint32_t w = at; w < at + width[reg]; w++)
        if (width_at[w] && (width_at[w] != width[reg] || lonely[w] || alone[reg])) return false;
    for (uint32_t i = 0; i < done; i++)
        if (width[order[i]] && plain_place[order[i]] == at && overlap(ranges, order[i], reg)) return false;
    return true;
}

static uint32_t place_plainly(const LiveRanges *ranges) {
    uint32_t used = 0;
    memset(width_at, 0, sizeof width_at);
    memset(lonely, 0, sizeof lonely);
    for (uint32_t i = 0; i < ordered; i++) {
        uint32_t reg = order[i], at = 0;
        if (!width[reg]) continue;
        while (!fits_at(ranges, reg, at, i))
            at += width[reg];
        plain_place[reg] = at;
        for (uint32_t w = at; w < at + width[reg]; w++) {
            width_at[w] = width[reg];
            lonely[w] = alone[reg];
        }
        if (at + width[reg] > used) used = at + width[reg];
    }
    return used;
}

START_TEST(places_are_the_first_that_fit) {
    for (uint64_t seed = 0; seed < 200; seed++) {
        numbers = (Random){seed};
        register_count = 1 + below(REGS);
        LiveRanges ranges = random_ranges();
        uint32_t pairs = below(4), lonely_ones = below(3);
        for (uint32_t r = 0; r < register_count; r++) {
            width[r] = (uint8_t)(below(9) ? 1 + (below(4) < pairs) : 0);
            alone[r] = below(10) < lonely_ones;
        }
        order_lives(&ranges);
        memset(place, 0, sizeof place);
        memset(plain_place, 0, sizeof plain_place);
        ck_assert_uint_eq(assign_places(&arena, &ranges, width, alone, place), place_plainly(&ranges));
        for (uint32_t r = 0; r < register_count; r++)
            ck_assert_uint_eq(place[r], plain_place[r]);
        arena_free(&arena);
    }
}
END_TEST

static uint32_t plain_name[REGS];

/* Since when a name is free at the start of a life; UINT32_MAX: it is taken during it. */
static uint32_t free_since(const LiveRanges *ranges, uint32_t name, uint32_t reg, uint32_t done) {
    uint32_t since = 0, start = ranges->segments[ranges->first[reg]].start;
    for (uint32_t i = 0; i < done; i++) {
        if (plain_name[order[i]] != name) continue;
        if (overlap(ranges, order[i], reg)) return UINT32_MAX;
        for (uint32_t s = ranges->first[order[i]]; s < ranges->first[order[i] + 1]; s++) {
            uint32_t end = ranges->segments[s].end;
            if (end < start && end + 1 > since) since = end + 1;
        }
    }
    return since;
}

/* Fewer lives than names: those that end early leave theirs to others only when all have been used. So the
 * lives of a few are followed by those of others, which begin where they ended. */
START_TEST(names_are_those_that_have_been_free_for_longest) {
    enum { CROWD = SCOREBOARD_NAMES };
    static LiveSegment segments[CROWD + REGS * 8];
    static uint8_t name[CROWD + REGS];
    for (uint64_t seed = 0; seed < 20; seed++) {
        numbers = (Random){seed};
        register_count = REGS;
        LiveRanges some = random_ranges(), all = {.segments = segments, .register_count = CROWD + REGS};
        all.first = arena_alloc(&arena, CROWD + REGS + 1, sizeof *all.first);
        /* At the start every name is taken; name n becomes free at a time of its own. */
        uint32_t ends[CROWD];
        for (uint32_t n = 0; n < CROWD; n++) {
            ends[n] = below(POSITIONS / 4);
            all.first[n] = n;
            segments[n] = (LiveSegment){0, ends[n]};
        }
        memcpy(segments + CROWD, some.segments, some.segment_count * sizeof *segments);
        for (uint32_t i = CROWD; i < CROWD + some.segment_count; i++) {
            segments[i].start += POSITIONS / 4;
            segments[i].end += POSITIONS / 4;
        }
        for (uint32_t r = 0; r <= REGS; r++)
            all.first[CROWD + r] = CROWD + some.first[r];
        assign_names(&arena, &all, name);
        for (uint32_t i = 0; i < some.segment_count; i++) {
            some.segments[i].start += POSITIONS / 4;
            some.segments[i].end += POSITIONS / 4;
        }
        order_lives(&some);
        for (uint32_t i = 0; i < ordered; i++) {
            uint32_t best = 0, best_since = UINT32_MAX;
            for (uint32_t n = 0; n < CROWD; n++) {
                uint32_t since = free_since(&some, n, order[i], i);
                if (since == 0) since = ends[n] + 1;
                if (since < best_since) best = n, best_since = since;
            }
            plain_name[order[i]] = best;
            ck_assert_uint_eq(name[CROWD + order[i]], best);
        }
        arena_free(&arena);
    }
}
END_TEST

/* --- Windows --------------------------------------------------------------------------------- */

enum { SLOTS = 20, LARGEST = 8 };

/* Loads and stores of shared memory by registers, what changes these, and loops. */
static void make_shared_accesses(uint64_t seed) {
    numbers = (Random){seed};
    inst_count = 2 + below(INSTS - 2);
    uint32_t slots = 1 + below(SLOTS), loops = below(30), changing = below(40);
    for (uint32_t i = 0; i < inst_count; i++) {
        Inst *inst = &insts[i];
        *inst = (Inst){.guard = NO_PREDICATE, .dst_count = 1, .dst = {below(slots) * SLOT_BYTES}};
        uint32_t draw = below(100);
        if (draw < loops) {
            *inst = (Inst){.kind = INST_BRANCH, .target = below(inst_count)};
        } else if (draw < loops + changing) {
            inst->kind = below(8) ? INST_ALU : below(2) ? INST_LOAD : INST_ATOMIC;
            inst->space = SPACE_GLOBAL;
            if (below(4) == 0) inst->dst[inst->dst_count++] = below(2) ? inst->dst[0] : OPERAND_CONST;
        } else {
            inst->kind = below(2) ? INST_LOAD : INST_STORE;
            inst->space = SPACE_SHARED;
            inst->element_bytes = 4;
            inst->elements = 1;
            inst->src[0] = below(9) ? below(slots) * SLOT_BYTES : OPERAND_CONST;
            inst->dst_count = inst->kind == INST_LOAD && below(9) == 0;
        }
    }
}

static bool is_access(const Inst *inst, uint32_t offset) {
    return inst->space == SPACE_SHARED && inst->src[0] == offset;
}

static bool is_change(const Inst *inst, uint32_t offset) {
    bool change = false;
    for (uint32_t d = 0; d < inst->dst_count; d++)
        change |= inst->dst[d] == offset;
    return change;
}

/* An access is worth 1, a change costs 2, and each loop with accesses and no change is worth 64 of each. */
static int64_t plain_gain(uint32_t offset) {
    int64_t gain = 0;
    for (uint32_t i = 0; i < inst_count; i++) {
        const Inst *inst = &insts[i];
        gain += is_access(inst, offset) - 2 * is_change(inst, offset);
        bool arithmetic = inst->kind == INST_ALU || (inst->kind == INST_LOAD && inst->space == SPACE_GLOBAL);
        if (is_change(inst, offset) && !arithmetic) return INT64_MIN;
        if (inst->kind != INST_BRANCH || inst->target > i) continue;
        int64_t accessed = 0, changed = 0;
        for (uint32_t k = inst->target; k <= i; k++) {
            accessed += is_access(&insts[k], offset);
            changed += is_change(&insts[k], offset);
        }
        if (!changed) gain += 64 * accessed;
    }
    return gain;
}

START_TEST(windows_are_of_the_registers_that_gain_most) {
    for (uint64_t seed = 0; seed < 300; seed++) {
        make_shared_accesses(seed);
        Kernel kernel = {.insts = insts, .inst_count = inst_count, .slots = SLOTS};
        assign_windows(&arena, &kernel);
        int64_t gain[SLOTS], least = INT64_MAX;
        bool has[SLOTS] = {false};
        uint32_t windows = 0, worth = 0;
        for (uint32_t slot = 0; slot < SLOTS; slot++) {
            gain[slot] = plain_gain(slot * SLOT_BYTES);
            for (uint32_t i = 0; i < inst_count; i++)
                has[slot] |= is_access(&insts[i], slot * SLOT_BYTES) && insts[i].windows;
            windows += has[slot];
            worth += gain[slot] > 0;
            if (has[slot] && gain[slot] < least) least = gain[slot];
        }
        ck_assert_uint_eq(windows, worth < LARGEST ? worth : LARGEST);
        ck_assert_uint_eq(kernel.windows, windows);
        for (uint32_t slot = 0; slot < SLOTS; slot++)
            ck_assert(has[slot] ? gain[slot] > 0 : gain[slot] <= 0 || gain[slot] <= least);
        arena_free(&arena);
    }
}
END_TEST

/* --- Work ------------------------------------------------------------------------------------ */

typedef struct {
    char *text;
    size_t length, capacity;
} Text;

PRINTF_LIKE(2, 3) static void say(Text *text, const char *format, ...) {
    va_list arguments;
    if (text->capacity < text->length + 200) {
        text->capacity = text->capacity * 2 + 4096;
        text->text = realloc(text->text, text->capacity);
        ck_assert_ptr_nonnull(text->text);
    }
    va_start(arguments, format);
    text->length += (size_t)vsnprintf(text->text + text->length, 200, format, arguments);
    va_end(arguments);
}

/* n instructions, about. */
typedef void Shape(Text *text, int n);

static void straight(Text *text, int n) {
    for (int i = 2; i < n; i++)
        say(text, "add.u32 %%r%d, %%r%d, %%r%d;\n", i, i - 1, i - 2);
}

static void loops(Text *text, int n) {
    for (int i = 0; i < n / 4; i++)
        say(text,
            "L%d: ld.shared.u32 %%r%d, [%%r0]; add.u32 %%r1, %%r1, %%r%d;\n"
            "setp.lt.u32 %%p%d, %%r1, %d;\n@%%p%d bra L%d;\n",
            i, i + 2, i + 2, i, i, i, i);
}

/* As many registers live at once, used in one loop each. */
static void addresses_in_loops(Text *text, int n) {
    for (int i = 0; i < n / 4; i++)
        say(text, "add.u32 %%r%d, %%r0, %d;\n", i + 2, i);
    for (int i = 0; i < n / 4; i++)
        say(text, "L%d: st.shared.u32 [%%r%d], %%r0;\nsetp.lt.u32 %%p%d, %%r%d, 7;\n@%%p%d bra L%d;\n", i,
            i + 2, i, i + 2, i, i);
}

static void addresses_in_a_loop(Text *text, int n) {
    for (int i = 0; i < n / 3; i++)
        say(text, "add.u32 %%r%d, %%r0, %d;\n", i + 2, i);
    say(text, "L:\n");
    for (int i = 0; i < n / 3; i++)
        say(text, "st.shared.u32 [%%r%d], %%r0;\nst.shared.u32 [%%r%d+4], %%r0;\n", i + 2, i + 2);
    say(text, "setp.lt.u32 %%p1, %%r2, 7;\n@%%p1 bra L;\n");
}

static void pairs_live_at_once(Text *text, int n) {
    for (int i = 0; i < n / 2; i++)
        say(text, "add.u64 %%d%d, %%d0, %d;\n", i + 1, i);
    for (int i = 0; i < n / 2; i++)
        say(text, "st.shared.u64 [%%r0], %%d%d;\n", i + 1);
}

/* Alive in one half of the text for a branch, in both for others: no place of the former is free for them. */
static void lives_with_holes(Text *text, int n) {
    int k = n / 6;
    for (int i = 0; i < k; i++)
        say(text, "add.u32 %%r%d, %%r0, %d;\n", i + 2, i);
    say(text, "setp.eq.u32 %%p1, %%r0, 7;\n@%%p1 bra ELSE;\n");
    for (int i = 0; i < k; i++)
        say(text, "add.u32 %%r%d, %%r0, 1;\n", k + i + 2);
    say(text, "bra JOIN;\nELSE:\n");
    for (int i = 0; i < k; i++)
        say(text, "add.u32 %%r%d, %%r0, 2;\n", k + i + 2);
    for (int i = 0; i < k; i++)
        say(text, "st.shared.u32 [%%r1], %%r%d;\n", i + 2);
    say(text, "JOIN:\n");
    for (int i = 0; i < k; i++)
        say(text, "st.shared.u32 [%%r1], %%r%d;\n", k + i + 2);
}

/* Two registers written and read in turn, and others that live in between. */
static void lives_in_pieces(Text *text, int n) {
    for (int i = 0; i < n / 6; i++)
        say(text,
            "mov.u32 %%r1, %d; st.shared.u32 [%%r0], %%r1;\nmov.u32 %%r2, %d; st.shared.u32 [%%r0], "
            "%%r2;\nmov.u32 %%r%d, %d; st.shared.u32 [%%r0], %%r%d;\n",
            i, i, i + 3, i, i + 3);
}

static uint64_t steps_of(Shape *shape, int n) {
    Text text = {0};
    say(&text, HEADER ".entry k() { .reg .b32 %%r<%d>; .reg .b64 %%d<%d>; .reg .pred %%p<%d>;\n", n + 9,
        n + 9, n + 9);
    shape(&text, n);
    say(&text, "ret; }\n");
    uint64_t before = ptx_steps;
    Module *module = parse(text.text);
    uint64_t steps = ptx_steps - before;
    module_free(module);
    free(text.text);
    return steps;
}

/* Twice as much and a few binary digits more; and not much at all. */
static void expect_work_in_proportion(const char *name, Shape *shape, uint64_t most) {
    enum { N = 6000 };
    uint64_t once = steps_of(shape, N), twice = steps_of(shape, 2 * N);
    ck_assert_msg(once <= most * N, "%s: %lu steps for %d instructions", name, once, N);
    ck_assert_msg(twice <= once * 2 + once / 4, "%s: %lu steps for %d instructions, %lu for twice as many",
                  name, once, N, twice);
}
#define EXPECT_WORK_IN_PROPORTION(shape, most) expect_work_in_proportion(#shape, shape, most)

START_TEST(a_text_twice_as_long_is_twice_the_work) {
    EXPECT_WORK_IN_PROPORTION(straight, 30);
    EXPECT_WORK_IN_PROPORTION(loops, 25);
    EXPECT_WORK_IN_PROPORTION(addresses_in_a_loop, 50);
    EXPECT_WORK_IN_PROPORTION(pairs_live_at_once, 40);
    EXPECT_WORK_IN_PROPORTION(lives_with_holes, 400);
    EXPECT_WORK_IN_PROPORTION(lives_in_pieces, 60);
}
END_TEST

/* Registers that are live in as many blocks as there are of them: groups of 64 of them are looked at in each
 * block. */
START_TEST(registers_live_in_all_blocks_are_looked_at_in_groups) {
    enum { N = 6000, BLOCKS = 2 * N / 4 + 2, GROUPS = N / 4 / 64 + 1 };
    ck_assert_uint_le(steps_of(addresses_in_loops, N), 4 * GROUPS * BLOCKS + 150 * N);
}
END_TEST

Suite *ptx_scaling_suite(void) {
    Suite *suite = suite_create("ptx_scaling");
    TCase *results = tcase_create("results"), *work = tcase_create("work");
    tcase_set_timeout(results, 120);
    tcase_add_test(results, lives_are_those_that_plain_loops_find);
    tcase_add_test(results, places_are_the_first_that_fit);
    tcase_add_test(results, names_are_those_that_have_been_free_for_longest);
    tcase_add_test(results, windows_are_of_the_registers_that_gain_most);
    suite_add_tcase(suite, results);
    tcase_set_timeout(work, 120);
    tcase_add_test(work, a_text_twice_as_long_is_twice_the_work);
    tcase_add_test(work, registers_live_in_all_blocks_are_looked_at_in_groups);
    suite_add_tcase(suite, work);
    return suite;
}
