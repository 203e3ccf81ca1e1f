/* Barriers in shared memory as objects, of devices from 8.0 on; cuda::barrier is what came after. */
#ifndef _CUDA_AWBARRIER_H_
#define _CUDA_AWBARRIER_H_

#include "cuda_awbarrier_primitives.h"

#if defined(__CUDA__) && __cplusplus >= 201103L && (!defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800)

namespace nvcuda {
namespace experimental {

class awbarrier {
  public:
    class arrival_token {
      public:
        __device__ unsigned pending_count() const { return __mbarrier_token_pending_count(token); }

      private:
        __device__ explicit arrival_token(__mbarrier_token_t token) : token(token) {}
        __mbarrier_token_t token;
        friend class awbarrier;
    };

    awbarrier() = default;
    awbarrier(const awbarrier &) = delete;
    awbarrier &operator=(const awbarrier &) = delete;

    __device__ arrival_token arrive() { return arrival_token(__mbarrier_arrive(&word)); }
    __device__ arrival_token arrive_and_drop() { return arrival_token(__mbarrier_arrive_and_drop(&word)); }
    /* At once: whether the phase has passed. */
    __device__ bool timed_wait(arrival_token token, unsigned) {
        return __mbarrier_test_wait(&word, token.token);
    }
    __device__ bool timed_wait_parity(bool parity, unsigned) {
        return __mbarrier_test_wait_parity(&word, parity);
    }
    __device__ void wait(arrival_token token) {
        while (!__mbarrier_test_wait(&word, token.token))
            ;
    }
    __device__ void arrive_and_wait() { wait(arrive()); }
    __device__ static constexpr unsigned max() { return (1 << 20) - 1; }
    __device__ friend void init(awbarrier *barrier, unsigned expected) {
        __mbarrier_init(&barrier->word, expected);
    }
    __device__ friend void inval(awbarrier *barrier) { __mbarrier_inval(&barrier->word); }

  private:
    __mbarrier_t word;
};

} // namespace experimental
} // namespace nvcuda

#endif
#endif
