#include "core/sim/base/thread_choice.h"

#include <time.h>

/* Trials alternate, and the shortest of each kind counts: the host may do something else in any of them. In the first,
 * clusters are measured, which takes time itself, so that it does not count. The first quanta of each trial do not count
 * either: what the clusters touch moves from core to core in them. What a kernel does at its beginning says little of the
 * rest, so trials come again soon at first. */
enum { WHOLE = 1024 }; /* of ThreadChoice.loss */
enum {
    TRIALS = 5,
    MEASUREMENT = 1,
    SETTLING_QUANTA = 16,
    TRIAL_QUANTA = 32,
    LEAST_BETWEEN = 256,
    MOST_BETWEEN = 16384
};

uint64_t host_nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static bool is_of_one(uint32_t trial) {
    return trial % 2 == 0;
}

static void note_trial(ThreadChoice *choice, uint64_t now) {
    uint64_t taken = now - choice->began, *least = &choice->least[!is_of_one(choice->trial)];
    if (!*least || taken < *least) *least = taken;
}

static void begin_trial(ThreadChoice *choice) {
    choice->trial++;
    choice->settling = true;
    choice->left = SETTLING_QUANTA;
}

void thread_choice_note_loss(ThreadChoice *choice, uint64_t lost) {
    choice->lost += lost;
}

/* At the end of what is between trials. While one thread runs nothing is lost, and what is known of it grows old. */
static void note_losses(ThreadChoice *choice, uint64_t now) {
    uint64_t taken = now - choice->began, lost = choice->lost < taken ? choice->lost : taken;
    if (choice->one_is_faster)
        choice->loss -= (choice->loss + 7) / 8;
    else
        choice->loss = taken ? (uint32_t)(lost * (WHOLE - 1) / taken) : 0;
}

static void choose(ThreadChoice *choice, uint64_t now) {
    uint64_t all = choice->least[1] * WHOLE / (WHOLE - choice->loss);
    choice->one_is_faster = choice->least[0] < all;
    choice->least[0] = choice->least[1] = choice->lost = 0;
    choice->began = now;
    choice->trial = 0;
    choice->between = !choice->between                 ? LEAST_BETWEEN
                      : choice->between < MOST_BETWEEN ? 2 * choice->between
                                                       : MOST_BETWEEN;
    choice->left = choice->between;
}

void thread_choice_go_on(ThreadChoice *choice, uint64_t now) {
    if (choice->settling) {
        choice->settling = false;
        choice->left = TRIAL_QUANTA;
        choice->began = now;
        return;
    }
    if (choice->trial > MEASUREMENT) note_trial(choice, now);
    if (!choice->trial && choice->between) note_losses(choice, now);
    if (choice->trial == TRIALS)
        choose(choice, now);
    else
        begin_trial(choice);
}

bool thread_choice_is_one(ThreadChoice *choice) {
    if (choice->left == 0) thread_choice_go_on(choice, host_nanoseconds());
    choice->left--;
#ifdef WW_DEBUG /* both again and again, whatever is faster */
    return choice->left / 16 % 2;
#else
    return choice->trial ? is_of_one(choice->trial) : choice->one_is_faster;
#endif
}

bool thread_choice_is_measuring(const ThreadChoice *choice) {
    return choice->trial == MEASUREMENT && !choice->settling;
}
