#include "core/sim/checkpoint/snapshot.h"

#include <stdlib.h>
#include <string.h>

enum {
    OBJECT_MARK = 0x4a424f57,
    LINK_MARK = 0x4b4e4c57,
    SIM_MARK = 0x4d495357,
    MAX_ROWS = 256,   /* of an object */
    NAME_BYTES = 128, /* of rows, classes, clocks */
    PATH_BYTES = OBJECT_PATH_MAX + 1,
    TEXT_BYTES = PARAM_TEXT_MAX + 1,
    LATEST_SHIFT = 60,                                      /* ticks: later than any run gets */
    LINK_BYTES = 2 * (OBJECT_PATH_MAX + PORT_NAME_MAX) + 8, /* "path.port -> path.port" */
};

static bool fail(char *why, size_t size, const char *path, const char *what) {
    snprintf(why, size, "%s: %s", path, what);
    return false;
}

static void note(const SnapshotChanges *changes, const char *format, ...) PRINTF_LIKE(2, 3);
static void note(const SnapshotChanges *changes, const char *format, ...) {
    char line[4 * TEXT_BYTES];
    va_list arguments;
    if (!changes->note) return;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    changes->note(changes->context, line);
}

/* --- Objects --------------------------------------------------------------------------------- */

/* A parameter that policies set is the first value of what is state from then on. */
static bool is_state(const Field *f) {
    return f->kind == FIELD_STATE || f->kind == FIELD_STATE_ARRAY || f->kind == FIELD_STAT ||
           (f->kind == FIELD_PARAM && f->knob);
}

static uint32_t count_rows(const Class *class, bool params) {
    uint32_t rows = 0;
    for (const Field *f = class->fields; f->kind != FIELD_END; f++)
        rows += params ? f->kind == FIELD_PARAM : is_state(f);
    return rows;
}

static uint8_t *row_bytes(const SimObject *object, const Field *f, size_t *count) {
    uint8_t *at = (uint8_t *)(uintptr_t)object + f->offset;
    *count = f->bytes;
    if (f->kind != FIELD_STATE_ARRAY) return at;
    *count = (size_t)object_count(object, f) * f->element_bytes;
    return *(uint8_t **)(void *)at;
}

/* A text that will be read back into so many bytes. */
static void save_text(const char *text, size_t bytes, Buffer *buffer) {
    ensure(strlen(text) < bytes);
    buffer_text(buffer, text);
}

static void save_params(const SimObject *object, Buffer *buffer) {
    ensure(count_rows(object->class, true) <= MAX_ROWS && count_rows(object->class, false) <= MAX_ROWS);
    buffer_u32(buffer, count_rows(object->class, true));
    for (const Field *f = object->class->fields; f->kind != FIELD_END; f++) {
        if (f->kind != FIELD_PARAM) continue;
        char *text = object_get_text(object, f);
        save_text(f->name, NAME_BYTES, buffer);
        save_text(text, TEXT_BYTES, buffer);
        free(text);
    }
}

static void save_rows(const SimObject *object, Buffer *buffer) {
    buffer_u32(buffer, count_rows(object->class, false));
    for (const Field *f = object->class->fields; f->kind != FIELD_END; f++) {
        size_t count;
        if (!is_state(f)) continue;
        const uint8_t *bytes = row_bytes(object, f, &count);
        save_text(f->name, NAME_BYTES, buffer);
        buffer_u64(buffer, count);
        buffer_append(buffer, bytes, count);
    }
}

static void save_object(const SimObject *object, Buffer *buffer) {
    buffer_u32(buffer, OBJECT_MARK);
    save_text(object->path, PATH_BYTES, buffer);
    save_text(object->class->name, NAME_BYTES, buffer);
    size_t at = buffer->count;
    buffer_u64(buffer, 0); /* the length of what follows */
    buffer_u64(buffer, *object->due);
    save_params(object, buffer);
    save_rows(object, buffer);
    uint64_t length = buffer->count - at - sizeof length;
    memcpy(buffer->bytes + at, &length, sizeof length);
}

