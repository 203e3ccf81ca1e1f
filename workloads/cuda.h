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

// Approximations, one instruction of the special function units each. The names are CUDA's.
static inline __device__ float rsqrtf(float x) {
    float y;
    asm("rsqrt.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
static inline __device__ float exp2f(float x) {
    float y;
    asm("ex2.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
static inline __device__ float __log2f(float x) {
    float y;
    asm("lg2.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
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
