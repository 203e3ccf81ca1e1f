/* Shuffles, matches and reductions within a warp. clang's shuffles of unsigned long long call themselves for ever. */
#ifndef WARPWRIGHT_SHUFFLES_H
#define WARPWRIGHT_SHUFFLES_H

#define WARPWRIGHT_DEVICE static __device__ __forceinline__ __attribute__((unused))

/* A value as the words that the instructions move. */
template <class T> union __warpwright_words {
    T value;
    int words[sizeof(T) / sizeof(int)];
};

#define WARPWRIGHT_SHUFFLE_OF(name, distance, type)                                                          \
    WARPWRIGHT_DEVICE type name##_sync(unsigned mask, type value, distance other, int width = warpSize) {    \
        __warpwright_words<type> bits = {value};                                                             \
        for (unsigned i = 0; i < sizeof(type) / sizeof(int); i++)                                            \
            bits.words[i] = __warpwright##name(mask, bits.words[i], other, width);                           \
        return bits.value;                                                                                   \
    }                                                                                                        \
    WARPWRIGHT_DEVICE type name(type value, distance other, int width = warpSize) {                          \
        return name##_sync(__activemask(), value, other, width);                                             \
    }

/* `segment` is the lane at which shfl stops: the first of up's, the last of the others'. */
#define WARPWRIGHT_SHUFFLE(name, distance, builtin, segment)                                                 \
    WARPWRIGHT_DEVICE int __warpwright##name(unsigned mask, int value, distance other, int width) {          \
        return builtin(mask, value, other, (unsigned)((warpSize - width) << 8 | segment));                   \
    }                                                                                                        \
    WARPWRIGHT_SHUFFLE_OF(name, distance, int)                                                               \
    WARPWRIGHT_SHUFFLE_OF(name, distance, unsigned int)                                                      \
    WARPWRIGHT_SHUFFLE_OF(name, distance, float)                                                             \
    WARPWRIGHT_SHUFFLE_OF(name, distance, long)                                                              \
    WARPWRIGHT_SHUFFLE_OF(name, distance, unsigned long)                                                     \
    WARPWRIGHT_SHUFFLE_OF(name, distance, long long)                                                         \
    WARPWRIGHT_SHUFFLE_OF(name, distance, unsigned long long)                                                \
    WARPWRIGHT_SHUFFLE_OF(name, distance, double)

WARPWRIGHT_SHUFFLE(__shfl, int, __nvvm_shfl_sync_idx_i32, 31)
WARPWRIGHT_SHUFFLE(__shfl_up, unsigned int, __nvvm_shfl_sync_up_i32, 0)
WARPWRIGHT_SHUFFLE(__shfl_down, unsigned int, __nvvm_shfl_sync_down_i32, 31)
WARPWRIGHT_SHUFFLE(__shfl_xor, int, __nvvm_shfl_sync_bfly_i32, 31)
#undef WARPWRIGHT_SHUFFLE
#undef WARPWRIGHT_SHUFFLE_OF

/* ---- which threads have the same value */

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
/* clang 14 gives matches of 64 bits a result of 64 bits, which PTX refuses. */
#define WARPWRIGHT_MATCH(type, bits, word, letter)                                                           \
    WARPWRIGHT_DEVICE unsigned __match_any_sync(unsigned mask, type value) {                                 \
        unsigned lanes;                                                                                      \
        word whole;                                                                                          \
        memcpy(&whole, &value, sizeof whole);                                                                \
        asm volatile("match.any.sync.b" #bits " %0, %1, %2;" : "=r"(lanes) : letter(whole), "r"(mask));      \
        return lanes;                                                                                        \
    }                                                                                                        \
    WARPWRIGHT_DEVICE unsigned __match_all_sync(unsigned mask, type value, int *predicate) {                 \
        unsigned lanes;                                                                                      \
        word whole;                                                                                          \
        memcpy(&whole, &value, sizeof whole);                                                                \
        asm volatile("{\n\t.reg .pred p;\n\tmatch.all.sync.b" #bits                                          \
                     " %0|p, %2, %3;\n\tselp.s32 %1, 1, 0, p;\n\t}"                                          \
                     : "=r"(lanes), "=r"(*predicate)                                                         \
                     : letter(whole), "r"(mask));                                                            \
        return lanes;                                                                                        \
    }
WARPWRIGHT_MATCH(int, 32, unsigned, "r")
WARPWRIGHT_MATCH(unsigned, 32, unsigned, "r")
WARPWRIGHT_MATCH(float, 32, unsigned, "r")
WARPWRIGHT_MATCH(long, 64, unsigned long long, "l")
WARPWRIGHT_MATCH(unsigned long, 64, unsigned long long, "l")
WARPWRIGHT_MATCH(long long, 64, unsigned long long, "l")
WARPWRIGHT_MATCH(unsigned long long, 64, unsigned long long, "l")
WARPWRIGHT_MATCH(double, 64, unsigned long long, "l")
#undef WARPWRIGHT_MATCH
#endif

/* ---- reductions over the threads of a mask */

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
#define WARPWRIGHT_REDUCE(name, type, operation)                                                             \
    WARPWRIGHT_DEVICE type name(unsigned mask, type value) {                                                 \
        type result;                                                                                         \
        asm volatile("redux.sync." operation " %0, %1, %2;" : "=r"(result) : "r"(value), "r"(mask));         \
        return result;                                                                                       \
    }
WARPWRIGHT_REDUCE(__reduce_add_sync, int, "add.s32")
WARPWRIGHT_REDUCE(__reduce_add_sync, unsigned, "add.u32")
WARPWRIGHT_REDUCE(__reduce_min_sync, int, "min.s32")
WARPWRIGHT_REDUCE(__reduce_min_sync, unsigned, "min.u32")
WARPWRIGHT_REDUCE(__reduce_max_sync, int, "max.s32")
WARPWRIGHT_REDUCE(__reduce_max_sync, unsigned, "max.u32")
WARPWRIGHT_REDUCE(__reduce_and_sync, unsigned, "and.b32")
WARPWRIGHT_REDUCE(__reduce_or_sync, unsigned, "or.b32")
WARPWRIGHT_REDUCE(__reduce_xor_sync, unsigned, "xor.b32")
#undef WARPWRIGHT_REDUCE
#endif

#undef WARPWRIGHT_DEVICE

#endif
