/* Numbers of 8 and 4 bits. Prints what the device makes of all codes and of many floats, which the test compares with a model. */
#include "checks.h"

#include <cuda_fp4.h>
#include <cuda_fp8.h>
#include <math.h>

enum { FLOATS = 2048 };

struct Encoded {
    unsigned char codes[10];
};
struct Decoded {
    float real[3];
    int integer[3];
    unsigned short half[3];
};

__host__ __device__ static Encoded encode(float x) {
    Encoded e = {{__nv_cvt_float_to_fp8(x, __NV_NOSAT, __NV_E4M3), __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E4M3),
                  __nv_cvt_float_to_fp8(x, __NV_NOSAT, __NV_E5M2), __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E5M2),
                  __nv_cvt_float_to_fp4(x, __NV_E2M1, cudaRoundNearest), __nv_cvt_float_to_fp4(x, __NV_E2M1, cudaRoundZero),
                  __nv_cvt_float_to_fp4(x, __NV_E2M1, cudaRoundPosInf), __nv_cvt_float_to_fp4(x, __NV_E2M1, cudaRoundMinInf),
                  __nv_fp8_e4m3(__half(x)).__x, __nv_fp8_e5m2(__nv_bfloat16(x)).__x}};
    return e;
}

template <class Number> __host__ __device__ static void decode_as(int index, unsigned char code, Decoded *d) {
    Number number;
    number.__x = code;
    float real = (float)number;
    d->real[index] = real == real ? real : NAN;
    d->integer[index] = (int)number;
    d->half[index] = __half_as_ushort((__half)number);
}
__host__ __device__ static Decoded decode(unsigned char code) {
    Decoded d;
    decode_as<__nv_fp8_e4m3>(0, code, &d);
    decode_as<__nv_fp8_e5m2>(1, code, &d);
    decode_as<__nv_fp4_e2m1>(2, code & 15, &d);
    return d;
}

__global__ void decode_all(Decoded *decoded) { decoded[threadIdx.x] = decode(threadIdx.x); }
__global__ void encode_all(const float *x, Encoded *encoded) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    encoded[i] = encode(x[i]);
}

struct Words {
    unsigned fp8x4, fp4x4;
    unsigned short fp8x2, raw;
    unsigned char fp4x2, doubled, kinds[6];
    float4 four, small;
    float2 two;
    __half2 halves;
};

__host__ __device__ static void make_words(float one, Words *w) {
    __nv_fp8x4_e4m3 four(make_float4(one, -2 * one, 448 * one, 1e9f));
    __nv_fp4x4_e2m1 small(make_float4(one, -2 * one, 0.5f, 1e9f));
    __nv_fp8x2_e5m2 two(__half2(__half(one), __half(-0.25f)));
    w->fp8x4 = four.__x;
    w->fp4x4 = small.__x;
    w->fp8x2 = two.__x;
    w->fp4x2 = __nv_fp4x2_e2m1(make_float2(one, -one)).__x;
    w->raw = __nv_cvt_halfraw2_to_fp8x2(__half2(__half(one), __half(3.0f)), __NV_SATFINITE, __NV_E4M3);
    w->four = float4(four);
    w->small = float4(small);
    w->two = float2(two);
    w->halves = __half2(__nv_cvt_fp8x2_to_halfraw2(two.__x, __NV_E5M2));
    w->doubled = __nv_cvt_double_to_fp8(17 + 0x1p-40, __NV_SATFINITE, __NV_E4M3); /* beyond a tie by less than float has */
    w->kinds[0] = __nv_fp8_e4m3(3).__x;
    w->kinds[1] = __nv_fp8_e4m3(-100000ll).__x;
    w->kinds[2] = __nv_fp8_e5m2(1.5).__x;
    w->kinds[3] = (unsigned char)__nv_fp8_e5m2(1000.0f);
    w->kinds[4] = (bool)__nv_fp8_e4m3(-0.0f);
    w->kinds[5] = (bool)__nv_fp8_e4m3(0x1p-9f);
}
__global__ void make_words_there(float one, Words *w) { make_words(one, w); }

static void check_words(const Words &w) {
    CHECK(w.fp8x4 == 0x7e7ec038 && w.fp4x4 == 0x71c2 && w.fp8x2 == 0xb43c && w.fp4x2 == 0xa2 && w.raw == 0x4438);
    CHECK(w.four.x == 1 && w.four.y == -2 && w.four.z == 448 && w.four.w == 448);
    CHECK(w.small.x == 1 && w.small.y == -2 && w.small.z == 0.5f && w.small.w == 6);
    CHECK(w.two.x == 1 && w.two.y == -0.25f && (float)w.halves.x == 1 && (float)w.halves.y == -0.25f);
    CHECK(w.doubled == 0x59);
    CHECK(w.kinds[0] == 0x44 && w.kinds[1] == 0xfe && w.kinds[2] == 0x3e && w.kinds[3] == 255 && w.kinds[4] == 0 && w.kinds[5] == 1);
}

int main() {
    Decoded *decoded;
    Encoded *encoded;
    Words *words;
    float *floats;
    cudaMallocManaged(&decoded, 256 * sizeof *decoded);
    cudaMallocManaged(&floats, FLOATS * sizeof *floats);
    cudaMallocManaged(&encoded, FLOATS * sizeof *encoded);
    cudaMallocManaged(&words, sizeof *words);
    unsigned state = 1;
    for (int i = 0; i < FLOATS; i++) {
        state = state * 1664525 + 1013904223;
        /* Of 5 bits of fraction, so that there are ties, or of all; exponents of the formats, or any. */
        unsigned bits = i % 2 ? state & 0x807c0000 : state & 0x807fffff;
        bits |= i % 8 == 7 ? state << 11 & 0x7f800000 : (100 + (state >> 5) % 48) << 23;
        memcpy(&floats[i], &bits, sizeof bits);
    }
    decode_all<<<1, 256>>>(decoded);
    encode_all<<<FLOATS / 128, 128>>>(floats, encoded);
    make_words_there<<<1, 1>>>(1.0f, words);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    check_words(*words);
    make_words(1.0f, words);
    check_words(*words);
    for (int i = 0; i < 256; i++) {
        Decoded here = decode((unsigned char)i);
        CHECK(!memcmp(&here, &decoded[i], sizeof here));
        for (int j = 0; j < 3; j++) {
            unsigned bits;
            memcpy(&bits, &here.real[j], sizeof bits);
            printf("decoded %d %d %08x %d %04x\n", j, i, bits, here.integer[j], here.half[j]);
        }
    }
    for (int i = 0; i < FLOATS; i++) {
        Encoded here = encode(floats[i]);
        unsigned bits;
        memcpy(&bits, &floats[i], sizeof bits);
        CHECK(!memcmp(&here, &encoded[i], sizeof here));
        printf("encoded %08x", bits);
        for (int j = 0; j < 8; j++)
            printf(" %d", here.codes[j]);
        printf("\n");
        CHECK(here.codes[8] == __nv_fp8_e4m3((float)__half(floats[i])).__x);
        CHECK(here.codes[9] == __nv_fp8_e5m2((float)__nv_bfloat16(floats[i])).__x);
    }
    return finish("small");
}
