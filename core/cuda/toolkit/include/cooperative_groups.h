/* Cooperative groups: blocks, tiles of warps, the threads that run together, grids. */
#ifndef _COOPERATIVE_GROUPS_H_
#define _COOPERATIVE_GROUPS_H_

#if defined(__CUDA__) && __cplusplus >= 201103L

#include "cuda_runtime.h"
#include "warpwright/group_words.h"

#define WARPWRIGHT_DEVICE __device__ __forceinline__

namespace cooperative_groups {

namespace details {

/* What the driver gives each cooperative launch; NULL in others. */
struct GridWorkspace {
    unsigned bytes, barrier;
};

WARPWRIGHT_DEVICE GridWorkspace *grid_workspace() {
    unsigned high, low;
    asm("mov.u32 %0, %%envreg1;" : "=r"(high));
    asm("mov.u32 %0, %%envreg2;" : "=r"(low));
    return (GridWorkspace *)((unsigned long long)high << 32 | low);
}

/* Bit 31 of the barrier turns over when the last block of a grid has come. The first block adds what the others lack to
 * that, so that the lower bits are 0 again. */
WARPWRIGHT_DEVICE void wait_for_blocks(unsigned before) {
    while (((*(volatile unsigned *)&grid_workspace()->barrier ^ before) & 0x80000000u) == 0) {
    }
    __threadfence();
}
WARPWRIGHT_DEVICE unsigned grid_arrive(bool waits) {
    GridWorkspace *workspace = grid_workspace();
    unsigned before = 0;
    if (!workspace) __trap();
    __syncthreads();
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0) {
        bool is_first = blockIdx.x + blockIdx.y + blockIdx.z == 0;
        unsigned blocks = gridDim.x * gridDim.y * gridDim.z;
        __threadfence();
        before = atomicAdd(&workspace->barrier, is_first ? 0x80000000u - (blocks - 1) : 1u);
        if (waits) wait_for_blocks(before);
    }
    return before;
}
WARPWRIGHT_DEVICE void grid_sync() {
    grid_arrive(true);
    __syncthreads();
}
WARPWRIGHT_DEVICE void grid_wait(unsigned before) {
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0) wait_for_blocks(before);
    __syncthreads();
}

WARPWRIGHT_DEVICE unsigned rank_in_block() {
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
WARPWRIGHT_DEVICE unsigned threads_in_block() {
    return blockDim.x * blockDim.y * blockDim.z;
}

/* Threads of some warps: a word in shared memory counts the warps that have come. Their number is a power of two, so that
 * turns end at its multiples. */
WARPWRIGHT_DEVICE void warps_sync(unsigned barrier, unsigned warps) {
    __syncwarp();
    if (lane() == 0) {
        unsigned *word = (unsigned *)__cvta_shared_to_generic(barrier);
        __threadfence_block();
        unsigned end = (atomicAdd(word, 1u) & ~(warps - 1)) + warps;
        while ((int)(*(volatile unsigned *)word - end) < 0) {
        }
        __threadfence_block();
    }
    __syncwarp();
}

} // namespace details

/* Any group; those of a warp have a mask of lanes, those of some warps the place of their barrier. */
class thread_group {
  public:
    WARPWRIGHT_DEVICE unsigned long long size() const { return count; }
    WARPWRIGHT_DEVICE unsigned long long num_threads() const { return count; }
    WARPWRIGHT_DEVICE unsigned long long thread_rank() const { return rank; }
    WARPWRIGHT_DEVICE bool is_valid() const { return true; }
    WARPWRIGHT_DEVICE void sync() const {
        if (kind == grid_kind)
            details::grid_sync();
        else if (kind == block_kind)
            __syncthreads();
        else if (kind == warps_kind)
            details::warps_sync(mask, (unsigned)count / 32);
        else
            __syncwarp(mask);
    }

    WARPWRIGHT_DEVICE unsigned lanes() const { return mask; }

  protected:
    enum Kind { block_kind, grid_kind, warp_kind, warps_kind };
    WARPWRIGHT_DEVICE thread_group(Kind group_kind, unsigned long long threads, unsigned long long own,
                                   unsigned lanes)
        : kind(group_kind), mask(lanes), count(threads), rank(own) {}

    Kind kind;
    unsigned mask;
    unsigned long long count, rank;

    friend class coalesced_group;
    friend WARPWRIGHT_DEVICE thread_group tiled_partition(const thread_group &parent, unsigned tile_size);
};

