/* The parts of a snapshot: what snapshot.c, of whole machines, puts together. */
#ifndef WW_SIM_SNAPSHOT_PARTS_H
#define WW_SIM_SNAPSHOT_PARTS_H

#include "core/sim/checkpoint/snapshot.h"

enum {
    OBJECT_MARK = 0x4a424f57,
    LINK_MARK = 0x4b4e4c57,
    MAX_ROWS = 256,   /* of an object */
    NAME_BYTES = 128, /* of rows, classes, clocks */
    PATH_BYTES = OBJECT_PATH_MAX + 1,
    TEXT_BYTES = PARAM_TEXT_MAX + 1,
    LATEST_SHIFT = 60,                                      /* ticks: later than any run gets */
    LINK_BYTES = 2 * (OBJECT_PATH_MAX + PORT_NAME_MAX) + 8, /* "path.port -> path.port" */
};

/* --- snapshot.c */
/* "path: what" as the reason; false. */
bool snapshot_fail(char *why, size_t size, const char *path, const char *what);
/* A line for those whom changes are reported to. */
void snapshot_note(const SnapshotChanges *changes, const char *format, ...) PRINTF_LIKE(2, 3);
/* True when the work does not panic. */
bool snapshot_passes(void (*work)(void *context), void *context, char *why, size_t why_size);
/* A text that will be read back into so many bytes. */
void snapshot_text(const char *text, size_t bytes, Buffer *buffer);

/* --- snapshot_object.c */
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

/* What a snapshot has of an object: a section of its own. */
typedef struct {
    char path[PATH_BYTES], class[NAME_BYTES];
    Reader body;
    bool taken; /* there is no section, or its object has it */
} Section;

void save_object(const SimObject *object, Buffer *buffer);
bool next_section(Section *section, Reader *reader);
/* Everything of a section, in place. */
bool read_object(SavedObject *saved, Reader *section);
/* Puts the section into the object; `saved` is room for it. */
bool load_object(SimObject *object, Section *section, const SnapshotChanges *changes, SavedObject *saved,
                 char *why, size_t why_size);

/* --- snapshot_link.c */
/* Everything but the messages, in one piece. At a boundary both ends know of all pushes and pops. */
typedef struct {
    uint64_t pushed, popped, last_push, pushes_in_cycle, last_pop, popped_before;
    uint64_t latency; /* cycles of the sender */
    uint32_t depth, width;
} SavedLink;

void save_link(const Link *link, Buffer *buffer);
/* Its name, in LINK_BYTES, and all but the messages. */
bool read_link(Reader *reader, char *name, uint32_t *message_bytes, SavedLink *saved);
bool load_link(Link *link, Reader *reader, const SnapshotChanges *changes, char *why, size_t why_size);

#endif
