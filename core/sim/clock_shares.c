#include "core/sim/clock_shares.h"

#include <stdlib.h>
#include <string.h>

void clock_shares_visit(const Sim *sim, const Clock *clock,
                        void (*visit)(void *context, const SimObject *object, const Field *stat,
                                      uint64_t value),
                        void *context) {
    for (uint32_t i = 0; i < sim->object_count; i++) {
        const SimObject *object = sim->objects[i];
        if (object->clock != clock) continue;
        for (const Field *f = object->class->fields; f->kind != FIELD_END; f++)
            if (f->kind == FIELD_STAT)
                visit(context, object, f, *(const uint64_t *)((const char *)object + f->offset));
    }
}

static void count_one(void *context, const SimObject *object, const Field *stat, uint64_t value) {
    (void)object, (void)stat, (void)value;
    ++*(uint32_t *)context;
}

static uint64_t *new_counters(uint32_t count) {
    uint64_t *counters = calloc(count + (size_t)1, sizeof *counters);
    ensure_memory(counters);
    return counters;
}

static ClockShare *add_share(Clock *clock, uint64_t frequency) {
    clock->shares = realloc(clock->shares, (clock->share_count + (size_t)1) * sizeof *clock->shares);
    ensure_memory(clock->shares);
    ClockShare *share = &clock->shares[clock->share_count++];
    *share = (ClockShare){.frequency = frequency, .counters = new_counters(clock->counter_count)};
    return share;
}

static ClockShare *share_of(Clock *clock, uint64_t frequency) {
    for (uint32_t i = 0; i < clock->share_count; i++)
        if (clock->shares[i].frequency == frequency) return &clock->shares[i];
    return add_share(clock, frequency);
}

typedef struct {
    uint64_t *to, *before;
} Taking;

static void take_one(void *context, const SimObject *object, const Field *stat, uint64_t value) {
    Taking *taking = context;
    (void)object, (void)stat;
    *taking->to++ += value - *taking->before;
    *taking->before++ = value;
}

void clock_shares_take(Sim *sim, Clock *clock, uint64_t time) {
    for (uint32_t i = 0; i < sim->object_count; i++) {
        SimObject *object = sim->objects[i];
        if (object->clock == clock && object->class->settle) object->class->settle(object, sim->now);
    }
    if (!clock->counted) {
        clock_shares_visit(sim, clock, count_one, &clock->counter_count);
        clock->counted = new_counters(clock->counter_count);
    }
    ClockShare *share = share_of(clock, clock->frequency);
    share->picoseconds += time - clock->counted_time;
    clock->counted_time = time;
    clock_shares_visit(sim, clock, take_one, &(Taking){share->counters, clock->counted});
}

void clock_shares_free(Clock *clock) {
    for (uint32_t i = 0; i < clock->share_count; i++)
        free(clock->shares[i].counters);
    free(clock->shares);
    free(clock->counted);
    clock->shares = NULL;
    clock->counted = NULL;
    clock->share_count = clock->counter_count = 0;
    clock->counted_time = 0;
}

static size_t bytes_of(uint32_t counters) {
    return counters * sizeof(uint64_t);
}

void clock_shares_save(const Clock *clock, Buffer *buffer) {
    buffer_u32(buffer, clock->share_count);
    buffer_u32(buffer, clock->counter_count);
    if (!clock->share_count) return;
    buffer_u64(buffer, clock->counted_time);
    buffer_append(buffer, clock->counted, bytes_of(clock->counter_count));
    for (uint32_t i = 0; i < clock->share_count; i++) {
        buffer_u64(buffer, clock->shares[i].frequency);
        buffer_u64(buffer, clock->shares[i].picoseconds);
        buffer_append(buffer, clock->shares[i].counters, bytes_of(clock->counter_count));
    }
}

static bool read_counters(Reader *reader, uint64_t *counters, uint32_t count) {
    const uint8_t *bytes = reader_bytes(reader, bytes_of(count));
    if (bytes) memcpy(counters, bytes, bytes_of(count));
    return bytes != NULL;
}

bool clock_shares_load(const Sim *sim, Clock *clock, Reader *reader) {
    uint32_t shares = reader_u32(reader), counters = reader_u32(reader), present = 0;
    clock_shares_free(clock);
    if (!shares) return !reader->failed && !counters;
    clock_shares_visit(sim, clock, count_one, &present);
    if (counters != present) return false;
    clock->counter_count = counters;
    clock->counted = new_counters(counters);
    clock->counted_time = reader_u64(reader);
    bool good = read_counters(reader, clock->counted, counters);
    for (uint32_t i = 0; i < shares && good; i++) {
        ClockShare *share = add_share(clock, reader_u64(reader));
        share->picoseconds = reader_u64(reader);
        good = read_counters(reader, share->counters, counters);
    }
    return good;
}

void clock_shares_skip(Reader *reader) {
    uint32_t shares = reader_u32(reader), counters = reader_u32(reader);
    if (!shares) return;
    reader_u64(reader);
    reader_bytes(reader, bytes_of(counters));
    for (uint32_t i = 0; i < shares && !reader->failed; i++) {
        reader_u64(reader);
        reader_u64(reader);
        reader_bytes(reader, bytes_of(counters));
    }
}
