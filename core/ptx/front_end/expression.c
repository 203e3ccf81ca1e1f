/* Constant expressions: numbers, parentheses, and C's operators on 64-bit integers. Floats know signs alone. */
#include "core/ptx/front_end/parser.h"

#include <string.h>

enum { MAX_EXPRESSION_DEPTH = 64, LOWEST_PRECEDENCE = 1, PRODUCT_PRECEDENCE = 10 };

typedef struct {
    Literal literal;
    bool is_unsigned;
} Value;

typedef struct {
    Parser *parser;
    const char *what;
    uint32_t depth;
} Expression;

static Value parse_binary(Expression *expression, uint32_t precedence);

static const struct {
    char text[3];
    uint8_t precedence;
} operators[] = {{"||", 1}, {"&&", 2}, {"==", 6}, {"!=", 6}, {"<=", 7}, {">=", 7},
                 {"<<", 8}, {">>", 8}, {"|", 3},  {"^", 4},  {"&", 5},  {"<", 7},
                 {">", 7},  {"+", 9},  {"-", 9},  {"*", 10}, {"/", 10}, {"%", 10}};

enum { OPERATORS = sizeof operators / sizeof *operators };

/* The number of the operator at hand, which may be of two characters; OPERATORS: none is. */
static uint32_t operator_here(const Parser *parser) {
    char first = parser->token.punctuation;
    if (!first) return OPERATORS;
    char second = parser->lexer.cursor < parser->lexer.end ? *parser->lexer.cursor : 0;
    for (uint32_t i = 0; i < OPERATORS; i++)
        if (operators[i].text[0] == first && (!operators[i].text[1] || operators[i].text[1] == second))
            return i;
    return OPERATORS;
}

static Value integer(uint64_t bits, bool is_unsigned) {
    return (Value){{LITERAL_INTEGER, bits}, is_unsigned};
}

static void require_integer(const Expression *expression, Value value) {
    if (value.literal.kind != LITERAL_INTEGER)
        parser_fail(expression->parser, expression->parser->token.line,
                    "%s: expected integers between operators, got a float", expression->what);
}

static uint64_t shifted(const char *text, uint64_t a, uint64_t by, bool is_unsigned) {
    if (by > 63) return text[0] == '>' && !is_unsigned && (int64_t)a < 0 ? UINT64_MAX : 0;
    if (text[0] == '<') return a << by;
    return is_unsigned ? a >> by : (uint64_t)((int64_t)a >> by);
}

static uint64_t divided(const Expression *expression, const char *text, uint64_t a, uint64_t b,
                        bool is_unsigned) {
    if (!b)
        parser_fail(expression->parser, expression->parser->token.line, "%s: a division by 0",
                    expression->what);
    bool quotient = text[0] == '/';
    if (is_unsigned) return quotient ? a / b : a % b;
    if (b == UINT64_MAX) return quotient ? -a : 0; /* the least integer has no quotient by -1 */
    return quotient ? (uint64_t)((int64_t)a / (int64_t)b) : (uint64_t)((int64_t)a % (int64_t)b);
}

static bool is_less(uint64_t a, uint64_t b, bool is_unsigned) {
    return is_unsigned ? a < b : (int64_t)a < (int64_t)b;
}

static Value combine(const Expression *expression, uint32_t operation, Value left, Value right) {
    const char *text = operators[operation].text;
    uint64_t a = left.literal.bits, b = right.literal.bits;
    bool u = left.is_unsigned || right.is_unsigned;
    require_integer(expression, left);
    require_integer(expression, right);
    if (!strcmp(text, "||")) return integer(a || b, false);
    if (!strcmp(text, "&&")) return integer(a && b, false);
    if (!strcmp(text, "==")) return integer(a == b, false);
    if (!strcmp(text, "!=")) return integer(a != b, false);
    if (!strcmp(text, "<=")) return integer(!is_less(b, a, u), false);
    if (!strcmp(text, ">=")) return integer(!is_less(a, b, u), false);
    if (text[0] == text[1]) return integer(shifted(text, a, b, left.is_unsigned), left.is_unsigned);
    switch (text[0]) {
    case '|': return integer(a | b, u);
    case '^': return integer(a ^ b, u);
    case '&': return integer(a & b, u);
    case '<': return integer(is_less(a, b, u), false);
    case '>': return integer(is_less(b, a, u), false);
    case '+': return integer(a + b, u);
    case '-': return integer(a - b, u);
    case '*': return integer(a * b, u);
    case '/': return integer(divided(expression, text, a, b, u), u);
    default: return integer(divided(expression, text, a, b, true), true); /* so the ISA has it */
    }
}

