/* A router and the network that it is part of. */
#ifndef WW_MEM_ROUTER_H
#define WW_MEM_ROUTER_H

#include "core/sim/sim.h"
#include "core/sim/ways.h"
#include "mem/network/arbitration.h"
#include "mem/network/router_channel.h"
#include "mem/protocol/address_map.h"

enum {
    DIRECTIONS = 4,
    ROUTER_VCS_MAX = 8,                   /* of a virtual network */
    CHANNEL_VCS_MAX = 2 * ROUTER_VCS_MAX, /* requests, then responses */
    ROUTER_HEADS_MAX = 64,                /* a set of them is one word */
    PACKET_BYTES_MAX = HEADER_BYTES + LINE_BYTES_MAX,
    SIDE_MAX = 1024, /* routers in a row, in a column */
};

typedef enum { EAST, WEST, SOUTH, NORTH } RouterDirection;
typedef enum { MESH, TORUS } RouterTopology;
typedef enum { DIMENSION_ORDER, ADAPTIVE } RouterRouting;

/* A packet in a buffer, or on its way to the local port. */
typedef struct {
    RouterPacket packet;
    uint64_t time; /* in a buffer: when its head came; at a local port: when its tail can be sent on */
} RouterSlot;

/* A ring of packets. */
typedef struct {
    uint32_t first, count, flits;
    uint32_t unused;
} RouterQueue;

/* An input from which a packet is leaving: its room is given back when the tail has gone. */
typedef struct {
    uint64_t at;
    uint32_t vc, flits; /* 0: none */
} Leaving;

typedef struct Router Router;

/* What the routers of a network share: who they are, and where its ports are. Nothing changes in it. */
typedef struct {
    Router **routers; /* by y * columns + x */
    Router **found;   /* in the order in which the channels lead to them */
    uint32_t count, up_count, down_count;
    Router **up_router, **down_router; /* by number of the port in the network */
    uint32_t *up_port, *down_port;
    Port *down;         /* in order */
    uint16_t *slice_at; /* by slice: number of the `down` port in the network */
    const Router *owner;
} RouterNetwork;

struct Router {
    SimObject obj;
    uint32_t up_count, down_count;
    uint32_t x, y, columns, rows, topology, routing;
    uint32_t vcs, buffer, output_buffer, latency, dateline, arbitration;
    char *class_priority;
    ClassTable priority;
    uint32_t padding;
    uint32_t ring; /* slots of a buffer, a power of two */
    uint64_t flit;
    Port *up, *down;
    Port out[DIRECTIONS], in[DIRECTIONS]; /* in[EAST]: from the router to the east */
    const AddressMap *map;
    RouterNetwork *network;
    uint64_t first_up;       /* number of its first up port in the network */
    uint32_t heads, outputs; /* inputs' heads; outputs: channels, then local ports */
    uint32_t slot_count, local_slot_count, input_count, local_count;
    uint8_t flits_of[PACKET_BYTES_MAX + 1];
    uint8_t unused[7];
    RouterQueue queue[DIRECTIONS][CHANNEL_VCS_MAX];
    RouterSlot *slots;       /* DIRECTIONS * 2 vcs * ring */
    RouterQueue *local;      /* up ports, then down ports */
    RouterSlot *local_slots; /* of each `output_buffer` of them */
    uint64_t *input_free;    /* up, down, directions: first time at which the next packet may cross */
    uint64_t *output_free;   /* directions, up, down */
    uint32_t credits[DIRECTIONS][CHANNEL_VCS_MAX]; /* flits of room in the buffer behind the channel */
    uint32_t owed[DIRECTIONS][CHANNEL_VCS_MAX];    /* flits of room to be told to the sender */
    Leaving leaving[DIRECTIONS];
    uint32_t vc_pointer[DIRECTIONS][CHANNEL_VCS_MAX]; /* head with the highest priority */
    uint32_t channel_pointer[DIRECTIONS];             /* virtual channel with the highest priority */
    uint32_t *local_pointer;
    uint64_t filled;        /* buffers with packets, by direction and virtual channel */
    uint32_t turn;          /* output that is looked at first                         */
    uint32_t inside;        /* packets in it                                          */
    uint32_t buffered;      /* flits in the buffers                                   */
    uint32_t owed_anything; /* there are credits to be returned                       */
    uint64_t packets_in, packets_out, hops, latency_ticks, conflicts, credit_stall_cycles, buffered_flits;
    uint64_t channel_flits[DIRECTIONS], local_flits;
};

extern const Class router_class;

static inline uint32_t router_vcs(const Router *r) {
    return 2 * r->vcs;
}
static inline uint32_t router_node(const Router *r) {
    return r->y * r->columns + r->x;
}
static inline bool is_response_vc(const Router *r, uint32_t vc) {
    return vc >= r->vcs;
}
/* By its virtual network. */
static inline uint32_t router_flits(const Router *r, const MemMessage *m, bool response) {
    return r->flits_of[response ? mem_response_bytes(m) : mem_request_bytes(m)];
}

/* What stands at the head of an input: of the up ports, the down ports, then each direction's virtual channels. No message:
 * nothing does. */
Candidate router_head(const Router *r, uint32_t head);

/* From init() and destroy(): finds the network, checks how it is wired. */
void router_join_network(Router *r);
void router_leave_network(Router *r);

/* Calls visit(context, port, link) for the requests' links by which requests leave the object: of a router,
 * those of its whole network. */
void visit_onward_links(const SimObject *object, RequestLinkVisitor *visit, void *context);

#endif
