/* What a program asked for that cannot be, on stderr, beside CUDA's error. Of a program that goes on to ask, the first lines
 * alone. Between warp_enter() and warp_leave(). */
#ifndef WW_CUDA_MISTAKES_H
#define WW_CUDA_MISTAKES_H

#include "core/cuda/runtime/client.h"

/* A copy of which one end is not where its direction, as of cudaMemcpyKind, has it. */
void warp_tell_direction(int direction, uint64_t to, uint64_t from);
/* Bytes of the device that are not those of one allocation. `what`: "copy to", say. */
void warp_tell_bytes(const char *what, uint64_t address, uint64_t count);
/* What is to be freed and is not the beginning of an allocation, or one that another function frees. */
void warp_tell_free(uint64_t address);
void warp_tell_no_memory(uint64_t bytes);
/* What is no variable of the device. */
void warp_tell_symbol(const void *symbol);

#endif
