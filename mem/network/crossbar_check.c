/* The conservation laws of a crossbar, whether the state that a checkpoint brought is legal, and what waits in it
 * when a machine hangs. */
#include "mem/network/crossbar_state.h"

/* The packets of an output's buffer, counted anew from their messages. */
static uint64_t flits_in_buffer(const Crossbar *x, const Subnet *net, Direction direction, uint32_t j) {
    const Output *output = subnet_output(net, j);
    uint64_t flits = 0;
    for (uint32_t k = 0; k < output->count; k++) {
        const Packet *packet = packet_at(net, j, k);
        flits += packet_flits(x, &packet->message, direction);
    }
    if (flits != output->flits || flits > x->output_buffer)
        panic("%s: output %u holds %lu flits in %u packets, but counts %u; its buffer is of %u flits",
              x->obj.path, j, flits, output->count, output->flits, x->output_buffer);
    return flits;
}

static uint64_t taken_from_inputs(const Subnet *net) {
    uint64_t packets = 0;
    for (uint32_t i = 0; i < net->inputs; i++)
        packets += link_received(subnet_head(net, i)->link);
    return packets;
}

static uint64_t given_to_outputs(const Subnet *net) {
    uint64_t packets = 0;
    for (uint32_t j = 0; j < net->outputs; j++)
        packets += link_sent(subnet_target(net, j)->link);
    return packets;
}

static void check_subnet(const Crossbar *x, const Subnet *net, Direction direction, bool idle) {
    const char *path = x->obj.path, *name = direction == REQUESTS ? "requests" : "responses";
    uint64_t packets = 0, flits = 0, taken = taken_from_inputs(net), given = given_to_outputs(net);
    for (uint32_t j = 0; j < net->outputs; j++) {
        packets += subnet_output(net, j)->count;
        flits += flits_in_buffer(x, net, direction, j);
    }
    if (net->packets_in - net->packets_out != packets || net->flits_in - net->flits_out != flits)
        panic("%s: of %lu %s (%lu flits), %lu (%lu flits) have left and %lu (%lu flits) are inside", path,
              net->packets_in, name, net->flits_in, net->packets_out, net->flits_out, packets, flits);
    if (net->packets_in != taken || net->packets_out != given)
        panic("%s: %lu %s came and %lu left, but its links gave it %lu and took %lu", path, net->packets_in,
              name, net->packets_out, taken, given);
    if (idle && packets) panic("%s: %lu %s are inside although the machine is idle", path, packets, name);
}

/* Times of steps and ticks are at most as far ahead as the longest packet, its latency, and one that has
 * crossed before take. */
static void output_is_sound(const Crossbar *x, const Subnet *net, Direction direction, uint32_t j) {
    const Output *output = subnet_output(net, j);
    const char *path = x->obj.path;
    uint64_t now = x->obj.sim->now, period = x->obj.period,
             ahead = longest_packet(x) + x->output_buffer + LATENCY_MAX;
    uint64_t latest = now + ahead * period, step = (object_cycle(&x->obj, now) + ahead) << x->speedup_shift;
    sound(output->first < net->ring && output->count <= net->ring &&
              output->pointer < (is_wide(net) ? net->inputs : PORTS_IN_WORD),
          "%s: output %u: %u packets from %u on", path, j, output->count, output->first);
    sound(port_in((PortSet){net->sending, net->output_words}, j) == (output->count != 0),
          "%s: output %u is marked as sending", path, j);
    sound(output->free <= step && output->channel_free <= latest && output->channel_free % period == 0 &&
              output->all_left <= latest && output->all_left % period == 0,
          "%s: output %u is free at step %lu, tick %lu", path, j, output->free, output->channel_free);
    for (uint32_t i = 0; i < output->count; i++) {
        const Packet *packet = packet_at(net, j, i);
        mem_message_is_sound(path, &packet->message);
        uint32_t flits = packet_flits(x, &packet->message, direction);
        sound(packet->flits == flits && packet->last_part && packet->last_part <= flits &&
                  packet->leaves <= latest && packet->leaves % period == 0,
              "%s: output %u: a packet of %u flits, which leaves at tick %lu", path, j, packet->flits,
              packet->leaves);
    }
}

