#include "core/sim/base/units.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *unit, *suffix;
    long double factor;
} Suffix;

static const Suffix suffixes[] = {
    {"bytes", "B", 1}, {"bytes", "KiB", 1024}, {"bytes", "MiB", 1048576}, {"bytes", "GiB", 1073741824},
    {"Hz", "Hz", 1},   {"Hz", "kHz", 1e3},     {"Hz", "MHz", 1e6},        {"Hz", "GHz", 1e9},
};

bool parse_quantity(const char *text, const char *unit, double *value) {
    char *end;
    if (!isdigit((unsigned char)*text) && *text != '-' && *text != '.') return false;
    long double number = strtold(text, &end); /* "1.001GHz" is a whole number of Hz */
    if (end == text) return false;
    *value = (double)number;
    while (*end == ' ')
        end++;
    if (*end == 0) return true;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (unit && strcmp(unit, suffixes[i].unit) == 0 && strcmp(end, suffixes[i].suffix) == 0) {
            *value = (double)(number * suffixes[i].factor);
            return true;
        }
    return false;
}

const char *quantity_examples(const char *unit) {
    if (unit && strcmp(unit, "bytes") == 0) return "bytes (128, \"128B\", \"16KiB\")";
    if (unit && strcmp(unit, "Hz") == 0) return "a frequency (\"700MHz\", \"1.4GHz\")";
    return "a number";
}

size_t integer_text(int64_t value, NumberText text) {
    char digits[20], *first = digits + sizeof digits;
    uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;
    size_t length = 0;
    do {
        *--first = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest);
    if (value < 0) text[length++] = '-';
    memcpy(text + length, first, (size_t)(digits + sizeof digits - first));
    length += (size_t)(digits + sizeof digits - first);
    text[length] = 0;
    return length;
}

const char *number_text(double value, NumberText text) {
    bool whole = value == floor(value) && fabs(value) < 1e19;
    snprintf(text, sizeof(NumberText), whole ? "%.0f" : "%.15g", value);
    return text;
}
