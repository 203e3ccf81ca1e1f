/* Loads and stores with cache operators: __ldcg to __stwt. __ldg is clang's. */
#ifndef WARPWRIGHT_CACHED_ACCESSES_H
#define WARPWRIGHT_CACHED_ACCESSES_H

#define WARPWRIGHT_DEVICE static __device__ __forceinline__ __attribute__((unused))

/* `held` is the type of a register that holds a `type`, `letter` that register's in assembly. */
#define WARPWRIGHT_LOAD(name, operator, type, held, suffix, letter)                                          \
    WARPWRIGHT_DEVICE type name(const type *address) {                                                       \
        held x;                                                                                              \
        asm volatile("ld.global." operator"." suffix " %0, [%1];"                                            \
                     : "=" letter(x)                                                                         \
                     : "l"(address)                                                                          \
                     : "memory");                                                                            \
        return (type)x;                                                                                      \
    }
#define WARPWRIGHT_LOAD_2(name, operator, type, held, suffix, letter)                                        \
    WARPWRIGHT_DEVICE type name(const type *address) {                                                       \
        held x, y;                                                                                           \
        asm volatile("ld.global." operator".v2." suffix " {%0, %1}, [%2];"                                   \
                     : "=" letter(x), "=" letter(y)                                                          \
                     : "l"(address)                                                                          \
                     : "memory");                                                                            \
        type value;                                                                                          \
        value.x = (decltype(value.x))x;                                                                      \
        value.y = (decltype(value.x))y;                                                                      \
        return value;                                                                                        \
    }
#define WARPWRIGHT_LOAD_4(name, operator, type, held, suffix, letter)                                        \
    WARPWRIGHT_DEVICE type name(const type *address) {                                                       \
        held x, y, z, w;                                                                                     \
        asm volatile("ld.global." operator".v4." suffix " {%0, %1, %2, %3}, [%4];"                           \
                     : "=" letter(x), "=" letter(y), "=" letter(z), "=" letter(w)                            \
                     : "l"(address)                                                                          \
                     : "memory");                                                                            \
        type value;                                                                                          \
        value.x = (decltype(value.x))x;                                                                      \
        value.y = (decltype(value.x))y;                                                                      \
        value.z = (decltype(value.x))z;                                                                      \
        value.w = (decltype(value.x))w;                                                                      \
        return value;                                                                                        \
    }

#define WARPWRIGHT_STORE(name, operator, type, held, suffix, letter)                                         \
    WARPWRIGHT_DEVICE void name(type *address, type value) {                                                 \
        asm volatile("st.global." operator"." suffix " [%0], %1;" ::"l"(address), letter((held)value)        \
                     : "memory");                                                                            \
    }
#define WARPWRIGHT_STORE_2(name, operator, type, held, suffix, letter)                                       \
    WARPWRIGHT_DEVICE void name(type *address, type value) {                                                 \
        asm volatile("st.global." operator".v2." suffix " [%0], {%1, %2};" ::"l"(address),                   \
                     letter((held)value.x), letter((held)value.y)                                            \
                     : "memory");                                                                            \
    }
#define WARPWRIGHT_STORE_4(name, operator, type, held, suffix, letter)                                       \
    WARPWRIGHT_DEVICE void name(type *address, type value) {                                                 \
        asm volatile("st.global." operator".v4." suffix " [%0], {%1, %2, %3, %4};" ::"l"(address),           \
                     letter((held)value.x), letter((held)value.y), letter((held)value.z),                    \
                     letter((held)value.w)                                                                   \
                     : "memory");                                                                            \
    }

#define WARPWRIGHT_ALL_TYPES(access, name, operator)                                                         \
    access(name, operator, char, short, "s8", "h") access(name, operator, signed char, short, "s8", "h")     \
        access(name, operator, short, short, "s16", "h") access(name, operator, int, int, "s32", "r")        \
            access(name, operator, long, long long, "s64", "l") access(                                      \
                name, operator, long long, long long, "s64",                                                 \
                "l") access(name, operator, unsigned char, unsigned short, "u8",                             \
                            "h") access(name, operator, unsigned short, unsigned short, "u16",               \
                                        "h") access(name, operator, unsigned int, unsigned int, "u32", "r")  \
                access(name, operator, unsigned long, unsigned long long,                                    \
                       "u64", "l") access(name, operator, unsigned long long, unsigned long long,            \
                                          "u64", "l") access(name, operator, float, float, "f32", "f")       \
                    access(name, operator, double, double, "f64",                                            \
                           "d") access##_2(name, operator, char2, short, "s8", "h")                          \
                        access##_2(name, operator, short2, short, "s16",                                     \
                                   "h") access##_2(name, operator, int2, int, "s32", "r")                    \
                            access##_2(name, operator, longlong2, long long, "s64",                          \
                                       "l") access##_2(name, operator, uchar2, unsigned short, "u8", "h")    \
                                access##_2(name, operator, ushort2, unsigned short, "u16",                   \
                                           "h") access##_2(name, operator, uint2, unsigned int, "u32", "r")  \
                                    access##_2(name, operator, ulonglong2, unsigned long long, "u64", "l")   \
                                        access##_2(name, operator, float2, float, "f32", "f")                \
                                            access##_2(name, operator, double2, double, "f64", "d")          \
                                                access##_4(name, operator, char4, short, "s8", "h")          \
                                                    access##_4(name, operator, short4, short, "s16", "h")    \
                                                        access##_4(name, operator, int4, int, "s32", "r")    \
                                                            access##_4(name, operator, uchar4,               \
                                                                       unsigned short, "u8", "h")            \
                                                                access##_4(name, operator, ushort4,          \
                                                                           unsigned short, "u16", "h")       \
                                                                    access##_4(name, operator, uint4,        \
                                                                               unsigned int, "u32", "r")     \
                                                                        access##_4(name, operator, float4,   \
                                                                                   float, "f32", "f")

WARPWRIGHT_ALL_TYPES(WARPWRIGHT_LOAD, __ldca, "ca")
WARPWRIGHT_ALL_TYPES(WARPWRIGHT_LOAD, __ldcg, "cg")
WARPWRIGHT_ALL_TYPES(WARPWRIGHT_LOAD, __ldcs, "cs")
WARPWRIGHT_ALL_TYPES(WARPWRIGHT_LOAD, __ldlu, "lu")
WARPWRIGHT_ALL_TYPES(WARPWRIGHT_LOAD, __ldcv, "cv")
WARPWRIGHT_ALL_TYPES(WARPWRIGHT_STORE, __stwb, "wb")
WARPWRIGHT_ALL_TYPES(WARPWRIGHT_STORE, __stcg, "cg")
WARPWRIGHT_ALL_TYPES(WARPWRIGHT_STORE, __stcs, "cs")
WARPWRIGHT_ALL_TYPES(WARPWRIGHT_STORE, __stwt, "wt")

#undef WARPWRIGHT_ALL_TYPES
#undef WARPWRIGHT_STORE_4
#undef WARPWRIGHT_STORE_2
#undef WARPWRIGHT_STORE
#undef WARPWRIGHT_LOAD_4
#undef WARPWRIGHT_LOAD_2
#undef WARPWRIGHT_LOAD
#undef WARPWRIGHT_DEVICE

#endif
