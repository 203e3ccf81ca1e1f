/* Parameters and ports of one object, by name. */
#include "core/sim/object.h"

#include "core/sim/alias.h"
#include "core/sim/base/near_name.h"
#include "core/sim/base/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* By its first letter first: setting up a machine, and policies on it, asks again and again. */
static inline bool has_name(const Field *f, const char *name) {
    return f->name[0] == name[0] && strcmp(f->name, name) == 0;
}

static const Field *field_named(const SimObject *object, FieldKind kind, const char *name) {
    for (const Field *f = object->class->fields; f->kind != FIELD_END; f++)
        if (f->kind == kind && has_name(f, name)) return f;
    return NULL;
}

const Field *object_field(const SimObject *object, FieldKind kind, const char *name) {
    const Field *f = field_named(object, kind, name);
    const char *current = f ? NULL : alias_current(name);
    return current ? field_named(object, kind, current) : f;
}

const Field *object_member(const SimObject *object, const char *name) {
    const Field *found = NULL;
    for (const Field *f = object->class->fields; f->kind != FIELD_END; f++) {
        bool is_port = f->kind == FIELD_PORT || f->kind == FIELD_PORT_ARRAY;
        if ((!is_port && f->kind != FIELD_PARAM) || !has_name(f, name)) continue;
        if (is_port) return f;
        found = f;
    }
    return found ? found : object_field(object, FIELD_PARAM, name);
}

/* "size, ways, mshrs": the legal names, for messages. */
static void list_names(const Class *class, FieldKind kind, FieldKind other, char *text, size_t size) {
    size_t used = 0;
    text[0] = 0;
    for (const Field *f = class->fields; f->kind != FIELD_END && used + 1 < size; f++)
        if (f->kind == kind || f->kind == other) {
            int wrote = snprintf(text + used, size - used, "%s%s", used ? ", " : "", f->name);
            used += wrote > 0 ? (size_t)wrote : 0;
        }
    if (!text[0]) snprintf(text, size, "(none)");
}

static const char *near_param(const Class *class, const char *misspelt) {
    NearName near = near_name(misspelt);
    for (const Field *f = class->fields; f->kind != FIELD_END; f++)
        if (f->kind == FIELD_PARAM) near_name_try(&near, f->name);
    return near.name;
}

static const Field *param_or_error(const SimObject *object, const char *name) {
    char names[2048];
    const Field *f = object_field(object, FIELD_PARAM, name);
    if (f) return f;
    list_names(object->class, FIELD_PARAM, FIELD_PARAM, names, sizeof names);
    const char *meant = near_param(object->class, name);
    user_error("%s: no parameter of %s matches '%s'; %s%s%s%s", object->path, object->class->name, name,
               meant ? "did you mean " : "", meant ? meant : "",
               meant ? "? Available: " : "available: ", names);
}

static void check_bounds(const SimObject *object, const Field *f, double value) {
    bool integral = f->type != TYPE_DOUBLE, bounded = f->min != 0 || f->max != 0;
    double ceiling = f->type == TYPE_U32 ? 4294967295.0 : f->type == TYPE_U64 ? 9007199254740992.0 : INFINITY;
    double least = bounded ? f->min : 0, most = bounded ? f->max : ceiling;
    bool misfit = isnan(value) || (integral && (value < 0 || value > ceiling || value != floor(value)));
    if (misfit || (bounded && (value < f->min || value > f->max)))
        user_error("%s.%s: expected %s%s to %s%s%s%s, got %s", object->path, f->name,
                   misfit ? "a whole number from " : "", number_text(least, (NumberText){0}),
                   number_text(most, (NumberText){0}), *f->unit ? " (" : "", f->unit, *f->unit ? ")" : "",
                   number_text(value, (NumberText){0}));
    if (f->power_of_two && (value < 1 || ((uint64_t)value & ((uint64_t)value - 1)) != 0))
        user_error("%s.%s: expected a power of two, got %s", object->path, f->name,
                   number_text(value, (NumberText){0}));
}

