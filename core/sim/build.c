/* Building a machine: objects, wires, the cut into clusters, elaboration. */
#include "core/sim/base/host_memory.h"
#include "core/sim/base/random.h"
#include "core/sim/checkpoint/buffer.h"
#include "core/sim/clock_shares.h"
#include "core/sim/clocks.h"
#include "core/sim/halves.h"
#include "core/sim/trace/trace.h"
#include "core/sim/ways.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DEFAULT_DEPTH = 8, DEFAULT_QUANTUM_CYCLES = 4 };

/* What parameters make as large as a user likes: NULL when this computer has not so much memory, whatever the
 * operating system would promise. */
static void *zeroed_if_it_fits(Sim *sim, uint64_t size) {
    if (size > sim->memory_left) return NULL;
    void *memory = zeroed_or_null(size);
    if (memory) sim->memory_left -= size;
    return memory;
}

#define FITS "this computer's memory of %.1f GiB"
static double gibibytes(uint64_t bytes) {
    return (double)bytes / (1 << 30);
}

/* The elements of an array of state or ports. */
static void *elements(SimObject *object, const Field *f, size_t element_bytes) {
    uint64_t count = object_count(object, f), bytes = count * element_bytes;
    void *memory = zeroed_if_it_fits(object->sim, bytes);
    if (!memory)
        user_error("%s: expected parameters of which the state fits " FITS
                   ", got %lu elements of '%s' (%s), %.1f GiB",
                   object->path, gibibytes(memory_of_computer()), count, f->name, f->doc, gibibytes(bytes));
    return memory;
}

static void report_panic(void *context) {
    Sim *sim = context;
    fprintf(stderr, "simulated time: tick %lu of machine %s\n", sim->now, sim->name);
    for (uint32_t i = 0; i < sim->cluster_count; i++) {
        SimObject *object = sim->clusters[i].current;
        if (!object) continue;
        fprintf(stderr, "object at work: %s (%s) at tick %lu, cycle %lu of %s\n", object->path,
                object->class->name, sim->clusters[i].now, object_cycle(object, sim->clusters[i].now),
                object->clock->name);
        if (object->class->report) object->class->report(object, stderr);
    }
}

Sim *sim_new(const char *name) {
    Sim *sim = zeroed(1, sizeof *sim);
    sim->name = strdup(name);
    sim->quantum_cycles = DEFAULT_QUANTUM_CYCLES;
    sim->threads = sim->active = 1;
    sim->memory_left = memory_of_computer();
    sim->next_periodic = sim->call_at = NEVER;
    panic_reporter(report_panic, sim);
    return sim;
}

static void *field_pointer(const SimObject *object, const Field *f) {
    return *(void **)((char *)(uintptr_t)object + f->offset);
}

static void free_object(SimObject *object) {
    if (object->class->destroy) object->class->destroy(object);
    for (const Field *f = object->class->fields; f->kind != FIELD_END; f++)
        if (f->kind == FIELD_STATE_ARRAY || f->kind == FIELD_PORT_ARRAY || f->type == TYPE_STRING)
            free(field_pointer(object, f));
    object_audit_free(object);
    free(object->subscribers);
    free(object->path);
    free(object);
}

static void free_set(LinkSet *set) {
    free(set->members);
    free(set->link);
}

