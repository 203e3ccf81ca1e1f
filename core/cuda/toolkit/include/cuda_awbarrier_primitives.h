/* Barriers that are objects in shared memory, of devices from 8.0 on. */
#ifndef _CUDA_AWBARRIER_PRIMITIVES_H_
#define _CUDA_AWBARRIER_PRIMITIVES_H_

#include "cuda_runtime.h"

#if defined(__CUDA__) && defined(__cplusplus)

typedef unsigned long long __mbarrier_t;
typedef unsigned long long __mbarrier_token_t;

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

#define WARPWRIGHT_DEVICE           static __device__ __forceinline__ __attribute__((unused))
#define WARPWRIGHT_ADDRESS(barrier) "r"((unsigned)__cvta_generic_to_shared(barrier))

WARPWRIGHT_DEVICE unsigned __mbarrier_maximum_count() {
    return (1u << 20) - 1;
}
WARPWRIGHT_DEVICE void __mbarrier_init(__mbarrier_t *barrier, unsigned expected) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::WARPWRIGHT_ADDRESS(barrier), "r"(expected)
                 : "memory");
}
WARPWRIGHT_DEVICE void __mbarrier_inval(__mbarrier_t *barrier) {
    asm volatile("mbarrier.inval.shared.b64 [%0];" ::WARPWRIGHT_ADDRESS(barrier) : "memory");
}
WARPWRIGHT_DEVICE __mbarrier_token_t __mbarrier_arrive(__mbarrier_t *barrier) {
    __mbarrier_token_t token;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];"
                 : "=l"(token)
                 : WARPWRIGHT_ADDRESS(barrier)
                 : "memory");
    return token;
}
WARPWRIGHT_DEVICE __mbarrier_token_t __mbarrier_arrive_and_drop(__mbarrier_t *barrier) {
    __mbarrier_token_t token;
    asm volatile("mbarrier.arrive_drop.shared.b64 %0, [%1];"
                 : "=l"(token)
                 : WARPWRIGHT_ADDRESS(barrier)
                 : "memory");
    return token;
}
WARPWRIGHT_DEVICE bool __mbarrier_test_wait(__mbarrier_t *barrier, __mbarrier_token_t token) {
    unsigned passed;
    asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(passed)
                 : WARPWRIGHT_ADDRESS(barrier), "l"(token)
                 : "memory");
    return passed != 0;
}
WARPWRIGHT_DEVICE bool __mbarrier_test_wait_parity(__mbarrier_t *barrier, bool parity) {
    unsigned passed;
    asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(passed)
                 : WARPWRIGHT_ADDRESS(barrier), "r"((unsigned)parity)
                 : "memory");
    return passed != 0;
}
/* They wait no longer than the others: who asks, asks again. */
WARPWRIGHT_DEVICE bool __mbarrier_try_wait(__mbarrier_t *barrier, __mbarrier_token_t token, unsigned) {
    return __mbarrier_test_wait(barrier, token);
}
WARPWRIGHT_DEVICE bool __mbarrier_try_wait_parity(__mbarrier_t *barrier, bool parity, unsigned) {
    return __mbarrier_test_wait_parity(barrier, parity);
}
WARPWRIGHT_DEVICE unsigned __mbarrier_token_pending_count(__mbarrier_token_t token) {
    unsigned count;
    asm("mbarrier.pending_count.b64 %0, %1;" : "=r"(count) : "l"(token));
    return count;
}

#undef WARPWRIGHT_ADDRESS
#undef WARPWRIGHT_DEVICE

#endif
#endif
#endif
