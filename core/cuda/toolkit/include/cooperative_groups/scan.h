/* Prefix sums, and prefixes of other operations, over tiles and coalesced groups. */
#ifndef _COOPERATIVE_GROUPS_SCAN_H_
#define _COOPERATIVE_GROUPS_SCAN_H_

#include "reduce.h"

#if defined(__CUDA__) && __cplusplus >= 201103L

namespace cooperative_groups {

template <class Group, class T, class Operation>
__device__ __forceinline__ T inclusive_scan(const Group &group, T value, Operation operation) {
    for (unsigned distance = 1; distance < group.size(); distance *= 2) {
        T other = group.shfl_up(value, distance);
        if (group.thread_rank() >= distance) value = operation(other, value);
    }
    return value;
}
template <class Group, class T> __device__ __forceinline__ T inclusive_scan(const Group &group, T value) {
    return inclusive_scan(group, value, plus<T>());
}

/* The first thread gets T(). */
template <class Group, class T, class Operation>
__device__ __forceinline__ T exclusive_scan(const Group &group, T value, Operation operation) {
    T before = group.shfl_up(inclusive_scan(group, value, operation), 1);
    return group.thread_rank() == 0 ? T() : before;
}
template <class Group, class T> __device__ __forceinline__ T exclusive_scan(const Group &group, T value) {
    return exclusive_scan(group, value, plus<T>());
}

} // namespace cooperative_groups

#endif
#endif
