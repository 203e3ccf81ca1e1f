/* Taking over what waits for the channel in other queues, a warm machine under another DRAM schedule, and
 * what waits for the ports with other room for it. Banks, rows, timings and counters are rows that the kernel
 * has copied. */
#include "core/sim/checkpoint/snapshot.h"
#include "mem/dram/memory_controller_state.h"

#include <stdlib.h>
#include <string.h>

static const char *const queue_params[] = {"queues", "class_queues", "queue_entries", NULL};
static const char *const queue_rows[] = {"queue", "requests", NULL};

/* The queues as they were saved, copied to where they are aligned. */
typedef struct {
    DramQueue *queue;
    Request *requests;
    uint32_t queues;
    uint64_t left[QUEUES_MAX]; /* ranks of the requests that have no new place yet */
} SavedQueues;

static bool queue_is_sound(const DramQueue *queue, uint32_t banks) {
    uint32_t rank;
    if (queue->count != (uint32_t)__builtin_popcountll(queue->ranks)) return false;
    FOR_RANKS(queue, rank)
    if (queue->slot[rank] >= DRAM_QUEUE_MAX || queue->bank[rank] >= banks) return false;
    return true;
}

static bool read_queues(SavedQueues *before, const SavedObject *saved, uint32_t banks) {
    size_t queue_bytes = 0, request_bytes = 0;
    before->queue = saved_row_copy(saved, queue_rows[0], &queue_bytes);
    before->requests = saved_row_copy(saved, queue_rows[1], &request_bytes);
    before->queues = (uint32_t)(queue_bytes / sizeof *before->queue);
    if (before->queues > QUEUES_MAX || queue_bytes != before->queues * sizeof *before->queue ||
        request_bytes != before->queues * DRAM_QUEUE_MAX * sizeof *before->requests)
        return false;
    for (uint32_t q = 0; q < before->queues; q++)
        if (!queue_is_sound(&before->queue[q], banks)) return false;
    for (uint32_t q = 0; q < before->queues; q++)
        before->left[q] = before->queue[q].ranks;
    return true;
}

/* The oldest of those that are left. */
static const Request *saved_request(const SavedQueues *before, uint32_t q) {
    const DramQueue *queue = &before->queue[q];
    return &before->requests[q * DRAM_QUEUE_MAX + queue->slot[__builtin_ctzll(before->left[q])]];
}

/* The queue of the oldest request that has no new place; of those that came in the same cycle, through
 * several ports, that of the lower queue. `queues`: none. */
static uint32_t queue_of_oldest(const SavedQueues *before) {
    uint32_t oldest = before->queues;
    for (uint32_t q = 0; q < before->queues; q++) {
        if (!before->left[q]) continue;
        if (oldest == before->queues ||
            saved_request(before, q)->entered < saved_request(before, oldest)->entered)
            oldest = q;
    }
    return oldest;
}

/* A refresh is for none of them. */
static bool is_for_request(const DramChoice *plan) {
    return plan->cycle != NEVER && plan->command != DRAM_REFRESH;
}

static bool is_planned(const DramChoice *plan, uint32_t q, uint32_t rank) {
    return is_for_request(plan) && plan->queue == q && plan->rank == rank;
}

/* The oldest request of saved queue `from` becomes the youngest of queue `to`. A command that is planned for
 * it is still issued in its cycle. */
static void move_oldest(MemoryController *mc, SavedQueues *before, const DramChoice *plan, uint32_t from,
                        uint32_t to) {
    const Request *request = saved_request(before, from);
    const DramQueue *queue = &before->queue[from];
    uint32_t rank = (uint32_t)__builtin_ctzll(before->left[from]), now = dram_queue_end(&mc->queue[to]);
    uint32_t slot = dram_queue_add(&mc->queue[to], &mc->dram, queue->bank[rank],
                                   queue->row[queue->slot[rank]], queue->write >> rank & 1,
                                   queue->unserved_reply >> rank & 1);
    *request_in(mc, to, slot) = *request;
    before->left[from] &= before->left[from] - 1;
    if (!is_planned(plan, from, rank)) return;
    mc->plan = *plan;
    mc->plan.queue = (uint8_t)to;
    mc->plan.rank = (uint8_t)now;
}

static bool refuse(const MemoryController *mc, const SavedQueues *before, uint32_t q, char *why,
                   size_t why_size) {
    uint32_t wanted = mc->queue[q].count;
    SavedQueues rest = *before;
    for (uint32_t from; (from = queue_of_oldest(&rest)) != rest.queues;
         rest.left[from] &= rest.left[from] - 1)
        wanted += queue_of(mc, &saved_request(&rest, from)->message) == q;
    snprintf(why, why_size,
             "%s.%s: expected up to %u waiting requests for queue %u of %u, got %u; the %u queues of the "
             "checkpoint, more queues for its classes or a checkpoint of another cycle help",
             object_path(&mc->obj), before->queues == mc->queues ? "class_queues" : "queues", DRAM_QUEUE_MAX,
             q, mc->queues, wanted, before->queues);
    return false;
}

