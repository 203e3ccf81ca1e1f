/* A name that programs include. Kernels have curand_kernel.h; cuRAND's functions of the host are not there. */
#include "cuda_runtime_api.h"
