/* Asynchronous copies: the primitives, and a pipeline of the copies of one thread. */
#ifndef _CUDA_PIPELINE_H_
#define _CUDA_PIPELINE_H_

#include "cuda_pipeline_primitives.h"

#if defined(__CUDA__) && __cplusplus >= 201103L

namespace nvcuda {
namespace experimental {

class pipeline {
  public:
    __device__ __forceinline__ size_t commit() {
        __pipeline_commit();
        return committed++;
    }
    __device__ __forceinline__ void commit_and_wait() {
        commit();
        __pipeline_wait_prior(0);
    }
    template <unsigned Groups> __device__ __forceinline__ void wait_prior() { __pipeline_wait_prior(Groups); }
    __device__ __forceinline__ void wait(size_t group) { __pipeline_wait_prior(committed - 1 - group); }

  private:
    size_t committed = 0;
};

template <class T> __device__ __forceinline__ void memcpy_async(T &to, const T &from, pipeline &) {
    if (sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16)
        __pipeline_memcpy_async(&to, &from, sizeof(T));
    else
        to = from;
}

} // namespace experimental
} // namespace nvcuda

#endif
#endif
