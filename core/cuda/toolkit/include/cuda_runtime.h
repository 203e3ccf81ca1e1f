/* CUDA's runtime API for C++, and what device code has without an #include: clang includes this file first. */
#ifndef __CUDA_RUNTIME_H__
#define __CUDA_RUNTIME_H__

#if defined(__CUDA__) && defined(__cplusplus) && __cplusplus >= 201103L
#include <stddef.h>
/* <new>, of which <memory> makes part, wants these; clang declares them again. */
extern "C" {
__attribute__((device)) void free(void *) __attribute((nothrow));
__attribute__((device)) void *malloc(size_t) __attribute((nothrow)) __attribute__((malloc));
}
#include "warpwright/c_library.h"
/* It writes __attribute__((__noinline__)), which the macro below would change. */
#include <memory>

#include "warpwright/throws.h"
#endif
#ifdef __CUDA__
#define __noinline__ __attribute__((noinline))
#ifndef __CUDACC_VER_MAJOR__
#define __CUDACC_VER_MAJOR__ 11
#define __CUDACC_VER_MINOR__ 8
#define __CUDACC_VER_BUILD__ 0
#endif
#endif

#include "channel_descriptor.h"
#include "cuda_device_runtime_api.h"
#include "cuda_runtime_api.h"
#include "driver_functions.h"
#include "vector_functions.h"
#include "warpwright/runtime_newer.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
#include "warpwright/dpx.h"
#include "warpwright/host_intrinsics.h"
#include "warpwright/host_math.h"
#include "warpwright/managed_variables.h"
#include "warpwright/runtime_templates.h"
#endif

#endif
