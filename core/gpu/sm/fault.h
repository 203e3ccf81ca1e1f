/* Faults of kernels: what is known of one, and the sentence that says it. */
#ifndef WW_GPU_FAULT_H
#define WW_GPU_FAULT_H

#include "core/gpu/sm/sm.h"

enum { FAULT_TEXT_BYTES = 160, FAULT_PLACE_BYTES = 480, FAULT_MESSAGE_BYTES = 2304 };

/* Beside the kinds of FaultKind: the kernel did not end, or gpu_give_up() ended it. */
enum { FAULT_TIMEOUT = 100, FAULT_GIVEN_UP };

/* Plain data: a host program's log keeps it. */
typedef struct LaunchFault {
    uint32_t kind;                  /* FaultKind or one of these; FAULT_NONE: nothing happened   */
    uint32_t kernel;                /* of those that were launched together: its number          */
    uint32_t ptx_line, source_line; /* 0: unknown                                                */
    uint32_t space;                 /* of an access: Space                                       */
    uint32_t ctaid[3], thread[3];
    uint32_t bytes;             /* that the thread accesses                                  */
    uint32_t made_by, freed_by; /* calls of the host program; freed_by: 0 of what is there   */
    uint32_t has_allocation;    /* of the next two: the nearest one, or what was freed       */
    uint64_t allocation, allocation_bytes;
    uint64_t address;
    char sm[64], ptx[FAULT_TEXT_BYTES], source_file[FAULT_TEXT_BYTES];
    char message[FAULT_MESSAGE_BYTES];
} LaunchFault;

/* The instruction of the warp that has just executed has a fault, which the context describes. Of a launch that
 * returns faults, the SM's first is kept, and the warp exits: no lane is active any more. Otherwise it is a user
 * error. */
COLD void sm_meet_fault(Sm *sm, uint32_t warp, const Inst *inst);

/* Every text of it ends in NUL from now on. */
void fault_end_texts(LaunchFault *fault);

/* The place of an instruction: "PTX line 40, vecadd.cu:7"; "PTX line 40, atomics.h:31, after vecadd.cu:7" where a function of
 * another file is inlined. */
void fault_place(const Kernel *kernel, const Inst *inst, char *text, size_t size);
/* How bytes from `address` on missed the allocations: "; ends 4 bytes past the end of ...". */
void fault_describe_miss(const DeviceMemory *memory, uint64_t address, uint64_t bytes, char *text,
                         size_t size);

#endif
