/* Asynchronous copies from global to shared memory. Devices before 8.0 copy at once. */
#ifndef _CUDA_PIPELINE_PRIMITIVES_H_
#define _CUDA_PIPELINE_PRIMITIVES_H_

#include "cuda_awbarrier_primitives.h"

#if defined(__CUDA__) && defined(__cplusplus)

#define WARPWRIGHT_DEVICE static __device__ __forceinline__ __attribute__((unused))

/* `bytes` is 4, 8 or 16; the last `zeros` of them are not read, but 0. */
WARPWRIGHT_DEVICE void __pipeline_memcpy_async(void *to, const void *from, size_t bytes, size_t zeros = 0) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    unsigned shared = (unsigned)__cvta_generic_to_shared(to), read = (unsigned)(bytes - zeros);
    if (bytes == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared), "l"(from), "r"(read)
                     : "memory");
    else if (bytes == 8)
        asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(shared), "l"(from), "r"(read)
                     : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(shared), "l"(from), "r"(read)
                     : "memory");
#else
    if (zeros == 0 && bytes == 16)
        *(uint4 *)to = *(const uint4 *)from;
    else if (zeros == 0 && bytes == 8)
        *(uint2 *)to = *(const uint2 *)from;
    else if (zeros == 0 && bytes == 4)
        *(unsigned *)to = *(const unsigned *)from;
    else
        for (size_t i = 0; i < bytes; i++)
            ((char *)to)[i] = i < bytes - zeros ? ((const char *)from)[i] : (char)0;
#endif
}

WARPWRIGHT_DEVICE void __pipeline_commit() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/* Waits for all but the last `groups` that were committed. */
WARPWRIGHT_DEVICE void __pipeline_wait_prior(size_t groups) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    switch (groups) {
    case 0: asm volatile("cp.async.wait_group 0;" ::: "memory"); break;
    case 1: asm volatile("cp.async.wait_group 1;" ::: "memory"); break;
    case 2: asm volatile("cp.async.wait_group 2;" ::: "memory"); break;
    case 3: asm volatile("cp.async.wait_group 3;" ::: "memory"); break;
    case 4: asm volatile("cp.async.wait_group 4;" ::: "memory"); break;
    case 5: asm volatile("cp.async.wait_group 5;" ::: "memory"); break;
    case 6: asm volatile("cp.async.wait_group 6;" ::: "memory"); break;
    default: asm volatile("cp.async.wait_group 7;" ::: "memory"); break;
    }
#else
    (void)groups;
#endif
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
/* The thread arrives at the barrier when its copies so far are complete. */
WARPWRIGHT_DEVICE void __pipeline_arrive_on(__mbarrier_t *barrier) {
    asm volatile(
        "cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"((unsigned)__cvta_generic_to_shared(barrier))
        : "memory");
}
#endif

#undef WARPWRIGHT_DEVICE

#endif
#endif
