/* Names, scopes and what is declared in them. */
#ifndef WW_PTX_SYMBOLS_H
#define WW_PTX_SYMBOLS_H

#include "core/ptx/front_end/arena.h"

#include <stdbool.h>

/* An interned string: equal names are the same object. */
typedef struct {
    const char *text; /* ends in NUL */
    size_t length;
    uint32_t id, hash;
} Name;

typedef struct Scope {
    struct Scope *parent; /* NULL: the module */
    uint32_t id;
} Scope;

typedef enum {
    SYMBOL_REGISTER,
    SYMBOL_REGISTER_RANGE, /* %r<18>, under the name "%r<"                                  */
    SYMBOL_VARIABLE,       /* .global and .const                                            */
    SYMBOL_SHARED,
    SYMBOL_DYNAMIC_SHARED,
    SYMBOL_LOCAL,
    SYMBOL_PARAM,      /* of an entry                                                   */
    SYMBOL_CALL_PARAM, /* .param variable of a call site, and its name inside the callee */
    SYMBOL_LABEL,
    SYMBOL_BRANCH_TABLE, /* .branchtargets */
    SYMBOL_PROTOTYPE,    /* .callprototype; without a function: .calltargets */
    SYMBOL_FUNCTION,
    SYMBOL_ENTRY,
} SymbolKind;

/* A part of a call parameter that is always accessed as a whole, so that a register can stand for it. */
typedef struct ParamPiece {
    struct ParamPiece *next;
    uint64_t offset;
    uint32_t bytes, reg;
} ParamPiece;

typedef struct Function Function;

typedef struct Symbol {
    const Name *name;
    SymbolKind kind;
    uint32_t line;
    const char *path; /* of the text that declares it */
    uint64_t bytes, align;
    uint64_t stride; /* of a variable: bytes of a[0]                                       */
    uint64_t offset; /* in its space; label: number of the statement that follows;
                      * function, kernel: what stands for its address                      */
    uint32_t index;  /* register; variable of the module                                   */
    uint32_t kernel; /* .shared, .local and .reg of the module: the kernel that `offset` or `index` is valid
                      * in, from 1 */
    uint32_t register_bytes, range_count, ordinal; /* registers and ranges: see VirtualRegister  */
    uint32_t vector;                               /* .reg .v2, .v4: registers side by side; else 0 */
    bool is_predicate;
    bool of_module;            /* register: declared outside of any body                             */
    bool defined;              /* false: only declared .extern so far                                */
    bool is_weak;              /* another text of the program may define it again                    */
    bool is_texture;           /* parameter of an entry: .texref or .surfref, whose value is a handle    */
    bool in_memory;            /* call parameter: pieces overlap or its address is taken             */
    struct Instance *instance; /* .local, call parameter: in the frame of this function, or NULL */
    ParamPiece *pieces;
    Function *function;
    const Name **targets; /* .branchtargets */
    uint32_t target_count, target_capacity;
    const char *text;    /* .shared of a function: where its declaration stands */
    struct Symbol *next; /* .shared of a function: the kernel's list of them    */
} Symbol;

typedef struct {
    uint32_t scope;
    const Name *name; /* NULL: free */
    Symbol *symbol;
} Binding;

typedef struct {
    Arena *arena;
    const Name **names; /* open addressing, powers of two */
    uint32_t name_capacity, name_count;
    Binding *bindings;
    uint32_t binding_capacity, binding_count;
    uint32_t scope_count;
} SymbolTable;

const Name *name_intern(SymbolTable *table, const char *text, size_t length);
/* NULL when nobody has used that name. */
const Name *name_find(const SymbolTable *table, const char *text, size_t length);

Scope *scope_open(SymbolTable *table, Scope *parent);
/* NULL when `scope` itself does not declare it. */
Symbol *symbol_in_scope(const SymbolTable *table, const Scope *scope, const Name *name);
/* The caller has checked that the name is free in that scope. */
void symbol_bind(SymbolTable *table, const Scope *scope, const Name *name, Symbol *symbol);

#endif
