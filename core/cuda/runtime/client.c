/* The connection to the simulator. */
#include "core/cuda/runtime/client.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/cuda/runtime/client_state.h"

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static WarpMessage message;
static WarpDevice device;
WarpClient warp_client = {.socket = -1, .memory_file = -1};

/* --- Messages -------------------------------------------------------------------------------- */

static void put(WarpMessage *to, const void *bytes, size_t count) {
    if (to->capacity - to->count < count) {
        size_t capacity = to->count + count + 4096 + to->capacity;
        uint8_t *larger = realloc(to->bytes, capacity);
        if (!larger) abort();
        to->bytes = larger;
        to->capacity = capacity;
    }
    if (count) memcpy(to->bytes + to->count, bytes, count);
    to->count += count;
}

WarpMessage *warp_question(void) {
    ChannelHeader header = {0, 0};
    message.count = message.taken = 0;
    put(&message, &header, sizeof header);
    return &message;
}

void warp_put_u32(WarpMessage *to, uint32_t value) {
    put(to, &value, sizeof value);
}

void warp_put_u64(WarpMessage *to, uint64_t value) {
    put(to, &value, sizeof value);
}

void warp_put_string(WarpMessage *to, const void *bytes, size_t count) {
    warp_put_u32(to, (uint32_t)count);
    put(to, bytes, count);
}

static void take(WarpMessage *from, void *bytes, size_t count) {
    memset(bytes, 0, count);
    if (count > from->count - from->taken) return;
    memcpy(bytes, from->bytes + from->taken, count);
    from->taken += count;
}

uint32_t warp_take_u32(WarpMessage *from) {
    uint32_t value;
    take(from, &value, sizeof value);
    return value;
}

uint64_t warp_take_u64(WarpMessage *from) {
    uint64_t value;
    take(from, &value, sizeof value);
    return value;
}

const char *warp_take_string(WarpMessage *from, size_t *count) {
    *count = warp_take_u32(from);
    if (*count > from->count - from->taken) *count = 0;
    const char *text = (const char *)from->bytes + from->taken;
    from->taken += *count;
    return text;
}

/* --- The socket ------------------------------------------------------------------------------ */

static int lost(void) {
    if (warp_client.socket >= 0) close(warp_client.socket);
    warp_client.socket = -1;
    return warp_client.dead = warp_client.dead ? warp_client.dead : CUDA_UNKNOWN;
}

static bool send_all(const uint8_t *bytes, size_t count) {
    while (count) {
        ssize_t sent = send(warp_client.socket, bytes, count, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return false;
        bytes += sent;
        count -= (size_t)sent;
    }
    return true;
}

/* With the file that comes along, if any. */
static bool receive(void *bytes, size_t count, int *file) {
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    uint8_t *at = bytes;
    while (count) {
        struct iovec part = {at, count};
        struct msghdr head = {
            .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
        ssize_t got = recvmsg(warp_client.socket, &head, MSG_CMSG_CLOEXEC);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        struct cmsghdr *attached = CMSG_FIRSTHDR(&head);
        if (file && attached && attached->cmsg_type == SCM_RIGHTS)
            memcpy(file, CMSG_DATA(attached), sizeof *file);
        at += got;
        count -= (size_t)got;
    }
    return true;
}

static int exchange(WarpMessage *question, ChannelOperation operation, int *file) {
    ChannelHeader header = {operation, (uint32_t)(question->count - sizeof header)};
    memcpy(question->bytes, &header, sizeof header);
    if (question->count - sizeof header > CHANNEL_MOST_BYTES) return CUDA_INVALID_VALUE;
    if (!send_all(question->bytes, question->count) || !receive(&header, sizeof header, file)) return lost();
    question->count = question->taken = 0;
    if (question->capacity < header.bytes) {
        uint8_t *larger = realloc(question->bytes, header.bytes);
        if (!larger) return lost();
        question->bytes = larger;
        question->capacity = header.bytes;
    }
    if (!receive(question->bytes, header.bytes, NULL)) return lost();
    question->count = header.bytes;
    return (int)header.what;
}

int warp_ask(WarpMessage *question, ChannelOperation operation) {
    if (warp_client.socket < 0) return warp_client.dead ? warp_client.dead : CUDA_NOT_INITIALIZED;
    return exchange(question, operation, NULL);
}

/* --- Connecting ------------------------------------------------------------------------------ */

static bool open_socket(const char *name) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(name) + 2 > sizeof address.sun_path) return false;
    strcpy(address.sun_path + 1, name);
    warp_client.socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return warp_client.socket >= 0 &&
           connect(warp_client.socket, (struct sockaddr *)&address,
                   (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name))) == 0;
}

