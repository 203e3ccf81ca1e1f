/* State and helpers shared by the parts of the parser: parser.c (module level), variables.c (declarations),
 * initialisers.c, statements.c (bodies), operands.c and calls.c (device functions, inlined). */
#ifndef WW_PTX_PARSER_H
#define WW_PTX_PARSER_H

#include "core/ptx/front_end/program.h"
#include "core/ptx/module.h"
#include "core/sim/base/error.h"

enum { MAX_DIMENSIONS = 8 };

/* An address of a variable inside a constant bank or an initialiser. */
typedef struct {
    uint32_t target; /* variable                                                                 */
    bool in_constants;
    uint32_t holder; /* kernel or variable that holds it                                         */
    uint64_t offset; /* byte offset in the constant bank or in the initialiser                   */
    uint32_t bytes;
    int64_t addend;
    uint64_t mask; /* initialisers 0xFF00(x): these bits of the address, shifted to the right  */
} Fixup;

typedef struct ModuleFixups {
    Arena storage; /* everything the module owns */
    Fixup *list;
    uint32_t count, capacity;
} ModuleFixups;

/* The type and shape of a declared variable. */
typedef struct {
    uint64_t element_bytes, align, bytes;
    uint64_t dimensions[MAX_DIMENSIONS];
    uint32_t dimension_count, vector;        /* .v2, .v4: also the innermost dimension */
    bool is_predicate, is_float, is_integer; /* neither: .b32 and the like */
    bool is_half, is_brain;                  /* f16, bf16, which are not is_float */
    bool is_texture;                         /* .texref or .surfref */
    bool is_sampler;
    bool unsized; /* x[] */
} VariableType;

/* One of the texts that are linked into a module. */
typedef struct Source {
    const char *path;
    uint32_t number;  /* among those that are linked                                  */
    const char *kept; /* its text, which lives as long as the module */
    size_t length;
    Lexer lexer;
    Scope *scope;    /* what is declared in it alone                                   */
    uint32_t *files; /* its .file numbers: number among those of all texts, 0: none yet */
    uint32_t file_capacity;
    uint32_t address_bytes; /* 4 or 8 */
    uint32_t target;        /* 75 of sm_75; 0 before .target */
} Source;

/* Who sees a name: its own text, or all that are linked with it. */
typedef enum { LINK_STATIC, LINK_VISIBLE, LINK_WEAK, LINK_COMMON, LINK_EXTERN } Linkage;

typedef struct {
    const Name *name;
    VariableType type;
    bool is_register;
    uint32_t line;
} Formal;

typedef struct {
    Formal *list;
    uint32_t count, capacity;
} FormalList;

struct Function {
    const Name *name;
    FormalList results, params;
    Source *source;
    Lexer body; /* behind its '{' */
    bool has_body;
    bool address_taken;
    bool recursive;            /* it may come to call itself                      */
    bool framed;               /* it, or what calls it, does: see real_calls.c    */
    uint32_t component;        /* functions that call each other have the same */
    struct Instance *instance; /* in the kernel `instance_kernel` */
    uint32_t instance_kernel;
    Symbol **candidates; /* it has no text but chooses between these: see indirect.c */
    uint32_t candidate_count;
    Function *next; /* that chooses between others */
};

typedef struct {
    const Name *name;
    FormalList params;
    uint32_t max_threads, line;
    uint32_t required[3]; /* .reqntid; 0: not given */
    Token cluster;        /* the directive that makes clusters of its CTAs, or none */
    Source *source;
    Lexer body;
    Scope *scope;
} Entry;

typedef struct {
    const Source *source;
    const char *text; /* the statement */
    size_t length;
    uint32_t line;
    Location location;
    const char *reason;
} Unsupported;

typedef struct {
    const Name *name;
    Source *source;
    uint32_t line;
    Fixup fixup;
} PendingAddress;

/* .alias NAME, TARGET; */
typedef struct {
    const Name *name, *target;
    Source *source;
    uint32_t line;
} Alias;