class thread_block : public thread_group {
  public:
    static WARPWRIGHT_DEVICE void sync() { __syncthreads(); }
    struct arrival_token {};
    static WARPWRIGHT_DEVICE arrival_token barrier_arrive() { return arrival_token(); }
    static WARPWRIGHT_DEVICE void barrier_wait(arrival_token &&) { __syncthreads(); }
    static WARPWRIGHT_DEVICE unsigned thread_rank() { return details::rank_in_block(); }
    static WARPWRIGHT_DEVICE unsigned size() { return details::threads_in_block(); }
    static WARPWRIGHT_DEVICE unsigned num_threads() { return details::threads_in_block(); }
    static WARPWRIGHT_DEVICE dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
    static WARPWRIGHT_DEVICE dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
    static WARPWRIGHT_DEVICE dim3 group_dim() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
    static WARPWRIGHT_DEVICE dim3 dim_threads() { return group_dim(); }

  private:
    WARPWRIGHT_DEVICE thread_block()
        : thread_group(block_kind, details::threads_in_block(), details::rank_in_block(), 0) {}
    friend WARPWRIGHT_DEVICE thread_block this_thread_block();
};
WARPWRIGHT_DEVICE thread_block this_thread_block() {
    return thread_block();
}

/* The blocks of a cooperative launch, which all run at the same time. */
class grid_group : public thread_group {
  public:
    WARPWRIGHT_DEVICE void sync() const { details::grid_sync(); }
    struct arrival_token {
        unsigned before;
    };
    WARPWRIGHT_DEVICE arrival_token barrier_arrive() const { return {details::grid_arrive(false)}; }
    WARPWRIGHT_DEVICE void barrier_wait(arrival_token &&token) const { details::grid_wait(token.before); }
    /* Is the launch a cooperative one? */
    WARPWRIGHT_DEVICE bool is_valid() const { return details::grid_workspace() != NULL; }
    static WARPWRIGHT_DEVICE dim3 group_dim() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
    static WARPWRIGHT_DEVICE dim3 dim_blocks() { return group_dim(); }
    static WARPWRIGHT_DEVICE dim3 block_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
    static WARPWRIGHT_DEVICE unsigned long long num_blocks() {
        return (unsigned long long)gridDim.x * gridDim.y * gridDim.z;
    }
    static WARPWRIGHT_DEVICE unsigned long long block_rank() {
        return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    }

  private:
    WARPWRIGHT_DEVICE grid_group()
        : thread_group(grid_kind, num_blocks() * details::threads_in_block(),
                       block_rank() * details::threads_in_block() + details::rank_in_block(), 0) {}
    friend WARPWRIGHT_DEVICE grid_group this_grid();
};
WARPWRIGHT_DEVICE grid_group this_grid() {
    return grid_group();
}

/* Threads of one warp, in the order of their lanes. */
class coalesced_group : public thread_group {
  public:
    WARPWRIGHT_DEVICE unsigned size() const { return (unsigned)count; }
    WARPWRIGHT_DEVICE unsigned num_threads() const { return (unsigned)count; }
    WARPWRIGHT_DEVICE unsigned thread_rank() const { return (unsigned)rank; }
    WARPWRIGHT_DEVICE unsigned meta_group_size() const { return groups; }
    WARPWRIGHT_DEVICE unsigned meta_group_rank() const { return group; }
    WARPWRIGHT_DEVICE void sync() const { __syncwarp(mask); }

    template <class T> WARPWRIGHT_DEVICE T shfl(T value, unsigned source) const {
        return details::shuffle(mask, value, details::lane_of(mask, source % size()));
    }
    template <class T> WARPWRIGHT_DEVICE T shfl_up(T value, unsigned distance) const {
        unsigned source = thread_rank() < distance ? thread_rank() : thread_rank() - distance;
        return details::shuffle(mask, value, details::lane_of(mask, source));
    }
    template <class T> WARPWRIGHT_DEVICE T shfl_down(T value, unsigned distance) const {
        unsigned source = thread_rank() + distance >= size() ? thread_rank() : thread_rank() + distance;
        return details::shuffle(mask, value, details::lane_of(mask, source));
    }
    WARPWRIGHT_DEVICE int any(int predicate) const { return __any_sync(mask, predicate); }
    WARPWRIGHT_DEVICE int all(int predicate) const { return __all_sync(mask, predicate); }
    WARPWRIGHT_DEVICE unsigned ballot(int predicate) const {
        return details::pack(mask, __ballot_sync(mask, predicate));
    }
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
    template <class T> WARPWRIGHT_DEVICE unsigned match_any(T value) const {
        return details::pack(mask, __match_any_sync(mask, value));
    }
    template <class T> WARPWRIGHT_DEVICE unsigned match_all(T value, int &predicate) const {
        return details::pack(mask, __match_all_sync(mask, value, &predicate));
    }
#endif

