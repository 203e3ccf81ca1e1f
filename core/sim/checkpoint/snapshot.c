#include "core/sim/checkpoint/snapshot_parts.h"
#include "core/sim/clock_shares.h"
#include "core/sim/clocks.h"
#include "core/sim/halves.h"
#include "core/sim/trace/trace.h"

#include <stdlib.h>
#include <string.h>

enum { SIM_MARK = 0x4d495357, NUMBERS_OF_CLOCK = 6 };

bool snapshot_fail(char *why, size_t size, const char *path, const char *what) {
    snprintf(why, size, "%s: %s", path, what);
    return false;
}

void snapshot_note(const SnapshotChanges *changes, const char *format, ...) {
    char line[4 * TEXT_BYTES];
    va_list arguments;
    if (!changes->note) return;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    changes->note(changes->context, line);
}

bool snapshot_passes(void (*work)(void *context), void *context, char *why, size_t why_size) {
    const char *problem = panic_catch(work, context);
    if (problem) snprintf(why, why_size, "damaged: %s", problem);
    return !problem;
}

void snapshot_text(const char *text, size_t bytes, Buffer *buffer) {
    ensure(strlen(text) < bytes);
    buffer_text(buffer, text);
}

/* --- The machine ----------------------------------------------------------------------------- */

static void save_clocks(const Sim *sim, Buffer *buffer) {
    buffer_u32(buffer, sim->clock_count);
    for (uint32_t i = 0; i < sim->clock_count; i++) {
        snapshot_text(sim->clocks[i].name, NAME_BYTES, buffer);
        buffer_u64(buffer, sim->clocks[i].hertz);
        buffer_u64(buffer, sim->clocks[i].slowest);
        buffer_u64(buffer, sim->clocks[i].fastest);
        buffer_u64(buffer, sim->clocks[i].frequency);
        buffer_u64(buffer, sim->clocks[i].shift);
        buffer_u64(buffer, sim->clocks[i].changes);
        clock_shares_save(&sim->clocks[i], buffer);
    }
    buffer_u64(buffer, sim->rated_at);
    buffer_u64(buffer, sim->rated_time);
    buffer_u32(buffer, sim->quantum_cycles);
}

/* What is kept back from where it would stand is not saved. */
static void touch_all(const Sim *sim) {
    for (uint32_t i = 0; i < sim->object_count; i++)
        object_touch(sim->objects[i]);
}

void sim_save(const Sim *sim, Buffer *buffer) {
    ensure(sim->elaborated && !sim->faulted);
    touch_all(sim);
    buffer_u32(buffer, SIM_MARK);
    buffer_u64(buffer, sim->now);
    save_clocks(sim, buffer);
    buffer_u32(buffer, sim->object_count);
    buffer_u32(buffer, sim->link_count);
    for (uint32_t i = 0; i < sim->object_count; i++) {
        if (sim->objects[i]->class->fill_rows) sim->objects[i]->class->fill_rows(sim->objects[i]);
        save_object(sim->objects[i], buffer);
    }
    for (uint32_t i = 0; i < sim->link_count; i++)
        save_link(sim->links[i], buffer);
}

static void say_other_clock(const Sim *sim, const char *name, uint64_t hertz, uint64_t slowest,
                            uint64_t fastest, char *why, size_t why_size) {
    const Clock *clock = sim_find_clock(sim, name);
    if (clock && clock->hertz == hertz)
        snprintf(why, why_size,
                 "clock.%s: expected %lu Hz to %lu Hz as in the checkpoint, got %lu Hz to %lu Hz (a run or a "
                 "warm-up with --set \"clock.%s=%luHz, %luHz to %luHz\" from its start can go on so)",
                 name, slowest, fastest, clock->slowest, clock->fastest, name, clock->hertz, clock->slowest,
                 clock->fastest);
    else if (clock)
        snprintf(why, why_size,
                 "clock.%s: expected %lu Hz as in the checkpoint, got %lu Hz (times are saved in ticks that "
                 "all clocks share)",
                 name, hertz, clock->hertz);
    else
        snprintf(why, why_size, "clock.%s: expected %lu Hz as in the checkpoint, got other clocks", name,
                 hertz);
}