void sim_free(Sim *sim) {
    if (!sim) return;
    if (sim->tracer) free(tracer_close(sim->tracer, NULL));
    panic_reporter(NULL, NULL);
    sim_stop_threads(sim);
    for (uint32_t i = sim->object_count; i-- > 0;)
        free_object(sim->objects[i]);
    for (uint32_t i = 0; i < sim->link_count; i++) {
        free(sim->links[i]->slots);
        free(sim->links[i]->ready);
        link_audit_free(sim->links[i]);
        free(sim->links[i]->name);
        free(sim->links[i]);
    }
    for (uint32_t i = 0; i < sim->cluster_count; i++) {
        free(sim->clusters[i].turns);
        free_set(&sim->exchanges[i].pushed);
        free_set(&sim->exchanges[i].popped);
        free(sim->clusters[i].emitted);
        free(sim->clusters[i].fault);
    }
    for (uint32_t i = 0; i < sim->clock_count; i++) {
        free(sim->clocks[i].name);
        clock_shares_free(&sim->clocks[i]);
    }
    free(sim->clocks);
    free(sim->objects);
    object_index_free(&sim->by_path);
    free(sim->links);
    free(sim->clusters);
    free(sim->exchanges);
    free(sim->committers);
    free(sim->periodics);
    free(sim->boundary_calls);
    free(sim->policies);
    free(sim->tick_watchers);
    free(sim->name);
    free(sim);
}

void sim_clock(Sim *sim, const char *name, uint64_t hertz) {
    if (strlen(name) > CLOCK_NAME_MAX)
        user_error("clock '%.40s...': expected a name of up to %d characters, got %zu", name, CLOCK_NAME_MAX,
                   strlen(name));
    if (sim_find_clock(sim, name)) user_error("clock '%s': expected one definition, got a second", name);
    if (sim->object_count)
        user_error("clock '%s': expected clocks before the first object, got one after it", name);
    if (hertz == 0) user_error("clock '%s': expected a frequency above 0 Hz, got 0", name);
    sim->clocks = realloc(sim->clocks, (sim->clock_count + 1) * sizeof *sim->clocks);
    ensure_memory(sim->clocks);
    sim->clocks[sim->clock_count++] = (Clock){
        .name = strdup(name), .hertz = hertz, .slowest = hertz, .fastest = hertz, .frequency = hertz};
}

static void require_unbuilt(const Sim *sim, const char *what) {
    if (sim->build_began) user_error("%s: machine %s is already built", what, sim->name);
}

void sim_clock_may_change(Sim *sim, const char *name, uint64_t slowest, uint64_t fastest) {
    require_unbuilt(sim, name);
    Clock *clock = sim_find_clock(sim, name);
    ensure(clock);
    if (slowest == 0 || slowest > clock->hertz || fastest < clock->hertz)
        user_error(
            "clock.%s: expected a range in which its first frequency of %lu Hz lies, got %lu Hz to %lu Hz",
            name, clock->hertz, slowest, fastest);
    clock->slowest = slowest;
    clock->fastest = fastest;
}

void sim_set_quantum(Sim *sim, uint32_t cycles) {
    require_unbuilt(sim, "quantum");
    if (cycles < 1) user_error("quantum: expected 1 cycle of the first clock or more, got 0");
    sim->quantum_cycles = cycles;
}

SimObject *sim_find(const Sim *sim, const char *path) {
    return object_index_find(&sim->by_path, path, strlen(path));
}

static SimObject *parent_of(const Sim *sim, const char *path) {
    const char *dot = strrchr(path, '.');
    if (!dot) return NULL;
    SimObject *parent = object_index_find(&sim->by_path, path, (size_t)(dot - path));
    if (!parent) user_error("%s: no object matches its parent '%.*s'", path, (int)(dot - path), path);
    return parent;
}

/* A required parameter starts with all bytes set, and is an error if it still has them when building ends. */
static bool still_missing(const SimObject *object, const Field *f) {
    if (f->initial) return false;
    if (f->type == TYPE_STRING) return field_pointer(object, f) == NULL;
    for (size_t i = 0; i < f->bytes; i++)
        if (((const uint8_t *)object)[f->offset + i] != 0xff) return false;
    return true;
}

static void mark_required(SimObject *object) {
    for (const Field *f = object->class->fields; f->kind != FIELD_END; f++)
        if (f->kind == FIELD_PARAM && !f->initial && f->type != TYPE_STRING)
            memset((char *)object + f->offset, 0xff, f->bytes);
}

