/* What a memory controller sends: responses whose data have left the pins, those of each port in the order of their data. */
#include "core/sim/event.h"
#include "mem/dram/memory_controller_state.h"

static void free_return_place(MemoryController *mc, ReturnQueue *returns) {
    if (returns->held + returns->promised == mc->return_entries) {
        mc->full_returns--;
        mc->replan = 1;
    }
    returns->held--;
    audit_leave(&mc->obj, return_queue((uint32_t)(returns - mc->returns)), returns->first);
    if (++returns->first == mc->return_places) returns->first = 0;
}

/* `port_due` of a port: when its oldest response may leave. */
static inline void look_at_port(MemoryController *mc, uint32_t port) {
    uint64_t none = mc->returns[port].held == 0; /* then what is read is void */
    mc->port_due[port] = oldest_response(mc, port)->ready | -none;
}

/* Which port's turn it is the host cannot foresee. */
static inline void choose_port(MemoryController *mc) {
    uint64_t due = mc->port_due[0], first = 0;
    for (uint32_t port = 1; port < mc->ports; port++) {
        uint64_t sooner = mc->port_due[port] < due;
        first = sooner ? port : first;
        due = sooner ? mc->port_due[port] : due;
    }
    mc->response_due = due;
    mc->response_port = (uint32_t)first;
}

/* Ports whose link had no room are looked at in every tick: the link wakes the controller when it has some.
 */
COLD static void look_at_all_ports(MemoryController *mc) {
    mc->response_blocked = 0;
    for (uint32_t port = 0; port < mc->ports; port++)
        look_at_port(mc, port);
    choose_port(mc);
}

/* In its cycle, which may be one that is done ahead of time. */
static inline void send_response(MemoryController *mc, uint32_t port, uint64_t now, uint64_t cycle) {
    const Response *response = oldest_response(mc, port);
    uint64_t read = response->message.kind != MEM_WRITE;
    *(MemMessage *)link_send_checked(mc->cpu[port].send, now) = response->message;
    mc->reads_answered += read;
    mc->read_latency_cycles += (cycle - response->arrived) & -read;
    mc->writes_answered += !read;
    free_return_place(mc, &mc->returns[port]);
}

/* Sends what is ready, from all ports. */
static void send_responses(MemoryController *mc, uint64_t now, uint64_t cycle) {
    do {
        uint32_t port = mc->response_port;
        Link *link = mc->cpu[port].send;
        if (link_can_send(link, now)) {
            send_response(mc, port, now, cycle);
            look_at_port(mc, port);
        } else {
            mc->port_due[port] = link_space_time(link, now) == NEVER ? NEVER : cycle + 1;
            mc->response_blocked = 1;
        }
        choose_port(mc);
    } while (mc->response_due <= cycle);
}

/* What becomes ready before `until`, each in its cycle: between these, none has seen the controller. No port is full. */
static inline void send_responses_of(MemoryController *mc, uint32_t port, uint64_t end) {
    ReturnQueue *returns = &mc->returns[port];
    Response *ring = &mc->responses[port * mc->return_places];
    Link *link = mc->cpu[port].send;
    uint64_t reads = 0, writes = 0, latency = 0;
    uint32_t first = returns->first, held = returns->held;
    while (held && ring[first].ready < end) {
        const Response *response = &ring[first];
        *(MemMessage *)link_send_checked(link, object_time(&mc->obj, response->ready)) = response->message;
        if (response->message.kind != MEM_WRITE) {
            reads++;
            latency += response->ready - response->arrived;
        } else {
            writes++;
        }
        returns->held = --held;
        audit_leave(&mc->obj, return_queue(port), first);
        if (++first == mc->return_places) first = 0;
    }
    returns->first = first;
    mc->port_due[port] = held ? ring[first].ready : NEVER;
    mc->reads_answered += reads;
    mc->writes_answered += writes;
    mc->read_latency_cycles += latency;
}

void memory_controller_send_responses(MemoryController *mc, uint64_t until) {
    uint64_t end = memory_controller_cycle_from(mc, until);
    for (uint32_t port = 0; until && port < mc->ports; port++)
        send_responses_of(mc, port, end);
    choose_port(mc);
}

void memory_controller_begin_responses(MemoryController *mc, uint64_t now, uint64_t cycle) {
    if (__builtin_expect(mc->response_blocked != 0, 0)) look_at_all_ports(mc);
    if (cycle >= mc->response_due) send_responses(mc, now, cycle);
}