/* Times are in ticks of the common time base, so every clock must be the same, and what it may become. */
static bool load_clock(Sim *sim, uint32_t i, SavedClock *saved, Reader *reader, char *why, size_t why_size) {
    char name[NAME_BYTES];
    if (!reader_name(reader, name, sizeof name))
        return snapshot_fail(why, why_size, sim->name, "its clocks are damaged");
    uint64_t hertz = reader_u64(reader), slowest = reader_u64(reader), fastest = reader_u64(reader);
    SavedClock state = {reader_u64(reader), 0, 0};
    state.shift = reader_u64(reader);
    state.changes = reader_u64(reader);
    const Clock *clock = i < sim->clock_count ? &sim->clocks[i] : NULL;
    if (!clock || strcmp(name, clock->name) != 0 || hertz != clock->hertz || slowest != clock->slowest ||
        fastest != clock->fastest) {
        say_other_clock(sim, name, hertz, slowest, fastest, why, why_size);
        return false;
    }
    if (state.frequency < slowest || state.frequency > fastest || (i == 0 && state.shift))
        return snapshot_fail(why, why_size, sim->name, "its clocks are damaged");
    if (!clock_shares_load(sim, &sim->clocks[i], reader))
        return snapshot_fail(why, why_size, sim->name,
                             "what was counted at each frequency of a clock is damaged, or of other objects");
    saved[i] = state;
    return true;
}

static bool load_clocks(Sim *sim, uint64_t now, Reader *reader, char *why, size_t why_size) {
    SavedClock *saved = calloc(sim->clock_count, sizeof *saved);
    ensure_memory(saved);
    uint32_t count = reader_u32(reader);
    bool good = true;
    for (uint32_t i = 0; i < count && good; i++)
        good = load_clock(sim, i, saved, reader, why, why_size);
    sim->rated_at = good ? reader_u64(reader) : 0;
    sim->rated_time = good ? reader_u64(reader) : 0;
    if (good && count == sim->clock_count) {
        sim->now = now;
        clocks_restore(sim, saved);
    }
    free(saved);
    if (!good) return false;
    uint32_t quantum = reader_u32(reader);
    if (!reader->failed && sim->rated_at <= now && count == sim->clock_count &&
        quantum == sim->quantum_cycles)
        return true;
    snprintf(why, why_size,
             "expected %u clocks and a quantum of %u cycles as in the checkpoint, got %u and %u", count,
             quantum, sim->clock_count, sim->quantum_cycles);
    return false;
}

static bool is_part(const char *class_name) {
    const Class *class = class_find(class_name);
    return class && class->part;
}

/* Of objects that one machine has and another has not. */
typedef struct {
    uint32_t count;
    char first[PATH_BYTES + NAME_BYTES + 8];
} OnlyThere;

static void note_only_there(OnlyThere *only, const char *path, const char *class_name) {
    if (!only->count++) snprintf(only->first, sizeof only->first, "%s (%s)", path, class_name);
}

/* "without sm[3] (SM) and 4 more objects" */
static void say_only_there(const OnlyThere *only, const char *with, char *text, size_t size) {
    if (only->count > 1)
        snprintf(text, size, "%s %s and %u more object%s", with, only->first, only->count - 1,
                 only->count == 2 ? "" : "s");
    else
        snprintf(text, size, "%s %s", with, only->first);
}

/* The index of such an object; their count when there is none. */
static uint32_t index_of(const Sim *sim, const char *path, const char *class_name) {
    uint32_t i = 0;
    while (i < sim->object_count && (strcmp(sim->objects[i]->path, path) != 0 ||
                                     strcmp(sim->objects[i]->class->name, class_name) != 0))
        i++;
    return i;
}

