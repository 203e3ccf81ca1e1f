/* The file of a checkpoint: named sections of bytes, each compressed, every byte of the file under a digest.
 * What is in the sections is the business of others.
 *
 *   header    48 bytes   magic (8), format version (4), sections (4), bytes of the table (8), bytes of the
 *                        file (8), digest of the table (8), digest of the 40 bytes before it (8)
 *   table     a row for each section: length of its name (4), name, a final 0, raw bytes (8), stored bytes
 *                        (8), digest of the raw bytes (8), digest of the stored bytes (8)
 *   sections  a zstd frame each, in the order of the table, without gaps
 *
 * Reasons for failures go to `why`, without the path of the file. */
#ifndef WW_SIM_CHECKPOINT_FILE_H
#define WW_SIM_CHECKPOINT_FILE_H

#include "core/sim/checkpoint/buffer.h"

typedef struct {
    const char *name; /* of its own */
    Buffer bytes;
} CheckpointSection;

/* Writes PATH.tmp-PID, flushes it, renames it to `path`, and flushes the folder: whatever happens on the way,
 * `path` is either what it was or the new file. False when it cannot be written; then nothing is left behind.
 * Temporaries of `path` whose process lives no more on this computer, being killed while it wrote, are
 * removed: computers that share a folder, and containers, want paths of their own. */
bool checkpoint_file_write(const char *path, const CheckpointSection *sections, uint32_t count, char *why,
                           size_t why_size);

typedef struct CheckpointFile CheckpointFile;

/* Reads header and table. NULL when the file does not exist or is not a checkpoint, one of another format
 * version, truncated or damaged. */
CheckpointFile *checkpoint_file_open(const char *path, char *why, size_t why_size);
/* The same from memory, which must stay until the close. */
CheckpointFile *checkpoint_file_parse(const void *bytes, size_t count, char *why, size_t why_size);

uint32_t checkpoint_file_count(const CheckpointFile *file);
const char *checkpoint_file_name(const CheckpointFile *file, uint32_t index);
uint64_t checkpoint_file_bytes(const CheckpointFile *file, uint32_t index);
uint64_t checkpoint_file_stored_bytes(const CheckpointFile *file, uint32_t index);

/* The contents of a section (the first of that name), which belong to the file. NULL when it is missing or
 * damaged. */
const Buffer *checkpoint_file_section(CheckpointFile *file, const char *name, char *why, size_t why_size);
void checkpoint_file_close(CheckpointFile *file);

#endif
