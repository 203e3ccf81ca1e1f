/* A machine as Lua text in which every parameter and every wire is explicit. Running that text builds the
 * same machine. */
#include "core/lua/bindings.h"
#include "core/lua/component/lua_class.h"
#include "core/lua/machine/objects.h"
#include "core/sim/base/units.h"
#include "core/sim/checkpoint/buffer.h"

#include <ctype.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Short pieces: numbers and what stands around them. */
__attribute__((format(printf, 2, 3))) static void put_formatted(Buffer *text, const char *format, ...) {
    char piece[256];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(piece, sizeof piece, format, arguments);
    va_end(arguments);
    ensure(length >= 0 && (size_t)length < sizeof piece);
    buffer_append(text, piece, (size_t)length);
}

/* As string.format("%q") does it. */
static void put_quoted(Buffer *text, const char *value) {
    buffer_put(text, "\"");
    for (const char *at = value; *at; at++) {
        if (*at == '"' || *at == '\\' || *at == '\n')
            put_formatted(text, "\\%c", *at);
        else if (iscntrl((unsigned char)*at))
            put_formatted(text, isdigit((unsigned char)at[1]) ? "\\%03d" : "\\%d", *at);
        else
            buffer_append(text, at, 1);
    }
    buffer_put(text, "\"");
}

static void put_value(Buffer *text, const SimObject *object, const Field *f) {
    const void *at = (const char *)object + f->offset;
    if (f->flag) {
        buffer_put(text, *(const uint32_t *)at ? "true" : "false");
    } else if (f->choices || f->type == TYPE_STRING) {
        char *value = object_get_text(object, f);
        put_quoted(text, value);
        free(value);
    } else if (f->type == TYPE_DOUBLE) {
        put_formatted(text, "%.17g", *(const double *)at);
    } else {
        NumberText number;
        integer_text(f->type == TYPE_U32 ? *(const uint32_t *)at : *(const int64_t *)at, number);
        buffer_put(text, number);
    }
}

/* "    name = " */
static void put_key(Buffer *text, uint32_t indent, const char *name) {
    buffer_put_spaces(text, indent);
    buffer_put(text, name);
    buffer_put(text, " = ");
}

static const SimObject *child_of(const SimObject *parent, const Field *f) {
    for (uint32_t i = parent->id + 1; i < parent->sim->object_count; i++) {
        const SimObject *object = parent->sim->objects[i];
        if (object->parent == parent && strcmp(object->path + strlen(parent->path) + 1, f->name) == 0)
            return object;
    }
    panic("%s: its %s is missing", parent->path, f->name);
}

static void put_params(Buffer *text, const SimObject *object, bool is_child, uint32_t indent) {
    size_t start = text->count;
    buffer_put(text, "{\n");
    if (!is_child) {
        put_key(text, indent + 2, "clock");
        put_quoted(text, object->clock->name);
        buffer_put(text, ",\n");
    }
    for (const Field *f = object->class->fields; f->kind != FIELD_END; f++) {
        if (f->kind != FIELD_PARAM) continue;
        put_key(text, indent + 2, f->name);
        put_value(text, object, f);
        buffer_put(text, ",\n");
    }
    for (const Field *f = object->class->fields; f->kind != FIELD_END; f++) {
        if (f->kind != FIELD_CHILD) continue;
        put_key(text, indent + 2, f->name);
        put_params(text, child_of(object, f), true, indent + 2);
        buffer_put(text, ",\n");
    }
    if (text->count == start + strlen("{\n")) {
        text->count = start;
        buffer_put(text, "{}");
    } else {
        buffer_put_spaces(text, indent);
        buffer_put(text, "}");
    }
}

static void put_clocks(Buffer *text, const Sim *sim) {
    buffer_put(text, "  m:clocks { ");
    for (uint32_t i = 0; i < sim->clock_count; i++) {
        const Clock *clock = &sim->clocks[i];
        buffer_put(text, i ? ", " : "");
        buffer_put(text, clock->name);
        put_formatted(text, " = ");
        if (clock->slowest != clock->fastest)
            put_formatted(text, "\"%luHz, %luHz to %luHz\"", clock->hertz, clock->slowest, clock->fastest);
        else if (clock->hertz % 1000000 == 0)
            put_formatted(text, "\"%luMHz\"", clock->hertz / 1000000);
        else
            put_formatted(text, "%lu", clock->hertz);
    }
    put_formatted(text, " }\n  m:quantum(%u)\n\n", sim->quantum_cycles);
}

static void put_link(Buffer *text, const Sim *sim, const Link *link) {
    put_formatted(text, "latency = %lu, depth = %u, width = %u", link_latency_cycles(sim, link), link->depth,
                  link->width);
}

static void put_wire(Buffer *text, const Sim *sim, const Link *forward, const Link *back) {
    size_t from = link_name_from(forward);
    buffer_put(text, "  m:wire(\"");
    buffer_append(text, forward->name, from);
    buffer_put(text, "\", \"");
    buffer_put(text, link_name_to(forward));
    buffer_put(text, "\", { ");
    put_link(text, sim, forward);
    if (back) {
        buffer_put(text, ", back = { ");
        put_link(text, sim, back);
        buffer_put(text, " }");
    }
    buffer_put(text, " })\n");
}

/* Each file that declares classes, once. */
static void put_class_files(Buffer *text, const Sim *sim) {
    for (uint32_t i = 0; i < sim->object_count; i++) {
        const LuaClass *class = lua_class_of(sim->objects[i]);
        bool is_new = class != NULL;
        for (uint32_t k = 0; k < i && is_new; k++) {
            const LuaClass *other = lua_class_of(sim->objects[k]);
            is_new = !other || strcmp(other->path, class->path) != 0;
        }
        if (!is_new) continue;
        char absolute[PATH_MAX]; /* the text is run from other folders, too */
        buffer_put(text, "  m:use ");
        put_quoted(text, realpath(class->path, absolute) ? absolute : class->path);
        buffer_put(text, "\n");
    }
}

void config_text(const Sim *sim, Buffer *text) {
    buffer_put(text, "local ww = require \"warpwright\"\n\nreturn ww.machine(");
    put_quoted(text, sim->name);
    buffer_put(text, ", function(m)\n");
    put_clocks(text, sim);
    put_class_files(text, sim);
    for (uint32_t i = 0; i < sim->object_count; i++) {
        const SimObject *object = sim->objects[i];
        if (made_with_parent(object)) continue;
        buffer_put(text, "  m:");
        buffer_put(text, object->class->name);
        buffer_put(text, " ");
        put_quoted(text, object->path);
        buffer_put(text, " ");
        put_params(text, object, false, 2);
        buffer_put(text, "\n");
    }
    buffer_put(text, "\n");
    for (uint32_t i = 0; i < sim->link_count; i++) {
        const Link *back = link_back(sim, i);
        put_wire(text, sim, sim->links[i], back);
        if (back) i++;
    }
    buffer_put(text, "end)\n");
}
