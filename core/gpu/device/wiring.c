#include "core/gpu/device/wiring.h"

#include "core/gpu/dma/dma_engine.h"
#include "core/gpu/dma/dma_layout.h"
#include "core/gpu/lsu/coalescer.h"
#include "core/gpu/sm/sm.h"
#include "core/sim/clocks.h"
#include "mem/dram/memory_controller.h"
#include "mem/network/router.h"
#include "mem/parts/traffic/traffic.h"
#include "mem/protocol/caches.h"
#include "mem/protocol/memory_protocol.h"
#include "mem/protocol/networks.h"
#include "mem/translation/translation.h"

#include <stdlib.h>
#include <string.h>

/* A look at the whole machine. The first problem found is raised when its memory has been given back. */
typedef struct {
    uint8_t *of; /* a byte by number of the object */
    char problem[1024];
} Look;

/* --- Loops ------------------------------------------------------------------------------------- */

/* The way that requests take. */
typedef struct Step {
    const struct Step *before;
    const SimObject *object;
    Look *look; /* of 1: all ways from the object have been followed */
} Step;

static void note_loop(const Step *last, const Link *back) {
    char names[512];
    size_t used = 0;
    for (const Step *step = last; used < sizeof names; step = step->before) {
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", step == last ? "" : ", ",
                                 step->object->path);
        if (step->object == back->receiver) break;
    }
    snprintf(last->look->problem, sizeof last->look->problem,
             "wire %s: expected requests to go on to where they are answered, a MemoryController, say, got a "
             "loop of %s",
             back->name, names);
}

static void follow(const Step *way);

static void follow_wire(void *context, const Field *port, const Link *requests) {
    const Step *way = context;
    (void)port;
    for (const Step *step = way; step; step = step->before)
        if (step->object == requests->receiver && !*way->look->problem) note_loop(way, requests);
    if (way->look->of[requests->receiver->id] || *way->look->problem) return;
    follow(&(Step){way, requests->receiver, way->look});
}

static void follow(const Step *way) {
    visit_onward_links(way->object, follow_wire, (void *)(uintptr_t)way);
    way->look->of[way->object->id] = 1;
}

static void find_loop(const Sim *sim, Look *look) {
    for (uint32_t i = 0; i < sim->object_count; i++)
        if (!look->of[i]) follow(&(Step){NULL, sim->objects[i], look});
}

/* --- Networks ---------------------------------------------------------------------------------- */

/* A request has room for the way back through so many networks one after the other; a cache begins anew, but for
 * what comes by the `dma` port of an L1. All routers that are wired to each other are one network. */
typedef struct {
    Look *look; /* of networks: how many follow each other from there on, this one included */
    uint8_t most;
} Route;

static bool is_network(const SimObject *object) {
    const Class *class = object->class;
    return class == &mux_class || class == &crossbar_class || class == &router_class || class->stamps_route;
}

static uint8_t networks_from(const SimObject *object, Look *look);

static uint8_t networks_behind(const Link *requests, Look *look) {
    while (requests && requests->receiver->class == &l1_class)
        requests = l1_onward(requests->receiver, requests);
    return requests ? networks_from(requests->receiver, look) : 0;
}

static void count_networks(void *context, const Field *port, const Link *requests) {
    Route *route = context;
    (void)port;
    uint8_t count = networks_behind(requests, route->look);
    if (count > route->most) route->most = count;
}

/* There are no loops. A TLB passes requests on and takes no room. */
static uint8_t networks_from(const SimObject *object, Look *look) {
    if (!is_network(object) && !object->class->passes_on) return 0;
    if (look->of[object->id]) return look->of[object->id];
    Route route = {look, 0};
    visit_onward_links(object, count_networks, &route);
    if (!is_network(object)) return look->of[object->id] = route.most;
    if (route.most == ROUTE_DEPTH && !*look->problem)
        snprintf(look->problem, sizeof look->problem,
                 "%s: expected at most %d networks (Mux, Crossbar, Router) on the way of a request, got %d",
                 object->path, ROUTE_DEPTH, ROUTE_DEPTH + 1);
    return look->of[object->id] = (uint8_t)(route.most < ROUTE_DEPTH ? route.most + 1 : ROUTE_DEPTH);
}

