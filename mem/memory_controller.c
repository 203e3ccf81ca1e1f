/* One cycle of the controller: finished requests leave, the command planned for this cycle is issued, new
 * requests enter the queue, and the next command is planned. The plan names the first cycle in which any
 * command becomes legal, so the controller sleeps until then or until a request arrives. A request can be
 * served from the cycle after the one in which it entered the queue. */
#include "mem/memory_controller.h"

#include "core/sim/event.h"
#include "mem/address_map.h"
#include "mem/class_table.h"
#include "mem/dram_checker.h"
#include "mem/dram_queue.h"
#include "mem/memory_protocol.h"

#include <stdlib.h>

enum { SCHEDULE_FRFCFS, SCHEDULE_FCFS };

enum { PORTS_MAX = 16, QUEUES_MAX = 8, RETURN_ENTRIES_MAX = 16384 };

typedef enum { MC_PICK } McEvent;

/* What a request met at its bank: its row open, no row open, another row open. */
typedef enum { ROW_HIT, ROW_MISS, ROW_CONFLICT } RowOutcome;

typedef struct {
    MemMessage message;
    uint64_t arrived; /* cycle in which it could have entered the queue, had there been room */
    uint64_t entered; /* cycle in which it did                                               */
    uint32_t bursts_left;
    uint16_t port;
    uint8_t outcome; /* RowOutcome */
    uint8_t reserved;
} Request;

typedef struct {
    MemMessage message;
    uint64_t arrived;
    uint64_t ready; /* cycle in which the data are there */
} Response;

/* A port's ring of responses. Places are taken before the first burst is issued, so that data never wait on
 * the bus. */
typedef struct {
    uint32_t first, held;
    uint32_t promised; /* places taken by requests under way */
    uint32_t reserved;
} ReturnQueue;

typedef struct {
    SimObject obj;
    char *class_queues;
    uint32_t ports, queues, queue_entries, return_entries, scheduler, latency, age_cap;
    uint32_t banks, bank_groups, group_bits;
    uint32_t bus_bytes, burst_bytes;
    uint32_t tCL, tWL, tRCD, tRP, tRC, tRAS, tRRD, tCCD, tCCDL, tWR, tCDLR, tRTPL;
    uint32_t check_commands;
    uint32_t request_slots, return_slots; /* in all queues, in all ports */
    DramTiming timing;
    Port *cpu;

    Dram dram;
    DramQueue *queue;     /* queues                                          */
    Request *requests;    /* request_slots: queue * queue_entries + slot     */
    ReturnQueue *returns; /* ports                                           */
    Response *responses;  /* return_slots: port * return_entries + place     */
    DramChoice plan;
    uint64_t plan_expires; /* cycle in which a request passes age_cap         */
    uint64_t accounted;    /* cycle up to which the per-cycle counters are kept */
    uint32_t waiting;      /* requests in all queues                          */
    uint32_t first_port;   /* is served first when requests enter             */
    uint32_t full_returns; /* ports without room for another response         */
    uint32_t port_blocked; /* a request waits at a port for room in its queue */
    uint32_t replan;
    uint32_t last_column; /* command, 1 + DramCommand                        */
    ClassTable queue_of_class;

    uint64_t reads, writes, posted_writes, urgent, read_bytes, write_bytes;
    uint64_t read_commands, write_commands, activates, precharges;
    uint64_t row_hits, row_misses, row_conflicts;
    uint64_t turnarounds, data_bus_cycles, queue_full_cycles, queue_entry_cycles, queue_wait_cycles;
    uint64_t read_latency_cycles, reads_answered, writes_answered;
    uint64_t cycles;

    const AddressMap *map;
    DramChecker *checker;
} MemoryController;

