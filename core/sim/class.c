/* Classes: the registry, the proof that every byte has a row, and --describe. */
#include "core/sim/base/units.h"
#include "core/sim/method.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CLASSES = 256, MAX_FIELDS = 512 };

static const Class *classes[MAX_CLASSES];
static uint32_t registered;

static int field_by_offset(const void *a, const void *b) {
    const Field *x = *(const Field *const *)a, *y = *(const Field *const *)b;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

static void check_members(const Class *class) {
    const char *name = class->name;
    if (!name) panic("a class: expected a name, got none");
    if (!isupper((unsigned char)*name)) panic("class '%s': expected a name that begins with a capital", name);
    for (const char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c)) panic("class '%s': expected a name of letters and digits", name);
    const char *missing = !class->doc ? "doc" : !class->fields ? "fields" : !class->tick ? "tick" : NULL;
    if (missing) panic("class %s: expected .%s, got none", name, missing);
    if (class->bytes < sizeof(SimObject))
        panic("class %s: expected .bytes = sizeof its struct, got %zu", name, class->bytes);
}

/* Behind rows without an end there may be anything: of a row that cannot be one, no text is read. */
static uint32_t count_rows(const Class *class) {
    uint32_t count = 0;
    for (const Field *f = class->fields; f->kind != FIELD_END; f++, count++)
        if (count == MAX_FIELDS || f->kind > FIELD_HOST || (f->kind == FIELD_BASE) != (count == 0) ||
            !f->name || f->offset > class->bytes || f->bytes > class->bytes - f->offset)
            panic("class %s: expected BASE, up to %d other rows of its struct and FIELDS_END, got something "
                  "else as row %u",
                  class->name, MAX_FIELDS - 1, count);
    return count;
}

/* Rows that are looked for by name in one place. */
static FieldKind namespace_of(const Field *f) {
    switch (f->kind) {
    case FIELD_PORT_ARRAY: return FIELD_PORT;
    case FIELD_FORMULA: return FIELD_STAT;
    case FIELD_STATE: return f->type == TYPE_NONE ? FIELD_STATE : FIELD_PARAM;
    default: return f->kind;
    }
}

static int row_by_name(const void *a, const void *b) {
    const Field *x = *(const Field *const *)a, *y = *(const Field *const *)b;
    int order = (int)namespace_of(x) - (int)namespace_of(y);
    return order ? order : strcmp(x->name, y->name);
}

/* These are words of paths, of statistics and of files of results; state has the names of its members. */
static void check_letters(const Class *class, const Field *f) {
    static const char *const kinds[] = {
        [FIELD_PARAM] = "parameter", [FIELD_PORT] = "port",      [FIELD_PORT_ARRAY] = "port",
        [FIELD_CHILD] = "child",     [FIELD_STAT] = "statistic", [FIELD_FORMULA] = "statistic",
        [FIELD_HOST] = NULL,
    };
    if (!kinds[f->kind]) return;
    bool is_name = isalpha((unsigned char)*f->name) || *f->name == '_';
    for (const char *c = f->name; *c; c++)
        is_name &= isalnum((unsigned char)*c) || *c == '_';
    if (!is_name)
        panic("class %s: %s '%s': expected a name of letters, digits and _ that begins with no digit",
              class->name, kinds[f->kind], f->name);
}

static void check_names(const Class *class) {
    const Field *rows[MAX_FIELDS];
    uint32_t count = count_rows(class);
    for (uint32_t i = 0; i < count; i++)
        check_letters(class, rows[i] = &class->fields[i]);
    qsort(rows, count, sizeof *rows, row_by_name);
    for (uint32_t i = 1; i < count; i++)
        if (row_by_name(&rows[i - 1], &rows[i]) == 0)
            panic("class %s: expected each name of a row once, got '%s' twice", class->name, rows[i]->name);
}

