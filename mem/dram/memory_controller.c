/* One cycle of the controller: finished requests leave, the command planned for this cycle is issued, new
 * requests enter the queue, and the next command is planned. The plan names the first cycle in which any
 * command becomes legal, so the controller sleeps until then or until a request arrives. A request can be
 * served from the cycle after the one in which it entered the queue. */
#include "core/sim/event.h"
#include "mem/dram/memory_controller_state.h"

#include <stdlib.h>

#define ALWAYS_INLINE inline __attribute__((always_inline))

/* `plain` below, a constant where it is inlined: see memory_controller_is_plain(). */
static inline uint32_t queues_of(const MemoryController *mc, bool plain) {
    return plain ? 1 : mc->queues;
}

/* ---- Time ---- */

/* Counts the cycles since the last account, in which as many requests waited as do now, but for what
 * count_waiting() has counted. */
static void account(MemoryController *mc, uint64_t cycle) {
    uint64_t passed = cycle - mc->accounted;
    mc->queue_entry_cycles += passed * mc->waiting;
    mc->queue_full_cycles += passed * mc->port_blocked;
    mc->accounted = mc->cycles = cycle;
}

/* Of requests that leave in this cycle; or enter, with -1: account() will take them for such that waited all the time. */
static inline void count_waiting(MemoryController *mc, uint64_t cycle, uint64_t requests) {
    mc->queue_entry_cycles += (cycle - mc->accounted) * requests;
}

/* Of a request that entered its queue then. */
static inline uint64_t comes_of_age(const MemoryController *mc, uint64_t entered) {
    return mc->age_cap ? entered + mc->age_cap : NEVER;
}

/* ---- Responses ---- */

static void take_return_place(MemoryController *mc, ReturnQueue *returns) {
    uint32_t taken = returns->held + ++returns->promised;
    if (__builtin_expect(taken < mc->return_entries, 1)) return;
    ensure(taken == mc->return_entries);
    mc->full_returns++;
}

/* ---- Commands ---- */

static COLD void make_checker(MemoryController *mc) {
    mc->checker = malloc(sizeof *mc->checker);
    ensure_memory(mc->checker);
    dram_checker_init(mc->checker, &mc->timing);
    for (uint32_t bank = 0; bank < mc->banks; bank++)
        mc->checker->open_row[bank] = mc->dram.banks[bank].open_row;
}

DramChecker *memory_controller_checker(MemoryController *mc) {
    if (!memory_controller_checks(mc)) return NULL;
    if (!mc->checker) make_checker(mc);
    return mc->checker;
}

_Noreturn COLD void memory_controller_violates(const MemoryController *mc, uint32_t command, uint32_t bank,
                                               uint32_t row, uint64_t cycle, const char *violation) {
    panic("%s: command %u to bank %u, row %u, at cycle %lu violates %s", object_path(&mc->obj), command, bank,
          row, cycle, violation);
}

/* The command that is issued now: in words, of which the host takes no bytes apart. */
typedef struct {
    uint32_t rank, bank, row, slot, number; /* number: of the queue */
    DramCommand command;
    DramQueue *queue;
    Request *request;
} Planned;

COLD static void check_command(MemoryController *mc, DramCommand command, uint32_t bank, uint32_t row,
                               uint64_t cycle) {
    const char *violation = dram_checker_command(memory_controller_checker(mc), command, bank, row, cycle);
    if (violation) memory_controller_violates(mc, command, bank, row, cycle, violation);
}

COLD static void emit_served(MemoryController *mc, const Request *request, uint32_t bank, uint32_t row,
                             uint64_t cycle) {
    const MemMessage *m = &request->message;
    event_emit(&mc->obj, MC_SERVED, m->sm, m->warp, m->class_number, m->kind == MEM_WRITE, bank, row,
               (int64_t)(cycle - request->entered), m->pc, request->outcome == ROW_HIT, (int64_t)m->address);
}

COLD static void count_in_bank(BankCounters *counters, uint32_t outcome) {
    counters->requests++;
    counters->row_hits += outcome == ROW_HIT;
    counters->row_misses += outcome == ROW_MISS;
    counters->row_conflicts += outcome == ROW_CONFLICT;
}

