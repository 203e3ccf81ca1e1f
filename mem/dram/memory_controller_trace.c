/* What traces show of a memory controller: the commands to its banks, each with the request that it is for. */
#include "core/sim/trace/trace.h"
#include "mem/dram/memory_controller_state.h"

/* A command is planned at the end of a cycle and issued in a later one, unless another plan takes its place: so
 * what was planned for this cycle has been issued. */
typedef struct {
    DramChoice plan;
    MemMessage message;
    uint32_t row, waiting;
} Memory;

static void remember(const MemoryController *mc, Memory *memory) {
    memory->plan = mc->plan;
    if (mc->plan.command == DRAM_REFRESH) memory->plan.bank = (uint8_t)mc->refresh_bank;
    if (mc->plan.cycle == NEVER || mc->plan.command == DRAM_REFRESH) return;
    const DramQueue *queue = &mc->queue[mc->plan.queue];
    uint32_t slot = queue->slot[mc->plan.rank];
    memory->row = queue->row[slot];
    memory->message = request_in(mc, mc->plan.queue, slot)->message;
}

static void show_command(const MemoryController *mc, const Memory *memory, uint64_t now) {
    static const char *const names[] = {"RD", "WR", "ACT", "PRE", "REF", "RDA", "WRA"};
    enum { WITH_AUTO_PRECHARGE = 5 };
    bool closed = memory->plan.command <= DRAM_WRITE &&
                  mc->dram.banks[memory->plan.bank].open_row == DRAM_NO_ROW;
    const char *name = names[memory->plan.command + (closed ? WITH_AUTO_PRECHARGE : 0)];
    TraceRecord *record = trace_record(&mc->obj, TRACE_COMMAND, name, now);
    if (memory->plan.command == DRAM_REFRESH) {
        record->detail = mc->refresh == REFRESH_BANK ? "bank %d" : "all banks";
        record->number[0] = memory->plan.bank;
        return;
    }
    mem_trace(&memory->message, &record->message);
    record->detail = "bank %d row %x";
    record->number[0] = memory->plan.bank;
    record->number[1] = memory->row;
}

static void count_requests(const MemoryController *mc, Memory *memory, uint64_t now) {
    if (mc->waiting == memory->waiting) return;
    memory->waiting = mc->waiting;
    trace_record(&mc->obj, TRACE_COUNTER, "queue", now)->number[0] = mc->waiting;
}

static void look(SimObject *object, void *memory_of_it, uint64_t now) {
    const MemoryController *mc = (const MemoryController *)object;
    Memory *memory = memory_of_it;
    if (memory->plan.cycle == object_cycle(object, now)) show_command(mc, memory, now);
    remember(mc, memory);
    count_requests(mc, memory, now);
}

static void begin(SimObject *object, void *memory, uint64_t now) {
    const MemoryController *mc = (const MemoryController *)object;
    remember(mc, memory);
    count_requests(mc, memory, now);
}

static const char *const names[] = {"ACT", "RD", "WR", "RDA", "WRA", "PRE", "REF", NULL};

const TraceClass memory_controller_trace = {
    .names = names, .memory_bytes = sizeof(Memory), .begin = begin, .look = look};