void class_check_coverage(const Class *class) {
    const Field *rows[MAX_FIELDS];
    size_t count = 0, end = 0;
    for (const Field *f = class->fields; f->kind != FIELD_END; f++) {
        if (f->bytes == 0) continue;
        ensure(count < MAX_FIELDS);
        rows[count++] = f;
    }
    qsort(rows, count, sizeof *rows, field_by_offset);
    for (size_t i = 0; i < count; end = rows[i]->offset + rows[i]->bytes, i++)
        if (rows[i]->offset != end)
            panic("class %s: %s of row '%s': bytes %zu to %zu of the struct", class->name,
                  rows[i]->offset > end ? "no row covers what stands in front"
                                        : "another row covers the beginning",
                  rows[i]->name, end < rows[i]->offset ? end : rows[i]->offset,
                  end < rows[i]->offset ? rows[i]->offset : end);
    if (end != class->bytes)
        panic("class %s: no row covers bytes %zu to %zu at the end of the struct", class->name, end,
              class->bytes);
}

static void check_events(const Class *class) {
    for (int i = 0; class->events && class->events[i].name; i++)
        if (i == MAX_EVENTS) panic("class %s: more than %d events", class->name, MAX_EVENTS);
}

/* Lists of arguments and results have room for their end. */
static void check_methods(const Class *class) {
    for (const Method *method = class->methods; method && method->name; method++)
        if (!method->call || method->arguments[METHOD_ARGUMENTS].kind || method->results[METHOD_RESULTS].kind)
            panic("class %s: method %s: expected a function, up to %d arguments and %d results", class->name,
                  method->name, METHOD_ARGUMENTS, METHOD_RESULTS);
}

void class_register(const Class *class) {
    uint32_t at = 0;
    check_members(class);
    check_names(class);
    class_check_coverage(class);
    check_events(class);
    check_methods(class);
    while (at < registered && strcmp(classes[at]->name, class->name) < 0)
        at++;
    if (at < registered && classes[at] == class) return;
    if (at < registered && strcmp(classes[at]->name, class->name) == 0) {
        if (class->made_at_run_time && classes[at]->made_at_run_time) {
            classes[at] = class;
            return;
        }
        panic("class %s: expected one class of this name, got two", class->name);
    }
    ensure(registered < MAX_CLASSES);
    memmove(classes + at + 1, classes + at, (registered - at) * sizeof *classes);
    classes[at] = class;
    registered++;
}

/* The linker's names of what REGISTER_CLASS() put into this section; NULL in a program without any. */
extern const Class *const __start_ww_classes[] __attribute__((weak));
extern const Class *const __stop_ww_classes[] __attribute__((weak));

void class_register_all(void) {
    for (const Class *const *class = __start_ww_classes; class < __stop_ww_classes; class ++)
        class_register(*class);
}

const Class *class_find(const char *name) {
    for (uint32_t i = 0; i < registered; i++)
        if (strcmp(classes[i]->name, name) == 0) return classes[i];
    return NULL;
}

uint32_t class_count(void) {
    return registered;
}
const Class *class_at(uint32_t index) {
    return classes[index];
}

static void describe_param(const Field *f, FILE *out) {
    fprintf(out, "  %-24s %-10s %-12s %s", f->name, f->unit, f->initial ? f->initial : "(required)", f->doc);
    if (f->choices) fprintf(out, " [%s]", f->choices);
    if (f->min != 0 || f->max != 0)
        fprintf(out, " [%s to %s]", number_text(f->min, (NumberText){0}),
                number_text(f->max, (NumberText){0}));
    if (f->power_of_two) fputs(" [power of two]", out);
    fprintf(out, "%s\n", f->knob ? " [knob]" : "");
}

/* Policies set knobs, and read what has a type. */
static void describe_state(const Field *f, FILE *out) {
    const char *mark = f->type == TYPE_NONE ? "" : f->knob ? " [knob]" : " [readable]";
    fprintf(out, "  %-24s %-12s %s%s\n", f->name, f->unit ? f->unit : "", f->doc, mark);
}

