/* What routers send each other: packets one way, room in their buffers the other way. */
#ifndef WW_MEM_ROUTER_CHANNEL_H
#define WW_MEM_ROUTER_CHANNEL_H

#include "mem/protocol/memory_protocol.h"

/* 80 bytes, no padding. A packet is sent when its head leaves; its other flits follow, one in a cycle. */
typedef struct {
    MemMessage message;
    uint64_t entered;     /* tick at which it was ready at the network's port   */
    uint16_t destination; /* number of the port by which it leaves the network  */
    uint16_t hops;        /* channels that it has crossed                       */
    uint8_t flits;
    uint8_t vc; /* of the channel, and of the buffer behind it                  */
    uint8_t unused[2];
} RouterPacket;

_Static_assert(sizeof(RouterPacket) == 80, "no padding");

/* Room for so many flits has become free. */
typedef struct {
    uint32_t vc, flits;
} RouterCredit;

extern const Protocol router_channel_protocol;

#endif
