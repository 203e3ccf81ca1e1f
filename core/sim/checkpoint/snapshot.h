/* Save, load and hash: one walk over the rows of an object, and over the links. A section per object path
 * with its parameters as text, and a row per field, so that fields can be added later. Values are stored as
 * they lie in memory. */
#ifndef WW_SIM_SNAPSHOT_H
#define WW_SIM_SNAPSHOT_H

#include "core/sim/checkpoint/buffer.h"
#include "core/sim/sim.h"

/* Whether a machine may get the state of one with other parameters, and who is told what became of
 * it. */
typedef struct SnapshotChanges {
    bool allowed;
    bool reset_knobs; /* what policies set keeps its first value: another policy begins */
    void (*note)(void *context, const char *line); /* "sm[0].l1d.latency: 32 became 40" */
    void *context;
} SnapshotChanges;

/* The whole machine at a quantum boundary: time, when each object is due, objects, links. */
void sim_save(const Sim *sim, Buffer *buffer);
/* False, with the reason in `why`, when the bytes are damaged, or of a machine with other objects, wires,
 * clocks or, unless changes are allowed (NULL: no), parameters; the machine is then good for nothing but
 * sim_free(). */
bool sim_load(Sim *sim, Reader *reader, const SnapshotChanges *changes, char *why, size_t why_size);

/* Calls visit() for every object and link of a saved machine, without a machine. False, with the reason, when
 * the bytes are damaged as far as that can be seen so. */
typedef void SnapshotVisitor(void *context, const char *path, const char *class, uint64_t bytes);
bool snapshot_list(Reader *reader, uint64_t *now, SnapshotVisitor *visit, void *context, char *why,
                   size_t why_size);

/* A digest of the rows of an object that a snapshot holds. */
uint64_t object_hash(const SimObject *object);

/* --- For Class.convert ----------------------------------------------------------------------- */

/* A parameter of an object as it was saved, as a number or the index of its choice; -1 when it had none of
 * this name. */
double saved_param(const SavedObject *saved, const char *name);
/* True when none of the parameters of these names (NULL ends them) differs. */
bool saved_same(const SavedObject *saved, const char *const *params);
/* True when all rows but those of these names (NULL ends them) have been copied; else false with the
 * reason. */
bool saved_rows_but(const SavedObject *saved, const char *const *rows, char *why, size_t why_size);
/* The same as text; NULL when it had none. */
const char *saved_text(const SavedObject *saved, const char *name);
/* The bytes of its row, or NULL. */
const uint8_t *saved_row(const SavedObject *saved, const char *name, size_t *count);
/* The same, copied to where they are aligned; the caller frees them. */
void *saved_row_copy(const SavedObject *saved, const char *name, size_t *count);
/* A state array with `wanted` elements instead of `count`, no fewer: the new ones are zero. It takes the
 * place of the old one, if there was one, which is freed. */
void *array_grown(void *array, size_t count, size_t wanted, size_t element_bytes);
/* The same of a ring that numbers its elements modulo its slots, a power of two of them: what is in it keeps
 * its numbers. */
void *ring_grown(void *array, size_t count, size_t wanted, size_t element_bytes);

#endif