typedef struct {
    char name[NAME_BYTES];
    const uint8_t *bytes;
    size_t count;
} SavedRow;

struct SavedObject {
    const SimObject *object; /* the one that takes the state over: for the kinds of its parameters */
    char param_name[MAX_ROWS][NAME_BYTES], param_text[MAX_ROWS][TEXT_BYTES];
    SavedRow row[MAX_ROWS];
    uint32_t params, rows;
    uint64_t due;
};

static bool read_params(SavedObject *saved, Reader *reader) {
    saved->params = reader_u32(reader);
    if (saved->params > MAX_ROWS) return false;
    for (uint32_t i = 0; i < saved->params; i++)
        if (!reader_name(reader, saved->param_name[i], NAME_BYTES) ||
            !reader_text(reader, saved->param_text[i], TEXT_BYTES))
            return false;
    return true;
}

static bool read_rows(SavedObject *saved, Reader *reader) {
    saved->rows = reader_u32(reader);
    if (saved->rows > MAX_ROWS) return false;
    for (uint32_t i = 0; i < saved->rows; i++) {
        SavedRow *row = &saved->row[i];
        if (!reader_name(reader, row->name, NAME_BYTES)) return false;
        row->count = reader_u64(reader);
        row->bytes = reader_bytes(reader, row->count);
        if (!row->bytes) return false;
    }
    return true;
}

/* Mark, path and class; then a reader of the section alone. */
static bool open_object(Reader *reader, char *path, char *class, Reader *section) {
    if (reader_u32(reader) != OBJECT_MARK || !reader_name(reader, path, PATH_BYTES) ||
        !reader_name(reader, class, NAME_BYTES))
        return false;
    uint64_t length = reader_u64(reader);
    const uint8_t *bytes = reader_bytes(reader, length);
    if (!bytes) return false;
    *section = (Reader){.bytes = bytes, .count = length};
    return true;
}

static bool read_object(SavedObject *saved, Reader *section) {
    saved->due = reader_u64(section);
    return read_params(saved, section) && read_rows(saved, section) && reader_at_end(section);
}

const char *saved_text(const SavedObject *saved, const char *name) {
    for (uint32_t i = 0; i < saved->params; i++)
        if (strcmp(saved->param_name[i], name) == 0) return saved->param_text[i];
    return NULL;
}

double saved_param(const SavedObject *saved, const char *name) {
    const char *text = saved_text(saved, name);
    const Field *f = object_field(saved->object, FIELD_PARAM, name);
    if (!text || !f) return -1;
    if (!f->choices) return f->flag ? strcmp(text, "true") == 0 : strtod(text, NULL);
    double index = 0;
    size_t length = strlen(text);
    for (const char *word = f->choices; word; index++) {
        if (strncmp(word, text, length) == 0 && (word[length] == '|' || word[length] == 0)) return index;
        word = strchr(word, '|');
        if (word) word++;
    }
    return -1;
}

const uint8_t *saved_row(const SavedObject *saved, const char *name, size_t *count) {
    for (uint32_t i = 0; i < saved->rows; i++) {
        if (strcmp(saved->row[i].name, name) != 0) continue;
        *count = saved->row[i].count;
        return saved->row[i].bytes;
    }
    return NULL;
}

void *saved_row_copy(const SavedObject *saved, const char *name, size_t *count) {
    const uint8_t *bytes = saved_row(saved, name, count);
    if (!bytes) return NULL;
    void *copy = malloc(*count + 1);
    ensure(copy);
    return memcpy(copy, bytes, *count);
}

static bool is_among(const char *name, const char *const *names) {
    while (*names && strcmp(*names, name) != 0)
        names++;
    return *names != NULL;
}

/* A parameter's text, for people. */
static const char *shown(const char *text) {
    return !text ? "absent" : *text ? text : "(none)";
}

