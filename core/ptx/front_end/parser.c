#include "core/ptx/front_end/parser.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void parser_release_scratch(Parser *parser) {
    arena_free(&parser->scratch);
    arena_free(&parser->kernel_scratch);
    free(parser->owned_text);
    parser->owned_text = NULL;
}

/* The handler of user_error() may leave by longjmp, so everything is released before. */
_Noreturn static void release_and_raise(Parser *parser, const char *message) {
    module_free(parser->module);
    parser_release_scratch(parser);
    user_error("%s", message);
}

void parser_fail(Parser *parser, uint32_t line, const char *format, ...) {
    static _Thread_local char message[2048];
    va_list arguments;
    va_start(arguments, format);
    int prefix = snprintf(message, sizeof message, "%.1000s:%u: ", parser->source->path, line);
    vsnprintf(message + prefix, sizeof message - (size_t)prefix, format, arguments);
    va_end(arguments);
    release_and_raise(parser, message);
}

void parser_expected(Parser *parser, const char *format, ...) {
    char what[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    parser_fail(parser, parser->token.line, "expected %s, got %s", what, token_words(parser->token));
}

/* Runs of blanks become one; at most 60 characters. */
static void squeeze(char *out, size_t size, const char *text, size_t length) {
    size_t used = 0;
    for (size_t i = 0; i < length && used + 4 < size; i++) {
        bool blank = text[i] <= ' ' || text[i] > '~';
        if (blank && used && out[used - 1] == ' ') continue;
        out[used++] = blank ? ' ' : text[i];
        if (used + 4 >= size && i + 1 < length) {
            memcpy(out + used, "...", 3);
            used += 3;
        }
    }
    out[used] = 0;
}

const char *token_words(Token token) {
    static _Thread_local char words[64];
    if (token.kind == TOKEN_END) return "the end of the file";
    if (token.kind == TOKEN_BROKEN) return token.text;
    char text[56];
    squeeze(text, sizeof text, token.text, token.length);
    snprintf(words, sizeof words, token.kind == TOKEN_DOTTED ? "'.%s'" : "'%s'", text);
    return words;
}

void unsupported_add(Parser *parser, const BodyStatement *statement, const char *reason) {
    parser->unsupported = arena_grow(&parser->scratch, parser->unsupported, sizeof *parser->unsupported,
                                     parser->unsupported_count, &parser->unsupported_capacity);
    parser->unsupported[parser->unsupported_count++] = (Unsupported){
        statement->source, statement->text,     statement->text_length,
        statement->line,   statement->location, arena_text(&parser->scratch, reason, strlen(reason))};
}

static int by_place(const void *a, const void *b) {
    const Unsupported *left = a, *right = b;
    if (left->source != right->source) return left->source < right->source ? -1 : 1;
    return (left->text > right->text) - (left->text < right->text);
}

/* In the order of the text; a statement of a function inlined many times counts once. Returns how many are
 * left. */
static uint32_t sort_unsupported(Unsupported *list, uint32_t all) {
    uint32_t count = 0;
    qsort(list, all, sizeof *list, by_place);
    for (uint32_t i = 0; i < all; i++)
        if (!i || list[i].text != list[count - 1].text) list[count++] = list[i];
    return count;
}

/* ", FILE:LINE" of the source that was compiled, where .loc tells. */
static const char *compiled_from(const Parser *parser, Location from, char *text, size_t size) {
    const char *file = from.file ? parser->files[from.file - 1] : NULL;
    *text = 0;
    if (file && from.line) snprintf(text, size, ", %.200s:%u", file, from.line);
    return text;
}

const char *unsupported_list(Parser *parser, uint32_t first) {
    enum { MAX_LISTED = 20 };
    static _Thread_local char message[3900];
    uint32_t all = parser->unsupported_count - first;
    Unsupported *list = arena_alloc(&parser->scratch, all, sizeof *list);
    memcpy(list, parser->unsupported + first, all * sizeof *list);
    uint32_t count = sort_unsupported(list, all), listed = 0;
    size_t used = (size_t)snprintf(message, sizeof message, "%.300s:%u: %u unsupported statement%s",
                                   list[0].source->path, list[0].line, count, count == 1 ? "" : "s");
    for (; listed < count && listed < MAX_LISTED; listed++) {
        const Unsupported *each = &list[listed];
        char text[64], line[1200], from[220];
        squeeze(text, sizeof text, each->text, each->length);
        int length = snprintf(line, sizeof line, "\n%.300s:%u%s: %s: %.480s", each->source->path, each->line,
                              compiled_from(parser, each->location, from, sizeof from), text, each->reason);
        if (used + (size_t)length + 40 > sizeof message) break;
        memcpy(message + used, line, (size_t)length + 1);
        used += (size_t)length;
    }
    if (listed < count) snprintf(message + used, sizeof message - used, "\n... and %u more", count - listed);
    return message;
}

void unsupported_fail(Parser *parser) {
    release_and_raise(parser, unsupported_list(parser, 0));
}

void advance(Parser *parser) {
    parser->token = lexer_next(&parser->lexer);
    if (parser->token.kind == TOKEN_BROKEN) parser_fail(parser, parser->token.line, "%s", parser->token.text);
}

Token peek(const Parser *parser) {
    Lexer ahead = parser->lexer;
    return lexer_next(&ahead);
}

bool at(const Parser *parser, char punctuation) {
    return parser->token.punctuation == punctuation;
}

bool at_dotted(const Parser *parser, const char *text) {
    return token_is(parser->token, TOKEN_DOTTED, text);
}

bool accept(Parser *parser, char punctuation) {
    if (!at(parser, punctuation)) return false;
    advance(parser);
    return true;
}

void expect(Parser *parser, char punctuation, const char *where) {
    if (!accept(parser, punctuation)) parser_expected(parser, "'%c' %s", punctuation, where);
}

const Name *expect_name(Parser *parser, const char *what) {
    if (parser->token.kind != TOKEN_IDENTIFIER) parser_expected(parser, "%s", what);
    const Name *name = name_intern(&parser->symbols, parser->token.text, parser->token.length);
    advance(parser);
    return name;
}

Literal expect_literal(Parser *parser, const char *what) {
    bool negative = false;
    while (at(parser, '-') || at(parser, '+')) {
        negative ^= at(parser, '-');
        advance(parser);
    }
    Literal literal = {LITERAL_INTEGER, WARP_LANES};
    if (parser->token.kind == TOKEN_NUMBER) {
        const char *defect = literal_parse(parser->token, &literal);
        if (defect) parser_fail(parser, parser->token.line, "%s: %s", token_words(parser->token), defect);
    } else if (!token_is(parser->token, TOKEN_IDENTIFIER, "WARP_SZ")) {
        parser_expected(parser, "%s", what);
    }
    advance(parser);
    return negative ? literal_negate(literal) : literal;
}

uint64_t expect_integer(Parser *parser, const char *what, uint64_t largest) {
    uint32_t line = parser->token.line;
    Literal literal = parse_expression(parser, what);
    if (literal.kind != LITERAL_INTEGER || literal.bits > largest)
        parser_fail(parser, line, "%s: expected an integer from 0 to %llu", what,
                    (unsigned long long)largest);
    return literal.bits;
}

void skip_through(Parser *parser, char punctuation) {
    while (!at(parser, punctuation)) {
        if (parser->token.kind == TOKEN_END) parser_expected(parser, "'%c'", punctuation);
        advance(parser);
    }
    advance(parser);
}

void skip_parentheses(Parser *parser) {
    uint64_t depth = 0;
    if (!at(parser, '(')) parser_expected(parser, "'('");
    do {
        if (parser->token.kind == TOKEN_END) parser_expected(parser, "')'");
        depth += at(parser, '(');
        depth -= at(parser, ')');
        advance(parser);
    } while (depth);
}

/* The current token is behind an opening brace; stops behind its closing one. */
static void skip_braces(Parser *parser) {
    uint32_t line = parser->token.line;
    for (uint64_t depth = 1; depth; advance(parser)) {
        if (parser->token.kind == TOKEN_END)
            parser_fail(parser, line,
                        "expected a '}' that closes the '{' of this line, got the end of the file");
        if (at(parser, '{')) depth++;
        if (at(parser, '}')) depth--;
    }
}

void symbol_declared_twice(Parser *parser, uint32_t line, const Symbol *other) {
    if (other->path == parser->source->path)
        parser_fail(parser, line, "'%.200s' is already declared in line %u", other->name->text, other->line);
    parser_fail(parser, line, "'%.200s' is already declared in %.500s:%u", other->name->text, other->path,
                other->line);
}

Symbol *symbol_declare(Parser *parser, Scope *scope, const Name *name, SymbolKind kind, uint32_t line) {
    const Symbol *other = symbol_in_scope(&parser->symbols, scope, name);
    if (other) symbol_declared_twice(parser, line, other);
    Symbol *symbol = arena_alloc(&parser->scratch, 1, sizeof *symbol);
    *symbol = (Symbol){.name = name, .kind = kind, .line = line, .path = parser->source->path};
    symbol_bind(&parser->symbols, scope, name, symbol);
    return symbol;
}

Scope *linkage_scope(const Parser *parser, Linkage linkage) {
    return linkage == LINK_STATIC ? parser->source->scope : parser->program_scope;
}

Symbol *linked_symbol(const Parser *parser, const Name *name, Linkage linkage) {
    Symbol *own = symbol_in_scope(&parser->symbols, parser->source->scope, name);
    return own || linkage == LINK_STATIC ? own
                                         : symbol_in_scope(&parser->symbols, parser->program_scope, name);
}

Symbol *module_symbol(const Parser *parser, const Source *source, const Name *name) {
    Symbol *own = symbol_in_scope(&parser->symbols, source->scope, name);
    return own ? own : symbol_in_scope(&parser->symbols, parser->program_scope, name);
}

/* Reads ".param ..." and ".reg ..." up to the closing parenthesis; the current token is behind the opening
 * one. */
void parse_formals(Parser *parser, FormalList *formals) {
    while (!accept(parser, ')')) {
        if (formals->count) expect(parser, ',', "between parameters");
        while (at_dotted(parser, "hidden"))
            advance(parser);
        Formal formal = {.is_register = at_dotted(parser, "reg")};
        if (!formal.is_register && !at_dotted(parser, "param")) parser_expected(parser, "'.param'");
        advance(parser);
        parse_type(parser, &formal.type);
        formal.line = parser->token.line;
        formal.name = expect_name(parser, "the name of a parameter");
        parse_dimensions(parser, &formal.type);
        formals->list = arena_grow(&parser->scratch, formals->list, sizeof formal, formals->count,
                                   &formals->capacity);
        formals->list[formals->count++] = formal;
    }
}

/* The product of up to three extents; those that do not stand there are 1. */
static uint32_t parse_extents(Parser *parser, uint32_t extents[3]) {
    uint64_t threads = 1;
    for (int i = 0; i < 3; i++)
        extents[i] = 1;
    int axis = 0;
    do {
        advance(parser);
        extents[axis] = (uint32_t)expect_integer(parser, "a number of threads", 1 << 20);
        threads *= extents[axis++];
    } while (axis < 3 && at(parser, ',') && threads <= 1 << 20);
    if (threads > 1 << 20)
        parser_fail(parser, parser->token.line, "expected up to 2^20 threads per CTA, got more");
    return (uint32_t)threads;
}

static bool at_one_of(const Parser *parser, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (at_dotted(parser, names[i])) return true;
    return false;
}

typedef struct {
    uint32_t max_threads; /* 0: not given                                        */
    uint32_t required[3]; /* .reqntid; 0: not given                              */
    Token cluster;        /* the directive that asks for clusters of more than one CTA, if any */
} Tuning;

/* The values of a directive: numbers, strings, and what stands in parentheses. */
static void skip_values(Parser *parser) {
    do {
        if (at(parser, '('))
            skip_parentheses(parser);
        else
            advance(parser);
    } while (parser->token.kind == TOKEN_NUMBER || parser->token.kind == TOKEN_STRING || at(parser, ',') ||
             at(parser, '('));
}

/* .maxntid and its kin, between the parameters and the body. Stops at what is none of them. */
static Tuning parse_tuning_directives(Parser *parser) {
    /* .blocksareclusters stands beside .reqnctapercluster, which says how large they are. */
    static const char *const ignored[] = {
        "explicitcluster",     "minnctapersm", "maxnctapersm",   "maxnreg",      "minnreg",
        "blocksareclusters",   "noreturn",     "maxclusterrank", "abi_preserve", "pragma",
        "abi_preserve_control"};
    Tuning tuning = {0};
    while (parser->token.kind == TOKEN_DOTTED) {
        uint32_t extents[3];
        if (at_dotted(parser, "maxntid")) {
            tuning.max_threads = parse_extents(parser, extents);
            continue;
        }
        if (at_dotted(parser, "reqntid")) {
            tuning.max_threads = parse_extents(parser, tuning.required);
            continue;
        }
        if (at_dotted(parser, "reqnctapercluster")) {
            Token directive = parser->token;
            if (parse_extents(parser, extents) > 1) tuning.cluster = directive;
            continue;
        }
        bool pragma = at_dotted(parser, "pragma");
        if (!at_one_of(parser, ignored, sizeof ignored / sizeof *ignored)) break;
        skip_values(parser);
        if (pragma) accept(parser, ';');
    }
    return tuning;
}

static void expect_body(Parser *parser) {
    if (!accept(parser, '{'))
        parser_expected(parser, "'{', .maxntid, .reqntid, .minnctapersm, .maxnctapersm, .maxnreg, .noreturn, "
                                ".pragma or another directive for tuning");
    skip_braces(parser);
}

static void lay_out_params(Parser *parser, Entry *entry) {
    enum { MAX_PARAM_BYTES = 1 << 16 };
    uint64_t offset = 0;
    for (uint32_t i = 0; i < entry->params.count; i++) {
        Formal *formal = &entry->params.list[i];
        if (formal->is_register)
            parser_fail(parser, formal->line, "expected .param for a parameter of a kernel, got .reg");
        if (formal->type.is_predicate)
            parser_fail(parser, formal->line, "expected a type with a size, got .pred");
        if (formal->type.unsized)
            parser_fail(parser, formal->line, "'%.200s' has no size", formal->name->text);
        if (formal->type.bytes > MAX_PARAM_BYTES)
            parser_fail(parser, formal->line, "expected up to %d bytes of parameters, got more",
                        MAX_PARAM_BYTES);
        Symbol *symbol = symbol_declare(parser, entry->scope, formal->name, SYMBOL_PARAM, formal->line);
        symbol->bytes = formal->type.bytes;
        symbol->align = formal->type.align;
        symbol->stride = type_stride(&formal->type, 0);
        symbol->is_texture = formal->type.is_texture;
        symbol->offset = offset = (offset + symbol->align - 1) / symbol->align * symbol->align;
        offset += symbol->bytes;
        if (offset > MAX_PARAM_BYTES)
            parser_fail(parser, formal->line, "expected up to %d bytes of parameters, got more",
                        MAX_PARAM_BYTES);
    }
}

/* Is it defined by what follows, or was it already, by another text that may? */
static bool takes_definition(Parser *parser, Symbol *symbol, Linkage linkage, uint32_t line) {
    bool weak = linkage == LINK_WEAK || linkage == LINK_COMMON;
    if (symbol->defined && !weak && !symbol->is_weak) symbol_declared_twice(parser, line, symbol);
    if (symbol->defined && weak) return false;
    symbol->defined = true;
    symbol->is_weak = weak;
    symbol->line = line;
    symbol->path = parser->source->path;
    return true;
}

static void add_entry(Parser *parser, const Entry *entry) {
    for (uint32_t i = 0; i < parser->entry_count; i++)
        if (parser->entries[i].name == entry->name) {
            parser->entries[i] = *entry;
            return;
        }
    parser->entries = arena_grow(&parser->scratch, parser->entries, sizeof *entry, parser->entry_count,
                                 &parser->entry_capacity);
    parser->entries[parser->entry_count++] = *entry;
}

/* The address of a kernel is a number like that of a function, and none of these. */
static Symbol *declare_entry(Parser *parser, const Name *name, Linkage linkage, uint32_t line) {
    Symbol *symbol = symbol_declare(parser, linkage_scope(parser, linkage), name, SYMBOL_ENTRY, line);
    symbol->offset = 16 * ++parser->declared_entries + 8;
    return symbol;
}

static void parse_entry(Parser *parser, Linkage linkage) {
    Entry entry = {.line = parser->token.line,
                   .source = parser->source,
                   .scope = scope_open(&parser->symbols, parser->source->scope)};
    entry.name = expect_name(parser, "the name of an entry");
    if (accept(parser, '(')) parse_formals(parser, &entry.params);
    lay_out_params(parser, &entry);
    Tuning tuning = parse_tuning_directives(parser);
    entry.max_threads = tuning.max_threads;
    memcpy(entry.required, tuning.required, sizeof entry.required);
    entry.cluster = tuning.cluster;
    if (linkage == LINK_STATIC) linkage = LINK_VISIBLE; /* the host finds it by its name alone */
    Symbol *symbol = linked_symbol(parser, entry.name, linkage);
    if (!symbol) symbol = declare_entry(parser, entry.name, linkage, entry.line);
    if (accept(parser, ';')) return;
    if (symbol->kind != SYMBOL_ENTRY) symbol_declared_twice(parser, entry.line, symbol);
    bool takes = takes_definition(parser, symbol, linkage, entry.line);
    entry.body = parser->lexer;
    expect_body(parser);
    if (takes) add_entry(parser, &entry);
}

static Symbol *declare_function(Parser *parser, const Name *name, Linkage linkage, uint32_t line) {
    Symbol *symbol = symbol_declare(parser, linkage_scope(parser, linkage), name, SYMBOL_FUNCTION, line);
    symbol->function = arena_alloc(&parser->scratch, 1, sizeof *symbol->function);
    parser->functions = arena_grow(&parser->scratch, parser->functions, sizeof *parser->functions,
                                   parser->function_count, &parser->function_capacity);
    parser->functions[parser->function_count++] = symbol;
    symbol->offset = 16 * parser->function_count;
    return symbol;
}

/* Old compilers leave the semicolon of a declaration out. */
static bool ends_declaration(Parser *parser) {
    return accept(parser, ';') || parser->token.kind == TOKEN_DOTTED || parser->token.kind == TOKEN_END;
}

static void parse_function(Parser *parser, Linkage linkage) {
    Function read = {.source = parser->source};
    if (at_dotted(parser, "attribute")) {
        advance(parser);
        skip_parentheses(parser);
    }
    if (accept(parser, '(')) parse_formals(parser, &read.results);
    uint32_t line = parser->token.line;
    const Name *name = read.name = expect_name(parser, "the name of a function");
    if (accept(parser, '(')) parse_formals(parser, &read.params);
    parse_tuning_directives(parser);
    Symbol *symbol = linked_symbol(parser, name, linkage);
    if (!symbol) symbol = declare_function(parser, name, linkage, line);
    if (symbol->kind != SYMBOL_FUNCTION) symbol_declared_twice(parser, line, symbol);
    Function *function = symbol->function;
    if (!function->has_body) *function = read;
    if (ends_declaration(parser)) return;
    if (function->has_body && symbol->path == parser->source->path)
        parser_fail(parser, line, "the function '%.200s' is defined twice", name->text);
    bool takes = takes_definition(parser, symbol, linkage, line);
    read.has_body = true;
    read.body = parser->lexer;
    expect_body(parser);
    if (takes) *function = read;
}

/* .alias NAME, TARGET; */
static void parse_alias(Parser *parser) {
    Alias alias = {.source = parser->source, .line = parser->token.line};
    advance(parser);
    alias.name = expect_name(parser, "the name of a function");
    expect(parser, ',', "between the names of an .alias");
    alias.target = expect_name(parser, "the name of a function");
    expect(parser, ';', "after an .alias");
    parser->aliases = arena_grow(&parser->scratch, parser->aliases, sizeof alias, parser->alias_count,
                                 &parser->alias_capacity);
    parser->aliases[parser->alias_count++] = alias;
}

static bool have_equal_sizes(const FormalList *a, const FormalList *b) {
    bool equal = a->count == b->count;
    for (uint32_t i = 0; equal && i < a->count; i++)
        equal = a->list[i].type.bytes == b->list[i].type.bytes &&
                a->list[i].type.is_predicate == b->list[i].type.is_predicate;
    return equal;
}

/* The name stands for the target, with its address. In the list of functions, whose order the addresses follow, a
 * function without a body stays in its place. */
static void take_target(Parser *parser, Symbol *name, const Symbol *target) {
    Symbol *declared = arena_alloc(&parser->scratch, 1, sizeof *declared);
    *declared = *name;
    for (uint32_t i = 0; i < parser->function_count; i++)
        if (parser->functions[i] == name) parser->functions[i] = declared;
    name->function = target->function;
    name->offset = target->offset;
}

void resolve_aliases(Parser *parser) {
    for (uint32_t i = 0; i < parser->alias_count; i++) {
        const Alias *alias = &parser->aliases[i];
        Symbol *name = module_symbol(parser, alias->source, alias->name);
        const Symbol *target = module_symbol(parser, alias->source, alias->target);
        parser->source = alias->source;
        if (!name || name->kind != SYMBOL_FUNCTION || !target || target->kind != SYMBOL_FUNCTION)
            parser_fail(parser, alias->line, "expected two declared functions after .alias");
        if (!have_equal_sizes(&name->function->results, &target->function->results) ||
            !have_equal_sizes(&name->function->params, &target->function->params))
            parser_fail(
                parser, alias->line,
                "'%.200s': expected results and parameters of the sizes that '%.200s' has, got others",
                alias->name->text, alias->target->text);
        if (!name->function->has_body) take_target(parser, name, target);
    }
}

static void parse_linked(Parser *parser, Linkage linkage) {
    static const struct {
        const char *name;
        Space space;
    } variables[] = {{"global", SPACE_GLOBAL}, {"const", SPACE_CONST}, {"tex", SPACE_TEXTURE}};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        if (!at_dotted(parser, variables[i].name)) continue;
        advance(parser);
        if (variables[i].space == SPACE_CONST) accept_constant_bank(parser);
        parse_module_variables(parser, variables[i].space, linkage);
        return;
    }
    bool entry = at_dotted(parser, "entry"), function = at_dotted(parser, "func"),
         shared = at_dotted(parser, "shared");
    if (!entry && !function && !shared)
        parser_expected(parser, ".entry, .func, .global, .const, .shared or another module directive");
    advance(parser);
    if (entry) parse_entry(parser, linkage);
    if (function) parse_function(parser, linkage);
    if (shared) parse_shared(parser, linkage);
}

