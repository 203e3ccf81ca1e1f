#include "mem/protocol/memory_protocol.h"

#include "core/sim/trace/trace.h"

enum { WARPS = 64, PAYLOADS = 64, READS = MEM_TRANSLATION + 1, NO_OWNER = 0xffff };

void mem_message_is_sound(const char *where, const MemMessage *m) {
    bool power_of_two = m->bytes && (m->bytes & (m->bytes - 1)) == 0;
    sound(m->kind <= MEM_ATOMIC, "%s: a message of kind %u", where, m->kind);
    sound(m->kind == MEM_WRITE || !(m->flags & MEM_POSTED), "%s: a posted message of kind %u", where,
          m->kind);
    sound(power_of_two && m->bytes <= LINE_BYTES_MAX, "%s: a message for %u bytes", where, m->bytes);
    sound((m->sectors & ~mem_sectors_between(m->address, m->bytes)) == 0,
          "%s: a message for sectors 0x%x of %u B", where, m->sectors, m->bytes);
    sound(m->address >> MAX_ADDRESS_BITS == 0, "%s: a message for address 0x%lx", where, m->address);
    sound(m->route_depth <= ROUTE_DEPTH, "%s: a message that has crossed %u networks", where, m->route_depth);
    sound(m->route_depth >= ROUTE_DEPTH ||
              mem_way_back(m) >> (ROUTE_BEGIN + ROUTE_BITS * m->route_depth) == 0,
          "%s: a message with a longer way back than the %u networks that it has crossed", where,
          m->route_depth);
    sound(m->payload < (m->kind == MEM_ATOMIC ? PAYLOADS : READS), "%s: a message with payload %u", where,
          m->payload);
    sound(m->warp < WARPS || (m->warp == NO_OWNER && m->flags & MEM_POSTED), "%s: a message of warp %u",
          where, m->warp);
}

_Noreturn void mem_no_l2_for(const SimObject *memory, const MemMessage *atomic) {
    user_error("%s: expected reads and writes, got an atomic on 0x%lx by sm %u warp %u; an L2 between it and "
               "the SMs, or a MemoryController in its place, performs atomics",
               object_path(memory), atomic->address, atomic->sm, atomic->warp);
}

const Link *mem_came_by(const MemMessage *m, uint32_t *depth, const Port *up, uint32_t count) {
    if (!*depth || *depth > m->route_depth) return NULL;
    uint32_t port = mem_route_at(m, --*depth);
    return port < count ? up[port].receive : NULL;
}

static void is_sound(const char *link, const SimObject *receiver, const void *message) {
    (void)receiver;
    mem_message_is_sound(link, message);
}

static bool wants_answer(const void *request) {
    return !(((const MemMessage *)request)->flags & MEM_POSTED);
}

static uint32_t route_depth(const void *message) {
    return ((const MemMessage *)message)->route_depth;
}

void mem_trace(const void *message, TraceMessage *shown) {
    static const char *const kinds[] = {"read", "write", "atomic"};
    const MemMessage *m = message;
    shown->address = m->address;
    shown->issued = m->issued;
    shown->what = mem_is_prefetch(m)      ? "prefetch"
                  : mem_is_translation(m) ? "translation"
                  : m->flags & MEM_POSTED ? "write-back"
                                          : kinds[m->kind];
    shown->sm = m->sm;
    shown->warp = m->warp;
    shown->pc = m->flags & MEM_POSTED ? -1 : (int32_t)m->pc;
    shown->bytes = (uint16_t)mem_data_bytes(m);
    shown->is_request = 1;
    shown->is_posted = (m->flags & MEM_POSTED) != 0;
}

const Protocol memory_protocol = {.name = "memory",
                                  .request_bytes = sizeof(MemMessage),
                                  .response_bytes = sizeof(MemMessage),
                                  .wants_answer = wants_answer,
                                  .route_depth = route_depth,
                                  .request_is_sound = is_sound,
                                  .response_is_sound = is_sound,
                                  .trace_request = mem_trace,
                                  .trace_response = mem_trace};