static void say_other(const SimObject *object, const Field *f, const char *before, const char *now,
                      bool allowed, char *why, size_t why_size) {
    snprintf(why, why_size, "%s.%s: expected %s as in the checkpoint, got %s%s", object->path, f->name,
             shown(before), shown(now), allowed ? ", to which its state cannot be converted" : "");
}

bool saved_same(const SavedObject *saved, const char *const *params) {
    bool same = true;
    for (; *params && same; params++) {
        const char *before = saved_text(saved, *params);
        char *now = object_get_text(saved->object, object_field(saved->object, FIELD_PARAM, *params));
        same = before && strcmp(before, now) == 0;
        free(now);
    }
    return same;
}

static bool same_size(const SavedObject *saved, const Field *f, char *why, size_t why_size) {
    size_t before = 0, now;
    const uint8_t *bytes = saved_row(saved, f->name, &before);
    row_bytes(saved->object, f, &now);
    if (bytes && before == now) return true;
    snprintf(why, why_size,
             "%s.%s: expected the size of the checkpoint, got another, to which it cannot be converted",
             saved->object->path, f->name);
    return false;
}

bool saved_rows_but(const SavedObject *saved, const char *const *rows, char *why, size_t why_size) {
    for (const Field *f = saved->object->class->fields; f->kind != FIELD_END; f++)
        if (is_state(f) && !is_among(f->name, rows) && !same_size(saved, f, why, why_size)) return false;
    return true;
}

/* Elsewhere state has the alignment that the kernel gives it, too. */
static void *zeroed_array(size_t bytes) {
    enum { ALIGNMENT = 256 };
    size_t size = (bytes + ALIGNMENT) / ALIGNMENT * ALIGNMENT;
    void *array = aligned_alloc(ALIGNMENT, size);
    ensure(array);
    return memset(array, 0, size);
}

void *array_grown(void *array, size_t count, size_t wanted, size_t element_bytes) {
    ensure(count <= wanted);
    void *grown = zeroed_array(wanted * element_bytes);
    if (count) memcpy(grown, array, count * element_bytes);
    free(array);
    return grown;
}

void *ring_grown(void *array, size_t count, size_t wanted, size_t element_bytes) {
    ensure(2 * count <= wanted);
    uint8_t *grown = array_grown(array, count, wanted, element_bytes);
    memcpy(grown + count * element_bytes, grown, count * element_bytes); /* what wraps around */
    return grown;
}

/* True when they are equal, or differ where they may; `converts` is set when more than timing differs. */
static bool compare_params(const SavedObject *saved, const SnapshotChanges *changes, bool *converts,
                           char *why, size_t why_size) {
    const SimObject *object = saved->object;
    bool may_change = changes && changes->allowed;
    for (const Field *f = object->class->fields; f->kind != FIELD_END; f++) {
        if (f->kind != FIELD_PARAM || f->knob) continue;
        const char *before = saved_text(saved, f->name);
        char *now = object_get_text(object, f);
        bool equal = before && strcmp(before, now) == 0;
        bool refused = !equal && !(may_change && (f->timing || f->converts));
        if (refused)
            say_other(object, f, before, now, may_change, why, why_size);
        else if (!equal)
            note(changes, "%s.%s: %s became %s", object->path, f->name, shown(before), shown(now));
        if (!equal && f->converts) *converts = true;
        free(now);
        if (refused) return false;
    }
    return true;
}

/* Under the same policy what policies set goes on as it was, wherever this machine would begin otherwise. */
static void report_changed_knobs(const SavedObject *saved, const SnapshotChanges *changes) {
    const SimObject *object = saved->object;
    if (!changes || !changes->allowed || changes->reset_knobs) return;
    for (const Field *f = object->class->fields; f->kind != FIELD_END; f++) {
        if (f->kind != FIELD_PARAM || !f->knob) continue;
        const char *before = saved_text(saved, f->name);
        char *now = object_get_text(object, f);
        if (before && strcmp(before, now) != 0)
            note(changes, "%s.%s: stays %s and does not become %s: it is state, which policies set",
                 object->path, f->name, shown(before), shown(now));
        free(now);
    }
}

