/* A name that programs include. What CUDA declares here is in curand_kernel.h. */
#include "curand_kernel.h"