static void find_long_route(const Sim *sim, Look *look) {
    for (uint32_t i = 0; i < sim->object_count; i++)
        networks_from(sim->objects[i], look);
}

/* --- Line sizes -------------------------------------------------------------------------------- */

/* How long the requests of a port are at most: so many bytes, or more where a parameter of its object says so. */
static const struct {
    const Class *class;
    const char *port, *parameter;
    uint32_t bytes;
} sources[] = {
    {&lsu_class, "mem", NULL, COALESCE_LINE},
    {&lsu_class, "constant", NULL, CONSTANT_SEGMENT},
    {&lsu_class, "texture", "read_only_segment", TEXTURE_SEGMENT},
    {&sm_class, "fetch", "code_line", 0},
    {&dma_engine_class, "mem", NULL, DMA_SEGMENT},
    {&traffic_source_class, "mem", "bytes", 0},
    {&l1_class, "mem", "line", 0},
    {&l2_class, "mem", "line", 0},
};

static uint32_t parameter_of(const SimObject *object, const char *name) {
    const Field *f = object_field(object, FIELD_PARAM, name);
    ensure(f && f->type == TYPE_U32);
    return *(const uint32_t *)(const void *)((const char *)object + f->offset);
}

/* Requests on their way. */
typedef struct {
    const SimObject *from;
    const Field *port;
    uint32_t bytes;
    Look *look; /* of the longest that have come to the object */
} Requests;

static void send_on(void *context, const Field *port, const Link *link) {
    const Requests *r = context;
    const SimObject *to = link->receiver;
    if (port->protocol != &memory_protocol || r->look->of[to->id] >= r->bytes) return;
    r->look->of[to->id] = (uint8_t)r->bytes;
    bool is_cache = to->class == &l1_class || to->class == &l2_class;
    if (is_cache && parameter_of(to, "line") < r->bytes && !*r->look->problem)
        snprintf(r->look->problem, sizeof r->look->problem,
                 "%s.line: expected %u B or more for the requests of %s.%s, got %u B; 'sectors' fetches a "
                 "longer line in parts",
                 to->path, r->bytes, r->from->path, r->port->name, parameter_of(to, "line"));
    visit_onward_links(to, send_on, context);
}

static void send_from(void *context, const Field *port, const Link *link) {
    const SimObject *object = link->sender;
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        if (sources[i].class != object->class || strcmp(sources[i].port, port->name) != 0) continue;
        uint32_t said = sources[i].parameter ? parameter_of(object, sources[i].parameter) : 0;
        uint32_t bytes = said > sources[i].bytes ? said : sources[i].bytes;
        if (bytes > LINE_BYTES_MAX || bytes & (bytes - 1)) continue; /* which its class refuses */
        send_on(&(Requests){object, port, bytes, context}, port, link);
    }
}

static void find_short_line(const Sim *sim, Look *look) {
    for (uint32_t i = 0; i < sim->object_count; i++)
        visit_onward_links(sim->objects[i], send_from, look);
}

/* --- Translations ------------------------------------------------------------------------------ */

/* Requests that are none for translations: all but those that TLBs send to `walk`. */
typedef struct {
    const SimObject *from;
    const Field *port;
    Look *look; /* of 1: they come to the object */
} Data;

static void check_takes_data(const Data *data, SimObject *to) {
    Look *look = data->look;
    const Field *field;
    const char *from = data->from->path, *port = data->port->name;
    if (*look->problem) return;
    if (to->class == &page_walker_class)
        snprintf(look->problem, sizeof look->problem,
                 "%s.up: expected requests for translations, as a TLB's walk sends them, got those of %s.%s",
                 to->path, from, port);
    else if (to->class == &tlb_class && !object_port(to, "down", &field)->send)
        snprintf(
            look->problem, sizeof look->problem,
            "%s.down: expected a wire, for the requests of %s.%s, got none; only a TLB that is asked for "
            "translations alone has none",
            to->path, from, port);
}

