#include "tests/conformance/reference.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "e4m3x2" */
static bool is_small_float(const char *word) {
    return word[0] == 'e' && word[1] >= '2' && word[1] <= '5' && word[2] == 'm';
}

static bool is_type(const char *word) {
    if (strcmp(word, "pred") == 0 || strcmp(word, "tf32") == 0) return true;
    if (strncmp(word, "bf16", 4) == 0 || is_small_float(word)) return true;
    return strchr("bsuf", *word) && word[1] >= '1' && word[1] <= '9' && strcmp(word, "f4e") != 0 &&
           strcmp(word, "b4e") != 0;
}

int type_bits(const char *type) {
    if (strcmp(type, "pred") == 0) return 1;
    if (strcmp(type, "f16x2") == 0 || strcmp(type, "bf16x2") == 0) return 32;
    if (strstr(type, "16x2")) return 32;
    if (strcmp(type, "f32x2") == 0) return 64;
    if (is_small_float(type)) return strcmp(type, "e2m1x2") == 0 ? 8 : 16;
    return atoi(type + strspn(type, "bsuft"));
}

static void split(const char *text, Form *form) {
    *form = (Form){.opcode = ""};
    snprintf(form->storage, sizeof form->storage, "%s", text);
    char *save = NULL;
    form->opcode = strtok_r(form->storage, ".", &save);
    for (char *word; form->count < MAX_WORDS && (word = strtok_r(NULL, ".", &save));) {
        form->words[form->count++] = word;
        if (is_type(word)) form->types[form->type_count++] = word;
    }
}

bool has_word(const Form *form, const char *word) {
    for (int i = 0; i < form->count; i++)
        if (strcmp(form->words[i], word) == 0) return true;
    return false;
}

bool take_word(Form *form, const char *word) {
    for (int i = 0; i < form->count; i++) {
        if (strcmp(form->words[i], word) != 0) continue;
        form->count--;
        memmove(form->words + i, form->words + i + 1, (size_t)(form->count - i) * sizeof *form->words);
        return true;
    }
    return false;
}

int take_one_of(Form *form, const char *words) {
    int index = 0;
    for (const char *word = words; *word; index++) {
        size_t length = strcspn(word, " ");
        char copy[24];
        snprintf(copy, sizeof copy, "%.*s", (int)length, word);
        if (take_word(form, copy)) return index;
        word += length + (word[length] == ' ');
    }
    return -1;
}

bool only_types(const Form *form) {
    return form->count == form->type_count;
}

void add_signature(Job *job, const char *format, ...) {
    va_list values;
    va_start(values, format);
    vsnprintf(job->signatures[job->signature_count++], SIGNATURE_SIZE, format, values);
    va_end(values);
}

void job_done(Job *job, const char *group, Apply *apply, const char *signature) {
    job->standing = HAS_REFERENCE;
    job->group = group;
    job->apply = apply;
    if (signature) add_signature(job, "%s", signature);
}

void job_refused(Job *job, Standing standing, const char *why) {
    job->standing = standing;
    job->why = why;
}

void reference_find(const char *text, Job *job) {
    static bool (*const families[])(Job *) = {
        integer_reference, bits_reference, float_reference,  half_reference,        compare_reference,
        convert_reference, move_reference, access_reference, approximate_reference, video_reference};
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        memset(job, 0, sizeof *job);
        job->lanes = 1;
        job->standing = UNKNOWN_FORM;
        job->why = "no reference";
        split(text, &job->form);
        if (families[i](job)) return;
    }
}

static long double value_of(uint64_t bits, Format format) {
    Exact exact = exact_of(bits, format);
    long double sign = exact.negative ? -1 : 1;
    if (exact.kind == CLASS_NAN) return NAN;
    if (exact.kind == CLASS_INFINITE) return sign * INFINITY;
    return sign * ldexpl((long double)exact.digits, exact.exponent);
}

static bool parts_fit(const Result *pair, uint64_t got) {
    Result part = *pair;
    part.part_bits = 0;
    part.value = low_bits(pair->value, pair->part_bits);
    if (!result_fits(&part, low_bits(got, pair->part_bits))) return false;
    part.value = pair->value >> pair->part_bits;
    part.least = pair->least_above;
    part.most = pair->most_above;
    return result_fits(&part, got >> pair->part_bits);
}

bool result_fits(const Result *result, uint64_t got) {
    if (result->part_bits) return parts_fit(result, got);
    if (result->has_other && got == result->other) return true;
    if (got == result->value && result->kind != RESULT_WITHIN) return true;
    if (result->kind == RESULT_EXACT) return false;
    Format format = result->format;
    uint64_t magnitude = low_bits(UINT64_MAX, format.fraction + format.exponent);
    if (got > (magnitude << 1 | 1)) return false;
    if (result->kind == RESULT_NUMBER) {
        if (is_nan(result->value, format)) return is_nan(got, format);
        return result->any_zero && ((got | result->value) & magnitude) == 0;
    }
    long double value = value_of(got, format);
    if (isnan(result->least)) return isnan(value);
    return value >= result->least && value <= result->most;
}
