/* What instructions of SASS are to an SM. */
#ifndef WW_SASS_OPCODES_H
#define WW_SASS_OPCODES_H

#include "core/ptx/instructions/inst.h"

#include <stddef.h>

typedef enum {
    SASS_STEP,
    SASS_LOAD,
    SASS_COPY, /* from global to shared memory: a load without a destination */
    SASS_STORE,
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
/* ".STRONG": other SMs see it at once. */
CacheOp sass_cache_op(const char *text);

#endif