/* Its last data leave the pins at `ready`. When it is sent, the link may become full: nothing is done ahead of time behind. */
static inline void hold_response(MemoryController *mc, const Request *request, uint64_t ready,
                                 uint64_t *quiet) {
    ReturnQueue *returns = &mc->returns[request->port];
    *response_at(mc, request->port, returns->held) = (Response){request->message, request->arrived, ready};
    if (__builtin_expect(returns->held == mc->open_places[request->port], 0)) {
        mc->until = earlier_of(mc->until, object_time(&mc->obj, ready) + 1);
        *quiet = earlier_of(*quiet, ready + 1);
    }
    returns->promised--;
    if (!returns->held++) mc->port_due[request->port] = ready;
    audit_enter(&mc->obj, return_queue(request->port), place_index(mc, returns, returns->held - 1));
}

/* By RowOutcome. */
static inline void count_outcome(MemoryController *mc, uint32_t outcome) {
    static const uint16_t counters[] = {offsetof(MemoryController, row_hits),
                                        offsetof(MemoryController, row_misses),
                                        offsetof(MemoryController, row_conflicts)};
    ++*(uint64_t *)((char *)mc + counters[outcome]);
}

/* The last burst is on its way: the request leaves its queue. */
static ALWAYS_INLINE void retire(MemoryController *mc, const Planned *plan, uint64_t cycle, uint64_t *quiet,
                                 bool plain) {
    const Request *request = plan->request;
    count_waiting(mc, cycle, 1);
    count_outcome(mc, request->outcome);
    mc->queue_wait_cycles += cycle - request->entered;
    if (!plain && mc->bank_counters[plan->bank])
        count_in_bank(mc->bank_counters[plan->bank], request->outcome);
    if (!plain && object_has_subscriber(&mc->obj, MC_SERVED))
        emit_served(mc, request, plan->bank, plan->row, cycle);
    if (wants_reply(&request->message))
        hold_response(mc, request, dram_data_end(&mc->timing, plan->command, cycle), quiet);
    dram_queue_remove(plan->queue, plan->rank);
    dram_next_left(&mc->next_command, plan->queue, &mc->dram, &mc->timing, plan->bank, cycle + 1);
    if (--mc->waiting == 0) mc->plan_expires = NEVER;
    audit_leave(&mc->obj, plan->number, plan->slot); /* counts what is left, so it comes last */
}

static ALWAYS_INLINE void column_issued(MemoryController *mc, const Planned *plan, uint64_t cycle,
                                        uint64_t *quiet, bool plain) {
    Request *request = plan->request;
    uint64_t bit = 1ull << plan->rank, *unserved = &plan->queue->unserved_reply;
    uint32_t previous = mc->last_column;
    if (previous != plan->command + 1u) {
        mc->last_column = plan->command + 1u;
        mc->turnarounds += previous != 0;
    }
    mc->data_bus_cycles += mc->timing.burst;
    mc->row_used[plan->bank] = cycle;
    object_progress(&mc->obj); /* opening and closing rows alone is none */
    if (plan->command == DRAM_READ)
        mc->read_commands++;
    else
        mc->write_commands++;
    if (*unserved & bit) take_return_place(mc, &mc->returns[request->port]);
    dram_next_column_issued(&mc->next_command);
    if (--request->bursts_left == 0)
        retire(mc, plan, cycle, quiet, plain);
    else
        *unserved &= ~bit;
    if (!plain && mc->page_policy == PAGE_CLOSED) memory_controller_close_unwanted(mc, plan->bank);
}

static ALWAYS_INLINE void row_command_issued(MemoryController *mc, const Planned *plan, uint64_t cycle,
                                             bool plain) {
    Request *request = plan->request;
    if (plan->command == DRAM_PRECHARGE) {
        mc->precharges++;
        request->outcome = ROW_CONFLICT;
    } else {
        mc->activates++;
        if (!plain && mc->bank_counters[plan->bank]) mc->bank_counters[plan->bank]->activates++;
        if (request->outcome == ROW_HIT) request->outcome = ROW_MISS;
    }
    for (uint32_t q = 0; q < queues_of(mc, plain); q++)
        dram_queue_row_changed(&mc->queue[q], &mc->dram, plan->bank);
    dram_next_row_issued(&mc->next_command, mc->queue, &mc->dram, &mc->timing, plan->command, plan->bank,
                         cycle + 1);
}

