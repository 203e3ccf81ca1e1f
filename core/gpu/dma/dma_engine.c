/* The D2MA engine of an SM (Jamshidi et al., PACT 2014, sections 4.1 and 4.2): controllers with their
 * buffers, and one address generator for all. What is in flight where, for the check of loads, the SM knows
 * itself. */
#include "core/gpu/dma/dma_engine.h"

#include "core/gpu/dma/dma_gate.h"
#include "core/gpu/sm/sm.h"
#include "mem/parts/dma_port/l1_dma_port.h"

#include <string.h>

enum { TRANSFERS = MAX_CTAS * DMA_BUFFERS, TOKEN_SHIFT = 16 };

/* An entry of a buffer management table. */
typedef struct {
    DmaStart start;
    uint32_t next;          /* element for the address generator         */
    uint32_t next_constant; /* element to be filled with the constant    */
    uint32_t outstanding;   /* requests without an answer                */
    uint32_t busy, written; /* written: all constants are                */
    uint32_t sent;          /* its first request is: overhead is over    */
    uint64_t waited;        /* cycles that the generator had waited for its port when it came */
    uint64_t overhead;      /* cycles from its start to its first request, those waits left out */
} Transfer;

typedef struct {
    SimObject obj;
    Port sm, mem;
    uint32_t buffers, check;
    uint32_t sm_number, sm_pad;
    Transfer transfer[TRANSFERS];
    /* Transfers in the order in which they became ready: the address generator works on the one at
     * `generating`, those before it that still have constants to be written begin at `writing`. Counted on
     * for ever. */
    uint16_t order[TRANSFERS];
    uint32_t writing, generating, ready, stalled;
    uint64_t stalled_since; /* cycle up to which the generator's wait is counted */
    uint64_t transfers, elements, constants, bytes;
    uint64_t requests, requests_32, requests_64, requests_128;
    uint64_t agen_cycles, mem_cycles, transfer_cycles, stall_cycles;
} DmaEngine;

uint32_t dma_engine_buffers(const SimObject *engine) {
    return ((const DmaEngine *)engine)->buffers;
}

bool dma_engine_checks(const SimObject *engine) {
    return ((const DmaEngine *)engine)->check;
}

static Transfer *in_order(DmaEngine *engine, uint32_t place) {
    return &engine->transfer[engine->order[place % TRANSFERS]];
}

static uint32_t index_of(uint32_t cta, uint32_t buffer) {
    return cta * DMA_BUFFERS + buffer;
}

/* --- What it and the SM tell each other ------------------------------------------------------- */

static void start_is_sound(const char *link, const SimObject *engine, const void *message) {
    dma_start_is_sound((const Sm *)engine->parent, link, message);
}

static void news_is_sound(const char *link, const SimObject *sm, const void *message) {
    dma_news_is_sound((const Sm *)sm, link, message);
}

const Protocol dma_protocol = {.name = "DMA transfers",
                               .request_bytes = sizeof(DmaStart),
                               .response_bytes = sizeof(DmaNews),
                               .request_is_sound = start_is_sound,
                               .response_is_sound = news_is_sound};

/* --- Descriptors ----------------------------------------------------------------------------- */

/* Cycles in which the generator had a request and no room for it, up to the present one. */
static uint64_t waited_cycles(const DmaEngine *engine, uint64_t now) {
    uint64_t cycle = object_cycle(&engine->obj, now);
    return engine->stall_cycles + (engine->stalled ? cycle - engine->stalled_since : 0);
}

static void receive_starts(DmaEngine *engine, uint64_t now) {
    const DmaStart *start;
    while ((start = link_peek(engine->sm.receive, now))) {
        uint32_t index = index_of(start->cta, start->buffer);
        Transfer *t = &engine->transfer[index];
        ensure(!t->busy);
        *t = (Transfer){.start = *start,
                        .next = dma_next_fetched(&start->layout, 0),
                        .next_constant = dma_next_constant(&start->layout, 0),
                        .busy = 1,
                        .waited = waited_cycles(engine, now)};
        engine->order[engine->ready++ % TRANSFERS] = (uint16_t)index;
        engine->transfers++;
        link_pop(engine->sm.receive, now);
        object_progress(&engine->obj);
    }
}

