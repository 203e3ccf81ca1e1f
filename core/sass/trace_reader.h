/* From the text of a trace to records, whose instructions are numbered as they first occur. */
#ifndef WW_SASS_TRACE_READER_H
#define WW_SASS_TRACE_READER_H

#include "core/ptx/front_end/arena.h"
#include "core/sass/opcodes.h"
#include "core/sass/trace_state.h"
#include "core/sass/trace_text.h"

enum { MAX_REGISTERS_NAMED = 8, NO_REGISTER = 255 };

/* An instruction of the code, as its first occurrence has it. */
typedef struct {
    uint64_t pc;
    const SassOpcode *opcode;
    const char *text; /* the whole opcode */
    uint8_t destinations[MAX_REGISTERS_NAMED], sources[MAX_REGISTERS_NAMED];
    uint8_t destination_count, source_count;
    uint8_t bytes;      /* an access's, per lane                     */
    uint8_t groups;     /* that a wait for copies spares             */
    bool ends, goes_on; /* an exit: of a warp; of some of its lanes  */
    uint32_t layer;     /* other lines of this pc, which occurred earlier: of functions that are called */
} CodeLine;

/* Of SassRecord.inst while it is a number of code lines: the warp's last record. */
#define LAST_OF_WARP 0x80000000u

typedef struct {
    TraceText text;
    Arena *arena;
    SassTrace *trace;
    char *name;
    CodeLine *code;
    uint32_t code_count, code_capacity;
    uint32_t *index; /* by hash of pc: number + 1 */
    uint32_t index_capacity;
    uint32_t warp_lanes;   /* of the warp at hand: those that have threads */
    bool has_line_numbers; /* in front of each instruction */
    bool has_rest;         /* behind the addresses: an immediate value */
    bool to_shared;        /* the copy at hand has its address in shared memory */
    bool may_pair; /* the warp's last record is a copy, which may have its other address in the next one */
} TraceReader;

/* Reads all of the text. */
void sass_read(TraceReader *reader);

#endif
