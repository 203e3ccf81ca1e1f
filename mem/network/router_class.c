/* The rows of a router, and how it is built. */
#include "mem/network/router_state.h"

enum { LATENCY_MAX = 1000 };

static void check_vcs(const Router *r) {
    uint32_t classes = escape_classes(r), least = classes + (r->routing == ADAPTIVE);
    if (r->vcs < least)
        user_error("%s.vcs: expected %u or more (%s%s), got %u", r->obj.path, least,
                   classes == 2 ? "two for a torus' dateline" : "one in dimension order",
                   r->routing == ADAPTIVE ? ", one to be chosen freely" : "", r->vcs);
}

static void build_router(SimObject *object) {
    Router *r = (Router *)object;
    for (uint32_t bytes = 1; bytes <= PACKET_BYTES_MAX; bytes++)
        r->flits_of[bytes] = (uint8_t)((bytes + r->flit - 1) / r->flit);
    uint32_t longest = r->flits_of[PACKET_BYTES_MAX];
    if (r->x >= r->columns || r->y >= r->rows)
        user_error("%s: expected x below columns = %u and y below rows = %u, got x = %u, y = %u",
                   object->path, r->columns, r->rows, r->x, r->y);
    if (r->buffer < longest || r->output_buffer < longest)
        user_error("%s.%s: expected %u flits (the longest packet) or more, got %u", object->path,
                   r->buffer < longest ? "buffer" : "output_buffer", longest,
                   r->buffer < longest ? r->buffer : r->output_buffer);
    check_vcs(r);
    arbitration_read_classes(&r->priority, object, r->class_priority);
    r->local_count = r->up_count + r->down_count;
    r->heads = r->local_count + DIRECTIONS * router_vcs(r);
    if (r->heads > ROUTER_HEADS_MAX)
        user_error("%s: expected up + down + 8 * vcs up to %d, got %u + %u + 8 * %u", object->path,
                   ROUTER_HEADS_MAX, r->up_count, r->down_count, r->vcs);
    r->ring = 1;
    while (r->ring < r->buffer)
        r->ring *= 2;
    r->slot_count = DIRECTIONS * router_vcs(r) * r->ring;
    r->local_slot_count = r->local_count * r->output_buffer;
    r->outputs = r->input_count = DIRECTIONS + r->local_count;
}

static uint64_t packets_in_queue(const SimObject *object, uint32_t queue) {
    const Router *r = (const Router *)object;
    uint32_t buffers = DIRECTIONS * router_vcs(r);
    if (queue >= buffers) return r->local[queue - buffers].count;
    return r->queue[queue / router_vcs(r)][queue % router_vcs(r)].count;
}

static void init_router(SimObject *object) {
    Router *r = (Router *)object;
    r->map = address_map_find(object);
    router_join_network(r);
    for (uint32_t i = 0; i < r->up_count; i++)
        address_map_watch(r->map, r->up[i].receive);
    for (uint32_t k = 0; k < DIRECTIONS; k++)
        for (uint32_t vc = 0; vc < router_vcs(r); vc++) {
            r->credits[k][vc] = r->out[k].send ? r->buffer : 0;
            audit_queue(object, queue_number(r, k, vc), "packets in a buffer", QUEUE_FIFO, r->ring,
                        packets_in_queue);
        }
    for (uint32_t port = 0; port < r->local_count; port++)
        audit_queue(object, local_queue_number(r, port), "packets at a local port", QUEUE_FIFO,
                    r->output_buffer, packets_in_queue);
}

static void destroy_router(SimObject *object) {
    router_leave_network((Router *)object);
}

static Ratio mean_hops(const SimObject *object) {
    const Router *r = (const Router *)object;
    return ratio_of(r->hops, r->packets_out);
}

static Ratio mean_latency(const SimObject *object) {
    const Router *r = (const Router *)object;
    return ratio_of(r->latency_ticks, r->packets_out * object->period);
}

static Ratio mean_occupancy(const SimObject *object) {
    const Router *r = (const Router *)object;
    return ratio_of(r->buffered_flits, object_cycle(object, object->sim->now));
}

