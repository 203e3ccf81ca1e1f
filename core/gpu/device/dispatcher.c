#include "core/gpu/device/dispatcher.h"

#include "core/gpu/sm/sm.h"

typedef struct {
    uint32_t free_slots; /* bit per CTA slot of the SM */
    uint32_t pad;
} SmSlots;

typedef struct {
    SimObject obj;
    uint32_t sms;     /* parameter */
    uint32_t next_sm; /* that is looked at first */
    uint32_t goes_on; /* a flag */
    uint32_t code_align;
    Port *sm;
    uint32_t grid[3];
    uint32_t next_cta[3];
    uint64_t ctas, handed_out, done; /* of the running kernel */
    SmSlots *slots;
    uint64_t kernels, ctas_dispatched; /* statistics */
} Dispatcher;

static const Field fields[] = {
    BASE(Dispatcher),
    PARAM(Dispatcher, sms, REQUIRED, "SMs", "SMs that it serves", .min = 1, .max = 256),
    PARAM_FLAG(Dispatcher, goes_on, "false",
               "A launch begins at the SM behind the one that got the last CTA of the launch before; else at "
               "the first one",
               .timing = true),
    PARAM(Dispatcher, code_align, "256", "bytes",
          "For instruction caches: kernels lie one behind the other and begin at multiples of this",
          .min = INST_BYTES, .max = 4096, .power_of_two = true),
    PORT_ARRAY(Dispatcher, sm, sms, cta_protocol, ROLE_REQUESTER, "One per SM"),
    STATE(Dispatcher, next_sm, "SM whose turn it is"),
    STATE(Dispatcher, grid, "Of the running kernel"),
    STATE(Dispatcher, next_cta, "To be handed out next"),
    STATE(Dispatcher, ctas, "CTAs of the running kernel"),
    STATE(Dispatcher, handed_out, "Of them, handed out"),
    STATE(Dispatcher, done, "Of them, finished"),
    STATE_ARRAY(Dispatcher, slots, sms, "Free CTA slots of each SM"),
    STAT(Dispatcher, kernels, "kernels", "Kernels started"),
    STAT(Dispatcher, ctas_dispatched, "CTAs", "CTAs handed out"),
    FIELDS_END};

void dispatcher_start(SimObject *object, const uint32_t grid[3], uint32_t ctas_per_sm, uint64_t now) {
    Dispatcher *d = (Dispatcher *)object;
    for (int i = 0; i < 3; i++) {
        d->grid[i] = grid[i];
        d->next_cta[i] = 0;
    }
    d->ctas = (uint64_t)grid[0] * grid[1] * grid[2];
    d->handed_out = d->done = 0;
    if (!d->goes_on) d->next_sm = 0;
    d->kernels++;
    for (uint32_t i = 0; i < d->sms; i++)
        d->slots[i].free_slots = ctas_per_sm == 32 ? ~0u : (1u << ctas_per_sm) - 1;
    object_poke(object, now);
}

uint64_t dispatcher_code_align(const SimObject *object) {
    return ((const Dispatcher *)object)->code_align;
}

uint64_t dispatcher_ctas_done(const SimObject *object) {
    return ((const Dispatcher *)object)->done;
}

bool dispatcher_idle(const SimObject *object) {
    const Dispatcher *d = (const Dispatcher *)object;
    return d->done == d->ctas;
}

static void take_finished(Dispatcher *d, uint64_t now) {
    for (uint32_t i = 0; i < d->sms; i++) {
        const CtaDone *done = link_peek(d->sm[i].receive, now);
        if (!done) continue;
        d->slots[i].free_slots |= 1u << done->slot;
        if (++d->done == d->ctas) sim_request_stop(d->obj.sim);
        link_pop(d->sm[i].receive, now);
        object_progress(&d->obj);
    }
}

/* x fastest, then y, then z. */
static void step_cta(Dispatcher *d) {
    d->handed_out++;
    for (int i = 0; i < 3 && ++d->next_cta[i] == d->grid[i]; i++)
        d->next_cta[i] = 0;
}

static bool hand_out(Dispatcher *d, uint32_t sm, uint64_t now) {
    SmSlots *slots = &d->slots[sm];
    Link *link = d->sm[sm].send;
    if (!slots->free_slots || d->handed_out == d->ctas || !link_can_send(link, now)) return false;
    CtaStart *start = link_send(link, now);
    for (int i = 0; i < 3; i++)
        start->ctaid[i] = d->next_cta[i];
    start->slot = (uint32_t)__builtin_ctz(slots->free_slots);
    slots->free_slots &= slots->free_slots - 1;
    d->ctas_dispatched++;
    step_cta(d);
    return true;
}

