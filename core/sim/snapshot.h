/* Save, load and hash: one walk over the rows of an object, and over the links. A section per object path, a
 * row per field, so that fields can be added later. Values are stored as they lie in memory (little-endian
 * hosts). */
#ifndef WW_SIM_SNAPSHOT_H
#define WW_SIM_SNAPSHOT_H

#include "core/sim/sim.h"

/* A growing byte buffer; all zero is empty. */
typedef struct {
    uint8_t *bytes;
    size_t count, capacity;
} Buffer;

void buffer_append(Buffer *buffer, const void *bytes, size_t count);
void buffer_free(Buffer *buffer);

/* Appends the STATE, STATE_ARRAY and STAT rows of an object. */
void object_save(const SimObject *object, Buffer *buffer);
/* Reads what object_save() wrote at bytes[*position], and moves the position behind it. Arrays get the size
 * that they were saved with. False, with the reason in `why`, when the bytes are no such section, or rows are
 * missing or of another size; the object may then be half loaded. */
bool object_load(SimObject *object, const uint8_t *bytes, size_t count, size_t *position, char *why,
                 size_t why_size);
/* A digest of the same rows. */
uint64_t object_hash(const SimObject *object);

/* The same for the messages and counters of a link. */
void link_save(const Link *link, Buffer *buffer);
bool link_load(Link *link, const uint8_t *bytes, size_t count, size_t *position, char *why, size_t why_size);

/* The whole machine at a quantum boundary: time, when each object is due, objects, links. */
void sim_save(const Sim *sim, Buffer *buffer);
bool sim_load(Sim *sim, const uint8_t *bytes, size_t count, char *why, size_t why_size);

/* 64-bit digest of bytes, to be chained. */
uint64_t hash_bytes(uint64_t seed, const void *bytes, size_t count);

#endif