/* --- To the SM ------------------------------------------------------------------------------- */

static bool can_tell(const DmaEngine *engine, uint64_t now) {
    return link_can_send(engine->sm.send, now);
}

static void tell(DmaEngine *engine, Transfer *t, const DmaRun *run, bool constant, uint64_t now) {
    const DmaStart *start = &t->start;
    bool last = t->written && !t->outstanding;
    *(DmaNews *)link_send(engine->sm.send, now) = (DmaNews){.first = run->first,
                                                            .count = run->count,
                                                            .cta = start->cta,
                                                            .buffer = start->buffer,
                                                            .constant = constant,
                                                            .last = last};
    if (constant)
        engine->constants += run->count;
    else
        engine->elements += run->count;
    engine->bytes += (uint64_t)run->count << start->layout.element_shift;
    if (!last) return;
    uint64_t cycles = object_cycle(&engine->obj, now) - start->issued;
    t->busy = 0;
    engine->transfer_cycles += cycles;
    engine->agen_cycles += t->overhead;
    engine->mem_cycles += cycles - t->overhead;
}

/* The answer says which element its run began with; the rest follows from the layout. */
static void take_answer(DmaEngine *engine, uint64_t now) {
    const MemMessage *m = link_peek(engine->mem.receive, now);
    if (!m || !can_tell(engine, now)) return;
    Transfer *t = &engine->transfer[m->token >> TOKEN_SHIFT];
    ensure(t->busy && t->outstanding);
    DmaRun run = dma_fetched_run(&t->start.layout, m->token & DMA_MAX_ELEMENTS);
    t->outstanding--;
    tell(engine, t, &run, false, now);
    link_pop(engine->mem.receive, now);
    object_progress(&engine->obj);
}

/* Constants are written while the requests of their transfer are in flight: once all are sent, a run of at
 * most 128 B in each cycle in which no answer is written. */
static void write_constants(DmaEngine *engine, uint64_t now) {
    while (engine->writing != engine->generating) {
        Transfer *t = in_order(engine, engine->writing);
        uint32_t elements = dma_elements(&t->start.layout);
        bool constants = t->next_constant < elements;
        DmaRun run = {0};
        if ((constants || !t->outstanding) && !can_tell(engine, now)) return;
        if (constants) {
            run = dma_constant_run(&t->start.layout, t->next_constant);
            t->next_constant = dma_next_constant(&t->start.layout, run.first + run.count);
        }
        t->written = t->next_constant >= elements;
        if (constants || !t->outstanding) tell(engine, t, &run, constants, now);
        if (!t->written) return;
        engine->writing++;
    }
}

/* --- Address generation ---------------------------------------------------------------------- */

/* Overhead is what passes before a transfer's first request, but for the time in which its own or an earlier
 * transfer's request waits for room in L1: that is memory time (section 5.3). */
static void end_overhead(DmaEngine *engine, Transfer *t, uint64_t now) {
    if (t->sent) return;
    t->sent = 1;
    t->overhead = object_cycle(&engine->obj, now) - t->start.issued - (engine->stall_cycles - t->waited);
}

static void send_request(DmaEngine *engine, Transfer *t, const DmaRun *run, uint64_t now) {
    const DmaStart *start = &t->start;
    end_overhead(engine, t, now);
    *(MemMessage *)link_send(engine->mem.send, now) = (MemMessage){
        .address = run->segment,
        .issued = now,
        .token = index_of(start->cta, start->buffer) << TOKEN_SHIFT | run->first,
        .pc = start->inst,
        .cta = (uint16_t)((const Sm *)engine->obj.parent)->warp[start->warp].cta_number,
        .bytes = (uint8_t)run->bytes,
        .sm = (uint16_t)engine->sm_number,
        .warp = start->warp,
        .kind = MEM_READ,
        .class_number = start->class_number,
    };
    t->outstanding++;
    engine->requests++;
    engine->requests_32 += run->bytes == 32;
    engine->requests_64 += run->bytes == 64;
    engine->requests_128 += run->bytes == 128;
}

