#include "mem/network/slices.h"

#include "core/sim/base/host_memory.h"
#include "core/sim/ways.h"
#include "mem/network/router.h"
#include "mem/protocol/memory_protocol.h"
#include "mem/protocol/networks.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    const Link **link;
    uint32_t count;
} Links;

static void add_link(void *context, const Field *port, const Link *link) {
    Links *links = context;
    (void)port;
    if (link->protocol != &memory_protocol && link->protocol != &router_channel_protocol) return;
    links->link = realloc(links->link, (links->count + 1) * sizeof *links->link);
    ensure_memory(links->link);
    links->link[links->count++] = link;
}

static Links links_from(const SimObject *object) {
    Links links = {NULL, 0};
    visit_request_links(object, add_link, &links);
    return links;
}

/* --- Where requests end -------------------------------------------------------------------------- */

/* What lies behind a wire: the wires whose receivers send no requests on, and by the number of each object that
 * passes requests on how many wires lead to it at least; 0: it does not lie behind. */
typedef struct {
    Links ends;
    uint32_t *wires_to;
} Behind;

static void free_behind(Behind *behind) {
    free(behind->ends.link);
    free(behind->wires_to);
}

static void follow(Behind *behind, Links *found, const Link *link) {
    const SimObject *object = link->receiver;
    Links onward = links_from(object);
    if (!onward.count) add_link(&behind->ends, NULL, link);
    if (onward.count && !behind->wires_to[object->id]) {
        behind->wires_to[object->id] = behind->wires_to[link->sender->id] + 1;
        for (uint32_t i = 0; i < onward.count; i++)
            add_link(found, NULL, onward.link[i]);
    }
    free(onward.link);
}

/* Breadth first; to be freed. */
static Behind look_behind(const Sim *sim, const Link *link) {
    Behind behind = {.wires_to = zeroed(sim->object_count, sizeof *behind.wires_to)};
    Links found = {NULL, 0};
    add_link(&found, NULL, link);
    for (uint32_t i = 0; i < found.count; i++)
        follow(&behind, &found, found.link[i]);
    free(found.link);
    return behind;
}

/* The ends behind a wire, to be freed. */
static Links ends_behind(const Sim *sim, const Link *link) {
    Behind behind = look_behind(sim, link);
    free(behind.wires_to);
    return behind.ends;
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

/* Else its ports differ in what its own requests are for, not in their addresses. */
static bool is_asked(const SimObject *object) {
    const Sim *sim = object->sim;
    for (uint32_t i = 0; i < sim->link_count; i++) {
        const Link *link = sim->links[i];
        if (!link->requests && link->protocol == &memory_protocol && link->receiver == object) return true;
    }
    return false;
}

/* Does it send the requests for different slices different ways? */
static bool parts_slices(SimObject *object) {
    if (object->class == &router_class) {
        router_join_network((Router *)object);
        return ((const Router *)object)->network->down_count > 1;
    }
    Links onward = links_from(object);
    free(onward.link);
    return onward.count > 1 && is_asked(object);
}

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

bool gets_every_slice(const SimObject *object) {
    uint8_t *seen = zeroed(object->sim->object_count, 1);
    bool everything = gets_everything(object->sim, object, seen);
    free(seen);
    return everything;
}

static uint32_t controllers_of(const Sim *sim) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < sim->object_count; i++)
        count += sim->objects[i]->class == &memory_controller_class;
    return count;
}

/* The objects in which requests end: memory controllers, or what stands in their place. */
static uint32_t memories_of(const Sim *sim) {
    Links ends = all_ends(sim);
    uint32_t count = 0;
    for (uint32_t i = 0; i < ends.count; i++)
        count += !i || ends.link[i]->receiver != ends.link[i - 1]->receiver;
    free(ends.link);
    return count;
}

void check_channel_is_own(const SimObject *controller, const AddressMap *map) {
    const Sim *sim = controller->sim;
    uint32_t channels = address_map_channels(map);
    if (channels == 1) return;
    bool enough = channels <= controllers_of(sim); /* else it takes a look at all wires */
    const char *path = object_path(address_map_object(map));
    if (gets_every_slice(controller))
        user_error("%s.channels: expected 1, because requests for every address come to %s, got %u", path,
                   object_path(controller), channels);
    uint32_t memories = enough ? channels : memories_of(sim);
    if (channels > memories)
        user_error("%s.channels: expected up to %u, as many as there are memory controllers, got %u", path,
                   memories, channels);
}

