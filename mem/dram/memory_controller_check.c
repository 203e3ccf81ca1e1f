/* What must hold between the counters of a memory controller at any time, and its part of a hang report. */
#include "core/sim/event.h"
#include "mem/dram/memory_controller_state.h"

typedef struct {
    uint64_t requests, reads, posted, entry_cycles;
} QueuedRequests;

static QueuedRequests queued_requests(const MemoryController *mc) {
    QueuedRequests queued = {0};
    uint32_t rank;
    for (uint32_t q = 0; q < mc->queues; q++)
        FOR_RANKS(&mc->queue[q], rank) {
            const Request *request = request_at(mc, q, rank);
            queued.requests++;
            queued.reads += request->message.kind != MEM_WRITE;
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
            bool read = response_at(mc, port, place)->message.kind != MEM_WRITE;
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
        taken += link_received(mc->cpu[port].receive);
        sent += link_sent(mc->cpu[port].send);
    }
    must_equal(mc, "reads + writes = requests taken from the ports", mc->reads + mc->writes, taken);
    must_equal(mc, "reads and writes answered = responses sent", mc->reads_answered + mc->writes_answered,
               sent);
}

/* The law of queue_entry_cycles is Little's: the occupancy summed over cycles is the waiting summed over
 * requests. */
void memory_controller_check(const SimObject *object, bool idle) {
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

/* What a policy never answers waits for ever. */
static void report_pick(const MemoryController *mc, uint32_t q, FILE *out) {
    if (!object_has_subscriber(&mc->obj, MC_PICK) || !mc->left_out[q]) return;
    fprintf(out, "%s: queue %u: pick of policy ", object_path(&mc->obj), q);
    event_write_policies(&mc->obj, MC_PICK, out);
    fprintf(out, " leaves out %d of the requests, 0x%lx\n", __builtin_popcountll(mc->left_out[q]),
            mc->left_out[q]);
}

void memory_controller_report(const SimObject *object, FILE *out) {
    const MemoryController *mc = (const MemoryController *)object;
    for (uint32_t q = 0; q < mc->queues; q++) {
        if (!mc->queue[q].count) continue;
        const Request *oldest = request_at(mc, q, dram_queue_rank_of(&mc->queue[q], 0));
        fprintf(
            out, "%s: queue %u holds %u of %u requests; the oldest is a %s of 0x%lx, there since cycle %lu; ",
            object_path(object), q, mc->queue[q].count, mc->queue_entries,
            oldest->message.kind != MEM_WRITE ? "read" : "write", oldest->message.address, oldest->entered);
        if (mc->plan.cycle == NEVER)
            fputs("no command can become legal\n", out);
        else
            fprintf(out, "next command at cycle %lu\n", mc->plan.cycle);
        report_pick(mc, q, out);
    }
    for (uint32_t port = 0; port < mc->ports; port++)
        if (mc->returns[port].held)
            fprintf(out, "%s: %u of %u responses wait for cpu[%u]\n", object_path(object),
                    mc->returns[port].held, mc->return_entries, port);
}
