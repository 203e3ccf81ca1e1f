/* The rows of a crossbar, and how it is built. */
#include "mem/network/crossbar_state.h"

#include "core/sim/base/host_memory.h"
#include "core/sim/clocks.h"
#include "core/sim/halves.h"
#include "mem/protocol/networks.h"

#include <stdlib.h>

uint32_t longest_packet(const Crossbar *x) {
    uint32_t data = x->flits[MAX_PACKET_BYTES], written = x->flits[HEADER_BYTES];
    if (x->acknowledgements == FOR_EACH_SECTOR) written *= LINE_BYTES_MAX / SECTOR_BYTES;
    return data > written ? data : written;
}

static void size_subnet(Subnet *net, uint32_t inputs, uint32_t outputs, bool wide, uint32_t output_buffer) {
    net->inputs = inputs;
    net->outputs = outputs;
    net->input_words = words_for_ports(inputs);
    net->output_words = words_for_ports(outputs);
    net->wide_inputs = wide ? inputs : 0;
    net->wide_outputs = wide ? outputs : 0;
    net->ring = 1;
    while (net->ring < output_buffer)
        net->ring *= 2;
    net->packet_slots = outputs * net->ring;
}

static void build_crossbar(SimObject *object) {
    Crossbar *x = (Crossbar *)object;
    for (uint32_t bytes = 1; bytes <= MAX_PACKET_BYTES; bytes++)
        x->flits[bytes] = (uint8_t)((bytes + x->flit - 1) / x->flit);
    uint32_t longest = longest_packet(x);
    arbitration_read_classes(&x->priority, object, x->class_priority);
    x->speedup_shift = (uint32_t)__builtin_ctz(x->speedup);
    if (x->output_buffer < longest)
        user_error("%s.output_buffer: expected %u flits (the longest packet) or more, got %u", object->path,
                   longest, x->output_buffer);
    x->wide = x->up_count > PORTS_IN_WORD || x->down_count > PORTS_IN_WORD;
    size_subnet(&x->request, x->up_count, x->down_count, x->wide, x->output_buffer);
    size_subnet(&x->response, x->down_count, x->up_count, x->wide, x->output_buffer);
    x->request.part = longest;
    x->response.part = x->response_part ? x->response_part : longest;
}

static void free_view(View *view) {
    free(view->wide_head);
    free(view->wide_target);
    free(view->wide_asking);
}

/* Nothing of what the links hold has been looked at. */
static void init_view(const Crossbar *x, Subnet *net, const Port *from, const Port *to) {
    View *view = &net->view;
    free_view(view);
    *view = (View){.first_far = NEVER,
                   .seen_quantum = NEVER,
                   .outputs_cut = 1,
                   .all_cut = 1,
                   .latency = x->latency * x->obj.period};
    if (x->wide) {
        view->wide_head = zeroed(net->inputs, sizeof(Head));
        view->wide_target = zeroed(net->outputs, sizeof(Target));
        view->wide_asking = zeroed((size_t)net->outputs * net->input_words, sizeof(uint64_t));
    }
    for (uint32_t i = 0; i < net->inputs; i++) {
        head_at(view, x->wide, i)->link = from[i].receive;
        port_add(&view->ports[i / PORTS_IN_WORD].idle, i % PORTS_IN_WORD);
        view->all_cut &= link_is_cut(from[i].receive);
    }
    for (uint32_t j = 0; j < net->outputs; j++) {
        target_at(view, x->wide, j)->link = to[j].send;
        view->outputs_cut &= link_is_cut(to[j].send);
    }
    view->all_cut &= view->outputs_cut;
}

static uint64_t packets_in_buffer(const SimObject *object, uint32_t queue) {
    const Crossbar *x = (const Crossbar *)object_whole(object);
    const Subnet *net = queue < MAX_PORTS ? &x->request : &x->response;
    return subnet_output(net, queue % MAX_PORTS)->count;
}

static void audit_buffers(Crossbar *x, const Subnet *net, Direction direction) {
    const char *name = direction == REQUESTS ? "requests in an output buffer"
                                             : "responses in an output buffer";
    for (uint32_t j = 0; j < net->outputs; j++)
        audit_queue(&x->obj, buffer_queue(direction, j), name, QUEUE_FIFO, net->ring, packets_in_buffer);
}

static void init_views(Crossbar *x) {
    init_view(x, &x->request, x->up, x->down);
    init_view(x, &x->response, x->down, x->up);
}

/* Steps are counted in cycles. */
static void move_times(const Crossbar *x, Subnet *net, const Clock *was) {
    for (uint32_t j = 0; j < net->outputs; j++) {
        Output *output = is_wide(net) ? &net->wide_output[j] : &net->output[j];
        output->channel_free = clock_moved_edge(&x->obj, was, output->channel_free);
        output->all_left = clock_moved_edge(&x->obj, was, output->all_left);
        for (uint32_t place = 0; place < output->count; place++) {
            Packet *packet = &net->packets[j * net->ring + ((output->first + place) & (net->ring - 1))];
            packet->arrived = clock_moved_edge(&x->obj, was, packet->arrived);
            packet->leaves = clock_moved_edge(&x->obj, was, packet->leaves);
        }
    }
}

