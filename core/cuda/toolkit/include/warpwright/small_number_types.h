/* A number of 8 or 4 bits, two and four of them in a word, and their conversions. cuda_fp8.h and cuda_fp4.h include
 * this with
 *   WARPWRIGHT_NAME(count)       the types: `count` is nothing, x2 or x4
 *   WARPWRIGHT_STORAGE(count)    the unsigned integers that hold them
 *   WARPWRIGHT_BITS_OF_ONE       8 or 4
 *   WARPWRIGHT_ENCODE(float)     to the nearest code, the largest where a number is too large
 *   WARPWRIGHT_DECODE(code)
 * and undefined by this are the name and the last two.
 */
#define WARPWRIGHT_BOTH __host__ __device__ __forceinline__

struct WARPWRIGHT_NAME() {
    WARPWRIGHT_STORAGE() __x;

    WARPWRIGHT_NAME()() = default;
#define WARPWRIGHT_CONVERT(type, floating)                                                                   \
    explicit WARPWRIGHT_BOTH WARPWRIGHT_NAME()(const type value) : __x(WARPWRIGHT_ENCODE(floating)) {}
    WARPWRIGHT_CONVERT(__half, (float)value)
    WARPWRIGHT_CONVERT(__nv_bfloat16, (float)value)
    WARPWRIGHT_CONVERT(float, value)
    WARPWRIGHT_CONVERT(double, __warpwright_odd_float(value))
    WARPWRIGHT_CONVERT(short, (float)value)
    WARPWRIGHT_CONVERT(unsigned short, (float)value)
    WARPWRIGHT_CONVERT(int, (float)value)
    WARPWRIGHT_CONVERT(unsigned int, (float)value)
    WARPWRIGHT_CONVERT(long, (float)value)
    WARPWRIGHT_CONVERT(unsigned long, (float)value)
    WARPWRIGHT_CONVERT(long long, (float)value)
    WARPWRIGHT_CONVERT(unsigned long long, (float)value)
#undef WARPWRIGHT_CONVERT

    explicit WARPWRIGHT_BOTH operator float() const {
        return WARPWRIGHT_DECODE(__x);
    }
    explicit WARPWRIGHT_BOTH operator double() const {
        return WARPWRIGHT_DECODE(__x);
    }
    explicit WARPWRIGHT_BOTH operator __half() const {
        return __half(WARPWRIGHT_DECODE(__x));
    }
    explicit WARPWRIGHT_BOTH operator __nv_bfloat16() const {
        return __nv_bfloat16(WARPWRIGHT_DECODE(__x));
    }
    explicit WARPWRIGHT_BOTH operator bool() const {
        return (__x & ((1u << (WARPWRIGHT_BITS_OF_ONE - 1)) - 1)) != 0;
    }
#define WARPWRIGHT_CONVERT(type)                                                                             \
    explicit WARPWRIGHT_BOTH operator type() const {                                                         \
        return __warpwright_integer<type>(WARPWRIGHT_DECODE(__x), __warpwright_rz);                          \
    }
    WARPWRIGHT_CONVERT(signed char)
    WARPWRIGHT_CONVERT(unsigned char)
    WARPWRIGHT_CONVERT(char)
    WARPWRIGHT_CONVERT(short)
    WARPWRIGHT_CONVERT(unsigned short)
    WARPWRIGHT_CONVERT(int)
    WARPWRIGHT_CONVERT(unsigned int)
    WARPWRIGHT_CONVERT(long)
    WARPWRIGHT_CONVERT(unsigned long)
    WARPWRIGHT_CONVERT(long long)
    WARPWRIGHT_CONVERT(unsigned long long)
#undef WARPWRIGHT_CONVERT
};

/* The first lies in the lowest bits. */
#define WARPWRIGHT_PART(index)                                                                               \
    WARPWRIGHT_DECODE((WARPWRIGHT_STORAGE())(__x >> (index)*WARPWRIGHT_BITS_OF_ONE))

struct WARPWRIGHT_NAME(x2) {
    WARPWRIGHT_STORAGE(x2) __x;

    WARPWRIGHT_NAME(x2)() = default;
#define WARPWRIGHT_CONVERT(type, floating)                                                                   \
    explicit WARPWRIGHT_BOTH WARPWRIGHT_NAME(x2)(const type value)                                           \
        : __x((WARPWRIGHT_STORAGE(x2))(WARPWRIGHT_ENCODE(floating(value.x)) |                                \
                                       WARPWRIGHT_ENCODE(floating(value.y)) << WARPWRIGHT_BITS_OF_ONE)) {}
    WARPWRIGHT_CONVERT(__half2, (float))
    WARPWRIGHT_CONVERT(__nv_bfloat162, (float))
    WARPWRIGHT_CONVERT(float2, )
    WARPWRIGHT_CONVERT(double2, __warpwright_odd_float)
#undef WARPWRIGHT_CONVERT

    explicit WARPWRIGHT_BOTH operator float2() const {
        float2 result = {WARPWRIGHT_PART(0), WARPWRIGHT_PART(1)};
        return result;
    }
    explicit WARPWRIGHT_BOTH operator __half2() const {
        return __half2(__half(WARPWRIGHT_PART(0)), __half(WARPWRIGHT_PART(1)));
    }
    explicit WARPWRIGHT_BOTH operator __nv_bfloat162() const {
        return __nv_bfloat162(__nv_bfloat16(WARPWRIGHT_PART(0)), __nv_bfloat16(WARPWRIGHT_PART(1)));
    }
};

struct WARPWRIGHT_NAME(x4) {
    WARPWRIGHT_STORAGE(x4) __x;

    WARPWRIGHT_NAME(x4)() = default;
#define WARPWRIGHT_CONVERT(type)                                                                             \
    explicit WARPWRIGHT_BOTH WARPWRIGHT_NAME(x4)(const type low, const type high)                            \
        : __x((WARPWRIGHT_STORAGE(x4))(WARPWRIGHT_NAME(x2)(low).__x |                                        \
                                       (unsigned)WARPWRIGHT_NAME(x2)(high).__x                               \
                                           << 2 * WARPWRIGHT_BITS_OF_ONE)) {}
    WARPWRIGHT_CONVERT(__half2)
    WARPWRIGHT_CONVERT(__nv_bfloat162)
    WARPWRIGHT_CONVERT(float2)
    WARPWRIGHT_CONVERT(double2)
#undef WARPWRIGHT_CONVERT
    explicit WARPWRIGHT_BOTH WARPWRIGHT_NAME(x4)(const float4 value)
        : WARPWRIGHT_NAME(x4)(make_float2(value.x, value.y), make_float2(value.z, value.w)) {}
    explicit WARPWRIGHT_BOTH WARPWRIGHT_NAME(x4)(const double4 value)
        : WARPWRIGHT_NAME(x4)(make_double2(value.x, value.y), make_double2(value.z, value.w)) {}

    explicit WARPWRIGHT_BOTH operator float4() const {
        float4 result = {WARPWRIGHT_PART(0), WARPWRIGHT_PART(1), WARPWRIGHT_PART(2), WARPWRIGHT_PART(3)};
        return result;
    }
};

#undef WARPWRIGHT_PART
#undef WARPWRIGHT_NAME
#undef WARPWRIGHT_ENCODE
#undef WARPWRIGHT_DECODE
#undef WARPWRIGHT_BOTH
