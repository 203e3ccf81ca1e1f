/* .file and .loc: which lines of the CUDA C the statements come from. */
#include "core/ptx/front_end/parser.h"

#include <string.h>

enum { MAX_FILES = 65536 };

/* The rest of the line belongs to the directive. The next token, when it is a number on this line that fits. */
static bool take_number(Parser *parser, Lexer *line, uint32_t *number) {
    uint32_t at = parser->token.line;
    Lexer ahead = *line;
    Token token = lexer_next(&ahead);
    Literal literal;
    if (token.kind != TOKEN_NUMBER || token.line != at || literal_parse(token, &literal)) return false;
    if (literal.kind != LITERAL_INTEGER || literal.bits > UINT32_MAX) return false;
    *number = (uint32_t)literal.bits;
    *line = ahead;
    return true;
}

static void end_line(Parser *parser) {
    lexer_skip_line(&parser->lexer);
    advance(parser);
}

/* The number, from 1, that a .file of this text has among those of all. */
static uint32_t file_of_all(Parser *parser, uint32_t number) {
    Source *source = parser->source;
    if (number >= MAX_FILES) number = 0;
    while (source->file_capacity <= number)
        source->files = arena_grow(&parser->scratch, source->files, sizeof *source->files,
                                   source->file_capacity, &source->file_capacity);
    if (!source->files[number]) {
        parser->files = arena_grow(&parser->scratch, parser->files, sizeof *parser->files, parser->file_count,
                                   &parser->file_capacity);
        parser->files[parser->file_count++] = NULL;
        source->files[number] = parser->file_count;
    }
    return source->files[number];
}

static void name_file(Parser *parser, uint32_t number, Token name) {
    uint32_t file = file_of_all(parser, number);
    parser->files[file - 1] = arena_text(&parser->module->fixups->storage, name.text + 1, name.length - 2);
}

void parse_file(Parser *parser) {
    Lexer line = parser->lexer;
    uint32_t number, at = parser->token.line;
    if (take_number(parser, &line, &number) && number < MAX_FILES) {
        Token name = lexer_next(&line);
        if (name.kind == TOKEN_STRING && name.line == at && name.length >= 2) name_file(parser, number, name);
    }
    end_line(parser);
}

void parse_location(Parser *parser) {
    Lexer rest = parser->lexer;
    uint32_t file, line;
    if (take_number(parser, &rest, &file) && take_number(parser, &rest, &line)) {
        Location *location = &parser->location;
        location->file = file_of_all(parser, file);
        location->line = line;
        if (!location->own_file) location->own_file = location->file;
        if (location->file == location->own_file) location->own_line = line;
    }
    end_line(parser);
}

void name_source_files(Parser *parser) {
    for (uint32_t k = 0; k < parser->module->kernel_count; k++) {
        const Kernel *kernel = &parser->module->kernels[k];
        for (uint32_t i = 0; i < kernel->inst_count; i++) {
            InstSource *source = &kernel->sources[i];
            if (source->number) source->file = parser->files[source->number - 1];
            if (source->own_number && source->own_number != source->number)
                source->own_file = parser->files[source->own_number - 1];
        }
    }
}