typedef struct {
    Source *source; /* the text that is being read */
    char *owned_text;
    bool has_allocations; /* alloca stands in one of the texts */
    bool keeps_refused;   /* a module of none but refused kernels is no error */
    Lexer lexer;
    Token token; /* the one to be looked at next; the lexer stands behind it */
    Arena scratch, kernel_scratch;
    SymbolTable symbols;
    Scope *program_scope; /* what the texts share; the scope of each lies within it */
    Module *module;
    Entry *entries;
    uint32_t entry_count, entry_capacity, variable_capacity;
    Symbol **functions; /* in the order in which they are declared */
    uint32_t function_count, function_capacity;
    uint32_t declared_entries;
    bool addresses_found;    /* Function.address_taken is final */
    bool call_graph_found;   /* Function.recursive and its kin are */
    Function indirect_calls; /* stands for all in the graph of calls */
    Function *choosing;      /* list of the functions that choose between candidates */
    Unsupported *unsupported;
    uint32_t unsupported_count, unsupported_capacity;
    PendingAddress *pending;
    uint32_t pending_count, pending_capacity;
    Alias *aliases;
    uint32_t alias_count, alias_capacity;
    Symbol *body_variables; /* .global and .const that bodies declare */
    KernelBody *kernel;     /* the one whose body is being read */
    Scope *scope;
    Function *function; /* the device function that is being inlined, NULL in the entry's own text */
    Symbol *return_label;
    uint32_t inline_depth;
    Location location;
    const char **files; /* of all texts; NULL: it has no name */
    uint32_t file_count, file_capacity;
} Parser;

/* .file NUMBER "NAME" ..., anywhere; .loc FILE LINE COLUMN ... in a body. What is not one is passed over: both are
 * for debuggers. */
void parse_file(Parser *parser);
void parse_location(Parser *parser);
/* Once all .file are known. */
void name_source_files(Parser *parser);

/* Releases all memory, then raises the user error "PATH:LINE: ...". */
_Noreturn void parser_fail(Parser *parser, uint32_t line, const char *format, ...) PRINTF_LIKE(3, 4);
/* The same with "expected WHAT, got TOKEN", the token at hand. */
_Noreturn void parser_expected(Parser *parser, const char *format, ...) PRINTF_LIKE(2, 3);
void parser_release_scratch(Parser *parser);
void unsupported_add(Parser *parser, const BodyStatement *statement, const char *reason);
/* Lists those from the number `first` on, of which there is at least one. Valid until the next call. */
const char *unsupported_list(Parser *parser, uint32_t first);
/* Raises the user error that lists them all. */
_Noreturn void unsupported_fail(Parser *parser);

/* Tokens. */
void advance(Parser *parser);
Token peek(const Parser *parser);
bool at(const Parser *parser, char punctuation);
bool at_dotted(const Parser *parser, const char *text);
bool accept(Parser *parser, char punctuation);
void expect(Parser *parser, char punctuation, const char *where);
const Name *expect_name(Parser *parser, const char *what);
uint64_t expect_integer(Parser *parser, const char *what, uint64_t largest);
Literal expect_literal(Parser *parser, const char *what);
void skip_through(Parser *parser, char punctuation);
/* The current token is an opening parenthesis; stops behind the one that closes it. */
void skip_parentheses(Parser *parser);
/* "'text'" of the current token for messages, shortened; valid until the next call. */
const char *token_words(Token token);

/* Symbols. */
Symbol *symbol_declare(Parser *parser, Scope *scope, const Name *name, SymbolKind kind, uint32_t line);
_Noreturn void symbol_declared_twice(Parser *parser, uint32_t line, const Symbol *other);
/* Where a declaration at the level of the module belongs, and what it has declared there so far, or NULL. */
Scope *linkage_scope(const Parser *parser, Linkage linkage);
Symbol *linked_symbol(const Parser *parser, const Name *name, Linkage linkage);
/* What the name means outside of bodies, in the text `source`. */
Symbol *module_symbol(const Parser *parser, const Source *source, const Name *name);
Symbol *symbol_lookup(Parser *parser, const Scope *scope, const char *text, size_t length);

/* parser.c */
/* The texts, up to their bodies. */
void parse_source(Parser *parser, Source *source);
void resolve_aliases(Parser *parser);
void parse_formals(Parser *parser, FormalList *formals);

/* expression.c */
/* A constant expression: a number, or numbers, parentheses and operators. */
Literal parse_expression(Parser *parser, const char *what);
/* "+ 4", "- 2 * 8" and so on behind a name; 0 when there is nothing of the kind. */
uint64_t parse_offset(Parser *parser);

