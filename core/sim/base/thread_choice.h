/* Whether all threads of a machine run the next quanta, or one: what has been faster lately. Only the host's time
 * depends on it. */
#ifndef WW_SIM_THREAD_CHOICE_H
#define WW_SIM_THREAD_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

/* All zero: a new run. */
typedef struct {
    uint32_t left;     /* quanta until there is something to find out */
    uint32_t trial;    /* which one runs, from 1, the measurement; 0: none */
    uint64_t began;    /* ns of the host's clock */
    uint64_t least[2]; /* ns that a trial of one thread, of all, has taken */
    uint32_t between;  /* quanta from the last trials to the next */
    uint32_t loss;     /* of the time of all, in 1024ths, what the host took for something else lately */
    uint64_t lost;     /* ns, since the last trials */
    bool settling;     /* the trial's first quanta, which do not count */
    bool one_is_faster;
} ThreadChoice;

/* At this time a trial has settled, or it ends, or what is between trials: the next one begins, or it is known what is
 * faster. */
void thread_choice_go_on(ThreadChoice *choice, uint64_t now);
/* Before each quantum, of a machine of several threads: shall one thread run it? */
bool thread_choice_is_one(ThreadChoice *choice);
/* In that quantum, shall it be measured how long each cluster takes? All threads run it then. */
bool thread_choice_is_measuring(const ThreadChoice *choice);
/* The caller has waited so many ns for a thread, or done its work, because the host runs something else on its core. Trials
 * are too short to tell how often that is. */
void thread_choice_note_loss(ThreadChoice *choice, uint64_t lost);
uint64_t host_nanoseconds(void);

#endif