static void add_children(Sim *sim, SimObject *object) {
    for (const Field *f = object->class->fields; f->kind != FIELD_END; f++) {
        if (f->kind != FIELD_CHILD) continue;
        char *path = NULL;
        ensure(asprintf(&path, "%s.%s", object->path, f->name) >= 0);
        sim_add(sim, f->child_class, path, object->clock->name);
        free(path);
    }
}

/* Paths are written to checkpoints and printed. */
static void check_path(const char *path) {
    if (strlen(path) > OBJECT_PATH_MAX)
        user_error("%.40s...: expected a path of up to %d characters, got %zu", path, OBJECT_PATH_MAX,
                   strlen(path));
    for (const char *at = path; *at; at++)
        if (is_control(*at))
            user_error("an object: expected a path without control characters, got one with the byte 0x%02x",
                       (uint8_t)*at);
}

SimObject *sim_add(Sim *sim, const char *class_name, const char *path, const char *clock_name) {
    const Class *class = class_find(class_name);
    check_path(path);
    require_unbuilt(sim, path);
    if (!class) user_error("%s: no class matches '%s'", path, class_name);
    SimObject *parent = parent_of(sim, path);
    if (sim_find(sim, path)) user_error("%s: expected a path of its own, got one that is in use", path);
    Clock *clock = clock_name ? sim_find_clock(sim, clock_name) : parent ? parent->clock : sim->clocks;
    if (!clock && !clock_name) user_error("%s: expected a clock in machine %s, got none", path, sim->name);
    if (!clock) no_such_clock(sim, path, clock_name);
    SimObject *object = zeroed(1, class->bytes);
    object->class = class;
    object->path = strdup(path);
    object->sim = sim;
    object->clock = clock;
    object->parent = parent;
    object->id = sim->object_count;
    if (sim->object_count == sim->object_capacity) {
        sim->object_capacity = sim->object_capacity ? 2 * sim->object_capacity : 64;
        sim->objects = realloc(sim->objects, sim->object_capacity * sizeof(SimObject *));
        ensure_memory(sim->objects);
    }
    sim->objects[sim->object_count++] = object;
    object_index_add(&sim->by_path, object);
    mark_required(object);
    object_set_defaults(object);
    add_children(sim, object);
    return object;
}

_Noreturn static void refuse_missing(const SimObject *object, const Field *f) {
    const char *between = *f->unit && *f->doc ? ": " : "";
    bool has_either = *f->unit || *f->doc;
    user_error("%s.%s: expected a value%s%s%s%s%s, got none", object->path, f->name, has_either ? " (" : "",
               f->unit, between, f->doc, has_either ? ")" : "");
}

void sim_finish_object(SimObject *object) {
    for (const Field *f = object->class->fields; f->kind != FIELD_END; f++) {
        if (f->kind == FIELD_PARAM && still_missing(object, f)) refuse_missing(object, f);
        if (f->kind != FIELD_PORT_ARRAY || field_pointer(object, f)) continue;
        *(void **)((char *)object + f->offset) = elements(object, f, sizeof(Port));
    }
}

static uint64_t slots_for(uint32_t depth) {
    uint64_t slots = 1;
    while (slots < depth)
        slots *= 2;
    return slots;
}

/* The rings of the link for messages of so many bytes. */
static void add_slots(Sim *sim, Link *link, uint32_t bytes) {
    uint64_t slots = slots_for(link->depth), size = slots * (bytes + sizeof(uint64_t));
    link->slot_mask = link->to_slot_mask = (uint32_t)(slots - 1);
    link->message_bytes = link->to_message_bytes = (uint16_t)bytes;
    link->slots = link->to_slots = zeroed_if_it_fits(sim, slots * bytes);
    if (link->slots) link->ready = link->to_ready = zeroed_if_it_fits(sim, slots * sizeof(uint64_t));
    if (!link->ready)
        user_error("wire %s: expected a depth that fits " FITS ", got %u, which takes %.1f GiB", link->name,
                   gibibytes(memory_of_computer()), link->depth, gibibytes(size));
}

