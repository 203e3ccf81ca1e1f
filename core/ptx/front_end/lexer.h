/* PTX text to tokens. Tokens point into the text: they may be of any length, and reading again from a saved
 * Lexer costs nothing. */
#ifndef WW_PTX_LEXER_H
#define WW_PTX_LEXER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
    TOKEN_END,
    TOKEN_IDENTIFIER, /* name, %r1, $L_2                                    */
    TOKEN_DOTTED,     /* .param, .u32, .L1::no_allocate: text without the dot */
    TOKEN_NUMBER,
    TOKEN_STRING, /* with its quotes                                    */
    TOKEN_PUNCTUATION,
    TOKEN_BROKEN, /* text that no PTX token begins with; `text` says why, `length` is 0 */
} TokenKind;

typedef struct {
    TokenKind kind;
    char punctuation; /* 0 for other kinds */
    uint32_t line;
    const char *text;
    size_t length;
} Token;

typedef struct {
    const char *cursor, *end;
    uint32_t line;
    bool is_line_start; /* nothing but blanks before the cursor */
} Lexer;

Token lexer_next(Lexer *lexer);
/* Drops the rest of the line: .loc and .file end without a semicolon. */
void lexer_skip_line(Lexer *lexer);

bool token_is(Token token, TokenKind kind, const char *text);

typedef enum { LITERAL_INTEGER, LITERAL_F32, LITERAL_F64 } LiteralKind;

typedef struct {
    LiteralKind kind;
    uint64_t bits; /* two's complement or the bits of the float */
} Literal;

/* NULL, or what is wrong with the number. */
const char *literal_parse(Token token, Literal *literal);
Literal literal_negate(Literal literal);

#endif
