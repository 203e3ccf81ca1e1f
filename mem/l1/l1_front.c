/* What stands in front of an L1's tags: which access they look up in a cycle, and where one goes that the
 * cache does not take.
 *
 * Mascar (section III) asks three things of it: to say when it is nearly full of misses, to refuse the misses
 * of warps that do not own the memory (a negative acknowledgement), and a re-execution queue (Fig. 8). In the
 * paper the queue stands beside the load/store unit, which learns in the same cycle whether the cache takes
 * an access. Here the unit and the tags are objects apart, and whatever passes between objects takes a cycle
 * at least; with the answers that way, every warp would have to hold its next access back until the last one
 * is known to be taken. So the queue stands where that is known, in front of the tags: the links and the
 * pipeline before it are the unit's last stages, and an access that goes into the queue makes room in them.
 * The prioritization buffer of MRPB, which orders what comes to the tags, stands there for the same reason.
 */
#include "mem/l1/l1_cache.h"

/* The prioritization buffer. */

/* What is new at the tags joins its warp's queue in the buffer, where there is one, if that has a place.
 * Returns what the tags shall look up, or NULL. */
static ATTENTIVE const MemMessage *take_turns(L1Cache *l1, const MemMessage *m) {
    if (m && prioritization_has_place(&l1->buffer, m)) {
        audit_enter(&l1->obj, QUEUE_PRIORITIZATION, prioritization_push(&l1->buffer, m));
        audit_leave(&l1->obj, QUEUE_PIPELINE, delay_queue_pop(&l1->cache.pipeline));
        l1->cache.put_aside++;
    }
    return prioritization_next(&l1->buffer);
}

/* The new access whose turn it is; there must be one. */
static const MemMessage *new_access(const L1Cache *l1) {
    const DelayQueue *pipeline = &l1->cache.pipeline;
    return l1->buffer.places ? prioritization_next(&l1->buffer) : &pipeline->message[pipeline->first];
}

static void end_new_access(L1Cache *l1, const MemMessage *m, Stall stall, uint64_t now) {
    if (!l1->buffer.places) {
        cache_end_access((CacheObject *)l1, stall, now);
        return;
    }
    cache_note_stall((CacheObject *)l1, m, stall, now);
    if (stall) return;
    audit_leave(&l1->obj, QUEUE_PRIORITIZATION, prioritization_pop(&l1->buffer));
    l1->cache.put_aside--;
}

/* The re-execution queue. */

/* The access is fine, but what it needs in this very cycle is busy. */
static bool is_hold(Stall stall) {
    return stall == STALL_RESPONSE || stall == STALL_DATA_PORT;
}
static bool is_refusal(Stall stall) {
    return stall != STALL_NONE && !is_hold(stall);
}

/* Brings the queue up to the beginning of `cycle`: in each cycle in which the tags were not used it turned by
 * one. */
static void catch_up(L1Cache *l1, uint64_t cycle) {
    bool turned = (l1->queue.count != 0) & !l1->tags_held;
    uint64_t turns = (cycle - l1->queue_cycle) & -(uint64_t)turned;
    l1->queue_cycle = cycle;
    l1->retries += turns;
    reexecution_turn(&l1->queue, turns);
}

static uint32_t set_of(const L1Cache *l1, const MemMessage *m) {
    return tag_set(&l1->cache.tags.shape, m->address);
}

/* Knobs of which access_request() makes what is taken depend, beside the sets of warps. */
static uint32_t switches(const L1Cache *l1) {
    return l1->enabled | l1->bypass_line_fails << 1;
}

void l1_front_knobs_set(L1Cache *l1) {
    reexecution_permit(&l1->queue, l1->may_miss);
    if (l1->may_allocate == l1->may_allocate_seen && switches(l1) == l1->switches_seen) return;
    reexecution_forget_lacks(&l1->queue);
    l1->may_allocate_seen = l1->may_allocate;
    l1->switches_seen = switches(l1);
}

static inline uint64_t hopeful(const L1Cache *l1) {
    return reexecution_hopeful(&l1->queue, !mshr_full(&l1->cache.mshr), cache_miss_queue_room(&l1->cache));
}

