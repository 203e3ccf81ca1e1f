#include "core/sim/snapshot.h"

#include <stdlib.h>
#include <string.h>

typedef enum {
    FORMAT_VERSION = 1,
    OBJECT_MARK = 0x4a424f57,
    LINK_MARK = 0x4b4e4c57,
    SIM_MARK = 0x4d495357
} Mark;

/* --- Bytes ----------------------------------------------------------------------------------- */

void buffer_append(Buffer *buffer, const void *bytes, size_t count) {
    if (buffer->count + count > buffer->capacity) {
        buffer->capacity = (buffer->count + count) * 2 + 4096;
        buffer->bytes = realloc(buffer->bytes, buffer->capacity);
        ensure(buffer->bytes);
    }
    memcpy(buffer->bytes + buffer->count, bytes, count);
    buffer->count += count;
}

void buffer_free(Buffer *buffer) {
    free(buffer->bytes);
    *buffer = (Buffer){0};
}

uint64_t hash_bytes(uint64_t seed, const void *bytes, size_t count) {
    const uint8_t *at = bytes;
    uint64_t hash = seed ^ (count * 0x9e3779b97f4a7c15ull);
    for (; count >= 8; count -= 8, at += 8) {
        uint64_t word;
        memcpy(&word, at, 8);
        hash = (hash ^ word) * 0xff51afd7ed558ccdull;
        hash ^= hash >> 32;
    }
    for (; count; count--, at++)
        hash = (hash ^ *at) * 0x100000001b3ull;
    return hash ^ (hash >> 29);
}

static void append_u32(Buffer *buffer, uint32_t value) {
    buffer_append(buffer, &value, sizeof value);
}
static void append_u64(Buffer *buffer, uint64_t value) {
    buffer_append(buffer, &value, sizeof value);
}

static void append_text(Buffer *buffer, const char *text) {
    append_u32(buffer, (uint32_t)strlen(text));
    buffer_append(buffer, text, strlen(text));
}

/* Reads from a snapshot that may be damaged: after the first failure everything reads as zero. */
typedef struct {
    const uint8_t *bytes;
    size_t count, position;
    bool failed;
} Reader;

static const uint8_t *take(Reader *reader, size_t count) {
    if (reader->failed || count > reader->count - reader->position) {
        reader->failed = true;
        return NULL;
    }
    reader->position += count;
    return reader->bytes + reader->position - count;
}

static uint32_t take_u32(Reader *reader) {
    uint32_t value = 0;
    const uint8_t *at = take(reader, sizeof value);
    if (at) memcpy(&value, at, sizeof value);
    return value;
}

static uint64_t take_u64(Reader *reader) {
    uint64_t value = 0;
    const uint8_t *at = take(reader, sizeof value);
    if (at) memcpy(&value, at, sizeof value);
    return value;
}

static bool take_text(Reader *reader, char *text, size_t size) {
    uint32_t length = take_u32(reader);
    const uint8_t *at = take(reader, length);
    if (!at || length >= size) return false;
    memcpy(text, at, length);
    text[length] = 0;
    return true;
}

static bool fail(char *why, size_t size, const char *path, const char *what) {
    snprintf(why, size, "%s: %s", path, what);
    return false;
}

/* --- Objects --------------------------------------------------------------------------------- */

static bool is_state(const Field *f) {
    return f->kind == FIELD_STATE || f->kind == FIELD_STATE_ARRAY || f->kind == FIELD_STAT;
}

static const uint8_t *row_bytes(const SimObject *object, const Field *f, size_t *count) {
    const uint8_t *at = (const uint8_t *)object + f->offset;
    *count = f->bytes;
    if (f->kind != FIELD_STATE_ARRAY) return at;
    *count = (size_t)object_count(object, f) * f->element_bytes;
    return *(uint8_t *const *)(const void *)at;
}

