/* CUDA's driver API. */
#ifndef __cuda_cuda_h__
#define __cuda_cuda_h__

/* clang 14 reads the next line for the version of the toolkit, and takes the oldest PTX where it does not know it:
#define CUDA_VERSION 11050
 * What programs see is in version.h. */
#include "warpwright/version.h"

#include <stdint.h>

#define __CUDA_API_VERSION CUDA_VERSION

typedef uint32_t cuuint32_t;
typedef uint64_t cuuint64_t;

#endif