/* Arrays whose number of elements, `g`, is itself state get as many as they had. */
static bool resize_arrays(SimObject *object, const SavedObject *saved, const Field *g, uint32_t elements) {
    for (const Field *f = object->class->fields; f->kind != FIELD_END; f++) {
        size_t count = 0;
        if (f->kind != FIELD_STATE_ARRAY || f->count_offset != g->offset) continue;
        if (!saved_row(saved, f->name, &count) || count != elements * f->element_bytes) return false;
        if (object_count(object, f) == elements) continue;
        void **array = (void **)(void *)((char *)object + f->offset);
        free(*array);
        *array = zeroed_array(count);
    }
    *(uint32_t *)(void *)((char *)object + g->offset) = elements;
    return true;
}

static bool resize_to_saved(SimObject *object, const SavedObject *saved, char *why, size_t why_size) {
    for (const Field *g = object->class->fields; g->kind != FIELD_END; g++) {
        uint32_t elements;
        size_t count = 0;
        if (g->kind != FIELD_STATE || g->bytes != sizeof elements) continue;
        const uint8_t *bytes = saved_row(saved, g->name, &count);
        if (!bytes || count != sizeof elements) continue;
        memcpy(&elements, bytes, sizeof elements);
        if (!resize_arrays(object, saved, g, elements))
            return fail(why, why_size, object->path,
                        "damaged: an array and its length contradict each other");
    }
    return true;
}

/* Takes over the rows that have the size they had; `left` says how many have not. */
static bool copy_rows(SimObject *object, const SavedObject *saved, bool reset_knobs, uint32_t *left,
                      char *why, size_t why_size) {
    if (!resize_to_saved(object, saved, why, why_size)) return false;
    for (const Field *f = object->class->fields; f->kind != FIELD_END; f++) {
        size_t count = 0, present;
        if (!is_state(f) || (f->knob && reset_knobs)) continue;
        const uint8_t *bytes = saved_row(saved, f->name, &count);
        if (!bytes) {
            snprintf(why, why_size, "%s.%s: the checkpoint does not have it", object->path, f->name);
            return false;
        }
        uint8_t *row = row_bytes(object, f, &present);
        if (present == count) {
            memcpy(row, bytes, count);
        } else {
            snprintf(why, why_size, "%s.%s: expected %zu bytes as in the checkpoint, got %zu", object->path,
                     f->name, count, present);
            (*left)++;
        }
    }
    return true;
}

typedef struct {
    char path[PATH_BYTES], class[NAME_BYTES];
    Reader body;
    bool taken; /* there is no section, or its object has it */
} Section;

static bool next_section(Section *section, Reader *reader) {
    section->taken = false;
    return open_object(reader, section->path, section->class, &section->body);
}

/* --- Is it sound? --- */

/* What policies set goes through the same bounds as what users set. */
static void knob_is_sound(const SimObject *object, const Field *f) {
    const void *at = (const char *)object + f->offset;
    double value = f->type == TYPE_U32 ? *(const uint32_t *)at : (double)*(const uint64_t *)at;
    uint32_t choices = f->choices ? 1 : 2;
    for (const char *c = f->choices; c && *c; c++)
        choices += *c == '|';
    if (f->choices || f->flag)
        sound(value < choices, "%s.%s: %g, of %u choices", object->path, f->name, value, choices);
    else if (f->min != 0 || f->max != 0)
        sound(value >= f->min && value <= f->max, "%s.%s: expected %g to %g, got %g", object->path, f->name,
              f->min, f->max, value);
}

typedef struct {
    const SimObject *object;
    uint64_t due, now;
    bool fits;
} LoadedObject;

static void object_is_sound(void *context) {
    const LoadedObject *loaded = context;
    const SimObject *object = loaded->object;
    sound(loaded->due == NEVER || (loaded->due >= loaded->now && loaded->due % object->period == 0),
          "%s: due at tick %lu", object->path, loaded->due);
    for (const Field *f = object->class->fields; f->kind != FIELD_END; f++)
        if (f->kind == FIELD_PARAM && f->knob) knob_is_sound(object, f);
    if (object->class->is_sound) object->class->is_sound(object, loaded->fits);
}

