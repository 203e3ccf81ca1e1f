/* The rows of a memory controller, and how it is built. */
#include "core/sim/event.h"
#include "mem/dram/memory_controller_state.h"
#include "mem/protocol/networks.h"

#include <stdlib.h>

static uint32_t larger_of(uint32_t a, uint32_t b) {
    return a > b ? a : b;
}

/* Between two refreshes a row can be opened and read or written, or nothing ever is: from the last command before a refresh is
 * due to a column command behind it. Each bank's row may be opened first. */
static uint32_t least_refresh_interval(const MemoryController *mc) {
    const DramTiming *t = &mc->timing;
    uint32_t closes = larger_of(t->tRAS, larger_of(t->tWTP, t->tRTPL));
    uint32_t refreshed = larger_of(larger_of(t->tRC, t->tRRDL), closes + t->tRP) + t->tRFC;
    uint32_t opened = larger_of(refreshed, larger_of(t->tRRD, t->tFAW)) + t->tRCD;
    uint32_t bus = larger_of(larger_of(t->tCCD, t->tCCDL), larger_of(t->tRTW, t->tWTR));
    uint32_t least = larger_of(opened, bus) + t->banks;
    /* Of banks one by one each is closed before the next one's turn. */
    return mc->refresh == REFRESH_BANK ? larger_of(least, t->banks * (closes + 1)) : least;
}

static void check_refresh(const MemoryController *mc) {
    uint32_t least = least_refresh_interval(mc);
    if (mc->tREFI && mc->tREFI < least)
        user_error("%s.tREFI: expected 0, or %u or more, in which rows can be closed, refreshed, opened and "
                   "read, got %u",
                   object_path(&mc->obj), least, mc->tREFI);
}

static void check_shape(const MemoryController *mc) {
    const char *path = object_path(&mc->obj);
    if (mc->bank_groups > mc->banks)
        user_error("%s.bank_groups: expected up to banks = %u, got %u", path, mc->banks, mc->bank_groups);
    if (mc->burst_bytes < mc->bus_bytes)
        user_error("%s.burst_bytes: expected bus_bytes = %u or more, got %u", path, mc->bus_bytes,
                   mc->burst_bytes);
    if (mc->tCCD < mc->burst_bytes / mc->bus_bytes)
        user_error("%s.tCCD: expected burst_bytes / bus_bytes = %u cycles or more, got %u", path,
                   mc->burst_bytes / mc->bus_bytes, mc->tCCD);
    if (mc->tCCDL < mc->tCCD)
        user_error("%s.tCCDL: expected tCCD = %u or more, got %u", path, mc->tCCD, mc->tCCDL);
    if (mc->tRRDL && mc->tRRDL < mc->tRRD)
        user_error("%s.tRRDL: expected 0, or tRRD = %u or more, got %u", path, mc->tRRD, mc->tRRDL);
}

static void memory_controller_build(SimObject *object) {
    MemoryController *mc = (MemoryController *)object;
    check_shape(mc);
    mc->request_slots = mc->queues * DRAM_QUEUE_MAX;
    mc->return_places = mc->return_entries;
    mc->return_slots = mc->ports * mc->return_places;
    mc->timing = (DramTiming){
        .tCL = mc->tCL,
        .tWL = mc->tWL,
        .tRCD = mc->tRCD,
        .tRP = mc->tRP,
        .tRC = mc->tRC,
        .tRAS = mc->tRAS,
        .tRRD = mc->tRRD,
        .tFAW = mc->tFAW,
        .tRRDL = mc->tRRDL,
        .tCCD = mc->tCCD,
        .tCCDL = mc->tCCDL,
        .tWR = mc->tWR,
        .tCDLR = mc->tCDLR,
        .tRTPL = mc->tRTPL,
        .tREFI = mc->tREFI,
        .tRFC = mc->refresh == REFRESH_BANK ? mc->tRFCpb : mc->tRFC,
        .burst = mc->burst_bytes / mc->bus_bytes,
        .banks = mc->banks,
        .bank_groups = mc->bank_groups,
    };
    dram_timing_derive(&mc->timing, (DramGroupBits)mc->group_bits);
    check_refresh(mc);
    dram_reset(&mc->dram);
    mc->refresh_due = mc->tREFI ? memory_controller_refresh_interval(mc) : NEVER;
    mc->plan = DRAM_NO_CHOICE;
    mc->plan_expires = NEVER;
}