static void note_only_link(void *context, const Field *port, const Link *link) {
    const Link **only = context;
    (void)port;
    only[1] = only[0];
    only[0] = link;
}

/* Of a class that passes on what comes, as it came: so do its objects with one port to send it to. */
static UntimedAnswer pass_on_untimed(SimObject *object, const void *request) {
    const Link *sent_to[2] = {NULL, NULL}; /* the last and the one before */
    visit_request_links(object, note_only_link, sent_to);
    return sent_to[1] ? UNTIMED_MISSES : link_send_untimed(sent_to[0], request);
}

static TakeUntimed *take_untimed_of(const Class *class) {
    return class->take_untimed || !class->passes_on ? class->take_untimed : pass_on_untimed;
}

static Link *new_link(Sim *sim, SimObject *from, const char *from_port, SimObject *to, const char *to_port,
                      uint32_t bytes, LinkOptions options) {
    if (options.width > UINT16_MAX)
        user_error("wire %s.%s -> %s.%s: width: expected 1 to %d messages per cycle, got %u", from->path,
                   from_port, to->path, to_port, UINT16_MAX, options.width);
    Link *link = zeroed(1, sizeof *link);
    link->depth = options.depth ? options.depth : DEFAULT_DEPTH;
    link->width = (uint16_t)(options.width ? options.width : 1);
    link->latency = options.latency; /* cycles of the sender until elaboration */
    link->sender = from;
    link->receiver = to;
    link->take_untimed = take_untimed_of(to->class);
    link->last_push = link->last_pop = link->next_ready = NEVER;
    ensure(asprintf(&link->name, "%s.%s -> %s.%s", from->path, from_port, to->path, to_port) >= 0);
    if (sim->link_count == sim->link_capacity) {
        sim->link_capacity = sim->link_capacity ? 2 * sim->link_capacity : 64;
        sim->links = realloc(sim->links, sim->link_capacity * sizeof(Link *));
        ensure_memory(sim->links);
    }
    sim->links[sim->link_count++] = link; /* from here on sim_free() frees it */
    add_slots(sim, link, bytes);
    link_audit_new(link);
    return link;
}

static bool wired(const Port *port) {
    return port->send || port->receive;
}

void sim_wire(Sim *sim, SimObject *a, const char *name_a, SimObject *b, const char *name_b,
              LinkOptions request, LinkOptions response) {
    const Field *field_a, *field_b;
    require_unbuilt(sim, "wire");
    Port *port_a = object_port(a, name_a, &field_a), *port_b = object_port(b, name_b, &field_b);
    if (field_a->protocol != field_b->protocol)
        user_error("wire %s.%s -> %s.%s: expected ports of one protocol, got %s and %s", a->path, name_a,
                   b->path, name_b, field_a->protocol->name, field_b->protocol->name);
    if (field_a->role == field_b->role)
        user_error("wire %s.%s -> %s.%s: expected a requester and a responder, got two %s", a->path, name_a,
                   b->path, name_b, field_a->role == ROLE_REQUESTER ? "requesters" : "responders");
    if (wired(port_a)) user_error("%s.%s: expected one wire, got a second", a->path, name_a);
    if (wired(port_b)) user_error("%s.%s: expected one wire, got a second", b->path, name_b);
    if (field_a->role == ROLE_RESPONDER) {
        sim_wire(sim, b, name_b, a, name_a, request, response);
        return;
    }
    const Protocol *protocol = field_a->protocol;
    port_a->send = port_b->receive = new_link(sim, a, name_a, b, name_b, protocol->request_bytes, request);
    port_a->send->protocol = protocol;
    if (!protocol->response_bytes) return;
    port_b->send = port_a->receive = new_link(sim, b, name_b, a, name_a, protocol->response_bytes, response);
    port_b->send->protocol = protocol;
    port_b->send->requests = port_a->send;
}