void object_save(const SimObject *object, Buffer *buffer) {
    uint32_t rows = 0;
    for (const Field *f = object->class->fields; f->kind != FIELD_END; f++)
        rows += is_state(f);
    append_u32(buffer, OBJECT_MARK);
    append_text(buffer, object->path);
    append_u32(buffer, rows);
    for (const Field *f = object->class->fields; f->kind != FIELD_END; f++) {
        size_t count;
        if (!is_state(f)) continue;
        const uint8_t *bytes = row_bytes(object, f, &count);
        append_text(buffer, f->name);
        append_u64(buffer, count);
        buffer_append(buffer, bytes, count);
    }
}

static const Field *state_row(const SimObject *object, const char *name) {
    for (const Field *f = object->class->fields; f->kind != FIELD_END; f++)
        if (is_state(f) && strcmp(f->name, name) == 0) return f;
    return NULL;
}

/* An array whose size is itself state may be of another size than at present. */
static bool resize_array(SimObject *object, const Field *f, uint64_t count) {
    if (count % f->element_bytes || count / f->element_bytes > UINT32_MAX || count > (1ull << 32))
        return false;
    for (const Field *g = object->class->fields; g->kind != FIELD_END; g++) {
        if (g->kind != FIELD_STATE || g->offset != f->count_offset) continue;
        void **array = (void **)(void *)((char *)object + f->offset);
        free(*array);
        size_t rounded = (count + 255) / 256 * 256;
        *array = aligned_alloc(256, rounded ? rounded : 256);
        ensure(*array);
        *(uint32_t *)(void *)((char *)object + f->count_offset) = (uint32_t)(count / f->element_bytes);
        return true;
    }
    return false;
}

static bool load_row(SimObject *object, Reader *reader, char *why, size_t why_size) {
    char name[128];
    size_t present;
    if (!take_text(reader, name, sizeof name)) return fail(why, why_size, object->path, "truncated");
    uint64_t count = take_u64(reader);
    const Field *f = state_row(object, name);
    const uint8_t *bytes = take(reader, count);
    if (!bytes) return fail(why, why_size, object->path, "truncated");
    if (!f) return fail(why, why_size, object->path, "a row that this version does not know");
    row_bytes(object, f, &present);
    if (present != count && (f->kind != FIELD_STATE_ARRAY || !resize_array(object, f, count)))
        return fail(why, why_size, object->path, "a row of another size");
    memcpy((void *)(uintptr_t)row_bytes(object, f, &present), bytes, count);
    return true;
}