static uint64_t tick(SimObject *object, uint64_t now) {
    Dispatcher *d = (Dispatcher *)object;
    uint32_t first = d->next_sm;
    bool busy = false;
    uint64_t next = NEVER;
    take_finished(d, now);
    for (uint32_t i = 0; i < d->sms; i++) {
        uint32_t sm = (first + i) % d->sms;
        if (!hand_out(d, sm, now)) continue;
        busy = true;
        d->next_sm = (sm + 1) % d->sms;
    }
    for (uint32_t i = 0; i < d->sms; i++) {
        uint64_t ready = link_next_ready(d->sm[i].receive);
        if (ready < next) next = ready;
    }
    if (busy || next <= now) next = now + object->period;
    return next;
}

static void is_sound(const SimObject *object, bool fits) {
    const Dispatcher *d = (const Dispatcher *)object;
    uint64_t place = 0, ctas = 1;
    (void)fits;
    for (int i = 2; i >= 0; i--) {
        sound(d->next_cta[i] < d->grid[i] || !d->grid[i], "%s.next_cta: %u of %u", object->path,
              d->next_cta[i], d->grid[i]);
        place = place * d->grid[i] + d->next_cta[i];
        ctas *= d->grid[i];
    }
    sound(d->ctas == ctas && d->handed_out <= ctas && place == (d->handed_out == ctas ? 0 : d->handed_out),
          "%s: %lu of %lu CTAs handed out, the next is %lu", object->path, d->handed_out, d->ctas, place);
    sound(d->done <= d->handed_out && d->next_sm < d->sms, "%s: %lu CTAs done, SM %u is next", object->path,
          d->done, d->next_sm);
}

/* A slot is free, or its CTA is on its way to the SM, there, or on its way back. */
static void check_slots(const Dispatcher *d, uint32_t i) {
    const Sm *sm = (const Sm *)d->sm[i].send->receiver;
    const Link *to = d->sm[i].send, *from = d->sm[i].receive;
    if (sm->obj.class != &sm_class || !sm->running || !d->ctas) return;
    uint32_t all = ~0u >> (MAX_CTAS - sm->running->ctas_per_sm),
             there = sm->finished_ctas | sm_resident_slots(sm);
    uint32_t free_slots = d->slots[i].free_slots, taken = there | free_slots, doubled = there & free_slots;
    FOR_LINK_MESSAGES (to, k) {
        uint32_t slot = 1u << ((const CtaStart *)link_message(to, k))->slot;
        doubled |= taken & slot;
        taken |= slot;
    }
    FOR_LINK_MESSAGES (from, k) {
        uint32_t slot = 1u << ((const CtaDone *)link_message(from, k))->slot;
        doubled |= taken & slot;
        taken |= slot;
    }
    if (doubled || taken != all)
        panic(
            "%s: CTA slots 0x%x of %s are free and 0x%x taken there; of all, 0x%x are known twice, 0x%x not "
            "at all",
            d->obj.path, free_slots, sm->obj.path, there, doubled, all & ~taken);
}

static void check(const SimObject *object, bool idle) {
    const Dispatcher *d = (const Dispatcher *)object;
    if (d->done > d->handed_out || d->handed_out > d->ctas || (idle && d->done != d->ctas))
        panic("%s: %lu of %lu CTAs handed out, %lu finished", object->path, d->handed_out, d->ctas, d->done);
    uint64_t sent = 0, finished = 0;
    for (uint32_t i = 0; i < d->sms; i++) {
        sent += link_sent(d->sm[i].send);
        finished += link_received(d->sm[i].receive);
        check_slots(d, i);
    }
    if (d->ctas_dispatched != sent || sent - finished != d->handed_out - d->done)
        panic("%s: %lu CTAs dispatched, %lu sent to SMs and %lu finished there; of this kernel %lu and %lu",
              object->path, d->ctas_dispatched, sent, finished, d->handed_out, d->done);
}

static void report(const SimObject *object, FILE *out) {
    const Dispatcher *d = (const Dispatcher *)object;
    if (d->done != d->ctas)
        fprintf(out, "%s: %lu of %lu CTAs handed out, %lu finished\n", object->path, d->handed_out, d->ctas,
                d->done);
}

const Class dispatcher_class = {
    .name = "Dispatcher",
    .doc = "Hands out the CTAs of a kernel to the SMs, in turn, as resources allow",
    .bytes = sizeof(Dispatcher),
    .fields = fields,
    .tick = tick,
    .is_sound = is_sound,
    .check = check,
    .report = report,
};
REGISTER_CLASS(dispatcher_class);
