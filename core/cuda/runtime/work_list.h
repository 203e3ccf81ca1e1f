/* Lists of work, in which each item may wait for items before it: what streams have issued, or a graph. Kernels that wait
 * for none of each other are launched together, and run side by side. Between warp_enter() and warp_leave(). */
#ifndef WW_CUDA_WORK_LIST_H
#define WW_CUDA_WORK_LIST_H

#include "core/cuda/runtime/work.h"

typedef struct {
    WarpWork work;
    uint32_t *after; /* places of items before it */
    uint32_t after_count;
    bool is_kept;     /* the work is the list's: warp_work_keep() */
    bool is_blocking; /* of a stream for which the legacy stream waits */
    bool is_done;
    bool is_running;   /* a host function that has not returned */
    bool is_in_flight; /* a kernel that has begun, and the program has not heard of its end */
    uint32_t launch;   /* its number there, of warp_begin() */
    int priority;      /* of its stream */
    uint64_t ends;     /* core cycle; of one that is done */
    int64_t number; /* among the kernels that are being launched together; less than 0: it is none of them */
    uint32_t seen;  /* by which search for what it waits for */
} WorkItem;

typedef struct WorkList {
    WorkItem *items;
    uint32_t count, capacity, searches;
    uint32_t first;   /* all before it are done */
    uint32_t window;  /* so many items are looked at from there on */
    uint32_t running; /* host functions that have not returned */
    uint64_t number;  /* of all lists that were not empty */
    uint32_t begun;   /* kernels since none was in flight, and how many are */
    uint32_t in_flight;
} WorkList;

/* Behind the others. `keeps`: the list has a copy of its own, or the work is not legal, which is returned. */
int warp_list_add(WorkList *list, const WarpWork *work, bool keeps, const uint32_t *after,
                  uint32_t after_count, int priority);
/* All of it, but for what waits for words that nobody has written. What is launched alone is launched as a program's only
 * kernel is. Returns the first problem that is no running kernel's: see warp_dead(). */
int warp_list_do(WorkList *list);
/* Is there a host function that has not returned, or has nobody else written a word that items wait for? As far as is known
 * without a note that it is read. */
bool warp_list_is_stuck(const WorkList *list);

/* --- While kernels are in flight --- */

/* Until these items are done, or, where `cycles` is not 0, until the core clock comes to a multiple of it: all that waits for
 * none begins meanwhile, and its kernels stay in flight. CUDA_NOT_SUPPORTED: what has not begun has to wait for all that
 * has, and runs by warp_list_do() then. CUDA_NOT_READY: nothing goes on until the program writes a word,
 * or a host function returns in another thread. */
int warp_list_do_until(WorkList *list, const uint32_t *items, uint32_t count, uint64_t cycles);
/* Until none is in flight. */
int warp_list_land(WorkList *list);
bool warp_list_are_done(const WorkList *list, const uint32_t *items, uint32_t count);
/* Is all that is not done among these items, and what they wait for? */
bool warp_list_is_all(WorkList *list, const uint32_t *items, uint32_t count);
void warp_list_empty(WorkList *list);

#endif
