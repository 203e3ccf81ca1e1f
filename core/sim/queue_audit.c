#include "core/sim/queue_audit.h"

#include "core/sim/base/host_memory.h"
#include "core/sim/sim.h"

#include <stdlib.h>

#ifdef WW_DEBUG

enum { EMPTY_SLOT = 0 };

/* Tickets number the messages that entered, from 1 on; EMPTY_SLOT is none. */
typedef struct {
    uint64_t entered, ticket;
} AuditSlot;

typedef struct {
    const char *name; /* NULL: the object has no such queue */
    QueueLength *length;
    AuditSlot *slot;
    uint32_t slots;
    QueueOrder order;
    uint64_t entries, exits;
    uint64_t length_seen; /* since `until`                                              */
    uint64_t area, until; /* the length, summed over time up to `until`                 */
    uint64_t waited;      /* time inside, summed over the messages that have left       */
    uint64_t strangers;   /* messages that were inside when a snapshot was loaded       */
    uint64_t loaded;      /* time of that: their entry as far as we know                */
} QueueAudit;

struct ObjectAudit {
    QueueAudit *queue;
    uint32_t queues;
    uint32_t restarted;
    uint64_t promises;
};

/* --- Links ----------------------------------------------------------------------------------- */

void link_audit_new(Link *link) {
    link->audit.entered = zeroed((size_t)link->slot_mask + 1, sizeof(LinkEntry));
}

void link_audit_free(Link *link) {
    free(link->audit.entered);
}

void link_audit_push(Link *link, uint64_t now) {
    LinkAudit *audit = &link->audit;
    audit->entered[link->pushed & link->slot_mask] = (LinkEntry){now, true};
    audit->pushed_area += (now - audit->pushed_until) * link->pushed;
    audit->pushed_until = now;
    audit->pushes++;
}

/* The time of entry and the time at which the message became visible are kept in two places. */
static void check_latency(const Link *link, uint64_t entered, uint64_t now) {
    uint64_t ready = entered + link->latency, align = link->aligned ? link->align_to : 1;
    ready = (ready + align - 1) / align * align;
    if (link->ready[link->popped & link->slot_mask] != ready || now < ready)
        panic(
            "link %s: message %lu was sent at tick %lu with a latency of %lu, is ready at %lu and leaves at "
            "%lu",
            link->name, link->popped, entered, link->latency, link->ready[link->popped & link->slot_mask],
            now);
}

void link_audit_pop(Link *link, uint64_t now) {
    LinkAudit *audit = &link->audit;
    LinkEntry entered = audit->entered[link->popped & link->slot_mask];
    if (entered.seen) check_latency(link, entered.time, now);
    audit->waited += now - entered.time;
    audit->popped_area += (now - audit->popped_until) * link->popped;
    audit->popped_until = now;
    audit->pops++;
}

void link_audit_retime(Link *link) {
    for (uint64_t i = link->popped; i != link->pushed; i++)
        link->audit.entered[i & link->slot_mask].seen = false;
}

static void audit_link(const Link *link, uint64_t now) {
    const LinkAudit *audit = &link->audit;
    uint64_t waited = audit->waited;
    uint64_t area = audit->pushed_area + (now - audit->pushed_until) * link->pushed - audit->popped_area -
                    (now - audit->popped_until) * link->popped;
    if (audit->pushes != link->pushed || audit->pops != link->popped)
        panic("link %s: %lu messages were sent and %lu received, it counts %lu and %lu", link->name,
              audit->pushes, audit->pops, link->pushed, link->popped);
    for (uint64_t i = link->popped; i != link->pushed; i++)
        waited += now - audit->entered[i & link->slot_mask].time;
    if (area != waited)
        panic("link %s: Little's law: its occupancy sums up to %lu messages * ticks, the time inside of its "
              "%lu messages to %lu ticks",
              link->name, area, link->pushed, waited);
}

static void restart_link(Link *link, uint64_t now) {
    LinkAudit *audit = &link->audit;
    audit->pushes = link->pushed;
    audit->pops = link->popped;
    audit->pushed_area = audit->popped_area = audit->waited = 0;
    audit->pushed_until = audit->popped_until = now;
    for (uint64_t i = link->popped; i != link->pushed; i++)
        audit->entered[i & link->slot_mask] = (LinkEntry){now, false};
}

/* --- Queues of objects ----------------------------------------------------------------------- */

static ObjectAudit *audit_of(SimObject *object) {
    if (!object->audit) object->audit = zeroed(1, sizeof(ObjectAudit));
    return object->audit;
}

void object_audit_free(SimObject *object) {
    for (uint32_t i = 0; object->audit && i < object->audit->queues; i++)
        free(object->audit->queue[i].slot);
    if (object->audit) free(object->audit->queue);
    free(object->audit);
}

void audit_queue(SimObject *object, uint32_t queue, const char *name, QueueOrder order, uint32_t slots,
                 QueueLength *length) {
    ObjectAudit *audit = audit_of(object);
    if (queue >= audit->queues) {
        QueueAudit *more = zeroed(queue + 1, sizeof *more);
        for (uint32_t i = 0; i < audit->queues; i++)
            more[i] = audit->queue[i];
        free(audit->queue);
        audit->queue = more;
        audit->queues = queue + 1;
    }
    ensure(!audit->queue[queue].name);
    audit->queue[queue] = (QueueAudit){.name = name,
                                       .length = length,
                                       .slot = zeroed(slots, sizeof(AuditSlot)),
                                       .slots = slots,
                                       .order = order,
                                       .until = object->sim->now};
}