bool object_load(SimObject *object, const uint8_t *bytes, size_t count, size_t *position, char *why,
                 size_t why_size) {
    Reader reader = {.bytes = bytes, .count = count, .position = *position};
    char path[256];
    uint32_t expected = 0, mark = take_u32(&reader);
    for (const Field *f = object->class->fields; f->kind != FIELD_END; f++)
        expected += is_state(f);
    if (mark != OBJECT_MARK || !take_text(&reader, path, sizeof path) || strcmp(path, object->path) != 0)
        return fail(why, why_size, object->path, "its section is missing");
    if (take_u32(&reader) != expected) return fail(why, why_size, object->path, "another number of rows");
    for (uint32_t i = 0; i < expected; i++)
        if (!load_row(object, &reader, why, why_size)) return false;
    *position = reader.position;
    return true;
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

/* Everything but the messages, in one piece. */
typedef struct {
    uint64_t pushed, popped_seen, last_push, popped, pushed_seen, last_pop, popped_before, wait_ticks;
    uint64_t pushes_in_cycle;
} LinkCounters;

void link_save(const Link *link, Buffer *buffer) {
    LinkCounters counters = {link->pushed,        link->popped_seen, link->last_push,
                             link->popped,        link->pushed_seen, link->last_pop,
                             link->popped_before, link->wait_ticks,  link->pushes_in_cycle};
    append_u32(buffer, LINK_MARK);
    append_text(buffer, link->name);
    append_u32(buffer, link->message_bytes);
    buffer_append(buffer, &counters, sizeof counters);
    for (uint64_t i = link->popped; i != link->pushed; i++) {
        append_u64(buffer, link->ready[i & link->slot_mask]);
        buffer_append(buffer, link->slots + (i & link->slot_mask) * link->message_bytes, link->message_bytes);
    }
}

static bool load_messages(Link *link, Reader *reader) {
    for (uint64_t i = link->popped; i != link->pushed; i++) {
        link->ready[i & link->slot_mask] = take_u64(reader);
        const uint8_t *message = take(reader, link->message_bytes);
        if (!message) return false;
        memcpy(link->slots + (i & link->slot_mask) * link->message_bytes, message, link->message_bytes);
    }
    return true;
}

bool link_load(Link *link, const uint8_t *bytes, size_t count, size_t *position, char *why, size_t why_size) {
    Reader reader = {.bytes = bytes, .count = count, .position = *position};
    char name[512];
    LinkCounters c;
    uint32_t mark = take_u32(&reader);
    if (mark != LINK_MARK || !take_text(&reader, name, sizeof name) || strcmp(name, link->name) != 0)
        return fail(why, why_size, link->name, "its section is missing");
    uint32_t message_bytes = take_u32(&reader);
    const uint8_t *raw = take(&reader, sizeof c);
    if (!raw) return fail(why, why_size, link->name, "truncated");
    memcpy(&c, raw, sizeof c);
    if (message_bytes != link->message_bytes || c.pushed - c.popped > link->depth ||
        c.pushed - c.pushed_seen > link->depth)
        return fail(why, why_size, link->name, "messages of another shape, or more than fit");
    link->pushed = c.pushed;
    link->popped_seen = c.popped_seen;
    link->last_push = c.last_push;
    link->popped = c.popped;
    link->pushed_seen = c.pushed_seen;
    link->last_pop = c.last_pop;
    link->popped_before = c.popped_before;
    link->wait_ticks = c.wait_ticks;
    link->pushes_in_cycle = (uint32_t)c.pushes_in_cycle;
    if (!load_messages(link, &reader)) return fail(why, why_size, link->name, "truncated");
    link_update_next_ready(link);
    *position = reader.position;
    return true;
}

/* --- The machine ----------------------------------------------------------------------------- */

void sim_save(const Sim *sim, Buffer *buffer) {
    append_u32(buffer, SIM_MARK);
    append_u32(buffer, FORMAT_VERSION);
    append_u64(buffer, sim->now);
    append_u32(buffer, sim->object_count);
    append_u32(buffer, sim->link_count);
    for (uint32_t i = 0; i < sim->object_count; i++) {
        append_u64(buffer, *sim->objects[i]->due);
        object_save(sim->objects[i], buffer);
    }
    for (uint32_t i = 0; i < sim->link_count; i++)
        link_save(sim->links[i], buffer);
}

bool sim_load(Sim *sim, const uint8_t *bytes, size_t count, char *why, size_t why_size) {
    Reader reader = {.bytes = bytes, .count = count};
    if (take_u32(&reader) != SIM_MARK)
        return fail(why, why_size, sim->name, "this is no snapshot of a machine");
    if (take_u32(&reader) != FORMAT_VERSION)
        return fail(why, why_size, sim->name, "a snapshot of another version");
    uint64_t now = take_u64(&reader);
    if (take_u32(&reader) != sim->object_count || take_u32(&reader) != sim->link_count || reader.failed)
        return fail(why, why_size, sim->name, "a snapshot of a machine with other objects or links");
    for (uint32_t i = 0; i < sim->cluster_count; i++)
        sim->clusters[i].next = NEVER;
    for (uint32_t i = 0; i < sim->object_count; i++) {
        *sim->objects[i]->due = NEVER;
        object_poke(sim->objects[i], take_u64(&reader));
        if (reader.failed) return fail(why, why_size, sim->name, "truncated");
        if (!object_load(sim->objects[i], bytes, count, &reader.position, why, why_size)) return false;
    }
    for (uint32_t i = 0; i < sim->link_count; i++)
        if (!link_load(sim->links[i], bytes, count, &reader.position, why, why_size)) return false;
    sim->now = now;
    return true;
}
