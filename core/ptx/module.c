#include "core/ptx/module.h"

#include "core/ptx/analysis/constants.h"
#include "core/ptx/analysis/steps.h"
#include "core/ptx/front_end/parser.h"
#include "core/ptx/instructions/decode.h"
#include "core/sim/checkpoint/buffer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

_Thread_local uint64_t ptx_steps;

Module *module_empty(const char *path) {
    Module *module = calloc(1, sizeof *module);
    ModuleFixups *fixups = calloc(1, sizeof *fixups);
    ensure_memory(module && fixups);
    module->fixups = fixups;
    module->path = arena_text(&fixups->storage, path, strlen(path));
    return module;
}

Arena *module_storage(Module *module) {
    return &module->fixups->storage;
}

void module_free(Module *module) {
    if (!module) return;
    if (module->release_owned) module->release_owned(module->owned);
    arena_free(&module->fixups->storage);
    free(module->fixups);
    free(module);
}

static void build_kernel(Parser *parser, const Entry *entry, uint32_t index) {
    KernelBody body = {.arena = &parser->kernel_scratch, .number = index + 1};
    Arena *storage = &parser->module->fixups->storage;
    Kernel *kernel = &parser->module->kernels[index];
    uint32_t unsupported = parser->unsupported_count;
    kernel->ptx = entry->source->kept;
    kernel->ptx_length = entry->source->length;
    kernel->name = arena_text(storage, entry->name->text, entry->name->length);
    parser->kernel = &body;
    parser->location = (Location){0};
    parser->source = entry->source;
    parser->lexer = entry->body;
    advance(parser);
    if (entry->cluster.length)
        unsupported_add(parser,
                        &(BodyStatement){.source = entry->source,
                                         .text = entry->cluster.text - 1, /* with its dot */
                                         .text_length = entry->cluster.length + 1,
                                         .line = entry->cluster.line},
                        "clusters of more than one CTA are not supported");
    allocations_begin(parser);
    parse_body(parser, entry->scope, entry->name->text);
    close_body(parser);
    real_functions_add(parser);
    decode_kernel(parser, entry, index);
    if (parser->unsupported_count > unsupported) {
        const char *list = unsupported_list(parser, unsupported);
        kernel->refusal = arena_text(storage, list, strlen(list));
        kernel->inst_count = 0;
    }
    parser->kernel = NULL;
    arena_free(&parser->kernel_scratch);
}

static void build_kernels(Parser *parser) {
    Module *module = parser->module;
    uint32_t refused = 0;
    module->kernel_count = parser->entry_count;
    module->kernels = arena_alloc(&module->fixups->storage, module->kernel_count, sizeof *module->kernels);
    for (uint32_t i = 0; i < parser->entry_count; i++) {
        build_kernel(parser, &parser->entries[i], i);
        refused += module->kernels[i].refusal != NULL;
    }
    resolve_initialisers(parser); /* of variables in bodies */
    if (refused && refused == module->kernel_count && !parser->keeps_refused) unsupported_fail(parser);
}

static void read_source(Parser *parser, Source *source, uint32_t number, const ModuleText *text) {
    size_t length = text->length;
    while (length && !text->text[length - 1])
        length--; /* PTX inside a fat binary ends in NUL */
    *source = (Source){.path = text->path,
                       .number = number,
                       .kept = arena_text(&parser->module->fixups->storage, text->text, length),
                       .length = length,
                       .lexer = {text->text, text->text + length, 1, true},
                       .address_bytes = sizeof(uint64_t)};
    parser->module->digest = hash_bytes(parser->module->digest, text->text, length);
    parse_source(parser, source);
}

