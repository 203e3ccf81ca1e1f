/* Barriers and fences. clang's own let the compiler move accesses to shared memory across them: an optimizer that
 * sees a static __shared__ variable take its address nowhere concludes that a builtin cannot touch it. */
#ifndef WARPWRIGHT_SYNCHRONIZATION_H
#define WARPWRIGHT_SYNCHRONIZATION_H

#define WARPWRIGHT_DEVICE static __device__ __forceinline__ __attribute__((unused))

WARPWRIGHT_DEVICE void __warpwright_syncthreads() {
    asm volatile("bar.sync 0;" ::: "memory");
}

#define WARPWRIGHT_SYNC_REDUCE(name, operation)                                                              \
    WARPWRIGHT_DEVICE int name(int predicate) {                                                              \
        int result;                                                                                          \
        asm volatile("{\n\t.reg .pred p, q;\n\tsetp.ne.s32 p, %1, 0;\n\tbar.red." operation                  \
                     ".pred q, 0, p;\n\tselp.s32 %0, 1, 0, q;\n\t}"                                          \
                     : "=r"(result)                                                                          \
                     : "r"(predicate)                                                                        \
                     : "memory");                                                                            \
        return result;                                                                                       \
    }
WARPWRIGHT_SYNC_REDUCE(__warpwright_syncthreads_and, "and")
WARPWRIGHT_SYNC_REDUCE(__warpwright_syncthreads_or, "or")
#undef WARPWRIGHT_SYNC_REDUCE

WARPWRIGHT_DEVICE int __warpwright_syncthreads_count(int predicate) {
    int result;
    asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.s32 p, %1, 0;\n\tbar.red.popc.u32 %0, 0, p;\n\t}"
                 : "=r"(result)
                 : "r"(predicate)
                 : "memory");
    return result;
}

WARPWRIGHT_DEVICE void __warpwright_syncwarp(unsigned mask = 0xffffffff) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
    asm volatile("bar.warp.sync %0;" ::"r"(mask) : "memory");
#else
    asm volatile("" ::"r"(mask) : "memory"); /* the threads of a warp go together */
#endif
}

WARPWRIGHT_DEVICE void __warpwright_barrier_sync(unsigned id) {
    asm volatile("bar.sync %0;" ::"r"(id) : "memory");
}
WARPWRIGHT_DEVICE void __warpwright_barrier_sync_count(unsigned id, unsigned threads) {
    asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

WARPWRIGHT_DEVICE void __warpwright_threadfence() {
    asm volatile("membar.gl;" ::: "memory");
}
WARPWRIGHT_DEVICE void __warpwright_threadfence_block() {
    asm volatile("membar.cta;" ::: "memory");
}
WARPWRIGHT_DEVICE void __warpwright_threadfence_system() {
    asm volatile("membar.sys;" ::: "memory");
}

/* __syncthreads is a word of clang's, that no header can define. The others follow it, so that all are one way. */
#define __syncthreads        __warpwright_syncthreads
#define __syncthreads_and    __warpwright_syncthreads_and
#define __syncthreads_or     __warpwright_syncthreads_or
#define __syncthreads_count  __warpwright_syncthreads_count
#define __syncwarp           __warpwright_syncwarp
#define __barrier_sync       __warpwright_barrier_sync
#define __barrier_sync_count __warpwright_barrier_sync_count
#define __threadfence        __warpwright_threadfence
#define __threadfence_block  __warpwright_threadfence_block
#define __threadfence_system __warpwright_threadfence_system

WARPWRIGHT_DEVICE void __nanosleep(unsigned nanoseconds) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
    asm volatile("nanosleep.u32 %0;" ::"r"(nanoseconds) : "memory");
#else
    (void)nanoseconds;
#endif
}

#undef WARPWRIGHT_DEVICE

#endif