static uint32_t find_root(uint32_t *root, uint32_t object) {
    while (root[object] != object)
        object = root[object] = root[root[object]];
    return object;
}

/* Children are joined to their parents, and the two ends of every link that is quicker than a quantum. */
static uint32_t *join_objects(Sim *sim) {
    uint32_t *root = zeroed(sim->object_count, sizeof *root);
    for (uint32_t i = 0; i < sim->object_count; i++)
        root[i] = i;
    for (uint32_t i = 0; i < sim->object_count; i++)
        if (sim->objects[i]->parent) root[find_root(root, i)] = find_root(root, sim->objects[i]->parent->id);
    for (uint32_t i = 0; i < sim->link_count; i++) {
        Link *link = sim->links[i];
        if (clocks_least_latency(link) < sim->quantum)
            root[find_root(root, link->sender->id)] = find_root(root, link->receiver->id);
    }
    return root;
}

static void order_objects(const Sim *sim, Cluster *cluster, Random *random) {
    uint32_t n = cluster->count;
    for (uint32_t i = 0; sim->order == ORDER_REVERSED && i < n / 2; i++) {
        Turn turn = cluster->turns[i];
        cluster->turns[i] = cluster->turns[n - 1 - i];
        cluster->turns[n - 1 - i] = turn;
    }
    for (uint32_t i = n; sim->order == ORDER_SHUFFLED && i > 1; i--) {
        uint64_t j = random_below(random, i);
        Turn turn = cluster->turns[i - 1];
        cluster->turns[i - 1] = cluster->turns[j];
        cluster->turns[j] = turn;
    }
}

static void make_turns(Cluster *cluster, uint32_t count) {
    cluster->places = (count + TURNS_IN_STEP - 1) / TURNS_IN_STEP * TURNS_IN_STEP;
    cluster->turns = zeroed(cluster->places, sizeof(Turn));
    for (uint32_t i = count; i < cluster->places; i++)
        cluster->turns[i].due = NEVER;
    cluster->later = count > TURNS_IN_STEP ? 0 : NEVER;
    cluster->kept_later = NEVER;
}

/* Of objects that are alone in their clusters, the halves become clusters, the last ones. */
static void part_halves(Sim *sim) {
    for (uint32_t i = 0; i < sim->object_count; i++) {
        SimObject *object = sim->objects[i];
        if (!object->class->response_half) continue;
        *object->class->response_half(object) = *object;
        if (object->cluster->count != 1) continue;
        Cluster *cluster = &sim->clusters[sim->cluster_count++];
        make_turns(cluster, 1);
        halves_part(object, cluster);
    }
}

/* Clusters stand in the order of their first object; a different tick order permutes clusters and their
 * objects. Parts, which seldom tick, come last: the host then finds the others where it has learned them. */
static void make_clusters(Sim *sim) {
    uint32_t *root = join_objects(sim), *cluster_of = zeroed(sim->object_count, sizeof *cluster_of);
    Random random = {sim->order_seed};
    sim->clusters = zeroed(2 * (size_t)sim->object_count, sizeof(Cluster)); /* halves have theirs, too */
    for (uint32_t i = 0; i < sim->object_count; i++) {
        uint32_t r = find_root(root, i);
        if (!cluster_of[r]) cluster_of[r] = ++sim->cluster_count;
        sim->clusters[cluster_of[r] - 1].count++;
    }
    for (uint32_t c = 0; c < sim->cluster_count; c++) {
        Cluster *cluster = &sim->clusters[c];
        make_turns(cluster, cluster->count);
        cluster->count = 0;
    }
    for (uint32_t i = 0; i < 2 * sim->object_count; i++) { /* all that are no parts, then all parts */
        uint32_t id = i % sim->object_count;
        Cluster *cluster = &sim->clusters[cluster_of[find_root(root, id)] - 1];
        SimObject *object = sim->objects[id];
        if (object->class->part != (i >= sim->object_count)) continue;
        object->cluster = cluster;
        cluster->turns[cluster->count++] = (Turn){.object = object, .tick = object->class->tick};
    }
    for (uint32_t c = 0; c < sim->cluster_count; c++) {
        Cluster *cluster = &sim->clusters[c];
        order_objects(sim, cluster, &random);
        for (uint32_t i = 0; i < cluster->count; i++) {
            cluster->turns[i].object->due = &cluster->turns[i].due;
            cluster->turns[i].object->cluster_due = i < TURNS_IN_STEP ? &cluster->next : &cluster->later;
        }
        cluster_note_observers(cluster);
    }
    part_halves(sim);
    free(root);
    free(cluster_of);
}