static void store_number(SimObject *object, const Field *f, double value) {
    void *at = (char *)object + f->offset;
    check_bounds(object, f, value);
    switch (f->type) {
    case TYPE_U32: *(uint32_t *)at = (uint32_t)value; break;
    case TYPE_U64: *(uint64_t *)at = (uint64_t)value; break;
    case TYPE_DOUBLE: *(double *)at = value; break;
    default:
        user_error("%s.%s: expected a text, got %s", object->path, f->name,
                   number_text(value, (NumberText){0}));
    }
}

/* Index of `word` in "a|b|c", or -1. */
static int choice_index(const char *choices, const char *word) {
    int index = 0;
    size_t length = strlen(word);
    for (const char *at = choices; at; index++) {
        const char *bar = strchr(at, '|');
        size_t size = bar ? (size_t)(bar - at) : strlen(at);
        if (size == length && memcmp(at, word, size) == 0) return index;
        at = bar ? bar + 1 : NULL;
    }
    return -1;
}

_Noreturn static void refuse_choice(const SimObject *object, const Field *f, const char *got) {
    char words[256];
    size_t used = 0;
    for (const char *at = f->choices; *at && used + 2 < sizeof words; at++) {
        words[used++] = *at == '|' ? ',' : *at;
        if (*at == '|') words[used++] = ' ';
    }
    words[used] = 0;
    user_error("%s.%s: expected one of %s, got %s", object->path, f->name, words, got);
}

static void set_text(SimObject *object, const Field *f, const char *name, const char *text) {
    void *at = (char *)object + f->offset;
    char got[128];
    double value;
    if (f->choices) {
        int index = choice_index(f->choices, text);
        snprintf(got, sizeof got, "'%.100s'", text);
        if (index < 0) refuse_choice(object, f, got);
        *(uint32_t *)at = (uint32_t)index;
    } else if (f->flag) {
        bool on = strcmp(text, "true") == 0 || strcmp(text, "1") == 0;
        if (!on && strcmp(text, "false") != 0 && strcmp(text, "0") != 0)
            user_error("%s.%s: expected true or false, got '%s'", object->path, name, text);
        *(uint32_t *)at = on;
    } else if (f->type == TYPE_STRING) {
        if (strlen(text) > PARAM_TEXT_MAX)
            user_error("%s.%s: expected a text of up to %d characters, got %zu", object->path, name,
                       PARAM_TEXT_MAX, strlen(text));
        free(*(char **)at);
        *(char **)at = strdup(text);
    } else if (parse_quantity(text, f->unit, &value)) {
        store_number(object, f, value);
    } else {
        user_error("%s.%s: expected %s, got '%s'", object->path, name, quantity_examples(f->unit), text);
    }
}

void object_set_text(SimObject *object, const char *name, const char *text) {
    set_text(object, param_or_error(object, name), name, text);
}

void object_set_defaults(SimObject *object) {
    for (const Field *f = object->class->fields; f->kind != FIELD_END; f++)
        if (f->kind == FIELD_PARAM && f->initial) set_text(object, f, f->name, f->initial);
}

void object_set_number(SimObject *object, const char *name, double value) {
    const Field *f = param_or_error(object, name);
    NumberText got;
    number_text(value, got);
    if (f->choices) refuse_choice(object, f, got);
    if (f->flag && value != 0 && value != 1)
        user_error("%s.%s: expected true or false, got %s", object->path, name, got);
    store_number(object, f, value);
}

