#include "mem/parts/reexecution_queue/reexecution_front.h"

#include "mem/cache/cache_sound.h"
#include "mem/cache/cache_tick.h"
#include "mem/protocol/caches.h"

static ReexecutionFront *of(TagFront *front) {
    return (ReexecutionFront *)front;
}

static Cache *cache_of(const ReexecutionFront *r) {
    return &r->front.object->cache;
}

/* The access is fine, but what it needs in this very cycle is busy. */
static bool is_hold(Stall stall) {
    return stall == STALL_RESPONSE || stall == STALL_DATA_PORT;
}
static bool is_refusal(Stall stall) {
    return stall != STALL_NONE && !is_hold(stall);
}

/* Brings the queue up to the beginning of `cycle`: in each cycle in which the tags were not used it turned by
 * one. */
static void catch_up(ReexecutionFront *r, uint64_t cycle) {
    bool turned = (r->queue.count != 0) & !r->tags_held;
    uint64_t turns = (cycle - r->queue_cycle) & -(uint64_t)turned;
    r->queue_cycle = cycle;
    r->retries += turns;
    reexecution_turn(&r->queue, turns);
}

static uint32_t set_of(const ReexecutionFront *r, const MemMessage *m) {
    return tag_set(&cache_of(r)->tags.shape, m->address);
}

void reexecution_knobs_set(ReexecutionFront *r, uint64_t may_miss, uint64_t may_allocate, uint32_t switches) {
    reexecution_permit(&r->queue, may_miss);
    if (may_allocate == r->allowed && switches == r->switches) return;
    reexecution_forget_reasons(&r->queue);
    r->allowed = may_allocate;
    r->switches = switches;
}

static inline uint64_t eligible(const ReexecutionFront *r) {
    const Cache *c = cache_of(r);
    return reexecution_eligible(&r->queue, !mshr_full(&c->mshr), cache_miss_queue_room(c));
}

static BlockReason block_reason(const Outcome *outcome) {
    Stall stall = outcome->stall;
    if (stall == STALL_MSHR_ENTRY)
        return outcome->needs_mshr ? BLOCKED_ON_MSHR_AND_PERMISSION : BLOCKED_ON_MSHR;
    if (stall == STALL_LINE) return BLOCKED_ON_WAY;
    if (stall == STALL_REFUSED)
        return outcome->needs_mshr ? BLOCKED_ON_MSHR_AND_PERMISSION : BLOCKED_ON_PERMISSION;
    return stall == STALL_MISS_QUEUE || stall == STALL_BYPASSED ? BLOCKED_ON_ROOM : BLOCKED_ON_CHANGE;
}

static void put_aside(ReexecutionFront *r, const MemMessage *m, const Outcome *outcome) {
    uint32_t place = reexecution_push(&r->queue, m, set_of(r, m), block_reason(outcome));
    audit_enter(&r->front.object->obj, QUEUE_REEXECUTION, place);
    cache_of(r)->put_aside++;
    r->pushes++;
    r->refusals += outcome->stall == STALL_REFUSED;
}

static void take_head(ReexecutionFront *r) {
    audit_leave(&r->front.object->obj, QUEUE_REEXECUTION, reexecution_pop(&r->queue));
    cache_of(r)->put_aside--;
}

/* An access of another instruction of the warp that is in the queue, or NULL. */
static const MemMessage *older_in_queue(const ReexecutionFront *r, const MemMessage *m) {
    const MemMessage *other = reexecution_of_warp(&r->queue, m->sm, m->warp);
    return other && other->token != m->token ? other : NULL;
}

/* Why a new request must wait for the queue. One that is switched off is emptied first, and one that holds
 * more than it may, on a changed machine, until it no longer does. When it is full, a
 * new request still has its look at the tags (Fig. 7: W1 hits): it waits when it is not taken. A warp has one
 * instruction in the queue, so that what it stores and then loads stays in order: the next must wait in front
 * of the tags. Only a load behind a load is let through, to hit or to miss; it waits when it is not taken.
 * `has_older`: what is let through has one in the queue. */
static Stall what_queue_blocks(const ReexecutionFront *r, const MemMessage *m, bool *has_older) {
    const ReexecutionQueue *queue = &r->queue;
    uint64_t stall = cache_of(r)->stall;
    *has_older = false;
    if (!queue->count) return STALL_NONE;
    if (!r->use | (queue->count > queue->entries)) return STALL_QUEUE_FULL;
    if (reexecution_full(queue) & (stall == STALL_QUEUE_FULL)) return STALL_QUEUE_FULL;
    const MemMessage *older = older_in_queue(r, m);
    *has_older = older != NULL;
    bool loads = older && older->kind == MEM_READ && m->kind == MEM_READ;
    return older && (!loads || stall == STALL_ORDER) ? STALL_ORDER : STALL_NONE;
}