/* True when the work does not panic. */
static bool passes(void (*work)(void *context), void *context, char *why, size_t why_size) {
    const char *problem = panic_catch(work, context);
    if (problem) snprintf(why, why_size, "damaged: %s", problem);
    return !problem;
}

static bool load_object(SimObject *object, Section *section, const SnapshotChanges *changes,
                        SavedObject *saved, char *why, size_t why_size) {
    uint32_t left = 0;
    bool converts = false;
    LoadedObject loaded = {.object = object, .now = object->sim->now};
    saved->object = object;
    section->taken = true;
    if (!read_object(saved, &section->body)) return fail(why, why_size, section->path, "damaged");
    loaded.due = saved->due;
    report_changed_knobs(saved, changes);
    if (!compare_params(saved, changes, &converts, why, why_size) ||
        !copy_rows(object, saved, changes && changes->reset_knobs, &left, why, why_size))
        return false;
    if (left == 0 && !converts && saved->rows != count_rows(object->class, false))
        return fail(why, why_size, section->path, "expected rows of this version, got others");
    loaded.fits = !converts;
    if ((left && !converts) || !passes(object_is_sound, &loaded, why, why_size)) return false;
    loaded.fits = true;
    return !converts || (object->class->convert(object, saved, changes, why, why_size) &&
                         passes(object_is_sound, &loaded, why, why_size));
}

uint64_t object_hash(const SimObject *object) {
    uint64_t hash = hash_bytes(0, object->path, strlen(object->path));
    for (const Field *f = object->class->fields; f->kind != FIELD_END; f++) {
        size_t count;
        if (!is_state(f)) continue;
        const uint8_t *bytes = row_bytes(object, f, &count);
        hash = hash_bytes(hash, bytes, count);
    }
    return hash;
}

/* --- Links ----------------------------------------------------------------------------------- */

/* Everything but the messages, in one piece. At a boundary both ends know of all pushes and pops. */
typedef struct {
    uint64_t pushed, popped, last_push, pushes_in_cycle, last_pop, popped_before, unused;
} LinkCounters;

static void save_link(const Link *link, Buffer *buffer) {
    LinkCounters counters = {link->pushed,
                             link->popped,
                             link->last_push,
                             link->pushes_in_cycle,
                             link->last_pop,
                             link->cut ? link->popped_before : link->popped_seen,
                             0};
    buffer_u32(buffer, LINK_MARK);
    save_text(link->name, LINK_BYTES, buffer);
    buffer_u32(buffer, link->message_bytes);
    buffer_append(buffer, &counters, sizeof counters);
    for (uint64_t i = link->popped; i != link->pushed; i++) {
        buffer_u64(buffer, link->ready[i & link->slot_mask]);
        buffer_append(buffer, link->slots + (i & link->slot_mask) * link->message_bytes, link->message_bytes);
    }
}

static bool read_link(Reader *reader, char *name, uint32_t *message_bytes, LinkCounters *counters) {
    if (reader_u32(reader) != LINK_MARK || !reader_name(reader, name, LINK_BYTES)) return false;
    *message_bytes = reader_u32(reader);
    const uint8_t *raw = reader_bytes(reader, sizeof *counters);
    if (!raw) return false;
    memcpy(counters, raw, sizeof *counters);
    return true;
}

