#include "core/ptx/front_end/lexer.h"

#include <stdlib.h>
#include <string.h>

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_word(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}

static Token token_here(const Lexer *lexer, TokenKind kind, const char *start) {
    return (Token){
        .kind = kind, .line = lexer->line, .text = start, .length = (size_t)(lexer->cursor - start)};
}

static Token broken(const Lexer *lexer, const char *why) {
    return (Token){.kind = TOKEN_BROKEN, .line = lexer->line, .text = why};
}

/* What a preprocessor leaves, at the start of a line: # 7 "a.cu", #line 7; and what old compilers leave for
 * debuggers: @@DWARF .byte 0x11. */
static bool at_marker_line(const Lexer *lexer) {
    static const char for_debuggers[] = "@@DWARF";
    const char *at = lexer->cursor + 1;
    if (!lexer->is_line_start) return false;
    size_t left = (size_t)(lexer->end - lexer->cursor);
    if (left >= strlen(for_debuggers) && !memcmp(lexer->cursor, for_debuggers, strlen(for_debuggers)))
        return true;
    if (*lexer->cursor != '#') return false;
    if (lexer->end - at >= 4 && memcmp(at, "line", 4) == 0) return true;
    while (at < lexer->end && *at == ' ')
        at++;
    return at < lexer->end && is_digit(*at);
}

/* False when a comment does not end. */
static bool skip_blanks(Lexer *lexer) {
    while (lexer->cursor < lexer->end) {
        const char *at = lexer->cursor;
        bool pair = at + 1 < lexer->end;
        if (*at == '\n') {
            lexer->line++;
            lexer->cursor++;
            lexer->is_line_start = true;
        } else if (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\f' || *at == '\v') {
            lexer->cursor++;
        } else if ((pair && at[0] == '/' && at[1] == '/') || at_marker_line(lexer)) {
            while (lexer->cursor < lexer->end && *lexer->cursor != '\n')
                lexer->cursor++;
        } else if (pair && at[0] == '/' && at[1] == '*') {
            lexer->cursor += 2;
            while (lexer->cursor + 1 < lexer->end && !(lexer->cursor[0] == '*' && lexer->cursor[1] == '/'))
                lexer->line += *lexer->cursor++ == '\n';
            if (lexer->cursor + 1 >= lexer->end) return false;
            lexer->cursor += 2;
        } else {
            lexer->is_line_start = false;
            return true;
        }
    }
    return true;
}

static void take_word(Lexer *lexer) {
    while (lexer->cursor < lexer->end && is_word(*lexer->cursor))
        lexer->cursor++;
}

/* A modifier may hold "::" (.shared::cta); a single colon ends a label. */
static Token lex_dotted(Lexer *lexer) {
    const char *start = ++lexer->cursor;
    take_word(lexer);
    while (lexer->end - lexer->cursor > 2 && lexer->cursor[0] == ':' && lexer->cursor[1] == ':' &&
           is_word(lexer->cursor[2])) {
        lexer->cursor += 2;
        take_word(lexer);
    }
    return token_here(lexer, TOKEN_DOTTED, start);
}

/* .5, .5e3: no modifier, such as .2d, has a dot and then digits alone or an exponent. */
static bool at_fraction(const Lexer *lexer) {
    const char *at = lexer->cursor + 1;
    while (at < lexer->end && is_digit(*at))
        at++;
    if (at == lexer->cursor + 1) return false;
    return at == lexer->end || !is_word(*at) || *at == 'e' || *at == 'E';
}

static Token lex_number(Lexer *lexer) {
    const char *start = lexer->cursor;
    take_word(lexer);
    bool decimal = true;
    for (const char *c = start; c < lexer->cursor; c++)
        decimal &= is_digit(*c);
    char next = lexer->end - lexer->cursor > 1 ? lexer->cursor[1] : 0;
    if (decimal && lexer->cursor < lexer->end && *lexer->cursor == '.' &&
        (is_digit(next) || !is_word(next))) {
        lexer->cursor++;
        take_word(lexer);
    }
    bool prefixed = start[0] == '0' && lexer->cursor - start > 1 && !is_digit(start[1]) && start[1] != '.';
    char last = lexer->cursor[-1];
    if (!prefixed && (last == 'e' || last == 'E') && lexer->end - lexer->cursor > 1 &&
        (*lexer->cursor == '-' || *lexer->cursor == '+') && is_digit(lexer->cursor[1])) {
        lexer->cursor++;
        take_word(lexer);
    }
    return token_here(lexer, TOKEN_NUMBER, start);
}