static int read_welcome(WarpMessage *answer) {
    device.memory_base = warp_take_u64(answer);
    device.memory_bytes = warp_take_u64(answer);
    warp_client.tells_copies = warp_take_u32(answer) != 0;
    uint32_t numbers = warp_take_u32(answer);
    for (uint32_t i = 0; i < numbers; i++) {
        int64_t number = (int64_t)warp_take_u64(answer);
        if (i < DEVICE_NUMBERS) device.number[i] = number;
    }
    size_t length;
    const char *name = warp_take_string(answer, &length);
    if (length >= sizeof device.name) length = sizeof device.name - 1;
    memcpy(device.name, name, length);
    warp_client.cycle = (uint64_t)device.number[DEVICE_CYCLE];
    warp_client.memory = mmap(NULL, device.memory_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                              warp_client.memory_file, 0);
    return warp_client.memory == MAP_FAILED ? lost() : CUDA_OK;
}

static int say_hello(void) {
    WarpMessage *question = warp_question();
    warp_put_u32(question, CHANNEL_VERSION);
    int problem = exchange(question, ASK_HELLO, &warp_client.memory_file);
    if (problem == CUDA_DEVICES_UNAVAILABLE)
        fprintf(stderr, "warpwright: another CUDA program uses the machine; one at a time can\n");
    if (problem) {
        lost();
        return warp_client.dead = problem;
    }
    return read_welcome(question);
}

/* A child has the memory of its parent, and may not speak in its place. */
static void forget_in_child(void) {
    if (warp_client.socket >= 0) close(warp_client.socket);
    warp_client.socket = -1;
    if (warp_client.is_tried) warp_client.dead = CUDA_NOT_INITIALIZED;
    pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
    turn = fresh;
}

static int connect_once(void) {
    const char *name = getenv(CHANNEL_VARIABLE);
    if (warp_client.is_tried) return warp_client.dead;
    warp_client.is_tried = true;
    pthread_atfork(NULL, NULL, forget_in_child);
    if (!name || !open_socket(name)) {
        fprintf(stderr, "warpwright: expected a simulator, got none; start the program with "
                        "'warpwright cuda MACHINE -- PROGRAM'\n");
        lost();
        return warp_client.dead = CUDA_NO_DEVICE;
    }
    return say_hello();
}

int warp_enter(void) {
    pthread_mutex_lock(&turn);
    return connect_once();
}

bool warp_try_to_enter(void) {
    if (pthread_mutex_trylock(&turn)) return false;
    if (!connect_once()) return true;
    warp_leave();
    return false;
}

int warp_enter_to_reset(void) {
    int problem = warp_enter();
    if (problem && warp_client.socket >= 0) problem = warp_client.dead = CUDA_OK;
    return problem;
}

void warp_leave(void) {
    pthread_mutex_unlock(&turn);
}

int warp_dead(void) {
    return warp_client.dead;
}

const WarpDevice *warp_device(void) {
    return &device;
}

uint64_t warp_cycle(void) {
    return warp_client.cycle;
}

void warp_name_missing_inside(const char *what) {
    WarpMessage *question = warp_question();
    warp_put_string(question, what, strlen(what));
    warp_ask(question, ASK_NAME);
}

void warp_name_missing(const char *function) {
    if (!warp_enter()) warp_name_missing_inside(function);
    warp_leave();
}
