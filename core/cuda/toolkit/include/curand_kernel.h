/* Random numbers in kernels: cuRAND's device API, of its generators XORWOW, MRG32k3a and Philox4x32-10. */
#ifndef CURAND_KERNEL_H_
#define CURAND_KERNEL_H_

#include "cuda_runtime.h"

#if defined(__CUDA__)

#define WARPWRIGHT_DEVICE static __device__ __forceinline__ __attribute__((unused))
/* What a kernel does once for each thread, and in many instructions. */
#define WARPWRIGHT_ONCE static __device__ __attribute__((unused))

#include "warpwright/random_xorwow.h"

#include "warpwright/random_mrg32k3a.h"

#include "warpwright/random_philox.h"

#include "warpwright/random_distributions.h"

typedef curandStateXORWOW_t curandState_t;
typedef curandStateXORWOW_t curandState;

#undef WARPWRIGHT_DEVICE
#undef WARPWRIGHT_ONCE

#endif
#endif