static inline Planned planned_command(const MemoryController *mc, DramBest planned, bool plain) {
    uint32_t number = plain ? 0 : dram_best_queue(planned), rank = dram_best_rank(planned);
    DramQueue *queue = &mc->queue[number];
    uint32_t slot = queue->slot[rank];
    return (Planned){.rank = rank,
                     .bank = queue->bank[rank],
                     .row = queue->row[slot],
                     .slot = slot,
                     .number = number,
                     .command = dram_best_command(planned),
                     .queue = queue,
                     .request = request_in(mc, number, slot)};
}

/* *quiet: when it is no longer, if that is sooner now. */
static ALWAYS_INLINE void issue_planned_command(MemoryController *mc, DramBest planned, uint64_t cycle,
                                                uint64_t *quiet, bool plain) {
    if (!plain && __builtin_expect(dram_best_command(planned) == DRAM_REFRESH, 0)) {
        memory_controller_refresh(mc, cycle);
        return;
    }
    const Planned plan = planned_command(mc, planned, plain);
    if (plain ? ALWAYS_CHECKS : memory_controller_checks(mc))
        check_command(mc, plan.command, plan.bank, plan.row, cycle);
    if (dram_is_column(plan.command)) {
        dram_issue_column(&mc->dram, &mc->timing, plan.command, plan.bank, cycle);
        column_issued(mc, &plan, cycle, quiet, plain);
    } else {
        dram_issue_row(&mc->dram, &mc->timing, plan.command, plan.bank, plan.row, cycle);
        if (!plain && dram_spaces_activates(&mc->timing) && plan.command == DRAM_ACTIVATE)
            dram_space_activates(&mc->dram, &mc->timing, plan.bank, cycle);
        row_command_issued(mc, &plan, cycle, plain);
    }
}

/* ---- Arrivals ---- */

static void count_arrival(MemoryController *mc, const MemMessage *message) {
    uint32_t bytes = mem_data_bytes(message);
    if (message->kind != MEM_WRITE) {
        mc->reads++;
        mc->read_bytes += bytes;
        return;
    }
    mc->writes++;
    mc->posted_writes += !wants_reply(message);
    mc->write_bytes += bytes;
}

COLD static void emit_arrived(MemoryController *mc, uint32_t q, uint32_t rank) {
    const DramQueue *queue = &mc->queue[q];
    const MemMessage *m = &request_at(mc, q, rank)->message;
    event_emit(&mc->obj, MC_ARRIVED, m->sm, m->warp, m->class_number, m->kind == MEM_WRITE, queue->bank[rank],
               queue->row[queue->slot[rank]], (int64_t)m->address, mem_data_bytes(m), m->pc);
}

/* Those that hold a byte of what is read or written. */
static inline uint32_t bursts_of(const MemoryController *mc, const MemMessage *m) {
    uint32_t bytes = mc->burst_bytes, bursts = 0;
    if (!m->sectors || bytes <= SECTOR_BYTES) return (mem_data_bytes(m) + bytes - 1) >> __builtin_ctz(bytes);
    for (uint32_t first = 0; first < LINE_BYTES_MAX; first += bytes)
        bursts += (m->sectors & mem_sectors_between(first, bytes)) != 0;
    return bursts;
}

static inline uint32_t rank_of_next(MemoryController *mc, DramQueue *queue) {
    if (__builtin_expect(queue->ranks >> (DRAM_QUEUE_MAX - 1) != 0, 0)) {
        dram_queue_close_gaps(queue);
        dram_next_forget(&mc->next_command);
    }
    return dram_queue_end(queue);
}