#define NEIGHBOUR(k, n)                                                                                      \
    PORT_NAMED(Router, out[k], n, router_channel_protocol, ROLE_REQUESTER, "Channel to the router there",    \
               .optional = true),                                                                            \
        PORT_NAMED(Router, in[k], "from_" n, router_channel_protocol, ROLE_RESPONDER,                        \
                   "Channel from the router there", .optional = true)

static const Field router_fields[] = {
    BASE(Router),
    PARAM_NAMED(Router, up_count, "up", "1", "ports", "Local ports towards requesters",
                .max = ROUTER_HEADS_MAX),
    PARAM_NAMED(Router, down_count, "down", "0", "ports", "Local ports towards the L2 slices",
                .max = ROUTER_HEADS_MAX),
    PARAM(Router, x, "0", "routers", "Its place in its row, from the west", .max = SIDE_MAX - 1),
    PARAM(Router, y, "0", "routers", "Its place in its column, from the north", .max = SIDE_MAX - 1),
    PARAM(Router, columns, REQUIRED, "routers", "Routers in a row of the network", .min = 1, .max = SIDE_MAX),
    PARAM(Router, rows, "1", "routers", "Routers in a column of the network", .min = 1, .max = SIDE_MAX),
    PARAM_CHOICE(Router, topology, "mesh", "mesh|torus",
                 "torus: rows and columns are rings; of one row: a ring"),
    PARAM_CHOICE(Router, routing, "dimension_order", "dimension_order|adaptive",
                 "dimension_order: along the row, then along the column; adaptive: any shortest way"),
    PARAM(Router, vcs, "2", "channels", "Virtual channels for requests, and as many for responses", .min = 1,
          .max = ROUTER_VCS_MAX),
    PARAM(Router, flit, "32B", "bytes", "What a channel carries in a cycle", .min = 1, .max = 1024),
    PARAM(Router, buffer, "8", "flits", "Buffer of each virtual channel of an input", .min = 1, .max = 1024),
    PARAM(Router, output_buffer, "16", "flits", "Buffer of each local output", .min = 1, .max = 1024),
    PARAM(Router, latency, "2", "cycles", "From a head's arrival to its crossing", .max = LATENCY_MAX,
          .timing = true),
    PARAM_CHOICE(Router, arbitration, "round_robin", ARBITRATION_WORDS, ARBITRATION_DOC, .timing = true),
    PARAM(Router, class_priority, "", "priorities", CLASS_PRIORITY_DOC, .timing = true),
    DERIVED(Router, priority, "Of each class"),
    DERIVED(Router, padding, "Padding"),
    PARAM_FLAG(Router, dateline, "true",
               "Packets that have yet to go round the end of a ring have virtual channels of their own; "
               "false: a full "
               "ring may hang"),
    DERIVED(Router, ring, "Packet slots of a buffer"),
    PORT_ARRAY(Router, up, up_count, memory_protocol, ROLE_RESPONDER, "From requesters"),
    PORT_ARRAY(Router, down, down_count, memory_protocol, ROLE_REQUESTER, "Towards the L2 slices"),
    NEIGHBOUR(EAST, "east"),
    NEIGHBOUR(WEST, "west"),
    NEIGHBOUR(SOUTH, "south"),
    NEIGHBOUR(NORTH, "north"),
    HOST(Router, map, "The machine's address map"),
    HOST(Router, network, "What the routers of a network share"),
    HOST(Router, first_up, "Number of its first up port in the network"),
    DERIVED(Router, heads, "Heads of inputs"),
    DERIVED(Router, outputs, "Channels and local ports"),
    DERIVED(Router, slot_count, "Packet slots of all buffers"),
    DERIVED(Router, local_slot_count, "Packet slots of all local outputs"),
    DERIVED(Router, input_count, "Local ports and channels"),
    DERIVED(Router, local_count, "Local ports"),
    DERIVED(Router, flits_of, "Flits of a packet, by its bytes"),
    DERIVED(Router, unused, "Padding"),
    STATE(Router, queue, "Each buffer's ring"),
    STATE_ARRAY(Router, slots, slot_count, "Packets in the buffers"),
    STATE_ARRAY(Router, local, local_count, "Each local output's ring"),
    STATE_ARRAY(Router, local_slots, local_slot_count, "Packets at the local outputs"),
    STATE_ARRAY(Router, input_free, input_count, "When each input is free"),
    STATE_ARRAY(Router, output_free, outputs, "When each output is free"),
    STATE(Router, credits, "Flits of room behind each channel"),
    STATE(Router, owed, "Credits to be returned"),
    STATE(Router, leaving, "Packet that is leaving each input"),
    STATE(Router, vc_pointer, "Each virtual channel's round-robin pointer"),
    STATE(Router, channel_pointer, "Each channel's round-robin pointer"),
    STATE_ARRAY(Router, local_pointer, local_count, "Each local output's round-robin pointer"),
    STATE(Router, filled, "Buffers with packets"),
    STATE(Router, turn, "Output that is looked at first"),
    STATE(Router, inside, "Packets inside"),
    STATE(Router, buffered, "Flits in the buffers"),
    STATE(Router, owed_anything, "There are credits to be returned"),
    STAT(Router, packets_in, "packets", "Packets that entered the network here"),
    STAT(Router, packets_out, "packets", "Packets that left the network here"),
    STAT(Router, hops, "channels", "Channels that the packets which left here have crossed"),
    STAT(Router, latency_ticks, "ticks", "Time in the network of the packets that left here"),
    STAT(Router, conflicts, "packets", "Packets that lost an arbitration, once for each"),
    STAT(Router, credit_stall_cycles, "cycles",
         "Cycles in which a virtual channel's next packet found no room behind a free channel"),
    STAT(Router, buffered_flits, "flits", "Flits in the buffers, summed over cycles"),
    STAT_NAMED(Router, channel_flits[EAST], "east_flits", "flits", "Flits sent to the east"),
    STAT_NAMED(Router, channel_flits[WEST], "west_flits", "flits", "Flits sent to the west"),
    STAT_NAMED(Router, channel_flits[SOUTH], "south_flits", "flits", "Flits sent to the south"),
    STAT_NAMED(Router, channel_flits[NORTH], "north_flits", "flits", "Flits sent to the north"),
    STAT(Router, local_flits, "flits", "Flits that crossed to local ports"),
    FORMULA("mean_hops", mean_hops, "channels", "Channels that a packet which left here has crossed"),
    FORMULA("latency_mean", mean_latency, "cycles", "Time in the network of a packet that left here"),
    FORMULA("occupancy", mean_occupancy, "flits", "Flits in the buffers in a cycle"),
    FIELDS_END,
};