static void send_data_on(void *context, const Field *port, const Link *link) {
    const Data *data = context;
    SimObject *to = link->receiver;
    bool asks = link->sender->class == &tlb_class && strcmp(port->name, "walk") == 0;
    if (asks || port->protocol != &memory_protocol || data->look->of[to->id]) return;
    data->look->of[to->id] = 1;
    check_takes_data(data, to);
    if (to->class->passes_on || is_network(to)) visit_onward_links(to, send_data_on, context);
}

static void send_data_from(void *context, const Field *port, const Link *link) {
    send_data_on(&(Data){link->sender, port, context}, port, link);
}

static void find_data_without_way(const Sim *sim, Look *look) {
    for (uint32_t i = 0; i < sim->object_count; i++) {
        const SimObject *object = sim->objects[i];
        if (!object->class->passes_on && !is_network(object))
            visit_onward_links(object, send_data_from, look);
    }
}

static void look_at(const Sim *sim, void (*find)(const Sim *sim, Look *look)) {
    Look look = {.of = calloc(sim->object_count + 1, 1)};
    ensure_memory(look.of);
    find(sim, &look);
    free(look.of);
    if (*look.problem) user_error("%s", look.problem);
}

/* --- The quantum ------------------------------------------------------------------------------- */

/* A quantum must leave the SMs in other clusters than what keeps memory, or what one SM wrote would reach the
 * others later than on hardware. The cut is where the wires are slow: whoever a quicker wire joins shares a
 * cluster. */

/* Objects that share a cluster under some quantum, as a tree. */
typedef struct Group {
    struct Group *up;
    const SimObject *sm, *memory; /* the first of each in the tree, kept at its root; or NULL */
} Group;

static Group *root_of(Group *group) {
    while (group->up != group)
        group = group->up = group->up->up;
    return group;
}

static const SimObject *first_of(const SimObject *a, const SimObject *b) {
    if (!a || !b) return a ? a : b;
    return a->id < b->id ? a : b;
}

/* True when an SM shares the cluster of a memory from then on. */
static bool join(Group *a, Group *b) {
    a = root_of(a), b = root_of(b);
    a->up = b;
    b->sm = first_of(a->sm, b->sm);
    b->memory = first_of(a->memory, b->memory);
    return b->sm && b->memory;
}

/* Links know their latency in cycles of the sender, 0 is one cycle, until the sender is built; then in ticks. */
static uint64_t sender_cycles(const Link *link) {
    if (link->sender->period) return link->latency / link->sender->period;
    return link->latency ? link->latency : 1;
}

static unsigned __int128 compared_with(const Link *link, const Link *other) {
    return (unsigned __int128)sender_cycles(link) * clocks_quickest(link->sender->sim, other->sender->clock);
}

static int by_latency(const void *a, const void *b) {
    const Link *x = *(Link *const *)a, *y = *(Link *const *)b;
    unsigned __int128 of_x = compared_with(x, y), of_y = compared_with(y, x);
    if (of_x != of_y) return of_x < of_y ? -1 : 1;
    return strcmp(x->name, y->name);
}

static bool is_below_sm(const SimObject *object) {
    for (; object; object = object->parent)
        if (object->class == &sm_class) return true;
    return false;
}

static void make_groups(const Sim *sim, Group *groups) {
    for (uint32_t i = 0; i < sim->object_count; i++) {
        const SimObject *object = sim->objects[i];
        bool keeps_memory = object->class == &l2_class || object->class == &memory_controller_class;
        groups[i] = (Group){&groups[i], object->class == &sm_class ? object : NULL,
                            keeps_memory && !is_below_sm(object) ? object : NULL};
    }
    for (uint32_t i = 0; i < sim->object_count; i++)
        if (sim->objects[i]->parent) join(&groups[i], &groups[sim->objects[i]->parent->id]);
}

/* The quantum's limit: of the wires between an SM and a memory the slowest, where another pair has no quicker
 * one. */