void memory_controller_read_class_queues(MemoryController *mc) {
    for (uint32_t i = 0; i < CLASSES; i++)
        mc->queue_of_class.of[i] = (uint8_t)(i < mc->queues ? i : mc->queues - 1);
    class_table_read(&mc->queue_of_class, &mc->obj, "class_queues", mc->class_queues, mc->queues - 1);
}

static uint64_t queue_length(const SimObject *object, uint32_t queue) {
    const MemoryController *mc = (const MemoryController *)object;
    return queue < QUEUES_MAX ? mc->queue[queue].count : mc->returns[queue - QUEUES_MAX].held;
}

static void check_banks(const MemoryController *mc) {
    uint64_t banks = address_map_banks(mc->map);
    if (banks > mc->banks)
        user_error("%s.banks: expected %lu or more, among which %s.bank_mask chooses, got %u",
                   object_path(&mc->obj), banks, object_path(address_map_object(mc->map)), mc->banks);
}

static void find_bank_counters(MemoryController *mc) {
    const Sim *sim = mc->obj.sim;
    for (uint32_t i = 0; i < sim->object_count; i++) {
        SimObject *part = sim->objects[i];
        if (part->parent != &mc->obj || part->class != &bank_counters_class) continue;
        BankCounters *counters = (BankCounters *)part;
        if (counters->bank >= mc->banks)
            user_error("%s.bank: expected less than %s.banks = %u, got %u", object_path(part),
                       object_path(&mc->obj), mc->banks, counters->bank);
        BankCounters **place = &mc->bank_counters[counters->bank];
        if (*place && *place != counters)
            user_error("%s.bank: expected one that %s does not count, got %u", object_path(part),
                       object_path(&(*place)->obj), counters->bank);
        *place = counters;
    }
}

static bool counts_banks(const MemoryController *mc) {
    for (uint32_t bank = 0; bank < DRAM_BANKS_MAX; bank++)
        if (mc->bank_counters[bank]) return true;
    return false;
}

/* See memory_controller_is_plain(). */
static bool may_be_plain(const MemoryController *mc) {
    return mc->queues == 1 && mc->scheduler == SCHEDULE_FRFCFS && mc->page_policy == PAGE_OPEN &&
           !memory_controller_refreshes(mc) && !mc->check_commands && !dram_spaces_activates(&mc->timing) &&
           !counts_banks(mc);
}

/* What hangs on periods. */
static void find_times(MemoryController *mc) {
    mc->response_blocked = 1; /* the next tick looks */
    mc->delay = mc->latency * mc->obj.period;
    mc->places_in_quantum = mc->obj.sim->quantum / mc->obj.period + 1; /* one for each command */
    mc->soonest = NEVER / 2;
    for (uint32_t port = 0; port < mc->ports; port++) {
        const Link *link = mc->cpu[port].receive;
        if (!link_is_cut(link)) mc->soonest = earlier_of(mc->soonest, link->latency + mc->delay);
        mc->pushes[port] = (uint32_t)(mc->obj.sim->quantum / link->sender->period + 1) * link->width;
    }
}

/* All else is kept in cycles of its clock. */
static void memory_controller_clocks_changed(SimObject *object, const Clock *was) {
    (void)was;
    find_times((MemoryController *)object);
}

static void memory_controller_init(SimObject *object) {
    MemoryController *mc = (MemoryController *)object;
    free(mc->checker);
    mc->checker = NULL;
    mc->map = address_map_find(object);
    check_channel_is_own(object, mc->map);
    if (functional_memory(object)) view_init(&mc->view, functional_memory(object)->memory);
    check_banks(mc);
    find_bank_counters(mc);
    mc->plain = may_be_plain(mc);
    mc->differ = 1;
    dram_next_forget(&mc->next_command);
    find_times(mc);
    memory_controller_read_class_queues(mc);
    for (uint32_t q = 0; q < mc->queues; q++)
        audit_queue(object, q, "requests for the channel", QUEUE_TABLE, DRAM_QUEUE_MAX, queue_length);
    for (uint32_t port = 0; port < mc->ports; port++)
        audit_queue(object, QUEUES_MAX + port, "responses", QUEUE_FIFO, mc->return_entries, queue_length);
}