/* variables.c */
/* Bytes of a type name ("u32"), 0 when it is none; predicates and 128-bit types have their own rules. */
uint32_t type_bytes(const char *type);
void parse_type(Parser *parser, VariableType *type);
/* Bytes from an element of this dimension to the next. */
uint64_t type_stride(const VariableType *type, uint32_t dimension);
/* Behind .const: the banks of old PTX, .const[2], are one memory. */
void accept_constant_bank(Parser *parser);
void parse_dimensions(Parser *parser, VariableType *type);
void parse_module_variables(Parser *parser, Space space, Linkage linkage);
void parse_registers(Parser *parser);
void parse_shared(Parser *parser, Linkage linkage);
void parse_local(Parser *parser);
void parse_call_param(Parser *parser);
void declare_register(Parser *parser, Scope *scope, const Name *name, const VariableType *type,
                      uint32_t line);
uint32_t register_new(KernelBody *kernel, uint32_t bytes, bool is_predicate, uint32_t ordinal);
/* In the frame of the function, or, NULL, where the kernel lays out local memory once. */
uint64_t reserve_for(Parser *parser, struct Instance *instance, uint64_t bytes, uint64_t align,
                     uint32_t line);
/* The symbol at its place in the current kernel: variables of the module in shared and local memory, and
 * registers of the module, get theirs at their first use. */
void place_in_kernel(Parser *parser, Symbol *symbol);

/* initialisers.c */
/* Behind the '=' of the variable with this number; an array without a size gets one. */
void parse_initialiser(Parser *parser, VariableType *type, uint32_t index);
void resolve_initialisers(Parser *parser);
/* The bits of a literal given to a place of `bytes` bytes; NULL or what is wrong. Integers are truncated. */
const char *literal_fit(Literal literal, uint64_t bytes, bool is_float, uint64_t *bits);
void fixup_add(Module *module, Fixup fixup);
/* Writes an address into an initialiser. */
void fixup_apply(const Fixup *fixup, uint64_t address, uint8_t *init);

/* statements.c */

enum { VIDEO_OPERANDS = 3 }; /* that may have selectors */

/* A statement under construction; statement_add() copies it to the kernel. */
typedef struct {
    BodyStatement statement;
    Operand operands[MAX_OPERANDS];
    const char *modifiers[MAX_MODIFIERS];
    bool in_call; /* .param variables that it names are what is passed, not their addresses */
    /* Of the operands of a video instruction: .h1 and the like, of length 0 where there is none; -c. */
    Token selectors[VIDEO_OPERANDS];
    bool negated[VIDEO_OPERANDS + 1];
    Operand resident; /* tex {a, b, c, d}|p: the predicate, if it has one */
} Draft;

void draft_begin(Parser *parser, Draft *draft, const char *opcode, const BodyStatement *origin);
void draft_modifier(Draft *draft, const char *modifier);
void draft_operand(Draft *draft, Operand operand);
/* It is legal PTX that is not supported; the first reason counts. */
void draft_refuse(Draft *draft, const char *reason);
void statement_add(Parser *parser, const Draft *draft);

/* The statements up to the closing brace, which stays the current token. `name` is for messages. */
void parse_body(Parser *parser, Scope *scope, const char *name);
/* An exit behind the entry's body where that could fall through. */
void close_body(Parser *parser);
/* Ends the text of the statement that messages show, and drops the semicolon. */
void statement_end(Parser *parser, Draft *draft);
Symbol *label_new(Parser *parser);
/* The label stands before the next statement. */
void label_place(Parser *parser, Symbol *label);
void branch_add(Parser *parser, Symbol *label, const BodyStatement *origin);

/* operands.c */

static inline Operand no_operand(void) {
    return (Operand){.special = NO_SPECIAL, .reg = NO_REGISTER};
}
Operand register_operand(const Parser *parser, uint32_t reg);
Operand immediate_operand(uint64_t value);
/* [symbol + offset] */
Operand address_operand(Symbol *symbol, uint64_t offset);
/* One operand as it stands; what stands between two commas, appended to the draft: a vector, an address, p|q. */
Operand parse_operand(Parser *parser, Draft *draft);
void parse_operand_group(Parser *parser, Draft *draft);

/* calls.c */

/* `draft` holds the guard; the current token is behind "call" and its modifiers. */
void parse_call(Parser *parser, Draft *draft);
/* A load or store of a call parameter, one element at a time. */
void param_access_add(Parser *parser, const Draft *draft, uint32_t address_index);
/* Turns ld.param and st.param on call parameters into moves, or into accesses to local memory. */
void lower_call_params(Parser *parser);

/* The parameters or results of a call. */
typedef struct {
    Operand *list;
    uint32_t count, capacity;
} Actuals;

