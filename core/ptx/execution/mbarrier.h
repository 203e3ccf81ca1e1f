/* mbarrier: barriers that are objects in shared memory. */
#ifndef WW_PTX_MBARRIER_H
#define WW_PTX_MBARRIER_H

#include "core/ptx/instructions/inst.h"

enum { MBARRIER_BYTES = 8 };

/* Inst.detail of an mbarrier instruction, in the bits of DETAIL_ATOMIC_MASK. Source 1, where there is one, is a count;
 * of waits a state or the parity of a phase. */
typedef enum {
    MBARRIER_INIT,
    MBARRIER_INVAL,
    MBARRIER_EXPECT_TX,
    MBARRIER_COMPLETE_TX,
    MBARRIER_ARRIVE,
    MBARRIER_ARRIVE_EXPECT_TX, /* the count is one of bytes */
    MBARRIER_DROP,
    MBARRIER_DROP_EXPECT_TX,
    MBARRIER_WAIT,
    MBARRIER_WAIT_PARITY,
    MBARRIER_EXPECT_ONE, /* cp.async.mbarrier.arrive without .noinc: one arrival more in this phase */
    MBARRIER_FIND,       /* with it: nothing yet */
} MbarrierOp;

/* Carries it out for a thread; *state: what the object was. False when it is no object, or cannot take as many
 * arrivals or bytes: then nothing has changed. */
bool mbarrier_perform(uint64_t *object, MbarrierOp operation, uint32_t count, uint64_t *state);
/* Has the phase ended in which an object had this state, or whose parity this is (0 or 1)? */
bool mbarrier_has_passed(uint64_t object, uint64_t state);
bool mbarrier_has_passed_parity(uint64_t object, uint32_t parity);
/* Does it wait at an mbarrier? */
bool mbarrier_is_wait(const Inst *inst);
/* Arrivals that were missing. */
uint32_t mbarrier_pending(uint64_t state);

#endif
