/* What memory ports speak: one fixed-size message for requests and responses. Values do not travel, execution
 * is functional at issue; atomics leave their operands in the SM's payload table (functional_memory.h). */
#ifndef WW_MEM_MEMORY_PROTOCOL_H
#define WW_MEM_MEMORY_PROTOCOL_H

#include "core/sim/object.h"

#include <string.h>

enum {
    LINE_BYTES_MAX = 128,
    SECTOR_BYTES = 32, /* the least that a cache fetches alone */
    HEADER_BYTES = 8,  /* control part of a packet on a network */
    ROUTE_DEPTH = 4,   /* networks that a request may cross     */
    ROUTE_BITS = 12,   /* of a port by which it entered one     */
    ROUTE_PORTS = 1 << ROUTE_BITS,
};

typedef enum {
    MEM_READ,   /* answered with the data                 */
    MEM_WRITE,  /* answered with an acknowledgement, unless MEM_POSTED */
    MEM_ATOMIC, /* read-modify-write where all requests for its address come; answered when done */
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

/* MemMessage.payload of a read.
 * MEM_PREFETCH: a cache sends it ahead of demand, nobody waits for what it brings.
 * MEM_LINE_ONLY: a prefetch instruction wants the line in a cache and no data: answered without them.
 * MEM_TRANSLATION: a TLB asks for the translation of the page that begins there (translation.h). */
enum { MEM_PREFETCH = 1, MEM_LINE_ONLY = 2, MEM_TRANSLATION = 3 };

/* 64 bytes, no padding: it is hashed and saved as raw bytes. */
typedef struct {
    uint64_t address;      /* first byte of the segment, aligned to its size           */
    uint64_t byte_mask[2]; /* writes: bytes of the 128 B line that are written         */
    uint64_t issued;       /* tick at which the first requester sent it                */
    uint32_t token;        /* the requester's own; comes back unchanged                */
    uint32_t lanes;        /* of the warp that touch the segment; 0: unknown, of atomics all in it */
    uint32_t pc;           /* index of the instruction in its kernel                   */
    uint16_t payload;      /* atomics: slot in the payload table of the SM; reads: one of the above or 0 */
    uint16_t cta;          /* its number among the CTAs that the SM has started, modulo 2^16 */
    uint8_t bytes;         /* of the segment: 32, 64, 128                              */
    uint8_t sectors; /* those of the 128 B line that are meant, by SECTOR_BYTES; 0: all of the segment */
    uint16_t sm, warp;
    uint8_t kind; /* MemKind                                                  */
    uint8_t flags;
    uint8_t class_number; /* set by policies: warp type or the like                   */
    uint8_t route_depth;
    uint8_t route[6]; /* the ports by which it entered each network, in parts of ROUTE_BITS: the way back */
} MemMessage;

_Static_assert(sizeof(MemMessage) == 64, "MemMessage is one cache line");

static inline bool mem_is_prefetch(const MemMessage *m) {
    return (m->kind == MEM_READ) & (m->payload == MEM_PREFETCH);
}
static inline bool mem_is_line_only(const MemMessage *m) {
    return (m->kind == MEM_READ) & (m->payload == MEM_LINE_ONLY);
}
static inline bool mem_is_translation(const MemMessage *m) {
    return (m->kind == MEM_READ) & (m->payload == MEM_TRANSLATION);
}

/* Addresses are below 2^this: an address map divides them exactly. */
enum { MAX_ADDRESS_BITS = 52 };

extern const Protocol memory_protocol; /* MemMessage both ways */

/* What traces show of it. */
void mem_trace(const void *message, TraceMessage *shown);

/* Panics, naming `where`, unless it could have been made by an object that keeps to the protocol. */
void mem_message_is_sound(const char *where, const MemMessage *m);

_Noreturn void mem_no_l2_for(const SimObject *memory, const MemMessage *atomic);

/* Where requests end and atomics are not performed. */
static inline void mem_refuse_atomics(const SimObject *memory, const MemMessage *m) {
    if (__builtin_expect(m->kind == MEM_ATOMIC, 0)) mem_no_l2_for(memory, m);
}

/* The sectors of a line that hold these bytes, which lie within it. */
static inline uint32_t mem_sectors_between(uint64_t address, uint32_t bytes) {
    uint32_t first = (uint32_t)address % LINE_BYTES_MAX / SECTOR_BYTES;
    return ((1u << (bytes + SECTOR_BYTES - 1) / SECTOR_BYTES) - 1) << first;
}

/* Those in which a byte is. */
static inline uint32_t mem_sectors_of_bytes(const uint64_t byte_mask[2]) {
    uint32_t sectors = 0;
    for (uint32_t i = 0; i < LINE_BYTES_MAX / SECTOR_BYTES; i++)
        sectors |= (uint32_t)((uint32_t)(byte_mask[i / 2] >> i % 2 * SECTOR_BYTES) != 0) << i;
    return sectors;
}

/* Bytes of the segment that are read or written. */
static inline uint32_t mem_data_bytes(const MemMessage *m) {
    static const uint8_t counts[] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};
    if (__builtin_expect(m->sectors != 0, 0)) return counts[m->sectors] * (uint32_t)SECTOR_BYTES;
    return m->bytes;
}