/* The reader is at the sections of the saved machine. */
static void compare_objects(const Sim *sim, Reader reader, uint32_t sections, OnlyThere *missing,
                            OnlyThere *new) {
    bool *is_saved = calloc(sim->object_count + 1, sizeof *is_saved);
    ensure_memory(is_saved);
    Section section;
    for (uint32_t i = 0; i < sections && next_section(&section, &reader); i++) {
        uint32_t index = index_of(sim, section.path, section.class);
        is_saved[index] = true;
        if (index == sim->object_count) note_only_there(missing, section.path, section.class);
    }
    for (uint32_t i = 0; i < sim->object_count; i++)
        if (!is_saved[i]) note_only_there(new, sim->objects[i]->path, sim->objects[i]->class->name);
    free(is_saved);
}

static bool say_other_machine(const Sim *sim, Reader reader, uint32_t sections, uint32_t links, char *why,
                              size_t why_size) {
    OnlyThere missing = {0}, new = {0};
    char without[sizeof missing.first + 64] = "", with[sizeof without] = "";
    compare_objects(sim, reader, sections, &missing, &new);
    if (missing.count) say_only_there(&missing, "without", without, sizeof without);
    if (new.count) say_only_there(&new, "with", with, sizeof with);
    if (missing.count || new.count)
        snprintf(why, why_size,
                 "expected the objects of the checkpoint's machine, got one %s%s%s; a resume needs all of "
                 "them, and "
                 "no others",
                 without, missing.count && new.count ? " and " : "", with);
    else if (links != sim->link_count)
        snprintf(why, why_size, "expected %u links between its objects as in the checkpoint, got %u", links,
                 sim->link_count);
    else
        snprintf(why, why_size, "expected the order of its objects as in the checkpoint, got another");
    return false;
}

/* The next section that is not of a part which only the saved machine had. */
static bool find_section(Section *section, Reader *reader, uint32_t *sections, const SimObject *object,
                         const SnapshotChanges *changes) {
    while (*sections) {
        if (section->taken && !next_section(section, reader)) return false;
        bool same = strcmp(section->path, object->path) == 0;
        if (same || !changes || !changes->allowed || !is_part(section->class)) return true;
        snapshot_note(changes, "%s (%s) was dropped", section->path, section->class);
        section->taken = true;
        (*sections)--;
    }
    return true;
}

static bool load_objects(Sim *sim, Reader *reader, uint32_t sections, const SnapshotChanges *changes,
                         SavedObject *saved, char *why, size_t why_size) {
    Section section = {.taken = true};
    const Reader first = *reader;
    const uint32_t all = sections;
    for (uint32_t i = 0; i < sim->object_count; i++) {
        SimObject *object = sim->objects[i];
        if (!find_section(&section, reader, &sections, object, changes))
            return snapshot_fail(why, why_size, object->path, "damaged");
        bool same = sections && strcmp(section.path, object->path) == 0 &&
                    strcmp(section.class, object->class->name) == 0;
        if (!same && changes && changes->allowed && object->class->part) {
            snapshot_note(changes, "%s (%s) is new", object->path, object->class->name);
            continue;
        }
        if (!same) return say_other_machine(sim, first, all, sim->link_count, why, why_size);
        if (!load_object(object, &section, changes, saved, why, why_size)) return false;
        if (object->class->knobs_set) object->class->knobs_set(object);
        sections--;
        SimObject *half = object_half_apart(object);
        *object->due = NEVER;
        if (half) *half->due = NEVER;
        object_poke_whole(object, saved->due);
    }
    while (sections && (!section.taken || next_section(&section, reader)) && changes && changes->allowed &&
           is_part(section.class)) {
        snapshot_note(changes, "%s (%s) was dropped", section.path, section.class);
        section.taken = true;
        sections--;
    }
    return sections == 0 || say_other_machine(sim, first, all, sim->link_count, why, why_size);
}

/* What a machine checks of itself at every dump. */
static void laws_hold(void *context) {
    sim_check(context, false);
}

/* A tick that comes too early changes nothing; one that a changed parameter wants earlier must not be
 * missed. */
static void wake_all(const Sim *sim) {
    for (uint32_t i = 0; i < sim->object_count; i++) {
        SimObject *object = sim->objects[i];
        object_poke_whole(object, object_edge(object, sim->now));
    }
}

