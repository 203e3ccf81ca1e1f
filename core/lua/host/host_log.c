#include "core/lua/host/host_log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum {
    TEXT_BYTES = 512,
    COMPRESS_FROM = 4096, /* smaller answers are not worth it */
    /* Numbers that repeat nothing cost next to no time; a checkpoint's file is compressed once more. */
    LEVEL = -1,
    MOST_RAW_PER_STORED = (128 << 10) / 4, /* of zstd: see checkpoint_file.c */
};

static void free_call(HostCall *call) {
    free(call->text);
    free(call->answer);
}

void host_log_free(HostLog *log) {
    for (uint32_t i = 0; i < log->count; i++)
        free_call(&log->calls[i]);
    free(log->calls);
    *log = (HostLog){0};
}

static HostCall *append(HostLog *log) {
    if (log->count == log->capacity) {
        log->capacity = log->capacity ? 2 * log->capacity : 64;
        log->calls = realloc(log->calls, log->capacity * sizeof *log->calls);
        ensure_memory(log->calls);
    }
    log->calls[log->count] = (HostCall){0};
    return &log->calls[log->count++];
}

void host_log_forget_failed_call(HostLog *log) {
    if (host_log_replaying(log) || log->count == 0 || log->calls[log->count - 1].answered) return;
    free_call(&log->calls[--log->count]);
}

uint32_t host_log_next(const HostLog *log) {
    if (log->is_off) return log->unnoted + 1;
    if (host_log_replaying(log)) return log->replayed + 1;
    bool replaces = log->count && !log->calls[log->count - 1].answered;
    return log->count + !replaces;
}

void host_log_call(HostLog *log, uint64_t digest, const char *format, ...) {
    char text[TEXT_BYTES];
    va_list arguments;
    if (log->is_off) return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (!host_log_replaying(log)) {
        host_log_forget_failed_call(log);
        HostCall *call = append(log);
        call->text = strdup(text);
        call->digest = digest;
        return;
    }
    const HostCall *call = &log->calls[log->replayed];
    if (strcmp(call->text, text) != 0)
        user_error("resume: call %u of the host program: expected '%s' as in the checkpoint, got '%s'",
                   log->replayed + 1, call->text, text);
    if (call->digest != digest)
        user_error("resume: call %u of the host program: expected '%s' with the contents of the checkpoint, "
                   "got others",
                   log->replayed + 1, text);
}

static void compress(HostCall *call, const void *bytes, uint64_t count) {
    size_t bound = ZSTD_compressBound(count);
    uint8_t *packed = malloc(bound);
    ensure_memory(packed);
    size_t size = ZSTD_compress(packed, bound, bytes, count, LEVEL);
    if (ZSTD_isError(size) || size >= count) {
        free(packed);
        return;
    }
    call->answer = realloc(packed, size);
    ensure_memory(call->answer);
    call->stored_bytes = size;
}

static void store_answer(HostCall *call, const void *bytes, uint64_t count) {
    call->answered = true;
    call->answer_bytes = call->stored_bytes = count;
    if (count >= COMPRESS_FROM) compress(call, bytes, count);
    if (call->answer || count == 0) return;
    call->answer = malloc(count);
    ensure_memory(call->answer);
    memcpy(call->answer, bytes, count);
}

void host_log_answer(HostLog *log, const void *bytes, uint64_t count) {
    if (log->is_off) {
        log->unnoted++;
        return;
    }
    bool replaying = host_log_replaying(log);
    HostCall *call = replaying ? &log->calls[log->replayed++] : &log->calls[log->count - 1];
    if (!call->answered) store_answer(call, bytes, count); /* else repeated for its effect: the same */
}

static bool unpack(const HostCall *call, void *bytes) {
    if (call->stored_bytes == call->answer_bytes) {
        if (call->answer_bytes) memcpy(bytes, call->answer, call->answer_bytes);
        return true;
    }
    return ZSTD_decompress(bytes, call->answer_bytes, call->answer, call->stored_bytes) == call->answer_bytes;
}

bool host_log_take(HostLog *log, void *bytes, uint64_t count) {
    if (!host_log_replaying(log) || !log->calls[log->replayed].answered) return false;
    const HostCall *call = &log->calls[log->replayed];
    if (call->answer_bytes != count || !unpack(call, bytes))
        user_error("resume: call %u of the host program: the checkpoint's answer to '%s' is damaged",
                   log->replayed + 1, call->text);
    log->replayed++;
    return true;
}

const HostCall *host_log_coming(const HostLog *log) {
    return host_log_replaying(log) ? &log->calls[log->replayed] : NULL;
}

void host_log_end_program(HostLog *log) {
    static const char end[] = "end of the host program";
    if (host_log_replaying(log) && strcmp(log->calls[log->replayed].text, end) != 0)
        user_error("resume: call %u of the host program: expected '%s' as in the checkpoint, got its end",
                   log->replayed + 1, log->calls[log->replayed].text);
    host_log_call(log, 0, "%s", end);
    host_log_answer(log, NULL, 0);
}

void host_log_save(const HostLog *log, Buffer *buffer) {
    buffer_u32(buffer, log->count);
    for (uint32_t i = 0; i < log->count; i++) {
        const HostCall *call = &log->calls[i];
        buffer_text(buffer, call->text);
        buffer_u64(buffer, call->digest);
        buffer_u32(buffer, call->answered);
        buffer_u64(buffer, call->answer_bytes);
        buffer_u64(buffer, call->stored_bytes);
        buffer_append(buffer, call->answer, call->stored_bytes);
    }
}

/* Whether an answer that is stored smaller than it is becomes as long as it claims to be. */
static bool unpacks(const HostCall *call) {
    if (call->stored_bytes == call->answer_bytes) return true;
    if (call->answer_bytes / MOST_RAW_PER_STORED > call->stored_bytes ||
        ZSTD_getFrameContentSize(call->answer, call->stored_bytes) != call->answer_bytes)
        return false;
    void *bytes = malloc(call->answer_bytes);
    bool good = bytes && unpack(call, bytes);
    free(bytes);
    return good;
}

static bool load_call(HostCall *call, Reader *reader) {
    char text[TEXT_BYTES];
    if (!reader_text(reader, text, sizeof text)) return false;
    call->text = strdup(text);
    call->digest = reader_u64(reader);
    call->answered = reader_u32(reader) != 0;
    call->answer_bytes = reader_u64(reader);
    call->stored_bytes = reader_u64(reader);
    const uint8_t *answer = reader_bytes(reader, call->stored_bytes);
    if (!answer || call->stored_bytes > call->answer_bytes) return false;
    if (call->stored_bytes == 0) return call->answer_bytes == 0; /* as of a call without an answer yet */
    call->answer = malloc(call->stored_bytes);
    ensure_memory(call->answer);
    memcpy(call->answer, answer, call->stored_bytes);
    return unpacks(call);
}

bool host_log_load(HostLog *log, Reader *reader, char *why, size_t why_size) {
    ensure(log->count == 0);
    uint32_t count = reader_u32(reader);
    for (uint32_t i = 0; i < count; i++) {
        if (load_call(append(log), reader) && (log->calls[i].answered || i + 1 == count)) continue;
        snprintf(why, why_size, "call %u of the host program is damaged", i + 1);
        return false;
    }
    log->loaded = count;
    if (reader_at_end(reader)) return true;
    snprintf(why, why_size, "the log of host calls is damaged");
    return false;
}