static Token lex_string(Lexer *lexer) {
    const char *start = lexer->cursor++;
    while (lexer->cursor < lexer->end && *lexer->cursor != '"' && *lexer->cursor != '\n')
        lexer->cursor += *lexer->cursor == '\\' && lexer->end - lexer->cursor > 1 && lexer->cursor[1] != '\n'
                             ? 2
                             : 1;
    if (lexer->cursor >= lexer->end || *lexer->cursor != '"')
        return broken(lexer, "a string without its closing quote");
    lexer->cursor++;
    return token_here(lexer, TOKEN_STRING, start);
}

Token lexer_next(Lexer *lexer) {
    if (!skip_blanks(lexer)) return broken(lexer, "a comment without its end");
    const char *start = lexer->cursor;
    if (start == lexer->end) return token_here(lexer, TOKEN_END, start);
    char c = *start;
    bool more = lexer->end - start > 1;
    if (is_digit(c) || (c == '.' && at_fraction(lexer))) return lex_number(lexer);
    if (c == '.' && more && is_word(start[1])) return lex_dotted(lexer);
    if (c == '"') return lex_string(lexer);
    if (is_word(c) || (c == '%' && more && is_word(start[1]))) {
        lexer->cursor++;
        take_word(lexer);
        return token_here(lexer, TOKEN_IDENTIFIER, start);
    }
    lexer->cursor++;
    if (c < ' ' || c > '~') return broken(lexer, "a character that PTX does not use");
    Token token = token_here(lexer, TOKEN_PUNCTUATION, start);
    token.punctuation = c;
    return token;
}

void lexer_skip_line(Lexer *lexer) {
    while (lexer->cursor < lexer->end && *lexer->cursor != '\n')
        lexer->cursor++;
}

bool token_is(Token token, TokenKind kind, const char *text) {
    return token.kind == kind && token.length == strlen(text) && !memcmp(token.text, text, token.length);
}

static int digit_value(char c) {
    if (is_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return 99;
}

static const char *parse_digits(const char *text, size_t length, uint64_t base, uint64_t *value) {
    *value = 0;
    if (!length) return "a number without digits";
    for (size_t i = 0; i < length; i++) {
        uint64_t digit = (uint64_t)digit_value(text[i]);
        if (digit >= base) return "a number with an invalid digit";
        if (__builtin_mul_overflow(*value, base, value) || __builtin_add_overflow(*value, digit, value))
            return "a number of more than 64 bits";
    }
    return NULL;
}

static const char *parse_decimal_float(Token token, Literal *literal) {
    char copy[64], *end;
    if (token.length >= sizeof copy) return "a decimal float of more than 63 characters";
    memcpy(copy, token.text, token.length);
    copy[token.length] = 0;
    double value = strtod(copy, &end);
    if (*end) return "a malformed decimal float";
    literal->kind = LITERAL_F64;
    memcpy(&literal->bits, &value, sizeof value);
    return NULL;
}

const char *literal_parse(Token token, Literal *literal) {
    const char *text = token.text;
    size_t length = token.length;
    char prefix = length > 1 && text[0] == '0' ? (char)(text[1] | 0x20) : 0;
    literal->kind = LITERAL_INTEGER;
    if (prefix == 'f' || prefix == 'd') {
        literal->kind = prefix == 'f' ? LITERAL_F32 : LITERAL_F64;
        size_t digits = prefix == 'f' ? 8 : 16;
        if (length - 2 != digits)
            return prefix == 'f' ? "0f needs 8 hexadecimal digits" : "0d needs 16 hexadecimal digits";
        return parse_digits(text + 2, digits, 16, &literal->bits);
    }
    if (length > 1 && (text[length - 1] | 0x20) == 'u') length--;
    if (prefix == 'x') return parse_digits(text + 2, length - 2, 16, &literal->bits);
    if (prefix == 'b') return parse_digits(text + 2, length - 2, 2, &literal->bits);
    if (memchr(text, '.', length) || memchr(text, 'e', length) || memchr(text, 'E', length))
        return parse_decimal_float(token, literal);
    bool octal = length > 1 && text[0] == '0';
    return parse_digits(text, length, octal ? 8 : 10, &literal->bits);
}

Literal literal_negate(Literal literal) {
    switch (literal.kind) {
    case LITERAL_INTEGER: literal.bits = -literal.bits; break;
    case LITERAL_F32: literal.bits ^= 1u << 31; break;
    case LITERAL_F64: literal.bits ^= 1ull << 63; break;
    }
    return literal;
}
