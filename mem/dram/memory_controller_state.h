/* The state of a memory controller, shared by its files: memory_controller.c, its cycle;
 * memory_controller_responses.c, what it sends; memory_controller_class.c, its rows and building;
 * memory_controller_methods.c, what policies may call; memory_controller_check.c, its conservation laws;
 * memory_controller_convert.c, the transfer of what waits in other queues; memory_controller_refresh.c, the refreshes;
 * memory_controller_page.c, when rows are closed that no request wants. */
#ifndef WW_MEM_MEMORY_CONTROLLER_STATE_H
#define WW_MEM_MEMORY_CONTROLLER_STATE_H

#include "core/sim/method.h"
#include "mem/dram/bank_counters.h"
#include "mem/dram/dram_checker.h"
#include "mem/dram/dram_next.h"
#include "mem/dram/memory_controller.h"
#include "mem/protocol/address_map.h"
#include "mem/protocol/class_table.h"
#include "mem/protocol/functional_memory.h"
#include "mem/protocol/memory_protocol.h"

enum { SCHEDULE_FRFCFS, SCHEDULE_FCFS };

enum { PAGE_OPEN, PAGE_CLOSED, PAGE_TIMEOUT };

enum { REFRESH_ALL, REFRESH_BANK };

enum { PORTS_MAX = 16, QUEUES_MAX = 8, RETURN_ENTRIES_MAX = 16384 };

typedef enum { MC_PICK, MC_SERVED, MC_ARRIVED } McEvent;

/* Looks on from the controller's own tick. */
typedef struct ArrivalObserver {
    void (*arrived)(struct ArrivalObserver *observer, const MemMessage *m);
} ArrivalObserver;

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
    uint32_t promised; /* places taken by requests in flight */
    uint32_t reserved;
} ReturnQueue;

typedef struct {
    SimObject obj;
    char *class_queues;
    uint32_t ports, queues, queue_entries, return_entries, scheduler, latency, age_cap;
    uint32_t banks, bank_groups, group_bits;
    uint32_t bus_bytes, burst_bytes;
    uint32_t tCL, tWL, tRCD, tRP, tRC, tRAS, tRRD, tCCD, tCCDL, tWR, tCDLR, tRTPL, tREFI, tRFC;
    uint32_t refresh, tRFCpb;
    uint32_t check_commands, page_policy, page_timeout, tFAW, tRRDL;
    /* In all queues, in all ports. What was longer may hold more than queue_entries and return_entries until
     * it has drained. */
    uint32_t request_slots, return_slots;
    uint32_t return_places, pad; /* of each port */
    DramTiming timing;
    Port *cpu;

    Dram dram;
    /* The cycle of the last column command to each bank. */
    uint64_t row_used[DRAM_BANKS_MAX];
    DramQueue *queue;     /* queues                                          */
    Request *requests;    /* request_slots: queue * DRAM_QUEUE_MAX + slot    */
    ReturnQueue *returns; /* ports                                           */
    Response *responses;  /* return_slots: port * return_places + place      */
    DramChoice plan;
    uint64_t plan_expires; /* no later than the cycle in which a request comes to age_cap */
    uint64_t accounted;    /* cycle up to which the per-cycle counters are kept */
    uint64_t refresh_due;  /* cycle of the next REFRESH; NEVER: there is none */
    uint64_t refresh_bank; /* of refresh = bank: whose turn it is             */
    uint32_t waiting;      /* requests in all queues                          */
    uint32_t first_port;   /* is served first when requests enter             */
    uint32_t full_returns; /* ports without room for another response         */
    uint32_t port_blocked; /* a request waits at a port for room in its queue */
    uint32_t replan;
    uint32_t last_column; /* command, 1 + DramCommand                        */
    ClassTable queue_of_class;

    uint64_t reads, writes, posted_writes, urgent, read_bytes, write_bytes;
    uint64_t read_commands, write_commands, activates, precharges, refreshes;
    uint64_t row_hits, row_misses, row_conflicts;
    uint64_t turnarounds, data_bus_cycles, queue_full_cycles, queue_entry_cycles, queue_wait_cycles;
    uint64_t read_latency_cycles, reads_answered, writes_answered;
    uint64_t cycles;

    /* Found again after a resume. The data of commands come in the order of these: a port's first response
     * is due after those of all ports that wait for their data. */
    uint64_t port_due[PORTS_MAX];    /* cycle in which the port's oldest response may leave, or NEVER */
    uint64_t response_due;           /* the first of these                                           */
    uint32_t response_port;          /* and its port                                                 */
    uint32_t response_blocked;       /* one is ready whose port has no room; or nobody has looked    */
    uint32_t differ;                 /* some requests may not be served, or nobody has looked        */
    uint32_t plain;                  /* memory_controller_is_plain(), if nobody looks on             */
    uint64_t left_out[QUEUES_MAX];   /* of each queue: by the last answer of policies */
    DramNext next_command;           /* of queue 0, while all its requests may be served   */
    uint64_t done_before;            /* its cycles before this time have been done         */
    uint64_t next;                   /* when there is something to do again                */
    uint64_t delay, soonest;         /* ticks: its latency; until what nobody has sent yet may come */
    uint32_t pushes[PORTS_MAX];      /* of each port: a quantum brings no more requests    */
    uint64_t places_in_quantum;      /* for responses: a quantum takes no more             */
    uint64_t until;                  /* cycles before this time are done in the same tick  */
    uint64_t open_places[PORTS_MAX]; /* of each port: with so many responses its link is not full */
    BankCounters *bank_counters[DRAM_BANKS_MAX]; /* NULL: of no interest */
    const AddressMap *map;
    MemoryView view; /* what this quantum's atomics wrote */
    DramChecker *checker;
    ArrivalObserver *arrivals; /* looks on at requests that enter a queue; or NULL */
} MemoryController;