static void memory_controller_commit(SimObject *object) {
    view_commit(&((MemoryController *)object)->view);
}

static void memory_controller_destroy(SimObject *object) {
    MemoryController *mc = (MemoryController *)object;
    free(mc->checker);
    if (mc->view.memory) view_free(&mc->view);
}

static Ratio bandwidth_utilisation(const SimObject *object) {
    const MemoryController *mc = (const MemoryController *)object;
    return ratio_of(mc->data_bus_cycles, mc->cycles);
}

static Ratio useful_utilisation(const SimObject *object) {
    const MemoryController *mc = (const MemoryController *)object;
    return ratio_of(mc->read_bytes + mc->write_bytes, mc->cycles * mc->bus_bytes);
}

static Ratio row_hit_rate(const SimObject *object) {
    const MemoryController *mc = (const MemoryController *)object;
    return ratio_of(mc->row_hits, mc->row_hits + mc->row_misses + mc->row_conflicts);
}

static Ratio average_read_latency(const SimObject *object) {
    const MemoryController *mc = (const MemoryController *)object;
    return ratio_of(mc->read_latency_cycles, mc->reads_answered);
}

static Ratio average_queue_entries(const SimObject *object) {
    const MemoryController *mc = (const MemoryController *)object;
    return ratio_of(mc->queue_entry_cycles, mc->cycles);
}

#define TIMING(member, def, doc)                                                                             \
    PARAM(MemoryController, member, def, "cycles", doc, .min = 1, .max = 1000, .timing = true)