/* Room and times as they are at a boundary: both ends know of all pushes and pops. */
static void link_is_sound(void *context) {
    const Link *link = context;
    uint64_t now = link->sender->sim->now, latest = now + link->latency + link->align_to;
    const Protocol *protocol = link->protocol;
    void (*is_sound)(const char *, const SimObject *, const void *) = link->requests
                                                                          ? protocol->response_is_sound
                                                                          : protocol->request_is_sound;
    sound(link->last_push == NEVER || link->last_push <= now, "%s: the last push was at tick %lu", link->name,
          link->last_push);
    sound(link->last_pop == NEVER || link->last_pop <= now, "%s: the last pop was at tick %lu", link->name,
          link->last_pop);
    sound(link->pushes_in_cycle <= link->width, "%s: %u messages in a cycle", link->name,
          link->pushes_in_cycle);
    uint64_t before = link->cut ? link->popped_before : link->popped_seen;
    sound(link->popped - before <= link->popped && link->popped <= link->pushed,
          "%s: %lu messages sent, %lu received, %lu before", link->name, link->pushed, link->popped, before);
    for (uint64_t i = link->popped; i != link->pushed; i++) {
        uint64_t ready = link->ready[i & link->slot_mask];
        sound(ready <= latest && ready % link->receiver->period == 0, "%s: message %lu is ready at tick %lu",
              link->name, i, ready);
        if (is_sound) is_sound(link->name, link->receiver, link_message(link, i));
    }
}

static bool load_messages(Link *link, Reader *reader) {
    for (uint64_t i = link->popped; i != link->pushed; i++) {
        link->ready[i & link->slot_mask] = reader_u64(reader);
        const uint8_t *message = reader_bytes(reader, link->message_bytes);
        if (!message) return false;
        memcpy(link->slots + (i & link->slot_mask) * link->message_bytes, message, link->message_bytes);
    }
    return true;
}

static bool load_link(Link *link, Reader *reader, char *why, size_t why_size) {
    char name[LINK_BYTES];
    uint32_t message_bytes;
    LinkCounters c;
    if (!read_link(reader, name, &message_bytes, &c)) return fail(why, why_size, link->name, "damaged");
    if (strcmp(name, link->name) != 0) {
        snprintf(why, why_size, "expected the wire %s of the checkpoint, got %s", name, link->name);
        return false;
    }
    if (message_bytes != link->message_bytes || c.pushed - c.popped > link->depth) {
        snprintf(why, why_size,
                 "%s: depth: expected room for the %lu messages of %u bytes of the checkpoint, got %u of %u; "
                 "a larger depth or a checkpoint of another cycle helps",
                 name, c.pushed - c.popped, message_bytes, link->depth, link->message_bytes);
        return false;
    }
    link->pushed = link->pushed_seen = c.pushed;
    link->popped = c.popped;
    link->popped_seen = link->cut ? c.popped : c.popped_before;
    link->last_push = c.last_push;
    link->last_pop = c.last_pop;
    link->popped_before = c.popped_before;
    link->pushes_in_cycle = (uint16_t)c.pushes_in_cycle;
    if (!load_messages(link, reader)) return fail(why, why_size, name, "damaged");
    link_update_next_ready(link);
    return passes(link_is_sound, link, why, why_size);
}

/* --- The machine ----------------------------------------------------------------------------- */

static void save_clocks(const Sim *sim, Buffer *buffer) {
    buffer_u32(buffer, sim->clock_count);
    for (uint32_t i = 0; i < sim->clock_count; i++) {
        save_text(sim->clocks[i].name, NAME_BYTES, buffer);
        buffer_u64(buffer, sim->clocks[i].hertz);
    }
    buffer_u32(buffer, sim->quantum_cycles);
}

void sim_save(const Sim *sim, Buffer *buffer) {
    ensure(sim->elaborated && !sim->faulted);
    buffer_u32(buffer, SIM_MARK);
    buffer_u64(buffer, sim->now);
    save_clocks(sim, buffer);
    buffer_u32(buffer, sim->object_count);
    buffer_u32(buffer, sim->link_count);
    for (uint32_t i = 0; i < sim->object_count; i++)
        save_object(sim->objects[i], buffer);
    for (uint32_t i = 0; i < sim->link_count; i++)
        save_link(sim->links[i], buffer);
}

