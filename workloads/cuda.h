// The CUDA names that our kernels use, for clang without a CUDA toolkit. nvcc knows them already and skips
// this file.
#pragma once

#ifndef __NVCC__

#define __global__   __attribute__((global))
#define __device__   __attribute__((device))
#define __shared__   __attribute__((shared))
#define __constant__ __attribute__((constant))

// The compiler must not move a shared-memory access across the barrier. clang's own __syncthreads() does not
// stop it from moving accesses to __shared__ variables; a volatile asm that clobbers memory does.
#define __syncthreads() asm volatile("bar.sync 0;" ::: "memory")

// threadIdx.x and its kin read a special register of the thread.
#define SPECIAL_REGISTERS(NAME, REGISTER)                                                                    \
    struct NAME##_registers {                                                                                \
        __declspec(property(get = read_x)) unsigned x;                                                       \
        __declspec(property(get = read_y)) unsigned y;                                                       \
        __declspec(property(get = read_z)) unsigned z;                                                       \
        static __device__ unsigned read_x() { return __nvvm_read_ptx_sreg_##REGISTER##_x(); }                \
        static __device__ unsigned read_y() { return __nvvm_read_ptx_sreg_##REGISTER##_y(); }                \
        static __device__ unsigned read_z() { return __nvvm_read_ptx_sreg_##REGISTER##_z(); }                \
    };                                                                                                       \
    extern const __device__ NAME##_registers NAME

SPECIAL_REGISTERS(threadIdx, tid);
SPECIAL_REGISTERS(blockIdx, ctaid);
SPECIAL_REGISTERS(blockDim, ntid);
SPECIAL_REGISTERS(gridDim, nctaid);
#undef SPECIAL_REGISTERS

// a * b + c, rounded once
static inline __device__ float fmaf(float a, float b, float c) {
    return __builtin_fmaf(a, b, c);
}

static inline __device__ float sqrtf(float x) {
    return __builtin_sqrtf(x);
}
static inline __device__ float fabsf(float x) {
    return __builtin_fabsf(x);
}

// Approximations, one instruction of the special function units each. The names are CUDA's; angles are in radians.
static inline __device__ float __sinf(float x) {
    return __nvvm_sin_approx_f(x);
}
static inline __device__ float __cosf(float x) {
    return __nvvm_cos_approx_f(x);
}
static inline __device__ float rsqrtf(float x) {
    return __nvvm_rsqrt_approx_f(x);
}
static inline __device__ float exp2f(float x) {
    return __nvvm_ex2_approx_f(x);
}
static inline __device__ float __log2f(float x) {
    return __nvvm_lg2_approx_f(x);
}
static inline __device__ float __expf(float x) {
    return exp2f(x * 1.442695041f);
}
static inline __device__ float __logf(float x) {
    return __log2f(x) * 0.6931471806f;
}

// Several numbers that one instruction loads or stores
typedef float float2 __attribute__((ext_vector_type(2)));
typedef float float4 __attribute__((ext_vector_type(4)));
typedef unsigned uint2 __attribute__((ext_vector_type(2)));
typedef int int4 __attribute__((ext_vector_type(4)));

// Texels of textures, which are handles as the host got them from gpu:texture.
typedef unsigned long cudaTextureObject_t;

template <class Texel> static __device__ Texel tex1Dfetch(cudaTextureObject_t texture, int x);
template <class Texel> static __device__ Texel tex2D(cudaTextureObject_t texture, float x, float y);

template <> inline __device__ float tex1Dfetch<float>(cudaTextureObject_t texture, int x) {
    float a, b, c, d;
    asm("tex.1d.v4.f32.s32 {%0, %1, %2, %3}, [%4, {%5}];"
        : "=f"(a), "=f"(b), "=f"(c), "=f"(d)
        : "l"(texture), "r"(x));
    return a;
}
template <> inline __device__ int tex1Dfetch<int>(cudaTextureObject_t texture, int x) {
    int a, b, c, d;
    asm("tex.1d.v4.s32.s32 {%0, %1, %2, %3}, [%4, {%5}];"
        : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
        : "l"(texture), "r"(x));
    return a;
}
template <> inline __device__ unsigned char tex1Dfetch<unsigned char>(cudaTextureObject_t texture, int x) {
    return tex1Dfetch<int>(texture, x);
}
template <> inline __device__ int4 tex2D<int4>(cudaTextureObject_t texture, float x, float y) {
    int a, b, c, d;
    asm("tex.2d.v4.s32.f32 {%0, %1, %2, %3}, [%4, {%5, %6}];"
        : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
        : "l"(texture), "f"(x), "f"(y));
    return (int4){a, b, c, d};
}
template <>
inline __device__ unsigned short tex2D<unsigned short>(cudaTextureObject_t texture, float x, float y) {
    return tex2D<int4>(texture, x, y).x;
}

// Whether all lanes of the warp that are active say so. clang's own has no instruction for this architecture.
static inline __device__ bool __all(bool predicate) {
    int all;
    asm volatile(
        "{ .reg .pred each; setp.ne.s32 each, %1, 0; vote.all.pred each, each; selp.s32 %0, 1, 0, each; }"
        : "=r"(all)
        : "r"((int)predicate));
    return all;
}

// Values that the compiler may not carry across this in registers: what stands in memory is stored before it, and
// loaded anew after it.
static inline __device__ void forget_memory() {
    asm volatile("" ::: "memory");
}

// A thread's variable that stays in local memory: the compiler must think that others know where it is.
#define keep_in_memory(variable) asm volatile("" : : "l"(variable) : "memory")

// Atomics return the old value and order nothing else, as CUDA's do.
static inline __device__ int atomicAdd(int *address, int value) {
    return __atomic_fetch_add(address, value, __ATOMIC_RELAXED);
}
static inline __device__ unsigned atomicAdd(unsigned *address, unsigned value) {
    return __atomic_fetch_add(address, value, __ATOMIC_RELAXED);
}
static inline __device__ float atomicAdd(float *address, float value) {
    return __nvvm_atom_add_gen_f(address, value);
}
static inline __device__ int atomicMin(int *address, int value) {
    return __atomic_fetch_min(address, value, __ATOMIC_RELAXED);
}
static inline __device__ int atomicMax(int *address, int value) {
    return __atomic_fetch_max(address, value, __ATOMIC_RELAXED);
}
static inline __device__ int atomicExch(int *address, int value) {
    return __nvvm_atom_xchg_gen_i(address, value);
}
static inline __device__ int atomicCAS(int *address, int expected, int value) {
    return __nvvm_atom_cas_gen_i(address, expected, value);
}

#endif