static void crossbar_clocks_changed(SimObject *object, const Clock *was) {
    Crossbar *x = (Crossbar *)object;
    move_times(x, &x->request, was);
    move_times(x, &x->response, was);
    init_views(x);
}

static void init_crossbar(SimObject *object) {
    Crossbar *x = (Crossbar *)object;
    x->map = address_map_find(object);
    x->output_of = slices_behind_ports(object, x->down, x->down_count);
    for (uint32_t i = 0; i < x->up_count; i++)
        address_map_watch(x->map, x->up[i].receive);
    init_views(x);
    audit_buffers(x, &x->request, REQUESTS);
    audit_buffers(x, &x->response, RESPONSES);
#ifdef WW_DEBUG
    x->responses.audit = object->audit;
#endif
}

static void destroy_crossbar(SimObject *object) {
    Crossbar *x = (Crossbar *)object;
    free(x->output_of);
    free_view(&x->request.view);
    free_view(&x->response.view);
}

static Ratio utilisation(const SimObject *object, const Subnet *net) {
    return ratio_of(net->flits_out, object_cycle(object, object->sim->now) * net->outputs);
}

static Ratio mean_latency(const SimObject *object, const Subnet *net) {
    return ratio_of(net->latency_ticks, net->packets_out * object->clock->first_period);
}

static Ratio request_utilisation(const SimObject *o) {
    return utilisation(o, &((const Crossbar *)o)->request);
}
static Ratio response_utilisation(const SimObject *o) {
    return utilisation(o, &((const Crossbar *)o)->response);
}
static Ratio request_latency(const SimObject *o) {
    return mean_latency(o, &((const Crossbar *)o)->request);
}
static Ratio response_latency(const SimObject *o) {
    return mean_latency(o, &((const Crossbar *)o)->response);
}