static void say_other_clock(const Sim *sim, const char *name, uint64_t hertz, char *why, size_t why_size) {
    const Clock *clock = NULL;
    for (uint32_t i = 0; i < sim->clock_count; i++)
        if (strcmp(sim->clocks[i].name, name) == 0) clock = &sim->clocks[i];
    if (clock && clock->hertz != hertz)
        snprintf(why, why_size,
                 "clock.%s: expected %lu Hz as in the checkpoint, got %lu Hz (times are saved in ticks that "
                 "all clocks share)",
                 name, hertz, clock->hertz);
    else
        snprintf(why, why_size, "clock.%s: expected %lu Hz as in the checkpoint, got other clocks", name,
                 hertz);
}

/* Times are in ticks of the common time base, so every clock must be the same. */
static bool load_clocks(const Sim *sim, Reader *reader, char *why, size_t why_size) {
    uint32_t count = reader_u32(reader);
    for (uint32_t i = 0; i < count; i++) {
        char name[NAME_BYTES];
        if (!reader_name(reader, name, sizeof name))
            return fail(why, why_size, sim->name, "its clocks are damaged");
        uint64_t hertz = reader_u64(reader);
        if (i < sim->clock_count && strcmp(name, sim->clocks[i].name) == 0 && hertz == sim->clocks[i].hertz)
            continue;
        say_other_clock(sim, name, hertz, why, why_size);
        return false;
    }
    uint32_t quantum = reader_u32(reader);
    if (!reader->failed && count == sim->clock_count && quantum == sim->quantum_cycles) return true;
    snprintf(why, why_size,
             "expected %u clocks and a quantum of %u cycles as in the checkpoint, got %u and %u", count,
             quantum, sim->clock_count, sim->quantum_cycles);
    return false;
}

static bool is_part(const char *class_name) {
    const Class *class = class_find(class_name);
    return class && class->part;
}

/* The next section that is not of a part which only the saved machine had. */
static bool find_section(Section *section, Reader *reader, uint32_t *sections, const SimObject *object,
                         const SnapshotChanges *changes) {
    while (*sections) {
        if (section->taken && !next_section(section, reader)) return false;
        bool same = strcmp(section->path, object->path) == 0;
        if (same || !changes || !changes->allowed || !is_part(section->class)) return true;
        note(changes, "%s (%s) was dropped", section->path, section->class);
        section->taken = true;
        (*sections)--;
    }
    return true;
}

static bool load_objects(Sim *sim, Reader *reader, uint32_t sections, const SnapshotChanges *changes,
                         SavedObject *saved, char *why, size_t why_size) {
    Section section = {.taken = true};
    for (uint32_t i = 0; i < sim->object_count; i++) {
        SimObject *object = sim->objects[i];
        if (!find_section(&section, reader, &sections, object, changes))
            return fail(why, why_size, object->path, "damaged");
        bool same = sections && strcmp(section.path, object->path) == 0 &&
                    strcmp(section.class, object->class->name) == 0;
        if (!same && changes && changes->allowed && object->class->part) {
            note(changes, "%s (%s) is new", object->path, object->class->name);
            continue;
        }
        if (!same) {
            snprintf(why, why_size, "expected %s%s%s%s as in the checkpoint, got %s (%s)",
                     sections ? section.path : "no more objects", sections ? " (" : "",
                     sections ? section.class : "", sections ? ")" : "", object->path, object->class->name);
            return false;
        }
        if (!load_object(object, &section, changes, saved, why, why_size)) return false;
        if (object->class->knobs_set) object->class->knobs_set(object);
        sections--;
        *object->due = NEVER;
        object_poke(object, saved->due);
    }
    while (sections && (!section.taken || next_section(&section, reader)) && changes && changes->allowed &&
           is_part(section.class)) {
        note(changes, "%s (%s) was dropped", section.path, section.class);
        section.taken = true;
        sections--;
    }
    if (sections == 0) return true;
    snprintf(why, why_size, "expected %u more objects as in the checkpoint", sections);
    return false;
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
        object_poke(object, (sim->now + object->period - 1) / object->period * object->period);
    }
}

