#include "core/sass/trace_text.h"

#include "core/sim/base/error.h"
#include "core/sim/checkpoint/buffer.h"

#include <stdlib.h>
#include <string.h>

enum { PIECE_BYTES = 1 << 20 };

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

static void skip_blanks(TraceText *text) {
    while (text->at < text->line_end && is_blank(*text->at))
        text->at++;
}

void text_open(TraceText *text, const char *path) {
    *text = (TraceText){.path = path, .digest = file_digest("", 0)};
    trace_file_open(&text->file, path);
    text->capacity = PIECE_BYTES;
    text->buffer = malloc(text->capacity);
    ensure_memory(text->buffer);
    text->next = text->end = text->buffer;
}

void text_close(TraceText *text) {
    if (!text->buffer) return;
    trace_file_close(&text->file);
    free(text->buffer);
    text->buffer = NULL;
}

uint64_t text_left(const TraceText *text) {
    return (uint64_t)(text->end - text->next) + (text->buffer ? trace_file_left(&text->file) : 0);
}

/* Brings the next piece of the file behind what is left of the one before, the begin of a line. False: there is no more. */
static bool read_piece(TraceText *text) {
    size_t kept = (size_t)(text->end - text->next);
    if (!text->buffer) return false;
    if (kept == text->capacity)
        user_error("%s:%u: expected lines of less than %d bytes, got a longer one", text->path,
                   text->line + 1, PIECE_BYTES);
    memmove(text->buffer, text->next, kept);
    text->next = text->buffer;
    text->end = text->buffer + kept;
    size_t got = trace_file_read(&text->file, text->buffer + kept, text->capacity - kept);
    text->end += got;
    text->digest = file_digest_goes_on(text->digest, text->buffer + kept, got);
    return got > 0;
}

/* NULL: it has none, as the last one may. */
static const char *find_newline(TraceText *text) {
    size_t searched = 0;
    do {
        size_t length = (size_t)(text->end - text->next);
        const char *newline = length > searched ? memchr(text->next + searched, '\n', length - searched)
                                                : NULL;
        if (newline) return newline;
        searched = length;
    } while (read_piece(text));
    return NULL;
}

bool text_next_line(TraceText *text) {
    for (;;) {
        const char *newline = find_newline(text);
        if (text->next == text->end) return false;
        text->at = text->next;
        text->line_end = newline ? newline : text->end;
        text->next = newline ? newline + 1 : text->end;
        text->line++;
        skip_blanks(text);
        if (text->at < text->line_end) return true;
    }
}

bool text_takes(TraceText *text, const char *words) {
    size_t length = strlen(words);
    skip_blanks(text);
    if ((size_t)(text->line_end - text->at) < length || memcmp(text->at, words, length) != 0) return false;
    text->at += length;
    skip_blanks(text);
    return true;
}

const char *text_word(TraceText *text, size_t *length) {
    skip_blanks(text);
    const char *word = text->at;
    while (text->at < text->line_end && !is_blank(*text->at))
        text->at++;
    *length = (size_t)(text->at - word);
    return word;
}

_Noreturn void text_expected(const TraceText *text, const char *what, const char *word, size_t length) {
    char got[64];
    size_t kept = length < sizeof got - 1 ? length : sizeof got - 1;
    for (size_t i = 0; i < kept; i++)
        got[i] = word[i] < ' ' || word[i] > '~' ? '?' : word[i];
    got[kept] = 0;
    if (!length) user_error("%s:%u: expected %s, got the end of the line", text->path, text->line, what);
    user_error("%s:%u: expected %s, got '%s'", text->path, text->line, what, got);
}

_Noreturn void text_expected_here(const TraceText *text, const char *what) {
    text_expected(text, what, text->at, (size_t)(text->line_end - text->at));
}

static uint32_t digit_of(char c) {
    if (c >= '0' && c <= '9') return (uint32_t)(c - '0');
    if (c >= 'a' && c <= 'f') return (uint32_t)(c - 'a') + 10;
    if (c >= 'A' && c <= 'F') return (uint32_t)(c - 'A') + 10;
    return UINT32_MAX;
}

uint64_t text_hex(TraceText *text, const char *what) {
    size_t length;
    const char *word = text_word(text, &length);
    size_t at = length > 2 && word[0] == '0' && (word[1] == 'x' || word[1] == 'X') ? 2 : 0;
    uint64_t value = 0;
    if (length == at || length - at > 16) text_expected(text, what, word, length);
    for (; at < length; at++) {
        uint32_t digit = digit_of(word[at]);
        if (digit > 15) text_expected(text, what, word, length);
        value = value << 4 | digit;
    }
    return value;
}

bool text_digits(TraceText *text, uint64_t *value) {
    enum { MOST_DIGITS = 18 };
    const char *from = text->at;
    *value = 0;
    for (; text->at < text->line_end && digit_of(*text->at) < 10; text->at++)
        *value = *value * 10 + digit_of(*text->at);
    return text->at != from && text->at - from <= MOST_DIGITS;
}

int64_t text_decimal(TraceText *text, const char *what) {
    size_t length;
    const char *word = text_word(text, &length);
    bool is_negative = length && word[0] == '-';
    TraceText digits = {.at = word + is_negative, .line_end = word + length};
    uint64_t value;
    if (!text_digits(&digits, &value) || digits.at != digits.line_end)
        text_expected(text, what, word, length);
    return is_negative ? -(int64_t)value : (int64_t)value;
}

uint32_t text_count(TraceText *text, uint32_t most, const char *what) {
    skip_blanks(text);
    const char *before = text->at;
    int64_t value = text_decimal(text, what);
    if (value < 0 || value > most) text_expected(text, what, before, (size_t)(text->at - before));
    return (uint32_t)value;
}
