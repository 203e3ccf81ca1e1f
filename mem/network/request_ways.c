#include "mem/network/request_ways.h"

#include "mem/network/crossbar_state.h"
#include "mem/network/router.h"
#include "mem/protocol/caches.h"
#include "mem/protocol/networks.h"

#include <stdlib.h>

/* Of an object. */
typedef struct {
    const Link *onward; /* the way of all requests; NULL: there is none, or several */
    uint32_t ways;      /* how many there are                                       */
    uint32_t followed;  /* the last link that was followed through it: its number   */
    uint32_t atomics;   /* so many links that begin atomics' ways lead to it        */
    bool is_asked;
} Place;

/* All requests for one slice. */
typedef struct {
    Sim *sim;
    const AddressMap *map;
    Place *place; /* of each object, by its id */
    uint32_t slice, followed, atomics;
    bool has_atomics; /* the link that is followed has */
    char problem[512];
} Search;

static bool carries_requests(const Link *link) {
    return !link->requests && link->protocol == &memory_protocol;
}

static void note_onward(void *context, const Field *port, const Link *link) {
    Place *place = context;
    (void)port;
    if (link->protocol != &memory_protocol) return;
    place->onward = place->ways++ ? NULL : link;
}

static void look_around(Search *search) {
    const Sim *sim = search->sim;
    for (uint32_t i = 0; i < sim->object_count; i++)
        visit_request_links(sim->objects[i], note_onward, &search->place[i]);
    for (uint32_t i = 0; i < sim->link_count; i++)
        if (carries_requests(sim->links[i])) search->place[sim->links[i]->receiver->id].is_asked = true;
}

/* The one by which it sends requests for the slice; NULL: nobody knows, or there is none. */
static const Link *way_onward(const Search *search, const SimObject *object) {
    if (object->class == &crossbar_class) {
        const Crossbar *x = (const Crossbar *)object;
        return x->down[x->output_of[search->slice]].send;
    }
    if (object->class == &router_class) {
        const RouterNetwork *network = ((const Router *)object)->network;
        return network->down[network->slice_at[search->slice]].send;
    }
    return search->place[object->id].onward;
}

static void follow(Search *search, const Link *link);

static void follow_any(void *search, const Field *port, const Link *link) {
    (void)port;
    if (link->protocol == &memory_protocol) follow(search, link);
}

static void follow(Search *search, const Link *link) {
    SimObject *object = link->receiver;
    Place *place = &search->place[object->id];
    if (place->followed == search->followed) return;
    place->followed = search->followed;
    place->atomics += search->has_atomics;
    if (object->class == &l2_class) l2_gets_slice(object, search->slice);
    if (object->class == &l1_class) l1_gets_slice(object, search->map, search->slice);
    const Link *onward = way_onward(search, object);
    if (onward)
        follow(search, onward);
    else
        visit_request_links(object, follow_any, search);
}

static void follow_all(Search *search, LinkTest *begins_atomics) {
    const Sim *sim = search->sim;
    search->atomics = 0;
    for (uint32_t i = 0; i < sim->object_count; i++)
        search->place[i].atomics = 0;
    for (uint32_t i = 0; i < sim->link_count; i++) {
        const Link *link = sim->links[i];
        if (!carries_requests(link) || search->place[link->sender->id].is_asked) continue;
        search->has_atomics = begins_atomics(link);
        search->atomics += search->has_atomics;
        search->followed++;
        follow(search, link);
    }
}

/* Of L2s and memory controllers that get a part of the atomics two are named, L2s if there are some. */
static void refuse(Search *search, const SimObject *one, const SimObject *other) {
    if (*search->problem) return;
    snprintf(search->problem, sizeof search->problem,
             "%s%s%s: expected all requests for an address to pass one L2, or to come to one "
             "MemoryController, where "
             "atomics are performed, got none for slice %u of the address map",
             one->path, other ? ", " : "", other ? other->path : "", search->slice);
}

/* Where do the atomics meet? */
static void meet(Search *search) {
    const SimObject *parted[2][2] = {{NULL}}; /* memory controllers, L2s */
    bool meets = false;
    for (uint32_t i = 0; i < search->sim->object_count; i++) {
        SimObject *object = search->sim->objects[i];
        uint32_t atomics = search->place[i].atomics;
        bool is_l2 = object->class == &l2_class;
        if (!atomics || (!is_l2 && object->class != &memory_controller_class)) continue;
        meets |= atomics == search->atomics;
        if (atomics == search->atomics) continue;
        if (is_l2) l2_pass_atomics_on(object);
        if (!parted[is_l2][1]) parted[is_l2][parted[is_l2][0] != NULL] = object;
    }
    const SimObject **named = parted[parted[1][0] != NULL];
    if (!meets && named[0]) refuse(search, named[0], named[1]);
}

void request_ways_find(Sim *sim, LinkTest *begins_atomics) {
    Search search = {.sim = sim, .place = calloc(sim->object_count + 1, sizeof *search.place)};
    const AddressMap *map = NULL;
    ensure_memory(search.place);
    for (uint32_t i = 0; i < sim->object_count && !map; i++)
        if (sim->objects[i]->class == &address_map_class) map = address_map_find(sim->objects[i]);
    search.map = map;
    look_around(&search);
    for (; map && search.slice < address_map_slices(map); search.slice++) {
        follow_all(&search, begins_atomics);
        meet(&search);
    }
    for (uint32_t i = 0; i < sim->object_count; i++)
        if (sim->objects[i]->class == &l1_class) l1_slices_known(sim->objects[i]);
    free(search.place);
    if (*search.problem) user_error("%s", search.problem);
}
