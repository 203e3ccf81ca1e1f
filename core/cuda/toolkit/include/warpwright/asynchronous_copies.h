/* Asynchronous copies to shared memory by the threads of a group, each of which copies its pieces. */
#ifndef WARPWRIGHT_ASYNCHRONOUS_COPIES_H
#define WARPWRIGHT_ASYNCHRONOUS_COPIES_H

#include "../cuda_pipeline_primitives.h"

#if defined(__CUDA__) && defined(__cplusplus)

template <class Group>
__device__ __forceinline__ void __warpwright_copy_pieces(const Group &group, void *to, const void *from,
                                                         size_t bytes) {
    size_t misaligned = (size_t)to | (size_t)from | bytes;
    size_t piece = misaligned % 16 == 0 ? 16 : misaligned % 8 == 0 ? 8 : misaligned % 4 == 0 ? 4 : 1;
    for (size_t at = group.thread_rank() * piece; at < bytes; at += group.size() * piece) {
        char *target = (char *)to + at;
        const char *source = (const char *)from + at;
        if (piece == 16)
            __pipeline_memcpy_async(target, source, 16);
        else if (piece == 8)
            __pipeline_memcpy_async(target, source, 8);
        else if (piece == 4)
            __pipeline_memcpy_async(target, source, 4);
        else
            *target = *source;
    }
}

#endif
#endif
