#include "core/sim/ways.h"

#include <stdlib.h>

void visit_request_links(const SimObject *object, RequestLinkVisitor *visit, void *context) {
    for (const Field *f = object->class->fields; f->kind != FIELD_END; f++) {
        bool array = f->kind == FIELD_PORT_ARRAY;
        if ((f->kind != FIELD_PORT && !array) || f->role != ROLE_REQUESTER) continue;
        const char *at = (const char *)object + f->offset;
        const Port *ports = array ? *(Port *const *)(const void *)at : (const Port *)(const void *)at;
        for (uint32_t i = 0; ports && i < (array ? object_count(object, f) : 1); i++)
            if (ports[i].send) visit(context, f, ports[i].send);
    }
}

static bool has_end(const Ways *ways, const SimObject *end) {
    for (uint32_t i = 0; i < ways->end_count; i++)
        if (ways->end[i] == end) return true;
    return false;
}

static bool has_link(const Ways *ways, const Link *link) {
    for (uint32_t i = 0; i < ways->link_count; i++)
        if (ways->link[i] == link) return true;
    return false;
}

static void add_link(Ways *ways, const Link *link) {
    ways->link = realloc(ways->link, (ways->link_count + 1) * sizeof *ways->link);
    ensure_memory(ways->link);
    ways->link[ways->link_count++] = link;
}

static void add_end(Ways *ways, SimObject *end) {
    if (has_end(ways, end)) return;
    ways->end = realloc(ways->end, (ways->end_count + 1) * sizeof *ways->end);
    ensure_memory(ways->end);
    ways->end[ways->end_count++] = end;
}

/* A step of the search. */
typedef struct {
    Ways *ways;
    const Class *to;
    bool found;
} Search;

static void go_on(void *context, const Field *port, const Link *link) {
    Search *search = context;
    (void)port;
    search->found |= ways_add(search->ways, link, search->to);
}

/* What passes on is in no loop. */
bool ways_add(Ways *ways, const Link *from, const Class *to) {
    SimObject *object = from->receiver;
    Search search = {ways, to, object->class == to};
    if (from->cut) return false;
    if (has_link(ways, from)) return true;
    if (search.found)
        add_end(ways, object);
    else if (object->class->passes_on)
        visit_request_links(object, go_on, &search);
    if (search.found) add_link(ways, from);
    return search.found;
}

void ways_visit(const Ways *ways, RequestVisitor *visit, void *context) {
    for (uint32_t i = 0; i < ways->link_count; i++) {
        const Link *link = ways->link[i];
        const SimObject *object = link->receiver;
        FOR_LINK_MESSAGES (link, k)
            visit(context, link, link_message(link, k));
        if (!has_end(ways, object) && object->class->requests_inside)
            object->class->requests_inside(object, visit, context);
    }
}

void ways_free(Ways *ways) {
    free(ways->link);
    free(ways->end);
    *ways = (Ways){0};
}
