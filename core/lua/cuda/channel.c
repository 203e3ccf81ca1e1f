#include "core/lua/cuda/channel.h"

#include "core/cuda/runtime/protocol.h"
#include "core/lua/host/children.h"
#include "core/sim/base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    QUIET_MS = 200,   /* between two looks at signals                          */
    PATIENCE_MS = 50, /* for a program to end when it is asked to, STEPS times  */
    STEPS = 20,
    FIRST_BYTES = 1 << 16,
    DEVICE_UNAVAILABLE = 46, /* cudaErrorDevicesUnavailable */
    RESULTS_BYTES = 1024,    /* of the path of the folder of results, and what fills it up */
};

static int open_process(pid_t process) {
    return (int)syscall(SYS_pidfd_open, process, 0);
}

static void close_file(int *file) {
    if (*file >= 0) close(*file);
    *file = -1;
}

/* --- Starting -------------------------------------------------------------------------------- */

/* An abstract name, which needs no file and ends with the process. */
static void listen_at_new_name(Channel *channel, char *name, size_t size) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    uint64_t random;
    if (getrandom(&random, sizeof random, 0) != sizeof random) random = (uint64_t)time(NULL);
    snprintf(name, size, "warpwright-%010d-%016lx", getpid(),
             random); /* one length: it lies on the program's stack */
    strcpy(address.sun_path + 1, name);
    socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name));
    channel->listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (channel->listening < 0 || bind(channel->listening, (struct sockaddr *)&address, length) != 0 ||
        listen(channel->listening, 8) != 0)
        user_error("cuda: cannot open a socket for the program: %s", strerror(errno));
}

/* Programs give the device what holds addresses of the host: structs with pointers, padding that held one, hashes.
 * They are to be the same in every run, and in one that is resumed. A system that does not let us has them vary. */
static void keep_addresses(void) {
    int now = personality(0xffffffff);
    if (now >= 0) personality((unsigned long)now | ADDR_NO_RANDOMIZE);
}

/* In the child, between fork() and exec(): what went wrong goes to `problem`. */
_Noreturn static void become(char *const *arguments, const char *folder, pid_t parent, int problem) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    keep_addresses();
    if (getppid() == parent && chdir(folder) == 0) execvp(arguments[0], arguments);
    int why = errno;
    if (write(problem, &why, sizeof why) < 0) _exit(126);
    _exit(127);
}

static void prepend_library_path(const char *folder, const char *before) {
    char *path;
    if (asprintf(&path, "%s%s%s", folder, before && *before ? ":" : "", before ? before : "") < 0)
        out_of_memory();
    setenv("LD_LIBRARY_PATH", path, 1);
    free(path);
}

/* A resumed run has its results elsewhere. The environment lies above the program's stack, whose addresses are to stay: so
 * the path and a variable beside it have one length together. */
static void tell_results(const char *path) {
    char rest[RESULTS_BYTES];
    size_t length = strlen(path), left = length < sizeof rest ? sizeof rest - 1 - length : 0;
    memset(rest, '-', left);
    rest[left] = 0;
    setenv(RESULTS_VARIABLE, path, 1);
    setenv(RESULTS_VARIABLE "_REST", rest, 1);
}

/* The shell looks into the current folder only for what has a slash; and a source is no program. */
static _Noreturn void refuse_start(const char *word, int why) {
    const char *ending = strrchr(word, '.');
    if (why == ENOENT && !strchr(word, '/') && access(word, X_OK) == 0)
        user_error("cuda: cannot start '%s': %s; did you mean ./%s?", word, strerror(why), word);
    if (why == EACCES && ending && strcmp(ending, ".cu") == 0)
        user_error("cuda: cannot start '%s': it is a source; warpwright nvcc makes a program of it", word);
    user_error("cuda: cannot start '%s': %s", word, strerror(why));
}

