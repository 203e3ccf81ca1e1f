/* The refreshes of a memory controller: of all banks at once, or of one bank after the other, as soon as one is due
 * and the open rows may be closed. Commands that become legal before it is due still go; behind it, those for other
 * banks. While nothing waits nobody can see when a refresh is done, and the controller sleeps: it is done when
 * somebody looks. */
#include "mem/dram/memory_controller_state.h"

static DramBanks banks_of_next(const MemoryController *mc) {
    if (mc->refresh == REFRESH_BANK) return (DramBanks){(uint32_t)mc->refresh_bank, 1};
    return (DramBanks){0, mc->banks};
}

static void check(MemoryController *mc, DramBanks banks, uint64_t cycle) {
    DramChecker *checker = memory_controller_checker(mc);
    const char *violation = checker ? dram_checker_refresh(checker, banks, cycle) : NULL;
    if (violation) memory_controller_violates(mc, DRAM_REFRESH, 0, 0, cycle, violation);
}

void memory_controller_refresh(MemoryController *mc, uint64_t cycle) {
    DramBanks banks = banks_of_next(mc);
    memory_controller_close_all_timed_out(mc, cycle);
    check(mc, banks, cycle);
    mc->precharges += dram_refresh(&mc->dram, &mc->timing, banks, cycle);
    mc->refreshes++;
    mc->refresh_due += memory_controller_refresh_interval(mc);
    mc->refresh_bank = (banks.first + banks.count) % mc->banks;
    for (uint32_t q = 0; q < mc->queues; q++)
        for (uint32_t bank = banks.first; bank < banks.first + banks.count; bank++)
            dram_queue_row_changed(&mc->queue[q], &mc->dram, bank);
    dram_next_forget(&mc->next_command);
}

static uint64_t begin_of_refresh(const MemoryController *mc) {
    uint64_t allowed = dram_refresh_earliest(&mc->dram, banks_of_next(mc));
    return allowed > mc->refresh_due ? allowed : mc->refresh_due;
}

DramChoice memory_controller_refresh_choice(const MemoryController *mc, uint64_t floor) {
    uint64_t begin = begin_of_refresh(mc);
    return (DramChoice){.cycle = begin > floor ? begin : floor, .command = DRAM_REFRESH};
}

/* All rows are closed: refreshes are done when they are due, and only the last of each bank matters. */
static void pass_over_all_but_the_last(MemoryController *mc, uint64_t round, uint64_t cycle) {
    uint64_t interval = memory_controller_refresh_interval(mc);
    if (mc->refresh_due > cycle) return;
    uint64_t rounds = (cycle - mc->refresh_due) / (interval * round);
    if (rounds < 2) return;
    mc->refreshes += (rounds - 1) * round;
    mc->refresh_due += (rounds - 1) * round * interval;
}

void memory_controller_refresh_idle(MemoryController *mc, uint64_t cycle) {
    uint64_t round = mc->banks / banks_of_next(mc).count, done = 0, begin = 0;
    while ((begin = later_of(begin_of_refresh(mc), begin)) <= cycle) {
        if (done++ == round) pass_over_all_but_the_last(mc, round, cycle);
        memory_controller_refresh(mc, later_of(begin_of_refresh(mc), begin));
    }
}