/* clang-format off */
#define SUBNET(net)                                                                                           \
    DERIVED(Crossbar, net.inputs, "Input ports"),                                                             \
    DERIVED(Crossbar, net.outputs, "Output ports"),                                                           \
    DERIVED(Crossbar, net.input_words, "Words of a set of inputs"),                                           \
    DERIVED(Crossbar, net.output_words, "Words of a set of outputs"),                                         \
    DERIVED(Crossbar, net.ring, "Packet slots per output"),                                                   \
    DERIVED(Crossbar, net.packet_slots, "Packet slots in all"),                                               \
    DERIVED(Crossbar, net.part, "Flits that cross with one grant"),                                           \
    STATE(Crossbar, net.sending, "Outputs with packets"), \
    STATE(Crossbar, net.input, "When each input is free"), \
    STATE(Crossbar, net.output, "Each output's ring, buffer and round-robin pointer"), \
    DERIVED(Crossbar, net.wide_inputs, "Inputs where sets of ports have several words"), \
    DERIVED(Crossbar, net.wide_outputs, "The same of outputs"), \
    STATE_ARRAY(Crossbar, net.wide_input, net.wide_inputs, "When each of these is free"), \
    STATE_ARRAY(Crossbar, net.wide_output, net.wide_outputs, "The ring, buffer and pointer of each of these"), \
    STATE_ARRAY(Crossbar, net.packets, net.packet_slots, "Packets in the output buffers"),                    \
    STAT_NAMED(Crossbar, net.packets_in, #net "_packets_in", "packets", "Packets that left their input"),     \
    STAT_NAMED(Crossbar, net.packets_out, #net "_packets_out", "packets", "Packets sent on"),                 \
    STAT_NAMED(Crossbar, net.flits_in, #net "_flits_in", "flits", "Flits that left their input"),             \
    STAT_NAMED(Crossbar, net.flits_out, #net "_flits_out", "flits", "Flits sent on"),                         \
    STAT_NAMED(Crossbar, net.conflicts, #net "_conflicts", "packets",                                         \
               "Packets that lost an arbitration, once for each"),                                            \
    STAT_NAMED(Crossbar, net.blocked_cycles, #net "_blocked_cycles", "cycles",                                \
               "Cycles in which the next packet found no room in its output's buffer, over all outputs"),     \
    STAT_NAMED(Crossbar, net.latency_ticks, #net "_latency_ticks", "ticks",                                   \
               "Time from ready at the input to sent on, over all packets"),                                  \
    HOST(Crossbar, net.view, "What the links hold, as far as the switch has looked"),                         \
    FORMULA(#net "_utilisation", net##_utilisation, "ratio", "Busy part of the output channels"),             \
    FORMULA(#net "_latency", net##_latency, "cycles", "Mean time from ready at the input to sent on")
/* clang-format on */

static void call_head(SimObject *object, MethodCall *call) {
    const Crossbar *x = (const Crossbar *)object;
    const Subnet *net = call->argument[0].flag ? &x->response : &x->request;
    uint32_t input = (uint32_t)call->argument[1].whole;
    if (input < net->inputs)
        arbitration_head(call, crossbar_head(net, input));
    else
        method_refuse(call, "input: expected 0 to %u, got %u", net->inputs - 1, input);
}

static const Method crossbar_methods[] = {
    METHOD("head", call_head, HEAD_DOC,
           TAKES(FLAG_VALUE("responses"), WHOLE_NUMBER("input", .min = 0, .max = MAX_PORTS - 1)),
           HEAD_RESULTS, MAY_BE_NIL),
    METHODS_END};

static const Field crossbar_fields[] = {
    BASE(Crossbar),
    PARAM_NAMED(Crossbar, up_count, "up", REQUIRED, "ports", "Ports towards the SMs", .min = 1,
                .max = MAX_PORTS),
    PARAM_NAMED(Crossbar, down_count, "down", REQUIRED, "ports",
                "Ports towards the L2 slices; each slice lies behind one of them", .min = 1,
                .max = MAX_PORTS),
    PARAM(Crossbar, flit, "32B", "bytes", "What a channel carries in a cycle", .min = 1, .max = 1024),
    PARAM(Crossbar, latency, "1", "cycles", "From a flit's crossing to the output channel", .min = 1,
          .max = LATENCY_MAX, .timing = true),
    PARAM(Crossbar, speedup, "1", "steps", "Flits that cross from an input to an output in a cycle", .min = 1,
          .max = 8, .power_of_two = true, .timing = true),
    PARAM(
        Crossbar, output_buffer, "16", "flits",
        "Buffer of each output, in which a packet has room from its crossing until it is sent: less than the "
        "latency and two packets limits the throughput",
        .min = 1, .max = 4096),
    PARAM(Crossbar, response_part, "0", "flits",
          "Responses cross in parts of so many, each arbitrated for like a packet; 0: as a whole",
          .max = 1024),
    PARAM_CHOICE(Crossbar, acknowledgements, "write", "write|sector",
                 "Packets that acknowledge a write: one, or one for each sector of 32 B in which it wrote"),
    PARAM_CHOICE(Crossbar, arbitration, "round_robin", ARBITRATION_WORDS, ARBITRATION_DOC, .timing = true),
    PARAM(Crossbar, class_priority, "", "priorities", CLASS_PRIORITY_DOC, .timing = true),
    DERIVED(Crossbar, priority, "Of each class"),
    DERIVED(Crossbar, wide, "Sets of its ports are of more than one word"),
    DERIVED(Crossbar, speedup_shift, "log2(speedup)"),
    DERIVED(Crossbar, flits, "Flits of a packet, by its bytes"),
    DERIVED(Crossbar, unused, "Padding"),
    PORT_ARRAY(Crossbar, up, up_count, memory_protocol, ROLE_RESPONDER, "Towards the SMs"),
    PORT_ARRAY(Crossbar, down, down_count, memory_protocol, ROLE_REQUESTER, "Towards the L2 slices"),
    HOST(Crossbar, map, "The machine's address map"),
    HOST(Crossbar, output_of, "The port behind which each slice lies"),
    SUBNET(request),
    SUBNET(response),
    HOST(Crossbar, responses, "What ticks the responses while they are apart"),
    FIELDS_END,
};

static SimObject *response_half(const SimObject *object) {
    return &((Crossbar *)(uintptr_t)object)->responses;
}

static UntimedAnswer take_untimed(SimObject *object, const void *request) {
    const Crossbar *x = (const Crossbar *)object;
    uint64_t address = ((const MemMessage *)request)->address;
    address_map_take_untimed(x->map, request);
    return link_send_untimed(x->down[x->output_of[address_map_slice(x->map, address)]].send, request);
}

const Class crossbar_class = {
    .name = "Crossbar",
    .doc = "Crossbar network from requesters to L2 slices: arbitration for each output, back-pressure",
    .passes_on = true,
    .take_untimed = take_untimed,
    .bytes = sizeof(Crossbar),
    .fields = crossbar_fields,
    .events = arbitration_events,
    .methods = crossbar_methods,
    .build = build_crossbar,
    .init = init_crossbar,
    .tick = tick_crossbar,
    .response_half = response_half,
    .tick_responses = tick_crossbar_responses,
    .clocks_changed = crossbar_clocks_changed,
    .is_sound = crossbar_is_sound,
    .came_by = crossbar_came_by,
    .requests_inside = crossbar_requests,
    .check = check_crossbar,
    .report = report_crossbar,
    .destroy = destroy_crossbar,
};
REGISTER_CLASS(crossbar_class);
