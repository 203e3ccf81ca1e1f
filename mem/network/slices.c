#include "mem/network/slices.h"

#include "core/sim/ways.h"
#include "mem/network/router.h"
#include "mem/protocol/address_map.h"
#include "mem/protocol/memory_protocol.h"
#include "mem/protocol/networks.h"

#include <stdlib.h>
#include <string.h>

static void *zeroed(size_t count, size_t bytes) {
    void *memory = calloc(count + 1, bytes);
    ensure(memory);
    return memory;
}

typedef struct {
    const Link **link;
    uint32_t count;
} Links;

static void add_link(void *context, const Field *port, const Link *link) {
    Links *links = context;
    (void)port;
    if (link->protocol != &memory_protocol && link->protocol != &router_channel_protocol) return;
    links->link = realloc(links->link, (links->count + 1) * sizeof *links->link);
    ensure(links->link);
    links->link[links->count++] = link;
}

static Links links_from(const SimObject *object) {
    Links links = {NULL, 0};
    visit_request_links(object, add_link, &links);
    return links;
}

/* --- Where requests end -------------------------------------------------------------------------- */

/* Wires whose receiver sends no requests on. */
typedef struct {
    const Sim *sim;
    uint8_t *seen; /* by number of the object */
    Links ends;
} Walk;

static void walk_on(Walk *walk, const Link *link) {
    const SimObject *object = link->receiver;
    Links onward = links_from(object);
    if (!onward.count) add_link(&walk->ends, NULL, link);
    if (onward.count && !walk->seen[object->id]) {
        walk->seen[object->id] = 1;
        for (uint32_t i = 0; i < onward.count; i++)
            walk_on(walk, onward.link[i]);
    }
    free(onward.link);
}

/* The ends behind a wire, to be freed. */
static Links ends_behind(const Sim *sim, const Link *link) {
    Walk walk = {.sim = sim, .seen = zeroed(sim->object_count, 1)};
    walk_on(&walk, link);
    free(walk.seen);
    return walk.ends;
}

/* --- The numbers of the slices ------------------------------------------------------------------- */

static bool numbers_slices(const Sim *sim, const Links *down, uint32_t slices) {
    bool numbers = down->count == slices;
    for (uint32_t i = 0; i < down->count && numbers; i++) {
        Links ends = ends_behind(sim, down->link[i]);
        numbers = ends.count <= 1;
        free(ends.link);
    }
    return numbers;
}

/* The crossbar by whose ports the slices are numbered; or NULL. */
static const SimObject *numbering_crossbar(const Sim *sim, uint32_t slices) {
    for (uint32_t i = 0; i < sim->object_count; i++) {
        if (sim->objects[i]->class != &crossbar_class) continue;
        Links down = links_from(sim->objects[i]);
        bool numbers = numbers_slices(sim, &down, slices);
        free(down.link);
        if (numbers) return sim->objects[i];
    }
    return NULL;
}

static int by_port(const void *a, const void *b) {
    const Link *x = *(const Link *const *)a, *y = *(const Link *const *)b;
    if (x->receiver != y->receiver) return x->receiver->id < y->receiver->id ? -1 : 1;
    const char *of_x = strstr(x->name, " -> "), *of_y = strstr(y->name, " -> ");
    size_t length_x = strlen(of_x), length_y = strlen(of_y); /* "mc[0].cpu[9]" is before "mc[0].cpu[10]" */
    if (length_x != length_y) return length_x < length_y ? -1 : 1;
    return strcmp(of_x, of_y);
}

/* Every end in the machine, objects in the order in which they were made. */
static Links all_ends(const Sim *sim) {
    Links all = {NULL, 0};
    for (uint32_t i = 0; i < sim->link_count; i++) {
        const Link *link = sim->links[i];
        if (link->requests || link->protocol != &memory_protocol) continue;
        Links onward = links_from(link->receiver);
        if (!onward.count) add_link(&all, NULL, link);
        free(onward.link);
    }
    if (all.count) qsort(all.link, all.count, sizeof *all.link, by_port);
    return all;
}

/* The end of each slice; count 0 when the slices have no numbers. */
static Links ends_of_slices(const Sim *sim, uint32_t slices) {
    const SimObject *crossbar = numbering_crossbar(sim, slices);
    Links ends = crossbar ? links_from(crossbar) : all_ends(sim);
    for (uint32_t i = 0; crossbar && i < ends.count; i++) {
        Links behind = ends_behind(sim, ends.link[i]);
        ends.link[i] = behind.count ? behind.link[0] : NULL;
        free(behind.link);
    }
    if (ends.count == slices) return ends;
    free(ends.link);
    return (Links){NULL, 0};
}

