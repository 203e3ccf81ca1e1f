/* MemoryController: one DRAM channel and the queue in front of it. Port array `cpu` (memory_protocol,
 * responder), one port per L2 slice of the channel; needs an AddressMap in the machine. */
#ifndef WW_MEM_MEMORY_CONTROLLER_H
#define WW_MEM_MEMORY_CONTROLLER_H

#include "mem/protocol/networks.h"

/* Requests of the class that come from now on go to this queue, one of those that the controller has. */
void memory_controller_set_queue(SimObject *mc, uint32_t class_number, uint32_t queue);
uint32_t memory_controller_queues(const SimObject *mc);

/* A request that waits. */
typedef struct {
    uint32_t sm, warp, class_number, bank, row, pc;
    bool write;
    uint64_t waited; /* cycles of the controller since it entered the queue */
} WaitingRequest;

/* The request before which so many came; false when there are not so many. */
bool memory_controller_waiting(const SimObject *mc, uint32_t queue, uint32_t place, WaitingRequest *request);
/* The requests of a queue for a bank, bit 0 for the oldest of the queue; 0 for a bank that does not exist. */
uint64_t memory_controller_of_bank(const SimObject *mc, uint32_t queue, uint32_t bank);
/* The same of those that an SM made, by its number. */
uint64_t memory_controller_of_sm(const SimObject *mc, uint32_t queue, uint32_t sm);
/* Of those that a warp waits for: write-backs are of no warp. */
uint64_t memory_controller_of_warp(const SimObject *mc, uint32_t queue, uint32_t sm, uint32_t warp);
/* Of those of a class: a write-back has that of its line. */
uint64_t memory_controller_of_class(const SimObject *mc, uint32_t queue, uint32_t class_number);
/* Of those that want no answer. */
uint64_t memory_controller_write_backs(const SimObject *mc, uint32_t queue);

#endif