void channel_start(Channel *channel, char *const *arguments, const ChannelFolders *folders) {
    char name[64], *libraries = getenv("LD_LIBRARY_PATH");
    int problem[2], why = 0;
    if (libraries) libraries = strdup(libraries);
    listen_at_new_name(channel, name, sizeof name);
    if (pipe2(problem, O_CLOEXEC) != 0) refuse_start(arguments[0], errno);
    setenv(CHANNEL_VARIABLE, name, 1);
    prepend_library_path(folders->libraries, libraries);
    tell_results(folders->results ? folders->results : "");
    fflush(NULL);
    pid_t parent = getpid(), child = fork();
    if (child == 0) become(arguments, folders->program, parent, problem[1]);
    unsetenv(CHANNEL_VARIABLE);
    unsetenv(RESULTS_VARIABLE);
    unsetenv(RESULTS_VARIABLE "_REST");
    if (libraries)
        setenv("LD_LIBRARY_PATH", libraries, 1);
    else
        unsetenv("LD_LIBRARY_PATH");
    free(libraries);
    close(problem[1]);
    if (child < 0) why = errno;
    if (child > 0 && read(problem[0], &why, sizeof why) == sizeof why) waitpid(child, NULL, 0);
    close(problem[0]);
    if (why) refuse_start(arguments[0], why);
    channel->program = child;
    channel->program_end = open_process(child);
}

/* --- Clients --------------------------------------------------------------------------------- */

void channel_drop_client(Channel *channel) {
    close_file(&channel->client);
    close_file(&channel->client_end);
    channel->count = 0;
}