static Lack lack_of(const L1Cache *l1, Stall stall) {
    bool may_pass = l1->bypass_line_fails || object_is_heard(&l1->obj, CACHE_ASK_BYPASS);
    bool needs_mshr = l1->needs_mshr && !may_pass;
    if (stall == STALL_MSHR_ENTRY) return needs_mshr ? LACKS_MSHR_AND_PERMISSION : LACKS_MSHR;
    if (stall == STALL_LINE) return LACKS_WAY;
    if (stall == STALL_REFUSED) return needs_mshr ? LACKS_MSHR_AND_PERMISSION : LACKS_PERMISSION;
    return stall == STALL_MISS_QUEUE || stall == STALL_PASSING ? LACKS_ROOM : LACKS_CHANGE;
}

static void put_aside(L1Cache *l1, const MemMessage *m, Stall stall) {
    uint32_t place = reexecution_push(&l1->queue, m, set_of(l1, m), lack_of(l1, stall));
    audit_enter(&l1->obj, QUEUE_REEXECUTION, place);
    l1->cache.put_aside++;
    l1->pushes++;
    l1->refusals += stall == STALL_REFUSED;
}

static void take_head(L1Cache *l1) {
    audit_leave(&l1->obj, QUEUE_REEXECUTION, reexecution_pop(&l1->queue));
    l1->cache.put_aside--;
}

/* An access of another instruction of the warp that is in the queue, or NULL. */
static const MemMessage *older_in_queue(L1Cache *l1, const MemMessage *m) {
    const MemMessage *other = reexecution_of_warp(&l1->queue, m->sm, m->warp);
    return other && other->token != m->token ? other : NULL;
}

/* Why a new request must wait for the queue. One that is switched off is emptied first, and one that holds
 * more than it may, on a changed machine, until it no longer does. When it is full, a
 * new request still has its look at the tags (Fig. 7: W1 hits): it waits when it is not taken. A warp has one
 * instruction in the queue, so that what it stores and then loads stays in order: the next must wait in front
 * of the tags. Only a load behind a load is let through, to hit or to miss; it waits when it is not taken.
 * `has_older`: what is let through has one in the queue. */
static Stall what_queue_blocks(L1Cache *l1, const MemMessage *m, bool *has_older) {
    const ReexecutionQueue *queue = &l1->queue;
    *has_older = false;
    if (!queue->count) return STALL_NONE;
    if (!l1->reexecution | (queue->count > queue->entries)) return STALL_QUEUE_FULL;
    if (reexecution_full(queue) & (l1->cache.stall == STALL_QUEUE_FULL)) return STALL_QUEUE_FULL;
    const MemMessage *older = older_in_queue(l1, m);
    *has_older = older != NULL;
    bool loads = older && older->kind == MEM_READ && m->kind == MEM_READ;
    return older && (!loads || l1->cache.stall == STALL_ORDER) ? STALL_ORDER : STALL_NONE;
}

/* The tags were used in this cycle: the queue had its turn, which was a retry or none. A new access that
 * wants no answer does not go into the queue, and is looked up until it is taken. */
static void end_turn(L1Cache *l1, const MemMessage *m, bool is_new, Stall stall) {
    bool stays = is_new && stall != STALL_NONE && (m->flags & MEM_POSTED);
    l1->queue_cycle++;
    l1->tags_held = is_hold(stall) || stays;
}

static void end_retry(L1Cache *l1, Stall stall) {
    l1->retries += !l1->tags_held;
    if (stall == STALL_NONE)
        take_head(l1);
    else if (!l1->tags_held)
        reexecution_fail(&l1->queue, lack_of(l1, stall));
}

static void end_new(L1Cache *l1, const MemMessage *m, bool has_older, Stall stall, uint64_t now) {
    bool wanted = is_refusal(stall) && l1->queue.entries && l1->reexecution && !(m->flags & MEM_POSTED);
    if (wanted && has_older) {
        stall = STALL_ORDER;
    } else if (wanted && reexecution_full(&l1->queue)) {
        stall = STALL_QUEUE_FULL;
    } else if (wanted) {
        put_aside(l1, m, stall);
        stall = STALL_NONE;
    }
    end_new_access(l1, m, stall, now);
}