/* (.s64) or (.u64): behind the parenthesis. */
static bool accept_cast(Parser *parser, bool *is_unsigned) {
    *is_unsigned = at_dotted(parser, "u64");
    if (!*is_unsigned && !at_dotted(parser, "s64")) return false;
    advance(parser);
    expect(parser, ')', "after the type of a cast");
    return true;
}

static bool has_suffix(Token token) {
    return token.length > 1 && (token.text[token.length - 1] | 0x20) == 'u';
}

static Value parse_unary(Expression *expression) {
    Parser *parser = expression->parser;
    if (expression->depth >= MAX_EXPRESSION_DEPTH)
        parser_fail(parser, parser->token.line,
                    "%s: expected up to %d levels of parentheses and signs, got more", expression->what,
                    MAX_EXPRESSION_DEPTH);
    expression->depth++;
    Value value;
    bool cast, negative = false;
    for (; at(parser, '-') || at(parser, '+'); advance(parser))
        negative ^= at(parser, '-');
    char sign = parser->token.punctuation;
    if (sign == '~' || sign == '!') {
        advance(parser);
        value = parse_unary(expression);
        require_integer(expression, value);
        if (sign == '~') value = integer(~value.literal.bits, true);
        if (sign == '!') value = integer(!value.literal.bits, false);
    } else if (accept(parser, '(')) {
        bool casts = accept_cast(parser, &cast);
        value = casts ? parse_unary(expression) : parse_binary(expression, LOWEST_PRECEDENCE);
        if (casts) value.is_unsigned = cast;
        if (!casts) expect(parser, ')', "after an expression");
    } else {
        bool is_unsigned = has_suffix(parser->token);
        value = (Value){expect_literal(parser, expression->what), is_unsigned};
        value.is_unsigned |= value.literal.kind == LITERAL_INTEGER && value.literal.bits > INT64_MAX;
    }
    expression->depth--;
    if (negative) value.literal = literal_negate(value.literal);
    return value;
}

static Value parse_choice(Expression *expression, Value condition) {
    Parser *parser = expression->parser;
    if (expression->depth >= MAX_EXPRESSION_DEPTH || !accept(parser, '?')) return condition;
    expression->depth++;
    require_integer(expression, condition);
    Value yes = parse_binary(expression, LOWEST_PRECEDENCE);
    expect(parser, ':', "between the values of a '?'");
    Value no = parse_binary(expression, LOWEST_PRECEDENCE);
    expression->depth--;
    yes.is_unsigned = no.is_unsigned |= yes.is_unsigned;
    return condition.literal.bits ? yes : no;
}

static Value parse_binary(Expression *expression, uint32_t precedence) {
    Parser *parser = expression->parser;
    Value left = parse_unary(expression);
    for (;;) {
        uint32_t operation = operator_here(parser);
        if (operation == OPERATORS || operators[operation].precedence < precedence) break;
        advance(parser);
        if (operators[operation].text[1]) advance(parser);
        left = combine(expression, operation, left,
                       parse_binary(expression, operators[operation].precedence + 1u));
    }
    return precedence == LOWEST_PRECEDENCE ? parse_choice(expression, left) : left;
}

Literal parse_expression(Parser *parser, const char *what) {
    Expression expression = {.parser = parser, .what = what};
    return parse_binary(&expression, LOWEST_PRECEDENCE).literal;
}

uint64_t parse_offset(Parser *parser) {
    uint64_t offset = 0;
    while (at(parser, '+') || at(parser, '-')) {
        uint32_t line = parser->token.line;
        bool minus = at(parser, '-');
        advance(parser);
        Expression expression = {.parser = parser, .what = "an offset"};
        Literal literal = parse_binary(&expression, PRODUCT_PRECEDENCE).literal;
        if (literal.kind != LITERAL_INTEGER)
            parser_fail(parser, line, "expected an integer as offset, got a float");
        offset += minus ? -literal.bits : literal.bits;
    }
    return offset;
}