static ALWAYS_INLINE void enqueue(MemoryController *mc, uint32_t port, const MemMessage *message,
                                  uint64_t arrived, uint64_t cycle, bool plain) {
    uint32_t bursts = bursts_of(mc, message);
    uint32_t q = plain ? 0 : queue_of(mc, message);
    DramRow location = address_map_row(mc->map, message->address);
    ensure(bursts > 0 && (wants_reply(message) || message->kind == MEM_WRITE));
    if (!plain && !mc->waiting && memory_controller_refreshes(mc)) memory_controller_refresh_idle(mc, cycle);
    if (!plain && mc->page_policy == PAGE_TIMEOUT)
        memory_controller_close_timed_out(mc, location.bank, cycle);
    uint32_t rank = rank_of_next(mc, &mc->queue[q]);
    uint32_t slot = dram_queue_add(&mc->queue[q], &mc->dram, location.bank, location.row,
                                   message->kind == MEM_WRITE, wants_reply(message));
    dram_next_arrived(&mc->next_command, &mc->queue[q], &mc->dram, &mc->timing, rank, cycle + 1);
    Request *request = request_in(mc, q, slot);
    request->message = *message;
    request->arrived = arrived;
    request->entered = cycle;
    request->bursts_left = bursts;
    request->port = (uint16_t)port;
    request->outcome = ROW_HIT;
    if (!plain || mc->plan_expires == NEVER) /* else an older one does so before */
        mc->plan_expires = earlier_of(mc->plan_expires, comes_of_age(mc, cycle));
    count_waiting(mc, cycle, -1ull);
    mc->waiting++;
    mc->urgent += q + 1 < queues_of(mc, plain);
    audit_enter(&mc->obj, q, slot);
    mc->replan = 1;
    count_arrival(mc, message);
    if (!plain && mc->arrivals) mc->arrivals->arrived(mc->arrivals, message);
    if (__builtin_expect(message->kind == MEM_ATOMIC, 0)) perform_atomic(&mc->obj, &mc->view, message);
    if (!plain && object_has_subscriber(&mc->obj, MC_ARRIVED)) emit_arrived(mc, q, rank);
}

static inline bool has_room(const MemoryController *mc, const MemMessage *message, bool plain) {
    return mc->queue[plain ? 0 : queue_of(mc, message)].count < mc->queue_entries;
}

/* Finds a request of a port that is there since `latest` and goes to a queue with room: those for full queues
 * are in no other's way, as if each queue had wires of its own (MeDiC, section 3.4, note 1). NULL when there
 * is none; `later` is then when the next one comes. */
COLD static const MemMessage *bring_forward(const MemoryController *mc, Link *link, uint64_t latest,
                                            uint64_t *later) {
    uint64_t ready = NEVER;
    for (uint64_t i = 1; (ready = link_ready_at(link, i)) <= latest; i++)
        if (has_room(mc, link_message_at(link, i), false)) {
            link_bring_forward(link, i);
            return link_peek(link, latest);
        }
    *later = ready;
    return NULL;
}

static inline uint32_t port_after(const MemoryController *mc, uint32_t port) {
    return (port + 1) & -(uint32_t)(port + 1 != mc->ports);
}

/* At most one request of a port enters. Returns when there may be another to look at; of one that waits for room, in the only
 * queue, never. */
static ALWAYS_INLINE uint64_t accept_from(MemoryController *mc, uint32_t port, uint64_t now, uint64_t cycle,
                                          bool plain) {
    Link *link = mc->cpu[port].receive;
    uint64_t ready = link_next_ready(link), delay = mc->delay;
    if (ready == NEVER) return NEVER;
    if (ready + delay <= now) {
        const MemMessage *message = link_message_at(link, 0);
        if (__builtin_expect(!has_room(mc, message, plain), 0)) {
            uint64_t later = NEVER;
            account(mc, cycle);
            mc->port_blocked = 1;
            if (queues_of(mc, plain) == 1) return NEVER;
            message = bring_forward(mc, link, now - delay, &later);
            if (!message) return later == NEVER ? NEVER : later + delay;
            ready = link_next_ready(link);
        }
        uint64_t arrived = ready + delay == now ? cycle : object_cycle(&mc->obj, ready + delay);
        enqueue(mc, port, message, arrived, cycle, plain);
        link_pop(link, now);
        if (mc->ports > 1) mc->first_port = port_after(mc, port);
        ready = link_next_ready(link);
        if (ready == NEVER) return NEVER;
    }
    return ready + delay > now ? ready + delay : now + mc->obj.period;
}

/* From all ports, the one after that served last first. Requests that wait for room are looked at whenever a command was
 * issued; so with one queue that is full there is nothing to look at until then. */
static ALWAYS_INLINE uint64_t accept_requests(MemoryController *mc, uint64_t now, uint64_t cycle,
                                              bool plain) {
    uint64_t next = NEVER;
    uint32_t port = mc->first_port, left = mc->ports;
    if (mc->port_blocked && queues_of(mc, plain) == 1 && mc->queue[0].count >= mc->queue_entries)
        return NEVER;
    if (mc->port_blocked) account(mc, cycle);
    mc->port_blocked = 0;
    for (;;) {
        next = earlier_of(next, accept_from(mc, port, now, cycle, plain));
        if (--left == 0) break;
        port = port_after(mc, port);
    }
    return mc->port_blocked && queues_of(mc, plain) == 1 ? NEVER : next;
}