/* Where a slice lies: behind the port from which the fewest wires lead to it. */
typedef struct {
    uint32_t wires;     /* so many */
    uint16_t port, tie; /* another port from which no more do; NO_PORT: there is none */
} Place;

/* Errors are raised when the memory of the search has been given back. */
typedef struct {
    const SimObject *object;
    const Port *down;
    Links slices; /* the end of each */
    Place *place; /* of each         */
    char problem[512];
} Search;

static void check_none_is_missing(Search *search) {
    const SimObject *object = search->object;
    bool everything = gets_every_slice(object);
    for (uint32_t s = 0; s < search->slices.count; s++) {
        const Link *end = search->slices.link[s];
        if (search->place[s].port != NO_PORT) continue;
        search->place[s].port = 0; /* which does not come */
        if (everything && !*search->problem)
            snprintf(
                search->problem, sizeof search->problem,
                "expected each of the %u L2 slices of the address map behind one port, got slice %u (%s) "
                "behind none",
                search->slices.count, s, end ? end->receiver->path : "unknown");
    }
}

static void check_none_is_tied(Search *search) {
    for (uint32_t s = 0; s < search->slices.count && !*search->problem; s++) {
        const Place *place = &search->place[s];
        if (place->tie == NO_PORT) continue;
        snprintf(
            search->problem, sizeof search->problem,
            "expected one port that is nearest to each L2 slice, got slice %u as near behind two, by the "
            "wires %s and %s; networks send by address: SMs that share a cache of all addresses are "
            "joined by a Mux (m:join)",
            s, search->down[place->port].send->name, search->down[place->tie].send->name);
    }
}

/* A port by which nothing would go is a mistake: a second way that is longer for all slices. */
static void check_port_is_nearest(Search *search, uint32_t port) {
    Behind behind = look_behind(search->object->sim, search->down[port].send);
    bool reaches = false, nearest = false;
    for (uint32_t s = 0; s < search->slices.count; s++) {
        reaches |= has(&behind.ends, search->slices.link[s]);
        nearest |= search->place[s].port == port;
    }
    free_behind(&behind);
    if (!reaches || nearest || *search->problem) return;
    snprintf(search->problem, sizeof search->problem,
             "expected each port to be nearest to an L2 slice, got none nearest by the wire %s",
             search->down[port].send->name);
}

static void note_slices(Search *search, uint32_t port) {
    Behind behind = look_behind(search->object->sim, search->down[port].send);
    for (uint32_t s = 0; s < search->slices.count; s++) {
        Place *place = &search->place[s];
        if (!has(&behind.ends, search->slices.link[s])) continue;
        uint32_t wires = behind.wires_to[search->slices.link[s]->sender->id];
        if (place->port == NO_PORT || wires < place->wires)
            *place = (Place){wires, (uint16_t)port, NO_PORT};
        else if (wires == place->wires)
            place->tie = (uint16_t)port;
    }
    free_behind(&behind);
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
    for (uint32_t s = 0; s < slices; s++)
        search->place[s] = (Place){0, NO_PORT, NO_PORT};
    for (uint32_t port = 0; port < count; port++)
        note_slices(search, port);
    check_none_is_tied(search);
    for (uint32_t port = 0; port < count; port++)
        check_port_is_nearest(search, port);
    if (!*search->problem) check_none_is_missing(search);
    free(search->slices.link);
}

uint16_t *slices_behind_ports(const SimObject *object, const Port *down, uint32_t count) {
    uint32_t slices = address_map_slices(address_map_find(object));
    uint16_t *port_of = zeroed(slices, sizeof *port_of);
    Search search = {.object = object, .down = down, .place = zeroed(slices, sizeof *search.place)};
    Links wires = links_from(object);
    bool numbers = object->class == &crossbar_class && numbers_slices(object->sim, &wires, slices);
    free(wires.link);
    if (!numbers && count > 1) follow_ports(&search, count, slices);
    for (uint32_t s = 0; s < slices; s++)
        port_of[s] = numbers ? (uint16_t)s : search.place[s].port;
    free(search.place);
    if (*search.problem) {
        free(port_of);
        user_error("%s.down: %s", object_path(object), search.problem);
    }
    return port_of;
}
