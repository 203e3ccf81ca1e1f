/* Shuffles, loads and stores of numbers of 16 bits and of pairs. cuda_fp16.h and cuda_bf16.h include this. */
#ifdef __CUDA__
#define WARPWRIGHT_DEVICE static __device__ __forceinline__ __attribute__((unused))

#define WARPWRIGHT_SHUFFLE(name, distance)                                                                   \
    WARPWRIGHT_DEVICE WARPWRIGHT_NUMBER name(unsigned mask, WARPWRIGHT_NUMBER value, distance other,         \
                                             int width = warpSize) {                                         \
        return WARPWRIGHT_BITS(name(mask, (int)value.__x, other, width));                                    \
    }                                                                                                        \
    WARPWRIGHT_DEVICE WARPWRIGHT_PAIR name(unsigned mask, WARPWRIGHT_PAIR value, distance other,             \
                                           int width = warpSize) {                                           \
        unsigned word;                                                                                       \
        memcpy(&word, &value, sizeof word);                                                                  \
        word = name(mask, word, other, width);                                                               \
        memcpy(&value, &word, sizeof word);                                                                  \
        return value;                                                                                        \
    }
WARPWRIGHT_SHUFFLE(__shfl_sync, int)
WARPWRIGHT_SHUFFLE(__shfl_up_sync, unsigned int)
WARPWRIGHT_SHUFFLE(__shfl_down_sync, unsigned int)
WARPWRIGHT_SHUFFLE(__shfl_xor_sync, int)
#undef WARPWRIGHT_SHUFFLE

#define WARPWRIGHT_LOAD(name)                                                                                \
    WARPWRIGHT_DEVICE WARPWRIGHT_NUMBER name(const WARPWRIGHT_NUMBER *address) {                             \
        return WARPWRIGHT_BITS(name((const unsigned short *)address));                                       \
    }                                                                                                        \
    WARPWRIGHT_DEVICE WARPWRIGHT_PAIR name(const WARPWRIGHT_PAIR *address) {                                 \
        unsigned word = name((const unsigned *)address);                                                     \
        WARPWRIGHT_PAIR value;                                                                               \
        memcpy(&value, &word, sizeof word);                                                                  \
        return value;                                                                                        \
    }
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 320
WARPWRIGHT_LOAD(__ldg)
#endif
WARPWRIGHT_LOAD(__ldca)
WARPWRIGHT_LOAD(__ldcg)
WARPWRIGHT_LOAD(__ldcs)
WARPWRIGHT_LOAD(__ldlu)
WARPWRIGHT_LOAD(__ldcv)
#undef WARPWRIGHT_LOAD

#define WARPWRIGHT_STORE(name)                                                                               \
    WARPWRIGHT_DEVICE void name(WARPWRIGHT_NUMBER *address, WARPWRIGHT_NUMBER value) {                       \
        name((unsigned short *)address, value.__x);                                                          \
    }                                                                                                        \
    WARPWRIGHT_DEVICE void name(WARPWRIGHT_PAIR *address, WARPWRIGHT_PAIR value) {                           \
        unsigned word;                                                                                       \
        memcpy(&word, &value, sizeof word);                                                                  \
        name((unsigned *)address, word);                                                                     \
    }
WARPWRIGHT_STORE(__stwb)
WARPWRIGHT_STORE(__stcg)
WARPWRIGHT_STORE(__stcs)
WARPWRIGHT_STORE(__stwt)
#undef WARPWRIGHT_STORE

/* ---- atomic additions: by comparing and swapping where the device has no instruction */

WARPWRIGHT_DEVICE WARPWRIGHT_PAIR atomicAdd(WARPWRIGHT_PAIR *address, WARPWRIGHT_PAIR value) {
    WARPWRIGHT_PAIR old;
#ifdef WARPWRIGHT_ATOMIC_ADD_PAIR
    unsigned word, before;
    memcpy(&word, &value, sizeof word);
    asm volatile(WARPWRIGHT_ATOMIC_ADD_PAIR : "=r"(before) : "l"(address), "r"(word) : "memory");
    memcpy(&old, &before, sizeof old);
#else
    unsigned *word = (unsigned *)address, seen = *(volatile unsigned *)word, before;
    do {
        before = seen;
        memcpy(&old, &before, sizeof old);
        WARPWRIGHT_PAIR sum = __hadd2(old, value);
        unsigned next;
        memcpy(&next, &sum, sizeof next);
        seen = atomicCAS(word, before, next);
    } while (seen != before);
#endif
    return old;
}
WARPWRIGHT_DEVICE WARPWRIGHT_NUMBER atomicAdd(WARPWRIGHT_NUMBER *address, WARPWRIGHT_NUMBER value) {
#ifdef WARPWRIGHT_ATOMIC_ADD
    unsigned short before;
    asm volatile(WARPWRIGHT_ATOMIC_ADD : "=h"(before) : "l"(address), "h"(value.__x) : "memory");
    return WARPWRIGHT_BITS(before);
#elif !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
    unsigned short *place = (unsigned short *)address, seen = *(volatile unsigned short *)place, before;
    do {
        before = seen;
        seen = atomicCAS(place, before, __hadd(WARPWRIGHT_BITS(before), value).__x);
    } while (seen != before);
    return WARPWRIGHT_BITS(before);
#else
    unsigned shift = (unsigned)((size_t)address & 2) * 8;
    unsigned *word = (unsigned *)((size_t)address & ~(size_t)3), seen = *(volatile unsigned *)word, before;
    WARPWRIGHT_NUMBER old;
    do {
        before = seen;
        old = WARPWRIGHT_BITS(before >> shift);
        unsigned next = (before & ~(0xffffu << shift)) | (unsigned)__hadd(old, value).__x << shift;
        seen = atomicCAS(word, before, next);
    } while (seen != before);
    return old;
#endif
}

#undef WARPWRIGHT_DEVICE
#endif
