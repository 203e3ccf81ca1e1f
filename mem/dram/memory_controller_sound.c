/* Can the state of a memory controller be worked with? It was brought by a snapshot. */
#include "mem/dram/memory_controller_state.h"

/* Cycles that any timing, or the data of any command, is ahead. */
enum { AHEAD_MAX = 1 << 14 };

static void must_be(const MemoryController *mc, bool condition, const char *what) {
    sound(condition, "%s.%s", object_path(&mc->obj), what);
}

static uint64_t cycle_of(const MemoryController *mc) {
    return object_cycle(&mc->obj, mc->obj.sim->now);
}

static bool is_soon(const MemoryController *mc, uint64_t cycle) {
    return cycle <= cycle_of(mc) + AHEAD_MAX;
}

static void dram_is_sound(const MemoryController *mc) {
    const Dram *dram = &mc->dram;
    for (uint32_t i = 0; i < 4; i++)
        must_be(mc, is_soon(mc, dram->channel[i]) && is_soon(mc, dram->window[i]),
                "dram: a timing of the channel");
    for (uint32_t bank = 0; bank < DRAM_BANKS_MAX; bank++) {
        bool good = is_soon(mc, dram->group[bank]) &&
                    (bank < mc->banks || dram->banks[bank].open_row == DRAM_NO_ROW);
        for (uint32_t i = 0; i < 4; i++)
            good = good && is_soon(mc, dram->banks[bank].earliest[i]);
        must_be(mc, good, "dram: a bank");
    }
}

static void request_is_sound(const MemoryController *mc, const DramQueue *queue, uint32_t q, uint32_t rank) {
    uint64_t bit = 1ull << rank;
    const Request *request = request_in(mc, q, queue->slot[rank]);
    const MemMessage *m = &request->message;
    uint32_t bank = queue->bank[rank], open = mc->dram.banks[bank].open_row,
             row = queue->row[queue->slot[rank]];
    mem_message_is_sound(object_path(&mc->obj), m);
    DramLocation location = address_map_locate(mc->map, m->address);
    must_be(mc, location.bank == bank && location.row == row, "queue: bank and row of a request");
    must_be(mc,
            ((queue->write & bit) != 0) == (m->kind == MEM_WRITE) &&
                (wants_reply(m) || !(queue->unserved_reply & bit)),
            "queue: kind of a request");
    must_be(mc,
            ((queue->row_hit & bit) != 0) == (open == row) &&
                ((queue->closed & bit) != 0) == (open == DRAM_NO_ROW) && queue->of_bank[bank] & bit,
            "queue: state of a request");
    must_be(mc,
            request->bursts_left && request->bursts_left <= LINE_BYTES_MAX && request->port < mc->ports &&
                request->outcome <= ROW_CONFLICT && request->entered <= cycle_of(mc) + 1,
            "requests");
}

static void queue_is_sound(const MemoryController *mc, uint32_t q) {
    const DramQueue *queue = &mc->queue[q];
    uint64_t slots = 0, of_banks = 0, ranks = queue->ranks;
    uint32_t rank;
    must_be(mc, queue->count == (uint32_t)__builtin_popcountll(ranks), "queue: count");
    FOR_RANKS(queue, rank) {
        must_be(mc, queue->slot[rank] < DRAM_QUEUE_MAX && queue->bank[rank] < mc->banks,
                "queue: slot and bank");
        slots |= 1ull << queue->slot[rank];
        request_is_sound(mc, queue, q, rank);
    }
    for (uint32_t bank = 0; bank < DRAM_BANKS_MAX; bank++) {
        must_be(mc,
                !(of_banks & queue->of_bank[bank]) &&
                    (queue->banks >> bank & 1) == (queue->of_bank[bank] != 0),
                "queue: requests of a bank");
        of_banks |= queue->of_bank[bank];
    }
    must_be(mc,
            of_banks == ranks && slots == queue->used_slots &&
                (uint32_t)__builtin_popcountll(slots) == queue->count &&
                ((queue->row_hit | queue->closed | queue->write | queue->unserved_reply) & ~ranks) == 0,
            "queue: sets of requests");
}

/* Requests that have had some of their bursts have a place for their response. */
static uint32_t promised_places(const MemoryController *mc, uint32_t port) {
    uint32_t promised = 0, rank;
    for (uint32_t q = 0; q < mc->queues; q++)
        FOR_RANKS(&mc->queue[q], rank) {
            const Request *request = request_at(mc, q, rank);
            promised += request->port == port && wants_reply(&request->message) &&
                        !(mc->queue[q].unserved_reply >> rank & 1);
        }
    return promised;
}

