/* Lanes, and shuffles of values of any size, for cooperative groups. */
#ifndef WARPWRIGHT_GROUP_WORDS_H
#define WARPWRIGHT_GROUP_WORDS_H

#define WARPWRIGHT_DEVICE __device__ __forceinline__

namespace cooperative_groups {
namespace details {

WARPWRIGHT_DEVICE unsigned lane() {
    unsigned result;
    asm("mov.u32 %0, %%laneid;" : "=r"(result));
    return result;
}
WARPWRIGHT_DEVICE unsigned lanes_below() {
    unsigned result;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(result));
    return result;
}

/* The lane of the thread with this rank. */
WARPWRIGHT_DEVICE unsigned lane_of(unsigned mask, unsigned rank) {
    if (mask == 0xffffffffu) return rank;
    for (; rank > 0; rank--)
        mask &= mask - 1;
    return (unsigned)__ffs((int)mask) - 1;
}

/* Bits by lane become bits by rank. */
WARPWRIGHT_DEVICE unsigned pack(unsigned mask, unsigned lanes) {
    if (mask == 0xffffffffu) return lanes;
    unsigned result = 0;
    for (unsigned rank = 0; mask; rank++) {
        result |= (lanes >> (__ffs((int)mask) - 1) & 1) << rank;
        mask &= mask - 1;
    }
    return result;
}

template <class T> WARPWRIGHT_DEVICE T shuffle(unsigned mask, T value, unsigned from) {
    int words[(sizeof(T) + 3) / 4];
    memcpy(words, &value, sizeof value);
    for (unsigned i = 0; i < sizeof words / sizeof words[0]; i++)
        words[i] = __shfl_sync(mask, words[i], (int)from);
    memcpy(&value, words, sizeof value);
    return value;
}

} // namespace details
} // namespace cooperative_groups

#undef WARPWRIGHT_DEVICE

#endif
