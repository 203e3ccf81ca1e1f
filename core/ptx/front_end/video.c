/* Video instructions: the parts of their operands, `vadd.s32.u32.s32 d.h1, a.b0, b, c`, become an operand of their own. */
#include "core/ptx/instructions/video.h"

#include "core/ptx/front_end/parser.h"

#include <string.h>

/* Into how many elements an instruction divides its operands; 0: it is no video instruction. */
static uint32_t elements_of(const char *opcode) {
    static const char *const names[] = {"vadd",  "vsub", "vabsdiff", "vmin", "vmax",
                                        "vavrg", "vset", "vshl",     "vshr", "vmad"};
    enum { FIRST_SCALAR_ONLY = 7, AVERAGE = 5, NAMES = sizeof names / sizeof *names };
    for (uint32_t i = 0; i < NAMES; i++) {
        size_t length = strlen(names[i]);
        if (strncmp(opcode, names[i], length) != 0) continue;
        const char *rest = opcode + length;
        if (!*rest) return i == AVERAGE ? 0 : 1;
        bool divided = (*rest == '2' || *rest == '4') && !rest[1];
        if (divided && i < FIRST_SCALAR_ONLY) return (uint32_t)(*rest - '0');
    }
    return 0;
}

bool video_takes(const Draft *draft) {
    return draft->statement.opcode && elements_of(draft->statement.opcode) > 0;
}

static void refuse(Draft *draft, const char *reason) {
    if (!draft->statement.unsupported) draft->statement.unsupported = reason;
}

void video_select(Parser *parser, Draft *draft) {
    uint32_t operand = draft->statement.operand_count;
    if (operand < VIDEO_OPERANDS)
        draft->selectors[operand] = parser->token;
    else
        refuse(draft, "expected a third source without a selector");
    advance(parser);
}

bool video_accept_minus(Parser *parser, Draft *draft) {
    uint32_t operand = draft->statement.operand_count;
    bool negates = !strcmp(draft->statement.opcode ? draft->statement.opcode : "", "vmad") && operand >= 1 &&
                   operand <= 3 && at(parser, '-') && peek(parser).kind == TOKEN_IDENTIFIER;
    if (!negates) return false;
    advance(parser);
    draft->negated[operand] = true;
    return true;
}

/* .b0 to .b3, .h0, .h1 */
static uint32_t part_of(Draft *draft, Token selector) {
    if (!selector.length) return PART_WORD;
    uint32_t number = selector.length == 2 ? (uint32_t)(selector.text[1] - '0') : 9;
    if (*selector.text == 'b' && number <= 3) return PART_B0 + number;
    if (*selector.text == 'h' && number <= 1) return PART_H0 + number;
    refuse(draft, "expected the selectors .b0 to .b3, .h0 or .h1");
    return PART_WORD;
}

/* .h10: the numbers of elements, the last one first, each below `limit`. False when it is not that. */
static bool read_numbers(Token selector, uint32_t elements, uint32_t limit, uint8_t numbers[4],
                         uint32_t *count) {
    *count = (uint32_t)selector.length - 1;
    if (*selector.text != (elements == 2 ? 'h' : 'b') || *count == 0 || *count > elements) return false;
    for (uint32_t i = 0; i < *count; i++) {
        char digit = selector.text[selector.length - 1 - i];
        if (digit < '0' || digit >= (char)('0' + limit)) return false;
        numbers[i] = (uint8_t)(digit - '0');
    }
    return true;
}

static uint32_t mask_of(Draft *draft, Token selector, uint32_t elements) {
    uint8_t numbers[4];
    uint32_t count, mask = 0;
    if (!selector.length) return (1u << elements) - 1;
    bool fits = read_numbers(selector, elements, elements, numbers, &count);
    for (uint32_t i = 0; fits && i < count; i++) {
        fits = i == 0 || numbers[i] > numbers[i - 1];
        mask |= 1u << numbers[i];
    }
    if (!fits)
        refuse(draft, elements == 2 ? "expected the mask .h0, .h1 or .h10" : "expected a mask such as .b310");
    return mask;
}

static uint32_t source_of(Draft *draft, Token selector, uint32_t elements, uint32_t first) {
    uint8_t numbers[4] = {0};
    uint32_t count = elements, packed = 0;
    for (uint32_t i = 0; i < elements; i++)
        numbers[i] = (uint8_t)(first + i);
    if (selector.length &&
        (!read_numbers(selector, elements, 2 * elements, numbers, &count) || count != elements))
        refuse(draft, elements == 2 ? "expected a selector of two numbers to 3, such as .h32"
                                    : "expected a selector of four numbers to 7, such as .b7654");
    for (uint32_t i = 0; i < elements; i++)
        packed |= (uint32_t)numbers[i] << 3 * i;
    return packed;
}

bool video_add(Parser *parser, Draft *draft) {
    const Token *selectors = draft->selectors;
    if (!video_takes(draft)) return false;
    uint32_t elements = elements_of(draft->statement.opcode), packed;
    if (elements == 1) {
        packed = part_of(draft, selectors[0]) | part_of(draft, selectors[1]) << VIDEO_A_SHIFT |
                 part_of(draft, selectors[2]) << VIDEO_B_SHIFT;
    } else {
        packed = mask_of(draft, selectors[0], elements) |
                 source_of(draft, selectors[1], elements, 0) << VIDEO_A_SHIFT |
                 source_of(draft, selectors[2], elements, elements) << VIDEO_B_SHIFT;
    }
    if (draft->negated[1] != draft->negated[2]) packed |= VIDEO_NEGATES_PRODUCT;
    if (draft->negated[3]) packed |= VIDEO_NEGATES_SUM;
    if (draft->negated[3] && (draft->negated[1] || draft->negated[2]))
        refuse(draft, "the product or the third source may be negated, not both");
    draft_operand(draft, immediate_operand(packed));
    statement_add(parser, draft);
    return true;
}