/* Debug builds check all commands, others where check_commands says so. */
#ifdef WW_DEBUG
enum { ALWAYS_CHECKS = 1 };
#else
enum { ALWAYS_CHECKS = 0 };
#endif
static inline bool memory_controller_checks(const MemoryController *mc) {
    return ALWAYS_CHECKS || __builtin_expect(mc->check_commands != 0, 0);
}
/* NULL: it does not. */
DramChecker *memory_controller_checker(MemoryController *mc);
_Noreturn void memory_controller_violates(const MemoryController *mc, uint32_t command, uint32_t bank,
                                          uint32_t row, uint64_t cycle, const char *violation);

/* A port's ring among the queues of the object, of which the first are the request queues. */
static inline uint32_t return_queue(uint32_t port) {
    return QUEUES_MAX + port;
}

static inline uint32_t place_index(const MemoryController *mc, const ReturnQueue *returns, uint32_t place) {
    uint32_t index = returns->first + place;
    return index >= mc->return_places ? index - mc->return_places : index;
}

static inline Response *response_at(const MemoryController *mc, uint32_t port, uint32_t place) {
    return &mc->responses[port * mc->return_places + place_index(mc, &mc->returns[port], place)];
}

static inline Response *oldest_response(const MemoryController *mc, uint32_t port) {
    return &mc->responses[port * mc->return_places + mc->returns[port].first];
}

static inline Request *request_in(const MemoryController *mc, uint32_t queue, uint32_t slot) {
    return &mc->requests[queue * DRAM_QUEUE_MAX + slot];
}

static inline Request *request_at(const MemoryController *mc, uint32_t queue, uint32_t rank) {
    return request_in(mc, queue, mc->queue[queue].slot[rank]);
}

static inline bool wants_reply(const MemMessage *message) {
    return !(message->flags & MEM_POSTED);
}

/* With one queue, without tFAW and tRRDL, and nothing beside its requests and their order to decide what comes next: most controllers,
 * for which the cycle has code of its own. Nobody may look on. */
