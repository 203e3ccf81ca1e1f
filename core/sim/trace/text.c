#include "core/sim/trace/text.h"

#include "core/sim/trace/sink.h"

#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 1024 };

typedef struct {
    TraceWriter writer;
    const Sim *sim;
    Sink *sink;
    char *events;
    char line[LINE_BYTES];
    uint32_t length;
} TraceText;

static void add_bytes(TraceText *text, const char *bytes, size_t count) {
    size_t room = LINE_BYTES - 2 - text->length, taken = count < room ? count : room;
    memcpy(text->line + text->length, bytes, taken);
    text->length += (uint32_t)taken;
}

static void add(TraceText *text, const char *words) {
    add_bytes(text, words, strlen(words));
}

static void add_number(TraceText *text, uint64_t number) {
    char digits[20];
    uint32_t at = sizeof digits;
    do
        digits[--at] = (char)('0' + number % 10);
    while (number /= 10);
    add_bytes(text, digits + at, sizeof digits - at);
}

static void add_signed(TraceText *text, int64_t number) {
    if (number < 0) add(text, "-");
    add_number(text, number < 0 ? -(uint64_t)number : (uint64_t)number);
}

static void add_hex(TraceText *text, uint64_t number) {
    char digits[16];
    uint32_t at = sizeof digits;
    do
        digits[--at] = "0123456789abcdef"[number & 15];
    while (number >>= 4);
    add_bytes(text, digits + at, sizeof digits - at);
}

/* A format for numbers: %d for the next one, %x for it in hexadecimal digits. */
static void add_format(TraceText *text, const char *format, const int64_t *number) {
    for (; *format; format++) {
        if (format[0] != '%' || !format[1]) {
            add_bytes(text, format, 1);
            continue;
        }
        if (*++format == 'x')
            add_hex(text, (uint64_t)*number++);
        else
            add_signed(text, *number++);
    }
}

static bool is_among(const char *name, size_t length, const char *const *names) {
    for (; *names; names++)
        if (strlen(*names) == length && memcmp(name, *names, length) == 0) return true;
    return false;
}

/* " name=value" for each argument of an event that has no column. */
static void add_arguments(TraceText *text, const TraceRecord *record) {
    static const char *const columns[] = {"sm", "warp", "pc", NULL}, *const bits[] = {"address", "warps",
                                                                                      NULL};
    const char *names = record->detail;
    for (uint32_t i = 0; *names && i < EVENT_ARGUMENTS; i++) {
        size_t length = strcspn(names, ",");
        if (record->message.warp < 0 || !is_among(names, length, columns)) {
            add(text, " ");
            add_bytes(text, names, length);
            add(text, is_among(names, length, bits) ? "=0x" : "=");
            if (is_among(names, length, bits))
                add_hex(text, (uint64_t)record->number[i]);
            else
                add_signed(text, record->number[i]);
        }
        names += length;
        names += strspn(names, ", ");
    }
}

static void add_id(TraceText *text, const TraceMessage *message) {
    add_signed(text, message->sm);
    add(text, ".");
    add_signed(text, message->warp);
    add(text, ".");
    add_number(text, clock_cycle(&text->sim->clocks[0], message->issued));
    add(text, ".");
    add_hex(text, message->address >> 7);
}

static void add_message(TraceText *text, const TraceRecord *record) {
    const TraceMessage *message = &record->message;
    if (!message->what) return;
    if (message->is_request) {
        add(text, " ");
        add_id(text, message);
    }
    add(text, " ");
    add(text, message->what);
    if (message->bytes) {
        add(text, " ");
        add_number(text, message->bytes);
        add(text, " B");
    }
    if (message->is_request) {
        add(text, " at 0x");
        add_hex(text, message->address);
    }
}

static void add_warp(TraceText *text, const TraceMessage *message) {
    if (message->warp < 0) {
        add(text, " -");
        return;
    }
    add(text, " ");
    if (message->sm >= 0) {
        add_number(text, (uint64_t)message->sm);
        add(text, "/");
    }
    add_number(text, (uint64_t)message->warp);
}

static void add_text(TraceText *text, const TraceRecord *record) {
    switch (record->kind) {
    case TRACE_RECEIVE:
    case TRACE_SEND:
        add_message(text, record);
        add(text, record->message.is_response ? ", answer" : "");
        add(text, record->kind == TRACE_SEND ? " to " : " from ");
        add(text, record->detail);
        break;
    case TRACE_EVENT: add_arguments(text, record); break;
    case TRACE_KNOB:
        add(text, " ");
        add(text, record->detail);
        add(text, "=");
        add_number(text, (uint64_t)record->number[0]);
        break;
    case TRACE_NOTE:
    case TRACE_STATE:
    case TRACE_COMMAND:
    case TRACE_COUNTER:
        add_message(text, record);
        if (!record->detail) break;
        add(text, " ");
        add_format(text, record->detail, record->number);
    }
}

static bool is_listed(const char *names, const char *name) {
    size_t length = strlen(name);
    while (*names) {
        size_t here = strcspn(names, ",");
        if (here == length && memcmp(names, name, length) == 0) return true;
        names += here;
        names += strspn(names, ", ");
    }
    return false;
}

static void write_line(TraceWriter *writer, const TraceRecord *record) {
    TraceText *text = (TraceText *)writer;
    if (record->kind == TRACE_COUNTER || (text->events && !is_listed(text->events, record->name))) return;
    text->length = 0;
    add_number(text, clock_cycle(&text->sim->clocks[0], record->time));
    add(text, " ");
    add(text, object_path(record->object));
    add(text, " ");
    add(text, record->name);
    add_warp(text, &record->message);
    if (record->message.pc >= 0) {
        add(text, " ");
        add_number(text, (uint64_t)record->message.pc);
    } else {
        add(text, " -");
    }
    add_text(text, record);
    text->line[text->length++] = '\n';
    sink_write(text->sink, text->line, text->length);
}

static void begin(TraceWriter *writer, const Tracer *tracer) {
    TraceText *text = (TraceText *)writer;
    text->sim = tracer_sim(tracer);
}

static char *close_text(TraceWriter *writer) {
    TraceText *text = (TraceText *)writer;
    char *problem = sink_close(text->sink);
    free(text->events);
    free(text);
    return problem;
}

TraceWriter *trace_text_new(const char *path, const char *heading, const char *events, char **problem) {
    Sink *sink = sink_open(path, problem);
    if (!sink) return NULL;
    TraceText *text = calloc(1, sizeof *text);
    ensure_memory(text);
    text->writer = (TraceWriter){begin, write_line, close_text};
    text->sink = sink;
    sink_write(sink, heading, strlen(heading));
    text->events = events ? strdup(events) : NULL;
    return &text->writer;
}
