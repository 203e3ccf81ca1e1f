/* Traces of what a cache was asked for, as files: a header with the cache's geometry, compressed blocks of
 * records, each with a digest, and an end with the number of records. Neither writing nor reading holds more
 * than one block in memory, and blocks may be read in any order. */
#ifndef WW_MEM_ACCESS_TRACE_H
#define WW_MEM_ACCESS_TRACE_H

#include "mem/cache/structures/tag_array.h"

enum { TRACE_BLOCK = 1 << 16 /* records */, TRACE_PATH = 256, TRACE_MASKS = 512 };

/* What happened to the line at the record's address. */
typedef enum {
    TRACE_READ,        /* read: a line is taken on a miss                            */
    TRACE_LOCAL_WRITE, /* write that takes a line, too                               */
    TRACE_TOUCH,       /* write through: counts as a use of a line that is there     */
    TRACE_DROP,        /* whatever evicts its line: a write, an atomic, a bypass     */
    TRACE_FILL,        /* what was fetched has come                                  */
    TRACE_CLEAR,       /* all lines are forgotten                                    */
    TRACE_KINDS
} TraceKind;

typedef struct {
    uint64_t address;  /* of the line, below 2^48                                  */
    uint8_t kind;      /* TraceKind                                                */
    uint8_t result;    /* of reads and writes that take a line: what it was        */
    uint8_t sectors;   /* that it is about                                         */
    uint8_t completed; /* local write: sectors that it writes whole, so that they need not be fetched */
} TraceRecord;

typedef struct {
    char path[TRACE_PATH];   /* of the cache                                       */
    char masks[TRACE_MASKS]; /* its index_masks                                    */
    TagGeometry geometry;    /* of it; index_masks is NULL, see `masks`            */
    uint64_t before;         /* requests that the cache had served before          */
    uint32_t on_fill;        /* it takes lines when they come, not when they miss  */
    uint32_t reserved;       /* 0: no byte of a file is left to chance             */
} TraceHeader;

/* Functions return false with the reason in `why`. */
enum { TRACE_WHY = 512 };

typedef struct TraceWriter TraceWriter;
TraceWriter *trace_create(const char *file, const TraceHeader *header, char *why);
bool trace_add(TraceWriter *writer, TraceRecord record, char *why);
/* Writes what is left, and the end. Frees the writer in any case. */
bool trace_finish(TraceWriter *writer, char *why);

typedef struct TraceReader TraceReader;
/* Finds all blocks and the end: a file that is cut off is refused here. */
TraceReader *trace_open(const char *file, char *why);
const TraceHeader *trace_header(const TraceReader *reader);
uint32_t trace_blocks(const TraceReader *reader);
/* Records in front of a block. */
uint64_t trace_first(const TraceReader *reader, uint32_t block);
/* The number of records of a block, which go into `records`, of TRACE_BLOCK; 0 when it is damaged. */
uint32_t trace_read(TraceReader *reader, uint32_t block, TraceRecord *records, char *why);
void trace_close(TraceReader *reader);

#endif