  private:
    WARPWRIGHT_DEVICE explicit coalesced_group(unsigned lanes, unsigned own_group = 0,
                                               unsigned all_groups = 1)
        : thread_group(warp_kind, (unsigned)__popc(lanes), (unsigned)__popc(lanes & details::lanes_below()),
                       lanes),
          group(own_group), groups(all_groups) {}

    unsigned group, groups;

    friend WARPWRIGHT_DEVICE coalesced_group coalesced_threads();
    friend WARPWRIGHT_DEVICE coalesced_group tiled_partition(const coalesced_group &parent,
                                                             unsigned tile_size);
    friend WARPWRIGHT_DEVICE thread_group tiled_partition(const thread_group &parent, unsigned tile_size);
    template <class Group> friend __device__ coalesced_group binary_partition(const Group &, bool);
    template <class Group> friend __device__ coalesced_group labeled_partition(const Group &, int);
};
WARPWRIGHT_DEVICE coalesced_group coalesced_threads() {
    return coalesced_group(__activemask());
}

template <unsigned Size, class Parent = void> class thread_block_tile;

/* Size neighbouring threads of one warp. */
template <unsigned Size> class thread_block_tile<Size, void> : public thread_group {
    static_assert(Size > 0 && Size <= 32 && (Size & (Size - 1)) == 0,
                  "expected a tile of 1, 2, 4, 8, 16 or 32 threads");

  public:
    static constexpr WARPWRIGHT_DEVICE unsigned size() { return Size; }
    static constexpr WARPWRIGHT_DEVICE unsigned num_threads() { return Size; }
    static WARPWRIGHT_DEVICE unsigned thread_rank() { return details::lane() & (Size - 1); }
    WARPWRIGHT_DEVICE unsigned meta_group_size() const { return groups; }
    WARPWRIGHT_DEVICE unsigned meta_group_rank() const { return group; }
    WARPWRIGHT_DEVICE void sync() const { __syncwarp(mask); }

    template <class T> WARPWRIGHT_DEVICE T shfl(T value, int source) const {
        return details::shuffle(mask, value, (details::lane() & ~(Size - 1)) + (source & (int)(Size - 1)));
    }
    template <class T> WARPWRIGHT_DEVICE T shfl_up(T value, int distance) const {
        unsigned own = thread_rank(), source = own < (unsigned)distance ? own : own - distance;
        return shfl(value, (int)source);
    }
    template <class T> WARPWRIGHT_DEVICE T shfl_down(T value, int distance) const {
        unsigned own = thread_rank(), source = own + distance >= Size ? own : own + distance;
        return shfl(value, (int)source);
    }
    template <class T> WARPWRIGHT_DEVICE T shfl_xor(T value, int lanes) const {
        return shfl(value, (int)(thread_rank() ^ (unsigned)lanes));
    }
    WARPWRIGHT_DEVICE int any(int predicate) const { return __any_sync(mask, predicate); }
    WARPWRIGHT_DEVICE int all(int predicate) const { return __all_sync(mask, predicate); }
    WARPWRIGHT_DEVICE unsigned ballot(int predicate) const {
        return own_bits(__ballot_sync(mask, predicate));
    }
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
    template <class T> WARPWRIGHT_DEVICE unsigned match_any(T value) const {
        return own_bits(__match_any_sync(mask, value));
    }
    template <class T> WARPWRIGHT_DEVICE unsigned match_all(T value, int &predicate) const {
        return own_bits(__match_all_sync(mask, value, &predicate));
    }
#endif

  protected:
    WARPWRIGHT_DEVICE thread_block_tile(unsigned own_group, unsigned all_groups)
        : thread_group(warp_kind, Size, details::lane() & (Size - 1),
                       (0xffffffffu >> (32 - Size)) << (details::lane() & ~(Size - 1))),
          group(own_group), groups(all_groups) {}

    unsigned group, groups;

  private:
    WARPWRIGHT_DEVICE unsigned own_bits(unsigned lanes) const {
        return (lanes & mask) >> (details::lane() & ~(Size - 1));
    }
};

} // namespace cooperative_groups