/* .visible, .weak and so on; what comes last counts. */
static Linkage parse_linkage(Parser *parser) {
    static const struct {
        const char *name;
        Linkage linkage;
    } linkages[] = {{"visible", LINK_VISIBLE},
                    {"weak", LINK_WEAK},
                    {"extern", LINK_EXTERN},
                    {"common", LINK_COMMON},
                    {"hidden", LINK_VISIBLE}};
    Linkage linkage = LINK_STATIC;
    for (size_t i = 0; i < sizeof linkages / sizeof *linkages; i++) {
        if (!at_dotted(parser, linkages[i].name)) continue;
        linkage = linkages[i].linkage;
        advance(parser);
        i = (size_t)-1;
    }
    return linkage;
}

static void parse_target(Parser *parser) {
    do {
        advance(parser);
        const Name *name = expect_name(parser, "a target");
        if (!strncmp(name->text, "sm_", 3))
            parser->source->target = (uint32_t)strtoul(name->text + 3, NULL, 10);
    } while (at(parser, ','));
}

static void parse_address_size(Parser *parser) {
    advance(parser);
    uint32_t line = parser->token.line;
    uint64_t bits = expect_integer(parser, "the address size", 64);
    if (bits != 32 && bits != 64)
        parser_fail(parser, line, "expected .address_size 32 or 64, got %u", (uint32_t)bits);
    parser->source->address_bytes = (uint32_t)bits / 8;
}

