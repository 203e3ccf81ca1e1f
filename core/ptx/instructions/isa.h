/* The table of supported instructions: the rest of the ISA is a matter of adding rows to isa.c and handlers
 * to the exec_*.c files. The parser turns text into a Statement, asks isa_select() which handler executes it,
 * and then allocates registers. */
#ifndef WW_PTX_ISA_H
#define WW_PTX_ISA_H

#include "core/ptx/instructions/inst.h"

#include <stddef.h>

enum { MAX_MODIFIERS = 12, MAX_OPERANDS = 32 };

typedef enum {
    OPERAND_REGISTER,
    OPERAND_PREDICATE,
    OPERAND_IMMEDIATE,
    OPERAND_ADDRESS,
    OPERAND_SYMBOL,
    OPERAND_SPECIAL,
    OPERAND_SINK
} OperandShape;

/* How the text's operands map to the fields of Inst. The parser has flattened vectors {a, b, c, d}. */
typedef struct {
    const char *opcode;                   /* "ld"                                        */
    const char *modifiers[MAX_MODIFIERS]; /* "global", "nc", "v4", "f32", in text order  */
    int modifier_count;
    int operand_count;                    /* after flattening vectors; `d|p` counts as two */
    uint8_t shapes[MAX_OPERANDS];         /* OperandShape of each                        */
    uint8_t register_bytes[MAX_OPERANDS]; /* declared width of a register operand: 1,2,4,8; 0 otherwise; of an
                                           * address, that of its base register, 0 for an immediate or symbol
                                           * base */
    uint64_t value[MAX_OPERANDS];         /* of an OPERAND_IMMEDIATE                     */
    uint8_t special;                      /* the SpecialRegister of an OPERAND_SPECIAL source */
    int vector_elements;                  /* 1, 2 or 4: elements of the ld/st vector     */
    int trailing;                         /* operands behind the brackets of an address  */
} Statement;

/* What the parser does with operand k. */
typedef enum {
    ROLE_DST,            /* next register destination                                */
    ROLE_SRC,            /* next register source (immediates go to the constant bank) */
    ROLE_PDST,           /* first, then second predicate destination                 */
    ROLE_PSRC,           /* next entry of src[], as a predicate index                */
    ROLE_ADDRESS,        /* src[0] and displacement                                  */
    ROLE_HANDLE,         /* next source, of 64 bits: a texture or surface in brackets */
    ROLE_SHARED_ADDRESS, /* two sources: the base, and the displacement as a constant, both of 32 or 64 bits */
    ROLE_TARGET,         /* branch label                                             */
    ROLE_IGNORE,
} OperandRole;

typedef struct {
    uint8_t roles[MAX_OPERANDS];     /* OperandRole of each operand of the statement          */
    uint8_t src_bytes[MAX_OPERANDS]; /* 4 or 8: lane width that the handler reads, for immediates */
    bool src_is_float[MAX_OPERANDS]; /* integer immediates given to a float operand are converted */
} OperandPlan;

/* Fills exec, kind, timing, space, cache_op, element_bytes, elements, detail of *inst and the
 * plan. Returns false with the reason in `why` ("opcode 'foo' is not supported", "'add.f16x2': type ... ",
 * never longer than why_size) when there is no such row. */
bool isa_select(const Statement *statement, Inst *inst, OperandPlan *plan, char *why, size_t why_size);

/* Is there a row that executes a call of this function, which has no body? */
bool isa_has_intrinsic(const char *name);

/* All rows as text, one per line, for documentation and coverage reports. */
void isa_print_rows(void (*print)(void *context, const char *row), void *context);

#endif