bool sim_load(Sim *sim, Reader *reader, const SnapshotChanges *changes, char *why, size_t why_size) {
    if (reader_u32(reader) != SIM_MARK) return fail(why, why_size, sim->name, "not a snapshot of a machine");
    uint64_t now = reader_u64(reader);
    if (!load_clocks(sim, reader, why, why_size)) return false;
    uint32_t objects = reader_u32(reader), links = reader_u32(reader);
    if (links != sim->link_count) {
        snprintf(why, why_size, "expected %u links as in the checkpoint, got %u", links, sim->link_count);
        return false;
    }
    if (now % sim->quantum || now >> LATEST_SHIFT)
        return fail(why, why_size, sim->name, "expected a time at a quantum boundary, got another");
    sim->now = now;
    SavedObject *saved = calloc(1, sizeof *saved);
    ensure(saved);
    for (uint32_t i = 0; i < sim->cluster_count; i++)
        sim->clusters[i].next = NEVER;
    bool good = load_objects(sim, reader, objects, changes, saved, why, why_size);
    free(saved);
    if (!good) return false;
    for (uint32_t i = 0; i < sim->link_count; i++)
        if (!load_link(sim->links[i], reader, why, why_size)) return false;
    if (!reader_at_end(reader))
        return fail(why, why_size, sim->name, "damaged: bytes after the end of the snapshot");
    sim_audit_restart(sim);
    sim_reset_periodics(sim);
    if (!passes(laws_hold, sim, why, why_size)) return false;
    if (changes && changes->allowed) wake_all(sim);
    return true;
}

/* --- Without a machine ----------------------------------------------------------------------- */

static bool list_objects(Reader *reader, uint32_t objects, SnapshotVisitor *visit, void *context, char *why,
                         size_t why_size) {
    char path[PATH_BYTES] = "its objects", class[NAME_BYTES];
    SavedObject *saved = calloc(1, sizeof *saved);
    bool good = true;
    ensure(saved);
    for (uint32_t i = 0; good && i < objects; i++) {
        Reader section;
        good = open_object(reader, path, class, &section);
        uint64_t bytes = good ? section.count : 0;
        good = good && read_object(saved, &section);
        if (good) visit(context, path, class, bytes);
    }
    free(saved);
    return good || fail(why, why_size, path, "damaged");
}

static bool list_links(Reader *reader, uint32_t links, SnapshotVisitor *visit, void *context, char *why,
                       size_t why_size) {
    char name[LINK_BYTES] = "its links";
    for (uint32_t i = 0; i < links; i++) {
        LinkCounters c;
        uint32_t bytes;
        if (!read_link(reader, name, &bytes, &c) || c.pushed - c.popped > reader->count)
            return fail(why, why_size, name, "damaged");
        uint64_t messages = (c.pushed - c.popped) * (bytes + sizeof(uint64_t));
        if (!reader_bytes(reader, messages)) return fail(why, why_size, name, "damaged");
        visit(context, name, "link", messages + sizeof c);
    }
    return true;
}

bool snapshot_list(Reader *reader, uint64_t *now, SnapshotVisitor *visit, void *context, char *why,
                   size_t why_size) {
    char name[NAME_BYTES];
    if (reader_u32(reader) != SIM_MARK) return fail(why, why_size, "machine", "not a snapshot of a machine");
    *now = reader_u64(reader);
    uint32_t clocks = reader_u32(reader);
    for (uint32_t i = 0; i < clocks && reader_name(reader, name, sizeof name); i++)
        reader_u64(reader);
    reader_u32(reader);
    uint32_t objects = reader_u32(reader), links = reader_u32(reader);
    if (reader->failed) return fail(why, why_size, "machine", "its clocks are damaged");
    return list_objects(reader, objects, visit, context, why, why_size) &&
           list_links(reader, links, visit, context, why, why_size) &&
           (reader_at_end(reader) ||
            fail(why, why_size, "machine", "damaged: bytes after the end of the snapshot"));
}