/* ---- Planning ---- */

/* Requests whose response would find no place at their port. */
static uint64_t without_return_place(const MemoryController *mc, uint32_t q) {
    uint64_t without = 0;
    for (uint64_t rest = mc->queue[q].unserved_reply; rest; rest &= rest - 1) {
        const ReturnQueue *returns = &mc->returns[request_at(mc, q, (uint32_t)__builtin_ctzll(rest))->port];
        if (returns->held + returns->promised >= mc->return_entries) without |= rest & -rest;
    }
    return without;
}

/* What may be served while the oldest request is over age: nothing of its bank but itself, and nothing in the
 * other direction, so that it waits for bounded timings only. */
static uint64_t with_aged_oldest(const DramQueue *queue) {
    uint64_t same_direction = queue->write & 1 ? queue->write : ~queue->write;
    return (~queue->of_bank[queue->bank[0]] & same_direction) | 1;
}

/* Those of these requests of a queue that may be served. Banks wanted by queues of lower number are not
 * theirs. */
static uint64_t eligible_requests(MemoryController *mc, uint32_t q, uint64_t requests, uint32_t wanted_banks,
                                  uint64_t cycle) {
    const DramQueue *queue = &mc->queue[q];
    uint64_t eligible = requests & (mc->scheduler == SCHEDULE_FCFS ? dram_queue_heads(queue) : queue->ranks);
    for (uint32_t banks = wanted_banks & queue->banks; banks; banks &= banks - 1)
        eligible &= ~queue->of_bank[__builtin_ctz(banks)];
    uint64_t of_age = comes_of_age(mc, request_at(mc, q, 0)->entered);
    bool oldest = eligible & 1, aged = of_age <= cycle;
    mc->differ |= !oldest | aged;
    if (oldest && !aged) mc->plan_expires = earlier_of(mc->plan_expires, of_age);
    return oldest && aged ? eligible & with_aged_oldest(queue) : eligible;
}

/* A request of a later queue that has had some of its bursts may hold the place for a response that these
 * lack: the bank that it needs for the others must not be reserved for those without one. */
static uint32_t banks_of(const DramQueue *queue, uint64_t requests) {
    uint32_t banks = queue->banks;
    for (uint32_t rest = banks; rest; rest &= rest - 1)
        if (!(queue->of_bank[__builtin_ctz(rest)] & requests)) banks &= ~(rest & -rest);
    return banks;
}

/* Those that policies want to be served; all of them when no policy answers. */
COLD static uint64_t picked_requests(MemoryController *mc, uint32_t q, uint64_t eligible) {
    const DramQueue *queue = &mc->queue[q];
    int64_t answer = event_ask(&mc->obj, MC_PICK, q, (int64_t)eligible, (int64_t)(eligible & queue->row_hit),
                               (int64_t)(eligible & queue->write));
    uint64_t picked = answer == NO_ANSWER ? eligible : (uint64_t)answer;
    mc->left_out[q] = eligible & ~picked;
    return picked;
}

static void close_gaps(MemoryController *mc) {
    for (uint32_t q = 0; q < mc->queues; q++)
        if (dram_queue_has_gaps(&mc->queue[q])) dram_queue_close_gaps(&mc->queue[q]);
}

/* Where not all requests may be served, or nobody has looked yet. */
static __attribute__((noinline)) DramBest choose_among_eligible(MemoryController *mc, uint64_t cycle) {
    uint32_t wanted_banks = 0;
    DramBest best = DRAM_NONE;
    close_gaps(mc);
    dram_next_forget(&mc->next_command);
    mc->plan_expires = NEVER;
    mc->differ = mc->queues > 1 || mc->scheduler == SCHEDULE_FCFS;
    for (uint32_t q = 0; q < mc->queues && dram_best_cycle(best) > cycle + 1; q++) {
        const DramQueue *queue = &mc->queue[q];
        if (!queue->count) continue;
        uint64_t placed = mc->full_returns ? ~without_return_place(mc, q) : ~0ull;
        if (memory_controller_keeps_back(mc, cycle + 1)) placed &= ~queue->of_bank[mc->refresh_bank];
        uint64_t eligible = eligible_requests(mc, q, placed, wanted_banks, cycle);
        if (object_has_subscriber(&mc->obj, MC_PICK) && eligible) eligible = picked_requests(mc, q, eligible);
        best = dram_queue_choose(queue, q, &mc->dram, &mc->timing, eligible, cycle + 1, best);
        wanted_banks |= mc->full_returns ? banks_of(queue, placed) : queue->banks;
    }
    return best;
}