/* With a stride the generator walks over the elements, and sends only when the segment is another one than
 * that of the element before. */
static bool begins_segment(const DmaLayout *layout, uint32_t element) {
    if (layout->stride == 1 || element == 0) return true;
    return (dma_global_address(layout, element) ^ dma_global_address(layout, element - 1)) / DMA_SEGMENT;
}

static void generate(DmaEngine *engine, uint64_t now) {
    uint64_t cycle = object_cycle(&engine->obj, now);
    if (engine->stalled) engine->stall_cycles += cycle - engine->stalled_since;
    engine->stalled = 0;
    if (engine->generating == engine->ready) return;
    Transfer *t = in_order(engine, engine->generating);
    const DmaLayout *layout = &t->start.layout;
    uint32_t done = 1;
    if (begins_segment(layout, t->next)) {
        engine->stalled = !link_can_send(engine->mem.send, now);
        engine->stalled_since = cycle;
        if (engine->stalled) return;
        DmaRun run = dma_fetched_run(layout, t->next);
        send_request(engine, t, &run, now);
        if (layout->stride == 1) done = run.count;
    }
    t->next = dma_next_fetched(layout, t->next + done);
    if (t->next < dma_elements(layout)) return;
    engine->generating++;
}

/* --- The class ------------------------------------------------------------------------------- */

static uint64_t next_tick(const DmaEngine *engine, uint64_t now) {
    uint64_t soon = now + engine->obj.period, next = link_next_ready(engine->sm.receive), at;
    if (engine->generating != engine->ready) {
        at = link_can_send(engine->mem.send, now) ? soon : link_space_time(engine->mem.send, now);
        if (!engine->stalled) at = soon;
        if (at < next) next = at;
    }
    if ((at = link_next_ready(engine->mem.receive)) < next) next = at;
    if (engine->writing != engine->generating) next = soon;
    return next > soon ? next : soon;
}

static uint64_t tick(SimObject *object, uint64_t now) {
    DmaEngine *engine = (DmaEngine *)object;
    receive_starts(engine, now);
    take_answer(engine, now);
    generate(engine, now);
    write_constants(engine, now);
    return next_tick(engine, now);
}

static void settle(SimObject *object, uint64_t now) {
    DmaEngine *engine = (DmaEngine *)object;
    uint64_t cycle = object_cycle(object, now);
    if (!engine->stalled || cycle <= engine->stalled_since) return;
    engine->stall_cycles += cycle - engine->stalled_since;
    engine->stalled_since = cycle;
}

static void init(SimObject *object) {
    DmaEngine *engine = (DmaEngine *)object;
    if (!object->parent || object->parent->class != &sm_class)
        user_error("%s: expected a place below an SM (m:DmaEngine (sm, \"dma\") {})", object->path);
    if (engine->sm.send->receiver != object->parent)
        user_error("%s.sm: expected a wire to the port transfers of its own SM, got one to %s", object->path,
                   engine->sm.send->receiver->path);
    engine->sm_number = sm_number(object->parent);
}

static bool is_fetched(const DmaLayout *layout, uint32_t element) {
    return element < dma_elements(layout) && dma_next_fetched(layout, element) == element;
}

/* Of the transfers at `from` up to `to` in order. */
static bool place_is_sound(const DmaEngine *engine, uint32_t place) {
    uint32_t index = engine->order[place % TRANSFERS];
    if (index >= TRANSFERS || !engine->transfer[index].busy) return false;
    const Transfer *t = &engine->transfer[index];
    uint32_t elements = dma_elements(&t->start.layout), ahead = place - engine->generating;
    bool generates = ahead < engine->ready - engine->generating;
    return (!generates || is_fetched(&t->start.layout, t->next)) &&
           (t->next_constant >= elements ||
            dma_next_constant(&t->start.layout, t->next_constant) == t->next_constant);
}

