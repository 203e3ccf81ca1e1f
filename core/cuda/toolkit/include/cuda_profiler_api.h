/* A name that programs include: cudaProfilerStart and cudaProfilerStop are in cuda_runtime_api.h. */
#include "cuda_runtime_api.h"
