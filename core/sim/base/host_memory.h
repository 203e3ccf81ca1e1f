#ifndef WW_SIM_HOST_MEMORY_H
#define WW_SIM_HOST_MEMORY_H

#include "core/sim/base/error.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Bytes. The operating system would promise more, and stop the process that uses it. */
static inline uint64_t memory_of_computer(void) {
    static uint64_t bytes; /* each question is a system call, and host programs make thousands of arrays */
    if (!bytes) bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    return bytes;
}

/* Large arrays are queues and tables with room for far more than most runs put there. The host zeroes a huge page
 * of them at the first touch, and would a machine with thousands of MSHRs in each cache nearly whole. */
static inline void keep_out_of_huge_pages(void *memory, size_t size) {
    enum { LARGE = 256 << 10, PAGE = 4096 };
    uintptr_t first = ((uintptr_t)memory + PAGE - 1) / PAGE * PAGE,
              end = ((uintptr_t)memory + size) / PAGE * PAGE;
    if (size >= LARGE) (void)madvise((void *)first, end - first, MADV_NOHUGEPAGE); /* a hint */
}

/* Starts at a cache line. calloc() leaves pages untouched that the host hands out zeroed, which is most of a
 * machine; an allocator that doesn't align what it takes from the host is asked again. */
static inline void *zeroed_or_null(size_t size) {
    enum { LINE = 64, PAGE = 4096 };
    size_t whole = (size + LINE - 1) / LINE * LINE;
    void *memory = whole >= PAGE ? calloc(1, whole) : NULL;
    if (memory) keep_out_of_huge_pages(memory, whole);
    if (memory && (uintptr_t)memory % LINE == 0) return memory;
    free(memory);
    memory = aligned_alloc(LINE, whole ? whole : LINE);
    return memory ? memset(memory, 0, whole) : NULL;
}
static inline void *zeroed(size_t count, size_t bytes) {
    void *memory = zeroed_or_null(count * bytes);
    ensure_memory(memory);
    return memory;
}

#endif
