#ifndef WW_SIM_HOST_MEMORY_H
#define WW_SIM_HOST_MEMORY_H

#include <stdint.h>
#include <unistd.h>

/* Bytes. The operating system would promise more, and stop the process that uses it. */
static inline uint64_t memory_of_computer(void) {
    static uint64_t bytes; /* each question is a system call, and host programs make thousands of arrays */
    if (!bytes) bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    return bytes;
}

#endif