/* When it is the turn of one of these, if that of the head is at `now`. */
static uint64_t turn_of(const L1Cache *l1, uint64_t with_hope, uint64_t now) {
    return with_hope ? now + reexecution_turns_to(&l1->queue, with_hope) * l1->cache.period : NEVER;
}

/* When to look at the queue again after a try. What waits in front of the tags for room in it need not be
 * looked at while nobody has `left`; then it may go on, or wait for another reason. */
static uint64_t next_retry(L1Cache *l1, bool left, uint64_t now) {
    const Cache *c = &l1->cache;
    uint64_t soon = now + c->period;
    bool blocked = c->stall == STALL_QUEUE_FULL || c->stall == STALL_ORDER;
    bool has_older;
    if (blocked && left && what_queue_blocks(l1, new_access(l1), &has_older) != (Stall)c->stall) return soon;
    if (!l1->queue.count) return NEVER;
    if (l1->tags_held) return link_can_send(l1->cpu.send, now) ? soon : link_space_time(l1->cpu.send, now);
    return turn_of(l1, hopeful(l1), soon);
}

/* Data that cannot be reached (Mascar, Fig. 5): is there, behind an access that the cache does not take, one
 * of another warp that would hit? */
static bool hit_is_blocked(const L1Cache *l1) {
    const DelayQueue *queue = &l1->cache.pipeline;
    if (!is_refusal((Stall)l1->cache.stall)) return false;
    const MemMessage *head = new_access(l1);
    for (uint32_t i = l1->buffer.places ? 0 : 1; i < queue->count; i++) {
        const MemMessage *m = &queue->message[(queue->first + i) & (queue->slots - 1)];
        if (m->kind != MEM_READ || m->flags & MEM_BYPASS_L1 || (m->warp == head->warp && m->sm == head->sm))
            continue;
        Lookup at = cache_lookup(&l1->cache, m, m->address);
        if (cache_holds(&l1->cache, &at)) return true;
    }
    return false;
}

static void count_blocked_hit_until(L1Cache *l1, uint64_t cycle) {
    if (l1->blocked_hit) l1->blocked_hit_cycles += cycle - l1->blocked_hit_since;
    l1->blocked_hit_since = cycle;
}

static void watch_blocked_hits(L1Cache *l1, uint64_t now) {
    count_blocked_hit_until(l1, object_cycle(&l1->obj, now));
    l1->blocked_hit = hit_is_blocked(l1);
}

/* What stands in front of a full queue gets its place when something leaves. */
static uint64_t next_turn(const L1Cache *l1, uint64_t now) {
    const Cache *c = &l1->cache;
    const DelayQueue *pipeline = &c->pipeline;
    if (!l1->buffer.places) return NEVER;
    uint64_t soon = now + c->period;
    if (l1->buffer.count && c->stall == STALL_NONE) return soon;
    if (pipeline->count && prioritization_has_place(&l1->buffer, &pipeline->message[pipeline->first])) {
        uint64_t ready = pipeline->ready[pipeline->first];
        return ready > soon ? ready : soon;
    }
    if (c->stall != STALL_RESPONSE) return NEVER;
    return link_can_send(l1->cpu.send, now) ? soon : link_space_time(l1->cpu.send, now);
}

/* Whether a hit is blocked is looked at when everything of the cycle has happened: it holds until the next
 * tick. */
ATTENTIVE uint64_t l1_end_cycle(L1Cache *l1, uint64_t now) {
    if (l1->watch_blocked_hits) watch_blocked_hits(l1, now);
    return next_turn(l1, now);
}

/* Will the cache be awake in the next cycle in any case? */
static bool stays_awake(const L1Cache *l1, uint64_t soon) {
    const DelayQueue *pipeline = &l1->cache.pipeline;
    return l1->cache.stall == STALL_NONE && pipeline->count && pipeline->ready[pipeline->first] <= soon;
}

static uint64_t look_again(L1Cache *l1, bool left, uint64_t now) {
    uint64_t soon = now + l1->cache.period;
    return stays_awake(l1, soon) ? soon : next_retry(l1, left || l1->buffer.places, now);
}

/* An access that was taken has a line reserved or dropped one, as writes may. Sets of the same low bits are
 * not told from each other there. */