/* Defaults: one of the GTX 480's six channels, 64 bits of GDDR5 at 924 MHz command clock. */
static const Field memory_controller_fields[] = {
    BASE(MemoryController),
    PARAM(MemoryController, ports, "1", "ports", "Ports, one per L2 slice", .min = 1, .max = PORTS_MAX),
    PARAM(MemoryController, queues, "1", "queues",
          "Request queues; a request's class chooses, and a posted write is of the last; low queues first",
          .min = 1, .max = QUEUES_MAX, .converts = true),
    PARAM(MemoryController, class_queues, "", "queues",
          "Queue of each class, class 0 first: \"1,1,0\"; of those left out: their own number, or the last",
          .converts = true),
    PARAM(MemoryController, queue_entries, "64", "requests", "Room in each queue", .min = 1,
          .max = DRAM_QUEUE_MAX, .converts = true),
    PARAM(MemoryController, return_entries, "116", "responses", "Room for responses of each port", .min = 1,
          .max = RETURN_ENTRIES_MAX, .converts = true),
    PARAM_CHOICE(MemoryController, scheduler, "frfcfs", "frfcfs|fcfs",
                 "Row hits first, then oldest; or each bank in order of arrival", .timing = true),
    PARAM_CHOICE(
        MemoryController, page_policy, "open", "open|closed|timeout",
        "A row stays open until its bank is wanted for another; is closed by its last column command "
        "if no waiting request wants it; or when page_timeout has passed",
        .timing = true),
    PARAM(
        MemoryController, page_timeout, "100", "cycles",
        "With page_policy = timeout: a row is closed so long after its last column command, unless a request "
        "waits for its bank",
        .min = 1, .max = 1e9, .timing = true),
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
    PARAM(MemoryController, tFAW, "0", "cycles",
          "ACTIVATE to the fourth behind it, any banks: four in so long; 0: as tRRD allows", .max = 1000,
          .timing = true),
    PARAM(MemoryController, tRRDL, "0", "cycles", "ACTIVATE to ACTIVATE, same bank group; 0: as tRRD allows",
          .max = 1000, .timing = true),
    TIMING(tCCD, "2", "Column command to the next of the same kind, any banks"),
    TIMING(tCCDL, "3", "Column command to the next of the same kind, same bank group"),
    TIMING(tWR, "12", "Last written data to PRECHARGE, same bank"),
    TIMING(tCDLR, "5", "Last written data to READ, any banks"),
    TIMING(tRTPL, "2", "READ to PRECHARGE, same bank"),
    PARAM(MemoryController, tREFI, "0", "cycles",
          "REFRESH of all banks to the next, or of a bank to its next; 0: there is none", .min = 0,
          .max = 1e6),
    TIMING(tRFC, "100", "REFRESH of all banks to ACTIVATE"),
    PARAM_CHOICE(
        MemoryController, refresh, "all", "all|bank",
        "REFRESH of all banks at a time; or of one bank every tREFI / banks cycles, in turn, while the "
        "others go on"),
    TIMING(tRFCpb, "50", "REFRESH of one bank to its ACTIVATE"),
    PARAM_FLAG(MemoryController, check_commands, "false", "Verify every command against all timings",
               .timing = true),
    DERIVED(MemoryController, request_slots, "queues * 64"),
    STATE(MemoryController, return_slots, "ports * return_places"),
    STATE(MemoryController, return_places, "Places for responses of each port"),
    DERIVED(MemoryController, pad, "Alignment"),
    DERIVED(MemoryController, timing, "The timing set"),
    PORT_ARRAY(MemoryController, cpu, ports, memory_protocol, ROLE_RESPONDER, "From the L2 slices"),
    STATE(MemoryController, dram, "Banks and timings"),
    STATE(MemoryController, row_used, "Cycle of the last column command to each bank"),
    STATE_ARRAY(MemoryController, queue, queues, "Order, bank and row of the waiting requests"),
    STATE_ARRAY(MemoryController, requests, request_slots, "The waiting requests"),
    STATE_ARRAY(MemoryController, returns, ports, "Rings of responses"),
    STATE_ARRAY(MemoryController, responses, return_slots, "The responses"),
    STATE(MemoryController, plan, "The next command"),
    STATE(MemoryController, plan_expires, "Cycle in which the plan is too old because a request came of age"),
    STATE(MemoryController, accounted, "Cycle up to which cycles are counted"),
    STATE(MemoryController, refresh_due, "Cycle of the next REFRESH"),
    STATE(MemoryController, refresh_bank, "Bank that it is of, where it is of one"),
    STATE(MemoryController, waiting, "Requests in all queues"),
    STATE(MemoryController, first_port, "Port that is served first"),
    STATE(MemoryController, full_returns, "Ports without room for another response"),
    STATE(MemoryController, port_blocked, "Whether a request waits at a port for room in its queue"),
    STATE(MemoryController, replan, "Whether the plan is out of date"),
    STATE(MemoryController, last_column, "Direction of the data bus"),
    KNOB_BY_METHOD(MemoryController, queue_of_class, "queue_of_class", "Queue of each class: set_queue()"),
    STAT(MemoryController, reads, "requests", "Reads and atomics that entered a queue"),
    STAT(MemoryController, writes, "requests", "Writes that entered a queue"),
    STAT(MemoryController, posted_writes, "requests", "Of these writes: without an answer"),
    STAT(MemoryController, urgent, "requests", "Requests that entered a queue before the last"),
    STAT(MemoryController, read_bytes, "bytes", "Asked for by reads"),
    STAT(MemoryController, write_bytes, "bytes", "Covered by writes"),
    STAT(MemoryController, read_commands, "commands", "READ"),
    STAT(MemoryController, write_commands, "commands", "WRITE"),
    STAT(MemoryController, activates, "commands", "ACTIVATE"),
    STAT(MemoryController, precharges, "commands", "PRECHARGE"),
    STAT(MemoryController, refreshes, "commands", "REFRESH"),
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
    STAT(MemoryController, reads_answered, "requests", "Responses to reads and atomics"),
    STAT(MemoryController, writes_answered, "requests", "Responses to writes"),
    STAT(MemoryController, cycles, "cycles", "Command clock cycles"),
    FORMULA("bandwidth_utilisation", bandwidth_utilisation, "fraction",
            "Cycles in which the data bus moved data"),
    FORMULA("useful_utilisation", useful_utilisation, "fraction",
            "Bytes asked for, of those the bus could move; they count when their request comes, so in a "
            "short interval "
            "there may be more of them than the bus moves"),
    FORMULA("row_hit_rate", row_hit_rate, "fraction", "Served requests that found their row open"),
    FORMULA("average_read_latency", average_read_latency, "cycles", "From port to port"),
    FORMULA("average_queue_entries", average_queue_entries, "requests", "Requests in the queues"),
    HOST(MemoryController, port_due, "When a response of each port may leave"),
    HOST(MemoryController, response_due, "The first of these"),
    HOST(MemoryController, response_port, "Its port"),
    HOST(MemoryController, response_blocked, "Whether one is ready and its port has no room"),
    HOST(MemoryController, differ,
         "Whether some requests may not be served although their responses have places"),
    HOST(MemoryController, plain, "Whether its cycle is the plain one if nobody looks on"),
    HOST(MemoryController, left_out,
         "Requests of each queue that policies left out when they were asked last"),
    HOST(MemoryController, next_command, "The best column and the best row command of queue 0"),
    HOST(MemoryController, done_before, "Behind the last cycle that has been done"),
    HOST(MemoryController, next, "When there is something to do again"),
    HOST(MemoryController, delay, "Ticks of its latency"),
    HOST(MemoryController, soonest, "Ticks in which nothing comes that has not been sent"),
    HOST(MemoryController, pushes, "Requests of each port that a quantum may bring"),
    HOST(MemoryController, places_in_quantum, "Places for responses that a quantum may take"),
    HOST(MemoryController, until, "Its cycles before this time are done in the same tick"),
    HOST(MemoryController, open_places, "Responses of each port of which its link does not become full"),
    HOST(MemoryController, bank_counters, "Those that count each bank"),
    HOST(MemoryController, map, "The machine's address map"),
    HOST(MemoryController, view, "What its atomics wrote in this quantum"),
    HOST(MemoryController, checker, "Watches the commands; made at the first one"),
    HOST(MemoryController, arrivals, "Looks on at requests that enter a queue"),
    FIELDS_END};

