/* Copies by all threads of a group, which wait() ends. */
#ifndef _COOPERATIVE_GROUPS_MEMCPY_ASYNC_H_
#define _COOPERATIVE_GROUPS_MEMCPY_ASYNC_H_

#include "../cooperative_groups.h"
#include "../warpwright/asynchronous_copies.h"

#if defined(__CUDA__) && __cplusplus >= 201103L

namespace cooperative_groups {

template <class Group>
__device__ __forceinline__ void memcpy_async(const Group &group, void *to, const void *from, size_t bytes) {
    __warpwright_copy_pieces(group, to, from, bytes);
    __pipeline_commit();
}

/* Counts of elements of both sides: the smaller one is copied. */
template <class Group, class T>
__device__ __forceinline__ void memcpy_async(const Group &group, T *to, size_t to_count, const T *from,
                                             size_t from_count) {
    memcpy_async(group, (void *)to, (const void *)from,
                 (to_count < from_count ? to_count : from_count) * sizeof(T));
}

template <unsigned Stages, class Group> __device__ __forceinline__ void wait_prior(const Group &group) {
    __pipeline_wait_prior(Stages);
    group.sync();
}
template <class Group> __device__ __forceinline__ void wait(const Group &group) {
    wait_prior<0>(group);
}

} // namespace cooperative_groups

#endif
#endif
