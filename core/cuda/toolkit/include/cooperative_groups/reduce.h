/* Reductions over tiles and coalesced groups, and what they reduce by. */
#ifndef _COOPERATIVE_GROUPS_REDUCE_H_
#define _COOPERATIVE_GROUPS_REDUCE_H_

#include "../cooperative_groups.h"

#if defined(__CUDA__) && __cplusplus >= 201103L

namespace cooperative_groups {

#define WARPWRIGHT_OPERATION(name, expression)                                                               \
    template <class T = void> struct name {                                                                  \
        __device__ __forceinline__ T operator()(T a, T b) const { return expression; }                       \
    };                                                                                                       \
    template <> struct name<void> {                                                                          \
        template <class T> __device__ __forceinline__ T operator()(T a, T b) const { return expression; }    \
    };
WARPWRIGHT_OPERATION(plus, a + b)
WARPWRIGHT_OPERATION(less, b < a ? b : a)
WARPWRIGHT_OPERATION(greater, a < b ? b : a)
WARPWRIGHT_OPERATION(bit_and, a &b)
WARPWRIGHT_OPERATION(bit_or, a | b)
WARPWRIGHT_OPERATION(bit_xor, a ^ b)
#undef WARPWRIGHT_OPERATION

namespace details {

template <bool SpansWarps> struct Reduction {
    template <class Group, class T, class Operation>
    static __device__ __forceinline__ T of(const Group &group, T value, Operation operation) {
        for (unsigned distance = 1; distance < group.size(); distance *= 2) {
            T other = group.shfl_down(value, distance);
            if (group.thread_rank() + distance < group.size()) value = operation(value, other);
        }
        return group.shfl(value, 0);
    }
};
template <> struct Reduction<true> {
    template <class Group, class T, class Operation>
    static __device__ __forceinline__ T of(const Group &group, T value, Operation operation) {
        T parts[Group::size() / 32];
        group.gather(Reduction<false>::of(tiled_partition<32>(this_thread_block()), value, operation), 0,
                     parts);
        for (unsigned i = 1; i < Group::size() / 32; i++)
            parts[0] = operation(parts[0], parts[i]);
        return parts[0];
    }
};

} // namespace details

/* Every thread gets the result. Partners are neighbours first, as CUDA documents no order. */
template <class Group, class T, class Operation>
__device__ __forceinline__ T reduce(const Group &group, T value, Operation operation) {
    return details::Reduction<details::SpansWarps<Group>::value>::of(group, value, operation);
}

namespace details {

/* What one of libcu++'s atomics was before it took the value in. */
template <class Atomic, class T, class Operation>
__device__ __forceinline__ T update(Atomic &atomic, T value, Operation operation) {
    T before = atomic.load();
    while (!atomic.compare_exchange_weak(before, operation(before, value))) {
    }
    return before;
}

} // namespace details

template <class Group, class Atomic, class T, class Operation>
__device__ __forceinline__ void reduce_update_async(const Group &group, Atomic &atomic, T value,
                                                    Operation operation) {
    T result = reduce(group, value, operation);
    if (group.thread_rank() == 0) details::update(atomic, result, operation);
}
template <class Group, class Atomic, class T, class Operation>
__device__ __forceinline__ void reduce_store_async(const Group &group, Atomic &atomic, T value,
                                                   Operation operation) {
    T result = reduce(group, value, operation);
    if (group.thread_rank() == 0) atomic.store(result);
}

} // namespace cooperative_groups

#endif
#endif