char *object_get_text(const SimObject *object, const Field *f) {
    const void *at = (const char *)object + f->offset;
    char *text = NULL;
    int wrote = 0;
    if (f->choices) {
        const char *word = f->choices;
        for (uint32_t i = 0; i < *(const uint32_t *)at; i++)
            word = strchr(word, '|') + 1;
        wrote = asprintf(&text, "%.*s", (int)strcspn(word, "|"), word);
    } else if (f->flag) {
        wrote = asprintf(&text, "%s", *(const uint32_t *)at ? "true" : "false");
    } else {
        switch (f->type) {
        case TYPE_U32: wrote = asprintf(&text, "%u", *(const uint32_t *)at); break;
        case TYPE_U64: wrote = asprintf(&text, "%lu", *(const uint64_t *)at); break;
        case TYPE_DOUBLE: wrote = asprintf(&text, "%.17g", *(const double *)at); break;
        default: wrote = asprintf(&text, "%s", *(char *const *)at ? *(char *const *)at : ""); break;
        }
    }
    ensure(wrote >= 0);
    return text;
}

Port *object_port(SimObject *object, const char *name, const Field **field) {
    char base[PORT_NAME_MAX + 1], names[1024];
    size_t length = strcspn(name, "[");
    const Field *f = NULL;
    snprintf(base, sizeof base, "%.*s", (int)length, name);
    if (name[length] == 0 && (f = object_field(object, FIELD_PORT, base))) {
        *field = f;
        return (Port *)((char *)object + f->offset);
    }
    if (name[length] == '[' && strlen(name) <= PORT_NAME_MAX &&
        (f = object_field(object, FIELD_PORT_ARRAY, base))) {
        char *end;
        unsigned long index = strtoul(name + length + 1, &end, 10);
        Port *ports = *(Port **)((char *)object + f->offset);
        if (!ports) user_error("%s.%s: the object has no ports yet", object->path, name);
        if (strcmp(end, "]") == 0 && index < object_count(object, f)) {
            *field = f;
            return ports + index;
        }
        user_error("%s: expected %s[0] to %s[%u], got %s", object->path, base, base,
                   object_count(object, f) - 1, name);
    }
    list_names(object->class, FIELD_PORT, FIELD_PORT_ARRAY, names, sizeof names);
    user_error("%s: no port of %s matches '%s'; available: %s", object->path, object->class->name, name,
               names);
}

static bool is_separator(char c) {
    return c == 0 || c == '.' || c == '[' || c == ']';
}

/* Behind a number and what is to follow it; NULL where there is none. */
static const char *read_index(const char *at, const char *behind, uint64_t *index) {
    *index = 0;
    if (*at < '0' || *at > '9') return NULL;
    for (; *at >= '0' && *at <= '9'; at++)
        *index = *index < UINT32_MAX ? *index * 10 + (uint64_t)(*at - '0') : *index;
    size_t length = strlen(behind);
    return strncmp(at, behind, length) == 0 ? at + length : NULL;
}

/* Is "[3]" of the path in "[0..7]" of the pattern? Then both go on behind it. */
static bool pass_range(const char **pattern, const char **path) {
    uint64_t first, last, index;
    const char *behind = read_index(*pattern + 1, "..", &first), *rest = NULL;
    if (behind) behind = read_index(behind, "]", &last);
    if (behind) rest = read_index(*path + 1, "]", &index);
    if (!rest || index < first || index > last) return false;
    *pattern = behind;
    *path = rest;
    return true;
}

/* '*' stands for any run of characters other than '.', '[' and ']'. Where what follows a star does not fit,
 * the star takes in one more: only the last star need be tried so, as what stands before it fits as early as
 * it can. */
bool path_matches(const char *pattern, const char *path) {
    const char *star = NULL, *beyond = NULL; /* the last star, and what follows what it has taken in */
    while (*path) {
        if (*pattern == '*') {
            star = pattern++;
            beyond = path;
        } else if (*pattern == '[' && *path == '[' && pass_range(&pattern, &path)) {
            continue;
        } else if (*pattern == *path) {
            pattern++, path++;
        } else if (star && !is_separator(*beyond)) {
            pattern = star + 1;
            path = ++beyond;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == 0;
}