static void finish_link(Link *link) {
    link->cut = link->to_cut = link->sender->cluster != link->receiver->cluster;
    link->align_to = link->receiver->clock->period;
    link->align_inverse = link->receiver->clock->inverse;
    bool may_differ = link->sender->clock != link->receiver->clock && clocks_may_change(link->sender->sim);
    link->aligned = may_differ || link->sender->period != link->align_to || link->latency % link->align_to;
}

static void link_latencies_to_ticks(Sim *sim) {
    for (uint32_t i = 0; i < sim->link_count; i++) {
        Link *link = sim->links[i];
        link->latency = (link->latency ? link->latency : 1) * link->sender->clock->period;
    }
}

static void require_wired(const SimObject *object) {
    for (const Field *f = object->class->fields; f->kind != FIELD_END; f++) {
        if (f->optional) continue;
        if (f->kind == FIELD_PORT && !wired((const Port *)((const char *)object + f->offset)))
            user_error("%s.%s: expected a wire, got none (%s %s: %s)", object->path, f->name,
                       f->protocol->name, f->role == ROLE_REQUESTER ? "requester" : "responder", f->doc);
        const Port *ports = f->kind == FIELD_PORT_ARRAY ? field_pointer(object, f) : NULL;
        for (uint32_t i = 0; ports && i < object_count(object, f); i++)
            if (!wired(&ports[i]))
                user_error("%s.%s[%u]: expected a wire, got none (%s: %s)", object->path, f->name, i,
                           f->protocol->name, f->doc);
    }
}

static void build_object(SimObject *object) {
    clocks_set_object(object);
    if (object->class->build) object->class->build(object);
    for (const Field *f = object->class->fields; f->kind != FIELD_END; f++)
        if (f->kind == FIELD_STATE_ARRAY)
            *(void **)((char *)object + f->offset) = elements(object, f, f->element_bytes);
}

/* In path order, those that commit first in front. */
static void make_committers(Sim *sim) {
    sim->committers = zeroed(sim->object_count, sizeof(SimObject *));
    for (int first = 1; first >= 0; first--)
        for (uint32_t i = 0; i < sim->object_count; i++) {
            const Class *class = sim->objects[i]->class;
            if (class->commit && class->commits_first == first)
                sim->committers[sim->committer_count++] = sim->objects[i];
        }
}

void sim_elaborate(Sim *sim) {
    if (!sim->clock_count) user_error("machine %s: expected a clock or more, got none", sim->name);
    require_unbuilt(sim, "build");
    sim->build_began = 1;
    for (uint32_t i = 0; i < sim->object_count; i++)
        sim_finish_object(sim->objects[i]);
    clocks_set_periods(sim);
    link_latencies_to_ticks(sim);
    for (uint32_t i = 0; i < sim->object_count; i++) {
        require_wired(sim->objects[i]);
        build_object(sim->objects[i]);
        clocks_check_object(sim->objects[i]);
    }
    make_clusters(sim);
    for (uint32_t i = 0; i < sim->link_count; i++)
        finish_link(sim->links[i]);
    sim_make_exchanges(sim);
    make_committers(sim);
    for (uint32_t i = 0; i < sim->object_count; i++)
        if (sim->objects[i]->class->init) sim->objects[i]->class->init(sim->objects[i]);
    sim->elaborated = 1;
}