static void note_change(L1Cache *l1, const MemMessage *m) {
    const TagArray *tags = &l1->cache.tags;
    l1_set_has_changed(l1, m);
    if (!l1->queue.wants_way || tags->shape.sets > REEXECUTION_SETS) return;
    if (tag_victim(tags, set_of(l1, m)) == NO_LINE) reexecution_set_is_full(&l1->queue, set_of(l1, m));
}

/* The tags look up an access, a new one or the queue's head. `has_older`: see what_queue_blocks(). */
static ATTENTIVE __attribute__((flatten)) uint64_t look_up(L1Cache *l1, const MemMessage *m, bool is_new,
                                                           bool has_older, uint64_t now) {
    uint64_t hits = l1->cache.stats.results[RESULT_HIT];
    Stall stall = l1_access(l1, m, now);
    bool hit = l1->cache.stats.results[RESULT_HIT] != hits;
    end_turn(l1, m, is_new, stall);
    if (stall == STALL_NONE && (!hit || m->kind != MEM_READ)) note_change(l1, m);
    if (is_new)
        end_new(l1, m, has_older, stall, now);
    else
        end_retry(l1, stall);
    l1->hits_under_miss += hit && l1->queue.count;
    if (stall == STALL_NONE) l1_note_taken(l1, m);
    return look_again(l1, !is_new && stall == STALL_NONE, now);
}

/* What is new goes first, and the queue's head when there is nothing new or it must wait: if it has no hope,
 * it is known that the try would fail, and the cycle changes nothing but the order. */
static uint64_t take_cycle(L1Cache *l1, const MemMessage *m, uint64_t now) {
    if (l1->buffer.places) m = take_turns(l1, m);
    bool has_older = false;
    Stall blocked = m ? what_queue_blocks(l1, m, &has_older) : STALL_NONE;
    if (blocked && blocked != l1->cache.stall) end_new_access(l1, m, blocked, now);
    bool is_new = m && !blocked;
    uint64_t with_hope = is_new ? 0 : hopeful(l1), turn = NEVER;
    if (is_new | (with_hope != 0) | l1->tags_held) {
        catch_up(l1, object_cycle(&l1->obj, now));
        l1->tags_held = 0;
        turn = is_new ? now : turn_of(l1, with_hope, now);
    }
    if (turn == now) return look_up(l1, is_new ? m : reexecution_head(&l1->queue), is_new, has_older, now);
    return turn;
}

/* Apart from look_up(): with accesses in the queue there are many cycles in which nobody uses the tags. */
ATTENTIVE __attribute__((flatten)) uint64_t l1_attend(L1Cache *l1, uint64_t now) {
    const MemMessage *m = cache_request_at_tags(&l1->cache, now);
    bool idle = !m && !l1->queue.count && !l1->buffer.places;
    return idle ? NEVER : take_cycle(l1, m, now);
}

void l1_settle_front(L1Cache *l1, uint64_t cycle) {
    if (l1->queue.count && cycle > l1->queue_cycle) catch_up(l1, cycle);
    count_blocked_hit_until(l1, cycle);
}

uint32_t l1_reexecution_head(const SimObject *object) {
    ensure(object->class == &l1_class);
    const L1Cache *l1 = (const L1Cache *)object;
    bool at_boundary = object_now(object) > object->cluster->now; /* then that cycle has not begun */
    uint64_t cycle = object_cycle(object, object_now(object)) + !at_boundary;
    if (!l1->queue.count) return NO_WARP_WAITS;
    return reexecution_after(&l1->queue, l1->tags_held ? 0 : cycle - l1->queue_cycle)->warp;
}

bool l1_holds(SimObject *object, uint32_t sm, uint32_t warp) {
    ensure(object->class == &l1_class);
    L1Cache *l1 = (L1Cache *)object;
    const DelayQueue *queue = &l1->cache.pipeline;
    if (reexecution_of_warp(&l1->queue, sm, warp)) return true;
    if (l1->buffer.count && prioritization_holds(&l1->buffer, sm, warp)) return true;
    for (uint32_t i = queue->first, end = i + queue->count; i != end; i++) {
        const MemMessage *m = &queue->message[i & (queue->slots - 1)];
        if (m->warp == warp && m->sm == sm) return true;
    }
    return false;
}
