/* Atomic operations, for the device, for the block and for the system. */
#ifndef WARPWRIGHT_ATOMICS_H
#define WARPWRIGHT_ATOMICS_H

#define WARPWRIGHT_DEVICE static __device__ __forceinline__ __attribute__((unused))

#define WARPWRIGHT_ATOMIC_ONE(name, type, builtin)                                                           \
    WARPWRIGHT_DEVICE type name(type *address, type value) {                                                 \
        return builtin(address, value);                                                                      \
    }
#define WARPWRIGHT_SWAP_ONE(name, type, builtin)                                                             \
    WARPWRIGHT_DEVICE type name(type *address, type compare, type value) {                                   \
        return builtin(address, compare, value);                                                             \
    }
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 600
#define WARPWRIGHT_SCOPES(one, name, type, builtin)                                                          \
    one(name, type, builtin) one(name##_block, type, builtin##_block)                                        \
        one(name##_system, type, builtin##_system)
#else
#define WARPWRIGHT_SCOPES(one, name, type, builtin) one(name, type, builtin)
#endif
#define WARPWRIGHT_ATOMIC(name, type, builtin) WARPWRIGHT_SCOPES(WARPWRIGHT_ATOMIC_ONE, name, type, builtin)

WARPWRIGHT_ATOMIC(atomicAdd, int, __iAtomicAdd)
WARPWRIGHT_ATOMIC(atomicAdd, unsigned int, __uAtomicAdd)
WARPWRIGHT_ATOMIC(atomicAdd, unsigned long long, __ullAtomicAdd)
WARPWRIGHT_ATOMIC(atomicAdd, float, __fAtomicAdd)
WARPWRIGHT_ATOMIC(atomicExch, int, __iAtomicExch)
WARPWRIGHT_ATOMIC(atomicExch, unsigned int, __uAtomicExch)
WARPWRIGHT_ATOMIC(atomicExch, unsigned long long, __ullAtomicExch)
WARPWRIGHT_ATOMIC(atomicExch, float, __fAtomicExch)
WARPWRIGHT_ATOMIC(atomicMin, int, __iAtomicMin)
WARPWRIGHT_ATOMIC(atomicMin, unsigned int, __uAtomicMin)
WARPWRIGHT_ATOMIC(atomicMin, long long, __illAtomicMin)
WARPWRIGHT_ATOMIC(atomicMin, unsigned long long, __ullAtomicMin)
WARPWRIGHT_ATOMIC(atomicMax, int, __iAtomicMax)
WARPWRIGHT_ATOMIC(atomicMax, unsigned int, __uAtomicMax)
WARPWRIGHT_ATOMIC(atomicMax, long long, __illAtomicMax)
WARPWRIGHT_ATOMIC(atomicMax, unsigned long long, __ullAtomicMax)
WARPWRIGHT_ATOMIC(atomicInc, unsigned int, __uAtomicInc)
WARPWRIGHT_ATOMIC(atomicDec, unsigned int, __uAtomicDec)
WARPWRIGHT_ATOMIC(atomicAnd, int, __iAtomicAnd)
WARPWRIGHT_ATOMIC(atomicAnd, unsigned int, __uAtomicAnd)
WARPWRIGHT_ATOMIC(atomicAnd, long long, __llAtomicAnd)
WARPWRIGHT_ATOMIC(atomicAnd, unsigned long long, __ullAtomicAnd)
WARPWRIGHT_ATOMIC(atomicOr, int, __iAtomicOr)
WARPWRIGHT_ATOMIC(atomicOr, unsigned int, __uAtomicOr)
WARPWRIGHT_ATOMIC(atomicOr, long long, __llAtomicOr)
WARPWRIGHT_ATOMIC(atomicOr, unsigned long long, __ullAtomicOr)
WARPWRIGHT_ATOMIC(atomicXor, int, __iAtomicXor)
WARPWRIGHT_ATOMIC(atomicXor, unsigned int, __uAtomicXor)
WARPWRIGHT_ATOMIC(atomicXor, long long, __llAtomicXor)
WARPWRIGHT_ATOMIC(atomicXor, unsigned long long, __ullAtomicXor)
WARPWRIGHT_SCOPES(WARPWRIGHT_SWAP_ONE, atomicCAS, int, __iAtomicCAS)
WARPWRIGHT_SCOPES(WARPWRIGHT_SWAP_ONE, atomicCAS, unsigned int, __uAtomicCAS)
WARPWRIGHT_SCOPES(WARPWRIGHT_SWAP_ONE, atomicCAS, unsigned long long, __ullAtomicCAS)

#define WARPWRIGHT_SUBTRACT(name, type, builtin)                                                             \
    WARPWRIGHT_DEVICE type name(type *address, type value) {                                                 \
        return builtin(address, (type)(0u - (unsigned)value));                                               \
    }
WARPWRIGHT_SCOPES(WARPWRIGHT_SUBTRACT, atomicSub, int, __iAtomicAdd)
WARPWRIGHT_SCOPES(WARPWRIGHT_SUBTRACT, atomicSub, unsigned int, __uAtomicAdd)
#undef WARPWRIGHT_SUBTRACT

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 600
/* Templates, so that a program may have its own atomicAdd for doubles, as many have for older devices. */
#define WARPWRIGHT_ADD_DOUBLE(name, builtin)                                                                 \
    template <class = void> WARPWRIGHT_DEVICE double name(double *address, double value) {                   \
        return builtin(address, value);                                                                      \
    }
WARPWRIGHT_ADD_DOUBLE(atomicAdd, __dAtomicAdd)
WARPWRIGHT_ADD_DOUBLE(atomicAdd_block, __dAtomicAdd_block)
WARPWRIGHT_ADD_DOUBLE(atomicAdd_system, __dAtomicAdd_system)
#undef WARPWRIGHT_ADD_DOUBLE
#endif

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
#define WARPWRIGHT_SWAP_16(name, scope)                                                                      \
    WARPWRIGHT_DEVICE unsigned short name(unsigned short *address, unsigned short compare,                   \
                                          unsigned short value) {                                            \
        unsigned short before;                                                                               \
        asm volatile("atom" scope ".cas.b16 %0, [%1], %2, %3;"                                               \
                     : "=h"(before)                                                                          \
                     : "l"(address), "h"(compare), "h"(value)                                                \
                     : "memory");                                                                            \
        return before;                                                                                       \
    }
WARPWRIGHT_SWAP_16(atomicCAS, "")
WARPWRIGHT_SWAP_16(atomicCAS_block, ".cta")
WARPWRIGHT_SWAP_16(atomicCAS_system, ".sys")
#undef WARPWRIGHT_SWAP_16
#endif

#undef WARPWRIGHT_ATOMIC
#undef WARPWRIGHT_SCOPES
#undef WARPWRIGHT_SWAP_ONE
#undef WARPWRIGHT_ATOMIC_ONE
#undef WARPWRIGHT_DEVICE

#endif
