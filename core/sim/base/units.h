/* Quantities as people write them: "16KiB", "700MHz", "0.5". */
#ifndef WW_SIM_UNITS_H
#define WW_SIM_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Parses `text` in `unit`: "bytes" (B, KiB, MiB, GiB), "Hz" (Hz, kHz, MHz, GHz), anything else a plain
 * number. A bare number is accepted in every unit. False when the text is not such a quantity. */
bool parse_quantity(const char *text, const char *unit, double *value);
/* What parse_quantity() accepts in this unit, for messages. */
const char *quantity_examples(const char *unit);

typedef char NumberText[32];
/* The digits of a whole number; returns how many characters these are. Files of results have thousands. */
size_t integer_text(int64_t value, NumberText text);
/* The number for a message: whole ones with all their digits. Returns the text. */
const char *number_text(double value, NumberText text);

#endif