static void is_sound(const SimObject *object, bool fits) {
    const DmaEngine *engine = (const DmaEngine *)object;
    uint32_t in_order = engine->ready - engine->writing;
    (void)fits;
    for (uint32_t i = 0; i < TRANSFERS; i++) {
        const Transfer *t = &engine->transfer[i];
        if (!t->busy) continue;
        dma_start_is_sound((const Sm *)object->parent, object->path, &t->start);
        sound(index_of(t->start.cta, t->start.buffer) == i && t->outstanding <= DMA_MAX_ELEMENTS,
              "%s.transfer: %u", object->path, i);
        sound(t->sent <= 1 && t->waited <= waited_cycles(engine, object_now(object)) &&
                  t->start.issued + t->overhead <= object_cycle(object, object_now(object)),
              "%s.transfer: overhead of %u", object->path, i);
    }
    sound(in_order <= TRANSFERS && engine->generating - engine->writing <= in_order,
          "%s: transfers %u to %u in order", object->path, engine->writing, engine->ready);
    for (uint32_t place = engine->writing; place != engine->ready; place++)
        sound(place_is_sound(engine, place), "%s.order: %u", object->path, place);
    sound(engine->stalled <= 1, "%s.stalled: %u", object->path, engine->stalled);
}

/* The SM waits for the very same. */
static void check_buffers(const DmaEngine *engine) {
    const Sm *sm = (const Sm *)engine->obj.parent;
    for (uint32_t i = 0; i < TRANSFERS; i++) {
        const Transfer *t = &engine->transfer[i];
        const DmaBuffer *buffer = &dma_gate_of(sm)->cta[t->start.cta].buffer[t->start.buffer];
        if (t->busy &&
            (!buffer->in_flight || memcmp(&buffer->layout, &t->start.layout, sizeof buffer->layout) != 0))
            panic("%s: a transfer to CTA slot %u, buffer %u, for which %s does not wait", engine->obj.path,
                  t->start.cta, t->start.buffer, sm->obj.path);
    }
}

/* Each transfer awaits answers of its own kind, for runs that begin with an element that is fetched. On its
 * way through an L1 the token has a mark. */
static uint32_t answer_kinds(const SimObject *object) {
    (void)object;
    return TRANSFERS;
}

static uint32_t answer_kind(const SimObject *object, const void *message) {
    const DmaEngine *engine = (const DmaEngine *)object;
    uint32_t token = ((const MemMessage *)message)->token & ~DMA_TOKEN, index = token >> TOKEN_SHIFT;
    bool known = index < TRANSFERS && engine->transfer[index].busy &&
                 is_fetched(&engine->transfer[index].start.layout, token & DMA_MAX_ELEMENTS);
    return known ? index : NO_ANSWER_AWAITED;
}

static void answers_awaited(const SimObject *object, uint32_t *awaited) {
    const DmaEngine *engine = (const DmaEngine *)object;
    for (uint32_t i = 0; i < TRANSFERS; i++)
        awaited[i] += engine->transfer[i].busy ? engine->transfer[i].outstanding : 0;
}

static void check(const SimObject *object, bool idle) {
    const DmaEngine *engine = (const DmaEngine *)object;
    uint64_t outstanding = 0, busy = 0;
    for (uint32_t i = 0; i < TRANSFERS; i++) {
        outstanding += engine->transfer[i].outstanding;
        busy += engine->transfer[i].busy;
    }
    if (engine->requests != link_sent(engine->mem.send) ||
        engine->requests != link_received(engine->mem.receive) + outstanding)
        panic("%s: %lu requests; %lu were sent, %lu are answered, %lu wait for their answer", object->path,
              engine->requests, link_sent(engine->mem.send), link_received(engine->mem.receive), outstanding);
    if (engine->requests != engine->requests_32 + engine->requests_64 + engine->requests_128)
        panic("%s: %lu requests, but %lu of 32 B, %lu of 64 B, %lu of 128 B", object->path, engine->requests,
              engine->requests_32, engine->requests_64, engine->requests_128);
    if (engine->transfer_cycles != engine->agen_cycles + engine->mem_cycles)
        panic("%s: transfers took %lu cycles, but %lu before their first requests and %lu from there on",
              object->path, engine->transfer_cycles, engine->agen_cycles, engine->mem_cycles);
    check_buffers(engine);
    if (idle && busy) panic("%s is idle but %lu transfers are in flight", object->path, busy);
}

