/* Declarations: types, registers and variables of every space. */
#include "core/ptx/execution/exec.h"
#include "core/ptx/front_end/parser.h"

#include <string.h>

/* Beyond any device memory; keeps sums of sizes far from overflow. */
#define MAX_VARIABLE_BYTES (1ull << 40)
#define MAX_ALIGN          4096
enum { MAX_REGISTER_RANGE = INT32_MAX / 4 };

uint32_t type_bytes(const char *type) {
    static const struct {
        const char *name;
        uint32_t bytes;
    } types[] = {{"b32", 4},    {"u32", 4},     {"f32", 4},       {"s32", 4},  {"b64", 8},   {"u64", 8},
                 {"f64", 8},    {"s64", 8},     {"b16", 2},       {"u16", 2},  {"s16", 2},   {"f16", 2},
                 {"b8", 1},     {"u8", 1},      {"s8", 1},        {"bf16", 2}, {"f16x2", 4}, {"bf16x2", 4},
                 {"texref", 8}, {"surfref", 8}, {"samplerref", 8}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (!strcmp(types[i].name, type)) return types[i].bytes;
    return 0;
}

static uint64_t parse_align(Parser *parser) {
    advance(parser);
    uint32_t line = parser->token.line;
    uint64_t align = expect_integer(parser, "an alignment", MAX_ALIGN);
    if (!align || (align & (align - 1)))
        parser_fail(parser, line, "expected a power of two as alignment, got %llu",
                    (unsigned long long)align);
    return align;
}

/* True for what may follow the type of a parameter: .ptr .global .align 8 */
static bool parse_pointer_attribute(Parser *parser) {
    static const char *const attributes[] = {"ptr",   "global", "shared",  "const",
                                             "local", "texref", "surfref", "samplerref"};
    if (at_dotted(parser, "align")) return parse_align(parser), true;
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
        if (at_dotted(parser, attributes[i])) return advance(parser), true;
    return false;
}

void accept_constant_bank(Parser *parser) {
    if (peek(parser).kind != TOKEN_NUMBER || !accept(parser, '[')) return;
    expect_integer(parser, "a constant bank", 10);
    expect(parser, ']', "after a constant bank");
}

/* 128 bits are a vector of two. */
void parse_type(Parser *parser, VariableType *type) {
    uint64_t align = 0;
    *type = (VariableType){0};
    while (!type->element_bytes && !type->is_predicate) {
        Token token = parser->token;
        if (token.kind != TOKEN_DOTTED) parser_expected(parser, "a type such as .u32");
        if (token_is(token, TOKEN_DOTTED, "align")) {
            align = parse_align(parser);
        } else if (token_is(token, TOKEN_DOTTED, "attribute")) {
            advance(parser);
            skip_parentheses(parser);
        } else if (token_is(token, TOKEN_DOTTED, "v2") || token_is(token, TOKEN_DOTTED, "v4")) {
            type->vector = token.text[1] == '2' ? 2 : 4;
            advance(parser);
        } else if (token_is(token, TOKEN_DOTTED, "b128") && !type->vector) {
            type->vector = 2;
            type->element_bytes = 8;
            advance(parser);
        } else {
            const Name *name = name_intern(&parser->symbols, token.text, token.length);
            type->is_predicate = !strcmp(name->text, "pred");
            type->element_bytes = type_bytes(name->text);
            type->is_float = !strcmp(name->text, "f32") || !strcmp(name->text, "f64");
            type->is_half = !strcmp(name->text, "f16");
            type->is_brain = !strcmp(name->text, "bf16");
            type->is_texture = !strcmp(name->text, "texref") || !strcmp(name->text, "surfref");
            type->is_sampler = !strcmp(name->text, "samplerref");
            type->is_integer = name->text[0] == 'u' || name->text[0] == 's';
            if (!type->is_predicate && !type->element_bytes)
                parser_fail(parser, token.line, "expected a type for declarations, got %s",
                            token_words(token));
            advance(parser);
        }
    }
    while (parse_pointer_attribute(parser))
        continue;
    type->bytes = type->element_bytes * (type->vector ? type->vector : 1);
    type->align = align ? align : type->bytes ? type->bytes : 1;
}

/* An open or empty dimension, which makes the whole empty, must not hide that the others are too large: the
 * offsets of initial values are computed from these. */
static void set_array_bytes(Parser *parser, VariableType *type) {
    uint64_t bytes = type->element_bytes;
    bool empty = false;
    for (uint32_t i = 0; i < type->dimension_count; i++) {
        uint64_t size = type->dimensions[i];
        empty |= size == 0;
        if (__builtin_mul_overflow(bytes, size ? size : 1, &bytes) || bytes > MAX_VARIABLE_BYTES)
            parser_fail(parser, parser->token.line, "expected an array of up to 2^40 bytes, got more");
    }
    type->bytes = empty ? 0 : bytes;
}

/* A vector type is the innermost dimension. */
void parse_dimensions(Parser *parser, VariableType *type) {
    while (accept(parser, '[')) {
        uint32_t line = parser->token.line, at_dimension = type->dimension_count;
        if (at_dimension + 1 >= MAX_DIMENSIONS)
            parser_fail(parser, line, "expected up to %d dimensions, got more", MAX_DIMENSIONS - 1);
        if (at(parser, ']')) {
            if (at_dimension)
                parser_fail(parser, line, "expected a size for each dimension after the first, got none");
            type->unsized = true;
            type->dimensions[type->dimension_count++] = 0;
        } else {
            uint64_t size = expect_integer(parser, "the size of an array", MAX_VARIABLE_BYTES);
            type->dimensions[type->dimension_count++] = size;
        }
        expect(parser, ']', "after the size of an array");
    }
    if (type->vector) type->dimensions[type->dimension_count++] = type->vector;
    set_array_bytes(parser, type);
}

uint64_t type_stride(const VariableType *type, uint32_t dimension) {
    uint64_t stride = type->element_bytes;
    for (uint32_t i = dimension + 1; i < type->dimension_count; i++)
        stride *= type->dimensions[i];
    return stride;
}

static uint64_t align_up(uint64_t value, uint64_t align) {
    return (value + align - 1) / align * align;
}

/* Registers. */

uint32_t register_new(KernelBody *kernel, uint32_t bytes, bool is_predicate, uint32_t ordinal) {
    kernel->registers = arena_grow(kernel->arena, kernel->registers, sizeof *kernel->registers,
                                   kernel->register_count, &kernel->register_capacity);
    uint32_t owner = kernel->instance ? kernel->instance->number : 0;
    kernel->registers[kernel->register_count] = (VirtualRegister){(uint8_t)bytes, is_predicate, ordinal,
                                                                  owner};
    return kernel->register_count++;
}

/* The range of `scope` that holds the register `text`, and its number there: every split into a prefix and a
 * number without leading zeros is tried, since %r1<5> may stand beside %r<18>. */
static const Symbol *find_in_ranges(const Parser *parser, const Scope *scope, const char *text, size_t length,
                                    uint32_t *number) {
    char key[256];
    uint64_t value = 0, weight = 1;
    for (size_t split = length; split-- > 1 && length - split <= 9; weight *= 10) {
        if (text[split] < '0' || text[split] > '9') return NULL;
        value += (uint64_t)(text[split] - '0') * weight;
        if ((text[split] == '0' && split + 1 < length) || split + 1 >= sizeof key) continue;
        memcpy(key, text, split);
        key[split] = '<';
        const Name *name = name_find(&parser->symbols, key, split + 1);
        const Symbol *range = name ? symbol_in_scope(&parser->symbols, scope, name) : NULL;
        if (!range || value >= range->range_count) continue;
        *number = (uint32_t)value;
        return range;
    }
    return NULL;
}

/* The registers of a symbol, side by side. */
static void create_registers(Parser *parser, Symbol *symbol) {
    for (uint32_t i = 0; i < (symbol->vector ? symbol->vector : 1); i++) {
        uint32_t reg = register_new(parser->kernel, symbol->register_bytes, symbol->is_predicate,
                                    symbol->ordinal + i);
        if (i == 0) symbol->index = reg;
    }
}

static void take_ordinals(Parser *parser, Symbol *symbol, uint32_t count) {
    symbol->ordinal = parser->kernel->declared_registers;
    parser->kernel->declared_registers += count * (symbol->vector ? symbol->vector : 1);
}

static void set_register_type(const Parser *parser, Symbol *symbol, const VariableType *type) {
    symbol->is_predicate = type->is_predicate;
    symbol->register_bytes = (uint32_t)type->element_bytes;
    symbol->vector = type->vector;
    symbol->of_module = !parser->kernel;
}

void declare_register(Parser *parser, Scope *scope, const Name *name, const VariableType *type,
                      uint32_t line) {
    uint32_t number;
    const Symbol *range = find_in_ranges(parser, scope, name->text, name->length, &number);
    if (range) parser_fail(parser, line, "'%.200s' is already declared in line %u", name->text, range->line);
    Symbol *symbol = symbol_declare(parser, scope, name, SYMBOL_REGISTER, line);
    set_register_type(parser, symbol, type);
    if (symbol->of_module) return;
    take_ordinals(parser, symbol, 1);
    create_registers(parser, symbol);
}

/* %r<18>: declares the range; its registers come into being when they are named. */
static void declare_register_range(Parser *parser, const Name *prefix, const VariableType *type,
                                   uint32_t line) {
    Literal literal = expect_literal(parser, "the number of registers"); /* a '>' ends it */
    uint64_t count = literal.bits;
    if (literal.kind != LITERAL_INTEGER || count > MAX_REGISTER_RANGE)
        parser_fail(parser, line, "the number of registers: expected an integer from 0 to %d",
                    MAX_REGISTER_RANGE);
    expect(parser, '>', "after the number of registers");
    char *key = arena_alloc(&parser->scratch, prefix->length + 2, 1);
    memcpy(key, prefix->text, prefix->length);
    key[prefix->length] = '<';
    Symbol *symbol = symbol_declare(parser, parser->scope,
                                    name_intern(&parser->symbols, key, prefix->length + 1),
                                    SYMBOL_REGISTER_RANGE, line);
    set_register_type(parser, symbol, type);
    symbol->range_count = (uint32_t)count;
    if (!symbol->of_module) take_ordinals(parser, symbol, (uint32_t)count);
}

void parse_registers(Parser *parser) {
    VariableType type;
    advance(parser);
    parse_type(parser, &type);
    do {
        uint32_t line = parser->token.line;
        const Name *name = expect_name(parser, "the name of a register");
        if (accept(parser, '<'))
            declare_register_range(parser, name, &type, line);
        else
            declare_register(parser, parser->scope, name, &type, line);
    } while (accept(parser, ','));
    expect(parser, ';', "after a .reg declaration");
}

static Symbol *take_from_range(Parser *parser, const Scope *scope, const Symbol *range, uint32_t number,
                               const char *text, size_t length) {
    Symbol *symbol = arena_alloc(&parser->scratch, 1, sizeof *symbol);
    *symbol = *range;
    symbol->kind = SYMBOL_REGISTER;
    symbol->name = name_intern(&parser->symbols, text, length);
    symbol->ordinal = range->ordinal + number * (range->vector ? range->vector : 1);
    if (!symbol->of_module) create_registers(parser, symbol);
    symbol_bind(&parser->symbols, scope, symbol->name, symbol);
    return symbol;
}

static Symbol *find_symbol(Parser *parser, const Scope *scope, const char *text, size_t length) {
    const Name *name = name_find(&parser->symbols, text, length);
    for (; scope; scope = scope->parent) {
        Symbol *symbol = name ? symbol_in_scope(&parser->symbols, scope, name) : NULL;
        if (symbol) return symbol;
        uint32_t number;
        const Symbol *range = find_in_ranges(parser, scope, text, length, &number);
        if (range) return take_from_range(parser, scope, range, number, text, length);
    }
    return NULL;
}

Symbol *symbol_lookup(Parser *parser, const Scope *scope, const char *text, size_t length) {
    Symbol *symbol = find_symbol(parser, scope, text, length);
    if (symbol && symbol->kind == SYMBOL_REGISTER && symbol->of_module) place_in_kernel(parser, symbol);
    return symbol;
}

/* Shared, local and call-site parameter variables. */

static uint64_t reserve(Parser *parser, uint64_t *used, uint64_t bytes, uint64_t align, const char *space,
                        uint32_t line) {
    uint64_t offset = align_up(*used, align);
    if (bytes > WINDOW_BYTES || offset + bytes > WINDOW_BYTES)
        parser_fail(parser, line, "expected up to %llu bytes of %s memory, got more",
                    (unsigned long long)WINDOW_BYTES, space);
    *used = offset + bytes;
    return offset;
}

uint64_t reserve_for(Parser *parser, Instance *instance, uint64_t bytes, uint64_t align, uint32_t line) {
    bool framed = instance && instance->function->framed;
    return reserve(parser, framed ? &instance->frame_bytes : &parser->kernel->local_bytes, bytes, align,
                   "local", line);
}

void place_in_kernel(Parser *parser, Symbol *symbol) {
    KernelBody *kernel = parser->kernel;
    if (symbol->kernel == kernel->number) return;
    symbol->kernel = kernel->number;
    if (symbol->kind == SYMBOL_REGISTER) {
        Instance *instance = kernel->instance;
        kernel->instance = NULL; /* it is the module's, not the function's */
        take_ordinals(parser, symbol, 1);
        create_registers(parser, symbol);
        kernel->instance = instance;
    } else if (symbol->kind == SYMBOL_LOCAL) {
        symbol->offset = reserve_for(parser, symbol->instance, symbol->bytes, symbol->align, symbol->line);
    } else if (symbol->kind == SYMBOL_SHARED) {
        symbol->offset = reserve(parser, &kernel->shared_bytes, symbol->bytes, symbol->align, "shared",
                                 symbol->line);
    } else if (symbol->align > kernel->dynamic_shared_align) {
        kernel->dynamic_shared_align = symbol->align;
    }
}

static const Name *parse_variable(Parser *parser, const VariableType *type, bool may_be_open,
                                  VariableType *declared) {
    uint32_t line = parser->token.line;
    const Name *name = expect_name(parser, "the name of a variable");
    *declared = *type;
    parse_dimensions(parser, declared);
    if (declared->is_predicate) parser_fail(parser, line, "expected a type with a size, got .pred");
    if (declared->unsized && !may_be_open) parser_fail(parser, line, "'%.200s' has no size", name->text);
    return name;
}

static Symbol *declare_variable(Parser *parser, const VariableType *type, SymbolKind kind) {
    VariableType declared;
    uint32_t line = parser->token.line;
    const Name *name = parse_variable(parser, type, false, &declared);
    Symbol *symbol = symbol_declare(parser, parser->scope, name, kind, line);
    symbol->bytes = declared.bytes;
    symbol->align = declared.align;
    symbol->stride = type_stride(&declared, 0);
    symbol->instance = parser->kernel ? parser->kernel->instance : NULL;
    return symbol;
}

/* A .shared variable of an inlined function is one variable of the kernel, however often its text is read. */
static bool bind_known_shared(Parser *parser) {
    for (Symbol *known = parser->function ? parser->kernel->function_shared : NULL; known;
         known = known->next) {
        if (known->text != parser->token.text) continue;
        VariableType ignored = {0};
        symbol_bind(&parser->symbols, parser->scope, known->name, known);
        advance(parser);
        parse_dimensions(parser, &ignored);
        return true;
    }
    return false;
}

/* A .shared variable that several texts declare: the definition counts, and of several weak ones the largest
 * size. */
static void merge_shared(Symbol *symbol, const VariableType *declared, Linkage linkage) {
    bool defines = linkage != LINK_EXTERN, sized = symbol->kind == SYMBOL_SHARED;
    if (defines) symbol->kind = SYMBOL_SHARED;
    if (declared->align > symbol->align) symbol->align = declared->align;
    if (defines && (!sized || declared->bytes > symbol->bytes)) symbol->bytes = declared->bytes;
}

static void declare_shared(Parser *parser, const VariableType *type, Linkage linkage) {
    const char *text = parser->token.text;
    bool is_extern = linkage == LINK_EXTERN;
    uint32_t line = parser->token.line;
    VariableType declared;
    const Name *name = parse_variable(parser, type, is_extern, &declared);
    Symbol *symbol = parser->kernel ? NULL : linked_symbol(parser, name, linkage);
    if (symbol && (symbol->kind == SYMBOL_SHARED || symbol->kind == SYMBOL_DYNAMIC_SHARED) &&
        (symbol->kind == SYMBOL_DYNAMIC_SHARED || symbol->is_weak || linkage > LINK_VISIBLE)) {
        merge_shared(symbol, &declared, linkage);
        return;
    }
    symbol = symbol_declare(parser, parser->kernel ? parser->scope : linkage_scope(parser, linkage), name,
                            is_extern ? SYMBOL_DYNAMIC_SHARED : SYMBOL_SHARED, line);
    symbol->bytes = declared.bytes;
    symbol->align = declared.align;
    symbol->stride = type_stride(&declared, 0);
    symbol->is_weak = linkage == LINK_WEAK || linkage == LINK_COMMON;
    if (parser->kernel) place_in_kernel(parser, symbol);
    if (!parser->function) return;
    symbol->text = text;
    symbol->next = parser->kernel->function_shared;
    parser->kernel->function_shared = symbol;
}

void parse_shared(Parser *parser, Linkage linkage) {
    VariableType type;
    parse_type(parser, &type);
    do
        if (!bind_known_shared(parser)) declare_shared(parser, &type, linkage);
    while (accept(parser, ','));
    expect(parser, ';', "after a .shared declaration");
}

void parse_local(Parser *parser) {
    VariableType type;
    advance(parser);
    parse_type(parser, &type);
    do {
        Symbol *symbol = declare_variable(parser, &type, SYMBOL_LOCAL);
        if (parser->kernel) place_in_kernel(parser, symbol);
    } while (accept(parser, ','));
    expect(parser, ';', "after a .local declaration");
}

void parse_call_param(Parser *parser) {
    VariableType type;
    advance(parser);
    parse_type(parser, &type);
    do
        declare_variable(parser, &type, SYMBOL_CALL_PARAM);
    while (accept(parser, ','));
    expect(parser, ';', "after a .param declaration");
}

/* Module variables. */

static Symbol *declare_module_variable(Parser *parser, const Name *name, Linkage linkage, uint32_t line) {
    Symbol *symbol = parser->kernel ? symbol_in_scope(&parser->symbols, parser->scope, name)
                                    : linked_symbol(parser, name, linkage);
    if (!symbol) {
        Scope *scope = parser->kernel ? parser->scope : linkage_scope(parser, linkage);
        symbol = symbol_declare(parser, scope, name, SYMBOL_VARIABLE, line);
    } else if (symbol->kind != SYMBOL_VARIABLE ||
               (symbol->defined && !symbol->is_weak && linkage <= LINK_VISIBLE)) {
        symbol_declared_twice(parser, line, symbol);
    }
    return symbol;
}

/* A texture takes no memory; what it reads and how is known when the host binds it. */
static void check_texture(Parser *parser, const Name *name, const VariableType *type, uint32_t line) {
    if (type->dimension_count)
        parser_fail(parser, line, "'%.200s': arrays of textures are not supported", name->text);
    if (at(parser, '='))
        parser_fail(parser, line,
                    "'%.200s': expected a texture without initialiser (the host binds it), got one",
                    name->text);
}

/* Reads size and initialiser of the variable with this number, the last one. */
static void parse_contents(Parser *parser, VariableType type, const Name *name, uint32_t index,
                           uint32_t line) {
    if (accept(parser, '='))
        parse_initialiser(parser, &type, index);
    else if (type.unsized)
        parser_fail(parser, line, "'%.200s': expected a size or an initialiser, got none", name->text);
    parser->module->variables[index].bytes = type.bytes;
}

/* A weak variable that another text has defined already. */
static void drop_definition(Parser *parser, const Symbol *symbol, uint32_t index, uint32_t pending,
                            Linkage linkage) {
    ModuleVariable *kept = &parser->module->variables[symbol->index];
    uint64_t bytes = parser->module->variables[index].bytes;
    if (linkage == LINK_COMMON && !kept->init && bytes > kept->bytes) kept->bytes = bytes;
    parser->module->variable_count = index;
    parser->pending_count = pending;
}

static void parse_module_variable(Parser *parser, VariableType type, Space space, Linkage linkage) {
    Module *module = parser->module;
    Arena *storage = &module->fixups->storage;
    uint32_t line = parser->token.line, pending = parser->pending_count;
    const Name *name = expect_name(parser, "the name of a variable");
    parse_dimensions(parser, &type);
    if (type.is_predicate) parser_fail(parser, line, "expected a type with a size, got .pred");
    if (space == SPACE_TEXTURE) check_texture(parser, name, &type, line);
    Symbol *symbol = declare_module_variable(parser, name, linkage, line);
    symbol->stride = type_stride(&type, 0);
    if (linkage == LINK_EXTERN) return;
    uint32_t index = module->variable_count++;
    module->variables = arena_grow(storage, module->variables, sizeof *module->variables, index,
                                   &parser->variable_capacity);
    module->variables[index] = (ModuleVariable){.name = arena_text(storage, name->text, name->length),
                                                .space = space,
                                                .align = type.align,
                                                .text = parser->source->number};
    parse_contents(parser, type, name, index, line);
    bool weak = linkage == LINK_WEAK || linkage == LINK_COMMON;
    if (symbol->defined && weak) {
        drop_definition(parser, symbol, index, pending, linkage);
        return;
    }
    if (symbol->defined) { /* it was weak: nobody sees it any more */
        ModuleVariable *hidden = &module->variables[symbol->index];
        *hidden = (ModuleVariable){.name = "", .space = hidden->space, .align = hidden->align};
    }
    symbol->index = index;
    symbol->defined = true;
    symbol->is_weak = weak;
}

/* A variable that a body declares is one of the module, however often the body is read. */
static bool bind_known_variable(Parser *parser) {
    for (Symbol *known = parser->kernel ? parser->body_variables : NULL; known; known = known->next) {
        if (known->text != parser->token.text) continue;
        VariableType ignored = {0};
        symbol_bind(&parser->symbols, parser->scope, known->name, known);
        advance(parser);
        parse_dimensions(parser, &ignored);
        while (!at(parser, ';') && !at(parser, ',') && parser->token.kind != TOKEN_END)
            if (accept(parser, '{'))
                skip_through(parser, '}');
            else
                advance(parser);
        return true;
    }
    return false;
}

static void note_body_variable(Parser *parser, const char *text, const Name *name) {
    Symbol *symbol = symbol_in_scope(&parser->symbols, parser->scope, name);
    symbol->text = text;
    symbol->next = parser->body_variables;
    parser->body_variables = symbol;
}

void parse_module_variables(Parser *parser, Space space, Linkage linkage) {
    VariableType type;
    parse_type(parser, &type);
    if (type.is_texture) space = SPACE_TEXTURE;
    do {
        Token token = parser->token;
        if (bind_known_variable(parser)) continue;
        parse_module_variable(parser, type, space, linkage);
        if (parser->kernel && linkage != LINK_EXTERN)
            note_body_variable(parser, token.text, name_intern(&parser->symbols, token.text, token.length));
    } while (accept(parser, ','));
    expect(parser, ';', "after a variable");
}
