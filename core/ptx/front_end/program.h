/* A kernel between text and decoding: statements over virtual registers, names resolved. */
#ifndef WW_PTX_PROGRAM_H
#define WW_PTX_PROGRAM_H

#include "core/ptx/front_end/lexer.h"
#include "core/ptx/front_end/symbols.h"
#include "core/ptx/instructions/isa.h"

#define NO_REGISTER UINT32_MAX
enum { NO_SPECIAL = 0xff };

typedef struct {
    uint8_t bytes; /* 1, 2, 4, 8; 0 for predicates */
    bool is_predicate;
    uint32_t ordinal; /* counts declarations within the kernel, inlined functions included */
    uint32_t owner;   /* number of the Instance whose body it is of; 0: the entry's; NOBODY: see there */
} VirtualRegister;

/* The owner of registers that are not saved at calls, although they are read behind them. */
#define NOBODY UINT32_MAX

typedef struct {
    uint8_t shape;   /* OperandShape                                              */
    uint8_t literal; /* LiteralKind of an immediate                               */
    uint8_t special; /* SpecialRegister or NO_SPECIAL                             */
    bool negated;    /* !%p                                                       */
    uint32_t reg;    /* register, predicate, base of an address, or NO_REGISTER   */
    Symbol *symbol;  /* symbol, label, base of an address, or NULL                */
    uint64_t value;  /* bits of an immediate; what is added to a symbol or base   */
} Operand;

/* What the last .loc in a body says, and the last one that names the body's own file, that of its first: a header's function
 * that a compiler has inlined names the header. Files count from 1; 0: none yet. */
typedef struct {
    uint32_t file, line, own_file, own_line;
} Location;

typedef struct {
    const char *opcode;
    const char **modifiers;
    Operand *operands;
    uint32_t modifier_count, operand_count;
    uint32_t vector_elements;
    uint32_t bracket_end; /* number of operands up to the ']' of an address, 0 without one */
    uint32_t guard;       /* predicate register or NO_REGISTER */
    bool guard_negated;
    bool is_marker; /* no instruction: a SavePoint */
    uint32_t line;  /* in the PTX */
    Location location;
    const char *text; /* the statement in the source, for messages */
    size_t text_length;
    struct Source *source;   /* the text that it is in                                */
    const Scope *scope;      /* where labels are looked up                            */
    const char *unsupported; /* why no table row can execute it, or NULL              */
    const Name *label;       /* branch: the name to look for once all labels are known */
} BodyStatement;

/* A mark for statistics (intrinsics.c), which stands before a statement. */
typedef struct {
    uint32_t statement;
    uint8_t buffer;
    bool ends;
    bool behind_label; /* a label stands between the statement before and the mark */
} Mark;

/* A function that is called, not inlined: its body is in the kernel once (real_calls.c). */
typedef struct Instance {
    struct Instance *next, *outermost; /* outermost: that which is called from outside of the recursion */
    Function *function;
    Scope *scope;
    Symbol *entry, *exit, *decision; /* labels: begin, what returns jump to, where they part */
    Symbol **returns;                /* labels behind the calls */
    uint32_t return_count, return_capacity;
    uint32_t number;           /* from 1 */
    uint32_t call_number;      /* the register that says to which call it returns */
    Operand *results, *params; /* where its formals are */
    Symbol frame;              /* its offset is the size of the frame, once that is known */
    uint64_t frame_bytes;      /* so far */
    BodyStatement end;         /* the end of its body, for messages */
} Instance;

/* A call by which its caller may come to run again: between these two statements. */
typedef struct {
    uint32_t save, restore;
    Instance *caller;
} SavePoint;

typedef struct KernelBody {
    Arena *arena; /* statements, and all that is found out about them */
    BodyStatement *statements;
    uint32_t statement_count, statement_capacity;
    VirtualRegister *registers;
    uint32_t register_count, register_capacity;
    uint32_t declared_registers; /* used or not: the next ordinal */
    uint32_t number;             /* of the kernel, from 1 */
    uint32_t inlined_calls;
    bool is_too_large;   /* for MAX_STATEMENTS: what is beyond is left out */
    uint32_t last_label; /* the largest statement number that a label stands before */
    bool has_label;
    Mark *marks;
    uint32_t mark_count, mark_capacity;
    uint64_t shared_bytes, local_bytes;
    uint64_t dynamic_shared_align;                  /* 0: no dynamic shared memory */
    Symbol *function_shared;                        /* .shared variables of inlined functions */
    Instance *instances, *last_instance, *instance; /* the last one: whose body is being read, or NULL */
    uint32_t instance_count;
    SavePoint *saves;
    uint32_t save_count, save_capacity;
    bool uses_stack;
    uint32_t stack_pointer; /* register */
    bool allocates;         /* on the stack, by alloca */
    uint32_t stack_top;     /* register, if Parser.has_allocations */
    Symbol stack_base;      /* its offset in local memory, once that is known */
} KernelBody;

#endif
