/* What policies may call on a memory controller. */
#include "core/sim/event.h"
#include "mem/dram/memory_controller_state.h"

uint32_t memory_controller_queues(const SimObject *object) {
    return ((const MemoryController *)object)->queues;
}

void memory_controller_set_queue(SimObject *object, uint32_t class_number, uint32_t queue) {
    ((MemoryController *)object)->queue_of_class.of[class_number] = (uint8_t)queue;
}

bool memory_controller_waiting(const SimObject *object, uint32_t q, uint32_t place, WaitingRequest *waiting) {
    const MemoryController *mc = (const MemoryController *)object;
    if (q >= mc->queues || place >= mc->queue[q].count) return false;
    uint32_t rank = dram_queue_rank_of(&mc->queue[q], place);
    const Request *request = request_at(mc, q, rank);
    *waiting = (WaitingRequest){.sm = request->message.sm,
                                .warp = request->message.warp,
                                .class_number = request->message.class_number,
                                .bank = mc->queue[q].bank[rank],
                                .row = mc->queue[q].row[mc->queue[q].slot[rank]],
                                .write = mc->queue[q].write >> rank & 1,
                                .pc = request->message.pc,
                                .waited = object_cycle(object, object_now(object)) - request->entered};
    return true;
}

uint64_t memory_controller_of_bank(const SimObject *object, uint32_t q, uint32_t bank) {
    const MemoryController *mc = (const MemoryController *)object;
    if (q >= mc->queues || bank >= mc->banks) return 0;
    return dram_queue_in_order(&mc->queue[q], mc->queue[q].of_bank[bank]);
}

typedef bool RequestTest(const MemMessage *m, uint32_t sm, uint32_t warp);

/* Those that pass the test. */
static uint64_t requests_that(RequestTest *test, const SimObject *object, uint32_t q, uint32_t sm,
                              uint32_t warp) {
    const MemoryController *mc = (const MemoryController *)object;
    uint64_t requests = 0;
    uint32_t rank;
    if (q >= mc->queues) return 0;
    FOR_RANKS(&mc->queue[q], rank)
    requests |= (uint64_t)test(&request_at(mc, q, rank)->message, sm, warp) << rank;
    return dram_queue_in_order(&mc->queue[q], requests);
}

static bool is_of_sm(const MemMessage *m, uint32_t sm, uint32_t warp) {
    (void)warp;
    return m->sm == sm;
}

static bool is_of_warp(const MemMessage *m, uint32_t sm, uint32_t warp) {
    return m->sm == sm && m->warp == warp && wants_reply(m);
}

static bool is_of_class(const MemMessage *m, uint32_t class_number, uint32_t warp) {
    (void)warp;
    return m->class_number == class_number;
}

static bool is_write_back(const MemMessage *m, uint32_t sm, uint32_t warp) {
    (void)sm, (void)warp;
    return !wants_reply(m);
}

uint64_t memory_controller_of_sm(const SimObject *object, uint32_t q, uint32_t sm) {
    return requests_that(is_of_sm, object, q, sm, 0);
}

uint64_t memory_controller_of_warp(const SimObject *object, uint32_t q, uint32_t sm, uint32_t warp) {
    return requests_that(is_of_warp, object, q, sm, warp);
}

uint64_t memory_controller_of_class(const SimObject *object, uint32_t q, uint32_t class_number) {
    return requests_that(is_of_class, object, q, class_number, 0);
}

uint64_t memory_controller_write_backs(const SimObject *object, uint32_t q) {
    return requests_that(is_write_back, object, q, 0, 0);
}

static void set_queue(SimObject *object, MethodCall *call) {
    memory_controller_set_queue(object, (uint32_t)call->argument[0].whole, (uint32_t)call->argument[1].whole);
}

static void request(SimObject *object, MethodCall *call) {
    WaitingRequest r;
    call->nothing = !memory_controller_waiting(object, (uint32_t)call->argument[0].whole,
                                               (uint32_t)call->argument[1].whole, &r);
    if (call->nothing) return;
    call->result[0].whole = r.sm;
    call->result[1].whole = r.warp;
    call->result[2].whole = r.class_number;
    call->result[3].whole = r.bank;
    call->result[4].whole = r.row;
    call->result[5].flag = r.write;
    call->result[6].whole = (int64_t)r.waited;
    call->result[7].whole = r.pc;
}

static void of_bank(SimObject *object, MethodCall *call) {
    call->result[0].set = memory_controller_of_bank(object, (uint32_t)call->argument[0].whole,
                                                    (uint32_t)call->argument[1].whole);
}

static void of_sm(SimObject *object, MethodCall *call) {
    call->result[0].set = memory_controller_of_sm(object, (uint32_t)call->argument[0].whole,
                                                  (uint32_t)call->argument[1].whole);
}

static void of_warp(SimObject *object, MethodCall *call) {
    call->result[0].set = memory_controller_of_warp(object, (uint32_t)call->argument[0].whole,
                                                    (uint32_t)call->argument[1].whole,
                                                    (uint32_t)call->argument[2].whole);
}

