// A function call_NAME(in, out) for each function of the device library: it takes up to four arguments as 64-bit words and
// leaves up to three results, NaNs in one form.
typedef unsigned int uint;
typedef long long i64;
typedef unsigned long long u64;
typedef unsigned short u16;

#define WORDS_IN  4
#define WORDS_OUT 3

// a value's bits as another type; the compiler of the host program is gcc, which has a union for this
#ifdef __clang__
#define BIT_CAST(to, from, value) __builtin_bit_cast(to, (from)(value))
#else
#define BIT_CAST(to, from, value)                                                                            \
    ((union {                                                                                                \
         from a;                                                                                             \
         to b;                                                                                               \
     }){.a = (from)(value)}                                                                                  \
         .b)
#endif

#define GET_float(word)   BIT_CAST(float, uint, word)
#define GET_double(word)  BIT_CAST(double, u64, word)
#define GET_int(word)     ((int)(word))
#define GET_uint(word)    ((uint)(word))
#define GET_i64(word)     ((i64)(word))
#define GET_u64(word)     (word)
#define GET_u16(word)     ((u16)(word))
#define PUT_float(value)  ((value) != (value) ? 0x7fc00000u : (u64)BIT_CAST(uint, float, value))
#define PUT_double(value) ((value) != (value) ? 0x7ff8000000000000u : BIT_CAST(u64, double, value))
#define PUT_int(value)    ((u64)(uint)(value))
#define PUT_uint(value)   ((u64)(value))
#define PUT_i64(value)    ((u64)(value))
#define PUT_u64(value)    (value)
#define PUT_u16(value)    ((u64)(value))

#define CALLER(name) static DEVICE void call_##name(const u64 *in, u64 *out)

#define CALL1(name, r, a)                                                                                    \
    DECLARE r __nv_##name(a);                                                                                \
    CALLER(name) {                                                                                           \
        r result = __nv_##name(GET_##a(in[0]));                                                              \
        out[0] = PUT_##r(result);                                                                            \
    }
#define CALL2(name, r, a, b)                                                                                 \
    DECLARE r __nv_##name(a, b);                                                                             \
    CALLER(name) {                                                                                           \
        r result = __nv_##name(GET_##a(in[0]), GET_##b(in[1]));                                              \
        out[0] = PUT_##r(result);                                                                            \
    }
#define CALL3(name, r, a, b, c)                                                                              \
    DECLARE r __nv_##name(a, b, c);                                                                          \
    CALLER(name) {                                                                                           \
        r result = __nv_##name(GET_##a(in[0]), GET_##b(in[1]), GET_##c(in[2]));                              \
        out[0] = PUT_##r(result);                                                                            \
    }
#define CALL4(name, r, a, b, c, d)                                                                           \
    DECLARE r __nv_##name(a, b, c, d);                                                                       \
    CALLER(name) {                                                                                           \
        r result = __nv_##name(GET_##a(in[0]), GET_##b(in[1]), GET_##c(in[2]), GET_##d(in[3]));              \
        out[0] = PUT_##r(result);                                                                            \
    }
#define CALL1_AND(name, r, also, a)                                                                          \
    DECLARE r __nv_##name(a, also *);                                                                        \
    CALLER(name) {                                                                                           \
        also second;                                                                                         \
        r result = __nv_##name(GET_##a(in[0]), &second);                                                     \
        out[0] = PUT_##r(result);                                                                            \
        out[1] = PUT_##also(second);                                                                         \
    }
#define CALL2_AND(name, r, also, a, b)                                                                       \
    DECLARE r __nv_##name(a, b, also *);                                                                     \
    CALLER(name) {                                                                                           \
        also second;                                                                                         \
        r result = __nv_##name(GET_##a(in[0]), GET_##b(in[1]), &second);                                     \
        out[0] = PUT_##r(result);                                                                            \
        out[1] = PUT_##also(second);                                                                         \
    }
#define TWO_RESULTS(name, type)                                                                              \
    DECLARE void __nv_##name(type, type *, type *);                                                          \
    CALLER(name) {                                                                                           \
        type first, second;                                                                                  \
        __nv_##name(GET_##type(in[0]), &first, &second);                                                     \
        out[0] = PUT_##type(first);                                                                          \
        out[1] = PUT_##type(second);                                                                         \
    }
#define VECTOR(name, type)                                                                                   \
    DECLARE type __nv_##name(int, const type *);                                                             \
    CALLER(name) {                                                                                           \
        type vector[WORDS_IN];                                                                               \
        for (int i = 0; i < WORDS_IN; i++)                                                                   \
            vector[i] = GET_##type(in[i]);                                                                   \
        type result = __nv_##name(WORDS_IN, vector);                                                         \
        out[0] = PUT_##type(result);                                                                         \
        result = __nv_##name(2, vector);                                                                     \
        out[1] = PUT_##type(result);                                                                         \
    }

#include "libdevice_functions.h"

#undef CALL1
#undef CALL2
#undef CALL3
#undef CALL4
#undef CALL1_AND
#undef CALL2_AND
#undef TWO_RESULTS
#undef VECTOR
