/* The refreshes of a memory controller: of all banks at once, as soon as one is due and the open rows may be closed. Commands that
 * become legal before it is due still go. While nothing waits nobody can see when a refresh is done, and the controller sleeps: it
 * is done when somebody looks. */
#include "mem/dram/memory_controller_state.h"

static void check(MemoryController *mc, uint64_t cycle) {
    DramChecker *checker = memory_controller_checker(mc);
    const char *violation = checker ? dram_checker_refresh(checker, cycle) : NULL;
    if (violation) memory_controller_violates(mc, DRAM_REFRESH, 0, 0, cycle, violation);
}

void memory_controller_refresh(MemoryController *mc, uint64_t cycle) {
    memory_controller_close_all_timed_out(mc, cycle);
    check(mc, cycle);
    mc->precharges += dram_refresh(&mc->dram, &mc->timing, cycle);
    mc->refreshes++;
    mc->refresh_due += mc->tREFI;
    for (uint32_t q = 0; q < mc->queues; q++)
        for (uint32_t bank = 0; bank < mc->banks; bank++)
            dram_queue_row_changed(&mc->queue[q], &mc->dram, bank);
    mc->next_command.stale = STALE_BOTH;
}

static uint64_t begin_of_refresh(const MemoryController *mc) {
    uint64_t allowed = dram_refresh_earliest(&mc->dram, &mc->timing);
    return allowed > mc->refresh_due ? allowed : mc->refresh_due;
}

DramChoice memory_controller_refresh_choice(const MemoryController *mc, uint64_t floor) {
    uint64_t begin = begin_of_refresh(mc);
    return (DramChoice){.cycle = begin > floor ? begin : floor, .command = DRAM_REFRESH};
}

void memory_controller_refresh_idle(MemoryController *mc, uint64_t cycle) {
    if (begin_of_refresh(mc) > cycle) return;
    memory_controller_refresh(mc, begin_of_refresh(mc));
    if (mc->refresh_due > cycle) return;
    /* All rows are closed: those behind it are done when they are due, and only the last matters. */
    uint64_t further = (cycle - mc->refresh_due) / mc->tREFI;
    mc->refreshes += further;
    mc->refresh_due += further * mc->tREFI;
    memory_controller_refresh(mc, mc->refresh_due);
}