/* Takes `owned_text`, which may be NULL: it must not leak when an error leaves by longjmp. */
static Module *parse_texts(const ModuleText *texts, uint32_t count, bool keeps_refused, char *owned_text) {
    ensure(count);
    Parser parser = {
        .owned_text = owned_text, .keeps_refused = keeps_refused, .module = module_empty(texts[0].path)};
    parser.symbols.arena = &parser.scratch;
    parser.program_scope = scope_open(&parser.symbols, NULL);
    Source *sources = arena_alloc(&parser.scratch, count, sizeof *sources);
    for (uint32_t i = 0; i < count; i++)
        read_source(&parser, &sources[i], i, &texts[i]);
    resolve_aliases(&parser);
    resolve_initialisers(&parser);
    build_kernels(&parser);
    name_source_files(&parser);
    parser_release_scratch(&parser);
    return parser.module;
}

Module *module_parse(const char *path, const char *text, size_t length) {
    return module_link(&(ModuleText){path, text, length}, 1, false);
}

Module *module_link(const ModuleText *texts, uint32_t count, bool keeps_refused) {
    return parse_texts(texts, count, keeps_refused, NULL);
}

enum { PTX_BYTES_MAX = 1 << 30 };

/* NULL, with errno set, when the file cannot be read. */
static char *read_file(FILE *file, size_t *length) {
    char *text = NULL;
    size_t capacity = 0;
    *length = 0;
    do {
        capacity = capacity ? capacity * 2 : 1 << 16;
        char *larger = realloc(text, capacity);
        ensure_memory(larger);
        text = larger;
        *length += fread(text + *length, 1, capacity - *length, file);
    } while (*length == capacity);
    if (!ferror(file)) return text;
    free(text);
    return NULL;
}

/* Devices have no end. */
static void check_size(FILE *file, const char *path) {
    struct stat status;
    bool is_file = fstat(fileno(file), &status) == 0 && S_ISREG(status.st_mode);
    if (is_file && status.st_size <= PTX_BYTES_MAX) return;
    fclose(file);
    if (!is_file) user_error("%s: expected a file, got a folder, device or the like", path);
    user_error("%s: expected PTX of up to %ld bytes, got %ld", path, (long)PTX_BYTES_MAX,
               (long)status.st_size);
}

Module *module_load(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) user_error("%s: cannot open it: %s", path, strerror(errno));
    check_size(file, path);
    size_t length;
    char *text = read_file(file, &length);
    int error = errno;
    fclose(file);
    if (!text) user_error("%s: cannot read it: %s", path, strerror(error));
    uint64_t digest = file_digest(text, length);
    Module *module = parse_texts(&(ModuleText){path, text, length}, 1, false, text);
    module->file_digest = digest;
    module->is_of_file = true;
    return module;
}

void module_place(Module *module) {
    for (uint32_t i = 0; i < module->fixups->count; i++) {
        const Fixup *fixup = &module->fixups->list[i];
        uint64_t address = module->variables[fixup->target].address + (uint64_t)fixup->addend;
        if (fixup->in_constants) {
            constant_broadcast(module->kernels[fixup->holder].constants + fixup->offset, address,
                               fixup->bytes);
        } else {
            fixup_apply(fixup, address, module->variables[fixup->holder].init);
        }
    }
}

void kernel_line_text(const Kernel *kernel, uint32_t line, char *text, size_t size) {
    const char *at = kernel->ptx, *end = at + kernel->ptx_length;
    for (uint32_t i = 1; i < line && at < end; i++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        at = newline ? newline + 1 : end;
    }
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    size_t length = 0;
    for (; at < end && *at != '\n' && length + 1 < size; at++)
        text[length++] = (unsigned char)*at < ' ' ? ' ' : *at;
    while (length && text[length - 1] == ' ')
        length--;
    text[length] = 0;
}

const Kernel *module_kernel(const Module *module, const char *name) {
    for (uint32_t i = 0; i < module->kernel_count; i++)
        if (!strcmp(module->kernels[i].name, name)) return &module->kernels[i];
    return NULL;
}

const ModuleVariable *module_texture(const Module *module, const char *name) {
    for (uint32_t i = 0; i < module->variable_count; i++)
        if (module->variables[i].space == SPACE_TEXTURE && !strcmp(module->variables[i].name, name))
            return &module->variables[i];
    return NULL;
}
