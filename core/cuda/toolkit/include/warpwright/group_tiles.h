/* Cooperative groups: tiles of more than one warp. cooperative_groups.h includes it, and has what it needs. */
#ifndef WARPWRIGHT_GROUP_TILES_H
#define WARPWRIGHT_GROUP_TILES_H

#define WARPWRIGHT_DEVICE __device__ __forceinline__

namespace cooperative_groups {

namespace details {

/* In the shared memory of each kernel that has such tiles: a barrier for each tile of 64 to 512 threads that a block may
 * have, and 8 bytes for each warp. */
struct TileMemory {
    unsigned barriers[16 + 8 + 4 + 2];
    unsigned long long words[32];
};
WARPWRIGHT_DEVICE TileMemory *tile_memory() {
    static __shared__ TileMemory memory;
    return &memory;
}

/* Tiles of a block: all its threads are here. Tiles of tiles find what their block has prepared. */
WARPWRIGHT_DEVICE void prepare_tiles(const thread_block &) {
    TileMemory *memory = tile_memory();
    __syncthreads();
    for (unsigned i = rank_in_block(); i < sizeof memory->barriers / sizeof(unsigned);
         i += threads_in_block())
        memory->barriers[i] = 0;
    __syncthreads();
}
template <class Parent> WARPWRIGHT_DEVICE void prepare_tiles(const Parent &) {}

/* Where the barrier of the thread's own tile lies. */
WARPWRIGHT_DEVICE unsigned tile_barrier(unsigned size) {
    unsigned first = size == 64 ? 0 : size == 128 ? 16 : size == 256 ? 24 : 28;
    return (unsigned)__cvta_generic_to_shared(&tile_memory()->barriers[first + rank_in_block() / size]);
}

/* Threads of some warps, as thread_block_tile<64> and larger ones. */
template <unsigned Size> class warps_tile : public thread_group {
  public:
    static constexpr WARPWRIGHT_DEVICE unsigned size() { return Size; }
    static constexpr WARPWRIGHT_DEVICE unsigned num_threads() { return Size; }
    static WARPWRIGHT_DEVICE unsigned thread_rank() { return rank_in_block() % Size; }
    WARPWRIGHT_DEVICE unsigned meta_group_size() const { return groups; }
    WARPWRIGHT_DEVICE unsigned meta_group_rank() const { return group; }
    WARPWRIGHT_DEVICE void sync() const { warps_sync(mask, Size / 32); }

    /* All give the same `source`. */
    template <class T> WARPWRIGHT_DEVICE T shfl(T value, unsigned source) const {
        T parts[Size / 32];
        gather(value, source % 32, parts);
        T result = parts[0];
        for (unsigned i = 1; i < Size / 32; i++)
            if (source / 32 == i) result = parts[i];
        return result;
    }
    WARPWRIGHT_DEVICE int any(int predicate) const {
        int parts[Size / 32], result = 0;
        gather(__any_sync(0xffffffffu, predicate), 0, parts);
        for (unsigned i = 0; i < Size / 32; i++)
            result |= parts[i];
        return result;
    }
    WARPWRIGHT_DEVICE int all(int predicate) const { return !any(!predicate); }

    /* What a lane of each warp has, for all threads. */
    template <class T> WARPWRIGHT_DEVICE void gather(T value, unsigned source, T (&parts)[Size / 32]) const {
        unsigned long long words[(sizeof(T) + 7) / 8];
        unsigned long long *own = tile_memory()->words + rank_in_block() / Size * (Size / 32);
        memcpy(words, &value, sizeof value);
        for (unsigned k = 0; k < sizeof words / 8; k++) {
            unsigned long long rest = sizeof value - k * 8;
            if (lane() == source) own[thread_rank() / 32] = words[k];
            sync();
            for (unsigned i = 0; i < Size / 32; i++) {
                unsigned long long word = own[i];
                memcpy((char *)&parts[i] + k * 8, &word, rest < 8 ? rest : 8);
            }
            sync();
        }
    }

  protected:
    WARPWRIGHT_DEVICE warps_tile(unsigned own_group, unsigned all_groups)
        : thread_group(warps_kind, Size, rank_in_block() % Size, tile_barrier(Size)), group(own_group),
          groups(all_groups) {}

    unsigned group, groups;
};

template <class Group> struct SpansWarps { static constexpr bool value = false; };
template <unsigned Size, class Parent> struct SpansWarps<thread_block_tile<Size, Parent>> {
    static constexpr bool value = Size > 32;
};

} // namespace details

#define WARPWRIGHT_TILE(size)                                                                                \
    template <> class thread_block_tile<size, void> : public details::warps_tile<size> {                     \
      protected:                                                                                             \
        WARPWRIGHT_DEVICE thread_block_tile(unsigned own_group, unsigned all_groups)                         \
            : details::warps_tile<size>(own_group, all_groups) {}                                            \
    };
WARPWRIGHT_TILE(64)
WARPWRIGHT_TILE(128)
WARPWRIGHT_TILE(256)
WARPWRIGHT_TILE(512)
#undef WARPWRIGHT_TILE

/* What programs reserve for such tiles; these have memory of their own. */
template <unsigned MaxBlockSize = 1024> struct block_tile_memory {};
template <unsigned MaxBlockSize>
WARPWRIGHT_DEVICE thread_block this_thread_block(block_tile_memory<MaxBlockSize> &) {
    return this_thread_block();
}

/* The names of CUDA 11. */
namespace experimental {
using cooperative_groups::thread_block;
using cooperative_groups::thread_block_tile;
template <unsigned TileCommunicationSize = 8, unsigned MaxBlockSize = 1024> struct block_tile_memory {};
template <unsigned TileCommunicationSize, unsigned MaxBlockSize>
WARPWRIGHT_DEVICE thread_block this_thread_block(block_tile_memory<TileCommunicationSize, MaxBlockSize> &) {
    return cooperative_groups::this_thread_block();
}
template <unsigned Size, class Parent>
WARPWRIGHT_DEVICE thread_block_tile<Size, Parent> tiled_partition(const Parent &parent) {
    return thread_block_tile<Size, Parent>(parent);
}
} // namespace experimental

} // namespace cooperative_groups

#undef WARPWRIGHT_DEVICE

#endif