static void of_class(SimObject *object, MethodCall *call) {
    call->result[0].set = memory_controller_of_class(object, (uint32_t)call->argument[0].whole,
                                                     (uint32_t)call->argument[1].whole);
}

static void write_backs(SimObject *object, MethodCall *call) {
    call->result[0].set = memory_controller_write_backs(object, (uint32_t)call->argument[0].whole);
}

static void row_hits(SimObject *object, MethodCall *call) {
    const DramQueue *queue = &((MemoryController *)object)->queue[call->argument[0].whole];
    call->result[0].set = dram_queue_in_order(queue, queue->row_hit);
}

static void writes(SimObject *object, MethodCall *call) {
    const DramQueue *queue = &((MemoryController *)object)->queue[call->argument[0].whole];
    call->result[0].set = dram_queue_in_order(queue, queue->write);
}

/* A hook comes when the cycle is over, and what was counted up to the next one may have been looked at before. */
static void open_row(SimObject *object, MethodCall *call) {
    uint64_t now = call->asked ? object_now(object) : object_next_cycle(object);
    if (!call->asked) memory_controller_settle(object, now);
    uint32_t row = memory_controller_open_row((MemoryController *)object, (uint32_t)call->argument[0].whole,
                                              object_cycle(object, now));
    call->nothing = row == DRAM_NO_ROW;
    call->result[0].whole = row;
}

static void close_row(SimObject *object, MethodCall *call) {
    uint64_t next = object_next_cycle(object);
    if (call->asked) {
        method_refuse(call, "expected a call from a hook, got one from a question, in the midst of a cycle");
        return;
    }
    memory_controller_settle(object, next);
    call->result[0].flag = memory_controller_close_row(
        (MemoryController *)object, (uint32_t)call->argument[0].whole, object_cycle(object, next));
    object_wake(object);
}

#define BANK  WHOLE_NUMBER_BELOW("bank", MemoryController, banks)
#define QUEUE WHOLE_NUMBER_BELOW("queue", MemoryController, queues)

const Method memory_controller_methods[] = {
    METHOD("set_queue", set_queue, "Requests of the class go to this queue; lower ones are served first",
           TAKES(WHOLE_NUMBER("class", .max = CLASSES - 1), QUEUE)),
    METHOD("request", request,
           "A waiting request; rank 0 is the oldest. waited: cycles; pc: 0 of a write-back. nil when the "
           "queue holds fewer",
           TAKES(QUEUE, WHOLE_NUMBER("rank", .max = UINT32_MAX)),
           RETURNS(WHOLE_NUMBER("sm"), WHOLE_NUMBER("warp"), WHOLE_NUMBER("class"), WHOLE_NUMBER("bank"),
                   WHOLE_NUMBER("row"), FLAG_VALUE("write"), WHOLE_NUMBER("waited"), WHOLE_NUMBER("pc")),
           MAY_BE_NIL),
    METHOD("of_bank", of_bank, "The requests for this bank", TAKES(QUEUE, BANK),
           RETURNS(SET_OF("requests", "requests"))),
    METHOD("of_sm", of_sm,
           "The requests of this SM, by its number from 0; those of a write-back are of the SM that made "
           "the line dirty",
           TAKES(QUEUE, WHOLE_NUMBER("sm", .max = UINT32_MAX)), RETURNS(SET_OF("requests", "requests"))),
    METHOD(
        "of_warp", of_warp,
        "The requests of this warp of an SM that are no write-backs, which are of no warp; bits.count() of "
        "them is how many are left",
        TAKES(QUEUE, WHOLE_NUMBER("sm", .max = UINT32_MAX), WHOLE_NUMBER("warp", .max = UINT32_MAX)),
        RETURNS(SET_OF("requests", "requests"))),
    METHOD("of_class", of_class,
           "The requests of this class; those of a write-back are of the class of its line",
           TAKES(QUEUE, WHOLE_NUMBER("class", .max = CLASSES - 1)), RETURNS(SET_OF("requests", "requests"))),
    METHOD("write_backs", write_backs, "The write-backs, for which nobody waits", TAKES(QUEUE),
           RETURNS(SET_OF("requests", "requests"))),
    METHOD("row_hits", row_hits, "The requests whose row is open in their bank", TAKES(QUEUE),
           RETURNS(SET_OF("requests", "requests"))),
    METHOD("writes", writes, "The writes", TAKES(QUEUE), RETURNS(SET_OF("requests", "requests"))),
    METHOD("open_row", open_row, "The row that is open in the bank; nil: none", TAKES(BANK),
           RETURNS(WHOLE_NUMBER("row")), MAY_BE_NIL),
    METHOD("close_row", close_row,
           "Closes the open row of the bank from the next cycle on, as soon as its timings allow, without a "
           "command; false: none is open. Not in a question",
           TAKES(BANK), RETURNS(FLAG_VALUE("closed"))),
    METHODS_END};