/* Of one bank: others go on until it can be closed. What is not legal before the refresh is due is planned again then. */
static DramBest refresh_bank_instead_of(MemoryController *mc, DramBest best, uint64_t floor) {
    if (!memory_controller_keeps_back(mc, floor)) {
        mc->plan_expires = earlier_of(mc->plan_expires, mc->refresh_due - 1);
        return DRAM_NONE;
    }
    if (dram_choice_of(best, mc->queue).bank == mc->refresh_bank) best = choose_among_eligible(mc, floor - 1);
    DramChoice refresh = memory_controller_refresh_choice(mc, floor);
    return refresh.cycle <= dram_best_cycle(best) ? dram_best_of(&refresh) : best;
}

/* The refresh that is due goes before all that is not legal before; what waits for it in vain is searched for again. */
static __attribute__((noinline)) DramBest refresh_instead_of(MemoryController *mc, DramBest best,
                                                             uint64_t floor) {
    if (!mc->waiting || !memory_controller_refreshes(mc)) return best;
    dram_next_forget(&mc->next_command);
    if (mc->refresh == REFRESH_BANK) return refresh_bank_instead_of(mc, best, floor);
    DramChoice refresh = memory_controller_refresh_choice(mc, floor);
    return dram_best_of(&refresh);
}

/* May all requests of the only queue be served, and policies are not asked? */
static ALWAYS_INLINE bool all_are_eligible(const MemoryController *mc, uint64_t cycle, bool plain) {
    uint32_t subscribed = plain ? 0 : mc->obj.subscribed;
    return (mc->differ | mc->full_returns | subscribed) == 0 && mc->plan_expires > cycle;
}

static ALWAYS_INLINE DramBest plan_next_command(MemoryController *mc, uint64_t cycle, bool alike,
                                                bool plain) {
    DramBest best = __builtin_expect(alike, 1)
                        ? dram_next_choose(&mc->next_command, mc->queue, &mc->dram, &mc->timing, cycle + 1)
                        : choose_among_eligible(mc, cycle);
    debug_ensure(!alike || best == dram_queue_choose(mc->queue, 0, &mc->dram, &mc->timing, mc->queue->ranks,
                                                     cycle + 1, DRAM_NONE));
    return !plain && __builtin_expect(dram_best_cycle(best) >= mc->refresh_due, 0)
               ? refresh_instead_of(mc, best, cycle + 1)
               : best;
}

/* ---- The cycle ---- */

/* After so many more messages the link is still not full: so it does not wake the controller when it loses one. Less than 0:
 * it may be full. */
static inline int64_t open_places(const Link *link) {
    return (int64_t)link->depth - (int64_t)(link->pushed - link->popped_seen) - link->width - 1;
}

/* Until when nobody can see when the controller does something, all that reaches it is in its links already, which cannot
 * fill, and neither can the room for responses. 0: the present cycle is done alone. */
static uint64_t unseen_until(MemoryController *mc, uint64_t now) {
    uint64_t until = mc->response_blocked ? 0 : object_unseen_until(&mc->obj);
    for (uint32_t port = 0; port < mc->ports; port++) {
        const Link *link = mc->cpu[port].receive;
        const ReturnQueue *returns = &mc->returns[port];
        int64_t open = open_places(mc->cpu[port].send);
        mc->open_places[port] = (uint64_t)open;
        if (open < 0 || returns->held + returns->promised + mc->places_in_quantum >= mc->return_entries)
            return 0;
        if (returns->held > (uint64_t)open)
            until = earlier_of(until,
                               object_time(&mc->obj, response_at(mc, port, (uint32_t)open)->ready) + 1);
        if (link_is_cut(link)) continue;
        if (mc->queues > 1) return 0; /* what comes may pass by what waits for room */
        if (link_occupancy(link, now) + mc->pushes[port] >= link->depth) return 0;
    }
    return earlier_of(until, now + mc->soonest);
}