static void parse_module_directive(Parser *parser) {
    if (at_dotted(parser, "target")) {
        parse_target(parser);
    } else if (at_dotted(parser, "address_size")) {
        parse_address_size(parser);
    } else if (at_dotted(parser, "file")) {
        parse_file(parser);
    } else if (at_dotted(parser, "loc")) {
        lexer_skip_line(&parser->lexer);
        advance(parser);
    } else if (at_dotted(parser, "section")) {
        skip_through(parser, '{');
        skip_braces(parser);
    } else if (at_dotted(parser, "pragma")) {
        skip_through(parser, ';');
    } else if (at_dotted(parser, "alias")) {
        parse_alias(parser);
    } else if (at_dotted(parser, "reg")) {
        parse_registers(parser);
    } else if (at_dotted(parser, "local")) {
        parse_local(parser);
    } else {
        parse_linked(parser, parse_linkage(parser));
    }
}

static void parse_version(Parser *parser) {
    advance(parser);
    if (!at_dotted(parser, "version")) parser_expected(parser, "'.version', with which PTX begins");
    advance(parser);
    expect_literal(parser, "the PTX version");
}

void parse_source(Parser *parser, Source *source) {
    parser->source = source;
    parser->lexer = source->lexer;
    parser->has_allocations |= allocations_stand_in(source);
    parser->scope = source->scope = scope_open(&parser->symbols, parser->program_scope);
    parse_version(parser);
    while (parser->token.kind != TOKEN_END) {
        if (accept(parser, ';')) continue;
        if (parser->token.kind != TOKEN_DOTTED) parser_expected(parser, "a directive");
        parse_module_directive(parser);
    }
}
