/* Prefix sums, and prefixes of other operations, over tiles and coalesced groups. */
#ifndef _COOPERATIVE_GROUPS_SCAN_H_
#define _COOPERATIVE_GROUPS_SCAN_H_

#include "reduce.h"

#if defined(__CUDA__) && __cplusplus >= 201103L

namespace cooperative_groups {

namespace details {

/* Prefixes; and what the thread before has, for the first one its own. */
template <bool SpansWarps> struct Prefixes {
    template <class Group, class T, class Operation>
    static __device__ __forceinline__ T of(const Group &group, T value, Operation operation) {
        for (unsigned distance = 1; distance < group.size(); distance *= 2) {
            T other = group.shfl_up(value, distance);
            if (group.thread_rank() >= distance) value = operation(other, value);
        }
        return value;
    }
    template <class Group, class T> static __device__ __forceinline__ T before(const Group &group, T value) {
        return group.shfl_up(value, 1);
    }
};
template <> struct Prefixes<true> {
    template <class Group, class T, class Operation>
    static __device__ __forceinline__ T of(const Group &group, T value, Operation operation) {
        T parts[Group::size() / 32];
        value = Prefixes<false>::of(tiled_partition<32>(this_thread_block()), value, operation);
        group.gather(value, 31, parts);
        for (unsigned i = 1; i < Group::size() / 32; i++) {
            if (group.thread_rank() / 32 == i) value = operation(parts[i - 1], value);
            parts[i] = operation(parts[i - 1], parts[i]);
        }
        return value;
    }
    template <class Group, class T> static __device__ __forceinline__ T before(const Group &group, T value) {
        T parts[Group::size() / 32], result = tiled_partition<32>(this_thread_block()).shfl_up(value, 1);
        group.gather(value, 31, parts);
        for (unsigned i = 1; i < Group::size() / 32; i++)
            if (group.thread_rank() == i * 32) result = parts[i - 1];
        return result;
    }
};

template <class Group> using PrefixesOf = Prefixes<SpansWarps<Group>::value>;

} // namespace details

template <class Group, class T, class Operation>
__device__ __forceinline__ T inclusive_scan(const Group &group, T value, Operation operation) {
    return details::PrefixesOf<Group>::of(group, value, operation);
}
template <class Group, class T> __device__ __forceinline__ T inclusive_scan(const Group &group, T value) {
    return inclusive_scan(group, value, plus<T>());
}

/* The first thread gets T(). */
template <class Group, class T, class Operation>
__device__ __forceinline__ T exclusive_scan(const Group &group, T value, Operation operation) {
    T before = details::PrefixesOf<Group>::before(group, inclusive_scan(group, value, operation));
    return group.thread_rank() == 0 ? T() : before;
}
template <class Group, class T> __device__ __forceinline__ T exclusive_scan(const Group &group, T value) {
    return exclusive_scan(group, value, plus<T>());
}

/* Prefixes that go on from what the atomic holds, which takes in what all threads have. */
template <class Group, class Atomic, class T, class Operation>
__device__ __forceinline__ T inclusive_scan_update(const Group &group, Atomic &atomic, T value,
                                                   Operation operation) {
    T result = inclusive_scan(group, value, operation), before = result;
    if (group.thread_rank() == group.size() - 1) before = details::update(atomic, result, operation);
    return operation(group.shfl(before, group.size() - 1), result);
}
template <class Group, class Atomic, class T>
__device__ __forceinline__ T inclusive_scan_update(const Group &group, Atomic &atomic, T value) {
    return inclusive_scan_update(group, atomic, value, plus<T>());
}
template <class Group, class Atomic, class T, class Operation>
__device__ __forceinline__ T exclusive_scan_update(const Group &group, Atomic &atomic, T value,
                                                   Operation operation) {
    T result = inclusive_scan(group, value, operation), before = result;
    if (group.thread_rank() == group.size() - 1) before = details::update(atomic, result, operation);
    T first = group.shfl(before, group.size() - 1),
      previous = details::PrefixesOf<Group>::before(group, result);
    return group.thread_rank() == 0 ? first : operation(first, previous);
}
template <class Group, class Atomic, class T>
__device__ __forceinline__ T exclusive_scan_update(const Group &group, Atomic &atomic, T value) {
    return exclusive_scan_update(group, atomic, value, plus<T>());
}

} // namespace cooperative_groups

#endif
#endif
