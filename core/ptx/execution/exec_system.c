/* Calls of the device's runtime: vprintf, malloc, free, and failed assertions. */
#include "core/ptx/execution/exec_internal.h"
#include "core/ptx/execution/system.h"
#include "core/sim/base/error.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_FORMAT = 1 << 16, MAX_MESSAGE = 1 << 20, MAX_WIDTH = 4096, MAX_TEXT = 200 };

void system_calls_free(SystemCalls *calls) {
    buffer_free(&calls->messages);
    free(calls->requests);
    *calls = (SystemCalls){0};
}

void system_print(SystemCalls *calls, PrintedOf *printed_of, const void *context) {
    Reader reader = {.bytes = calls->messages.bytes, .count = calls->messages.count};
    while (reader.position < reader.count) {
        PrintedText *printed = printed_of(context, reader_u32(&reader));
        uint32_t bytes = reader_u32(&reader);
        const uint8_t *text = reader_bytes(&reader, bytes);
        if (printed->dropped || printed->text.count + bytes > printed->limit)
            printed->dropped++;
        else
            buffer_append(&printed->text, text, bytes);
    }
    calls->messages.count = 0;
}

/* --- Reading memory of any space ------------------------------------------------------------- */

typedef struct {
    ExecContext *context;
    int lane;
} Thread;

static bool read_flat(const uint8_t *memory, uint64_t limit, uint64_t address, uint32_t bytes,
                      uint64_t *value) {
    *value = 0;
    if (bytes > limit || address > limit - bytes) return false;
    memcpy(value, memory + address, bytes);
    return true;
}

/* Its bytes need not lie side by side. */
static bool read_local(const Thread *thread, uint64_t address, uint32_t bytes, uint64_t *value) {
    const ExecContext *context = thread->context;
    *value = 0;
    if (bytes > context->local_bytes || address > context->local_bytes - bytes) return false;
    for (uint32_t i = 0; i < bytes; i++)
        *value |= (uint64_t)context->local[local_place(address + i, thread->lane)] << 8 * i;
    return true;
}

static bool read_generic(const Thread *thread, uint64_t address, uint32_t bytes, uint64_t *value) {
    const ExecContext *context = thread->context;
    if (address - SHARED_WINDOW < WINDOW_BYTES)
        return read_flat(context->shared, context->shared_bytes, address - SHARED_WINDOW, bytes, value);
    if (address - LOCAL_WINDOW < WINDOW_BYTES)
        return read_local(thread, address - LOCAL_WINDOW, bytes, value);
    if (address - PARAM_WINDOW < WINDOW_BYTES)
        return read_flat(context->params, context->param_bytes, address - PARAM_WINDOW, bytes, value);
    return view_load(context->view, address, bytes, value);
}

/* The first such fault of a call is the one that is told. */
static void fault_text(const Thread *thread, uint64_t address) {
    if (thread->context->fault != FAULT_NONE) return;
    thread->context->space = SPACE_GLOBAL;
    fault_at(thread->context, FAULT_OUT_OF_BOUNDS, thread->lane, address);
}

/* Appends the text there, up to its NUL, the end of memory, or `most` bytes. Where it begins outside memory, as the
 * host's texts do, that is a fault. */
static void append_text(const Thread *thread, uint64_t address, uint64_t most, Buffer *to) {
    uint64_t letter;
    if (most && !read_generic(thread, address, 1, &letter)) fault_text(thread, address);
    for (uint64_t i = 0; i < most && read_generic(thread, address + i, 1, &letter) && letter; i++) {
        char c = (char)letter;
        buffer_append(to, &c, 1);
    }
}

/* --- Formatting ------------------------------------------------------------------------------ */

typedef struct {
    Thread thread;
    uint64_t next; /* the address of the next argument */
    uint32_t count;
    Buffer *to;
} Printer;

/* Arguments lie as in a structure: each at a multiple of its size. */
static uint64_t take_argument(Printer *printer, uint32_t bytes) {
    uint64_t value, address = (printer->next + bytes - 1) / bytes * bytes;
    if (!read_generic(&printer->thread, address, bytes, &value)) value = 0;
    printer->next = address + bytes;
    printer->count++;
    return value;
}

/* "%-08.3l" and the like: what stands between % and the letter. */
typedef struct {
    char flags[8];
    int width, precision; /* -1: none */
    uint32_t bytes;       /* of an integer */
} Spec;

static const char *parse_number(Printer *printer, const char *at, int *number) {
    if (*at == '*') {
        *number = (int)(int32_t)take_argument(printer, 4);
        at++;
    } else {
        for (*number = 0; *at >= '0' && *at <= '9'; at++)
            *number = *number < MAX_WIDTH ? *number * 10 + (*at - '0') : MAX_WIDTH;
    }
    return at;
}

