/* One object in a snapshot: its parameters as text, its state row by row. */
#include "core/sim/checkpoint/snapshot_parts.h"

#include "core/sim/halves.h"

#include <stdlib.h>
#include <string.h>

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

static void save_params(const SimObject *object, Buffer *buffer) {
    ensure(count_rows(object->class, true) <= MAX_ROWS && count_rows(object->class, false) <= MAX_ROWS);
    buffer_u32(buffer, count_rows(object->class, true));
    for (const Field *f = object->class->fields; f->kind != FIELD_END; f++) {
        if (f->kind != FIELD_PARAM) continue;
        char *text = object_get_text(object, f);
        snapshot_text(f->name, NAME_BYTES, buffer);
        snapshot_text(text, TEXT_BYTES, buffer);
        free(text);
    }
}

static void save_rows(const SimObject *object, Buffer *buffer) {
    buffer_u32(buffer, count_rows(object->class, false));
    for (const Field *f = object->class->fields; f->kind != FIELD_END; f++) {
        size_t count;
        if (!is_state(f)) continue;
        const uint8_t *bytes = row_bytes(object, f, &count);
        snapshot_text(f->name, NAME_BYTES, buffer);
        buffer_u64(buffer, count);
        buffer_append(buffer, bytes, count);
    }
}

void save_object(const SimObject *object, Buffer *buffer) {
    buffer_u32(buffer, OBJECT_MARK);
    snapshot_text(object->path, PATH_BYTES, buffer);
    snapshot_text(object->class->name, NAME_BYTES, buffer);
    size_t at = buffer->count;
    buffer_u64(buffer, 0); /* the length of what follows */
    buffer_u64(buffer, object_due(object));
    save_params(object, buffer);
    save_rows(object, buffer);
    uint64_t length = buffer->count - at - sizeof length;
    memcpy(buffer->bytes + at, &length, sizeof length);
}

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

bool read_object(SavedObject *saved, Reader *section) {
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

/* Looked for from `first` on, all around: rows are saved in the order of the class, unless it has changed. */
static const uint8_t *saved_row_from(const SavedObject *saved, uint32_t first, const char *name,
                                     size_t *count) {
    for (uint32_t i = 0; i < saved->rows; i++) {
        const SavedRow *row = &saved->row[(first + i) % saved->rows];
        if (strcmp(row->name, name) != 0) continue;
        *count = row->count;
        return row->bytes;
    }
    return NULL;
}

const uint8_t *saved_row(const SavedObject *saved, const char *name, size_t *count) {
    return saved_row_from(saved, 0, name, count);
}

void *saved_row_copy(const SavedObject *saved, const char *name, size_t *count) {
    const uint8_t *bytes = saved_row(saved, name, count);
    if (!bytes) return NULL;
    void *copy = malloc(*count + 1);
    ensure_memory(copy);
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
             shown(before), shown(now),
             allowed ? ", to which its state cannot be converted"
                     : "; allow_changes goes on as another machine");
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
    ensure_memory(array);
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
            snapshot_note(changes, "%s.%s: %s became %s", object->path, f->name, shown(before), shown(now));
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
            snapshot_note(changes, "%s.%s: stays %s and does not become %s: it is state, which policies set",
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

static bool resize_to_saved(SimObject *object, const SavedObject *saved, bool reset_knobs, char *why,
                            size_t why_size) {
    uint32_t rows = 0;
    for (const Field *g = object->class->fields; g->kind != FIELD_END; g++) {
        uint32_t elements, row = rows;
        size_t count = 0;
        rows += is_state(g);
        if (g->kind != FIELD_STATE || g->bytes != sizeof elements || (g->knob && reset_knobs)) continue;
        const uint8_t *bytes = saved_row_from(saved, row, g->name, &count);
        if (!bytes || count != sizeof elements) continue;
        memcpy(&elements, bytes, sizeof elements);
        if (!resize_arrays(object, saved, g, elements))
            return snapshot_fail(why, why_size, object->path,
                                 "damaged: an array and its length contradict each other");
    }
    return true;
}

/* Takes over the rows that have the size they had; `left` says how many have not. */
static bool copy_rows(SimObject *object, const SavedObject *saved, bool reset_knobs, uint32_t *left,
                      char *why, size_t why_size) {
    if (!resize_to_saved(object, saved, reset_knobs, why, why_size)) return false;
    uint32_t rows = 0;
    for (const Field *f = object->class->fields; f->kind != FIELD_END; f++) {
        uint32_t index = rows;
        size_t count = 0, present;
        rows += is_state(f);
        if (!is_state(f) || (f->knob && reset_knobs)) continue;
        const uint8_t *bytes = saved_row_from(saved, index, f->name, &count);
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

bool next_section(Section *section, Reader *reader) {
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

bool load_object(SimObject *object, Section *section, const SnapshotChanges *changes, SavedObject *saved,
                 char *why, size_t why_size) {
    uint32_t left = 0;
    bool converts = false;
    LoadedObject loaded = {.object = object, .now = object->sim->now};
    saved->object = object;
    section->taken = true;
    if (!read_object(saved, &section->body)) return snapshot_fail(why, why_size, section->path, "damaged");
    loaded.due = saved->due;
    report_changed_knobs(saved, changes);
    if (!compare_params(saved, changes, &converts, why, why_size) ||
        !copy_rows(object, saved, changes && changes->reset_knobs, &left, why, why_size))
        return false;
    if (left == 0 && !converts && saved->rows != count_rows(object->class, false))
        return snapshot_fail(why, why_size, section->path, "expected rows of this version, got others");
    loaded.fits = !converts;
    if ((left && !converts) || !snapshot_passes(object_is_sound, &loaded, why, why_size)) return false;
    loaded.fits = true;
    return !converts || (object->class->convert(object, saved, changes, why, why_size) &&
                         snapshot_passes(object_is_sound, &loaded, why, why_size));
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
