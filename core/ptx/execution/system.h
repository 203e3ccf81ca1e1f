/* What kernels ask of the device's runtime: text that is printed, and memory of the device's heap. Instructions
 * only note it; it is carried out at the next quantum boundary, SMs in path order, in the order in which the SM
 * issued the instructions, lanes in ascending order. So it is the same in any order of ticks. */
#ifndef WW_PTX_SYSTEM_H
#define WW_PTX_SYSTEM_H

#include "core/ptx/execution/memory.h"
#include "core/ptx/instructions/inst.h"

enum { PRINT_BYTES = 1 << 20, HEAP_BYTES = 8 << 20 };

/* malloc and free of a warp. */
typedef struct {
    uint64_t value[WARP_LANES]; /* bytes, or the address to free */
    uint32_t mask;
    uint32_t warp, inst; /* inst: its index in the kernel */
    uint32_t dst;        /* malloc: offset of the register that gets the addresses */
    bool frees;
} HeapRequest;

/* Of an SM, in this quantum. */
typedef struct SystemCalls {
    Buffer messages; /* of vprintf: of each the kernel and its bytes as 32 bits, then the text */
    uint32_t kernel; /* of the SM's kernels, the one whose instruction executes */
    HeapRequest *requests;
    uint32_t request_count, request_capacity;
} SystemCalls;

void system_calls_free(SystemCalls *calls);
static inline bool system_calls_wait(const SystemCalls *calls) {
    return calls->messages.count || calls->request_count;
}

/* What a launch has printed: whole messages up to `limit` bytes; later ones are dropped. */
typedef struct {
    Buffer text;
    uint64_t limit, dropped;
} PrintedText;

/* Moves the messages to what their kernels have printed. */
typedef PrintedText *PrintedOf(const void *context, uint32_t kernel);
void system_print(SystemCalls *calls, PrintedOf *printed_of, const void *context);

/* The heap lies in device memory with all that it remembers. Allocations are best-fit, 16-byte aligned; where
 * nothing fits malloc returns 0, and free does nothing for addresses that malloc has not returned. */
uint64_t heap_alloc(MemoryView *view, uint64_t start, uint64_t bytes, uint64_t wanted);
void heap_free(MemoryView *view, uint64_t start, uint64_t bytes, uint64_t address);

#endif
