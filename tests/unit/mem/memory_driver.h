/* Two ends of a memory port for tests: a MemoryDriver that sends a script of requests and logs the responses,
 * and a MemoryResponder that answers every request after a fixed time and logs what arrived.
 *
 *   Sim *sim = sim_new("test");
 *   memory_test_classes();
 *   sim_clock(sim, "clock", 1000000000);
 *   SimObject *driver = sim_add(sim, "MemoryDriver", "driver", NULL);      (parameters, then
 * sim_finish_object()) sim_wire(sim, driver, "mem", cache, "cpu", (LinkOptions){0}, (LinkOptions){0});
 *   sim_elaborate(sim);
 *   memory_driver_send(driver, 10, read_request(0x1000, 128));
 *   sim_run(sim, UINT64_MAX);                                              (returns STOP_IDLE)
 *   ck_assert_uint_eq(memory_driver_responses(driver)->entries[0].cycle, 31);
 */
#ifndef WW_TESTS_MEMORY_DRIVER_H
#define WW_TESTS_MEMORY_DRIVER_H

#include "core/sim/sim.h"
#include "mem/protocol/memory_protocol.h"

typedef struct {
    uint64_t cycle; /* of the object that logs it */
    MemMessage message;
} LoggedMessage;

typedef struct {
    LoggedMessage *entries;
    uint32_t count, capacity;
} MessageLog;

/* Port `mem` (requester). Sends its script in order, each request at its earliest cycle or as soon after that
 * as the link and `outstanding` allow. Parameters: outstanding   most requests that may wait for a response;
 * 0 (default): any number refuse_from, refuse_until   takes no response in the cycles from `refuse_from` to
 * before `refuse_until`
 */
extern const Class memory_driver_class;
/* Port `cpu` (responder). Parameters:
 *   latency       cycles from taking a request to sending its response (default 1)
 *   capacity      most requests between taken and answered (default 64)
 *   refuse_from, refuse_until   takes no request in the cycles from `refuse_from` to before `refuse_until`
 *   response_flags   set in every response (MEM_HIT)
 */
extern const Class memory_responder_class;

/* Registers both classes. */
void memory_test_classes(void);

/* Appends to the script. After sim_elaborate(); also between two sim_run(). */
void memory_driver_send(SimObject *driver, uint64_t earliest_cycle, MemMessage message);
const MessageLog *memory_driver_responses(const SimObject *driver);
/* The requests as they were sent: with MemMessage.issued set, and the cycle in which they entered the
 * link. */
const MessageLog *memory_driver_sent(const SimObject *driver);
/* The requests in the order and at the cycles in which the responder took them. */
const MessageLog *memory_responder_arrivals(const SimObject *responder);

MemMessage read_request(uint64_t address, uint32_t bytes);
/* A write of all `bytes`. */
MemMessage write_request(uint64_t address, uint32_t bytes);
MemMessage posted_write_request(uint64_t address, uint32_t bytes);

/* From now on somebody looks on at the object's ticks, so that nothing in its cluster is done ahead of time. */
void look_on(SimObject *object);

/* A counter of an object. */
uint64_t stat_of(const SimObject *object, const char *name);
/* All stats of a machine as text, one "name value" per line, for comparing two runs; the caller frees it. */
char *stats_text(Sim *sim);

#endif