/* What a snapshot brought may have more slots than the queue that was announced. */
static void add_slots(QueueAudit *q, uint32_t slots) {
    AuditSlot *more = zeroed(slots, sizeof *more);
    for (uint32_t i = 0; i < q->slots; i++)
        more[i] = q->slot[i];
    free(q->slot);
    q->slot = more;
    q->slots = slots;
}

static QueueAudit *audited(const SimObject *object, uint32_t queue, uint32_t slot) {
    QueueAudit *q = &object->audit->queue[queue];
    if (object->audit->restarted && queue < object->audit->queues && q->name && slot >= q->slots)
        add_slots(q, slot + 1);
    if (queue >= object->audit->queues || !q->name || slot >= q->slots)
        panic("%s: slot %u of queue %u: no queue or slot matches", object->path, slot, queue);
    return q;
}

/* The length that was seen last held until now. */
static void advance(const SimObject *object, uint32_t queue, QueueAudit *q) {
    uint64_t now = object->cluster->now;
    q->area += (now - q->until) * q->length_seen;
    q->until = now;
    q->length_seen = q->length(object, queue);
}

void audit_enter(const SimObject *object, uint32_t queue, uint32_t slot) {
    QueueAudit *q = audited(object, queue, slot);
    AuditSlot *s = &q->slot[slot];
    if (s->ticket != EMPTY_SLOT)
        panic("%s: %s: slot %u is given to another message; message %lu, there since tick %lu, is lost",
              object->path, q->name, slot, s->ticket, s->entered);
    advance(object, queue, q);
    *s = (AuditSlot){.entered = q->until, .ticket = ++q->entries};
}

/* Who was inside when a snapshot was loaded leaves first. */
static void stranger_leaves(const SimObject *object, uint32_t slot, QueueAudit *q) {
    if (!q->strangers) panic("%s: %s: slot %u is left, and no message is in it", object->path, q->name, slot);
    q->strangers--;
    q->waited += q->until - q->loaded;
}

void audit_leave(const SimObject *object, uint32_t queue, uint32_t slot) {
    QueueAudit *q = audited(object, queue, slot);
    AuditSlot *s = &q->slot[slot];
    advance(object, queue, q);
    if (s->ticket == EMPTY_SLOT) {
        stranger_leaves(object, slot, q);
        return;
    }
    q->exits++;
    if (q->order == QUEUE_FIFO && (q->strangers || s->ticket != q->exits))
        panic("%s: %s: message %lu leaves in slot %u before message %lu", object->path, q->name, s->ticket,
              slot, q->exits);
    q->waited += q->until - s->entered;
    *s = (AuditSlot){0};
}

void audit_move(const SimObject *object, uint32_t queue, uint32_t from, uint32_t to) {
    AuditSlot *s = &audited(object, queue, from)->slot[from];
    AuditSlot *free_slot = &audited(object, queue, to)->slot[to];
    if (free_slot->ticket != EMPTY_SLOT)
        panic("%s: slot %u of queue %u is moved onto slot %u, which is taken", object->path, from, queue, to);
    *free_slot = *s;
    *s = (AuditSlot){0};
}

void audit_promise(SimObject *object, bool promised) {
    audit_of(object)->promises += promised;
}

bool audit_promises(const SimObject *object, uint64_t *promises) {
    *promises = object->audit ? object->audit->promises : 0;
    return !(object->audit && object->audit->restarted);
}

static void check_queue(const SimObject *object, uint32_t queue) {
    const QueueAudit *q = &object->audit->queue[queue];
    uint64_t now = object->sim->now, length = q->length(object, queue), inside = q->strangers;
    uint64_t area = q->area + (now - q->until) * q->length_seen;
    uint64_t waited = q->waited + q->strangers * (now - q->loaded);
    for (uint32_t i = 0; i < q->slots; i++) {
        if (q->slot[i].ticket == EMPTY_SLOT) continue;
        waited += now - q->slot[i].entered;
        inside++;
    }
    if (length != inside || length != q->length_seen)
        panic("%s: %s: %lu messages entered and %lu left, so %lu are inside; it says that it holds %lu",
              object->path, q->name, q->entries, q->exits, inside, length);
    if (area != waited)
        panic("%s: %s: Little's law: its occupancy sums up to %lu messages * ticks, the time inside of its "
              "%lu messages to %lu ticks",
              object->path, q->name, area, q->entries, waited);
}

static void restart_queue(const SimObject *object, uint32_t queue, QueueAudit *q, uint64_t now) {
    for (uint32_t i = 0; i < q->slots; i++)
        q->slot[i] = (AuditSlot){0};
    q->entries = q->exits = q->area = q->waited = 0;
    q->until = q->loaded = now;
    q->strangers = q->length_seen = q->length(object, queue);
}

/* --- All of a machine ------------------------------------------------------------------------ */

void sim_audit(const Sim *sim) {
    for (uint32_t i = 0; i < sim->link_count; i++)
        audit_link(sim->links[i], sim->now);
    for (uint32_t i = 0; i < sim->object_count; i++) {
        const SimObject *object = sim->objects[i];
        for (uint32_t q = 0; object->audit && q < object->audit->queues; q++)
            if (object->audit->queue[q].name) check_queue(object, q);
    }
}

void sim_audit_restart(Sim *sim) {
    for (uint32_t i = 0; i < sim->link_count; i++)
        restart_link(sim->links[i], sim->now);
    for (uint32_t i = 0; i < sim->object_count; i++) {
        ObjectAudit *audit = sim->objects[i]->audit;
        if (!audit) continue;
        audit->restarted = 1;
        for (uint32_t q = 0; q < audit->queues; q++)
            if (audit->queue[q].name) restart_queue(sim->objects[i], q, &audit->queue[q], sim->now);
    }
}

#endif
