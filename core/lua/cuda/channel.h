/* The simulator's end of the channel to a CUDA program. */
#ifndef WW_LUA_CHANNEL_H
#define WW_LUA_CHANNEL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct {
    int listening, client; /* sockets, or -1                        */
    int program_end;       /* a pidfd of the program, or -1         */
    int client_end;        /* likewise of whoever is at `client`    */
    pid_t program;         /* 0: none, or its end was seen          */
    int status;            /* of the program, as wait() gives it    */
    uint8_t *bytes;        /* what came and is not complete yet     */
    uint64_t count, capacity;
} Channel;

typedef enum {
    CHANNEL_MESSAGE,
    CHANNEL_LEFT,  /* the client went, or spoke what is no message */
    CHANNEL_ENDED, /* the program ended                            */
    CHANNEL_QUIET, /* nothing for a while, or a signal             */
} ChannelEvent;

typedef struct {
    const char *program;   /* where it runs                                        */
    const char *libraries; /* in front of its library path                         */
    const char *results;   /* its variable RESULTS_VARIABLE; NULL: that is empty   */
} ChannelFolders;

#define RESULTS_VARIABLE "WARPWRIGHT_OUT"

/* Starts `arguments`, ends with NULL. A user error when that is not possible. */
void channel_start(Channel *channel, char *const *arguments, const ChannelFolders *folders);
/* A message, which stays valid until the next call, or what else came first. */
ChannelEvent channel_receive(Channel *channel, uint32_t *what, const uint8_t **payload, uint32_t *bytes);
/* With a file for the client, or -1. Whoever does not take the answer has left: channel_receive() says so. */
void channel_answer(Channel *channel, uint32_t what, const void *payload, uint32_t bytes, int file);
/* While it waits for an answer: has it ended, or closed the connection? */
bool channel_client_has_gone(const Channel *channel);
void channel_drop_client(Channel *channel);
/* Ends the program, if it has not ended, and gives everything back. */
void channel_close(Channel *channel);

#endif