/* One program at a time: another one is told so. Processes of other users are not spoken to. */
static void accept_client(Channel *channel) {
    struct ucred who;
    socklen_t length = sizeof who;
    int client = accept4(channel->listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (client < 0) return;
    bool good = getsockopt(client, SOL_SOCKET, SO_PEERCRED, &who, &length) == 0 && who.uid == getuid();
    if (good && channel->client < 0) {
        channel->client = client;
        channel->client_end = open_process(who.pid);
        if (channel->client_end < 0 && errno == ESRCH) channel_drop_client(channel); /* it has ended by now */
        return;
    }
    ChannelHeader busy = {DEVICE_UNAVAILABLE, 0};
    if (good && send(client, &busy, sizeof busy, MSG_NOSIGNAL) < 0) good = false;
    close(client);
}

/* False when the client is gone. */
static bool read_some(Channel *channel) {
    if (channel->capacity - channel->count < FIRST_BYTES) {
        channel->capacity = channel->capacity ? 2 * channel->capacity : 2 * FIRST_BYTES;
        channel->bytes = realloc(channel->bytes, channel->capacity);
        ensure_memory(channel->bytes);
    }
    ssize_t got = recv(channel->client, channel->bytes + channel->count, channel->capacity - channel->count,
                       0);
    if (got > 0) channel->count += (uint64_t)got;
    return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

/* The answer to the last message was sent: it makes room. Whoever sends more than a message is not heard. */
static ChannelEvent take_message(Channel *channel, uint32_t *what, const uint8_t **payload, uint32_t *bytes) {
    ChannelHeader header;
    if (channel->count < sizeof header) return CHANNEL_QUIET;
    memcpy(&header, channel->bytes, sizeof header);
    uint64_t whole = sizeof header + (uint64_t)header.bytes;
    if (header.bytes > CHANNEL_MOST_BYTES || channel->count > whole) return CHANNEL_LEFT;
    if (channel->count < whole) return CHANNEL_QUIET;
    *what = header.what;
    *payload = channel->bytes + sizeof header;
    *bytes = header.bytes;
    channel->count = 0;
    return CHANNEL_MESSAGE;
}

static bool program_has_ended(Channel *channel) {
    if (channel->program && child_has_ended(channel->program, &channel->status)) channel->program = 0;
    return !channel->program;
}

static ChannelEvent left(Channel *channel) {
    channel_drop_client(channel);
    return CHANNEL_LEFT;
}

ChannelEvent channel_receive(Channel *channel, uint32_t *what, const uint8_t **payload, uint32_t *bytes) {
    enum { LISTENING, CLIENT, PROGRAM, CLIENT_END, FILES };
    for (;;) {
        struct pollfd files[FILES] = {[LISTENING] = {channel->listening, POLLIN, 0},
                                      [CLIENT] = {channel->client, POLLIN, 0},
                                      [PROGRAM] = {channel->program_end, POLLIN, 0},
                                      [CLIENT_END] = {channel->client_end, POLLIN, 0}};
        int ready = poll(files, FILES, QUIET_MS);
        if (ready > 0 && files[CLIENT].revents) {
            if (!read_some(channel)) return left(channel);
            ChannelEvent event = take_message(channel, what, payload, bytes);
            if (event == CHANNEL_LEFT) return left(channel);
            if (event == CHANNEL_MESSAGE) return event;
            continue; /* what was sent comes before the end of who sent it */
        }
        if (ready > 0 && files[CLIENT_END].revents) return left(channel);
        if (ready > 0 && files[LISTENING].revents) accept_client(channel); /* after the one before has gone */
        if ((ready <= 0 || files[PROGRAM].revents) && program_has_ended(channel)) return CHANNEL_ENDED;
        if (ready <= 0) return CHANNEL_QUIET;
    }
}

bool channel_client_has_gone(const Channel *channel) {
    struct pollfd files[] = {{channel->client, 0, 0}, {channel->client_end, POLLIN, 0}};
    return poll(files, 2, 0) > 0;
}

/* --- Answers --------------------------------------------------------------------------------- */

/* Waits until the client takes more; false when it is gone. */
static bool wait_to_send(const Channel *channel) {
    struct pollfd files[] = {{channel->client, POLLOUT, 0}, {channel->client_end, POLLIN, 0}};
    int ready = poll(files, 2, QUIET_MS);
    return ready <= 0 || !(files[1].revents || files[0].revents & (POLLERR | POLLHUP));
}

static bool send_all(const Channel *channel, const uint8_t *bytes, uint64_t count) {
    while (count) {
        ssize_t sent = send(channel->client, bytes, count, MSG_NOSIGNAL);
        if (sent < 0 && errno != EAGAIN && errno != EINTR) return false;
        if (sent > 0) bytes += sent, count -= (uint64_t)sent;
        if (sent < 0 && !wait_to_send(channel)) return false;
    }
    return true;
}

static bool send_with_file(const Channel *channel, const ChannelHeader *header, int file) {
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct iovec bytes = {(void *)(uintptr_t)header, sizeof *header};
    struct msghdr message = {
        .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    struct cmsghdr *attached = CMSG_FIRSTHDR(&message);
    attached->cmsg_level = SOL_SOCKET;
    attached->cmsg_type = SCM_RIGHTS;
    attached->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(attached), &file, sizeof file);
    return sendmsg(channel->client, &message, MSG_NOSIGNAL) == sizeof *header;
}

void channel_answer(Channel *channel, uint32_t what, const void *payload, uint32_t bytes, int file) {
    ChannelHeader header = {what, bytes};
    if (channel->client < 0) return;
    bool good = file >= 0 ? send_with_file(channel, &header, file)
                          : send_all(channel, (const uint8_t *)&header, sizeof header);
    if (!good || !send_all(channel, payload, bytes)) shutdown(channel->client, SHUT_RDWR);
}

/* --- The end --------------------------------------------------------------------------------- */

static void be_patient(void) {
    nanosleep(&(struct timespec){.tv_nsec = PATIENCE_MS * 1000000l}, NULL);
}

static void end_program(Channel *channel) {
    if (program_has_ended(channel)) return;
    kill(channel->program, SIGTERM);
    for (int i = 0; i < STEPS && !program_has_ended(channel); i++)
        be_patient();
    if (!channel->program) return;
    kill(channel->program, SIGKILL);
    for (int i = 0; i < STEPS && !program_has_ended(channel); i++)
        be_patient();
    channel->program = 0;
}

void channel_close(Channel *channel) {
    close_file(&channel->listening);
    if (channel->program) end_program(channel);
    channel_drop_client(channel);
    close_file(&channel->program_end);
    free(channel->bytes);
    *channel = (Channel){
        .listening = -1, .client = -1, .program_end = -1, .client_end = -1, .status = channel->status};
}
