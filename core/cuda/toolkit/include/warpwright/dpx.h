/* DPX: the greatest or least of integers, or of a sum and an integer: of 32 bits, or in each half of a word. */
#ifndef WARPWRIGHT_DPX_H
#define WARPWRIGHT_DPX_H

#if defined(__CUDA__) && defined(__cplusplus) && __cplusplus >= 201103L

#define WARPWRIGHT_BOTH static __inline__ __attribute__((host, device, always_inline, unused))

template <class T> WARPWRIGHT_BOTH T __warpwright_max(T a, T b) {
    return a >= b ? a : b;
}
template <class T> WARPWRIGHT_BOTH T __warpwright_min(T a, T b) {
    return a <= b ? a : b;
}
template <class T> WARPWRIGHT_BOTH T __warpwright_max3(T a, T b, T c) {
    return __warpwright_max(__warpwright_max(a, b), c);
}
template <class T> WARPWRIGHT_BOTH T __warpwright_min3(T a, T b, T c) {
    return __warpwright_min(__warpwright_min(a, b), c);
}
/* The sum wraps, also of signed numbers. */
template <class T> WARPWRIGHT_BOTH T __warpwright_addmax(T a, T b, T c) {
    return __warpwright_max((T)((unsigned)a + (unsigned)b), c);
}
template <class T> WARPWRIGHT_BOTH T __warpwright_addmin(T a, T b, T c) {
    return __warpwright_min((T)((unsigned)a + (unsigned)b), c);
}
template <class T, T operation(T, T, T)> WARPWRIGHT_BOTH T __warpwright_relu(T a, T b, T c) {
    return __warpwright_max(operation(a, b, c), (T)0);
}
template <class T, T operation(T, T, T)>
WARPWRIGHT_BOTH unsigned __warpwright_halves(unsigned a, unsigned b, unsigned c) {
    T low = operation((T)a, (T)b, (T)c), high = operation((T)(a >> 16), (T)(b >> 16), (T)(c >> 16));
    return (unsigned)high << 16 | (unsigned short)low;
}

#define WARPWRIGHT_OF_TYPE(name, operation, letter, word, half)                                              \
    WARPWRIGHT_BOTH word name##_##letter##32(word a, word b, word c) {                                       \
        return operation(a, b, c);                                                                           \
    }                                                                                                        \
    WARPWRIGHT_BOTH unsigned name##_##letter##16x2(unsigned a, unsigned b, unsigned c) {                     \
        return __warpwright_halves<half, operation<half>>(a, b, c);                                          \
    }
#define WARPWRIGHT_OF_THREE(name, operation)                                                                 \
    WARPWRIGHT_OF_TYPE(name, operation, s, int, short)                                                       \
    WARPWRIGHT_OF_TYPE(name, operation, u, unsigned, unsigned short)                                         \
    WARPWRIGHT_BOTH int name##_s32_relu(int a, int b, int c) {                                               \
        return __warpwright_relu<int, operation<int>>(a, b, c);                                              \
    }                                                                                                        \
    WARPWRIGHT_BOTH unsigned name##_s16x2_relu(unsigned a, unsigned b, unsigned c) {                         \
        return __warpwright_halves<short, __warpwright_relu<short, operation<short>>>(a, b, c);              \
    }
WARPWRIGHT_OF_THREE(__vimax3, __warpwright_max3)
WARPWRIGHT_OF_THREE(__vimin3, __warpwright_min3)
WARPWRIGHT_OF_THREE(__viaddmax, __warpwright_addmax)
WARPWRIGHT_OF_THREE(__viaddmin, __warpwright_addmin)
#undef WARPWRIGHT_OF_THREE
#undef WARPWRIGHT_OF_TYPE

WARPWRIGHT_BOTH int __vimax_s32_relu(int a, int b) {
    return __vimax3_s32(a, b, 0);
}
WARPWRIGHT_BOTH unsigned __vimax_s16x2_relu(unsigned a, unsigned b) {
    return __vimax3_s16x2(a, b, 0);
}
WARPWRIGHT_BOTH int __vimin_s32_relu(int a, int b) {
    return __vimin3_s32_relu(a, b, b);
}
WARPWRIGHT_BOTH unsigned __vimin_s16x2_relu(unsigned a, unsigned b) {
    return __vimin3_s16x2_relu(a, b, b);
}

/* What the predicates say: that the first number is the result, also where both are equal. */
#define WARPWRIGHT_OF_TWO(name, of_three, letter, word)                                                      \
    WARPWRIGHT_BOTH word name##_##letter##32(word a, word b, bool *is_first) {                               \
        word result = of_three##_##letter##32(a, b, b);                                                      \
        *is_first = result == a;                                                                             \
        return result;                                                                                       \
    }                                                                                                        \
    WARPWRIGHT_BOTH unsigned name##_##letter##16x2(unsigned a, unsigned b, bool *is_high_first,              \
                                                   bool *is_low_first) {                                     \
        unsigned result = of_three##_##letter##16x2(a, b, b);                                                \
        *is_high_first = result >> 16 == a >> 16;                                                            \
        *is_low_first = (unsigned short)result == (unsigned short)a;                                         \
        return result;                                                                                       \
    }
#define WARPWRIGHT_OF_BOTH_SIGNS(name, of_three)                                                             \
    WARPWRIGHT_OF_TWO(name, of_three, s, int)                                                                \
    WARPWRIGHT_OF_TWO(name, of_three, u, unsigned)
WARPWRIGHT_OF_BOTH_SIGNS(__vibmax, __vimax3)
WARPWRIGHT_OF_BOTH_SIGNS(__vibmin, __vimin3)
#undef WARPWRIGHT_OF_BOTH_SIGNS
#undef WARPWRIGHT_OF_TWO
#undef WARPWRIGHT_BOTH

#endif
#endif