/* Bytes of a message on a network: header, plus data where data travels. */
static inline uint32_t mem_request_bytes(const MemMessage *m) {
    return m->kind == MEM_READ ? HEADER_BYTES : HEADER_BYTES + mem_data_bytes(m);
}
static inline uint32_t mem_response_bytes(const MemMessage *m) {
    bool without_data = (m->kind == MEM_WRITE) | mem_is_line_only(m);
    return without_data ? HEADER_BYTES : HEADER_BYTES + mem_data_bytes(m);
}

/* Does its answer bring all bytes of the segment? */
static inline bool mem_brings_segment(const MemMessage *m) {
    _Static_assert(MEM_READ == 0, "asked together with the sectors");
    return (m->kind | m->sectors) == 0 && m->payload != MEM_LINE_ONLY;
}

/* The last 8 bytes as a word: class number, depth and, from bit ROUTE_BEGIN on, the route. The port that was
 * pushed last is lowest; behind the first one there are zeros. */
enum { WAY_BACK_AT = offsetof(MemMessage, class_number), ROUTE_BEGIN = 16, ROUTE_DEPTH_ONE = 1 << 8 };

static inline uint64_t mem_way_back(const MemMessage *m) {
    uint64_t way;
    memcpy(&way, (const char *)m + WAY_BACK_AT, sizeof way);
    return way;
}
static inline void mem_set_way_back(MemMessage *m, uint64_t route, uint64_t below) {
    uint64_t way = route << ROUTE_BEGIN | (uint16_t)below;
    memcpy((char *)m + WAY_BACK_AT, &way, sizeof way);
}

/* Of a copy that is sent on as a request of one's own. */
static inline void mem_begin_route(MemMessage *m) {
    mem_set_way_back(m, 0, m->class_number);
}
/* `to` becomes what passes a network: a copy with another way back. The way is read where the message stands already: the
 * host waits for a part of what it has just stored as a whole. */
static inline void mem_enter_network(MemMessage *to, const MemMessage *request, uint32_t port) {
    uint64_t way = mem_way_back(request);
    ensure(request->route_depth < ROUTE_DEPTH);
    debug_ensure(port < ROUTE_PORTS);
    *to = *request;
    mem_set_way_back(to, way >> ROUTE_BEGIN << ROUTE_BITS | port, way + ROUTE_DEPTH_ONE);
}
/* The port by which it entered the network that was its number `index`, from 0 on and below route_depth. */
static inline uint32_t mem_route_at(const MemMessage *m, uint32_t index) {
    uint32_t above = m->route_depth - 1u - index;
    return (uint32_t)(mem_way_back(m) >> (ROUTE_BEGIN + ROUTE_BITS * above)) & (ROUTE_PORTS - 1);
}
/* The port by which it entered the network that it is in; ROUTE_PORTS: none. */
static inline uint32_t mem_route_top(const MemMessage *m) {
    uint32_t port = (uint32_t)(mem_way_back(m) >> ROUTE_BEGIN) & (ROUTE_PORTS - 1);
    return m->route_depth ? port : ROUTE_PORTS;
}
/* After its port, mem_route_top(), has been found to be one of the network's. */
static inline void mem_leave_network(MemMessage *to, const MemMessage *response) {
    uint64_t way = mem_way_back(response);
    debug_ensure(response->route_depth > 0);
    *to = *response;
    mem_set_way_back(to, way >> (ROUTE_BEGIN + ROUTE_BITS), way - ROUTE_DEPTH_ONE);
}

/* For Class.came_by of a network with these ports towards the requesters. */
const Link *mem_came_by(const MemMessage *m, uint32_t *depth, const Port *up, uint32_t count);

#endif