static inline uint64_t earlier(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* ---- Building ---- */

static void check_shape(const MemoryController *mc) {
    const char *path = object_path(&mc->obj);
    if (mc->bank_groups > mc->banks)
        user_error("%s.bank_groups: %u; legal is at most the %u banks", path, mc->bank_groups, mc->banks);
    if (mc->burst_bytes < mc->bus_bytes)
        user_error("%s.burst_bytes: %u is less than the %u bytes that the bus moves in a cycle", path,
                   mc->burst_bytes, mc->bus_bytes);
    if (mc->tCCD < mc->burst_bytes / mc->bus_bytes)
        user_error("%s.tCCD: %u; a burst holds the bus for burst_bytes / bus_bytes = %u cycles", path,
                   mc->tCCD, mc->burst_bytes / mc->bus_bytes);
    if (mc->tCCDL < mc->tCCD)
        user_error("%s.tCCDL: %u; within a bank group it is at least tCCD = %u", path, mc->tCCDL, mc->tCCD);
}

static void memory_controller_build(SimObject *object) {
    MemoryController *mc = (MemoryController *)object;
    check_shape(mc);
    mc->request_slots = mc->queues * mc->queue_entries;
    mc->return_slots = mc->ports * mc->return_entries;
    mc->timing = (DramTiming){
        .tCL = mc->tCL,
        .tWL = mc->tWL,
        .tRCD = mc->tRCD,
        .tRP = mc->tRP,
        .tRC = mc->tRC,
        .tRAS = mc->tRAS,
        .tRRD = mc->tRRD,
        .tCCD = mc->tCCD,
        .tCCDL = mc->tCCDL,
        .tWR = mc->tWR,
        .tCDLR = mc->tCDLR,
        .tRTPL = mc->tRTPL,
        .burst = mc->burst_bytes / mc->bus_bytes,
        .banks = mc->banks,
        .bank_groups = mc->bank_groups,
    };
    dram_timing_derive(&mc->timing, (DramGroupBits)mc->group_bits);
    dram_reset(&mc->dram);
    mc->plan = DRAM_NO_CHOICE;
    mc->plan_expires = NEVER;
}

/* The classes' own numbers are their queues, unless class_queues says otherwise. */
static void read_class_queues(MemoryController *mc) {
    for (uint32_t i = 0; i < CLASSES; i++)
        mc->queue_of_class.of[i] = (uint8_t)(i < mc->queues ? i : mc->queues - 1);
    class_table_read(&mc->queue_of_class, &mc->obj, "class_queues", mc->class_queues, mc->queues - 1);
}

static uint64_t queue_length(const SimObject *object, uint32_t queue) {
    const MemoryController *mc = (const MemoryController *)object;
    return queue < QUEUES_MAX ? mc->queue[queue].count : mc->returns[queue - QUEUES_MAX].held;
}

static void memory_controller_init(SimObject *object) {
    MemoryController *mc = (MemoryController *)object;
    free(mc->checker);
    mc->checker = NULL;
    mc->map = address_map_find(object);
    read_class_queues(mc);
    for (uint32_t q = 0; q < mc->queues; q++)
        audit_queue(object, q, "requests for the channel", QUEUE_TABLE, DRAM_QUEUE_MAX, queue_length);
    for (uint32_t port = 0; port < mc->ports; port++)
        audit_queue(object, QUEUES_MAX + port, "responses", QUEUE_FIFO, mc->return_entries, queue_length);
}

static void memory_controller_destroy(SimObject *object) {
    free(((MemoryController *)object)->checker);
}

/* ---- Responses ---- */

/* A port's ring among the queues of the object, of which the first are the request queues. */
static inline uint32_t return_queue(uint32_t port) {
    return QUEUES_MAX + port;
}

static inline uint32_t place_index(const MemoryController *mc, const ReturnQueue *returns, uint32_t place) {
    uint32_t index = returns->first + place;
    return index >= mc->return_entries ? index - mc->return_entries : index;
}

static inline Response *response_at(const MemoryController *mc, uint32_t port, uint32_t place) {
    return &mc->responses[port * mc->return_entries + place_index(mc, &mc->returns[port], place)];
}

static void take_return_place(MemoryController *mc, ReturnQueue *returns) {
    returns->promised++;
    ensure(returns->held + returns->promised <= mc->return_entries);
    mc->full_returns += returns->held + returns->promised == mc->return_entries;
}

static void free_return_place(MemoryController *mc, ReturnQueue *returns) {
    if (returns->held + returns->promised == mc->return_entries) {
        mc->full_returns--;
        mc->replan = 1;
    }
    returns->held--;
    audit_leave(&mc->obj, return_queue((uint32_t)(returns - mc->returns)), returns->first);
    if (++returns->first == mc->return_entries) returns->first = 0;
}

static void send_response(MemoryController *mc, uint32_t port, const Response *response, uint64_t now,
                          uint64_t cycle) {
    *(MemMessage *)link_send(mc->cpu[port].send, now) = response->message;
    if (response->message.kind == MEM_READ) {
        mc->reads_answered++;
        mc->read_latency_cycles += cycle - response->arrived;
    } else {
        mc->writes_answered++;
    }
}

static void send_responses(MemoryController *mc, uint64_t now, uint64_t cycle) {
    for (uint32_t port = 0; port < mc->ports; port++) {
        ReturnQueue *returns = &mc->returns[port];
        while (returns->held && link_can_send(mc->cpu[port].send, now)) {
            const Response *oldest = response_at(mc, port, 0);
            if (oldest->ready > cycle) break;
            send_response(mc, port, oldest, now, cycle);
            free_return_place(mc, returns);
        }
    }
}

static uint64_t next_response(const MemoryController *mc, uint64_t now, uint64_t cycle) {
    uint64_t next = NEVER;
    for (uint32_t port = 0; port < mc->ports; port++) {
        if (!mc->returns[port].held) continue;
        uint64_t ready = response_at(mc, port, 0)->ready;
        next = earlier(next,
                       ready > cycle ? ready * mc->obj.period : link_space_time(mc->cpu[port].send, now));
    }
    return next;
}

/* ---- Commands ---- */

static inline Request *request_at(const MemoryController *mc, uint32_t queue, uint32_t rank) {
    return &mc->requests[queue * mc->queue_entries + mc->queue[queue].slot[rank]];
}

static inline bool wants_reply(const MemMessage *message) {
    return !(message->flags & MEM_POSTED);
}

static void check_command(MemoryController *mc, const DramChoice *plan, uint32_t row, uint64_t cycle) {
    if (!mc->checker) {
        mc->checker = malloc(sizeof *mc->checker);
        ensure(mc->checker);
        dram_checker_init(mc->checker, &mc->timing);
        for (uint32_t bank = 0; bank < mc->banks; bank++)
            mc->checker->open_row[bank] = mc->dram.banks[bank].open_row;
    }
    const char *violation = dram_checker_command(mc->checker, (DramCommand)plan->command, plan->bank, row,
                                                 cycle);
    if (violation)
        panic("%s: command %u to bank %u, row %u, at cycle %lu violates %s", object_path(&mc->obj),
              plan->command, plan->bank, row, cycle, violation);
}

static inline bool commands_are_checked(const MemoryController *mc) {
#ifdef WW_DEBUG
    (void)mc;
    return true;
#else
    return mc->check_commands;
#endif
}

/* The last burst is on its way: the request leaves its queue. */
static void retire(MemoryController *mc, const DramChoice *plan, Request *request, uint64_t cycle) {
    mc->row_hits += request->outcome == ROW_HIT;
    mc->row_misses += request->outcome == ROW_MISS;
    mc->row_conflicts += request->outcome == ROW_CONFLICT;
    mc->queue_wait_cycles += cycle - request->entered;
    if (wants_reply(&request->message)) {
        ReturnQueue *returns = &mc->returns[request->port];
        *response_at(mc, request->port, returns->held) = (Response){
            request->message, request->arrived,
            dram_data_end(&mc->timing, (DramCommand)plan->command, cycle)};
        returns->promised--;
        returns->held++;
        audit_enter(&mc->obj, return_queue(request->port), place_index(mc, returns, returns->held - 1));
    }
    uint32_t slot = mc->queue[plan->queue].slot[plan->rank];
    dram_queue_remove(&mc->queue[plan->queue], plan->rank);
    mc->waiting--;
    audit_leave(&mc->obj, plan->queue, slot);
}

static void column_issued(MemoryController *mc, const DramChoice *plan, Request *request, uint64_t cycle) {
    uint64_t bit = 1ull << plan->rank, *unserved = &mc->queue[plan->queue].unserved_reply;
    uint32_t previous = mc->last_column;
    mc->last_column = plan->command + 1u;
    mc->turnarounds += previous && previous != mc->last_column;
    mc->data_bus_cycles += mc->timing.burst;
    object_progress(&mc->obj); /* opening and closing rows alone is none */
    mc->read_commands += plan->command == DRAM_READ;
    mc->write_commands += plan->command == DRAM_WRITE;
    if (*unserved & bit) {
        *unserved &= ~bit;
        take_return_place(mc, &mc->returns[request->port]);
    }
    if (--request->bursts_left == 0) retire(mc, plan, request, cycle);
}

static void row_command_issued(MemoryController *mc, const DramChoice *plan, Request *request) {
    if (plan->command == DRAM_PRECHARGE) {
        mc->precharges++;
        request->outcome = ROW_CONFLICT;
    } else {
        mc->activates++;
        if (request->outcome == ROW_HIT) request->outcome = ROW_MISS;
    }
    for (uint32_t q = 0; q < mc->queues; q++)
        dram_queue_row_changed(&mc->queue[q], &mc->dram, plan->bank);
}

static void issue_planned_command(MemoryController *mc, uint64_t cycle) {
    const DramChoice plan = mc->plan;
    debug_ensure(plan.cycle >= cycle);
    if (plan.cycle != cycle) return;
    Request *request = request_at(mc, plan.queue, plan.rank);
    uint32_t row = mc->queue[plan.queue].row[mc->queue[plan.queue].slot[plan.rank]];
    if (commands_are_checked(mc)) check_command(mc, &plan, row, cycle);
    dram_issue(&mc->dram, &mc->timing, (DramCommand)plan.command, plan.bank, row, cycle);
    if (dram_is_column((DramCommand)plan.command))
        column_issued(mc, &plan, request, cycle);
    else
        row_command_issued(mc, &plan, request);
    mc->replan = 1;
}

/* ---- Arrivals ---- */

uint32_t memory_controller_queues(const SimObject *object) {
    return ((const MemoryController *)object)->queues;
}

/* Nobody waits for a write-back, whoever wrote the line: it is of the last queue. */
static inline uint32_t queue_of(const MemoryController *mc, const MemMessage *message) {
    if (mc->queues == 1) return 0;
    return wants_reply(message) ? class_value(&mc->queue_of_class, message->class_number) : mc->queues - 1;
}

void memory_controller_set_queue(SimObject *object, uint32_t class_number, uint32_t queue) {
    ((MemoryController *)object)->queue_of_class.of[class_number] = (uint8_t)queue;
}

bool memory_controller_waiting(const SimObject *object, uint32_t q, uint32_t rank, WaitingRequest *waiting) {
    const MemoryController *mc = (const MemoryController *)object;
    if (q >= mc->queues || rank >= mc->queue[q].count) return false;
    const Request *request = request_at(mc, q, rank);
    *waiting = (WaitingRequest){.sm = request->message.sm,
                                .warp = request->message.warp,
                                .class_number = request->message.class_number,
                                .bank = mc->queue[q].bank[rank],
                                .row = mc->queue[q].row[mc->queue[q].slot[rank]],
                                .write = mc->queue[q].write >> rank & 1,
                                .waited = mc->accounted - request->entered};
    return true;
}

uint64_t memory_controller_of_bank(const SimObject *object, uint32_t q, uint32_t bank) {
    const MemoryController *mc = (const MemoryController *)object;
    return q < mc->queues && bank < mc->banks ? mc->queue[q].of_bank[bank] : 0;
}

static void count_arrival(MemoryController *mc, const MemMessage *message) {
    bool write = message->kind == MEM_WRITE;
    ensure(message->kind != MEM_ATOMIC); /* done at the L2 slice, which reads and writes lines */
    mc->reads += !write;
    mc->writes += write;
    mc->posted_writes += !wants_reply(message);
    mc->read_bytes += write ? 0 : message->bytes;
    mc->write_bytes += write ? message->bytes : 0;
}

static void enqueue(MemoryController *mc, uint32_t port, const MemMessage *message, uint64_t arrived,
                    uint64_t cycle) {
    uint32_t q = queue_of(mc, message),
             bursts = (message->bytes + mc->burst_bytes - 1) >> __builtin_ctz(mc->burst_bytes);
    DramLocation location = address_map_locate(mc->map, message->address);
    ensure(bursts > 0 && (wants_reply(message) || message->kind == MEM_WRITE));
    if (location.bank >= mc->banks)
        user_error("%s.banks: the address map puts address 0x%lx into bank %u; this controller has %u banks",
                   object_path(&mc->obj), message->address, location.bank, mc->banks);
    uint32_t slot = dram_queue_add(&mc->queue[q], &mc->dram, location.bank, location.row,
                                   message->kind == MEM_WRITE, wants_reply(message));
    mc->requests[q * mc->queue_entries + slot] = (Request){.message = *message,
                                                           .arrived = arrived,
                                                           .entered = cycle,
                                                           .bursts_left = bursts,
                                                           .port = (uint16_t)port};
    mc->waiting++;
    mc->urgent += q + 1 < mc->queues;
    audit_enter(&mc->obj, q, slot);
    mc->replan = 1;
    count_arrival(mc, message);
}

static inline bool has_room(const MemoryController *mc, const MemMessage *message) {
    return mc->queue[queue_of(mc, message)].count < mc->queue_entries;
}

/* Finds a request of a port that is there since `latest` and goes to a queue with room: those for full queues
 * are in no other's way, as if each queue had wires of its own (MeDiC, section 3.4, note 1). NULL when there
 * is none; `later` is then when the next one comes. */
static const MemMessage *bring_forward(const MemoryController *mc, Link *link, uint64_t latest,
                                       uint64_t *later) {
    uint64_t ready = NEVER;
    for (uint64_t i = 1; mc->queues > 1 && (ready = link_ready_at(link, i)) <= latest; i++)
        if (has_room(mc, link_message_at(link, i))) {
            link_bring_forward(link, i);
            return link_peek(link, latest);
        }
    *later = ready;
    return NULL;
}

/* At most one request per port and cycle enters; the port after the one served last goes first. Returns when
 * there may be another to look at; requests that wait for room are looked at whenever a command was
 * issued. */
static uint64_t accept_requests(MemoryController *mc, uint64_t now, uint64_t cycle) {
    uint64_t next = NEVER, delay = mc->latency * mc->obj.period;
    uint32_t port = mc->first_port;
    mc->port_blocked = 0;
    for (uint32_t i = 0; i < mc->ports; i++, port = port + 1 == mc->ports ? 0 : port + 1) {
        Link *link = mc->cpu[port].receive;
        uint64_t ready = link_next_ready(link);
        if (ready == NEVER) continue;
        if (ready + delay <= now) {
            const MemMessage *message = link_peek(link, now);
            if (!has_room(mc, message)) {
                uint64_t later = NEVER;
                mc->port_blocked = 1;
                message = bring_forward(mc, link, now - delay, &later);
                if (!message && later != NEVER) next = earlier(next, later + delay);
                if (!message) continue;
                ready = link_next_ready(link);
            }
            enqueue(mc, port, message, object_cycle(&mc->obj, ready + delay), cycle);
            link_pop(link, now);
            mc->first_port = port + 1 == mc->ports ? 0 : port + 1;
            ready = link_next_ready(link);
            if (ready == NEVER) continue;
        }
        next = earlier(next, ready + delay > now ? ready + delay : now + mc->obj.period);
    }
    return next;
}

/* ---- Planning ---- */

/* Requests whose response would find no place at their port. */
static uint64_t without_return_place(const MemoryController *mc, uint32_t q) {
    uint64_t without = 0;
    for (uint64_t rest = mc->queue[q].unserved_reply; rest; rest &= rest - 1) {
        const ReturnQueue *returns = &mc->returns[request_at(mc, q, (uint32_t)__builtin_ctzll(rest))->port];
        if (returns->held + returns->promised == mc->return_entries) without |= rest & -rest;
    }
    return without;
}

/* What may be served while the oldest request is over age: nothing of its bank but itself, and nothing in the
 * other direction, so that it waits for bounded timings only. */
static uint64_t with_aged_oldest(const DramQueue *queue) {
    uint64_t same_direction = queue->write & 1 ? queue->write : ~queue->write;
    return (~queue->of_bank[queue->bank[0]] & same_direction) | 1;
}

/* Requests of a queue that may be served. Banks wanted by queues of lower number are not theirs. */
static uint64_t eligible_requests(MemoryController *mc, uint32_t q, uint32_t wanted_banks, uint64_t cycle) {
    const DramQueue *queue = &mc->queue[q];
    uint64_t eligible = mc->scheduler == SCHEDULE_FCFS ? dram_queue_heads(queue)
                                                       : UINT64_MAX >> (64 - queue->count);
    if (mc->full_returns) eligible &= ~without_return_place(mc, q);
    for (uint32_t banks = wanted_banks & queue->banks; banks; banks &= banks - 1)
        eligible &= ~queue->of_bank[__builtin_ctz(banks)];
    if (mc->age_cap && (eligible & 1)) {
        uint64_t of_age = request_at(mc, q, 0)->entered + mc->age_cap;
        if (of_age <= cycle)
            eligible &= with_aged_oldest(queue);
        else
            mc->plan_expires = earlier(mc->plan_expires, of_age);
    }
    return eligible;
}

/* Those that policies want to be served; all of them when they want none. */
SELDOM static uint64_t picked_requests(MemoryController *mc, uint32_t q, uint64_t eligible) {
    const DramQueue *queue = &mc->queue[q];
    int64_t answer = event_ask(&mc->obj, MC_PICK, q, (int64_t)eligible, (int64_t)(eligible & queue->row_hit),
                               (int64_t)(eligible & queue->write));
    uint64_t picked = answer == NO_ANSWER ? 0 : (uint64_t)answer & eligible;
    return picked ? picked : eligible;
}

static void plan_next_command(MemoryController *mc, uint64_t cycle) {
    uint32_t wanted_banks = 0;
    mc->replan = 0;
    mc->plan = DRAM_NO_CHOICE;
    mc->plan_expires = NEVER;
    for (uint32_t q = 0; q < mc->queues && mc->plan.cycle > cycle + 1; q++) {
        const DramQueue *queue = &mc->queue[q];
        if (!queue->count) continue;
        uint64_t eligible = eligible_requests(mc, q, wanted_banks, cycle);
        if (object_is_heard(&mc->obj, MC_PICK) && eligible) eligible = picked_requests(mc, q, eligible);
        dram_queue_choose(queue, q, &mc->dram, &mc->timing, eligible, cycle + 1, &mc->plan);
        wanted_banks |= queue->banks;
    }
}

/* ---- The cycle ---- */

/* Counts the cycles since the last account, in which nothing changed. */
static void account(MemoryController *mc, uint64_t cycle) {
    uint64_t passed = cycle - mc->accounted;
    mc->queue_entry_cycles += passed * mc->waiting;
    mc->queue_full_cycles += passed * mc->port_blocked;
    mc->accounted = mc->cycles = cycle;
}

static uint64_t memory_controller_tick(SimObject *object, uint64_t now) {
    MemoryController *mc = (MemoryController *)object;
    uint64_t cycle = object_cycle(object, now);
    account(mc, cycle);
    send_responses(mc, now, cycle);
    issue_planned_command(mc, cycle);
    uint64_t next = accept_requests(mc, now, cycle);
    if (mc->replan || cycle >= mc->plan_expires) plan_next_command(mc, cycle);
    next = earlier(next, next_response(mc, now, cycle));
    uint64_t planned = earlier(mc->plan.cycle, mc->plan_expires);
    return planned == NEVER ? next : earlier(next, planned * object->period);
}

/* ---- Counters ---- */

static void memory_controller_settle(SimObject *object, uint64_t now) {
    account((MemoryController *)object, object_cycle(object, now));
}

typedef struct {
    uint64_t requests, reads, posted, entry_cycles;
} QueuedRequests;

static QueuedRequests queued_requests(const MemoryController *mc) {
    QueuedRequests queued = {0};
    for (uint32_t q = 0; q < mc->queues; q++)
        for (uint32_t rank = 0; rank < mc->queue[q].count; rank++) {
            const Request *request = request_at(mc, q, rank);
            queued.requests++;
            queued.reads += request->message.kind == MEM_READ;
            queued.posted += !wants_reply(&request->message);
            queued.entry_cycles += mc->accounted - request->entered;
        }
    return queued;
}

static uint64_t open_banks(const MemoryController *mc) {
    uint64_t open = 0;
    for (uint32_t bank = 0; bank < mc->banks; bank++)
        open += mc->dram.banks[bank].open_row != DRAM_NO_ROW;
    return open;
}

typedef struct {
    uint64_t reads, writes;
} HeldResponses;

static HeldResponses held_responses(const MemoryController *mc) {
    HeldResponses held = {0};
    for (uint32_t port = 0; port < mc->ports; port++)
        for (uint32_t place = 0; place < mc->returns[port].held; place++) {
            bool read = response_at(mc, port, place)->message.kind == MEM_READ;
            held.reads += read;
            held.writes += !read;
        }
    return held;
}

static void must_equal(const MemoryController *mc, const char *law, uint64_t left, uint64_t right) {
    if (left != right) panic("%s: %s: %lu and %lu", object_path(&mc->obj), law, left, right);
}

static void check_ports(const MemoryController *mc) {
    uint64_t taken = 0, sent = 0;
    for (uint32_t port = 0; port < mc->ports; port++) {
        taken += mc->cpu[port].receive->popped;
        sent += mc->cpu[port].send->pushed;
    }
    must_equal(mc, "reads + writes = requests taken from the ports", mc->reads + mc->writes, taken);
    must_equal(mc, "reads and writes answered = responses sent", mc->reads_answered + mc->writes_answered,
               sent);
}

/* The law of queue_entry_cycles is Little's: the occupancy summed over cycles is the waiting summed over
 * requests. */
static void memory_controller_check(const SimObject *object, bool idle) {
    const MemoryController *mc = (const MemoryController *)object;
    QueuedRequests queued = queued_requests(mc);
    HeldResponses held = held_responses(mc);
    uint64_t served = mc->row_hits + mc->row_misses + mc->row_conflicts;
    uint64_t queued_writes = queued.requests - queued.reads;
    must_equal(mc, "requests waiting = requests in the queues", mc->waiting, queued.requests);
    must_equal(mc, "reads + writes = row hits + misses + conflicts + queued", mc->reads + mc->writes,
               served + queued.requests);
    must_equal(mc, "reads = answered + queued + responses held", mc->reads,
               mc->reads_answered + queued.reads + held.reads);
    must_equal(mc, "writes - posted = answered + queued + responses held", mc->writes - mc->posted_writes,
               mc->writes_answered + (queued_writes - queued.posted) + held.writes);
    must_equal(mc, "activates = precharges + open banks", mc->activates, mc->precharges + open_banks(mc));
    must_equal(mc, "data bus cycles = column commands * burst", mc->data_bus_cycles,
               (mc->read_commands + mc->write_commands) * mc->timing.burst);
    must_equal(mc, "entries * cycles = waiting of all requests", mc->queue_entry_cycles,
               mc->queue_wait_cycles + queued.entry_cycles);
    check_ports(mc);
    if (idle)
        must_equal(mc, "an idle machine has no requests", queued.requests + held.reads + held.writes, 0);
}

static void memory_controller_report(const SimObject *object, FILE *out) {
    const MemoryController *mc = (const MemoryController *)object;
    for (uint32_t q = 0; q < mc->queues; q++) {
        if (!mc->queue[q].count) continue;
        const Request *oldest = request_at(mc, q, 0);
        fprintf(
            out, "%s: queue %u holds %u of %u requests; the oldest is a %s of 0x%lx, there since cycle %lu; ",
            object_path(object), q, mc->queue[q].count, mc->queue_entries,
            oldest->message.kind == MEM_READ ? "read" : "write", oldest->message.address, oldest->entered);
        if (mc->plan.cycle == NEVER)
            fputs("no command can become legal\n", out);
        else
            fprintf(out, "next command at cycle %lu\n", mc->plan.cycle);
    }
    for (uint32_t port = 0; port < mc->ports; port++)
        if (mc->returns[port].held)
            fprintf(out, "%s: %u of %u responses wait for cpu[%u]\n", object_path(object),
                    mc->returns[port].held, mc->return_entries, port);
}

static double ratio(uint64_t part, uint64_t whole) {
    return whole ? (double)part / (double)whole : 0;
}

static double bandwidth_utilisation(const SimObject *object) {
    const MemoryController *mc = (const MemoryController *)object;
    return ratio(mc->data_bus_cycles, mc->cycles);
}

static double useful_utilisation(const SimObject *object) {
    const MemoryController *mc = (const MemoryController *)object;
    return ratio(mc->read_bytes + mc->write_bytes, mc->cycles * mc->bus_bytes);
}

static double row_hit_rate(const SimObject *object) {
    const MemoryController *mc = (const MemoryController *)object;
    return ratio(mc->row_hits, mc->row_hits + mc->row_misses + mc->row_conflicts);
}

static double average_read_latency(const SimObject *object) {
    const MemoryController *mc = (const MemoryController *)object;
    return ratio(mc->read_latency_cycles, mc->reads_answered);
}

static double average_queue_entries(const SimObject *object) {
    const MemoryController *mc = (const MemoryController *)object;
    return ratio(mc->queue_entry_cycles, mc->cycles);
}

#define TIMING(member, def, doc)                                                                             \
    PARAM(MemoryController, member, def, "cycles", doc, .min = 1, .max = 1000, .timing = true)

/* Defaults: one of the GTX 480's six channels, 64 bits of GDDR5 at 924 MHz command clock. */
static const Field memory_controller_fields[] = {
    BASE(MemoryController),
    PARAM(MemoryController, ports, "1", "ports", "Ports, one per L2 slice", .min = 1, .max = PORTS_MAX),
    PARAM(MemoryController, queues, "1", "queues",
          "Request queues; a request's class chooses, and a posted write is of the last; low queues first",
          .min = 1, .max = QUEUES_MAX),
    PARAM(MemoryController, class_queues, "", "queues",
          "Queue of each class, class 0 first: \"1,1,0\"; of those left out: their own number, or the last",
          .timing = true),
    PARAM(MemoryController, queue_entries, "64", "requests", "Room in each queue", .min = 1,
          .max = DRAM_QUEUE_MAX),
    PARAM(MemoryController, return_entries, "116", "responses", "Room for responses of each port", .min = 1,
          .max = RETURN_ENTRIES_MAX),
    PARAM_CHOICE(MemoryController, scheduler, "frfcfs", "frfcfs|fcfs",
                 "Row hits first, then oldest; or each bank in order of arrival", .timing = true),
    PARAM(MemoryController, latency, "0", "cycles",
          "Delay in front of the queue; the depth of the link bounds the requests in it", .min = 0,
          .max = 100000, .timing = true),
    PARAM(MemoryController, age_cap, "4096", "cycles",
          "A request that waited so long goes before row hits and the bus direction; 0: never", .min = 0,
          .max = 1e9, .timing = true),
    PARAM(MemoryController, banks, "16", "banks", "Banks", .min = 1, .max = DRAM_BANKS_MAX,
          .power_of_two = true),
    PARAM(MemoryController, bank_groups, "4", "groups", "Bank groups", .min = 1, .max = DRAM_BANKS_MAX,
          .power_of_two = true),
    PARAM_CHOICE(MemoryController, group_bits, "low", "low|high",
                 "Bits of the bank number that are its group"),
    PARAM(MemoryController, bus_bytes, "32", "bytes", "Data per command cycle", .min = 1, .max = 4096,
          .power_of_two = true),
    PARAM(MemoryController, burst_bytes, "64", "bytes",
          "Data per column command; smaller requests take as long", .min = 1, .max = 4096,
          .power_of_two = true),
    TIMING(tCL, "12", "READ to its first data"),
    TIMING(tWL, "4", "WRITE to its first data"),
    TIMING(tRCD, "12", "ACTIVATE to READ, same bank; to WRITE tWL + 1 less"),
    TIMING(tRP, "12", "PRECHARGE to ACTIVATE, same bank"),
    TIMING(tRC, "40", "ACTIVATE to ACTIVATE, same bank"),
    TIMING(tRAS, "28", "ACTIVATE to PRECHARGE, same bank"),
    TIMING(tRRD, "6", "ACTIVATE to ACTIVATE, any banks"),
    TIMING(tCCD, "2", "Column command to the next of the same kind, any banks"),
    TIMING(tCCDL, "3", "Column command to the next of the same kind, same bank group"),
    TIMING(tWR, "12", "Last written data to PRECHARGE, same bank"),
    TIMING(tCDLR, "5", "Last written data to READ, any banks"),
    TIMING(tRTPL, "2", "READ to PRECHARGE, same bank"),
    PARAM_FLAG(MemoryController, check_commands, "false", "Verify every command against all timings",
               .timing = true),
    DERIVED(MemoryController, request_slots, "queues * queue_entries"),
    DERIVED(MemoryController, return_slots, "ports * return_entries"),
    DERIVED(MemoryController, timing, "The timing set"),
    PORT_ARRAY(MemoryController, cpu, ports, memory_protocol, ROLE_RESPONDER, "From the L2 slices"),
    STATE(MemoryController, dram, "Banks and timings"),
    STATE_ARRAY(MemoryController, queue, queues, "Order, bank and row of the waiting requests"),
    STATE_ARRAY(MemoryController, requests, request_slots, "The waiting requests"),
    STATE_ARRAY(MemoryController, returns, ports, "Rings of responses"),
    STATE_ARRAY(MemoryController, responses, return_slots, "The responses"),
    STATE(MemoryController, plan, "The next command"),
    STATE(MemoryController, plan_expires, "Cycle in which the plan is too old because a request came of age"),
    STATE(MemoryController, accounted, "Cycle up to which cycles are counted"),
    STATE(MemoryController, waiting, "Requests in all queues"),
    STATE(MemoryController, first_port, "Port that is served first"),
    STATE(MemoryController, full_returns, "Ports without room for another response"),
    STATE(MemoryController, port_blocked, "Whether a request waits at a port for room in its queue"),
    STATE(MemoryController, replan, "Whether the plan is out of date"),
    STATE(MemoryController, last_column, "Direction of the data bus"),
    KNOB_BY_METHOD(MemoryController, queue_of_class, "queue_of_class", "Queue of each class: set_queue()"),
    STAT(MemoryController, reads, "requests", "Reads that entered a queue"),
    STAT(MemoryController, writes, "requests", "Writes that entered a queue"),
    STAT(MemoryController, posted_writes, "requests", "Of these writes: without an answer"),
    STAT(MemoryController, urgent, "requests", "Requests that entered a queue before the last"),
    STAT(MemoryController, read_bytes, "bytes", "Asked for by reads"),
    STAT(MemoryController, write_bytes, "bytes", "Covered by writes"),
    STAT(MemoryController, read_commands, "commands", "READ"),
    STAT(MemoryController, write_commands, "commands", "WRITE"),
    STAT(MemoryController, activates, "commands", "ACTIVATE"),
    STAT(MemoryController, precharges, "commands", "PRECHARGE"),
    STAT(MemoryController, row_hits, "requests", "Found their row open"),
    STAT(MemoryController, row_misses, "requests", "Found their bank closed"),
    STAT(MemoryController, row_conflicts, "requests", "Found another row open"),
    STAT(MemoryController, turnarounds, "times", "The data bus changed its direction"),
    STAT(MemoryController, data_bus_cycles, "cycles", "The data bus moved data"),
    STAT(MemoryController, queue_full_cycles, "cycles", "A request waited at a port for room in its queue"),
    STAT(MemoryController, queue_entry_cycles, "requests * cycles",
         "Sum over cycles of the requests in the queues"),
    STAT(MemoryController, queue_wait_cycles, "cycles",
         "Sum over served requests of their time in the queue"),
    STAT(MemoryController, read_latency_cycles, "cycles",
         "Sum over answered reads of the time from port to port"),
    STAT(MemoryController, reads_answered, "requests", "Responses to reads"),
    STAT(MemoryController, writes_answered, "requests", "Responses to writes"),
    STAT(MemoryController, cycles, "cycles", "Command clock cycles"),
    FORMULA("bandwidth_utilisation", bandwidth_utilisation, "fraction",
            "Cycles in which the data bus moved data"),
    FORMULA("useful_utilisation", useful_utilisation, "fraction",
            "Bytes asked for, of those the bus could move"),
    FORMULA("row_hit_rate", row_hit_rate, "fraction", "Served requests that found their row open"),
    FORMULA("average_read_latency", average_read_latency, "cycles", "From port to port"),
    FORMULA("average_queue_entries", average_queue_entries, "requests", "Requests in the queues"),
    HOST(MemoryController, map, "The machine's address map"),
    HOST(MemoryController, checker, "Watches the commands; made at the first one"),
    FIELDS_END};

static const Event memory_controller_events[] = {
    [MC_PICK] =
        {"pick", "queue, requests, row_hits, writes", true,
         "Which of these requests, a set (bit 0: the oldest), may be served? Of the answer the built-in "
         "order chooses"},
    {0}};

const Class memory_controller_class = {
    .name = "MemoryController",
    .doc = "One DRAM channel with its request queue",
    .bytes = sizeof(MemoryController),
    .fields = memory_controller_fields,
    .events = memory_controller_events,
    .build = memory_controller_build,
    .init = memory_controller_init,
    .tick = memory_controller_tick,
    .settle = memory_controller_settle,
    .check = memory_controller_check,
    .report = memory_controller_report,
    .destroy = memory_controller_destroy,
};