/* The queue had its turn, and its head, if that was offered, stays there. */
static void held_back(TagFront *front, uint64_t now) {
    ReexecutionFront *r = of(front);
    r->queue_cycle++;
    r->tags_held = 1;
    r->again = now + cache_of(r)->period;
}

/* The tags were used in this cycle: the queue had its turn, which was a retry or none. A new access that
 * needs no answer does not go into the queue, and is looked up until it is taken. */
static void end_turn(ReexecutionFront *r, const MemMessage *m, Stall stall) {
    bool stays = r->is_new && stall != STALL_NONE && (m->flags & MEM_POSTED);
    r->queue_cycle++;
    r->tags_held = is_hold(stall) || stays;
}

static void end_retry(ReexecutionFront *r, const Outcome *outcome) {
    r->retries += !r->tags_held;
    if (outcome->stall == STALL_NONE)
        take_head(r);
    else if (!r->tags_held)
        reexecution_fail(&r->queue, block_reason(outcome));
}

static void end_new(ReexecutionFront *r, const MemMessage *m, const Outcome *outcome, uint64_t now) {
    bool wanted = is_refusal(outcome->stall) && r->queue.entries && r->use && !(m->flags & MEM_POSTED);
    Outcome known = *outcome;
    if (wanted && r->has_older) {
        known.stall = STALL_ORDER;
    } else if (wanted && reexecution_full(&r->queue)) {
        known.stall = STALL_QUEUE_FULL;
    } else if (wanted) {
        put_aside(r, m, outcome);
        known.stall = STALL_NONE;
    }
    front_looked_up(r->front.object, r->front.source, m, &known, now);
}

/* When it is the turn of one of these, if that of the head is at `now`. */
static uint64_t turn_of(const ReexecutionFront *r, uint64_t with_eligible, uint64_t now) {
    return with_eligible ? now + reexecution_turns_to(&r->queue, with_eligible) * cache_of(r)->period : NEVER;
}

/* When to look at the queue again after a try. What waits in front of the tags for room in it need not be
 * looked at while nobody has `left`; then it may go on, or wait for another reason. */
static uint64_t next_retry(const ReexecutionFront *r, bool left, uint64_t now) {
    const Cache *c = cache_of(r);
    const Link *to_cpu = r->front.object->cpu.send;
    uint64_t soon = now + c->period;
    bool blocked = c->stall == STALL_QUEUE_FULL || c->stall == STALL_ORDER, has_older;
    if (blocked && left && what_queue_blocks(r, source_next(&r->front), &has_older) != (Stall)c->stall)
        return soon;
    if (!r->queue.count) return NEVER;
    if (r->tags_held) return link_can_send(to_cpu, now) ? soon : link_space_time(to_cpu, now);
    return turn_of(r, eligible(r), soon);
}

/* Will the cache be awake in the next cycle in any case? */
static bool stays_awake(const Cache *c, uint64_t soon) {
    const DelayQueue *pipeline = &c->pipeline;
    return c->stall == STALL_NONE && pipeline->count && pipeline->ready[pipeline->first] <= soon;
}

static uint64_t look_again(const ReexecutionFront *r, bool left, uint64_t now) {
    uint64_t soon = now + cache_of(r)->period;
    return stays_awake(cache_of(r), soon) ? soon : next_retry(r, left || r->front.source, now);
}

static void set_changed(TagFront *front, const MemMessage *m) {
    ReexecutionFront *r = of(front);
    const TagShape *shape = &cache_of(r)->tags.shape;
    if (r->queue.count) reexecution_set_changed(&r->queue, set_of(r, m), m->address, shape->line_bytes);
}

/* An access that was taken has a line reserved or dropped one, as writes may. Sets of the same low bits are
 * not told from each other there. */
static void note_change(ReexecutionFront *r, const MemMessage *m) {
    const TagArray *tags = &cache_of(r)->tags;
    set_changed(&r->front, m);
    if (!r->queue.wants_way || tags->shape.sets > REEXECUTION_SETS) return;
    if (tag_victim(tags, set_of(r, m)) == NO_LINE) reexecution_set_is_full(&r->queue, set_of(r, m));
}

