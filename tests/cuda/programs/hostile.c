/* hostile WHAT [SEED]: a program that speaks to the simulator by itself, and not as it should. */
#include "protocol.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static uint64_t state;

static uint64_t next(void) {
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

static int dial(void) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const char *name = getenv(CHANNEL_VARIABLE);
    strcpy(address.sun_path + 1, name);
    int channel = socket(AF_UNIX, SOCK_STREAM, 0);
    if (connect(channel, (struct sockaddr *)&address,
                (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name))) != 0)
        exit(3);
    return channel;
}

static void say(int channel, uint32_t what, const void *bytes, uint32_t count, uint32_t claimed) {
    ChannelHeader header = {what, claimed};
    if (send(channel, &header, sizeof header, MSG_NOSIGNAL) < 0) return;
    if (count && send(channel, bytes, count, MSG_NOSIGNAL) < 0) return;
}

/* An answer or the end of the connection; what came is not looked at. */
static int hear(int channel) {
    ChannelHeader header;
    char bytes[4096];
    if (recv(channel, &header, sizeof header, MSG_WAITALL) != sizeof header) return 0;
    while (header.bytes) {
        ssize_t got = recv(channel, bytes, header.bytes < sizeof bytes ? header.bytes : sizeof bytes, 0);
        if (got <= 0) return 0;
        header.bytes -= (uint32_t)got;
    }
    return 1;
}

/* Operations that are there, with payloads that mean nothing or nearly something. */
static void questions(void) {
    uint8_t bytes[256];
    int channel = dial();
    for (int turn = 0; turn < 300; turn++) {
        uint32_t count = (uint32_t)(next() % sizeof bytes), what = (uint32_t)(next() % 18);
        for (uint32_t i = 0; i < count; i++)
            bytes[i] = (uint8_t)(next() % 3 ? 0 : next());
        uint64_t address = 0xc0000000u + next() % 8192;
        if (next() % 2) memcpy(bytes, &address, sizeof address);
        say(channel, what, bytes, count, count);
        if (hear(channel)) continue;
        close(channel);
        channel = dial();
    }
}

static void garbage(void) {
    uint8_t bytes[1000];
    for (int turn = 0; turn < 50; turn++) {
        int channel = dial();
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = (uint8_t)next();
        ssize_t sent = send(channel, bytes, next() % sizeof bytes, MSG_NOSIGNAL);
        if (sent > 0) sent = 0; /* it may not be heard: one program at a time */
        close(channel);
    }
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    state = argc > 2 ? strtoull(argv[2], 0, 10) : 88172645463325252ull;
    if (!strcmp(what, "questions")) questions();
    if (!strcmp(what, "garbage")) garbage();
    if (!strcmp(what, "half")) say(dial(), ASK_LOAD, "abc", 3, 1 << 20); /* ends in the middle */
    if (!strcmp(what, "huge")) {
        int channel = dial();
        say(channel, ASK_LOAD, "abc", 3, UINT32_MAX);
        return hear(channel) ? 5 : 0;
    }
    if (!strcmp(what, "deaf")) { /* asks and never takes an answer */
        uint32_t version = CHANNEL_VERSION;
        int channel = dial();
        for (int i = 0; i < 1000; i++)
            say(channel, ASK_HELLO, &version, 4, 4);
    }
    if (!strcmp(what, "pair")) { /* two questions before the answer to the first */
        struct {
            ChannelHeader header;
            uint32_t version;
        } both[2] = {{{ASK_HELLO, 4}, CHANNEL_VERSION}, {{ASK_HELLO, 4}, CHANNEL_VERSION}};
        int channel = dial();
        if (send(channel, both, sizeof both, MSG_NOSIGNAL) < 0) return 4;
        return hear(channel) ? 5 : 0;
    }
    if (!strcmp(what, "two")) {
        uint32_t version = CHANNEL_VERSION;
        int first = dial();
        say(first, ASK_HELLO, &version, 4, 4);
        if (!hear(first)) return 6;
        ChannelHeader header = {0, 0};
        int second = dial();
        recv(second, &header, sizeof header, MSG_WAITALL);
        return header.what == 46 ? 0 : 7;
    }
    if (!strcmp(what, "dies")) { /* in the middle of a question, by a signal */
        say(dial(), ASK_LOAD, "abc", 3, 1 << 20);
        raise(SIGKILL);
    }
    if (!strcmp(what, "leaves")) { /* a child that stays, with the connection open */
        dial();
        if (fork() == 0) {
            fclose(stdout), fclose(stderr);
            sleep(30);
        }
        _exit(9);
    }
    return 0;
}