static const char *parse_length(const char *at, uint32_t *bytes) {
    *bytes = 4;
    for (; *at && strchr("hlLqjzt", *at); at++)
        *bytes = *at == 'h' ? (*bytes == 2 ? 1 : 2) : 8;
    return at;
}

static const char *parse_spec(Printer *printer, const char *at, Spec *spec) {
    size_t flags = 0;
    *spec = (Spec){.width = -1, .precision = -1};
    for (; *at && strchr("-+ #0", *at); at++)
        if (!strchr(spec->flags, *at) && flags + 1 < sizeof spec->flags) spec->flags[flags++] = *at;
    if (*at == '*' || (*at >= '1' && *at <= '9')) {
        at = parse_number(printer, at, &spec->width);
        if (spec->width < 0 && !strchr(spec->flags, '-')) spec->flags[flags++] = '-';
        if (spec->width < 0) spec->width = spec->width < -MAX_WIDTH ? MAX_WIDTH : -spec->width;
    }
    if (*at == '.') at = parse_number(printer, at + 1, &spec->precision);
    if (spec->width > MAX_WIDTH) spec->width = MAX_WIDTH;
    if (spec->precision > MAX_WIDTH) spec->precision = MAX_WIDTH;
    return parse_length(at, &spec->bytes);
}

static void host_format(const Spec *spec, const char *conversion, char *format, size_t size) {
    char width[16] = "", precision[16] = "";
    if (spec->width >= 0) snprintf(width, sizeof width, "%d", spec->width);
    if (spec->precision >= 0) snprintf(precision, sizeof precision, ".%d", spec->precision);
    snprintf(format, size, "%%%s%s%s%s", spec->flags, width, precision, conversion);
}

#define APPEND(printer, format, ...)                                                                         \
    do {                                                                                                     \
        char text[2 * MAX_WIDTH + 512];                                                                      \
        int length = snprintf(text, sizeof text, format, __VA_ARGS__);                                       \
        buffer_append((printer)->to, text, (size_t)length < sizeof text ? (size_t)length : sizeof text - 1); \
    } while (0)

static void print_integer(Printer *printer, const Spec *spec, char letter) {
    char format[64], conversion[4] = {'l', 'l', letter};
    uint64_t bits = take_argument(printer, spec->bytes == 8 ? 8 : 4);
    uint32_t unused = 64 - 8 * spec->bytes;
    bool is_signed = letter == 'd' || letter == 'i';
    host_format(spec, conversion, format, sizeof format);
    if (is_signed)
        APPEND(printer, format, (long long)((int64_t)(bits << unused) >> unused));
    else
        APPEND(printer, format, (unsigned long long)(bits << unused >> unused));
}

static void print_float(Printer *printer, const Spec *spec, char letter) {
    char format[64], conversion[2] = {letter};
    uint64_t bits = take_argument(printer, 8);
    double value;
    memcpy(&value, &bits, sizeof value);
    host_format(spec, conversion, format, sizeof format);
    APPEND(printer, format, value);
}

static void print_string(Printer *printer, const Spec *spec) {
    uint64_t address = take_argument(printer, 8),
             most = spec->precision >= 0 ? (uint64_t)spec->precision : MAX_MESSAGE;
    Buffer text = {0};
    bool left = strchr(spec->flags, '-') != NULL;
    if (address)
        append_text(&printer->thread, address, most, &text);
    else
        buffer_append(&text, "(null)", 6);
    size_t blanks = spec->width > 0 && text.count < (size_t)spec->width ? (size_t)spec->width - text.count
                                                                        : 0;
    for (size_t i = 0; !left && i < blanks; i++)
        buffer_append(printer->to, " ", 1);
    buffer_append(printer->to, text.bytes, text.count);
    for (size_t i = 0; left && i < blanks; i++)
        buffer_append(printer->to, " ", 1);
    buffer_free(&text);
}

static void print_character(Printer *printer, const Spec *spec) {
    int width = spec->width > 0 ? spec->width : 0;
    bool left = strchr(spec->flags, '-') != NULL;
    APPEND(printer, "%*c", left ? -width : width, (int)(uint8_t)take_argument(printer, 4));
}

static void print_pointer(Printer *printer, const Spec *spec) {
    char format[64];
    host_format(spec, "p", format, sizeof format);
    APPEND(printer, format, (void *)(uintptr_t)take_argument(printer, 8));
}