/* When there is something to do again, what has come into a link since the last cycle that was done included. */
static uint64_t next_of_done(const MemoryController *mc) {
    uint64_t next = mc->next, delay = mc->delay;
    for (uint32_t port = 0; port < mc->ports; port++) {
        uint64_t ready = link_next_ready(mc->cpu[port].receive);
        if (ready != NEVER && ready + delay >= mc->done_before) next = earlier_of(next, ready + delay);
    }
    return next;
}

/* The cycle from which on there may be more to do than the planned commands. A request that waits for room may find some
 * behind any of them. 0: a cycle that is done alone, which may lie before the clock's first edge. */
static inline uint64_t quiet_until(const MemoryController *mc, uint64_t arrives) {
    if (!mc->until || mc->port_blocked) return 0;
    uint64_t quiet = memory_controller_cycle_from(mc, earlier_of(arrives, mc->until));
    return earlier_of(quiet, mc->plan_expires);
}

/* Of a cycle, or DRAM_NO_CYCLE or more, and a time. */
static inline uint64_t first_time_of(const MemoryController *mc, uint64_t cycle, uint64_t time) {
    return cycle >= DRAM_NO_CYCLE ? time : earlier_of(time, object_time(&mc->obj, cycle));
}

/* What there is to do beside the planned command. Returns whether there is to be another plan. */
static ALWAYS_INLINE bool do_arrivals(MemoryController *mc, uint64_t now, uint64_t cycle, uint64_t *arrives,
                                      bool plain) {
    if (now >= *arrives || mc->port_blocked) *arrives = accept_requests(mc, now, cycle, plain);
    bool stale = mc->replan || cycle >= mc->plan_expires;
    mc->replan = 0;
    return stale;
}

/* From `now` on, as long as nobody sees it. While it is quiet, only commands are issued; responses are sent at the end. */
static ALWAYS_INLINE void do_cycles(MemoryController *mc, uint64_t now, bool plain) {
    uint64_t arrives = 0, quiet = 0, next, cycle = object_cycle(&mc->obj, now);
    DramBest plan = dram_best_of(&mc->plan);
    bool alike = false; /* true while it is quiet */
    memory_controller_begin_responses(mc, now, cycle);
    mc->until = unseen_until(mc, now);
    for (;;) {
        bool eventful = cycle >= quiet, stale = dram_best_cycle(plan) == cycle;
        debug_ensure(dram_best_cycle(plan) >= cycle);
        if (stale) issue_planned_command(mc, plan, cycle, &quiet, plain);
        if (eventful) {
            stale |= do_arrivals(mc, now, cycle, &arrives, plain);
            alike = all_are_eligible(mc, cycle, plain);
            quiet = alike ? quiet_until(mc, arrives) : 0;
        }
        if (!plain) alike = all_are_eligible(mc, cycle, false);
        if (stale) plan = plan_next_command(mc, cycle, alike, plain);
        if (!plain) quiet = alike ? earlier_of(quiet, mc->plan_expires) : 0;
        uint64_t planned = dram_best_cycle(plan);
        if (planned < quiet) {
            cycle = planned;
            continue;
        }
        now = later_of(now, object_time(&mc->obj, cycle));
        next = first_time_of(mc, earlier_of(planned, mc->plan_expires), arrives);
        if (next >= mc->until) break;
        cycle = object_cycle(&mc->obj, now = next);
    }
    memory_controller_send_responses(mc, mc->until);
    mc->plan = dram_choice_of(plan, mc->queue);
    mc->next = first_time_of(mc, mc->response_due, next);
    mc->done_before = now + 1;
}

/* A function of its own, as the compiler takes one of both for rare otherwise. */
static __attribute__((noinline)) void do_cycles_of_any(MemoryController *mc, uint64_t now) {
    do_cycles(mc, now, false);
}

uint64_t memory_controller_tick(SimObject *object, uint64_t now) {
    MemoryController *mc = (MemoryController *)object;
    if (__builtin_expect(now < mc->done_before, 0)) return next_of_done(mc);
    if (memory_controller_is_plain(mc))
        do_cycles(mc, now, true);
    else
        do_cycles_of_any(mc, now);
    return mc->next;
}

void memory_controller_settle(SimObject *object, uint64_t now) {
    MemoryController *mc = (MemoryController *)object;
    uint64_t cycle = later_of(object_cycle(object, now), mc->accounted);
    account(mc, cycle);
    if (!mc->waiting && memory_controller_refreshes(mc)) memory_controller_refresh_idle(mc, cycle);
    memory_controller_close_all_timed_out(mc, cycle);
}