/* "b32" and the like. */
const char *width_modifier(uint64_t bytes, bool is_predicate);
/* A number that is passed to a float parameter is that float: it is moved as bits of its width. */
Operand typed_argument(const Formal *formal, Operand actual);
/* Inlines the call, or makes it a real one: results and parameters fit those of the function. */
void function_call_add(Parser *parser, const BodyStatement *call, Function *function, const Actuals *results,
                       const Actuals *params);

/* call_graph.c */
/* Function.recursive, .framed and .component of all functions. */
void call_graph_find(Parser *parser);

/* real_calls.c */
/* NULL, or in what results and parameters differ from those that are declared; valid until the next call. */
const char *call_defect(const Parser *parser, const Function *function, const Actuals *results,
                        const Actuals *params);
/* So many calls of this kernel are inlined that no other is. */
bool inlining_has_ended(const Parser *parser);
bool call_is_real(Parser *parser, const Function *function);
void real_call_add(Parser *parser, const BodyStatement *call, Function *function, const Actuals *results,
                   const Actuals *params);
/* The bodies of all functions that are called so, behind the entry's, which must not fall through. */
void real_functions_add(Parser *parser);
/* A register with the address of a variable in a frame. */
Operand frame_address(Parser *parser, Symbol *symbol, uint64_t offset);

/* matrices.c */
/* Adds what the instruction becomes; false when it stays as it is. */
bool matrix_add(Parser *parser, Draft *draft);

/* vectors.c */
/* atom, red and mov of vectors become one for each element, ld and st of eight elements two; false when it is no such
 * instruction. */
bool vector_add(Parser *parser, Draft *draft);

/* bulk_copies.c */
/* Adds what a bulk copy becomes; false when it is none. */
bool bulk_copy_add(Parser *parser, Draft *draft);

/* allocations.c */
bool allocations_stand_in(const Source *source);
/* Where a kernel begins. */
void allocations_begin(Parser *parser);
/* Around the body of an inlined function: what it has allocated is given back behind it. */
Operand allocations_keep(Parser *parser, const BodyStatement *origin);
void allocations_drop(Parser *parser, const BodyStatement *origin, Operand kept);
/* The register with the place of the next allocation, where there are some. */
Operand stack_top(const Parser *parser);
/* Adds alloca, stacksave and stackrestore; false when it is none of them. */
bool allocation_add(Parser *parser, Draft *draft);

/* video.c */
/* Whether it is a video instruction. */
bool video_takes(const Draft *draft);
/* The current token is the selector of the operand that comes next. */
void video_select(Parser *parser, Draft *draft);
/* A '-' in front of a register that vmad negates. */
bool video_accept_minus(Parser *parser, Draft *draft);
/* Adds a video instruction; false when it is none. */
bool video_add(Parser *parser, Draft *draft);

/* indirect.c */

/* Which functions' addresses are taken. */
void find_addresses(Parser *parser);
/* @p bra label, where p is `left` compared with a number. */
void branch_if(Parser *parser, const BodyStatement *origin, const char *compare, const char *type,
               Operand left, uint64_t right, Symbol *label);
/* The label behind a guarded statement that has become several; they are jumped over where the guard fails. */
Symbol *skip_unless_guarded(Parser *parser, BodyStatement *origin);

/* The current token is behind "brx" and its modifiers. */
void parse_indirect_branch(Parser *parser, Draft *draft);
/* The current token is .branchtargets. */
void parse_branch_table(Parser *parser, Symbol *table);
/* The current token is .callprototype or .calltargets. */
void parse_prototype(Parser *parser, Symbol *prototype);
/* NULL, or why the call cannot be executed. The call has no prototype where its name is NULL. */
const char *indirect_call_add(Parser *parser, const BodyStatement *call, Operand address,
                              const Actuals *results, const Actuals *params, const Name *prototype);

/* The body of a function that chooses between candidates, which the instance is of. */
void choice_add(Parser *parser, struct Instance *instance);

/* intrinsics.c */

/* Calls of functions without a body that the machine executes itself. False when the name is none of theirs.
 */
bool intrinsic_call_add(Parser *parser, const BodyStatement *call, const Function *function,
                        const Actuals *results, const Actuals *params);
/* Why a function without a body cannot be called. */
const char *missing_body_reason(const Function *function);
/* A label is about to be placed: marks before it belong to what was before. */
void marks_end_block(Parser *parser);

#endif
