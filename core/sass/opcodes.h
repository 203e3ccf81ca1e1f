/* What instructions of SASS are to an SM. */
#ifndef WW_SASS_OPCODES_H
#define WW_SASS_OPCODES_H

#include "core/ptx/instructions/inst.h"

#include <stdbool.h>
#include <stddef.h>

typedef enum {
    SASS_STEP,
    SASS_LOAD,
    SASS_ROWS,   /* a load of matrices from shared memory: eight lanes name the rows of each */
    SASS_COPY,   /* from global to shared memory: a load without a destination */
    SASS_COMMIT, /* ends a group of copies */
    SASS_WAIT,   /* until no more groups than its immediate value are not complete */
    SASS_STORE,
    SASS_STORED_ROWS, /* as SASS_ROWS, a store */
    SASS_ATOMIC,
    SASS_BARRIER,
    SASS_FENCE,
    SASS_EXIT,
} SassAction;

typedef struct {
    const char *name; /* without what stands behind the first dot */
    uint8_t action;   /* SassAction                               */
    uint8_t timing;   /* TimingClass                              */
    uint8_t space;    /* Space                                    */
    uint8_t is_wide;  /* registers are pairs                      */
} SassOpcode;

/* By the whole opcode, "LDG.E.64.SYS". NULL: it is not known. */
const SassOpcode *sass_opcode(const char *text, size_t length);
/* Of what is not known. */
const SassOpcode *sass_other(void);

/* ".16816" and the like say how many products a matrix instruction makes. */
TimingClass sass_timing(const SassOpcode *opcode, const char *text);
/* Registers that stand behind each name of a matrix instruction: of its sources, in their order, and of what it writes. 0: its
 * opcode does not say. */
enum { MATRIX_SOURCES = 3 };
typedef struct {
    uint32_t sources[MATRIX_SOURCES], written;
} MatrixRegisters;
MatrixRegisters sass_matrix_registers(const SassOpcode *opcode, const char *text);
/* The opcode has this word behind a dot. */
bool sass_has_modifier(const char *text, const char *word);
/* Rows of matrices in shared memory: its lanes name them. */
static inline bool sass_moves_rows(const SassOpcode *opcode) {
    return opcode->action == SASS_ROWS || opcode->action == SASS_STORED_ROWS;
}
/* Matrices whose rows an instruction moves: as many registers. */
uint32_t sass_row_matrices(const char *text);

/* ".STRONG": other SMs see it at once; ".BYPASS": a copy passes the L1 by. */
CacheOp sass_cache_op(const char *text);

#endif