/* --- Behind which port --------------------------------------------------------------------------- */

enum { NO_PORT = 0xffff };

static bool has(const Links *links, const Link *link) {
    for (uint32_t i = 0; i < links->count; i++)
        if (links->link[i] == link) return true;
    return false;
}

/* --- What comes --------------------------------------------------------------------------------- */

static bool is_in(const SimObject *object, const SimObject *network) {
    if (object == network) return true;
    if (object->class != &router_class || network->class != &router_class) return false;
    return ((const Router *)object)->network == ((const Router *)network)->network;
}

/* Does it send the requests for different slices different ways? */
static bool parts_slices(SimObject *object) {
    if (object->class == &router_class) {
        router_join_network((Router *)object);
        return ((const Router *)object)->network->down_count > 1;
    }
    Links onward = links_from(object);
    free(onward.link);
    return onward.count > 1;
}

/* May requests for any slice come to the object? Else a network before it sends it those alone whose slices lie
 * behind it. */
static bool gets_everything(const Sim *sim, const SimObject *object, uint8_t *seen) {
    bool any = false;
    if (seen[object->id]) return false;
    seen[object->id] = 1;
    for (uint32_t i = 0; i < sim->link_count; i++) {
        const Link *link = sim->links[i];
        if (link->requests || link->protocol != &memory_protocol || !is_in(link->receiver, object)) continue;
        any = true;
        if (!parts_slices(link->sender) && gets_everything(sim, link->sender, seen)) return true;
    }
    return !any;
}

/* Errors are raised when the memory of the search has been given back. */
typedef struct {
    const SimObject *object;
    const Port *down;
    Links slices; /* the end of each */
    uint16_t *port_of;
    char problem[512];
} Search;

static void check_none_is_missing(Search *search) {
    const SimObject *object = search->object;
    uint8_t *seen = zeroed(object->sim->object_count, 1);
    bool everything = gets_everything(object->sim, object, seen);
    free(seen);
    for (uint32_t s = 0; s < search->slices.count; s++) {
        const Link *end = search->slices.link[s];
        if (search->port_of[s] != NO_PORT) continue;
        search->port_of[s] = 0; /* which does not come */
        if (everything && !*search->problem)
            snprintf(
                search->problem, sizeof search->problem,
                "expected each of the %u L2 slices of the address map behind one port, got slice %u (%s) "
                "behind none",
                search->slices.count, s, end ? end->receiver->path : "unknown");
    }
}

static void note_slices(Search *search, uint32_t port) {
    Links behind = ends_behind(search->object->sim, search->down[port].send);
    for (uint32_t s = 0; s < search->slices.count; s++) {
        if (!has(&behind, search->slices.link[s])) continue;
        if (search->port_of[s] != NO_PORT && !*search->problem)
            snprintf(
                search->problem, sizeof search->problem,
                "expected each L2 slice behind one port, got slice %u behind two, by the wires %s and %s", s,
                search->down[search->port_of[s]].send->name, search->down[port].send->name);
        search->port_of[s] = (uint16_t)port;
    }
    free(behind.link);
}

static void follow_ports(Search *search, uint32_t count, uint32_t slices) {
    search->slices = ends_of_slices(search->object->sim, slices);
    if (!search->slices.count) {
        snprintf(
            search->problem, sizeof search->problem,
            "expected a port for each of the %u L2 slices of the address map, or wires to as many ports of "
            "memory controllers, got %u",
            slices, count);
        return;
    }
    memset(search->port_of, 0xff, slices * sizeof *search->port_of);
    for (uint32_t port = 0; port < count; port++)
        note_slices(search, port);
    if (!*search->problem) check_none_is_missing(search);
    free(search->slices.link);
}

uint16_t *slices_behind_ports(const SimObject *object, const Port *down, uint32_t count) {
    uint32_t slices = address_map_slices(address_map_find(object));
    Search search = {.object = object, .down = down, .port_of = zeroed(slices, sizeof *search.port_of)};
    Links wires = links_from(object);
    bool numbers = object->class == &crossbar_class && numbers_slices(object->sim, &wires, slices);
    free(wires.link);
    for (uint32_t s = 0; numbers && s < slices; s++)
        search.port_of[s] = (uint16_t)s;
    if (!numbers && count > 1) follow_ports(&search, count, slices);
    if (*search.problem) {
        free(search.port_of);
        user_error("%s.down: %s", object_path(object), search.problem);
    }
    return search.port_of;
}