/* Behind a '%'. Returns what is behind the letter. */
static const char *print_conversion(Printer *printer, const char *at) {
    const char *from = at - 1;
    Spec spec;
    at = parse_spec(printer, at, &spec);
    char letter = *at;
    if (letter && strchr("diuoxX", letter))
        print_integer(printer, &spec, letter);
    else if (letter && strchr("fFeEgGaA", letter))
        print_float(printer, &spec, letter);
    else if (letter == 'c')
        print_character(printer, &spec);
    else if (letter == 's')
        print_string(printer, &spec);
    else if (letter == 'p')
        print_pointer(printer, &spec);
    else if (letter == 'n')
        take_argument(printer, 8); /* nothing is written back */
    else if (letter == '%')
        buffer_append(printer->to, "%", 1);
    else
        buffer_append(printer->to, from, (size_t)(at - from) + (letter != 0));
    return letter ? at + 1 : at;
}

/* Returns the number of arguments. */
static uint32_t print_format(Printer *printer, const char *format) {
    size_t start = printer->to->count;
    while (*format && printer->to->count - start < MAX_MESSAGE) {
        if (*format == '%') {
            format = print_conversion(printer, format + 1);
            continue;
        }
        size_t plain = strcspn(format, "%");
        buffer_append(printer->to, format, plain);
        format += plain;
    }
    return printer->count;
}

static uint32_t print_lane(ExecContext *context, int lane, uint64_t format, uint64_t arguments) {
    Buffer text = {0}, *messages = &context->system->messages;
    Printer printer = {{context, lane}, arguments, 0, messages};
    buffer_u32(messages, context->system->kernel);
    size_t start = messages->count;
    append_text(&printer.thread, format, MAX_FORMAT, &text);
    buffer_append(&text, "", 1);
    buffer_u32(messages, 0);
    uint32_t count = print_format(&printer, (const char *)text.bytes),
             bytes = (uint32_t)(messages->count - start - sizeof bytes);
    memcpy(messages->bytes + start, &bytes, sizeof bytes);
    buffer_free(&text);
    return count;
}

void exec_vprintf(const Inst *inst, ExecContext *context) {
    const LaneU64 *format = source(inst, context, 0), *arguments = source(inst, context, 1);
    if (!context->system) return;
    for (uint32_t lanes = context->active; lanes; lanes &= lanes - 1) {
        int lane = __builtin_ctz(lanes);
        uint32_t count = format[lane] ? print_lane(context, lane, format[lane], arguments[lane]) : UINT32_MAX;
        if (inst->dst_count) ((LaneU32 *)destination(inst, context, 0))[lane] = count;
    }
}

/* --- The heap -------------------------------------------------------------------------------- */

static void note_request(const Inst *inst, ExecContext *context, bool frees) {
    SystemCalls *calls = context->system;
    if (!calls) return;
    const LaneU64 *values = source(inst, context, 0);
    if (calls->request_count == calls->request_capacity) {
        calls->request_capacity = calls->request_capacity ? calls->request_capacity * 2 : 16;
        calls->requests = realloc(calls->requests, calls->request_capacity * sizeof *calls->requests);
        ensure_memory(calls->requests);
    }
    HeapRequest *request = &calls->requests[calls->request_count++];
    *request = (HeapRequest){.mask = context->active, .dst = frees ? 0 : inst->dst[0], .frees = frees};
    for (int lane = 0; lane < WARP_LANES; lane++)
        request->value[lane] = values[lane];
}

void exec_malloc(const Inst *inst, ExecContext *context) {
    if (inst->dst_count) note_request(inst, context, false);
}

void exec_free(const Inst *inst, ExecContext *context) {
    note_request(inst, context, true);
}

/* --- Assertions ------------------------------------------------------------------------------ */

static uint64_t lane_of(const Inst *inst, const ExecContext *context, int index, int lane) {
    return ((const LaneU64 *)source(inst, context, index))[lane];
}

/* __assertfail(text, file, line, function, size of a character) */
void exec_assertfail(const Inst *inst, ExecContext *context) {
    if (!context->active) return;
    int lane = __builtin_ctz(context->active);
    Thread thread = {context, lane};
    char line[16];
    int digits = snprintf(line, sizeof line, ":%u: ", ((const LaneU32 *)source(inst, context, 2))[lane]);
    Buffer text = {0};
    append_text(&thread, lane_of(inst, context, 1, lane), MAX_TEXT, &text);
    buffer_append(&text, line, (size_t)digits);
    append_text(&thread, lane_of(inst, context, 3, lane), MAX_TEXT, &text);
    buffer_append(&text, ": assertion failed: ", 20);
    append_text(&thread, lane_of(inst, context, 0, lane), MAX_TEXT, &text);
    buffer_append(&text, "", 1);
    snprintf(context->assertion, sizeof context->assertion, "%s", (const char *)text.bytes);
    buffer_free(&text);
    fault_at(context, FAULT_ASSERTION, lane, lane_of(inst, context, 0, lane));
}