typedef struct {
    const Link *wire; /* or NULL */
    const SimObject *sm, *memory;
    uint64_t cycles; /* of the first clock, whole ones */
} Limit;

/* Joins the ends of one link after the other, `first` and then the quickest ones, until an SM and a memory are together. */
static Limit find_limit(const Sim *sim, const Link *first, Link **links, Group *groups) {
    make_groups(sim, groups);
    if (first && join(&groups[first->sender->id], &groups[first->receiver->id])) {
        const Group *both = root_of(&groups[first->sender->id]);
        return (Limit){first, both->sm, both->memory, 0};
    }
    if (sim->link_count) memcpy(links, sim->links, sim->link_count * sizeof(Link *));
    qsort(links, sim->link_count, sizeof *links, by_latency);
    for (uint32_t i = 0; i < sim->link_count; i++) {
        const Link *link = links[i];
        Group *sender = &groups[link->sender->id];
        if (!join(sender, &groups[link->receiver->id])) continue;
        unsigned __int128 ticks = (unsigned __int128)sender_cycles(link) * sim->clocks[0].slowest;
        return (Limit){link, root_of(sender)->sm, root_of(sender)->memory,
                       (uint64_t)(ticks / clocks_quickest(sim, link->sender->clock))};
    }
    return (Limit){.cycles = UINT32_MAX};
}

static Limit limit_of(const Sim *sim, const Link *first) {
    Group *groups = calloc(sim->object_count + 1, sizeof *groups);
    Link **links = calloc(sim->link_count + 1, sizeof(Link *));
    ensure_memory(groups && links);
    Limit limit = find_limit(sim, first, links, groups);
    free(groups);
    free(links);
    return limit;
}

static void check_quantum(const Sim *sim) {
    Limit limit = limit_of(sim, NULL);
    if (limit.cycles >= sim->quantum_cycles) return;
    const char *core = sim->clocks[0].name, *sm = limit.sm->path, *memory = limit.memory->path;
    if (limit.cycles == 0) {
        const Clock *clock = limit.wire->sender->clock;
        user_error("wire %s: expected a latency of 1 cycle of clock %s or more, as it is the slowest wire "
                   "between %s and %s, got %lu of clock %s, with clock %s at %lu Hz and %s at %lu Hz",
                   limit.wire->name, core, sm, memory, sender_cycles(limit.wire), clock->name, core,
                   sim->clocks[0].slowest, clock->name, clocks_quickest(sim, clock));
    }
    user_error(
        "quantum: expected 1 to %lu cycles of clock %s (the latency of wire %s, between %s and %s), got "
        "%u; m:quantum(%lu) or --set quantum=%lu sets it",
        limit.cycles, core, limit.wire->name, sm, memory, sim->quantum_cycles, limit.cycles, limit.cycles);
}

uint32_t wiring_longest_quantum(const Sim *sim) {
    uint64_t cycles = limit_of(sim, NULL).cycles;
    return cycles < UINT32_MAX ? (uint32_t)cycles : UINT32_MAX;
}

void wiring_explain_cut(const Link *link, char *text, size_t size) {
    const Sim *sim = link->sender->sim;
    uint64_t cycles = link->latency / sim->clocks[0].period + 1;
    Limit limit = limit_of(sim, link);
    if (limit.cycles >= cycles)
        snprintf(text, size, "m:quantum(%lu) or --set quantum=%lu sets a longer quantum", cycles, cycles);
    else if (limit.wire == link)
        snprintf(text, size, "%s and %s are a quantum apart or more", limit.sm->path, limit.memory->path);
    else
        snprintf(
            text, size,
            "m:quantum(%lu) or --set quantum=%lu sets a longer quantum once wires as quick as %s, between %s "
            "and %s, have a latency of %lu cycles of clock %s or more",
            cycles, cycles, limit.wire->name, limit.sm->path, limit.memory->path, cycles,
            sim->clocks[0].name);
}

void wiring_check(const Sim *sim) {
    look_at(sim, find_loop);
    look_at(sim, find_long_route);
    look_at(sim, find_short_line);
    look_at(sim, find_data_without_way);
    check_quantum(sim);
}
