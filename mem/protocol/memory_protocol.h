/* What memory ports speak: one fixed-size message for requests and responses. Values do not travel, execution
 * is functional at issue; atomics leave their operands in the SM's payload table (functional_memory.h). */
#ifndef WW_MEM_MEMORY_PROTOCOL_H
#define WW_MEM_MEMORY_PROTOCOL_H

#include "core/sim/object.h"

enum {
    LINE_BYTES_MAX = 128,
    HEADER_BYTES = 8, /* control part of a packet on a network */
    ROUTE_DEPTH = 4,  /* networks that a request may cross     */
};

typedef enum {
    MEM_READ,   /* answered with the data                 */
    MEM_WRITE,  /* answered with an acknowledgement, unless MEM_POSTED */
    MEM_ATOMIC, /* read-modify-write at the L2 slice; answered when done */
} MemKind;

enum {
    MEM_POSTED = 1,    /* no answer needed (write-backs)                                              */
    MEM_BYPASS_L1 = 2, /* ld.cg, volatile: L1 neither looks the line up for a hit nor allocates        */
    MEM_FOUND = 4,     /* in a response: the line was on its way; of an L2 also: it was there, or would have
                          been for a request that passed it by                                        */
    MEM_HIT = 8,       /* in a response: the first cache that looked had it                            */
    MEM_LOCAL = 16,    /* local memory: L1 writes it back, global is written through with eviction     */
    MEM_INSTRUCTION = 32,
    MEM_BYPASSED = 64, /* policies want it to pass the cache by; in a response: it passed the L2 by    */
    MEM_ASKED = 128,   /* policies have said whether it passes the cache by in whose queue it stands   */
};

/* 64 bytes, no padding: it is hashed and saved as raw bytes. */
typedef struct {
    uint64_t address;      /* first byte of the segment, aligned to its size           */
    uint64_t byte_mask[2]; /* writes: bytes of the 128 B line that are written         */
    uint64_t issued;       /* tick at which the first requester sent it                */
    uint32_t token;        /* the requester's own; comes back unchanged                */
    uint32_t lanes;        /* of the warp that touch the segment; 0: unknown, of atomics all in it */
    uint32_t pc;           /* index of the instruction in its kernel                   */
    uint16_t payload;      /* atomics: slot in the payload table of the SM             */
    uint16_t cta;          /* its number among the CTAs that the SM has started, modulo 2^16 */
    uint16_t bytes;        /* of the segment: 32, 64, 128                              */
    uint16_t sm, warp;
    uint8_t kind; /* MemKind                                                  */
    uint8_t flags;
    uint8_t class_number; /* set by policies: warp type or the like                   */
    uint8_t route_depth;
    uint8_t route[ROUTE_DEPTH]; /* the ports by which it entered each network: the way back */
    uint16_t slice;             /* L2 slice that owns the address, as the crossbar found it */
} MemMessage;

_Static_assert(sizeof(MemMessage) == 64, "MemMessage is one cache line");

/* Addresses are below 2^this: an address map divides them exactly. */
enum { MAX_ADDRESS_BITS = 52 };

extern const Protocol memory_protocol; /* MemMessage both ways */

/* Panics, naming `where`, unless it could have been made by an object that keeps to the protocol. */
void mem_message_is_sound(const char *where, const MemMessage *m);

/* Bytes of a message on a network: header, plus data where data travels. */
static inline uint32_t mem_request_bytes(const MemMessage *m) {
    return m->kind == MEM_READ ? HEADER_BYTES : HEADER_BYTES + m->bytes;
}
static inline uint32_t mem_response_bytes(const MemMessage *m) {
    return m->kind == MEM_WRITE ? HEADER_BYTES : HEADER_BYTES + m->bytes;
}

static inline void mem_enter_network(MemMessage *m, uint32_t port) {
    ensure(m->route_depth < ROUTE_DEPTH && port < 256);
    m->route[m->route_depth++] = (uint8_t)port;
}
/* For Class.came_by of a network with these ports towards the requesters. */
const Link *mem_came_by(const MemMessage *m, uint32_t *depth, const Port *up, uint32_t count);
static inline uint32_t mem_leave_network(MemMessage *m) {
    ensure(m->route_depth > 0);
    return m->route[--m->route_depth];
}

#endif
