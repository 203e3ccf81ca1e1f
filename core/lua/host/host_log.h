/* What the host program asked of the device, and what it was answered. A checkpoint holds the log; on resume
 * the host program runs again from its start, every call is checked against the log, and what depends on
 * kernels is answered from it, until the log ends and simulation goes on. */
#ifndef WW_LUA_HOST_LOG_H
#define WW_LUA_HOST_LOG_H

#include "core/sim/base/error.h"
#include "core/sim/checkpoint/buffer.h"

typedef struct {
    char *text;      /* what was asked, for people: "write 4096 bytes at 0xc0000000" */
    uint64_t digest; /* of everything that was asked, contents included           */
    uint8_t *answer; /* compressed when that makes it smaller                     */
    uint64_t stored_bytes, answer_bytes;
    bool answered; /* only the last call may not be: a kernel that is still running */
} HostCall;

typedef struct {
    HostCall *calls;
    uint32_t count, capacity;
    uint32_t loaded;   /* calls that came with a checkpoint          */
    uint32_t replayed; /* of them, repeated by the resumed program   */
    bool is_off;       /* nothing is noted: no checkpoint can be made */
    uint32_t unnoted;  /* calls that were answered while it was off   */
} HostLog;

void host_log_free(HostLog *log);

/* Is the host program behind the log? */
static inline bool host_log_replaying(const HostLog *log) {
    return log->replayed < log->loaded;
}

/* The number, from 1, that the next call has. */
uint32_t host_log_next(const HostLog *log);
/* Notes a call, in place of the one before if that failed, or, when replaying, checks that it is the call in
 * the log: a user error that names the first one that differs. host_log_answer() or host_log_take() must
 * follow before the next call. */
void host_log_call(HostLog *log, uint64_t digest, const char *format, ...) PRINTF_LIKE(3, 4);
/* The answer of the call just made. */
void host_log_answer(HostLog *log, const void *bytes, uint64_t count);
/* When replaying, the call just made is answered from the log: fills `bytes`, which the answer must fit, and
 * returns true. False when the program is ahead of the log, or the kernel of this call was still running. */
bool host_log_take(HostLog *log, void *bytes, uint64_t count);
/* When replaying, the call in the log that comes next, or NULL. */
const HostCall *host_log_coming(const HostLog *log);
/* Notes the end of a host program; when replaying, a user error when it did not end here. */
void host_log_end_program(HostLog *log);
/* The call just made raised an error: the host program may go on, but nothing was done. */
void host_log_forget_failed_call(HostLog *log);

void host_log_save(const HostLog *log, Buffer *buffer);
/* Replaces an empty log by a saved one, to be replayed. False, with the reason, when the bytes are
 * damaged. */
bool host_log_load(HostLog *log, Reader *reader, char *why, size_t why_size);

#endif