static inline bool memory_controller_is_plain(const MemoryController *mc) {
    return mc->plain & (mc->obj.subscribed == 0) & (mc->arrivals == NULL);
}

/* Nobody waits for a write-back, whoever wrote the line: it is of the last queue. */
static inline uint32_t queue_of(const MemoryController *mc, const MemMessage *message) {
    if (mc->queues == 1) return 0;
    return wants_reply(message) ? class_value(&mc->queue_of_class, message->class_number) : mc->queues - 1;
}

/* The classes' own numbers are their queues, unless class_queues says otherwise. */
void memory_controller_read_class_queues(MemoryController *mc);
uint64_t memory_controller_tick(SimObject *object, uint64_t now);
/* The first cycle that begins at `time` or later. */
static inline uint64_t memory_controller_cycle_from(const MemoryController *mc, uint64_t time) {
    return object_cycle(&mc->obj, time + mc->obj.period - 1);
}
/* Sends the responses that are ready in a cycle in which none has been sent; one that finds no room is tried again. */
void memory_controller_begin_responses(MemoryController *mc, uint64_t now, uint64_t cycle);
/* Behind the last cycle of a tick. Sends the responses that become ready before `until`, each as of its cycle; no port is
 * full then, and their links have room. 0: none. */
void memory_controller_send_responses(MemoryController *mc, uint64_t until);
/* Counts the cycles up to `now`. */
extern const Method memory_controller_methods[];
extern const TraceClass memory_controller_trace;
void memory_controller_settle(SimObject *object, uint64_t now);
/* While nothing waits, the refreshes up to `cycle` have been done. */
void memory_controller_refresh_idle(MemoryController *mc, uint64_t cycle);
/* The command that begins the refresh that is due, for a controller in which something waits; cycles from `floor` on. */
DramChoice memory_controller_refresh_choice(const MemoryController *mc, uint64_t floor);
void memory_controller_refresh(MemoryController *mc, uint64_t cycle);
/* Cycles from one REFRESH to the next. */
static inline uint64_t memory_controller_refresh_interval(const MemoryController *mc) {
    return mc->refresh == REFRESH_BANK ? mc->tREFI / mc->banks : mc->tREFI;
}
/* Do the requests for refresh_bank wait in the cycle, until it has been refreshed? */
static inline bool memory_controller_keeps_back(const MemoryController *mc, uint64_t cycle) {
    return mc->refresh == REFRESH_BANK && mc->refresh_due <= cycle;
}
/* The bank's last column command, of a request that has no other left, has been issued. */
void memory_controller_close_unwanted(MemoryController *mc, uint32_t bank);
/* The bank's row, for which page_timeout may have run out by `cycle`. */
void memory_controller_close_timed_out(MemoryController *mc, uint32_t bank, uint64_t cycle);
/* The rows of all banks. */
void memory_controller_close_all_timed_out(MemoryController *mc, uint64_t cycle);
/* The row of the bank that is open in `cycle`, which has not been done yet; DRAM_NO_ROW: none. */
uint32_t memory_controller_open_row(const MemoryController *mc, uint32_t bank, uint64_t cycle);
/* Closes it from `cycle` on, whoever waits for it, as soon as the bank allows. False: none is open. */
bool memory_controller_close_row(MemoryController *mc, uint32_t bank, uint64_t cycle);
static inline bool memory_controller_refreshes(const MemoryController *mc) {
    return mc->tREFI != 0;
}
void memory_controller_requests(const SimObject *object, RequestVisitor *visit, void *context);
void memory_controller_is_sound(const SimObject *object, bool fits);
void memory_controller_check(const SimObject *object, bool idle);
/* What waits in other queues; see Class.convert. */
bool memory_controller_convert(SimObject *object, const SavedObject *saved,
                               const struct SnapshotChanges *changes, char *why, size_t why_size);
void memory_controller_report(const SimObject *object, FILE *out);

#endif