static void report(const SimObject *object, FILE *out) {
    const DmaEngine *engine = (const DmaEngine *)object;
    for (uint32_t i = 0; i < TRANSFERS; i++) {
        const Transfer *t = &engine->transfer[i];
        if (!t->busy) continue;
        fprintf(out,
                "%s: CTA slot %u, buffer %u: element %u of %u is the next to be fetched, %u requests wait "
                "for their "
                "answer\n",
                object->path, i / DMA_BUFFERS, i % DMA_BUFFERS, t->next, dma_elements(&t->start.layout),
                t->outstanding);
    }
}

static const Field fields[] = {
    BASE(DmaEngine),
    PORT(DmaEngine, sm, dma_protocol, ROLE_RESPONDER, "The SM that it is part of"),
    PORT(DmaEngine, mem, memory_protocol, ROLE_REQUESTER, "Requests for segments"),
    PARAM(DmaEngine, buffers, "4", "buffers", "Transfers that each CTA may have in flight", .min = 1,
          .max = DMA_BUFFERS),
    PARAM_FLAG(
        DmaEngine, check, "true",
        "Loads of shared memory wait for transfers into it; false is for experiments: they read stale data"),
    DERIVED(DmaEngine, sm_number, "Of its SM"),
    DERIVED(DmaEngine, sm_pad, "Alignment"),
    STATE(DmaEngine, transfer, "Buffer management tables"),
    STATE(DmaEngine, order, "Transfers in the order in which they became ready"),
    STATE(DmaEngine, writing, "First of them with constants to be written"),
    STATE(DmaEngine, generating, "First of them with addresses to be generated"),
    STATE(DmaEngine, ready, "Behind the last of them"),
    STATE(DmaEngine, stalled, "The address generator waits for its port"),
    STATE(DmaEngine, stalled_since, "Cycle up to which that is counted"),
    STAT(DmaEngine, transfers, "transfers", "Transfers started"),
    STAT(DmaEngine, elements, "elements", "Elements fetched"),
    STAT(DmaEngine, constants, "elements", "Elements of halos filled with the constant"),
    STAT(DmaEngine, bytes, "bytes", "Written to shared memory"),
    STAT(DmaEngine, requests, "requests", "Requests for segments"),
    STAT(DmaEngine, requests_32, "requests", "Of them, for 32 B"),
    STAT(DmaEngine, requests_64, "requests", "Of them, for 64 B"),
    STAT(DmaEngine, requests_128, "requests", "Of them, for 128 B"),
    STAT(DmaEngine, agen_cycles, "cycles",
         "Overhead, of complete transfers: from a start to the first request, waits for the port left out"),
    STAT(DmaEngine, mem_cycles, "cycles", "Memory time, of complete transfers: all but the overhead"),
    STAT(DmaEngine, transfer_cycles, "cycles",
         "From the start of a transfer to its completion, of complete transfers"),
    STAT_NAMED(DmaEngine, stall_cycles, "agen_stall_cycles", "cycles",
               "In which the address generator waited for its port; why, says L1"),
    FIELDS_END};

const Class dma_engine_class = {
    .name = "DmaEngine",
    .doc = "D2MA: copies tiles from global to shared memory",
    .bytes = sizeof(DmaEngine),
    .fields = fields,
    .init = init,
    .tick = tick,
    .settle = settle,
    .is_sound = is_sound,
    .answer_kinds = answer_kinds,
    .answer_kind = answer_kind,
    .answers_awaited = answers_awaited,
    .check = check,
    .report = report,
};
REGISTER_CLASS(dma_engine_class);