/* `same`: each stays in its queue. */
static bool move_all(MemoryController *mc, SavedQueues *before, bool same, char *why, size_t why_size) {
    const DramChoice plan = mc->plan;
    uint32_t from;
    memset(mc->queue, 0, mc->queues * sizeof *mc->queue);
    memset(mc->requests, 0, mc->request_slots * sizeof *mc->requests);
    if (is_for_request(&plan)) mc->plan = DRAM_NO_CHOICE;
    mc->replan = 1;
    while ((from = queue_of_oldest(before)) != before->queues) {
        uint32_t to = same ? from : queue_of(mc, &saved_request(before, from)->message);
        if (mc->queue[to].count == DRAM_QUEUE_MAX) return refuse(mc, before, to, why, why_size);
        move_oldest(mc, before, &plan, from, to);
    }
    return true;
}

/* With other queues, which classes go where begins anew. */
static bool transfer(MemoryController *mc, SavedQueues *before, const SavedObject *saved,
                     const SnapshotChanges *changes, char *why, size_t why_size) {
    const char *class_queues = saved_text(saved, "class_queues");
    char line[256];
    bool same = before->queues == mc->queues && class_queues && strcmp(class_queues, mc->class_queues) == 0;
    if (!same && !changes->reset_knobs) memory_controller_read_class_queues(mc);
    if (!move_all(mc, before, same, why, why_size)) return false;
    snprintf(line, sizeof line, "%s: waiting requests were put into %s", object_path(&mc->obj),
             mc->queues == 1 ? "one queue, in order of arrival" : "the queues of their classes");
    if (!same && changes->note) changes->note(changes->context, line);
    return true;
}

/* Rings of responses that are too short grow; longer ones stay as they are. */
static void make_room_for_responses(MemoryController *mc) {
    uint32_t before = mc->return_places, places = mc->return_entries;
    if (places <= before) return;
    Response *responses = array_grown(NULL, 0, mc->ports * places, sizeof *responses);
    for (uint32_t port = 0; port < mc->ports; port++) {
        for (uint32_t i = 0; i < mc->returns[port].held; i++)
            responses[port * places + i] = *response_at(mc, port, i);
        mc->returns[port].first = 0;
    }
    free(mc->responses);
    mc->responses = responses;
    mc->return_places = places;
    mc->return_slots = mc->ports * places;
}

static bool is_full(const MemoryController *mc, const ReturnQueue *returns) {
    return returns->held + returns->promised >= mc->return_entries;
}

/* Would the response of the request that the plan serves find no place? */
static bool plan_has_no_place(const MemoryController *mc) {
    const DramChoice *plan = &mc->plan;
    if (!is_for_request(plan) || !(mc->queue[plan->queue].unserved_reply >> plan->rank & 1)) return false;
    return is_full(mc, &mc->returns[request_at(mc, plan->queue, plan->rank)->port]);
}

static void look_for_full_ports(MemoryController *mc) {
    mc->full_returns = 0;
    for (uint32_t port = 0; port < mc->ports; port++)
        mc->full_returns += is_full(mc, &mc->returns[port]);
    if (plan_has_no_place(mc)) mc->plan = DRAM_NO_CHOICE;
    mc->replan = 1;
}

static bool transfer_queues(MemoryController *mc, const SavedObject *saved, const SnapshotChanges *changes,
                            char *why, size_t why_size) {
    SavedQueues before = {0};
    bool good = read_queues(&before, saved, mc->banks);
    if (!good)
        snprintf(why, why_size, "%s: its queues are damaged", object_path(&mc->obj));
    else
        good = transfer(mc, &before, saved, changes, why, why_size);
    free(before.queue);
    free(before.requests);
    return good;
}

bool memory_controller_convert(SimObject *object, const SavedObject *saved, const SnapshotChanges *changes,
                               char *why, size_t why_size) {
    static const char *const return_params[] = {"return_entries", NULL};
    MemoryController *mc = (MemoryController *)object;
    if (!saved_rows_but(saved, queue_rows, why, why_size)) return false;
    if (!saved_same(saved, queue_params) && !transfer_queues(mc, saved, changes, why, why_size)) return false;
    if (saved_same(saved, return_params)) return true;
    make_room_for_responses(mc);
    look_for_full_ports(mc);
    return true;
}