static void subnet_is_sound(const Crossbar *x, const Subnet *net, Direction direction) {
    const char *path = x->obj.path;
    uint64_t ahead = longest_packet(x) + x->output_buffer;
    uint64_t step = (object_cycle(&x->obj, x->obj.sim->now) + ahead) << x->speedup_shift;
    for (uint32_t i = 0; i < net->inputs; i++)
        sound(subnet_input(net, i)->free <= step && subnet_input(net, i)->channel_free <= step &&
                  subnet_input(net, i)->crossed < longest_packet(x),
              "%s: input %u is free at step %lu", path, i, subnet_input(net, i)->free);
    for (uint32_t j = 0; j < net->outputs; j++)
        output_is_sound(x, net, direction, j);
    uint64_t last = net->sending[net->output_words - 1];
    uint32_t in_last = net->outputs - (net->output_words - 1) * PORTS_IN_WORD;
    sound(in_last == PORTS_IN_WORD || last >> in_last == 0, "%s: outputs 0x%lx of the last send", path, last);
}

const Link *crossbar_came_by(const SimObject *object, const void *message, uint32_t *depth) {
    const Crossbar *x = (const Crossbar *)object;
    return mem_came_by(message, depth, x->up, x->up_count);
}

/* A request here knows already by which port it came, an answer no longer. */
void crossbar_requests(const SimObject *object, RequestVisitor *visit, void *context) {
    const Crossbar *x = (const Crossbar *)object;
    for (uint32_t j = 0; j < x->request.outputs; j++)
        for (uint32_t i = 0; i < subnet_output(&x->request, j)->count; i++) {
            const MemMessage *m = &packet_at(&x->request, j, i)->message;
            if (!(m->flags & MEM_POSTED)) visit(context, x->down[j].send, m);
        }
    for (uint32_t j = 0; j < x->response.outputs; j++)
        for (uint32_t i = 0; i < subnet_output(&x->response, j)->count; i++)
            visit(context, x->up[j].receive, &packet_at(&x->response, j, i)->message);
}

void crossbar_is_sound(const SimObject *object, bool fits) {
    const Crossbar *x = (const Crossbar *)object;
    (void)fits;
    subnet_is_sound(x, &x->request, REQUESTS);
    subnet_is_sound(x, &x->response, RESPONSES);
}

/* Every message that has come knows its way; a head of which some has crossed is there, and longer. */
static void check_inputs(const Crossbar *x, const Subnet *net, Direction direction) {
    for (uint32_t i = 0; i < net->inputs; i++) {
        const Link *link = subnet_head(net, i)->link;
        FOR_LINK_MESSAGES (link, k) {
            const MemMessage *m = link_message(link, k);
            bool good = direction == REQUESTS ? m->route_depth < ROUTE_DEPTH
                                              : mem_route_top(m) < net->outputs;
            if (!good) panic("%s: a message for 0x%lx that has lost its way", x->obj.path, m->address);
        }
        if (!subnet_input(net, i)->crossed) continue;
        if (link_sent(link) == link_received(link) ||
            subnet_input(net, i)->crossed >=
                packet_flits(x, link_message(link, link_received(link)), direction))
            panic("%s: %lu flits of the head of input %u have crossed, and it is not longer", x->obj.path,
                  subnet_input(net, i)->crossed, i);
    }
}

void check_crossbar(const SimObject *object, bool idle) {
    const Crossbar *x = (const Crossbar *)object;
    check_subnet(x, &x->request, REQUESTS, idle);
    check_subnet(x, &x->response, RESPONSES, idle);
    check_inputs(x, &x->request, REQUESTS);
    check_inputs(x, &x->response, RESPONSES);
}

static void report_subnet(const Crossbar *x, const Subnet *net, const char *from, const char *to, FILE *out) {
    const char *path = x->obj.path;
    for (uint32_t j = 0; j < net->outputs; j++) {
        if (!subnet_output(net, j)->count) continue;
        fprintf(out,
                "%s.%s[%u]: %u packets (%u flits) wait to be sent on; the oldest came at core cycle %lu\n",
                path, to, j, subnet_output(net, j)->count, subnet_output(net, j)->flits,
                clock_cycle(&x->obj.sim->clocks[0], packet_at(net, j, 0)->arrived));
    }
    for (uint32_t j = 0; j < net->outputs; j++)
        for (uint32_t i = 0; i < net->inputs; i++)
            if (port_in(asking_for(net, j), i))
                fprintf(out, "%s.%s[%u]: its head has asked for %s[%u] since cycle %lu\n", path, from, i, to,
                        j,
                        later_of(subnet_head(net, i)->step, subnet_input(net, i)->free) >> x->speedup_shift);
}

void report_crossbar(const SimObject *object, FILE *out) {
    const Crossbar *x = (const Crossbar *)object;
    report_subnet(x, &x->request, "up", "down", out);
    report_subnet(x, &x->response, "down", "up", out);
}
