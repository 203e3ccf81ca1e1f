/* CUDA's driver API. */
#ifndef WARPWRIGHT_CUDA_H
#define WARPWRIGHT_CUDA_H

#include <stdint.h>

#define CUDA_VERSION       11080
#define __CUDA_API_VERSION CUDA_VERSION

typedef uint32_t cuuint32_t;
typedef uint64_t cuuint64_t;

#endif