static void looked_up(TagFront *front, const MemMessage *m, const Outcome *outcome, uint64_t now) {
    ReexecutionFront *r = of(front);
    bool taken = outcome->stall == STALL_NONE;
    end_turn(r, m, outcome->stall);
    if (taken && (!outcome->hit || m->kind != MEM_READ)) note_change(r, m);
    if (r->is_new)
        end_new(r, m, outcome, now);
    else
        end_retry(r, outcome);
    r->hits_under_miss += outcome->hit && r->queue.count;
    r->again = look_again(r, !r->is_new && taken, now);
}

/* What is new goes first, and the queue's head when there is nothing new or it must wait: if it is not
 * eligible,
 * it is known that the try would fail, and the cycle changes nothing but the order. */
static const MemMessage *choose(ReexecutionFront *r, const MemMessage *m, uint64_t now) {
    bool has_older = false;
    Outcome blocked = {.stall = m ? what_queue_blocks(r, m, &has_older) : STALL_NONE};
    if (blocked.stall && blocked.stall != cache_of(r)->stall)
        front_looked_up(r->front.object, r->front.source, m, &blocked, now);
    r->is_new = m && !blocked.stall;
    r->has_older = has_older;
    uint64_t with_eligible = r->is_new ? 0 : eligible(r), turn = NEVER;
    if (r->is_new | (with_eligible != 0) | r->tags_held) {
        catch_up(r, object_cycle(&r->front.object->obj, now));
        r->tags_held = 0;
        turn = r->is_new ? now : turn_of(r, with_eligible, now);
    }
    r->again = turn;
    if (turn != now) return NULL;
    return r->is_new ? m : reexecution_head(&r->queue);
}

static const MemMessage *offer(TagFront *front, uint64_t now) {
    ReexecutionFront *r = of(front);
    const MemMessage *m = source_offers(front, now);
    r->again = NEVER;
    return m || r->queue.count ? choose(r, m, now) : NULL;
}

static const MemMessage *next(const TagFront *front) {
    return source_next(front);
}

static uint64_t end_cycle(TagFront *front, uint64_t now) {
    (void)now;
    return of(front)->again;
}

static void settle(TagFront *front, uint64_t cycle) {
    ReexecutionFront *r = of(front);
    if (r->queue.count && cycle > r->queue_cycle) catch_up(r, cycle);
}

uint32_t reexecution_head_warp(const ReexecutionFront *r, uint64_t cycle) {
    if (!r->queue.count) return NO_WARP_WAITS;
    return reexecution_after(&r->queue, r->tags_held ? 0 : cycle - r->queue_cycle)->warp;
}

static bool holds(const TagFront *front, uint32_t sm, uint32_t warp) {
    return reexecution_of_warp(&((const ReexecutionFront *)front)->queue, sm, warp) != NULL;
}

static void visit(const TagFront *front, RequestVisitor *visitor, void *context) {
    const ReexecutionQueue *queue = &((const ReexecutionFront *)front)->queue;
    for (uint64_t rest = queue->taken; rest; rest &= rest - 1)
        visitor(context, front->object->cpu.receive, &queue->access[__builtin_ctzll(rest)]);
}

static uint64_t held(const TagFront *front, uint64_t *answers_due) {
    const ReexecutionQueue *queue = &((const ReexecutionFront *)front)->queue;
    *answers_due = queue->count; /* what needs no answer is not put into it */
    return queue->count;
}

static void is_sound(const TagFront *front) {
    const ReexecutionQueue *queue = &((const ReexecutionFront *)front)->queue;
    for (uint64_t rest = queue->taken; rest; rest &= rest - 1)
        cache_request_is_sound(front->object, &queue->access[__builtin_ctzll(rest)]);
}

static void report(const TagFront *front, FILE *out) {
    const ReexecutionQueue *queue = &((const ReexecutionFront *)front)->queue;
    if (!queue->count) return;
    const MemMessage *m = reexecution_head(queue);
    fprintf(out, "%s: %u accesses in the re-execution queue; the next, at 0x%lx by sm %u warp %u\n",
            object_path(&front->object->obj), queue->count, m->address, m->sm, m->warp);
}

const TagFrontClass reexecution_front = {
    .offer = offer,
    .held_back = held_back,
    .looked_up = looked_up,
    .next = next,
    .set_changed = set_changed,
    .end_cycle = end_cycle,
    .settle = settle,
    .holds = holds,
    .visit = visit,
    .held = held,
    .is_sound = is_sound,
    .report = report,
};