bool sim_load(Sim *sim, Reader *reader, const SnapshotChanges *changes, char *why, size_t why_size) {
    if (reader_u32(reader) != SIM_MARK)
        return snapshot_fail(why, why_size, sim->name, "not a snapshot of a machine");
    touch_all(sim);
    uint64_t now = reader_u64(reader);
    if (!load_clocks(sim, now, reader, why, why_size)) return false;
    uint32_t objects = reader_u32(reader), links = reader_u32(reader);
    if (links != sim->link_count) return say_other_machine(sim, *reader, objects, links, why, why_size);
    if (now % sim->quantum || now >> LATEST_SHIFT)
        return snapshot_fail(why, why_size, sim->name, "expected a time at a quantum boundary, got another");
    if (sim->tracer) tracer_time_has_moved(sim->tracer);
    SavedObject *saved = calloc(1, sizeof *saved);
    ensure_memory(saved);
    for (uint32_t i = 0; i < sim->cluster_count; i++)
        cluster_forget_due(&sim->clusters[i]);
    bool good = load_objects(sim, reader, objects, changes, saved, why, why_size);
    free(saved);
    if (!good) return false;
    for (uint32_t i = 0; i < sim->link_count; i++)
        if (!load_link(sim->links[i], reader, changes, why, why_size)) return false;
    if (!reader_at_end(reader))
        return snapshot_fail(why, why_size, sim->name, "damaged: bytes after the end of the snapshot");
    sim_audit_restart(sim);
    sim_reset_periodics(sim);
    if (!snapshot_passes(laws_hold, sim, why, why_size)) return false;
    if (changes && changes->allowed) wake_all(sim);
    return true;
}

/* --- Without a machine ----------------------------------------------------------------------- */

static bool list_objects(Reader *reader, uint32_t objects, SnapshotVisitor *visit, void *context, char *why,
                         size_t why_size) {
    Section section = {.path = "its objects"};
    SavedObject *saved = calloc(1, sizeof *saved);
    bool good = true;
    ensure_memory(saved);
    for (uint32_t i = 0; good && i < objects; i++) {
        good = next_section(&section, reader);
        uint64_t bytes = good ? section.body.count : 0;
        good = good && read_object(saved, &section.body);
        if (good) visit(context, section.path, section.class, bytes);
    }
    free(saved);
    return good || snapshot_fail(why, why_size, section.path, "damaged");
}

static bool list_links(Reader *reader, uint32_t links, SnapshotVisitor *visit, void *context, char *why,
                       size_t why_size) {
    char name[LINK_BYTES] = "its links";
    for (uint32_t i = 0; i < links; i++) {
        SavedLink c;
        uint32_t bytes;
        if (!read_link(reader, name, &bytes, &c) || c.pushed - c.popped > reader->count)
            return snapshot_fail(why, why_size, name, "damaged");
        uint64_t messages = (c.pushed - c.popped) * (bytes + sizeof(uint64_t));
        if (!reader_bytes(reader, messages)) return snapshot_fail(why, why_size, name, "damaged");
        visit(context, name, "link", messages + sizeof c);
    }
    return true;
}

bool snapshot_list(Reader *reader, uint64_t *now, SnapshotVisitor *visit, void *context, char *why,
                   size_t why_size) {
    char name[NAME_BYTES];
    if (reader_u32(reader) != SIM_MARK)
        return snapshot_fail(why, why_size, "machine", "not a snapshot of a machine");
    *now = reader_u64(reader);
    uint32_t clocks = reader_u32(reader);
    for (uint32_t i = 0; i < clocks && reader_name(reader, name, sizeof name); i++) {
        for (uint32_t k = 0; k < NUMBERS_OF_CLOCK; k++)
            reader_u64(reader);
        clock_shares_skip(reader);
    }
    reader_u64(reader);
    reader_u64(reader);
    reader_u32(reader);
    uint32_t objects = reader_u32(reader), links = reader_u32(reader);
    if (reader->failed) return snapshot_fail(why, why_size, "machine", "its clocks are damaged");
    return list_objects(reader, objects, visit, context, why, why_size) &&
           list_links(reader, links, visit, context, why, why_size) &&
           (reader_at_end(reader) ||
            snapshot_fail(why, why_size, "machine", "damaged: bytes after the end of the snapshot"));
}
