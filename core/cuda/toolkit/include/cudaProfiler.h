/* The driver API's profiler, which starts and stops nothing. */
#ifndef __cuda_cuda_profiler_h__
#define __cuda_cuda_profiler_h__

#include "cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

CUresult cuProfilerStart(void);
CUresult cuProfilerStop(void);

#ifdef __cplusplus
}
#endif

#endif
