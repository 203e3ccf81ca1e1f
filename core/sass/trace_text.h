/* The text of a trace: its lines, and the words in them. */
#ifndef WW_SASS_TRACE_TEXT_H
#define WW_SASS_TRACE_TEXT_H

#include "core/sass/trace_file.h"

#include <stdbool.h>

typedef struct {
    const char *path;
    const char *next, *end; /* behind the current line; of the text in memory */
    const char *at, *line_end;
    uint32_t line;   /* the current one's number, from 1 */
    uint64_t digest; /* of what has been read, as file_digest() has it */
    /* Of a file, which is read piece by piece: */
    TraceFile file;
    char *buffer; /* NULL: all of the text is in memory */
    size_t capacity;
} TraceText;

/* A file's text. Close it also when an error has ended the reading. */
void text_open(TraceText *text, const char *path);
void text_close(TraceText *text);
/* Bytes behind the current line; of a packed file, at most. */
uint64_t text_left(const TraceText *text);
/* Goes to the next line that is not empty. False: there is none. */
bool text_next_line(TraceText *text);
/* The rest of the line begins with this word or words: goes behind. */
bool text_takes(TraceText *text, const char *words);
/* The next word of the line; length 0: there is none. */
const char *text_word(TraceText *text, size_t *length);
/* Numbers, of which `what` says in an error what was expected. text_hex takes "0x" in front, or none. */
uint64_t text_hex(TraceText *text, const char *what);
int64_t text_decimal(TraceText *text, const char *what);
/* The same from 0 to `most`. */
uint32_t text_count(TraceText *text, uint32_t most, const char *what);
/* Goes behind the digits of a decimal number that stand here. False: there are none, or too many. */
bool text_digits(TraceText *text, uint64_t *value);
/* "FILE:LINE: expected WHAT, got 'WORD'". */
_Noreturn void text_expected(const TraceText *text, const char *what, const char *word, size_t length);
/* The same, of the rest of the line. */
_Noreturn void text_expected_here(const TraceText *text, const char *what);

#endif