/* Queues of another shape are converted, and not here yet. */
static void returns_are_sound(const MemoryController *mc, bool fits) {
    uint32_t full = 0;
    must_be(mc,
            mc->return_places <= RETURN_ENTRIES_MAX && mc->return_slots == mc->ports * mc->return_places &&
                (!fits || mc->return_entries <= mc->return_places),
            "return_places");
    for (uint32_t port = 0; port < mc->ports; port++) {
        const ReturnQueue *returns = &mc->returns[port];
        must_be(mc,
                returns->first < mc->return_places && returns->held <= mc->return_places &&
                    returns->promised <= mc->return_places - returns->held,
                "returns");
        must_be(mc, !fits || returns->promised == promised_places(mc, port), "returns: promised");
        full += returns->held + returns->promised >= mc->return_entries;
        for (uint32_t i = 0; i < returns->held; i++) {
            const Response *response = response_at(mc, port, i);
            mem_message_is_sound(object_path(&mc->obj), &response->message);
            must_be(mc, is_soon(mc, response->ready) && wants_reply(&response->message), "responses");
        }
    }
    must_be(mc, !fits || full == mc->full_returns, "full_returns");
}

/* Where nothing else can become legal, it is planned long before it is due. */
static void refresh_plan_is_sound(const MemoryController *mc, uint64_t cycle) {
    must_be(mc,
            mc->tREFI && mc->waiting && (cycle == mc->refresh_due || is_soon(mc, cycle)) &&
                cycle >= cycle_of(mc) && cycle >= memory_controller_refresh_choice(mc, 0).cycle,
            "plan: a refresh");
}

static void plan_is_sound(const MemoryController *mc) {
    const DramChoice *plan = &mc->plan;
    if (plan->cycle == NEVER) return;
    if (plan->command == DRAM_REFRESH) {
        refresh_plan_is_sound(mc, plan->cycle);
        return;
    }
    must_be(mc,
            plan->queue < mc->queues && plan->rank < DRAM_QUEUE_MAX &&
                mc->queue[plan->queue].ranks >> plan->rank & 1 && plan->command <= DRAM_PRECHARGE &&
                plan->bank == mc->queue[plan->queue].bank[plan->rank],
            "plan");
    const DramQueue *queue = &mc->queue[plan->queue];
    uint64_t bit = 1ull << plan->rank;
    bool column = dram_is_column((DramCommand)plan->command), write = (queue->write & bit) != 0;
    bool fit = column ? (queue->row_hit & bit) && write == (plan->command == DRAM_WRITE)
                      : !(queue->row_hit & bit) &&
                            ((queue->closed & bit) != 0) == (plan->command == DRAM_ACTIVATE);
    const ReturnQueue *returns = &mc->returns[request_at(mc, plan->queue, plan->rank)->port];
    bool has_place = !column || !(queue->unserved_reply & bit) ||
                     returns->held + returns->promised < mc->return_entries;
    must_be(mc,
            fit && has_place && plan->cycle >= cycle_of(mc) && is_soon(mc, plan->cycle) &&
                plan->cycle >= dram_earliest(&mc->dram, &mc->timing, (DramCommand)plan->command, plan->bank),
            "plan: its command");
}

void memory_controller_requests(const SimObject *object, RequestVisitor *visit, void *context) {
    const MemoryController *mc = (const MemoryController *)object;
    uint32_t rank;
    for (uint32_t q = 0; q < mc->queues; q++)
        FOR_RANKS(&mc->queue[q], rank) {
            const Request *request = request_at(mc, q, rank);
            if (wants_reply(&request->message))
                visit(context, mc->cpu[request->port].receive, &request->message);
        }
    for (uint32_t port = 0; port < mc->ports; port++)
        for (uint32_t i = 0; i < mc->returns[port].held; i++)
            visit(context, mc->cpu[port].receive, &response_at(mc, port, i)->message);
}

void memory_controller_is_sound(const SimObject *object, bool fits) {
    const MemoryController *mc = (const MemoryController *)object;
    dram_is_sound(mc);
    for (uint32_t q = 0; fits && q < mc->queues; q++)
        queue_is_sound(mc, q);
    returns_are_sound(mc, fits);
    if (fits) plan_is_sound(mc);
    for (uint32_t i = 0; fits && i < CLASSES; i++)
        must_be(mc, mc->queue_of_class.of[i] < mc->queues, "queue_of_class");
    uint64_t seen = cycle_of(mc) + 1; /* where a policy looked when the cycle had passed */
    must_be(mc,
            mc->tREFI ? mc->refresh_due > 0 && mc->refresh_due <= seen + mc->tREFI : mc->refresh_due == NEVER,
            "refresh_due");
    must_be(mc, mc->refresh_bank < mc->banks, "refresh_bank");
    must_be(mc, mc->accounted <= seen, "accounted");
    for (uint32_t bank = 0; bank < DRAM_BANKS_MAX; bank++)
        must_be(mc, mc->row_used[bank] <= seen, "row_used");
    must_be(mc, mc->first_port < mc->ports && mc->port_blocked <= 1 && mc->last_column <= DRAM_WRITE + 1,
            "first_port, port_blocked, last_column");
}
