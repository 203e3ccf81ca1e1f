/* A name that programs include. What CUDA declares here is in cuda_runtime.h. */
#include "cuda_runtime.h"
