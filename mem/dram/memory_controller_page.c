/* When a memory controller closes rows that no waiting request wants, by its page_policy. Neither way takes a command of the
 * channel, or wakes the controller. */
#include "mem/dram/memory_controller_state.h"

static void close_row(MemoryController *mc, uint32_t bank, uint64_t cycle) {
    DramChecker *checker = memory_controller_checker(mc);
    const char *violation = checker ? dram_checker_close(checker, bank, cycle) : NULL;
    uint32_t row = mc->dram.banks[bank].open_row;
    if (violation) memory_controller_violates(mc, DRAM_PRECHARGE, bank, row, cycle, violation);
    dram_close(&mc->dram, &mc->timing, bank, cycle);
    mc->precharges++;
}

/* Auto-precharge. The row is closed to all that comes behind the command: so it counts as closed from now on, and the bank can
 * be opened when it is. */
void memory_controller_close_unwanted(MemoryController *mc, uint32_t bank) {
    for (uint32_t q = 0; q < mc->queues; q++)
        if (mc->queue[q].of_bank[bank] & mc->queue[q].row_hit) return;
    close_row(mc, bank, mc->dram.banks[bank].earliest[DRAM_PRECHARGE]);
    for (uint32_t q = 0; q < mc->queues; q++)
        dram_queue_row_changed(&mc->queue[q], &mc->dram, bank);
    dram_next_forget(&mc->next_command);
}

static bool is_wanted(const MemoryController *mc, uint32_t bank) {
    for (uint32_t q = 0; q < mc->queues; q++)
        if (mc->queue[q].of_bank[bank]) return true;
    return false;
}

/* Of a bank with an open row. */
static uint64_t times_out(const MemoryController *mc, uint32_t bank) {
    return later_of(mc->row_used[bank] + mc->page_timeout, mc->dram.banks[bank].earliest[DRAM_PRECHARGE]);
}

/* Only requests that wait for a bank, and policies, can see whether its row is open, and while there are any requests, they
 * decide: so a row is closed when the next one comes, as of the cycle in which its time had run out. */
void memory_controller_close_timed_out(MemoryController *mc, uint32_t bank, uint64_t cycle) {
    const DramBank *b = &mc->dram.banks[bank];
    if (b->open_row == DRAM_NO_ROW || is_wanted(mc, bank)) return;
    uint64_t ends = times_out(mc, bank);
    if (ends <= cycle) close_row(mc, bank, ends);
}

void memory_controller_close_all_timed_out(MemoryController *mc, uint64_t cycle) {
    if (mc->page_policy != PAGE_TIMEOUT) return;
    for (uint32_t bank = 0; bank < mc->banks; bank++)
        memory_controller_close_timed_out(mc, bank, cycle);
}

/* ---- Policies ---- */

uint32_t memory_controller_open_row(const MemoryController *mc, uint32_t bank, uint64_t cycle) {
    bool timed_out = mc->page_policy == PAGE_TIMEOUT && !is_wanted(mc, bank) && times_out(mc, bank) <= cycle;
    return timed_out ? DRAM_NO_ROW : mc->dram.banks[bank].open_row;
}

bool memory_controller_close_row(MemoryController *mc, uint32_t bank, uint64_t cycle) {
    const DramBank *b = &mc->dram.banks[bank];
    if (b->open_row == DRAM_NO_ROW) return false;
    close_row(mc, bank, later_of(cycle, b->earliest[DRAM_PRECHARGE]));
    for (uint32_t q = 0; q < mc->queues; q++)
        dram_queue_row_changed(&mc->queue[q], &mc->dram, bank);
    dram_next_forget(&mc->next_command);
    mc->replan = 1;
    if (mc->plan.bank == bank && mc->plan.command != DRAM_REFRESH) mc->plan = DRAM_NO_CHOICE;
    return true;
}