static void call_head(SimObject *object, MethodCall *call) {
    arbitration_head(call, router_head((const Router *)object, (uint32_t)call->argument[0].whole));
}

static const Method router_methods[] = {
    METHOD("head", call_head, HEAD_DOC, TAKES(WHOLE_NUMBER("input", .min = 0, .max = ROUTER_HEADS_MAX - 1)),
           HEAD_RESULTS, MAY_BE_NIL),
    METHODS_END};

/* The way through the other routers changes nothing. */
static UntimedAnswer take_untimed(SimObject *object, const void *request) {
    const Router *r = (const Router *)object;
    uint64_t address = ((const MemMessage *)request)->address;
    address_map_take_untimed(r->map, request);
    return link_send_untimed(r->network->down[r->network->slice_at[address_map_slice(r->map, address)]].send,
                             request);
}

const Class router_class = {
    .name = "Router",
    .doc = "Router of a mesh, a torus or a ring: virtual cut-through, credits, virtual channels",
    .bytes = sizeof(Router),
    .fields = router_fields,
    .events = arbitration_events,
    .methods = router_methods,
    .build = build_router,
    .init = init_router,
    .tick = tick_router,
    .take_untimed = take_untimed,
    .is_sound = router_is_sound,
    .came_by = router_came_by,
    .requests_inside = router_requests,
    .check = check_router,
    .report = report_router,
    .destroy = destroy_router,
};
REGISTER_CLASS(router_class);