static void describe_rows(const Class *class, FieldKind kind, const char *title, FILE *out) {
    bool first = true;
    for (const Field *f = class->fields; f->kind != FIELD_END; f++) {
        if (f->kind != kind) continue;
        if (first) fprintf(out, "\n%s\n", title);
        first = false;
        switch (kind) {
        case FIELD_PARAM: describe_param(f, out); break;
        case FIELD_PORT:
        case FIELD_PORT_ARRAY:
            fprintf(out, "  %-24s %s %s%s  %s\n", f->name, f->protocol->name,
                    f->role == ROLE_REQUESTER ? "requester" : "responder", f->optional ? ", optional" : "",
                    f->doc);
            break;
        case FIELD_STATE: describe_state(f, out); break;
        case FIELD_CHILD: fprintf(out, "  %-24s %-24s %s\n", f->name, f->child_class, f->doc); break;
        default: fprintf(out, "  %-24s %-12s %s\n", f->name, f->unit ? f->unit : "", f->doc); break;
        }
    }
}

static void describe_events(const Class *class, bool questions, const char *title, FILE *out) {
    bool first = true;
    for (const Event *event = class->events; event && event->name; event++) {
        if ((event->question != NULL) != questions) continue;
        if (first) fprintf(out, "\n%s\n", title);
        first = false;
        int used = fprintf(out, "  %s(%s)", event->name, event->arguments);
        fprintf(out, "%*s%s\n", used < 38 ? 40 - used : 2, "", event->doc);
    }
}

/* "warp, pc": returns how many characters. */
static int describe_names(const MethodParameter *parameter, FILE *out) {
    int used = 0;
    for (const char *comma = ""; parameter->kind; parameter++, comma = ", ")
        used += fprintf(out, "%s%s", comma, parameter->name);
    return used;
}

/* What is legal for an argument. */
static void describe_argument(const MethodParameter *argument, FILE *out) {
    fprintf(out, "%s: ", argument->name);
    if (argument->kind == VALUE_SET)
        fprintf(out, "a set of %s", argument->unit);
    else if (argument->kind == VALUE_FLAG)
        fputs("true or false", out);
    else if (argument->kind == VALUE_OBJECT)
        fputs(argument->class->name, out);
    else if (argument->kind == VALUE_TEXT)
        fputs("a text", out);
    else if (argument->below)
        fprintf(out, "0 to %s - 1", argument->below);
    else if (argument->min == 0 && argument->max == 0)
        fputs("a whole number", out);
    else
        fprintf(out, "%ld to %ld", argument->min, argument->max);
}

static void describe_method(const Method *method, FILE *out) {
    int used = fprintf(out, "  %s(", method->name) + describe_names(method->arguments, out);
    used += fprintf(out, ")%s", method->results[0].kind ? " -> " : "") + describe_names(method->results, out);
    if (method->may_be_nil) used += fprintf(out, " or nil");
    fprintf(out, "%*s%s", used < 38 ? 40 - used : 2, "", method->doc);
    for (const MethodParameter *argument = method->arguments; argument->kind; argument++) {
        fputs(argument == method->arguments ? " [" : "; ", out);
        describe_argument(argument, out);
    }
    fputs(method->arguments[0].kind ? "]\n" : "\n", out);
}

static void describe_methods(const Class *class, FILE *out) {
    if (class->methods) fputs("\nMethods: policies call them as object:method(arguments)\n", out);
    for (const Method *method = class->methods; method && method->name; method++)
        describe_method(method, out);
}

void class_describe(const Class *class, FILE *out) {
    fprintf(out, "%s: %s\n", class->name, class->doc);
    describe_rows(class, FIELD_PARAM, "Parameters (name, unit, default)", out);
    describe_rows(class, FIELD_PORT, "Ports", out);
    describe_rows(class, FIELD_PORT_ARRAY, "Arrays of ports", out);
    describe_rows(class, FIELD_CHILD, "Children", out);
    describe_rows(class, FIELD_STAT, "Statistics", out);
    describe_rows(class, FIELD_FORMULA, "Derived statistics", out);
    describe_events(class, false, "Events: policies handle them at the end of the cycle", out);
    describe_events(class, true, "Questions: policies may answer them at once", out);
    describe_methods(class, out);
    describe_rows(class, FIELD_STATE, "State", out);
    describe_rows(class, FIELD_STATE_ARRAY, "State arrays", out);
}