#include "warpwright/group_tiles.h"
#define WARPWRIGHT_DEVICE __device__ __forceinline__

namespace cooperative_groups {

template <unsigned Size, class Parent> class thread_block_tile : public thread_block_tile<Size, void> {
  public:
    WARPWRIGHT_DEVICE explicit thread_block_tile(const Parent &parent)
        : thread_block_tile<Size, void>((unsigned)parent.thread_rank() / Size,
                                        ((unsigned)parent.size() + Size - 1) / Size) {
        if (Size > 32) details::prepare_tiles(parent);
    }
};

/* The thread by itself. */
WARPWRIGHT_DEVICE thread_block_tile<1, thread_block> this_thread() {
    return thread_block_tile<1, thread_block>(this_thread_block());
}

template <unsigned Size, class Parent>
WARPWRIGHT_DEVICE thread_block_tile<Size, Parent> tiled_partition(const Parent &parent) {
    return thread_block_tile<Size, Parent>(parent);
}

WARPWRIGHT_DEVICE coalesced_group tiled_partition(const coalesced_group &parent, unsigned tile_size) {
    unsigned first = parent.thread_rank() / tile_size * tile_size, lanes = 0;
    for (unsigned i = first; i < first + tile_size && i < parent.size(); i++)
        lanes |= 1u << details::lane_of(parent.mask, i);
    return coalesced_group(lanes, first / tile_size, (parent.size() + tile_size - 1) / tile_size);
}

/* Tiles whose size is known only as the kernel runs; their lanes are neighbours in `parent`. */
WARPWRIGHT_DEVICE thread_group tiled_partition(const thread_group &parent, unsigned tile_size) {
    unsigned lanes = parent.kind == thread_group::warp_kind ? parent.mask : 0xffffffffu;
    unsigned rank = parent.kind == thread_group::warp_kind ? (unsigned)parent.rank : details::lane();
    unsigned first = rank / tile_size * tile_size, tile = 0;
    for (unsigned i = first; i < first + tile_size && i < (unsigned)__popc(lanes); i++)
        tile |= 1u << details::lane_of(lanes, i);
    return coalesced_group(tile);
}

/* The threads of a warp's group with the same predicate, or the same label. */
template <class Group> __device__ coalesced_group binary_partition(const Group &group, bool predicate) {
    unsigned all = group.lanes(), lanes = __ballot_sync(all, predicate);
    return coalesced_group(predicate ? lanes : all & ~lanes, predicate ? 0 : 1, 2);
}
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
template <class Group> __device__ coalesced_group labeled_partition(const Group &group, int label) {
    return coalesced_group(__match_any_sync(group.lanes(), label));
}
#endif

/* One thread of the group calls, with these arguments. */
template <class Group, class Function, class... Arguments>
WARPWRIGHT_DEVICE void invoke_one(const Group &group, Function &&function, Arguments &&...arguments) {
    if (group.thread_rank() == 0) static_cast<Function &&>(function)(static_cast<Arguments &&>(arguments)...);
}
/* All get its result. */
template <class Group, class Function, class... Arguments>
WARPWRIGHT_DEVICE auto invoke_one_broadcast(const Group &group, Function &&function, Arguments &&...arguments)
    -> decltype(function(static_cast<Arguments &&>(arguments)...)) {
    decltype(function(static_cast<Arguments &&>(arguments)...)) result;
    if (group.thread_rank() == 0)
        result = static_cast<Function &&>(function)(static_cast<Arguments &&>(arguments)...);
    return group.shfl(result, 0);
}

template <class Group> WARPWRIGHT_DEVICE void sync(const Group &group) {
    group.sync();
}
template <class Group>
WARPWRIGHT_DEVICE auto thread_rank(const Group &group) -> decltype(group.thread_rank()) {
    return group.thread_rank();
}
template <class Group> WARPWRIGHT_DEVICE auto group_size(const Group &group) -> decltype(group.size()) {
    return group.size();
}
WARPWRIGHT_DEVICE dim3 group_index(const thread_block &block) {
    return block.group_index();
}
WARPWRIGHT_DEVICE dim3 thread_index(const thread_block &block) {
    return block.thread_index();
}
WARPWRIGHT_DEVICE dim3 group_dim(const thread_block &block) {
    return block.group_dim();
}

} // namespace cooperative_groups

#undef WARPWRIGHT_DEVICE

#endif
#endif