static bool pick_is_legal(const int64_t *arguments, int64_t picked) {
    return picked != 0 && ((uint64_t)picked & ~(uint64_t)arguments[1]) == 0;
}

static const Question pick = {"a set of one or more of `requests`", pick_is_legal};

static const Event memory_controller_events[] = {
    [MC_PICK] =
        {"pick", "queue, requests, row_hits, writes", &pick,
         "Which of these requests, a set (bit 0: the oldest), may be served? Of the answer the built-in "
         "order chooses"},
    [MC_SERVED] = {"served", "sm, warp, class, write, bank, row, waited, pc, hit, address", NULL,
                   "The last burst of a request is on its way; write: 1 for a write, else 0; waited: cycles "
                   "in the queue; hit: 1 where it found its row open, as row_hits counts it, else 0. Of a "
                   "write-back the warp and the class are those of its line, and pc is 0"},
    [MC_ARRIVED] =
        {"arrived", "sm, warp, class, write, bank, row, address, bytes, pc", NULL,
         "A request has entered its queue, for which it may have waited at its port; arguments as of "
         "on_served"},
    {0}};

const Class memory_controller_class = {
    .name = "MemoryController",
    .doc = "One DRAM channel with its request queue",
    .bytes = sizeof(MemoryController),
    .fields = memory_controller_fields,
    .events = memory_controller_events,
    .methods = memory_controller_methods,
    .trace = &memory_controller_trace,
    .build = memory_controller_build,
    .init = memory_controller_init,
    .tick = memory_controller_tick,
    .commit = memory_controller_commit,
    .commits_first = true,
    .clocks_changed = memory_controller_clocks_changed,
    .settle = memory_controller_settle,
    .is_sound = memory_controller_is_sound,
    .requests_inside = memory_controller_requests,
    .check = memory_controller_check,
    .report = memory_controller_report,
    .convert = memory_controller_convert,
    .destroy = memory_controller_destroy,
};
REGISTER_CLASS(memory_controller_class);
